/* SPDX-License-Identifier: MIT */
/*
 * model.h - records in, intervals out.
 *
 * docs/model.md specifies what the model makes of a trace: tracks, slices, states, counters,
 * flows, losses, and the rules that say which event begins or ends what.  This is the interface.
 *
 *	M1  model_rules_new()	rules: the user's, then the built-in ones
 *	M2  model_new()		a model over a stream whose records have not been read
 *	M3  model_record()	each record, in the order of the stream
 *	M4  model_finish()	ends what is open
 *	M5  model_free(), model_rules_free()
 *
 * Between two records of M3, model_save() writes the state as bytes.  model_restore(), in place
 * of M2, makes a model of them that goes on with the next record.
 *
 * Results
 *	The model hands each result to a function of struct model_ops when it is complete, from
 *	inside M3 or M4.  So slices and states come in the order of their ends; a track comes
 *	before everything that refers to it.  The structs and the strings in them are valid
 *	during the call; the strings also until model_free().  A function that returns a
 *	negative number ends the model: M3 and M4 return that number from then on.
 *
 * Memory
 *	What is open: a struct for each thread that lives, each open slice, each CPU, device,
 *	process and counter, and each different name once.  Nothing depends on the number of
 *	records.
 *
 * Invariants, which tests check on random traces
 *	J1	States of one thread follow each other without gap or overlap, from its birth
 *		(or T0) to its end (or T1).
 *	J2	So do the slices of a `running` track, from T0 to T1.
 *	J3	A thread is running in at most one place at a time, and the `running` slices of a
 *		CPU and the `running` states on it are the same intervals.
 *	J4	Slices of one track and depth do not overlap; a nested slice lies in the one
 *		above it.
 *	J5	T0 <= begin <= end <= T1; a flow's begin is not after its end.
 *
 * The types that the stream has are known to the model when it is made, as far as the source has
 * them then; a rule with `unless=` depends on that.
 *
 * Threads: one at a time.  Different models are independent; rules may be shared by models.
 */
#ifndef TACHO_MODEL_MODEL_H
#define TACHO_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "stream/stream.h"

/* ---- what comes out ---- */

#define MODEL_NO_RECORD	UINT64_MAX	/* no record, or not known which */
#define MODEL_NO_CPU	UINT32_MAX

enum model_track_kind {
	MODEL_MACHINE,		/* track 0 */
	MODEL_CPU,
	MODEL_RUNNING,
	MODEL_IRQ,
	MODEL_SOFTIRQ,
	MODEL_PROCESS,
	MODEL_THREAD,
	MODEL_STATE,
	MODEL_CALLS,
	MODEL_DEVICE,
	MODEL_SPAN,
	MODEL_COUNTER,
	MODEL_NR_TRACK_KINDS,
};

struct model_track {
	uint32_t id;
	uint32_t parent;	/* of the machine: 0 */
	enum model_track_kind kind;
	int64_t number;		/* CPU, process, thread; else 0 */
	const char *name;	/* "worker/1", "259,0", "order"; may be empty */
};

enum model_flag {
	MODEL_BEGIN_UNKNOWN = 1,
	MODEL_END_UNKNOWN = 2,
	MODEL_UNCERTAIN = 4,
	MODEL_IO = 8,
	MODEL_PREEMPTED = 16,
	MODEL_BY_IRQ = 32,
};

struct model_slice {
	uint32_t track, depth;
	uint64_t begin, end;		/* ns since 1970 */
	uint64_t begin_record, end_record;
	const char *name, *category;
	uint32_t flags;			/* enum model_flag */
	uint32_t thread;		/* running: the thread's track; else 0 */
	/* devices and spans: where it began and ended, tracks as a flow has; 0: not known */
	uint32_t from, to;
};

/* States of threads.  From MODEL_QNX on: QNX's, by their numbers there (model_state_name()). */
enum model_thread_state {
	MODEL_UNKNOWN,
	MODEL_RUNS,
	MODEL_RUNNABLE,
	MODEL_SLEEPING,
	MODEL_UNINTERRUPTIBLE,
	MODEL_STOPPED,
	MODEL_TRACED,
	MODEL_PARKED,
	MODEL_IDLE,
	MODEL_DEAD,
	MODEL_QNX,
	MODEL_NR_STATES = MODEL_QNX + 28,
};

