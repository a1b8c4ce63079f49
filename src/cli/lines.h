/* SPDX-License-Identifier: MIT */
/* lines.h - the options that say how lines look, for report and convert. */
#ifndef TACHO_CLI_LINES_H
#define TACHO_CLI_LINES_H

#include <getopt.h>

#include "app/lines.h"

enum {
	CLI_OPT_FIELDS = 0x300,
	CLI_OPT_RELATIVE,
	CLI_OPT_UTC,
	CLI_OPT_TICKS,
	CLI_OPT_NS,
	CLI_OPT_DELTA,
};

#define CLI_LINES_LETTERS	"R"
#define CLI_LINES_OPTIONS						\
	{ "raw", no_argument, NULL, 'R' },				\
	{ "fields", required_argument, NULL, CLI_OPT_FIELDS },		\
	{ "relative", no_argument, NULL, CLI_OPT_RELATIVE },		\
	{ "utc", no_argument, NULL, CLI_OPT_UTC },			\
	{ "ticks", no_argument, NULL, CLI_OPT_TICKS },			\
	{ "ns", no_argument, NULL, CLI_OPT_NS },			\
	{ "delta", no_argument, NULL, CLI_OPT_DELTA }

#define CLI_LINES_HELP \
	"      --fields LIST    print only these fields: a,b\n" \
	"  -R, --raw            print all fields instead of the event's text\n" \
	"      --relative       print times relative to the first event\n" \
	"      --utc            print date and time, in UTC\n" \
	"      --ticks          print the value of the clock as recorded\n" \
	"      --ns             print nanoseconds\n" \
	"      --delta          also print the time since the previous line\n"

/* As cli_filter_option(). */
int cli_lines_option(struct app_lines *l, int opt, const char *arg);

/* The format's name; CLI_OK or CLI_USAGE with a message. */
int cli_lines_format(struct app_lines *l, const char *name);

#endif
