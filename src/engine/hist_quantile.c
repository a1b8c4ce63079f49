// SPDX-License-Identifier: MIT
#include "engine/hist_quantile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hist_print.h"

#define CELL_MAX	((size_t)65536)	/* bytes of one key's text */
#define CELL_COLUMNS	64u		/* longer text is cut */

/* ---- which keys ---- */

/* Whether `name` means a column: "lat", or "lat.log2".  The caller takes the first unused one. */
static bool is_called(const struct tacho_hist_column *c, const char *name, size_t len)
{
	struct tacho_buf text;
	bool same = strlen(c->name) == len && !memcmp(c->name, name, len);

	if (same || !c->expr)
		return same;
	tacho_buf_init(&text, CELL_MAX);
	tacho_hist_expr_print(c->expr, &text);
	same = text.len == len && !memcmp(tacho_buf_str(&text), name, len);
	tacho_buf_release(&text);
	return same;
}

static int take_key(struct tacho_quantiles *q, const struct tacho_hist *hist,
		    const char *name, size_t len, bool taken[TACHO_HIST_KEYS_MAX],
		    struct tacho_diag *d)
{
	uint32_t nr = tacho_hist_nr_keys(hist);

	for (uint32_t i = 0; i < nr; i++) {
		if (taken[i] || !is_called(tacho_hist_key(hist, i), name, len))
			continue;
		taken[i] = true;
		q->by[q->nr_by++] = i;
		return 0;
	}
	return tacho_diag(d, -EINVAL, 0, "the histogram has no key '%.*s' to group by; "
			  "it has %s%s%s%s%s", (int)(len < 64 ? len : 64), name,
			  tacho_hist_key(hist, 0)->name,
			  nr > 1 ? ", " : "", nr > 1 ? tacho_hist_key(hist, 1)->name : "",
			  nr > 2 ? ", " : "", nr > 2 ? tacho_hist_key(hist, 2)->name : "");
}

/* Finds the one key that is not a grouping key. */
static int find_quantity(struct tacho_quantiles *q, const struct tacho_hist *hist,
			 const bool taken[TACHO_HIST_KEYS_MAX], struct tacho_diag *d)
{
	uint32_t nr = tacho_hist_nr_keys(hist);

	if (q->nr_by + 1 != nr)
		return tacho_diag(d, -EINVAL, 0, "quantiles are by all keys but one, which they "
				  "are of: the histogram has %u keys, --by names %u",
				  nr, q->nr_by);
	for (q->of = 0; taken[q->of]; q->of++)
		;
	return 0;
}

int tacho_quantiles_by(struct tacho_quantiles *q, const struct tacho_hist *hist,
		       const char *by, struct tacho_diag *d)
{
	bool taken[TACHO_HIST_KEYS_MAX] = { false };
	int err = 0;

	q->of = q->nr_by = 0;
	while (!err && by && *by) {
		size_t len = strcspn(by, ",");

		err = take_key(q, hist, by, len, taken, d);
		by += len + (by[len] == ',');
	}
	if (!err && by)
		err = find_quantity(q, hist, taken, d);
	if (!err && tacho_hist_key(hist, q->of)->shape != TACHO_SHAPE_NUMBER)
		err = tacho_diag(d, -EINVAL, 0, "quantiles need a number, and the key "
				 "'%s' is not one; see --by",
				 tacho_hist_key(hist, q->of)->name);
	return err;
}

void tacho_quantile_name(uint32_t q, struct tacho_buf *out)
{
	uint32_t part = q % 1000;

	if (q >= TACHO_QUANTILE_ALL) {
		tacho_buf_puts(out, "max");
		return;
	}
	tacho_buf_printf(out, "p%u", q / 1000);
	if (!part)
		return;
	tacho_buf_putc(out, '.');
	for (uint32_t digit = 100; part; part %= digit, digit /= 10)
		tacho_buf_put_u64(out, part / digit);
}

/* ---- groups ---- */

struct order {
	const struct hist_view *v;
	const struct tacho_quantiles *q;
};

/* Compares the grouping keys of two entries: 0 for the same group, else the order of the groups. */
static int compare_by(const struct order *o, struct tacho_map_elt *a,
		      struct tacho_map_elt *b)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < o->q->nr_by; i++) {
		const struct tacho_hist_column *c =
			tacho_hist_key(o->v->hist, o->q->by[i]);

		if (c->shape == TACHO_SHAPE_STACK)
			ret = memcmp(hist_view_stack(tacho_map_key(a), c),
				     hist_view_stack(tacho_map_key(b), c), c->size);
		else
			ret = hist_view_compare_key(tacho_map_key(a),
						    tacho_map_key(b), c);
	}
	return ret;
}

static int compare_entries(const void *pa, const void *pb, void *arg)
{
	const struct order *o = arg;
	struct tacho_map_elt *a = *(struct tacho_map_elt *const *)pa;
	struct tacho_map_elt *b = *(struct tacho_map_elt *const *)pb;
	int ret = compare_by(o, a, b);

	return ret ? ret : hist_view_compare_key(tacho_map_key(a), tacho_map_key(b),
						 tacho_hist_key(o->v->hist, o->q->of));
}

