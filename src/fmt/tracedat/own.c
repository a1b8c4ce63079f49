// SPDX-License-Identifier: MIT
#include "fmt/tracedat/own.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD	"tacho 1\n"
#define LINE	512u		/* the longest that is read, name and all */
#define TASKS_MAX	((size_t)1 << 20)

void tacho_dat_own_begin(const struct tacho_clock_map *map, struct tacho_buf *out)
{
	tacho_buf_printf(out, HEAD "clock %" PRIu64 " %" PRIu64 "\n", map->freq, map->base);
}

void tacho_dat_own_put(uint32_t id, bool program, const char *name,
		       struct tacho_buf *out)
{
	tacho_buf_printf(out, "event %" PRIu32 " %s %s\n", id,
			 program ? "program" : "kernel", name);
}

void tacho_dat_own_put_task(int32_t tid, int32_t pid, struct tacho_buf *out)
{
	tacho_buf_printf(out, "task %" PRId32 " %" PRId32 "\n", tid, pid);
}

static int add_task(struct tacho_dat_own *own, int64_t tid, int64_t pid)
{
	if (tid <= 0 || tid > INT32_MAX || pid <= 0 || pid > INT32_MAX ||
	    own->nr_tasks == TASKS_MAX)
		return 0;
	if (own->nr_tasks == own->room_tasks) {
		size_t room = own->room_tasks ? 2 * own->room_tasks : 64;
		struct tacho_dat_own_task *t = reallocarray(own->task, room, sizeof(*t));

		if (!t)
			return -ENOMEM;
		own->task = t;
		own->room_tasks = room;
	}
	own->task[own->nr_tasks++] = (struct tacho_dat_own_task){ (int32_t)tid, (int32_t)pid };
	return 0;
}

void tacho_dat_own_take_tasks(struct tacho_dat_own *own, struct tacho_facts *facts)
{
	for (size_t i = 0; facts && i < own->nr_tasks; i++)
		tacho_facts_set_tgid(facts, own->task[i].tid, own->task[i].pid);
	free(own->task);
	own->task = NULL;
	own->nr_tasks = own->room_tasks = 0;
}

static int take_event(struct tacho_dat_own *own, const char *line,
		      struct tacho_arena *arena)
{
	char kind[16];
	uint32_t id;
	int at = 0;

	if (sscanf(line, "event %" SCNu32 " %15s %n", &id, kind, &at) != 2 || !at ||
	    !line[at] || id > UINT16_MAX)
		return 0;
	if (!own->event)
		own->event = tacho_arena_array(arena, UINT16_MAX + 1, sizeof(*own->event));
	if (!own->event)
		return -ENOMEM;
	own->event[id].program = !strcmp(kind, "program");
	own->event[id].name = tacho_arena_strndup(arena, line + at, strlen(line + at));
	return own->event[id].name ? 0 : -ENOMEM;
}

static int take_line(struct tacho_dat_own *own, const char *line,
		     struct tacho_arena *arena)
{
	uint64_t freq, base;
	int64_t tid, pid;

	if (sscanf(line, "task %10" SCNd64 " %10" SCNd64, &tid, &pid) == 2)
		return add_task(own, tid, pid);
	if (sscanf(line, "clock %" SCNu64 " %" SCNu64, &freq, &base) == 2 && freq) {
		own->has_clock = true;
		own->freq = freq;
		own->base = base;
		return 0;
	}
	return take_event(own, line, arena);
}

int tacho_dat_own_parse(struct tacho_dat_own *own, const char *text, size_t len,
			struct tacho_arena *arena)
{
	size_t at = sizeof(HEAD) - 1;
	int err = 0;

	if (len < at || memcmp(text, HEAD, at) != 0)
		return 0;
	while (at < len && !err) {
		const char *nl = memchr(text + at, '\n', len - at);
		size_t n = nl ? (size_t)(nl - text) - at : len - at;
		char line[LINE];

		if (n < sizeof(line)) {
			memcpy(line, text + at, n);
			line[n] = '\0';
			err = take_line(own, line, arena);
		}
		at += n + 1;
	}
	return err;
}
