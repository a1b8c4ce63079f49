/* SPDX-License-Identifier: MIT */
/*
 * file.h - the bytes of a trace.dat: places, byte order and compression.
 *
 * The file is untrusted: every read is limited by the file's size when it was opened, and by the
 * current block.
 */
#ifndef TACHO_FMT_TRACEDAT_FILE_H
#define TACHO_FMT_TRACEDAT_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "fmt/tracedat/compress.h"

struct tacho_dat_file {
	char *path;		/* for messages */
	int fd;			/* -1: memory */
	const unsigned char *memory;
	uint64_t size;
	uint32_t version;	/* 6 or 7 */
	bool big;		/* big-endian */
	bool swap;		/* of the other byte order than this machine */
	uint32_t page_size;
	uint64_t body;		/* offset after the beginning */
	uint64_t options;	/* version 7: offset of the first options section */
	struct tacho_dat_codec *codec;	/* version 7; NULL: nothing is compressed */
};

/* Maximum size of a decompressed metadata block. */
#define TACHO_DAT_BLOCK_MAX	((size_t)32 << 20)

/*
 * Opens path, or takes len bytes at memory (path is then for messages), and reads
 * the beginning.  0, or a negative errno with d filled in; the file is
 * to be closed either way.
 */
int tacho_dat_file_open(struct tacho_dat_file *f, const char *path,
			const void *memory, size_t len, struct tacho_diag *d);
void tacho_dat_file_close(struct tacho_dat_file *f);

/* Whether pages can have this size: a power of two, neither tiny nor huge. */
bool tacho_dat_page_size_good(uint32_t size);

/* n bytes from offset `at`.  0, -ENODATA when the file ends before, -errno. */
int tacho_dat_file_read(const struct tacho_dat_file *f, uint64_t at, void *to,
			size_t n);

/* The file's integers, from memory. */
uint16_t tacho_dat_u16(const struct tacho_dat_file *f, const void *p);
uint32_t tacho_dat_u32(const struct tacho_dat_file *f, const void *p);
uint64_t tacho_dat_u64(const struct tacho_dat_file *f, const void *p);

/*
 * Reading on and on through a block.  Errors stick as in base/cursor.h: `why`
 * says what, `pos` where.
 */
struct tacho_dat_in {
	const struct tacho_dat_file *file;
	const unsigned char *bytes;	/* decompressed bytes [0, end); NULL: the file's */
	uint64_t pos, end;
	const char *why;		/* static text; NULL: no error */
	bool no_memory;			/* ... and that is why */
	uint64_t window_at;
	uint32_t window_len;
	unsigned char window[8192];
};

/* What an error is worth: damage, unless there was no memory. */
static inline int tacho_dat_in_err(const struct tacho_dat_in *in)
{
	return in->no_memory ? -ENOMEM : -EINVAL;
}

/* Begins at an offset of the file and goes to its end at most. */
void tacho_dat_in_init(struct tacho_dat_in *in, const struct tacho_dat_file *f,
		       uint64_t at);

/*
 * Begins a section of version 7 whose header is at `at`.  A compressed one is
 * decompressed into hold, which must be kept as long as `in` is used.  0 or
 * a negative errno with d filled in.
 */
int tacho_dat_in_section(struct tacho_dat_in *in,
			 const struct tacho_dat_file *f, uint64_t at,
			 uint32_t id, struct tacho_buf *hold,
			 struct tacho_diag *d);

/* n bytes; zeroes after an error. */
void tacho_dat_in_bytes(struct tacho_dat_in *in, void *to, size_t n);
uint16_t tacho_dat_in_u16(struct tacho_dat_in *in);
uint32_t tacho_dat_in_u32(struct tacho_dat_in *in);
uint64_t tacho_dat_in_u64(struct tacho_dat_in *in);

/* Passes n bytes over. */
void tacho_dat_in_skip(struct tacho_dat_in *in, uint64_t n);

/* Appends n bytes to out, whose cap is a limit, too. */
void tacho_dat_in_text(struct tacho_dat_in *in, struct tacho_buf *out,
		       uint64_t n);

/* A NUL-terminated string into `room` bytes; a longer one is an error. */
void tacho_dat_in_string(struct tacho_dat_in *in, char *to, size_t room);

#endif
