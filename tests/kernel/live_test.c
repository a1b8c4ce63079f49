/* SPDX-License-Identifier: MIT */
/* The running kernel as a source.  Needs root and tracefs, else skipped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "event/print.h"
#include "event/type.h"
#include "tracefs/instance.h"
#include "kdata/types.h"
#include "tracefs/pump.h"
#include "kdata/symbols.h"
#include "tacho/abi/record.h"
#include "unit/test.h"

/* ---- a recording: everything that was handed to the sink ----------------------- */

struct recording {
	struct tacho_kernel *k;
	struct tacho_ktypes types;
	struct tacho_ktasks tasks;
	struct tacho_kernel_pump *pump;
	struct tacho_kernel_pump_stats stats;
	bool map;

	uint64_t events, lost, bad;
	uint64_t first;		/* earliest time */
	uint64_t last[64];	/* latest, per CPU */
	/* per event type id */
	uint64_t count[65536];
	void (*each)(struct recording *r, const struct tacho_type *type,
		     const unsigned char *raw, uint32_t len, uint32_t cpu);
	int32_t child;
	uint64_t a, b, c;	/* the test's own */
};

/* Whether a record's variable data is as abi/record.h promises. */
static bool in_order(const struct tacho_type *type, const unsigned char *raw,
		     uint32_t len)
{
	uint32_t end = type->fixed_size, i, j;

	for (i = 0; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];
		uint32_t word;

		if (f->kind != TACHO_FIELD_DATA_LOC &&
		    f->kind != TACHO_FIELD_REL_LOC)
			continue;
		word = tacho_load_u32(raw + f->offset);
		if (f->kind == TACHO_FIELD_REL_LOC)
			word += f->offset + 4;
		if ((word & 0xffff) != end)
			return false;
		end += word >> 16;
	}
	if (TACHO_ALIGN_UP(end, 8) != len)
		return false;
	for (j = end; j < len; j++)
		if (raw[j])
			return false;
	return true;
}

static int take(void *arg, const struct tacho_kernel_batch *b)
{
	struct recording *r = arg;
	uint64_t last = b->time_begin;
	uint32_t off = 0, n = 0;

	r->lost += b->lost;
	if (b->events && b->time_begin < r->first)
		r->first = b->time_begin;
	r->bad += (uintptr_t)b->records % 8 != 0 || b->len > TACHO_KERNEL_BATCH;
	r->bad += b->cpu >= 64 || b->time_begin < r->last[b->cpu % 64];
	memset(b->records - TACHO_KERNEL_HEAD, 0xee, TACHO_KERNEL_HEAD);
	while (off < b->len) {
		uint64_t word = tacho_load_u64(b->records + off);
		uint32_t size = tacho_record_size(word);
		const unsigned char *raw = b->records + off + 8;
		const struct tacho_ktype *t;
		uint64_t time = tacho_record_time(word, last);

		if (size < 16 || size % 8 || size > b->len - off) {
			r->bad++;
			break;
		}
		r->bad += time < last || time > b->time_end;
		last = time;
		t = tacho_ktypes_find(&r->types, tacho_load_u16(raw));
		if (!t || !in_order(t->type, raw, size - 8)) {
			if (!r->bad++ && t)
				printf("# first bad record: %s:%s\n",
				       t->type->system, t->type->name);
		} else {
			r->count[t->type->id]++;
			if (r->each)
				r->each(r, t->type, raw, size - 8, b->cpu);
		}
		off += size;
		n++;
	}
	r->bad += n != b->events || (n && last != b->time_end);
	r->last[b->cpu % 64] = b->time_end;
	r->events += n;
	memset(b->records + b->len, 0xee, TACHO_KERNEL_TAIL);
	return 0;
}

