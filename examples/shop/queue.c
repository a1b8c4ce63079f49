/* SPDX-License-Identifier: MIT */
/* Orders that wait: two rings under one lock, express first. */
#include "shop.h"

#include <pthread.h>

#include <tacho/marker.h>

#include "shop_trace.h"

#define RING 64

static struct {
	struct order order[2][RING];
	unsigned int head[2], tail[2];	/* [1]: express */
	bool closed;
} queue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

static unsigned int queued(void)
{
	return queue.head[0] - queue.tail[0] + queue.head[1] - queue.tail[1];
}

void queue_put(const struct order *order)
{
	const int lane = (order->wishes & WISH_EXPRESS) != 0;

	pthread_mutex_lock(&lock);
	if (queue.head[lane] - queue.tail[lane] == RING) {
		TACHO_SPAN("queue full");

		while (queue.head[lane] - queue.tail[lane] == RING)
			pthread_cond_wait(&not_full, &lock);
	}
	queue.order[lane][queue.head[lane]++ % RING] = *order;
	trace_order_arrive(order, queued());
	TACHO_COUNTER("queued", queued());
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

bool queue_take(struct order *order)
{
	bool found;
	int lane;

	pthread_mutex_lock(&lock);
	while (!queued() && !queue.closed)
		pthread_cond_wait(&not_empty, &lock);
	found = queued() != 0;
	if (found) {
		lane = queue.head[1] != queue.tail[1];
		*order = queue.order[lane][queue.tail[lane]++ % RING];
		trace_order_take(order, queued());
		TACHO_COUNTER("queued", queued());
		pthread_cond_signal(&not_full);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void queue_close(void)
{
	pthread_mutex_lock(&lock);
	queue.closed = true;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
}
