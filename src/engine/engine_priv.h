/* SPDX-License-Identifier: MIT */
/*
 * engine_priv.h - what an instance is made of, for src/engine/engine*.c only.
 *
 *	engine.c	events, filters, triggers, synthetic events: commands
 *	engine_eprobe.c	event probes
 *	engine_hit.c	one hit
 *	engine_hist.c	triggers that are histograms, and the host of hist.h
 *	engine_merge.c	several instances as one
 *	engine_print.c	the files
 *	engine_offload.c	what the kernel can filter
 *
 * Memory: an instance, its events and their table are in its arena.  Each object that can be
 * removed is in an arena of its own: a trigger, the map of a histogram (which named histograms
 * share), a filter, a synthetic event, an event probe.
 */
#ifndef TACHO_ENGINE_ENGINE_PRIV_H
#define TACHO_ENGINE_ENGINE_PRIV_H

#include "base/arena.h"
#include "engine/engine.h"
#include "engine/eprobe.h"
#include "engine/synth.h"

#define ENGINE_MAX	((size_t)1 << 32)	/* bytes of one arena */

struct engine_trigger;

/* The table of one histogram, or of all of one name. */
struct engine_map {
	struct tacho_arena arena;	/* contains this struct */
	uint32_t users;
	uint32_t paused;		/* users that are paused */
	void *mem;			/* 64-aligned */
	size_t size;
};

struct engine_trigger {
	struct tacho_arena arena;	/* contains this struct */
	struct engine_trigger *next;	/* of the event's */
	struct engine_event *event;
	struct tacho_trigger_spec spec;
	struct tacho_filter *filter;	/* or NULL */
	uint64_t left;			/* of a counted one */
	struct engine_event *target;	/* enable_ and disable_ */
	struct tacho_hist *hist;
	struct engine_map *map;
	bool paused;	/* per trigger, also if triggers share a map */
	bool implied;	/* for fields of another histogram's action; removed with its last user */
};

struct engine_event {
	struct tacho_engine_event pub;	/* first: hosts see this */
	struct engine_trigger *triggers;	/* in the order of the `trigger` file */
	bool needs_record;	/* a trigger uses the record or runs after it */
	struct tacho_arena filter_arena;
	struct tacho_filter *filter;
	const char *filter_text;	/* as set, or the error; NULL: none */
	struct tacho_arena arena;	/* of a generated event; contains this struct */
	struct engine_event *next_synth;
	/* of an event probe */
	struct engine_event *base, *next_eprobe;
	struct tacho_filter *eprobe_filter;	/* of base's records; or NULL */
	/* on this event, in the order in which they came into use */
	struct engine_event *eprobes;
};

struct tacho_engine {
	struct tacho_arena arena;	/* contains this struct */
	struct tacho_engine_host host;
	const struct tacho_names *names;
	struct tacho_hist_host hist_host;
	struct engine_event **event;
	uint32_t nr_events, room;
	struct engine_event *synths;	/* in the order in which they were defined */
	bool running;
	uint32_t depth;			/* nesting of synthetic events */
	uint64_t too_deep;
	struct tacho_errlog log;
	_Alignas(8) unsigned char raw[TACHO_ENGINE_DEPTH]
				     [TACHO_ALIGN_UP(TACHO_SYNTH_RAW_MAX, 8)];
};

/* The private struct of a public one. */
static inline struct engine_event *engine_event_of(struct tacho_engine_event *e)
{
	return (struct engine_event *)e;
}

static inline const struct engine_event *
engine_event_ro(const struct tacho_engine_event *e)
{
	return (const struct engine_event *)e;
}

/* ---- engine.c ---- */

struct engine_event *engine_find(const struct tacho_engine *engine,
				 const char *system, const char *name);

/* Puts a finished trigger on its event, first or last. */
void engine_trigger_attach(struct tacho_engine *engine,
			   struct engine_trigger *t, bool last);

/* Takes a trigger off its event and frees it. */
void engine_trigger_detach(struct tacho_engine *engine,
			   struct engine_trigger *t);

/* Frees one that is on no event. */
void engine_trigger_free(struct engine_trigger *t);

/* Creates a trigger that is on no event; NULL: no memory. */
struct engine_trigger *engine_trigger_new(struct engine_event *event);

/* Compiles its filter; errors are logged. */
int engine_trigger_filter(struct tacho_engine *engine, struct engine_trigger *t,
			  struct tacho_cmd_error *e);

/* Keeps an error under "<kind>:system:event"; returns e->err. */
int engine_log_event(struct tacho_engine *engine, const char *kind,
		     const struct engine_event *event, const char *command,
		     const struct tacho_cmd_error *e);

/* Adds or removes one soft user of the event, independent of whether it is enabled. */
void engine_soft_get(struct tacho_engine *engine, struct engine_event *event);
void engine_soft_put(struct tacho_engine *engine, struct engine_event *event);

/* Updates needs_record after a change of an event's triggers. */
void engine_update_needs(struct engine_event *event);

/* Makes room for one more event in the table. */
bool engine_reserve_event(struct tacho_engine *engine);

/* Removes a generated event from the table and frees it. */
void engine_generated_remove(struct tacho_engine *engine, struct engine_event *event);

bool engine_is_wanted(const struct engine_event *event);

/* ---- engine_eprobe.c ---- */

/* Attaches an event probe to its base event when it comes into use, or detaches it. */
void engine_eprobe_switch(struct tacho_engine *engine, struct engine_event *event, bool on);

/* Whether an event has an event probe. */
bool engine_eprobe_uses(const struct tacho_engine *engine, const struct engine_event *base);

/* ---- engine_hit.c ---- */

/* hist_host.synth: a histogram made a synthetic event. */
void engine_synth_hit(void *arg, const struct tacho_synth *synth,
		      const struct tacho_synth_value *value,
		      const struct tacho_rec *cause);

/* hist_host.snapshot */
void engine_snapshot(void *arg, const struct tacho_rec *cause);

/* ---- engine_hist.c ---- */

void engine_hist_init(struct tacho_engine *engine);

/* Executes a parsed hist command.  Takes ownership of t.  Returns 0, or e->err. */
int engine_hist_command_take(struct tacho_engine *engine,
			     struct engine_trigger *t, struct tacho_cmd_error *e);

/* Whether an action of a histogram generates this synthetic event. */
bool engine_hist_makes(const struct tacho_engine *engine,
		       const struct tacho_synth *synth);

void engine_hist_pause(struct engine_trigger *t, bool paused);

/* Releases the map that a trigger uses. */
void engine_map_put(struct engine_trigger *t);

#endif
