/* SPDX-License-Identifier: MIT */
/* A second file with markers and a printk. */
#include <tacho/marker.h>
#include <tacho/printk.h>

#include "oneline.h"

static inline void inlined(int n)
{
	tacho_printk("other %d", n);
}

void oneline_other(void)
{
	TACHO_MARK("other file");
	inlined(5);
}
