// SPDX-License-Identifier: MIT
#include "app/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/session_kernel.h"
#include "base/atomic.h"
#include "sys/clock.h"
#include "sys/process.h"

/* Most time that a mount gets to let go of a session that is gone. */
#define KEPT_TRIES	100
#define KEPT_PAUSE_NS	20000000

int app_session_open(struct tacho_dir *dir, struct tacho_session *s, const char *name,
		     struct tacho_diag *d)
{
	int err = tacho_dir_open(dir, false, d);

	if (err)
		return err;
	err = tacho_session_open(s, dir, name, d);
	if (err)
		tacho_dir_close(dir);
	return err;
}

void app_session_close(struct tacho_dir *dir, struct tacho_session *s)
{
	tacho_session_close(s);
	tacho_dir_close(dir);
}

/* ---- create ---------------------------------------------------------------- */

int app_clock_by_name(const char *name)
{
	enum tacho_clock clock;

	return tacho_clock_by_name(name, &clock) ? -EINVAL : (int)clock;
}

bool app_clock_usable(int clock)
{
	return clock != TACHO_CLOCK_TSC || tacho_clock_default() == TACHO_CLOCK_TSC;
}

/* Processes and rules of a new session. */
static int select_events(struct tacho_session *s, const struct app_session_config *c,
			 struct tacho_diag *d)
{
	int err = 0;

	for (size_t i = 0; i < c->nr_pids; i++)
		if (!tacho_process_runs(c->pids[i]))
			return tacho_diag(d, -ESRCH, 0, "there is no process %d", c->pids[i]);
	if (c->nr_events && c->events[0][0] == '!')
		err = tacho_session_rule(s, true, "*:*", NULL, d);
	if (!err && c->nr_pids)
		err = tacho_session_pids(s, c->pids, (uint32_t)c->nr_pids, c->follow, d);
	for (size_t i = 0; !err && i < c->nr_events; i++) {
		const char *glob = c->events[i];

		err = tacho_session_rule(s, glob[0] != '!', glob + (glob[0] == '!'), NULL, d);
	}
	return err;
}

int app_session_create(struct tacho_dir *dir, struct tacho_session *s,
		       const struct app_session_config *c, struct tacho_diag *d)
{
	const struct tacho_session_config cfg = {
		.name = c->name, .path = c->dir, .clock = c->clock,
		.lane_size = c->buffer_size, .sub_size = c->subbuf_size, .stopped = c->stopped,
		.flags = (c->overwrite ? TACHO_SESSION_OVERWRITE : 0) |
			 (c->dir ? TACHO_SESSION_PERSIST : 0),
	};
	int err = tacho_dir_open(dir, true, d);

	if (err)
		return err;
	err = tacho_session_create(s, dir, &cfg, d);
	if (err) {
		tacho_dir_close(dir);
		return err;
	}
	err = select_events(s, c, d);
	if (err) {
		(void)tacho_session_destroy(s, NULL);
		app_session_close(dir, s);
	}
	return err;
}

/* ---- change, destroy ------------------------------------------------------- */

int app_session_rules(struct tacho_session *s, bool enable, const char *const *globs, size_t nr,
		      const struct tacho_observer *o, uint64_t *matched, struct tacho_diag *d)
{
	uint64_t sum = 0;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		uint32_t n = 0;

		err = tacho_session_rule(s, enable, globs[i], &n, d);
		if (!err && !n)
			tacho_observer_note(o, "no event of the running programs matches '%s'; it "
					    "is kept for programs that start later", globs[i]);
		sum += n;
	}
	if (matched)
		*matched = sum;
	return err;
}

/* Removes what a mount has made in the kernel for the session; whether there was such. */
static bool destroy_kept(const char *name, const struct tacho_observer *o)
{
	int err = app_session_remove_kept(name);

	if (err && err != -ENOENT && err != -EACCES)
		tacho_observer_note(o, "the kernel's instance tacho.%s stays: %s", name,
				    strerror(-err));
	return !err;
}

int app_session_destroy(const char *name, const struct tacho_observer *o, struct tacho_diag *d)
{
	struct tacho_session s;
	struct tacho_dir dir;
	int err;

	if (!app_session_open(&dir, &s, name, NULL)) {
		err = tacho_session_destroy(&s, d);
		app_session_close(&dir, &s);
		if (!err)
			(void)destroy_kept(name, o);
		return err;
	}
	if (destroy_kept(name, o))
		return 0;
	err = app_session_open(&dir, &s, name, d);
	if (!err)
		app_session_close(&dir, &s);
	return err;
}

int app_session_remove_kept(const char *name)
{
	const struct timespec pause = { .tv_nsec = KEPT_PAUSE_NS };
	struct tacho_tracefs t;
	int err;

	if (tacho_tracefs_open(&t, 0, NULL))
		return -ENOENT;
	err = tacho_kernel_remove_kept(&t, name);
	for (int i = 0; err == -EBUSY && i < KEPT_TRIES; i++) {
		(void)nanosleep(&pause, NULL);
		err = tacho_kernel_remove_kept(&t, name);
		/* by the mount, meanwhile */
		err = err == -ENOENT ? 0 : err;
	}
	tacho_tracefs_close(&t);
	return err;
}

static int write_snapshot(struct tacho_session *s, struct tacho_kernel *kernel, const char *dir,
			  struct tacho_recorder_stats *st, struct tacho_diag *d)
{
	const struct tacho_control *c = s->view.ctl;
	struct tacho_recorder_config cfg = {
		.dir = dir, .session = s, .kernel = kernel, .clock = c->clock,
		.clock_freq = c->clock_freq, .start = c->start, .uuid = c->uuid,
		.snapshot = true, .flight = true,
	};
	struct tacho_recorder *rec;
	int err = tacho_session_snapshot(s, d);

	if (err >= 0)
		err = tacho_recorder_new(&rec, &cfg, d);
	return err < 0 ? err : tacho_recorder_finish(rec, st, d);
}

int app_session_snapshot(struct tacho_session *s, const char *dir,
			 struct tacho_recorder_stats *st, struct tacho_diag *d)
{
	struct tacho_kernel *kernel = NULL;
	bool made;
	int err = 0;

	if (app_session_has_kernel(s))
		err = app_session_kernel(s, 0, false, &kernel, d);
	if (err)
		return err;
	/* before the buffers are frozen: what is frozen and not written is lost */
	made = !mkdir(dir, 0755);
	if (!made && errno != EEXIST)
		err = tacho_diag(d, -errno, 0, "cannot make directory '%s': %s", dir,
				 strerror(errno));
	if (!err)
		err = write_snapshot(s, kernel, dir, st, d);
	if (err && made)
		(void)rmdir(dir);
	/* reading its buffers has stopped it */
	if (kernel && tacho_load_acquire(&s->view.ctl->state) == TACHO_STATE_RECORDING &&
	    tacho_kernel_start(kernel, d) && !err)
		err = d->err;
	tacho_kernel_leave(kernel);
	return err;
}
