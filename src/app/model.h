/* SPDX-License-Identifier: MIT */
/*
 * model.h - a trace through the model (model/model.h): its items as text or JSON, or a summary.
 *
 *	model_rules_new(), app_model_rules_*()		what the user says
 *	app_model_items() or app_model_summary()	over a stream whose records were not read
 *
 * Both read the stream to its end; a live session up to what is there now.
 */
#ifndef TACHO_APP_MODEL_H
#define TACHO_APP_MODEL_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/observer.h"
#include "model/model.h"

struct index;

/*
 * Of which time.  A model that ends before the trace does ends what is open then, as at the end of
 * a trace.  With an index (app/index.h) it begins shortly before `from`, else at the beginning.
 */
struct app_model_range {
	uint64_t from, to;	/* ns since 1970, both included; 0 and UINT64_MAX: all */
	struct index *index;	/* borrowed; NULL: none */
	struct model_stats before;	/* result: of what is before the range */
};

/*
 * app_model_run - a stream through a model.
 *
 * ops get what comes out.  The observer (may be NULL) is told the progress in records (total 0
 * if that is not known), and asked every thousand records whether to end.  stats may be NULL.
 * Notes the user's rules that fit no event.
 * Returns 0, -ECANCELED, what an op returned, or the stream's error with d filled in.
 */
int app_model_run(struct tacho_stream *stream, const struct model_rules *rules,
		  const struct model_ops *ops, void *arg, const struct tacho_observer *observer,
		  struct model_stats *stats, struct tacho_diag *d);

/*
 * The same in two steps.  _begin makes the model, and places the stream for the range (NULL: all;
 * else the stream can seek).  _read reads to the end of the range, and finishes the model, which
 * is the caller's.
 */
int app_model_begin(struct model **m, const struct model_config *config,
		    struct app_model_range *range, struct tacho_diag *d);
int app_model_read(struct tacho_stream *stream, struct model *m,
		   struct app_model_range *range, const struct tacho_observer *observer,
		   struct tacho_diag *d);

/* Notes the user's rules that fit no event of a stream, after its last record. */
void app_model_note_unused(const struct model_rules *rules, struct tacho_stream *stream,
			   const struct tacho_observer *observer);

/*
 * Adds what the user says to the rules: a span "NAME: EVENT -> EVENT by FIELDS", a counter
 * "NAME: EVENT.FIELD", a rule, a file of rules.  Returns 0, or a negative errno with d; the offset
 * is that in the text.
 */
int app_model_add_span(struct model_rules *rules, const char *text, struct tacho_diag *d);
int app_model_add_counter(struct model_rules *rules, const char *text, struct tacho_diag *d);
int app_model_add_file(struct model_rules *rules, const char *path, struct tacho_diag *d);

/* Which items: bits. */
enum app_model_item {
	APP_MODEL_TRACKS = 1, APP_MODEL_SLICES = 2, APP_MODEL_STATES = 4,
	APP_MODEL_COUNTERS = 8, APP_MODEL_FLOWS = 16, APP_MODEL_LOSSES = 32,
	APP_MODEL_INSTANTS = 64, APP_MODEL_ALL = 127,
};

struct app_model_form {
	unsigned int items;	/* enum app_model_item */
	bool json;
	/* Called with each piece of text; the buffer is to be emptied.  0 or a negative errno. */
	int (*write)(void *arg, struct tacho_buf *text);
	void *arg;
};

/*
 * Writes items, one per line, as docs/model.md says.  As app_model_run().  Of a range (NULL: all):
 * the items that touch it.
 */
int app_model_items(struct tacho_stream *stream, const struct model_rules *rules,
		    struct app_model_range *range, const struct app_model_form *form,
		    const struct tacho_observer *observer, struct tacho_diag *d);

/*
 * Appends a summary: CPUs, threads with their times by state, the slices that took longest.
 * top: how many threads and names of slices.  As app_model_run().  Of a range (NULL: all): times
 * are what lies in it.
 */
int app_model_summary(struct tacho_stream *stream, const struct model_rules *rules,
		      struct app_model_range *range, uint32_t top, bool json, struct tacho_buf *out,
		      const struct tacho_observer *observer, struct tacho_diag *d);

#endif
