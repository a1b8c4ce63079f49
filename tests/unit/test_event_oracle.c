// SPDX-License-Identifier: MIT
/*
 * Our text of live kernel events against the kernel's own, line by line, and
 * against libtraceevent.  Where the two differ the kernel is right.
 *
 * Works in a tracefs instance of its own, which it removes.
 */
#include "test.h"

#include <ctype.h>
#include <arpa/inet.h>
#include <errno.h>
#include <event-parse.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event_util.h"

/* libtraceevent leaks on formats that it cannot parse; not our business. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

#define TRACING "/sys/kernel/tracing"
#define SUBBUF 4096

static const struct tacho_type *types[65536];
static struct tacho_arena type_arena;
static struct tep_handle *tep;
static size_t nr_ours, nr_theirs, nr_formats;
static char instance[128];

/* The kernel's symbols, in the order of address. */
static struct symbol {
	uint64_t addr;
	char name[120];
} *symbols;
static size_t nr_symbols;

static int symbol_order(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	/* of two names for one place the kernel takes the one listed first */
	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) :
	       (x < y ? -1 : 1);
}

static void symbols_load(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[120], module[120];
	unsigned long long addr;
	char kind;

	symbols = calloc(500000, sizeof(*symbols));
	while (f && symbols && nr_symbols < 500000 &&
	       fgets(line, sizeof(line), f)) {
		struct symbol *s = &symbols[nr_symbols];
		int n = sscanf(line, "%llx %c %119s %119s", &addr, &kind, name,
			       module);

		if (n < 3 || !addr)
			continue;
		s->addr = addr;
		if (n > 3)
			snprintf(s->name, sizeof(s->name), "%.60s %.50s", name,
				 module);
		else
			snprintf(s->name, sizeof(s->name), "%s", name);
		nr_symbols++;
	}
	if (f)
		fclose(f);
	qsort(symbols, nr_symbols, sizeof(*symbols), symbol_order);
}

static const char *symbol_find(void *arg, uint64_t addr, uint64_t *start)
{
	size_t lo = 0, hi = nr_symbols;

	(void)arg;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >> 63 == 0)
		return NULL;
	for (lo--; lo && symbols[lo - 1].addr == symbols[lo].addr; lo--)
		;
	*start = symbols[lo].addr;
	return symbols[lo].name;
}

static uint64_t symbol_size(void *arg, uint64_t start)
{
	(void)arg;
	for (size_t lo = 0, hi = nr_symbols; lo < hi;) {
		size_t mid = (lo + hi) / 2;

		if (symbols[mid].addr > start)
			hi = mid;
		else
			lo = mid + 1;
		if (lo == hi && lo < nr_symbols)
			return symbols[lo].addr - start;
	}
	return 0;
}

/* The strings that the kernel exports for readers of raw events. */
static struct {
	uint64_t addr;
	char text[200];
} strings[4096];
static size_t nr_strings;

static void strings_load(void)
{
	FILE *f = fopen(TRACING "/printk_formats", "r");
	char line[400];
	unsigned long long addr;

	while (f && nr_strings < TACHO_ARRAY_SIZE(strings) &&
	       fgets(line, sizeof(line), f)) {
		if (sscanf(line, "0x%llx : \"%199[^\"]\"", &addr,
			   strings[nr_strings].text) == 2)
			strings[nr_strings++].addr = addr;
	}
	if (f)
		fclose(f);
}

static const char *string_find(void *arg, uint64_t addr)
{
	(void)arg;
	for (size_t i = 0; i < nr_strings; i++)
		if (strings[i].addr == addr)
			return strings[i].text;
	return NULL;
}

static struct tacho_print_env env = {
	.symbol = symbol_find, .symbol_size = symbol_size,
	.string = string_find,
};

