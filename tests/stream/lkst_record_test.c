// SPDX-License-Identifier: MIT
/* LKST's events as records: words at their places, texts into the format and out of it. */
#include "../unit/test.h"

#include "event/print.h"
#include "event/type.h"
#include "fmt/lkst/record.h"

static const struct lkst_record sample = {
	.ticks = 0x1122334455667788,
	.arg = { 1, UINT64_MAX, 0x8000000000000000, 4 },
	.recid = 77, .thread = 1001, .uid = 1, .gid = UINT32_MAX, .pid = 1000, .pgrp = -1,
	.etype = 0xf01, .cpu = 255, .flags = 0x12,
};

static int same(const struct lkst_record *a, const struct lkst_record *b)
{
	return a->ticks == b->ticks && !memcmp(a->arg, b->arg, sizeof(a->arg)) &&
	       a->recid == b->recid && a->thread == b->thread && a->uid == b->uid &&
	       a->gid == b->gid && a->pid == b->pid && a->pgrp == b->pgrp &&
	       a->etype == b->etype && a->cpu == b->cpu && a->flags == b->flags;
}

static void test_words(void)
{
	const unsigned char *raw;
	struct lkst_record r, want = sample;
	uint64_t w[LKST_RAW_LOG];

	raw = (const unsigned char *)w;
	want.recid = 0;
	want.ticks = 5;
	CHECK_EQ(lkst_record_pack(w, &sample, 9, LKST_OF_PROGRAM), LKST_RAW_PROGRAM);
	CHECK(lkst_record_unpack(&r, raw, 8 * LKST_RAW_PROGRAM, 5));
	CHECK(same(&r, &want));
	CHECK_EQ(w[0], tacho_common_word(9, 1001));
	CHECK(!lkst_record_unpack(&r, raw, 8 * LKST_RAW_PROGRAM - 8, 5));
	CHECK_EQ(lkst_record_buffer(raw, 8 * LKST_RAW_PROGRAM), 0);

	want.ticks = sample.ticks;
	CHECK_EQ(lkst_record_pack(w, &sample, 9, true), LKST_RAW_KERNEL);
	CHECK(lkst_record_unpack(&r, raw, 8 * LKST_RAW_KERNEL, 5));
	CHECK(same(&r, &want));

	lkst_record_pack_log(w, &sample, 9, -1);
	CHECK(lkst_record_unpack(&r, raw, 8 * LKST_RAW_LOG, 5));
	CHECK(same(&r, &sample));
	CHECK_EQ(lkst_record_buffer(raw, 8 * LKST_RAW_LOG), -1);
}

/* Another clock changes word 9, and that alone. */
static void test_to_ns(void)
{
	struct tacho_clock_map clock;
	uint64_t w[LKST_RAW_LOG], was[LKST_RAW_LOG];
	struct lkst_record r;

	tacho_clock_map_init(&clock, 2000000000, 100, 5000);
	lkst_record_pack_log(w, &sample, 9, -1);
	memcpy(was, w, sizeof(w));
	lkst_record_to_ns((unsigned char *)w, 8 * LKST_RAW_PROGRAM, &clock);
	CHECK(!memcmp(w, was, sizeof(w)));
	lkst_record_to_ns((unsigned char *)w, sizeof(w), &clock);
	CHECK(lkst_record_unpack(&r, (unsigned char *)w, sizeof(w), 5));
	CHECK_EQ(r.ticks, tacho_clock_ns(&clock, sample.ticks));
	CHECK(r.ticks != sample.ticks);
	r.ticks = sample.ticks;
	CHECK(same(&r, &sample));
	w[LKST_RAW_PROGRAM] = was[LKST_RAW_PROGRAM];
	CHECK(!memcmp(w, was, sizeof(w)));
}

static const struct texts {
	const char *name, *arg[4];
	const char *print;	/* of sample */
} texts[] = {
	{ "user added event", { "data1", "data2", "data3", "data4" },
	  "user added event: data1=0x1 data2=0xffffffffffffffff "
	  "data3=0x8000000000000000 data4=0x4" },
	{ "none", { "", "", "", "" }, "none" },
	{ "", { "", "", "", "" }, "" },
	{ "", { "a", "", "", "d" }, ": a=0x1 d=0x4" },
	{ "hole", { "", "b", "", "" }, "hole: b=0xffffffffffffffff" },
	{ "100% \"sure\"\\ \ta: b: c:", { "50%% of=0x%llx %s", " x: y ", "\"", "" },
	  "100% \"sure\"\\ \ta: b: c:: 50%% of=0x%llx %s=0x1  x: y =0xffffffffffffffff "
	  "\"=0x8000000000000000" },
	{ "a: b", { "", "", "", "" }, "a: b" },
	{ "\xff\x01\x7f", { "\n1", "\\1", "\"", "%" },
	  "\xff\x01\x7f: \n1=0x1 \\1=0xffffffffffffffff \"=0x8000000000000000 %=0x4" },
};

