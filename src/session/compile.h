/* SPDX-License-Identifier: MIT */
/*
 * compile.h - from the texts in a session's command table to what the engine runs.
 *
 * The traced process (src/runtime/compile.c) and tools (command.c) do this alike;
 * what differs is where types are found, whether histograms have maps, and what a
 * synthetic event does.  That is the owner's, in the first members of struct
 * tacho_compile.
 *
 * Histograms of other events are made as this one's variables name them, and
 * definitions of synthetic events as actions name them: all in one arena, without
 * pointers to what was compiled for anybody else.
 *
 * Memory is the arena's alone.  Any context, also signal handlers.
 */
#ifndef TACHO_SESSION_COMPILE_H
#define TACHO_SESSION_COMPILE_H

#include "engine/hist.h"
#include "engine/trigger.h"
#include "session/view.h"

/*
 * The variable that stands for a field of another event, which an onmatch() action
 * names without a variable: called so, and the field.
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
	/* What a synthetic event does when it happens.  NULL: nothing. */
	void *(*program)(struct tacho_compile *c, const char *name,
			 struct tacho_command *cmd,
			 const struct tacho_type *type);

	/* tacho_compile_init()'s; the owner may add synth, snapshot, add_field_var */
	struct tacho_hist_host host;	/* its arg is this struct */
	struct tacho_made_hist *hists;
	struct tacho_made_synth *synths;
	uint32_t making;	/* serial of the command that is being compiled; 0: a new one */
	uint32_t depth;
	bool no_memory;		/* something is missing for want of it */
};

/* Sets what is not the owner's.  c stays where it is as long as what it made. */
void tacho_compile_init(struct tacho_compile *c);

/* Memory; NULL is noted in no_memory. */
void *tacho_compile_alloc(struct tacho_compile *c, size_t size);

/* A shared text as it is now, without what is behind max - 1 bytes; or NULL. */
const char *tacho_compile_text(struct tacho_compile *c, const char *text,
			       size_t max);

/*
 * A type (fields only) from a type text (abi/shm.h) in shared memory; or NULL.
 */
const struct tacho_type *tacho_compile_type(struct tacho_compile *c,
					    const char *text, uint32_t len,
					    uint32_t id);

/* The id of the first type in the session's table that is called name, or 0. */
uint32_t tacho_compile_find_type(const struct tacho_view *v, const char *name,
				 uint32_t from);

/*
 * The command for events called name that was given next after serial *at (0 at
 * first), or, backwards, last before it (UINT32_MAX at first).  NULL: there is
 * none.
 */
struct tacho_command *tacho_compile_next(const struct tacho_view *v,
					 enum tacho_command_kind kind,
					 const char *name, bool back,
					 uint32_t *at);

/* Parses a trigger of the table; NULL when it cannot be. */
struct tacho_trigger_spec *tacho_compile_trigger(struct tacho_compile *c,
						 const struct tacho_command *cmd);

/* The histogram of a hist trigger for events of a type, which it is bound to; or NULL. */
struct tacho_hist *tacho_compile_hist(struct tacho_compile *c,
				      struct tacho_command *cmd,
				      struct tacho_trigger_spec *spec,
				      const struct tacho_type *type);

/*
 * The one histogram on system:event (system NULL: on any) with a variable called
 * name, its number in *var; among those whose keys fit those of fit (NULL: all).
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
