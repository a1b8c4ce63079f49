// SPDX-License-Identifier: MIT
#include "sql/overlap.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Fewer active rows are not worth a look at which of them have ended. */
#define PRUNE_MIN	64u

/* ---- statements --------------------------------------------------------------------- */

/* Prepares text, which is freed.  SQLite's code, with *error. */
static int prepare(struct tacho_sql *sql, char *text, const char *name, sqlite3_stmt **stmt,
		   char **error)
{
	int rc;

	*stmt = NULL;
	if (!text)
		return SQLITE_NOMEM;
	if (sql->nesting >= OVERLAP_NESTING) {
		sqlite3_free(text);
		*error = sqlite3_mprintf("'%s' reads itself", name);
		return SQLITE_ERROR;
	}
	sql->nesting++;
	rc = sqlite3_prepare_v2(sql->db, text, -1, stmt, NULL);
	sql->nesting--;
	sqlite3_free(text);
	if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
		*error = sqlite3_mprintf("cannot read '%s': %s", name, sqlite3_errmsg(sql->db));
	return rc;
}

static bool begins_with_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncasecmp(text, word, len) &&
	       !isalnum((unsigned char)text[len]) && text[len] != '_';
}

const char *overlap_from(const char *text, struct tacho_arena *arena)
{
	size_t len;
	char *to;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	if (!begins_with_word(text, "select") && !begins_with_word(text, "with") &&
	    !begins_with_word(text, "values"))
		return tacho_arena_strndup(arena, text, len);
	to = tacho_arena_alloc(arena, len + 4);
	if (!to)
		return NULL;
	*to = '(';
	memcpy(to + 1, text, len);
	/* the text may end in a comment */
	memcpy(to + 1 + len, "\n)", 3);
	return to;
}

/* ---- columns of a source ------------------------------------------------------------ */

static bool has_column(const struct overlap_source *s, const char *name)
{
	for (uint32_t i = 0; i < s->nr_columns; i++)
		if (!strcasecmp(s->column[i], name))
			return true;
	return false;
}

