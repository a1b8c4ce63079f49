// SPDX-License-Identifier: MIT
/* Threads and their states. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_priv.h"

#define CLONE_THREAD	0x10000

/* ---- processes, threads, their tracks ---- */

static uint32_t process_get(struct model *m, int64_t number)
{
	uint64_t key = (uint64_t)number;
	uint32_t i = model_table_get(&m->process_by_id, key);
	const char *name = NULL;

	if (i)
		return i;
	if (!m->nr_processes)
		m->nr_processes = 1;
	if (!model_grow(m, &m->process, m->nr_processes, &m->room_processes,
			sizeof(*m->process)))
		return 0;
	i = m->nr_processes;
	if (!m->is_qnx)
		name = tacho_stream_comm(m->stream, (int32_t)number, NULL);
	m->process[i] = (struct model_process){ .number = number };
	m->process[i].name = name && *name ? model_intern(m, name, strlen(name)) : "";
	if (!model_table_set(&m->process_by_id, key, i)) {
		(void)model_fail(m, -ENOMEM);
		return 0;
	}
	m->nr_processes++;
	return i;
}

static void name_process(struct model *m, uint32_t i, const char *name)
{
	struct model_process *p = &m->process[i];

	if (!strcmp(p->name, name))
		return;
	p->name = name;
	if (p->track)
		model_name_track(m, p->track, 0, MODEL_PROCESS, p->number, name);
}

uint32_t model_thread_alloc(struct model *m)
{
	uint32_t i = m->free_thread;

	if (i) {
		m->free_thread = m->thread[i].next;
		return i;
	}
	if (!model_grow(m, &m->thread, m->nr_threads, &m->room_threads, sizeof(*m->thread)))
		return 0;
	if (!m->nr_threads)
		m->thread[m->nr_threads++] = (struct model_thread){ 0 };
	return m->nr_threads++;
}

/* The process that the trace names for a thread; else the one that is proposed. */
static int64_t process_of(struct model *m, uint64_t key, int64_t proposed, const char **name)
{
	int32_t tgid = 0;

	*name = NULL;
	if (m->is_qnx)
		return (int64_t)(key >> 32);
	*name = tacho_stream_comm(m->stream, (int32_t)key, &tgid);
	return tgid > 0 ? tgid : proposed;
}

static uint32_t thread_new(struct model *m, uint64_t key, uint64_t born, int64_t process)
{
	const char *name;
	uint32_t i, p;

	process = process_of(m, key, process, &name);
	p = process_get(m, process);
	i = p ? model_thread_alloc(m) : 0;
	if (!i)
		return 0;
	m->thread[i] = (struct model_thread){
		.key = key, .process = p, .number = (uint32_t)key,
		.name = name && *name ? model_intern(m, name, strlen(name)) : "",
		.since = born, .serial = ++m->nr_born, .record = MODEL_NO_RECORD,
		.cpu = MODEL_NO_CPU, .calls.floor = born,
	};
	MODEL_LINK(m->thread, i);
	if (m->is_qnx && m->process[p].name[0])
		m->thread[i].name = m->process[p].name;
	if (process == (int64_t)key && m->thread[i].name[0])
		name_process(m, p, m->thread[i].name);
	if (!model_table_set(&m->thread_by_key, key, i))
		(void)model_fail(m, -ENOMEM);
	return i;
}

uint32_t model_thread_get(struct model *m, uint64_t key)
{
	uint32_t i = model_table_get(&m->thread_by_key, key);

	return i ? i : thread_new(m, key, m->stats.first, (int64_t)key);
}

uint32_t model_thread_here(struct model *m)
{
	if (m->is_qnx)
		return m->here ? m->here->thread : 0;
	return m->r->pid > 0 ? model_thread_get(m, (uint32_t)m->r->pid) : 0;
}

static uint32_t process_track(struct model *m, uint32_t i)
{
	struct model_process *p = &m->process[i];

	if (!p->track)
		p->track = model_new_track(m, 0, MODEL_PROCESS, p->number, p->name);
	return p->track;
}

