// SPDX-License-Identifier: MIT
/*
 * Directories.  What is in one is listed when it is read from its beginning, and handed out in
 * parts; the attributes come along (readdirplus), so that callers need not ask for them one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "fuse/mount_priv.h"

#define LIST_MAX	((size_t)64 << 20)

/* An entry in the list: this, its name with a NUL, and padding to 8 bytes. */
struct listed {
	struct tacho_tree_stat st;
	uint32_t size;		/* of all that */
	uint32_t plain;		/* . and .., and LKST's: the kernel has to ask for it */
	char name[];
};

struct listing {
	struct tacho_buf buf;
};

static int put_entry(struct listing *l, const char *name, const struct tacho_tree_stat *st,
		     bool plain)
{
	size_t len = strlen(name) + 1, size = (sizeof(struct listed) + len + 7) & ~(size_t)7;
	struct listed head = { .st = *st, .size = (uint32_t)size, .plain = plain };
	static const char zeros[8];

	tacho_buf_put(&l->buf, &head, sizeof(head));
	tacho_buf_put(&l->buf, name, len);
	tacho_buf_put(&l->buf, zeros, size - sizeof(head) - len);
	return tacho_buf_error(&l->buf);
}

static int put_tree(const char *name, const struct tacho_tree_stat *st, void *arg)
{
	return put_entry(arg, name, st, false);
}

/* readdir(3) passes over an inode 0; stat(2) tells the real one. */
static int put_plain(const char *name, bool dir, void *arg)
{
	const struct tacho_tree_stat st = { .ino = 1, .mode = dir ? S_IFDIR : S_IFREG };

	return put_entry(arg, name, &st, true);
}

static int list_all(struct tacho_fuse_mount *m, const char *path, struct listing *l)
{
	int err = put_plain(".", true, l);

	if (!err)
		err = put_plain("..", true, l);
	if (err)
		return err;
	if (tacho_fuse_is_lkst(path))
		return tacho_lkst_files_list(m->lkst, path, put_plain, l);
	if (!strcmp(path, "/"))
		err = tacho_lkst_files_list(m->lkst, path, put_plain, l);
	return err ? err : tacho_tree_list(m->tree, path, put_tree, l);
}

static void free_listing(struct listing *l)
{
	tacho_buf_release(&l->buf);
	free(l);
}

void tacho_fuse_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct listing *l = calloc(1, sizeof(*l));

	(void)ino;
	if (!l) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	tacho_buf_init(&l->buf, LIST_MAX);
	fi->fh = (uintptr_t)l;
	if (fuse_reply_open(req, fi))
		free_listing(l);
}

void tacho_fuse_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	free_listing((struct listing *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

/* One entry; the bytes it takes, more than size if it does not fit. */
static size_t add(fuse_req_t req, struct tacho_fuse_node *dir, const struct listed *e,
		  char *to, size_t size, off_t next, bool plus)
{
	struct tacho_fuse_mount *m = fuse_req_userdata(req);
	struct fuse_entry_param entry = { .ino = 0 };
	struct tacho_fuse_node *node = NULL;
	size_t n;

	tacho_fuse_entry_of(&e->st, &entry);
	if (!plus)
		return fuse_add_direntry(req, to, size, e->name, &entry.attr, next);
	if (!e->plain) {
		node = tacho_fuse_node_get(m, dir, e->name);
		entry.ino = node ? tacho_fuse_ino(m, node) : 0;
		entry.attr.st_size = node ? tacho_fuse_size(m, node) : 0;
	}
	n = fuse_add_direntry_plus(req, to, size, e->name, &entry, next);
	if (node && n > size)
		tacho_fuse_node_put(m, node, 1);
	return n;
}

static void read_list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		      const struct fuse_file_info *fi, bool plus)
{
	struct tacho_fuse_mount *m = fuse_req_userdata(req);
	struct listing *l = (struct listing *)(uintptr_t)fi->fh;
	struct tacho_fuse_node *dir = tacho_fuse_node(m, ino);
	size_t at = (size_t)off, used = 0, n;
	char *to = malloc(size);
	int err = to ? 0 : -ENOMEM;

	if (!err && !off) {
		tacho_buf_reset(&l->buf);
		err = list_all(m, dir->path, l);
	}
	if (err) {
		free(to);
		fuse_reply_err(req, -err);
		return;
	}
	while (at < l->buf.len) {
		const struct listed *e = (const void *)(l->buf.data + at);

		n = add(req, dir, e, to + used, size - used, (off_t)(at + e->size), plus);
		if (n > size - used)
			break;
		used += n;
		at += e->size;
	}
	fuse_reply_buf(req, to, used);
	free(to);
}

void tacho_fuse_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			struct fuse_file_info *fi)
{
	read_list(req, ino, size, off, fi, false);
}

void tacho_fuse_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			    struct fuse_file_info *fi)
{
	read_list(req, ino, size, off, fi, true);
}
