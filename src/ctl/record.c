// SPDX-License-Identifier: MIT
/* Start, stop, snapshot. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "app/session.h"
#include "app/session_kernel.h"
#include "ctl/ctl.h"

static int run(struct tacho_ctl *ctl, bool recording, const char *what)
{
	struct tacho_diag d = { 0 };
	int err = app_session_run(&ctl->session, recording, &d);

	return tacho_ctl_done(ctl, err, &d, what);
}

TACHO_EXPORT int tacho_ctl_start(struct tacho_ctl *ctl)
{
	return run(ctl, true, "start");
}

TACHO_EXPORT int tacho_ctl_stop(struct tacho_ctl *ctl)
{
	return run(ctl, false, "stop");
}

/* ---- snapshot -------------------------------------------------------------- */

/* The directory is empty, or not there. */
static int check_empty(const char *path, struct tacho_diag *d)
{
	DIR *list = opendir(path);
	const struct dirent *e;
	int err = list || errno == ENOENT ? 0 : -errno;

	while (!err && list && (e = readdir(list)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = -ENOTEMPTY;
	if (list)
		closedir(list);
	if (err == -ENOTEMPTY)
		return tacho_diag(d, err, 0, "'%s' is not empty", path);
	return err ? tacho_diag(d, err, 0, "cannot open '%s': %s", path, strerror(-err)) : 0;
}

static int check_owner(const struct tacho_ctl *ctl, struct tacho_diag *d)
{
	const struct tacho_control *c = ctl->session.view.ctl;

	if (tacho_ctl_is_dead(ctl))
		return tacho_diag(d, -ENOENT, 0, "session '%s' is destroyed", ctl->session.name);
	if (!tacho_session_owned(ctl->session.path))
		return 0;
	return tacho_diag(d, -EBUSY, 0, "process %d records session '%s' to '%.*s'", c->owner,
			  ctl->session.name, (int)sizeof(c->output), c->output);
}

TACHO_EXPORT int tacho_ctl_snapshot(struct tacho_ctl *ctl, const char *directory,
				    uint64_t *events)
{
	struct tacho_recorder_stats st = { 0 };
	struct tacho_diag d = { 0 };
	int err = check_owner(ctl, &d);

	if (!err)
		err = check_empty(directory, &d);
	if (!err)
		err = app_session_snapshot(&ctl->session, directory, &st, &d);
	if (events)
		*events = err ? 0 : st.events;
	return tacho_ctl_done(ctl, err, &d, "write a snapshot of");
}
