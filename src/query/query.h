/* SPDX-License-Identifier: MIT */
/*
 * query.h - the control language over a stream of records.
 *
 * A query is an engine instance (engine/engine.h) whose events come from a stream: a trace file
 * of any format, or a live session.  It accepts the same commands as programs and the kernel, as
 * text; then the caller reads the stream, and each record is a hit.
 *
 *	tacho_query_new(&q, stream)
 *	tacho_query_synth(q, "wakeup_latency u64 lat; pid_t pid")
 *	tacho_query_trigger(q, "sched:sched_waking", "hist:keys=pid:ts0=common_timestamp")
 *	...
 *	while (tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD)
 *		tacho_query_hit(q, &r)
 *	tacho_query_print(q, ...)
 *
 * Types are added to the instance when commands name them.  Types that a live source gets later
 * are added with their first record; commands with globs are then applied to them.
 *
 * Records in the engine: common_timestamp is the clock's own value in ns, not the time since
 * 1970.  Addresses, system calls and thread names are resolved with the recording's tables, not
 * this machine's; addresses of programs only if the stream has a resolver (resolve/resolve.h).
 * User memory is not available: `.ustring` matches nothing, and neither does a `char *` into the
 * kernel.
 *
 * Call stacks.  A key, variable or parameter common_stacktrace of an event of a stream is the
 * stack record that follows the event (pair.c): a kernel_stack record on the same CPU, or a
 * program's user_stack of the same thread; only events of interrupts may be in between.  So an
 * event that needs a stack waits for it, and all later events wait too, so that they are counted
 * in order.  An event without a stack record is counted with an empty stack.  Stacks do not
 * include the tracer's own functions.
 *
 * Snapshots.  When a command takes them (the trigger, or an action of a histogram), the
 * newest records are kept in memory (stream/window.h), and a snapshot is a copy of them; it
 * replaces an older one.  The record that causes a snapshot is its last one, followed by its
 * stack if it waited for that.  While tracing is off (traceoff), no records are kept.
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

/* The query's instance, for printing and for the error log. */
struct tacho_engine *tacho_query_engine(const struct tacho_query *query);

/*
 * Commands.  event is "system:event", with globs, or one word that is either's name.
 * 0, or a negative errno with e filled in; -ENOENT: the stream has no such event
 * (and is not live).
 *
 * A filter or trigger with a glob is set on every matching event for which it is valid; -EINVAL
 * if there is none.
 */
int tacho_query_filter(struct tacho_query *query, const char *event,
		       const char *text, struct tacho_cmd_error *e);
int tacho_query_trigger(struct tacho_query *query, const char *event,
			const char *text, struct tacho_cmd_error *e);
int tacho_query_synth(struct tacho_query *query, const char *text,
		      struct tacho_cmd_error *e);

/*
 * Whether event is the built-in event of run queues ("synthetic:run_queue").  The first command
 * on it defines it; it is computed from TACHO_RUN_QUEUE_NEEDS: see run_queue.h.
 */
bool tacho_query_is_run_queue(const char *event);
#define TACHO_RUN_QUEUE_NEEDS	"sched:sched_switch,sched:sched_wakeup," \
				"sched:sched_wakeup_new,sched:sched_migrate_task"

/*
 * For a live stream: the text of the first command that failed on an event that appeared later,
 * with the error in e.  NULL: none failed.
 */
const char *tacho_query_late(const struct tacho_query *query,
			     struct tacho_cmd_error *e);

/*
 * tacho_query_offload - offload filters to the source of the records.
 *
 * Call it after the last command and before the first record is read.  The live kernel then omits
 * records that no filter passes and no trigger needs.  Filters that the kernel rejects, or would
 * evaluate differently (tacho_filter_offload()), remain here; so do all filters if a command
 * takes snapshots or needs call stacks.  Only for callers that use only hits; events without
 * commands are unchanged.  Returns for how many events filters were offloaded.
 */
uint32_t tacho_query_offload(struct tacho_query *query);

/*
 * Processes one record: runs the commands of its event.  Returns whether it passes: no filter was
 * set on any event, or the record passes a filter on its event.  In a query with triggers that
 * need call stacks, returns true for all records, because they may be processed later.
 */
