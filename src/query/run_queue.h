/* SPDX-License-Identifier: MIT */
/*
 * run_queue.h - the number of runnable threads per CPU: an event computed from others.
 *
 * The control language has no counter that one event raises and another lowers, so
 * this one is built in: a command on synthetic:run_queue defines it,
 *
 *	run_queue unsigned int cpu; unsigned int runnable; unsigned int waiting; u64 ns
 *
 * It occurs each time a CPU's numbers change, with the old numbers: "this CPU had `runnable`
 * runnable threads for ns nanoseconds, `waiting` of them not running".  The idle thread is not
 * counted.  Sums of ns over all events of a CPU are the time from its first sched_switch to its
 * last change.
 *
 * A thread waits from sched_wakeup or sched_wakeup_new on the target CPU, or from the
 * sched_switch that preempts it; sched_migrate_task moves it; it runs from the sched_switch to
 * it.  Limits:
 *
 *	before		a thread that waits when the recording begins is counted after it has run
 *			for the first time
 *	lost events	a thread stays in the state of its last recorded event
 *	no migrations	(not recorded) a thread waits on the CPU where it was woken, until it runs
 */
#ifndef TACHO_QUERY_RUN_QUEUE_H
#define TACHO_QUERY_RUN_QUEUE_H

#include "engine/engine.h"

#define RUN_QUEUE_EVENT	"run_queue"
#define RUN_QUEUE_TEXT	RUN_QUEUE_EVENT " unsigned int cpu; unsigned int runnable; " \
			"unsigned int waiting; u64 ns"
#define RUN_QUEUE_FIELDS	4

/* The kind of an event type. */
enum run_queue_kind {
	RUN_QUEUE_NONE,
	RUN_QUEUE_SWITCH,
	RUN_QUEUE_WAKEUP,
	RUN_QUEUE_MIGRATE,
};

struct run_queue;

/* NULL: no memory.  changed is called from run_queue_hit(), with RUN_QUEUE_TEXT's values. */
struct run_queue *run_queue_new(void (*changed)(void *arg,
						const struct tacho_synth_value *value,
						const struct tacho_rec *rec),
				void *arg);
void run_queue_free(struct run_queue *q);

/* By the type's name, of any system: "sched:sched_switch", LTTng's "lttng:sched_switch". */
enum run_queue_kind run_queue_kind(const struct tacho_type *type);

/* Processes one event of a kind; call it in order of time.  Inconsistent events are ignored. */
void run_queue_hit(struct run_queue *q, enum run_queue_kind kind,
		   const struct tacho_type *type, const struct tacho_rec *rec);

#endif
