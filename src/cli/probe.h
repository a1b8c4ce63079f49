/* SPDX-License-Identifier: MIT */
/*
 * probe.h - what the files of `tacho probe` share.
 *
 * add goes in four steps:
 *
 *	1  each SPEC becomes events, each with the places where it happens
 *	   (probe_location.c)
 *	2  --args become, for each place, what the kernel can fetch there
 *	   (probe_args.c); where a copy of a function lacks one, it is left out
 *	3  each place becomes a line in the kernel's language (tracefs/probe_spec.h)
 *	4  the kernel gets the lines; when it refuses one, those before it are
 *	   taken back (probe_add.c)
 */
#ifndef TACHO_CLI_PROBE_H
#define TACHO_CLI_PROBE_H

#include "base/arena.h"
#include "cli/cli.h"
#include "tracefs/dynevent.h"
#include "symbol/symbol.h"

#define PROBE_GROUP		"tacho_probes"
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
	/* from the command line */
	const char *program;		/* -x; NULL: none */
	bool kernel, raw, dry, json;
	const char *group, *name, *args, *debug_root;
	/* made of it */
	struct tacho_arena arena;
	char path[4096];		/* of the program, in full */
	struct tacho_object *object;
	struct probe_event *event;
	size_t nr_events, room;
};

/* 1: CLI_OK, or an exit status with a message printed. */
int probe_resolve(struct probe_add *a, const char *spec);

/* A new event; NULL: no memory, or too many (a message was printed). */
struct probe_event *probe_event_new(struct probe_add *a, const char *spec,
				    const char *name);
bool probe_location_new(struct probe_add *a, struct probe_event *e,
		     uint64_t address, bool copy);

/* 2: of all places of an event.  CLI_OK, or an exit status with a message. */
int probe_arguments(struct probe_add *a, struct probe_event *e);

/* The words of text, in the arena; NULL: no memory. */
char **probe_words(struct tacho_arena *arena, const char *text, size_t *nr);

/* Letters, digits and dashes of a name, in the arena; NULL: no memory. */
char *probe_clean_name(struct tacho_arena *arena, const char *name);

/* "cannot", in the words of d, with the text and a caret; CLI_FAILED. */
int probe_fail(const char *text, const struct tacho_diag *d);

int probe_add_run(int argc, char **argv);
int probe_list_run(int argc, char **argv);
int probe_del_run(int argc, char **argv);

#endif
