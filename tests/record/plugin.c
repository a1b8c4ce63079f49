// SPDX-License-Identifier: MIT
/* A traced library that is loaded and unloaded. */
#define CREATE_TRACE_POINTS
#include "rec_trace.h"

__attribute__((visibility("default")))
void plugin_hits(uint64_t slot, uint64_t n);

void plugin_hits(uint64_t slot, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		trace_other(slot, i);
}
