/* SPDX-License-Identifier: MIT */
/*
 * shared.h - a file of the run-time directory that all programs of one compatibility layer map.
 *
 * It begins with struct tacho_file_head.  The first program creates it completely, with all its
 * blocks, under a private name, and then links it to its real name.  So no process sees an
 * incomplete file, and of several creators one wins.
 *
 * The calls make system calls only, if fill() does: any thread, any signal handler.
 */
#ifndef TACHO_SESSION_SHARED_H
#define TACHO_SESSION_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "tacho/abi/shm.h"

#define TACHO_SHARED_NAME_MAX	16u

struct tacho_shared {
	const char *name;	/* in the run-time directory, shorter than SHARED_NAME_MAX */
	uint64_t magic;
	uint64_t min_size;	/* bytes that fits() may read */
	bool populate;		/* fault all pages in when mapping, so that no later access waits
				 * for memory */
	/* Initialises a new file, which is zeroed except for its head. */
	void (*fill)(void *file, uint64_t size);
	/* Whether it has this version's layout. */
	bool (*fits)(const void *file, uint64_t size);
};

/*
 * Maps the file; if it does not exist, creates it with `size` bytes (0: does not create it). fd:
 * receives its descriptor, for locking; NULL: closes it.  Returns 0 and *file; -ENOENT (no
 * run-time directory, or no file), -EPROTO (of another version), or an error of the system.  The
 * caller unmaps it with tacho_shm_unmap().
 */
int tacho_shared_map(const struct tacho_shared *kind, uint64_t size, void **file, int *fd);

#endif
