// SPDX-License-Identifier: MIT
/* Gives a session a filter or trigger: bench_command SESSION filter|trigger EVENT TEXT */
#include <stdio.h>
#include <string.h>

#include "session/command.h"

int main(int argc, char **argv)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;
	int err;

	if (argc != 5)
		return 2;
	if (tacho_dir_open(&dir, false, &d) ||
	    tacho_session_open(&s, &dir, argv[1], &d)) {
		fprintf(stderr, "%s\n", d.text);
		return 1;
	}
	if (!strcmp(argv[2], "filter"))
		err = tacho_command_filter(&s, argv[3], argv[4], NULL, &e);
	else
		err = tacho_command_trigger(&s, argv[3], argv[4], NULL, &e);
	if (err)
		fprintf(stderr, "%s (column %u)\n", e.text, e.column);
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	return err != 0;
}
