// SPDX-License-Identifier: MIT
/*
 * record -o x.dat: recorded as a trace directory, x.dat.tacho, made into the
 * trace.dat at the end.
 *
 * A trace.dat cannot grow on all CPUs at once, nor be read before it is whole.  The
 * directory can, and a recorder that is killed leaves a readable trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/output.h"
#include "cli/record.h"

#define EXTENSION	".dat"

static bool has_extension(const char *path)
{
	size_t len = strlen(path), n = strlen(EXTENSION);

	return len > n && !strcmp(path + len - n, EXTENSION);
}

static int parse_to(struct job_options *o, const char *to)
{
	if (!to)
		o->dat_version = has_extension(o->output) ? 6 : 0;
	else if (!strcmp(to, "dat"))
		o->dat_version = 6;
	else if (!strcmp(to, "dat7"))
		o->dat_version = 7;
	else if (strcmp(to, "ctf"))
		return cli_usage("--to: '%s' is none of ctf, dat, dat7", to);
	return CLI_OK;
}

int record_target(struct job_options *o, const char *to)
{
	static char native[4200];
	int ret = parse_to(o, to);

	if (ret != CLI_OK || !o->dat_version)
		return ret;
	if (!o->output_given)
		return cli_usage("--to %s: name the file with -o", to);
	if (o->flight || o->on || o->on_kernel || o->rotate_bytes || o->rotate_ns)
		return cli_usage("--flight, --on and --rotate write directories; "
				 "'tacho convert' makes a trace.dat of one");
	o->dat = o->output;
	if (snprintf(native, sizeof(native), "%s.tacho", o->dat) >=
	    (int)sizeof(native))
		return cli_usage("the name of the output is too long");
	o->output = native;
	return CLI_OK;
}

int record_dat(const struct job_options *o, struct tacho_recorder_stats *s)
{
	int ret = cli_convert_to_dat(o->output, o->dat, o->dat_version, &s->bytes);

	if (ret == CLI_OK)
		return cli_output_remove(o->output);
	cli_note("all that was recorded is in '%s'; with room for it, 'tacho convert "
		 "%s --to %s -o %s' goes on", o->output, o->output,
		 o->dat_version == 7 ? "dat7" : "dat", o->dat);
	return ret;
}
