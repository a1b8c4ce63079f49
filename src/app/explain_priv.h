/* SPDX-License-Identifier: MIT */
/* explain_priv.h - what explain.c collects and explain_path.c reads. */
#ifndef TACHO_APP_EXPLAIN_PRIV_H
#define TACHO_APP_EXPLAIN_PRIV_H

#include "app/explain.h"
#include "app/find.h"
#include "base/arena.h"

struct explain_track {
	uint32_t parent;
	enum model_track_kind kind;
	int64_t number;
	const char *name;
	uint32_t states, calls;		/* of a thread: its tracks; of a CPU: states is `running` */
};

/* An interval or point of a track, as far as the path needs it. */
struct explain_item {
	uint32_t track, depth;
	uint64_t begin, end;
	const char *name, *category;	/* slices, instants */
	uint32_t flags;
	uint32_t other;			/* track: a state's waker, a running slice's thread */
	uint32_t cpu;
	uint8_t state;
};

/* Items, sorted by track and begin when complete. */
struct explain_list {
	struct explain_item *item;
	size_t nr, room;
};

struct explain_subject {
	uint64_t begin, end;
	const char *name, *category;
	uint32_t flags;
	int64_t number;			/* of the thread whose path it is; 0: not known */
	uint32_t thread;		/* its track in the second pass; 0: not known */
	bool slow;
};

struct explain_window {
	uint64_t begin, end;
};

struct explain {
	struct app_explain result;	/* first: the caller has its address */
	struct tacho_arena arena;
	struct app_trace trace;
	struct model *model;		/* of the second pass: owns names */
	struct index *index;		/* may be NULL; owns names */
	const struct app_explain_query *query;
	struct explain_track *track;
	uint32_t nr_tracks, room_tracks;
	struct explain_subject *subject;
	size_t nr_subjects, room_subjects;
	struct explain_window *window;	/* the subjects' times: sorted, without overlap */
	size_t nr_windows;
	struct explain_list states, slices, instants;
	size_t nr_items;
	uint32_t *place;		/* tracks of CPUs and devices */
	uint32_t nr_places;
	bool failed;			/* no memory for a text or a node */
	bool full;			/* more than APP_EXPLAIN_ITEMS */
};

/* The first item of a track that ends after `from`, as an index; list->nr: none. */
size_t explain_find(const struct explain_list *list, uint32_t track, uint64_t from);

/* "worker/1 (4712)" of a thread's track. */
const char *explain_thread_name(struct explain *e, uint32_t track);

/* Formatted text in the arena; "" without memory. */
const char *explain_text(struct explain *e, const char *fmt, ...) TACHO_PRINTF(2, 3);

/* Causes and their times.  of: from malloc(). */
struct explain_totals {
	struct app_explain_total *of;
	uint32_t nr;
	size_t room;
};

/* Adds a time to a cause: ns, median_ns, count, and who ran.  Returns 0 or -ENOMEM. */
int explain_totals_add(struct explain *e, struct explain_totals *t,
		       const struct app_explain_total *more);

/* Says in the causes who had the CPU.  No explain_totals_add() after it. */
void explain_totals_name(struct explain *e, struct explain_totals *t);
void explain_totals_release(struct explain_totals *t);

/* Adds a thread's time to a list of at most EXPLAIN_RUNNERS; then threads of one name are one. */
#define EXPLAIN_RUNNERS	64u
void explain_add_runner(struct app_explain_runner *list, uint32_t *nr,
			const struct app_explain_runner *more);

/* The tree and the totals of a subject.  0 or -ENOMEM. */
int explain_path(struct explain *e, const struct explain_subject *s,
		 struct app_explain_subject *out);

#endif
