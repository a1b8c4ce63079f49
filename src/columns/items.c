// SPDX-License-Identifier: MIT
#include "columns/items.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "app/find.h"
#include "columns/arrow.h"
#include "columns/columns.h"
#include "columns/config.h"
#include "columns/plan.h"
#include "model/items.h"
#include "sys/clock.h"

#define VERDICTS	1024u

/* Whether a track's path is wanted, while no track gets another name. */
struct verdict {
	uint32_t track;		/* + 1; 0: none */
	bool wanted;
	uint64_t names;
};

/* A column of the table. */
struct column {
	enum model_of of;
	struct columns_cached *cached;	/* texts: COLUMNS_CACHED; else NULL */
};

struct rows {
	struct model_items items;	/* first: the arg of the ops */
	struct tacho_stream *stream;
	struct tacho_scope scope;
	struct model_rules *rules;
	struct model *model;
	struct model_ops ops;
	int (*keep_track)(void *arg, const struct model_track *track);
	struct app_select select;	/* threads, their names, CPUs */
	struct app_select processes;	/* its pids are of processes */
	struct app_select paths;	/* its comms are of paths */
	uint64_t begin, end, until;	/* ns since 1970, all included */
	struct columns_table table;
	struct column *column;
	uint32_t nr_columns;
	size_t mark;			/* items before it are of earlier records */
	uint64_t names;			/* how often a track got another name */
	uint32_t next_track;		/* table track: the first that was not queued */
	bool begun, ended;
	bool no_memory;			/* in wanted(), which cannot say so */
	struct tacho_diag diag;		/* why reading failed, after the rows so far */
	struct verdict verdict[VERDICTS];
};

/* ---- which items --------------------------------------------------------------- */

static bool path_wanted(struct rows *m, uint32_t track)
{
	struct verdict *v = &m->verdict[track % VERDICTS];
	struct tacho_buf *text = &m->items.text;

	if (v->track == track + 1 && v->names == m->names)
		return v->wanted;
	tacho_buf_reset(text);
	model_tracks_path(&m->items.tracks, track, text);
	*v = (struct verdict){ .track = track + 1, .names = m->names,
			       .wanted = app_globs_want(&m->paths.comms, tacho_buf_str(text)) };
	m->no_memory |= tacho_buf_error(text) != 0;
	return v->wanted;
}

/* An item that has no thread, process or CPU is not wanted where one is asked for. */
static bool thread_wanted(const struct rows *m, const struct model_item *it,
			  enum model_track_kind kind, const struct app_ranges *ranges)
{
	int64_t v = -1;

	if (!ranges->nr)
		return true;
	return model_tracks_number(&m->items.tracks, it->thread, kind, &v) && v >= 0 &&
	       app_ranges_have(ranges, (uint64_t)v);
}

static bool comm_wanted(const struct rows *m, const struct model_item *it)
{
	const char *comm;

	if (!m->select.comms.nr)
		return true;
	comm = model_tracks_comm(&m->items.tracks, it->thread);
	return app_globs_want(&m->select.comms, comm ? comm : "");
}

static bool cpu_wanted(const struct rows *m, const struct model_item *it)
{
	const struct app_ranges *cpus = &m->select.cpus;
	int64_t v;

	if (!cpus->nr)
		return true;
	return model_items_cpu(&m->items, it, &v) && app_ranges_have(cpus, (uint64_t)v);
}

static bool wanted(void *arg, const struct model_item *it)
{
	struct rows *m = arg;

	return it->time >= m->begin && it->time <= m->end && cpu_wanted(m, it) &&
	       thread_wanted(m, it, MODEL_THREAD, &m->select.pids) &&
	       thread_wanted(m, it, MODEL_PROCESS, &m->processes.pids) && comm_wanted(m, it) &&
	       (!m->paths.comms.nr || path_wanted(m, it->track));
}

/* ---- values -------------------------------------------------------------------- */

static int cell_of(struct rows *m, const struct model_item *it, enum model_of of,
		   struct model_cell *cell)
{
	if (m->items.kind == MODEL_ITEMS_TRACK)
		return model_track_cell(&m->items.tracks, it->track, of, &m->items.text, cell);
	return model_items_cell(&m->items, it, of, cell);
}

/* All rows have a value; what an item lacks is taken back. */
static int begin_column(struct rows *m, struct columns_column *c, uint32_t n)
{
	if (columns_touch(&m->table, c, true))
		return -ENOMEM;
	columns_set_range(&m->table, c, n);
	return 0;
}

