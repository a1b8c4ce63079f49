/* SPDX-License-Identifier: MIT */
/*
 * command.h - filters, triggers and synthetic events: what is wrong with one, and where.
 *
 * Calls of this folder that take a command's text return 0 or a negative errno with a
 * struct tacho_diag.  Its offset is the column in that text, from 0, that the sentence is
 * about; APP_NO_PLACE: it is about none.
 */
#ifndef TACHO_APP_COMMAND_H
#define TACHO_APP_COMMAND_H

#include "engine/errlog.h"
#include "tracefs/control.h"
#include "session/command.h"

#define APP_NO_PLACE	TACHO_KERNEL_NO_PLACE

#define APP_EVENT_MAX	256

/*
 * Splits "EVENT/TEXT": copies EVENT (a glob) and returns TEXT, a part of arg.  Returns
 * NULL, with event unchanged, when arg does not begin with an EVENT.
 */
const char *app_split_event(const char *arg, char event[APP_EVENT_MAX]);

/* Makes a diag of what a parser said, e->column being its offset.  Returns e->err. */
int app_command_diag(struct tacho_diag *d, const struct tacho_cmd_error *e);

/*
 * Gives a session a command of one of the kinds that text can define (not
 * TACHO_COMMAND_EPROBE): see session/command.h.  event: not of a synthetic event.  matched
 * receives how many events of running programs event matches (1 for a synthetic event); it
 * may be NULL, and so may d.
 */
int app_command_set(struct tacho_session *s, enum tacho_command_kind kind, const char *event,
		    const char *text, uint32_t *matched, struct tacho_diag *d);

#endif
