/* SPDX-License-Identifier: MIT */
/*
 * pump_priv.h - how the pump works: kernel.c, pump.c, pump_file.c, pump_take.c.
 *
 * 1. Threads
 *
 *	One thread reads the kernel's buffers, judges and completes events; one thread on each
 *	CPU that had any writes them into the late lane of that CPU (and goes to the next buffer,
 *	which only who is on the CPU can).  They work in rounds:
 *
 *	T1  of each CPU that has nothing staged at most one sub-buffer is read into its slot
 *	    (64 KiB, shared)
 *	T2  its events become staged records (private): arguments, and the handler that the
 *	    maskset of their time has.  `upto` is when the last of them was, or, if there were
 *	    none, when that was found out: no older ones will come from this CPU
 *	T3  the staged records of all CPUs that are not younger than the smallest `upto` are gone
 *	    through in the order of time, and get process, user, group: so who made a
 *	    thread is known before the thread's own events, on whichever CPU (ids.h)
 *	T4  each CPU's thread hands these to their handlers
 *	T5  the slots that were dealt with are empty
 *
 *	A step is rounds until the smallest `upto` is younger than the step's beginning.
 *
 * 2. A kill at any instruction loses nothing
 *
 *	What the kernel has handed out, it has let go of; so it hands it out into memory that
 *	outlives the process: the slots lie in DIR/lkst.pump.
 *
 *	P1  the page's head says that it is empty, slot.len = its size	"reading"
 *	P2  read(): the kernel lets go of the events and the page is there, or neither
 *	P3  after each event that was dealt with, slot.done = its number + 1
 *	P4  the page's head says that it is empty, slot.len = 0
 *
 *	Who pumps next deals with what it finds in slots, from `done` on.  Killed
 *	between the writing of an event and P3, it is in the late lane already: the last records of
 *	that lane's buffers are looked at for the first one.
 *
 * 3. Who pumps
 *
 *	The thread that is `owner`, if it lives; flock() makes changing that one's business at a
 *	time.  (The lock itself would be inherited by what the process forks, and outlive
 *	it there.  A thread that is no process's first is gone as soon as it is killed.)
 *
 *	`begun` counts the steps that were begun, `done` is the last that was ended: who wants
 *	all that is there now waits for a step that began later than he looked, after
 *	writing a byte to the FIFO DIR/lkst.wake.
 *
 *	Slots of another session than the one that is pumped are empty, whatever they say.
 *
 *	The pump leaves itself out: events of its threads are passed over, but for interrupts that
 *	came while they ran, and for what tells of other threads (that one runs now, say).  The
 *	kernel's set_event_notrace_pid would leave out the interrupts, too.
 */
#ifndef TACHO_COMPAT_LKST_PUMP_PRIV_H
#define TACHO_COMPAT_LKST_PUMP_PRIV_H

#include <pthread.h>

#include "compat/lkst/ids.h"
#include "compat/lkst/pump.h"
#include "fmt/lkst/kmap.h"
#include "tracefs/instance.h"
#include "tracefs/reader.h"

/* ---- kernel.c ---- */

/* Makes the instance, or opens it; to be left. */
int lkst_kernel_open(const struct tacho_lkst *l, struct tacho_kernel **k, struct tacho_diag *d);

/* The first tracepoint of an entry that the kernel (or the instance at dirfd) has. */
bool lkst_kernel_point(int dirfd, const struct lkst_kmap *m, char point[LKST_KMAP_POINT_LEN]);

/* Appends the format of a tracepoint.  0 or a negative errno. */
int lkst_kernel_format(int dirfd, const char *point, struct tacho_buf *out);

/* Whether set_event, as a string, has a tracepoint. */
bool lkst_kernel_is_listed(const char *list, const char *point);

/* ---- pump_file.c: DIR/lkst.pump ---- */

#define LKST_PUMP_MAGIC		UINT64_C(0x706d75504b53544c)
#define LKST_PUMP_PAGE		(UINT64_C(64) << 10)	/* the largest sub-buffer */

struct lkst_pump_slot {
	uint8_t uuid[16];	/* the session's */
	uint32_t len;		/* bytes of the page; 0: empty */
	uint32_t done;		/* events that were dealt with */
	uint64_t overwritten;	/* events that were told of as lost, since the instance was made */
	uint64_t pad[4];
};

