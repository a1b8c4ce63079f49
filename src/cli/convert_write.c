// SPDX-License-Identifier: MIT
/* The walk over the stream that fills a sink. */
#include <string.h>

#include "cli/cli.h"
#include "cli/convert.h"

/* *whole: to the very end of the input. */
static int copy_records(struct cli_convert *c, struct tacho_sink *sink, bool *whole)
{
	uint64_t left = c->filter.max ? c->filter.max : UINT64_MAX;
	int err = 0, status = TACHO_STREAM_END;
	struct tacho_record r;

	*whole = false;
	while (left && !err &&
	       (status = tacho_stream_next(c->trace.stream, &r)) ==
	       TACHO_STREAM_RECORD) {
		enum cli_filter_verdict v = cli_filter_look(&c->filter, &r);

		if (v == CLI_FILTER_STOP)
			return CLI_OK;
		if (tacho_unlikely(r.lost) && v != CLI_FILTER_DROP)
			err = tacho_sink_lost(sink, &r);
		if (v != CLI_FILTER_PASS || err)
			continue;
		err = tacho_sink_record(sink, &r);
		left--;
	}
	if (err)
		return cli_fail_diag(&sink->diag);
	if (status == TACHO_STREAM_ERROR)
		return cli_fail("%s", tacho_stream_error(c->trace.stream)->text);
	*whole = left;
	return CLI_OK;
}

static int write_records(struct cli_convert *c, struct tacho_sink *sink)
{
	bool whole;
	int ret = copy_records(c, sink, &whole);

	if (whole && tacho_sink_last_losses(sink))
		ret = cli_fail_diag(&sink->diag);
	return ret;
}

int cli_convert_write(struct cli_convert *c)
{
	const struct cli_filter *f = &c->filter;
	struct tacho_sink_config config = {
		.stream = c->trace.stream, .path = c->out, .lines = &c->lines.config,
		.first = f->first, .observer = &cli_observer,
		.all = f->any && !f->max && !f->begin.kind && !f->end.kind,
	};
	struct tacho_sink_written written;
	struct tacho_diag d = { 0 };
	struct tacho_sink *sink;
	int ret;

	if (tacho_sink_begin(&sink, c->format, &config, &d))
		return cli_fail_diag(&d);
	ret = write_records(c, sink);
	if (tacho_sink_end(sink, ret == CLI_OK, &written, &d) && ret == CLI_OK)
		ret = cli_fail_diag(&d);
	c->events = written.events;
	c->bytes = written.bytes;
	return ret;
}

/* ---- for other verbs ------------------------------------------------------------- */

int cli_convert_trace(const char *trace, const char *out,
		      const struct tacho_sink_format *format, uint64_t *bytes)
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

const struct tacho_sink_format *cli_format_named(const char *name)
{
	struct tacho_diag d = { 0 };
	const struct tacho_sink_format *f = tacho_sink_format_named(name, &d);

	if (!f)
		cli_usage("--to: %s", d.text);
	return f;
}

int cli_format_ready(const struct tacho_sink_format *format, const char *out)
{
	struct tacho_diag d = { 0 };

	return tacho_sink_ready(format, out, &d) ? cli_fail_diag(&d) : CLI_OK;
}

int cli_convert_ready(const char *out)
{
	return strcmp(out, "-") ? cli_format_ready(tacho_sink_format_of(out), out) : CLI_OK;
}

int cli_convert_stream(struct tacho_stream *stream, const char *out,
		       uint64_t *events)
{
	struct cli_convert c = {
		.trace = { .stream = stream, .path = out },
		.out = out,
		.format = strcmp(out, "-") ? tacho_sink_format_of(out) : &tacho_sink_text,
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
