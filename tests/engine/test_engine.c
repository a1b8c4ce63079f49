// SPDX-License-Identifier: MIT
/*
 * An instance: the kernel's answers to tests/golden/engine/cases replayed (made by
 * tools/golden-synth.sh), then the rules one by one, and the wakeup latency of
 * histogram.rst from end to end.
 */
#include "unit/test.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/engine.h"
#include "engine/hist_print.h"
#include "engine/synth.h"
#include "event/print.h"
#include "tacho/abi/record.h"

/* ---- a host that writes down what it is asked ---- */

struct world {
	struct tacho_arena arena;	/* types */
	struct tacho_engine *engine;
	struct tacho_buf log;		/* what the engine asked for */
	uint64_t time;
	int wanted;			/* events that matter */
};

static void on_emit(void *arg, const struct tacho_engine_event *event,
		    const struct tacho_rec *rec)
{
	struct world *w = arg;

	tacho_buf_printf(&w->log, "%s: ", event->type->name);
	tacho_print_run(event->type, rec->raw, rec->len, NULL, &w->log);
	tacho_buf_putc(&w->log, '\n');
}

static void on_tracing(void *arg, bool on, const struct tacho_rec *cause)
{
	struct world *w = arg;

	CHECK(cause != NULL);
	tacho_buf_printf(&w->log, "tracing %d\n", on);
}

static void on_snapshot(void *arg, const struct tacho_rec *cause)
{
	struct world *w = arg;

	CHECK(cause != NULL);
	tacho_buf_puts(&w->log, "snapshot\n");
}

static void on_stacktrace(void *arg, const struct tacho_engine_event *event,
			  const struct tacho_rec *cause)
{
	struct world *w = arg;

	CHECK(cause != NULL);
	tacho_buf_printf(&w->log, "stack %s\n", event->type->name);
}

static void on_wanted(void *arg, const struct tacho_engine_event *event,
		      bool wanted)
{
	struct world *w = arg;

	CHECK_EQ(wanted, event->enabled || event->soft);
	w->wanted += wanted ? 1 : -1;
}

static uint64_t on_now(void *arg)
{
	struct world *w = arg;

	return w->time;
}

static bool names_comm(void *arg, int32_t pid, char comm[16])
{
	(void)arg;
	snprintf(comm, 16, "task-%d", (int)pid % 1000000);
	return true;
}

static const struct tacho_names names = { .comm = names_comm };

static void world_init(struct world *w)
{
	const struct tacho_engine_host host = {
		.arg = w, .emit = on_emit, .tracing = on_tracing,
		.snapshot = on_snapshot, .stacktrace = on_stacktrace,
		.wanted = on_wanted, .now = on_now,
	};

	*w = (struct world){ .time = 1500000000 };
	tacho_arena_init(&w->arena, 16 << 20);
	tacho_buf_init(&w->log, 1 << 20);
	w->engine = tacho_engine_new(&host, &names);
	CHECK(w->engine != NULL);
}

static void world_release(struct world *w)
{
	tacho_engine_free(w->engine);
	tacho_buf_release(&w->log);
	tacho_arena_release(&w->arena);
}

/* ---- events and records ---- */

#define COMMON	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char waking_format[] = COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d\", REC->pid\n";

static const char switch_format[] = COMMON
	"\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"next=%d\", REC->next_pid\n";

static const char number_format[] = COMMON
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"n=%llu\", REC->n\n";

/* An action's parameter has at least two letters, in the kernel too. */
static const char long_format[] = COMMON
	"\tfield:u64 num;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"num=%llu\", REC->num\n";

static struct tacho_engine_event *add(struct world *w, const char *system,
				      const char *name, const char *format)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_type *type = tacho_type_parse(&w->arena, system, name, 1,
						   format, strlen(format), &d);

	CHECK(type != NULL);
	return tacho_engine_add(w->engine, type);
}

/* One hit of a task event: comm, pid, prio. */
static bool hit_task(struct world *w, struct tacho_engine_event *event,
		     uint64_t time, int32_t pid, int32_t prio)
{
	_Alignas(8) unsigned char raw[32] = { 0 };
	struct tacho_rec rec = { .raw = raw, .len = sizeof(raw), .time = time,
				 .pid = pid, .names = &names };

	tacho_put_u32(raw + 4, (uint32_t)pid);
	names_comm(NULL, pid, (char *)raw + 8);
	tacho_put_u32(raw + 24, (uint32_t)pid);
	tacho_put_u32(raw + 28, (uint32_t)prio);
	w->time = time;
	return tacho_engine_hit(w->engine, event, &rec);
}

/* One hit of an event with one number at its end. */
static bool hit_number(struct world *w, struct tacho_engine_event *event,
		       uint64_t n)
{
	_Alignas(8) unsigned char raw[24] = { 0 };
	struct tacho_rec rec = { .raw = raw, .len = event->type->fixed_size,
				 .time = w->time, .pid = 100, .names = &names };

	tacho_put_u32(raw + 4, 100);
	tacho_put_u64(raw + rec.len - 8, n);
	return tacho_engine_hit(w->engine, event, &rec);
}

static int trigger(struct world *w, struct tacho_engine_event *event,
		   const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	int err = tacho_engine_trigger(w->engine, event, text, &e);

	CHECK_EQ(err, e.err);
	CHECK_EQ(!err, !e.text[0]);
	return err;
}

