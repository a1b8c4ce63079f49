// SPDX-License-Identifier: MIT
/* Ops: the loops in which records become values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "columns/plan.h"
#include "event/value.h"

/* Some records of a run that are of one type. */
struct rows {
	const struct tacho_record *record;
	const uint16_t *list;
	uint32_t nr;
	bool all;		/* they are all of the run */
};

/* For each of the rows; k is its number in the run. */
#define EACH_ROW(rows, k) \
	for (uint32_t at_ = 0, k; at_ < (rows)->nr && (k = (rows)->list[at_], true); at_++)

static inline const unsigned char *at_record(const struct rows *rows, uint32_t k, uint32_t offset)
{
	return (const unsigned char *)rows->record[k].raw + offset;
}

/* ---- numbers ----------------------------------------------------------------- */

#define COPY(bits)								\
static void copy##bits(unsigned char *bytes, const struct rows *rows, uint32_t offset) \
{										\
	uint##bits##_t *to = (uint##bits##_t *)(void *)bytes;			\
										\
	EACH_ROW(rows, k)							\
		memcpy(&to[k], at_record(rows, k, offset), sizeof(*to));	\
}
COPY(8)
COPY(16)
COPY(32)
COPY(64)

#define WIDEN(name, type)							\
static void widen_##name(unsigned char *bytes, const struct rows *rows, uint32_t offset) \
{										\
	uint64_t *to = (uint64_t *)(void *)bytes;				\
										\
	EACH_ROW(rows, k) {							\
		type v;								\
										\
		memcpy(&v, at_record(rows, k, offset), sizeof(v));		\
		to[k] = (uint64_t)v;						\
	}									\
}
WIDEN(u8, uint8_t)
WIDEN(s8, int8_t)
WIDEN(u16, uint16_t)
WIDEN(s16, int16_t)
WIDEN(u32, uint32_t)
WIDEN(s32, int32_t)

static void copy(const struct columns_op *op, unsigned char *to, const struct rows *rows)
{
	if (op->width == 1)
		copy8(to, rows, op->offset);
	else if (op->width == 2)
		copy16(to, rows, op->offset);
	else if (op->width == 4)
		copy32(to, rows, op->offset);
	else
		copy64(to, rows, op->offset);
}

static void widen(const struct columns_op *op, unsigned char *to, const struct rows *rows)
{
	if (op->width == 1)
		(op->is_signed ? widen_s8 : widen_u8)(to, rows, op->offset);
	else if (op->width == 2)
		(op->is_signed ? widen_s16 : widen_u16)(to, rows, op->offset);
	else if (op->width == 4)
		(op->is_signed ? widen_s32 : widen_u32)(to, rows, op->offset);
	else
		copy64(to, rows, op->offset);
}

static void real(const struct columns_op *op, unsigned char *bytes, const struct rows *rows)
{
	double *to = (double *)(void *)bytes;

	EACH_ROW(rows, k)
		to[k] = tacho_value_real(at_record(rows, k, op->offset), sizeof(float));
}

static void bools(struct columns_work *w, struct columns_column *c, const struct columns_op *op,
		  const struct rows *rows)
{
	EACH_ROW(rows, k)
		if (tacho_value_load(at_record(rows, k, op->offset), op->width, false))
			columns_put_true(w->table, c, k);
}

static void fixed(const struct columns_op *op, unsigned char *to, const struct rows *rows)
{
	EACH_ROW(rows, k)
		memcpy(to + (size_t)k * op->size, at_record(rows, k, op->offset), op->size);
}

/* ---- indexes ----------------------------------------------------------------- */

/* Stores an index; a negative one is null. */
static inline void put_index(struct columns_work *w, struct columns_column *c, int32_t *to,
			     uint32_t k, int32_t index)
{
	to[k] = index < 0 ? 0 : index;
	if (tacho_unlikely(index < 0))
		columns_put_null(w->table, c, k);
}

static TACHO_ALWAYS_INLINE struct columns_cached *cached_at(const struct columns_op *op,
							    uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 29 | b >> 35)) * UINT64_C(0x9e3779b97f4a7c15);

	return &op->cached[h >> 56 & (COLUMNS_CACHED - 1)];
}

static TACHO_ALWAYS_INLINE bool is_cached(const struct columns_cached *e, uint64_t a, uint64_t b,
					  uint32_t generation)
{
	return e->key[0] == a && e->key[1] == b && e->generation == generation;
}

static TACHO_NOINLINE int chars_miss(struct columns_work *w, struct columns_column *c,
				     struct columns_cached *e, const unsigned char key[16])
{
	int32_t index = columns_text_index(w->table, c, (const char *)key, 16);

	if (index < 0)
		return index;
	memcpy(e->key, key, sizeof(e->key));
	e->index = index;
	e->generation = c->dict.generation;
	return 0;
}

