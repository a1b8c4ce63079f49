// SPDX-License-Identifier: MIT
#include "app/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

int app_session_snapshot(struct tacho_session *s, struct tacho_kernel *kernel, const char *dir,
			 struct tacho_recorder_stats *st, struct tacho_diag *d)
{
	const struct tacho_control *c = s->view.ctl;
	struct tacho_recorder_config cfg = {
		.dir = dir, .session = s, .kernel = kernel, .clock = c->clock,
		.clock_freq = c->clock_freq, .start = c->start, .uuid = c->uuid,
		.snapshot = true, .flight = true,
	};
	struct tacho_recorder *rec;
	bool made = !mkdir(dir, 0755);
	int err;

	/* first: a snapshot that is frozen and not written is lost */
	if (!made && errno != EEXIST)
		return tacho_diag(d, -errno, 0, "cannot make directory '%s': %s", dir,
				  strerror(errno));
	err = tacho_session_snapshot(s, d);
	if (err < 0 && made)
		(void)rmdir(dir);
	if (err >= 0)
		err = tacho_recorder_new(&rec, &cfg, d);
	return err < 0 ? err : tacho_recorder_finish(rec, st, d);
}