static int synth(struct world *w, const char *text)
{
	return tacho_engine_synth(w->engine, text, NULL);
}

/* What the engine asked since the last call is `want`. */
static void said(struct world *w, int line, const char *want)
{
	if (strcmp(tacho_buf_str(&w->log), want) != 0)
		test_check(0, __FILE__, line, "the engine asked\n#   '%s', not\n#   '%s'",
			   tacho_buf_str(&w->log), want);
	else
		test_check(1, __FILE__, line, "%s", want);
	tacho_buf_reset(&w->log);
}
#define SAID(w, want) said(w, __LINE__, want)

static void check_triggers(struct world *w, struct tacho_engine_event *event,
			   int line, const char *want)
{
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 20);
	tacho_engine_print_triggers(w->engine, event, &out);
	test_check(!strcmp(tacho_buf_str(&out), want), __FILE__, line,
		   "triggers are\n#   '%s', not\n#   '%s'",
		   tacho_buf_str(&out), want);
	tacho_buf_release(&out);
}
#define TRIGGERS(w, ev, want) check_triggers(w, ev, __LINE__, want)

static void check_errors(struct world *w, int line, const char *want)
{
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 20);
	tacho_engine_print_errors(w->engine, &out);
	test_check(strstr(tacho_buf_str(&out), want) != NULL, __FILE__, line,
		   "the error log is\n#   '%s', without\n#   '%s'",
		   tacho_buf_str(&out), want);
	tacho_buf_release(&out);
}
#define ERRORS(w, want) check_errors(w, __LINE__, want)

/* ---- the kernel's answers ---- */

static char *read_all(const char *path)
{
	struct tacho_buf b;
	char *s = NULL;

	tacho_buf_init(&b, 4 << 20);
	if (!tacho_buf_read_file(&b, path))
		s = strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	return s;
}

/* The next line, its newline cut off; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at, *nl;

	if (!line || !*line)
		return NULL;
	nl = strchr(line, '\n');
	if (nl)
		*nl = '\0';
	*at = nl ? nl + 1 : line + strlen(line);
	return line;
}

/* "@ system/event", then its format; to the next one. */
static void add_formats(struct world *w, char *text)
{
	while (text && *text == '@') {
		char *next = strstr(text + 1, "\n@ "), *name, *format;

		if (next)
			*next++ = '\0';
		name = strchr(text, '/');
		*name++ = '\0';
		format = strchr(name, '\n');
		*format++ = '\0';
		add(w, text + 2, name, format);
		text = next;
	}
}

struct answer {
	int err;
	struct tacho_buf files, errors;
};

static int errno_of(const char *text)
{
	static const struct {
		const char *text;
		int err;
	} table[] = {
		{ "0", 0 }, { "Invalid argument", -EINVAL },
		{ "File exists", -EEXIST }, { "Device or resource busy", -EBUSY },
		{ "No such file or directory", -ENOENT },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].text, text))
			return table[i].err;
	return 1;
}

static void read_answer(char **at, struct answer *a)
{
	a->err = 0;
	tacho_buf_reset(&a->files);
	tacho_buf_reset(&a->errors);
	while (*at && **at && **at != '>') {
		char *line = next_line(at);
		struct tacho_buf *to = *line == '|' ? &a->files : &a->errors;

		if (*line == '=') {
			a->err = errno_of(line + 2);
			continue;
		}
		tacho_buf_puts(to, line[1] ? line + 2 : "");
		tacho_buf_putc(to, '\n');
	}
}

static void put_event(struct world *w, const struct tacho_engine_event *event,
		      struct tacho_buf *out)
{
	if (event) {
		tacho_engine_print_triggers(w->engine, event, out);
		tacho_buf_printf(out, "enable %d%s\n", event->enabled,
				 event->soft ? "*" : "");
	}
}

/* A fresh instance with the same types: the script's reset. */
static void reset(struct world *w, const char *formats)
{
	char *copy = strdup(formats);

	world_release(w);
	world_init(w);
	add_formats(w, copy);
	free(copy);
}

struct replay {
	struct world w;
	const char *formats;
	struct answer a;
	const char *line;
	int err;
	struct tacho_buf out;	/* our files */
};

static void do_define(struct replay *r, const char *text)
{
	struct tacho_engine_event *event;
	const char *name;
	char copy[80];
	size_t len;

	r->err = tacho_engine_synth(r->w.engine, text, NULL);
	tacho_engine_print_synth(r->w.engine, &r->out);
	tacho_synth_name(text, &name, &len);
	if (*text == '!' || len >= sizeof(copy))
		return;
	memcpy(copy, name, len);
	copy[len] = '\0';
	event = tacho_engine_find(r->w.engine, "synthetic", copy);
	if (event)
		tacho_type_write(event->type, true, &r->out);
}

