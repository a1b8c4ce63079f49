// SPDX-License-Identifier: MIT
/*
 * Events of the Linux kernel that QNX has, too.  docs/qnx.md has this table in words.
 *
 * What a thread waits for, Linux does not tell when it stops running.  If it is in a
 * system call that has a state of its own on QNX, it is that state; else REPLY: it
 * waits for an answer of somebody who serves it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "fmt/kev/map_priv.h"

/* prev_state of sched_switch. */
#define LINUX_STOPPED	0x0cu		/* T, t */
#define LINUX_DEAD	0x30u		/* X, Z */
#define LINUX_REPORT	0xffu		/* above: preempted */

#define PR_TH(event)	TACHO_KEV_MAKE(TACHO_KEV_PR_TH, event)
#define PROC(k)		PR_TH((k) * TACHO_KEV_PROCESS)

#define POWER		TACHO_KEV_MAKE(TACHO_KEV_SYSTEM, 0x0f)
#define SIGNAL		TACHO_KEV_MAKE(TACHO_KEV_COMM, 9)
#define POWER_IDLE	0x10000u
#define POWER_START	0x20000u

static int put_two(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		   uint32_t code, uint32_t first, uint32_t second,
		   struct tacho_diag *d)
{
	uint32_t words[2] = { first, second };

	return tacho_kev_map_put(m, a, code, words, 2, d);
}

static bool is_wide(const struct tacho_kev_map *m, uint32_t code)
{
	return m->wide && m->wide(m->choose_arg, code);
}

/* ---- threads ----------------------------------------------------------------------- */

static int put_state(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		     uint32_t state, int32_t tid, struct tacho_diag *d)
{
	return put_two(m, a, PR_TH(state), (uint32_t)tacho_kev_map_task(m, tid)->pid,
		       (uint32_t)tid, d);
}

/* Wide, if that is requested and the record has the thread's priority in the field `prio`. */
static int put_state_prio(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			  uint32_t state, int32_t tid, const char *prio,
			  struct tacho_diag *d)
{
	uint32_t words[4] = { (uint32_t)tacho_kev_map_task(m, tid)->pid, (uint32_t)tid, 0, 0 };
	const struct tacho_field *f = NULL;
	uint64_t value;

	if (is_wide(m, PR_TH(state)))
		f = tacho_type_field(a->r->type, prio);
	if (!f || !tacho_field_int(f, a->r->raw, a->r->len, &value))
		return put_state(m, a, state, tid, d);
	words[2] = (uint32_t)value;
	return tacho_kev_map_put(m, a, PR_TH(state), words, 4, d);
}

static uint32_t state_of(const struct tacho_kev_task *t, uint64_t linux_state)
{
	uint32_t state = (uint32_t)linux_state & LINUX_REPORT;

	if (!state)
		return TACHO_KEV_TH_READY;
	if (state & LINUX_DEAD)
		return TACHO_KEV_TH_DEAD;
	if (state & LINUX_STOPPED)
		return TACHO_KEV_TH_STOPPED;
	return t->state ? t->state : TACHO_KEV_TH_REPLY;
}

static int put_switch(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	int32_t prev = (int32_t)a->value[0], next = (int32_t)a->value[2];
	uint32_t state = state_of(tacho_kev_map_task(m, prev), a->value[1]);
	int err = put_state_prio(m, a, state, prev, "prev_prio", d);

	m->counts.mapped++;
	return err ? err : put_state_prio(m, a, TACHO_KEV_TH_RUNNING, next, "next_prio", d);
}

static int put_wakeup(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	m->counts.mapped++;
	return put_state_prio(m, a, TACHO_KEV_TH_READY, (int32_t)a->value[0], "prio", d);
}

static int put_fork(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    struct tacho_diag *d)
{
	int32_t child = (int32_t)a->value[1];
	int err = 0;

	m->counts.mapped++;
	if (tacho_kev_map_task(m, child)->pid == child)
		err = put_two(m, a, PROC(TACHO_KEV_PROC_CREATE),
			      (uint32_t)tacho_kev_map_task(m, (int32_t)a->value[0])->pid,
			      (uint32_t)child, d);
	return err ? err : put_state(m, a, TACHO_KEV_TH_CREATE, child, d);
}

