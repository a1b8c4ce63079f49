// SPDX-License-Identifier: MIT
/* A histogram as one JSON object. */
#include "engine/hist_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/hist_view.h"

/* Longest text built for one name. */
#define TEXT_MAX	((size_t)65536)

struct writer {
	const struct hist_view *v;
	struct tacho_json j;
	struct tacho_buf text;	/* for building strings */
	const struct tacho_quantiles *q;	/* set while groups are written */
};

/* Ends the use of the text; its error becomes the error of the output. */
static void text_done(struct writer *w)
{
	if (tacho_buf_error(&w->text))
		w->j.out->err = tacho_buf_error(&w->text);
	tacho_buf_reset(&w->text);
}

static void put_text(struct writer *w)
{
	tacho_json_strn(&w->j, w->text.data ? w->text.data : "", w->text.len);
	text_done(w);
}

static void put_number(struct writer *w, uint64_t n, bool is_signed)
{
	if (is_signed)
		tacho_json_s64(&w->j, (int64_t)n);
	else
		tacho_json_u64(&w->j, n);
}

static void pair_number(struct writer *w, const char *name, uint64_t n,
			bool is_signed)
{
	tacho_json_key(&w->j, name);
	put_number(w, n, is_signed);
}

static void pair_hex(struct writer *w, uint64_t n)
{
	tacho_buf_puts(&w->text, "0x");
	tacho_buf_put_hex(&w->text, n, 1);
	tacho_json_key(&w->j, "hex");
	put_text(w);
}

/* {"value":addr,"name":"vfs_read","offset":16,"module":"ext4"} */
static void put_address(struct writer *w, uint64_t addr, bool offset)
{
	struct tacho_symbol sym;

	tacho_json_open(&w->j, '{');
	tacho_json_pair_u64(&w->j, "value", addr);
	pair_hex(w, addr);
	if (hist_view_symbol(w->v, addr, &sym)) {
		tacho_json_pair_str(&w->j, "name", sym.name);
		if (offset)
			tacho_json_pair_u64(&w->j, "offset", addr - sym.start);
		if (sym.module)
			tacho_json_pair_str(&w->j, "module", sym.module);
	}
	tacho_json_close(&w->j, '}');
}

static void put_stack(struct writer *w, const uint64_t *addr, uint64_t nr)
{
	tacho_json_open(&w->j, '[');
	for (uint64_t i = 0; i < nr && addr[i]; i++)
		put_address(w, addr[i], true);
	tacho_json_close(&w->j, ']');
}

static void put_named(struct writer *w, uint64_t n, const char *name)
{
	tacho_json_open(&w->j, '{');
	tacho_json_pair_u64(&w->j, "value", n);
	tacho_json_pair_str(&w->j, "name", name);
	tacho_json_close(&w->j, '}');
}

static void put_range(struct writer *w, const struct tacho_hist_column *c,
		      uint64_t n)
{
	bool is_signed = c->is_signed &&
			 hist_view_mods(c) & TACHO_MOD_BUCKETS;
	uint64_t low, high;

	hist_view_range(c, n, &low, &high);
	tacho_json_open(&w->j, '{');
	pair_number(w, "low", low, is_signed);
	pair_number(w, "high", high, is_signed);
	tacho_json_close(&w->j, '}');
}

static void put_word_key(struct writer *w, const struct tacho_hist_column *c,
			 uint64_t n, const char *comm)
{
	uint32_t mods = hist_view_mods(c);

	if (mods & TACHO_MOD_HEX) {
		tacho_json_open(&w->j, '{');
		tacho_json_pair_u64(&w->j, "value", n);
		pair_hex(w, n);
		tacho_json_close(&w->j, '}');
	} else if (mods & (TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET)) {
		put_address(w, n, !(mods & TACHO_MOD_SYM));
	} else if (mods & TACHO_MOD_EXECNAME) {
		put_named(w, n, comm);
	} else if (mods & TACHO_MOD_SYSCALL && hist_view_syscall(w->v, n)) {
		put_named(w, n, hist_view_syscall(w->v, n));
	} else if (mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS)) {
		put_range(w, c, n);
	} else {
		put_number(w, n, c->is_signed);
	}
}

