// SPDX-License-Identifier: MIT
/*
 * A program with libtracefs that reads events, as there are many:
 *
 *	tracefs_test DIR [PROGRAM]
 *
 * DIR is a tracing directory: the kernel's own, or a mounted tree.  With PROGRAM (steps) the
 * records are a traced program's, else markers; the kernel's events come in both.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>

#include "unit/test.h"

#define PIECES	100u		/* through a pipe, this many records ... */
#define PIECE	2000u		/* ... at once */
#define LOSSY	60000u		/* records of 40 bytes and more, in buffers of 64 KiB */

static char *dir;
static struct tracefs_instance *inst;
static struct tep_handle *tep;

/* The traced program; pid 0: markers are written instead. */
static struct {
	pid_t pid;
	FILE *to, *from;
} prog;

/* ---- who makes events ---- */

static void start(const char *path)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out) || (prog.pid = fork()) < 0) {
		perror("fork");
		exit(1);
	}
	if (!prog.pid) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)close(in[1]);
		(void)close(out[0]);
		(void)execl(path, path, (char *)NULL);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	prog.to = fdopen(in[1], "w");
	prog.from = fdopen(out[0], "r");
}

static void finish(void)
{
	int status = -1;

	if (!prog.pid)
		return;
	(void)fclose(prog.to);
	CHECK_EQ(waitpid(prog.pid, &status, 0), prog.pid);
	CHECK_EQ(status, 0);
	(void)fclose(prog.from);
}

/* Records numbered from `first` on; they are made when this returns. */
static void emit(unsigned long first, unsigned long count)
{
	char line[64];

	if (!prog.pid) {
		for (unsigned long n = first; n < first + count; n++)
			CHECK(tracefs_printf(inst, "n=%lu.\n", n) >= 0);
		return;
	}
	(void)fprintf(prog.to, "%lu %lu\n", first, count);
	(void)fflush(prog.to);
	CHECK(fgets(line, sizeof(line), prog.from) && !strcmp(line, "done\n"));
}

/* ---- what records say ---- */

struct seen {
	unsigned long nr;		/* numbered records */
	unsigned long next, gaps;	/* the number that should come; times another came */
	unsigned long wrong;		/* fields that are not what was written */
	unsigned long back;		/* times that are before the one before */
	unsigned long long ts;
	unsigned long forks, children;	/* the kernel's */
	pid_t child;
	unsigned long markers;
};

static void check_step(struct seen *s, struct tep_event *ev, struct tep_record *rec,
		       unsigned long long n)
{
	unsigned long long less = 0, pid = 0;
	char want[32];
	int len = 0;
	char *text;

	(void)snprintf(want, sizeof(want), "step %llu", n);
	text = tep_get_field_raw(NULL, ev, "text", rec, &len, 0);
	(void)tep_get_field_val(NULL, ev, "less", rec, &less, 0);
	(void)tep_get_common_field_val(NULL, ev, "common_pid", rec, &pid, 0);
	if (!text || strcmp(text, want) || (int)less != -(int)n ||
	    (pid_t)pid != prog.pid)
		s->wrong++;
}

/* The number of a record that emit() made; false: it is another. */
static bool number_of(struct tep_event *ev, struct tep_record *rec, unsigned long *n)
{
	unsigned long long v;
	int len;
	char *text;

	if (!strcmp(ev->name, "step")) {
		if (tep_get_field_val(NULL, ev, "n", rec, &v, 0))
			return false;
		*n = (unsigned long)v;
		return true;
	}
	if (strcmp(ev->name, "print"))
		return false;
	text = tep_get_field_raw(NULL, ev, "buf", rec, &len, 0);
	return text && sscanf(text, "n=%lu.", n) == 1;
}

static int take(struct tep_event *ev, struct tep_record *rec, int cpu, void *arg)
{
	struct seen *s = arg;
	unsigned long long v = 0;
	unsigned long n;

	(void)cpu;
	s->back += rec->ts < s->ts;
	s->ts = rec->ts;
	if (number_of(ev, rec, &n)) {
		s->gaps += n != s->next;
		s->next = n + 1;
		s->nr++;
		if (!strcmp(ev->name, "step"))
			check_step(s, ev, rec, n);
	} else if (!strcmp(ev->name, "sched_process_fork")) {
		s->forks++;
		if (!tep_get_field_val(NULL, ev, "child_pid", rec, &v, 0))
			s->children += (pid_t)v == s->child;
	} else if (!strcmp(ev->name, "print")) {
		s->markers++;
	}
	return 0;
}

