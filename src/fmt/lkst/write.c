// SPDX-License-Identifier: MIT
#include "fmt/lkst/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/crc32c.h"

#define HEAD		sizeof(struct lkst_log_block)
#define ROOM		(LKST_LOG_BLOCK_SIZE - HEAD)
#define RECORDS		(ROOM / sizeof(struct lkst_record))
/* Blocks that are being filled; one more, and the one that was used longest ago is written. */
#define OPEN_MAX	128u

/* A block during filling.  Its head is generated when it is written. */
struct open_block {
	uint32_t kind, cpu;
	int32_t buffer;
	uint32_t nr;		/* records in it */
	uint64_t lost;		/* records before its first */
	uint64_t after;		/* and after its last */
	uint64_t used;		/* when it was used last, in calls */
	struct lkst_record *record;	/* room for RECORDS */
};

struct lkst_log_writer {
	int fd;
	char *path;
	uint32_t types_blocks, blocks;	/* blocks: the file's most; 0: no limit */
	uint32_t next;			/* place of the next block in the file */
	uint64_t serial, size, calls;
	uint64_t astray;	/* records lost, for which there was not even an open block */
	struct open_block open[OPEN_MAX];
	uint32_t nr_open;
	unsigned char *block;		/* one, as it is written */
};

static uint32_t types_blocks(size_t len)
{
	return (uint32_t)((len + ROOM - 1) / ROOM);
}

static uint64_t place(uint64_t block)
{
	return sizeof(struct lkst_log_file) + block * LKST_LOG_BLOCK_SIZE;
}

uint64_t lkst_log_limit_min(const struct lkst_log_config *config)
{
	/* one to write, while the one before it is there */
	return place(types_blocks(config->types_len) + 2u);
}

static int failed(struct lkst_log_writer *w, int err, struct tacho_diag *d)
{
	if (err == -ENOSPC)
		return tacho_diag(d, err, place(w->next), "cannot write '%s': the disk is full",
				  w->path);
	return tacho_diag(d, err, place(w->next), "cannot write '%s': %s", w->path,
			  strerror(-err));
}

static int write_at(int fd, const void *data, size_t len, uint64_t at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		len -= (size_t)n;
		at += (size_t)n;
	}
	return 0;
}

/* Writes a block at the place whose turn it is.  Nothing changes when that fails. */
static int put_block(struct lkst_log_writer *w, struct lkst_log_block h, const void *data)
{
	int err;

	h.magic = LKST_LOG_BLOCK_MAGIC;
	h.serial = w->serial;
	h.sum = 0;
	h.sum = tacho_crc32c(tacho_crc32c(0, &h, HEAD), data, h.len);
	memcpy(w->block, &h, HEAD);
	if (h.len)
		memcpy(w->block + HEAD, data, h.len);
	memset(w->block + HEAD + h.len, 0, ROOM - h.len);
	err = write_at(w->fd, w->block, LKST_LOG_BLOCK_SIZE, place(w->next));
	if (err)
		return err;
	w->serial++;
	w->next++;
	if (place(w->next) > w->size)
		w->size = place(w->next);
	if (w->blocks && w->next == w->blocks)
		w->next = w->types_blocks;
	return 0;
}

static int put_types(struct lkst_log_writer *w, const char *text, size_t len)
{
	int err = 0;

	while (len && !err) {
		struct lkst_log_block h = { .kind = LKST_BLOCK_TYPES };

		h.len = (uint32_t)(len < ROOM ? len : ROOM);
		err = put_block(w, h, text);
		text += h.len;
		len -= h.len;
	}
	return err;
}

/* ---- blocks that are being filled ---- */

static int put_open(struct lkst_log_writer *w, struct open_block *o)
{
	struct lkst_log_block h = {
		.kind = o->kind,
		.cpu = (uint16_t)o->cpu, .buffer = (int16_t)o->buffer,
		.len = o->nr * (uint32_t)sizeof(struct lkst_record),
		.lost = o->lost > UINT32_MAX ? UINT32_MAX : (uint32_t)o->lost,
	};
	int err = put_block(w, h, o->record);

	if (!err) {
		o->nr = 0;
		o->lost = o->lost - h.lost + o->after;
		o->after = 0;
	}
	return err;
}

