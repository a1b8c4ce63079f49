/* SPDX-License-Identifier: MIT */
/*
 * parallel.h - several threads read one stream, and what they find out is as if one had.
 *
 * 1. What can be divided
 *	Traces whose packets can be read without those before them, while nothing that is known
 *	of the trace (types, thread names, symbols, the clock) changes on the way.  Such sources
 *	have ops->spans (source.h):
 *
 *	ours		packets
 *	trace.dat	pages of the kernel's ring buffer, or compressed chunks of them
 *	LKST		blocks
 *
 *	Everything else is read by one thread: live sources, snapshots, and a stream that is
 *	STRICT, or whose damage is reported place by place.  Of other formats, what a record
 *	means depends on records before it, and no header tells (ltt/read.h, kev/read.h):
 *
 *	LTT		which process runs; what a custom event is
 *	.kev		the high half of the time, and who runs, on each CPU; combine events that
 *			are open; the order itself: there is one sequence for all CPUs
 *
 *	A division is into pieces, of one of two kinds:
 *
 *	range	some packets of one part.  For what needs no order: counts, histograms.
 *		The pieces are all packets, so damage is counted as by one reader: a piece
 *		begins at a packet whose header is good, and what is wrong before the next
 *		piece belongs to this one
 *	slice	all parts, from one time until another.  For what needs the order of time.
 *		Within a slice records are merged as always, and no record of a slice is
 *		earlier than one of the slice before
 *
 * 2. Who does what
 *	caller's thread		plans the pieces, makes the views, starts and ends the threads;
 *				take() of each piece, in order
 *	worker threads		each has a *view*: a stream of its own over the same files.
 *				They get pieces in order; work() reads one to its end
 *
 *	A view has its own windows, positions and descriptors, and no types, facts or tables but
 *	those of the stream that it shows.  They do not change while there are workers:
 *	all types are loaded before, and a table that is read when it is first needed (kernel
 *	symbols, printk formats) is read under a lock, once.  The caller's thread does not
 *	read the stream meanwhile.  So a record's type is the same pointer in all views.
 *
 *	Workers have all signals blocked.  None is there after the call, whatever it returns;
 *	of slices that are taken one by one (section 8) after tacho_slices_end().  With one
 *	thread, or less than two pieces, none is started.
 *
 * 3. Order
 *	The result of piece k goes into unit k modulo the number of units.  A worker gets piece k
 *	only when take() was called for piece k minus that number: so the results that wait are
 *	bounded, two for each thread.  take() sees 0, 1, 2, ..., and what it appends to
 *	is what one thread would have made.
 *
 * 4. When slices must not be used
 *	A slice finds its first packets by the times in headers.  Where these do not say
 *	where records are (a packet that was being written, a torn or damaged one, times that
 *	go back, losses of a packet without records), slices end: the plan has
 *	none after such a place.
 *
 *	What is in a packet only its reader sees.  A worker that meets damage, or any error (no
 *	memory, no descriptors), gives the slice up, and with it all that follow.  The last
 *	slice is never given to a worker.  So slices are always a beginning of the trace, and the
 *	caller's thread reads the rest as if there were no threads: the stream then stands before
 *	the first record that was not taken.  Damage and errors are therefore found, counted and
 *	reported by the code that does so with one thread, after the workers have released their
 *	memory and descriptors.
 *
 *	Why that is exact: damage is seen by the worker of each slice that reads it, and these
 *	are neighbours.  The first of them is not taken, so the caller's thread reads it once.
 *
 *	Of some formats too little is known in advance: headers say when something begins and
 *	not when it ends, or most of them are not looked at.  A plan is then a guess, and is
 *	checked by the views: one that meets a time that goes back gives up, and at the end of a
 *	slice ops->through says whether its view came, in every part, as far as the next slice
 *	begins.  By induction the slices that were taken have all records of an orderly
 *	beginning, once.
 *
 *	Times may go back in the rest.  It begins, in each part, with the first record that is
 *	not before the end of the last slice taken; records that are earlier after that one are
 *	returned late, as one thread returns them.
 *
 *	Ranges need no such care, but an error in one makes all of them worthless: the stream was
 *	not read then, and the caller begins again with one thread.
 *
 * 5. Memory
 *	The windows of all views together have the memory that those of one stream have, and at
 *	least 8 KiB for each part and view.  Beyond that there is what begin() makes, and units.
 *	A piece has 64 KiB (of a small trace) to 8 MiB of records; a range at least one packet.
 *	A slice reads each part's packet from its start, so it has at least two packets' worth
 *	of each part up to that size, and begins with a packet where it can.
 *
 * 6. Headers
 *	Which packets there are, a source finds out by a look at the header of each, once: before a
 *	division, a seek and the totals.  Threads share the parts; the caller's is one of them.
 *	They only look: what goes wrong is found again, and said, by the caller's thread.
 *
 * 7. Cancelling
 *	take() and tick() may end the call after any piece.  Workers first finish the pieces that
 *	they have.  The pieces that were done are then the first ones, without a gap.
 *
 * 8. One by one
 *	Who hands results on when he is asked for them cannot wait in a call until all are there.
 *	tacho_slices_begin() starts the workers, each tacho_slices_take() takes one slice, and
 *	tacho_slices_end() is what the end of tacho_parallel_slices() is.  Between these calls the
 *	workers go on until the results that wait are as many as section 3 allows, and sleep then.
 *	The stream is not read until _end().
 *
 *	A process that forks meanwhile has no workers in its child, and what they held there is in
 *	an unknown state.  The child finds this out by its process id: take() says that no slice
 *	comes, and _end() places the stream and leaves the workers' memory and descriptors alone.
 *	So the child reads the rest with one thread, from where the parent stood.
 */
