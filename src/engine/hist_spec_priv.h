/* SPDX-License-Identifier: MIT */
/*
 * hist_spec_priv.h - inside the parser of histogram triggers.
 *
 * The language has no grammar; a chain of cuts defines it.  The command is cut at " if ", the
 * rest at ':' into clauses, a clause at ',' into
 * items, an item at its last operator into operands, an operand at '.' into name
 * and modifier.  So parentheses, blanks and quotes are ordinary characters, except where a cut
 * searches for them.
 *
 * The order of the steps decides which of several errors is reported:
 *	1  clauses, left to right			hist_spec.c
 *	2  handlers and their actions			hist_spec_action.c
 *	3  assignments, then values, variables, keys	hist_spec.c
 *	4  sort keys					hist_spec.c
 *	5  what actions refer to			hist_spec_action.c
 *
 * An error's place is the first occurrence of the wrong text in the command, as in the kernel,
 * which does not keep the real place.
 */
#ifndef TACHO_ENGINE_HIST_SPEC_PRIV_H
#define TACHO_ENGINE_HIST_SPEC_PRIV_H

#include <string.h>

#include "engine/hist_spec.h"

#define HIST_PREFIX	"hist:"
#define HIST_PREFIX_LEN	5

/* A part of the command, without a copy. */
struct hist_slice {
	const char *p;
	size_t len;
};

struct hist_params {
	uint32_t nr;
	struct hist_slice slice[TACHO_HIST_PARAMS_MAX];
};

struct hist_parser {
	struct tacho_hist_spec *spec;
	struct tacho_arena *a;
	struct tacho_cmd_error *e;
	/*
	 * The text to cut: spec->text after "hist:", with every ".sym-offset" replaced by
	 * ".symXoffset", so that its '-' is not an operator.
	 */
	const char *work;

	/* clauses */
	struct hist_slice keys, vals, sort;
	struct hist_slice assignment[TACHO_HIST_VARS_MAX];
	uint32_t nr_assignments;
	struct hist_slice action_text[TACHO_HIST_ACTIONS_MAX];
	uint32_t nr_actions;

	/* name=expr of all assignments */
	struct hist_slice var_name[TACHO_HIST_VARS_MAX];
	struct hist_slice var_expr[TACHO_HIST_VARS_MAX];
	uint32_t nr_vars;

	struct tacho_hist_action *action[TACHO_HIST_ACTIONS_MAX];
	struct hist_params *params[TACHO_HIST_ACTIONS_MAX];
};

/* What an expression is for. */
enum hist_use {
	HIST_USE_VAL,
	HIST_USE_KEY,
	HIST_USE_VAR,
	HIST_USE_PARAM,	/* as a variable, but $name is a variable of another histogram */
	HIST_USE_OPERAND,
};

/* ---- hist_spec.c ---- */

/* Cuts *rest at the first `at`; false if *rest is used up. */
bool tacho_hist_cut(struct hist_slice *rest, char at, struct hist_slice *slice);

/* Without the white space at both ends. */
struct hist_slice tacho_hist_strip(struct hist_slice slice);

bool tacho_hist_slice_is(struct hist_slice slice, const char *text);
bool tacho_hist_slice_begins(struct hist_slice slice, const char *text);

/*
 * A number as the kernel's kstrtoull() with base 0 reads it: decimal, 0x hex, 0
 * octal, a '+' in front, a newline after.  0, -EINVAL or -ERANGE.
 */
int tacho_hist_number(struct hist_slice slice, uint64_t *value);

/*
 * A slice as a string in the arena; NULL, with the error recorded.  A name with ".sym-offset"
 * keeps its 'X', as in the kernel; output is written without it.
 */
const char *tacho_hist_keep(struct hist_parser *ps, struct hist_slice slice);
const char *tacho_hist_written(struct hist_parser *ps, struct hist_slice slice);

/* Column of a slice. */
uint32_t tacho_hist_column(const struct hist_parser *ps, struct hist_slice slice);

/* Records an error with the kernel's message, at the first occurrence of the slice's text. */
int tacho_hist_fail(struct hist_parser *ps, int err, struct hist_slice slice,
		    const char *text);

/* Records an error for which the kernel has no message, at its real place. */
int tacho_hist_refuse(struct hist_parser *ps, struct hist_slice slice,
		      const char *text);

int tacho_hist_nomem(struct hist_parser *ps);

/* ---- hist_spec_expr.c ---- */

/* Parses an expression; NULL with the error recorded. */
struct tacho_hist_expr *tacho_hist_parse_expr(struct hist_parser *ps,
					      struct hist_slice slice,
					      enum hist_use use);

/* Parses an expression without operators: operator characters are part of a name. */
struct tacho_hist_expr *tacho_hist_parse_atom(struct hist_parser *ps,
					      struct hist_slice slice,
					      enum hist_use use);

/* Cuts a.b.c in three; false when there are less than two dots. */
bool tacho_hist_qualified(struct hist_slice slice, struct hist_slice *system,
			  struct hist_slice *event, struct hist_slice *rest);

/* ---- hist_spec_action.c ---- */

/* Step 2. */
int tacho_hist_parse_actions(struct hist_parser *ps);
/* Step 5. */
int tacho_hist_check_actions(struct hist_parser *ps);

/* ---- hist_spec_text.c ---- */

/* Whether the sort key `name` means this key or value. */
bool tacho_hist_sorts_by(const struct tacho_hist_expr *expr,
			 const char *name, size_t len);

#endif