/* Two columns of one name differ by their modifiers. */
static void put_label(struct writer *w, const struct tacho_hist_column *c,
		      bool taken)
{
	if (!taken || !c->expr) {
		tacho_json_key(&w->j, c->name);
		return;
	}
	tacho_hist_expr_print(c->expr, &w->text);
	tacho_json_key(&w->j, tacho_buf_str(&w->text));
	text_done(w);
}

static bool key_taken(const struct tacho_hist *hist, uint32_t i)
{
	const char *name = tacho_hist_key(hist, i)->name;

	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(tacho_hist_key(hist, k)->name, name))
			return true;
	return false;
}

/* Skips values that the kernel does not print; they have no usable name: "bytes_req*2". */
static bool val_taken(const struct tacho_hist *hist, uint32_t i)
{
	const struct tacho_hist_column *c = tacho_hist_val(hist, i);

	if (c->expr && c->expr->op >= TACHO_EXPR_MINUS)
		return true;
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(tacho_hist_val(hist, k)->name, c->name))
			return true;
	return false;
}

static bool is_by(const struct tacho_quantiles *q, uint32_t key)
{
	for (uint32_t i = 0; i < q->nr_by; i++)
		if (q->by[i] == key)
			return true;
	return false;
}

/* comm NULL: that of e.  For a group: only its grouping keys. */
static void put_keys(struct writer *w, const void *key, struct tacho_map_elt *e,
		     const char *comm)
{
	const struct tacho_hist *hist = w->v->hist;

	tacho_json_key(&w->j, "key");
	tacho_json_open(&w->j, '{');
	for (uint32_t i = 0; i < tacho_hist_nr_keys(hist); i++) {
		const struct tacho_hist_column *c = tacho_hist_key(hist, i);

		if (w->q && !is_by(w->q, i))
			continue;
		put_label(w, c, key_taken(hist, i));
		if (c->shape == TACHO_SHAPE_STRING)
			tacho_json_str(&w->j, hist_view_string(key, c));
		else if (c->shape == TACHO_SHAPE_STACK)
			put_stack(w, hist_view_stack(key, c), c->size / 8);
		else
			put_word_key(w, c, hist_view_word(key, c),
				     e ? hist_view_comm(w->v, e, c) : comm);
	}
	tacho_json_close(&w->j, '}');
}

static void put_val(struct writer *w, struct tacho_map_elt *e, uint32_t i)
{
	const struct tacho_hist_column *c = tacho_hist_val(w->v->hist, i);
	uint64_t val = hist_view_val(w->v, e, c);
	uint32_t share = hist_view_share(val, w->v->val[i].total);

	put_label(w, c, val_taken(w->v->hist, i));
	if (!(hist_view_mods(c) & TACHO_MOD_PERCENT) || share == UINT32_MAX) {
		put_number(w, val, c->is_signed);
		return;
	}
	tacho_json_open(&w->j, '{');
	pair_number(w, "value", val, c->is_signed);
	tacho_json_key(&w->j, "percent");
	tacho_json_double(&w->j, share / 100.0);
	tacho_json_close(&w->j, '}');
}

static void put_vals(struct writer *w, struct tacho_map_elt *e)
{
	tacho_json_pair_u64(&w->j, "hitcount", hist_view_val(w->v, e, NULL));
	tacho_json_key(&w->j, "values");
	tacho_json_open(&w->j, '{');
	for (uint32_t i = 0; i < tacho_hist_nr_vals(w->v->hist); i++)
		put_val(w, e, i);
	tacho_json_close(&w->j, '}');
}

