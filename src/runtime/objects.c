// SPDX-License-Identifier: MIT
/* Writes this process's code mappings to sessions: session/objects.h. */
#include "session/objects.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/digits.h"
#include "base/text.h"
#include "runtime/maps.h"
#include "runtime/actions.h"
#include "sys/clock.h"
#include "sys/mapping.h"

#define TEXT_MAX	((size_t)2 << 20)	/* of one block; pages that it fills */
#define PATH_SIZE	4096u
#define LINE_SIZE	(PATH_SIZE + 256u)
#define HEADERS_MAX	64u
#define NOTES_MAX	4096u
#define ID_MAX		64u

/* ---- one block ---- */

/* In separate memory: a signal handler's stack may be small. */
struct block {
	size_t len;
	uint32_t nr;
	/* the file of the previous mapping: its head has the build id */
	struct runtime_map head;
	char id[2 * ID_MAX + 64];
	char path[PATH_SIZE];
	unsigned char notes[NOTES_MAX];
	char text[TEXT_MAX];
};

static void put(struct block *b, const char *s, size_t len)
{
	memcpy(b->text + b->len, s, len);
	b->len += len;
}

static void put_hex(struct block *b, uint64_t v)
{
	int shift = v ? (63 - __builtin_clzll(v)) / 4 * 4 : 0;

	for (; shift >= 0; shift -= 4)
		b->text[b->len++] = "0123456789abcdef"[v >> shift & 15];
	b->text[b->len++] = ' ';
}

static void put_decimal(struct block *b, uint64_t v, char after)
{
	b->len = (size_t)(tacho_digits(b->text + b->len, v) - b->text);
	b->text[b->len++] = after;
}

/* ---- identity of files ---- */

/*
 * Finds the build id among notes, as "b:HEX"; false: not found.  Alignment applies to the offset
 * in the segment, which matters for 8 bytes: a note's head has 12.
 */
static bool id_of_notes(const unsigned char *p, size_t len, size_t align, char *id)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		size_t name, desc;
		Elf64_Nhdr n;

		memcpy(&n, p + at, sizeof(n));
		name = at + sizeof(n);
		desc = TACHO_ALIGN_UP(name + n.n_namesz, align);
		if (desc > len || n.n_descsz > len - desc)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(p + name, "GNU", 4) && n.n_descsz &&
		    n.n_descsz <= ID_MAX) {
			memcpy(id, "b:", 2);
			for (size_t i = 0; i < n.n_descsz; i++) {
				id[2 + 2 * i] = "0123456789abcdef"[p[desc + i] >> 4];
				id[3 + 2 * i] = "0123456789abcdef"[p[desc + i] & 15];
			}
			id[2 + 2 * (size_t)n.n_descsz] = '\0';
			return true;
		}
		at = TACHO_ALIGN_UP(desc + n.n_descsz, align);
		if (at > len)
			return false;
	}
	return false;
}

/* Reads the notes that the head of a mapped file names. */
static bool id_of_memory(struct block *b, const struct runtime_map *m)
{
	uint64_t size = m->end - m->start;
	Elf64_Ehdr head;
	Elf64_Phdr ph;

	if (m->offset || !tacho_memory_read(m->start, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(ph) || head.e_phnum > HEADERS_MAX)
		return false;
	for (uint32_t i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + i * sizeof(ph);

		if (at > size || size - at < sizeof(ph) ||
		    !tacho_memory_read(m->start + at, &ph, sizeof(ph)))
			return false;
		if (ph.p_type == PT_NOTE && ph.p_filesz <= NOTES_MAX &&
		    ph.p_offset <= size && ph.p_filesz <= size - ph.p_offset &&
		    tacho_memory_read(m->start + ph.p_offset, b->notes, ph.p_filesz) &&
		    id_of_notes(b->notes, ph.p_filesz, ph.p_align == 8 ? 8 : 4, b->id))
			return true;
	}
	return false;
}

/*
 * The id of a file without a build id, which distinguishes it from a later file of the same name.
 */
static void id_of_file(struct block *b, const struct runtime_map *m)
{
	char *p = b->id;
	struct stat st;

	memcpy(p, "-", 2);
	if (m->deleted || m->path_len >= PATH_SIZE)
		return;
	memcpy(b->path, m->path, m->path_len);
	b->path[m->path_len] = '\0';
	if (stat(b->path, &st) || (uint64_t)st.st_ino != m->inode)
		return;
	memcpy(p, "f:", 2);
	p = tacho_digits(p + 2, (uint64_t)st.st_size);
	*p++ = ':';
	p = tacho_digits(p, (uint64_t)st.st_mtim.tv_sec);
	*p++ = '.';
	p = tacho_digits(p, (uint64_t)st.st_mtim.tv_nsec);
	*p = '\0';
}

static bool same_file(const struct runtime_map *a, const struct runtime_map *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

static bool put_map(const struct runtime_map *m, void *arg)
{
	struct block *b = arg;

	/* its first page comes before its code, or is its code */
	if (!m->offset || !same_file(&b->head, m)) {
		b->head = *m;
		if (!id_of_memory(b, m))
			id_of_file(b, m);
	}
	if (!m->code)
		return true;
	if (m->path_len >= PATH_SIZE)
		return true;
	if (TEXT_MAX - b->len < 2 * LINE_SIZE)
		return false;
	put(b, "object ", 7);
	put_hex(b, m->start);
	put_hex(b, m->end);
	put_hex(b, m->offset);
	put(b, b->id, strlen(b->id));
	put(b, " ", 1);
	put(b, m->path, m->path_len);
	put(b, "\n", 1);
	b->nr++;
	return true;
}

/* *what: identifies the mappings, independent of the time. */
static int make_block(struct block *b, uint64_t ticks, uint64_t *what)
{
	size_t from;
	int err;

	/* a new line, even if a full file system cut off the previous one */
	put(b, "\nprocess ", 9);
	put_decimal(b, (uint64_t)tacho_runtime.pid, ' ');
	put_decimal(b, ticks, '\n');
	from = b->len;
	err = tacho_maps_each(put_map, b);
	*what = tacho_hash(b->text + from, b->len - from, 0) | 1;
	put(b, "end ", 4);
	put_decimal(b, b->nr, '\n');
	return err;
}

/* ---- the session's file ---- */

static int append(const struct runtime_session *s, const char *text, size_t len)
{
	char path[TACHO_PATH_MAX + 16];
	size_t n = strnlen(s->view.ring.path, TACHO_PATH_MAX);
	struct stat st;
	ssize_t done;
	int fd, err = 0;

	memcpy(path, s->view.ring.path, n);
	memcpy(path + n, "/" TACHO_OBJECTS, sizeof("/" TACHO_OBJECTS));
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
		  O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size + len > TACHO_OBJECTS_MAX ||
	    !tacho_shm_may_grow((uint64_t)st.st_size + len))
		err = -EFBIG;
	if (!err) {
		done = write(fd, text, len);
		err = done == (ssize_t)len ? 0 : done < 0 ? -errno : -ENOSPC;
	}
	close(fd);
	return err;
}

static int tell(struct runtime_session *s)
{
	struct block *b = tacho_shm_private(sizeof(*b));
	uint64_t what;
	int err;

	if (!b)
		return -ENOMEM;
	err = make_block(b, tacho_clock_read(s->view.ring.clock), &what);
	if (!err && what != s->last_announced) {
		/* announced objects may have been unloaded, and loaded again */
		announced_clear(s->announced);
		err = append(s, b->text, b->len);
	}
	s->last_announced = err ? 0 : what;
	tacho_shm_unmap(b, sizeof(*b));
	return err;
}

bool tacho_objects_tell(struct runtime_session *s)
{
	int saved = errno;
	uint32_t idle = 0;

	tacho_store_relaxed(&s->tells, 1);
	if (!tacho_cas_acq_rel(&s->telling, &idle, 1))	/* [announcing] */
		return false;
	if (!tacho_attach_may_map() || tell(s))
		(void)tacho_add_relaxed(&tacho_runtime.proc->lost_stack, 1);
	tacho_store_release(&s->telling, 0);	/* [announcing] */
	errno = saved;
	return true;
}

void tacho_objects_loaded(void)
{
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
		/* [session] */
		struct runtime_session *s = tacho_load_acquire(&tacho_runtime.session[bit]);

		if (s && tacho_load_relaxed(&s->tells))
			(void)tacho_objects_tell(s);
	}
}

