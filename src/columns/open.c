// SPDX-License-Identifier: MIT
/* <tacho/columns.h>: events of a trace as an Arrow C stream. */
#include "columns/open.h"

#include <errno.h>
#include <stdlib.h>

#include "columns/ahead.h"
#include "columns/arrow.h"
#include "columns/config.h"
#include "columns/fill.h"
#include "columns/items.h"
#include "columns/layout.h"
#include "tacho/columns.h"

/* All of one Arrow stream. */
struct events {
	struct tacho_stream *stream;
	struct app_select select;
	struct app_select processes;	/* its pids are of processes */
	struct columns_layout layout;
	struct columns_reader reader;
	struct columns_fill fill;
	struct columns_ahead ahead;
};

uint32_t tacho_columns_version(void)
{
	return TACHO_COLUMNS_VERSION;
}

static void events_free(void *arg)
{
	struct events *e = arg;

	columns_ahead_release(&e->ahead);
	columns_fill_release(&e->fill);
	columns_layout_release(&e->layout);
	app_select_release(&e->select);
	app_select_release(&e->processes);
	free(e);
}

static int events_next(void *arg, struct ArrowArray *out, struct tacho_diag *d)
{
	struct events *e = arg;
	int ret = columns_ahead_next(&e->ahead, out, d);

	if (ret)
		return ret;
	ret = columns_fill_batch(&e->fill, d);
	return ret > 0 ? columns_put_batch(&e->fill.table, out, d) : ret;
}

/* ---- opening ------------------------------------------------------------------- */

static int select_rows(struct events *e, const struct tacho_columns_config *c,
		       struct tacho_diag *d)
{
	int err;

	err = columns_config_select(&e->select, "events", c->events, app_select_events, d);
	if (!err)
		err = columns_config_select(&e->select, "tids", c->tids, app_select_pids, d);
	if (!err)
		err = columns_config_select(&e->processes, "pids", c->pids, app_select_pids, d);
	if (!err)
		err = columns_config_select(&e->select, "comms", c->comms, app_select_comms, d);
	if (!err)
		err = columns_config_select(&e->select, "cpus", c->cpus, app_select_cpus, d);
	if (!err)
		err = columns_config_select(&e->select, "source", c->source, app_select_source, d);
	for (uint32_t i = 0; !err && i < c->nr_filters; i++)
		err = columns_config_select(&e->select, "filters", c->filters[i], app_select_filter, d);
	if (c->begin)
		e->select.begin = (struct app_moment){ '@', c->begin };
	if (c->end)
		e->select.end = (struct app_moment){ '@', c->end };
	return err;
}

static int make_layout(struct events *e, const struct tacho_columns_config *c,
		       struct tacho_diag *d)
{
	const struct tacho_type *type;
	int err = columns_layout_init(&e->layout, c->flags);

	for (uint32_t i = 0; !err && (type = tacho_stream_type(e->stream, i)); i++)
		if (app_select_has_type(&e->select, type))
			err = columns_layout_add_type(&e->layout, type);
	if (err)
		return tacho_no_memory(d);
	err = tacho_stream_check(e->stream);
	if (err)
		return tacho_diag(d, err, 0, "%s", tacho_stream_error(e->stream)->text);
	return columns_layout_end(&e->layout, c->columns, c->nr_columns, d);
}

static int events_open(struct events *e, const struct tacho_columns_config *c,
		       struct tacho_diag *d)
{
	int err = select_rows(e, c, d);

	if (!err)
		err = make_layout(e, c, d);
	if (!err)
		err = app_select_open(&e->select, e->stream, d);
	if (err)
		return err;
	columns_reader_init(&e->reader, e->stream);
	err = columns_fill_init(&e->fill, &e->layout, &e->reader, &e->select, &e->processes.pids,
				c->batch_rows);
	if (err)
		return tacho_no_memory(d);
	columns_ahead_init(&e->ahead, &e->fill);
	tacho_stream_set_threads(e->stream, c->threads);
	return 0;
}

/* 0 and *rows, whose stream is the caller's; or a negative errno with d filled in. */
static int events_rows(struct columns_rows *rows, struct tacho_stream *stream,
		       const struct tacho_columns_config *config, struct tacho_diag *d)
{
	struct events *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return tacho_no_memory(d);
	e->stream = stream;
	app_select_init(&e->select);
	app_select_init(&e->processes);
	err = events_open(e, config, d);
	*rows = (struct columns_rows){ .table = &e->fill.table, .arg = e, .next = events_next,
				       .free = events_free };
	if (err)
		events_free(e);
	return err;
}

static int open_stream(struct ArrowArrayStream *out, struct tacho_stream *stream,
		       const struct tacho_columns_config *config, struct tacho_diag *d)
{
	struct columns_rows rows;
	int err;

	err = config->table ? columns_items_rows(&rows, stream, config, d) :
			      events_rows(&rows, stream, config, d);
	if (!err && columns_stream_new(out, &rows, stream)) {
		rows.free(rows.arg);
		err = tacho_no_memory(d);
	}
	return err;
}

int tacho_columns_open_stream(struct ArrowArrayStream *out, struct tacho_stream *stream,
			      const struct tacho_columns_config *config,
			      struct tacho_error *error)
{
	struct tacho_columns_config own;
	struct tacho_diag d = { 0 };

	*out = (struct ArrowArrayStream){ .release = NULL };
	if (!columns_config_get(&own, config, &d))
		(void)open_stream(out, stream, &own, &d);
	return tacho_error_from(d.err ? error : NULL, &d);
}

/* Threads read in the order of time, and faster than one does without. */
static unsigned int stream_flags(uint32_t flags, uint32_t threads)
{
	bool unordered = flags & TACHO_COLUMNS_UNORDERED && threads < 2;

	return (unordered ? TACHO_STREAM_UNORDERED : 0u) |
	       (flags & TACHO_COLUMNS_STRICT ? TACHO_STREAM_STRICT : 0u);
}

int tacho_columns_open(struct ArrowArrayStream *out, const char *path,
		       const struct tacho_columns_config *config, struct tacho_error *error)
{
	struct tacho_columns_config own;
	struct tacho_stream *stream;
	struct tacho_diag d = { 0 };
	int err;

	*out = (struct ArrowArrayStream){ .release = NULL };
	if (columns_config_get(&own, config, &d))
		return tacho_error_from(error, &d);
	err = tacho_stream_open(&stream, path, stream_flags(own.flags, own.threads), error);
	if (err)
		return err;
	if (open_stream(out, stream, &own, &d)) {
		tacho_stream_close(stream);
		return tacho_error_from(error, &d);
	}
	return 0;
}
