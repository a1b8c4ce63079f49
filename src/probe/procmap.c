// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "probe/probe.h"
#include "session/proc.h"
#include "sys/mapping.h"

static struct tacho_proc_event *entry(uint32_t index)
{
	char *base = (char *)tacho_probe.proc;

	return (struct tacho_proc_event *)(void *)(base + TACHO_PROC_ENTRY_OFF) +
	       index;
}

struct tacho_proc_state *tacho_procmap_state(uint32_t index)
{
	char *base = (char *)tacho_probe.proc;

	return (struct tacho_proc_state *)(void *)(base + TACHO_PROC_STATE_OFF) +
	       index;
}

const char *tacho_procmap_text(uint32_t index, uint32_t *len)
{
	const struct tacho_proc_event *e = entry(index);

	*len = e->text_len;
	return (const char *)tacho_probe.proc + TACHO_PROC_TEXT_OFF + e->text;
}

/* Makes the path DIR/proc/<pid>.<pidns>, and DIR/proc. */
static void make_path(void)
{
	(void)snprintf(tacho_probe.file, sizeof(tacho_probe.file),
		       "%s/proc/%d.%ju", tacho_probe.dir, tacho_probe.pid,
		       (uintmax_t)tacho_pidns());
}

/* Opens a new file for this process under a temporary name. */
static int open_new(char *temp, size_t size)
{
	int n = snprintf(temp, size, "%s.new", tacho_probe.file);

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	/* left by one that had our pid before us */
	(void)unlink(temp);
	return tacho_shm_create(AT_FDCWD, temp, TACHO_PROC_SIZE);
}

static void fill_head(struct tacho_proc *p)
{
	int fd;
	ssize_t n;

	p->head.magic = TACHO_MAGIC_PROC;
	p->head.signature = tacho_abi_signature();
	p->pid = tacho_probe.pid;
	p->start_time = tacho_start_time(tacho_probe.pid);
	p->pidns = tacho_pidns();
	fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, p->comm, sizeof(p->comm) - 1);
		p->comm[n > 0 ? n - 1 : 0] = '\0';
		close(fd);
	}
	n = readlink("/proc/self/exe", p->exe, sizeof(p->exe) - 1);
	p->exe[n > 0 ? n : 0] = '\0';
	tacho_store_release(&p->head.ready, 1);
}

int tacho_procmap_create(void)
{
	char temp[sizeof(tacho_probe.file) + 8];
	void *map;
	int fd, err;

	make_path();
	fd = open_new(temp, sizeof(temp));
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, TACHO_PROC_STATE_OFF);
	if (!err)
		err = tacho_shm_map(fd, TACHO_PROC_SIZE, true, false, &map);
	close(fd);
	if (!err) {
		tacho_shm_undumped(map, 0, TACHO_PROC_SIZE);
		fill_head(map);
		((struct tacho_proc *)map)->flags =
			tacho_probe.seccomp ? TACHO_PROC_SANDBOXED : 0;
		if (rename(temp, tacho_probe.file) < 0) {
			err = -errno;
			tacho_shm_unmap(map, TACHO_PROC_SIZE);
		}
	}
	if (err) {
		(void)unlink(temp);
		return err;
	}
	tacho_store_release(&tacho_probe.proc, map);
	return 0;
}

/* Blocks for [offset, offset + len) of a file. */
static int allocate_in(int fd, uint64_t offset, uint64_t len)
{
	uint64_t from = offset & ~UINT64_C(4095);

	return tacho_shm_allocate(fd, from,
				  TACHO_ABI_PAGE_UP(offset + len) - from);
}

/* Blocks for one more event: its state words, its entry, its text. */
static int allocate_event(int fd, uint32_t index, uint32_t text, uint32_t len)
{
	int err = allocate_in(fd, TACHO_PROC_STATE_OFF + 16ull * index, 16);

	if (!err)
		err = allocate_in(fd, TACHO_PROC_ENTRY_OFF + 16ull * index, 16);
	if (!err)
		err = allocate_in(fd, TACHO_PROC_TEXT_OFF + text, len);
	return err;
}

