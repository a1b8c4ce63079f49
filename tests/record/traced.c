// SPDX-License-Identifier: MIT
/*
 * traced - a traced program that does what it is told.
 *
 *	traced COMMAND...	each argument is one command line
 *	traced -		commands from stdin; "ok" after each
 *
 * Hits carry the process id as slot and a number that counts from 0 in each
 * process.  A command that fails ends the program with status 3.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "rec_trace.h"

extern char **environ;

static uint64_t next;		/* of the hits of this process */
static char *self;
static char stack[1 << 16];

static void fail(const char *what)
{
	fprintf(stderr, "traced: %s: %s\n", what, strerror(errno));
	_exit(3);
}

static uint64_t number(const char *arg)
{
	return arg ? strtoull(arg, NULL, 10) : 0;
}

static void run(char *line);

/* ---- plain events ---- */

static void hit(char *arg)
{
	for (uint64_t n = number(arg); n; n--)
		trace_hit((u64)getpid(), __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
}

static void other(char *arg)
{
	for (uint64_t i = 0; i < number(arg); i++)
		trace_other((u64)getpid(), i);
}

static void mark(char *arg)
{
	trace_mark((u64)getpid(), number(arg));
}

/* "N US": hit and mark, N times, every US microseconds; short ones by spinning. */
static void beat(char *arg)
{
	char *end;
	uint64_t n = strtoull(arg, &end, 10), us = number(end);
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (uint64_t i = 0; i < n; i++) {
		struct timespec now;

		trace_hit((u64)getpid(), next++);
		trace_mark((u64)getpid(), i);
		t.tv_nsec += (long)us * 1000;
		for (; t.tv_nsec >= 1000000000; t.tv_nsec -= 1000000000)
			t.tv_sec++;
		if (us >= 100)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		else
			do
				clock_gettime(CLOCK_MONOTONIC, &now);
			while (now.tv_sec < t.tv_sec || (now.tv_sec == t.tv_sec &&
							 now.tv_nsec < t.tv_nsec));
	}
}

static void text(char *arg)
{
	size_t n = number(arg);
	char *s = malloc(n + 1);

	if (!s)
		fail("malloc");
	memset(s, 'x', n);
	s[n] = '\0';
	trace_text(s);
	free(s);
}

static void wide(char *arg)
{
	for (uint64_t i = 0; i < number(arg); i++)
		trace_wide((u32)i);
}

static void enabled(char *arg)
{
	(void)arg;
	printf("%d\n", trace_hit_enabled());
}

/* errno survives a tracepoint, whatever the tracepoint has to do. */
static void keep_errno(char *arg)
{
	for (int i = 1; i < 5; i++) {
		errno = 70 + i;
		if (arg && !strcmp(arg, "text"))
			trace_text("short");
		else
			trace_hit((u64)getpid(), next++);
		if (errno != 70 + i)
			fail("errno was changed");
	}
}

/* ---- threads, signals, processes ---- */

static void *thread_hits(void *arg)
{
	hit(arg);
	return NULL;
}

static void threads(char *arg)
{
	char *each = strchr(arg, ' ');
	pthread_t t[64];
	uint64_t n = number(arg);

	for (uint64_t i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[i], NULL, thread_hits, each))
			fail("pthread_create");
	for (uint64_t i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* The first thread ends, another one stays. */
static void end_first(char *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, sleep_on, NULL))
		fail("pthread_create");
	pthread_exit(NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	trace_hit((u64)getpid(), __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
}

static void signals(char *arg)
{
	signal(SIGUSR2, on_signal);
	for (uint64_t n = number(arg); n; n--)
		raise(SIGUSR2);
}

/* Hits with a timer whose handler hits as well. */
static void timer(char *arg)
{
	struct itimerval t = { { 0, 100 }, { 0, 100 } }, off = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &t, NULL);
	hit(arg);
	setitimer(ITIMER_REAL, &off, NULL);
	printf("%ju\n", (uintmax_t)next);
}

static void wait_for(pid_t pid)
{
	int st;

	if (pid < 0 || waitpid(pid, &st, 0) != pid || st)
		fail("child");
}

static void do_fork(char *arg)
{
	pid_t pid = fork();

	if (!pid) {
		next = 0;
		run(arg);
		exit(0);
	}
	wait_for(pid);
}

/* Leaves a child behind that nobody waits for. */
static void orphan(char *arg)
{
	pid_t pid = fork();

	if (!pid) {
		if (fork())
			_exit(0);
		next = 0;
		run(arg);
		exit(0);
	}
	wait_for(pid);
}

static void do_exec(char *arg)
{
	char *argv[] = { self, arg, NULL };

	execv(self, argv);
	fail("execv");
}

static void do_vfork(char *arg)
{
	char *argv[] = { self, arg, NULL };
	pid_t pid = vfork();

	if (!pid) {
		execv(self, argv);
		_exit(127);
	}
	wait_for(pid);
}

static void spawn(char *arg)
{
	char *argv[] = { self, arg, NULL };
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		fail("posix_spawn");
	wait_for(pid);
}

static int cloned(void *arg)
{
	run(arg);
	return 0;
}

/* A process that no fork handler knows of. */
static void do_clone(char *arg)
{
	wait_for(clone(cloned, stack + sizeof(stack), SIGCHLD, arg));
}

/* ---- a hostile life ---- */

static void closeall(char *arg)
{
	(void)arg;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
}

static void emfile(char *arg)
{
	struct rlimit r = { 64, 64 };

	(void)arg;
	if (setrlimit(RLIMIT_NOFILE, &r))
		fail("setrlimit");
	while (dup(1) >= 0)
		;
}

static void seccomp(char *arg)
{
	struct sock_filter nothing[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof(nothing) / sizeof(nothing[0]), nothing };

	if (!strcmp(arg, "strict")) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			fail("seccomp");
		return;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		fail("seccomp");
}

/* Under strict seccomp: hits without getpid, and an end that is allowed. */
static void locked_hits(char *arg)
{
	for (uint64_t n = 0; n < number(arg); n++)
		trace_hit(1, n);
}

static void raw_exit(char *arg)
{
	syscall(SYS_exit, (long)number(arg));
}

static void one_cpu(char *arg)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number(arg), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* dl PATH N: loads an object, lets it hit N times, unloads it. */
static void dl(char *arg)
{
	char *count = strchr(arg, ' ');
	void (*hits)(uint64_t, uint64_t);
	void *h;

	*count++ = '\0';
	h = dlopen(arg, RTLD_NOW);
	if (!h)
		fail(dlerror());
	*(void **)&hits = dlsym(h, "plugin_hits");
	if (!hits)
		fail("dlsym");
	hits((uint64_t)getpid(), number(count));
	dlclose(h);
}

/* ---- books: what was written, in a file that outlives us ---- */

struct book {
	uint64_t trying;	/* this number may be written or not */
	uint64_t done;		/* all below it are written or counted */
};

/*
 * book FILE INDEX N PAUSE: hits N times (0: for ever) with slot INDEX, and says in
 * the file what it does; sleeps a little every PAUSE hits.
 */
static void book(char *arg)
{
	struct book *b;
	const struct timespec little = { 0, 50000 };
	uint64_t slot, n, pause;
	char *rest;
	int fd;

	rest = strchr(arg, ' ');
	*rest++ = '\0';
	slot = strtoull(rest, &rest, 10);
	n = strtoull(rest, &rest, 10);
	pause = strtoull(rest, &rest, 10);
	fd = open(arg, O_RDWR | O_CLOEXEC);
	b = fd < 0 ? MAP_FAILED : mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				      MAP_SHARED, fd, 0);
	if (b == MAP_FAILED)
		fail(arg);
	close(fd);
	b += slot;
	for (uint64_t i = 0; !n || i < n; i++) {
		__atomic_store_n(&b->trying, i + 1, __ATOMIC_SEQ_CST);
		trace_hit(slot, i);
		__atomic_store_n(&b->done, i + 1, __ATOMIC_SEQ_CST);
		if (pause && i % pause == 0)
			nanosleep(&little, NULL);
	}
}

