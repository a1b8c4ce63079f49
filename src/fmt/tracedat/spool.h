/* SPDX-License-Identifier: MIT */
/*
 * spool.h - the pages of all CPUs until the file is written.
 *
 * In a trace.dat each CPU's pages lie together, but records come merged by
 * time, and what stands before the pages (types, names of threads) is
 * complete only at the end.  So pages are collected per CPU, written in *runs* to one
 * nameless file beside the output, and read back CPU by CPU.  Where a
 * run is costs 16 bytes of memory; nothing else grows with the trace.
 *
 *	lane	one CPU
 *	  run	pages in memory, to be written together
 *
 * The size of pages is one number for the whole file, and an event must fit in
 * a page.  Pages of 4096 bytes are what everybody else writes, so these are
 * collected; only an event that is larger gets one page as large as it
 * needs.  If there was such an event, reading back *repacks*: the
 * events of all pages into pages of the next power of two.
 */
#ifndef TACHO_FMT_TRACEDAT_SPOOL_H
#define TACHO_FMT_TRACEDAT_SPOOL_H

#include "fmt/tracedat/page.h"

struct tacho_dat_run {
	uint64_t offset;
	uint64_t len;
};

struct tacho_dat_lane {
	uint32_t cpu;			/* UINT32_MAX: not known */
	struct tacho_dat_page page;	/* the last one of the run, if open */
	bool open;
	uint64_t lost_next;		/* to be told by the next page */
	unsigned char *bytes;		/* of the run */
	size_t len, room;
	struct tacho_dat_run *run;	/* written */
	size_t nr_runs, room_runs;
	/* for the CPU's statistics */
	uint64_t events, lost, size, first, last;
};

struct tacho_dat_spool {
	int fd;
	uint64_t size;
	unsigned int long_size;		/* of pages; set it before the first event */
	size_t page_size;		/* a power of two that every event fits in */
	struct tacho_dat_lane *lane;
	size_t nr_lanes, last_lane;
};

/*
 * Opens a file that has no name, in the directory of path.  -1 and errno;
 * EOPNOTSUPP and others where the file system has none.
 */
int tacho_dat_open_nameless(const char *path, unsigned int mode);

/* Creates an unnamed file in the directory of path.  Returns 0 or -errno. */
int tacho_dat_spool_open(struct tacho_dat_spool *s, const char *path);
void tacho_dat_spool_release(struct tacho_dat_spool *s);

/* The lane of a CPU; borrowed until the next call.  NULL: no memory. */
struct tacho_dat_lane *tacho_dat_spool_lane(struct tacho_dat_spool *s,
					    uint32_t cpu);

/*
 * Room for an event of len bytes, at least 4; the caller fills it in at once.
 * NULL with *err set.
 */
unsigned char *tacho_dat_spool_add(struct tacho_dat_spool *s,
				   struct tacho_dat_lane *l, uint64_t time,
				   size_t len, int *err);

/* Ends all pages and writes the last runs: once, before reading.  0 or -errno. */
int tacho_dat_spool_finish(struct tacho_dat_spool *s);

/*
 * Hands a lane's pages out, in order: len is a multiple of page_size.  The space
 * of what was handed out is given back to the file system.  0, -errno or what
 * put() returned when that is not 0.
 */
int tacho_dat_spool_read(struct tacho_dat_spool *s, struct tacho_dat_lane *l,
			 int (*put)(void *arg, const void *pages, size_t len),
			 void *arg);

#endif