static int put_exit(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    struct tacho_diag *d)
{
	int32_t tid = (int32_t)a->value[0];
	int err = put_state(m, a, TACHO_KEV_TH_DESTROY, tid, d);

	m->counts.mapped++;
	if (err || tacho_kev_map_task(m, tid)->pid != tid)
		return err;
	return put_two(m, a, PROC(TACHO_KEV_PROC_DESTROY), 0, (uint32_t)tid, d);
}

/* The string that is the mapping's second field. */
static const char *second_text(const struct tacho_kev_args *a, size_t *len)
{
	const struct tacho_field *f = tacho_type_field(a->r->type, a->mapping->field[1]);
	const char *text = f ? tacho_field_data(f, a->r->raw, a->r->len, len) : NULL;

	return text;
}

static int put_exec(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    struct tacho_diag *d)
{
	size_t len;
	const char *text = second_text(a, &len);

	if (!text)
		return tacho_kev_map_text(m, a, d);
	m->counts.mapped++;
	return tacho_kev_map_name(m, a, PROC(TACHO_KEV_PROC_CREATE_NAME), 0,
				  (uint32_t)tacho_kev_map_task(m, (int32_t)a->value[0])->pid,
				  text, len, d);
}

static int put_rename(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	size_t len;
	const char *text = second_text(a, &len);

	if (!text)
		return tacho_kev_map_text(m, a, d);
	m->counts.mapped++;
	return tacho_kev_map_name(m, a, PROC(TACHO_KEV_PROC_THREAD_NAME),
				  (uint32_t)tacho_kev_map_task(m, (int32_t)a->value[0])->pid,
				  (uint32_t)a->value[0], text, len, d);
}

/* ---- interrupts, signals, power ------------------------------------------------------ */

static int put_irq(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		   uint32_t event, struct tacho_diag *d)
{
	m->counts.mapped++;
	return put_two(m, a, TACHO_KEV_MAKE(TACHO_KEV_INT, event), (uint32_t)a->value[0],
		       0, d);
}

static int put_irq_entry(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			 struct tacho_diag *d)
{
	return put_irq(m, a, 1, d);
}

static int put_irq_exit(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			struct tacho_diag *d)
{
	return put_irq(m, a, 2, d);
}

static int put_signal(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	/* signal, code, errno; what a signal brings with it Linux does not tell */
	uint32_t words[10] = { (uint32_t)a->value[0], (uint32_t)a->value[1],
			       (uint32_t)a->value[2] };

	m->counts.mapped++;
	return tacho_kev_map_put(m, a, SIGNAL, words, is_wide(m, SIGNAL) ? 10 : 2, d);
}

static int put_idle(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    struct tacho_diag *d)
{
	uint32_t mode = (uint32_t)a->value[0], cpu = (uint32_t)a->value[1];
	bool start = mode != UINT32_MAX;

	if (cpu >= TACHO_KEV_CPUS)
		return tacho_kev_map_text(m, a, d);
	m->counts.mapped++;
	if (start)
		m->idle[cpu] = mode;
	return put_two(m, a, POWER, cpu | POWER_IDLE | (start ? POWER_START : 0),
		       m->idle[cpu], d);
}

static int put_frequency(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			 struct tacho_diag *d)
{
	m->counts.mapped++;
	return put_two(m, a, POWER, (uint32_t)a->value[1] & 0xffff,
		       (uint32_t)a->value[0], d);
}

/* ---- system calls ---------------------------------------------------------------------- */

static int put_call(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    uint32_t first, uint32_t second, struct tacho_diag *d)
{
	int n = tacho_kev_call_number(m->types.profile->release, a->mapping->call);

	if (n < 0)
		return tacho_kev_map_text(m, a, d);
	m->counts.mapped++;
	return put_two(m, a, TACHO_KEV_MAKE(TACHO_KEV_KER_CALL, n), first, second, d);
}

