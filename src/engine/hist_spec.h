/* SPDX-License-Identifier: MIT */
/*
 * hist_spec.h - the text of a histogram trigger, as a tree.
 *
 *	hist:keys=<expr[.mod][,...]>[:values=<expr[.mod][,...]>]
 *	  [:<var>=<expr>[,...]] [:sort=<key or value>[.descending][,...]]
 *	  [:size=#entries][:pause][:continue][:clear][:nohitcount]
 *	  [:name=<name>][:<handler>.<action>] [if <filter>]
 *
 *	handler	:= onmatch(system.event) | onmax($var) | onchange($var)
 *	action	:= <synth>(param, ...) | trace(<synth>, param, ...)
 *		 | save(field, ...) | snapshot()
 *
 * from Documentation/trace/histogram.rst.  `vals` and `val`, `key`, `cont` are short
 * forms that the kernel takes too.  Clauses come in any order and more than
 * once; `if` is last.  What is checked here is what can be checked without
 * an event's type; the rest is hist.h's.
 *
 * The tree is printed back by tacho_hist_spec_print() as the kernel prints it in a
 * `trigger` file, which parses to an equal tree.
 *
 * Every node has the column of its text, so that errors found later point at it.
 */
#ifndef TACHO_ENGINE_HIST_SPEC_H
#define TACHO_ENGINE_HIST_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/errlog.h"

/* As the kernel's tracing_map. */
#define TACHO_HIST_KEYS_MAX	3
#define TACHO_HIST_VALS_MAX	3	/* besides hitcount */
#define TACHO_HIST_VARS_MAX	16
#define TACHO_HIST_SORTS_MAX	2	/* sort keys */
#define TACHO_HIST_ACTIONS_MAX	8
#define TACHO_HIST_PARAMS_MAX	64	/* of one action, as synthetic fields */
#define TACHO_HIST_EXPR_DEPTH	3	/* operators of one expression, as the kernel's */
#define TACHO_HIST_SIZE_DEFAULT	2048	/* entries */
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
	bool ascending;		/* said so */
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
	const char *system, *event;	/* onmatch */
	const char *var;		/* onmax, onchange: without the '$' */
	const char *synth;
	bool use_trace_keyword;		/* trace(synth, ..) and not synth(..) */
	uint32_t nr_params;
	const struct tacho_hist_expr *param[TACHO_HIST_PARAMS_MAX];	/* FIELD or VAR */
};

struct tacho_hist_spec {
	uint32_t nr_keys, nr_vals, nr_vars, nr_sorts, nr_actions;
	const struct tacho_hist_expr *key[TACHO_HIST_KEYS_MAX];
	const struct tacho_hist_expr *val[TACHO_HIST_VALS_MAX + 1];
	struct tacho_hist_var var[TACHO_HIST_VARS_MAX];
	struct tacho_hist_sort sort[TACHO_HIST_SORTS_MAX];
	const struct tacho_hist_action *action[TACHO_HIST_ACTIONS_MAX];
	uint32_t size;		/* entries, a power of two; 0: not said */
	bool pause, cont, clear, nohitcount;
	const char *name;	/* name= or NULL */
	const char *filter;	/* behind "if", or NULL */
	uint32_t filter_column;
	const char *text;	/* the whole command */
};

/*
 * tacho_hist_spec_parse - text begins with "hist:" or with what follows it.
 *
 * base is added to all columns.  Returns 0, or what e says: the kernel's own text and
 * column where the kernel has one for it.  The tree and all names are the arena's.
 */
int tacho_hist_spec_parse(struct tacho_hist_spec *spec, struct tacho_arena *a,
			  const char *text, uint32_t base,
			  struct tacho_cmd_error *e);

/*
 * Appends the trigger's text as the kernel prints it, "hist:keys=..." to
 * " [active]" or " [paused]", without a newline.
 */
void tacho_hist_spec_print(const struct tacho_hist_spec *spec, bool paused,
			   struct tacho_buf *out);

/* Appends one expression as the kernel prints it: "pid.execname", "ts-$ts0". */
void tacho_hist_expr_print(const struct tacho_hist_expr *expr,
			   struct tacho_buf *out);

#endif
