// SPDX-License-Identifier: MIT
#include "query/run_queue.h"

#include <stdlib.h>
#include <string.h>

#define CPUS_MAX	8192u
#define PIDS_MAX	(1u << 22)	/* PID_MAX_LIMIT of 64-bit kernels */
#define RUNNABLE_MASK	0xffu		/* of prev_state: higher bits are flags */

/* State of a thread: 0 not runnable, else one of these. */
#define RUNS		0x8000u
#define RUNS_ON(cpu)	((uint16_t)(RUNS | (cpu)))
#define WAITS_ON(cpu)	((uint16_t)((cpu) + 1))

struct cpu {
	uint64_t since;		/* these numbers hold */
	uint32_t waiting;
	uint32_t pid;		/* of the running thread, 0: the idle thread */
	bool runs;		/* a thread that is not the idle one */
	bool known;		/* its sched_switch was seen */
};

struct run_queue {
	void (*changed)(void *arg, const struct tacho_synth_value *value,
			const struct tacho_rec *rec);
	void *arg;
	uint16_t *place;	/* by pid */
	uint32_t nr_places;
	struct cpu cpu[CPUS_MAX];
};

struct run_queue *run_queue_new(void (*changed)(void *arg,
						const struct tacho_synth_value *value,
						const struct tacho_rec *rec),
				void *arg)
{
	struct run_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->changed = changed;
	q->arg = arg;
	return q;
}

void run_queue_free(struct run_queue *q)
{
	if (q)
		free(q->place);
	free(q);
}

/* ---- fields ---- */

static const struct tacho_field *field(const struct tacho_type *type, const char *name)
{
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	return NULL;
}

static bool number(const struct tacho_type *type, const char *name,
		   const struct tacho_rec *rec, uint64_t *v)
{
	const struct tacho_field *f = field(type, name);

	return f && tacho_field_int(f, rec->raw, rec->len, v);
}

/* A thread: "pid" in the kernel's events, "tid" in LTTng's. */
static bool thread(const struct tacho_type *type, const char *name, const char *lttng,
		   const struct tacho_rec *rec, uint64_t *v)
{
	return number(type, name, rec, v) || number(type, lttng, rec, v);
}

enum run_queue_kind run_queue_kind(const struct tacho_type *type)
{
	if (!strcmp(type->name, "sched_switch"))
		return RUN_QUEUE_SWITCH;
	if (!strcmp(type->name, "sched_wakeup") ||
	    !strcmp(type->name, "sched_wakeup_new"))
		return RUN_QUEUE_WAKEUP;
	return strcmp(type->name, "sched_migrate_task") ? RUN_QUEUE_NONE :
							   RUN_QUEUE_MIGRATE;
}

/* ---- threads and CPUs ---- */

/* The state of a thread; NULL for the idle one, for an invalid pid, without memory. */
static uint16_t *place_of(struct run_queue *q, uint64_t pid)
{
	uint32_t nr = q->nr_places ? q->nr_places : 4096;
	uint16_t *more;

	if (!pid || pid >= PIDS_MAX)
		return NULL;
	if (pid < q->nr_places)
		return &q->place[pid];
	while (nr <= pid)
		nr *= 2;
	more = realloc(q->place, nr * sizeof(*more));
	if (!more)
		return NULL;
	memset(more + q->nr_places, 0, (nr - q->nr_places) * sizeof(*more));
	q->place = more;
	q->nr_places = nr;
	return &q->place[pid];
}

/* Reports the old numbers of a CPU before they change. */
static void change(struct run_queue *q, uint32_t cpu, uint32_t waiting, bool runs,
		   const struct tacho_rec *rec)
{
	struct cpu *c = &q->cpu[cpu];
	struct tacho_synth_value value[RUN_QUEUE_FIELDS] = {
		{ .number = cpu },
		{ .number = c->waiting + c->runs },
		{ .number = c->waiting },
		{ .number = rec->time - c->since },
	};
	bool tell = c->known && (c->waiting != waiting || c->runs != runs);

	c->waiting = waiting;
	c->runs = runs;
	if (!tell)
		return;
	c->since = rec->time;
	q->changed(q->arg, value, rec);
}

static void wait_on(struct run_queue *q, uint16_t *place, uint32_t cpu,
		    const struct tacho_rec *rec)
{
	*place = WAITS_ON(cpu);
	change(q, cpu, q->cpu[cpu].waiting + 1, q->cpu[cpu].runs, rec);
}

