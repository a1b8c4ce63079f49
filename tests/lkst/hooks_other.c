// SPDX-License-Identifier: MIT
/* A second file with the same types: they are one. */
#include "lkst/types.h"

void other_hit(uint64_t n)
{
	LKST_HOOK_INLINE(TEST_ONE, n, LKST_ARG32(1, 2), LKST_ARG(-1), LKST_ARGP(&n));
}
