// SPDX-License-Identifier: MIT
/* Paths, directories and open files. */
#include "compat/ftrace/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/text.h"
#include "compat/ftrace/priv.h"
#include "compat/ftrace/store.h"

#define TEXT_MAX	((size_t)256 << 20)
#define WRITE_MAX	((size_t)1 << 20)

enum place_kind {
	PLACE_TOP, PLACE_EVENTS, PLACE_SYSTEM, PLACE_EVENT, PLACE_OPTIONS,
	PLACE_PER_CPU, PLACE_CPU, PLACE_INSTANCES, PLACE_FILE,
};

/* What a path names. */
struct place {
	enum place_kind kind;
	struct tree_inst *inst;		/* a reference */
	const struct tree_node *node;	/* FILE */
	int32_t cpu;
	uint32_t option;
	bool may_go;			/* tacho_tree_stat */
	char system[TACHO_RULE_MAX], event[TACHO_RULE_MAX];
};

/* ---- paths ---- */

/* The next component of *path to word; false: there is none, or it is too long. */
static bool next_word(const char **path, char *word, size_t size)
{
	const char *at = *path + strspn(*path, "/");
	size_t len = strcspn(at, "/");

	*path = at + len;
	if (!len || len >= size)
		return false;
	memcpy(word, at, len);
	word[len] = '\0';
	return true;
}

static bool at_end(const char *path)
{
	return !path[strspn(path, "/")];
}

/* Whether a file is there in an instance. */
static bool is_there(const struct tree_node *node, const struct tree_inst *inst)
{
	if ((node->kernel || node->passed) && !tree_has_kernel(inst->tree))
		return false;
	if (node->passed && faccessat(inst->tree->tracefs.dirfd, node->name, F_OK, 0))
		return false;
	return !node->top || !strcmp(inst->name, inst->tree->top_name);
}

static const struct tree_node *find_node(const struct tree_node *const *table,
					 const struct tree_inst *inst,
					 const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return is_there(*table, inst) ? *table : NULL;
	return NULL;
}

/* A file of a table, which ends the path. */
static int file_place(struct place *p, const struct tree_node *const *table,
		      const char *name, const char *rest)
{
	p->node = find_node(table, p->inst, name);
	if (!p->node)
		return -ENOENT;
	p->kind = PLACE_FILE;
	return at_end(rest) ? 0 : -ENOTDIR;
}

/* The files of one event; of the tracer's own, ids where the kernel has them. */
static const struct tree_node *const *event_nodes(const struct place *p)
{
	char path[TACHO_RULE_MAX + 24];

	if (!tree_is_own(p->system))
		return tree_event_nodes;
	(void)snprintf(path, sizeof(path), "events/" TREE_OWN "/%s/id", p->event);
	if (!tree_has_kernel(p->inst->tree))
		return tree_own_id_nodes;
	if (!strcmp(p->event, "print"))
		return tree_print_nodes;
	return faccessat(p->inst->tree->tracefs.dirfd, path, F_OK, 0) ?
	       tree_own_nodes : tree_own_id_nodes;
}

/* Whether its system, or its event, is there: 0, -ENOENT, or why that is not known. */
static int find_event(struct place *p, const char *event)
{
	bool fixed;
	int there;

	pthread_mutex_lock(&p->inst->lock);
	there = tree_is_event(p->inst, p->system, event, &fixed);
	pthread_mutex_unlock(&p->inst->lock);
	if (there <= 0)
		return there < 0 ? there : -ENOENT;
	p->may_go = !fixed;
	return 0;
}

static int events_place(struct place *p, const char *rest)
{
	const struct tree_node *file;
	char word[TACHO_RULE_MAX];
	int err;

	p->kind = PLACE_EVENTS;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, p->system, sizeof(p->system)))
		return -ENOENT;
	if (find_node(tree_events_nodes, p->inst, p->system)) {
		memcpy(word, p->system, sizeof(word));
		p->system[0] = '\0';
		return file_place(p, tree_events_nodes, word, rest);
	}
	if (at_end(rest)) {
		p->kind = PLACE_SYSTEM;
		return find_event(p, NULL);
	}
	if (!next_word(&rest, p->event, sizeof(p->event)))
		return -ENOENT;
	/* the system's own files first: an event that is not there takes a fresh list */
	file = tree_is_own(p->system) ? NULL :
	       find_node(tree_system_nodes, p->inst, p->event);
	err = find_event(p, file ? NULL : p->event);
	if (!err && file) {
		memcpy(word, p->event, sizeof(word));
		p->event[0] = '\0';
		return file_place(p, tree_system_nodes, word, rest);
	}
	p->kind = PLACE_EVENT;
	if (err)
		return err;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, word, sizeof(word)))
		return -ENOENT;
	return file_place(p, event_nodes(p), word, rest);
}

