// SPDX-License-Identifier: MIT
/* Which of an event's records are needed, as a filter that the kernel accepts. */
#include "engine/engine_priv.h"

static enum tacho_filter_offload put(const struct tacho_engine *engine,
				     const struct engine_event *ev, const char *text,
				     struct tacho_buf *out)
{
	enum tacho_filter_offload offload = tacho_filter_offload(ev->pub.type, text,
								 engine->names);

	if (offload == TACHO_FILTER_LOCAL ||
	    tacho_filter_normal(ev->pub.type, text, engine->names, out, NULL))
		return TACHO_FILTER_LOCAL;
	return offload;
}

/* A record is needed if it passes the filter of any trigger. */
static enum tacho_filter_offload put_triggers(const struct tacho_engine *engine,
					      const struct engine_event *ev,
					      struct tacho_buf *out)
{
	const char *or = "";

	for (const struct engine_trigger *t = ev->triggers; t; t = t->next) {
		if (!t->filter)
			return TACHO_FILTER_LOCAL;
		tacho_buf_printf(out, "%s(", or);
		if (put(engine, ev, t->spec.filter, out) != TACHO_FILTER_SAME)
			return TACHO_FILTER_LOCAL;
		/* a blank, because the name of a function ends only at a blank */
		tacho_buf_puts(out, " )");
		or = " || ";
	}
	return TACHO_FILTER_SAME;
}

enum tacho_filter_offload tacho_engine_offload(const struct tacho_engine *engine,
					       const struct tacho_engine_event *event,
					       struct tacho_buf *out)
{
	const struct engine_event *ev = engine_event_ro(event);
	enum tacho_filter_offload offload = TACHO_FILTER_LOCAL;

	if (ev->filter && !ev->triggers)
		offload = put(engine, ev, ev->filter_text, out);
	else if (!ev->filter && ev->triggers)
		offload = put_triggers(engine, ev, out);
	return tacho_buf_error(out) ? TACHO_FILTER_LOCAL : offload;
}
