/* SPDX-License-Identifier: MIT */
/* timed - hits timed:took with 0, 1, 2. */
#define CREATE_TRACE_POINTS
#include "timed_trace.h"

int main(void)
{
	for (u64 i = 0; i < 3; i++)
		trace_took(i);
	return 0;
}
