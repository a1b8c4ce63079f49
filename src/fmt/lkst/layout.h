/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the layout of LKST's shared file DIR/lkst; and reading a copy of it in a core dump
 * or memory image.
 *
 * compat/lkst/state.h describes the members and who may write them when.  Functions here only
 * read, and trust nothing: a copy may be from any time.
 */
#ifndef TACHO_FMT_LKST_LAYOUT_H
#define TACHO_FMT_LKST_LAYOUT_H

#include <stdbool.h>

#include <linux/lkst.h>
#include <linux/lkst_maskset.h>

#include "base/buf.h"
#include "fmt/lkst/log.h"
#include "tacho/abi/shm.h"

#define LKST_MAGIC_STATE	UINT64_C(0x74736b4c48434154)
/* of masksets, and of those just replaced */
#define LKST_SLOTS		(LKST_MASKSET_MAX + 8)
#define LKST_SWITCHES		64	/* the last ones that are remembered; a power of two */
#define LKST_STATIC_RECORDS	256	/* a power of two */
/* 0x000..0x1ff, then 0xf00..0xfff; those between are reserved */
#define LKST_ETYPES_LOW		0x200
#define LKST_NR_ETYPES		(LKST_ETYPES_LOW + 0x100)
#define LKST_NR_HANDLERS	(LKST_EVHANDLER_ID_MAX + 1)

/* A process: its pid, and start time (field 22 of its stat).  pid 0: none. */
struct lkst_owner {
	int32_t pid;
	uint32_t pad;
	uint64_t start;
};

/* turn << 16 | handler */
struct lkst_slot {
	uint32_t turn;		/* 16 bits; 0: never used */
	uint32_t id;
	int32_t len;		/* entries that are not VOID */
	uint32_t pad;
	char name[LKST_MASKSET_NAME_LEN];
	uint32_t entry[LKST_NR_ETYPES];
};

struct lkst_etype_entry {
	struct lkst_owner owner;	/* who defined it; LKST's own have pid -1 */
	uint32_t ready;			/* the rest is valid; stored last */
	uint32_t users;			/* processes that have it: a hint */
	char mnemonic[LKST_MNEMONIC_LEN];
	char name[LKST_ETYPE_NAME_LEN];
	char arg[4][LKST_ETYPE_ARG_LEN];
};

enum lkst_handler_flag {
	LKST_HANDLER_CTRL = 1,		/* has a control function */
	LKST_HANDLER_SHOW = 2,		/* is a device, with a ctrl file */
	LKST_HANDLER_STORE = 4,
};

/* Its process listens on the socket DIR/lkst.<pid> if it has any flag. */
struct lkst_handler {
	struct lkst_owner owner;	/* pid -1: LKST's own */
	uint32_t ready;
	uint32_t flags;
	char name[LKST_EVHANDLER_NAME_LEN];
};

enum lkst_buffer_state {
	LKST_BUFFER_NONE = 0,
	LKST_BUFFER_THERE = 1,
	LKST_BUFFER_GOING = 2,
};

struct lkst_buffer {
	uint32_t state;			/* enum lkst_buffer_state */
	uint32_t ring;			/* buffer of the lane */
	int32_t next;			/* LKST's id, or VOID */
	uint32_t pad;
	uint64_t size;			/* bytes; a multiple of 4096 */
	uint64_t since;			/* first sub-buffer that is its, not a former one's */
	uint64_t taken;			/* see 5 */
	uint64_t upto;			/* number of the first record that no reader had */
	/*
	 * The kernel's records, by their numbers in the late lane: `late_end` is after the last
	 * one. The turn late_turn - 1 of the buffer has those from late_from on; those before
	 * late_early came while it was written.
	 */
	uint64_t late_turn, late_from, late_early, late_end;
};

struct lkst_cpu {
	uint64_t limit;			/* a cursor; see 3 */
	uint64_t lap;			/* ring's buffer << 58 | number of a record */
	uint64_t overruns;
	struct lkst_owner reader;
	int32_t read_buf;		/* that the reader is in, or VOID */
	uint32_t pad;
	uint64_t read_next;		/* number of the next record of it */
	uint64_t read_end[2];		/* after the last, of the lane and of the late lane */
	uint64_t missed;		/* overwritten before they were read; not told yet */
	uint64_t read_at[2];		/* likewise, of the lane and of the late lane */
	uint64_t late_last;		/* ticks: no record of the late lane is younger */
	/* ticks: turns left until then have all their kernel events */
	uint64_t late_left;
	uint32_t late_ring;		/* the buffer that they go to + 1; 0: not known */
	uint32_t pad1;
	uint8_t of_ring[TACHO_BUFFERS_MAX];	/* LKST's id + 1; 0: none */
	struct lkst_buffer buffer[TACHO_BUFFERS_MAX];
};