static struct recording *record_new(const struct tacho_kernel_config *config,
				    const char *const *globs, size_t n,
				    bool map)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct tacho_kernel_pump_config pc = { .sink = take, .arg = r };
	struct tacho_diag d = { 0 };
	int ret;

	ret = tacho_kernel_create(&r->k, config, &d);
	if (!CHECK_EQ(ret, 0)) {
		printf("# %s\n", d.text);
		exit(test_done());
	}
	tacho_ktypes_init(&r->types);
	CHECK_EQ(tacho_ktasks_init(&r->tasks), 0);
	ret = tacho_kernel_enable(r->k, globs, n, &d);
	if (!CHECK_EQ(ret, 0))
		printf("# %s\n", d.text);
	ret = tacho_kernel_load_types(r->k, &r->types, &d);
	if (!CHECK_EQ(ret, 0))
		printf("# %s\n", d.text);
	r->map = map;
	pc.map = map;
	pc.tasks = &r->tasks;
	ret = tacho_kernel_pump_new(&r->pump, r->k, &r->types, &pc, &d);
	if (!CHECK_EQ(ret, 0)) {
		printf("# %s\n", d.text);
		tacho_kernel_destroy(r->k);
		exit(test_done());
	}
	return r;
}

static void record_end(struct recording *r)
{
	struct tacho_kernel_pump_stats *s = &r->stats;
	char path[400];

	CHECK_EQ(tacho_kernel_stop(r->k, NULL), 0);
	CHECK_EQ(tacho_kernel_pump_drain(r->pump), 0);
	tacho_kernel_pump_stats(r->pump, s);
	printf("# %s: %llu events, %llu bytes, %llu batches, overwritten %llu, dropped %llu\n",
	       s->mapped ? "map" : "read", (unsigned long long)s->events,
	       (unsigned long long)s->bytes, (unsigned long long)s->batches,
	       (unsigned long long)s->overwritten,
	       (unsigned long long)s->dropped);
	CHECK_EQ(r->bad, 0);
	CHECK_EQ(r->events, s->events);
	CHECK_EQ(r->lost, s->overwritten + s->dropped + s->damaged + s->unread);
	CHECK_EQ(s->unknown, 0);
	CHECK_EQ(s->damaged, 0);
	CHECK_EQ(s->bad_pages, 0);
	CHECK_EQ(s->unread, 0);
	CHECK_EQ(s->backwards, 0);
	tacho_ktasks_finish(&r->tasks, tacho_kernel_tracefs(r->k)->dirfd);
	tacho_kernel_pump_free(r->pump);
	snprintf(path, sizeof(path), "%s/instances/%s",
		 tacho_kernel_tracefs(r->k)->path,
		 tacho_kernel_info(r->k)->instance);
	CHECK(!access(path, F_OK));
	CHECK_EQ(tacho_kernel_destroy(r->k), 0);
	CHECK(access(path, F_OK) < 0);
}

static void record_free(struct recording *r)
{
	tacho_ktypes_release(&r->types);
	tacho_ktasks_release(&r->tasks);
	free(r);
}

/* The kernel's own count over all CPUs: read - what was read before. */
static uint64_t kernel_count(const struct recording *r, const char *key)
{
	uint32_t nr = tacho_kernel_info(r->k)->nr_cpus, i;
	struct tacho_buf text;
	uint64_t sum = 0;
	char path[64];
	const char *at;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", i);
		tacho_buf_init(&text, 4096);
		CHECK_EQ(tacho_buf_read_fileat(&text, tacho_kernel_dirfd(r->k),
					       path), 0);
		at = strstr(tacho_buf_str(&text), key);
		if (CHECK(at))
			sum += strtoull(at + strlen(key), NULL, 10);
		tacho_buf_release(&text);
	}
	return sum;
}

/* Runs fn in a child that waits until it is told to begin. */
static int32_t child_begin(void (*fn)(void), int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds) < 0)
		exit(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &c, 1) == 1)
			fn();
		_exit(0);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

