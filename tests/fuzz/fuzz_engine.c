// SPDX-License-Identifier: MIT
/*
 * Lines of commands and hits against an instance with two events:
 *
 *	a text	b text		a trigger of event x:a, x:b
 *	m text			a trigger of the first synthetic event
 *	s text			a line of synthetic_events
 *	f text	S text		a filter of x:a, of the system
 *	+a -a +b -b +m -m	switches an event
 *	h n	i n		hits of x:a, x:b
 *
 * After each, the files are printed, and the counts of wanted events must be
 * right; at the end all memory is freed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/engine.h"

#define LINES_MAX	100
#define LINES_PRINT	4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct tacho_engine *engine;
	struct tacho_engine_event *a, *b;
	int wanted, emitted;
};

static const char format[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 num;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[8];\toffset:20;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] text;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"num=%llu\", REC->num\n";

static void must(int ok)
{
	if (!ok)
		abort();
}

static void on_emit(void *arg, const struct tacho_engine_event *event,
		    const struct tacho_rec *rec)
{
	struct world *w = arg;

	must(event->enabled && event->synth && rec->len >= 8 &&
	     rec->len <= TACHO_SYNTH_RAW_MAX);
	w->emitted++;
}

static void on_wanted(void *arg, const struct tacho_engine_event *event,
		      bool wanted)
{
	struct world *w = arg;

	must(wanted == (event->enabled || event->soft));
	w->wanted += wanted ? 1 : -1;
}

static struct tacho_engine_event *first_synth(struct world *w)
{
	struct tacho_engine_event *e;

	for (uint32_t i = 0; (e = tacho_engine_at(w->engine, i)); i++)
		if (e->synth)
			return e;
	return NULL;
}

static void hit(struct world *w, struct tacho_engine_event *event, uint64_t n)
{
	static const struct tacho_names names = { .arg = NULL };
	static const uint64_t stack[3] = { 1, 2, 3 };
	_Alignas(8) unsigned char raw[40] = { 0 };
	struct tacho_rec rec = { .raw = raw, .len = sizeof(raw), .names = &names,
				 .time = n * 1000, .pid = (int32_t)n,
				 .nr_stack = 3, .stack = stack };

	tacho_put_u64(raw + 8, n);
	tacho_put_u32(raw + 16, (uint32_t)n);
	memcpy(raw + 20, "comm", 4);
	tacho_put_u32(raw + 28, 32 | 8 << 16);
	raw[32] = (unsigned char)('a' + n % 26);
	/* a record that was cut, too */
	if (n % 7 == 6)
		rec.len = (uint32_t)(n % sizeof(raw));
	tacho_engine_hit(w->engine, event, &rec);
}

/* Sizes that would only cost time are left out. */
static bool is_large(const char *text)
{
	const char *s = strstr(text, "size=");

	return s && strlen(s) > strlen("size=999");
}

static void command(struct world *w, const char *line)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_engine_event *m = first_synth(w);
	struct tacho_engine_event *of = line[0] && line[1] == 'b' ? w->b :
					line[0] && line[1] == 'm' ? m : w->a;
	const char *text = line[0] && line[1] ? line + 2 : "";
	int err = 0;

	if (is_large(text))
		return;
	if (*line == 'a' || *line == 'b')
		err = tacho_engine_trigger(w->engine, *line == 'a' ? w->a : w->b,
					   text, &e);
	else if (*line == 'm' && m)
		err = tacho_engine_trigger(w->engine, m, text, &e);
	else if (*line == 's')
		err = tacho_engine_synth(w->engine, text, &e);
	else if (*line == 'f')
		err = tacho_engine_filter(w->engine, w->a, text, &e);
	else if (*line == 'S')
		err = tacho_engine_filter_system(w->engine, "x", text, &e);
	else if ((*line == '+' || *line == '-') && of)
		tacho_engine_enable(w->engine, of, *line == '+');
	else if (*line == 'h' || *line == 'i')
		hit(w, *line == 'h' ? w->a : w->b, strtoull(text, NULL, 10));
	must(err == e.err && !err == !e.text[0]);
}

/* What holds after every command. */
static void check(struct world *w)
{
	struct tacho_engine_event *e;
	int wanted = 0;

	for (uint32_t i = 0; (e = tacho_engine_at(w->engine, i)); i++) {
		wanted += e->enabled || e->soft;
		must(e->soft_disabled == (e->soft && !e->enabled));
		must(tacho_engine_find(w->engine, e->type->system, e->type->name) == e);
	}
	must(wanted == w->wanted);
}

static void print(struct world *w)
{
	struct tacho_engine_event *e;
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 24);
	for (uint32_t i = 0; (e = tacho_engine_at(w->engine, i)); i++) {
		tacho_engine_print_filter(w->engine, e, &out);
		tacho_engine_print_triggers(w->engine, e, &out);
		must(tacho_engine_print_hist(w->engine, e, &out) != -EINVAL);
	}
	tacho_engine_print_errors(w->engine, &out);
	tacho_engine_print_synth(w->engine, &out);
	must(!tacho_buf_error(&out));
	tacho_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tacho_names names = { .arg = NULL };
	struct world w = { .wanted = 0 };
	const struct tacho_engine_host host = {
		.arg = &w, .emit = on_emit, .wanted = on_wanted,
	};
	struct tacho_diag d = { .err = 0 };
	struct tacho_arena a;
	char *text, *line, *next;
	int lines = 0;

	tacho_arena_init(&a, 1 << 20);
	text = strndup((const char *)data, size);
	w.engine = tacho_engine_new(&host, &names);
	w.a = tacho_engine_add(w.engine, tacho_type_parse(&a, "x", "a", 1, format,
							  sizeof(format) - 1, &d));
	w.b = tacho_engine_add(w.engine, tacho_type_parse(&a, "x", "b", 2, format,
							  sizeof(format) - 1, &d));
	for (line = text; line && lines++ < LINES_MAX; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		command(&w, line);
		check(&w);
		/* in the middle, too: what is printed is not changed by it */
		if (lines == LINES_PRINT)
			print(&w);
	}
	print(&w);
	tacho_engine_free(w.engine);
	tacho_arena_release(&a);
	free(text);
	return 0;
}
