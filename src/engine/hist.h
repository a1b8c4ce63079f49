/* SPDX-License-Identifier: MIT */
/*
 * hist.h - a histogram at work: a spec, bound to an event type and to a map.
 *
 * 1. One hit (tacho_hist_hit), in this order, as the kernel's event_hist_trigger()
 *	H1  the key is built: each key field at its place, zero padded; strings
 *	    are cut to their room; .log2 and .buckets applied; a stack trace is
 *	    its addresses, innermost first
 *	H2  variables of other histograms are looked up: that histogram's map is
 *	    searched *with this key* (as many bytes of it as that map's keys have),
 *	    in the order in which they are first named.  A variable that an expression uses is
 *	    read and unset; one that is only passed to a synthetic event is read.  If any is
 *	    missing, the hit ends here
 *	H3  the element is found or created; if there is no room, the hit is counted as dropped
 *	and ends here H4  hitcount, sums, own variables are updated, in the order of the text
 *	H5  actions: onmatch(sys.ev) when all its variables are set; onmax($v) when
 *	    v is larger than the one saved in the element; onchange($v) when it
 *	    differs.  trace(): a synthetic event is generated and passed to the host; save():
 *	    fields are stored in the element; snapshot(): the host is called.
 *
 * 2. What a key may be
 *	numbers (8 bytes each in the key), strings (their room, at most 256 bytes),
 *	stack traces (16 addresses), common_cpu, common_timestamp, and expressions of numbers,
 *	without variables of other histograms. 384 bytes in total.  An event that is too short
 *	for a used field is dropped and counted.
 *
 * 3. Values are 64-bit sums and wrap.  Timestamps are nanoseconds; one .usecs makes
 *    all timestamps of its histogram microseconds (the kernel's rule).  An own
 *    variable that an expression names stands for its text, in parentheses (the
 *    kernel takes the text's first operand only: $v with v=a+1 is a there).
 *    The quotient of a value below 2^20 and a constant that is not a power of two may be one too
 *    large, as in the kernel, which trades this for speed and folds 10/3 to 4. .log2 of a
 *    negative number is 64.
 *
 * 4. Errors point into the spec's text, with the kernel's message if it has one.
 */
#ifndef TACHO_ENGINE_HIST_H
#define TACHO_ENGINE_HIST_H

#include "base/arena.h"
#include "engine/hist_spec.h"
#include "engine/map.h"
#include "engine/rec.h"
#include "engine/synth.h"
#include "event/type.h"

#define TACHO_HIST_STACK	16	/* addresses of a stack trace key */

struct tacho_hist;

/* What a histogram needs from its instance. */
struct tacho_hist_host {
	void *arg;
	/*
	 * The histogram of event system:event that defines a variable called
	 * name (system NULL: of any event; *ambiguous is set when there are
	 * several), and its number there: its place in the spec's var[].  The histogram being
	 * created is not included.
	 */
	struct tacho_hist *(*find_var)(void *arg, const char *system,
				       const char *event, const char *name,
				       uint32_t *var, bool *ambiguous);
	/* A synthetic event by name, with its type. */
	const struct tacho_synth *(*find_synth)(void *arg, const char *name);
	/* The type of an event; NULL: there is none. */
	const struct tacho_type *(*find_type)(void *arg, const char *system,
					      const char *event);
	/*
	 * For onmatch(system.event).trace(field): adds the histogram "keys=<the same>:name=field"
	 * to the other event, and returns it as find_var() does.  NULL: not possible.
	 */
	struct tacho_hist *(*add_field_var)(void *arg, const struct tacho_hist *for_hist,
					    const char *system, const char *event,
					    const char *field, uint32_t *var);
	/* Receives a generated synthetic event.  Called from tacho_hist_hit(). */
	void (*synth)(void *arg, const struct tacho_synth *synth,
		      const struct tacho_synth_value *value,
		      const struct tacho_rec *cause);
	void (*snapshot)(void *arg, const struct tacho_rec *cause);
};

/*
 * tacho_hist_new - bind a spec to events of a type.
 *
 * spec, type and host remain the caller's and must outlive the histogram.  Memory is from the
 * arena.  Returns 0, or e->err with the kernel's texts and columns.
 */
int tacho_hist_new(struct tacho_hist **hist, struct tacho_arena *a,
		   const struct tacho_hist_spec *spec,
		   const struct tacho_type *type,
		   const struct tacho_hist_host *host,
		   const struct tacho_names *names, struct tacho_cmd_error *e);

/* Computes the geometry of the map that a histogram needs. */
void tacho_hist_geometry(const struct tacho_hist *hist,
			 struct tacho_map_geometry *g);

/* Sets the histogram's map, before the first hit.  Returns 0, or -EINVAL: another geometry. */
int tacho_hist_bind(struct tacho_hist *hist, void *mem, size_t size);

