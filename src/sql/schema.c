// SPDX-License-Identifier: MIT
/* Which tables a trace has, what their columns are called, and how SQLite gets them. */
#include "sql/tables.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "sql/model.h"
#include "sql/stack.h"

/* SQLite takes 2,000. */
#define COLUMNS_MAX	1900u

/* The tables that every trace has, if its format has what they show. */
static const struct {
	const char *name;
	enum sql_table_kind kind;
	const char *module;
} fixed[] = {
	{ "events", SQL_TABLE_EVENTS, "tacho_events" },
	{ "loss", SQL_TABLE_LOSS, "tacho_events" },
	{ "sample", SQL_TABLE_SAMPLE, "tacho_events" },
	{ "frame", SQL_TABLE_FRAME, "tacho_frame" },
	{ "thread", SQL_TABLE_THREAD, "tacho_rows" },
	{ "process", SQL_TABLE_PROCESS, "tacho_rows" },
	{ "cpu", SQL_TABLE_CPU, "tacho_rows" },
	{ "packet", SQL_TABLE_PACKET, "tacho_rows" },
	{ "env", SQL_TABLE_ENV, "tacho_rows" },
	{ "type", SQL_TABLE_TYPE, "tacho_rows" },
	{ "field", SQL_TABLE_FIELD, "tacho_rows" },
	{ "hist", SQL_TABLE_HIST, "tacho_hist" },
	{ "states", SQL_TABLE_STATES, "tacho_states" },
};

/* Names that no event's table gets, beside those of the tables above. */
static const char *const reserved[] = {
	"intervals_overlap", "span_join", "span_left_join", "span_outer_join",
};

#define COLUMN(n, k, type)	{ .name = (n), .kind = (k), .decl = (type) }
#define HIDDEN(n, k, type)	{ .name = (n), .kind = (k), .decl = (type), .hidden = true }

static const struct sql_column common_columns[] = {
	COLUMN("time", SQL_TIME, "INTEGER"),
	COLUMN("cpu", SQL_CPU, "INTEGER"),
	COLUMN("pid", SQL_PID, "INTEGER"),
	COLUMN("tid", SQL_TID, "INTEGER"),
	COLUMN("comm", SQL_COMM, "TEXT"),
};

static const struct sql_column events_columns[] = {
	COLUMN("system", SQL_SYSTEM, "TEXT"),
	COLUMN("name", SQL_NAME, "TEXT"),
	COLUMN("source", SQL_SOURCE, "TEXT"),
	COLUMN("lost", SQL_LOST, "INTEGER"),
	COLUMN("text", SQL_TEXT, "TEXT"),
	HIDDEN("context", SQL_CONTEXT, "TEXT"),
	HIDDEN("ticks", SQL_TICKS, "INTEGER"),
	HIDDEN("buffer", SQL_BUFFER, "TEXT"),
	HIDDEN("record", SQL_RECORD, "INTEGER"),
};

/* After the fields of an event. */
static const struct sql_column hidden_columns[] = {
	HIDDEN("lost", SQL_LOST, "INTEGER"),
	HIDDEN("text", SQL_TEXT, "TEXT"),
	HIDDEN("context", SQL_CONTEXT, "TEXT"),
	HIDDEN("ticks", SQL_TICKS, "INTEGER"),
	HIDDEN("buffer", SQL_BUFFER, "TEXT"),
};

static const struct sql_column loss_columns[] = {
	COLUMN("time", SQL_TIME, "INTEGER"),
	COLUMN("cpu", SQL_CPU, "INTEGER"),
	COLUMN("source", SQL_SOURCE, "TEXT"),
	COLUMN("buffer", SQL_BUFFER, "TEXT"),
	COLUMN("lost", SQL_LOST, "INTEGER"),
};

static const struct sql_column sample_columns[] = {
	COLUMN("system", SQL_EVENT_SYSTEM, "TEXT"),
	COLUMN("event", SQL_EVENT_NAME, "TEXT"),
	COLUMN("source", SQL_SOURCE, "TEXT"),
	COLUMN("stack", SQL_STACK, "INTEGER"),
	COLUMN("depth", SQL_STACK_DEPTH, "INTEGER"),
	COLUMN("symbol", SQL_SYMBOL, "TEXT"),
	COLUMN("module", SQL_MODULE, "TEXT"),
	COLUMN("folded", SQL_FOLDED, "TEXT"),
	HIDDEN("text", SQL_TEXT, "TEXT"),
	HIDDEN("buffer", SQL_BUFFER, "TEXT"),
	HIDDEN("record", SQL_RECORD, "INTEGER"),
	HIDDEN("event_record", SQL_EVENT_RECORD, "INTEGER"),
};