/* Its first two arguments are the call's. */
static int enter_as_is(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       struct tacho_diag *d)
{
	return put_call(m, a, (uint32_t)a->value[0],
			a->mapping->field[1] ? (uint32_t)a->value[1] : 0, d);
}

/* Process and thread: those of the caller, or those named by the argument. */
static int enter_who(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		     struct tacho_diag *d)
{
	int32_t tid = a->tid;

	if (a->mapping->field[0] && a->value[0])
		tid = (int32_t)a->value[0];
	return put_call(m, a, (uint32_t)tacho_kev_map_task(m, tid)->pid, (uint32_t)tid, d);
}

/* A signal to a process or to a thread of it, which the wide form names. */
static int put_kill(struct tacho_kev_map *m, const struct tacho_kev_args *a, uint32_t pid,
		    uint32_t tid, struct tacho_diag *d)
{
	uint32_t words[6] = { 0, pid, tid, (uint32_t)a->value[1], 0, 0 };
	int n = tacho_kev_call_number(m->types.profile->release, a->mapping->call);
	uint32_t code = TACHO_KEV_MAKE(TACHO_KEV_KER_CALL, (uint32_t)n);

	if (n < 0 || !is_wide(m, code))
		return put_call(m, a, pid, words[3], d);
	m->counts.mapped++;
	return tacho_kev_map_put(m, a, code, words, 6, d);
}

static int enter_kill(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	return put_kill(m, a, (uint32_t)a->value[0], 0, d);
}

static int enter_tkill(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       struct tacho_diag *d)
{
	return put_kill(m, a, (uint32_t)tacho_kev_map_task(m, (int32_t)a->value[0])->pid,
			(uint32_t)a->value[0], d);
}

static int enter_tgkill(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			struct tacho_diag *d)
{
	return put_kill(m, a, (uint32_t)a->value[0], (uint32_t)a->value[2], d);
}

static int enter_own_and_first(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			       struct tacho_diag *d)
{
	return put_call(m, a, (uint32_t)a->pid, (uint32_t)a->value[0], d);
}

static int enter_exit(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	return put_call(m, a, (uint32_t)a->tid, 0, d);
}

static int leave(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		 struct tacho_diag *d)
{
	int n = tacho_kev_call_number(m->types.profile->release, a->mapping->call);
	int64_t ret = (int64_t)a->value[0];
	uint32_t code;

	if (n < 0)
		return tacho_kev_map_text(m, a, d);
	m->counts.mapped++;
	code = TACHO_KEV_MAKE(TACHO_KEV_KER_CALL, (uint32_t)n + TACHO_KEV_CALL_EXIT);
	if (ret < 0 && ret >= -4095)
		return put_two(m, a, code, UINT32_MAX, (uint32_t)-ret, d);
	return put_two(m, a, code, (uint32_t)ret, 0, d);
}

/* A call in which a thread waits in a state of its own: text, but remembered. */
static int enter_wait(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	tacho_kev_map_task(m, a->tid)->state = a->mapping->state;
	return tacho_kev_map_text(m, a, d);
}

static int leave_wait(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	tacho_kev_map_task(m, a->tid)->state = 0;
	return tacho_kev_map_text(m, a, d);
}

static int put_memory(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      uint32_t event, uint32_t nr, struct tacho_diag *d)
{
	uint32_t words[6] = { (uint32_t)a->pid };

	m->counts.mapped++;
	tacho_put_u64(words + 1, a->value[0]);
	tacho_put_u64(words + 3, a->value[1]);
	words[5] = (uint32_t)a->value[2];
	return tacho_kev_map_put(m, a, TACHO_KEV_MAKE(TACHO_KEV_SYSTEM, event), words, nr, d);
}

static int enter_mmap(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      struct tacho_diag *d)
{
	return put_memory(m, a, 6, 6, d);
}

static int enter_munmap(struct tacho_kev_map *m, const struct tacho_kev_args *a,
			struct tacho_diag *d)
{
	return put_memory(m, a, 7, 5, d);
}

/* ---- the table ------------------------------------------------------------------------- */

