// SPDX-License-Identifier: MIT
/* The blocks of session/objects.h: reading them, and an address's place in a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/text.h"
#include "resolve/priv.h"

/* Caps against hostile text; 64 MiB of it have a million lines. */
#define MAPS_MAX	((size_t)1 << 21)
#define BLOCKS_MAX	((size_t)1 << 22)
#define GENERATIONS_MAX	1000u

/* ---- lines ---- */

struct line {
	const char *at, *end;
};

/* A number up to a blank or the end of the line. */
static bool take_number(struct line *l, unsigned int base, uint64_t *v)
{
	if (tacho_scan_digits(&l->at, l->end, base, UINT64_MAX, v) ||
	    (l->at < l->end && *l->at != ' '))
		return false;
	l->at += l->at < l->end;
	return true;
}

static bool take_word(struct line *l, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(l->end - l->at) <= n || memcmp(l->at, word, n) ||
	    l->at[n] != ' ')
		return false;
	l->at += n + 1;
	return true;
}

/* ---- the table ---- */

static bool is_text(const char *s, const char *text, size_t len)
{
	return !strncmp(s, text, len) && !s[len];
}

/* The object of an id and a path, created if necessary; NULL without memory. */
static struct resolve_object *find_object(struct tacho_resolver *r,
					  const char *id, size_t id_len,
					  const char *path, size_t path_len)
{
	uint64_t h = tacho_hash(id, id_len, tacho_hash(path, path_len, 0));
	struct resolve_object **head = &r->head[h >> 32 & (RESOLVE_HEADS - 1)];
	struct resolve_object *o;

	for (o = *head; o; o = o->next)
		if (is_text(o->id, id, id_len) && is_text(o->path, path, path_len))
			return o;
	o = tacho_arena_alloc(&r->arena, sizeof(*o));
	if (!o)
		return NULL;
	*o = (struct resolve_object){
		.next = *head,
		.id = tacho_arena_strndup(&r->arena, id, id_len),
		.path = tacho_arena_strndup(&r->arena, path, path_len),
	};
	if (!o->id || !o->path)
		return NULL;
	*head = o;
	return o;
}

/* Room for one more in an array; false without memory. */
static bool grow(void **list, size_t nr, size_t *room, size_t max, size_t size)
{
	size_t want = *room ? *room * 2 : 256;
	void *more;

	if (nr < *room)
		return true;
	more = want > max ? NULL : reallocarray(*list, want, size);
	if (!more)
		return false;
	*list = more;
	*room = want;
	return true;
}

static int add_map(struct tacho_resolver *r, struct line *l)
{
	struct resolve_map m = { .object = NULL };
	const char *blank;
	void *list = r->map;

	if (!take_number(l, 16, &m.start) || !take_number(l, 16, &m.end) ||
	    !take_number(l, 16, &m.offset) || m.start >= m.end)
		return 0;
	blank = memchr(l->at, ' ', (size_t)(l->end - l->at));
	if (!blank || blank == l->at || l->end - blank < 2 || blank[1] != '/' ||
	    memchr(l->at, '\0', (size_t)(l->end - l->at)))
		return 0;
	m.object = find_object(r, l->at, (size_t)(blank - l->at), blank + 1,
			       (size_t)(l->end - blank - 1));
	if (!m.object ||
	    !grow(&list, r->nr_maps, &r->room_maps, MAPS_MAX, sizeof(m)))
		return -ENOMEM;
	r->map = list;
	r->map[r->nr_maps++] = m;
	return 0;
}

static int add_block(struct tacho_resolver *r, int32_t pid, int32_t parent,
		     uint64_t ticks)
{
	void *list = r->block;

	if (!grow(&list, r->nr_blocks, &r->room_blocks, BLOCKS_MAX,
		  sizeof(*r->block)))
		return -ENOMEM;
	r->block = list;
	r->block[r->nr_blocks] = (struct resolve_block){
		.pid = pid, .order = (uint32_t)r->nr_blocks, .ticks = ticks,
		.parent = parent, .first = (uint32_t)r->nr_maps,
	};
	r->nr_blocks++;
	return 0;
}

/* One line; *open: a block has begun and not ended. */
static int add_line(struct tacho_resolver *r, struct line l, bool *open)
{
	uint64_t pid, parent, ticks, nr;

	if (take_word(&l, "process")) {
		*open = false;
		if (!take_number(&l, 10, &pid) || !take_number(&l, 10, &ticks) ||
		    pid > INT32_MAX)
			return 0;
		*open = true;
		return add_block(r, (int32_t)pid, 0, ticks);
	}
	if (take_word(&l, "child")) {
		*open = false;
		if (!take_number(&l, 10, &pid) || !take_number(&l, 10, &parent) ||
		    !take_number(&l, 10, &ticks) || pid > INT32_MAX ||
		    parent > INT32_MAX)
			return 0;
		return add_block(r, (int32_t)pid, (int32_t)parent, ticks);
	}
	if (!*open)
		return 0;
	if (take_word(&l, "object"))
		return add_map(r, &l);
	if (take_word(&l, "end") && take_number(&l, 10, &nr)) {
		struct resolve_block *b = &r->block[r->nr_blocks - 1];

		*open = false;
		if (nr == r->nr_maps - b->first)
			b->nr = (uint32_t)nr;
	}
	return 0;
}

