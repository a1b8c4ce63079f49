// SPDX-License-Identifier: MIT
/*
 * What a kernel's histogram triggers said, said again by the engine.
 *
 * tests/golden/hist/ has the events that a Linux 6.12 recorded while its histograms
 * counted them, and the text of its files; tools/golden-hist.sh made both.  The
 * events are fed to an engine that was given the same commands.
 *
 * The order of entries that the sort keys do not tell apart is nobody's promise:
 * such entries are compared as sets.
 */
#include "unit/test.h"

#include <dirent.h>

#include "engine/engine.h"
#include "engine/hist_print.h"
#include "engine/hist_view.h"
#include "engine/json_check.h"
#include "kdata/pages.h"

#define TYPES_MAX	64
#define TEXT_CAP	((size_t)16 << 20)
#define PIDS_MAX	32768
#define CPUS_MAX	2
/* Frames of the recorder itself that a recorded stack has and a histogram's has not. */
#define STACK_SKIP	2

struct event {
	uint64_t time;
	const unsigned char *raw;
	uint32_t len, cpu;
	uint32_t nr;		/* its place in its file */
	const unsigned char *stack;	/* the kernel_stack event behind it, or NULL */
};

struct symbol {
	uint64_t addr;
	const char *name, *module;
};

struct golden {
	char dir[256];
	struct tacho_arena arena;
	struct tacho_engine *engine;
	struct tacho_names names;
	char *commands;		/* what is still to be done */
	struct tacho_type *type[TYPES_MAX];
	uint32_t nr_types;
	uint32_t print_id, stack_id;
	struct event *event;
	uint32_t nr_events;
	struct symbol *symbol;
	uint32_t nr_symbols;
	char comm[PIDS_MAX][16];
	const char *syscall[512];
	/* synthetic events as text: what the engine made, and what the kernel recorded */
	struct tacho_buf made, recorded;
	const struct tacho_type *waiting[64];	/* made, not met in the pages yet */
	uint32_t nr_waiting;
};

/* ---- reading ---- */

static char *slurp(struct golden *g, const char *name, size_t *len)
{
	char path[512];
	struct tacho_buf b;
	char *text;

	snprintf(path, sizeof(path), "%s/%s", g->dir, name);
	tacho_buf_init(&b, TEXT_CAP);
	if (tacho_buf_read_file(&b, path)) {
		test_check(0, __FILE__, __LINE__, "cannot read '%s'", path);
		exit(test_done());
	}
	text = tacho_arena_strndup(&g->arena, b.data ? b.data : "", b.len);
	if (len)
		*len = b.len;
	tacho_buf_release(&b);
	return text;
}

/* The next line of *s, ended; NULL behind the last. */
static char *next_line(char **s)
{
	char *line = *s, *end = strchr(line, '\n');

	if (!*line)
		return NULL;
	*s = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

/* The system of the n-th type: "event" lines in order, then the kernel's own. */
static char *nth_system(struct golden *g, const char *commands, uint32_t n)
{
	const char *s = commands;

	while ((s = strstr(s, "event "))) {
		s += strlen("event ");
		if (s - strlen("event ") != commands && s[-7] != '\n')
			continue;
		if (!strncmp(s, "synthetic:", 10) || n--)
			continue;
		return tacho_arena_strndup(&g->arena, s, strcspn(s, ":"));
	}
	return tacho_arena_strndup(&g->arena, "ftrace", 6);
}

static void read_types(struct golden *g)
{
	char *s = slurp(g, "formats", NULL), *end;

	for (; *s; s = end) {
		struct tacho_diag d = { .err = 0 };
		struct tacho_type *t;

		end = strstr(s + 1, "\nname: ");
		end = end ? end + 1 : s + strlen(s);
		t = tacho_type_parse(&g->arena,
				     nth_system(g, g->commands, g->nr_types), NULL,
				     0, s, (size_t)(end - s), &d);
		if (!CHECK(t != NULL) || !CHECK(g->nr_types < TYPES_MAX))
			exit(test_done());
		if (!strcmp(t->system, "ftrace") && !strcmp(t->name, "print"))
			g->print_id = t->id;
		else if (!strcmp(t->system, "ftrace"))
			g->stack_id = t->id;
		else
			CHECK(tacho_engine_add(g->engine, t) != NULL);
		g->type[g->nr_types++] = t;
	}
	CHECK(g->print_id && g->stack_id);
}

static const struct tacho_type *type_of(const struct golden *g, uint32_t id)
{
	for (uint32_t i = 0; i < g->nr_types; i++)
		if (g->type[i]->id == id)
			return g->type[i];
	return NULL;
}

static uint32_t id_of(const struct event *ev)
{
	return tacho_load_u16(ev->raw);
}

/*
 * The event that a stack belongs to: the last of its CPU that has none yet.  An
 * interrupt's events, with theirs, may be between.
 */
static void give_stack(struct golden *g, uint32_t cpu, const unsigned char *raw)
{
	for (uint32_t i = g->nr_events; i-- && g->event[i].cpu == cpu;)
		if (!g->event[i].stack) {
			g->event[i].stack = raw;
			return;
		}
}

static void read_page(struct golden *g, const struct tacho_kpage_layout *l,
		      const char *bytes, uint32_t cpu)
{
	struct tacho_kpage page;
	struct tacho_kevent ev;
	int ret;

	CHECK_EQ(tacho_kpage_open(&page, l, bytes, 4096), 0);
	CHECK_EQ(page.lost, 0);
	while ((ret = tacho_kpage_next(&page, &ev)) == 1) {
		struct event *e = &g->event[g->nr_events];

		*e = (struct event){ .time = ev.time, .raw = ev.raw,
				     .len = ev.len, .cpu = cpu,
				     .nr = g->nr_events };
		if (id_of(e) == g->stack_id)
			give_stack(g, cpu, e->raw);
		else
			g->nr_events++;
	}
	CHECK_EQ(ret, 0);
}

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->nr > b->nr) - (a->nr < b->nr);
}

