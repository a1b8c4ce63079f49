// SPDX-License-Identifier: MIT
/*
 * A trigger command: parsed and printed.  A histogram's command is parsed and printed
 * again and must be the same, and be shown the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(struct tacho_trigger_spec *spec, struct tacho_arena *a,
		 const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	int err = tacho_trigger_parse(spec, a, text, &e);

	if (err != e.err || (err && !e.text[0]) ||
	    (err && e.column > strlen(spec->text)))
		abort();
	return err;
}

static void same(const struct tacho_buf *a, const struct tacho_buf *b)
{
	if (!tacho_buf_error(b) &&
	    (a->len != b->len || memcmp(a->data, b->data, a->len)))
		abort();
}

/* A command may have become too long to be read: what was left out is in it. */
static void fixpoint(struct tacho_arena *a, const struct tacho_hist_spec *was,
		     const struct tacho_buf *shown)
{
	struct tacho_trigger_spec spec;
	struct tacho_buf one, two;

	tacho_buf_init(&one, 1 << 20);
	tacho_buf_init(&two, 1 << 20);
	tacho_hist_spec_command(was, &one);
	if (one.len < 4096) {
		if (parse(&spec, a, tacho_buf_str(&one)))
			abort();
		tacho_hist_spec_command(&spec.hist, &two);
		same(&one, &two);
		tacho_buf_reset(&two);
		tacho_hist_spec_print(&spec.hist, spec.hist.pause, &two);
		same(shown, &two);
	}
	tacho_buf_release(&two);
	tacho_buf_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_trigger_spec spec;
	struct tacho_arena a;
	struct tacho_buf out;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	tacho_arena_init(&a, 16 << 20);
	tacho_buf_init(&out, 1 << 20);
	if (!parse(&spec, &a, text)) {
		tacho_trigger_print(&spec, spec.count, spec.hist.pause, &out);
		if (spec.cmd == TACHO_TRIGGER_HIST && !tacho_buf_error(&out))
			fixpoint(&a, &spec.hist, &out);
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
	free(text);
	return 0;
}
