// SPDX-License-Identifier: MIT
#include "session/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/digits.h"
#include "base/text.h"
#include "session/dir.h"
#include "sys/mapping.h"

/* ".NAME.PID.TID": no other thread has it. */
static void own_name(char *p, const char *name)
{
	size_t n = strlen(name);

	*p++ = '.';
	memcpy(p, name, n);
	p += n;
	*p++ = '.';
	p = tacho_digits(p, (uint64_t)getpid());
	*p++ = '.';
	p = tacho_digits(p, (uint64_t)gettid());
	*p = '\0';
}

static void fill(const struct tacho_shared *kind, void *map, uint64_t size)
{
	struct tacho_file_head *head = map;

	kind->fill(map, size);
	head->magic = kind->magic;
	head->signature = tacho_abi_signature();
	tacho_store_release(&head->ready, 1);	/* [ready] */
}

static int make(const struct tacho_shared *kind, int dirfd, uint64_t size)
{
	char name[TACHO_SHARED_NAME_MAX + 48];
	void *map;
	int fd, err;

	own_name(name, kind->name);
	(void)unlinkat(dirfd, name, 0);
	fd = tacho_shm_create(dirfd, name, size);
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, size);
	if (!err)
		err = tacho_shm_map(fd, size, true, false, &map);
	if (!err) {
		fill(kind, map, size);
		tacho_shm_unmap(map, size);
		if (linkat(dirfd, name, dirfd, kind->name, 0) && errno != EEXIST)
			err = -errno;
	}
	(void)unlinkat(dirfd, name, 0);
	close(fd);
	return err;
}

static int map_file(const struct tacho_shared *kind, int fd, void **file)
{
	const struct tacho_file_head *head;
	struct stat st;
	uint64_t size;
	void *map;
	int err;

	if (fstat(fd, &st))
		return -errno;
	size = (uint64_t)st.st_size;
	if (size < kind->min_size)
		return -EPROTO;
	err = tacho_shm_map(fd, size, true, kind->populate, &map);
	if (err)
		return err;
	head = map;
	if (head->magic != kind->magic || !tacho_load_acquire(&head->ready) ||	/* [ready] */
	    head->signature != tacho_abi_signature() || !kind->fits(map, size)) {
		tacho_shm_unmap(map, size);
		return -EPROTO;
	}
	*file = map;
	return 0;
}

int tacho_shared_map(const struct tacho_shared *kind, uint64_t size, void **file, int *keep)
{
	char path[TACHO_PATH_MAX];
	int err = tacho_dir_path(path, sizeof(path));
	int dirfd, fd;

	if (err)
		return err;
	dirfd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	fd = tacho_shm_open(dirfd, kind->name);
	if (fd == -ENOENT && size) {
		err = make(kind, dirfd, size);
		fd = err ? err : tacho_shm_open(dirfd, kind->name);
	}
	close(dirfd);
	if (fd < 0)
		return fd;
	err = map_file(kind, fd, file);
	if (keep && !err)
		*keep = fd;
	else
		close(fd);
	return err;
}
