// SPDX-License-Identifier: MIT
/* Which events there are, their ids and their types. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/text.h"
#include "event/type.h"
#include "compat/ftrace/priv.h"
#include "session/known.h"
#include "sys/clock.h"

#define FRESH_NS	UINT64_C(500000000)	/* how long a list is as of now */
#define TYPES_MAX	((size_t)256 << 20)
#define TEXT_MAX	((size_t)16 << 20)
#define NR_TYPES	(65536u - TREE_ID_FIRST)

/*
 * The type of each program event that was ever seen in this tree, by number: id -
 * TREE_ID_FIRST.  One numbering for all instances: who reads an instance's pages has
 * the formats of the top.  Types are never freed before the tree.
 */
struct tree_types {
	pthread_mutex_t lock;		/* nothing is taken under it */
	struct tacho_arena arena;
	const struct tacho_type **type;
	uint64_t *hash;			/* of the type's format */
	uint32_t nr;
};

struct tree_catalog {
	uint32_t seq;			/* the tree's events_seq, when it was loaded */
	struct tacho_arena kernel_arena;
	struct tacho_kernel_event *kernel;
	size_t nr_kernel;
	struct tacho_buf kernel_text;	/* available_events as it was */
	struct tacho_arena own_arena;
	const char **own;		/* the kernel's types of system "ftrace" */
	size_t nr_own;

	struct tacho_known known;	/* texts of programs */
	bool has_known;
	struct tree_event *event;	/* sorted */
	size_t nr;
	uint64_t time;

	/* under types->lock */
	struct tree_types *types;
	const struct tacho_type **cache_from;	/* by id in the session */
	const struct tacho_type **cache_to;
};

struct tree_types *tree_types_new(void)
{
	struct tree_types *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	tacho_arena_init(&t->arena, TYPES_MAX);
	t->type = calloc(NR_TYPES, sizeof(*t->type));
	t->hash = calloc(NR_TYPES, sizeof(*t->hash));
	if (t->type && t->hash)
		return t;
	tree_types_free(t);
	return NULL;
}

void tree_types_free(struct tree_types *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	tacho_arena_release(&t->arena);
	free(t->type);
	free(t->hash);
	free(t);
}

static struct tree_catalog *catalog(struct tree_inst *inst)
{
	struct tree_catalog *c = inst->catalog;

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->cache_from = calloc(65536, sizeof(*c->cache_from));
	c->cache_to = calloc(65536, sizeof(*c->cache_to));
	if (!c->cache_from || !c->cache_to) {
		free(c->cache_from);
		free(c->cache_to);
		free(c);
		return NULL;
	}
	tacho_arena_init(&c->kernel_arena, TYPES_MAX);
	tacho_buf_init(&c->kernel_text, TEXT_MAX);
	tacho_arena_init(&c->own_arena, (size_t)1 << 20);
	c->types = inst->tree->types;
	inst->catalog = c;
	return c;
}

void tree_catalog_free(struct tree_catalog *c)
{
	if (!c)
		return;
	if (c->has_known)
		tacho_known_release(&c->known);
	tacho_arena_release(&c->kernel_arena);
	tacho_buf_release(&c->kernel_text);
	tacho_arena_release(&c->own_arena);
	free(c->own);
	free(c->event);
	free(c->cache_from);
	free(c->cache_to);
	free(c);
}

/* ---- types and ids ---- */

static uint64_t type_hash(const struct tacho_type *t)
{
	uint64_t h = tacho_hash(t->system, strlen(t->system), 1);

	h = tacho_hash(t->name, strlen(t->name), h);
	for (uint32_t i = t->nr_common; i < t->nr_fields; i++) {
		h = tacho_hash(t->fields[i].decl, strlen(t->fields[i].decl), h);
		h = h * 31 + t->fields[i].offset;
	}
	return t->print_fmt ? tacho_hash(t->print_fmt, strlen(t->print_fmt), h) : h;
}

