/* SPDX-License-Identifier: MIT */
/*
 * pump_priv.h - how the pump works: kernel.c, pump.c, pump_file.c, pump_take.c.
 *
 * 1. Threads
 *
 *	One thread reads the kernel's buffers, filters and completes events; one thread on each
 *	CPU that had events writes them into the late lane of that CPU (and switches to the next
 *	buffer, which is possible only on that CPU).  They work in rounds:
 *
 *	T1  for each CPU that has no staged records, at most one sub-buffer is read into its slot
 *	    (64 KiB, shared)
 *	T2  its events become staged records (private): arguments, and the handler of the maskset
 *	    of their time.  `upto` is the time of the last of them or, if there were none, the
 *	    time of the check: no older events will follow from this CPU
 *	T3  the staged records of all CPUs that are not later than the smallest `upto` are
 *	    completed in order of time with process, user, group: so the creator of a thread is
 *	    known before the thread's own events, on any CPU (ids.h)
 *	T4  each CPU's thread passes these to their handlers
 *	T5  processed slots are empty
 *
 *	A step repeats rounds until the smallest `upto` is later than the beginning of the step.
 *
 * 2. A kill at any instruction loses nothing
 *
 *	Reading consumes the kernel's events; so they are read into memory that outlives the
 *	process: the slots are in DIR/lkst.pump.
 *
 *	P1  the page's head is set to empty, slot.len = its size "reading" P2  read(): either the
 *	kernel has released the events and the page is complete, or neither P3  after each
 *	processed event, slot.done = its number + 1 P4  the page's head is set to empty, slot.len
 *	= 0
 *
 *	The next pump processes what it finds in slots, from `done` on.  After a kill between the
 *	writing of an event and P3, the event is already in the late lane: for the first event,
 *	the last records of that lane's buffers are searched.
 *
 * 3. Who pumps
 *
 *	The thread in `owner` pumps, if it lives; changes of `owner` are serialized by flock().
 *	(The lock itself would not do: forked children inherit it and keep it.  A thread that is
 *	not the first of its process is gone as soon as it is killed.)
 *
 *	`begun` counts the steps begun, `done` is the last one ended: a caller that needs all
 *	current events writes a byte to the FIFO DIR/lkst.wake and waits for a step that began
 *	after its call.
 *
 *	Slots of another session than the pumped one count as empty.
 *
 *	The pump excludes itself: events of its threads are skipped, except interrupts during
 *	their execution and events about other threads (for example, that one runs now).  The
 *	kernel's set_event_notrace_pid would exclude the interrupts, too.
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

/* Requests an immediate step from the pump. */
void lkst_pump_file_wake(const struct lkst_pump_file *f);
/* The pump's end of the FIFO, or a negative errno. */
int lkst_pump_file_listen(const struct lkst_pump_file *f);

/* Requests the pump to release the instance. */
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

#define LKST_NO_PLAN	UINT16_MAX	/* the kernel's event is not one of ours */

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

/* Stages the events in progress of a dead pump. */
void lkst_pump_find(struct tacho_lkst_pump *p, uint32_t cpu);

/* T3, of records up to that time */
void lkst_pump_complete(struct tacho_lkst_pump *p, uint64_t upto);

/* T4, T5 of a CPU, on it. */
void lkst_pump_hand(struct tacho_lkst_pump *p, uint32_t cpu);

#endif
