/* SPDX-License-Identifier: MIT */
/*
 * priv.h - shared by the files of this folder.
 *
 *	state.c		DIR/lkst: masksets, handlers, event types, buffers
 *	lkst.c		the session
 *	maskset.c	masksets, and what follows their switch
 *	status.c	status, start, stop
 *	buffer.c	tables of buffers; shift, jump
 *	late.c		the kernel's events in buffers
 *	merge.c		a buffer's events, of programs and of the kernel, in the order of time
 *	read.c		contents of buffers
 *	queue.c		read queues
 *	entry.c		recording an event on request
 *	etype.c		the list of event types
 *	overrun.c	full buffers, in hooks
 *	device.c	the files of the mounted tree: their names, opening, reading
 *	ioctl.c		the device's requests
 */
#ifndef TACHO_COMPAT_LKST_PRIV_H
#define TACHO_COMPAT_LKST_PRIV_H

#include "compat/lkst/lkst.h"
#include "ring/read.h"

/* CPUs that have buffers: lanes of the session that were begun. */
uint32_t lkst_nr_cpus(const struct tacho_lkst *l);
bool lkst_cpu_is(const struct tacho_lkst *l, int cpu);

/* ---- maskset.c ---- */

/* Updates rules and tracepoints: enables what either maskset word needs. Under the lock. */
int lkst_follow(struct tacho_lkst *l, uint64_t current, uint64_t or_current);

/* Switches to a maskset that is there: S1..S4 of state.h.  Under the lock. */
int lkst_switch(struct tacho_lkst *l, uint32_t id);

/* ---- buffer.c ---- */

/* Bytes of a lane that has LKST's buffer of `size` bytes in sub-buffers of `sub` bytes. */
uint64_t lkst_lane_size(uint32_t sub, uint64_t size);
/* The other way round: what a buffer of nr_subs sub-buffers can be. */
uint64_t lkst_size_of_subs(const struct tacho_ring *r, uint32_t nr_subs);

/* Creates the late lane's buffer for a ring's buffer.  Returns 0, -ENOSPC ... */
int lkst_late_make(struct tacho_lkst *l, uint32_t cpu, uint32_t ring, uint32_t nr_subs);

/* Makes an entry for a ring's buffer that is there. */
void lkst_buffer_enter(struct tacho_lkst *l, uint32_t cpu, int32_t id, uint32_t ring,
		       uint64_t size);

/* LKST's buffer that a CPU writes now; VOID: it has none. */
int32_t lkst_write_buf(const struct tacho_lkst *l, uint32_t cpu);

/* The entry of a buffer that is there, or NULL. */
struct lkst_buffer *lkst_buffer_at(const struct tacho_lkst *l, int cpu, int32_t id);

/* ---- read.c ---- */

/* What a buffer holds now. */
struct lkst_extent {
	struct lkst_shown shown;	/* first == end: nothing */
	uint64_t begins;	/* number of the turn's first sub-buffer */
	uint64_t left;		/* ticks: when it was shifted out; 0: being written */
};
void lkst_extent(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		 struct lkst_extent *e);

/* ---- pump.c ---- */

/*
 * Requests that the kernel's events are moved into the buffers. 0: done; -EBUSY: another process
 * was asked and is not waited for; else: no kernel events.
 */
int lkst_pump_ask(struct tacho_lkst *l);

/* ---- merge.c ---- */

/* One of the two lanes. */
struct lkst_lane_reader {
	struct tacho_ring_reader rd;
	bool open;
	uint32_t cpu;			/* UINT32_MAX: the records say it */
	const unsigned char *pos, *stop;	/* of a copy of what was written */
	uint64_t last;			/* time of the record before */
	uint64_t number, upto;		/* of the next record; after the last that is wanted */
	bool has;			/* `next` is the next record */
	struct lkst_record next;
};

/* Records of a turn of a buffer, the next one with number `next`. */
struct lkst_merge {
	struct lkst_lane_reader of[2];
	uint64_t next;
	uint64_t cut;			/* ticks: of older ones some are missing */
};

/*
 * at: where both lanes continue.  Returns 0, -ENOENT (no such buffer), -ENOMEM; the caller closes
 * it.
 */
int lkst_merge_open(struct lkst_merge *m, struct tacho_lkst *l, uint32_t cpu, uint32_t ring,
		    uint64_t next, const uint64_t at[2], const uint64_t upto[2]);
void lkst_merge_close(struct lkst_merge *m);

/*
 * The records that follow, up to `max` or to the next gap; how many.  *missed: how many before
 * the first were overwritten meanwhile.
 */
size_t lkst_merge_take(struct lkst_merge *m, struct lkst_record *to, size_t max, uint64_t *missed);

/* Where both lanes are now. */
void lkst_merge_at(const struct lkst_merge *m, uint64_t at[2]);

/* ---- read.c, queue.c ---- */

/*
 * tacho_lkst_buffer_read() with p->buffer in somebody else's memory: sink puts n records there,
 * 0 or -errno, which ends it.
 */
typedef int (*lkst_sink)(void *arg, struct lkst_log_record *to,
			 const struct lkst_log_record *r, size_t n);
int lkst_read_to(struct tacho_lkst *l, struct lkst_log_buffer *p, lkst_sink sink, void *arg);

/* The read queue of a CPU: ids in the order in which they were left; how many. */
uint32_t lkst_queue(struct tacho_lkst *l, uint32_t cpu,
		    int32_t id[TACHO_BUFFERS_MAX]);

#endif
