// SPDX-License-Identifier: MIT
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "request_lttng.h"

void lttng_begin(uint64_t id, uint64_t at, uint64_t kind);
void lttng_end(uint64_t id, uint64_t at, const char *name);

void lttng_begin(uint64_t id, uint64_t at, uint64_t kind)
{
	lttng_ust_tracepoint(request, begin, id, at, kind);
}

void lttng_end(uint64_t id, uint64_t at, const char *name)
{
	lttng_ust_tracepoint(request, end, id, at, name);
}
