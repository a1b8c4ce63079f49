// SPDX-License-Identifier: MIT
/*
 * trace_pipe_raw and snapshot_raw without FUSE and without the kernel's events: what comes
 * out of the pages is what was written, each record once, whoever reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "compat/ftrace/tree.h"
#include "kdata/pages.h"
#include "ring/write.h"
#include "session/session.h"
#include "stream/tmpdir.h"
#include "sys/clock.h"
#include "unit/test.h"

#define NAME		"rawtest"
#define PAGE_MAX	65536u
#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define STEP(name) \
	"test:" name "\nformat:\n" COMMON \
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"n=%llu\", REC->n\n"

static struct tacho_tree *tree;
static int cpu;

/* ---- files of the tree ---- */

/* Markers are recorded where their writer is: here. */
static struct tacho_tree_caller now = { .nonblock = true };

static struct tacho_tree_file *open_path(const char *path, int flags)
{
	struct tacho_tree_file *f = NULL;

	CHECK_EQ(tacho_tree_open_file(tree, path, flags, &now, &f), 0);
	if (!f) {
		printf("Bail out! cannot open %s\n", path);
		exit(1);
	}
	return f;
}

static struct tacho_tree_file *open_cpu(const char *instance, const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/%s", instance, cpu, name);
	return open_path(path, O_RDONLY);
}

static void put(const char *path, const char *text)
{
	struct tacho_tree_file *f = open_path(path, O_WRONLY);

	CHECK_EQ(tacho_tree_write(f, text, strlen(text), &now), strlen(text));
	tacho_tree_close_file(f);
}

/* A file's text, up to the next call. */
static const char *get(const char *path)
{
	static char text[8192];
	struct tacho_tree_file *f = open_path(path, O_RDONLY);
	ssize_t n = tacho_tree_read(f, text, sizeof(text) - 1, 0, &now);

	CHECK(n >= 0);
	text[n > 0 ? n : 0] = '\0';
	tacho_tree_close_file(f);
	return text;
}

/* ---- writing ---- */

struct writer {
	struct tacho_dir dir;
	struct tacho_session s;
	uint64_t n;		/* of the next record */
};

static void writer_open(struct writer *w, const char *name)
{
	struct tacho_diag d = { 0 };

	w->n = 0;
	CHECK_EQ(tacho_dir_open(&w->dir, false, &d), 0);
	CHECK_EQ(tacho_session_open(&w->s, &w->dir, name, &d), 0);
}

static void writer_close(struct writer *w)
{
	tacho_session_close(&w->s);
	tacho_dir_close(&w->dir);
}

/* A record of `len` bytes at least; its number is w->n. */
static int write_event(struct writer *w, const char *text, size_t len)
{
	uint64_t raw[2048] = { 0 };
	int id = tacho_types_add(&w->s.view, text, (uint32_t)strlen(text));

	CHECK(id > 0);
	raw[0] = tacho_common_word((uint16_t)id, 1);
	raw[1] = w->n++;
	return tacho_ring_write(&w->s.view.ring, raw, (uint32_t)(len + 7) / 8);
}

static void write_some(struct writer *w, uint32_t nr)
{
	while (nr--)
		CHECK_EQ(write_event(w, STEP("step"), 16), 0);
}

/* ---- reading ---- */

/* What came out of a file so far. */
struct seen {
	uint64_t records, pages, lost;
	uint64_t next;		/* the number that should come */
	uint64_t gaps;		/* times another came */
	uint64_t time, first_time;
	uint32_t id;		/* of the last record */
	uint32_t len;		/* and its bytes */
	size_t commit;
};