static int put_numbers(struct rows *m, struct columns_column *c, enum model_of of,
		       const struct model_item *it, uint32_t n)
{
	struct model_cell cell;
	int err = begin_column(m, c, n);
	int64_t *to = err ? NULL : (int64_t *)(void *)columns_at(&m->table, c);

	for (uint32_t i = 0; !err && i < n; i++) {
		err = cell_of(m, &it[i], of, &cell);
		to[i] = cell.kind == MODEL_CELL_NONE ? 0 : cell.number;
		if (cell.kind == MODEL_CELL_NONE)
			columns_put_null(&m->table, c, i);
	}
	return err;
}

static int put_reals(struct rows *m, struct columns_column *c, enum model_of of,
		     const struct model_item *it, uint32_t n)
{
	struct model_cell cell;
	int err = begin_column(m, c, n);
	double *to = err ? NULL : (double *)(void *)columns_at(&m->table, c);

	for (uint32_t i = 0; !err && i < n; i++) {
		err = cell_of(m, &it[i], of, &cell);
		to[i] = cell.real;
	}
	return err;
}

static int put_flags(struct rows *m, struct columns_column *c, enum model_of of,
		     const struct model_item *it, uint32_t n)
{
	struct model_cell cell;
	int err = begin_column(m, c, n);

	for (uint32_t i = 0; !err && i < n; i++) {
		err = cell_of(m, &it[i], of, &cell);
		if (!err && cell.number)
			columns_put_true(&m->table, c, i);
	}
	return err;
}

/*
 * What an item's text depends on, so that equal keys have equal texts: a track and what tracks are
 * called, or an address.
 */
static void text_key(const struct rows *m, const struct model_item *it, enum model_of of,
		     uint64_t key[2])
{
	key[0] = of == MODEL_OF_TO ? it->to : it->track;
	key[1] = 2 * m->names + 1;
	if (of == MODEL_OF_NAME || of == MODEL_OF_CATEGORY) {
		key[0] = (uintptr_t)(of == MODEL_OF_NAME ? it->name : it->category);
		key[1] = 0;
	} else if (of == MODEL_OF_COMM) {
		key[0] = it->thread;
	} else if (of == MODEL_OF_TO_COMM) {
		key[0] = it->to;
	}
}

static int text_miss(struct rows *m, struct columns_column *c, const struct column *column,
		     const struct model_item *it, struct columns_cached *e)
{
	struct model_cell cell;
	int err = cell_of(m, it, column->of, &cell);

	e->generation = c->dict.generation;
	e->index = -1;
	if (!err && cell.kind == MODEL_CELL_TEXT)
		e->index = columns_text_index(&m->table, c, cell.text, strlen(cell.text));
	return err || e->index == -ENOMEM ? -ENOMEM : 0;
}

static int put_indexes(struct rows *m, struct columns_column *c, const struct column *column,
		       const struct model_item *it, uint32_t n)
{
	int err = begin_column(m, c, n);
	int32_t *to = err ? NULL : (int32_t *)(void *)columns_at(&m->table, c);

	for (uint32_t i = 0; !err && i < n; i++) {
		struct columns_cached *e;
		uint64_t key[2];

		text_key(m, &it[i], column->of, key);
		e = &column->cached[(key[0] * UINT64_C(0x9e3779b97f4a7c15) >> 32) % COLUMNS_CACHED];
		if (e->key[0] != key[0] || e->key[1] != key[1] ||
		    e->generation != c->dict.generation) {
			memcpy(e->key, key, sizeof(key));
			err = text_miss(m, c, column, &it[i], e);
		}
		to[i] = e->index < 0 ? 0 : e->index;
		if (e->index < 0)
			columns_put_null(&m->table, c, i);
	}
	return err;
}

static int put_texts(struct rows *m, struct columns_column *c, enum model_of of,
		     const struct model_item *it, uint32_t n)
{
	struct model_cell cell;
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		err = cell_of(m, &it[i], of, &cell);
		if (!err && cell.kind == MODEL_CELL_TEXT)
			err = columns_append_text(&m->table, c, i, cell.text, strlen(cell.text));
	}
	return err;
}

