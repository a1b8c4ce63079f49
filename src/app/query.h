/* SPDX-License-Identifier: MIT */
/*
 * query.h - a question in the control language, put to a trace, a session or the running
 * kernel, and the histograms that answer it.
 *
 * A question (struct app_question) is text: definitions of synthetic events, and commands, each a
 * trigger on events, as they would be written to the kernel's trigger files.  What is asked
 * is a stream of records (stream/stream.h), which the caller opens and closes:
 *
 *	a trace			tacho_stream_open(DIRECTORY OR FILE)
 *	a session		tacho_stream_open("session:NAME"): goes on, "live"
 *	the running kernel	tacho_stream_open() of what app_question_kernel_path() says: it
 *				depends on the events of the commands; live
 *
 * A command may also name the events "model:state", "model:slice", ...: what the model makes of
 * a trace (model_events.h).  A live source has none.
 *
 * (What the programs of a session and its kernel instance count themselves, without any
 * record, is not asked for here but in query_session.h.)
 *
 *	Q1  app_query_open()	compiles the question for the types that the stream has, and
 *				gives a live kernel the filters that it can evaluate itself.
 *				A trace must have the events; a live source may get them later.
 *	Q2  app_query_run()	reads the stream: a trace to its end, a live source until the
 *				time is up or the observer cancels.  Records are hits of the
 *				engine (query/query.h).  app_watch.refresh is called every so
 *				often on the way, and may look at everything of Q3.
 *	Q3  app_query_each()	hands out the histograms (engine/hist.h) with the names that
 *				their numbers have in this recording; app_hist_put()
 *				(hist_form.h) makes text of one, app_query_put() of all.
 *	    app_query_snapshot()	the newest snapshot that a command took, as a stream.
 *	Q4  app_query_close()	before the stream is closed.
 *
 * Which histograms count as the answer: those of the last command, as the ones before it often
 * only feed it with variables and synthetic events; or all.
 *
 * Cancelled in the middle, a query has counted the records before that, each completely: what
 * Q3 hands out is the answer for this part of the trace.  Where several threads read it
 * (tacho_stream_set_threads()) and no variable or action needs their order, the part is whole
 * packets, not all that came before a time.
 *
 * Errors.  Calls return 0 or a negative errno with a struct tacho_diag.  When a command is wrong,
 * app_query_wrong() is its text as it was compiled ("keys=pid" having become "hist:keys=pid"),
 * and the diag's offset is the column in it (APP_NO_PLACE: none).  Nothing is printed here.
 * Remarks go to the observer.
 *
 * Threads.  One query is used by one thread at a time.  Any number of queries may run in a
 * process at once, each over a stream of its own.
 */
#ifndef TACHO_APP_QUERY_H
#define TACHO_APP_QUERY_H

#include "app/command.h"
#include "app/hist_form.h"
#include "app/watch.h"
#include "engine/hist.h"
#include "query/query.h"
#include "stream/stream.h"

#define APP_QUESTION_MAX	1024	/* commands */
#define APP_QUESTION_SYNTHS	32	/* synthetic events */
#define APP_SNAPSHOT_MIN	((size_t)128 << 10)	/* bytes: room for any record */

struct model;
struct model_rules;

struct app_question_command {
	const char *event;	/* "system:event" or a glob */
	const char *text;	/* "hist:keys=..."; "keys=..." means the same */
};

/* Texts are borrowed, until the query is closed. */
struct app_question {
	const char *synth[APP_QUESTION_SYNTHS];
	struct app_question_command command[APP_QUESTION_MAX];
	uint32_t nr_synths, nr_commands;
	bool is_sql;		/* errors say what SQL has, not options of the tool */
	/* of the events "model:...": outlive the query; NULL: the built-in ones */
	const struct model_rules *rules;
	bool all;		/* hand out every histogram, not only the last command's */
	/* bytes of records to keep for snapshots, APP_SNAPSHOT_MIN or more; 0: the default */
	uint64_t snapshot_size;
};

/*
 * Appends the path by which a stream of the running kernel is opened for a question:
 * "kernel:a:b,c:d".  Returns 0 or the buffer's error.
 */