/* Under lock: the type with these fields and the tree's id. */
static const struct tacho_type *intern(struct tree_types *c, const struct tacho_type *t)
{
	uint64_t h = type_hash(t);
	struct tacho_type *made;
	struct tacho_buf b;

	for (uint32_t i = 0; i < c->nr; i++)
		if (c->hash[i] == h)
			return c->type[i];
	if (c->nr == NR_TYPES)
		return NULL;
	tacho_buf_init(&b, (size_t)1 << 20);
	tacho_type_write(t, false, &b);
	made = tacho_type_parse(&c->arena, t->system, t->name,
				TREE_ID_FIRST + c->nr, tacho_buf_str(&b), b.len,
				NULL);
	tacho_buf_release(&b);
	if (!made)
		return NULL;
	c->hash[c->nr] = h;
	c->type[c->nr++] = made;
	return made;
}

const struct tacho_type *tree_type(struct tree_inst *inst, const struct tacho_type *t)
{
	struct tree_catalog *c = inst->catalog;
	const struct tacho_type *made;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->types->lock);
	if (t->id < 65536 && c->cache_from[t->id] == t) {
		made = c->cache_to[t->id];
	} else {
		made = intern(c->types, t);
		if (made && t->id < 65536) {
			c->cache_from[t->id] = t;
			c->cache_to[t->id] = made;
		}
	}
	pthread_mutex_unlock(&c->types->lock);
	return made;
}

/* The type of a program event of the list. */
static void give_type(struct tree_catalog *c, struct tree_event *e)
{
	const char *body = memchr(e->text, '\n', e->len);
	struct tacho_arena scratch;
	struct tacho_type *t;

	if (!body)
		return;
	body++;
	tacho_arena_init(&scratch, (size_t)4 << 20);
	t = tacho_type_parse(&scratch, e->system, e->name, 0, body,
			     e->len - (size_t)(body - e->text), NULL);
	if (t) {
		pthread_mutex_lock(&c->types->lock);
		e->type = intern(c->types, t);
		pthread_mutex_unlock(&c->types->lock);
	}
	tacho_arena_release(&scratch);
}

/* ---- the list ---- */

/* Whether the kernel has the events that it had. */
static bool is_same_text(struct tree_inst *inst, struct tree_catalog *c)
{
	struct tacho_buf b;
	bool same;

	tacho_buf_init(&b, TEXT_MAX);
	if (tacho_buf_read_fileat(&b, inst->tree->tracefs.dirfd, "available_events"))
		tacho_buf_reset(&b);
	same = c->kernel && b.len == c->kernel_text.len &&
	       !memcmp(b.data, c->kernel_text.data, b.len);
	tacho_buf_release(&c->kernel_text);
	c->kernel_text = b;
	return same;
}

/* Whether there are others than before. */
static bool load_kernel(struct tree_inst *inst, struct tree_catalog *c)
{
	struct tacho_arena arena;
	struct tacho_kernel_event *list;
	size_t nr;

	if (!tree_has_kernel(inst->tree) || is_same_text(inst, c))
		return false;
	tacho_arena_init(&arena, TYPES_MAX);
	if (tacho_tracefs_events(&inst->tree->tracefs, &arena, &list, &nr, NULL)) {
		tacho_arena_release(&arena);
		tacho_buf_reset(&c->kernel_text);	/* it is tried again */
		return false;
	}
	tacho_arena_release(&c->kernel_arena);
	c->kernel_arena = arena;
	c->kernel = list;
	c->nr_kernel = nr;
	return true;
}

static bool is_same_known(const struct tacho_known *a, const struct tacho_known *b)
{
	if (a->nr != b->nr)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (a->type[i].hash != b->type[i].hash || a->type[i].len != b->type[i].len)
			return false;
	return true;
}

/* "system:name": the colon becomes a NUL; the name is empty if there is none. */
static void split_name(struct tacho_known_type *k)
{
	char *colon = strchr(k->name, ':');

	if (colon)
		*colon = '\0';
	else
		*k->name = '\0';
}

