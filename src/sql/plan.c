// SPDX-License-Identifier: MIT
#include "sql/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/model.h"

#define ROWS_GUESS	1e6	/* of a trace whose packets were not counted */
#define MODEL_COST	5	/* a pass through the model, in passes over the stream */

/* ---- xBestIndex ----------------------------------------------------------------- */

static const struct {
	enum sql_column_kind kind;
	enum sql_term term;
	double rows;		/* what part of the rows is left */
} sets[] = {
	{ SQL_CPU, SQL_TERM_CPU, 0.25 }, { SQL_PID, SQL_TERM_PID, 0.1 },
	{ SQL_TID, SQL_TERM_TID, 0.05 }, { SQL_SYSTEM, SQL_TERM_SYSTEM, 0.3 },
	{ SQL_NAME, SQL_TERM_NAME, 0.1 }, { SQL_SOURCE, SQL_TERM_SOURCE, 0.5 },
	{ SQL_COMM, SQL_TERM_COMM, 0.1 }, { SQL_TRACK, SQL_TERM_TRACK, 0.05 },
	{ SQL_CATEGORY, SQL_TERM_CATEGORY, 0.3 },
};

static const char *const term_text[SQL_NR_TERMS] = {
	"time=?", "time>=?", "time>?", "time<=?", "time<?", "cpu", "pid", "tid", "track",
	"system", "name", "source", "comm", "category", "until=?", "limit", "offset",
};

struct choice {
	int at[SQL_NR_TERMS];	/* constraint of each term, or -1 */
	bool list[SQL_NR_TERMS];
	bool all;		/* every other constraint was taken */
	double part, rows;	/* of the trace that is read; of the rows */
};

static int time_term(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return SQL_TERM_TIME_EQ;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return SQL_TERM_TIME_GE;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return SQL_TERM_TIME_GT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return SQL_TERM_TIME_LE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return SQL_TERM_TIME_LT;
	default:
		return -1;
	}
}

/* The term that a constraint of a column is, or -1. */
static int column_term(const struct sql_column *column, sqlite3_index_info *info, int i)
{
	unsigned char op = info->aConstraint[i].op;

	if (column->kind == SQL_TIME)
		return time_term(op);
	if (op != SQLITE_INDEX_CONSTRAINT_EQ)
		return -1;
	if (column->kind == SQL_UNTIL)
		return SQL_TERM_UNTIL;
	for (size_t k = 0; k < TACHO_ARRAY_SIZE(sets); k++) {
		if (sets[k].kind != column->kind)
			continue;
		if (sets[k].term >= SQL_TERM_SYSTEM &&
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			return -1;
		return (int)sets[k].term;
	}
	return -1;
}

static int term_of(const struct sql_table *table, sqlite3_index_info *info, int i)
{
	int column = info->aConstraint[i].iColumn;

	if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT)
		return SQL_TERM_LIMIT;
	if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET)
		return SQL_TERM_OFFSET;
	if (column < 0 || (uint32_t)column >= table->nr_columns)
		return -1;
	return column_term(&table->column[column], info, i);
}

static void choose(const struct sql_table *table, sqlite3_index_info *info, struct choice *c)
{
	c->all = true;
	for (int i = 0; i < SQL_NR_TERMS; i++)
		c->at[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		int term = term_of(table, info, i);

		if (info->aConstraint[i].usable && term >= 0 && c->at[term] < 0) {
			c->at[term] = i;
			c->list[term] = term >= SQL_FIRST_SET && term <= SQL_LAST_SET &&
					sqlite3_vtab_in(info, i, -1);
		} else {
			c->all = false;
		}
	}
}

/* Rows come in order of time; items in order of their ends. */
static bool is_in_order(const struct sql_table *table, const sqlite3_index_info *info)
{
	int column;

	if (info->nOrderBy != 1 || info->aOrderBy[0].desc ||
	    (sql_is_items(table->kind) && table->kind != SQL_TABLE_INSTANT))
		return false;
	column = info->aOrderBy[0].iColumn;
	return column >= 0 && (uint32_t)column < table->nr_columns &&
	       table->column[column].kind == SQL_TIME;
}

static void estimate(struct choice *c)
{
	bool low = c->at[SQL_TERM_TIME_GE] >= 0 || c->at[SQL_TERM_TIME_GT] >= 0;
	bool high = c->at[SQL_TERM_TIME_LE] >= 0 || c->at[SQL_TERM_TIME_LT] >= 0;

	c->part = c->at[SQL_TERM_TIME_EQ] >= 0 ? 1e-4 : low && high ? 0.01 :
		  low || high ? 0.4 : 1;
	c->rows = c->part;
	for (size_t k = 0; k < TACHO_ARRAY_SIZE(sets); k++)
		if (c->at[sets[k].term] >= 0)
			c->rows *= sets[k].rows;
}

