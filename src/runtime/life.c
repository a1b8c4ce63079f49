// SPDX-License-Identifier: MIT
/* The life of the runtime: start, the boot option, fork, exit. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "runtime/actions.h"
#include "session/remark.h"
#include "session/session.h"

struct runtime tacho_runtime = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The error of a failed start, for further attempts. */
static int begin_error;
static bool begun_blind;	/* it failed and no note could be written */

/* ---- reporting errors ---- */

/*
 * With TACHO_DEBUG in the environment, and only then, on stderr.  A pipe without a reader or a
 * file at its limit raises a signal: all are blocked here (object.c), so the signal is pending
 * and is consumed.
 */
static void debug(const char *text)
{
	const struct timespec none = { 0 };
	char line[sizeof(((struct tacho_diag *)0)->text) + 64];
	sigset_t ours, before;
	ssize_t done;
	int n;

	if (!secure_getenv("TACHO_DEBUG"))
		return;
	n = snprintf(line, sizeof(line), "tacho: process %d: %s\n", tacho_runtime.pid, text);
	sigemptyset(&before);
	(void)sigpending(&before);
	done = write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
	if (done >= 0)
		return;
	sigemptyset(&ours);
	if (!sigismember(&before, SIGPIPE))
		sigaddset(&ours, SIGPIPE);
	if (!sigismember(&before, SIGXFSZ))
		sigaddset(&ours, SIGXFSZ);
	(void)sigtimedwait(&ours, NULL, &none);
}

void tacho_life_say(struct tacho_registry *reg, const char *fmt, ...)
{
	struct tacho_diag d = { 0 };
	char comm[17] = "";
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(d.text, sizeof(d.text), fmt, ap);
	va_end(ap);
	(void)prctl(PR_GET_NAME, comm);
	if (reg)
		tacho_remark(reg, tacho_runtime.pid, comm, d.text);
	debug(d.text);
}

/* ---- start ---- */

/*
 * TACHO_EVENTS=sys:ev,...: this process records from its first event on, into session
 * $TACHO_SESSION ("boot").  If the session does not exist, it is created as a flight recorder for
 * this process and its children.
 */
static void boot_option(struct tacho_dir *dir)
{
	const char *events = secure_getenv("TACHO_EVENTS");
	const char *name = secure_getenv("TACHO_SESSION");
	struct tacho_session_config cfg = {
		.name = name ? name : "boot",
		.flags = TACHO_SESSION_OVERWRITE,
		.clock = -1,
	};
	struct tacho_session s;
	struct tacho_diag d = { 0 };
	char glob[TACHO_RULE_MAX];

	if (!events || !*events)
		return;
	if (!tacho_session_create(&s, dir, &cfg, &d)) {
		(void)tacho_session_pids(&s, &tacho_runtime.pid, 1, true, NULL);
	} else if (tacho_session_open(&s, dir, cfg.name, NULL)) {
		tacho_life_say(dir->reg, "TACHO_EVENTS records nothing: %s", d.text);
		return;
	} else if (tacho_pids_nr(&s.view.ctl->pids)) {
		(void)tacho_pids_add(&s.view.ctl->pids, tacho_runtime.pid);
	}
	while (*events) {
		size_t len = strcspn(events, ",");

		(void)snprintf(glob, sizeof(glob), "%.*s", (int)len, events);
		memset(&d, 0, sizeof(d));
		if (len && len >= sizeof(glob))
			tacho_life_say(dir->reg, "TACHO_EVENTS: '%.40s...' is too long", events);
		else if (len && tacho_session_rule(&s, true, glob, NULL, &d))
			tacho_life_say(dir->reg, "TACHO_EVENTS: %s", d.text);
		events += len + (events[len] == ',');
	}
	tacho_session_close(&s);
}

/* Maximum number of generations between a listed process and this one. */
#define ANCESTORS_MAX	64

/*
 * Whether $TACHO_FOLLOW names a session; it has the uuids of the sessions whose command is an
 * ancestor.
 */
static bool must_follow(const struct tacho_control *c)
{
	const char *text = secure_getenv("TACHO_FOLLOW");
	char uuid[2 * sizeof(c->uuid) + 1];

	for (size_t i = 0; i < sizeof(c->uuid); i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", c->uuid[i]);
	return text && strstr(text, uuid);
}

static bool has_ancestor(const struct tacho_pids *list)
{
	int32_t pid = tacho_runtime.pid;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		pid = tacho_parent_pid(pid);
		if (pid > 1 && tacho_pids_has(list, pid))
			return true;
	}
	return false;
}