struct lkst_pump_head {
	struct tacho_file_head head;
	uint32_t layout;
	uint32_t nr_cpus;
	uint32_t begun, done;	/* steps; done is a futex word */
	uint32_t end;		/* counts requests to let go of the instance */
	uint32_t pad;
	struct lkst_owner owner;	/* a thread */
	struct lkst_pump_slot slot[];
};

struct lkst_pump_file {
	int dirfd, fd;		/* fd: -1: not open */
	struct lkst_pump_head *head;
	uint64_t size, pages;	/* bytes; where the pages begin */
};

/* Opens it, and makes it if `create`.  0, -ENOENT, or what the system said. */
int lkst_pump_file_open(struct lkst_pump_file *f, bool create);
void lkst_pump_file_close(struct lkst_pump_file *f);

unsigned char *lkst_pump_page(const struct lkst_pump_file *f, uint32_t cpu);

/* Makes this thread, which is not the process's first, the one that pumps: 0 or -EBUSY. */
int lkst_pump_file_own(const struct lkst_pump_file *f);
void lkst_pump_file_disown(const struct lkst_pump_file *f);

/* Asks whoever pumps for a step at once. */
void lkst_pump_file_wake(const struct lkst_pump_file *f);
/* The FIFO's end of who pumps, or a negative errno. */
int lkst_pump_file_listen(const struct lkst_pump_file *f);

/* Tells whoever pumps to let go of the instance. */
void lkst_pump_end(struct tacho_lkst *l);

/* ---- pump.c, pump_take.c ---- */

struct lkst_staged {
	struct lkst_record r;
	uint32_t handler;
	uint32_t number;	/* of the event in its sub-buffer, + 1 */
};

/* One CPU. */
struct lkst_pump_cpu {
	struct tacho_kreader reader;
	struct lkst_pump_slot *slot;
	struct lkst_staged *staged;
	uint32_t nr, room;
	uint32_t next;		/* of them to be completed, */
	uint32_t handed;	/* and to be handed on */
	uint64_t upto;		/* ticks */
	bool found;		/* what is staged was begun by somebody who is gone */

	pthread_t thread;
	bool running;		/* the thread is there */
	int32_t tid;		/* its; 0: not known yet */
	uint32_t asked;		/* rounds that it was asked for; a futex word */
	uint32_t answered;	/* likewise; its own */
};

/* What was selected when: a copy of the state's switches that does not change. */
struct lkst_pump_judge {
	uint64_t current;
	uint64_t ticks;		/* of the last switch: events from then on are `current`'s */
	uint32_t nr;
	struct lkst_switch was[LKST_SWITCHES];	/* the last first */
};

#define LKST_NO_PLAN	UINT16_MAX	/* the kernel's event is none of ours */

struct tacho_lkst_pump {
	struct tacho_lkst *l;
	struct tacho_kernel *k;
	struct lkst_pump_file file;
	int fifo;
	uint32_t ended;		/* head->end when it began */
	bool once, owned;
	uint32_t stop;
	pthread_t thread;
	int32_t tid;
	uint32_t ready;		/* of the thread: 1: `err` says whether it pumps; a futex word */
	int err;
	struct tacho_diag *d;	/* until then */

	uint64_t began;		/* ticks: the step under way takes all events before */
	struct lkst_pump_judge judge;
	struct lkst_ids ids;
	uint16_t *plan_of;	/* by the kernel's id: number of the plan + 1, 0, or NO_PLAN */
	struct lkst_kplan plan[LKST_ETYPE_USER_FIRST];
	bool scanned;		/* all tracepoints were looked at */

	uint32_t nr_cpus;
	struct lkst_pump_cpu cpu[];
};

/* T1, T2 of a CPU that has nothing staged.  0 or a negative errno. */
int lkst_pump_take(struct tacho_lkst_pump *p, uint32_t cpu);

/* Stages what a pump that is gone had begun. */
void lkst_pump_find(struct tacho_lkst_pump *p, uint32_t cpu);

/* T3, of records up to that time */
void lkst_pump_complete(struct tacho_lkst_pump *p, uint64_t upto);

/* T4, T5 of a CPU, on it. */
void lkst_pump_hand(struct tacho_lkst_pump *p, uint32_t cpu);

#endif