static int compare_value(const struct order *o, const struct hist_group *a,
			 const struct hist_group *b)
{
	uint32_t last = o->q->nr - 1;

	if (hist_quantiles_signed(o->v, o->q))
		return ((int64_t)a->value[last] > (int64_t)b->value[last]) -
		       ((int64_t)a->value[last] < (int64_t)b->value[last]);
	return (a->value[last] > b->value[last]) - (a->value[last] < b->value[last]);
}

static int compare_groups(const void *pa, const void *pb, void *arg)
{
	const struct hist_group *a = pa, *b = pb;
	const struct order *o = arg;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < tacho_hist_nr_orders(o->v->hist); i++) {
		struct tacho_hist_order by = tacho_hist_order(o->v->hist, i);

		if (!by.is_key && !by.index)
			ret = (a->hits > b->hits) - (a->hits < b->hits);
		else if (by.is_key && by.index == o->q->of)
			ret = compare_value(o, a, b);
		else if (by.is_key)
			ret = hist_view_compare_key(tacho_map_key(a->first),
						    tacho_map_key(b->first),
						    tacho_hist_key(o->v->hist, by.index));
		if (by.descending)
			ret = -ret;
	}
	return ret ? ret : compare_by(o, a->first, b->first);
}

/* The rank of the quantile among hits, counted from 1. */
static uint64_t quantile_rank(uint64_t hits, uint32_t q)
{
	const uint64_t all = TACHO_QUANTILE_ALL;
	uint64_t rank;

	if (q > all)
		q = TACHO_QUANTILE_ALL;
	rank = hits / all * q + (hits % all * q + all - 1) / all;
	return rank ? rank : 1;
}

/* Computes one quantile of the nr entries of a group, in ascending order. */
static uint64_t find_quantile(const struct hist_view *v, uint32_t first, uint32_t nr,
			      uint64_t hits, uint32_t q,
			      const struct tacho_hist_column *c)
{
	uint64_t rank = quantile_rank(hits, q), seen = 0, low, high = 0;

	for (uint32_t i = first; i < first + nr && seen < rank; i++) {
		seen += hist_view_val(v, v->entry[i], NULL);
		hist_view_range(c, hist_view_word(tacho_map_key(v->entry[i]), c),
				&low, &high);
	}
	return high;
}

/* Makes the group that begins at entry i; returns its number of entries. */
static uint32_t make_group(const struct order *o, uint32_t i, struct hist_group *g)
{
	const struct hist_view *v = o->v;
	uint32_t nr = 0;

	g->first = v->entry[i];
	g->hits = 0;
	for (; i + nr < v->nr && !compare_by(o, g->first, v->entry[i + nr]); nr++)
		g->hits += hist_view_val(v, v->entry[i + nr], NULL);
	for (uint32_t k = 0; k < o->q->nr; k++)
		g->value[k] = find_quantile(v, i, nr, g->hits, o->q->q[k],
					    tacho_hist_key(v->hist, o->q->of));
	return nr;
}

static uint32_t count_groups(const struct order *o)
{
	uint32_t nr = o->v->nr != 0;

	for (uint32_t i = 1; i < o->v->nr; i++)
		nr += compare_by(o, o->v->entry[i - 1], o->v->entry[i]) != 0;
	return nr;
}

struct hist_group *hist_groups(struct hist_view *v, const struct tacho_quantiles *q,
			       uint32_t *nr)
{
	struct order o = { v, q };
	struct hist_group *group;
	uint32_t at = 0, room;

	qsort_r(v->entry, v->nr, sizeof(*v->entry), compare_entries, &o);
	room = count_groups(&o);
	group = calloc(room ? room : 1, sizeof(*group));
	*nr = 0;
	while (group && *nr < room)
		at += make_group(&o, at, &group[(*nr)++]);
	if (group && q->nr)
		qsort_r(group, *nr, sizeof(*group), compare_groups, &o);
	return group;
}

bool hist_quantiles_exact(const struct hist_view *v,
			  const struct tacho_quantiles *q)
{
	return !(hist_view_mods(tacho_hist_key(v->hist, q->of)) &
		 (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS));
}

bool hist_quantiles_signed(const struct hist_view *v,
			   const struct tacho_quantiles *q)
{
	const struct tacho_hist_column *c = tacho_hist_key(v->hist, q->of);

	return c->is_signed && !(hist_view_mods(c) & TACHO_MOD_LOG2);
}

/* ---- as text ---- */

/* A table: one column per key, then the count and the quantiles. */
struct table {
	const struct hist_view *v;
	const struct tacho_quantiles *q;
	const struct hist_group *group;
	uint32_t nr;
	bool ascii, is_signed;
	uint32_t key[TACHO_HIST_KEYS_MAX];	/* columns of each */
	uint32_t number;			/* columns of numbers */
	struct tacho_buf cell;			/* one text, reset for each */
};