/* Hits with mask 0, 1, 2, ...; what an event makes is recorded before it. */
static void do_hits(struct replay *r, int n)
{
	struct world *w = &r->w;
	struct tacho_engine_event *umask =
		tacho_engine_find(w->engine, "syscalls", "sys_enter_umask");
	char *copy, *at, *line;

	tacho_buf_reset(&w->log);
	for (int i = 0; i < n; i++)
		if (hit_number(w, umask, (uint64_t)i))
			tacho_buf_printf(&w->log, "sys_umask(mask: %x)\n",
					 (unsigned int)i);
	copy = at = strdup(tacho_buf_str(&w->log));
	while ((line = next_line(&at)))
		if (!strncmp(line, "stack ", 6))
			tacho_buf_puts(&r->out, "<stack trace>\n");
		else if (strncmp(line, "tracing ", 8) != 0)
			tacho_buf_printf(&r->out, "%s\n", line);
	free(copy);
	tacho_buf_printf(&r->out, "tracing %d\n", tacho_engine_running(w->engine));
}

/* The rest of a line behind "V system/event ": the event, and its text. */
static struct tacho_engine_event *event_of(struct replay *r, char *rest,
					   const char **text)
{
	char *slash = strchr(rest, '/'), *blank = strchr(rest, ' ');

	*text = blank ? blank + 1 : "";
	if (blank)
		*blank = '\0';
	if (!slash)
		return NULL;
	*slash = '\0';
	return tacho_engine_find(r->w.engine, rest, slash + 1);
}

