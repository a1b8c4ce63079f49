// SPDX-License-Identifier: MIT
#include "cli/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sys/clock.h"
#include "sys/process.h"

/* Set by signal handlers. */
static volatile sig_atomic_t stop_asked;
static volatile sig_atomic_t snapshot_asked;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		snapshot_asked = 1;
	else if (sig != SIGCHLD)
		stop_asked = 1;
}

/* SIGCHLD is caught only so that it interrupts sleeps. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD };
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
}

void job_default_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD,
				       SIGPIPE };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)signal(signals[i], SIG_DFL);
}

bool job_wants_snapshot(void)
{
	bool asked = snapshot_asked;

	snapshot_asked = 0;
	return asked;
}

bool job_runs(struct job *job)
{
	const struct job_options *o = job->opt;
	int status;

	if (job->child > 0 && waitpid(job->child, &status, WNOHANG) == job->child) {
		job->child = 0;
		job->child_status = status;
	}
	if (o->command && !job->child)
		return false;
	if (o->duration && tacho_now_ns(CLOCK_MONOTONIC) - job->began >= o->duration)
		return false;
	return !stop_asked;
}

uint64_t job_ticks(const struct job *job, uint64_t ns)
{
	return (uint64_t)((double)ns * ((double)job->clock_freq / 1e9));
}

/* ---- the command ---- */

/*
 * Programs of the command find in their environment which session follows
 * them: also those whose parents have ended, or never knew of tacho.
 */
static void tell_followers(const struct job *job)
{
	char text[2 * 32 + 2] = "";

	if (!job->has_session)
		return;
	for (size_t i = 0; i < 16; i++) {
		(void)snprintf(text + 2 * i, 3, "%02x",
			       job->session.view.ctl->uuid[i]);
		(void)snprintf(text + 33 + 2 * i, 3, "%02x", job->watch_uuid[i]);
	}
	text[32] = ',';
	(void)setenv("TACHO_FOLLOW", text, 1);
}

/* The child: waits for the gate, then becomes the command. */
static void run_command(const struct job *job, int gate)
{
	char **command = job->opt->command;
	int why;
	char c;

	job_default_signals();
	/* without the recorder there is nobody to open the gate */
	if (read(gate, &c, 1) != 1)
		_exit(127);
	execvp(command[0], command);
	why = errno;
	/* the gate is a socket: it answers when the command cannot run */
	if (write(gate, &why, sizeof(why)) != sizeof(why))
		_exit(126);
	_exit(127);
}

static int fork_command(struct job *job)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return cli_fail("cannot make a socket: %s", strerror(errno));
	fflush(NULL);
	job->child = fork();
	if (job->child < 0) {
		close(fd[0]);
		close(fd[1]);
		return cli_fail("cannot fork: %s", strerror(errno));
	}
	if (!job->child) {
		close(fd[1]);
		tell_followers(job);
		run_command(job, fd[0]);
	}
	close(fd[0]);
	job->gate = fd[1];
	return CLI_OK;
}

/* Opens the gate; 0 once the command runs, or why it does not. */
static int open_gate(struct job *job)
{
	ssize_t n;
	int why = 0;

	if (send(job->gate, "g", 1, MSG_NOSIGNAL) != 1)
		return ESRCH;
	/* its end closes when the command is executed */
	do
		n = read(job->gate, &why, sizeof(why));
	while (n < 0 && errno == EINTR && !stop_asked);
	close(job->gate);
	job->gate = -1;
	return n == sizeof(why) ? why : 0;
}

static void command_text(struct job *job)
{
	size_t at = 0;

	for (char **a = job->opt->command; a && *a; a++) {
		int n = snprintf(job->text + at, sizeof(job->text) - at, "%s%s",
				 at ? " " : "", *a);

		if (n < 0 || (size_t)n >= sizeof(job->text) - at)
			return;
		at += (size_t)n;
	}
}

/* ---- the session ---- */

/* The processes to trace: those listed and the command. */
static int set_pids(const struct job *job, struct tacho_session *session,
		    struct tacho_kernel *kernel)
{
	const struct job_options *o = job->opt;
	bool follow = o->follow || job->child > 0;
	struct tacho_diag d = { 0 };
	int32_t pids[CLI_LIST_MAX + 1];
	const char *bad;
	uint32_t n = (uint32_t)o->pids.nr;

