// SPDX-License-Identifier: MIT
/* Items as rows: columns, the queue, values. */
#include "model/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX	((size_t)1 << 20)

/* ---- columns ----------------------------------------------------------------- */

#define INTERVAL	{ "time", MODEL_OF_TIME }, { "dur", MODEL_OF_DUR }, { "end", MODEL_OF_END }
#define WHERE \
	{ "cpu", MODEL_OF_CPU }, { "pid", MODEL_OF_PID }, { "tid", MODEL_OF_TID }, \
	{ "comm", MODEL_OF_COMM }
#define PLACE		{ "track", MODEL_OF_TRACK }, { "path", MODEL_OF_PATH }
#define MADE_BY \
	{ "begin_record", MODEL_OF_BEGIN_RECORD }, { "end_record", MODEL_OF_END_RECORD }, \
	{ "begin_unknown", MODEL_OF_BEGIN_UNKNOWN }, { "end_unknown", MODEL_OF_END_UNKNOWN }, \
	{ "uncertain", MODEL_OF_UNCERTAIN }

static const struct model_column slice_columns[] = {
	INTERVAL, WHERE, { "name", MODEL_OF_NAME }, { "category", MODEL_OF_CATEGORY },
	{ "depth", MODEL_OF_DEPTH }, PLACE, MADE_BY, { "from_track", MODEL_OF_FROM_TRACK },
	{ "to_track", MODEL_OF_TO_TRACK },
};

static const struct model_column state_columns[] = {
	INTERVAL, WHERE, { "state", MODEL_OF_NAME }, { "io", MODEL_OF_IO },
	{ "preempted", MODEL_OF_PREEMPTED }, { "waker_tid", MODEL_OF_TO_TID },
	{ "waker", MODEL_OF_TO }, { "by_irq", MODEL_OF_BY_IRQ }, PLACE, MADE_BY,
	{ "waker_track", MODEL_OF_TO_TRACK },
};

static const struct model_column counter_columns[] = {
	INTERVAL, { "cpu", MODEL_OF_CPU }, { "pid", MODEL_OF_PID }, { "name", MODEL_OF_NAME },
	{ "value", MODEL_OF_VALUE }, PLACE, { "record", MODEL_OF_BEGIN_RECORD },
};

static const struct model_column flow_columns[] = {
	INTERVAL, { "kind", MODEL_OF_CATEGORY },
	{ "from_cpu", MODEL_OF_CPU }, { "from_pid", MODEL_OF_PID },
	{ "from_tid", MODEL_OF_TID }, { "from_comm", MODEL_OF_COMM },
	{ "from_path", MODEL_OF_PATH },
	{ "to_cpu", MODEL_OF_TO_CPU }, { "to_pid", MODEL_OF_TO_PID },
	{ "to_tid", MODEL_OF_TO_TID }, { "to_comm", MODEL_OF_TO_COMM },
	{ "from_track", MODEL_OF_TRACK }, { "to_track", MODEL_OF_TO_TRACK },
	{ "from_record", MODEL_OF_BEGIN_RECORD }, { "to_record", MODEL_OF_END_RECORD },
};

static const struct model_column instant_columns[] = {
	{ "time", MODEL_OF_TIME }, WHERE, { "name", MODEL_OF_NAME },
	{ "category", MODEL_OF_CATEGORY }, PLACE, { "record", MODEL_OF_BEGIN_RECORD },
};

static const struct model_column gap_columns[] = {
	INTERVAL, { "cpu", MODEL_OF_CPU }, { "source", MODEL_OF_CATEGORY },
	{ "lost", MODEL_OF_LOST }, { "record", MODEL_OF_BEGIN_RECORD },
};

static const struct model_column track_columns[] = {
	{ "id", MODEL_OF_ID }, { "parent", MODEL_OF_PARENT }, { "kind", MODEL_OF_KIND },
	{ "number", MODEL_OF_NUMBER }, { "name", MODEL_OF_TRACK_NAME },
	{ "path", MODEL_OF_TRACK_PATH },
};

#define TABLE(name, columns)	{ name, columns, TACHO_ARRAY_SIZE(columns) }

static const struct {
	const char *name;
	const struct model_column *column;
	uint32_t nr;
} tables[MODEL_NR_ITEMS] = {
	[MODEL_ITEMS_SLICE] = TABLE("slice", slice_columns),
	[MODEL_ITEMS_STATE] = TABLE("thread_state", state_columns),
	[MODEL_ITEMS_COUNTER] = TABLE("counter", counter_columns),
	[MODEL_ITEMS_FLOW] = TABLE("flow", flow_columns),
	[MODEL_ITEMS_INSTANT] = TABLE("instant", instant_columns),
	[MODEL_ITEMS_GAP] = TABLE("gap", gap_columns),
	[MODEL_ITEMS_TRACK] = TABLE("track", track_columns),
};

