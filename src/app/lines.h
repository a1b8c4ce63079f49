/* SPDX-License-Identifier: MIT */
/*
 * lines.h - how records look as text (fmt/text/line.h), as a user says it.
 *
 *	app_lines_init();  app_lines_format(), _fields(), _set(), ...;  app_lines_release()
 */
#ifndef TACHO_APP_LINES_H
#define TACHO_APP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "fmt/text/line.h"

struct app_lines {
	struct tacho_line_config config;
	char **field;			/* config.field points here */
	size_t nr_fields;
};

enum app_lines_flag {
	APP_LINES_JSON,			/* the format, as app_lines_format("json") */
	APP_LINES_RAW,			/* all fields instead of the event's text */
	APP_LINES_RELATIVE,		/* times since the first record */
	APP_LINES_UTC,			/* date and time */
	APP_LINES_TICKS,		/* the clock's value as it was recorded */
	APP_LINES_NS,			/* nanoseconds */
	APP_LINES_DELTA,		/* also the time since the line before */
	APP_LINES_COLOUR,		/* terminal escapes around names */
	APP_LINES_TAME,			/* no control characters out of the events */
};

/* Lines as the kernel's trace file has them. */
void app_lines_init(struct app_lines *l);
void app_lines_release(struct app_lines *l);

/* "ftrace", "babeltrace" or "json".  Returns 0, or -EINVAL with d filled in. */
int app_lines_format(struct app_lines *l, const char *name, struct tacho_diag *d);

/*
 * Shows these fields only: "a,b", in addition to those of earlier calls.  Copies the names.
 * Returns 0, or -EINVAL (an empty name) or -ENOMEM with d filled in.
 */
int app_lines_fields(struct app_lines *l, const char *names, struct tacho_diag *d);

/* Of the kinds of time, the last one counts. */
void app_lines_set(struct app_lines *l, enum app_lines_flag flag);

#endif
