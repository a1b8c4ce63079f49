// SPDX-License-Identifier: MIT
#include "columns/fill.h"

#include <errno.h>
#include <stdlib.h>

#include "app/find.h"

static int stream_next(struct columns_reader *reader, struct tacho_record *r, uint32_t max,
		       uint32_t *nr, struct tacho_diag *d)
{
	int status = tacho_stream_next_run(reader->stream, r, max, nr);

	if (status == TACHO_STREAM_ERROR)
		(void)app_stream_failed(reader->stream, -EIO, d);
	return status;
}

void columns_reader_init(struct columns_reader *reader, struct tacho_stream *stream)
{
	*reader = (struct columns_reader){ .next = stream_next, .stream = stream };
}

int columns_fill_init(struct columns_fill *f, const struct columns_layout *layout,
		      struct columns_reader *reader, struct app_select *select,
		      const struct app_ranges *pids, uint32_t rows)
{
	*f = (struct columns_fill){
		.layout = layout, .reader = reader, .select = select, .pids = pids,
		.look = select->cpus.nr || select->pids.nr || select->comms.nr ||
			select->source >= 0 || select->query,
		.ordered = tacho_stream_is_ordered(reader->stream),
	};
	columns_table_init(&f->table, rows);
	f->work = (struct columns_work){
		.table = &f->table, .stream = reader->stream, .record = f->record,
		.task = calloc(COLUMNS_TASKS, sizeof(*f->work.task)) };
	if (f->work.task && !columns_layout_table(layout, &f->table))
		return 0;
	columns_fill_release(f);
	return -ENOMEM;
}

void columns_fill_release(struct columns_fill *f)
{
	for (uint32_t i = 0; i < f->plans.room; i++)
		columns_plan_free(f->plans.slot[i].value);
	tacho_hashmap_release(&f->plans);
	columns_table_release(&f->table);
	free(f->work.task);
	f->work.task = NULL;
}

/* ---- which records ------------------------------------------------------------- */

static TACHO_NOINLINE struct columns_plan *other_plan(struct columns_fill *f,
						      const struct tacho_type *type,
						      struct columns_plan **near)
{
	struct columns_plan *p = tacho_hashmap_get(&f->plans, tacho_hashmap_key(type));

	if (!p) {
		p = columns_plan_new(f->layout, type, app_select_has_type(f->select, type));
		if (!p)
			return NULL;
		if (tacho_hashmap_set(&f->plans, tacho_hashmap_key(type), p)) {
			columns_plan_free(p);
			return NULL;
		}
	}
	*near = p;
	return p;
}

static inline struct columns_plan *plan_of(struct columns_fill *f, const struct tacho_type *type)
{
	uint64_t h = tacho_hashmap_key(type) * UINT64_C(0x9e3779b97f4a7c15);
	struct columns_plan **near = &f->near[h >> 58 & (COLUMNS_NEAR - 1)];

	return tacho_likely(*near && (*near)->type == type) ? *near : other_plan(f, type, near);
}

static bool process_passes(struct columns_fill *f, int32_t tid)
{
	int32_t tgid = columns_work_task(&f->work, tid)->tgid;

	return tgid > 0 && app_ranges_have(f->pids, (uint64_t)tgid);
}

/* What app_select_look() says, without a call where only times and types are selected. */
static inline enum app_verdict look(struct columns_fill *f, const struct tacho_record *r,
				    const struct columns_plan *p)
{
	struct app_select *s = f->select;

	if (tacho_unlikely(!s->placed || f->look)) {
		enum app_verdict v = app_select_look(s, r);

		if (v != APP_PASS)
			return v;
	} else if (tacho_unlikely(r->time > s->to || r->time < s->from)) {
		return r->time > s->to ? APP_STOP : APP_DROP;
	}
	if (!p->wanted)
		return APP_HIDE;
	return f->pids->nr && !process_passes(f, r->pid) ? APP_HIDE : APP_PASS;
}

