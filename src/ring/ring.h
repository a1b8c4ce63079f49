/* SPDX-License-Identifier: MIT */
/*
 * ring.h - bytes across processes: the rings of one session.
 *
 * This essay is the protocol.  tests/model/ring.pml is its model (plain.pml of
 * section 6, until.pml of section 7, move.pml of section 9), tests/ring/ its hammer.
 *
 * 1. The picture
 *
 *	lane (one per CPU)              buffers of the lane, ids 0..63
 *	+--------------------+          +-----------------------------------+
 *	| cursor ------------|--id----->| sub-buffer 0 | 1 | 2 | ... | n-1  |
 *	+--------------------+          +-----------------------------------+
 *	  id : seq : words : events                        ^ seq % n
 *	                     |                             |
 *	                     +------ words used of it -----+
 *
 *	A sub-buffer is one packet: a struct tacho_packet, then records, each a
 *	multiple of 8 bytes, as abi/record.h says.
 *
 *	The cursor is the only word that says what is in a lane:
 *
 *	 63    58 57            34 33         17 16          0
 *	+--------+----------------+-------------+-------------+
 *	| buffer | sub-buffer     | words used  | records in  |
 *	| id (6) | number (24)    | of it (17)  | it (17)     |
 *	+--------+----------------+-------------+-------------+
 *
 *	Writing a record adds (its words << 17) + 1.  Going to the next
 *	sub-buffer, or to another buffer, stores a new id, number and an
 *	offset behind the new header.  The sub-buffer number counts modulo 2^24 and is
 *	compared by subtraction; the full number is packet_seq_num in the header.
 *
 * 2. Writing: one committing store
 *
 *	W1  cpu, lane, cursor are read		(cursor = c)
 *	W2  the clock is read, and compared with the lane's `until` (section 7)
 *	W3  room is checked			(no room: S1)
 *	W4  restartable sequence: still on that CPU?  cursor still c?
 *	    record copied behind the committed part
 *	    cursor = c + record			commit, release
 *
 *	Preempted, migrated or signalled inside W4, the kernel makes the
 *	thread start again at W1; outside it, another writer's commit makes the
 *	comparison fail.  So between W1 and the commit nobody else has
 *	written to this lane, which makes time stamps of a lane ascend.  A
 *	thread killed at any instruction has either committed or left
 *	bytes behind the cursor that the next writer overwrites.
 *
 * 3. Changing the sub-buffer (S) and the buffer (shift)
 *
 *	S1  the new header and the last words of the old header are computed in
 *	    private memory from c
 *	S2  discard mode: if the new sub-buffer is not consumed yet, the
 *	    record is counted as lost, and that is all
 *	S3  restartable sequence as in W4, the copies being: the old header's
 *	    closing words (end, sizes, counts), the new sub-buffer's header, and at a shift the
 *	    old buffer's `saved` cursor and `began`, and the new one's `begins`; the
 *	    commit stores the new cursor
 *
 *	The words stored before the commit are: the old header's closing words,
 *	which are computed from c alone, so that whoever repeats the
 *	change stores the same; the new sub-buffer, which is free (discard) or
 *	given up (overwrite, see R2); and `begins` of a buffer that is not written, which
 *	means something only while it is.
 *
 * 4. Reading
 *
 *	R1  cursor is loaded (acquire, pairs with the commits): all that it covers is whole
 *	R2  bytes are copied
 *	R3  overwrite mode: cursor is loaded again.  A writer may be inside
 *	    the sub-buffer after the cursor's before the cursor says so, hence the copy is good
 *	    if sub-buffer number + n > cursor's number + 1.  So n - 1 sub-buffers are history.
 *	    On machines that reorder stores, S3 begins with a store barrier.
 *
 *	The open sub-buffer is read up to the cursor like any other: nobody has
 *	to close it.  In discard mode the reader gives sub-buffers back with
 *	`consumed` (release; S2 acquires), each when it comes for more after its last
 *	record: a reader that is killed with records in its hands has not taken them from
 *	the next one.  One consuming reader at a time per lane.
 *
 * 5. Counting
 *
 *	Each header has event_first, the number of records in the buffer
 *	before it.  What the reader missed by overwriting is the difference.
 *	Discarded records are counted in the lane, by reason.  For each lane, exactly,
 *	while no writer is active:
 *
 *		attempted = written + discarded
 *		written   = read + overwritten	(before they were read)
 *
 *	What is lost is the sum of discarded and overwritten: attempted = read + lost.
 *
 * 6. Without restartable sequences
 *
 *	The plain lanes come after those of the CPUs.  W and S run under the
 *	lane's lock, a word holding the writer's thread id and pid name space; the
 *	clock is read behind it.
 *	A lock whose owner died is taken over: the single commit makes that
 *	safe at any point.  A lock held by a living thread is waited for
 *	briefly, then the next plain lane is tried, then the record is counted as lost.
 *	A signal handler that interrupts the owner goes on to the next lane as
 *	well, and does not wait at all: who it waits for may wait for its thread.
 *
 *	The late lanes come last: lane n of them has records of CPU n that somebody else brings,
 *	later than they happened, each with its own time (tacho_ring_write_late()).  They are
 *	written like plain lanes, under the lock, but never by who looks for a lane to write to;
 *	and who writes says which buffer it goes to.  So times ascend here as well, and a
 *	reader merges such a lane with its CPU's.
 *
 * 7. Stop, epochs, and the end of a session
 *
 *	`until` is one word per lane that sends writers the slow way, where
 *	the session's state is looked at.  It is 0 while the session is stopped, else
 *	the end of an epoch of 2^46 ticks.  A writer whose clock is beyond it
 *	begins a new packet and, if it was he who did, moves `until` on by
 *	compare-and-swap (never from 0), so that a packet never spans more than
 *	2^47 ticks and 48-bit time stamps stay unambiguous.  From 0 it goes to the end of the open
 *	packet's epoch if that is now's, else to the past.
 *
 *	Tools, and triggers in any traced process at any time, let go and stop.  The
 *	state is the truth, and changes first, by one store; each lane follows:
 *
 *	stop	state, then in each lane `until` = 0
 *	go	state, then in each lane
 *		G1 `until` from 0 by compare-and-swap
 *		G2 state is read again: no longer recording? `until` = 0
 *	write	the slow way: recording, and `until` is 0: G1 and G2 for this lane,
 *		then again; not recording, and `until` is not 0: `until` = 0
 *
 *	Either a stop's store comes after G1, or G2 sees its state.  So when all
 *	who change it are done, no lane records in a stopped session; and a lane that is
 *	left at 0 in a recording one goes on with its next writer, who
 *	comes the slow way.  Whoever is killed half way leaves lanes that do not follow
 *	yet: those at 0 do with their next record, the others with their next
 *	sub-buffer at the latest.
 *
 *	The destroyer sets state to DEAD and `until` to 0, visits each CPU and
 *	stores TACHO_CURSOR_DEAD in its lane (a plain lane: under the lock, which
 *	it keeps), and what the cursor was in `saved` of its buffer.  Whoever was
 *	before W4 fails the comparison and leaves.  A reader reads a closed lane to its
 *	end, unless state is DEAD after it copied: the memory may be gone by then.
 *
 * 8. What a process remembers of an open sub-buffer
 *
 *	Each process has a private table of one entry per CPU lane, for sequences
 *	that do all of W1..W4 (write-x86_64.h): `first`, the cursor of a sub-buffer
 *	with no words and no records; `sub`, where that sub-buffer is mapped;
 *	`room`, its words + 1 in a cursor's place, or 0: the entry is empty.  A cursor c
 *	lies in it, and not behind its end, if c - first < room: one comparison
 *	for the buffer, the number and the room; a record fits if the same holds with
 *	its words added to the difference.  An entry that is out of date
 *	sends the writer the slow way and does no harm else, since what it says of
 *	its own sub-buffer stays true.
 *
 *	F1  after a record went the slow way the writer fills in the entry of its
 *	    CPU, by two sequences on that CPU: room = 0; then, if room is still
 *	    0: first, sub, and room as the commit
 *	F2  it is read inside a sequence on that CPU
 *
 *	So between any two instructions that read an entry it does not change, and
 *	whoever is interrupted between first and sub has left room = 0 behind.
 *
 * 9. Moving: a buffer of another size or mode, with what the old one holds
 *
 *	The buffers of a lane are pairs, 2k and 2k + 1: a snapshot goes to and fro between
 *	the two.  A buffer keeps its size and its mode (discard, overwrite) for
 *	ever, as processes have it mapped; there are 16 sizes and two modes, so
 *	that 32 pairs are enough, and each is used again for what it was.  The lane is in the
 *	pair that its cursor names.  A move takes it to another pair, and changes
 *	only the id in the cursor: sub-buffers keep their numbers, records theirs.
 *
 *	pair 0 (8 sub-buffers)          pair 2 (4)
 *	| 8 | 9 |10 |11.| 4 | 5 | 6 | 7 |     | 8 | 9 |10 |11.|	. the open one
 *	cursor 0:11:words:n    -- M5 -->      cursor 2:11:words:n
 *
 *	M1  pairs in which the lane is not, and which have memory: a killed tool left
 *	    them.  They are retired as in M6
 *	M2  the pair of this size and mode is found, or one that never was any
 *	M3  lane's `moves` + 1; the pair's memory is allocated; what the other buffer of the pair
 *	    holds is copied (nobody writes there)
 *	M4  the sub-buffers are copied, each to its number's place, the open one up to
 *	    the cursor; writers go on meanwhile
 *	M5  on the lane's CPU: cursor c is read, what came since is copied, `floor` (the first that
 *	    was copied), `consumed` and `open` are set.  Then, if the cursor is still c:
 *	    cursor = c with the new id		commit, release; else M5 again
 *	M6  lane's `home` = the pair; and for each buffer of the old pair: not MADE,
 *	    `moves` + 1, and its memory is given back
 *
 *	Writers.  A record's place is computed from c and the mappings of c's buffer, and
 *	stored to inside the sequence (under the lock) that compares c.  So nobody stores
 *	to a buffer in which the lane is not.  It may be back in it with the very
 *	cursor c that a sleeping writer has read: then nothing was written in between,
 *	the buffer holds the same again, and what it does is right.  To change the sub-buffer a
 *	writer needs what the open one's header says; it has it from `open` in the
 *	control block, not from the buffer: memory that was given back, on a file system
 *	that is full, would kill it.  `open` has two places, by the parity of the
 *	number, as S3 stores the next one's before its commit.
 *
 *	Readers hold a buffer of a pair, the first or the second; which pair, the
 *	cursor says each time.  They go on at the same number.
 *
 *	R1' `moves` is loaded (acquire), then the cursor
 *	R3' after the copy: `moves` is as it was; else the copy is thrown away, and R1'
 *
 *	A tool touches only buffers in which the lane is not, after it has counted
 *	`moves`.  So whoever copied something of it finds another number; and whoever loads
 *	`moves` after it was counted loads a cursor that is not in that pair.
 *
 *	A kill before M5 has changed nothing; one after it leaves M6 to the next tool,
 *	or to the destroyer.  What does not fit is the oldest, as when the kernel resizes.
 *	But the kernel stops recording meanwhile, and here nothing is lost.  In discard
 *	mode what was not moved counts as consumed.
 *
 *	tests/model/move.pml is the model of this section.
 *
 * Who may run at once
 *	writers		any threads of any processes, any signal handlers
 *	reader		one per lane, with all writers
 *	shift		any number: those of tools, one per session at a time (the registry's
 *			lock), and those of writers; the cursor's comparison decides
 *			who was first
 *	move		one per session at a time (the registry's lock), with writers, readers
 *			and those shifts that writers make within a pair
 *	close		with writers
 *
 * Progress: writers never wait in CPU lanes (a sequence is restarted only
 * when the kernel scheduled something else); bounded waiting in plain lanes.
 */
