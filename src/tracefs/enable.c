/* SPDX-License-Identifier: MIT */
/*
 * enable.c - enables the events of globs with as few writes as possible.
 *
 * The kernel's set_event knows "system:*" but no other glob, so globs are
 * matched here.  A completely selected system takes one write, all events together take one, each
 * other event one.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "tracefs/instance_priv.h"

#define GLOB_MAX	200
#define EVENT_MAX	160	/* "system:event" */

struct choice {
	struct tacho_kernel_event *ev;	/* all events, sorted */
	bool *on;
	size_t nr;
};

/* "system:event", cut to EVENT_MAX - 1 bytes. */
static void full_name(const struct tacho_kernel_event *ev, char *to)
{
	snprintf(to, EVENT_MAX, "%s:%s", ev->system, ev->name);
}

static int nothing_matches(const struct choice *c, const char *glob,
			   struct tacho_diag *d)
{
	struct tacho_suggestions s = { .nr = 0 };
	struct tacho_buf text;
	int ret;

	for (size_t i = 0; i < c->nr; i++)
		tacho_suggest_event(&s, glob, c->ev[i].system, c->ev[i].name);
	tacho_buf_init(&text, 4096);
	for (unsigned int i = 0; i < s.nr; i++)
		tacho_buf_printf(&text, "%s'%s'", !i ? "; near: " :
				 i + 1 < s.nr ? ", " : " and ", s.name[i]);
	ret = tacho_diag(d, -ENOENT, 0, "no kernel event matches '%s'%s", glob,
			 tacho_buf_str(&text));
	tacho_buf_release(&text);
	return ret;
}

static int choose(const struct choice *c, const char *glob,
		  struct tacho_diag *d)
{
	const char *text = glob + (*glob == '!');
	bool any = false;

	if (!*text || strlen(text) >= GLOB_MAX)
		return tacho_diag(d, -EINVAL, 0, "'%.100s' names no event",
				  glob);
	for (size_t i = 0; i < c->nr; i++) {
		if (!tacho_event_glob(text, c->ev[i].system, c->ev[i].name))
			continue;
		c->on[i] = text == glob;
		any = true;
	}
	return any ? 0 : nothing_matches(c, text, d);
}

/* The end of the run of events whose system is that of `from`. */
static size_t system_end(const struct choice *c, size_t from)
{
	size_t i = from;

	while (i < c->nr && !strcmp(c->ev[i].system, c->ev[from].system))
		i++;
	return i;
}

static size_t count_on(const struct choice *c, size_t from, size_t to)
{
	size_t n = 0;

	while (from < to)
		n += c->on[from++];
	return n;
}

static int switch_system(struct tacho_kernel *k, const struct choice *c,
			 size_t from, size_t to, struct tacho_diag *d)
{
	char text[EVENT_MAX];
	size_t n = count_on(c, from, to);
	int ret;

	if (n == to - from) {
		snprintf(text, sizeof(text), "%s:*", c->ev[from].system);
		return tacho_tracefs_write(k->dirfd, "set_event", text, true,
					   d);
	}
	for (; n && from < to; from++) {
		if (!c->on[from])
			continue;
		full_name(&c->ev[from], text);
		ret = tacho_tracefs_write(k->dirfd, "set_event", text, true,
					  d);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int switch_all(struct tacho_kernel *k, const struct choice *c,
		      struct tacho_diag *d)
{
	size_t from, to;
	int ret;

	if (count_on(c, 0, c->nr) == c->nr)
		return tacho_tracefs_write(k->dirfd, "events/enable", "1",
					   false, d);
	for (from = 0; from < c->nr; from = to) {
		to = system_end(c, from);
		ret = switch_system(k, c, from, to, d);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int order(const struct tacho_kernel_event *a,
		 const struct tacho_kernel_event *b)
{
	int r = strcmp(a->system, b->system);

	return r ? r : strcmp(a->name, b->name);
}

/* Makes k->enabled the union of itself and the choice; both are sorted. */
static int remember(struct tacho_kernel *k, const struct choice *c)
{
	size_t old = k->info.nr_enabled, i = 0, j, n = 0;
	struct tacho_kernel_event *list;
	int r;

	list = calloc(old + c->nr, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (j = 0; j < c->nr; j++) {
		if (!c->on[j])
			continue;
		while (i < old && (r = order(&k->enabled[i], &c->ev[j])) <= 0) {
			if (r < 0)
				list[n++] = k->enabled[i];
			i++;
		}
		list[n].system = tacho_arena_strndup(&k->arena, c->ev[j].system,
						     strlen(c->ev[j].system));
		list[n].name = tacho_arena_strndup(&k->arena, c->ev[j].name,
						   strlen(c->ev[j].name));
		if (!list[n].system || !list[n].name) {
			free(list);
			return -ENOMEM;
		}
		n++;
	}
	while (i < old)
		list[n++] = k->enabled[i++];
	free(k->enabled);
	k->enabled = list;
	k->info.nr_enabled = n;
	return 0;
}

/* Adds the events of the globs to the list, and (on) enables them. */
static int enable(struct tacho_kernel *k, const char *const *globs, size_t n,
		  bool on, struct tacho_diag *d)
{
	struct tacho_arena arena;
	struct choice c = { 0 };
	int ret;

	tacho_arena_init(&arena, (size_t)64 << 20);
	ret = tacho_tracefs_events(&k->tracefs, &arena, &c.ev, &c.nr, d);
	if (ret < 0)
		goto out;
	c.on = tacho_arena_array(&arena, c.nr + 1, sizeof(*c.on));
	if (!c.on) {
		ret = tacho_diag(d, -ENOMEM, 0, "no memory");
		goto out;
	}
	for (size_t i = 0; !ret && i < n; i++)
		ret = choose(&c, globs[i], d);
	if (!ret && on)
		ret = switch_all(k, &c, d);
	if (ret < 0)
		goto out;
	ret = remember(k, &c);
	if (ret < 0)
		tacho_diag(d, ret, 0, "no memory");
out:
	tacho_arena_release(&arena);
	return ret;
}

int tacho_kernel_enable(struct tacho_kernel *k, const char *const *globs,
			size_t n, struct tacho_diag *d)
{
	return enable(k, globs, n, true, d);
}

int tacho_kernel_expect(struct tacho_kernel *k, const char *system,
			const char *event, struct tacho_diag *d)
{
	char text[EVENT_MAX];
	const char *glob = text;

	if (snprintf(text, sizeof(text), "%s:%s", system, event) >= EVENT_MAX)
		return tacho_diag(d, -ENOENT, 0, "no kernel event has so long a name");
	return enable(k, &glob, 1, false, d);
}
