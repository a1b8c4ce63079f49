// SPDX-License-Identifier: MIT
/*
 * create virtual table NAME using span_join(A partitioned KEY, B partitioned KEY), span_left_join,
 * span_outer_join: the overlapping parts of two interval tables, with the columns of both.
 *
 * Columns: time, dur, end, the key, the others of A, the others of B; a column of B whose name is
 * taken is called B_COLUMN.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sql/overlap.h"

#define ARENA_MAX	((size_t)16 << 20)

enum { TIME, DUR, END, FIRST };	/* columns before those of the sources */

struct span_column {
	int side;
	uint32_t column;	/* of the source; or a key that both have */
	const char *name;
};

struct span_vtab {
	sqlite3_vtab base;
	struct tacho_sql *sql;
	struct tacho_arena arena;
	struct overlap_source source[2];
	struct span_column *column;
	uint32_t nr_columns;
	bool has_key;		/* the first column is the key */
	uint32_t nr_keys;	/* of the sweep: 1 if both have one */
	bool keep[2];
};

struct span_cursor {
	sqlite3_vtab_cursor base;
	struct overlap o;
	uint64_t row;
};

static struct span_vtab *vtab_of(sqlite3_vtab *vtab)
{
	return (struct span_vtab *)(void *)vtab;	/* first member */
}

static struct span_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct span_cursor *)(void *)cursor;	/* first member */
}

/* ---- words of an argument ----------------------------------------------------------- */

/* Behind a word, a quoted text or what is in parentheses; s is at no blank. */
static const char *skip_word(const char *s)
{
	static const char quotes[] = "\"'`";
	int depth = 0;

	do {
		if (strchr(quotes, *s) || *s == '[') {
			const char *end = strchr(s + 1, *s == '[' ? ']' : *s);

			s = end ? end : s + strlen(s) - 1;
		}
		depth += (*s == '(') - (*s == ')');
		s++;
	} while (*s && (depth > 0 || !isspace((unsigned char)*s)));
	return s;
}

static bool is_word(const char *s, const char *end, const char *word)
{
	return (size_t)(end - s) == strlen(word) && !strncasecmp(s, word, strlen(word));
}

/* A name without its quotes. */
static const char *unquoted(struct tacho_arena *arena, const char *s, size_t len)
{
	if (len >= 2 && strchr("\"'`[", *s)) {
		s++;
		len -= 2;
	}
	return tacho_arena_strndup(arena, s, len);
}

/* "a.slice": the part after the last dot that is not in quotes or parentheses. */
static const char *table_of(struct tacho_arena *arena, const char *s, size_t len)
{
	size_t at = len;

	while (at && (isalnum((unsigned char)s[at - 1]) || s[at - 1] == '_'))
		at--;
	if (at && s[at - 1] != '.')
		return strchr("\"'`[", *s) ? unquoted(arena, s, len) :
		       tacho_arena_strndup(arena, s, len);
	return tacho_arena_strndup(arena, s + at, len - at);
}

static int bad_source(const char *text, char **error)
{
	*error = sqlite3_mprintf("'%s' is none of: TABLE, TABLE partitioned COLUMN, "
				 "(select ...) as NAME partitioned COLUMN", text);
	return SQLITE_ERROR;
}

