// SPDX-License-Identifier: MIT
/* Buffers, modes, classes and events of QNX's trace. */
#include "compat/qnx/qnx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "fmt/kev/layout.h"
#include "sys/clock.h"
#include "sys/futex.h"

#define BUFFERS_MAX	(1u << 20)	/* 16 GiB for each CPU: a number that is one by mistake */

/* ---- the handle ---- */

int tacho_qnx_lock(struct tacho_qnx *q)
{
	while (flock(q->state_fd, LOCK_EX))
		if (errno != EINTR)
			return -errno;
	return 0;
}

void tacho_qnx_unlock(struct tacho_qnx *q)
{
	(void)flock(q->state_fd, LOCK_UN);
}

/* The owner of the run-time directory may, and the superuser. */
static int may(const struct tacho_dir *dir, struct tacho_diag *d)
{
	struct stat st;

	if (fstat(dir->fd, &st))
		return tacho_diag(d, -errno, 0, "cannot look at '%s': %s", dir->path,
				  strerror(errno));
	if (geteuid() && geteuid() != st.st_uid)
		return tacho_diag(d, -EPERM, 0, "QNX's trace is for the superuser, and for the "
				  "owner of '%s'", dir->path);
	return 0;
}

static uint64_t generation_of(const struct tacho_session *s)
{
	return ((uint64_t)s->bit << 32 | s->generation) + 1;
}

bool tacho_qnx_has_buffers(const struct tacho_qnx *q)
{
	return q->has_session &&
	       tacho_load_acquire(&q->state->generation) == generation_of(&q->session);
}

