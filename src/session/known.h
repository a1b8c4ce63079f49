/* SPDX-License-Identifier: MIT */
/*
 * known.h - the known event types of a session: those of running programs, then those that it has
 * recorded, each text once.  A copy; for tools.
 */
#ifndef TACHO_SESSION_KNOWN_H
#define TACHO_SESSION_KNOWN_H

#include "base/arena.h"
#include "session/session.h"

struct tacho_known_type {
	char name[TACHO_RULE_MAX];	/* "system:event" */
	const char *text;		/* abi/shm.h, struct tacho_types */
	uint32_t len;
	uint64_t hash;
};

struct tacho_known {
	struct tacho_arena arena;
	struct tacho_known_type *type;
	uint32_t nr, room;
	uint32_t *slot;			/* by hash: number + 1; twice as many as room */
	int err;
};

/* Loads the known types.  Returns 0 or -ENOMEM; the caller releases k in both cases. */
int tacho_known_load(struct tacho_known *k, struct tacho_session *s);

/*
 * Loads only the types of the session's table, which programs recorded or compiled commands for.
 * Otherwise as tacho_known_load().
 */
int tacho_known_load_table(struct tacho_known *k, struct tacho_session *s);
/* Frees what there is; again, nothing. */
void tacho_known_release(struct tacho_known *k);

/* The first type called name; NULL: none. */
const struct tacho_known_type *tacho_known_find(const struct tacho_known *k,
						const char *name);

/* Whether a glob matches any. */
bool tacho_known_any(const struct tacho_known *k, const char *glob);

#endif
