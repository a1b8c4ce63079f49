// SPDX-License-Identifier: MIT
/* Items of the model as rows: which are wanted, and their values as SQLite's. */
#include "sql/model.h"

/* ---- which are wanted ------------------------------------------------------------------ */

static bool has_number(const struct sql_plan *plan, enum sql_term term, bool known, int64_t v)
{
	const struct sql_numbers *set = &plan->number[term - SQL_FIRST_SET];

	return set->any || (known && sql_has_number(set, v));
}

static bool has_text(const struct sql_plan *plan, enum sql_term term, const char *s)
{
	return sql_has_text(&plan->text[term - SQL_TERM_SYSTEM], s);
}

/* Whether a number that is looked up passes; it is only if a term asks for it. */
static bool passes_of(const struct sql_model_cursor *c, const struct model_item *it,
		      enum sql_term term)
{
	const struct model_items *items = &c->items;
	int64_t v = 0;
	bool known;

	if (c->plan.number[term - SQL_FIRST_SET].any)
		return true;
	known = term == SQL_TERM_CPU ? model_items_cpu(items, it, &v) :
		model_tracks_number(&items->tracks, it->thread,
				    term == SQL_TERM_PID ? MODEL_PROCESS : MODEL_THREAD, &v);
	return has_number(&c->plan, term, known, v);
}

bool sql_item_wanted(void *arg, const struct model_item *it)
{
	const struct sql_model_cursor *c = arg;
	const struct sql_plan *p = &c->plan;

	if (it->time < p->from || it->time > p->to ||
	    !has_number(p, SQL_TERM_TRACK, true, it->track) ||
	    !has_text(p, SQL_TERM_NAME, it->name) ||
	    !has_text(p, SQL_TERM_CATEGORY, it->category))
		return false;
	if (!passes_of(c, it, SQL_TERM_CPU) || !passes_of(c, it, SQL_TERM_PID) ||
	    !passes_of(c, it, SQL_TERM_TID))
		return false;
	return p->text[SQL_TERM_COMM - SQL_TERM_SYSTEM].any ||
	       has_text(p, SQL_TERM_COMM, model_tracks_comm(&c->items.tracks, it->thread));
}

/* ---- columns --------------------------------------------------------------------------- */

/* The columns that have terms, by their kinds in tables of events. */
static enum sql_column_kind kind_of(enum model_of of)
{
	switch ((int)of) {
	case MODEL_OF_TIME:
		return SQL_TIME;
	case MODEL_OF_CPU:
		return SQL_CPU;
	case MODEL_OF_PID:
		return SQL_PID;
	case MODEL_OF_TID:
		return SQL_TID;
	case MODEL_OF_COMM:
		return SQL_COMM;
	case MODEL_OF_NAME:
		return SQL_NAME;
	case MODEL_OF_CATEGORY:
		return SQL_CATEGORY;
	case MODEL_OF_TRACK:
		return SQL_TRACK;
	default:
		return SQL_ITEM;
	}
}

static const char *declared(enum model_type type)
{
	return type == MODEL_TYPE_REAL ? "REAL" :
	       type == MODEL_TYPE_NAME || type == MODEL_TYPE_TEXT ? "TEXT" : "INTEGER";
}

uint32_t sql_item_columns(enum sql_table_kind kind, struct sql_column to[SQL_ITEM_COLUMNS])
{
	const struct model_column *column;
	uint32_t nr;

	if (kind < SQL_TABLE_SLICE || kind > SQL_TABLE_TRACK)
		return 0;
	column = model_items_columns(sql_items_kind(kind), &nr);
	for (uint32_t i = 0; i < nr; i++)
		to[i] = (struct sql_column){
			.name = column[i].name, .kind = kind_of(column[i].of),
			.decl = declared(model_of_type(column[i].of)), .of = column[i].of };
	if (sql_is_items(kind))
		to[nr++] = (struct sql_column){ .name = "until", .kind = SQL_UNTIL,
						.hidden = true, .decl = "INTEGER" };
	return nr;
}

/* ---- values ---------------------------------------------------------------------------- */

int sql_item_result(sqlite3_context *ctx, const struct model_cell *cell)
{
	switch (cell->kind) {
	case MODEL_CELL_INT:
		sqlite3_result_int64(ctx, cell->number);
		break;
	case MODEL_CELL_REAL:
		sqlite3_result_double(ctx, cell->real);
		break;
	case MODEL_CELL_TEXT:
		sqlite3_result_text(ctx, cell->text, -1, SQLITE_TRANSIENT);
		break;
	case MODEL_CELL_NONE:
		break;
	}
	return SQLITE_OK;
}

int sql_item_value(struct sql_model_cursor *c, sqlite3_context *ctx,
		   const struct sql_column *column)
{
	const struct model_item *it = &c->items.queue.list[c->items.queue.at];
	struct model_cell cell;

	c->values++;
	if (column->kind == SQL_UNTIL) {
		if (c->plan.has_until)
			sqlite3_result_int64(ctx, (sqlite3_int64)c->plan.until);
		return SQLITE_OK;
	}
	if (model_items_cell(&c->items, it, column->of, &cell))
		return SQLITE_NOMEM;
	return sql_item_result(ctx, &cell);
}