static void do_event(struct replay *r, char verb, char *rest)
{
	struct tacho_engine *engine = r->w.engine;
	const char *text;
	struct tacho_engine_event *event = event_of(r, rest, &text);

	if (!event)
		return;
	if (verb == 'F') {
		r->err = tacho_engine_filter(engine, event, text, NULL);
		tacho_engine_print_filter(engine, event, &r->out);
		return;
	}
	if (verb == 'T')
		r->err = tacho_engine_trigger(engine, event, text, NULL);
	else if (verb == 'E')
		tacho_engine_enable(engine, event, *text == '1');
	put_event(&r->w, event, &r->out);
	if (verb == 'P')
		tacho_engine_print_hist(engine, event, &r->out);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Without blank lines, addresses of stacks and what the machine did meanwhile.
 * Elements with equal counts are in no order in the kernel.
 */
static void normal(struct tacho_buf *b, bool live)
{
	struct tacho_buf out;
	char *copy = strdup(tacho_buf_str(b)), *at = copy, *line, *element[64];
	size_t n = 0;

	tacho_buf_init(&out, 1 << 20);
	while ((line = next_line(&at))) {
		bool is_element = *line == '{';

		if (!*line || !strncmp(line, " => ", 4) ||
		    (live && (is_element || *line == ' ' || *line == '\t')))
			continue;
		if (is_element && n < TACHO_ARRAY_SIZE(element)) {
			element[n++] = line;
			continue;
		}
		qsort(element, n, sizeof(element[0]), compare_lines);
		for (size_t i = 0; i < n; i++)
			tacho_buf_printf(&out, "%s\n", element[i]);
		n = 0;
		tacho_buf_printf(&out, "%s\n", line);
	}
	free(copy);
	tacho_buf_reset(b);
	tacho_buf_puts(b, tacho_buf_str(&out));
	tacho_buf_release(&out);
}

/*
 * The last command's error is among the kernel's, which says up to three things
 * about one.  Ours is logged too where the kernel has no words.
 */
static void check_log(struct replay *r)
{
	const char *errors = tacho_buf_str(&r->a.errors), *text;
	struct tacho_buf ours;
	char stamp[32];

	tacho_buf_init(&ours, 1 << 20);
	tacho_engine_print_errors(r->w.engine, &ours);
	snprintf(stamp, sizeof(stamp), "[%5d.000000]", (int)(r->w.time / 1000000000));
	text = strstr(tacho_buf_str(&ours), stamp);
	if (text)
		text = strchr(text, ']');
	if (r->err && *errors)
		test_check(text && strstr(errors, text), __FILE__, __LINE__,
			   "%s\n# logged '%s', not\n# '%s'", r->line,
			   text ? text : "", errors);
	else if (!r->err)
		test_check(!text, __FILE__, __LINE__, "%s\n# logged '%s'",
			   r->line, text ? text : "");
	tacho_buf_release(&ours);
}

static bool same_result(const struct replay *r)
{
	/* what is not there is not removed: the kernel is silent about it */
	if (r->err == -ENOENT && r->line[2] == 'T' && strchr(r->line, '!'))
		return r->a.err == 0 || r->a.err == -EINVAL;
	return r->err == r->a.err;
}

/* What differs on purpose, and is tested below. */
static bool is_different(const char *line)
{
	/* the kernel keeps a wrong filter for events that lack the field */
	if (line[2] == 'S')
		return true;
	/* it does not find what has variables when it is to be paused */
	if (strstr(line, ":ts0=common_timestamp.usecs:pause"))
		return true;
	/* it says "Error" to an empty filter */
	return line[2] == 'F' && line[strlen(line) - 1] == ' ' &&
	       !strchr(line, '=') && !strchr(line, '0');
}

static void replay_line(struct replay *r, const char *line)
{
	char *rest;
	bool live = false;

	if (is_different(line))
		return;
	rest = strdup(line + 4);

	r->line = line;
	r->err = 0;
	tacho_buf_reset(&r->out);
	switch (line[2]) {
	case 'R':
		/* what the script could not take away is not ours to follow */
		reset(&r->w, r->formats);
		CHECK_STR(tacho_buf_str(&r->a.files), "");
		break;
	case 'D':
		do_define(r, rest);
		break;
	case 'H':
		do_hits(r, atoi(rest));
		break;
	default:
		live = !strncmp(rest, "sched/", 6) || strstr(line, "synthetic/m");
		do_event(r, line[2], rest);
		break;
	}
	test_check(same_result(r), __FILE__, __LINE__, "%s\n# is %d, not %d", line,
		   r->err, r->a.err);
	normal(&r->out, live);
	normal(&r->a.files, live);
	test_check(!strcmp(tacho_buf_str(&r->out), tacho_buf_str(&r->a.files)),
		   __FILE__, __LINE__, "%s\n# gives '%s'\n# not '%s'", line,
		   tacho_buf_str(&r->out), tacho_buf_str(&r->a.files));
	check_log(r);
	free(rest);
}

static void test_golden(const char *path)
{
	char *text = read_all(path), *at = text, *line;
	char *formats = read_all(GOLDEN "/engine/formats");
	struct replay r = { .formats = formats };
	int n = 0;

	if (!CHECK(text && formats))
		return;
	world_init(&r.w);
	reset(&r.w, formats);
	tacho_buf_init(&r.a.files, 1 << 20);
	tacho_buf_init(&r.a.errors, 1 << 20);
	tacho_buf_init(&r.out, 1 << 20);
	while ((line = next_line(&at))) {
		read_answer(&at, &r.a);
		r.w.time = (uint64_t)++n * 1000000000;
		replay_line(&r, line);
	}
	CHECK(n > 100);
	tacho_buf_release(&r.a.files);
	tacho_buf_release(&r.a.errors);
	tacho_buf_release(&r.out);
	world_release(&r.w);
	free(formats);
	free(text);
}

/* ---- rules, one by one ---- */

/* Section 6 of the specification: one stacktrace, one snapshot, one traceon or traceoff. */
static void test_one_of_each(void)
{
	struct world w;
	struct tacho_engine_event *ev;

	world_init(&w);
	ev = add(&w, "block", "unplug", number_format);
	CHECK_EQ(trigger(&w, ev, "stacktrace:5 if n >= 65536"), 0);
	CHECK_EQ(trigger(&w, ev, "stacktrace"), -EEXIST);
	CHECK_EQ(trigger(&w, ev, "snapshot if n > 1"), 0);
	CHECK_EQ(trigger(&w, ev, "snapshot:1 if n > 1"), -EEXIST);
	CHECK_EQ(trigger(&w, ev, "traceoff:1 if n > 1"), 0);
	CHECK_EQ(trigger(&w, ev, "traceon"), -EEXIST);
	CHECK_EQ(trigger(&w, ev, "traceoff if bad > 1"), -EINVAL);
	ERRORS(&w, "event filter parse error: error: Field not found\n"
		   "  Command: bad > 1\n");
	TRIGGERS(&w, ev, "traceoff:count=1 if n > 1\n"
			 "snapshot:unlimited if n > 1\n"
			 "stacktrace:count=5 if n >= 65536\n");
	CHECK_EQ(ev->soft, 3);
	CHECK_EQ(w.wanted, 1);
	/* the count and the filter take no part */
	CHECK_EQ(trigger(&w, ev, "!stacktrace:5"), 0);
	CHECK_EQ(trigger(&w, ev, "!stacktrace"), -ENOENT);
	CHECK_EQ(trigger(&w, ev, "!snapshot"), 0);
	CHECK_EQ(trigger(&w, ev, "!traceon"), 0);
	CHECK_EQ(w.wanted, 0);
	TRIGGERS(&w, ev, "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n");
	world_release(&w);
}

static void test_counts(void)
{
	struct world w;
	struct tacho_engine_event *ev;

	world_init(&w);
	ev = add(&w, "block", "unplug", number_format);
	tacho_engine_enable(w.engine, ev, true);
	CHECK_EQ(trigger(&w, ev, "stacktrace:2 if n > 1"), 0);
	CHECK_EQ(trigger(&w, ev, "snapshot:1"), 0);
	for (uint64_t n = 0; n < 5; n++)
		CHECK(hit_number(&w, ev, n));
	SAID(&w, "snapshot\nstack unplug\nstack unplug\n");
	TRIGGERS(&w, ev, "snapshot:count=0\nstacktrace:count=0 if n > 1\n");
	world_release(&w);
}

/* The event that stops tracing is still recorded; the count goes down only then. */
static void test_traceoff(void)
{
	struct world w;
	struct tacho_engine_event *ev, *on;

	world_init(&w);
	ev = add(&w, "block", "unplug", number_format);
	on = add(&w, "block", "plug", number_format);
	tacho_engine_enable(w.engine, ev, true);
	CHECK_EQ(trigger(&w, ev, "traceoff:2 if n > 1"), 0);
	CHECK_EQ(trigger(&w, on, "traceon"), 0);
	CHECK(hit_number(&w, ev, 1));
	CHECK(hit_number(&w, ev, 2));
	CHECK(!tacho_engine_running(w.engine));
	CHECK(!hit_number(&w, ev, 3));
	SAID(&w, "tracing 0\n");
	CHECK(!hit_number(&w, on, 0));
	CHECK(tacho_engine_running(w.engine));
	CHECK(hit_number(&w, ev, 3));
	tacho_engine_run(w.engine, true);
	CHECK(hit_number(&w, ev, 3));
	SAID(&w, "tracing 1\ntracing 0\n");
	CHECK(tacho_engine_running(w.engine));
	/* traceon's own event: without a filter it is switched on before the record is made */
	tacho_engine_enable(w.engine, on, true);
	tacho_engine_run(w.engine, false);
	CHECK(hit_number(&w, on, 0));
	CHECK_EQ(trigger(&w, on, "!traceon"), 0);
	CHECK_EQ(trigger(&w, on, "traceon if n == 0"), 0);
	tacho_engine_run(w.engine, false);
	CHECK(!hit_number(&w, on, 0));
	CHECK(hit_number(&w, on, 0));
	world_release(&w);
}

/* enable_event:kmem:kmalloc:1 and disable_event:kmem:kmalloc */
static void test_enable_event(void)
{
	struct world w;
	struct tacho_engine_event *enter, *leave, *kmalloc;

	world_init(&w);
	enter = add(&w, "syscalls", "sys_enter_read", number_format);
	leave = add(&w, "syscalls", "sys_exit_read", number_format);
	kmalloc = add(&w, "kmem", "kmalloc", number_format);
	CHECK_EQ(trigger(&w, enter, "enable_event:kmem:kmalloc:1"), 0);
	CHECK_EQ(trigger(&w, leave, "disable_event:kmem:kmalloc"), 0);
	CHECK_EQ(trigger(&w, enter, "enable_event:kmem:kmalloc if n > 1"), -EEXIST);
	CHECK_EQ(trigger(&w, enter, "enable_event:kmem:nothing"), -EINVAL);
	ERRORS(&w, "trigger:syscalls:sys_enter_read: error: No such event\n"
		   "  Command: enable_event:kmem:nothing\n"
		   "                        ^\n");
	CHECK_EQ(kmalloc->soft, 2);
	CHECK_EQ(w.wanted, 3);
	CHECK(!hit_number(&w, kmalloc, 0));
	CHECK(!hit_number(&w, enter, 0));
	CHECK(hit_number(&w, kmalloc, 0));
	CHECK(!hit_number(&w, leave, 0));
	CHECK(!hit_number(&w, kmalloc, 0));
	CHECK(kmalloc->soft_disabled);
	/* once only */
	CHECK(!hit_number(&w, enter, 0));
	CHECK(!hit_number(&w, kmalloc, 0));
	CHECK_EQ(trigger(&w, enter, "!enable_event:kmem:kmalloc:1"), 0);
	CHECK_EQ(trigger(&w, leave, "!disable_event:kmem:kmalloc"), 0);
	CHECK(!kmalloc->soft_disabled);
	CHECK_EQ(w.wanted, 0);
	world_release(&w);
}

static const char *filter_of(struct world *w, struct tacho_engine_event *ev)
{
	static char text[256];
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 16);
	tacho_engine_print_filter(w->engine, ev, &out);
	snprintf(text, sizeof(text), "%s", tacho_buf_str(&out));
	tacho_buf_release(&out);
	return text;
}

