// SPDX-License-Identifier: MIT
/* enable, set_event and available_events: which events are on, and which there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compat/ftrace/events.h"
#include "compat/ftrace/store.h"

/* ---- enable ---- */

struct states {
	bool off, on, soft;
};

static void add_state(struct states *s, bool on)
{
	s->on |= on;
	s->off |= !on;
}

/* One kernel event: the engine may have it on for its triggers only. */
static void add_kernel_state(const struct tacho_tree_file *f, struct states *s)
{
	const struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	char path[TREE_PATH_SIZE];
	struct tacho_buf b;

	if (e && e->soft) {
		add_state(s, e->enabled);
		s->soft = true;
		return;
	}
	/* nothing was ever asked of the kernel here: all is off */
	if (!tree_kernel_is_there(f->inst)) {
		add_state(s, false);
		return;
	}
	tree_event_path(f, "enable", path);
	tacho_buf_init(&b, 64);
	if (!tree_kernel_read(f->inst, path, &b) && b.len) {
		s->on |= b.data[0] == '1' || b.data[0] == 'X';
		s->off |= b.data[0] == '0' || b.data[0] == 'X';
		s->soft |= *f->event && b.len > 1 && b.data[1] == '*';
	}
	tacho_buf_release(&b);
}

/* What triggers make of an event. */
struct triggered {
	const char *system, *event;
	bool is;		/* there is a trigger on it, or one that switches it */
};

static int take_triggered(const struct tacho_command_info *c, void *arg)
{
	struct triggered *t = arg;

	t->is = c->kind == TACHO_COMMAND_TRIGGER && !c->hidden &&
		tacho_event_glob(c->event, t->system, t->event);
	return t->is;
}

static void add_program_states(const struct tacho_tree_file *f, struct states *s)
{
	const struct tacho_view *v = &f->inst->session.view;
	struct triggered t = { f->system, f->event, false };
	const struct tacho_soft *soft;
	char name[TREE_NAME_SIZE];
	const struct tree_event *e;
	size_t nr;

	if (*f->event) {
		tree_event_name(f, name);
		(void)tacho_commands_each(&f->inst->session, take_triggered, &t);
		soft = tacho_view_soft(v, name);
		add_state(s, soft ? !tacho_load_relaxed(&soft->disabled) :
				    tacho_view_rules_want(v, name));
		s->soft |= t.is || soft || tree_eprobe_wants(f->inst, name);
		return;
	}
	e = tree_events(f->inst, false, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (!e[i].text || tree_is_own(e[i].system) ||
		    (*f->system && strcmp(e[i].system, f->system)))
			continue;
		(void)snprintf(name, sizeof(name), "%s:%s", e[i].system, e[i].name);
		/*
		 * here the kernel counts what is on for its triggers only; whose events
		 * are recorded (set_event_pid) is another matter
		 */
		add_state(s, tacho_view_rules_want(v, name) ||
			     tacho_view_decide(v, name, 0).wanted);
	}
}

static int enable_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tree_sides sides = tree_sides_of(f);
	struct states s = { false, false, false };

	if (sides.kernel)
		add_kernel_state(f, &s);
	if (sides.program)
		add_program_states(f, &s);
	tacho_buf_putc(out, s.on && s.off ? 'X' : s.on ? '1' : s.off ? '0' : '?');
	if (s.soft && *f->event)
		tacho_buf_putc(out, '*');
	tacho_buf_putc(out, '\n');
	return 0;
}

/* Events that the engine knows, and has on or off by itself. */
static bool enable_engine(const struct tacho_tree_file *f, bool on)
{
	struct tacho_engine *engine = tree_engine(f->inst);
	struct tacho_engine_event *e;
	bool all = false;

	/* what came so far is recorded, or not, as it was */
	if (engine)
		(void)tree_store_settle(f->inst);
	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++) {
		if ((*f->system && strcmp(e->type->system, f->system)) ||
		    (*f->event && strcmp(e->type->name, f->event)))
			continue;
		if (tree_is_own(e->type->system))
			continue;
		tree_engine_enable(f->inst, e, on);
		all |= *f->event && !e->generated;
	}
	return all;
}

static int enable_kernel(const struct tacho_tree_file *f, bool on)
{
	char path[TREE_PATH_SIZE];
	int err;

	if (enable_engine(f, on))
		return 0;
	if (!on && !tree_kernel_is_there(f->inst))
		return 0;
	tree_event_path(f, "enable", path);
	err = tree_kernel_write(f->inst, path, on ? "1" : "0", 1, true);
	tree_store_events_changed(f->inst);
	/* what the engine wants stays on */
	if (!on && !*f->event)
		tree_engine_enable_wanted(f->inst);
	return err;
}

static ssize_t enable_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	struct tree_sides sides = tree_sides_of(f);
	char name[TREE_NAME_SIZE];
	bool on;
	int err = tree_bool(text, &on);

	(void)caller;
	if (err)
		return err;
	if (sides.kernel)
		err = enable_kernel(f, on);
	else
		(void)enable_engine(f, on);
	tree_event_name(f, name);
	if (!err && (sides.program || !*f->event))
		err = tacho_session_rule(&f->inst->session, on, name, NULL, NULL);
	return err ? err : (ssize_t)len;
}

const struct tree_node tree_enable_node = {
	.name = "enable", .mode = 0640, .kept = true, .show = enable_show, .store = enable_store,
};

/* ---- set_event, available_events ---- */

static int available_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tree_event *e;
	size_t nr;

	e = tree_events(f->inst, true, &nr);
	for (size_t i = 0; e && i < nr; i++)
		if (!tree_is_own(e[i].system))
			tacho_buf_printf(out, "%s:%s\n", e[i].system, e[i].name);
	return e ? 0 : -ENOMEM;
}

