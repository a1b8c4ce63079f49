// SPDX-License-Identifier: MIT
/*
 * fuzz_core - bytes as a core dump or memory image.  First byte 0: the rest is the file.  Else it
 * lies behind a session's control block and type table, which are sound, for packets.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/stream.h"
#include "stream/crash.h"
#include "tacho/abi/shm.h"

#define LANES	2u
#define CONTROL	TACHO_CONTROL_SIZE(LANES)
#define TYPES	(TACHO_TYPES_TEXT_OFF + 4096u)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char type_text[] =
	"a:b\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"n=%llu\", REC->n\n";

static void put(int fd, const void *data, size_t len, uint64_t at)
{
	if (pwrite(fd, data, len, (off_t)at) != (ssize_t)len)
		abort();
}

/* A session called "s" with uuid 0, 1, 2 ... and one type, 1. */
static void put_session(int fd)
{
	static struct tacho_control c;
	struct tacho_types t = {
		.head = { TACHO_MAGIC_TYPES, tacho_abi_signature(), 1 },
	};

	c = (struct tacho_control){
		.head = { TACHO_MAGIC_CONTROL, tacho_abi_signature(), 1 },
		.name = "s", .nr_cpus = LANES, .sub_shift = 12, .nr_subs = 2,
		.clock_freq = 1000000000,
	};
	for (unsigned int i = 0; i < 16; i++)
		c.uuid[i] = (uint8_t)i;
	t.slot[1] = 8 | (uint64_t)(sizeof(type_text) - 1) << 32;
	put(fd, &c, sizeof(c), 0);
	put(fd, &t, sizeof(t), CONTROL);
	put(fd, type_text, sizeof(type_text) - 1, CONTROL + TACHO_TYPES_TEXT_OFF + 8);
}

static void read_it(int fd, bool all)
{
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_diag d = { 0 };
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!s)
		return;
	if (!tacho_crash_open(s, path, 0, &d))
		fuzz_stream(s, all);
	else if (!d.err || !d.text[0])
		abort();
	tacho_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1, session = -1;

	if (file < 0) {
		file = memfd_create("core", 0);
		session = memfd_create("image", 0);
		if (file < 0 || session < 0)
			abort();
		put_session(session);
	}
	if (!size)
		return 0;
	if (!data[0]) {
		if (ftruncate(file, 0))
			abort();
		put(file, data + 1, size - 1, 0);
		read_it(file, fuzz_chosen(data, size));
	} else {
		if (ftruncate(session, (off_t)(CONTROL + TYPES)))
			abort();
		put(session, data + 1, size - 1, CONTROL + TYPES);
		read_it(session, fuzz_chosen(data, size));
	}
	return 0;
}
