// SPDX-License-Identifier: MIT
/*
 * request.c - serves requests, and says so to several tracers at once.
 *
 *	request COUNT FIRST
 *
 * Two threads serve COUNT requests, whose ids are FIRST, FIRST + 1, ...  The begin and the
 * end of each are told, with the time that the program read once, as tacho's events,
 * as LTTng's (where it was built with that), and as system calls that fail: lseek(id, time,
 * kind) and ftruncate(id, time) on descriptors that nobody has.  So whatever is computed
 * from those times must come out equal, to the ns.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "request_trace.h"

#define THREADS	2

static uint64_t next, last;

#ifdef REQUEST_LTTNG
void lttng_begin(uint64_t id, uint64_t at, uint64_t kind);
void lttng_end(uint64_t id, uint64_t at, const char *name);
#else
static void lttng_begin(uint64_t id, uint64_t at, uint64_t kind)
{
	(void)id;
	(void)at;
	(void)kind;
}

static void lttng_end(uint64_t id, uint64_t at, const char *name)
{
	(void)id;
	(void)at;
	(void)name;
}
#endif

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Takes from nothing to some 100 us; every 16th sleeps. */
static void work(uint64_t id)
{
	const struct timespec little = { 0, 20000 };

	for (volatile uint64_t i = id * 2654435761u >> 7 & 0x3fff; i; i--)
		;
	if (!(id & 15))
		(void)nanosleep(&little, NULL);
}

static void serve(uint64_t id)
{
	static const char *const names[] = { "read", "write", "sync" };
	uint64_t kind = id % 3;
	uint64_t at = now();

	trace_begin(id, at, kind);
	lttng_begin(id, at, kind);
	(void)syscall(SYS_lseek, (long)id, (long)at, (long)kind);
	work(id);
	at = now();
	trace_end(id, at, names[kind]);
	lttng_end(id, at, names[kind]);
	(void)syscall(SYS_ftruncate, (long)id, (long)at);
}

static void *serve_all(void *arg)
{
	uint64_t id;

	while ((id = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < last)
		serve(id);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc != 3)
		return 2;
	next = strtoull(argv[2], NULL, 10);
	last = next + strtoull(argv[1], NULL, 10);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, serve_all, NULL))
			return 3;
	for (int i = 0; i < THREADS; i++)
		if (pthread_join(t[i], NULL))
			return 3;
	return 0;
}
