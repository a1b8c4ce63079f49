// SPDX-License-Identifier: MIT
/*
 * toy_sink TRACE OUT.csv - how to add an output format.
 *
 * This is all that a format is: one file, which includes nothing of the command line.  It
 * writes comma-separated values, a line for each record and one for each loss:
 *
 *	time,cpu,thread,system,event
 *	1795184000000001000,0,1000,app,open
 *	1795184000000002000,1,,lost,5
 *
 * To have it as 'tacho convert --to csv', put the first half of this file into
 * src/fmt/csv/sink.c, its name into the table of src/fmt/sink.c and the file into
 * src/fmt/meson.build.  tests/docs then says which help texts do not name it yet.
 *
 * The second half is a front end that hands the format in without the table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event/type.h"
#include "fmt/sink.h"

/* ---- the format --------------------------------------------------------------------- */

/* One output.  The first member is what all sinks have; the rest is ours, and 0 at first. */
struct csv_sink {
	struct tacho_sink sink;
	FILE *file;
	uint64_t lost;		/* for the remark at the end */
};

static struct csv_sink *csv(struct tacho_sink *sink)
{
	return (struct csv_sink *)sink;
}

/* Any error of stdio's as the sink's, with the output's name. */
static int failed(struct tacho_sink *sink)
{
	return tacho_diag(&sink->diag, errno ? -errno : -EIO, 0, "cannot write '%s': %s",
			  sink->config.path, strerror(errno ? errno : EIO));
}

/* fmt/sink.c has looked: config.path is not there, or an empty file. */
static int begin(struct tacho_sink *sink)
{
	struct csv_sink *c = csv(sink);

	c->file = fopen(sink->config.path, "we");
	if (!c->file)
		return failed(sink);
	fprintf(c->file, "time,cpu,thread,system,event\n");
	return 0;
}

/* -1 is for what is not known. */
static int64_t cpu_of(const struct tacho_record *r)
{
	return r->cpu == UINT32_MAX ? -1 : (int64_t)r->cpu;
}

/* At the very end r has no type, but its CPU and time are those of the last record. */
static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct csv_sink *c = csv(sink);

	c->lost += r->lost;
	fprintf(c->file, "%" PRIu64 ",%" PRId64 ",,lost,%" PRIu64 "\n",
		tacho_sink_ticks(sink, r), cpu_of(r), r->lost);
	return ferror(c->file) ? failed(sink) : 0;
}

/* tacho_sink_ticks() is the time in what .clock below says: here ns since 1970. */
static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct csv_sink *c = csv(sink);

	fprintf(c->file, "%" PRIu64 ",%" PRId64 ",%d,%s,%s\n", tacho_sink_ticks(sink, r),
		cpu_of(r), r->pid, r->type->system, r->type->name);
	return ferror(c->file) ? failed(sink) : 0;
}

/* The last words: how large it is, what is to be known of it; or, !good, that it goes. */
static int end(struct tacho_sink *sink, bool good)
{
	struct csv_sink *c = csv(sink);
	long size = ftell(c->file);
	int err = fclose(c->file) && good ? failed(sink) : 0;

	sink->bytes = size > 0 ? (uint64_t)size : 0;
	if (!good || err)
		(void)remove(sink->config.path);
	else if (c->lost)
		tacho_observer_note(sink->config.observer, "%" PRIu64 " events are missing; "
				    "lines 'lost' say where", c->lost);
	return err;
}

static const struct tacho_sink_format csv_format = {
	.name = "csv",
	.extensions = " .csv ",
	.clock = TACHO_SINK_NS,
	.size = sizeof(struct csv_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};

/* ---- a front end that has it ---------------------------------------------------------- */

#include "app/convert.h"

static void note(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
	const struct tacho_observer observer = { .note = note };
	struct tacho_sink_written written;
	struct tacho_diag d = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: toy_sink TRACE OUT.csv\n");
		return 2;
	}
	if (app_convert_trace(argv[1], 0, argv[2], &csv_format, &observer, &written, &d)) {
		fprintf(stderr, "%s\n", d.text);
		return 1;
	}
	printf("%" PRIu64 " events, %" PRIu64 " bytes\n", written.events, written.bytes);
	return 0;
}
