// SPDX-License-Identifier: MIT
#include "columns/ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "app/find.h"
#include "columns/arrow.h"

/* A worker's own. */
struct worker {
	struct columns_reader reader;
	struct app_select select;
	struct columns_fill fill;
};

/* ---- units --------------------------------------------------------------------- */

static void unit_empty(struct columns_unit *u)
{
	for (; u->at < u->nr; u->at++)
		u->batch[u->at].release(&u->batch[u->at]);
	u->at = u->nr = 0;
}

/* Room for one more batch, or NULL. */
static struct ArrowArray *unit_room(struct columns_unit *u)
{
	if (u->nr == u->room) {
		uint32_t room = u->room ? 2 * u->room : 8;
		struct ArrowArray *list = reallocarray(u->batch, room, sizeof(*list));

		if (!list)
			return NULL;
		u->batch = list;
		u->room = room;
	}
	return &u->batch[u->nr];
}

static void clear(void *arg, void *unit)
{
	struct columns_unit *u = unit;

	(void)arg;
	unit_empty(u);
	free(u->batch);
}

/* ---- workers ------------------------------------------------------------------- */

static int end(void *arg, void *own)
{
	struct worker *w = own;

	(void)arg;
	columns_fill_release(&w->fill);
	app_select_view_release(&w->select);
	free(w);
	return 0;
}

static void *begin(void *arg, struct tacho_stream *view)
{
	const struct columns_fill *of = ((struct columns_ahead *)arg)->fill;
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	columns_reader_init(&w->reader, view);
	if (app_select_view(&w->select, of->select, view)) {
		free(w);
		return NULL;
	}
	if (!columns_fill_init(&w->fill, of->layout, &w->reader, &w->select, of->pids,
			       of->table.rows_max))
		return w;
	(void)end(arg, w);
	return NULL;
}

/* Not 0: the slice is read again by the caller, who then says what is wrong. */
static int work(void *arg, void *own, struct tacho_stream *view, const struct tacho_piece *piece,
		void *unit)
{
	struct columns_fill *f = &((struct worker *)own)->fill;
	struct columns_unit *u = unit;
	struct tacho_diag d = { 0 };
	int ret;

	(void)arg;
	(void)view;
	(void)piece;
	unit_empty(u);
	columns_fill_again(f);
	while ((ret = columns_fill_batch(f, &d)) > 0) {
		struct ArrowArray *batch = unit_room(u);

		if (!batch || columns_export_batch(&f->table, batch))
			return -ENOMEM;
		u->nr++;
	}
	return ret ? ret : f->diag.err;
}

/* The unit goes on with the memory of the one before. */
static int take(void *arg, const struct tacho_piece *piece, void *unit)
{
	struct columns_ahead *a = arg;
	struct columns_unit *u = unit, before = a->unit;

	(void)piece;
	a->unit = *u;
	before.at = before.nr = 0;
	*u = before;
	return 0;
}

/* ---- handing out --------------------------------------------------------------- */

void columns_ahead_init(struct columns_ahead *a, struct columns_fill *fill)
{
	*a = (struct columns_ahead){ .fill = fill };
}

static void start(struct columns_ahead *a)
{
	const struct app_select *select = a->fill->select;
	const struct tacho_parallel p = {
		.arg = a, .begin = begin, .end = end, .work = work, .take = take, .clear = clear,
		.unit_size = sizeof(struct columns_unit),
		.from = select->from, .to = select->to,
	};

	a->begun = true;
	if (select->placed)
		(void)tacho_slices_begin(&a->slices, a->fill->reader->stream, &p);
}

static int stop(struct columns_ahead *a)
{
	int ret = a->slices ? tacho_slices_end(a->slices) : 0;

	a->slices = NULL;
	return ret < 0 ? ret : 0;
}

void columns_ahead_release(struct columns_ahead *a)
{
	(void)stop(a);
	clear(NULL, &a->unit);
}

int columns_ahead_next(struct columns_ahead *a, struct ArrowArray *out, struct tacho_diag *d)
{
	int err;

	if (!a->begun)
		start(a);
	/* a slice may have no rows */
	while (a->slices && a->unit.at == a->unit.nr)
		if (tacho_slices_take(a->slices) != 1)
			break;
	if (a->unit.at < a->unit.nr) {
		*out = a->unit.batch[a->unit.at++];
		return 1;
	}
	err = stop(a);
	return err ? app_stream_failed(a->fill->reader->stream, err, d) : 0;
}