/* Section 5.4: events that lack a field keep their filters. */
static void test_system_filter(void)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct world w;
	struct tacho_engine_event *waking, *sw, *other;

	world_init(&w);
	waking = add(&w, "sched", "waking", waking_format);
	sw = add(&w, "sched", "switch", switch_format);
	other = add(&w, "kmem", "kmalloc", number_format);
	CHECK_EQ(tacho_engine_filter_system(w.engine, "sched", "common_pid == 0 ", NULL), 0);
	CHECK_STR(filter_of(&w, waking), "common_pid == 0\n");
	CHECK_STR(filter_of(&w, sw), "common_pid == 0\n");
	CHECK_STR(filter_of(&w, other), "none\n");
	CHECK_EQ(tacho_engine_filter_system(w.engine, "sched", "next_pid == 7", &e), 0);
	CHECK_EQ(e.err, 0);
	CHECK_STR(filter_of(&w, waking), "common_pid == 0\n");
	CHECK_STR(filter_of(&w, sw), "next_pid == 7\n");
	ERRORS(&w, "event filter parse error: error: Couldn't find or set field in one of a subsystem's events\n"
		   "  Command: next_pid == 7\n           ^\n");
	tacho_engine_enable(w.engine, sw, true);
	CHECK(hit_task(&w, sw, 1, 7, 0));
	CHECK(!hit_task(&w, sw, 1, 8, 0));
	CHECK_EQ(tacho_engine_filter_system(w.engine, "sched", "nothing == 7", &e), -EINVAL);
	CHECK_EQ(e.err, -EINVAL);
	CHECK_STR(filter_of(&w, sw), "next_pid == 7\n");
	CHECK_EQ(tacho_engine_filter_system(w.engine, "none", "pid == 7", NULL), -EINVAL);
	CHECK_EQ(tacho_engine_filter_system(w.engine, "sched", "0", NULL), 0);
	CHECK_STR(filter_of(&w, sw), "none\n");
	CHECK(hit_task(&w, sw, 1, 8, 0));
	world_release(&w);
}

