/* SPDX-License-Identifier: MIT */
/* stream_priv.h - the stream itself, for the files of this folder that read it. */
#ifndef TACHO_STREAM_STREAM_PRIV_H
#define TACHO_STREAM_STREAM_PRIV_H

#include "kdata/syscalls.h"
#include "stream/stream.h"

/*
 * A part in the heap. known: its next record is at pos, time and ticks are that record's.
 * Otherwise time is a bound; such a part precedes a known one of equal time, so that it is filled
 * before the other's record is returned.
 */
struct slot {
	uint64_t time;
	uint64_t ticks;		/* 0 while unknown */
	struct tacho_part *part;
	bool known;
};

struct type_list {
	const struct tacho_type **type;
	uint32_t nr;
	bool no_memory;		/* it is too short; sticks */
};

struct tacho_stream {
	struct tacho_source **source;
	uint32_t nr_sources;
	uint32_t nr_parts;
	unsigned int flags;
	uint32_t threads;		/* that may read: tacho_stream_set_threads() */
	bool begun;
	/* all parts that are not at their end: a heap, or (UNORDERED) a list */
	struct slot *slot;
	uint32_t nr_slots;
	uint32_t turn;			/* UNORDERED: the slot that is read */
	struct tacho_part *held;	/* its record was handed out */
	const struct tacho_part *lent;	/* of tacho_stream_lend(), or NULL */
	const struct tacho_frames *frames;	/* or NULL */
	uint64_t from;			/* ns: earlier records are passed over */
	uint64_t until;			/* ns, merged only: the end comes before these records */
	uint64_t lost_ahead;		/* of what threads read before the place of the last seek */
	struct type_list *types;
	struct tacho_buf text;		/* of tacho_record_text() */
	struct tacho_arena arena;	/* of syscalls */
	struct tacho_syscalls syscalls;
	bool syscalls_tried;
	struct tacho_error error;
};

/* The part of the record that is at hand, or NULL. */
static inline const struct tacho_part *stream_part(const struct tacho_stream *s)
{
	return s->lent ? s->lent : s->held;
}

/* Puts every part into the heap, none of them known. */
void stream_begin(struct tacho_stream *s);

/*
 * tacho_stream_seek(time), after which only the first records of each part are passed over that
 * are before it, and all that are before `from`.  0 or a negative errno.
 */
int stream_resume(struct tacho_stream *s, uint64_t from, uint64_t time);

/* Forgets the record that was handed out last: its part stands behind it. */
void stream_let_go(struct tacho_stream *s);

#endif
