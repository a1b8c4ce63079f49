// SPDX-License-Identifier: MIT
/*
 * A session's files in shared memory, patched: whatever stands in them, opening,
 * reading, counting and destroying them end, and stay inside the files.
 *
 * Input: patches of the form { file, offset (3 bytes), length, bytes }: the bytes
 * replace those at offset modulo the file's size.
 *
 * The session is made once; its files are mapped, and put back after each input.  One input of
 * sixteen has a session of its own, which is destroyed in the end.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/type.h"
#include "fuzz/stream.h"
#include "ring/read.h"
#include "ring/write.h"
#include "session/session.h"

#ifdef TACHO_TINY
#define SUB_SIZE 256
#else
#define SUB_SIZE 4096
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_dir dir;
static char base[64];		/* run-time directory, removed at exit */

static void cleanup(void)
{
	char command[96];

	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	if (system(command))
		abort();
}

static void setup(void)
{
	if (base[0])
		return;
	strcpy(base, "/dev/shm/tacho-fuzz.XXXXXX");
	if (!mkdtemp(base) || setenv("TACHO_DIR", base, 1) ||
	    tacho_dir_open(&dir, true, NULL))
		abort();
	atexit(cleanup);
}

/* A small session with some records, types, rules, and one snapshot taken. */
static void make(struct tacho_session *s, const char *name)
{
	static const char text[] = "sys:ev\nformat:\n\tfield:int a;\toffset:8;\t"
				   "size:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n";
	struct tacho_session_config cfg = {
		.name = name, .clock = -1, .sub_size = SUB_SIZE,
		.lane_size = 4 * SUB_SIZE, .flags = TACHO_SESSION_OVERWRITE,
	};
	uint64_t raw[2] = { 1, 2 };
	struct tacho_diag d = { 0 };

	if (tacho_session_create(s, &dir, &cfg, &d)) {
		fprintf(stderr, "%s\n", d.text);
		abort();
	}
	(void)tacho_types_add(&s->view, text, sizeof(text) - 1);
	(void)tacho_session_rule(s, true, "sys:*", NULL, NULL);
	for (int i = 0; i < 1000; i++)
		(void)tacho_ring_write(&s->view.ring, raw, 2);
	(void)tacho_session_snapshot(s, NULL);
	for (int i = 0; i < 10; i++)
		(void)tacho_ring_write(&s->view.ring, raw, 2);
	tacho_tasks_put(s->view.ctl, 1, 1, "fuzz\0\0\0\0\0\0\0\0\0\0\0");
}

/* ---- its files, patched ---- */

enum {
	NR_FILES = 5,
	NR_NAMES = 6,
	FILE_MAX = 1 << 20,	/* of the types' text no more is used */
};

struct file {
	uint8_t *map;		/* shared with the session */
	uint8_t *first;		/* what it was before any patch */
	size_t size;
};

/* Byte 0 of a patch: the control block twice as often. */
static const char *const names[NR_NAMES] = {
	"control", "types", "buf.0.0", "buf.0.1", "commands", "control",
};

