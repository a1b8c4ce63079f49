/* SPDX-License-Identifier: MIT */
/*
 * file.h - one file of an LTT trace: its bytes and its START record.
 */
#ifndef TACHO_FMT_LTT_FILE_H
#define TACHO_FMT_LTT_FILE_H

#include "base/diag.h"
#include "fmt/ltt/layout.h"

struct tacho_ltt_file {
	const char *path;	/* for messages; owned */
	int fd;			/* -1: in memory */
	const unsigned char *data;
	uint64_t size;

	enum tacho_ltt_layout layout;
	bool swap;		/* of the other byte order */
	bool s390;		/* TRAP_ENTRY is that of S/390 */
	bool use_tsc, flight;
	bool made;		/* of events that were none of LTT's; see custom.h */
	bool log_cpu;		/* 2.2: records begin with their CPU */
	uint32_t buffer_size;
	uint32_t arch, variant, system, major, minor;
	uint32_t cpu;		/* UINT32_MAX: not said */
	uint64_t event_mask, details_mask;
};

/*
 * Opens the file at path, or the len bytes at data (which outlive it) under the name
 * path.  0, or -errno with d filled in: -EINVAL when it is no LTT trace or its
 * beginning makes no sense, -ENOTSUP for another version; errors of the file system.
 */
int tacho_ltt_file_open(struct tacho_ltt_file *f, const char *path,
			const void *data, size_t len, struct tacho_diag *d);
void tacho_ltt_file_release(struct tacho_ltt_file *f);

/* Sets the layout of a file of version 2.3, which opening does not.  0 or -errno. */
int tacho_ltt_file_layout(struct tacho_ltt_file *f, enum tacho_ltt_layout layout);

/* Reads n bytes that the file has.  0 or -errno. */
int tacho_ltt_file_read(const struct tacho_ltt_file *f, uint64_t at, void *to,
			size_t n);

/* Whether the magic number of LTT stands where one of its versions has it. */
bool tacho_ltt_magic(const void *data, size_t len);

/* Numbers of the file, in its byte order. */
uint16_t tacho_ltt_u16(const struct tacho_ltt_file *f, const void *p);
uint32_t tacho_ltt_u32(const struct tacho_ltt_file *f, const void *p);

/* A mask: in 2.2 bytes in order on every machine, in 2.3 a number. */
uint64_t tacho_ltt_mask(const struct tacho_ltt_file *f, const void *p);

#endif
