/* SPDX-License-Identifier: MIT */
/*
 * state.h - the shared state of LKST: one file, DIR/lkst, in the run-time directory.  Its structs
 * are in fmt/lkst/layout.h, because core dumps contain it, too.
 *
 * 1. How LKST is implemented
 *
 *	maskset		a table from event type to handler, in this file
 *	event handler	a function of a process, and an entry in this file
 *	buffer		a buffer of a lane of one tacho session, "lkst" (ring/ring.h):
 *			this file has LKST's ids, sizes and links
 *	event		of a program: a tacho event "lkst:MNEMONIC" of that program
 *			of the kernel: a tracepoint of the session's kept kernel instance,
 *			which the pump (pump.h) writes into the late lane of its CPU as
 *			"lkst:MNEMONIC"
 *
 *	The first tool that needs the session creates it.  The first user of this file, program or
 *	tool, creates it; a program whose hooks are disabled accesses it once.
 *
 * 2. Switching masksets
 *
 *	`current` is one word, which alone decides:
 *
 *	 63      32 31     16 15      8 7       0
 *	+----------+---------+---------+---------+
 *	| count    | slot    | 0       | id      |
 *	+----------+---------+---------+---------+
 *
 *	A slot has a table of one word for each event type: the slot's generation (turn) and a
 *	handler.  A written maskset gets a new slot with a new generation; ids point to slots.  A
 *	hook reads `current`, then the slot's generation word and its entry: if the generations
 *	differ, the slot was reused, and the hook starts again.  So exactly one maskset filters
 *	each event, and a switch is one store.
 *
 *	Sites check the state words of their tacho event, which follow:
 *
 *	S1  rules of the session: events that the old or the new maskset needs are enabled S2
 *	tracepoints of the kernel instance likewise
 *	S3  `current` is stored; switched[] has the time
 *	S4  rules and tracepoints: events that the new maskset does not need are disabled
 *
 *	A tool that dies in between leaves events enabled that the current maskset masks: hooks
 *	filter them like any other; the next switch disables them.  Kernel events that were
 *	recorded before S3 and pumped after it are filtered by switched[].
 *
 * 3. Buffers, and shifting
 *
 *	cpu[c].buffer[id] is LKST's buffer id of CPU c.  `ring` is the id of the lane's
 *	buffer that holds it.  Only the lane's cursor decides which buffer is current; `begins`
 *	(or `began`) of the ring's buffer is where its current (or last) use began.
 *
 *	A buffer of n bytes holds n / LKST_SIZEOF_LKST_EVENT_RECORD records.  The underlying ring
 *	buffer is larger: a power of two, plus the packets' heads, one sub-buffer that the writers
 *	may be about to overwrite, and room for records written during a shift.  The late lane has
 *	a buffer of the same number, for the kernel's events.  Readers see the last n bytes of
 *	both.
 *
 *	Overrun: after a record is written the hook compares the cursor with
 *	`limit`, the first cursor at which the buffer may be full.  Beyond it, or in another
 *	buffer:
 *
 *	O1  the records since `lap` are counted, the kernel's as well; lap is the ring buffer, and
 *	    the number of the first record since the last overrun.  A lap of another buffer, or of
 *	    before `begins`, is set to `begins`
 *	O2  full: lap advances by one buffer, by compare-and-swap: the hook that succeeds raises
 *	    LKST_BUFF_OVFLOW, whose handler may shift.  If the shift fails because of concurrent
 *	    writers, the lap is restored, and the next record tries again
 *	O3  limit is computed again: only a hint, stored without ordering, because O1 counts
 *
 *	Shifting, by the program that caused the overrun or by a tool:
 *
 *	H1  c = cursor;  next = table[table_of[c's buffer]].next
 *	H2  tacho_ring_shift_from(c, next): commits only if the cursor is still c
 *
 *	Deleting (tools, under LKST's lock):
 *
 *	D1  the entry is marked as being deleted: H1 finds no buffer there
 *	D2  if it is the successor of the current buffer, the lane begins a new sub-buffer: hooks
 *	    between H1 and H2 with the old table start again.  The same is done when a link of the
 *	    current buffer is removed; other links need nothing, because the cursor has changed
 *	    for hooks that used them
 *	D3  if it has become current, the mark is removed: EBUSY D4  its memory is freed, except
 *	for the sub-buffer from which it would continue; the ring's buffer is reused for one of
 *	the same size
 *
 * 4. The kernel's events
 *
 *	They arrive late: they stay in the kernel until a pump reads them.  In the lane of the
 *	program's events they would follow later events, and would overwrite them.  So they have a
 *	separate lane, the late lane of their CPU (ring/ring.h, 6), to which only the pump writes.
 *	Times ascend in both lanes, and each has the size of LKST's buffer: the last n records of
 *	both together are among the last n of each.  Nothing is moved or sorted, hooks are
 *	unaffected, and readers merge. (Rewriting a single lane in order at each pump would cost
 *	time proportional to the buffer's size and block the hooks.)
 *
 *	An event belongs to that use (turn) of a buffer that was current at the event's time:
 *
 *	L1  the turn of the previous event, if it has not ended at this event's time L2
 *	otherwise, of the turns that have not ended by then, the one that was left first; or the
 *	current one.  Turns that were overwritten, or taken by a reader, no longer exist L3  the
 *	record is committed in the late lane's buffer of the same number
 *	L4  it is counted in `late_end`, and in `late_early` if the turn has not ended.  The next
 *	    hook counts again (O1); if the buffer is full, the pump does O2
 *	L5  after a shift, later kernel events are written to the new buffer, as if they had not
 *	    been late.  So of two consecutive buffers, kernel events are divided where the first
 *	    became full, and program events where that was detected; each buffer is in order
 *
 *	After a kill between L3 and L4, the next pump counts the records in the lane.
 *
 *	What a buffer shows of a turn
 *	    the last n bytes of both lanes together, if it was full before it was left, otherwise
 *	    all.  Records added after it was left do not displace earlier ones.  At most the last
 *	    n bytes of kernel records remain then, and older program records are dropped with the
 *	    lost kernel records: after the first shown record nothing is missing
 *
 *	A record's number is the sum of its number in its lane and of that of the next record
 *	of the other lane.  It counts all records written to the buffer, in all turns, so the
 *	number of missed records is a difference of two numbers (section 5).
 *
 *	L6  a reader merges both lanes from the first record that may be shown, and skips records
 *	    with smaller numbers.  After a gap in one lane (overwritten during reading), it skips
 *	    older records in the other
 *
 *	A turn that was left is complete when the kernel's events have passed its end: `late_left`
 *	(by L2, L5), or when all events before `pumped` were moved.
 *
 * 5. The read queue
 *
 *	It consists of the buffers of the CPU that are not current, were not `taken` since they
 *	began, and are not empty, in the order in which they were left (time of the `saved`
 *	cursor's packet).  Reading takes the head (taken = its began + 1) when it is complete, or
 *	when another buffer is already in the queue.  The owner is a process (pid and start time);
 *	a dead process owns nothing.
 *
 *	Records between `upto`, the first unread one, and the first that a buffer now shows were
 *	overwritten: they are counted and reported to the reader.  The count begins with SETRMOD.
 *	The successor of a killed owner continues at its position and with its count.
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
 *	Contents are untrusted: indexes are checked, texts are copied up to their size.
 */
