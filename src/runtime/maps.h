/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the files mapped in this process, and their identity.
 *
 *	maps.c		/proc/self/maps, line by line
 *	objects.c	writes the code mappings to a session (session/objects.h)
 *	symbols.c	a function's addresses in this process
 *
 * All of it may run in any thread and any signal handler: it makes system calls
 * only, takes memory from private mappings, and reads files with pread(), so that a file that is
 * truncated at the same time causes no fault.  It reads mapped memory by system calls, which
 * return an error if another thread unmaps it. errno is not preserved here; the callers do that.
 */
#ifndef TACHO_RUNTIME_MAPS_H
#define TACHO_RUNTIME_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of a file. */
struct runtime_map {
	uint64_t start, end, offset;
	uint64_t dev_major, dev_minor, inode;
	bool code;		/* executable */
	bool deleted;		/* the file has no name any more */
	const char *path;	/* as the kernel prints it: "\012" is a newline */
	size_t path_len;
};

/* Returns whether to continue. */
typedef bool runtime_map_fn(const struct runtime_map *m, void *arg);

/* Calls fn for each mapping of a file, by address.  0 or -errno. */
int tacho_maps_each(runtime_map_fn *fn, void *arg);

/* Copies this process's memory; false: not all of it is mapped. */
bool tacho_memory_read(uint64_t addr, void *to, size_t size);

/*
 * The addresses of a function of this process, [*start, *end): the first one of
 * that name in the program itself, else in the first library that has one, by
 * the symbol tables in the files that are mapped.  False: not found.
 */
bool tacho_function_find(const char *name, uint64_t *start, uint64_t *end);

/* The same for the function that contains an address. */
bool tacho_function_at(uint64_t addr, uint64_t *start, uint64_t *end);

#endif
