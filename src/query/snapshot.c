// SPDX-License-Identifier: MIT
/* The newest records, and the snapshot of them. */
#include <errno.h>

#include "query/query_priv.h"

#define COMMAND_ARENA	((size_t)1 << 20)

void tacho_query_snapshot_size(struct tacho_query *q, size_t size)
{
	q->window_size = size < TACHO_WINDOW_MIN ? TACHO_WINDOW_MIN : size;
}

/* Whether a command takes snapshots.  Parse errors are reported elsewhere. */
static bool takes_snapshot(const char *text)
{
	struct tacho_trigger_spec spec;
	struct tacho_arena arena;
	bool takes = false;

	tacho_arena_init(&arena, COMMAND_ARENA);
	if (!tacho_trigger_parse(&spec, &arena, text, NULL)) {
		takes = spec.cmd == TACHO_TRIGGER_SNAPSHOT;
		if (spec.cmd == TACHO_TRIGGER_HIST)
			for (uint32_t i = 0; i < spec.hist.nr_actions; i++)
				takes |= spec.hist.action[i]->action ==
					 TACHO_DO_SNAPSHOT;
	}
	tacho_arena_release(&arena);
	return takes;
}

int query_snapshot_prepare(struct tacho_query *q, const char *text)
{
	if (q->window || !takes_snapshot(text))
		return 0;
	return tacho_window_new(&q->window, q->window_size);
}

void query_snapshot_take(void *arg, const struct tacho_rec *cause)
{
	struct tacho_query *q = arg;

	(void)cause;
	/* without a window, the caller reads the number and takes the snapshot */
	if (q->window)
		tacho_window_take(q->window);
	q->nr_snapshots++;
}

bool tacho_query_has_snapshot(const struct tacho_query *q)
{
	return q->window;
}

uint64_t tacho_query_snapshots(const struct tacho_query *q)
{
	return q->nr_snapshots;
}

int tacho_query_snapshot(struct tacho_query *q, struct tacho_stream **stream)
{
	if (!q->window)
		return -ENOENT;
	return tacho_window_open(q->window, q->stream, stream);
}
