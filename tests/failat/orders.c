// SPDX-License-Identifier: MIT
/* orders: three events of its own, then a span and a text; says what it did on stdout. */
#define CREATE_TRACE_POINTS
#include "orders_trace.h"

#include <errno.h>
#include <stdio.h>
#include <tacho/marker.h>
#include <tacho/printk.h>

int main(void)
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
