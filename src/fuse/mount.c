// SPDX-License-Identifier: MIT
#include "fuse/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "fuse/mount_priv.h"

#define THREADS_IDLE	10
#define THREADS_MAX	256		/* each read that waits has one */
#define READ_MAX	((size_t)1 << 20)
#define SPLICE_NS	20000000	/* one call asks for its pages in less */

static struct tacho_fuse_mount *self(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct tacho_fuse_node *node_of(fuse_req_t req, fuse_ino_t ino)
{
	return tacho_fuse_node(self(req), ino);
}

static bool interrupted(void *arg)
{
	return fuse_req_interrupted(arg);
}

static struct tacho_tree_caller caller(fuse_req_t req, const struct fuse_file_info *fi)
{
	return (struct tacho_tree_caller){
		.pid = fuse_req_ctx(req)->pid,
		.nonblock = fi->flags & O_NONBLOCK,
		.interrupted = interrupted,
		.arg = req,
	};
}

static void reply(fuse_req_t req, int err)
{
	fuse_reply_err(req, -err);
}

/* ---- LKST's files, beside those of the tree ---- */

bool tacho_fuse_is_lkst(const char *path)
{
	return !strncmp(path, "/lkst", 5) || !strcmp(path, "/class") ||
	       !strncmp(path, "/class/", 7);
}

static struct tacho_lkst_caller lkst_caller(fuse_req_t req, const struct fuse_file_info *fi)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct tacho_lkst_caller){
		.pid = ctx->pid, .uid = ctx->uid, .gid = ctx->gid,
		.nonblock = fi->flags & O_NONBLOCK,
		.interrupted = interrupted,
		.arg = req,
	};
}

/* Handlers come and go: nothing of them is kept. */
static int lkst_entry(struct tacho_fuse_mount *m, const char *path,
		      struct fuse_entry_param *e)
{
	uint32_t mode;
	uint64_t ino;
	bool dir;
	int err = tacho_lkst_files_stat(m->lkst, path, &dir, &mode, &ino);

	if (err)
		return err;
	e->attr.st_ino = ino;
	e->attr.st_mode = (dir ? S_IFDIR : S_IFREG) | mode;
	e->attr.st_nlink = dir ? 2 : 1;
	e->attr.st_uid = geteuid();
	e->attr.st_gid = getegid();
	return 0;
}

static void lkst_open(fuse_req_t req, const char *path, struct fuse_file_info *fi)
{
	struct tacho_lkst_caller c = lkst_caller(req, fi);
	struct tacho_lkst_file *f;
	int err = tacho_lkst_file_open(self(req)->lkst, path, fi->flags, &c, &f);

	if (err) {
		reply(req, err);
		return;
	}
	fi->fh = (uintptr_t)f | TACHO_FUSE_LKST;
	fi->direct_io = 1;
	fi->nonseekable = tacho_lkst_file_is_stream(f);
	if (fuse_reply_open(req, fi))
		tacho_lkst_file_close(f);
}

/* The struct of a request comes and goes in one piece, as long as its number says. */
static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
		     struct fuse_file_info *fi, unsigned int flags, const void *in,
		     size_t in_size, size_t out_size)
{
	struct tacho_lkst_caller c = lkst_caller(req, fi);
	struct tacho_lkst_file *f = flags & FUSE_IOCTL_DIR ? NULL : tacho_fuse_lkst_file(fi->fh);
	size_t size = in_size > out_size ? in_size : out_size;
	void *data = f && size ? calloc(1, size) : NULL;
	int err = !f ? -ENOTTY : size && !data ? -ENOMEM : 0;

	(void)ino;
	if (data && in_size)
		memcpy(data, in, in_size);
	if (!err)
		err = tacho_lkst_file_ioctl(f, cmd, (uintptr_t)arg, data, &c);
	if (err < 0)
		reply(req, err);
	else
		fuse_reply_ioctl(req, err, data, out_size);
	free(data);
}

/* ---- attributes ---- */

void tacho_fuse_entry_of(const struct tacho_tree_stat *st, struct fuse_entry_param *e)
{
	e->attr.st_ino = st->ino;
	e->attr.st_mode = st->mode;
	e->attr.st_nlink = S_ISDIR(st->mode) ? 2 : 1;
	e->attr.st_uid = st->uid;
	e->attr.st_gid = st->gid;
	e->attr_timeout = FOR_GOOD;
	e->entry_timeout = st->may_go ? 0 : FOR_GOOD;
}

