/* SPDX-License-Identifier: MIT */
/*
 * image.h - memory that was written to a file: a core dump, or a raw image.
 *
 * A core dump (64-bit ELF, of this machine's byte order) has the address of each segment and, in
 * its note NT_FILE, the file that was mapped there.  In any other file, offsets are used as
 * addresses.
 *
 * The file is untrusted: segments that extend past its end are cut.
 */
#ifndef TACHO_STREAM_IMAGE_H
#define TACHO_STREAM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"

/* The bytes of memory from `addr` on. */
struct tacho_image_segment {
	uint64_t addr, len;
	uint64_t at;		/* in the file */
};

/* A mapped file. */
struct tacho_image_map {
	uint64_t addr, len;
	uint64_t offset;	/* in the mapped file, bytes */
	const char *path;
};

struct tacho_image {
	int fd;
	uint64_t size;
	bool is_core;
	struct tacho_image_segment *segment;	/* by address */
	uint32_t nr_segments;
	struct tacho_image_map *map;	/* in the note's order */
	uint32_t nr_maps;
	int32_t pid, signal;		/* of the dead process; 0: not known */
	char command[81];
	size_t notes;		/* bytes of notes so far */
	struct tacho_arena arena;
};

/* Whether the beginning of a file is that of a core dump. */
bool tacho_image_is_core(const void *head, size_t len);

/* Returns 0, or a negative errno with d filled in. */
int tacho_image_open(struct tacho_image *m, const char *path, struct tacho_diag *d);
void tacho_image_close(struct tacho_image *m);

/*
 * Copies the memory from addr on.  Returns how many of len bytes are available without a gap;
 * bytes that the core omits (if a segment is longer in memory than in the file) are not. -EIO ...
 */
ssize_t tacho_image_read(const struct tacho_image *m, uint64_t addr, void *to, size_t len);

/*
 * Visits all pages: calls fn(addr, first `head` bytes of the page, arg) until the result is not
 * 0. head is at most 4096.  Returns the last result of fn, or the error of reading.
 */
int tacho_image_scan(const struct tacho_image *m, size_t head,
		     int (*fn)(uint64_t addr, const unsigned char *page, void *arg), void *arg);

#endif
