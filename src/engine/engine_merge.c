// SPDX-License-Identifier: MIT
/* Instances that counted different hits of the same events, as one. */
#include <errno.h>
#include <string.h>

#include "engine/engine_priv.h"

/* Whether what it counts is a sum over its hits, in any order. */
static bool is_sum(const struct engine_trigger *t, bool one_recording)
{
	const struct tacho_hist *h = t->hist;

	return t->spec.cmd == TACHO_TRIGGER_HIST && !t->spec.counted && h &&
	       !t->spec.hist.nr_actions && !t->spec.hist.nr_vars &&
	       !tacho_hist_reference(h, 0) && !tacho_hist_uses_stack(h) &&
	       (one_recording || !tacho_hist_map(h)->g.nr_texts);
}

bool tacho_engine_is_additive(const struct tacho_engine *engine, bool one_recording)
{
	for (uint32_t i = 0; i < engine->nr_events; i++) {
		const struct engine_event *event = engine->event[i];

		if (event->eprobes)
			return false;
		for (const struct engine_trigger *t = event->triggers; t; t = t->next)
			if (!is_sum(t, one_recording))
				return false;
	}
	return true;
}

/* -ENOSPC: an element too many. */
static int merge_map(const struct tacho_map *to, const struct tacho_map *from)
{
	struct tacho_map_elt *e;
	uint32_t pos = 0;

	/* which hits were dropped depends on the order */
	if (tacho_load_relaxed(&from->head->drops))
		return -ENOSPC;
	while ((e = tacho_map_next(from, &pos))) {
		struct tacho_map_elt *sum = tacho_map_insert(to, tacho_map_key(e));
		struct tacho_map_counters c;

		if (!sum)
			return -ENOSPC;
		c = tacho_map_at(to, sum);
		for (uint32_t i = 0; i <= to->g.nr_sums; i++)
			tacho_map_add(&c, i, tacho_map_counter(from, e, i));
		for (uint32_t i = 0; i < to->g.nr_texts; i++)
			memcpy(tacho_map_text(to, sum, i), tacho_map_text(from, e, i),
			       TACHO_MAP_TEXT);
	}
	return 0;
}

/* Whether a trigger before t, on this event or an earlier one, has the same table. */
static bool is_repeated(const struct tacho_engine *engine, const struct engine_trigger *t)
{
	if (t->map->users < 2)
		return false;
	for (uint32_t i = 0; i < engine->nr_events; i++)
		for (const struct engine_trigger *o = engine->event[i]->triggers; o; o = o->next) {
			if (o == t)
				return false;
			if (o->map == t->map)
				return true;
		}
	return false;
}

int tacho_engine_merge(struct tacho_engine *to, const struct tacho_engine *from)
{
	int err = to->nr_events == from->nr_events ? 0 : -EINVAL;

	for (uint32_t i = 0; i < to->nr_events && !err; i++) {
		const struct engine_trigger *t = to->event[i]->triggers;
		const struct engine_trigger *f = from->event[i]->triggers;

		for (; t && f && !err; t = t->next, f = f->next)
			if (!is_repeated(to, t))
				err = merge_map(tacho_hist_map(t->hist), tacho_hist_map(f->hist));
		if (!err && (t || f))
			err = -EINVAL;
	}
	return err;
}

void tacho_engine_clear(struct tacho_engine *engine)
{
	for (uint32_t i = 0; i < engine->nr_events; i++)
		for (struct engine_trigger *t = engine->event[i]->triggers; t; t = t->next)
			if (t->hist)
				tacho_hist_clear(t->hist);
}
