/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what the verbs of the tool share.
 *
 * Data goes to stdout, everything said to a person to stderr.  Exit status:
 * 0 done, 1 it failed, 2 the command line is wrong.
 */
#ifndef TACHO_CLI_CLI_H
#define TACHO_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/observer.h"

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

/* A verb.  usage is all that `tacho VERB --help` prints. */
struct cli_verb {
	const char *name;
	const char *summary;
	const char *usage;
	int (*run)(int argc, char **argv);	/* argv[0] is the verb */
};

extern const struct cli_verb cli_record, cli_report, cli_stat, cli_list,
	cli_start, cli_stop, cli_enable, cli_disable, cli_snapshot,
	cli_probe, cli_status, cli_destroy, cli_create, cli_convert, cli_recover,
	cli_check, cli_hist, cli_recipe, cli_sql, cli_filter_verb, cli_trigger, cli_synth,
	cli_mount, cli_umount, cli_model, cli_index, cli_explain, cli_diff, cli_view;

/* The verb that runs. */
extern const struct cli_verb *cli_verb;

/* "tacho: TEXT" on stderr; returns CLI_FAILED. */
int cli_fail(const char *fmt, ...) TACHO_PRINTF(1, 2);

/* The same with the sentence of d. */
int cli_fail_diag(const struct tacho_diag *d);

/*
 * The same, and the command that is wrong with a caret below the place, if d has one (see
 * app/command.h); command may be NULL.
 */
int cli_fail_at(const struct tacho_diag *d, const char *command);

/* "tacho: TEXT" and where help is; returns CLI_USAGE. */
int cli_usage(const char *fmt, ...) TACHO_PRINTF(1, 2);

/* A remark on stderr, unless --quiet. */
void cli_note(const char *fmt, ...) TACHO_PRINTF(1, 2);
extern bool cli_quiet;

/* Library code's remarks become cli_note()'s. */
extern const struct tacho_observer cli_observer;

/*
 * Writes the buffer to stdout; CLI_OK, or CLI_FAILED with a message (a closed pipe is no
 * message: the reader has seen enough).
 */
int cli_write(const struct tacho_buf *b);

/* Prints the buffer as one JSON line, and gives it back empty. */
int cli_write_json(struct tacho_buf *b);

/* getopt_long's letters and words every verb has: -h --help, -q --quiet, --json. */
enum {
	CLI_OPT_JSON = 0x100,
	CLI_OPT_FIRST = 0x101,		/* the verbs' own */
};
#define CLI_COMMON_OPTIONS						\
	{ "help", no_argument, NULL, 'h' },				\
	{ "quiet", no_argument, NULL, 'q' },				\
	{ "json", no_argument, NULL, CLI_OPT_JSON }

/*
 * Handles a common option; sets *json.  Returns -1 when it was handled and
 * parsing goes on, else the exit status (help was printed, or an unknown
 * option was named).
 */
int cli_common(int opt, bool *json);

#endif
