/* SPDX-License-Identifier: MIT */
/*
 * pump.h - from the kernel's buffers to batches of records.
 *
 * A pump owns the readers of some CPUs of one instance.  Each step reads the available events,
 * converts them to records (convert.h) and passes them to the sink in batches: records of one CPU
 * in the order of time, at most TACHO_KERNEL_BATCH bytes.  A batch can become a packet in place:
 * the sink may write a header to the 96 bytes before it, and padding after it.
 *
 *	struct tacho_kernel_pump_config c = { .sink = write_packet, .arg = w };
 *
 *	tacho_kernel_pump_new(&pump, kernel, &types, &c, &diag);
 *	tacho_kernel_start(kernel, &diag);
 *	while (!stop && tacho_kernel_pump_step(pump, 200) >= 0)
 *		;
 *	tacho_kernel_stop(kernel, &diag);
 *	tacho_kernel_pump_drain(pump);
 *	tacho_kernel_pump_free(pump);
 *
 * Accounting, exact once drained, per CPU and in sum
 *
 *	written by the kernel = events + lost
 *	lost = overwritten + dropped + damaged
 *
 * where events are those passed to the sinks, and every loss is in the `lost` of one batch, which
 * may have no records.
 *
 * A pump is used by one thread; several pumps may share an instance when their
 * CPUs differ.
 */
#ifndef TACHO_TRACEFS_PUMP_H
#define TACHO_TRACEFS_PUMP_H

#include <stdint.h>

#include "base/diag.h"
#include "tracefs/instance.h"
#include "kdata/types.h"
#include "kdata/tasks.h"

#define TACHO_KERNEL_BATCH	((uint32_t)512 << 10)	/* most bytes of records */
#define TACHO_KERNEL_HEAD	96	/* writable bytes before the records */
#define TACHO_KERNEL_TAIL	4096	/* writable bytes after them */

struct tacho_kernel_batch {
	uint32_t cpu;
	uint32_t len;			/* bytes of records */
	unsigned char *records;		/* 8-aligned; the sink's until it returns */
	uint32_t events;
	uint64_t time_begin;		/* of the first record, full ticks */
	uint64_t time_end;		/* of the last; both the last known if none */
	uint64_t lost;			/* events lost on this CPU since the last batch */
};

/* Receives a batch.  A negative result stops the pump, which returns it. */
typedef int (*tacho_kernel_sink)(void *arg, const struct tacho_kernel_batch *b);

struct tacho_kernel_pump_config {
	tacho_kernel_sink sink;
	void *arg;
	uint32_t first_cpu;
	uint32_t nr_cpus;		/* 0: all from first_cpu on */
	bool map;			/* map sub-buffers; see reader.h */
	struct tacho_ktasks *tasks;	/* receives every thread seen; NULL: none */
	/*
	 * Called for an event of an unknown type: adds the type to the pump's types, if possible.
	 * NULL: all types are loaded.
	 */
	void (*load_type)(void *arg, uint32_t id);
};

/* Sums over the pump's CPUs. */
struct tacho_kernel_pump_stats {
	uint64_t events;		/* passed to the sink */
	uint64_t bytes;			/* of records */
	uint64_t batches;
	uint64_t overwritten;		/* known so far; complete once drained */
	uint64_t dropped;		/* likewise: no room, nothing overwritten */
	uint64_t damaged;		/* not converted; includes `unknown` */
	uint64_t unknown;		/* without a type */
	uint64_t bad_pages;		/* inconsistent sub-buffers */
	uint64_t unread;		/* not readable even after draining */
	uint64_t backwards;		/* times earlier than the previous one, raised to it */
	bool mapped;			/* sub-buffers are mapped, not copied */
};

struct tacho_kernel_pump;

/*
 * tacho_kernel_pump_new - open the buffers.
 *
 * k and types stay the caller's and must outlive the pump; the instance cannot be
 * destroyed before tacho_kernel_pump_free().  Returns 0, or a negative errno with d
 * filled in.
 */
int tacho_kernel_pump_new(struct tacho_kernel_pump **pump,
			  const struct tacho_kernel *k,
			  const struct tacho_ktypes *types,
			  const struct tacho_kernel_pump_config *config,
			  struct tacho_diag *d);

/* Frees a pump.  Ignores NULL. */
void tacho_kernel_pump_free(struct tacho_kernel_pump *pump);

/*
 * tacho_kernel_pump_step - pass on the available events.
 *
 * First waits at most timeout_ms (0: not at all) for a buffer to reach the wake-up fill level,
 * unless the previous step left events unread.  Then reads all events that were written before
 * the wait ended, but limited to a few batches per CPU. So the timeout is also the maximum delay
 * of an event.
 *
 * Returns 1 if more events are available now, 0, or a negative errno: the sink's, or the
 * kernel's.  A signal ends the wait early.
 */
int tacho_kernel_pump_step(struct tacho_kernel_pump *pump, int timeout_ms);

/*
 * tacho_kernel_pump_drain - read all remaining events of a stopped instance, and complete the
 * counts.
 *
 * Returns 0 or a negative errno.
 */
int tacho_kernel_pump_drain(struct tacho_kernel_pump *pump);

void tacho_kernel_pump_stats(const struct tacho_kernel_pump *pump,
			     struct tacho_kernel_pump_stats *s);

#endif
