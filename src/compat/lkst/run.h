/* SPDX-License-Identifier: MIT */
/*
 * run.h - shared by the files of liblkst.
 *
 *	hook.c		a hit of LKST_HOOK()
 *	link.c		LKST's session, as this process maps it
 *	types.c		event types of this process
 *	register.c	event handlers of this process
 *	service.c	the thread that runs control functions for other processes
 *	dump.c		the last events as text, wherever the program is
 *	api.c		the calls that tools also have, with one handle for the process
 *
 * What is shared between threads
 *
 *	state		set once, before the first type is known; stays mapped
 *	link		by compare-and-swap; the target is never freed (a few pages for each
 *			session ever attached), and retired when it is replaced
 *	type[]		set under the mutex; their targets are never freed
 *
 * The mutex is held over a fork, so the child's data is consistent; hooks never take it.
 */
#ifndef TACHO_COMPAT_LKST_RUN_H
#define TACHO_COMPAT_LKST_RUN_H

#include <pthread.h>

#include "base/atomic.h"
#include "compat/lkst/hook.h"
#include "fmt/lkst/record.h"
#include "session/dir.h"
#include "sys/sequence.h"
#include "tacho/abi/site.h"

#define LKST_TYPE_TEXT	2560	/* bytes of a type's text at most */

/* LKST's session. */
struct lkst_link {
	uint64_t generation;	/* as state->generation has it */
	uint64_t mask;		/* its bit in state words */
	/* by libtacho's mapping: see ops->control() of abi/site.h */
	const unsigned char *lanes;
	uint32_t nr_cpus;	/* lanes of CPUs that have a limit */
	uint32_t serial;	/* of links, from 1 */
	struct tacho_view view;
	uint64_t *in_core;	/* by lane, a bit for each buffer: a core has it by this mapping */
	uint16_t id[LKST_NR_ETYPES];	/* of types that hooks do not write; 0: not known */
};

/* An event type of this process.  event is the first: a site has its address. */
struct lkst_type {
	struct tacho_event event;
	uint64_t logs;			/* `current` that is known to record it; hook.c */
	struct lkst_link *link;		/* where */
	uint64_t word;			/* of its records: etype */
	struct tacho_event *list;
	struct tacho_object object;
	struct tacho_event_field field[16];
	uint32_t index;			/* in the tables of the state */
	uint32_t users;			/* struct lkst_etype_info that have it */
	struct lkst_type *next;		/* that had the number before */
	char mnemonic[LKST_MNEMONIC_LEN];
	uint32_t text_len;
	char text[LKST_TYPE_TEXT];	/* as abi/shm.h has it */
	char copy[LKST_TYPE_TEXT];	/* the same, cut up for the fields */
};

/* Data that each hit loads, at a fixed address. */
struct lkst_fast {
	const uint64_t *current;	/* of the state */
	void (*write)(struct tacho_event *ev, void *raw, size_t len);	/* libtacho's */
	uint64_t rseq_offset;		/* from the thread pointer to struct rseq */
	uint32_t nr_cpus;		/* that all links have */
};

struct lkst_run {
	struct lkst_fast fast;
	pthread_mutex_t lock;
	struct lkst_state *state;	/* NULL: LKST is not possible, or not set up yet */
	uint32_t nr_cpus;		/* of the state */
	uint32_t serials;		/* links made so far */
	struct tacho_registry *reg;
	struct lkst_link *link;
	uint64_t failed;		/* generation that could not be mapped */
	struct lkst_type *type[LKST_NR_ETYPES];
	uint32_t owner;			/* user id of the run-time directory's */
	const struct tacho_event_ops *ops;	/* libtacho's */
	int seccomp;			/* PR_GET_SECCOMP at the start */
	char dir[TACHO_PATH_MAX];
};
extern struct lkst_run lkst_run;

/* Per-thread data. */
struct lkst_self {
	uint64_t seen;		/* `current` when the ids were asked; UINT64_MAX: never */
	uint32_t left;		/* slow hits until they are asked again */
	uint64_t ids;		/* words 6 and 7 of a record */
	uint64_t who;
	uint32_t introduced;	/* serial of the link that was told who this is */
};
extern __thread struct lkst_self lkst_self __attribute__((tls_model("initial-exec")));

