/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what LKST's commands share (specification 4.7.3): lkst, lkstm, lkstbuf, lksteh,
 * lkstlogger, lkstlogd, logformat.
 *
 * A command is `lkstm write -f FILE`: a word, which may have an alias, then options.  Exit status
 * 0, or not: 1 failed, 2 not understood.  What is wrong is one sentence on stderr.
 */
#ifndef TACHO_CLI_LKST_TOOL_H
#define TACHO_CLI_LKST_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "compat/lkst/lkst.h"
#include "fmt/lkst/types.h"

#define TOOL_OK		0
#define TOOL_FAILED	1
#define TOOL_USAGE	2

struct tool_command {
	const char *name, *alias;	/* alias NULL: none */
	/* argv[0] is the command; an exit status */
	int (*run)(int argc, char **argv);
	const char *options;		/* for help: "-m ID | -n NAME"; "" */
	const char *help;
};

/*
 * Runs what argv says.  `version` and `help` are every tool's; no word at all is help on stderr
 * and TOOL_USAGE.  The table ends with a NULL name.
 */
int tool_main(const struct tool_command *table, const char *about, int argc, char **argv);

/* The name of this tool, for messages. */
extern const char *tool_name;

/* A sentence on stderr; status is returned. */
int tool_fail(int status, const char *fmt, ...) TACHO_PRINTF(2, 3);

/* What an operation's errno means: "cannot WHAT: SENTENCE".  TOOL_FAILED. */
int tool_failed(int err, const char *fmt, ...) TACHO_PRINTF(2, 3);

void tool_version(void);

/* Opens LKST; TOOL_OK, or TOOL_FAILED with a sentence. */
int tool_open(struct tacho_lkst *l);

/* Numbers: decimal, 0x and 0; the whole text.  TOOL_OK, or TOOL_USAGE with a sentence. */
int tool_number(const char *text, const char *what, uint64_t max, uint64_t *value);
/* Likewise with K or M behind it: bytes. */
int tool_size(const char *text, const char *what, uint64_t *bytes);

/* The next option of getopt(3) for a command; a wrong one is said and is '?'. */
int tool_option(int argc, char **argv, const char *letters);

/* Words behind the options are too many: TOOL_USAGE with a sentence. */
int tool_no_more(int argc, char **argv);

/* The kernel's types and LKST's own, which are known everywhere. */
void tool_types_embedded(struct lkst_types *types);

/* The types that LKST knows now, and those of a file (NULL: none).  TOOL_OK or TOOL_FAILED. */
int tool_types(struct tacho_lkst *l, const char *etype_file, struct lkst_types *types);
int tool_types_file(const char *etype_file, struct lkst_types *types);

#endif
