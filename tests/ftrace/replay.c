// SPDX-License-Identifier: MIT
/*
 * replay DIR CASES - what capture.sh left in DIR, printed by compat/ftrace/output.h,
 * is compared byte for byte with what the kernel printed.
 *
 * The pages go the way of all events of the kernel: page, conversion to records,
 * type, output.
 */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "compat/ftrace/output.h"
#include "kdata/convert.h"
#include "kdata/pages.h"
#include "kdata/symbols.h"
#include "unit/test.h"

#define FILE_MAX	((size_t)256 << 20)
#define SUBBUF		4096
#define CPUS		64

/* ---- what the kernel left -------------------------------------------------- */

struct thread {
	int32_t pid, tgid;
	char comm[16];
};

struct mapping {
	int32_t tgid;
	bool gone;		/* whether the kernel still knew it is not known */
	uint64_t start, end;
	char path[256];
};

struct literal {
	uint64_t addr;
	char text[256];
};

struct capture {
	const char *dir;
	struct tacho_ktypes types;
	struct tacho_symbols symbols;
	char symbol[512];	/* the name that was given last */
	struct thread *thread;
	size_t nr_threads;
	struct mapping *map;
	size_t nr_maps;
	bool doubt;		/* a stack of one that is gone was printed */
	struct literal *literal;
	size_t nr_literals;
	uint64_t entries, overruns, time_start;
	char release[128], tracer[64], clock[32];
	struct tacho_record *record;	/* in the order of time */
	size_t nr_records;
};

static void load(const struct capture *c, const char *name,
		 struct tacho_buf *text)
{
	char path[4096];
	int ret;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	tacho_buf_init(text, FILE_MAX);
	ret = tacho_buf_read_file(text, path);
	if (ret < 0 && ret != -ENOENT) {
		fprintf(stderr, "%s: %s\n", path, strerror(-ret));
		exit(1);
	}
	(void)tacho_buf_str(text);
}

/* A longer array of elements of `size`, in place of the old one. */
static void *longer(void *array, size_t nr, size_t size)
{
	void *p = reallocarray(array, nr + 1, size);

	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	memset((char *)p + nr * size, 0, size);
	return p;
}

static char *next_line(char **at)
{
	char *line = *at, *nl = line ? strchr(line, '\n') : NULL;

	if (!line || !*line)
		return NULL;
	if (nl)
		*nl = '\0';
	*at = nl ? nl + 1 : NULL;
	return line;
}

static void load_formats(struct capture *c)
{
	struct tacho_buf text;
	struct tacho_diag d;
	char *at, *end, system[64];

	load(c, "formats", &text);
	for (at = text.data; at && sscanf(at, "system %63s", system) == 1;
	     at = end ? end + 1 : NULL) {
		at = strchr(at, '\n') + 1;
		end = strstr(at, "\nsystem ");
		CHECK_EQ(tacho_ktypes_add(&c->types, system, at,
					  end ? (size_t)(end + 1 - at) :
						strlen(at), &d), 0);
	}
	tacho_buf_release(&text);
}

static void load_threads(struct capture *c)
{
	struct tacho_buf text;
	char *at, *line;

	load(c, "saved_cmdlines", &text);
	for (at = text.data; (line = next_line(&at));) {
		struct thread *t;
		int n = 0;

		c->thread = longer(c->thread, c->nr_threads, sizeof(*t));
		t = &c->thread[c->nr_threads++];
		if (sscanf(line, "%d %n", &t->pid, &n) == 1)
			snprintf(t->comm, sizeof(t->comm), "%s", line + n);
	}
	tacho_buf_release(&text);
	load(c, "saved_tgids", &text);
	for (at = text.data; (line = next_line(&at));) {
		int32_t pid, tgid;

		if (sscanf(line, "%d %d", &pid, &tgid) != 2)
			continue;
		c->thread = longer(c->thread, c->nr_threads, sizeof(struct thread));
		c->thread[c->nr_threads].pid = pid;
		c->thread[c->nr_threads++].tgid = tgid;
	}
	tacho_buf_release(&text);
}

