// SPDX-License-Identifier: MIT
/*
 * What a filter costs a traced program: filter_bench [RUNS].
 *
 * An event like sched_switch; one line of JSON for each filter, in ns of CPU time
 * per run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/filter.h"

#define FIELD_TEXT(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char format[] =
	"name: sched_switch\nID: 1\nformat:\n"
	FIELD_TEXT("unsigned short common_type", 0, 2, 0)
	FIELD_TEXT("unsigned char common_flags", 2, 1, 0)
	FIELD_TEXT("unsigned char common_preempt_count", 3, 1, 0)
	FIELD_TEXT("int common_pid", 4, 4, 1)
	"\n"
	FIELD_TEXT("char prev_comm[16]", 8, 16, 0)
	FIELD_TEXT("pid_t prev_pid", 24, 4, 1)
	FIELD_TEXT("int prev_prio", 28, 4, 1)
	FIELD_TEXT("long prev_state", 32, 8, 1)
	FIELD_TEXT("__data_loc char[] name", 40, 4, 0)
	"\nprint fmt: \"%d\", REC->prev_pid\n";

static const struct {
	const char *name, *text;
} filters[] = {
	{ "reject_first", "prev_prio > 130 && prev_pid == 4711" },
	{ "reject_second", "prev_prio > 100 && prev_pid == 4712" },
	{ "pass_two", "prev_prio > 100 && prev_pid == 4711" },
	{ "string_equal", "prev_comm == \"worker:17\"" },
	{ "string_differs", "prev_comm == \"worker:18\"" },
	{ "variable_string_equal", "name == \"some-name-12\"" },
	{ "glob_front", "prev_comm ~ \"work*\"" },
	{ "glob_middle", "name ~ \"*name*\"" },
	{ "glob", "prev_comm ~ \"w*r:[0-9]?\"" },
	{ "eight", "prev_pid == 1 || prev_pid == 2 || prev_pid == 3 || prev_pid == 4"
		   " || prev_pid == 5 || prev_pid == 6 || prev_pid == 7 ||"
		   " prev_pid == 8" },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t fill(unsigned char raw[64])
{
	memset(raw, 0, 64);
	memcpy(raw + 8, "worker:17", 9);
	tacho_put_u32(raw + 24, 4711);
	tacho_put_u32(raw + 28, 120);
	tacho_put_u32(raw + 40, 13u << 16 | 44);
	memcpy(raw + 44, "some-name-12", 12);
	return 57;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 50000000;
	static const struct tacho_names names;
	struct tacho_diag d = { .err = 0 };
	unsigned char raw[64];
	struct tacho_rec rec = { .raw = raw, .names = &names };
	const struct tacho_type *type;
	struct tacho_arena a;

	tacho_arena_init(&a, 1 << 24);
	type = tacho_type_parse(&a, "sched", NULL, 0, format,
				sizeof(format) - 1, &d);
	rec.len = fill(raw);
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
