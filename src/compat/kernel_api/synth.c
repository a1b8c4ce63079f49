// SPDX-License-Identifier: MIT
/*
 * Synthetic events of this process: made from text, known to libtacho as an object with one
 * tracepoint.
 *
 * An event is in the list from before it is registered until after it is unregistered, so
 * that its name is taken all the time; `ready` says when it can be used.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "compat/kernel_api/events.h"

/* More than 64 fields with the longest possible text need. */
#define ARENA_MAX	((size_t)1 << 20)
/* "synthetic:NAME" is to fit into a rule, and has room for a NUL. */
#define NAME_MAX_LEN	(TACHO_RULE_MAX - 3 - sizeof("synthetic:") + 1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tacho_user_event *events;

/* What an event points at before it is registered. */
static const uint64_t state_off[2];

void tacho_events_lock(void)
{
	pthread_mutex_lock(&lock);
}

void tacho_events_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child has the lock and the lists whole. */
__attribute__((constructor)) static void guard_fork(void)
{
	(void)pthread_atfork(tacho_events_lock, tacho_events_unlock,
			     tacho_events_unlock);
}

/* ---- the list ---- */

static struct tacho_user_event *find(const char *name)
{
	struct tacho_user_event *u = events;

	while (u && strcmp(u->synth->name, name) != 0)
		u = u->next;
	return u;
}

struct tacho_user_event *tacho_user_event_find(const char *name)
{
	struct tacho_user_event *u = find(name);

	return u && u->ready ? u : NULL;
}

static void unlink_event(const struct tacho_user_event *u)
{
	struct tacho_user_event **at = &events;

	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
}

static void free_event(struct tacho_user_event *u)
{
	tacho_arena_release(&u->arena);
	free(u);
}

/* ---- making one ---- */

/* Registers the fields and the print format of the engine's type with libtacho. */
static int describe(struct tacho_user_event *u)
{
	const struct tacho_type *type = u->synth->type;
	uint32_t n = u->synth->nr_fields;
	struct tacho_event_field *f = tacho_arena_array(&u->arena, n, sizeof(*f));

	if (!f)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct tacho_field *from = &type->fields[type->nr_common + i];

		f[i] = (struct tacho_event_field){
			.decl = from->decl,
			.offset = from->offset,
			.size = from->size,
			.is_signed = u->synth->field[i].is_signed,
			.align = sizeof(uint64_t),
		};
		u->dynamic |= u->synth->field[i].is_dynamic;
	}
	u->event = (struct tacho_event){
		.struct_size = sizeof(u->event),
		.state = state_off,
		.nr_fields = n,
		.system = type->system,
		.name = type->name,
		.fields = f,
		.print_fmt = type->print_fmt,
	};
	u->list[0] = &u->event;
	u->object = (struct tacho_object){
		.struct_size = sizeof(u->object),
		.events = u->list,
		.events_end = u->list + 1,
	};
	return 0;
}

/* An event from the text of a command, not in the list yet. */
static int parse(const char *text, struct tacho_user_event **event)
{
	struct tacho_user_event *u = calloc(1, sizeof(*u));
	struct tacho_cmd_error e = { 0 };
	int err;

	if (!u)
		return -ENOMEM;
	tacho_arena_init(&u->arena, ARENA_MAX);
	u->synth = tacho_synth_parse(&u->arena, text, &e);
	if (!u->synth)
		err = e.err;
	else if (strlen(u->synth->name) > NAME_MAX_LEN)
		err = -ENAMETOOLONG;
	else
		err = describe(u);
	if (err)
		free_event(u);
	else
		*event = u;
	return err;
}

/* Puts it into the list; false: the name is taken. */
static bool reserve(struct tacho_user_event *u)
{
	bool taken;

	tacho_events_lock();
	taken = find(u->synth->name);
	if (!taken) {
		u->next = events;
		events = u;
	}
	tacho_events_unlock();
	return !taken;
}

/* Takes it out of the list again, and out of libtacho. */
static void forget(struct tacho_user_event *u)
{
	tacho_object_unregister(&u->object);
	tacho_events_lock();
	unlink_event(u);
	tacho_events_unlock();
	free_event(u);
}

static int create(const char *text)
{
	struct tacho_user_event *u = NULL;
	int err;

	/* comments are for files; a '!' removes */
	if (strpbrk(text, "#!"))
		return -EINVAL;
	err = parse(text, &u);
	if (!u)
		return err;
	if (!reserve(u)) {
		free_event(u);
		return -EEXIST;
	}
	err = tacho_object_register(&u->object);
	if (err) {
		forget(u);
		return err;
	}
	tacho_events_lock();
	u->ready = true;
	tacho_events_unlock();
	return 0;
}

/* ---- deleting one ---- */

TACHO_EXPORT int synth_event_delete(const char *name)
{
	struct tacho_user_event *u;
	int err = 0;

	tacho_events_lock();
	u = name ? find(name) : NULL;
	if (!u)
		err = -ENOENT;
	else if (!u->ready || u->files || tacho_load_relaxed(u->event.state))
		err = -EBUSY;
	else
		u->ready = false;
	tacho_events_unlock();
	if (!err)
		forget(u);
	return err;
}