static void put_saved_field(struct writer *w, struct tacho_map_elt *e,
			    const struct tacho_hist_column *c)
{
	const struct tacho_map *map = w->v->map;

	tacho_json_key(&w->j, c->name);
	if (c->shape == TACHO_SHAPE_NUMBER) {
		put_number(w, *tacho_map_var(map, e, c->offset), c->is_signed);
	} else if (c->shape == TACHO_SHAPE_STRING) {
		tacho_json_str(&w->j, tacho_map_text(map, e, c->offset));
	} else {
		const uint64_t *word = (const uint64_t *)(const void *)
			tacho_map_text(map, e, c->offset);

		put_stack(w, word + 1, word[0] < TACHO_HIST_STACK ?
				       word[0] : TACHO_HIST_STACK);
	}
}

/* {"onmax":"lat","value":12,"fields":{...}}; if nothing was kept, null and null. */
static void put_saved(struct writer *w, struct tacho_map_elt *e,
		      const struct tacho_hist_saved *s)
{
	uint64_t kept;

	tacho_json_open(&w->j, '{');
	tacho_json_pair_str(&w->j, s->action->handler == TACHO_ON_MAX ?
				   "onmax" : "onchange", s->action->var);
	tacho_json_key(&w->j, "value");
	if (!tacho_map_var_get(w->v->map, e, s->var, &kept)) {
		tacho_json_null(&w->j);
		tacho_json_key(&w->j, "fields");
		tacho_json_null(&w->j);
	} else {
		tacho_json_u64(&w->j, kept);
		tacho_json_key(&w->j, "fields");
		tacho_json_open(&w->j, '{');
		for (uint32_t i = 0; i < s->nr; i++)
			put_saved_field(w, e, &s->field[i]);
		tacho_json_close(&w->j, '}');
	}
	tacho_json_close(&w->j, '}');
}

static void put_entry(struct writer *w, struct tacho_map_elt *e)
{
	tacho_json_open(&w->j, '{');
	put_keys(w, tacho_map_key(e), e, NULL);
	put_vals(w, e);
	tacho_json_key(&w->j, "saved");
	tacho_json_open(&w->j, '[');
	for (uint32_t i = 0; i < tacho_hist_nr_saved(w->v->hist); i++) {
		struct tacho_hist_saved s = tacho_hist_saved(w->v->hist, i);

		put_saved(w, e, &s);
	}
	tacho_json_close(&w->j, ']');
	tacho_json_close(&w->j, '}');
}

static void put_snapshot(struct writer *w)
{
	for (uint32_t i = 0; i < tacho_hist_nr_saved(w->v->hist); i++) {
		struct tacho_hist_saved s = tacho_hist_saved(w->v->hist, i);

		if (!s.snapshot_key)
			continue;
		tacho_json_key(&w->j, "snapshot");
		tacho_json_open(&w->j, '{');
		tacho_json_pair_u64(&w->j, "value", *s.snapshot_value);
		put_keys(w, s.snapshot_key, NULL, s.snapshot_comm);
		tacho_json_close(&w->j, '}');
		return;		/* an instance has one */
	}
}

static void put_head(struct writer *w)
{
	const struct tacho_type *type = tacho_hist_type_of(w->v->hist);
	const struct tacho_hist_spec *spec = tacho_hist_spec_of(w->v->hist);

	tacho_buf_puts(&w->text, type->system);
	tacho_buf_putc(&w->text, ':');
	tacho_buf_puts(&w->text, type->name);
	tacho_json_key(&w->j, "event");
	put_text(w);
	tacho_hist_spec_print(spec, tacho_hist_paused(w->v->hist), &w->text);
	tacho_json_key(&w->j, "trigger");
	put_text(w);
}

static void put_entries(struct writer *w)
{
	tacho_json_key(&w->j, "entries");
	tacho_json_open(&w->j, '[');
	for (uint32_t i = 0; i < w->v->nr; i++)
		put_entry(w, w->v->entry[i]);
	tacho_json_close(&w->j, ']');
	put_snapshot(w);
}

