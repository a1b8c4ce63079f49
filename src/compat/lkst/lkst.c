// SPDX-License-Identifier: MIT
/* LKST's session: made, found, ended. */
#include "compat/lkst/lkst.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/hook.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"

#define BUFFER_SIZE	(UINT64_C(1) << 20)
#define SUB_SIZE	16384u

int tacho_lkst_lock(struct tacho_lkst *l)
{
	while (flock(l->state_fd, LOCK_EX))
		if (errno != EINTR)
			return -errno;
	return 0;
}

void tacho_lkst_unlock(struct tacho_lkst *l)
{
	(void)flock(l->state_fd, LOCK_UN);
}

/* Permitted for the owner of the run-time directory and the superuser. */
static int may(const struct tacho_dir *dir, struct tacho_diag *d)
{
	struct stat st;

	if (fstat(dir->fd, &st))
		return tacho_diag(d, -errno, 0, "cannot look at '%s': %s", dir->path,
				  strerror(errno));
	if (geteuid() && geteuid() != st.st_uid)
		return tacho_diag(d, -EPERM, 0, "LKST is for the superuser, and for the owner "
				  "of '%s'", dir->path);
	return 0;
}

static const char *session_name(const struct tacho_lkst_config *config)
{
	const char *name = config && config->session ? config->session :
			   secure_getenv("LKST_SESSION");

	return name && *name ? name : "lkst";
}

static uint64_t generation_of(const struct tacho_session *s)
{
	return ((uint64_t)s->bit << 32 | s->generation) + 1;
}

/* ---- the session ---- */

/* If the lanes of CPUs have no writers, the kernel's events go to fallback lanes. */
static void find_late(struct tacho_lkst *l)
{
	const struct tacho_ring *r = &l->session.view.ring;

	tacho_store_release(&l->state->late_cpu,
			    tacho_load_relaxed(&tacho_ring_lane(r, 0)->cursor) ? 0 : r->nr_cpus);
}

/*
 * The state was made again while the session lived on: each of its buffers is taken over
 * under the ring's number.
 */
static void adopt(struct tacho_lkst *l)
{
	struct tacho_ring *r = &l->session.view.ring;
	uint32_t lanes = lkst_nr_cpus(l);

	find_late(l);
	for (uint32_t lane = 0; lane < lanes; lane++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
			struct tacho_buffer *b =
				tacho_lane_buffer(tacho_ring_lane(r, lane), id);

			if (!id || tacho_load_relaxed(&b->flags) & TACHO_BUFFER_MADE)
				lkst_buffer_enter(l, lane, (int32_t)id, id,
						  lkst_size_of_subs(r, b->nr_subs));
		}
}

static int make_session(struct tacho_lkst *l, const char *name, uint64_t size,
			struct tacho_diag *d)
{
	const struct tacho_session_config cfg = {
		.name = name, .sub_size = SUB_SIZE, .clock = -1,
		.lane_size = lkst_lane_size(SUB_SIZE, size ? size : BUFFER_SIZE),
		.flags = TACHO_SESSION_OVERWRITE | TACHO_SESSION_LINKED,
	};
	int err = tacho_session_create(&l->session, &l->dir, &cfg, d);

	if (err)
		return err;
	lkst_state_reset(l->state);
	find_late(l);
	for (uint32_t lane = 0; !err && lane < lkst_nr_cpus(l); lane++)
		err = lkst_late_make(l, lane, 0, l->session.view.ctl->nr_subs);
	if (err) {
		(void)tacho_session_destroy(&l->session, NULL);
		return tacho_diag(d, err, 0, "cannot make the kernel's buffers of session '%s': %s",
				  name, strerror(-err));
	}
	for (uint32_t lane = 0; lane < lkst_nr_cpus(l); lane++)
		lkst_buffer_enter(l, lane, 0, 0, (size ? size : BUFFER_SIZE) & ~UINT64_C(4095));
	(void)snprintf(l->state->session, sizeof(l->state->session), "%s", name);
	/* [face-generation] */
	tacho_store_release(&l->state->generation, generation_of(&l->session));
	lkst_state_note(l->state, LKST_ETYPE_LKST_INIT, (uint64_t)getpid(),
			size ? size : BUFFER_SIZE, l->session.view.ctl->nr_cpus, 0);
	return 0;
}

