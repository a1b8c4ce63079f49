/* SPDX-License-Identifier: MIT */
/*
 * What a program does to the kernel, as LKST records it: each kind of event with the right
 * arguments, thread, process, user, group, CPU and time.  Needs root and tracefs, else skipped.
 *
 *	events			the test
 *	events provoke OUT IN	the program: tells OUT what it did, and waits for the end of IN
 */
#include <arpa/inet.h>
#include <linux/lkst.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lkst/pump.h"

#define LOCALHOST	0x7f000001ull
#define BAD_FD		0x5555L		/* of a system call that fails */
#define MAP_LEN		0x5000ul
#define DATAGRAM	123

/* What the program did. */
struct facts {
	int32_t pid, child, thread, pgrp;
	uint64_t handler, page, map;
	int32_t sem, msg, shm;
	uint64_t shm_at;
	uint32_t udp_port, tcp_port;
};

/* ---- the program ---- */

static struct facts facts;

static void on_signal(int sig)
{
	(void)sig;
}

static void do_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	const struct itimerval soon = { .it_value.tv_usec = 1000 };
	sigset_t none;

	facts.handler = (uint64_t)(uintptr_t)on_signal;
	(void)sigaction(SIGUSR1, &act, NULL);
	(void)sigaction(SIGALRM, &act, NULL);
	(void)kill(getpid(), SIGUSR1);
	(void)sigemptyset(&none);
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	(void)pause();
}

static void *other_thread(void *arg)
{
	(void)arg;
	facts.thread = gettid();
	(void)syscall(SYS_lseek, BAD_FD, 0x7777L, 1L);
	return NULL;
}

static void do_processes(void)
{
	pthread_t t;

	facts.pid = getpid();
	facts.pgrp = getpgrp();
	facts.child = fork();
	if (!facts.child) {
		(void)syscall(SYS_lseek, BAD_FD, 0x8888L, 1L);
		_exit(7);
	}
	(void)waitpid(facts.child, NULL, 0);
	if (!pthread_create(&t, NULL, other_thread, NULL))
		(void)pthread_join(t, NULL);
	(void)prctl(PR_SET_NAME, "lksttest");
	(void)usleep(2000);
}

static void do_memory(void)
{
	char *p = mmap(NULL, MAP_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	facts.map = (uint64_t)(uintptr_t)p;
	facts.page = facts.map + 0x2000;
	p[0x2000] = 1;
}

static void do_ipc(void)
{
	struct sembuf up = { .sem_op = 1 };
	struct {
		long type;
		char text[5];
	} msg = { .type = 3, .text = "text" };

	facts.sem = (int32_t)syscall(SYS_semget, (long)IPC_PRIVATE, 2L, 0600L);
	(void)syscall(SYS_semop, (long)facts.sem, &up, 1L);
	(void)syscall(SYS_semtimedop, (long)facts.sem, &up, 1L, NULL);
	(void)syscall(SYS_semctl, (long)facts.sem, 1L, (long)IPC_RMID, 0L);
	facts.msg = (int32_t)syscall(SYS_msgget, (long)IPC_PRIVATE, 0600L);
	(void)syscall(SYS_msgsnd, (long)facts.msg, &msg, 5L, 0L);
	(void)syscall(SYS_msgrcv, (long)facts.msg, &msg, 5L, 3L, 0L);
	(void)syscall(SYS_msgctl, (long)facts.msg, (long)IPC_RMID, NULL);
	facts.shm = (int32_t)syscall(SYS_shmget, (long)IPC_PRIVATE, 8192L, 0600L);
	facts.shm_at = (uint64_t)syscall(SYS_shmat, (long)facts.shm, NULL, 0L);
	(void)syscall(SYS_shmdt, (long)facts.shm_at);
	(void)syscall(SYS_shmctl, (long)facts.shm, (long)IPC_RMID, NULL);
}

static int bound(int kind, uint32_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(LOCALHOST) } };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, kind, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		_exit(1);
	*port = ntohs(a.sin_port);
	return fd;
}

static int joined(int kind, uint32_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(LOCALHOST) },
				 .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, kind, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		_exit(1);
	return fd;
}

static void do_network(void)
{
	char text[DATAGRAM] = { 0 };
	int udp = bound(SOCK_DGRAM, &facts.udp_port), tcp = bound(SOCK_STREAM, &facts.tcp_port);
	int one = joined(SOCK_DGRAM, facts.udp_port), two, three;

	(void)!write(one, text, sizeof(text));
	(void)recv(udp, text, sizeof(text), 0);
	if (listen(tcp, 1))
		_exit(1);
	two = joined(SOCK_STREAM, facts.tcp_port);
	three = accept(tcp, NULL, NULL);
	(void)!write(two, text, 77);
	(void)recv(three, text, 77, 0);
	close(three);
	close(two);
	close(one);
	close(udp);
	close(tcp);
}

