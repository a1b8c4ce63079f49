/* SPDX-License-Identifier: MIT */
/*
 * layout.h - which columns the selected event types have, and what each is of.
 *
 *	columns_layout_init();  columns_layout_add_type() for each type;  columns_layout_end()
 *
 * Afterwards a layout does not change: several threads may make plans and tables of it.
 * <tacho/columns.h> has the rules for names and Arrow types.
 */
#ifndef TACHO_COLUMNS_LAYOUT_H
#define TACHO_COLUMNS_LAYOUT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/hashmap.h"
#include "columns/table.h"
#include "stream/stream.h"

/* What a column is of. */
enum columns_of {
	COLUMNS_OF_TIMESTAMP, COLUMNS_OF_CPU, COLUMNS_OF_PID, COLUMNS_OF_COMM, COLUMNS_OF_EVENT,
	COLUMNS_OF_SYSTEM, COLUMNS_OF_SOURCE, COLUMNS_OF_TGID, COLUMNS_OF_TICKS, COLUMNS_OF_LOST,
	COLUMNS_OF_FIELD,	/* of a field */
	COLUMNS_OF_NAMES,	/* names of a field's values */
};

struct columns_source {
	struct columns_spec spec;
	enum columns_of of;
	const char *field;		/* its name; FIELD and NAMES only */
	const struct tacho_type *only;	/* of this type's field; NULL: of all that fit */
	const struct tacho_type *first;	/* the type that had it first */
	struct columns_source *next;	/* same hash of the field's name */
	bool extra;			/* there only if it is named */
	uint32_t column;		/* its place in the table; UINT32_MAX: none */
};

struct columns_layout {
	struct tacho_arena arena;
	uint32_t flags;			/* enum tacho_columns_flag */
	struct columns_source **source;	/* all, in order */
	uint32_t nr, room;
	struct tacho_hashmap fields;	/* by the field's name */
	struct tacho_hashmap names;	/* the columns' names, once columns_layout_end() began */
	struct columns_source **column;	/* those of the table */
	uint32_t nr_columns;
};

/* Makes a layout of the columns that all events have.  0 or -ENOMEM. */
int columns_layout_init(struct columns_layout *l, uint32_t flags);
void columns_layout_release(struct columns_layout *l);

/* Adds the fields of a type.  0, or -ENOMEM. */
int columns_layout_add_type(struct columns_layout *l, const struct tacho_type *type);

/*
 * Chooses the columns of the table: nr names; names NULL: all but the extra ones.  0, or with d
 * filled in -ENOENT, -EINVAL (a name twice), -E2BIG or -ENOMEM.
 */
int columns_layout_end(struct columns_layout *l, const char *const *names, uint32_t nr,
		       struct tacho_diag *d);

/* Makes the columns of an empty table.  0 or -ENOMEM. */
int columns_layout_table(const struct columns_layout *l, struct columns_table *t);

/*
 * The source of what `of` a field is (COLUMNS_OF_FIELD or _NAMES), of a type that may have been
 * unknown when the layout was made; NULL: there is no column for it.
 */
const struct columns_source *columns_layout_find(const struct columns_layout *l,
						 const struct tacho_type *type,
						 const struct tacho_field *field,
						 enum columns_of of);

#endif
