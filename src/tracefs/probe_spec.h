/* SPDX-License-Identifier: MIT */
/*
 * probe_spec.h - the text of the kernel's dynamic events.
 *
 * One line is one probe (the kernel's Documentation/trace: uprobetracer,
 * kprobetrace, fprobetrace, eprobetrace):
 *
 *	p[:[GROUP/]EVENT] PATH:OFFSET[%return][(COUNTER)] [ARG...]	program
 *	r[:[GROUP/]EVENT] PATH:OFFSET [ARG...]		and where it returns
 *	p[:[GROUP/]EVENT] [MODULE:]SYMBOL[+OFFSET][%return]|ADDRESS [ARG...]
 *	r[MAX][:[GROUP/]EVENT] [MODULE:]SYMBOL [ARG...]	kernel
 *	f[MAX][:[GROUP/]EVENT] SYMBOL[%return] [ARG...]	its functions, by ftrace
 *	t[:[GROUP/]EVENT] TRACEPOINT [ARG...]		its tracepoints
 *	e[:[GROUP/]EVENT] GROUP.EVENT [ARG...] [if FILTER]	its events
 *	-:[GROUP/]EVENT					takes one away
 *
 *	ARG	[NAME=]FETCH[:TYPE]
 *	FETCH	%REGISTER  $stack  $stackN  $retval  $argN  $comm  $FIELD
 *		@ADDRESS  @+OFFSET  @SYMBOL[+-OFFSET]  \IMMEDIATE  \"STRING"
 *		+|-[u]OFFSET(FETCH)	NAME[->MEMBER|.MEMBER...]
 *	TYPE	u8..u64 s8..s64 x8..x64 char string ustring symbol symstr
 *		bWIDTH@BIT/SIZE, any of them with [COUNT]; %pd %pD
 *
 * The kernel reports an error only as EINVAL, sometimes with a line in error_log.  This parser
 * finds errors before the kernel is called, so that a user sees the error and its place without
 * being root.  Its messages are the kernel's, where the kernel has them.  The kernel checks what
 * depends on its version (known types, names of arguments) or on the machine (existing symbols).
 *
 * No global state; one thread uses an arena at a time.
 */
#ifndef TACHO_TRACEFS_PROBE_SPEC_H
#define TACHO_TRACEFS_PROBE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

/* The kernel's limits. */
#define TACHO_PROBE_ARGS_MAX	128
#define TACHO_PROBE_FETCH_MAX	63	/* bytes of FETCH[:TYPE] */
#define TACHO_PROBE_NAME_MAX	63	/* bytes of a group's or event's name */
#define TACHO_PROBE_ARG_NAME_MAX 32
#define TACHO_PROBE_TEXT_MAX	4094	/* bytes of a line */

/* In tacho_diag.offset: the error has no place in the text. */
#define TACHO_PROBE_NO_COLUMN	UINT64_MAX

enum tacho_probe_place {
	TACHO_PROBE_FILE,	/* target: path, offset in it */
	TACHO_PROBE_SYMBOL,	/* target: symbol, offset from it */
	TACHO_PROBE_ADDRESS,	/* offset: the address */
	TACHO_PROBE_TRACEPOINT,	/* target: its name */
	TACHO_PROBE_EVENT,	/* target_group, target */
	TACHO_PROBE_NOWHERE,	/* of a removal */
};

struct tacho_probe_arg {
	const char *name;	/* NULL: the kernel chooses one */
	const char *fetch;
	const char *type;	/* NULL: the kernel's default */
};

struct tacho_probe_spec {
	char kind;		/* p r f t e - */
	bool on_return;		/* r, or %return */
	uint32_t max_active;	/* 0: not given */
	const char *group;	/* NULL: the kernel's default */
	const char *event;	/* NULL: the kernel chooses one */
	enum tacho_probe_place place;
	const char *module;	/* NULL: none */
	const char *target_group;
	const char *target;
	int64_t offset;
	uint64_t counter;	/* file offset of a reference counter; 0: none */
	const char *filter;	/* NULL: none */
	struct tacho_probe_arg *arg;
	size_t nr_args;
};

/*
 * tacho_probe_parse - read one line.
 *
 * Memory comes from the arena.  Returns 0, or with d filled in, its offset being the wrong byte
 * of the text:
 *	-EINVAL		the text; d has the kernel's message, if it has one
 *	-E2BIG		longer than the kernel accepts
 *	-ENOMEM
 */
int tacho_probe_parse(struct tacho_arena *arena, const char *text,
		      struct tacho_probe_spec *spec, struct tacho_diag *d);

/*
 * tacho_probe_check_arg - the same for one ARG of a probe of this kind and place.
 */
int tacho_probe_check_arg(const struct tacho_probe_spec *of, const char *arg,
			  struct tacho_diag *d);

/* Appends the line of a probe, as the kernel shows it. */
void tacho_probe_write(const struct tacho_probe_spec *spec,
		       struct tacho_buf *out);

/* Whether a word can be a group's or an event's name. */
bool tacho_probe_good_name(const char *name);

/*
 * Appends two lines for display: the text, and a caret below the byte of the error; nothing if
 * the error has no place.
 */
void tacho_probe_caret(const char *text, const struct tacho_diag *d,
		       struct tacho_buf *out);

#endif