static void load(const char *path, struct tacho_buf *text)
{
	char system[128] = "";
	struct tacho_diag d = { .err = 0 };
	struct tacho_type *t;
	struct tep_event *e = NULL;
	const char *hz = NULL;

	sscanf(path, TRACING "/events/%127[^/]", system);
	nr_formats++;
	t = tacho_type_parse(&type_arena, system, NULL, 0, text->data,
			     text->len, &d);
	if (!test_check(t != NULL, __FILE__, __LINE__, "%s: %s", path, d.text))
		return;
	if (t->id < 65536)
		types[t->id] = t;
	nr_ours += t->print != NULL;
	if (!tep_parse_format(tep, &e, text->data, text->len, system) && e &&
	    !(e->flags & TEP_EVENT_FL_FAILED))
		nr_theirs++;
	else if (t->print)
		printf("# only ours compiles: %s:%s\n", system, t->name);
	if (!t->print)
		printf("# does not compile: %s:%s\n", system, t->name);
	hz = strstr(t->print_fmt, "(jiffies - REC->dirtied_when) / ");
	if (hz)
		env.hz = (uint32_t)strtoul(hz + 32, NULL, 10);
}

static int put_file(const char *name, const char *text)
{
	char path[sizeof(instance) + 160];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static void loopback(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char b[100] = { 0 };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!bind(s, (struct sockaddr *)&to, sizeof(to)) && !listen(s, 1) &&
	    !getsockname(s, (struct sockaddr *)&to, &len) &&
	    !connect(c, (struct sockaddr *)&to, sizeof(to)) &&
	    write(c, b, sizeof(b)) > 0)
		usleep(1000);
	close(c);
	close(s);
}

static void workload(void)
{
	char path[] = "/tmp/tacho-oracle-XXXXXX";
	char data[8192] = { 1 };
	int fd = mkstemp(path);
	pid_t pid;

	loopback();
	for (int i = 0; fd >= 0 && i < 4; i++) {
		if (write(fd, data, sizeof(data)) < 0 || fsync(fd))
			break;
		usleep(2000);
	}
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	raise(SIGURG);
}

static size_t nr_stacks, nr_callers;
static size_t nr_compared, nr_same, nr_no_format, nr_skipped, nr_tep_differs;
static bool seen[65536];
static bool reported[65536];

/*
 * Equal, but that where we print a pointer that cannot be computed the kernel
 * may print any 16 digits.
 */
static bool same_text(const char *ours, const char *theirs)
{
	static const char hidden[] = "(____ptrval____)";

	while (*ours && *theirs) {
		if (!strncmp(ours, hidden, 16)) {
			for (int i = 0; i < 16; i++)
				if (!strchr("0123456789abcdef", theirs[i]) ||
				    !theirs[i])
					return false;
			ours += 16;
			theirs += 16;
		} else if (*ours++ != *theirs++) {
			return false;
		}
	}
	return *ours == *theirs;
}

/*
 * Formats that the kernel does not follow, that keep names only it knows, or
 * that print its memory.
 */
static bool is_exempt(const struct tacho_type *t)
{
	return !strcmp(t->system, "syscalls") ||
	       !strcmp(t->system, "maple_tree") ||
	       strstr(t->print_fmt, "{I_DIRTY_SYNC");
}

