// SPDX-License-Identifier: MIT
#include "sql/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/text.h"
#include "kdata/symbols.h"
#include "sys/clock.h"

#define NO_ID		UINT32_MAX
#define STACKS_MAX	((size_t)1 << 30)

/* common_flags, as in the kernel's trace events */
#define FLAG_HARDIRQ	0x08
#define FLAG_SOFTIRQ	0x10
#define FLAG_NMI	0x40
#define NR_CONTEXTS	4u

/* ---- frames and stacks -------------------------------------------------------------- */

/* NULL stays NULL; a text that is there already is not copied again: frames are few. */
static const char *copy_text(struct sql_stacks *stacks, const char *text)
{
	return text ? tacho_arena_strndup(&stacks->arena, text, strlen(text)) : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const struct sql_frame *a, const struct sql_frame *b)
{
	return a->address == b->address && a->offset == b->offset && a->line == b->line &&
	       same_text(a->symbol, b->symbol) && same_text(a->module, b->module) &&
	       same_text(a->file, b->file);
}

/* The frame that is stored for one whose texts are borrowed; NULL: no memory. */
static const struct sql_frame *store_frame(struct sql_stacks *stacks, const struct sql_frame *f)
{
	uint64_t key = tacho_hash(&f->address, sizeof(f->address), 0);
	struct sql_frame *first = tacho_hashmap_get(&stacks->frames, key), *to;

	for (struct sql_frame *have = first; have; have = have->next)
		if (same_frame(have, f))
			return have;
	to = tacho_arena_alloc(&stacks->arena, sizeof(*to));
	if (!to)
		return NULL;
	*to = *f;
	to->symbol = copy_text(stacks, f->symbol);
	to->module = copy_text(stacks, f->module);
	to->file = copy_text(stacks, f->file);
	to->next = first;
	if ((f->symbol && !to->symbol) || (f->module && !to->module) || (f->file && !to->file) ||
	    tacho_hashmap_set(&stacks->frames, key, to))
		return NULL;
	return to;
}

