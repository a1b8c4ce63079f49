// SPDX-License-Identifier: MIT
/* intervals_overlap(A, B, KEYS): the pairs of rows of two interval tables that overlap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "sql/overlap.h"

#define ARENA_MAX	((size_t)16 << 20)
#define TEXT_MAX	((size_t)1 << 20)

/* Columns, as they are declared. */
enum {
	TIME, DUR, END,
	KEY,				/* k1, k2, k3 */
	ROW = KEY + OVERLAP_KEYS,	/* a, b */
	ARGS = ROW + 2,			/* the hidden arguments */
	NR_ARGS = 3,
};

static const char declaration[] =
	"create table x(time INTEGER, dur INTEGER, \"end\" INTEGER, k1, k2, k3, a TEXT, b TEXT, "
	"a_source HIDDEN, b_source HIDDEN, \"keys\" HIDDEN)";

struct overlap_vtab {
	sqlite3_vtab base;
	struct tacho_sql *sql;
};

struct overlap_cursor {
	sqlite3_vtab_cursor base;
	struct overlap o;
	struct overlap_source source[2];
	char *arg[NR_ARGS];
	struct tacho_arena arena;
	bool has_arena;
	uint64_t row;
	struct tacho_buf text;
};

static struct overlap_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct overlap_cursor *)(void *)cursor;	/* first member */
}

static int overlap_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			   sqlite3_vtab **vtab, char **error)
{
	struct overlap_vtab *v;
	int rc = sqlite3_declare_vtab(db, declaration);

	(void)argc;
	(void)argv;
	(void)error;
	/* it runs text: not for views and triggers of a foreign database */
	if (rc == SQLITE_OK)
		rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	if (rc != SQLITE_OK)
		return rc;
	v = sqlite3_malloc(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct overlap_vtab){ .sql = arg };
	*vtab = &v->base;
	return SQLITE_OK;
}

static int overlap_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* idxNum: how many arguments, and from bit 4 on whether a and b are used. */
static int overlap_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int at[NR_ARGS] = { -1, -1, -1 }, nr = 0;

	(void)vtab;
	for (int i = 0; i < info->nConstraint; i++) {
		int arg = info->aConstraint[i].iColumn - ARGS;

		if (arg < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		/* an argument of another table that is not known yet: another order */
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		at[arg] = i;
	}
	for (; nr < NR_ARGS && at[nr] >= 0; nr++) {
		info->aConstraintUsage[at[nr]].argvIndex = nr + 1;
		info->aConstraintUsage[at[nr]].omit = 1;
	}
	info->idxNum = nr;
	for (int side = 0; side < 2; side++)
		if (info->colUsed >> (ROW + side) & 1)
			info->idxNum |= 16 << side;
	info->estimatedCost = 1e7;
	info->estimatedRows = 1000000;
	return SQLITE_OK;
}

static int overlap_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct overlap_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->o = (struct overlap){ .sql = ((struct overlap_vtab *)(void *)vtab)->sql,
				 .source = { &c->source[0], &c->source[1] }, .at_end = true };
	tacho_buf_init(&c->text, TEXT_MAX);
	*cursor = &c->base;
	return SQLITE_OK;
}

static void forget(struct overlap_cursor *c)
{
	overlap_end(&c->o);
	for (int i = 0; i < NR_ARGS; i++) {
		free(c->arg[i]);
		c->arg[i] = NULL;
	}
	if (c->has_arena)
		tacho_arena_release(&c->arena);
	c->has_arena = false;
}

static int overlap_close(sqlite3_vtab_cursor *cursor)
{
	struct overlap_cursor *c = cursor_of(cursor);

	forget(c);
	tacho_buf_release(&c->text);
	free(c);
	return SQLITE_OK;
}

/* ---- arguments ---------------------------------------------------------------------- */

/* text is SQLite's to free. */
static int wrong(struct overlap_cursor *c, char *text)
{
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = text;
	return SQLITE_ERROR;
}

/* "tid", "pid, name": the same for both sides. */
static int take_keys(struct overlap_cursor *c, const char *text)
{
	while (*(text += strspn(text, " ,\t\r\n"))) {
		size_t len = strcspn(text, ",");
		uint32_t nr = c->o.nr_keys;
		char *key;

		if (nr == OVERLAP_KEYS)
			return wrong(c, sqlite3_mprintf("intervals_overlap() takes up to %d keys",
							OVERLAP_KEYS));
		key = tacho_arena_strndup(&c->arena, text, len);
		if (!key)
			return SQLITE_NOMEM;
		for (size_t i = len; i && strchr(" \t\r\n", key[i - 1]); i--)
			key[i - 1] = '\0';
		c->source[0].key[nr] = c->source[1].key[nr] = key;
		c->o.nr_keys = c->source[0].nr_keys = c->source[1].nr_keys = nr + 1;
		text += len;
	}
	return SQLITE_OK;
}

