// SPDX-License-Identifier: MIT
#include "fuse/mount.h"

#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "face/lkst/device.h"

#define POLL_NS		10000000	/* files that are polled are looked at this often */
#define POLL_MAX_NS	500000000	/* ... or when that takes long, more rarely */
#define NAMES_S		1.0		/* what is there may be gone for so long */
#define THREADS_IDLE	10
#define THREADS_MAX	256		/* each read that waits has one */

/* Somebody waits in poll(2) for a file. */
struct waiter {
	struct waiter *next;
	uint64_t fh;
	struct fuse_pollhandle *handle;
};

struct mount {
	struct tacho_tree *tree;
	struct tacho_lkst_files *lkst;
	const struct tacho_mount_config *config;
	pthread_mutex_t lock;
	struct waiter *waiters;
	pthread_t poller;
	bool polling, stop;
};

static struct mount *self(void)
{
	return fuse_get_context()->private_data;
}

static bool interrupted(void *arg)
{
	(void)arg;
	return fuse_interrupted();
}

static struct tacho_tree_caller caller(const struct fuse_file_info *fi)
{
	return (struct tacho_tree_caller){
		.pid = fuse_get_context()->pid,
		.nonblock = fi->flags & O_NONBLOCK,
		.interrupted = interrupted,
	};
}

/*
 * ---- what is open ----
 *
 * libfuse is not asked for the paths of open files (nullpath_ok): it would lock them, and a file's
 * release would wait for the rmdir that waits for it.
 */

struct opened {
	struct tacho_tree_file *tree;	/* one of the two; of a directory neither */
	struct tacho_lkst_file *lkst;
	char path[];
};

static struct opened *new_opened(const char *path)
{
	size_t len = strlen(path) + 1;
	struct opened *o = calloc(1, sizeof(*o) + len);

	if (o)
		memcpy(o->path, path, len);
	return o;
}

static struct opened *opened_of(const struct fuse_file_info *fi)
{
	return (struct opened *)(uintptr_t)fi->fh;
}

static struct tacho_tree_file *file_of(const struct fuse_file_info *fi)
{
	return opened_of(fi)->tree;
}

/* The path that a call is about; of a file that is open, as it was opened. */
static const char *path_of(const char *path, const struct fuse_file_info *fi)
{
	return path ? path : opened_of(fi)->path;
}

/* ---- LKST's files, beside those of the tree ---- */

static bool is_lkst(const char *path)
{
	return !strncmp(path, "/lkst", 5) || !strcmp(path, "/class") ||
	       !strncmp(path, "/class/", 7);
}

static struct tacho_lkst_file *lkst_of(const struct fuse_file_info *fi)
{
	return opened_of(fi)->lkst;
}

static struct tacho_lkst_caller lkst_caller(const struct fuse_file_info *fi)
{
	const struct fuse_context *ctx = fuse_get_context();

	return (struct tacho_lkst_caller){
		.pid = ctx->pid, .uid = ctx->uid, .gid = ctx->gid,
		.nonblock = fi->flags & O_NONBLOCK,
		.interrupted = interrupted,
	};
}

static int lkst_getattr(const char *path, struct stat *st)
{
	uint32_t mode;
	uint64_t ino;
	bool dir;
	int err = tacho_lkst_files_stat(self()->lkst, path, &dir, &mode, &ino);

	if (err)
		return err;
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_mode = (dir ? S_IFDIR : S_IFREG) | mode;
	st->st_nlink = dir ? 2 : 1;
	st->st_uid = geteuid();
	st->st_gid = getegid();
	return 0;
}

static int lkst_open(struct opened *o, struct fuse_file_info *fi)
{
	struct tacho_lkst_caller c = lkst_caller(fi);
	int err = tacho_lkst_file_open(self()->lkst, o->path, fi->flags, &c, &o->lkst);

	fi->nonseekable = !err && tacho_lkst_file_is_stream(o->lkst);
	return err;
}

/* The struct of a request comes and goes in data, as long as its number says. */
static int op_ioctl(const char *path, unsigned int request, void *arg,
		    struct fuse_file_info *fi, unsigned int flags, void *data)
{
	struct tacho_lkst_caller c = lkst_caller(fi);
	struct tacho_lkst_file *f = lkst_of(fi);

