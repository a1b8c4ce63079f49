// SPDX-License-Identifier: MIT
/*
 * Which commands fit no event.
 *
 * A program compiles a session's commands for itself, and does not report one that
 * does not compile: a glob may cover events without the field.  But it adds the types of
 * all events that it compiled for to the session's table.  So a tool that compiles
 * the commands for the types of that table learns the same.
 */
#include <errno.h>
#include <string.h>

#include "session/command_priv.h"

struct fitting {
	struct tacho_order o;
	int (*fn)(const struct tacho_command_info *c,
		  const struct tacho_cmd_error *why, void *arg);
	void *arg;
};

static int check(struct tacho_order *o, enum tacho_command_kind kind)
{
	struct tacho_trigger_spec *spec;

	if (kind == TACHO_COMMAND_FILTER)
		return tacho_order_check_all(o, tacho_order_check_filter);
	spec = tacho_arena_alloc(&o->arena, sizeof(*spec));
	if (!spec || tacho_trigger_parse(spec, &o->arena, o->text, NULL))
		return 0;
	o->spec = spec;
	return tacho_order_check_all(o, tacho_order_check_trigger);
}

static int fit_one(const struct tacho_command_info *c, void *arg)
{
	struct fitting *f = arg;
	struct tacho_cmd_error why = { 0 };
	int err;

	if (c->hidden || c->kind == TACHO_COMMAND_SYNTH || c->kind == TACHO_COMMAND_EPROBE ||
	    (c->kind == TACHO_COMMAND_FILTER && tacho_command_is_zero(c->text)))
		return 0;
	f->o.text = c->text;
	f->o.e = &why;
	f->o.serial = c->serial;
	memcpy(f->o.glob, c->event, sizeof(f->o.glob));
	err = check(&f->o, c->kind);
	if (!err || err == -ENOMEM)
		return err;
	if (err == 1)
		(void)tacho_cmd_error(&why, -ENOENT, 0, "No such event");
	return f->fn(c, &why, f->arg);
}

int tacho_commands_unfit(struct tacho_session *s,
			 int (*fn)(const struct tacho_command_info *c,
				   const struct tacho_cmd_error *why, void *arg),
			 void *arg)
{
	struct fitting f = { .fn = fn, .arg = arg };
	int err = tacho_order_begin(&f.o, s, NULL, "", NULL);

	tacho_known_release(&f.o.known);
	if (!err)
		err = tacho_known_load_table(&f.o.known, s);
	if (!err)
		err = tacho_commands_each(s, fit_one, &f);
	tacho_order_end(&f.o);
	return err;
}