static void take_page(struct seen *s, const unsigned char *page, size_t size)
{
	const struct tacho_kpage_layout l = {
		.commit_off = 8, .commit_size = 8, .data_off = 16,
		.data_size = (uint32_t)size - 16,
	};
	struct tacho_kpage p;
	struct tacho_kevent e;
	int ret;

	if (!CHECK_EQ(tacho_kpage_open(&p, &l, page, size), 0))
		return;
	s->pages++;
	s->lost += (uint64_t)p.lost;
	s->next += (uint64_t)p.lost;
	s->commit = tacho_load_u64(page + 8) & 0xfffff;
	while ((ret = tacho_kpage_next(&p, &e)) == 1) {
		uint64_t n = tacho_load_u64(e.raw + 8);

		s->gaps += n != s->next;
		s->next = n + 1;
		CHECK(e.time >= s->time);
		s->time = e.time;
		if (!s->records)
			s->first_time = e.time;
		s->id = tacho_load_u16(e.raw);
		s->len = e.len;
		s->records++;
	}
	CHECK_EQ(ret, 0);
}

/* One page; false: nothing there. */
static bool read_page(struct tacho_tree_file *f, struct seen *s, size_t size)
{
	unsigned char page[PAGE_MAX];
	ssize_t n = tacho_tree_read(f, page, sizeof(page), 0, &now);

	if (n < 0) {
		CHECK_EQ(n, -EAGAIN);
		return false;
	}
	if (CHECK_EQ(n, size))
		take_page(s, page, size);
	return true;
}

static struct seen read_all(struct tacho_tree_file *f, size_t size)
{
	struct seen s = { 0 };

	while (read_page(f, &s, size))
		;
	return s;
}

static void drain(void)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");

	(void)read_all(f, 4096);
	tacho_tree_close_file(f);
}

/* ---- tests ---- */

static void test_all(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct tacho_tree_file *pipe = open_cpu("", "trace_pipe");
	struct seen s = { .next = w->n };
	char text[100];

	CHECK(tacho_tree_is_stream(f));
	CHECK(!read_page(f, &s, 4096));
	write_some(w, 1);
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.records, 1);
	CHECK(!read_page(f, &s, 4096));
	CHECK_EQ(s.id, atoi(get("/events/test/step/id")));
	CHECK(s.id >= 32768);

	write_some(w, 3000);
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 3001);
	CHECK_EQ(s.gaps, 0);
	CHECK_EQ(s.lost, 0);
	/* 20 bytes each, but for some with a time extend: full pages but the last */
	CHECK(s.pages >= 2 + 3000 * 20 / 4080 && s.pages <= 2 + 3000 * 28 / 4052);
	CHECK_EQ(tacho_tree_read(pipe, text, sizeof(text), 0, &now), -EAGAIN);
	tacho_tree_close_file(pipe);
	tacho_tree_close_file(f);
}

/* Reads that are smaller than a page: less in the page, and all of it. */
static void test_small(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct seen s = { .next = w->n };
	unsigned char page[4096];

	write_some(w, 100);
	CHECK_EQ(tacho_tree_read(f, page, 16, 0, &now), 0);
	CHECK_EQ(tacho_tree_read(f, page, 30, 0, &now), 0);
	while (s.records < 100) {
		size_t at = 0;

		while (at < sizeof(page)) {
			size_t n = sizeof(page) - at < 1000 ? sizeof(page) - at : 1000;

			if (!CHECK_EQ(tacho_tree_read(f, page + at, n, 0, &now), n))
				return;
			at += n;
		}
		take_page(&s, page, sizeof(page));
		CHECK(s.commit <= 1000 - 16);
		CHECK(s.commit > 1000 - 16 - 40 || s.records == 100);
	}
	CHECK_EQ(s.records, 100);
	CHECK_EQ(s.gaps, 0);
	CHECK_EQ(tacho_tree_read(f, page, 100, 0, &now), -EAGAIN);
	tacho_tree_close_file(f);
}