/* size is 16 in the loop for char[16], which the kernel's thread names are. */
static TACHO_ALWAYS_INLINE int chars_of(struct columns_work *w, struct columns_column *c,
					const struct columns_op *op, const struct rows *rows,
					size_t size)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		unsigned char key[16] = { 0 };
		struct columns_cached *e;
		uint64_t a, b;

		memcpy(key, at_record(rows, k, op->offset), size);
		a = tacho_load_u64(key);
		b = tacho_load_u64(key + 8);
		e = cached_at(op, a, b);
		if (tacho_unlikely(!is_cached(e, a, b, c->dict.generation)) &&
		    chars_miss(w, c, e, key))
			return -ENOMEM;
		to[k] = e->index;
	}
	return 0;
}

static int chars(struct columns_work *w, struct columns_column *c, const struct columns_op *op,
		 const struct rows *rows)
{
	return op->size == 16 ? chars_of(w, c, op, rows, 16) : chars_of(w, c, op, rows, op->size);
}

static int indexes(struct columns_work *w, struct columns_column *c, const struct columns_op *op,
		   const struct rows *rows)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		int32_t index = -1;
		size_t size;
		const void *s = tacho_field_data(op->field, rows->record[k].raw,
						 rows->record[k].len, &size);

		if (s)
			index = columns_text_index(w->table, c, s, size);
		if (index == -ENOMEM)
			return index;
		put_index(w, c, to, k, index);
	}
	return 0;
}

/* ---- names of values ----------------------------------------------------------- */

/* The name of a value that has one at most. */
static int32_t name_index(struct columns_work *w, struct columns_column *c,
			  const struct tacho_name_table *names, uint64_t value)
{
	for (uint32_t i = 0; i < names->nr; i++) {
		uint64_t v;
		size_t len;
		const char *name = tacho_name_table_at(names, i, &v, &len);

		if (v == value)
			return columns_text_index(w->table, c, name, len);
	}
	return -1;
}

/* The names of bits, as __print_flags() finds them. */
static int32_t flags_index(struct columns_work *w, struct columns_column *c,
			   const struct tacho_name_table *names, uint64_t value)
{
	struct tacho_buf text;
	int32_t index = -ENOMEM;

	tacho_buf_init(&text, (size_t)1 << 16);
	for (uint32_t i = 0; value && i < names->nr; i++) {
		uint64_t v;
		size_t len;
		const char *name = tacho_name_table_at(names, i, &v, &len);

		if ((value & v) != v)
			continue;
		if (text.len)
			tacho_buf_putc(&text, '|');
		tacho_buf_put(&text, name, len);
		value &= ~v;
	}
	if (value)
		tacho_buf_printf(&text, "%s0x%" PRIx64, text.len ? "|" : "", value);
	if (!tacho_buf_error(&text))
		index = columns_text_index(w->table, c, text.len ? text.data : "", text.len);
	tacho_buf_release(&text);
	return index;
}

static TACHO_NOINLINE int name_miss(struct columns_work *w, struct columns_column *c,
				    const struct columns_op *op, struct columns_cached *e,
				    uint64_t value)
{
	const struct tacho_name_table *names = &op->names;
	int32_t index = names->flags ? flags_index(w, c, names, value) :
				       name_index(w, c, names, value);

	if (index == -ENOMEM)
		return index;
	*e = (struct columns_cached){ { value, 0 }, index, c->dict.generation };
	return 0;
}

static int names(struct columns_work *w, struct columns_column *c, const struct columns_op *op,
		 const struct rows *rows)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		uint64_t value = tacho_value_load(at_record(rows, k, op->offset), op->width,
						  op->is_signed) & op->names.mask;
		struct columns_cached *e = cached_at(op, value, 0);

		if (tacho_unlikely(!is_cached(e, value, 0, c->dict.generation)) &&
		    name_miss(w, c, op, e, value))
			return -ENOMEM;
		put_index(w, c, to, k, e->index);
	}
	return 0;
}

/* ---- what a record has besides its bytes ----------------------------------------- */

#define OF_RECORD(name, type, member)						\
static void name(unsigned char *bytes, const struct rows *rows)		\
{										\
	type *to = (type *)(void *)bytes;					\
										\
	EACH_ROW(rows, k)							\
		to[k] = (type)rows->record[k].member;				\
}
OF_RECORD(times, int64_t, time)
OF_RECORD(ticks, uint64_t, ticks)
OF_RECORD(losses, uint64_t, lost)
OF_RECORD(pids, int32_t, pid)

static void cpus(struct columns_work *w, struct columns_column *c, const struct rows *rows)
{
	uint32_t *to = (uint32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		to[k] = rows->record[k].cpu;
		if (tacho_unlikely(to[k] == UINT32_MAX)) {
			to[k] = 0;
			columns_put_null(w->table, c, k);
		}
	}
}

void columns_work_forget(struct columns_work *w)
{
	memset(w->task, 0, COLUMNS_TASKS * sizeof(*w->task));
	w->task_source = NULL;
}

struct columns_task *columns_work_task(struct columns_work *w, int32_t tid)
{
	struct columns_task *task = &w->task[(uint32_t)tid & (COLUMNS_TASKS - 1)];

	if (tacho_unlikely(task->tid != tid || !task->known)) {
		*task = (struct columns_task){ .tid = tid, .known = true, .comm = -1 };
		(void)tacho_stream_comm(w->stream, tid, &task->tgid);
	}
	return task;
}

