/* SPDX-License-Identifier: MIT */
/*
 * describe.h - records of LTT in the words of its own tools.
 *
 * For streams of tacho_ltt_open_plain() (read.h), whose records are LTT's and nothing else.
 */
#ifndef TACHO_FMT_LTT_DESCRIBE_H
#define TACHO_FMT_LTT_DESCRIBE_H

#include "base/hashmap.h"
#include "fmt/ltt/lane.h"
#include "tacho/stream.h"

/* One record, taken apart. */
struct tacho_ltt_seen {
	uint32_t id, sub;
	uint32_t size;		/* of LTT's record */
	bool bare;		/* its details were not recorded */
	bool known;		/* values are those of the event's struct */
	struct tacho_ltt_values v;
};

/* Data for descriptions other than the record. */
struct tacho_ltt_words {
	uint32_t arch;			/* TRACE_ARCH_TYPE_ */
	struct tacho_hashmap customs;	/* by id + 1: what NEW_EVENT said */
	/* the name of a system call, or NULL */
	const char *(*syscall)(void *arg, uint32_t nr);
	void *arg;
};

void tacho_ltt_words_release(struct tacho_ltt_words *w);

/* Takes a record apart; pointers are into it. */
void tacho_ltt_see(struct tacho_ltt_seen *seen, const struct tacho_record *r);

/* Adds what a NEW_EVENT says; skips other records.  0 or -ENOMEM. */
int tacho_ltt_words_add(struct tacho_ltt_words *w, const struct tacho_ltt_seen *seen);

/* "Sched change", or for a custom event its declared name. */
const char *tacho_ltt_title(const struct tacho_ltt_words *w,
			    const struct tacho_ltt_seen *seen);

/* Appends "IN : 5; OUT : 3; STATE : 1"; nothing without details. */
void tacho_ltt_describe(const struct tacho_ltt_words *w,
			const struct tacho_ltt_seen *seen, uint64_t time_us,
			struct tacho_buf *out);

/* The id of an event by its short name (SCHED, FS, ...), or -1; CORE is -2. */
int tacho_ltt_id_of(const char *short_name);

/* The short name of an id. */
const char *tacho_ltt_short_name(uint32_t id);

/* The ids that CORE stands for. */
#define LTT_CORE_MASK	((trace_event_mask)0xfe)

#endif