/* A wrong filter takes the old one's place, as in the kernel. */
static void test_wrong_filter(void)
{
	struct world w;
	struct tacho_engine_event *ev;

	world_init(&w);
	ev = add(&w, "kmem", "kmalloc", number_format);
	tacho_engine_enable(w.engine, ev, true);
	CHECK_EQ(tacho_engine_filter(w.engine, ev, "n > 5", NULL), 0);
	CHECK(!hit_number(&w, ev, 5));
	CHECK(hit_number(&w, ev, 6));
	CHECK_EQ(tacho_engine_filter(w.engine, ev, "m > 5", NULL), -EINVAL);
	CHECK(strstr(filter_of(&w, ev), "m > 5\n") == filter_of(&w, ev));
	CHECK(strstr(filter_of(&w, ev), "\nparse_error: Field not found\n"));
	CHECK(hit_number(&w, ev, 5));
	CHECK_EQ(tacho_engine_filter(w.engine, ev, " 0\n", NULL), 0);
	CHECK_STR(filter_of(&w, ev), "none\n");
	world_release(&w);
}

static uint64_t map_hits(const struct tacho_hist *hist)
{
	const struct tacho_map *map = tacho_hist_map(hist);
	struct tacho_map_elt *e;
	uint64_t sum = 0;
	uint32_t pos = 0;

	while ((e = tacho_map_next(map, &pos)))
		sum += tacho_map_hitcount(map, e);
	return sum;
}

/* Histograms of one name count together, in whatever order they go. */
static void test_named(void)
{
	struct world w;
	struct tacho_engine_event *a, *b, *c;

	world_init(&w);
	a = add(&w, "x", "a", number_format);
	b = add(&w, "x", "b", number_format);
	c = add(&w, "x", "c", switch_format);
	CHECK_EQ(trigger(&w, a, "hist:name=foo:keys=n:size=256"), 0);
	CHECK_EQ(trigger(&w, b, "hist:name=foo:keys=n"), 0);
	CHECK_EQ(trigger(&w, c, "hist:name=foo:keys=next_pid"), -EINVAL);
	ERRORS(&w, "hist:x:c: error: Named hist trigger doesn't match existing named trigger (includes variables)\n"
		   "  Command: hist:name=foo:keys=next_pid\n"
		   "                ^\n");
	hit_number(&w, a, 1);
	hit_number(&w, b, 1);
	hit_number(&w, b, 2);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, a, 0)), 3);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, b, 0)), 3);
	CHECK(!tacho_engine_hist(w.engine, b, 1));
	CHECK_EQ(trigger(&w, b, "hist:name=foo:keys=n:pause"), 0);
	/* each for itself, as in the kernel */
	hit_number(&w, b, 1);
	TRIGGERS(&w, b, "hist:name=foo:keys=n:vals=hitcount:sort=hitcount:size=256 [paused]\n");
	CHECK(!tacho_hist_paused(tacho_engine_hist(w.engine, b, 0)));
	CHECK_EQ(trigger(&w, a, "hist:name=foo:keys=n:cont"), 0);
	hit_number(&w, a, 1);
	CHECK_EQ(trigger(&w, a, "!hist:name=foo:keys=n"), 0);
	CHECK(tacho_hist_paused(tacho_engine_hist(w.engine, b, 0)));
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, b, 0)), 4);
	CHECK_EQ(trigger(&w, b, "hist:name=foo:keys=n:clear"), 0);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, b, 0)), 0);
	CHECK_EQ(trigger(&w, b, "hist:name=foo:keys=n"), -EEXIST);
	CHECK_EQ(trigger(&w, a, "hist:keys=n:clear"), -ENOENT);
	world_release(&w);
}

static void test_hist_switch(void)
{
	struct world w;
	struct tacho_engine_event *a, *b;

	world_init(&w);
	a = add(&w, "x", "a", number_format);
	b = add(&w, "x", "b", number_format);
	CHECK_EQ(trigger(&w, a, "hist:keys=n:pause"), 0);
	CHECK_EQ(trigger(&w, a, "hist:keys=n:v=n"), 0);
	CHECK_EQ(trigger(&w, a, "hist:keys=n:v=n:pause"), 0);
	TRIGGERS(&w, a, "hist:keys=n:vals=hitcount:sort=hitcount:size=2048 [paused]\n"
			"hist:keys=n:vals=hitcount:v=n:sort=hitcount:size=2048 [paused]\n");
	CHECK_EQ(trigger(&w, b, "enable_hist:x:a if n == 1"), 0);
	CHECK_EQ(trigger(&w, b, "disable_hist:x:a if n == 2"), -EEXIST);
	hit_number(&w, a, 5);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, a, 0)), 0);
	hit_number(&w, b, 1);
	hit_number(&w, a, 5);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, a, 0)), 1);
	CHECK_EQ(trigger(&w, b, "!enable_hist:x:a"), 0);
	CHECK_EQ(trigger(&w, b, "disable_hist:x:a:1"), 0);
	hit_number(&w, b, 0);
	hit_number(&w, a, 5);
	CHECK_EQ(map_hits(tacho_engine_hist(w.engine, a, 0)), 1);
	world_release(&w);
}

#define LATENCY "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.waking).wakeup_latency($lat,next_pid,prio)"