	if (cli_list_pids(&o->pids, pids, &bad))
		return cli_usage("'%s' is not a process id", bad);
	for (uint32_t i = 0; i < n; i++)
		if (!tacho_process_runs(pids[i]))
			return cli_fail("there is no process %d", pids[i]);
	if (job->child > 0)
		pids[n++] = job->child;
	if (!n)
		return CLI_OK;
	if (session && tacho_session_pids(session, pids, n, follow, &d))
		return cli_fail_diag(&d);
	/* the kernel's events of a command are everybody's unless asked */
	if (kernel && (o->command_only || o->pids.nr) &&
	    tacho_kernel_set_pids(kernel, pids, n, follow, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

/* Not our own pumping. */
static int leave_out_self(const struct job *job, struct tacho_kernel *kernel)
{
	const struct job_options *o = job->opt;
	int32_t self = getpid();
	struct tacho_diag d = { 0 };

	if (kernel && !o->command_only && !o->pids.nr &&
	    tacho_kernel_set_not_pids(kernel, &self, 1, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

int job_restrict(const struct job *job, struct tacho_session *session,
		 struct tacho_kernel *kernel)
{
	int ret = set_pids(job, session, kernel);

	if (!ret)
		ret = leave_out_self(job, kernel);
	if (!ret)
		job_set_filters(job, session, kernel);
	return ret;
}

static int set_rules(struct job *job)
{
	const struct cli_list *e = &job->opt->events;
	struct tacho_diag d = { 0 };

	/* what is only taken away from is everything */
	if (e->nr && e->item[0][0] == '!' &&
	    tacho_session_rule(&job->session, true, "*:*", NULL, &d))
		return cli_fail_diag(&d);
	for (size_t i = 0; i < e->nr; i++) {
		const char *glob = e->item[i];
		uint32_t matched;
		int err;

		err = tacho_session_rule(&job->session, glob[0] != '!',
					 glob + (glob[0] == '!'), &matched, &d);
		if (err)
			return cli_fail_diag(&d);
		if (!matched && job->opt->pids.nr)
			cli_note("no event of the running programs matches '%s'; "
				 "it waits for programs that start later", glob);
	}
	return CLI_OK;
}

/* Others look for the trace from other directories. */
static void tell_output(struct job *job)
{
	struct tacho_control *c = job->session.view.ctl;
	const char *output = job->opt->output;
	char cwd[TACHO_PATH_MAX];

	if (output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	(void)snprintf(c->output, sizeof(c->output), "%s%s%s", cwd,
		       cwd[0] ? "/" : "", output);
}

static int make_session(struct job *job)
{
	const struct job_options *o = job->opt;
	struct tacho_diag d = { 0 };
	struct tacho_session_config cfg = {
		.name = job->name,
		.clock = (int)job->clock,
		.lane_size = o->lane_size,
		.sub_size = o->sub_size,
		.flags = o->flight || o->on || o->on_kernel ?
			 TACHO_SESSION_OVERWRITE : 0,
		.owner = getpid(),
		.stopped = true,
	};

	if (tacho_dir_open(&job->dir, true, &d))
		return cli_fail_diag(&d);
	if (tacho_session_create(&job->session, &job->dir, &cfg, &d)) {
		tacho_dir_close(&job->dir);
		return cli_fail_diag(&d);
	}
	job->has_session = true;
	job->clock_freq = job->session.view.ctl->clock_freq;
	job->start = job->session.view.ctl->start;
	tell_output(job);
	return CLI_OK;
}

/* ---- the kernel ---- */

static int make_kernel(struct job *job)
{
	const struct job_options *o = job->opt;
	struct tacho_diag d = { 0 };
	struct tacho_kernel_config cfg = {
		.name = job->name,
		.buffer_size = o->kernel_size,
		.overwrite = o->flight || o->on || o->on_kernel,
	};
	const struct tacho_kernel_info *info;

	if (tacho_kernel_create(&job->kernel, &cfg, &d))
		return cli_fail_diag(&d);
	info = tacho_kernel_info(job->kernel);
	/* one clock for all; the kernel may not have the one of programs */
	job->clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;
	if (o->clock >= 0 && (uint32_t)o->clock != job->clock)
		return cli_fail("this kernel records with the clock '%s'; leave "
				"--clock out", info->clock);
	if (tacho_kernel_enable(job->kernel, o->kernel.item, o->kernel.nr, &d))
		return cli_fail_diag(&d);
	if (o->stack &&
	    tacho_kernel_set_option(job->kernel, "stacktrace", true, &d))
		return cli_fail_diag(&d);
	return leave_out_self(job, job->kernel);
}

int job_prepare(struct job *job, const struct job_options *opt)
{
	int ret = CLI_OK;

	*job = (struct job){ .opt = opt, .gate = -1 };
	if (opt->session)
		(void)snprintf(job->name, sizeof(job->name), "%s", opt->session);
	else
		(void)snprintf(job->name, sizeof(job->name), "record-%d",
			       (int)getpid());
	job->clock = opt->clock < 0 ? tacho_clock_default()
				    : (uint32_t)opt->clock;
	tacho_session_uuid(job->watch_uuid);
	catch_signals();
	command_text(job);
	if (opt->kernel.nr)
		ret = make_kernel(job);
	if (!ret && opt->events.nr)
		ret = make_session(job);
	if (!ret && !job->has_session) {
		job->clock_freq = tacho_clock_freq(job->clock);
		job->start = tacho_clock_pair(job->clock);
	}
	if (!ret && job->has_session && job->kernel)
		(void)snprintf(job->session.view.ctl->kernel_instance,
			       sizeof(job->session.view.ctl->kernel_instance), "%s",
			       tacho_kernel_info(job->kernel)->instance);
	if (!ret && opt->command)
		ret = fork_command(job);
	if (!ret)
		ret = set_pids(job, job->has_session ? &job->session : NULL,
			       job->kernel);
	if (!ret && job->has_session)
		ret = set_rules(job);
	if (!ret)
		ret = job_set_commands(job);
	if (ret)
		job_end(job);
	return ret;
}

int job_go(struct job *job)
{
	int err = 0;

	if (job->has_session)
		err = tacho_session_run(&job->session, true);
	if (err)
		return cli_fail("cannot start session '%s': %s", job->name,
				strerror(-err));
	job->began = tacho_now_ns(CLOCK_MONOTONIC);
	err = job->gate >= 0 ? open_gate(job) : 0;
	if (err)
		return cli_fail("cannot run '%s': %s", job->opt->command[0],
				strerror(err));
	return CLI_OK;
}

void job_recorder_config(const struct job *job, const char *dir,
			 struct tacho_recorder_config *cfg)
{
	const struct job_options *o = job->opt;

	*cfg = (struct tacho_recorder_config){
		.dir = dir,
		.session = job->has_session ?
			   (struct tacho_session *)(uintptr_t)&job->session : NULL,
		.kernel = job->kernel,
		.clock = job->clock,
		.clock_freq = job->clock_freq,
		.start = job->start,
		.uuid = job->has_session ? job->session.view.ctl->uuid : NULL,
		.command = job->text[0] ? job->text : NULL,
		.rotate_bytes = o->rotate_bytes,
		.rotate_ns = o->rotate_ns,
		.keep = o->keep,
		.no_kallsyms = o->no_kallsyms,
	};
}

static void unread_note(const struct job *job)
{
	const struct job_options *o = job->opt;

	if (o->flight || o->on || o->on_kernel)
		cli_note("what is not written is still in session '%s': "
			 "tacho recover -o %s.rest %s", job->name, o->output,
			 job->name);
	else
		cli_note("what is not in the trace is still in session '%s': "
			 "tacho recover %s", job->name, o->output);
}

void job_end(struct job *job)
{
	struct tacho_diag d = { 0 };

	if (job->gate >= 0) {
		close(job->gate);	/* it never ran: let it go */
		if (job->child > 0)
			(void)waitpid(job->child, NULL, 0);
	}
	if (job->kernel && tacho_kernel_destroy(job->kernel))
		cli_note("the kernel's instance is busy; the next recording "
			 "removes it");
	job->kernel = NULL;
	if (!job->has_session)
		return;
	if (job->unread) {
		unread_note(job);
		tacho_session_close(&job->session);
	} else if (tacho_session_destroy(&job->session, &d)) {
		(void)cli_fail_diag(&d);
	}
	tacho_dir_close(&job->dir);
	job->has_session = false;
}
