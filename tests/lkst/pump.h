/* SPDX-License-Identifier: MIT */
/* pump.h - an LKST of its own for a test: run-time directory, session, kernel instance. */
#ifndef TACHO_TESTS_LKST_PUMP_H
#define TACHO_TESTS_LKST_PUMP_H

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/lkst.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/hook.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/pump_priv.h"
#include "tracefs/instance.h"
#include "tracefs/tracefs.h"
#include "sys/clock.h"
#include "unit/test.h"

#define OTHER_UID	12345

static char session_name[40], directory[64];

static struct tacho_lkst lkst;

/* All that is recorded, CPU by CPU, in the order in which it was written. */
static struct lkst_record *records;
static size_t nr_records;

static void __attribute__((unused)) die(const char *what, int err)
{
	printf("not ok 1 - %s: %s\n1..1\n", what, strerror(-err));
	exit(1);
}

static inline void open_lkst(uint64_t buffer_size)
{
	const struct tacho_lkst_config config = { .buffer_size = buffer_size };
	struct tacho_diag d = { 0 };
	int err = tacho_lkst_open(&lkst, &config, &d);

	if (err) {
		printf("not ok 1 - %s\n1..1\n", d.text);
		exit(1);
	}
}

/* Selects a maskset of these event types (ends with -1), recorded by a handler. */
static inline void select_types(const char *name, const int *types, int handler)
{
	static union {
		struct lkst_maskset_body body;
		char bytes[LKST_MASKSET_SIZE(LKST_MASKSET_TABLE_LEN_MAX)];
	} set;
	struct lkst_maskset_param p = {
		.id = LKST_MASKSET_ID_VOID, .maskset_size = sizeof(set), .maskset = &set.body,
	};

	memset(&set, 0, sizeof(set));
	(void)snprintf(set.body.name, sizeof(set.body.name), "%s", name);
	for (; types[set.body.len] >= 0; set.body.len++)
		set.body.entry[set.body.len] = (struct lkst_maskset_entry){
			types[set.body.len], handler };
	CHECK_EQ(tacho_lkst_maskset_write(&lkst, &p), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&lkst, p.id), 0);
}

static inline void read_buffer(int cpu, int id, size_t room)
{
	struct lkst_span span = { 0 };
	size_t n;

	while (nr_records < room &&
	       !tacho_lkst_records(&lkst, cpu, id, &span, records + nr_records,
				   room - nr_records < 4096 ? room - nr_records : 4096, &n) &&
	       n) {
		nr_records += n;
	}
}

/* Reads the buffers with this id, after whoever pumps has moved all that there is. */
static inline void read_all(int id)
{
	size_t room = 1u << 20;

	(void)tacho_lkst_pump_once(&lkst);
	free(records);
	records = calloc(room, sizeof(*records));
	nr_records = 0;
	for (int cpu = 0; cpu < (int)lkst.session.view.ring.nr_cpus; cpu++)
		read_buffer(cpu, id, room);
}

/* What the kernel overwrote, by the records that tell of it. */
static inline uint64_t lost_events(void)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < nr_records; i++)
		if (records[i].etype == LKST_ETYPE_LKST_LOST)
			lost += records[i].arg[1];
	return lost;
}

static pid_t body_pid;

static inline void stop_body(int sig)
{
	(void)sig;
	(void)kill(body_pid, SIGKILL);
}

/* The parent of a test, which has this name: whatever becomes of it, nothing is left behind. */
static inline int in_its_own(const char *name, int (*body)(void))
{
	struct sigaction act = { .sa_handler = stop_body };
	struct tacho_tracefs t;
	int status = 1;

	(void)snprintf(directory, sizeof(directory), "/dev/shm/tacho-lkst.XXXXXX");
	if (!mkdtemp(directory))
		die("mkdtemp", -errno);
	(void)snprintf(session_name, sizeof(session_name), "t%d", (int)getpid());
	setenv("TACHO_DIR", directory, 1);
	setenv("LKST_SESSION", session_name, 1);
	(void)fflush(stdout);
	body_pid = fork();
	if (!body_pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)test_enter(name);
		exit(body());
	}
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGINT, &act, NULL);
	while (waitpid(body_pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!tacho_tracefs_open(&t, 0, NULL)) {
		for (int i = 0; i < 50 && tacho_kernel_is_kept(&t, session_name); i++)
			(void)tacho_kernel_remove_kept(&t, session_name);
		tacho_tracefs_close(&t);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static inline void remove_tree(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(fd, e->d_name, 0))
			remove_tree(fd, e->d_name);
	if (dir)
		(void)closedir(dir);
	(void)unlinkat(at, path, AT_REMOVEDIR);
}

#endif
