/* SPDX-License-Identifier: MIT */
/*
 * maps.h - which files are mapped in this process, and what they are.
 *
 *	maps.c		/proc/self/maps, line by line
 *	objects.c	tells a session which code lies where (session/objects.h)
 *	symbols.c	a function's addresses in this process
 *
 * All of it may run in any thread and any signal handler: it makes system calls
 * only, takes memory from mappings of its own, and reads files with pread(), so that
 * none that is cut short meanwhile makes it fault.  Of what is mapped it reads through
 * the kernel, as memory that another thread unmaps is an error there.  errno is not
 * preserved here; the callers outside of this folder's inside do that.
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

/* Returns whether to go on. */
typedef bool runtime_map_fn(const struct runtime_map *m, void *arg);

/* Calls fn for each mapping of a file, by address.  0 or -errno. */
int tacho_maps_each(runtime_map_fn *fn, void *arg);

/* Copies our own memory; false when not all of it is there. */
bool tacho_memory_read(uint64_t addr, void *to, size_t size);

/*
 * The addresses of a function of this process, [*start, *end): the first one of
 * that name in the program itself, else in the first library that has one, by
 * the symbol tables in the files that are mapped.  False: there is none.
 */
bool tacho_function_find(const char *name, uint64_t *start, uint64_t *end);

/* The same of the function that an address lies in. */
bool tacho_function_at(uint64_t addr, uint64_t *start, uint64_t *end);

#endif