/* A set is called like its column. */
static const char *term_name(const struct sql_table *table, const sqlite3_index_info *info,
			     const struct choice *c, int term)
{
	if (term < SQL_FIRST_SET || term > SQL_LAST_SET)
		return term_text[term];
	return table->column[info->aConstraint[c->at[term]].iColumn].name;
}

static char *describe(const struct sql_table *table, const sqlite3_index_info *info,
		      const struct choice *c, bool ordered, bool indexed)
{
	sqlite3_str *s = sqlite3_str_new(NULL);
	const char *blank = "";

	for (int i = 0; i < SQL_NR_TERMS; i++) {
		if (c->at[i] < 0)
			continue;
		sqlite3_str_appendf(s, "%s%s%s", blank, term_name(table, info, c, i),
				    c->list[i] ? " in (...)" :
				    i >= SQL_FIRST_SET && i <= SQL_LAST_SET ? "=?" : "");
		blank = " ";
	}
	if (ordered) {
		sqlite3_str_appendf(s, "%sorder by time", blank);
		blank = " ";
	}
	if (indexed)
		sqlite3_str_appendf(s, "%s" SQL_BY_INDEX, blank);
	if (indexed)
		blank = " ";
	sqlite3_str_appendf(s, "%scolumns:", blank);
	for (uint32_t i = 0; i < table->nr_columns; i++)
		if (info->colUsed & (sqlite3_uint64)1 << (i < 63 ? i : 63))
			sqlite3_str_appendf(s, " %s", table->column[i].name);
	return sqlite3_str_finish(s);
}

/* A join that would give `until` later is no plan: the model reads to its end without. */
static bool until_is_known(const struct sql_table *table, const sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable && column >= 0 &&
		    (uint32_t)column < table->nr_columns &&
		    table->column[column].kind == SQL_UNTIL &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return false;
	}
	return true;
}

/* The bits of idxNum for columns that take more than the record at hand. */
static int used_bits(const struct sql_table *table, const sqlite3_index_info *info)
{
	int bits = 0;

	if (table->kind != SQL_TABLE_EVENTS && table->kind != SQL_TABLE_SAMPLE)
		return 0;
	for (uint32_t i = 0; i < table->nr_columns; i++) {
		enum sql_column_kind kind = table->column[i].kind;

		if (!(info->colUsed & (sqlite3_uint64)1 << i))
			continue;
		if (kind == SQL_RECORD)
			bits |= SQL_PLAN_RECORD;
		else if (kind == SQL_EVENT_RECORD)
			bits |= SQL_PLAN_RECORD | SQL_PLAN_PAIRS;
		else if (kind == SQL_EVENT_SYSTEM || kind == SQL_EVENT_NAME)
			bits |= SQL_PLAN_PAIRS;
		else if (kind == SQL_STACK)
			bits |= SQL_PLAN_STACKS;
	}
	return bits;
}

/* Units of a full pass are those of reading; the model costs as much again several times. */
static void set_costs(const struct sql_vtab *v, sqlite3_index_info *info, struct choice *c)
{
	bool full = info->idxNum & SQL_PLAN_RECORD || sql_is_items(v->table->kind);

	estimate(c);
	info->estimatedRows = (sqlite3_int64)(c->rows * ROWS_GUESS) + 1;
	/* without places of records several scans cannot be joined */
	if (!v->trace->has_places && c->part < 0.6)
		c->part = 0.6;
	info->estimatedCost = c->part * ROWS_GUESS * (0.9 + 0.1 * c->rows / c->part) + 1;
	if (full)
		info->estimatedCost = ROWS_GUESS * (0.9 + 0.1 * c->rows);
	if (sql_is_items(v->table->kind))
		info->estimatedCost *= MODEL_COST;
}

/* Whether the model begins at a checkpoint of the index. */
static bool begins_late(const struct sql_vtab *v, const struct choice *c)
{
	return sql_is_items(v->table->kind) &&
	       (c->at[SQL_TERM_TIME_EQ] >= 0 || c->at[SQL_TERM_TIME_GE] >= 0 ||
		c->at[SQL_TERM_TIME_GT] >= 0) && sql_index(v->trace);
}

