// SPDX-License-Identifier: MIT
#include "session/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "base/diag.h"
#include "sys/mapping.h"

uint64_t tacho_pidns(void)
{
	struct stat st;
	int saved = errno;
	uint64_t ns = stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;

	errno = saved;
	return ns;
}

#define PROC_END_MAX	300	/* bytes of the end of a path, the '\0' included */

/*
 * Whether process pid has mapped a file whose path ends so: 1, 0 (the process may not exist), or
 * a negative errno: not known now.
 */
static int process_maps(int32_t pid, const char *end)
{
	char path[32], key[PROC_END_MAX + 1];
	struct tacho_buf maps;
	int ret;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	(void)snprintf(key, sizeof(key), "%s\n", end);
	tacho_buf_init(&maps, 64u << 20);
	ret = tacho_buf_read_file(&maps, path);
	if (!ret)
		ret = strstr(tacho_buf_str(&maps), key) != NULL;
	else if (ret == -ENOENT || ret == -ESRCH)
		ret = 0;
	tacho_buf_release(&maps);
	return ret;
}

/*
 * Whether process pid has its file mapped: the only proof that it is alive and still the program
 * that created the file (not exec'd, not a reused pid).  The path's end is compared, not the
 * device: overlays show another one there.
 */
static int process_lives(int32_t pid, const char *name)
{
	char end[PROC_END_MAX];

	(void)snprintf(end, sizeof(end), "/proc/%s", name);
	return process_maps(pid, end);
}

/*
 * Whether a process has entered a sandbox since it began and has not mapped the session: the
 * system calls for mapping might kill it. (In strict mode, 1, even reading the time-stamp counter
 * does.)
 */
static bool locked_out(const struct tacho_procfile *p, const struct tacho_view *v)
{
	char path[TACHO_PATH_MAX + 16];
	struct tacho_buf status;
	const char *line;
	int mode;

	if (p->foreign)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", p->pid);
	tacho_buf_init(&status, 1u << 16);
	line = tacho_buf_read_file(&status, path) ? NULL :
	       strstr(tacho_buf_str(&status), "\nSeccomp:\t");
	mode = line ? line[strlen("\nSeccomp:\t")] - '0' : 0;
	tacho_buf_release(&status);
	if (mode != 2 || p->head->flags & TACHO_PROC_SANDBOXED)
		return mode == 1;
	(void)snprintf(path, sizeof(path), "%s/control", v->ring.path);
	return process_maps(p->pid, path) != 1;
}

static bool head_is_good(const struct tacho_proc *head)
{
	return tacho_load_acquire(&head->head.ready) == 1 &&	/* [ready] */
	       head->head.magic == TACHO_MAGIC_PROC &&
	       head->head.signature == tacho_abi_signature();
}

/* Maps one process file; 0, 1: remove it, or -errno: leave it alone. */
static int procfile_open(struct tacho_dir *dir, const char *name,
			 struct tacho_procfile *p)
{
	char file[300];
	void *map;
	char *end;
	int fd, err;

	*p = (struct tacho_procfile){ .events_max = TACHO_EVENTS_MAX };
	p->pid = (int32_t)strtol(name, &end, 10);
	if (p->pid <= 0 || *end != '.')
		return -EINVAL;
	p->pidns = strtoull(end + 1, &end, 10);
	p->foreign = p->pidns != tacho_pidns();
	/* a process that died before it renamed its file */
	if (!strcmp(end, ".new") && !p->foreign && !tacho_process_is(p->pid, 0))
		return 1;
	if (*end)
		return -EINVAL;
	(void)snprintf(file, sizeof(file), "proc/%s", name);
	fd = tacho_shm_open(dir->fd, file);
	if (fd < 0)
		return fd;
	err = tacho_shm_map(fd, TACHO_PROC_SIZE, true, false, &map);
	close(fd);
	p->map = err ? NULL : map;
	if (!err && !head_is_good(map)) {
		tacho_shm_unmap(map, TACHO_PROC_SIZE);
		err = -EPROTO;
	}
	/* a file of another version: its process may be alive */
	if (err)
		return !p->foreign && !process_lives(p->pid, name) ? 1 : err;
	p->head = map;
	p->state = (struct tacho_proc_state *)(void *)(p->map + TACHO_PROC_STATE_OFF);
	return 0;
}

static uint64_t *seat_word(const struct tacho_procfile *p, uint32_t i)
{
	return (uint64_t *)(void *)(p->map + TACHO_PROC_SEATS_OFF) + i;
}

/* Frees the seats of ended processes; returns how many are left. */
static uint32_t sweep_seats(struct tacho_procfile *p, const char *name)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < TACHO_SEATS_MAX; i++) {
		uint64_t word = tacho_load_acquire(seat_word(p, i));	/* [seat] */

		if (!word)
			continue;
		if (!p->foreign && !process_lives((int32_t)(uint32_t)word, name) &&
		    tacho_cas_acq_rel(seat_word(p, i), &word, 0))	/* [seat] */
			continue;
		used++;
		p->sharers += word >> 32 == TACHO_SEAT_SHARED;
	}
	return used;
}

