// SPDX-License-Identifier: MIT
#include "cli/session.h"

#include "cli/cli.h"

int cli_session_open(struct tacho_dir *dir, struct tacho_session *s,
		     const char *name)
{
	struct tacho_diag d = { 0 };

	return app_session_open(dir, s, name, &d) ? cli_fail_diag(&d) : CLI_OK;
}
