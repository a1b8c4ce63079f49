/* SPDX-License-Identifier: MIT */
/* What lies on the shelves, and what it costs. */
#include "shop.h"

#include <pthread.h>

#include <tacho/marker.h>
#include <tacho/printk.h>

static const struct {
	const char *name;
	unsigned int cents;
} article[ARTICLES] = {
	{ "apple", 45 }, { "bread", 320 }, { "cheese", 780 }, { "dates", 410 },
	{ "eggs", 290 }, { "figs", 520 }, { "grapes", 350 }, { "honey", 640 },
	{ "ice", 150 }, { "jam", 275 }, { "kale", 180 }, { "lemons", 90 },
};

#define SHELF 300	/* pieces of an article that fit */

static unsigned int left[ARTICLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool stock_take(struct order *order)
{
	TACHO_SPAN("stock");
	unsigned int i, n = 0;

	pthread_mutex_lock(&lock);
	order->cents = 0;
	for (i = 0; i < order->nr_items; i++) {
		const unsigned int a = order->items[i];

		if (!left[a]) {
			tacho_printk("order %u: no %s left", order->id,
				     article[a].name);
			break;
		}
		left[a]--;
		order->cents += article[a].cents;
	}
	/* Half an order is no order: put back what was taken. */
	if (i < order->nr_items) {
		for (n = 0; n < i; n++)
			left[order->items[n]]++;
	}
	pthread_mutex_unlock(&lock);
	return i == order->nr_items;
}

void stock_refill(void)
{
	unsigned int i, added = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < ARTICLES; i++) {
		added += SHELF - left[i];
		left[i] = SHELF;
	}
	pthread_mutex_unlock(&lock);
	TACHO_MARK("refill");
	TACHO_COUNTER("refilled", added);
}
