/* SPDX-License-Identifier: MIT */
/* check_priv.h - what the files of app/check.h share. */
#ifndef TACHO_APP_CHECK_PRIV_H
#define TACHO_APP_CHECK_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "app/check.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/diag.h"
#include "fmt/ctf/canon.h"
#include "tacho/abi/record.h"

#define CHECK_IDS	65536u

/* One check. */
struct check_log {
	const struct app_check_config *config;
	struct app_check_result *result;
	struct tacho_diag *d;		/* why it cannot be checked */
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
	bool failed;	/* log->d says why */
};

#define CHECK_NO_BYTE	APP_CHECK_NO_BYTE

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
 * descriptors here, which log->d then says; the check has failed then, and nothing is known
 * of the file.  False: it is the file's problem.  err is a negative errno.
 */
bool check_failed(struct check_trace *t, const char *file, int err);

/* check_meta.c: metadata, as far as other readers cannot do without it. */
void check_metadata(struct check_trace *t);

/* After the types: each of them is described in metadata. */
void check_described(struct check_trace *t);

/*
 * Walks the packets of one file of records.  stream_id and instance are what its
 * name says.  0 also when it is damaged; a negative errno with log->d filled in when it
 * cannot be read.
 */
int check_file(struct check_trace *t, const char *file, uint32_t stream_id,
	       uint64_t instance);

#endif