const char *model_items_name(enum model_items_kind kind)
{
	return tables[kind].name;
}

bool model_items_find(const char *name, enum model_items_kind *kind)
{
	for (uint32_t i = 0; i < MODEL_NR_ITEMS; i++)
		if (!strcmp(tables[i].name, name)) {
			*kind = (enum model_items_kind)i;
			return true;
		}
	return false;
}

const struct model_column *model_items_columns(enum model_items_kind kind, uint32_t *nr)
{
	*nr = tables[kind].nr;
	return tables[kind].column;
}

enum model_type model_of_type(enum model_of of)
{
	switch ((int)of) {
	case MODEL_OF_TIME: case MODEL_OF_END:
		return MODEL_TYPE_TIME;
	case MODEL_OF_VALUE:
		return MODEL_TYPE_REAL;
	case MODEL_OF_BEGIN_UNKNOWN: case MODEL_OF_END_UNKNOWN: case MODEL_OF_UNCERTAIN:
	case MODEL_OF_IO: case MODEL_OF_PREEMPTED: case MODEL_OF_BY_IRQ:
		return MODEL_TYPE_FLAG;
	case MODEL_OF_COMM: case MODEL_OF_NAME: case MODEL_OF_CATEGORY: case MODEL_OF_PATH:
	case MODEL_OF_TO_COMM: case MODEL_OF_TO: case MODEL_OF_KIND:
		return MODEL_TYPE_NAME;
	case MODEL_OF_TRACK_NAME: case MODEL_OF_TRACK_PATH:
		return MODEL_TYPE_TEXT;
	default:
		return MODEL_TYPE_INT;
	}
}

bool model_of_nullable(enum model_of of)
{
	switch ((int)of) {
	case MODEL_OF_CPU: case MODEL_OF_PID: case MODEL_OF_TID: case MODEL_OF_COMM:
	case MODEL_OF_NAME: case MODEL_OF_CATEGORY: case MODEL_OF_BEGIN_RECORD:
	case MODEL_OF_END_RECORD: case MODEL_OF_FROM_TRACK:
	case MODEL_OF_TO_TRACK: case MODEL_OF_TO_CPU: case MODEL_OF_TO_PID: case MODEL_OF_TO_TID:
	case MODEL_OF_TO_COMM: case MODEL_OF_TO: case MODEL_OF_PARENT:
		return true;
	default:
		return false;
	}
}

/* ---- the queue --------------------------------------------------------------- */

void model_items_init(struct model_items *items, enum model_items_kind kind,
		      bool (*wanted)(void *arg, const struct model_item *item), void *arg)
{
	*items = (struct model_items){ .kind = kind, .wanted = wanted, .arg = arg };
	tacho_buf_init(&items->text, TEXT_MAX);
}

void model_items_release(struct model_items *items)
{
	model_tracks_release(&items->tracks);
	free(items->queue.list);
	free(items->held.list);
	tacho_buf_release(&items->text);
	items->queue = items->held = (struct model_item_list){ .list = NULL };
	items->serial = 0;
}

static int append(struct model_item_list *items, const struct model_item *it)
{
	if (items->nr == items->room) {
		size_t room = items->room ? 2 * items->room : 16;
		struct model_item *list = reallocarray(items->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		items->list = list;
		items->room = room;
	}
	items->list[items->nr++] = *it;
	return 0;
}

static int queue_wanted(struct model_items *items, const struct model_item *it)
{
	return items->wanted(items->arg, it) ? append(&items->queue, it) : 0;
}

static int queue(struct model_items *items, struct model_item *it)
{
	it->serial = items->serial++;
	return queue_wanted(items, it);
}

int model_items_add(struct model_items *items, const struct model_item *item)
{
	struct model_item own = *item;

	return queue(items, &own);
}

int model_items_end(struct model_items *items, uint64_t end)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < items->tracks.nr; i++) {
		struct model_track_row *t = &items->tracks.track[i];

		if (!t->held)
			continue;
		items->held.list[t->held - 1].end = end;
		err = queue_wanted(items, &items->held.list[t->held - 1]);
		t->held = 0;
	}
	items->held.nr = 0;
	return err;
}

/* ---- ops --------------------------------------------------------------------- */

