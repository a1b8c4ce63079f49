// SPDX-License-Identifier: MIT
/*
 * What must not hurt the traced program: events switched off under its feet,
 * full tables, full memory, no descriptors, forks and threads by the dozen,
 * tools and processes killed half way.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "runtime/events.h"
#include "runtime/runtime.h"
#include "ring/read.h"
#include "session/remark.h"
#include "session/session.h"
#include "sys/sequence.h"
#include "unit/test.h"

/* Whether sessions make the lanes of CPUs when they are made. */
#ifdef TACHO_HAVE_RSEQ
#define CPU_LANES	1
#else
#define CPU_LANES	0
#endif

static struct tacho_dir dir;
static char top[] = "/dev/shm/tacho-fault-test.XXXXXX";

static int make(struct tacho_session *s, const char *name, uint64_t lane_size,
		struct tacho_diag *d)
{
	struct tacho_session_config cfg = {
		.name = name, .clock = -1, .lane_size = lane_size,
		.sub_size = lane_size >= 1 << 20 ? 1 << 18 : lane_size / 4,
	};

	return tacho_session_create(s, &dir, &cfg, d);
}

static uint64_t written(struct tacho_session *s)
{
	struct tacho_session_counts c;

	tacho_session_count(s, &c);
	return c.written;
}

static uint64_t lost(struct tacho_session *s)
{
	struct tacho_session_counts c;

	tacho_session_count(s, &c);
	return c.lost_full + c.lost_big + c.lost_busy;
}

