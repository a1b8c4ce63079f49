// SPDX-License-Identifier: MIT
#include "app/hist_table.h"

#include <errno.h>
#include <string.h>

#include "engine/hist_print.h"

#define TEXT_MAX	((size_t)1 << 20)

/* NULL: the hit count. */
static const struct tacho_hist_column *source_of(const struct app_hist_table *t, uint32_t index)
{
	const struct tacho_hist *hist = t->view.hist;

	if (index < t->nr_keys)
		return tacho_hist_key(hist, index);
	return index == t->nr_keys ? NULL : tacho_hist_val(hist, index - t->nr_keys - 1);
}

static int name_columns(struct app_hist_table *t)
{
	int err = 0;

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct tacho_hist_column *c = source_of(t, i);

		if (c && c->expr)
			tacho_hist_expr_print(c->expr, &t->name[i]);
		else
			tacho_buf_puts(&t->name[i], "hitcount");
		(void)tacho_buf_str(&t->name[i]);
		err = err ? err : tacho_buf_error(&t->name[i]);
	}
	return err;
}

int app_hist_table_take(struct app_hist_table *t, const struct tacho_hist *hist,
			const struct tacho_names *names)
{
	int err;

	memset(t, 0, sizeof(*t));
	tacho_buf_init(&t->trigger, TEXT_MAX);
	tacho_buf_init(&t->text, TEXT_MAX);
	for (uint32_t i = 0; i < APP_HIST_COLUMNS_MAX; i++)
		tacho_buf_init(&t->name[i], TEXT_MAX);
	err = hist_view_take(&t->view, hist, names);
	if (err)
		return err;
	t->nr_keys = tacho_hist_nr_keys(hist);
	t->nr_columns = t->nr_keys + 1 + tacho_hist_nr_vals(hist);
	t->nr_rows = t->view.nr;
	t->hits = t->view.hits;
	t->dropped = t->view.drops;
	tacho_hist_spec_print(tacho_hist_spec_of(hist), tacho_hist_paused(hist), &t->trigger);
	(void)tacho_buf_str(&t->trigger);
	err = name_columns(t);
	return err ? err : tacho_buf_error(&t->trigger);
}

void app_hist_table_release(struct app_hist_table *t)
{
	hist_view_release(&t->view);
	tacho_buf_release(&t->trigger);
	tacho_buf_release(&t->text);
	for (uint32_t i = 0; i < APP_HIST_COLUMNS_MAX; i++)
		tacho_buf_release(&t->name[i]);
}

int app_hist_table_print(const struct app_hist_table *t, struct tacho_buf *out)
{
	return tacho_hist_print(t->view.hist, t->view.names, out);
}

static enum app_hist_kind kind_of(const struct tacho_hist_column *c)
{
	if (!c || c->shape == TACHO_SHAPE_NUMBER)
		return c && hist_view_mods(c) & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS) ?
		       APP_HIST_RANGE : APP_HIST_NUMBER;
	return c->shape == TACHO_SHAPE_STRING ? APP_HIST_STRING : APP_HIST_STACK;
}

int app_hist_table_column(struct app_hist_table *t, uint32_t index, struct app_hist_column *c)
{
	const struct tacho_hist_column *from;

	if (index >= t->nr_columns)
		return -ENOENT;
	from = source_of(t, index);
	*c = (struct app_hist_column){
		.kind = kind_of(from),
		.is_signed = from && from->shape == TACHO_SHAPE_NUMBER && from->is_signed &&
			     !(hist_view_mods(from) & TACHO_MOD_LOG2),
		.name = t->name[index].data,
	};
	return 0;
}

static void read_key(struct app_hist_table *t, struct tacho_map_elt *e,
		     const struct tacho_hist_column *c, struct app_hist_cell *cell)
{
	const void *key = tacho_map_key(e);

	if (kind_of(c) == APP_HIST_RANGE) {
		hist_view_range(c, hist_view_word(key, c), &cell->number, &cell->high);
	} else if (c->shape == TACHO_SHAPE_NUMBER) {
		cell->number = cell->high = hist_view_word(key, c);
	} else if (c->shape == TACHO_SHAPE_STACK) {
		cell->addresses = hist_view_stack(key, c);
		while (cell->nr_addresses < c->size / 8 && cell->addresses[cell->nr_addresses])
			cell->nr_addresses++;
	}
	hist_view_put_key(&t->view, e, c, &t->text);
}

int app_hist_table_cell(struct app_hist_table *t, uint32_t row, uint32_t column,
			struct app_hist_cell *cell)
{
	struct tacho_map_elt *e;

	if (row >= t->nr_rows || column >= t->nr_columns)
		return -ENOENT;
	e = t->view.entry[row];
	*cell = (struct app_hist_cell){ .number = 0 };
	tacho_buf_reset(&t->text);
	if (column < t->nr_keys) {
		read_key(t, e, tacho_hist_key(t->view.hist, column), cell);
	} else {
		const struct tacho_hist_column *c = source_of(t, column);

		cell->number = cell->high = hist_view_val(&t->view, e, c);
		hist_view_put_number(cell->number, c && c->is_signed, &t->text);
	}
	cell->text = tacho_buf_str(&t->text);
	return tacho_buf_error(&t->text);
}
