// SPDX-License-Identifier: MIT
#include "app/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void app_lines_init(struct app_lines *l)
{
	*l = (struct app_lines){ .nr_fields = 0 };
}

void app_lines_release(struct app_lines *l)
{
	for (size_t i = 0; i < l->nr_fields; i++)
		free(l->field[i]);
	free(l->field);
}

int app_lines_format(struct app_lines *l, const char *name, struct tacho_diag *d)
{
	if (!strcmp(name, "ftrace"))
		l->config.format = TACHO_LINE_FTRACE;
	else if (!strcmp(name, "babeltrace"))
		l->config.format = TACHO_LINE_BABELTRACE;
	else if (!strcmp(name, "json"))
		l->config.format = TACHO_LINE_JSON;
	else
		return tacho_diag(d, -EINVAL, 0, "'%s' is not one of ftrace, babeltrace, json", name);
	return 0;
}

int app_lines_fields(struct app_lines *l, const char *arg, struct tacho_diag *d)
{
	do {
		size_t len = strcspn(arg, ",");
		char **p;

		if (!len)
			return tacho_diag(d, -EINVAL, 0, "an empty name in '%s'", arg);
		p = reallocarray(l->field, l->nr_fields + 1, sizeof(*p));
		if (!p)
			return tacho_no_memory(d);
		l->field = p;
		p[l->nr_fields] = strndup(arg, len);
		if (!p[l->nr_fields])
			return tacho_no_memory(d);
		l->nr_fields++;
		l->config.field = (const char *const *)l->field;
		l->config.nr_fields = l->nr_fields;
		arg += len + (arg[len] == ',');
	} while (*arg);
	return 0;
}

void app_lines_set(struct app_lines *l, enum app_lines_flag flag)
{
	struct tacho_line_config *c = &l->config;

	switch (flag) {
	case APP_LINES_JSON:
		c->format = TACHO_LINE_JSON;
		break;
	case APP_LINES_RAW:
		c->raw = true;
		break;
	case APP_LINES_RELATIVE:
		c->time = TACHO_LINE_RELATIVE;
		break;
	case APP_LINES_UTC:
		c->time = TACHO_LINE_UTC;
		break;
	case APP_LINES_TICKS:
		c->time = TACHO_LINE_TICKS;
		break;
	case APP_LINES_NS:
		c->ns = true;
		break;
	case APP_LINES_DELTA:
		c->delta = true;
		break;
	case APP_LINES_COLOUR:
		c->colour = true;
		break;
	case APP_LINES_TAME:
		c->tame = true;
		break;
	}
}
