// SPDX-License-Identifier: MIT
/* stream_test - merging, seeking, counting, rotated traces, facts, memory. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../unit/test.h"
#include "stream/stream.h"
#include "synth.h"
#include "tmpdir.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

static const char seq_format[] = SYNTH_COMMON
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"seq=%llu\", REC->seq\n";

static struct tacho_ctf_writer *new_writer(const char *dir)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct tacho_diag d = { 0 };

	if (!CHECK_EQ(tacho_ctf_writer_new(&w, dir, &info, &d), 0)) {
		printf("# %s\n", d.text);
		exit(test_done());
	}
	CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_PROGRAM, 5, "t", "seq",
				       seq_format, sizeof(seq_format) - 1, &d), 0);
	CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_KERNEL, 5, "k", "seq",
				       seq_format, sizeof(seq_format) - 1, &d), 0);
	return w;
}

static void put(struct synth *s, uint64_t time, uint64_t seq)
{
	s->time = time;
	synth_put(s, 5, (int32_t)(seq % 100), &seq, 8);
}

static uint64_t seq_of(const struct tacho_record *r)
{
	uint64_t v = UINT64_MAX;

	CHECK(tacho_record_int(r, tacho_type_find(r->type, "seq"), &v));
	return v;
}

static struct tacho_stream *open_trace(const char *dir, unsigned int flags)
{
	struct tacho_stream *s;
	struct tacho_error e;

	if (!CHECK_EQ(tacho_stream_open(&s, dir, flags, &e), 0)) {
		printf("# %s\n", e.text);
		exit(test_done());
	}
	return s;
}

/*
 * Four parts; record number n is at n / 3: times are equal in threes, and
 * parts come in the order of their names then.
 */
/* A trace of four parts, 3000 records. */
static const char *merge_trace(void)
{
	const char *dir = tmpdir_path("merge");
	struct tacho_ctf_writer *w = new_writer(dir);
	struct synth part[4];
	uint64_t seed = 3;

	for (uint32_t i = 0; i < 4; i++)
		synth_init(&part[i], i / 2, i % 2 ? 10 : 2);
	for (uint64_t n = 0; n < 3000; n++) {
		struct synth *p = &part[test_random(&seed) % 4];

		put(p, SYNTH_TICKS + n / 3, n);
		if (test_random(&seed) % 50 == 0)
			CHECK_EQ(synth_flush(p, w, NULL), 0);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(synth_flush(&part[i], w, NULL), 0);
		tacho_buf_release(&part[i].records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	return dir;
}

static void test_merge(const char *dir)
{
	struct tacho_stream *s = open_trace(dir, TACHO_STREAM_STRICT);
	uint64_t last_ticks = 0, last_ns = 0, seen = 0;
	struct tacho_record r;
	uint32_t last_part = 0;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		/* kernel_2 kernel_10 program_2 program_10 */
		uint32_t rank = (r.source == TACHO_STREAM_KERNEL ? 0 : 2) +
				(r.cpu == 10);

		CHECK_EQ(r.ticks, SYNTH_TICKS + seq_of(&r) / 3);
		CHECK(r.ticks > last_ticks ||
		      (r.ticks == last_ticks && rank >= last_part));
		CHECK(r.time >= last_ns);
		CHECK_STR(tacho_type_system(r.type), r.source ? "k" : "t");
		last_ticks = r.ticks;
		last_ns = r.time;
		last_part = rank;
		seen++;
	}
	CHECK_EQ(seen, 3000);
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_END);
	tacho_stream_close(s);

	/* unordered: everything, and each part in its own order */
	s = open_trace(dir, TACHO_STREAM_UNORDERED);
	uint64_t last[2][2] = { { 0 } };
	for (seen = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; seen++) {
		CHECK(r.ticks >= last[r.source][r.cpu == 10]);
		last[r.source][r.cpu == 10] = r.ticks;
	}
	CHECK_EQ(seen, 3000);
	tacho_stream_close(s);
}

static void test_count(const char *dir)
{
	struct tacho_stream *s = open_trace(dir, 0);
	struct tacho_type_count *list;
	struct tacho_record r;
	size_t nr;

	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	CHECK_EQ(tacho_stream_count(s, &list, &nr), 0);
	CHECK_EQ(nr, 2);
	/* what next() gave is not counted again */
	CHECK_EQ(list[0].events + list[1].events, 2999);
	CHECK_EQ(list[0].bytes, list[0].events * 24);
	CHECK_STR(tacho_type_system(list[0].type), "t");
	CHECK_STR(tacho_type_system(list[1].type), "k");
	free(list);
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_END);
	tacho_stream_close(s);
}

