/* SPDX-License-Identifier: MIT */
/*
 * state.h - what all who use LKST share: one file, DIR/lkst, in the run-time directory.  Its
 * structs are in fmt/lkst/layout.h, for who finds it in a core dump.
 *
 * 1. What LKST is made of here
 *
 *	maskset		a table from event type to handler, in this file
 *	event handler	a function of a process, and an entry in this file
 *	buffer		a buffer of a lane of one tacho session, "lkst" (ring/ring.h):
 *			this file says which ids, sizes and links LKST's have
 *	event		of a program: a tacho event "lkst:MNEMONIC" of that program
 *			of the kernel: a tracepoint of the session's kept kernel instance,
 *			which whoever pumps (pump.h) writes into the late lane of its CPU as
 *			"lkst:MNEMONIC"
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
 *	written while a shift is under way.  Beside it, under the same number, lies a
 *	buffer of the late lane, for the kernel's events.  Readers see the last n bytes of both.
 *
 *	Overrun: after a record is written the hook compares the cursor with
 *	`limit`, the first cursor at which the buffer may be full.  Beyond it, or in another
 *	buffer:
 *
 *	O1  the records since `lap` are counted, the kernel's as well; lap is the ring buffer, and
 *	    the number of the first record of this time round.  A lap of another buffer, or of
 *	    before `begins`, is set to `begins`
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
 * 4. The kernel's events
 *
 *	They come late: the kernel has them until somebody pumps.  In the lane of the program's
 *	events they would lie behind younger ones, and many old ones would overwrite them.  So they
 *	have a lane of their own, the late lane of their CPU (ring/ring.h, 6), which only who pumps
 *	writes to.  Both lanes ascend in time, and each holds as much as LKST's buffer: the last n
 *	records of both together are among the last n of each.  Nothing is moved or sorted, hooks
 *	write as ever, and a reader merges.  (One lane that is rewritten in order with each
 *	pumping would cost as much as the buffer is large, and stop the hooks meanwhile; a
 *	larger one would have to hold all that the kernel has.)
 *
 *	An event belongs to the turn of the buffer that was written when it happened:
 *
 *	L1  the turn of the event before, if it is not over at this event's time
 *	L2  else, of those that are not over by then, the one that was left first; or the one that
 *	    is written.  One that was overwritten, or that a reader has taken, is not there any more
 *	L3  the record is committed in the late lane's buffer beside it
 *	L4  it is counted in `late_end`, and in `late_early` if the turn is not over.  The
 *	    next hook counts anew (O1); is the buffer full, who pumps does O2
 *	L5  it shifted: the kernel's events that follow go on in the buffer that was shifted
 *	    to, as they would have if nobody had been late.  So of two buffers that follow each
 *	    other the kernel's events are parted where the first was full, and those of programs
 *	    when that was found; each buffer is in order
 *
 *	Killed between L3 and L4, the next one that pumps counts what lies there.
 *
 *	What a buffer shows of a turn
 *	    the last n bytes of both together, if it was full before it was left: what goes is
 *	    the oldest; else all.  What came after it was left takes no place from what was there.
 *	    Of the kernel's the last n bytes are left then at most, and older ones of programs go
 *	    with what they lost: nothing is missing behind the first record that is shown
 *
 *	A record's number is the sum of its number in its lane and of that of the next record
 *	of the other lane.  It counts what was written to the buffer, of all turns, so what a reader
 *	missed is a difference of two numbers (section 5).
 *
 *	L6  a reader merges both lanes from the first record that may be shown, and passes those
 *	    over whose number is too small.  A gap in one lane (overwritten meanwhile) makes him
 *	    pass over what is older in the other
 *
 *	A turn that was left is whole when the kernel's events have come past its end: `late_left`
 *	(by L2, L5), or when all before `pumped` were moved.
 *
 * 5. The read queue
 *
 *	Who is in it follows from the above: the buffers of the CPU that are not being
 *	written, were not `taken` since they began, and hold something; in the order in
 *	which they were left (time of the `saved` cursor's packet).  Reading takes the head: taken =
 *	its began + 1, when it is whole, or when another one waits already.  The owner is a process
 *	(pid and start time); one that is dead owns nothing.
 *
 *	Records between `upto`, the first that no reader had, and the first that a buffer shows
 *	by now were overwritten before: they are counted, and the reader is told.
 *	The count begins with SETRMOD.  Whoever follows an owner that was killed goes on where he
 *	was, and with his count.
 *
 * 6. Static buffer
 *
 *	A few records in this file, taken by fetch-and-add, for LKST's own events.
 *
 * 7. Who writes what
 *	tools	all tables, under LKST's lock: flock() on this file
 *	programs	lap (compare-and-swap), limit, the static buffer, their own entries in
 *		etype[] and handler[] (claimed by compare-and-swap of `owner`)
 *	who pumps	lap and limit likewise; what begins with `late_`; `pumped`
 *
 *	Nobody trusts what is read: indexes are checked, texts are copied up to their size.
 */
#ifndef TACHO_COMPAT_LKST_STATE_H
#define TACHO_COMPAT_LKST_STATE_H

#include <stdbool.h>

#include "fmt/lkst/layout.h"

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
