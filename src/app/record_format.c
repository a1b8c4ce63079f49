// SPDX-License-Identifier: MIT
/*
 * A recording into another format: it is recorded as a trace directory, <output>.tacho, and
 * converted at the end.
 *
 * A trace.dat cannot grow on all CPUs at once, nor be read before it is whole; other
 * formats are likewise.  The directory can, and a recorder that is killed leaves a
 * readable trace.
 */
#include <errno.h>
#include <stdio.h>

#include "app/convert.h"
#include "app/output.h"
#include "app/record_priv.h"

static bool is_converted(const struct app_record_config *c)
{
	return c->format && c->format != &tacho_sink_ctf;
}

int record_name_trace(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	size_t size = sizeof(r->trace);

	if (snprintf(r->trace, size, "%s%s", c->output, is_converted(c) ? ".tacho" : "") >=
	    (int)size)
		return tacho_diag(d, -ENAMETOOLONG, 0, "the name of the output is too long");
	if (is_converted(c) && (record_is_flight(r) || c->rotate_bytes || c->rotate_ns))
		return tacho_diag(d, -EINVAL, 0, "a flight recorder and a rotated recording write "
				  "directories of ours; 'tacho convert' makes '%s' of one",
				  c->output);
	return 0;
}

int record_output_ready(const struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	int err;

	if (!is_converted(c))
		return app_output_ready(r->trace, !c->replace, d);
	err = tacho_sink_ready(c->format, c->output, d);
	return err ? err : app_output_ready_native(c->output, r->trace, d);
}

int app_record_convert(struct app_record *r, const struct tacho_observer *observer,
		       struct app_record_result *result, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	struct tacho_sink_written written;
	int err;

	if (!is_converted(c))
		return 0;
	err = app_convert_trace(r->trace, 0, c->output, c->format, observer, &written, d);
	if (err)
		return err;
	result->trace = c->output;
	result->stats.bytes = written.bytes;
	return app_output_remove(r->trace, d);
}
