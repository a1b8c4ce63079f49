// SPDX-License-Identifier: MIT
#include "index/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/diag.h"

#define PAD		16u	/* behind a payload: numbers are loaded 8 bytes at a time */
#define POSITION	16u	/* bits of a ref that say where in the block */

struct index_cached {
	uint64_t offset;	/* 0: none */
	unsigned char *block;
	uint32_t len;		/* of the payload */
	uint32_t next;		/* of its chain: index + 1 */
	bool used;		/* since the hand passed */
};

int index_log_init(struct index_log *log, int fd, bool writer, uint32_t cache)
{
	uint32_t room = 16;

	while (room < cache)
		room *= 2;
	*log = (struct index_log){ .fd = fd, .end = INDEX_BEGIN, .room_cached = room };
	log->cached = calloc(room, sizeof(*log->cached));
	log->chain = calloc(room, sizeof(*log->chain));
	if (writer)
		log->block = calloc(1, INDEX_HEAD + INDEX_BLOCK + PAD);
	return log->cached && log->chain && (!writer || log->block) ? 0 : -ENOMEM;
}

void index_log_release(struct index_log *log)
{
	for (uint32_t i = 0; i < log->nr_cached; i++)
		free(log->cached[i].block);
	free(log->cached);
	free(log->chain);
	free(log->block);
	if (log->fd >= 0)
		(void)close(log->fd);
	*log = (struct index_log){ .fd = -1 };
}

/* ---- reading and writing at a place ---- */

