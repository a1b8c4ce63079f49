// SPDX-License-Identifier: MIT
/*
 * How many events a second become text: print_bench FORMAT [EVENTS].
 *
 * FORMAT is a kernel `format` file; the event's bytes are made up, with plausible
 * names and small numbers.  Prints one line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "event/print.h"
#include "event/type.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Small numbers in scalars, a name in each string. */
static size_t fill(const struct tacho_type *t, unsigned char *raw, size_t room)
{
	size_t len = t->fixed_size;

	memset(raw, 0, room);
	for (uint32_t i = t->nr_common; i < t->nr_fields; i++) {
		const struct tacho_field *f = &t->fields[i];

		if (f->kind == TACHO_FIELD_DATA_LOC && len + 12 < room) {
			memcpy(raw + len, "some-name-12", 12);
			tacho_put_u32(raw + f->offset,
				      (uint32_t)(12 << 16 | len));
			len += 12;
		} else if (f->flags & TACHO_FIELD_STRING && f->size > 8) {
			memcpy(raw + f->offset, "worker:1", 8);
		} else if (f->kind == TACHO_FIELD_SCALAR) {
			raw[f->offset] = (unsigned char)(17 * (i + 1));
			if (f->size > 1)
				raw[f->offset + 1] = (unsigned char)(i * 3);
		}
	}
	return len;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000000;
	struct tacho_diag d = { .err = 0 };
	unsigned char raw[8192];
	struct tacho_arena a;
	struct tacho_buf text, out;
	struct tacho_type *t;
	size_t len, bytes = 0;
	double from, s;

	tacho_arena_init(&a, 1 << 24);
	tacho_buf_init(&text, 1 << 20);
	tacho_buf_init(&out, 1 << 20);
	if (argc < 2 || tacho_buf_read_file(&text, argv[1])) {
		fprintf(stderr, "usage: print_bench FORMAT [EVENTS]\n");
		return 1;
	}
	t = tacho_type_parse(&a, "bench", NULL, 0, text.data, text.len, &d);
	if (!t || t->fixed_size > sizeof(raw) / 2) {
		fprintf(stderr, "print_bench: %s\n", d.text);
		return 1;
	}
	len = fill(t, raw, sizeof(raw));
	from = now();
	for (unsigned long i = 0; i < n; i++) {
		/* as a report does: many lines to one write */
		if (out.len > 65536) {
			bytes += out.len;
			tacho_buf_reset(&out);
		}
		tacho_print_run(t, raw, len, NULL, &out);
		tacho_buf_putc(&out, '\n');
	}
	s = now() - from;
	bytes += out.len;
	printf("{\"event\": \"%s\", \"compiled\": %d, \"events_per_s\": %.0f,"
	       " \"ns\": %.1f, \"bytes\": %.1f}\n", t->name, !!t->print,
	       (double)n / s, s / (double)n * 1e9,
	       (double)bytes / (double)n);
	tacho_buf_reset(&out);
	tacho_print_run(t, raw, len, NULL, &out);
	fprintf(stderr, "%s\n", tacho_buf_str(&out));
	tacho_buf_release(&out);
	tacho_buf_release(&text);
	tacho_arena_release(&a);
	return 0;
}
