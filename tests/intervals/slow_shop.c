// SPDX-License-Identifier: MIT
/*
 * slow_shop - a worker that processes orders, and is slow for a known reason.
 *
 *	slow_shop good|hog|lock|fsync|faults [DIR [all]]
 *
 * Each order is a span "order" of the thread "worker"; ORDERS of them are quick, then one is
 * slow; with "all", they are slow, too.  good: none is.  hog: a thread of a higher priority takes
 * the worker's CPU.  lock: another thread sleeps with the lock that the worker needs.  fsync: the
 * order is synced to a file in DIR.  faults: the order touches new memory.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <tacho/marker.h>

#define ORDERS	20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t go, taken;
static const char *mode, *dir;
static int nr_slow = 1;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void spin(long long ns)
{
	for (long long end = now() + ns; now() < end;)
		;
}

static void sleep_ms(int ms)
{
	struct timespec t = { 0, ms * 1000000L };

	(void)nanosleep(&t, NULL);
}

/* The last CPU that this process may use. */
static void pin(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set))
		fail("sched_getaffinity");
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* ---- the reasons ---- */

/* Before all other programs, so that only what is slow on purpose is slow. */
static void prefer(int priority)
{
	const struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &p))
		fail("sched_setscheduler");
}

static void *hog(void *arg)
{
	(void)pthread_setname_np(pthread_self(), "hog");
	pin();
	prefer(10);
	for (int i = 0; i < nr_slow; i++) {
		(void)sem_wait(&go);
		spin(60000000);
	}
	return arg;
}

static void *owner(void *arg)
{
	(void)pthread_setname_np(pthread_self(), "owner");
	prefer(5);
	for (int i = 0; i < nr_slow; i++) {
		(void)sem_wait(&go);
		(void)pthread_mutex_lock(&lock);
		(void)sem_post(&taken);
		sleep_ms(60);
		(void)pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* Small writes, each synced, until the syncs alone took 60 ms. */
static void sync_file(void)
{
	char data[512] = { 0 }, path[4096];
	long long in_sync = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/order", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		fail(path);
	while (in_sync < 60000000) {
		long long begin;

		if (write(fd, data, sizeof(data)) < 0)
			fail(path);
		begin = now();
		if (fsync(fd))
			fail("fsync");
		in_sync += now() - begin;
	}
	(void)close(fd);
	(void)unlink(path);
}

static void touch_memory(void)
{
	const size_t size = (size_t)128 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	(void)madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	(void)munmap(p, size);
}

/* ---- the worker ---- */

static void order(int slow)
{
	TACHO_SPAN("order");

	if (slow && !strcmp(mode, "hog"))
		(void)sem_post(&go);
	if (slow && !strcmp(mode, "fsync"))
		sync_file();
	if (slow && !strcmp(mode, "faults"))
		touch_memory();
	(void)pthread_mutex_lock(&lock);
	spin(1000000);
	(void)pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	(void)pthread_setname_np(pthread_self(), "worker");
	pin();
	prefer(5);
	for (int i = nr_slow; i <= ORDERS; i++)
		order(0);
	for (int i = 0; i < nr_slow; i++) {
		if (!strcmp(mode, "lock")) {
			(void)sem_post(&go);
			(void)sem_wait(&taken);
		}
		order(1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t w, other;
	int with_other;

	if (argc < 2 || (!strcmp(argv[1], "fsync") && argc < 3))
		return 2;
	mode = argv[1];
	dir = argc > 2 ? argv[2] : ".";
	if (argc > 3 && !strcmp(argv[3], "all"))
		nr_slow = ORDERS + 1;
	if (sem_init(&go, 0, 0) || sem_init(&taken, 0, 0))
		fail("sem_init");
	with_other = !strcmp(mode, "hog") || !strcmp(mode, "lock");
	if (with_other &&
	    pthread_create(&other, NULL, !strcmp(mode, "hog") ? hog : owner, NULL))
		fail("pthread_create");
	sleep_ms(20);
	if (pthread_create(&w, NULL, worker, NULL))
		fail("pthread_create");
	(void)pthread_join(w, NULL);
	if (with_other)
		(void)pthread_join(other, NULL);
	return 0;
}