#ifndef TACHO_RING_RING_H
#define TACHO_RING_RING_H

#include <stdbool.h>

#include "base/compiler.h"
#include "tacho/abi/shm.h"

/* ---- the cursor ---- */

#define TACHO_CURSOR_WORDS_BITS		17
#define TACHO_CURSOR_EVENTS_BITS	17
#define TACHO_CURSOR_SEQ_BITS		24
#define TACHO_CURSOR_WORDS_SHIFT	TACHO_CURSOR_EVENTS_BITS
#define TACHO_CURSOR_SEQ_SHIFT	(TACHO_CURSOR_WORDS_SHIFT + TACHO_CURSOR_WORDS_BITS)
#define TACHO_CURSOR_ID_SHIFT	(TACHO_CURSOR_SEQ_SHIFT + TACHO_CURSOR_SEQ_BITS)
#define TACHO_CURSOR_SEQ_MASK	((1u << TACHO_CURSOR_SEQ_BITS) - 1)
/* No room in it: beyond any sub-buffer, and no record carries it over into the next. */
#define TACHO_CURSOR_DEAD	(UINT64_MAX << TACHO_CURSOR_SEQ_SHIFT | \
				 UINT64_C(0x18000) << TACHO_CURSOR_WORDS_SHIFT)

static inline uint32_t tacho_cursor_words(uint64_t c)
{
	return (uint32_t)(c >> TACHO_CURSOR_WORDS_SHIFT) &
	       ((1u << TACHO_CURSOR_WORDS_BITS) - 1);
}

