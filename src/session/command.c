// SPDX-License-Identifier: MIT
/* Adding commands: checks, and changes of the table. */
#include "session/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "base/text.h"
#include "session/command_priv.h"
#include "session/edit.h"
#include "sys/mapping.h"

/* Memory for compiling one command, and everything that it names, for one type. */
#define COMPILE_MAX	((size_t)16 << 20)

/* ---- begin and end ---- */

/* Completes a user's event name to "system:event"; false: malformed. */
static bool full_glob(const struct tacho_known *k, const char *event,
		      char glob[TACHO_RULE_MAX])
{
	const char *colon = strchr(event, ':');
	char other[TACHO_RULE_MAX];

	if (!*event || strlen(event) + 3 > TACHO_RULE_MAX)
		return false;
	if (colon) {
		(void)snprintf(glob, TACHO_RULE_MAX, "%s%s%s",
			       colon == event ? "*" : "", event,
			       colon[1] ? "" : "*");
		return true;
	}
	(void)snprintf(glob, TACHO_RULE_MAX, "%s:*", event);
	(void)snprintf(other, sizeof(other), "*:%s", event);
	if (!tacho_known_any(k, glob) && tacho_known_any(k, other))
		memcpy(glob, other, sizeof(other));
	return true;
}

int tacho_order_begin(struct tacho_order *o, struct tacho_session *s,
		      const char *event, const char *text,
		      struct tacho_cmd_error *e)
{
	int err;

	*o = (struct tacho_order){ .s = s, .text = text, .e = e };
	tacho_arena_init(&o->arena, COMPILE_MAX);
	if (strlen(text) >= TACHO_COMMAND_TEXT)
		return tacho_cmd_error(e, -EINVAL, TACHO_COMMAND_TEXT - 1,
				       "Command is longer than %d bytes",
				       TACHO_COMMAND_TEXT - 1);
	err = tacho_dir_lock(s->dir);
	if (err)
		return tacho_cmd_error(e, err, 0, "Cannot lock '%s': %s",
				       s->dir->path, strerror(-err));
	o->locked = true;
	err = tacho_known_load(&o->known, s);
	if (err)
		return tacho_cmd_error(e, err, 0, err == -ENOMEM ? "No memory" :
				       "Cannot read what events there are: %s",
				       strerror(-err));
	if (event && !full_glob(&o->known, event, o->glob))
		return tacho_cmd_error(e, -EINVAL, 0, "An event's name has 1 to %d "
				       "bytes", TACHO_RULE_MAX - 3);
	return 0;
}

void tacho_order_end(struct tacho_order *o)
{
	if (o->locked)
		tacho_dir_unlock(o->s->dir);
	tacho_known_release(&o->known);
	tacho_arena_release(&o->arena);
}

int tacho_order_apply(struct tacho_order *o, const char *glob, uint32_t *matched)
{
	int err = tacho_edit_apply(o->s, glob, matched);

	return err ? tacho_cmd_error(o->e, err, 0, "Not all processes were updated: %s",
				     strerror(-err)) : 0;
}

int tacho_order_give(struct tacho_session *s, const char *event, const char *text,
		     int (*give)(struct tacho_order *o), uint32_t *matched,
		     struct tacho_cmd_error *e)
{
	struct tacho_order o;
	uint32_t n = 0;
	int err = tacho_order_begin(&o, s, event, text, e);

	if (!err)
		err = give(&o);
	if (!err)
		err = tacho_order_apply(&o, o.glob, &n);
	else if (err == -EEXIST)	/* given again, because not all processes were told */
		(void)tacho_edit_apply(s, NULL, NULL);
	tacho_order_end(&o);
	if (matched)
		*matched = n;
	return err;
}

/* ---- the table ---- */

/* Allocates blocks for slot i before it is written. */
static int allocate_place(const struct tacho_session *s, uint32_t i)
{
	uint64_t from = offsetof(struct tacho_commands, command) +
			(uint64_t)i * sizeof(struct tacho_command);
	uint64_t first = from & ~UINT64_C(4095);
	int dirfd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd, err;

	if (dirfd < 0)
		return -errno;
	fd = tacho_shm_open(dirfd, "commands");
	close(dirfd);
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, first,
				 TACHO_ABI_PAGE_UP(from + sizeof(struct tacho_command)) -
				 first);
	close(fd);
	return err;
}