static int put_column(struct rows *m, uint32_t k, const struct model_item *it, uint32_t n)
{
	struct columns_column *c = &m->table.column[k];
	enum model_of of = m->column[k].of;

	if (c->spec.kind == COLUMNS_DICT)
		return put_indexes(m, c, &m->column[k], it, n);
	switch (model_of_type(of)) {
	case MODEL_TYPE_REAL:
		return put_reals(m, c, of, it, n);
	case MODEL_TYPE_FLAG:
		return put_flags(m, c, of, it, n);
	case MODEL_TYPE_NAME: case MODEL_TYPE_TEXT:
		return put_texts(m, c, of, it, n);
	case MODEL_TYPE_TIME: case MODEL_TYPE_INT:
	default:
		return put_numbers(m, c, of, it, n);
	}
}

/* The first n items of the queue become rows.  0 or -ENOMEM. */
static int put_rows(struct rows *m, uint32_t n)
{
	struct model_item_list *q = &m->items.queue;
	int err = 0;

	if (!n)
		return 0;
	columns_table_rows(&m->table, n);
	for (uint32_t k = 0; !err && k < m->nr_columns; k++)
		err = put_column(m, k, &q->list[q->at], n);
	columns_table_done(&m->table);
	q->at += n;
	return err;
}

/* ---- reading ------------------------------------------------------------------- */

static int on_track(void *arg, const struct model_track *t)
{
	struct rows *m = arg;
	struct model_item_list *q = &m->items.queue;
	int err = 0;

	if (t->id < m->items.tracks.nr) {
		if (m->mark > q->at)
			err = put_rows(m, (uint32_t)(m->mark - q->at));
		m->names++;
	}
	return err ? err : m->keep_track(arg, t);
}

/* No more records: ends what is open. */
static int finish(struct rows *m)
{
	int err = model_finish(m->model);

	m->ended = true;
	return err ? err : model_items_end(&m->items, model_stats(m->model)->last);
}

/* A live session is read up to what is there when the first batch is asked for. */
static void begin(struct rows *m)
{
	const struct tacho_source *source = tacho_stream_source(m->stream, 0);
	uint64_t now = source && source->ops->live ? tacho_now_ns(CLOCK_REALTIME) : UINT64_MAX;

	m->begun = true;
	if (now < m->until)
		m->until = now;
}

/* One record, or the end.  0, or a negative errno. */
static int feed(struct rows *m)
{
	struct tacho_record r;
	int status = tacho_stream_next(m->stream, &r), err;

	m->mark = m->items.queue.nr;
	if (status == TACHO_STREAM_ERROR) {
		(void)app_stream_failed(m->stream, -EIO, &m->diag);
		m->ended = true;
		return 0;
	}
	if (status == TACHO_STREAM_RECORD && r.time <= m->until)
		err = model_record(m->model, &r);
	else
		err = finish(m);
	return m->no_memory ? -ENOMEM : err;
}

/* Queues some tracks, at the end.  0 or -ENOMEM. */
static int queue_tracks(struct rows *m)
{
	uint32_t nr = m->items.tracks.nr;
	int err = 0;

	for (uint32_t n = 0; !err && n < COLUMNS_RUN && m->next_track < nr; n++) {
		const struct model_item it = { .track = m->next_track, .thread = m->next_track,
					       .cpu = MODEL_NO_CPU };

		err = model_items_add(&m->items, &it);
		m->next_track++;
	}
	return m->no_memory ? -ENOMEM : err;
}

/* Forgets items that are rows, when they are all or many. */
static void shorten(struct model_item_list *q)
{
	if (q->at < q->nr && q->at < COLUMNS_RUN)
		return;
	if (q->at < q->nr)
		memmove(q->list, q->list + q->at, (q->nr - q->at) * sizeof(*q->list));
	q->nr -= q->at;
	q->at = 0;
}

/* Brings more items into the queue.  1; 0: there are none; or a negative errno. */
static int more(struct rows *m)
{
	int err;

	shorten(&m->items.queue);
	if (!m->ended) {
		err = feed(m);
	} else {
		if (m->items.kind != MODEL_ITEMS_TRACK || m->diag.err ||
		    m->next_track == m->items.tracks.nr)
			return 0;
		err = queue_tracks(m);
	}
	return err ? err : 1;
}

