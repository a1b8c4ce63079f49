// SPDX-License-Identifier: MIT
/*
 * crashed COUNT MORE - COUNT hits on each CPU that it may run on, in turn; "ready"; and, when it
 * gets a line, MORE on each, then "done", and its end: by abort() if the line says so, else by
 * the test.  It has an event handler "other", which records another event in the place of each.
 */
#include <linux/lkst.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

LKST_ETYPE_DEF(0x100, NORMAL, CRASH_STEP, "before the crash", "number", "cpu", "", "")

static cpu_set_t all;

static void other(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t d)
{
	(void)etype;
	lkst_evhandlerprim_entry_log(rec, 0x101, a, b, c, d);
}

static void hits(unsigned long count)
{
	static unsigned long n;

	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;

		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			exit(3);
		for (unsigned long i = 0; i < count; i++, n++)
			LKST_HOOK(CRASH_STEP, LKST_ARG(n), LKST_ARG(cpu), 0, 0);
	}
}

int main(int argc, char **argv)
{
	char line[16] = "";

	if (argc != 3 || sched_getaffinity(0, sizeof(all), &all) ||
	    lkst_evhandler_register(LKST_EVHANDLER_ID_VOID, "other", other, NULL) < 0)
		return 2;
	hits(strtoul(argv[1], NULL, 10));
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	hits(strtoul(argv[2], NULL, 10));
	if (!strcmp(line, "abort\n"))
		abort();
	puts("done");
	fflush(stdout);
	for (;;)
		pause();
}
