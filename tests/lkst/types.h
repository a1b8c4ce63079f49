/* SPDX-License-Identifier: MIT */
/* Event types that two files of one program include. */
#ifndef TACHO_TESTS_LKST_TYPES_H
#define TACHO_TESTS_LKST_TYPES_H

#include <linux/lkst.h>

LKST_ETYPE_DEF(0x100, INLINE, TEST_ONE, "first \"test\" event 100%", "a", "b", "c: d", "d")
LKST_ETYPE_DEF(0x101, NORMAL, TEST_TWO, "second", "a", "", "", "")
LKST_ETYPE_DEF(0x102, NORMAL, TEST_NUL, "", "", "", "", "")
LKST_ETYPE_DEF_MODULE(0x103, MODULE, TEST_MODULE, "of a module", "x", "y", "z", "w")
LKST_ETYPE_DEF_MODULE(0x104, TEST_SEVEN, "without a hook type", "x", "y", "z", "w")

void other_hit(uint64_t n);

#endif