/*
 * Joins the sessions that follow an ancestor.  Processes without tacho (a shell), or a fork
 * without handlers (vfork), may be in between.
 */
static void join_followers(void)
{
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
		struct runtime_session *s = tacho_attach_live(bit);
		struct tacho_control *c = s ? s->view.ctl : NULL;

		if (!c || !(tacho_load_relaxed(&c->flags) & TACHO_SESSION_FORK))
			continue;
		if (tacho_pids_nr(&c->pids) &&
		    (must_follow(c) || has_ancestor(&c->pids)))
			(void)tacho_pids_add(&c->pids, tacho_runtime.pid);
		if (tacho_pids_nr(&c->not_pids) && has_ancestor(&c->not_pids))
			(void)tacho_pids_add(&c->not_pids, tacho_runtime.pid);
	}
}

static int begin(void)
{
	struct tacho_diag d = { 0 };
	struct tacho_dir dir;
	int err;

	tacho_runtime.pid = getpid();
	tacho_runtime.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
	err = tacho_dir_open(&dir, true, &d);
	if (err) {
		debug(d.text);
		begun_blind = true;
		return err;
	}
	(void)snprintf(tacho_runtime.dir, sizeof(tacho_runtime.dir), "%s", dir.path);
	err = tacho_procmap_create();
	if (!err)
		err = tacho_attach_registry();
	if (err) {
		tacho_life_say(dir.reg, "it is not traced: cannot make its file in '%s/proc': "
			       "%s%s", dir.path, strerror(-err),
			       err == -EFBIG ? " (ulimit -f)" : "");
	} else {
		join_followers();
		boot_option(&dir);
	}
	tacho_dir_close(&dir);
	return err;
}

/* The fork handlers hold the mutex over the fork, so the child's data is consistent. */
static void before_fork(void)
{
	pthread_mutex_lock(&tacho_runtime.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&tacho_runtime.lock);
}

/* Adds the child to the pid lists of a session that follows forks. */
static void follow_fork(struct tacho_control *c, int32_t parent, int32_t child)
{
	if (!(tacho_load_relaxed(&c->flags) & TACHO_SESSION_FORK))
		return;
	if (tacho_pids_has(&c->pids, parent))
		(void)tacho_pids_add(&c->pids, child);
	if (tacho_pids_has(&c->not_pids, parent))
		(void)tacho_pids_add(&c->not_pids, child);
}

static void after_fork_child(void)
{
	int32_t parent = tacho_runtime.pid;
	int saved = errno;

	tacho_emit_fork();
	if (tacho_runtime.proc) {
		tacho_runtime.pid = getpid();
		tacho_objects_fork(parent);
		for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
			struct runtime_session *s = tacho_attach_live(bit);

			if (s)
				follow_fork(s->view.ctl, parent, tacho_runtime.pid);
		}
		tacho_procmap_fork();
		if (tacho_runtime.proc->nr_events && !tacho_runtime.shares)
			tacho_attach_apply(1, tacho_runtime.proc->nr_events);
	}
	pthread_mutex_unlock(&tacho_runtime.lock);
	errno = saved;
}

int tacho_life_begin(void)
{
	if (tacho_runtime.begun)
		return begin_error;
	tacho_runtime.begun = true;
	begin_error = begin();
	if (!begin_error)
		begin_error = -pthread_atfork(before_fork, after_fork_parent,
					      after_fork_child);
	return begin_error;
}

/*
 * Writes a note with the counts of the process's file, which is removed, or with the reason why
 * this process is not traced, if no note could be written before.
 */
static void say_at_end(void)
{
	const struct tacho_proc *p = tacho_runtime.proc;
	struct tacho_dir dir;
	uint64_t n;

	if (p) {
		n = tacho_load_relaxed(&p->lost_map);
		if (n)
			tacho_life_say(tacho_runtime.reg, "%ju times a session could not be mapped: "
				       "events are missing there", (uintmax_t)n);
	} else if (begun_blind && tacho_attach_may_map() && !tacho_dir_open(&dir, false, NULL)) {
		tacho_life_say(dir.reg, "it was not traced: cannot use '%s': %s", dir.path,
			       strerror(-begin_error));
		tacho_dir_close(&dir);
	}
}

/* At exit the file is removed; the mapping stays for sites that still run. */
__attribute__((destructor)) static void life_end(void)
{
	int saved = errno;
	sigset_t all, was;

	if (!tacho_runtime.begun || getpid() != tacho_runtime.pid)
		return;
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &was);
	say_at_end();
	if (tacho_runtime.proc)
		tacho_procmap_end();
	(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
	errno = saved;
}