static void set_up_latency(struct world *w, struct tacho_engine_event *waking,
			   struct tacho_engine_event *sw)
{
	CHECK_EQ(synth(w, "wakeup_latency u64 lat; pid_t pid; int prio"), 0);
	CHECK_EQ(trigger(w, waking, "hist:keys=pid:ts0=common_timestamp.usecs"), 0);
	CHECK_EQ(trigger(w, sw, LATENCY), 0);
	CHECK_EQ(trigger(w, tacho_engine_find(w->engine, "synthetic", "wakeup_latency"),
			 "hist:keys=pid,prio:vals=lat:sort=pid"), 0);
}

/* Sum and hits of the element with keys pid, prio. */
static bool latency_of(const struct tacho_hist *hist, uint64_t pid, uint64_t prio,
		       uint64_t *sum, uint64_t *hits)
{
	const struct tacho_map *map = tacho_hist_map(hist);
	const uint64_t key[2] = { pid, prio };
	struct tacho_map_elt *e = tacho_map_find(map, key);

	if (!e)
		return false;
	*sum = tacho_map_sum(map, e, 0);
	*hits = tacho_map_hitcount(map, e);
	return true;
}

/* waking -> switch -> synthetic event -> its histogram; the sums computed here. */
static void test_latency(void)
{
	enum { PIDS = 7, HITS = 400 };
	uint64_t woken[PIDS] = { 0 }, sum[PIDS] = { 0 }, hits[PIDS] = { 0 };
	uint64_t time = 1000000, random = 1, got_sum = 0, got_hits = 0;
	struct tacho_engine_event *waking, *sw, *lat;
	struct world w;

	world_init(&w);
	waking = add(&w, "sched", "waking", waking_format);
	sw = add(&w, "sched", "switch", switch_format);
	set_up_latency(&w, waking, sw);
	lat = tacho_engine_find(w.engine, "synthetic", "wakeup_latency");
	for (int i = 0; i < HITS; i++) {
		uint32_t pid;

		random = random * 6364136223846793005u + 1442695040888963407u;
		pid = (uint32_t)(random >> 33) % PIDS;
		time += 1000 * (1 + (random >> 40) % 97);
		if (random >> 63) {
			CHECK(!hit_task(&w, waking, time, (int32_t)pid + 1, 100));
			woken[pid] = time;
		} else {
			CHECK(!hit_task(&w, sw, time, (int32_t)pid + 1, 5));
			if (woken[pid]) {
				sum[pid] += time / 1000 - woken[pid] / 1000;
				hits[pid]++;
			}
			woken[pid] = 0;
		}
	}
	for (uint32_t pid = 0; pid < PIDS; pid++) {
		CHECK(hits[pid] > 5);
		if (!CHECK(latency_of(tacho_engine_hist(w.engine, lat, 0), pid + 1,
				      100, &got_sum, &got_hits)))
			continue;
		CHECK_EQ(got_sum, sum[pid]);
		CHECK_EQ(got_hits, hits[pid]);
	}
	SAID(&w, "");
	/* recorded once it is enabled and passes its filter */
	tacho_engine_enable(w.engine, lat, true);
	CHECK_EQ(tacho_engine_filter(w.engine, lat, "lat > 5", NULL), 0);
	hit_task(&w, waking, time, 3, 100);
	hit_task(&w, sw, time + 5000, 3, 5);
	hit_task(&w, waking, time, 3, 100);
	hit_task(&w, sw, time + 6000, 3, 5);
	SAID(&w, "wakeup_latency: lat=6, pid=3, prio=100\n");
	world_release(&w);
}

/* What refers and what is referred to; the histogram made for field prio. */
static void test_references(void)
{
	struct tacho_engine_event *waking, *sw, *lat;
	struct world w;

	world_init(&w);
	waking = add(&w, "sched", "waking", waking_format);
	sw = add(&w, "sched", "switch", switch_format);
	set_up_latency(&w, waking, sw);
	lat = tacho_engine_find(w.engine, "synthetic", "wakeup_latency");
	TRIGGERS(&w, waking,
		 "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:clock=global [active]\n"
		 "hist:keys=pid:vals=hitcount:synthetic_prio=prio:sort=hitcount:size=2048 [active]\n");
	CHECK_EQ(trigger(&w, waking, "!hist:keys=pid:ts0=common_timestamp.usecs"), -EBUSY);
	CHECK_EQ(trigger(&w, waking, "!hist:keys=pid:synthetic_prio=prio"), -EBUSY);
	CHECK_EQ(trigger(&w, sw, LATENCY), -EINVAL);
	ERRORS(&w, "hist:sched:switch: error: Variable already defined\n");
	CHECK_EQ(synth(&w, "!wakeup_latency"), -EBUSY);
	CHECK_EQ(trigger(&w, lat, "!hist:keys=pid,prio:vals=lat:sort=pid"), 0);
	CHECK_EQ(synth(&w, "!wakeup_latency"), -EBUSY);
	CHECK_EQ(trigger(&w, sw, "!" LATENCY), 0);
	TRIGGERS(&w, waking,
		 "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:clock=global [active]\n");
	CHECK_EQ(trigger(&w, waking, "!hist:keys=pid:ts0=common_timestamp.usecs"), 0);
	CHECK_EQ(synth(&w, "!wakeup_latency"), 0);
	CHECK_EQ(synth(&w, "!wakeup_latency"), -ENOENT);
	CHECK(!tacho_engine_find(w.engine, "synthetic", "wakeup_latency"));
	CHECK_EQ(w.wanted, 0);
	/* a command that fails late leaves nothing behind */
	CHECK_EQ(synth(&w, "short int prio"), 0);
	CHECK_EQ(trigger(&w, waking, "hist:keys=pid"), 0);
	CHECK_EQ(trigger(&w, sw, "hist:keys=next_pid:onmatch(sched.waking).short(prio,next_pid)"), -EINVAL);
	TRIGGERS(&w, waking, "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]\n");
	CHECK_EQ(w.wanted, 1);
	world_release(&w);
}

