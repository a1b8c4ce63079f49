/* SPDX-License-Identifier: MIT */
/*
 * until.pml - a Spin model of section 7 of src/ring/ring.h: recording that is
 * switched on and off from anywhere, epochs, and the end of a session.
 *
 * One lane of a CPU; what sequences are is told in ring.pml.  Writers share its CPU,
 * those who switch run on others.  Each writer, and each who switches, may be
 * killed between any two steps.  Of the clock the model has the number of the epoch, which
 * goes on whenever somebody reads it, up to LAST: the end of epoch e is
 * e + 1, so `now >= until` is what it is in C, and 1 is the past.  No sub-buffer is used
 * twice (what that takes is ring.pml's).
 *
 * What the C lines are
 *	write-x86_64.h	clock, cursor, table, room, until, commit: one sequence
 *	write.c  write_once(): c; until; state; the clock; follow; advance();
 *		   only who has begun the packet moves `fast_until` on
 *	ring.c   fast_until_of(), let_go(): G1, G2; tacho_ring_run(),
 *		   tacho_ring_follow()
 *	view.c   tacho_view_run(): state by compare-and-swap; has_ended()
 *	session.c  tacho_session_run(), tacho_session_end(), end_session()
 *
 * What is asserted
 *	U1  a record is of the epoch that its packet began in
 *	U2  a write that begins after a stop, when all who change the lane are done,
 *	    is not recorded, as long as nobody lets it go
 *	U3  when all are done, `fast_until` of a lane that does not record is 0
 *	U4  then, in a recording session, the next write is recorded
 *	U5  with somebody killed half way: in a stopped session nobody begins a
 *	    sub-buffer, and who comes the slow way is not recorded and leaves `fast_until` at 0
 *	U6  what was ended no trigger starts again; what is destroyed stays so, and its
 *	    lane closed
 *	U7  sub-buffers follow one another, and what they hold is what was committed:
 *	    tried = committed + not recorded, but for what the killed were at
 *
 * Mutations, each of which must fail:
 *	-DBAD_G2	the state is not read again after G1
 *	-DBAD_STOP	a stop changes `fast_until` first, then the state
 *	-DBAD_MOVE	`fast_until` moves on although the new packet was not begun
 *	-DBAD_PAST	let go, a lane keeps its packet whatever epoch that is of
 *	-DBAD_FOLLOW	a writer does not let its lane go
 *	-DBAD_LEAVE	a writer leaves `fast_until` where a stop did not come to
 *	-DBAD_ENDED	a trigger does not look whether it was ended meanwhile
 *	-DBAD_DEAD	a tool starts what another one has destroyed
 */
#ifdef KILLED		/* two triggers, and one of all is killed */
#define WRITERS		1
#define SWITCHERS	2
#define TOOLS		0
#define KILLS		1
#elif defined(TOOL)	/* a trigger, and a tool that may end and destroy */
#define WRITERS		1
#define SWITCHERS	1
#define TOOLS		2
#define KILLS		0
#else			/* writers on one CPU */
#define WRITERS		2
#define SWITCHERS	1
#define TOOLS		0
#define KILLS		0
#endif
#define LAST	2
#define RECS	2	/* records in a sub-buffer */
#define NONE	255
#define TRIES	6	/* of the last writer, alone */

mtype = { stopped, recording, destroyed };

mtype state;
bool ended;
byte until, epoch = 1;
byte seq, recs;			/* the cursor */
bool closed;			/* ... is TACHO_CURSOR_DEAD */
byte begin;			/* epoch of the open sub-buffer */
byte first;			/* ... records before it, as its header says */
byte owner = NONE;		/* who is in a sequence, and not yet aborted */

/* what only the model knows */
byte committed, tried, off, in_flight;
byte killed, done;
byte changing;			/* who may still change `fast_until`; the killed stay */
byte let_go;			/* how often somebody began to let go */
bool last_word;			/* a tool has ended it, and not started it since */
bool gone;			/* destroyed */

#define ON_CPU		if :: owner != me -> owner = NONE :: else fi
#define CLOCK(t)	if :: epoch < LAST -> epoch++ :: true fi; t = epoch

