/* SPDX-License-Identifier: MIT */
/*
 * engine.h - an instance: events, their filters and triggers, what they cause.
 *
 * The counterpart of a tracefs instance.  The host (a tool that reads a trace file, or the pump
 * of live kernel events) creates an instance, adds the event types, passes commands to it as text
 * and events as records, and implements its callbacks:
 *
 *	records --> tacho_engine_hit() --> recorded or not
 *	                |  |
 *	                |  +--> triggers: histograms, counters
 *	                +-----> host->emit() synthetic events, ->snapshot(), ...
 *
 * One hit, as the kernel does it:
 *	E1  triggers run if their filter passes, the newest first; stacktrace and
 *	    traceoff wait for E4, hist for E3
 *	E2  the event is recorded if it is enabled (not only soft-enabled for its triggers), if
 *	    tracing is on and its own filter passes
 *	E3  histograms count it, the oldest first, and make synthetic events
 *	E4  stacktrace, traceoff
 * When one of its triggers needs the record (a filter, hist, stacktrace or
 * traceoff) tracing must have been on before E1.  When none does, traceon in E1 already applies
 * to this event, and an event that enables itself is recorded from its next hit on.
 *
 * Soft mode: an event that has triggers, or that a trigger enables or disables, is soft-enabled:
 * its hits are processed even if it is not enabled.  When the last such trigger is removed, the
 * event stays enabled or disabled as the triggers left it.
 *
 * Synthetic events are events of system "synthetic": they pass through the same steps in the hit
 * that generated them, at most TACHO_ENGINE_DEPTH deep; deeper ones are dropped and counted.
 * Event probes (eprobe.h) do the same: while one is in use it is attached to its base event like
 * a trigger, and its event is generated after E3.
 *
 * An instance is used by one thread at a time.
 */
#ifndef TACHO_ENGINE_ENGINE_H
#define TACHO_ENGINE_ENGINE_H

#include "engine/errlog.h"
#include "engine/filter.h"
#include "engine/hist.h"
#include "engine/rec.h"
#include "engine/trigger.h"

#define TACHO_ENGINE_DEPTH	4

struct tacho_engine;

/* One event of an instance. */
struct tacho_engine_event {
	const struct tacho_type *type;
	const struct tacho_synth *synth;	/* NULL: not a synthetic event */
	const struct tacho_eprobe *eprobe;	/* NULL: not an event probe */
	bool generated;		/* generated here by one of the two; the host has no records of
				 * it */
	bool enabled;		/* to be recorded; triggers change it, too */
	bool soft_disabled;	/* not enabled, but soft is not 0 */
	uint32_t soft;		/* triggers on it, or that target it */
	void *host_data;	/* the host's */
};

struct tacho_engine_host {
	void *arg;
	/*
	 * Records a synthetic event, which is enabled and passed its filter.  Called before
	 * tacho_engine_hit() returns; in the kernel's trace the synthetic event follows the event
	 * that caused it, with the same time.
	 */
	void (*emit)(void *arg, const struct tacho_engine_event *event,
		     const struct tacho_rec *rec);
	void (*tracing)(void *arg, bool on, const struct tacho_rec *cause);
	void (*snapshot)(void *arg, const struct tacho_rec *cause);
	/* Records a call stack, which follows its event in the same way. */
	void (*stacktrace)(void *arg, const struct tacho_engine_event *event,
			   const struct tacho_rec *cause);
	/* Called when an event starts or stops to be needed (enabled, or with a trigger). */
	void (*wanted)(void *arg, const struct tacho_engine_event *event,
		       bool wanted);
	/* Now, in ns, for the error log. */
	uint64_t (*now)(void *arg);
};

/*
 * Creates an instance. host and names must outlive it; their members may be NULL. Returns NULL
 * without memory.
 */
struct tacho_engine *tacho_engine_new(const struct tacho_engine_host *host,
				      const struct tacho_names *names);
void tacho_engine_free(struct tacho_engine *engine);

/*
 * Adds an event type, which must outlive the instance.  Returns its event, also if an event of
 * that system and name exists already; NULL without memory.
 */
struct tacho_engine_event *tacho_engine_add(struct tacho_engine *engine,
					    const struct tacho_type *type);

struct tacho_engine_event *tacho_engine_find(struct tacho_engine *engine,
					     const char *system,
					     const char *name);
/* Events in the order they were added; NULL after the last. */
struct tacho_engine_event *tacho_engine_at(struct tacho_engine *engine,
					   uint32_t index);

/*
 * Commands; callbacks of the host must not call them.  All return 0, or a negative errno with e
 * (which may be NULL) filled in:
 *	-EINVAL	the text; e has the kernel's words and the column
 *	-EEXIST	the event has a trigger of a kind that is allowed once
 *	-ENOENT	nothing to remove, continue or clear.  (The kernel ignores the removal of a
 *		missing trigger, so callers that implement its files may ignore this error.)
 *	-EBUSY	in use: a synthetic event with triggers, a variable that others refer to
 *	-ENOMEM
 * Errors are kept in the error log under the kernel's names: "event filter parse
 * error", "hist:system:event", "synthetic_events".  Where the kernel has no words, the
 * log has ours: "trigger:system:event".  Failed removals are not logged.
 */

/*
 * Sets ("0": clears) the filter of one event.  As in the kernel, a wrong filter replaces the old
 * one: all events pass, and the file shows the error.
 */
int tacho_engine_filter(struct tacho_engine *engine,
			struct tacho_engine_event *event, const char *text,
			struct tacho_cmd_error *e);

