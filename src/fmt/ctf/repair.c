// SPDX-License-Identifier: MIT
#include "fmt/ctf/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/ctf/canon.h"
#include "fmt/ctf/packets.h"
#include "fmt/ctf/read.h"

#define HEAD	sizeof(struct tacho_packet)
/* A torn packet larger than this is cut to what fits. */
#define TORN_MAX	((uint64_t)64 << 20)

/* Where the last field of a record ends, from the record's start. */
static uint32_t record_end(struct tacho_source *source, uint32_t stream_id,
			   const unsigned char *rec, uint32_t size)
{
	uint32_t id = tacho_load_u16(rec + 8), end = 0;
	const struct tacho_type *type = tacho_source_type(source, stream_id, id);
	const struct tacho_canon *canon;
	struct tacho_arena arena;

	if (type && type->id == id) {
		tacho_arena_init(&arena, (size_t)1 << 20);
		canon = tacho_canon_new(&arena, type);
		if (canon)
			end = tacho_canon_end(canon, rec + 8, size);
		tacho_arena_release(&arena);
	}
	return end ? end + 8 : size;
}

/* Sets the header's sizes and counts by the whole records after it. */
static void shorten(struct tacho_source *source, unsigned char *bytes,
		    size_t len, size_t *whole)
{
	struct tacho_packet h;
	size_t at = HEAD, last = 0;
	uint64_t time, content = HEAD;
	uint32_t events = 0;

	memcpy(&h, bytes, HEAD);
	time = h.timestamp_begin;
	while (len - at >= TACHO_RECORD_HEAD) {
		uint64_t word = tacho_load_u64(bytes + at);
		uint32_t size = tacho_record_size(word);

		if (size < TACHO_RECORD_HEAD || size % 8 || size > len - at ||
		    !tacho_source_type(source, h.stream_id,
				       tacho_load_u16(bytes + at + 8)))
			break;
		time = tacho_record_time(word, time);
		last = at;
		at += size;
		events++;
	}
	if (events)
		content = last + record_end(source, h.stream_id, bytes + last,
					    (uint32_t)(at - last));
	h.content_size = content * 8;
	h.packet_size = at * 8;
	h.timestamp_end = time;
	h.events = events;
	memcpy(bytes, &h, HEAD);
	*whole = at;
}

/* 1: the file was changed, 0: it was whole, or -errno. */
static int repair_file(struct tacho_source *source,
		       const struct tacho_ctf_part *p)
{
	unsigned char *bytes = NULL;
	struct tacho_packet h;
	uint64_t at = 0, left = 0;
	size_t whole = 0, len;
	int fd = openat(p->dirfd, p->name, O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	for (; at < p->file_size; at += h.packet_size / 8) {
		left = p->file_size - at;
		/* only a torn end is repaired; other damage is unchanged */
		if (left < HEAD)
			break;
		if (pread(fd, &h, HEAD, (off_t)at) != HEAD) {
			err = -EIO;
			goto out;
		}
		if (h.magic != TACHO_PACKET_MAGIC ||
		    memcmp(h.uuid, p->uuid, 16) || h.packet_size / 8 < HEAD ||
		    h.stream_id >= TACHO_NR_STREAM_IDS)
			goto out;
		if (h.packet_size / 8 > left)
			break;
	}
	if (at >= p->file_size)
		goto out;
	len = (size_t)(left < TORN_MAX ? left : TORN_MAX);
	if (left >= HEAD) {
		bytes = malloc(len);
		if (!bytes || pread(fd, bytes, len, (off_t)at) != (ssize_t)len) {
			err = bytes ? -EIO : -ENOMEM;
			goto out;
		}
		shorten(source, bytes, len, &whole);
		if (pwrite(fd, bytes, HEAD, (off_t)at) != HEAD) {
			err = -EIO;
			goto out;
		}
	}
	err = ftruncate(fd, (off_t)(at + whole)) ? -errno : 1;
out:
	free(bytes);
	close(fd);
	return err;
}

int tacho_ctf_repair(const char *dir, uint32_t *repaired, struct tacho_diag *d)
{
	struct tacho_source *source;
	int err = tacho_ctf_open(&source, dir, 0, d);

	*repaired = 0;
	if (err)
		return err;
	for (uint32_t i = 0; i < source->nr_parts && err >= 0; i++) {
		struct tacho_ctf_part *p = (struct tacho_ctf_part *)source->part[i];

		err = repair_file(source, p);
		if (err > 0)
			++*repaired;
		if (err < 0)
			tacho_diag(d, err, 0, "cannot repair '%s/%s': %s", dir,
				   p->name, strerror(-err));
	}
	source->ops->close(source);
	return err < 0 ? err : 0;
}
