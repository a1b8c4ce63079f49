/* SPDX-License-Identifier: MIT */
/*
 * device.h - LKST's files in the mounted tree, without FUSE: the device `lkst`,
 * `lkst_etypes`, and class/lkst/NAME/ of event handlers (specification 4.3, 4.7.1,
 * 4.7.2.3.6).
 *
 *	lkst			open, close, ioctl and read only
 *	lkst_etypes		the event types, one line each (fmt/lkst/types.h)
 *	class/lkst/NAME/id	number of the handler
 *	class/lkst/NAME/name
 *	class/lkst/NAME/ctrl	what its functions show and store
 *
 * The requests' structs hold pointers into the caller's memory, which is accessed with
 * process_vm_readv(2) and process_vm_writev(2); inaccessible memory is EINVAL, as in the
 * specification.
 *
 * The first request to the device, or to a handler's files, sets LKST up.  Merely reading all
 * files of a tree creates no session.  After the set-up kernel events are pumped.
 *
 * Any calls may run concurrently in any threads.  A waiting read holds no lock.  Each returns 0
 * or more, or a negative errno.  Paths begin with '/'.
 */
#ifndef TACHO_COMPAT_LKST_DEVICE_H
#define TACHO_COMPAT_LKST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tacho_lkst_files;
struct tacho_lkst_file;

/* The caller, and how to end a waiting call. */
struct tacho_lkst_caller {
	int32_t pid;		/* thread */
	uint32_t uid, gid;
	bool nonblock;
	bool (*interrupted)(void *arg);	/* NULL: never */
	void *arg;
};

/* owner: the user who may use it in addition to the superuser.  NULL: no memory. */
struct tacho_lkst_files *tacho_lkst_files_new(uint32_t owner);
/* All files must be closed. */
void tacho_lkst_files_free(struct tacho_lkst_files *files);

/* 0 and whether it is a directory, its permissions, an inode; -ENOENT: none of LKST's. */
int tacho_lkst_files_stat(struct tacho_lkst_files *files, const char *path, bool *dir,
			  uint32_t *mode, uint64_t *ino);

/*
 * Calls fn for each of LKST's entries of a directory, until it returns not 0; returns that.  "/"
 * has some, too.  -ENOENT: none of LKST's.
 */
int tacho_lkst_files_list(struct tacho_lkst_files *files, const char *path,
			  int (*fn)(const char *name, bool dir, void *arg), void *arg);

/* -ENOENT, -EISDIR, -EACCES (a way the file has not), -EPERM, -ENODEV (no LKST here). */
int tacho_lkst_file_open(struct tacho_lkst_files *files, const char *path, int flags,
			 const struct tacho_lkst_caller *caller,
			 struct tacho_lkst_file **file);
void tacho_lkst_file_close(struct tacho_lkst_file *file);

ssize_t tacho_lkst_file_read(struct tacho_lkst_file *file, void *to, size_t size,
			     uint64_t offset, const struct tacho_lkst_caller *caller);
ssize_t tacho_lkst_file_write(struct tacho_lkst_file *file, const void *from, size_t size,
			      const struct tacho_lkst_caller *caller);

/*
 * ioctl(2).  arg: the number of requests that take one; data: the struct of the others, as the
 * caller has it, which the caller writes back if 0 is returned.
 * -ENOTTY: the file has none such; else as the specification says.
 */
int tacho_lkst_file_ioctl(struct tacho_lkst_file *file, uint32_t request, uint64_t arg,
			  void *data, const struct tacho_lkst_caller *caller);

unsigned int tacho_lkst_file_poll(struct tacho_lkst_file *file);

/* No offsets, no end. */
bool tacho_lkst_file_is_stream(const struct tacho_lkst_file *file);

#endif
