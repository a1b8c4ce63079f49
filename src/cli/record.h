/* SPDX-License-Identifier: MIT */
/* record.h - what the two halves of the verb record share. */
#ifndef TACHO_CLI_RECORD_H
#define TACHO_CLI_RECORD_H

#include "app/command.h"
#include "app/record.h"
#include "cli/list_arg.h"

struct tacho_sink_format;

struct record_options {
	struct app_record_config config;	/* output: the directory that is recorded into */
	struct cli_list events, kernel, pids;
	int32_t pid[CLI_LIST_MAX];
	char filter_event[APP_RECORD_CONTROLS_MAX][APP_EVENT_MAX];
	char trigger_event[APP_RECORD_CONTROLS_MAX][APP_EVENT_MAX];
	bool output_given;
	const char *to;			/* format, as the user says it; or NULL */
	const char *target;		/* what to make of the directory at the end, or NULL */
	const struct tacho_sink_format *format;	/* the target's, or the directory's */
	char native[4200];		/* the directory's name, when there is a target */
	bool json;
};

/*
 * record_format.c: chooses between a directory of ours and another format (`to`, or
 * NULL: by the output's name), which is made of one.  CLI_OK or CLI_USAGE.
 */
int record_target(struct record_options *o, const char *to);

/* Whether there is room for the target and the directory.  Returns an exit status. */
int record_ready(const struct record_options *o);

/*
 * Makes the target of what was recorded, and removes the directory; s->bytes
 * becomes its size.  When it cannot, the directory stays, and that is said.  Returns
 * an exit status.
 */
int record_convert(const struct record_options *o, struct tacho_recorder_stats *s);

#endif
