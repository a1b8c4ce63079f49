// SPDX-License-Identifier: MIT
#include "cli/term.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

bool cli_colour_parse(const char *arg, enum cli_colour *c)
{
	if (!strcmp(arg, "auto"))
		*c = CLI_COLOUR_AUTO;
	else if (!strcmp(arg, "always"))
		*c = CLI_COLOUR_ALWAYS;
	else if (!strcmp(arg, "never"))
		*c = CLI_COLOUR_NEVER;
	else
		return false;
	return true;
}

bool cli_colour_wanted(enum cli_colour c)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (c != CLI_COLOUR_AUTO)
		return c == CLI_COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term &&
	       strcmp(term, "dumb");
}

static _Noreturn void run_pager(const char *command, int from)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setenv("LESS", "FRSX", 0);
	if (dup2(from, STDIN_FILENO) >= 0) {
		close(from);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	}
	_exit(127);
}

/* Whether the first word of the command is a program. */
static bool command_exists(const char *command)
{
	size_t len = strcspn(command, " \t");
	const char *path = getenv("PATH");
	char file[4096];

	if (len >= sizeof(file))
		return false;
	if (memchr(command, '/', len)) {
		memcpy(file, command, len);
		file[len] = '\0';
		return !access(file, X_OK);
	}
	for (path = path ? path : "/usr/bin:/bin"; *path; ) {
		size_t n = strcspn(path, ":");

		if (n + 1 + len < sizeof(file)) {
			memcpy(file, path, n);
			file[n] = '/';
			memcpy(file + n + 1, command, len);
			file[n + 1 + len] = '\0';
			if (!access(file, X_OK))
				return true;
		}
		path += n + (path[n] == ':');
	}
	return false;
}

void cli_pager_begin(void)
{
	const char *command = getenv("PAGER");
	int fd[2];

	if (!isatty(STDOUT_FILENO))
		return;
	if (!command)
		command = "less";
	if (!*command || !strcmp(command, "cat") || !command_exists(command) ||
	    pipe(fd))
		return;
	pager = fork();
	if (!pager) {
		close(fd[1]);
		run_pager(command, fd[0]);
	}
	close(fd[0]);
	if (pager > 0 && dup2(fd[1], STDOUT_FILENO) >= 0) {
		/* Ctrl-C is the pager's: it must not be left without its input */
		(void)signal(SIGINT, SIG_IGN);
	}
	close(fd[1]);
}

void cli_pager_end(void)
{
	if (pager <= 0)
		return;
	/* the pager sees the end of its input */
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
