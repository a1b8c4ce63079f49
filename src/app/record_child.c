// SPDX-License-Identifier: MIT
/*
 * The command of a recording: it is forked before anything is recorded, so that its pid is known,
 * and executed when recording has begun.
 *
 *	parent				child
 *	fork				waits for a byte from the gate, a socket
 *	sends the byte			executes the command; the socket closes on that
 *	reads: end of file		... it runs
 *	reads: an errno			... it could not be executed, and exits
 *
 * The child does nothing else: its environment was made before the fork.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/record_priv.h"

#define FOLLOW	"TACHO_FOLLOW="

/* ---- the child --------------------------------------------------------------- */

static void default_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)signal(signals[i], SIG_DFL);
}

/* Waits for the gate, then becomes the command. */
static _Noreturn void become_command(const struct app_record *r, int gate)
{
	char **command = r->config.command;
	ssize_t n;
	int why;
	char c;

	default_signals();
	n = read(gate, &c, 1);
	/* without the recorder the gate stays closed */
	if (!n)
		_exit(127);
	if (n > 0)
		execvpe(command[0], command, r->environment);
	why = errno;
	if (write(gate, &why, sizeof(why)) != sizeof(why))
		_exit(126);
	_exit(127);
}

/* ---- the parent -------------------------------------------------------------- */

/*
 * Programs of the command find in their environment which sessions follow them: also those
 * whose parents have ended, or never knew of tacho.
 */
static void name_sessions(struct app_record *r)
{
	char *to = r->follow + sizeof(FOLLOW) - 1;

	memcpy(r->follow, FOLLOW, sizeof(FOLLOW) - 1);
	for (size_t i = 0; i < 16; i++) {
		(void)snprintf(to + 2 * i, 3, "%02x", r->session.view.ctl->uuid[i]);
		(void)snprintf(to + 33 + 2 * i, 3, "%02x", r->watch_uuid[i]);
	}
	to[32] = ',';
}

/* The process's environment, with the sessions in it when there is one. */
static int make_environment(struct app_record *r)
{
	size_t n = 0, to = 0;

	while (environ && environ[n])
		n++;
	r->environment = calloc(n + 2, sizeof(*r->environment));
	if (!r->environment)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!r->has_session || strncmp(environ[i], FOLLOW, sizeof(FOLLOW) - 1))
			r->environment[to++] = environ[i];
	if (r->has_session) {
		name_sessions(r);
		r->environment[to] = r->follow;
	}
	return 0;
}

int record_fork(struct app_record *r, struct tacho_diag *d)
{
	int fd[2];

	if (make_environment(r))
		return tacho_diag(d, -ENOMEM, 0, "cannot make the command's environment");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return tacho_diag(d, -errno, 0, "cannot make a socket: %s", strerror(errno));
	r->child = fork();
	if (r->child < 0) {
		int err = errno;

		r->child = 0;
		close(fd[0]);
		close(fd[1]);
		return tacho_diag(d, -err, 0, "cannot fork: %s", strerror(err));
	}
	if (!r->child) {
		close(fd[1]);
		become_command(r, fd[0]);
	}
	close(fd[0]);
	r->gate = fd[1];
	return 0;
}

/* Opens the gate; 0 once the command runs, or the errno for which it does not. */
static int open_gate(struct app_record *r)
{
	/* a child that ended early may have said why */
	int gone = send(r->gate, "g", 1, MSG_NOSIGNAL) == 1 ? 0 : ESRCH;
	ssize_t n;
	int why = 0;

	/* its end closes when the command is executed */
	do
		n = read(r->gate, &why, sizeof(why));
	while (n < 0 && errno == EINTR && !record_is_stopped(r));
	return n == sizeof(why) ? why : gone;
}

/* Waits for it without end; it has ended, or does so at once. */
static void reap(struct app_record *r)
{
	while (waitpid(r->child, NULL, 0) < 0 && errno == EINTR)
		;
	r->child = 0;
}

int record_execute(struct app_record *r, struct tacho_diag *d)
{
	int why = open_gate(r);

	close(r->gate);
	r->gate = -1;
	r->child_ran = !why;
	if (!why)
		return 0;
	reap(r);
	return tacho_diag(d, -why, 0, "cannot run '%s': %s", r->config.command[0],
			  strerror(why));
}

bool record_child_ended(struct app_record *r)
{
	int status = 0;
	pid_t pid = r->child ? waitpid(r->child, &status, WNOHANG) : 0;

	/* ECHILD: the caller has waited for it */
	if (pid > 0 || (pid < 0 && errno == ECHILD)) {
		r->child = 0;
		r->child_status = status;
	}
	return !r->child;
}

void record_child_release(struct app_record *r)
{
	if (r->gate < 0)
		return;
	close(r->gate);
	r->gate = -1;
	reap(r);
}
