// SPDX-License-Identifier: MIT
/* probe_add.c - from what is to be probed to lines, and to the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/probe_priv.h"

#define ARENA_MAX	((size_t)256 << 20)

/* ---- the program ---- */

/* A name without '/' is looked for here, then where commands are. */
static int find_program(struct probe_add *a)
{
	const char *path = getenv("PATH"), *at, *end;
	char *real = NULL, try[4096];

	if (!access(a->config->program, F_OK))
		real = realpath(a->config->program, NULL);
	for (at = path; !real && at && !strchr(a->config->program, '/'); at = end) {
		end = strchr(at, ':');
		if (snprintf(try, sizeof(try), "%.*s/%s",
			     (int)(end ? end - at : (long)strlen(at)), at,
			     a->config->program) < (int)sizeof(try) &&
		    !access(try, X_OK))
			real = realpath(try, NULL);
		end = end ? end + 1 : NULL;
	}
	if (!real)
		return tacho_diag(a->d, -EINVAL, 0, "there is no program '%s'", a->config->program);
	if (strlen(real) >= sizeof(a->path) || strpbrk(real, " \t\n#")) {
		free(real);
		return tacho_diag(a->d, -EINVAL, 0, "the kernel takes no path with blanks or '#': "
				"make a link to '%s' elsewhere, and move it",
				a->config->program);
	}
	memcpy(a->path, real, strlen(real) + 1);
	free(real);
	return 0;
}

static int open_program(struct probe_add *a)
{
	int ret = find_program(a);

	return ret ? ret : tacho_object_open(&a->object, a->path, a->config->debug_root, a->d);
}

/* ---- lines ---- */

static bool add_line(struct probe_add *a, const struct tacho_probe_spec *s)
{
	struct app_probe_set *set = a->set;
	struct app_probe_line *line;
	struct tacho_buf b;
	char name[2 * TACHO_PROBE_NAME_MAX + 2];

	if (set->nr == a->room_lines) {
		size_t room = a->room_lines ? 2 * a->room_lines : 64;
		struct app_probe_line *more = tacho_arena_array(&set->arena, room, sizeof(*more));

		if (!more)
			return false;
		if (set->nr)
			memcpy(more, set->line, set->nr * sizeof(*more));
		set->line = more;
		a->room_lines = room;
	}
	tacho_buf_init(&b, 1 << 20);
	tacho_probe_write(s, &b);
	(void)snprintf(name, sizeof(name), "%s:%s", s->group ? s->group : "",
		       s->event ? s->event : "");
	line = &set->line[set->nr];
	line->text = tacho_arena_strndup(&set->arena, tacho_buf_str(&b), b.len);
	line->event = tacho_arena_strndup(&set->arena, name, strlen(name));
	tacho_buf_release(&b);
	set->nr += line->text && line->event;
	return line->text && line->event;
}

/* The events of the program as lines. */
static int program_lines(struct probe_add *a)
{
	for (size_t i = 0; i < a->nr_events; i++) {
		const struct probe_event *e = &a->event[i];

		for (size_t j = 0; j < e->nr_locations; j++) {
			struct probe_location *p = &e->location[j];
			struct tacho_probe_spec s = {
				.kind = e->on_return ? 'r' : 'p',
				.on_return = e->on_return,
				.group = a->config->group, .event = e->name,
				.place = TACHO_PROBE_FILE, .target = a->path,
				.offset = (int64_t)p->offset,
				.counter = p->counter,
				.arg = p->arg, .nr_args = p->nr_args,
			};

			if (!add_line(a, &s))
				return tacho_no_memory(a->d);
		}
	}
	return 0;
}

/* [MODULE:]SYMBOL[+OFFSET][%return] with --args, which the kernel resolves. */
static int kernel_line(struct probe_add *a, const char *spec)
{
	struct tacho_probe_spec s;
	struct tacho_buf b;
	char name[TACHO_PROBE_NAME_MAX + 1];
	char *text;

	if (strpbrk(spec, "*?["))
		return tacho_diag(a->d, -EINVAL, 0, "'%s': patterns are for functions of programs",
				spec);
	tacho_buf_init(&b, 1 << 20);
	tacho_buf_printf(&b, "p %s %s", spec, a->config->args ? a->config->args : "");
	text = tacho_arena_strndup(&a->set->arena, tacho_buf_str(&b), b.len);
	tacho_buf_release(&b);
	if (!text)
		return tacho_no_memory(a->d);
	if (tacho_probe_parse(&a->set->arena, text, &s, a->d))
		return probe_wrong(a, text);
	if (s.place == TACHO_PROBE_SYMBOL)
		(void)snprintf(name, sizeof(name), "%.40s%s", s.target,
			       s.on_return ? "__return" : s.offset ? "_in" : "");
	else if (s.place == TACHO_PROBE_ADDRESS)
		(void)snprintf(name, sizeof(name), "at_0x%" PRIx64,
			       (uint64_t)s.offset);
	else
		return tacho_diag(a->d, -EINVAL, 0, "'%s' is of a program: -x", spec);
	s.kind = s.on_return ? 'r' : 'p';
	s.group = a->config->group;
	s.event = a->config->name ? a->config->name : probe_clean_name(&a->set->arena, name);
	return s.event && add_line(a, &s) ? 0 : tacho_no_memory(a->d);
}

static int raw_line(struct probe_add *a, const char *text)
{
	struct tacho_probe_spec s;

	if (tacho_probe_parse(&a->set->arena, text, &s, a->d))
		return probe_wrong(a, text);
	if (s.kind == '-')
		return tacho_diag(a->d, -EINVAL, 0, "'%s' takes a probe away: 'tacho probe del'", text);
	if (!s.event)
		return tacho_diag(a->d, -EINVAL, 0, "'%s': name the event, as in '%c:%s/NAME ...'",
				text, s.kind, a->config->group);
	s.group = s.group ? s.group : a->config->group;
	return add_line(a, &s) ? 0 : tacho_no_memory(a->d);
}

