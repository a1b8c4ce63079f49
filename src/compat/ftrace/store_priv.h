/* SPDX-License-Identifier: MIT */
/* store_priv.h - shared by store.c and engine.c. */
#ifndef TACHO_COMPAT_FTRACE_STORE_PRIV_H
#define TACHO_COMPAT_FTRACE_STORE_PRIV_H

#include "compat/ftrace/store.h"
#include "kdata/types.h"
#include "tracefs/pump.h"
#include "kdata/tasks.h"
#include "query/query.h"
#include "stream/stream.h"

#define TREE_BLOCK	65536u

struct tree_block {
	uint32_t refs;		/* atomic */
	uint32_t len;		/* bytes of records; only grows, release */
	struct tree_block *next;
	uint64_t seq;		/* counts a lane's blocks */
	uint64_t begin, end;	/* ticks of the first and the last record */
	uint64_t lost;		/* records lost before the first */
	uint32_t events;
	bool dropped;		/* not in its lane any more */
	unsigned char data[TREE_BLOCK] __attribute__((aligned(8)));
};

/* One CPU's. */
struct tree_lane {
	struct tree_block *first, **last, *tail;
	uint64_t next_seq;
	uint64_t nr, events, bytes;	/* blocks, and what is in them */
	uint64_t lost;			/* not in any block yet */
	uint64_t overrun;		/* in all */
};

/* The kernel's events by id (load.c). */
struct tree_ids {
	struct tacho_arena arena;
	const struct tacho_kernel_event **event;	/* NULL: not looked up so far */
	uint64_t time;		/* ns: when that was; 0: never */
	bool stale;		/* there may be others by now */
};

struct tree_store {
	struct tree_inst *inst;
	struct tacho_ktypes types;
	struct tacho_ktasks tasks;
	struct tacho_kernel_pump *pump;
	struct tree_ids ids;
	uint32_t named;			/* tasks that existed when all names were collected */
	uint32_t met;			/* ... when names of new ones were */
	uint32_t nr_cpus;
	struct tree_lane *lane;		/* what is read */
	/* what the pump fills: the same without an engine, else with a lane of markers after */
	struct tree_lane *front;
	uint64_t mark_time;		/* ticks of the last marker there; 0: none was */
	uint32_t mark_cpu;		/* and its CPU */
	struct tree_lane *snapshot;	/* or NULL */
	uint32_t turn;			/* counts how often the two were swapped */
	uint64_t taken;			/* records from the kernel, and from the engine */
	uint64_t horizon;		/* ticks: when the kernel was drained last */
	uint64_t slack;			/* ticks */

	/* engine.c */
	struct tacho_stream *stream;	/* of front */
	struct tacho_query *query;	/* NULL: no engine so far */
	uint32_t commands;		/* triggers that are set */
	const struct tacho_engine_event *marker;	/* that of markers; NULL: none is on it */
	uint64_t snapshots;		/* that they took so far */
	uint64_t stacktraces;		/* that they asked for so far */
	const struct tacho_type **made;	/* types of synthetic events, by id - TREE_ID_FIRST */
	uint32_t nr_made;
};

void tree_lane_init(struct tree_lane *l);
void tree_lane_clear(struct tree_lane *l);
/* Drops fully read blocks. */
void tree_lane_trim_read(struct tree_lane *l);

/* An event of an unknown type came: reads the type, if the kernel has such an event. */
void tree_store_load_type(struct tree_store *s, uint32_t id);

/* The type of a kernel event, read from the kernel if necessary; or NULL. */
const struct tacho_type *tree_store_type(struct tree_store *s, const char *system,
					 const char *name);

/* tree_store_source(); locked: its calls come under inst->lock. */
int tree_store_open(struct tree_inst *inst, enum tree_store_part which, bool locked,
		    struct tacho_source **out);

/*
 * Adds a marker for the engine, which must exist, at its time between the kernel's records.  One
 * at a time: the engine must have processed the previous one.
 */
int tree_store_mark(struct tree_store *s, uint32_t cpu, const void *record, uint32_t size,
		    uint64_t time);

/* Called after the engine: stores one record, or counts n lost ones. */
int tree_store_put(struct tree_store *s, uint32_t cpu, const void *record,
		   uint32_t size, uint64_t time);
void tree_store_lost(struct tree_store *s, uint32_t cpu, uint64_t n);

/* Passes the pump's records through the engine, if there is one. */
void tree_engine_run(struct tree_store *s);
/* Whether a record is the marker that tree_store_mark() had. */
bool tree_is_marked(const struct tree_store *s, const struct tacho_record *r);
/* The stack of a marker's writer, in the kernel, after the marker. */
void tree_mark_stack(struct tree_store *s, const struct tacho_record *r);
void tree_engine_free(struct tree_store *s);
/* The type of a synthetic event's record, by the tree's id; or NULL. */
const struct tacho_type *tree_engine_type(struct tree_store *s, uint32_t id);

#endif
