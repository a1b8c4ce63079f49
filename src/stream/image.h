/* SPDX-License-Identifier: MIT */
/*
 * image.h - memory that was written to a file: a core dump, or an image without any head.
 *
 * A core dump (ELF, of this machine's byte order, 64 bits) says at which address each segment
 * was, and, in its note NT_FILE, which file was mapped there.  Of any other file the
 * bytes' places are taken for addresses.
 *
 * Nothing in the file is believed: segments lie inside of it, or are cut.
 */
#ifndef TACHO_STREAM_IMAGE_H
#define TACHO_STREAM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"

/* Bytes that were at `addr` on. */
struct tacho_image_segment {
	uint64_t addr, len;
	uint64_t at;		/* in the file */
};

/* A file that was mapped. */
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
	int32_t pid, signal;		/* of the process that died; 0: not known */
	char command[81];
	size_t notes;		/* bytes of them so far */
	struct tacho_arena arena;
};

/* Whether a file begins as a core dump. */
bool tacho_image_is_core(const void *head, size_t len);

/* 0, or a negative errno with a sentence. */
int tacho_image_open(struct tacho_image *m, const char *path, struct tacho_diag *d);
void tacho_image_close(struct tacho_image *m);

/*
 * Copies what was at addr on.  How many bytes of len are there, without a gap; what a core
 * leaves out (a segment that is longer in memory than in the file) is not there.  -EIO ...
 */
ssize_t tacho_image_read(const struct tacho_image *m, uint64_t addr, void *to, size_t len);

/*
 * Goes over all pages: fn(addr, first `head` bytes of the page, arg) until it is not 0.
 * head is 4096 at most.  Returns that, 0 at the end, or what reading said.
 */
int tacho_image_scan(const struct tacho_image *m, size_t head,
		     int (*fn)(uint64_t addr, const unsigned char *page, void *arg), void *arg);

#endif
