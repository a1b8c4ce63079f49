// SPDX-License-Identifier: MIT
#include "app/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/type.h"
#include "fmt/ctf/packets.h"

#define ARENA_MAX	((size_t)64 << 20)

/* ---- order ----------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct app_stat_event *x = a, *y = b;
	int d = strcmp(x->system, y->system);

	if (!d)
		d = strcmp(x->name, y->name);
	return d ? d : (int)x->kernel - (int)y->kernel;
}

static int by_count(const void *a, const void *b)
{
	const struct app_stat_event *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return by_name(a, b);
}

static int by_bytes(const void *a, const void *b)
{
	const struct app_stat_event *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_name(a, b);
}

/* The parts of a rotated trace count the same events: one entry for each. */
static void add_up(struct app_stat *st, enum app_stat_sort sort)
{
	size_t n = 0;

	if (st->nr_events)
		qsort(st->event, st->nr_events, sizeof(*st->event), by_name);
	for (size_t i = 0; i < st->nr_events; i++) {
		st->events += st->event[i].events;
		st->bytes += st->event[i].bytes;
		if (n && !by_name(&st->event[n - 1], &st->event[i])) {
			st->event[n - 1].events += st->event[i].events;
			st->event[n - 1].bytes += st->event[i].bytes;
		} else {
			st->event[n++] = st->event[i];
		}
	}
	st->nr_events = n;
	if (n && sort != APP_STAT_NAME)
		qsort(st->event, n, sizeof(*st->event),
		      sort == APP_STAT_COUNT ? by_count : by_bytes);
}

/* ---- counting -------------------------------------------------------------- */

/* Another system's trace: what its packets do not tell, its records do. */
static int read_span(struct app_stat *st, const char *path, unsigned int flags,
		     struct tacho_diag *d)
{
	struct tacho_record r;
	struct app_trace t;
	int status, err = app_trace_open(&t, path, flags | TACHO_STREAM_UNORDERED, d);

	if (err)
		return err;
	while ((status = tacho_stream_next(t.stream, &r)) == TACHO_STREAM_RECORD) {
		if (!st->info.begin || r.time < st->info.begin)
			st->info.begin = r.time;
		if (r.time > st->info.end)
			st->info.end = r.time;
		st->info.discarded += r.lost;
	}
	if (status == TACHO_STREAM_ERROR)
		err = app_stream_failed(t.stream, -EIO, d);
	app_trace_close(&t);
	return err;
}

static int take_counts(struct app_stat *st, const struct tacho_type_count *list, size_t nr,
		       struct tacho_diag *d)
{
	st->event = tacho_arena_array(&st->arena, nr + 1, sizeof(*st->event));
	if (!st->event)
		return tacho_no_memory(d);
	for (size_t i = 0; i < nr; i++)
		st->event[i] = (struct app_stat_event){
			.system = list[i].type->system, .name = list[i].type->name,
			.kernel = list[i].stream_id == TACHO_STREAM_KERNEL,
			.events = list[i].events, .bytes = list[i].bytes,
		};
	st->nr_events = nr;
	return 0;
}

static int count(struct app_stat *st, struct app_trace *trace, struct tacho_diag *d)
{
	struct tacho_stream *stream = trace->stream;
	struct tacho_type_count *list = NULL;
	size_t nr = 0;
	int err = tacho_stream_count(stream, &list, &nr);

	if (!err)
		err = tacho_stream_get_info(stream, &st->info);
	if (err && tacho_stream_error(stream)->err)
		err = app_stream_failed(stream, err, d);
	else if (err)
		err = tacho_diag(d, err, 0, "cannot read '%s': %s", trace->path, strerror(-err));
	else
		err = take_counts(st, list, nr, d);
	free(list);
	return err;
}

/* ---- loss by part ---------------------------------------------------------- */

static int add_loss(struct app_stat *st, size_t *room, const struct tacho_ctf_part *p,
		    uint32_t chunk)
{
	char name[96];

	if (st->nr_losses == *room) {
		size_t more = *room ? *room * 2 : 16;
		struct app_stat_loss *list = tacho_arena_array(&st->arena, more, sizeof(*list));

		if (!list)
			return -ENOMEM;
		if (*room)
			memcpy(list, st->loss, *room * sizeof(*list));
		st->loss = list;
		*room = more;
	}
	if (chunk)
		(void)snprintf(name, sizeof(name), "%s in chunk %u", p->name, chunk);
	else
		(void)snprintf(name, sizeof(name), "%s", p->name);
	st->loss[st->nr_losses] = (struct app_stat_loss){
		.part = tacho_arena_strndup(&st->arena, name, strlen(name)),
		.events = p->totals.discarded,
	};
	return st->loss[st->nr_losses++].part ? 0 : -ENOMEM;
}

/* Each file of a trace of ours whose writers lost records. */
static int list_losses(struct app_stat *st, const struct tacho_stream *stream)
{
	const struct tacho_source *source;
	bool chunks = tacho_stream_source(stream, 1);
	size_t room = 0;
	int err = 0;

	for (uint32_t i = 0; !err && (source = tacho_stream_source(stream, i)); i++) {
		if (source->ops->live || strcmp(source->ops->format, "tacho"))
			continue;
		for (uint32_t j = 0; !err && j < source->nr_parts; j++) {
			const struct tacho_ctf_part *p =
				(const struct tacho_ctf_part *)source->part[j];

			if (p->totals.discarded)
				err = add_loss(st, &room, p, chunks ? i + 1 : 0);
		}
	}
	return err;
}

int app_stat_get(struct app_stat *st, struct app_trace *trace, unsigned int flags,
		 enum app_stat_sort sort, struct tacho_diag *d)
{
	int err;

	*st = (struct app_stat){ .events = 0 };
	tacho_arena_init(&st->arena, ARENA_MAX);
	err = count(st, trace, d);
	if (!err)
		add_up(st, sort);
	if (!err && st->events && !st->info.begin)
		err = read_span(st, trace->path, flags, d);
	if (!err && list_losses(st, trace->stream))
		err = tacho_no_memory(d);
	if (err)
		tacho_arena_release(&st->arena);
	return err;
}

void app_stat_release(struct app_stat *st)
{
	tacho_arena_release(&st->arena);
}
