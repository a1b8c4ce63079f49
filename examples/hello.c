/* SPDX-License-Identifier: MIT */
/*
 * hello.c - a program with one tracepoint, one printk and one counter.
 *
 *	cc -I. hello.c -o hello -ltacho
 *	./hello [ROUNDS]		100 rounds, ten a second
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tacho/marker.h>
#include <tacho/printk.h>

#define CREATE_TRACE_POINTS
#include "hello_trace.h"

static const char *const names[] = { "world", "kernel", "reader" };

static void greet(int round, const char *whom)
{
	TACHO_SPAN("greet");

	trace_greet(round, whom);
	printf("hello, %s\n", whom);
	tacho_printk("said hello to %s", whom);
}

int main(int argc, char **argv)
{
	const struct timespec pause = { 0, 100 * 1000 * 1000 };
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	int round;

	for (round = 0; round < rounds; round++) {
		greet(round, names[round % 3]);
		TACHO_COUNTER("rounds", round + 1);
		nanosleep(&pause, NULL);
	}
	return 0;
}