static void load_maps(struct capture *c)
{
	struct tacho_buf text;
	char *at, *line;
	int32_t tgid = 0;

	load(c, "maps", &text);
	for (at = text.data; (line = next_line(&at));) {
		struct mapping *m;
		unsigned long start, end;
		int n = 0;

		c->map = longer(c->map, c->nr_maps, sizeof(*m));
		m = &c->map[c->nr_maps];
		if (sscanf(line, "process %d", &tgid) == 1)
			continue;
		m->gone = sscanf(line, "gone %d", &tgid) == 1;
		m->tgid = tgid;
		c->nr_maps++;
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &n) < 2)
			continue;
		m->start = start;
		m->end = end;
		snprintf(m->path, sizeof(m->path), "%s", n ? line + n : "");
	}
	tacho_buf_release(&text);
}

static void load_literals(struct capture *c)
{
	struct tacho_buf text;
	char *at, *line;

	load(c, "printk_formats", &text);
	for (at = text.data; (line = next_line(&at));) {
		struct literal *l;
		char *quote = strchr(line, '"'), *to;

		if (!quote)
			continue;
		c->literal = longer(c->literal, c->nr_literals, sizeof(*l));
		l = &c->literal[c->nr_literals++];
		l->addr = strtoull(line, NULL, 16);
		to = l->text;
		for (quote++; *quote && *quote != '"' &&
		     to < l->text + sizeof(l->text) - 1; quote++) {
			bool newline = quote[0] == '\\' && quote[1] == 'n';

			*to++ = newline ? '\n' : *quote;
			quote += newline;
		}
	}
	tacho_buf_release(&text);
}

static void load_facts(struct capture *c)
{
	struct tacho_buf text;
	char *at, *line;

	load(c, "facts", &text);
	for (at = text.data; (line = next_line(&at));) {
		(void)sscanf(line, "release %127s", c->release);
		(void)sscanf(line, "tracer %63s", c->tracer);
		(void)sscanf(line, "clock %31s", c->clock);
		(void)sscanf(line, "entries %lu", &c->entries);
		(void)sscanf(line, "overruns %lu", &c->overruns);
	}
	tacho_buf_release(&text);
}

/* ---- records ---------------------------------------------------------------- */

static void add_record(struct capture *c, uint32_t cpu,
		       const struct tacho_kevent *ev)
{
	static unsigned char out[TACHO_KCONVERT_ROOM] __attribute__((aligned(8)));
	const struct tacho_kplan *plan;
	struct tacho_record *r;
	uint32_t size, id = tacho_load_u16(ev->raw);

	plan = id < c->types.nr_plans ? &c->types.plans[id] : NULL;
	if (!CHECK(plan && plan->kind != TACHO_KPLAN_NONE)) {
		printf("# type %u\n", id);
		return;
	}
	size = tacho_kconvert(&c->types, plan, ev->time, ev->raw, ev->len,
			      ev->raw + ev->len, out);
	if (!CHECK(size))
		return;
	c->record = longer(c->record, c->nr_records, sizeof(*r));
	r = &c->record[c->nr_records++];
	r->raw = memcpy(malloc(size - 8), out + 8, size - 8);
	r->len = size - 8;
	r->type = c->types.list[plan->index].type;
	r->ticks = ev->time;
	r->cpu = cpu;
	r->pid = (int32_t)tacho_load_u32(ev->raw + 4);
}

/*
 * By how much the kernel's text is behind the times of its own pages: an event
 * that was discarded after others had been written behind it has a delta which
 * they count from, and which the kernel's reader leaves out till the next full
 * time.  `at` to `end` is what lies between two events.
 */
static uint64_t kernel_skew(uint64_t skew, const unsigned char *at,
			    const unsigned char *end)
{
	while (at + 8 <= end) {
		uint32_t word = tacho_load_u32(at), type = word & 31;

		if (type == 29 && word >> 5 > 1)
			skew += word >> 5;
		if (type == 31)
			skew = 0;
		if (type >= 1 && type <= 28)
			break;
		at += type >= 30 ? 8 : 4 + tacho_load_u32(at + 4);
	}
	return skew;
}

