/* SPDX-License-Identifier: MIT */
/* query_priv.h - what the files of this folder share. */
#ifndef TACHO_QUERY_QUERY_PRIV_H
#define TACHO_QUERY_QUERY_PRIV_H

#include "base/arena.h"
#include "kernel/syscalls.h"
#include "query/query.h"
#include "query/run_queue.h"

/* A command, kept for types that a live stream learns later. */
struct query_command {
	struct query_command *next;
	bool is_filter;
	const char *event;
	const char *text;
};

/* A synthetic event of the last hit. */
struct query_made {
	struct tacho_record record;
	unsigned char *raw;
	uint32_t room;
};

/* What is known of a type: a cache by its address. */
struct query_slot {
	const struct tacho_type *type;
	struct tacho_engine_event *event;
	bool active;		/* the engine has something to do for it */
	enum run_queue_kind kind;
};

#define QUERY_SLOTS	4096u
#define QUERY_MADE_MAX	64u

struct tacho_query {
	struct tacho_stream *stream;
	struct tacho_engine *engine;
	struct tacho_engine_host host;
	struct tacho_names names;
	struct tacho_arena arena;
	struct tacho_syscalls syscalls;
	bool syscalls_tried;
	bool filtered;		/* some event has a filter */
	bool has_hist;
	struct run_queue *run_queue;	/* NULL: nobody asks */
	struct query_command *commands, **last;
	struct query_slot slot[QUERY_SLOTS];
	const struct tacho_record *now;	/* the hit that runs */
	struct query_made made[QUERY_MADE_MAX];
	uint32_t nr_made, next_made;
};

void tacho_query_names_init(struct tacho_query *q);

#endif
