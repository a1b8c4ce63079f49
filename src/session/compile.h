/* SPDX-License-Identifier: MIT */
/*
 * compile.h - compiles the texts in a session's command table for the engine.
 *
 * The traced process (src/runtime/compile.c) and tools (command.c) share this code.  They differ
 * in where types are found, whether histograms have maps, and what a synthetic event does.  The
 * owner sets these in the first members of struct tacho_compile.
 *
 * Histograms of other events are compiled when variables refer to them, and synthetic events when
 * actions name them: all in one arena, without pointers to other compilations.
 *
 * All memory is from the arena.  Any context, also signal handlers.
 */
#ifndef TACHO_SESSION_COMPILE_H
#define TACHO_SESSION_COMPILE_H

#include "engine/hist.h"
#include "engine/trigger.h"
#include "session/view.h"

/*
 * The prefix of the variable that holds a field of another event, which an onmatch() action names
 * without a variable; the field's name follows.
 */
#define TACHO_FIELD_VAR		"synthetic_"

/* Histograms whose variables refer to histograms whose variables ... */
#define TACHO_COMPILE_DEPTH	4u

struct tacho_made_hist {
	struct tacho_made_hist *next;
	uint32_t serial, type;
	struct tacho_hist *hist;
};

struct tacho_made_synth {
	struct tacho_made_synth *next;
	const struct tacho_synth *synth;
	void *program;		/* the owner's; or NULL */
};

struct tacho_compile {
	/* the owner's */
	const struct tacho_view *view;
	struct tacho_arena *arena;
	const struct tacho_names *names;
	void *owner;
	/* The type of an event called "system:event", or NULL. */
	const struct tacho_type *(*type)(struct tacho_compile *c,
					 const char *name);
	/* Gives a histogram its map; 0 or -errno.  NULL: it needs none. */
	int (*bind)(struct tacho_compile *c, struct tacho_command *cmd,
		    const struct tacho_hist_spec *spec, struct tacho_hist *hist);
	/* The actions of a synthetic event.  NULL: none. */
	void *(*program)(struct tacho_compile *c, const char *name,
			 struct tacho_command *cmd,
			 const struct tacho_type *type);

	/* tacho_compile_init()'s; the owner may add synth, snapshot, add_field_var */
	struct tacho_hist_host host;	/* its arg is this struct */
	struct tacho_made_hist *hists;
	struct tacho_made_synth *synths;
	uint32_t making;	/* serial of the command being compiled; 0: a new one */
	uint32_t depth;
	bool no_memory;		/* something is missing for lack of memory */
};

/* Sets the members that are not the owner's. c must not move during the lifetime of its results. */
void tacho_compile_init(struct tacho_compile *c);

/* Allocates from the arena; sets no_memory if it returns NULL. */
void *tacho_compile_alloc(struct tacho_compile *c, size_t size);

/* Copies a shared text, at most max - 1 bytes of it; or NULL. */
const char *tacho_compile_text(struct tacho_compile *c, const char *text,
			       size_t max);

/*
 * A type (fields only) from a type text (abi/shm.h) in shared memory; or NULL.
 */
const struct tacho_type *tacho_compile_type(struct tacho_compile *c,
					    const char *text, uint32_t len,
					    uint32_t id);

/* The id of the first type called name in the session's table, or 0. */
uint32_t tacho_compile_find_type(const struct tacho_view *v, const char *name,
				 uint32_t from);

/*
 * The next command for events called name, in the order of serials after *at (initially 0), or,
 * with backwards, before *at (initially UINT32_MAX).  NULL: there is none.
 */
struct tacho_command *tacho_compile_next(const struct tacho_view *v,
					 enum tacho_command_kind kind,
					 const char *name, bool back,
					 uint32_t *at);

/* Parses a trigger of the table; NULL on error. */
struct tacho_trigger_spec *tacho_compile_trigger(struct tacho_compile *c,
						 const struct tacho_command *cmd);

/* Creates the histogram of a hist trigger, bound to events of a type; or NULL. */
struct tacho_hist *tacho_compile_hist(struct tacho_compile *c,
				      struct tacho_command *cmd,
				      struct tacho_trigger_spec *spec,
				      const struct tacho_type *type);

/*
 * The one histogram on system:event (system NULL: on any) with a variable called
 * name, its number in *var; among those whose keys are compatible with those of fit (NULL: all).
 * *ambiguous: there are several, and the result is NULL.
 */
struct tacho_hist *tacho_compile_var(struct tacho_compile *c, const char *system,
				     const char *event, const char *name,
				     const struct tacho_hist *fit, uint32_t *var,
				     bool *ambiguous);

/* "system:event" of a type to name; false when it is too long. */
bool tacho_compile_name(const char *system, const char *event,
			char name[TACHO_RULE_MAX]);

#endif