struct model_state {
	uint32_t track;
	uint32_t cpu;			/* running: where; else MODEL_NO_CPU */
	uint64_t begin, end;
	uint64_t begin_record, end_record;
	enum model_thread_state state;
	uint32_t flags;
	uint32_t waker;			/* runnable, woken: the waker's track; else 0 */
};

struct model_counter {
	uint32_t track;
	uint64_t time, record;
	double value;
};

/* A point on a track: a page fault, a mark of a program. */
struct model_instant {
	uint32_t track;
	uint64_t time, record;
	const char *name, *category;
};

struct model_flow {
	const char *kind;		/* "wake", "request", "span", "message", ... */
	uint32_t from, to;		/* tracks */
	uint64_t from_time, to_time;
	uint64_t from_record, to_record;
};

struct model_loss {
	uint32_t cpu;			/* MODEL_NO_CPU: not known */
	uint32_t source;		/* enum tacho_stream_id */
	uint64_t begin, end, count;
	uint64_t record;		/* the first one after it */
};

/* Each may be NULL.  Returns 0, or a negative number that ends the model. */
struct model_ops {
	/* A new track, or one that got another name. */
	int (*track)(void *arg, const struct model_track *track);
	int (*slice)(void *arg, const struct model_slice *slice);
	int (*state)(void *arg, const struct model_state *state);
	int (*counter)(void *arg, const struct model_counter *counter);
	int (*flow)(void *arg, const struct model_flow *flow);
	int (*loss)(void *arg, const struct model_loss *loss);
	int (*instant)(void *arg, const struct model_instant *instant);
};

/* Names for output: "running", "sleeping", "mutex"; "cpu", "calls".  Static. */
const char *model_state_name(enum model_thread_state state);
const char *model_track_kind_name(enum model_track_kind kind);

/* ---- rules ---- */

struct model_rules;

/*
 * model_rules_new - the built-in rules.
 *
 * Returns 0, or -ENOMEM with d filled in.
 */
int model_rules_new(struct model_rules **rules, struct tacho_diag *d);
void model_rules_free(struct model_rules *rules);

/*
 * model_rules_add - add rules of the user, before all that are there.
 *
 * text: lines of docs/model.md: rules, "span NAME: ...", "counter NAME: ...".  Copied.
 * Returns 0; -EINVAL with d filled in, d->offset being the byte in text, and nothing added;
 * -ENOMEM.
 */
int model_rules_add(struct model_rules *rules, const char *text, size_t len,
		    struct tacho_diag *d);

/* Appends all rules as text, in the order in which they apply. */
void model_rules_text(const struct model_rules *rules, struct tacho_buf *out);

/*
 * model_rules_unused - append a line for each rule of the user that fits no event type of a
 * stream: "a rule is not used: ...".
 *
 * After the last record: some sources know their types only then.  Returns 0 or -ENOMEM.
 */
int model_rules_unused(const struct model_rules *rules, struct tacho_stream *stream,
		       struct tacho_buf *out);

/* ---- the model ---- */

struct model;

struct model_config {
	struct tacho_stream *stream;		/* outlives the model */
	const struct model_rules *rules;	/* outlive the model */
	const struct model_ops *ops;
	void *arg;
};

/* What was read, and what found no place.  Numbers of records. */
struct model_stats {
	uint64_t records;
	uint64_t used;			/* for which there is a rule */
	uint64_t unmatched_ends;	/* ends inside other slices that did not begin */
	uint64_t unplaced;		/* whose thread or CPU is not known */
	uint64_t lost;
	uint64_t first, last;		/* T0 and T1, ns since 1970; 0: no records */
};

/* Returns 0, -ENOMEM, what an op returned for track 0, or the stream's error with d filled in. */
int model_new(struct model **model, const struct model_config *config, struct tacho_diag *d);
void model_free(struct model *model);

