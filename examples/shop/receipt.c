/* SPDX-License-Identifier: MIT */
/* Receipts: one file for each worker. */
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tacho/marker.h>

#include "shop_trace.h"

static void receipt_name(char *name, size_t size, int worker)
{
	(void)snprintf(name, size, "receipts.%d", worker);
}

int receipt_open(const char *folder, int worker)
{
	char name[32], path[4096];
	int fd;

	receipt_name(name, sizeof(name), worker);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		const ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int receipt_write(int fd, int worker, const struct order *order)
{
	TACHO_SPAN("receipt");
	const bool sync = order->wishes & WISH_INVOICE;
	char name[32], text[512];
	size_t n;
	unsigned int i;
	int err;

	n = (size_t)snprintf(text, sizeof(text), "order %u for %s:", order->id,
			     order->customer);
	for (i = 0; i < order->nr_items; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %u",
				      order->items[i]);
	n += (size_t)snprintf(text + n, sizeof(text) - n, " = %u.%02u",
			      order->cents / 100, order->cents % 100);
	if (order->wishes & WISH_GIFT)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      ", ribbon %08x", order->ribbon);
	text[n++] = '\n';
	err = write_all(fd, text, n);
	if (!err && sync) {
		TACHO_SPAN("sync");

		err = fdatasync(fd) < 0 ? -errno : 0;
	}
	receipt_name(name, sizeof(name), worker);
	trace_receipt_write(name, n, sync, err);
	return err;
}
