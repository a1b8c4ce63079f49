// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "runtime/runtime.h"
#include "session/proc.h"
#include "sys/mapping.h"

static struct tacho_proc_event *entry(uint32_t index)
{
	return (struct tacho_proc_event *)(void *)
	       (tacho_runtime.file_map + TACHO_PROC_ENTRY_OFF) + index;
}

struct tacho_proc_state *tacho_procmap_state(uint32_t index)
{
	return (struct tacho_proc_state *)(void *)
	       (tacho_runtime.file_map + TACHO_PROC_STATE_OFF) + index;
}

const char *tacho_procmap_text(uint32_t index, uint32_t *len)
{
	const struct tacho_proc_event *e = entry(index);

	*len = e->text_len;
	return tacho_runtime.file_map + TACHO_PROC_TEXT_OFF + e->text;
}

/* Makes the path DIR/proc/<pid>.<pidns>, and DIR/proc. */
static void make_path(void)
{
	(void)snprintf(tacho_runtime.file, sizeof(tacho_runtime.file),
		       "%s/proc/%d.%ju", tacho_runtime.dir, tacho_runtime.pid,
		       (uintmax_t)tacho_pidns());
}

/* Opens a new file for this process under a temporary name. */
static int open_new(char *temp, size_t size)
{
	int n = snprintf(temp, size, "%s.new", tacho_runtime.file);

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	/* left by a process that had this pid before */
	(void)unlink(temp);
	return tacho_shm_create(AT_FDCWD, temp, TACHO_PROC_SIZE);
}

/* Clears the counts that a fork's child inherited. */
static void clear_counts(struct tacho_proc *p)
{
	p->lost_events = 0;
	p->lost_map = 0;
	p->lost_program = 0;
	p->lost_stack = 0;
	p->unseated = 0;
}

/* Without /proc (chroot), name space and program remain the parent's. */
static void fill_head(struct tacho_proc *p)
{
	uint64_t ns = tacho_pidns();
	ssize_t n;
	int fd;

	p->head.magic = TACHO_MAGIC_PROC;
	p->head.signature = tacho_abi_signature();
	p->pid = tacho_runtime.pid;
	p->start_time = tacho_start_time(tacho_runtime.pid);
	p->pidns = ns ? ns : p->pidns;
	(void)prctl(PR_GET_NAME, p->comm);
	fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, p->comm, sizeof(p->comm) - 1);
		p->comm[n > 0 ? n - 1 : 0] = '\0';
		close(fd);
	}
	n = readlink("/proc/self/exe", p->exe, sizeof(p->exe) - 1);
	if (n > 0)
		p->exe[n] = '\0';
	tacho_store_release(&p->head.ready, 1);	/* [ready] */
}

int tacho_procmap_create(void)
{
	char temp[sizeof(tacho_runtime.file) + 8];
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
			tacho_runtime.seccomp ? TACHO_PROC_SANDBOXED : 0;
		if (rename(temp, tacho_runtime.file) < 0) {
			err = -errno;
			tacho_shm_unmap(map, TACHO_PROC_SIZE);
		}
	}
	if (err) {
		(void)unlink(temp);
		return err;
	}
	tacho_runtime.file_map = map;
	tacho_store_release(&tacho_runtime.proc, map);	/* [proc] */
	return 0;
}

/* Blocks for [offset, offset + len) of a file. */
static int allocate_in(int fd, uint64_t offset, uint64_t len)
{
	uint64_t from = offset & ~UINT64_C(4095);

	return tacho_shm_allocate(fd, from,
				  TACHO_ABI_PAGE_UP(offset + len) - from);
}

/* The same through the mapping, for a program that can no longer open its file. */
static int allocate_mapped(uint64_t offset, uint64_t len)
{
	return tacho_shm_populate(tacho_runtime.file_map, offset, len);
}

/* Blocks for one more event: its state words, its entry, its text. */
static int allocate_event(uint32_t index, uint32_t text, uint32_t len)
{
	const struct {
		uint64_t offset, len;
	} part[] = {
		{ TACHO_PROC_STATE_OFF + 16ull * index, 16 },
		{ TACHO_PROC_ENTRY_OFF + 16ull * index, 16 },
		{ TACHO_PROC_TEXT_OFF + text, len },
	};
	int fd, err = 0;

	if (tacho_runtime.seat || !tacho_attach_may_map())
		return -EPERM;
	fd = tacho_shm_open(AT_FDCWD, tacho_runtime.file);
	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(part); i++)
		err = fd >= 0 ? allocate_in(fd, part[i].offset, part[i].len)
			      : allocate_mapped(part[i].offset, part[i].len);
	if (fd >= 0)
		close(fd);
	return err;
}

