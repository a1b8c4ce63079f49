/* SPDX-License-Identifier: MIT */
/* types.h - a trace's types files: indexed when opened; a type is parsed at its first record. */
#ifndef TACHO_FMT_CTF_TYPES_H
#define TACHO_FMT_CTF_TYPES_H

#include "base/arena.h"
#include "stream/source.h"

struct tacho_ctf_type_entry {
	uint64_t text;		/* offset of the format text in the file */
	uint32_t len;
	uint32_t base;		/* stand-in: the type's id; else its own */
	uint32_t name;		/* offset of "system:name" in names */
	bool known, tried;
};

struct tacho_ctf_types {
	int fd;			/* -1: no such file */
	uint32_t stream_id;
	uint32_t nr;		/* entries, by id */
	struct tacho_ctf_type_entry *entry;
	struct tacho_buf names;
	struct tacho_arena *arena;	/* of the parsed types */
};

/*
 * Indexes dirfd's types file of the stream id.  A missing file counts as empty; a torn end is
 * ignored.  0 or -errno.
 */
int tacho_ctf_types_open(struct tacho_ctf_types *t, int dirfd,
			 uint32_t stream_id, struct tacho_arena *arena);

/* The same with an open file, which the callee then owns. */
int tacho_ctf_types_open_take(struct tacho_ctf_types *t, int fd,
			      uint32_t stream_id, struct tacho_arena *arena);
void tacho_ctf_types_release(struct tacho_ctf_types *t);

/* The type with this id, parsed and entered into the source's table; or NULL. */
const struct tacho_type *tacho_ctf_types_get(struct tacho_ctf_types *t,
					     struct tacho_source *source,
					     uint32_t id);

#endif
