/* SPDX-License-Identifier: MIT */
/*
 * hook.h - liblkst in the traced program: hook.c, register.c, service.c, dump.c.
 *
 * A hit of LKST_HOOK()
 *
 *	K1  is the event enabled in LKST's session (its bit in the state word)? If not, the record
 *	    is written to the other sessions that have it enabled, and the hit ends
 *	K2  handler = the current maskset's entry (state.h, 2)
 *	K3  VOID: to the other sessions, if any
 *	    LKST's: the record is written as any tacho event is (to all sessions)
 *	    a function of this process: called instead
 *	K4  overrun? (state.h, 3)
 *
 * Each thread gets its ids (uid, gid, pgrp) from the kernel once, and again after a fork, a
 * maskset switch, and every 16 sub-buffers: a setuid() in between is visible late.
 *
 * All of it runs in any thread and any signal handler: no lock, no heap, errno kept.
 * A handler that is running may be interrupted by a hook: handlers nest 4 deep, deeper hits
 * are recorded only.
 *
 * Other processes call control functions and ctrl files: service.c has a thread for them, started
 * with the first handler that has any, which listens on a socket in the run-time directory.
 *
 * Core dumps contain shared mappings only if bit 3 of /proc/self/coredump_filter is set.  A
 * program with LKST event types sets it, unless LKST_CORE=0 is in the environment.
 */
#ifndef TACHO_COMPAT_LKST_HOOK_H
#define TACHO_COMPAT_LKST_HOOK_H

#include <linux/lkst_class.h>
#include <linux/lkst_hook.h>

#include "base/diag.h"
#include "compat/lkst/state.h"
#include "session/view.h"

/* `lap`: a ring's buffer, and the number of a record of LKST's (fmt/lkst/layout.h). */
#define LKST_LAP_SHIFT	58
#define LKST_LAP_MASK	((UINT64_C(1) << LKST_LAP_SHIFT) - 1)

/*
 * overrun.c: the lane that a record was just written to may be full, and its handler: O1..O3.
 * For hooks and (late) for the pump, on the lane's CPU.  Any context.
 */
void lkst_overrun(struct lkst_state *s, struct tacho_view *v, uint32_t lane, uint64_t cursor,
		  bool late);

/* The check itself: one comparison for a record that is not beyond the limit. */
static inline bool lkst_is_over(uint64_t limit, uint64_t cursor)
{
	return (limit ^ cursor) >> 58 || cursor >= limit;
}

/* Before the first: not in a signal handler. */
void lkst_overrun_prepare(void);

/*
 * H1 and H2 on the CPU this runs on: 0, or a negative errno.  late: for an event from the pump;
 * later kernel events then follow to the new buffer, too.  Any context.
 */
int lkst_shift_here(struct lkst_state *s, struct tacho_view *v, uint32_t lane, bool wake,
		    bool late);

/*
 * The target of phookrec in a user's handler: it records what the handler passes to
 * lkst_evhandlerprim_entry_log().  With NULL, as in an overrun, the process that runs the handler
 * records it as its own event.  The specification forbids handlers to read it.
 */
struct lkst_hookrec {
	void (*record)(struct lkst_hookrec *rec, uint32_t etype, const uint64_t arg[4]);
};

/*
 * Calls a handler's function.  False: too many handlers are nested in this thread, and it was not
 * called: the caller records the event.  Any context.
 */
#define LKST_DEPTH_MAX	4
bool lkst_handler_call(lkst_evhandler_func fn, struct lkst_hookrec *rec, uint32_t etype,
		       const uint64_t arg[4]);

/* The function that this process has registered for a handler of users, or NULL. */
lkst_evhandler_func lkst_local_handler(uint32_t id);
/* For registration only; may run concurrently with hooks. */
void lkst_local_handler_set(uint32_t id, lkst_evhandler_func fn);

/*
 * module.c: loads a shared object that registers event handlers in a constructor, with
 * liblkst, so that they act on the events that this process pumps: it stays loaded, and is
 * not loaded twice.
 * Returns 0, or a negative errno with d filled in: -ENOENT (it cannot be loaded), -EINVAL (it
 * registers nothing).  Not for signal handlers.
 */
int lkst_module_load(const char *path, struct tacho_diag *d);

/* liblkst exports it: what lkst_local_handler() says there, which may be another copy. */
lkst_evhandler_func lkst_handler_function(lkst_evhandler_id id);

#endif
