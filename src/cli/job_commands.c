// SPDX-License-Identifier: MIT
/* record's --filter, --trigger and --synth: who takes them. */
#include <errno.h>
#include <string.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/suggest.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/job.h"
#include "session/command.h"
#include "session/known.h"

static int to_programs(struct job *job, enum tacho_kernel_control what,
		       const char *event, const char *text, struct tacho_diag *d)
{
	return app_command_set(&job->session, what == TACHO_KERNEL_FILTER ?
			       TACHO_COMMAND_FILTER : TACHO_COMMAND_TRIGGER,
			       event, text, NULL, d);
}

/* An event that a trigger switches on must be known when it comes. */
static int expect(struct job *job, char *target)
{
	char *colon = strchr(target, ':');
	struct tacho_diag d = { 0 };

	if (!colon)
		return CLI_OK;
	*colon = '\0';
	return tacho_kernel_expect(job->kernel, target, colon + 1, &d) ?
	       cli_fail_diag(&d) : CLI_OK;
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
 * CLI_OK: the kernel has it; -1: it has no such event, or a glob means programs'
 * events too, and this text is not for the kernel's; else an exit status.
 */
static int to_kernel(struct job *job, enum tacho_kernel_control what,
		     const char *event, const char *text)
{
	struct tacho_diag d = { 0 };
	char target[APP_EVENT_MAX] = "";
	int err;

	if (!kernel_has(job->kernel, event))
		return -1;
	if (what == TACHO_KERNEL_TRIGGER &&
	    app_kernel_check_trigger(event, text, target, sizeof(target), &d))
		return cli_fail_diag(&d);
	err = tacho_kernel_control_enabled(job->kernel, what, event, text, NULL, &d);
	if (err == -EINVAL && job->has_session && strpbrk(event, "*?[")) {
		cli_note("no event of the kernel takes '%s': %s", text, d.text);
		return -1;
	}
	if (!err)
		return expect(job, target);
	(void)app_kernel_explain(what, event, text, &d);
	return cli_fail_at(&d, text);
}

/*
 * To the programs, of which there may be none yet, and to the kernel.  An event
 * that the kernel does not have may be a program's; a text for the kernel's fields
 * need not be one for the programs'.
 */
static int give(struct job *job, enum tacho_kernel_control what,
		const char *event, const char *text)
{
	struct tacho_diag d = { 0 };
	int err = 0, ret = -1;

	if (job->has_session)
		err = to_programs(job, what, event, text, &d);
	if (job->kernel)
		ret = to_kernel(job, what, event, text);
	if (ret == CLI_OK)
		job->kernel_text[job->nr_kernel_texts++] = text;
	if (ret >= 0)
		return ret;
	if (job->has_session)
		return err ? cli_fail_at(&d, text) : CLI_OK;
	return cli_fail("no event that is recorded matches '%s'", event);
}

static int set_filter(struct job *job, const char *arg)
{
	char event[APP_EVENT_MAX] = "*:*";
	const char *text = app_split_event(arg, event);

	return give(job, TACHO_KERNEL_FILTER, event, text ? text : arg);
}

void job_set_filters(const struct job *job, struct tacho_session *session,
		    struct tacho_kernel *kernel)
{
	const struct job_options *o = job->opt;

	for (uint32_t i = 0; i < o->nr_filters; i++) {
		char event[APP_EVENT_MAX] = "*:*";
		const char *text = app_split_event(o->filter[i], event);

		/* one that is not for these was found fit for others */
		text = text ? text : o->filter[i];
		if (session)
			(void)tacho_command_filter(session, event, text, NULL, NULL);
		if (kernel && kernel_has(kernel, event))
			(void)tacho_kernel_control_enabled(kernel, TACHO_KERNEL_FILTER,
							   event, text, NULL, NULL);
	}
}

static int set_trigger(struct job *job, const char *arg)
{
	char event[APP_EVENT_MAX];
	const char *text = app_split_event(arg, event);

	if (!text)
		return cli_usage("--trigger: '%s' is not EVENT/TRIGGER", arg);
	return give(job, TACHO_KERNEL_TRIGGER, event, text);
}

static int set_synth(struct job *job, const char *text)
{
	struct tacho_diag d = { 0 };

	if (!job->has_session)
		return cli_usage("--synth: synthetic events of the kernel are for 'tacho hist -k'");
	return app_command_set(&job->session, TACHO_COMMAND_SYNTH, NULL, text, NULL, &d) ?
	       cli_fail_at(&d, text) : CLI_OK;
}

/*
 * --stack for programs: a trigger on what is recorded.  The kernel has an option for it.
 * What is only taken away from is everything.
 */
static int set_stacks(struct job *job)
{
	const struct cli_list *l = &job->opt->events;
	static const char text[] = "stacktrace";
	struct tacho_diag d = { 0 };
	int err = 0;

	if (!job->has_session)
		return CLI_OK;
	if (l->nr && l->item[0][0] == '!')
		err = app_command_set(&job->session, TACHO_COMMAND_TRIGGER, "*:*", text,
				      NULL, &d);
	for (size_t i = 0; !err && i < l->nr; i++)
		if (l->item[i][0] != '!')
			err = app_command_set(&job->session, TACHO_COMMAND_TRIGGER,
					      l->item[i], text, NULL, &d);
	return err ? cli_fail_at(&d, text) : CLI_OK;
}

int job_set_commands(struct job *job)
{
	const struct job_options *o = job->opt;
	int ret = o->stack ? set_stacks(job) : CLI_OK;

	for (uint32_t i = 0; ret == CLI_OK && i < o->nr_synths; i++)
		ret = set_synth(job, o->synth[i]);
	for (uint32_t i = 0; ret == CLI_OK && i < o->nr_filters; i++)
		ret = set_filter(job, o->filter[i]);
	for (uint32_t i = 0; ret == CLI_OK && i < o->nr_triggers; i++)
		ret = set_trigger(job, o->trigger[i]);
	return ret;
}

/* ---- what came of them ---- */

static int say_unfit(const struct tacho_command_info *c,
		     const struct tacho_cmd_error *why, void *arg)
{
	const struct job *job = arg;
	bool filter = c->kind == TACHO_COMMAND_FILTER;

	for (uint32_t i = 0; i < job->nr_kernel_texts; i++)
		if (!strcmp(job->kernel_text[i], c->text))
			return 0;
	if (why->err == -ENOENT)
		cli_note("no program had an event '%s' for the %s '%s'", c->event,
			 filter ? "filter" : "trigger", c->text);
	else
		cli_note("the %s '%s' fits no event '%s': %s; %s",
			 filter ? "filter" : "trigger", c->text, c->event, why->text,
			 filter ? "these were recorded without it" : "it never ran");
	return 0;
}

/* A name of -e or --on that no program had, and names of programs that resemble it. */
static int say_no_event(struct job *job, const char *glob)
{
	struct tacho_suggestions s = { .nr = 0 };
	struct tacho_known known;
	char text[512];
	int err;

	if (!strcmp(glob, "*:*")) {
		cli_note("no program with events of its own ran");
		return 0;
	}
	err = tacho_known_load(&known, &job->session);
	for (uint32_t i = 0; i < known.nr; i++) {
		char *colon = strchr(known.type[i].name, ':');

		if (!colon)
			continue;
		*colon = '\0';
		tacho_suggest_event(&s, glob, known.type[i].name, colon + 1);
		*colon = ':';
	}
	tacho_known_release(&known);
	cli_note("no program had an event '%s'%s%s", glob,
		 app_suggest_text(&s, text, sizeof(text)) ? "; near it are: " : "",
		 text);
	return err;
}

void job_say_unfit(struct job *job)
{
	const struct cli_list *e = &job->opt->events;
	int err = 0, ret;

	if (!job->has_session || cli_quiet)
		return;
	for (size_t i = 0; !err && i < e->nr; i++)
		if (e->item[i][0] != '!' &&
		    !tacho_session_rule_matched(&job->session, e->item[i]))
			err = say_no_event(job, e->item[i]);
	ret = tacho_commands_unfit(&job->session, say_unfit, job);
	err = err ? err : ret;
	/* all was recorded: it is the remarks that are missing */
	if (err < 0 && err != -ENOENT)
		cli_note("cannot tell which of -e, --filter and --trigger no program had an event "
			 "for: %s", strerror(-err));
}
