/* SPDX-License-Identifier: MIT */
/*
 * record.h - converts events to records, and records to words.
 *
 * Until the record is handed out its CPU is in common_preempt_count (the part's
 * prepare() in read.c).
 */
#ifndef TACHO_FMT_KEV_RECORD_H
#define TACHO_FMT_KEV_RECORD_H

#include "base/buf.h"
#include "fmt/kev/kev.h"
#include "fmt/kev/types.h"
#include "tacho/abi/record.h"

/* No record of so many words is longer. */
#define TACHO_KEV_RECORD_ROOM(words)	(40u + 4u * (size_t)(words))

/*
 * Writes the record of a whole event of a form, or (form NULL) of one that is not
 * whole.  Returns its size.
 */
uint32_t tacho_kev_record_put(unsigned char *to, const struct tacho_kev_form *form,
			      const struct tacho_kev_event *ev, bool swap,
			      int32_t pid);

/*
 * The words of a raw event of a form, in this machine's order, into `words`, which is
 * emptied first.  Returns 0 or -EINVAL: the raw event is too short.
 */
int tacho_kev_record_words(const struct tacho_kev_form *form, const void *raw,
			   uint32_t len, struct tacho_buf *words);

/* Words turned around: from src to dst, which may be the same. */
void tacho_kev_swap(unsigned char *dst, const unsigned char *src, uint32_t words,
		    uint64_t wide);

#endif