/* Finds a free slot with blocks, or returns NULL with o->e filled in. */
static struct tacho_command *find_place(struct tacho_order *o)
{
	struct tacho_commands *t = o->s->view.commands;
	uint32_t n = tacho_view_nr_commands(&o->s->view);
	int err;

	for (uint32_t i = 0; i < n; i++)
		if (t->command[i].state != TACHO_COMMAND_LIVE)
			return &t->command[i];
	if (n == TACHO_COMMANDS_MAX) {
		(void)tacho_cmd_error(o->e, -ENOSPC, 0, "Session has %d commands "
				      "already", TACHO_COMMANDS_MAX);
		return NULL;
	}
	err = allocate_place(o->s, n);
	if (err) {
		(void)tacho_cmd_error(o->e, err, 0, "No room for a command: %s",
				      strerror(-err));
		return NULL;
	}
	tacho_store_release(&t->nr, n + 1);	/* [commands] */
	return &t->command[n];
}

int tacho_order_add(struct tacho_order *o, const struct tacho_command *new,
		    const char *event, const char *text)
{
	struct tacho_commands *t = o->s->view.commands;
	struct tacho_command *c = find_place(o);

	if (!c)
		return -ENOSPC;
	c->kind = new->kind;
	tacho_store_relaxed(&c->left, new->left);
	tacho_store_relaxed(&c->serial, ++t->serials);
	c->flags = new->flags;
	c->soft = new->soft;
	c->series = new->series ? new->series : t->serials;
	c->owner = new->owner;
	memset(c->event, 0, sizeof(c->event));
	memcpy(c->event, event, strnlen(event, sizeof(c->event) - 1));
	memset(c->text, 0, sizeof(c->text));
	memcpy(c->text, text, strnlen(text, sizeof(c->text) - 1));
	TACHO_INJECT(command_added);
	tacho_store_release(&c->state, TACHO_COMMAND_LIVE);	/* [command] */
	return (int)t->serials;
}

void tacho_order_remove(struct tacho_order *o, struct tacho_command *c)
{
	(void)o;
	tacho_store_release(&c->state, TACHO_COMMAND_FREE);	/* [command] */
}

/* The i-th slot if it has a live command of that kind. */
struct tacho_command *tacho_order_at(const struct tacho_order *o, uint32_t i,
				     enum tacho_command_kind kind)
{
	struct tacho_command *c = &o->s->view.commands->command[i];

	if (i >= tacho_view_nr_commands(&o->s->view) ||
	    tacho_load_acquire(&c->state) != TACHO_COMMAND_LIVE ||	/* [command] */
	    c->kind != kind)
		return NULL;
	return c;
}

/* ---- checks ---- */

/* Tools search all known types. */
static const struct tacho_type *known_type(struct tacho_compile *c,
					   const char *name)
{
	const struct tacho_order *o = c->owner;
	const struct tacho_known_type *t = tacho_known_find(&o->known, name);
	uint32_t id = tacho_compile_find_type(c->view, name, 1);

	return t ? tacho_compile_type(c, t->text, t->len, id) : NULL;
}

/* Accepts any function name, because each program resolves it itself. */
static bool some_function(void *arg, const char *name, struct tacho_symbol *sym)
{
	(void)arg;
	*sym = (struct tacho_symbol){ .name = name };
	return true;
}

static bool some_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	(void)arg;
	*sym = (struct tacho_symbol){ .name = "", .start = addr };
	return true;
}

static const struct tacho_names some_names = {
	.symbol = some_symbol,
	.find_symbol = some_function,
};

void tacho_order_compile(struct tacho_order *o, struct tacho_compile *c,
			 struct tacho_arena *a)
{
	*c = (struct tacho_compile){
		.view = &o->s->view, .arena = a, .names = &some_names, .owner = o,
		.type = known_type,
	};
	tacho_compile_init(c);
}

