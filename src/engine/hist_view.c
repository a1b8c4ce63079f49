// SPDX-License-Identifier: MIT
/* A histogram's entries, copied and sorted; names of its numbers. */
#include "engine/hist_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- copying ---- */

/* Terminates strings, whatever the map contains. */
static void end_strings(const struct hist_view *v, struct tacho_map_elt *e)
{
	const struct tacho_hist_column *c;

	for (uint32_t i = 0; i < tacho_hist_nr_keys(v->hist); i++) {
		c = tacho_hist_key(v->hist, i);
		if (c->shape == TACHO_SHAPE_STRING)
			((char *)e)[c->offset + c->size - 1] = '\0';
	}
	for (uint32_t i = 0; i < v->map->g.nr_texts; i++)
		tacho_map_text(v->map, e, i)[TACHO_MAP_TEXT - 1] = '\0';
}

/* The copy's own counters become the sums of all copies. */
static void add_copies(const struct hist_view *v, struct tacho_map_elt *copy,
		       struct tacho_map_elt *e)
{
	for (uint32_t i = 0; i <= v->map->g.nr_sums; i++)
		*tacho_map_shared(v->map, copy, i) =
			tacho_map_counter(v->map, e, i);
}

/* Copies at most room elements, the number that was counted before. */
static void copy_elements(struct hist_view *v, uint32_t room)
{
	struct tacho_map_elt *e;
	uint32_t pos = 0;

	while (v->nr < room && (e = tacho_map_next(v->map, &pos))) {
		uint64_t *to = (uint64_t *)(void *)v->entry[v->nr];

		tacho_copy_relaxed(to, tacho_map_word(e, 0),
				   v->map->elt_size / 8);
		add_copies(v, v->entry[v->nr], e);
		end_strings(v, v->entry[v->nr]);
		v->hits += *tacho_map_shared(v->map, v->entry[v->nr++], 0);
	}
}

static uint32_t count_elements(const struct tacho_map *map)
{
	uint32_t nr = 0, pos = 0;

	while (tacho_map_next(map, &pos))
		nr++;
	return nr;
}

static int make_room(struct hist_view *v, uint32_t nr)
{
	size_t size = v->map->elt_size;
	unsigned char *elts;

	tacho_arena_init(&v->arena, nr * (size + sizeof(void *)) + 65536);
	v->entry = tacho_arena_array(&v->arena, nr + 1, sizeof(*v->entry));
	elts = tacho_arena_array(&v->arena, nr + 1, size);
	if (!v->entry || !elts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		v->entry[i] = (struct tacho_map_elt *)(void *)(elts + i * size);
	return 0;
}

/* ---- sorting ---- */

int hist_view_compare_key(const void *a, const void *b,
			  const struct tacho_hist_column *c)
{
	uint64_t x, y;

	if (c->shape == TACHO_SHAPE_STRING)
		return strcmp(hist_view_string(a, c), hist_view_string(b, c));
	if (c->shape == TACHO_SHAPE_STACK)
		return 0;	/* stacks have no order, as in the kernel */
	/* drops the bytes above the compared ones; the sign becomes the top bit */
	x = hist_view_word(a, c) << (64 - 8 * c->order_size);
	y = hist_view_word(b, c) << (64 - 8 * c->order_size);
	if (c->is_signed)
		return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	return (x > y) - (x < y);
}

static int compare_order(const struct hist_view *v, struct tacho_hist_order o,
			 struct tacho_map_elt *a, struct tacho_map_elt *b)
{
	int ret;

	if (o.is_key) {
		ret = hist_view_compare_key(tacho_map_key(a), tacho_map_key(b),
					    tacho_hist_key(v->hist, o.index));
	} else {
		const struct tacho_hist_column *c =
			o.index ? tacho_hist_val(v->hist, o.index - 1) : NULL;
		uint64_t x = hist_view_val(v, a, c), y = hist_view_val(v, b, c);

		ret = (x > y) - (x < y);
	}
	return o.descending ? -ret : ret;
}

/* Equal entries are ordered by their keys, so that equal contents print equally. */
static int compare(const void *pa, const void *pb, void *arg)
{
	const struct hist_view *v = arg;
	struct tacho_map_elt *a = *(struct tacho_map_elt *const *)pa;
	struct tacho_map_elt *b = *(struct tacho_map_elt *const *)pb;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < tacho_hist_nr_orders(v->hist); i++)
		ret = compare_order(v, tacho_hist_order(v->hist, i), a, b);
	for (uint32_t i = 0; !ret && i < tacho_hist_nr_keys(v->hist); i++)
		ret = hist_view_compare_key(tacho_map_key(a), tacho_map_key(b),
					    tacho_hist_key(v->hist, i));
	return ret ? ret : memcmp(tacho_map_key(a), tacho_map_key(b),
				  v->map->g.key_size);
}

