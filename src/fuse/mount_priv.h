/* SPDX-License-Identifier: MIT */
/*
 * mount_priv.h - shared by the files of this folder.
 *
 *	mount.c		mounting; attributes, files
 *	nodes.c		the files known to the kernel, by number
 *	kept.c		texts that the kernel caches
 *	list.c		directories
 *	wait.c		who waits in poll(2)
 *
 * What the kernel caches, and how the caches stay valid
 *
 *	A request to this process takes two context switches, which is more than most answers
 *	take.  So the kernel caches what cannot change without this process, which invalidates it
 *	on change.
 *
 *	K1  Attributes are cached without limit: chmod and chown are requests to this process, for
 *	sizes see K3. K2  Names are cached without limit if their files cannot disappear without
 *	this process; for others (tacho_tree_stat: may_go) the kernel asks each time.  Missing
 *	names are never cached.
 *	K3  Texts of events' files (tacho_tree_is_kept), when they were opened for reading:
 *		a. open() generates the text.  If it equals the kernel's cached text, the kernel
 *		   uses its cache, and requests neither read() nor the end of the file.  Otherwise
 *		   the kernel gets the new text.  So an open() always sees the current text.
 *		b. A write through this mount, to any file, invalidates the cached texts of open
 *		   files before it returns.
 *		c. Changes without such a write (by a trigger or another tool) are polled every
 *		   POLL_NS in open files: a reader that seeks to the file's beginning sees them
 *		   after that time.
 *	    Such a file's size is that of its text, after it was read.  After a write the kernel
 *	    assumes the file has the length of the written data, until it asks: a read at that
 *	    time would get zeros after the text.  So a file that is open for writing, or was
 *	    recently (WRITTEN_NS), is read here (K4).
 *	K4  All other files are read and written here (direct_io), their sizes are 0.
 *
 * Pages of trace_pipe_raw
 *
 *	read() is as of K4.  splice() takes pages from the kernel's cache, up to the file's size.
 *	So
 *	such a file has no end while it is open, nothing is read ahead (max_readahead), and each
 *	page that the kernel requests is a new one.  Consumed pages are dropped periodically
 *	(PAGES_KEPT), and all of them when the file is opened and closed.
 *
 * Locks, in the order in which they are taken
 *	node->opening	generating a cached text; the kernel may wait for its pages under it
 *	m->lock		lists of nodes
 *	node->lock	a text.  No lock is taken under it, so reading never waits long
 *	m->waiting	who waits in poll(2)
 */
#ifndef TACHO_FUSE_MOUNT_PRIV_H
#define TACHO_FUSE_MOUNT_PRIV_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <pthread.h>

#include "compat/lkst/device.h"
#include "fuse/mount.h"

#define POLL_NS		10000000	/* interval for checking polled and cached files */
#define FOR_GOOD	1e6		/* seconds that the kernel caches what cannot change */
#define WRITTEN_NS	1000000000
#define PAGES_KEPT	(INT64_C(1) << 20)	/* bytes of returned pages */
#define PAGED_SIZE	(INT64_C(1) << 60)	/* of an open file of pages */

/* A file or directory that the kernel knows; its number is the address. */
struct tacho_fuse_node {
	struct tacho_fuse_node *next;	/* of the same hash */
	struct tacho_fuse_node *parent;	/* a reference */
	uint64_t refs;			/* m->lock: the kernel's, children's, users' */
	bool gone;			/* m->lock: another one may have its name */

	/* kept.c */
	pthread_mutex_t opening;
	pthread_mutex_t lock;
	char *text;
	size_t len;
	bool valid;			/* believed to be the file's current text */
	bool given;			/* the kernel may have pages of this one, or an older one */
	uint32_t opens;
	struct tacho_fuse_node *next_open;	/* m->lock */
	uint32_t writers;		/* atomic: how often it is open for writing */
	int64_t written;		/* atomic: when a writer closed it */

	uint32_t paged;			/* atomic: how often it is open, if it is of pages */
	/* under lock: the page that was asked for last, how often it was not there; when one was */
	off_t asked;
	uint32_t refusals;
	int64_t spliced;
	char path[];
};

struct tacho_fuse_waiter;

