/* SPDX-License-Identifier: MIT */
/*
 * hist_priv.h - the parts of a histogram at work, for src/engine/hist*.c only.
 *
 * Every key, sum, variable, parameter and saved field is a struct hist_value: a number, which is
 * a small postfix program, or a text, or a stack.  Binding creates them from the spec's trees; a
 * hit only runs them.
 *
 *	hist.c		binding in the kernel's order; a hit; accessors
 *	hist_expr.c	trees to programs; programs to numbers
 *	hist_key.c	texts and stacks of an event; the key
 *	hist_action.c	onmatch, onmax, onchange
 *	hist_debug.c	the definition of a histogram, as text
 *	hist_same.c	which histograms are the same, which are compatible
 */
#ifndef TACHO_ENGINE_HIST_PRIV_H
#define TACHO_ENGINE_HIST_PRIV_H

#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/hist.h"

#define HIST_NONE	UINT32_MAX
#define HIST_OPS_MAX	64	/* of one program */
#define HIST_REFS_MAX	16	/* variables of others, as the kernel's */
#define HIST_VARS_MAX	16	/* variables of all kinds, as the kernel's */
#define HIST_STRING	256	/* room of a string without a given length, as the kernel's */

/* The kernel divides by a constant with a multiplication and a shift by this. */
#define HIST_DIV_SHIFT	20

/* Operations of a program.  The loads are first: hist_number() executes a single load itself. */
enum hist_code {
	HIST_U8,		/* at byte arg of the raw event */
	HIST_S8,
	HIST_U16,
	HIST_S16,
	HIST_U32,
	HIST_S32,
	HIST_U64,
	HIST_CONST,		/* value */
	HIST_TIME,
	HIST_CPU,
	HIST_REF,		/* reference number arg, as resolved for this hit */
	HIST_ADD,		/* the last two on the stack become one */
	HIST_SUB,
	HIST_MUL,
	HIST_DIV,
	HIST_DIV_ROUND,		/* the last one by the constant value */
	HIST_NEG,
	HIST_LOG2,
	HIST_BUCKETS,		/* of width value */
};

struct hist_op {
	enum hist_code code;
	uint32_t arg;
	uint64_t value;
};

enum hist_flag {
	HIST_IS_CONST = 1,
	HIST_IS_TIME = 2,
	HIST_IS_USECS = 4,
	HIST_IS_STRING = 8,
	HIST_IS_STACK = 16,
	HIST_IS_COMM = 32,	/* a string: the thread's name */
	HIST_IS_REF = 64,	/* only a reference, number ref */
};

struct hist_value {
	struct hist_op first;	/* the program's first step, for speed */
	uint32_t nr_ops;	/* 0: no number */
	uint32_t flags;		/* enum hist_flag */
	const struct hist_op *op;
	const struct tacho_field *field;	/* of a string or stack; or NULL */
	uint32_t ref;
	uint32_t size;		/* as the kernel counts it, for its checks */
	bool is_signed;
	const char *type;	/* "u64", "char[16]": as the kernel's, likewise */
	const char *name;	/* as printed before it */
	uint64_t constant;
};

struct hist_key {
	struct hist_value value;
	struct tacho_hist_column column;
};

struct hist_var {
	struct hist_value value;
	uint32_t text;		/* of a string or stack: its text's number */
};

/* A variable of another histogram. */
struct hist_ref {
	struct tacho_hist *hist;
	uint32_t var;
	bool once;		/* read and unset */
};

struct hist_act {
	const struct tacho_hist_action *spec;
	const struct hist_value *watched;	/* onmax, onchange */
	uint32_t track;				/* number of the kept value */
	const struct tacho_synth *synth;
	struct hist_value *param;
};

struct tacho_hist {
	/* what a simple hit uses */
	struct tacho_map map;
	uint32_t min_len;	/* shorter events lack a field */
	bool simple;		/* one number as key, and only sums */
	bool plain;		/* simple, and all values are single loads */
	bool usecs;		/* all timestamps are microseconds */
	bool uses_stack;	/* a hit uses rec->stack */
	uint32_t nr_vals;
	struct hist_key key[TACHO_HIST_KEYS_MAX];
	struct hist_value val[TACHO_HIST_VALS_MAX + 1];

	const struct tacho_hist_spec *spec;
	const struct tacho_type *type;
	const struct tacho_hist_host *host;
	struct tacho_map_geometry g;
	struct tacho_hist_column val_column[TACHO_HIST_VALS_MAX + 1];
	uint32_t nr_keys;
	uint32_t nr_vars;	/* of the spec; the map's first ones */
	struct hist_var var[TACHO_HIST_VARS_MAX];
	uint32_t nr_refs;
	struct hist_ref ref[HIST_REFS_MAX];
	uint32_t nr_orders;
	struct tacho_hist_order order[TACHO_HIST_SORTS_MAX];
	uint32_t comm;		/* text with the thread's name, or HIST_NONE */

	uint32_t nr_acts;
	struct hist_act act[TACHO_HIST_ACTIONS_MAX];
	uint32_t nr_saves;
	struct hist_value *save;
	struct tacho_hist_column *save_column;

