// SPDX-License-Identifier: MIT
/*
 * Which tracepoints of the session's kernel instance are on: those of which fmt/kev/map.h makes
 * events that are on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "compat/qnx/qnx.h"
#include "fmt/kev/layout.h"
#include "fmt/kev/rows.h"
#include "tracefs/instance.h"

#define LIST_MAX	(1u << 20)
#define REMOVE_TRIES	20
#define PATH_ROOM	160

/* A tracepoint, and an event that it is needed for. */
struct point {
	uint8_t class_;
	int16_t event;		/* ANY, or BY_CALL: of the kernel call `call` */
	const char *point;	/* "system/event" */
	const char *call;
};

#define ANY	(-1)
#define BY_CALL	(-2)

#define CALL(linux_name, qnx_name) \
	{ QNX_KERCALL_ENTER, BY_CALL, "syscalls/sys_enter_" linux_name, qnx_name }, \
	{ QNX_KERCALL_EXIT, BY_CALL, "syscalls/sys_exit_" linux_name, qnx_name }
#define WAIT(linux_name, state) \
	{ QNX_THREAD, state, "syscalls/sys_enter_" linux_name, NULL }, \
	{ QNX_THREAD, state, "syscalls/sys_exit_" linux_name, NULL }

/* Numbers of SYSTEM's and COMM's events. */
#define MMAP	6
#define MUNMAP	7
#define POWER	15
#define SIGNAL	9

static const struct point points[] = {
	{ QNX_THREAD, ANY, "sched/sched_switch", NULL },
	{ QNX_THREAD, TACHO_KEV_TH_READY, "sched/sched_wakeup", NULL },
	{ QNX_THREAD, TACHO_KEV_TH_READY, "sched/sched_wakeup_new", NULL },
	{ QNX_THREAD, TACHO_KEV_TH_CREATE, "sched/sched_process_fork", NULL },
	{ QNX_THREAD, TACHO_KEV_TH_DESTROY, "sched/sched_process_exit", NULL },
	{ QNX_PROCESS, TACHO_KEV_PROC_CREATE - 1, "sched/sched_process_fork", NULL },
	{ QNX_PROCESS, TACHO_KEV_PROC_DESTROY - 1, "sched/sched_process_exit", NULL },
	{ QNX_PROCESS, TACHO_KEV_PROC_CREATE_NAME - 1, "sched/sched_process_exec", NULL },
	{ QNX_PROCESS, TACHO_KEV_PROC_THREAD_NAME - 1, "task/task_rename", NULL },
	{ QNX_INT_ENTER, ANY, "irq/irq_handler_entry", NULL },
	{ QNX_INT_EXIT, ANY, "irq/irq_handler_exit", NULL },
	{ QNX_COMM, SIGNAL, "signal/signal_deliver", NULL },
	{ QNX_SYSTEM, POWER, "power/cpu_idle", NULL },
	{ QNX_SYSTEM, POWER, "power/cpu_frequency", NULL },
	{ QNX_SYSTEM, MMAP, "syscalls/sys_enter_mmap", NULL },
	{ QNX_SYSTEM, MUNMAP, "syscalls/sys_enter_munmap", NULL },
	WAIT("nanosleep", TACHO_KEV_TH_NANOSLEEP),
	WAIT("clock_nanosleep", TACHO_KEV_TH_NANOSLEEP),
	WAIT("pause", TACHO_KEV_TH_SIGSUSPEND),
	WAIT("rt_sigsuspend", TACHO_KEV_TH_SIGSUSPEND),
	WAIT("rt_sigtimedwait", TACHO_KEV_TH_SIGWAITINFO),
	CALL("kill", "signal_kill"),
	CALL("tkill", "signal_kill"),
	CALL("tgkill", "signal_kill"),
	CALL("rt_sigprocmask", "signal_procmask"),
	CALL("sched_yield", "sched_yield"),
	CALL("sched_getparam", "sched_get"),
	CALL("sched_getscheduler", "sched_get"),
	CALL("clock_gettime", "clock_time"),
	CALL("clock_getres", "clock_period"),
	CALL("timer_create", "timer_create"),
	CALL("timer_delete", "timer_destroy"),
	CALL("timer_gettime", "timer_info"),
	CALL("exit", "thread_destroy"),
	CALL("exit_group", "thread_destroyall"),
};

/* ---- which are wanted ---- */

static bool is_on(const struct qnx_state *s, const struct point *p)
{
	const struct qnx_class *c = &s->class_[p->class_];
	int n = p->event;

	if (n == BY_CALL) {
		n = tacho_kev_call_number(TACHO_KEV_710, p->call);
		return n >= 0 && qnx_bit(c->on, (uint32_t)n);
	}
	if (n >= 0)
		return qnx_bit(c->on, (uint32_t)n);
	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(c->on); i++)
		if (tacho_load_relaxed(&c->on[i]))
			return true;
	return false;
}