static int find_session(struct tacho_lkst *l, const char *name, struct tacho_diag *d)
{
	struct lkst_state *s = l->state;
	int err = tacho_session_open(&l->session, &l->dir, name, d);

	if (err)
		return err;
	if (!(l->session.view.ctl->flags & TACHO_SESSION_LINKED)) {
		tacho_session_close(&l->session);
		return tacho_diag(d, -EEXIST, 0, "session '%s' is not LKST's; set LKST_SESSION "
				  "to another name, or destroy it", name);
	}
	if (tacho_load_relaxed(&s->generation) != generation_of(&l->session)) {
		lkst_state_reset(s);
		adopt(l);
		memcpy(s->session, l->session.name, sizeof(s->session));
		/* [face-generation] */
		tacho_store_release(&s->generation, generation_of(&l->session));
	}
	return 0;
}

/* Under the lock. */
static int get_session(struct tacho_lkst *l, const struct tacho_lkst_config *config,
		       struct tacho_diag *d)
{
	const char *name = session_name(config);
	struct tacho_diag none = { 0 };
	int err = find_session(l, name, config && config->look ? d : &none);

	if (err != -ENOENT || (config && config->look)) {
		if (err && none.err && d && !d->err)
			*d = none;
		return err;
	}
	err = make_session(l, name, config ? config->buffer_size : 0, d);
	if (err)
		return err;
	l->has_session = true;
	/* no kernel events, for whatever reason, is no reason to have no program events */
	return lkst_follow(l, 0, tacho_load_relaxed(&l->state->current));
}

int tacho_lkst_open(struct tacho_lkst *l, const struct tacho_lkst_config *config,
		    struct tacho_diag *d)
{
	int err;

	memset(l, 0, sizeof(*l));
	err = tacho_dir_open(&l->dir, !(config && config->look), d);
	if (err)
		return err == -EACCES ? -EPERM : err;
	err = may(&l->dir, d);
	if (!err) {
		err = lkst_state_map(&l->state, &l->state_fd, true);
		if (err)
			(void)(err == -EPROTO ?
			       tacho_diag(d, err, 0, "'%s/lkst' was made by another version; remove "
					  "it when nothing uses it", l->dir.path) :
			       tacho_diag(d, err, 0, "cannot use '%s/lkst': %s", l->dir.path,
					  strerror(-err)));
	}
	if (err) {
		tacho_dir_close(&l->dir);
		return err;
	}
	lkst_overrun_prepare();
	err = tacho_lkst_lock(l);
	if (!err) {
		err = get_session(l, config, d);
		tacho_lkst_unlock(l);
	}
	l->has_session = !err;
	if (err)
		tacho_lkst_close(l);
	return err;
}

void tacho_lkst_close(struct tacho_lkst *l)
{
	if (l->has_session)
		tacho_session_close(&l->session);
	if (l->state) {
		lkst_state_unmap(l->state);
		close(l->state_fd);
		tacho_dir_close(&l->dir);
	}
	memset(l, 0, sizeof(*l));
}

int tacho_lkst_destroy(struct tacho_lkst *l, struct tacho_diag *d)
{
	int err = tacho_lkst_lock(l);

	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s/lkst': %s", l->dir.path,
				  strerror(-err));
	err = tacho_lkst_kernel_remove(l);
	if (err) {
		(void)tacho_diag(d, err, 0, "cannot remove the kernel's instance of session '%s': %s",
				 l->session.name, strerror(-err));
		tacho_lkst_unlock(l);
		return err;
	}
	lkst_state_reset(l->state);
	err = tacho_session_destroy(&l->session, d);
	l->has_session = false;
	tacho_lkst_unlock(l);
	tacho_lkst_close(l);
	return err;
}
