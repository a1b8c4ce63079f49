/* SPDX-License-Identifier: MIT */
/*
 * engine.h - an instance: events, their filters and triggers, what they cause.
 *
 * What a tracefs instance is to the kernel.  The host (a tool that reads a trace
 * file, or the pump of live kernel events) makes one, tells it the event types,
 * hands commands to it as text and events as records, and does what it asks:
 *
 *	records --> tacho_engine_hit() --> recorded or not
 *	                |  |
 *	                |  +--> triggers: histograms, counters
 *	                +-----> host->emit() synthetic events, ->snapshot(), ...
 *
 * One hit, as the kernel does it:
 *	E1  triggers run if their filter passes, the newest first; stacktrace and
 *	    traceoff wait for E4, hist for E3
 *	E2  the event is recorded if it is enabled (and not only in soft mode: wanted
 *	    for its triggers), if tracing is on and its own filter passes
 *	E3  histograms count it, the oldest first, and make synthetic events
 *	E4  stacktrace, traceoff
 * When one of its triggers needs the record (a filter, hist, stacktrace or
 * traceoff) tracing must have been on before E1.  When none does, traceon in E1 is
 * in time for this event, and an event that enables itself is recorded from
 * its next hit on.
 *
 * Soft mode: an event with triggers, or that a trigger enables or disables,
 * is wanted even if it is not enabled.  When the last such trigger goes, what was
 * switched on or off by triggers stays so.
 *
 * Synthetic events are events of system "synthetic": they pass through the same
 * steps in the hit that made them, at most TACHO_ENGINE_DEPTH deep; what would
 * go deeper is dropped and counted.  So do event probes (eprobe.h): one that is
 * wanted is on its base event as a trigger is, and is made behind E3.
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
	bool generated;		/* one of the two: the host has no records of it */
	bool enabled;		/* to be recorded; triggers change it, too */
	bool soft_disabled;	/* not enabled, but wanted: soft is not 0 */
	uint32_t soft;		/* triggers on it, or that target it */
	void *host_data;	/* the host's */
};

struct tacho_engine_host {
	void *arg;
	/*
	 * A synthetic event to record: it is enabled and passed its filter.  It is
	 * told before tacho_engine_hit() returns; in the kernel's trace it
	 * comes behind the event that caused it, at the same time.
	 */
	void (*emit)(void *arg, const struct tacho_engine_event *event,
		     const struct tacho_rec *rec);
	void (*tracing)(void *arg, bool on, const struct tacho_rec *cause);
	void (*snapshot)(void *arg, const struct tacho_rec *cause);
	/* Likewise, and behind its event. */
	void (*stacktrace)(void *arg, const struct tacho_engine_event *event,
			   const struct tacho_rec *cause);
	/* An event begins to matter (enabled, a trigger on it) or stops to. */
	void (*wanted)(void *arg, const struct tacho_engine_event *event,
		       bool wanted);
	/* Now, in ns, for the error log. */
	uint64_t (*now)(void *arg);
};

/* host and names are borrowed until free; members may be NULL.  NULL: no memory. */
struct tacho_engine *tacho_engine_new(const struct tacho_engine_host *host,
				      const struct tacho_names *names);
void tacho_engine_free(struct tacho_engine *engine);

/*
 * Tells the instance of an event type, which must outlive it.  Known already
 * (by system and name): that event.  NULL: no memory.
 */
struct tacho_engine_event *tacho_engine_add(struct tacho_engine *engine,
					    const struct tacho_type *type);

struct tacho_engine_event *tacho_engine_find(struct tacho_engine *engine,
					     const char *system,
					     const char *name);
/* Events in the order they were added; NULL behind the last. */
struct tacho_engine_event *tacho_engine_at(struct tacho_engine *engine,
					   uint32_t index);