	(void)path;
	if (!f || flags & FUSE_IOCTL_DIR)
		return -ENOTTY;
	return tacho_lkst_file_ioctl(f, request, (uintptr_t)arg, data, &c);
}

/* ---- attributes and directories ---- */

static int op_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	struct tacho_tree_stat s;
	int err;

	path = path_of(path, fi);
	if (is_lkst(path))
		return lkst_getattr(path, st);
	err = tacho_tree_stat(self()->tree, path, &s);
	if (err)
		return err;
	memset(st, 0, sizeof(*st));
	st->st_ino = s.ino;
	st->st_mode = s.mode;
	st->st_nlink = S_ISDIR(s.mode) ? 2 : 1;
	st->st_uid = s.uid;
	st->st_gid = s.gid;
	return 0;
}

struct dir_fill {
	void *buf;
	fuse_fill_dir_t fill;
};

static int fill_entry(const char *name, bool dir, void *arg)
{
	const struct dir_fill *d = arg;
	/* readdir(3) passes over an inode 0; stat(2) tells the real one */
	struct stat st = { .st_mode = dir ? S_IFDIR : S_IFREG, .st_ino = 1 };

	return d->fill(d->buf, name, &st, 0, 0) ? -ENOMEM : 0;
}

static int op_opendir(const char *path, struct fuse_file_info *fi)
{
	struct opened *o = new_opened(path);

	fi->fh = (uintptr_t)o;
	return o ? 0 : -ENOMEM;
}

static int op_releasedir(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	free(opened_of(fi));
	return 0;
}

static int op_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
		      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	struct dir_fill d = { buf, fill };

	(void)off;
	(void)flags;
	path = path_of(path, fi);
	if (fill_entry(".", true, &d) || fill_entry("..", true, &d))
		return -ENOMEM;
	if (is_lkst(path))
		return tacho_lkst_files_list(self()->lkst, path, fill_entry, &d);
	if (!strcmp(path, "/") && tacho_lkst_files_list(self()->lkst, path, fill_entry, &d))
		return -ENOMEM;
	return tacho_tree_list(self()->tree, path, fill_entry, &d);
}

static int op_mkdir(const char *path, mode_t mode)
{
	(void)mode;
	return tacho_tree_mkdir(self()->tree, path);
}

static int op_rmdir(const char *path)
{
	return tacho_tree_rmdir(self()->tree, path);
}

static int op_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return tacho_tree_chmod(self()->tree, path_of(path, fi), mode & 07777);
}

static int op_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	return tacho_tree_chown(self()->tree, path_of(path, fi), uid, gid);
}

static int op_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)size;
	path = path_of(path, fi);
	return is_lkst(path) ? 0 : tacho_tree_truncate(self()->tree, path);
}

/* Times are not kept: touch(1) of a control file succeeds. */
static int op_utimens(const char *path, const struct timespec tv[2],
		      struct fuse_file_info *fi)
{
	(void)tv;
	path = path_of(path, fi);
	if (is_lkst(path))
		return 0;
	return tacho_tree_truncate(self()->tree, path) == -ENOENT ? -ENOENT : 0;
}

/* Files are not made, renamed or removed by hand: what tracefs says of that. */
static int op_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void)path;
	(void)mode;
	(void)fi;
	return -EACCES;
}

static int op_mknod(const char *path, mode_t mode, dev_t dev)
{
	(void)path;
	(void)mode;
	(void)dev;
	return -EPERM;
}

static int op_unlink(const char *path)
{
	(void)path;
	return -EPERM;
}

static int op_link(const char *from, const char *to)
{
	(void)from;
	(void)to;
	return -EPERM;
}

static int op_rename(const char *from, const char *to, unsigned int flags)
{
	(void)from;
	(void)to;
	(void)flags;
	return -EPERM;
}

/* ---- files ---- */