static int options_place(struct place *p, const char *rest)
{
	char word[64];
	const char *name;

	p->kind = PLACE_OPTIONS;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, word, sizeof(word)))
		return -ENOENT;
	for (p->option = 0; (name = tree_option_name(p->option)); p->option++)
		if (!strcmp(name, word))
			break;
	if (!name)
		return -ENOENT;
	p->node = &tree_option_node;
	p->kind = PLACE_FILE;
	return at_end(rest) ? 0 : -ENOTDIR;
}

static uint32_t nr_cpus(const struct tree_inst *inst)
{
	return inst->session.view.ring.nr_cpus;
}

static int cpu_place(struct place *p, const char *rest)
{
	char word[64];
	uint64_t cpu;

	p->kind = PLACE_PER_CPU;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, word, sizeof(word)) || strncmp(word, "cpu", 3) ||
	    tree_number(word + 3, UINT32_MAX, &cpu) || cpu >= nr_cpus(p->inst))
		return -ENOENT;
	p->cpu = (int32_t)cpu;
	p->kind = PLACE_CPU;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, word, sizeof(word)))
		return -ENOENT;
	return file_place(p, tree_cpu_nodes, word, rest);
}

/* What is inside an instance's directory. */
static int inst_place(struct place *p, const char *rest)
{
	char word[64];

	p->kind = PLACE_TOP;
	if (at_end(rest))
		return 0;
	if (!next_word(&rest, word, sizeof(word)))
		return -ENOENT;
	if (!strcmp(word, "events"))
		return events_place(p, rest);
	if (!strcmp(word, "options"))
		return options_place(p, rest);
	if (!strcmp(word, "per_cpu"))
		return cpu_place(p, rest);
	return file_place(p, tree_top_nodes, word, rest);
}

/* Finds what a path names.  When 0 is returned, place_put() follows. */
static int place_get(struct tacho_tree *tree, const char *path, struct place *p)
{
	char word[TACHO_NAME_MAX];
	const char *rest = path;
	int err;

	*p = (struct place){ .cpu = -1 };
	if (next_word(&rest, word, sizeof(word)) && !strcmp(word, "instances")) {
		p->kind = PLACE_INSTANCES;
		if (at_end(rest)) {
			err = tree_inst_get(tree, tree->top_name, &p->inst);
			return err;
		}
		if (!next_word(&rest, word, sizeof(word)) ||
		    !strcmp(word, tree->top_name))
			return -ENOENT;
		err = tree_inst_get(tree, word, &p->inst);
		/* no session can have that name */
		if (err == -EINVAL)
			err = -ENOENT;
	} else {
		rest = path;
		err = tree_inst_get(tree, tree->top_name, &p->inst);
	}
	if (err)
		return err;
	/* another tool may destroy a session */
	p->may_go = strcmp(p->inst->name, tree->top_name) != 0;
	err = inst_place(p, rest);
	if (err)
		tree_inst_put(p->inst);
	else if (p->kind == PLACE_FILE || !at_end(rest))
		p->may_go &= p->kind == PLACE_SYSTEM || p->kind == PLACE_EVENT;
	return err;
}

static void place_put(struct place *p)
{
	tree_inst_put(p->inst);
}

/* ---- attributes ---- */

#define DIR_MODE	(S_IFDIR | 0700u)

static uint32_t file_mode(const struct tree_node *node)
{
	return S_IFREG | (node->mode & 0700u);
}

static struct tree_attr *find_attr(struct tacho_tree *tree, const char *path)
{
	struct tree_attr *a = tree->attrs;

	while (a && strcmp(a->path, path))
		a = a->next;
	return a;
}

/* All of one entry but may_go; mode is that of a new one. */
static void fill_stat(struct tacho_tree *tree, const char *path, uint32_t mode,
		      struct tacho_tree_stat *st)
{
	const struct tree_attr *a;

