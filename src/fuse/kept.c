// SPDX-License-Identifier: MIT
/* Texts that the kernel keeps: K3 of mount_priv.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "fuse/mount_priv.h"

#define KEPT_MAX	((size_t)8 << 10)	/* longer texts are not kept */

/* The whole text; -1: it cannot be kept. */
static ssize_t read_all(struct tacho_tree_file *file, char text[KEPT_MAX])
{
	const struct tacho_tree_caller nobody = { .nonblock = true, .passing = true };
	ssize_t n = tacho_tree_read(file, text, KEPT_MAX, 0, &nobody);

	return n < (ssize_t)KEPT_MAX ? n : -1;
}

enum kept { KEPT_SAME, KEPT_OTHER, KEPT_NOT };

/* Under opening: what the file says becomes the node's text. */
static enum kept take_text(struct tacho_fuse_node *node, struct tacho_tree_file *file)
{
	char text[KEPT_MAX], *copy = NULL;
	ssize_t n = read_all(file, text);
	enum kept kept;
	bool same;

	if (n < 0)
		return KEPT_NOT;
	pthread_mutex_lock(&node->lock);
	same = node->text && node->len == (size_t)n && !memcmp(node->text, text, (size_t)n);
	if (!same)
		copy = malloc((size_t)n + 1);
	if (copy) {
		memcpy(copy, text, (size_t)n);
		free(node->text);
		node->text = copy;
		node->len = (size_t)n;
	}
	kept = same && node->valid ? KEPT_SAME : same || copy ? KEPT_OTHER : KEPT_NOT;
	node->valid = kept != KEPT_NOT;
	pthread_mutex_unlock(&node->lock);
	return kept;
}

/* Under opening: by the name, as it is now. */
static enum kept take_text_again(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	const struct tacho_tree_caller nobody = { .nonblock = true, .passing = true };
	struct tacho_tree_file *file;
	enum kept kept;

	if (tacho_tree_open_file(m->tree, node->path, O_RDONLY, &nobody, &file))
		return KEPT_NOT;
	kept = take_text(node, file);
	tacho_tree_close_file(file);
	return kept;
}

/*
 * Under opening: the kernel drops what it has and gets the text.  False: it has it not, and
 * does not know how long it is.
 */
static bool give(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	struct fuse_bufvec b = FUSE_BUFVEC_INIT(node->len);
	fuse_ino_t ino = tacho_fuse_ino(m, node);

	if (node->given)
		(void)fuse_lowlevel_notify_inval_inode(m->se, ino, 0, 0);
	b.buf[0].mem = node->text;
	if (node->len && fuse_lowlevel_notify_store(m->se, ino, 0, &b, 0) && !node->given)
		return false;
	pthread_mutex_lock(&node->lock);
	node->given = true;
	pthread_mutex_unlock(&node->lock);
	return true;
}

static void add_open(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	pthread_mutex_lock(&m->lock);
	if (!node->opens++) {
		node->next_open = m->open;
		m->open = node;
		m->nr_open++;
		node->refs++;
	}
	pthread_mutex_unlock(&m->lock);
}

void tacho_fuse_kept_close(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	struct tacho_fuse_node **at = &m->open;
	bool last;

	pthread_mutex_lock(&m->lock);
	last = !--node->opens;
	if (last) {
		while (*at != node)
			at = &(*at)->next_open;
		*at = node->next_open;
		m->nr_open--;
	}
	pthread_mutex_unlock(&m->lock);
	if (last)
		tacho_fuse_node_put(m, node, 1);
}

void tacho_fuse_kept_write(struct tacho_fuse_node *node, int more)
{
	if (more < 0)
		tacho_store_relaxed(&node->written, tacho_fuse_now());
	(void)tacho_add_seq_cst(&node->writers, (uint32_t)more);
}

static bool is_written(const struct tacho_fuse_node *node)
{
	int64_t written = tacho_load_relaxed(&node->written);

	return tacho_load_relaxed(&node->writers) ||
	       (written && tacho_fuse_now() - written < WRITTEN_NS);
}