static void load_page(struct capture *c, uint32_t cpu,
		      const struct tacho_kpage_layout *layout,
		      const char *bytes)
{
	const unsigned char *before;
	struct tacho_kpage page;
	struct tacho_kevent ev;
	uint64_t skew = 0;

	CHECK_EQ(tacho_kpage_open(&page, layout, bytes, SUBBUF), 0);
	for (before = page.pos; tacho_kpage_next(&page, &ev) > 0;
	     before = page.pos) {
		skew = kernel_skew(skew, before, ev.raw);
		ev.time -= skew;
		add_record(c, cpu, &ev);
	}
}

static void load_pages(struct capture *c)
{
	struct tacho_kpage_layout layout;
	struct tacho_buf head, bytes;
	struct tacho_diag d;
	char name[32];

	load(c, "header_page", &head);
	CHECK_EQ(tacho_kpage_layout_parse(&layout, head.data, head.len, &d), 0);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		snprintf(name, sizeof(name), "pages.%u", cpu);
		load(c, name, &bytes);
		for (size_t at = 0; at + SUBBUF <= bytes.len; at += SUBBUF)
			load_page(c, cpu, &layout, bytes.data + at);
		tacho_buf_release(&bytes);
	}
	tacho_buf_release(&head);
}

/* By time; at the same time the lower CPU first, as the kernel merges. */
static void sort_records(struct capture *c)
{
	for (size_t i = 1; i < c->nr_records; i++) {
		struct tacho_record r = c->record[i];
		size_t at = i;

		while (at && (c->record[at - 1].ticks > r.ticks ||
			      (c->record[at - 1].ticks == r.ticks &&
			       c->record[at - 1].cpu > r.cpu))) {
			c->record[at] = c->record[at - 1];
			at--;
		}
		c->record[at] = r;
	}
}

/* ---- names ------------------------------------------------------------------ */

static const char *comm_of(void *arg, int32_t pid)
{
	const struct capture *c = arg;

	for (size_t i = 0; i < c->nr_threads; i++)
		if (c->thread[i].pid == pid && c->thread[i].comm[0])
			return c->thread[i].comm;
	return NULL;
}

static int32_t tgid_of(void *arg, int32_t pid)
{
	const struct capture *c = arg;

	for (size_t i = 0; i < c->nr_threads; i++)
		if (c->thread[i].pid == pid && c->thread[i].tgid)
			return c->thread[i].tgid;
	return 0;
}

static const char *object_of(void *arg, int32_t tgid, uint64_t addr,
			     uint64_t *start)
{
	struct capture *c = arg;

	for (size_t i = 0; i < c->nr_maps; i++) {
		if (c->map[i].tgid == tgid && c->map[i].gone)
			c->doubt = true;
		if (c->map[i].tgid != tgid || c->map[i].end <= addr)
			continue;
		*start = c->map[i].start;
		return c->map[i].path[0] == '/' ? c->map[i].path : NULL;
	}
	return NULL;
}

/* capture.sh makes one event probe. */
static const char *probed_by(void *arg, const struct tacho_type *type)
{
	(void)arg;
	return !strcmp(type->name, "ep") ? "syscalls.sys_enter_openat" : NULL;
}

static const char *symbol_of(void *arg, uint64_t addr, uint64_t *start)
{
	struct capture *c = arg;
	const char *name = tacho_symbols_at(&c->symbols, addr, start), *module;

	/* program addresses are below all symbols but those of per-CPU data */
	if (!name || (int64_t)addr >= 0)
		return NULL;
	module = tacho_symbols_module(&c->symbols, name);
	snprintf(c->symbol, sizeof(c->symbol), "%s%s%s%s",
		 name, module ? " [" : "",
		 module ? module : "", module ? "]" : "");
	return c->symbol;
}

static uint64_t symbol_size(void *arg, uint64_t start)
{
	const struct capture *c = arg;
	return tacho_symbols_end(&c->symbols, start) - start;
}

