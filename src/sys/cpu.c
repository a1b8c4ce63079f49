// SPDX-License-Identifier: MIT
#include "sys/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/scan.h"

/* Reads a small file; returns its length, NUL-terminated, or -1. */
static int read_small(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, to, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	to[n] = '\0';
	return (int)n;
}

unsigned int tacho_cpu_possible(void)
{
	char text[256];
	const char *last;
	long n;

	if (read_small("/sys/devices/system/cpu/possible", text,
		       sizeof(text)) > 0) {
		/* "0-63" or "0,2-5": the last number is the highest */
		last = text + strcspn(text, "\n");
		while (last > text && last[-1] >= '0' && last[-1] <= '9')
			last--;
		n = strtol(last, NULL, 10) + 1;
	} else {
		n = sysconf(_SC_NPROCESSORS_CONF);
	}
	return n < 1 ? 1 : (unsigned int)n;
}

unsigned int tacho_cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned int)n;
}

/* Uses the kernel's list, "0-3,8": a CPU that is possible but not present has no directory. */
bool tacho_cpu_online(unsigned int cpu)
{
	char text[4096];
	const char *s = text;
	uint64_t first, last;

	if (read_small("/sys/devices/system/cpu/online", text, sizeof(text)) < 1)
		return true;
	for (;;) {
		if (tacho_scan_range(&s, NULL, UINT32_MAX, &first, &last))
			return false;
		if (cpu >= first && cpu <= last)
			return true;
		if (*s++ != ',')
			return false;
	}
}

/* The raw calls: the C library's set type ends at 1,024 CPUs. */
unsigned int tacho_cpu_allowed(void)
{
	unsigned long mask[256];
	unsigned int nr = 0;
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	for (long i = 0; i < n / (long)sizeof(long); i++)
		nr += (unsigned int)__builtin_popcountl(mask[i]);
	return nr ? nr : 1;
}

int tacho_cpu_enter(unsigned int cpu, struct tacho_cpu_saved *saved)
{
	const unsigned int bits = 8 * sizeof(long);
	unsigned long mask[TACHO_ARRAY_SIZE(saved->mask)] = { 0 };
	long n;

	if (cpu >= bits * TACHO_ARRAY_SIZE(mask))
		return -EINVAL;
	n = syscall(SYS_sched_getaffinity, 0, sizeof(saved->mask), saved->mask);
	if (n < 0)
		return -errno;
	saved->size = (int)n;
	mask[cpu / bits] = 1ul << cpu % bits;
	if (syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask) < 0)
		return -errno;
	return 0;
}

void tacho_cpu_leave(const struct tacho_cpu_saved *saved)
{
	(void)syscall(SYS_sched_setaffinity, 0, saved->size, saved->mask);
}
