/* SPDX-License-Identifier: MIT */
/*
 * view.h - a session as one process sees it: control block, type table, commands,
 * rings.
 *
 * What the traced process and the tools have in common.  All calls here may
 * run in a signal handler of a traced program: system calls only, no heap,
 * errno preserved.
 */
#ifndef TACHO_SESSION_VIEW_H
#define TACHO_SESSION_VIEW_H

#include "ring/ring.h"

struct tacho_view {
	struct tacho_control *ctl;	/* shared */
	uint64_t ctl_size;
	struct tacho_types *types;	/* shared */
	struct tacho_commands *commands;	/* shared */
	struct tacho_ring ring;
};

/*
 * tacho_view_map - map the session in the directory at path.
 *
 * populate: fault the CPUs' current buffers in now.
 *
 * Returns 0, -EPROTO for files of another layout or not yet ready, or what
 * the system said.
 */
int tacho_view_map(struct tacho_view *v, const char *path, bool populate);

/* Unmaps; nobody may be using it. */
void tacho_view_unmap(struct tacho_view *v);

/* The session is dead, and others may still be inside: see mapping.h. */
void tacho_view_retire(struct tacho_view *v);

/* What a session wants of one event of one process. */
struct tacho_decision {
	bool enabled;	/* by its rules: the last that matches; no rule: not */
	bool wanted;	/* enabled, or a trigger is on it, or targets it, or an event
			 * probe on it is wanted */
	bool program;	/* it has a filter, a trigger or such a probe, or is a target */
};

/*
 * Decides about events called "system:name" of process pid.  The one place
 * where tools and processes alike find out.
 */
struct tacho_decision tacho_view_decide(const struct tacho_view *v,
					const char *name, int32_t pid);

/* Whether the lists of processes let it trace pid. */
bool tacho_view_traces(const struct tacho_view *v, int32_t pid);

/*
 * Whether some rule that enables has found no event in any process that is traced.
 * tacho_view_decide() notes which have.
 */
bool tacho_view_has_unmatched(const struct tacho_view *v);

/* Whether the session's rules alone record events called name. */
bool tacho_view_rules_want(const struct tacho_view *v, const char *name);

/*
 * The soft switch of the event called name, which triggers (enable_event, disable_event) have
 * as their target; NULL: none has.  Shared memory, as long as the view is mapped.
 */
struct tacho_soft *tacho_view_soft(const struct tacho_view *v, const char *name);

/* Whether command i is that of an event probe on events called name. */
bool tacho_view_eprobe_is_on(const struct tacho_view *v, uint32_t i, const char *name);

/* Sets or clears a session's bit in both words, in the order of abi/shm.h. */
void tacho_state_set(struct tacho_proc_state *state, uint64_t mask,
		     const struct tacho_decision *d);

/*
 * A number that changes whenever rules, pids or commands change; odd: being
 * changed.
 */
uint32_t tacho_view_rules_seq(const struct tacho_view *v);

/* The places of the command table that may be looked at. */
uint32_t tacho_view_nr_commands(const struct tacho_view *v);

/*
 * traceon and traceoff: the session's state, then its lanes (ring.h, section 7).
 * A session that is destroyed stays so.  May run in many processes at once.
 */
void tacho_view_run(struct tacho_view *v, bool recording);

/*
 * Asks whoever takes them, a flight recorder or a mounted tree, for a snapshot: as of now, by
 * the control block's asked_at.  Returns the request's number, which the recorder stores to the
 * control block's `served` when it has written what was recorded before it.
 */
uint32_t tacho_view_snapshot(const struct tacho_view *v);

/* Whether pid is in one of the session's lists, and how many are. */
bool tacho_pids_has(const struct tacho_pids *list, int32_t pid);
uint32_t tacho_pids_nr(const struct tacho_pids *list);

/*
 * Adds a process to a list that has some; a full list gives up a place whose process
 * is dead.  False when there is none.
 */
bool tacho_pids_add(struct tacho_pids *list, int32_t pid);

/*
 * tacho_types_add - the id of a type text in this session, added if need be.
 *
 * text: len bytes as abi/shm.h says under struct tacho_types.  Returns the id
 * (1..TACHO_EVENTS_MAX), or -ENOSPC when the table, its text or the file system is
 * full (counted in types->lost).
 */
int tacho_types_add(const struct tacho_view *v, const char *text, uint32_t len);

/*
 * The text of type id: pointer into shared memory, and its length; NULL when there
 * is none.  The text of a taken slot never changes, by well-behaved writers.
 */
const char *tacho_types_text(const struct tacho_view *v, uint32_t id,
			     uint32_t *len);

/* Notes what thread tid is; from that thread.  comm holds 16 bytes. */
void tacho_tasks_put(struct tacho_control *ctl, int32_t tid, int32_t tgid,
		     const char *comm);

/* Copies valid entry i of the task table; false when there is none. */
bool tacho_tasks_get(const struct tacho_control *ctl, uint32_t i,
		     struct tacho_task *task);

/* The same of thread tid's entry; false: it has none, or somebody is writing it. */
bool tacho_tasks_find(const struct tacho_control *ctl, int32_t tid,
		      struct tacho_task *task);

#endif
