/* SPDX-License-Identifier: MIT */
/*
 * stdout.h - the last step of every program that prints with stdio.
 *
 * What is printed lies in a buffer until exit() writes it, and exit() does not say that the
 * disk was full.  So main() asks, says so and fails.
 */
#ifndef TACHO_CLI_STDOUT_H
#define TACHO_CLI_STDOUT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Writes what was printed; NULL, or why some of it is lost.  A reader that is gone is no failure.
 */
static inline const char *cli_stdout_end(void)
{
	int lost = ferror(stdout);	/* before this, with an errno that was not kept */

	if (!fflush(stdout))
		return lost ? "some of the text is lost" : NULL;
	return errno == EPIPE ? NULL : strerror(errno);
}

#endif
