// SPDX-License-Identifier: MIT
/* The life of an instance: a session, and its part of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/text.h"
#include "compat/ftrace/priv.h"
#include "compat/ftrace/store.h"
#include "ring/write.h"
#include "sys/clock.h"

#define BUFFER_SIZE	((uint64_t)2 << 20)
#define CALL_NS		1000000		/* how often, and how long, calls are waited for */
#define CALL_TRIES	5000
#define KERNEL_TEXT	((size_t)64 << 20)

/* ---- opening and closing, under tree->lock ---- */

/* The kernel's part is left as it is. */
static void inst_free(struct tree_inst *inst)
{
	tree_store_free(inst->store);
	tacho_kernel_leave(inst->kernel);
	if (inst->own_fd >= 0)
		close(inst->own_fd);
	if (inst->use_fd >= 0)
		close(inst->use_fd);
	tree_catalog_free(inst->catalog);
	tacho_session_close(&inst->session);
	tacho_dir_close(&inst->dir);
	pthread_mutex_destroy(&inst->lock);
	pthread_mutex_destroy(&inst->pipe);
	free(inst->mark);
	free(inst->piped);
	tree_swaps_release(&inst->swaps);
	tree_broken_free(inst->broken);
	for (int i = 0; i < TREE_STATS; i++)
		if (inst->stat[i].tid)
			close(inst->stat[i].fd);
	free(inst);
}

static int make_session(struct tree_inst *inst, const char *name,
			struct tacho_diag *d)
{
	const struct tacho_tree_config *tc = &inst->tree->config;
	struct tacho_session_config c = {
		.name = name, .flags = TACHO_SESSION_OVERWRITE, .clock = -1,
		.lane_size = tc->buffer_size ? tc->buffer_size : BUFFER_SIZE,
		.sub_size = (uint64_t)64 << 10,
	};

	while (c.lane_size < 2 * c.sub_size && c.sub_size > 4096)
		c.sub_size /= 2;
	return tacho_session_create(&inst->session, &inst->dir, &c, d);
}

static void init_inst(struct tree_inst *inst, struct tacho_tree *tree, const char *name)
{
	pthread_mutexattr_t attr;

	inst->tree = tree;
	(void)snprintf(inst->name, sizeof(inst->name), "%s", name);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&inst->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_mutex_init(&inst->pipe, NULL);
	inst->buffer_percent = 50;
	inst->cmdlines_size = 128;
	inst->options = tree_options_default();
	inst->dir.fd = inst->dir.lock_fd = inst->own_fd = inst->use_fd = -1;
}

/* Opens the session, or makes it. */
static int open_or_make(struct tree_inst *inst, const char *name, bool make, struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	int err = tacho_session_open(&inst->session, &inst->dir, name, &why);

	if (err == -ENOENT && make) {
		err = make_session(inst, name, d);
		inst->made = !err;
	} else if (err) {
		(void)tacho_diag(d, err, 0, "%s", why.text);
	}
	return err;
}

/* What is known of the session's lanes and snapshots; false: no memory. */
static bool note_lanes(struct tree_inst *inst, const struct tacho_tree *tree)
{
	inst->requested = tacho_load_acquire(&inst->session.view.ctl->requested);
	inst->requested_at = tacho_load_relaxed(&inst->session.view.ctl->requested_at);
	inst->nr_lanes = inst->session.view.ring.nr_cpus + 1;
	if (inst->nr_lanes <= tree->nr_cpus)
		inst->nr_lanes = tree->nr_cpus + 1;
	inst->mark = calloc((size_t)4 * inst->nr_lanes, sizeof(*inst->mark));
	inst->piped = calloc(inst->nr_lanes, sizeof(*inst->piped));
	return inst->mark && inst->piped;
}

/* Opens the session, or makes it; and all that does not need the kernel. */
static int inst_open(struct tacho_tree *tree, const char *name, bool make,
		     struct tree_inst **out, struct tacho_diag *d)
{
	struct tree_inst *inst = calloc(1, sizeof(*inst));
	int err;