/* 1: programs have other events than before, 0: the same, or a negative errno: not known. */
static int load_known(struct tree_inst *inst, struct tree_catalog *c)
{
	struct tacho_known known;
	int err = tacho_known_load(&known, &inst->session);

	if (err || (c->has_known && is_same_known(&known, &c->known))) {
		tacho_known_release(&known);
		return err;
	}
	if (c->has_known)
		tacho_known_release(&c->known);
	for (uint32_t i = 0; i < known.nr; i++)
		split_name(&known.type[i]);
	c->known = known;
	c->has_known = true;
	return 1;
}

/*
 * What the kernel's tracer records by itself: markers, stacks.  They are nowhere listed,
 * but have formats.
 */
static void load_own(struct tree_inst *inst, struct tree_catalog *c)
{
	struct dirent *e;
	const char **p;
	DIR *dir;
	int fd;

	if (c->nr_own || !tree_has_kernel(inst->tree))
		return;
	fd = openat(inst->tree->tracefs.dirfd, "events/" TREE_OWN,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name == '.' || e->d_type != DT_DIR)
			continue;
		p = reallocarray(c->own, c->nr_own + 1, sizeof(*p));
		if (!p)
			break;
		c->own = p;
		p[c->nr_own] = tacho_arena_strndup(&c->own_arena, e->d_name,
						   strlen(e->d_name));
		if (p[c->nr_own])
			c->nr_own++;
	}
	if (dir)
		(void)closedir(dir);
	else if (fd >= 0)
		(void)close(fd);
}

static int by_name(const void *va, const void *vb)
{
	const struct tree_event *a = va, *b = vb;
	int d = strcmp(a->system, b->system);

	if (!d)
		d = strcmp(a->name, b->name);
	/* of an event that both have, the kernel's comes first */
	return d ? d : (int)b->kernel - (int)a->kernel;
}

