// SPDX-License-Identifier: MIT
#include "fmt/ctf/tsdl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/ctf/layout.h"

/*
 * The record's size shares the first word with the time.  On a little-endian
 * machine the alignment of `id` passes over it; a field of that name would
 * make babeltrace2 warn on every run.  A __data_loc word is one integer too:
 * its high half comes first on a big-endian machine.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ORDER_NAME	"le"
#define SIZE_FIELD	""
#define LOC_ORDER	{ 0, 1, 2 }
#else
#define ORDER_NAME	"be"
#define SIZE_FIELD	"\t\tu16 size;\n"
#define LOC_ORDER	{ 2, 1, 0 }
#endif

/* ---- the head ------------------------------------------------------------ */

static void put_escaped(struct tacho_buf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			tacho_buf_putc(out, '\\');
			tacho_buf_putc(out, *s);
		} else if (c == '\n') {
			tacho_buf_puts(out, "\\n");
		} else if (c >= 32 && c < 127) {
			tacho_buf_putc(out, *s);
		} else {
			tacho_buf_printf(out, "\\%03o", c);
		}
	}
}

static void put_string(struct tacho_buf *out, const char *s)
{
	tacho_buf_putc(out, '"');
	put_escaped(out, s);
	tacho_buf_putc(out, '"');
}

void tacho_tsdl_env(struct tacho_buf *out, const char *name, const char *value)
{
	tacho_buf_printf(out, "\t%s = ", name);
	put_string(out, value);
	tacho_buf_puts(out, ";\n");
}

static void put_uuid(struct tacho_buf *out, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			tacho_buf_putc(out, '-');
		tacho_buf_put_hex(out, uuid[i], 2);
	}
}

static void put_aliases(struct tacho_buf *out)
{
	for (unsigned int size = 8; size <= 64; size *= 2)
		tacho_buf_printf(out,
			"typealias integer { size = %u; align = 8; signed = false; } := u%u;\n"
			"typealias integer { size = %u; align = 8; signed = true; } := s%u;\n"
			"typealias integer { size = %u; align = 8; signed = false; base = 16; } := x%u;\n",
			size, size, size, size, size, size);
	tacho_buf_puts(out,
		"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = native; } := f32;\n"
		"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = native; } := f64;\n"
		"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := c8;\n"
		"typealias string { encoding = UTF8; } := text;\n");
}

static void put_clock(struct tacho_buf *out, const struct tacho_ctf_clock *c)
{
	struct tacho_clock_map map;
	int64_t base, s;
	uint64_t rest;
	__extension__ typedef unsigned __int128 u128;

	tacho_clock_map_init(&map, c->freq, c->ticks, c->realtime);
	base = (int64_t)map.base;
	s = base / (int64_t)TACHO_NS_PER_S;
	if (base % (int64_t)TACHO_NS_PER_S < 0)
		s--;
	rest = (uint64_t)(base - s * (int64_t)TACHO_NS_PER_S);
	/* up, so that a reader's way back to ns, which rounds down, is exact */
	rest = (uint64_t)((((u128)rest * map.freq) + (TACHO_NS_PER_S - 1)) /
			  TACHO_NS_PER_S);
	if (rest == map.freq) {
		rest = 0;
		s++;
	}
	tacho_buf_puts(out, "\nclock {\n\tname = \"tacho\";\n\tdescription = ");
	put_string(out, c->kind);
	tacho_buf_printf(out, ";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64
			 ";\n\toffset = %" PRIu64 ";\n\tabsolute = true;\n};\n",
			 map.freq, s, rest);
	tacho_buf_puts(out,
		"typealias integer { size = 64; align = 8; signed = false; map = clock.tacho.value; } := tick64;\n"
		"typealias integer { size = 48; align = 8; signed = false; map = clock.tacho.value; } := tick48;\n"
		"typealias integer { size = 16; align = 64; signed = false; } := type16;\n");
}

