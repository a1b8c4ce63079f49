// SPDX-License-Identifier: MIT
/*
 * Event probes of an instance: their definitions, and when they are attached to their base
 * events.
 */
#include "engine/engine_priv.h"

#include <errno.h>
#include <string.h>

static int compile_filter(const struct tacho_engine *engine, struct engine_event *event,
			  struct tacho_cmd_error *e)
{
	const struct tacho_eprobe *ep = event->pub.eprobe;

	if (!ep->filter)
		return 0;
	return tacho_filter_compile(&event->eprobe_filter, &event->arena, ep->base, ep->filter,
				    ep->filter_column, engine->names, e);
}

/* Creates an event probe in its own arena; NULL: e has the error. */
static struct engine_event *make(const struct tacho_engine *engine, const char *group,
				 const char *name, const char *text,
				 struct engine_event *base, struct tacho_cmd_error *e)
{
	struct tacho_arena a;
	struct engine_event *event;

	tacho_arena_init(&a, ENGINE_MAX);
	event = tacho_arena_alloc(&a, sizeof(*event));
	if (!event) {
		(void)tacho_cmd_no_memory(e);
		tacho_arena_release(&a);
		return NULL;
	}
	event->base = base;
	event->pub.generated = true;
	event->pub.eprobe = tacho_eprobe_parse(&a, group, name, text, base->pub.type, e);
	event->arena = a;
	if (event->pub.eprobe && !compile_filter(engine, event, e)) {
		event->pub.type = event->pub.eprobe->type;
		return event;
	}
	a = event->arena;
	tacho_arena_release(&a);
	return NULL;
}

int tacho_engine_eprobe(struct tacho_engine *engine, const char *group,
			const char *name, const char *text,
			struct tacho_engine_event *base, struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	struct engine_event *event;

	e = e ? e : &own;
	if (base->eprobe)
		return tacho_cmd_error(e, -ENODEV, 0, "Attached event does not exist");
	if (engine_find(engine, group, name))
		return tacho_cmd_error(e, -EEXIST, 0, "Given group/event name is already used "
				       "by another event");
	if (!engine_reserve_event(engine))
		return tacho_cmd_no_memory(e);
	event = make(engine, group, name, text, engine_event_of(base), e);
	if (!event)
		return e->err ? e->err : tacho_cmd_no_memory(e);
	engine->event[engine->nr_events++] = event;
	return 0;
}

int tacho_engine_eprobe_remove(struct tacho_engine *engine, const char *group,
			       const char *name)
{
	struct engine_event *event = engine_find(engine, group, name);

	if (!event || !event->pub.eprobe)
		return -ENOENT;
	if (engine_is_wanted(event))
		return -EBUSY;
	engine_generated_remove(engine, event);
	return 0;
}

void engine_eprobe_switch(struct tacho_engine *engine, struct engine_event *event, bool on)
{
	struct engine_event **at = &event->base->eprobes;

	while (*at && *at != event)
		at = &(*at)->next_eprobe;
	if (on && !*at) {
		*at = event;
		event->next_eprobe = NULL;
	} else if (!on && *at) {
		*at = event->next_eprobe;
	} else {
		return;
	}
	engine_update_needs(event->base);
	if (on)
		engine_soft_get(engine, event->base);
	else
		engine_soft_put(engine, event->base);
}

bool engine_eprobe_uses(const struct tacho_engine *engine, const struct engine_event *base)
{
	for (uint32_t i = 0; i < engine->nr_events; i++)
		if (engine->event[i]->base == base)
			return true;
	return false;
}