/* The session that the buffers are in; none is left if somebody has destroyed it. */
static int find_session(struct tacho_qnx *q, struct tacho_diag *d)
{
	struct qnx_state *s = q->state;
	struct tacho_diag none = { 0 };
	char name[TACHO_NAME_MAX];
	int err;

	if (!tacho_load_acquire(&s->generation))	/* [face-generation] */
		return 0;
	memcpy(name, s->session, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	err = tacho_session_open(&q->session, &q->dir, name, &none);
	if (!err && generation_of(&q->session) == s->generation) {
		q->has_session = true;
		return 0;
	}
	if (!err)
		tacho_session_close(&q->session);
	else if (err != -ENOENT) {
		if (d)
			*d = none;
		return err;
	}
	qnx_state_reset(s);
	return 0;
}

static int open_state(struct tacho_qnx *q, struct tacho_diag *d)
{
	int err = qnx_state_map(&q->state, &q->state_fd);

	if (!err)
		return 0;
	return tacho_diag(d, err, 0, err == -EPROTO ?
			  "'%s/qnx' was made by another version; remove it when nothing uses it" :
			  "cannot use '%s/qnx'", q->dir.path);
}

/* What QNX calls it. */
static int errno_of(int err)
{
	switch (err) {
	case -EACCES:
		return -EPERM;
	case -ENOSPC:
	case -EMFILE:
	case -ENFILE:
		return -ENOMEM;
	case -EPROTO:
	case -ENOENT:
	case -ENODEV:
		return -ENOTSUP;
	default:
		return err;
	}
}

int tacho_qnx_open(struct tacho_qnx *q, struct tacho_diag *d)
{
	int err;

	memset(q, 0, sizeof(*q));
	err = tacho_dir_open(&q->dir, true, d);
	if (err)
		return errno_of(err);
	err = may(&q->dir, d);
	if (!err)
		err = open_state(q, d);
	if (err) {
		tacho_dir_close(&q->dir);
		return errno_of(err);
	}
	err = tacho_qnx_lock(q);
	if (!err)
		err = find_session(q, d);
	if (err)
		tacho_qnx_close(q);
	return errno_of(err);
}

void tacho_qnx_close(struct tacho_qnx *q)
{
	if (q->has_session)
		tacho_session_close(&q->session);
	qnx_state_unmap(q->state);
	close(q->state_fd);
	tacho_dir_close(&q->dir);
	memset(q, 0, sizeof(*q));
}

static void changed(struct qnx_state *s)
{
	(void)tacho_add_seq_cst(&s->changes, 1);
	tacho_futex_wake(&s->changes);
}

/* ---- buffers ---- */

static const char *session_name(void)
{
	const char *name = secure_getenv("QNX_SESSION");

	return name && *name ? name : "qnx";
}

/* A ring is a power of two of sub-buffers, two of them at least. */
static uint64_t lane_size(uint32_t n)
{
	uint64_t size = 2 * QNX_BUFFER_SIZE;

	while (size < n * QNX_BUFFER_SIZE)
		size *= 2;
	return size;
}

static int no_buffers(struct tacho_diag *d, int err)
{
	return tacho_diag(d, err, 0, "there are no trace buffers");
}

static int runs(struct tacho_diag *d)
{
	return tacho_diag(d, -ECANCELED, 0, "the trace runs");
}

static int follow_rules(struct tacho_qnx *q, struct tacho_diag *d);

int tacho_qnx_alloc(struct tacho_qnx *q, uint32_t n, struct tacho_diag *d)
{
	struct qnx_state *s = q->state;
	const struct tacho_session_config cfg = {
		.name = session_name(), .sub_size = QNX_BUFFER_SIZE, .clock = -1,
		.lane_size = lane_size(n), .stopped = true,
		.flags = s->ring ? TACHO_SESSION_OVERWRITE : 0,
	};
	int err;

	if (tacho_qnx_has_buffers(q))
		return tacho_diag(d, -EEXIST, 0, "there are trace buffers already");
	if (!n)
		return tacho_diag(d, -EFAULT, 0, "no buffers are asked for");
	if (n > BUFFERS_MAX)
		return tacho_diag(d, -ENOMEM, 0, "%u buffers are too many", n);
	err = tacho_session_create(&q->session, &q->dir, &cfg, d);
	if (err)
		return errno_of(err);
	q->has_session = true;
	qnx_state_reset(s);
	memcpy(s->session, q->session.name, sizeof(s->session));
	tacho_store_relaxed(&s->nr_buffers, n);
	tacho_store_release(&s->own, UINT64_C(1) << q->session.bit);
	/* [face-generation] */
	tacho_store_release(&s->generation, generation_of(&q->session));
	/* what somebody left who destroyed the session only */
	tacho_qnx_kernel_remove(q);
	err = follow_rules(q, d);
	if (err)
		(void)tacho_qnx_dealloc(q, NULL);
	return errno_of(err);
}

int tacho_qnx_dealloc(struct tacho_qnx *q, struct tacho_diag *d)
{
	const struct tacho_slot *slot;
	int err;

	if (!tacho_qnx_has_buffers(q))
		return no_buffers(d, -ECANCELED);
	if (q->state->running)
		return runs(d);
	tacho_qnx_kernel_remove(q);
	qnx_state_reset(q->state);
	slot = &q->dir.reg->slot[q->session.bit];
	err = tacho_session_destroy(&q->session, d);
	/* a session that is not there any more: what could not be removed, the next one's maker
	   does, as a second call could not */
	if (tacho_no_room_here(err) && tacho_load_acquire(&slot->state) == TACHO_SLOT_MAKING)
		err = 0;
	q->has_session = false;
	changed(q->state);
	return errno_of(err);
}

/* ---- running ---- */

static uint64_t now(const struct tacho_qnx *q)
{
	return tacho_clock_read(q->session.view.ctl->clock);
}

static uint64_t written(struct tacho_qnx *q)
{
	struct tacho_session_counts c;

	tacho_session_count(&q->session, &c);
	return c.written;
}

static void begin_counting(struct tacho_qnx *q)
{
	tacho_store_relaxed(&q->state->written, written(q));
	tacho_store_relaxed(&q->state->flushed, now(q));
}

int tacho_qnx_mode(struct tacho_qnx *q, bool ring, struct tacho_diag *d)
{
	int err = 0;

	if (q->state->running)
		return runs(d);
	if (tacho_qnx_has_buffers(q) && q->state->ring != ring) {
		/* what was recorded stays, and QUERYEVENTS counts it */
		err = tacho_session_resize(&q->session, -1, lane_size(q->state->nr_buffers),
					   ring, d);
		if (!err)
			err = tacho_qnx_kernel_mode(q, ring, d);
	}
	if (!err)
		tacho_store_relaxed(&q->state->ring, ring);
	return errno_of(err);
}

int tacho_qnx_start(struct tacho_qnx *q, bool no_state, struct tacho_diag *d)
{
	struct qnx_state *s = q->state;
	int err;

	if (!tacho_qnx_has_buffers(q))
		return no_buffers(d, -ECANCELED);
	if (s->running)
		return 0;
	tacho_store_relaxed(&s->running, 1);
	err = tacho_qnx_kernel_follow(q, d);
	if (!err)
		err = tacho_session_run(&q->session, true);
	if (err) {
		(void)tacho_qnx_kernel_stop(q, NULL);
		tacho_store_relaxed(&s->running, 0);
		return errno_of(err);
	}
	begin_counting(q);
	tacho_store_relaxed(&s->no_state, no_state);
	(void)tacho_add_relaxed(&s->nr_starts, 1);
	changed(s);
	return 0;
}

int tacho_qnx_stop(struct tacho_qnx *q, struct tacho_diag *d)
{
	struct qnx_state *s = q->state;
	int err, kernel;

	if (!tacho_qnx_has_buffers(q))
		return no_buffers(d, -ECANCELED);
	if (!s->running)
		return 0;
	kernel = tacho_qnx_kernel_stop(q, d);
	err = tacho_session_run(&q->session, false);
	tacho_store_relaxed(&s->running, 0);
	(void)tacho_add_relaxed(&s->nr_stops, 1);
	/* in ring mode nothing has been read by now */
	if (s->ring)
		(void)tacho_add_relaxed(&s->nr_flushes, 1);
	changed(s);
	return errno_of(err ? err : kernel);
}

int tacho_qnx_flush(struct tacho_qnx *q)
{
	if (!tacho_qnx_has_buffers(q))
		return -EFAULT;
	begin_counting(q);
	(void)tacho_add_relaxed(&q->state->nr_flushes, 1);
	changed(q->state);
	return 0;
}

int tacho_qnx_skip(struct tacho_qnx *q)
{
	struct qnx_state *s = q->state;
	uint32_t n = s->nr_skips;

	if (!tacho_qnx_has_buffers(q))
		return -ECANCELED;
	if (n >= QNX_SKIPS)
		return -ENOMEM;
	tacho_store_relaxed(&s->skip[n].from, s->flushed);
	tacho_store_relaxed(&s->skip[n].to, now(q));
	tacho_store_release(&s->nr_skips, n + 1);	/* [skips] */
	begin_counting(q);
	return 0;
}

int64_t tacho_qnx_count(struct tacho_qnx *q)
{
	if (!tacho_qnx_has_buffers(q))
		return -EFAULT;
	return (int64_t)(written(q) - q->state->written);
}

/* ---- classes ---- */

/* A class's events among programs' ones: a rule. */
struct rule {
	uint32_t class_;
	const char *glob;
};

static const struct rule rules[] = {
	{ QNX_KERCALL_ENTER, "kercall_enter:*" },
	{ QNX_KERCALL_EXIT, "kercall_exit:*" },
	{ QNX_KERCALL_INT, "kercall_int:*" },
	{ QNX_INT_ENTER, "int:entry*" },
	{ QNX_INT_EXIT, "int:exit*" },
	{ QNX_INT_HANDLER_ENTER, "int:handler_entry*" },
	{ QNX_INT_HANDLER_EXIT, "int:handler_exit*" },
	{ QNX_PROCESS, "process:*" },
	{ QNX_THREAD, "thread:*" },
	{ QNX_VTHREAD, "vthread:*" },
	{ QNX_USER, "user:event_[0-9]*" },
	{ QNX_SYSTEM, "system:*" },
	{ QNX_COMM, "comm:*" },
	{ QNX_QUIP, "quip:*" },
	{ QNX_SEC, "sec:*" },
	{ QNX_QVM, "qvm:*" },
	{ QNX_PMU, "pmu:*" },
};

/* Whether any, and whether all events of a class are on. */
static bool any_on(const struct qnx_class *c)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(c->on); i++)
		any |= c->on[i];
	return any;
}

