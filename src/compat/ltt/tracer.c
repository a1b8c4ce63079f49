// SPDX-License-Identifier: MIT
/* LTT's tracer: its traces, their masks and filters. */
#include "compat/ltt/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/ltt/layout.h"
#include "session/shared.h"
#include "sys/mapping.h"

#define VERSION		2u
#define LAYOUT		((uint32_t)sizeof(struct ltt_state) * 31 + VERSION)

/* ---- DIR/ltt ---- */

static void fill(void *file, uint64_t size)
{
	struct ltt_state *s = file;

	(void)size;
	s->layout = LAYOUT;
}

static bool fits(const void *file, uint64_t size)
{
	const struct ltt_state *s = file;

	return size == sizeof(*s) && s->layout == LAYOUT;
}

static const struct tacho_shared shared = {
	.name = "ltt", .magic = LTT_MAGIC_STATE, .min_size = sizeof(struct ltt_state),
	.fill = fill, .fits = fits,
};

int ltt_state_map(struct ltt_state **state, int *fd)
{
	void *file;
	int err = tacho_shared_map(&shared, sizeof(**state), &file, fd);

	if (!err)
		*state = file;
	return err;
}

void ltt_state_unmap(struct ltt_state *state)
{
	if (state)
		tacho_shm_unmap(state, sizeof(*state));
}

/* ---- the handle ---- */

static int errno_of(int err)
{
	switch (err) {
	case -EACCES:
		return -EPERM;
	case -ENOENT:
	case -EPROTO:
		return -ENODEV;
	case -EMFILE:
	case -ENFILE:
		return -ENOMEM;
	default:
		return err;
	}
}

int ltt_tracer_open(struct ltt_tracer *t, bool create)
{
	int err = tacho_dir_open(&t->dir, create, NULL);

	if (err)
		return errno_of(err);
	err = ltt_state_map(&t->state, &t->state_fd);
	if (err) {
		tacho_dir_close(&t->dir);
		return errno_of(err);
	}
	while (flock(t->state_fd, LOCK_EX))
		if (errno != EINTR) {
			err = -errno;
			ltt_tracer_close(t);
			return err;
		}
	return 0;
}

void ltt_tracer_close(struct ltt_tracer *t)
{
	ltt_state_unmap(t->state);
	(void)flock(t->state_fd, LOCK_UN);
	close(t->state_fd);
	tacho_dir_close(&t->dir);
}

/* ---- traces ---- */

struct names {
	uint32_t nr;
	char name[TACHO_SESSIONS_MAX][TACHO_NAME_MAX];
};

static int take_name(const char *name, const char *path, void *arg)
{
	struct names *all = arg;

	(void)path;
	if (all->nr < TACHO_SESSIONS_MAX)
		(void)stpncpy(all->name[all->nr++], name, TACHO_NAME_MAX - 1);
	return 0;
}

static bool is_trace(const struct tacho_session *s, bool flight)
{
	uint32_t flags = tacho_load_relaxed(&s->view.ctl->flags);

	return !(flags & TACHO_SESSION_OVERWRITE) == !flight &&
	       tacho_view_rules_want(&s->view, LTT_SYSTEM ":change_mask");
}

int ltt_tracer_each(struct ltt_tracer *t, bool flight,
		    int (*fn)(struct ltt_tracer *t, struct tacho_session *s, void *arg),
		    void *arg)
{
	struct names all = { 0 };
	int err = tacho_sessions_each(&t->dir, take_name, &all), n = 0;

	for (uint32_t i = 0; !err && i < all.nr; i++) {
		struct tacho_session s;

		/* it may no longer exist */
		if (tacho_session_open(&s, &t->dir, all.name[i], NULL))
			continue;
		if (is_trace(&s, flight)) {
			n++;
			err = errno_of(fn(t, &s, arg));
		}
		if (s.dir)
			tacho_session_close(&s);
	}
	return err ? err : n;
}

/* ---- masks ---- */

static struct ltt_entry *entry_of(const struct ltt_tracer *t, const struct tacho_session *s)
{
	struct ltt_entry *e = &t->state->entry[s->bit % TACHO_SESSIONS_MAX];

	return e->generation == s->generation + 1 ? e : NULL;
}

/* Takes an entry for the session, free or of an ended session. */
static struct ltt_entry *make_entry(struct ltt_tracer *t, const struct tacho_session *s)
{
	struct ltt_entry *e = &t->state->entry[s->bit % TACHO_SESSIONS_MAX];

	if (e->generation != s->generation + 1) {
		tacho_store_relaxed(&e->who.kinds, 0);
		e->held = 0;
		e->details = TRACE_EVENT_MASK_ALL;
		tacho_store_release(&e->generation, s->generation + 1);	/* [ltt-session] */
	}
	return e;
}

static bool rules_want(const struct tacho_session *s, const struct tacho_ltt_event *ev,
		       const char *suffix)
{
	char name[LTT_RULE_LEN];

	(void)snprintf(name, sizeof(name), LTT_SYSTEM ":%s%s", ev->name, suffix);
	return tacho_view_rules_want(&s->view, name);
}

