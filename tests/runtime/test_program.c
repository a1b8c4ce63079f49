// SPDX-License-Identifier: MIT
/*
 * Filters, triggers, histograms and synthetic events inside traced programs: this
 * one and its children, with the tools' side in the same process.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/text.h"
#include "runtime/events.h"
#include "runtime/actions.h"
#include "ring/read.h"
#include "session/command.h"
#include "unit/test.h"

static struct tacho_dir dir;

/* ---- sessions, and what is in them ---- */

static void make(struct tacho_session *s, const char *name)
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

static void drop(struct tacho_session *s)
{
	CHECK_EQ(tacho_session_destroy(s, NULL), 0);
}

static void rule(struct tacho_session *s, const char *glob)
{
	CHECK_EQ(tacho_session_rule(s, true, glob, NULL, NULL), 0);
}

static uint64_t written(struct tacho_session *s)
{
	struct tacho_session_counts c;

	tacho_session_count(s, &c);
	return c.written;
}

static int say(int err, const struct tacho_cmd_error *e)
{
	if (err)
		printf("# %d: %s (%u)\n", err, e->text, e->column);
	return err;
}

static int filter(struct tacho_session *s, const char *event, const char *text)
{
	struct tacho_cmd_error e = { 0 };

	return say(tacho_command_filter(s, event, text, NULL, &e), &e);
}

static int trigger(struct tacho_session *s, const char *event, const char *text)
{
	struct tacho_cmd_error e = { 0 };

	return say(tacho_command_trigger(s, event, text, NULL, &e), &e);
}

static int synth(struct tacho_session *s, const char *text)
{
	struct tacho_cmd_error e = { 0 };

	return say(tacho_command_synth(s, text, &e), &e);
}

/* Whether a record's type is called name. */
static bool is_type(struct tacho_session *s, const uint64_t *record,
		    const char *name)
{
	const struct tacho_common *c = (const void *)(record + 1);
	char have[TACHO_RULE_MAX];
	const char *text;
	uint32_t len;

	text = tacho_types_text(&s->view, c->type, &len);
	if (!text)
		return false;
	tacho_type_text_name(text, len, have, sizeof(have));
	return !strcmp(have, name);
}

/* Calls fn for each record of a type; how many there are. */
static uint64_t each_record(struct tacho_session *s, const char *name,
			    void (*fn)(const uint64_t *record, void *arg),
			    void *arg)
{
	struct tacho_ring *r = &s->view.ring;
	uint64_t found = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++) {
		struct tacho_ring_reader rd;
		struct tacho_chunk c;

		if (tacho_ring_reader_init(&rd, r, lane, 0, false, 0))
			continue;
		while (tacho_ring_read(&rd, &c) == 1) {
			const char *p = c.data;

			for (uint32_t left = c.len; left;) {
				const uint64_t *w = (const void *)p;
				uint32_t size = tacho_record_size(w[0]);

				if (is_type(s, w, name)) {
					found++;
					if (fn)
						fn(w, arg);
				}
				p += size;
				left -= size;
			}
		}
		CHECK_EQ(rd.damaged, 0);
		tacho_ring_reader_release(&rd);
	}
	return found;
}

static uint64_t count(struct tacho_session *s, const char *name)
{
	return each_record(s, name, NULL, NULL);
}

/* Runs fn in a child; its status. */
static int in_child(void (*fn)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		fn();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

/* ---- filters ---- */

static void test_filter(void)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_session s;
	uint32_t matched = 0;

	make(&s, "filter");
	rule(&s, "test:*");
	hit(&event_count, 1, 1);
	CHECK_EQ(tacho_command_filter(&s, "test:count", "writer == 1 && number > 10",
				      &matched, &e), 0);
	CHECK_EQ(matched, 1);
	for (uint64_t i = 0; i < 20; i++) {
		hit(&event_count, 1, i);	/* 9 of them */
		hit(&event_count, 2, i);	/* none */
		hit(&event_other, 2, i);	/* has no filter */
	}
	CHECK_EQ(count(&s, "test:count"), 1 + 9);
	CHECK_EQ(count(&s, "test:other"), 20);
	/* by the calls for words in registers, too */
	event_count.ops->write2(&event_count, 1, 100);
	event_count.ops->write2(&event_count, 2, 100);
	CHECK_EQ(count(&s, "test:count"), 11);
	/* the same glob again replaces it */
	CHECK_EQ(filter(&s, "test:count", "writer == 2"), 0);
	hit(&event_count, 1, 100);
	hit(&event_count, 2, 100);
	CHECK_EQ(count(&s, "test:count"), 12);
	CHECK_EQ(filter(&s, "test:count", " 0 "), 0);
	hit(&event_count, 1, 1);
	CHECK_EQ(count(&s, "test:count"), 13);
	CHECK_EQ(s.view.commands->command[0].state, TACHO_COMMAND_FREE);
	drop(&s);
}

static void test_filter_globs(void)
{
	struct tacho_session s;

	make(&s, "globs");
	rule(&s, "test:*");
	CHECK_EQ(filter(&s, "test", "number == 1"), 0);
	CHECK_EQ(filter(&s, "test:other", "number == 2"), 0);
	for (uint64_t i = 0; i < 4; i++) {
		hit(&event_count, 0, i);
		hit(&event_other, 0, i);
	}
	CHECK_EQ(written(&s), 2);
	/* taken away from one event: what the wider one gave goes, too */
	CHECK_EQ(filter(&s, "test:other", "0"), 0);
	hit(&event_count, 0, 3);
	hit(&event_other, 0, 3);
	CHECK_EQ(written(&s), 3);
	CHECK_EQ(filter(&s, "test:*", "0"), 0);
	hit(&event_count, 0, 3);
	CHECK_EQ(written(&s), 4);
	drop(&s);
}

