/* SPDX-License-Identifier: MIT */
/*
 * model_events.h - what the model makes of a trace, as events of the control language.
 *
 * The model (model/model.h) turns records into intervals.  A query (query/query.h) counts events.
 * Here each item of the model is an event of the system "model", so that the language which
 * asks for events asks for intervals, too, of a trace of any system:
 *
 *	hist -e model:state 'keys=comm:vals=dur:sort=dur.descending if state == "runnable"'
 *
 *	model:state	a thread was in a state
 *	model:slice	a call, an interrupt, a span, a request, a thread on a CPU
 *	model:flow	who woke whom, who sent to whom
 *	model:instant	a point
 *
 * docs/model.md has their fields.  An item occurs when it is complete: common_timestamp is its end,
 * common_pid its thread, cpu where that ran (of other states: where it ended).
 *
 *	A1  app_model_events_new()	the types; the query can have commands for them
 *	A2  app_model_events_begin()	after the commands: items without commands are not made
 *	A3  app_model_events_record()	each record, after tacho_query_hit()
 *	A4  app_model_events_finish()	after the last one: what is open ends
 *
 * A trace's own events of system "model" come first: an item of such a name is not made.
 *
 * The query outlives it; it is freed before the query.  One thread.
 */
#ifndef TACHO_APP_MODEL_EVENTS_H
#define TACHO_APP_MODEL_EVENTS_H

#include "base/diag.h"
#include "model/model.h"
#include "query/query.h"

struct app_model_events;

/* Whether a command's event means one of these: "model:slice", "model:*"; not "*:*". */
bool app_model_events_match(const char *event);

/* Whether it is of their system: also "model:nope". */
bool app_model_events_system(const char *event);

/*
 * Adds the types to a query.  rules: outlive it; NULL: the built-in ones.  Returns 0 or -ENOMEM;
 * *events is set even then, if there was memory for it.
 */
int app_model_events_new(struct app_model_events **events, struct tacho_query *query,
			 struct tacho_stream *stream, const struct model_rules *rules,
			 struct tacho_diag *d);
void app_model_events_free(struct app_model_events *events);

/* Returns 0, or a negative errno with d filled in: the stream's, a call stack that is wanted. */
int app_model_events_begin(struct app_model_events *events, struct tacho_diag *d);

/* Each returns 0 or -ENOMEM with d filled in. */
int app_model_events_record(struct app_model_events *events, const struct tacho_record *r,
			    struct tacho_diag *d);
int app_model_events_finish(struct app_model_events *events, struct tacho_diag *d);

/* The model, to ask what it can make of the trace (model_offers()). */
struct model *app_model_events_model(const struct app_model_events *events);

#endif