static const char *string_at(void *arg, uint64_t addr)
{
	const struct capture *c = arg;

	for (size_t i = 0; i < c->nr_literals; i++)
		if (c->literal[i].addr == addr)
			return c->literal[i].text;
	return NULL;
}

/* ---- comparing ---------------------------------------------------------------- */

static bool in_ns(const struct capture *c)
{
	return strcmp(c->clock, "x86-tsc") && strcmp(c->clock, "counter") &&
	       strcmp(c->clock, "uptime");
}

/*
 * The earliest and the latest time_start by one line of latency-verbose, which
 * says what has passed since, in us or ticks: "... 18.277ms (+0.025ms): ",
 * "... 18277 (+25): ".  False: it is no such line.
 */
static bool start_by(const char *line, bool ns, uint64_t now, uint64_t *low,
		     uint64_t *high)
{
	const char *at = strstr(line, ns ? "ms (+" : " (+");
	unsigned long long part = 0, whole;

	if (!at)
		return false;
	while (at > line && at[-1] != ' ')
		at--;
	if (sscanf(at, ns ? "%llu.%llums" : "%llu", &whole, &part) != 1 + ns)
		return false;
	/* rounded: since * 1000 <= now + 500 - start < (since + 1) * 1000 */
	*high = ns ? now + 500 - (whole * 1000 + part) * 1000 : now - whole;
	*low = *high - (ns ? 999 : 0);
	return true;
}

/* When the kernel's buffer was cleared, by what it says has passed since. */
static void find_time_start(struct capture *c)
{
	uint64_t low = 0, high = UINT64_MAX, l, h;
	struct tacho_buf text;
	char *at, *line;
	size_t n = 0;

	load(c, "text.latency-verbose", &text);
	for (at = text.data; n < c->nr_records && (line = next_line(&at));) {
		if (*line == '#' ||
		    !start_by(line, in_ns(c), c->record[n].ticks, &l, &h))
			continue;
		low = l > low ? l : low;
		high = h < high ? h : high;
		n++;
	}
	CHECK(low <= high);
	CHECK_EQ(n, text.len ? c->nr_records : 0);
	c->time_start = high;
	tacho_buf_release(&text);
}

/*
 * What cannot be the same: some kernels print the address of the page where
 * `fields` should print a program's pointer.
 */
