/* SPDX-License-Identifier: MIT */
/*
 * model_priv.h - what the files of the model share.
 *
 * run.c takes a record, brings the CPU up to it (cpu.c: losses, interrupt context) and
 * runs the actions of its type's plan.  thread.c has the threads and their states, nested.c the
 * stacks of slices, overlap.c the slices of devices and spans.  model.c makes tracks and hands
 * items out.
 *
 * Things refer to each other by index, not by address: arrays grow, and what is free is chained.
 * Index 0 is never used where 0 means none.
 */
#ifndef TACHO_MODEL_MODEL_PRIV_H
#define TACHO_MODEL_MODEL_PRIV_H

#include "base/arena.h"
#include "base/hashmap.h"
#include "model/model.h"
#include "model/plan.h"
#include "model/table.h"

/* Where and when something was: one end of a flow. */
struct model_place {
	uint32_t track;		/* 0: not known */
	bool by_irq;
	uint64_t time, record;
};

/* An open slice.  Index 0 is none. */
struct model_open {
	uint32_t next;		/* nested: the one below; free: the next free one */
	uint32_t prev;		/* overlapping: prev and next in the order of their begins */
	uint32_t depth;
	uint64_t key;
	uint64_t begin, record;
	const char *name, *category;
	bool of_program;	/* begun by a program's record: which losses matter */
	/* overlapping */
	uint32_t lanes;		/* index of its struct model_lanes */
	uint32_t thread;	/* of a request: that began it; 0: not known */
	uint64_t thread_serial;	/* ... and which of the threads at that index */
	struct model_place from;
};

/* A stack of open slices on a track. */
struct model_stack {
	uint32_t track;		/* 0: none yet */
	uint32_t top;		/* struct model_open */
	uint32_t depth;
	uint64_t floor;		/* the earliest time at which an unseen slice can have begun */
};

struct model_thread {
	uint64_t key;		/* process << 32 | thread for QNX; else the thread */
	const char *name;	/* "": not known */
	uint64_t since, record;	/* of the state */
	uint64_t ran;		/* the record with which it last began to run */
	uint64_t waking;	/* the last `waking`: its record + 1; 0: none */
	struct model_place waker;
	struct model_stack calls;
	uint32_t process;	/* index */
	uint32_t track, state_track;
	uint32_t cpu;		/* running: where */
	uint32_t next, prev;	/* in the order of births; free: the next free one */
	uint64_t serial;	/* of all threads that there were */
	uint32_t requests;	/* open slices of devices that it began */
	uint32_t flags;		/* of the state: enum model_flag */
	uint32_t number;	/* its id */
	uint32_t waker_of_state; /* runnable: the waker's track */
	uint8_t state;		/* enum model_thread_state */
	bool has_states, forked, has_exited;
};

struct model_process {
	const char *name;
	int64_t number;
	uint32_t track;
};

struct model_cpu {
	uint32_t number;
	uint32_t track, running_track;
	uint32_t thread;	/* that runs; 0: not known */
	bool idle;		/* the idle thread, which has no struct (Linux, LTT) */
	uint64_t since, record;	/* of what runs */
	uint32_t flags;		/* of its slice */
	/* all kernel records since here have this thread: what runs, if not known or idle */
	int64_t guess;		/* -1: none */
	uint64_t guess_since, guess_record;
	struct model_stack irq, softirq;
	uint64_t last;		/* time of the last kernel record */
	uint64_t last_program;
	uint64_t loss_end;	/* of the last loss of kernel records */
	bool io_done;		/* a request ended in the interrupt that runs */
};

/* Overlapping slices: a track with lanes. */
struct model_lanes {
	uint64_t key;
	uint32_t track;
	uint32_t depth_counter;	/* devices: the track of `depth` */
	uint32_t nr_open;
	uint32_t words;		/* of busy */
	uint64_t *busy;		/* bits: depths that are taken */
};

struct model_sent {
	uint64_t key;
	struct model_place from;
	uint32_t next, prev;	/* in the order of sending; free: the next free one */
};

struct model_counter_track {
	uint64_t key;
	uint32_t track;
};

struct model {
	struct tacho_stream *stream;
	const struct model_rules *rules;
	const struct model_ops *ops;
	void *arg;
	int err;		/* sticky */
	struct model_stats stats;

