// SPDX-License-Identifier: MIT
/* The histograms that the programs of a session fill by themselves. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "engine/hist_print.h"
#include "kernel/syscalls.h"
#include "session/command.h"
#include "sys/clock.h"

#define OUT_MAX		((size_t)1 << 30)
#define PAUSE_NS	20000000

struct session_run {
	const struct cli_ask *ask;
	struct tacho_dir dir;
	struct tacho_session session;
	struct tacho_names names;
	struct tacho_buf out;
	uint32_t found;
};

/* The name that a thread has now; those that ended have none. */
static bool names_comm(void *arg, int32_t pid, char comm[16])
{
	char path[40];
	ssize_t n;
	int fd;

	(void)arg;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, comm, 15);
	close(fd);
	if (n <= 0)
		return false;
	comm[n] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return true;
}

static const char *names_syscall(void *arg, uint64_t nr)
{
	(void)arg;
	return tacho_syscall_name(nr);
}

static int put_one(const struct tacho_command_hist *h, void *arg)
{
	struct session_run *r = arg;

	if (h->command->hidden)
		return 0;
	r->found++;
	return cli_ask_put(r->ask, h->hist, &r->names, &r->out);
}

static int print(struct session_run *r)
{
	int ret;

	r->found = 0;
	tacho_buf_init(&r->out, OUT_MAX);
	if (r->ask->watch_ns && isatty(STDOUT_FILENO))
		tacho_buf_puts(&r->out, "\033[H\033[J");
	if (tacho_command_hists(&r->session, r->ask->only, put_one, r) ||
	    tacho_buf_error(&r->out))
		ret = cli_fail("out of memory");
	else
		ret = cli_write(&r->out);
	tacho_buf_release(&r->out);
	return ret;
}

static int print_again(struct session_run *r)
{
	uint64_t begin = tacho_now_ns(CLOCK_MONOTONIC), next = begin;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int ret = CLI_OK;

	while (ret == CLI_OK && !cli_ask_interrupted()) {
		uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);

		if (now >= next) {
			ret = print(r);
			next = now + r->ask->watch_ns;
		}
		if (r->ask->duration_ns && now - begin >= r->ask->duration_ns)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return ret;
}

int cli_ask_session(const struct cli_ask *a)
{
	struct session_run r = {
		.ask = a,
		.names = { .comm = names_comm, .syscall = names_syscall },
	};
	struct tacho_diag d = { 0 };
	int ret;

	if (tacho_dir_open(&r.dir, false, &d))
		return cli_fail_diag(&d);
	if (tacho_session_open(&r.session, &r.dir, a->session, &d)) {
		tacho_dir_close(&r.dir);
		return cli_fail_diag(&d);
	}
	ret = a->watch_ns ? print_again(&r) : print(&r);
	if (ret == CLI_OK && !r.found)
		cli_note("no program of session '%s' has counted anything; 'tacho "
			 "trigger -s %s' lists what is set", a->session, a->session);
	tacho_session_close(&r.session);
	tacho_dir_close(&r.dir);
	return ret;
}
