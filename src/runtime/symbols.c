// SPDX-License-Identifier: MIT
/*
 * Finds a function in this process, for compiling filters on addresses.  A file may be large, so
 * its tables are read in slices: first the text of all names, to find the occurrences of the
 * name; then the symbols, to find one that refers to an occurrence.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/maps.h"
#include "sys/mapping.h"

#define PIECE		(UINT64_C(64) << 10)
#define PATH_SIZE	4096u
#define HEADERS_MAX	64u
#define PLACES_MAX	32u	/* occurrences of one name; "y" ends "by", too */
#define NAME_MAX_LEN	4096u

struct search {
	const char *name;	/* NULL: by address */
	size_t name_len;	/* with its NUL */
	uint64_t addr;
	uint64_t start, end;	/* found */
	bool found;
	unsigned char *slice;	/* and after it room for a path */

	/* the current file */
	int fd;
	uint64_t bias;
	Elf64_Shdr symbols, strings;
	uint32_t place[PLACES_MAX], nr_places;
};

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	ssize_t n;

	do
		n = pread(fd, to, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

/* Computes the load address of the file from the mapped segment. */
static bool find_bias(struct search *s, const Elf64_Ehdr *head,
		      const struct runtime_map *m)
{
	Elf64_Phdr ph;

	if (head->e_phentsize != sizeof(ph) || head->e_phnum > HEADERS_MAX)
		return false;
	for (uint32_t i = 0; i < head->e_phnum; i++) {
		if (!read_at(s->fd, head->e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return false;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    ph.p_offset + ph.p_filesz <= m->offset ||
		    ph.p_offset >= m->offset + (m->end - m->start))
			continue;
		s->bias = m->start - m->offset + ph.p_offset - ph.p_vaddr;
		return true;
	}
	return false;
}

/* The full table has all that the dynamic one has. */
static bool find_tables(struct search *s, const Elf64_Ehdr *head)
{
	uint32_t n = head->e_shnum;
	bool found = false;
	Elf64_Shdr sh;

	if (head->e_shentsize != sizeof(sh))
		return false;
	for (uint32_t i = 1; i < n; i++) {
		if (!read_at(s->fd, head->e_shoff + i * sizeof(sh), &sh, sizeof(sh)))
			return false;
		if ((sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) ||
		    sh.sh_entsize != sizeof(Elf64_Sym) || sh.sh_link >= n)
			continue;
		s->symbols = sh;
		found = true;
		if (sh.sh_type == SHT_SYMTAB)
			break;
	}
	return found && read_at(s->fd, head->e_shoff + s->symbols.sh_link * sizeof(sh),
				&s->strings, sizeof(sh)) &&
	       s->strings.sh_type == SHT_STRTAB;
}

/* Finds the name in one slice of the names. */
static void find_in_slice(struct search *s, size_t len, uint64_t base)
{
	const unsigned char *p = s->slice, *end = p + len;

	while (s->nr_places < PLACES_MAX &&
	       (p = memmem(p, (size_t)(end - p), s->name, s->name_len))) {
		s->place[s->nr_places++] = (uint32_t)(base + (uint64_t)(p - s->slice));
		p++;
	}
}

static bool find_places(struct search *s)
{
	uint64_t at = 0, size = s->strings.sh_size;

	s->nr_places = 0;
	/* slices overlap, so that each place is whole in one of them */
	while (at < size && size <= UINT32_MAX) {
		uint64_t n = size - at < PIECE ? size - at : PIECE;

		if (!read_at(s->fd, s->strings.sh_offset + at, s->slice, n))
			return false;
		find_in_slice(s, n, at);
		if (n < PIECE)
			break;
		at += PIECE - (s->name_len - 1);
	}
	return s->nr_places;
}

static bool is_place(const struct search *s, uint32_t name)
{
	for (uint32_t i = 0; i < s->nr_places; i++)
		if (s->place[i] == name)
			return true;
	return false;
}

static bool is_wanted(const struct search *s, const Elf64_Sym *sym)
{
	uint32_t type = ELF64_ST_TYPE(sym->st_info);
	uint64_t start = sym->st_value + s->bias;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return false;
	if (s->name)
		return is_place(s, sym->st_name);
	return s->addr >= start && s->addr - start < sym->st_size;
}

static void find_symbol(struct search *s)
{
	uint64_t at = 0, size = s->symbols.sh_size;
	const uint64_t most = PIECE / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);

	while (!s->found && size - at >= sizeof(Elf64_Sym)) {
		uint64_t n = size - at < most ? size - at : most;

		n -= n % sizeof(Elf64_Sym);
		if (!read_at(s->fd, s->symbols.sh_offset + at, s->slice, n))
			return;
		for (uint64_t i = 0; !s->found && i < n; i += sizeof(Elf64_Sym)) {
			Elf64_Sym sym;

			memcpy(&sym, s->slice + i, sizeof(sym));
			if (!is_wanted(s, &sym))
				continue;
			s->start = sym.st_value + s->bias;
			s->end = s->start + sym.st_size;
			s->found = true;
		}
		at += n;
	}
}

static void search_file(struct search *s, const struct runtime_map *m)
{
	Elf64_Ehdr head;

	if (!read_at(s->fd, 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	if (find_bias(s, &head, m) && find_tables(s, &head) &&
	    (!s->name || find_places(s)))
		find_symbol(s);
}

/* Searches only the mapped file, not one that has replaced it. */
static bool search_map(const struct runtime_map *m, void *arg)
{
	struct search *s = arg;
	char *path = (char *)s->slice + PIECE;
	struct stat st;

	if (!m->code || m->deleted || m->path_len >= PATH_SIZE ||
	    (!s->name && (s->addr < m->start || s->addr >= m->end)))
		return true;
	memcpy(path, m->path, m->path_len);
	path[m->path_len] = '\0';
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0)
		return true;
	if (!fstat(s->fd, &st) && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_ino == m->inode)
		search_file(s, m);
	close(s->fd);
	return !s->found;
}

static bool search(struct search *s, uint64_t *start, uint64_t *end)
{
	int saved = errno;

	s->slice = tacho_shm_private(PIECE + PATH_SIZE);
	if (s->slice) {
		(void)tacho_maps_each(search_map, s);
		tacho_shm_unmap(s->slice, PIECE + PATH_SIZE);
	}
	errno = saved;
	*start = s->start;
	*end = s->end;
	return s->found;
}

bool tacho_function_find(const char *name, uint64_t *start, uint64_t *end)
{
	struct search s = { .name = name, .name_len = strlen(name) + 1 };

	return s.name_len > 1 && s.name_len <= NAME_MAX_LEN &&
	       search(&s, start, end);
}

bool tacho_function_at(uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct search s = { .addr = addr };

	return search(&s, start, end);
}
