// SPDX-License-Identifier: MIT
/*
 * What a hit of a histogram costs: hist_bench [HITS].  One line of JSON: ns per
 * hit for several histograms, one thread that has the map for itself, 64 keys in
 * turn, map in cache; "cpus": likewise, with counters for each CPU, as the maps that
 * programs share have them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "engine/hist.h"
#include "engine/names.h"

#define KEYS	64

static const char format[] =
	"name: bench\nID: 1\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 key;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 bytes;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n\n"
	"print fmt: \"\"\n";

static const struct {
	const char *name, *text;
} table[] = {
	{ "u64", "hist:keys=key" },
	{ "u64_sum", "hist:keys=key:vals=bytes" },
	{ "u64_two_sums", "hist:keys=key:vals=bytes,bytes" },
	{ "log2", "hist:keys=bytes.log2" },
	{ "string", "hist:keys=comm" },
	{ "two_keys", "hist:keys=key,bytes" },
	{ "variable", "hist:keys=key:ts0=common_timestamp" },
};

static unsigned char raw[KEYS][40];
static struct tacho_rec rec[KEYS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill(const struct tacho_names *names)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		tacho_put_u64(raw[i] + 8, 0xffff888000000000 + i * 4096);
		tacho_put_u64(raw[i] + 16, i * i);
		snprintf((char *)raw[i] + 24, 16, "worker/%u:1", i);
		rec[i] = (struct tacho_rec){
			.raw = raw[i], .len = sizeof(raw[i]), .time = i,
			.names = names,
		};
	}
}

/* The best of some rounds: what else runs here is not the histogram's. */
static double measure(struct tacho_hist *h, unsigned long hits)
{
	double best = 1e9;

	for (int round = 0; round < 5; round++) {
		double from = now(), ns;

		for (unsigned long i = 0; i < hits; i++)
			tacho_hist_hit(h, &rec[i % KEYS]);
		ns = (now() - from) / (double)hits;
		best = ns < best ? ns : best;
	}
	return best;
}

static struct tacho_hist *make(struct tacho_arena *a, const struct tacho_type *t,
			       const char *text, uint32_t nr_cpus, void **mem)
{
	struct tacho_hist_spec *spec = tacho_arena_alloc(a, sizeof(*spec));
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_map_geometry g;
	struct tacho_hist *h;
	size_t size;

	if (!spec || tacho_hist_spec_parse(spec, a, text, 0, &e) ||
	    tacho_hist_new(&h, a, spec, t, NULL, NULL, &e)) {
		fprintf(stderr, "hist_bench: %s: %s\n", text, e.text);
		exit(1);
	}
	tacho_hist_geometry(h, &g);
	g.nr_cpus = nr_cpus;
	size = tacho_map_bytes(&g);
	if (posix_memalign(mem, 64, size))
		exit(1);
	memset(*mem, 0, size);
	tacho_map_init(*mem, &g);
	if (tacho_hist_bind(h, *mem, size))
		exit(1);
	if (!nr_cpus)
		tacho_hist_alone(h);
	return h;
}

static void measure_all(struct tacho_arena *a, const struct tacho_type *t,
			unsigned long hits, uint32_t nr_cpus)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		void *mem;
		struct tacho_hist *h = make(a, t, table[i].text, nr_cpus, &mem);

		printf("%s\"%s\": %.1f", i ? ", " : "", table[i].name,
		       measure(h, hits));
		free(mem);
	}
}

int main(int argc, char **argv)
{
	unsigned long hits = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000000;
	static const struct tacho_names nobody = { .arg = NULL };
	struct tacho_diag d = { .err = 0 };
	struct tacho_arena a;
	const struct tacho_type *t;

	tacho_arena_init(&a, 1 << 22);
	t = tacho_type_parse(&a, "bench", NULL, 0, format, strlen(format), &d);
	if (!t) {
		fprintf(stderr, "hist_bench: %s\n", d.text);
		return 1;
	}
	fill(&nobody);
	printf("{\"hits\": %lu, \"ns\": {", hits);
	measure_all(&a, t, hits, 0);
	printf("}, \"cpus\": {");
	measure_all(&a, t, hits, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	printf("}}\n");
	tacho_arena_release(&a);
	return 0;
}
