// SPDX-License-Identifier: MIT
/* Which of an event's records matter, in words that a kernel takes. */
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

/* A record matters if it passes the filter of any trigger. */
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
		/* a blank, as the name of a function goes on up to one */
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
