// SPDX-License-Identifier: MIT
/* The kernel's `hist` file. */
#include "engine/hist_print.h"

#include <errno.h>
#include <string.h>

#include "engine/hist_view.h"

#define BAR	20	/* characters of a .graph */

/* Pads the text from `from` on to at least width characters. */
static void pad_from(struct tacho_buf *out, size_t from, size_t width)
{
	while (!out->err && out->len - from < width)
		tacho_buf_putc(out, ' ');
}

static void put_left(struct tacho_buf *out, const char *s, size_t width)
{
	size_t from = out->len;

	tacho_buf_puts(out, s);
	pad_from(out, from, width);
}

static void put_name(struct tacho_buf *out, const char *name)
{
	tacho_buf_puts(out, name);
	tacho_buf_puts(out, ": ");
}

/* ---- keys ---- */

static void put_stack(const struct hist_view *v, const uint64_t *addr,
		      uint32_t nr, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < nr && addr[i]; i++) {
		tacho_buf_puts(out, "         ");
		hist_view_put_symbol(v, addr[i], true, out);
		tacho_buf_putc(out, '\n');
	}
}

static void put_key_symbol(const struct hist_view *v, uint64_t addr, bool offset,
			   struct tacho_buf *out)
{
	size_t from;

	tacho_buf_putc(out, '[');
	tacho_buf_put_hex(out, addr, 1);
	tacho_buf_puts(out, "] ");
	from = out->len;
	hist_view_put_symbol(v, addr, offset, out);
	pad_from(out, from, offset ? 55 : 45);
}

static void put_syscall(const struct hist_view *v, uint64_t nr,
			struct tacho_buf *out)
{
	const char *name = hist_view_syscall(v, nr);
	size_t from = out->len;

	tacho_buf_puts(out, name ? "sys_" : "unknown_syscall");
	tacho_buf_puts(out, name ? name : "");
	pad_from(out, from, 30);
	tacho_buf_putc(out, '[');
	tacho_buf_put_u64_pad(out, nr, 3, ' ');
	tacho_buf_putc(out, ']');
}

static void put_number_key(const struct hist_view *v,
			   const struct tacho_hist_column *c, uint64_t word,
			   const char *comm, struct tacho_buf *out)
{
	uint32_t mods = hist_view_mods(c);
	uint64_t low, high;

	put_name(out, c->name);
	if (mods & TACHO_MOD_HEX) {
		tacho_buf_put_hex(out, word, 1);
	} else if (mods & (TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET)) {
		put_key_symbol(v, word, !(mods & TACHO_MOD_SYM), out);
	} else if (mods & TACHO_MOD_EXECNAME) {
		put_left(out, comm, 16);
		tacho_buf_putc(out, '[');
		tacho_buf_put_u64_pad(out, word, 10, ' ');
		tacho_buf_putc(out, ']');
	} else if (mods & TACHO_MOD_SYSCALL) {
		put_syscall(v, word, out);
	} else if (mods & TACHO_MOD_LOG2) {
		tacho_buf_printf(out, "~ 2^%-2llu", (unsigned long long)word);
	} else if (mods & TACHO_MOD_BUCKETS) {
		hist_view_range(c, word, &low, &high);
		tacho_buf_printf(out, "~ %llu-%llu", (unsigned long long)low,
				 (unsigned long long)high);
	} else {
		tacho_buf_put_u64_pad(out, word, 10, ' ');
	}
}

/* The kernel omits the end of line after a field's name. */
static void put_stack_key(const struct hist_view *v,
			  const struct tacho_hist_column *c, const void *key,
			  struct tacho_buf *out)
{
	if (hist_view_mods(c) & TACHO_MOD_STACKTRACE) {
		tacho_buf_puts(out, c->name);
		tacho_buf_puts(out, ".stacktrace");
	} else {
		tacho_buf_puts(out, "common_stacktrace:\n");
	}
	put_stack(v, hist_view_stack(key, c), c->size / 8, out);
}

