// SPDX-License-Identifier: MIT
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"

static const char *const clock_names[] = {
	[TACHO_CLOCK_TSC] = "x86-tsc",
	[TACHO_CLOCK_MONO] = "mono",
	[TACHO_CLOCK_BOOT] = "boot",
};

const char *tacho_clock_name(enum tacho_clock clock)
{
	return clock < TACHO_ARRAY_SIZE(clock_names) ? clock_names[clock]
						     : "unknown";
}

int tacho_clock_by_name(const char *name, enum tacho_clock *clock)
{
	for (unsigned int i = 0; i < TACHO_ARRAY_SIZE(clock_names); i++) {
		if (strcmp(name, clock_names[i]))
			continue;
		*clock = (enum tacho_clock)i;
		return 0;
	}
	return -EINVAL;
}

enum tacho_clock tacho_clock_default(void)
{
	static const char path[] = "/sys/devices/system/clocksource/"
				   "clocksource0/current_clocksource";
	char name[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return TACHO_CLOCK_MONO;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (n <= 0)
		return TACHO_CLOCK_MONO;
#if defined(__x86_64__)
	return strcmp(name, "tsc\n") ? TACHO_CLOCK_MONO : TACHO_CLOCK_TSC;
#elif defined(__aarch64__)
	return strcmp(name, "arch_sys_counter\n") ? TACHO_CLOCK_MONO
						  : TACHO_CLOCK_TSC;
#else
	return TACHO_CLOCK_MONO;
#endif
}

/*
 * The factor that the kernel itself converts ticks with, published in the
 * control page of any perf event (linux/perf_event.h, cap_user_time).
 */
static uint64_t freq_of_kernel(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t freq = 0;
	const struct perf_event_mmap_page *pc;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return 0;
	pc = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (pc == MAP_FAILED)
		return 0;
	if (pc->cap_user_time && pc->time_mult && pc->time_shift < 64)
		freq = (uint64_t)(((unsigned __int128)1000000000 << pc->time_shift) /
				  pc->time_mult);
	munmap((void *)(uintptr_t)pc, page);
	return freq;
}

static uint64_t freq_measured(void)
{
	uint64_t ns0 = tacho_now_ns(CLOCK_MONOTONIC_RAW);
	uint64_t t0 = tacho_clock_tsc();
	uint64_t ns1, t1;

	do {
		ns1 = tacho_now_ns(CLOCK_MONOTONIC_RAW);
		t1 = tacho_clock_tsc();
	} while (ns1 - ns0 < 50000000);
	return (uint64_t)((unsigned __int128)(t1 - t0) * 1000000000 /
			  (ns1 - ns0));
}

uint64_t tacho_clock_freq(enum tacho_clock clock)
{
	static uint64_t known;
	uint64_t freq;

	if (clock != TACHO_CLOCK_TSC)
		return 1000000000;
#if defined(__aarch64__)
	__asm__("mrs %0, cntfrq_el0" : "=r"(freq));
	return freq;
#endif
	freq = tacho_load_relaxed(&known);
	if (freq)
		return freq;
	freq = freq_of_kernel();
	if (!freq)
		freq = freq_measured();
	tacho_store_relaxed(&known, freq);
	return freq;
}

struct tacho_clock_pair tacho_clock_pair(enum tacho_clock clock)
{
	struct tacho_clock_pair best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 10; i++) {
		uint64_t t0 = tacho_clock_read(clock);
		uint64_t real = tacho_now_ns(CLOCK_REALTIME);
		uint64_t t1 = tacho_clock_read(clock);

		if (t1 - t0 >= width)
			continue;
		width = t1 - t0;
		best.ticks = t0 + width / 2;
		best.realtime = real;
	}
	return best;
}
