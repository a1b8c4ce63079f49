// SPDX-License-Identifier: MIT
/*
 * ahead_test [TEST]... - several threads make the batches of an Arrow stream: in which order, how
 * many threads, when they are gone; forked children, early releases, damage.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../stream/synth.h"
#include "../stream/tmpdir.h"
#include "../unit/test.h"
#include "../unit/threads.h"
#include "base/text.h"
#include "tacho/columns.h"
#include "tacho/stream.h"

#define EVENTS	60000u
#define WORKERS	3u

static const char format[] = SYNTH_COMMON
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:char text[16];\toffset:16;\tsize:16;\tsigned:0;\n\n";

static char trace[256], damaged[256];

static void flush(struct synth *lane, struct tacho_ctf_writer *w)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(synth_flush(lane, w, &d), 0);
}

/* Record i has n = i, and a text of which there are many. */
static void make_trace(const char *path)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct tacho_diag d = { 0 };
	struct synth lane[2];

	CHECK_EQ(tacho_ctf_writer_new(&w, path, &info, &d), 0);
	CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_PROGRAM, 7, "p", "step", format,
				       sizeof(format) - 1, &d), 0);
	for (uint32_t i = 0; i < 2; i++)
		synth_init(&lane[i], TACHO_STREAM_PROGRAM, i);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct synth *s = &lane[i / 3 % 2];
		unsigned char b[24] = { 0 };

		s->time = SYNTH_TICKS + i * 500;
		tacho_put_u64(b, i);
		(void)snprintf((char *)b + 8, 16, "text %u", i / 7);
		synth_put(s, 7, 1 + (int32_t)(i % 5), b, sizeof(b));
		if (s->records.len > 6000)
			flush(s, w);
	}
	for (uint32_t i = 0; i < 2; i++) {
		flush(&lane[i], w);
		tacho_buf_release(&lane[i].records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, &d), 0);
}

/* The same; some bytes in the middle of a lane are no packet. */
static void make_damaged(void)
{
	char file[300];
	FILE *f;

	make_trace(damaged);
	(void)snprintf(file, sizeof(file), "%.250s/program_1", damaged);
	f = fopen(file, "r+b");
	if (!f || fseek(f, 700000, SEEK_SET)) {
		CHECK_STR(file, "a file that can be opened");
		return;
	}
	for (int i = 0; i < 8000; i++)
		(void)fputc(0xff, f);
	(void)fclose(f);
}

/* A sanitizer starts its own thread with the first one of a program. */
static void *nothing(void *arg)
{
	return arg;
}

static void first_thread(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, nothing, NULL));
	CHECK(!pthread_join(thread, NULL));
}

/* ---- reading ------------------------------------------------------------------- */

static const char *const columns[] = { "n", "text", "common_lost" };

static void open_trace(struct ArrowArrayStream *arrow, const char *path, uint32_t threads,
		       uint32_t flags)
{
	struct tacho_columns_config c;
	struct tacho_error error = { 0 };

	tacho_columns_config_init(&c);
	c.threads = threads;
	c.flags = flags;
	c.batch_rows = 1000;
	c.columns = columns;
	c.nr_columns = TACHO_ARRAY_SIZE(columns);
	if (tacho_columns_open(arrow, path, &c, &error)) {
		CHECK_STR(error.text, "");
		abort();
	}
}

struct seen {
	uint64_t rows, first, last, hash;
	bool in_order;
};

static void see_batch(struct seen *seen, const struct ArrowArray *batch)
{
	const uint64_t *n = batch->children[0]->buffers[1];
	const int32_t *index = batch->children[1]->buffers[1];
	const int32_t *at = batch->children[1]->dictionary->buffers[1];
	const char *text = batch->children[1]->dictionary->buffers[2];
	const uint64_t *lost = batch->children[2]->buffers[1];

	for (int64_t i = 0; i < batch->length; i++) {
		int32_t k = index[i];

		if (!seen->rows)
			seen->first = n[i];
		else
			seen->in_order &= n[i] > seen->last;
		seen->last = n[i];
		seen->rows++;
		seen->hash = tacho_hash(&n[i], 8, seen->hash);
		seen->hash = tacho_hash(&lost[i], 8, seen->hash);
		seen->hash = tacho_hash(text + at[k], (size_t)(at[k + 1] - at[k]), seen->hash);
	}
}

