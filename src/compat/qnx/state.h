/* SPDX-License-Identifier: MIT */
/*
 * state.h - the shared state of QNX's trace: one file, DIR/qnx, in the run-time directory.
 *
 * 1. How QNX's trace is implemented
 *
 *	trace buffers	the rings of one tacho session, "qnx" ($QNX_SESSION): n buffers of
 *			16 KiB for each CPU
 *	event		of a program: a tacho event of that program, with the name and the
 *			fields that the same event has in a .kev file (fmt/kev/types.h)
 *			of the kernel: a tracepoint of the session's kept kernel instance,
 *			which becomes QNX's event when it is written as .kev (fmt/kev/map.h)
 *	class, event	bits in this file: on or off, wide or fast, whose
 *
 *	The first user creates the file.  The session exists from ALLOCBUFFER to DEALLOCBUFFER.
 *
 * 2. Where events are filtered
 *
 *	J1  the session's rules, which follow the bits, cover whole classes: an event of a
 *	    disabled class costs as much as a disabled tracepoint
 *	J2  a program that inserts an event checks this file: class and number, process, thread;
 *	    then the handlers of its own process.  Other sessions get the event independent of
 *	    that
 *	J3  the kernel's tracepoints are enabled if some event needs them; class, number, process
 *	    and thread are checked when the trace is written (qnx_state_wants())
 *
 * 3. Numbers
 *
 *	Classes are external ones.  Events are counted from 0 in each class: the number
 *	itself, or the bit's where it is a bit (PROCESS; THREAD and VTHREAD up to 7.1); a
 *	kernel call's and a SYSTEM event's without the flag for 64 bits.  So the numbers are the
 *	same in all releases.
 *
 * 4. Writers and concurrency
 *	tools, TraceEvent()	all of it, under the lock: flock() on this file
 *	anybody			reads, word by word, without it.  A change of several words may be
 *				seen half done, as on QNX
 *	loggers			wait for `changes`, a futex, which START, STOP, FLUSHBUFFER
 *				and DEALLOCBUFFER count up
 *
 *	Contents are untrusted: indexes are checked.
 */
#ifndef TACHO_COMPAT_QNX_STATE_H
#define TACHO_COMPAT_QNX_STATE_H

#include <stdbool.h>

#include "base/atomic.h"
#include "tacho/abi/shm.h"

#define QNX_MAGIC_STATE		UINT64_C(0x316b786e71636174)
#define QNX_CLASSES		21u
#define QNX_EVENTS		1024u
#define QNX_SKIPS		64u

/* External classes, as <sys/trace.h> of 8.0 has them. */
enum qnx_class_id {
	QNX_EMPTY = 0,
	QNX_CONTROL = 1,
	QNX_KERCALL = 2,
	QNX_KERCALL_ENTER = 3,
	QNX_KERCALL_EXIT = 4,
	QNX_KERCALL_INT = 5,
	QNX_INT = 6,
	QNX_INT_ENTER = 7,
	QNX_INT_EXIT = 8,
	QNX_PROCESS = 9,
	QNX_THREAD = 10,
	QNX_VTHREAD = 11,
	QNX_USER = 12,
	QNX_SYSTEM = 13,
	QNX_COMM = 14,
	QNX_INT_HANDLER_ENTER = 15,
	QNX_INT_HANDLER_EXIT = 16,
	QNX_QUIP = 17,
	QNX_SEC = 18,
	QNX_QVM = 19,
	QNX_PMU = 20,
};

/* Selected process and thread; 0: all. */
struct qnx_who {
	int32_t pid, tid;
};

struct qnx_class {
	uint64_t on[QNX_EVENTS / 64];
	uint64_t wide[QNX_EVENTS / 64];
	struct qnx_who who;
	struct qnx_who event[QNX_EVENTS];
};

/* Events between these are not to be read: SKIPBUFFER, OVERWRITEBUFFER. */
struct qnx_skip {
	uint64_t from, to;		/* ticks */
};

struct qnx_state {
	struct tacho_file_head head;
	uint32_t layout;		/* its size and version: others are refused */
	uint32_t nr_buffers;		/* 0: there are none */
	uint32_t running;
	uint32_t ring;
	uint32_t no_state;		/* started without the dump of processes */
	uint32_t changes;		/* futex */
	uint32_t nr_starts, nr_stops, nr_flushes, nr_skips;
	uint32_t no_kernel;		/* errno: why there are no events of the kernel */
	uint32_t pad;
	uint64_t flushed;		/* ticks of the last START or FLUSHBUFFER */
	uint64_t written;		/* events by then */
	struct qnx_skip skip[QNX_SKIPS];
	char session[TACHO_NAME_MAX];
	/* bit << 32 | generation of the registry's slot, + 1; 0: there is none */
	uint64_t generation;

	uint64_t own __attribute__((aligned(64)));	/* the session's bit, or 0 */
	uint32_t all_user;		/* all events of class USER are on */
	uint32_t pad2;
	struct qnx_class class_[QNX_CLASSES];
};

/* A set of events of a class, as a command names it. */
struct qnx_set {
	uint32_t class_[4];
	uint32_t nr_classes;
	uint64_t bits[QNX_EVENTS / 64];
};

#define QNX_ALL_EVENTS	UINT32_MAX

/*
 * What a class and an event (external numbers, QNX_ALL_EVENTS) stand for.  states: events of
 * THREAD are states, as of 8.0, not bits.  false: there is no such class or event.
 */
bool qnx_set_of(struct qnx_set *set, uint32_t class_, uint32_t event, bool states);

/* Class and number (see 3) of an event as its header word has it; false: none that is known. */
bool qnx_number_of(uint32_t code, const uint32_t *words, uint32_t nr, uint32_t *class_,
		   uint32_t *event);

static inline bool qnx_bit(const uint64_t *bits, uint32_t i)
{
	return tacho_load_relaxed(&bits[i / 64]) >> (i % 64) & 1;
}

static inline bool qnx_who_is(const struct qnx_who *who, int32_t pid, int32_t tid)
{
	int32_t p = tacho_load_relaxed(&who->pid), t = tacho_load_relaxed(&who->tid);

	return (!p || p == pid) && (!t || t == tid);
}

/* Whether an event of this thread is wanted.  Any thread, any signal handler. */
bool qnx_state_wants(const struct qnx_state *s, uint32_t class_, uint32_t event, int32_t pid,
		     int32_t tid);

/* Whether a class can be filtered by process and thread. */
bool qnx_class_has_who(uint32_t class_);

/* Resets the state: everything disabled, no buffers.  Under the lock. */
void qnx_state_reset(struct qnx_state *s);

/*
 * Maps DIR/qnx; creates it if it does not exist.  All blocks are allocated. fd: receives its
 * descriptor, for locking; NULL: closes it.  Any thread; any signal handler.  Returns 0, -ENOENT
 * (no run-time directory), -EPROTO (of another version), or an error of the system.
 */
int qnx_state_map(struct qnx_state **state, int *fd);
void qnx_state_unmap(struct qnx_state *state);

#endif