int tacho_fuse_entry(struct tacho_fuse_mount *m, const char *path,
		     struct fuse_entry_param *e)
{
	struct tacho_tree_stat st;
	int err;

	*e = (struct fuse_entry_param){ .ino = 0 };
	if (tacho_fuse_is_lkst(path))
		return lkst_entry(m, path, e);
	err = tacho_tree_stat(m->tree, path, &st);
	if (!err)
		tacho_fuse_entry_of(&st, e);
	return err;
}

off_t tacho_fuse_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	return tacho_load_relaxed(&node->paged) ? PAGED_SIZE : tacho_fuse_kept_size(m, node);
}

static void op_lookup(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct tacho_fuse_node *parent = node_of(req, ino), *node;
	struct tacho_fuse_mount *m = self(req);
	struct fuse_entry_param e;
	char path[TACHO_FUSE_PATH];
	int err = tacho_fuse_path(parent, name, path, sizeof(path)) ?
		  tacho_fuse_entry(m, path, &e) : -ENAMETOOLONG;

	if (err) {
		tacho_fuse_node_gone(m, parent, name);
		reply(req, err);
		return;
	}
	node = tacho_fuse_node_get(m, parent, name);
	if (!node) {
		reply(req, -ENOMEM);
		return;
	}
	e.ino = tacho_fuse_ino(m, node);
	e.attr.st_size = tacho_fuse_size(m, node);
	if (fuse_reply_entry(req, &e))
		tacho_fuse_node_put(m, node, 1);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nr)
{
	tacho_fuse_node_put(self(req), node_of(req, ino), nr);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *list)
{
	for (size_t i = 0; i < count; i++)
		tacho_fuse_node_put(self(req), node_of(req, list[i].ino), list[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct tacho_fuse_node *node = node_of(req, ino);
	struct fuse_entry_param e;
	int err = tacho_fuse_entry(self(req), node->path, &e);

	(void)fi;
	if (err) {
		reply(req, err);
		return;
	}
	e.attr.st_size = tacho_fuse_size(self(req), node);
	fuse_reply_attr(req, &e.attr, e.attr_timeout);
}

/*
 * truncate(2) of a path does nothing to LKST's files, and to the tree's what it does there.
 * Times are not kept: touch(1) of a control file succeeds.
 */
static int set_attr(struct tacho_fuse_mount *m, const char *path, const struct stat *st,
		    int set)
{
	bool lkst = tacho_fuse_is_lkst(path);
	int err = 0;

	if (set & FUSE_SET_ATTR_MODE)
		err = tacho_tree_chmod(m->tree, path, st->st_mode & 07777);
	if (!err && set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		err = tacho_tree_chown(m->tree, path,
				       set & FUSE_SET_ATTR_UID ? st->st_uid : UINT32_MAX,
				       set & FUSE_SET_ATTR_GID ? st->st_gid : UINT32_MAX);
	if (!err && !lkst && set & FUSE_SET_ATTR_SIZE)
		err = tacho_tree_truncate(m->tree, path);
	if (!err && !lkst && set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME))
		err = tacho_tree_truncate(m->tree, path) == -ENOENT ? -ENOENT : 0;
	return err;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
		       struct fuse_file_info *fi)
{
	int err = set_attr(self(req), node_of(req, ino)->path, st, set);

	if (err)
		reply(req, err);
	else
		op_getattr(req, ino, fi);
}

/* ---- names ---- */

static void op_mkdir(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode)
{
	char path[TACHO_FUSE_PATH];
	int err = tacho_fuse_path(node_of(req, ino), name, path, sizeof(path)) ?
		  tacho_tree_mkdir(self(req)->tree, path) : -ENAMETOOLONG;

	(void)mode;
	if (err)
		reply(req, err);
	else
		op_lookup(req, ino, name);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct tacho_fuse_node *parent = node_of(req, ino);
	char path[TACHO_FUSE_PATH];
	int err = tacho_fuse_path(parent, name, path, sizeof(path)) ?
		  tacho_tree_rmdir(self(req)->tree, path) : -ENOENT;

	if (!err)
		tacho_fuse_node_gone(self(req), parent, name);
	reply(req, err);
}

/* Files are not made, renamed or removed by hand: what tracefs says of that. */
static void op_create(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	(void)ino;
	(void)name;
	(void)mode;
	(void)fi;
	reply(req, -EACCES);
}

static void op_mknod(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode, dev_t dev)
{
	(void)ino;
	(void)name;
	(void)mode;
	(void)dev;
	reply(req, -EPERM);
}

static void op_unlink(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	(void)ino;
	(void)name;
	reply(req, -EPERM);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	(void)parent;
	(void)name;
	reply(req, -EPERM);
}

static void op_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name)
{
	(void)link;
	(void)parent;
	(void)name;
	reply(req, -EPERM);
}

static void op_rename(fuse_req_t req, fuse_ino_t from, const char *name, fuse_ino_t to,
		      const char *newname, unsigned int flags)
{
	(void)from;
	(void)name;
	(void)to;
	(void)newname;
	(void)flags;
	reply(req, -EPERM);
}

/* ---- files ---- */

/*
 * One that opened a file of pages more, or less.  A new reader finds no pages of those who
 * read it before, and one byte at the end makes the kernel take it for as long as that.
 */
static void use_paged(struct tacho_fuse_mount *m, struct tacho_fuse_node *node, int more)
{
	struct fuse_bufvec b = FUSE_BUFVEC_INIT(1);
	fuse_ino_t ino = tacho_fuse_ino(m, node);
	uint32_t before = tacho_add_relaxed(&node->paged, (uint32_t)more);
	char end = 0;

	b.buf[0].mem = &end;
	if (more > 0 || before == 1)
		(void)fuse_lowlevel_notify_inval_inode(m->se, ino, 0, 0);
	if (more > 0)
		(void)fuse_lowlevel_notify_store(m->se, ino, PAGED_SIZE - 1, &b, 0);
}

static void close_file(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
		       uint64_t fh, bool writes)
{
	struct tacho_lkst_file *lkst = tacho_fuse_lkst_file(fh);

	if (lkst) {
		tacho_lkst_file_close(lkst);
		return;
	}
	if (fh & TACHO_FUSE_KEPT)
		tacho_fuse_kept_close(m, node);
	if (tacho_tree_is_paged(tacho_fuse_tree_file(fh)))
		use_paged(m, node, -1);
	if (writes)
		tacho_fuse_kept_write(node, -1);
	tacho_tree_close_file(tacho_fuse_tree_file(fh));
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct tacho_fuse_node *node = node_of(req, ino);
	struct tacho_tree_caller c = caller(req, fi);
	struct tacho_fuse_mount *m = self(req);
	bool writes = (fi->flags & O_ACCMODE) != O_RDONLY;
	struct tacho_tree_file *f;
	int err;

	if (tacho_fuse_is_lkst(node->path)) {
		lkst_open(req, node->path, fi);
		return;
	}
	err = tacho_tree_open_file(m->tree, node->path, fi->flags, &c, &f);
	if (err) {
		reply(req, err);
		return;
	}
	fi->fh = (uintptr_t)f;
	if (writes)
		tacho_fuse_kept_write(node, 1);
	if (!writes && tacho_tree_is_kept(f) && tacho_fuse_kept_open(m, node, f)) {
		fi->fh |= TACHO_FUSE_KEPT;
		fi->keep_cache = 1;
		/*
		 * the file itself has no user any more: as if it was closed, its release is waited
		 * for
		 */
		fi->noflush = 1;
		tacho_tree_flush(f);
	} else {
		fi->direct_io = 1;
		fi->nonseekable = tacho_tree_is_stream(f);
	}
	if (fi->flags & O_TRUNC)
		tacho_fuse_kept_forget(m);
	if (tacho_tree_is_paged(f)) {
		fi->keep_cache = 1;
		use_paged(m, node, 1);
	}
	if (fuse_reply_open(req, fi))
		close_file(m, node, fi->fh, writes);
}

/*
 * Pages that were spliced are not read again: those after us go.  Others may wait for a page
 * of theirs, which they have locked; as a reader takes what comes next, it is not far from
 * here.
 */
static void drop_pages(fuse_req_t req, fuse_ino_t ino, off_t off)
{
	if (off >= 2 * PAGES_KEPT && !(off % PAGES_KEPT))
		(void)fuse_lowlevel_notify_inval_inode(self(req)->se, ino, off - 2 * PAGES_KEPT,
						       PAGES_KEPT);
}

/*
 * Whether a page that the kernel asks for, for splice(2), is waited for.  One call asks for
 * several, one after the other, and is to have those that there are: so a page that is not
 * there is refused (EAGAIN).  For the same page the kernel asks twice; who asks once more, or
 * after a while, is in a new call.
 */
static bool is_waited_for(struct tacho_fuse_node *node, off_t off)
{
	bool wait;

	pthread_mutex_lock(&node->lock);
	wait = !off || (off == node->asked && node->refusals >= 2) ||
	       tacho_fuse_now() - node->spliced > SPLICE_NS;
	pthread_mutex_unlock(&node->lock);
	return wait;
}

static void note_page(struct tacho_fuse_node *node, off_t off, ssize_t n)
{
	pthread_mutex_lock(&node->lock);
	if (n > 0)
		node->spliced = tacho_fuse_now();
	else
		node->refusals = off == node->asked ? node->refusals + 1 : 1;
	node->asked = off;
	pthread_mutex_unlock(&node->lock);
}

static ssize_t read_file(fuse_req_t req, fuse_ino_t ino, char *to, size_t size, off_t off,
			 struct fuse_file_info *fi)
{
	struct tacho_lkst_file *lkst = tacho_fuse_lkst_file(fi->fh);
	struct tacho_lkst_caller lc = lkst_caller(req, fi);
	struct tacho_tree_caller c = caller(req, fi);
	struct tacho_fuse_node *node = node_of(req, ino);
	bool spliced;
	ssize_t n;

	if (lkst)
		return tacho_lkst_file_read(lkst, to, size, (uint64_t)off, &lc);
	/* a read(2) is a caller, a read of the kernel for itself is none */
	spliced = tacho_load_relaxed(&node->paged) && !fi->lock_owner;
	if (spliced) {
		drop_pages(req, ino, off);
		c.nonblock = c.nonblock || !is_waited_for(node, off);
	}
	n = tacho_tree_read(tacho_fuse_tree_file(fi->fh), to, size, (uint64_t)off, &c);
	if (spliced)
		note_page(node, off, n);
	return n;
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	char small[16384], *to = small;
	ssize_t n;

	if (fi->fh & TACHO_FUSE_KEPT) {
		tacho_fuse_kept_read(node_of(req, ino), req, size, off);
		return;
	}
	if (size > READ_MAX)
		size = READ_MAX;
	if (size > sizeof(small))
		to = malloc(size);
	n = to ? read_file(req, ino, to, size, off, fi) : -ENOMEM;
	if (n < 0)
		reply(req, (int)n);
	else
		fuse_reply_buf(req, to, (size_t)n);
	if (to != small)
		free(to);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *from, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	struct tacho_lkst_file *lkst = tacho_fuse_lkst_file(fi->fh);
	struct tacho_lkst_caller lc = lkst_caller(req, fi);
	struct tacho_tree_caller c = caller(req, fi);
	ssize_t n;

	(void)ino;
	(void)off;
	n = lkst ? tacho_lkst_file_write(lkst, from, size, &lc) :
		   tacho_tree_write(tacho_fuse_tree_file(fi->fh), from, size, &c);
	tacho_fuse_kept_forget(self(req));
	if (n < 0)
		reply(req, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}

/* close(2) waits for this; its end may not be the file's, and that one comes later. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	if (!tacho_fuse_lkst_file(fi->fh))
		tacho_tree_flush(tacho_fuse_tree_file(fi->fh));
	reply(req, 0);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	tacho_fuse_forget_waiters(self(req), fi->fh);
	close_file(self(req), node_of(req, ino), fi->fh,
		   (fi->flags & O_ACCMODE) != O_RDONLY);
	reply(req, 0);
}

/* ---- the session ---- */

static void op_init(void *arg, struct fuse_conn_info *conn)
{
	struct tacho_fuse_mount *m = arg;

	conn->want |= conn->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA);
	/* pages one by one, each by a request that can be interrupted */
	conn->want &= ~(unsigned int)FUSE_CAP_ASYNC_READ;
	conn->max_readahead = 0;
	/* without it no waiter is woken, and what the kernel keeps grows old */
	m->failed = tacho_fuse_poller_start(m);
	if (m->failed)
		fuse_session_exit(m->se);
	else if (m->config->ready)
		m->config->ready(m->config->arg);
}

static const struct fuse_lowlevel_ops operations = {
	.init = op_init, .lookup = op_lookup, .forget = op_forget,
	.forget_multi = op_forget_multi, .getattr = op_getattr, .setattr = op_setattr,
	.opendir = tacho_fuse_opendir, .readdir = tacho_fuse_readdir,
	.readdirplus = tacho_fuse_readdirplus, .releasedir = tacho_fuse_releasedir,
	.mkdir = op_mkdir, .rmdir = op_rmdir, .create = op_create, .mknod = op_mknod,
	.unlink = op_unlink, .link = op_link, .symlink = op_symlink, .rename = op_rename,
	.open = op_open, .read = op_read, .write = op_write, .flush = op_flush,
	.release = op_release,
	.poll = tacho_fuse_poll, .ioctl = op_ioctl,
};

static int make_args(struct fuse_args *args, const struct tacho_mount_config *c)
{
	int err = fuse_opt_add_arg(args, "tacho");
	char text[80];

	/* who unmounts it finds us by this name: tacho_mount_server() */
	(void)snprintf(text, sizeof(text), "-odefault_permissions,fsname=tacho:%d,"
		       "subtype=tracefs", (int)getpid());
	if (!err)
		err = fuse_opt_add_arg(args, text);
	if (!err && c->others)
		err = fuse_opt_add_arg(args, "-oallow_other");
	return err ? -ENOMEM : 0;
}

/* What libfuse says while it mounts is ours to say; one thread runs then. */
static char said[200];

__attribute__((format(printf, 2, 0)))
static void keep_saying(enum fuse_log_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)vsnprintf(said, sizeof(said), fmt, ap);
	said[strcspn(said, "\n")] = '\0';
}

