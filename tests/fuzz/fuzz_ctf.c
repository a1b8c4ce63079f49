// SPDX-License-Identifier: MIT
/*
 * fuzz_ctf - a types file and a stream file, both made by somebody else.
 *
 * Input: two bytes with the length of the types file, the types file, then
 * packets.  Whatever they say, reading ends, and next() and counting agree on
 * how many records there are.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/ctf/read.h"
#include "stream/stream.h"

static const uint8_t uuid[16] = { 0x70, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11,
				  12, 13, 14, 15 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_stream *open_input(const uint8_t *data, size_t size, int fd,
				       struct tacho_source **source)
{
	struct tacho_stream *s = tacho_stream_new(0);

	if (!s)
		return NULL;
	if (tacho_ctf_open_memory(source, data, size, uuid, fd, 0) ||
	    tacho_stream_add_take(s, *source)) {
		tacho_stream_close(s);
		return NULL;
	}
	return s;
}

static uint64_t read_all(struct tacho_stream *s)
{
	struct tacho_record r;
	struct tacho_buf text;
	uint64_t n = 0;

	tacho_buf_init(&text, (size_t)1 << 20);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		tacho_buf_reset(&text);
		tacho_stream_print(s, &r, &text);
		n++;
	}
	tacho_buf_release(&text);
	return n;
}

static uint64_t count_all(struct tacho_stream *s)
{
	struct tacho_type_count *list;
	uint64_t n = 0;
	size_t nr;

	if (!tacho_stream_count(s, &list, &nr))
		for (size_t i = 0; i < nr; i++)
			n += list[i].events;
	free(list);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_stream_info info;
	struct tacho_source *source;
	struct tacho_stream *s;
	uint64_t n;
	size_t types;
	int fd;

	if (size < 2)
		return 0;
	types = tacho_load_le16(data);
	data += 2;
	size -= 2;
	if (types > size)
		types = size;
	fd = memfd_create("types", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, types) != (ssize_t)types)
		abort();
	data += types;
	size -= types;
	s = open_input(data, size, fd, &source);
	if (s) {
		n = read_all(s);
		(void)tacho_stream_get_info(s, &info);
		if (tacho_stream_seek(s, 0) || read_all(s) != n)
			abort();
		if (tacho_stream_seek(s, 0) || count_all(s) != n)
			abort();
		(void)tacho_stream_seek(s, info.begin + (info.end - info.begin) / 2);
		if (read_all(s) > n)
			abort();
		tacho_stream_close(s);
	}
	close(fd);
	return 0;
}
