// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "base/text.h"
#include "ring/read.h"
#include "ring/write.h"
#include "session/edit.h"
#include "session/objects.h"
#include "sys/clock.h"
#include "sys/cpu.h"
#include "sys/mapping.h"

#ifdef TACHO_TINY
#define SUB_SIZE_DEFAULT	UINT64_C(256)
#define LANE_SIZE_DEFAULT	UINT64_C(1024)
#else
#define SUB_SIZE_DEFAULT	(UINT64_C(256) << 10)
#define LANE_SIZE_DEFAULT	(UINT64_C(16) << 20)
#endif
/* Lanes for writers without restartable sequences; made at their first use. */
#define FALLBACK_LANES_MAX		8u

/* ---- names, slots ---- */

static int check_name(const char *name, struct tacho_diag *d)
{
	size_t ok = strspn(name, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	if (!*name || name[ok] || name[0] == '.' || ok >= TACHO_NAME_MAX)
		return tacho_diag(d, -EINVAL, ok, "'%s' is not a session name: use 1 "
				  "to %d letters, digits, '-', '_' and '.'", name,
				  TACHO_NAME_MAX - 1);
	return 0;
}

/* The slot of a live session, or NULL. The name in shared memory may not be terminated. */
static struct tacho_slot *find_slot(struct tacho_registry *reg, const char *name)
{
	for (uint32_t i = 0; i < TACHO_SESSIONS_MAX; i++) {
		struct tacho_slot *s = &reg->slot[i];

		if (tacho_load_acquire(&s->state) == TACHO_SLOT_LIVE &&	/* [slot] */
		    !strncmp(s->name, name, sizeof(s->name)))
			return s;
	}
	return NULL;
}

/* Whether processes create the file: buffers, histograms, the servers of mounted trees. */
static bool is_data_file(const char *name)
{
	return !strncmp(name, "buf.", 4) || !strncmp(name, "hist.", 5) ||
	       !strcmp(name, TACHO_SESSION_SERVERS) || !strcmp(name, TACHO_SESSION_SETTINGS) ||
	       !strcmp(name, TACHO_SESSION_SETTINGS ".new");
}

/*
 * Removes the files of a session's directory, and the directory if it is in the run-time
 * directory.  Returns 0, or -errno: the directory could not be read for lack of memory or
 * descriptors, and files remain.
 */
static int remove_files(const char *path)
{
	DIR *list = opendir(path);
	const struct dirent *e;

	if (!list)
		return tacho_no_room_here(-errno) ? -errno : 0;
	while ((e = readdir(list)))
		if (!strcmp(e->d_name, "control") || !strcmp(e->d_name, "types") ||
		    !strcmp(e->d_name, "commands") ||
		    !strcmp(e->d_name, TACHO_OBJECTS) || is_data_file(e->d_name) ||
		    !strncmp(e->d_name, "tmp.", 4))
			(void)unlinkat(dirfd(list), e->d_name, 0);
	closedir(list);
	(void)rmdir(path);
	return 0;
}

static int clear_bit_of(struct tacho_procfile *p, void *arg)
{
	tacho_procfile_clear(p, *(const uint32_t *)arg);
	return 0;
}

/* Frees the memory of all buffers, even while processes map it.  Returns as remove_files(). */
static int punch_buffers(const struct tacho_session *s)
{
	DIR *list = opendir(s->path);
	int err = list ? 0 : -errno;
	const struct dirent *e;
	struct stat st;

	while (list && (e = readdir(list))) {
		int fd;

		if (strncmp(e->d_name, "buf.", 4))
			continue;
		fd = tacho_shm_open(dirfd(list), e->d_name);
		if (fd < 0) {
			err = fd;
			continue;
		}
		if (!fstat(fd, &st))
			(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					0, st.st_size);
		close(fd);
	}
	if (list)
		closedir(list);
	return tacho_no_room_here(err) ? err : 0;
}

/*
 * Under the lock, the slot being MAKING: closes all lanes, frees the memory and removes the
 * files.  If a tool is killed during this, or it fails, the next tool repeats it from the start.
 */
static int end_session(struct tacho_session *s)
{
	struct tacho_ring *r = &s->view.ring;
	bool closed = true;
	int err;

	tacho_store_seq_cst(&s->view.ctl->state, TACHO_STATE_DEAD);
	/* compiled actions of all processes become outdated */
	tacho_edit_begin(&s->view);
	TACHO_INJECT(session_dead);
	tacho_ring_run(r, false);
	/* a bit that stays set would select another session */
	err = tacho_procs_each(s->dir, clear_bit_of, &s->bit);
	if (tacho_no_room_here(err))
		return err;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++) {
		tacho_ring_settle(r, lane);
		if (tacho_ring_close_lane(r, lane))
			closed = false;
	}
	/* if a lane could not be visited, a writer may still be active */
	if (closed) {
		err = punch_buffers(s);
		if (err)
			return err;
	}
	TACHO_INJECT(session_destroying);
	return remove_files(s->path);
}