/* Runs fn in a child of its own; its exit status, or -signal. */
static int in_child(void (*fn)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		int before = test_failed;

		fn();
		fflush(stdout);
		_exit(test_failed != before);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- one hit ---- */

static void *hit_when_off(void *unused)
{
	uint64_t raw[4] = { 0 };

	(void)unused;
	/* the site saw a bit, and now there is none: a new thread, no session */
	tacho_emit_ops.write(&event_count, raw, 24);
	return NULL;
}

static void test_switched_off(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, hit_when_off, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void test_lengths(void)
{
	static uint64_t raw[TACHO_RAW_MAX / 8 + 2];
	struct tacho_session s;
	uint64_t before;

	CHECK_EQ(make(&s, "lengths", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	for (size_t len = 0; len < 8; len++)
		tacho_emit_ops.write(&event_count, raw, len);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(lost(&s), 8);
	for (size_t len = 8; len < 200; len++)
		tacho_emit_ops.write(&event_count, raw, len);
	CHECK_EQ(written(&s), 193);
	before = lost(&s);
	tacho_emit_ops.write(&event_count, raw, TACHO_RAW_MAX);
	tacho_emit_ops.write(&event_count, raw, TACHO_RAW_MAX + 1);
	tacho_emit_ops.write(&event_count, raw, SIZE_MAX);
	CHECK_EQ(lost(&s) + written(&s), before + 196);
	CHECK(lost(&s) >= before + 2);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* ---- many ---- */

static void *hit_many(void *arg)
{
	for (int i = 0; i < 2000; i++)
		hit(&event_count, (uintptr_t)arg, i);
	return NULL;
}

/* ThreadSanitizer does not know that a fork's child has one thread only. */
#ifdef __SANITIZE_THREAD__
#define FORKS	0
#else
#define FORKS	40
#endif

static void test_storm(void)
{
	struct tacho_session s;
	pthread_t thread[8];
	pid_t child[FORKS + 1];

	CHECK_EQ(make(&s, "storm", 8 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	for (uintptr_t i = 0; i < 8; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, hit_many, (void *)i), 0);
	/* forked while the threads are in the middle of it */
	for (int i = 0; i < FORKS; i++) {
		child[i] = fork();
		if (!child[i]) {
			for (int k = 0; k < 100; k++)
				hit(&event_count, 100, k);
			_exit(0);
		}
	}
	for (int i = 0; i < FORKS; i++) {
		int status;

		waitpid(child[i], &status, 0);
		CHECK_EQ(status, 0);
	}
	for (int i = 0; i < 8; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(written(&s) + lost(&s), 8 * 2000 + FORKS * 100);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void test_all_sessions(void)
{
	static struct tacho_session s[TACHO_SESSIONS_MAX + 1];
	struct tacho_diag d = { 0 };
	char name[32];

	for (int i = 0; i < TACHO_SESSIONS_MAX; i++) {
		snprintf(name, sizeof(name), "many-%d", i);
		if (!CHECK_EQ(make(&s[i], name, 1 << 16, &d), 0))
			printf("# %s\n", d.text);
		CHECK_EQ(tacho_session_rule(&s[i], true, "test:count", NULL, NULL), 0);
	}
	CHECK_EQ(make(&s[TACHO_SESSIONS_MAX], "one-more", 1 << 16, &d), -ENOSPC);
	CHECK(strstr(d.text, "64"));
	CHECK(*event_count.state == UINT64_MAX);
	for (int i = 0; i < 10; i++)
		hit(&event_count, 0, i);
	for (int i = 0; i < TACHO_SESSIONS_MAX; i++) {
		CHECK_EQ(written(&s[i]), 10);
		CHECK_EQ(tacho_session_destroy(&s[i], NULL), 0);
	}
	hit(&event_count, 0, 0);
	CHECK_EQ(*event_count.state, 0);
}

/* A session whose type table is full: counted, and known types go on. */
static void test_types_full(void)
{
	struct tacho_session s;

	CHECK_EQ(make(&s, "types", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	for (uint32_t id = 2; id <= TACHO_EVENTS_MAX; id++)
		s.view.types->slot[id] = 8 | UINT64_C(1) << 32;
	CHECK_EQ(tacho_session_rule(&s, true, "test:other", NULL, NULL), 0);
	for (int i = 0; i < 5; i++) {
		hit(&event_other, 0, i);
		hit(&event_count, 0, i);
	}
	CHECK_EQ(written(&s), 6);
	CHECK_EQ(lost(&s), 5);
	CHECK(s.view.types->lost > 0);
	/* the last place is an id like any other */
	s.view.types->slot[TACHO_EVENTS_MAX] = 0;
	hit(&event_other, 0, 0);
	CHECK_EQ(written(&s), 7);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* A process with all the events it can have, and one more. */
static void events_full(void)
{
	uint32_t n = TACHO_EVENTS_MAX + 1 - tacho_runtime.proc->nr_events;
	struct tacho_event *ev = calloc(n, sizeof(*ev));
	struct tacho_event **list = calloc(n, sizeof(*list));
	char (*name)[16] = calloc(n, sizeof(*name));
	struct tacho_object o = { .struct_size = sizeof(o) };
	struct tacho_session s;
	uint32_t matched = 0;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "ev%u", i);
		ev[i] = event_count;
		ev[i].flags = 0;
		ev[i].state = off_word;
		ev[i].system = "big";
		ev[i].name = name[i];
		list[i] = &ev[i];
	}
	o.events = list;
	o.events_end = list + n;
	CHECK_EQ(tacho_object_register(&o), -ENOSPC);
	CHECK_EQ(tacho_runtime.proc->nr_events, TACHO_EVENTS_MAX);
	CHECK_EQ(tacho_runtime.proc->lost_events, 1);
	CHECK(!(ev[n - 1].flags & TACHO_EVENT_LIVE));
	CHECK_EQ(make(&s, "big", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, name[n - 2], &matched, NULL), 0);
	CHECK_EQ(matched, 1);
	CHECK(*ev[n - 2].state != 0);
	hit(&ev[n - 2], 0, 0);
	hit(&ev[n - 3], 0, 0);
	hit(&ev[n - 1], 0, 0);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	tacho_object_unregister(&o);
	free(ev);
	free(list);
	free(name);
}

static void test_many_fields(void)
{
	static struct tacho_event_field field[128];
	static char decl[128][32];
	static uint64_t raw[1 + 128];
	struct tacho_event ev = event_count;
	struct tacho_event *list[] = { &ev };
	struct tacho_object o = {
		.struct_size = sizeof(o), .events = list, .events_end = list + 1,
	};
	struct tacho_session s;
	uint32_t len = 0;
	const char *text;

	for (uint32_t i = 0; i < 128; i++) {
		snprintf(decl[i], sizeof(decl[i]), "unsigned long field_%u", i);
		field[i] = (struct tacho_event_field){ decl[i], 8 + 8 * i, 8, 0, 8 };
	}
	ev.flags = 0;
	ev.state = off_word;
	ev.name = "wide";
	ev.fields = field;
	ev.nr_fields = 128;
	CHECK_EQ(make(&s, "wide", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "wide", NULL, NULL), 0);
	CHECK_EQ(tacho_object_register(&o), 0);
	CHECK(*ev.state);
	ev.ops->write(&ev, raw, sizeof(raw));
	CHECK_EQ(written(&s), 1);
	text = tacho_types_text(&s.view, 1, &len);
	CHECK(text && memmem(text, len, "field_127", 9));
	tacho_object_unregister(&o);
	CHECK_EQ(ev.state == off_word || *ev.state == 0, 1);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* Like a library that is loaded and unloaded: its place is used again. */
static void test_cycles(void)
{
	struct tacho_event ev = event_count;
	struct tacho_event *list[] = { &ev };
	struct tacho_object o = {
		.struct_size = sizeof(o), .events = list, .events_end = list + 1,
	};
	struct tacho_session s;
	uint32_t before;

	ev.flags = 0;
	ev.state = off_word;
	ev.name = "cycle";
	CHECK_EQ(make(&s, "cycle", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "cycle", NULL, NULL), 0);
	before = tacho_runtime.proc->nr_events;
	for (int i = 0; i < 500; i++) {
		CHECK_EQ(tacho_object_register(&o), 0);
		CHECK_EQ(tacho_object_register(&o), 0);
		hit(&ev, 0, i);
		tacho_object_unregister(&o);
		tacho_object_unregister(&o);
		hit(&ev, 0, i);
	}
	CHECK_EQ(tacho_runtime.proc->nr_events, before + 1);
	CHECK_EQ(written(&s), 500);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* ---- nothing left ---- */

static void no_descriptors(void)
{
	struct rlimit none, before;
	struct tacho_session s;
	uint64_t lost_map;
	int fd;

	CHECK_EQ(make(&s, "emfile", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	fd = dup(0);
	none = before;
	none.rlim_cur = (rlim_t)(fd < 0 ? 0 : fd);
	close(fd);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	lost_map = tacho_runtime.proc->lost_map;
	errno = 4711;
	for (int i = 0; i < 10; i++)
		hit(&event_count, 0, i);
	CHECK_EQ(errno, 4711);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	CHECK_EQ(written(&s), 0);
	CHECK(tacho_runtime.proc->lost_map > lost_map);
	hit(&event_count, 0, 0);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static int entries(const char *path)
{
	DIR *list = opendir(path);
	int n = 0;

	while (list && readdir(list))
		n++;
	if (list)
		closedir(list);
	return n - 2;
}

/* Uses up a file system; the descriptor of what takes the room. */
static int fill_up(const char *path)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "%s/filler", path);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	for (off_t at = 0, step = 1 << 20; step >= 4096; step /= 2)
		while (!fallocate(fd, 0, at, step))
			at += step;
	return fd;
}

/* Starts a program that registers: what that said, and what was on its stderr. */
static int start_program(char *said, size_t size)
{
	int fd[2], status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t child;

	CHECK_EQ(pipe(fd), 0);
	child = fork();
	if (!child) {
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		close(fd[1]);
		execl("/proc/self/exe", "test_faults", "start", (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	while ((got = read(fd[0], said + n, size - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(fd[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : status;
}

/* The program that start_program() starts. */
static int start_and_tell(void)
{
	return -tacho_object_register(&object);
}

/* How often a remark says so. */
static uint64_t remarked(const char *text)
{
	struct tacho_remark r;

	for (uint32_t i = 0; i < TACHO_REMARKS_MAX; i++)
		if (tacho_remark_get(dir.reg, i, &r) && strstr(r.text, text) &&
		    !strcmp(r.comm, "exe"))
			return r.times;
	return 0;
}

/* Programs that begin in a full run-time directory, and in one that is not theirs alone. */
static void start_in_full(const char *path, int fd)
{
	char said[1000];
	struct stat st;

	for (int i = 0; i < 3; i++)
		CHECK_EQ(start_program(said, sizeof(said)), -ENOSPC);
	CHECK_STR(said, "");
	CHECK_EQ(remarked("cannot make its file"), 3);
	/* room for the program, not for the session that it shall record into */
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(ftruncate(fd, st.st_size - (256 << 10)), 0);
	setenv("TACHO_EVENTS", "test:*", 1);
	CHECK_EQ(start_program(said, sizeof(said)), 0);
	CHECK_STR(said, "");
	CHECK_EQ(remarked("TACHO_EVENTS records nothing: cannot make session 'boot'"), 1);
	unsetenv("TACHO_EVENTS");
	/* others may enter: said to who asks, and to nobody else */
	CHECK_EQ(chmod(path, 0755), 0);
	CHECK_EQ(start_program(said, sizeof(said)), -EPERM);
	CHECK_STR(said, "");
	setenv("TACHO_DEBUG", "1", 1);
	CHECK_EQ(start_program(said, sizeof(said)), -EPERM);
	CHECK(strstr(said, "must belong to you and be closed to others (chmod 700)\n"));
	CHECK(strchr(said, '\n') == said + strlen(said) - 1);
	unsetenv("TACHO_DEBUG");
	CHECK_EQ(chmod(path, 0700), 0);
}

/* In a mount name space of its own: a run-time directory of 4 MiB. */
static void full_memory(void)
{
	char path[64], sessions[80], text[5000];
	struct tacho_session s;
	struct tacho_diag d = { 0 };
	uint64_t used;
	int fd;

	snprintf(path, sizeof(path), "%s/small", top);
	snprintf(sessions, sizeof(sessions), "%s/sessions", path);
	if (mkdir(path, 0700) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, "size=4m,mode=700")) {
		printf("# no mounts here\n");
		return;
	}
	tacho_dir_close(&dir);
	setenv("TACHO_DIR", path, 1);
	CHECK_EQ(tacho_dir_open(&dir, true, &d), 0);
#ifndef TACHO_HAVE_RSEQ
	/* lanes are made when they are needed: what has no room is counted */
	CHECK_EQ(make(&s, "large", 64 << 20, &d), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	CHECK_EQ(written(&s), 0);
	CHECK_EQ(tacho_session_destroy(&s, &d), 0);
#endif
	/* a session that is larger than the file system: said, nothing is left */
	for (int i = 0; CPU_LANES && i < 3; i++) {
		memset(&d, 0, sizeof(d));
		CHECK_EQ(make(&s, "large", 64 << 20, &d), -ENOSPC);
		CHECK(strstr(d.text, "large"));
		CHECK_EQ(entries(sessions), 0);
	}
	CHECK_EQ(make(&s, "small", 1 << 16, &d), 0);
	/* type texts until the allocated part ends, in a full file system */
	fd = fill_up(path);
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "sys:ev%d", i);
		if (tacho_types_add(&s.view, text, sizeof(text)) < 0)
			break;
	}
	CHECK_EQ(tacho_types_add(&s.view, text, sizeof(text)), -ENOSPC);
	CHECK(s.view.types->lost > 0);
	used = s.view.types->text_used;
	for (int i = 0; i < 20000; i++)
		(void)tacho_types_add(&s.view, text, sizeof(text));
	CHECK_EQ(s.view.types->text_used, used);
	start_in_full(path, fd);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK(tacho_types_add(&s.view, text, sizeof(text)) > 0);
	close(fd);
	/* no room for the process's own events: refused and counted */
	CHECK_EQ(tacho_session_destroy(&s, &d), 0);
	CHECK_EQ(entries(sessions), 0);
}

/* A directory without room for the registry leaves nothing half made. */
static void full_from_start(void)
{
	char path[64], name[80];
	struct tacho_diag d = { 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/tiny", top);
	snprintf(name, sizeof(name), "%s/registry.new", path);
	if (mkdir(path, 0700) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, "size=64k,mode=700")) {
		printf("# no mounts here\n");
		return;
	}
	fd = fill_up(path);
	tacho_dir_close(&dir);
	setenv("TACHO_DIR", path, 1);
	CHECK_EQ(tacho_dir_open(&dir, true, &d), -ENOSPC);
	CHECK(d.text[0]);
	CHECK(access(name, F_OK));
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(tacho_dir_open(&dir, true, &d), 0);
	close(fd);
}

/*
 * Under a limit for files that a run-time file does not fit in, the kernel answers with
 * SIGXFSZ: nobody may get it, and no signal may stay pending.
 */
static void file_limit(void)
{
	const struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	struct tacho_session s;
	sigset_t pending;
	uint64_t before;
	char name[32], said[100];
	int status;
	pid_t child;

	CHECK_EQ(make(&s, "limit", 1 << 18, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	before = written(&s);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* a program that begins under it */
	CHECK_EQ(start_program(said, sizeof(said)), -EFBIG);
	CHECK_EQ(remarked("(ulimit -f)"), 1);
	/* a child forked under it */
	child = fork();
	if (!child) {
		for (int i = 0; i < 100; i++)
			hit(&event_count, 1, i);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(written(&s), before + 100);
	/* a session, which needs larger files yet */
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "limit-%d", i);
		CHECK_EQ(make(&s, name, 64 << 20, NULL), -EFBIG);
	}
	sigpending(&pending);
	CHECK(!sigismember(&pending, SIGXFSZ));
}

/* ---- programs that gave up their rights ---- */

/* As exit(), but where the sanitizer would look for leaks, in a /proc that is not there. */
static _Noreturn void leave(int status)
{
#ifdef __SANITIZE_ADDRESS__
	fflush(stdout);
	_exit(status);
#else
	exit(status);
#endif
}

static int go_on[2][2], arrived[2];

static void make_pipes(void)
{
	CHECK_EQ(pipe(go_on[0]) | pipe(go_on[1]) | pipe(arrived), 0);
}

/* Says that it is there, and waits until it may go on: for the first time, or the second. */
static void meet(int turn)
{
	char c = 0;

	CHECK_EQ(write(arrived[1], &c, 1), 1);
	CHECK_EQ(read(go_on[turn][0], &c, 1), 1);
}

static void wait_for(int n)
{
	char c;

	while (n--)
		CHECK_EQ(read(arrived[0], &c, 1), 1);
}

static void let_go(int turn, int n)
{
	char c = 0;

	while (n--)
		CHECK_EQ(write(go_on[turn][1], &c, 1), 1);
}

struct seen {
	int n;
	int32_t pid[16];
};

static int note_process(struct tacho_procfile *p, void *arg)
{
	struct seen *s = arg;

	if (s->n < 16)
		s->pid[s->n++] = p->pid;
	return 0;
}

static bool sees(int32_t pid)
{
	struct seen s = { 0 };

	CHECK_EQ(tacho_procs_each(&dir, note_process, &s), 0);
	while (s.n--)
		if (s.pid[s.n] == pid)
			return true;
	return false;
}

/* What a daemon's child does: two events, of which the second is switched on meanwhile. */
static void work(void)
{
	for (int i = 0; i < 100; i++) {
		hit(&event_count, 0, i);
		hit(&event_other, 0, i);
	}
	meet(0);
	for (int i = 0; i < 10; i++)
		hit(&event_other, 0, i);
	meet(1);
}

static pid_t fork_worker(void)
{
	pid_t child = fork();

	if (!child) {
		work();
		leave(test_failed != 0);
	}
	return child;
}

static void drop_chroot(void)
{
	CHECK_EQ(chroot("/proc/self/fdinfo"), 0);
	CHECK_EQ(chdir("/"), 0);
}

static void drop_setuid(void)
{
	CHECK_EQ(setgid(65534), 0);
	CHECK_EQ(setuid(65534), 0);
}

/*
 * A daemon gives up its rights and forks a worker, which forks another; then it ends.  Both
 * record, are seen, and are switched each by itself as long as they live.
 */
static void drop_rights(void (*drop)(void))
{
	struct tacho_session s;
	pid_t daemon, worker[2];
	int status, ends[2];

	CHECK_EQ(make(&s, "drop", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	make_pipes();
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	daemon = fork();
	if (!daemon) {
		hit(&event_count, 0, 0);
		drop();
		worker[0] = fork();
		if (!worker[0]) {
			worker[1] = fork_worker();
			CHECK_EQ(write(ends[1], &worker[1], sizeof(pid_t)), sizeof(pid_t));
			work();
			leave(test_failed != 0);
		}
		CHECK_EQ(write(ends[1], &worker[0], sizeof(pid_t)), sizeof(pid_t));
		leave(test_failed != 0);
	}
	CHECK_EQ(waitpid(daemon, &status, 0), daemon);
	CHECK_EQ(status, 0);
	CHECK_EQ(read(ends[0], &worker[0], sizeof(pid_t)), sizeof(pid_t));
	CHECK_EQ(read(ends[0], &worker[1], sizeof(pid_t)), sizeof(pid_t));
	wait_for(2);
	CHECK_EQ(written(&s), 201);
	CHECK(!sees(daemon) && sees(worker[0]) && sees(worker[1]));
	/* one of the two, whichever that is */
	CHECK_EQ(tacho_session_pids(&s, &worker[1], 1, true, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:other", NULL, NULL), 0);
	let_go(0, 2);
	wait_for(2);
	CHECK_EQ(written(&s), 211);
	let_go(1, 2);
	for (int i = 0; i < 2; i++) {
		CHECK(wait(&status) > 0);
		CHECK_EQ(status, 0);
	}
	CHECK(!sees(worker[0]) && !sees(worker[1]));
	CHECK_EQ(lost(&s), 0);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void drops_chroot(void)
{
	drop_rights(drop_chroot);
}

static void drops_setuid(void)
{
	drop_rights(drop_setuid);
}

#define FORBID(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* From now on what opens, makes or maps files kills. */
static int lock_up(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		FORBID(SYS_openat), FORBID(SYS_unlinkat), FORBID(SYS_mremap),
		FORBID(SYS_madvise), FORBID(SYS_ftruncate), FORBID(SYS_fallocate),
#ifdef SYS_unlink
		FORBID(SYS_unlink), FORBID(SYS_rename), FORBID(SYS_open),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { TACHO_ARRAY_SIZE(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) |
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A sandbox that forks: nobody is killed, and the child does what its parent does. */
static void sandboxed(void)
{
	struct tacho_session s;
	pid_t box;
	int status;

	make_pipes();
	CHECK_EQ(make(&s, "sandbox", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	box = fork();
	if (!box) {
		pid_t child;

		hit(&event_count, 0, 0);
		if (lock_up())
			_exit(2);
		child = fork();
		if (!child) {
			for (int i = 0; i < 100; i++)
				hit(&event_count, 0, i);
			leave(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			_exit(3);
		hit(&event_count, 0, 1);
		meet(0);
		/* the other buffer is not mapped here, and cannot be any more */
		for (int i = 0; i < 10; i++)
			hit(&event_count, 0, i);
		leave(0);
	}
	wait_for(1);
	CHECK_EQ(written(&s), 102);
	CHECK(tacho_session_snapshot(&s, NULL) >= 0);
	let_go(0, 1);
	CHECK_EQ(waitpid(box, &status, 0), box);
	CHECK_EQ(status, 0);
	CHECK_EQ(written(&s) + lost(&s), 112);
	CHECK(!sees(box));
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void test_rights(void)
{
	if (geteuid()) {
		printf("# no rights to give up\n");
	} else {
		CHECK_EQ(in_child(drops_chroot), 0);
		CHECK_EQ(in_child(drops_setuid), 0);
	}
	TEST_NAMED("sandboxed", CHECK_EQ(in_child(sandboxed), 0));
}

/* ---- tools and processes that are gone ---- */

static void test_stale_handle(void)
{
	struct tacho_session a, b, other;
	struct tacho_diag d = { 0 };

	CHECK_EQ(make(&a, "stale", 1 << 16, NULL), 0);
	CHECK_EQ(tacho_session_open(&b, &dir, "stale", NULL), 0);
	CHECK_EQ(tacho_session_destroy(&a, NULL), 0);
	CHECK_EQ(make(&other, "other", 1 << 16, NULL), 0);
	CHECK_EQ(other.bit, b.bit);
	CHECK_EQ(tacho_session_destroy(&b, &d), -ENOENT);
	CHECK(strstr(d.text, "stale"));
	/* the session that has the bit now does not notice */
	CHECK_EQ(tacho_session_rule(&other, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	CHECK_EQ(written(&other), 1);
	CHECK_EQ(tacho_session_open(&b, &dir, "other", NULL), 0);
	tacho_session_close(&b);
	CHECK_EQ(tacho_session_destroy(&other, NULL), 0);
}

static int see_one(struct tacho_procfile *p, void *arg)
{
	*(int *)arg += p->pid != 0;
	return 0;
}

/* A process killed before its file had its name: the next tool cleans up. */
static void test_half_named(void)
{
	char path[128];
	int fd, seen = 0;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	snprintf(path, sizeof(path), "%s/proc/%d.%ju.new", top, child,
		 (uintmax_t)tacho_pidns());
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK_EQ(tacho_procs_each(&dir, see_one, &seen), 0);
	CHECK_EQ(seen, 1);
	CHECK(access(path, F_OK));
	/* of a living one it stays */
	snprintf(path, sizeof(path), "%s/proc/%d.%ju.new", top, getpid(),
		 (uintmax_t)tacho_pidns());
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK_EQ(tacho_procs_each(&dir, see_one, &seen), 0);
	CHECK(!access(path, F_OK));
	(void)unlink(path);
}

#ifdef TACHO_INJECT_POINTS

static const char *die_at;

static void hook_die(const char *point)
{
	if (!strcmp(point, die_at))
		(void)raise(SIGKILL);
}

/* The session is younger than the process: its first event maps it. */
static void first_hit(void)
{
	struct tacho_session s;

	CHECK_EQ(make(&s, "victim", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:*", NULL, NULL), 0);
	tacho_inject_hook = hook_die;
	hit(&event_count, 0, 0);
	hit(&event_count, 0, 1);
}

/*
 * A process dies in its first event, or its second when that is where it
 * first comes by; others go on, and it is swept up.
 */
static void test_killed_process(const char *point, uint64_t before)
{
	struct tacho_session s;
	int seen = 0;

	die_at = point;
	CHECK_EQ(in_child(first_hit), -SIGKILL);
	CHECK_EQ(tacho_session_open(&s, &dir, "victim", NULL), 0);
	hit(&event_count, 0, 0);
	hit(&event_other, 0, 0);
	CHECK_EQ(written(&s), before + 2);
	CHECK_EQ(tacho_procs_each(&dir, see_one, &seen), 0);
	CHECK_EQ(seen, 1);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

static void register_new(void)
{
	struct tacho_event ev = event_count;
	struct tacho_event *list[] = { &ev };
	struct tacho_object o = {
		.struct_size = sizeof(o), .events = list, .events_end = list + 1,
	};

	ev.flags = 0;
	ev.state = off_word;
	ev.name = "late";
	tacho_inject_hook = hook_die;
	(void)tacho_object_register(&o);
}

static void create_session(void)
{
	struct tacho_session s;

	tacho_inject_hook = hook_die;
	(void)make(&s, "victim", 1 << 20, NULL);
}

static void destroy_session(void)
{
	struct tacho_session s;

	if (tacho_session_open(&s, &dir, "victim", NULL))
		return;
	tacho_inject_hook = hook_die;
	(void)tacho_session_destroy(&s, NULL);
}

/* A tool dies while it makes a session: the name is free, nothing is left. */
static void test_killed_create(const char *point)
{
	struct tacho_session s;

	die_at = point;
	CHECK_EQ(in_child(create_session), -SIGKILL);
	CHECK_EQ(make(&s, "victim", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	CHECK_EQ(written(&s), 1);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
}

/* A tool dies while it destroys one: writers must not go on into nowhere. */
static void test_killed_destroy(const char *point)
{
	struct tacho_session s, next;

	die_at = point;
	CHECK_EQ(make(&s, "victim", 1 << 20, NULL), 0);
	CHECK_EQ(tacho_session_rule(&s, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 0);
	CHECK_EQ(in_child(destroy_session), -SIGKILL);
	hit(&event_count, 0, 1);
	CHECK_EQ(make(&next, "next", 1 << 20, NULL), 0);
	CHECK_EQ(next.bit, s.bit);
	CHECK_EQ(tacho_session_rule(&next, true, "test:count", NULL, NULL), 0);
	hit(&event_count, 0, 2);
	CHECK_EQ(written(&next), 1);
	CHECK_EQ(tacho_session_destroy(&next, NULL), 0);
	tacho_session_close(&s);
}

static void test_kills(void)
{
	test_killed_process("attach_mapped", 0);
	test_killed_process("types_text_taken", 0);
#ifdef TACHO_HAVE_RSEQ
	test_killed_process("ring_before_commit", 1);
#else
	test_killed_process("ring_before_fallback_commit", 0);
#endif
	die_at = "procmap_added";
	CHECK_EQ(in_child(register_new), -SIGKILL);
	test_killed_create("session_making");
	if (CPU_LANES)
		test_killed_create("ring_buffer_allocated");
	test_killed_destroy("session_unmaking");
	test_killed_destroy("session_dead");
	test_killed_destroy("session_destroying");
}

#else

static void test_kills(void)
{
	TEST_SKIP("built without injection points");
}

#endif

int main(int argc, char **argv)
{
	char command[64];
	struct tacho_diag d = { 0 };

	if (argc > 1 && !strcmp(argv[1], "start"))
		return start_and_tell();
	test_args(argc, argv);
	if (!mkdtemp(top) || setenv("TACHO_DIR", top, 1))
		return 1;
	if (!CHECK_EQ(tacho_dir_open(&dir, true, &d), 0))
		return test_done();
	CHECK_EQ(tacho_object_register(&object), 0);
	TEST(test_switched_off());
	TEST(test_lengths());
	TEST(test_storm());
	TEST(test_all_sessions());
	TEST(test_types_full());
	TEST_NAMED("events_full", CHECK_EQ(in_child(events_full), 0));
	TEST(test_many_fields());
	TEST(test_cycles());
	TEST_NAMED("no_descriptors", CHECK_EQ(in_child(no_descriptors), 0));
	TEST_NAMED("full_memory", CHECK_EQ(in_child(full_memory), 0));
	TEST_NAMED("full_from_start", CHECK_EQ(in_child(full_from_start), 0));
	TEST_NAMED("file_limit", CHECK_EQ(in_child(file_limit), 0));
	TEST(test_rights());
	TEST(test_stale_handle());
	TEST(test_half_named());
	TEST(test_kills());
	tacho_object_unregister(&object);
	tacho_dir_close(&dir);
	snprintf(command, sizeof(command), "rm -r %s", top);
	CHECK_EQ(system(command), 0);
	return test_done();
}