static int on_track(void *arg, const struct model_track *t)
{
	struct model_items *items = arg;

	return model_tracks_keep(&items->tracks, t);
}

static int on_slice(void *arg, const struct model_slice *s)
{
	struct model_item it = {
		.time = s->begin, .end = s->end, .begin_record = s->begin_record,
		.end_record = s->end_record, .name = s->name, .category = s->category,
		.track = s->track, .depth = s->depth, .cpu = MODEL_NO_CPU,
		.thread = s->thread ? s->thread : s->track, .from = s->from, .to = s->to,
		.flags = s->flags,
	};

	return queue(arg, &it);
}

static int on_state(void *arg, const struct model_state *s)
{
	struct model_item it = {
		.time = s->begin, .end = s->end, .begin_record = s->begin_record,
		.end_record = s->end_record, .name = model_state_name(s->state),
		.track = s->track, .thread = s->track, .cpu = s->cpu, .to = s->waker,
		.flags = s->flags,
	};

	return queue(arg, &it);
}

static int on_counter(void *arg, const struct model_counter *v)
{
	struct model_items *items = arg;
	struct model_track_row *t = &items->tracks.track[v->track];
	struct model_item it = {
		.serial = items->serial++, .time = v->time, .begin_record = v->record,
		.end_record = MODEL_NO_RECORD,
		.name = t->name, .value = v->value, .track = v->track, .thread = v->track,
		.cpu = MODEL_NO_CPU,
	};
	struct model_item *held;
	int err;

	if (!t->held) {
		err = append(&items->held, &it);
		t->held = (uint32_t)items->held.nr;
		return err;
	}
	held = &items->held.list[t->held - 1];
	held->end = it.time;
	err = queue_wanted(items, held);
	*held = it;
	return err;
}

static int on_flow(void *arg, const struct model_flow *f)
{
	struct model_item it = {
		.time = f->from_time, .end = f->to_time, .begin_record = f->from_record,
		.end_record = f->to_record, .category = f->kind, .track = f->from,
		.thread = f->from, .to = f->to, .cpu = MODEL_NO_CPU,
	};

	return queue(arg, &it);
}

static int on_instant(void *arg, const struct model_instant *i)
{
	struct model_item it = {
		.time = i->time, .end = i->time, .begin_record = i->record, .name = i->name,
		.category = i->category, .track = i->track, .thread = i->track,
		.cpu = MODEL_NO_CPU,
	};

	return queue(arg, &it);
}

static int on_loss(void *arg, const struct model_loss *l)
{
	struct model_item it = {
		.time = l->begin, .end = l->end, .begin_record = l->record, .lost = l->count,
		.category = l->source == TACHO_STREAM_KERNEL ? "kernel" : "program",
		.cpu = l->cpu,
	};

	return queue(arg, &it);
}

void model_items_ops(enum model_items_kind kind, struct model_ops *ops)
{
	*ops = (struct model_ops){
		.track = on_track,
		.slice = kind == MODEL_ITEMS_SLICE ? on_slice : NULL,
		.state = kind == MODEL_ITEMS_STATE ? on_state : NULL,
		.counter = kind == MODEL_ITEMS_COUNTER ? on_counter : NULL,
		.flow = kind == MODEL_ITEMS_FLOW ? on_flow : NULL,
		.instant = kind == MODEL_ITEMS_INSTANT ? on_instant : NULL,
		.loss = kind == MODEL_ITEMS_GAP ? on_loss : NULL,
	};
}

/* ---- values ------------------------------------------------------------------ */

static void set_number(struct model_cell *cell, int64_t number)
{
	cell->kind = MODEL_CELL_INT;
	cell->number = number;
}

static void set_u64(struct model_cell *cell, uint64_t v)
{
	set_number(cell, v < INT64_MAX ? (int64_t)v : INT64_MAX);
}

/* NULL: nothing. */
static void set_text(struct model_cell *cell, const char *text)
{
	cell->kind = text ? MODEL_CELL_TEXT : MODEL_CELL_NONE;
	cell->text = text;
}

static void set_record(struct model_cell *cell, uint64_t record)
{
	if (record != MODEL_NO_RECORD)
		set_u64(cell, record);
}

static void set_track(struct model_cell *cell, uint32_t track)
{
	if (track)
		set_number(cell, track);
}

static void set_of(const struct model_items *items, struct model_cell *cell, uint32_t track,
		   enum model_track_kind kind)
{
	if (model_tracks_number(&items->tracks, track, kind, &cell->number))
		cell->kind = MODEL_CELL_INT;
}