	*st = (struct tacho_tree_stat){
		.ino = tacho_hash(path, strlen(path), 0) | 1,
		.mode = tree->config.gid_reads ? mode | (mode & 0700) >> 3 : mode,
		.uid = tree->config.uid, .gid = tree->config.gid,
	};
	pthread_mutex_lock(&tree->lock);
	a = find_attr(tree, path);
	if (a && a->mode != UINT32_MAX)
		st->mode = (st->mode & S_IFMT) | (a->mode & 07777);
	if (a && a->uid != UINT32_MAX)
		st->uid = a->uid;
	if (a && a->gid != UINT32_MAX)
		st->gid = a->gid;
	pthread_mutex_unlock(&tree->lock);
}

int tacho_tree_stat(struct tacho_tree *tree, const char *path,
		    struct tacho_tree_stat *st)
{
	struct place p;
	int err = place_get(tree, path, &p);

	if (err)
		return err;
	fill_stat(tree, path, p.node ? file_mode(p.node) : DIR_MODE, st);
	st->may_go = p.may_go;
	place_put(&p);
	return 0;
}

static int set_attr(struct tacho_tree *tree, const char *path, uint32_t mode,
		    uint32_t uid, uint32_t gid)
{
	struct tree_attr *a;
	struct place p;
	int err = place_get(tree, path, &p);

	if (err)
		return err;
	place_put(&p);
	pthread_mutex_lock(&tree->lock);
	a = find_attr(tree, path);
	if (!a) {
		a = malloc(sizeof(*a) + strlen(path) + 1);
		if (a) {
			*a = (struct tree_attr){ tree->attrs, UINT32_MAX, UINT32_MAX,
						 UINT32_MAX };
			memcpy(a->path, path, strlen(path) + 1);
			tree->attrs = a;
		}
	}
	if (a && mode != UINT32_MAX)
		a->mode = mode;
	if (a && uid != UINT32_MAX)
		a->uid = uid;
	if (a && gid != UINT32_MAX)
		a->gid = gid;
	pthread_mutex_unlock(&tree->lock);
	return a ? 0 : -ENOMEM;
}

int tacho_tree_chmod(struct tacho_tree *tree, const char *path, uint32_t mode)
{
	return set_attr(tree, path, mode, UINT32_MAX, UINT32_MAX);
}

int tacho_tree_chown(struct tacho_tree *tree, const char *path, uint32_t uid,
		     uint32_t gid)
{
	return set_attr(tree, path, UINT32_MAX, uid, gid);
}

int tacho_tree_truncate(struct tacho_tree *tree, const char *path)
{
	struct place p;
	int err = place_get(tree, path, &p);

	if (err)
		return err;
	if (p.kind != PLACE_FILE)
		err = -EISDIR;
	place_put(&p);
	return err;
}

/* ---- directories ---- */

typedef int (*list_fn)(const char *name, const struct tacho_tree_stat *st, void *arg);

struct lister {
	struct tacho_tree *tree;
	const char *dir;	/* its path */
	list_fn fn;
	void *arg;
};

/* One entry; mode is that of a new one. */
static int list_entry(const struct lister *l, const char *name, uint32_t mode, bool may_go)
{
	char path[3 * TACHO_RULE_MAX + TACHO_NAME_MAX];
	struct tacho_tree_stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	fill_stat(l->tree, path, mode, &st);
	st.may_go = may_go;
	return l->fn(name, &st, l->arg);
}

static int list_dir(const struct lister *l, const char *name, bool may_go)
{
	return list_entry(l, name, DIR_MODE, may_go);
}

static int list_nodes(const struct tree_node *const *table,
		      const struct tree_inst *inst, const struct lister *l)
{
	int ret = 0;

	for (; !ret && *table; table++)
		if (is_there(*table, inst))
			ret = list_entry(l, (*table)->name, file_mode(*table), false);
	return ret;
}

static int list_top(const struct place *p, const struct lister *l)
{
	int ret = list_nodes(tree_top_nodes, p->inst, l);

	if (!ret)
		ret = list_dir(l, "events", false);
	if (!ret)
		ret = list_dir(l, "options", false);
	if (!ret)
		ret = list_dir(l, "per_cpu", false);
	if (!ret && !strcmp(p->inst->name, p->inst->tree->top_name))
		ret = list_dir(l, "instances", false);
	return ret;
}

/* A system that has a fixed event stays. */
static bool system_is_fixed(const struct tree_event *e, size_t nr, size_t i)
{
	size_t first = i;

	for (; i < nr && !strcmp(e[i].system, e[first].system); i++)
		if (e[i].fixed)
			return true;
	return false;
}

/*
 * Systems, or the events of one, each name after a byte that says whether it may go; a
 * copy, so that no lock is held when fn is called.
 */