/*
 * Sets the filter of every event of a system; events that lack a field keep
 * theirs.  -EINVAL if the filter is valid for no event.
 */
int tacho_engine_filter_system(struct tacho_engine *engine, const char *system,
			       const char *text, struct tacho_cmd_error *e);

/* Adds, changes (pause, cont, clear) or removes ("!...") a trigger. */
int tacho_engine_trigger(struct tacho_engine *engine,
			 struct tacho_engine_event *event, const char *text,
			 struct tacho_cmd_error *e);

/*
 * Defines a synthetic event, or removes it: "!name" or "!name type field; ..".  Removal frees the
 * event's struct tacho_engine_event and its type.
 */
int tacho_engine_synth(struct tacho_engine *engine, const char *text,
		       struct tacho_cmd_error *e);

/*
 * Defines an event probe, text as in eprobe.h.  -EEXIST: an event of that name exists. base was
 * added before, and is not an event probe.
 */
int tacho_engine_eprobe(struct tacho_engine *engine, const char *group,
			const char *name, const char *text,
			struct tacho_engine_event *base, struct tacho_cmd_error *e);

/* Removes an event probe.  Returns 0, -ENOENT, or -EBUSY: it is enabled, or has triggers. */
int tacho_engine_eprobe_remove(struct tacho_engine *engine, const char *group,
			       const char *name);

/* Switches recording of an event on or off. */
void tacho_engine_enable(struct tacho_engine *engine,
			 struct tacho_engine_event *event, bool on);

/* Switches tracing on or off, as traceon and traceoff do; initially on. */
void tacho_engine_run(struct tacho_engine *engine, bool on);
bool tacho_engine_running(const struct tacho_engine *engine);

/*
 * Processes one event.  Returns whether it must be recorded: it is enabled, tracing is on, its
 * filter passes.
 */
bool tacho_engine_hit(struct tacho_engine *engine,
		      struct tacho_engine_event *event,
		      const struct tacho_rec *rec);

/*
 * Whether tacho_engine_hit() with this record could do anything but return whether it is recorded:
 * the filter of some trigger or event probe passes, or it has none.  rec NULL: with any record.
 * It only looks.
 */
bool tacho_engine_may_act(const struct tacho_engine_event *event, const struct tacho_rec *rec);

/*
 * Generates a synthetic event, as a histogram's trace() does: value has one entry per field,
 * cause is the record that triggered it.  Does nothing if no event of that name exists, or it is
 * not needed.
 */
void tacho_engine_make(struct tacho_engine *engine, const char *name,
		       const struct tacho_synth_value *value,
		       const struct tacho_rec *cause);

/* Files as the kernel shows them: filter, trigger, hist, error_log, synthetic_events. */
void tacho_engine_print_filter(const struct tacho_engine *engine,
			       const struct tacho_engine_event *event,
			       struct tacho_buf *out);
void tacho_engine_print_triggers(const struct tacho_engine *engine,
				 const struct tacho_engine_event *event,
				 struct tacho_buf *out);
int tacho_engine_print_hist(const struct tacho_engine *engine,
			    const struct tacho_engine_event *event,
			    struct tacho_buf *out);
void tacho_engine_print_errors(const struct tacho_engine *engine,
			       struct tacho_buf *out);
void tacho_engine_print_synth(const struct tacho_engine *engine,
			      struct tacho_buf *out);

/* Histograms of an event in the order they were set; NULL after the last. */
struct tacho_hist *tacho_engine_hist(const struct tacho_engine *engine,
				     const struct tacho_engine_event *event,
				     uint32_t index);

/*
 * Whether a hit of the event needs rec->stack: for one of its histograms, or for one of a
 * synthetic event that it generates.
 */
bool tacho_engine_needs_stack(const struct tacho_engine *engine,
			      const struct tacho_engine_event *event);

/*
 * Appends a filter that the kernel can apply to the event's records before they arrive here: the
 * event's own filter, or, if it has triggers and no filter, the filters of all triggers.
 * TACHO_FILTER_LOCAL: there is no such filter, and the contents of out are undefined.
 */
enum tacho_filter_offload tacho_engine_offload(const struct tacho_engine *engine,
					       const struct tacho_engine_event *event,
					       struct tacho_buf *out);

/* Whether the event has a filter. */
bool tacho_engine_has_filter(const struct tacho_engine_event *event);

/*
 * Whether one of its triggers uses the record or runs after it: then the record is written before
 * E1, and a snapshot by a trigger contains it.
 */
bool tacho_engine_needs_record(const struct tacho_engine_event *event);

/*
 * Several instances with the same commands, of which each has seen a part of the records, in place
 * of one that has seen all.
 *
 * _is_additive	Whether both give the same tables: every trigger is a histogram that only
 *		counts and sums.  one_recording: a thread id means the same
 *		thread in all records.
 * _merge	Adds what from has counted.  0; -ENOSPC: a table has no room for all keys, or
 *		had none, so the order of hits matters; -EINVAL: the commands differ.  After an
 *		error some of it was added: tacho_engine_clear().
 * _clear	Empties all histograms.
 */
bool tacho_engine_is_additive(const struct tacho_engine *engine, bool one_recording);
int tacho_engine_merge(struct tacho_engine *to, const struct tacho_engine *from);
void tacho_engine_clear(struct tacho_engine *engine);

/* Returns how many synthetic events were dropped because they were too deep. */
uint64_t tacho_engine_too_deep(const struct tacho_engine *engine);

#endif