static int list_stack(struct sql_stacks *stacks, struct sql_stack *stack)
{
	if (stacks->nr == stacks->room) {
		uint32_t room = stacks->room ? 2 * stacks->room : 64;
		struct sql_stack **list = reallocarray(stacks->stack, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		stacks->stack = list;
		stacks->room = room;
	}
	stack->id = stacks->nr;
	stacks->stack[stacks->nr++] = stack;
	return 0;
}

/* NULL: no memory. */
static const struct sql_stack *store_stack(struct sql_stacks *stacks,
					   const struct sql_frame **frame, uint32_t nr)
{
	size_t size = nr * sizeof(const struct sql_frame *);
	uint64_t key = tacho_hash(frame, size, 0);
	struct sql_stack *first = tacho_hashmap_get(&stacks->by_frames, key), *to;

	for (struct sql_stack *have = first; have; have = have->next)
		if (have->nr == nr && (!nr || !memcmp(have->frame, frame, size)))
			return have->id != NO_ID || !list_stack(stacks, have) ? have : NULL;
	to = tacho_arena_alloc(&stacks->arena, sizeof(*to) + size);
	if (!to)
		return NULL;
	to->nr = nr;
	to->next = first;
	if (nr)
		memcpy(to->frame, frame, size);
	if (tacho_hashmap_set(&stacks->by_frames, key, to) || list_stack(stacks, to))
		return NULL;
	return to;
}

static void name_kernel(struct tacho_stream *s, struct sql_frame *f)
{
	const struct tacho_symbols *table = tacho_source_symbols(tacho_stream_current(s));
	uint64_t start;

	/* the kernel's are in the upper half */
	if (!table || !(f->address >> 63))
		return;
	f->symbol = tacho_symbols_at(table, f->address, &start);
	if (!f->symbol)
		return;
	f->offset = f->address - start;
	f->module = tacho_symbols_module(table, f->symbol);
}

static void name_program(struct tacho_stream *s, const struct tacho_record *r,
			 struct sql_frame *f)
{
	struct tacho_frame found;

	tacho_stream_frame(s, r, f->address, &found);
	f->symbol = found.function;
	f->offset = found.function ? found.offset : found.object ? found.object_offset : 0;
	f->module = found.object;
	f->file = found.file;
	f->line = found.line;
}

/* The frames of a record, as a list that grows. */
struct frames {
	const struct sql_frame **list;
	size_t room;
};

/* The stack of a record of stacks; NULL: no memory. */
static const struct sql_stack *stack_of(struct sql_stacks *stacks, struct tacho_stream *s,
					const struct tacho_record *r, struct frames *to)
{
	const struct tacho_field *caller = tacho_query_stack_field(r->type);
	bool kernel = r->source == TACHO_STREAM_KERNEL, inside = kernel;
	const unsigned char *p;
	size_t size = 0;
	uint32_t nr = 0;

	p = tacho_field_data(caller, r->raw, r->len, &size);
	if (size / 8 > to->room) {
		const struct sql_frame **list = reallocarray(to->list, size / 8, sizeof(*list));

		if (!list)
			return NULL;
		to->list = list;
		to->room = size / 8;
	}
	for (size_t i = 0; p && i + 8 <= size; i += 8) {
		struct sql_frame f = { .address = tacho_load_u64(p + i) };

		if (!f.address || f.address == UINT64_MAX)
			break;
		if (kernel)
			name_kernel(s, &f);
		else
			name_program(s, r, &f);
		inside = inside && f.symbol && tacho_query_is_tracer(f.symbol);
		if (inside)
			continue;
		to->list[nr] = store_frame(stacks, &f);
		if (!to->list[nr++])
			return NULL;
	}
	return store_stack(stacks, to->list, nr);
}

static void stacks_begin(struct sql_stacks *stacks)
{
	if (!stacks->begun)
		tacho_arena_init(&stacks->arena, STACKS_MAX);
	stacks->begun = true;
}

void sql_stacks_release(struct sql_stacks *stacks)
{
	if (stacks->begun)
		tacho_arena_release(&stacks->arena);
	tacho_hashmap_release(&stacks->frames);
	tacho_hashmap_release(&stacks->by_frames);
	free(stacks->stack);
	*stacks = (struct sql_stacks){ .begun = false };
}

/* ---- all stacks --------------------------------------------------------------------- */

static bool wants_stacks(void *arg, const struct tacho_type *type, uint32_t stream_id)
{
	(void)arg;
	(void)stream_id;
	return sql_sample_is_stack(type);
}

static bool pulse(void *arg, uint64_t now)
{
	const struct sql_trace *trace = arg;

	return sql_pulse(trace->sql, trace->begin, trace->end, now);
}

static int load_all(struct sql_trace *trace, struct tacho_stream *s, uint64_t to,
		    struct tacho_diag *d)
{
	struct frames frames = { NULL, 0 };
	struct tacho_record r;
	int err = 0, status;

	while (!err && (status = tacho_stream_next(s, &r)) != TACHO_STREAM_END) {
		if (status == TACHO_STREAM_ERROR)
			err = app_stream_failed(s, -EIO, d);
		else if (status == TACHO_STREAM_AGAIN && sql_cancelled(trace->sql))
			err = -ECANCELED;
		else if ((status == TACHO_STREAM_AGAIN && trace->live) ||
			 (status == TACHO_STREAM_RECORD && r.time > to))
			break;
		else if (status == TACHO_STREAM_RECORD && sql_sample_is_stack(r.type) &&
			 !stack_of(&trace->stacks, s, &r, &frames))
			err = tacho_no_memory(d);
	}
	free(frames.list);
	return err;
}

int sql_stacks_load(struct sql_trace *trace, struct tacho_diag *d)
{
	struct tacho_scope scope = { .arg = trace, .to = UINT64_MAX, .wants = wants_stacks,
				     .pulse = pulse };
	struct sql_stream *stream = NULL;
	int err = 0;

	if (trace->stacks.complete)
		return 0;
	stacks_begin(&trace->stacks);
	/* what queries without numbers have met is not in order; cursors may use it */
	while (trace->stacks.nr)
		trace->stacks.stack[--trace->stacks.nr]->id = NO_ID;
	if (trace->live)
		scope.to = tacho_now_ns(CLOCK_REALTIME);
	else if (trace->sql->watch.progress)
		err = sql_measure(trace, d);
	if (!err)
		err = sql_stream_new(trace, &stream, d);
	if (err)
		return err;
	stream->fresh = false;
	if (tacho_stream_narrow(stream->trace.stream, &scope))
		err = tacho_no_memory(d);
	else
		err = load_all(trace, stream->trace.stream, scope.to, d);
	sql_stream_put(trace, stream, true);
	trace->stacks.complete = !err;
	return err;
}

/* ---- samples: the event of a stack -------------------------------------------------- */

struct event_at {
	const struct tacho_type *type;	/* NULL: none */
	int32_t pid;
	uint64_t record;
};

struct lane {
	struct event_at event[NR_CONTEXTS];
};

struct sql_sample {
	struct tacho_hashmap lanes;	/* a source and a CPU or thread: struct lane */
	struct event_at event;		/* of the sample at hand */
	const struct sql_stack *stack;	/* NULL: not looked up */
	struct frames frames;
	const struct tacho_type *type;	/* the last one that was asked for */
	bool is_stack;
};

struct sql_sample *sql_sample_new(void)
{
	return calloc(1, sizeof(struct sql_sample));
}

void sql_sample_reset(struct sql_sample *sample)
{
	for (uint32_t i = 0; i < sample->lanes.room; i++)
		free(sample->lanes.slot[i].value);
	tacho_hashmap_release(&sample->lanes);
	sample->event.type = sample->type = NULL;
	sample->stack = NULL;
}

void sql_sample_free(struct sql_sample *sample)
{
	if (!sample)
		return;
	sql_sample_reset(sample);
	free(sample->frames.list);
	free(sample);
}

bool sql_sample_is_stack(const struct tacho_type *type)
{
	return tacho_query_stack_field(type);
}

static uint32_t context_of(const struct tacho_record *r)
{
	uint32_t flags = r->len > 2 ? ((const unsigned char *)r->raw)[2] : 0;

	if (r->source != TACHO_STREAM_KERNEL)
		return 0;
	return flags & FLAG_NMI ? 3 : flags & FLAG_HARDIRQ ? 2 : flags & FLAG_SOFTIRQ ? 1 : 0;
}

static struct lane *lane_of(struct sql_sample *sample, const struct tacho_record *r)
{
	bool kernel = r->source == TACHO_STREAM_KERNEL;
	uint64_t key = (uint64_t)kernel << 32 | (kernel ? r->cpu : (uint32_t)r->pid);
	struct lane *lane = tacho_hashmap_get(&sample->lanes, key);

	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (lane && tacho_hashmap_set(&sample->lanes, key, lane)) {
		free(lane);
		return NULL;
	}
	return lane;
}

/* S1 to S3.  -ENOMEM, or 0. */
static int pair(struct sql_cursor *c, struct sql_sample *sample)
{
	const struct tacho_record *r = &c->record;
	struct lane *lane = lane_of(sample, r);
	uint32_t context = context_of(r);

	if (!lane)
		return -ENOMEM;
	if (sample->is_stack && !r->lost && lane->event[context].pid == r->pid)
		sample->event = lane->event[context];
	for (uint32_t i = r->lost ? 0 : context; i < NR_CONTEXTS; i++)
		lane->event[i].type = NULL;
	if (!sample->is_stack)
		lane->event[context] = (struct event_at){ r->type, r->pid, c->records - 1 };
	return 0;
}

int sql_sample_take(struct sql_cursor *c)
{
	struct sql_sample *sample = c->sample;

	if (sample->type != c->record.type) {
		sample->type = c->record.type;
		sample->is_stack = sql_sample_is_stack(sample->type);
	}
	sample->event.type = NULL;
	sample->stack = NULL;
	if (c->plan.pairs && pair(c, sample))
		return -ENOMEM;
	return sample->is_stack;
}

/* ---- samples: values ---------------------------------------------------------------- */

static void put_text(sqlite3_context *ctx, const char *text)
{
	if (text)
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

/* "main;serve;write": the outermost first.  What has no symbol is its module or its address. */
static int put_folded(struct sql_cursor *c, sqlite3_context *ctx, const struct sql_stack *stack)
{
	struct tacho_buf *b = &c->text;

	tacho_buf_reset(b);
	for (uint32_t i = stack->nr; i--;) {
		const struct sql_frame *f = stack->frame[i];

		if (f->symbol)
			tacho_buf_puts(b, f->symbol);
		else if (f->module)
			tacho_buf_printf(b, "[%s]", tacho_frame_base(f->module));
		else
			tacho_buf_printf(b, "0x%llx", (unsigned long long)f->address);
		if (i)
			tacho_buf_putc(b, ';');
	}
	if (tacho_buf_error(b))
		return SQLITE_NOMEM;
	sqlite3_result_text(ctx, b->len ? b->data : "", (int)b->len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int value_of_stack(struct sql_cursor *c, sqlite3_context *ctx, enum sql_column_kind kind,
			  const struct sql_stack *stack)
{
	if (kind == SQL_STACK)
		sqlite3_result_int64(ctx, stack->id);
	else if (kind == SQL_STACK_DEPTH)
		sqlite3_result_int64(ctx, stack->nr);
	else if (kind == SQL_FOLDED)
		return put_folded(c, ctx, stack);
	else if (stack->nr)
		put_text(ctx, kind == SQL_SYMBOL ? stack->frame[0]->symbol :
			 stack->frame[0]->module);
	return SQLITE_OK;
}

int sql_sample_value(struct sql_cursor *c, sqlite3_context *ctx, enum sql_column_kind kind)
{
	struct sql_sample *sample = c->sample;
	const struct event_at *event = &sample->event;
	struct sql_stacks *stacks = &c->vtab->trace->stacks;

	if (kind == SQL_EVENT_SYSTEM || kind == SQL_EVENT_NAME || kind == SQL_EVENT_RECORD) {
		if (event->type && kind == SQL_EVENT_RECORD)
			sqlite3_result_int64(ctx, (int64_t)event->record);
		else if (event->type)
			put_text(ctx, kind == SQL_EVENT_SYSTEM ? event->type->system :
				 event->type->name);
		return SQLITE_OK;
	}
	if (!sample->stack) {
		stacks_begin(stacks);
		sample->stack = stack_of(stacks, c->stream->trace.stream, &c->record,
					 &sample->frames);
	}
	return sample->stack ? value_of_stack(c, ctx, kind, sample->stack) : SQLITE_NOMEM;
}

/* ---- the table frame ---------------------------------------------------------------- */

enum { STACK, DEPTH, ADDRESS, SYMBOL, OFFSET, MODULE, FILE_NAME, LINE };

const char *sql_frame_declaration(void)
{
	return "create table x(stack INTEGER, depth INTEGER, address INTEGER, symbol TEXT, "
	       "\"offset\" INTEGER, module TEXT, file TEXT, line INTEGER)";
}

struct frame_cursor {
	sqlite3_vtab_cursor base;
	struct sql_trace *trace;
	uint32_t stack, end;		/* [stack, end) are left */
	uint32_t depth;
	uint64_t row;
};

static struct frame_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct frame_cursor *)(void *)cursor;	/* first member */
}

/* idxNum 1: stack is equal to the value. */
static int frame_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab;
	info->estimatedCost = 100000;
	info->estimatedRows = 100000;
	for (int i = 0; i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable || info->aConstraint[i].iColumn != STACK ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 20;
		info->estimatedRows = 20;
		break;
	}
	if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == STACK && !info->aOrderBy[0].desc)
		info->orderByConsumed = 1;
	return SQLITE_OK;
}

