// SPDX-License-Identifier: MIT
#include "app/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "session/command.h"
#include "session/remark.h"
#include "tracefs/instance.h"

#define ARENA_MAX	((size_t)64 << 20)

struct look {
	struct app_status *st;
	struct tacho_dir dir;
	struct tacho_tracefs tracefs;	/* dirfd -1: not for us */
	/* where the next of each list goes */
	struct app_status_session **session;
	struct app_status_process **process;
	struct app_status_remark **remark;
	struct app_status_kept **kept;
	struct app_status_problem **problem;
	struct app_status_unfit **unfit;	/* of the session that is looked at */
	const char *kept_name;			/* is_called()'s */
};

/* What is gone, or never was, is no error. */
static void note(struct look *l, int err)
{
	if (err < 0 && err != -ENOENT && !l->st->err)
		l->st->err = err;
}

static char *copy_n(struct look *l, const char *text, size_t len)
{
	char *copy = tacho_arena_strndup(&l->st->arena, text, len);

	if (!copy)
		note(l, -ENOMEM);
	return copy;
}

static char *copy(struct look *l, const char *text)
{
	return copy_n(l, text, strlen(text));
}

/* Zeroed memory for an element of a list; NULL: that is noted. */
static void *new_element(struct look *l, size_t size)
{
	void *p = tacho_arena_alloc(&l->st->arena, size);

	if (!p) {
		note(l, -ENOMEM);
		return NULL;
	}
	return memset(p, 0, size);
}

/* ---- sessions -------------------------------------------------------------- */

static void list_rules(struct look *l, struct app_status_session *to, const struct tacho_control *c)
{
	struct app_status_rule **at = &to->rules;

	for (uint32_t i = 0; i < c->nr_rules && i < TACHO_RULES_MAX; i++) {
		struct app_status_rule *r = new_element(l, sizeof(*r));

		if (!r)
			return;
		r->enable = c->rule[i].enable;
		r->events = copy_n(l, c->rule[i].glob, strnlen(c->rule[i].glob, TACHO_RULE_MAX));
		if (!r->events)
			return;
		*at = r;
		at = &r->next;
	}
}

static int add_unfit(const struct tacho_command_info *c, const struct tacho_cmd_error *why,
		     void *arg)
{
	struct look *l = arg;
	struct app_status_unfit *u = new_element(l, sizeof(*u));

	if (!u)
		return 0;
	u->is_filter = c->kind == TACHO_COMMAND_FILTER;
	u->may_come = why->err == -ENOENT;
	u->events = copy(l, c->event);
	u->text = copy(l, c->text);
	u->why = copy(l, why->text);
	if (u->events && u->text && u->why) {
		*l->unfit = u;
		l->unfit = &u->next;
	}
	return 0;
}

static void list_pids(struct look *l, struct app_status_pids *to, const struct tacho_pids *from)
{
	uint32_t n = tacho_pids_nr(from);
	int32_t *list = n ? tacho_arena_array(&l->st->arena, n, sizeof(*list)) : NULL;

	if (!list) {
		note(l, n ? -ENOMEM : 0);
		return;
	}
	memcpy(list, from->pid, n * sizeof(*list));
	*to = (struct app_status_pids){ list, n };
}

/* The session's instance in the kernel where its control block names none, or "". */
static void find_instance(struct look *l, const char *session,
			  char name[TACHO_KERNEL_INSTANCE_MAX])
{
	int err;

	if (*name || l->tracefs.dirfd < 0)
		return;
	err = tacho_kernel_find(&l->tracefs, session, name);
	if (err)
		*name = '\0';
	if (err != -EEXIST)
		note(l, err);
}

static void add_session(struct look *l, struct tacho_session *s)
{
	struct app_status_session *to = new_element(l, sizeof(*to));
	const struct tacho_control *c = s->view.ctl;

	if (!to)
		return;
	to->name = copy(l, s->name);
	to->directory = copy(l, s->path);
	if (!to->name || !to->directory)
		return;
	app_session_info(s, &to->info);
	find_instance(l, s->name, to->info.kernel_instance);
	note(l, app_session_sums(s, &to->sums));
	list_rules(l, to, c);
	l->unfit = &to->unfit;
	note(l, tacho_commands_unfit(s, add_unfit, l));
	list_pids(l, &to->pids, &c->pids);
	list_pids(l, &to->not_pids, &c->not_pids);
	to->follow = c->flags & TACHO_SESSION_FORK;
	*l->session = to;
	l->session = &to->next;
}

static void add_problem(struct look *l, const struct tacho_diag *d)
{
	struct app_status_problem *p = new_element(l, sizeof(*p));

	if (!p)
		return;
	p->text = copy(l, d->text[0] ? d->text : strerror(-d->err));
	p->no_room = tacho_no_room_here(d->err);
	if (!p->text)
		return;
	*l->problem = p;
	l->problem = &p->next;
}