/* Fills the table with a batch.  0, or a negative errno: the table is not whole. */
static int fill(struct rows *m)
{
	const struct model_item_list *q = &m->items.queue;
	int ret = 1;

	while (m->table.rows < m->table.rows_max && m->table.bytes < COLUMNS_BYTES) {
		uint32_t room = m->table.rows_max - m->table.rows;
		size_t pending = q->nr - q->at;

		if (room > COLUMNS_RUN)
			room = COLUMNS_RUN;
		if (pending < room && ret > 0) {
			ret = more(m);
			if (ret < 0)
				return ret;
			continue;
		}
		if (!pending)
			break;
		if (put_rows(m, pending < room ? (uint32_t)pending : room))
			return -ENOMEM;
	}
	return 0;
}

static int rows_next(void *arg, struct ArrowArray *out, struct tacho_diag *d)
{
	struct rows *m = arg;
	int err;

	if (!m->begun)
		begin(m);
	columns_table_begin(&m->table);
	err = fill(m);
	if (err)
		return err == -ENOMEM ? tacho_no_memory(d) :
		       tacho_diag(d, err, 0, "the model has more tracks than it can number");
	if (m->table.rows)
		return columns_put_batch(&m->table, out, d);
	if (m->diag.err)
		*d = m->diag;
	return m->diag.err;
}

/* ---- opening ------------------------------------------------------------------- */

static void rows_free(void *arg)
{
	struct rows *m = arg;

	for (uint32_t i = 0; i < m->nr_columns; i++)
		free(m->column[i].cached);
	free(m->column);
	columns_table_release(&m->table);
	model_items_release(&m->items);
	model_free(m->model);
	model_rules_free(m->rules);
	app_select_release(&m->select);
	app_select_release(&m->processes);
	app_select_release(&m->paths);
	(void)tacho_stream_narrow(m->stream, NULL);
	free(m);
}

/* Members that say nothing about items. */
static int refuse(const struct rows *m, const struct tacho_columns_config *c,
		  struct tacho_diag *d)
{
	const char *member = c->events ? "events" : c->source ? "source" :
			     c->nr_filters ? "filters" : NULL;

	if (member)
		return tacho_diag(d, -EINVAL, 0, "%s: the model of the table %s reads all events",
				  member, c->table);
	if (!tacho_stream_is_ordered(m->stream))
		return tacho_diag(d, -EINVAL, 0, "the table %s needs events in the order of time",
				  c->table);
	if (m->items.kind == MODEL_ITEMS_TRACK && (c->begin || c->end))
		return tacho_diag(d, -EINVAL, 0, "the table track has no times; until says what "
				  "is read");
	return 0;
}

static int select_items(struct rows *m, const struct tacho_columns_config *c,
			struct tacho_diag *d)
{
	int err = refuse(m, c, d);

	m->begin = c->begin;
	m->end = c->end ? c->end : UINT64_MAX;
	m->until = c->until ? c->until : UINT64_MAX;
	m->scope.to = m->until;
	if (!err)
		err = columns_config_select(&m->select, "tids", c->tids, app_select_pids, d);
	if (!err)
		err = columns_config_select(&m->processes, "pids", c->pids, app_select_pids, d);
	if (!err)
		err = columns_config_select(&m->select, "comms", c->comms, app_select_comms, d);
	if (!err)
		err = columns_config_select(&m->select, "cpus", c->cpus, app_select_cpus, d);
	if (!err)
		err = columns_config_select(&m->paths, "tracks", c->tracks, app_select_comms, d);
	return err;
}

static enum columns_kind text_kind(enum model_type type, uint32_t flags)
{
	bool own = type == MODEL_TYPE_TEXT && !(flags & TACHO_COLUMNS_DICTIONARY);

	return own || flags & TACHO_COLUMNS_NO_DICTIONARY ? COLUMNS_TEXT : COLUMNS_DICT;
}

static struct columns_spec spec_of(const struct model_column *column, uint32_t flags)
{
	enum model_type type = model_of_type(column->of);
	struct columns_spec spec = {
		.name = column->name, .kind = COLUMNS_INT, .width = 8, .is_signed = true,
		.nullable = model_of_nullable(column->of),
	};

	if (type == MODEL_TYPE_TIME)
		spec.kind = columns_time_kind(flags);
	else if (type == MODEL_TYPE_REAL)
		spec.kind = COLUMNS_FLOAT;
	else if (type == MODEL_TYPE_FLAG)
		spec.kind = COLUMNS_BOOL;
	else if (type != MODEL_TYPE_INT)
		spec.kind = text_kind(type, flags);
	return spec;
}