static void test_filter_errors(void)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_session s;
	char name[TACHO_RULE_MAX + 8];

	make(&s, "errors");
	rule(&s, "test:*");
	CHECK_EQ(tacho_command_filter(&s, "test:count", "number > 1 && nothing == 2",
				      NULL, &e), -EINVAL);
	CHECK(!strcmp(e.text, "Field not found"));
	CHECK(e.column >= 14);
	/* where no event is known the text is checked alone */
	memset(&e, 0, sizeof(e));
	CHECK_EQ(tacho_command_filter(&s, "later:*", "a == 1 && b == 2", NULL, &e), 0);
	CHECK_EQ(tacho_command_filter(&s, "later:*", "(((", NULL, &e), -EINVAL);
	CHECK(e.text[0]);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(&e, 0, sizeof(e));
	CHECK_EQ(tacho_command_filter(&s, name, "a == 1", NULL, &e), -EINVAL);
	CHECK(e.text[0]);
	hit(&event_count, 1, 1);
	CHECK_EQ(written(&s), 1);
	drop(&s);
}

/* Every kind of field that the macros make. */
struct kinds_raw {
	struct tacho_common common;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	char fix[16];
	uint32_t loc;
	uint32_t rel;
	const char *pointer;
	uint32_t mask;
	uint32_t pad;
	uint64_t mask_bits;
	char loc_text[16];
	char rel_text[16];
};

#define AT(f)	offsetof(struct kinds_raw, f)

static const struct tacho_event_field kinds_fields[] = {
	{ "s8 s8", AT(s8), 1, 1, 1 }, { "u8 u8", AT(u8), 1, 0, 1 },
	{ "s16 s16", AT(s16), 2, 1, 2 }, { "u16 u16", AT(u16), 2, 0, 2 },
	{ "int s32", AT(s32), 4, 1, 4 }, { "unsigned int u32", AT(u32), 4, 0, 4 },
	{ "s64 s64", AT(s64), 8, 1, 8 }, { "u64 u64", AT(u64), 8, 0, 8 },
	{ "char fix[16]", AT(fix), 16, 1, 1 },
	{ "__data_loc char[] loc", AT(loc), 4, 1, 4 },
	{ "__rel_loc char[] rel", AT(rel), 4, 1, 4 },
	{ "const char * pointer", AT(pointer), 8, 0, 8 },
	{ "__data_loc cpumask_t mask", AT(mask), 4, 0, 4 },
};

static struct tacho_event event_kinds = {
	.struct_size = sizeof(struct tacho_event), .state = off_word,
	.system = "kinds", .name = "all", .fields = kinds_fields,
	.nr_fields = sizeof(kinds_fields) / sizeof(kinds_fields[0]),
	.print_fmt = "\"%d\", REC->s32",
};

static void hit_kinds(void)
{
	struct kinds_raw raw = {
		.s8 = -3, .u8 = 200, .s16 = -300, .u16 = 60000, .s32 = -70000,
		.u32 = 4000000000u, .s64 = -5000000000, .u64 = UINT64_MAX - 1,
		.fix = "fixed text", .loc = AT(loc_text) | 16u << 16,
		.rel = (AT(rel_text) - AT(rel) - 4) | 16u << 16,
		.pointer = "pointed at", .mask = AT(mask_bits) | 8u << 16,
		.mask_bits = 0x30, .loc_text = "loc text", .rel_text = "rel text",
	};
	const uint64_t *state = __atomic_load_n(&event_kinds.state, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(state, __ATOMIC_RELAXED))
		event_kinds.ops->write(&event_kinds, &raw, sizeof(raw));
}

static const struct {
	const char *filter;
	bool passes;
} kinds[] = {
	{ "s8 == -3", true }, { "s8 > 0", false }, { "u8 == 200", true },
	{ "s16 < -299", true }, { "u16 >= 60001", false }, { "s32 == -70000", true },
	{ "u32 > 3999999999", true }, { "s64 <= -5000000000", true },
	{ "u64 == 0xfffffffffffffffe", true }, { "u64 & 1", false },
	{ "fix == \"fixed text\"", true }, { "fix ~ \"fix*\"", true },
	{ "fix != \"fixed text\"", false }, { "loc ~ \"*text\"", true },
	{ "loc == \"rel text\"", false }, { "rel == \"rel text\"", true },
	{ "pointer == \"pointed at\"", true }, { "pointer ~ \"*nothing*\"", false },
	{ "mask & CPUS{4}", true }, { "mask & CPUS{0-3}", false },
	{ "mask == CPUS{4-5}", true }, { "u8 & CPUS{200}", true },
	{ "comm ~ \"test_prog*\"", true }, { "comm == \"nobody\"", false },
	{ "common_pid == 1", false }, { "CPU < 1000", true },
	{ "!(s8 == -3) || (u8 == 200 && u16 == 60000)", true },
};

static void test_kinds(void)
{
	struct tacho_session s;
	uint64_t before = 0;

	make(&s, "kinds");
	rule(&s, "kinds:*");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!CHECK_EQ(filter(&s, "kinds:all", kinds[i].filter), 0))
			printf("# %s\n", kinds[i].filter);
		hit_kinds();
		if (!CHECK_EQ(written(&s) - before, kinds[i].passes))
			printf("# %s\n", kinds[i].filter);
		before = written(&s);
	}
	drop(&s);
}

