/* SPDX-License-Identifier: MIT */
/*
 * probe.h - the runtime inside a traced process.
 *
 *	object.c	objects and their events -> the process's file
 *	procmap.c	that file: creating, growing, copying at fork
 *	attach.c	sessions this process records into; ids of types
 *	emit.c		one hit of a tracepoint
 *	actions.h	filters and triggers: actions.c, compile.c, stack.c
 *	maps.h		files mapped here: maps.c, objects.c, symbols.c
 *	life.c		constructor, fork, exit, the boot option
 *
 * The rules of this folder
 *
 *	Nothing here may hurt the program: no abort, no exit, no print (but with
 *	TACHO_DEBUG), no thread, no signal handler, no descriptor left open, no lock that a
 *	signal handler could meet.  What cannot be recorded is counted.
 *
 *	emit.c, attach.c and actions run in any thread and any signal handler, also one
 *	that interrupted themselves: they use atomics and system calls only, and
 *	preserve errno.  object.c and life.c run in constructors, destructors and fork
 *	handlers and take the mutex.
 *
 * Which signals its system calls could bring, and why they do not
 *
 *	SIGXFSZ	ftruncate, write and pwrite behind RLIMIT_FSIZE.  The limit is asked
 *		before: tacho_shm_may_grow().  fallocate and MADV_POPULATE_WRITE stay
 *		inside of a file that has its length.
 *	SIGBUS	a page of a mapped file without a block, on a full file system: blocks
 *		are allocated before a page is touched.  Nor is a file of the
 *		run-time directory ever made shorter.
 *	SIGSYS	(or SIGKILL) a seccomp filter.  One that was there when we began lets
 *		programs begin, or so we must assume.  If another came later, nothing is
 *		opened, made, mapped or removed any more: tacho_attach_may_map() asks,
 *		by prctl(), before each such step.  What is left are the clock, gettid,
 *		getpid, futex wakes and that prctl().  A filter that forbids prctl() or
 *		gettid() is met, as no call can ask for it.
 *	SIGPIPE	write to a pipe or socket.  Written are regular files only: what is opened
 *		for that is opened with O_NONBLOCK and looked at.  With TACHO_DEBUG
 *		stderr is written, under a mask; what came of it is taken back.
 *	SIGTTOU	write to a terminal, as SIGPIPE.
 *	SIGSEGV	a handler's small stack: what is large is in pages of its own.
 *
 *	SIGXCPU, SIGIO and the like come to who has a limit or asked for them, whatever the
 *	call.  EINTR is met where a call may bring it.
 *
 * What is shared between threads
 *
 *	probe.proc	set once, before the first site is given a state
 *			word; the file's mapping, probe.file_map, stays at the same address
 *			until the process ends (a fork's child maps its own file
 *			there, or the words of its seat)
 *	probe.session[]	pointers, set by compare-and-swap from NULL to a
 *			session, and from a dead session to NULL; what they point to is
 *			never freed (a few pages for each session ever met)
 *	self		thread-local; a signal handler sees its thread's
 */
#ifndef TACHO_RUNTIME_RUNTIME_H
#define TACHO_RUNTIME_RUNTIME_H

#include <pthread.h>

#include "runtime/announced.h"
#include "session/histmap.h"
#include "session/view.h"
#include "tacho/abi/site.h"

#define RUNTIME_MAPS_MAX	512	/* histograms of one session, mapped here */

struct runtime_actions;

/* A session that this process records into. */
struct runtime_session {
	uint64_t mask;		/* its bit in state words */
	uint32_t bit;
	uint16_t serial;	/* differs from that of every session before; not 0 */
	struct tacho_view view;
	uint16_t ids[TACHO_EVENTS_MAX + 1];	/* by event index; 0: not known yet */
	struct runtime_actions *actions[TACHO_EVENTS_MAX + 1];	/* or NULL */
	uint64_t ns_whole, ns_part;	/* of a tick: whole ns, and 2^-64ths */
	uint32_t stack_id;		/* type of call stacks; 0: not known yet */

	/* objects.c */
	uint32_t tells;			/* was told which code lies where */
	bool partial;		/* some actions are, or were: see actions.h */
	uint32_t telling;		/* somebody is at it */
	uint64_t last_announced;		/* what stands for the last block; 0: none */
	uint64_t announced[RUNTIME_ANNOUNCED];	/* what stands for objects: announced.h */

