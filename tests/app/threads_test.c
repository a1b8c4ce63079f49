// SPDX-License-Identifier: MIT
/*
 * threads_test [TEST]... - several threads read one trace for a program: how many there are, what
 * signals they take, when they are gone; cancelling; tables that are read late.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "app/convert.h"
#include "app/query.h"
#include "stream/parallel.h"
#include "../stream/synth.h"
#include "../stream/tmpdir.h"
#include "../unit/test.h"
#include "../unit/threads.h"

#define EVENTS	60000u
#define WORKERS	3u

static const char called[] = SYNTH_COMMON
	"\tfield:u64 ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 text;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%pS %s\", (void *)REC->ip, (char *)REC->text\n";
static const char kallsyms[] =
	"ffffffff81000000 T first\nffffffff81001000 T second\nffffffff81002000 T third\n";
static const char strings[] = "0xffffffff82000000 : \"a string\"\n";

static char trace[256], out[256];

static void flush(struct synth *lane, struct tacho_ctf_writer *w)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(synth_flush(lane, w, &d), 0);
}

/* Two lanes of kernel events that point to symbols and strings. */
static void make_trace(void)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct tacho_diag d = { 0 };
	struct synth lane[2];

	CHECK_EQ(tacho_ctf_writer_new(&w, trace, &info, &d), 0);
	CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_KERNEL, 7, "k", "called", called,
				       sizeof(called) - 1, &d), 0);
	CHECK_EQ(tacho_ctf_writer_text(w, "kallsyms", kallsyms, sizeof(kallsyms) - 1, &d), 0);
	CHECK_EQ(tacho_ctf_writer_text(w, "printk_formats", strings, sizeof(strings) - 1, &d), 0);
	for (uint32_t i = 0; i < 2; i++)
		synth_init(&lane[i], TACHO_STREAM_KERNEL, i);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct synth *s = &lane[i / 3 % 2];
		uint64_t v[2] = { 0xffffffff81000000 + i % 12288, 0xffffffff82000000 };

		s->time = SYNTH_TICKS + i * 500;
		synth_put(s, 7, 1 + (int32_t)(i % 5), v, sizeof(v));
		if (s->records.len > 6000)
			flush(s, w);
	}
	for (uint32_t i = 0; i < 2; i++) {
		flush(&lane[i], w);
		tacho_buf_release(&lane[i].records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, &d), 0);
}

/* ---- what runs ------------------------------------------------------------------------- */

struct watch {
	struct threads before, most;
	uint64_t calls, cancel_at, done;
};

static void progress(void *arg, uint64_t done, uint64_t total)
{
	struct watch *w = arg;
	struct threads now = since(w->before);

	(void)total;
	CHECK(done >= w->done);
	w->done = done;
	w->calls++;
	/* those that have nothing to do any more may be gone */
	if (now.nr > w->most.nr)
		w->most = now;
	CHECK_EQ(now.nr, now.deaf);
}

static bool cancelled(void *arg)
{
	const struct watch *w = arg;

	return w->cancel_at && w->calls >= w->cancel_at;
}

static int convert(struct watch *w, uint32_t threads, const struct tacho_sink_format *format,
		   struct tacho_sink_written *written)
{
	const struct tacho_observer o = { .progress = progress, .cancelled = cancelled, .arg = w };
	struct tacho_diag d = { 0 };
	struct tacho_stream *s;
	int err;

	w->before = look();
	if (tacho_stream_open(&s, trace, 0, NULL))
		abort();
	tacho_stream_set_threads(s, threads);
	{
		struct app_convert c = {
			.stream = s, .out = out, .format = format, .observer = &o,
		};

		err = app_convert(&c, &d);
		*written = c.written;
	}
	CHECK(gone(w->before));
	tacho_stream_close(s);
	return err;
}

static void slurp(struct tacho_buf *b)
{
	int fd = open(out, O_RDONLY | O_CLOEXEC);
	char piece[4096];
	ssize_t n;

	tacho_buf_init(b, (size_t)64 << 20);
	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		tacho_buf_put(b, piece, (size_t)n);
	if (fd >= 0)
		close(fd);
	(void)unlink(out);
}

/* Text with symbols and strings, which the threads want at the same time. */
static void same_text(void)
{
	struct tacho_sink_written written;
	struct tacho_buf one, many;
	struct watch w = { .calls = 0 };

	CHECK_EQ(convert(&w, 1, &tacho_sink_text, &written), 0);
	CHECK_EQ(w.most.nr, 0);
	CHECK_EQ(written.events, EVENTS);
	slurp(&one);
	CHECK(memmem(one.data, one.len, "third+0x", 8) && memmem(one.data, one.len, " a string", 9));
	for (uint32_t i = 2; i <= 5; i++) {
		w = (struct watch){ .calls = 0 };
		CHECK_EQ(convert(&w, i, &tacho_sink_text, &written), 0);
		CHECK_EQ(written.events, EVENTS);
		CHECK(w.most.nr >= 1 && w.most.nr <= i);
		slurp(&many);
		CHECK(one.len && one.len == many.len && !memcmp(one.data, many.data, one.len));
		tacho_buf_release(&many);
	}
	tacho_buf_release(&one);
}