/* A pointer to nowhere does not match, and does no harm. */
static void test_bad_pointer(void)
{
	struct kinds_raw raw = { .pointer = (const char *)16 };
	struct tacho_session s;

	make(&s, "pointer");
	rule(&s, "kinds:*");
	CHECK_EQ(filter(&s, "kinds:all", "pointer ~ \"*\""), 0);
	event_kinds.ops->write(&event_kinds, &raw, sizeof(raw));
	CHECK_EQ(written(&s), 0);
	CHECK_EQ(filter(&s, "kinds:all", "pointer != \"x\""), 0);
	event_kinds.ops->write(&event_kinds, &raw, sizeof(raw));
	CHECK_EQ(written(&s), 0);
	drop(&s);
}

/* ---- triggers ---- */

/* The bits of an event's state words. */
static uint64_t state_bits(const struct tacho_event *ev, int word)
{
	return __atomic_load_n(&ev->state[word], __ATOMIC_SEQ_CST);
}

static void test_soft_mode(void)
{
	struct tacho_session s;

	make(&s, "soft");
	CHECK_EQ(state_bits(&event_count, 0), 0);
	CHECK_EQ(trigger(&s, "test:count", "enable_event:test:other:1 if number == 5"),
		 0);
	/* both fire and neither is recorded */
	CHECK_EQ(state_bits(&event_count, 0), UINT64_C(1) << s.bit);
	CHECK_EQ(state_bits(&event_other, 1), UINT64_C(1) << s.bit);
	hit(&event_count, 0, 1);
	hit(&event_other, 0, 1);
	CHECK_EQ(written(&s), 0);
	hit(&event_count, 0, 5);
	hit(&event_other, 0, 2);
	CHECK_EQ(count(&s, "test:other"), 1);
	CHECK_EQ(written(&s), 1);
	/* its count is used up; disable is the user's word */
	CHECK_EQ(tacho_session_rule(&s, false, "test:other", NULL, NULL), 0);
	hit(&event_count, 0, 5);
	hit(&event_other, 0, 3);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(tacho_session_rule(&s, true, "test:other", NULL, NULL), 0);
	hit(&event_other, 0, 4);
	CHECK_EQ(written(&s), 2);
	CHECK_EQ(trigger(&s, "test:count", "!enable_event:test:other"), 0);
	hit(&event_other, 0, 5);
	CHECK_EQ(written(&s), 3);
	CHECK_EQ(state_bits(&event_count, 0), 0);
	CHECK_EQ(state_bits(&event_other, 1), 0);
	drop(&s);
	CHECK_EQ(state_bits(&event_other, 0), 0);
}

/* What a trigger left an event at, it stays at. */
static void test_soft_stays(void)
{
	struct tacho_session s;

	make(&s, "stays");
	CHECK_EQ(trigger(&s, "test:count", "enable_event:test:other"), 0);
	hit(&event_count, 0, 0);
	CHECK_EQ(trigger(&s, "test:count", "!enable_event:test:other"), 0);
	hit(&event_other, 0, 0);
	CHECK_EQ(count(&s, "test:other"), 1);
	CHECK_EQ(trigger(&s, "test:count", "disable_event:test:other"), 0);
	hit(&event_other, 0, 0);
	hit(&event_count, 0, 0);
	hit(&event_other, 0, 0);
	CHECK_EQ(trigger(&s, "test:count", "!disable_event:test:other"), 0);
	hit(&event_other, 0, 0);
	CHECK_EQ(count(&s, "test:other"), 2);
	drop(&s);
}

static void test_together(void)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_session s;

	make(&s, "together");
	CHECK_EQ(trigger(&s, "test:count", "traceon:5"), 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "traceoff", NULL, &e), -EEXIST);
	CHECK(e.text[0]);
	CHECK_EQ(tacho_command_trigger(&s, "test:*", "traceoff", NULL, NULL), -EEXIST);
	CHECK_EQ(trigger(&s, "test:other", "traceoff"), 0);
	CHECK_EQ(trigger(&s, "test:count", "snapshot"), 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "snapshot:3", NULL, NULL),
		 -EEXIST);
	CHECK_EQ(trigger(&s, "test:count", "enable_event:a:b"), 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "disable_event:a:b", NULL,
				       NULL), -EEXIST);
	CHECK_EQ(trigger(&s, "test:count", "disable_event:a:c"), 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "!stacktrace", NULL, NULL),
		 -ENOENT);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "nonsense", NULL, NULL),
		 -EINVAL);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "snapshot if nofield > 1",
				       NULL, NULL), -EEXIST);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "stacktrace if nofield > 1",
				       NULL, NULL), -EINVAL);
	CHECK_EQ(trigger(&s, "test:count", "!snapshot"), 0);
	CHECK_EQ(trigger(&s, "test:count", "snapshot:3"), 0);
	drop(&s);
}

static struct tacho_session *shared;

static void hit_ten(void)
{
	for (uint64_t i = 0; i < 10; i++)
		hit(&event_count, 1, i);
}

static int left_of(const struct tacho_command_info *c, void *arg)
{
	*(uint64_t *)arg = c->left;
	return 0;
}

