// SPDX-License-Identifier: MIT
/* The short tables: thread, process, cpu, packet, env, type, field. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/tables.h"

#define ROWS_ARENA_MAX	((size_t)256 << 20)

/* ---- cells ------------------------------------------------------------------------------ */

/* A new row of empty cells; NULL: no memory, which sticks. */
static struct sql_cell *add_row(struct sql_rows *rows)
{
	struct sql_cell *row;

	if (rows->nr == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 64;
		struct sql_cell *cell = reallocarray(rows->cell, room * rows->nr_columns,
						     sizeof(*cell));

		if (!cell) {
			rows->no_memory = true;
			return NULL;
		}
		rows->cell = cell;
		rows->room = room;
	}
	row = &rows->cell[rows->nr++ * rows->nr_columns];
	for (uint32_t i = 0; i < rows->nr_columns; i++)
		row[i] = (struct sql_cell){ .null = true };
	return row;
}

static void put_number(struct sql_cell *cell, uint64_t v)
{
	*cell = (struct sql_cell){ .number = (int64_t)v };
}

/* A copy; NULL stays NULL. */
static void put_text(struct sql_rows *rows, struct sql_cell *cell, const char *text)
{
	const char *copy = text ? tacho_arena_strndup(&rows->arena, text, strlen(text)) : NULL;

	if (text && !copy)
		rows->no_memory = true;
	*cell = (struct sql_cell){ .text = copy, .null = !copy };
}

void sql_rows_release(struct sql_rows *rows)
{
	if (rows->loaded)
		tacho_arena_release(&rows->arena);
	free(rows->cell);
	*rows = (struct sql_rows){ .cell = NULL };
}

static int first_number_order(const void *a, const void *b)
{
	const struct sql_cell *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void sort_rows(struct sql_rows *rows)
{
	if (rows->nr)
		qsort(rows->cell, rows->nr, rows->nr_columns * sizeof(*rows->cell),
		      first_number_order);
}

/* ---- thread, process --------------------------------------------------------------------- */

static int load_tasks(struct sql_trace *trace, struct tacho_facts *all)
{
	tacho_facts_init(all);
	return tacho_stream_tasks(trace->main.stream, all);
}

static int load_thread(struct sql_trace *trace, struct sql_rows *rows)
{
	struct tacho_facts all;
	int err = load_tasks(trace, &all);

	/* sorts, and leaves one of each id */
	(void)tacho_facts_comm(&all, 0, NULL);
	for (size_t i = 0; !err && i < all.nr_tasks; i++) {
		const struct tacho_fact_task *t = &all.task[i];
		struct sql_cell *row;
		char comm[17] = "";

		if (i && t->pid == t[-1].pid)
			continue;
		row = add_row(rows);
		if (!row)
			break;
		memcpy(comm, t->comm, 16);
		put_number(&row[0], (uint64_t)(int64_t)t->pid);
		if (t->tgid)
			put_number(&row[1], (uint64_t)(int64_t)t->tgid);
		put_text(rows, &row[2], comm);
	}
	tacho_facts_release(&all);
	sort_rows(rows);
	return err == -EOVERFLOW ? 0 : err;
}

static int process_order(const void *a, const void *b)
{
	const struct tacho_fact_task *x = *(const struct tacho_fact_task *const *)a;
	const struct tacho_fact_task *y = *(const struct tacho_fact_task *const *)b;

	return x->tgid != y->tgid ? (x->tgid > y->tgid) - (x->tgid < y->tgid) :
	       (x->pid > y->pid) - (x->pid < y->pid);
}

/* The threads of one process: [from, to) of the list. */
static void add_process(struct sql_rows *rows, struct tacho_fact_task **list, size_t from,
			size_t to)
{
	struct sql_cell *row = add_row(rows);
	const char *comm = NULL;
	char text[17] = "";

	if (!row)
		return;
	for (size_t i = from; i < to; i++)
		if (list[i]->pid == list[i]->tgid)
			comm = list[i]->comm;
	if (comm)
		memcpy(text, comm, 16);
	put_number(&row[0], (uint64_t)(int64_t)list[from]->tgid);
	put_text(rows, &row[1], comm ? text : NULL);
	put_number(&row[2], to - from);
}

static int load_process(struct sql_trace *trace, struct sql_rows *rows)
{
	struct tacho_fact_task **list;
	struct tacho_facts all;
	int err = load_tasks(trace, &all);
	size_t nr = 0;

	(void)tacho_facts_comm(&all, 0, NULL);
	list = calloc(all.nr_tasks + 1, sizeof(*list));
	if (!list)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < all.nr_tasks; i++)
		if (all.task[i].tgid && (!nr || list[nr - 1]->pid != all.task[i].pid))
			list[nr++] = &all.task[i];
	if (!err && nr)
		qsort(list, nr, sizeof(struct tacho_fact_task *), process_order);
	for (size_t from = 0, to; !err && from < nr; from = to) {
		for (to = from; to < nr && list[to]->tgid == list[from]->tgid; )
			to++;
		add_process(rows, list, from, to);
	}
	free(list);
	tacho_facts_release(&all);
	return err == -EOVERFLOW ? 0 : err;
}

