// SPDX-License-Identifier: MIT
/*
 * Tells LKST of many events, on one CPU, as the ioctl and lkst_entry_log() do.
 *
 *	entries TYPE COUNT CPU [AT_ONCE [PAUSE_US]]
 *
 * The events carry 1 .. COUNT.  After each AT_ONCE of them it sleeps, or, without PAUSE_US, waits
 * until the CPU's read queue is empty: if the buffers hold more than AT_ONCE, a reader loses
 * nothing, however slow it is.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/lkst/lkst.h"

static int wait_for_reader(struct tacho_lkst *l, int cpu)
{
	struct lkst_buffer_listparam p = { .cpu = cpu };
	int err;

	while (!(err = tacho_lkst_buffer_list(l, &p)) && p.rq_head != LKST_BUFFER_ID_VOID)
		(void)usleep(1000);
	return err;
}

int main(int argc, char **argv)
{
	uint64_t count, at_once = 0;
	struct lkst_record r = { 0 };
	struct tacho_diag d = { 0 };
	struct tacho_lkst l;
	cpu_set_t set;
	int cpu, err = 0;

	if (argc < 4 || argc > 6)
		return 2;
	r.etype = (uint16_t)strtoul(argv[1], NULL, 0);
	count = strtoull(argv[2], NULL, 0);
	cpu = atoi(argv[3]);
	if (argc > 4)
		at_once = strtoull(argv[4], NULL, 0);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || tacho_lkst_open(&l, NULL, &d)) {
		fprintf(stderr, "entries: %s\n", d.err ? d.text : "no such CPU");
		return 1;
	}
	for (uint64_t i = 1; !err && i <= count; i++) {
		r.arg[0] = i;
		err = tacho_lkst_entry(&l, &r);
		if (err || !at_once || i % at_once)
			continue;
		if (argc > 5)
			(void)usleep((useconds_t)strtoul(argv[5], NULL, 0));
		else
			err = wait_for_reader(&l, cpu);
	}
	tacho_lkst_close(&l);
	if (err)
		fprintf(stderr, "entries: %s\n", strerror(-err));
	return err != 0;
}