#ifndef TACHO_COMPAT_LKST_STATE_H
#define TACHO_COMPAT_LKST_STATE_H

#include <stdbool.h>

#include "fmt/lkst/layout.h"

/* The handler of a maskset for an event type; VOID for unknown types. */
uint32_t lkst_state_handler(const struct lkst_state *s, uint64_t current, uint32_t etype);

/*
 * Maps DIR/lkst; create: creates it (with the special masksets, LKST's handlers and event types)
 * if it does not exist.  All blocks are allocated. fd: receives its descriptor, for locking;
 * NULL: closes it.  Any thread; not for signal handlers.  Returns 0, -ENOENT, -EPROTO (of another
 * version), or an error of the system.
 */
int lkst_state_map(struct lkst_state **state, int *fd, bool create);
void lkst_state_unmap(struct lkst_state *state);

/*
 * Resets masksets, handlers and buffers to their initial state; event types stay.  Under the
 * lock.
 */
void lkst_state_reset(struct lkst_state *s);

/* A record for the static buffer; ticks, recid, thread, pid and cpu are filled in here. */
void lkst_state_note(struct lkst_state *s, uint32_t etype, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d);

/* Whether an owner still lives; LKST itself always does. */
bool lkst_owner_lives(const struct lkst_owner *o);
struct lkst_owner lkst_owner_of(int32_t pid);

#define LKST_OWNER_ITSELF	(-1)

#endif
