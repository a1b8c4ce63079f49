// SPDX-License-Identifier: MIT
/* One hit: steps E1 to E4 of engine.h. */
#include "engine/engine_priv.h"

#include <string.h>

/* Post triggers to run, by command; an event has each at most once. */
#define DUE(cmd) (1u << (cmd))

static bool is_post(enum tacho_trigger_cmd cmd)
{
	return cmd == TACHO_TRIGGER_STACKTRACE || cmd == TACHO_TRIGGER_TRACEOFF;
}

/* Decrements a trigger's count; false: it is 0. */
static bool take(struct engine_trigger *t)
{
	if (!t->spec.counted)
		return true;
	if (!t->left)
		return false;
	t->left--;
	return true;
}

/* As in the kernel a count goes down only when something changes. */
static void switch_tracing(struct tacho_engine *engine, struct engine_trigger *t,
			   bool on, const struct tacho_rec *rec)
{
	if (engine->running == on || !take(t))
		return;
	engine->running = on;
	if (engine->host.tracing)
		engine->host.tracing(engine->host.arg, on, rec);
}

static void switch_event(struct engine_trigger *t, bool on)
{
	struct tacho_engine_event *target = &t->target->pub;

	if (target->enabled == on || !take(t))
		return;
	/* it has this trigger, so it stays soft-enabled in both cases */
	target->enabled = on;
	target->soft_disabled = !on;
}

static void switch_hists(struct engine_trigger *t, bool on)
{
	if (!take(t))
		return;
	for (struct engine_trigger *h = t->target->triggers; h; h = h->next)
		if (h->hist)
			engine_hist_pause(h, !on);
}

void engine_snapshot(void *arg, const struct tacho_rec *cause)
{
	struct tacho_engine *engine = arg;

	if (engine->host.snapshot)
		engine->host.snapshot(engine->host.arg, cause);
}

static void fire(struct tacho_engine *engine, struct engine_trigger *t,
		 const struct tacho_rec *rec)
{
	switch (t->spec.cmd) {
	case TACHO_TRIGGER_TRACEON:
	case TACHO_TRIGGER_TRACEOFF:
		switch_tracing(engine, t, t->spec.cmd == TACHO_TRIGGER_TRACEON,
			       rec);
		break;
	case TACHO_TRIGGER_SNAPSHOT:
		if (take(t))
			engine_snapshot(engine, rec);
		break;
	case TACHO_TRIGGER_STACKTRACE:
		if (take(t) && engine->running && engine->host.stacktrace)
			engine->host.stacktrace(engine->host.arg, &t->event->pub,
						rec);
		break;
	case TACHO_TRIGGER_ENABLE_EVENT:
	case TACHO_TRIGGER_DISABLE_EVENT:
		switch_event(t, t->spec.cmd == TACHO_TRIGGER_ENABLE_EVENT);
		break;
	case TACHO_TRIGGER_ENABLE_HIST:
	case TACHO_TRIGGER_DISABLE_HIST:
		switch_hists(t, t->spec.cmd == TACHO_TRIGGER_ENABLE_HIST);
		break;
	case TACHO_TRIGGER_HIST:	/* finish() */
	default:
		break;
	}
}

/*
 * E1 for an event with a trigger that uses the record: runs the triggers that come before the
 * histograms.  Returns the post triggers to run.
 */
static uint32_t run_filtered(struct tacho_engine *engine,
			     struct engine_event *event,
			     const struct tacho_rec *rec)
{
	struct engine_trigger *t;
	uint32_t due = 0;

	for (t = event->triggers; t && !t->hist; t = t->next) {
		if (t->filter && !tacho_filter_run(t->filter, rec))
			continue;
		if (is_post(t->spec.cmd))
			due |= DUE(t->spec.cmd);
		else
			fire(engine, t, rec);
	}
	return due;
}

/* E1 and E2: whether the event is recorded. */
static bool decide(struct tacho_engine *engine, struct engine_event *event,
		   const struct tacho_rec *rec, uint32_t *due)
{
	bool enabled = event->pub.enabled, running = engine->running;

	*due = 0;
	if (event->needs_record) {
		/* the record is made before, so tracing must have been on */
		*due = run_filtered(engine, event, rec);
		enabled = event->pub.enabled;
	} else if (event->triggers) {
		/* what a trigger enables applies from the next hit, what it disables applies now */
		for (struct engine_trigger *t = event->triggers; t; t = t->next)
			fire(engine, t, rec);
		enabled = enabled && event->pub.enabled;
		running = engine->running;
	}
	return enabled && running &&
	       (!event->filter || tacho_filter_run(event->filter, rec));
}