static int set_path(struct model_items *items, struct model_cell *cell, uint32_t track)
{
	tacho_buf_reset(&items->text);
	model_tracks_path(&items->tracks, track, &items->text);
	/* its NUL may take memory, too */
	set_text(cell, tacho_buf_str(&items->text));
	return tacho_buf_error(&items->text) ? -ENOMEM : 0;
}

/* The other end: a thread by its name, anything else by its path. */
static int set_other(struct model_items *items, struct model_cell *cell, uint32_t track)
{
	const char *comm = model_tracks_comm(&items->tracks, track);

	if (track && !comm)
		return set_path(items, cell, track);
	set_text(cell, comm);
	return 0;
}

bool model_items_cpu(const struct model_items *items, const struct model_item *it, int64_t *cpu)
{
	*cpu = it->cpu;
	return it->cpu != MODEL_NO_CPU ||
	       model_tracks_number(&items->tracks, it->track, MODEL_CPU, cpu);
}

static void set_flag(struct model_cell *cell, const struct model_item *it, enum model_of of)
{
	static const uint32_t flags[] = { MODEL_BEGIN_UNKNOWN, MODEL_END_UNKNOWN,
		MODEL_UNCERTAIN, MODEL_IO, MODEL_PREEMPTED, MODEL_BY_IRQ };

	set_number(cell, !!(it->flags & flags[of - MODEL_OF_BEGIN_UNKNOWN]));
}

static int cell_of_other(struct model_items *items, const struct model_item *it,
			 enum model_of of, struct model_cell *cell)
{
	switch ((int)of) {
	case MODEL_OF_FROM_TRACK:
		set_track(cell, it->from);
		return 0;
	case MODEL_OF_TO_TRACK:
		set_track(cell, it->to);
		return 0;
	case MODEL_OF_TO_CPU:
		set_of(items, cell, it->to, MODEL_CPU);
		return 0;
	case MODEL_OF_TO_PID:
		set_of(items, cell, it->to, MODEL_PROCESS);
		return 0;
	case MODEL_OF_TO_TID:
		set_of(items, cell, it->to, MODEL_THREAD);
		return 0;
	case MODEL_OF_TO_COMM:
		set_text(cell, model_tracks_comm(&items->tracks, it->to));
		return 0;
	case MODEL_OF_TO:
		return set_other(items, cell, it->to);
	default:
		set_flag(cell, it, of);
		return 0;
	}
}

static int cell_of_place(struct model_items *items, const struct model_item *it,
			 enum model_of of, struct model_cell *cell)
{
	switch ((int)of) {
	case MODEL_OF_CPU:
		if (model_items_cpu(items, it, &cell->number))
			cell->kind = MODEL_CELL_INT;
		return 0;
	case MODEL_OF_PID:
		set_of(items, cell, it->thread, MODEL_PROCESS);
		return 0;
	case MODEL_OF_TID:
		set_of(items, cell, it->thread, MODEL_THREAD);
		return 0;
	case MODEL_OF_COMM:
		set_text(cell, model_tracks_comm(&items->tracks, it->thread));
		return 0;
	case MODEL_OF_TRACK:
		set_number(cell, it->track);
		return 0;
	case MODEL_OF_PATH:
		return set_path(items, cell, it->track);
	default:
		return cell_of_other(items, it, of, cell);
	}
}

int model_items_cell(struct model_items *items, const struct model_item *it, enum model_of of,
		     struct model_cell *cell)
{
	*cell = (struct model_cell){ .kind = MODEL_CELL_NONE };
	switch ((int)of) {
	case MODEL_OF_TIME:
		set_u64(cell, it->time);
		return 0;
	case MODEL_OF_DUR:
		set_u64(cell, it->end - it->time);
		return 0;
	case MODEL_OF_END:
		set_u64(cell, it->end);
		return 0;
	case MODEL_OF_NAME:
		set_text(cell, it->name);
		return 0;
	case MODEL_OF_CATEGORY:
		set_text(cell, it->category);
		return 0;
	case MODEL_OF_DEPTH:
		set_number(cell, it->depth);
		return 0;
	case MODEL_OF_VALUE:
		cell->kind = MODEL_CELL_REAL;
		cell->real = it->value;
		return 0;
	case MODEL_OF_LOST:
		set_u64(cell, it->lost);
		return 0;
	case MODEL_OF_BEGIN_RECORD:
		set_record(cell, it->begin_record);
		return 0;
	case MODEL_OF_END_RECORD:
		set_record(cell, it->end_record);
		return 0;
	default:
		return cell_of_place(items, it, of, cell);
	}
}