struct lkst_switch {
	uint64_t ticks;			/* from then on */
	uint64_t current;		/* what `current` was before */
};

struct lkst_state {
	struct tacho_file_head head;
	uint32_t layout;		/* its size and version: others are refused */
	uint32_t nr_cpus;		/* entries of cpu[]: lanes of a session */
	char session[TACHO_NAME_MAX];
	/* bit << 32 | generation of the registry's slot, + 1; 0: there is none now */
	uint64_t generation;
	uint32_t late_cpu;		/* entry of cpu[] that the first late lane is of */
	uint32_t pad;
	/* ticks: no kernel events from before are missing in buffers */
	uint64_t pumped;

	uint64_t current __attribute__((aligned(64)));
	uint64_t stopped;		/* 1: `saved` is what START selects */
	uint64_t saved;			/* id */
	uint64_t nr_switches;
	struct lkst_switch switched[LKST_SWITCHES];

	uint32_t wake;			/* futex of readers; counts shifts that wake */
	uint32_t nr_static;		/* records that went to the static buffer */
	struct lkst_record fixed[LKST_STATIC_RECORDS];

	uint32_t of_id[256];		/* maskset id -> slot + 1; 0: none */
	struct lkst_slot slot[LKST_SLOTS];
	struct lkst_handler handler[LKST_NR_HANDLERS];
	struct lkst_etype_entry etype[LKST_NR_ETYPES];
	struct lkst_cpu cpu[];
};

#define LKST_STATE_SIZE(nr_cpus) \
	(sizeof(struct lkst_state) + (uint64_t)(nr_cpus) * sizeof(struct lkst_cpu))
#define LKST_STATE_LAYOUT(nr_cpus)	((uint32_t)LKST_STATE_SIZE(nr_cpus) * 31 + LKST_BUF_VER)

/* Where an event type is in the tables; -1: there is no such type. */
static inline int lkst_etype_index(uint32_t etype)
{
	if (etype < LKST_ETYPES_LOW)
		return (int)etype;
	return etype >= 0xf00 && etype <= LKST_ETYPE_MAX ?
	       (int)(etype - 0xf00 + LKST_ETYPES_LOW) : -1;
}

static inline uint32_t lkst_etype_at(uint32_t index)
{
	return index < LKST_ETYPES_LOW ? index : index - LKST_ETYPES_LOW + 0xf00;
}

static inline uint32_t lkst_current_slot(uint64_t current)
{
	return (uint32_t)(current >> 16) & 0xffff;
}

static inline uint32_t lkst_current_id(uint64_t current)
{
	return (uint32_t)current & 0xff;
}

/* Whether the nr_cpus, layout and size of a file of which min_size bytes are there are right. */
bool lkst_layout_fits(const struct lkst_state *s, uint64_t size);

/*
 * Copies records of the static buffer from number *from on, as far as they are there and whole;
 * how many.  *from is then the number after them.
 */
size_t lkst_layout_static(const struct lkst_state *s, uint64_t *from, struct lkst_record *to,
			  size_t max);

/* Appends the event types, by number: a line of types.h each.  0, or the buf's error. */
int lkst_layout_etypes(const struct lkst_state *s, struct tacho_buf *out);

/* A turn of a buffer of a CPU's lane: records [since, end), from sub-buffer `begins` on. */
struct lkst_turn {
	uint64_t begins, since, end;
	bool gone;		/* the first one was overwritten laps ago: since is not known */
};

/*
 * What LKST's buffer shows of a turn: of its records, those of programs and the kernel's in the
 * order of time, the last ones (compat/lkst/state.h, 4).
 *
 * A record's number is the sum of two numbers in their lanes, that of the next record of
 * programs and that of the next one of the kernel: [first, end) are shown, since is the turn's
 * first. They are found by merging [from, upto) of both lanes.
 */
struct lkst_shown {
	uint64_t since, first, end;
	uint64_t from[2], upto[2];
};
struct lkst_shown lkst_layout_shown(const struct lkst_buffer *b, const struct lkst_turn *t);

#endif