int sql_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_vtab *v = (const struct sql_vtab *)(const void *)vtab;
	bool ordered = is_in_order(v->table, info);
	struct choice c = { .all = false };
	int argc = 0;

	if (!until_is_known(v->table, info))
		return SQLITE_CONSTRAINT;
	choose(v->table, info, &c);
	/* a limit counts what is left after all terms, in the order that was asked for */
	if (!c.all || (info->nOrderBy && !ordered))
		c.at[SQL_TERM_LIMIT] = c.at[SQL_TERM_OFFSET] = -1;
	info->idxNum = 0;
	for (int i = 0; i < SQL_NR_TERMS; i++) {
		if (c.at[i] < 0)
			continue;
		info->idxNum |= 1 << i;
		if (c.list[i]) {
			(void)sqlite3_vtab_in(info, c.at[i], 1);
			info->idxNum |= 1 << (SQL_TERM_LIST + i - SQL_FIRST_SET);
		}
		info->aConstraintUsage[c.at[i]].argvIndex = ++argc;
		info->aConstraintUsage[c.at[i]].omit = i < SQL_TERM_LIMIT;
	}
	info->idxNum |= used_bits(v->table, info);
	set_costs(v, info, &c);
	info->orderByConsumed = ordered;
	info->idxStr = describe(v->table, info, &c, ordered, begins_late(v, &c));
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- values ----------------------------------------------------------------------- */

static int add_number(struct sql_numbers *set, int64_t v)
{
	if (set->nr == set->room) {
		uint32_t room = set->room ? 2 * set->room : 8;
		int64_t *list = reallocarray(set->list, room, sizeof(*list));

		if (!list)
			return SQLITE_NOMEM;
		set->list = list;
		set->room = room;
	}
	set->list[set->nr++] = v;
	return SQLITE_OK;
}

/* A value that no integer is equal to adds nothing. */
static int add_number_value(struct sql_numbers *set, sqlite3_value *value)
{
	double d;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		return add_number(set, sqlite3_value_int64(value));
	case SQLITE_FLOAT:
		d = sqlite3_value_double(value);
		if (d == floor(d) && d >= -9e15 && d <= 9e15)
			return add_number(set, (int64_t)d);
		return SQLITE_OK;
	default:
		return SQLITE_OK;
	}
}

static int add_text_value(struct sql_texts *set, sqlite3_value *value)
{
	int type = sqlite3_value_type(value);
	const unsigned char *text;

	if (type == SQLITE_NULL || type == SQLITE_BLOB)
		return SQLITE_OK;
	text = sqlite3_value_text(value);
	if (!text)
		return SQLITE_NOMEM;
	if (set->nr == set->room) {
		uint32_t room = set->room ? 2 * set->room : 8;
		char **list = reallocarray(set->list, room, sizeof(*list));

		if (!list)
			return SQLITE_NOMEM;
		set->list = list;
		set->room = room;
	}
	set->list[set->nr] = strdup((const char *)text);
	if (!set->list[set->nr])
		return SQLITE_NOMEM;
	set->nr++;
	return SQLITE_OK;
}

static int add_value(struct sql_plan *plan, int term, sqlite3_value *value)
{
	return term < SQL_TERM_SYSTEM ?
	       add_number_value(&plan->number[term - SQL_FIRST_SET], value) :
	       add_text_value(&plan->text[term - SQL_TERM_SYSTEM], value);
}

