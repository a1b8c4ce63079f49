/* SPDX-License-Identifier: MIT */
/*
 * store.h - kernel records, taken from the kernel and kept.
 *
 * The kernel gives raw pages once: who reads them has consumed them.  So what a tree reads
 * from its instance in the kernel goes into a store first, from which `trace`
 * reads as often as it likes:
 *
 *	kernel's ring --drain--> [engine] --> blocks of each CPU --> sources
 *
 * Nothing is drained while nobody reads and the engine has nothing to do: the kernel's
 * ring overwrites itself then, as it does without us.  What is here is bounded by the
 * instance's buffer size; the oldest blocks go and are counted (overrun).
 *
 * A block is 64 KiB; records are appended to the last one of a CPU.  `len` only grows, so
 * a reader that holds a block reads up to the `len` it saw, without a lock.
 * Blocks are counted references: one is held by the store until it gives the block
 * up, one by each source that reads it.
 *
 * The engine (tree_engine_*): triggers that this kernel lacks (hist, snapshot) and
 * synthetic events are done here, on the records of all CPUs merged by time,
 * before they go into blocks.  An event that is enabled in the kernel for its
 * triggers only does not get there.  While the engine has something to do
 * the tree's thread drains at least every TREE_PUMP_MS.
 *
 * All calls under inst->lock, but for those of a source that is open.
 */
#ifndef TACHO_COMPAT_FTRACE_STORE_H
#define TACHO_COMPAT_FTRACE_STORE_H

#include "engine/engine.h"
#include "compat/ftrace/priv.h"
#include "stream/source.h"

#define TREE_PUMP_MS	20

/* The kernel's records of a moment are all there so much later; see stream/live_kernel.h. */
#define TREE_SLACK_NS	UINT64_C(200000)

/* With inst->kernel there; sets inst->store.  0 or -errno. */
int tree_store_new(struct tree_inst *inst);
void tree_store_free(struct tree_store *store);

/* Other events may be enabled in the kernel than before. */
void tree_store_events_changed(struct tree_inst *inst);

/* Takes all that the kernel has.  0 or -errno; 0 without a store. */
int tree_store_drain(struct tree_inst *inst);

/*
 * The same, and all of it is through the engine, if there is one: of what it gets by
 * tree_store_drain(), it holds the last TREE_SLACK_NS back, as older records of other CPUs
 * may still come.  For who is to see, or to change what happens to, all that came so far.
 */
int tree_store_settle(struct tree_inst *inst);

/* Empties one CPU (-1: all), the kernel's ring included; the snapshot stays. */
void tree_store_clear(struct tree_inst *inst, int32_t cpu);

/*
 * What was drained becomes the snapshot, but for what is later than end (ticks): that goes behind
 * what was the snapshot, which is to be read now.  0 or -ENOMEM.  drop: there is none any
 * more.
 */
int tree_store_snapshot(struct tree_inst *inst, uint64_t end);
void tree_store_drop_snapshot(struct tree_inst *inst);

struct tree_store_stats {
	/* in blocks; of what the kernel has not given yet, nothing */
	uint64_t entries, bytes;
	uint64_t overrun;		/* lost by overwriting, in the kernel or here */
};
void tree_store_stats(const struct tree_inst *inst, uint32_t cpu,
		      struct tree_store_stats *s);

/* As tacho_ring_closed_subs(), of a CPU's blocks. */
uint32_t tree_store_closed(const struct tree_inst *inst, uint32_t cpu, uint64_t since,
			   uint32_t *most);

/* Records that ever came. */
uint64_t tree_store_taken(const struct tree_inst *inst);

/*
 * A source of the store's records.  live: what comes later follows (the source drains by
 * itself); else what is there now, or the snapshot.  The source holds no lock
 * between calls.  0 or -errno.
 */
enum tree_store_part { TREE_STORE_LIVE, TREE_STORE_NOW, TREE_STORE_SNAPSHOT };
int tree_store_source(struct tree_inst *inst, enum tree_store_part part,
		      struct tacho_source **source);

/*
 * A live source drains the kernel once, and then again when this was called: when
 * its stream had nothing more.  Otherwise a busy CPU beside idle ones would be drained all
 * the time, a few records at once, for each look moves the idle ones' horizon.
 */
void tree_store_source_again(struct tacho_source *source);

/* ---- the engine ---- */

/*
 * Whether a trigger's text (with or without '!') is for the engine.  Plain histograms are
 * the kernel's, where it has them.  Snapshots never are: they are of programs' records, too.
 */
bool tree_engine_takes(struct tree_inst *inst, const char *text);

/* 0 or -errno, and what is wrong in e. */
int tree_engine_trigger(struct tree_inst *inst, const char *system,
			const char *event, const char *text, struct tacho_cmd_error *e);
int tree_engine_synth(struct tree_inst *inst, const char *text,
		      struct tacho_cmd_error *e);

/* The type of an event of the kernel's; NULL: there is none, or no kernel. */
const struct tacho_type *tree_engine_type_of(struct tree_inst *inst, const char *system,
					     const char *name);
/* An event probe "group:name" on an event of the kernel or a synthetic one; as those above. */
int tree_engine_eprobe(struct tree_inst *inst, const char *full, const char *text,
		       struct tacho_cmd_error *e);
/* It is in no use any more. */
void tree_engine_eprobe_remove(struct tree_inst *inst, const char *full);
/* After a restart: those of the session that are enabled are so in the kernel again. */
void tree_engine_eprobes_restore(struct tree_inst *inst);

/* The filter of an event that is made here; of others it is not the engine's. */
void tree_engine_filter(struct tree_inst *inst, const char *system, const char *name,
			const char *text);

/*
 * marked.c: a marker that thread pid has written to the session's rings on a CPU, len bytes
 * of text.
 * What triggers on markers do is done when it returns.
 */
void tree_marked(struct tree_inst *inst, int32_t pid, uint32_t cpu, const char *text,
		 size_t len);

/* The engine's event, if it has ever had to do with it; else NULL. */
struct tacho_engine_event *tree_engine_event(struct tree_inst *inst,
					     const char *system, const char *name);
struct tacho_engine *tree_engine(struct tree_inst *inst);	/* may be NULL */
const struct tacho_names *tree_engine_names(struct tree_inst *inst);

/* Recording of an event that the engine has triggers on; see enum in events.c. */
void tree_engine_enable(struct tree_inst *inst, struct tacho_engine_event *event,
			bool on);

/* What it has triggers on is enabled in the kernel, whatever was switched off since. */
void tree_engine_enable_wanted(struct tree_inst *inst);

/* Whether any trigger is set: the tree's thread is to drain. */
bool tree_engine_busy(const struct tree_inst *inst);

#endif