static int op_open(const char *path, struct fuse_file_info *fi)
{
	struct tacho_tree_caller c = caller(fi);
	struct opened *o = new_opened(path);
	int err;

	if (!o)
		return -ENOMEM;
	if (is_lkst(path)) {
		err = lkst_open(o, fi);
	} else {
		err = tacho_tree_open_file(self()->tree, path, fi->flags, &c, &o->tree);
		fi->nonseekable = !err && tacho_tree_is_stream(o->tree);
	}
	fi->fh = (uintptr_t)o;
	fi->direct_io = 1;
	if (err)
		free(o);
	return err;
}

static int op_read(const char *path, char *to, size_t size, off_t off,
		   struct fuse_file_info *fi)
{
	struct tacho_tree_caller c = caller(fi);
	struct tacho_lkst_caller lc = lkst_caller(fi);

	(void)path;
	if (lkst_of(fi))
		return (int)tacho_lkst_file_read(lkst_of(fi), to, size, (uint64_t)off, &lc);
	return (int)tacho_tree_read(file_of(fi), to, size, (uint64_t)off, &c);
}

static int op_write(const char *path, const char *from, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct tacho_tree_caller c = caller(fi);
	struct tacho_lkst_caller lc = lkst_caller(fi);

	(void)path;
	(void)off;
	if (lkst_of(fi))
		return (int)tacho_lkst_file_write(lkst_of(fi), from, size, &lc);
	return (int)tacho_tree_write(file_of(fi), from, size, &c);
}

static void forget_waiters(struct mount *m, uint64_t fh)
{
	struct waiter **at = &m->waiters;

	pthread_mutex_lock(&m->lock);
	while (*at) {
		struct waiter *w = *at;

		if (w->fh != fh) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		fuse_pollhandle_destroy(w->handle);
		free(w);
	}
	pthread_mutex_unlock(&m->lock);
}

/* close(2) waits for this; its end may not be the file's, and that one comes later. */
static int op_flush(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	if (file_of(fi))
		tacho_tree_flush(file_of(fi));
	return 0;
}

static int op_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	forget_waiters(self(), fi->fh);
	if (lkst_of(fi))
		tacho_lkst_file_close(lkst_of(fi));
	else
		tacho_tree_close_file(file_of(fi));
	free(opened_of(fi));
	return 0;
}

static int add_waiter(struct mount *m, uint64_t fh, struct fuse_pollhandle *handle)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w) {
		fuse_pollhandle_destroy(handle);
		return -ENOMEM;
	}
	pthread_mutex_lock(&m->lock);
	*w = (struct waiter){ m->waiters, fh, handle };
	m->waiters = w;
	pthread_mutex_unlock(&m->lock);
	return 0;
}

static unsigned int poll_file(uint64_t fh)
{
	const struct fuse_file_info fi = { .fh = fh };

	return lkst_of(&fi) ? tacho_lkst_file_poll(lkst_of(&fi)) :
			      tacho_tree_poll(file_of(&fi));
}

static int op_poll(const char *path, struct fuse_file_info *fi,
		   struct fuse_pollhandle *handle, unsigned int *events)
{
	(void)path;
	*events = poll_file(fi->fh);
	if (!handle)
		return 0;
	if (!*events)
		return add_waiter(self(), fi->fh, handle);
	fuse_pollhandle_destroy(handle);
	return 0;
}

