// SPDX-License-Identifier: MIT
#include "cli/session.h"

#include "cli/cli.h"

static int open_both(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name, struct tacho_diag *d)
{
	int err = tacho_dir_open(dir, false, d);

	if (err)
		return err;
	err = tacho_session_open(s, dir, name, d);
	if (err)
		tacho_dir_close(dir);
	return err;
}

int cli_session_open(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name)
{
	struct tacho_diag d = { 0 };

	return open_both(dir, s, name, &d) ? cli_fail_diag(&d) : CLI_OK;
}

bool cli_session_try(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name)
{
	return !open_both(dir, s, name, NULL);
}

void cli_session_close(struct tacho_dir *dir, struct tacho_session *s)
{
	tacho_session_close(s);
	tacho_dir_close(dir);
}