static inline uint32_t tacho_cursor_events(uint64_t c)
{
	return (uint32_t)c & ((1u << TACHO_CURSOR_EVENTS_BITS) - 1);
}

static inline uint32_t tacho_cursor_seq(uint64_t c)
{
	return (uint32_t)(c >> TACHO_CURSOR_SEQ_SHIFT) & TACHO_CURSOR_SEQ_MASK;
}

static inline uint32_t tacho_cursor_id(uint64_t c)
{
	return (uint32_t)(c >> TACHO_CURSOR_ID_SHIFT);
}

static inline uint64_t tacho_cursor_make(uint32_t id, uint64_t seq,
					 uint32_t events, uint32_t words)
{
	return (uint64_t)id << TACHO_CURSOR_ID_SHIFT |
	       (seq & TACHO_CURSOR_SEQ_MASK) << TACHO_CURSOR_SEQ_SHIFT |
	       (uint64_t)words << TACHO_CURSOR_WORDS_SHIFT | events;
}

/* What a record of `words` words adds to the cursor. */
static inline uint64_t tacho_cursor_step(uint64_t words)
{
	return (words << TACHO_CURSOR_WORDS_SHIFT) + 1;
}

/* What is known of the sub-buffer that is open at cursor c. */
static inline struct tacho_open *tacho_buffer_open(struct tacho_buffer *b, uint64_t c)
{
	return &b->open[tacho_cursor_seq(c) & 1];
}