static void hide_addresses(struct tacho_buf *text)
{
	char *at = text->data;

	while ((at = strstr(at, "=(0x")))
		for (at += 4; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
			*at = '-';
}

static void compare(const char *name, const struct tacho_buf *want,
		    const struct tacho_buf *have)
{
	size_t n = want->len < have->len ? want->len : have->len, i = 0, from;
	int line = 1;

	while (i < n && want->data[i] == have->data[i])
		line += want->data[i++] == '\n';
	if (CHECK(i == want->len && i == have->len))
		return;
	for (from = i; from && want->data[from - 1] != '\n';)
		from--;
	printf("# %s, line %d, kernel:\n#   %.*s\n# here:\n#   %.*s\n", name,
	       line, (int)strcspn(want->data + from, "\n"), want->data + from,
	       (int)strcspn(have->data + from, "\n"), have->data + from);
}

static struct tacho_output_config config_of(struct capture *c, char *options)
{
	struct tacho_output_config config = {
		.options = TACHO_OUTPUT_DEFAULTS,
		.names = { .arg = c, .comm = comm_of, .tgid = tgid_of, .object = object_of,
			   .probed = probed_by },
		.env = { .arg = c, .symbol = symbol_of, .symbol_size = symbol_size,
			 .string = string_at },
		.in_ns = in_ns(c),
		.time_start = c->time_start,
		.overrun = c->overruns,
	};
	unsigned int major = 0, minor = 0;
	char *word;

	(void)sscanf(c->release, "%u.%u", &major, &minor);
	config.kernel = TACHO_OUTPUT_KERNEL(major, minor);
	config.options.hash_ptr = false;
	for (word = strtok(options, " "); word; word = strtok(NULL, " ")) {
		bool on = strncmp(word, "no", 2) != 0;
		bool *option = tacho_output_option(&config.options,
						   on ? word : word + 2);

		if (CHECK(option))
			*option = on;
	}
	return config;
}

/* The rest of the head's facts are those of the moment: from the head itself. */
static struct tacho_output_head head_of(const struct capture *c, char *text,
					char preempt[64])
{
	struct tacho_output_head head = {
		.tracer = c->tracer, .release = c->release, .preempt = preempt,
		.entries = c->entries, .written = c->entries + c->overruns,
	};
	const char *cpus = strstr(text, "#P:"), *model = strstr(text, "| (M:");
	const char *cpu = strstr(text, "CPU#");

	preempt[0] = '\0';
	head.cpus = cpus ? (uint32_t)atoi(cpus + 3) : 0;
	if (cpu && model && cpu < model)
		head.cpu = (uint32_t)atoi(cpu + 4);
	if (model)
		(void)sscanf(model, "| (M:%63s", preempt);
	return head;
}

static void one_case(struct capture *c, const char *name, char *options)
{
	struct tacho_output_config config = config_of(c, options);
	struct tacho_output_head head;
	struct tacho_buf want, have;
	struct tacho_output *o;
	char file[128], preempt[64];

	snprintf(file, sizeof(file), "text.%s", name);
	load(c, file, &want);
	if (!want.len) {
		tacho_buf_release(&want);
		return;
	}
	tacho_buf_init(&have, FILE_MAX);
	head = head_of(c, want.data, preempt);
	tacho_output_header(&head, &config.options, &have);
	o = tacho_output_new(&config);
	for (size_t i = 0; i < c->nr_records; i++)
		tacho_output_put(o, &c->record[i],
				 c->record[i + (i + 1 < c->nr_records)].ticks,
				 &have);
	(void)tacho_buf_str(&have);
	if (config.options.fields && config.kernel > TACHO_OUTPUT_KERNEL(6, 12)) {
		hide_addresses(&want);
		hide_addresses(&have);
	}
	if (c->doubt && config.options.sym_userobj)
		printf("# %s: not compared, a process ended meanwhile\n", name);
	else
		compare(name, &want, &have);
	tacho_output_free(o);
	tacho_buf_release(&want);
	tacho_buf_release(&have);
}

static int all_cases(struct capture *c, const char *path)
{
	struct tacho_buf text;
	char *at, *line;
	int nr = 0;

	tacho_buf_init(&text, FILE_MAX);
	CHECK_EQ(tacho_buf_read_file(&text, path), 0);
	(void)tacho_buf_str(&text);
	for (at = text.data; (line = next_line(&at)); nr++) {
		char *options = line + strcspn(line, " ");

		if (*line == '#' || !*line)
			continue;
		if (*options)
			*options++ = '\0';
		one_case(c, line, options);
	}
	tacho_buf_release(&text);
	return nr;
}

static void release(struct capture *c)
{
	for (size_t i = 0; i < c->nr_records; i++)
		free((void *)(uintptr_t)c->record[i].raw);
	free(c->record);
	free(c->thread);
	free(c->map);
	free(c->literal);
	tacho_symbols_release(&c->symbols);
	tacho_ktypes_release(&c->types);
}

int main(int argc, char **argv)
{
	struct capture c = { .dir = argc > 1 ? argv[1] : "." };
	struct tacho_buf text;

	if (argc != 3) {
		fprintf(stderr, "usage: replay DIR CASES\n");
		return 2;
	}
	tacho_ktypes_init(&c.types);
	load_formats(&c);
	load_threads(&c);
	load_maps(&c);
	load_literals(&c);
	load_facts(&c);
	load(&c, "kallsyms", &text);
	CHECK_EQ(tacho_symbols_take(&c.symbols, &text), 0);
	tacho_buf_release(&text);
	load_pages(&c);
	sort_records(&c);
	CHECK(c.nr_records > 20);
	CHECK_EQ(c.nr_records, c.entries);
	find_time_start(&c);
	CHECK(all_cases(&c, argv[2]) > 20);
	printf("# %s: %zu records, kernel %s\n", c.dir, c.nr_records, c.release);
	release(&c);
	return test_done();
}
