/* SPDX-License-Identifier: MIT */
/*
 * indexing.h - the index of the trace that is shown: made by a thread of its own, read by the
 * serving thread.
 *
 *	view_indexing_start()	opens an index that is complete, or begins to make one
 *	view_indexing_index()	what is there so far
 *	view_indexing_stop()
 *
 * The maker commits again and again (index/index.h); a reader sees what the last commit has, and
 * is opened again when it asks for more, at most every VIEW_INDEX_AGAIN_NS.  `generation` counts
 * the readers: what was answered by one is not changed by the next where a tile is closed.
 *
 * Threads: all calls are the serving thread's, or come before and after it.  The maker shares with
 * it: progress and state (atomics), its error (written before the state says so).
 */
#ifndef TACHO_VIEW_INDEXING_H
#define TACHO_VIEW_INDEXING_H

#include "app/index.h"

#define VIEW_INDEX_AGAIN_NS	UINT64_C(300000000)

enum view_index_state { VIEW_INDEX_BUILDING, VIEW_INDEX_READY, VIEW_INDEX_FAILED };

struct view_indexing;

/* trace, rules: outlive it.  0 or a negative errno with d. */
int view_indexing_start(struct view_indexing **indexing, const char *trace,
			const struct model_rules *rules, unsigned int flags,
			struct tacho_diag *d);
/* Ends the making; what was made stays and is continued another time. */
void view_indexing_stop(struct view_indexing *indexing);

/* The newest reader, valid until the next call; NULL: none yet. */
struct index *view_indexing_index(struct view_indexing *indexing, uint32_t *generation);

struct view_indexing_info {
	enum view_index_state state;
	double part;			/* 0 to 1 */
	const char *error;		/* VIEW_INDEX_FAILED */
};
void view_indexing_info(struct view_indexing *indexing, struct view_indexing_info *info);

#endif
