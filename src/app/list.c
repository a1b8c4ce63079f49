// SPDX-License-Identifier: MIT
#include "app/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/buf.h"
#include "base/text.h"
#include "session/session.h"
#include "tracefs/tracefs.h"

#define LIST_MAX	((size_t)256 << 20)
#define FORMAT_MAX	((size_t)1 << 20)
#define NAME_ROOM	(TACHO_RULE_MAX * 2)

static bool chosen(const struct app_list_config *c, const char *name)
{
	const char *event = strchr(name, ':');

	for (size_t i = 0; i < c->nr_globs; i++) {
		const char *g = c->globs[i];
		char sys[TACHO_RULE_MAX];

		if (strchr(g, ':') ? tacho_glob_match(g, name)
				   : event && tacho_glob_match(g, event + 1))
			return true;
		(void)snprintf(sys, sizeof(sys), "%.*s",
			       event ? (int)(event - name) : 0, name);
		if (!strchr(g, ':') && tacho_glob_match(g, sys))
			return true;
	}
	return !c->nr_globs;
}

/* ---- programs -------------------------------------------------------------- */

/* An event of all processes that have it. */
struct program_event {
	const char *text;	/* the type text; in the arena */
	uint32_t len;
	uint32_t processes, enabled;
};

struct programs {
	const struct app_list_config *config;
	struct tacho_arena arena;
	struct program_event *event;
	size_t nr, room;
	bool no_memory;
};

static struct program_event *find_event(struct programs *l, const char *text, uint32_t len)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->event[i].len == len && !memcmp(l->event[i].text, text, len))
			return &l->event[i];
	return NULL;
}

static struct program_event *new_event(struct programs *l, const char *text, uint32_t len)
{
	struct program_event *e;

	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct program_event *p = reallocarray(l->event, room, sizeof(*p));

		if (!p)
			return NULL;
		l->event = p;
		l->room = room;
	}
	e = &l->event[l->nr];
	*e = (struct program_event){
		.text = tacho_arena_strndup(&l->arena, text, len),
		.len = len,
	};
	if (!e->text)
		return NULL;
	l->nr++;
	return e;
}

static int one_process(struct tacho_procfile *p, void *arg)
{
	struct programs *l = arg;
	uint32_t n = tacho_procfile_nr_events(p);
	char name[NAME_ROOM];

	for (uint32_t i = 1; i <= n; i++) {
		struct program_event *e;
		uint32_t len;
		bool gone;
		const char *text = tacho_procfile_event(p, i, &len, &gone);

		if (!text || gone)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		if (!chosen(l->config, name))
			continue;
		e = find_event(l, text, len);
		if (!e)
			e = new_event(l, text, len);
		if (!e) {
			l->no_memory = true;
			continue;
		}
		e->processes++;
		e->enabled += tacho_load_relaxed(&p->state[i].wanted) != 0;
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	const struct program_event *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static int tell_events(const struct programs *l, app_list_fn fn, void *arg)
{
	int ret = 0;

	if (l->nr)
		qsort(l->event, l->nr, sizeof(*l->event), by_text);
	for (size_t i = 0; !ret && i < l->nr; i++) {
		const struct program_event *e = &l->event[i];
		const char *body = strchr(e->text, '\n');
		char name[NAME_ROOM];
		struct app_list_event event = {
			.name = name, .processes = e->processes, .enabled = e->enabled,
			.format = l->config->formats && body ? body + 1 : NULL,
		};

		tacho_type_text_name(e->text, e->len, name, sizeof(name));
		ret = fn(arg, &event);
	}
	return ret;
}

int app_list_programs(const struct app_list_config *config, app_list_fn fn, void *arg,
		      struct tacho_diag *d)
{
	struct programs l = { .config = config };
	struct tacho_dir dir;
	int err = tacho_dir_open(&dir, true, d);

	if (err)
		return err;
	tacho_arena_init(&l.arena, LIST_MAX);
	err = tacho_procs_each(&dir, one_process, &l);
	tacho_dir_close(&dir);
	if (l.no_memory)
		err = tacho_no_memory(d);
	else if (err < 0 && err != -ENOENT)
		err = tacho_diag(d, err, 0, "cannot read the list of programs: %s", strerror(-err));
	else
		err = tell_events(&l, fn, arg);
	tacho_arena_release(&l.arena);
	free(l.event);
	return err;
}

/* ---- kernel ---------------------------------------------------------------- */

static int tell_kernel_event(const struct app_list_config *c, const struct tacho_tracefs *t,
			     const struct tacho_kernel_event *e, app_list_fn fn, void *arg)
{
	char name[256], path[300];
	struct app_list_event event = { .name = name };
	struct tacho_buf format;
	int ret;

	(void)snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	if (!chosen(c, name))
		return 0;
	tacho_buf_init(&format, FORMAT_MAX);
	if (c->formats) {
		(void)snprintf(path, sizeof(path), "events/%s/%s/format", e->system, e->name);
		(void)tacho_tracefs_read(t->dirfd, path, &format, NULL);
		event.format = tacho_buf_str(&format);
	}
	ret = fn(arg, &event);
	tacho_buf_release(&format);
	return ret;
}

int app_list_kernel(const struct app_list_config *config, app_list_fn fn, void *arg,
		    struct tacho_diag *d)
{
	struct tacho_kernel_event *event;
	struct tacho_arena arena;
	struct tacho_tracefs t;
	size_t n;
	int ret = tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, d);

	if (ret)
		return ret;
	tacho_arena_init(&arena, LIST_MAX);
	ret = tacho_tracefs_events(&t, &arena, &event, &n, d);
	for (size_t i = 0; !ret && i < n; i++)
		ret = tell_kernel_event(config, &t, &event[i], fn, arg);
	tacho_arena_release(&arena);
	tacho_tracefs_close(&t);
	return ret;
}