static void cancel_convert(void)
{
	const struct tacho_sink_format *formats[] = { &tacho_sink_text, &tacho_sink_json };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(formats); i++) {
		struct watch w = { .cancel_at = 4 };
		struct tacho_sink_written written;

		CHECK_EQ(convert(&w, WORKERS, formats[i], &written), -ECANCELED);
		CHECK(w.most.nr >= 1);
		CHECK(w.done < EVENTS);
		CHECK(access(out, F_OK));
	}
}

/* ---- questions ----------------------------------------------------------------------- */

static int sum_hits(const struct tacho_hist *hist, const struct tacho_names *names, void *arg)
{
	uint64_t *hits = arg;

	(void)names;
	*hits += tacho_map_hits(tacho_hist_map(hist));
	return 0;
}

static int ask(struct watch *w, uint32_t threads, const char *text, uint64_t *hits)
{
	const struct tacho_observer o = { .progress = progress, .cancelled = cancelled, .arg = w };
	struct app_question *question = calloc(1, sizeof(*question));
	struct tacho_diag d = { 0 };
	struct tacho_stream *s;
	struct app_query *q;
	int err;

	w->before = look();
	question->command[0] = (struct app_question_command){ "k:called", text };
	question->nr_commands = 1;
	if (tacho_stream_open(&s, trace, 0, NULL))
		abort();
	tacho_stream_set_threads(s, threads);
	CHECK_EQ(app_query_open(&q, s, question, &o, &d), 0);
	err = app_query_run(q, NULL, &d);
	CHECK(gone(w->before));
	*hits = 0;
	CHECK_EQ(app_query_each(q, sum_hits, hits), 0);
	app_query_close(q);
	tacho_stream_close(s);
	free(question);
	return err;
}

static void questions(void)
{
	/* more keys than there is room for: which ones are dropped depends on the order */
	static const char keys[] = "keys=ip.sym";
	struct watch w = { .calls = 0 };
	uint64_t one, many;

	CHECK_EQ(ask(&w, 1, keys, &one), 0);
	CHECK_EQ(w.most.nr, 0);
	CHECK(one && one < EVENTS);
	w = (struct watch){ .calls = 0 };
	CHECK_EQ(ask(&w, WORKERS, keys, &many), 0);
	CHECK_EQ(one, many);
	w = (struct watch){ .cancel_at = 2 };
	CHECK_EQ(ask(&w, WORKERS, keys, &many), -ECANCELED);
	CHECK(many < one);
}

/* Variables need the order of time: threads read ahead, and what was counted is a beginning. */
static void variables(void)
{
	static const char vars[] = "keys=common_pid:at=ip:was=$at if ip & 1";
	struct watch w = { .calls = 0 };
	uint64_t one, many;

	CHECK_EQ(ask(&w, 1, vars, &one), 0);
	CHECK_EQ(w.most.nr, 0);
	CHECK_EQ(w.done, EVENTS / 1024 * 1024);
	CHECK_EQ(one, EVENTS / 2);
	w = (struct watch){ .calls = 0 };
	CHECK_EQ(ask(&w, WORKERS, vars, &many), 0);
	CHECK(w.most.nr >= 1 && w.most.nr <= WORKERS);
	CHECK_EQ(one, many);
	w = (struct watch){ .cancel_at = 4 };
	CHECK_EQ(ask(&w, WORKERS, vars, &many), -ECANCELED);
	CHECK(many && many < one);
}

/* Nothing that was asked for: none, whatever is called. */
static void none(void)
{
	struct threads before = look();
	struct tacho_type_count *list;
	struct tacho_stream *s;
	size_t nr;

	if (tacho_stream_open(&s, trace, TACHO_STREAM_UNORDERED, NULL))
		abort();
	CHECK_EQ(tacho_stream_threads(s), 1);
	CHECK(!tacho_parallel_possible(s));
	CHECK_EQ(tacho_stream_count(s, &list, &nr), 0);
	CHECK_EQ(nr, 1);
	CHECK_EQ(list[0].events, EVENTS);
	CHECK(gone(before));
	free(list);
	tacho_stream_close(s);
	if (tacho_stream_open(&s, trace, TACHO_STREAM_STRICT, NULL))
		abort();
	tacho_stream_set_threads(s, WORKERS);
	CHECK(!tacho_parallel_possible(s));
	tacho_stream_close(s);
}

/* Each part of a count is a piece: with pieces of one packet, too. */
static void counts(void)
{
	for (uint32_t threads = 2; threads <= 8; threads++) {
		struct tacho_stream_info info;
		struct tacho_type_count *list;
		struct tacho_stream *s;
		size_t nr;

		if (tacho_stream_open(&s, trace, TACHO_STREAM_UNORDERED, NULL))
			abort();
		tacho_stream_set_threads(s, threads);
		CHECK_EQ(tacho_stream_count(s, &list, &nr), 0);
		CHECK_EQ(nr, 1);
		CHECK_EQ(list[0].events, EVENTS);
		CHECK_EQ(list[0].bytes, EVENTS * 32);
		CHECK_EQ(tacho_stream_get_info(s, &info), 0);
		CHECK_EQ(info.damaged, 0);
		free(list);
		tacho_stream_close(s);
	}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tmpdir_make();
	(void)snprintf(trace, sizeof(trace), "%s/trace", tmpdir);
	(void)snprintf(out, sizeof(out), "%s/out", tmpdir);
	make_trace();
	TEST(none());
	TEST(counts());
	TEST(same_text());
	TEST(cancel_convert());
	TEST(questions());
	TEST(variables());
	return test_done();
}
