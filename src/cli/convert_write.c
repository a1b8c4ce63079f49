// SPDX-License-Identifier: MIT
/* The output formats, and the walk over the stream that fills them. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/output.h"
#include "fmt/lkst/record.h"

/* The first one is for names without an extension that is known. */
static const struct cli_format *const formats[] = {
	&cli_format_ctf, &cli_format_dat, &cli_format_dat7, &cli_format_kev,
	&cli_format_lkst,
	&cli_format_ltt, &cli_format_ltt32, &cli_format_ltt_swap, &cli_format_ltt32_swap,
	&cli_format_ltt_full,
	&cli_format_text, &cli_format_json,
};

const struct cli_format *cli_format_named(const char *name)
{
	char list[256] = "";

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(formats); i++) {
		if (!strcmp(name, formats[i]->name))
			return formats[i];
		(void)snprintf(list + strlen(list), sizeof(list) - strlen(list),
			       "%s%s", i ? ", " : "", formats[i]->name);
	}
	cli_usage("--to: '%s' is none of %s", name, list);
	return NULL;
}

/* Whether the list, " .a .b ", has the word of n characters. */
static bool has_word(const char *list, const char *word, size_t n)
{
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if (at > list && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

const struct cli_format *cli_format_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const char *dot = strrchr(file, '.');

	/* ".dat" alone is a name, and no extension */
	for (size_t i = 0; dot && dot > file && i < TACHO_ARRAY_SIZE(formats); i++)
		if (has_word(formats[i]->extensions, dot, strlen(dot)))
			return formats[i];
	return formats[0];
}

/* ---- what formats ask for -------------------------------------------------------- */

/*
 * One clock for all sources, whose frequency says all of it: their ticks can be taken over.  Else there is no
 * common tick but the nanosecond.  (A factor of TSC2NSEC is no whole frequency.)
 */
static bool same_clock(const struct tacho_stream *s)
{
	const struct tacho_source *first = tacho_stream_source(s, 0), *next;

	struct tacho_clock_map whole;

	if (!first)
		return false;
	tacho_clock_map_init(&whole, first->clock.freq, 0, first->clock.base);
	for (uint32_t i = 0; (next = tacho_stream_source(s, i)); i++)
		if (next->clock.freq != whole.freq || next->clock.whole != whole.whole ||
		    next->clock.part != whole.part || next->clock.base != whole.base)
			return false;
	return true;
}

int cli_convert_tasks(const struct tacho_stream *s, struct tacho_facts *all)
{
	const struct tacho_source *source;
	int err = 0;

	for (uint32_t i = 0; !err && (source = tacho_stream_source(s, i)); i++) {
		const struct tacho_facts *f = &source->facts;

		for (size_t k = 0; k < f->nr_tasks && !err; k++)
			err = tacho_facts_add_task(all, f->task[k].pid,
						   f->task[k].tgid,
						   f->task[k].comm, 16);
	}
	/* a look-up brings them in order and drops what is outdated */
	(void)tacho_facts_comm(all, 0, NULL);
	return err;
}

/* ---- times in fields --------------------------------------------------------------- */

/*
 * Records whose fields have times of the trace's clock, which the output's replaces.  Those of
 * LKST alone do.
 */
struct retime {
	const struct cli_convert *c;
	bool wanted;
	const struct tacho_type *last;	/* type that was asked for last, */
	bool is_lkst;			/* and the answer */
	struct tacho_buf raw;
};

static void retime_init(struct retime *t, const struct cli_convert *c)
{
	*t = (struct retime){
		.c = c, .wanted = !c->own_clock && c->format->clock != CLI_CLOCK_NONE,
	};
	tacho_buf_init(&t->raw, UINT32_MAX);
}

static int retime(struct retime *t, struct tacho_record *r)
{
	const struct tacho_source *s = tacho_stream_current(t->c->trace.stream);

	if (!t->wanted || !s)
		return CLI_OK;
	if (r->type != t->last) {
		t->last = r->type;
		t->is_lkst = lkst_record_is(r->type);
	}
	if (!t->is_lkst)
		return CLI_OK;
	tacho_buf_reset(&t->raw);
	tacho_buf_put(&t->raw, r->raw, r->len);
	if (tacho_buf_error(&t->raw))
		return cli_fail("out of memory");
	lkst_record_to_ns((unsigned char *)t->raw.data, r->len, &s->clock);
	r->raw = t->raw.data;
	return CLI_OK;
}

/* ---- the walk -------------------------------------------------------------------- */

/* *whole: to the very end of the input. */
static int copy_records(struct cli_convert *c, void *writer, struct retime *times, bool *whole)
{
	const struct cli_format *f = c->format;
	uint64_t left = c->filter.max ? c->filter.max : UINT64_MAX;
	int ret = CLI_OK, status = TACHO_STREAM_END;
	struct tacho_record r;

	*whole = false;
	while (left && ret == CLI_OK &&
	       (status = tacho_stream_next(c->trace.stream, &r)) ==
	       TACHO_STREAM_RECORD) {
		enum cli_filter_verdict v = cli_filter_look(&c->filter, &r);

		if (v == CLI_FILTER_STOP)
			return CLI_OK;
		if (tacho_unlikely(r.lost) && v != CLI_FILTER_DROP)
			ret = f->lost(writer, &r);
		if (v != CLI_FILTER_PASS || ret != CLI_OK)
			continue;
		ret = retime(times, &r);
		if (ret == CLI_OK)
			ret = f->record(writer, &r);
		c->events++;
		left--;
	}
	if (ret == CLI_OK && status == TACHO_STREAM_ERROR)
		return cli_fail("%s", tacho_stream_error(c->trace.stream)->text);
	*whole = left && ret == CLI_OK;
	return ret;
}

/* What was lost behind the last record of a part. */
static int last_losses(struct cli_convert *c, void *writer)
{
	const struct tacho_source *s;
	int ret = CLI_OK;

	for (uint32_t i = 0; ret == CLI_OK &&
	     (s = tacho_stream_source(c->trace.stream, i)); i++)
		for (uint32_t j = 0; j < s->nr_parts && ret == CLI_OK; j++) {
			const struct tacho_part *p = s->part[j];
			struct tacho_record r = {
				.lost = p->lost, .cpu = p->cpu,
				.source = p->stream_id, .ticks = p->last,
				.time = tacho_clock_ns(&s->clock, p->last),
			};

			if (p->lost)
				ret = c->format->lost(writer, &r);
		}
	return ret;
}

/* Whether OUT can be made.  What can be streamed, begin() judges. */
static int check_out(const struct cli_format *f, const char *out)
{
	bool named = strcmp(out, "-");
	struct stat st;

	if (f->stream || (named && stat(out, &st)))
		return CLI_OK;
	if (!named || !(f->directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return cli_fail("'%s' is not a %s, and the format '%s' needs one; choose "
				"another name", out, f->directory ? "directory" : "file", f->name);
	return cli_format_ready(f, out);
}

int cli_convert_write(struct cli_convert *c)
{
	struct retime times;
	void *writer = NULL;
	bool whole;
	int ret, end;

	ret = check_out(c->format, c->out);
	if (ret != CLI_OK)
		return ret;
	c->own_clock = c->format->clock == CLI_CLOCK_INPUT && same_clock(c->trace.stream);
	ret = c->format->begin(c, &writer);
	if (ret != CLI_OK)
		return ret;
	retime_init(&times, c);
	ret = copy_records(c, writer, &times, &whole);
	tacho_buf_release(&times.raw);
	if (whole)
		ret = last_losses(c, writer);
	end = c->format->end(writer, ret == CLI_OK);
	return ret == CLI_OK ? end : ret;
}

/* ---- for other verbs ------------------------------------------------------------- */

int cli_convert_trace(const char *trace, const char *out,
		      const struct cli_format *format, uint64_t *bytes)
{
	struct cli_convert c = { .out = out, .format = format };
	int ret = cli_trace_open(&c.trace, trace, 0);

	if (ret != CLI_OK)
		return ret;
	cli_filter_init(&c.filter);
	ret = cli_filter_open(&c.filter, c.trace.stream);
	if (ret == CLI_OK)
		ret = cli_convert_write(&c);
	*bytes = c.bytes;
	cli_filter_release(&c.filter);
	cli_lines_release(&c.lines);
	cli_trace_close(&c.trace);
	return ret;
}

int cli_format_ready(const struct cli_format *format, const char *out)
{
	return format->directory ? cli_output_ready(out, true) :
	       cli_output_ready_file(out);
}

int cli_convert_ready(const char *out)
{
	return strcmp(out, "-") ? cli_format_ready(cli_format_of(out), out) : CLI_OK;
}

int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events)
{
	struct cli_convert c = {
		.trace = { .stream = stream, .path = out },
		.out = out,
		.format = strcmp(out, "-") ? cli_format_of(out) : &cli_format_text,
	};
	int ret;

	cli_filter_init(&c.filter);
	ret = cli_filter_open(&c.filter, stream);
	if (ret == CLI_OK)
		ret = cli_convert_write(&c);
	cli_filter_release(&c.filter);
	cli_lines_release(&c.lines);
	*events = c.events;
	return ret;
}
