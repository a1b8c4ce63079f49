// SPDX-License-Identifier: MIT
#include "tracefs/probe_spec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "tracefs/probe_arg.h"

#define MAX_ACTIVE	4096u
/* Size of a landing pad before a function's first real instruction. */
#define ENTRY_MAX	16

struct parser {
	struct tacho_arena *arena;
	const char *text;
	const char *at;
	struct tacho_probe_spec *spec;
	struct tacho_diag *d;
};

/* A word of the line: blanks separate, nothing quotes. */
struct word {
	const char *s;
	size_t len;
};

static int bad(const struct parser *p, const char *where, const char *why)
{
	return tacho_diag(p->d, -EINVAL, (uint64_t)(where - p->text), "%s", why);
}

static bool next_word(struct parser *p, struct word *w)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
	w->s = p->at;
	while (*p->at && !isspace((unsigned char)*p->at))
		p->at++;
	w->len = (size_t)(p->at - w->s);
	return w->len;
}

static char *copy(const struct parser *p, const char *s, size_t len)
{
	char *c = tacho_arena_strndup(p->arena, s, len);

	if (!c)
		(void)tacho_diag(p->d, -ENOMEM, 0, "no memory");
	return c;
}

static bool good_name(const char *s, size_t len)
{
	if (!len || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

/* A group's name may have a '-' as well. */
static bool good_group(const char *s, size_t len)
{
	if (!len || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-')
			return false;
	return true;
}

bool tacho_probe_good_name(const char *name)
{
	return strlen(name) <= TACHO_PROBE_NAME_MAX &&
	       good_name(name, strlen(name));
}

/* ---- the first word ---- */

/* [GROUP/]EVENT; the dot is as good as the slash. */
static int parse_name(struct parser *p, const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);
	struct tacho_probe_spec *spec = p->spec;

	if (!slash)
		slash = memchr(s, '.', len);
	if (slash) {
		size_t n = (size_t)(slash - s);

		if (!n)
			return bad(p, s, "Group name is not specified");
		if (n > TACHO_PROBE_NAME_MAX)
			return bad(p, s, "Group name is too long");
		if (!good_group(s, n))
			return bad(p, s, "Group name must follow the same rules "
				   "as C identifiers");
		spec->group = copy(p, s, n);
		if (!spec->group)
			return -ENOMEM;
		len -= n + 1;
		s = slash + 1;
		/* "GROUP/" leaves the event's name to the kernel */
		if (!len && spec->kind != '-')
			return 0;
	}
	if (!len)
		return bad(p, s, "Event name is not specified");
	if (len > TACHO_PROBE_NAME_MAX)
		return bad(p, s, "Event name is too long");
	if (!good_name(s, len))
		return bad(p, s, "Event name must follow the same rules as C "
			   "identifiers");
	spec->event = copy(p, s, len);
	return spec->event ? 0 : -ENOMEM;
}

static int parse_max_active(struct parser *p, const char *s, size_t len)
{
	const char *digits = s;
	uint64_t v;

	if (p->spec->kind != 'r' && p->spec->kind != 'f')
		return bad(p, s, "Maxactive is only for function exit");
	if (len > 15 || tacho_scan_number(&digits, s + len, UINT64_MAX, &v) || digits != s + len)
		return bad(p, s, "Invalid maxactive number");
	if (v > MAX_ACTIVE)
		return bad(p, s, "Maxactive is too big");
	p->spec->max_active = (uint32_t)v;
	return 0;
}

static int parse_head(struct parser *p)
{
	struct word w;
	const char *colon;
	size_t before;
	int ret;

	if (!next_word(p, &w))
		return bad(p, p->text, "the text is empty");
	p->spec->kind = w.s[0];
	if (!strchr("prfte-", w.s[0]))
		return bad(p, w.s, "a probe begins with p, r, f, t or e, and its "
			   "removal with -");
	colon = memchr(w.s, ':', w.len);
	before = colon ? (size_t)(colon - w.s) : w.len;
	if (before > 1) {
		if (!isdigit((unsigned char)w.s[1]))
			return bad(p, w.s + 1, "only ':' and a name, or a blank, "
				   "may follow this letter");
		ret = parse_max_active(p, w.s + 1, before - 1);
		if (ret)
			return ret;
	}
	if (!colon && w.s[0] == '-')
		return bad(p, w.s + 1, "Event name is not specified");
	p->spec->on_return = w.s[0] == 'r';
	return colon ? parse_name(p, colon + 1, w.len - before - 1) : 0;
}

/* ---- the place ---- */

/* A number as the kernel reads them, of all len bytes. */
static bool number(const char *s, size_t len, uint64_t *v)
{
	return tacho_scan_whole(s, len, 0, v);
}

/* "%return" at the end of a place takes it from *len. */
static int parse_return(struct parser *p, const char *s, size_t *len)
{
	const char *percent = memchr(s, '%', *len);
	size_t n;

	if (!percent)
		return 0;
	n = *len - (size_t)(percent - s);
	if (n != 7 || memcmp(percent, "%return", 7) != 0)
		return bad(p, percent, "Invalid probed address suffix");
	p->spec->on_return = true;
	*len -= n;
	return 0;
}

static int parse_file(struct parser *p, const struct word *w)
{
	const char *colon = memrchr(w->s, ':', w->len), *open, *at;
	uint64_t offset;
	size_t len;
	int ret;

	p->spec->place = TACHO_PROBE_FILE;
	if (p->spec->max_active)
		return bad(p, w->s, "Maxactive is not for uprobe");
	if (!colon || colon == w->s)
		return bad(p, w->s + w->len, "Invalid uprobe offset");
	at = colon + 1;
	len = w->len - (size_t)(at - w->s);
	open = memchr(at, '(', len);
	if (open) {
		size_t left = len - (size_t)(open - at);
		const char *close = memchr(open, ')', left);

		if (!close)
			return bad(p, w->s + w->len,
				   "Reference counter brace is not closed");
		if ((size_t)(close - open) + 1 != left)
			return bad(p, close + 1,
				   "Reference counter has wrong suffix");
		if (!number(open + 1, left - 2, &p->spec->counter))
			return bad(p, open + 1,
				   "Invalid reference counter offset");
		len = (size_t)(open - at);
	}
	ret = parse_return(p, at, &len);
	if (ret)
		return ret;
	if (!number(at, len, &offset) || offset > INT64_MAX)
		return bad(p, at, "Invalid uprobe offset");
	p->spec->offset = (int64_t)offset;
	p->spec->target = copy(p, w->s, (size_t)(colon - w->s));
	return p->spec->target ? 0 : -ENOMEM;
}

/* [MODULE:]SYMBOL[+OFFSET][%return], or an address. */
static int parse_symbol(struct parser *p, const struct word *w)
{
	struct tacho_probe_spec *spec = p->spec;
	const char *s = w->s, *colon, *sign;
	size_t len = w->len, n;
	uint64_t v;
	int ret = parse_return(p, s, &len);

	if (ret)
		return ret;
	spec->place = TACHO_PROBE_SYMBOL;
	if (isdigit((unsigned char)*s) && spec->kind != 'f') {
		if (!number(s, len, &v))
			return bad(p, s, "Invalid probed address or symbol");
		spec->place = TACHO_PROBE_ADDRESS;
		spec->offset = (int64_t)v;
		return 0;
	}
	colon = memchr(s, ':', len);
	if (colon) {
		if (colon == s)
			return bad(p, s, "Invalid probed address or symbol");
		spec->module = copy(p, s, (size_t)(colon - s));
		if (!spec->module)
			return -ENOMEM;
		len -= (size_t)(colon + 1 - s);
		s = colon + 1;
	}
	for (n = 0; n < len && s[n] != '+' && s[n] != '-'; n++)
		;
	if (n < len) {
		sign = s + n;
		if (!number(sign + 1, len - n - 1, &v) || v > INT32_MAX ||
		    *sign == '-')
			return bad(p, w->s, "Invalid probed address or symbol");
		spec->offset = (int64_t)v;
	}
	if (!n)
		return bad(p, w->s, "Invalid probed address or symbol");
	if (spec->on_return && spec->offset > ENTRY_MAX)
		return bad(p, w->s,
			   "Retprobe address must be an function entry");
	if (spec->max_active && !spec->on_return)
		return bad(p, p->text + strcspn(p->text, "0123456789"),
			   "Maxactive is only for function exit");
	if (spec->kind == 'f' && spec->offset)
		return bad(p, w->s, "Invalid probed address or symbol");
	spec->target = copy(p, s, n);
	return spec->target ? 0 : -ENOMEM;
}

static int parse_tracepoint(struct parser *p, const struct word *w)
{
	p->spec->place = TACHO_PROBE_TRACEPOINT;
	for (size_t i = 0; i < w->len; i++) {
		if (w->s[i] == '%')
			return bad(p, w->s + i, "Invalid probed address suffix");
		if (!isalnum((unsigned char)w->s[i]) && w->s[i] != '_')
			return bad(p, w->s + i,
				   "Invalid character in tracepoint name");
	}
	p->spec->target = copy(p, w->s, w->len);
	return p->spec->target ? 0 : -ENOMEM;
}

/* GROUP.EVENT; the slash is as good as the dot. */
static int parse_event(struct parser *p, const struct word *w)
{
	const char *dot = memchr(w->s, '/', w->len);
	size_t n;

	p->spec->place = TACHO_PROBE_EVENT;
	if (!dot)
		dot = memchr(w->s, '.', w->len);
	n = dot ? (size_t)(dot - w->s) : 0;
	/* the kernel also reports this for an invalid name, as the last error */
	if (!n || n + 1 == w->len || !good_group(w->s, n) ||
	    !good_name(dot + 1, w->len - n - 1))
		return bad(p, w->s, "This requires both group and event name to "
			   "attach");
	p->spec->target_group = copy(p, w->s, n);
	p->spec->target = copy(p, dot + 1, w->len - n - 1);
	return p->spec->target_group && p->spec->target ? 0 : -ENOMEM;
}

static int parse_place(struct parser *p)
{
	struct word w;

	p->spec->place = TACHO_PROBE_NOWHERE;
	if (!next_word(p, &w)) {
		if (p->spec->kind == '-')
			return 0;
		return bad(p, w.s, "where to probe is missing");
	}
	switch (p->spec->kind) {
	case '-':
		return bad(p, w.s, "nothing may follow a removal");
	case 't':
		return parse_tracepoint(p, &w);
	case 'e':
		return parse_event(p, &w);
	case 'f':
		return parse_symbol(p, &w);
	default:
		return memchr(w.s, '/', w.len) ? parse_file(p, &w)
					       : parse_symbol(p, &w);
	}
}

/* ---- arguments ---- */

static bool same(const struct word *w, const char *s)
{
	return w->len == strlen(s) && !memcmp(w->s, s, w->len);
}

static bool used(const struct parser *p, const char *name, size_t len)
{
	static const char *const reserved[] = {
		"common_type", "common_flags", "common_preempt_count",
		"common_pid", "common_tgid", "__probe_ip", "__probe_ret_ip",
		"__probe_func",
	};
	const struct word w = { name, len };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(reserved); i++)
		if (same(&w, reserved[i]))
			return true;
	for (size_t i = 0; i < p->spec->nr_args; i++)
		if (p->spec->arg[i].name && same(&w, p->spec->arg[i].name))
			return true;
	return false;
}

static int parse_arg_name(struct parser *p, const struct word *w, size_t len)
{
	if (!len)
		return bad(p, w->s, "Argument name is not specified");
	if (len > TACHO_PROBE_ARG_NAME_MAX)
		return bad(p, w->s, "Argument name is too long");
	if (!good_name(w->s, len))
		return bad(p, w->s, "Argument name must follow the same rules as "
			   "C identifiers");
	if (used(p, w->s, len))
		return bad(p, w->s, "This argument name is already used");
	return 0;
}

/* w as NAME=FETCH:TYPE; what it holds goes to a. */
static int parse_arg(struct parser *p, const struct word *w,
		     struct tacho_probe_arg *a)
{
	const char *equals = memchr(w->s, '=', w->len);
	const char *body = equals ? equals + 1 : w->s;
	size_t len = w->len - (size_t)(body - w->s), fetch;
	int ret;

	if (equals) {
		ret = parse_arg_name(p, w, (size_t)(equals - w->s));
		if (ret)
			return ret;
	}
	ret = kernel_probe_fetch(p->spec, p->text, body, len, &fetch, p->d);
	if (ret)
		return ret;
	*a = (struct tacho_probe_arg){ .fetch = copy(p, body, fetch) };
	if (equals)
		a->name = copy(p, w->s, (size_t)(equals - w->s));
	if (fetch < len)
		a->type = copy(p, body + fetch + 1, len - fetch - 1);
	return !a->fetch || (equals && !a->name) || (fetch < len && !a->type) ?
		-ENOMEM : 0;
}

static int parse_filter(struct parser *p, const struct word *w)
{
	const char *end;

	while (isspace((unsigned char)*p->at))
		p->at++;
	for (end = p->at + strlen(p->at);
	     end > p->at && isspace((unsigned char)end[-1]); end--)
		;
	if (end == p->at)
		return bad(p, w->s + w->len, "No filter rule after 'if'");
	p->spec->filter = copy(p, p->at, (size_t)(end - p->at));
	return p->spec->filter ? 0 : -ENOMEM;
}

static int parse_args(struct parser *p)
{
	struct tacho_probe_spec *spec = p->spec;
	struct word w;
	int ret;

	spec->arg = tacho_arena_array(p->arena, TACHO_PROBE_ARGS_MAX,
				      sizeof(*spec->arg));
	if (!spec->arg)
		return tacho_diag(p->d, -ENOMEM, 0, "no memory");
	while (next_word(p, &w)) {
		if (spec->kind == 'e' && same(&w, "if"))
			return parse_filter(p, &w);
		if (spec->nr_args == TACHO_PROBE_ARGS_MAX)
			return bad(p, w.s, "Too many arguments are specified");
		ret = parse_arg(p, &w, &spec->arg[spec->nr_args]);
		if (ret)
			return ret;
		spec->nr_args++;
	}
	return 0;
}

int tacho_probe_parse(struct tacho_arena *arena, const char *text,
		      struct tacho_probe_spec *spec, struct tacho_diag *d)
{
	struct parser p = { .arena = arena, .text = text, .at = text,
			    .spec = spec, .d = d };
	size_t len = strlen(text);
	int ret;

	*spec = (struct tacho_probe_spec){ .kind = 0 };
	if (len > TACHO_PROBE_TEXT_MAX)
		return tacho_diag(d, -E2BIG, TACHO_PROBE_TEXT_MAX,
			"the kernel takes no line of more than %d bytes",
			TACHO_PROBE_TEXT_MAX);
	if (memchr(text, '\n', len) || memchr(text, '#', len))
		return tacho_diag(d, -EINVAL, strcspn(text, "\n#"),
				  "a line may hold no end of line and no '#'");
	ret = parse_head(&p);
	ret = ret ? ret : parse_place(&p);
	return ret || spec->kind == '-' ? ret : parse_args(&p);
}

int tacho_probe_check_arg(const struct tacho_probe_spec *of, const char *arg,
			  struct tacho_diag *d)
{
	struct tacho_probe_spec spec = *of;
	struct parser p = { .text = arg, .at = arg, .spec = &spec, .d = d };
	const struct word w = { arg, strlen(arg) };
	const char *equals = strchr(arg, '=');
	size_t fetch;
	int ret = 0;

	spec.nr_args = 0;
	if (equals)
		ret = parse_arg_name(&p, &w, (size_t)(equals - arg));
	if (ret)
		return ret;
	equals = equals ? equals + 1 : arg;
	return kernel_probe_fetch(&spec, arg, equals, strlen(equals), &fetch, d);
}

/* ---- back to text ---- */

static void write_place(const struct tacho_probe_spec *s, struct tacho_buf *out)
{
	switch (s->place) {
	case TACHO_PROBE_FILE:
		tacho_buf_printf(out, "%s:0x%" PRIx64, s->target,
				 (uint64_t)s->offset);
		break;
	case TACHO_PROBE_SYMBOL:
		if (s->module)
			tacho_buf_printf(out, "%s:", s->module);
		tacho_buf_puts(out, s->target);
		if (s->offset)
			tacho_buf_printf(out, "+%" PRIi64, s->offset);
		break;
	case TACHO_PROBE_ADDRESS:
		tacho_buf_printf(out, "0x%" PRIx64, (uint64_t)s->offset);
		break;
	case TACHO_PROBE_TRACEPOINT:
		tacho_buf_puts(out, s->target);
		break;
	case TACHO_PROBE_EVENT:
		tacho_buf_printf(out, "%s.%s", s->target_group, s->target);
		break;
	case TACHO_PROBE_NOWHERE:
	default:
		break;
	}
	if (s->on_return && s->kind != 'r')
		tacho_buf_puts(out, "%return");
	if (s->counter)
		tacho_buf_printf(out, "(0x%" PRIx64 ")", s->counter);
}

void tacho_probe_write(const struct tacho_probe_spec *s, struct tacho_buf *out)
{
	tacho_buf_putc(out, s->kind);
	if (s->max_active)
		tacho_buf_put_u64(out, s->max_active);
	if (s->group || s->event)
		tacho_buf_putc(out, ':');
	if (s->group)
		tacho_buf_printf(out, "%s/", s->group);
	if (s->event)
		tacho_buf_puts(out, s->event);
	if (s->place == TACHO_PROBE_NOWHERE)
		return;
	tacho_buf_putc(out, ' ');
	write_place(s, out);
	for (size_t i = 0; i < s->nr_args; i++) {
		const struct tacho_probe_arg *a = &s->arg[i];

		tacho_buf_putc(out, ' ');
		if (a->name)
			tacho_buf_printf(out, "%s=", a->name);
		tacho_buf_puts(out, a->fetch);
		if (a->type)
			tacho_buf_printf(out, ":%s", a->type);
	}
	if (s->filter)
		tacho_buf_printf(out, " if %s", s->filter);
}

void tacho_probe_caret(const char *text, const struct tacho_diag *d,
		       struct tacho_buf *out)
{
	if (d->offset == TACHO_PROBE_NO_COLUMN || d->offset > strlen(text))
		return;
	tacho_buf_printf(out, "  %s\n  ", text);
	/* tabs stay tabs, so that the caret stands where it should */
	for (uint64_t i = 0; i < d->offset; i++)
		tacho_buf_putc(out, text[i] == '\t' ? '\t' : ' ');
	tacho_buf_puts(out, "^\n");
}