/* An event of an unloaded object that had the same text, or 0. */
static uint32_t find_gone(const char *text, uint32_t len)
{
	uint32_t n = tacho_probe.proc->nr_events;

	for (uint32_t i = 1; i <= n; i++) {
		uint32_t have;
		const char *t;

		if (!(entry(i)->flags & TACHO_PROC_EVENT_GONE))
			continue;
		t = tacho_procmap_text(i, &have);
		if (have == len && !memcmp(t, text, len))
			return i;
	}
	return 0;
}

int tacho_procmap_add(const char *text, uint32_t len, uint32_t name_len)
{
	struct tacho_proc *p = tacho_probe.proc;
	uint32_t index = find_gone(text, len);
	uint32_t at = p->text_used;
	int fd, err;

	if (index) {
		entry(index)->flags = 0;
		return (int)index;
	}
	index = p->nr_events + 1;
	if (index > TACHO_EVENTS_MAX || len > TACHO_PROC_TEXT_MAX - at) {
		p->lost_events++;
		return -ENOSPC;
	}
	fd = tacho_shm_open(AT_FDCWD, tacho_probe.file);
	err = fd < 0 ? fd : allocate_event(fd, index, at, len);
	if (fd >= 0)
		close(fd);
	if (err) {
		p->lost_events++;
		return err;
	}
	memcpy((char *)p + TACHO_PROC_TEXT_OFF + at, text, len);
	*entry(index) = (struct tacho_proc_event){
		.text = at, .text_len = len, .name_len = name_len,
	};
	p->text_used = at + len;
	TACHO_INJECT(procmap_added);
	tacho_store_release(&p->nr_events, index);
	return (int)index;
}

void tacho_procmap_remove(uint32_t index)
{
	entry(index)->flags |= TACHO_PROC_EVENT_GONE;
	tacho_store_seq_cst(&tacho_procmap_state(index)->wanted, 0);
	tacho_store_seq_cst(&tacho_procmap_state(index)->program, 0);
}

/* Writes [offset, offset + len) of the parent's file into the child's. */
static int copy_part(int fd, uint64_t offset, uint64_t len)
{
	const char *from = (const char *)tacho_probe.proc + offset;
	int err = len ? allocate_in(fd, offset, len) : 0;

	while (!err && len) {
		ssize_t n = pwrite(fd, from, len, (off_t)offset);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		offset += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return err;
}

static int copy_all(int fd)
{
	const struct tacho_proc *p = tacho_probe.proc;
	uint64_t n = (uint64_t)p->nr_events + 1;
	int err = copy_part(fd, 0, TACHO_PROC_STATE_OFF);

	if (!err)
		err = copy_part(fd, TACHO_PROC_STATE_OFF, 16 * n);
	if (!err)
		err = copy_part(fd, TACHO_PROC_ENTRY_OFF, 16 * n);
	if (!err)
		err = copy_part(fd, TACHO_PROC_TEXT_OFF, p->text_used);
	return err;
}

void tacho_procmap_fork(void)
{
	char temp[sizeof(tacho_probe.file) + 8];
	void *map = tacho_probe.proc;
	int fd, err;

	make_path();
	fd = open_new(temp, sizeof(temp));
	err = fd < 0 ? fd : copy_all(fd);
	if (!err && mmap(map, TACHO_PROC_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != map)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (!err) {
		tacho_shm_undumped(map, 0, TACHO_PROC_SIZE);
		fill_head(map);
		if (rename(temp, tacho_probe.file) < 0)
			err = -errno;
	}
	if (!err)
		return;
	(void)unlink(temp);
	/* no file, no tools that switch us on: private memory, all off */
	tacho_shm_retire(map, TACHO_PROC_SIZE);
}
