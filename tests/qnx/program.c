// SPDX-License-Identifier: MIT
/*
 * A program for QNX: its headers, nothing else of this tree.
 *
 *	program own	the trace is all its own; the buffers stay
 *	program take	frees the buffers that are there, and makes its own; they stay
 *	program start	the buffers are there: START, events, STOP
 *	program fork	the same; it also makes a child that ends, and says which: "PID CHILD"
 *	program pid	the same; threads of this process only, and no state.  Its thread waits
 *	program few	the same; creation and name of processes, and user events, and no more
 *	program signal	the buffers are there: START, a signal to itself, STOP; "PID"
 *	program many	START, 3,000 events 20 with their numbers, STOP
 *	program skip	START; 1,000 events 19, which nobody is to read; then others, until the
 *			buffers are freed
 *	program insert	events all the time, until it is killed; the trace is others'
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/neutrino.h>
#include <sys/resource.h>
#include <sys/trace.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int sig)
{
	(void)sig;
}

static int make_own(void)
{
	return TraceEvent(_NTO_TRACE_ALLOCBUFFER, 16, NULL) == -1 ||
	       TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) == -1 ||
	       TraceEvent(_NTO_TRACE_START) == -1;
}

static int select_self(void)
{
	return TraceEvent(_NTO_TRACE_DELALLCLASSES) == -1 ||
	       TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD) == -1 ||
	       TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) == -1 ||
	       TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_THREAD, getpid()) == -1 ||
	       TraceEvent(_NTO_TRACE_STARTNOSTATE) == -1;
}

static int select_few(void)
{
	return TraceEvent(_NTO_TRACE_DELALLCLASSES) == -1 ||
	       TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_PROCESS,
			  _NTO_TRACE_PROCCREATE_NAME) == -1 ||
	       TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) == -1 ||
	       TraceEvent(_NTO_TRACE_START) == -1;
}

/* How often a process has waited, or (a dead one) has left its CPU for good; -1: not known. */
static long nr_waits_of(pid_t pid)
{
	char line[128];
	long n = -1;
	FILE *f;

	(void)snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* A child that has ended, and left its CPU: who waits for it may know of its end before. */
static int child(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	printf("%d %d\n", (int)getpid(), (int)pid);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		return 1;
	while (!nr_waits_of(pid))
		(void)usleep(1000);
	return waitpid(pid, NULL, 0) != pid;
}

static long nr_waits(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw;
}

/* Until the kernel says that this thread has waited: a child may be gone before waitpid(). */
static void wait_surely(void)
{
	long before = nr_waits();

	while (nr_waits() == before)
		(void)usleep(1000);
}

static int events(void)
{
	static const uint32_t words[] = { 0x01020304, 2, 3, 4 };

	for (unsigned i = 0; i < 100; i++)
		if (trace_logi(20, i % 4, i * i))
			return 1;
	return trace_logf(21, "%s of %d", "text", 21) == -1 ||
	       TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 22, words, 4) == -1;
}

static int signal_self(void)
{
	bool bad = signal(SIGUSR1, on_signal) == SIG_ERR ||
		   TraceEvent(_NTO_TRACE_START) == -1;

	printf("%d\n", (int)getpid());
	return raise(SIGUSR1) || TraceEvent(_NTO_TRACE_STOP) == -1 || bad;
}

static int many(void)
{
	bool bad = TraceEvent(_NTO_TRACE_START) == -1;

	for (unsigned i = 0; i < 3000; i++)
		bad |= trace_logi(20, 0, i);
	return TraceEvent(_NTO_TRACE_STOP) == -1 || bad;
}

static int take(void)
{
	return TraceEvent(_NTO_TRACE_DEALLOCBUFFER) == -1 ||
	       TraceEvent(_NTO_TRACE_ALLOCBUFFER, 16, NULL) == -1;
}

static int skip(void)
{
	if (TraceEvent(_NTO_TRACE_START) == -1)
		return 1;
	for (unsigned i = 0; i < 1000; i++)
		(void)trace_logi(19, i, i);
	if (TraceEvent(_NTO_TRACE_SKIPBUFFER) == -1)
		return 1;
	while (TraceEvent(_NTO_TRACE_QUERYEVENTS) != -1 && !events())
		(void)usleep(1000);
	return 0;
}

static int insert(void)
{
	while (!events())
		(void)usleep(1000);
	perror("insert");
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int bad;

	if (!strcmp(how, "insert"))
		return insert();
	if (!strcmp(how, "skip"))
		return skip();
	if (!strcmp(how, "signal"))
		return signal_self();
	if (!strcmp(how, "many"))
		return many();
	if (!strcmp(how, "take"))
		return take();
	if (!strcmp(how, "own"))
		bad = make_own();
	else if (!strcmp(how, "pid"))
		bad = select_self();
	else if (!strcmp(how, "few"))
		bad = select_few();
	else
		bad = TraceEvent(_NTO_TRACE_START) == -1;
	if (bad) {
		perror("TraceEvent");
		return 1;
	}
	if (!strcmp(how, "fork") || !strcmp(how, "pid"))
		bad = child();
	if (!strcmp(how, "pid"))
		wait_surely();
	if (bad || events() || TraceEvent(_NTO_TRACE_STOP) == -1) {
		perror(how);
		return 2;
	}
	return 0;
}