/* ---- packet, cpu --------------------------------------------------------------------------- */

struct packets {
	struct sql_rows *rows;
	const struct tacho_source *source;
	uint64_t discarded;		/* until the packet before */
	char part[64];
};

/* Times that no clock can have are 0 or all bits. */
static void put_time(const struct packets *p, struct sql_cell *cell, uint64_t ticks)
{
	put_number(cell, tacho_clock_ns(&p->source->clock, ticks));
}

static uint64_t lost_in(struct packets *p, const struct tacho_packet_info *k)
{
	uint64_t now = k->head.events_discarded, before;

	if (strcmp(p->part, k->part)) {
		size_t len = strnlen(k->part, sizeof(p->part) - 1);

		memcpy(p->part, k->part, len);
		p->part[len] = '\0';
		p->discarded = 0;
	}
	before = p->discarded;
	p->discarded = now;
	/* a count that went back belongs to a new buffer */
	return now >= before ? now - before : now;
}

static int add_packet(void *arg, const struct tacho_packet_info *k)
{
	struct packets *p = arg;
	struct sql_cell *row = add_row(p->rows);
	const struct tacho_packet *h = &k->head;

	if (!row)
		return -ENOMEM;
	put_text(p->rows, &row[0], k->part);
	put_text(p->rows, &row[1], h->stream_id == TACHO_STREAM_KERNEL ? "kernel" : "program");
	put_number(&row[2], h->packet_seq_num);
	if (h->cpu_id != UINT32_MAX)
		put_number(&row[3], h->cpu_id);
	put_time(p, &row[4], h->timestamp_begin);
	if (h->timestamp_end)
		put_time(p, &row[5], h->timestamp_end);
	put_number(&row[6], h->events);
	put_number(&row[7], lost_in(p, k));
	put_number(&row[8], h->content_size / 8);
	put_number(&row[9], h->packet_size / 8);
	put_number(&row[10], k->offset);
	return 0;
}

static int load_packet(struct sql_trace *trace, struct sql_rows *rows)
{
	struct tacho_source *source;
	int err = 0;

	for (uint32_t i = 0; !err && (source = tacho_stream_source(trace->main.stream, i)); i++) {
		struct packets p = { .rows = rows, .source = source };

		err = source->ops->packets ? source->ops->packets(source, add_packet, &p) : 0;
	}
	return err;
}

struct cpus {
	struct sql_rows *rows;
	const struct tacho_source *source;
	struct packets lost;		/* only for lost_in() */
};

static struct sql_cell *cpu_row(struct sql_rows *rows, uint32_t cpu)
{
	struct sql_cell *row;

