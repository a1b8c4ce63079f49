/* SPDX-License-Identifier: MIT */
/*
 * edit.h - changing what a session wants; for this folder's tools' side only.
 *
 * All under the run-time directory's lock:
 *	tacho_edit_begin(v); change rules, pids, commands; tacho_edit_end(v);
 *	tacho_edit_apply(s, ...);
 * which are T1, then T2 and T3 of proc.h.
 */
#ifndef TACHO_SESSION_EDIT_H
#define TACHO_SESSION_EDIT_H

#include "session/session.h"

/* seq odd: what is read meanwhile is read again. */
void tacho_edit_begin(const struct tacho_view *v);
void tacho_edit_end(const struct tacho_view *v);

/*
 * Sets the session's bits in all running processes.  Returns how many of their events
 * glob matches; NULL: none.
 */
uint32_t tacho_edit_apply(struct tacho_session *s, const char *glob);

/* Adds a rule, "system:event"; 0 or -ENOSPC.  Between begin and end. */
int tacho_edit_rule(const struct tacho_view *v, bool enable, const char *glob);

#endif