static void fit(const struct table *t, uint32_t *columns)
{
	uint32_t n = hist_view_columns(&t->cell, t->ascii);

	if (n > CELL_COLUMNS)
		n = CELL_COLUMNS;
	if (*columns < n)
		*columns = n;
}

static void make_key(struct table *t, uint32_t i, const struct hist_group *g)
{
	const struct tacho_hist_column *c = tacho_hist_key(t->v->hist, t->q->by[i]);

	tacho_buf_reset(&t->cell);
	if (g)
		hist_view_put_key(t->v, g->first, c, &t->cell);
	else
		tacho_buf_puts(&t->cell, c->name);
}

/* Quantile k, or its name. */
static void make_value(struct table *t, uint32_t k, const struct hist_group *g)
{
	tacho_buf_reset(&t->cell);
	if (g)
		hist_view_put_number(g->value[k], t->is_signed, &t->cell);
	else
		tacho_quantile_name(t->q->q[k], &t->cell);
}

static void make_hits(struct table *t, const struct hist_group *g)
{
	tacho_buf_reset(&t->cell);
	if (g)
		tacho_buf_put_u64(&t->cell, g->hits);
	else
		tacho_buf_puts(&t->cell, "count");
}

/* Widens the columns for a row; g NULL: the heading. */
static void fit_row(struct table *t, const struct hist_group *g)
{
	for (uint32_t i = 0; i < t->q->nr_by; i++) {
		make_key(t, i, g);
		fit(t, &t->key[i]);
	}
	make_hits(t, g);
	fit(t, &t->number);
	for (uint32_t k = 0; k < t->q->nr; k++) {
		make_value(t, k, g);
		fit(t, &t->number);
	}
}

static void put_right(const struct table *t, struct tacho_buf *out)
{
	for (size_t n = t->cell.len; n < t->number + 2; n++)
		tacho_buf_putc(out, ' ');
	tacho_buf_put(out, t->cell.data, t->cell.len);
}

static void put_row(struct table *t, const struct hist_group *g, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < t->q->nr_by; i++) {
		make_key(t, i, g);
		if (i)
			tacho_buf_puts(out, "  ");
		hist_view_put_cell(&t->cell, t->key[i], t->ascii, out);
	}
	make_hits(t, g);
	put_right(t, out);
	for (uint32_t k = 0; k < t->q->nr; k++) {
		make_value(t, k, g);
		put_right(t, out);
	}
	tacho_buf_putc(out, '\n');
}

/* Appends "# quantiles of lat by comm" and notes about their exactness. */
static void put_heading(const struct table *t, struct tacho_buf *out)
{
	const struct tacho_hist *hist = t->v->hist;

	tacho_buf_printf(out, "# quantiles of %s", tacho_hist_key(hist, t->q->of)->name);
	for (uint32_t i = 0; i < t->q->nr_by; i++)
		tacho_buf_printf(out, "%s%s", i ? ", " : " by ",
				 tacho_hist_key(hist, t->q->by[i])->name);
	tacho_buf_puts(out, hist_quantiles_exact(t->v, t->q) ? ": exact\n" :
		       ": upper ends of the ranges that they are in\n");
	if (t->v->drops)
		tacho_buf_printf(out, "# without %" PRIu64 " hits that found no room: "
				 "see size=\n", t->v->drops);
}

static void put_table(struct table *t, struct tacho_buf *out)
{
	fit_row(t, NULL);
	for (uint32_t i = 0; i < t->nr; i++)
		fit_row(t, &t->group[i]);
	put_heading(t, out);
	put_row(t, NULL, out);
	for (uint32_t i = 0; i < t->nr; i++)
		put_row(t, &t->group[i], out);
}

int tacho_hist_print_quantiles(const struct tacho_hist *hist,
			       const struct tacho_names *names,
			       const struct tacho_quantiles *q, bool ascii,
			       struct tacho_buf *out)
{
	struct hist_view v;
	struct table t = { .v = &v, .q = q, .ascii = ascii };
	struct hist_group *group = NULL;
	int err = hist_view_take(&v, hist, names);

	tacho_buf_init(&t.cell, CELL_MAX);
	if (!err) {
		t.is_signed = hist_quantiles_signed(&v, q);
		t.group = group = hist_groups(&v, q, &t.nr);
		err = group ? 0 : -ENOMEM;
	}
	if (!err) {
		put_table(&t, out);
		err = t.cell.err ? t.cell.err : tacho_buf_error(out);
	}
	free(group);
	tacho_buf_release(&t.cell);
	hist_view_release(&v);
	return err;
}

bool tacho_hist_quantile(const struct tacho_hist *hist, uint32_t q,
			 uint64_t *value)
{
	struct tacho_quantiles all = { .q = { q }, .nr = 1 };
	struct hist_group *group = NULL;
	struct hist_view v;
	uint32_t nr = 0;

	if (tacho_quantiles_by(&all, hist, NULL, NULL))
		return false;
	if (!hist_view_take(&v, hist, NULL))
		group = hist_groups(&v, &all, &nr);
	if (nr)
		*value = group->value[0];
	free(group);
	hist_view_release(&v);
	return nr;
}
