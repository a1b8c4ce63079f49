/* SPDX-License-Identifier: MIT */
/*
 * shared.h - a file of the run-time directory, mapped by all who trace in one way.
 *
 * It begins with struct tacho_file_head and is made, whole and with all its blocks, by whoever
 * comes first: under a name of his own, linked to the one it is to have when it is ready.  So
 * nobody sees a part of it, and of several that make it one wins.
 *
 * Calls here make system calls only, as far as fill() does: any thread, any signal handler.
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
	uint64_t min_size;	/* bytes that fits() may look at */
	bool populate;		/* all pages are there at once: nobody has to wait for memory */
	/* Puts what it begins with into a new one, zeroed, but for its head. */
	void (*fill)(void *file, uint64_t size);
	/* Whether it has this version's layout. */
	bool (*fits)(const void *file, uint64_t size);
};

/*
 * Maps the file; if it is not there it is made, `size` bytes long (0: it is not).  fd: its
 * descriptor, to lock it; NULL: closed.  0 and *file; -ENOENT (no run-time directory, or no
 * file), -EPROTO (made by another version), or what the system said.  To be given to
 * tacho_shm_unmap().
 */
int tacho_shared_map(const struct tacho_shared *kind, uint64_t size, void **file, int *fd);

#endif
