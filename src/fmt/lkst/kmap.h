/* SPDX-License-Identifier: MIT */
/*
 * kmap.h - LKST's kernel event types over Linux's tracepoints.
 *
 * The only table of the tracepoint of each event type and the fields for its four arguments.  The
 * pump and `convert` use it to convert kernel events to LKST's.
 *
 * An argument is written as
 *
 *	argument = part | part ':' part		the high and the low 32 bits
 *	part	 = ['?'] ['#'] names ['[' digit ']']
 *	names	 = name { '/' name }		the first that the kernel has
 *
 *	?	0 in kernels that do not have the field
 *	#	the length of a text, not its characters
 *	[n]	an element of an array
 *
 * and its value is, of
 *
 *	a number	the number, a signed one as 64 bits
 *	text		the first 8 characters, the last of them in the lowest byte; `lo` is 0x6c6f
 *	bytes		up to 8, as a number in network order: an IPv4 address
 *
 * kmap.c is independent of field types; kplan.c compiles plans.
 */
#ifndef TACHO_FMT_LKST_KMAP_H
#define TACHO_FMT_LKST_KMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define LKST_KMAP_POINT_LEN	80	/* "system:event", NUL included */

struct lkst_kmap {
	uint16_t etype;
	bool by_default;	/* in the maskset RDEFAULT */
	const char *points;	/* "system:event", or several: the first that the kernel has */
	const char *arg[4];	/* NULL: not used */
};

/* The entry of an event type; NULL: it comes from no tracepoint. */
const struct lkst_kmap *lkst_kmap_at(uint32_t etype);

/* The entry of a tracepoint, or NULL. */
const struct lkst_kmap *lkst_kmap_find(const char *system, const char *event);

/*
 * The tracepoints of an entry, one by one: copies one to `point`.  from: NULL at first, then
 * what was returned; NULL: there is no more.
 */
const char *lkst_kmap_point(const struct lkst_kmap *m, char point[LKST_KMAP_POINT_LEN],
			    const char *from);

/* What <linux/lkst_etypes.h> says of an event type. */
struct lkst_etype_text {
	uint32_t etype;
	const char *mnemonic, *name;
	const char *arg[4];	/* "": not used */
};

/* Of the kernel's event types and LKST's own; NULL: there is no such type. */
const struct lkst_etype_text *lkst_etype_text(uint32_t etype);

/* ---- plans ---- */

struct tacho_type;

enum lkst_kpart_kind {
	LKST_KPART_ZERO,	/* no such field */
	LKST_KPART_UNSIGNED,
	LKST_KPART_SIGNED,
	LKST_KPART_BYTES,
	LKST_KPART_TEXT,	/* char[] */
	LKST_KPART_LOC_TEXT,	/* __data_loc char[] */
	LKST_KPART_LOC_LEN,
};

struct lkst_kpart {
	uint16_t offset;
	uint8_t size;
	uint8_t kind;		/* enum lkst_kpart_kind */
};

/* The plan for the arguments of raw events of one tracepoint of one kernel. */
struct lkst_kplan {
	const struct lkst_kmap *map;	/* NULL: there is no plan */
	uint32_t fixed;			/* bytes that a raw event has at least */
	struct lkst_kpart low[4], high[4];
	uint8_t halves;			/* bit i: argument i is of two */
};

/*
 * lkst_kplan_make - a plan for raw events of `type`.
 *
 * Returns 0, or with a sentence: -ENOENT (the type lacks a field), -EINVAL (a field is neither
 * number nor text, or lies beyond 64 KiB).
 */
int lkst_kplan_make(struct lkst_kplan *plan, const struct lkst_kmap *map,
		    const struct tacho_type *type, struct tacho_diag *d);

/*
 * The arguments of a raw event of len bytes.  Nothing outside of it is read; false, and
 * nothing done: it is too short.
 */
bool lkst_kplan_args(const struct lkst_kplan *plan, const unsigned char *raw, uint32_t len,
		     uint64_t arg[4]);

#endif
