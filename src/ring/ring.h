/* SPDX-License-Identifier: MIT */
/*
 * ring.h - bytes across processes: the rings of one session.
 *
 * This comment is the protocol.  tests/model/ring.pml is its model (fallback.pml of
 * section 6, until.pml of section 7, move.pml of section 9), tests/ring/ its stress test.
 * Steps have letters and numbers (W1, S2).  A release and the acquire that it pairs with
 * have a name in brackets, as [cursor]; tests/tree/pairs.py finds both ends of each.
 *
 * 1.  The picture
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
 *	sub-buffer, or to another buffer, stores a new id, a new number and the
 *	offset of the first word after the new header.  The sub-buffer number counts modulo
 *	2^24 and is compared by subtraction; the full number is packet_seq_num in the header.
 *
 * 2.  Writing: one committing store
 *
 *	W1  the CPU, its lane and the lane's cursor are read	(cursor = c)
 *	W2  the clock is read, and compared with the lane's `fast_until` (section 7)
 *	W3  the room in the sub-buffer is checked	(no room: S1)
 *	W4  restartable sequence: still on that CPU?  cursor still c?
 *	    the record is copied to the words after the committed ones
 *	    cursor = c + record			commit, release	[cursor]
 *
 *	If the thread is preempted, migrated or interrupted by a signal inside W4, the kernel
 *	aborts the sequence and the thread starts again at W1.  If that happens between W1
 *	and W4 and another writer commits, the comparison in W4 fails.  So no other record is
 *	committed to this lane between W1 and the commit, and the time stamps of a lane
 *	ascend.  A thread that is killed at any instruction has either committed, or left
 *	bytes after the cursor that the next writer overwrites.
 *
 *	On x86-64 one sequence has all four steps (write-x86_64.h), and may read the clock
 *	before the cursor: nothing can come between them.
 *
 * 3.  Changing the sub-buffer (S) and the buffer (shift)
 *
 *	S1  the new header and the closing words of the old header are computed in
 *	    private memory from c
 *	S2  discard mode: if the new sub-buffer was not released by the reader ([consumed]),
 *	    the record is counted as discarded, and nothing else happens
 *	S3  restartable sequence as in W4.  It copies
 *		- the closing words (end, sizes, counts) to the old sub-buffer's header
 *		- the header to the new sub-buffer
 *		- what the new header says to `open` of the buffer (section 9)
 *		- at a shift: c to the old buffer's `saved`, its `begins` to its `began`, and
 *		  the new sub-buffer's number to the new buffer's `begins`
 *	    and commits the new cursor.
 *
 *	None of the words stored before the commit is in use:
 *		- closing words mean nothing while the cursor is in that sub-buffer, and they
 *		  are computed from c, so a writer that repeats the change stores them again
 *		- the new sub-buffer is free (discard mode), or its records are being
 *		  overwritten (overwrite mode, see R3)
 *		- of the two places of `open`, the cursor's is the other one
 *		- `saved` and `began` mean nothing in the buffer that the cursor is in,
 *		  `begins` nothing in any other
 *
 * 4.  Reading
 *
 *	R1  the cursor is loaded (acquire, [cursor]): all bytes that it covers are complete
 *	R2  the bytes are copied
 *	R3  overwrite mode: the cursor is loaded again.  A writer may be storing to the
 *	    sub-buffer after the cursor's (S3).  So the copy of a sub-buffer is good if its
 *	    number + n > the cursor's number + 1, and n - 1 sub-buffers can be read.
 *	    Two fences order this: a release fence before the stores of S3, an acquire
 *	    fence between the copy and the second load.	[overwrite]
 *
 *	The open sub-buffer is read up to the cursor like any other; it need not be closed.  In
 *	discard mode the reader releases sub-buffers by storing `consumed` (release,
 *	[consumed]), each on the read after its last record.  A reader that is killed before
 *	that has released none of the records it returned last, and its successor reads them
 *	again.  There is one consuming reader per lane at a time.
 *
 * 5.  Counting
 *
 *	Each header has event_first, the number of records in the buffer
 *	before it.  From it the reader computes how many records were overwritten before it
 *	read them.  Discarded records are counted in the lane, by reason.  For each lane,
 *	exactly, while no writer is active:
 *
 *		attempted = written + discarded
 *		written   = read + overwritten	(before they were read)
 *
 *	Lost is the sum of discarded and overwritten: attempted = read + lost.
 *
 * 6.  Without restartable sequences
 *
 *	The fallback lanes come after those of the CPUs.  W and S run under the
 *	lane's lock, a word with the writer's thread id and pid name space ([lock]); the
 *	clock is read after it was taken.
 *	A lock whose owner died is taken over: the single commit makes that
 *	safe at any point.  A lock held by a living thread is waited for
 *	briefly, then the next fallback lane is tried, then the record is counted as discarded.
 *	A signal handler that interrupts the owner also tries the next lane, but never
 *	waits: the other owners may be waiting for the thread that it interrupted.
 *
 *	The late lanes come last.  Late lane n has records of CPU n that another thread brings
 *	later than they happened, each with its own time (tacho_ring_write_late()).  They are
 *	written under the lock, as fallback lanes are.  But a writer that needs any free lane
 *	never takes a late lane, and the caller of tacho_ring_write_late() names the buffer.
 *	Times ascend here too, so a reader merges such a lane with its CPU's.
 *
 * 7.  Stop, epochs, and the end of a session
 *
 *	`fast_until` is one word per lane.  A writer whose clock has reached it takes the
 *	slow path, which looks at the session's state.  It is
 *
 *		0	while the session is stopped
 *		1	(the past) if the next record must begin a new packet
 *		else	the end of an epoch of 2^46 ticks
 *
 *	A writer whose clock has reached a `fast_until` that is not 0 begins a new packet.
 *	The writer that commits this packet moves `fast_until` to the end of the current epoch, by
 *	compare-and-swap and never from 0.  So a packet spans at most 2^47 ticks, and
 *	48-bit time stamps are unambiguous.
 *
 *	Tools and triggers (these in any traced process, at any time) start and stop the
 *	session.  The state is authoritative and changes first, by one store; each lane
 *	follows:
 *
 *	stop	state, then in each lane `fast_until` = 0
 *	start	state, then in each lane
 *		G1 `fast_until` from 0, by compare-and-swap, to the end of the open packet's
 *		   epoch if that is the current one, else to 1
 *		G2 state is read again: no longer recording? `fast_until` = 0
 *	write	the slow path: recording, and `fast_until` is 0: G1 and G2 for this lane,
 *		then again; not recording, and `fast_until` is not 0: `fast_until` = 0
 *
 *	Either the stop's store to `fast_until` comes after G1, or G2 sees the stop's state.  So
 *	when all state changes have completed, no lane records in a stopped session; a lane
 *	left at 0 in a recording session resumes with its next writer, on the slow path.
 *	A thread that is killed during a change leaves lanes that do not follow yet: those at
 *	0 follow with their next record, the others with their next sub-buffer at the latest.
 *
 *	The destroyer sets state to DEAD and `fast_until` to 0, visits each CPU and
 *	stores TACHO_CURSOR_DEAD in its lane (in a fallback lane under the lock, which
 *	it keeps), and the cursor's last value in `saved` of its buffer.  A writer that was
 *	before W4 fails the comparison and leaves.  A reader reads a closed lane to its
 *	end, unless state is DEAD after the copy: the memory may have been freed by then.
 *
 * 8.  What a process remembers of an open sub-buffer
 *
 *	Each process has a private table of one entry per CPU lane, for sequences
 *	that do all of W1..W4 (write-x86_64.h): `first`, the cursor of a sub-buffer
 *	with no words and no records; `sub`, where that sub-buffer is mapped;
 *	`room`, its words + 1 in a cursor's place, or 0: the entry is empty.  A cursor c
 *	is in it, and not after its end, if c - first < room: one comparison
 *	for the buffer, the number and the room; a record fits if the same holds with
 *	its words added to the difference.  An outdated entry only sends the writer to the slow
 *	path, since its description of its own sub-buffer stays true.
 *
 *	F1  after a record took the slow path the writer fills in the entry of its
 *	    CPU, by two sequences on that CPU: room = 0; then, if room is still
 *	    0: first, sub, and room as the commit
 *	F2  an entry is read only inside a sequence on that CPU
 *
 *	So an entry does not change between any two instructions that read it, and
 *	a thread that is interrupted between first and sub has left room = 0.
 *
 * 9.  Moving: a buffer of another size or mode, with what the old one holds
 *
 *	The buffers of a lane are pairs, 2k and 2k + 1: snapshots alternate between
 *	the two.  A buffer never changes its size and its mode (discard, overwrite),
 *	as processes have it mapped; there are 16 sizes and two modes, so
 *	32 pairs are enough, and each is reused for the same size and mode.  The lane is in the
 *	pair that its cursor names.  A move takes it to another pair, and changes
 *	only the id in the cursor: sub-buffers keep their numbers, records theirs.
 *
 *	pair 0 (8 sub-buffers)          pair 2 (4)
 *	| 8 | 9 |10 |11.| 4 | 5 | 6 | 7 |     | 8 | 9 |10 |11.|	. the open one
 *	cursor 0:11:words:n    -- M5 -->      cursor 2:11:words:n
 *
 *	M1  pairs in which the lane is not, and which have memory, were left by a killed
 *	    tool.  They are retired as in M6
 *	M2  the pair of this size and mode is found, or one that was never used
 *	M3  lane's `moves` + 1; the pair's memory is allocated; what the other buffer of the
 *	    pair holds is copied (it has no writer)
 *	M4  the sub-buffers are copied, each to its number's place, the open one up to
 *	    the cursor, while writers continue
 *	M5  on the lane's CPU: cursor c is read, the words written since M4 are copied, `floor`
 *	    (the first sub-buffer that was copied), `consumed`, `open`, `begins` and `began`
 *	    are set.  Then, if the cursor is still c:
 *	    cursor = c with the new id		commit, release [cursor]; else M5 again
 *	M6  lane's `home` = the pair ([home]); and for each buffer of the old pair: not MADE,
 *	    `moves` + 1, and its memory is freed
 *
 *	Writers.  A record's place is computed from c and the mappings of c's buffer, and
 *	stored to inside the sequence (under the lock) that compares c.  So no writer stores
 *	to a buffer in which the lane is not.  The lane may be back in a buffer with the very
 *	cursor c that a sleeping writer has read: then nothing was written in between,
 *	the buffer holds the same again, and the writer's stores are right.  To change the
 *	sub-buffer a writer needs what the open one's header says; it reads that from `open`
 *	in the control block, not from the buffer: on a file system that is full, reading
 *	memory that was freed would kill it.  `open` has two places, by the parity of the
 *	number, as S3 stores the next one's before its commit.
 *
 *	Readers follow the first or the second buffer of a pair; which pair, the
 *	cursor says each time.  They continue at the same number.
 *
 *	R1' `moves` is loaded (acquire, [moves]), then the cursor
 *	R3' after the copy: `moves` is unchanged; else the copy is discarded, and R1'
 *
 *	A tool touches only buffers in which the lane is not, after it has counted
 *	`moves`.  So a reader that copied any of that memory finds another number; and a reader
 *	that loads `moves` after it was counted loads a cursor that is not in that pair.
 *
 *	A kill before M5 has changed nothing; one after it leaves M6 to the next tool,
 *	or to the destroyer.  If the new buffer is smaller, the oldest sub-buffers are dropped,
 *	as when the kernel resizes.  But the kernel stops recording during that time; here no
 *	record is lost.  In discard mode the sub-buffers that were not moved count as consumed.
 *
 * 10.  Invariants
 *
 *	They hold for each lane and buffer while no writer is active and no tool changes the
 *	lane, also after a kill at any instruction.  `end` is the cursor in the buffer that is
 *	written, `saved` in any other; seq is the full number of the sub-buffer that `end` is
 *	in; a buffer's history is that sub-buffer and those before it that can still be read
 *	(R3, `consumed`, `floor`).  tacho_ring_check() (check.h) checks them.
 *
 *	I1  place	The cursor is 0 (not begun), TACHO_CURSOR_DEAD (closed), or in a
 *			buffer that is made, between a sub-buffer's header and its end
 *	I2  records	A sub-buffer's words after its header, up to `end` or to
 *			content_size, are exactly as many records as `end` or `events` says
 *	I3  numbers	packet_seq_num ascends by 1 to seq, and event_first by `events`;
 *			both are in `open` for seq, and seq mod 2^24 is in `end`
 *	I4  time	Times ascend from timestamp_begin to timestamp_end, from packet to
 *			packet, and span at most 2^47 ticks in one
 *	I5  consumed	consumed <= seq + 1; in discard mode also seq < consumed + n
 *	I6  fast_until	0, or at most one epoch after the end of the open packet's; only
 *			starting (G1) takes it away from 0
 *	I7  saved	Of a buffer that is not written: 0, or a cursor in that very buffer
 *
 *	Two more invariants hold for each step, not only at rest.  A writer stores only to words
 *	that no cursor covers, or that were released or are being overwritten.  After
 *	TACHO_CURSOR_DEAD the cursor never changes.
 *
 * What may run at the same time
 *	writers		any threads of any processes, any signal handlers
 *	reader		one that consumes per lane, any number that do not; with all writers
 *	shift		any number: those of tools, one per session at a time (the registry's
 *			lock), and those of writers; the cursor's comparison decides
 *			which is first
 *	move		one per session at a time (the registry's lock), with writers, readers
 *			and those shifts that writers make within a pair
 *	close		with writers
 *
 * Progress: writers never wait in CPU lanes (a sequence is restarted only
 * when the kernel scheduled another thread); the wait in fallback lanes is bounded.
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
/* No room: its words are after any sub-buffer's end, and adding a record keeps its number. */
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