/*
 * Declares that no other process has the map, and that one thread at a time uses the histograms
 * on this map, so that hits need not be atomic.  Call it after tacho_hist_bind().
 */
void tacho_hist_alone(struct tacho_hist *hist);

/* Counts one event.  Context: any in which the (*) calls of names and the host's calls may run. */
void tacho_hist_hit(struct tacho_hist *hist, const struct tacho_rec *rec);

/*
 * Whether a hit needs only the event's bytes and has no other effects: one number as key and
 * sums, each read directly from the event.
 */
bool tacho_hist_is_plain(const struct tacho_hist *hist);

/* tacho_hist_hit() for such a histogram. raw: len bytes.  Any context. */
void tacho_hist_count(struct tacho_hist *hist, const unsigned char *raw,
		      uint32_t len);

/* pause, continue, clear. */
void tacho_hist_pause(struct tacho_hist *hist, bool paused);
bool tacho_hist_paused(const struct tacho_hist *hist);
void tacho_hist_clear(struct tacho_hist *hist);

/* Whether a hit uses rec->stack: common_stacktrace is a key, a variable, ... */
bool tacho_hist_uses_stack(const struct tacho_hist *hist);

/*
 * Whether both are "the same histogram": keys, values, variables, sort, name and
 * actions.  Filter, size and pause are not compared.
 */
bool tacho_hist_same(const struct tacho_hist_spec *a,
		     const struct tacho_hist_spec *b);

/*
 * Whether two may share one map by name: keys and values of equal types, equal
 * variables.
 */
bool tacho_hist_compatible(const struct tacho_hist *a,
			   const struct tacho_hist *b);

/*
 * Whether the variables of one can be looked up with the keys of the other: the same number of
 * keys, of equal types. a may be incomplete (add_field_var).
 */
bool tacho_hist_same_keys(const struct tacho_hist *a, const struct tacho_hist *b);

/* The histograms whose variables this one uses; NULL after the last. */
const struct tacho_hist *tacho_hist_reference(const struct tacho_hist *hist,
					      uint32_t i);

const struct tacho_hist_spec *tacho_hist_spec_of(const struct tacho_hist *hist);
const struct tacho_type *tacho_hist_type_of(const struct tacho_hist *hist);
const struct tacho_map *tacho_hist_map(const struct tacho_hist *hist);

/* ---- keys, values and saved fields, for hist_print.c ---- */

enum tacho_hist_shape {
	TACHO_SHAPE_NUMBER,	/* 8 bytes */
	TACHO_SHAPE_STRING,	/* size bytes, NUL padded */
	TACHO_SHAPE_STACK,	/* size / 8 addresses, 0 after the last */
};

struct tacho_hist_column {
	const struct tacho_hist_expr *expr;	/* NULL: hitcount */
	enum tacho_hist_shape shape;
	uint32_t offset;	/* keys: in the key; values: number of the sum; saved
				   fields: number of the variable or text */
	uint32_t size;
	bool is_signed;
	uint8_t order_size;	/* keys: bytes of the number that are compared for the order */
	uint32_t comm;		/* keys with .execname: number of the text that has the
				   thread's name at its first hit; else UINT32_MAX */
	const char *name;	/* as printed before the value */
};

uint32_t tacho_hist_nr_keys(const struct tacho_hist *hist);
const struct tacho_hist_column *tacho_hist_key(const struct tacho_hist *hist,
					       uint32_t i);
uint32_t tacho_hist_nr_vals(const struct tacho_hist *hist);	/* without hitcount */
const struct tacho_hist_column *tacho_hist_val(const struct tacho_hist *hist,
					       uint32_t i);

/* Sort keys: number of the value (0 is hitcount, i + 1 value i) or of the key. */
struct tacho_hist_order {
	bool is_key;
	bool descending;
	uint32_t index;
};
uint32_t tacho_hist_nr_orders(const struct tacho_hist *hist);
struct tacho_hist_order tacho_hist_order(const struct tacho_hist *hist, uint32_t i);

/*
 * What onmax and onchange keep: the variable's number, then saved fields.  As in the kernel's
 * output, all but those with a snapshot() have the fields of save().
 */
struct tacho_hist_saved {
	const struct tacho_hist_action *action;
	uint32_t var;				/* the kept value */
	uint32_t nr;
	const struct tacho_hist_column *field;
	/* the instance's snapshot state: the key of the last snapshot, for "Snapshot taken" */
	const uint64_t *snapshot_value;
	const void *snapshot_key;		/* NULL: none taken */
	const char *snapshot_comm;		/* for a key with .execname */
};
uint32_t tacho_hist_nr_saved(const struct tacho_hist *hist);
struct tacho_hist_saved tacho_hist_saved(const struct tacho_hist *hist, uint32_t i);

#endif