/* ---- tests ---- */

static bool has(char **list, const char *name)
{
	bool found = false;

	for (int i = 0; list && list[i]; i++)
		found |= !strcmp(list[i], name);
	return found;
}

static void test_lists(void)
{
	char **systems = tracefs_event_systems(NULL);
	char **sched = tracefs_system_events(NULL, "sched");

	CHECK_STR(tracefs_tracing_dir(), dir);
	CHECK(has(systems, "sched"));
	CHECK(has(sched, "sched_switch"));
	if (prog.pid) {
		char **steps = tracefs_system_events(NULL, "steps");

		CHECK(has(systems, "steps"));
		CHECK(has(steps, "step"));
		CHECK(has(steps, "idle"));
		tracefs_list_free(steps);
	}
	tracefs_list_free(systems);
	tracefs_list_free(sched);
}

/* The number in an event's id file. */
static int id_of(const char *system, const char *name)
{
	char *text = tracefs_event_file_read(NULL, system, name, "id", NULL);
	int id = text ? atoi(text) : -1;

	free(text);
	return id;
}

static void test_formats(void)
{
	static const char *const systems[] = { "ftrace", "sched", "steps", NULL };
	struct tep_event *ev;

	tep = tracefs_local_events_system(dir, systems);
	if (!CHECK(tep))
		exit(test_done());
	ev = tep_find_event_by_name(tep, "sched", "sched_process_fork");
	CHECK(ev && ev->id == id_of("sched", "sched_process_fork"));
	ev = tep_find_event_by_name(tep, "ftrace", "print");
	CHECK(ev && ev->id == id_of("ftrace", "print"));
	if (!prog.pid)
		return;
	ev = tep_find_event_by_name(tep, "steps", "step");
	CHECK(ev && ev->id == id_of("steps", "step"));
	CHECK(ev && tep_find_field(ev, "text"));
	CHECK(ev && ev->id >= 32768);
}

static void test_enable(void)
{
	char filter[64];

	(void)snprintf(filter, sizeof(filter), "parent_pid == %d", (int)getpid());
	CHECK(tracefs_event_file_write(inst, "sched", "sched_process_fork", "filter",
				       filter) > 0);
	CHECK_EQ(tracefs_event_enable(inst, "sched", "sched_process_fork"), 0);
	CHECK_EQ(tracefs_event_is_enabled(inst, "sched", "sched_process_fork"),
		 TRACEFS_ALL_ENABLED);
	CHECK_EQ(tracefs_event_is_enabled(NULL, "sched", "sched_process_fork"),
		 TRACEFS_ALL_DISABLED);
	if (!prog.pid)
		return;
	CHECK(tracefs_event_file_write(inst, "steps", "step", "filter", "n >= 10") > 0);
	CHECK_EQ(tracefs_event_enable(inst, "steps", "step"), 0);
	CHECK_EQ(tracefs_event_is_enabled(inst, "steps", NULL), TRACEFS_SOME_ENABLED);
}

/* All CPUs merged: the program's records, the kernel's and markers. */
static void test_iterate(void)
{
	struct seen s = { .next = 10 };

	emit(prog.pid ? 0 : 10, prog.pid ? 50 : 40);
	s.child = fork();
	if (!s.child)
		_exit(0);
	(void)waitpid(s.child, NULL, 0);
	CHECK(tracefs_printf(inst, "a marker of %d\n", (int)getpid()) >= 0);
	CHECK_EQ(tracefs_iterate_raw_events(tep, inst, NULL, 0, take, &s), 0);
	CHECK_EQ(s.nr, 40);
	CHECK_EQ(s.gaps, 0);
	CHECK_EQ(s.wrong, 0);
	CHECK_EQ(s.back, 0);
	CHECK_EQ(s.forks, 1);
	CHECK_EQ(s.children, 1);
	CHECK_EQ(s.markers, 1);

	/* it is consumed */
	s = (struct seen){ .next = 0 };
	(void)tracefs_iterate_raw_events(tep, inst, NULL, 0, take, &s);
	CHECK_EQ(s.nr + s.forks + s.markers, 0);
}