static int take_columns(struct overlap_source *s, sqlite3_stmt *stmt, struct tacho_arena *arena)
{
	s->nr_columns = (uint32_t)sqlite3_column_count(stmt);
	s->column = tacho_arena_array(arena, s->nr_columns + 1, sizeof(*s->column));
	s->decl = tacho_arena_array(arena, s->nr_columns + 1, sizeof(*s->decl));
	if (!s->column || !s->decl)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < s->nr_columns; i++) {
		const char *name = sqlite3_column_name(stmt, (int)i);
		const char *decl = sqlite3_column_decltype(stmt, (int)i);

		s->column[i] = name ? tacho_arena_strndup(arena, name, strlen(name)) : NULL;
		if (decl)
			s->decl[i] = tacho_arena_strndup(arena, decl, strlen(decl));
		if (!s->column[i] || (decl && !s->decl[i]))
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

int overlap_describe(struct tacho_sql *sql, struct overlap_source *s, struct tacho_arena *arena,
		     char **error)
{
	sqlite3_stmt *stmt;
	int rc = prepare(sql, sqlite3_mprintf("select * from %s", s->from), s->name, &stmt, error);

	if (rc == SQLITE_OK)
		rc = take_columns(s, stmt, arena);
	(void)sqlite3_finalize(stmt);
	if (rc != SQLITE_OK)
		return rc;
	s->has_end = has_column(s, "end");
	if (!has_column(s, "time") || (!s->has_end && !has_column(s, "dur"))) {
		*error = sqlite3_mprintf("'%s' has no intervals: it must have a column time, and "
					 "end or dur", s->name);
		return SQLITE_ERROR;
	}
	for (uint32_t i = 0; i < s->nr_keys; i++) {
		if (has_column(s, s->key[i]))
			continue;
		*error = sqlite3_mprintf("'%s' has no column '%s'", s->name, s->key[i]);
		return SQLITE_ERROR;
	}
	return SQLITE_OK;
}

/* ---- the statement of a scan -------------------------------------------------------- */

/* NULLs in the place of the other side's columns. */
static void put_nulls(sqlite3_str *s, uint32_t nr)
{
	while (nr--)
		sqlite3_str_appendall(s, ", null");
}

static void put_columns(sqlite3_str *s, const struct overlap_source *source, uint64_t used)
{
	for (uint32_t i = 0; i < source->nr_columns; i++) {
		if (used >> (i < 63 ? i : 63) & 1)
			sqlite3_str_appendf(s, ", \"%w\"", source->column[i]);
		else
			sqlite3_str_appendall(s, ", null");
	}
}

static void put_select(const struct overlap *o, sqlite3_str *s, int side, uint64_t used, bool key)
{
	const struct overlap_source *source = o->source[side];
	const char *end = source->has_end ? "\"end\"" : "\"time\" + \"dur\"";

	sqlite3_str_appendf(s, "select %d", side);
	for (uint32_t i = 0; i < o->nr_keys; i++)
		sqlite3_str_appendf(s, ", \"%w\"", source->key[i]);
	sqlite3_str_appendf(s, ", \"time\", %s", end);
	if (side)
		put_nulls(s, o->source[0]->nr_columns);
	put_columns(s, source, used);
	if (!side)
		put_nulls(s, o->source[1]->nr_columns);
	sqlite3_str_appendf(s, " from %s where \"time\" is not null and %s is not null",
			    source->from, end);
	for (uint32_t i = 0; i < o->nr_keys; i++)
		sqlite3_str_appendf(s, " and \"%w\" is not null", source->key[i]);
	if (key)
		sqlite3_str_appendf(s, " and \"%w\" collate binary = ?1", source->key[0]);
}

static char *statement(const struct overlap *o, const uint64_t used[2], bool key)
{
	sqlite3_str *s = sqlite3_str_new(o->sql->db);

	put_select(o, s, 0, used[0], key);
	sqlite3_str_appendall(s, " union all ");
	put_select(o, s, 1, used[1], key);
	sqlite3_str_appendall(s, " order by ");
	for (uint32_t i = 0; i < o->nr_keys; i++)
		sqlite3_str_appendf(s, "%u collate binary, ", i + 2);
	sqlite3_str_appendf(s, "%u", o->nr_keys + 2);
	return sqlite3_str_finish(s);
}

/* ---- rows --------------------------------------------------------------------------- */

static uint32_t nr_values(const struct overlap *o, int side)
{
	return o->nr_keys + o->source[side]->nr_columns;
}

static void row_put(const struct overlap *o, struct overlap_row *row)
{
	if (!row || --row->refs)
		return;
	for (uint32_t i = 0; i < nr_values(o, row->side); i++)
		sqlite3_value_free(row->value[i]);
	free(row);
}

/* The value of a column of the statement.  False: no memory. */
static bool keep_value(struct overlap *o, struct overlap_row *row, uint32_t to, uint32_t column)
{
	sqlite3_value *v = sqlite3_column_value(o->stmt, (int)column);

	if (sqlite3_value_type(v) == SQLITE_NULL)
		return true;
	row->value[to] = sqlite3_value_dup(v);
	return row->value[to];
}

/* The row that the statement is at. */
static struct overlap_row *row_new(struct overlap *o, int side)
{
	uint32_t nr = nr_values(o, side), first = o->nr_keys + 3;
	struct overlap_row *row = calloc(1, sizeof(*row) + nr * sizeof(row->value[0]));
	bool fits = row;

	if (!row)
		return NULL;
	if (side)
		first += o->source[0]->nr_columns;
	row->refs = 1;
	row->side = side;
	row->begin = row->covered = sqlite3_column_int64(o->stmt, (int)o->nr_keys + 1);
	row->end = sqlite3_column_int64(o->stmt, (int)o->nr_keys + 2);
	for (uint32_t i = 0; fits && i < nr; i++)
		fits = keep_value(o, row, i, i < o->nr_keys ? i + 1 : first + i - o->nr_keys);
	if (fits)
		return row;
	row_put(o, row);
	return NULL;
}

static bool is_integer(const struct overlap *o, uint32_t column)
{
	return sqlite3_column_type(o->stmt, (int)column) == SQLITE_INTEGER;
}

/* Whether the statement is at an interval; else o->error says why not. */
static bool is_interval(struct overlap *o, const struct overlap_source *source)
{
	int time = (int)o->nr_keys + 1;

	if (!is_integer(o, o->nr_keys + 1) || !is_integer(o, o->nr_keys + 2)) {
		o->error = sqlite3_mprintf("'%s' has a time or an end that is no integer, at time "
					   "%s", source->name,
					   sqlite3_column_text(o->stmt, time));
		return false;
	}
	if (sqlite3_column_int64(o->stmt, time) <= sqlite3_column_int64(o->stmt, time + 1))
		return true;
	o->error = sqlite3_mprintf("'%s' has a row that ends before it begins, at time %lld",
				   source->name, sqlite3_column_int64(o->stmt, time));
	return false;
}

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* As SQLite orders them: with BINARY, and numbers by their value. */
static bool same_value(sqlite3_value *a, sqlite3_value *b)
{
	int x = sqlite3_value_type(a), y = sqlite3_value_type(b), len;

	if (x == SQLITE_INTEGER && y == SQLITE_INTEGER)
		return sqlite3_value_int64(a) == sqlite3_value_int64(b);
	if (is_number(x) && is_number(y))
		return sqlite3_value_double(a) == sqlite3_value_double(b);
	if (x != y)
		return false;
	len = sqlite3_value_bytes(a);
	return len == sqlite3_value_bytes(b) &&
	       (!len || !memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)len));
}

