// SPDX-License-Identifier: MIT
/*
 * Types of kernel events: each is read when its first record comes.
 *
 * There are some 2,000 events and few of them happen, so that parsing the formats of all
 * that are enabled would be most of what the first read takes.  An event may also
 * have been disabled again since it was recorded, so what is enabled now does not tell.
 * What tells is the id: the names are looked up in one pass over the `id` files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "compat/ftrace/store_priv.h"
#include "sys/clock.h"

#define NAMES_MAX	((size_t)16 << 20)
#define FORMAT_MAX	((size_t)8 << 20)
#define NR_IDS		65536u
#define AGAIN_NS	TACHO_NS_PER_S	/* unknown ids are not looked up more often */

/* The number in an event's `id` file; NR_IDS: there is none. */
static uint32_t read_id(int dirfd, const struct tacho_kernel_event *e)
{
	char path[2 * TACHO_RULE_MAX + 16], text[16];
	uint64_t id = NR_IDS;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "events/%s/%s/id", e->system, e->name);
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NR_IDS;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return NR_IDS;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return tacho_parse_u64(text, 0, NR_IDS - 1, &id) ? NR_IDS : (uint32_t)id;
}

static void look(struct tree_store *s)
{
	const struct tacho_tracefs *t = &s->inst->tree->tracefs;
	struct tacho_kernel_event *list;
	size_t nr;

	tacho_arena_release(&s->ids.arena);
	tacho_arena_init(&s->ids.arena, NAMES_MAX);
	s->ids.event = NULL;
	s->ids.time = tacho_now_ns(CLOCK_MONOTONIC);
	s->ids.stale = false;
	if (tacho_tracefs_events(t, &s->ids.arena, &list, &nr, NULL))
		return;
	s->ids.event = tacho_arena_array(&s->ids.arena, NR_IDS, sizeof(*s->ids.event));
	for (size_t i = 0; s->ids.event && i < nr; i++) {
		uint32_t id = read_id(t->dirfd, &list[i]);

		if (id < NR_IDS)
			s->ids.event[id] = &list[i];
	}
}

/* The format of one event, from the kernel. */
static void load_named_type(struct tree_store *s, const char *system, const char *name)
{
	char path[2 * TACHO_RULE_MAX + 16];
	struct tacho_buf b;

	(void)snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	tacho_buf_init(&b, FORMAT_MAX);
	if (!tacho_buf_read_fileat(&b, s->inst->tree->tracefs.dirfd, path))
		(void)tacho_ktypes_add(&s->types, system, tacho_buf_str(&b), b.len,
				       NULL);
	tacho_buf_release(&b);
}

void tree_store_load_type(struct tree_store *s, uint32_t id)
{
	const struct tacho_kernel_event *e = NULL;

	for (int tries = 0; tries < 2; tries++) {
		if (s->ids.event && id < NR_IDS)
			e = s->ids.event[id];
		if (e || (!s->ids.stale && s->ids.time &&
			  tacho_now_ns(CLOCK_MONOTONIC) - s->ids.time < AGAIN_NS))
			break;
		look(s);
	}
	if (!e)
		return;
	load_named_type(s, e->system, e->name);
	s->ids.event[id] = NULL;	/* if it could not be parsed, it cannot be */
}

const struct tacho_type *tree_store_type(struct tree_store *s, const char *system,
					 const char *name)
{
	for (int tries = 0; tries < 2; tries++) {
		for (uint32_t i = 0; i < s->types.nr; i++) {
			const struct tacho_type *t = s->types.list[i].type;

			if (!strcmp(t->name, name) && !strcmp(t->system, system))
				return t;
		}
		load_named_type(s, system, name);
	}
	return NULL;
}