/* ---- sizes ---- */

#define TACHO_PACKET_WORDS	(sizeof(struct tacho_packet) / 8)
#ifdef TACHO_TINY
#define TACHO_SUB_SHIFT_MIN	8
#else
#define TACHO_SUB_SHIFT_MIN	12
#endif
#define TACHO_SUB_SHIFT_MAX	19	/* 512 KiB: words and records fit in 17 bits */
#define TACHO_SUBS_MAX		65536u
/* The length of an epoch is 2^46 ticks, 8.5 hours at 2.3 GHz. */
#define TACHO_EPOCH_BITS	(TACHO_TIME_BITS - 2)

/* The end of the epoch that a clock value lies in; never 0. */
static inline uint64_t tacho_epoch_end(uint64_t now)
{
	return ((now >> TACHO_EPOCH_BITS) + 1) << TACHO_EPOCH_BITS;
}

/* ---- one process's view of a session's rings ---- */

/* A buffer as mapped here. */
struct tacho_ring_buf {
	unsigned char *base;
	uint32_t mask;		/* (nr_subs - 1) << sub_shift: bytes */
	uint32_t words;		/* of a sub-buffer; 0: not mapped (yet) */
};

/* What section 8 says, of one CPU's lane. */
struct tacho_ring_fast {
	uint64_t first;
	uint64_t sub;		/* address */
	uint64_t room;		/* compared with cursor - first; 0: empty */
	uint64_t pad;
};

