/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the runtime inside a traced process.
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
 *	Nothing here may affect the program: no abort, no exit, no output (except with
 *	TACHO_DEBUG), no thread, no signal handler, no descriptor left open, no lock that a signal
 *	handler could wait for.  Records that cannot be written are counted.
 *
 *	emit.c, attach.c and actions run in any thread and any signal handler, also one
 *	that interrupted themselves: they use atomics and system calls only, and
 *	preserve errno.  object.c and life.c run in constructors, destructors and fork
 *	handlers and take the mutex.
 *
 * Signals that its system calls could raise, and why they do not
 *
 *	SIGXFSZ	ftruncate, write and pwrite after RLIMIT_FSIZE.  The limit is checked before:
 *		tacho_shm_may_grow().  fallocate and MADV_POPULATE_WRITE stay inside the length of
 *		the file.
 *	SIGBUS	a page of a mapped file without a block, on a full file system: blocks are
 *		allocated before a page is accessed.  Files of the run-time directory are never
 *		truncated.
 *	SIGSYS	(or SIGKILL) a seccomp filter.  A filter that existed at the start is assumed to
 *		allow what a program needs to start.  After a later filter, nothing is opened,
 *		created, mapped or removed: tacho_attach_may_map() checks by prctl() before each
 *		such step.  The remaining calls are the clock, gettid, getpid, futex wakes and
 *		that prctl().  A filter that forbids prctl() or gettid() kills the program,
 *		because no call can detect it in advance.
 *	SIGPIPE	write to a pipe or socket.  Only regular files are written: they are opened with
 *		O_NONBLOCK and checked.  With TACHO_DEBUG stderr is written, with signals blocked;
 *		a resulting signal is consumed.
 *	SIGTTOU	write to a terminal, as SIGPIPE.
 *	SIGSEGV	a handler's small stack: large data is in separate pages.
 *
 *	SIGXCPU, SIGIO and similar signals arrive only if the program set a limit or requested
 *	them, whatever the call.  EINTR is handled where a call may return it.
 *
 * What is shared between threads
 *
 *	probe.proc	set once, before the first site is given a state
 *			word; the file's mapping, probe.file_map, stays at the same address
 *			until the process ends (a fork's child maps its own file
 *			there, or the words of its seat)
 *	probe.session[]	pointers, set by compare-and-swap from NULL to a
 *			session, and from a dead session to NULL; what they point to is
 *			never freed (a few pages for each session ever attached)
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
	uint16_t serial;	/* differs from those of all previous sessions; not 0 */
	struct tacho_view view;
	uint16_t ids[TACHO_EVENTS_MAX + 1];	/* by event index; 0: not known yet */
	struct runtime_actions *actions[TACHO_EVENTS_MAX + 1];	/* or NULL */
	uint64_t ns_whole, ns_part;	/* of a tick: whole ns, and 2^-64ths */
	uint32_t stack_id;		/* type of call stacks; 0: not known yet */

	/* objects.c */
	uint32_t tells;			/* the session has the code mappings */
	bool partial;		/* some actions are or were partial: see actions.h */
	uint32_t telling;		/* a thread is writing the mappings */
	uint64_t last_announced;		/* key of the last block; 0: none */
	uint64_t announced[RUNTIME_ANNOUNCED];	/* keys of objects: announced.h */

	/* for the thread that compiles, actions.h section 2 */
	uint32_t compiling;
	uint32_t nr_maps;
	unsigned char *chunk;		/* memory of actions: the last chunk */
	uint64_t chunk_used;
	struct tacho_histmap map[RUNTIME_MAPS_MAX];
};

