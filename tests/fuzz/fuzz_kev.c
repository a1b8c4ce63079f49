// SPDX-License-Identifier: MIT
/*
 * fuzz_kev - any bytes as a QNX trace.
 *
 * What was not damaged and is written again has the same events at the same times; of one
 * input of sixteen, as that takes a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "fmt/kev/header.h"
#include "fmt/kev/map.h"
#include "fmt/kev/read.h"
#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of all events but CONTROL/TIME, of which the writer may need more; in any order. */
static uint64_t sum_of(struct tacho_stream *s, uint64_t *n)
{
	struct tacho_record r;
	uint64_t sum = 0;

	*n = 0;
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		uint64_t h = tacho_hash(r.type->system, strlen(r.type->system), r.ticks);

		if (!strcmp(r.type->system, "control") && !strcmp(r.type->name, "time"))
			continue;
		h = tacho_hash(r.type->name, strlen(r.type->name), h);
		sum += tacho_hash((const char *)r.raw + 8, r.type->fixed_size - 8, h + r.cpu);
		++*n;
	}
	return sum;
}

static void write_all(struct tacho_stream *s, const char *path)
{
	const char *header = tacho_stream_env(s, "kev_header");
	struct tacho_kev_config config = { .exact = true };
	enum tacho_kev_release release = TACHO_KEV_710;
	struct tacho_kev_writer *w;
	struct tacho_kev_map *map;
	struct tacho_diag d = { 0 };
	struct tacho_record r;
	struct tacho_buf b;

	tacho_buf_init(&b, TACHO_KEV_HEAD_MAX);
	if (header && tacho_kev_header_again(&b, header, false, &config.big, &release))
		abort();
	config.header = b.data;
	config.header_len = b.len;
	if (!header)
		config.big = tacho_kev_source_file(tacho_stream_source(s, 0))->big;
	if (tacho_kev_writer_new(&w, path, &config, &d))
		abort();
	map = tacho_kev_map_new(w, s, release, true);
	while (map && tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		if (tacho_kev_map_record(map, &r, r.ticks, &d))
			abort();
	if (map && (tacho_kev_map_counts(map)->text || tacho_kev_map_counts(map)->mapped))
		abort();
	tacho_kev_map_free(map);
	if (tacho_kev_writer_close(w, true, NULL, &d))
		abort();
	tacho_buf_release(&b);
}

static void round_trip(struct tacho_stream *s)
{
	struct tacho_stream *again = tacho_stream_new(0);
	struct tacho_source *source;
	struct tacho_diag d = { 0 };
	uint64_t n, n2, sum;
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/shm/fuzz_kev.%d", (int)getpid());
	(void)unlink(path);
	write_all(s, path);
	if (tacho_stream_seek(s, 0))
		abort();
	sum = sum_of(s, &n);
	/* slots without a header may not look like some when there are few */
	if (again && !tacho_kev_open(&source, path, 0, &d) &&
	    (tacho_stream_add_take(again, source) || sum_of(again, &n2) != sum || n2 != n))
		abort();
	tacho_stream_close(again);
	(void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_stream_info info;
	struct tacho_diag d = { 0 };
	struct tacho_source *source;
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_record r;

	if (!s)
		return 0;
	if (tacho_kev_open_memory(&source, data, size, 0, &d)) {
		/* every refusal has its sentence */
		if (!d.err || !d.text[0])
			abort();
		tacho_stream_close(s);
		return 0;
	}
	if (tacho_stream_add_take(s, source))
		abort();
	fuzz_stream(s, fuzz_chosen(data, size));
	if (!fuzz_chosen(data, size)) {
		tacho_stream_close(s);
		return 0;
	}
	if (tacho_stream_seek(s, 0))
		abort();
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		;
	if (tacho_stream_get_info(s, &info) || tacho_stream_seek(s, 0))
		abort();
	if (!info.damaged)
		round_trip(s);
	tacho_stream_close(s);
	return 0;
}