	if (!inst)
		return tacho_no_memory(d);
	init_inst(inst, tree, name);
	err = tacho_dir_open(&inst->dir, true, d);
	if (err)
		goto fail;
	err = open_or_make(inst, name, make, d);
	if (err)
		goto fail_dir;
	if (!note_lanes(inst, tree)) {
		if (inst->made)
			(void)tacho_session_destroy(&inst->session, NULL);
		inst_free(inst);
		return tacho_no_memory(d);
	}
	tree_settings_own(inst);
	if (inst->made)
		inst->unsaved = true;
	else
		tree_settings_load(inst);
	pthread_mutex_lock(&inst->lock);
	if (inst->made || !strcmp(name, tree->top_name))
		tree_servers_use(inst);
	tree_settings_restore(inst);
	tree_settings_save(inst);
	pthread_mutex_unlock(&inst->lock);
	*out = inst;
	return 0;
fail_dir:
	tacho_dir_close(&inst->dir);
fail:
	pthread_mutex_destroy(&inst->lock);
	pthread_mutex_destroy(&inst->pipe);
	free(inst);
	return err;
}

static struct tree_inst *find(struct tacho_tree *tree, const char *name)
{
	for (struct tree_inst *i = tree->insts; i; i = i->next)
		if (!i->gone && !strcmp(i->name, name))
			return i;
	return NULL;
}

static void link_inst(struct tacho_tree *tree, struct tree_inst *inst)
{
	struct tree_inst **at = &tree->insts;

	while (*at)
		at = &(*at)->next;
	*at = inst;
}

static void unlink_inst(struct tacho_tree *tree, struct tree_inst *inst)
{
	struct tree_inst **at = &tree->insts;

	while (*at && *at != inst)
		at = &(*at)->next;
	if (*at)
		*at = inst->next;
}

/* Whether a session of that name is still the one that is open here. */
static bool is_alive(const struct tree_inst *inst)
{
	const struct tacho_view *v = &inst->session.view;

	return tacho_load_acquire(&v->ctl->state) != TACHO_STATE_DEAD;
}

/*
 * The end of an instance whose session is destroyed, when its last file is closed.  Its
 * part of the kernel goes, too, if there is not a new one of its name by now.
 */
static void inst_end(struct tree_inst *inst)
{
	struct tacho_tree *tree = inst->tree;

	unlink_inst(tree, inst);
	if (inst->kernel && !find(tree, inst->name)) {
		tree_store_free(inst->store);
		inst->store = NULL;
		(void)tacho_kernel_destroy(inst->kernel);
		inst->kernel = NULL;
	}
	inst_free(inst);
}

/* The instance if it is open; not one that another tool has destroyed. */
static struct tree_inst *find_alive(struct tacho_tree *tree, const char *name)
{
	struct tree_inst *inst = find(tree, name);

	if (!inst || is_alive(inst))
		return inst;
	inst->gone = true;
	if (!inst->refs)
		inst_end(inst);
	return NULL;
}

/* What was set in it, it has again when it is opened again. */
static void let_go(struct tree_inst *inst)
{
	tree_settings_save(inst);
	unlink_inst(inst->tree, inst);
	inst_free(inst);
}

void tree_insts_look(struct tacho_tree *tree)
{
	struct tree_inst *inst, *next;

	pthread_mutex_lock(&tree->lock);
	for (inst = tree->insts; inst; inst = next) {
		next = inst->next;
		inst->gone = inst->gone || !is_alive(inst);
		if (inst->refs)
			continue;
		if (inst->gone)
			inst_end(inst);
		else if (tree_servers_requested(inst))
			let_go(inst);
	}
	pthread_mutex_unlock(&tree->lock);
}

/* There is always a top: if its session is destroyed, a new one. */
int tree_inst_get(struct tacho_tree *tree, const char *name, struct tree_inst **out)
{
	bool top = !strcmp(name, tree->top_name);
	struct tree_inst *inst;
	int err = 0;

	pthread_mutex_lock(&tree->lock);
	inst = find_alive(tree, name);
	if (!inst) {
		err = inst_open(tree, name, top, &inst, NULL);
		if (!err)
			link_inst(tree, inst);
	}
	if (!err) {
		inst->refs++;
		*out = inst;
	}
	pthread_mutex_unlock(&tree->lock);
	return err;
}

void tree_inst_put(struct tree_inst *inst)
{
	struct tacho_tree *tree = inst->tree;

	pthread_mutex_lock(&tree->lock);
	inst->refs--;
	if (inst->gone && !inst->refs)
		inst_end(inst);
	pthread_mutex_unlock(&tree->lock);
}

/* mkdir; and the top at the start. */
static int make_under_lock(struct tacho_tree *tree, const char *name,
			   struct tacho_diag *d)
{
	struct tree_inst *inst;
	int err = inst_open(tree, name, true, &inst, d);