/*
 * Under the lock: the tool of a slot in creation or destruction is dead.  Its writers, if any,
 * would continue writing into invisible files.
 */
static void sweep_slots(struct tacho_dir *dir)
{
	for (uint32_t i = 0; i < TACHO_SESSIONS_MAX; i++) {
		struct tacho_slot *slot = &dir->reg->slot[i];
		struct tacho_session s = { .dir = dir, .bit = i };
		int err = 0;

		if (slot->state != TACHO_SLOT_MAKING)
			continue;
		memcpy(s.path, slot->path, sizeof(s.path));
		s.path[sizeof(s.path) - 1] = '\0';
		if (s.path[0])
			err = tacho_view_map(&s.view, s.path, false);
		if (s.path[0] && !err) {
			if (s.view.ctl->bit == i)
				err = end_session(&s);
			tacho_view_unmap(&s.view);
		}
		if (s.path[0] && !tacho_no_room_here(err))
			err = remove_files(s.path);
		/* what fails now is repeated by the next tool */
		if (!tacho_no_room_here(err))
			tacho_store_release(&slot->state, TACHO_SLOT_FREE);	/* [slot] */
	}
}

static struct tacho_slot *take_slot(struct tacho_registry *reg, uint32_t min_bit,
				    uint32_t *bit)
{
	for (uint32_t i = min_bit; i < TACHO_SESSIONS_MAX; i++) {
		struct tacho_slot *s = &reg->slot[i];

		if (s->state != TACHO_SLOT_FREE)
			continue;
		s->path[0] = '\0';
		tacho_store_release(&s->state, TACHO_SLOT_MAKING);	/* [slot] */
		s->generation++;
		*bit = i;
		return s;
	}
	return NULL;
}

int tacho_sessions_each(struct tacho_dir *dir,
			int (*fn)(const char *name, const char *path, void *arg),
			void *arg)
{
	int ret = tacho_dir_lock(dir);

	if (ret)
		return ret;
	sweep_slots(dir);
	tacho_dir_unlock(dir);
	for (uint32_t i = 0; !ret && i < TACHO_SESSIONS_MAX; i++) {
		struct tacho_slot s = dir->reg->slot[i];

		if (tacho_load_acquire(&dir->reg->slot[i].state) !=	/* [slot] */
		    TACHO_SLOT_LIVE)
			continue;
		s.name[sizeof(s.name) - 1] = '\0';
		s.path[sizeof(s.path) - 1] = '\0';
		ret = fn(s.name, s.path, arg);
	}
	return ret;
}

/* ---- create ---- */

/* The log2 of v, or -1 if v is not a power of two. */
static int log2_exact(uint64_t v)
{
	return v && !(v & (v - 1)) ? __builtin_ctzll(v) : -1;
}

/* Computes the sizes of the rings; limits them on large machines. */
static int choose_sizes(const struct tacho_session_config *cfg,
			struct tacho_control *c, struct tacho_diag *d)
{
	uint64_t sub = cfg->sub_size ? cfg->sub_size : SUB_SIZE_DEFAULT;
	uint64_t lane = cfg->lane_size ? cfg->lane_size : LANE_SIZE_DEFAULT;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			  (uint64_t)sysconf(_SC_PAGESIZE);
	/* with lanes for kernel events in addition to those of programs */
	bool linked = cfg->flags & TACHO_SESSION_LINKED;
	int shift;

