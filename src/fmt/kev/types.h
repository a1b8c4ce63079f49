/* SPDX-License-Identifier: MIT */
/*
 * types.h - events of QNX as tacho's types.
 *
 * A row of the table becomes up to five types of its group's system:
 *
 *	NAME		the fast form: a simple event of two words
 *	NAME_wide	the wide form, where its arguments are others
 *	NAME_aps	thread: with what the APS scheduler adds
 *	NAME_alt	other rows: another form; NAME_alt2: one more
 *	NAME_error	kercall_exit: -1 and errno
 *
 * An event without a row, or of a length that no form has, is NAME (with a row: NAME_raw) with
 * its words in `data`.  User events are event_N (two words), event_N_text (printable text) and
 * event_N_data (bytes).  The parts of a damaged combine event are kev:unfinished and kev:orphan.
 *
 * A record's fields are the event's words in their order; a string or an array is
 * found by the word that stands where it begins.
 */
#ifndef TACHO_FMT_KEV_TYPES_H
#define TACHO_FMT_KEV_TYPES_H

#include "base/arena.h"
#include "event/type.h"
#include "fmt/kev/rows.h"

enum tacho_kev_kind {
	TACHO_KEV_PLAIN,	/* words */
	TACHO_KEV_STRING,	/* words, then text */
	TACHO_KEV_BYTES,	/* words, then bytes as they are in the file */
	TACHO_KEV_WORDS,	/* words, then an array of words */
};

/* How words become a record. */
struct tacho_kev_form {
	uint16_t id;		/* common_type; 0: there is no such form */
	uint8_t kind;		/* enum tacho_kev_kind */
	uint8_t fixed;		/* words before the array, or all */
	uint64_t wide;		/* bit n: words n and n + 1 are one number */
};

/* What is known of a code. */
struct tacho_kev_plan {
	uint32_t code;
	bool exit;		/* of a kernel call */
	bool user;
	const struct tacho_kev_row *row;	/* NULL: it has none */
	/* of a simple event whatever its words are; NULL: tacho_kev_form_of() knows */
	const struct tacho_kev_form *simple;
	/* exit: the same of a call that did not fail */
	const struct tacho_kev_form *returned;
	struct tacho_kev_form form[TACHO_KEV_NR_VARIANTS];
};

struct tacho_kev_types {
	struct tacho_kev_profile *profile;
	struct tacho_arena arena;
	struct tacho_kev_plan **plan;	/* by code */
};

/* Ids that are not of a code. */
#define TACHO_KEV_ID_ORPHAN	0x7001u
#define TACHO_KEV_ID_UNFINISHED	0x7002u

/* 0 or -ENOMEM; to be released either way. */
int tacho_kev_types_init(struct tacho_kev_types *t,
			 enum tacho_kev_release release);
void tacho_kev_types_release(struct tacho_kev_types *t);

/* The plan of a code; NULL: no memory. */
const struct tacho_kev_plan *tacho_kev_plan(struct tacho_kev_types *t,
					    uint32_t code);

/* Text: printable, and nothing after its end but zeros, up to 8 with those that fill a slot. */
bool tacho_kev_is_text(const unsigned char *p, size_t n);

/* The form of an event with so many words (an even number, 2 in a simple event). */
const struct tacho_kev_form *tacho_kev_form_of(const struct tacho_kev_plan *plan,
					       const unsigned char *data,
					       uint32_t words, bool swap);

/* A type by its id; NULL: no such type, or no memory. */
const struct tacho_type *tacho_kev_type(struct tacho_kev_types *t, uint32_t id);

/*
 * What a type of these is: its code, or -1 when it is none or its fields are others;
 * *id is its common_type here.
 */
int tacho_kev_type_code(struct tacho_kev_types *t, const struct tacho_type *type,
			uint32_t *id);

#endif