static bool all_on(const struct qnx_class *c)
{
	uint64_t all = UINT64_MAX;

	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(c->on); i++)
		all &= c->on[i];
	return all == UINT64_MAX;
}

/* J1 of state.h.  Events that are written slot by slot, and CONTROL, are of no class. */
static int follow_rules(struct tacho_qnx *q, struct tacho_diag *d)
{
	const char *glob[TACHO_ARRAY_SIZE(rules) + 2] = { "kev:*", "control:*" };
	bool enable[TACHO_ARRAY_SIZE(rules) + 2] = { true, true };
	uint32_t n = 2;

	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(rules); i++) {
		if (!any_on(&q->state->class_[rules[i].class_]))
			continue;
		glob[n] = rules[i].glob;
		enable[n++] = true;
	}
	return tacho_session_rules(&q->session, "", glob, enable, n, d);
}

static int follow(struct tacho_qnx *q, struct tacho_diag *d)
{
	struct qnx_state *s = q->state;
	int err;

	tacho_store_release(&s->all_user, all_on(&s->class_[QNX_USER]));
	if (!tacho_qnx_has_buffers(q))
		return 0;
	err = follow_rules(q, d);
	if (!err && s->running)
		err = tacho_qnx_kernel_follow(q, d);
	return errno_of(err);
}

