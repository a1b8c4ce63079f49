/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which records of a trace the user wants: the options that report
 * and convert share.
 *
 *	cli_filter_init();  cli_filter_option() while parsing;
 *	cli_filter_open() with the stream;  cli_filter_pass() per record.
 */
#ifndef TACHO_CLI_FILTER_H
#define TACHO_CLI_FILTER_H

#include <getopt.h>
#include <stdbool.h>

#include "stream/stream.h"

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
	"Which events:\n" \
	"  -e, --events GLOBS   SYSTEM:EVENT globs, or one word for either; comma\n" \
	"                       separated, may be repeated; '!GLOB' takes away\n" \
	"  -p, --pid LIST       of these threads: 12,34-36\n" \
	"      --comm GLOBS     of threads with these names; '!GLOB' takes away\n" \
	"      --cpu LIST       on these CPUs: 0-3,8\n" \
	"      --source KIND    'program' or 'kernel'\n" \
	"      --time A,B       from A until B: seconds since the first event (1.5,2.25),\n" \
	"                       or @SECONDS since 1970, or =SECONDS as the report shows\n" \
	"                       them; either may be left out\n" \
	"      --filter EXPR    whose fields say so, as in the kernel's filter files:\n" \
	"                       'prio < 100 && comm ~ \"*sh\"'; as EVENT/EXPR of these\n" \
	"                       events only; may be repeated\n" \
	"  -m, --max N          no more than N\n"

struct cli_glob {
	char *text;		/* without '!' */
	bool negate;
};

struct cli_globs {
	struct cli_glob *list;
	size_t nr;
};

struct cli_range {
	uint64_t from, to;	/* both included */
};

struct cli_ranges {
	struct cli_range *list;
	size_t nr;
};

struct cli_moment {
	char kind;		/* 0: open, '+' since the first, '@', '=' */
	uint64_t ns;
};

struct cli_verdict {
	const void *key;
	bool pass;
};

#define CLI_FILTER_EXPRS	16

struct tacho_query;

struct cli_filter {
	struct cli_globs events, comms;
	struct cli_ranges cpus, pids;
	int source;		/* enum tacho_stream_id, -1: both */
	const char *exprs[CLI_FILTER_EXPRS];	/* --filter */
	uint32_t nr_exprs;
	struct cli_moment begin, end;
	uint64_t max;		/* 0: no limit */
	bool growing;		/* the caller waits for more: events may yet appear */
	bool any;		/* none of the above is set, but for max and time */

	/* since cli_filter_open() */
	struct tacho_stream *stream;
	uint64_t first;		/* the first record's time; 0: not known */
	uint64_t from, to;	/* ns since 1970, both included */
	bool placed;		/* from and to are known */
	struct cli_verdict *types;	/* CLI_VERDICTS of each, direct-mapped */
	struct cli_verdict *tasks;
	struct tacho_query *query;	/* runs the expressions; NULL: there are none */
};

#define CLI_VERDICTS	1024u

void cli_filter_init(struct cli_filter *f);
void cli_filter_release(struct cli_filter *f);

/*
 * Takes one of the options.  CLI_OK when it was, CLI_USAGE with a message when
 * its argument is wrong, -1 when it is none of the filter's.
 */
int cli_filter_option(struct cli_filter *f, int opt, const char *arg);

/*
 * Prepares for a stream, none of whose records was read, and goes to the first
 * record in time.  Says so when a glob can match nothing.  CLI_OK or an exit
 * status with a message.
 */
int cli_filter_open(struct cli_filter *f, struct tacho_stream *stream);

enum cli_filter_verdict {
	CLI_FILTER_DROP,	/* none of its business */
	CLI_FILTER_HIDE,	/* another event of a CPU and time that are wanted */
	CLI_FILTER_PASS,
	CLI_FILTER_STOP,	/* and so is everything after it */
};

enum cli_filter_verdict cli_filter_look(struct cli_filter *f,
					const struct tacho_record *r);

#endif