int tacho_resolver_add(struct tacho_resolver *r, const char *text, size_t len)
{
	const char *end = text + len;
	bool open = false;
	int err = 0;

	r->sorted = false;
	while (!err && text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		struct line l = { text, nl };

		if (!nl)
			break;
		if (take_word(&l, "now")) {
			if (!take_number(&l, 10, &r->known_until))
				r->known_until = 0;
		} else {
			err = add_line(r, l, &open);
		}
		text = nl + 1;
	}
	return err;
}

void tacho_resolver_clear(struct tacho_resolver *r)
{
	r->nr_blocks = r->nr_maps = 0;
	r->sorted = false;
}

/* ---- looking up ---- */

static int by_process(const void *a, const void *b)
{
	const struct resolve_block *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_start(const void *a, const void *b)
{
	const struct resolve_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct resolve_block *find_block(const struct tacho_resolver *r, int32_t pid,
					uint64_t ticks)
{
	size_t lo = 0, hi = r->nr_blocks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct resolve_block *b = &r->block[mid];

		if (b->pid < pid || (b->pid == pid && b->ticks <= ticks))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && r->block[lo - 1].pid == pid ? &r->block[lo - 1] : NULL;
}

/* Copies the mappings of its parent, which may be a child itself, to a child. */
static void inherit(const struct tacho_resolver *r, struct resolve_block *b,
		    uint32_t depth)
{
	struct resolve_block *from;

	if (!b->parent)
		return;
	from = find_block(r, b->parent, b->ticks);
	b->parent = 0;
	if (!from || from == b || depth > GENERATIONS_MAX)
		return;
	inherit(r, from, depth + 1);
	b->first = from->first;
	b->nr = from->nr;
}

void resolve_sort(struct tacho_resolver *r)
{
	if (r->sorted)
		return;
	memset(r->common, 0, RESOLVE_CACHE * sizeof(*r->common));
	for (size_t i = 0; i < r->nr_blocks; i++)
		if (r->block[i].nr)
			qsort(r->map + r->block[i].first, r->block[i].nr,
			      sizeof(*r->map), by_start);
	if (r->nr_blocks)
		qsort(r->block, r->nr_blocks, sizeof(*r->block), by_process);
	for (size_t i = 0; i < r->nr_blocks; i++)
		inherit(r, &r->block[i], 0);
	r->sorted = true;
}

const struct resolve_block *resolve_block_of(struct tacho_resolver *r, int32_t pid,
					     uint64_t ticks)
{
	resolve_sort(r);
	return find_block(r, pid, ticks);
}

static bool place_in(const struct tacho_resolver *r, const struct resolve_block *b,
		     uint64_t addr, struct resolve_place *place)
{
	const struct resolve_map *m = r->map + b->first;
	size_t lo = 0, hi = b->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= m[lo - 1].end)
		return false;
	m += lo - 1;
	*place = (struct resolve_place){ m->object, addr - m->start + m->offset };
	return true;
}

bool resolve_place(struct tacho_resolver *r, int32_t pid, uint64_t ticks,
		   uint64_t addr, struct resolve_place *place)
{
	const struct resolve_block *b = resolve_block_of(r, pid, ticks);

	return b && place_in(r, b, addr, place);
}

/* Whether two places are in the same file, whatever its path. */
static bool same_place(const struct resolve_place *a, const struct resolve_place *b)
{
	return a->offset == b->offset &&
	       (a->object == b->object || (a->object->id[0] == 'b' &&
					   !strcmp(a->object->id, b->object->id)));
}

/* Searches all processes; caches the result. */
static bool find_common(const struct tacho_resolver *r, uint64_t addr,
			struct resolve_place *place)
{
	struct resolve_place here;
	bool found = false;

	for (size_t i = 0; i < r->nr_blocks; i++) {
		if (!place_in(r, &r->block[i], addr, &here))
			continue;
		if (found && !same_place(place, &here))
			return false;
		*place = here;
		found = true;
	}
	return found;
}

bool resolve_place_any(struct tacho_resolver *r, uint64_t addr,
		       struct resolve_place *place)
{
	struct resolve_common *c =
		&r->common[addr * UINT64_C(0x9e3779b97f4a7c15) >> 52];

	resolve_sort(r);
	if (!c->known || c->addr != addr) {
		*c = (struct resolve_common){ .addr = addr, .known = true };
		c->found = find_common(r, addr, &c->place);
	}
	*place = c->place;
	return c->found;
}
