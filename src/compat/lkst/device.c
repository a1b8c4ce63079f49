// SPDX-License-Identifier: MIT
/* The files of the mounted tree: names, opening, reading. */
#include "compat/lkst/device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/device_priv.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"
#include "sys/futex.h"

#define TEXT_MAX	((size_t)1 << 20)
#define PAGE		4096
#define WAIT_NS		UINT64_C(100000000)	/* between two looks for an interrupt */
#define INO		(UINT64_C(1) << 52)	/* ours begin there */

/* ---- LKST, when it is needed ---- */

/* Under the lock.  Creates a session again if it was destroyed since. */
static int get_lkst(struct tacho_lkst_files *f, bool look)
{
	const struct tacho_lkst_config cfg = { .look = look };
	int err;

	if (f->opened && tacho_load_relaxed(&f->l.session.view.ctl->state) != TACHO_STATE_DEAD)
		return 0;
	if (f->opened) {
		tacho_lkst_pump_stop(f->pump);
		tacho_lkst_close(&f->l);
		f->pump = NULL;
		f->opened = false;
	}
	err = tacho_lkst_open(&f->l, &cfg, NULL);
	f->opened = !err;
	if (!err && !f->watch)
		err = lkst_state_map(&f->watch, NULL, false);
	return err == -EPERM || err == -ENOENT ? err : err ? -ENODEV : 0;
}

/* What programs have registered, a session or not; NULL: none has.  Under the lock. */
static const struct lkst_state *state_of(struct tacho_lkst_files *f)
{
	if (!f->watch && lkst_state_map(&f->watch, NULL, false))
		f->watch = NULL;
	return f->watch;
}