/* ---- commands ---- */

/* Whether type, as it is written, is one that a field can have. */
static int check_type(void *data)
{
	const struct dynevent_arg_pair *pair = data;
	const struct tacho_synth *synth = NULL;
	struct tacho_cmd_error e = { 0 };
	char text[MAX_DYNEVENT_CMD_LEN];
	struct tacho_arena arena;
	int err = 0;

	if (strlen(pair->lhs) + sizeof("x  f") > sizeof(text))
		return -E2BIG;
	(void)stpcpy(stpcpy(stpcpy(text, "x "), pair->lhs), " f");
	tacho_arena_init(&arena, ARENA_MAX);
	if (!strchr(text, '#'))
		synth = tacho_synth_parse(&arena, text, &e);
	if (!synth)
		err = e.err == -ENOMEM ? -ENOMEM : -EINVAL;
	else if (synth->nr_fields != 1 || strcmp(synth->field[0].type, pair->lhs) != 0)
		err = -EINVAL;
	tacho_arena_release(&arena);
	return err;
}

static int run_command(struct dynevent_cmd *cmd)
{
	return create(cmd->seq.buffer);
}

TACHO_EXPORT void synth_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen)
{
	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_SYNTH, run_command);
}

/* What all begin with: the name. */
static int start(struct dynevent_cmd *cmd, const char *name, struct module *mod)
{
	struct dynevent_arg arg;

	if (!cmd || cmd->type != DYNEVENT_TYPE_SYNTH || !name)
		return -EINVAL;
	cmd->event_name = name;
	cmd->private_data = mod;
	__dynevent_arg_init(&arg, NULL, 0);
	arg.str = name;
	return __dynevent_arg_add(cmd, &arg, NULL);
}

TACHO_EXPORT int synth_event_add_field(struct dynevent_cmd *cmd, const char *type,
				       const char *name)
{
	struct dynevent_arg_pair pair;
	int err;

	if (!cmd || cmd->type != DYNEVENT_TYPE_SYNTH || !type || !name)
		return -EINVAL;
	__dynevent_arg_pair_init(&pair, check_type, 0, ';');
	pair.lhs = type;
	pair.rhs = name;
	err = __dynevent_arg_pair_add(cmd, &pair, NULL);
	if (err)
		return err;
	return ++cmd->n_fields > TACHO_SYNTH_FIELDS_MAX ? -EINVAL : 0;
}

TACHO_EXPORT int synth_event_add_field_str(struct dynevent_cmd *cmd,
					   const char *type_name)
{
	struct dynevent_arg arg;
	int err;

	if (!cmd || cmd->type != DYNEVENT_TYPE_SYNTH || !type_name)
		return -EINVAL;
	__dynevent_arg_init(&arg, NULL, ';');
	arg.str = type_name;
	err = __dynevent_arg_add(cmd, &arg, NULL);
	if (err)
		return err;
	return ++cmd->n_fields > TACHO_SYNTH_FIELDS_MAX ? -EINVAL : 0;
}

TACHO_EXPORT int synth_event_add_fields(struct dynevent_cmd *cmd,
					const struct synth_field_desc *fields,
					unsigned int n_fields)
{
	int err = fields || !n_fields ? 0 : -EINVAL;

	for (unsigned int i = 0; !err && i < n_fields; i++)
		err = synth_event_add_field(cmd, fields[i].type, fields[i].name);
	return err;
}

TACHO_EXPORT int __synth_event_gen_cmd_start(struct dynevent_cmd *cmd,
					     const char *name,
					     struct module *mod, ...)
{
	int err = start(cmd, name, mod);
	const char *type;
	va_list ap;

	va_start(ap, mod);
	while (!err && (type = va_arg(ap, const char *)))
		err = synth_event_add_field(cmd, type, va_arg(ap, const char *));
	va_end(ap);
	return err;
}

TACHO_EXPORT int synth_event_gen_cmd_array_start(struct dynevent_cmd *cmd,
						 const char *name,
						 struct module *mod,
						 const struct synth_field_desc *fields,
						 unsigned int n_fields)
{
	int err = n_fields > TACHO_SYNTH_FIELDS_MAX ? -EINVAL :
		  start(cmd, name, mod);

	return err ? err : synth_event_add_fields(cmd, fields, n_fields);
}

TACHO_EXPORT int synth_event_create(const char *name,
				    const struct synth_field_desc *fields,
				    unsigned int n_fields, struct module *mod)
{
	char buf[MAX_DYNEVENT_CMD_LEN];
	struct dynevent_cmd cmd;
	int err;

	synth_event_cmd_init(&cmd, buf, sizeof(buf));
	err = synth_event_gen_cmd_array_start(&cmd, name, mod, fields, n_fields);
	return err ? err : synth_event_gen_cmd_end(&cmd);
}
