/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what a scan of events or items has to do: from xBestIndex to xFilter.
 *
 * See tables.h, 3.
 */
#ifndef TACHO_SQL_PLAN_H
#define TACHO_SQL_PLAN_H

#include "sql/tables.h"

/* A bit of idxNum each; values follow in this order. */
enum sql_term {
	SQL_TERM_TIME_EQ, SQL_TERM_TIME_GE, SQL_TERM_TIME_GT, SQL_TERM_TIME_LE,
	SQL_TERM_TIME_LT,
	SQL_TERM_CPU, SQL_TERM_PID, SQL_TERM_TID, SQL_TERM_TRACK,
	SQL_TERM_SYSTEM, SQL_TERM_NAME, SQL_TERM_SOURCE, SQL_TERM_COMM, SQL_TERM_CATEGORY,
	SQL_TERM_UNTIL,		/* of items: what the model reads */
	SQL_TERM_LIMIT, SQL_TERM_OFFSET,
	SQL_NR_TERMS,
};

/*
 * The value of a term is a list: bit SQL_TERM_LIST + term - SQL_FIRST_SET, of SQL_TERM_CPU to
 * _CATEGORY.  SQL_PLAN_RECORD: records are numbered, so each is looked at.
 */
#define SQL_TERM_LIST	SQL_NR_TERMS
#define SQL_PLAN_RECORD	(1 << (SQL_TERM_LIST + SQL_NR_NUMBERS + SQL_NR_TEXTS))
/* Of samples: a column of the event, and the number of the stack is used. */
#define SQL_PLAN_PAIRS	(SQL_PLAN_RECORD << 1)
#define SQL_PLAN_STACKS	(SQL_PLAN_RECORD << 2)

#define SQL_FIRST_SET	SQL_TERM_CPU
#define SQL_LAST_SET	SQL_TERM_CATEGORY
#define SQL_NR_NUMBERS	4	/* cpu, pid, tid, track */
#define SQL_NR_TEXTS	5	/* system, name, source, comm, category */

struct sql_numbers {
	int64_t *list;
	uint32_t nr, room;
	bool any;		/* no term: every value passes */
};

struct sql_texts {
	char **list;
	uint32_t nr, room;
	bool any;
};

struct sql_plan {
	uint64_t from, to;	/* ns since 1970, both included */
	struct sql_numbers number[SQL_NR_NUMBERS];
	struct sql_texts text[SQL_NR_TEXTS];
	uint64_t limit;		/* rows, UINT64_MAX: no limit */
	uint64_t until;		/* ns since 1970; valid if has_until */
	bool has_until;
	bool numbers_records;
	bool pairs, numbers_stacks;
	bool nothing;		/* no row can pass */
};

/* What `explain query plan` says of a scan that uses the index of the trace. */
#define SQL_BY_INDEX	"by the index"

/* The xBestIndex of a table of events or of items. */
int sql_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/*
 * Reads idxNum and its values.  SQLITE_OK or SQLITE_NOMEM; to be released either way, and before
 * the plan is read again.
 */
int sql_plan_read(struct sql_plan *plan, int number, int argc, sqlite3_value **argv);
void sql_plan_release(struct sql_plan *plan);

static inline bool sql_is_items(enum sql_table_kind kind)
{
	return kind >= SQL_TABLE_SLICE && kind <= SQL_TABLE_GAP;
}

/* Of a table of items, or of track. */
static inline enum model_items_kind sql_items_kind(enum sql_table_kind kind)
{
	return (enum model_items_kind)(kind - SQL_TABLE_SLICE);
}

bool sql_has_number(const struct sql_numbers *set, int64_t v);
bool sql_has_text(const struct sql_texts *set, const char *s);

#endif