void ltt_trace_masks(const struct ltt_tracer *t, const struct tacho_session *s,
		     struct ltt_masks *m)
{
	const struct ltt_entry *e = entry_of(t, s);

	*m = (struct ltt_masks){ LTT_FORCED, LTT_FORCED };
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++) {
		const struct tacho_ltt_event *ev = &tacho_ltt_events[i];

		if (rules_want(s, ev, "")) {
			m->events |= TRACE_EVENT_BIT(ev->id);
			m->details |= TRACE_EVENT_BIT(ev->id);
		} else if (rules_want(s, ev, LTT_BARE_SUFFIX)) {
			m->events |= TRACE_EVENT_BIT(ev->id);
		}
	}
	m->details |= (e ? e->details : TRACE_EVENT_MASK_ALL) & ~m->events & LTT_MASK_VALID;
}

int ltt_trace_set_masks(struct ltt_tracer *t, struct tacho_session *s,
			const struct ltt_masks *m)
{
	struct ltt_rules rules;

	make_entry(t, s)->details = m->details;
	ltt_rules_of(&rules, m);
	return tacho_session_rules(s, LTT_SYSTEM ":", rules.glob, rules.enable, rules.n, NULL);
}

/* ---- whose ---- */

/* Of another process; its owner is what /proc says. */
static bool owner_is(const struct ltt_who *who, uint32_t kinds, int32_t pid)
{
	struct stat st;
	char path[32];

	if (!(kinds & (LTT_BY_UID | LTT_BY_GID)))
		return true;
	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) &&
	       (!(kinds & LTT_BY_UID) || st.st_uid == tacho_load_relaxed(&who->uid)) &&
	       (!(kinds & LTT_BY_GID) || st.st_gid == tacho_load_relaxed(&who->gid));
}

bool ltt_who_has(const struct ltt_who *who, int32_t pid)
{
	uint32_t kinds = tacho_load_acquire(&who->kinds);	/* [ltt-who] */
	int saved = errno;
	bool yes;

	if (kinds & LTT_BY_PID && tacho_load_relaxed(&who->pid) != (pid ? pid : getpid()))
		return false;
	if (kinds & LTT_BY_PGRP && tacho_load_relaxed(&who->pgrp) != getpgid(pid)) {
		errno = saved;
		return false;
	}
	if (pid) {
		yes = owner_is(who, kinds, pid);
		errno = saved;
		return yes;
	}
	return (!(kinds & LTT_BY_UID) || getuid() == tacho_load_relaxed(&who->uid)) &&
	       (!(kinds & LTT_BY_GID) || getgid() == tacho_load_relaxed(&who->gid));
}

void ltt_trace_who(const struct ltt_tracer *t, const struct tacho_session *s,
		   struct ltt_who *who)
{
	const struct ltt_entry *e = entry_of(t, s);

	*who = e ? e->who : (struct ltt_who){ 0 };
}

void ltt_trace_set_who(struct ltt_tracer *t, const struct tacho_session *s,
		       const struct ltt_who *who)
{
	struct ltt_entry *e = make_entry(t, s);
	uint64_t bit = UINT64_C(1) << s->bit, was = t->state->filtered;

	tacho_store_relaxed(&e->who.pid, who->pid);
	tacho_store_relaxed(&e->who.pgrp, who->pgrp);
	tacho_store_relaxed(&e->who.gid, who->gid);
	tacho_store_relaxed(&e->who.uid, who->uid);
	tacho_store_release(&e->who.kinds, who->kinds);	/* [ltt-who] */
	/* [ltt-filtered] */
	tacho_store_release(&t->state->filtered, who->kinds ? was | bit : was & ~bit);
}

/* ---- running ---- */

/* What its recorder has not begun yet, or has ended, is the recorder's. */
int ltt_trace_hold(struct ltt_tracer *t, struct tacho_session *s)
{
	if (tacho_load_relaxed(&s->view.ctl->state) != TACHO_STATE_RECORDING)
		return 0;
	make_entry(t, s)->held = 1;
	return tacho_session_run(s, false);
}

bool ltt_trace_release(struct ltt_tracer *t, struct tacho_session *s, int *err)
{
	struct ltt_entry *e = entry_of(t, s);

	*err = 0;
	if (!e || !e->held)
		return false;
	e->held = 0;
	*err = tacho_session_run(s, true);
	return true;
}

/* ---- the flight recorder ---- */

int ltt_flight_make(struct ltt_tracer *t, struct tacho_session *s, uint64_t buffer,
		    uint64_t buffers)
{
	const struct tacho_session_config cfg = {
		.name = LTT_FLIGHT_SESSION, .clock = -1, .stopped = true,
		.flags = TACHO_SESSION_OVERWRITE, .sub_size = buffer,
		.lane_size = buffer * buffers,
	};

	return errno_of(tacho_session_create(s, &t->dir, &cfg, NULL));
}
