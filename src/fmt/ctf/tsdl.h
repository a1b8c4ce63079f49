/* SPDX-License-Identifier: MIT */
/*
 * tsdl.h - the text of DIR/metadata.
 *
 * Field names get a leading '_', as in LTTng: a reader removes it, and no name can be a keyword
 * or start with a digit.  Other members (padding, offset and length of dynamic data) get two, so
 * that they are shown with one.
 */
#ifndef TACHO_FMT_CTF_TSDL_H
#define TACHO_FMT_CTF_TSDL_H

#include "base/buf.h"
#include "event/type.h"
#include "stream/clock.h"

struct tacho_ctf_clock {
	const char *kind;	/* "x86-tsc", "mono", ... */
	uint64_t freq;
	uint64_t ticks, realtime;	/* the pair that places it */
};

/* Everything before the first event; env is complete "name = value;" lines. */
void tacho_tsdl_head(struct tacho_buf *out, const uint8_t uuid[16],
		     const struct tacho_ctf_clock *clock, const char *env);

/* One `name = "value";` line of the env block. */
void tacho_tsdl_env(struct tacho_buf *out, const char *name,
		    const char *value);

/*
 * One event block: the type under this id.  raw_len is 0, or, for a substitute type id, the exact
 * length of its raw events: arrays are cut or extended to fit.
 */
void tacho_tsdl_event(struct tacho_buf *out, uint32_t stream_id, uint32_t id,
		      const struct tacho_type *type, uint32_t raw_len);

/* Whether a field's bytes are text. */
static inline bool tacho_tsdl_is_text(const struct tacho_field *f)
{
	return (f->flags & TACHO_FIELD_STRING) && f->elem_size == 1;
}

/* log2 of the size of a dynamic field's elements as metadata describes them. */
unsigned int tacho_tsdl_elem_shift(const struct tacho_field *f);

/*
 * The type's fields after the common ones by offset, overlapping ones left
 * out: writer and metadata go by this order.  order has room for
 * type->nr_fields.  Returns how many.
 */
uint32_t tacho_tsdl_order(const struct tacho_type *type,
			  const struct tacho_field **order);

#endif