struct tacho_lkst_files *tacho_lkst_files_new(uint32_t owner)
{
	struct tacho_lkst_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->owner = owner;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void tacho_lkst_files_free(struct tacho_lkst_files *f)
{
	if (!f)
		return;
	if (f->opened) {
		tacho_lkst_pump_stop(f->pump);
		tacho_lkst_close(&f->l);
	}
	lkst_state_unmap(f->watch);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int32_t lkst_process_of(int32_t thread)
{
	char path[48], line[128];
	int32_t pid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		(void)sscanf(line, "Tgid: %d", &pid);
	(void)fclose(f);
	return pid;
}

/* ---- paths ---- */

/* Handlers that have files, by name; under the lock.  -1: there is none. */
static int find_device(struct tacho_lkst_files *f, const char *name, size_t len)
{
	const struct lkst_state *s = state_of(f);

	if (!s || !len || len >= LKST_EVHANDLER_NAME_LEN)
		return -1;
	for (uint32_t id = LKST_EVHANDLER_ID_USER; id < LKST_NR_HANDLERS; id++) {
		const struct lkst_handler *h = &s->handler[id];

		/* [described] */
		if (tacho_load_acquire(&h->ready) && h->flags & LKST_HANDLER_SHOW &&
		    !strncmp(h->name, name, len) && !h->name[len] &&
		    lkst_owner_lives(&h->owner))
			return (int)id;
	}
	return -1;
}

static enum lkst_file_kind handler_file(const char *rest)
{
	static const struct {
		const char *name;
		enum lkst_file_kind kind;
	} file[] = {
		{ "", LKST_FILE_HANDLER }, { "/id", LKST_FILE_ID },
		{ "/name", LKST_FILE_NAME }, { "/ctrl", LKST_FILE_CTRL },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(file); i++)
		if (!strcmp(rest, file[i].name))
			return file[i].kind;
	return LKST_FILE_NONE;
}

static enum lkst_file_kind look_up(struct tacho_lkst_files *f, const char *path,
				   uint32_t *handler)
{
	const char *name, *end;
	int id;

	*handler = 0;
	if (!strcmp(path, "/"))
		return LKST_FILE_TOP;
	if (!strcmp(path, "/lkst"))
		return LKST_FILE_DEVICE;
	if (!strcmp(path, "/lkst_etypes"))
		return LKST_FILE_ETYPES;
	if (!strcmp(path, "/class"))
		return LKST_FILE_CLASS;
	if (!strcmp(path, "/class/lkst"))
		return LKST_FILE_CLASS_LKST;
	if (strncmp(path, "/class/lkst/", 12))
		return LKST_FILE_NONE;
	name = path + 12;
	end = strchrnul(name, '/');
	id = find_device(f, name, (size_t)(end - name));
	if (id < 0)
		return LKST_FILE_NONE;
	*handler = (uint32_t)id;
	return handler_file(end);
}

static bool is_dir(enum lkst_file_kind kind)
{
	return kind <= LKST_FILE_HANDLER;
}

int tacho_lkst_files_stat(struct tacho_lkst_files *f, const char *path, bool *dir,
			  uint32_t *mode, uint64_t *ino)
{
	enum lkst_file_kind kind;
	uint32_t handler;

	pthread_mutex_lock(&f->lock);
	kind = look_up(f, path, &handler);
	pthread_mutex_unlock(&f->lock);
	if (kind == LKST_FILE_NONE || kind == LKST_FILE_TOP)
		return -ENOENT;
	*dir = is_dir(kind);
	*mode = is_dir(kind) ? 0700 : kind == LKST_FILE_DEVICE || kind == LKST_FILE_CTRL ?
		0600 : 0400;
	*ino = INO + ((uint64_t)handler << 8) + (uint64_t)kind;
	return 0;
}

static int list_handlers(struct tacho_lkst_files *f,
			 int (*fn)(const char *name, bool dir, void *arg), void *arg)
{
	const struct lkst_state *s = state_of(f);
	int err = 0;

	if (!s)
		return 0;
	for (uint32_t id = LKST_EVHANDLER_ID_USER; !err && id < LKST_NR_HANDLERS; id++) {
		const struct lkst_handler *h = &s->handler[id];
		char name[LKST_EVHANDLER_NAME_LEN];

		/* [described] */
		if (!tacho_load_acquire(&h->ready) || !(h->flags & LKST_HANDLER_SHOW) ||
		    !lkst_owner_lives(&h->owner))
			continue;
		memcpy(name, h->name, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		err = fn(name, true, arg);
	}
	return err;
}

int tacho_lkst_files_list(struct tacho_lkst_files *f, const char *path,
			  int (*fn)(const char *name, bool dir, void *arg), void *arg)
{
	static const struct {
		enum lkst_file_kind in;
		const char *name;
		bool dir;
	} entry[] = {
		{ LKST_FILE_TOP, "class", true }, { LKST_FILE_TOP, "lkst", false },
		{ LKST_FILE_TOP, "lkst_etypes", false }, { LKST_FILE_CLASS, "lkst", true },
		{ LKST_FILE_HANDLER, "id", false }, { LKST_FILE_HANDLER, "name", false },
		{ LKST_FILE_HANDLER, "ctrl", false },
	};
	enum lkst_file_kind kind;
	uint32_t handler;
	int err = 0;

	pthread_mutex_lock(&f->lock);
	kind = look_up(f, path, &handler);
	if (kind == LKST_FILE_CLASS_LKST)
		err = list_handlers(f, fn, arg);
	pthread_mutex_unlock(&f->lock);
	if (!is_dir(kind) || kind == LKST_FILE_NONE)
		return kind == LKST_FILE_NONE ? -ENOENT : -ENOTDIR;
	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(entry); i++)
		if (entry[i].in == kind)
			err = fn(entry[i].name, entry[i].dir, arg);
	return err;
}

/* ---- opening ---- */

static int check_open(const struct tacho_lkst_files *f, enum lkst_file_kind kind, int flags,
		      const struct tacho_lkst_caller *caller)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;