	c->nr_cpus = tacho_cpu_possible();
	if (c->nr_cpus > (TACHO_LANES_MAX - FALLBACK_LANES_MAX) >> linked)
		c->nr_cpus = (TACHO_LANES_MAX - FALLBACK_LANES_MAX) >> linked;
	c->nr_late = linked ? c->nr_cpus : 0;
	c->nr_fallback = c->nr_cpus < FALLBACK_LANES_MAX ? c->nr_cpus : FALLBACK_LANES_MAX;
	if (!cfg->lane_size)
		while (lane * c->nr_cpus > memory / 8 && lane > sub * 4)
			lane /= 2;
	if (!cfg->sub_size)
		while (sub > UINT64_C(1) << TACHO_SUB_SHIFT_MIN && sub * 4 > lane)
			sub /= 2;
	shift = log2_exact(sub);
	if (shift < TACHO_SUB_SHIFT_MIN || shift > TACHO_SUB_SHIFT_MAX)
		return tacho_diag(d, -EINVAL, 0, "a sub-buffer of %ju bytes: use a "
				  "power of two from %u to %u", (uintmax_t)sub,
				  1u << TACHO_SUB_SHIFT_MIN, 1u << TACHO_SUB_SHIFT_MAX);
	c->sub_shift = (uint32_t)shift;
	c->nr_subs = 2;
	while (c->nr_subs < TACHO_SUBS_MAX &&
	       (uint64_t)c->nr_subs << shift < lane)
		c->nr_subs *= 2;
	return 0;
}

/* Makes, allocates and maps one file of the session. */
static int make_file(int dirfd, const char *name, uint64_t size,
		     uint64_t allocate, void **map)
{
	int fd, err;

	fd = tacho_shm_create(dirfd, name, size);
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, allocate);
	if (!err)
		err = tacho_shm_map(fd, size, true, false, map);
	close(fd);
	return err;
}

static int make_types(int dirfd)
{
	uint64_t first = TACHO_TYPES_TEXT_OFF + (UINT64_C(1) << 16);
	struct tacho_types *t;
	void *map;
	int err = make_file(dirfd, "types", TACHO_TYPES_SIZE, first, &map);

	if (err)
		return err;
	t = map;
	t->head.magic = TACHO_MAGIC_TYPES;
	t->head.signature = tacho_abi_signature();
	t->text_used = 8;
	t->text_ready = first - TACHO_TYPES_TEXT_OFF;
	tacho_store_release(&t->head.ready, 1);	/* [ready] */
	tacho_shm_unmap(map, TACHO_TYPES_SIZE);
	return 0;
}

/* The blocks for commands are allocated when commands are added. */
static int make_commands(int dirfd)
{
	struct tacho_commands *c;
	void *map;
	int err = make_file(dirfd, "commands", sizeof(*c),
			    offsetof(struct tacho_commands, command), &map);

	if (err)
		return err;
	c = map;
	c->head.magic = TACHO_MAGIC_COMMANDS;
	c->head.signature = tacho_abi_signature();
	tacho_store_release(&c->head.ready, 1);	/* [ready] */
	tacho_shm_unmap(map, sizeof(*c));
	return 0;
}

void tacho_session_uuid(uint8_t *uuid)
{
	struct tacho_clock_pair now = tacho_clock_pair(TACHO_CLOCK_MONO);

	if (getrandom(uuid, 16, 0) != 16)
		memcpy(uuid, &now, sizeof(now));
	/* RFC 4122: version 4, variant 1 */
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static void fill_control(struct tacho_control *c,
			 const struct tacho_session_config *cfg,
			 const struct tacho_control *sizes)
{
	c->head.magic = TACHO_MAGIC_CONTROL;
	c->head.signature = tacho_abi_signature();
	(void)snprintf(c->name, sizeof(c->name), "%s", cfg->name);
	c->bit = sizes->bit;
	c->generation = sizes->generation;
	c->nr_cpus = sizes->nr_cpus;
	c->nr_fallback = sizes->nr_fallback;
	c->nr_late = sizes->nr_late;
	c->sub_shift = sizes->sub_shift;
	c->nr_subs = sizes->nr_subs;
	c->flags = cfg->flags;
	c->clock = cfg->clock < 0 ? tacho_clock_default() : (uint32_t)cfg->clock;
	c->clock_freq = tacho_clock_freq(c->clock);
	c->start = tacho_clock_pair(c->clock);
	c->owner = cfg->owner;
	c->state = cfg->stopped ? TACHO_STATE_STOPPED : TACHO_STATE_RECORDING;
	if (cfg->uuid)
		memcpy(c->uuid, cfg->uuid, sizeof(c->uuid));
	else
		tacho_session_uuid(c->uuid);
}

static int make_control(int dirfd, const struct tacho_session_config *cfg,
			const struct tacho_control *sizes)
{
	uint64_t size = TACHO_CONTROL_SIZE(sizes->nr_cpus + sizes->nr_fallback + sizes->nr_late);
	struct tacho_control *c;
	void *map;
	int err = make_file(dirfd, "control", size, size, &map);

	if (err)
		return err;
	c = map;
	fill_control(c, cfg, sizes);
	tacho_store_release(&c->head.ready, 1);	/* [ready] */
	tacho_shm_unmap(map, size);
	return 0;
}

/* Allocates the CPUs' first buffers and opens them for writers. */
static int make_rings(struct tacho_session *s)
{
	struct tacho_ring *r = &s->view.ring;
	const struct tacho_control *c = s->view.ctl;
	uint32_t flags = c->flags & TACHO_SESSION_OVERWRITE ?
			 TACHO_BUFFER_OVERWRITE : 0;
	int err = 0;

#ifndef TACHO_HAVE_RSEQ
	/* every writer of this build takes a fallback lane */
	(void)flags;
	tacho_ring_run(r, c->state == TACHO_STATE_RECORDING);
	return err;
#endif
	for (uint32_t lane = 0; !err && lane < r->nr_cpus; lane++) {
		err = tacho_ring_add_buffer(r, lane, 0, c->nr_subs, flags);
		if (!err)
			err = tacho_ring_start(r, lane, 0);
	}
	if (!err)
		tacho_ring_run(r, c->state == TACHO_STATE_RECORDING);
	return err;
}

/*
 * Taken before the session is visible; released when the process or its view ends.  A forked
 * child holds it until it calls exec.
 */
static int lock_as_owner(struct tacho_session *s)
{
	char path[TACHO_PATH_MAX + 16];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/control", s->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int err = -errno;

		close(fd);
		return err;
	}
	s->owner_lock = fd + 1;
	return 0;
}