	struct tacho_arena arena;	/* plans */
	struct tacho_hashmap plans;	/* by the type's address */
	struct model_names {
		struct tacho_arena arena;
		const char **slot;
		uint32_t nr, room;
	} names;

	uint32_t nr_tracks;
	struct model_thread *thread;	/* [0].next, [0].prev: the oldest, the youngest */
	uint32_t nr_threads, room_threads, free_thread;
	uint64_t nr_born;		/* threads that there were */
	struct model_table thread_by_key;
	struct model_process *process;
	uint32_t nr_processes, room_processes;
	struct model_table process_by_id;
	struct model_open *open;	/* [0].next, [0].prev: the oldest overlapping one, ... */
	uint32_t nr_open, room_open, free_open;
	uint32_t nr_overlapping;	/* of those: of devices and spans */
	struct model_lanes *lanes;
	uint32_t nr_lanes, room_lanes;
	struct model_table lanes_by_key;
	struct model_table open_by_key;		/* overlapping slices */
	struct model_counter_track *counter;	/* in the order in which they came */
	uint32_t nr_counters, room_counters;
	struct model_table counter_by_key;	/* tracks */
	struct model_sent *sent;		/* [0].next, [0].prev: the oldest, the newest */
	uint32_t nr_sent, room_sent, free_sent;
	struct model_table sent_by_key;
	struct model_cpu **cpu;		/* by number; NULL where there was none */
	uint32_t nr_cpus;

	uint64_t kernel_loss_end, program_loss_end;

	/* the record that is looked at */
	const struct tacho_record *r;
	uint64_t time, record;		/* its time and number */
	struct model_cpu *here;		/* its CPU; NULL: not known */
	bool from_program;
	uint32_t qnx_cpus;	/* of the machine: so many idle threads */
	bool is_qnx;		/* states of threads are events of their own */
	bool has_switches;	/* the trace can say who runs */
};

#define MODEL_OPEN_MAX	((uint32_t)1 << 18)	/* overlapping slices that are open at a time */
#define MODEL_SENT_MAX	((uint32_t)1 << 16)	/* messages on their way */
#define MODEL_CPUS_MAX	65536u

/* ---- model.c: memory, tracks, handing out ---- */

/* A model without tracks, of the stream's types.  Returns as model_new(). */
int model_make(struct model **model, const struct model_config *config, struct tacho_diag *d);

/* The error from now on.  Returns it. */
int model_fail(struct model *m, int err);

/* Makes room for one more element of an array; false: model_fail(). */
bool model_grow(struct model *m, void *array, uint32_t nr, uint32_t *room, size_t size);

/* A new track.  0: an error. */
uint32_t model_new_track(struct model *m, uint32_t parent, enum model_track_kind kind,
			 int64_t number, const char *name);
/* Says that a track has this name now. */
void model_name_track(struct model *m, uint32_t id, uint32_t parent, enum model_track_kind kind,
		      int64_t number, const char *name);

void model_put_slice(struct model *m, const struct model_slice *s);
void model_put_state(struct model *m, const struct model_state *s);
void model_put_counter(struct model *m, uint32_t track, double value);
void model_put_flow(struct model *m, const char *kind, const struct model_place *from,
		    const struct model_place *to);

/* Index of a new open slice, zeroed; 0: an error. */
uint32_t model_open_new(struct model *m);
void model_open_free(struct model *m, uint32_t i);

/*
 * Lists in the order of time, through next and prev of an array's elements; [0] is its head.
 * So what is saved has an order that does not depend on which slots were free.
 */
#define MODEL_LINK(array, i) do {					\
	(array)[i].next = 0;						\
	(array)[i].prev = (array)[0].prev;				\
	(array)[(array)[0].prev].next = (i);				\
	(array)[0].prev = (i);						\
} while (0)
#define MODEL_UNLINK(array, i) do {					\
	(array)[(array)[i].prev].next = (array)[i].next;		\
	(array)[(array)[i].next].prev = (array)[i].prev;		\
} while (0)

/* ---- names.c ---- */