static void do_files(void)
{
	struct flock range = { .l_type = F_WRLCK, .l_start = 10, .l_len = 10 };
	int fd = memfd_create("lkst", 0);

	(void)flock(fd, LOCK_EX);
	(void)flock(fd, LOCK_UN);
	(void)fcntl(fd, F_SETLK, &range);
	close(fd);
	fd = open("/proc/self/oom_score_adj", O_WRONLY);
	(void)!write(fd, "321", 3);
	close(fd);
}

static int provoke(int out, int in)
{
	char c;

	do_processes();
	do_signals();
	do_memory();
	do_ipc();
	do_network();
	do_files();
	(void)syscall(SYS_lseek, BAD_FD, 0x1234L, 77L);
	if (write(out, &facts, sizeof(facts)) != sizeof(facts))
		return 1;
	/* lives until its events have been looked at */
	return read(in, &c, 1) < 0;
}

/* ---- the test ---- */

static uint64_t here[0x100];	/* tracepoints that this kernel has */
static uint64_t from, ended;	/* ticks: of the program's start, and when all was over */
static int types[0x200], nr_types;

static int note_here(uint32_t etype, const char *point, bool by_default, void *arg)
{
	(void)by_default;
	(void)arg;
	here[etype] = point != NULL;
	/* allocations and timers would be most of all */
	if (point && !(etype >= LKST_ETYPE_MEM_PAGE_ALLOC && etype <= LKST_ETYPE_MEM_CACHE_FREE &&
		       etype != LKST_ETYPE_MEM_ALLOC))
		types[nr_types++] = (int)etype;
	return 0;
}

/* A record of this type and thread with these arguments: index and value, in pairs; -1 ends. */
#define ANY	(-1)
#define END	(-1)

static const struct lkst_record *find(uint32_t etype, int32_t thread, const int64_t *want)
{
	for (size_t i = 0; i < nr_records; i++) {
		const struct lkst_record *r = &records[i];
		bool same = r->etype == etype && (thread == ANY || r->thread == thread) &&
			    r->ticks >= from;

		for (const int64_t *w = want; same && *w != END; w += 2)
			same = r->arg[w[0]] == (uint64_t)w[1];
		if (same)
			return r;
	}
	return NULL;
}

static const struct lkst_record *expect(int line, uint32_t etype, int32_t thread,
					const int64_t *want)
{
	const struct lkst_record *r;

	if (!here[etype])
		return NULL;
	r = find(etype, thread, want);
	test_check(r != NULL, __FILE__, line, "no %s of thread %d with what was done",
		   lkst_etype_text(etype)->mnemonic, thread);
	return r;
}

#define EXPECT(type, thread, ...)						\
	expect(__LINE__, LKST_ETYPE_##type, thread,				\
	       (const int64_t[]){ __VA_ARGS__ __VA_OPT__(,) END })
#define TWO(high, low)	((int64_t)((uint64_t)(high) << 32 | (uint32_t)(low)))

static void check_ids(const struct lkst_record *r, int32_t pid)
{
	if (!r)
		return;
	CHECK_EQ(r->pid, pid);
	CHECK_EQ(r->uid, OTHER_UID);
	CHECK_EQ(r->gid, OTHER_UID + 1);
	CHECK_EQ(r->pgrp, facts.pgrp);
}

static void check_processes(void)
{
	int32_t pid = facts.pid, child = facts.child;

	const struct lkst_record *exec = EXPECT(PROCESS_EXEC, pid, 0, pid, 1, pid);

	/* before it had its ids: what it was made with, or what it has by now */
	if (exec)
		from = exec->ticks + 1;
	check_ids(EXPECT(PROCESS_FORK, pid, 0, pid, 1, child), pid);
	check_ids(EXPECT(PROCESS_CLONE, pid, 0, child), pid);
	check_ids(EXPECT(PROCESS_WAIT, pid), pid);
	check_ids(EXPECT(PROCESS_RENAME, pid, 0, pid, 1, 0x6c6b737474657374), pid);
	check_ids(EXPECT(PROCESS_CONTEXTSWITCH, pid, 1, pid), pid);
	EXPECT(PROCESS_WAKEUP, ANY, 0, pid);
	/* switches from the idle task are missing in some kernels' own data: none is asked for */
	/* gone when it was looked at */
	check_ids(EXPECT(PROCESS_EXIT, child, 0, child), child);
	check_ids(EXPECT(SYSTEM_CALL_ENTRY, child, 0, SYS_lseek, 1, BAD_FD, 2, 0x8888), child);
	/* a thread: of the process */
	check_ids(EXPECT(SYSTEM_CALL_ENTRY, facts.thread, 0, SYS_lseek, 2, 0x7777), pid);
	check_ids(EXPECT(SYSTEM_CALL_ENTRY, pid, 0, SYS_lseek, 1, BAD_FD, 2, 0x1234, 3, 77), pid);
	check_ids(EXPECT(SYSTEM_CALL_EXIT, pid, 0, SYS_lseek, 1, -EBADF), pid);
}

