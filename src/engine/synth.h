/* SPDX-License-Identifier: MIT */
/*
 * synth.h - synthetic events: defined by text, generated from values.
 *
 *	wakeup_latency u64 lat; pid_t pid; char comm[16]; char filename[]
 *
 * as in Documentation/trace/histogram.rst section 2.2 and the kernel's
 * synthetic_events file: name, then "type field" pairs separated by ';'.  Types:
 * s8 u8 s16 u16 s32 u32 s64 u64, char, int, unsigned int, long, unsigned long,
 * bool, pid_t, gfp_t, char[N] and char[] (a dynamic string), long[] (a stack
 * trace), as in the kernel's synth_field_size().
 *
 * A synthetic event is an event like others: its type has the common fields, its
 * own fields in the order of the text (the kernel gives each scalar 8 bytes in
 * the record and so does this), and a print format.  Its system is "synthetic".
 */
#ifndef TACHO_ENGINE_SYNTH_H
#define TACHO_ENGINE_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/errlog.h"
#include "event/type.h"

#define TACHO_SYNTH_FIELDS_MAX	64
#define TACHO_SYNTH_STRING_MAX	256	/* room of a string without a given length */
/* Bytes of the largest raw event: every field a dynamic string. */
#define TACHO_SYNTH_RAW_MAX	\
	(8 + TACHO_SYNTH_FIELDS_MAX * (8 + TACHO_SYNTH_STRING_MAX))

struct tacho_synth_field {
	const char *type;	/* "char[16]", "pid_t" */
	const char *name;
	uint32_t size;		/* bytes of a value; of a static string: its room */
	uint32_t offset;	/* in the raw event */
	bool is_signed;
	bool is_string;
	bool is_dynamic;	/* char name[] */
	bool is_stack;		/* long name[]: a stack trace */
};

struct tacho_synth {
	const char *name;
	uint32_t nr_fields;
	uint32_t fixed_size;	/* of the raw event, dynamic strings not included */
	struct tacho_synth_field field[TACHO_SYNTH_FIELDS_MAX];
	const struct tacho_type *type;	/* "synthetic":name; id 0 until the owner gives one */
};

/* A value for a field: a number, or text of len bytes, or a stack of len / 8 words. */
struct tacho_synth_value {
	uint64_t number;
	const void *data;	/* NULL: number */
	uint32_t len;
};

/*
 * Finds the name at the start of a definition or of a removal "!name"; borrowed from text.
 * False: the text is a definition without a field ("Command must be of the form ...").
 */
bool tacho_synth_name(const char *text, const char **name, size_t *len);

/*
 * tacho_synth_parse - parse a definition.
 *
 * text as written to synthetic_events.  The caller handles removals ("!name") itself.  Returns
 * NULL with e filled in; all memory is from the arena.  In an arena of fixed memory
 * (tacho_arena_init_mem()), which may be used in signal handlers, the type has no print format.
 */
struct tacho_synth *tacho_synth_parse(struct tacho_arena *a, const char *text,
				      struct tacho_cmd_error *e);

/* Appends the definition as the kernel's synthetic_events file shows it, no newline. */
void tacho_synth_print(const struct tacho_synth *synth, struct tacho_buf *out);

/*
 * tacho_synth_raw - make a raw event.
 *
 * value has nr_fields entries.  Common fields other than common_pid are 0. raw has room for size
 * bytes, 8-aligned.  Numbers are cut to their field's size; text is cut to its field's room and
 * ends with NUL; NULL text is "(null)".
 *
 * Context: any thread, any signal handler.  Returns the event's length, or 0 when
 * size is too small.
 */
uint32_t tacho_synth_raw(const struct tacho_synth *synth, int32_t pid,
			 const struct tacho_synth_value *value,
			 unsigned char *raw, uint32_t size);

/* The field called name, or -1. */
int tacho_synth_find(const struct tacho_synth *synth, const char *name);

#endif