/* What the header of the sub-buffer that is open at cursor c says. */
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

/* The end of the epoch of a clock value; never 0. */
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

/* An entry of section 8's table, of one CPU's lane. */
struct tacho_ring_fast {
	uint64_t first;
	uint64_t sub;		/* address */
	uint64_t room;		/* compared with cursor - first; 0: empty */
	uint64_t pad;
};

/*
 * Private memory, immutable except for two tables: buf, whose entries change once, from
 * nothing to a mapping, and fast.  The geometry is copied here and checked at attach;
 * it is not read from shared memory again.
 */
struct tacho_ring {
	struct tacho_control *ctl;	/* shared; the caller's */
	unsigned char *lanes;		/* shared; ctl + TACHO_CONTROL_LANES_OFF */
	struct tacho_ring_buf *buf;	/* [lane << 6 | id], own */
	struct tacho_ring_fast *fast;	/* [lane] of CPUs, own; after buf */
	uint64_t rseq_offset;		/* from the thread pointer to struct rseq */
	uint32_t fast_cpus;		/* nr_cpus when the clock is the TSC, else 0 */
	uint32_t nr_cpus;
	uint32_t nr_fallback;
	uint32_t nr_late;
	uint32_t sub_shift;
	uint32_t sub_words;
	uint32_t seq_down;		/* TACHO_CURSOR_SEQ_SHIFT - sub_shift */
	uint32_t clock;			/* enum tacho_clock */
	uint32_t stream_id;
	uint8_t uuid[16];
	char path[TACHO_PATH_MAX];	/* the session's directory */
	bool (*may_open)(void);		/* called before a file is opened; NULL: always may */
};