/* Lets the child run to its end; the pump runs meanwhile when `r` is given. */
static void child_run(int32_t pid, int go, struct recording *r)
{
	int status;

	CHECK(write(go, "x", 1) == 1);
	close(go);
	while (waitpid(pid, &status, r ? WNOHANG : 0) == 0 && r)
		CHECK(tacho_kernel_pump_step(r->pump, 20) >= 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- what is recorded is what happened ------------------------------------------ */

#define CALLS	1000

static void known_things(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	for (i = 0; i < 100; i++)
		syscall(SYS_close, 100000 + i);
}

static void check_known(struct recording *r, const struct tacho_type *type,
			const unsigned char *raw, uint32_t len, uint32_t cpu)
{
	const struct tacho_field *f;
	uint64_t v = 0;

	(void)cpu;
	if ((int32_t)tacho_load_u32(raw + 4) != r->child)
		return;
	if (!strcmp(type->name, "sys_enter_getppid")) {
		r->a++;
		f = tacho_type_field(type, "__syscall_nr");
		CHECK(f && tacho_field_int(f, raw, len, &v));
		if (v != SYS_getppid)
			CHECK_EQ(v, SYS_getppid);
	} else if (!strcmp(type->name, "sys_exit_getppid")) {
		f = tacho_type_field(type, "ret");
		CHECK(f && tacho_field_int(f, raw, len, &v));
		if (v != (uint64_t)getpid())
			CHECK_EQ(v, getpid());
		r->b++;
	} else if (!strcmp(type->name, "sys_enter_close")) {
		f = tacho_type_field(type, "fd");
		if (f && tacho_field_int(f, raw, len, &v) &&
		    (uint32_t)v == 100000 + r->c)
			r->c++;
	}
}

/* The clock that the instance claims to have, read here. */
static uint64_t now(const struct recording *r)
{
	struct timespec t;

#ifdef __x86_64__
	if (tacho_kernel_info(r->k)->clock_is_tsc)
		return __builtin_ia32_rdtsc();
#endif
	CHECK_STR(tacho_kernel_info(r->k)->clock, "mono");
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void test_known(bool map)
{
	static const char *const globs[] = { "sched:*", "syscalls:*", "task" };
	struct tacho_kernel_config config = { .name = "known" };
	struct recording *r = record_new(&config, globs, 3, map);
	struct tacho_ktask *task;
	uint64_t begin, end;
	int go, cpu;

	r->each = check_known;
	r->child = child_begin(known_things, &go);
	/* The machine may be too busy to record all of it without loss. */
	CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, false, NULL), 0);
	tacho_ktasks_scan(&r->tasks);
	r->first = UINT64_MAX;
	begin = now(r);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	child_run(r->child, go, r);
	CHECK_EQ(tacho_kernel_stop(r->k, NULL), 0);
	CHECK_EQ(tacho_kernel_pump_drain(r->pump), 0);
	end = now(r);
	CHECK(r->first > begin && r->first < end);
	for (cpu = 0; cpu < 64; cpu++)
		CHECK(r->last[cpu] < end);
	record_end(r);
	if (!map)
		CHECK(!r->stats.mapped);
	CHECK_EQ(r->a, CALLS);
	CHECK_EQ(r->b, CALLS);
	CHECK_EQ(r->c, 100);
	CHECK_EQ(r->lost, 0);
	task = tacho_ktasks_find(&r->tasks, r->child);
	if (CHECK(task))
		CHECK(task->comm[0] != '\0');
	task = tacho_ktasks_find(&r->tasks, getpid());
	if (CHECK(task)) {
		CHECK_EQ(task->tgid, getpid());
		CHECK_STR(task->comm, "kernel_live");
	}
	record_free(r);
}

/* ---- only the pids that were asked for --------------------------------------- */

static void forks(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	syscall(SYS_getppid);
}

static void check_pid(struct recording *r, const struct tacho_type *type,
		      const unsigned char *raw, uint32_t len, uint32_t cpu)
{
	int32_t pid = (int32_t)tacho_load_u32(raw + 4);

	(void)type, (void)len, (void)cpu;
	if (pid == r->child)
		r->a++;
	else if (pid == getpid())
		r->b++;
	else
		r->c++;
}

static void test_pids(bool follow)
{
	static const char *const globs[] = { "syscalls:sys_enter_getppid" };
	struct tacho_kernel_config config = { .name = "pids" };
	struct recording *r = record_new(&config, globs, 1, false);
	int32_t none = 2000000000;
	struct tacho_diag d = { 0 };
	int go;

	r->each = check_pid;
	CHECK_EQ(tacho_kernel_set_pids(r->k, &none, 1, false, &d), -ESRCH);
	CHECK(strstr(d.text, "no process 2000000000"));
	r->child = child_begin(forks, &go);
	CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, follow, NULL), 0);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	syscall(SYS_getppid);
	child_run(r->child, go, NULL);
	syscall(SYS_getppid);
	record_end(r);
	CHECK_EQ(r->a, 1);
	CHECK_EQ(r->b, 0);
	CHECK_EQ(r->c, follow ? 1 : 0);
	record_free(r);
}

