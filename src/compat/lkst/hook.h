/* SPDX-License-Identifier: MIT */
/*
 * hook.h - liblkst in the traced program: hook.c, register.c, service.c, dump.c.
 *
 * A hit of LKST_HOOK()
 *
 *	K1  the session of LKST wants the event (its bit in the state word)?  If not:
 *	    the record goes to the other sessions that do, and that is all
 *	K2  handler = what the current maskset says (state.h, 2)
 *	K3  VOID: to the other sessions, if any
 *	    LKST's: the record is written as any tacho event is (to all sessions)
 *	    a function of this process: called, in place of it
 *	K4  overrun? (state.h, 3)
 *
 * Ids (uid, gid, pgrp) are asked of the kernel once by each thread, and again after a
 * fork, a maskset switch, and every 16 sub-buffers: setuid() in between shows late.
 *
 * All of it runs in any thread and any signal handler: no lock, no heap, errno kept.
 * A handler that is running may be interrupted by a hook: handlers nest 4 deep, deeper hits
 * are recorded only.
 *
 * Control functions, and ctrl files, are asked for by other processes: service.c has a thread,
 * made with the first handler that has any, which listens on a socket of the run-time
 * directory.
 *
 * What a core dump must hold: shared mappings are dumped only if bit 3 of
 * /proc/self/coredump_filter is set.  A program that has LKST event types sets it (LKST_CORE=0 in
 * the environment: it does not).
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
 * H1 and H2 on the CPU this runs on: 0, or a negative errno.  late: for an event that the pump
 * brought, so the kernel's events that follow go on there, too.  Any context.
 */
int lkst_shift_here(struct lkst_state *s, struct tacho_view *v, uint32_t lane, bool wake,
		    bool late);

/*
 * What phookrec points to in a handler of users: who records for it what it gives to
 * lkst_evhandlerprim_entry_log().  NULL: the process that runs it, as an event of its own; the
 * specification has handlers not look at it, and of an overrun it is that.
 */
struct lkst_hookrec {
	void (*record)(struct lkst_hookrec *rec, uint32_t etype, const uint64_t arg[4]);
};

/*
 * Calls a handler's function.  False: that many run in this thread already, one in the other, and
 * it was not called: the event is to be recorded.  Any context.
 */
#define LKST_DEPTH_MAX	4
bool lkst_handler_call(lkst_evhandler_func fn, struct lkst_hookrec *rec, uint32_t etype,
		       const uint64_t arg[4]);

/* The function that this process has registered for a handler of users, or NULL. */
lkst_evhandler_func lkst_local_handler(uint32_t id);
/* Only for who registers: all may run at once with hooks. */
void lkst_local_handler_set(uint32_t id, lkst_evhandler_func fn);

/*
 * module.c: loads a shared object that registers event handlers in a constructor, with
 * liblkst, so that they act on the events that this process pumps: it stays loaded, and is
 * not loaded twice.
 * 0, or a negative errno with a sentence: -ENOENT (it cannot be loaded), -EINVAL (it registers
 * nothing).  Not for signal handlers.
 */
int lkst_module_load(const char *path, struct tacho_diag *d);

/* liblkst exports it: what lkst_local_handler() says there, which may be another copy. */
lkst_evhandler_func lkst_handler_function(lkst_evhandler_id id);

#endif