/* ---- stacks ---- */

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/*
 * A key of an object's ELF header, its segments and usually its build id: another library may be
 * loaded at the same place, with the linker's data at the same addresses.  The memory is read by
 * a system call, because a corrupt chain of frames may lead to an object that is being unloaded.
 */
static uint64_t head_key(uint64_t start)
{
	uint64_t head[128];
	size_t n = tacho_memory_copy(start, head, sizeof(head));

	return tacho_hash(head, n, start);
}

/* The key of the object that contains addr; 0: none.  *end: its end. */
static uint64_t object_key(uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct dl_find_object o;

	/* the linker's table for unwinders, which can be read in any context */
	if (_dl_find_object((void *)(uintptr_t)addr, &o))
		return 0;
	*start = (uint64_t)(uintptr_t)o.dlfo_map_start;
	*end = (uint64_t)(uintptr_t)o.dlfo_map_end;
	/* the first in the list is the program, which stays */
	if (o.dlfo_link_map == _r_debug.r_map)
		return 1;
	return head_key(*start) | 1;
}
#else
static uint64_t object_key(uint64_t addr, uint64_t *start, uint64_t *end)
{
	(void)addr;
	(void)start;
	(void)end;
	return 0;
}
#endif

/* Whether an address is in an object that was not announced; adds it to the set. */
static bool look_at(struct runtime_session *s, const uint64_t *addr, uint32_t n,
		    bool note)
{
	uint64_t start = 0, end = 0, key;

	for (uint32_t i = 0; i < n; i++) {
		if (addr[i] >= start && addr[i] < end)
			continue;
		key = object_key(addr[i], &start, &end);
		if (!key || announced_has(s->announced, key))
			continue;
		if (!note)
			return true;
		announced_add(s->announced, key);
	}
	return false;
}

void tacho_objects_check(struct runtime_session *s, const uint64_t *addr, uint32_t n)
{
	if (tacho_likely(!look_at(s, addr, n, false)))
		return;
	/* failures are not repeated at each hit */
	if (tacho_objects_tell(s))
		(void)look_at(s, addr, n, true);
}

/* "child PID PARENT TICKS": all mappings are the parent's. */
static int tell_child(const struct runtime_session *s, int32_t parent)
{
	char text[96] = "\nchild ", *p = text + 7;

	p = tacho_digits(p, (uint64_t)tacho_runtime.pid);
	*p++ = ' ';
	p = tacho_digits(p, (uint64_t)parent);
	*p++ = ' ';
	p = tacho_digits(p, tacho_clock_read(s->view.ring.clock));
	*p++ = '\n';
	return append(s, text, (size_t)(p - text));
}

void tacho_objects_fork(int32_t parent)
{
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
		struct runtime_session *s = tacho_runtime.session[bit];

		if (!s)
			continue;
		tacho_store_relaxed(&s->telling, 0);
		/* otherwise its first stack announces */
		if (!s->tells || (tacho_attach_may_map() && !tell_child(s, parent)))
			continue;
		s->last_announced = 0;
		announced_clear(s->announced);
	}
}
