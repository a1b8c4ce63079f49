// SPDX-License-Identifier: MIT
/* Events that LTT does not have, as custom events: the protocol is in custom.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fmt/ltt/custom.h"
#include "fmt/ltt/write_priv.h"

static uint32_t u32_to(const struct tacho_ltt_writer *w, uint32_t v)
{
	return w->form.swap ? __builtin_bswap32(v) : v;
}

/* Finds an unused id. */
static uint32_t new_id(struct tacho_ltt_writer *w)
{
	while (tacho_hashmap_get(&w->taken, w->next_id + UINT64_C(1)))
		w->next_id++;
	(void)tacho_hashmap_set(&w->taken, w->next_id + UINT64_C(1), w);
	return w->next_id++;
}

uint32_t tacho_ltt_same_id(struct tacho_ltt_writer *w, uint32_t id)
{
	uint64_t key = id + UINT64_C(1);
	uintptr_t known = (uintptr_t)tacho_hashmap_get(&w->ids, key);

	if (known)
		return (uint32_t)(known - 1);
	if (tacho_hashmap_get(&w->taken, key))
		id = new_id(w);
	else
		(void)tacho_hashmap_set(&w->taken, key, w);
	(void)tacho_hashmap_set(&w->ids, key, (void *)((uintptr_t)id + 1));
	return id;
}

/* Whether the lane has it; from now on it has.  -1: no memory. */
static int once(struct tacho_ltt_lane *l, uint32_t index)
{
	size_t word = index / 64;
	uint64_t bit = UINT64_C(1) << index % 64;

	if (word >= l->nr_declared) {
		uint64_t *p = reallocarray(l->declared, word + 8, sizeof(*p));

		if (!p)
			return -1;
		memset(p + l->nr_declared, 0, (word + 8 - l->nr_declared) * sizeof(*p));
		l->declared = p;
		l->nr_declared = word + 8;
	}
	if (l->declared[word] & bit)
		return 1;
	l->declared[word] |= bit;
	return 0;
}

static int put_new_event(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
			 const char *type, const char *desc, const char *form)
{
	struct tacho_ltt_values v = {
		.v = { id, 0, 0, CUSTOM_EVENT_FORMAT_TYPE_HEX, 0 },
		.text = { NULL, type, desc, NULL, form },
		.text_len = { 0, strlen(type), strlen(desc), 0, strlen(form) },
	};

	return tacho_ltt_lane_put(l, t, TRACE_NEW_EVENT, 0, &v, false);
}

static int put_custom(struct tacho_ltt_lane *l, uint64_t t, uint32_t id,
		      const void *data, size_t len)
{
	struct tacho_ltt_values v = { .v = { id, len }, .data = data, .data_len = len };

	return tacho_ltt_lane_put(l, t, TRACE_CUSTOM, 0, &v, false);
}

/* One of our own custom events, declared once in each file. */
static int own_event(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l, uint64_t t,
		     uint32_t index, uint32_t *id, const char *type, const char *desc)
{
	int had = once(l, index);

	if (!*id)
		*id = new_id(w);
	return had < 0 ? -ENOMEM : had ? 0 :
	       put_new_event(l, t, *id, type, desc, LTT_EMBED_FORM);
}

static int put_type(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		    const struct tacho_ltt_kind *k, uint64_t t)
{
	unsigned char fragment[LTT_EMBED_HEAD + LTT_EMBED_FRAGMENT];
	struct tacho_buf *b = &w->text;
	int err = 0;

	tacho_buf_reset(b);
	tacho_buf_printf(b, "%s %s %s\n",
			 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be",
			 k->stream_id == TACHO_STREAM_PROGRAM ? "program" : "kernel",
			 k->type->system);
	tacho_type_write(k->type, true, b);
	if (tacho_buf_error(b))
		return tacho_buf_error(b);
	for (size_t at = 0; at < b->len && !err; at += LTT_EMBED_FRAGMENT) {
		size_t n = b->len - at < LTT_EMBED_FRAGMENT ? b->len - at : LTT_EMBED_FRAGMENT;

		tacho_put_u32(fragment, u32_to(w, k->embed_id));
		tacho_put_u32(fragment + 4, u32_to(w, (uint32_t)b->len));
		tacho_put_u32(fragment + 8, u32_to(w, (uint32_t)at));
		memcpy(fragment + LTT_EMBED_HEAD, b->data + at, n);
		err = put_custom(l, t, w->types_id, fragment, LTT_EMBED_HEAD + n);
	}
	return err;
}

int tacho_ltt_declare(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		      struct tacho_ltt_kind *k, uint64_t t)
{
	char desc[CUSTOM_EVENT_DESC_STR_LEN] = "";
	int had, err;

	if (!k->embed_id) {
		k->embed_id = new_id(w);
		k->index = LTT_DECLARED_FIRST + w->nr_embedded++;
	}
	had = once(l, k->index);
	if (had)
		return had < 0 ? -ENOMEM : 0;
	err = own_event(w, l, t, LTT_DECLARED_TYPES, &w->types_id, LTT_EMBED_TYPE,
			"what the events that tacho carries look like");
	if (err)
		return err;
	strncat(desc, k->type->system, 48);
	strcat(desc, ":");
	strncat(desc, k->type->name, 48);
	err = put_new_event(l, t, k->embed_id, k->type->name, desc,
			    LTT_EMBED_EVENT_FORM);
	return err ? err : put_type(w, l, k, t);
}

int tacho_ltt_embed(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		    struct tacho_ltt_kind *k, const struct tacho_record *r, uint64_t t)
{
	int err = tacho_ltt_declare(w, l, k, t);

	return err ? err : put_custom(l, t, k->embed_id, r->raw, r->len);
}

int tacho_ltt_embed_lost(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
			 uint64_t lost, uint64_t t)
{
	int err = own_event(w, l, t, LTT_DECLARED_LOST, &w->lost_id, LTT_EMBED_LOST,
			    "events that were lost before this place");

	if (w->form.swap)
		lost = __builtin_bswap64(lost);
	return err ? err : put_custom(l, t, w->lost_id, &lost, sizeof(lost));
}

int tacho_ltt_made(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l, uint64_t t)
{
	int err;

	if (l->buffers)
		return 0;
	err = tacho_ltt_lane_begin(l, t);
	return err ? err : own_event(w, l, t, LTT_DECLARED_MADE, &w->made_id,
				     LTT_EMBED_MADE, "written by tacho");
}