/* An event of an unloaded object that had the same text, or 0. */
static uint32_t find_gone(const char *text, uint32_t len)
{
	uint32_t n = tacho_runtime.proc->nr_events;

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
	struct tacho_proc *p = tacho_runtime.proc;
	uint32_t index = tacho_runtime.seat ? 0 : find_gone(text, len);
	uint32_t at = p->text_used;
	int err;

	if (index) {
		entry(index)->flags = 0;
		return (int)index;
	}
	index = p->nr_events + 1;
	if (index > TACHO_EVENTS_MAX || len > TACHO_PROC_TEXT_MAX - at) {
		p->lost_events++;
		return -ENOSPC;
	}
	err = allocate_event(index, at, len);
	if (err) {
		p->lost_events++;
		return err;
	}
	memcpy(tacho_runtime.file_map + TACHO_PROC_TEXT_OFF + at, text, len);
	*entry(index) = (struct tacho_proc_event){
		.text = at, .text_len = len, .name_len = name_len,
	};
	p->text_used = at + len;
	TACHO_INJECT(procmap_added);
	tacho_store_release(&p->nr_events, index);	/* [proc-events] */
	return (int)index;
}

void tacho_procmap_remove(uint32_t index)
{
	/* entries belong to the file's owner, and the words may, too */
	if (!tacho_runtime.seat)
		entry(index)->flags |= TACHO_PROC_EVENT_GONE;
	if (tacho_runtime.shares)
		return;
	tacho_store_seq_cst(&tacho_procmap_state(index)->wanted, 0);
	tacho_store_seq_cst(&tacho_procmap_state(index)->program, 0);
}

/* ---- fork ---- */

/* Writes [offset, offset + len) of the parent's file into the child's. */
static int copy_part(int fd, uint64_t offset, const void *data, uint64_t len)
{
	const char *from = data;
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
	const struct tacho_proc *p = tacho_runtime.proc;
	const char *map = tacho_runtime.file_map;
	uint64_t n = (uint64_t)p->nr_events + 1;
	int err = allocate_in(fd, 0, TACHO_PROC_STATE_OFF);

	if (!err)
		err = copy_part(fd, 0, p, sizeof(*p));
	if (!err)
		err = copy_part(fd, TACHO_PROC_STATE_OFF, map + TACHO_PROC_STATE_OFF, 16 * n);
	if (!err)
		err = copy_part(fd, TACHO_PROC_ENTRY_OFF, map + TACHO_PROC_ENTRY_OFF, 16 * n);
	if (!err)
		err = copy_part(fd, TACHO_PROC_TEXT_OFF, map + TACHO_PROC_TEXT_OFF, p->text_used);
	return err;
}

