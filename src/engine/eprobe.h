/* SPDX-License-Identifier: MIT */
/*
 * eprobe.h - event probes: events that consist of other events' fields.
 *
 *	e:GROUP/NAME SYSTEM.EVENT ARG... [if FILTER]
 *
 * as in Documentation/trace/eprobetrace.rst.  The text here begins with SYSTEM.EVENT.
 * tracefs/probe_spec.h has already checked its syntax; this file binds it to the fields of that
 * event.
 *
 *	ARG	[NAME=]FETCH[:TYPE]		NAME: "argN", from 1
 *	FETCH	$FIELD $comm $COMM \NUMBER \"TEXT"  +|-[u]OFFSET(one of these)
 *	TYPE	u8..u64 s8..s64 x8..x64 char symbol string ustring bWIDTH@BIT/SIZE
 *		none: x64
 *
 * What a value is
 *	$FIELD	a number as wide as the field, with its sign.  A string field has its address as
 *		value, which a record does not contain: 0.  With type string, and inside an
 *		offset, it means the string's bytes
 *	$comm	of the record's thread, unless the event has a field of that name
 *	+N(..)	bytes of a string field; of a number, the string in memory at that address
 * Only strings are fetched from other memory, because the record is read later than it was
 * written: a string that no longer exists is "(fault)".
 *
 * The record is as the kernel's: the common fields of the base event, then the arguments without
 * padding.
 */
#ifndef TACHO_ENGINE_EPROBE_H
#define TACHO_ENGINE_EPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/errlog.h"
#include "engine/rec.h"
#include "event/type.h"

#define TACHO_EPROBE_ARGS_MAX	128
#define TACHO_EPROBE_STRING_MAX	1024	/* bytes of a string, NUL included */
/* Bytes of the largest raw event; strings are cut to what is left. */
#define TACHO_EPROBE_RAW_MAX	(16u << 10)

enum tacho_eprobe_from {
	TACHO_EPROBE_FIELD, TACHO_EPROBE_COMM, TACHO_EPROBE_NUMBER, TACHO_EPROBE_TEXT,
};

struct tacho_eprobe_arg {
	const char *name;
	enum tacho_eprobe_from from;
	const struct tacho_field *field;
	const char *text;
	uint64_t number;
	bool deref, user;	/* +OFFSET(..), +uOFFSET(..) */
	int64_t offset;
	/* the type */
	bool is_string, is_signed, is_symbol;
	char letter;		/* 'u' 's' 'x', 'c': how it is printed */
	uint8_t size, width, shift;	/* bytes; of a bit field, else width is 0 */
	uint32_t at;		/* in the raw event */
};

struct tacho_eprobe {
	const char *filter;	/* NULL: none */
	uint32_t filter_column;
	uint32_t nr_args, fixed_size;
	uint32_t most;		/* bytes of the largest raw event; at most RAW_MAX */
	struct tacho_eprobe_arg *arg;
	const struct tacho_type *base;
	const struct tacho_type *type;	/* GROUP:NAME; id 0 until the owner gives one */
};

/* Finds the name of the base event in the text; false: it has none. */
bool tacho_eprobe_base(const char *text, const char **event, size_t *system_len,
		       size_t *event_len);

/*
 * tacho_eprobe_parse - an event probe on events of type base.
 *
 * base is borrowed.  Returns NULL with e filled in, in the kernel's words where it has some;
 * all memory is the arena's.  In an arena of fixed memory, which may be used in signal
 * handlers, the type has no print format.  The filter is not checked.
 */
struct tacho_eprobe *tacho_eprobe_parse(struct tacho_arena *a, const char *group,
					const char *name, const char *text,
					const struct tacho_type *base,
					struct tacho_cmd_error *e);

/* Appends "SYSTEM.EVENT NAME=FETCH[:TYPE] ..." as the kernel lists it, without the filter. */
void tacho_eprobe_print(const char *text, struct tacho_buf *out);

/*
 * tacho_eprobe_raw - make the raw event for one hit of the base event.
 *
 * raw has room for size bytes, 8-aligned.  Context: as tacho_filter_run().  Returns the
 * event's length, or 0 when not even its numbers fit.
 */
uint32_t tacho_eprobe_raw(const struct tacho_eprobe *ep, const struct tacho_rec *rec,
			  unsigned char *raw, uint32_t size);

#endif
