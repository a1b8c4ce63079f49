/* SPDX-License-Identifier: MIT */
/*
 * state.h - what all who use LKST share: one file, DIR/lkst, in the run-time directory.
 *
 * 1. What LKST is made of here
 *
 *	maskset		a table from event type to handler, in this file
 *	event handler	a function of a process, and an entry in this file
 *	buffer		a buffer of a lane of one tacho session, "lkst" (ring/ring.h):
 *			this file says which ids, sizes and links LKST's have
 *	event		of a program: a tacho event "lkst:MNEMONIC" of that program
 *			of the kernel: a tracepoint of the session's kept kernel instance,
 *			which whoever pumps (pump.h) writes into the lane of its CPU as
 *			"lkst:MNEMONIC", with its own time in the record
 *
 *	The session is made by the first tool that needs it.  This file is made by whoever
 *	comes first, program or tool; a program whose hooks nobody wants touches it once.
 *
 * 2. Switching masksets
 *
 *	`current` is one word, and the only truth:
 *
 *	 63      32 31     16 15      8 7       0
 *	+----------+---------+---------+---------+
 *	| count    | slot    | 0       | id      |
 *	+----------+---------+---------+---------+
 *
 *	A slot holds a table of one word for each event type: the slot's turn and a
 *	handler.  A maskset that is written gets a new slot with a new turn; ids point to
 *	slots.  A hook reads `current`, then the slot's turn word and its entry: the turn differs
 *	from the entry's: the slot is somebody else's by now, and the hook starts
 *	again.  So each event is judged by one maskset, whole, and a switch is one store.
 *
 *	Sites look at the state words of their tacho event, which follow:
 *
 *	S1  rules of the session: what the old or the new one wants is on
 *	S2  tracepoints of the kernel instance likewise
 *	S3  `current` is stored; switched[] has the moment
 *	S4  rules and tracepoints: what the new one does not want is off
 *
 *	A tool that dies in between leaves events on that the current maskset masks: they are
 *	judged like any other; the next switch puts it right.  Kernel events that were
 *	recorded before S3 and pumped after it are judged by switched[].
 *
 * 3. Buffers, and shifting
 *
 *	cpu[c].buffer[id] is LKST's buffer id of CPU c.  `ring` is the id of the lane's
 *	buffer that holds it.  Which one is being written is the lane's cursor and
 *	nothing else; where its current (or last) turn began is `begins` (or `began`) of the
 *	ring's buffer.
 *
 *	A buffer of n bytes holds n / LKST_SIZEOF_LKST_EVENT_RECORD records.  The ring's
 *	buffer behind it is larger: a power of two, the packets' heads, one sub-buffer that
 *	the writers may be about to overwrite, and room for what is
 *	written while a shift is under way.  Readers see the last n bytes.
 *
 *	Overrun: after a record is written the hook compares the cursor with
 *	`limit`, the first cursor at which the buffer may be full.  Beyond it, or in another
 *	buffer:
 *
 *	O1  the records since `lap` are counted; lap is the ring buffer, and the number of
 *	    the first record of this time round.  A lap of another buffer, or of before
 *	    `begins`, is set to `begins`
 *	O2  full: lap moves on by one buffer, by compare-and-swap: one hook did it, and raises
 *	    LKST_BUFF_OVFLOW, whose handler may shift.  A shift that failed because others
 *	    came in between takes the lap back, and the next record tries again
 *	O3  limit is computed anew: a hint, plainly stored, as O1 counts
 *
 *	Shifting, from the program that ran into it or from a tool:
 *
 *	H1  c = cursor;  next = table[table_of[c's buffer]].next
 *	H2  tacho_ring_shift_from(c, next): commits only if the cursor is still c
 *
 *	Deleting (tools, under LKST's lock):
 *
 *	D1  the entry is marked as going: H1 finds no buffer there
 *	D2  is it the next of the one that is written, the lane is made to begin a new
 *	    sub-buffer: whoever was between H1 and H2 with the old table starts again.
 *	    So does a link that is taken from the one that is written; others are on nobody's
 *	    way, as a hook that has left it finds the cursor moved
 *	D3  is it being written by now?  Then the mark is taken back: EBUSY
 *	D4  memory is given back, but for the sub-buffer that it goes on from; the ring's
 *	    buffer waits for one of the same size
 *
 * 4. The read queue
 *
 *	Who is in it follows from the above: the buffers of the CPU that are not being
 *	written, were not `taken` since they began, and hold something; in the order in
 *	which they were left (time of the `saved` cursor's packet).  Reading takes the head: taken =
 *	its began + 1.  The owner is a process (pid and start time); one that is dead owns
 *	nothing.
 *
 * 5. Static buffer
 *
 *	A few records in this file, taken by fetch-and-add, for LKST's own events.
 *
 * 6. Who writes what
 *	tools	all tables, under LKST's lock: flock() on this file
 *	programs	lap (compare-and-swap), limit, the static buffer, their own entries in
 *		etype[] and handler[] (claimed by compare-and-swap of `owner`)
 *
 *	Nobody trusts what is read: indexes are checked, texts are copied up to their size.
 */
