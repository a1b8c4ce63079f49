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

#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/output.h"
#include "cli/record.h"

int record_target(struct job_options *o, const char *to)
{
	static char native[4200];

	o->format = to ? cli_format_named(to) : tacho_sink_format_of(o->output);
	if (!o->format)
		return CLI_USAGE;
	if (o->format == &tacho_sink_ctf)
		return CLI_OK;
	if (!o->output_given)
		return cli_usage("--to %s: name the file with -o", to);
	if (o->flight || o->on || o->on_kernel || o->rotate_bytes || o->rotate_ns)
		return cli_usage("--flight, --on and --rotate write directories of ours; "
				 "'tacho convert' makes '%s' of one", o->output);
	o->target = o->output;
	if (snprintf(native, sizeof(native), "%s.tacho", o->target) >=
	    (int)sizeof(native))
		return cli_usage("the name of the output is too long");
	o->output = native;
	return CLI_OK;
}

int record_ready(const struct job_options *o)
{
	int ret;

	if (!o->target)
		return cli_output_ready(o->output, o->output_given);
	ret = cli_format_ready(o->format, o->target);
	return ret == CLI_OK ? cli_output_ready_native(o->target, o->output) : ret;
}

int record_convert(const struct job_options *o, struct tacho_recorder_stats *s)
{
	int ret = cli_convert_trace(o->output, o->target, o->format, &s->bytes);

	if (ret == CLI_OK)
		return cli_output_remove(o->output);
	cli_note("all that was recorded is in '%s'; with room for it, 'tacho convert "
		 "%s --to %s -o %s' goes on", o->output, o->output, o->format->name,
		 o->target);
	return ret;
}
