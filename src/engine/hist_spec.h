/* SPDX-License-Identifier: MIT */
/*
 * hist_spec.h - the text of a histogram trigger, as a tree.
 *
 *	hist:keys=<expr[.mod][,...]>[:values=<expr[.mod][,...]>]
 *	  [:<var>=<expr>[,...]] [:sort=<key or value>[.descending][,...]]
 *	  [:size=#entries][:pause][:continue][:clear][:nohitcount]
 *	  [:name=<name>][:clock=<clock>][:<handler>.<action>] [if <filter>]
 *
 *	handler	:= onmatch(system.event) | onmax($var) | onchange($var)
 *	action	:= <synth>(param, ...) | trace(<synth>, param, ...)
 *		 | save(field, ...) | snapshot()
 *
 * from Documentation/trace/histogram.rst.  `vals` and `val`, `key`, `cont`, `NOHC`
 * are short forms that the kernel takes too.  Clauses come in any order; of two equal clauses the
 * last one is used, but variables and actions accumulate; `if` is last.
 *
 * The parser checks what can be checked without an event's type, with the kernel's messages and
 * in the kernel's order (6.12; tests/golden/hist_spec); hist.h checks the rest.  Where the kernel
 * fails without a message, the message is our own.
 *
 * Like the kernel, the parser replaces $v by its field if v is a plain field of this histogram,
 * and an operation on two constants by its result.
 *
 * The tree is printed back by tacho_hist_spec_print() as the kernel shows it in a
 * `trigger` file, and by tacho_hist_spec_command() as a command that parses to an
 * equal tree.  They differ because the kernel cannot parse everything that it shows.
 *
 * Every node has the column of its text, so that errors found later point at it.
 * The kernel's own errors point at the first occurrence of the wrong text, even if another
 * occurrence is wrong: tacho_hist_spec_place().
 */
#ifndef TACHO_ENGINE_HIST_SPEC_H
#define TACHO_ENGINE_HIST_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/errlog.h"
#include "event/type.h"

/* As the kernel's tracing_map. */
#define TACHO_HIST_KEYS_MAX	3
#define TACHO_HIST_VALS_MAX	2	/* besides hitcount, which is always there */
#define TACHO_HIST_VARS_MAX	16
#define TACHO_HIST_SORTS_MAX	2	/* sort keys */
#define TACHO_HIST_ACTIONS_MAX	8
#define TACHO_HIST_PARAMS_MAX	64	/* of one action, as synthetic fields */
#define TACHO_HIST_EXPR_DEPTH	3	/* operators of one expression, as the kernel's */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION	/* libFuzzer's: small is fast */
#define TACHO_HIST_SIZE_DEFAULT	128
#else
#define TACHO_HIST_SIZE_DEFAULT	2048	/* entries */
#endif
#define TACHO_HIST_SIZE_MIN	128
#define TACHO_HIST_SIZE_MAX	131072

enum tacho_hist_mod {
	TACHO_MOD_HEX = 1 << 0,
	TACHO_MOD_SYM = 1 << 1,
	TACHO_MOD_SYM_OFFSET = 1 << 2,
	TACHO_MOD_EXECNAME = 1 << 3,
	TACHO_MOD_SYSCALL = 1 << 4,
	TACHO_MOD_STACKTRACE = 1 << 5,
	TACHO_MOD_LOG2 = 1 << 6,
	TACHO_MOD_BUCKETS = 1 << 7,	/* expr.buckets: the width */
	TACHO_MOD_USECS = 1 << 8,
	TACHO_MOD_PERCENT = 1 << 9,
	TACHO_MOD_GRAPH = 1 << 10,
};

enum tacho_hist_op {
	TACHO_EXPR_FIELD,	/* name; also common_timestamp, common_cpu, hitcount, stacktrace */
	TACHO_EXPR_VAR,		/* $name, system.event.$name */
	TACHO_EXPR_CONST,	/* value */
	TACHO_EXPR_MINUS,	/* -left */
	TACHO_EXPR_ADD,
	TACHO_EXPR_SUB,
	TACHO_EXPR_MUL,
	TACHO_EXPR_DIV,
};

struct tacho_hist_expr {
	enum tacho_hist_op op;
	uint32_t mods;		/* enum tacho_hist_mod */
	uint32_t column;	/* of its text in the command */
	uint64_t buckets;
	uint64_t value;
	const char *name;
	const char *system;	/* of a variable reference, or NULL: this event's */
	const char *event;
	const struct tacho_hist_expr *left, *right;
	const char *text;	/* as written, modifiers included */
};

struct tacho_hist_var {
	const char *name;
	uint32_t column;
	const struct tacho_hist_expr *expr;
};

struct tacho_hist_sort {
	const char *name;	/* "hitcount", a key or value as written without modifier */
	uint32_t column;
	bool descending;
	bool ascending;		/* given explicitly */
	const char *text;	/* the name as written */
};

