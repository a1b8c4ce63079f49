/* SPDX-License-Identifier: MIT */
/*
 * move.pml - a Spin model of section 9 of src/ring/ring.h: a lane of one CPU that is moved to
 * another buffer and back.
 *
 * What sequences and kills are is told in ring.pml.  There are two buffers, of N0 and N1
 * sub-buffers, which stand for pairs; old data is overwritten.  A sub-buffer has one record and
 * a header that says the number before it.  Memory that is given back reads as 0.  Tools come
 * one after the other (the registry's lock), and each may be killed between any two steps.
 * The reader is on another CPU.
 *
 * What the C lines are
 *	write.c  write_once(), advance(): `first` from open[], never from the buffer
 *	move.c   tacho_ring_move(): settle, moves, copy_until(), move_step(), settle
 *	read.c   locate(), first_of(), copy_sub(), has_moved()
 *
 * What is asserted
 *	C1  a record that the reader accepts is the one that its header says
 *	C2  accepted records are numbered on from the last; a gap is what was overwritten, or did
 *	    not fit
 *	C3  when all is quiet: committed = read + overwritten, and tried = committed, but for
 *	    what the killed were at
 *
 * Mutations, each of which must fail:
 *	-DBAD_MOVES	the reader does not compare `moves`
 *	-DBAD_COUNT	a tool gives memory back before it counts `moves`
 *	-DBAD_FLOOR	the reader does not look at `floor`
 *	-DBAD_OPEN	a writer takes the number from the header in the buffer
 *	-DBAD_FINAL	what came since the first copy is not copied on the CPU
 *	-DBAD_CMP	a tool does not compare the cursor
 */
#define N0	2
#define N1	3
#define NMAX	3
#define FIRST	5	/* so many records were there before: not what punched memory says */
#define SIZE(id)	(id -> N1 : N0)
#define AT(id, seq)	((id) * NMAX + ((id) -> (seq) % N1 : (seq) % N0))
#ifdef KILLED
#define WRITERS	1
#define EACH	2
#define TOOLS	2
#define KILLS	1
#else
#define WRITERS	1
#define EACH	2
#define TOOLS	2
#define KILLS	0
#endif

typedef Cursor { byte id; byte seq; byte recs }

Cursor cur;
byte w[2 * NMAX], h_first[2 * NMAX];	/* a record, and the number before it */
byte o_first[4];			/* open[]: 2 * id + parity */
byte floor[2];
bool made[2];
byte moves;
byte owner = 255;
byte committed_recs, tried, killed, got, over, done, tools_done;
bool finished;

#define ON_CPU(me)	if :: owner != me -> owner = 255 :: else fi
#define STILL(me)	(owner == me)
#define SAME(c)		(cur.id == c.id && cur.seq == c.seq && cur.recs == c.recs)
#define LOW(id, s)	((s) > SIZE(id) - 2 -> (s) - (SIZE(id) - 2) : 0)

proctype writer(byte me)
{
	Cursor c;
	byte n, first;

	do
	:: n == EACH -> break
	:: else ->
again:
		/* W1 */
		atomic {
			ON_CPU(me);
			c.id = cur.id; c.seq = cur.seq; c.recs = cur.recs
		}
		if
		:: c.recs == 0 ->
			/* W4 */
			atomic {
				ON_CPU(me);
				if :: SAME(c) -> owner = me :: else -> goto again fi
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				w[AT(c.id, c.seq)] = o_first[2 * c.id + c.seq % 2] + 1
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				cur.recs = 1; committed_recs++; owner = 255;
				n++; tried++
			}
		:: else ->
			/* S1: it may sleep before and after */
			atomic {
				ON_CPU(me);
#ifdef BAD_OPEN
				first = h_first[AT(c.id, c.seq)] + 1
#else
				first = o_first[2 * c.id + c.seq % 2] + 1
#endif
			}
			/* S3 */
			atomic {
				ON_CPU(me);
				if :: SAME(c) -> owner = me :: else -> goto again fi
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				h_first[AT(c.id, c.seq + 1)] = first
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				o_first[2 * c.id + (c.seq + 1) % 2] = first
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				cur.seq = c.seq + 1; cur.recs = 0; owner = 255
			}
		fi
	od;
	done++
}

#define DIE \
	if \
	:: killed < KILLS -> killed++; goto gone \
	:: true -> skip \
	fi

