// SPDX-License-Identifier: MIT
#include "compat/lkst/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/lkst_etypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scan.h"
#include "sys/clock.h"

#define ROOM_FIRST	1024u
#define STATUS_MAX	4096	/* of it what is looked for comes first */

int lkst_ids_init(struct lkst_ids *ids, uint32_t clock, uint64_t freq)
{
	*ids = (struct lkst_ids){ .room = ROOM_FIRST, .clock = clock, .second = freq };
	ids->slot = calloc(ids->room, sizeof(*ids->slot));
	return ids->slot ? 0 : -ENOMEM;
}

void lkst_ids_release(struct lkst_ids *ids)
{
	free(ids->slot);
	ids->slot = NULL;
}

/* ---- the table ---- */

static struct lkst_ids_entry *place(const struct lkst_ids *ids, int32_t thread)
{
	uint32_t i = (uint32_t)thread * 2654435769u;

	for (i ^= i >> 15;; i++) {
		struct lkst_ids_entry *e = &ids->slot[i & (ids->room - 1)];

		if (!e->used || e->thread == thread)
			return e;
	}
}

static void copy_living(struct lkst_ids *to, const struct lkst_ids *from, uint64_t since)
{
	for (uint32_t i = 0; i < from->room; i++) {
		const struct lkst_ids_entry *e = &from->slot[i];

		if (!e->used || (e->gone && e->ticks < since))
			continue;
		*place(to, e->thread) = *e;
		to->nr++;
	}
}

/* More room, without those that have been gone for long; no memory: all is forgotten. */
static void grow(struct lkst_ids *ids)
{
	uint64_t now = tacho_clock_read(ids->clock), old = 10 * ids->second;
	struct lkst_ids bigger = *ids;

	bigger.nr = 0;
	bigger.room = 2 * ids->room;
	bigger.slot = calloc(bigger.room, sizeof(*bigger.slot));
	if (!bigger.slot) {
		memset(ids->slot, 0, ids->room * sizeof(*ids->slot));
		ids->nr = 0;
		return;
	}
	copy_living(&bigger, ids, now > old ? now - old : 0);
	free(ids->slot);
	*ids = bigger;
}

static struct lkst_ids_entry *entry_of(struct lkst_ids *ids, int32_t thread)
{
	struct lkst_ids_entry *e = place(ids, thread);

	if (e->used)
		return e;
	if (ids->nr >= ids->room / 2) {
		grow(ids);
		e = place(ids, thread);
	}
	ids->nr++;
	*e = (struct lkst_ids_entry){
		.thread = thread, .pid = thread, .pgrp = -1, .uid = UINT32_MAX,
		.gid = UINT32_MAX, .used = 1, .stale = 1,
	};
	return e;
}

/* ---- I2 ---- */

/* The n-th number after "\nKey:", or what *value was. */
static void take(const char *text, const char *key, int n, int64_t *value)
{
	const char *at = strstr(text, key);

	if (!at)
		return;
	at += strlen(key);
	for (uint64_t v; n >= 0; n--) {
		at += strspn(at, "\t ");
		if (tacho_scan_digits(&at, NULL, 10, INT64_MAX, &v) == -EINVAL)
			return;
		if (!n)
			*value = (int64_t)v;
	}
}

static bool read_status(int32_t thread, char text[STATUS_MAX])
{
	char path[32];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, STATUS_MAX - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static void look_up(const struct lkst_ids *ids, struct lkst_ids_entry *e)
{
	int64_t pid = e->thread, pgrp = -1, uid = UINT32_MAX, gid = UINT32_MAX;
	char text[STATUS_MAX];

	e->stale = 0;
	e->ticks = tacho_clock_read(ids->clock);
	if (!read_status(e->thread, text)) {
		e->gone = 1;
		return;
	}
	take(text, "\nTgid:", 0, &pid);
	take(text, "\nUid:", 1, &uid);
	take(text, "\nGid:", 1, &gid);
	take(text, "\nNSpgid:", 0, &pgrp);
	e->pid = (int32_t)pid;
	e->pgrp = (int32_t)pgrp;
	e->uid = (uint32_t)uid;
	e->gid = (uint32_t)gid;
	e->known = 1;
}

void lkst_ids_fill(struct lkst_ids *ids, struct lkst_record *r)
{
	const struct lkst_ids_entry *e;

	if (!r->thread) {	/* the idle threads */
		r->pid = r->pgrp = 0;
		r->uid = r->gid = 0;
		return;
	}
	e = entry_of(ids, r->thread);
	if (e->stale || (!e->gone && r->ticks > e->ticks && r->ticks - e->ticks > ids->second))
		look_up(ids, place(ids, r->thread));
	r->pid = e->pid;
	r->pgrp = e->pgrp;
	r->uid = e->uid;
	r->gid = e->gid;
}

/* ---- I1, and what makes the known doubtful ---- */

static void cloned(struct lkst_ids *ids, const struct lkst_record *r)
{
	int32_t child = (int32_t)r->arg[0];
	struct lkst_ids_entry *e = entry_of(ids, child);
	const struct lkst_ids_entry *maker = place(ids, r->thread);

	*e = (struct lkst_ids_entry){
		.thread = child, .pid = r->arg[1] & CLONE_THREAD ? r->pid : child,
		.pgrp = r->pgrp, .uid = r->uid, .gid = r->gid, .used = 1,
		.ticks = r->ticks, .known = 1,
	};
	if (r->thread && !(maker->used && maker->known)) {
		e->known = 0;
		e->stale = 1;
	}
}

static bool changes_ids(uint64_t number)
{
	switch (number) {
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setpgid:
	case SYS_setsid:
		return true;
	default:
		return false;
	}
}

void lkst_ids_update(struct lkst_ids *ids, const struct lkst_record *r)
{
	switch (r->etype) {
	case LKST_ETYPE_PROCESS_CLONE:
		cloned(ids, r);
		break;
	case LKST_ETYPE_PROCESS_EXEC:
		entry_of(ids, r->thread)->stale = 1;
		break;
	case LKST_ETYPE_PROCESS_EXIT:
		entry_of(ids, r->thread)->gone = 1;
		break;
	case LKST_ETYPE_SYSTEM_CALL_EXIT:
		if (changes_ids(r->arg[0]) && (int64_t)r->arg[1] >= 0)
			entry_of(ids, r->thread)->stale = 1;
		break;
	default:
		break;
	}
}