#define CALL(linux_name, qnx_name, enter, ...) \
	{ "syscalls", "sys_enter_" linux_name, { __VA_ARGS__ }, enter, qnx_name, 0 }, \
	{ "syscalls", "sys_exit_" linux_name, { "ret" }, leave, qnx_name, 0 }
#define WAIT(linux_name, wait_state) \
	{ "syscalls", "sys_enter_" linux_name, { NULL }, enter_wait, NULL, wait_state }, \
	{ "syscalls", "sys_exit_" linux_name, { NULL }, leave_wait, NULL, 0 }

static const struct tacho_kev_mapping mappings[] = {
	{ "sched", "sched_switch", { "prev_pid", "prev_state", "next_pid" },
	  put_switch, NULL, 0 },
	{ "sched", "sched_wakeup", { "pid" }, put_wakeup, NULL, 0 },
	{ "sched", "sched_wakeup_new", { "pid" }, put_wakeup, NULL, 0 },
	{ "sched", "sched_process_fork", { "parent_pid", "child_pid" }, put_fork,
	  NULL, 0 },
	{ "sched", "sched_process_exec", { "pid", "filename" }, put_exec, NULL, 0 },
	{ "sched", "sched_process_exit", { "pid" }, put_exit, NULL, 0 },
	{ "task", "task_rename", { "pid", "newcomm" }, put_rename, NULL, 0 },
	{ "irq", "irq_handler_entry", { "irq" }, put_irq_entry, NULL, 0 },
	{ "irq", "irq_handler_exit", { "irq" }, put_irq_exit, NULL, 0 },
	{ "signal", "signal_deliver", { "sig", "code", "errno" }, put_signal, NULL, 0 },
	{ "power", "cpu_idle", { "state", "cpu_id" }, put_idle, NULL, 0 },
	{ "power", "cpu_frequency", { "state", "cpu_id" }, put_frequency, NULL, 0 },
	CALL("kill", "signal_kill", enter_kill, "pid", "sig"),
	CALL("tkill", "signal_kill", enter_tkill, "pid", "sig"),
	CALL("tgkill", "signal_kill", enter_tgkill, "tgid", "sig", "pid"),
	CALL("rt_sigprocmask", "signal_procmask", enter_who, NULL),
	CALL("sched_yield", "sched_yield", enter_as_is, NULL),
	CALL("sched_getparam", "sched_get", enter_who, "pid"),
	CALL("sched_getscheduler", "sched_get", enter_who, "pid"),
	CALL("clock_gettime", "clock_time", enter_as_is, "which_clock"),
	CALL("clock_getres", "clock_period", enter_as_is, "which_clock"),
	CALL("timer_create", "timer_create", enter_as_is, "which_clock"),
	CALL("timer_delete", "timer_destroy", enter_as_is, "timer_id"),
	CALL("timer_gettime", "timer_info", enter_own_and_first, "timer_id"),
	CALL("exit", "thread_destroy", enter_exit, NULL),
	CALL("exit_group", "thread_destroyall", enter_as_is, NULL),
	WAIT("nanosleep", TACHO_KEV_TH_NANOSLEEP),
	WAIT("clock_nanosleep", TACHO_KEV_TH_NANOSLEEP),
	WAIT("pause", TACHO_KEV_TH_SIGSUSPEND),
	WAIT("rt_sigsuspend", TACHO_KEV_TH_SIGSUSPEND),
	WAIT("rt_sigtimedwait", TACHO_KEV_TH_SIGWAITINFO),
	{ "syscalls", "sys_enter_mmap", { "addr", "len", "flags" }, enter_mmap, NULL, 0 },
	{ "syscalls", "sys_enter_munmap", { "addr", "len" }, enter_munmap, NULL, 0 },
};

const struct tacho_kev_mapping *tacho_kev_mapping_of(const struct tacho_type *type)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(mappings); i++)
		if (!strcmp(mappings[i].system, type->system) &&
		    !strcmp(mappings[i].name, type->name))
			return &mappings[i];
	return NULL;
}
