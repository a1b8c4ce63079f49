// SPDX-License-Identifier: MIT
/*
 * A line that describes a probe: parsed, written, parsed again.  What is written
 * is read as the same; an error has its place in the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracefs/probe_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(struct tacho_arena *a, const struct tacho_probe_spec *spec)
{
	struct tacho_probe_spec second;
	struct tacho_buf one, two;

	tacho_buf_init(&one, 1 << 20);
	tacho_buf_init(&two, 1 << 20);
	tacho_probe_write(spec, &one);
	/* numbers may become longer than the kernel takes */
	if (one.len <= TACHO_PROBE_TEXT_MAX) {
		if (tacho_probe_parse(a, tacho_buf_str(&one), &second, NULL))
			abort();
		tacho_probe_write(&second, &two);
		if (one.len != two.len || memcmp(one.data, two.data, one.len))
			abort();
	}
	tacho_buf_release(&two);
	tacho_buf_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_probe_spec spec;
	struct tacho_arena a;
	struct tacho_buf b;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	tacho_arena_init(&a, 16 << 20);
	tacho_buf_init(&b, 1 << 20);
	if (!tacho_probe_parse(&a, text, &spec, &d)) {
		again(&a, &spec);
	} else {
		if (!d.err || !d.text[0] || d.offset > strlen(text))
			abort();
		tacho_probe_caret(text, &d, &b);
	}
	tacho_buf_release(&b);
	tacho_arena_release(&a);
	free(text);
	return 0;
}
