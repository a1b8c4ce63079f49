/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - records that can be told whole from torn, and books on them.
 *
 * A record of the tests, from its second word on:
 *
 *	common fields | slot << 40 | number | filler ... | checksum of all before
 *
 * slot is who wrote it, number counts from 0 for that writer.  The filler is
 * made from the two, and the checksum covers the size as well, so a record that is
 * cut, mixed from two, or in the wrong place does not verify.
 */
#ifndef TACHO_TESTS_RING_LEDGER_H
#define TACHO_TESTS_RING_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/read.h"
#include "tacho/abi/record.h"

#define LEDGER_WORDS_MIN	3u
#define LEDGER_SLOT_SHIFT	40
#define LEDGER_NUMBER_MASK	((UINT64_C(1) << LEDGER_SLOT_SHIFT) - 1)

static inline uint64_t ledger_mix(uint64_t v)
{
	v ^= v >> 31;
	v *= UINT64_C(0x9e3779b97f4a7c15);
	v ^= v >> 29;
	return v;
}

static inline uint64_t ledger_sum(const uint64_t *raw, uint64_t words)
{
	uint64_t h = words;

	for (uint64_t i = 0; i + 1 < words; i++)
		h = (h ^ raw[i]) * UINT64_C(0x100000001b3) + (h >> 47);
	return h;
}

/* Makes a record of `words` words (LEDGER_WORDS_MIN at least) at raw. */
static inline void ledger_make(uint64_t *raw, uint64_t words, uint64_t slot,
			       uint64_t number)
{
	uint64_t key = slot << LEDGER_SLOT_SHIFT | (number & LEDGER_NUMBER_MASK);

	raw[0] = 1 | (uint64_t)(uint32_t)slot << 32;
	raw[1] = key;
	for (uint64_t i = 2; i + 1 < words; i++)
		raw[i] = key * i + i;
	raw[words - 1] = ledger_sum(raw, words);
}

/* Whether `words` words at raw are a whole record; who wrote it, which one. */
static inline bool ledger_check(const uint64_t *raw, uint64_t words,
				uint64_t *slot, uint64_t *number)
{
	if (words < LEDGER_WORDS_MIN || raw[words - 1] != ledger_sum(raw, words))
		return false;
	*slot = raw[1] >> LEDGER_SLOT_SHIFT;
	*number = raw[1] & LEDGER_NUMBER_MASK;
	if (raw[0] != (1 | (uint64_t)(uint32_t)*slot << 32))
		return false;
	for (uint64_t i = 2; i + 1 < words; i++)
		if (raw[i] != raw[1] * i + i)
			return false;
	return true;
}

/* A size for record number n that varies, from LEDGER_WORDS_MIN to max. */
static inline uint64_t ledger_words(uint64_t n, uint64_t max)
{
	return LEDGER_WORDS_MIN + ledger_mix(n) % (max - LEDGER_WORDS_MIN + 1);
}

/* Books on what was read from one lane. */
struct ledger_lane {
	uint64_t read;		/* records */
	uint64_t overwritten;	/* gone before they were read */
	uint64_t next_event;	/* number the next record must have at least */
	uint64_t time;		/* of the last record */
	uint64_t torn;		/* records that do not verify */
	uint64_t disorder;	/* time or record number went backwards */
};

/*
 * Calls fn for each record of a chunk; does the books of its lane.  What a reader
 * reports twice (it was killed and replaced) is skipped.
 */
static inline void ledger_chunk(struct ledger_lane *l,
				const struct tacho_chunk *c,
				void (*fn)(void *arg, uint64_t slot,
					   uint64_t number), void *arg)
{
	const uint64_t *w = c->data;
	const uint64_t *end = w + c->len / 8;
	uint64_t event = c->head.event_first;
	uint64_t time = c->head.timestamp_begin;

	if (event > l->next_event) {
		l->overwritten += event - l->next_event;
		l->next_event = event;
	}
	for (; w < end; w += tacho_record_size(*w) / 8, event++) {
		uint64_t slot, number;

		time = tacho_record_time(*w, time);
		if (event < l->next_event)
			continue;
		if (time < l->time || time - l->time > UINT64_C(1) << 47)
			l->disorder += l->time != 0;
		l->time = time;
		l->next_event = event + 1;
		l->read++;
		if (!ledger_check(w + 1, tacho_record_size(*w) / 8 - 1, &slot,
				  &number)) {
			l->torn++;
			continue;
		}
		if (fn)
			fn(arg, slot, number);
	}
	if (event != c->head.event_first + c->head.events)
		l->disorder++;
}

#endif