/* Up to max batches more. */
static int see(struct seen *seen, struct ArrowArrayStream *arrow, uint32_t max)
{
	struct ArrowArray batch;
	int err = 0;

	while (max-- && !(err = arrow->get_next(arrow, &batch)) && batch.release) {
		see_batch(seen, &batch);
		batch.release(&batch);
	}
	return err;
}

static struct seen see_all(const char *path, uint32_t threads, uint32_t flags, int *err)
{
	struct threads before = look();
	struct seen seen = { .in_order = true };
	struct ArrowArrayStream arrow;

	open_trace(&arrow, path, threads, flags);
	CHECK(gone(before));
	*err = see(&seen, &arrow, UINT32_MAX);
	/* the last slices have been handed out */
	CHECK(gone(before));
	CHECK_EQ(arrow.get_next(&arrow, &(struct ArrowArray){ .release = NULL }), *err);
	arrow.release(&arrow);
	return seen;
}

static void same_rows(void)
{
	struct seen one, many;
	int err;

	one = see_all(trace, 1, 0, &err);
	CHECK_EQ(err, 0);
	CHECK_EQ(one.rows, EVENTS);
	CHECK_EQ(one.last, EVENTS - 1);
	CHECK(one.in_order);
	for (uint32_t threads = 2; threads <= 5; threads++) {
		many = see_all(trace, threads, 0, &err);
		CHECK_EQ(err, 0);
		CHECK_EQ(many.rows, EVENTS);
		CHECK(many.in_order && many.hash == one.hash);
		/* in order of time, too */
		many = see_all(trace, threads, TACHO_COLUMNS_UNORDERED, &err);
		CHECK_EQ(many.hash, one.hash);
	}
}

/* ---- threads ------------------------------------------------------------------- */

static void threads_while_reading(void)
{
	struct threads before = look(), now;
	struct seen seen = { .in_order = true };
	struct ArrowArrayStream arrow;
	struct ArrowSchema schema;

	open_trace(&arrow, trace, WORKERS, 0);
	CHECK(!arrow.get_schema(&arrow, &schema));
	schema.release(&schema);
	CHECK(gone(before));
	CHECK_EQ(see(&seen, &arrow, 1), 0);
	now = since(before);
	CHECK_EQ(now.nr, WORKERS);
	CHECK_EQ(now.deaf, WORKERS);
	arrow.release(&arrow);
	CHECK(gone(before));
}

/* None was asked for. */
static void no_threads(void)
{
	for (uint32_t threads = 0; threads < 2; threads++) {
		struct threads before = look();
		struct seen seen = { .in_order = true };
		struct ArrowArrayStream arrow;

		open_trace(&arrow, trace, threads, 0);
		CHECK_EQ(see(&seen, &arrow, 3), 0);
		CHECK_EQ(seen.rows, 3000);
		CHECK(gone(before));
		arrow.release(&arrow);
	}
}

static void release_at_any_time(void)
{
	for (uint32_t n = 0; n < 70; n++) {
		struct threads before = look();
		struct seen seen = { .in_order = true };
		struct ArrowArrayStream arrow;

		open_trace(&arrow, trace, WORKERS, 0);
		CHECK_EQ(see(&seen, &arrow, n), 0);
		arrow.release(&arrow);
		CHECK(gone(before));
		CHECK(seen.in_order && seen.rows >= n * 100 && seen.rows <= EVENTS);
	}
}

