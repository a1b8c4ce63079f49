/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which records of a trace the user wants: the options that report
 * and convert share, as words for app/select.h.
 */
#ifndef TACHO_CLI_FILTER_H
#define TACHO_CLI_FILTER_H

#include <getopt.h>

#include "app/select.h"

enum {
	CLI_OPT_CPU = 0x200,
	CLI_OPT_COMM,
	CLI_OPT_SOURCE,
	CLI_OPT_TIME,
	CLI_OPT_FILTER,
};

/* Letters and words of the filter's options. */
#define CLI_FILTER_LETTERS	"e:p:m:"
#define CLI_FILTER_OPTIONS						\
	{ "events", required_argument, NULL, 'e' },			\
	{ "pid", required_argument, NULL, 'p' },			\
	{ "max", required_argument, NULL, 'm' },			\
	{ "cpu", required_argument, NULL, CLI_OPT_CPU },		\
	{ "comm", required_argument, NULL, CLI_OPT_COMM },		\
	{ "source", required_argument, NULL, CLI_OPT_SOURCE },		\
	{ "time", required_argument, NULL, CLI_OPT_TIME },		\
	{ "filter", required_argument, NULL, CLI_OPT_FILTER }

/* What --help says of them. */
#define CLI_FILTER_HELP \
	"Select events:\n" \
	"  -e, --events GLOBS   SYSTEM:EVENT globs, or one word for either; separated by\n" \
	"                       commas, can be repeated; '!GLOB' excludes\n" \
	"  -p, --pid LIST       of these threads: 12,34-36\n" \
	"      --comm GLOBS     of threads with these names; '!GLOB' excludes\n" \
	"      --cpu LIST       on these CPUs: 0-3,8\n" \
	"      --source KIND    'program' or 'kernel'\n" \
	"      --time A,B       from A to B: seconds since the first event (1.5,2.25),\n" \
	"                       or @SECONDS since 1970, or =SECONDS as the report prints\n" \
	"                       them; either can be omitted\n" \
	"      --filter EXPR    whose fields match, as in the kernel's filter files:\n" \
	"                       'prio < 100 && comm ~ \"*sh\"'; EVENT/EXPR applies to\n" \
	"                       these events only; can be repeated\n" \
	"  -m, --max N          stop after N events\n"

/*
 * Takes one of the options.  CLI_OK when it was, CLI_USAGE with a message when
 * its argument is wrong, -1 when it is not one of the filter's.
 */
int cli_filter_option(struct app_select *s, int opt, const char *arg);

/* As app_select_open().  CLI_OK, or CLI_FAILED with a message. */
int cli_filter_open(struct app_select *s, struct tacho_stream *stream);

#endif