bool tacho_session_owned(const char *path)
{
	char file[TACHO_PATH_MAX + 16];
	bool owned;
	int fd;

	(void)snprintf(file, sizeof(file), "%s/control", path);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	owned = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return owned;
}

static int make_path(struct tacho_session *s, const struct tacho_session_config *cfg,
		     struct tacho_diag *d)
{
	int n;

	if (cfg->path && cfg->path[0] != '/')
		return tacho_diag(d, -EINVAL, 0, "'%s' must be an absolute path",
				  cfg->path);
	n = cfg->path ? snprintf(s->path, sizeof(s->path), "%s", cfg->path)
		      : snprintf(s->path, sizeof(s->path), "%s/sessions/%s",
				 s->dir->path, cfg->name);
	if (n < 0 || (size_t)n >= sizeof(s->path))
		return tacho_diag(d, -ENAMETOOLONG, 0, "the session's path is longer "
				  "than %d bytes", TACHO_PATH_MAX - 1);
	if (mkdir(s->path, 0700) < 0 && errno != EEXIST)
		return tacho_diag(d, -errno, 0, "cannot make '%s': %s", s->path,
				  strerror(errno));
	return 0;
}

/* Creates all files of a session in its (existing) directory, and maps the view. */
static int make_session(struct tacho_session *s,
			const struct tacho_session_config *cfg,
			const struct tacho_control *sizes)
{
	int dirfd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (dirfd < 0)
		return -errno;
	err = make_types(dirfd);
	if (!err)
		err = make_commands(dirfd);
	if (!err)
		err = make_control(dirfd, cfg, sizes);
	close(dirfd);
	if (!err)
		err = tacho_view_map(&s->view, s->path, false);
	if (!err && cfg->owner)
		err = lock_as_owner(s);
	if (!err)
		err = make_rings(s);
	return err;
}

/* Reports an error; only for lack of room it adds the requested size. */
static int no_session(struct tacho_diag *d, int err, const struct tacho_session *s,
		      const struct tacho_session_config *cfg, const struct tacho_control *sizes)
{
	uint64_t lane = (uint64_t)sizes->nr_subs << sizes->sub_shift;
	char hint[96] = "";

	if (err == -ENOSPC || err == -ENOMEM)
		(void)snprintf(hint, sizeof(hint), " (%u CPUs take %ju KiB each; use smaller "
			       "buffers)",
			       sizes->nr_cpus, (uintmax_t)(lane >> 10));
	else if (err == -EFBIG)
		(void)snprintf(hint, sizeof(hint), " (a limit of this process, 'ulimit -f')");
	return tacho_diag(d, err, 0, "cannot make session '%s' in '%s': %s%s", cfg->name, s->path,
			  strerror(-err), hint);
}

static int create_locked(struct tacho_session *s,
			 const struct tacho_session_config *cfg,
			 struct tacho_diag *d)
{
	struct tacho_registry *reg = s->dir->reg;
	struct tacho_control sizes = { .bit = 0 };
	struct tacho_slot *slot;
	int err;