/* ---- names of tables ------------------------------------------------------------ */

static uint32_t hash_name(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 ^ (uint32_t)tolower((unsigned char)*name);
	return h % SQL_TABLE_HASH;
}

static uint32_t hash_event(const char *system, const char *event)
{
	uint64_t h = tacho_hash(event, strlen(event), tacho_hash(system, strlen(system), 0));

	return (uint32_t)(h % SQL_TABLE_HASH);
}

struct sql_table *sql_find_table(const struct sql_trace *trace, const char *name)
{
	struct sql_table *t = trace->named[hash_name(name)];

	while (t && strcasecmp(t->name, name))
		t = t->next_named;
	return t;
}

const struct sql_table *sql_event_table(const struct sql_trace *trace, const char *system,
					const char *event)
{
	const struct sql_table *t = trace->of_event[hash_event(system, event)];

	while (t && (strcmp(t->event, event) || strcmp(t->system, system)))
		t = t->next_event;
	return t;
}

static void add_table(struct sql_trace *trace, struct sql_table *t)
{
	struct sql_table **named = &trace->named[hash_name(t->name)];

	*trace->last_table = t;
	trace->last_table = &t->next;
	t->next_named = *named;
	*named = t;
	trace->nr_tables++;
	if (t->kind == SQL_TABLE_EVENT) {
		struct sql_table **event = &trace->of_event[hash_event(t->system, t->event)];

		t->next_event = *event;
		*event = t;
	}
}

/* ---- types, by name --------------------------------------------------------------- */

static int type_order(const void *a, const void *b)
{
	const struct tacho_type *x = *(const struct tacho_type *const *)a;
	const struct tacho_type *y = *(const struct tacho_type *const *)b;
	int ret = strcasecmp(x->name, y->name);

	if (!ret)
		ret = strcmp(x->name, y->name);
	if (!ret)
		ret = strcmp(x->system, y->system);
	return ret ? ret : (x->id > y->id) - (x->id < y->id);
}

static int list_types(struct sql_trace *trace)
{
	const struct tacho_type *type;
	uint32_t room = 0;

	trace->nr_types = 0;
	for (uint32_t i = 0; (type = tacho_stream_type(trace->main.stream, i)); i++) {
		if (i == room) {
			const struct tacho_type **list;

			room = room ? 2 * room : 64;
			list = reallocarray(trace->type, room, sizeof(*list));
			if (!list)
				return -ENOMEM;
			trace->type = list;
		}
		trace->type[trace->nr_types++] = type;
	}
	if (trace->nr_types)
		qsort(trace->type, trace->nr_types, sizeof(struct tacho_type *), type_order);
	return 0;
}

/* Whether another system of the trace has an event of that name, as SQL compares names. */
static bool is_shared(const struct sql_trace *trace, uint32_t at)
{
	const struct tacho_type *type = trace->type[at];

	for (int step = -1; step <= 1; step += 2)
		for (uint32_t i = at + (uint32_t)step; i < trace->nr_types; i += (uint32_t)step) {
			const struct tacho_type *other = trace->type[i];

			if (strcasecmp(other->name, type->name))
				break;
			if (strcmp(other->system, type->system) || strcmp(other->name, type->name))
				return true;
		}
	return false;
}

static bool is_free(const struct sql_trace *trace, const char *name)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(reserved); i++)
		if (!strcasecmp(name, reserved[i]))
			return false;
	return *name && strncasecmp(name, "sqlite_", 7) && !sql_find_table(trace, name);
}

static const char *table_name(struct sql_trace *trace, uint32_t at)
{
	const struct tacho_type *type = trace->type[at];
	char name[512];

	if (!is_shared(trace, at) && is_free(trace, type->name))
		return tacho_arena_strndup(&trace->arena, type->name, strlen(type->name));
	(void)snprintf(name, sizeof(name), "%.250s_%.250s", type->system, type->name);
	for (uint32_t n = 2; !is_free(trace, name); n++)
		(void)snprintf(name, sizeof(name), "event_%.200s_%.200s_%u", type->system,
			       type->name, n);
	return tacho_arena_strndup(&trace->arena, name, strlen(name));
}

/* ---- columns --------------------------------------------------------------------- */

