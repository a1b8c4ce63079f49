// SPDX-License-Identifier: MIT
/* The runtime and the tools' side of sessions, in one process and its children. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/events.h"
#include "ring/read.h"
#include "session/session.h"
#include "unit/test.h"

static struct tacho_dir dir;

static void make_session(struct tacho_session *s, const char *name)
{
	struct tacho_session_config cfg = {
		.name = name, .clock = -1, .lane_size = 1 << 20,
	};
	struct tacho_diag d = { 0 };

	if (!CHECK_EQ(tacho_session_create(s, &dir, &cfg, &d), 0)) {
		printf("# %s\n", d.text);
		exit(1);
	}
}

/* Reads a session to its end: how many records of each writer; checks order. */
static uint64_t drain(struct tacho_session *s, uint64_t *per_writer, int nr)
{
	struct tacho_ring *r = &s->view.ring;
	uint64_t total = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++) {
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, r, lane, 0, false, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1) {
			const char *p = c.data;
			uint32_t left = c.len;

			total += c.head.events;
			while (left) {
				const uint64_t *w = (const void *)p;
				uint32_t size = tacho_record_size(w[0]);

				if (per_writer && w[2] < (uint64_t)nr)
					per_writer[w[2]]++;
				p += size;
				left -= size;
			}
		}
		CHECK_EQ(rd.damaged, 0);
		CHECK_EQ(rd.overwritten, 0);
		tacho_ring_reader_release(&rd);
	}
	return total;
}