	sweep_slots(s->dir);
	if (find_slot(reg, cfg->name))
		return tacho_diag(d, -EEXIST, 0, "session '%s' exists already",
				  cfg->name);
	err = choose_sizes(cfg, &sizes, d);
	if (err)
		return err;
	slot = take_slot(reg, cfg->min_bit, &sizes.bit);
	if (!slot)
		return tacho_diag(d, -ENOSPC, 0, "all %d sessions are in use; destroy "
				  "one first", TACHO_SESSIONS_MAX);
	s->bit = sizes.bit;
	s->generation = slot->generation;
	sizes.generation = slot->generation;
	err = make_path(s, cfg, d);
	if (err) {
		tacho_store_release(&slot->state, TACHO_SLOT_FREE);	/* [slot] */
		return err;
	}
	(void)snprintf(slot->name, sizeof(slot->name), "%s", cfg->name);
	(void)snprintf(slot->path, sizeof(slot->path), "%s", s->path);
	TACHO_INJECT(session_making);
	err = make_session(s, cfg, &sizes);
	if (err) {
		tacho_session_close(s);
		/* MAKING: the next tool that creates a session removes the rest */
		if (!remove_files(s->path))
			tacho_store_release(&slot->state, TACHO_SLOT_FREE);	/* [slot] */
		return no_session(d, err, s, cfg, &sizes);
	}
	tacho_store_release(&slot->state, TACHO_SLOT_LIVE);	/* [slot] */
	return 0;
}

int tacho_session_create(struct tacho_session *s, struct tacho_dir *dir,
			 const struct tacho_session_config *cfg,
			 struct tacho_diag *d)
{
	int err = check_name(cfg->name, d);

	*s = (struct tacho_session){ .dir = dir };
	if (err)
		return err;
	(void)snprintf(s->name, sizeof(s->name), "%s", cfg->name);
	err = tacho_dir_lock(dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", dir->path,
				  strerror(-err));
	err = create_locked(s, cfg, d);
	tacho_dir_unlock(dir);
	return err;
}

int tacho_session_open(struct tacho_session *s, struct tacho_dir *dir,
		       const char *name, struct tacho_diag *d)
{
	const struct tacho_slot *slot;
	int err = check_name(name, d);

	*s = (struct tacho_session){ .dir = dir };
	if (err)
		return err;
	slot = find_slot(dir->reg, name);
	if (!slot)
		return tacho_diag(d, -ENOENT, 0, "there is no session '%s' "
				  "(see: tacho status)", name);
	s->bit = (uint32_t)(slot - dir->reg->slot);
	s->generation = slot->generation;
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	(void)snprintf(s->path, sizeof(s->path), "%.*s",
		       (int)sizeof(slot->path) - 1, slot->path);
	err = tacho_view_map(&s->view, s->path, false);
	if (err)
		return tacho_diag(d, err, 0, "cannot open session '%s' in '%s': %s",
				  name, s->path, err == -EPROTO ?
				  "made by another version of tacho" : strerror(-err));
	return 0;
}

void tacho_session_close(struct tacho_session *s)
{
	if (s->view.ctl)
		tacho_view_unmap(&s->view);
	if (s->owner_lock)
		close(s->owner_lock - 1);
	s->owner_lock = 0;
}

/* ---- destroy ---- */

int tacho_session_destroy(struct tacho_session *s, struct tacho_diag *d)
{
	struct tacho_slot *slot = &s->dir->reg->slot[s->bit];
	int err = tacho_dir_lock(s->dir);

	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	if (tacho_load_acquire(&slot->state) != TACHO_SLOT_LIVE ||	/* [slot] */
	    slot->generation != s->generation) {
		/* the bit may already be another session's */
		tacho_dir_unlock(s->dir);
		tacho_session_close(s);
		return tacho_diag(d, -ENOENT, 0, "session '%s' is gone already",
				  s->name);
	}
	tacho_store_release(&slot->state, TACHO_SLOT_MAKING);	/* [slot] */
	TACHO_INJECT(session_unmaking);
	err = end_session(s);
	/* MAKING: the next tool that creates a session continues */
	if (!err)
		tacho_store_release(&slot->state, TACHO_SLOT_FREE);	/* [slot] */
	tacho_dir_unlock(s->dir);
	if (err)
		(void)tacho_diag(d, err, 0, "cannot remove all of session '%s': %s; the next "
				 "'tacho create' does", s->name, strerror(-err));
	tacho_session_close(s);
	return err;
}

/* ---- rules ---- */

/* seq is odd during an edit, so that readers repeat (proc.h, P3). */
void tacho_edit_begin(const struct tacho_view *v)
{
	uint32_t *seq = &v->commands->seq;

	tacho_store_seq_cst(seq, tacho_load_relaxed(seq) | 1);
}

