/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the control files of the kernel's tracer (tracefs), for the events of all
 * traced programs and of the kernel together, as plain functions on paths.
 *
 * The reference is the kernel: Documentation/trace/ftrace.rst and events.rst, and where
 * these are silent, what Linux 6.12 does.  docs/mount.md lists the differences.
 *
 * 1. What the files show
 *
 *	/			the session of the tree
 *	/instances/NAME		another session of this machine
 *
 *	A session's program events are in its rings, which are shared memory and need no process.
 *	Its kernel events come from one tracing instance in the kernel (tracefs/instance.h, kept),
 *	which is created when it is first needed.  Both continue if the tree is closed without
 *	destroying them; a tree that is opened later uses them.
 *
 *	file			program events			kernel events
 *	filter, trigger		session/command.h		the instance's own file; the
 *								engine, for what this kernel lacks
 *	trace, trace_pipe ..	rings, read in place		store.h: read from the kernel,
 *							stored here
 *	markers, inject		written to the session's ring
 *
 *	An event that exists in both is enabled in both; its format and id are the kernel's. Ids
 *	of program events are this tree's: 32768 and up.
 *
 * 2. Reading
 *
 *	trace does not consume, trace_pipe and trace_pipe_raw do.  The read position of each CPU
 *	is a time, and the number of records read with exactly that time.  Emptying `trace` sets
 *	the positions to now.
 *
 * 3. What can run concurrently
 *
 *	Any calls, from any threads, on any files, also on the same file; reads of one file are
 *	serialized.  A waiting read holds no lock that others need.  Signal handlers must not
 *	call.
 *
 * Every call returns 0 or more, or a negative errno: that of the kernel for the same operation.
 * Paths begin with '/', and "/" is the top.
 */
#ifndef TACHO_COMPAT_FTRACE_TREE_H
#define TACHO_COMPAT_FTRACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct tacho_tree;
struct tacho_tree_file;

struct tacho_tree_config {
	const char *session;	/* the top's; created if it does not exist.  NULL: "tracing" */
	uint64_t buffer_size;	/* bytes per CPU of created sessions; 0: 2 MiB */
	bool no_kernel;		/* programs only */
	uint32_t uid, gid;	/* owner of all files */
	bool gid_reads;		/* the group may do what the owner may */
	/* created sessions outlive the tree, if its server is killed */
	bool keep;
};

/*
 * tacho_tree_open - create a tree, and the top's session if it does not exist.
 *
 * If the kernel may not be traced, or has no tracing, the tree has no kernel events: see
 * tacho_tree_without().  Returns 0, or a negative errno with d filled in.
 */
int tacho_tree_open(struct tacho_tree **tree, const struct tacho_tree_config *config,
		    struct tacho_diag *d);

/*
 * Frees the tree.  All its files must be closed.  destroy: sessions that this tree created, and
 * their instances in the kernel, are destroyed.
 */
void tacho_tree_close(struct tacho_tree *tree, bool destroy);

/* The message why there are no kernel events; NULL: there are. */
const char *tacho_tree_without(const struct tacho_tree *tree);

struct tacho_tree_stat {
	uint64_t ino;		/* constant for a path while it exists */
	uint32_t mode;		/* S_IFDIR or S_IFREG, and permissions */
	uint32_t uid, gid;
	/*
	 * The file can disappear without a call to this tree: events of programs, dynamic events
	 * of the kernel, sessions.  Other files exist as long as their directory.
	 */
	bool may_go;
};

/* -ENOENT, -ENOTDIR */
int tacho_tree_stat(struct tacho_tree *tree, const char *path,
		    struct tacho_tree_stat *st);

/* Calls fn for each entry but . and ..; until it returns not 0.  Returns that. */
int tacho_tree_list(struct tacho_tree *tree, const char *path,
		    int (*fn)(const char *name, const struct tacho_tree_stat *st, void *arg),
		    void *arg);

/*
 * Below /instances only: -EPERM elsewhere; -EEXIST, -ENAMETOOLONG, -EINVAL (a name that a
 * session cannot have), -ENOSPC
 */
int tacho_tree_mkdir(struct tacho_tree *tree, const char *path);
/* -EBUSY while any file of it is open; -EPERM, -ENOENT */
int tacho_tree_rmdir(struct tacho_tree *tree, const char *path);

/* Valid during the tree's lifetime.  UINT32_MAX: unchanged. */
int tacho_tree_chmod(struct tacho_tree *tree, const char *path, uint32_t mode);
int tacho_tree_chown(struct tacho_tree *tree, const char *path, uint32_t uid,
		     uint32_t gid);

/* truncate(2) of a path: does nothing, successfully; -EACCES, -EISDIR, -ENOENT */
int tacho_tree_truncate(struct tacho_tree *tree, const char *path);

/* The caller, and how to end a waiting call. */
struct tacho_tree_caller {
	int32_t pid;		/* thread: what it writes is recorded as its */
	bool nonblock;		/* -EAGAIN rather than wait */
	bool passing;		/* what he opens and reads is not in use: its end is waited for */
	bool (*interrupted)(void *arg);	/* NULL: never */
	void *arg;
};

/*
 * tacho_tree_open_file - open a file.
 *
 * flags: O_RDONLY, O_WRONLY or O_RDWR, with O_TRUNC, O_APPEND, O_NONBLOCK; O_TRUNC
 * means what it means to the kernel for that file: in many nothing.
 * Returns 0 and *file, or -ENOENT, -EISDIR, -EACCES (a way the file has not),
 * -EBUSY, -ENODEV, -ENOMEM.
 */
int tacho_tree_open_file(struct tacho_tree *tree, const char *path, int flags,
			 const struct tacho_tree_caller *caller,
			 struct tacho_tree_file **file);

/*
 * A descriptor of the file was closed; if it is the last one, tacho_tree_close_file() follows.
 * The remover of the instance waits for that, unless the file is used again.
 */
void tacho_tree_flush(struct tacho_tree_file *file);

void tacho_tree_close_file(struct tacho_tree_file *file);

/*
 * tacho_tree_read - size bytes at most, from offset.
 *
 * A file whose text is made when it is read makes it again at offset 0.  Streams ignore
 * the offset.  Returns the bytes, 0 at the end; -EAGAIN, -EINTR, -EINVAL.
 */
ssize_t tacho_tree_read(struct tacho_tree_file *file, void *to, size_t size,
			uint64_t offset, const struct tacho_tree_caller *caller);

/* One write() of a user: one command.  Returns the bytes taken, or what is wrong. */
ssize_t tacho_tree_write(struct tacho_tree_file *file, const void *from, size_t size,
			 const struct tacho_tree_caller *caller);

/* POLLIN, POLLOUT that are ready now. */
unsigned int tacho_tree_poll(struct tacho_tree_file *file);

/* Whether the file's contents are a stream: no offsets, no end but for good. */
bool tacho_tree_is_stream(const struct tacho_tree_file *file);

/* Whether a stream is of pages, each of which one read hands out whole (trace_pipe_raw). */
bool tacho_tree_is_paged(const struct tacho_tree_file *file);

/*
 * Whether it is a text that is short, quickly made and rarely another one: one of the many
 * files of events.  Who shows it may keep it, as long as he looks whether it changed.
 */
bool tacho_tree_is_kept(const struct tacho_tree_file *file);

#endif