#ifndef TACHO_STREAM_PARALLEL_H
#define TACHO_STREAM_PARALLEL_H

#include "stream/stream.h"

#define TACHO_THREADS_MAX	256u

struct tacho_piece {
	uint64_t index;
	uint32_t source;	/* ranges: index of the source that it is of */
	uint64_t damaged;	/* ranges: places that its reader found damaged */
	uint64_t lost;		/* slices: events lost in it, where only reading tells */
};

/*
 * What is done with the pieces.  begin() and end() are called by the caller's thread, while no
 * worker runs; work() by workers, for different `own` at once; take() and tick() by the caller's
 * thread.
 */
struct tacho_parallel {
	void *arg;
	/* State for one worker, whose view lives until its end(); NULL: no memory. */
	void *(*begin)(void *arg, struct tacho_stream *view);
	int (*end)(void *arg, void *own);	/* not 0: what was done is worthless (ranges) */
	/*
	 * Reads the view to the end of the piece.  unit: unit_size bytes, zeroed before its first
	 * use; what an earlier piece left there was taken.  0, or a negative errno: section 4.
	 */
	int (*work)(void *arg, void *own, struct tacho_stream *view,
		    const struct tacho_piece *piece, void *unit);
	size_t unit_size;
	/* The piece is done.  Not 0 ends all: a slice is as if not taken.  NULL: ranges only. */
	int (*take)(void *arg, const struct tacho_piece *piece, void *unit);
	/* Some pieces are done.  Not 0 ends all.  NULL: nothing. */
	int (*tick)(void *arg);
	/* Releases what a unit has; NULL: nothing. */
	void (*clear)(void *arg, void *unit);

	uint64_t from, to;	/* slices: times in ns; none begins after `to` */
};

/*
 * Looks at all headers that nobody has looked at yet, by as many threads as the stream may have.
 * Without threads, or where they are of no use, it does nothing.
 */
void tacho_parallel_scan(struct tacho_stream *stream);

/* Whether threads can be of use: the stream may have some, and its packets can be divided. */
bool tacho_parallel_possible(const struct tacho_stream *stream);

/*
 * tacho_parallel_ranges - read all packets, in any order.
 *
 * The stream was not read, and is not: tacho_stream_next() would begin at the start.  work()
 * reads its view by tacho_stream_next().
 *
 * Returns 1 when all pieces were worked on (and taken); 0 when nothing was done, or some
 * worker failed: what was done is to be forgotten; or what take() or tick() returned, which
 * must be negative, and then what was done are the first pieces.  The damage of what was done
 * was added to the stream's, unless it returns 0.
 */
int tacho_parallel_ranges(struct tacho_stream *stream, const struct tacho_parallel *p);

/*
 * tacho_parallel_slices - read a beginning of the stream, in order.
 *
 * The stream stands before its first record that is not before p->from, as after
 * tacho_stream_seek(p->from), and afterwards before the first record that was not taken.
 *
 * Returns how many pieces were taken; or a negative errno: the stream could not be placed.
 */
int tacho_parallel_slices(struct tacho_stream *stream, const struct tacho_parallel *p);

/*
 * tacho_slices_begin - start to read a beginning of the stream, slice by slice.
 *
 * As tacho_parallel_slices(); *p is copied.  Returns 1 and *slices, which tacho_slices_end() frees;
 * or 0: threads are of no use, and the stream stands where it stood.
 */
struct tacho_slices;
int tacho_slices_begin(struct tacho_slices **slices, struct tacho_stream *stream,
		       const struct tacho_parallel *p);

/*
 * tacho_slices_take - wait for the next slice and take it.
 *
 * Returns 1; 0: there is none for workers any more; or what tick() or take() returned.  After
 * anything but 1 it returns 0.
 */
int tacho_slices_take(struct tacho_slices *slices);

/* Ends the workers and places the stream, as tacho_parallel_slices() does.  Returns as it does. */
int tacho_slices_end(struct tacho_slices *slices);

#endif