/* SOURCE [as NAME] [partitioned KEY] */
static int parse_source(struct span_vtab *v, int side, const char *text, char **error)
{
	struct overlap_source *source = &v->source[side];
	const char *s = text + strspn(text, " \t\r\n"), *end;
	size_t len;

	if (!*s)
		return bad_source(text, error);
	end = skip_word(s);
	len = (size_t)(end - s);
	source->from = tacho_arena_strndup(&v->arena, s, len);
	source->name = *s == '(' ? (side ? "b" : "a") : table_of(&v->arena, s, len);
	for (;;) {
		const char *word = end + strspn(end, " \t\r\n"), *after, *name;

		if (!*word)
			break;
		after = skip_word(word);
		name = after + strspn(after, " \t\r\n");
		end = *name ? skip_word(name) : name;
		if (!*name || (is_word(word, after, "partitioned") ? source->nr_keys != 0 :
			       !is_word(word, after, "as")))
			return bad_source(text, error);
		name = unquoted(&v->arena, name, (size_t)(end - name));
		if (is_word(word, after, "as"))
			source->name = name;
		else
			source->key[source->nr_keys++] = name;
		if (!name)
			return SQLITE_NOMEM;
	}
	return source->from && source->name ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- columns ------------------------------------------------------------------------ */

static bool is_taken(const struct span_vtab *v, const char *name)
{
	static const char *const own[] = { "time", "dur", "end" };

	for (int i = 0; i < 3; i++)
		if (!strcasecmp(own[i], name))
			return true;
	for (uint32_t i = 0; i < v->nr_columns; i++)
		if (!strcasecmp(v->column[i].name, name))
			return true;
	return false;
}

static int add_column(struct span_vtab *v, int side, uint32_t column)
{
	const struct overlap_source *source = &v->source[side];
	struct span_column *to = &v->column[v->nr_columns];
	const char *name = source->column[column];
	char text[512];

	*to = (struct span_column){ .side = side, .column = column, .name = name };
	if (is_taken(v, name)) {
		(void)snprintf(text, sizeof(text), "%.200s_%.250s", source->name, name);
		for (uint32_t n = 2; is_taken(v, text); n++)
			(void)snprintf(text, sizeof(text), "%.200s_%.250s_%u", source->name, name,
				       n);
		to->name = tacho_arena_strndup(&v->arena, text, strlen(text));
	}
	if (!to->name)
		return SQLITE_NOMEM;
	v->nr_columns++;
	return SQLITE_OK;
}

static bool is_own(const char *name)
{
	return !strcasecmp(name, "time") || !strcasecmp(name, "dur") || !strcasecmp(name, "end");
}

/* The key of a side; where both have one, A's. */
static int add_key(struct span_vtab *v)
{
	int side = !v->source[0].nr_keys;

	for (uint32_t i = 0; i < v->source[side].nr_columns; i++)
		if (!strcasecmp(v->source[side].column[i], v->source[side].key[0]))
			return add_column(v, side, i);
	return SQLITE_OK;
}

static int add_columns(struct span_vtab *v)
{
	uint32_t most = v->source[0].nr_columns + v->source[1].nr_columns;
	int rc = SQLITE_OK;

	v->column = tacho_arena_array(&v->arena, most + 1, sizeof(*v->column));
	if (!v->column)
		return SQLITE_NOMEM;
	v->has_key = v->source[0].nr_keys || v->source[1].nr_keys;
	v->nr_keys = v->source[0].nr_keys && v->source[1].nr_keys;
	if (v->has_key)
		rc = add_key(v);
	for (int side = 0; side < 2; side++) {
		const struct overlap_source *source = &v->source[side];

		for (uint32_t i = 0; rc == SQLITE_OK && i < source->nr_columns; i++)
			if (!is_own(source->column[i]) &&
			    (!source->nr_keys || strcasecmp(source->column[i], source->key[0])))
				rc = add_column(v, side, i);
	}
	return rc;
}

static int declare(sqlite3 *db, const struct span_vtab *v, char **error)
{
	sqlite3_str *s = sqlite3_str_new(NULL);
	char *text;
	int rc;

	sqlite3_str_appendall(s, "create table x(\"time\" INTEGER, \"dur\" INTEGER, "
			      "\"end\" INTEGER");
	for (uint32_t i = 0; i < v->nr_columns; i++) {
		const struct span_column *c = &v->column[i];
		const char *decl = v->source[c->side].decl[c->column];

		sqlite3_str_appendf(s, ", \"%w\" %s", c->name, decl ? decl : "");
	}
	sqlite3_str_appendall(s, ")");
	text = sqlite3_str_finish(s);
	rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	/* its sources are text: not for views and triggers of a foreign database */
	return rc == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : rc;
}

/* ---- making and ending -------------------------------------------------------------- */

static int span_disconnect(sqlite3_vtab *vtab)
{
	tacho_arena_release(&vtab_of(vtab)->arena);
	free(vtab);
	return SQLITE_OK;
}

static int check_keys(const struct span_vtab *v, const char *module, char **error)
{
	uint32_t a = v->source[0].nr_keys, b = v->source[1].nr_keys;

	if (a == b || (!v->keep[0] && !v->keep[1]) || (a && !v->keep[1]))
		return SQLITE_OK;
	*error = sqlite3_mprintf("%s: both tables must be partitioned, or none%s", module,
				 v->keep[1] ? "" : ", or the first one");
	return SQLITE_ERROR;
}

/* argv: module, schema, table, sources. */
static int make(struct span_vtab *v, sqlite3 *db, int argc, const char *const *argv, char **error)
{
	int rc = SQLITE_OK;

	if (argc != 5) {
		*error = sqlite3_mprintf("%s joins two tables: create virtual table x using "
					 "%s(slice partitioned tid, thread_state partitioned tid)",
					 argv[0], argv[0]);
		return SQLITE_ERROR;
	}
	for (int side = 0; rc == SQLITE_OK && side < 2; side++) {
		rc = parse_source(v, side, argv[3 + side], error);
		if (rc == SQLITE_OK)
			rc = overlap_describe(v->sql, &v->source[side], &v->arena, error);
	}
	if (rc == SQLITE_OK)
		rc = check_keys(v, argv[0], error);
	if (rc == SQLITE_OK)
		rc = add_columns(v);
	return rc == SQLITE_OK ? declare(db, v, error) : rc;
}

static int span_new(sqlite3 *db, void *arg, int argc, const char *const *argv,
		    sqlite3_vtab **vtab, char **error)
{
	struct span_vtab *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return SQLITE_NOMEM;
	v->sql = arg;
	v->keep[0] = strcasecmp(argv[0], "span_join") != 0;
	v->keep[1] = !strcasecmp(argv[0], "span_outer_join");
	tacho_arena_init(&v->arena, ARENA_MAX);
	rc = make(v, db, argc, argv, error);
	if (rc == SQLITE_OK)
		*vtab = &v->base;
	else
		(void)span_disconnect(&v->base);
	return rc;
}

/* Another function than xConnect, or the table would be there without sources. */
static int span_create(sqlite3 *db, void *arg, int argc, const char *const *argv,
		       sqlite3_vtab **vtab, char **error)
{
	return span_new(db, arg, argc, argv, vtab, error);
}

static int span_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			sqlite3_vtab **vtab, char **error)
{
	return span_new(db, arg, argc, argv, vtab, error);
}