static void test_off_and_on(void)
{
	struct tacho_session s;
	uint64_t seen[2] = { 0, 0 };
	uint32_t matched;

	make_session(&s, "one");
	hit(&event_count, 0, 1);
	CHECK_EQ(drain(&s, NULL, 0), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:co*", &matched, NULL), 0);
	CHECK_EQ(matched, 1);
	for (int i = 0; i < 1000; i++) {
		hit(&event_count, 0, i);
		hit(&event_other, 1, i);
	}
	CHECK_EQ(drain(&s, seen, 2), 1000);
	CHECK_EQ(seen[0], 1000);
	CHECK_EQ(seen[1], 0);
	CHECK_EQ(tacho_session_rule(&s, false, "count", &matched, NULL), 0);
	hit(&event_count, 0, 1);
	CHECK_EQ(drain(&s, NULL, 0), 1000);	/* a new reader sees what is still there */
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* Word k of the payload of event n. */
static uint64_t word_of(uint64_t n, uint64_t k)
{
	return (n << 8 | k) * UINT64_C(0x9e3779b97f4a7c15);
}

/* One event of n % 5 + 1 words, by the call that is for so many. */
static void hit_words(struct tacho_event *ev, uint64_t n)
{
	uint64_t raw[6] = { 0 };

	for (uint64_t k = 0; k < 5; k++)
		raw[k + 1] = word_of(n, k);
	switch (n % 5) {
	case 0:
		ev->ops->write1(ev, raw[1]);
		break;
	case 1:
		ev->ops->write2(ev, raw[1], raw[2]);
		break;
	case 2:
		ev->ops->write3(ev, raw[1], raw[2], raw[3]);
		break;
	case 3:
		ev->ops->write4(ev, raw[1], raw[2], raw[3], raw[4]);
		break;
	default:
		ev->ops->write(ev, raw, sizeof(raw));
		break;
	}
}

/* Checks the records of a chunk; the bits of `seen` are the events found. */
static uint64_t check_words(const struct tacho_chunk *c, uint8_t *seen,
			    uint64_t max)
{
	const char *p = c->data;
	uint64_t wrong = 0;

	for (uint32_t left = c->len; left;) {
		const uint64_t *w = (const void *)p;
		uint32_t size = tacho_record_size(w[0]);
		uint64_t n = 0;

		while (n < max && w[2] != word_of(n, 0))
			n++;
		wrong += n == max || seen[n]++ || size != 16 + 8 * (n % 5 + 1) ||
			 (int32_t)(w[1] >> 32 & 0xffffffff) != getpid();
		for (uint64_t k = 0; k < n % 5 + 1; k++)
			wrong += w[2 + k] != word_of(n, k);
		p += size;
		left -= size;
	}
	return wrong;
}

/* Events whose payload is handed over in registers, over many sub-buffers. */
static void test_words(void)
{
	enum { EVENTS = 4000 };
	struct tacho_session_config cfg = {
		.name = "words", .clock = -1, .lane_size = 1 << 18,
		.sub_size = 4096,
	};
	static uint8_t seen[EVENTS];
	struct tacho_session s;
	uint64_t found = 0;

	if (!CHECK_EQ(tacho_session_create(&s, &dir, &cfg, NULL), 0))
		return;
	CHECK_EQ(tacho_session_rule(&s, true, "test:other", NULL, NULL), 0);
	for (uint64_t n = 0; n < EVENTS; n++)
		hit_words(&event_other, n);
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&s.view.ring); lane++) {
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, &s.view.ring, lane, 0, false, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1) {
			found += c.head.events;
			CHECK_EQ(check_words(&c, seen, EVENTS), 0);
		}
		tacho_ring_reader_release(&rd);
	}
	CHECK_EQ(found, EVENTS);
	/* switched off between the site's look and the call: nothing is written */
	CHECK_EQ(tacho_session_rule(&s, false, "test:other", NULL, NULL), 0);
	hit_words(&event_other, 1);
	CHECK_EQ(drain(&s, NULL, 0), EVENTS);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void test_two_sessions(void)
{
	struct tacho_session a, b;

	make_session(&a, "a");
	make_session(&b, "b");
	CHECK_EQ(tacho_session_rule(&a, true, "test:count", NULL, NULL), 0);
	CHECK_EQ(tacho_session_rule(&b, true, "test", NULL, NULL), 0);
	for (int i = 0; i < 100; i++) {
		hit(&event_count, 0, i);
		hit(&event_other, 1, i);
	}
	CHECK_EQ(tacho_session_run(&a, false), 0);
	hit(&event_count, 0, 1);
	CHECK_EQ(drain(&a, NULL, 0), 100);
	CHECK_EQ(drain(&b, NULL, 0), 201);
	CHECK_EQ(tacho_session_destroy(&a, NULL), 0);
	/* the same bit again: another session, nothing of the old one */
	make_session(&a, "c");
	CHECK_EQ(tacho_session_rule(&a, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 1);
	CHECK_EQ(drain(&a, NULL, 0), 1);
	CHECK_EQ(tacho_session_destroy(&a, NULL), 0);
	CHECK_EQ(tacho_session_destroy(&b, NULL), 0);
}

/* One hit of event_other in those sessions only that `mask` names. */
static void hit_mask(uint64_t number, uint64_t mask)
{
	struct count_raw raw = { .number = number };

	event_other.ops->write_mask(&event_other, &raw, sizeof(raw), mask);
}

static uint64_t mask_of(const struct tacho_session *s)
{
	return UINT64_C(1) << s->bit;
}

/* Some of the sessions that want an event, whoever got the last one. */
static void test_mask(void)
{
	struct tacho_session a, b;
	struct tacho_control *c;
	int saved = errno;

	make_session(&a, "masked");
	make_session(&b, "other");
	CHECK_EQ(tacho_session_rule(&a, true, "test:other", NULL, NULL), 0);
	CHECK_EQ(tacho_session_rule(&b, true, "test:other", NULL, NULL), 0);
	CHECK(event_other.ops->struct_size > offsetof(struct tacho_event_ops, write_mask));
	errno = EDOM;
	hit_mask(0, mask_of(&a));
	hit_mask(1, mask_of(&b));
	hit_mask(2, mask_of(&b));
	hit_mask(3, mask_of(&a) | mask_of(&b));
	hit_mask(4, UINT64_MAX);
	hit_mask(5, 0);
	CHECK_EQ(errno, EDOM);
	errno = saved;
	CHECK_EQ(drain(&a, NULL, 0), 3);
	CHECK_EQ(drain(&b, NULL, 0), 4);
	/* who does not want it does not get it: the mask only takes away */
	CHECK_EQ(tacho_session_rule(&b, false, "test:other", NULL, NULL), 0);
	hit_mask(6, UINT64_MAX);
	hit_mask(7, mask_of(&b));
	CHECK_EQ(drain(&a, NULL, 0), 4);
	CHECK_EQ(drain(&b, NULL, 0), 4);
	/* the one that is left is remembered by the event, and a mask still counts */
	hit(&event_other, 0, 8);
	hit_mask(9, ~mask_of(&a));
	CHECK_EQ(drain(&a, NULL, 0), 5);
	/* where they are mapped here: not where we have them as a tool */
	errno = EDOM;
	c = event_other.ops->control(a.bit);
	CHECK(c && c != a.view.ctl && !strcmp(c->name, "masked"));
	CHECK(!event_other.ops->control(63));
	CHECK(!event_other.ops->control(TACHO_SESSIONS_MAX));
	CHECK_EQ(errno, EDOM);
	errno = saved;
	CHECK_EQ(tacho_session_destroy(&a, NULL), 0);
	CHECK_EQ(tacho_session_destroy(&b, NULL), 0);
}

static void test_fork(void)
{
	struct tacho_session s;
	struct tacho_session_counts c;
	int32_t pid = getpid();
	uint64_t seen[3] = { 0, 0, 0 };
	pid_t child;
	int status;

	make_session(&s, "fork");
	CHECK_EQ(tacho_session_pids(&s, &pid, 1, true, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:*", NULL, NULL), 0);
	child = fork();
	if (!child) {
		for (int i = 0; i < 500; i++)
			hit(&event_count, 1, i);
		/* killed, not gone: nothing is flushed by anybody */
		raise(SIGKILL);
	}
	for (int i = 0; i < 500; i++)
		hit(&event_count, 0, i);
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(s.view.ctl->pids.nr, 2);
	CHECK_EQ(s.view.ctl->pids.pid[1], child);
	tacho_session_count(&s, &c);
	CHECK_EQ(c.written, 1000);
	CHECK_EQ(drain(&s, seen, 3), 1000);
	CHECK_EQ(seen[0], 500);
	CHECK_EQ(seen[1], 500);
	/* who is not to be traced, his child neither */
	CHECK_EQ(tacho_session_not_pids(&s, &pid, 1, true, NULL), 0);
	hit(&event_count, 0, 0);
	child = fork();
	if (!child) {
		hit(&event_count, 1, 0);
		_exit(tacho_pids_has(&s.view.ctl->not_pids, getpid()) ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	tacho_session_count(&s, &c);
	CHECK_EQ(c.written, 1000);
	CHECK_EQ(tacho_session_not_pids(&s, NULL, 0, true, NULL), 0);
	/* without follow-fork the child is not listed */
	CHECK_EQ(tacho_session_pids(&s, &pid, 1, false, NULL), 0);
	child = fork();
	if (!child) {
		hit(&event_count, 2, 0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	tacho_session_count(&s, &c);
	CHECK_EQ(c.written, 1000);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void test_full(void)
{
	struct tacho_session_config cfg = {
		.name = "full", .clock = -1, .sub_size = 4096, .lane_size = 16384,
	};
	struct tacho_session s;
	struct tacho_session_counts c;

	CHECK_EQ(tacho_session_create(&s, &dir, &cfg, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:*", NULL, NULL), 0);
	for (int i = 0; i < 100000; i++)
		hit(&event_count, 0, i);
	tacho_session_count(&s, &c);
	CHECK_EQ(c.written + c.lost_full, 100000);
	CHECK(c.lost_full > 0);
	CHECK_EQ(c.lost_big + c.lost_busy, 0);
	CHECK_EQ(drain(&s, NULL, 0), c.written);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void test_errors(void)
{
	struct tacho_session s;
	struct tacho_diag d = { 0 };
	struct tacho_session_config cfg = { .name = "bad/name", .clock = -1 };

	CHECK_EQ(tacho_session_create(&s, &dir, &cfg, &d), -EINVAL);
	CHECK(strstr(d.text, "bad/name"));
	memset(&d, 0, sizeof(d));
	cfg.name = "size";
	cfg.sub_size = 5000;
	CHECK_EQ(tacho_session_create(&s, &dir, &cfg, &d), -EINVAL);
	CHECK(strstr(d.text, "5000"));
	memset(&d, 0, sizeof(d));
	CHECK_EQ(tacho_session_open(&s, &dir, "nowhere", &d), -ENOENT);
	CHECK(strstr(d.text, "nowhere"));
}

int main(int argc, char **argv)
{
	char path[] = "/dev/shm/tacho-probe-test.XXXXXX";
	char command[64];
	struct tacho_diag d = { 0 };

	test_args(argc, argv);
	if (!mkdtemp(path) || setenv("TACHO_DIR", path, 1))
		return 1;
	if (!CHECK_EQ(tacho_dir_open(&dir, true, &d), 0))
		return test_done();
	CHECK_EQ(tacho_object_register(&object), 0);
	TEST(test_off_and_on());
	TEST(test_words());
	TEST(test_two_sessions());
	TEST(test_mask());
	TEST(test_fork());
	TEST(test_full());
	TEST(test_errors());
	tacho_object_unregister(&object);
	tacho_dir_close(&dir);
	snprintf(command, sizeof(command), "rm -r %s", path);
	CHECK_EQ(system(command), 0);
	return test_done();
}
