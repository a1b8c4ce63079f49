// SPDX-License-Identifier: MIT
/*
 * The cost of an LKST_HOOK() beside a tracepoint with the same payload, in ns per hit:
 * lkst_hook_bench [CHUNKS].
 *
 * The loops take turns (turns.h).  Both go to the session that somebody has made.
 * lkst_hook_bench select NAME: selects a maskset.
 * Prints one JSON object.
 */
#include <linux/lkst.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define CREATE_TRACE_POINTS
#include "lkst_hook_trace.h"

LKST_ETYPE_DEF(0x1f0, NORMAL, BENCH_EVENT, "event of a benchmark", "a", "b", "c", "d")

static void hooks(void)
{
	for (uint64_t i = 0; i < HITS; i++) {
		BARRIER(i);
		LKST_HOOK(BENCH_EVENT, i, i * 2, i * 3, i * 4);
	}
}

static void tracepoints(void)
{
	for (uint64_t i = 0; i < HITS; i++) {
		BARRIER(i);
		trace_seven(i, i * 2, i * 3, i * 4, i * 5, i * 6, i * 7);
	}
}

static void clocks(void)
{
#if defined(__x86_64__)
	for (uint64_t i = 0; i < HITS; i++) {
		uint64_t t = __builtin_ia32_rdtsc();

		BARRIER(t);
	}
#endif
}

static const struct turn loops[] = { { "hook", hooks }, { "tracepoint", tracepoints }, { "rdtsc", clocks } };

#define NR_LOOPS (sizeof(loops) / sizeof(loops[0]))

static int select_maskset(const char *name)
{
	static struct lkst_maskset_body body = {
		.len = 1, .entry = { { 0x1f0, LKST_EVHANDLER_ID_LOG } },
	};
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, LKST_MASKSET_SIZE(1), &body };
	int id = lkst_maskset_get_id(name);

	if (id == LKST_MASKSET_ID_VOID) {
		strncpy(body.name, name, sizeof(body.name) - 1);
		id = lkst_maskset_write(&p);
		id = id ? id : p.id;
	}
	return id < 0 || lkst_maskset_set((lkst_maskset_id)id) ? 1 : 0;
}

int main(int argc, char **argv)
{
	long chunks = argc > 1 ? atol(argv[1]) : 5000;

	if (argc > 2)
		return select_maskset(argv[2]);
	take_turns(loops, NR_LOOPS, chunks);
	return 0;
}
