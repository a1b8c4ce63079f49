// SPDX-License-Identifier: MIT
/* Listing a session's commands and the contents of its histograms. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/text.h"
#include "session/command_priv.h"
#include "session/histmap.h"
#include "sys/mapping.h"

/* Copies slot i; false: it has no live command. */
static bool copy_place(const struct tacho_view *v, uint32_t i,
		       struct tacho_command_info *info)
{
	const struct tacho_command *c = &v->commands->command[i];
	uint32_t flags = tacho_load_relaxed(&c->flags);

	if (tacho_load_acquire(&c->state) != TACHO_COMMAND_LIVE)	/* [command] */
		return false;
	*info = (struct tacho_command_info){
		.serial = tacho_load_relaxed(&c->serial),
		.kind = (enum tacho_command_kind)tacho_load_relaxed(&c->kind),
		.left = tacho_load_relaxed(&c->left),
		.paused = flags & TACHO_COMMAND_PAUSED,
		.hidden = flags & TACHO_COMMAND_HIDDEN,
	};
	memcpy(info->event, c->event, sizeof(info->event) - 1);
	memcpy(info->text, c->text, sizeof(info->text) - 1);
	return true;
}

static int by_serial(const void *a, const void *b)
{
	const struct tacho_command_info *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

int tacho_commands_each(const struct tacho_session *s,
			int (*fn)(const struct tacho_command_info *c, void *arg),
			void *arg)
{
	uint32_t n = tacho_view_nr_commands(&s->view), nr = 0;
	struct tacho_command_info *list = calloc(n + 1, sizeof(*list));
	int ret = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; list && i < n; i++)
		nr += copy_place(&s->view, i, &list[nr]);
	if (list)
		qsort(list, nr, sizeof(*list), by_serial);
	for (uint32_t i = 0; !ret && i < nr; i++)
		ret = fn(&list[i], arg);
	free(list);
	return ret;
}

/* ---- histograms ---- */

struct reading {
	struct tacho_order o;
	int (*fn)(const struct tacho_command_hist *h, void *arg);
	void *arg;
	bool all;
	int err;		/* why a map could not be read: no memory, no descriptor */
};

static int bind_open(struct tacho_compile *c, struct tacho_command *cmd,
		     const struct tacho_hist_spec *spec, struct tacho_hist *hist)
{
	struct tacho_histmap m = {
		.series = tacho_load_relaxed(&cmd->series),
		.type = spec->name ? 0 : tacho_hist_type_of(hist)->id,
	};
	struct reading *r = c->owner;	/* begins with the order */
	int err = tacho_histmap_open(c->view, &m);

	if (tacho_no_room_here(err))
		r->err = err;
	if (err)
		return err;
	err = tacho_hist_bind(hist, m.mem, m.size);
	if (err)
		tacho_shm_unmap(m.mem, m.size);
	return err;
}

/* The type of a map; for a map that several types share, any type of the command. */
static const struct tacho_type *map_type(struct reading *r, struct tacho_compile *c,
					 const struct tacho_command *cmd,
					 uint32_t id)
{
	const struct tacho_known *k = &r->o.known;
	const char *text;
	uint32_t len;

	text = id ? tacho_types_text(c->view, id, &len) : NULL;
	for (uint32_t i = 0; !id && i < k->nr; i++)
		if (tacho_glob_match(cmd->event, k->type[i].name))
			return tacho_compile_type(c, k->type[i].text,
						  k->type[i].len, 0);
	return text ? tacho_compile_type(c, text, len, id) : NULL;
}

/* Unmaps the maps of all histograms that were created. */
static void unmap_all(const struct tacho_compile *c)
{
	for (const struct tacho_made_hist *h = c->hists; h; h = h->next) {
		const struct tacho_map *map = tacho_hist_map(h->hist);

		if (map && map->head)
			tacho_shm_unmap(map->head,
				TACHO_ABI_PAGE_UP(tacho_map_bytes(&map->g)));
	}
}

/* Whether the map of this type is requested; a named histogram's map has several types. */
static bool is_requested(const struct reading *r, const struct tacho_type *type)
{
	char name[TACHO_RULE_MAX];

	if (!type)
		return false;
	return r->all || !type->id ||
	       (tacho_compile_name(type->system, type->name, name) &&
		tacho_glob_match(r->o.glob, name));
}

static int read_map(struct reading *r, struct tacho_command *cmd, uint32_t type_id)
{
	struct tacho_command_info info;
	struct tacho_command_hist h = { .command = &info };
	struct tacho_trigger_spec *spec;
	struct tacho_compile c;
	struct tacho_arena a;
	int ret = 0;

	tacho_arena_init(&a, (size_t)16 << 20);
	tacho_order_compile(&r->o, &c, &a);
	c.bind = bind_open;
	h.type = map_type(r, &c, cmd, type_id);
	spec = tacho_compile_trigger(&c, cmd);
	if (is_requested(r, h.type) && spec && spec->cmd == TACHO_TRIGGER_HIST)
		h.hist = tacho_compile_hist(&c, cmd, spec, h.type);
	if (h.hist && copy_place(&r->o.s->view,
				 (uint32_t)(cmd - r->o.s->view.commands->command),
				 &info))
		ret = r->fn(&h, r->arg);
	/* one that could not be read is not one that is not there */
	else if (r->err || c.no_memory)
		ret = r->err ? r->err : -ENOMEM;
	unmap_all(&c);
	tacho_arena_release(&a);
	return ret;
}

static int read_command(struct reading *r, struct tacho_command *cmd)
{
	DIR *list = opendir(r->o.s->path);
	struct tacho_histmap m;
	const struct dirent *e;
	int ret = list ? 0 : -errno;

	/* a directory that is gone has none */
	if (!list)
		return tacho_no_room_here(ret) ? ret : 0;
	while (!ret && (e = readdir(list)))
		if (tacho_histmap_parse(e->d_name, &m) && m.series == cmd->series)
			ret = read_map(r, cmd, m.type);
	closedir(list);
	return ret;
}

static int read_locked(struct reading *r)
{
	struct tacho_order *o = &r->o;
	uint32_t last = 0;
	int ret = 0;

	while (!ret) {
		struct tacho_command *next = NULL;

		/* in the order in which they were given */
		for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
			struct tacho_command *c =
				tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);

			if (c && c->serial > last &&
			    (!next || c->serial < next->serial))
				next = c;
		}
		if (!next)
			break;
		last = next->serial;
		if (r->all || tacho_glob_match(o->glob, next->event) ||
		    tacho_glob_match(next->event, o->glob))
			ret = read_command(r, next);
	}
	return ret;
}

int tacho_command_hists(struct tacho_session *s, const char *event,
			int (*fn)(const struct tacho_command_hist *h, void *arg),
			void *arg)
{
	struct reading r = { .fn = fn, .arg = arg, .all = !event };
	int err = tacho_order_begin(&r.o, s, event, "", NULL);

	if (!err)
		err = read_locked(&r);
	tacho_order_end(&r.o);
	return err;
}
