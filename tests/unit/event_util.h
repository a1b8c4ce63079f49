/* SPDX-License-Identifier: MIT */
/* event_util.h - what the tests of src/event share: files of formats, random numbers. */
#ifndef TACHO_TESTS_UNIT_EVENT_UTIL_H
#define TACHO_TESTS_UNIT_EVENT_UTIL_H

#include <glob.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "event/print.h"
#include "event/type.h"

/* The live kernel's formats; the same tree under its old mount point. */
static const char *const live_formats[] = {
	"/sys/kernel/tracing/events/*/*/format",
	"/sys/kernel/debug/tracing/events/*/*/format",
};

/* Calls fn for every file that pattern matches; returns how many. */
__attribute__((unused))
static size_t each_file(const char *pattern,
			void (*fn)(const char *path, struct tacho_buf *text))
{
	struct tacho_buf text;
	size_t n = 0;
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		return 0;
	tacho_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		tacho_buf_reset(&text);
		if (tacho_buf_read_file(&text, g.gl_pathv[i]))
			continue;
		fn(g.gl_pathv[i], &text);
		n++;
	}
	tacho_buf_release(&text);
	globfree(&g);
	return n;
}

/* xorshift64*: the same numbers on every run. */
__attribute__((unused))
static uint64_t rnd(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

/* Parses text or says why not; NULL with the arena left to the caller. */
__attribute__((unused))
static struct tacho_type *type_of(struct tacho_arena *a, const char *text,
				  size_t len, struct tacho_diag *d)
{
	return tacho_type_parse(a, "sys", NULL, 0, text, len, d);
}

#endif
