/* SPDX-License-Identifier: MIT */
/*
 * fallback.pml - a Spin model of section 6 of src/ring/ring.h: a fallback lane, its
 * lock, and owners that are killed.
 *
 * Writers are on CPUs of their own.  Each may be killed between any two steps.
 * Thread ids are not used again (a lock word that comes back while another
 * thread is between two instructions would need a whole round of ids).
 *
 * What the C lines are (write.c)
 *	seen = tacho_load_relaxed(&l->lock);
 *	if (seen && !owner_is_dead(seen, me)) return false;
 *	return tacho_cas_acq_rel(&l->lock, &seen, me);
 *	write_once(): cursor, clock, record, tacho_store_release(&cursor, next)
 *	fallback_unlock(): tacho_store_release(&l->lock, 0)
 *
 * What is asserted
 *	B1  all that the cursor covers is whole, at any time a reader looks
 *	B2  times ascend (the clock is read under the lock)
 *	B3  committed + lost = tried, but for what the killed were at
 *	B4  when all are gone, whoever comes can have the lane
 *
 * Mutations, each of which must fail:
 *	-DBAD_TAKEOVER	takes the lock of a living owner
 *	-DBAD_UNLOCK	unlocks before the commit
 *	-DBAD_CLOCK	reads the clock before the lock
 *	-DBAD_DEAD	never takes over: the lane is lost with its owner
 */
#ifdef TWICE		/* two writers of two records, one is killed */
#define WRITERS	2
#define EACH	2
#define KILLS	1
#else			/* three writers of one record, two are killed */
#define WRITERS	3
#define EACH	1
#define KILLS	2
#endif
#define ROUNDS	2

byte lock;			/* 0: free, else writer + 1 */
bool dead[WRITERS];
byte cursor, clock;
byte w0[8], w1[8];
byte committed, lost, tried, killed, done, stuck;

#ifdef BAD_DEAD
#define CAN_TAKE(l)	(l == 0)
#else
#define CAN_TAKE(l)	(l == 0 || dead[l - 1])
#endif

#define DIE \
	atomic { \
		if \
		:: killed < KILLS -> killed++; dead[me] = true; goto gone \
		:: true -> skip \
		fi \
	}

proctype writer(byte me)
{
	byte n, seen, c, now, round;
	bool mine;

	do
	:: n == EACH -> break
	:: else ->
		round = 0;
try:
#ifdef BAD_CLOCK
		atomic { clock++; now = clock }
#endif
		seen = lock;
#ifdef BAD_TAKEOVER
		skip;
#else
		if
		:: !CAN_TAKE(seen) ->
			round++;
			if
			:: round < ROUNDS -> goto try
			:: else ->
				atomic { lost++; tried++; n++ }
				goto next
			fi
		:: else
		fi;
#endif
		/* the compare-and-swap */
		atomic {
			mine = (lock == seen);
			if :: mine -> lock = me + 1 :: else fi
		}
		if :: !mine -> goto try :: else fi;
		DIE;
		c = cursor;
#ifndef BAD_CLOCK
		atomic { clock++; now = clock }
#endif
#ifdef BAD_UNLOCK
		lock = 0;
#endif
		w0[c] = now;
		DIE;
		w1[c] = now;
		DIE;
		atomic { cursor = c + 1; committed++ }
		DIE;
#ifndef BAD_UNLOCK
		lock = 0;
#endif
		atomic { tried++; n++ }
next:		skip
	od;
gone:
	done++
}

proctype reader()
{
	byte i, last;

	do
	:: i < cursor ->
		assert(w0[i] == w1[i] && w0[i] != 0);			/* B1 */
		assert(w0[i] > last);					/* B2 */
		last = w0[i];
		i++
	:: i == cursor && done == WRITERS -> break
	od;
	assert(cursor == committed);
	assert(committed + lost >= tried);				/* B3 */
	assert(committed + lost <= tried + killed);
	assert(CAN_TAKE(lock));						/* B4 */
}

init {
	byte i;

	atomic {
		for (i : 0 .. WRITERS - 1) { run writer(i) }
		run reader()
	}
}
