/* SPDX-License-Identifier: MIT */
/*
 * core.h - LKST's shared file (layout.h) in a core dump or memory image: it assigns the records
 * to LKST's buffers.
 *
 * The ring's buffers have different numbers, hold more records than LKST's buffers show, and
 * remain when those are deleted.  With the file, a core shows the same records as the buffers.
 */
#ifndef TACHO_FMT_LKST_CORE_H
#define TACHO_FMT_LKST_CORE_H

#include "fmt/lkst/layout.h"
#include "stream/stream.h"

struct lkst_core;

/*
 * Finds the file in what a source was made of.  0: *core is NULL if there is none, or it is
 * of another session than the source; else to be freed.  -ENOMEM, or what reading said.
 */
int lkst_core_find(struct lkst_core **core, const struct tacho_source *source);
void lkst_core_free(struct lkst_core *core);

/* Borrowed; of the right layout, and nothing else in it is to be believed. */
const struct lkst_state *lkst_core_state(const struct lkst_core *core);

struct lkst_core_place {
	uint64_t number;	/* of the record, in the ring's buffer */
	uint32_t at;		/* 0: not known (C2 of stream/crash.h) */
	int32_t id;		/* LKST's buffer; 0: likewise */
};

/*
 * Whether a record may be in one of LKST's buffers, by its number in the ring's buffer.  part: that
 * handed it out last.
 */
bool lkst_core_has(const struct lkst_core *core, const struct tacho_part *part, uint64_t number,
		   struct lkst_core_place *place);

/*
 * Whether the buffer shows it: asked of those of lkst_core_has(), all of them, in the order of
 * time. Its record id is set.
 */
bool lkst_core_shows(struct lkst_core *core, const struct lkst_core_place *place,
		     struct lkst_record *r);

#endif