const struct tree_node tree_available_node = {
	.name = "available_events", .mode = 0440, .show = available_show, .top = true,
};

/* The kernel's own list, without what is on for the engine's triggers only. */
static void put_kernel_set(struct tree_inst *inst, struct tacho_buf *out)
{
	struct tacho_buf b;
	char *line, *save = NULL, *colon;

	tacho_buf_init(&b, (size_t)4 << 20);
	if (!tree_kernel_read(inst, "set_event", &b)) {
		line = strtok_r((char *)(uintptr_t)tacho_buf_str(&b), "\n", &save);
		for (; line; line = strtok_r(NULL, "\n", &save)) {
			const struct tacho_engine_event *e = NULL;

			colon = strchr(line, ':');
			if (colon) {
				*colon = '\0';
				e = tree_engine_event(inst, line, colon + 1);
				*colon = ':';
			}
			if (!e || e->enabled)
				tacho_buf_printf(out, "%s\n", line);
		}
	}
	tacho_buf_release(&b);
}

static int set_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tree_inst *inst = f->inst;
	char name[TREE_NAME_SIZE];
	const struct tree_event *e;
	size_t nr;

	if (tree_kernel_is_there(inst))
		put_kernel_set(inst, out);
	e = tree_events(inst, true, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		(void)snprintf(name, sizeof(name), "%s:%s", e[i].system, e[i].name);
		if (e[i].text && !e[i].kernel && !tree_is_own(e[i].system) &&
		    tacho_view_rules_want(&inst->session.view, name))
			tacho_buf_printf(out, "%s\n", name);
	}
	return e ? 0 : -ENOMEM;
}

/* "sys:", ":ev" and one word are what the kernel takes them for. */
static struct tree_sides match(struct tree_inst *inst, const char *glob)
{
	struct tree_sides s = { false, false };
	const struct tree_event *e;
	char full[TREE_NAME_SIZE];
	const char *colon = strchr(glob, ':');
	size_t nr;

	(void)snprintf(full, sizeof(full), "%s%s%s", colon == glob ? "*" : "", glob,
		       colon && !colon[1] ? "*" : "");
	e = tree_events(inst, true, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (tree_is_own(e[i].system) ||
		    !tacho_event_glob(full, e[i].system, e[i].name))
			continue;
		s.kernel |= e[i].kernel;
		s.program |= e[i].text != NULL;
	}
	return s;
}

static void set_engine(struct tree_inst *inst, const char *glob, bool on)
{
	struct tacho_engine *engine = tree_engine(inst);
	struct tacho_engine_event *e;

	if (engine)
		(void)tree_store_settle(inst);
	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++)
		if (tacho_event_glob(glob, e->type->system, e->type->name))
			tree_engine_enable(inst, e, on);
}

/*
 * As in the kernel, "*" stands for all systems, and for all events of one; there are no other
 * globs.
 */
static bool is_glob(const char *word)
{
	const char *event = strchr(word, ':');
	size_t len = event ? (size_t)(event - word) : 0;

	if (!event)
		return strpbrk(word, "*?[");
	if (strcspn(word, "*?[") < len && (*word != '*' || len > 1))
		return true;
	return strpbrk(event, "*?[") && strcmp(event, ":*");
}

/*
 * All events of an unknown system: a program that has it may come, and is to find the
 * rule.  A single event that is not there is rather a mistake.
 */
static bool is_for_later(const char *glob)
{
	const char *at = glob;

	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
	       (at > glob && *at >= '0' && *at <= '9'))
		at++;
	return at > glob && *at == ':' && (!at[1] || !strcmp(at, ":*"));
}

static int set_one(struct tree_inst *inst, const char *word)
{
	const char *glob = *word == '!' ? word + 1 : word;
	bool on = *word != '!';
	struct tree_sides s;
	bool later;
	int err = 0;

	if (!*glob || strlen(glob) >= TACHO_RULE_MAX - 3 || is_glob(glob))
		return -EINVAL;
	s = match(inst, glob);
	later = !s.kernel && !s.program;
	if (later && !is_for_later(glob))
		return -EINVAL;
	if (s.kernel && (on || tree_kernel_is_there(inst))) {
		err = tree_kernel_write(inst, "set_event", word, strlen(word), true);
		set_engine(inst, glob, on);
		tree_store_events_changed(inst);
		if (!on)
			tree_engine_enable_wanted(inst);
	} else if (s.program) {
		set_engine(inst, glob, on);
	}
	if (!err && (s.program || later || strchr(glob, '*')))
		err = tacho_session_rule(&inst->session, on, glob, NULL, NULL);
	return err;
}

static ssize_t set_store(struct tacho_tree_file *f, const char *text, size_t len,
			 const struct tacho_tree_caller *caller)
{
	char *copy = strdup(text), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	(void)caller;
	for (char *w = copy ? strtok_r(copy, " \t\n\r", &save) : NULL; !err && w;
	     w = strtok_r(NULL, " \t\n\r", &save))
		err = set_one(f->inst, w);
	free(copy);
	return err ? err : (ssize_t)len;
}

static int set_trunc(struct tacho_tree_file *f)
{
	int err = 0;

	if (tree_kernel_is_there(f->inst))
		err = enable_kernel(f, false);
	return err ? err : tacho_session_rule(&f->inst->session, false, "*:*", NULL, NULL);
}

const struct tree_node tree_set_event_node = {
	.name = "set_event", .mode = 0640, .show = set_show, .store = set_store,
	.trunc = set_trunc,
};
