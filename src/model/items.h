/* SPDX-License-Identifier: MIT */
/*
 * items.h - what the model hands out, as tables: their columns, their rows, their values.
 *
 * docs/sql.md describes the tables slice, thread_state, counter, flow, instant, gap and track.
 * Whoever shows them (src/sql as SQLite's tables, src/columns as Arrow's) has their columns and
 * values from here.
 *
 *	model_items_init()	a table, and which items are wanted
 *	model_items_ops()	for model_new(); the arg is the struct model_items
 *	model_record() ...	each queues the items that it completes and that are wanted
 *	model_items_cell()	values of an item in the queue
 *	model_items_end()	after model_finish(): the last values of counters
 *
 *	I1  Only the op of the table's items is set, and that of tracks, whose names and parents
 *	    say which thread, process and CPU an item is of.
 *	I2  The queue has what was completed since its reader emptied it.  Nothing else
 *	    depends on the number of records.  Texts are the model's: they live as long as it does,
 *	    and equal ones have one address.
 *	I3  A counter's value is held until the next one of its track, or the end of what is read,
 *	    says how long it was valid.
 *	I4  An item's thread, CPU and path are what its track is called when model_items_cell() is
 *	    asked.  A reader that lets several records pass first must ask before a track
 *	    gets another name: the op `track` with an id below tracks.nr.
 *	I5  serial numbers the items of the table as the model makes them, wanted or not; a
 *	    counter's value when it comes.  It may be set between two records.
 *
 * The rows of track are the tracks at the end, by number: no item is queued, and
 * model_track_cell() has the values.
 */
#ifndef TACHO_MODEL_ITEMS_H
#define TACHO_MODEL_ITEMS_H

#include "base/buf.h"
#include "model/model.h"

/* ---- columns ---- */

enum model_items_kind {
	MODEL_ITEMS_SLICE, MODEL_ITEMS_STATE, MODEL_ITEMS_COUNTER, MODEL_ITEMS_FLOW,
	MODEL_ITEMS_INSTANT, MODEL_ITEMS_GAP, MODEL_ITEMS_TRACK, MODEL_NR_ITEMS,
};

/* What a column is of. */
enum model_of {
	MODEL_OF_TIME, MODEL_OF_DUR, MODEL_OF_END,
	MODEL_OF_CPU, MODEL_OF_PID, MODEL_OF_TID, MODEL_OF_COMM,
	MODEL_OF_NAME, MODEL_OF_CATEGORY, MODEL_OF_DEPTH, MODEL_OF_VALUE, MODEL_OF_LOST,
	MODEL_OF_TRACK, MODEL_OF_PATH, MODEL_OF_BEGIN_RECORD, MODEL_OF_END_RECORD,
	MODEL_OF_BEGIN_UNKNOWN, MODEL_OF_END_UNKNOWN, MODEL_OF_UNCERTAIN, MODEL_OF_IO,
	MODEL_OF_PREEMPTED, MODEL_OF_BY_IRQ,
	MODEL_OF_FROM_TRACK,
	/* of the other end */
	MODEL_OF_TO_TRACK, MODEL_OF_TO_CPU, MODEL_OF_TO_PID, MODEL_OF_TO_TID, MODEL_OF_TO_COMM,
	MODEL_OF_TO,		/* a thread's name; of anything else the path */
	/* of the table track */
	MODEL_OF_ID, MODEL_OF_PARENT, MODEL_OF_KIND, MODEL_OF_NUMBER, MODEL_OF_TRACK_NAME,
	MODEL_OF_TRACK_PATH,
	MODEL_NR_OF,
};

enum model_type {
	MODEL_TYPE_TIME,	/* ns since 1970 */
	MODEL_TYPE_INT,
	MODEL_TYPE_REAL,
	MODEL_TYPE_FLAG,	/* 0 or 1 */
	MODEL_TYPE_NAME,	/* a text that many rows have */
	MODEL_TYPE_TEXT,
};

struct model_column {
	const char *name;
	enum model_of of;
};

/* "slice", "thread_state", ...; static. */
const char *model_items_name(enum model_items_kind kind);

/* The table of this name; false: there is none. */
bool model_items_find(const char *name, enum model_items_kind *kind);