/* Who leaves takes nothing along but the page that it began to read. */
static void test_close(struct writer *w)
{
	struct seen s = { .next = w->n };
	struct tacho_tree_file *f;

	write_some(w, 1000);
	for (int i = 0; i < 3; i++) {
		f = open_cpu("", "trace_pipe_raw");
		CHECK(read_page(f, &s, 4096));
		tacho_tree_close_file(f);
	}
	f = open_cpu("", "trace_pipe_raw");
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 1000);
	CHECK_EQ(s.gaps, 0);
	tacho_tree_close_file(f);
}

static void test_page_size(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct tacho_kpage_layout l;
	struct seen s = { .next = w->n };
	const char *text;

	write_some(w, 1000);
	CHECK(read_page(f, &s, 4096));
	put("/buffer_subbuf_size_kb", "16");
	text = get("/events/header_page");
	CHECK_EQ(tacho_kpage_layout_parse(&l, text, strlen(text), NULL), 0);
	CHECK_EQ(l.data_off, 16);
	CHECK_EQ(l.commit_off, 8);
	CHECK_EQ(l.commit_size, 8);
	CHECK_EQ(l.data_size, 16384 - 16);
	while (read_page(f, &s, 16384))
		;
	CHECK_EQ(s.records, 1000);
	CHECK_EQ(s.gaps, 0);
	put("/buffer_subbuf_size_kb", "4");
	tacho_tree_close_file(f);
}

/* Too large for a page: lost, and told before what follows; or larger pages. */
static void test_large(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct seen s = { .next = w->n };

	write_some(w, 1);
	CHECK_EQ(write_event(w, STEP("step"), 6000), 0);
	CHECK_EQ(write_event(w, STEP("step"), 6000), 0);
	write_some(w, 1);
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.records, 1);
	CHECK_EQ(s.lost, 0);
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.records, 2);
	CHECK_EQ(s.lost, 2);
	CHECK_EQ(s.gaps, 0);
	CHECK(!read_page(f, &s, 4096));

	put("/buffer_subbuf_size_kb", "8");
	CHECK_EQ(write_event(w, STEP("step"), 6000), 0);
	/* what still fits in, with the header of the page and the event's two words */
	CHECK_EQ(write_event(w, STEP("step"), 8192 - 16 - 8), 0);
	CHECK(read_page(f, &s, 8192));
	CHECK_EQ(s.len, 6000);
	CHECK(read_page(f, &s, 8192));
	CHECK_EQ(s.len, 8192 - 16 - 8);
	CHECK_EQ(s.lost, 2);
	CHECK_EQ(s.gaps, 0);
	put("/buffer_subbuf_size_kb", "4");
	tacho_tree_close_file(f);
}

/*
 * Overwritten while somebody reads: all is read or lost, and where it was lost is told.  The
 * first page leaves records in the reader's hands, so that the gap is not where a read ends.
 */
static void test_lost(struct writer *w)
{
	struct tacho_tree_file *f;
	struct seen s = { 0 };
	uint64_t begin;

	drain();
	f = open_cpu("", "trace_pipe_raw");
	s.next = begin = w->n;
	write_some(w, 300);
	CHECK(read_page(f, &s, 4096));
	CHECK(s.records < 300);
	write_some(w, 120000);		/* 24 bytes each in a ring of 1 MiB */
	while (read_page(f, &s, 4096))
		;
	CHECK(s.lost > 0);
	CHECK_EQ(s.records + s.lost, w->n - begin);
	CHECK_EQ(s.next, w->n);
	CHECK_EQ(s.gaps, 0);
	tacho_tree_close_file(f);
}