static int add_column(struct rows *m, const struct model_column *column, uint32_t flags)
{
	struct columns_spec spec = spec_of(column, flags);
	struct column *c = &m->column[m->nr_columns++];

	c->of = column->of;
	if (spec.kind == COLUMNS_DICT) {
		c->cached = calloc(COLUMNS_CACHED, sizeof(*c->cached));
		if (!c->cached)
			return -ENOMEM;
		/* no dictionary has this generation yet */
		for (uint32_t i = 0; i < COLUMNS_CACHED; i++)
			c->cached[i].generation = UINT32_MAX;
	}
	return columns_table_add(&m->table, &spec);
}

static int add_named(struct rows *m, const struct tacho_columns_config *c, const char *name,
		     struct tacho_diag *d)
{
	const struct model_column *column;
	uint32_t nr;

	for (uint32_t i = 0; i < m->nr_columns; i++)
		if (!strcmp(m->table.column[i].spec.name, name))
			return tacho_diag(d, -EINVAL, 0, "the column '%s' is named twice", name);
	column = model_items_columns(m->items.kind, &nr);
	for (uint32_t i = 0; i < nr; i++)
		if (!strcmp(column[i].name, name))
			return add_column(m, &column[i], c->flags) ? tacho_no_memory(d) : 0;
	return tacho_diag(d, -ENOENT, 0, "the table %s has no column '%s'", c->table, name);
}

static int add_columns(struct rows *m, const struct tacho_columns_config *c,
		       struct tacho_diag *d)
{
	const struct model_column *column;
	uint32_t nr;
	int err = 0;

	column = model_items_columns(m->items.kind, &nr);
	m->column = calloc(nr, sizeof(*m->column));
	if (!m->column)
		return tacho_no_memory(d);
	columns_table_init(&m->table, c->batch_rows);
	for (uint32_t i = 0; c->columns && !err && i < c->nr_columns; i++)
		err = add_named(m, c, c->columns[i], d);
	for (uint32_t i = 0; !c->columns && !err && i < nr; i++)
		if (add_column(m, &column[i], c->flags))
			err = tacho_no_memory(d);
	return err;
}

static int make_model(struct rows *m, const struct tacho_columns_config *c,
		      struct tacho_diag *d)
{
	struct model_config config = { .stream = m->stream, .ops = &m->ops, .arg = &m->items };
	struct tacho_diag wrong = { 0 };
	int err = model_rules_new(&m->rules, d);

	if (!err && c->rules) {
		err = model_rules_add(m->rules, c->rules, strlen(c->rules), &wrong);
		if (err)
			return err == -ENOMEM ? tacho_no_memory(d) :
			       tacho_diag(d, err, wrong.offset, "rules: %s", wrong.text);
	}
	if (!err && tacho_stream_narrow(m->stream, &m->scope))
		err = tacho_no_memory(d);
	if (err)
		return err;
	model_items_ops(m->items.kind, &m->ops);
	m->keep_track = m->ops.track;
	m->ops.track = on_track;
	config.rules = m->rules;
	err = model_new(&m->model, &config, d);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

static int find_table(const char *name, enum model_items_kind *kind, struct tacho_diag *d)
{
	struct tacho_buf names;
	int err;

	if (model_items_find(name, kind))
		return 0;
	tacho_buf_init(&names, 4096);
	for (int i = 0; i < MODEL_NR_ITEMS; i++)
		tacho_buf_printf(&names, "%s%s", i ? ", " : "",
				 model_items_name((enum model_items_kind)i));
	err = tacho_diag(d, -ENOENT, 0, "the model has no table '%s'; it has %s", name,
			 tacho_buf_str(&names));
	tacho_buf_release(&names);
	return err;
}

int columns_items_rows(struct columns_rows *rows, struct tacho_stream *stream,
		       const struct tacho_columns_config *config, struct tacho_diag *d)
{
	enum model_items_kind kind;
	struct rows *m;
	int err = find_table(config->table, &kind, d);

	if (err)
		return err;
	m = calloc(1, sizeof(*m));
	if (!m)
		return tacho_no_memory(d);
	m->stream = stream;
	model_items_init(&m->items, kind, wanted, m);
	app_select_init(&m->select);
	app_select_init(&m->processes);
	app_select_init(&m->paths);
	err = select_items(m, config, d);
	if (!err)
		err = add_columns(m, config, d);
	if (!err)
		err = make_model(m, config, d);
	*rows = (struct columns_rows){ .table = &m->table, .arg = m, .next = rows_next,
				       .free = rows_free };
	if (err)
		rows_free(m);
	return err;
}
