// SPDX-License-Identifier: MIT
/*
 * fuzz_dat - any bytes as a trace.dat.
 *
 * Whatever they say, opening and reading end, next() and counting agree on how
 * many records there are, and seeking finds no more than there are.
 */
#include <stdlib.h>

#include "fmt/tracedat/read.h"
#include "stream/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_all(struct tacho_stream *s)
{
	struct tacho_record r;
	struct tacho_buf text;
	uint64_t n = 0;

	tacho_buf_init(&text, (size_t)1 << 20);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		tacho_buf_reset(&text);
		tacho_stream_print(s, &r, &text);
		n++;
	}
	tacho_buf_release(&text);
	return n;
}

static uint64_t count_all(struct tacho_stream *s)
{
	struct tacho_type_count *list;
	uint64_t n = 0;
	size_t nr;

	if (!tacho_stream_count(s, &list, &nr))
		for (size_t i = 0; i < nr; i++)
			n += list[i].events;
	free(list);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_stream_info info;
	struct tacho_diag d = { 0 };
	struct tacho_source *source;
	struct tacho_stream *s = tacho_stream_new(0);
	uint64_t n;

	if (!s)
		return 0;
	if (tacho_dat_open_memory(&source, data, size, 0, &d)) {
		/* every refusal has its sentence */
		if (!d.err || !d.text[0])
			abort();
		tacho_stream_close(s);
		return 0;
	}
	if (tacho_stream_add_take(s, source))
		abort();
	n = read_all(s);
	if (tacho_stream_get_info(s, &info))
		abort();
	if (tacho_stream_seek(s, 0) || read_all(s) != n)
		abort();
	if (tacho_stream_seek(s, 0) || count_all(s) != n)
		abort();
	if (tacho_stream_seek(s, info.begin + (info.end - info.begin) / 2) ||
	    read_all(s) > n)
		abort();
	tacho_stream_close(s);
	return 0;
}
