// SPDX-License-Identifier: MIT
/*
 * fuzz_ctf - a types file and a stream file, both made by somebody else.
 *
 * Input: two bytes with the length of the types file, the types file, then
 * packets.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/ctf/read.h"
#include "fuzz/stream.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_source *source;
	struct tacho_stream *s;
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
		fuzz_stream(s, fuzz_chosen(data, size));
		tacho_stream_close(s);
	}
	close(fd);
	return 0;
}