/* What else the caller may ask of the stream between two batches. */
static void ask_between(void)
{
	struct seen seen = { .in_order = true };
	struct tacho_columns_config c;
	struct tacho_stream_info info;
	struct ArrowArrayStream arrow;
	struct tacho_stream *s;
	uint64_t rows;

	tacho_columns_config_init(&c);
	c.threads = WORKERS;
	c.batch_rows = 1000;
	c.columns = columns;
	c.nr_columns = TACHO_ARRAY_SIZE(columns);
	CHECK_EQ(tacho_stream_open(&s, trace, 0, NULL), 0);
	CHECK_EQ(tacho_columns_open_stream(&arrow, s, &c, NULL), 0);
	do {
		rows = seen.rows;
		CHECK_EQ(see(&seen, &arrow, 1), 0);
		CHECK_EQ(tacho_stream_get_info(s, &info), 0);
		CHECK_EQ(info.events, EVENTS);
		CHECK_EQ(info.types, 1);
		CHECK_STR(tacho_type_name(tacho_stream_type(s, 0)), "step");
		(void)tacho_stream_env(s, "hostname");
	} while (seen.rows > rows);
	CHECK_EQ(rows, EVENTS);
	CHECK(seen.in_order);
	arrow.release(&arrow);
}

/* ---- children ------------------------------------------------------------------ */

#ifndef __SANITIZE_ADDRESS__
/* In the child: the rows after those that the parent has seen, or half of them. */
static int child(struct ArrowArrayStream *arrow, struct seen *seen, bool all)
{
	int err = see(seen, arrow, all ? UINT32_MAX : 20);

	arrow->release(arrow);
	if (err || !seen->in_order)
		return 1;
	return all && (seen->rows != EVENTS || seen->last != EVENTS - 1) ? 2 : 0;
}

/* A child reads on alone, and so does its parent with its threads. */
static void fork_while_reading(void)
{
	struct threads before = look();

	for (uint32_t n = 0; n < 20; n++) {
		struct seen seen = { .in_order = true };
		struct ArrowArrayStream arrow;
		int status = -1;
		pid_t pid;

		open_trace(&arrow, trace, WORKERS, 0);
		CHECK_EQ(see(&seen, &arrow, n), 0);
		pid = fork();
		if (!pid)
			_exit(child(&arrow, &seen, n % 2));
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
		CHECK_EQ(see(&seen, &arrow, UINT32_MAX), 0);
		CHECK_EQ(seen.rows, EVENTS);
		CHECK(seen.in_order);
		arrow.release(&arrow);
	}
	CHECK(gone(before));
}
#endif

/* A child of a process that has had threads has some of its own. */
static void threads_in_child(void)
{
	struct threads before = look();
	int status = -1, err;
	pid_t pid;

	(void)see_all(trace, WORKERS, 0, &err);
	pid = fork();
	if (!pid) {
		struct seen seen = see_all(trace, WORKERS, 0, &err);

		_exit(err || seen.rows != EVENTS || !seen.in_order);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(gone(before));
}

/* ---- errors -------------------------------------------------------------------- */

/* What is wrong is met once, by the one who reads the rest: same rows, same error. */
static void damage(void)
{
	struct seen one, many;
	int err, its;

	one = see_all(damaged, 1, 0, &err);
	CHECK_EQ(err, 0);
	CHECK(one.rows > EVENTS / 2 && one.rows < EVENTS);
	for (uint32_t threads = 2; threads <= 4; threads++) {
		many = see_all(damaged, threads, 0, &err);
		CHECK_EQ(err, 0);
		CHECK(many.rows == one.rows && many.hash == one.hash);
	}
	one = see_all(damaged, 1, TACHO_COLUMNS_STRICT, &err);
	CHECK(err > 0);
	many = see_all(damaged, WORKERS, TACHO_COLUMNS_STRICT, &its);
	CHECK_EQ(its, err);
	CHECK(many.rows == one.rows && many.hash == one.hash);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tmpdir_make();
	(void)snprintf(trace, sizeof(trace), "%s/trace", tmpdir);
	(void)snprintf(damaged, sizeof(damaged), "%s/damaged", tmpdir);
	make_trace(trace);
	make_damaged();
	first_thread();
	TEST(same_rows());
	TEST(threads_while_reading());
	TEST(no_threads());
	TEST(release_at_any_time());
	TEST(ask_between());
#ifndef __SANITIZE_ADDRESS__	/* whose allocator may be locked by a thread when it forks */
	TEST(fork_while_reading());
#endif
	TEST(threads_in_child());
	TEST(damage());
	return test_done();
}
