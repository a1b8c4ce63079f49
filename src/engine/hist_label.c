// SPDX-License-Identifier: MIT
/* Keys in readable form, in columns of a terminal. */
#include "engine/hist_view.h"

#include "base/text.h"

static void put_range(const struct tacho_hist_column *c, uint64_t n,
		      struct tacho_buf *out)
{
	uint32_t mods = hist_view_mods(c);
	bool is_signed = c->is_signed && !(mods & TACHO_MOD_LOG2);
	uint64_t low, high;

	hist_view_range(c, n, &low, &high);
	hist_view_put_number(low, is_signed, out);
	if (!(mods & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS)))
		return;
	tacho_buf_puts(out, "..");
	hist_view_put_number(high, is_signed, out);
}

static void put_word(const struct hist_view *v, struct tacho_map_elt *e,
		     const struct tacho_hist_column *c, struct tacho_buf *out)
{
	uint64_t n = hist_view_word(tacho_map_key(e), c);
	uint32_t mods = hist_view_mods(c);

	if (mods & TACHO_MOD_HEX) {
		tacho_buf_puts(out, "0x");
		tacho_buf_put_hex(out, n, 1);
	} else if (mods & (TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET)) {
		hist_view_put_symbol(v, n, !(mods & TACHO_MOD_SYM), out);
	} else if (mods & TACHO_MOD_EXECNAME) {
		tacho_buf_puts(out, hist_view_comm(v, e, c));
		tacho_buf_putc(out, '[');
		tacho_buf_put_u64(out, n);
		tacho_buf_putc(out, ']');
	} else if (mods & TACHO_MOD_SYSCALL && hist_view_syscall(v, n)) {
		tacho_buf_puts(out, hist_view_syscall(v, n));
	} else {
		put_range(c, n, out);
	}
}

static void put_stack(const struct hist_view *v, const uint64_t *addr, uint32_t nr,
		      struct tacho_buf *out)
{
	for (uint32_t i = 0; i < nr && addr[i]; i++) {
		if (i)
			tacho_buf_puts(out, " < ");
		hist_view_put_symbol(v, addr[i], false, out);
	}
}

void hist_view_put_key(const struct hist_view *v, struct tacho_map_elt *e,
		       const struct tacho_hist_column *c, struct tacho_buf *out)
{
	const void *key = tacho_map_key(e);

	if (c->shape == TACHO_SHAPE_STRING)
		tacho_buf_puts(out, hist_view_string(key, c));
	else if (c->shape == TACHO_SHAPE_STACK)
		put_stack(v, hist_view_stack(key, c), c->size / 8, out);
	else
		put_word(v, e, c, out);
}

/*
 * Length in bytes of the character at s; 0 for one that is unsafe for a terminal: control
 * characters, invalid UTF-8, and with ascii all other characters that are not ASCII.
 */
static size_t char_len(const unsigned char *s, size_t left, bool ascii)
{
	size_t n = tacho_utf8_len((const char *)s, left);

	if (n == 1)
		return s[0] >= ' ' && s[0] != 0x7f;
	/* U+0080 to U+009f are control characters, too */
	if (ascii || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	return n;
}

uint32_t hist_view_columns(const struct tacho_buf *text, bool ascii)
{
	const unsigned char *s = (const unsigned char *)text->data;
	uint32_t nr = 0;

	for (size_t i = 0; i < text->len; nr++) {
		size_t n = char_len(s + i, text->len - i, ascii);

		i += n ? n : 1;
	}
	return nr;
}

void hist_view_put_cell(const struct tacho_buf *text, uint32_t width, bool ascii,
			struct tacho_buf *out)
{
	const unsigned char *s = (const unsigned char *)text->data;
	uint32_t nr = 0, total = hist_view_columns(text, ascii);
	uint32_t most = total > width ? width - 1 : total;
	size_t i = 0;

	for (; nr < most; nr++) {
		size_t n = char_len(s + i, text->len - i, ascii);

		if (n)
			tacho_buf_put(out, s + i, n);
		else
			tacho_buf_putc(out, '?');
		i += n ? n : 1;
	}
	if (total > width) {
		tacho_buf_puts(out, ascii ? "~" : "\xe2\x80\xa6");
		nr++;
	}
	for (; nr < width; nr++)
		tacho_buf_putc(out, ' ');
}