	if (!err)
		link_inst(tree, inst);
	return err;
}

static int is_name(const char *name, const char *path, void *arg)
{
	(void)path;
	return !strcmp(name, arg);
}

int tree_inst_make(struct tacho_tree *tree, const char *name)
{
	struct tacho_diag d = { 0 };
	struct tacho_dir dir;
	int err;

	pthread_mutex_lock(&tree->lock);
	err = tacho_dir_open(&dir, true, &d);
	if (!err) {
		if (tacho_sessions_each(&dir, is_name, (void *)(uintptr_t)name))
			err = -EEXIST;
		tacho_dir_close(&dir);
	}
	if (!err)
		err = make_under_lock(tree, name, &d);
	pthread_mutex_unlock(&tree->lock);
	return err;
}

/* The session and its instance in the kernel end; inst is gone. */
static int destroy(struct tree_inst *inst)
{
	struct tacho_tree *tree = inst->tree;
	int err;

	tree_store_free(inst->store);
	inst->store = NULL;
	if (inst->kernel) {
		err = tacho_kernel_destroy(inst->kernel);
		inst->kernel = NULL;
	} else {
		err = tree_has_kernel(tree) ?
		      tacho_kernel_remove_kept(&tree->tracefs, inst->name) : 0;
	}
	if (!err || err == -ENOENT)
		err = tacho_session_destroy(&inst->session, NULL);
	unlink_inst(tree, inst);
	inst_free(inst);
	return err;
}

/* The instance, opened if need be; tree->lock is held. */
static int find_or_open(struct tacho_tree *tree, const char *name,
			struct tree_inst **out)
{
	int err = 0;

	*out = find_alive(tree, name);
	if (*out)
		return 0;
	err = inst_open(tree, name, false, out, NULL);
	if (!err)
		link_inst(tree, *out);
	return err;
}

/*
 * Open files make it busy.  A call that is under way is waited for, and so are files that were
 * closed: close(2) waits for FUSE's flush, its release comes a moment later.  A flush may
 * also be that of a copy of the descriptor: then it takes long until it is busy.  So it does
 * when files are open through another server; one that has none lets go (servers.c).
 */
int tree_inst_remove(struct tacho_tree *tree, const char *name)
{
	const struct timespec pause = { .tv_nsec = CALL_NS };
	struct tree_inst *inst;
	int err;

	pthread_mutex_lock(&tree->lock);
	for (int i = 0; !(err = find_or_open(tree, name, &inst)); i++) {
		if (!inst->refs && tree_servers_ask(inst)) {
			err = destroy(inst);
			break;
		}
		if (i == CALL_TRIES || inst->files > inst->closing) {
			tree_servers_stay(inst);
			err = -EBUSY;
			break;
		}
		pthread_mutex_unlock(&tree->lock);
		(void)nanosleep(&pause, NULL);
		pthread_mutex_lock(&tree->lock);
	}
	pthread_mutex_unlock(&tree->lock);
	return err;
}

void tree_inst_use(struct tree_inst *inst, int files, int closing)
{
	pthread_mutex_lock(&inst->tree->lock);
	inst->files += (uint32_t)files;
	inst->closing += (uint32_t)closing;
	pthread_mutex_unlock(&inst->tree->lock);
}

struct each {
	int (*fn)(const char *name, void *arg);
	void *arg;
	const char *top;
};

static int each_session(const char *name, const char *path, void *arg)
{
	struct each *e = arg;

	(void)path;
	return strcmp(name, e->top) ? e->fn(name, e->arg) : 0;
}

int tree_inst_each(struct tacho_tree *tree, int (*fn)(const char *name, void *arg),
		   void *arg)
{
	struct each e = { fn, arg, tree->top_name };
	struct tacho_dir dir;
	int ret = tacho_dir_open(&dir, true, NULL);

	if (ret)
		return ret;
	ret = tacho_sessions_each(&dir, each_session, &e);
	tacho_dir_close(&dir);
	return ret;
}

/*
 * Whether the session is to be put away: it is no other server's any more, was made by a mount
 * and is not being recorded.  Its part of the kernel is closed, so that another can remove it.
 */