static bool same_keys(const struct overlap *o, const struct overlap_row *a,
		      const struct overlap_row *b)
{
	for (uint32_t i = 0; i < o->nr_keys; i++)
		if (!same_value(a->value[i], b->value[i]))
			return false;
	return true;
}

/* ---- pieces ------------------------------------------------------------------------- */

static int add_piece(struct overlap *o, int64_t begin, int64_t end, struct overlap_row *x,
		     struct overlap_row *y)
{
	struct overlap_piece *p;

	if (o->nr == o->room) {
		size_t room = o->room ? 2 * o->room : 16;
		struct overlap_piece *list = reallocarray(o->piece, room, sizeof(*list));

		if (!list)
			return SQLITE_NOMEM;
		o->piece = list;
		o->room = room;
	}
	p = &o->piece[o->nr++];
	*p = (struct overlap_piece){ .begin = begin, .end = end };
	p->row[x->side] = x;
	x->refs++;
	if (y) {
		p->row[y->side] = y;
		y->refs++;
	}
	return SQLITE_OK;
}

/* A piece of x is [begin, end): what is before it, and has not been covered. */
static int cover(struct overlap *o, struct overlap_row *x, int64_t begin, int64_t end)
{
	int rc = SQLITE_OK;

	if (o->keep[x->side] && x->covered < begin)
		rc = add_piece(o, x->covered, begin, x, NULL);
	if (x->covered < end)
		x->covered = end;
	x->matched = true;
	return rc;
}

static int pair(struct overlap *o, struct overlap_row *x, struct overlap_row *y)
{
	int64_t end = x->end < y->end ? x->end : y->end;
	int rc = cover(o, x, x->begin, end);

	if (rc == SQLITE_OK)
		rc = cover(o, y, x->begin, end);
	return rc == SQLITE_OK ? add_piece(o, x->begin, end, x, y) : rc;
}

/* Removes an active row: nothing else overlaps it. */
static int retire(struct overlap *o, struct overlap_row **at)
{
	struct overlap_row *row = *at;
	int rc = SQLITE_OK;

	*at = row->next;
	o->nr_active[row->side]--;
	if (o->keep[row->side] && (row->covered < row->end || !row->matched))
		rc = add_piece(o, row->covered, row->end, row, NULL);
	row_put(o, row);
	return rc;
}

static bool is_over(const struct overlap_row *row, int64_t t)
{
	return row->end <= t && row->begin < t;
}

static int retire_all(struct overlap *o)
{
	int rc = SQLITE_OK;

	for (int side = 0; side < 2; side++)
		while (rc == SQLITE_OK && o->active[side])
			rc = retire(o, &o->active[side]);
	return rc;
}

/* Makes a row active; those of its side that ended are removed from time to time. */
static int activate(struct overlap *o, struct overlap_row *row)
{
	int side = row->side, rc = SQLITE_OK;

	if (o->nr_active[side] >= o->prune_at[side]) {
		struct overlap_row **at = &o->active[side];

		while (rc == SQLITE_OK && *at) {
			if (is_over(*at, row->begin))
				rc = retire(o, at);
			else
				at = &(*at)->next;
		}
		o->prune_at[side] = 2 * o->nr_active[side] + PRUNE_MIN;
	}
	row->next = o->active[side];
	o->active[side] = row;
	o->nr_active[side]++;
	row->refs++;
	return rc;
}