/* M6, and M1: the other buffer's memory */
#define RETIRE(b) \
	if \
	:: made[b] -> \
		made[b] = false; \
		COUNT_FIRST; \
		d_step { \
			for (i : 0 .. NMAX - 1) { \
				w[(b) * NMAX + i] = 0; h_first[(b) * NMAX + i] = 0 \
			} \
			i = 0 \
		} \
		COUNT_LAST \
	:: else \
	fi
#ifdef BAD_COUNT
#define COUNT_FIRST	skip
#define COUNT_LAST	moves++
#else
#define COUNT_FIRST	moves++
#define COUNT_LAST	skip
#endif

/* M4: what both can hold, up to c; nobody else looks at where it goes */
#define COPY \
	d_step { \
		low = (LOW(0, c.seq) > LOW(1, c.seq) -> LOW(0, c.seq) : LOW(1, c.seq)); \
		low = (floor[from] > low -> floor[from] : low); \
		for (s : low .. c.seq) { \
			h_first[AT(to, s)] = h_first[AT(from, s)]; \
			if \
			:: s < c.seq || c.recs -> w[AT(to, s)] = w[AT(from, s)] \
			:: else \
			fi \
		} \
		s = 0 \
	}

proctype tool(byte me)
{
	Cursor c;
	byte from, to, low, s, i;

	tools_done == me - WRITERS;	/* the lock */
	/* M1 */
	to = 1 - cur.id;
	RETIRE(to);
	from = 1 - to;
	moves++;							/* M3 */
	made[to] = true;
	atomic { c.id = cur.id; c.seq = cur.seq; c.recs = cur.recs }
	COPY;								/* M4 */
	atomic { DIE }
again:	atomic { ON_CPU(me); c.id = cur.id; c.seq = cur.seq; c.recs = cur.recs }
#ifndef BAD_FINAL
	COPY;
#endif
	atomic {							/* M5 */
		ON_CPU(me);
		floor[to] = low;
		o_first[2 * to] = o_first[2 * from];
		o_first[2 * to + 1] = o_first[2 * from + 1]
	}
	atomic {
		ON_CPU(me);
#ifndef BAD_CMP
		if :: !SAME(c) -> goto again :: else fi;
#endif
		cur.id = to; cur.seq = c.seq; cur.recs = c.recs; owner = 255
	}
	atomic { DIE }
	RETIRE(from);							/* M6 */
gone:
	tools_done++
}

proctype reader()
{
	Cursor c;
	byte id, seq, rec, next = FIRST, m, f, v, low;
	bool last;

	do
	:: true ->
again:		last = finished;
		m = moves;						/* R1' */
		atomic { c.id = cur.id; c.seq = cur.seq; c.recs = cur.recs }
		d_step {
			id = c.id;
			low = LOW(id, c.seq);
#ifndef BAD_FLOOR
			low = (floor[id] > low -> floor[id] : low);
#endif
			if :: seq < low -> seq = low; rec = 0 :: else fi;
			low = 0
		}
		if
		:: seq >= c.seq && rec >= c.recs ->
#ifndef BAD_MOVES
			if :: moves != m -> goto again :: else fi;
#endif
			if :: last -> break :: else -> goto again fi
		:: else
		fi;
		f = h_first[AT(id, seq)];				/* R2 */
		v = w[AT(id, seq)];
#ifndef BAD_MOVES
		if :: moves != m -> goto again :: else fi;		/* R3' */
#endif
		atomic {						/* R3 */
			if
			:: cur.id != id -> goto again
			:: cur.id == id && seq < LOW(id, cur.seq) ->
				seq++; rec = 0; goto again
			:: else
			fi
		}
		d_step {
			if
			:: rec == 0 ->
				assert(v == f + 1);			/* C1 */
				assert(f >= next);			/* C2 */
				over = over + f - next;
				got++;
				next = f + 1;
				rec = 1
			:: else
			fi;
			if :: seq < c.seq -> seq++; rec = 0 :: else fi;
			f = 0; v = 0
		}
	od;
	assert(committed_recs == got + over);				/* C3 */
	assert(tried == committed_recs && tried == WRITERS * EACH)
}

init {
	byte i;

	atomic {
		made[0] = true;
		h_first[0] = FIRST;
		o_first[0] = FIRST;
		for (i : 0 .. WRITERS - 1) { run writer(i) }
		for (i : WRITERS .. WRITERS + TOOLS - 1) { run tool(i) }
		run reader()
	}
	done == WRITERS && tools_done == TOOLS;
	finished = true
}