static int put_all(struct lkst_log_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->nr_open && !err; i++)
		while (!err && (w->open[i].nr || w->open[i].lost))
			err = put_open(w, &w->open[i]);
	return err;
}

/* One that nothing waits in, or the one that was used longest ago is written first. */
static int give_up_one(struct lkst_log_writer *w, struct open_block **free_one)
{
	struct open_block *o = &w->open[0];
	int err = 0;

	for (uint32_t i = 1; i < w->nr_open; i++)
		if (w->open[i].used < o->used)
			o = &w->open[i];
	while (!err && (o->nr || o->lost))
		err = put_open(w, o);
	*free_one = o;
	return err;
}

static int find_open(struct lkst_log_writer *w, uint32_t kind, uint32_t cpu,
		     int32_t buffer, struct open_block **found)
{
	struct open_block *o;
	int err = 0;

	for (uint32_t i = 0; i < w->nr_open; i++) {
		o = &w->open[i];
		if (o->kind == kind && o->cpu == cpu && o->buffer == buffer) {
			*found = o;
			return 0;
		}
	}
	if (w->nr_open < OPEN_MAX) {
		o = &w->open[w->nr_open];
		o->record = malloc(RECORDS * sizeof(*o->record));
		if (!o->record)
			return -ENOMEM;
		w->nr_open++;
	} else {
		err = give_up_one(w, &o);
	}
	if (err)
		return err;
	o->kind = kind;
	o->cpu = cpu;
	o->buffer = buffer;
	o->nr = 0;
	*found = o;
	return 0;
}

/*
 * Reports losses before the next record.  Losses are stored in the head of a block, so the
 * current block ends.
 */
static int add_lost(struct lkst_log_writer *w, struct open_block *o, uint64_t lost)
{
	int err = lost && o->nr ? put_open(w, o) : 0;

	*(o->nr ? &o->after : &o->lost) += lost;
	return err;
}

static uint32_t kind_of(const struct lkst_record *r)
{
	return r->flags & LKST_FLAG_KERNEL ? LKST_BLOCK_KERNEL : LKST_BLOCK_PROGRAM;
}

/* Records of one kind that follow each other; *taken: how many there was room for. */
static int add_run(struct lkst_log_writer *w, struct open_block *o,
		   const struct lkst_record *r, size_t n, size_t *taken)
{
	*taken = 0;
	while (n) {
		size_t room = RECORDS - o->nr;
		int err;

		if (!room) {
			err = put_open(w, o);
			if (err)
				return err;
			continue;
		}
		room = room < n ? room : n;
		memcpy(o->record + o->nr, r, room * sizeof(*r));
		o->nr += (uint32_t)room;
		r += room;
		n -= room;
		*taken += room;
	}
	/* a full one is written at once: what a daemon holds back is not on the disk */
	return o->nr == RECORDS ? put_open(w, o) : 0;
}

/* The records of one kind at the start of the n; *run: how many these are. */
static int write_run(struct lkst_log_writer *w, uint32_t cpu, int32_t buffer,
		     const struct lkst_record *r, size_t n, size_t *run)
{
	uint32_t kind = kind_of(r);
	struct open_block *o;
	size_t taken = 0;
	int err;

	*run = 1;
	while (*run < n && kind_of(r + *run) == kind)
		++*run;
	err = find_open(w, kind, cpu, buffer, &o);
	if (err) {
		w->astray += *run;
		return err;
	}
	o->used = w->calls;
	err = add_run(w, o, r, *run, &taken);
	*(o->nr ? &o->after : &o->lost) += *run - taken;
	return err;
}

static int write_lost(struct lkst_log_writer *w, uint32_t kind, uint32_t cpu,
		      int32_t buffer, uint64_t lost)
{
	struct open_block *o;
	int err = find_open(w, kind, cpu, buffer, &o);

	if (err) {
		w->astray += lost;
		return err;
	}
	o->used = w->calls;
	err = add_lost(w, o, lost + w->astray);
	w->astray = 0;
	return err;
}

int lkst_log_write(struct lkst_log_writer *w, uint32_t cpu, int32_t buffer,
		   const struct lkst_record *r, size_t n, uint64_t lost,
		   struct tacho_diag *d)
{
	int first = 0;

