/* SPDX-License-Identifier: MIT */
/*
 * mount_priv.h - what the files of this folder share.
 *
 *	mount.c		mounting; attributes, files
 *	nodes.c		which files the kernel knows, by number
 *	kept.c		texts that the kernel keeps
 *	list.c		directories
 *	wait.c		who waits in poll(2)
 *
 * What the kernel keeps, and how it stays true
 *
 *	A question to this process takes two switches of context, which is more than most answers
 *	take.  So the kernel keeps what cannot change without us, and is told when it does.
 *
 *	K1  Attributes are kept for good: chmod and chown come to us, sizes see K3.
 *	K2  Names are kept for good, where what they name cannot go without us; of others
 *	    (tacho_tree_stat: may_go) the kernel asks each time.  That something is not there
 *	    is never kept.
 *	K3  Texts of events' files (tacho_tree_is_kept), when they were opened for reading:
 *		a. At open() the text is made.  If it is the one that the kernel keeps
 *		   for this file, the kernel goes on with that, and neither read() nor the
 *		   end of the file is asked for.  Else it is given the new one.
 *		   So an open() always sees what there is.
 *		b. A write through this mount, of whatever file, makes the kernel forget the
 *		   texts of files that are open just now, before the write returns.
 *		c. What changes without a write here (a trigger, another tool) is looked for
 *		   every POLL_NS, in files that are open: that is when a reader who goes back
 *		   to the file's beginning sees it.
 *	    Such a file's size is that of its text, once it was read.
 *	    A write makes the kernel take the file for as long as what was written, until it
 *	    asks: who reads just then would get zeros behind the text.  So whoever opens a file
 *	    that is open for writing, or was a moment ago (WRITTEN_NS), reads it here (K4).
 *	K4  All other files are read and written here (direct_io), their sizes are 0.
 *
 * Pages of trace_pipe_raw
 *
 * 	read() is as of K4.  splice() takes pages from the kernel's cache, up to the file's size.
 * 	So
 *	such a file has no end while it is open, nothing is read ahead (max_readahead), and each
 *	page that the kernel asks for is a new one.  Pages that were taken are dropped now
 *	and then (PAGES_KEPT), and all of them when the file is opened and closed.
 *
 * Locks, in the order in which they are taken
 *	node->opening	who makes a kept text; the kernel may wait for its pages under it
 *	m->lock		lists of nodes
 *	node->lock	a text.  Nothing is taken under it, so reading waits for nobody
 *	m->waiting	who waits in poll(2)
 */
#ifndef TACHO_FUSE_MOUNT_PRIV_H
#define TACHO_FUSE_MOUNT_PRIV_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <pthread.h>

#include "compat/lkst/device.h"
#include "fuse/mount.h"

#define POLL_NS		10000000	/* files that are polled or kept are looked at this often */
#define FOR_GOOD	1e6		/* seconds that the kernel keeps what cannot change */
#define WRITTEN_NS	1000000000
#define PAGES_KEPT	(INT64_C(1) << 20)	/* bytes of pages that were handed out */
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
	bool valid;			/* as far as is known it is what the file says */
	bool given;			/* the kernel may have pages of this one, or an older one */
	uint32_t opens;
	struct tacho_fuse_node *next_open;	/* m->lock */
	uint32_t writers;		/* atomic: how often it is open for writing */
	int64_t written;		/* atomic: when somebody closed it who did that */

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
	int failed;			/* why it cannot be served: -errno */
};

/* ---- nodes.c ---- */

int tacho_fuse_nodes_init(struct tacho_fuse_mount *m);
void tacho_fuse_nodes_release(struct tacho_fuse_mount *m);

struct tacho_fuse_node *tacho_fuse_node(struct tacho_fuse_mount *m, fuse_ino_t ino);
fuse_ino_t tacho_fuse_ino(const struct tacho_fuse_mount *m,
			  const struct tacho_fuse_node *node);

/* The node of that name, made if there is none, with a reference.  NULL: no memory. */
struct tacho_fuse_node *tacho_fuse_node_get(struct tacho_fuse_mount *m,
					    struct tacho_fuse_node *parent,
					    const char *name);
void tacho_fuse_node_put(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			 uint64_t refs);
/* It is not there any more: what comes by that name is another one. */
void tacho_fuse_node_gone(struct tacho_fuse_mount *m, struct tacho_fuse_node *parent,
			  const char *name);

/* Appends "/name" to the parent's path; false: it is too long to be there. */
bool tacho_fuse_path(const struct tacho_fuse_node *parent, const char *name, char *path,
		     size_t size);
#define TACHO_FUSE_PATH	((size_t)1024)

/* ---- attributes (mount.c) ---- */

bool tacho_fuse_is_lkst(const char *path);

/* An entry but its number: 0 or -errno. */
int tacho_fuse_entry(struct tacho_fuse_mount *m, const char *path,
		     struct fuse_entry_param *e);
/* What a tree's entry is to the kernel. */
void tacho_fuse_entry_of(const struct tacho_tree_stat *st, struct fuse_entry_param *e);
/* The size of a node that is known. */
off_t tacho_fuse_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);

/* ---- kept.c ---- */

/*
 * A file that was opened for reading: makes its text, and sees to it that the kernel has
 * it.  True: the kernel may go on with what it keeps, until tacho_fuse_kept_close().  False:
 * it cannot be kept.
 */
bool tacho_fuse_kept_open(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			  struct tacho_tree_file *file);
/* Somebody has it open for writing (1), or not any more (-1). */
void tacho_fuse_kept_write(struct tacho_fuse_node *node, int more);
void tacho_fuse_kept_close(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);

/* Bytes of the text; reading it anew if it may have changed. */
off_t tacho_fuse_kept_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node);
void tacho_fuse_kept_read(struct tacho_fuse_node *node, fuse_req_t req, size_t size,
			  off_t off);

/* Something was written (K3 b). */
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
/* Nobody waits for a file any more. */
void tacho_fuse_forget_waiters(struct tacho_fuse_mount *m, uint64_t fh);
int64_t tacho_fuse_now(void);	/* ns */
/* The thread that looks at what nobody tells of. */
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
