/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the control files of the kernel's tracer (tracefs), for the events of all
 * traced programs and of the kernel together, as plain functions on paths.
 *
 * The reference is the kernel: Documentation/trace/ftrace.rst and events.rst, and where
 * these are silent, what Linux 6.12 does.  docs/mount.md lists the differences.
 *
 * 1. What is behind it
 *
 *	/			the session that the tree is about
 *	/instances/NAME		another session of this machine
 *
 *	A session's program events live in its rings, which are shared memory and need
 *	nobody.  Its kernel events come from one tracing instance in the
 *	kernel (tracefs/instance.h, kept), which is made when a file is first
 *	used that needs it.  Both go on when the tree is closed without
 *	destroying them; a tree that is opened later finds them.
 *
 *	file			program events			kernel events
 *	filter, trigger		session/command.h		the instance's own file; the
 *								engine, for what this kernel lacks
 *	trace, trace_pipe ..	rings, read where they are	store.h: taken from the kernel,
 *								kept here
 *	markers, inject		written to the session's ring
 *
 *	An event that both have is switched in both; its format and id are the kernel's.
 *	Ids of program events are this tree's: 32768 and up.
 *
 * 2. Reading
 *
 *	trace does not consume, trace_pipe and trace_pipe_raw do.  What is consumed
 *	is told by a mark for each CPU: a time, and how many records at just
 *	that time.  Emptying `trace` sets the marks to now.
 *
 * 3. Who may run at once
 *
 *	Any calls, from any threads, on any files, also on the same one; a file's reads
 *	are put in a row.  A read that waits holds no lock that others need.
 *	No call comes from a signal handler.
 *
 * Every call returns 0 or more, or a negative errno: the one the kernel gives for the
 * same thing.  Paths begin with '/', and "/" is the top.
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
	const char *session;	/* the top's; made if there is none.  NULL: "tracing" */
	uint64_t buffer_size;	/* bytes per CPU of sessions that are made; 0: 2 MiB */
	bool no_kernel;		/* programs only */
	uint32_t uid, gid;	/* owner of all files */
	bool gid_reads;		/* the group may do what the owner may */
	/* sessions that are made outlive the tree, if its server is killed */
	bool keep;
};

/*
 * tacho_tree_open - make a tree, and the top's session if there is none.
 *
 * Kernels that we may not trace, or that have no tracing, are left out: see
 * tacho_tree_without().  Returns 0, or a negative errno with a sentence.
 */
int tacho_tree_open(struct tacho_tree **tree, const struct tacho_tree_config *config,
		    struct tacho_diag *d);

/*
 * Frees the tree.  All its files must be closed.  destroy: sessions that this tree made,
 * and their instances in the kernel, are destroyed.
 */
void tacho_tree_close(struct tacho_tree *tree, bool destroy);

/* Why there are no kernel events, in a sentence; NULL: there are. */
const char *tacho_tree_without(const struct tacho_tree *tree);

struct tacho_tree_stat {
	uint64_t ino;		/* the same for the same path as long as it is there */
	uint32_t mode;		/* S_IFDIR or S_IFREG, and permissions */
	uint32_t uid, gid;
	/*
	 * It can go without a call to this tree: what programs have, what the kernel was told by
	 * text, a session.  All else is there as long as the directory that it is in.
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

/* Kept by this tree for as long as it lives.  UINT32_MAX: as it is. */
int tacho_tree_chmod(struct tacho_tree *tree, const char *path, uint32_t mode);
int tacho_tree_chown(struct tacho_tree *tree, const char *path, uint32_t uid,
		     uint32_t gid);

/* truncate(2) of a path: does nothing, successfully; -EACCES, -EISDIR, -ENOENT */
int tacho_tree_truncate(struct tacho_tree *tree, const char *path);

/* Who asks, and how a call that waits is ended. */
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
 * Whoever removes the instance waits for that, unless somebody uses the file again.
 */
void tacho_tree_flush(struct tacho_tree_file *file);

void tacho_tree_close_file(struct tacho_tree_file *file);

/*
 * tacho_tree_read - size bytes at most, from offset.
 *
 * A file whose text is made when it is read makes it anew at offset 0.  Streams ignore
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