static int try_mount(struct fuse_session *se, const char *dir, struct tacho_diag *d)
{
	int err, why;

	said[0] = '\0';
	errno = 0;
	fuse_set_log_func(keep_saying);
	err = fuse_session_mount(se, dir);
	why = errno;
	fuse_set_log_func(NULL);
	if (err && access("/dev/fuse", F_OK))
		return tacho_diag(d, -ENODEV, 0, "cannot mount on '%s': there is no /dev/fuse, "
				  "'modprobe fuse' may help", dir);
	if (err)
		return tacho_diag(d, -EPERM, 0, "cannot mount on '%s': %s", dir,
				  *said ? said : why ? strerror(why) : "libfuse does not say why");
	return 0;
}

static int serve(struct tacho_fuse_mount *m, struct tacho_diag *d)
{
	struct fuse_loop_config *lc = fuse_loop_cfg_create();
	int ret;

	if (!lc)
		return tacho_no_memory(d);
	fuse_loop_cfg_set_max_threads(lc, THREADS_MAX);
	fuse_loop_cfg_set_idle_threads(lc, THREADS_IDLE);
	ret = fuse_session_loop_mt(m->se, lc);
	fuse_loop_cfg_destroy(lc);
	tacho_fuse_poller_stop(m);
	if (m->failed)
		return tacho_diag(d, m->failed, 0, "cannot serve '%s': no thread: %s",
				  m->config->dir, strerror(-m->failed));
	/* what libfuse says for each lack of memory or of threads; it has printed more */
	if (ret == -1)
		return tacho_diag(d, -ENOMEM, 0, "cannot serve '%s': no memory for another thread",
				  m->config->dir);
	/* a positive number is the signal that ended it */
	return ret < 0 ? tacho_diag(d, ret, 0, "serving '%s' failed: %s",
				    m->config->dir, strerror(-ret)) : 0;
}