	for (size_t i = 0; i < rows->nr; i++)
		if (rows->cell[i * rows->nr_columns].number == cpu)
			return &rows->cell[i * rows->nr_columns];
	row = add_row(rows);
	if (row)
		put_number(&row[0], cpu);
	return row;
}

static void add_to(struct sql_cell *cell, uint64_t v)
{
	put_number(cell, (uint64_t)cell->number + v);
}

static int add_to_cpu(void *arg, const struct tacho_packet_info *k)
{
	struct cpus *c = arg;
	uint64_t lost = lost_in(&c->lost, k), begin, end;
	struct sql_cell *row;

	if (k->head.cpu_id == UINT32_MAX)
		return 0;
	row = cpu_row(c->rows, k->head.cpu_id);
	if (!row)
		return -ENOMEM;
	begin = tacho_clock_ns(&c->source->clock, k->head.timestamp_begin);
	end = tacho_clock_ns(&c->source->clock, k->head.timestamp_end);
	add_to(&row[1], 1);
	add_to(&row[2], k->head.events);
	add_to(&row[3], lost);
	if (row[4].null || begin < (uint64_t)row[4].number)
		put_number(&row[4], begin);
	if (k->head.timestamp_end && (row[5].null || end > (uint64_t)row[5].number))
		put_number(&row[5], end);
	return 0;
}

static int load_cpu(struct sql_trace *trace, struct sql_rows *rows)
{
	uint32_t nr = tacho_stream_cpus(trace->main.stream);
	struct tacho_source *source;
	int err = 0;

	for (uint32_t cpu = 0; cpu < nr && cpu < 65536; cpu++)
		if (!cpu_row(rows, cpu))
			return -ENOMEM;
	for (uint32_t i = 0; !err && (source = tacho_stream_source(trace->main.stream, i)); i++) {
		struct cpus c = { .rows = rows, .source = source };

		err = source->ops->packets ? source->ops->packets(source, add_to_cpu, &c) : 0;
	}
	sort_rows(rows);
	return err;
}

/* ---- env, type, field ----------------------------------------------------------------------- */

static int load_env(struct sql_trace *trace, struct sql_rows *rows)
{
	const struct tacho_source *source;

	for (uint32_t i = 0; (source = tacho_stream_source(trace->main.stream, i)); i++) {
		for (const struct tacho_fact *f = source->facts.env; f; f = f->next) {
			struct sql_cell *row = add_row(rows);

			if (!row)
				return -ENOMEM;
			put_text(rows, &row[0], f->name);
			put_text(rows, &row[1], f->value);
		}
	}
	return 0;
}

/* Names that had a row.  A hash of two names that is the same by chance is not looked for. */
struct seen {
	struct tacho_hashmap map;
	bool no_memory;
};

static bool is_new(struct seen *seen, const char *system, const char *name, const char *field)
{
	uint64_t key = tacho_hash(system, strlen(system) + 1, 0);

	key = tacho_hash(name, strlen(name) + 1, key);
	key = tacho_hash(field, strlen(field), key);
	if (tacho_hashmap_get(&seen->map, key))
		return false;
	seen->no_memory |= tacho_hashmap_set(&seen->map, key, seen) != 0;
	return true;
}

/* How many fields the event has, in all its layouts. */
static uint32_t nr_fields(const struct sql_table *t, const struct tacho_type *type)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		nr += t->column[i].kind == SQL_FIELD;
	return nr ? nr : type->nr_fields - type->nr_common;
}

static int add_type(struct sql_trace *trace, struct sql_rows *rows,
		    const struct tacho_type *type)
{
	const struct sql_table *t = sql_event_table(trace, type->system, type->name);
	struct sql_cell *row = add_row(rows);

	if (!row)
		return -ENOMEM;
	put_text(rows, &row[0], type->system);
	put_text(rows, &row[1], type->name);
	put_text(rows, &row[2], t ? t->name : NULL);
	put_number(&row[3], type->id);
	put_number(&row[4], nr_fields(t, type));
	put_text(rows, &row[5], type->print_fmt);
	return 0;
}

