// SPDX-License-Identifier: MIT
/*
 * own_events OUT - a trace of events that tacho did not record.
 *
 * Say you have a web server's access log, a simulator or a device's dump: define event types,
 * put the events in the order of time, and babeltrace2, trace-cmd or KernelShark can show them.
 * OUT's extension says the format: out.dat, out.kev, out.txt, out.json; without one, CTF.
 *
 *	cc own_events.c $(pkg-config --cflags --libs tacho-stream)
 */
#include <stdio.h>
#include <string.h>

#include <tacho/sink.h>

/* The bytes of an event are those of a C struct. */
struct request {
	uint64_t latency;	/* ns */
	uint32_t status;
	int32_t worker;
	char path[24];
};

static const struct tacho_member request_members[] = {
	TACHO_MEMBER(struct request, latency, "uint64_t latency", 0),
	TACHO_MEMBER(struct request, status, "uint32_t status", 0),
	TACHO_MEMBER(struct request, worker, "int worker", 1),
	TACHO_MEMBER(struct request, path, "char path[24]", 0),
};

/* Or a `format` text says how they lie, as in tracefs: here with a text of variable length. */
static const char message_format[] =
	"\tfield:int level;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"<%d> %s\", REC->level, __get_str(text)\n";

struct message {
	int32_t level;
	uint32_t text_at;	/* where it begins, and its length above 16 bits */
	char text[48];
};

static const struct tacho_type *request, *message;

static int define(struct tacho_stream *s, struct tacho_error *error)
{
	int err = tacho_stream_define_struct(s, TACHO_STREAM_PROGRAM, "web:request",
					     request_members, 4, &request, error);

	if (!err)
		err = tacho_stream_define_type(s, TACHO_STREAM_PROGRAM, "web:message",
					       message_format, &message, error);
	if (!err)
		err = tacho_stream_define_env(s, "hostname", "www1", error);
	if (!err)
		err = tacho_stream_define_env(s, "cpus", "2", error);
	if (!err)
		err = tacho_stream_define_thread(s, 70, 70, "web", error);
	if (!err)
		err = tacho_stream_define_thread(s, 71, 70, "worker-0", error);
	if (!err)
		err = tacho_stream_define_thread(s, 72, 70, "worker-1", error);
	return err;
}

static int put_message(struct tacho_sink *sink, uint64_t time, const char *text)
{
	struct message m = { .level = 6 };
	size_t len = strlen(text) + 1;

	/* offsets count from the raw event, which begins 8 bytes before the fields */
	m.text_at = (uint32_t)(8 + offsetof(struct message, text)) | (uint32_t)len << 16;
	memcpy(m.text, text, len);
	return tacho_sink_put_event(sink, message, time, 0, 70, &m,
				    offsetof(struct message, text) + len);
}

static int put_all(struct tacho_sink *sink)
{
	static const char *const paths[] = { "/", "/cart", "/pay" };
	uint64_t time = UINT64_C(1795184000000000000);	/* ns since 1970 */
	int err = put_message(sink, time, "listening on :80");

	for (uint32_t i = 0; i < 100 && !err; i++) {
		struct request r = { .latency = 1000 * (i + 1), .status = i % 10 ? 200 : 404,
				     .worker = (int32_t)(i % 2) };

		strcpy(r.path, paths[i % 3]);
		time += 250000;
		err = tacho_sink_put_event(sink, request, time, i % 2, 71 + (int32_t)(i % 2),
					   &r, sizeof(r));
	}
	/* what the log has not got, readers are told of */
	if (!err)
		err = tacho_sink_put_lost(sink, TACHO_STREAM_PROGRAM, time + 1, 0, 3);
	return err ? err : put_message(sink, time + 250000, "shutting down");
}

static void note(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

static int write_trace(struct tacho_stream *s, const char *out, struct tacho_error *error)
{
	const struct tacho_sink_options options = { .struct_size = sizeof(options),
						    .note = note };
	struct tacho_sink_result result;
	struct tacho_sink *sink;
	int err = define(s, error);

	if (!err)
		err = tacho_sink_open(&sink, s, out, &options, error);
	if (err)
		return err;
	if (put_all(sink)) {
		*error = *tacho_sink_error(sink);
		tacho_sink_discard(sink);
		return error->err;
	}
	err = tacho_sink_finish(sink, &result, error);
	if (!err)
		printf("%llu events, %llu bytes\n", (unsigned long long)result.events,
		       (unsigned long long)result.bytes);
	return err;
}

int main(int argc, char **argv)
{
	struct tacho_error error = { 0 };
	struct tacho_stream *s;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: own_events OUT\n");
		return 2;
	}
	err = tacho_stream_define(&s, &error);
	if (!err) {
		err = write_trace(s, argv[1], &error);
		tacho_stream_close(s);
	}
	if (err)
		fprintf(stderr, "%s\n", error.text);
	return err ? 1 : 0;
}
