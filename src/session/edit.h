/* SPDX-License-Identifier: MIT */
/*
 * edit.h - changing a session's rules, process lists and commands; for the tools' side of this
 * folder only.
 *
 * The caller holds the run-time directory's lock:
 *	tacho_edit_begin(v); change rules, pids, commands; tacho_edit_end(v);
 *	tacho_edit_apply(s, ...);
 * which are T1, then T2 and T3 of proc.h.
 */
#ifndef TACHO_SESSION_EDIT_H
#define TACHO_SESSION_EDIT_H

#include "session/session.h"

/* Makes seq odd: readers repeat what they read during the edit. */
void tacho_edit_begin(const struct tacho_view *v);
void tacho_edit_end(const struct tacho_view *v);

/*
 * Sets the session's bits in all running processes, and adds to *matched the number of their
 * events that glob matches.  glob and matched may be NULL.
 *
 * Returns 0, or a negative errno: some processes could not be updated, for lack of memory or
 * descriptors.  Changes already made stay; repeating the call is harmless.
 */
int tacho_edit_apply(struct tacho_session *s, const char *glob, uint32_t *matched);

/* As tacho_edit_apply(); an error is recorded in d. */
int tacho_edit_applied(struct tacho_session *s, struct tacho_diag *d);

/* Adds a rule, "system:event"; 0 or -ENOSPC.  Between begin and end. */
int tacho_edit_rule(const struct tacho_view *v, bool enable, const char *glob);

#endif
