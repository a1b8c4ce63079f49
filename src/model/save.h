/* SPDX-License-Identifier: MIT */
/*
 * save.h - the state of a model between two records, as bytes.
 *
 * save.c writes it, restore.c reads it.  It has what a later record or the end can depend on, and
 * in one form only: equal models have equal bytes, however they came about.  So things are
 * in the order in which they came (the order of creation for what is never removed, the lists of
 * model_priv.h for the rest) and refer to each other by their place in it, from 1; 0: none.
 *
 * What is left out, because restoring makes it again: plans; tables by key; slots that are free;
 * the number of requests of a thread; which lanes are taken; depths of nested slices; where a
 * thread runs (its CPU says so); serial numbers of threads, which only tell threads that live
 * from those that do not.
 *
 *	state	head, model, processes, threads, CPUs, lanes, overlapping slices, counters, messages
 *	head	16 bytes: "tmst", the version (u32), a key of the rules (u64), little endian
 *	others	the number of elements, then each, as save.c has it
 *
 * Numbers
 *	varint		seven bits in a byte, the lowest first; 0x80: more follow
 *	signed		(n << 1) ^ (n >> 63), as a varint
 *	key		8 bytes, little endian
 *	time		T1 - time: no time of the state is before T0 or after T1
 *	maybe		0: never; else 1 + time
 *	record		0: none; else records - record: all are before the next one
 *	text		0: ""; 1 + i: the i-th of those so far, or the next one; then its length
 *			and its bytes follow
 *	place		track << 1 | in an interrupt; its time and record, if it has a track
 *	kind		of a nested slice: i: the i-th of those so far, or the next one; then
 *			its category and its name (texts) and its key follow
 *	slice		kind << 1 | begun by a program; signed differences of its begin and of
 *			its record to those of what is above it
 *	stack		track (a signed difference); number of slices; the slices from the top
 *			down, or (there is none) floor - T0, a varint.  The floor is used when the
 *			stack is empty, and what empties it raises the floor to the end of a slice
 *			that began later.
 *
 * Nothing here is a checksum: who stores states has one.  Restoring checks everything that a
 * crash, a hang or memory without measure could come from, and that times are in order.  It cannot
 * see that a state is another trace's.
 */
#ifndef TACHO_MODEL_SAVE_H
#define TACHO_MODEL_SAVE_H

#include <stdint.h>

#include "model/rules.h"

#define MODEL_STATE_MAGIC	"tmst"
#define MODEL_STATE_VERSION	1u
#define MODEL_STATE_HEAD	16u

/* The model's properties. */
#define MODEL_SAVED_IS_QNX	1u
#define MODEL_SAVED_SWITCHES	2u

/* A thread begins with its state (6 bits) and these, then 6 bits of flags of the state. */
#define MODEL_SAVED_STATE	0x3fu
#define MODEL_SAVED_HAS_STATES	0x40u
#define MODEL_SAVED_NAMED	0x80u	/* not like its process: a text follows */
#define MODEL_SAVED_FORKED	0x100u
#define MODEL_SAVED_EXITED	0x200u
#define MODEL_SAVED_WAKER	0x400u	/* its waker follows */
#define MODEL_SAVED_HIGH	0x800u	/* the upper half of its key is not the usual one */
#define MODEL_SAVED_FLAGS	12	/* shift */
#define MODEL_SAVED_FLAGS_MAX	0x3fu

/* A CPU's properties. */
#define MODEL_SAVED_IDLE	1u
#define MODEL_SAVED_IO_DONE	2u

/* At most so many words of bits for lanes: 2^27 slices at a time. */
#define MODEL_SAVED_WORDS_MAX	((uint32_t)1 << 21)

/* A key of all rules in their order. */
uint64_t model_rules_key(const struct model_rules *rules);

/* The upper half of a thread's key, if nothing else is saved. */
static inline uint32_t model_saved_high(bool is_qnx, int64_t process)
{
	return is_qnx ? (uint32_t)process : 0;
}

static inline uint64_t model_zigzag(uint64_t n)
{
	return n << 1 ^ (0 - (n >> 63));
}

static inline uint64_t model_unzigzag(uint64_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

#endif