uint32_t model_thread_track(struct model *m, uint32_t i)
{
	struct model_thread *t = &m->thread[i];

	if (!t->track)
		t->track = model_new_track(m, process_track(m, t->process), MODEL_THREAD,
					   t->number, t->name);
	return t->track;
}

uint32_t model_process_track(struct model *m, uint32_t thread)
{
	return process_track(m, m->thread[thread].process);
}

uint32_t model_calls_track(struct model *m, uint32_t i)
{
	struct model_thread *t = &m->thread[i];

	if (!t->calls.track)
		t->calls.track = model_new_track(m, model_thread_track(m, i), MODEL_CALLS,
						 t->number, "");
	return t->calls.track;
}

uint32_t model_state_track(struct model *m, uint32_t i)
{
	struct model_thread *t = &m->thread[i];

	if (!t->state_track)
		t->state_track = model_new_track(m, model_thread_track(m, i), MODEL_STATE,
						 t->number, "");
	return t->state_track;
}

/* ---- names ---- */

static void name_thread(struct model *m, uint32_t i, const char *name)
{
	struct model_thread *t = &m->thread[i];

	if (t->name == name || !name[0])
		return;
	t->name = name;
	if (t->track)
		model_name_track(m, t->track, process_track(m, t->process), MODEL_THREAD,
				 t->number, name);
	if (!m->is_qnx && (int64_t)t->number == m->process[t->process].number)
		name_process(m, t->process, name);
}

void model_thread_name(struct model *m, uint32_t i, const struct model_value *v)
{
	if (v->field || v->text)
		name_thread(m, i, model_text(m, v));
}

int model_tell_tracks(struct model *m)
{
	for (uint32_t i = 1; i < m->nr_processes; i++) {
		const struct model_process *p = &m->process[i];

		if (p->track)
			model_name_track(m, p->track, 0, MODEL_PROCESS, p->number, p->name);
	}
	for (uint32_t i = m->nr_threads ? m->thread[0].next : 0; i; i = m->thread[i].next) {
		const struct model_thread *t = &m->thread[i];

		if (t->track)
			model_name_track(m, t->track, m->process[t->process].track, MODEL_THREAD,
					 t->number, t->name);
	}
	return m->err;
}

/* ---- states ---- */

void model_state_end(struct model *m, uint32_t i, uint64_t end, uint64_t end_record,
		     uint32_t flags)
{
	struct model_thread *t = &m->thread[i];
	struct model_state s = {
		.cpu = t->cpu, .begin = t->since, .end = end < t->since ? t->since : end,
		.begin_record = t->record, .end_record = end_record, .state = t->state,
		.flags = t->flags | flags, .waker = t->waker_of_state,
	};
	uint64_t loss_end = m->kernel_loss_end;

	t->has_states = true;
	if (s.end == s.begin)
		return;
	if (s.state == MODEL_RUNS && m->cpu[t->cpu])
		loss_end = m->cpu[t->cpu]->loss_end;
	if (s.state == MODEL_UNKNOWN) {
		s.flags = 0;
		s.begin_record = s.end_record = MODEL_NO_RECORD;
	} else if (loss_end > s.begin) {
		s.flags |= MODEL_UNCERTAIN;
	}
	s.track = model_state_track(m, i);
	model_put_state(m, &s);
	m->thread[i].since = s.end;
}

void model_state_begin(struct model *m, uint32_t i, enum model_thread_state state, uint32_t cpu,
		       uint32_t flags, uint64_t begin, uint64_t begin_record)
{
	struct model_thread *t = &m->thread[i];

	t->state = (uint8_t)state;
	t->cpu = cpu;
	t->flags = flags;
	t->waker_of_state = 0;
	t->since = begin < t->since ? t->since : begin;
	t->record = begin_record;
	t->has_states = true;
}

/* Forgets a thread, whose state has been ended. */
static void thread_gone(struct model *m, uint32_t i, uint64_t end, uint64_t end_record,
			uint32_t flags)
{
	model_stack_end(m, &m->thread[i].calls, NULL, end, end_record, flags);
	model_table_remove(&m->thread_by_key, m->thread[i].key);
	MODEL_UNLINK(m->thread, i);
	m->thread[i] = (struct model_thread){ .next = m->free_thread };
	m->free_thread = i;
}