static int load_type(struct sql_trace *trace, struct sql_rows *rows)
{
	struct seen seen = { .no_memory = false };
	const struct tacho_type *type;
	int err = 0;

	for (uint32_t i = 0; !err && (type = tacho_stream_type(trace->main.stream, i)); i++)
		if (is_new(&seen, type->system, type->name, ""))
			err = add_type(trace, rows, type);
	tacho_hashmap_release(&seen.map);
	return seen.no_memory ? -ENOMEM : err;
}

static const char *column_of(const struct sql_table *t, const char *field)
{
	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		if (t->column[i].kind == SQL_FIELD && !strcmp(t->column[i].field, field))
			return t->column[i].name;
	return NULL;
}

static int add_field(struct sql_trace *trace, struct sql_rows *rows,
		     const struct tacho_type *type, const struct tacho_field *field)
{
	const struct sql_table *t = sql_event_table(trace, type->system, type->name);
	struct sql_cell *row = add_row(rows);

	if (!row)
		return -ENOMEM;
	put_text(rows, &row[0], type->system);
	put_text(rows, &row[1], type->name);
	put_text(rows, &row[2], field->name);
	put_text(rows, &row[3], column_of(t, field->name));
	put_text(rows, &row[4], field->decl);
	put_number(&row[5], field->offset);
	put_number(&row[6], field->size);
	return 0;
}

static int load_field(struct sql_trace *trace, struct sql_rows *rows)
{
	struct seen seen = { .no_memory = false };
	const struct tacho_type *type;
	int err = 0;

	for (uint32_t i = 0; !err && (type = tacho_stream_type(trace->main.stream, i)); i++)
		for (uint32_t k = type->nr_common; !err && k < type->nr_fields; k++)
			if (is_new(&seen, type->system, type->name, type->fields[k].name))
				err = add_field(trace, rows, type, &type->fields[k]);
	tacho_hashmap_release(&seen.map);
	return seen.no_memory ? -ENOMEM : err;
}

/* ---- the tables --------------------------------------------------------------------------- */

static const struct rows_table {
	const char *declaration;
	uint32_t nr_columns;
	bool sorted;		/* by the first column, a number */
	int (*load)(struct sql_trace *trace, struct sql_rows *rows);
} tables[SQL_NR_ROWS] = {
	[SQL_TABLE_THREAD - SQL_TABLE_THREAD] = {
		"create table x(tid INTEGER, pid INTEGER, comm TEXT)", 3, true, load_thread },
	[SQL_TABLE_PROCESS - SQL_TABLE_THREAD] = {
		"create table x(pid INTEGER, comm TEXT, threads INTEGER)", 3, true,
		load_process },
	[SQL_TABLE_CPU - SQL_TABLE_THREAD] = {
		"create table x(cpu INTEGER, packets INTEGER, events INTEGER, lost INTEGER, "
		"\"begin\" INTEGER, \"end\" INTEGER)", 6, true, load_cpu },
	[SQL_TABLE_PACKET - SQL_TABLE_THREAD] = {
		"create table x(file TEXT, source TEXT, seq INTEGER, cpu INTEGER, "
		"\"begin\" INTEGER, \"end\" INTEGER, events INTEGER, lost INTEGER, "
		"content INTEGER, size INTEGER, \"offset\" INTEGER)", 11, false, load_packet },
	[SQL_TABLE_ENV - SQL_TABLE_THREAD] = {
		"create table x(name TEXT, value TEXT)", 2, false, load_env },
	[SQL_TABLE_TYPE - SQL_TABLE_THREAD] = {
		"create table x(system TEXT, name TEXT, table_name TEXT, id INTEGER, "
		"fields INTEGER, print_fmt TEXT)", 6, false, load_type },
	[SQL_TABLE_FIELD - SQL_TABLE_THREAD] = {
		"create table x(system TEXT, event TEXT, name TEXT, column_name TEXT, "
		"declaration TEXT, \"offset\" INTEGER, size INTEGER)", 7, false, load_field },
};

