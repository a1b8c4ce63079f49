// SPDX-License-Identifier: MIT
/* A recording's filters, triggers and synthetic events: who takes them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/record_priv.h"
#include "base/text.h"

/* to_kernel(): it has no such event, or the text is not for it. */
#define NOT_KERNELS	1

static int to_programs(struct app_record *r, enum tacho_kernel_control what,
		       const struct app_record_control *c, struct tacho_diag *d)
{
	return app_command_set(&r->session, what == TACHO_KERNEL_FILTER ?
			       TACHO_COMMAND_FILTER : TACHO_COMMAND_TRIGGER,
			       c->event, c->text, NULL, d);
}

/* An event that a trigger enables must be known when it comes. */
static int expect(struct app_record *r, char *target, struct tacho_diag *d)
{
	char *colon = strchr(target, ':');
	int err;

	if (!colon)
		return 0;
	*colon = '\0';
	err = tacho_kernel_expect(r->kernel, target, colon + 1, d);
	if (err)
		d->offset = APP_NO_PLACE;
	return err;
}

static bool kernel_has(const struct tacho_kernel *kernel, const char *event)
{
	const struct tacho_kernel_event *ev;

	for (size_t i = 0; (ev = tacho_kernel_enabled(kernel, i)); i++)
		if (tacho_event_glob(event, ev->system, ev->name))
			return true;
	return false;
}

/*
 * 0: the kernel has it; NOT_KERNELS: it has no such event, or a glob means programs' events,
 * too, and this text is not for the kernel's; else a negative errno with d.
 */
static int to_kernel(struct app_record *r, enum tacho_kernel_control what,
		     const struct app_record_control *c, struct tacho_diag *d)
{
	char target[APP_EVENT_MAX] = "";
	int err = 0;

	if (!kernel_has(r->kernel, c->event))
		return NOT_KERNELS;
	if (what == TACHO_KERNEL_TRIGGER)
		err = app_kernel_check_trigger(c->event, c->text, target, sizeof(target), d);
	if (err)
		return err;
	err = tacho_kernel_control_enabled(r->kernel, what, c->event, c->text, NULL, d);
	if (err == -EINVAL && r->has_session && strpbrk(c->event, "*?[")) {
		tacho_observer_note(r->observer, "no event of the kernel takes '%s': %s",
				    c->text, d->text);
		return NOT_KERNELS;
	}
	return err ? app_kernel_explain(what, c->event, c->text, d) : expect(r, target, d);
}

/*
 * To the programs, of which there may be none yet, and to the kernel.  An event that the
 * kernel does not have may be a program's; a text for the kernel's fields need not be one for
 * the programs'.
 */
static int give(struct app_record *r, enum tacho_kernel_control what,
		const struct app_record_control *c, struct tacho_diag *d)
{
	struct tacho_diag programs = { 0 }, kernel = { 0 };
	int err = 0, ret = NOT_KERNELS;

	r->malformed = c->text;
	if (r->has_session)
		err = to_programs(r, what, c, &programs);
	if (r->kernel)
		ret = to_kernel(r, what, c, &kernel);
	if (ret == 0)
		r->kernel_text[r->nr_kernel_texts++] = c->text;
	if (ret < 0)
		*d = kernel;
	if (ret != NOT_KERNELS)
		return ret;
	if (err)
		*d = programs;
	if (r->has_session)
		return err;
	return tacho_diag(d, -ENOENT, APP_NO_PLACE, "no event that is recorded matches '%s'",
			  c->event);
}

void record_set_filters(const struct app_record *r, struct tacho_session *session,
			struct tacho_kernel *kernel)
{
	for (uint32_t i = 0; i < r->config.nr_filters; i++) {
		const struct app_record_control *c = &r->config.filter[i];

		/* one that is not for these was found fit for others */
		if (session)
			(void)app_command_set(session, TACHO_COMMAND_FILTER, c->event, c->text,
					      NULL, NULL);
		if (kernel && kernel_has(kernel, c->event))
			(void)tacho_kernel_control_enabled(kernel, TACHO_KERNEL_FILTER, c->event,
							   c->text, NULL, NULL);
	}
}

static int set_synth(struct app_record *r, const char *text, struct tacho_diag *d)
{
	r->malformed = text;
	if (r->has_session)
		return app_command_set(&r->session, TACHO_COMMAND_SYNTH, NULL, text, NULL, d);
	return tacho_diag(d, -EINVAL, APP_NO_PLACE, "synthetic events are made of programs' "
			  "events, and none are recorded");
}

/*
 * Stacks of programs: a trigger on what is recorded.  The kernel has an option for them.  What is
 * only taken away from is everything.
 */
static int set_stacks(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	struct app_record_control stack = { "*:*", "stacktrace" };
	int err = 0;

	if (!r->has_session)
		return 0;
	r->malformed = stack.text;
	if (c->events[0][0] == '!')
		err = to_programs(r, TACHO_KERNEL_TRIGGER, &stack, d);
	for (uint32_t i = 0; !err && i < c->nr_events; i++) {
		stack.event = c->events[i];
		if (stack.event[0] != '!')
			err = to_programs(r, TACHO_KERNEL_TRIGGER, &stack, d);
	}
	return err;
}

int record_set_controls(struct app_record *r, struct tacho_diag *d)
{
	const struct app_record_config *c = &r->config;
	int err = c->stacks ? set_stacks(r, d) : 0;

	for (uint32_t i = 0; !err && i < c->nr_synths; i++)
		err = set_synth(r, c->synth[i], d);
	for (uint32_t i = 0; !err && i < c->nr_filters; i++)
		err = give(r, TACHO_KERNEL_FILTER, &c->filter[i], d);
	for (uint32_t i = 0; !err && i < c->nr_triggers; i++)
		err = give(r, TACHO_KERNEL_TRIGGER, &c->trigger[i], d);
	if (!err)
		r->malformed = NULL;
	return err;
}
