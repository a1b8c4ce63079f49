/* SPDX-License-Identifier: MIT */
/* query_priv.h - shared by the files of this folder. */
#ifndef TACHO_QUERY_QUERY_PRIV_H
#define TACHO_QUERY_QUERY_PRIV_H

#include "base/arena.h"
#include "query/query.h"
#include "query/run_queue.h"
#include "resolve/resolve.h"
#include "stream/window.h"

/* A command, kept for types that a live stream gets later. */
struct query_command {
	struct query_command *next;
	bool is_filter;
	const char *event;
	const char *text;
};

/* A synthetic event of the last hit. */
struct query_generated {
	struct tacho_record record;
	unsigned char *raw;
	uint32_t room;
};

/* A type whose filter only the kernel evaluates. */
struct query_offloaded {
	struct query_offloaded *next;
	const struct tacho_type *type;
};

/* A type that the stream does not have: tacho_query_add_type(). */
struct query_made {
	struct query_made *next;
	struct tacho_engine_event *event;
};

/* Cached data about a type, by its address. */
struct query_slot {
	const struct tacho_type *type;
	struct tacho_engine_event *event;
	const struct tacho_field *caller;	/* of a type of call stacks; or NULL */
	bool active;		/* the engine must process its records */
	enum run_queue_kind kind;
	bool needs_stack;
	bool filtered;		/* not every record is needed: tacho_query_needs() */
	bool passes;		/* its records have already passed its filter */
};

/* A record that waits for its stack, or follows one that does. */
struct query_held {
	struct query_held *next;
	struct query_held *next_waiting;
	struct tacho_record record;
	struct tacho_source *source;
	struct tacho_engine_event *event;	/* NULL: only to be kept for a snapshot */
	enum run_queue_kind kind;
	uint64_t time;			/* the engine's */
	bool waits;
	bool is_kept;			/* with the event that it belongs to */
	struct query_held *stack_record;	/* after it in the queue, or NULL */
	uint32_t nr_stack;
	uint64_t stack[TACHO_HIST_STACK];
	_Alignas(8) unsigned char raw[];
};

/* Whether an address is in a function of the tracer: a cache. */
struct query_frame {
	uint64_t addr;
	bool is_tracer;
};

#define QUERY_FRAMES	256u

#define QUERY_SLOTS	4096u
#define QUERY_GENERATED_MAX	64u

struct tacho_query {
	struct tacho_stream *stream;
	struct tacho_engine *engine;
	struct tacho_engine_host host;
	struct tacho_names names;
	struct tacho_resolver *resolver;	/* the stream's, or NULL */
	bool program;		/* a command for a program's event is compiled */
	const char **function;	/* named in filters of programs */
	uint32_t nr_functions;
	struct tacho_arena arena;
	bool filtered;		/* some event has a filter */
	bool has_hist;
	struct run_queue *run_queue;	/* NULL: not in use */
	struct tacho_cmd_error late;	/* of the first command that failed in query_add_type() */
	const char *late_text;
	struct query_command *commands, **last;
	struct query_offloaded *offloaded;
	struct query_made *made;
	struct query_slot slot[QUERY_SLOTS];
	const struct tacho_record *now;	/* the hit that runs */
	struct query_generated generated[QUERY_GENERATED_MAX];
	uint32_t nr_generated, next_generated;

	/* pair.c */
	bool pairing;		/* some event needs its stack */
	struct query_held *held, **held_last;
	struct query_held *waiting;	/* the waiting events, the oldest first */
	uint32_t nr_held;
	size_t held_bytes;
	struct tacho_query_stacks stacks;
	struct query_frame frame[QUERY_FRAMES];

	/* snapshot.c */
	struct tacho_window *window;	/* NULL: no command takes one */
	size_t window_size;
	uint64_t nr_snapshots;
	uint64_t nr_stacktraces;	/* requested by triggers */
};

/* One record and the data for processing it. */
struct query_run {
	const struct tacho_record *record;
	struct tacho_source *source;
	struct tacho_engine_event *event;	/* or NULL */
	enum run_queue_kind kind;
	uint64_t time;
	uint32_t nr_stack;
	const uint64_t *stack;
	const struct query_held *stack_record;	/* kept with it, or NULL */
	bool is_kept;		/* it was */
};

/* ---- query.c ---- */

/* Processes it, and keeps the record if snapshots are taken.  Returns whether it passes. */
bool query_run(struct tacho_query *q, const struct query_run *run);

/* ---- names.c ---- */

void tacho_query_names_init(struct tacho_query *q);

/* ---- pair.c ---- */

/* Processes a record of a query with stacks; run is complete except for its stack. */
void query_pair(struct tacho_query *q, const struct query_slot *slot,
		const struct query_run *run);

void query_pair_release(struct tacho_query *q);

/* ---- snapshot.c ---- */

/* Begins to keep records if this command takes snapshots.  0 or -ENOMEM. */
int query_snapshot_prepare(struct tacho_query *q, const char *text);

/* Callback of the engine. */
void query_snapshot_take(void *arg, const struct tacho_rec *cause);

#endif
