// SPDX-License-Identifier: MIT
/* object.c - opening and closing one file; addresses and file offsets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/priv.h"

#define ARENA_MAX	((size_t)1 << 30)
#define SEGMENTS_MAX	256u		/* each address is looked up in all of them */

static int load_segments(struct tacho_object *o)
{
	struct elf_segment s;

	o->segment = tacho_arena_array(&o->arena, SEGMENTS_MAX,
				       sizeof(*o->segment));
	if (!o->segment)
		return -ENOMEM;
	for (uint32_t i = 0; o->nr_segments < SEGMENTS_MAX &&
	     symbol_segment(&o->image, i, &s); i++) {
		if (s.type != PT_LOAD || !s.filesz ||
		    s.offset > o->image.len ||
		    s.filesz > o->image.len - s.offset ||
		    s.address > UINT64_MAX - s.filesz)
			continue;
		o->segment[o->nr_segments++] = s;
	}
	return 0;
}

static int load(struct tacho_object *o, const char *root, struct tacho_diag *d)
{
	const char *name = o->path[0] ? o->path : "the file";
	int ret;

	if (o->image.type != ET_EXEC && o->image.type != ET_DYN)
		return tacho_diag(d, -ENOEXEC, 0,
			"'%s' is neither a program nor a shared library", name);
	ret = load_segments(o);
	if (!ret)
		symbol_debug_find(o, root);
	ret = ret ? ret : symbol_functions_load(o);
	ret = ret ? ret : symbol_sdt_load(o);
	return ret ? tacho_diag(d, ret, 0, "no memory for the symbols of '%s'",
				name) : 0;
}

static struct tacho_object *new_object(const char *path)
{
	struct tacho_object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	tacho_arena_init(&o->arena, ARENA_MAX);
	o->path = tacho_arena_strndup(&o->arena, path, strlen(path));
	if (!o->path) {
		tacho_object_close(o);
		return NULL;
	}
	return o;
}

int tacho_object_open(struct tacho_object **to, const char *path,
		      const char *debug_root, struct tacho_diag *d)
{
	struct tacho_object *o = new_object(path);
	int ret;

	*to = NULL;
	if (!o)
		return tacho_diag(d, -ENOMEM, 0, "no memory");
	ret = symbol_image_open(&o->image, path, d);
	if (!ret)
		ret = load(o, debug_root, d);
	if (ret)
		tacho_object_close(o);
	else
		*to = o;
	return ret;
}

int tacho_object_parse(struct tacho_object **to, const void *data, size_t len,
		       struct tacho_diag *d)
{
	struct tacho_object *o = new_object("");
	int ret;

	*to = NULL;
	if (!o)
		return tacho_diag(d, -ENOMEM, 0, "no memory");
	ret = symbol_image_parse(&o->image, data, len, d);
	if (!ret)
		ret = load(o, NULL, d);
	if (ret)
		tacho_object_close(o);
	else
		*to = o;
	return ret;
}

void tacho_object_close(struct tacho_object *o)
{
	if (!o)
		return;
	symbol_dwarf_close(o->dwarf);
	free(o->function);
	free(o->shown);
	symbol_image_close(&o->debug);
	symbol_image_close(&o->image);
	tacho_arena_release(&o->arena);
	free(o);
}

const char *tacho_object_path(const struct tacho_object *o)
{
	return o->path;
}

const char *tacho_object_debug_path(const struct tacho_object *o)
{
	return o->debug_path;
}

const unsigned char *tacho_object_build_id(const struct tacho_object *o,
					   size_t *len)
{
	*len = o->build_id_len;
	return o->build_id;
}

static int to_offset(const struct tacho_object *o, uint64_t address,
		     uint32_t flags, uint64_t *offset)
{
	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct elf_segment *s = &o->segment[i];

		if ((s->flags & flags) != flags || address < s->address ||
		    address - s->address >= s->filesz)
			continue;
		*offset = s->offset + (address - s->address);
		return 0;
	}
	return -ERANGE;
}

int tacho_object_offset(const struct tacho_object *o, uint64_t address,
			uint64_t *offset)
{
	return to_offset(o, address, PF_X, offset);
}

int symbol_any_offset(const struct tacho_object *o, uint64_t address,
		      uint64_t *offset)
{
	return to_offset(o, address, 0, offset);
}

int tacho_object_address(const struct tacho_object *o, uint64_t offset,
			 uint64_t *address)
{
	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct elf_segment *s = &o->segment[i];

		if (!(s->flags & PF_X) || offset < s->offset ||
		    offset - s->offset >= s->filesz)
			continue;
		*address = s->address + (offset - s->offset);
		return 0;
	}
	return -ERANGE;
}

void symbol_pointed_string(struct tacho_fetch *f)
{
	size_t len = strlen(f->text);

	f->string[0] = '\0';
	if (len + 5 > sizeof(f->string))
		return;
	memcpy(f->string, "+0(", 3);
	memcpy(f->string + 3, f->text, len);
	memcpy(f->string + 3 + len, ")", 2);
}