#define DIE(what) \
	if \
	:: killed < KILLS && !alone -> \
		killed++; in_flight = in_flight + what; goto dead \
	:: true \
	fi

/* ring.c: fast_until_of(), with the clock's value t; then G1, G2 */
#define LET_GO(t) \
	b = (closed -> t : begin); \
	atomic { if :: until == 0 -> until = UNTIL(t, b) :: else -> goto kept fi } \
	atomic { DIE(inside); G2 } \
kept:	skip

#ifdef BAD_PAST
#define UNTIL(t, b)	t + 1
#else
#define UNTIL(t, b)	(b == t -> t + 1 : 1)
#endif
#ifdef BAD_G2
#define G2		true
#else
#define G2		if :: state != recording -> until = 0 :: else fi
#endif

#ifdef BAD_MOVE
#define MOVES		true
#else
#define MOVES		mine
#endif
/* What a record is when its commit is done; now: its time. */
#define RECORDED \
	assert(now == begin);					/* U1 */ \
	assert(!(quiet && go == let_go));				/* U2 */ \
	assert(!alone || state == recording || fast);			/* U5 */ \
	recs = k + 1; committed++; owner = NONE

/* Fewer states: what is not used any more is the same. */
#define RESET \
	c = 0; k = 0; u = 0; now = 0; t = 0; b = 0; go = 0; \
	mine = false; quiet = false; fast = false

proctype writer(byte me; byte each; byte table; bool alone)
{
	byte n, c, k, u, now, t, b, go, tries;
	byte inside = 1;
	bool quiet, fast, mine;

	do
	:: n == each -> break
	:: else ->
		atomic {
			quiet = (state != recording && changing == 0);
			go = let_go; changing++; tries = 0
		}
		/* the fast way */
		atomic {
			ON_CPU; owner = me; CLOCK(now);
			c = seq; k = recs; fast = true;
			if
			:: closed || table != c || k == RECS -> goto slow
			:: else
			fi
		}
		atomic {
			ON_CPU;
			if :: owner != me || now >= until -> goto slow :: else fi
		}
		atomic {
			DIE(1); ON_CPU;
			if :: owner != me -> goto slow :: else fi;
			RECORDED
		}
		goto next;
slow:
		atomic {						/* W1 */
			fast = false; mine = false; now = 0; t = 0;
			ON_CPU; c = seq; k = recs; u = until;
			tries = tries + alone;
			assert(!alone || tries < TRIES)			/* U4 */
		}
		atomic {
			ON_CPU;
			if
			:: state != recording || closed -> mine = false
			:: else -> mine = true; CLOCK(now)		/* W2 */
			fi
		}
		if
		:: !mine ->
#ifndef BAD_LEAVE
			if
			:: u != 0 -> goto follow
			:: else
			fi;
#endif
not_on:			atomic { off++; goto next }
		:: else
		fi;
		if
		:: u == 0 ->
#ifdef BAD_FOLLOW
			atomic { off++; goto next };
#endif
follow:			atomic { ON_CPU; now = 0; mine = (state == recording) }
			if
			:: mine ->
				atomic { ON_CPU; CLOCK(t) }
				LET_GO(t)
			:: else -> atomic { ON_CPU; until = 0 }
			fi;
			atomic {
				t = 0; b = 0;
				if
				:: u != 0 -> u = 0; goto not_on
				:: else -> goto slow
				fi
			}
		:: else
		fi;
		if
		:: k == RECS || now >= u ->				/* S1 */
			atomic { ON_CPU; CLOCK(t) }
			/* S3: the comparison; the header; the commit */
			atomic {
				ON_CPU;
				mine = (!closed && seq == c && recs == k);
				if :: mine -> owner = me :: else -> goto begun fi
			}
			atomic {
				DIE(1); ON_CPU; mine = (owner == me);
				if
				:: mine ->
					assert(!alone || state == recording);	/* U5 */
					begin = t; first = first + k;
					assert(first == committed);		/* U7 */
					seq++; recs = 0; owner = NONE
				:: else
				fi
			}
begun:			atomic {
				DIE(1); ON_CPU;
				if
				:: MOVES && now >= u && until == u ->
					until = now + 1
				:: else
				fi;
				goto slow
			}
		:: else
		fi;
		atomic {						/* W4 */
			ON_CPU;
			if
			:: closed || seq != c || recs != k -> goto slow
			:: else -> owner = me
			fi
		}
		atomic {
			DIE(1); ON_CPU;
			if :: owner != me -> goto slow :: else fi;
			RECORDED;
			table = c
		}
next:		atomic { changing--; n++; tried++; RESET }
	od;
dead:
	atomic {
		if :: owner == me -> owner = NONE :: else fi;
		RESET; n = 0; table = 0; done++
	}
}

