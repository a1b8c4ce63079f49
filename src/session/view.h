/* SPDX-License-Identifier: MIT */
/*
 * view.h - a session as one process sees it: control block, type table, commands,
 * rings.
 *
 * Code that traced processes and tools share.  All calls may run in a signal handler of a traced
 * program: system calls only, no heap, errno preserved.
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
 * Returns 0, -EPROTO for files of another layout or not yet ready, or an error of the system.
 */
int tacho_view_map(struct tacho_view *v, const char *path, bool populate);

/* Unmaps a view that no thread uses. */
void tacho_view_unmap(struct tacho_view *v);

/* Retires the mappings of a dead session that other threads may still use: see mapping.h. */
void tacho_view_retire(struct tacho_view *v);

/* A session's decision about one event of one process. */
struct tacho_decision {
	bool enabled;	/* by its rules: the last that matches; no rule: not */
	bool wanted;	/* enabled, has a trigger, is the target of one, or has an event probe in
			 * use */
	bool program;	/* it has a filter, a trigger or such a probe, or is a target */
};

/*
 * Decides about events called "system:name" of process pid.  Tools and processes both use this
 * function.
 */
struct tacho_decision tacho_view_decide(const struct tacho_view *v,
					const char *name, int32_t pid);

/* Whether the process lists include pid. */
bool tacho_view_traces(const struct tacho_view *v, int32_t pid);

/*
 * Whether an enabling rule has matched no event in any traced process. tacho_view_decide() marks
 * rules that have.
 */
bool tacho_view_has_unmatched(const struct tacho_view *v);

/* Whether the session's rules enable events called name, without regard to commands. */
bool tacho_view_rules_want(const struct tacho_view *v, const char *name);

/*
 * The soft switch of the event called name, for the triggers enable_event and disable_event;
 * NULL: the event is not a target.  Shared memory, valid while the view is mapped.
 */
struct tacho_soft *tacho_view_soft(const struct tacho_view *v, const char *name);

/* Whether command i is an event probe on events called name. */
bool tacho_view_eprobe_is_on(const struct tacho_view *v, uint32_t i, const char *name);

/* Sets or clears a session's bit in both words, in the order of abi/shm.h. */
void tacho_state_set(struct tacho_proc_state *state, uint64_t mask,
		     const struct tacho_decision *d);

/* A number that changes with every change of rules, pids or commands; odd during a change. */
uint32_t tacho_view_rules_seq(const struct tacho_view *v);

/* The number of valid slots of the command table. */
uint32_t tacho_view_nr_commands(const struct tacho_view *v);

/*
 * traceon and traceoff: the session's state, then its lanes (ring.h, section 7).
 * A destroyed session stays destroyed.  May run in many processes at once.
 */
void tacho_view_run(struct tacho_view *v, bool recording);

/*
 * Requests a snapshot from the flight recorder or the mounted tree, as of now (requested_at in the
 * control block).  Returns the request's number, which the recorder stores in `served` of the
 * control block when it has written all earlier records.
 */
uint32_t tacho_view_snapshot(const struct tacho_view *v);

/* Whether a process list contains pid, and how many processes it has. */
bool tacho_pids_has(const struct tacho_pids *list, int32_t pid);
uint32_t tacho_pids_nr(const struct tacho_pids *list);

/*
 * Adds a process to a list that is not empty; in a full list it replaces a dead process.  False:
 * the list is full of living processes.
 */
bool tacho_pids_add(struct tacho_pids *list, int32_t pid);

/*
 * tacho_types_add - return the id of a type text in this session; add the text if necessary.
 *
 * text: len bytes as abi/shm.h says under struct tacho_types.  Returns the id
 * (1..TACHO_EVENTS_MAX), or -ENOSPC when the table, its text or the file system is
 * full (counted in types->lost).
 */
int tacho_types_add(const struct tacho_view *v, const char *text, uint32_t len);

/*
 * The text of type id: pointer into shared memory, and its length; NULL when there
 * is none.  Correct writers never change the text of a used slot.
 */
const char *tacho_types_text(const struct tacho_view *v, uint32_t id,
			     uint32_t *len);

/* Stores process and name of thread tid; called by that thread. comm has 16 bytes. */
void tacho_tasks_put(struct tacho_control *ctl, int32_t tid, int32_t tgid,
		     const char *comm);

/* Copies valid entry i of the task table; false when there is none. */
bool tacho_tasks_get(const struct tacho_control *ctl, uint32_t i,
		     struct tacho_task *task);

/* Copies the entry of thread tid; false: it has none, or the entry is being written. */
bool tacho_tasks_find(const struct tacho_control *ctl, int32_t tid,
		      struct tacho_task *task);

#endif
