// SPDX-License-Identifier: MIT
#include "fmt/tracedat/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tacho/abi/record.h"

#define IDS		65536u
#define ARENA_MAX	((size_t)64 << 20)
#define TEXT_MAX	((size_t)1 << 30)

int tacho_dat_catalog_init(struct tacho_dat_catalog *c)
{
	*c = (struct tacho_dat_catalog){ .next = 1, .low = 1 };
	tacho_arena_init(&c->arena, ARENA_MAX);
	tacho_buf_init(&c->text, TEXT_MAX);
	c->used = calloc(IDS, sizeof(*c->used));
	for (int i = 0; i < 2; i++)
		c->former[i] = calloc(IDS, sizeof(*c->former[i]));
	return c->used && c->former[0] && c->former[1] ? 0 : -ENOMEM;
}

void tacho_dat_catalog_release(struct tacho_dat_catalog *c)
{
	tacho_arena_release(&c->arena);
	tacho_buf_release(&c->text);
	tacho_hashmap_release(&c->known);
	free(c->used);
	free(c->entry);
	for (int i = 0; i < 2; i++)
		free(c->former[i]);
}

/* ---- flat arrays --------------------------------------------------------------- */

/*
 * What the kernel's format says where it is not the rewritten one with the array at
 * its place: eight addresses of a stack that may have any number.
 */
static const struct {
	const char *name, *decl;
	uint32_t count;		/* of longs */
	const char *print_fmt;
} flats[] = {
	{ "print", "char buf[]", 0, "\"%ps: %s\", (void *)REC->ip, REC->buf" },
	{ "bprint", "u32 buf[]", 0, "\"%ps: %s\", (void *)REC->ip, REC->fmt" },
	{ "raw_data", "char buf[]", 0,
	  "\"id:%04x %08x\", REC->id, (int)REC->buf[0]" },
	{ "kernel_stack", "unsigned long caller[8]", 8,
	  "\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" "
	  "\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" "
	  "\"\\t=> %ps\\n\\t=> %ps\\n\", "
	  "(void *)REC->caller[0], (void *)REC->caller[1], "
	  "(void *)REC->caller[2], (void *)REC->caller[3], "
	  "(void *)REC->caller[4], (void *)REC->caller[5], "
	  "(void *)REC->caller[6], (void *)REC->caller[7]" },
};

static int write_flat(const struct tacho_dat_known *k, struct tacho_arena *arena,
		      struct tacho_buf *out)
{
	const struct tacho_type *t = k->type;
	struct tacho_type copy = *t;
	struct tacho_field *f;
	size_t len = strlen(k->flat.rest->elem) + strlen(k->flat.rest->name) + 4;
	struct tacho_buf decl;

	f = tacho_arena_array(arena, t->nr_fields, sizeof(*f));
	if (!f)
		return -ENOMEM;
	memcpy(f, t->fields, t->nr_fields * sizeof(*f));
	copy.fields = f;
	f += t->nr_fields - 1;
	tacho_buf_init(&decl, len + 1);
	tacho_buf_printf(&decl, "%s %s[]", k->flat.rest->elem, k->flat.rest->name);
	f->decl = tacho_arena_strndup(arena, tacho_buf_str(&decl), decl.len);
	tacho_buf_release(&decl);
	f->offset = k->flat.offset;
	f->size = 0;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(flats); i++)
		if (!strcmp(t->name, flats[i].name)) {
			f->decl = flats[i].decl;
			f->size = flats[i].count * k->flat.rest->elem_size;
			copy.print_fmt = flats[i].print_fmt;
		}
	if (!f->decl)
		return -ENOMEM;
	tacho_type_write(&copy, false, out);
	return 0;
}

/* ---- ids ------------------------------------------------------------------------- */

static uint32_t free_id(struct tacho_dat_catalog *c)
{
	while (c->next < IDS && c->used[c->next])
		c->next++;
	if (c->next < IDS)
		return c->next;
	while (c->low < IDS && c->used[c->low])
		c->low++;
	return c->low < IDS ? c->low : 0;
}

static uint32_t pick_id(struct tacho_dat_catalog *c, const struct tacho_type *t,
			uint32_t stream_id)
{
	uint32_t id = t->id;

	if (stream_id != TACHO_STREAM_KERNEL || !id || id >= IDS || c->used[id])
		id = free_id(c);
	else if (c->next <= id)
		c->next = id + 1;
	if (id)
		c->used[id] = true;
	return id;
}

/* ---- names ------------------------------------------------------------------------ */

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_';
}

/* Whether an event of another name has this one in the file. */
static bool is_taken(const struct tacho_dat_catalog *c, const char *system,
		     const char *name, const char *plain)
{
	for (size_t i = 0; i < c->nr_entries; i++)
		if (!strcmp(c->entry[i].plain, plain) && !strcmp(c->entry[i].system, system) &&
		    strcmp(c->entry[i].name, name))
			return true;
	return false;
}