static int frame_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct frame_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->trace = ((struct sql_vtab *)(void *)vtab)->trace;
	*cursor = &c->base;
	return SQLITE_OK;
}

static int frame_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor_of(cursor));
	return SQLITE_OK;
}

static void skip_empty(struct frame_cursor *c)
{
	while (c->stack < c->end && c->depth >= c->trace->stacks.stack[c->stack]->nr) {
		c->stack++;
		c->depth = 0;
	}
}

static int frame_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			sqlite3_value **argv)
{
	struct frame_cursor *c = cursor_of(cursor);
	struct tacho_diag d = { 0 };
	int err = sql_stacks_load(c->trace, &d);

	(void)text;
	c->stack = c->end = c->depth = 0;
	c->row = 0;
	if (err)
		return err == -ECANCELED ? SQLITE_INTERRUPT :
		       sql_vtab_error(cursor->pVtab, SQLITE_ERROR, &d);
	c->end = c->trace->stacks.nr;
	/* SQLite tests what is found: any value that is no integer may be looked up */
	if (number && argc && sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER) {
		sqlite3_int64 id = sqlite3_value_int64(argv[0]);

		c->stack = id < 0 || id >= c->end ? c->end : (uint32_t)id;
		c->end = c->stack < c->end ? c->stack + 1 : c->end;
	}
	skip_empty(c);
	return SQLITE_OK;
}