/*
 * model_record - one record.  r is the one that tacho_stream_next() returned last.
 *
 * Returns 0, -ENOMEM (the model cannot be used further), or what an op returned.
 */
int model_record(struct model *model, const struct tacho_record *r);

/* model_finish - no more records: ends everything at T1.  Returns as model_record(). */
int model_finish(struct model *model);

/*
 * model_until - the trace is looked at until a time, and no record lies between the last one that
 * was given and this time, which is not before it: T1 is that time.  Before model_finish().
 */
void model_until(struct model *model, uint64_t time);

const struct model_stats *model_stats(const struct model *model);

/* ---- saving and going on ---- */

/*
 * model_save - append the model's state between two records (save.h has the layout).
 *
 * The bytes depend on the trace, the rules and the record only: a restored model that goes on is
 * saved as the same bytes.  About 25 bytes for each thread that lives, 5 for each process there
 * was, 50 for each CPU; each text once.
 * Returns 0; the error of a model that failed; -ENOMEM; -EOVERFLOW: beyond the cap of out, or of
 * 2^27 lanes.
 */
int model_save(const struct model *model, struct tacho_buf *out);

/*
 * model_restore - a model that goes on where another one was saved.
 *
 * config: the same rules, and a stream of the same trace whose next record is the one after the
 * last that the other model was given.  From there on it hands out what the other would: the same
 * items, with the same ids of tracks and numbers of records, and the same statistics.  Tracks that
 * were there are not handed out again; a consumer that knows others than model_nr_tracks() has a
 * state of another trace.  One thing differs: names after the first 64 MiB of different ones
 * are "?", and a restored model begins to count again.
 *
 * state is not trusted: whatever it says, memory is at most about 100 times its size, and 16 MiB,
 * and what is handed out is inside T0 to T1 and of tracks below model_nr_tracks().  It has no
 * checksum.
 * Returns 0; -EBADMSG with d filled in: damaged; -EINVAL with d filled in: saved with other rules,
 * or by another version; -ENOMEM; the stream's error with d filled in.
 */
int model_restore(struct model **model, const struct model_config *config, const void *state,
		  size_t size, struct tacho_diag *d);

/* How many tracks there were so far; the next one gets this id. */
uint32_t model_nr_tracks(const struct model *model);

/*
 * model_tell_tracks - the op `track` for the threads that live and all processes, as they are
 * called now.
 *
 * For what knows the tracks of a restored model from elsewhere, with the names that they got later.
 * Returns 0 or what the op returned.
 */
int model_tell_tracks(struct model *model);

/* ---- what a trace has ---- */

enum model_offer {
	MODEL_OFFERS_RUNNING,	/* an event says which thread runs */
	MODEL_OFFERS_WAKING,	/* an event says that a thread is woken */
	MODEL_OFFERS_WAKER,	/* an event says who wakes it */
	MODEL_OFFERS_BEGINS,	/* an event begins a slice of a category */
	MODEL_OFFERS_ENDS,	/* an event ends one */
};

/*
 * model_offers - whether the stream has an event type that can become such an item.
 *
 * After the last record, as with model_rules_unused().  categories: "syscall|kercall"; of what
 * is not of slices NULL.  Returns 1, 0, or -ENOMEM.
 */
int model_offers(struct model *model, enum model_offer what, const char *categories);

/* ---- proposals ---- */

/*
 * model_suggest - append a span rule for each pair of event types of a stream that look like the
 * begin and end of a span, and for which there is no rule yet, one per line.
 *
 * Names that end in _enter/_exit, _entry/_exit, _begin/_end, _start/_end, _start/_done,
 * _start/_stop, _start/_finish, with the integer fields that both have and whose name is
 * "id", "key", "handle", "cookie", "seq" or ends in "_id", "_key", "_nr" as the key.
 *
 * Returns 0 or -ENOMEM.
 */
int model_suggest(const struct model_rules *rules, struct tacho_stream *stream,
		  struct tacho_buf *out);

#endif
