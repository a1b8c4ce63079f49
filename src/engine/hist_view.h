/* SPDX-License-Identifier: MIT */
/*
 * hist_view.h - a copy of a histogram's entries in its order, for the files that
 * print histograms only.
 *
 * The copy is made first and read afterwards, so that a map that is being
 * written prints in one piece.  It is of an element's words one by one: see
 * map.h, 4.
 */
#ifndef TACHO_ENGINE_HIST_VIEW_H
#define TACHO_ENGINE_HIST_VIEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/hist.h"
#include "engine/names.h"

struct hist_view {
	const struct tacho_hist *hist;
	const struct tacho_names *names;
	const struct tacho_map *map;	/* of places only; its elements are not looked at */
	struct tacho_arena arena;
	uint32_t nr;
	struct tacho_map_elt **entry;	/* copies, sorted */
	uint64_t hits;
	uint64_t drops;
	struct {
		uint64_t max, total;
	} val[TACHO_HIST_VALS_MAX + 1];	/* of all entries */
	uint64_t hitcount_max;
};

/* Takes the copy.  0 or -ENOMEM; to be released either way. */
int hist_view_take(struct hist_view *v, const struct tacho_hist *hist,
		   const struct tacho_names *names);
void hist_view_release(struct hist_view *v);

/* A number of a key, wherever the key is. */
static inline uint64_t hist_view_word(const void *key,
				      const struct tacho_hist_column *c)
{
	return *(const uint64_t *)(const void *)
		((const unsigned char *)key + c->offset);
}

/* A string of a key.  It ends with NUL within c->size. */
static inline const char *hist_view_string(const void *key,
					   const struct tacho_hist_column *c)
{
	return (const char *)key + c->offset;
}

static inline const uint64_t *hist_view_stack(const void *key,
					      const struct tacho_hist_column *c)
{
	return (const uint64_t *)(const void *)
		((const unsigned char *)key + c->offset);
}

/* The sum of a value, or the hitcount. */
uint64_t hist_view_val(const struct hist_view *v, struct tacho_map_elt *e,
		       const struct tacho_hist_column *c);

static inline uint32_t hist_view_mods(const struct tacho_hist_column *c)
{
	return c->expr ? c->expr->mods : 0;
}

/* Less than 0, 0 or more: the order of one key of two.  Stacks have none. */
int hist_view_compare_key(const void *a, const void *b,
			  const struct tacho_hist_column *c);

/* The function that addr lies in; false: not known. */
bool hist_view_symbol(const struct hist_view *v, uint64_t addr,
		      struct tacho_symbol *sym);

/* "name" or "name+0x10/0x20", " [module]"; "0x1234" when it is not known. */
void hist_view_put_symbol(const struct hist_view *v, uint64_t addr, bool offset,
			  struct tacho_buf *out);

/* The name of a thread that a key with .execname has. */
const char *hist_view_comm(const struct hist_view *v, struct tacho_map_elt *e,
			   const struct tacho_hist_column *c);

/* The name of a system call without "sys_", or NULL. */
const char *hist_view_syscall(const struct hist_view *v, uint64_t nr);

/*
 * What a bucket holds: from *low to *high.  A number that is in none is both.
 * .log2 puts into bucket n what is above 2^(n-1), up to 2^n.
 */
void hist_view_range(const struct tacho_hist_column *c, uint64_t word,
		     uint64_t *low, uint64_t *high);

static inline void hist_view_put_number(uint64_t n, bool is_signed,
					struct tacho_buf *out)
{
	if (is_signed)
		tacho_buf_put_s64(out, (int64_t)n);
	else
		tacho_buf_put_u64(out, n);
}

/* One key of an entry as people read it: a name, a function, a range "1..2". */
void hist_view_put_key(const struct hist_view *v, struct tacho_map_elt *e,
		       const struct tacho_hist_column *c, struct tacho_buf *out);

/* Columns of a text on a terminal: a character is one, wide ones included. */
uint32_t hist_view_columns(const struct tacho_buf *text, bool ascii);

/*
 * A text, cut or padded to `width` columns.  What must not go to a terminal
 * (and, with ascii, what is not ASCII) is a '?'.
 */
void hist_view_put_cell(const struct tacho_buf *text, uint32_t width, bool ascii,
			struct tacho_buf *out);

/* Hundredths of a percent; UINT32_MAX: of nothing. */
uint32_t hist_view_share(uint64_t val, uint64_t total);

#endif