static void check_signals(void)
{
	int32_t pid = facts.pid;

	check_ids(EXPECT(PROCESS_SIGNAL_SEND, pid, 0, SIGUSR1, 1, pid), pid);
	check_ids(EXPECT(PROCESS_SIGNAL_DELIVER, pid, 0, SIGUSR1, 2, (int64_t)facts.handler), pid);
	check_ids(EXPECT(TIMER_INTERVAL_SET, pid, 0, ITIMER_REAL, 2, 0, 3, 0), pid);
	EXPECT(TIMER_INTERVAL_EXPIRE, ANY, 0, ITIMER_REAL, 1, pid);
	EXPECT(TIMER_HIGHRES_START, pid);
	EXPECT(INT_TIMER_ENTRY, ANY);
	EXPECT(INT_TIMER_EXIT, ANY);
	EXPECT(TIMER_HIGHRES_ENTRY, ANY);
}

static void check_memory(void)
{
	int32_t pid = facts.pid;

	check_ids(EXPECT(MEM_MAP, pid, 1, (int64_t)MAP_LEN), pid);
	check_ids(EXPECT(EXCEPTION_PAGE_FAULT_USER, pid, 0, (int64_t)facts.page), pid);
	check_ids(EXPECT(MEM_RSS, pid, 1, 1), pid);
	check_ids(EXPECT(MEM_ALLOC, pid), pid);
	check_ids(EXPECT(LOCK_MMAP_WAIT, pid, 1, 1), pid);
	check_ids(EXPECT(LOCK_MMAP_GOT, pid, 1, 1, 2, 1), pid);
	check_ids(EXPECT(LOCK_MMAP_RELEASED, pid, 1, 1), pid);
}

static void check_ipc(void)
{
	int32_t pid = facts.pid;

	check_ids(EXPECT(IPC_SEMGET, pid, 0, IPC_PRIVATE, 1, 2, 2, 0600), pid);
	EXPECT(IPC_SEMOP, pid, 0, facts.sem, 1, 1);
	EXPECT(IPC_SEMOP_EXIT, pid, 0, 0);
	EXPECT(IPC_SEMTIMEDOP, pid, 0, facts.sem, 1, 1, 3, 0);
	EXPECT(IPC_SEMTIMEDOP_EXIT, pid, 0, 0);
	EXPECT(IPC_SEMCTL, pid, 0, facts.sem, 1, 1, 2, IPC_RMID);
	EXPECT(IPC_MSGGET, pid, 0, IPC_PRIVATE, 1, 0600);
	EXPECT(IPC_MSGSND, pid, 0, facts.msg, 1, 5, 2, 0);
	EXPECT(IPC_MSGSND_EXIT, pid, 0, 0);
	EXPECT(IPC_MSGRCV, pid, 0, facts.msg, 1, 5, 2, 3);
	EXPECT(IPC_MSGRCV_EXIT, pid, 0, 5);
	EXPECT(IPC_MSGCTL, pid, 0, facts.msg, 1, IPC_RMID);
	EXPECT(IPC_SHMGET, pid, 0, IPC_PRIVATE, 1, 8192, 2, 0600);
	EXPECT(IPC_SHMAT, pid, 0, facts.shm, 1, 0);
	EXPECT(IPC_SHMDT, pid, 0, (int64_t)facts.shm_at);
	EXPECT(IPC_SHMCTL, pid, 0, facts.shm, 1, IPC_RMID);
}

static void check_network(void)
{
	const struct lkst_record *sent;
	int32_t pid = facts.pid;

	/* "lo"; with Ethernet's, IP's and UDP's heads */
	sent = EXPECT(NET_PACKET_SEND, pid, 1, DATAGRAM + 42, 2, 0x6c6f);
	check_ids(sent, pid);
	if (sent)
		EXPECT(NET_PACKET_RECEIVE, ANY, 0, (int64_t)sent->arg[0], 1, DATAGRAM + 28,
		       2, 0x6c6f);
	check_ids(EXPECT(NET_PACKET_COPY, pid, 1, 77), pid);
	EXPECT(NET_SOCKET_SEND, pid, 1, TWO(AF_INET, IPPROTO_UDP), 2, DATAGRAM);
	EXPECT(NET_SOCKET_STATE, pid, 2, (int64_t)facts.tcp_port << 32, 3, LOCALHOST << 32);
	/* the connection is established (1) by an answer that came in while this thread sent */
	EXPECT(NET_SOCKET_STATE, ANY, 1, TWO(2, 1), 3, TWO(LOCALHOST, LOCALHOST));
}