static void read_events(struct golden *g)
{
	struct tacho_kpage_layout l;
	struct tacho_diag d = { .err = 0 };
	char *text = slurp(g, "../header_page", NULL);

	CHECK_EQ(tacho_kpage_layout_parse(&l, text, strlen(text), &d), 0);
	g->event = tacho_arena_array(&g->arena, 65536, sizeof(*g->event));
	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		char name[32];
		size_t len;
		char *pages;

		snprintf(name, sizeof(name), "pages.%u", cpu);
		pages = slurp(g, name, &len);
		CHECK_EQ(len % 4096, 0);
		for (size_t at = 0; at < len && g->nr_events < 60000; at += 4096)
			read_page(g, &l, pages + at, cpu);
	}
	CHECK(g->nr_events > 10 && g->nr_events < 60000);
	qsort(g->event, g->nr_events, sizeof(*g->event), by_time);
}

/* ---- names ---- */

static bool find_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	const struct golden *g = arg;
	uint32_t i = 0;

	while (i < g->nr_symbols && g->symbol[i].addr <= addr)
		i++;
	if (!i || i == g->nr_symbols)
		return false;
	sym->end = g->symbol[i].addr;
	/* of several names of one address the first */
	for (i--; i && g->symbol[i - 1].addr == g->symbol[i].addr;)
		i--;
	sym->start = g->symbol[i].addr;
	sym->name = g->symbol[i].name;
	sym->module = g->symbol[i].module;
	return true;
}

static bool find_comm(void *arg, int32_t pid, char comm[16])
{
	const struct golden *g = arg;

	if (pid < 0 || pid >= PIDS_MAX || !g->comm[pid][0])
		return false;
	memcpy(comm, g->comm[pid], 16);
	return true;
}

static const char *find_syscall(void *arg, uint64_t nr)
{
	const struct golden *g = arg;

	return nr < TACHO_ARRAY_SIZE(g->syscall) ? g->syscall[nr] : NULL;
}

static void set_comm(struct golden *g, uint64_t pid, const char *comm, size_t len)
{
	if (pid >= PIDS_MAX)
		return;
	memset(g->comm[pid], 0, 16);
	memcpy(g->comm[pid], comm, strnlen(comm, len < 15 ? len : 15));
}

static void read_symbols(struct golden *g)
{
	char *s = slurp(g, "symbols", NULL), *line;

	g->symbol = tacho_arena_array(&g->arena, 4096, sizeof(*g->symbol));
	while ((line = next_line(&s)) && g->nr_symbols < 4096) {
		struct symbol *sym = &g->symbol[g->nr_symbols++];
		char *module = strchr(line, '\t');

		if (module) {
			*module = '\0';
			sym->module = module + 2;
			module[1 + strcspn(module + 1, "]")] = '\0';
		}
		sym->addr = strtoull(line, NULL, 16);
		sym->name = strrchr(line, ' ') + 1;
	}
}

