/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the rows of events.table, and which of them a release has.
 *
 * A *code* is class and event of a header word: 15 bits.
 *
 * Only the length of an event, in whole slots, tells which arguments of its row it has.  Lists of
 * equal length are distinguished by their unused words (`empty`, `pad`, the last one of an odd
 * number), which are 0.  The rules are
 *
 *  V1	through the lists: that of the fast form for a simple event; then that of the wide
 *	one, the others, and that of the fast form for what is no simple event;
 *  V2	to the first of them that has the length and 0 in all that it leaves empty;
 *  V3	else to the first that has the length;
 *  V4	else there is none: the words stand for themselves.
 */
#ifndef TACHO_FMT_KEV_ROWS_H
#define TACHO_FMT_KEV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmt/kev/layout.h"

enum tacho_kev_release {
	TACHO_KEV_640,
	TACHO_KEV_650,
	TACHO_KEV_660,
	TACHO_KEV_710,		/* 7.0, too; what is taken when nothing is known */
	TACHO_KEV_800,
};

/* What a row is an event of; the names are those of tacho's systems. */
enum tacho_kev_group {
	TACHO_KEV_ROW_CONTROL,
	TACHO_KEV_ROW_KERCALL_ENTER,
	TACHO_KEV_ROW_KERCALL_EXIT,
	TACHO_KEV_ROW_KERCALL_INT,
	TACHO_KEV_ROW_INT,
	TACHO_KEV_ROW_PROCESS,
	TACHO_KEV_ROW_THREAD,
	TACHO_KEV_ROW_VTHREAD,
	TACHO_KEV_ROW_SYSTEM,
	TACHO_KEV_ROW_USER,
	TACHO_KEV_ROW_COMM,
	TACHO_KEV_ROW_QUIP,
	TACHO_KEV_ROW_SEC,
	TACHO_KEV_ROW_QVM,
	TACHO_KEV_ROW_PMU,
	TACHO_KEV_ROW_EMPTY,
	TACHO_KEV_ROW_UNKNOWN,
	TACHO_KEV_NR_GROUPS,
};

struct tacho_kev_field {
	const char *name;
	const char *label;	/* of traceprinter; the name, if it has no other */
	char code;		/* see events.table */
	bool filler;		/* no argument: 0 */
};

/* Words of a field that has a size. */
static inline uint32_t tacho_kev_words(char code)
{
	return code == 'E' || code == 'X' || code == 'Q' ? 2 : 1;
}

/* A list of arguments. */
struct tacho_kev_list {
	uint16_t first;		/* in tacho_kev_fields */
	uint8_t nr;		/* 0: there is no such form */
	uint8_t words;		/* of the fields that have a size */
	bool open;		/* the last one goes to the end */
};

enum tacho_kev_variant {
	TACHO_KEV_FAST,		/* also: user event of two words */
	TACHO_KEV_WIDE,		/* also: user event of bytes */
	TACHO_KEV_ALT,		/* also: user event of text */
	TACHO_KEV_ALT2,
	TACHO_KEV_NR_LISTS,	/* those before are lists of a row */
	TACHO_KEV_ERROR = TACHO_KEV_NR_LISTS,
	TACHO_KEV_RAW,
	TACHO_KEV_NR_VARIANTS,
};

struct tacho_kev_row {
	uint16_t nr;		/* in the table */
	uint8_t group;		/* enum tacho_kev_group */
	bool is64;
	uint8_t releases;	/* a bit for each */
	int16_t number;		/* -1: by the name */
	const char *name;
	const char *label;	/* of traceprinter; NULL: the name */
	struct tacho_kev_list list[TACHO_KEV_NR_LISTS];
	const char *print;	/* of the fast form, or NULL */
};

extern const struct tacho_kev_field tacho_kev_fields[];
extern const struct tacho_kev_row tacho_kev_rows[];
extern const uint32_t tacho_kev_nr_rows;

/* A release's numbers: which row a code has. */
struct tacho_kev_profile {
	enum tacho_kev_release release;
	uint16_t row[TACHO_KEV_CODES];	/* index + 1 in tacho_kev_rows; 0: none */
};

void tacho_kev_profile_init(struct tacho_kev_profile *p,
			    enum tacho_kev_release release);

/* "6.4.1" and the like; n bytes.  false: no such release is known. */
bool tacho_kev_release_of(const char *text, uint32_t n,
			  enum tacho_kev_release *release);

/* "6.4", "7.1", ... */
const char *tacho_kev_release_text(enum tacho_kev_release release);

/* The row of a code, or NULL. */
static inline const struct tacho_kev_row *
tacho_kev_row_of(const struct tacho_kev_profile *p, uint32_t code)
{
	uint32_t row = p->row[code];

	return row ? &tacho_kev_rows[row - 1] : NULL;
}

/*
 * Which of its lists an event of so many words (2 or more, even) has; RAW: none.  With
 * no data: for two words whatever they are; RAW: that depends on them.
 */
enum tacho_kev_variant tacho_kev_variant_of(const struct tacho_kev_row *row,
					    const void *data, uint32_t words);

/* The group of a code, and its name as tacho's system. */
enum tacho_kev_group tacho_kev_group_of(const struct tacho_kev_profile *p,
					uint32_t code);
const char *tacho_kev_group_name(enum tacho_kev_group group);

/*
 * The name of a code's event, as "msg_sendv": n bytes at text are enough for any
 * with TACHO_KEV_NAME_MAX.
 */
#define TACHO_KEV_NAME_MAX	48u
void tacho_kev_name(const struct tacho_kev_profile *p, uint32_t code,
		    char text[TACHO_KEV_NAME_MAX]);

/* The code of a group's event by its name; -1: the release has none. */
int tacho_kev_code(const struct tacho_kev_profile *p, enum tacho_kev_group group,
		   const char *name);

/* The kernel call by its number, lower case, or NULL; and the other way round, or -1. */
const char *tacho_kev_call_name(enum tacho_kev_release release, uint32_t number);
int tacho_kev_call_number(enum tacho_kev_release release, const char *name);

/*
 * Class and event as TraceEvent() and the parser's callbacks know them (<sys/trace.h>).
 * false: the code has none (an event of class PR_TH that is no state).
 */
struct tacho_kev_external {
	uint32_t class_, event;
};

bool tacho_kev_external(const struct tacho_kev_profile *p, uint32_t code,
			struct tacho_kev_external *e);

#endif