static inline uint32_t tacho_ring_nr_lanes(const struct tacho_ring *r)
{
	return r->nr_cpus + r->nr_fallback + r->nr_late;
}

/* The CPU whose records a lane has; UINT32_MAX: of several, or any. */
static inline uint32_t tacho_ring_cpu(const struct tacho_ring *r, uint32_t lane)
{
	if (lane < r->nr_cpus)
		return lane;
	lane -= r->nr_cpus;
	return lane < r->nr_fallback ? UINT32_MAX : lane - r->nr_fallback;
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

/* Unmaps the buffers.  No thread may be writing or reading through r. */
void tacho_ring_detach(struct tacho_ring *r);

/*
 * tacho_ring_retire - leave a dead session while other threads may still use r.
 *
 * Replaces the buffers' mappings by private zero pages at the same addresses.
 */
void tacho_ring_retire(struct tacho_ring *r);

/*
 * tacho_ring_add_buffer - create and allocate a buffer of a lane.
 *
 * nr_subs sub-buffers (a power of two, 2..TACHO_SUBS_MAX), flags
 * TACHO_BUFFER_OVERWRITE or 0, next = id.  Its first use is a shift, or
 * the lane's start when it is the lane's first buffer.  If the buffer exists
 * already, this succeeds.  Safe against concurrent callers and kills (the file appears by
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
 * -ENOENT when there is none, or its size is out of bounds, else what open or mmap said.
 */
struct tacho_ring_buf *tacho_ring_map_why(struct tacho_ring *r, uint32_t lane,
					  uint32_t id, int *why);
struct tacho_ring_buf *tacho_ring_map(struct tacho_ring *r, uint32_t lane,
				      uint32_t id);

/*
 * tacho_ring_start - make a lane writable: cursor to the first sub-buffer of
 * buffer id.  For the creator, before the first write; a lane that has begun
 * is left unchanged.
 */
int tacho_ring_start(struct tacho_ring *r, uint32_t lane, uint32_t id);

/* The same, for a lane whose first record is of that time. */
int tacho_ring_start_at(struct tacho_ring *r, uint32_t lane, uint32_t id, uint64_t ticks);

/*
 * tacho_ring_run - start or stop writers: sets `fast_until` of all lanes.  The caller has set
 * ctl->state before.  Any context; section 7.
 */
void tacho_ring_run(struct tacho_ring *r, bool recording);

/* Makes one lane follow the session's state, as section 7 says of the slow path. */
void tacho_ring_follow(struct tacho_ring *r, uint32_t lane);

/*
 * tacho_ring_move - move a lane to a buffer of another size or mode (section 9), with what
 * the old one holds; if there is less room, the newest records stay.  Moves the other buffer
 * of the pair in the same way.  No record that is written during the move is lost.
 *
 * mode: TACHO_BUFFER_OVERWRITE or 0.  Not for sessions whose buffers are linked.
 *
 * Context: tools, under the registry's lock.  Returns 0, -EINVAL (size; the lane has not begun, or
 * is closed), -ENOSPC, -ENOMEM, and -EPERM, -EAGAIN as tacho_ring_shift(): the lane stays as it
 * was.
 */
int tacho_ring_move(struct tacho_ring *r, uint32_t lane, uint32_t nr_subs, uint32_t mode);

/* M1: completes or undoes the move of a tool that was killed.  Context: as above. */
void tacho_ring_settle(struct tacho_ring *r, uint32_t lane);

/* The first id of the pair that the lane is in. */
uint32_t tacho_ring_home(const struct tacho_ring *r, uint32_t lane);

/* Whether a buffer has memory and is part of the lane; false for those it was moved from. */
bool tacho_ring_in_use(const struct tacho_ring *r, uint32_t lane, uint32_t id);

/* The buffer of the last snapshot, or TACHO_BUFFERS_MAX. */
uint32_t tacho_ring_frozen(const struct tacho_ring *r, uint32_t lane);

/* Name of a buffer's file in the session's directory: "buf.<lane>.<id>". */
void tacho_ring_file(char *to, size_t size, uint32_t lane, uint32_t id);

#endif