static bool column_taken(const struct sql_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (!strcasecmp(t->column[i].name, name))
			return true;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(hidden_columns); i++)
		if (!strcasecmp(hidden_columns[i].name, name))
			return true;
	return !*name || !strcasecmp(name, "rowid") || !strcasecmp(name, "oid") ||
	       !strcasecmp(name, "_rowid_");
}

static bool has_field(const struct sql_table *t, const char *field, enum sql_column_kind kind)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (t->column[i].kind == kind && !strcmp(t->column[i].field, field))
			return true;
	return false;
}

/* NAME; if that is taken field_NAME, then field_NAME_2, ... */
static const char *column_name(struct sql_trace *trace, const struct sql_table *t,
			       const char *want)
{
	char name[300];

	(void)snprintf(name, sizeof(name), "%.250s", want);
	if (column_taken(t, name))
		(void)snprintf(name, sizeof(name), "field_%.250s", want);
	for (uint32_t n = 2; column_taken(t, name); n++)
		(void)snprintf(name, sizeof(name), "field_%.250s_%u", want, n);
	return tacho_arena_strndup(&trace->arena, name, strlen(name));
}

static const char *declared(const struct tacho_field_info *info)
{
	if (info->kind == TACHO_VALUE_STRING || info->kind == TACHO_VALUE_BITMASK)
		return "TEXT";
	if (info->kind == TACHO_VALUE_BYTES)
		return "BLOB";
	if (info->flags & TACHO_VALUE_ARRAY)
		return "TEXT";
	return info->kind == TACHO_VALUE_FLOAT ? "REAL" : "INTEGER";
}

static void add_column(struct sql_trace *trace, struct sql_table *t, const char *want,
		       enum sql_column_kind kind, const char *decl, const char *field)
{
	struct sql_column *c = &t->column[t->nr_columns];

	if (t->nr_columns >= COLUMNS_MAX || has_field(t, field, kind))
		return;
	*c = (struct sql_column){ .kind = kind, .decl = decl,
		.name = column_name(trace, t, want),
		.field = tacho_arena_strndup(&trace->arena, field, strlen(field)) };
	t->nr_columns += c->name && c->field;
}

static void add_field(struct sql_trace *trace, struct sql_table *t,
		      const struct tacho_type *type, const struct tacho_field *field)
{
	struct tacho_field_info info;
	char name[300];

	if (tacho_type_field_info(type, field, &info) || info.flags & TACHO_VALUE_COMMON)
		return;
	add_column(trace, t, field->name, SQL_FIELD, declared(&info), field->name);
	if (info.names == TACHO_NAMES_NONE || info.kind != TACHO_VALUE_INTEGER)
		return;
	(void)snprintf(name, sizeof(name), "%.250s_name", field->name);
	add_column(trace, t, name, SQL_FIELD_NAME, "TEXT", field->name);
}

static bool is_event(const struct sql_table *t, const struct tacho_type *type)
{
	return !strcmp(type->name, t->event) && !strcmp(type->system, t->system);
}

static int set_columns(struct sql_table *t, struct tacho_arena *arena,
		       const struct sql_column *columns, size_t nr)
{
	t->column = tacho_arena_array(arena, nr, sizeof(*columns));
	if (!t->column)
		return -ENOMEM;
	memcpy(t->column, columns, nr * sizeof(*columns));
	t->nr_columns = (uint32_t)nr;
	return 0;
}

/* All layouts of the event, which are neighbours: one column for each name of a field. */
static int event_columns(struct sql_trace *trace, struct sql_table *t, uint32_t at)
{
	const size_t nr_common = TACHO_ARRAY_SIZE(common_columns);
	const size_t nr_hidden = TACHO_ARRAY_SIZE(hidden_columns);
	struct sql_column *column = calloc(COLUMNS_MAX + nr_hidden, sizeof(*column));

	if (!column)
		return -ENOMEM;
	t->column = column;
	memcpy(t->column, common_columns, sizeof(common_columns));
	t->nr_columns = (uint32_t)nr_common;
	for (; at < trace->nr_types && is_event(t, trace->type[at]); at++)
		for (uint32_t k = 0; k < trace->type[at]->nr_fields; k++)
			add_field(trace, t, trace->type[at], &trace->type[at]->fields[k]);
	memcpy(&column[t->nr_columns], hidden_columns, sizeof(hidden_columns));
	t->column = NULL;
	if (set_columns(t, &trace->arena, column, t->nr_columns + nr_hidden))
		trace->arena.no_memory = true;
	free(column);
	return trace->arena.no_memory ? -ENOMEM : 0;
}