/* Creates the child's own file, mapped where its parent's was. */
static int own_file(void)
{
	char temp[sizeof(tacho_runtime.file) + 8];
	void *map = tacho_runtime.file_map;
	int fd, err;

	/* without /proc its owner would be unknown */
	if (!tacho_pidns())
		return -ENOENT;
	make_path();
	fd = open_new(temp, sizeof(temp));
	if (fd < 0)
		return fd;
	err = copy_all(fd);
	if (!err && mmap(map, TACHO_PROC_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != map)
		err = -errno;
	close(fd);
	if (!err) {
		tacho_shm_undumped(map, 0, TACHO_PROC_SIZE);
		tacho_runtime.proc = map;
		tacho_runtime.seat = 0;
		tacho_runtime.shares = false;
		clear_counts(map);
		fill_head(map);
		if (rename(temp, tacho_runtime.file) < 0) {
			err = -errno;
			/* no tool sees it: all events are disabled */
			tacho_shm_retire(map, TACHO_PROC_SIZE);
			err = 0;
		}
	}
	if (err)
		(void)unlink(temp);
	return err;
}

static uint64_t *seat_word(uint32_t i)
{
	return (uint64_t *)(void *)(tacho_runtime.file_map + TACHO_PROC_SEATS_OFF) + i;
}

static struct tacho_proc *seat_head(uint32_t i)
{
	return (struct tacho_proc *)(void *)(tacho_runtime.file_map + TACHO_PROC_SEAT(i));
}

/* Whether the process that took seat i has ended; ask: system calls are allowed. */
static bool seat_left(uint32_t i, uint64_t word, uint64_t ns, bool ask)
{
	int saved = errno;
	bool left;

	if (!ask || word >> 32 == TACHO_SEAT_FREE ||
	    (word >> 32 == TACHO_SEAT_LIVE && seat_head(i)->pidns != ns))
		return word >> 32 == TACHO_SEAT_FREE;
	left = kill((pid_t)(uint32_t)word, 0) && errno == ESRCH;
	errno = saved;
	return left;
}

/* Takes a place in the file: its number from 1 on, or 0. */
static uint32_t take_seat(uint32_t state, uint64_t ns, bool ask)
{
	uint64_t mine = TACHO_SEAT_WORD(tacho_runtime.pid, state);

	for (uint32_t i = 0; i < TACHO_SEATS_MAX; i++) {
		uint64_t word = tacho_load_acquire(seat_word(i));	/* [seat] */

		if (seat_left(i, word, ns, ask) &&
		    tacho_cas_acq_rel(seat_word(i), &word, mine))	/* [seat] */
			return i + 1;
	}
	return 0;
}

/*
 * Takes a seat in the mapped file:
 *	1. take a free seat;
 *	2. allocate its head and words through the mapping, and clear them;
 *	3. map the words a second time, over those of the parent;
 *	4. mark it as ready.
 */
static int own_seat(void)
{
	const struct tacho_proc *parent = tacho_runtime.proc;
	uint64_t len = TACHO_ABI_PAGE_UP(16 * ((uint64_t)parent->nr_events + 1));
	uint64_t ns = tacho_pidns();
	char *words = tacho_runtime.file_map + TACHO_PROC_STATE_OFF;
	struct tacho_proc *head;
	uint32_t seat;
	int err;

	ns = ns ? ns : parent->pidns;
	if (parent->nr_events > TACHO_SEAT_EVENTS)
		return -ENOSPC;
	seat = take_seat(TACHO_SEAT_TAKING, ns, true);
	if (!seat)
		return -ENOSPC;
	head = seat_head(seat - 1);
	err = tacho_shm_populate(tacho_runtime.file_map, TACHO_PROC_SEAT(seat - 1),
				 TACHO_PROC_STATE_OFF + len);
	if (!err) {
		memset((char *)head + TACHO_PROC_STATE_OFF, 0, len);
		if (mremap((char *)head + TACHO_PROC_STATE_OFF, 0, len,
			   MREMAP_MAYMOVE | MREMAP_FIXED, words) != words)
			err = -errno;
	}
	if (err) {
		tacho_store_release(seat_word(seat - 1), 0);	/* [seat] */
		return err;
	}
	memcpy(head, parent, sizeof(*head));
	clear_counts(head);
	head->pidns = ns;
	fill_head(head);
	tacho_runtime.proc = head;
	tacho_runtime.seat = seat;
	tacho_runtime.shares = false;
	tacho_store_release(seat_word(seat - 1),	/* [seat] */
			    TACHO_SEAT_WORD(tacho_runtime.pid, TACHO_SEAT_LIVE));
	return 0;
}

/* Takes a seat without words: the parent's words apply to this process, too. */
static void share_words(bool ask)
{
	uint32_t seat = take_seat(TACHO_SEAT_SHARED, tacho_runtime.proc->pidns, ask);

	if (!seat)
		(void)tacho_add_relaxed(&tacho_runtime.proc->unseated, 1);
	tacho_runtime.seat = seat ? seat : TACHO_SEATS_MAX + 1;
	tacho_runtime.shares = true;
}

void tacho_procmap_fork(void)
{
	bool may = tacho_attach_may_map();

	if (may && (!own_file() || !own_seat()))
		return;
	tacho_runtime.file[0] = '\0';
	share_words(may);
}

/* Whether another process has a seat in this process's file. */
static bool has_guests(void)
{
	for (uint32_t i = 0; i < TACHO_SEATS_MAX; i++)
		if (tacho_load_acquire(seat_word(i)))	/* [seat] */
			return true;
	return false;
}

void tacho_procmap_end(void)
{
	uint32_t seat = tacho_runtime.seat;

	if (seat && seat <= TACHO_SEATS_MAX)
		tacho_store_release(seat_word(seat - 1), 0);	/* [seat] */
	else if (!seat && !has_guests() && tacho_attach_may_map())
		(void)unlink(tacho_runtime.file);
}
