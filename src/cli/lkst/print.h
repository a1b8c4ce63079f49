/* SPDX-License-Identifier: MIT */
/*
 * print.h - events as text or CSV, for `lkstbuf print`, `lkstbuf read` and logformat
 * (specification 4.7.3.3.2, 4.7.3.6.1).
 *
 * The selection language of -e: names, mnemonics or numbers of event types, with commas
 * between; `!name` takes away, `all` is every type; what stands further right wins.  A type
 * that is not named is shown if no type is left that was asked for: so `!a` is all but a, and
 * `a,!a` is the same.
 */
#ifndef TACHO_CLI_LKST_PRINT_H
#define TACHO_CLI_LKST_PRINT_H

#include "cli/lkst/tool.h"
#include "fmt/lkst/log.h"

struct print_options {
	const char *input;	/* -f: NULL: the buffers of LKST */
	const char *events;	/* -e; NULL: all */
	const char *etypes;	/* -E */
	int64_t cpu;		/* -c; -1: all */
	uint64_t max;		/* -n; UINT64_MAX: all */
	bool each;		/* max is of each buffer, not of what is printed */
	int32_t buffer;		/* -b; VOID: all */
	bool fixed;		/* the static buffer alone */
	bool ascending;		/* -r: the oldest first, the default being the newest */
	bool csv, seconds;	/* -C, -S */
	bool verbose;		/* -V */
};

/* Prints to stdout.  TOOL_OK, or TOOL_FAILED, TOOL_USAGE with a sentence. */
int print_events(const struct print_options *o);

/* Names that -e takes, a line each; for help. */
int print_names(const char *etypes);

/* ---- of the buffers of LKST ---- */

/*
 * The n records of a buffer of a CPU, in the order in which they are there; -1, -1: the static one.
 */
typedef int (*print_buffer_fn)(void *arg, const struct lkst_record *r, size_t n, int cpu,
			       int32_t id);

/*
 * fn for each of the buffers that o names, with its oldest o->max, until it returns not 0.
 * TOOL_OK or TOOL_FAILED.
 */
int print_each_buffer(struct tacho_lkst *l, const struct print_options *o, print_buffer_fn fn,
		      void *arg);

#endif
