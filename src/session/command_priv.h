/* SPDX-License-Identifier: MIT */
/*
 * command_priv.h - one command while it is given; for src/session/command*.c only.
 *
 *	command.c		the table, checks, filters
 *	command_trigger.c	triggers and their targets
 *	command_synth.c		synthetic events
 *	command_eprobe.c	event probes
 *	command_read.c		lists and histograms
 *	command_fit.c		which commands fit no event
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
	uint32_t serial;		/* of the command that is checked again; 0: a new one */
	char glob[TACHO_RULE_MAX];
};

/*
 * Takes the lock and learns what is known.  event NULL: the command is on none.  To
 * be ended also when it fails.
 */
int tacho_order_begin(struct tacho_order *o, struct tacho_session *s,
		      const char *event, const char *text,
		      struct tacho_cmd_error *e);
void tacho_order_end(struct tacho_order *o);

/* tacho_edit_apply(); 0, or an error in o->e. */
int tacho_order_apply(struct tacho_order *o, const char *glob, uint32_t *matched);

/*
 * One command from its text to running programs: takes the lock, learns what is known,
 * calls give(), and if that returns 0, sets the bits in the programs.  event NULL: the
 * command is on none.  matched (may be NULL) receives how many of their events
 * it matches.  0, or what went wrong, with e filled in.
 */
int tacho_order_give(struct tacho_session *s, const char *event, const char *text,
		     int (*give)(struct tacho_order *o), uint32_t *matched,
		     struct tacho_cmd_error *e);

/* Compiles the command for one type; 0, or what e says. */
typedef int (*tacho_order_check)(struct tacho_order *o, struct tacho_compile *c,
				 const struct tacho_type *type,
				 struct tacho_cmd_error *e);

/*
 * Checks it for each type that o->glob matches.  0: it can be on one of them; 1: none is
 * known; else what the first one's error is, which is in o->e.
 */
int tacho_order_check_all(struct tacho_order *o, tacho_order_check check);

/* Of o->text, a filter, and of o->spec, a trigger. */
int tacho_order_check_filter(struct tacho_order *o, struct tacho_compile *c,
			     const struct tacho_type *type,
			     struct tacho_cmd_error *e);
int tacho_order_check_trigger(struct tacho_order *o, struct tacho_compile *c,
			      const struct tacho_type *type,
			      struct tacho_cmd_error *e);

/* A filter's "0", as the kernel takes it: with blanks around it. */
bool tacho_command_is_zero(const char *text);

/* Checks a filter as far as that goes without a type. */
int tacho_order_check_text(struct tacho_order *o, const char *filter,
			   uint32_t column);

/* Makes c compile for tools, into a. */
void tacho_order_compile(struct tacho_order *o, struct tacho_compile *c,
			 struct tacho_arena *a);

/*
 * Between tacho_edit_begin() and end: a new command like *new, whose state, serial,
 * texts (and series, when it is 0) are set here.  Its serial, or -ENOSPC.
 */
int tacho_order_add(struct tacho_order *o, const struct tacho_command *new,
		    const char *event, const char *text);
void tacho_order_remove(struct tacho_order *o, struct tacho_command *c);

/* The command in place i if it lives and is of that kind, or NULL. */
struct tacho_command *tacho_order_at(const struct tacho_order *o, uint32_t i,
				     enum tacho_command_kind kind);

#endif