/* Calls fn for each process with a seat. */
static int each_seat(const struct tacho_procfile *p,
		     int (*fn)(struct tacho_procfile *p, void *arg), void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < TACHO_SEATS_MAX; i++) {
		uint64_t word = tacho_load_acquire(seat_word(p, i));	/* [seat] */
		struct tacho_procfile q = *p;
		char *at = p->map + TACHO_PROC_SEAT(i);

		if (word >> 32 != TACHO_SEAT_LIVE)
			continue;
		q.pid = (int32_t)(uint32_t)word;
		q.head = (const struct tacho_proc *)(const void *)at;
		q.state = (struct tacho_proc_state *)(void *)(at + TACHO_PROC_STATE_OFF);
		q.events_max = TACHO_SEAT_EVENTS;
		q.sharers = 0;
		if (head_is_good(q.head))
			ret = fn(&q, arg);
	}
	return ret;
}

/* Calls fn for all processes of a file; *gone: the file has none. */
static int each_of_file(struct tacho_procfile *p, const char *name,
			int (*fn)(struct tacho_procfile *p, void *arg), void *arg, bool *gone)
{
	int lives = p->foreign ? 1 : process_lives(p->pid, name);
	uint32_t used = sweep_seats(p, name);
	int ret = 0;

	*gone = !lives && !used;
	if (tacho_no_room_here(lives))
		return lives;
	/* if unknown, the file is kept: the process is not treated as dead */
	if (lives > 0 || p->sharers)
		ret = fn(p, arg);
	return ret ? ret : each_seat(p, fn, arg);
}

int tacho_procs_each(struct tacho_dir *dir,
		     int (*fn)(struct tacho_procfile *p, void *arg), void *arg)
{
	int fd = openat(dir->fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int ret = 0;

	if (!list) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (e = readdir(list))) {
		struct tacho_procfile p;
		int err = procfile_open(dir, e->d_name, &p);
		bool gone = err == 1;

		if (!err) {
			ret = each_of_file(&p, e->d_name, fn, arg, &gone);
			tacho_shm_unmap(p.map, TACHO_PROC_SIZE);
		}
		if (gone)
			(void)unlinkat(fd, e->d_name, 0);
		/* a file that cannot be opened now may still exist */
		if (!ret && tacho_no_room_here(err))
			ret = err;
	}
	closedir(list);
	return ret;
}

uint32_t tacho_procfile_nr_events(const struct tacho_procfile *p)
{
	uint32_t n = tacho_load_acquire(&p->head->nr_events);	/* [proc-events] */

	return n > p->events_max ? p->events_max : n;
}

const char *tacho_procfile_event(const struct tacho_procfile *p, uint32_t i,
				 uint32_t *len, bool *gone)
{
	const char *base = p->map;
	struct tacho_proc_event e;

	if (!i || i > tacho_procfile_nr_events(p))
		return NULL;
	memcpy(&e, base + TACHO_PROC_ENTRY_OFF + (size_t)i * sizeof(e), sizeof(e));
	if (e.text > TACHO_PROC_TEXT_MAX ||
	    e.text_len > TACHO_PROC_TEXT_MAX - e.text)
		return NULL;
	*len = e.text_len;
	*gone = e.flags & TACHO_PROC_EVENT_GONE;
	return base + TACHO_PROC_TEXT_OFF + e.text;
}

void tacho_type_text_name(const char *text, uint32_t len, char *name,
			  size_t size)
{
	size_t n = 0;

	while (n < len && n + 1 < size && text[n] && text[n] != '\n') {
		name[n] = text[n];
		n++;
	}
	name[n] = '\0';
}

void tacho_procfile_apply(struct tacho_procfile *p, const struct tacho_view *v)
{
	uint64_t mask = UINT64_C(1) << (v->ctl->bit % TACHO_SESSIONS_MAX);
	uint32_t n = tacho_procfile_nr_events(p);
	char name[TACHO_RULE_MAX];
	bool gone, out = locked_out(p, v);
	const char *text;
	uint32_t len;

	for (uint32_t i = 1; i <= n; i++) {
		struct tacho_decision d = { 0 };

		text = tacho_procfile_event(p, i, &len, &gone);
		if (!text)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		if (!gone && !out)
			d = tacho_view_decide(v, name, p->pid);
		tacho_state_set(&p->state[i], mask, &d);
	}
}

void tacho_procfile_clear(struct tacho_procfile *p, uint32_t bit)
{
	static const struct tacho_decision none;
	uint32_t n = tacho_procfile_nr_events(p);

	for (uint32_t i = 1; i <= n; i++)
		tacho_state_set(&p->state[i],
				UINT64_C(1) << bit % TACHO_SESSIONS_MAX, &none);
}