/* Seeks to many times and compares with a linear search. */
static void test_seek(void)
{
	const char *dir = tmpdir_path("seek");
	struct tacho_ctf_writer *w = new_writer(dir);
	struct tacho_stream *s;
	struct tacho_stream_info info;
	struct tacho_record r;
	struct synth part[2];
	uint64_t n = 20000, *times = calloc(n, sizeof(*times)), seed = 9, i;

	synth_init(&part[0], 0, 0);
	synth_init(&part[1], 1, 0);
	for (i = 0; i < n; i++) {
		put(&part[i / 7 % 2], SYNTH_TICKS + i * 1000, i);
		if (i % 13 == 0)
			CHECK_EQ(synth_flush(&part[i / 7 % 2], w, NULL), 0);
	}
	for (i = 0; i < 2; i++) {
		CHECK_EQ(synth_flush(&part[i], w, NULL), 0);
		tacho_buf_release(&part[i].records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	s = open_trace(dir, 0);
	for (i = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD && i < n; i++)
		times[i] = r.time;
	CHECK_EQ(i, n);
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_EQ(info.begin, times[0]);
	CHECK_EQ(info.end, times[n - 1]);
	CHECK_EQ(info.events, n);
	CHECK_EQ(info.parts, 2);
	for (int k = 0; k < 500; k++) {
		uint64_t at = test_random(&seed) % n;
		int64_t off = (int64_t)(test_random(&seed) % 3) - 1;
		uint64_t want = off > 0 ? at + 1 : at;

		CHECK_EQ(tacho_stream_seek(s, times[at] + (uint64_t)off), 0);
		if (want == n) {
			CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_END);
			continue;
		}
		if (!CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD) ||
		    !CHECK_EQ(r.time, times[want]))
			break;
		CHECK_EQ(seq_of(&r), want);
		CHECK_EQ(tacho_stream_next(s, &r), want + 1 < n ?
			 TACHO_STREAM_RECORD : TACHO_STREAM_END);
	}
	CHECK_EQ(tacho_stream_seek(s, 0), 0);
	for (i = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; i++)
		;
	CHECK_EQ(i, n);
	tacho_stream_close(s);
	free(times);
}

/* A trace of eight records that says what was discarded. */
static const char *lossy_trace(void)
{
	const char *dir = tmpdir_path("lost");
	struct tacho_ctf_writer *w = new_writer(dir);
	struct synth p;

	synth_init(&p, 0, 0);
	/* discarded so far, one packet of two records each; the last began anew */
	static const uint64_t discarded[] = { 3, 10, 10, 2 };
	for (uint64_t i = 0; i < 4; i++) {
		p.packet.events_discarded = discarded[i];
		put(&p, SYNTH_TICKS + 2 * i, 2 * i);
		put(&p, SYNTH_TICKS + 2 * i + 1, 2 * i + 1);
		CHECK_EQ(synth_flush(&p, w, NULL), 0);
	}
	tacho_buf_release(&p.records);
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	return dir;
}

static void test_lost(const char *dir)
{
	static const uint64_t want[] = { 3, 0, 7, 0, 0, 0, 2, 0 };
	struct tacho_stream *s = open_trace(dir, 0);
	struct tacho_record r;

	for (size_t i = 0; i < 8; i++) {
		CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
		CHECK_EQ(r.lost, want[i]);
	}
	tacho_stream_close(s);
}