/* tacho_ring_run(): what the lane does after the state. */
#define STOP		until = 0
#define GO		atomic { CLOCK(now) } LET_GO(now)

/* A trigger, traceon or traceoff: tacho_view_run(). */
proctype trigger()
{
	byte now, b;
	byte inside = 0;
	bool alone;

	if
	:: true ->							/* traceon */
		if :: state != stopped || ended -> goto next :: else fi;
		atomic {
			if :: state != stopped -> goto next :: else fi;
			changing++; let_go++; state = recording
		}
		atomic { DIE(0) }
		GO;
#ifndef BAD_ENDED
		if
		:: ended -> goto stop
		:: else
		fi;
#endif
		atomic { changing--; goto next }
	:: true ->							/* traceoff */
		atomic { changing++ }
stop:
#ifdef BAD_STOP
		STOP;
#endif
		atomic {
			if
			:: state != recording -> changing--; goto next
			:: else -> state = stopped
			fi
		}
		atomic { DIE(0) }
#ifndef BAD_STOP
		STOP;
#endif
		changing--
	fi;
next:	skip;
dead:	atomic { done++; now = 0; b = 0 }
}

/* Tools: one after another, by a lock. */
proctype tool()
{
	byte n, now, b;
	byte inside = 0;
	bool alone;

	do
	:: n == TOOLS -> break
	:: n < TOOLS ->							/* start */
#ifndef BAD_DEAD
		if :: state == destroyed -> goto next :: else fi;
#endif
		atomic { ended = false; last_word = false; changing++; let_go++ }
		state = recording;
		GO;
		atomic { changing--; goto next }
	:: n < TOOLS ->							/* end */
		if :: state == destroyed -> goto next :: else fi;
		atomic { ended = true; last_word = true; changing++ }
#ifdef BAD_STOP
		STOP;
#endif
		state = stopped;
#ifndef BAD_STOP
		STOP;
#endif
		atomic { changing--; goto next }
	:: n < TOOLS ->							/* destroy */
		atomic { changing++; state = destroyed; gone = true }
		STOP;
		/* on the lane's CPU: whoever is in a sequence begins anew */
		atomic { owner = NONE; closed = true }
		changing--;
next:		n++
	od;
dead:	atomic { done++; n = 0; now = 0; b = 0 }
}

#define ALL	(WRITERS + SWITCHERS + (TOOLS > 0))

init {
	byte i;

	atomic {
		if
		:: state = recording; until = 2
		:: state = stopped
		fi;
		begin = 1;
		if :: recs = 1; committed = 1; tried = 1 :: recs = 0 fi;
		/* the first knows the open sub-buffer */
		for (i : 1 .. WRITERS) { run writer(i, 1, (i == 1 -> 0 : NONE), false) }
		for (i : 1 .. SWITCHERS) { run trigger() }
#if TOOLS
		run tool()
#endif
	}
	done == ALL;
	assert(killed || state == recording || until == 0);		/* U3 */
	assert(killed || !last_word || state != recording);		/* U6 */
	assert(!gone || (state == destroyed && closed));
	atomic {
		i = committed;
		/* who knew the open sub-buffer, or somebody new */
		if
		:: run writer(0, RECS + 1, seq, true)
		:: run writer(0, 1, NONE, true)
		fi
	}
	done == ALL + 1;
	assert(state != recording || committed > i);			/* U4 */
	assert(killed || state == recording || committed == i);		/* U3 */
	assert(state == recording || until == 0);			/* U5 */
	assert(first + recs == committed);				/* U7 */
	assert(committed + off >= tried);
	assert(committed + off <= tried + in_flight + killed)
}
