/* SPDX-License-Identifier: MIT */
/*
 * prog.h - for tests that are programs with liblkst: a run-time directory and a session of
 * their own, set before the constructors of event types run.
 *
 * They link the tools' side (lkst_core) as well, to look at what was recorded.
 */
#ifndef TACHO_TESTS_LKST_PROG_H
#define TACHO_TESTS_LKST_PROG_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/lkst.h"
#include "unit/test.h"

static char prog_dir[64];
static struct tacho_lkst tool;

/* Programs that a test starts have it from there. */
__attribute__((constructor(101))) static void prog_env(void)
{
	char name[48];

	if (getenv("LKST_TEST"))
		return;
	snprintf(prog_dir, sizeof(prog_dir), "/dev/shm/lkst-test.XXXXXX");
	if (!mkdtemp(prog_dir))
		exit(1);
	snprintf(name, sizeof(name), "lkst-%d", (int)getpid());
	setenv("TACHO_DIR", prog_dir, 1);
	setenv("LKST_SESSION", name, 1);
	setenv("LKST_TEST", "1", 1);
}

__attribute__((unused)) static void tool_open_sized(uint64_t size)
{
	const struct tacho_lkst_config cfg = { .buffer_size = size };
	struct tacho_diag d = { 0 };

	CHECK_EQ(tacho_lkst_open(&tool, &cfg, &d), 0);
	if (d.err) {
		printf("# %s\n", d.text);
		exit(test_done());
	}
}

__attribute__((unused)) static void tool_open(void)
{
	tool_open_sized(0);
}

static void tool_destroy(void)
{
	CHECK_EQ(tacho_lkst_destroy(&tool, NULL), 0);
}

/* The end of a test: all is taken away. */
__attribute__((unused)) static int prog_done(void)
{
	char command[96];

	if (tool.state)
		tool_destroy();
	snprintf(command, sizeof(command), "rm -r '%s'", prog_dir);
	CHECK_EQ(system(command), 0);
	return test_done();
}

struct prog_entry {
	int etype;
	lkst_evhandler_id handler;
};

/* Registers a maskset of n entries under a name, and its id. */
__attribute__((unused)) static int maskset(const char *name, const struct prog_entry *e, int n)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, LKST_MASKSET_SIZE(n), b };
	int id = tacho_lkst_maskset_get_id(&tool, name), err;

	if (id >= 0 && id != LKST_MASKSET_ID_VOID)
		p.id = (lkst_maskset_id)id;
	snprintf(b->name, sizeof(b->name), "%s", name);
	b->len = n;
	for (int i = 0; i < n; i++) {
		b->entry[i].event_type = e[i].etype;
		b->entry[i].id = e[i].handler;
	}
	err = tacho_lkst_maskset_write(&tool, &p);
	CHECK_EQ(err, 0);
	free(b);
	return err ? err : p.id;
}

/* The same, and selects it. */
__attribute__((unused)) static void record(const char *name, const struct prog_entry *e, int n)
{
	int id = maskset(name, e, n);

	CHECK(id >= 0);
	CHECK_EQ(tacho_lkst_maskset_set(&tool, (uint32_t)id), 0);
}

/* Calls fn for each record in all buffers of all lanes, by lane; how many there are. */
__attribute__((unused)) static uint64_t
each_record(void (*fn)(const struct lkst_record *r, void *arg), void *arg)
{
	static struct lkst_record r[512];
	uint64_t total = 0;

	for (int cpu = 0; cpu < (int)tool.state->nr_cpus; cpu++)
		for (int id = 0; id < LKST_BUFFER_MAX; id++) {
			struct lkst_span span = { 0 };
			size_t n;

			while (!tacho_lkst_records(&tool, cpu, id, &span, r, 512, &n) && n) {
				for (size_t i = 0; i < n; i++)
					fn(&r[i], arg);
				total += n;
			}
		}
	return total;
}

/* Runs fn in a child; its exit status, or -1 when a signal ended it. */
__attribute__((unused)) static int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		test_nr = test_failed = 0;
		status = fn(arg);
		fflush(stdout);
		_exit(status);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
