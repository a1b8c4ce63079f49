/* SPDX-License-Identifier: MIT */
/*
 * hist_view.h - a copy of a histogram's entries in its order, for the files that
 * print histograms only.
 *
 * The copy is complete before it is read, so that the output is consistent while writers
 * continue.  Elements are copied word by word: see map.h, 5.
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
	const struct tacho_map *map;	/* used for the layout only; its elements are not read */
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

/* Makes the copy.  Returns 0 or -ENOMEM; the caller must release the view in both cases. */
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

/* Compares one key of two entries: less than 0, 0 or greater.  Stacks have no order. */
int hist_view_compare_key(const void *a, const void *b,
			  const struct tacho_hist_column *c);

/* Finds the function that contains addr; false: not known. */
bool hist_view_symbol(const struct hist_view *v, uint64_t addr,
		      struct tacho_symbol *sym);

/* Appends "name" or "name+0x10/0x20", " [module]"; "0x1234" if the function is not known. */
void hist_view_put_symbol(const struct hist_view *v, uint64_t addr, bool offset,
			  struct tacho_buf *out);

/* The thread name of a key with .execname. */
const char *hist_view_comm(const struct hist_view *v, struct tacho_map_elt *e,
			   const struct tacho_hist_column *c);

/* The name of a system call without "sys_", or NULL. */
const char *hist_view_syscall(const struct hist_view *v, uint64_t nr);

/*
 * The values of a bucket: from *low to *high.  Without buckets both are the number itself.
 * Bucket n of .log2 has the values above 2^(n-1), up to 2^n.
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

/* Appends one key of an entry in readable form: a name, a function, a range "1..2". */
void hist_view_put_key(const struct hist_view *v, struct tacho_map_elt *e,
		       const struct tacho_hist_column *c, struct tacho_buf *out);

/* Columns of a text on a terminal: a character is one, wide ones included. */
uint32_t hist_view_columns(const struct tacho_buf *text, bool ascii);

/*
 * A text, cut or padded to `width` columns.  Characters that are unsafe for a terminal (and, with
 * ascii, those that are not ASCII) are replaced by '?'.
 */
void hist_view_put_cell(const struct tacho_buf *text, uint32_t width, bool ascii,
			struct tacho_buf *out);

/* The share in hundredths of a percent; UINT32_MAX: total is 0 and val is not. */
uint32_t hist_view_share(uint64_t val, uint64_t total);

#endif
