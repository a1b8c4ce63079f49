/* SPDX-License-Identifier: MIT */
#include "kdata/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/scan.h"
#include "base/text.h"

#define ENTRIES_MAX	(1u << 22)
#define BITMAP_BYTES	(TACHO_KTASKS_PID_MAX / 8)

int tacho_ktasks_init(struct tacho_ktasks *t)
{
	memset(t, 0, sizeof(*t));
	t->seen = calloc(1, BITMAP_BYTES);
	t->named = calloc(1, BITMAP_BYTES);
	t->room = 1024;
	t->mask = 4095;
	t->list = calloc(t->room, sizeof(*t->list));
	t->slots = calloc(t->mask + 1, sizeof(*t->slots));
	if (!t->seen || !t->named || !t->list || !t->slots) {
		tacho_ktasks_release(t);
		return -ENOMEM;
	}
	tacho_ktasks_name(t, 0, "<idle>", 6);
	return 0;
}

void tacho_ktasks_release(struct tacho_ktasks *t)
{
	free(t->seen);
	free(t->named);
	free(t->list);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

static uint32_t *slot_of(const struct tacho_ktasks *t, int32_t pid)
{
	uint32_t i = (uint32_t)pid * 2654435761u >> 7;

	for (;; i++) {
		uint32_t *s = &t->slots[i & t->mask];

		if (!*s || t->list[*s - 1].pid == pid)
			return s;
	}
}

struct tacho_ktask *tacho_ktasks_find(const struct tacho_ktasks *t, int32_t pid)
{
	uint32_t s;

	if (!tacho_ktasks_bit(t->seen, pid))
		return NULL;
	s = *slot_of(t, pid);
	return s ? &t->list[s - 1] : NULL;
}

/* Twice the entries, and slots four times as many as entries. */
static bool make_room(struct tacho_ktasks *t)
{
	uint32_t room = t->room * 2, *old = t->slots, i;
	struct tacho_ktask *list;

	if (t->nr < t->room)
		return true;
	if (room > ENTRIES_MAX)
		return false;
	list = reallocarray(t->list, room, sizeof(*list));
	if (!list)
		return false;
	t->list = list;
	t->slots = calloc((size_t)room * 4, sizeof(*t->slots));
	if (!t->slots) {
		t->slots = old;
		return false;
	}
	free(old);
	t->room = room;
	t->mask = room * 4 - 1;
	for (i = 0; i < t->nr; i++)
		*slot_of(t, t->list[i].pid) = i + 1;
	return true;
}

static void set_bit(uint64_t *bits, int32_t pid)
{
	bits[(uint32_t)pid / 64] |= UINT64_C(1) << ((uint32_t)pid % 64);
}

void tacho_ktasks_add(struct tacho_ktasks *t, int32_t pid)
{
	struct tacho_ktask *task;

	if ((uint32_t)pid >= TACHO_KTASKS_PID_MAX ||
	    tacho_ktasks_bit(t->seen, pid))
		return;
	if (!make_room(t)) {
		t->dropped++;
		return;
	}
	*slot_of(t, pid) = ++t->nr;
	task = &t->list[t->nr - 1];
	memset(task, 0, sizeof(*task));
	task->pid = pid;
	set_bit(t->seen, pid);
}

void tacho_ktasks_name(struct tacho_ktasks *t, int32_t pid, const char *comm,
		       size_t len)
{
	struct tacho_ktask *task;

	len = strnlen(comm, len);
	if (!len || (!pid && tacho_ktasks_bit(t->named, 0)))
		return;
	tacho_ktasks_add(t, pid);
	task = tacho_ktasks_find(t, pid);
	if (!task)
		return;
	if (len > TACHO_KTASK_COMM - 1)
		len = TACHO_KTASK_COMM - 1;
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, comm, len);
	set_bit(t->named, pid);
}

void tacho_ktasks_forget(struct tacho_ktasks *t, int32_t pid)
{
	if (pid && tacho_ktasks_bit(t->named, pid))
		t->named[(uint32_t)pid / 64] &=
			~(UINT64_C(1) << ((uint32_t)pid % 64));
}

/* ---- /proc -------------------------------------------------------------------- */

