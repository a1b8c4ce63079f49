/* SPDX-License-Identifier: MIT */
/*
 * command_priv.h - adding one command; for src/session/command*.c only.
 *
 *	command.c		the table, checks, filters
 *	command_trigger.c	triggers and their targets
 *	command_synth.c		synthetic events
 *	command_eprobe.c	event probes
 *	command_read.c		lists and histograms
 *	command_fit.c		which commands compile for no event
 */
#ifndef TACHO_SESSION_COMMAND_PRIV_H
#define TACHO_SESSION_COMMAND_PRIV_H

#include "engine/filter.h"
#include "session/command.h"
#include "session/compile.h"
#include "session/known.h"

/* A command that another one needs: the histogram of a field's variable. */
struct tacho_implied {
	struct tacho_implied *next;
	const char *event, *text;
};

struct tacho_order {
	struct tacho_session *s;
	struct tacho_arena arena;
	struct tacho_known known;
	const char *text;
	struct tacho_cmd_error *e;	/* the caller's, may be NULL */
	const struct tacho_trigger_spec *spec;
	struct tacho_implied *implied;	/* in arena */
	bool locked;
	uint32_t serial;		/* of the command being checked again; 0: a new one */
	char glob[TACHO_RULE_MAX];
};

/*
 * Takes the lock and loads the known types. event NULL: the command is on no event.  The caller
 * must end it also if it fails.
 */
int tacho_order_begin(struct tacho_order *o, struct tacho_session *s,
		      const char *event, const char *text,
		      struct tacho_cmd_error *e);
void tacho_order_end(struct tacho_order *o);

/* tacho_edit_apply(); 0, or an error in o->e. */
int tacho_order_apply(struct tacho_order *o, const char *glob, uint32_t *matched);

/*
 * Executes one command, from its text to the running programs: takes the lock, loads the known
 * types, calls give(), and if that returns 0, sets the enable bits in the programs. event NULL:
 * the command is on no event. matched (may be NULL) receives how many of their events it matches.
 * Returns 0, or a negative errno with e filled in.
 */
int tacho_order_give(struct tacho_session *s, const char *event, const char *text,
		     int (*give)(struct tacho_order *o), uint32_t *matched,
		     struct tacho_cmd_error *e);

/* Compiles the command for one type; returns 0, or e->err. */
typedef int (*tacho_order_check)(struct tacho_order *o, struct tacho_compile *c,
				 const struct tacho_type *type,
				 struct tacho_cmd_error *e);

/*
 * Checks the command for each type that o->glob matches.  Returns 0: it compiles for one of them;
 * 1: no such type is known; else the error for the first one, which is also in o->e.
 */
int tacho_order_check_all(struct tacho_order *o, tacho_order_check check);

/* The checks of a filter, o->text, and of a trigger, o->spec. */
int tacho_order_check_filter(struct tacho_order *o, struct tacho_compile *c,
			     const struct tacho_type *type,
			     struct tacho_cmd_error *e);
int tacho_order_check_trigger(struct tacho_order *o, struct tacho_compile *c,
			      const struct tacho_type *type,
			      struct tacho_cmd_error *e);

/* Whether a filter is "0", which the kernel accepts with blanks around it. */
bool tacho_command_is_zero(const char *text);

/* Checks a filter as far as that goes without a type. */
int tacho_order_check_text(struct tacho_order *o, const char *filter,
			   uint32_t column);

/* Initialises c for compiling in a tool, with memory from a. */
void tacho_order_compile(struct tacho_order *o, struct tacho_compile *c,
			 struct tacho_arena *a);

/*
 * Adds a copy of *new and sets its state, serial, texts (and series, if it is 0).  Call it
 * between tacho_edit_begin() and end.  Returns the serial, or -ENOSPC.
 */
int tacho_order_add(struct tacho_order *o, const struct tacho_command *new,
		    const char *event, const char *text);
void tacho_order_remove(struct tacho_order *o, struct tacho_command *c);

/* The command in slot i if it is live and of that kind, or NULL. */
struct tacho_command *tacho_order_at(const struct tacho_order *o, uint32_t i,
				     enum tacho_command_kind kind);

#endif
