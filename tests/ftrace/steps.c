// SPDX-License-Identifier: MIT
/*
 * A traced program that does as it is told: for each line "FIRST COUNT" on stdin it makes
 * so many events steps:step, and answers with a line.
 */
#include <stdio.h>

#define CREATE_TRACE_POINTS
#include "steps_trace.h"

int main(void)
{
	unsigned long first, count;
	char text[32];

	while (scanf("%lu %lu", &first, &count) == 2) {
		for (unsigned long n = first; n < first + count; n++) {
			(void)snprintf(text, sizeof(text), "step %lu", n);
			trace_step(n, text);
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
