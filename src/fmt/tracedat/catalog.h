/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - the event types of a trace.dat: one id space, formats by system.
 *
 * Programs and the kernel number their types independently; a trace.dat has one common_type for
 * all.  The kernel's events keep their ids and recorded formats.  A program's event gets the next
 * id above those of the kernel; so does a kernel event whose id is used (a trace of several
 * machines' kernels, or of one whose types changed).  Equal types of several parts of a trace are
 * one.
 *
 * Events of the kernel's system "ftrace" that the recorder rewrote are converted back to the
 * kernel's form, both types and records: flat.h.
 */
#ifndef TACHO_FMT_TRACEDAT_CATALOG_H
#define TACHO_FMT_TRACEDAT_CATALOG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/hashmap.h"
#include "event/type.h"
#include "fmt/tracedat/flat.h"

/* A type of the input, and what its records become. */
struct tacho_dat_known {
	const struct tacho_type *type;
	uint32_t id;
	struct tacho_dat_flat flat;
};

/* A type of the output. */
struct tacho_dat_entry {
	const char *system;
	const char *name, *plain;	/* as it is, and in the file */
	bool program;
	size_t text;			/* of its format, in catalog.text */
	size_t len;
	uint32_t id;
};

/* What an id of the input stood for when it was last met. */
struct tacho_dat_former {
	uint64_t hash;			/* 0: nothing */
	uint32_t id;
};

struct tacho_dat_catalog {
	struct tacho_arena arena;
	struct tacho_hashmap known;	/* struct tacho_dat_known, by type */
	struct tacho_dat_former *former[2];	/* by stream id, then id */
	bool *used;			/* by id */
	uint32_t next;			/* no id of the kernel's is above those below */
	uint32_t low;			/* ids below are taken */
	struct tacho_dat_entry *entry;
	size_t nr_entries, room_entries;
	struct tacho_buf text;
};

/* 0 or -ENOMEM. */
int tacho_dat_catalog_init(struct tacho_dat_catalog *c);
void tacho_dat_catalog_release(struct tacho_dat_catalog *c);

/*
 * The known type, entered if it is new; types are told apart by their pointers,
 * which must stay.  stream_id: enum tacho_stream_id.  NULL with d filled in:
 * -ENOMEM, -ENOSPC (65,535 types).
 */
const struct tacho_dat_known *
tacho_dat_catalog_get(struct tacho_dat_catalog *c, const struct tacho_type *type,
		      uint32_t stream_id, struct tacho_diag *d);

/*
 * Says of the events whose names the file has another way: how many, and what of the first `max`,
 * "'a.b' is 'a_b', ...".
 */
size_t tacho_dat_catalog_renamed(const struct tacho_dat_catalog *c, size_t max,
				 struct tacho_buf *out);

/* Sorts the entries by system and id, for writing. */
void tacho_dat_catalog_sort(struct tacho_dat_catalog *c);

#endif
