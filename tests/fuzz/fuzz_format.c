// SPDX-License-Identifier: MIT
/*
 * A `format` text, a NUL, and the bytes of one raw event: parsed, written,
 * parsed again (the fixpoint must hold), compiled and printed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/print.h"
#include "event/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_type *parse(struct tacho_arena *a, const void *text,
				size_t len)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_type *t = tacho_type_parse(a, "fuzz", NULL, 0, text, len,
						&d);

	if (!t && !d.err)
		abort();
	return t;
}

static void fixpoint(struct tacho_arena *a, const struct tacho_type *t)
{
	struct tacho_buf one, two;
	struct tacho_type *again;

	tacho_buf_init(&one, 1 << 20);
	tacho_buf_init(&two, 1 << 20);
	tacho_type_write(t, true, &one);
	if (!tacho_buf_error(&one)) {
		again = parse(a, one.data, one.len);
		if (!again)
			abort();
		tacho_type_write(again, true, &two);
		if (one.len != two.len || memcmp(one.data, two.data, one.len) ||
		    !again->print != !t->print)
			abort();
	}
	tacho_buf_release(&two);
	tacho_buf_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	size_t rest = nul ? size - len - 1 : 0;
	struct tacho_arena a;
	struct tacho_buf out;
	struct tacho_type *t;

	tacho_arena_init(&a, 16 << 20);
	tacho_buf_init(&out, 1 << 20);
	t = parse(&a, data, len);
	if (t) {
		/* a copy, so that reading one byte too many is seen */
		uint8_t *raw = malloc(rest ? rest : 1);

		if (raw && rest)
			memcpy(raw, nul + 1, rest);
		if (raw) {
			tacho_print_run(t, raw, rest, NULL, &out);
			tacho_print_fields(t, raw, rest, &out);
		}
		free(raw);
		fixpoint(&a, t);
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
	return 0;
}
