// SPDX-License-Identifier: MIT
/* lttng_prog - emits events for bt2_test to read from an LTTng trace. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

int main(void)
{
	static const int v[3] = { 1, -2, 3 };

	for (int i = 0; i < 1000; i++) {
		lttng_ust_tracepoint(tacho_test, all, i, i % 2 ? "odd" : "even", v);
		lttng_ust_tracepoint(tacho_test, none);
	}
	return 0;
}