/* Two readers in turn: what one could not put into its page the other has had since. */
static void test_turns(struct writer *w)
{
	struct tacho_tree_file *f[2] = { open_cpu("", "trace_pipe_raw"),
					 open_cpu("", "trace_pipe_raw") };
	struct seen s = { .next = w->n };
	int turn = 0;

	write_some(w, 3000);
	while (read_page(f[turn % 2], &s, 4096))
		turn++;
	CHECK(turn > 2);
	CHECK_EQ(s.records, 3000);
	CHECK_EQ(s.gaps, 0);

	/* one in a page, and one held back, which is the last that there is */
	CHECK_EQ(write_event(w, STEP("step"), 3000), 0);
	CHECK_EQ(write_event(w, STEP("step"), 3000), 0);
	CHECK(read_page(f[0], &s, 4096));
	CHECK(read_page(f[1], &s, 4096));
	CHECK(!read_page(f[0], &s, 4096));
	CHECK_EQ(s.records, 3002);
	CHECK_EQ(s.gaps, 0);
	for (int i = 0; i < 2; i++)
		tacho_tree_close_file(f[i]);
}

static bool count_down(void *arg)
{
	int *left = arg;

	return --*left < 0;
}

static void test_wait(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	int left = 3;
	const struct tacho_tree_caller c = {
		.pid = now.pid, .interrupted = count_down, .arg = &left,
	};
	unsigned char page[4096];

	CHECK_EQ(tacho_tree_read(f, page, sizeof(page), 0, &c), -EINTR);
	CHECK(left < 0);
	/* what is there needs no waiting */
	write_some(w, 1);
	CHECK_EQ(tacho_tree_read(f, page, sizeof(page), 0, &c), 4096);
	tacho_tree_close_file(f);
}

static void test_poll(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	unsigned char page[4096];

	CHECK_EQ(tacho_tree_poll(f), 0);
	write_some(w, 1);
	CHECK_EQ(tacho_tree_poll(f), 0);	/* half full it should be */
	put("/buffer_percent", "0");
	CHECK(tacho_tree_poll(f) & POLLIN);
	CHECK_EQ(tacho_tree_read(f, page, 100, 0, &now), 100);
	CHECK(tacho_tree_poll(f) & POLLIN);	/* the page's rest */
	CHECK_EQ(tacho_tree_read(f, page, 4096, 0, &now), 3996);
	CHECK_EQ(tacho_tree_poll(f), 0);
	put("/buffer_percent", "50");
	write_some(w, 30000);
	CHECK(tacho_tree_poll(f) & POLLIN);
	tacho_tree_close_file(f);
	drain();
}

/* Whoever waits for a full buffer is woken when it is full, and not much before. */
static void test_poll_full(struct writer *w, const char *overwrite)
{
	static const uint32_t percents[] = { 30, 86, 100 };
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	char text[16];

	put("/options/overwrite", overwrite);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		uint32_t n = 0;

		(void)snprintf(text, sizeof(text), "%u", percents[i]);
		put("/buffer_percent", text);
		CHECK_EQ(tacho_tree_poll(f), 0);
		/* 1 MiB, records of 24 bytes in 16 sub-buffers */
		while (!(tacho_tree_poll(f) & POLLIN) && n < 60000) {
			for (int k = 0; k < 500; k++)
				(void)write_event(w, STEP("step"), 16);
			n += 500;
		}
		CHECK(n * 24ull >= (uint64_t)percents[i] * (1 << 20) / 100 - 3 * 65536);
		CHECK(n < 60000);
		drain();
	}
	put("/buffer_percent", "50");
	put("/options/overwrite", "1");
	tacho_tree_close_file(f);
}

static uint64_t clock_ns(clockid_t id)
{
	return tacho_now_ns(id);
}