static int read_set(struct sql_plan *plan, int term, bool list, sqlite3_value *value)
{
	sqlite3_value *one = NULL;
	int rc;

	if (term < SQL_TERM_SYSTEM)
		plan->number[term - SQL_FIRST_SET].any = false;
	else
		plan->text[term - SQL_TERM_SYSTEM].any = false;
	if (!list)
		return add_value(plan, term, value);
	for (rc = sqlite3_vtab_in_first(value, &one); rc == SQLITE_OK && one;
	     rc = sqlite3_vtab_in_next(value, &one)) {
		rc = add_value(plan, term, one);
		if (rc != SQLITE_OK)
			return rc;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void at_least(struct sql_plan *plan, int64_t v)
{
	if (v > 0 && (uint64_t)v > plan->from)
		plan->from = (uint64_t)v;
}

static void at_most(struct sql_plan *plan, int64_t v)
{
	if (v < 0)
		plan->nothing = true;
	else if (v < INT64_MAX && (uint64_t)v < plan->to)
		plan->to = (uint64_t)v;
}

/* A real number becomes the integers that it bounds. */
static void read_real_time(struct sql_plan *plan, int term, double d)
{
	const double max = 9.2e18;
	double low = ceil(d), high = floor(d);

	if (isnan(d) || (term == SQL_TERM_TIME_EQ && low != high)) {
		plan->nothing = true;
		return;
	}
	if (term == SQL_TERM_TIME_GT && low == d)
		low += 1;
	if (term == SQL_TERM_TIME_LT && high == d)
		high -= 1;
	if (term <= SQL_TERM_TIME_GT) {
		if (low > max)
			plan->nothing = true;
		else if (low > 0)
			at_least(plan, (int64_t)low);
	}
	if (term == SQL_TERM_TIME_EQ || term >= SQL_TERM_TIME_LE)
		at_most(plan, high > max ? INT64_MAX : high < 0 ? -1 : (int64_t)high);
}

static void read_integer_time(struct sql_plan *plan, int term, int64_t v)
{
	if ((term == SQL_TERM_TIME_GT && v == INT64_MAX) ||
	    (term == SQL_TERM_TIME_LT && v == INT64_MIN)) {
		plan->nothing = true;
		return;
	}
	if (term <= SQL_TERM_TIME_GT)
		at_least(plan, v + (term == SQL_TERM_TIME_GT));
	if (term == SQL_TERM_TIME_EQ || term >= SQL_TERM_TIME_LE)
		at_most(plan, v - (term == SQL_TERM_TIME_LT));
}

/* A text that is no number, and bytes, are greater than all numbers. */
static void read_time(struct sql_plan *plan, int term, sqlite3_value *value)
{
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		read_integer_time(plan, term, sqlite3_value_int64(value));
		break;
	case SQLITE_FLOAT:
		read_real_time(plan, term, sqlite3_value_double(value));
		break;
	case SQLITE_NULL:
		plan->nothing = true;
		break;
	default:
		plan->nothing |= term <= SQL_TERM_TIME_GT;
	}
}

static void read_limit(struct sql_plan *plan, int term, sqlite3_value *value)
{
	int64_t n = sqlite3_value_int64(value);

	if (term == SQL_TERM_LIMIT)
		plan->limit = n < 0 ? UINT64_MAX : (uint64_t)n;
	else if (n > 0 && plan->limit < UINT64_MAX - (uint64_t)n)
		plan->limit += (uint64_t)n;
}

static void read_until(struct sql_plan *plan, sqlite3_value *value)
{
	int64_t v = sqlite3_value_int64(value);

	plan->has_until = true;
	plan->nothing |= sqlite3_value_numeric_type(value) != SQLITE_INTEGER || v < 0;
	plan->until = v < 0 ? 0 : (uint64_t)v;
}

int sql_plan_read(struct sql_plan *plan, int number, int argc, sqlite3_value **argv)
{
	int rc = SQLITE_OK, arg = 0;

	*plan = (struct sql_plan){ .to = UINT64_MAX, .limit = UINT64_MAX,
				   .numbers_records = number & SQL_PLAN_RECORD,
				   .pairs = number & SQL_PLAN_PAIRS,
				   .numbers_stacks = number & SQL_PLAN_STACKS };
	for (int i = 0; i < SQL_NR_NUMBERS; i++)
		plan->number[i].any = true;
	for (int i = 0; i < SQL_NR_TEXTS; i++)
		plan->text[i].any = true;
	for (int i = 0; rc == SQLITE_OK && i < SQL_NR_TERMS && arg < argc; i++) {
		if (!(number & 1 << i))
			continue;
		if (i < SQL_FIRST_SET)
			read_time(plan, i, argv[arg]);
		else if (i == SQL_TERM_UNTIL)
			read_until(plan, argv[arg]);
		else if (i >= SQL_TERM_LIMIT)
			read_limit(plan, i, argv[arg]);
		else
			rc = read_set(plan, i, number & 1 << (SQL_TERM_LIST + i - SQL_FIRST_SET),
				      argv[arg]);
		arg++;
	}
	for (int i = 0; i < SQL_NR_NUMBERS; i++)
		plan->nothing |= !plan->number[i].any && !plan->number[i].nr;
	for (int i = 0; i < SQL_NR_TEXTS; i++)
		plan->nothing |= !plan->text[i].any && !plan->text[i].nr;
	plan->nothing |= plan->from > plan->to;
	return rc;
}

void sql_plan_release(struct sql_plan *plan)
{
	for (int i = 0; i < SQL_NR_NUMBERS; i++)
		free(plan->number[i].list);
	for (int i = 0; i < SQL_NR_TEXTS; i++) {
		for (uint32_t k = 0; k < plan->text[i].nr; k++)
			free(plan->text[i].list[k]);
		free(plan->text[i].list);
	}
	*plan = (struct sql_plan){ .nothing = true };
}

bool sql_has_number(const struct sql_numbers *set, int64_t v)
{
	if (set->any)
		return true;
	for (uint32_t i = 0; i < set->nr; i++)
		if (set->list[i] == v)
			return true;
	return false;
}

bool sql_has_text(const struct sql_texts *set, const char *s)
{
	if (set->any)
		return true;
	for (uint32_t i = 0; s && i < set->nr; i++)
		if (!strcmp(set->list[i], s))
			return true;
	return false;
}