/* A count is the session's, not a process's. */
static void test_counts(void)
{
	struct tacho_session s;
	uint64_t left = 0;

	make(&s, "counts");
	CHECK_EQ(trigger(&s, "test:count", "snapshot:25"), 0);
	hit_ten();
	CHECK_EQ(in_child(hit_ten), 0);
	CHECK_EQ(s.view.ctl->requested, 20);
	CHECK_EQ(tacho_commands_each(&s, left_of, &left), 0);
	CHECK_EQ(left, 5);
	CHECK_EQ(in_child(hit_ten), 0);
	hit_ten();
	CHECK_EQ(s.view.ctl->requested, 25);
	CHECK_EQ(tacho_commands_each(&s, left_of, &left), 0);
	CHECK_EQ(left, 0);
	drop(&s);
}

static void test_trace_on_off(void)
{
	struct tacho_session s;

	make(&s, "onoff");
	rule(&s, "test:*");
	CHECK_EQ(trigger(&s, "test:count", "traceoff if number == 7"), 0);
	CHECK_EQ(trigger(&s, "test:other", "traceon if number == 7"), 0);
	hit(&event_count, 0, 6);
	hit(&event_count, 0, 7);	/* recorded: it stops behind it */
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_STOPPED);
	hit(&event_count, 0, 8);
	hit(&event_other, 0, 6);
	CHECK_EQ(written(&s), 2);
	hit(&event_other, 0, 7);	/* not recorded: it starts behind it */
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_RECORDING);
	CHECK_EQ(written(&s), 2);
	hit(&event_other, 0, 8);
	hit(&event_count, 0, 8);
	CHECK_EQ(written(&s), 4);
	/* from another process */
	CHECK_EQ(in_child(hit_ten), 0);
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_STOPPED);
	CHECK_EQ(written(&s), 4 + 8);
	/* one that its recorder has ended is not started by a trigger */
	CHECK_EQ(tacho_session_end(&s), 0);
	hit(&event_other, 0, 7);
	hit(&event_other, 0, 8);
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_STOPPED);
	CHECK_EQ(written(&s), 4 + 8);
	drop(&s);
}

static void *switch_often(void *arg)
{
	for (uint64_t i = 0; i < 3000; i++)
		hit(arg, 0, i);
	return NULL;
}

/* On and off from many threads and processes: in the end all agree. */
static void test_on_off_storm(void)
{
	struct tacho_ring *r;
	struct tacho_session s;
	pthread_t thread[4];
	pid_t child[4];
	uint64_t before;

	make(&s, "storm");
	CHECK_EQ(trigger(&s, "test:count", "traceoff"), 0);
	CHECK_EQ(trigger(&s, "test:other", "traceon"), 0);
	for (int i = 0; i < 4; i++) {
		child[i] = fork();
		if (!child[i]) {
			for (;;)
				switch_often(i & 1 ? &event_other : &event_count);
		}
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, switch_often,
			       i & 1 ? &event_other : &event_count);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 4; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	/* whatever the killed ones left: one more word of each kind is obeyed */
	hit(&event_other, 0, 0);
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_RECORDING);
	CHECK_EQ(tacho_session_rule(&s, true, "kinds:*", NULL, NULL), 0);
	before = written(&s);
	hit_kinds();
	CHECK_EQ(written(&s), before + 1);
	hit(&event_count, 0, 0);
	CHECK_EQ(s.view.ctl->state, TACHO_STATE_STOPPED);
	hit_kinds();
	CHECK_EQ(written(&s), before + 1);
	r = &s.view.ring;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++)
		CHECK_EQ(tacho_ring_lane(r, lane)->fast_until, 0);
	drop(&s);
}

/* ---- call stacks ---- */

/* The symbols of this file are enough: a return address lies behind a function's start. */
__attribute__((noinline)) static void inner(void)
{
	hit(&event_count, 1, 1);
	__asm__ __volatile__("" : : : "memory");
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	__asm__ __volatile__("" : : : "memory");
}

static void keep_stack(const uint64_t *record, void *arg)
{
	uint64_t *to = arg;
	uint32_t word = (uint32_t)record[2];
	const unsigned char *raw = (const unsigned char *)(record + 1);

	to[0] = (word >> 16) / 8;
	if (to[0] <= RUNTIME_STACK_MAX)
		memcpy(to + 1, raw + (word & 0xffff), to[0] * 8);
}

static bool calls(const uint64_t *stack, void (*fn)(void))
{
	uint64_t from = (uint64_t)(uintptr_t)fn;

	for (uint64_t i = 1; i <= stack[0]; i++)
		if (stack[i] > from && stack[i] < from + 4096)
			return true;
	return false;
}

__attribute__((noinline)) static void test_stack(void)
{
	uint64_t stack[RUNTIME_STACK_MAX + 1] = { 0 };
	struct tacho_session s;

	make(&s, "stack");
	rule(&s, "test:count");
	CHECK_EQ(trigger(&s, "test:count", "stacktrace:1"), 0);
	outer();
	outer();
	CHECK_EQ(count(&s, "test:count"), 2);
	CHECK_EQ(each_record(&s, "tacho:user_stack", keep_stack, stack), 1);
	CHECK(stack[0] >= 3);
	CHECK(calls(stack, inner));
	CHECK(calls(stack, outer));
	CHECK(calls(stack, test_stack));
	drop(&s);
}