/* ---- plans -------------------------------------------------------------------------- */

/* The constraint that says the key, or -1. */
static int key_constraint(const struct span_vtab *v, sqlite3_index_info *info)
{
	for (int i = 0; v->nr_keys && i < info->nConstraint; i++)
		if (info->aConstraint[i].usable && info->aConstraint[i].iColumn == FIRST &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
		    !strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			return i;
	return -1;
}

/* What people see, and the columns of both sources that are used, for span_filter(). */
static char *describe(const struct span_vtab *v, const sqlite3_index_info *info, bool key)
{
	sqlite3_str *s = sqlite3_str_new(NULL);
	uint64_t used[2] = { 0, 0 };

	if (key)
		sqlite3_str_appendf(s, "%s=? ", v->column[0].name);
	sqlite3_str_appendall(s, "columns:");
	for (uint32_t i = 0; i < v->nr_columns; i++) {
		const struct span_column *c = &v->column[i];
		uint32_t at = i + FIRST;

		if (!(info->colUsed >> (at < 63 ? at : 63) & 1))
			continue;
		used[c->side] |= UINT64_C(1) << (c->column < 63 ? c->column : 63);
		sqlite3_str_appendf(s, " %s", c->name);
	}
	sqlite3_str_appendf(s, " [%llx %llx]", used[0], used[1]);
	return sqlite3_str_finish(s);
}

/* idxNum 1: the key is equal to the value. */
static int span_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct span_vtab *v = vtab_of(vtab);
	int key = key_constraint(v, info);

	info->estimatedCost = key < 0 ? 2e7 : 1e7;
	info->estimatedRows = key < 0 ? 1000000 : 10000;
	info->idxNum = key >= 0;
	/* SQLite tests it again: the sources compare by their own affinity */
	if (key >= 0)
		info->aConstraintUsage[key].argvIndex = 1;
	info->idxStr = describe(v, info, key >= 0);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- scanning ----------------------------------------------------------------------- */

static int span_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct span_cursor *c = calloc(1, sizeof(*c));
	struct span_vtab *v = vtab_of(vtab);

	if (!c)
		return SQLITE_NOMEM;
	c->o = (struct overlap){ .sql = v->sql, .source = { &v->source[0], &v->source[1] },
				 .nr_keys = v->nr_keys, .keep = { v->keep[0], v->keep[1] },
				 .at_end = true };
	*cursor = &c->base;
	return SQLITE_OK;
}

