/* SPDX-License-Identifier: MIT */
/*
 * stream.h - what must hold of any stream, whatever its bytes say: reading ends,
 * next(), runs and counting agree on how many records there are, and seeking finds no more
 * than there are.
 */
#ifndef TACHO_TESTS_FUZZ_STREAM_H
#define TACHO_TESTS_FUZZ_STREAM_H

#include <stdlib.h>

#include "base/bytes.h"
#include "stream/stream.h"

static inline uint64_t fuzz_read(struct tacho_stream *s)
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

static inline uint64_t fuzz_count(struct tacho_stream *s)
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

/* How many records, and the middle of their times. */
static inline uint64_t fuzz_walk(struct tacho_stream *s, uint64_t *middle)
{
	uint64_t n = 0, begin = UINT64_MAX, end = 0;
	struct tacho_record r;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		begin = r.time < begin ? r.time : begin;
		end = r.time > end ? r.time : end;
		n++;
	}
	*middle = n ? begin + (end - begin) / 2 : 0;
	return n;
}

/* How many records, run by run: all of a run are still what they were when it ends. */
static inline uint64_t fuzz_runs(struct tacho_stream *s, uint64_t *times)
{
	struct tacho_record r[9];
	uint64_t n = 0;
	uint32_t nr;

	*times = 0;
	while (tacho_stream_next_run(s, r, 9, &nr) == TACHO_STREAM_RECORD) {
		for (uint32_t i = 0; i < nr; i++)
			if (r[i].pid != (int32_t)tacho_load_u32((const char *)r[i].raw + 4))
				abort();
			else
				*times = *times * 31 + r[i].time;
		n += nr;
	}
	return n;
}

static inline uint64_t fuzz_times(struct tacho_stream *s)
{
	struct tacho_record r;
	uint64_t times = 0;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		times = times * 31 + r.time;
	return times;
}

/*
 * s: none of its records was read.  all: looks at all types that it knows, too, which
 * costs more than the rest; for some of the inputs.
 */
static inline void fuzz_stream(struct tacho_stream *s, bool all)
{
	struct tacho_stream_info info;
	uint64_t n = fuzz_read(s), middle, times;

	if (all && tacho_stream_get_info(s, &info))
		abort();
	if (tacho_stream_seek(s, 0) || fuzz_walk(s, &middle) != n)
		abort();
	if (tacho_stream_seek(s, 0) || fuzz_runs(s, &times) != n)
		abort();
	if (tacho_stream_seek(s, 0) || fuzz_times(s) != times)
		abort();
	if (tacho_stream_seek(s, 0) || fuzz_count(s) != n)
		abort();
	if (tacho_stream_seek(s, middle) || fuzz_walk(s, &middle) > n)
		abort();
}

/* One input of sixteen, by its bytes. */
static inline bool fuzz_chosen(const uint8_t *data, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + data[i];
	return !(sum >> 8 & 15);
}

#endif
