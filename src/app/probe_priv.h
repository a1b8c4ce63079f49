/* SPDX-License-Identifier: MIT */
/*
 * probe_priv.h - what the files of app/probe.h share.
 *
 * Functions that return int return 0, or a negative errno with a->d filled in.
 */
#ifndef TACHO_APP_PROBE_PRIV_H
#define TACHO_APP_PROBE_PRIV_H

#include "app/probe.h"
#include "base/arena.h"
#include "symbol/symbol.h"
#include "tracefs/dynevent.h"

#define PROBE_EVENTS_MAX	10000u		/* of one call */

struct probe_location {
	uint64_t address;
	uint64_t offset;	/* in the file */
	uint64_t counter;	/* 0: none */
	bool copy;		/* inlined: may be left out */
	struct tacho_probe_arg *arg;
	size_t nr_args;
};

struct probe_event {
	const char *name;
	const char *spec;		/* what asked for it */
	struct probe_location *location;
	size_t nr_locations;
	bool on_return;
	const char *function;		/* whose begin it is; NULL: none's */
	const struct tacho_sdt *sdt;	/* NULL: no marker */
};

struct probe_add {
	const struct app_probe_config *config;
	struct app_probe_set *set;	/* what is made of it; its arena is used */
	struct tacho_diag *d;
	char path[4096];		/* of the program, in full */
	struct tacho_object *object;
	struct probe_event *event;
	size_t nr_events, room;
	size_t room_lines;
};

/* Step 1 of app/probe.h. */
int probe_resolve(struct probe_add *a, const char *spec);

/* A new event; NULL: no memory, or too many, as a->d says. */
struct probe_event *probe_event_new(struct probe_add *a, const char *spec,
				    const char *name);
/* A new place of it; false: as above. */
bool probe_location_new(struct probe_add *a, struct probe_event *e,
		     uint64_t address, bool copy);

/* Step 2, of all places of an event. */
int probe_arguments(struct probe_add *a, struct probe_event *e);

/* Letters, digits and dashes of a name, in the arena; NULL: no memory. */
char *probe_clean_name(struct tacho_arena *arena, const char *name);

/* a->d is about text, at its offset; returns a->d->err. */
int probe_wrong(struct probe_add *a, const char *text);

#endif