struct tacho_fuse_mount {
	struct tacho_tree *tree;
	struct tacho_lkst_files *lkst;
	const struct tacho_mount_config *config;
	struct fuse_session *se;
	pthread_mutex_t lock;
	struct tacho_fuse_node **slot;	/* nodes by hash of parent and name */
	uint32_t nr_slots, nr_nodes;	/* a power of two */
	struct tacho_fuse_node *root;
	struct tacho_fuse_node *open;	/* those that have a text and are open */
	uint32_t nr_open;
	pthread_mutex_t waiting;
	struct tacho_fuse_waiter *waiters;
	pthread_t poller;
	bool polling, stop;
	int failed;			/* error of serving: -errno */
};

/* ---- nodes.c ---- */

int tacho_fuse_nodes_init(struct tacho_fuse_mount *m);
void tacho_fuse_nodes_release(struct tacho_fuse_mount *m);

struct tacho_fuse_node *tacho_fuse_node(struct tacho_fuse_mount *m, fuse_ino_t ino);
fuse_ino_t tacho_fuse_ino(const struct tacho_fuse_mount *m,
			  const struct tacho_fuse_node *node);

/* The node of that name, created if necessary, with a reference.  NULL: no memory. */
struct tacho_fuse_node *tacho_fuse_node_get(struct tacho_fuse_mount *m,
					    struct tacho_fuse_node *parent,
					    const char *name);
void tacho_fuse_node_put(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			 uint64_t refs);
/* Marks a node as removed: a later file of that name is another node. */
void tacho_fuse_node_gone(struct tacho_fuse_mount *m, struct tacho_fuse_node *parent,
			  const char *name);

/* Appends "/name" to the parent's path; false: too long to exist. */
bool tacho_fuse_path(const struct tacho_fuse_node *parent, const char *name, char *path,
		     size_t size);
#define TACHO_FUSE_PATH	((size_t)1024)

/* ---- attributes (mount.c) ---- */

bool tacho_fuse_is_lkst(const char *path);

/* An entry but its number: 0 or -errno. */
int tacho_fuse_entry(struct tacho_fuse_mount *m, const char *path,
		     struct fuse_entry_param *e);
/* Converts a tree's entry for the kernel. */
void tacho_fuse_entry_of(const struct tacho_tree_stat *st, struct fuse_entry_param *e);
/* The size of a node that is known. */
off_t tacho_fuse_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);

/* ---- kept.c ---- */

/*
 * Called when a file is opened for reading: generates its text and ensures that the kernel has
 * it.  True: the kernel may use its cache until tacho_fuse_kept_close().  False: the text cannot
 * be cached.
 */
bool tacho_fuse_kept_open(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			  struct tacho_tree_file *file);
/* Counts an open for writing (1), or its end (-1). */
void tacho_fuse_kept_write(struct tacho_fuse_node *node, int more);
void tacho_fuse_kept_close(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);

/* Bytes of the text; reading it again if it may have changed. */
off_t tacho_fuse_kept_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);
void tacho_fuse_kept_read(struct tacho_fuse_node *node, fuse_req_t req, size_t size,
			  off_t off);

/* Called after a write (K3 b). */
void tacho_fuse_kept_forget(struct tacho_fuse_mount *m);
/* K3 c. */
void tacho_fuse_kept_look(struct tacho_fuse_mount *m);

/* ---- list.c ---- */

void tacho_fuse_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void tacho_fuse_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			struct fuse_file_info *fi);
void tacho_fuse_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			    struct fuse_file_info *fi);
void tacho_fuse_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ---- wait.c ---- */

void tacho_fuse_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		     struct fuse_pollhandle *handle);
/* Removes all waiters of a file. */
void tacho_fuse_forget_waiters(struct tacho_fuse_mount *m, uint64_t fh);
int64_t tacho_fuse_now(void);	/* ns */
/* Starts the thread that polls for changes without notification. */
int tacho_fuse_poller_start(struct tacho_fuse_mount *m);
void tacho_fuse_poller_stop(struct tacho_fuse_mount *m);

/* ---- an open file: fi->fh ---- */

#define TACHO_FUSE_LKST	UINT64_C(1)	/* in fi->fh: the pointer is a file of LKST's */
#define TACHO_FUSE_KEPT	UINT64_C(2)	/* ... its node's text is what is read */

static inline struct tacho_lkst_file *tacho_fuse_lkst_file(uint64_t fh)
{
	return fh & TACHO_FUSE_LKST ?
	       (struct tacho_lkst_file *)(uintptr_t)(fh & ~TACHO_FUSE_LKST) : NULL;
}

static inline struct tacho_tree_file *tacho_fuse_tree_file(uint64_t fh)
{
	return (struct tacho_tree_file *)(uintptr_t)(fh & ~TACHO_FUSE_KEPT);
}

#endif