	bool has_snapshot, snapshot_taken;
	uint64_t snapshot_value;
	uint64_t *snapshot_key;
	char snapshot_comm[16];
};

/* The state of one hit. */
struct hist_frame {
	const struct tacho_hist *hist;
	const struct tacho_rec *rec;
	uint64_t ref[HIST_REFS_MAX];
	const char *ref_text[HIST_REFS_MAX];	/* of string and stack variables */
	bool comm_known;
	char comm[16];
};

/* The state of binding. */
struct hist_binder {
	struct tacho_hist *h;
	struct tacho_arena *arena;
	struct tacho_cmd_error *e;
	uint32_t nr_ops;
	struct hist_op op[HIST_OPS_MAX];
};

/* ---- hist_expr.c ---- */

/*
 * Records an error at the place of text `where` in the command, or at its start
 * (NULL), as the kernel does.  Returns err.
 */
int hist_fail(struct hist_binder *b, int err, const char *where,
	      const char *text);

/*
 * Makes a value from a tree. limit: own variables with a lower number may be used with any
 * definition.  Returns 0, or b->e->err.
 */
int hist_bind_expr(struct hist_binder *b, const struct tacho_hist_expr *x,
		   uint32_t limit, struct hist_value *v);

/* The hitcount that every histogram has, among the values. */
static inline bool hist_is_hitcount(const struct tacho_hist_expr *x)
{
	return x->op == TACHO_EXPR_FIELD && !x->mods &&
	       !strcmp(x->name, "hitcount");
}

/* Number of a variable of this histogram, or HIST_NONE. */
uint32_t hist_own_var(const struct tacho_hist *h, const char *name);

/* Whether system.event (NULL: not given) is the histogram's own event. */
bool hist_own_event(const struct tacho_hist *h, const char *system,
		    const char *event);

/* Refers to a variable of another histogram. */
int hist_bind_ref(struct hist_binder *b, const struct tacho_hist_expr *x,
		  struct tacho_hist *of, uint32_t var, struct hist_value *v);

/* Finishes a value that hist_bind_ref() began. */
int hist_finish(struct hist_binder *b, const struct tacho_hist_expr *x,
		struct hist_value *v);

/*
 * Finds $name as the kernel does: in onmatch's events, then in all.  NULL: b->e has the message
 * `text`, at the name.
 */
struct tacho_hist *hist_find_var(struct hist_binder *b,
				 const struct tacho_hist_expr *x,
				 const char *text, uint32_t *var);

/* Runs a program. */
uint64_t hist_run(const struct hist_value *v, const struct hist_frame *f);

static TACHO_ALWAYS_INLINE uint64_t hist_load(const struct hist_op *op,
					      const unsigned char *raw)
{
	const unsigned char *p = raw + op->arg;

	switch ((unsigned int)op->code) {
	case HIST_U64:
		return tacho_load_u64(p);
	case HIST_U32:
		return tacho_load_u32(p);
	case HIST_S32:
		return (uint64_t)(int32_t)tacho_load_u32(p);
	case HIST_U16:
		return tacho_load_u16(p);
	case HIST_S16:
		return (uint64_t)(int16_t)tacho_load_u16(p);
	case HIST_S8:
		return (uint64_t)(int8_t)*p;
	default:
		return *p;
	}
}

/* Whether a value is a single load from the event. */
static TACHO_ALWAYS_INLINE bool hist_is_load(const struct hist_value *v)
{
	return v->nr_ops == 1 && v->first.code <= HIST_U64;
}

/* Evaluates a number.  The event has at least min_len bytes. */
static TACHO_ALWAYS_INLINE uint64_t hist_number(const struct hist_value *v,
						const struct hist_frame *f)
{
	if (tacho_likely(hist_is_load(v)))
		return hist_load(&v->first, f->rec->raw);
	return hist_run(v, f);
}

/* ---- hist_key.c ---- */

/* A string's bytes, not NUL-terminated, borrowed for this hit. */
const char *hist_string(const struct hist_value *v, struct hist_frame *f,
			uint32_t *len);

/* A stack's addresses, at any alignment; *nr of them, at most TACHO_HIST_STACK. */
const void *hist_stack(const struct hist_value *v, struct hist_frame *f,
		       uint32_t *nr);

/* Name of the hit's thread. */
const char *hist_comm(struct hist_frame *f);

/* Copies a string or stack into a text of an element. */
void hist_keep_text(const struct hist_value *v, struct hist_frame *f, char *to);
void hist_keep_string(char *to, const char *s, uint32_t len, uint32_t room);

/* Builds the whole key, padded with zeroes. */
void hist_build_key(const struct tacho_hist *h, struct hist_frame *f,
		    uint64_t *key);

int hist_bind_keys(struct hist_binder *b);

/* ---- hist_action.c ---- */

/* Checks what does not depend on fields: whether onmatch's events exist. */
int hist_check_actions(struct hist_binder *b);
int hist_bind_actions(struct hist_binder *b);
void hist_act(struct tacho_hist *h, struct hist_frame *f,
	      struct tacho_map_elt *e, const uint64_t *key);

#endif