/* ---- losses ----------------------------------------------------------------- */

#define MANY	20000

static void many_calls(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		syscall(SYS_getppid);
}

/* Nobody reads while the child fills a tiny buffer many times over. */
static void test_losses(bool overwrite, bool map, uint32_t subbuf)
{
	static const char *const globs[] = { "syscalls:sys_enter_getppid" };
	struct tacho_kernel_config config = {
		.name = "losses", .buffer_size = 64 << 10,
		.overwrite = overwrite, .subbuf_size = subbuf,
	};
	struct recording *r = record_new(&config, globs, 1, map);
	int go, round;

	for (round = 0; round < 3; round++) {
		r->child = child_begin(many_calls, &go);
		CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, false, NULL),
			 0);
		CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
		child_run(r->child, go, NULL);
		if (round < 2)
			CHECK(tacho_kernel_pump_step(r->pump, 0) >= 0);
	}
	CHECK_EQ(tacho_kernel_stop(r->k, NULL), 0);
	CHECK_EQ(tacho_kernel_pump_drain(r->pump), 0);
	CHECK_EQ(kernel_count(r, "read events: "), r->events);
	CHECK_EQ(kernel_count(r, "\noverrun: ") +
		 kernel_count(r, "commit overrun: ") +
		 kernel_count(r, "dropped events: "), r->lost);
	CHECK_EQ(kernel_count(r, "entries: "), 0);
	record_end(r);
	CHECK_EQ(r->events + r->lost, 3 * MANY);
	CHECK(r->events > 0);
	CHECK(r->lost > 0);
	CHECK_EQ(overwrite ? r->stats.dropped : r->stats.overwritten, 0);
	record_free(r);
}

/* ---- steps ------------------------------------------------------------------ */

/*
 * A step hands over all that came before it, also when the kernel's writer has gone on to
 * the next sub-buffer since the step before: of the last one, but a few events are left.
 */
static void test_steps(bool map)
{
	static const char *const globs[] = { "syscalls:sys_enter_getppid" };
	struct tacho_kernel_config config = { .name = "steps", .subbuf_size = 4096 };
	struct recording *r = record_new(&config, globs, 1, map);
	int32_t self = getpid();
	uint64_t made = 0;
	int step, late = 0;

	CHECK_EQ(tacho_kernel_set_pids(r->k, &self, 1, false, NULL), 0);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	for (step = 0; step < 1000; step++) {
		int n = step % 7 + 1;

		made += (uint64_t)n;
		while (n--)
			syscall(SYS_getppid);
		CHECK(tacho_kernel_pump_step(r->pump, 0) >= 0);
		late += r->events != made;
	}
	CHECK_EQ(late, 0);
	record_end(r);
	CHECK_EQ(r->events, made);
	record_free(r);
}

/* ---- events with variable data, and those without a length ------------------- */

static void check_texts(struct recording *r, const struct tacho_type *type,
			const unsigned char *raw, uint32_t len, uint32_t cpu)
{
	const struct tacho_field *f;
	const char *text;
	size_t n = 0;

	(void)cpu;
	if (!strcmp(type->name, "print")) {
		f = tacho_type_field(type, "buf");
		text = f ? tacho_field_data(f, raw, len, &n) : NULL;
		if (CHECK(text) && n == 7 && !memcmp(text, "hello\n", 7))
			r->a++;
	} else if (!strcmp(type->name, "kernel_stack")) {
		f = tacho_type_field(type, "caller");
		text = f ? tacho_field_data(f, raw, len, &n) : NULL;
		if (text && n % 8 == 0 &&
		    n / 8 == tacho_load_u32(raw + 8) && n > 8)
			r->b++;
	} else if (!strcmp(type->name, "raw_data")) {
		f = tacho_type_field(type, "buf");
		text = f ? tacho_field_data(f, raw, len, &n) : NULL;
		if (text && n >= 5 && !memcmp(text, "abcde", 5) &&
		    tacho_load_u32(raw + 8) == 77)
			r->c++;
	}
}