/* An event whose histogram makes it again: bounded, and counted. */
static void test_depth(void)
{
	struct tacho_engine_event *ev, *m;
	struct world w;

	world_init(&w);
	ev = add(&w, "x", "a", long_format);
	CHECK_EQ(synth(&w, "m u64 num"), 0);
	m = tacho_engine_find(w.engine, "synthetic", "m");
	tacho_engine_enable(w.engine, m, true);
	CHECK_EQ(trigger(&w, ev, "hist:keys=common_pid:old=num:onchange($old).m(num)"), 0);
	/* two that answer each other for ever: the value is another each time */
	CHECK_EQ(trigger(&w, m, "hist:keys=common_pid:next=num+1:onchange($next).m($next)"), 0);
	hit_number(&w, ev, 10);
	SAID(&w, "m: num=10\nm: num=11\nm: num=12\nm: num=13\n");
	CHECK_EQ(tacho_engine_too_deep(w.engine), 1);
	hit_number(&w, ev, 20);
	CHECK_EQ(tacho_engine_too_deep(w.engine), 2);
	world_release(&w);
}

static void test_memory(void)
{
	struct tacho_engine_event *ev;
	struct world w;

	/* a thousand rounds would be 64 MiB of maps */
	world_init(&w);
	ev = add(&w, "x", "a", number_format);
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(trigger(&w, ev, "hist:keys=n:vals=n if n > 5"), 0);
		CHECK_EQ(trigger(&w, ev, "!hist:keys=n:vals=n if n > 5"), 0);
		CHECK_EQ(synth(&w, "m u64 n; char s[]"), 0);
		CHECK_EQ(synth(&w, "!m"), 0);
	}
	CHECK(!tacho_engine_at(w.engine, 1));
	world_release(&w);
}

/* A host that wants nothing, and callers that do not ask what was wrong. */
static void test_no_host(void)
{
	static const char *const commands[] = {
		"traceoff if prio == 1", "snapshot", "stacktrace",
		"enable_event:sched:waking", "hist:keys=pid:pp=prio:onmax($pp).snapshot()",
		"hist:keys=prio:mm=pid:onchange($mm).made(prio)", "nonsense",
		"hist:keys=bad", "hist:keys=pid if bad",
	};
	const struct tacho_engine_host host = { .arg = NULL };
	struct tacho_engine *ours;
	struct world w;
	struct tacho_engine_event *ev;

	world_init(&w);
	ours = w.engine;
	w.engine = tacho_engine_new(&host, &names);
	ev = add(&w, "sched", "waking", waking_format);
	CHECK_EQ(synth(&w, "made int prio"), 0);
	tacho_engine_enable(w.engine, tacho_engine_find(w.engine, "synthetic", "made"), true);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(commands); i++)
		CHECK_EQ(tacho_engine_trigger(w.engine, ev, commands[i], NULL),
			 i < 6 ? 0 : -EINVAL);
	for (int i = 0; i < 4; i++)
		hit_task(&w, ev, 1, i, i);
	CHECK(!tacho_engine_running(w.engine));
	CHECK(ev->enabled);
	tacho_engine_free(w.engine);
	w.engine = ours;
	world_release(&w);
	tacho_engine_free(NULL);
}

static void test_synth_commands(void)
{
	struct world w;
	struct tacho_buf out;

	world_init(&w);
	CHECK_EQ(synth(&w, ""), 0);
	CHECK_EQ(synth(&w, " # a comment"), 0);
	CHECK_EQ(synth(&w, "  bad foo x"), -EINVAL);
	ERRORS(&w, "synthetic_events: error: Invalid type\n  Command: bad foo x\n"
		   "               ^\n");
	CHECK_EQ(synth(&w, "b u64 x"), 0);
	CHECK_EQ(synth(&w, "a u64 x; char c[] # last"), 0);
	CHECK_EQ(synth(&w, "b u32 y"), -EEXIST);
	tacho_buf_init(&out, 1 << 16);
	tacho_engine_print_synth(w.engine, &out);
	CHECK_STR(tacho_buf_str(&out), "b\tu64 x\na\tu64 x; char[] c\n");
	tacho_buf_release(&out);
	world_release(&w);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_golden(GOLDEN "/synth/kernel"));
	TEST(test_golden(GOLDEN "/engine/kernel"));
	TEST(test_one_of_each());
	TEST(test_counts());
	TEST(test_traceoff());
	TEST(test_enable_event());
	TEST(test_system_filter());
	TEST(test_wrong_filter());
	TEST(test_named());
	TEST(test_hist_switch());
	TEST(test_latency());
	TEST(test_references());
	TEST(test_depth());
	TEST(test_memory());
	TEST(test_synth_commands());
	TEST(test_no_host());
	return test_done();
}
