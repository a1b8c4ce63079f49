// SPDX-License-Identifier: MIT
/*
 * slow_requests TRACE OUT EVENT FIELD MIN - a piece of a trace, in any format.
 *
 * Writes those records of an event whose field is at least MIN, and leaves out the rest:
 *
 *	slow_requests my-trace slow.dat request latency 90000
 *
 *	cc slow_requests.c $(pkg-config --cflags --libs tacho-stream)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/sink.h>

static const char *event, *field;
static uint64_t least;

static int wanted(const struct tacho_record *r)
{
	const struct tacho_field *f;
	uint64_t value;

	if (strcmp(tacho_type_name(r->type), event))
		return 0;
	f = tacho_type_find(r->type, field);
	return f && tacho_record_int(r, f, &value) && value >= least;
}

static int copy(struct tacho_stream *s, struct tacho_sink *sink, struct tacho_error *error)
{
	struct tacho_record r;
	int status = TACHO_STREAM_END, err = 0;

	while (!err && (status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD)
		err = wanted(&r) ? tacho_sink_put(sink, &r) : tacho_sink_skip(sink, &r);
	if (!err && status == TACHO_STREAM_END)
		err = tacho_sink_end_of_stream(sink);
	if (!err && status != TACHO_STREAM_ERROR)
		return tacho_sink_finish(sink, NULL, error);
	*error = err ? *tacho_sink_error(sink) : *tacho_stream_error(s);
	tacho_sink_discard(sink);
	return error->err;
}

int main(int argc, char **argv)
{
	struct tacho_error error = { 0 };
	struct tacho_stream *s;
	struct tacho_sink *sink;
	int err;

	if (argc != 6) {
		fprintf(stderr, "usage: slow_requests TRACE OUT EVENT FIELD MIN\n");
		return 2;
	}
	event = argv[3];
	field = argv[4];
	least = strtoull(argv[5], NULL, 0);
	err = tacho_stream_open(&s, argv[1], 0, &error);
	if (!err) {
		err = tacho_sink_open(&sink, s, argv[2], NULL, &error);
		if (!err)
			err = copy(s, sink, &error);
		tacho_stream_close(s);
	}
	if (err)
		fprintf(stderr, "%s\n", error.text);
	return err ? 1 : 0;
}
