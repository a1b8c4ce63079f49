// SPDX-License-Identifier: MIT
/*
 * crashed N [abort] - hits on two CPUs, then its end: by abort(), or, once it has said "ready",
 * by the test.  Its core dump has shared mappings.  Those of the kernel have the times 1000,
 * 1003, and so on: the first of all.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "crashed_trace.h"

static void dump_shared(void)
{
	int fd = open("/proc/self/coredump_filter", O_WRONLY);

	if (fd < 0 || write(fd, "0x3b", 4) != 4)
		exit(3);
	close(fd);
}

/* The next CPU that we may run on. */
static unsigned int move(void)
{
	static cpu_set_t all;
	static unsigned int cpu;
	cpu_set_t one;

	if (!CPU_COUNT(&all))
		(void)sched_getaffinity(0, sizeof(all), &all);
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	return cpu;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int cpu = 0;

	dump_shared();
	for (unsigned long i = 0; i < n; i++) {
		if (i % 500 == 0)
			cpu = move();
		trace_NEW_EVENT(i, 0x100, (u16)cpu, 0);
		if (i % 3 == 0)
			trace_PUMPED(i, 0x041, (u16)cpu, 1000 + i);
		if (i % 5 == 0)
			trace_none(i);
	}
	if (argc > 2 && !strcmp(argv[2], "abort"))
		abort();
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
