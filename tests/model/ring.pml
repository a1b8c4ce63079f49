/* SPDX-License-Identifier: MIT */
/*
 * ring.pml - a Spin model of src/ring/ring.h: the lane of one CPU.
 *
 * Writers share one CPU.  Between any two steps the scheduler may put another
 * one on it (the steps of all processes interleave), and a writer may be killed.
 * Inside a restartable sequence that means the sequence is over: `owner` is who
 * is in one, and whoever else takes a step of a writer clears it, so that the
 * first one's next step in the sequence finds itself aborted.  The reader runs
 * on another CPU: it interleaves and aborts nobody.
 *
 * A record is two words, both its number; a sub-buffer holds RECS of them behind
 * a header (seq, first, and the closing word).  A buffer has N sub-buffers.
 *
 * What the C lines are
 *	write.h  c = tacho_load_relaxed(&lane->cursor);			W1
 *	write.h  tacho_cursor_words(c) + words >= b->words		W3
 *	write.h  tacho_rseq_cmp_copy_store(rs, cpu, &lane->cursor, c,
 *		     to, head, raw, words, c + step)			W4
 *	write.c  sub_is_free(): (seq - consumed) < nr_subs		S2
 *	write.c  advance(): closed header, fresh header; pieces, next	S1, S3
 *	read.c   c = committed(...)					R1
 *	read.c   tacho_copy_relaxed(rd->copy, ...)			R2
 *	read.c   seq >= oldest(full_seq(c, seq), nr_subs, true)		R3
 *	read.c   give_back(): consumed = rd->seq			[W4]
 *
 * What is asserted
 *	A1  no record that the reader accepts is torn
 *	A2  accepted records are numbered on from the last, or, in overwrite mode, a
 *	    gap is exactly the difference of event_first
 *	A3  when all is quiet: committed = read + overwritten, and
 *	    tried = committed + lost, but for what the killed were at
 *	A4  a header that the reader accepts is that of the sub-buffer it reads
 *
 * -DOVERWRITE selects the mode.  The mutations, each of which must fail:
 *	-DBAD_R3	compares with the cursor, not with the cursor + 1
 *	-DBAD_COMMIT	commits before the copy
 *	-DBAD_CMP	does not compare the cursor in the sequence
 *	-DBAD_S2	discard mode does not look at `consumed`
 *	-DBAD_ABORT	a sequence goes on after it was preempted
 *	-DBAD_FIRST	a new header takes the count of the wrong moment
 *	-DNO_LOSS	claims that nothing is ever lost or overwritten (the model
 *			would prove nothing if that held)
 */
#ifndef N
#define N	3	/* sub-buffers */
#endif
#ifndef RECS
#define RECS	1	/* records in one */
#endif
#ifndef WRITERS
#define WRITERS	2
#endif
#ifndef EACH
#define EACH	2	/* records of one writer */
#endif
#ifndef KILLS
#define KILLS	1
#endif
#define ALL	(WRITERS * EACH)
#define WORDS	(N * RECS)

/* the cursor, one word in C */
typedef Cursor { byte seq; byte recs }

Cursor cur;
byte w0[WORDS], w1[WORDS];		/* the two words of each record */
byte h_seq[N], h_first[N], h_close[N];	/* headers; close: records, 255: open */
byte consumed;
byte owner = 255;		/* who is in a sequence, and not yet aborted */
byte committed_recs, lost, over, got, tried;
byte killed, in_flight;		/* killed while they tried */
byte done;
bool finished;

/* The CPU runs `me`: any other's sequence is over. */
#define ON_CPU(me)	if :: owner != me -> owner = 255 :: else fi
#ifdef BAD_ABORT
#define STILL(me)	true
#else
#define STILL(me)	(owner == me)
#endif
#ifdef BAD_CMP
#define SAME(c)		true
#else
#define SAME(c)		(cur.seq == c.seq && cur.recs == c.recs)
#endif
#define DIE(what) \
	if \
	:: killed < KILLS -> killed++; in_flight = in_flight + what; goto dead \
	:: true -> skip \
	fi

proctype writer(byte me)
{
	Cursor c;
	byte n, at, next, first;
	byte number;
	bool free;

	do
	:: n == EACH -> break
	:: else ->
again:
		/* W1 */
		atomic { ON_CPU(me); c.seq = cur.seq; c.recs = cur.recs }
		if
		:: c.recs < RECS ->					/* W3 */
			/* W4: begin, compare (the number is the model's payload) */
			atomic {
				DIE(1); ON_CPU(me);
				at = (c.seq % N) * RECS + c.recs;
				number = h_first[c.seq % N] + c.recs + 1;
				if
				:: SAME(c) -> owner = me
				:: else -> goto again
				fi
			}
#ifdef BAD_COMMIT
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				cur.recs = c.recs + 1; committed_recs++
			}
			atomic { DIE(0); ON_CPU(me); w0[at] = number }
			atomic { ON_CPU(me); w1[at] = number; owner = 255 }
