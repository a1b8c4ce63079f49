// SPDX-License-Identifier: MIT
#include "fmt/lkst/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "fmt/lkst/types.h"

#define FILE_HEAD	sizeof(struct lkst_log_file)
#define HEAD		sizeof(struct lkst_log_block)
#define RECORD		sizeof(struct lkst_record)
/* A head and the time of the first record. */
#define LOOK		(HEAD + sizeof(uint64_t))

static uint16_t to16(const struct lkst_blocks *b, uint16_t v)
{
	return b->swap ? __builtin_bswap16(v) : v;
}

static uint32_t to32(const struct lkst_blocks *b, uint32_t v)
{
	return b->swap ? __builtin_bswap32(v) : v;
}

static uint64_t to64(const struct lkst_blocks *b, uint64_t v)
{
	return b->swap ? __builtin_bswap64(v) : v;
}

/* ---- bytes ---- */

/* Bytes that were read; fewer than len: the file ends there; or -EIO and the like. */
static ssize_t read_at(const struct lkst_blocks *b, void *to, size_t len, uint64_t at)
{
	size_t done = 0;

	if (b->memory) {
		done = at >= b->size ? 0 : b->size - at < len ? (size_t)(b->size - at) : len;
		if (done)
			memcpy(to, b->memory + at, done);
		return (ssize_t)done;
	}
	while (done < len) {
		ssize_t n = pread(b->fd, (char *)to + done, len - done, (off_t)(at + done));

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

static uint64_t place_of(const struct lkst_blocks *b, uint64_t place)
{
	return FILE_HEAD + place * b->head.block_size;
}

uint64_t lkst_blocks_offset(const struct lkst_blocks *b, uint32_t i)
{
	return place_of(b, b->block[i].place);
}

/* ---- heads ---- */

static void head_convert(const struct lkst_blocks *b, struct lkst_log_block *h)
{
	h->magic = to32(b, h->magic);
	h->kind = to32(b, h->kind);
	h->serial = to64(b, h->serial);
	h->len = to32(b, h->len);
	h->sum = to32(b, h->sum);
	h->cpu = to16(b, h->cpu);
	h->buffer = (int16_t)to16(b, (uint16_t)h->buffer);
	h->lost = to32(b, h->lost);
}

static bool head_sound(const struct lkst_blocks *b, const struct lkst_log_block *h)
{
	return h->magic == LKST_LOG_BLOCK_MAGIC && h->len <= b->head.block_size - HEAD &&
	       (h->kind == LKST_BLOCK_TYPES ||
		((h->kind == LKST_BLOCK_PROGRAM || h->kind == LKST_BLOCK_KERNEL) &&
		 h->len % RECORD == 0));
}

/* Whether the bytes of a block, as they are in the file, have the sum that they say. */
static bool sum_right(const struct lkst_blocks *b, const unsigned char *block, uint32_t len)
{
	struct lkst_log_block h;
	uint32_t sum;

	memcpy(&h, block, HEAD);
	sum = to32(b, h.sum);
	h.sum = 0;
	return tacho_crc32c(tacho_crc32c(0, &h, HEAD), block + HEAD, len) == sum;
}

static void count_damage(struct lkst_blocks *b, uint64_t place)
{
	if (!b->damaged++)
		b->first_damage = place_of(b, place);
}

/* A block of types: its text is taken in at once. */
static int take_types(struct lkst_blocks *b, uint64_t place, uint32_t len,
		      unsigned char *room)
{
	ssize_t n = read_at(b, room, HEAD + len, place_of(b, place));

	if (n < 0)
		return (int)n;
	if ((size_t)n < HEAD + len || !sum_right(b, room, len))
		count_damage(b, place);
	else if (b->types.len + len <= LKST_TYPES_TEXT_MAX)
		tacho_buf_put(&b->types, room + HEAD, len);
	return tacho_buf_error(&b->types);
}

/* Room for one more of an array that grows by doubling. */
static void *grow(void *array, uint32_t nr, size_t size)
{
	return nr & (nr - 1) ? array : reallocarray(array, nr ? 2 * (size_t)nr : 1, size);
}

static int add_block(struct lkst_blocks *b, uint32_t place, const struct lkst_log_block *h,
		     uint64_t first)
{
	struct lkst_block_at *p = grow(b->block, b->nr_blocks, sizeof(*p));

	if (!p)
		return -ENOMEM;
	b->block = p;
	p[b->nr_blocks++] = (struct lkst_block_at){
		.serial = h->serial, .place = place, .nr = h->len / (uint32_t)RECORD,
		.lost = h->lost, .kind = h->kind, .cpu = h->cpu, .buffer = h->buffer,
		.first = to64(b, first),
	};
	return 0;
}

static int look_at(struct lkst_blocks *b, uint32_t place, unsigned char *room)
{
	struct lkst_log_block h;
	uint64_t first;
	ssize_t n = read_at(b, room, LOOK, place_of(b, place));

	if (n < 0)
		return (int)n;
	if ((size_t)n < LOOK) {
		count_damage(b, place);
		return 0;
	}
	memcpy(&h, room, HEAD);
	memcpy(&first, room + HEAD, sizeof(first));
	head_convert(b, &h);
	if (!head_sound(b, &h)) {
		count_damage(b, place);
		return 0;
	}
	return h.kind == LKST_BLOCK_TYPES ? take_types(b, place, h.len, room) :
	       add_block(b, place, &h, first);
}

/* By CPU, buffer and kind: those of one run are equal. */
static int run_order(const struct lkst_block_at *x, const struct lkst_block_at *y)
{
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int block_order(const void *a, const void *b)
{
	const struct lkst_block_at *x = a, *y = b;
	int order = run_order(x, y);

	if (order)
		return order;
	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int make_runs(struct lkst_blocks *b)
{
	if (b->nr_blocks)
		qsort(b->block, b->nr_blocks, sizeof(*b->block), block_order);
	for (uint32_t i = 0; i < b->nr_blocks; i++) {
		const struct lkst_block_at *at = &b->block[i];
		struct lkst_block_run *p;

		if (!i || run_order(at - 1, at)) {
			p = grow(b->run, b->nr_runs, sizeof(*p));
			if (!p)
				return -ENOMEM;
			b->run = p;
			p[b->nr_runs++] = (struct lkst_block_run){
				at->kind, at->cpu, at->buffer, i, i
			};
		}
		b->run[b->nr_runs - 1].to = i + 1;
	}
	return 0;
}

static int look_at_all(struct lkst_blocks *b)
{
	uint64_t rest = b->size > FILE_HEAD ? b->size - FILE_HEAD : 0;
	uint64_t nr = (rest + b->head.block_size - 1) / b->head.block_size;
	unsigned char *room = malloc(b->head.block_size);
	int err = room ? nr > UINT32_MAX ? -EFBIG : 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = look_at(b, i, room);
	free(room);
	return err ? err : make_runs(b);
}

/* ---- the file ---- */

bool lkst_blocks_sniff(const void *head, size_t len)
{
	uint64_t magic = len >= sizeof(magic) ? tacho_load_u64(head) : 0;

	return magic == LKST_LOG_FILE_MAGIC ||
	       magic == __builtin_bswap64(LKST_LOG_FILE_MAGIC);
}

static void file_convert(const struct lkst_blocks *b, struct lkst_log_file *h)
{
	h->magic = to64(b, h->magic);
	h->version = to32(b, h->version);
	h->block_size = to32(b, h->block_size);
	h->types_blocks = to32(b, h->types_blocks);
	h->freq_khz = to32(b, h->freq_khz);
	h->freq = to64(b, h->freq);
	h->tsc = to64(b, h->tsc);
	h->realtime = to64(b, h->realtime);
	h->endian_big = to32(b, h->endian_big);
	h->buf_ver = to32(b, h->buf_ver);
}

static int read_head(struct lkst_blocks *b, struct tacho_diag *d)
{
	ssize_t n = read_at(b, &b->head, FILE_HEAD, 0);

	if (n < 0)
		return tacho_diag(d, (int)n, 0, "cannot read '%s': %s", b->path,
				  strerror(-(int)n));
	if (!lkst_blocks_sniff(&b->head, (size_t)n))
		return tacho_diag(d, -EINVAL, 0, "'%s' is not an LKST log file", b->path);
	if ((size_t)n < FILE_HEAD)
		return tacho_diag(d, -EINVAL, (uint64_t)n, "'%s' ends in its head", b->path);
	b->swap = b->head.magic != LKST_LOG_FILE_MAGIC;
	file_convert(b, &b->head);
	if (b->head.version != LKST_LOG_FILE_VERSION || b->head.buf_ver != LKST_LOG_BUF_VER)
		return tacho_diag(d, -ENOTSUP, offsetof(struct lkst_log_file, version),
				  "'%s' is an LKST log file of version %u.%u; this reads "
				  "%d.%d", b->path, b->head.version, b->head.buf_ver,
				  LKST_LOG_FILE_VERSION, LKST_LOG_BUF_VER);
	if (b->head.block_size < LKST_LOG_BLOCK_MIN ||
	    b->head.block_size > LKST_LOG_BLOCK_MAX || b->head.block_size % LKST_LOG_BLOCK_MIN)
		return tacho_diag(d, -EINVAL, offsetof(struct lkst_log_file, block_size),
				  "'%s' is damaged: its blocks have %u bytes", b->path,
				  b->head.block_size);
	return 0;
}

static int load(struct lkst_blocks *b, struct tacho_diag *d)
{
	int err = read_head(b, d);

	if (err)
		return err;
	err = look_at_all(b);
	if (err == -ENOMEM || err == -EOVERFLOW)
		return tacho_diag(d, err, 0, "out of memory");
	return err ? tacho_diag(d, err, 0, "cannot read '%s': %s", b->path,
				strerror(-err)) : 0;
}

static int open_file(struct lkst_blocks *b, struct tacho_diag *d)
{
	struct stat st;

	b->fd = open(b->path, O_RDONLY | O_CLOEXEC);
	if (b->fd < 0 || fstat(b->fd, &st))
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", b->path,
				  strerror(errno));
	b->size = (uint64_t)st.st_size;
	return load(b, d);
}

static int begin(struct lkst_blocks *b, const char *path, struct tacho_diag *d)
{
	*b = (struct lkst_blocks){ .fd = -1 };
	/* one block may go beyond what is taken in */
	tacho_buf_init(&b->types, LKST_TYPES_TEXT_MAX + LKST_LOG_BLOCK_MAX);
	b->path = strdup(path);
	return b->path ? 0 : tacho_no_memory(d);
}

int lkst_blocks_open(struct lkst_blocks *b, const char *path, struct tacho_diag *d)
{
	int err = begin(b, path, d);

	if (!err)
		err = open_file(b, d);
	if (err)
		lkst_blocks_close(b);
	return err;
}

int lkst_blocks_open_memory(struct lkst_blocks *b, const void *data, size_t len,
			    struct tacho_diag *d)
{
	int err = begin(b, "memory", d);

	b->memory = data ? data : (const unsigned char *)"";
	b->size = len;
	if (!err)
		err = load(b, d);
	if (err)
		lkst_blocks_close(b);
	return err;
}

void lkst_blocks_close(struct lkst_blocks *b)
{
	if (b->fd >= 0)
		close(b->fd);
	tacho_buf_release(&b->types);
	free(b->path);
	free(b->block);
	free(b->run);
	*b = (struct lkst_blocks){ .fd = -1 };
}

/* ---- one block ---- */

static void record_convert(struct lkst_record *r)
{
	r->ticks = __builtin_bswap64(r->ticks);
	for (int i = 0; i < 4; i++)
		r->arg[i] = __builtin_bswap64(r->arg[i]);
	r->recid = __builtin_bswap32(r->recid);
	r->thread = (int32_t)__builtin_bswap32((uint32_t)r->thread);
	r->uid = __builtin_bswap32(r->uid);
	r->gid = __builtin_bswap32(r->gid);
	r->pid = (int32_t)__builtin_bswap32((uint32_t)r->pid);
	r->pgrp = (int32_t)__builtin_bswap32((uint32_t)r->pgrp);
	r->etype = __builtin_bswap16(r->etype);
	r->cpu = __builtin_bswap16(r->cpu);
	r->flags = __builtin_bswap32(r->flags);
}

static int record_order(const void *a, const void *b)
{
	const struct lkst_record *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return x->recid < y->recid ? -1 : x->recid > y->recid;
}

/*
 * Nearly always in order; otherwise a writer was interrupted after it took the time and before
 * its record was written.  By insertion; a block that is not nearly in order is not one of a
 * writer's.
 */
static void put_in_order(struct lkst_record *r, uint32_t n)
{
	uint32_t moves = 0;

	for (uint32_t i = 1; i < n; i++) {
		struct lkst_record moved;
		uint32_t k = i;

		if (tacho_likely(r[i].ticks >= r[i - 1].ticks))
			continue;
		if (moves > 8 * n) {
			qsort(r, n, sizeof(*r), record_order);
			return;
		}
		moved = r[i];
		for (; k && r[k - 1].ticks > moved.ticks; k--, moves++)
			r[k] = r[k - 1];
		r[k] = moved;
	}
}

struct lkst_record *lkst_blocks_room(const struct lkst_blocks *b)
{
	return malloc(b->head.block_size);
}

int lkst_blocks_read(const struct lkst_blocks *b, uint32_t i, struct lkst_record *room,
		     struct lkst_record **records)
{
	const struct lkst_block_at *at = &b->block[i];
	unsigned char *bytes = (unsigned char *)room;
	size_t len = at->nr * RECORD;
	struct lkst_log_block h;
	ssize_t n;

	_Static_assert(HEAD % _Alignof(struct lkst_record) == 0, "records after the head");
	n = read_at(b, bytes, HEAD + len, lkst_blocks_offset(b, i));
	if (n < 0)
		return (int)n;
	if ((size_t)n < HEAD + len)
		return -EINVAL;
	memcpy(&h, bytes, HEAD);
	head_convert(b, &h);
	/* another one by now, if it is being written round */
	if (h.serial != at->serial || h.len != len || !sum_right(b, bytes, (uint32_t)len))
		return -EINVAL;
	*records = (struct lkst_record *)(void *)(bytes + HEAD);
	for (uint32_t k = 0; b->swap && k < at->nr; k++)
		record_convert(*records + k);
	put_in_order(*records, at->nr);
	return (int)at->nr;
}

int lkst_blocks_etypes(const struct lkst_blocks *b, uint32_t i, struct lkst_record *room,
		       uint16_t *etype, uint32_t max)
{
	uint32_t nr = b->block[i].nr, n = 0;
	ssize_t got = read_at(b, (unsigned char *)room, nr * RECORD,
			      lkst_blocks_offset(b, i) + HEAD);

	if (got < 0)
		return (int)got;
	if ((size_t)got < nr * RECORD)
		return -EINVAL;
	for (uint32_t k = 0; k < nr && n < max; k++) {
		uint16_t e = room[k].etype;

		/* most are those of the record before */
		if (k && e == room[k - 1].etype)
			continue;
		etype[n++] = b->swap ? __builtin_bswap16(e) : e;
	}
	return (int)n;
}

uint64_t lkst_blocks_last(const struct lkst_blocks *b, const struct lkst_block_run *run)
{
	for (uint32_t i = run->to; i-- > run->from;) {
		uint64_t at = lkst_blocks_offset(b, i) + HEAD, ticks;

		if (!b->block[i].nr)
			continue;
		at += (b->block[i].nr - 1) * RECORD + offsetof(struct lkst_record, ticks);
		return read_at(b, &ticks, sizeof(ticks), at) == sizeof(ticks) ?
		       to64(b, ticks) : 0;
	}
	return 0;
}
