// SPDX-License-Identifier: MIT
/* LTT's masks as rules of a session. */
#include <string.h>

#include "compat/ltt/tracer.h"
#include "fmt/ltt/layout.h"

static void add(struct ltt_rules *r, bool enable, const char *name, const char *suffix)
{
	char *text = r->text[r->n];

	if (r->n >= LTT_RULES_MAX ||
	    strlen(LTT_SYSTEM ":") + strlen(name) + strlen(suffix) >= LTT_RULE_LEN)
		return;
	(void)stpcpy(stpcpy(stpcpy(text, LTT_SYSTEM ":"), name), suffix);
	r->glob[r->n] = text;
	r->enable[r->n++] = enable;
}

void ltt_rules_of(struct ltt_rules *r, const struct ltt_masks *m)
{
	trace_event_mask events = m->events | LTT_FORCED, details = m->details | LTT_FORCED;

	r->n = 0;
	add(r, false, "*", "");
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++) {
		const struct tacho_ltt_event *ev = &tacho_ltt_events[i];

		if (events >> ev->id & 1)
			add(r, true, ev->name, details >> ev->id & 1 ? "" : LTT_BARE_SUFFIX);
	}
}
