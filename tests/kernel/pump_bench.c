/* SPDX-License-Identifier: MIT */
/*
 * kernel_pump_bench [map|read] SECONDS FILE GLOB... - the recorder's CPU time
 * per event.
 *
 * Records the whole machine for that time into FILE (batches as they are;
 * /dev/null for none) and prints events, losses and the CPU time of the
 * process from start to drained, as JSON.  Run the load beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tracefs/instance.h"
#include "kdata/types.h"
#include "tracefs/pump.h"

static int put(void *arg, const struct tacho_kernel_batch *b)
{
	const int *fd = arg;
	size_t off = 0;
	ssize_t n;

	for (; off < b->len; off += (size_t)n) {
		n = write(*fd, b->records + off, b->len - off);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double cpu_time(double *user)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	*user = seconds(&u.ru_utime);
	return *user + seconds(&u.ru_stime);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(struct tacho_kernel *k, struct tacho_kernel_pump *p,
	       double length)
{
	double begin, user0, user, cpu0, cpu;
	struct tacho_kernel_pump_stats s;
	int ret;

	cpu0 = cpu_time(&user0);
	begin = now();
	ret = tacho_kernel_start(k, NULL);
	while (ret >= 0 && now() < begin + length)
		ret = tacho_kernel_pump_step(p, 100);
	tacho_kernel_stop(k, NULL);
	if (ret >= 0)
		ret = tacho_kernel_pump_drain(p);
	cpu = cpu_time(&user) - cpu0;
	tacho_kernel_pump_stats(p, &s);
	printf("{\"mapped\":%d,\"events\":%llu,\"lost\":%llu,\"bytes\":%llu,"
	       "\"cpu_s\":%.3f,\"user_s\":%.3f,\"ns_per_event\":%.1f}\n",
	       s.mapped, (unsigned long long)s.events,
	       (unsigned long long)(s.overwritten + s.dropped + s.damaged),
	       (unsigned long long)s.bytes, cpu, user - user0,
	       s.events ? cpu * 1e9 / (double)s.events : 0.0);
	return ret;
}

int main(int argc, char **argv)
{
	struct tacho_kernel_config config = {
		.name = "bench", .buffer_size = 8 << 20,
	};
	struct tacho_kernel_pump_config pc = { .sink = put };
	struct tacho_kernel_pump *p = NULL;
	struct tacho_kernel *k = NULL;
	struct tacho_diag d = { 0 };
	struct tacho_ktypes types;
	struct tacho_ktasks tasks;
	int32_t self = getpid();
	int fd, ret;

	if (argc < 5) {
		fprintf(stderr, "usage: %s map|read SECONDS FILE GLOB...\n",
			argv[0]);
		return 2;
	}
	fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(argv[3]);
		return 1;
	}
	pc.arg = &fd;
	pc.tasks = &tasks;
	pc.map = !strcmp(argv[1], "map");
	tacho_ktypes_init(&types);
	ret = tacho_ktasks_init(&tasks);
	if (!ret)
		ret = tacho_kernel_create(&k, &config, &d);
	if (!ret)
		ret = tacho_kernel_enable(k, (const char *const *)(argv + 4),
					  (size_t)argc - 4, &d);
	if (!ret)
		ret = tacho_kernel_set_not_pids(k, &self, 1, &d);
	if (!ret)
		ret = tacho_kernel_load_types(k, &types, &d);
	if (!ret)
		ret = tacho_kernel_pump_new(&p, k, &types, &pc, &d);
	if (!ret)
		ret = run(k, p, strtod(argv[2], NULL));
	if (ret < 0)
		fprintf(stderr, "error %d: %s\n", ret, d.text);
	tacho_kernel_pump_free(p);
	tacho_kernel_destroy(k);
	tacho_ktypes_release(&types);
	tacho_ktasks_release(&tasks);
	close(fd);
	return ret < 0;
}
