// SPDX-License-Identifier: MIT
/* function.c - the functions of an object, from all of its symbol tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbol/priv.h"

struct loading {
	struct tacho_object *o;
	struct tacho_function *list;
	size_t nr, room;
};

static int add(struct loading *l, const struct tacho_function *f)
{
	struct tacho_function *p = l->list;

	if (l->nr == l->room) {
		l->room = l->room ? 2 * l->room : 256;
		p = reallocarray(l->list, l->room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		l->list = p;
	}
	p[l->nr++] = *f;
	return 0;
}

/* The better names first: global before weak before local, plain before __. */
static uint8_t rank_of(unsigned int bind, const char *name)
{
	unsigned int rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
	size_t dashes = strspn(name, "_");

	rank = rank * 4 + (dashes > 3 ? 3 : (unsigned int)dashes);
	/* a part that was split off another function */
	if (strchr(name, '.'))
		rank += 16;
	return (uint8_t)rank;
}

struct symbol {
	uint32_t name;
	unsigned char info;
	uint16_t section;
	uint64_t value, size;
};

static void read_symbol(const struct elf_image *im, struct tacho_cur *c,
			struct symbol *s)
{
	s->name = tacho_cur_u32(c);
	if (im->is64) {
		s->info = tacho_cur_u8(c);
		(void)tacho_cur_u8(c);
		s->section = tacho_cur_u16(c);
		s->value = tacho_cur_u64(c);
		s->size = tacho_cur_u64(c);
	} else {
		s->value = tacho_cur_u32(c);
		s->size = tacho_cur_u32(c);
		s->info = tacho_cur_u8(c);
		(void)tacho_cur_u8(c);
		s->section = tacho_cur_u16(c);
	}
}

static int take(const struct symbol *s, const char *name, void *arg)
{
	struct loading *l = arg;
	unsigned int type = s->info & 15u;
	struct tacho_function f = {
		.name = name, .address = s->value, .size = s->size,
		.rank = rank_of(s->info >> 4, name),
		.resolver = type == STT_GNU_IFUNC,
	};

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    s->section == SHN_UNDEF)
		return 0;
	/* Thumb code is marked by an odd address */
	if (l->o->image.machine == EM_ARM)
		f.address &= ~UINT64_C(1);
	if (tacho_object_offset(l->o, f.address, &f.offset))
		return 0;
	return add(l, &f);
}

/* Calls fn for each symbol with a name, until it returns other than 0. */
typedef int (*symbol_fn)(const struct symbol *s, const char *name, void *arg);

static int each_symbol(const struct elf_image *im,
		       const struct elf_section *table, symbol_fn fn, void *arg)
{
	const size_t entry = im->is64 ? 24 : 16;
	struct elf_section strings;
	const unsigned char *data, *text;
	size_t len, text_len, left, n;
	struct tacho_cur c;
	int ret = 0;

	data = symbol_section_data(im, table, &len);
	if (!data || !symbol_section(im, table->link, &strings))
		return 0;
	text = symbol_section_data(im, &strings, &text_len);
	if (!text)
		return 0;
	tacho_cur_init(&c, data, len);
	c.swap = im->swap;
	while (!ret && tacho_cur_left(&c) >= entry) {
		struct symbol s;

		read_symbol(im, &c, &s);
		if (s.name >= text_len)
			continue;
		left = text_len - s.name;
		if (left > SYMBOL_NAME_MAX)
			left = SYMBOL_NAME_MAX;
		n = strnlen((const char *)text + s.name, left);
		if (n && n < left)
			ret = fn(&s, (const char *)text + s.name, arg);
	}
	return ret;
}

/* The full table has all that the dynamic one has. */
static int each_in_image(const struct elf_image *im, symbol_fn fn, void *arg)
{
	struct elf_section s;

	for (uint32_t i = 1; symbol_section(im, i, &s); i++)
		if (s.type == SHT_SYMTAB)
			return each_symbol(im, &s, fn, arg);
	for (uint32_t i = 1; symbol_section(im, i, &s); i++)
		if (s.type == SHT_DYNSYM)
			return each_symbol(im, &s, fn, arg);
	return 0;
}

static int each_in_object(const struct tacho_object *o, symbol_fn fn, void *arg)
{
	int ret = each_in_image(&o->image, fn, arg);

	return ret || !o->debug.data ? ret : each_in_image(&o->debug, fn, arg);
}

struct variable {
	const char *name;
	uint64_t address;
};

static int is_variable(const struct symbol *s, const char *name, void *arg)
{
	struct variable *v = arg;

	if ((s->info & 15u) != STT_OBJECT || s->section == SHN_UNDEF ||
	    strcmp(name, v->name) != 0)
		return 0;
	v->address = s->value;
	return 1;
}

int symbol_variable(const struct tacho_object *o, const char *name,
		    uint64_t *address)
{
	struct variable v = { .name = name };

	if (!each_in_object(o, is_variable, &v))
		return -ENOENT;
	*address = v.address;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct tacho_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

int symbol_functions_load(struct tacho_object *o)
{
	struct loading l = { .o = o };
	size_t to = 0;
	int ret = each_in_object(o, take, &l);

	if (ret) {
		free(l.list);
		return ret;
	}
	if (l.nr)
		qsort(l.list, l.nr, sizeof(*l.list), by_address);
	for (size_t i = 0; i < l.nr; i++) {
		struct tacho_function *last = to ? &l.list[to - 1] : NULL;

		if (last && last->address == l.list[i].address &&
		    !strcmp(last->name, l.list[i].name)) {
			if (!last->size)
				last->size = l.list[i].size;
			continue;
		}
		l.list[to++] = l.list[i];
	}
	o->function = l.list;
	o->nr_functions = to;
	return 0;
}

const struct tacho_function *tacho_object_functions(const struct tacho_object *o,
						    size_t *nr)
{
	*nr = o->nr_functions;
	return o->function;
}

const struct tacho_function *tacho_object_find(const struct tacho_object *o,
					       const char *name,
					       const struct tacho_function *prev)
{
	size_t i = prev ? (size_t)(prev - o->function) + 1 : 0;

	for (; i < o->nr_functions; i++)
		if (!strcmp(o->function[i].name, name))
			return &o->function[i];
	return NULL;
}

const struct tacho_function *tacho_object_at(const struct tacho_object *o,
					     uint64_t address)
{
	size_t low = 0, high = o->nr_functions;
	uint64_t begin;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->function[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	/* the best of those that begin there */
	begin = o->function[--low].address;
	while (low && o->function[low - 1].address == begin)
		low--;
	if (o->function[low].size && address - begin >= o->function[low].size)
		return NULL;
	return &o->function[low];
}