struct runtime {
	pthread_mutex_t lock;		/* object.c, life.c */
	struct tacho_proc *proc;	/* this process's head; NULL: tracing is not possible */
	char *file_map;			/* the mapping of its file: TACHO_PROC_SIZE */
	uint32_t seat;			/* this process's seat in another process's file, from 1;
					 * 0: the file is its own */
	bool shares;			/* and the state words are the parent's */
	struct tacho_registry *reg;	/* mapped */
	struct runtime_session *session[TACHO_SESSIONS_MAX];
	uint32_t serials;		/* sessions attached so far */
	int32_t pid;
	int seccomp;			/* PR_GET_SECCOMP at the start */
	bool begun;			/* life.c tried to start */
	uint32_t functions;		/* filters name functions: actions depend on the loaded
					 * objects */
	char dir[TACHO_PATH_MAX];
	char file[TACHO_PATH_MAX + 48];	/* path of the process's file */
};

extern struct runtime tacho_runtime;

/* Per-thread data. */
struct runtime_self {
	int32_t tid;				/* 0: not known yet */
	uint64_t common;			/* common fields without the type */
	uint32_t depth;				/* of synthetic events */
	uint16_t serial[TACHO_SESSIONS_MAX];	/* sessions that have this thread's name */
};

/* Thread-local without a call: the library is loaded at program start or
 * fits into the C library's reserve. */
extern __thread struct runtime_self tacho_self
	__attribute__((tls_model("initial-exec")));

/* ---- procmap.c ---- */

/* Creates this process's file; 0 or -errno.  Under the mutex. */
int tacho_procmap_create(void);

/*
 * Adds an event with this text, or reuses one with the same text whose object was unloaded;
 * returns its index, or -ENOSPC.  Under the mutex.
 */
int tacho_procmap_add(const char *text, uint32_t len, uint32_t name_len);

/* Marks an event as unloaded and disables it. */
void tacho_procmap_remove(uint32_t index);

/*
 * Called after fork, in the child: maps its own state words at the same place, in its own file or
 * in a seat of the parent's file; if that fails, it shares the parent's words.
 */
void tacho_procmap_fork(void);

/* Called at exit: removes the file, or frees the seat. */
void tacho_procmap_end(void);

struct tacho_proc_state *tacho_procmap_state(uint32_t index);
const char *tacho_procmap_text(uint32_t index, uint32_t *len);

/* ---- attach.c ---- */

/* The session of a bit, mapped now if necessary; NULL: not possible. */
struct runtime_session *tacho_attach(uint32_t bit);

/*
 * The session that has the bit now: as tacho_attach(), but NULL for a free bit, and a dead
 * session is replaced.
 */
struct runtime_session *tacho_attach_live(uint32_t bit);

/* Detaches from a dead session. */
void tacho_attach_drop(uint32_t bit, struct runtime_session *s);

/* Called after an object was loaded: recompiles actions that name functions. */
void tacho_actions_loaded(void);

/*
 * Sets the bits of events [first, last] by the rules of all sessions (session/proc.h, P2 and P3).
 * Maps the sessions that enable any.
 */
void tacho_attach_apply(uint32_t first, uint32_t last);

/* Whether system calls that a sandbox may forbid are allowed. */
bool tacho_attach_may_map(void);

/* Maps the registry; 0 or -errno. */
int tacho_attach_registry(void);

/* ---- emit.c ---- */

extern const struct tacho_event_ops tacho_emit_ops;

/* A buffer for TACHO_RAW_MAX bytes and a word, or NULL: all buffers are in use. */
void *tacho_scratch_take(void);
void tacho_scratch_put(void *raw);

/* Called after fork, in the child, which has only this thread. */
void tacho_emit_fork(void);

/* ---- life.c ---- */

/*
 * Reports an error in one message: as a note in the registry (which may be NULL), and with
 * TACHO_DEBUG on stderr.  The caller blocks all signals; not in handlers.
 */
void tacho_life_say(struct tacho_registry *reg, const char *fmt, ...) TACHO_PRINTF(2, 3);

/* Starts the runtime once; returns 0 or the error.  Under the mutex. */
int tacho_life_begin(void);

#endif