bool tacho_fuse_kept_open(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			  struct tacho_tree_file *file)
{
	enum kept kept;
	bool ok;

	if (is_written(node))
		return false;
	/* from now on it is told of what is written, also while the text is made */
	add_open(m, node);
	pthread_mutex_lock(&node->opening);
	kept = take_text(node, file);
	ok = kept == KEPT_SAME || (kept == KEPT_OTHER && give(m, node));
	pthread_mutex_unlock(&node->opening);
	if (!ok)
		tacho_fuse_kept_close(m, node);
	return ok;
}

off_t tacho_fuse_kept_size(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	bool again;
	off_t size;

	pthread_mutex_lock(&m->lock);
	again = node->opens != 0;
	pthread_mutex_unlock(&m->lock);
	pthread_mutex_lock(&node->lock);
	again = again && !node->valid && node->given;
	pthread_mutex_unlock(&node->lock);
	if (again) {
		pthread_mutex_lock(&node->opening);
		(void)take_text_again(m, node);
		pthread_mutex_unlock(&node->opening);
	}
	pthread_mutex_lock(&node->lock);
	size = node->given ? (off_t)node->len : 0;
	pthread_mutex_unlock(&node->lock);
	return size;
}

/*
 * Pages that the kernel has not, or not any more.  Its page is locked meanwhile, so a thread that
 * makes the kernel forget pages may wait for us: nothing is made here, nothing but this
 * lock taken.
 */
void tacho_fuse_kept_read(struct tacho_fuse_node *node, fuse_req_t req, size_t size,
			  off_t off)
{
	size_t from = (size_t)off, n;
	char part[KEPT_MAX];

	pthread_mutex_lock(&node->lock);
	if (from > node->len)
		from = node->len;
	n = node->len - from < size ? node->len - from : size;
	if (n)
		memcpy(part, node->text + from, n);
	pthread_mutex_unlock(&node->lock);
	/* then it may be closed, and the node be gone */
	fuse_reply_buf(req, part, n);
}

/* The nodes that are open, with references; NULL: none, or no memory. */
static struct tacho_fuse_node **get_open(struct tacho_fuse_mount *m, uint32_t *nr)
{
	struct tacho_fuse_node **list = NULL;

	*nr = 0;
	pthread_mutex_lock(&m->lock);
	if (m->nr_open)
		list = calloc(m->nr_open, sizeof(*list));
	for (struct tacho_fuse_node *n = m->open; list && n; n = n->next_open) {
		n->refs++;
		list[(*nr)++] = n;
	}
	pthread_mutex_unlock(&m->lock);
	return list;
}

static void forget(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	pthread_mutex_lock(&node->opening);
	pthread_mutex_lock(&node->lock);
	node->valid = false;
	pthread_mutex_unlock(&node->lock);
	if (node->given)
		(void)fuse_lowlevel_notify_inval_inode(m->se, tacho_fuse_ino(m, node), 0, 0);
	pthread_mutex_unlock(&node->opening);
}

/*
 * A trigger or another tool may have changed it.  What is not valid the kernel was told to
 * forget, and asks for; if it were told again meanwhile, it would not believe the answer.
 */
static void look(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	bool valid;

	pthread_mutex_lock(&node->opening);
	pthread_mutex_lock(&node->lock);
	valid = node->valid && node->given;
	pthread_mutex_unlock(&node->lock);
	if (valid && take_text_again(m, node) == KEPT_OTHER)
		(void)fuse_lowlevel_notify_inval_inode(m->se, tacho_fuse_ino(m, node), 0, 0);
	pthread_mutex_unlock(&node->opening);
}

/* Those that are opened meanwhile see what there is; those that are closed have no reader. */
static void each_open(struct tacho_fuse_mount *m,
		      void (*fn)(struct tacho_fuse_mount *m, struct tacho_fuse_node *node))
{
	struct tacho_fuse_node **list;
	uint32_t nr;

	list = get_open(m, &nr);
	for (uint32_t i = 0; i < nr; i++) {
		fn(m, list[i]);
		tacho_fuse_node_put(m, list[i], 1);
	}
	free(list);
}

void tacho_fuse_kept_forget(struct tacho_fuse_mount *m)
{
	each_open(m, forget);
}

void tacho_fuse_kept_look(struct tacho_fuse_mount *m)
{
	each_open(m, look);
}