/* A page's records; returns how many were lost before it. */
static int take_page(struct seen *s, int size, void *page)
{
	struct kbuffer *kb = kbuffer_alloc(KBUFFER_LSIZE_8,
		tep_is_local_bigendian(tep) ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
	unsigned long long ts;
	int missed;
	void *data;

	CHECK_EQ(kbuffer_load_subbuffer(kb, page), 0);
	CHECK(kbuffer_subbuffer_size(kb) <= size);
	missed = kbuffer_missed_events(kb);
	s->next += (unsigned long)missed;
	while ((data = kbuffer_read_event(kb, &ts))) {
		struct tep_record rec = {
			.ts = ts, .data = data, .size = kbuffer_event_size(kb),
		};
		int id = tep_data_type(tep, &rec);
		struct tep_event *ev = tep_find_event(tep, id);

		if (CHECK(ev))
			(void)take(ev, &rec, 0, s);
		(void)kbuffer_next_event(kb, NULL);
	}
	kbuffer_free(kb);
	return missed;
}

/*
 * The CPU that this process and its children stay on: the first, which also has what a
 * program without restartable sequences records.
 */
static int stay(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		perror("sched_getaffinity");
		exit(1);
	}
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
	return cpu;
}

typedef int reader(struct tracefs_cpu *tcpu, void *page, bool nonblock);

/* What splice(2) brought into a pipe, as much as there was, a page at a time. */
static int read_piped(struct tracefs_cpu *tcpu, void *page, bool nonblock)
{
	int size = tracefs_cpu_read_size(tcpu);
	static int fd[2], left;

	if (!fd[1] && pipe(fd))
		return -1;
	/* libtracefs 1.6 knows how much a pipe takes after a write only, which may have nothing */
	if (!left)
		left = tracefs_cpu_write(tcpu, fd[1], true);
	if (left <= 0)
		left = tracefs_cpu_pipe(tcpu, fd[1], nonblock);
	if (left <= 0)
		return left = 0;
	CHECK_EQ(left % size, 0);
	CHECK_EQ(read(fd[0], page, (size_t)size), size);
	left -= size;
	return size;
}

/*
 * One CPU's pages, read one by one, by read(2) or by splice(2); waiting where it may: when
 * all went well so far and so records will come.
 */
static void test_cpu(int cpu, reader *get)
{
	struct tracefs_cpu *tcpu = tracefs_cpu_open(inst, cpu, false);
	struct seen s = { .next = 1000 };
	void *page;
	int n;

	if (!CHECK(tcpu))
		return;
	page = calloc(1, (size_t)tracefs_cpu_read_size(tcpu));
	emit(1000, 500);
	while (s.nr < 500 && (n = get(tcpu, page, test_failed)) > 0)
		CHECK_EQ(take_page(&s, n, page), 0);
	CHECK(s.nr > 0);
	/* the kernel's splice(2) hands out full pages only */
	while ((n = tracefs_cpu_flush(tcpu, page)) > 0)
		CHECK_EQ(take_page(&s, n, page), 0);
	CHECK_EQ(s.nr, 500);
	CHECK_EQ(s.gaps, 0);
	CHECK_EQ(s.wrong, 0);
	CHECK_EQ(s.back, 0);
	CHECK(get(tcpu, page, true) <= 0);
	tracefs_cpu_close(tcpu);
	free(page);
}

/* Many, by splice(2) alone: each comes once. */
static void test_piped(int cpu)
{
	struct tracefs_cpu *tcpu = tracefs_cpu_open(inst, cpu, true);
	struct seen s = { .next = PIECE };
	void *page;
	int n;

	if (!CHECK(tcpu))
		return;
	page = calloc(1, (size_t)tracefs_cpu_read_size(tcpu));
	for (unsigned long i = 1; i <= PIECES && !test_failed; i++) {
		emit(i * PIECE, PIECE);
		while ((n = read_piped(tcpu, page, true)) > 0)
			CHECK_EQ(take_page(&s, n, page), 0);
	}
	while ((n = tracefs_cpu_flush(tcpu, page)) > 0)
		CHECK_EQ(take_page(&s, n, page), 0);
	CHECK_EQ(s.nr, PIECES * PIECE);
	CHECK_EQ(s.gaps, 0);
	CHECK_EQ(s.wrong, 0);
	CHECK_EQ(s.back, 0);
	tracefs_cpu_close(tcpu);
	free(page);
}

