/* SPDX-License-Identifier: MIT */
/* term.h - what depends on a person sitting at the other end: colour, pager. */
#ifndef TACHO_CLI_TERM_H
#define TACHO_CLI_TERM_H

#include <stdbool.h>

enum cli_colour { CLI_COLOUR_AUTO, CLI_COLOUR_ALWAYS, CLI_COLOUR_NEVER };

/* "auto", "always", "never"; false for anything else. */
bool cli_colour_parse(const char *arg, enum cli_colour *c);

/*
 * Whether to colour what goes to stdout: AUTO does on a terminal, unless
 * $NO_COLOR is set or $TERM is "dumb".
 */
bool cli_colour_wanted(enum cli_colour c);

/*
 * Puts a pager between stdout and the terminal, if stdout is one: $PAGER, or
 * less.  To be undone with cli_pager_end(), which waits for the person to leave
 * it.  Without a pager (none found, $PAGER is "" or "cat") nothing happens.
 */
void cli_pager_begin(void);
void cli_pager_end(void);

#endif