/* A file that a session does not have stays empty. */
static void open_files(struct file f[NR_FILES], const char *path)
{
	for (int i = 0; i < NR_FILES; i++) {
		char name[TACHO_PATH_MAX + 32];
		struct stat st;
		int fd;

		f[i] = (struct file){ .size = 0 };
		(void)snprintf(name, sizeof(name), "%s/%s", path, names[i]);
		fd = open(name, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (fstat(fd, &st))
			abort();
		f[i].size = st.st_size < FILE_MAX ? (size_t)st.st_size : FILE_MAX;
		f[i].map = f[i].size ? mmap(NULL, f[i].size, PROT_READ | PROT_WRITE, MAP_SHARED,
					    fd, 0) : MAP_FAILED;
		if (f[i].map == MAP_FAILED)
			f[i].size = 0;
		close(fd);
	}
}

static void close_files(struct file f[NR_FILES])
{
	for (int i = 0; i < NR_FILES; i++) {
		if (f[i].size)
			(void)munmap(f[i].map, f[i].size);
		free(f[i].first);
	}
}

static void patch(const struct file f[NR_FILES], const uint8_t *data, size_t size)
{
	while (size > 5) {
		const struct file *to = &f[data[0] % NR_NAMES % NR_FILES];
		size_t off = (size_t)data[1] << 16 | (size_t)data[2] << 8 | data[3];
		size_t len = data[4] % 64;

		if (len > size - 5)
			len = size - 5;
		for (size_t i = 0; to->size && i < len; i++)
			to->map[(off + i) % to->size] = data[5 + i];
		data += 5 + len;
		size -= 5 + len;
	}
}

/* Only pages that differ are written: few do. */
static void restore(const struct file f[NR_FILES])
{
	for (int i = 0; i < NR_FILES; i++)
		for (size_t at = 0; at < f[i].size; at += 4096) {
			size_t n = f[i].size - at < 4096 ? f[i].size - at : 4096;

			if (memcmp(f[i].map + at, f[i].first + at, n))
				memcpy(f[i].map + at, f[i].first + at, n);
		}
}

static void read_buffer(struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_ring_reader rd;
	struct tacho_chunk c;

	if (tacho_ring_reader_init(&rd, r, lane, id, lane & 1,
				   id ? TACHO_READ_OLDEST : 0))
		return;
	/* more chunks than there are sub-buffers would be a loop */
	for (int i = 0; tacho_ring_read(&rd, &c) == 1; i++)
		if (i > 4 * (int)TACHO_SUBS_MAX)
			abort();
	tacho_ring_reader_release(&rd);
	(void)tacho_ring_written(r, lane, id);
}

static void read_all(const char *path)
{
	struct tacho_view v;
	struct tacho_task t;
	uint64_t raw[2] = { 1, 2 };
	const char *text;
	uint32_t len;

	if (tacho_view_map(&v, path, true))
		return;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&v.ring); lane++)
		for (uint32_t id = 0; id < 3; id++)
			read_buffer(&v.ring, lane, id);
	for (uint32_t id = 1; id < 20; id++) {
		text = tacho_types_text(&v, id, &len);
		if (text && len) {
			struct tacho_arena a;

			tacho_arena_init(&a, 1 << 22);
			(void)tacho_type_parse(&a, "s", "e", id, text, len, NULL);
			tacho_arena_release(&a);
		}
	}
	for (uint32_t i = 0; i < TACHO_TASKS_MAX; i += 97)
		(void)tacho_tasks_get(v.ctl, i, &t);
	(void)tacho_view_decide(&v, "sys:ev", 1);
	(void)tacho_types_add(&v, "a:b\n", 4);
	for (int i = 0; i < 3; i++)
		(void)tacho_ring_write(&v.ring, raw, 2);
	tacho_view_unmap(&v);
}

static void destroyed(const uint8_t *data, size_t size)
{
	struct file f[NR_FILES];
	struct tacho_session s;
	char path[TACHO_PATH_MAX];

	make(&s, "own");
	(void)snprintf(path, sizeof(path), "%s", s.path);
	open_files(f, path);
	patch(f, data, size);
	read_all(path);
	close_files(f);
	(void)tacho_session_destroy(&s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tacho_session session;
	static struct file files[NR_FILES];

	setup();
	if (!files[0].size) {
		make(&session, "fuzz");
		open_files(files, session.path);
		for (int i = 0; i < NR_FILES; i++) {
			files[i].first = malloc(files[i].size + 1);
			if (!files[i].first)
				abort();
			if (files[i].size)
				memcpy(files[i].first, files[i].map, files[i].size);
		}
	}
	if (fuzz_chosen(data, size)) {
		destroyed(data, size);
		return 0;
	}
	patch(files, data, size);
	read_all(session.path);
	restore(files);
	return 0;
}
