// SPDX-License-Identifier: MIT
/* app_convert(): progress, cancelling, two at once, errors of a sink. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "app/convert.h"
#include "app/find.h"
#include "../unit/test.h"

static const char many[] = "many";	/* 20,000 records */

struct seen {
	uint64_t done, total, calls, cancel_at;
	bool backwards;
};

static void progress(void *arg, uint64_t done, uint64_t total)
{
	struct seen *s = arg;

	s->backwards |= done < s->done;
	s->done = done;
	s->total = total;
	s->calls++;
}

static bool cancelled(void *arg)
{
	const struct seen *s = arg;

	return s->cancel_at && s->done >= s->cancel_at;
}

static void test_progress(void)
{
	struct seen seen = { 0 };
	const struct tacho_observer o = { .progress = progress, .cancelled = cancelled,
					  .arg = &seen };
	struct tacho_sink_written written;
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_convert_trace(many, 0, "progress.dat", &tacho_sink_dat, &o, &written, &d), 0);
	CHECK_EQ(written.events, 20000);
	CHECK_EQ(seen.done, 20000);
	CHECK_EQ(seen.total, 20000);
	CHECK_EQ(seen.calls, 5);
	CHECK(!seen.backwards);
}

/* Whatever the format: an output that would look whole is gone. */
static void test_cancel(void)
{
	static const struct {
		const char *name;
		const struct tacho_sink_format *format;
	} outs[] = {
		{ "c.dat", &tacho_sink_dat }, { "c.kev", &tacho_sink_kev },
		{ "c.lkst", &tacho_sink_lkst }, { "c.txt", &tacho_sink_text },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(outs); i++) {
		struct seen seen = { .cancel_at = 8192 };
		const struct tacho_observer o = { .progress = progress,
						  .cancelled = cancelled, .arg = &seen };
		struct tacho_diag d = { 0 };

		CHECK_EQ(app_convert_trace(many, 0, outs[i].name, outs[i].format, &o, NULL, &d),
			 -ECANCELED);
		CHECK_EQ(d.err, -ECANCELED);
		CHECK_EQ(seen.done, 8192);
		CHECK(access(outs[i].name, F_OK));
	}
}

/* Nothing is shared: records of two conversions, one by one. */
static void test_two_at_once(void)
{
	struct tacho_sink_config config = { .path = "two.a.json" };
	struct tacho_sink *sink[2];
	struct app_trace trace[2];
	struct tacho_diag d = { 0 };
	struct tacho_record r;
	uint64_t nr = 0;

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(app_trace_open(&trace[i], many, 0, &d), 0);
		config.stream = trace[i].stream;
		CHECK_EQ(tacho_sink_begin(&sink[i], &tacho_sink_json, &config, &d), 0);
		config.path = "two.b.json";
	}
	for (int i = 0; tacho_stream_next(trace[i].stream, &r) == TACHO_STREAM_RECORD; i = !i)
		nr += !tacho_sink_record(sink[i], &r);
	CHECK_EQ(nr, 40000);
	for (int i = 0; i < 2; i++) {
		struct tacho_sink_written written;

		CHECK_EQ(tacho_sink_end(sink[i], true, &written, &d), 0);
		CHECK_EQ(written.events, 20000);
		app_trace_close(&trace[i]);
	}
}

/* ---- a sink that fails -------------------------------------------------------------- */

static int fail_at;	/* record */
static int ended;	/* 1: good, 2: not */

static int begin(struct tacho_sink *sink)
{
	return fail_at ? 0 : tacho_diag(&sink->diag, -EACCES, 0, "no %s", sink->config.path);
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	(void)sink;
	(void)r;
	return 0;
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	(void)r;
	return sink->events + 1 == (uint64_t)fail_at ? -ENOSPC : 0;
}

static int end(struct tacho_sink *sink, bool good)
{
	ended = good ? 1 : 2;
	return tacho_diag(&sink->diag, -EIO, 0, "the end fails");
}

static const struct tacho_sink_format failing = {
	.name = "failing", .extensions = "", .size = sizeof(struct tacho_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};

static void test_errors(void)
{
	struct tacho_sink_written written;
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_convert_trace(many, 0, "f", &failing, NULL, NULL, &d), -EACCES);
	CHECK_STR(d.text, "no f");
	CHECK_EQ(ended, 0);

	fail_at = 7;
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_convert_trace(many, 0, "f", &failing, NULL, &written, &d), -ENOSPC);
	CHECK_STR(d.text, "cannot write 'f': No space left on device");
	CHECK_EQ(written.events, 6);
	CHECK_EQ(ended, 2);

	fail_at = -1;
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_convert_trace(many, 0, "f", &failing, NULL, NULL, &d), -EIO);
	CHECK_STR(d.text, "the end fails");
	CHECK_EQ(ended, 1);
}

/* Each format is in the table once, under its name and its extensions. */
static void test_table(void)
{
	const struct tacho_sink_format *f;

	for (size_t i = 0; (f = tacho_sink_format_at(i)); i++) {
		char name[64];

		CHECK(tacho_sink_format_named(f->name, NULL) == f);
		if (sscanf(f->extensions, " %40s", name) != 1)
			continue;
		memmove(name + 1, name, strlen(name) + 1);
		name[0] = 'x';
		CHECK(tacho_sink_format_of(name) == f);
	}
	CHECK(tacho_sink_format_of("dir.d/x") == &tacho_sink_ctf);
	CHECK(tacho_sink_format_of("dir.dat/.dat") == &tacho_sink_ctf);
	CHECK(!tacho_sink_format_named("xml", NULL));
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tacho-app-XXXXXX";

	test_args(argc, argv);
	if (!mkdtemp(dir) || chdir(dir) || system("\"$MAKE_TRACE\" many many")) {
		fprintf(stderr, "cannot make a trace with $MAKE_TRACE\n");
		return 1;
	}
	TEST(test_progress());
	TEST(test_cancel());
	TEST(test_two_at_once());
	TEST(test_errors());
	TEST(test_table());
	CHECK(!system("rm -rf many progress.dat two.a.json two.b.json"));
	CHECK(!chdir("/"));
	CHECK(!rmdir(dir));
	return test_done();
}
