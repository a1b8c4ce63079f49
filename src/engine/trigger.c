// SPDX-License-Identifier: MIT
/* Trigger commands: from text to a struct, and back. */
#include "engine/trigger.h"

#include <errno.h>
#include <string.h>

#include "engine/hist_spec_priv.h"

#define COMMAND_MAX	4096	/* bytes; the kernel takes less than a page */

static const char *const names[] = {
	[TACHO_TRIGGER_TRACEON] = "traceon",
	[TACHO_TRIGGER_TRACEOFF] = "traceoff",
	[TACHO_TRIGGER_SNAPSHOT] = "snapshot",
	[TACHO_TRIGGER_STACKTRACE] = "stacktrace",
	[TACHO_TRIGGER_ENABLE_EVENT] = "enable_event",
	[TACHO_TRIGGER_DISABLE_EVENT] = "disable_event",
	[TACHO_TRIGGER_ENABLE_HIST] = "enable_hist",
	[TACHO_TRIGGER_DISABLE_HIST] = "disable_hist",
	[TACHO_TRIGGER_HIST] = "hist",
};

struct trigger_parser {
	struct tacho_trigger_spec *spec;
	struct tacho_arena *a;
	struct tacho_cmd_error *e;
};

const char *tacho_trigger_name(enum tacho_trigger_cmd cmd)
{
	return names[cmd];
}

static bool has_target(enum tacho_trigger_cmd cmd)
{
	return cmd >= TACHO_TRIGGER_ENABLE_EVENT &&
	       cmd <= TACHO_TRIGGER_DISABLE_HIST;
}

static uint32_t column_of(const struct trigger_parser *ps, const char *p)
{
	return (uint32_t)(p - ps->spec->text);
}

static int refuse(struct trigger_parser *ps, const char *p, const char *text)
{
	return tacho_cmd_error(ps->e, -EINVAL, column_of(ps, p), "%s", text);
}

static int keep(struct trigger_parser *ps, struct hist_slice slice,
		const char **s)
{
	*s = tacho_arena_strndup(ps->a, slice.p, slice.len);
	return *s ? 0 : tacho_cmd_error(ps->e, -ENOMEM, 0, "No memory");
}

/* Cuts the first word from *rest; `at` has the characters that end it. */
static struct hist_slice cut_word(struct hist_slice *rest, const char *at)
{
	struct hist_slice word = *rest;

	for (word.len = 0; word.len < rest->len; word.len++)
		if (strchr(at, word.p[word.len]))
			break;
	rest->p += word.len;
	rest->len -= word.len;
	if (rest->len) {
		rest->p++;
		rest->len--;
	}
	return word;
}

/* Parses "if" and the filter, which begins after one blank. */
static int parse_filter(struct trigger_parser *ps, struct hist_slice rest)
{
	struct tacho_trigger_spec *spec = ps->spec;
	struct hist_slice word = tacho_hist_strip(rest);

	if (!word.len || spec->remove)
		return 0;
	rest = word;
	word = cut_word(&rest, " \t");
	if (!tacho_hist_slice_is(word, "if"))
		return refuse(ps, word.p, "Expecting a count or 'if'");
	if (!rest.len)
		return refuse(ps, word.p, "Empty filter");
	spec->filter_column = column_of(ps, rest.p);
	return keep(ps, rest, &spec->filter);
}

/* Parses the count; text after another ':' is ignored. */
static int parse_count(struct trigger_parser *ps, struct hist_slice rest)
{
	struct tacho_trigger_spec *spec = ps->spec;
	struct hist_slice number;
	int err;

	if (!tacho_hist_cut(&rest, ':', &number) || spec->remove)
		return 0;
	err = tacho_hist_number(number, &spec->count);
	if (err)
		return tacho_cmd_error(ps->e, err, column_of(ps, number.p),
				       "Count must be a number");
	/* the kernel's -1 */
	spec->counted = spec->count != UINT64_MAX;
	return 0;
}