static void read_names(struct golden *g)
{
	char *s = slurp(g, "comms", NULL), *line;

	while ((line = next_line(&s))) {
		char *end;
		uint64_t pid = strtoull(line, &end, 10);

		set_comm(g, pid, end + 1, strlen(end + 1));
	}
	s = slurp(g, "../syscalls", NULL);
	while ((line = next_line(&s))) {
		char *end;
		uint64_t nr = strtoull(line, &end, 10);

		if (nr < TACHO_ARRAY_SIZE(g->syscall))
			g->syscall[nr] = end + 1;
	}
	read_symbols(g);
	g->names = (struct tacho_names){ .arg = g, .symbol = find_symbol,
					 .comm = find_comm,
					 .syscall = find_syscall };
}

/* ---- doing again what was done ---- */

static void command(struct golden *g, char *line)
{
	struct tacho_cmd_error e = { .err = 0 };
	char *rest = strchr(line, ' ') + 1;
	struct tacho_engine_event *ev;
	char *name, *text;
	int err;

	if (!strncmp(line, "synth ", 6)) {
		err = tacho_engine_synth(g->engine, rest, &e);
		test_check(!err, __FILE__, __LINE__, "'%s': %d, %s", rest, err, e.text);
		return;
	}
	if (strncmp(line, "trigger ", 8) && strncmp(line, "event synth", 11))
		return;
	text = strchr(rest, ' ');
	if (text)
		*text++ = '\0';
	name = strchr(rest, ':');
	*name++ = '\0';
	ev = tacho_engine_find(g->engine, rest, name);
	if (!test_check(ev != NULL, __FILE__, __LINE__, "no event '%s'", name))
		return;
	if (!text) {
		tacho_engine_enable(g->engine, ev, true);
		return;
	}
	err = tacho_engine_trigger(g->engine, ev, text, &e);
	test_check(!err, __FILE__, __LINE__, "'%s': %d, %s at %u", text, err,
		   e.text, e.column);
}

/* What comes before the next run. */
static void commands(struct golden *g)
{
	char *line;

	while ((line = next_line(&g->commands)))
		if (!strncmp(line, "run ", 4))
			return;
		else
			command(g, line);
}

static uint64_t number(const struct tacho_type *t, const struct event *ev,
		       const char *field)
{
	const struct tacho_field *f = tacho_type_field(t, field);
	uint64_t v = 0;

	CHECK(f && tacho_field_int(f, ev->raw, ev->len, &v));
	return v;
}

static const char *string(const struct tacho_type *t, const struct event *ev,
			  const char *field, size_t *len)
{
	const struct tacho_field *f = tacho_type_field(t, field);
	const char *s = f ? tacho_field_data(f, ev->raw, ev->len, len) : NULL;

	if (CHECK(s != NULL))
		return s;
	*len = 0;
	return "";
}

/* Threads get names as they go. */
static void learn(struct golden *g, const struct tacho_type *t,
		  const struct event *ev)
{
	bool is_new = !strcmp(t->name, "task_newtask");
	const char *comm;
	size_t len;

	if (!is_new && strcmp(t->name, "task_rename"))
		return;
	comm = string(t, ev, is_new ? "comm" : "newcomm", &len);
	set_comm(g, number(t, ev, "pid"), comm, len);
}

/* A synthetic event's own fields; what is between them is junk in the kernel's. */
static void put_fields(const struct tacho_type *t, const unsigned char *raw,
		       uint32_t len, struct tacho_buf *out)
{
	tacho_buf_printf(out, "%s, %u bytes:", t->name, TACHO_ALIGN_UP(len, 4));
	for (uint32_t i = t->nr_common; i < t->nr_fields; i++) {
		tacho_buf_printf(out, " %s=", t->fields[i].name);
		tacho_field_print(&t->fields[i], raw, len, out);
	}
	tacho_buf_putc(out, '\n');
}

/* The kernel records it next: see read_made(). */
static void made(void *arg, const struct tacho_engine_event *event,
		 const struct tacho_rec *rec)
{
	struct golden *g = arg;

	put_fields(event->type, rec->raw, rec->len, &g->made);
	if (CHECK(g->nr_waiting < TACHO_ARRAY_SIZE(g->waiting)))
		g->waiting[g->nr_waiting++] = event->type;
}

/*
 * A synthetic event that the kernel recorded.  They are the only ones whose formats
 * are not kept: it has to be what the engine made in the event before it.
 */
static void read_made(struct golden *g, const struct event *ev)
{
	if (!CHECK(g->nr_waiting > 0))
		return;
	put_fields(g->waiting[0], ev->raw, ev->len, &g->recorded);
	memmove(g->waiting, g->waiting + 1,
		--g->nr_waiting * sizeof(g->waiting[0]));
}

