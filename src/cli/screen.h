/* SPDX-License-Identifier: MIT */
/*
 * screen.h - one picture after the other, in the same place of a terminal.
 *
 * On a terminal pictures are shown on its alternate screen, so that what was
 * there before comes back, cut to its rows and columns, and each is
 * drawn over the one before.  Where there is no such terminal (a pipe, a file,
 * $TERM is dumb) they come one below the other, whole.
 */
#ifndef TACHO_CLI_SCREEN_H
#define TACHO_CLI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Begins, and watches for changes of the terminal's size. */
void cli_screen_begin(void);

/* Shows one picture; an exit status, a message being said. */
int cli_screen_show(const struct tacho_buf *picture);

/* After cli_screen_end(): the last picture, whole.  As cli_screen_show(). */
int cli_screen_last(const struct tacho_buf *picture);

/* Back to what the terminal showed before.  May be called twice, or without a begin. */
void cli_screen_end(void);

/* Whether the terminal's size has changed since the last call. */
bool cli_screen_resized(void);

/* Columns of stdout, 80 where it has none. */
uint32_t cli_screen_width(void);

#endif
