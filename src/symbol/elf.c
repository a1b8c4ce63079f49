// SPDX-License-Identifier: MIT
/* elf.c - the headers of an ELF file, of both sizes and byte orders. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "symbol/priv.h"

static struct tacho_cur at(const struct elf_image *im, uint64_t offset,
			   uint64_t size)
{
	struct tacho_cur c;

	if (offset > im->len || size > im->len - offset)
		tacho_cur_init(&c, im->data, 0);
	else
		tacho_cur_init(&c, im->data + offset, (size_t)size);
	c.swap = im->swap;
	return c;
}

/* An address, offset or size of the file's class. */
static uint64_t word(const struct elf_image *im, struct tacho_cur *c)
{
	return im->is64 ? tacho_cur_u64(c) : tacho_cur_u32(c);
}

static int parse_head(struct elf_image *im, struct tacho_diag *d)
{
	struct tacho_cur c = at(im, 16, im->is64 ? 48 : 36);
	struct elf_section first;

	im->type = tacho_cur_u16(&c);
	im->machine = tacho_cur_u16(&c);
	(void)tacho_cur_u32(&c);	/* version */
	(void)word(im, &c);		/* entry */
	im->phoff = word(im, &c);
	im->shoff = word(im, &c);
	(void)tacho_cur_u32(&c);	/* flags */
	(void)tacho_cur_u16(&c);	/* size of this header */
	im->phentsize = tacho_cur_u16(&c);
	im->phnum = tacho_cur_u16(&c);
	im->shentsize = tacho_cur_u16(&c);
	im->shnum = tacho_cur_u16(&c);
	im->shstrndx = tacho_cur_u16(&c);
	if (c.why)
		return tacho_diag(d, -ENOEXEC, c.at, "the ELF header is cut off");
	if (!im->shoff || im->shentsize < (im->is64 ? 64 : 40)) {
		im->shnum = 0;
	} else if (!im->shnum || im->shstrndx == SHN_XINDEX ||
		   im->phnum == PN_XNUM) {
		/* numbers that do not fit are in the first section's header */
		uint32_t nr = im->shnum;

		im->shnum = 1;
		if (!symbol_section(im, 0, &first))
			first = (struct elf_section){ .name = "" };
		im->shnum = nr ? nr : (uint32_t)first.size;
		if (im->shstrndx == SHN_XINDEX)
			im->shstrndx = first.link;
		if (im->phnum == PN_XNUM)
			im->phnum = first.info;
	}
	if (im->phentsize < (im->is64 ? 56 : 32))
		im->phnum = 0;
	/* no loop is longer than the file can fill */
	if (im->shnum > im->len / 40)
		im->shnum = (uint32_t)(im->len / 40);
	if (im->phnum > im->len / 32)
		im->phnum = (uint32_t)(im->len / 32);
	return 0;
}

int symbol_image_parse(struct elf_image *im, const void *data, size_t len,
		       struct tacho_diag *d)
{
	const unsigned char *p = data;

	*im = (struct elf_image){ .data = p, .len = len };
	if (len < EI_NIDENT || memcmp(p, ELFMAG, SELFMAG) != 0)
		return tacho_diag(d, -ENOEXEC, 0, "not an ELF file");
	if ((p[EI_CLASS] != ELFCLASS32 && p[EI_CLASS] != ELFCLASS64) ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
		return tacho_diag(d, -ENOEXEC, EI_CLASS,
				  "neither 32 nor 64 bits, or no byte order");
	im->is64 = p[EI_CLASS] == ELFCLASS64;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	im->swap = p[EI_DATA] == ELFDATA2MSB;
#else
	im->swap = p[EI_DATA] == ELFDATA2LSB;
#endif
	return parse_head(im, d);
}

int symbol_image_open(struct elf_image *im, const char *path,
		      struct tacho_diag *d)
{
	struct stat st;
	void *p;
	int fd, ret;