/*
 * Keeps those of the nr records of the run that are selected, and their plans.  Returns how many;
 * -ENOMEM.
 */
static int keep_selected(struct columns_fill *f, uint32_t nr)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct tacho_record *r = &f->record[i];
		struct columns_plan *p = plan_of(f, r->type);
		enum app_verdict v;

		if (tacho_unlikely(!p))
			return -ENOMEM;
		v = look(f, r, p);
		if (v == APP_STOP && f->ordered) {
			f->ended = true;
			break;
		}
		if (v != APP_PASS)
			continue;
		if (tacho_unlikely(n != i))
			f->record[n] = *r;
		f->of[n++] = p;
	}
	return (int)n;
}

/* ---- rows ---------------------------------------------------------------------- */

/* The ops of fixed length for records that are shorter than their plans need. */
static int run_short(struct columns_fill *f, uint32_t n)
{
	int err = 0;

	for (uint32_t k = 0; !err && k < n; k++)
		if (f->record[k].len < f->of[k]->need)
			err = columns_plan_run_short(&f->work, f->of[k], k);
	return err;
}

static int run_variable(struct columns_fill *f, uint32_t n)
{
	int err = 0;

	for (uint32_t k = 0; !err && k < n; k++)
		if (f->of[k]->nr_ops > f->of[k]->nr_fixed)
			err = columns_plan_run_variable(&f->work, f->of[k], k);
	return err;
}

/* The n records of the run become rows.  0 or -ENOMEM. */
static int add_rows(struct columns_fill *f, uint32_t n)
{
	bool has_short = false, variable = false;
	int err = 0;

	columns_table_rows(&f->table, n);
	f->work.nr = n;
	for (uint32_t k = 0; k < n; k++) {
		struct columns_plan *p = f->of[k];

		if (tacho_likely(f->record[k].len >= p->need))
			p->list[p->nr++] = (uint16_t)k;
		else
			has_short = true;
		variable |= p->nr_ops > p->nr_fixed;
	}
	/* each plan runs where its first record is met */
	for (uint32_t k = 0; k < n; k++) {
		struct columns_plan *p = f->of[k];

		if (p->nr && !err)
			err = columns_plan_run(&f->work, p);
		p->nr = 0;
	}
	if (!err && has_short)
		err = run_short(f, n);
	if (!err && variable)
		err = run_variable(f, n);
	columns_table_done(&f->table);
	return err;
}

/* One run.  0, or a negative errno: the table is not whole. */
static int add_run(struct columns_fill *f)
{
	uint32_t room = f->table.rows_max - f->table.rows, nr;
	const struct tacho_source *source;
	int n, status;

	status = f->reader->next(f->reader, f->record, room < COLUMNS_RUN ? room : COLUMNS_RUN, &nr,
				 &f->diag);
	if (status != TACHO_STREAM_RECORD) {
		f->ended = true;
		return 0;
	}
	source = tacho_stream_current(f->reader->stream);
	if (source != f->work.task_source)
		columns_work_forget(&f->work);
	f->work.task_source = source;
	n = keep_selected(f, nr);
	return n > 0 ? add_rows(f, (uint32_t)n) : n;
}

void columns_fill_again(struct columns_fill *f)
{
	f->ended = false;
	f->diag.err = 0;
}

int columns_fill_batch(struct columns_fill *f, struct tacho_diag *d)
{
	int err = 0;

	columns_table_begin(&f->table);
	columns_work_forget(&f->work);
	while (!err && !f->ended && f->table.rows < f->table.rows_max &&
	       f->table.bytes < COLUMNS_BYTES)
		err = add_run(f);
	if (err) {
		f->ended = true;
		columns_table_begin(&f->table);
		(void)tacho_no_memory(&f->diag);
	}
	if (f->table.rows)
		return 1;
	if (f->diag.err)
		*d = f->diag;
	return f->diag.err;
}