/* Times are those of trace_clock. */
static void test_clock(struct writer *w)
{
	static const struct {
		const char *name;
		clockid_t id;
	} clocks[] = { { "mono", CLOCK_MONOTONIC }, { "boot", CLOCK_BOOTTIME },
		       { "tai", CLOCK_TAI } };
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	uint64_t slack = 100000000;	/* of ticks to ns, by a frequency that was measured */
	uint64_t before, after;
	struct seen s;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(clocks); i++) {
		put("/trace_clock", clocks[i].name);
		before = clock_ns(clocks[i].id);
		write_some(w, 1);
		after = clock_ns(clocks[i].id);
		s = read_all(f, 4096);
		CHECK_EQ(s.records, 1);
		CHECK(s.first_time + slack >= before && s.first_time <= after + slack);
	}
	put("/trace_clock", "x86-tsc");
	before = tacho_clock_read(w->s.view.ring.clock);
	write_some(w, 1);
	after = tacho_clock_read(w->s.view.ring.clock);
	s = read_all(f, 4096);
	CHECK_EQ(s.records, 1);
	CHECK(s.first_time >= before && s.first_time <= after);
	put("/trace_clock", "local");
	tacho_tree_close_file(f);
}

static void test_snapshot(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "snapshot_raw");
	struct tacho_tree_file *live = open_cpu("", "trace_pipe_raw");
	struct seen s = { 0 };
	char first[32], next[32];

	CHECK(!read_page(f, &s, 4096));
	CHECK(!read_page(live, &s, 4096));
	CHECK_EQ(tacho_tree_poll(f), 0);
	s.next = w->n;
	(void)snprintf(first, sizeof(first), "step: n=%llu\n", (unsigned long long)w->n);
	write_some(w, 500);
	put("/snapshot", "1");
	CHECK(tacho_tree_poll(f) & POLLIN);
	CHECK(strstr(get("/snapshot"), first));
	CHECK(read_page(f, &s, 4096));
	/* what was read is not in the text any more, the rest is */
	(void)snprintf(next, sizeof(next), "step: n=%llu\n", (unsigned long long)s.next);
	CHECK(!strstr(get("/snapshot"), first));
	CHECK(strstr(get("/snapshot"), next));
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 500);
	CHECK_EQ(s.gaps, 0);
	CHECK(!strstr(get("/snapshot"), "step: n="));

	/* a file that is open reads the next one, too */
	write_some(w, 5);
	put("/snapshot", "1");
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 505);
	CHECK_EQ(s.gaps, 0);

	/* emptied; the live records were not in it, and will be in the next */
	write_some(w, 5);
	put("/snapshot", "1");
	s.next = w->n;
	write_some(w, 5);
	put("/snapshot", "2");
	CHECK(!read_page(f, &s, 4096));
	put("/snapshot", "1");
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 510);
	CHECK_EQ(s.gaps, 0);
	/* none of it was for readers of what is live, but what came since the last one */
	CHECK(!read_page(live, &s, 4096));
	write_some(w, 1);
	CHECK(read_page(live, &s, 4096));
	CHECK_EQ(s.records, 511);
	CHECK_EQ(s.gaps, 0);
	tacho_tree_close_file(live);
	tacho_tree_close_file(f);
	put("/snapshot", "0");
}

/* Ids are the same in all instances, in whatever order types are met there. */
static void test_instance(struct writer *w)
{
	struct tacho_tree_file *f;
	struct writer v;
	struct seen s = { 0 };

	CHECK_EQ(write_event(w, STEP("first"), 16), 0);
	drain();
	CHECK_EQ(tacho_tree_mkdir(tree, "/instances/rawother"), 0);
	writer_open(&v, "rawother");
	f = open_cpu("/instances/rawother", "trace_pipe_raw");
	CHECK_EQ(write_event(&v, STEP("second"), 16), 0);
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.id, atoi(get("/instances/rawother/events/test/second/id")));
	CHECK_EQ(write_event(&v, STEP("first"), 16), 0);
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.id, atoi(get("/instances/rawother/events/test/first/id")));
	CHECK_EQ(s.id, atoi(get("/events/test/first/id")));
	CHECK_EQ(s.gaps, 0);
	tacho_tree_close_file(f);
	writer_close(&v);
	CHECK_EQ(tacho_tree_rmdir(tree, "/instances/rawother"), 0);
}

