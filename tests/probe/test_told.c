// SPDX-License-Identifier: MIT
/* The set of objects that a session was told of: objects with one place stay in it. */
#include "unit/test.h"

#include "probe/told.h"

int main(void)
{
	static uint64_t told[PROBE_TOLD];
	uint32_t missing = 0;

	CHECK(!told_has(told, 1));
	/* 20 objects of one place, and the last one of them next to the end */
	for (uint64_t place = 0; place < PROBE_TOLD; place += PROBE_TOLD - 1)
		for (uint64_t i = 1; i <= 10; i++)
			told_add(told, place << 32 | i);
	for (uint64_t place = 0; place < PROBE_TOLD; place += PROBE_TOLD - 1)
		for (uint64_t i = 1; i <= 10; i++)
			missing += !told_has(told, place << 32 | i);
	CHECK_EQ(missing, 0);
	CHECK(!told_has(told, 11));
	/* more than there is room for: the newest is there */
	for (uint64_t i = 1; i <= 100; i++) {
		told_add(told, i);
		CHECK(told_has(told, i));
	}
	told_clear(told);
	CHECK(!told_has(told, 1) && !told_has(told, 100));
	return test_done();
}
