/* SPDX-License-Identifier: MIT */
/*
 * shop - a small server to watch: orders come in bursts, workers pack
 * them, receipts go to files, and now and then an article is sold out.
 *
 *	shop [--seconds N] [--workers N] [--folder DIR]
 *
 * Runs 10 seconds with 4 workers; receipts go to a temporary folder, which is removed
 * at the end, unless --folder says where.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tacho/printk.h>

#include "shop.h"

#define CREATE_TRACE_POINTS
#include "shop_trace.h"

#define WORKERS_MAX 64

static const char *const customers[] = {
	"Ada", "Barbara", "Charles", "Dennis", "Edsger", "Frances", "Grace",
	"Hedy", "Ida", "John", "Ken", "Linus",
};

/* The same run each time: a random number generator of our own. */
static uint32_t dice(uint32_t sides)
{
	static uint32_t seed = 1;

	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % sides;
}

static void order_make(struct order *order, unsigned int id)
{
	unsigned int i;

	memset(order, 0, sizeof(*order));
	order->id = id;
	order->nr_items = 1 + dice(ITEMS_MAX);
	for (i = 0; i < order->nr_items; i++)
		order->items[i] = (uint16_t)dice(ARTICLES);
	if (!dice(5))
		order->wishes |= WISH_GIFT;
	if (!dice(10))
		order->wishes |= WISH_EXPRESS;
	if (!dice(8))
		order->wishes |= WISH_INVOICE;
	(void)snprintf(order->customer, sizeof(order->customer), "%s",
		       customers[dice(sizeof(customers) / sizeof(customers[0]))]);
	order->arrived_us = shop_now_us();
}

/* Bursts of customers until the time is over; returns how many came. */
static unsigned int open_shop(long seconds)
{
	const uint64_t end = shop_now_us() + (uint64_t)seconds * 1000000;
	struct timespec pause = { 0, 0 };
	struct order order;
	unsigned int id = 0;

	stock_refill();
	while (shop_now_us() < end) {
		unsigned int burst = 1 + dice(30);

		tacho_printk("a burst of %u customers", burst);
		while (burst--) {
			order_make(&order, ++id);
			queue_put(&order);
		}
		if (!dice(50))
			stock_refill();
		pause.tv_nsec = (long)(1 + dice(30)) * 1000000;
		nanosleep(&pause, NULL);
	}
	queue_close();
	return id;
}

static void remove_receipts(const char *folder, int workers)
{
	char path[4096];

	while (workers--) {
		(void)snprintf(path, sizeof(path), "%s/receipts.%d", folder,
			       workers);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static int run(const char *folder, long seconds, int workers)
{
	static struct worker worker[WORKERS_MAX];
	pthread_t thread[WORKERS_MAX];
	unsigned long done = 0, failed = 0;
	unsigned int orders;
	int i;

	for (i = 0; i < workers; i++) {
		worker[i].number = i;
		worker[i].folder = folder;
		if (pthread_create(&thread[i], NULL, worker_run, &worker[i])) {
			fprintf(stderr, "shop: cannot start worker %d\n", i);
			workers = i;
			break;
		}
	}
	if (!workers)
		return 1;
	orders = open_shop(seconds);
	for (i = 0; i < workers; i++) {
		pthread_join(thread[i], NULL);
		done += worker[i].done;
		failed += worker[i].failed;
	}
	printf("%u orders: %lu done, %lu not\n", orders, done, failed);
	return done + failed != orders;
}

static long number(const char *text, long min, long max)
{
	char *end;
	const long v = strtol(text, &end, 10);

	if (*end || end == text || v < min || v > max) {
		fprintf(stderr, "shop: '%s' is not a number from %ld to %ld\n",
			text, min, max);
		exit(2);
	}
	return v;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "workers", required_argument, NULL, 'w' },
		{ "folder", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	char temporary[] = "/tmp/shop.XXXXXX";
	const char *folder = NULL;
	long seconds = 10;
	int workers = 4;
	int c, status;

	while ((c = getopt_long(argc, argv, "s:w:f:", options, NULL)) != -1) {
		if (c == 's')
			seconds = number(optarg, 0, 1000000);
		else if (c == 'w')
			workers = (int)number(optarg, 1, WORKERS_MAX);
		else if (c == 'f')
			folder = optarg;
		else
			return 2;
	}
	if (!folder && !mkdtemp(temporary)) {
		perror("shop: cannot make a folder for receipts");
		return 1;
	}
	status = run(folder ? folder : temporary, seconds, workers);
	if (!folder)
		remove_receipts(temporary, workers);
	return status;
}
