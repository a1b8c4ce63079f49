// SPDX-License-Identifier: MIT
/* record's --filter, --trigger and --synth: who takes them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/job.h"
#include "kernel/control.h"
#include "session/command.h"

static int fail_kernel(const struct tacho_diag *d, int err, const char *text)
{
	struct tacho_cmd_error e = { .err = err, .column = (uint32_t)d->offset };

	if (err != -EINVAL)
		return cli_fail_diag(d);
	(void)snprintf(e.text, sizeof(e.text), "%.*s", (int)sizeof(e.text) - 1,
		       d->text);
	return cli_fail_command(&e, text);
}

/*
 * To the programs, of which there may be none yet, and to the kernel.  An event
 * that the kernel does not have may be a program's.
 */
static int give(struct job *job, enum tacho_kernel_control what,
		const char *event, const char *text)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_diag d = { 0 };
	int err = 0;

	if (job->has_session && what == TACHO_KERNEL_FILTER)
		err = tacho_command_filter(&job->session, event, text, NULL, &e);
	else if (job->has_session)
		err = tacho_command_trigger(&job->session, event, text, NULL, &e);
	if (err)
		return cli_fail_command(&e, text);
	if (!job->kernel)
		return CLI_OK;
	err = tacho_kernel_control_enabled(job->kernel, what, event, text, NULL, &d);
	if (!err || (err == -ENOENT && job->has_session))
		return CLI_OK;
	return fail_kernel(&d, err, text);
}

static int set_filter(struct job *job, const char *arg)
{
	char event[CLI_EVENT_MAX] = "*:*";
	const char *text = cli_split_event(arg, event);

	return give(job, TACHO_KERNEL_FILTER, event, text ? text : arg);
}

static int set_trigger(struct job *job, const char *arg)
{
	char event[CLI_EVENT_MAX];
	const char *text = cli_split_event(arg, event);

	if (!text)
		return cli_usage("--trigger: '%s' is not EVENT/TRIGGER", arg);
	return give(job, TACHO_KERNEL_TRIGGER, event, text);
}

static int set_synth(struct job *job, const char *text)
{
	struct tacho_cmd_error e = { 0 };

	if (!job->has_session)
		return cli_usage("--synth: synthetic events of the kernel are for 'tacho hist -k'");
	if (tacho_command_synth(&job->session, text, &e))
		return cli_fail_command(&e, text);
	return CLI_OK;
}

/*
 * --stack for programs: a trigger on what is recorded.  The kernel has an option for it.
 * What is only taken away from is everything.
 */
static int set_stacks(struct job *job)
{
	const struct cli_list *l = &job->opt->events;
	struct tacho_cmd_error e = { 0 };
	int err = 0;

	if (!job->has_session)
		return CLI_OK;
	if (l->nr && l->item[0][0] == '!')
		err = tacho_command_trigger(&job->session, "*:*", "stacktrace",
					    NULL, &e);
	for (size_t i = 0; !err && i < l->nr; i++)
		if (l->item[i][0] != '!')
			err = tacho_command_trigger(&job->session, l->item[i],
						    "stacktrace", NULL, &e);
	return err ? cli_fail_command(&e, "stacktrace") : CLI_OK;
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
