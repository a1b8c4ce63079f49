// SPDX-License-Identifier: MIT
/* list: the events that can be recorded. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/text.h"
#include "cli/cli.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

#define LIST_MAX	((size_t)256 << 20)

enum { OPT_PROGRAMS = CLI_OPT_FIRST, OPT_KERNEL };

struct list {
	struct tacho_buf out;
	struct tacho_json j;
	struct tacho_arena arena;
	bool json, formats;
	char **globs;
	int nr_globs;
	/* events of all processes, sorted and counted before they are shown */
	struct program_event *event;
	size_t nr, room;
	bool no_memory;
};

struct program_event {
	const char *text;	/* the type text; in the arena */
	uint32_t len;
	uint32_t name_len;
	uint32_t processes, enabled;
};

static bool chosen(const struct list *l, const char *name)
{
	const char *event = strchr(name, ':');

	for (int i = 0; i < l->nr_globs; i++) {
		const char *g = l->globs[i];
		char sys[TACHO_RULE_MAX];

		if (strchr(g, ':') ? tacho_glob_match(g, name)
				   : event && tacho_glob_match(g, event + 1))
			return true;
		(void)snprintf(sys, sizeof(sys), "%.*s",
			       event ? (int)(event - name) : 0, name);
		if (!strchr(g, ':') && tacho_glob_match(g, sys))
			return true;
	}
	return !l->nr_globs;
}

static struct program_event *find_event(struct list *l, const char *text,
					uint32_t len)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->event[i].len == len && !memcmp(l->event[i].text, text, len))
			return &l->event[i];
	return NULL;
}

static void add_event(struct list *l, const char *text, uint32_t len, bool on)
{
	struct program_event *e = find_event(l, text, len);

	if (!e) {
		if (l->nr == l->room) {
			size_t room = l->room ? 2 * l->room : 64;
			struct program_event *p = reallocarray(l->event, room,
							       sizeof(*p));

			if (!p) {
				l->no_memory = true;
				return;
			}
			l->event = p;
			l->room = room;
		}
		e = &l->event[l->nr];
		*e = (struct program_event){
			.text = tacho_arena_strndup(&l->arena, text, len),
			.len = len,
		};
		if (!e->text) {
			l->no_memory = true;
			return;
		}
		l->nr++;
	}
	e->processes++;
	e->enabled += on;
}