/* Overwritten while it is read: what is lost is told, and the sum is exact. */
static void test_lost(int cpu)
{
	struct tracefs_cpu *tcpu = tracefs_cpu_open(inst, cpu, true);
	struct seen s = { .next = 10 };
	unsigned long missed = 0;
	void *page;
	int n;

	if (!CHECK(tcpu))
		return;
	page = calloc(1, (size_t)tracefs_cpu_read_size(tcpu));
	emit(10, 10);
	n = tracefs_cpu_read(tcpu, page, true);
	CHECK(n > 0);
	CHECK_EQ(take_page(&s, n, page), 0);
	CHECK_EQ(s.nr, 10);
	emit(20, LOSSY);
	while ((n = tracefs_cpu_read(tcpu, page, true)) > 0)
		missed += (unsigned long)take_page(&s, n, page);
	CHECK(missed > 0);
	CHECK_EQ(s.nr + missed, 10 + LOSSY);
	CHECK_EQ(s.next, 20 + LOSSY);
	CHECK_EQ(s.gaps, 0);
	tracefs_cpu_close(tcpu);
	free(page);
}

static void test_snapshot_raw(int cpu)
{
	struct seen s = { .next = 2000 };
	struct tracefs_cpu *tcpu;
	char path[64];
	void *page;
	int fd, n;

	if (!tracefs_file_exists(inst, "snapshot"))
		return;
	emit(2000, 100);
	CHECK(tracefs_instance_file_write(inst, "snapshot", "1") > 0);
	(void)snprintf(path, sizeof(path), "per_cpu/cpu%d/snapshot_raw", cpu);
	fd = tracefs_instance_file_open(inst, path, O_RDONLY | O_NONBLOCK);
	if (!CHECK(fd >= 0))
		return;
	tcpu = tracefs_cpu_alloc_fd(fd, 4096, true);
	page = calloc(1, 4096);
	while ((n = (int)read(fd, page, 4096)) == 4096)
		(void)take_page(&s, n, page);
	CHECK_EQ(s.nr, 100);
	CHECK_EQ(s.gaps, 0);
	free(page);
	tracefs_cpu_free_fd(tcpu);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	char name[32];
	int cpu;

	if (argc < 2)
		return 2;
	dir = argv[1];
	test_args(argc - 1 - (argc > 2), argv + 1 + (argc > 2));
	cpu = stay();
	if (argc > 2)
		start(argv[2]);
	CHECK_EQ(tracefs_set_tracing_dir(dir), 0);
	if (prog.pid)
		emit(0, 1);	/* it runs and is known by now */
	(void)snprintf(name, sizeof(name), "rawtest%d", (int)getpid());
	inst = tracefs_instance_create(name);
	if (!CHECK(inst) || !CHECK(tracefs_instance_is_new(inst)))
		return test_done();
	TEST(test_lists());
	TEST(test_formats());
	TEST(test_enable());
	TEST(test_iterate());
	CHECK(tracefs_instance_file_write(inst, "buffer_percent", "0") > 0);
	TEST(test_cpu(cpu, tracefs_cpu_read));
	TEST(test_cpu(cpu, tracefs_cpu_buffered_read));
	TEST(test_cpu(cpu, read_piped));
	TEST(test_piped(cpu));
	TEST(test_snapshot_raw(cpu));
	CHECK(tracefs_instance_file_write(inst, "buffer_size_kb", "64") > 0);
	TEST(test_lost(cpu));
	tracefs_print_close(inst);
	CHECK_EQ(tracefs_instance_destroy(inst), 0);
	tracefs_instance_free(inst);
	tep_free(tep);
	finish();
	return test_done();
}