/*
 * Private memory, immutable but for two tables: buf, whose entries go once
 * from nothing to a mapping, and fast. The geometry is copied here and checked at attach;
 * it is not read from shared memory again.
 */
struct tacho_ring {
	struct tacho_control *ctl;	/* shared; the caller's */
	unsigned char *lanes;		/* shared; ctl + TACHO_CONTROL_LANES_OFF */
	struct tacho_ring_buf *buf;	/* [lane << 6 | id], own */
	struct tacho_ring_fast *fast;	/* [lane] of CPUs, own; behind buf */
	uint64_t rseq_offset;		/* from the thread pointer to struct rseq */
	uint32_t fast_cpus;		/* nr_cpus when the clock is the TSC, else 0 */
	uint32_t nr_cpus;
	uint32_t nr_plain;
	uint32_t nr_late;
	uint32_t sub_shift;
	uint32_t sub_words;
	uint32_t seq_down;		/* TACHO_CURSOR_SEQ_SHIFT - sub_shift */
	uint32_t clock;			/* enum tacho_clock */
	uint32_t stream_id;
	uint8_t uuid[16];
	char path[TACHO_PATH_MAX];	/* the session's directory */
	bool (*may_open)(void);		/* asked before a file is opened; NULL: one may */
};

static inline uint32_t tacho_ring_nr_lanes(const struct tacho_ring *r)
{
	return r->nr_cpus + r->nr_plain + r->nr_late;
}

/* The CPU whose records a lane has; UINT32_MAX: of several, or any. */
static inline uint32_t tacho_ring_cpu(const struct tacho_ring *r, uint32_t lane)
{
	if (lane < r->nr_cpus)
		return lane;
	lane -= r->nr_cpus;
	return lane < r->nr_plain ? UINT32_MAX : lane - r->nr_plain;
}

static inline struct tacho_lane *tacho_ring_lane(const struct tacho_ring *r,
						 uint32_t lane)
{
	return (struct tacho_lane *)(void *)(r->lanes +
					     (size_t)lane * TACHO_LANE_STRIDE);
}

static inline struct tacho_buffer *tacho_lane_buffer(struct tacho_lane *lane,
						     uint32_t id)
{
	return (struct tacho_buffer *)(void *)(lane + 1) + id;
}

/*
 * tacho_ring_attach - view the rings of a mapped session.
 *
 * ctl is mapped with room for its lanes (the caller checked its size with
 * TACHO_CONTROL_SIZE()), path its directory.  Buffers are mapped when they
 * are first needed, those of CPUs at once when `populate`.
 *
 * Context: any; makes system calls, allocates no heap memory, preserves errno.
 *
 * Returns 0, -EINVAL for geometry out of bounds, -ENOMEM.
 */
int tacho_ring_attach(struct tacho_ring *r, struct tacho_control *ctl,
		      const char *path, bool populate);