static bool is_to_end(struct tree_inst *inst)
{
	tree_settings_save(inst);
	tree_store_free(inst->store);
	inst->store = NULL;
	tacho_kernel_leave(inst->kernel);
	inst->kernel = NULL;
	if (inst->use_fd >= 0 && !tree_servers_leave(inst))
		return false;
	return (inst->made || inst->use_fd >= 0) && tree_settings_made(inst) &&
	       !tacho_session_owned(inst->session.path);
}

void tree_insts_close(struct tacho_tree *tree, bool destroying)
{
	while (tree->insts) {
		struct tree_inst *inst = tree->insts;

		if (inst->gone || !is_alive(inst)) {
			inst->gone = true;
			inst_end(inst);
			continue;
		}
		if (destroying && is_to_end(inst)) {
			(void)destroy(inst);
			continue;
		}
		if (!destroying) {
			/* no server may end it */
			inst->unsaved |= inst->made;
			inst->made = false;
		}
		let_go(inst);
	}
}

/* ---- the kernel ---- */

struct tacho_kernel *tree_kernel(struct tree_inst *inst)
{
	const struct tacho_ring *r = &inst->session.view.ring;
	struct tacho_kernel_config c = {
		.name = inst->name, .overwrite = true, .keep = true,
		.wake_percent = inst->buffer_percent,
	};
	uint64_t sub = (uint64_t)1 << r->sub_shift;

	if (inst->kernel)
		return inst->kernel;
	if (!tree_has_kernel(inst->tree) || !is_alive(inst)) {
		errno = ENODEV;
		return NULL;
	}
	tree_servers_use(inst);
	c.buffer_size = tree_buffer_size(inst, -1);
	c.subbuf_size = (uint32_t)(sub < 65536 ? sub : 65536);
	errno = -tacho_kernel_create(&inst->kernel, &c, NULL);
	if (!inst->kernel)
		return NULL;
	if (tree_store_new(inst)) {
		if (!tacho_kernel_info(inst->kernel)->found)
			(void)tacho_kernel_destroy(inst->kernel);
		else
			tacho_kernel_leave(inst->kernel);
		inst->kernel = NULL;
		errno = ENOMEM;
		return NULL;
	}
	/* one that was kept may have triggers that switch it */
	inst->switches |= tacho_kernel_info(inst->kernel)->found;
	inst->was_on = tacho_load_acquire(&inst->session.view.ctl->state) ==
		       TACHO_STATE_RECORDING;
	if (!tacho_kernel_info(inst->kernel)->found &&
	    tacho_load_acquire(&inst->session.view.ctl->state) ==
	    TACHO_STATE_RECORDING)
		(void)tacho_kernel_start(inst->kernel, NULL);
	return inst->kernel;
}

bool tree_kernel_is_there(struct tree_inst *inst)
{
	if (!inst->kernel && !inst->looked && tree_has_kernel(inst->tree)) {
		inst->looked = true;
		if (tacho_kernel_is_kept(&inst->tree->tracefs, inst->name))
			(void)tree_kernel(inst);
	}
	return inst->kernel;
}

int tree_kernel_read(struct tree_inst *inst, const char *path, struct tacho_buf *out)
{
	if (!inst->kernel && !tree_kernel(inst))
		return -errno;
	return tacho_buf_read_fileat(out, tacho_kernel_dirfd(inst->kernel), path);
}

/* "  Command: TEXT" and the caret's column, from an entry of the kernel's log. */
static void take_error(struct tree_inst *inst, char *entry)
{
	char *command = strstr(entry, "\n  Command: ");
	char *loc = strstr(entry, "] "), *what, *caret;
	struct tacho_cmd_error e = { .err = -EINVAL };
	char where[80];

	if (!command || !loc || loc > command)
		return;
	*command = '\0';
	command += strlen("\n  Command: ");
	what = strstr(loc += 2, ": error: ");
	caret = strrchr(command, '\n');
	if (!what || !caret)
		return;
	(void)snprintf(where, sizeof(where), "%.*s", (int)(what - loc), loc);
	(void)snprintf(e.text, sizeof(e.text), "%s", what + strlen(": error: "));
	*caret++ = '\0';
	e.column = (uint32_t)strspn(caret, " ");
	e.column -= e.column < 11 ? e.column : 11;
	tree_log_error(inst, where, command, &e);
}