static void test_rotated(void)
{
	const char *dir = tmpdir_path("rotated");
	char chunk[500];
	struct tacho_ctf_writer *w;
	struct tacho_stream *s;
	struct tacho_record r;
	struct synth p;
	uint64_t n = 0;
	int32_t tgid;

	CHECK_EQ(mkdir(dir, 0700), 0);
	(void)snprintf(chunk, sizeof(chunk), "%s/0001", dir);
	w = new_writer(chunk);
	CHECK_EQ(tacho_ctf_writer_env(w, "command", "a \"b\"\\c", NULL), 0);
	CHECK_EQ(tacho_ctf_writer_env(w, "not ok", "x", NULL), -EINVAL);
	CHECK_EQ(tacho_ctf_writer_text(w, "cmdlines",
			"12 10 worker one\n7 7 init\nrubbish\n12 10 newer\n", 47,
			NULL), 0);
	CHECK_EQ(tacho_ctf_writer_text(w, "kallsyms",
			"ffffffff81000000 T _text\nffffffff81000100 t foo\t[mod]\n",
			54, NULL), 0);
	synth_init(&p, 0, 0);
	for (int i = 1; i <= 5; i++) {
		if (i > 1) {
			(void)snprintf(chunk, sizeof(chunk), "%s/%04d", dir, i);
			CHECK_EQ(tacho_ctf_writer_rotate(w, chunk, NULL), 0);
		}
		for (int j = 0; j < 10; j++, n++)
			put(&p, SYNTH_TICKS + n, n);
		CHECK_EQ(synth_flush(&p, w, NULL), 0);
	}
	tacho_buf_release(&p.records);
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);

	s = open_trace(dir, TACHO_STREAM_STRICT);
	for (n = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; n++) {
		CHECK_EQ(seq_of(&r), n);
		CHECK_STR(tacho_stream_comm(s, 12, &tgid), "newer");
		CHECK_EQ(tgid, 10);
	}
	CHECK_EQ(n, 50);
	CHECK(!tacho_stream_comm(s, 13, &tgid));
	CHECK_STR(tacho_stream_env(s, "command"), "a \"b\"\\c");
	CHECK_STR(tacho_stream_env(s, "state"), "closed");
	CHECK(!tacho_stream_env(s, "nothing"));
	tacho_stream_close(s);
	if (!system("babeltrace2 --version >/dev/null 2>&1")) {
		char cmd[600];

		(void)snprintf(cmd, sizeof(cmd),
			       "test `babeltrace2 %s 2>/dev/null | wc -l` = 50", dir);
		CHECK_EQ(system(cmd), 0);
	}
}

/* A thread that is renamed after its name was asked for. */
static void test_names(void)
{
	struct tacho_facts f;
	const char *name;

	tacho_facts_init(&f);
	for (int32_t pid = 1; pid <= 2; pid++) {
		CHECK_EQ(tacho_facts_add_task(&f, pid, pid, "first", 5), 0);
		CHECK_EQ(tacho_facts_add_task(&f, pid, pid, "second", 6), 0);
	}
	name = tacho_facts_comm(&f, 2, NULL);
	CHECK_STR(name ? name : "", "second");
	CHECK_EQ(tacho_facts_add_task(&f, 2, 2, "third", 5), 0);
	name = tacho_facts_comm(&f, 2, NULL);
	CHECK_STR(name ? name : "", "third");
	tacho_facts_release(&f);
}

static void test_text(const char *dir)
{
	struct tacho_stream *s = open_trace(dir, 0);
	struct tacho_record r;
	char text[8];

	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	CHECK_EQ(tacho_record_text(s, &r, text, sizeof(text)), 5);
	CHECK_STR(text, "seq=1");
	CHECK_EQ(tacho_record_text(s, &r, text, 3), 5);
	CHECK_STR(text, "se");
	CHECK_EQ(tacho_record_text(s, &r, NULL, 0), 5);
	tacho_stream_close(s);
}

/* ---- a live source: two parts, each with a clock of polls ------------------ */

struct fake {
	struct tacho_source source;
	struct tacho_part part[2];
	unsigned char bytes[2][24];
	uint64_t ready[2];	/* poll at which the part's record is there; 0: never */
	uint64_t polls;
};

static int fake_fill(struct tacho_source *source, struct tacho_part *part,
		     bool bad)
{
	struct fake *f = (struct fake *)source;
	int i = part == &f->part[1];

	(void)bad;
	f->polls++;
	if (f->ready[i] && f->polls >= f->ready[i]) {
		uint64_t word = tacho_record_word(f->ready[i], 24);

		memcpy(f->bytes[i], &word, 8);
		part->pos = f->bytes[i];
		part->end = part->pos + 24;
		part->last = f->ready[i];
		part->limit = UINT64_MAX;
		f->ready[i] = 0;
		return TACHO_STREAM_RECORD;
	}
	part->pos = part->end = NULL;
	part->horizon = f->polls;
	return TACHO_STREAM_AGAIN;
}

