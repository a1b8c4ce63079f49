// SPDX-License-Identifier: MIT
#include "fmt/kev/record.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include "event/value.h"

void tacho_kev_swap(unsigned char *dst, const unsigned char *src, uint32_t words,
		    uint64_t wide)
{
	for (uint32_t i = 0; i < words; i++) {
		if (i < 64 && (wide >> i & 1) && i + 1 < words) {
			tacho_put_u64(dst + (size_t)4 * i,
				      bswap_64(tacho_load_u64(src + (size_t)4 * i)));
			i++;
			continue;
		}
		tacho_put_u32(dst + (size_t)4 * i,
			      bswap_32(tacho_load_u32(src + (size_t)4 * i)));
	}
}

static void put_words(unsigned char *to, const unsigned char *from, uint32_t words,
		      uint64_t wide, bool swap)
{
	if (swap)
		tacho_kev_swap(to, from, words, wide);
	else
		memcpy(to, from, (size_t)4 * words);
}

static uint32_t put_head(unsigned char *to, const struct tacho_kev_event *ev,
			 uint32_t id, uint32_t raw_len, int32_t pid)
{
	uint32_t size = (8 + raw_len + 7) & ~7u;

	tacho_put_u64(to, tacho_record_word(ev->time, size));
	tacho_put_u64(to + 8, tacho_common_word((uint16_t)id, pid));
	to[11] = (unsigned char)TACHO_KEV_CPU(ev->header);
	/* what a record is rounded up by is read and copied as well */
	memset(to + 8 + raw_len, 0, size - 8 - raw_len);
	return size;
}

/* A string without its padding: up to 8 bytes, all of them zero. */
static uint32_t string_len(const unsigned char *p, uint32_t n)
{
	uint32_t len = (uint32_t)strnlen((const char *)p, n);

	if (n - len > 8)
		return n;
	for (uint32_t i = len; i < n; i++)
		if (p[i])
			return n;
	return len < n ? len + 1 : n;
}

static uint32_t put_tail(unsigned char *raw, uint32_t at, const unsigned char *from,
			 uint32_t n)
{
	tacho_put_u32(raw + at, (uint32_t)(at + 4) | n << 16);
	memcpy(raw + at + 4, from, n);
	return at + 4 + n;
}

static uint32_t put_broken(unsigned char *to, const struct tacho_kev_event *ev,
			   bool swap, int32_t pid)
{
	bool orphan = ev->kind == TACHO_KEV_ORPHAN;
	unsigned char *raw = to + 8;
	uint32_t len = 24;

	tacho_put_u32(raw + 8, ev->header);
	tacho_put_u32(raw + 12, ev->stamp);
	if (orphan) {
		put_words(raw + 16, ev->data, 2, 0, swap);
	} else {
		len = put_tail(raw, 16, ev->data, 4 * ev->words);
		if (swap)
			tacho_kev_swap(raw + 20, raw + 20, ev->words, 0);
	}
	return put_head(to, ev, orphan ? TACHO_KEV_ID_ORPHAN : TACHO_KEV_ID_UNFINISHED,
			len, pid);
}

uint32_t tacho_kev_record_put(unsigned char *to, const struct tacho_kev_form *form,
			      const struct tacho_kev_event *ev, bool swap,
			      int32_t pid)
{
	unsigned char *raw = to + 8;
	uint32_t fixed, len, n;

	if (!form)
		return put_broken(to, ev, swap, pid);
	if (form->kind == TACHO_KEV_PLAIN) {
		put_words(raw + 8, ev->data, ev->words, form->wide, swap);
		return put_head(to, ev, form->id, 8 + 4 * ev->words, pid);
	}
	fixed = form->fixed;
	put_words(raw + 8, ev->data, fixed, form->wide, swap);
	n = 4 * (ev->words - fixed);
	if (form->kind == TACHO_KEV_STRING)
		n = string_len(ev->data + (size_t)4 * fixed, n);
	len = put_tail(raw, 8 + 4 * fixed, ev->data + (size_t)4 * fixed, n);
	if (swap && form->kind == TACHO_KEV_WORDS)
		tacho_kev_swap(raw + 12 + (size_t)4 * fixed, raw + 12 + (size_t)4 * fixed,
			       n / 4, 0);
	return put_head(to, ev, form->id, len, pid);
}

int tacho_kev_record_words(const struct tacho_kev_form *form, const void *raw,
			   uint32_t len, struct tacho_buf *words)
{
	const unsigned char *p = raw, *tail;
	uint32_t fixed = form->fixed, odd;
	size_t n;

	tacho_buf_reset(words);
	if (form->kind == TACHO_KEV_PLAIN) {
		fixed = (fixed + 1) & ~1u;
		if (len < 8 + 4 * fixed)
			return -EINVAL;
		tacho_buf_put(words, p + 8, (size_t)4 * fixed);
		return tacho_buf_error(words);
	}
	tail = tacho_value_loc(raw, len, 8 + 4 * fixed, false, &n);
	if (!tail)
		return -EINVAL;
	tacho_buf_put(words, p + 8, (size_t)4 * fixed);
	tacho_buf_put(words, tail, n);
	/* padded to whole slots, of two words */
	odd = (uint32_t)words->len % 8;
	if (odd || !words->len)
		tacho_buf_put(words, "\0\0\0\0\0\0\0", 8 - odd);
	return tacho_buf_error(words);
}