/* Frame pointers that lead anywhere: the walk ends, and nothing faults. */
static void test_bad_stack(void)
{
	uint64_t frame[64][2], addr[RUNTIME_STACK_MAX];
	struct runtime_place place = { frame, NULL };
	uint64_t *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 64; i++) {
		frame[i][0] = (uint64_t)(uintptr_t)frame[(i + 1) % 64];
		frame[i][1] = (uint64_t)i + 1000;
	}
	/* a ring ends where it turns back; the first record is our own */
	CHECK_EQ(tacho_stack_walk(&place, addr, RUNTIME_STACK_MAX), 63);
	CHECK_EQ(addr[0], 1001);
	CHECK_EQ(addr[62], 1063);
	CHECK_EQ(tacho_stack_walk(&place, addr, 5), 5);
	frame[3][0] = UINT64_MAX - 7;
	CHECK_EQ(tacho_stack_walk(&place, addr, RUNTIME_STACK_MAX), 3);
	frame[3][0] = (uint64_t)(uintptr_t)frame[4] + 1;
	CHECK_EQ(tacho_stack_walk(&place, addr, RUNTIME_STACK_MAX), 3);
	munmap((char *)edge + 4096, 4096);
	frame[1][0] = (uint64_t)(uintptr_t)(edge + 511);
	if (edge > frame[0])
		CHECK_EQ(tacho_stack_walk(&place, addr, RUNTIME_STACK_MAX), 1);
	munmap(edge, 4096);
	place.frame = NULL;
	CHECK_EQ(tacho_stack_walk(&place, addr, RUNTIME_STACK_MAX), 0);
}

/* ---- histograms ---- */

struct sum {
	uint64_t key, hits, value;	/* wanted: key; found: the rest */
	uint64_t entries, all, all_values;
	uint32_t cpus;			/* copies of the counters */
};

static int add_up(const struct tacho_command_hist *h, void *arg)
{
	const struct tacho_map *map = tacho_hist_map(h->hist);
	struct tacho_map_elt *e;
	struct sum *sum = arg;
	uint32_t pos = 0;

	sum->cpus = map->g.nr_cpus;
	while ((e = tacho_map_next(map, &pos))) {
		uint64_t key;

		memcpy(&key, tacho_map_key(e), sizeof(key));
		sum->entries++;
		sum->all += tacho_map_hitcount(map, e);
		if (map->g.nr_sums)
			sum->all_values += tacho_map_sum(map, e, 0);
		if (key != sum->key)
			continue;
		sum->hits += tacho_map_hitcount(map, e);
		if (map->g.nr_sums)
			sum->value += tacho_map_sum(map, e, 0);
	}
	return 0;
}

static struct sum sum_of(struct tacho_session *s, const char *event, uint64_t key)
{
	struct sum sum = { .key = key };

	CHECK_EQ(tacho_command_hists(s, event, add_up, &sum), 0);
	return sum;
}

static void hit_thousand(void)
{
	for (uint64_t i = 0; i < 1000; i++)
		hit(&event_count, i % 10, i);
}

static void test_hist(void)
{
	struct tacho_session s;
	struct sum sum;

	make(&s, "hist");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number"), 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count",
				       "hist:keys=writer:vals=number", NULL, NULL),
		 -EEXIST);
	hit_thousand();
	CHECK_EQ(in_child(hit_thousand), 0);
	sum = sum_of(&s, "test:count", 3);
	CHECK_EQ(sum.entries, 10);
	CHECK_EQ(sum.all, 2000);
	CHECK_EQ(sum.hits, 200);
	/* 3 + 13 + ... + 993, twice */
	CHECK_EQ(sum.value, 2 * (100 * 3 + 10 * 99 * 100 / 2));
	CHECK_EQ(written(&s), 0);
	/* each of the session's CPUs counts for itself */
	CHECK_EQ(sum.cpus, s.view.ring.nr_cpus);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number:pause"), 0);
	hit_thousand();
	CHECK_EQ(sum_of(&s, NULL, 3).all, 2000);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number:cont"), 0);
	hit_thousand();
	CHECK_EQ(sum_of(&s, "count", 3).all, 3000);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number:clear"), 0);
	CHECK_EQ(sum_of(&s, "test:count", 3).all, 0);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "hist:keys=number:clear", NULL,
				       NULL), -ENOENT);
	CHECK_EQ(trigger(&s, "test:count", "!hist:keys=writer:vals=number"), 0);
	CHECK_EQ(sum_of(&s, "test:count", 3).entries, 0);
	CHECK_EQ(state_bits(&event_count, 0), 0);
	drop(&s);
}

/* Recorded, and counted, and both in the right number. */
static void test_hist_recorded(void)
{
	struct tacho_session s;
	struct sum sum;

	make(&s, "both");
	rule(&s, "test:count");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number"), 0);
	hit_thousand();
	event_count.ops->write2(&event_count, 3, 5000);
	CHECK_EQ(count(&s, "test:count"), 1001);
	sum = sum_of(&s, "test:count", 3);
	CHECK_EQ(sum.all, 1001);
	CHECK_EQ(sum.hits, 101);
	CHECK_EQ(sum.value, 100 * 3 + 10 * 99 * 100 / 2 + 5000);
	/* a filter of the event's is not the histogram's */
	CHECK_EQ(filter(&s, "test:count", "number < 10"), 0);
	hit_thousand();
	CHECK_EQ(count(&s, "test:count"), 1011);
	CHECK_EQ(sum_of(&s, "test:count", 3).all, 2001);
	CHECK_EQ(filter(&s, "test:count", "0"), 0);
	/* stopped: counted all the same, as in the kernel */
	tacho_view_run(&s.view, false);
	hit_thousand();
	CHECK_EQ(count(&s, "test:count"), 1011);
	CHECK_EQ(sum_of(&s, "test:count", 3).all, 3001);
	tacho_view_run(&s.view, true);
	hit_thousand();
	CHECK_EQ(count(&s, "test:count"), 2011);
	CHECK_EQ(sum_of(&s, "test:count", 3).all, 4001);
	drop(&s);
}