static void find_totals(struct hist_view *v)
{
	for (uint32_t i = 0; i < v->nr; i++) {
		uint64_t hits = hist_view_val(v, v->entry[i], NULL);

		if (v->hitcount_max < hits)
			v->hitcount_max = hits;
		for (uint32_t j = 0; j < tacho_hist_nr_vals(v->hist); j++) {
			uint64_t val = hist_view_val(v, v->entry[i],
						     tacho_hist_val(v->hist, j));

			v->val[j].total += val;
			if (v->val[j].max < val)
				v->val[j].max = val;
		}
	}
}

int hist_view_take(struct hist_view *v, const struct tacho_hist *hist,
		   const struct tacho_names *names)
{
	uint32_t nr;

	memset(v, 0, sizeof(*v));
	v->hist = hist;
	v->names = names;
	v->map = tacho_hist_map(hist);
	nr = v->map->head ? count_elements(v->map) : 0;
	if (make_room(v, nr))
		return -ENOMEM;
	if (!v->map->head)
		return 0;
	v->drops = tacho_load_relaxed(&v->map->head->drops);
	copy_elements(v, nr);
	qsort_r(v->entry, v->nr, sizeof(*v->entry), compare, v);
	find_totals(v);
	return 0;
}

void hist_view_release(struct hist_view *v)
{
	tacho_arena_release(&v->arena);
}

uint64_t hist_view_val(const struct hist_view *v, struct tacho_map_elt *e,
		       const struct tacho_hist_column *c)
{
	return *tacho_map_shared(v->map, e, c && c->expr ? 1 + c->offset : 0);
}

/* ---- names ---- */

bool hist_view_symbol(const struct hist_view *v, uint64_t addr,
		      struct tacho_symbol *sym)
{
	return v->names && v->names->symbol &&
	       v->names->symbol(v->names->arg, addr, sym);
}

void hist_view_put_symbol(const struct hist_view *v, uint64_t addr, bool offset,
			  struct tacho_buf *out)
{
	struct tacho_symbol sym;

	if (!hist_view_symbol(v, addr, &sym)) {
		tacho_buf_puts(out, "0x");
		tacho_buf_put_hex(out, addr, 1);
		return;
	}
	tacho_buf_puts(out, sym.name);
	if (offset) {
		tacho_buf_puts(out, "+0x");
		tacho_buf_put_hex(out, addr - sym.start, 1);
	}
	if (offset && sym.end > sym.start) {
		tacho_buf_puts(out, "/0x");
		tacho_buf_put_hex(out, sym.end - sym.start, 1);
	}
	if (sym.module) {
		tacho_buf_puts(out, " [");
		tacho_buf_puts(out, sym.module);
		tacho_buf_putc(out, ']');
	}
}

const char *hist_view_comm(const struct hist_view *v, struct tacho_map_elt *e,
			   const struct tacho_hist_column *c)
{
	return c->comm < v->map->g.nr_texts ? tacho_map_text(v->map, e, c->comm)
					    : "";
}

const char *hist_view_syscall(const struct hist_view *v, uint64_t nr)
{
	return v->names && v->names->syscall ?
	       v->names->syscall(v->names->arg, nr) : NULL;
}

void hist_view_range(const struct tacho_hist_column *c, uint64_t word,
		     uint64_t *low, uint64_t *high)
{
	uint32_t mods = hist_view_mods(c);

	*low = *high = word;
	if (mods & TACHO_MOD_LOG2) {
		*low = word && word <= 64 ? ((uint64_t)1 << (word - 1)) + 1 : 0;
		*high = word < 64 ? (uint64_t)1 << word : UINT64_MAX;
	} else if (mods & TACHO_MOD_BUCKETS) {
		*high = word + c->expr->buckets - 1;
	}
}

uint32_t hist_view_share(uint64_t val, uint64_t total)
{
	if (val < UINT64_MAX / 10000 && total)
		return (uint32_t)(val * 10000 / total);
	total /= 10000;
	if (!total)
		return val ? UINT32_MAX : 0;
	return (uint32_t)(val / total);
}