/* Name and process of a live thread; its status begins "Name:\tbash\n". */
static void look_up(struct tacho_ktasks *t, int32_t pid)
{
	const char *text, *name;
	uint64_t tgid;
	struct tacho_ktask *task;
	struct tacho_buf status;
	char path[48];

	if (!pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	tacho_buf_init(&status, 65536);
	if (!tacho_buf_read_file(&status, path)) {
		text = tacho_buf_str(&status);
		name = strstr(text, "Name:\t");
		if (name == text)
			tacho_ktasks_name(t, pid, name + 6,
					  strcspn(name + 6, "\n"));
		task = tacho_ktasks_find(t, pid);
		if (task && !tacho_scan_after(text, NULL, "\nTgid:\t", INT32_MAX, &tgid))
			task->tgid = (int32_t)tgid;
	}
	tacho_buf_release(&status);
}

static bool is_number(const char *s, int32_t *v)
{
	uint64_t n;

	if (tacho_parse_u64(s, 1, TACHO_KTASKS_PID_MAX - 1, &n) < 0)
		return false;
	*v = (int32_t)n;
	return true;
}

static void scan_process(struct tacho_ktasks *t, int32_t tgid)
{
	struct tacho_ktask *task;
	struct dirent *e;
	char path[48];
	int32_t pid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tgid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		struct tacho_buf comm;

		if (!is_number(e->d_name, &pid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm",
			 (int)tgid, (int)pid);
		tacho_buf_init(&comm, 4096);
		if (!tacho_buf_read_file(&comm, path) && comm.len) {
			tacho_ktasks_name(t, pid, comm.data, comm.len -
					  (comm.data[comm.len - 1] == '\n'));
			task = tacho_ktasks_find(t, pid);
			if (task)
				task->tgid = tgid;
		}
		tacho_buf_release(&comm);
	}
	closedir(dir);
}

void tacho_ktasks_scan(struct tacho_ktasks *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int32_t pid;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (is_number(e->d_name, &pid))
			scan_process(t, pid);
	closedir(dir);
	t->looked = t->nr;
}

void tacho_ktasks_look(struct tacho_ktasks *t, uint32_t most)
{
	for (; most && t->looked < t->nr; most--, t->looked++)
		if (!t->list[t->looked].tgid)
			look_up(t, t->list[t->looked].pid);
}

/* Lines of "<pid> <word>" for threads that have an entry. */
static void saved_list(struct tacho_ktasks *t, int tracefs, const char *path, bool names)
{
	struct tacho_ktask *task;
	struct tacho_buf text;
	char *at, *line;
	const char *end;
	uint64_t pid, tgid;

	tacho_buf_init(&text, (size_t)64 << 20);
	if (tacho_buf_read_fileat(&text, tracefs, path) < 0 || !text.len)
		goto out;
	tacho_buf_putc(&text, '\0');
	if (tacho_buf_error(&text))
		goto out;
	for (at = text.data; (line = strsep(&at, "\n"));) {
		end = line;
		if (tacho_scan_digits(&end, NULL, 10, TACHO_KTASKS_PID_MAX - 1, &pid) || !pid ||
		    *end++ != ' ')
			continue;
		task = tacho_ktasks_find(t, (int32_t)pid);
		if (!task)
			continue;
		if (names && strcmp(end, "<...>") != 0)
			tacho_ktasks_name(t, (int32_t)pid, end, strlen(end));
		else if (!names && !tacho_scan_digits(&end, NULL, 10, INT32_MAX, &tgid))
			task->tgid = (int32_t)tgid;
	}
out:
	tacho_buf_release(&text);
}

void tacho_ktasks_catch_up(struct tacho_ktasks *t, int tracefs, uint32_t from)
{
	tacho_ktasks_look(t, UINT32_MAX);
	while (from < t->nr && t->list[from].comm[0] && t->list[from].tgid)
		from++;
	if (from == t->nr)
		return;
	saved_list(t, tracefs, "saved_cmdlines", true);
	saved_list(t, tracefs, "saved_tgids", false);
}

void tacho_ktasks_finish(struct tacho_ktasks *t, int tracefs)
{
	uint32_t i;

	saved_list(t, tracefs, "saved_cmdlines", true);
	saved_list(t, tracefs, "saved_tgids", false);
	for (i = 0; i < t->nr; i++)
		look_up(t, t->list[i].pid);
}