static int one_session(const char *name, const char *path, void *arg)
{
	struct look *l = arg;
	struct tacho_session s;
	struct tacho_diag d = { 0 };

	(void)path;
	if (tacho_session_open(&s, &l->dir, name, &d)) {
		add_problem(l, &d);
		return 0;
	}
	add_session(l, &s);
	tacho_session_close(&s);
	return 0;
}

/* ---- programs -------------------------------------------------------------- */

/* How many events of a process are on, in any session. */
static uint32_t events_on(const struct tacho_procfile *p)
{
	uint32_t n = tacho_procfile_nr_events(p), on = 0;

	for (uint32_t i = 1; i <= n; i++)
		on += tacho_load_relaxed(&p->state[i].wanted) != 0;
	return on;
}

static int one_process(struct tacho_procfile *p, void *arg)
{
	struct look *l = arg;
	struct app_status_process *to = new_element(l, sizeof(*to));

	if (!to)
		return 0;
	*to = (struct app_status_process){
		.pid = p->pid, .foreign = p->foreign,
		.events = tacho_procfile_nr_events(p), .enabled = events_on(p),
		.lost_events = p->head->lost_events, .lost_sessions = p->head->lost_map,
		.lost_programs = p->head->lost_program, .lost_stacks = p->head->lost_stack,
		.sharers = p->sharers, .unseated = p->head->unseated,
	};
	memcpy(to->comm, p->head->comm, sizeof(to->comm) - 1);
	*l->process = to;
	l->process = &to->next;
	return 0;
}

static void list_remarks(struct look *l)
{
	struct tacho_remark r;

	for (uint32_t i = 0; i < TACHO_REMARKS_MAX; i++) {
		struct app_status_remark *to;

		if (!tacho_remark_get(l->dir.reg, i + tacho_load_relaxed(&l->dir.reg->remarks),
				      &r))
			continue;
		to = new_element(l, sizeof(*to));
		if (!to)
			return;
		to->comm = copy(l, r.comm);
		to->text = copy(l, r.text);
		to->pid = r.pid;
		to->times = r.times;
		to->realtime = r.last;
		if (!to->comm || !to->text)
			return;
		*l->remark = to;
		l->remark = &to->next;
	}
}

/* ---- what the kernel keeps ------------------------------------------------- */

static int is_called(const char *name, const char *path, void *arg)
{
	char instance[TACHO_KERNEL_INSTANCE_MAX];
	struct look *l = arg;
	int err = tacho_kernel_find(&l->tracefs, name, instance);

	(void)path;
	if (err != -EEXIST)
		note(l, err);
	return !err && !strcmp(instance + strlen("tacho."), l->kept_name);
}

/* An instance that goes on in the kernel for a session that is gone, or another's. */
static int one_kept(const char *name, void *arg)
{
	struct look *l = arg;
	struct app_status_kept *k;

	l->kept_name = name;
	if (tacho_sessions_each(&l->dir, is_called, l))
		return 0;
	k = new_element(l, sizeof(*k));
	if (!k)
		return 0;
	k->name = copy(l, name);
	if (k->name) {
		*l->kept = k;
		l->kept = &k->next;
	}
	return 0;
}

/* ---- all ------------------------------------------------------------------- */

static void look_at_all(struct look *l)
{
	note(l, tacho_sessions_each(&l->dir, one_session, l));
	note(l, tacho_procs_each(&l->dir, one_process, l));
	list_remarks(l);
	if (l->tracefs.dirfd >= 0)
		note(l, tacho_kernel_kept_each(&l->tracefs, one_kept, l));
}

static int look_at_one(struct look *l, const char *name, struct tacho_diag *d)
{
	struct tacho_session s;
	int err = tacho_session_open(&s, &l->dir, name, d);

	if (err)
		return err;
	add_session(l, &s);
	tacho_session_close(&s);
	return 0;
}

static int look(struct look *l, const char *name, struct tacho_diag *d)
{
	int err = tacho_tracefs_open(&l->tracefs, 0, NULL);

	if (err)
		l->tracefs.dirfd = -1;
	if (tacho_no_room_here(err))
		note(l, err);
	l->st->directory = copy(l, l->dir.path);
	err = 0;
	if (!l->st->directory)
		err = tacho_no_memory(d);
	else if (name)
		err = look_at_one(l, name, d);
	else
		look_at_all(l);
	tacho_tracefs_close(&l->tracefs);
	return err;
}

int app_status_get(struct app_status *st, const char *name, struct tacho_diag *d)
{
	struct look l = {
		.st = st, .session = &st->sessions, .process = &st->processes,
		.remark = &st->remarks, .kept = &st->kept, .problem = &st->problems,
	};
	int err = tacho_dir_open(&l.dir, !name, d);

	if (err)
		return err;
	*st = (struct app_status){ .err = 0 };
	tacho_arena_init(&st->arena, ARENA_MAX);
	err = look(&l, name, d);
	tacho_dir_close(&l.dir);
	if (err)
		tacho_arena_release(&st->arena);
	return err;
}

void app_status_release(struct app_status *st)
{
	tacho_arena_release(&st->arena);
}
