/* SPDX-License-Identifier: MIT */
/*
 * known.h - the event types a session may meet: those of running programs, then those
 * it has recorded, each text once.  A copy; for tools.
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

/* 0 or -ENOMEM.  To be released in any case. */
int tacho_known_load(struct tacho_known *k, struct tacho_session *s);

/*
 * Only those of the session's table: what programs recorded, or compiled commands
 * for.  As tacho_known_load().
 */
int tacho_known_load_table(struct tacho_known *k, struct tacho_session *s);
void tacho_known_release(struct tacho_known *k);

/* The first type that is called name; NULL: there is none. */
const struct tacho_known_type *tacho_known_find(const struct tacho_known *k,
						const char *name);

/* Whether a glob matches any. */
bool tacho_known_any(const struct tacho_known *k, const char *glob);

#endif