const char *sql_rows_declaration(enum sql_table_kind kind)
{
	return tables[kind - SQL_TABLE_THREAD].declaration;
}

struct rows_cursor {
	sqlite3_vtab_cursor base;
	const struct sql_rows *rows;
	size_t at, end;
};

static struct rows_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct rows_cursor *)(void *)cursor;	/* first member */
}

/* idxNum 1: the first column is equal to the value. */
static int rows_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_vtab *v = (const struct sql_vtab *)(const void *)vtab;
	const struct rows_table *t = &tables[v->table->kind - SQL_TABLE_THREAD];

	info->estimatedCost = 1000;
	info->estimatedRows = 1000;
	for (int i = 0; t->sorted && i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable || info->aConstraint[i].iColumn ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 10;
		info->estimatedRows = 1;
		break;
	}
	if (t->sorted && info->nOrderBy == 1 && !info->aOrderBy[0].iColumn &&
	    !info->aOrderBy[0].desc)
		info->orderByConsumed = 1;
	return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct rows_cursor *c = calloc(1, sizeof(*c));

	(void)vtab;
	if (!c)
		return SQLITE_NOMEM;
	*cursor = &c->base;
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor_of(cursor));
	return SQLITE_OK;
}

static int load(struct sql_vtab *v, struct sql_rows *rows)
{
	const struct rows_table *t = &tables[v->table->kind - SQL_TABLE_THREAD];
	struct tacho_diag d = { 0 };
	int err;

	if (rows->loaded)
		return SQLITE_OK;
	tacho_arena_init(&rows->arena, ROWS_ARENA_MAX);
	rows->loaded = true;
	rows->nr_columns = t->nr_columns;
	err = t->load(v->trace, rows);
	if (rows->no_memory)
		err = -ENOMEM;
	if (!err && !tacho_stream_check(v->trace->main.stream))
		return SQLITE_OK;
	sql_rows_release(rows);
	(void)app_stream_failed(v->trace->main.stream, err, &d);
	return sql_vtab_error(&v->base, SQLITE_ERROR, &d);
}

static void find_rows(struct rows_cursor *c, int64_t first)
{
	const struct sql_rows *r = c->rows;
	size_t lo = 0, hi = r->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->cell[mid * r->nr_columns].number < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (c->at = c->end = lo; c->end < r->nr; c->end++)
		if (r->cell[c->end * r->nr_columns].number != first)
			break;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct rows_cursor *c = cursor_of(cursor);
	struct sql_vtab *v = (struct sql_vtab *)(void *)cursor->pVtab;
	struct sql_rows *rows = &v->trace->rows[v->table->kind - SQL_TABLE_THREAD];
	int rc = load(v, rows);

	(void)text;
	if (rc != SQLITE_OK)
		return rc;
	c->rows = rows;
	c->at = 0;
	c->end = rows->nr;
	/* SQLite tests what is found: any value that is no integer may be looked up */
	if (number && argc && sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER)
		find_rows(c, sqlite3_value_int64(argv[0]));
	return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
	cursor_of(cursor)->at++;
	return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->at >= cursor_of(cursor)->end;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct rows_cursor *c = cursor_of(cursor);
	const struct sql_cell *cell = &c->rows->cell[c->at * c->rows->nr_columns +
						     (uint32_t)column];

	if (cell->text)
		sqlite3_result_text(ctx, cell->text, -1, SQLITE_TRANSIENT);
	else if (!cell->null)
		sqlite3_result_int64(ctx, cell->number);
	return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->at;
	return SQLITE_OK;
}

const sqlite3_module sql_rows_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = rows_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
};