static int copy_events(const struct place *p, struct tacho_buf *names)
{
	const struct tree_event *e;
	const char *last = "", *name;
	size_t nr;
	bool fixed;

	pthread_mutex_lock(&p->inst->lock);
	e = tree_events(p->inst, p->kind == PLACE_EVENTS || p->may_go, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (p->kind == PLACE_EVENTS) {
			if (!strcmp(e[i].system, last))
				continue;
			name = last = e[i].system;
			fixed = system_is_fixed(e, nr, i);
		} else if (!strcmp(e[i].system, p->system)) {
			name = e[i].name;
			fixed = e[i].fixed;
		} else {
			continue;
		}
		tacho_buf_putc(names, fixed ? '.' : '-');
		tacho_buf_put(names, name, strlen(name) + 1);
	}
	pthread_mutex_unlock(&p->inst->lock);
	return e ? tacho_buf_error(names) : -ENOMEM;
}

static int list_events(const struct place *p, const struct lister *l)
{
	struct tacho_buf names;
	int ret;

	tacho_buf_init(&names, TEXT_MAX);
	ret = copy_events(p, &names);
	for (size_t at = 0; !ret && at < names.len; at += strlen(names.data + at) + 1)
		ret = list_dir(l, names.data + at + 1, names.data[at] == '-');
	tacho_buf_release(&names);
	return ret;
}

static int list_options(const struct lister *l)
{
	const char *name;
	int ret = 0;

	for (uint32_t i = 0; !ret && (name = tree_option_name(i)); i++)
		ret = list_entry(l, name, file_mode(&tree_option_node), false);
	return ret;
}

static int list_cpus(const struct place *p, const struct lister *l)
{
	char name[32];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < nr_cpus(p->inst); i++) {
		(void)snprintf(name, sizeof(name), "cpu%u", i);
		ret = list_dir(l, name, false);
	}
	return ret;
}

static int list_instance(const char *name, void *arg)
{
	const struct lister *l = arg;

	return list_dir(l, name, true);
}

int tacho_tree_list(struct tacho_tree *tree, const char *path, list_fn fn, void *arg)
{
	struct lister l = { tree, strcmp(path, "/") ? path : "", fn, arg };
	struct place p;
	int ret = place_get(tree, path, &p);

	if (ret)
		return ret;
	switch (p.kind) {
	case PLACE_TOP:
		ret = list_top(&p, &l);
		break;
	case PLACE_EVENTS:
		ret = list_nodes(tree_events_nodes, p.inst, &l);
		ret = ret ? ret : list_events(&p, &l);
		break;
	case PLACE_SYSTEM:
		if (!tree_is_own(p.system))
			ret = list_nodes(tree_system_nodes, p.inst, &l);
		ret = ret ? ret : list_events(&p, &l);
		break;
	case PLACE_EVENT:
		ret = list_nodes(event_nodes(&p), p.inst, &l);
		break;
	case PLACE_OPTIONS:
		ret = list_options(&l);
		break;
	case PLACE_PER_CPU:
		ret = list_cpus(&p, &l);
		break;
	case PLACE_CPU:
		ret = list_nodes(tree_cpu_nodes, p.inst, &l);
		break;
	case PLACE_INSTANCES:
		ret = tree_inst_each(tree, list_instance, &l);
		break;
	case PLACE_FILE:
	default:
		ret = -ENOTDIR;
	}
	place_put(&p);
	return ret;
}

/* "/instances/NAME": NAME. */
static int instance_name(const char *path, char name[TACHO_NAME_MAX])
{
	char word[16];

	if (!next_word(&path, word, sizeof(word)) || strcmp(word, "instances"))
		return -EPERM;
	if (at_end(path))
		return -EPERM;
	if (!next_word(&path, name, TACHO_NAME_MAX))
		return -ENAMETOOLONG;
	return at_end(path) ? 0 : -EPERM;
}

/* What is made again by that name begins again. */
static void forget_attrs(struct tacho_tree *tree, const char *path)
{
	struct tree_attr **at = &tree->attrs;
	size_t len = strlen(path);

	pthread_mutex_lock(&tree->lock);
	while (*at) {
		struct tree_attr *a = *at;

		if (strncmp(a->path, path, len) || (a->path[len] && a->path[len] != '/')) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		free(a);
	}
	pthread_mutex_unlock(&tree->lock);
}

