// SPDX-License-Identifier: MIT
#include "stream/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/cursor.h"

#define PAGE		4096u
#define WINDOW		((size_t)1 << 20)
#define NOTES_MAX	((size_t)32 << 20)	/* of all segments */
#define MAPS_MAX	1000000u
#define PIECES_MAX	1000000u
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER	ELFDATA2LSB
#else
#define OWN_ORDER	ELFDATA2MSB
#endif

bool tacho_image_is_core(const void *head, size_t len)
{
	Elf64_Ehdr e;

	if (len < sizeof(e))
		return false;
	memcpy(&e, head, sizeof(e));
	return !memcmp(e.e_ident, ELFMAG, SELFMAG) && e.e_ident[EI_CLASS] == ELFCLASS64 &&
	       e.e_ident[EI_DATA] == OWN_ORDER && e.e_type == ET_CORE;
}

static ssize_t file_read(const struct tacho_image *m, void *to, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(m->fd, (char *)to + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* ---- notes ---- */

static void take_process(struct tacho_image *m, const unsigned char *data, size_t len)
{
	struct elf_prpsinfo p;

	if (len < sizeof(p) || m->command[0])
		return;
	memcpy(&p, data, sizeof(p));
	m->pid = p.pr_pid;
	memcpy(m->command, p.pr_psargs, sizeof(p.pr_psargs));
	_Static_assert(sizeof(p.pr_psargs) < sizeof(m->command), "psargs");
	/* a blank after each argument */
	for (size_t n = strlen(m->command); n && m->command[n - 1] == ' ';)
		m->command[--n] = '\0';
}

/* The note of the first thread is that of the thread that received the signal. */
static void take_status(struct tacho_image *m, const unsigned char *data, size_t len)
{
	struct elf_prstatus p;

	if (len < sizeof(p) || m->signal)
		return;
	memcpy(&p, data, sizeof(p));
	m->signal = p.pr_cursig;
}

/*
 * NT_FILE: the number of files, the page size; for each file start, end, offset in pages; then
 * the names.
 */
static int take_files(struct tacho_image *m, const unsigned char *data, size_t len)
{
	struct tacho_cur numbers, names;
	uint64_t n, page;

	tacho_cur_init(&numbers, data, len);
	n = tacho_cur_u64(&numbers);
	page = tacho_cur_u64(&numbers);
	if (numbers.why || n > MAPS_MAX || n > (len - 16) / 24 || m->map)
		return 0;
	tacho_cur_init(&names, data, len);
	(void)tacho_cur_bytes(&names, 16 + 24 * (size_t)n);
	m->map = calloc(n ? n : 1, sizeof(*m->map));
	if (!m->map)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t from = tacho_cur_u64(&numbers), to = tacho_cur_u64(&numbers);
		uint64_t offset = tacho_cur_u64(&numbers) * page;
		const char *name = tacho_cur_str(&names);
		struct tacho_image_map *map = &m->map[m->nr_maps];

		if (!name)
			break;
		map->path = tacho_arena_strndup(&m->arena, name, strlen(name));
		if (!map->path)
			return -ENOMEM;
		map->addr = from;
		map->len = to > from ? to - from : 0;
		map->offset = offset;
		m->nr_maps++;
	}
	return 0;
}

static int take_note(struct tacho_image *m, const Elf64_Nhdr *h, const char *name,
		     const unsigned char *data)
{
	if (h->n_namesz != 5 || memcmp(name, "CORE", 5))
		return 0;
	switch (h->n_type) {
	case NT_PRPSINFO:
		take_process(m, data, h->n_descsz);
		return 0;
	case NT_PRSTATUS:
		take_status(m, data, h->n_descsz);
		return 0;
	case NT_FILE:
		return take_files(m, data, h->n_descsz);
	default:
		return 0;
	}
}

static int take_notes(struct tacho_image *m, const unsigned char *data, size_t len)
{
	struct tacho_cur c;
	int err = 0;

	tacho_cur_init(&c, data, len);
	while (!err) {
		const void *head = tacho_cur_bytes(&c, sizeof(Elf64_Nhdr)), *desc;
		const char *name;
		Elf64_Nhdr h;

		if (!head)
			break;
		memcpy(&h, head, sizeof(h));
		name = tacho_cur_bytes(&c, ((size_t)h.n_namesz + 3) & ~(size_t)3);
		desc = tacho_cur_bytes(&c, ((size_t)h.n_descsz + 3) & ~(size_t)3);
		if (!name || !desc)
			break;
		err = take_note(m, &h, name, desc);
	}
	return err;
}

static int read_notes(struct tacho_image *m, const Elf64_Phdr *p)
{
	size_t room = NOTES_MAX - m->notes;
	size_t len = p->p_filesz < room ? (size_t)p->p_filesz : room;
	unsigned char *data = malloc(len ? len : 1);
	ssize_t n = data ? file_read(m, data, len, p->p_offset) : -ENOMEM;
	int err = n < 0 ? (int)n : take_notes(m, data, (size_t)n);

	m->notes += len;
	free(data);
	return err;
}

/* ---- segments ---- */

static int add_segment(struct tacho_image *m, uint64_t addr, uint64_t len, uint64_t at)
{
	struct tacho_image_segment *p = m->segment;

	if (at >= m->size || !len)
		return 0;
	if (len > m->size - at)
		len = m->size - at;
	if (len > UINT64_MAX - addr)
		return 0;
	if (!(m->nr_segments & (m->nr_segments - 1)))
		p = reallocarray(p, m->nr_segments ? 2 * (size_t)m->nr_segments : 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	m->segment = p;
	p[m->nr_segments++] = (struct tacho_image_segment){ addr, len, at };
	return 0;
}

static int segment_order(const void *a, const void *b)
{
	const struct tacho_image_segment *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int read_segments(struct tacho_image *m, const Elf64_Ehdr *e)
{
	uint64_t n = e->e_phnum;
	int err = 0;

	if (e->e_phentsize != sizeof(Elf64_Phdr))
		return -EINVAL;
	if (n == PN_XNUM) {	/* more than 16 bits: in the first section's head */
		Elf64_Shdr s;

		if (file_read(m, &s, sizeof(s), e->e_shoff) != sizeof(s))
			return -EINVAL;
		n = s.sh_info;
	}
	for (uint64_t i = 0; i < n && i < PIECES_MAX && !err; i++) {
		Elf64_Phdr p;
		ssize_t got = file_read(m, &p, sizeof(p), e->e_phoff + i * sizeof(p));

		if (got != sizeof(p))
			return got < 0 ? (int)got : -EINVAL;
		if (p.p_type == PT_NOTE)
			err = read_notes(m, &p);
		else if (p.p_type == PT_LOAD)
			err = add_segment(m, p.p_vaddr, p.p_filesz, p.p_offset);
	}
	return err;
}

static int load(struct tacho_image *m)
{
	Elf64_Ehdr e;
	ssize_t n = file_read(m, &e, sizeof(e), 0);
	int err;

	if (n < 0)
		return (int)n;
	m->is_core = tacho_image_is_core(&e, (size_t)n);
	err = m->is_core ? read_segments(m, &e) : add_segment(m, 0, m->size, 0);
	if (m->nr_segments)
		qsort(m->segment, m->nr_segments, sizeof(*m->segment), segment_order);
	return err;
}

int tacho_image_open(struct tacho_image *m, const char *path, struct tacho_diag *d)
{
	struct stat st;
	int err = 0;

	*m = (struct tacho_image){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	tacho_arena_init(&m->arena, (size_t)256 << 20);
	if (m->fd < 0 || fstat(m->fd, &st)) {
		err = tacho_diag(d, -errno, 0, "cannot open '%s': %s", path, strerror(errno));
	} else {
		m->size = (uint64_t)st.st_size;
		err = load(m);
		if (err == -EINVAL)
			tacho_diag(d, err, 0, "'%s' is damaged: its table of segments is "
				   "not whole", path);
		else if (err)
			tacho_diag(d, err, 0, "cannot read '%s': %s", path, strerror(-err));
	}
	if (err)
		tacho_image_close(m);
	return err;
}

void tacho_image_close(struct tacho_image *m)
{
	if (m->fd >= 0)
		close(m->fd);
	free(m->segment);
	free(m->map);
	tacho_arena_release(&m->arena);
	*m = (struct tacho_image){ .fd = -1 };
}

/* The last segment that begins at addr or before; NULL: none does. */
static const struct tacho_image_segment *find_segment(const struct tacho_image *m, uint64_t addr)
{
	uint32_t from = 0, to = m->nr_segments;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (m->segment[mid].addr <= addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from ? &m->segment[from - 1] : NULL;
}

ssize_t tacho_image_read(const struct tacho_image *m, uint64_t addr, void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const struct tacho_image_segment *p = find_segment(m, addr + done);
		uint64_t in = p ? addr + done - p->addr : 0, room;
		ssize_t n;

		if (!p || in >= p->len)
			break;
		room = p->len - in < len - done ? p->len - in : len - done;
		n = file_read(m, (char *)to + done, (size_t)room, p->at + in);
		if (n < 0)
			return n;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Whether a range of the file is a hole, which cannot contain anything searched. */
static bool is_hole(const struct tacho_image *m, uint64_t at, size_t len)
{
	off_t data = lseek(m->fd, (off_t)at, SEEK_DATA);

	return data < 0 ? errno == ENXIO : (uint64_t)data - at >= len;
}

static int scan_segment(const struct tacho_image *m, const struct tacho_image_segment *p,
			unsigned char *window, size_t head,
			int (*fn)(uint64_t addr, const unsigned char *page, void *arg), void *arg)
{
	/* pages of memory, not of the file */
	uint64_t skip = (PAGE - p->addr % PAGE) % PAGE;
	int ret = 0;

	for (uint64_t at = skip; at < p->len && !ret; at += WINDOW) {
		size_t want = p->len - at < WINDOW ? (size_t)(p->len - at) : WINDOW;
		ssize_t n = is_hole(m, p->at + at, want) ? 0 :
			    file_read(m, window, want, p->at + at);

		if (n < 0)
			return (int)n;
		for (size_t k = 0; k + head <= (size_t)n && !ret; k += PAGE)
			ret = fn(p->addr + at + k, window + k, arg);
	}
	return ret;
}

int tacho_image_scan(const struct tacho_image *m, size_t head,
		     int (*fn)(uint64_t addr, const unsigned char *page, void *arg), void *arg)
{
	unsigned char *window;
	size_t size = 1;
	int ret;

	/* for a small dump, at most its largest segment */
	for (uint32_t i = 0; i < m->nr_segments; i++)
		if (m->segment[i].len > size)
			size = m->segment[i].len < WINDOW ? (size_t)m->segment[i].len : WINDOW;
	window = malloc(size);
	ret = window ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < m->nr_segments && !ret; i++)
		ret = scan_segment(m, &m->segment[i], window, head, fn, arg);
	free(window);
	return ret;
}