static void check_files(void)
{
	int32_t pid = facts.pid;

	check_ids(EXPECT(LOCK_FILE_FLOCK, pid, 1, TWO(F_WRLCK, 0)), pid);
	check_ids(EXPECT(LOCK_FILE_POSIX, pid, 1, TWO(F_WRLCK, 0), 2, 10, 3, 19), pid);
	check_ids(EXPECT(LOCK_FILE_FCNTL, pid, 1, TWO(F_WRLCK, 0), 2, 10, 3, 19), pid);
	check_ids(EXPECT(OOPS_OOM_SCORE, pid, 0, pid, 1, 321), pid);
}

/* What holds for all of them. */
static void check_all(void)
{
	uint64_t last[TACHO_LANES_MAX] = { 0 }, back = 0, late = 0, others = 0, kinds = 0;
	bool seen[LKST_NR_ETYPES] = { 0 };

	for (size_t i = 0; i < nr_records; i++) {
		const struct lkst_record *r = &records[i];

		if (!(r->flags & LKST_LOG_KERNEL))
			continue;
		back += r->ticks < last[r->cpu];
		late += r->ticks > ended;
		last[r->cpu] = r->ticks;
		/* the process itself: from its exec on with its own ids */
		others += r->thread == facts.child && r->pid != facts.child;
		if (!seen[lkst_etype_index(r->etype)]) {
			seen[lkst_etype_index(r->etype)] = true;
			kinds++;
		}
	}
	CHECK_EQ(back, 0);
	CHECK_EQ(late, 0);
	CHECK_EQ(others, 0);
	printf("# %zu events of %llu kinds\n", nr_records, (unsigned long long)kinds);
	CHECK(kinds >= 50 || lost_events());
}

/* Makes the program another user's, with a process group of its own. */
static pid_t start_program(int *out, int *in)
{
	int facts_pipe[2], end_pipe[2];
	char a[12], b[12];
	pid_t pid;

	if (pipe(facts_pipe) || pipe(end_pipe))
		die("pipe", -errno);
	(void)snprintf(a, sizeof(a), "%d", facts_pipe[1]);
	(void)snprintf(b, sizeof(b), "%d", end_pipe[0]);
	pid = fork();
	if (!pid) {
		close(facts_pipe[0]);
		close(end_pipe[1]);
		if (setpgid(0, 0) || setresgid(OTHER_UID + 1, OTHER_UID + 1, OTHER_UID + 1) ||
		    setresuid(OTHER_UID, OTHER_UID, OTHER_UID))
			_exit(1);
		(void)execl("/proc/self/exe", "events", "provoke", a, b, NULL);
		_exit(1);
	}
	close(facts_pipe[1]);
	close(end_pipe[0]);
	*out = facts_pipe[0];
	*in = end_pipe[1];
	return pid;
}

static int test_events(void)
{
	struct tacho_lkst_pump *pump;
	struct tacho_diag d = { 0 };
	int out, in;
	pid_t pid;

	open_lkst(32 << 20);
	(void)tacho_lkst_kernel_each(note_here, NULL);
	types[nr_types++] = LKST_ETYPE_LKST_LOST;
	types[nr_types] = -1;
	CHECK_EQ(tacho_lkst_pump_start(&pump, &lkst, &d), 0);
	select_types("all", types, LKST_EVHANDLER_ID_LOG);
	pid = start_program(&out, &in);
	CHECK_EQ(read(out, &facts, sizeof(facts)), sizeof(facts));
	read_all(0);
	ended = tacho_clock_read(lkst.session.view.ctl->clock);
	close(in);
	CHECK_EQ(facts.pid, pid);
	/* a machine so busy that the kernel ran over has lost some of what is looked for */
	if (!lost_events()) {
		check_processes();
		check_signals();
		check_memory();
		check_ipc();
		check_network();
		check_files();
	}
	check_all();
	(void)waitpid(pid, NULL, 0);
	tacho_lkst_pump_stop(pump);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

int main(int argc, char **argv)
{
	struct tacho_diag d = { 0 };
	struct tacho_tracefs t;
	int ret;

	if (argc == 4 && !strcmp(argv[1], "provoke"))
		return provoke(atoi(argv[2]), atoi(argv[3]));
	if (geteuid())
		SKIP("not root");
	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d))
		SKIP(d.text);
	tacho_tracefs_close(&t);
	ret = in_its_own("events", test_events);
	remove_tree(AT_FDCWD, directory);
	return ret;
}
