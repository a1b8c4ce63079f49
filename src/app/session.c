// SPDX-License-Identifier: MIT
#include "app/session.h"

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
