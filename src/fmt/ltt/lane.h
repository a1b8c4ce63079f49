/* SPDX-License-Identifier: MIT */
/*
 * lane.h - writing one CPU's file of an LTT trace.
 *
 * One buffer is filled in memory and written when the next record does not fit, so if the writer
 * dies, the file has complete buffers.  If two records are further apart than 32 bits can
 * express, HEARTBEATs are inserted between them or, if these would fill a buffer, another buffer
 * begins.
 */
#ifndef TACHO_FMT_LTT_LANE_H
#define TACHO_FMT_LTT_LANE_H

#include "base/diag.h"
#include "fmt/ltt/layout.h"

/* How all files of a trace are laid out. */
struct tacho_ltt_form {
	enum tacho_ltt_layout layout;	/* TACHO_LTT_64 or TACHO_LTT_32 */
	bool swap;			/* the other byte order */
	struct tacho_ltt_shape shape[TRACE_MAX + 1];
};

/* What START says, and the unit of times; set before the first record. */
struct tacho_ltt_start {
	uint32_t arch, variant, system;
	uint32_t buffer_size;
	bool us;		/* microseconds; else nanoseconds, as a "TSC" */
	bool flight;
	uint64_t event_mask, details_mask;
};

struct tacho_ltt_lane {
	const struct tacho_ltt_form *form;
	const char *path;	/* the caller's */
	int fd;
	uint32_t cpu;
	struct tacho_ltt_start start;
	unsigned char *buf;
	uint32_t len;		/* bytes in buf; 0: no buffer is open */
	uint32_t buffers;	/* begun so far */
	uint64_t t;		/* of the last record, in units */
	uint64_t bytes;		/* written */
	uint64_t late;		/* records that were before the one before them */
	uint64_t *declared;	/* the writer's: bit for each custom event */
	size_t nr_declared;
	uint32_t vector;	/* the writer's: the soft IRQ that runs, + 1; 0: not told */
};

/* The values of a struct: of its elements that are no holes, in order. */
struct tacho_ltt_values {
	uint64_t v[LTT_ELEMS_MAX];
	const void *text[LTT_ELEMS_MAX];	/* of text elements; or NULL */
	size_t text_len[LTT_ELEMS_MAX];
	const void *data;	/* after the struct */
	size_t data_len;
	/* after that, at a multiple of 4 */
	const void *tail_head, *tail;
	size_t tail_len;
};

/* How many bytes a tail's head has. */
#define LTT_LANE_TAIL_HEAD	12u

/* ns in the lane's unit. */
static inline uint64_t tacho_ltt_lane_time(const struct tacho_ltt_lane *l, uint64_t ns)
{
	return l->start.us ? ns / 1000 : ns;
}

/*
 * Begins a buffer at t, with START in the first one; at the first record at the latest
 * that happens by itself.  0, -ENOMEM, or what writing said.
 */
int tacho_ltt_lane_begin(struct tacho_ltt_lane *l, uint64_t t);

/* Ends the buffer at t, or without a time; nothing when none is open. */
int tacho_ltt_lane_end(struct tacho_ltt_lane *l, uint64_t t, bool timeless);

/*
 * Appends a record.  bare: its header alone.  0; -EMSGSIZE: it is longer than a record or
 * a buffer can be; -errno.
 */
int tacho_ltt_lane_put(struct tacho_ltt_lane *l, uint64_t t, uint32_t id, uint32_t sub,
		       const struct tacho_ltt_values *v, bool bare);

/* Appends a record with these bytes after its header. */
int tacho_ltt_lane_put_raw(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
			   uint32_t sub, const void *body, size_t len);

/* Frees what the lane holds; writes nothing. */
void tacho_ltt_lane_release(struct tacho_ltt_lane *l);

#endif