void tacho_edit_end(const struct tacho_view *v)
{
	uint32_t *seq = &v->commands->seq;

	tacho_store_seq_cst(seq, (tacho_load_relaxed(seq) | 1) + 1);
}

struct apply_arg {
	const struct tacho_view *view;
	const char *glob;
	uint32_t matched;
};

static int apply_to(struct tacho_procfile *p, void *arg)
{
	struct apply_arg *a = arg;
	uint32_t n = tacho_procfile_nr_events(p);
	char name[TACHO_RULE_MAX];
	const char *text;
	uint32_t len;
	bool gone;

	tacho_procfile_apply(p, a->view);
	for (uint32_t i = 1; a->glob && i <= n; i++) {
		text = tacho_procfile_event(p, i, &len, &gone);
		if (!text || gone)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		a->matched += tacho_glob_match(a->glob, name);
	}
	return 0;
}

int tacho_edit_apply(struct tacho_session *s, const char *glob, uint32_t *matched)
{
	struct apply_arg a = { .view = &s->view, .glob = glob };
	int err = tacho_procs_each(s->dir, apply_to, &a);

	if (matched)
		*matched += a.matched;
	return err == -ENOENT ? 0 : err;
}

static int not_all_updated(const struct tacho_session *s, int err, struct tacho_diag *d)
{
	return tacho_diag(d, err, 0, "session '%s' was changed, but not all processes were updated: "
			  "%s; give the command again", s->name, strerror(-err));
}

int tacho_edit_applied(struct tacho_session *s, struct tacho_diag *d)
{
	int err = tacho_edit_apply(s, NULL, NULL);

	return err ? not_all_updated(s, err, d) : 0;
}

