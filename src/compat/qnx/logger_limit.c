// SPDX-License-Identifier: MIT
/*
 * logger_limit.c - when there is enough for a file of a limited size.
 *
 * What is recorded says little of that: an event of Linux may be none of QNX's, or two; and what
 * is left out is known when the file is written.  So writing is tried, again and again, by a child
 * that counts the bytes and writes none, while recording goes on.
 *
 *	tried	with a quarter of the events that would fill the file with simple ones; then when
 *		there are as many as the last try's share of the file lets expect
 *	failed	then every event counts as a simple one
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compat/qnx/logger_priv.h"
#include "fmt/kev/layout.h"

/* What a child says: so much of the file is filled; or it could not tell. */
#define FULL		100
#define FAILED		101

static int try_it(struct logger *l)
{
	struct tacho_qnx_log log;
	struct tacho_diag d = { 0 };

	logger_log(l, &log, NULL);
	if (tacho_qnx_log_write(&log, &d))
		return FAILED;
	return log.full ? FULL : (int)(log.bytes * FULL / (l->max_bytes + 1));
}

static void begin_trial(struct logger *l, struct tacho_recorder *rec, uint64_t events)
{
	struct tacho_diag d = { 0 };

	/* what it does not find there it takes for less */
	(void)tacho_recorder_tell(rec, &d);
	l->trial.events = events;
	l->trial.pid = fork();
	if (!l->trial.pid)
		_exit(try_it(l));
	if (l->trial.pid < 0)
		l->trial.failed = true;
}

/* The trial's result, if there is one by now: when it is to be tried again. */
static bool has_filled(struct logger *l)
{
	uint64_t share;
	int status;

	if (waitpid(l->trial.pid, &status, WNOHANG) != l->trial.pid)
		return false;
	l->trial.pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > FULL) {
		l->trial.failed = true;
		return false;
	}
	share = (uint64_t)WEXITSTATUS(status);
	/* a small share may be the header's, and tells nothing; a large one is rounded down */
	share = share < 25 ? 25 : share > 90 ? 90 : share;
	l->trial.next = l->trial.events * FULL / share;
	return WEXITSTATUS(status) == FULL;
}

bool logger_has_enough(struct logger *l, struct tacho_recorder *rec)
{
	struct tacho_recorder_stats s;

	if (!l->max_bytes)
		return false;
	tacho_recorder_stats(rec, &s);
	if (l->trial.failed)
		return s.events * TACHO_KEV_SLOT >= l->max_bytes;
	if (l->trial.pid > 0)
		return has_filled(l);
	if (!l->trial.next)
		l->trial.next = l->max_bytes / TACHO_KEV_SLOT / 4;
	if (s.events >= l->trial.next)
		begin_trial(l, rec, s.events);
	return false;
}

void logger_end_trial(struct logger *l)
{
	if (l->trial.pid <= 0)
		return;
	(void)kill(l->trial.pid, SIGKILL);
	(void)waitpid(l->trial.pid, NULL, 0);
	l->trial.pid = 0;
}
