/* SPDX-License-Identifier: MIT */
/*
 * shop.h - a shop that takes orders: one thread brings them, some threads work
 * them off, every receipt goes to a file.
 *
 *	customers --> queue.c --> worker.c --> stock.c, receipt.c
 */
#ifndef SHOP_H
#define SHOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITEMS_MAX	6
#define ARTICLES	12

enum order_outcome {
	ORDER_OK,
	ORDER_SOLD_OUT,
	ORDER_DISK,
};

enum order_wish {
	WISH_GIFT = 1,
	WISH_EXPRESS = 2,
	WISH_INVOICE = 4,
};

struct order {
	unsigned int id;
	unsigned int wishes;		/* enum order_wish, or-ed */
	unsigned int cents;		/* filled in while it is packed */
	uint32_t ribbon;		/* of a gift */
	unsigned int nr_items;
	uint16_t items[ITEMS_MAX];
	uint64_t arrived_us;
	char customer[24];
};

/* Microseconds of CLOCK_MONOTONIC. */
uint64_t shop_now_us(void);

/* A bounded queue; express orders go first. */
void queue_put(const struct order *order);
/* Waits for an order; false when the shop is closed and the queue empty. */
bool queue_take(struct order *order);
void queue_close(void);

/* Takes the articles and sums up their price; false when one is sold out. */
bool stock_take(struct order *order);
void stock_refill(void);

/*
 * Appends the receipt to the worker's file in folder and syncs it for an
 * invoice.  Returns 0 or a negative errno.
 */
int receipt_open(const char *folder, int worker);
int receipt_write(int fd, int worker, const struct order *order);

struct worker {
	int number;
	const char *folder;
	unsigned long done, failed;
};

/* The thread of one worker; arg is its struct worker. */
void *worker_run(void *arg);

#endif