/* ---- link.c ---- */

/*
 * Maps the state, once.  Returns 0, or -EPERM (another user's), -ENODEV.  Under the mutex.
 */
int lkst_run_begin(void);

/* 0, or -EPERM: neither superuser nor owner of the run-time directory (any more). */
int lkst_run_may(void);

/* The current session of LKST, mapped now if necessary; NULL: none.  Any context. */
struct lkst_link *lkst_link_slow(void);

static TACHO_ALWAYS_INLINE struct lkst_link *lkst_link_get(const struct lkst_state *s)
{
	/* what it points to is complete */
	struct lkst_link *k = tacho_load_acquire(&lkst_run.link);	/* [lkst-link] */

	if (tacho_likely(k && k->generation == tacho_load_relaxed(&s->generation) &&
			 tacho_load_relaxed(&k->view.ctl->state) != TACHO_STATE_DEAD))
		return k;
	return lkst_link_slow();
}

/*
 * Includes a lane in core dumps, after a record was written to it through the link's mapping.
 * Any context.
 */
void lkst_link_dump(struct lkst_link *k, uint32_t lane);
/* Includes the kernel's events of a CPU's current buffer in core dumps.  Any context. */
void lkst_link_late(struct lkst_link *k, const struct lkst_state *s, uint32_t cpu);

/* The CPU this runs on; huge where there are no restartable sequences. */
static TACHO_ALWAYS_INLINE uint32_t lkst_cpu_here(void)
{
#ifdef TACHO_HAVE_RSEQ
	const char *thread = __builtin_thread_pointer();

	return tacho_rseq_cpu((const void *)(thread + lkst_run.fast.rseq_offset));
#else
	return UINT32_MAX;
#endif
}

/* The lane that this thread writes to now; UINT32_MAX: a fallback lane. */
static inline uint32_t lkst_lane_here(const struct lkst_link *k)
{
	uint32_t cpu = lkst_cpu_here();

	return cpu < k->nr_cpus ? cpu : UINT32_MAX;
}

/*
 * Updates the thread's ids from the kernel, at a maskset switch and at each 16th call. Any
 * context.
 */
void lkst_self_refresh(uint64_t current);

/* ---- types.c ---- */

/* The type that this process has under a number, or NULL.  Any context. */
struct lkst_type *lkst_type_of(uint32_t index);

/* ---- register.c ---- */

/* Calls a control function for service.c; returns the function's result, or -EINVAL. */
int lkst_serve_ctrl(uint32_t id, void *buf, size_t size, int *ret);
ssize_t lkst_serve_show(uint32_t id, char *page);
ssize_t lkst_serve_store(uint32_t id, const char *text, size_t len);

/* ---- dump.c ---- */

/* Sets up the dumps that LKST_DUMP in the environment requests. */
void lkst_dump_begin(void);

/* ---- api.c ---- */

/* The handle's mutex, over a fork; it is taken before that of lkst_run. */
void lkst_api_lock(void);
void lkst_api_unlock(void);

/* ---- service.c ---- */

/* Starts the thread, once in each process.  0 or a negative errno.  Under the mutex. */
int lkst_service_start(void);
/* Called in the child of a fork, which has no service thread. */
void lkst_service_fork(void);

/* ---- owners ---- */

/*
 * Entries of the state that belong to a process are claimed by one compare-and-swap of pid
 * and the low half of its start time (the owner's pad), so that the owner of a just claimed entry
 * is never mistaken for dead.
 */
static inline uint64_t lkst_owner_word(const struct lkst_owner *o)
{
	return tacho_load_acquire((const uint64_t *)(const void *)o);
}

bool lkst_owner_word_lives(uint64_t word);
uint64_t lkst_owner_word_self(void);
/* Claims an entry for this process, if its word is still `seen`. */
bool lkst_owner_claim(struct lkst_owner *o, uint64_t seen);
/* Releases an entry of this process; false: it was another's. */
bool lkst_owner_release(struct lkst_owner *o);

#endif