static void fake_close(struct tacho_source *source)
{
	tacho_source_release(source);
}

static const struct tacho_source_ops fake_ops = {
	.format = "fake", .live = true, .close = fake_close, .fill = fake_fill,
};

/*
 * Idle parts whose horizon moves with every look are not asked for ever, and a
 * record waits until no part can have an earlier one.
 */
static void test_live(void)
{
	static const struct tacho_type type = { .system = "s", .name = "n" };
	struct fake f = { .ready = { 0, 0 } };
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_record r;
	uint64_t last = 0, n = 0;

	tacho_source_init(&f.source, &fake_ops, 0);
	CHECK_EQ(tacho_source_set_type(&f.source, 0, 0, &type), 0);
	CHECK_EQ(tacho_source_add_part(&f.source, &f.part[0]), 0);
	CHECK_EQ(tacho_source_add_part(&f.source, &f.part[1]), 0);
	CHECK_EQ(tacho_stream_add_take(s, &f.source), 0);
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_AGAIN);
	CHECK_EQ(tacho_stream_seek(s, 0), -ESPIPE);
	CHECK_EQ(tacho_stream_seeking(s), TACHO_SEEKS_NEVER);
	for (int round = 0; round < 50; round++) {
		f.ready[round % 2] = f.polls + 3 + (uint64_t)round % 7;
		for (int tries = 0; tries < 20; tries++) {
			int status = tacho_stream_next(s, &r);

			if (status == TACHO_STREAM_AGAIN)
				continue;
			if (!CHECK_EQ(status, TACHO_STREAM_RECORD))
				break;
			CHECK(r.ticks > last && r.ticks <= f.polls);
			last = r.ticks;
			n++;
		}
	}
	CHECK_EQ(n, 50);
	tacho_stream_close(s);
}

static void test_errors(void)
{
	struct tacho_stream *s;
	struct tacho_error e;
	char path[450];

	CHECK_EQ(tacho_stream_open(&s, tmpdir_path("absent"), 0, &e), -ENOENT);
	CHECK(strstr(e.text, "No such file"));
	(void)snprintf(path, sizeof(path), "%s", tmpdir_path("nothing"));
	CHECK_EQ(mkdir(path, 0700), 0);
	CHECK_EQ(tacho_stream_open(&s, path, 0, &e), -EINVAL);
	CHECK(strstr(e.text, "is not a trace"));
	CHECK(!s);
	tacho_stream_close(NULL);
}

/*
 * 300 files of packets that are each larger than a window, all at the same time:
 * what a merge needs, and it stays within 64 MiB.
 */
static void test_many_files(void)
{
	const char *dir = tmpdir_path("many");
	struct tacho_ctf_writer *w = new_writer(dir);
	struct tacho_stream *s;
	struct tacho_record r;
	struct rusage before, after;
	uint64_t n = 0, last = 0;
	struct synth p;

	for (uint32_t i = 0; i < 300; i++) {
		synth_init(&p, TACHO_STREAM_PROGRAM, i);
		for (uint64_t j = 0; j < 12000; j++)
			put(&p, SYNTH_TICKS + j * 300 + i, j);
		CHECK_EQ(synth_flush(&p, w, NULL), 0);
		tacho_buf_release(&p.records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	getrusage(RUSAGE_SELF, &before);
	s = open_trace(dir, TACHO_STREAM_STRICT);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		n++;
		if (r.ticks < last)
			break;
		last = r.ticks;
	}
	CHECK_EQ(n, 300 * 12000);
	getrusage(RUSAGE_SELF, &after);
	/* the sanitizers' own memory is not the reader's */
#if !defined(SANITIZED)
	CHECK(after.ru_maxrss < 64 << 10);
	CHECK(after.ru_maxrss - before.ru_maxrss < 40 << 10);
#endif
	tacho_stream_close(s);
}

int main(int argc, char **argv)
{
	const char *merge, *lossy;

	test_args(argc, argv);
	tmpdir_make();
	merge = merge_trace();
	lossy = lossy_trace();
	TEST(test_merge(merge));
	TEST(test_count(merge));
	TEST(test_seek());
	TEST(test_lost(lossy));
	TEST(test_rotated());
	TEST(test_names());
	TEST(test_text(lossy));
	TEST(test_live());
	TEST(test_errors());
	TEST(test_many_files());
	return test_done();
}
