// SPDX-License-Identifier: MIT
#include "session/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/text.h"

#define TEXT_MAX	((size_t)1 << 30)	/* bytes of all texts */

static uint32_t *slot_of(const struct tacho_known *k, uint64_t hash,
			 const char *text, uint32_t len)
{
	uint32_t mask = 2 * k->room - 1;

	for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
		const struct tacho_known_type *t = &k->type[k->slot[i] - 1];

		if (!k->slot[i] || (t->hash == hash && t->len == len &&
				    !memcmp(t->text, text, len)))
			return &k->slot[i];
	}
}

/* Doubles the room, a power of two. */
static int grow(struct tacho_known *k)
{
	uint32_t room = k->room ? 2 * k->room : 64;
	struct tacho_known_type *type = reallocarray(k->type, room, sizeof(*type));

	if (!type)
		return -ENOMEM;
	k->type = type;
	free(k->slot);
	k->slot = calloc(2 * (size_t)room, sizeof(*k->slot));
	k->room = k->slot ? room : 0;
	if (!k->slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->nr; i++)
		*slot_of(k, type[i].hash, type[i].text, type[i].len) = i + 1;
	return 0;
}

static int add(struct tacho_known *k, const char *text, uint32_t len)
{
	/* shared memory: hashed and compared as it is now */
	const char *copy = tacho_arena_strndup(&k->arena, text, len);
	uint64_t hash = copy ? tacho_hash(copy, len, 0) : 0;
	struct tacho_known_type *t;
	uint32_t *slot;

	if (!copy || (k->nr == k->room && grow(k)))
		return -ENOMEM;
	slot = slot_of(k, hash, copy, len);
	if (*slot)
		return 0;
	t = &k->type[k->nr++];
	*slot = k->nr;
	t->text = copy;
	t->len = len;
	t->hash = hash;
	tacho_type_text_name(copy, len, t->name, sizeof(t->name));
	return 0;
}

static int add_process(struct tacho_procfile *p, void *arg)
{
	uint32_t n = tacho_procfile_nr_events(p);
	struct tacho_known *k = arg;
	const char *text;
	uint32_t len;
	bool gone;

	for (uint32_t i = 1; !k->err && i <= n; i++) {
		text = tacho_procfile_event(p, i, &len, &gone);
		if (text && !gone)
			k->err = add(k, text, len);
	}
	return k->err;
}

/* Whether a command generates the type of this text: a synthetic event or an event probe. */
static bool is_made(const char *text, uint32_t len)
{
	static const char system[] = "synthetic:";
	const char *nl = memchr(text, '\n', len);

	return (len >= sizeof(system) && !memcmp(text, system, sizeof(system) - 1)) ||
	       (nl && nl + 1 < text + len && nl[1] == '\n');
}

/* Whether a type is that of a synthetic event or event probe that no longer exists. */
static bool is_stale(const struct tacho_view *v, const char *text, uint32_t len,
		     uint32_t id)
{
	uint32_t n = tacho_view_nr_commands(v);

	if (!is_made(text, len))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct tacho_command *c = &v->commands->command[i];

		if (tacho_load_acquire(&c->state) == TACHO_COMMAND_LIVE &&	/* [command] */
		    (c->kind == TACHO_COMMAND_SYNTH || c->kind == TACHO_COMMAND_EPROBE) &&
		    c->series == id)
			return false;
	}
	return true;
}

static void begin(struct tacho_known *k)
{
	*k = (struct tacho_known){ .nr = 0 };
	tacho_arena_init(&k->arena, TEXT_MAX);
}

static int add_table(struct tacho_known *k, const struct tacho_view *v)
{
	const char *text;
	uint32_t len;

	for (uint32_t id = 1; !k->err && (text = tacho_types_text(v, id, &len)); id++)
		if (!is_stale(v, text, len, id))
			k->err = add(k, text, len);
	return k->err;
}

int tacho_known_load(struct tacho_known *k, struct tacho_session *s)
{
	int err;

	begin(k);
	err = tacho_procs_each(s->dir, add_process, k);
	/* programs that could not be read may have events */
	if (!k->err && tacho_no_room_here(err))
		k->err = err;
	return add_table(k, &s->view);
}

int tacho_known_load_table(struct tacho_known *k, struct tacho_session *s)
{
	begin(k);
	return add_table(k, &s->view);
}

void tacho_known_release(struct tacho_known *k)
{
	tacho_arena_release(&k->arena);
	free(k->type);
	free(k->slot);
	/* it may be released again by an owner whose next load did not begin */
	*k = (struct tacho_known){ .nr = 0 };
}

const struct tacho_known_type *tacho_known_find(const struct tacho_known *k,
						const char *name)
{
	for (uint32_t i = 0; i < k->nr; i++)
		if (!strcmp(k->type[i].name, name))
			return &k->type[i];
	return NULL;
}

bool tacho_known_any(const struct tacho_known *k, const char *glob)
{
	for (uint32_t i = 0; i < k->nr; i++)
		if (tacho_glob_match(glob, k->type[i].name))
			return true;
	return false;
}