#else
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				w0[at] = number
			}
			atomic {
				DIE(1); ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				w1[at] = number
			}
			/* commit: one store of the word */
			atomic {
				DIE(1); ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				cur.seq = c.seq; cur.recs = c.recs + 1;
				committed_recs++; owner = 255
			}
#endif
			atomic { ON_CPU(me); n++; tried++ }
		:: else ->
			next = c.seq + 1;
#if !defined(OVERWRITE) && !defined(BAD_S2)
			atomic { ON_CPU(me); free = (next - consumed < N) }	/* S2 */
			if
			:: free
			:: else ->
				atomic { ON_CPU(me); lost++; n++; tried++ }
				goto one_more
			fi;
#endif
			/* S1: from c alone */
			atomic {
				ON_CPU(me);
#ifdef BAD_FIRST
				first = committed_recs + (n > 0)
#else
				first = h_first[c.seq % N] + c.recs
#endif
			}
			/* S3 */
			atomic {
				DIE(1); ON_CPU(me);
				if
				:: SAME(c) -> owner = me
				:: else -> goto again
				fi
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				h_close[c.seq % N] = c.recs
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				h_seq[next % N] = next
			}
			atomic {
				DIE(1); ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				h_first[next % N] = first;
				h_close[next % N] = 255
			}
			atomic {
				ON_CPU(me);
				if :: !STILL(me) -> goto again :: else fi;
				cur.seq = next; cur.recs = 0; owner = 255
			}
			goto again
		fi;
one_more:	skip
	od;
dead:
	atomic { if :: owner == me -> owner = 255 :: else fi; done++ }
}

proctype reader()
{
	Cursor c;
	byte seq, recs, next_event, i, a, b, k, first, hseq;
	bool ending, good;

	do
	:: true ->
		ending = (done == WRITERS);
		atomic { c.seq = cur.seq; c.recs = cur.recs }		/* R1 */
#ifdef OVERWRITE
		if
		:: c.seq > seq + (N - 2) -> seq = c.seq - (N - 2); recs = 0
		:: else
		fi;
#endif
		if
		:: seq < c.seq -> k = h_close[seq % N]
		:: else -> k = c.recs
		fi;
		if
		:: seq == c.seq && k <= recs ->
			if
			:: ending -> break
			:: else -> goto look_again
			fi
		:: else
		fi;
		/* R2: the header, then one record, a word at a time */
		hseq = h_seq[seq % N];
		first = h_first[seq % N];
		good = true;
		if
		:: recs < k && k <= RECS ->
			i = (seq % N) * RECS + recs;
			a = w0[i];
			b = w1[i]
		:: else -> a = 0; b = 0
		fi;
#ifdef OVERWRITE
		/* R3 */
#ifdef BAD_R3
		good = (seq + N > cur.seq);
#else
		good = (seq + N > cur.seq + 1);
#endif
#endif
		if
		:: !good -> seq++; recs = 0; goto look_again
		:: else
		fi;
		assert(hseq == seq);					/* A4 */
		if
		:: recs < k ->
			assert(k <= RECS);
			assert(a == b && a != 0);			/* A1 */
			atomic {
				if
				:: first + recs > next_event ->
					over = over + (first + recs - next_event);
					next_event = first + recs
				:: else
				fi
			}
			assert(a == first + recs + 1);			/* A2 */
			assert(first + recs == next_event);
			next_event++; got++; recs++
		:: else
		fi;
		if
		:: seq < c.seq && recs >= k ->
			seq++; recs = 0;
#ifndef OVERWRITE
			consumed = seq					/* [W4] */
#endif
		:: else
		fi;
look_again:	skip
	od;
	/* A3: records after the last accepted one were overwritten or none */
	assert(got + over == committed_recs);
#ifndef OVERWRITE
	assert(over == 0);
#endif
#ifdef NO_LOSS
	assert(over + lost == 0);
#endif
	assert(committed_recs + lost >= tried);
	assert(committed_recs + lost <= tried + in_flight + killed);
	finished = true
}

init {
	byte i;

	atomic {
		for (i : 0 .. N - 1) { h_close[i] = 255 }
		for (i : 0 .. WRITERS - 1) { run writer(i) }
		run reader()
	}
}