enum tacho_hist_handler {
	TACHO_ON_MATCH,
	TACHO_ON_MAX,
	TACHO_ON_CHANGE,
};

enum tacho_hist_do {
	TACHO_DO_TRACE,		/* synth: name of the event */
	TACHO_DO_SAVE,
	TACHO_DO_SNAPSHOT,
};

struct tacho_hist_action {
	enum tacho_hist_handler handler;
	enum tacho_hist_do action;
	uint32_t column;
	uint32_t action_column;
	const char *name;	/* before '(': "trace", the synthetic event, ... */
	const char *system, *event;	/* onmatch */
	const char *var;		/* onmax, onchange: without the '$' */
	const char *synth;
	bool use_trace_keyword;		/* trace(synth, ..) and not synth(..) */
	uint32_t nr_params;
	const struct tacho_hist_expr *param[TACHO_HIST_PARAMS_MAX];	/* FIELD, VAR, CONST */
};

struct tacho_hist_spec {
	uint32_t nr_keys, nr_vals, nr_vars, nr_sorts, nr_actions;
	const struct tacho_hist_expr *key[TACHO_HIST_KEYS_MAX];
	const struct tacho_hist_expr *val[TACHO_HIST_VALS_MAX + 1];
	struct tacho_hist_var var[TACHO_HIST_VARS_MAX];
	struct tacho_hist_sort sort[TACHO_HIST_SORTS_MAX];
	const struct tacho_hist_action *action[TACHO_HIST_ACTIONS_MAX];
	uint32_t size;		/* entries, a power of two; 0: not given */
	bool pause, cont, clear, nohitcount;
	const char *name;	/* name= or NULL */
	const char *clock;	/* clock= or NULL: "global" */
	const char *filter;	/* after "if", or NULL */
	uint32_t filter_column;
	/*
	 * The whole command as the kernel's error log shows it: "hist:keys=...",
	 * without '!' and white space in front.  Set when parsing failed, too.
	 */
	const char *text;
	uint32_t base;		/* added to all columns */
};

/*
 * tacho_hist_spec_parse - parse a text with or without its leading "hist:".
 *
 * Columns count from the 'h' of "hist:", in spec->text; base is added to them.  Returns 0, or
 * e->err, with the kernel's errno, text and column where it has them:
 *	-EINVAL	the text
 *	-ERANGE	a size that does not fit in 64 bits
 *	-EDOM	division by zero
 *	-ENOENT	`nohitcount` without another value
 *	-EEXIST	a second save()
 *	-ENOMEM
 * The tree and all names are in the arena.
 */
int tacho_hist_spec_parse(struct tacho_hist_spec *spec, struct tacho_arena *a,
			  const char *text, uint32_t base,
			  struct tacho_cmd_error *e);

/*
 * tacho_hist_spec_bind_type - resolve names by the event's type.
 *
 * Changes the tree so that it is shown as the kernel does for this event.  When the event
 * has no such field, `stacktrace` is common_stacktrace, and `cpu` and `CPU` are
 * common_cpu (operands stay as written, as in the kernel; hist.h accepts them too). A field that
 * is a stack trace has .stacktrace; system.event.$v with the event's own names is $v.  Call it
 * between tacho_hist_spec_parse() and tacho_hist_new(), with the same arena.  Returns 0, or
 * e->err: -EINVAL for a value that is a stack trace, -ENOMEM.
 */
int tacho_hist_spec_bind_type(struct tacho_hist_spec *spec,
			      struct tacho_arena *a,
			      const struct tacho_type *type,
			      struct tacho_cmd_error *e);

/*
 * The column at which the kernel would point for this text: its first occurrence in spec->text,
 * or base.
 */
uint32_t tacho_hist_spec_place(const struct tacho_hist_spec *spec,
			       const char *text);

/* The key or value that a sort key means; NULL: hitcount. */
const struct tacho_hist_expr *
tacho_hist_sort_target(const struct tacho_hist_spec *spec,
		       const struct tacho_hist_sort *sort);

/* Whether timestamps are used: the kernel then sets the clock, and prints it. */
bool tacho_hist_uses_time(const struct tacho_hist_spec *spec);

/*
 * Appends the trigger's text as the kernel shows it, "hist:keys=..." to
 * " [active]" or " [paused]", without a newline.  Omits what only other histograms know: the
 * kernel shows $v.usecs if the v of another histogram is in microseconds.
 */
void tacho_hist_spec_print(const struct tacho_hist_spec *spec, bool paused,
			   struct tacho_buf *out);

/* Appends a command that parses to an equal tree. */
void tacho_hist_spec_command(const struct tacho_hist_spec *spec,
			     struct tacho_buf *out);

/* Appends one expression as the kernel prints it: "pid.execname", "ts-$ts0". */
void tacho_hist_expr_print(const struct tacho_hist_expr *expr,
			   struct tacho_buf *out);

#endif
