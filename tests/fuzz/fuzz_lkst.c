// SPDX-License-Identifier: MIT
/*
 * fuzz_lkst - any bytes as a log file of LKST: as they are, and with the sums of all blocks put
 * right, so that what is in blocks is looked at, too; and as event types' text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "fmt/lkst/blocks.h"
#include "fmt/lkst/record.h"
#include "fmt/lkst/source.h"
#include "fmt/lkst/types.h"
#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_stream(const uint8_t *data, size_t size)
{
	struct tacho_diag d = { 0 };
	struct tacho_source *source;
	struct tacho_stream *s = tacho_stream_new(0);

	if (!s)
		return;
	if (lkst_source_open_memory(&source, data, size, 0, &d)) {
		/* every refusal has its sentence */
		if (!d.err || !d.text[0])
			abort();
	} else {
		if (tacho_stream_add_take(s, source))
			abort();
		fuzz_stream(s, fuzz_chosen(data, size));
	}
	tacho_stream_close(s);
}

static uint32_t in_order(uint32_t v, bool swap)
{
	return swap ? __builtin_bswap32(v) : v;
}

/* Puts the sums right. */
static void repaired(const uint8_t *data, size_t size)
{
	const size_t head = sizeof(struct lkst_log_block);
	uint8_t *copy = malloc(size ? size : 1);
	struct lkst_log_file h;
	bool swap;

	if (!copy || size < sizeof(h)) {
		free(copy);
		return;
	}
	memcpy(copy, data, size);
	memcpy(&h, data, sizeof(h));
	swap = h.magic != LKST_LOG_FILE_MAGIC;
	h.block_size = in_order(h.block_size, swap);
	for (size_t at = sizeof(h); h.block_size >= LKST_LOG_BLOCK_MIN && at < size &&
	     size - at >= head; at += h.block_size) {
		uint32_t len = in_order(tacho_load_u32(copy + at + 16), swap);

		if (len > size - at - head)
			break;
		tacho_put_u32(copy + at + 20, 0);
		tacho_put_u32(copy + at + 20,
			      in_order(tacho_crc32c(0, copy + at, head + len), swap));
	}
	as_stream(copy, size);
	free(copy);
}

/* What is taken in comes out, and in again, as the same. */
static void as_types(const char *text, size_t len)
{
	struct lkst_types *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct tacho_buf one, two, parts;
	struct tacho_diag d = { 0 };

	if (!a || !b)
		abort();
	lkst_types_init(a);
	lkst_types_init(b);
	tacho_buf_init(&one, (size_t)16 << 20);
	tacho_buf_init(&two, (size_t)16 << 20);
	tacho_buf_init(&parts, (size_t)16 << 20);
	if (lkst_types_parse(a, text, len, true, &d) && (!d.err || !d.text[0]))
		abort();
	(void)lkst_types_parse(a, text, len, false, NULL);
	lkst_types_text(a, &one);
	if (lkst_types_parse(b, one.data, one.len, true, NULL))
		abort();
	lkst_types_text(b, &two);
	if (one.len != two.len || (one.len && memcmp(one.data, two.data, one.len)))
		abort();
	tacho_buf_put(&parts, text, len);
	tacho_buf_reset(&two);
	(void)lkst_record_texts(tacho_buf_str(&parts), &two);
	tacho_buf_release(&one);
	tacho_buf_release(&two);
	tacho_buf_release(&parts);
	lkst_types_release(a);
	lkst_types_release(b);
	free(a);
	free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!lkst_blocks_sniff(data, size)) {
		as_types((const char *)data, size);
		return 0;
	}
	as_stream(data, size);
	repaired(data, size);
	return 0;
}