static void put_stream(struct tacho_buf *out, uint32_t id)
{
	tacho_buf_printf(out, "\nstream {	/* %s */\n\tid = %u;\n",
			 tacho_ctf_stream_name(id), id);
	tacho_buf_puts(out,
		"\tpacket.context := struct {\n"
		"\t\ttick64 timestamp_begin;\n"
		"\t\ttick64 timestamp_end;\n"
		"\t\tu64 content_size;\n"
		"\t\tu64 packet_size;\n"
		"\t\tu64 packet_seq_num;\n"
		"\t\tu64 events_discarded;\n"
		"\t\tu32 cpu_id;\n"
		"\t\tu32 events;\n"
		"\t\tu64 event_first;\n"
		"\t};\n"
		"\tevent.header := struct {\n"
		SIZE_FIELD
		"\t\ttick48 timestamp;\n"
		"\t\ttype16 id;\n"
		"\t} align(64);\n"
		"\tevent.context := struct {\n"
		"\t\tu8 common_flags;\n"
		"\t\tu8 common_preempt_count;\n"
		"\t\ts32 common_pid;\n"
		"\t};\n"
		"};\n");
}

void tacho_tsdl_head(struct tacho_buf *out, const uint8_t uuid[16],
		     const struct tacho_ctf_clock *clock, const char *env)
{
	tacho_buf_puts(out, "/* CTF 1.8 */\n\n");
	put_aliases(out);
	tacho_buf_puts(out, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(out, uuid);
	tacho_buf_printf(out, "\";\n\tbyte_order = " ORDER_NAME ";\n"
			 "\tpacket.header := struct {\n"
			 "\t\tx32 magic;\n"
			 "\t\tu8 uuid[16];\n"
			 "\t\tu32 stream_id;\n"
			 "\t\tu64 stream_instance_id;\n"
			 "\t};\n};\n\nenv {\n%s};\n", env);
	put_clock(out, clock);
	put_stream(out, TACHO_STREAM_PROGRAM);
	put_stream(out, TACHO_STREAM_KERNEL);
}

/* ---- events -------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct tacho_field *x = *(const struct tacho_field *const *)a;
	const struct tacho_field *y = *(const struct tacho_field *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

uint32_t tacho_tsdl_order(const struct tacho_type *type,
			  const struct tacho_field **order)
{
	uint32_t n = 0, kept = 0, at = sizeof(struct tacho_common);

	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (type->fields[i].offset >= at)
			order[n++] = &type->fields[i];
	if (n)
		qsort(order, n, sizeof(*order), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		if (order[i]->offset < at)
			continue;
		at = order[i]->offset + order[i]->size;
		order[kept++] = order[i];
	}
	return kept;
}

static bool is_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

unsigned int tacho_tsdl_elem_shift(const struct tacho_field *f)
{
	if (tacho_tsdl_is_text(f) || !is_int_size(f->elem_size))
		return 0;
	return (unsigned int)__builtin_ctz(f->elem_size);
}

/* The alias of an element of the field; size must be a number's. */
static void put_alias(struct tacho_buf *out, const struct tacho_field *f,
		      uint32_t size)
{
	char kind = 'u';

	if (f->flags & TACHO_FIELD_FLOAT && size == f->elem_size)
		kind = 'f';
	else if (f->flags & TACHO_FIELD_POINTER)
		kind = 'x';
	else if (f->flags & TACHO_FIELD_SIGNED)
		kind = 's';
	tacho_buf_printf(out, "%c%u ", kind, size * 8);
}

/*
 * babeltrace2 takes one '_' off a name but compares the next names as they are
 * written: a name must differ from the others with and without it.  `name` is
 * without the '_' that put_name() writes.
 */
static bool is_taken(const struct tacho_type *type, const char *name,
		     const struct tacho_field *by)
{
	const struct tacho_field *f = tacho_type_field(type, name);
	char more[192];

	if (f && f != by)
		return true;
	if (*name == '_' && tacho_type_field(type, name + 1))
		return true;
	(void)snprintf(more, sizeof(more), "_%.180s", name);
	return !by && tacho_type_field(type, more);
}

/*
 * The field's name; with a suffix, the name of what we add for it, which has
 * one '_' more.  A name that is taken is made longer.
 */
static void put_name(struct tacho_buf *out, const struct tacho_type *type,
		     const struct tacho_field *f, const char *suffix)
{
	char name[160];
	size_t n = 0;

	if (suffix) {
		int more = 0;

		do {
			(void)snprintf(name, sizeof(name), "_%.100s%s%.*s",
				       f->name, suffix, more, "________");
		} while (is_taken(type, name, NULL) && ++more < 8);
	} else {
		bool plain = strlen(f->name) <= 100 &&
			     !is_taken(type, f->name, f);

		(void)snprintf(name, sizeof(name), plain ? "%.100s" : "%.100s_%u",
			       f->name, f->index);
	}
	tacho_buf_putc(out, '_');
	for (n = 0; name[n]; n++) {
		int c = name[n] | 0x20;

		if (!(c >= 'a' && c <= 'z') && !(name[n] >= '0' && name[n] <= '9'))
			name[n] = '_';
	}
	tacho_buf_put(out, name, n);
}

static void put_padding(struct tacho_buf *out, uint32_t at, uint32_t to)
{
	if (to > at)
		tacho_buf_printf(out, "\t\tx8 __padding_%u[%u];\n", at, to - at);
}

/* Elements of the field over size bytes; what is no integer is bytes. */
static void put_array(struct tacho_buf *out, const struct tacho_type *type,
		      const struct tacho_field *f, uint32_t size)
{
	uint32_t elem = f->elem_size;

	tacho_buf_puts(out, "\t\t");
	if (tacho_tsdl_is_text(f)) {
		tacho_buf_puts(out, "c8 ");
		elem = 1;
	} else if (f->kind != TACHO_FIELD_OPAQUE && is_int_size(elem) &&
		   size % elem == 0) {
		put_alias(out, f, elem);
	} else {
		tacho_buf_puts(out, "x8 ");
		elem = 1;
	}
	put_name(out, type, f, NULL);
	tacho_buf_printf(out, "[%u];\n", size / elem);
}

/*
 * A __data_loc word: offset and length in bytes.  A sequence needs its number
 * of elements: the length is split into the bits below the element's size,
 * always 0, and those above, which are the count.
 */
static void put_loc(struct tacho_buf *out, const struct tacho_type *type,
		    const struct tacho_field *f)
{
	unsigned int shift = tacho_tsdl_elem_shift(f);
	static const int part[3] = LOC_ORDER;

	for (int i = 0; i < 3; i++) {
		if (part[i] == 1 && !shift)
			continue;
		tacho_buf_puts(out, "\t\t");
		if (part[i] == 0)
			tacho_buf_puts(out, "u16 ");
		else
			tacho_buf_printf(out,
				"integer { size = %u; align = %u; signed = false; } ",
				part[i] == 1 ? shift : 16 - shift,
				shift ? 1u : 8u);
		put_name(out, type, f, part[i] == 0 ? "_off" :
				       part[i] == 1 ? "_rem" : "_len");
		tacho_buf_puts(out, ";\n");
	}
}

static void put_field(struct tacho_buf *out, const struct tacho_type *type,
		      const struct tacho_field *f)
{
	switch (f->kind) {
	case TACHO_FIELD_SCALAR:
		if (!is_int_size(f->size))
			break;
		tacho_buf_puts(out, "\t\t");
		put_alias(out, f, f->size);
		put_name(out, type, f, NULL);
		tacho_buf_puts(out, ";\n");
		return;
	case TACHO_FIELD_DATA_LOC:
	case TACHO_FIELD_REL_LOC:
		put_loc(out, type, f);
		return;
	case TACHO_FIELD_FLEX:
		tacho_buf_puts(out, "\t\ttext ");
		put_name(out, type, f, NULL);
		tacho_buf_puts(out, ";\n");
		return;
	case TACHO_FIELD_ARRAY:
	case TACHO_FIELD_OPAQUE:
		break;
	}
	put_array(out, type, f, f->size);
}

static void put_dynamic(struct tacho_buf *out, const struct tacho_type *type,
			const struct tacho_field *f)
{
	tacho_buf_puts(out, "\t\t");
	if (tacho_tsdl_is_text(f))
		tacho_buf_puts(out, "c8 ");
	else if (is_int_size(f->elem_size))
		put_alias(out, f, f->elem_size);
	else
		tacho_buf_puts(out, "x8 ");
	put_name(out, type, f, NULL);
	tacho_buf_putc(out, '[');
	put_name(out, type, f, "_len");
	tacho_buf_puts(out, "];\n");
}

/* Bytes that put_field() describes; a __data_loc of 8 bytes ends with padding. */
static uint32_t word_size(const struct tacho_field *f)
{
	if (f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC)
		return 4;
	return f->size;
}

static void put_fields(struct tacho_buf *out, const struct tacho_type *type,
		       const struct tacho_field **order, uint32_t n)
{
	uint32_t at = sizeof(struct tacho_common);

	for (uint32_t i = 0; i < n; i++) {
		put_padding(out, at, order[i]->offset);
		put_field(out, type, order[i]);
		at = order[i]->offset + word_size(order[i]);
	}
	put_padding(out, at, type->fixed_size);
	for (uint32_t i = 0; i < n; i++)
		if (order[i]->kind == TACHO_FIELD_DATA_LOC ||
		    order[i]->kind == TACHO_FIELD_REL_LOC)
			put_dynamic(out, type, order[i]);
}

/*
 * A stand-in: fields as far as raw_len goes; an array that is the last field
 * ends at raw_len, whatever its format says.
 */
static void put_fields_of(struct tacho_buf *out, const struct tacho_type *type,
			  const struct tacho_field **order, uint32_t n,
			  uint32_t raw_len)
{
	uint32_t at = sizeof(struct tacho_common);

	for (uint32_t i = 0; i < n && order[i]->offset <= raw_len; i++) {
		const struct tacho_field *f = order[i];
		uint32_t size = f->size;

		if (i + 1 == n && (f->kind == TACHO_FIELD_ARRAY ||
				   f->kind == TACHO_FIELD_FLEX)) {
			uint32_t elem = f->elem_size ? f->elem_size : 1;

			size = (raw_len - f->offset) / elem * elem;
		}
		if (size > raw_len - f->offset)
			break;
		put_padding(out, at, f->offset);
		if (f->kind == TACHO_FIELD_ARRAY || f->kind == TACHO_FIELD_FLEX)
			put_array(out, type, f, size);
		else if (f->kind == TACHO_FIELD_SCALAR)
			put_field(out, type, f);
		else
			put_array(out, type, f, size);
		at = f->offset + size;
	}
	put_padding(out, at, raw_len);
}

void tacho_tsdl_event(struct tacho_buf *out, uint32_t stream_id, uint32_t id,
		      const struct tacho_type *type, uint32_t raw_len)
{
	const struct tacho_field **order;
	uint32_t n;

	order = reallocarray(NULL, (size_t)type->nr_fields + 1, sizeof(*order));
	if (!order) {
		out->err = -ENOMEM;
		return;
	}
	n = tacho_tsdl_order(type, order);
	tacho_buf_puts(out, "\nevent {\n\tname = \"");
	put_escaped(out, type->system);
	tacho_buf_putc(out, ':');
	put_escaped(out, type->name);
	tacho_buf_printf(out, "\";\n\tid = %u;\n\tstream_id = %u;\n"
			 "\tfields := struct {\n", id, stream_id);
	if (raw_len)
		put_fields_of(out, type, order, n, raw_len);
	else
		put_fields(out, type, order, n);
	tacho_buf_puts(out, "\t};\n};\n");
	free(order);
}