/* Too large a map to have it for each CPU: the shared words alone. */
static void test_hist_large(void)
{
	struct tacho_session s;
	struct sum sum;

	make(&s, "large");
	CHECK_EQ(trigger(&s, "test:count",
			 "hist:keys=common_stacktrace,writer:vals=number:size=131072"), 0);
	hit_thousand();
	sum = sum_of(&s, "test:count", 0);
	CHECK_EQ(sum.cpus, 0);
	CHECK_EQ(sum.all, 1000);
	CHECK_EQ(sum.all_values, 499500);
	drop(&s);
}

/* Paused before any program has a map: those made later are, too. */
static void test_hist_paused(void)
{
	struct tacho_session s;

	make(&s, "paused");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:pause if number < 100"), 0);
	hit_thousand();
	CHECK_EQ(sum_of(&s, "test:count", 0).all, 0);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:cont if number < 100"), 0);
	hit_thousand();
	CHECK_EQ(sum_of(&s, "test:count", 0).all, 100);
	drop(&s);
}

/* Killed in the middle of it: what is there is whole, and others go on. */
static void test_hist_kill(void)
{
	struct tacho_session s;
	struct sum sum;
	uint64_t *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	make(&s, "kill");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:vals=number:size=4096"), 0);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			for (uint64_t n = 0;; n++) {
				hit(&event_count, n % 500, 2);
				tacho_store_relaxed(&told[i], n + 1);
			}
		}
		usleep(3000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	hit_thousand();
	sum = sum_of(&s, "test:count", 3);
	for (int i = 0; i < 20; i++) {
		sum.all -= tacho_load_relaxed(&told[i]);
		sum.all_values -= 2 * tacho_load_relaxed(&told[i]);
	}
	/* each was killed in at most one hit that it had not told of */
	CHECK(sum.all >= 1000 && sum.all <= 1020);
	/* and what it had not counted, it had not added */
	CHECK(sum.all_values >= 499500);
	CHECK(sum.all_values - 499500 <= 2 * (sum.all - 1000));
	CHECK(sum.entries <= 500 && sum.entries >= 10);
	munmap(told, 4096);
	drop(&s);
}

static void on_alarm(int sig)
{
	(void)sig;
	hit(&event_count, 77, 1);
	hit(&event_other, 77, 1);
}

/* A handler that does in the middle of a hit what the hit does. */
static void test_hist_signals(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct tacho_session s;
	struct sum sum;
	uint64_t n = 300000;

	make(&s, "signals");
	rule(&s, "test:other");
	CHECK_EQ(trigger(&s, "test:*", "hist:keys=writer:vals=number"), 0);
	CHECK_EQ(filter(&s, "test:*", "number == 3"), 0);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < n; i++)
		hit(&event_count, i % 50, 1);
	setitimer(ITIMER_REAL, &never, NULL);
	sum = sum_of(&s, "test:count", 77);
	CHECK_EQ(sum.all, n + sum.hits);
	CHECK(sum.hits > 0);
	CHECK_EQ(sum_of(&s, "test:other", 77).all, sum.hits);
	drop(&s);
}

/* ---- memory ---- */

#define ALT_SIZE	(64 << 10)

static unsigned char *alt_stack;
static void (*alt_hits)(void);

static void on_alt(int sig)
{
	(void)sig;
	alt_hits();
}

/* Bytes of a signal stack that fn takes. */
static size_t stack_use(void (*fn)(void))
{
	stack_t alt = { .ss_sp = alt_stack, .ss_size = ALT_SIZE }, old;
	struct sigaction sa = { .sa_handler = on_alt, .sa_flags = SA_ONSTACK };
	size_t free_bytes = 0;

	memset(alt_stack, 0x5a, ALT_SIZE);
	alt_hits = fn;
	sigaltstack(&alt, &old);
	sigaction(SIGUSR2, &sa, NULL);
	raise(SIGUSR2);
	signal(SIGUSR2, SIG_DFL);
	sigaltstack(&old, NULL);
	while (free_bytes < ALT_SIZE && alt_stack[free_bytes] == 0x5a)
		free_bytes++;
	return ALT_SIZE - free_bytes;
}

static void hit_both(void)
{
	hit(&event_count, 1, 1);
	hit(&event_other, 1, 1);
}

static void hit_nothing(void)
{
}

/*
 * A hit in a handler on a small stack of its own, and when the program is made there:
 * what program.h says it takes.  (A kernel's frame and a plain hit taken off.)
 */
static void test_stack_use(void)
{
	struct tacho_session s;
	size_t base, made, run;

	alt_stack = malloc(ALT_SIZE);
	make(&s, "use");
	rule(&s, "test:*");
	hit_both();
	base = stack_use(hit_nothing);
	CHECK_EQ(filter(&s, "test:*", "writer == 1 && comm ~ \"test*\""), 0);
	made = stack_use(hit_both) - base;
	run = stack_use(hit_both) - base;
	printf("# filter: made in %zu bytes, run in %zu\n", made, run);
	CHECK_EQ(synth(&s, "deep u64 a; u64 b; char c[16]"), 0);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:ts0=common_timestamp.usecs"),
		 0);
	CHECK_EQ(trigger(&s, "test:other", "hist:keys=writer:lat=common_timestamp.usecs-"
			 "$ts0:onmatch(test.count).deep(writer,$lat,comm)"), -EINVAL);
	CHECK_EQ(synth(&s, "lat u64 a; u64 b"), 0);
	CHECK_EQ(trigger(&s, "test:other", "hist:keys=writer:lat=common_timestamp.usecs-"
			 "$ts0:onmatch(test.count).lat(writer,$lat)"), 0);
	CHECK_EQ(trigger(&s, "test:other", "stacktrace"), 0);
	made = stack_use(hit_both) - base;
	run = stack_use(hit_both) - base;
	printf("# all: made in %zu bytes, run in %zu\n", made, run);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(made < 10 << 10);
	CHECK(run < 5 << 10);