int tacho_tree_mkdir(struct tacho_tree *tree, const char *path)
{
	char name[TACHO_NAME_MAX];
	int err = instance_name(path, name);

	if (!err)
		err = tree_inst_make(tree, name);
	/* another tool may have destroyed the one before */
	if (!err)
		forget_attrs(tree, path);
	return err;
}

int tacho_tree_rmdir(struct tacho_tree *tree, const char *path)
{
	char name[TACHO_NAME_MAX];
	int err = instance_name(path, name);

	if (!err && !strcmp(name, tree->top_name))
		err = -ENOENT;
	if (!err)
		err = tree_inst_remove(tree, name);
	if (!err)
		forget_attrs(tree, path);
	return err;
}

/* ---- files ---- */

static int begin_file(struct tacho_tree_file *f)
{
	int writes = (f->flags & O_ACCMODE) != O_RDONLY;
	int err = 0;

	if (f->node->open)
		err = f->node->open(f);
	if (err)
		return err;
	if (writes && f->flags & O_TRUNC && f->node->trunc) {
		pthread_mutex_lock(&f->inst->lock);
		tree_servers_use(f->inst);
		err = f->node->trunc(f);
		tree_settings_save(f->inst);
		pthread_mutex_unlock(&f->inst->lock);
		if (err && f->node->close)
			f->node->close(f);
	}
	return err;
}

int tacho_tree_open_file(struct tacho_tree *tree, const char *path, int flags,
			 const struct tacho_tree_caller *caller,
			 struct tacho_tree_file **out)
{
	struct tacho_tree_file *f;
	struct place p;
	int err = place_get(tree, path, &p);

	if (err)
		return err;
	if (p.kind != PLACE_FILE) {
		place_put(&p);
		return -EISDIR;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		place_put(&p);
		return -ENOMEM;
	}
	f->inst = p.inst;
	f->closed = caller->passing;
	tree_inst_use(f->inst, 1, caller->passing);
	f->node = p.node;
	f->flags = flags;
	f->cpu = p.cpu;
	f->option = p.option;
	memcpy(f->system, p.system, sizeof(f->system));
	memcpy(f->event, p.event, sizeof(f->event));
	pthread_mutex_init(&f->lock, NULL);
	tacho_buf_init(&f->text, TEXT_MAX);
	err = begin_file(f);
	if (err) {
		f->node = NULL;
		tacho_tree_close_file(f);
		return err;
	}
	*out = f;
	return 0;
}

