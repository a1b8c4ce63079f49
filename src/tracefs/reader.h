/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads the raw sub-buffers of one CPU.
 *
 * Two ways, chosen at open
 *	read	read() swaps a full sub-buffer out of the ring in one step and copies
 *		it: one call per 64 KiB.  The default.
 *	map	trace_pipe_raw is mapped (Linux 6.10); an ioctl swaps in the next sub-buffer and
 *		returns how much of it may be read.  Nothing is copied, but the kernel visits each
 *		event to count it, which costs more than copying: measured, the recorder took 41
 *		to 60 ns of CPU per event mapped, 15 to 22 ns with read().
 *
 * In both cases the file is non-blocking; wait with poll() on `fd`, which becomes ready at the
 * instance's wake-up fill level.
 *
 * Lost events.  The kernel counts, per CPU, the events overwritten, discarded and read;
 * tacho_kreader_stats() reads these counts.  When the instance is stopped and everything is read,
 * written = read + lost, exactly.
 *
 * One thread uses a reader at a time; those of different CPUs are independent.
 */
#ifndef TACHO_TRACEFS_READER_H
#define TACHO_TRACEFS_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "tracefs/instance.h"
#include "kdata/pages.h"

struct tacho_kreader_map;

struct tacho_kreader {
	int fd;				/* trace_pipe_raw; -1: closed */
	int stats_fd;
	uint32_t cpu;
	uint32_t subbuf_size;
	struct tacho_kpage_layout layout;
	struct tacho_kpage page;	/* result of tacho_kreader_next() */
	const unsigned char *limit;	/* bytes before it may be read */
	bool fresh;			/* `page` is a new sub-buffer: page.lost counts */

	unsigned char *copy;		/* read: destination */
	bool borrowed;			/* copy is the caller's */
	const struct tacho_kreader_map *map;	/* map: the kernel's words */
	size_t map_len;			/* bytes of the first mapping */
	const unsigned char *subs;	/* map: the sub-buffers */
	size_t subs_len;
	uint32_t nr_subs;
	uint32_t id;			/* map: sub-buffer of `page`; UINT32_MAX: none */
	uint32_t upto;			/* map: bytes of it that may be read */
};

enum tacho_kreader_flag {
	/* Map; without kernel support, read() is used. */
	TACHO_KREADER_MAP = 1,
};

/*
 * tacho_kreader_open - open the buffer of one CPU of an instance.
 *
 * flags: enum tacho_kreader_flag.  Returns 0, or a negative errno with d filled in
 * and the reader closed.
 */
int tacho_kreader_open(struct tacho_kreader *r, const struct tacho_kernel *k,
		       uint32_t cpu, unsigned int flags, struct tacho_diag *d);

/*
 * The same with read() into the caller's memory, subbuf_size + TACHO_KREADER_SLACK bytes.  Data
 * is there as soon as the kernel has released it: so in shared, populated memory it survives a
 * kill.
 */
int tacho_kreader_open_into(struct tacho_kreader *r, const struct tacho_kernel *k,
			    uint32_t cpu, unsigned char *memory, struct tacho_diag *d);

/* Readable bytes after a copied sub-buffer. */
#define TACHO_KREADER_SLACK	64

/* Closing a closed reader does nothing. */
void tacho_kreader_close(struct tacho_kreader *r);

/*
 * tacho_kreader_next - get the next events.
 *
 * r->page then iterates over them; they are valid until the next call.  The previous page must
 * have been read completely; the rest is lost otherwise.
 *
 * Returns 1, 0: no events now, or a negative errno; -EBADMSG: an inconsistent sub-buffer, which
 * the next call skips.
 */
int tacho_kreader_next(struct tacho_kreader *r);

/* The kernel's counts for one CPU since the instance was created. */
struct tacho_kreader_stats {
	uint64_t entries;		/* events in the buffer, unread */
	uint64_t overrun;		/* overwritten before they were read */
	uint64_t commit_overrun;	/* not recorded: interrupts filled the buffer */
	uint64_t dropped;		/* not recorded: full and not overwriting */
	uint64_t read;			/* read by this reader */
};

/* Returns 0 or a negative errno. */
int tacho_kreader_stats(const struct tacho_kreader *r,
			struct tacho_kreader_stats *s);

#endif
