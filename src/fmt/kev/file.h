/* SPDX-License-Identifier: MIT */
/*
 * file.h - a .kev file: its bytes and its header.
 *
 * The file is untrusted.  Recoverable errors of the header are stored as *problems* and reported
 * when the file is read.
 */
#ifndef TACHO_FMT_KEV_FILE_H
#define TACHO_FMT_KEV_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "fmt/kev/rows.h"

/* Maximum length of a header. */
#define TACHO_KEV_HEAD_MAX	((size_t)16 << 20)
#define TACHO_KEV_ATTRS_MAX	4096u
#define TACHO_KEV_PROBLEMS	8u

/* An attribute: places in the header's text. */
struct tacho_kev_attr {
	uint32_t key, key_len;
	uint32_t value, value_len;
};

struct tacho_kev_problem {
	uint64_t offset;
	const char *text;	/* static */
};

struct tacho_kev_file {
	char *path;		/* for messages */
	int fd;			/* -1: memory */
	const unsigned char *memory;
	uint64_t size;

	struct tacho_buf head;	/* the attributes as they stand in the file */
	struct tacho_kev_attr *attr;
	uint32_t nr_attrs;
	bool bare;		/* there is no header */
	bool big;		/* big-endian */
	bool swap;		/* of the other byte order than this machine */
	uint64_t freq;		/* cycles per second, not 0 */
	enum tacho_kev_release release;
	uint64_t syspage, syspage_len;
	uint64_t slots;		/* offset of the first slot */
	struct tacho_kev_problem problem[TACHO_KEV_PROBLEMS];
	uint32_t nr_problems;
};

/*
 * Opens path, or takes len bytes at memory (path is then for messages), and reads
 * the header.  0, or a negative errno with d filled in; the file is to be closed
 * either way.
 */
int tacho_kev_file_open(struct tacho_kev_file *f, const char *path,
			const void *memory, size_t len, struct tacho_diag *d);
void tacho_kev_file_close(struct tacho_kev_file *f);

/*
 * At most n bytes from offset `at`: how many, 0 at the end of the file, or
 * -errno.
 */
long tacho_kev_file_read(const struct tacho_kev_file *f, uint64_t at, void *to,
			 size_t n);

/* An attribute's value by its key, without the prefix; NULL: there is none. */
const char *tacho_kev_attr(const struct tacho_kev_file *f, const char *key,
			   uint32_t *len);

/* The same as a decimal number; false: there is none, or no number. */
bool tacho_kev_attr_number(const struct tacho_kev_file *f, const char *key,
			   uint64_t *value);

/* Whether n slots at p can be such; swap: they are of the other byte order. */
bool tacho_kev_plausible(const unsigned char *p, size_t n, bool swap);

/* Whether the first n bytes of a file are a .kev's: its header's beginning, or slots. */
bool tacho_kev_begins(const unsigned char *p, size_t n);

#endif
