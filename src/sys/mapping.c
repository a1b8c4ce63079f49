// SPDX-License-Identifier: MIT
#include "sys/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

#define TMPFS_TYPE	0x01021994	/* fstatfs() f_type */
#define ASK_FROM	(UINT64_C(64) << 20)	/* bytes that are worth a look at what is free */

/* Ends a call: restores errno, returns the result as -errno. */
static int done(int saved, int err)
{
	errno = saved;
	return err;
}

bool tacho_shm_may_grow(uint64_t end)
{
	int saved = errno;
	struct rlimit limit;
	bool may = getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
		   end <= limit.rlim_cur;

	errno = saved;
	return may;
}

int tacho_shm_create(int dirfd, const char *name, uint64_t size)
{
	int saved = errno;
	int fd, err;

	if (!tacho_shm_may_grow(size))
		return -EFBIG;
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return done(saved, -errno);
	if (ftruncate(fd, (off_t)size) < 0) {
		err = -errno;
		close(fd);
		(void)unlinkat(dirfd, name, 0);
		return done(saved, err);
	}
	return done(saved, fd);
}

/* The number after a name in /proc/meminfo, in bytes; 0: there is none. */
static uint64_t meminfo_bytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint64_t v = 0;

	if (!at)
		return 0;
	for (at += strlen(name); *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	return v << 10;
}

/* Bytes that the machine can allocate without killing a process; UINT64_MAX: not known. */
static uint64_t memory_available(void)
{
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	char text[1024];
	uint64_t bytes;
	ssize_t n;

	if (fd < 0)
		return UINT64_MAX;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	bytes = meminfo_bytes(text, "\nMemAvailable:");
	return bytes ? bytes + meminfo_bytes(text, "\nSwapFree:") : UINT64_MAX;
}

/*
 * Whether there is memory for so many bytes of a file.  Asked first, because a tmpfs that is
 * larger than what is free allocates until the kernel has to kill a process.
 */
static bool has_memory(int fd, uint64_t len)
{
	struct statfs fs;

	if (len < ASK_FROM || fstatfs(fd, &fs) || (uint64_t)fs.f_type != TMPFS_TYPE)
		return true;
	return len <= memory_available();
}

int tacho_shm_allocate(int fd, uint64_t offset, uint64_t len)
{
	int saved = errno;
	int tries = 100;

	if (!has_memory(fd, len))
		return done(saved, -ENOSPC);
	/* a signal may interrupt a long allocation: allocated blocks stay allocated */
	while (fallocate(fd, 0, (off_t)offset, (off_t)len) < 0) {
		if (errno != EINTR || !--tries)
			return done(saved, -errno);
	}
	return done(saved, 0);
}

int tacho_shm_populate(void *map, uint64_t offset, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = offset & ~(page - 1);
	int saved = errno;
	int tries = 100;

	while (madvise((char *)map + from, offset + len - from, MADV_POPULATE_WRITE) < 0) {
		if (errno != EINTR || !--tries)
			return done(saved, -errno);
	}
	return done(saved, 0);
}

int tacho_shm_open(int dirfd, const char *name)
{
	int saved = errno;
	int fd = openat(dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	return done(saved, fd < 0 ? -errno : fd);
}

int tacho_shm_map(int fd, uint64_t size, bool writable, bool populate,
		  void **map)
{
	int saved = errno;
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return done(saved, -errno);
	if (st.st_size < 0 || (uint64_t)st.st_size < size || !size)
		return done(saved, -EINVAL);
	p = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
		 MAP_SHARED | (populate ? MAP_POPULATE : 0), fd, 0);
	if (p == MAP_FAILED)
		return done(saved, -errno);
	*map = p;
	return done(saved, 0);
}

void tacho_shm_retire(void *map, uint64_t size)
{
	int saved = errno;

	(void)mmap(map, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
		   -1, 0);
	errno = saved;
}

void *tacho_shm_private(uint64_t size)
{
	int saved = errno;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void tacho_shm_unmap(void *map, uint64_t size)
{
	int saved = errno;

	if (map)
		(void)munmap(map, size);
	errno = saved;
}

void tacho_shm_undumped(void *map, uint64_t offset, uint64_t size)
{
	int saved = errno;

	/* without kernel support the range is only dumped */
	(void)madvise((char *)map + offset, size - offset, MADV_DONTDUMP);
	errno = saved;
}