static int run(struct tacho_fuse_mount *m, struct tacho_diag *d)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int err = make_args(&args, m->config);

	if (!err)
		m->se = fuse_session_new(&args, &operations, sizeof(operations), m);
	fuse_opt_free_args(&args);
	if (!m->se)
		return tacho_diag(d, -ENOMEM, 0, "libfuse cannot be set up");
	err = try_mount(m->se, m->config->dir, d);
	if (!err) {
		(void)fuse_set_signal_handlers(m->se);
		err = serve(m, d);
		fuse_remove_signal_handlers(m->se);
		fuse_session_unmount(m->se);
	}
	fuse_session_destroy(m->se);
	return err;
}

int tacho_mount_run(struct tacho_tree *tree, const struct tacho_mount_config *config,
		    struct tacho_diag *d)
{
	struct tacho_fuse_mount m = { .tree = tree, .config = config };
	int err = tacho_fuse_nodes_init(&m);

	pthread_mutex_init(&m.lock, NULL);
	pthread_mutex_init(&m.waiting, NULL);
	m.lkst = tacho_lkst_files_new(geteuid());
	if (err || !m.lkst)
		err = tacho_no_memory(d);
	else
		err = run(&m, d);
	tacho_lkst_files_free(m.lkst);
	tacho_fuse_nodes_release(&m);
	pthread_mutex_destroy(&m.waiting);
	pthread_mutex_destroy(&m.lock);
	return err;
}
