/* SPDX-License-Identifier: MIT */
/*
 * overlap.h - two tables of intervals, and where their rows overlap: intervals_overlap() and
 * span_join.
 *
 * 1. Input.  A source is what can follow `from`: a table or view, a table function, or a select.
 *	It has a column `time` and a column `end` or `dur`, integers, and columns of keys.  Both
 *	are read by one statement on the same handle, ordered by the keys, then by time:
 *
 *		select 0, KEYS, time, end, COLUMNS of A from A union all
 *		select 1, KEYS, time, end, COLUMNS of B from B  order by KEYS, time
 *
 *	SQLite sorts, in its cache and then in temporary files.  A row without time, end or a key
 *	(NULL) overlaps nothing and is left out.
 *
 * 2. The sweep.  One pass.  `active` has the rows of each side that may still overlap a later one.
 *
 *	O1  A row with other keys ends all active rows.
 *	O2  A row of one side makes a piece with each active row of the other side that it
 *	    overlaps: [begin of the new row, the earlier end).
 *	O3  An active row that ended before is removed when a row of the other side meets it,
 *	    and when its list has grown to twice what was left of it.
 *
 *	Intervals are [begin, end).  One without length, [t, t), overlaps those that include t, and
 *	others [t, t); so rows x and y with x.begin <= y.begin overlap if x.end > y.begin or
 *	x.begin == y.begin.
 *
 *	Rows of one side may overlap each other, as nested slices do: each pair makes a piece.
 *
 * 3. What nothing overlaps.  With keep[side], the parts of a row of that side between its pieces
 *	are pieces, too, without a row of the other side.  `covered` is how far the pieces reach:
 *	they come in order of their begin.  The last part is known when the row is removed.
 *
 * 4. Memory: rows that are open at one time and have equal keys, and the pieces of one row.
 *
 * 5. A source may be a view that reads one of these tables itself.  A definition that goes in a
 *	circle would go on for ever: tacho_sql.nesting counts, and OVERLAP_NESTING is the end.
 */
#ifndef TACHO_SQL_OVERLAP_H
#define TACHO_SQL_OVERLAP_H

#include "sql/tables.h"

#define OVERLAP_KEYS	3
#define OVERLAP_NESTING	8

/* One input.  Memory is an arena of the owner. */
struct overlap_source {
	const char *from;		/* text that can follow `from` */
	const char *name;		/* for messages, and for names of columns */
	const char *key[OVERLAP_KEYS];
	uint32_t nr_keys;
	const char **column, **decl;	/* all columns; decl may have NULL */
	uint32_t nr_columns;
	bool has_end;			/* else dur */
};

struct overlap_row {
	struct overlap_row *next;	/* active */
	uint32_t refs;
	int side;
	int64_t begin, end;
	int64_t covered;		/* by pieces, from begin on */
	bool matched;			/* there was a piece */
	sqlite3_value *value[];		/* keys, then columns; NULL: NULL */
};

struct overlap_piece {
	int64_t begin, end;
	struct overlap_row *row[2];	/* one of them may be NULL */
};

struct overlap {
	struct tacho_sql *sql;
	const struct overlap_source *source[2];
	sqlite3_stmt *stmt;		/* NULL: no scan */
	uint32_t nr_keys;
	bool keep[2];
	struct overlap_row *active[2];
	uint32_t nr_active[2], prune_at[2];
	struct overlap_row *last;	/* whose keys are those of the active rows */
	struct overlap_piece *piece;	/* a queue; the first one is at hand */
	size_t at, nr, room;
	bool read_all, at_end;
	char *error;			/* sqlite3_malloc(); or NULL */
};

/*
 * Finds the columns of a source whose from, name and keys are set.  SQLite's code; if it is not
 * SQLITE_OK, *error may be a sentence, sqlite3_malloc().
 */
int overlap_describe(struct tacho_sql *sql, struct overlap_source *source,
		     struct tacho_arena *arena, char **error);

/* A table or a select as text: what follows `from`.  NULL: no memory. */
const char *overlap_from(const char *text, struct tacho_arena *arena);

/*
 * Begins a scan, which is at its first piece or at_end.  used[side]: which columns are wanted;
 * others are NULL; UINT64_MAX: all, and those from the 63rd on if bit 63 is set.  key: the first
 * key of all pieces, or NULL: any.  o->sql, source, nr_keys and keep are set.  SQLite's code, and
 * o->error.
 */
int overlap_begin(struct overlap *o, const uint64_t used[2], sqlite3_value *key);

/* The next piece.  As overlap_begin(). */
int overlap_next(struct overlap *o);

/* Ends a scan; fine if there is none. */
void overlap_end(struct overlap *o);

/* The value of a column of the piece at hand: of the row of a side, which may be missing. */
void overlap_result(const struct overlap *o, sqlite3_context *ctx, int side, uint32_t column);

/* Key i of the piece at hand. */
void overlap_key(const struct overlap *o, sqlite3_context *ctx, uint32_t i);

/* ---- overlap_fn.c, span.c: the modules ---- */

extern const sqlite3_module sql_overlap_module;
extern const sqlite3_module sql_span_module;	/* the three kinds, by their names */

#endif