static int write_at(int fd, const void *p, size_t len, uint64_t offset)
{
	const char *from = p;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Returns how many bytes there were, at most len. */
static int read_at(int fd, void *p, size_t len, uint64_t offset, size_t *got)
{
	char *to = p;

	*got = 0;
	while (*got < len) {
		ssize_t n = pread(fd, to + *got, len - *got, (off_t)(offset + *got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}

/* ---- beginning, roots ---- */

int index_log_begin(struct index_log *log)
{
	unsigned char head[INDEX_BEGIN] = INDEX_MAGIC;

	tacho_put_le32(head + 8, INDEX_VERSION);
	if (ftruncate(log->fd, 0))
		return -errno;
	return write_at(log->fd, head, sizeof(head), 0);
}

int index_log_check(struct index_log *log)
{
	unsigned char head[16];
	size_t got;
	int err = read_at(log->fd, head, sizeof(head), 0, &got);

	if (err)
		return err;
	if (got < sizeof(head) || memcmp(head, INDEX_MAGIC, 8))
		return -EBADMSG;
	return tacho_load_le32(head + 8) == INDEX_VERSION ? 0 : -ESTALE;
}

int index_log_slots(struct index_log *log, struct index_slot slot[2], uint32_t *nr)
{
	unsigned char bytes[INDEX_SLOT_SIZE];
	struct index_slot swapped;
	size_t got;

	*nr = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct index_slot *s = &slot[*nr];
		int err = read_at(log->fd, bytes, sizeof(bytes), INDEX_SLOT(i), &got);

		if (err)
			return err;
		s->sequence = tacho_load_le64(bytes);
		s->offset = tacho_load_le64(bytes + 8);
		s->len = tacho_load_le32(bytes + 16);
		if (got == sizeof(bytes) && s->sequence &&
		    tacho_crc32c(0, bytes, 20) == tacho_load_le32(bytes + 20))
			++*nr;
	}
	if (*nr == 2 && slot[1].sequence > slot[0].sequence) {
		swapped = slot[0];
		slot[0] = slot[1];
		slot[1] = swapped;
	}
	return 0;
}

int index_log_sync(struct index_log *log, const struct index_slot *slot)
{
	unsigned char bytes[INDEX_SLOT_SIZE];

	if (index_log_flush(log))
		return log->err;
	tacho_put_le64(bytes, slot->sequence);
	tacho_put_le64(bytes + 8, slot->offset);
	tacho_put_le32(bytes + 16, slot->len);
	tacho_put_le32(bytes + 20, tacho_crc32c(0, bytes, 20));
	if (fdatasync(log->fd))
		log->err = -errno;
	else
		log->err = write_at(log->fd, bytes, sizeof(bytes),
				    INDEX_SLOT(slot->sequence & 1));
	if (!log->err && fdatasync(log->fd))
		log->err = -errno;
	return log->err;
}

/* ---- appending ---- */

static int append(struct index_log *log, unsigned char *block, uint32_t len, enum index_block kind)
{
	tacho_put_le32(block + 4, len << 8 | kind);
	tacho_put_le64(block + 8, log->end);
	tacho_put_le32(block, tacho_crc32c(0, block + 4, INDEX_HEAD - 4 + len));
	log->err = write_at(log->fd, block, INDEX_HEAD + len, log->end);
	if (!log->err)
		log->end += INDEX_HEAD + len;
	return log->err;
}

int index_log_flush(struct index_log *log)
{
	if (!log->err && log->fill && !append(log, log->block, log->fill, INDEX_RECORDS))
		log->fill = 0;
	return log->err;
}

uint64_t index_log_put(struct index_log *log, const void *p, uint32_t len)
{
	uint64_t ref;

	if (log->fill + len > INDEX_BLOCK && index_log_flush(log))
		return 0;
	if (log->err)
		return 0;
	ref = log->end << POSITION | log->fill;
	memcpy(log->block + INDEX_HEAD + log->fill, p, len);
	log->fill += len;
	return ref;
}

uint64_t index_log_put_blob(struct index_log *log, const void *p, size_t len)
{
	const char *from = p;
	unsigned char *block;
	uint64_t offset;

	if (index_log_flush(log))
		return 0;
	block = malloc(INDEX_HEAD + INDEX_PIECE);
	if (!block) {
		log->err = -ENOMEM;
		return 0;
	}
	offset = log->end;
	for (uint32_t part; len && !log->err; from += part, len -= part) {
		part = len < INDEX_PIECE ? (uint32_t)len : INDEX_PIECE;
		memcpy(block + INDEX_HEAD, from, part);
		(void)append(log, block, part, INDEX_BLOB);
	}
	free(block);
	return log->err ? 0 : offset;
}

/* ---- reading ---- */

/* A block into memory of INDEX_HEAD + INDEX_PIECE + PAD bytes. */
static int read_block(struct index_log *log, uint64_t offset, enum index_block kind,
		      unsigned char *block, uint32_t *len)
{
	uint32_t max = kind == INDEX_RECORDS ? INDEX_BLOCK : INDEX_PIECE, word;
	size_t got;
	int err;

	if (offset < INDEX_BEGIN || offset >= log->end || log->end - offset < INDEX_HEAD)
		return -EBADMSG;
	if (log->end - offset - INDEX_HEAD < max)
		max = (uint32_t)(log->end - offset - INDEX_HEAD);
	err = read_at(log->fd, block, INDEX_HEAD + max, offset, &got);
	if (err)
		return err;
	if (got < INDEX_HEAD)
		return -EBADMSG;
	word = tacho_load_le32(block + 4);
	*len = word >> 8;
	if ((word & 0xff) != (uint32_t)kind || !*len || *len > got - INDEX_HEAD ||
	    tacho_load_le64(block + 8) != offset ||
	    tacho_load_le32(block) != tacho_crc32c(0, block + 4, INDEX_HEAD - 4 + *len))
		return -EBADMSG;
	memset(block + INDEX_HEAD + *len, 0, PAD);
	return 0;
}

static uint32_t *chain_of(struct index_log *log, uint64_t offset)
{
	return &log->chain[(uint32_t)(offset * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
			   (log->room_cached - 1)];
}

static void unchain(struct index_log *log, const struct index_cached *c)
{
	uint32_t *link = chain_of(log, c->offset);

	while (*link && &log->cached[*link - 1] != c)
		link = &log->cached[*link - 1].next;
	if (*link)
		*link = c->next;
}

/* A place for another block: a new one, or that of one which was not used for a turn. */
static struct index_cached *make_room(struct index_log *log)
{
	struct index_cached *c;

	if (log->nr_cached < log->room_cached) {
		c = &log->cached[log->nr_cached];
		c->block = malloc(INDEX_HEAD + INDEX_BLOCK + PAD);
		if (!c->block)
			return NULL;
		log->nr_cached++;
		return c;
	}
	for (;;) {
		c = &log->cached[log->hand];
		log->hand = (log->hand + 1) & (log->room_cached - 1);
		if (!c->used)
			break;
		c->used = false;
	}
	if (c->offset)
		unchain(log, c);
	c->offset = 0;
	return c;
}

static int cached(struct index_log *log, uint64_t offset, struct index_cached **found)
{
	uint32_t *link = chain_of(log, offset);
	struct index_cached *c;
	int err;

	for (uint32_t i = *link; i; i = log->cached[i - 1].next)
		if (log->cached[i - 1].offset == offset) {
			*found = &log->cached[i - 1];
			(*found)->used = true;
			return 0;
		}
	c = make_room(log);
	if (!c)
		return -ENOMEM;
	err = read_block(log, offset, INDEX_RECORDS, c->block, &c->len);
	if (err)
		return err;
	c->offset = offset;
	c->used = true;
	c->next = *link;
	*link = (uint32_t)(c - log->cached) + 1;
	*found = c;
	return 0;
}

int index_log_at(struct index_log *log, uint64_t ref, struct index_bytes *b)
{
	uint64_t offset = ref >> POSITION;
	uint32_t position = ref & ((1u << POSITION) - 1), len;
	const unsigned char *payload;
	struct index_cached *c;
	int err;

	if (log->block && offset == log->end) {
		payload = log->block + INDEX_HEAD;
		len = log->fill;
	} else {
		err = cached(log, offset, &c);
		if (err)
			return err;
		payload = c->block + INDEX_HEAD;
		len = c->len;
	}
	if (position >= len)
		return -EBADMSG;
	*b = (struct index_bytes){ payload + position, payload + len, false };
	return 0;
}

int index_log_blob(struct index_log *log, uint64_t offset, uint64_t len, struct tacho_buf *out)
{
	unsigned char *block;
	uint32_t part = 0;
	int err = 0;

	if (len > log->end)
		return -EBADMSG;
	block = malloc(INDEX_HEAD + INDEX_PIECE + PAD);
	if (!block)
		return -ENOMEM;
	for (; len && !err; offset += INDEX_HEAD + part, len -= part) {
		err = read_block(log, offset, INDEX_BLOB, block, &part);
		if (!err && part > len)
			err = -EBADMSG;
		if (err)
			break;
		tacho_buf_put(out, block + INDEX_HEAD, part);
		err = tacho_buf_error(out);
	}
	free(block);
	return err;
}