/* The last entry of a log of the kernel's, in b; NULL: it is empty. */
static char *last_error(int dir, struct tacho_buf *b)
{
	char *text, *last;

	tacho_buf_init(b, KERNEL_TEXT);
	if (tacho_buf_read_fileat(b, dir, "error_log") || b->len < 2)
		return NULL;
	text = (char *)(uintptr_t)tacho_buf_str(b);
	text[b->len - 1] = '\0';		/* the last line's end */
	last = text;
	for (char *at = text; (at = strstr(at, "\n[")); at++)
		last = at + 1;
	return last;
}

/* What the kernel said of the last write; its log is emptied. */
static void take_errors(struct tree_inst *inst)
{
	int dir = tacho_kernel_dirfd(inst->kernel);
	struct tacho_buf b;
	char *last = last_error(dir, &b);

	if (last) {
		take_error(inst, last);
		(void)tacho_tracefs_write(dir, "error_log", "\n", false, NULL);
	}
	tacho_buf_release(&b);
}

ssize_t tree_top_write(struct tree_inst *inst, const char *path, const char *text,
		       size_t len, int flags)
{
	int dir = inst->tree->tracefs.dirfd, fd;
	struct tacho_buf before, after;
	char *old, *last;
	ssize_t n = 0;

	fd = openat(dir, path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	old = last_error(dir, &before);
	if (len)
		n = write(fd, text, len);
	if (n < 0) {
		n = -errno;
		/* that log is everybody's: it stays, and what was there is not ours */
		last = last_error(dir, &after);
		if (last && (!old || strcmp(old, last)))
			take_error(inst, last);
		tacho_buf_release(&after);
	}
	close(fd);
	tacho_buf_release(&before);
	return n;
}

int tree_kernel_write(struct tree_inst *inst, const char *path, const char *text,
		      size_t len, bool append)
{
	ssize_t n;
	int fd, err = 0;

	if (!inst->kernel && !tree_kernel(inst))
		return -errno;
	fd = openat(tacho_kernel_dirfd(inst->kernel), path,
		    O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
	if (fd < 0)
		return -errno;
	while (len && !err) {
		n = write(fd, text, len);
		if (n <= 0) {
			err = n ? -errno : -EIO;
			break;
		}
		text += n;
		len -= (size_t)n;
	}
	close(fd);
	/* its parsers have errors of many names; a system's filter even succeeds */
	if (err || strstr(path, "/filter"))
		take_errors(inst);
	return err;
}

/* ---- small things ---- */

void tree_log_error(struct tree_inst *inst, const char *loc, const char *command,
		    const struct tacho_cmd_error *e)
{
	tacho_errlog_add(&inst->errlog, tacho_now_ns(CLOCK_MONOTONIC), loc, command,
			 e);
}

uint64_t tree_now(const struct tree_inst *inst)
{
	return tacho_clock_read_ordered(inst->session.view.ring.clock);
}

uint64_t tree_buffer_size(const struct tree_inst *inst, int32_t cpu)
{
	const struct tacho_ring *r = &inst->session.view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, cpu < 0 ? 0 : (uint32_t)cpu);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	uint32_t id = c && c != TACHO_CURSOR_DEAD ? tacho_cursor_id(c) : 0;

	return (uint64_t)tacho_load_relaxed(&tacho_lane_buffer(lane, id)->nr_subs)
	       << r->sub_shift;
}

static int put_served(const char *name, const char *path, void *names)
{
	char file[TACHO_PATH_MAX + 32];

	(void)snprintf(file, sizeof(file), "%s/" TACHO_SESSION_SETTINGS, path);
	if (!access(file, F_OK))
		tacho_buf_put(names, name, strlen(name) + 1);
	return 0;
}

/* Opens the instances of another server; their settings stay in effect. */
static void open_served(struct tacho_tree *tree)
{
	struct tree_inst *inst;
	struct tacho_buf names;
	struct tacho_dir dir;

	if (tacho_dir_open(&dir, true, NULL))
		return;
	tacho_buf_init(&names, KERNEL_TEXT);
	(void)tacho_sessions_each(&dir, put_served, &names);
	tacho_dir_close(&dir);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
		if (!tree_inst_get(tree, names.data + at, &inst))
			tree_inst_put(inst);
	tacho_buf_release(&names);
}

/* The top's session, when the tree begins. */
int tree_insts_open(struct tacho_tree *tree, struct tacho_diag *d)
{
	int err;

	pthread_mutex_lock(&tree->lock);
	err = make_under_lock(tree, tree->top_name, d);
	pthread_mutex_unlock(&tree->lock);
	if (!err)
		open_served(tree);
	return err;
}