/* Rules also switch the targets of triggers: the last command decides. */
static void switch_targets(const struct tacho_view *v, bool enable,
			   const char *glob)
{
	for (uint32_t i = 0; i < TACHO_SOFT_MAX; i++) {
		struct tacho_soft *soft = &v->commands->soft[i];
		char name[TACHO_RULE_MAX];

		if (!tacho_load_relaxed(&soft->users))
			continue;
		memcpy(name, soft->event, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		if (tacho_glob_match(glob, name))
			tacho_store_relaxed(&soft->disabled, !enable);
	}
}

int tacho_edit_rule(const struct tacho_view *v, bool enable, const char *glob)
{
	struct tacho_control *c = v->ctl;
	uint32_t n = c->nr_rules;
	uint32_t i;

	if (n > TACHO_RULES_MAX)
		n = TACHO_RULES_MAX;
	/* the same glob again: only its last occurrence counts */
	for (i = 0; i < n; i++)
		if (!strncmp(c->rule[i].glob, glob, TACHO_RULE_MAX))
			break;
	if (i == TACHO_RULES_MAX)
		return -ENOSPC;
	if (i < n) {
		memmove(&c->rule[i], &c->rule[i + 1],
			(n - i - 1) * sizeof(c->rule[0]));
		n--;
	}
	memset(&c->rule[n], 0, sizeof(c->rule[n]));
	c->rule[n].enable = enable;
	memcpy(c->rule[n].glob, glob, strlen(glob) + 1);
	tacho_store_relaxed(&c->nr_rules, n + 1);
	switch_targets(v, enable, glob);
	return 0;
}

static int add_rule(struct tacho_session *s, bool enable, const char *glob,
		    uint16_t group)
{
	struct tacho_control *c = s->view.ctl;
	int err;

	tacho_edit_begin(&s->view);
	err = tacho_edit_rule(&s->view, enable, glob);
	if (!err)
		tacho_store_relaxed(&c->rule[c->nr_rules - 1].group, group);
	tacho_edit_end(&s->view);
	return err;
}

/*
 * "sched" names a system or an event; "sys:" and ":ev" have their '*'.  Returns the number of
 * rules; 0: too long or empty.
 */
static int full_globs(const char *glob, char full[2][TACHO_RULE_MAX])
{
	const char *colon = strchr(glob, ':');

	if (!*glob || strlen(glob) + 3 > TACHO_RULE_MAX)
		return 0;
	if (colon) {
		(void)snprintf(full[0], TACHO_RULE_MAX, "%s%s%s",
			       colon == glob ? "*" : "", glob, colon[1] ? "" : "*");
		return 1;
	}
	(void)snprintf(full[0], TACHO_RULE_MAX, "%s:*", glob);
	(void)snprintf(full[1], TACHO_RULE_MAX, "*:%s", glob);
	return 2;
}

int tacho_session_rule(struct tacho_session *s, bool enable, const char *glob,
		       uint32_t *matched, struct tacho_diag *d)
{
	char full[2][TACHO_RULE_MAX];
	int n = full_globs(glob, full), err, told = 0;
	uint32_t sum = 0;
	uint16_t group;

	if (!n)
		return tacho_diag(d, -EINVAL, 0, "an event name has 1 to %d bytes",
				  TACHO_RULE_MAX - 3);
	err = tacho_dir_lock(s->dir);
	group = (uint16_t)(s->view.ctl->groups++ % UINT16_MAX + 1);
	for (int i = 0; !err && i < n; i++) {
		err = add_rule(s, enable, full[i], group);
		if (!err)
			told = tacho_edit_apply(s, full[i], &sum);
	}
	tacho_dir_unlock(s->dir);
	if (matched)
		*matched = sum;
	if (err)
		return tacho_diag(d, err, 0, "session '%s' has %d rules already; "
				  "destroy it and create a new one", s->name,
				  TACHO_RULES_MAX);
	return told ? not_all_updated(s, told, d) : 0;
}

bool tacho_session_rule_matched(const struct tacho_session *s, const char *glob)
{
	const struct tacho_control *c = s->view.ctl;
	char full[2][TACHO_RULE_MAX];
	int n = full_globs(glob, full);

	for (uint32_t i = 0; n && i < c->nr_rules && i < TACHO_RULES_MAX; i++)
		if (!strncmp(c->rule[i].glob, full[n - 1], TACHO_RULE_MAX))
			return tacho_load_relaxed(&c->rule[i].matched);
	return true;
}

static void drop_rules(struct tacho_control *c, const char *prefix)
{
	uint32_t n = c->nr_rules < TACHO_RULES_MAX ? c->nr_rules : TACHO_RULES_MAX;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (strncmp(c->rule[i].glob, prefix, strlen(prefix)))
			c->rule[kept++] = c->rule[i];
	tacho_store_relaxed(&c->nr_rules, kept);
}

int tacho_session_rules(struct tacho_session *s, const char *prefix, const char *const *glob,
			const bool *enable, uint32_t n, struct tacho_diag *d)
{
	struct tacho_control *c = s->view.ctl;
	uint32_t others = 0;
	int err, told;

	for (uint32_t i = 0; i < n; i++)
		if (!strchr(glob[i], ':') || strlen(glob[i]) >= TACHO_RULE_MAX)
			return tacho_diag(d, -EINVAL, 0, "'%s' is no rule", glob[i]);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	for (uint32_t i = 0; i < c->nr_rules && i < TACHO_RULES_MAX; i++)
		others += strncmp(c->rule[i].glob, prefix, strlen(prefix)) != 0;
	if (others + n > TACHO_RULES_MAX) {
		tacho_dir_unlock(s->dir);
		return tacho_diag(d, -ENOSPC, 0, "session '%s' has no room for %u more rules",
				  s->name, n);
	}
	tacho_edit_begin(&s->view);
	drop_rules(c, prefix);
	for (uint32_t i = 0; !err && i < n; i++)
		err = tacho_edit_rule(&s->view, enable[i], glob[i]);
	tacho_edit_end(&s->view);
	told = tacho_edit_applied(s, d);
	tacho_dir_unlock(s->dir);
	return err ? err : told;
}

static int set_pids(struct tacho_session *s, struct tacho_pids *list,
		    const int32_t *pids, uint32_t n, bool follow, struct tacho_diag *d)
{
	struct tacho_control *c = s->view.ctl;
	int err;

	if (n > TACHO_PIDS_MAX)
		return tacho_diag(d, -E2BIG, 0, "at most %d process ids can be listed",
				  TACHO_PIDS_MAX);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	tacho_edit_begin(&s->view);
	if (n)
		memcpy(list->pid, pids, n * sizeof(*pids));
	tacho_store_relaxed(&list->nr, n);
	tacho_store_relaxed(&c->flags, follow ? c->flags | TACHO_SESSION_FORK
				     : c->flags & ~(uint32_t)TACHO_SESSION_FORK);
	tacho_edit_end(&s->view);
	err = tacho_edit_applied(s, d);
	tacho_dir_unlock(s->dir);
	return err;
}

int tacho_session_pids(struct tacho_session *s, const int32_t *pids, uint32_t n,
		       bool follow, struct tacho_diag *d)
{
	return set_pids(s, &s->view.ctl->pids, pids, n, follow, d);
}

int tacho_session_not_pids(struct tacho_session *s, const int32_t *pids, uint32_t n,
			   bool follow, struct tacho_diag *d)
{
	return set_pids(s, &s->view.ctl->not_pids, pids, n, follow, d);
}

int tacho_session_run(struct tacho_session *s, bool recording)
{
	int err = tacho_dir_lock(s->dir);

	if (err)
		return err;
	/* a destroyed session cannot be started: its memory is gone */
	if (tacho_load_seq_cst(&s->view.ctl->state) == TACHO_STATE_DEAD) {
		tacho_dir_unlock(s->dir);
		return -ENOENT;
	}
	if (recording)
		(void)tacho_and_seq_cst(&s->view.ctl->flags,
					~(uint32_t)TACHO_SESSION_ENDED);
	tacho_store_seq_cst(&s->view.ctl->state, recording ?
			    TACHO_STATE_RECORDING : TACHO_STATE_STOPPED);
	tacho_ring_run(&s->view.ring, recording);
	tacho_dir_unlock(s->dir);
	return 0;
}

int tacho_session_end(struct tacho_session *s)
{
	(void)tacho_or_seq_cst(&s->view.ctl->flags, TACHO_SESSION_ENDED);
	return tacho_session_run(s, false);
}

void tacho_session_count(struct tacho_session *s,
			 struct tacho_session_counts *c)
{
	struct tacho_ring *r = &s->view.ring;

	*c = (struct tacho_session_counts){ 0 };
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++) {
		struct tacho_lane *l = tacho_ring_lane(r, lane);

		c->lost_full += tacho_load_relaxed(&l->lost_full);
		c->lost_big += tacho_load_relaxed(&l->lost_big);
		c->lost_busy += tacho_load_relaxed(&l->lost_busy);
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
			int why = 0;

			if (!tacho_ring_map_why(r, lane, id, &why) &&
			    tacho_no_room_here(why) && !c->err)
				c->err = why;
			c->written += tacho_ring_written(r, lane, id);
			c->overwritten += tacho_ring_overwritten(r, lane, id);
		}
	}
}