static void put_values(struct writer *w, const struct tacho_quantiles *q,
		       const struct hist_group *g)
{
	for (uint32_t i = 0; i < q->nr; i++) {
		tacho_quantile_name(q->q[i], &w->text);
		tacho_json_key(&w->j, tacho_buf_str(&w->text));
		text_done(w);
		put_number(w, g->value[i], hist_quantiles_signed(w->v, q));
	}
}

/* {"of":"lat","by":["comm"],"exact":true; without groups the values, too. */
static void put_quantiles(struct writer *w, const struct tacho_quantiles *q,
			  const struct hist_group *all)
{
	const struct tacho_hist *hist = w->v->hist;

	tacho_json_key(&w->j, "quantiles");
	tacho_json_open(&w->j, '{');
	tacho_json_pair_str(&w->j, "of", tacho_hist_key(hist, q->of)->name);
	tacho_json_key(&w->j, "by");
	tacho_json_open(&w->j, '[');
	for (uint32_t i = 0; i < q->nr_by; i++)
		tacho_json_str(&w->j, tacho_hist_key(hist, q->by[i])->name);
	tacho_json_close(&w->j, ']');
	tacho_json_key(&w->j, "exact");
	tacho_json_bool(&w->j, hist_quantiles_exact(w->v, q));
	if (all)
		put_values(w, q, all);
	tacho_json_close(&w->j, '}');
}

static void put_group(struct writer *w, const struct tacho_quantiles *q,
		      const struct hist_group *g)
{
	tacho_json_open(&w->j, '{');
	w->q = q;
	put_keys(w, tacho_map_key(g->first), g->first, NULL);
	w->q = NULL;
	tacho_json_pair_u64(&w->j, "hitcount", g->hits);
	put_values(w, q, g);
	tacho_json_close(&w->j, '}');
}

static void put_groups(struct writer *w, const struct tacho_quantiles *q,
		       const struct hist_group *group, uint32_t nr)
{
	put_quantiles(w, q, q->nr_by || !nr ? NULL : group);
	if (!q->nr_by)
		return;
	tacho_json_key(&w->j, "groups");
	tacho_json_open(&w->j, '[');
	for (uint32_t i = 0; i < nr; i++)
		put_group(w, q, &group[i]);
	tacho_json_close(&w->j, ']');
}

/* The entries come before the groups, because computing groups sorts the entries again. */
static int put_body(struct writer *w, struct hist_view *v,
		    const struct tacho_quantiles *q)
{
	struct hist_group *group;
	uint32_t nr;

	if (!q || !q->nr_by)
		put_entries(w);
	if (!q)
		return 0;
	group = hist_groups(v, q, &nr);
	if (!group)
		return -ENOMEM;
	put_groups(w, q, group, nr);
	free(group);
	return 0;
}

int tacho_hist_print_json_quantiles(const struct tacho_hist *hist,
				    const struct tacho_names *names,
				    const struct tacho_quantiles *q,
				    struct tacho_buf *out)
{
	struct hist_view v;
	struct writer w = { .v = &v };
	int err = hist_view_take(&v, hist, names);

	tacho_json_init(&w.j, out);
	tacho_buf_init(&w.text, TEXT_MAX);
	if (!err) {
		tacho_json_open(&w.j, '{');
		put_head(&w);
		err = put_body(&w, &v, q);
		tacho_json_pair_u64(&w.j, "hits", v.hits);
		tacho_json_pair_u64(&w.j, "dropped", v.drops);
		tacho_json_close(&w.j, '}');
	}
	if (!err)
		err = w.text.err ? w.text.err : tacho_buf_error(out);
	tacho_buf_release(&w.text);
	hist_view_release(&v);
	return err;
}

int tacho_hist_print_json(const struct tacho_hist *hist,
			  const struct tacho_names *names,
			  struct tacho_buf *out)
{
	return tacho_hist_print_json_quantiles(hist, names, NULL, out);
}