bool tacho_query_hit(struct tacho_query *query, const struct tacho_record *r);

/*
 * tacho_query_add_type - an event that the stream does not have.
 *
 * The caller makes its records of the stream's, and says each with tacho_query_made() after the
 * tacho_query_hit() of the record that it comes from.  Commands that are given later may name it;
 * their event must say its system, so "*:*" does not mean it.  type outlives the query.  Returns
 * its event, NULL without memory.
 *
 * rec: without names.
 */
struct tacho_engine_event *tacho_query_add_type(struct tacho_query *query,
						const struct tacho_type *type);
void tacho_query_made(struct tacho_query *query, struct tacho_engine_event *event,
		      struct tacho_rec *rec);

/*
 * Ends the query: processes the events that wait for their stacks.  For a live stream, events
 * whose stack was not read yet are skipped.
 */
void tacho_query_end(struct tacho_query *query);

/* Events that needed a call stack: how many had one, and how many had none. */
struct tacho_query_stacks {
	uint64_t found, missing;
};
struct tacho_query_stacks tacho_query_stacks(const struct tacho_query *query);

/*
 * Sets the bytes of records to keep for snapshots; call it before the first command that takes
 * one.  Default: TACHO_QUERY_SNAPSHOT; minimum: TACHO_WINDOW_MIN.
 */
#define TACHO_QUERY_SNAPSHOT	((size_t)4 << 20)
void tacho_query_snapshot_size(struct tacho_query *query, size_t size);

/* How often a stacktrace trigger fired; a caller that has stacks writes one after the record. */
uint64_t tacho_query_stacktraces(const struct tacho_query *query);

/* Whether a command takes snapshots, and how many were taken. */
bool tacho_query_has_snapshot(const struct tacho_query *query);
uint64_t tacho_query_snapshots(const struct tacho_query *query);

/*
 * tacho_query_snapshot - read the newest snapshot.
 *
 * The caller closes *stream before it closes the query and before the next hit.  Returns 0,
 * -ENOENT: no snapshot was taken, -ENOMEM.
 */
int tacho_query_snapshot(struct tacho_query *query, struct tacho_stream **stream);

/*
 * Synthetic events that the last hit generated, recorded as records with the time and CPU of
 * their cause: call until NULL.  Borrowed until the next hit.  Only those enabled with
 * tacho_engine_enable() are returned.
 */
const struct tacho_record *tacho_query_generated(struct tacho_query *query);

/*
 * Call it after commands were given directly to the instance: the query then updates what it has
 * cached about types.
 */
void tacho_query_changed(struct tacho_query *query);

/*
 * Whether several queries with these commands, each over a part of the records in any order, are
 * as good as one: tacho_engine_merge() makes one of their instances.
 */
bool tacho_query_is_additive(const struct tacho_query *query);

/*
 * Where the order of records matters, other queries with the same commands, each over a view of the
 * stream (stream/parallel.h), can find the records that this one needs.
 *
 * _is_sparse	Whether hits may be left out for which _needs() is false: no command needs call
 *		stacks or takes snapshots, and the stream is not live.
 * _needs	Whether tacho_query_hit() with this record could do anything but return whether
 *		it passes.  r is the last record returned by next().
 */
bool tacho_query_is_sparse(const struct tacho_query *query);
bool tacho_query_needs(struct tacho_query *query, const struct tacho_record *r);

/* Names for numbers in this recording. */
const struct tacho_names *tacho_query_names(const struct tacho_query *query);

/*
 * The function of programs that contains addr, for struct tacho_names; false: not known, or not
 * the same in all processes.
 */
struct tacho_resolver;
bool tacho_query_user_symbol(struct tacho_resolver *r, uint64_t addr,
			     struct tacho_symbol *sym);

/* The field with the addresses, for a type of call stacks; otherwise NULL. */
const struct tacho_field *tacho_query_stack_field(const struct tacho_type *type);

/* Whether it is a function of the tracer, with which every stack of an event begins. */
bool tacho_query_is_tracer(const char *name);

/* Whether any trigger is a histogram. */
bool tacho_query_has_hist(const struct tacho_query *query);

#endif
