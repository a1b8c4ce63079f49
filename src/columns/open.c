// SPDX-License-Identifier: MIT
/* <tacho/columns.h>: events of a trace as an Arrow C stream. */
#include "columns/open.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sized.h"
#include "columns/ahead.h"
#include "columns/arrow.h"
#include "columns/columns.h"
#include "columns/fill.h"
#include "columns/layout.h"
#include "tacho/columns.h"

/* The last member of version 1.0 ends here. */
#define CONFIG_SIZE_1_0	(offsetof(struct tacho_columns_config, threads) + sizeof(uint32_t))

#define FLAGS	(TACHO_COLUMNS_NO_DICTIONARY | TACHO_COLUMNS_DICTIONARY | TACHO_COLUMNS_TIME_UTC | \
		 TACHO_COLUMNS_TIME_INT64 | TACHO_COLUMNS_UNORDERED | TACHO_COLUMNS_STRICT)

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

/* All but the stream, which is the caller's while opening may fail. */
static void events_free(struct events *e)
{
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

static void events_release(void *arg)
{
	struct events *e = arg;
	struct tacho_stream *stream = e->stream;

	events_free(e);
	tacho_stream_close(stream);
}

/* ---- the configuration --------------------------------------------------------- */

static int get_config(struct tacho_columns_config *to, const struct tacho_columns_config *from,
		      struct tacho_diag *d)
{
	int err = 0;

	if (!from)
		tacho_columns_config_init(to);
	else
		err = tacho_sized_get(to, sizeof(*to), from, CONFIG_SIZE_1_0);
	if (err == -E2BIG)
		return tacho_diag(d, err, 0, "the configuration has a member that this library "
				  "does not know");
	if (err)
		return tacho_diag(d, err, 0, "struct_size %u is too small for a struct "
				  "tacho_columns_config", from->struct_size);
	if (to->flags & ~(uint32_t)FLAGS)
		return tacho_diag(d, -EINVAL, 0, "flags 0x%x has a flag that is not known",
				  to->flags);
	if (to->batch_rows > COLUMNS_ROWS_MAX)
		return tacho_diag(d, -EINVAL, 0, "batch_rows is more than %u", COLUMNS_ROWS_MAX);
	if (!to->batch_rows)
		to->batch_rows = COLUMNS_ROWS;
	if (to->end && to->begin > to->end)
		return tacho_diag(d, -EINVAL, 0, "the time range ends before it begins");
	return 0;
}

/* One text of the configuration, if it is there; d begins with the member's name. */
static int select_text(struct app_select *s, const char *member, const char *text,
		       int (*set)(struct app_select *s, const char *arg, struct tacho_diag *d),
		       struct tacho_diag *d)
{
	struct tacho_diag own = { 0 };
	int err = text ? set(s, text, &own) : 0;

	return err ? tacho_diag(d, err, own.offset, "%s: %s", member, own.text) : 0;
}

static int select_rows(struct events *e, const struct tacho_columns_config *c,
		       struct tacho_diag *d)
{
	int err;

	err = select_text(&e->select, "events", c->events, app_select_events, d);
	if (!err)
		err = select_text(&e->select, "tids", c->tids, app_select_pids, d);
	if (!err)
		err = select_text(&e->processes, "pids", c->pids, app_select_pids, d);
	if (!err)
		err = select_text(&e->select, "comms", c->comms, app_select_comms, d);
	if (!err)
		err = select_text(&e->select, "cpus", c->cpus, app_select_cpus, d);
	if (!err)
		err = select_text(&e->select, "source", c->source, app_select_source, d);
	for (uint32_t i = 0; !err && i < c->nr_filters; i++)
		err = select_text(&e->select, "filters", c->filters[i], app_select_filter, d);
	if (c->begin)
		e->select.begin = (struct app_moment){ '@', c->begin };
	if (c->end)
		e->select.end = (struct app_moment){ '@', c->end };
	return err;
}

/* ---- opening ------------------------------------------------------------------- */

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

static int open_stream(struct ArrowArrayStream *out, struct tacho_stream *stream,
		       const struct tacho_columns_config *config, struct tacho_diag *d)
{
	struct events *e = calloc(1, sizeof(*e));
	struct columns_rows rows;
	int err;

	if (!e)
		return tacho_no_memory(d);
	e->stream = stream;
	app_select_init(&e->select);
	app_select_init(&e->processes);
	err = events_open(e, config, d);
	rows = (struct columns_rows){ .table = &e->fill.table, .arg = e, .next = events_next,
				      .release = events_release };
	if (!err && columns_stream_new(out, &rows))
		err = tacho_no_memory(d);
	if (err)
		events_free(e);
	return err;
}

int tacho_columns_open_stream(struct ArrowArrayStream *out, struct tacho_stream *stream,
			      const struct tacho_columns_config *config,
			      struct tacho_error *error)
{
	struct tacho_columns_config own;
	struct tacho_diag d = { 0 };

	*out = (struct ArrowArrayStream){ .release = NULL };
	if (!get_config(&own, config, &d))
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
	if (get_config(&own, config, &d))
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