#endif
	drop(&s);
	free(alt_stack);
}

/* ---- synthetic events ---- */

static void keep_latency(const uint64_t *record, void *arg)
{
	uint64_t *to = arg;

	memcpy(to, record + 2, 2 * sizeof(*to));
}

static void hit_begin(void)
{
	hit(&event_count, 42, 1000);
}

static void test_synth(void)
{
	uint64_t got[2] = { 0, 0 };
	struct tacho_session s;

	make(&s, "synth");
	CHECK_EQ(synth(&s, "latency u64 writer; u64 lat"), 0);
	CHECK_EQ(tacho_command_synth(&s, "latency u64 x", NULL), -EEXIST);
	rule(&s, "synthetic:latency");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:ts0=number"), 0);
	CHECK_EQ(trigger(&s, "test:other", "hist:keys=writer:lat=number-$ts0:"
			 "onmatch(test.count).latency(writer,$lat)"), 0);
	/* it begins in one process and ends in another */
	CHECK_EQ(in_child(hit_begin), 0);
	hit(&event_other, 41, 1);
	hit(&event_other, 42, 1500);
	CHECK_EQ(each_record(&s, "synthetic:latency", keep_latency, got), 1);
	CHECK_EQ(got[0], 42);
	CHECK_EQ(got[1], 500);
	CHECK_EQ(written(&s), 1);
	/* it is an event: it has filters and histograms */
	CHECK_EQ(filter(&s, "synthetic:latency", "lat > 100"), 0);
	CHECK_EQ(trigger(&s, "synthetic:latency", "hist:keys=writer:vals=lat"), 0);
	hit_begin();
	hit(&event_other, 42, 1050);
	hit_begin();
	hit(&event_other, 42, 1200);
	CHECK_EQ(count(&s, "synthetic:latency"), 2);
	CHECK_EQ(sum_of(&s, "synthetic:latency", 42).value, 250);
	CHECK_EQ(tacho_command_synth(&s, "!latency", NULL), -EBUSY);
	CHECK_EQ(tacho_command_trigger(&s, "test:count", "!hist:keys=writer:ts0=number",
				       NULL, NULL), -EBUSY);
	drop(&s);
}

/* ---- the order of things ---- */

static void keep_time(const uint64_t *record, void *arg)
{
	*(uint64_t *)arg = record[0] & TACHO_TIME_MASK;
}

/* What a histogram makes of an event comes behind the event. */
static void test_order(void)
{
	uint64_t cause = 0, effect = 0;
	struct tacho_session s;

	make(&s, "order");
	CHECK_EQ(synth(&s, "changed u64 writer"), 0);
	rule(&s, "test:count");
	rule(&s, "synthetic:changed");
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer:x=number:"
			 "onchange($x).trace(changed,writer)"), 0);
	hit(&event_count, 1, 1);
	CHECK_EQ(each_record(&s, "test:count", keep_time, &cause), 1);
	CHECK_EQ(each_record(&s, "synthetic:changed", keep_time, &effect), 1);
	CHECK(((effect - cause) & TACHO_TIME_MASK) < TACHO_TIME_MASK / 2);
	drop(&s);
}

/*
 * A traceon is in time for its own event if no trigger looks at the record, and an
 * event that enables itself is recorded if one does.
 */
static void test_looks(void)
{
	struct tacho_session s;

	make(&s, "looks");
	rule(&s, "test:count");
	CHECK_EQ(trigger(&s, "test:count", "traceon"), 0);
	tacho_view_run(&s.view, false);
	hit(&event_count, 0, 1);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(trigger(&s, "test:count", "hist:keys=writer"), 0);
	tacho_view_run(&s.view, false);
	hit(&event_count, 0, 1);
	CHECK_EQ(written(&s), 1);
	hit(&event_count, 0, 1);
	CHECK_EQ(written(&s), 2);
	CHECK_EQ(trigger(&s, "test:other", "enable_event:test:other"), 0);
	hit(&event_other, 0, 1);
	CHECK_EQ(count(&s, "test:other"), 0);
	hit(&event_other, 0, 1);
	CHECK_EQ(count(&s, "test:other"), 1);
	drop(&s);
	make(&s, "looks");
	CHECK_EQ(trigger(&s, "test:other", "enable_event:test:other if number == 1"), 0);
	hit(&event_other, 0, 0);
	CHECK_EQ(written(&s), 0);
	hit(&event_other, 0, 1);
	CHECK_EQ(written(&s), 1);
	drop(&s);
}

/* ---- the table ---- */