static int take_row(struct overlap *o, struct overlap_row *row)
{
	struct overlap_row **at = &o->active[!row->side];
	int rc = SQLITE_OK;

	if (o->last && !same_keys(o, o->last, row))
		rc = retire_all(o);
	row_put(o, o->last);
	o->last = row;
	row->refs++;
	while (rc == SQLITE_OK && *at) {
		if (is_over(*at, row->begin)) {
			rc = retire(o, at);
			continue;
		}
		rc = pair(o, row, *at);
		at = &(*at)->next;
	}
	return rc == SQLITE_OK ? activate(o, row) : rc;
}

/* ---- the scan ----------------------------------------------------------------------- */

/* Reads one row.  SQLite's code. */
static int read_row(struct overlap *o)
{
	struct overlap_row *row;
	int rc, side;

	if (o->sql->nesting >= OVERLAP_NESTING) {
		o->error = sqlite3_mprintf("'%s' reads itself", o->source[0]->name);
		return SQLITE_ERROR;
	}
	o->sql->nesting++;
	rc = sqlite3_step(o->stmt);
	o->sql->nesting--;
	if (rc == SQLITE_DONE) {
		o->read_all = true;
		return retire_all(o);
	}
	if (rc != SQLITE_ROW) {
		if (rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
			o->error = sqlite3_mprintf("%s", sqlite3_errmsg(o->sql->db));
		return rc;
	}
	side = sqlite3_column_int(o->stmt, 0);
	if (!is_interval(o, o->source[side]))
		return SQLITE_ERROR;
	row = row_new(o, side);
	if (!row)
		return SQLITE_NOMEM;
	rc = take_row(o, row);
	row_put(o, row);
	return rc;
}

static void drop_piece(struct overlap *o)
{
	struct overlap_piece *p = &o->piece[o->at++];

	row_put(o, p->row[0]);
	row_put(o, p->row[1]);
	if (o->at == o->nr)
		o->at = o->nr = 0;
}

/* Reads until there is a piece, or the end. */
static int find_piece(struct overlap *o)
{
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && o->at == o->nr && !o->read_all)
		rc = read_row(o);
	o->at_end = rc != SQLITE_OK || o->at == o->nr;
	return rc;
}

int overlap_next(struct overlap *o)
{
	drop_piece(o);
	return find_piece(o);
}

int overlap_begin(struct overlap *o, const uint64_t used[2], sqlite3_value *key)
{
	int rc;

	overlap_end(o);
	rc = prepare(o->sql, statement(o, used, key), o->source[0]->name, &o->stmt, &o->error);
	if (rc == SQLITE_OK && key)
		rc = sqlite3_bind_value(o->stmt, 1, key);
	return rc == SQLITE_OK ? find_piece(o) : rc;
}

void overlap_end(struct overlap *o)
{
	while (o->at < o->nr)
		drop_piece(o);
	free(o->piece);
	for (int side = 0; side < 2; side++)
		for (struct overlap_row *row; (row = o->active[side]);) {
			o->active[side] = row->next;
			row_put(o, row);
		}
	if (o->last)
		row_put(o, o->last);
	(void)sqlite3_finalize(o->stmt);
	sqlite3_free(o->error);
	*o = (struct overlap){ .sql = o->sql, .source = { o->source[0], o->source[1] },
			       .nr_keys = o->nr_keys, .keep = { o->keep[0], o->keep[1] },
			       .at_end = true };
}

/* ---- values ------------------------------------------------------------------------- */

void overlap_result(const struct overlap *o, sqlite3_context *ctx, int side, uint32_t column)
{
	const struct overlap_row *row = o->piece[o->at].row[side];

	if (row && row->value[o->nr_keys + column])
		sqlite3_result_value(ctx, row->value[o->nr_keys + column]);
}

void overlap_key(const struct overlap *o, sqlite3_context *ctx, uint32_t i)
{
	const struct overlap_piece *p = &o->piece[o->at];
	const struct overlap_row *row = p->row[0] ? p->row[0] : p->row[1];

	if (i < o->nr_keys)
		sqlite3_result_value(ctx, row->value[i]);
}