/* [count] [if filter] */
static int parse_plain(struct trigger_parser *ps, struct hist_slice rest)
{
	struct hist_slice count = { NULL, 0 };
	int err;

	if (rest.len && rest.p[0] >= '0' && rest.p[0] <= '9')
		count = cut_word(&rest, " \t");
	err = parse_count(ps, count);
	return err ? err : parse_filter(ps, rest);
}

/* system:event[:count] [if filter] */
static int parse_target(struct trigger_parser *ps, struct hist_slice rest)
{
	struct tacho_trigger_spec *spec = ps->spec;
	struct hist_slice target = cut_word(&rest, " \t"), system, event;
	const char *start = target.p;
	int err;

	tacho_hist_cut(&target, ':', &system);
	if (!tacho_hist_cut(&target, ':', &event))
		return refuse(ps, start, "Expecting system:event");
	spec->target_column = column_of(ps, system.p);
	err = keep(ps, system, &spec->system);
	if (!err)
		err = keep(ps, event, &spec->event);
	if (!err)
		err = parse_count(ps, target);
	return err ? err : parse_filter(ps, rest);
}

static int parse_hist(struct trigger_parser *ps, struct hist_slice rest)
{
	struct tacho_trigger_spec *spec = ps->spec;
	struct tacho_hist_spec *hist = &spec->hist;
	const char *text;
	int err = keep(ps, rest, &text);

	if (err)
		return err;
	err = tacho_hist_spec_parse(hist, ps->a, text, 0, ps->e);
	spec->text = hist->text;
	spec->filter = hist->filter;
	spec->filter_column = hist->filter_column;
	return err;
}

static int parse(struct trigger_parser *ps)
{
	struct tacho_trigger_spec *spec = ps->spec;
	struct hist_slice rest = { spec->text, strlen(spec->text) }, word;
	uint32_t cmd;

	word = cut_word(&rest, ": \t");
	rest = tacho_hist_strip(rest);
	if (word.len && word.p[0] == '!') {
		spec->remove = true;
		word.p++;
		word.len--;
	}
	for (cmd = 0; cmd < TACHO_ARRAY_SIZE(names); cmd++)
		if (tacho_hist_slice_is(word, names[cmd]))
			break;
	if (cmd == TACHO_ARRAY_SIZE(names))
		return refuse(ps, word.p, "Unknown trigger command");
	spec->cmd = (enum tacho_trigger_cmd)cmd;
	if (spec->cmd == TACHO_TRIGGER_HIST)
		return parse_hist(ps, rest);
	return has_target(spec->cmd) ? parse_target(ps, rest) :
				       parse_plain(ps, rest);
}

int tacho_trigger_parse(struct tacho_trigger_spec *spec, struct tacho_arena *a,
			const char *text, struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	struct trigger_parser ps = { spec, a, e ? e : &own };
	struct hist_slice slice = { text, strlen(text) };

	memset(spec, 0, sizeof(*spec));
	spec->text = "";
	if (slice.len >= COMMAND_MAX)
		return tacho_cmd_error(ps.e, -EINVAL, 0, "Command too long");
	if (keep(&ps, tacho_hist_strip(slice), &spec->text)) {
		spec->text = "";
		return -ENOMEM;
	}
	return parse(&ps) ? ps.e->err : 0;
}

void tacho_trigger_print(const struct tacho_trigger_spec *spec, uint64_t left,
			 bool paused, struct tacho_buf *out)
{
	if (spec->cmd == TACHO_TRIGGER_HIST) {
		tacho_hist_spec_print(&spec->hist, paused, out);
		return;
	}
	tacho_buf_puts(out, names[spec->cmd]);
	if (has_target(spec->cmd)) {
		tacho_buf_putc(out, ':');
		tacho_buf_puts(out, spec->system);
		tacho_buf_putc(out, ':');
		tacho_buf_puts(out, spec->event);
	}
	if (spec->counted) {
		tacho_buf_puts(out, ":count=");
		tacho_buf_put_s64(out, (int64_t)left);
	} else {
		tacho_buf_puts(out, ":unlimited");
	}
	if (spec->filter) {
		tacho_buf_puts(out, " if ");
		tacho_buf_puts(out, spec->filter);
	}
}