static void execs(void)
{
	char *argv[] = { (char[]){ "true" }, NULL };

	execv("/bin/true", argv);
}

static void test_texts(void)
{
	static const char *const globs[] = {
		"sched:sched_process_*", "sched:sched_switch"
	};
	static const unsigned char raw[] = { 77, 0, 0, 0, 'a', 'b', 'c', 'd',
					     'e' };
	struct tacho_kernel_config config = { .name = "texts" };
	struct recording *r = record_new(&config, globs, 2, false);
	struct tacho_ktask *task;
	int go, fd;

	r->each = check_texts;
	CHECK_EQ(tacho_kernel_set_option(r->k, "stacktrace", true, NULL), 0);
	r->child = child_begin(execs, &go);
	CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, false, NULL), 0);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	fd = openat(tacho_kernel_dirfd(r->k), "trace_marker", O_WRONLY);
	CHECK(write(fd, "hello\n", 6) == 6);
	close(fd);
	fd = openat(tacho_kernel_dirfd(r->k), "trace_marker_raw", O_WRONLY);
	CHECK(write(fd, raw, sizeof(raw)) == sizeof(raw));
	close(fd);
	child_run(r->child, go, r);
	record_end(r);
	CHECK_EQ(r->a, 1);
	CHECK(r->b > 0);
	CHECK_EQ(r->c, 1);
	task = tacho_ktasks_find(&r->tasks, r->child);
	if (CHECK(task))
		CHECK_STR(task->comm, "true");
	record_free(r);
}

/* Whether the kernel's list of the recently run has "<pid> <name>". */
static bool is_saved(const struct recording *r, int32_t pid, const char *name)
{
	struct tacho_buf text;
	char line[64];
	bool found;

	snprintf(line, sizeof(line), "%d %s\n", (int)pid, name);
	tacho_buf_init(&text, 1 << 20);
	tacho_tracefs_read(tacho_kernel_tracefs(r->k)->dirfd, "saved_cmdlines",
			   &text, NULL);
	found = strstr(tacho_buf_str(&text), line);
	tacho_buf_release(&text);
	return found;
}

/* A thread that is gone before anybody looks, and that no event names. */
static void test_gone(void)
{
	static const char *const globs[] = { "raw_syscalls:sys_exit" };
	struct tacho_kernel_config config = { .name = "gone" };
	struct recording *r = record_new(&config, globs, 1, false);
	struct tacho_ktask *task;
	bool saved;
	int go;

	r->child = child_begin(execs, &go);
	CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, false, NULL), 0);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	child_run(r->child, go, NULL);
	CHECK_EQ(tacho_kernel_stop(r->k, NULL), 0);
	CHECK_EQ(tacho_kernel_pump_drain(r->pump), 0);
	task = tacho_ktasks_find(&r->tasks, r->child);
	CHECK(task && !task->comm[0]);
	tacho_ktasks_finish(&r->tasks, tacho_kernel_tracefs(r->k)->dirfd);
	/* The kernel keeps 128: others may have taken the place by now. */
	saved = is_saved(r, r->child, "true");
	task = tacho_ktasks_find(&r->tasks, r->child);
	if (saved && CHECK(task))
		CHECK_STR(task->comm, "true");
	printf("# the kernel %s its name\n", saved ? "kept" : "did not keep");
	record_end(r);
	record_free(r);
}

/* ---- the kernel's own text of the same events ------------------------------------ */

/* What our text has not been compared with yet, per CPU. */
static struct {
	char *at;
} theirs[64];

static struct tacho_symbols symbols;

static const char *symbol_at(void *arg, uint64_t addr, uint64_t *start)
{
	return tacho_symbols_at(arg, addr, start);
}

