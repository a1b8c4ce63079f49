/* SPDX-License-Identifier: MIT */
/*
 * check.h - tacho check: is a trace what docs/trace-format.md says.
 *
 * The reader of src/fmt/ctf gets as much out of a damaged trace as it can, and
 * so passes over what is wrong.  The checker reads the same bytes by itself and
 * believes nothing.  What it finds is either
 *	a problem	the trace is not what it should be; or
 *	a remark	the trace is good, but its reader should know.
 * Each is a sentence with the file and the byte it is about.
 */
#ifndef TACHO_CLI_CHECK_H
#define TACHO_CLI_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "fmt/ctf/canon.h"
#include "tacho/abi/record.h"

#define CHECK_IDS	65536u

/* Everything found, in words. */
struct check_log {
	bool as_json;
	struct tacho_buf text;		/* lines, or JSON objects */
	struct tacho_json json;
	uint64_t problems, remarks;
	uint64_t in_file;		/* problems of the present file */
};

/* What is known of one trace directory while its files are walked. */
struct check_trace {
	struct check_log *log;
	const char *dir;
	int dirfd;
	uint8_t uuid[16];
	bool have_uuid;
	struct tacho_arena arena;
	/* by id: its class; of a stand-in that of its base */
	const struct tacho_canon **canon[2];
	bool *standin[2];
	bool *known[2];
	bool *described[2];	/* in metadata, if that could be scanned */
	bool scanned;
	uint64_t packets, events, lost;
	uint32_t files;
	bool failed;	/* check_failed() has said why */
};

#define CHECK_NO_BYTE	UINT64_MAX

/*
 * A problem at a byte of dir/file (CHECK_NO_BYTE: of the file as a whole).  Of
 * one file a hundred are written down, the rest are counted.
 */
void check_problem(struct check_trace *t, const char *file, uint64_t byte,
		   const char *fmt, ...) TACHO_PRINTF(4, 5);
void check_remark(struct check_trace *t, const char *file, uint64_t byte,
		  const char *fmt, ...) TACHO_PRINTF(4, 5);

/*
 * For a file that could not be read: true when that is for want of memory or
 * descriptors here, and then says so; the check has failed then, and nothing is known
 * of the file.  False: it is the file's problem.  err is a negative errno.
 */
bool check_failed(struct check_trace *t, const char *file, int err);

/* check_meta.c: metadata, as far as other readers cannot do without it. */
void check_metadata(struct check_trace *t);

/* After the types: each of them is described in metadata. */
void check_described(struct check_trace *t);

/*
 * Walks the packets of one file of records.  stream_id and instance are what its
 * name says.  CLI_OK also when it is damaged; CLI_FAILED with a message when it
 * cannot be read.
 */
int check_file(struct check_trace *t, const char *file, uint32_t stream_id,
	       uint64_t instance);

#endif