/* More commands than there is room for; the same ones gone again. */
static void test_many(void)
{
	struct tacho_session s;
	char text[64], event[64];
	int i;

	make(&s, "many");
	for (i = 0; i < TACHO_COMMANDS_MAX; i++) {
		snprintf(event, sizeof(event), "sys%d:*", i);
		snprintf(text, sizeof(text), "f == %d", i);
		if (filter(&s, event, text))
			break;
	}
	CHECK_EQ(i, TACHO_COMMANDS_MAX);
	CHECK_EQ(tacho_command_filter(&s, "x:*", "f == 1", NULL, NULL), -ENOSPC);
	for (i = 0; i < 10; i++) {
		snprintf(event, sizeof(event), "sys%d:*", i);
		CHECK_EQ(tacho_command_filter(&s, event, "f == 1", NULL, NULL), 0);
	}
	rule(&s, "test:*");
	hit(&event_count, 1, 1);
	CHECK_EQ(written(&s), 1);
	drop(&s);
}

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Words that make random commands less hopeless. */
static void put_words(char *to, size_t size)
{
	static const char *const words[] = {
		"hist:", "keys=writer", ":vals=number", " if ", "number", " > 3",
		" && ", "(", ")", "traceoff", "snapshot", ":5", "stacktrace",
		":ts0=common_timestamp", "$ts0", ":onmatch(test.count)", ".latency(",
		"writer", ",", ":sort=hitcount", ":size=256", "\"*\"", " ~ ",
		"enable_event:test:other", "disable_hist:test:count", "!", "0",
		"latency u64 a; u64 b", "name=x",
	};
	size_t at = 0;

	for (uint64_t n = rnd() % 8; n; n--) {
		const char *w = words[rnd() % (sizeof(words) / sizeof(words[0]))];
		size_t len = strlen(w);

		if (at + len < size)
			memcpy(to + at, w, len);
		at += len;
	}
}

/* A table of anything: programs go on, and record what they can. */
static void hostile(void)
{
	struct tacho_commands *t = shared->view.commands;

	for (int round = 0; round < 3000; round++) {
		unsigned char *bytes = (unsigned char *)t->soft;
		size_t size = sizeof(t->soft) + 8 * sizeof(t->command[0]);
		struct tacho_command *c = &t->command[rnd() % 8];

		for (uint64_t n = rnd() % 64; n; n--)
			bytes[rnd() % size] = (unsigned char)rnd();
		memset(c, 0, sizeof(*c));
		c->state = TACHO_COMMAND_LIVE;
		c->kind = (uint32_t)(rnd() % 5);
		c->left = rnd() & 1 ? UINT64_MAX : rnd() % 10;
		c->serial = (uint32_t)(rnd() % 20);
		c->soft = (uint32_t)(rnd() % 80);
		c->series = (uint32_t)(rnd() % 8);
		strcpy(c->event, c->kind == TACHO_COMMAND_SYNTH ? "synthetic:latency"
								: "test:*");
		put_words(c->text, sizeof(c->text));
		tacho_store_seq_cst(&t->nr, rnd() % 9 ? 8 : (uint32_t)rnd());
		if (t->nr > 8)
			tacho_store_seq_cst(&t->nr, 8);
		tacho_store_seq_cst(&t->seq, (uint32_t)rnd());
		for (uint64_t i = 0; i < 4; i++) {
			hit(&event_count, i, i);
			hit(&event_other, i, i);
		}
	}
}

static void test_hostile(void)
{
	struct tacho_session s;

	make(&s, "hostile");
	rule(&s, "test:*");
	for (int i = 0; i < 8; i++)
		CHECK_EQ(filter(&s, i & 1 ? "a:*" : "b:*", "0"), 0);
	CHECK_EQ(trigger(&s, "test:*", "snapshot"), 0);
	for (int i = 0; i < 7; i++) {
		char event[32];

		snprintf(event, sizeof(event), "none%d:*", i);
		CHECK_EQ(trigger(&s, event, "snapshot"), 0);
	}
	shared = &s;
	CHECK_EQ(in_child(hostile), 0);
	shared = NULL;
	drop(&s);
}

static struct tacho_event *const kinds_events[] = { &event_kinds };
static struct tacho_object kinds_object = {
	.struct_size = sizeof(kinds_object), .events = kinds_events,
	.events_end = kinds_events + 1,
};

int main(int argc, char **argv)
{
	char path[] = "/dev/shm/tacho-program-test.XXXXXX";
	char command[64];

	test_args(argc, argv);
	if (!mkdtemp(path) || setenv("TACHO_DIR", path, 1))
		return 1;
	if (!CHECK_EQ(tacho_dir_open(&dir, true, NULL), 0))
		return test_done();
	CHECK_EQ(tacho_object_register(&object), 0);
	CHECK_EQ(tacho_object_register(&kinds_object), 0);
	TEST(test_filter());
	TEST(test_filter_globs());
	TEST(test_filter_errors());
	TEST(test_kinds());
	TEST(test_bad_pointer());
	TEST(test_soft_mode());
	TEST(test_soft_stays());
	TEST(test_together());
	TEST(test_counts());
	TEST(test_trace_on_off());
	TEST(test_on_off_storm());
	TEST(test_stack());
	TEST(test_bad_stack());
	TEST(test_hist());
	TEST(test_hist_recorded());
	TEST(test_hist_large());
	TEST(test_hist_paused());
	TEST(test_hist_kill());
	TEST(test_hist_signals());
	TEST(test_stack_use());
	TEST(test_synth());
	TEST(test_order());
	TEST(test_looks());
	TEST(test_many());
	TEST(test_hostile());
	tacho_object_unregister(&kinds_object);
	tacho_object_unregister(&object);
	tacho_dir_close(&dir);
	snprintf(command, sizeof(command), "rm -r %s", path);
	CHECK_EQ(system(command), 0);
	return test_done();
}