/* The common columns, and others. */
static int common_and(struct sql_table *t, struct tacho_arena *arena,
		      const struct sql_column *columns, size_t nr)
{
	const size_t nr_common = TACHO_ARRAY_SIZE(common_columns);
	struct sql_column both[32];

	memcpy(both, common_columns, sizeof(common_columns));
	memcpy(both + nr_common, columns, nr * sizeof(*columns));
	return set_columns(t, arena, both, nr_common + nr);
}

_Static_assert(TACHO_ARRAY_SIZE(common_columns) + TACHO_ARRAY_SIZE(sample_columns) <= 32 &&
	       TACHO_ARRAY_SIZE(common_columns) + TACHO_ARRAY_SIZE(events_columns) <= 32,
	       "columns of common_and()");

static int make_columns(struct sql_trace *trace, struct sql_table *t, uint32_t at)
{
	struct sql_column of_items[SQL_ITEM_COLUMNS];
	uint32_t nr;

	switch ((int)t->kind) {
	case SQL_TABLE_EVENT:
		return event_columns(trace, t, at);
	case SQL_TABLE_EVENTS:
		return common_and(t, &trace->arena, events_columns,
				  TACHO_ARRAY_SIZE(events_columns));
	case SQL_TABLE_SAMPLE:
		return common_and(t, &trace->arena, sample_columns,
				  TACHO_ARRAY_SIZE(sample_columns));
	case SQL_TABLE_LOSS:
		return set_columns(t, &trace->arena, loss_columns,
				   TACHO_ARRAY_SIZE(loss_columns));
	default:
		/* other modules know their columns */
		nr = sql_item_columns(t->kind, of_items);
		return nr ? set_columns(t, &trace->arena, of_items, nr) : 0;
	}
}

/* ---- creating -------------------------------------------------------------------- */

static int run(struct sql_trace *trace, char *text, struct tacho_diag *d)
{
	int rc = text ? sqlite3_exec(trace->sql->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	if (rc == SQLITE_NOMEM)
		return tacho_no_memory(d);
	return rc == SQLITE_OK ? 0 :
	       tacho_diag(d, -EINVAL, 0, "%s", sqlite3_errmsg(trace->sql->db));
}

/* The table is in the list before SQLite asks for it. */
static struct sql_table *new_table(struct sql_trace *trace, const char *name,
				   enum sql_table_kind kind)
{
	struct sql_table *t = tacho_arena_alloc(&trace->arena, sizeof(*t));

	if (!t || !name)
		return NULL;
	*t = (struct sql_table){ .name = name, .kind = kind };
	return t;
}

/* at: place of its first type, of a table of an event. */
static int create(struct sql_trace *trace, struct sql_table *t, const char *module,
		  uint32_t at, struct tacho_diag *d)
{
	int err = make_columns(trace, t, at);

	if (err)
		return tacho_no_memory(d);
	add_table(trace, t);
	if (t->kind == SQL_TABLE_EVENT)
		return run(trace, sqlite3_mprintf("create virtual table \"%w\".\"%w\" using "
						  "%s('%q:%q')", trace->schema, t->name, module,
						  t->system, t->event), d);
	return run(trace, sqlite3_mprintf("create virtual table \"%w\".\"%w\" using %s",
					  trace->schema, t->name, module), d);
}

static int create_fixed(struct sql_trace *trace, struct tacho_diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(fixed); i++) {
		struct sql_table *t;

		if (fixed[i].kind == SQL_TABLE_PACKET && !trace->has_packets)
			continue;
		t = new_table(trace, fixed[i].name, fixed[i].kind);
		err = t ? create(trace, t, fixed[i].module, 0, d) : tacho_no_memory(d);
	}
	return err;
}

/* The tables of items, and track. */
static int create_items(struct sql_trace *trace, struct tacho_diag *d)
{
	int err = 0;

	for (int i = 0; !err && i < MODEL_NR_ITEMS; i++) {
		struct sql_table *t = new_table(trace, model_items_name((enum model_items_kind)i),
						(enum sql_table_kind)(SQL_TABLE_SLICE + i));

		err = t ? create(trace, t, i == MODEL_ITEMS_TRACK ? "tacho_track" : "tacho_model",
				 0, d) : tacho_no_memory(d);
	}
	return err;
}