/* A marker: the tracer's own event, that is not listed. */
static void test_marker(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct seen s = { .next = w->n };
	struct tacho_tree_stat st;

	write_some(w, 1);
	CHECK(read_page(f, &s, 4096));
	s = (struct seen){ 0 };
	put("/trace_marker", "hello");
	CHECK(read_page(f, &s, 4096));
	CHECK_EQ(s.records, 1);
	CHECK_EQ(s.id, atoi(get("/events/ftrace/print/id")));
	CHECK(strstr(get("/events/ftrace/print/format"), "buf"));
	CHECK(!strstr(get("/available_events"), "ftrace:"));
	CHECK(strstr(get("/available_events"), "test:step\n"));
	CHECK_EQ(tacho_tree_stat(tree, "/events/ftrace/print/enable", &st), -ENOENT);
	CHECK_EQ(tacho_tree_stat(tree, "/events/ftrace/enable", &st), -ENOENT);
	CHECK_EQ(tacho_tree_stat(tree, "/events/ftrace/print/format", &st), 0);
	tacho_tree_close_file(f);
}

/* ---- many readers ---- */

#define RACE	20000u
#define READERS	3

static unsigned char had[RACE];		/* by number: how often it was read */
static uint64_t race_base;
static bool race_over;

static void race_page(const unsigned char *page)
{
	const struct tacho_kpage_layout l = {
		.commit_off = 8, .commit_size = 8, .data_off = 16, .data_size = 4080,
	};
	struct tacho_kpage p;
	struct tacho_kevent e;

	if (tacho_kpage_open(&p, &l, page, 4096))
		return;
	while (tacho_kpage_next(&p, &e) == 1) {
		uint64_t n = tacho_load_u64(e.raw + 8) - race_base;

		if (n < RACE)
			(void)__atomic_add_fetch(&had[n], 1, __ATOMIC_RELAXED);
	}
}

static void *race_raw(void *arg)
{
	struct tacho_tree_file *f = arg;
	unsigned char page[4096];
	bool last = false;
	ssize_t n;

	for (;;) {
		n = tacho_tree_read(f, page, sizeof(page), 0, &now);
		if (n == 4096)
			race_page(page);
		else if (last)
			return NULL;
		else
			last = tacho_load_acquire(&race_over);
	}
}

/* Lines of trace_pipe, whole ones. */
static void *race_text(void *arg)
{
	struct tacho_tree_file *f = arg;
	static char text[1 << 17];
	size_t len = 0;
	bool last = false;

	for (;;) {
		ssize_t n = tacho_tree_read(f, text + len, 4096, 0, &now);
		char *at = text, *nl;

		if (n <= 0) {
			if (last)
				return NULL;
			last = tacho_load_acquire(&race_over);
			continue;
		}
		len += (size_t)n;
		while ((nl = memchr(at, '\n', len - (size_t)(at - text)))) {
			char *eq = memmem(at, (size_t)(nl - at), ": n=", 4);
			uint64_t v = eq ? strtoull(eq + 4, NULL, 10) - race_base : RACE;

			if (v < RACE)
				(void)__atomic_add_fetch(&had[v], 1, __ATOMIC_RELAXED);
			at = nl + 1;
		}
		len -= (size_t)(at - text);
		memmove(text, at, len);
	}
}

static void test_readers(struct writer *w)
{
	struct tacho_tree_file *f[READERS + 1];
	pthread_t thread[READERS + 1];
	uint32_t once = 0, twice = 0;

	drain();
	race_base = w->n;
	for (int i = 0; i <= READERS; i++) {
		f[i] = open_cpu("", i < READERS ? "trace_pipe_raw" : "trace_pipe");
		CHECK_EQ(pthread_create(&thread[i], NULL, i < READERS ? race_raw :
					race_text, f[i]), 0);
	}
	write_some(w, RACE);
	tacho_store_release(&race_over, true);
	for (int i = 0; i <= READERS; i++) {
		(void)pthread_join(thread[i], NULL);
		tacho_tree_close_file(f[i]);
	}
	for (uint32_t i = 0; i < RACE; i++) {
		once += had[i] == 1;
		twice += had[i] > 1;
	}
	CHECK_EQ(once, RACE);
	CHECK_EQ(twice, 0);
}

