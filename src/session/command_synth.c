// SPDX-License-Identifier: MIT
/* Defining and removing synthetic events. */
#include <errno.h>
#include <string.h>

#include "session/command_priv.h"
#include "session/edit.h"

#define FORMAT_MAX	((size_t)1 << 20)

static struct tacho_command *find_synth(const struct tacho_order *o)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *c = tacho_order_at(o, i, TACHO_COMMAND_SYNTH);

		if (c && !strcmp(c->event, o->glob))
			return c;
	}
	return NULL;
}

/* Whether a histogram generates the event, or it has a filter, a trigger or an event probe. */
static bool is_used(struct tacho_order *o, const char *name)
{
	uint32_t n = tacho_view_nr_commands(&o->s->view);

	for (uint32_t i = 0; i < n; i++) {
		struct tacho_command *c = tacho_order_at(o, i, TACHO_COMMAND_TRIGGER);
		const struct tacho_trigger_spec *spec;
		struct tacho_compile compile;

		if (tacho_order_at(o, i, TACHO_COMMAND_FILTER) &&
		    !strcmp(o->s->view.commands->command[i].event, o->glob))
			return true;
		if (tacho_view_eprobe_is_on(&o->s->view, i, o->glob))
			return true;
		if (!c)
			continue;
		tacho_order_compile(o, &compile, &o->arena);
		spec = tacho_compile_trigger(&compile, c);
		if (!strcmp(c->event, o->glob))
			return true;
		for (uint32_t k = 0; spec && spec->cmd == TACHO_TRIGGER_HIST &&
		     k < spec->hist.nr_actions; k++) {
			const char *synth = spec->hist.action[k]->synth;

			if (synth && !strcmp(synth, name))
				return true;
		}
	}
	return false;
}

static int remove_synth(struct tacho_order *o, const char *name)
{
	struct tacho_command *c = find_synth(o);

	if (!c)
		return tacho_cmd_error(o->e, -ENOENT, 1,
				       "There is no synthetic event '%s'", name);
	if (is_used(o, name))
		return tacho_cmd_error(o->e, -EBUSY, 1,
				       "Synthetic event '%s' is in use", name);
	tacho_edit_begin(&o->s->view);
	tacho_order_remove(o, c);
	tacho_edit_end(&o->s->view);
	return 0;
}

/* Its type in the session's table: programs find the id in the command. */
static int add_type(struct tacho_order *o, const struct tacho_synth *synth)
{
	struct tacho_buf b;
	int id;

	tacho_buf_init(&b, FORMAT_MAX);
	tacho_buf_printf(&b, "%s\n", o->glob);
	tacho_type_write(synth->type, false, &b);
	id = tacho_buf_error(&b) ? tacho_buf_error(&b) :
	     tacho_types_add(&o->s->view, b.data, (uint32_t)b.len);
	tacho_buf_release(&b);
	if (id < 0)
		return tacho_cmd_error(o->e, id, 0, "No room for the event's type: %s",
				       strerror(-id));
	return id;
}

static int add_synth(struct tacho_order *o)
{
	struct tacho_command new = {
		.kind = TACHO_COMMAND_SYNTH, .left = UINT64_MAX,
	};
	struct tacho_synth *synth;
	struct tacho_cmd_error e = { 0 };
	int id;

	synth = tacho_synth_parse(&o->arena, o->text, &e);
	if (!synth)
		return tacho_cmd_error(o->e, e.err ? e.err : -ENOMEM, e.column, "%s",
				       e.text);
	if (!tacho_compile_name("synthetic", synth->name, o->glob))
		return tacho_cmd_error(o->e, -EINVAL, 0, "Event's name is too long");
	if (find_synth(o))
		return tacho_cmd_error(o->e, -EEXIST, 0, "Event already exists");
	id = add_type(o, synth);
	if (id < 0)
		return id;
	new.series = (uint32_t)id;
	tacho_edit_begin(&o->s->view);
	id = tacho_order_add(o, &new, o->glob, o->text);
	tacho_edit_end(&o->s->view);
	return id < 0 ? id : 0;
}

static int synth_locked(struct tacho_order *o)
{
	const char *text = o->text + strspn(o->text, " \t\n");
	char name[TACHO_RULE_MAX];
	const char *at;
	size_t len;

	if (*text != '!')
		return add_synth(o);
	if (!tacho_synth_name(text, &at, &len) || !len || len >= sizeof(name))
		return tacho_cmd_error(o->e, -EINVAL, 0, "Event's name is missing");
	memcpy(name, at, len);
	name[len] = '\0';
	if (!tacho_compile_name("synthetic", name, o->glob))
		return tacho_cmd_error(o->e, -EINVAL, 0, "Event's name is too long");
	return remove_synth(o, name);
}

int tacho_command_synth(struct tacho_session *s, const char *text,
			struct tacho_cmd_error *e)
{
	/* applied to programs, because a histogram that names it may exist already */
	return tacho_order_give(s, NULL, text, synth_locked, NULL, e);
}