/* The text after the n-th NUL. */
static const char *nth(const struct tacho_buf *b, int n)
{
	const char *s = b->data;

	while (n--)
		s += strlen(s) + 1;
	return s;
}

static void check_texts(const struct texts *t, enum lkst_origin origin)
{
	struct tacho_diag d = { 0 };
	struct tacho_arena arena;
	struct tacho_buf b, out;
	const struct tacho_type *type;
	uint64_t w[LKST_RAW_LOG];
	uint32_t n;

	tacho_arena_init(&arena, 1 << 20);
	tacho_buf_init(&b, 1 << 16);
	tacho_buf_init(&out, 1 << 16);
	lkst_record_type_text(&b, "X", t->name, t->arg, origin);
	CHECK(!strncmp(tacho_buf_str(&b), "lkst:X\nformat:\n", 15));
	tacho_buf_reset(&b);
	lkst_record_format_text(&b, t->name, t->arg, origin);
	type = tacho_type_parse(&arena, "lkst", "X", 1, b.data, b.len, &d);
	if (!CHECK(type && type->print))
		return;
	n = origin == LKST_OF_LOG ? LKST_RAW_LOG : lkst_record_pack(w, &sample, 1, origin);
	if (origin == LKST_OF_LOG)
		lkst_record_pack_log(w, &sample, 1, 3);
	CHECK_EQ(type->fixed_size, 8 * n);
	tacho_print_run(type, w, 8 * n, NULL, &out);
	CHECK_STR(tacho_buf_str(&out), t->print);
	tacho_buf_reset(&out);
	if (CHECK(lkst_record_texts(type->print_fmt, &out))) {
		CHECK_STR(nth(&out, 0), t->name);
		for (int i = 0; i < 4; i++)
			CHECK_STR(nth(&out, i + 1), t->arg[i]);
	}
	tacho_buf_release(&b);
	tacho_buf_release(&out);
	tacho_arena_release(&arena);
}

static void test_values(void)
{
	static const char *const no_arg[4];
	struct tacho_diag d = { 0 };
	struct tacho_arena arena;
	struct tacho_buf b;
	const struct tacho_type *type;
	uint64_t w[LKST_RAW_LOG], v;
	static const struct { const char *name; int64_t value; } fields[] = {
		{ "arg1", 1 }, { "arg2", -1 }, { "arg4", 4 }, { "uid", 1 },
		{ "gid", UINT32_MAX }, { "pid", 1000 }, { "pgrp", -1 }, { "etype", 0xf01 },
		{ "cpu", 255 }, { "flags", 0x12 }, { "time", 0x1122334455667788 },
		{ "recid", 77 }, { "buffer", -1 }, { "common_pid", 1001 },
	};

	tacho_arena_init(&arena, 1 << 20);
	tacho_buf_init(&b, 1 << 16);
	lkst_record_format_text(&b, NULL, no_arg, LKST_OF_LOG);
	type = tacho_type_parse(&arena, "lkst", "X", 1, b.data, b.len, &d);
	lkst_record_pack_log(w, &sample, 1, -1);
	for (size_t i = 0; type && i < TACHO_ARRAY_SIZE(fields); i++) {
		CHECK(tacho_field_int(tacho_type_field(type, fields[i].name), w, sizeof(w), &v));
		CHECK_EQ(v, fields[i].value);
	}
	tacho_buf_release(&b);
	tacho_arena_release(&arena);
}

/* Print formats of others. */
static void test_not_ours(void)
{
	static const char *const bad[] = {
		"", "\"", "\"a", "\"a\", REC->x", "\"a\" ", "\"a=0x%llx\"", "\"%d\"", "\"%\"",
		"\"a: b=0x%llx\"", "\"a: b=0x%llx\", REC->arg5", "\"a: b=0x%llx\", REC->arg1 + 1",
		"\"a: b=0x%llxc=0x%llx\", REC->arg1, REC->arg2", "\"a: b\", REC->arg1",
		"\"a: b=0x%llx c=0x%llx\", REC->arg2, REC->arg1", "\"a\\", "\"\\\"", "\"a\\0\"",
		"\"a\\000\"", "\"a: b=0x%llx c=0x%llx\", REC->arg1, REC->arg1",
		"\"a: b=0x%llx \", REC->arg1",
	};
	struct tacho_buf b;

	tacho_buf_init(&b, 1 << 16);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bad); i++) {
		CHECK(!lkst_record_texts(bad[i], &b));
		CHECK_EQ(b.len, 0);
	}
	tacho_buf_release(&b);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_words());
	TEST(test_to_ns());
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(texts); i++)
		for (int origin = LKST_OF_PROGRAM; origin <= LKST_OF_LOG; origin++)
			check_texts(&texts[i], (enum lkst_origin)origin);
	TEST(test_values());
	TEST(test_not_ours());
	return test_done();
}
