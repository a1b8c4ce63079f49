// SPDX-License-Identifier: MIT
/*
 * What a filter costs a traced program: filter_bench [RUNS].
 *
 * The event of the filters' tests; one line of JSON for each filter, in ns of CPU
 * time per run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/filter.h"
#include "filter_type.h"

#define RAW	256

static const struct {
	const char *name, *text;
} filters[] = {
	{ "reject_first", "u32 > 130 && s32 == 4711" },
	{ "reject_second", "u32 > 100 && s32 == 4712" },
	{ "pass_two", "u32 > 100 && s32 == 4711" },
	{ "string_equal", "fix == \"worker:17\"" },
	{ "string_differs", "fix == \"worker:18\"" },
	{ "variable_string_equal", "dyn == \"some-name-12\"" },
	{ "glob_front", "fix ~ \"work*\"" },
	{ "glob_middle", "dyn ~ \"*name*\"" },
	{ "glob", "fix ~ \"w*r:[0-9]?\"" },
	{ "eight", "s32 == 1 || s32 == 2 || s32 == 3 || s32 == 4"
		   " || s32 == 5 || s32 == 6 || s32 == 7 ||"
		   " s32 == 8" },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t fill(unsigned char *raw, uint32_t fixed_size)
{
	memset(raw, 0, RAW);
	tacho_put_u32(raw + 16, 120);
	tacho_put_u32(raw + 20, 4711);
	memcpy(raw + 64, "worker:17", 9);
	tacho_put_u32(raw + 88, 13u << 16 | fixed_size);
	memcpy(raw + fixed_size, "some-name-12", 12);
	return fixed_size + 13;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 50000000;
	static const struct tacho_names names;
	struct tacho_diag d = { .err = 0 };
	unsigned char raw[RAW];
	struct tacho_rec rec = { .raw = raw, .names = &names };
	const struct tacho_type *type;
	struct tacho_arena a;

	tacho_arena_init(&a, 1 << 24);
	type = tacho_type_parse(&a, "bench", NULL, 0, filter_type_text,
				sizeof(filter_type_text) - 1, &d);
	if (type)
		rec.len = fill(raw, type->fixed_size);
	for (size_t i = 0; type && i < TACHO_ARRAY_SIZE(filters); i++) {
		struct tacho_filter *f = NULL;
		unsigned long passed = 0;
		double from;

		if (tacho_filter_compile(&f, &a, type, filters[i].text, 0, NULL,
					 NULL))
			return 1;
		from = now();
		for (unsigned long run = 0; run < n; run++) {
			/* the event is another one each time, says this */
			__asm__ volatile("" : : "r"(&rec) : "memory");
			passed += tacho_filter_run(f, &rec);
		}
		printf("{\"filter\": \"%s\", \"passes\": %d, \"ns\": %.2f}\n",
		       filters[i].name, passed != 0, (now() - from) / (double)n);
	}
	tacho_arena_release(&a);
	return type ? 0 : 1;
}
