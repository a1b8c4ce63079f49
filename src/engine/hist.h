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
 *	    in the order in which they are first named.  One that an
 *	    expression uses is read and unset, one that is only handed to a
 *	    synthetic event is read.  If any is missing, the hit ends here
 *	H3  the element is found or made; no room: dropped, and that is all
 *	H4  hitcount, sums, own variables are updated, in the order of the text
 *	H5  actions: onmatch(sys.ev) when all its variables are set; onmax($v) when
 *	    v is larger than the one saved in the element; onchange($v) when it
 *	    differs.  trace(): a synthetic event is made and handed to the host;
 *	    save(): fields into the element; snapshot(): asked of the host.
 *
 * 2. What a key may be
 *	numbers (8 bytes each in the key), strings (their room, at most 256 bytes),
 *	stack traces (16 addresses), common_cpu, common_timestamp, and expressions of
 *	numbers; no variables of others.  384 bytes in all.  An event that
 *	is too short for a field that is used is dropped, and counted.
 *
 * 3. Values are 64-bit sums and wrap.  Timestamps are nanoseconds; one .usecs makes
 *    all timestamps of its histogram microseconds (the kernel's rule).  An own
 *    variable that an expression names stands for its text, in parentheses (the
 *    kernel takes the text's first operand only: $v with v=a+1 is a there).
 *    The quotient of a value below 2^20 and a constant that is no power of two may
 *    be one too large: so is the kernel's, for speed, and it folds 10/3 to 4.
 *    .log2 of a negative number is 64.
 *
 * 4. Errors point into the spec's text.  The kernel's texts where it has one.
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

/* What a histogram asks of the instance it lives in. */
struct tacho_hist_host {
	void *arg;
	/*
	 * The histogram of event system:event that defines a variable called
	 * name (system NULL: of any event; *ambiguous is set when there are
	 * several), and its number there: its place in the spec's var[].  The
	 * histogram that is being made is not among them yet.
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
	 * A histogram on another event gets a variable for one of its fields,
	 * for onmatch(system.event).trace(field): adds "keys=<the same>:name=field"
	 * there, and finds it.  As find_var().  NULL: not possible here.
	 */
	struct tacho_hist *(*add_field_var)(void *arg, const struct tacho_hist *for_hist,
					    const char *system, const char *event,
					    const char *field, uint32_t *var);
	/* A synthetic event was made.  Called from tacho_hist_hit(). */
	void (*synth)(void *arg, const struct tacho_synth *synth,
		      const struct tacho_synth_value *value,
		      const struct tacho_rec *cause);
	void (*snapshot)(void *arg, const struct tacho_rec *cause);
};

/*
 * tacho_hist_new - bind a spec to events of a type.
 *
 * spec, type and host stay the caller's and live as long as the histogram.  Memory is
 * the arena's.  Returns 0, or what e says: the kernel's texts and columns.
 */
int tacho_hist_new(struct tacho_hist **hist, struct tacho_arena *a,
		   const struct tacho_hist_spec *spec,
		   const struct tacho_type *type,
		   const struct tacho_hist_host *host,
		   const struct tacho_names *names, struct tacho_cmd_error *e);

/* The map that it needs. */
void tacho_hist_geometry(const struct tacho_hist *hist,
			 struct tacho_map_geometry *g);

/* Gives it its map; before the first hit.  0, or -EINVAL: not of its geometry. */
int tacho_hist_bind(struct tacho_hist *hist, void *mem, size_t size);

/*
 * Says that nobody else has the map, so that hits need not be atomic: one thread at a
 * time uses the histogram, and those with the same map.  After tacho_hist_bind().
 */
void tacho_hist_alone(struct tacho_hist *hist);

/* One event.  Any context that names' (*) calls and the host's calls are for. */
void tacho_hist_hit(struct tacho_hist *hist, const struct tacho_rec *rec);

/*
 * Whether a hit needs the event's bytes and nothing else of a record, and
 * causes nothing else: one number as key and sums, each as it is in the event.
 */
bool tacho_hist_is_plain(const struct tacho_hist *hist);

/* tacho_hist_hit() for one that is.  raw: len bytes.  Any context. */
void tacho_hist_count(struct tacho_hist *hist, const unsigned char *raw,
		      uint32_t len);

/* pause, continue, clear. */
void tacho_hist_pause(struct tacho_hist *hist, bool paused);
bool tacho_hist_paused(const struct tacho_hist *hist);
void tacho_hist_clear(struct tacho_hist *hist);

/* Whether a hit looks at rec->stack: common_stacktrace is a key, a variable, ... */
bool tacho_hist_uses_stack(const struct tacho_hist *hist);

/*
 * Whether both are "the same histogram": keys, values, variables, sort, name and
 * actions.  Filter, size and pause do not take part.
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
 * Whether one's variables may be looked up with the other's keys: as many keys, of
 * equal types.  a may be one that is being made (add_field_var).
 */
bool tacho_hist_same_keys(const struct tacho_hist *a, const struct tacho_hist *b);

/* The histograms whose variables this one takes; NULL behind the last. */
const struct tacho_hist *tacho_hist_reference(const struct tacho_hist *hist,
					      uint32_t i);

const struct tacho_hist_spec *tacho_hist_spec_of(const struct tacho_hist *hist);
const struct tacho_type *tacho_hist_type_of(const struct tacho_hist *hist);
const struct tacho_map *tacho_hist_map(const struct tacho_hist *hist);

/* ---- what hist_print.c needs to know of keys, values and saved fields ---- */

enum tacho_hist_shape {
	TACHO_SHAPE_NUMBER,	/* 8 bytes */
	TACHO_SHAPE_STRING,	/* size bytes, NUL padded */
	TACHO_SHAPE_STACK,	/* size / 8 addresses, 0 behind the last */
};

struct tacho_hist_column {
	const struct tacho_hist_expr *expr;	/* NULL: hitcount */
	enum tacho_hist_shape shape;
	uint32_t offset;	/* keys: in the key; values: number of the sum; saved
				   fields: number of the variable or text */
	uint32_t size;
	bool is_signed;
	uint8_t order_size;	/* keys: bytes of the number that its order looks at */
	uint32_t comm;		/* keys with .execname: number of the text that has the
				   thread's name at its first hit; else UINT32_MAX */
	const char *name;	/* as printed in front of the value */
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
 * What onmax and onchange keep: the variable's number, then saved fields.  As the
 * kernel prints them, all but those with a snapshot() have the fields of save().
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