/* Unmaps the buffers.  Nobody may be writing or reading through r. */
void tacho_ring_detach(struct tacho_ring *r);

/*
 * tacho_ring_retire - leave a dead session while others may still be inside.
 *
 * The buffers' mappings become private zero pages in place.
 */
void tacho_ring_retire(struct tacho_ring *r);

/*
 * tacho_ring_add_buffer - create and allocate a buffer of a lane.
 *
 * nr_subs sub-buffers (a power of two, 2..TACHO_SUBS_MAX), flags
 * TACHO_BUFFER_OVERWRITE or 0, next = id.  Its first use is a shift, or
 * the lane's start when it is the lane's first buffer.  A buffer that is there already is
 * success.  Safe against concurrent callers and kills (the file appears by
 * one link()).
 *
 * Context: any; system calls only.
 *
 * Returns 0, -EINVAL, -ENOSPC, or what open, allocate or link said.
 */
int tacho_ring_add_buffer(struct tacho_ring *r, uint32_t lane, uint32_t id,
			  uint32_t nr_subs, uint32_t flags);

/*
 * Maps a buffer here if it exists; its table entry, or NULL.  Any context.  *why is
 * -ENOENT when there is none, or none that can be believed, else what open or mmap said.
 */
struct tacho_ring_buf *tacho_ring_map_why(struct tacho_ring *r, uint32_t lane,
					  uint32_t id, int *why);
struct tacho_ring_buf *tacho_ring_map(struct tacho_ring *r, uint32_t lane,
				      uint32_t id);

/*
 * tacho_ring_start - make a lane writable: cursor to the first sub-buffer of
 * buffer id.  For the creator, before anybody writes; a lane that has begun
 * is left alone.
 */
int tacho_ring_start(struct tacho_ring *r, uint32_t lane, uint32_t id);

/* The same, for a lane whose first record is of that time. */
int tacho_ring_start_at(struct tacho_ring *r, uint32_t lane, uint32_t id, uint64_t ticks);

/*
 * tacho_ring_run - let writers in (recording) or keep them out: `until` of all
 * lanes.  The caller has set ctl->state before.  Any context; section 7.
 */
void tacho_ring_run(struct tacho_ring *r, bool recording);

/* One lane does what the session's state says; for the slow way. */
void tacho_ring_follow(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_move - a lane goes on in a buffer of another size or mode (section 9), with what
 * the old one holds, as far as there is room for it: the newest stays.  The other buffer of
 * the pair likewise.  Nothing that is written meanwhile is lost.
 *
 * mode: TACHO_BUFFER_OVERWRITE or 0.  Not for sessions whose buffers are linked.
 *
 * Context: tools, under the registry's lock.  Returns 0, -EINVAL (size; the lane has not begun, or
 * is closed), -ENOSPC, -ENOMEM, and -EPERM, -EAGAIN as tacho_ring_shift(): the lane stays as it was.
 */
int tacho_ring_move(struct tacho_ring *r, uint32_t lane, uint32_t nr_subs, uint32_t mode);

/* M1: puts right what a tool left that was killed while it moved a lane.  Context: as above. */
void tacho_ring_settle(struct tacho_ring *r, uint32_t lane);

/* The first id of the pair that the lane is in. */
uint32_t tacho_ring_home(const struct tacho_ring *r, uint32_t lane);

/* Whether a buffer has memory and counts; those that a lane was moved from do not. */
bool tacho_ring_in_use(const struct tacho_ring *r, uint32_t lane, uint32_t id);

/* The buffer of the last snapshot, or TACHO_BUFFERS_MAX. */
uint32_t tacho_ring_frozen(const struct tacho_ring *r, uint32_t lane);

/* Name of a buffer's file in the session's directory: "buf.<lane>.<id>". */
void tacho_ring_file(char *to, size_t size, uint32_t lane, uint32_t id);

#endif