#ifndef TACHO_FACE_LKST_STATE_H
#define TACHO_FACE_LKST_STATE_H

#include <stdbool.h>

#include <linux/lkst.h>
#include <linux/lkst_maskset.h>

#include "fmt/lkst/log.h"
#include "tacho/abi/shm.h"

#define LKST_MAGIC_STATE	UINT64_C(0x74736b4c48434154)
#define LKST_SLOTS		(LKST_MASKSET_MAX + 8)	/* of masksets, and of those just replaced */
#define LKST_SWITCHES		64	/* the last ones that are remembered; a power of two */
#define LKST_STATIC_RECORDS	256	/* a power of two */
#define LKST_ETYPES_LOW		0x200	/* 0x000..0x1ff, then 0xf00..0xfff; those between are reserved */
#define LKST_NR_ETYPES		(LKST_ETYPES_LOW + 0x100)
#define LKST_NR_HANDLERS	(LKST_EVHANDLER_ID_MAX + 1)

/* A process: its pid, and start time (field 22 of its stat).  pid 0: nobody. */
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
	uint64_t taken;			/* see 4 */
};

struct lkst_cpu {
	uint64_t limit;			/* a cursor; see 3 */
	uint64_t lap;			/* ring's buffer << 58 | number of a record */
	uint64_t overruns;
	struct lkst_owner reader;
	int32_t read_buf;		/* that the reader is in, or VOID */
	uint32_t pad;
	uint64_t read_next, read_end;	/* numbers of the next record of it, and behind its last */
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

/* The handler that a maskset has for an event type; VOID for types that there are not. */
uint32_t lkst_state_handler(const struct lkst_state *s, uint64_t current, uint32_t etype);

/*
 * Maps DIR/lkst, making it (and the special masksets, LKST's handlers and event types) if
 * `create`.  All of it is allocated.  fd: its descriptor, to lock it; NULL: closed.
 * Any thread; not for signal handlers.  0, -ENOENT, -EPROTO (made by another version), or
 * what the system said.
 */
int lkst_state_map(struct lkst_state **state, int *fd, bool create);
void lkst_state_unmap(struct lkst_state *state);

/* Masksets, handlers and buffers as when the file was made; event types stay.  Under the lock. */
void lkst_state_reset(struct lkst_state *s);

/* A record for the static buffer; ticks, recid, thread, pid and cpu are filled in here. */
void lkst_state_note(struct lkst_state *s, uint32_t etype, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d);

/* Whether a process that owns something still lives; LKST itself does. */
bool lkst_owner_lives(const struct lkst_owner *o);
struct lkst_owner lkst_owner_of(int32_t pid);

#define LKST_OWNER_ITSELF	(-1)

#endif