/* The one copy of a text; "" without memory (model_fail()). */
const char *model_intern(struct model *m, const char *s, size_t len);
/* Values of the record: as text, as a number (false: the record has none), as a key. */
const char *model_text(struct model *m, const struct model_value *v);
bool model_int(struct model *m, const struct model_value *v, int64_t *value);
bool model_double(struct model *m, const struct model_value *v, double *value);
bool model_key(struct model *m, const struct model_action *a, uint64_t seed, uint64_t *key);
void model_names_release(struct model *m);
/* A text as part of a key: equal for equal texts, in any process. */
uint64_t model_text_key(const char *s);

/* A hash of two numbers; a is spread first, so that small ones do not make up for b. */
static inline uint64_t model_mix(uint64_t a, uint64_t b)
{
	a = (a + 1) * UINT64_C(0x9e3779b97f4a7c15);
	a = (a ^ a >> 32 ^ b) * UINT64_C(0xff51afd7ed558ccd);
	a ^= a >> 29;
	a *= UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 32;
}

/* ---- cpu.c ---- */

/* The CPU of the record, brought up to it; also losses.  NULL: not known. */
struct model_cpu *model_cpu_enter(struct model *m);
struct model_cpu *model_cpu_get(struct model *m, uint32_t number);
uint32_t model_cpu_track(struct model *m, struct model_cpu *c);
/* Whether the record was made in an interrupt on its CPU. */
bool model_in_irq(const struct model *m);
/* Where the record was made: interrupt or thread.  thread: the record's; 0: not known. */
struct model_place model_here(struct model *m, uint32_t thread);
/* The CPU's running slice ends, and nothing is known from then on. */
void model_cpu_end(struct model *m, struct model_cpu *c, uint64_t end, uint64_t end_record,
		   uint32_t flags);
/* It begins. */
void model_cpu_begin(struct model *m, struct model_cpu *c, uint32_t thread, bool idle,
		     uint64_t begin, uint64_t begin_record);
/* At T1. */
void model_cpus_finish(struct model *m);

/* ---- thread.c ---- */

/* Index of a new thread, which is not initialised; 0: an error. */
uint32_t model_thread_alloc(struct model *m);
/* The thread with this key; made when there is none.  0: an error. */
uint32_t model_thread_get(struct model *m, uint64_t key);
/* The record's thread; 0: not known, or idle. */
uint32_t model_thread_here(struct model *m);
void model_thread_name(struct model *m, uint32_t i, const struct model_value *v);
/* Tracks of a thread: itself, its states, its calls, its process. */
uint32_t model_thread_track(struct model *m, uint32_t i);
uint32_t model_state_track(struct model *m, uint32_t i);
uint32_t model_calls_track(struct model *m, uint32_t i);
uint32_t model_process_track(struct model *m, uint32_t thread);
void model_switch(struct model *m, const struct model_action *a);
void model_wake(struct model *m, const struct model_action *a);
void model_waker(struct model *m, const struct model_action *a);
void model_set_state(struct model *m, const struct model_action *a);
void model_fork(struct model *m, const struct model_action *a);
void model_exit(struct model *m, const struct model_action *a);
void model_rename(struct model *m, const struct model_action *a);
/* Ends the state at a time, before which it is known; zero-length ones are not handed out. */
void model_state_end(struct model *m, uint32_t i, uint64_t end, uint64_t end_record,
		     uint32_t flags);
/* Another one begins where the last one ended. */
void model_state_begin(struct model *m, uint32_t i, enum model_thread_state state, uint32_t cpu,
		       uint32_t flags, uint64_t begin, uint64_t begin_record);
void model_threads_finish(struct model *m);

/* ---- nested.c ---- */

void model_nested(struct model *m, const struct model_action *a);
void model_mark(struct model *m, const struct model_action *a);
/* Ends all slices of a stack. */
void model_stack_end(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		     uint64_t end, uint64_t end_record, uint32_t flags);

/* ---- overlap.c ---- */

/* A new track with lanes: its index, 0: an error.  Takes the lowest depth, or this one. */
uint32_t model_lanes_new(struct model *m, uint64_t key);
uint32_t model_lane_take(struct model *m, struct model_lanes *l);
bool model_lane_take_at(struct model *m, struct model_lanes *l, uint32_t depth);
void model_overlap(struct model *m, const struct model_action *a);
void model_count(struct model *m, const struct model_action *a);
void model_message(struct model *m, const struct model_action *a);
/* A message is on its way from here. */
void model_store_sent(struct model *m, uint64_t key, const struct model_place *from);
void model_overlaps_finish(struct model *m);

#endif