static struct tree_event *find(struct tree_catalog *c, const char *system,
			       const char *name)
{
	struct tree_event key = { .system = system, .name = name };
	size_t low = 0, high = c->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int d = strcmp(c->event[mid].system, key.system);

		if (!d)
			d = strcmp(c->event[mid].name, key.name);
		if (!d)
			return &c->event[mid];
		if (d < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* The events in a list of the kernel's, "p:GROUP/NAME ..." a line, are not fixed. */
static void loosen(struct tree_inst *inst, struct tree_catalog *c, const char *file)
{
	struct tacho_buf b;
	char *line, *save = NULL;

	tacho_buf_init(&b, TEXT_MAX);
	if (!tacho_buf_read_fileat(&b, inst->tree->tracefs.dirfd, file))
		line = strtok_r((char *)(uintptr_t)tacho_buf_str(&b), "\n", &save);
	else
		line = NULL;
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		char *group = strchr(line, ':'), *name = group ? strchr(group, '/') : NULL;
		struct tree_event *e;

		if (!name)
			continue;
		*name++ = '\0';
		name[strcspn(name, " ")] = '\0';
		e = find(c, group + 1, name);
		if (e)
			e->fixed = false;
	}
	tacho_buf_release(&b);
}

/* An event of a program, whose name split_name() had. */
static bool add_known(struct tree_event *e, const struct tacho_known_type *k)
{
	if (!*k->name)
		return false;
	*e = (struct tree_event){
		.system = k->name, .name = k->name + strlen(k->name) + 1,
		.text = k->text, .len = k->len,
		.synth = !strcmp(k->name, "synthetic"),
	};
	return true;
}

/* Sorted, each name once. */
static void sort(struct tree_catalog *c)
{
	size_t to = 0;

	qsort(c->event, c->nr, sizeof(*c->event), by_name);
	for (size_t i = 0; i < c->nr; i++) {
		struct tree_event *last = to ? &c->event[to - 1] : NULL;

		if (last && !strcmp(last->system, c->event[i].system) &&
		    !strcmp(last->name, c->event[i].name)) {
			if (!last->text) {
				last->text = c->event[i].text;
				last->len = c->event[i].len;
			}
			continue;
		}
		c->event[to++] = c->event[i];
	}
	c->nr = to;
}

static int make_list(struct tree_inst *inst, struct tree_catalog *c)
{
	struct tree_event *list;

	free(c->event);		/* it refers to what is not there any more */
	c->nr = 0;
	c->event = list = calloc(c->nr_kernel + c->nr_own + c->known.nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_kernel; i++)
		list[c->nr++] = (struct tree_event){
			.system = c->kernel[i].system, .name = c->kernel[i].name,
			.kernel = true, .fixed = true,
		};
	for (size_t i = 0; i < c->nr_own; i++)
		list[c->nr++] = (struct tree_event){
			.system = TREE_OWN, .name = c->own[i], .kernel = true, .fixed = true,
		};
	for (uint32_t i = 0; i < c->known.nr; i++)
		c->nr += add_known(&list[c->nr], &c->known.type[i]);
	sort(c);
	if (!faccessat(inst->tree->tracefs.dirfd, "dynamic_events", F_OK, 0)) {
		loosen(inst, c, "dynamic_events");
	} else {
		loosen(inst, c, "kprobe_events");
		loosen(inst, c, "uprobe_events");
	}
	return 0;
}

/* It refers to what is not there any more. */
static struct tree_event *drop_list(struct tree_catalog *c)
{
	free(c->event);
	c->nr = 0;
	return NULL;
}

static int load(struct tree_inst *inst, struct tree_catalog *c)
{
	bool kernel = load_kernel(inst, c);
	int known = load_known(inst, c);

	/* the list is of the kernel's events as they were */
	if (known < 0 && kernel)
		c->event = drop_list(c);
	if (known < 0)
		return known;
	c->seq = tacho_load_relaxed(&inst->tree->events_seq);
	load_own(inst, c);
	c->time = tacho_now_ns(CLOCK_MONOTONIC);
	return c->event && !kernel && !known ? 0 : make_list(inst, c);
}

/* Of programs' events only. */
static int load_programs(struct tree_inst *inst, struct tree_catalog *c)
{
	int known = load_known(inst, c);

	return known > 0 ? make_list(inst, c) : known;
}

const struct tree_event *tree_events(struct tree_inst *inst, bool fresh, size_t *nr)
{
	struct tree_catalog *c = catalog(inst);

	*nr = 0;
	if (!c)
		return NULL;
	if (fresh || !c->event ||
	    c->seq != tacho_load_relaxed(&inst->tree->events_seq) ||
	    tacho_now_ns(CLOCK_MONOTONIC) - c->time > FRESH_NS)
		if (load(inst, c))
			return NULL;
	*nr = c->nr;
	return c->event;
}

const struct tree_event *tree_event(struct tree_inst *inst, const char *system,
				    const char *name)
{
	struct tree_catalog *c = catalog(inst);
	struct tree_event *e;

	if (!c || (!c->event && load(inst, c)))
		return NULL;
	e = find(c, system, name);
	if (!e && (load(inst, c) || !(e = find(c, system, name))))
		return NULL;
	if (!e->kernel && !e->type && e->text)
		give_type(c, e);
	return e;
}

/* An event of the system, preferably a fixed one.  NULL: none. */
static const struct tree_event *any_of(struct tree_catalog *c, const char *system)
{
	const struct tree_event *any = NULL;
	size_t low = 0, high = c->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(c->event[mid].system, system) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < c->nr && !strcmp(c->event[low].system, system); low++) {
		any = &c->event[low];
		if (any->fixed)
			break;
	}
	return any;
}

/*
 * What is fixed is believed.  Of all else the list says what was there when it was made, so it
 * is made again.
 */
int tree_is_event(struct tree_inst *inst, const char *system, const char *name, bool *fixed)
{
	struct tree_catalog *c = catalog(inst);
	const struct tree_event *e = NULL;
	int err = 0;

	*fixed = false;
	if (!c)
		return -ENOMEM;
	if (!c->event)
		err = load(inst, c);
	if (err)
		return err;
	for (int tries = 0; tries < 2; tries++) {
		e = name ? find(c, system, name) : any_of(c, system);
		if (e && e->fixed)
			break;
		if (!tries)
			err = e && !e->kernel ? load_programs(inst, c) : load(inst, c);
		if (err)
			return err;
	}
	*fixed = e && e->fixed;
	return e != NULL;
}
