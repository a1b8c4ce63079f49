// SPDX-License-Identifier: MIT
/* Bars for a terminal, and quantiles. */
#include "engine/hist_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hist_view.h"

/* Longest text of one entry's keys; what is longer is cut anyway. */
#define LABEL_MAX	((size_t)65536)
#define LABEL_MIN	8u	/* columns that keys get at least */
#define BAR_MIN		10u	/* and bars, if keys can do with fewer */

struct chart {
	const struct hist_view *v;
	const struct tacho_hist_column *col;	/* of the bars; NULL: hitcount */
	bool ascii;
	uint64_t max, total;
	uint32_t label, count, bar;	/* columns */
	struct tacho_buf text;		/* one label, reset for each */
};

/* ---- labels ---- */

static void label_number(struct chart *c, const struct tacho_hist_column *col,
			 uint64_t n, struct tacho_map_elt *e)
{
	uint32_t mods = hist_view_mods(col);
	struct tacho_buf *out = &c->text;
	bool is_signed = col->is_signed && !(mods & TACHO_MOD_LOG2);
	uint64_t low, high;

	if (mods & TACHO_MOD_HEX) {
		tacho_buf_puts(out, "0x");
		tacho_buf_put_hex(out, n, 1);
	} else if (mods & (TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET)) {
		hist_view_put_symbol(c->v, n, !(mods & TACHO_MOD_SYM), out);
	} else if (mods & TACHO_MOD_EXECNAME) {
		tacho_buf_puts(out, hist_view_comm(c->v, e, col));
		tacho_buf_putc(out, '[');
		tacho_buf_put_u64(out, n);
		tacho_buf_putc(out, ']');
	} else if (mods & TACHO_MOD_SYSCALL && hist_view_syscall(c->v, n)) {
		tacho_buf_puts(out, hist_view_syscall(c->v, n));
	} else {
		hist_view_range(col, n, &low, &high);
		if (is_signed)
			tacho_buf_put_s64(out, (int64_t)low);
		else
			tacho_buf_put_u64(out, low);
		if (!(mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS)))
			return;
		tacho_buf_puts(out, "..");
		if (is_signed)
			tacho_buf_put_s64(out, (int64_t)high);
		else
			tacho_buf_put_u64(out, high);
	}
}

static void label_stack(struct chart *c, const uint64_t *addr, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && addr[i]; i++) {
		if (i)
			tacho_buf_puts(&c->text, " < ");
		hist_view_put_symbol(c->v, addr[i], false, &c->text);
	}
}

/* Keys of one entry, side by side. */
static void make_label(struct chart *c, struct tacho_map_elt *e)
{
	const void *key = tacho_map_key(e);

	tacho_buf_reset(&c->text);
	for (uint32_t i = 0; i < tacho_hist_nr_keys(c->v->hist); i++) {
		const struct tacho_hist_column *col =
			tacho_hist_key(c->v->hist, i);

		if (i)
			tacho_buf_puts(&c->text, ", ");
		if (col->shape == TACHO_SHAPE_STRING)
			tacho_buf_puts(&c->text, hist_view_string(key, col));
		else if (col->shape == TACHO_SHAPE_STACK)
			label_stack(c, hist_view_stack(key, col), col->size / 8);
		else
			label_number(c, col, hist_view_word(key, col), e);
	}
}

static void make_heading(struct chart *c)
{
	tacho_buf_reset(&c->text);
	for (uint32_t i = 0; i < tacho_hist_nr_keys(c->v->hist); i++) {
		if (i)
			tacho_buf_puts(&c->text, ", ");
		tacho_buf_puts(&c->text, tacho_hist_key(c->v->hist, i)->name);
	}
}

/*
 * Bytes of the character at s, 0 for one that is not to go to a terminal: control
 * characters, what is not UTF-8, and all but ASCII where that is wanted.
 */
