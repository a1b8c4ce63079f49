// SPDX-License-Identifier: MIT
/* The files of an instance, byte for byte as the kernel shows them. */
#include "engine/engine_priv.h"

#include "engine/hist_print.h"

void tacho_engine_print_filter(const struct tacho_engine *engine,
			       const struct tacho_engine_event *event,
			       struct tacho_buf *out)
{
	const struct engine_event *ev = engine_event_ro(event);

	(void)engine;
	tacho_buf_puts(out, ev->filter_text ? ev->filter_text : "none");
	tacho_buf_putc(out, '\n');
}

void tacho_engine_print_triggers(const struct tacho_engine *engine,
				 const struct tacho_engine_event *event,
				 struct tacho_buf *out)
{
	const struct engine_event *ev = engine_event_ro(event);

	(void)engine;
	if (!ev->triggers) {
		tacho_buf_puts(out, "# Available triggers:\n#");
		for (int cmd = 0; cmd <= TACHO_TRIGGER_HIST; cmd++) {
			tacho_buf_putc(out, ' ');
			tacho_buf_puts(out, tacho_trigger_name(
				       (enum tacho_trigger_cmd)cmd));
		}
		tacho_buf_putc(out, '\n');
	}
	for (const struct engine_trigger *t = ev->triggers; t; t = t->next) {
		tacho_trigger_print(&t->spec, t->left,
				    t->paused, out);
		tacho_buf_putc(out, '\n');
	}
}

int tacho_engine_print_hist(const struct tacho_engine *engine,
			    const struct tacho_engine_event *event,
			    struct tacho_buf *out)
{
	const struct engine_trigger *t = engine_event_ro(event)->triggers;
	bool first = true;
	int err = 0;

	for (; t && !err; t = t->next) {
		bool was;

		if (!t->hist)
			continue;
		if (!first)
			tacho_buf_puts(out, "\n\n");
		first = false;
		/* for a shared map, this trigger's own state is shown */
		was = tacho_hist_paused(t->hist);
		tacho_hist_pause(t->hist, t->paused);
		err = tacho_hist_print(t->hist, engine->names, out);
		tacho_hist_pause(t->hist, was);
	}
	return err ? err : tacho_buf_error(out);
}

void tacho_engine_print_errors(const struct tacho_engine *engine,
			       struct tacho_buf *out)
{
	tacho_errlog_print(&engine->log, out);
}

void tacho_engine_print_synth(const struct tacho_engine *engine,
			      struct tacho_buf *out)
{
	const struct engine_event *event;

	for (event = engine->synths; event; event = event->next_synth) {
		tacho_synth_print(event->pub.synth, out);
		tacho_buf_putc(out, '\n');
	}
}