/* Tells the kernel of files that became ready. */
static void look_at_waiters(struct mount *m)
{
	struct waiter **at = &m->waiters;

	pthread_mutex_lock(&m->lock);
	while (*at) {
		struct waiter *w = *at;

		if (!poll_file(w->fh)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		(void)fuse_notify_poll(w->handle);
		fuse_pollhandle_destroy(w->handle);
		free(w);
	}
	pthread_mutex_unlock(&m->lock);
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A fifth of a CPU is the most that looking takes. */
static void *poller(void *arg)
{
	struct mount *m = arg;

	while (!tacho_load_relaxed(&m->stop)) {
		int64_t before = now_ns(), rest;
		struct timespec pause = { .tv_nsec = POLL_NS };

		look_at_waiters(m);
		rest = 4 * (now_ns() - before);
		if (rest > POLL_NS)
			pause.tv_nsec = rest < POLL_MAX_NS ? rest : POLL_MAX_NS;
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- the session ---- */

static void *op_init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	struct mount *m = self();

	conn->want |= conn->capable & FUSE_CAP_ATOMIC_O_TRUNC;
	conn->want &= ~(unsigned int)FUSE_CAP_AUTO_INVAL_DATA;
	cfg->intr = 1;			/* reads that wait are interrupted, by this signal: */
	cfg->intr_signal = SIGUSR1;
	cfg->direct_io = 1;
	cfg->use_ino = 1;
	cfg->nullpath_ok = 1;
	cfg->entry_timeout = NAMES_S;
	cfg->attr_timeout = 0;
	cfg->negative_timeout = 0;
	m->polling = !pthread_create(&m->poller, NULL, poller, m);
	if (m->config->ready)
		m->config->ready(m->config->arg);
	return m;
}

static const struct fuse_operations operations = {
	.getattr = op_getattr, .readdir = op_readdir, .mkdir = op_mkdir,
	.create = op_create, .mknod = op_mknod, .unlink = op_unlink, .link = op_link,
	.symlink = op_link, .rename = op_rename, .rmdir = op_rmdir, .chmod = op_chmod, .chown = op_chown,
	.truncate = op_truncate, .utimens = op_utimens, .open = op_open,
	.opendir = op_opendir, .releasedir = op_releasedir, .flush = op_flush,
	.read = op_read, .write = op_write, .release = op_release, .poll = op_poll,
	.ioctl = op_ioctl,
	.init = op_init,
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

static int try_mount(struct fuse *fuse, const char *dir, struct tacho_diag *d)
{
	int err;

	said[0] = '\0';
	fuse_set_log_func(keep_saying);
	err = fuse_mount(fuse, dir);
	fuse_set_log_func(NULL);
	if (err && access("/dev/fuse", F_OK))
		return tacho_diag(d, -ENODEV, 0, "cannot mount on '%s': there is no /dev/fuse, "
				  "'modprobe fuse' may help", dir);
	if (err)
		return tacho_diag(d, -EPERM, 0, "cannot mount on '%s': %s", dir,
				  *said ? said : "see above");
	return 0;
}

/* It only has to end a system call; fuse_interrupted() tells why. */
static void on_interrupt(int sig)
{
	(void)sig;
}

static int serve(struct fuse *fuse, struct mount *m, struct tacho_diag *d)
{
	struct fuse_loop_config *lc = fuse_loop_cfg_create();
	struct sigaction sa = { .sa_handler = on_interrupt };
	int ret;

	if (!lc)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	(void)sigaction(SIGUSR1, &sa, NULL);
	fuse_loop_cfg_set_max_threads(lc, THREADS_MAX);
	fuse_loop_cfg_set_idle_threads(lc, THREADS_IDLE);
	ret = fuse_loop_mt(fuse, lc);
	fuse_loop_cfg_destroy(lc);
	if (m->polling) {
		tacho_store_relaxed(&m->stop, true);
		(void)pthread_join(m->poller, NULL);
	}
	/* a positive number is the signal that ended it */
	return ret < 0 ? tacho_diag(d, ret, 0, "serving '%s' failed: %s",
				    m->config->dir, strerror(-ret)) : 0;
}

int tacho_mount_run(struct tacho_tree *tree, const struct tacho_mount_config *config,
		    struct tacho_diag *d)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct mount m = { .tree = tree, .config = config };
	struct fuse *fuse = NULL;
	int err = make_args(&args, config);

	pthread_mutex_init(&m.lock, NULL);
	m.lkst = tacho_lkst_files_new(geteuid());
	if (!err && !m.lkst)
		err = -ENOMEM;
	if (!err)
		fuse = fuse_new(&args, &operations, sizeof(operations), &m);
	if (!fuse) {
		err = tacho_diag(d, -ENOMEM, 0, "libfuse cannot be set up");
	} else {
		err = try_mount(fuse, config->dir, d);
	}
	if (fuse && !err) {
		(void)fuse_set_signal_handlers(fuse_get_session(fuse));
		err = serve(fuse, &m, d);
		fuse_remove_signal_handlers(fuse_get_session(fuse));
		fuse_unmount(fuse);
	}
	if (fuse)
		fuse_destroy(fuse);
	fuse_opt_free_args(&args);
	tacho_lkst_files_free(m.lkst);
	pthread_mutex_destroy(&m.lock);
	return err;
}