	*im = (struct elf_image){ .data = NULL };
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", path,
				  strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return tacho_diag(d, -ENOEXEC, 0,
				  "'%s' is not a program or library", path);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ret = -errno;
	close(fd);
	if (p == MAP_FAILED)
		return tacho_diag(d, ret, 0, "cannot map '%s': %s", path,
				  strerror(-ret));
	ret = symbol_image_parse(im, p, (size_t)st.st_size, NULL);
	if (ret < 0) {
		(void)munmap(p, (size_t)st.st_size);
		im->data = NULL;
		return tacho_diag(d, ret, 0,
				  "'%s' is not an ELF program or library", path);
	}
	im->mapped = true;
	return 0;
}

void symbol_image_close(struct elf_image *im)
{
	if (im->mapped) {
		union {
			const unsigned char *c;
			void *v;
		} p = { .c = im->data };

		(void)munmap(p.v, im->len);
	}
	*im = (struct elf_image){ .data = NULL };
}

/* A name in a string section, or "". */
static const char *name_at(const struct elf_image *im, uint64_t from,
			   uint64_t size, uint32_t index)
{
	struct tacho_cur c = at(im, from, size);
	size_t left, len;

	if (index >= c.len)
		return "";
	left = c.len - index;
	if (left > SYMBOL_NAME_MAX)
		left = SYMBOL_NAME_MAX;
	len = strnlen((const char *)c.base + index, left);
	return len < left ? (const char *)c.base + index : "";
}

static bool raw_section(const struct elf_image *im, uint32_t i,
			struct elf_section *s, uint32_t *name)
{
	struct tacho_cur c;

	if (i >= im->shnum || (uint64_t)i * im->shentsize > im->len)
		return false;
	if (im->shoff > im->len)
		return false;
	c = at(im, im->shoff + (uint64_t)i * im->shentsize, im->is64 ? 64 : 40);
	*name = tacho_cur_u32(&c);
	s->type = tacho_cur_u32(&c);
	s->flags = word(im, &c);
	s->address = word(im, &c);
	s->offset = word(im, &c);
	s->size = word(im, &c);
	s->link = tacho_cur_u32(&c);
	s->info = tacho_cur_u32(&c);
	(void)word(im, &c);		/* alignment */
	s->entsize = word(im, &c);
	return !c.why;
}

bool symbol_section(const struct elf_image *im, uint32_t i,
		    struct elf_section *s)
{
	struct elf_section str;
	uint32_t name, other;

	if (!raw_section(im, i, s, &name))
		return false;
	s->name = "";
	if (im->shstrndx && raw_section(im, im->shstrndx, &str, &other) &&
	    str.type == SHT_STRTAB)
		s->name = name_at(im, str.offset, str.size, name);
	return true;
}

bool symbol_section_named(const struct elf_image *im, const char *name,
			  struct elf_section *s)
{
	for (uint32_t i = 1; symbol_section(im, i, s); i++)
		if (!strcmp(s->name, name))
			return true;
	return false;
}

const unsigned char *symbol_section_data(const struct elf_image *im,
					 const struct elf_section *s,
					 size_t *len)
{
	struct tacho_cur c;

	*len = 0;
	if (s->type == SHT_NOBITS || s->type == SHT_NULL ||
	    (s->flags & SHF_COMPRESSED))
		return NULL;
	c = at(im, s->offset, s->size);
	*len = c.len;
	return c.len ? c.base : NULL;
}

bool symbol_segment(const struct elf_image *im, uint32_t i,
		    struct elf_segment *s)
{
	struct tacho_cur c;

	if (i >= im->phnum || im->phoff > im->len)
		return false;
	c = at(im, im->phoff + (uint64_t)i * im->phentsize, im->is64 ? 56 : 32);
	s->type = tacho_cur_u32(&c);
	if (im->is64)
		s->flags = tacho_cur_u32(&c);
	s->offset = word(im, &c);
	s->address = word(im, &c);
	(void)word(im, &c);		/* physical address */
	s->filesz = word(im, &c);
	(void)word(im, &c);		/* size in memory */
	if (!im->is64)
		s->flags = tacho_cur_u32(&c);
	return !c.why;
}

void symbol_notes(const struct elf_image *im, const unsigned char *data,
		  size_t len, symbol_note_fn fn, void *arg)
{
	struct tacho_cur c;

	tacho_cur_init(&c, data, len);
	c.swap = im->swap;
	while (tacho_cur_left(&c) >= 12) {
		uint32_t name_len = tacho_cur_u32(&c);
		uint32_t desc_len = tacho_cur_u32(&c);
		uint32_t type = tacho_cur_u32(&c);
		const char *name = tacho_cur_bytes(&c, name_len);
		const unsigned char *desc;

		(void)tacho_cur_bytes(&c, -(size_t)name_len & 3);
		desc = tacho_cur_bytes(&c, desc_len);
		if (c.why || !fn(name, name_len, type, desc, desc_len, arg))
			return;
		/* the last one need not be filled up */
		if (tacho_cur_left(&c) < (-(size_t)desc_len & 3))
			return;
		(void)tacho_cur_bytes(&c, -(size_t)desc_len & 3);
	}
}
