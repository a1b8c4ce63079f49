// SPDX-License-Identifier: MIT
#include "session/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/atomic.h"
#include "sys/mapping.h"

static bool is_memory(const char *path)
{
	struct statfs s;

	return !statfs(path, &s) && s.f_type == TMPFS_MAGIC;
}

int tacho_dir_path(char *path, size_t size)
{
	const char *env = secure_getenv("TACHO_DIR");
	const char *run = secure_getenv("XDG_RUNTIME_DIR");
	uid_t uid = geteuid();
	int n;

	if (env && env[0] == '/')
		n = snprintf(path, size, "%s", env);
	else if (!uid && is_memory("/run"))
		n = snprintf(path, size, "/run/tacho");
	else if (uid && run && run[0] == '/')
		n = snprintf(path, size, "%s/tacho", run);
	else
		n = snprintf(path, size, "/dev/shm/tacho-%u", (unsigned int)uid);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Opens the directory and checks its owner and mode. */
static int open_checked(struct tacho_dir *dir, bool create,
			struct tacho_diag *d)
{
	struct stat st;

	if (create && mkdir(dir->path, 0700) < 0 && errno != EEXIST)
		return tacho_diag(d, -errno, 0, "cannot make '%s': %s", dir->path,
				  strerror(errno));
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir->fd < 0 && errno == ENOENT)
		return tacho_diag(d, -ENOENT, 0, "nothing is traced here: "
				  "'%s' does not exist (is TACHO_DIR right?)",
				  dir->path);
	if (dir->fd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", dir->path,
				  strerror(errno));
	if (fstat(dir->fd, &st) < 0 ||
	    (st.st_uid != geteuid() && geteuid() != 0) || st.st_mode & 077) {
		close(dir->fd);
		return tacho_diag(d, -EPERM, 0, "'%s' must belong to you and be "
				  "closed to others (chmod 700)", dir->path);
	}
	return 0;
}

/* Creates the registry under the directory's own lock, if it does not exist. */
static int make_registry(struct tacho_dir *dir)
{
	struct tacho_registry *reg;
	void *map;
	int fd, err;

	fd = tacho_shm_open(dir->fd, "registry");
	if (fd >= 0 || fd != -ENOENT)
		return fd;
	(void)unlinkat(dir->fd, "registry.new", 0);
	fd = tacho_shm_create(dir->fd, "registry.new", sizeof(*reg));
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, sizeof(*reg));
	if (!err)
		err = tacho_shm_map(fd, sizeof(*reg), true, false, &map);
	if (err) {
		(void)unlinkat(dir->fd, "registry.new", 0);
		close(fd);
		return err;
	}
	reg = map;
	reg->head.magic = TACHO_MAGIC_REGISTRY;
	reg->head.signature = tacho_abi_signature();
	tacho_store_release(&reg->head.ready, 1);	/* [ready] */
	tacho_shm_unmap(map, sizeof(*reg));
	if (renameat(dir->fd, "registry.new", dir->fd, "registry") < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int open_registry(struct tacho_dir *dir, bool create,
			 struct tacho_diag *d)
{
	void *map;
	int err;

	if (create) {
		if ((mkdirat(dir->fd, "proc", 0700) < 0 && errno != EEXIST) ||
		    (mkdirat(dir->fd, "sessions", 0700) < 0 && errno != EEXIST))
			return tacho_diag(d, -errno, 0, "cannot make a directory in '%s': %s",
					  dir->path, strerror(errno));
		while (flock(dir->fd, LOCK_EX) < 0 && errno == EINTR)
			;
		dir->lock_fd = make_registry(dir);
		(void)flock(dir->fd, LOCK_UN);
	} else {
		dir->lock_fd = tacho_shm_open(dir->fd, "registry");
	}
	if (dir->lock_fd < 0)
		return tacho_diag(d, dir->lock_fd, 0, "cannot open '%s/registry': %s",
				  dir->path, strerror(-dir->lock_fd));
	err = tacho_shm_map(dir->lock_fd, sizeof(*dir->reg), true, false, &map);
	if (!err) {
		dir->reg = map;
		if (dir->reg->head.magic == TACHO_MAGIC_REGISTRY &&
		    dir->reg->head.signature == tacho_abi_signature())
			return 0;
		tacho_shm_unmap(map, sizeof(*dir->reg));
		err = -EPROTO;
	}
	close(dir->lock_fd);
	/* the registry of another version may be smaller */
	if (err == -EINVAL)
		err = -EPROTO;
	if (err != -EPROTO)
		return tacho_diag(d, err, 0, "cannot map '%s/registry': %s", dir->path,
				  strerror(-err));
	return tacho_diag(d, err, 0, "'%s' was made by another version of tacho; "
			  "remove it when nothing traced is running", dir->path);
}

int tacho_dir_open(struct tacho_dir *dir, bool create, struct tacho_diag *d)
{
	int err;

	*dir = (struct tacho_dir){ .fd = -1, .lock_fd = -1 };
	if (tacho_dir_path(dir->path, sizeof(dir->path)))
		return tacho_diag(d, -ENAMETOOLONG, 0, "the run-time directory's "
				  "path is longer than %zu bytes",
				  sizeof(dir->path) - 1);
	err = open_checked(dir, create, d);
	if (err)
		return err;
	err = open_registry(dir, create, d);
	if (err) {
		close(dir->fd);
		dir->fd = -1;
	}
	return err;
}

void tacho_dir_close(struct tacho_dir *dir)
{
	if (dir->fd < 0)
		return;
	tacho_shm_unmap(dir->reg, sizeof(*dir->reg));
	close(dir->lock_fd);
	close(dir->fd);
	dir->fd = -1;
}

int tacho_dir_lock(struct tacho_dir *dir)
{
	while (flock(dir->lock_fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void tacho_dir_unlock(struct tacho_dir *dir)
{
	(void)flock(dir->lock_fd, LOCK_UN);
}
