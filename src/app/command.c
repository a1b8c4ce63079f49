// SPDX-License-Identifier: MIT
#include "app/command.h"

#include <string.h>

const char *app_split_event(const char *arg, char event[APP_EVENT_MAX])
{
	size_t n = strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "0123456789_:*?-.");

	if (!n || arg[n] != '/' || n >= APP_EVENT_MAX)
		return NULL;
	memcpy(event, arg, n);
	event[n] = '\0';
	return arg + n + 1;
}

int app_command_diag(struct tacho_diag *d, const struct tacho_cmd_error *e)
{
	return tacho_diag(d, e->err, e->column, "%s",
			  e->text[0] ? e->text : strerror(-e->err));
}

int app_command_set(struct tacho_session *s, enum tacho_command_kind kind, const char *event,
		    const char *text, uint32_t *matched, struct tacho_diag *d)
{
	struct tacho_cmd_error e = { 0 };
	int err;

	if (matched)
		*matched = 1;
	switch (kind) {
	case TACHO_COMMAND_FILTER:
		err = tacho_command_filter(s, event, text, matched, &e);
		break;
	case TACHO_COMMAND_TRIGGER:
		err = tacho_command_trigger(s, event, text, matched, &e);
		break;
	case TACHO_COMMAND_SYNTH:
		err = tacho_command_synth(s, text, &e);
		break;
	case TACHO_COMMAND_EPROBE:
	default:
		err = tacho_cmd_error(&e, -EINVAL, 0, "No such kind of command");
		break;
	}
	return err ? app_command_diag(d, &e) : 0;
}