static int frame_next(sqlite3_vtab_cursor *cursor)
{
	struct frame_cursor *c = cursor_of(cursor);

	c->depth++;
	c->row++;
	skip_empty(c);
	return SQLITE_OK;
}

static int frame_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->stack >= cursor_of(cursor)->end;
}

static int frame_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct frame_cursor *c = cursor_of(cursor);
	const struct sql_frame *f = c->trace->stacks.stack[c->stack]->frame[c->depth];

	if (column == STACK)
		sqlite3_result_int64(ctx, c->stack);
	else if (column == DEPTH)
		sqlite3_result_int64(ctx, c->depth);
	else if (column == ADDRESS)
		sqlite3_result_int64(ctx, (sqlite3_int64)f->address);
	else if (column == OFFSET && (f->symbol || f->module))
		sqlite3_result_int64(ctx, (sqlite3_int64)f->offset);
	else if (column == LINE && f->line)
		sqlite3_result_int64(ctx, f->line);
	else if (column == SYMBOL || column == MODULE || column == FILE_NAME)
		put_text(ctx, column == SYMBOL ? f->symbol : column == MODULE ? f->module :
			 f->file);
	return SQLITE_OK;
}

static int frame_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->row;
	return SQLITE_OK;
}

const sqlite3_module sql_frame_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = frame_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = frame_open,
	.xClose = frame_close,
	.xFilter = frame_filter,
	.xNext = frame_next,
	.xEof = frame_eof,
	.xColumn = frame_column,
	.xRowid = frame_rowid,
};