int app_question_kernel_path(const struct app_question *question, struct tacho_buf *out);

/*
 * Whether a question can be put to a live source: 0, or -EOPNOTSUPP with the reason.  stream: which
 * may have events of such names itself; NULL: the running kernel, which has none.
 */
int app_question_live(const struct app_question *question, struct tacho_stream *stream,
		      struct tacho_diag *d);

struct app_query;

/*
 * app_query_open - compile a question for a stream.
 *
 * stream, question and observer (which may be NULL) outlive the query.  No record of the
 * stream has been read; its resolver (resolve/resolve.h) is set if names of programs'
 * functions are wanted.
 *
 * *query is set even on failure, unless it is NULL for want of memory, and is closed by
 * the caller either way: app_query_wrong() tells which command failed.
 *	-ENOENT		no event of the stream matches; d suggests others
 *	-EOPNOTSUPP	events of the model, of a live source
 *	-EINVAL, ...	what the control language says of a text
 *	-ENOMEM
 */
int app_query_open(struct app_query **query, struct tacho_stream *stream,
		   const struct app_question *question, const struct tacho_observer *observer,
		   struct tacho_diag *d);

/* Closes it.  The stream stays open.  NULL is fine. */
void app_query_close(struct app_query *query);

/* The text that the last error is about, or NULL.  Borrowed until the query is closed. */
const char *app_query_wrong(const struct app_query *query);

/* Whether the stream goes on: app_query_run() ends when told, not at an end of it. */
bool app_query_is_live(const struct app_query *query);

/*
 * app_query_run - read the stream, once.
 *
 * watch: how long, and what to call on the way, of a live source; NULL: until cancelled.
 * Of a trace it is ignored.  The observer is asked every thousand records, or every 20 ms,
 * whether to end, and told the progress in records (of a trace; total 0 if that does not know it).
 *
 * Returns 0 when the trace, or the time, is over; -ECANCELED; what watch->refresh returned;
 * or the error of the stream, or of a command whose event came late.
 */
int app_query_run(struct app_query *query, const struct app_watch *watch,
		  struct tacho_diag *d);

/*
 * After app_query_run() of a live source: whether it had every event of the question by now.
 * Returns 0 (always for a trace, where app_query_open() has looked), or -ENOENT with a
 * suggestion in d.
 */
int app_query_check_events(const struct app_query *query, struct tacho_diag *d);

/*
 * Whether a histogram of the answer was hit, and the model that made its events: NULL without
 * commands on "model:...".
 */
bool app_query_was_hit(const struct app_query *query);
struct model *app_query_model(const struct app_query *query);

/* Tells the observer what a person should know of the answer: events without call stacks. */
void app_query_remarks(const struct app_query *query);

/*
 * Calls fn for each histogram of the answer, in the order of the events, until it
 * returns not 0; returns that.  hist and names are valid until the query runs on or is
 * closed.
 */
int app_query_each(const struct app_query *query,
		   int (*fn)(const struct tacho_hist *hist, const struct tacho_names *names,
			     void *arg),
		   void *arg);

/*
 * Whether the form's quantiles fit any histogram of the answer, or it has none yet.
 * Returns 0 or -EINVAL with the reason.
 */
int app_query_check_form(const struct app_query *query, const struct app_hist_form *form,
			 struct tacho_diag *d);

/*
 * Appends all histograms of the answer.  Returns 0, -EINVAL as app_query_check_form(),
 * or -ENOMEM.
 */
int app_query_put(const struct app_query *query, const struct app_hist_form *form,
		  struct tacho_buf *out, struct tacho_diag *d);

/* Whether a command takes snapshots, and how many were taken. */
bool app_query_takes_snapshots(const struct app_query *query);
uint64_t app_query_snapshots(const struct app_query *query);

/*
 * Opens the newest snapshot, which the caller closes before the query.  Returns 0, -ENOENT
 * when none was taken, or -ENOMEM.
 */
int app_query_snapshot(struct app_query *query, struct tacho_stream **stream,
		       struct tacho_diag *d);

#endif
