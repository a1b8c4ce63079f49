// SPDX-License-Identifier: MIT
/*
 * orders: three events of its own, then a span and a text; says what it did on stdout.
 * With an argument it does so for each byte on stdin.
 */
#define CREATE_TRACE_POINTS
#include "orders_trace.h"

#include <errno.h>
#include <stdio.h>
#include <tacho/marker.h>
#include <tacho/printk.h>

static int work(void)
{
	for (int id = 1; id <= 3; id++) {
		errno = 5;
		trace_order_done(id, id % 2 ? "alice" : "bob");
		if (errno != 5)
			return 3;
	}
	for (int i = 1; i <= 2; i++) {
		TACHO_SPAN("round");
		tacho_printk("round %d of %s", i, "two");
	}
	puts("done");
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1)
		return work();
	for (int ret; getchar() != EOF; (void)fflush(stdout)) {
		ret = work();
		if (ret)
			return ret;
	}
	return 0;
}
