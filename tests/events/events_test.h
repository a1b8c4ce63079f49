/* SPDX-License-Identifier: MIT */
/* events_test.h - a run-time directory and sessions of the test's own, and what is in them. */
#ifndef TACHO_TESTS_EVENTS_TEST_H
#define TACHO_TESTS_EVENTS_TEST_H

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "session/session.h"
#include "stream/tmpdir.h"
#include "tacho/events.h"
#include "tacho/stream.h"
#include "unit/test.h"

/* What the specification's examples call, in a program. */
#define kzalloc(size, flags)	calloc(1, size)
#define smp_processor_id()	((u64)sched_getcpu())

static inline void test_begin(void)
{
	tmpdir_make();
	setenv("TACHO_DIR", tmpdir_path("run"), 1);
	unsetenv("TACHO_SESSION");
	unsetenv("TACHO_EVENTS");
}

/* Sub-buffers that also hold large events where all else is tiny. */
static inline void make_session_of(const char *name, uint64_t lane_size)
{
	const struct tacho_session_config cfg = {
		.name = name, .clock = -1, .sub_size = 16 << 10,
		.lane_size = lane_size, .flags = TACHO_SESSION_OVERWRITE,
	};
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;

	if (!CHECK_EQ(tacho_dir_open(&dir, true, &d), 0) ||
	    !CHECK_EQ(tacho_session_create(&s, &dir, &cfg, &d), 0)) {
		printf("# %s\n", d.text);
		exit(1);
	}
	tacho_session_close(&s);
	tacho_dir_close(&dir);
}

static inline void make_session(const char *name)
{
	make_session_of(name, 1 << 20);
}

static inline void end_session(const char *name)
{
	struct tacho_session s;
	struct tacho_dir dir;

	CHECK_EQ(tacho_dir_open(&dir, false, NULL), 0);
	if (CHECK_EQ(tacho_session_open(&s, &dir, name, NULL), 0))
		CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	tacho_dir_close(&dir);
}

/*
 * The session's records as "event: text" lines, at most size bytes; how many there
 * are.
 */
static inline int session_text(const char *name, char *text, size_t size)
{
	static char line[1 << 16];
	char path[100];
	struct tacho_error e = { 0 };
	struct tacho_stream *s;
	struct tacho_record r;
	int n = 0;

	text[0] = '\0';
	(void)snprintf(path, sizeof(path), "session:%s", name);
	if (!CHECK_EQ(tacho_stream_open(&s, path, 0, &e), 0)) {
		printf("# %s\n", e.text);
		return -1;
	}
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		size_t len = strlen(text);

		(void)tacho_record_text(s, &r, line, sizeof(line));
		(void)snprintf(text + len, size - len, "%s:%s: %.60000s\n",
			       tacho_type_system(r.type), tacho_type_name(r.type),
			       line);
		n++;
	}
	tacho_stream_close(s);
	return n;
}

#define CHECK_SESSION(name, want) do { \
	static char text_[1 << 16]; \
	(void)session_text(name, text_, sizeof(text_)); \
	CHECK_STR(text_, want); \
} while (0)

/* A file of a synthetic event, enabled; ends the test when that fails. */
__attribute__((unused))
static struct trace_event_file *enabled_file(const char *instance, const char *event)
{
	struct trace_event_file *file =
		trace_get_event_file(instance, "synthetic", event);

	if (!CHECK_EQ(PTR_ERR_OR_ZERO(file), 0))
		exit(1);
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", event, true), 0);
	return file;
}

/* Disables the event, gives the file back and deletes the event. */
__attribute__((unused))
static void drop_event(struct trace_event_file *file, const char *event)
{
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", event, false), 0);
	trace_put_event_file(file);
	CHECK_EQ(synth_event_delete(event), 0);
}

#endif