/* Records of no CPU: what a program writes that has no restartable sequences. */
static void test_no_cpu(struct writer *w)
{
	struct tacho_tree_file *f = open_cpu("", "trace_pipe_raw");
	struct tacho_tree_file *text = open_cpu("", "trace_pipe");
	struct seen s = { .next = w->n };
	char line[4096];
	ssize_t n;

	write_some(w, 100);
	CHECK(strstr(get("/per_cpu/cpu0/stats"), "entries: 100\n"));
	CHECK(strstr(get("/per_cpu/cpu0/stats"), "overrun: 0\n"));
	while (read_page(f, &s, 4096))
		;
	CHECK_EQ(s.records, 100);
	CHECK_EQ(s.gaps, 0);
	write_some(w, 1);
	n = tacho_tree_read(text, line, sizeof(line) - 1, 0, &now);
	CHECK(n > 0);
	line[n > 0 ? n : 0] = '\0';
	CHECK(strstr(line, "[000]"));
	CHECK(!read_page(f, &s, 4096));
	write_some(w, 10);
	tacho_tree_close_file(open_path("/per_cpu/cpu0/trace", O_WRONLY | O_TRUNC));
	CHECK(strstr(get("/per_cpu/cpu0/stats"), "entries: 0\noverrun: 0\n"));
	CHECK(!read_page(f, &s, 4096));
	tacho_tree_close_file(text);
	tacho_tree_close_file(f);
}

/* The test again, as such a program. */
static void run_without_rseq(void)
{
	int status = -1;
	pid_t child;

	(void)fflush(stdout);
	child = fork();
	if (!child) {
		(void)setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		(void)dup2(2, 1);
		(void)execl("/proc/self/exe", "raw_test", "again", (char *)NULL);
		_exit(1);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

/*
 * All that the test writes goes to one CPU's ring; the first one's, which also has what
 * a build without restartable sequences writes.
 */
static void stay(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		SKIP("cannot tell the CPUs that it may run on");
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		SKIP("cannot stay on one CPU");
}

int main(int argc, char **argv)
{
	const struct tacho_tree_config config = {
		.session = NAME, .buffer_size = (uint64_t)1 << 20, .no_kernel = true,
		.uid = getuid(), .gid = getgid(),
	};
	bool again = argc > 1 && !strcmp(argv[1], "again");
	struct tacho_diag d = { 0 };
	struct writer w;

	now.pid = getpid();
	tmpdir_make();
	(void)setenv("TACHO_DIR", tmpdir, 1);
	if (!again) {
		test_args(argc, argv);
		TEST_NAMED("without rseq", run_without_rseq());
		stay();
	}
	if (!CHECK_EQ(tacho_tree_open(&tree, &config, &d), 0)) {
		printf("# %s\n", d.text);
		return test_done();
	}
	writer_open(&w, NAME);
	if (again) {
		TEST(test_no_cpu(&w));
		writer_close(&w);
		tacho_tree_close(tree, true);
		return test_done();
	}
	TEST(test_all(&w));
	TEST(test_small(&w));
	TEST(test_close(&w));
	TEST(test_page_size(&w));
	TEST(test_large(&w));
	TEST(test_wait(&w));
	TEST(test_poll(&w));
	TEST(test_poll_full(&w, "1"));
	TEST(test_poll_full(&w, "0"));
	TEST(test_clock(&w));
	TEST(test_snapshot(&w));
	TEST(test_instance(&w));
	TEST(test_marker(&w));
	TEST(test_turns(&w));
	TEST(test_readers(&w));
	TEST(test_lost(&w));
	writer_close(&w);
	tacho_tree_close(tree, true);
	return test_done();
}
