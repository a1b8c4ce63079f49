// SPDX-License-Identifier: MIT
/*
 * record -o x.EXT: recorded as a trace directory, x.EXT.tacho, converted at the end.
 *
 * A trace.dat cannot grow on all CPUs at once, nor be read before it is whole; other
 * formats are likewise.  The directory can, and a recorder that is killed leaves a
 * readable trace.
 */
#include <stdio.h>
#include <string.h>

#include "app/output.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/record.h"

int record_target(struct record_options *o, const char *to)
{
	struct app_record_config *c = &o->config;

	o->format = to ? cli_format_named(to) : tacho_sink_format_of(c->output);
	if (!o->format)
		return CLI_USAGE;
	if (o->format == &tacho_sink_ctf)
		return CLI_OK;
	if (!o->output_given)
		return cli_usage("--to %s: name the file with -o", to);
	if (c->flight || c->snapshot_event || c->snapshot_kernel_event || c->rotate_bytes ||
	    c->rotate_ns)
		return cli_usage("--flight, --on and --rotate write directories of ours; "
				 "'tacho convert' makes '%s' of one", c->output);
	o->target = c->output;
	if (snprintf(o->native, sizeof(o->native), "%s.tacho", o->target) >=
	    (int)sizeof(o->native))
		return cli_usage("the name of the output is too long");
	c->output = o->native;
	return CLI_OK;
}

int record_ready(const struct record_options *o)
{
	int ret = cli_format_ready(o->format, o->target);
	struct tacho_diag d = { 0 };

	if (ret == CLI_OK && app_output_ready_native(o->target, o->config.output, &d))
		ret = cli_fail_diag(&d);
	return ret;
}

int record_convert(const struct record_options *o, struct tacho_recorder_stats *s)
{
	const char *trace = o->config.output;
	int ret = cli_convert_trace(trace, o->target, o->format, &s->bytes);
	struct tacho_diag d = { 0 };

	if (ret == CLI_OK)
		return app_output_remove(trace, &d) ? cli_fail_diag(&d) : CLI_OK;
	cli_note("all that was recorded is in '%s'; with room for it, 'tacho convert "
		 "%s --to %s -o %s' goes on", trace, trace, o->format->name, o->target);
	return ret;
}
