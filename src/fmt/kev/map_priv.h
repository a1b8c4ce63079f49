/* SPDX-License-Identifier: MIT */
/* map_priv.h - between map.c and map_linux.c. */
#ifndef TACHO_FMT_KEV_MAP_PRIV_H
#define TACHO_FMT_KEV_MAP_PRIV_H

#include "base/hashmap.h"
#include "fmt/kev/map.h"

#define TACHO_KEV_MAP_FIELDS	6u
#define TACHO_KEV_MAP_TASKS	4096u	/* a power of two */

/* A thread: which process it is of, and which system call it is in. */
struct tacho_kev_task {
	int32_t tid;
	int32_t pid;
	uint16_t state;		/* in which it waits, if it does; enum of layout.h */
	bool known;
};

struct tacho_kev_map {
	struct tacho_kev_writer *w;
	struct tacho_stream *stream;
	struct tacho_kev_types types;
	bool exact;
	struct tacho_hashmap kinds;	/* by type */
	struct tacho_arena arena;
	struct tacho_buf words, text;
	struct tacho_kev_task *task;	/* by tid: a cache */
	uint32_t idle[TACHO_KEV_CPUS];	/* mode that the CPU idles in */
	struct tacho_kev_counts counts;
	tacho_kev_choose choose;	/* NULL: all */
	void *choose_arg;
	bool (*wide)(void *arg, uint32_t code);	/* NULL: none */
};

struct tacho_kev_mapping;

/* A mapped record's arguments. */
struct tacho_kev_args {
	const struct tacho_kev_mapping *mapping;
	const struct tacho_record *r;
	uint32_t cpu;
	uint64_t time;
	uint64_t value[TACHO_KEV_MAP_FIELDS];
	int32_t tid, pid;		/* who runs */
};

/* How an event of Linux is written. */
struct tacho_kev_mapping {
	const char *system, *name;
	/* fields that it needs: without one of them it is text */
	const char *field[TACHO_KEV_MAP_FIELDS];
	/* counts the record; 0 or -errno with d filled in */
	int (*put)(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		   struct tacho_diag *d);
	const char *call;		/* for put(): the kernel call */
	uint16_t state;			/* for put(): the state of who waits in the call */
};

/* The mapping of a type, or NULL. */
const struct tacho_kev_mapping *tacho_kev_mapping_of(const struct tacho_type *type);

/* The thread, and its process as far as the trace knows it. */
struct tacho_kev_task *tacho_kev_map_task(struct tacho_kev_map *m, int32_t tid);

/* Writes an event of so many words. */
int tacho_kev_map_put(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      uint32_t code, const uint32_t *words, uint32_t nr,
		      struct tacho_diag *d);

/* Writes the record as text, and counts it. */
int tacho_kev_map_text(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       struct tacho_diag *d);

/* Writes an event of two words and a text. */
int tacho_kev_map_name(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       uint32_t code, uint32_t first, uint32_t second,
		       const char *text, size_t len, struct tacho_diag *d);

#endif
