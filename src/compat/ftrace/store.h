/* SPDX-License-Identifier: MIT */
/*
 * store.h - kernel records that were read from the kernel.
 *
 * Reading the kernel's raw pages consumes them.  So a tree copies the records of its kernel
 * instance into a store, which `trace` can read repeatedly:
 *
 *	kernel's ring --drain--> [engine] --> blocks of each CPU --> sources
 *
 * Without a reader and without work for the engine, the kernel is not drained: its ring then
 * overwrites its oldest records, as without tacho.  The store's size is limited to the instance's
 * buffer size; the oldest blocks are dropped and counted (overrun).
 *
 * A block is 64 KiB; records are appended to the last one of a CPU.  `len` only grows, so
 * a reader that holds a block reads up to the `len` it saw, without a lock.
 * Blocks are reference-counted: the store has one reference until it drops the block, and each
 * source that reads it has one.
 *
 * The engine (tree_engine_*): triggers that this kernel lacks (hist, snapshot) and synthetic
 * events are executed here, on the records of all CPUs merged by time, before the records are
 * stored in blocks.  Records of an event that is enabled in the kernel only for its triggers are
 * not stored.  While the engine has work, the tree's thread drains at least every TREE_PUMP_MS.
 *
 * All calls are under inst->lock, except those of an open source.
 */
#ifndef TACHO_COMPAT_FTRACE_STORE_H
#define TACHO_COMPAT_FTRACE_STORE_H

#include "engine/engine.h"
#include "compat/ftrace/priv.h"
#include "stream/source.h"

#define TREE_PUMP_MS	20

/* After this time all kernel records of a given time are available; see stream/live_kernel.h. */
#define TREE_SLACK_NS	UINT64_C(200000)

/* With inst->kernel there; sets inst->store.  0 or -errno. */
int tree_store_new(struct tree_inst *inst);
void tree_store_free(struct tree_store *store);

/* Call it after the events enabled in the kernel may have changed. */
void tree_store_events_changed(struct tree_inst *inst);

/* Reads all records of the kernel.  Returns 0 or -errno; 0 without a store. */
int tree_store_drain(struct tree_inst *inst);

/*
 * The same, and passes all records through the engine, if there is one.  With tree_store_drain()
 * alone the engine delays the last TREE_SLACK_NS, because older records of other CPUs may follow.
 * For calls that need all records so far, or change their processing.
 */
int tree_store_settle(struct tree_inst *inst);

/* Empties one CPU (-1: all), including the kernel's ring; the snapshot stays. */
void tree_store_clear(struct tree_inst *inst, int32_t cpu);

/*
 * Exchanges the drained records and the snapshot; records later than end (ticks) are appended to
 * the old snapshot, which becomes the current records.  Returns 0 or -ENOMEM. drop: removes the
 * snapshot.
 */
int tree_store_snapshot(struct tree_inst *inst, uint64_t end);
void tree_store_drop_snapshot(struct tree_inst *inst);

struct tree_store_stats {
	/* in blocks; excludes records still in the kernel */
	uint64_t entries, bytes;
	uint64_t overrun;		/* lost by overwriting, in the kernel or here */
};
void tree_store_stats(const struct tree_inst *inst, uint32_t cpu,
		      struct tree_store_stats *s);

/* As tacho_ring_closed_subs(), of a CPU's blocks. */
uint32_t tree_store_closed(const struct tree_inst *inst, uint32_t cpu, uint64_t since,
			   uint32_t *most);

/* Total number of records read. */
uint64_t tree_store_taken(const struct tree_inst *inst);

/*
 * A source of the store's records. live: later records follow (the source drains itself);
 * otherwise the current records, or the snapshot.  The source holds no lock between calls.  0 or
 * -errno.
 */
enum tree_store_part { TREE_STORE_LIVE, TREE_STORE_NOW, TREE_STORE_SNAPSHOT };
int tree_store_source(struct tree_inst *inst, enum tree_store_part part,
		      struct tacho_source **source);

/*
 * Lets a live source drain the kernel again; it drains once after each such call.  Call it when
 * the stream has no more records.  Otherwise one busy CPU would be drained constantly, a few
 * records at a time, because each poll moves the horizon of the idle CPUs.
 */
void tree_store_source_again(struct tacho_source *source);

/* ---- the engine ---- */

/*
 * Whether a trigger's text (with or without '!') is for the engine.  Plain histograms run in the
 * kernel, if it has them.  Snapshots always run here, because they include programs' records.
 */
bool tree_engine_takes(struct tree_inst *inst, const char *text);

/* Returns 0 or -errno, with e filled in. */
int tree_engine_trigger(struct tree_inst *inst, const char *system,
			const char *event, const char *text, struct tacho_cmd_error *e);
int tree_engine_synth(struct tree_inst *inst, const char *text,
		      struct tacho_cmd_error *e);

/* The type of a kernel event; NULL: no such event, or no kernel. */
const struct tacho_type *tree_engine_type_of(struct tree_inst *inst, const char *system,
					     const char *name);
/* An event probe "group:name" on an event of the kernel or a synthetic one; as those above. */
int tree_engine_eprobe(struct tree_inst *inst, const char *full, const char *text,
		       struct tacho_cmd_error *e);
/* Removes an event probe that is no longer used. */
void tree_engine_eprobe_remove(struct tree_inst *inst, const char *full);
/* After a restart: enables the session's enabled event probes in the kernel again. */
void tree_engine_eprobes_restore(struct tree_inst *inst);

/* Sets the filter of a generated event; filters of other events are not in the engine. */
void tree_engine_filter(struct tree_inst *inst, const char *system, const char *name,
			const char *text);

/*
 * marked.c: a marker that thread pid has written to the session's rings on a CPU, len bytes
 * of text.
 * When it returns, triggers on markers have run.
 */
void tree_marked(struct tree_inst *inst, int32_t pid, uint32_t cpu, const char *text,
		 size_t len);

/* The engine's event, if the engine knows it; otherwise NULL. */
struct tacho_engine_event *tree_engine_event(struct tree_inst *inst,
					     const char *system, const char *name);
struct tacho_engine *tree_engine(struct tree_inst *inst);	/* may be NULL */
const struct tacho_names *tree_engine_names(struct tree_inst *inst);

/* Recording of an event that the engine has triggers on; see enum in events.c. */
void tree_engine_enable(struct tree_inst *inst, struct tacho_engine_event *event,
			bool on);

/* Enables the events with triggers in the kernel again, if they were disabled since. */
void tree_engine_enable_wanted(struct tree_inst *inst);

/* Whether any trigger is set, so that the tree's thread must drain. */
bool tree_engine_busy(const struct tree_inst *inst);

#endif