/* The name as trace-cmd can read it; see own.h. */
static const char *plain_name(struct tacho_dat_catalog *c, const char *system,
			      const char *name)
{
	size_t len = strlen(name);
	char *plain = tacho_arena_alloc(&c->arena, len + 12);
	bool same = true;

	if (!plain)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		plain[i] = is_plain(name[i]) ? name[i] : '_';
		same &= plain[i] == name[i];
	}
	plain[len] = '\0';
	for (unsigned int n = 2; !same && is_taken(c, system, name, plain); n++)
		(void)snprintf(plain + len, 12, "_%u", n);
	return plain;
}

size_t tacho_dat_catalog_renamed(const struct tacho_dat_catalog *c, size_t max,
				 struct tacho_buf *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_entries; i++) {
		const struct tacho_dat_entry *e = &c->entry[i];

		if (!strcmp(e->name, e->plain))
			continue;
		if (nr++ < max)
			tacho_buf_printf(out, "%s'%s' is '%s'", out->len ? ", " : "", e->name,
					 e->plain);
	}
	if (nr > max)
		tacho_buf_puts(out, ", ...");
	return nr;
}

/* ---- entries ----------------------------------------------------------------------- */

static int append(struct tacho_dat_catalog *c, const struct tacho_type *t,
		  uint32_t id, uint32_t stream_id, const struct tacho_buf *body)
{
	const char *plain = plain_name(c, t->system, t->name);
	struct tacho_dat_entry *e;

	if (c->nr_entries == c->room_entries) {
		size_t room = c->room_entries ? c->room_entries * 2 : 256;

		e = reallocarray(c->entry, room, sizeof(*e));
		if (!e)
			return -ENOMEM;
		c->entry = e;
		c->room_entries = room;
	}
	e = &c->entry[c->nr_entries];
	*e = (struct tacho_dat_entry){ .text = c->text.len, .id = id, .plain = plain,
				       .program = stream_id == TACHO_STREAM_PROGRAM };
	e->system = tacho_arena_strndup(&c->arena, t->system, strlen(t->system));
	e->name = tacho_arena_strndup(&c->arena, t->name, strlen(t->name));
	if (!e->system || !e->name || !plain)
		return -ENOMEM;
	c->nr_entries++;
	tacho_buf_printf(&c->text, "name: %s\nID: %u\n", plain, id);
	tacho_buf_put(&c->text, body->data, body->len);
	e->len = c->text.len - e->text;
	return tacho_buf_error(&c->text);
}

static int enter(struct tacho_dat_catalog *c, struct tacho_dat_known *k,
		 uint32_t stream_id, struct tacho_diag *d)
{
	const struct tacho_type *t = k->type;
	struct tacho_dat_former *former = t->id < IDS ?
		&c->former[stream_id][t->id] : NULL;
	struct tacho_buf body;
	uint64_t hash;
	int err = 0;

	tacho_buf_init(&body, TEXT_MAX);
	if (stream_id == TACHO_STREAM_KERNEL && tacho_dat_flat_find(&k->flat, t))
		err = write_flat(k, &c->arena, &body);
	else
		tacho_type_write(t, false, &body);
	if (!err)
		err = tacho_buf_error(&body);
	hash = tacho_hash(t->system, strlen(t->system) + 1, 0);
	hash = tacho_hash(t->name, strlen(t->name) + 1, hash);
	hash = tacho_hash(body.data, body.len, hash) | 1;
	if (!err && former && former->hash == hash) {
		k->id = former->id;
	} else if (!err) {
		k->id = pick_id(c, t, stream_id);
		err = k->id ? append(c, t, k->id, stream_id, &body) : -ENOSPC;
		if (former)
			*former = (struct tacho_dat_former){ hash, k->id };
	}
	tacho_buf_release(&body);
	if (err == -ENOSPC)
		return tacho_diag(d, err, 0, "too many event types: a trace.dat has room for 65535");
	return err ? tacho_diag(d, err, 0, "out of memory") : 0;
}

/* ---- known types ----------------------------------------------------------------- */

const struct tacho_dat_known *
tacho_dat_catalog_get(struct tacho_dat_catalog *c, const struct tacho_type *type,
		      uint32_t stream_id, struct tacho_diag *d)
{
	struct tacho_dat_known *k = tacho_hashmap_get(&c->known, tacho_hashmap_key(type));

	if (tacho_likely(k))
		return k;
	k = tacho_arena_alloc(&c->arena, sizeof(*k));
	if (!k) {
		tacho_no_memory(d);
		return NULL;
	}
	k->type = type;
	if (enter(c, k, stream_id, d))
		return NULL;
	if (tacho_hashmap_set(&c->known, tacho_hashmap_key(type), k)) {
		tacho_no_memory(d);
		return NULL;
	}
	return k;
}

static int by_system(const void *a, const void *b)
{
	const struct tacho_dat_entry *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

void tacho_dat_catalog_sort(struct tacho_dat_catalog *c)
{
	if (c->nr_entries)
		qsort(c->entry, c->nr_entries, sizeof(*c->entry), by_system);
}