static void apply(struct qnx_class *c, const struct qnx_set *set, enum tacho_qnx_change change)
{
	uint64_t *to = change == TACHO_QNX_ON || change == TACHO_QNX_OFF ? c->on : c->wide;
	bool on = change == TACHO_QNX_ON || change == TACHO_QNX_WIDE;

	for (uint32_t i = 0; i < TACHO_ARRAY_SIZE(set->bits); i++) {
		uint64_t was = to[i];

		tacho_store_relaxed(&to[i], on ? was | set->bits[i] : was & ~set->bits[i]);
	}
}

int tacho_qnx_change(struct tacho_qnx *q, const struct qnx_set *set,
		     enum tacho_qnx_change change, struct tacho_diag *d)
{
	for (uint32_t i = 0; i < set->nr_classes; i++)
		apply(&q->state->class_[set->class_[i]], set, change);
	return follow(q, d);
}

int tacho_qnx_change_all(struct tacho_qnx *q, enum tacho_qnx_change change,
			 struct tacho_diag *d)
{
	struct qnx_set set;

	memset(set.bits, 0xff, sizeof(set.bits));
	for (uint32_t c = 0; c < QNX_CLASSES; c++)
		apply(&q->state->class_[c], &set, change);
	return follow(q, d);
}

/* ---- whose ---- */

static void set_who(struct qnx_who *who, int32_t pid, int32_t tid)
{
	tacho_store_relaxed(&who->pid, pid);
	tacho_store_relaxed(&who->tid, tid);
}

/* Calls for each place of the set: the class's own, or its events'. */
static int each_who(struct tacho_qnx *q, const struct qnx_set *set, bool whole,
		    void (*fn)(struct qnx_who *who, const struct qnx_who *arg),
		    const struct qnx_who *arg)
{
	for (uint32_t i = 0; i < set->nr_classes; i++)
		if (!qnx_class_has_who(set->class_[i]))
			return -ENOTSUP;
	for (uint32_t i = 0; i < set->nr_classes; i++) {
		struct qnx_class *c = &q->state->class_[set->class_[i]];

		if (whole)
			fn(&c->who, arg);
		for (uint32_t e = 0; !whole && e < QNX_EVENTS; e++)
			if (set->bits[e / 64] >> (e % 64) & 1)
				fn(&c->event[e], arg);
	}
	return 0;
}

static void put_who(struct qnx_who *who, const struct qnx_who *arg)
{
	set_who(who, arg->pid, arg->tid);
}

static void clear_tid(struct qnx_who *who, const struct qnx_who *arg)
{
	set_who(who, who->pid, arg->tid);
}

int tacho_qnx_set_who(struct tacho_qnx *q, const struct qnx_set *set, bool whole, int32_t pid,
		      int32_t tid)
{
	const struct qnx_who who = { pid, tid };

	return each_who(q, set, whole, put_who, &who);
}

int tacho_qnx_clear_who(struct tacho_qnx *q, const struct qnx_set *set, bool whole, bool pid)
{
	const struct qnx_who none = { 0, 0 };

	return each_who(q, set, whole, pid ? put_who : clear_tid, &none);
}
