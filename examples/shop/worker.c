/* SPDX-License-Identifier: MIT */
/* A worker: take an order, pack it, write its receipt. */
#include "shop.h"

#include <time.h>
#include <unistd.h>

#include <tacho/marker.h>

#include "shop_trace.h"

uint64_t shop_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A gift takes paper and patience: work for the CPU. */
static uint32_t wrap(const struct order *order)
{
	TACHO_SPAN("wrap");
	uint32_t knots = order->id;
	int i;

	for (i = 0; i < 200000; i++)
		knots = knots * 1664525u + 1013904223u;
	return knots;
}

static enum order_outcome handle(struct worker *w, int fd, struct order *order)
{
	if (!stock_take(order))
		return ORDER_SOLD_OUT;
	if (order->wishes & WISH_GIFT)
		order->ribbon = wrap(order);
	return receipt_write(fd, w->number, order) ? ORDER_DISK : ORDER_OK;
}

void *worker_run(void *arg)
{
	struct worker *w = (struct worker *)arg;
	struct order order;
	const int fd = receipt_open(w->folder, w->number);

	while (queue_take(&order)) {
		TACHO_SPAN("order");
		const uint64_t begin = shop_now_us();
		const enum order_outcome outcome = handle(w, fd, &order);
		const uint64_t took = shop_now_us() - begin;

		trace_order_done(&order, (int)outcome,
				 begin - order.arrived_us, took);
		trace_order_slow(order.id, took);
		if (outcome == ORDER_OK)
			w->done++;
		else
			w->failed++;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}
