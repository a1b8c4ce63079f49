/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - LTT's tracer, for the library and for tracedaemon alike.
 *
 * 1. How it is implemented
 *
 *	trace		a tacho session whose rules take ltt:change_mask: `tacho record -e
 *			'ltt:*'` and tracedaemon make such ones.  Those that overwrite are
 *			flight recorders
 *	event		two tacho events of the program that makes it: ltt:process_fork with the
 *			fields of LTT's struct, and ltt:process_fork_bare without any.  They have
 *			the names and fields that the same records of a file have (fmt/ltt/types.h)
 *	masks		the session's rules.  On in both masks: ltt:X is on.  In the event mask
 *			only: ltt:X_bare is.  Where both are, as 'ltt:*' says, it has its struct
 *	filters		the file DIR/ltt in the run-time directory, by the session's bit
 *
 * 2. Where events are filtered
 *
 *	J1  the rules: a masked event costs as much as a disabled tracepoint J2  the program that
 *	records the event checks DIR/ltt, if any trace has a filter
 *
 * 3. Who writes what
 *	trace_control()		rules, as all tools do; DIR/ltt, under its lock (flock())
 *	anybody			reads DIR/ltt, word by word, without the lock.  A change of several
 *				words is seen half for a moment
 *
 *	An entry belongs to the session with its generation, so an ended trace does not affect the
 *	next one.  Contents are untrusted.
 *
 * The details mask also applies to events that are masked out, which rules cannot express:
 * DIR/ltt stores it for those.
 */
#ifndef TACHO_COMPAT_LTT_TRACER_H
#define TACHO_COMPAT_LTT_TRACER_H

#include <stdbool.h>

#include <ltt/events.h>

#include "base/atomic.h"
#include "base/diag.h"
#include "session/session.h"

#define LTT_MAGIC_STATE		UINT64_C(0x31747474686f6361)

/* Always in both masks. */
#define LTT_FORCED	(TRACE_EVENT_BIT(TRACE_START) | TRACE_EVENT_BIT(TRACE_BUFFER_START) | \
			 TRACE_EVENT_BIT(TRACE_CHANGE_MASK))
/* Events that a flight recorder records by default: ids 1 to 10. */
#define LTT_FLIGHT_MASK	((trace_event_mask)0x7fe)
/* Bits that stand for an event. */
#define LTT_MASK_VALID	(((trace_event_mask)1 << (TRACE_MAX + 1)) - 1)

/* The session that START of a flight recorder makes. */
#define LTT_FLIGHT_SESSION	"ltt-flight"

struct ltt_masks {
	trace_event_mask events, details;
};

/* ---- rules.c: masks as rules ---- */

#define LTT_RULES_MAX	64u
#define LTT_RULE_LEN	48u

struct ltt_rules {
	uint32_t n;
	const char *glob[LTT_RULES_MAX];
	bool enable[LTT_RULES_MAX];
	char text[LTT_RULES_MAX][LTT_RULE_LEN];
};

/* The rules that stand for masks; the first one takes all of LTT's events away. */
void ltt_rules_of(struct ltt_rules *r, const struct ltt_masks *m);

/* ---- tracer.c: what all share ---- */

enum ltt_kind {
	LTT_BY_PID = 1,
	LTT_BY_PGRP = 2,
	LTT_BY_GID = 4,
	LTT_BY_UID = 8,
};

/* Whose events; kinds 0: everybody's. */
struct ltt_who {
	uint32_t kinds;		/* enum ltt_kind */
	int32_t pid, pgrp;
	uint32_t gid, uid;
};

struct ltt_entry {
	uint32_t generation;	/* of the session's registry slot, + 1; 0: no entry */
	uint32_t held;		/* STOP or PAUSE stopped it, not its recorder */
	struct ltt_who who;
	trace_event_mask details;	/* of events that are masked out */
};

struct ltt_state {
	struct tacho_file_head head;
	uint32_t layout;	/* its size and version: others are refused */
	uint32_t pad;
	uint64_t filtered;	/* bits of sessions that may have a filter */
	struct ltt_entry entry[TACHO_SESSIONS_MAX];
};

/* Maps DIR/ltt; creates it if it does not exist; as tacho_shared_map(). */
int ltt_state_map(struct ltt_state **state, int *fd);
void ltt_state_unmap(struct ltt_state *state);

/* Whether a process, 0 for this one, is one of those. */
bool ltt_who_has(const struct ltt_who *who, int32_t pid);

struct ltt_tracer {
	struct tacho_dir dir;
	struct ltt_state *state;
	int state_fd;
};

/*
 * Opens LTT's tracer of this machine, and takes its lock; create: makes the run-time directory
 * if there is none.  0; -ENODEV: there is no directory, so there is no tracer; -EPERM, -ENOMEM, ...
 * as <ltt/tracer.h> has them.
 */
int ltt_tracer_open(struct ltt_tracer *t, bool create);
void ltt_tracer_close(struct ltt_tracer *t);

/*
 * Calls fn with each trace that is a flight recorder, or is none; fn returns 0 or a negative
 * errno.  It may destroy the session, and sets s->dir to NULL then.  How many there are, or
 * what fn returned.
 */
int ltt_tracer_each(struct ltt_tracer *t, bool flight,
		    int (*fn)(struct ltt_tracer *t, struct tacho_session *s, void *arg),
		    void *arg);

/* What is on in a trace. */
void ltt_trace_masks(const struct ltt_tracer *t, const struct tacho_session *s,
		     struct ltt_masks *m);
int ltt_trace_set_masks(struct ltt_tracer *t, struct tacho_session *s,
			const struct ltt_masks *m);

void ltt_trace_who(const struct ltt_tracer *t, const struct tacho_session *s,
		   struct ltt_who *who);
void ltt_trace_set_who(struct ltt_tracer *t, const struct tacho_session *s,
		       const struct ltt_who *who);

/* Keeps writers out of a trace that records. */
int ltt_trace_hold(struct ltt_tracer *t, struct tacho_session *s);
/* Lets them in again where that one keeps them out; false: it does not.  *err: what came of it. */
bool ltt_trace_release(struct ltt_tracer *t, struct tacho_session *s, int *err);

/* Makes LTT_FLIGHT_SESSION, which does not record yet; sizes in bytes, 0: as tacho has them. */
int ltt_flight_make(struct ltt_tracer *t, struct tacho_session *s, uint64_t buffer,
		    uint64_t buffers);

#endif
