/* SPDX-License-Identifier: MIT */
/*
 * select.h - which records of a trace are wanted.
 *
 *	app_select_init();
 *	app_select_events(), app_select_cpus(), ...	as the user says it, in any order
 *	app_select_open()	with the stream, before its first record
 *	app_select_look()	for each record
 *	app_select_release()
 *
 * Each of the functions that take what the user says reads one value of one option; its
 * sentences do not name the option, because that is the front end's word.
 *
 * One selection is for one stream, and is used by one thread at a time.
 */
#ifndef TACHO_APP_SELECT_H
#define TACHO_APP_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "stream/stream.h"

struct app_glob {
	char *text;		/* without '!' */
	bool negate;
};

struct app_globs {
	struct app_glob *list;
	size_t nr;
};

struct app_range {
	uint64_t from, to;	/* both included */
};

struct app_ranges {
	struct app_range *list;
	size_t nr;
};

struct app_moment {
	char kind;		/* 0: open, '+' since the first, '@', '=' */
	uint64_t ns;
};

/* Whether a number is in a list; whether globs want a text: the last one that matches decides. */
bool app_ranges_have(const struct app_ranges *l, uint64_t v);
bool app_globs_want(const struct app_globs *g, const char *text);

#define APP_SELECT_EXPRS	16
#define APP_SELECT_KNOWN	1024u

/* What was found out about a type or a thread. */
struct app_select_known {
	const void *key;
	bool pass;
};

struct tacho_query;

struct app_select {
	struct app_globs events, comms;
	struct app_ranges cpus, pids;
	int source;		/* enum tacho_stream_id, -1: both */
	char *exprs[APP_SELECT_EXPRS];	/* filters */
	uint32_t nr_exprs;
	struct app_moment begin, end;
	uint64_t max;		/* 0: no limit; the caller counts */
	bool growing;		/* the caller waits for more: events may yet appear */

	/* since app_select_open() */
	struct tacho_stream *stream;
	uint64_t first;		/* the first record's time; 0: not known */
	uint64_t from, to;	/* ns since 1970, both included */
	bool placed;		/* from and to are known */
	bool any;		/* nothing but max and time is set */
	struct app_select_known *types;	/* APP_SELECT_KNOWN of each, direct-mapped */
	struct app_select_known *tasks;
	struct tacho_query *query;	/* runs the filters; NULL: there are none */

	const char *bad_expr;		/* the filter that app_select_open() failed because of */
};

/* A selection of all records.  No failure. */
void app_select_init(struct app_select *s);

/* Frees what it has, but not the stream. */
void app_select_release(struct app_select *s);

/*
 * What the user says.  Each adds to what was said before, but for _source, _time and _max, which
 * replace it.  0; -EINVAL or -ENOMEM with d filled in.  arg is copied.
 *
 *	_events		globs "SYSTEM:EVENT" or one word for either, with commas; "!GLOB" excludes
 *	_comms		the same of thread names
 *	_pids, _cpus	numbers and ranges: "12,34-36"
 *	_source		"program" or "kernel"
 *	_time		"A,B": from A until B; each is seconds since the first record ("1.5"),
 *			"@SECONDS" since 1970, "=SECONDS" of the recording's clock, or empty
 *	_filter		an expression of the control language, "EVENT/EXPR" of these events
 *			only; at most APP_SELECT_EXPRS
 *	_max		a number of records from 1 up
 */
int app_select_events(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_comms(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_pids(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_cpus(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_source(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_time(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_filter(struct app_select *s, const char *arg, struct tacho_diag *d);
int app_select_max(struct app_select *s, const char *arg, struct tacho_diag *d);

/* Whether no record is excluded: not by number, nor by time. */
bool app_select_is_all(const struct app_select *s);

/*
 * Prepares for a stream, none of whose records was read, and goes to the first
 * record in time.  Once.  0, or a negative errno with d filled in:
 *	-ENOENT		a glob that matches no event; d suggests some
 *	-EINVAL, ...	a filter: bad_expr is the one, d's offset the place in it (app/command.h)
 *	-ENOMEM, or the stream's error
 */
int app_select_open(struct app_select *s, struct tacho_stream *stream, struct tacho_diag *d);

/*
 * app_select_view - the same selection for another reader of the same trace.
 *
 * of was opened on a stream of which `view` is a view (stream/parallel.h), and outlives *s, which
 * is used by one thread and ended by app_select_view_release().  0 or a negative errno; then
 * there is nothing to release.
 */
int app_select_view(struct app_select *s, const struct app_select *of,
		    struct tacho_stream *view);
void app_select_view_release(struct app_select *s);

enum app_verdict {
	APP_DROP,	/* none of its business */
	APP_HIDE,	/* another event of a CPU and time that are wanted: its losses count */
	APP_PASS,
	APP_STOP,	/* too late, and so is everything after it */
};

/* Whether records of a type may pass: what app_select_events() said, alone. */
bool app_select_has_type(const struct app_select *s, const struct tacho_type *type);

/* What becomes of r, the record that the stream's next() gave last. */
enum app_verdict app_select_look(struct app_select *s, const struct tacho_record *r);

#endif
