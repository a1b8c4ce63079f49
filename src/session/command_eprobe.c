// SPDX-License-Identifier: MIT
/* Defining and removing event probes. */
#include <errno.h>
#include <string.h>

#include "session/command_priv.h"
#include "session/edit.h"

#define FORMAT_MAX	((size_t)1 << 20)

/* The command of a kind for exactly the event o->glob; NULL: there is none. */
static struct tacho_command *find(const struct tacho_order *o, enum tacho_command_kind kind)
{
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		struct tacho_command *c = tacho_order_at(o, i, kind);

		if (c && !strncmp(c->event, o->glob, sizeof(c->event)))
			return c;
	}
	return NULL;
}

/* Its type in the session's table: programs find the id in the command. */
static int add_type(struct tacho_order *o, const struct tacho_type *type)
{
	struct tacho_buf b;
	int id;

	tacho_buf_init(&b, FORMAT_MAX);
	tacho_buf_printf(&b, "%s\n\n", o->glob);
	tacho_type_write(type, false, &b);
	id = tacho_buf_error(&b) ? tacho_buf_error(&b) :
	     tacho_types_add(&o->s->view, b.data, (uint32_t)b.len);
	tacho_buf_release(&b);
	if (id < 0)
		return tacho_cmd_error(o->e, id, 0, "No room for the event's type: %s",
				       strerror(-id));
	return id;
}

int tacho_command_eprobe(struct tacho_session *s, const char *event, const char *text,
			 const struct tacho_type *type, struct tacho_cmd_error *e)
{
	struct tacho_command new = { .kind = TACHO_COMMAND_EPROBE, .left = UINT64_MAX };
	struct tacho_order o;
	int err = tacho_order_begin(&o, s, event, text, e);

	if (!err && find(&o, TACHO_COMMAND_EPROBE))
		err = tacho_cmd_error(e, -EEXIST, 0, "Event already exists");
	if (!err) {
		err = add_type(&o, type);
		new.series = (uint32_t)err;
	}
	if (err > 0) {
		tacho_edit_begin(&s->view);
		err = tacho_order_add(&o, &new, o.glob, text);
		tacho_edit_end(&s->view);
	}
	if (err > 0)
		err = tacho_order_apply(&o, NULL, NULL);
	tacho_order_end(&o);
	return err < 0 ? err : 0;
}

int tacho_command_eprobe_remove(struct tacho_session *s, const char *event,
				struct tacho_cmd_error *e)
{
	struct tacho_order o;
	struct tacho_command *c, *filter;
	int err = tacho_order_begin(&o, s, event, "", e);

	c = err ? NULL : find(&o, TACHO_COMMAND_EPROBE);
	if (!err && !c)
		err = tacho_cmd_error(e, -ENOENT, 0, "There is no event probe '%s'", event);
	if (!err && (tacho_view_rules_want(&s->view, o.glob) ||
		     tacho_view_soft(&s->view, o.glob) || find(&o, TACHO_COMMAND_TRIGGER)))
		err = tacho_cmd_error(e, -EBUSY, 0, "Event probe '%s' is in use", event);
	if (!err) {
		tacho_edit_begin(&s->view);
		tacho_order_remove(&o, c);
		filter = find(&o, TACHO_COMMAND_FILTER);
		if (filter)
			tacho_order_remove(&o, filter);
		tacho_edit_end(&s->view);
		err = tacho_order_apply(&o, NULL, NULL);
	}
	tacho_order_end(&o);
	return err;
}