	if (cpu > UINT16_MAX || buffer < INT16_MIN || buffer > INT16_MAX)
		return tacho_diag(d, -EINVAL, 0, "a log file has no room for CPU %u, buffer %d",
				  cpu, buffer);
	w->calls++;
	if (lost || w->astray)
		first = write_lost(w, n ? kind_of(r) : LKST_BLOCK_PROGRAM, cpu, buffer, lost);
	while (n) {
		size_t run;
		int err = write_run(w, cpu, buffer, r, n, &run);

		first = first ? first : err;
		r += run;
		n -= run;
	}
	return first ? failed(w, first, d) : 0;
}

int lkst_log_write_types(struct lkst_log_writer *w, const char *text, size_t len,
			 struct tacho_diag *d)
{
	int err = put_types(w, text, len);

	return err ? failed(w, err, d) : 0;
}

int lkst_log_flush(struct lkst_log_writer *w, struct tacho_diag *d)
{
	int err = put_all(w);

	return err ? failed(w, err, d) : 0;
}

uint64_t lkst_log_bytes(const struct lkst_log_writer *w)
{
	return w->size;
}

/* ---- the file ---- */

static int put_head(struct lkst_log_writer *w, const struct lkst_log_config *c)
{
	struct lkst_log_file h = {
		.magic = LKST_LOG_FILE_MAGIC,
		.version = LKST_LOG_FILE_VERSION,
		.block_size = LKST_LOG_BLOCK_SIZE,
		.types_blocks = w->types_blocks,
		.freq_khz = (uint32_t)(c->freq / 1000),
		.freq = c->freq, .tsc = c->tsc, .realtime = c->realtime,
		.endian_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.buf_ver = LKST_LOG_BUF_VER,
	};

	if (c->arch)
		memcpy(h.arch, c->arch, strnlen(c->arch, sizeof(h.arch)));
	if (c->uuid)
		memcpy(h.uuid, c->uuid, sizeof(h.uuid));
	w->size = sizeof(h);
	return write_at(w->fd, &h, sizeof(h), 0);
}

static void writer_free(struct lkst_log_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (uint32_t i = 0; i < w->nr_open; i++)
		free(w->open[i].record);
	free(w->block);
	free(w->path);
	free(w);
}

static struct lkst_log_writer *writer_new(const char *path)
{
	struct lkst_log_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->path = strdup(path);
	w->block = malloc(LKST_LOG_BLOCK_SIZE);
	if (w->path && w->block)
		return w;
	writer_free(w);
	return NULL;
}

static int begin(struct lkst_log_writer *w, const struct lkst_log_config *c,
		 struct tacho_diag *d)
{
	uint64_t blocks = c->limit ? (c->limit - place(0)) / LKST_LOG_BLOCK_SIZE : 0;
	struct stat st;
	int err;

	w->types_blocks = types_blocks(c->types_len);
	w->blocks = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
	w->fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return tacho_diag(d, -errno, 0, "cannot create '%s': %s", w->path,
				  strerror(errno));
	err = put_head(w, c);
	if (!err)
		err = put_types(w, c->types, c->types_len);
	/* without its types the file is not a log */
	if (err && !fstat(w->fd, &st) && S_ISREG(st.st_mode))
		(void)unlink(w->path);
	return err ? failed(w, err, d) : 0;
}

int lkst_log_create(struct lkst_log_writer **writer, const char *path,
		    const struct lkst_log_config *config, struct tacho_diag *d)
{
	struct lkst_log_writer *w;
	int err;

	*writer = NULL;
	if (config->limit && config->limit < lkst_log_limit_min(config))
		return tacho_diag(d, -EINVAL, 0, "a log file of %llu bytes is too small: "
				  "at least %llu are needed",
				  (unsigned long long)config->limit,
				  (unsigned long long)lkst_log_limit_min(config));
	w = writer_new(path);
	if (!w)
		return tacho_no_memory(d);
	err = begin(w, config, d);
	if (err)
		writer_free(w);
	else
		*writer = w;
	return err;
}

int lkst_log_close(struct lkst_log_writer *w, struct tacho_diag *d)
{
	int err = put_all(w), fd = w->fd;

	w->fd = -1;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (err)
		failed(w, err, d);
	writer_free(w);
	return err;
}
