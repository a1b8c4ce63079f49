/* SPDX-License-Identifier: MIT */
/*
 * mapping.h - files that are mapped by several processes.
 *
 * Blocks are allocated before they are accessed, so that a full file system is an error of the
 * call and never a SIGBUS later.  All calls may run in a traced program's signal handler: they
 * make system calls only and preserve errno.
 */
#ifndef TACHO_SYS_MAPPING_H
#define TACHO_SYS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether a file may end at byte `end` by RLIMIT_FSIZE.  Call it before a file is extended,
 * because the kernel enforces the limit with SIGXFSZ, which kills the process.
 */
bool tacho_shm_may_grow(uint64_t end);

/*
 * Creates `name` in dirfd (O_EXCL, mode 0600), `size` bytes long, sparse.
 * Returns the descriptor, or a negative errno: -EFBIG when RLIMIT_FSIZE forbids it.
 */
int tacho_shm_create(int dirfd, const char *name, uint64_t size);

/*
 * Allocates [offset, offset + len).  Returns 0, -ENOSPC (also when a file in memory would need
 * more than the machine has available: then nothing is allocated), or another negative errno.
 */
int tacho_shm_allocate(int fd, uint64_t offset, uint64_t len);

/*
 * Allocates [offset, offset + len) through a shared mapping: for a file that can no longer be
 * opened.  0 or a negative errno (-EFAULT: the file system is full; -EINVAL: the
 * kernel, before 5.14, cannot).
 */
int tacho_shm_populate(void *map, uint64_t offset, uint64_t len);

/* Opens an existing file for reading and writing; descriptor or -errno. */
int tacho_shm_open(int dirfd, const char *name);

/*
 * Maps `size` bytes of fd, shared.  Refuses (-EINVAL) a file that is shorter.
 * populate: fault all pages in now, for a file that is fully allocated.
 * Returns 0 and *map.
 */
int tacho_shm_map(int fd, uint64_t size, bool writable, bool populate,
		  void **map);

/*
 * Replaces a mapping by private zero pages: a thread that still has a pointer into it accesses
 * harmless memory, and the file is released.
 */
void tacho_shm_retire(void *map, uint64_t size);

/*
 * Excludes [offset, size) of a mapping, a multiple of the page size, from core dumps.  A dump
 * reads every page of a shared mapping, and so would fill the holes of a sparse file.
 */
void tacho_shm_undumped(void *map, uint64_t offset, uint64_t size);

/* Private zeroed memory, for contexts where malloc is forbidden; or NULL. */
void *tacho_shm_private(uint64_t size);

void tacho_shm_unmap(void *map, uint64_t size);

#endif