static int create_event(struct sql_trace *trace, uint32_t at, struct tacho_diag *d)
{
	struct sql_table *t = new_table(trace, table_name(trace, at), SQL_TABLE_EVENT);
	const struct tacho_type *type = trace->type[at];

	if (!t)
		return tacho_no_memory(d);
	t->system = tacho_arena_strndup(&trace->arena, type->system, strlen(type->system));
	t->event = tacho_arena_strndup(&trace->arena, type->name, strlen(type->name));
	if (!t->system || !t->event)
		return tacho_no_memory(d);
	return create(trace, t, "tacho_events", at, d);
}

static int create_events(struct sql_trace *trace, struct tacho_diag *d)
{
	int err = list_types(trace) ? tacho_no_memory(d) : 0;

	for (uint32_t i = 0; !err && i < trace->nr_types; i++)
		if (!sql_event_table(trace, trace->type[i]->system, trace->type[i]->name) &&
		    trace->nr_tables < SQL_TABLES_MAX)
			err = create_event(trace, i, d);
	free(trace->type);
	trace->type = NULL;
	return err;
}

int sql_schema_make(struct sql_trace *trace, struct tacho_diag *d)
{
	int err = run(trace, sqlite3_mprintf("savepoint tacho_tables"), d);

	if (err)
		return err;
	if (!trace->tables) {
		err = create_fixed(trace, d);
		if (!err)
			err = create_items(trace, d);
	}
	if (!err)
		err = create_events(trace, d);
	if (!err && tacho_stream_check(trace->main.stream))
		err = app_stream_failed(trace->main.stream, 0, d);
	if (err)
		(void)run(trace, sqlite3_mprintf("rollback to tacho_tables"), NULL);
	if (run(trace, sqlite3_mprintf("release tacho_tables"), err ? NULL : d) && !err)
		err = -EINVAL;
	return err;
}

/* ---- SQLite's side of a table ------------------------------------------------------- */

static char *declaration(const struct sql_table *t)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendall(s, "create table x(");
	for (uint32_t i = 0; i < t->nr_columns; i++)
		sqlite3_str_appendf(s, "%s\"%w\" %s%s", i ? ", " : "", t->column[i].name,
				    t->column[i].decl, t->column[i].hidden ? " HIDDEN" : "");
	sqlite3_str_appendall(s, ")");
	return sqlite3_str_finish(s);
}

static int declare(sqlite3 *db, const struct sql_table *t)
{
	char *text;
	int rc;

	if (t->kind == SQL_TABLE_FRAME)
		return sqlite3_declare_vtab(db, sql_frame_declaration());
	if (t->kind == SQL_TABLE_STATES)
		return sqlite3_declare_vtab(db, sql_states_declaration());
	if (t->kind == SQL_TABLE_HIST)
		return sqlite3_declare_vtab(db, sql_hist_declaration());
	if (!t->nr_columns)
		return sqlite3_declare_vtab(db, sql_rows_declaration(t->kind));
	text = declaration(t);
	rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

/* argv: module, schema, table, then what the statement says for people. */
int sql_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
		sqlite3_vtab **vtab, char **error)
{
	struct sql_trace *trace = argc < 3 ? NULL : sql_find_trace(arg, argv[1]);
	struct sql_table *t = trace ? sql_find_table(trace, argv[2]) : NULL;
	struct sql_vtab *v;
	int rc;

	*vtab = NULL;
	if (!t) {
		*error = sqlite3_mprintf("tables of a trace are made by attaching it");
		return SQLITE_ERROR;
	}
	v = sqlite3_malloc(sizeof(*v));
	rc = v ? declare(db, t) : SQLITE_NOMEM;
	if (rc != SQLITE_OK) {
		sqlite3_free(v);
		return rc;
	}
	*v = (struct sql_vtab){ .trace = trace, .table = t };
	trace->refs++;
	*vtab = &v->base;
	return SQLITE_OK;
}

int sql_disconnect(sqlite3_vtab *vtab)
{
	struct sql_vtab *v = (struct sql_vtab *)(void *)vtab;

	sql_trace_put(v->trace);
	sqlite3_free(v);
	return SQLITE_OK;
}

int sql_destroy(sqlite3_vtab *vtab)
{
	(void)vtab;
	return SQLITE_READONLY;
}

int sql_rename(sqlite3_vtab *vtab, const char *name)
{
	struct tacho_diag d = { 0 };

	(void)tacho_diag(&d, -EPERM, 0,
			 "a table of a trace cannot be renamed to '%s': create a view", name);
	return sql_vtab_error(vtab, SQLITE_READONLY, &d);
}