static bool tep_agrees(const struct tacho_type *t, const void *raw, size_t len,
		       const char *want)
{
	struct tep_record rec = { .data = (void *)(uintptr_t)raw,
				  .size = (int)len };
	struct tep_event *e = tep_find_event(tep, (int)t->id);
	struct trace_seq s;
	bool same;

	if (!e)
		return true;
	trace_seq_init(&s);
	tep_print_event(tep, &s, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	same = same_text(s.buffer, want);
	trace_seq_destroy(&s);
	return same;
}

static void compare(const struct tacho_type *t, const void *raw, size_t len,
		    const char *line)
{
	char mark[160];
	struct tacho_buf out;
	const char *want;

	snprintf(mark, sizeof(mark), ": %s: ", t->name);
	want = strstr(line, mark);
	if (!want || is_exempt(t)) {
		nr_skipped++;
		return;
	}
	want += strlen(mark);
	if (!t->print) {
		nr_no_format++;
		return;
	}
	tacho_buf_init(&out, 1 << 16);
	tacho_print_run(t, raw, len, &env, &out);
	nr_compared++;
	seen[t->id] = true;
	if (same_text(tacho_buf_str(&out), want)) {
		nr_same++;
	} else if (!reported[t->id]) {
		reported[t->id] = true;
		test_check(0, __FILE__, __LINE__,
			   "%s:%s\n# ours   '%s'\n# kernel '%s'\n# by %s",
			   t->system, t->name, tacho_buf_str(&out), want,
			   t->print_fmt);
	}
	if (!tep_agrees(t, raw, len, want))
		nr_tep_differs++;
	tacho_buf_release(&out);
}

/* Whether the line has "[001]", as the head of an event's has. */
static bool has_cpu(const char *line)
{
	for (; *line && *line != '\n'; line++)
		if (*line == '[' && isdigit((unsigned char)line[1]) &&
		    isdigit((unsigned char)line[2]) && isdigit((unsigned char)line[3]) &&
		    line[4] == ']')
			return true;
	return false;
}

/* Whether the text goes on with a piece of the line before: other tests' threads have such names. */
static bool is_rest(const char *text)
{
	return *text && *text != '#' && *text != ' ' && !has_cpu(text) &&
	       strncmp(text, "CPU:", 4);
}

/* The next line of the text that is an event's. */
static char *next_line(char **text)
{
	while (**text) {
		char *line = *text, *nl = strchr(line, '\n');

		bool headed = has_cpu(line);

		while (nl && *line != '#' && strncmp(line, " => ", 4) &&
		       strncmp(line, "CPU:", 4) &&
		       (is_rest(nl + 1) || (!headed && has_cpu(nl + 1)))) {
			headed |= has_cpu(nl + 1);
			nl = strchr(nl + 1, '\n');
		}
		if (!nl)
			return NULL;
		*nl = '\0';
		*text = nl + 1;
		if (*line && *line != '#' && !strstr(line, " EVENTS]") &&
		    !strstr(line, "buffer started"))
			return line;
	}
	return NULL;
}

/* "<stack trace>" and the lines behind it, one for each caller. */
static void stack_compare(const struct tacho_type *t, const void *raw,
			  size_t len, const char *line, char **text)
{
	const char *want = strstr(line, "<stack trace>");
	struct tacho_buf ours, theirs;

	tacho_buf_init(&ours, 1 << 16);
	tacho_buf_init(&theirs, 1 << 16);
	tacho_buf_puts(&theirs, want ? want : line);
	while (!strncmp(*text, " => ", 4)) {
		tacho_buf_putc(&theirs, '\n');
		tacho_buf_puts(&theirs, next_line(text));
		nr_callers++;
	}
	tacho_print_run(t, raw, len, &env, &ours);
	nr_stacks++;
	if (strcmp(tacho_buf_str(&ours), tacho_buf_str(&theirs)))
		CHECK_STR(tacho_buf_str(&ours), tacho_buf_str(&theirs));
	tacho_buf_release(&ours);
	tacho_buf_release(&theirs);
}

/* One page of the ring: 16 bytes of header, then events of 4-byte units. */
static bool page_compare(const unsigned char *page, char **text)
{
	uint64_t commit;
	size_t at = 16, end;

	memcpy(&commit, page + 8, 8);
	end = 16 + (commit & 0xfffff);
	if (end > SUBBUF)
		return false;
	while (at + 4 <= end) {
		uint32_t head, len, word = 0;
		uint16_t id;
		char *line;

		memcpy(&head, page + at, 4);
		if (at + 8 <= end)
			memcpy(&word, page + at + 4, 4);
		at += 4;
		len = head & 31;
		if (len == 30 || len == 31) {
			at += 4;
			continue;
		}
		if (len == 29) {
			if (!(head >> 5))
				break;
			at += word;
			continue;
		}
		if (!len) {
			len = word - 4;
			at += 4;
		} else {
			len *= 4;
		}
		if (len < 8 || at > end || len > end - at)
			return false;
		memcpy(&id, page + at, 2);
		line = next_line(text);
		if (!line)
			return false;
		if (types[id] && !strcmp(types[id]->name, "kernel_stack"))
			stack_compare(types[id], page + at, len, line, text);
		else if (types[id])
			compare(types[id], page + at, len, line);
		at += len;
	}
	return true;
}

static void cpu_compare(int cpu)
{
	unsigned char page[SUBBUF];
	struct tacho_buf text;
	char path[256];
	char *at;
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace", instance, cpu);
	tacho_buf_init(&text, (size_t)512 << 20);
	if (tacho_buf_read_file(&text, path)) {
		tacho_buf_release(&text);
		return;
	}
	tacho_buf_putc(&text, '\0');
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw",
		 instance, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	at = text.data;
	while (fd >= 0 && read(fd, page, sizeof(page)) == SUBBUF)
		if (!CHECK(page_compare(page, &at)))
			break;
	if (fd >= 0)
		close(fd);
	tacho_buf_release(&text);
}

/* Every switch with the stack that led to it. */
static void stacks_compare(void)
{
	put_file("options/stacktrace", "1");
	put_file("events/sched/sched_switch/enable", "1");
	put_file("tracing_on", "1");
	workload();
	put_file("tracing_on", "0");
	put_file("events/enable", "0");
	put_file("options/stacktrace", "0");
	for (int cpu = 0; cpu < 64; cpu++)
		cpu_compare(cpu);
	printf("# %zu stacks compared, %zu callers\n", nr_stacks, nr_callers);
	CHECK(nr_stacks > 20);
	CHECK(nr_callers > 4 * nr_stacks);
}

static void instance_remove(void)
{
	put_file("events/enable", "0");
	rmdir(instance);
}

int main(void)
{
	static const char *const systems[] = {
		"sched", "irq", "irq_vectors", "timer", "workqueue",
		"writeback", "ext4", "jbd2", "block", "kmem", "filemap", "net",
		"tcp", "sock", "skb", "napi", "qdisc", "udp", "fib", "neigh",
		"signal", "task", "cgroup", "raw_syscalls", "syscalls", "rcu",
		"ipi", "mmap", "mmap_lock", "vmscan", "compaction", "migrate",
		"percpu", "oom", "power", "notifier", "csd", "exceptions",
		"maple_tree", "io_uring", "page_pool", "iomap", "filelock",
		"initcall", "nmi", "tlb", "thp", "vmalloc", "msr", "rseq",
	};
	size_t kinds = 0;

	if (access(TRACING "/events/header_page", R_OK))
		SKIP("no tracefs, or not allowed");
	snprintf(instance, sizeof(instance),
		 TRACING "/instances/tacho-oracle-%d", (int)getpid());
	if (mkdir(instance, 0700))
		SKIP("no tracefs instance");
	(void)test_enter("oracle");
	atexit(instance_remove);
	tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tacho_arena_init(&type_arena, (size_t)256 << 20);
	symbols_load();
	strings_load();
	each_file(live_formats[0], load);
	printf("# %zu formats, compiled by us %zu, by libtraceevent %zu\n",
	       nr_formats, nr_ours, nr_theirs);
	CHECK(nr_ours >= nr_theirs);

	put_file("buffer_size_kb", "8192");
	put_file("trace_options", "nohash-ptr");
	put_file("trace_options", "nooverwrite");
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(systems); i++) {
		char name[160];

		snprintf(name, sizeof(name), "events/%s/enable", systems[i]);
		put_file(name, "1");
	}
	workload();
	put_file("tracing_on", "0");
	put_file("events/enable", "0");
	for (int cpu = 0; cpu < 64; cpu++)
		cpu_compare(cpu);
	stacks_compare();
	for (size_t i = 0; i < 65536; i++)
		kinds += seen[i];
	printf("# %zu lines of %zu types compared, %zu the same; libtraceevent"
	       " differs in %zu; %zu exempt, %zu without a format\n",
	       nr_compared, kinds, nr_same, nr_tep_differs, nr_skipped,
	       nr_no_format);
	CHECK(nr_compared > 100);
	CHECK_EQ(nr_same, nr_compared);
	tacho_arena_release(&type_arena);
	tep_free(tep);
	free(symbols);
	return test_done();
}