static void feed(struct golden *g, const struct event *ev)
{
	const struct tacho_type *t = type_of(g, id_of(ev));
	uint64_t stack[64];
	struct tacho_rec rec = {
		.raw = ev->raw, .len = ev->len, .cpu = ev->cpu,
		.time = ev->time, .names = &g->names,
		.pid = (int32_t)tacho_load_u32(ev->raw + 4),
	};

	if (!t) {
		read_made(g, ev);
		return;
	}
	if (ev->stack) {
		uint32_t nr = tacho_load_u32(ev->stack + 8);

		CHECK(nr > STACK_SKIP && nr <= 64);
		memcpy(stack, ev->stack + 16, (nr <= 64 ? nr : 64) * 8);
		rec.stack = stack + STACK_SKIP;
		rec.nr_stack = nr - STACK_SKIP;
	}
	tacho_engine_hit(g->engine, tacho_engine_find(g->engine, t->system, t->name),
			 &rec);
	learn(g, t, ev);
}

static void replay(struct golden *g)
{
	commands(g);
	for (uint32_t i = 0; i < g->nr_events; i++)
		if (id_of(&g->event[i]) == g->print_id)
			commands(g);
		else
			feed(g, &g->event[i]);
	CHECK_EQ(g->commands[0], 0);
}

/* ---- comparing ---- */

/* A histogram's text in pieces: head, entries, tail. */
struct pieces {
	char *head, *tail;
	char *entry[8192];
	uint32_t nr;
};