static void check_line(struct recording *r, const struct tacho_type *type,
		       const unsigned char *raw, uint32_t len, uint32_t cpu)
{
	const struct tacho_print_env env = {
		.arg = &symbols, .symbol = symbol_at,
	};
	bool is_stack = !strcmp(type->name, "kernel_stack");
	char *line, *our, *next;
	struct tacho_buf ours;

	tacho_buf_init(&ours, 65536);
	if (!is_stack)
		tacho_buf_printf(&ours, "%s: ", type->name);
	tacho_print_run(type, raw, len, &env, &ours);
	tacho_buf_putc(&ours, '\0');
	r->a++;
	r->b += type->nr_dynamic > 0 && !is_stack;
	r->c += is_stack;
	next = ours.data;
	while ((our = strsep(&next, "\n"))) {
		do
			line = strsep(&theirs[cpu].at, "\n");
		while (line && line[0] == '#');
		if (!line || strcmp(line, our) != 0)
			CHECK_STR(our, line ? line : "(nothing)");
	}
	tacho_buf_release(&ours);
}

static void symbols_load(void)
{
	struct tacho_buf text;

	tacho_buf_init(&text, (size_t)256 << 20);
	CHECK_EQ(tacho_buf_read_file(&text, "/proc/kallsyms"), 0);
	CHECK_EQ(tacho_symbols_take(&symbols, &text), 0);
	CHECK(symbols.nr > 1000);
	tacho_buf_release(&text);
}

#define PROGRAMS	10

static void programs(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < PROGRAMS; i++) {
		pid = fork();
		if (!pid)
			execs();
		waitpid(pid, &status, 0);
	}
}

static void test_oracle(bool stacks)
{
	static const char *const globs[] = { "sched:*", "task:*" };
	struct tacho_kernel_config config = { .name = "oracle" };
	struct recording *r = record_new(&config, globs, 2, false);
	struct tacho_buf text[64];
	char path[64], *line;
	uint32_t nr, i;
	int go;

	r->each = check_line;
	CHECK_EQ(tacho_kernel_set_option(r->k, "context-info", false, NULL), 0);
	CHECK_EQ(tacho_kernel_set_option(r->k, "stacktrace", stacks, NULL), 0);
	r->child = child_begin(programs, &go);
	CHECK_EQ(tacho_kernel_set_pids(r->k, &r->child, 1, true, NULL), 0);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	child_run(r->child, go, NULL);
	CHECK_EQ(tacho_kernel_stop(r->k, NULL), 0);
	nr = tacho_kernel_info(r->k)->nr_cpus;
	if (nr > 64)
		nr = 64;
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%u/trace", i);
		tacho_buf_init(&text[i], (size_t)256 << 20);
		CHECK_EQ(tacho_tracefs_read(tacho_kernel_dirfd(r->k), path,
					    &text[i], NULL), 0);
		tacho_buf_putc(&text[i], '\0');
		CHECK_EQ(tacho_buf_error(&text[i]), 0);
		theirs[i].at = text[i].data;
	}
	record_end(r);
	printf("# %llu events compared, %llu with variable data, %llu stacks\n",
	       (unsigned long long)r->a, (unsigned long long)r->b,
	       (unsigned long long)r->c);
	/* Each is forked, executed, ends and is waited for. */
	CHECK(r->a >= 4 * PROGRAMS);
	CHECK(r->b >= PROGRAMS);
	CHECK(stacks ? r->c >= 4 * PROGRAMS : !r->c);
	for (i = 0; i < nr; i++) {
		/* They have no more than we do. */
		while ((line = strsep(&theirs[i].at, "\n")))
			if (line[0] && line[0] != '#')
				CHECK_STR("(nothing)", line);
		tacho_buf_release(&text[i]);
	}
	record_free(r);
}

/* ---- every event there is ------------------------------------------------------- */

static void test_everything(void)
{
	static const char *const globs[] = { "*:*" };
	struct tacho_kernel_config config = {
		.name = "everything", .buffer_size = 16 << 20
	};
	struct recording *r = record_new(&config, globs, 1, false);
	uint32_t i, kinds = 0;
	int go;

	r->child = child_begin(execs, &go);
	CHECK_EQ(tacho_kernel_start(r->k, NULL), 0);
	child_run(r->child, go, r);
	record_end(r);
	for (i = 0; i < 65536; i++)
		kinds += r->count[i] > 0;
	printf("# %u types of %u seen\n", kinds, r->types.nr);
	CHECK(kinds > 20);
	record_free(r);
}

