// SPDX-License-Identifier: MIT
/* What remained without effect in a recording, and what programs could not do. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/record_priv.h"
#include "app/suggest.h"
#include "session/command.h"
#include "session/known.h"
#include "session/remark.h"
#include "sys/clock.h"

static int note_unfit(const struct tacho_command_info *c, const struct tacho_cmd_error *why,
		      void *arg)
{
	const struct app_record *r = arg;
	bool filter = c->kind == TACHO_COMMAND_FILTER;
	const char *what = filter ? "filter" : "trigger";

	for (uint32_t i = 0; i < r->nr_kernel_texts; i++)
		if (!strcmp(r->kernel_text[i], c->text))
			return 0;
	if (why->err == -ENOENT)
		tacho_observer_note(r->observer, "no program had an event '%s' for the %s '%s'",
				    c->event, what, c->text);
	else
		tacho_observer_note(r->observer, "the %s '%s' fits no event '%s': %s; %s", what,
				    c->text, c->event, why->text, filter ?
				    "these were recorded without it" : "it never ran");
	return 0;
}

/* A glob that no program had an event for, and names of programs that resemble it. */
static int note_no_event(struct app_record *r, const char *glob)
{
	struct tacho_suggestions s = { .nr = 0 };
	struct tacho_known known;
	char text[512];
	int err;

	if (!strcmp(glob, "*:*")) {
		tacho_observer_note(r->observer, "no program with events of its own ran");
		return 0;
	}
	err = tacho_known_load(&known, &r->session);
	for (uint32_t i = 0; i < known.nr; i++) {
		char *colon = strchr(known.type[i].name, ':');

		if (!colon)
			continue;
		*colon = '\0';
		tacho_suggest_event(&s, glob, known.type[i].name, colon + 1);
		*colon = ':';
	}
	tacho_known_release(&known);
	tacho_observer_note(r->observer, "no program had an event '%s'%s%s", glob,
			    app_suggest_text(&s, text, sizeof(text)) ? "; near it are: " : "",
			    text);
	return err;
}

static void note_all_unfit(struct app_record *r)
{
	const struct app_record_config *c = &r->config;
	int err = 0, ret;

	for (uint32_t i = 0; !err && i < c->nr_events; i++)
		if (c->events[i][0] != '!' &&
		    !tacho_session_rule_matched(&r->session, c->events[i]))
			err = note_no_event(r, c->events[i]);
	ret = tacho_commands_unfit(&r->session, note_unfit, r);
	err = err ? err : ret;
	/* all was recorded: it is the remarks that are missing */
	if (err < 0 && err != -ENOENT)
		tacho_observer_note(r->observer, "cannot tell which of -e, --filter and --trigger "
				    "no program had an event for: %s", strerror(-err));
}

/* What is missing for these reasons is counted nowhere else. */
static void note_remarks(const struct app_record *r)
{
	const struct tacho_registry *reg = r->dir.reg;
	uint64_t began = tacho_now_ns(CLOCK_REALTIME) -
			 (tacho_now_ns(CLOCK_MONOTONIC) - r->began);
	struct tacho_remark m;

	for (uint32_t i = 0; reg && i < TACHO_REMARKS_MAX; i++)
		if (tacho_remark_get(reg, i, &m) && m.last >= began)
			tacho_observer_note(r->observer, "program %s, %" PRIu64 " time%s, the last "
					    "process %d: %s", m.comm, m.times,
					    m.times == 1 ? "" : "s", m.pid, m.text);
}

void record_note_effects(struct app_record *r)
{
	if (!r->has_session || !r->observer || !r->observer->note)
		return;
	note_all_unfit(r);
	note_remarks(r);
}
