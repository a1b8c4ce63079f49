// SPDX-License-Identifier: MIT
/* The set of objects that a session was told of: objects with one place stay in it. */
#include "unit/test.h"

#include "runtime/announced.h"

static void test_announced(void)
{
	static uint64_t announced[RUNTIME_ANNOUNCED];
	uint32_t missing = 0;

	CHECK(!announced_has(announced, 1));
	/* 20 objects of one place, and the last one of them next to the end */
	for (uint64_t place = 0; place < RUNTIME_ANNOUNCED; place += RUNTIME_ANNOUNCED - 1)
		for (uint64_t i = 1; i <= 10; i++)
			announced_add(announced, place << 32 | i);
	for (uint64_t place = 0; place < RUNTIME_ANNOUNCED; place += RUNTIME_ANNOUNCED - 1)
		for (uint64_t i = 1; i <= 10; i++)
			missing += !announced_has(announced, place << 32 | i);
	CHECK_EQ(missing, 0);
	CHECK(!announced_has(announced, 11));
	/* more than there is room for: the newest is there */
	for (uint64_t i = 1; i <= 100; i++) {
		announced_add(announced, i);
		CHECK(announced_has(announced, i));
	}
	announced_clear(announced);
	CHECK(!announced_has(announced, 1) && !announced_has(announced, 100));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_announced());
	return test_done();
}