/* ---- waiting, ending ---- */

static void snooze(char *arg)
{
	struct timespec t = { (time_t)(number(arg) / 1000),
			      (long)(number(arg) % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void until(char *arg)
{
	while (access(arg, F_OK))
		snooze((char[]){ "2" });
}

static void touch(char *arg)
{
	int fd = open(arg, O_CREAT | O_WRONLY, 0666);

	if (fd < 0)
		fail(arg);
	close(fd);
}

static void die(char *arg)
{
	kill(getpid(), (int)number(arg));
}

static void leave(char *arg)
{
	exit((int)number(arg));
}

static void count(char *arg)
{
	(void)arg;
	printf("%ju\n", (uintmax_t)next);
}

static void say_pid(char *arg)
{
	(void)arg;
	printf("%d\n", (int)getpid());
}

static const struct command {
	const char *name;
	void (*run)(char *arg);
} commands[] = {
	{ "hit", hit }, { "other", other }, { "mark", mark }, { "beat", beat },
	{ "text", text }, { "wide", wide }, { "enabled", enabled },
	{ "errno", keep_errno }, { "threads", threads }, { "endfirst", end_first },
	{ "signals", signals }, { "timer", timer },
	{ "fork", do_fork }, { "orphan", orphan }, { "exec", do_exec },
	{ "vfork", do_vfork }, { "spawn", spawn }, { "clone", do_clone },
	{ "closeall", closeall }, { "emfile", emfile }, { "seccomp", seccomp },
	{ "locked", locked_hits }, { "rawexit", raw_exit }, { "cpu", one_cpu },
	{ "dl", dl }, { "book", book }, { "sleep", snooze }, { "until", until },
	{ "touch", touch }, { "die", die }, { "exit", leave }, { "pid", say_pid },
	{ "count", count },
};

static void run(char *line)
{
	size_t n = strcspn(line, " ");
	char *arg = line[n] ? line + n + 1 : NULL;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) != n ||
		    strncmp(commands[i].name, line, n))
			continue;
		commands[i].run(arg);
		fflush(stdout);
		return;
	}
	fprintf(stderr, "traced: no command '%s'\n", line);
	_exit(3);
}

/* Its ends are part of the tests: no handler and no search for leaks at them. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:handle_segv=0";
}

int main(int argc, char **argv)
{
	static char line[4096];

	self = realpath("/proc/self/exe", NULL);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-")) {
			run(argv[i]);
			continue;
		}
		while (fgets(line, sizeof(line), stdin)) {
			line[strcspn(line, "\n")] = '\0';
			run(line);
			puts("ok");
			fflush(stdout);
		}
	}
	return 0;
}