static void tgids(struct columns_work *w, struct columns_column *c, const struct rows *rows)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		to[k] = columns_work_task(w, rows->record[k].pid)->tgid;
		if (!to[k])
			columns_put_null(w->table, c, k);
	}
}

static TACHO_NOINLINE int comm_miss(struct columns_work *w, struct columns_column *c,
				    struct columns_task *task)
{
	const char *comm = tacho_stream_comm(w->stream, task->tid, NULL);

	task->comm = comm ? columns_text_index(w->table, c, comm, strlen(comm)) : -1;
	task->has_comm = true;
	return task->comm == -ENOMEM ? -ENOMEM : 0;
}

static int comms(struct columns_work *w, struct columns_column *c, const struct rows *rows)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	EACH_ROW(rows, k) {
		struct columns_task *task = columns_work_task(w, rows->record[k].pid);

		if (tacho_unlikely(!task->has_comm) && comm_miss(w, c, task))
			return -ENOMEM;
		put_index(w, c, to, k, task->comm);
	}
	return 0;
}

/* A type has records of one source of events only, which the first one says. */
static int constant(struct columns_work *w, struct columns_column *c, struct columns_op *op,
		    const struct rows *rows)
{
	int32_t *to = (int32_t *)(void *)columns_at(w->table, c);

	if (op->generation != c->dict.generation) {
		const char *text = op->text;

		if (!text)
			text = rows->record[rows->list[0]].source == TACHO_STREAM_KERNEL ?
			       "kernel" : "program";
		op->index = columns_text_index(w->table, c, text, strlen(text));
		if (op->index < 0)
			return op->index;
		op->generation = c->dict.generation;
	}
	EACH_ROW(rows, k)
		to[k] = op->index;
	return 0;
}

/* ---- running them -------------------------------------------------------------- */

static int run_values(struct columns_work *w, struct columns_column *c, struct columns_op *op,
		      const struct rows *rows)
{
	switch (op->kind) {
	case COLUMNS_OP_CHARS:
		return chars(w, c, op, rows);
	case COLUMNS_OP_INDEX:
		return indexes(w, c, op, rows);
	case COLUMNS_OP_NAME:
		return names(w, c, op, rows);
	case COLUMNS_OP_COMM:
		return comms(w, c, rows);
	case COLUMNS_OP_CONST:
		return constant(w, c, op, rows);
	case COLUMNS_OP_COPY:
		copy(op, columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_WIDEN:
		widen(op, columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_REAL:
		real(op, columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_BOOL:
		bools(w, c, op, rows);
		break;
	case COLUMNS_OP_FIXED:
		fixed(op, columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_TIME:
		times(columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_TICKS:
		ticks(columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_LOST:
		losses(columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_PID:
		pids(columns_at(w->table, c), rows);
		break;
	case COLUMNS_OP_CPU:
		cpus(w, c, rows);
		break;
	case COLUMNS_OP_TGID:
		tgids(w, c, rows);
		break;
	case COLUMNS_OP_TEXT: case COLUMNS_OP_BYTES:
		break;
	}
	return 0;
}

/* The bits come first: a value that is not there takes its bit back. */
static int run_op(struct columns_work *w, struct columns_op *op, const struct rows *rows)
{
	struct columns_column *c = &w->table->column[op->column];

	if (columns_touch(w->table, c, rows->all))
		return -ENOMEM;
	if (rows->all)
		columns_set_range(w->table, c, rows->nr);
	else
		EACH_ROW(rows, k)
			columns_set(w->table, c, k);
	return run_values(w, c, op, rows);
}

int columns_plan_run(struct columns_work *w, struct columns_plan *p)
{
	struct rows rows = { w->record, p->list, p->nr, p->nr == w->nr };
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nr_fixed; i++)
		err = run_op(w, &p->op[i], &rows);
	return err;
}

int columns_plan_run_short(struct columns_work *w, struct columns_plan *p, uint32_t k)
{
	uint16_t list = (uint16_t)k;
	struct rows rows = { w->record, &list, 1, w->nr == 1 };
	uint32_t len = w->record[k].len;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nr_fixed; i++) {
		struct columns_op *op = &p->op[i];

		if (op->offset <= len && op->size <= len - op->offset)
			err = run_op(w, op, &rows);
	}
	return err;
}

int columns_plan_run_variable(struct columns_work *w, const struct columns_plan *p, uint32_t k)
{
	const struct tacho_record *r = &w->record[k];
	int err = 0;

	for (uint32_t i = p->nr_fixed; !err && i < p->nr_ops; i++) {
		const struct columns_op *op = &p->op[i];
		struct columns_column *c = &w->table->column[op->column];
		size_t size;
		const void *s = tacho_field_data(op->field, r->raw, r->len, &size);

		if (!s)
			continue;
		err = op->kind == COLUMNS_OP_TEXT ? columns_append_text(w->table, c, k, s, size) :
						    columns_append_bytes(w->table, c, k, s, size);
	}
	return err;
}
