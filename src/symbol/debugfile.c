// SPDX-License-Identifier: MIT
/* debugfile.c - finds the separate debug file of a stripped file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbol/priv.h"

static const char standard_root[] = "/usr/lib/debug";

/* ---- the checksum of .gnu_debuglink: CRC-32 as in Ethernet ---- */

static uint32_t checksum(const unsigned char *p, size_t len)
{
	uint32_t table[256], crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = (v >> 1) ^ (v & 1 ? 0xedb88320u : 0);
		table[i] = v;
	}
	for (size_t i = 0; i < len; i++)
		crc = (crc >> 8) ^ table[(crc ^ p[i]) & 255];
	return ~crc;
}

/* ---- build ids ---- */

struct id {
	const unsigned char *bytes;
	size_t len;
};

static bool take_id(const char *name, size_t name_len, uint32_t type,
		    const unsigned char *desc, size_t len, void *arg)
{
	struct id *id = arg;

	if (name_len != 4 || memcmp(name, "GNU", 4) != 0 ||
	    type != NT_GNU_BUILD_ID || len < 2 || len > 64)
		return true;
	id->bytes = desc;
	id->len = len;
	return false;
}

static struct id find_id(const struct elf_image *im)
{
	struct elf_section s;
	struct id id = { NULL, 0 };
	const unsigned char *data;
	size_t len;

	for (uint32_t i = 1; !id.bytes && symbol_section(im, i, &s); i++) {
		if (s.type != SHT_NOTE)
			continue;
		data = symbol_section_data(im, &s, &len);
		if (data)
			symbol_notes(im, data, len, take_id, &id);
	}
	return id;
}

/* ---- candidates ---- */

struct search {
	struct tacho_object *o;
	struct id id;
	bool by_link;
	uint32_t crc;
};

/* Uses the file if it is the right one. */
static bool try_file(const struct search *s, const char *path)
{
	struct elf_image im;
	struct id id;
	bool right;

	if (symbol_image_open(&im, path, NULL))
		return false;
	id = find_id(&im);
	right = im.machine == s->o->image.machine &&
		im.is64 == s->o->image.is64;
	if (right && s->by_link)
		right = checksum(im.data, im.len) == s->crc;
	else if (right)
		right = id.len == s->id.len &&
			!memcmp(id.bytes, s->id.bytes, id.len);
	if (right)
		s->o->debug_path = tacho_arena_strndup(&s->o->arena, path,
						       strlen(path));
	if (!right || !s->o->debug_path) {
		symbol_image_close(&im);
		return false;
	}
	s->o->debug = im;
	return true;
}

static bool try_id(const struct search *s, const char *root)
{
	struct tacho_buf b;
	bool found;

	if (!s->id.bytes)
		return false;
	tacho_buf_init(&b, 8192);
	tacho_buf_printf(&b, "%s/.build-id/%02x/", root, s->id.bytes[0]);
	for (size_t i = 1; i < s->id.len; i++)
		tacho_buf_printf(&b, "%02x", s->id.bytes[i]);
	tacho_buf_puts(&b, ".debug");
	found = try_file(s, tacho_buf_str(&b));
	tacho_buf_release(&b);
	return found;
}

/* name: of .gnu_debuglink; dir: of the file itself. */
static bool try_link(const struct search *s, const char *root, const char *dir,
		     const char *name)
{
	static const char *const forms[] = { "", ".debug/" };
	struct tacho_buf b;
	bool found = false;

	tacho_buf_init(&b, 16384);
	for (size_t i = 0; !found && i < TACHO_ARRAY_SIZE(forms); i++) {
		tacho_buf_reset(&b);
		tacho_buf_printf(&b, "%s/%s%s", dir, forms[i], name);
		found = try_file(s, tacho_buf_str(&b));
	}
	if (!found) {
		tacho_buf_reset(&b);
		tacho_buf_printf(&b, "%s%s/%s", root, dir, name);
		found = try_file(s, tacho_buf_str(&b));
	}
	tacho_buf_release(&b);
	return found;
}

/* The name and checksum of .gnu_debuglink. */
static const char *read_link(const struct elf_image *im, uint32_t *crc)
{
	struct elf_section s;
	const unsigned char *data;
	struct tacho_cur c;
	const char *name;
	size_t len;

	if (!symbol_section_named(im, ".gnu_debuglink", &s))
		return NULL;
	data = symbol_section_data(im, &s, &len);
	if (!data)
		return NULL;
	tacho_cur_init(&c, data, len);
	c.swap = im->swap;
	name = tacho_cur_str(&c);
	(void)tacho_cur_bytes(&c, -c.pos & 3);
	*crc = tacho_cur_u32(&c);
	/* a name, not an arbitrary path */
	return c.why || !*name || strchr(name, '/') ? NULL : name;
}

void symbol_debug_find(struct tacho_object *o, const char *root)
{
	struct search s = { .o = o, .id = find_id(&o->image) };
	struct elf_section section;
	const char *link;
	char *real, *slash;

	o->build_id = s.id.bytes;
	o->build_id_len = s.id.len;
	if (!o->path[0])
		return;
	/* nothing is missing */
	if (symbol_section_named(&o->image, ".debug_info", &section) &&
	    symbol_section_named(&o->image, ".symtab", &section))
		return;
	if (!root)
		root = standard_root;
	if (try_id(&s, root))
		return;
	link = read_link(&o->image, &s.crc);
	real = link ? realpath(o->path, NULL) : NULL;
	if (!real)
		return;
	slash = strrchr(real, '/');
	*slash = '\0';
	s.by_link = true;
	(void)try_link(&s, root, real, link);
	free(real);
}