static size_t char_len(const struct chart *c, const unsigned char *s, size_t left)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 :
		   s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (n == 1)
		return s[0] >= ' ' && s[0] != 0x7f;
	if (c->ascii || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* U+0080 to U+009f are control characters too; overlong, surrogates */
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
	    (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Columns of the label: a character is one, wide ones included. */
static uint32_t columns(const struct chart *c)
{
	const unsigned char *s = (const unsigned char *)c->text.data;
	size_t len = c->text.len;
	uint32_t nr = 0;

	for (size_t i = 0; i < len; nr++) {
		size_t n = char_len(c, s + i, len - i);

		i += n ? n : 1;
	}
	return nr;
}

/* The label, cut or padded to its columns. */
static void put_label(const struct chart *c, struct tacho_buf *out)
{
	const unsigned char *s = (const unsigned char *)c->text.data;
	size_t len = c->text.len, i = 0;
	uint32_t nr = 0, total = columns(c);
	uint32_t most = total > c->label ? c->label - 1 : total;

	for (; nr < most; nr++) {
		size_t n = char_len(c, s + i, len - i);

		if (n)
			tacho_buf_put(out, s + i, n);
		else
			tacho_buf_putc(out, '?');
		i += n ? n : 1;
	}
	if (total > c->label) {
		tacho_buf_puts(out, c->ascii ? "~" : "\xe2\x80\xa6");
		nr++;
	}
	for (; nr < c->label; nr++)
		tacho_buf_putc(out, ' ');
}

/* ---- bars ---- */

/* Eighths of a column; whole ones in ASCII.  What is there has a mark. */
static uint64_t bar_eighths(const struct chart *c, uint64_t val)
{
	uint64_t steps = (uint64_t)c->bar * (c->ascii ? 1 : 8), n;

	if (!c->max || !val)
		return 0;
	n = val <= UINT64_MAX / steps ? val * steps / c->max :
					val / (c->max / steps + 1);
	if (!n)
		n = 1;
	return c->ascii ? n * 8 : n;
}

static void put_bar(const struct chart *c, uint64_t val, struct tacho_buf *out)
{
	uint64_t eighths = c->bar ? bar_eighths(c, val) : 0;
	char part[3] = "\xe2\x96";

	for (; eighths >= 8; eighths -= 8)
		tacho_buf_puts(out, c->ascii ? "#" : "\xe2\x96\x88");
	if (!eighths)
		return;
	/* U+258F is one eighth, U+2589 seven */
	tacho_buf_put(out, part, 2);
	tacho_buf_putc(out, (char)(0x90 - eighths));
}

static void put_share(uint64_t val, uint64_t total, struct tacho_buf *out)
{
	uint32_t share = hist_view_share(val, total);

	if (share == UINT32_MAX) {
		tacho_buf_puts(out, "     -");
		return;
	}
	share /= 10;
	tacho_buf_put_u64_pad(out, share / 10, 3, ' ');
	tacho_buf_putc(out, '.');
	tacho_buf_put_u64(out, share % 10);
	tacho_buf_putc(out, '%');
}

static uint64_t bar_value(const struct chart *c, struct tacho_map_elt *e)
{
	return hist_view_val(c->v, e, c->col);
}

static uint32_t digits(uint64_t n)
{
	uint32_t nr = 1;

	for (; n >= 10; n /= 10)
		nr++;
	return nr;
}

/*
 *	label  count  share  bar
 *
 * Two columns are between them.  The bar gets what is left; a label that is too
 * long for that is cut.
 */
static void lay_out(struct chart *c, uint32_t width)
{
	const char *name = c->col ? c->col->name : "hitcount";
	uint32_t fixed;

	make_heading(c);
	c->label = columns(c);
	for (uint32_t i = 0; i < c->v->nr; i++) {
		uint32_t nr;

		make_label(c, c->v->entry[i]);
		nr = columns(c);
		if (c->label < nr)
			c->label = nr;
	}
	c->count = digits(c->max);
	if (c->count < strlen(name))
		c->count = (uint32_t)strlen(name);
	fixed = 2 + c->count + 2 + 6 + 2;
	if (c->label + fixed + BAR_MIN > width)
		c->label = width > fixed + BAR_MIN + LABEL_MIN ?
			   width - fixed - BAR_MIN : LABEL_MIN;
	c->bar = width > c->label + fixed ? width - c->label - fixed : 0;
}

static void put_chart(struct chart *c, struct tacho_buf *out)
{
	const char *name = c->col ? c->col->name : "hitcount";

	make_heading(c);
	put_label(c, out);
	for (size_t n = strlen(name); n < c->count + 2; n++)
		tacho_buf_putc(out, ' ');
	tacho_buf_puts(out, name);
	tacho_buf_puts(out, "   share\n");
	for (uint32_t i = 0; i < c->v->nr; i++) {
		uint64_t val = bar_value(c, c->v->entry[i]);

		make_label(c, c->v->entry[i]);
		put_label(c, out);
		tacho_buf_puts(out, "  ");
		tacho_buf_put_u64_pad(out, val, c->count, ' ');
		tacho_buf_puts(out, "  ");
		put_share(val, c->total, out);
		if (val && c->bar)
			tacho_buf_puts(out, "  ");
		put_bar(c, val, out);
		tacho_buf_putc(out, '\n');
	}
}

int tacho_hist_print_chart(const struct tacho_hist *hist,
			   const struct tacho_names *names, uint32_t width,
			   bool ascii, struct tacho_buf *out)
{
	struct hist_view v;
	struct chart c = { .v = &v, .ascii = ascii };
	int err = hist_view_take(&v, hist, names);

	tacho_buf_init(&c.text, LABEL_MAX);
	if (!err) {
		if (tacho_hist_nr_vals(hist))
			c.col = tacho_hist_val(hist, 0);
		c.max = c.col ? v.val[0].max : v.hitcount_max;
		c.total = c.col ? v.val[0].total : v.hits;
		lay_out(&c, width);
		put_chart(&c, out);
		err = c.text.err ? c.text.err : tacho_buf_error(out);
	}
	tacho_buf_release(&c.text);
	hist_view_release(&v);
	return err;
}

/* ---- quantiles ---- */

static int by_first_key(const void *pa, const void *pb, void *arg)
{
	const struct tacho_hist_column *c = arg;
	uint64_t x = hist_view_word(*(struct tacho_map_elt *const *)pa, c);
	uint64_t y = hist_view_word(*(struct tacho_map_elt *const *)pb, c);

	if (c->is_signed)
		return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	return (x > y) - (x < y);
}

/* The q-th thousandth of the hits, counted from 1. */
static uint64_t quantile_rank(uint64_t hits, uint32_t q)
{
	uint64_t rank;

	if (q > 1000)
		q = 1000;
	rank = hits / 1000 * q + (hits % 1000 * q + 999) / 1000;
	return rank ? rank : 1;
}

static uint64_t find_quantile(const struct hist_view *v, uint32_t q,
			      const struct tacho_hist_column *c)
{
	uint64_t rank = quantile_rank(v->hits, q), seen = 0, low, high = 0;

	for (uint32_t i = 0; i < v->nr && seen < rank; i++) {
		seen += hist_view_val(v, v->entry[i], NULL);
		hist_view_range(c, hist_view_word(tacho_map_key(v->entry[i]), c),
				&low, &high);
	}
	return high;
}

bool tacho_hist_quantile(const struct tacho_hist *hist, uint32_t q,
			 uint64_t *value)
{
	struct tacho_hist_column c = *tacho_hist_key(hist, 0);
	struct hist_view v;
	bool ok = c.shape == TACHO_SHAPE_NUMBER &&
		  !hist_view_take(&v, hist, NULL);

	if (c.shape != TACHO_SHAPE_NUMBER)
		return false;
	if (ok && v.nr) {
		qsort_r(v.entry, v.nr, sizeof(*v.entry), by_first_key, &c);
		*value = find_quantile(&v, q, &c);
	}
	ok = ok && v.nr;
	hist_view_release(&v);
	return ok;
}
