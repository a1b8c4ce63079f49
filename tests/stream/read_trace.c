// SPDX-License-Identifier: MIT
/*
 * read_trace count|next|unordered|text|types DIR - one way of reading a trace, for
 * benchmarks and for comparing with babeltrace2.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stream/stream.h"

static uint64_t count(struct tacho_stream *s)
{
	struct tacho_type_count *list;
	uint64_t events = 0;
	size_t nr;

	if (tacho_stream_count(s, &list, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++)
		events += list[i].events;
	free(list);
	return events;
}

static uint64_t next(struct tacho_stream *s)
{
	struct tacho_record r;
	uint64_t events = 0;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		events++;
	return events;
}

static uint64_t text(struct tacho_stream *s)
{
	struct tacho_record r;
	struct tacho_buf out;
	uint64_t events = 0;

	tacho_buf_init(&out, (size_t)4 << 20);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		tacho_buf_putc(&out, '[');
		tacho_buf_put_u64(&out, r.time / 1000000000);
		tacho_buf_putc(&out, '.');
		tacho_buf_put_u64_pad(&out, r.time % 1000000000, 9, '0');
		tacho_buf_puts(&out, "] ");
		tacho_buf_put_s64(&out, r.pid);
		tacho_buf_putc(&out, ' ');
		tacho_buf_put_u64(&out, r.cpu);
		tacho_buf_putc(&out, ' ');
		tacho_buf_puts(&out, tacho_type_system(r.type));
		tacho_buf_putc(&out, ':');
		tacho_buf_puts(&out, tacho_type_name(r.type));
		tacho_buf_puts(&out, ": ");
		tacho_stream_print(s, &r, &out);
		tacho_buf_putc(&out, '\n');
		if (tacho_buf_error(&out)) {
			fprintf(stderr, "read_trace: %s\n", strerror(-tacho_buf_error(&out)));
			exit(1);
		}
		if (out.len > 65536) {
			fwrite(out.data, 1, out.len, stdout);
			tacho_buf_reset(&out);
		}
		events++;
	}
	fwrite(out.data, 1, out.len, stdout);
	tacho_buf_release(&out);
	return events;
}

int main(int argc, char **argv)
{
	struct tacho_stream *s;
	struct tacho_stream_info info;
	struct tacho_error error;
	struct rusage ru;
	uint64_t events;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: read_trace count|next|unordered|text DIR\n");
		return 2;
	}
	if (tacho_stream_open(&s, argv[2], strcmp(argv[1], "unordered") ? 0 :
			      TACHO_STREAM_UNORDERED, &error)) {
		fprintf(stderr, "read_trace: %s\n", error.text);
		return 1;
	}
	if (!strcmp(argv[1], "count"))
		events = count(s);
	else if (!strcmp(argv[1], "text"))
		events = text(s);
	else
		events = next(s);
	status = tacho_stream_error(s)->err;
	getrusage(RUSAGE_SELF, &ru);
	if (tacho_stream_get_info(s, &info) && !status)
		status = tacho_stream_error(s)->err;
	fprintf(stderr, "%" PRIu64 " events, %" PRIu64 " discarded, %" PRIu64
		" damaged, %ld KiB\n", events, info.discarded, info.damaged,
		ru.ru_maxrss);
	if (status)
		fprintf(stderr, "read_trace: %s\n", tacho_stream_error(s)->text);
	tacho_stream_close(s);
	return !!status;
}