/*
 * Commands, not to be given from a host's call.  All return 0, or a negative errno with
 * e (which may be NULL) filled in:
 *	-EINVAL	the text; e has the kernel's words and the column
 *	-EEXIST	a trigger that may be there once is there
 *	-ENOENT	nothing to remove, continue or clear.  (Of the removal of a trigger
 *		the kernel says nothing then; whoever shows a file may ignore it.)
 *	-EBUSY	in use: a synthetic event with triggers, a variable that others refer to
 *	-ENOMEM
 * Errors are kept in the error log under the kernel's names: "event filter parse
 * error", "hist:system:event", "synthetic_events".  Where the kernel has no words, the
 * log has ours: "trigger:system:event".  What cannot be removed is not logged.
 */

/*
 * Sets ("0": clears) the filter of one event.  As in the kernel a wrong one takes
 * the old one's place: nothing is filtered, and the file says what is wrong.
 */
int tacho_engine_filter(struct tacho_engine *engine,
			struct tacho_engine_event *event, const char *text,
			struct tacho_cmd_error *e);

/*
 * Sets the filter of every event of a system; events that lack a field keep
 * theirs.  -EINVAL when no event could take it.
 */
int tacho_engine_filter_system(struct tacho_engine *engine, const char *system,
			       const char *text, struct tacho_cmd_error *e);

/* Adds, changes (pause, cont, clear) or removes ("!...") a trigger. */
int tacho_engine_trigger(struct tacho_engine *engine,
			 struct tacho_engine_event *event, const char *text,
			 struct tacho_cmd_error *e);

/*
 * Defines a synthetic event, or removes it: "!name" or "!name type field; ..".  A
 * removed one's struct tacho_engine_event and type are gone.
 */
int tacho_engine_synth(struct tacho_engine *engine, const char *text,
		       struct tacho_cmd_error *e);

/*
 * Defines an event probe, text as in eprobe.h.  -EEXIST: there is an event of that name.
 * base was added before, and is no event probe.
 */
int tacho_engine_eprobe(struct tacho_engine *engine, const char *group,
			const char *name, const char *text,
			struct tacho_engine_event *base, struct tacho_cmd_error *e);

/* 0, -ENOENT, or -EBUSY: it is enabled, or has triggers. */
int tacho_engine_eprobe_remove(struct tacho_engine *engine, const char *group,
			       const char *name);

/* Switches recording of an event on or off. */
void tacho_engine_enable(struct tacho_engine *engine,
			 struct tacho_engine_event *event, bool on);

/* traceon and traceoff from outside; true at first. */
void tacho_engine_run(struct tacho_engine *engine, bool on);
bool tacho_engine_running(const struct tacho_engine *engine);

/*
 * One event.  Whether it is to be recorded: it is enabled, tracing is on, its
 * filter passes.
 */
bool tacho_engine_hit(struct tacho_engine *engine,
		      struct tacho_engine_event *event,
		      const struct tacho_rec *rec);

/*
 * Makes a synthetic event from outside, as a histogram's trace() does: value has one entry
 * a field, cause is the record that it happened with.  Nothing when nobody wants it, or
 * there is none of that name.
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

/* Histograms of an event in the order they were set; NULL behind the last. */
struct tacho_hist *tacho_engine_hist(const struct tacho_engine *engine,
				     const struct tacho_engine_event *event,
				     uint32_t index);

/*
 * Whether a hit of the event needs rec->stack: a histogram of it looks at that, or one of
 * a synthetic event that it makes does.
 */
bool tacho_engine_needs_stack(const struct tacho_engine *engine,
			      const struct tacho_engine_event *event);

/*
 * Appends a filter that a kernel may put before an event's records on their way here:
 * the event's own filter, or, if it has triggers and no filter, the filters of all of
 * them.  TACHO_FILTER_LOCAL: there is none, and the contents of out are undefined.
 */
enum tacho_filter_offload tacho_engine_offload(const struct tacho_engine *engine,
					       const struct tacho_engine_event *event,
					       struct tacho_buf *out);

/* Whether the event has a filter. */
bool tacho_engine_has_filter(const struct tacho_engine_event *event);

/*
 * Whether one of its triggers looks at the record or waits for it: then the record is made
 * before E1, and a snapshot that a trigger takes has it.
 */
bool tacho_engine_needs_record(const struct tacho_engine_event *event);

/* Synthetic events that were dropped: too deep. */
uint64_t tacho_engine_too_deep(const struct tacho_engine *engine);

#endif