/* comm: the thread's name, for a key with .execname; NULL: that of e. */
static void put_key(const struct hist_view *v, const void *key,
		    struct tacho_map_elt *e, const char *comm,
		    struct tacho_buf *out)
{
	bool lines = false;

	tacho_buf_puts(out, "{ ");
	for (uint32_t i = 0; i < tacho_hist_nr_keys(v->hist); i++) {
		const struct tacho_hist_column *c = tacho_hist_key(v->hist, i);

		if (i)
			tacho_buf_puts(out, ", ");
		if (c->shape == TACHO_SHAPE_STACK) {
			put_stack_key(v, c, key, out);
			lines = true;
		} else if (c->shape == TACHO_SHAPE_STRING) {
			put_name(out, c->name);
			put_left(out, hist_view_string(key, c), 50);
		} else {
			put_number_key(v, c, hist_view_word(key, c),
				       e ? hist_view_comm(v, e, c) : comm, out);
		}
	}
	tacho_buf_puts(out, lines ? "}" : " }");
}

/* ---- values ---- */

static void put_percent(uint64_t val, uint64_t total, struct tacho_buf *out)
{
	uint32_t share = hist_view_share(val, total);

	if (share == UINT32_MAX) {
		tacho_buf_puts(out, " (%):[ERROR]");
		return;
	}
	tacho_buf_puts(out, " (%): ");
	tacho_buf_put_u64_pad(out, share / 100, 3, ' ');
	tacho_buf_putc(out, '.');
	tacho_buf_put_u64_pad(out, share % 100, 2, '0');
}

static void put_bar(uint64_t val, uint64_t max, struct tacho_buf *out)
{
	uint32_t share = hist_view_share(val, max), len;

	tacho_buf_puts(out, ": ");
	if (share == UINT32_MAX) {
		tacho_buf_puts(out, "             [ERROR]");
		return;
	}
	len = (uint32_t)((uint64_t)share * BAR / 10000);
	for (uint32_t i = 0; i < BAR; i++)
		tacho_buf_putc(out, i < len ? '#' : ' ');
}

static void put_val(const struct hist_view *v, struct tacho_map_elt *e,
		    uint32_t i, struct tacho_buf *out)
{
	const struct tacho_hist_column *c = tacho_hist_val(v->hist, i);
	uint64_t val = hist_view_val(v, e, c);
	uint32_t mods = hist_view_mods(c);

	tacho_buf_puts(out, "  ");
	tacho_buf_puts(out, c->name);
	if (mods & TACHO_MOD_PERCENT) {
		put_percent(val, v->val[i].total, out);
	} else if (mods & TACHO_MOD_GRAPH) {
		put_bar(val, v->val[i].max, out);
	} else if (mods & TACHO_MOD_HEX) {
		tacho_buf_printf(out, ": %10llx", (unsigned long long)val);
	} else {
		tacho_buf_puts(out, ": ");
		tacho_buf_put_u64_pad(out, val, 10, ' ');
	}
}

/* Whether the kernel prints a value: it sums expressions but does not print them. */
static bool is_printed(const struct tacho_hist_column *c)
{
	return !c->expr || c->expr->op < TACHO_EXPR_MINUS;
}

/* ---- what onmax and onchange keep ---- */

static void put_saved_stack(const struct hist_view *v, const char *text,
			    struct tacho_buf *out)
{
	const uint64_t *word = (const uint64_t *)(const void *)text;

	for (uint64_t i = 1; i <= word[0] && i <= TACHO_HIST_STACK; i++) {
		if (i > 1)
			tacho_buf_puts(out, " < ");
		hist_view_put_symbol(v, word[i], true, out);
	}
}