/* The command for one type. */
static int check_type(struct tacho_order *o, const struct tacho_known_type *t,
		      tacho_order_check check, struct tacho_cmd_error *e)
{
	const struct tacho_type *type;
	struct tacho_compile *c;
	struct tacho_arena a;
	int err = -ENOMEM;

	tacho_arena_init(&a, COMPILE_MAX);
	c = tacho_arena_alloc(&a, sizeof(*c));
	if (c) {
		tacho_order_compile(o, c, &a);
		c->making = o->serial;
		type = tacho_compile_type(c, t->text, t->len, 0);
		err = type ? check(o, c, type, e) : -EINVAL;
	}
	tacho_arena_release(&a);
	if (err == -ENOMEM)
		(void)tacho_cmd_error(e, err, 0, "No memory");
	return err;
}

int tacho_order_check_all(struct tacho_order *o, tacho_order_check check)
{
	struct tacho_cmd_error first = { 0 };
	uint32_t tried = 0;

	for (uint32_t i = 0; i < o->known.nr; i++) {
		struct tacho_cmd_error e = { 0 };
		int err;

		if (!tacho_glob_match(o->glob, o->known.type[i].name))
			continue;
		err = check_type(o, &o->known.type[i], check, &e);
		if (!err)
			return 0;
		if (!tried++) {
			first = e;
			first.err = err;
		}
	}
	if (!tried)
		return 1;
	return tacho_cmd_error(o->e, first.err, first.column, "%s",
			       first.text[0] ? first.text :
			       "Event's format cannot be read");
}

/* ---- filters ---- */

int tacho_order_check_filter(struct tacho_order *o, struct tacho_compile *c,
			     const struct tacho_type *type,
			     struct tacho_cmd_error *e)
{
	struct tacho_filter *filter;

	return tacho_filter_compile(&filter, c->arena, type, o->text, 0, c->names,
				    e);
}

bool tacho_command_is_zero(const char *text)
{
	text += strspn(text, " \t\n");
	return *text == '0' && !text[1 + strspn(text + 1, " \t\n")];
}

/* Removes the filter with exactly this glob; returns whether other filters exist. */
static bool drop_filter(struct tacho_order *o, bool *found)
{
	bool others = false;
	struct tacho_command *c;

	*found = false;
	for (uint32_t i = 0; i < TACHO_COMMANDS_MAX; i++) {
		c = tacho_order_at(o, i, TACHO_COMMAND_FILTER);
		if (!c)
			continue;
		if (strncmp(c->event, o->glob, sizeof(c->event))) {
			others |= !tacho_command_is_zero(c->text);
			continue;
		}
		tacho_order_remove(o, c);
		*found = true;
	}
	return others;
}

static int set_filter(struct tacho_order *o)
{
	const struct tacho_command new = {
		.kind = TACHO_COMMAND_FILTER, .left = UINT64_MAX,
	};
	bool others, found;
	int serial = 0;

	tacho_edit_begin(&o->s->view);
	others = drop_filter(o, &found);
	/* a filter set by a wider glob is removed by a separate command */
	if (!tacho_command_is_zero(o->text) || others)
		serial = tacho_order_add(o, &new, o->glob,
					 tacho_command_is_zero(o->text) ? "0" : o->text);
	tacho_edit_end(&o->s->view);
	return serial < 0 ? serial : 0;
}

/* For unknown events: finds errors that do not depend on the fields. */
int tacho_order_check_text(struct tacho_order *o, const char *filter,
			   uint32_t column)
{
	return tacho_filter_check(&o->arena, filter, column, &some_names, o->e);
}

static int filter_locked(struct tacho_order *o)
{
	int err = 0;

	if (!tacho_command_is_zero(o->text)) {
		err = tacho_order_check_all(o, tacho_order_check_filter);
		if (err == 1)
			err = tacho_order_check_text(o, o->text, 0);
	}
	return err ? err : set_filter(o);
}

int tacho_command_filter(struct tacho_session *s, const char *event,
			 const char *text, uint32_t *matched,
			 struct tacho_cmd_error *e)
{
	return tacho_order_give(s, event, text, filter_locked, matched, e);
}