static int one_process(struct tacho_procfile *p, void *arg)
{
	struct list *l = arg;
	uint32_t n = tacho_procfile_nr_events(p);
	char name[TACHO_RULE_MAX * 2];

	for (uint32_t i = 1; i <= n; i++) {
		uint32_t len;
		bool gone;
		const char *text = tacho_procfile_event(p, i, &len, &gone);

		if (!text || gone)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		if (chosen(l, name))
			add_event(l, text, len, tacho_load_relaxed(&p->state[i].wanted));
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	const struct program_event *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static void show_program_event(struct list *l, const struct program_event *e)
{
	char name[TACHO_RULE_MAX * 2];
	const char *body = strchr(e->text, '\n');

	tacho_type_text_name(e->text, e->len, name, sizeof(name));
	if (l->json) {
		tacho_json_open(&l->j, '{');
		tacho_json_pair_str(&l->j, "event", name);
		tacho_json_pair_str(&l->j, "source", "program");
		tacho_json_pair_u64(&l->j, "processes", e->processes);
		tacho_json_pair_u64(&l->j, "enabled", e->enabled);
		if (l->formats && body)
			tacho_json_pair_str(&l->j, "format", body + 1);
		tacho_json_close(&l->j, '}');
		return;
	}
	tacho_buf_printf(&l->out, "%-40s program, in %u process%s%s\n", name,
			 e->processes, e->processes == 1 ? "" : "es",
			 e->enabled ? ", enabled" : "");
	if (l->formats && body)
		tacho_buf_puts(&l->out, body + 1);
}

static int list_programs(struct list *l)
{
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	int err;

	if (tacho_dir_open(&dir, true, &d))
		return cli_fail_diag(&d);
	err = tacho_procs_each(&dir, one_process, l);
	tacho_dir_close(&dir);
	if (l->no_memory)
		return cli_fail("out of memory");
	if (err < 0 && err != -ENOENT)
		return cli_fail("cannot read the list of programs: %s", strerror(-err));
	if (l->nr)
		qsort(l->event, l->nr, sizeof(*l->event), by_text);
	for (size_t i = 0; i < l->nr; i++)
		show_program_event(l, &l->event[i]);
	return CLI_OK;
}

static void show_kernel_event(struct list *l, const struct tacho_tracefs *t,
			      const struct tacho_kernel_event *e)
{
	char name[256], path[300];
	struct tacho_buf format;

	(void)snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	if (!chosen(l, name))
		return;
	tacho_buf_init(&format, 1 << 20);
	if (l->formats) {
		(void)snprintf(path, sizeof(path), "events/%s/%s/format",
			       e->system, e->name);
		(void)tacho_tracefs_read(t->dirfd, path, &format, NULL);
	}
	if (l->json) {
		tacho_json_open(&l->j, '{');
		tacho_json_pair_str(&l->j, "event", name);
		tacho_json_pair_str(&l->j, "source", "kernel");
		if (l->formats)
			tacho_json_pair_str(&l->j, "format", tacho_buf_str(&format));
		tacho_json_close(&l->j, '}');
	} else {
		tacho_buf_printf(&l->out, "%-40s kernel\n", name);
		tacho_buf_put(&l->out, format.data, format.len);
	}
	tacho_buf_release(&format);
}

/* The kernel's are a bonus when everything is listed, else an error if not there. */
static int list_kernel(struct list *l, bool asked)
{
	struct tacho_kernel_event *event;
	struct tacho_tracefs t;
	struct tacho_diag d = { 0 };
	size_t n;

	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d) ||
	    tacho_tracefs_events(&t, &l->arena, &event, &n, &d)) {
		if (asked)
			return cli_fail_diag(&d);
		cli_note("no kernel events: %s", d.text);
		return CLI_OK;
	}
	for (size_t i = 0; i < n; i++)
		show_kernel_event(l, &t, &event[i]);
	tacho_tracefs_close(&t);
	return CLI_OK;
}

static int list_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ "programs", no_argument, NULL, OPT_PROGRAMS },
		{ "kernel", no_argument, NULL, OPT_KERNEL },
		{ "format", no_argument, NULL, 'F' },
		{ NULL, 0, NULL, 0 },
	};
	struct list l = { .json = false };
	bool programs = false, kernel = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqF", options, NULL)) != -1) {
		ret = -1;
		if (opt == OPT_PROGRAMS)
			programs = true;
		else if (opt == OPT_KERNEL)
			kernel = true;
		else if (opt == 'F')
			l.formats = true;
		else
			ret = cli_common(opt, &l.json);
		if (ret >= 0)
			return ret;
	}
	l.globs = argv + optind;
	l.nr_globs = argc - optind;
	tacho_buf_init(&l.out, LIST_MAX);
	tacho_arena_init(&l.arena, LIST_MAX);
	tacho_json_init(&l.j, &l.out);
	if (l.json)
		tacho_json_open(&l.j, '[');
	ret = programs || !kernel ? list_programs(&l) : CLI_OK;
	if (!ret && (kernel || !programs))
		ret = list_kernel(&l, kernel);
	if (!ret && l.nr_globs && l.out.len <= (size_t)l.json)
		ret = cli_fail("no event matches '%s'", l.globs[0]);
	if (l.json)
		tacho_json_close(&l.j, ']');
	if (!ret)
		ret = l.json ? cli_write_json(&l.out) : cli_write(&l.out);
	tacho_buf_release(&l.out);
	tacho_arena_release(&l.arena);
	free(l.event);
	return ret;
}

const struct cli_verb cli_list = {
	.name = "list",
	.summary = "list events of running programs and of the kernel",
	.usage = "usage: tacho list [OPTIONS] [SYS:EV...]\n\n"
		 "Lists the events that can be recorded: those of running programs, and\n"
		 "those of the kernel.  Globs select.\n"
		 "\n"
		 "      --programs  list program events only\n"
		 "      --kernel    list kernel events only\n"
		 "  -F, --format    also print their fields and print formats\n"
		 "      --json      print JSON\n"
		 "  -h, --help      print this help\n",
	.run = list_run,
};