static void put_saved_field(const struct hist_view *v, struct tacho_map_elt *e,
			    const struct tacho_hist_column *c, bool is_set,
			    struct tacho_buf *out)
{
	tacho_buf_puts(out, "  ");
	put_name(out, c->name);
	if (c->shape == TACHO_SHAPE_NUMBER)
		tacho_buf_put_u64_pad(out, *tacho_map_var(v->map, e, c->offset),
				      10, ' ');
	else if (!is_set && c->shape == TACHO_SHAPE_STACK)
		tacho_buf_put_u64_pad(out, 0, 10, ' ');
	else if (!is_set)
		put_left(out, "(null)", 32);
	else if (c->shape == TACHO_SHAPE_STRING)
		put_left(out, tacho_map_text(v->map, e, c->offset), 32);
	else
		put_saved_stack(v, tacho_map_text(v->map, e, c->offset), out);
}

static void put_saved(const struct hist_view *v, struct tacho_map_elt *e,
		      const struct tacho_hist_saved *s, struct tacho_buf *out)
{
	uint64_t kept = 0;
	bool is_set = tacho_map_var_get(v->map, e, s->var, &kept);

	tacho_buf_puts(out, s->action->handler == TACHO_ON_MAX ?
			    "\n\tmax: " : "\n\tchanged: ");
	tacho_buf_put_u64_pad(out, kept, 10, ' ');
	for (uint32_t i = 0; i < s->nr; i++)
		put_saved_field(v, e, &s->field[i], is_set, out);
}

static void put_snapshot(const struct hist_view *v, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < tacho_hist_nr_saved(v->hist); i++) {
		struct tacho_hist_saved s = tacho_hist_saved(v->hist, i);

		if (!s.snapshot_key)
			continue;
		tacho_buf_printf(out, "\nSnapshot taken (see tracing/snapshot).  Details:\n"
				 "\ttriggering value { %s($%s) }: %10llu"
				 "\ttriggered by event with key: ",
				 s.action->handler == TACHO_ON_MAX ? "onmax" : "onchange",
				 s.action->var,
				 (unsigned long long)*s.snapshot_value);
		put_key(v, s.snapshot_key, NULL, s.snapshot_comm, out);
		tacho_buf_putc(out, '\n');
	}
}

/* ---- all ---- */

static void put_entry(const struct hist_view *v, struct tacho_map_elt *e,
		      struct tacho_buf *out)
{
	put_key(v, tacho_map_key(e), e, NULL, out);
	if (!tacho_hist_spec_of(v->hist)->nohitcount) {
		tacho_buf_puts(out, " hitcount: ");
		tacho_buf_put_u64_pad(out, hist_view_val(v, e, NULL), 10, ' ');
	}
	for (uint32_t i = 0; i < tacho_hist_nr_vals(v->hist); i++)
		if (is_printed(tacho_hist_val(v->hist, i)))
			put_val(v, e, i, out);
	for (uint32_t i = 0; i < tacho_hist_nr_saved(v->hist); i++) {
		struct tacho_hist_saved s = tacho_hist_saved(v->hist, i);

		if (s.action->action != TACHO_DO_SNAPSHOT)
			put_saved(v, e, &s, out);
	}
	tacho_buf_putc(out, '\n');
}

static void put_all(const struct hist_view *v, struct tacho_buf *out)
{
	tacho_buf_puts(out, "# event histogram\n#\n# trigger info: ");
	tacho_hist_spec_print(tacho_hist_spec_of(v->hist),
			      tacho_hist_paused(v->hist), out);
	tacho_buf_puts(out, "\n#\n\n");
	for (uint32_t i = 0; i < v->nr; i++)
		put_entry(v, v->entry[i], out);
	put_snapshot(v, out);
	tacho_buf_printf(out, "\nTotals:\n    Hits: %llu\n    Entries: %u\n"
			 "    Dropped: %llu\n", (unsigned long long)v->hits, v->nr,
			 (unsigned long long)v->drops);
}

int tacho_hist_print(const struct tacho_hist *hist,
		     const struct tacho_names *names, struct tacho_buf *out)
{
	struct hist_view v;
	int err = hist_view_take(&v, hist, names);

	if (!err) {
		put_all(&v, out);
		err = tacho_buf_error(out);
	}
	hist_view_release(&v);
	return err;
}