	/* for the thread that compiles, actions.h section 2 */
	uint32_t compiling;
	uint32_t nr_maps;
	unsigned char *chunk;		/* memory of actions: the last chunk */
	uint64_t chunk_used;
	struct tacho_histmap map[RUNTIME_MAPS_MAX];
};

struct runtime {
	pthread_mutex_t lock;		/* object.c, life.c */
	struct tacho_proc *proc;	/* our head; NULL: tracing is not possible */
	char *file_map;			/* the file in which it is: TACHO_PROC_SIZE */
	uint32_t seat;			/* our place in another one's file, from 1; 0: it is ours */
	bool shares;			/* and our state words are those of our parent */
	struct tacho_registry *reg;	/* mapped */
	struct runtime_session *session[TACHO_SESSIONS_MAX];
	uint32_t serials;		/* sessions met so far */
	int32_t pid;
	int seccomp;			/* PR_GET_SECCOMP when we began */
	bool begun;			/* life.c tried to start */
	uint32_t functions;		/* filters name some: actions depend on what is loaded */
	char dir[TACHO_PATH_MAX];
	char file[TACHO_PATH_MAX + 48];	/* path of the process's file */
};

extern struct runtime tacho_runtime;

/* What a thread knows of itself. */
struct runtime_self {
	int32_t tid;				/* 0: not asked yet */
	uint64_t common;			/* common fields without the type */
	uint32_t depth;				/* of synthetic events */
	uint16_t serial[TACHO_SESSIONS_MAX];	/* sessions told who we are */
};

/* Thread-local without a call: the library is loaded at program start or
 * fits into the C library's reserve. */
extern __thread struct runtime_self tacho_self
	__attribute__((tls_model("initial-exec")));

/* ---- procmap.c ---- */

/* Creates this process's file; 0 or -errno.  Under the mutex. */
int tacho_procmap_create(void);

/*
 * Adds an event with this text, or finds one that is gone and has the same;
 * its index, or -ENOSPC.  Under the mutex.
 */
int tacho_procmap_add(const char *text, uint32_t len, uint32_t name_len);

/* Marks an event as gone and switches it off. */
void tacho_procmap_remove(uint32_t index);

/*
 * After fork, in the child: state words of its own in the same place, in a file of its own or
 * in a seat of its parent's; or else those of its parent.
 */
void tacho_procmap_fork(void);

/* At exit: removes the file, or frees the seat. */
void tacho_procmap_end(void);

struct tacho_proc_state *tacho_procmap_state(uint32_t index);
const char *tacho_procmap_text(uint32_t index, uint32_t *len);

/* ---- attach.c ---- */

/* The session behind a bit, mapped now if need be; NULL: not possible. */
struct runtime_session *tacho_attach(uint32_t bit);

/*
 * The session that lives behind a bit now: as tacho_attach(), but NULL for a free
 * bit, and a dead session met on the way is replaced.
 */
struct runtime_session *tacho_attach_live(uint32_t bit);

/* Forgets a session that has died. */
void tacho_attach_drop(uint32_t bit, struct runtime_session *s);

/* An object was loaded: actions that name functions are recompiled. */
void tacho_actions_loaded(void);

/*
 * Sets the bits of events [first, last] as the rules of all sessions say
 * (session/proc.h, P2 and P3).  Maps the sessions that want any.
 */
void tacho_attach_apply(uint32_t first, uint32_t last);

/* Whether system calls that a sandbox may forbid are fine. */
bool tacho_attach_may_map(void);

/* Maps the registry; 0 or -errno. */
int tacho_attach_registry(void);

/* ---- emit.c ---- */

extern const struct tacho_event_ops tacho_emit_ops;

/* Room for TACHO_RAW_MAX bytes and a word, or NULL: all of it is taken. */
void *tacho_scratch_take(void);
void tacho_scratch_put(void *raw);

/* After fork, in the child: this thread is a new one, and alone. */
void tacho_emit_fork(void);

/* ---- life.c ---- */

/*
 * Says what cannot be done, in one clear sentence: as a remark in the registry (which may be
 * NULL), and with TACHO_DEBUG on stderr.  With all signals blocked; not in handlers.
 */
void tacho_life_say(struct tacho_registry *reg, const char *fmt, ...) TACHO_PRINTF(2, 3);

/* Starts the runtime once; 0 or why it is not possible.  Under the mutex. */
int tacho_life_begin(void);

#endif