/* The columns of a table, static. */
const struct model_column *model_items_columns(enum model_items_kind kind, uint32_t *nr);

/* The type of a column's values, and whether a row may have none. */
enum model_type model_of_type(enum model_of of);
bool model_of_nullable(enum model_of of);

/* ---- values ---- */

enum model_cell_kind { MODEL_CELL_NONE, MODEL_CELL_INT, MODEL_CELL_REAL, MODEL_CELL_TEXT };

struct model_cell {
	enum model_cell_kind kind;
	int64_t number;
	double real;
	const char *text;
};

/* ---- tracks ---- */

struct model_tracks {
	struct model_track_row {
		const char *name;
		int64_t number;
		uint32_t parent;
		uint32_t held;		/* a counter's value that waits: index + 1 */
		enum model_track_kind kind;
	} *track;			/* by number */
	uint32_t nr, room;
};

/* The op `track`.  0 or -ENOMEM. */
int model_tracks_keep(struct model_tracks *tracks, const struct model_track *track);
void model_tracks_release(struct model_tracks *tracks);

/* The nearest track of a kind, from `track` on to the machine; NULL: none. */
const struct model_track_row *model_tracks_find(const struct model_tracks *tracks,
						uint32_t track, enum model_track_kind kind);

/* Its number; false: there is none. */
bool model_tracks_number(const struct model_tracks *tracks, uint32_t track,
			 enum model_track_kind kind, int64_t *number);

/* The name of the thread that a track is of; NULL: not known. */
const char *model_tracks_comm(const struct model_tracks *tracks, uint32_t track);

/* Appends "process 5 web/thread 6 worker/calls", as `tacho model --items` says a track. */
void model_tracks_path(const struct model_tracks *tracks, uint32_t track,
		       struct tacho_buf *text);

/* A value of a row of the table track; a path is in text, which is emptied.  0 or -ENOMEM. */
int model_track_cell(const struct model_tracks *tracks, uint32_t track, enum model_of of,
		     struct tacho_buf *text, struct model_cell *cell);

/* ---- items ---- */

/* An item of any table.  What a table has no column for is not set. */
struct model_item {
	uint64_t serial;
	uint64_t time, end;		/* ns since 1970 */
	uint64_t begin_record, end_record;
	const char *name;		/* a state: its name */
	const char *category;		/* a flow: its kind; a gap: the source */
	double value;
	uint64_t lost;
	uint32_t track, depth;
	uint32_t thread;		/* the track that says which thread and process */
	uint32_t cpu;			/* MODEL_NO_CPU: the track says it */
	uint32_t from, to;		/* tracks; a state: `to` is the waker; 0: not known */
	uint32_t flags;			/* enum model_flag */
};

struct model_item_list {
	struct model_item *list;
	size_t at, nr, room;		/* those before `at` were read */
};

struct model_items {
	enum model_items_kind kind;
	struct model_tracks tracks;
	struct model_item_list queue;
	struct model_item_list held;	/* values of counters */
	struct tacho_buf text;
	uint64_t serial;
	bool (*wanted)(void *arg, const struct model_item *item);
	void *arg;
};

void model_items_init(struct model_items *items, enum model_items_kind kind,
		      bool (*wanted)(void *arg, const struct model_item *item), void *arg);
void model_items_release(struct model_items *items);

/* The ops that fill the queue. */
void model_items_ops(enum model_items_kind kind, struct model_ops *ops);

/* Queues an item that no op gave, if it is wanted.  0 or -ENOMEM. */
int model_items_add(struct model_items *items, const struct model_item *item);

/* Queues the counters' last values, by track, which are valid until `end`.  0 or -ENOMEM. */
int model_items_end(struct model_items *items, uint64_t end);

/* The item's CPU; false: not known. */
bool model_items_cpu(const struct model_items *items, const struct model_item *item,
		     int64_t *cpu);

/*
 * The value of a column of an item, not of the table track.  Its text is valid until the next call
 * if it is a path, else as long as the model.  0 or -ENOMEM.
 */
int model_items_cell(struct model_items *items, const struct model_item *item, enum model_of of,
		     struct model_cell *cell);

#endif