/* ---- snapshot ---- */

/* Sub-buffers of `id` before its next use are not part of the next snapshot. */
static void begin_after_saved(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_buffer *b = tacho_lane_buffer(tacho_ring_lane(r, lane), id);
	uint64_t saved = tacho_load_relaxed(&b->saved);

	if (saved)
		/* [consumed] */
		tacho_store_release(&b->consumed, tacho_buffer_open(b, saved)->seq + 1);
}

/* Freezes one lane: 1: frozen, 0: not possible, or a negative errno. */
static int freeze_lane(struct tacho_session *s, uint32_t nr)
{
	struct tacho_ring *r = &s->view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	uint32_t spare, flags;
	struct tacho_buffer *b;
	int old, err;

	if (!c || c == TACHO_CURSOR_DEAD)
		return 0;
	spare = tacho_cursor_id(c) ^ 1;	/* the two buffers of a pair alternate */
	b = tacho_lane_buffer(lane, tacho_cursor_id(c));
	flags = tacho_load_relaxed(&b->flags) & TACHO_BUFFER_OVERWRITE;
	err = tacho_ring_add_buffer(r, nr, spare, b->nr_subs, flags);
	if (err)
		return err;
	begin_after_saved(r, nr, spare);
	(void)tacho_and_seq_cst(&tacho_lane_buffer(lane, spare)->flags,
				~(uint32_t)TACHO_BUFFER_FROZEN);
	old = tacho_ring_shift(r, nr, spare);
	if (old < 0)
		return 0;
	(void)tacho_or_seq_cst(&b->flags, TACHO_BUFFER_FROZEN);
	return 1;
}

int tacho_session_snapshot(struct tacho_session *s, struct tacho_diag *d)
{
	int frozen = 0, one = 0, err;

	if (s->view.ctl->flags & TACHO_SESSION_LINKED)
		return tacho_diag(d, -EBUSY, 0, "session '%s' has linked buffers, which its "
				  "owner switches: it has no snapshots", s->name);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_diag(d, err, 0, "cannot lock '%s': %s", s->dir->path,
				  strerror(-err));
	for (uint32_t nr = 0; one >= 0 && nr < tacho_ring_nr_lanes(&s->view.ring);
	     nr++) {
		one = freeze_lane(s, nr);
		frozen += one > 0;
	}
	tacho_dir_unlock(s->dir);
	if (one < 0)
		return tacho_diag(d, one, 0, "cannot make the spare buffers of "
				  "session '%s': %s", s->name, strerror(-one));
	return frozen;
}
