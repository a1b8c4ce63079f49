// SPDX-License-Identifier: MIT
#include "fmt/tracedat/page.h"

#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

#define DELTA_BITS	27
#define DELTA_MAX	((UINT64_C(1) << DELTA_BITS) - 1)
#define EXTEND_MAX	((UINT64_C(1) << (DELTA_BITS + 32)) - 1)
#define SMALL_MAX	112u		/* type_len up to 28 words */
#define TYPE_EXTEND	30u
#define COMMIT_LOST	(UINT64_C(1) << 31)
#define COMMIT_COUNTED	(UINT64_C(1) << 30)
#define COMMIT_SIZE	(COMMIT_COUNTED - 1)

static void put_word(unsigned char *to, uint32_t type, uint64_t delta)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	tacho_put_u32(to, type | (uint32_t)(delta & DELTA_MAX) << 5);
#else
	tacho_put_u32(to, type << DELTA_BITS | (uint32_t)(delta & DELTA_MAX));
#endif
}

static void get_word(const unsigned char *from, uint32_t *type, uint64_t *delta)
{
	uint32_t word = tacho_load_u32(from);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	*type = word & 31;
	*delta = word >> 5;
#else
	*type = word >> DELTA_BITS;
	*delta = word & DELTA_MAX;
#endif
}

static void put_long(unsigned char *to, unsigned int long_size, uint64_t v)
{
	if (long_size == 4)
		tacho_put_u32(to, (uint32_t)v);
	else
		tacho_put_u64(to, v);
}

static uint64_t get_long(const unsigned char *from, unsigned int long_size)
{
	return long_size == 4 ? tacho_load_u32(from) : tacho_load_u64(from);
}

void tacho_dat_page_begin(struct tacho_dat_page *p, void *bytes, size_t size,
			  unsigned int long_size, uint64_t time, uint64_t lost)
{
	*p = (struct tacho_dat_page){
		.bytes = bytes, .size = size, .long_size = long_size,
		.used = 8 + long_size, .last = time, .lost = lost,
	};
	tacho_put_u64(p->bytes, time);
}

unsigned char *tacho_dat_page_add(struct tacho_dat_page *p, uint64_t time,
				  size_t len)
{
	uint64_t delta = time - p->last;
	size_t whole = TACHO_ALIGN_UP(len, 4);
	bool small = whole <= SMALL_MAX;
	size_t extend = delta > DELTA_MAX ? 8 : 0;
	size_t need = extend + (small ? 4 : 8) + whole + (p->lost ? 8 : 0);
	unsigned char *to = p->bytes + p->used;

	if (time < p->last || delta > EXTEND_MAX || need > p->size - p->used)
		return NULL;
	if (extend) {
		put_word(to, TYPE_EXTEND, delta);
		tacho_put_u32(to + 4, (uint32_t)(delta >> DELTA_BITS));
		to += 8;
		delta = 0;
	}
	put_word(to, small ? (uint32_t)whole / 4 : 0, delta);
	to += 4;
	if (!small) {
		tacho_put_u32(to, (uint32_t)whole + 4);
		to += 4;
	}
	tacho_put_u32(to + whole - 4, 0);
	p->last = time;
	p->used = (size_t)(to + whole - p->bytes);
	return to;
}

size_t tacho_dat_page_end(struct tacho_dat_page *p)
{
	uint64_t commit = p->used - 8 - p->long_size;

	if (p->lost) {
		commit |= COMMIT_LOST | COMMIT_COUNTED;
		put_long(p->bytes + p->used, p->long_size,
			 p->long_size == 4 && p->lost > UINT32_MAX ? UINT32_MAX :
								     p->lost);
		p->used += p->long_size;
	}
	put_long(p->bytes + 8, p->long_size, commit);
	memset(p->bytes + p->used, 0, p->size - p->used);
	return p->used;
}

size_t tacho_dat_walk_begin(struct tacho_dat_walk *w, const void *page,
			    unsigned int long_size)
{
	const unsigned char *bytes = page;
	uint64_t commit = get_long(bytes + 8, long_size);

	w->pos = bytes + 8 + long_size;
	w->end = w->pos + (commit & COMMIT_SIZE);
	w->time = tacho_load_u64(bytes);
	w->lost = commit & COMMIT_LOST ? get_long(w->end, long_size) : 0;
	return (size_t)(w->end - bytes) + (w->lost ? long_size : 0);
}

bool tacho_dat_walk_next(struct tacho_dat_walk *w, struct tacho_dat_event *e)
{
	uint64_t delta;
	uint32_t type;

	if (w->pos == w->end)
		return false;
	get_word(w->pos, &type, &delta);
	if (type == TYPE_EXTEND) {
		delta += (uint64_t)tacho_load_u32(w->pos + 4) << DELTA_BITS;
		w->time += delta;
		w->pos += 8;
		get_word(w->pos, &type, &delta);
	}
	w->time += delta;
	w->pos += 4;
	e->len = (size_t)type * 4;
	if (!type) {
		e->len = tacho_load_u32(w->pos) - 4;
		w->pos += 4;
	}
	e->time = w->time;
	e->raw = w->pos;
	w->pos += e->len;
	return true;
}

void tacho_dat_print_header_page(struct tacho_buf *out, size_t page_size,
				 unsigned int long_size)
{
	tacho_buf_printf(out,
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:%u;\tsize:%zu;\tsigned:0;\n",
		long_size, 8 + long_size, page_size - 8 - long_size);
}

void tacho_dat_print_header_event(struct tacho_buf *out)
{
	tacho_buf_puts(out,
		"# compressed entry header\n"
		"\ttype_len    :    5 bits\n"
		"\ttime_delta  :   27 bits\n"
		"\tarray       :   32 bits\n"
		"\n"
		"\tpadding     : type == 29\n"
		"\ttime_extend : type == 30\n"
		"\ttime_stamp : type == 31\n"
		"\tdata max type_len  == 28\n");
}