/* Entries begin with "{ " and end before the next one or an empty line. */
static void take_apart(char *text, struct pieces *p)
{
	char *s = strstr(text, "\n\n");

	memset(p, 0, sizeof(*p));
	p->head = text;
	if (!s)
		return;
	s += 2;
	s[-1] = '\0';
	while (!strncmp(s, "{ ", 2) && p->nr < TACHO_ARRAY_SIZE(p->entry)) {
		char *end = s;

		p->entry[p->nr++] = s;
		do {
			end = strchr(end, '\n') + 1;
		} while (strncmp(end, "{ ", 2) && *end != '\n');
		end[-1] = '\0';
		s = end;
	}
	p->tail = s;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether the sort keys tell entry i of the view from the one before it. */
static bool differs(const struct hist_view *v, uint32_t i)
{
	struct tacho_map_elt *a = v->entry[i - 1], *b = v->entry[i];

	for (uint32_t k = 0; k < tacho_hist_nr_orders(v->hist); k++) {
		struct tacho_hist_order o = tacho_hist_order(v->hist, k);
		const struct tacho_hist_column *c;

		if (o.is_key) {
			c = tacho_hist_key(v->hist, o.index);
			if (c->shape != TACHO_SHAPE_STACK &&
			    memcmp((const char *)tacho_map_key(a) + c->offset,
				   (const char *)tacho_map_key(b) + c->offset,
				   c->size))
				return true;
			continue;
		}
		c = o.index ? tacho_hist_val(v->hist, o.index - 1) : NULL;
		if (hist_view_val(v, a, c) != hist_view_val(v, b, c))
			return true;
	}
	return false;
}

static void compare_entries(const struct hist_view *v, struct pieces *have,
			    struct pieces *want)
{
	uint32_t from = 0;

	if (!CHECK_EQ(have->nr, v->nr) || !CHECK_EQ(have->nr, want->nr))
		return;
	for (uint32_t i = 1; i <= have->nr; i++) {
		if (i < have->nr && !differs(v, i))
			continue;
		qsort(have->entry + from, i - from, sizeof(char *), by_text);
		qsort(want->entry + from, i - from, sizeof(char *), by_text);
		from = i;
	}
	for (uint32_t i = 0; i < have->nr; i++)
		if (!CHECK_STR(have->entry[i], want->entry[i]))
			break;
}

static void compare_hist(const struct golden *g, const struct tacho_hist *hist,
			 char *text)
{
	static struct pieces have, want;
	struct tacho_buf b;
	struct hist_view v;

	tacho_buf_init(&b, TEXT_CAP);
	CHECK_EQ(tacho_hist_print(hist, &g->names, &b), 0);
	CHECK_EQ(hist_view_take(&v, hist, &g->names), 0);
	tacho_buf_str(&b);
	take_apart(b.data, &have);
	take_apart(text, &want);
	printf("# %s\n", want.head + strlen("# event histogram\n#\n# trigger info: "));
	if (CHECK(have.tail && want.tail)) {
		CHECK_STR(have.head, want.head);
		CHECK_STR(have.tail, want.tail);
		compare_entries(&v, &have, &want);
	}
	tacho_buf_reset(&b);
	CHECK_EQ(tacho_hist_print_json(hist, &g->names, &b), 0);
	CHECK(json_valid(b.data, b.len));
	hist_view_release(&v);
	tacho_buf_release(&b);
}

/* One file of the kernel: hist.S.E, histograms with two empty lines between. */
static void compare_file(struct golden *g, struct tacho_engine_event *ev,
			 char *text)
{
	uint32_t i = 0;

	while (text) {
		const struct tacho_hist *hist = tacho_engine_hist(g->engine, ev, i++);
		char *end = strstr(text, "\n\n\n# event histogram");

		if (end)
			end[1] = '\0';
		if (!CHECK(hist != NULL))
			return;
		compare_hist(g, hist, text);
		text = end ? end + 3 : NULL;
	}
	CHECK(!tacho_engine_hist(g->engine, ev, i));
}

/* The engine's whole file is the histograms' texts, and the trigger file. */
static void compare_whole(struct golden *g, struct tacho_engine_event *ev,
			  const char *triggers)
{
	struct tacho_buf whole, parts;
	const struct tacho_hist *hist;

	tacho_buf_init(&whole, TEXT_CAP);
	tacho_buf_init(&parts, TEXT_CAP);
	CHECK_EQ(tacho_engine_print_hist(g->engine, ev, &whole), 0);
	for (uint32_t i = 0; (hist = tacho_engine_hist(g->engine, ev, i)); i++) {
		if (i)
			tacho_buf_puts(&parts, "\n\n");
		CHECK_EQ(tacho_hist_print(hist, &g->names, &parts), 0);
	}
	CHECK_STR(tacho_buf_str(&whole), tacho_buf_str(&parts));
	tacho_buf_reset(&whole);
	tacho_engine_print_triggers(g->engine, ev, &whole);
	CHECK_STR(tacho_buf_str(&whole), triggers);
	tacho_buf_release(&whole);
	tacho_buf_release(&parts);
}

static uint32_t compare_files(struct golden *g)
{
	DIR *dir = opendir(g->dir);
	struct dirent *entry;
	uint32_t nr = 0;

	while (dir && (entry = readdir(dir))) {
		char name[300], *dot;
		struct tacho_engine_event *ev;

		if (strncmp(entry->d_name, "hist.", 5))
			continue;
		snprintf(name, sizeof(name), "%s", entry->d_name + 5);
		dot = strchr(name, '.');
		*dot = '\0';
		ev = tacho_engine_find(g->engine, name, dot + 1);
		if (!CHECK(ev != NULL))
			continue;
		printf("# %s\n", entry->d_name);
		compare_file(g, ev, slurp(g, entry->d_name, NULL));
		snprintf(name, sizeof(name), "trigger.%s", entry->d_name + 5);
		compare_whole(g, ev, slurp(g, name, NULL));
		nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* Synthetic events: what the kernel recorded, in its order. */
static void compare_made(struct golden *g)
{
	CHECK(g->made.len > 0);
	CHECK_EQ(g->nr_waiting, 0);
	CHECK_STR(tacho_buf_str(&g->made), tacho_buf_str(&g->recorded));
}

static void test_set(const char *name, bool synthetic)
{
	static struct golden g;
	struct tacho_engine_host host = { .arg = &g, .emit = made };

	memset(&g, 0, sizeof(g));
	printf("# set %s\n", name);
	snprintf(g.dir, sizeof(g.dir), "%s/hist/%s", GOLDEN, name);
	tacho_arena_init(&g.arena, (size_t)64 << 20);
	tacho_buf_init(&g.made, TEXT_CAP);
	tacho_buf_init(&g.recorded, TEXT_CAP);
	g.engine = tacho_engine_new(&host, &g.names);
	if (!CHECK(g.engine != NULL))
		return;
	g.commands = slurp(&g, "commands", NULL);
	read_types(&g);
	read_names(&g);
	read_events(&g);
	replay(&g);
	CHECK(compare_files(&g) > 0);
	if (synthetic)
		compare_made(&g);
	tacho_engine_free(g.engine);
	tacho_buf_release(&g.made);
	tacho_buf_release(&g.recorded);
	tacho_arena_release(&g.arena);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_set("keys", false));
	TEST(test_set("vars", true));
	TEST(test_set("stack", false));
	TEST(test_set("snapshot", false));
	return test_done();
}