	if (kind == LKST_FILE_NONE)
		return -ENOENT;
	if (is_dir(kind))
		return -EISDIR;
	if (caller->uid && caller->uid != f->owner)
		return -EPERM;
	return writes && kind != LKST_FILE_DEVICE && kind != LKST_FILE_CTRL ? -EACCES : 0;
}

int tacho_lkst_file_open(struct tacho_lkst_files *files, const char *path, int flags,
			 const struct tacho_lkst_caller *caller, struct tacho_lkst_file **file)
{
	struct tacho_lkst_file *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->files = files;
	tacho_buf_init(&f->text, TEXT_MAX);
	pthread_mutex_lock(&files->lock);
	f->kind = look_up(files, path, &f->handler);
	err = check_open(files, f->kind, flags, caller);
	if (!err && f->kind >= LKST_FILE_ID)
		err = get_lkst(files, false);
	pthread_mutex_unlock(&files->lock);
	if (err) {
		tacho_buf_release(&f->text);
		free(f);
		return err;
	}
	*file = f;
	return 0;
}

void tacho_lkst_file_close(struct tacho_lkst_file *f)
{
	pthread_mutex_lock(&f->files->lock);
	if (f->owner && f->files->opened)
		tacho_lkst_unset_rmod(&f->files->l, f->owner);
	pthread_mutex_unlock(&f->files->lock);
	tacho_buf_release(&f->text);
	free(f);
}

/* ---- reading and writing ---- */

static int make_text(struct tacho_lkst_file *f)
{
	struct tacho_lkst *l = &f->files->l;
	const struct lkst_handler *h = &l->state->handler[f->handler];

	tacho_buf_reset(&f->text);
	switch (f->kind) {
	case LKST_FILE_ETYPES:
		return tacho_lkst_etypes(l, &f->text);
	case LKST_FILE_ID:
		tacho_buf_printf(&f->text, "0x%03x\n", f->handler);
		return f->text.err;
	case LKST_FILE_NAME:
		tacho_buf_printf(&f->text, "%.31s\n", h->name);
		return f->text.err;
	case LKST_FILE_CTRL:
	case LKST_FILE_NONE:
	case LKST_FILE_TOP:
	case LKST_FILE_CLASS:
	case LKST_FILE_CLASS_LKST:
	case LKST_FILE_HANDLER:
	case LKST_FILE_DEVICE:
		break;
	}
	return -EINVAL;
}

/* LKST's own and the programs' types are known before there is a session. */
static int types_without_session(struct tacho_lkst_file *f)
{
	struct tacho_lkst l = { .has_session = false };
	int err = lkst_state_map(&l.state, NULL, true);

	tacho_buf_reset(&f->text);
	if (err)
		return -ENODEV;
	err = tacho_lkst_etypes(&l, &f->text);
	lkst_state_unmap(l.state);
	return err;
}

/*
 * What the functions of a handler show or store: they are asked for in another process, so
 * nothing is locked meanwhile.
 */
static ssize_t ask_handler(struct tacho_lkst_file *f, const char *store, size_t len)
{
	const struct tacho_lkst_config look = { .look = true };
	char page[PAGE];
	struct tacho_lkst l;
	ssize_t n;

	if (tacho_lkst_open(&l, &look, NULL))
		return -ENODEV;
	if (store) {
		n = tacho_lkst_handler_store(&l, f->handler, store, len);
	} else {
		n = tacho_lkst_handler_show(&l, f->handler, page, sizeof(page));
		tacho_buf_reset(&f->text);
		if (n > 0)
			tacho_buf_put(&f->text, page, (size_t)n);
	}
	tacho_lkst_close(&l);
	return n;
}

static ssize_t read_text(struct tacho_lkst_file *f, void *to, size_t size, uint64_t offset)
{
	if (offset >= f->text.len)
		return 0;
	if (size > f->text.len - offset)
		size = f->text.len - offset;
	memcpy(to, f->text.data + offset, size);
	return (ssize_t)size;
}

/* One look at the queue; *seen: what `wake` was before. */
static ssize_t try_device(struct tacho_lkst_file *f, void *to, size_t size, int32_t owner,
			  uint32_t *seen)
{
	struct tacho_lkst_files *files = f->files;
	ssize_t n;

	if (size < sizeof(struct lkst_log_record))
		return -EINVAL;
	pthread_mutex_lock(&files->lock);
	n = get_lkst(files, true);
	if (n == -ENOENT)	/* there was no request: so a reader is not bound */
		n = -EBUSY;
	if (!n) {
		*seen = tacho_load_acquire(&files->watch->wake);
		n = tacho_lkst_read(&files->l, to, size, owner);
	}
	pthread_mutex_unlock(&files->lock);
	return n;
}

static ssize_t read_device(struct tacho_lkst_file *f, void *to, size_t size,
			   const struct tacho_lkst_caller *caller)
{
	int32_t owner = lkst_process_of(caller->pid);
	uint32_t seen = 0;
	ssize_t n;

	while ((n = try_device(f, to, size, owner, &seen)) == -EAGAIN && !caller->nonblock) {
		if (caller->interrupted && caller->interrupted(caller->arg))
			return -EINTR;
		(void)tacho_futex_wait(&f->files->watch->wake, seen, WAIT_NS);
	}
	return n;
}

ssize_t tacho_lkst_file_read(struct tacho_lkst_file *f, void *to, size_t size, uint64_t offset,
			     const struct tacho_lkst_caller *caller)
{
	ssize_t n;

	if (f->kind == LKST_FILE_DEVICE)
		return caller->uid && caller->uid != f->files->owner ?
		       -EPERM : read_device(f, to, size, caller);
	if (f->kind == LKST_FILE_CTRL) {
		n = offset ? 0 : ask_handler(f, NULL, 0);
	} else {
		pthread_mutex_lock(&f->files->lock);
		n = get_lkst(f->files, true);
		if (n == -ENOENT && f->kind == LKST_FILE_ETYPES)
			n = offset ? 0 : types_without_session(f);
		else if (!n && !offset)
			n = make_text(f);
		pthread_mutex_unlock(&f->files->lock);
	}
	return n < 0 ? n : read_text(f, to, size, offset);
}

ssize_t tacho_lkst_file_write(struct tacho_lkst_file *f, const void *from, size_t size,
			      const struct tacho_lkst_caller *caller)
{
	(void)caller;
	return f->kind == LKST_FILE_CTRL ?
	       ask_handler(f, from, size < PAGE ? size : PAGE - 1) : -EINVAL;
}

/* Once for each file: -EBUSY, a daemon pumps; no kernel events: those of programs are there. */
static void pump_for(struct tacho_lkst_file *f)
{
	if (!f->files->pump && !f->asked)
		(void)tacho_lkst_pump_start(&f->files->pump, &f->files->l, NULL);
	f->asked = true;
}

int tacho_lkst_file_ioctl(struct tacho_lkst_file *f, uint32_t request, uint64_t arg, void *data,
			  const struct tacho_lkst_caller *caller)
{
	int err;

	if (f->kind != LKST_FILE_DEVICE)
		return -ENOTTY;
	if (caller->uid && caller->uid != f->files->owner)
		return -EPERM;
	if (request == LKST_IOC_EVHANDLER_CTRL)
		return lkst_ioctl_ctrl(data, caller->pid);
	pthread_mutex_lock(&f->files->lock);
	err = get_lkst(f->files, false);
	if (!err)
		pump_for(f);
	if (!err)
		err = lkst_ioctl(f, request, arg, data, caller);
	pthread_mutex_unlock(&f->files->lock);
	return err;
}

/* Whether the queue of the process that setrmod bound has anything. */
static bool has_records(struct tacho_lkst_file *f)
{
	int32_t queue[TACHO_BUFFERS_MAX];
	struct tacho_lkst *l = &f->files->l;

	for (uint32_t c = 0; f->owner && c < lkst_nr_cpus(l); c++) {
		const struct lkst_cpu *cpu = &l->state->cpu[c];

		if (cpu->reader.pid == f->owner &&
		    ((cpu->read_buf >= 0 &&
		      cpu->read_next < cpu->read_end[0] + cpu->read_end[1]) ||
		     lkst_queue(l, c, queue)))
			return true;
	}
	return false;
}

unsigned int tacho_lkst_file_poll(struct tacho_lkst_file *f)
{
	bool ready = true;

	if (f->kind == LKST_FILE_DEVICE) {
		pthread_mutex_lock(&f->files->lock);
		ready = !get_lkst(f->files, true) && has_records(f);
		pthread_mutex_unlock(&f->files->lock);
	}
	return ready ? POLLIN | POLLRDNORM : 0;
}

bool tacho_lkst_file_is_stream(const struct tacho_lkst_file *f)
{
	return f->kind == LKST_FILE_DEVICE;
}
