// SPDX-License-Identifier: MIT
/*
 * kernel_lines DIR - the same events twice: DIR/trace.txt is the kernel's own
 * text of them, DIR/trace is our trace of them.
 *
 * The text is read, without consuming, when the instance is stopped; then the
 * recorder drains the same buffers.  Exit 77 where the kernel cannot be traced.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tracefs/instance.h"
#include "record/recorder.h"
#include "sys/clock.h"

static struct tacho_diag d;

static int failed(void)
{
	fprintf(stderr, "kernel_lines: %s\n", d.text);
	return 1;
}

/* Things that make events in every context: switches, timers, page faults. */
static void work(void)
{
	for (int i = 0; i < 200; i++) {
		const struct timespec pause = { .tv_nsec = 200000 };
		char *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p != MAP_FAILED) {
			memset(p, i, 1 << 16);
			(void)munmap(p, 1 << 16);
		}
		(void)sched_yield();
		(void)nanosleep(&pause, NULL);
	}
}

static int copy_text(const struct tacho_kernel *k, const char *dir)
{
	int from = openat(tacho_kernel_dirfd(k), "trace", O_RDONLY | O_CLOEXEC);
	char path[400], buf[65536];
	ssize_t n = -1;
	FILE *to;

	(void)snprintf(path, sizeof(path), "%s/trace.txt", dir);
	to = fopen(path, "w");
	while (from >= 0 && to && (n = read(from, buf, sizeof(buf))) > 0)
		(void)fwrite(buf, 1, (size_t)n, to);
	if (from >= 0)
		close(from);
	if (!to || fclose(to) || n)
		return -1;
	return 0;
}

static int run(struct tacho_kernel *k, const char *dir)
{
	static const char *const globs[] = { "sched:sched_switch",
		"sched:sched_waking", "sched:sched_wakeup", "irq:softirq_*",
		"timer:hrtimer_expire_*", "kmem:mm_page_alloc",
		"exceptions:page_fault_user" };
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	uint32_t clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;
	char out[400];
	struct tacho_recorder_config cfg = {
		.dir = out, .kernel = k, .clock = clock,
		.clock_freq = tacho_clock_freq(clock),
		.start = tacho_clock_pair(clock),
	};
	struct tacho_recorder *rec;

	(void)snprintf(out, sizeof(out), "%s/trace", dir);
	/* some of these are not in every kernel */
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(globs); i++)
		(void)tacho_kernel_enable(k, &globs[i], 1, NULL);
	if (tacho_recorder_new(&rec, &cfg, &d))
		return failed();
	work();
	if (tacho_kernel_stop(k, &d) || copy_text(k, dir)) {
		(void)tacho_recorder_finish(rec, NULL, NULL);
		return failed();
	}
	return tacho_recorder_finish(rec, NULL, &d) ? failed() : 0;
}

int main(int argc, char **argv)
{
	struct tacho_kernel_config cfg = { .name = "lines",
					   .buffer_size = 16 << 20 };
	struct tacho_kernel *k;
	int ret;

	if (argc != 2)
		return 2;
	if (tacho_kernel_create(&k, &cfg, &d)) {
		printf("%s\n", d.text);
		return 77;
	}
	ret = run(k, argv[1]);
	(void)tacho_kernel_destroy(k);
	return ret;
}
