/* SPDX-License-Identifier: MIT */
/*
 * types.h - event types as text: the lkst_etypes file, the TYPES blocks of log files and what
 * option -E of LKST's commands reads.
 *
 *	0x100<TAB>NEW_EVENT<TAB>user added event<TAB>data1<TAB>data2<TAB><TAB>
 *
 * A line each: number, mnemonic, name, the texts of four arguments, none where an argument has
 * no meaning.  Texts have control characters and the backslash as \ooo (octal).  When reading,
 * the number may be decimal, texts at the end of the line may be missing, and empty lines and
 * those that begin with '#' are skipped.
 */
#ifndef TACHO_FMT_LKST_TYPES_H
#define TACHO_FMT_LKST_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

/* Name of this text where a trace has tables of its own (stream/source.h). */
#define LKST_ETYPES_TEXT	"lkst_etypes"

#define LKST_TYPES_NR		4096u	/* numbers 0x000..0xfff */
#define LKST_TYPES_TEXT_MAX	((size_t)8 << 20)	/* of a text that is read */

/* An event type.  No text is NULL; "" for an argument: it has no meaning. */
struct lkst_type_text {
	uint16_t etype;
	const char *mnemonic;	/* a C name */
	const char *name;
	const char *arg[4];
};

/* Types by number. */
struct lkst_types {
	struct tacho_arena arena;
	const struct lkst_type_text *of[LKST_TYPES_NR];
};

void lkst_types_init(struct lkst_types *t);
void lkst_types_release(struct lkst_types *t);

/* Enters a type in place of what was known under its number; copied.  0, -EINVAL, -ENOMEM. */
int lkst_types_set(struct lkst_types *t, const struct lkst_type_text *type);

/*
 * Enters a type of a trace (record.h) under the number that a record of it has, if that is not
 * known.  1: entered; 0: known, or an unknown one; -ENOMEM.
 */
struct tacho_type;
int lkst_types_add_type(struct lkst_types *t, const struct tacho_type *type, uint32_t etype);

/*
 * Enters what a text says.  strict: 0, or -EINVAL with a sentence about the first line that is
 * none (d->offset: its number, from 1).  Else such lines are passed over: 0.  -ENOMEM.
 */
int lkst_types_parse(struct lkst_types *t, const char *text, size_t len, bool strict,
		     struct tacho_diag *d);

/* Appends the line of a type. */
void lkst_types_put(struct tacho_buf *out, const struct lkst_type_text *type);

/* The same for all, by number. */
void lkst_types_text(const struct lkst_types *t, struct tacho_buf *out);

/* By number; NULL: not known. */
static inline const struct lkst_type_text *lkst_types_get(const struct lkst_types *t,
							   uint32_t etype)
{
	return etype < LKST_TYPES_NR ? t->of[etype] : NULL;
}

/* By mnemonic; NULL: not known. */
const struct lkst_type_text *lkst_types_find(const struct lkst_types *t,
					      const char *mnemonic);

/*
 * An unknown type: mnemonic ETYPE_0x123, no texts.  room is for the mnemonic. _is_unknown:
 * whether a mnemonic was made so.
 */
#define LKST_UNKNOWN_LEN	16
void lkst_types_unknown(struct lkst_type_text *type, uint32_t etype,
			char room[LKST_UNKNOWN_LEN]);
bool lkst_types_is_unknown(const char *mnemonic);

#endif