/* ---- errors ------------------------------------------------------------------- */

static void test_globs(void)
{
	struct tacho_kernel_config config = { .name = "globs" };
	static const struct {
		const char *glob[3];
		int ret;
		const char *text;	/* part of the sentence */
		size_t enabled;		/* in all, afterwards */
	} rows[] = {
		{ { "sched:sched_swich" }, -ENOENT,
		  "'sched:sched_swich'; near: 'sched:sched_switch'", 0 },
		{ { "nothing*:*" }, -ENOENT, "'nothing*:*'", 0 },
		{ { "" }, -EINVAL, "''", 0 },
		{ { "!" }, -EINVAL, "'!'", 0 },
		{ { "sched:sched_switch", "sched_swap" }, -ENOENT,
		  "'sched_swap'", 0 },
		{ { "sched:sched_switch" }, 0, "", 1 },
		{ { "sched_switch" }, 0, "", 1 },
		{ { "sched:sched_process_fo*", "sched:sched_process_exec" }, 0,
		  "", 3 },
		{ { "raw_syscalls" }, 0, "", 5 },
		{ { "task:*", "!task:*", "task:task_rename" }, 0, "", 6 },
	};
	struct tacho_kernel *k;
	struct tacho_diag d;
	struct tacho_buf on;
	size_t i, n;

	memset(&d, 0, sizeof(d));
	CHECK_EQ(tacho_kernel_create(&k, &config, &d), 0);
	for (i = 0; i < TACHO_ARRAY_SIZE(rows); i++) {
		memset(&d, 0, sizeof(d));
		for (n = 0; n < 3 && rows[i].glob[n]; n++)
			;
		CHECK_EQ(tacho_kernel_enable(k, rows[i].glob, n, &d),
			 rows[i].ret);
		if (!CHECK(strstr(d.text, rows[i].text)))
			printf("# %s\n", d.text);
		CHECK_EQ(tacho_kernel_info(k)->nr_enabled, rows[i].enabled);
	}
	tacho_buf_init(&on, 65536);
	CHECK_EQ(tacho_tracefs_read(tacho_kernel_dirfd(k), "set_event", &on,
				    NULL), 0);
	for (i = 0, n = 0; i < on.len; i++)
		n += on.data[i] == '\n';
	CHECK_EQ(n, 6);
	for (i = 0; i < 6; i++) {
		char name[200];

		snprintf(name, sizeof(name), "%s:%s\n",
			 tacho_kernel_enabled(k, i)->system,
			 tacho_kernel_enabled(k, i)->name);
		CHECK(strstr(tacho_buf_str(&on), name));
	}
	CHECK(!tacho_kernel_enabled(k, 6));
	tacho_buf_release(&on);
	CHECK_EQ(tacho_kernel_destroy(k), 0);
}

static int count_instances(const struct tacho_tracefs *t)
{
	int fd = openat(t->dirfd, "instances", O_RDONLY | O_DIRECTORY);
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += !strncmp(e->d_name, "tacho-selftest-", 15);
	closedir(dir);
	return n;
}

static void test_create_fails(const struct tacho_tracefs *t)
{
	struct tacho_kernel_config config = {
		.name = "selftest-huge", .buffer_size = UINT64_C(1) << 60,
	};
	struct tacho_diag d = { 0 };
	struct tacho_kernel *k, *other;

	CHECK(tacho_kernel_create(&k, &config, &d) < 0);
	CHECK(!k);
	CHECK(strstr(d.text, "buffer_size_kb"));
	CHECK_EQ(count_instances(t), 0);
	memset(&d, 0, sizeof(d));
	config.name = "self/test";
	CHECK_EQ(tacho_kernel_create(&k, &config, &d), -EINVAL);
	config.name = "selftest-a-name-that-is-far-longer-than-fits";
	config.buffer_size = 0;
	CHECK_EQ(tacho_kernel_create(&k, &config, NULL), 0);
	CHECK(strlen(tacho_kernel_info(k)->instance) < 63);
	CHECK_EQ(tacho_kernel_create(&other, &config, NULL), -EEXIST);
	CHECK_EQ(count_instances(t), 1);
	CHECK_EQ(tacho_kernel_destroy(k), 0);
	CHECK_EQ(count_instances(t), 0);
}

