// SPDX-License-Identifier: MIT
#include "app/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/session_kernel.h"
#include "base/atomic.h"

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