static int take_arguments(struct overlap_cursor *c, int argc, sqlite3_value **argv)
{
	for (int i = 0; i < argc && i < NR_ARGS; i++) {
		const char *text = (const char *)sqlite3_value_text(argv[i]);

		c->arg[i] = strdup(text ? text : "");
		if (!c->arg[i])
			return SQLITE_NOMEM;
	}
	if (!c->arg[0] || !c->arg[1] || !*c->arg[0] || !*c->arg[1])
		return wrong(c, sqlite3_mprintf("intervals_overlap() takes two tables or selects "
						"as text, and keys: intervals_overlap('slice', "
						"'thread_state', 'tid')"));
	c->o.nr_keys = 0;
	for (int side = 0; side < 2; side++) {
		c->source[side] = (struct overlap_source){
			.from = overlap_from(c->arg[side], &c->arena), .name = c->arg[side] };
		if (!c->source[side].from)
			return SQLITE_NOMEM;
	}
	return c->arg[2] ? take_keys(c, c->arg[2]) : SQLITE_OK;
}

static int begin(struct overlap_cursor *c, int number)
{
	uint64_t used[2];
	char *error = NULL;
	int rc = SQLITE_OK;

	for (int side = 0; rc == SQLITE_OK && side < 2; side++) {
		used[side] = number >> (4 + side) & 1 ? UINT64_MAX : 0;
		rc = overlap_describe(c->o.sql, &c->source[side], &c->arena, &error);
	}
	if (rc == SQLITE_OK) {
		rc = overlap_begin(&c->o, used, NULL);
		error = c->o.error;
		c->o.error = NULL;
	}
	if (error)
		(void)wrong(c, error);
	return rc;
}

static int overlap_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			  sqlite3_value **argv)
{
	struct overlap_cursor *c = cursor_of(cursor);
	int rc;

	(void)text;
	forget(c);
	tacho_arena_init(&c->arena, ARENA_MAX);
	c->has_arena = true;
	c->row = 0;
	rc = take_arguments(c, argc, argv);
	if (rc == SQLITE_OK)
		rc = begin(c, number);
	return rc;
}

/* ---- rows --------------------------------------------------------------------------- */

static int overlap_next_row(sqlite3_vtab_cursor *cursor)
{
	struct overlap_cursor *c = cursor_of(cursor);
	int rc = overlap_next(&c->o);

	c->row++;
	if (c->o.error)
		(void)wrong(c, c->o.error);
	c->o.error = NULL;
	return rc;
}

static int overlap_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->o.at_end;
}

/* Bytes are hexadecimal: JSON has none. */
static void put_bytes(struct tacho_json *j, sqlite3_value *v)
{
	const unsigned char *p = sqlite3_value_blob(v);
	int nr = sqlite3_value_bytes(v);
	struct tacho_buf hex;

	tacho_buf_init(&hex, TEXT_MAX);
	for (int i = 0; p && i < nr; i++)
		tacho_buf_put_hex(&hex, p[i], 2);
	tacho_json_strn(j, hex.len ? hex.data : "", hex.len);
	tacho_buf_release(&hex);
}

static void put_value(struct tacho_json *j, sqlite3_value *v)
{
	int type = v ? sqlite3_value_type(v) : SQLITE_NULL;
	const char *text;

	if (type == SQLITE_NULL) {
		tacho_json_null(j);
	} else if (type == SQLITE_INTEGER) {
		tacho_json_s64(j, sqlite3_value_int64(v));
	} else if (type == SQLITE_FLOAT) {
		tacho_json_double(j, sqlite3_value_double(v));
	} else if (type == SQLITE_BLOB) {
		put_bytes(j, v);
	} else {
		text = (const char *)sqlite3_value_text(v);
		tacho_json_strn(j, text ? text : "", text ? (size_t)sqlite3_value_bytes(v) : 0);
	}
}

/* The row of a side as a JSON object. */
static int put_row(struct overlap_cursor *c, sqlite3_context *ctx, int side)
{
	const struct overlap_row *row = c->o.piece[c->o.at].row[side];
	struct tacho_json j;

	tacho_buf_reset(&c->text);
	tacho_json_init(&j, &c->text);
	tacho_json_open(&j, '{');
	for (uint32_t i = 0; i < c->source[side].nr_columns; i++) {
		tacho_json_key(&j, c->source[side].column[i]);
		put_value(&j, row->value[c->o.nr_keys + i]);
	}
	tacho_json_close(&j, '}');
	if (tacho_buf_error(&c->text))
		return SQLITE_NOMEM;
	sqlite3_result_text(ctx, c->text.data, (int)c->text.len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int overlap_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	struct overlap_cursor *c = cursor_of(cursor);
	const struct overlap_piece *p = &c->o.piece[c->o.at];

	if (column == TIME)
		sqlite3_result_int64(ctx, p->begin);
	else if (column == DUR)
		sqlite3_result_int64(ctx, p->end - p->begin);
	else if (column == END)
		sqlite3_result_int64(ctx, p->end);
	else if (column < ROW)
		overlap_key(&c->o, ctx, (uint32_t)(column - KEY));
	else if (column < ARGS)
		return put_row(c, ctx, column - ROW);
	else if (c->arg[column - ARGS])
		sqlite3_result_text(ctx, c->arg[column - ARGS], -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int overlap_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate it is there under its name, and there only. */
const sqlite3_module sql_overlap_module = {
	.xConnect = overlap_connect,
	.xBestIndex = overlap_best_index,
	.xDisconnect = overlap_disconnect,
	.xOpen = overlap_open,
	.xClose = overlap_close,
	.xFilter = overlap_filter,
	.xNext = overlap_next_row,
	.xEof = overlap_eof,
	.xColumn = overlap_column,
	.xRowid = overlap_rowid,
};