/* A recorder that is killed; the next one sweeps up after it. */
static void test_sweep(const struct tacho_tracefs *t)
{
	struct tacho_kernel_config config = { .name = "selftest-sweep" };
	struct tacho_kernel *k;
	int fds[2], status;
	pid_t pid;
	char c;

	CHECK(!pipe(fds));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!tacho_kernel_create(&k, &config, NULL) &&
		    write(fds[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	CHECK(read(fds[0], &c, 1) == 1);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(count_instances(t), 1);
	CHECK(tacho_kernel_sweep(t, NULL) >= 0);
	CHECK_EQ(count_instances(t), 1);	/* its owner lives */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK_EQ(count_instances(t), 1);
	config.name = "other";
	CHECK_EQ(tacho_kernel_create(&k, &config, NULL), 0);
	CHECK_EQ(count_instances(t), 0);
	CHECK_EQ(tacho_kernel_destroy(k), 0);
}

static void test_unprivileged(void)
{
	struct tacho_kernel_config config = { .name = "nobody" };
	struct tacho_diag d = { 0 };
	struct tacho_kernel *k;
	int fds[2], status;
	char text[300] = "";
	pid_t pid;

	CHECK(!pipe(fds));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		if (tacho_kernel_create(&k, &config, &d) != -EACCES)
			_exit(3);
		_exit(write(fds[1], d.text, strlen(d.text)) <= 0);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	close(fds[1]);
	CHECK(read(fds[0], text, sizeof(text) - 1) > 0);
	close(fds[0]);
	printf("# %s\n", text);
	CHECK(strstr(text, "run as root"));
	CHECK(!strchr(text, '\n'));
}

/* ---- nothing of others changes ------------------------------------------------- */

static const char *const settings[] = {
	"trace_clock", "tracing_on", "set_event", "set_event_pid",
	"set_event_notrace_pid", "buffer_size_kb", "buffer_percent",
	"trace_options", "saved_cmdlines_size", "current_tracer",
	"events/enable",
};

static void read_settings(const struct tacho_tracefs *t, struct tacho_buf *out)
{
	size_t i;

	for (i = 0; i < TACHO_ARRAY_SIZE(settings); i++) {
		tacho_buf_printf(out, "== %s\n", settings[i]);
		CHECK_EQ(tacho_tracefs_read(t->dirfd, settings[i], out, NULL),
			 0);
	}
}

int main(int argc, char **argv)
{
	struct tacho_buf before, after;
	struct tacho_tracefs t;
	struct tacho_diag d = { 0 };

	test_args(argc, argv);
	if (geteuid())
		SKIP("needs root");
	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d) < 0)
		SKIP(d.text);
	if (faccessat(t.dirfd, "instances", W_OK, 0) < 0)
		SKIP("this kernel has no tracing instances");
	tacho_kernel_sweep(&t, NULL);
	tacho_buf_init(&before, 1 << 20);
	tacho_buf_init(&after, 1 << 20);
	read_settings(&t, &before);

	TEST(test_known(true));
	TEST(test_known(false));
	TEST(test_pids(false));
	TEST(test_pids(true));
	TEST(test_losses(true, true, 0));
	TEST(test_losses(true, false, 0));
	TEST(test_losses(true, true, 4096));
	TEST(test_losses(true, false, 4096));
	TEST(test_losses(false, true, 4096));
	TEST(test_losses(false, false, 4096));
	TEST(test_steps(true));
	TEST(test_steps(false));
	TEST(test_texts());
	TEST(test_gone());
	symbols_load();
	TEST(test_oracle(false));
	TEST(test_oracle(true));
	tacho_symbols_release(&symbols);
	TEST(test_everything());
	TEST(test_globs());
	TEST(test_create_fails(&t));
	TEST(test_sweep(&t));
	TEST(test_unprivileged());

	read_settings(&t, &after);
	CHECK_STR(tacho_buf_str(&after), tacho_buf_str(&before));
	CHECK(before.len > 100);
	tacho_buf_release(&before);
	tacho_buf_release(&after);
	tacho_tracefs_close(&t);
	return test_done();
}
