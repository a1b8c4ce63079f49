// SPDX-License-Identifier: MIT
/*
 * lkst_log_bench FILE [RECORDS] - records per second of this process's CPU time: written to a
 * log file of LKST (of two CPUs, a third of them the kernel's), and read from it by time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fmt/lkst/log.h"

#define AT_ONCE	1000u
#define ROUNDS	5

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const struct tacho_diag *d)
{
	fprintf(stderr, "lkst_log_bench: %s\n", d->text);
	return 1;
}

static void fill(struct lkst_record *r, uint64_t first)
{
	for (uint32_t k = 0; k < AT_ONCE; k++) {
		bool kernel = k / 50 % 3 == 0;

		r[k] = (struct lkst_record){
			.ticks = (first + k) * 100, .arg = { first + k, k },
			.recid = (uint32_t)(first + k), .thread = 1, .pid = 1,
			.etype = kernel ? 0x21 : 0x100, .cpu = first / AT_ONCE % 2,
			.flags = kernel ? LKST_FLAG_KERNEL : 0,
		};
	}
}

static int write_log(const char *path, uint64_t nr, struct tacho_diag *d)
{
	static const char types[] = "0x100\tNEW_EVENT\tuser added event\tdata1\tdata2\t\t\n"
				    "0x021\tIRQ\tinterrupt\tirq\t\t\t\n";
	struct lkst_log_config config = {
		.freq = 1000000000, .realtime = 1700000000000000000, .arch = "x86_64",
		.types = types, .types_len = sizeof(types) - 1,
	};
	struct lkst_record r[AT_ONCE];
	struct lkst_log_writer *w;
	double begin = cpu_seconds();
	int err = lkst_log_create(&w, path, &config, d);

	if (err)
		return err;
	for (uint64_t i = 0; i < nr && !err; i += AT_ONCE) {
		fill(r, i);
		err = lkst_log_write(w, r[0].cpu, 0, r, AT_ONCE, 0, d);
	}
	if (lkst_log_close(w, d) || err)
		return d->err;
	printf("written: %.1f million/s\n", (double)nr / (cpu_seconds() - begin) / 1e6);
	return 0;
}

static int read_log(const char *path, struct tacho_diag *d)
{
	double begin = cpu_seconds();
	struct lkst_record r;
	struct lkst_log *log;
	uint64_t nr = 0, last = 0;
	int32_t buffer;
	int err = lkst_log_open(&log, path, d);

	if (err)
		return err;
	while (lkst_log_next(log, &r, &buffer) == 1) {
		if (r.ticks < last)
			return tacho_diag(d, -1, 0, "not in order");
		last = r.ticks;
		nr++;
	}
	lkst_log_free(log);
	printf("read: %" PRIu64 ", %.1f million/s\n", nr,
	       (double)nr / (cpu_seconds() - begin) / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 5000000;
	struct tacho_diag d = { 0 };

	if (argc < 2) {
		fprintf(stderr, "usage: lkst_log_bench FILE [RECORDS]\n");
		return 2;
	}
	if (write_log(argv[1], nr, &d))
		return fail(&d);
	for (int i = 0; i < ROUNDS; i++)
		if (read_log(argv[1], &d))
			return fail(&d);
	(void)unlink(argv[1]);
	return 0;
}