static void eprobe_hit(struct tacho_engine *engine, struct engine_event *event,
		       const struct tacho_rec *rec);

/* E3 and E4 */
static void finish(struct tacho_engine *engine, struct engine_event *event,
		   const struct tacho_rec *rec, uint32_t due)
{
	struct engine_trigger *t;

	for (t = event->triggers; t; t = t->next)
		if (t->hist && !t->paused &&
		    (!t->filter || tacho_filter_run(t->filter, rec)))
			tacho_hist_hit(t->hist, rec);
	for (struct engine_event *e = event->eprobes; e; e = e->next_eprobe)
		if (!e->eprobe_filter || tacho_filter_run(e->eprobe_filter, rec))
			eprobe_hit(engine, e, rec);
	for (t = event->triggers; t && due; t = t->next)
		if (due & DUE(t->spec.cmd))
			fire(engine, t, rec);
}

static bool may_pass(const struct tacho_filter *filter, const struct tacho_rec *rec)
{
	return !filter || (rec && tacho_filter_run(filter, rec));
}

bool tacho_engine_may_act(const struct tacho_engine_event *event, const struct tacho_rec *rec)
{
	const struct engine_event *ev = engine_event_ro(event);

	for (const struct engine_trigger *t = ev->triggers; t; t = t->next)
		if (may_pass(t->filter, rec))
			return true;
	for (const struct engine_event *e = ev->eprobes; e; e = e->next_eprobe)
		if (may_pass(e->eprobe_filter, rec))
			return true;
	return false;
}

bool tacho_engine_hit(struct tacho_engine *engine,
		      struct tacho_engine_event *event,
		      const struct tacho_rec *rec)
{
	struct engine_event *ev = engine_event_of(event);
	uint32_t due;
	bool record = decide(engine, ev, rec, &due);

	if (ev->needs_record)
		finish(engine, ev, rec, due);
	return record;
}

/* A hit of a generated event: len bytes in engine->raw, the rest of the record from its cause. */
static void generated_hit(struct tacho_engine *engine, struct engine_event *event,
			  uint32_t len, const struct tacho_rec *cause)
{
	struct tacho_rec rec = *cause;
	uint32_t due;

	rec.raw = engine->raw[engine->depth];
	rec.len = len;
	engine->depth++;
	if (decide(engine, event, &rec, &due) && engine->host.emit)
		engine->host.emit(engine->host.arg, &event->pub, &rec);
	finish(engine, event, &rec, due);
	engine->depth--;
}

static bool is_too_deep(struct tacho_engine *engine)
{
	engine->too_deep += engine->depth == TACHO_ENGINE_DEPTH;
	return engine->depth == TACHO_ENGINE_DEPTH;
}

static void eprobe_hit(struct tacho_engine *engine, struct engine_event *event,
		       const struct tacho_rec *rec)
{
	if (!is_too_deep(engine))
		generated_hit(engine, event,
			      tacho_eprobe_raw(event->pub.eprobe, rec, engine->raw[engine->depth],
					       TACHO_EPROBE_RAW_MAX), rec);
}

void engine_synth_hit(void *arg, const struct tacho_synth *synth,
		      const struct tacho_synth_value *value,
		      const struct tacho_rec *cause)
{
	struct tacho_engine *engine = arg;

	struct engine_event *event = engine->synths;

	while (event && event->pub.synth != synth)
		event = event->next_synth;
	if (!event || (!event->pub.enabled && !event->pub.soft))
		return;
	if (!is_too_deep(engine))
		generated_hit(engine, event,
			      tacho_synth_raw(synth, cause->pid, value, engine->raw[engine->depth],
					      sizeof(engine->raw[0])), cause);
}

void tacho_engine_make(struct tacho_engine *engine, const char *name,
		       const struct tacho_synth_value *value,
		       const struct tacho_rec *cause)
{
	for (const struct engine_event *e = engine->synths; e; e = e->next_synth)
		if (!strcmp(e->pub.synth->name, name))
			engine_synth_hit(engine, e->pub.synth, value, cause);
}
