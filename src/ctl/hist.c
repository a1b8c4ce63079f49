// SPDX-License-Identifier: MIT
/* Histograms of a session, as text and as tables. */
#include <errno.h>
#include <stdio.h>

#include "app/hist_table.h"
#include "app/query_session.h"
#include "app/command.h"
#include "base/sized.h"
#include "ctl/ctl.h"

#define TEXT_MAX	((size_t)64 << 20)

/* The last members of version 1.1 end here. */
#define INFO_SIZE_1_1 \
	(offsetof(struct tacho_ctl_hist_info, trigger) + sizeof(const char *))
#define COLUMN_SIZE_1_1 \
	(offsetof(struct tacho_ctl_hist_column, name) + sizeof(const char *))
#define CELL_SIZE_1_1 \
	(offsetof(struct tacho_ctl_hist_cell, text) + sizeof(const char *))

struct tacho_ctl_hist {
	char event[APP_EVENT_MAX];
	const char *text;
	struct app_hist_table *table;	/* NULL: the kernel's */
};

struct visit {
	int (*fn)(struct tacho_ctl_hist *hist, void *arg);
	void *arg;
	int err;		/* ours, not fn's */
};

/* ---- each ------------------------------------------------------------------ */

static int visit_hist(const struct tacho_hist *hist, const struct tacho_names *names, void *arg)
{
	const struct tacho_type *type = tacho_hist_type_of(hist);
	struct visit *v = arg;
	struct app_hist_table table;
	struct tacho_ctl_hist own = { .table = &table };
	struct tacho_buf text;
	int ret = 0;

	tacho_buf_init(&text, TEXT_MAX);
	(void)snprintf(own.event, sizeof(own.event), "%s:%s", type->system, type->name);
	v->err = app_hist_table_take(&table, hist, names);
	if (!v->err)
		v->err = app_hist_table_print(&table, &text);
	own.text = tacho_buf_str(&text);
	if (!v->err)
		v->err = tacho_buf_error(&text);
	if (!v->err)
		ret = v->fn(&own, v->arg);
	app_hist_table_release(&table);
	tacho_buf_release(&text);
	return v->err ? v->err : ret;
}

static int visit_kernel(const char *event, const char *text, void *arg)
{
	struct visit *v = arg;
	struct tacho_ctl_hist own = { .text = text };

	(void)snprintf(own.event, sizeof(own.event), "%s", event);
	return v->fn(&own, v->arg);
}

TACHO_EXPORT int tacho_ctl_each_hist(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				     const char *events,
				     int (*fn)(struct tacho_ctl_hist *hist, void *arg), void *arg)
{
	bool kernel = side == TACHO_CTL_KERNEL;
	struct visit v = { .fn = fn, .arg = arg };
	const struct app_session_visitor visitor = {
		.hist = kernel ? NULL : visit_hist, .kernel = kernel ? visit_kernel : NULL,
		.arg = &v,
	};
	struct app_session_query *q;
	struct tacho_diag d = { 0 };
	int ret;

	if (tacho_ctl_is_dead(ctl)) {
		tacho_diag(&d, -ENOENT, 0, "session '%s' is destroyed", ctl->session.name);
		return tacho_ctl_done(ctl, d.err, &d, NULL);
	}
	ret = app_session_query_open(&q, ctl->session.name, kernel, &d);
	if (!ret) {
		ret = app_session_query_each(q, events, &visitor, &d);
		app_session_query_close(q);
	}
	if (v.err || d.err)
		return tacho_ctl_done(ctl, ret, &d, "read the histograms of");
	return ret;
}

/* ---- one ------------------------------------------------------------------- */

TACHO_EXPORT const char *tacho_ctl_hist_event(const struct tacho_ctl_hist *hist)
{
	return hist->event;
}

TACHO_EXPORT const char *tacho_ctl_hist_text(const struct tacho_ctl_hist *hist)
{
	return hist->text;
}

TACHO_EXPORT int tacho_ctl_hist_fill_info(const struct tacho_ctl_hist *hist,
					  struct tacho_ctl_hist_info *info)
{
	const struct app_hist_table *t = hist->table;
	struct tacho_ctl_hist_info own = { .trigger = "" };
	uint32_t size = info->struct_size;

	if (size < INFO_SIZE_1_1)
		return -EINVAL;
	if (t)
		own = (struct tacho_ctl_hist_info){
			.nr_rows = t->nr_rows, .nr_columns = t->nr_columns,
			.nr_keys = t->nr_keys, .hits = t->hits, .dropped = t->dropped,
			.trigger = t->trigger.data,
		};
	tacho_sized_put(info, size, &own, sizeof(own));
	return 0;
}

static uint32_t kind_of(enum app_hist_kind kind)
{
	switch (kind) {
	case APP_HIST_NUMBER: return TACHO_CTL_HIST_NUMBER;
	case APP_HIST_RANGE: return TACHO_CTL_HIST_RANGE;
	case APP_HIST_STRING: return TACHO_CTL_HIST_STRING;
	case APP_HIST_STACK: return TACHO_CTL_HIST_STACK;
	}
	return 0;
}

TACHO_EXPORT int tacho_ctl_hist_fill_column(const struct tacho_ctl_hist *hist, uint32_t index,
					    struct tacho_ctl_hist_column *column)
{
	uint32_t size = column->struct_size;
	struct tacho_ctl_hist_column own;
	struct app_hist_column c;

	if (size < COLUMN_SIZE_1_1)
		return -EINVAL;
	if (!hist->table || app_hist_table_column(hist->table, index, &c))
		return -ENOENT;
	own = (struct tacho_ctl_hist_column){
		.kind = kind_of(c.kind), .is_signed = c.is_signed, .name = c.name,
	};
	tacho_sized_put(column, size, &own, sizeof(own));
	return 0;
}

TACHO_EXPORT int tacho_ctl_hist_fill_cell(struct tacho_ctl_hist *hist, uint32_t row,
					  uint32_t column, struct tacho_ctl_hist_cell *cell)
{
	uint32_t size = cell->struct_size;
	struct tacho_ctl_hist_cell own;
	struct app_hist_cell c;
	int err;

	if (size < CELL_SIZE_1_1)
		return -EINVAL;
	if (!hist->table)
		return -ENOENT;
	err = app_hist_table_cell(hist->table, row, column, &c);
	if (err)
		return err;
	own = (struct tacho_ctl_hist_cell){
		.nr_addresses = c.nr_addresses, .number = c.number, .high = c.high,
		.addresses = c.addresses, .text = c.text,
	};
	tacho_sized_put(cell, size, &own, sizeof(own));
	return 0;
}
