/* SPDX-License-Identifier: MIT */
/*
 * files.h - which events a recording for LTT has, and the LTT files that are made of it.
 *
 * The events of LTT's masks are tracepoints of the kernel (fmt/ltt/map.h) and, with CUSTOM, all
 * events of programs; LTT's own are as the masks say (tracer.h).  What is recorded is a trace of
 * ours; its files are written afterwards.
 */
#ifndef TACHO_COMPAT_LTT_FILES_H
#define TACHO_COMPAT_LTT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "compat/ltt/tracer.h"

#define LTT_LIST_MAX	512u

/* Globs of events; '!' excludes. */
struct ltt_list {
	const char *item[LTT_LIST_MAX];
	uint32_t nr;
};

struct ltt_lists {
	struct tacho_arena arena;	/* of the items */
	struct ltt_list kernel, programs;
};

/*
 * ltt_lists_make - what the masks mean on this machine.
 *
 * Returns 0, or a negative errno with d filled in: -ENOMEM, or tracefs cannot be opened.  *lists is
 * for ltt_lists_release() either way.
 */
int ltt_lists_make(struct ltt_lists *lists, const struct ltt_masks *masks, struct tacho_diag *d);
void ltt_lists_release(struct ltt_lists *lists);

struct ltt_files_config {
	const char *trace;		/* the directory to make */
	const char *proc;		/* also write the names of processes there; or NULL */
	struct ltt_masks masks;
	bool us;			/* times in microseconds, else in nanoseconds */
	bool flight;
	uint32_t buffer_size;		/* bytes; 0: the default */
};

struct ltt_files_result {
	uint64_t mapped;		/* events of the kernel that are LTT's */
	uint64_t own;			/* by LTT's calls */
	uint64_t embedded;		/* others, embedded as custom events */
	uint64_t lost;
};

/*
 * ltt_files_write - make the LTT trace of the recording `from`.
 *
 * Returns 0 and *result, or a negative errno with d filled in; then no files are left that look
 * whole.
 */
int ltt_files_write(const char *from, const struct ltt_files_config *config,
		    struct ltt_files_result *result, struct tacho_diag *d);

#endif
