// SPDX-License-Identifier: MIT
/* Records that were LTT's, as they were. */
#include <string.h>

#include "fmt/ltt/write_priv.h"

bool tacho_ltt_values_fit(const struct tacho_ltt_form *form, uint32_t id,
			  const struct tacho_ltt_values *v)
{
	const struct tacho_ltt_shape *shape = &form->shape[id];

	for (uint32_t i = 0; i < shape->nr; i++) {
		unsigned int bits = shape->elem[i].size * 8u;
		int64_t s = (int64_t)v->v[i];

		if (shape->elem[i].text || bits >= 64 || !(v->v[i] >> bits))
			continue;
		/* a negative number of so many bits */
		if (s >= 0 || s < -(INT64_C(1) << (bits - 1)))
			return false;
	}
	return true;
}

static uint64_t number(const struct tacho_record *r, const char *name)
{
	const struct tacho_field *f = tacho_type_field(r->type, name);
	uint64_t v = 0;

	if (f)
		(void)tacho_field_int(f, r->raw, r->len, &v);
	return v;
}

void tacho_ltt_values_of(const struct tacho_record *r, struct tacho_ltt_values *v)
{
	const struct tacho_type *type = r->type;
	uint32_t at = 0;

	*v = (struct tacho_ltt_values){ 0 };
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];

		if (f->kind == TACHO_FIELD_DATA_LOC) {
			v->data = tacho_field_data(f, r->raw, r->len, &v->data_len);
		} else if (f->kind == TACHO_FIELD_SCALAR && at < LTT_ELEMS_MAX) {
			(void)tacho_field_int(f, r->raw, r->len, &v->v[at++]);
		} else if (at < LTT_ELEMS_MAX) {
			v->text[at] = tacho_field_data(f, r->raw, r->len,
						       &v->text_len[at]);
			at++;
		}
		if (!v->data)
			v->data_len = 0;
	}
}

static void take_start(struct tacho_ltt_lane *l, const struct tacho_record *r)
{
	uint64_t size = number(r, "buffer_size");

	l->start.arch = (uint32_t)number(r, "arch_type");
	l->start.variant = (uint32_t)number(r, "arch_variant");
	l->start.system = (uint32_t)number(r, "system_type");
	l->start.us = !number(r, "use_tsc");
	l->start.flight = number(r, "flight_recorder");
	l->start.event_mask = number(r, "event_mask");
	l->start.details_mask = number(r, "details_mask");
	if (size >= LTT_BUFFER_MIN && size <= LTT_BUFFER_MAX && !l->buf)
		l->start.buffer_size = (uint32_t)size;
}

/* Records about the buffers make new ones at the same places. */
static int copy_frame(struct tacho_ltt_lane *l, const struct tacho_record *r,
		      uint32_t id)
{
	bool timeless = !number(r, "sec") && !number(r, "usec") && !number(r, "tsc");
	int err;

	if (id == TRACE_BUFFER_END)
		return tacho_ltt_lane_end(l, tacho_ltt_lane_time(l, r->time), timeless);
	if (id == TRACE_START) {
		if (l->buffers)
			return 0;
		take_start(l, r);
		return tacho_ltt_lane_begin(l, tacho_ltt_lane_time(l, r->time));
	}
	err = tacho_ltt_lane_end(l, tacho_ltt_lane_time(l, r->time), false);
	/* the first one waits for START, which says what time is */
	if (err || !l->buffers)
		return err;
	return tacho_ltt_lane_begin(l, tacho_ltt_lane_time(l, r->time));
}

static int copy_custom(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		       const struct tacho_record *r, struct tacho_ltt_values *v)
{
	v->v[0] = tacho_ltt_same_id(w, (uint32_t)v->v[0]);
	/* text is followed by an added NUL */
	if (v->data_len > v->v[1])
		v->data_len = (size_t)v->v[1];
	return tacho_ltt_lane_put(l, tacho_ltt_lane_time(l, r->time), TRACE_CUSTOM, 0, v,
				  false);
}

int tacho_ltt_copy(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		   const struct tacho_ltt_kind *k, const struct tacho_record *r)
{
	struct tacho_ltt_values v;
	const struct tacho_ltt_event *ev = k->event;
	uint64_t t = tacho_ltt_lane_time(l, r->time);

	tacho_ltt_values_of(r, &v);
	if (k->is == LTT_KIND_RAW)
		return tacho_ltt_lane_put_raw(l, t, (uint32_t)v.v[0], (uint32_t)v.v[1],
					      v.data ? v.data : "", v.data_len);
	if (k->is == LTT_KIND_CUSTOM)
		return copy_custom(w, l, r, &v);
	if (k->is == LTT_KIND_BARE)
		return tacho_ltt_lane_put(l, t, ev->id, ev->sub, &v, true);
	if (ev->id == TRACE_START || ev->id == TRACE_BUFFER_START ||
	    ev->id == TRACE_BUFFER_END)
		return copy_frame(l, r, ev->id);
	if (ev->id == TRACE_NEW_EVENT)
		v.v[0] = tacho_ltt_same_id(w, (uint32_t)v.v[0]);
	if (ev->data == TACHO_LTT_NAME && v.data_len > v.v[1])
		v.data_len = (size_t)v.v[1];
	if (!tacho_ltt_values_fit(&w->form, ev->id, &v))
		w->written.cut++;
	return tacho_ltt_lane_put(l, t, ev->id, ev->sub, &v, false);
}
