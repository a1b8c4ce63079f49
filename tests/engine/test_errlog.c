// SPDX-License-Identifier: MIT
/* The error log: which entries it keeps, and what it prints of them. */
#include "../unit/test.h"

#include "engine/errlog.h"

static struct tacho_errlog errors;

static const char *printed(struct tacho_buf *b)
{
	tacho_buf_reset(b);
	tacho_errlog_print(&errors, b);
	return tacho_buf_str(b);
}

static void test_first_error_stays(void)
{
	struct tacho_cmd_error e = { .err = 0 };

	CHECK_EQ(tacho_cmd_error(&e, -22, 4, "No %s", "a"), -22);
	CHECK_EQ(tacho_cmd_error(&e, -12, 9, "No b"), -22);
	CHECK_EQ(e.column, 4);
	CHECK_STR(e.text, "No a");
	CHECK_EQ(tacho_cmd_error(NULL, -12, 9, "No b"), -12);
}

static void test_print(void)
{
	struct tacho_cmd_error e = { .err = -22, .column = 10,
				     .text = "Couldn't find field" };
	struct tacho_buf b;

	tacho_buf_init(&b, 1 << 16);
	CHECK_STR(printed(&b), "");
	tacho_errlog_add(&errors, 5348887237999ull, "hist:sched:sched_wakeup",
			 "hist:keys=pixd:vals=prio", &e);
	CHECK_STR(printed(&b),
		  "[ 5348.887237] hist:sched:sched_wakeup: error: Couldn't find field\n"
		  "  Command: hist:keys=pixd:vals=prio\n"
		  "                     ^\n");
	tacho_buf_reset(&b);
	tacho_cmd_error_print(&e, "hist:keys=pixd:vals=prio", &b);
	CHECK_STR(tacho_buf_str(&b),
		  "error: Couldn't find field\n"
		  "  hist:keys=pixd:vals=prio\n"
		  "            ^\n");
	tacho_buf_release(&b);
}

/* Only the newest are kept, oldest first. */
static void test_ring(void)
{
	struct tacho_cmd_error e = { .err = -22, .column = 0, .text = "E" };
	struct tacho_buf b;
	char name[8];

	memset(&errors, 0, sizeof(errors));
	tacho_buf_init(&b, 1 << 16);
	for (uint64_t i = 1; i <= 11; i++) {
		(void)snprintf(name, sizeof(name), "c%d", (int)i);
		tacho_errlog_add(&errors, i * 100000000000, "l", name, &e);
	}
	CHECK_EQ(errors.nr, 11);
	CHECK(!strncmp(printed(&b), "[  400.000000] l: error: E\n  Command: c4\n", 40));
	CHECK(strstr(printed(&b), "[ 1100.000000] l: error: E\n  Command: c11\n           ^\n"));
	CHECK(!strstr(printed(&b), "c3\n"));
	CHECK_EQ(b.len, 8 * (27 + 14 + 13) + 2);
	tacho_buf_release(&b);
}

/* What is too long is cut, and the caret stays near it. */
static void test_long(void)
{
	struct tacho_cmd_error e = { .err = -22, .column = UINT32_MAX,
				     .text = "E" };
	struct tacho_buf b;
	static char text[3 * TACHO_COMMAND_MAX];

	memset(&errors, 0, sizeof(errors));
	memset(text, 'x', sizeof(text) - 1);
	tacho_buf_init(&b, 1 << 16);
	tacho_errlog_add(&errors, 0, text, text, &e);
	CHECK_EQ(strlen(errors.entry[0].loc), sizeof(errors.entry[0].loc) - 1);
	CHECK_EQ(strlen(errors.entry[0].command), TACHO_COMMAND_MAX - 1);
	CHECK(strlen(printed(&b)) < 2 * TACHO_COMMAND_MAX + 200);
	CHECK_EQ(b.data[b.len - 2], '^');
	tacho_buf_release(&b);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_first_error_stays());
	TEST(test_print());
	TEST(test_ring());
	TEST(test_long());
	return test_done();
}
