// SPDX-License-Identifier: MIT
/* Triggers that are no histograms, against the kernel's answers. */
#include "unit/test.h"

#include <errno.h>

#include "engine/golden_trigger.h"
#include "engine/trigger.h"

#define ARENA	(1 << 16)

static bool is_among(const struct golden *g, const char *text)
{
	for (unsigned int i = 0; i < g->nr_triggers; i++)
		if (!strcmp(g->trigger[i], text))
			return true;
	return false;
}

/* One case.  typed: what has no error here may have one elsewhere. */
static void check_case(const struct golden *g, bool typed)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_trigger_spec spec;
	struct tacho_arena a;
	struct tacho_buf out;
	int err;

	tacho_arena_init(&a, ARENA);
	tacho_buf_init(&out, ARENA);
	err = tacho_trigger_parse(&spec, &a, g->command, &e);
	/* a second one of a kind is refused by who knows the first */
	if (!typed && g->result != -EEXIST)
		test_check(err == g->result, __FILE__, __LINE__, "%s: %d, not %d",
			   g->command, err, g->result);
	if (err) {
		CHECK_EQ(err, g->result);
		CHECK_EQ(e.err, err);
		CHECK(e.text[0] && e.column <= strlen(spec.text));
	} else if (!g->result && !spec.remove) {
		tacho_trigger_print(&spec, spec.count, false, &out);
		test_check(is_among(g, tacho_buf_str(&out)), __FILE__, __LINE__,
			   "%s: %s", g->command, tacho_buf_str(&out));
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

static void test_golden(const char *path, bool typed, int at_least)
{
	struct golden g;
	int nr = 0;

	if (!CHECK(golden_open(&g, path)))
		return;
	for (; golden_next(&g); nr++) {
		CHECK(g.result <= 0);
		check_case(&g, typed);
	}
	CHECK(!g.next || !*g.next);
	CHECK(nr >= at_least);
	golden_close(&g);
}

/* The kernel has no words for any of these. */
static void test_errors(void)
{
	static const struct {
		const char *text;	/* ^ is in front of the place */
		const char *error;
		int err;
	} table[] = {
		{ "^foo", "Unknown trigger command", -EINVAL },
		{ "!^foo:5", "Unknown trigger command", -EINVAL },
		{ "^", "Unknown trigger command", -EINVAL },
		{ "!^", "Unknown trigger command", -EINVAL },
		{ "traceoff:^foo", "Expecting a count or 'if'", -EINVAL },
		{ "traceoff:5 ^pid == 3", "Expecting a count or 'if'", -EINVAL },
		{ "traceoff:^5x if pid == 3", "Count must be a number", -EINVAL },
		{ "traceoff:^18446744073709551616", "Count must be a number", -ERANGE },
		{ "traceoff ^if", "Empty filter", -EINVAL },
		{ "enable_event^", "Expecting system:event", -EINVAL },
		{ "enable_event:^", "Expecting system:event", -EINVAL },
		{ "enable_event:^sched if a", "Expecting system:event", -EINVAL },
		{ "enable_event:a:b:^", "Count must be a number", -EINVAL },
		{ "enable_event:a:b:^x", "Count must be a number", -EINVAL },
		{ "enable_event:a:b ^c", "Expecting a count or 'if'", -EINVAL },
		{ "hist:^", "No keys", -EINVAL },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_trigger_spec spec;
		struct tacho_arena a;
		char text[80], *caret;

		snprintf(text, sizeof(text), "%s", table[i].text);
		caret = strchr(text, '^');
		memmove(caret, caret + 1, strlen(caret));
		tacho_arena_init(&a, ARENA);
		CHECK_EQ(tacho_trigger_parse(&spec, &a, text, &e), table[i].err);
		CHECK_STR(e.text, table[i].error);
		test_check(e.column == caret - text, __FILE__, __LINE__,
			   "%s: column %u", table[i].text, e.column);
		tacho_arena_release(&a);
	}
}

static void test_spec(void)
{
	struct tacho_trigger_spec spec;
	struct tacho_arena a;

	tacho_arena_init(&a, ARENA);
	CHECK(!tacho_trigger_parse(&spec, &a,
				   " enable_hist:sys:ev:3  if  x == 1 ", NULL));
	CHECK_EQ(spec.cmd, TACHO_TRIGGER_ENABLE_HIST);
	CHECK(!spec.remove && spec.counted);
	CHECK_EQ(spec.count, 3);
	CHECK_STR(spec.system, "sys");
	CHECK_STR(spec.event, "ev");
	CHECK_EQ(spec.target_column, 12);
	CHECK_STR(spec.filter, " x == 1");
	CHECK_EQ(spec.filter_column, 25);
	CHECK_STR(spec.text, "enable_hist:sys:ev:3  if  x == 1");

	CHECK(!tacho_trigger_parse(&spec, &a, "!traceoff:foo", NULL));
	CHECK(spec.remove && !spec.counted && !spec.filter);
	CHECK(!tacho_trigger_parse(&spec, &a, "!hist keys=a if b", NULL));
	CHECK(spec.remove);
	CHECK_STR(spec.text, "hist:keys=a if b");
	CHECK_STR(spec.filter, "b");
	CHECK_EQ(spec.filter_column, 15);
	CHECK_EQ(spec.hist.nr_keys, 1);
	for (uint32_t c = 0; c <= TACHO_TRIGGER_HIST; c++)
		CHECK(tacho_trigger_name((enum tacho_trigger_cmd)c));
	CHECK_STR(tacho_trigger_name(TACHO_TRIGGER_HIST), "hist");
	tacho_arena_release(&a);
}

/* What is left is printed, not what there was. */
static void test_left(void)
{
	struct tacho_trigger_spec spec;
	struct tacho_arena a;
	struct tacho_buf out;

	tacho_arena_init(&a, ARENA);
	tacho_buf_init(&out, ARENA);
	CHECK(!tacho_trigger_parse(&spec, &a, "snapshot:5 if a", NULL));
	tacho_trigger_print(&spec, 2, false, &out);
	CHECK_STR(tacho_buf_str(&out), "snapshot:count=2 if a");
	tacho_buf_reset(&out);
	CHECK(!tacho_trigger_parse(&spec, &a, "hist:keys=a", NULL));
	tacho_trigger_print(&spec, 0, true, &out);
	CHECK_STR(tacho_buf_str(&out),
		  "hist:keys=a:vals=hitcount:sort=hitcount:size=2048 [paused]");
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

static void test_memory(void)
{
	static const char *const table[] = {
		"enable_event:sys:ev:3 if x == 1", "hist:keys=a if b",
		"traceoff:5 if x == 1",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		bool done = false;

		for (size_t cap = 0; !done && cap < ARENA; cap += 16) {
			struct tacho_cmd_error e = { .err = 0 };
			struct tacho_trigger_spec spec;
			struct tacho_arena a;
			int err;

			tacho_arena_init(&a, cap);
			err = tacho_trigger_parse(&spec, &a, table[i], &e);
			done = !err;
			CHECK_EQ(err, done ? 0 : -ENOMEM);
			CHECK_EQ(e.err, err);
			tacho_arena_release(&a);
		}
		CHECK(done);
	}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_golden(GOLDEN "/trigger/trigger", false, 90));
	TEST(test_golden(GOLDEN "/trigger/trigger_typed", true, 15));
	TEST(test_errors());
	TEST(test_spec());
	TEST(test_left());
	TEST(test_memory());
	return test_done();
}
