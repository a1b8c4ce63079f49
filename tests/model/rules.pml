/* SPDX-License-Identifier: MIT */
/*
 * rules.pml - a Spin model of src/session/proc.h: how a process that starts and a
 * tool that changes rules agree on what is on.
 *
 * What the C lines are
 *	procmap.c  rename(temp, file)				P1 published
 *	attach.c   seq = tacho_view_rules_seq(); apply_view(); and again
 *		   while odd or changed				P2, P3
 *	session.c  rules_begin(); edit; rules_end();		T1
 *	session.c  tacho_procs_each(apply_to)			T2, T3
 *
 * Asserted: when both are done, the process's bit is what the rules say.
 * Tools hold a lock, so one after the other is one tool with several edits.
 *
 * Mutations, each of which must fail:
 *	-DBAD_P1	the process publishes its file after it has read the rules
 *	-DBAD_P3	it does not look at the sequence number again
 *	-DBAD_T1	the tool applies the rules before it changes them
 */
#define EDITS	3

bool published, on, rule;
byte seq, done;

proctype process()
{
	byte s;
	bool r;

#ifndef BAD_P1
	published = true;						/* P1 */
#endif
	do
	:: true ->
		s = seq;						/* P2 */
		r = rule;
		on = r;
#ifdef BAD_P3
		break;
#endif
		if							/* P3 */
		:: s % 2 == 0 && seq == s -> break
		:: else
		fi
	od;
#ifdef BAD_P1
	published = true;
#endif
	done++
}

proctype tool()
{
	byte n;
	bool r;

	do
	:: n == EDITS -> break
	:: else ->
#ifdef BAD_T1
		if :: published -> on = !rule :: else fi;
#endif
		seq++;							/* T1 */
		rule = !rule;
		seq++;
		if							/* T2 */
		:: published -> r = rule; on = r			/* T3 */
		:: else
		fi;
#ifdef BAD_T1
		if :: published -> on = !rule :: else fi;
#endif
		n++
	od;
	done++
}

init {
	atomic { run process(); run tool() }
	done == 2;
	assert(on == rule)
}