void tacho_tree_close_file(struct tacho_tree_file *f)
{
	if (!f)
		return;
	if (f->node && f->node->close)
		f->node->close(f);
	tree_inst_use(f->inst, -1, -(int)tacho_load_relaxed(&f->closed));
	tree_inst_put(f->inst);
	tacho_buf_release(&f->text);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void tacho_tree_flush(struct tacho_tree_file *f)
{
	if (!tacho_swap_seq_cst(&f->closed, true))
		tree_inst_use(f->inst, 0, 1);
}

/* The file is still in use. */
static void is_used(struct tacho_tree_file *f)
{
	if (tacho_load_relaxed(&f->closed) &&
	    tacho_swap_seq_cst(&f->closed, false))
		tree_inst_use(f->inst, 0, -1);
}

/* Text that is made as a whole. */
static ssize_t read_text(struct tacho_tree_file *f, void *to, size_t size,
			 uint64_t offset)
{
	size_t n;
	int err;

	if (!offset || !f->shown) {
		tacho_buf_reset(&f->text);
		if (!f->node->unlocked)
			pthread_mutex_lock(&f->inst->lock);
		err = f->node->show(f, &f->text);
		if (!f->node->unlocked)
			pthread_mutex_unlock(&f->inst->lock);
		if (!err)
			err = tacho_buf_error(&f->text);
		if (err)
			return err;
		f->shown = true;
	}
	if (offset >= f->text.len)
		return 0;
	n = f->text.len - (size_t)offset;
	if (n > size)
		n = size;
	memcpy(to, f->text.data + offset, n);
	return (ssize_t)n;
}

ssize_t tacho_tree_read(struct tacho_tree_file *f, void *to, size_t size,
			uint64_t offset, const struct tacho_tree_caller *caller)
{
	ssize_t n;

	if (!caller->passing)
		is_used(f);
	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	pthread_mutex_lock(&f->lock);
	if (f->node->read)
		n = f->node->read(f, to, size, offset, caller);
	else if (f->node->show)
		n = read_text(f, to, size, offset);
	else
		n = -EINVAL;
	pthread_mutex_unlock(&f->lock);
	return n;
}

ssize_t tacho_tree_write(struct tacho_tree_file *f, const void *from, size_t size,
			 const struct tacho_tree_caller *caller)
{
	ssize_t n;
	char *text;

	is_used(f);
	if ((f->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!f->node->store)
		return -EINVAL;
	if (size > WRITE_MAX)
		size = WRITE_MAX;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, from, size);
	text[size] = '\0';
	pthread_mutex_lock(&f->inst->lock);
	tree_servers_use(f->inst);
	n = f->node->store(f, text, size, caller);
	tree_settings_save(f->inst);
	pthread_mutex_unlock(&f->inst->lock);
	free(text);
	return n;
}

unsigned int tacho_tree_poll(struct tacho_tree_file *f)
{
	if (f->node->poll)
		return f->node->poll(f);
	return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
}

bool tacho_tree_is_stream(const struct tacho_tree_file *f)
{
	return f->node->stream;
}

bool tacho_tree_is_paged(const struct tacho_tree_file *f)
{
	return f->node->paged;
}

bool tacho_tree_is_kept(const struct tacho_tree_file *f)
{
	return f->node->kept;
}

/* ---- small things for all files ---- */

char *tree_trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n\v\f");
	len = strlen(text);
	while (len && strchr(" \t\r\n\v\f", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* As the kernel's kstrtoul(): a plus before it and one newline after it are allowed. */
int tree_number(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t v;
	int err;

	if (*text == '+')
		text++;
	err = tacho_scan_digits(&text, NULL, 10, UINT64_MAX, &v);
	if (err)
		return err;
	if (*text == '\n')
		text++;
	if (*text || v > max)
		return -EINVAL;
	*value = v;
	return 0;
}

/* ---- the tree ---- */

static bool readme_has(const struct tacho_tracefs *t, const char *words)
{
	struct tacho_buf b;
	bool has;

	tacho_buf_init(&b, (size_t)1 << 20);
	has = !tacho_buf_read_fileat(&b, t->dirfd, "README") &&
	      strstr(tacho_buf_str(&b), words);
	tacho_buf_release(&b);
	return has;
}

static uint32_t count_cpus(const struct tacho_tracefs *t)
{
	char path[48];
	uint32_t n = 0;

	do
		(void)snprintf(path, sizeof(path), "per_cpu/cpu%u", n);
	while (!faccessat(t->dirfd, path, F_OK, 0) && ++n < 8192);
	return n;
}

static void find_kernel(struct tacho_tree *t)
{
	t->tracefs.dirfd = -1;
	if (t->config.no_kernel) {
		(void)tacho_diag(&t->without, -ENODEV, 0,
				 "kernel events were not asked for");
		return;
	}
	if (tacho_tracefs_open(&t->tracefs, TACHO_TRACEFS_MOUNT, &t->without)) {
		t->tracefs.dirfd = -1;
		return;
	}
	t->nr_cpus = count_cpus(&t->tracefs);
	t->has_hist = readme_has(&t->tracefs, "hist trigger");
}

int tacho_tree_open(struct tacho_tree **out, const struct tacho_tree_config *config,
		    struct tacho_diag *d)
{
	struct tacho_tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return tacho_no_memory(d);
	t->config = *config;
	(void)snprintf(t->top_name, sizeof(t->top_name), "%s",
		       config->session ? config->session : "tracing");
	t->config.session = t->top_name;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->symbols_lock, NULL);
	find_kernel(t);
	t->types = tree_types_new();
	err = t->types ? tree_insts_open(t, d) :
			 tacho_no_memory(d);
	if (!err) {
		err = tree_pump_start(t);
		if (err)
			(void)tacho_diag(d, err, 0, "cannot start a thread: %s", strerror(-err));
	}
	if (err) {
		tacho_tree_close(t, true);
		return err;
	}
	*out = t;
	return 0;
}

void tacho_tree_close(struct tacho_tree *t, bool destroy)
{
	tree_pump_stop(t);
	tree_insts_close(t, destroy);
	tree_types_free(t->types);
	for (struct tree_attr *a = t->attrs, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	tacho_tracefs_close(&t->tracefs);
	if (t->symbols)
		tree_symbols_put(t, t->symbols);
	pthread_mutex_destroy(&t->symbols_lock);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

const char *tacho_tree_without(const struct tacho_tree *tree)
{
	return tree_has_kernel(tree) ? NULL : tree->without.text;
}