/* Whether an event before the i-th has the name. */
static bool name_before(const struct probe_add *a, size_t i, const char *name)
{
	while (i--)
		if (!strcmp(a->event[i].name, name))
			return true;
	return false;
}

/* The second event of a name becomes NAME_1. */
static int distinct_names(struct probe_add *a)
{
	char name[TACHO_PROBE_NAME_MAX + 1];

	for (size_t i = 0; i < a->nr_events; i++) {
		const char *old = a->event[i].name;

		if (!name_before(a, i, old))
			continue;
		(void)snprintf(name, sizeof(name), "%s", old);
		for (unsigned int n = 1; name_before(a, i, name); n++)
			(void)snprintf(name, sizeof(name), "%.52s_%u", old, n);
		a->event[i].name = tacho_arena_strndup(&a->set->arena, name,
						       strlen(name));
		if (!a->event[i].name)
			return tacho_no_memory(a->d);
	}
	return 0;
}

static int one_spec(struct probe_add *a, const char *spec)
{
	return a->config->program ? probe_resolve(a, spec) :
	       a->config->kernel ? kernel_line(a, spec) : raw_line(a, spec);
}

static int make_lines(struct probe_add *a)
{
	const struct app_probe_config *c = a->config;
	int err = c->program ? open_program(a) : 0;
	size_t nr;

	for (size_t i = 0; !err && i < c->nr_specs; i++)
		err = one_spec(a, c->spec[i]);
	if (err)
		return err;
	nr = c->program ? a->nr_events : a->set->nr;
	if (c->name && nr > 1)
		return tacho_diag(a->d, -EINVAL, 0, "--name is for one event, and these are %zu",
				  nr);
	if (!c->program)
		return 0;
	if (c->name)
		a->event[0].name = c->name;
	err = distinct_names(a);
	for (size_t i = 0; !err && i < a->nr_events; i++)
		err = probe_arguments(a, &a->event[i]);
	return err ? err : program_lines(a);
}

/* What the kernel would refuse is said without root, too. */
static int check_lines(struct probe_add *a)
{
	struct tacho_probe_spec s;

	for (size_t i = 0; i < a->set->nr; i++)
		if (tacho_probe_parse(&a->set->arena, a->set->line[i].text, &s, a->d))
			return probe_wrong(a, a->set->line[i].text);
	return 0;
}

int app_probe_make(struct app_probe_set *set, const struct app_probe_config *config,
		   struct tacho_diag *d)
{
	struct probe_add a = { .config = config, .set = set, .d = d };
	int err;

	*set = (struct app_probe_set){ .nr = 0 };
	tacho_arena_init(&set->arena, ARENA_MAX);
	err = make_lines(&a);
	if (!err)
		err = check_lines(&a);
	free(a.event);
	tacho_object_close(a.object);
	return err;
}

int probe_wrong(struct probe_add *a, const char *text)
{
	a->set->wrong = tacho_arena_strndup(&a->set->arena, text, strlen(text));
	return a->d->err;
}

void app_probe_set_release(struct app_probe_set *set)
{
	tacho_arena_release(&set->arena);
}

void app_probe_caret(const struct app_probe_set *set, const struct tacho_diag *d,
		     struct tacho_buf *out)
{
	if (set->wrong)
		tacho_probe_caret(set->wrong, d, out);
}

bool app_probe_is_name(const char *name)
{
	return tacho_probe_good_name(name);
}

/* ---- to the kernel ---- */

/* A second probe of a name would join the first one without a word. */
static int none_there(struct app_probe_set *set, const struct tacho_tracefs *t,
		      struct tacho_diag *d)
{
	struct tacho_probe_spec *old;
	char name[2 * TACHO_PROBE_NAME_MAX + 2];
	size_t nr;

	if (tacho_dynevent_list(t, &set->arena, &old, &nr, d))
		return d->err;
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(name, sizeof(name), "%s:%s", old[i].group, old[i].event);
		for (size_t j = 0; j < set->nr; j++)
			if (!strcmp(name, set->line[j].event))
				return tacho_diag(d, -EEXIST, 0, "'%s' is there already: 'tacho "
						  "probe del %s', or give another --name", name,
						  name);
	}
	return 0;
}

/* The first nr lines, which the kernel has. */
static void take_back(struct app_probe_set *set, const struct tacho_tracefs *t, size_t nr,
		      const struct tacho_observer *o)
{
	struct tacho_probe_spec s;

	for (size_t i = 0; i < nr; i++) {
		struct tacho_diag d = { 0 };
		bool gone = false;

		for (size_t j = 0; j < i; j++)
			gone |= !strcmp(set->line[i].event, set->line[j].event);
		if (!gone && !tacho_probe_parse(&set->arena, set->line[i].text, &s, NULL) &&
		    tacho_dynevent_del(t, &s, &d))
			tacho_observer_note(o, "%s", d.text);
	}
}

int app_probe_install(struct app_probe_set *set, const struct tacho_observer *o,
		      struct tacho_diag *d)
{
	struct tacho_tracefs t;
	int err = tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, d);

	if (err)
		return err;
	err = none_there(set, &t, d);
	for (size_t i = 0; !err && i < set->nr; i++) {
		err = tacho_dynevent_add(&t, set->line[i].text, d);
		if (!err)
			continue;
		set->wrong = set->line[i].text;
		take_back(set, &t, i, o);
	}
	tacho_tracefs_close(&t);
	return err;
}