/* The CPU where a thread runs runs something unknown from now on. */
static void lose_running(struct model *m, uint32_t i)
{
	struct model_cpu *c = m->cpu[m->thread[i].cpu];

	model_state_end(m, i, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	model_state_begin(m, i, MODEL_UNKNOWN, MODEL_NO_CPU, 0, m->time, MODEL_NO_RECORD);
	model_cpu_end(m, c, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
}

static void put_wake(struct model *m, uint32_t i)
{
	struct model_thread *t = &m->thread[i];
	struct model_place to = { .time = m->time, .record = m->record };

	if (!t->waker.track)
		return;
	to.track = model_state_track(m, i);
	model_put_flow(m, "wake", &m->thread[i].waker, &to);
}

/* A thread that does not run begins to, on the record's CPU. */
static void start(struct model *m, uint32_t i, uint32_t end_flags)
{
	struct model_thread *t = &m->thread[i];

	bool woken = t->state == MODEL_RUNNABLE && !(t->flags & MODEL_PREEMPTED);

	model_state_end(m, i, m->time, end_flags ? MODEL_NO_RECORD : m->record, end_flags);
	if (woken)
		put_wake(m, i);
	model_state_begin(m, i, MODEL_RUNS, m->here->number, 0, m->time, m->record);
	m->thread[i].ran = m->record;
	m->thread[i].waker = (struct model_place){ 0 };
	model_cpu_begin(m, m->here, i, false, m->time, m->record);
}

/* ---- switch ---- */

static enum model_thread_state next_state(struct model *m, const struct model_action *a)
{
	static const enum model_thread_state state[MODEL_STATE_BITS] = {
		MODEL_UNINTERRUPTIBLE, MODEL_DEAD, MODEL_DEAD, MODEL_STOPPED, MODEL_TRACED,
		MODEL_PARKED, MODEL_IDLE, MODEL_SLEEPING,
	};
	int64_t value;

	if (!model_int(m, &a->arg[MODEL_ARG_STATE], &value))
		return MODEL_UNKNOWN;
	for (uint32_t i = 0; i < MODEL_STATE_BITS; i++)
		if ((uint64_t)value & a->mask & a->bit[i])
			return state[i];
	return MODEL_RUNNABLE;
}

/* Steps 1 and 2: what ran until now is `out` (0: the idle thread), as far as is known. */
static void switch_known(struct model *m, struct model_cpu *c, uint32_t out, int64_t pid)
{
	uint64_t begin = c->guess_since, record = c->guess_record;
	bool was_unknown = !c->thread && c->guess == pid;

	if (out ? c->thread == out : c->idle)
		return;
	if (c->thread)
		lose_running(m, c->thread);
	if (out && m->thread[out].state == MODEL_RUNS) {
		lose_running(m, out);
		was_unknown = false;
	}
	if (out && begin < m->thread[out].since)
		begin = m->thread[out].since;
	if (!was_unknown || begin > m->time)
		begin = m->time;
	if (c->idle)
		model_cpu_end(m, c, begin, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	if (begin == m->time)
		return;
	model_cpu_begin(m, c, out, !out, begin, record);
	c->flags = MODEL_BEGIN_UNKNOWN;
	if (!out)
		return;
	model_state_end(m, out, begin, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	model_state_begin(m, out, MODEL_RUNS, c->number, MODEL_BEGIN_UNKNOWN, begin, record);
	m->thread[out].ran = record;
	if (m->thread[out].waker.record < record)
		m->thread[out].waker = (struct model_place){ 0 };
}

/* A thread that is switched out has run, though since when is not recorded. */
static void has_run(struct model *m, uint32_t out)
{
	model_state_end(m, out, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	m->thread[out].ran = m->record;
	m->thread[out].waker = (struct model_place){ 0 };
}

/* Step 3. */
static void switch_out(struct model *m, struct model_cpu *c, uint32_t out,
		       const struct model_action *a)
{
	enum model_thread_state state;
	uint32_t flags = 0;

	if (c->thread || c->idle)
		model_cpu_end(m, c, m->time, m->record, 0);
	if (!out)
		return;
	if (m->thread[out].state == MODEL_RUNS)
		model_state_end(m, out, m->time, m->record, 0);
	else
		has_run(m, out);
	state = next_state(m, a);
	if (state == MODEL_DEAD || (m->thread[out].has_exited && state != MODEL_RUNNABLE)) {
		thread_gone(m, out, m->time, m->record, 0);
		return;
	}
	if (state == MODEL_RUNNABLE)
		flags = MODEL_PREEMPTED;
	else if (state == MODEL_UNINTERRUPTIBLE && m->thread[out].requests)
		flags = MODEL_IO;
	model_state_begin(m, out, state, MODEL_NO_CPU, flags, m->time, m->record);
}

/* Step 4. */
static void switch_in(struct model *m, uint32_t in)
{
	uint32_t flags = 0;

	if (m->thread[in].state == MODEL_RUNS)
		lose_running(m, in);
	if (m->thread[in].state != MODEL_RUNNABLE && m->thread[in].state != MODEL_UNKNOWN)
		flags = MODEL_END_UNKNOWN;
	start(m, in, flags);
}

void model_switch(struct model *m, const struct model_action *a)
{
	struct model_cpu *c = m->here;
	uint32_t out = 0, in = 0;
	int64_t out_pid, in_pid;

	if (!c || !model_int(m, &a->arg[MODEL_ARG_OUT], &out_pid) ||
	    !model_int(m, &a->arg[MODEL_ARG_IN], &in_pid) || out_pid < 0 || in_pid < 0) {
		m->stats.unplaced++;
		return;
	}
	out_pid = (uint32_t)out_pid;
	in_pid = (uint32_t)in_pid;
	if (out_pid) {
		out = model_thread_get(m, (uint64_t)out_pid);
		model_thread_name(m, out, &a->arg[MODEL_ARG_OUT_NAME]);
	}
	if (m->err)
		return;
	switch_known(m, c, out, out_pid);
	switch_out(m, c, out, a);
	if (in_pid) {
		in = model_thread_get(m, (uint64_t)in_pid);
		model_thread_name(m, in, &a->arg[MODEL_ARG_IN_NAME]);
		if (in && !m->err)
			switch_in(m, in);
	} else {
		model_cpu_begin(m, c, 0, true, m->time, m->record);
	}
}

/* ---- wake-ups ---- */

/* Whether a CPU whose running thread is not known seems to run this one. */
static bool seems_to_run(const struct model *m, uint64_t key)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		const struct model_cpu *c = m->cpu[i];

		if (c && !c->thread && c->guess >= 0 && (uint64_t)c->guess == key)
			return true;
	}
	return false;
}

void model_wake(struct model *m, const struct model_action *a)
{
	struct model_place place;
	struct model_thread *t;
	uint32_t i, waker, flags = 0;
	int64_t pid;

	if (!model_int(m, &a->arg[MODEL_ARG_THREAD], &pid) || pid <= 0)
		return;
	i = model_thread_get(m, (uint32_t)pid);
	waker = model_thread_here(m);
	if (!i || m->err)
		return;
	model_thread_name(m, i, &a->arg[MODEL_ARG_NAME]);
	place = model_here(m, waker);
	t = &m->thread[i];
	if (a->verb == MODEL_WAKING) {
		t->waker = place;
		t->waking = m->record + 1;
	} else if (t->waking <= t->ran) {
		t->waker = place;
	}
	if (t->state == MODEL_RUNS || t->state == MODEL_RUNNABLE ||
	    (t->state == MODEL_UNKNOWN && seems_to_run(m, t->key)))
		return;
	if (t->state == MODEL_UNINTERRUPTIBLE && place.by_irq && m->here->io_done)
		flags = MODEL_IO;
	model_state_end(m, i, m->time, m->record, flags);
	t = &m->thread[i];
	model_state_begin(m, i, MODEL_RUNNABLE, MODEL_NO_CPU, t->waker.by_irq ? MODEL_BY_IRQ : 0,
			  m->time, m->record);
	t->waker_of_state = t->waker.track;
}

static uint64_t thread_key(struct model *m, const struct model_action *a, bool *ok)
{
	int64_t pid = 0, tid;

	*ok = model_int(m, &a->arg[MODEL_ARG_THREAD], &tid);
	if (a->arg[MODEL_ARG_PROCESS].field)
		*ok = model_int(m, &a->arg[MODEL_ARG_PROCESS], &pid) && *ok;
	return (uint64_t)pid << 32 | (uint32_t)tid;
}

void model_waker(struct model *m, const struct model_action *a)
{
	bool ok;
	uint64_t key = thread_key(m, a, &ok);
	uint32_t i, waker = model_thread_here(m);

	if (!ok || !waker) {
		m->stats.unplaced++;
		return;
	}
	i = model_thread_get(m, key);
	if (!i || m->err)
		return;
	m->thread[i].waker = (struct model_place){ .time = m->time, .record = m->record };
	m->thread[i].waker.track = model_state_track(m, waker);
}

/* ---- states that are events of their own ---- */

/* QNX's idle threads: numbers from 1 in process 1, one for each CPU. */
static bool is_idle_thread(const struct model *m, uint64_t key)
{
	return key >> 32 == 1 && (uint32_t)key && (uint32_t)key <= m->qnx_cpus;
}

static void set_idle(struct model *m, uint64_t key, enum model_thread_state state)
{
	struct model_cpu *c = m->here;
	uint32_t number = (uint32_t)key - 1;

	if (state == MODEL_RUNS && c && !c->idle) {
		if (c->thread)
			lose_running(m, c->thread);
		model_cpu_begin(m, c, 0, true, m->time, m->record);
		return;
	}
	c = number < m->nr_cpus ? m->cpu[number] : NULL;
	if (state != MODEL_RUNS && c && c->idle)
		model_cpu_end(m, c, m->time, m->record, 0);
}

static void run_here(struct model *m, uint32_t i)
{
	struct model_cpu *c = m->here;

	if (c->thread == i)
		return;
	if (c->thread)
		lose_running(m, c->thread);
	else if (c->idle)
		model_cpu_end(m, c, m->time, m->record, 0);
	if (m->thread[i].state == MODEL_RUNS)
		lose_running(m, i);
	start(m, i, 0);
}

void model_set_state(struct model *m, const struct model_action *a)
{
	bool ok, ran;
	uint64_t key = thread_key(m, a, &ok);
	uint32_t i, flags = 0;

	if (!ok || (a->state == MODEL_RUNS && !m->here)) {
		m->stats.unplaced++;
		return;
	}
	if (is_idle_thread(m, key)) {
		set_idle(m, key, a->state);
		return;
	}
	if (a->state == MODEL_DEAD && !model_table_get(&m->thread_by_key, key))
		return;
	i = model_thread_get(m, key);
	if (!i || m->err)
		return;
	if (a->state == MODEL_RUNS) {
		run_here(m, i);
		return;
	}
	ran = m->thread[i].state == MODEL_RUNS;
	if (ran)
		model_cpu_end(m, m->cpu[m->thread[i].cpu], m->time, m->record, 0);
	model_state_end(m, i, m->time, m->record, 0);
	if (a->state == MODEL_DEAD) {
		thread_gone(m, i, m->time, m->record, 0);
		return;
	}
	if (a->state == MODEL_RUNNABLE && ran)
		flags = MODEL_PREEMPTED;
	model_state_begin(m, i, a->state, MODEL_NO_CPU, flags, m->time, m->record);
	if (a->state == MODEL_RUNNABLE && !ran)
		m->thread[i].waker_of_state = m->thread[i].waker.track;
}

/* ---- birth, death, names ---- */

/* Forgets a thread whose end no record shows. */
static void drop(struct model *m, uint32_t i)
{
	if (m->thread[i].state == MODEL_RUNS)
		lose_running(m, i);
	if (m->thread[i].has_states)
		model_state_end(m, i, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	thread_gone(m, i, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
}

/* The thread that a rule names; 0 also for the idle thread. */
static uint64_t named_thread(struct model *m, const struct model_action *a)
{
	bool ok;
	uint64_t key = thread_key(m, a, &ok);

	return ok && (int32_t)key > 0 ? key : 0;
}

void model_fork(struct model *m, const struct model_action *a)
{
	uint32_t parent = model_thread_here(m), i;
	uint64_t key = named_thread(m, a);
	int64_t flags = 0, process;

	if (!key || m->err)
		return;
	i = model_table_get(&m->thread_by_key, key);
	if (i && m->thread[i].forked && !m->thread[i].has_states) {
		model_thread_name(m, i, &a->arg[MODEL_ARG_NAME]);
		return;
	}
	process = (int64_t)key;
	if (model_int(m, &a->arg[MODEL_ARG_FLAGS], &flags) && flags & CLONE_THREAD && parent)
		process = m->process[m->thread[parent].process].number;
	if (i)
		drop(m, i);
	i = thread_new(m, key, m->time, process);
	if (!i || m->err)
		return;
	m->thread[i].forked = true;
	model_thread_name(m, i, &a->arg[MODEL_ARG_NAME]);
}

void model_exit(struct model *m, const struct model_action *a)
{
	uint64_t key;
	uint32_t i;

	if (a->arg[MODEL_ARG_THREAD].field) {
		key = named_thread(m, a);
		i = key ? model_table_get(&m->thread_by_key, key) : 0;
	} else {
		i = model_thread_here(m);
	}
	if (!i || m->err)
		return;
	/* one that runs will be switched out, though no type said that there are switches */
	if (!m->has_switches && m->thread[i].state != MODEL_RUNS) {
		thread_gone(m, i, m->time, m->record, 0);
		return;
	}
	model_stack_end(m, &m->thread[i].calls, NULL, m->time, m->record, 0);
	m->thread[i].has_exited = true;
}

/* A thread of QNX gets a name, or a process, and with it those of its threads that have none. */
static void rename_qnx(struct model *m, const struct model_action *a, const char *name)
{
	int64_t pid;
	bool ok;

	if (a->arg[MODEL_ARG_THREAD].field) {
		uint64_t key = thread_key(m, a, &ok);
		uint32_t i = ok ? model_thread_get(m, key) : 0;

		if (i)
			name_thread(m, i, name);
		return;
	}
	if (model_int(m, &a->arg[MODEL_ARG_PROCESS], &pid)) {
		uint32_t p = process_get(m, pid);

		if (p)
			name_process(m, p, name);
	}
}

void model_rename(struct model *m, const struct model_action *a)
{
	const char *name = model_text(m, &a->arg[MODEL_ARG_NAME]);
	uint32_t i;
	int64_t pid;

	if (m->err || !name[0])
		return;
	if (a->arg[MODEL_ARG_PROCESS].field) {
		rename_qnx(m, a, name);
		return;
	}
	if (!a->arg[MODEL_ARG_THREAD].field)
		i = model_thread_here(m);
	else if (model_int(m, &a->arg[MODEL_ARG_THREAD], &pid) && pid > 0)
		i = model_thread_get(m, (uint32_t)pid);
	else
		return;
	if (i)
		name_thread(m, i, name);
}

/* ---- the end ---- */

static int by_track(const void *a, const void *b, void *arg)
{
	const struct model *m = arg;
	uint32_t x = m->thread[*(const uint32_t *)a].track;
	uint32_t y = m->thread[*(const uint32_t *)b].track;

	return (x > y) - (x < y);
}

void model_threads_finish(struct model *m)
{
	uint32_t *list = reallocarray(NULL, m->nr_threads + 1u, sizeof(*list)), nr = 0;

	if (!list) {
		(void)model_fail(m, -ENOMEM);
		return;
	}
	for (uint32_t i = m->nr_threads ? m->thread[0].next : 0; i; i = m->thread[i].next)
		if (m->thread[i].has_states || m->thread[i].calls.top) {
			(void)model_thread_track(m, i);
			list[nr++] = i;
		}
	qsort_r(list, nr, sizeof(*list), by_track, m);
	for (uint32_t i = 0; i < nr && !m->err; i++) {
		struct model_thread *t = &m->thread[list[i]];

		if (t->has_states)
			model_state_end(m, list[i], m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		model_stack_end(m, &m->thread[list[i]].calls, NULL, m->time, MODEL_NO_RECORD,
				MODEL_END_UNKNOWN);
	}
	free(list);
}
