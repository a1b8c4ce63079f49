// SPDX-License-Identifier: MIT
/* Tracks of a model, and the table of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sql/model.h"

#define NAMES_MAX	((size_t)1 << 30)
#define TEXT_MAX	((size_t)1 << 20)

/* ---- the list --------------------------------------------------------------------------- */

void sql_tracks_release(struct sql_tracks *tracks)
{
	model_tracks_release(&tracks->tracks);
	if (tracks->loaded)
		tacho_arena_release(&tracks->arena);
	tracks->loaded = false;
}

static int on_track(void *arg, const struct model_track *t)
{
	struct sql_tracks *tracks = arg;

	return model_tracks_keep(&tracks->tracks, t);
}

/* Names outlive the model. */
static int copy_names(void *arg, const struct model *model)
{
	struct sql_tracks *tracks = arg;

	(void)model;
	for (uint32_t i = 0; i < tracks->tracks.nr; i++) {
		struct model_track_row *t = &tracks->tracks.track[i];

		t->name = t->name[0] ? tacho_arena_strndup(&tracks->arena, t->name,
							   strlen(t->name)) : "";
		if (!t->name)
			return -ENOMEM;
	}
	return 0;
}

static int load(struct sql_trace *trace, struct sql_tracks *tracks, struct tacho_diag *d)
{
	const struct model_ops ops = { .track = on_track };
	int err = sql_index_tracks(trace, &tracks->tracks);

	if (err != -ENOENT)
		return err ? tacho_no_memory(d) : copy_names(tracks, NULL);
	return sql_model_pass(trace, &ops, tracks, copy_names, d);
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ID	0	/* the first column */

struct track_cursor {
	sqlite3_vtab_cursor base;
	struct sql_trace *trace;
	uint32_t at, end;
	bool reads;		/* counted in nr_readers */
	struct tacho_buf text;
};

static struct track_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct track_cursor *)(void *)cursor;	/* first member */
}

/* idxNum 1: id is equal to the value. */
static int track_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_vtab *v = (const struct sql_vtab *)(const void *)vtab;

	if (sql_index(v->trace))
		info->idxStr = (char *)(uintptr_t)SQL_BY_INDEX;
	info->estimatedCost = 10000;
	info->estimatedRows = 10000;
	for (int i = 0; i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable || info->aConstraint[i].iColumn != ID ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 10;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		break;
	}
	if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == ID && !info->aOrderBy[0].desc)
		info->orderByConsumed = 1;
	return SQLITE_OK;
}

static int track_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct track_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->trace = ((struct sql_vtab *)(void *)vtab)->trace;
	tacho_buf_init(&c->text, TEXT_MAX);
	*cursor = &c->base;
	return SQLITE_OK;
}

static void reads(struct track_cursor *c, bool on)
{
	if (c->reads && !on)
		c->trace->sql->nr_readers--;
	if (!c->reads && on)
		c->trace->sql->nr_readers++;
	c->reads = on;
}

static int track_close(sqlite3_vtab_cursor *cursor)
{
	struct track_cursor *c = cursor_of(cursor);

	reads(c, false);
	tacho_buf_release(&c->text);
	free(c);
	return SQLITE_OK;
}

static int track_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			sqlite3_value **argv)
{
	struct track_cursor *c = cursor_of(cursor);
	struct sql_tracks *tracks = &c->trace->tracks;
	struct tacho_diag d = { 0 };

	(void)text;
	reads(c, true);
	c->at = c->end = 0;
	if (!tracks->loaded) {
		int err;

		tracks->loaded = true;
		tacho_arena_init(&tracks->arena, NAMES_MAX);
		err = load(c->trace, tracks, &d);
		if (err) {
			sql_tracks_release(tracks);
			return err == -ECANCELED ? SQLITE_INTERRUPT :
			       sql_vtab_error(cursor->pVtab, SQLITE_ERROR, &d);
		}
	}
	c->end = tracks->tracks.nr;
	/* SQLite tests what is found: any value that is no integer may be looked up */
	if (number && argc && sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER) {
		sqlite3_int64 id = sqlite3_value_int64(argv[0]);

		c->at = id < 0 || id >= c->end ? c->end : (uint32_t)id;
		c->end = c->at < c->end ? c->at + 1 : c->end;
	}
	return SQLITE_OK;
}

static int track_next(sqlite3_vtab_cursor *cursor)
{
	cursor_of(cursor)->at++;
	return SQLITE_OK;
}

static int track_eof(sqlite3_vtab_cursor *cursor)
{
	struct track_cursor *c = cursor_of(cursor);

	if (c->at < c->end)
		return 0;
	reads(c, false);
	return 1;
}

static int track_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct sql_vtab *v = (const struct sql_vtab *)(const void *)cursor->pVtab;
	struct track_cursor *c = cursor_of(cursor);
	struct model_cell cell;

	if (model_track_cell(&c->trace->tracks.tracks, c->at, v->table->column[column].of,
			     &c->text, &cell))
		return SQLITE_NOMEM;
	return sql_item_result(ctx, &cell);
}

static int track_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = cursor_of(cursor)->at;
	return SQLITE_OK;
}

const sqlite3_module sql_track_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = track_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = track_open,
	.xClose = track_close,
	.xFilter = track_filter,
	.xNext = track_next,
	.xEof = track_eof,
	.xColumn = track_column,
	.xRowid = track_rowid,
};