static int span_close(sqlite3_vtab_cursor *cursor)
{
	struct span_cursor *c = cursor_of(cursor);

	overlap_end(&c->o);
	free(c);
	return SQLITE_OK;
}

/* Hands the sentence of an error over. */
static int said(struct span_cursor *c, int rc)
{
	if (c->o.error) {
		sqlite3_free(c->base.pVtab->zErrMsg);
		c->base.pVtab->zErrMsg = c->o.error;
		c->o.error = NULL;
	}
	return rc;
}

static int span_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct span_cursor *c = cursor_of(cursor);
	uint64_t used[2] = { UINT64_MAX, UINT64_MAX };
	const char *at = text ? strrchr(text, '[') : NULL;
	char *end;

	if (at) {
		used[0] = strtoull(at + 1, &end, 16);
		used[1] = strtoull(end, NULL, 16);
	}
	c->row = 0;
	return said(c, overlap_begin(&c->o, used, number && argc ? argv[0] : NULL));
}

static int span_next(sqlite3_vtab_cursor *cursor)
{
	struct span_cursor *c = cursor_of(cursor);

	c->row++;
	return said(c, overlap_next(&c->o));
}

static int span_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->o.at_end;
}

static int span_value(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	struct span_cursor *c = cursor_of(cursor);
	const struct span_vtab *v = vtab_of(cursor->pVtab);
	const struct overlap_piece *p = &c->o.piece[c->o.at];

	if (column == TIME)
		sqlite3_result_int64(ctx, p->begin);
	else if (column == DUR)
		sqlite3_result_int64(ctx, p->end - p->begin);
	else if (column == END)
		sqlite3_result_int64(ctx, p->end);
	else if (column == FIRST && v->nr_keys)
		overlap_key(&c->o, ctx, 0);
	else
		overlap_result(&c->o, ctx, v->column[column - FIRST].side,
			       v->column[column - FIRST].column);
	return SQLITE_OK;
}

static int span_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->row;
	return SQLITE_OK;
}

const sqlite3_module sql_span_module = {
	.xCreate = span_create,
	.xConnect = span_connect,
	.xBestIndex = span_best_index,
	.xDisconnect = span_disconnect,
	.xDestroy = span_disconnect,
	.xOpen = span_open,
	.xClose = span_close,
	.xFilter = span_filter,
	.xNext = span_next,
	.xEof = span_eof,
	.xColumn = span_value,
	.xRowid = span_rowid,
};