/* Of a tracepoint that is there several times: whether any of these is. */
static bool wanted(const struct qnx_state *s, const char *point)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(points); i++)
		if (!strcmp(points[i].point, point) && is_on(s, &points[i]))
			return true;
	return false;
}

static bool any_wanted(const struct qnx_state *s)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(points); i++)
		if (is_on(s, &points[i]))
			return true;
	return false;
}

/* ---- following ---- */

/* Whether the lines of set_event ("system:event") have a tracepoint. */
static bool is_listed(const char *list, const char *point)
{
	const char *slash = strchr(point, '/');
	size_t system = (size_t)(slash - point), len = strlen(point);

	for (const char *at = list; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (!strncmp(at, point, system) && at[system] == ':' &&
		    !strncmp(at + system + 1, slash + 1, len - system - 1) &&
		    (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

static int follow_one(int dirfd, const char *list, const char *point, bool want,
		      struct tacho_diag *d)
{
	char path[PATH_ROOM];

	if (is_listed(list, point) == want)
		return 0;
	(void)snprintf(path, sizeof(path), "events/%s/enable", point);
	/* a kernel without it has no such events */
	if (want && faccessat(dirfd, path, F_OK, 0))
		return 0;
	return tacho_tracefs_write(dirfd, path, want ? "1" : "0", false, d);
}

static int follow(const struct tacho_kernel *k, const struct qnx_state *s, struct tacho_diag *d)
{
	int dirfd = tacho_kernel_dirfd(k), err;
	struct tacho_buf list;

	tacho_buf_init(&list, LIST_MAX);
	err = tacho_tracefs_read(dirfd, "set_event", &list, d);
	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(points); i++)
		err = follow_one(dirfd, tacho_buf_str(&list), points[i].point,
				 wanted(s, points[i].point), d);
	tacho_buf_release(&list);
	return err;
}

static bool has_instance(const struct tacho_qnx *q)
{
	struct tacho_tracefs t;
	bool is;

	if (tacho_tracefs_open(&t, 0, NULL))
		return false;
	is = tacho_kernel_is_kept(&t, q->session.name);
	tacho_tracefs_close(&t);
	return is;
}

static int open_instance(struct tacho_qnx *q, struct tacho_kernel **k, struct tacho_diag *d)
{
	const struct tacho_kernel_config config = {
		.name = q->session.name, .overwrite = q->state->ring, .keep = true,
		.buffer_size = q->state->nr_buffers * QNX_BUFFER_SIZE,
	};

	return tacho_kernel_create(k, &config, d);
}

int tacho_qnx_kernel_follow(struct tacho_qnx *q, struct tacho_diag *d)
{
	struct tacho_kernel *k;
	int err;

	if (!any_wanted(q->state) && !has_instance(q))
		return 0;
	err = open_instance(q, &k, d);
	tacho_store_relaxed(&q->state->no_kernel, (uint32_t)-err);
	/* no kernel events is no reason to have no program events */
	if (err == -EACCES || err == -EPERM || err == -ENOENT || err == -ENODEV)
		return 0;
	if (err)
		return err;
	err = follow(k, q->state, d);
	if (!err)
		err = tacho_kernel_start(k, d);
	tacho_kernel_leave(k);
	return err;
}

int tacho_qnx_kernel_open(struct tacho_qnx *q, struct tacho_kernel **k, struct tacho_diag *d)
{
	int err = open_instance(q, k, d);

	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(points); i++) {
		const char *slash = strchr(points[i].point, '/');
		char system[32];

		(void)snprintf(system, sizeof(system), "%.*s",
			       (int)(slash - points[i].point), points[i].point);
		/* a kernel without it has no such events */
		(void)tacho_kernel_expect(*k, system, slash + 1, NULL);
	}
	return err;
}

int tacho_qnx_kernel_stop(struct tacho_qnx *q, struct tacho_diag *d)
{
	struct tacho_kernel *k;
	int err;

	if (!has_instance(q))
		return 0;
	err = open_instance(q, &k, d);
	if (err)
		return err;
	err = tacho_kernel_stop(k, d);
	tacho_kernel_leave(k);
	return err;
}

int tacho_qnx_kernel_mode(struct tacho_qnx *q, bool ring, struct tacho_diag *d)
{
	struct tacho_kernel *k;
	int err;

	if (!has_instance(q))
		return 0;
	err = open_instance(q, &k, d);
	if (err)
		return err;
	err = tacho_kernel_set_option(k, "overwrite", ring, d);
	tacho_kernel_leave(k);
	return err;
}

void tacho_qnx_kernel_remove(struct tacho_qnx *q)
{
	struct tacho_tracefs t;

	if (tacho_tracefs_open(&t, 0, NULL))
		return;
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (!tacho_kernel_is_kept(&t, q->session.name) ||
		    tacho_kernel_remove_kept(&t, q->session.name) != -EBUSY)
			break;
		(void)usleep(50000);
	}
	tacho_tracefs_close(&t);
}
