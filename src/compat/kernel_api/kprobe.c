// SPDX-License-Identifier: MIT
/*
 * Kprobe events: commands for the kernel's kprobe_events file, and events of the kernel
 * as members of the global trace array.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "compat/kernel_api/events.h"
#include "tracefs/tracefs.h"

#define ARGS_MAX	128	/* the kernel's MAX_TRACE_ARGS */
#define EVENT_NAME_MAX	64	/* the kernel's MAX_EVENT_NAME_LEN */

/* ---- the kernel's files ---- */

/* Opens tracefs if it has kprobe events. */
static int open_tracefs(struct tacho_tracefs *t)
{
	int err = tacho_tracefs_open(t, 0, NULL);

	if (err)
		return err == -ENODEV ? -EOPNOTSUPP : err;
	if (!faccessat(t->dirfd, "kprobe_events", F_OK, 0))
		return 0;
	tacho_tracefs_close(t);
	return -EOPNOTSUPP;
}

/* One command; the kernel's answer. */
static int run_text(const char *text)
{
	struct tacho_tracefs t;
	int err;

	/* it would be two commands, or end in a comment */
	if (text[strcspn(text, "\n#")])
		return -EINVAL;
	err = open_tracefs(&t);
	if (err)
		return err;
	err = tacho_tracefs_write(t.dirfd, "kprobe_events", text, true, NULL);
	tacho_tracefs_close(&t);
	return err;
}

/* Makes the path of an event's `enable`; false: no names for a path. */
static bool enable_path(char *path, size_t size, const char *system,
			const char *event)
{
	if (!*system || !*event || strchr(system, '/') || strchr(event, '/') ||
	    *system == '.' || *event == '.')
		return false;
	return snprintf(path, size, "events/%s/%s/enable", system, event) < (int)size;
}

bool tacho_kernel_event_known(const char *system, const char *event)
{
	char path[TACHO_RULE_MAX + 64];
	struct tacho_tracefs t;
	bool known;

	if (!enable_path(path, sizeof(path), system, event) ||
	    tacho_tracefs_open(&t, 0, NULL))
		return false;
	known = !faccessat(t.dirfd, path, F_OK, 0);
	tacho_tracefs_close(&t);
	return known;
}

int tacho_kernel_event_enable(const char *system, const char *event, bool on)
{
	char path[TACHO_RULE_MAX + 64];
	struct tacho_tracefs t;
	int err;

	if (!enable_path(path, sizeof(path), system, event))
		return -EINVAL;
	err = tacho_tracefs_open(&t, 0, NULL);
	if (err)
		return err;
	err = tacho_tracefs_write(t.dirfd, path, on ? "1" : "0", false, NULL);
	tacho_tracefs_close(&t);
	return err;
}

/* ---- commands ---- */

static int run_command(struct dynevent_cmd *cmd)
{
	return run_text(cmd->seq.buffer);
}

TACHO_EXPORT void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen)
{
	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_KPROBE, run_command);
}

static int add_word(struct dynevent_cmd *cmd, const char *word)
{
	struct dynevent_arg arg;

	__dynevent_arg_init(&arg, NULL, 0);
	arg.str = word;
	return __dynevent_arg_add(cmd, &arg, NULL);
}

/* Fields up to a NULL. */
static int add_fields(struct dynevent_cmd *cmd, va_list *ap)
{
	const char *field;
	int err = 0;

	while (!err && (field = va_arg(*ap, const char *)))
		err = ++cmd->n_fields > ARGS_MAX ? -EINVAL : add_word(cmd, field);
	return err;
}

TACHO_EXPORT int __kprobe_event_gen_cmd_start(struct dynevent_cmd *cmd,
					      bool kretprobe, const char *name,
					      const char *loc, ...)
{
	va_list ap;
	int err;

	if (!cmd || cmd->type != DYNEVENT_TYPE_KPROBE || !name || !loc)
		return -EINVAL;
	err = dynevent_str_add(cmd, kretprobe ? "r:kprobes/" : "p:kprobes/");
	if (!err)
		err = dynevent_str_add(cmd, name);
	if (!err)
		err = add_word(cmd, loc);
	va_start(ap, loc);
	if (!err)
		err = add_fields(cmd, &ap);
	va_end(ap);
	return err;
}

TACHO_EXPORT int __kprobe_event_add_fields(struct dynevent_cmd *cmd, ...)
{
	va_list ap;
	int err;

	if (!cmd || cmd->type != DYNEVENT_TYPE_KPROBE)
		return -EINVAL;
	va_start(ap, cmd);
	err = add_fields(cmd, &ap);
	va_end(ap);
	return err;
}

TACHO_EXPORT int kprobe_event_delete(const char *name)
{
	char text[EVENT_NAME_MAX + 2];
	size_t len = name ? strlen(name) : 0;

	/* "kprobes/" alone would mean all */
	if (!len || len >= EVENT_NAME_MAX || name[strcspn(name, " \t\v\f\r/")])
		return -EINVAL;
	(void)snprintf(text, sizeof(text), "-:%s", name);
	return run_text(text);
}
