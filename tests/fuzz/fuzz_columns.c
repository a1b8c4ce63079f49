// SPDX-License-Identifier: MIT
/*
 * fuzz_columns - any trace as columns: the arrays are valid by Arrow's specification, and each
 * value is what the stream says of its record.
 *
 * Input: a file of any format; or else what fuzz_ctf has.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "columns/compare.h"
#include "fmt/ctf/read.h"
#include "stream/stream.h"

static const uint8_t uuid[16] = { 0x70, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11,
				  12, 13, 14, 15 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* The stream of an input that a file or a directory could have; NULL. */
static struct tacho_stream *open_file(int fd)
{
	struct tacho_stream *s;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tacho_stream_open(&s, path, 0, NULL) ? NULL : s;
}

static struct tacho_stream *open_ctf(const uint8_t *data, size_t size, int types)
{
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_source *source;

	if (s && !tacho_ctf_open_memory(&source, data, size, uuid, types, 0) &&
	    !tacho_stream_add_take(s, source))
		return s;
	tacho_stream_close(s);
	return NULL;
}

/* Takes both over. */
static void compare_both(struct tacho_stream *plain, struct tacho_stream *s, uint32_t choice)
{
	struct tacho_columns_config c;
	struct ArrowArrayStream arrow;

	tacho_columns_config_init(&c);
	c.batch_rows = choice & 1 ? 3 : 1000;
	c.flags = choice & 2 ? TACHO_COLUMNS_NO_DICTIONARY :
		  choice & 4 ? TACHO_COLUMNS_DICTIONARY : 0;
	compare_wrong[0] = '\0';
	if (tacho_columns_open_stream(&arrow, s, &c, NULL)) {
		tacho_stream_close(plain);
		tacho_stream_close(s);
		return;
	}
	(void)compare_streams(&arrow, plain, NULL);
	if (compare_wrong[0]) {
		fprintf(stderr, "%s\n", compare_wrong);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t choice = size ? data[size - 1] : 0;
	struct tacho_stream *plain, *s;
	size_t types;
	int fd = memory_file(data, size);

	plain = open_file(fd);
	s = plain ? open_file(fd) : NULL;
	if (!plain && size >= 2) {
		types = tacho_load_le16(data);
		if (types > size - 2)
			types = size - 2;
		close(fd);
		fd = memory_file(data + 2, types);
		plain = open_ctf(data + 2 + types, size - 2 - types, fd);
		s = plain ? open_ctf(data + 2 + types, size - 2 - types, fd) : NULL;
	}
	if (plain && s)
		compare_both(plain, s, choice);
	else
		tacho_stream_close(plain);
	close(fd);
	return 0;
}
