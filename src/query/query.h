/* SPDX-License-Identifier: MIT */
/*
 * query.h - the control language over a stream of records.
 *
 * A query is an engine instance (engine/engine.h) whose events come from a stream: a
 * trace file of any format, or a live session.  The same commands that work inside a
 * program or in the kernel are given here as text; then the stream is read and each
 * record is a hit.
 *
 *	tacho_query_new(&q, stream)
 *	tacho_query_synth(q, "wakeup_latency u64 lat; pid_t pid")
 *	tacho_query_trigger(q, "sched:sched_waking", "hist:keys=pid:ts0=common_timestamp")
 *	...
 *	while (tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD)
 *		tacho_query_hit(q, &r)
 *	tacho_query_print(q, ...)
 *
 * Types are added to the instance as commands name them and, for types that a live
 * source gets later, as their first record comes; commands that were given as
 * globs are applied to them then.
 *
 * What a record is to the engine: time in ns since 1970 would be useless as
 * common_timestamp, so it is the clock's own value in ns.  Addresses,
 * system calls and names of threads are the recording's, not this
 * machine's: of programs, if the stream has a resolver (resolve/resolve.h).  User memory is not
 * there: `.ustring` matches nothing, and neither does a `char *` into the kernel.
 *
 * Call stacks.  A key, variable or parameter common_stacktrace of an event of a stream is the
 * stack that was recorded behind it (pair.c): a kernel_stack record on the same CPU, or a
 * program's user_stack of the same thread, before anything else but an interrupt's
 * events.  So events that need one wait for it, and all behind them wait too, that
 * what is counted is counted in order.  One whose stack is not there is counted with an
 * empty stack.  The tracer's own functions are no part of a stack.
 *
 * Snapshots.  When a command takes them (the trigger, or an action of a histogram), the
 * newest records are kept in memory (stream/window.h), and a snapshot is what is there at
 * the moment; it takes the place of an older one.  The record that causes one is its
 * last, with its stack if it waited for that.  While tracing is off (traceoff), nothing
 * is kept.
 *
 * One thread.
 */
#ifndef TACHO_QUERY_QUERY_H
#define TACHO_QUERY_QUERY_H

#include <stdbool.h>

#include "engine/engine.h"
#include "stream/stream.h"

struct tacho_query;

/*
 * tacho_query_new - a query over a stream, which must outlive it.
 *
 * Returns 0 or -ENOMEM.
 */
int tacho_query_new(struct tacho_query **query, struct tacho_stream *stream);
void tacho_query_free(struct tacho_query *query);

/* Its instance, for printing and for the error log. */
struct tacho_engine *tacho_query_engine(const struct tacho_query *query);

/*
 * Commands.  event is "system:event", with globs, or one word that is either's name.
 * 0, or a negative errno with e filled in; -ENOENT: the stream has no such event
 * (and is not live).
 *
 * A filter or trigger by glob is set on every event that can take it; -EINVAL when
 * none can.
 */
int tacho_query_filter(struct tacho_query *query, const char *event,
		       const char *text, struct tacho_cmd_error *e);
int tacho_query_trigger(struct tacho_query *query, const char *event,
			const char *text, struct tacho_cmd_error *e);
int tacho_query_synth(struct tacho_query *query, const char *text,
		      struct tacho_cmd_error *e);

/*
 * Whether it is the event of run queues ("synthetic:run_queue"), which a command on it
 * defines and which is made of TACHO_RUN_QUEUE_NEEDS: see run_queue.h.
 */
bool tacho_query_is_run_queue(const char *event);
#define TACHO_RUN_QUEUE_NEEDS	"sched:sched_switch,sched:sched_wakeup," \
				"sched:sched_wakeup_new,sched:sched_migrate_task"

/*
 * The first command that could not be set on its event when that came, of a live stream:
 * its text, and in e what was wrong.  NULL: there is none.
 */
const char *tacho_query_late(const struct tacho_query *query,
			     struct tacho_cmd_error *e);

/*
 * tacho_query_offload - offload filters to the source of the records.
 *
 * After the last command and before the first record is read.  A live kernel then
 * sends fewer records, those for which no filter, or trigger, would do anything being
 * left out; what it does not take, or would answer otherwise (tacho_filter_offload()),
 * stays here, and everything when a command takes snapshots or wants call stacks.  Only
 * for who looks at nothing but hits: events without commands are as before.  Returns
 * for how many events it was done.
 */
uint32_t tacho_query_offload(struct tacho_query *query);

/*
 * One record: runs what is set on its event.  Whether it passes: no filter was
 * set on any event, or one on this event that it passes.  Of a query with
 * triggers that need call stacks it says true of all: they may run later.
 */
bool tacho_query_hit(struct tacho_query *query, const struct tacho_record *r);

/*
 * That was the last record: runs those that wait for their stacks.  Of a live stream it was
 * the last only for the reader: an event whose stack was not read yet is left out.
 */
void tacho_query_end(struct tacho_query *query);

/* Events that needed a call stack: that had one, and that had none. */
struct tacho_query_stacks {
	uint64_t found, missing;
};
struct tacho_query_stacks tacho_query_stacks(const struct tacho_query *query);

/*
 * How many bytes of records to keep for snapshots, before the first command that takes
 * one; else TACHO_QUERY_SNAPSHOT.  Less than TACHO_WINDOW_MIN counts as that.
 */
#define TACHO_QUERY_SNAPSHOT	((size_t)4 << 20)
void tacho_query_snapshot_size(struct tacho_query *query, size_t size);

/* How often a stacktrace trigger was due: whoever has stacks puts one behind the record. */
uint64_t tacho_query_stacktraces(const struct tacho_query *query);

/* Whether a command takes snapshots, and how many were taken. */
bool tacho_query_has_snapshot(const struct tacho_query *query);
uint64_t tacho_query_snapshots(const struct tacho_query *query);

/*
 * tacho_query_snapshot - read the newest snapshot.
 *
 * *stream is the caller's, to close before the query and before the next hit.  0, -ENOENT
 * when none was taken, -ENOMEM.
 */
int tacho_query_snapshot(struct tacho_query *query, struct tacho_stream **stream);

/*
 * Synthetic events that the last hit generated, recorded as records with the time and CPU of
 * their cause: call until NULL.  Borrowed until the next hit.  Only those that
 * were enabled with tacho_engine_enable() come.
 */
const struct tacho_record *tacho_query_generated(struct tacho_query *query);

/* Commands were given to the instance itself: the next records are looked at anew. */
void tacho_query_changed(struct tacho_query *query);

/* What a number means in this recording. */
const struct tacho_names *tacho_query_names(const struct tacho_query *query);

/*
 * The function of programs that addr lies in, as struct tacho_names asks for it; false:
 * not known, or not the same in all processes.
 */
struct tacho_resolver;
bool tacho_query_user_symbol(struct tacho_resolver *r, uint64_t addr,
			     struct tacho_symbol *sym);

/* Whether any trigger is a histogram. */
bool tacho_query_has_hist(const struct tacho_query *query);

#endif
