/* SPDX-License-Identifier: MIT */
/*
 * priv.h - what the files of this folder share.
 *
 *	state.c		DIR/lkst: masksets, handlers, event types, buffers
 *	lkst.c		the session
 *	maskset.c	masksets, and what follows their switch
 *	status.c	status, start, stop
 *	buffer.c	tables of buffers; shift, jump
 *	read.c		contents of buffers, read queues
 *	entry.c		an event that somebody tells of
 *	etype.c		the list of event types
 *	overrun.c	full buffers, in hooks
 *	device.c	the files of the mounted tree: their names, opening, reading
 *	ioctl.c		the device's requests
 */
#ifndef TACHO_FACE_LKST_PRIV_H
#define TACHO_FACE_LKST_PRIV_H

#include "face/lkst/lkst.h"

/* CPUs that have buffers: lanes of the session that were begun. */
uint32_t lkst_nr_cpus(const struct tacho_lkst *l);
bool lkst_cpu_is(const struct tacho_lkst *l, int cpu);

/* ---- maskset.c ---- */

/*
 * What rules and tracepoints there are follows the maskset words: on is what either wants.
 * Under the lock.
 */
int lkst_follow(struct tacho_lkst *l, uint64_t current, uint64_t or_current);

/* Switches to a maskset that is there: S1..S4 of state.h.  Under the lock. */
int lkst_switch(struct tacho_lkst *l, uint32_t id);

/* ---- buffer.c ---- */

/* Bytes of a lane that has LKST's buffer of `size` bytes in sub-buffers of `sub` bytes. */
uint64_t lkst_lane_size(uint32_t sub, uint64_t size);
/* The other way round: what a buffer of nr_subs sub-buffers can be. */
uint64_t lkst_size_of_subs(const struct tacho_ring *r, uint32_t nr_subs);

/* Makes an entry for a ring's buffer that is there. */
void lkst_buffer_enter(struct tacho_lkst *l, uint32_t cpu, int32_t id, uint32_t ring,
		       uint64_t size);

/* LKST's buffer that a CPU writes now; VOID: it has none. */
int32_t lkst_write_buf(const struct tacho_lkst *l, uint32_t cpu);

/* The entry of a buffer that is there, or NULL. */
struct lkst_buffer *lkst_buffer_at(const struct tacho_lkst *l, int cpu, int32_t id);

/* ---- read.c ---- */

/* What a buffer holds now, as numbers of records of the ring's buffer. */
struct lkst_extent {
	uint64_t first, end;	/* first == end: nothing */
	uint64_t since;		/* first of this turn: recid of the first that was written */
	uint64_t begins;	/* number of the turn's first sub-buffer */
	uint64_t left;		/* ticks: when it was shifted out; 0: being written */
};
void lkst_extent(struct tacho_lkst *l, uint32_t cpu, const struct lkst_buffer *b,
		 struct lkst_extent *e);

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
