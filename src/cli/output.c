// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include "cli/cli.h"

int cli_output_ready(const char *path, bool given)
{
	struct tacho_diag d = { 0 };

	return app_output_ready(path, given, &d) ? cli_fail_diag(&d) : CLI_OK;
}

int cli_output_ready_native(const char *path, const char *native)
{
	struct tacho_diag d = { 0 };

	return app_output_ready_native(path, native, &d) ? cli_fail_diag(&d) : CLI_OK;
}

int cli_output_remove(const char *path)
{
	struct tacho_diag d = { 0 };

	return app_output_remove(path, &d) ? cli_fail_diag(&d) : CLI_OK;
}