/* Removes a thread from the CPU where it waited or ran. */
static void leave(struct run_queue *q, uint16_t *place, const struct tacho_rec *rec)
{
	uint32_t cpu = *place & RUNS ? *place & ~RUNS : *place - 1u;

	if (*place & RUNS)
		change(q, cpu, q->cpu[cpu].waiting, false, rec);
	else if (*place)
		change(q, cpu, q->cpu[cpu].waiting - 1, q->cpu[cpu].runs, rec);
	*place = 0;
}

/* ---- events ---- */

static void wakeup(struct run_queue *q, const struct tacho_type *type,
		   const struct tacho_rec *rec)
{
	uint64_t pid, cpu;
	uint16_t *place;

	if (!thread(type, "pid", "tid", rec, &pid) || !number(type, "target_cpu", rec, &cpu))
		return;
	place = place_of(q, pid);
	/* a thread that runs or waits was about to sleep and does not */
	if (place && !*place && cpu < CPUS_MAX)
		wait_on(q, place, (uint32_t)cpu, rec);
}

static void migrate(struct run_queue *q, const struct tacho_type *type,
		    const struct tacho_rec *rec)
{
	uint64_t pid, cpu;
	uint16_t *place;

	if (!thread(type, "pid", "tid", rec, &pid) || !number(type, "dest_cpu", rec, &cpu))
		return;
	place = place_of(q, pid);
	/* sleeping threads get their CPU when they are woken */
	if (!place || !*place || *place & RUNS || cpu >= CPUS_MAX ||
	    *place == WAITS_ON(cpu))
		return;
	leave(q, place, rec);
	wait_on(q, place, (uint32_t)cpu, rec);
}

/* Removes a thread from its CPU; a change on this CPU is not reported yet. */
static void take(struct run_queue *q, uint16_t *place, uint32_t cpu, uint32_t *waiting,
		 const struct tacho_rec *rec)
{
	if (*place == WAITS_ON(cpu))
		--*waiting;
	else if (*place != RUNS_ON(cpu))
		leave(q, place, rec);
	*place = 0;
}

/*
 * Ends the running thread, normally prev; if events are missing, also the thread that was
 * believed to run.
 */
static void end_runner(struct run_queue *q, uint32_t cpu)
{
	uint16_t *place = place_of(q, q->cpu[cpu].pid);

	if (place && *place == RUNS_ON(cpu))
		*place = 0;
}

/*
 * A switch is a single change, without intermediate numbers.  A next thread that was believed to
 * be on another CPU leaves that CPU.
 */
static void switch_to(struct run_queue *q, const struct tacho_type *type,
		      const struct tacho_rec *rec)
{
	struct cpu *c = &q->cpu[rec->cpu];
	uint32_t waiting = c->waiting;
	uint64_t prev, next, state;
	uint16_t *place;

	if (!thread(type, "prev_pid", "prev_tid", rec, &prev) ||
	    !thread(type, "next_pid", "next_tid", rec, &next) ||
	    !number(type, "prev_state", rec, &state))
		return;
	end_runner(q, rec->cpu);
	place = place_of(q, prev);
	if (place) {
		take(q, place, rec->cpu, &waiting, rec);
		*place = state & RUNNABLE_MASK ? 0 : WAITS_ON(rec->cpu);
		waiting += *place != 0;
	}
	place = place_of(q, next);
	if (place) {
		take(q, place, rec->cpu, &waiting, rec);
		*place = RUNS_ON(rec->cpu);
	}
	change(q, rec->cpu, waiting, next != 0, rec);
	c->pid = place ? (uint32_t)next : 0;
	if (!c->known)
		c->since = rec->time;
	c->known = true;
}

void run_queue_hit(struct run_queue *q, enum run_queue_kind kind,
		   const struct tacho_type *type, const struct tacho_rec *rec)
{
	if (rec->cpu >= CPUS_MAX)
		return;
	if (kind == RUN_QUEUE_SWITCH)
		switch_to(q, type, rec);
	else if (kind == RUN_QUEUE_WAKEUP)
		wakeup(q, type, rec);
	else if (kind == RUN_QUEUE_MIGRATE)
		migrate(q, type, rec);
}
