// SPDX-License-Identifier: MIT
/* Bars for a terminal. */
#include "engine/hist_print.h"

#include <string.h>

#include "engine/hist_view.h"

/* Longest text of one entry's keys; longer ones are cut. */
#define LABEL_MAX	((size_t)65536)
#define LABEL_MIN	8u	/* minimum columns for keys */
#define BAR_MIN		10u	/* minimum columns for bars, if keys need fewer */

struct chart {
	const struct hist_view *v;
	const struct tacho_hist_column *col;	/* of the bars; NULL: hitcount */
	bool ascii;
	uint64_t max, total;
	uint32_t label, count, bar;	/* columns */
	struct tacho_buf text;		/* one label, reset for each */
};

/* ---- labels ---- */

/* Writes the keys of one entry next to each other. */
static void make_label(struct chart *c, struct tacho_map_elt *e)
{
	tacho_buf_reset(&c->text);
	for (uint32_t i = 0; i < tacho_hist_nr_keys(c->v->hist); i++) {
		if (i)
			tacho_buf_puts(&c->text, ", ");
		hist_view_put_key(c->v, e, tacho_hist_key(c->v->hist, i),
				  &c->text);
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

/* ---- bars ---- */

/* The length in eighths of a column; whole columns in ASCII. A value above 0 has a visible bar. */
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
 * Two blank columns separate them.  The bar gets the rest; long labels are cut.
 */
static void lay_out(struct chart *c, uint32_t width)
{
	const char *name = c->col ? c->col->name : "hitcount";
	uint32_t fixed;

	make_heading(c);
	c->label = hist_view_columns(&c->text, c->ascii);
	for (uint32_t i = 0; i < c->v->nr; i++) {
		uint32_t nr;

		make_label(c, c->v->entry[i]);
		nr = hist_view_columns(&c->text, c->ascii);
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
	hist_view_put_cell(&c->text, c->label, c->ascii, out);
	for (size_t n = strlen(name); n < c->count + 2; n++)
		tacho_buf_putc(out, ' ');
	tacho_buf_puts(out, name);
	tacho_buf_puts(out, "   share\n");
	for (uint32_t i = 0; i < c->v->nr; i++) {
		uint64_t val = bar_value(c, c->v->entry[i]);

		make_label(c, c->v->entry[i]);
		hist_view_put_cell(&c->text, c->label, c->ascii, out);
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
