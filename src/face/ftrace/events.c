// SPDX-License-Identifier: MIT
/* The files below events/, and set_event: which events are on, filters, triggers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/hist_print.h"
#include "face/ftrace/nodes.h"
#include "face/ftrace/store.h"
#include "session/command.h"

#define COMMAND_SIZE	4096	/* as long as one write may be, NUL included */
#define ARENA_MAX	((size_t)1 << 20)

static void event_name(const struct tacho_tree_file *f, char name[2 * TACHO_RULE_MAX])
{
	(void)snprintf(name, (size_t)2 * TACHO_RULE_MAX, "%s:%s",
		       *f->system ? f->system : "*", *f->event ? f->event : "*");
}

/* The kernel's file that stands for this one: "events[/SYSTEM[/EVENT]]/name". */
static void kernel_path(const struct tacho_tree_file *f, const char *name,
			char path[3 * TACHO_RULE_MAX])
{
	(void)snprintf(path, (size_t)3 * TACHO_RULE_MAX, "events%s%s%s%s/%s",
		       *f->system ? "/" : "", f->system, *f->event ? "/" : "", f->event,
		       name);
}

/* Who has events that a file is about. */
struct sides {
	bool kernel, program;
};

static struct sides sides_of(const struct tacho_tree_file *f)
{
	struct sides s = { false, false };
	const struct tree_event *e;
	size_t nr;

	if (*f->event) {
		e = tree_event(f->inst, f->system, f->event);
		s.kernel = e && e->kernel;
		s.program = e && e->text;
		return s;
	}
	e = tree_events(f->inst, true, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (tree_is_own(e[i].system) ||
		    (*f->system && strcmp(e[i].system, f->system)))
			continue;
		s.kernel |= e[i].kernel;
		s.program |= e[i].text != NULL;
	}
	return s;
}

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
	char path[3 * TACHO_RULE_MAX];
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
	kernel_path(f, "enable", path);
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

/* What enable_event and disable_event made of it; NULL: none has to do with it. */
static const struct tacho_soft *find_soft(const struct tacho_view *v, const char *name)
{
	for (uint32_t i = 0; i < TACHO_SOFT_MAX; i++) {
		const struct tacho_soft *s = &v->commands->soft[i];

		if (tacho_load_relaxed(&s->users) &&
		    !strncmp(s->event, name, sizeof(s->event)))
			return s;
	}
	return NULL;
}

static void add_program_states(const struct tacho_tree_file *f, struct states *s)
{
	const struct tacho_view *v = &f->inst->session.view;
	struct triggered t = { f->system, f->event, false };
	const struct tacho_soft *soft;
	char name[2 * TACHO_RULE_MAX];
	const struct tree_event *e;
	size_t nr;

	if (*f->event) {
		event_name(f, name);
		(void)tacho_commands_each(&f->inst->session, take_triggered, &t);
		soft = find_soft(v, name);
		add_state(s, soft ? !tacho_load_relaxed(&soft->disabled) :
				    tacho_view_rules_want(v, name));
		s->soft |= t.is || soft;
		return;
	}
	e = tree_events(f->inst, false, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (!e[i].text || tree_is_own(e[i].system) ||
		    (*f->system && strcmp(e[i].system, f->system)))
			continue;
		(void)snprintf(name, sizeof(name), "%s:%s", e[i].system, e[i].name);
		/* here the kernel counts what is on for its triggers only */
		add_state(s, tacho_view_decide(v, name, 0).wanted);
	}
}

static int enable_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct sides sides = sides_of(f);
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

	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++) {
		if ((*f->system && strcmp(e->type->system, f->system)) ||
		    (*f->event && strcmp(e->type->name, f->event)))
			continue;
		tree_engine_enable(f->inst, e, on);
		all |= *f->event && !e->synth;
	}
	return all;
}

static int enable_kernel(const struct tacho_tree_file *f, bool on)
{
	char path[3 * TACHO_RULE_MAX];
	int err;

	if (enable_engine(f, on))
		return 0;
	if (!on && !tree_kernel_is_there(f->inst))
		return 0;
	kernel_path(f, "enable", path);
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
	struct sides sides = sides_of(f);
	char name[2 * TACHO_RULE_MAX];
	bool on;
	int err = tree_bool(text, &on);

	(void)caller;
	if (err)
		return err;
	if (sides.kernel)
		err = enable_kernel(f, on);
	else
		(void)enable_engine(f, on);
	event_name(f, name);
	if (!err && (sides.program || !*f->event))
		err = tacho_session_rule(&f->inst->session, on, name, NULL, NULL);
	return err ? err : (ssize_t)len;
}

static const struct tree_node enable_node = {
	.name = "enable", .mode = 0640, .show = enable_show, .store = enable_store,
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
	char name[2 * TACHO_RULE_MAX];
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
static struct sides match(struct tree_inst *inst, const char *glob)
{
	struct sides s = { false, false };
	const struct tree_event *e;
	char full[2 * TACHO_RULE_MAX];
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

	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++)
		if (tacho_event_glob(glob, e->type->system, e->type->name))
			tree_engine_enable(inst, e, on);
}

static int set_one(struct tree_inst *inst, const char *word)
{
	const char *glob = *word == '!' ? word + 1 : word;
	bool on = *word != '!';
	struct sides s;
	int err = 0;

	if (!*glob || strlen(glob) >= TACHO_RULE_MAX - 3)
		return -EINVAL;
	s = match(inst, glob);
	if (!s.kernel && !s.program)
		return -EINVAL;
	if (s.kernel && (on || tree_kernel_is_there(inst))) {
		err = tree_kernel_write(inst, "set_event", word, strlen(word), true);
		set_engine(inst, glob, on);
		tree_store_events_changed(inst);
		if (!on)
			tree_engine_enable_wanted(inst);
	}
	if (!err && (s.program || strpbrk(glob, "*?[")))
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

/* ---- filter ---- */

static int kernel_text(struct tacho_tree_file *f, const char *name,
		       struct tacho_buf *out)
{
	char path[3 * TACHO_RULE_MAX];

	kernel_path(f, name, path);
	return tree_kernel_read(f->inst, path, out);
}

struct wanted {
	char name[2 * TACHO_RULE_MAX];
	const char *system, *event;
	enum tacho_command_kind kind;
	char text[TACHO_COMMAND_TEXT + 1];
	struct tacho_buf *out;
};

static bool is_for(const struct wanted *w, const struct tacho_command_info *c)
{
	return c->kind == w->kind && !c->hidden &&
	       tacho_event_glob(c->event, w->system, w->event);
}

/* The last one counts. */
static int take_filter(const struct tacho_command_info *c, void *arg)
{
	struct wanted *w = arg;

	if (is_for(w, c))
		memcpy(w->text, c->text, sizeof(c->text));
	return 0;
}

/* ---- filters that were refused ---- */

/* As in the kernel, a refused filter takes the old one's place, and is shown. */
struct tree_broken {
	struct tree_broken *next;
	char name[2 * TACHO_RULE_MAX];
	char text[];
};

void tree_broken_free(struct tree_broken *b)
{
	for (struct tree_broken *next; b; b = next) {
		next = b->next;
		free(b);
	}
}

static struct tree_broken **find_broken(struct tree_inst *inst, const char *name)
{
	struct tree_broken **at = &inst->broken;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

/* e NULL: the event's filter is a good one, or none. */
static void set_broken(struct tree_inst *inst, const char *name, const char *text,
		       const struct tacho_cmd_error *e)
{
	struct tree_broken **at = find_broken(inst, name), *b = *at;
	size_t column = e ? e->column : 0, size = strlen(text) + column + 256;

	if (b) {
		*at = b->next;
		free(b);
	}
	if (e && column > strlen(text))
		column = strlen(text);
	b = e ? malloc(sizeof(*b) + size) : NULL;
	if (!b)
		return;
	(void)snprintf(b->name, sizeof(b->name), "%s", name);
	if (*e->text)
		(void)snprintf(b->text, size, "%s\n%*s^\nparse_error: %s\n", text,
			       (int)column, "", e->text);
	else
		(void)snprintf(b->text, size, "%s\nError: (0)\n", text);
	b->next = inst->broken;
	inst->broken = b;
}

int tree_filter_text(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct wanted w = { .system = f->system, .event = f->event,
			    .kind = TACHO_COMMAND_FILTER };
	struct sides s = sides_of(f);
	int err;

	if (s.kernel && *f->system && tree_kernel_is_there(f->inst))
		return kernel_text(f, "filter", out);
	if (!*f->event) {
		tacho_buf_puts(out, "### global filter ###\n"
			"# Use this to set filters for multiple events.\n"
			"# Only events with the given fields will be affected.\n"
			"# If no events are modified, an error message will be displayed here\n");
		return 0;
	}
	err = tacho_commands_each(&f->inst->session, take_filter, &w);
	tacho_buf_printf(out, "%s\n", *w.text && strcmp(w.text, "0") ? w.text : "none");
	return err;
}

static int filter_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	char name[2 * TACHO_RULE_MAX];
	const struct tree_broken *broken;

	event_name(f, name);
	broken = *find_broken(f->inst, name);
	if (!broken || sides_of(f).kernel)
		return tree_filter_text(f, out);
	tacho_buf_printf(out, "%s\n", broken->text);
	return 0;
}

/* What the kernel's parser returns for some errors is not EINVAL. */
static int filter_errno(const struct tacho_cmd_error *e)
{
	static const struct {
		const char *text;
		int err;
	} errors[] = {
		{ "Too few '('", -EPERM },
		{ "Too many '('", -ENOENT },
		{ "Missing matching quote", -ESRCH },
		{ "Too many terms in predicate expression", -EPERM },
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(errors[i].text, e->text))
			return errors[i].err;
	return -EINVAL;
}

static void set_all_broken(struct tacho_tree_file *f, const char *text,
			   const struct tacho_cmd_error *e)
{
	char name[2 * TACHO_RULE_MAX];
	const struct tree_event *ev;
	size_t nr;

	ev = tree_events(f->inst, false, &nr);
	for (size_t i = 0; ev && i < nr; i++) {
		if (!ev[i].text || strcmp(ev[i].system, f->system))
			continue;
		(void)snprintf(name, sizeof(name), "%s:%s", ev[i].system, ev[i].name);
		set_broken(f->inst, name, text, e);
	}
}

static int filter_program(struct tacho_tree_file *f, const char *text)
{
	char name[2 * TACHO_RULE_MAX];
	struct tacho_cmd_error e = { 0 };
	int err;

	event_name(f, name);
	err = *text ? tacho_command_filter(&f->inst->session, name, text, NULL, &e) :
		      -EINVAL;
	if (err == -ENOENT && !strcmp(text, "0"))
		err = 0;
	if (err != -EINVAL) {
		if (!err && *f->event)
			set_broken(f->inst, name, text, NULL);
		else if (!err)
			set_all_broken(f, text, NULL);
		return err;
	}
	(void)tacho_command_filter(&f->inst->session, name, "0", NULL, NULL);
	if (*f->event) {
		set_broken(f->inst, name, text, &e);
		err = filter_errno(&e);
	} else {
		/* a system's filter that no event can take is taken, says the kernel */
		e = (struct tacho_cmd_error){ .err = -EINVAL, .text = "Couldn't find or "
			"set field in one of a subsystem's events" };
		set_all_broken(f, text, &e);
		err = 0;
	}
	if (*e.text)
		tree_log_error(f->inst, "event filter parse error", text, &e);
	return err;
}

/*
 * The kernel's file, or, for all events, which it has none for, that of each system: it is
 * enough that one takes it.
 */
static int filter_kernel(const struct tacho_tree_file *f, const char *text)
{
	char path[3 * TACHO_RULE_MAX];
	const struct tree_event *e;
	const char *last = "";
	int err = -EINVAL;
	size_t nr;

	if (*f->system) {
		kernel_path(f, "filter", path);
		return tree_kernel_write(f->inst, path, text, strlen(text), true);
	}
	e = tree_events(f->inst, false, &nr);
	for (size_t i = 0; e && i < nr; i++) {
		if (!e[i].kernel || !strcmp(e[i].system, last))
			continue;
		last = e[i].system;
		(void)snprintf(path, sizeof(path), "events/%s/filter", last);
		if (!tree_kernel_write(f->inst, path, text, strlen(text), true))
			err = 0;
	}
	return err;
}

static ssize_t filter_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	struct sides s = sides_of(f);
	int kernel = 0, program = 0;
	char *copy;

	(void)caller;
	if (len >= COMMAND_SIZE)
		return -EINVAL;
	if (s.kernel)
		kernel = filter_kernel(f, text);
	copy = s.program ? strdup(text) : NULL;
	if (s.program && !copy)
		return -ENOMEM;
	if (s.program)
		program = filter_program(f, tree_trim(copy));
	free(copy);
	/* a system's filter is taken when one event could take it */
	if (!*f->event && s.kernel && s.program && (!kernel || !program))
		return (ssize_t)len;
	return kernel ? kernel : program ? program : (ssize_t)len;
}

static const struct tree_node filter_node = {
	.name = "filter", .mode = 0640, .show = filter_show, .store = filter_store,
};

/* ---- trigger ---- */

/* What is set, without the comment that tells what could be. */
static void put_lines(const struct tacho_buf *from, struct tacho_buf *out)
{
	const char *at = from->data, *end = from->data + from->len;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *next = nl ? nl + 1 : end;

		if (*at != '#')
			tacho_buf_put(out, at, (size_t)(next - at));
		at = next;
	}
}

/* The kernel puts a histogram behind the triggers that are there, others before them. */
static void put_trigger(const struct tacho_command_info *c, struct tacho_buf *out)
{
	struct tacho_trigger_spec spec;
	struct tacho_buf line;
	struct tacho_arena a;

	tacho_arena_init(&a, ARENA_MAX);
	tacho_buf_init(&line, (size_t)1 << 20);
	if (!tacho_trigger_parse(&spec, &a, c->text, NULL)) {
		tacho_trigger_print(&spec, c->left, c->paused, &line);
		tacho_buf_putc(&line, '\n');
		if (!strncmp(c->text, "hist", 4)) {
			tacho_buf_put(out, line.data, line.len);
		} else {
			tacho_buf_put(&line, tacho_buf_str(out), out->len);
			tacho_buf_reset(out);
			tacho_buf_put(out, line.data, line.len);
		}
	}
	tacho_buf_release(&line);
	tacho_arena_release(&a);
}

static int take_trigger(const struct tacho_command_info *c, void *arg)
{
	struct wanted *w = arg;

	if (is_for(w, c))
		put_trigger(c, w->out);
	return 0;
}

static int trigger_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct wanted w = { .system = f->system, .event = f->event, .out = out,
			    .kind = TACHO_COMMAND_TRIGGER };
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct sides s = sides_of(f);
	size_t before = out->len;
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, (size_t)4 << 20);
	if (s.kernel && (tree_kernel_is_there(f->inst)))
		(void)kernel_text(f, "trigger", &b);
	if (e)
		tacho_engine_print_triggers(tree_engine(f->inst), e, &b);
	put_lines(&b, out);
	tacho_buf_release(&b);
	err = tacho_commands_each(&f->inst->session, take_trigger, &w);
	if (out->len == before)
		tacho_buf_puts(out, "# Available triggers:\n# traceon traceoff snapshot "
			       "stacktrace enable_event disable_event enable_hist "
			       "disable_hist hist\n");
	return err;
}

/*
 * What is wrong with a trigger.  The kernel has words for what is wrong with a hist, and
 * with a filter, whose text then is the command.
 */
void tree_log_trigger(struct tree_inst *inst, const char *event, const char *text,
		      const struct tacho_cmd_error *e)
{
	const char *filter = strstr(text, " if ");
	char loc[2 * TACHO_RULE_MAX + 8];
	struct tacho_cmd_error in = *e;

	filter = filter ? filter + 4 + strspn(filter + 4, " ") : NULL;
	if (filter && e->column >= (uint32_t)(filter - text)) {
		in.column -= (uint32_t)(filter - text);
		tree_log_error(inst, "event filter parse error", filter, &in);
	} else if (!strncmp(text + (*text == '!'), "hist", 4) && *e->text) {
		(void)snprintf(loc, sizeof(loc), "hist:%s", event);
		tree_log_error(inst, loc, text, e);
	}
}

/*
 * What a session takes and the kernel does not: a target that is not there (yet), and "if 0",
 * which would be no filter.
 */
static int check_trigger(struct tacho_tree_file *f, const char *text,
			 struct tacho_cmd_error *e)
{
	struct tacho_trigger_spec spec;
	struct tacho_arena a;
	int err = 0;

	tacho_arena_init(&a, ARENA_MAX);
	if (!tacho_trigger_parse(&spec, &a, text, NULL) && !spec.remove) {
		if (spec.system && !tree_event(f->inst, spec.system, spec.event))
			err = -EINVAL;
		else if (spec.filter && !strcmp(spec.filter, "0"))
			err = tacho_cmd_error(e, -EINVAL, spec.filter_column + 2,
					      "Field not found");
	}
	tacho_arena_release(&a);
	return err;
}

static int trigger_program(struct tacho_tree_file *f, const char *text)
{
	char name[2 * TACHO_RULE_MAX];
	struct tacho_cmd_error e = { 0 };
	int err;

	event_name(f, name);
	err = check_trigger(f, text, &e);
	if (!err)
		err = tacho_command_trigger(&f->inst->session, name, text, NULL, &e);
	/* of what cannot be removed the kernel says nothing */
	if (err == -ENOENT && *text == '!')
		return 0;
	if (err)
		tree_log_trigger(f->inst, name, text, &e);
	return err;
}

static ssize_t trigger_store(struct tacho_tree_file *f, const char *text, size_t len,
			     const struct tacho_tree_caller *caller)
{
	struct sides s = sides_of(f);
	char path[3 * TACHO_RULE_MAX], *copy, *trimmed;
	bool synth = !strcmp(f->system, "synthetic");
	int err = 0;

	(void)caller;
	if (!len)
		return 0;
	if (len >= COMMAND_SIZE)
		return -EINVAL;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	trimmed = tree_trim(copy);
	if (strstr(trimmed, "traceo"))
		tree_watch_switch(f->inst);
	if (!*trimmed)
		err = -EINVAL;
	else if ((s.kernel && tree_engine_takes(f->inst->tree, trimmed)) ||
	    (synth && tree_engine_event(f->inst, f->system, f->event))) {
		err = tree_engine_trigger(f->inst, f->system, f->event, trimmed);
	} else if (s.kernel) {
		kernel_path(f, "trigger", path);
		err = tree_kernel_write(f->inst, path, trimmed, strlen(trimmed), true);
		tree_store_events_changed(f->inst);
	}
	if (!err && s.program)
		err = trigger_program(f, trimmed);
	free(copy);
	return err ? err : (ssize_t)len;
}

/* As the kernel: O_TRUNC takes away histograms, and nothing else. */
static int take_hist(const struct tacho_command_info *c, void *arg)
{
	struct wanted *w = arg;

	if (is_for(w, c) && !strncmp(c->text, "hist", 4) && !*w->text)
		(void)snprintf(w->text, sizeof(w->text), "!%s", c->text);
	return 0;
}

static void trunc_program(struct tacho_tree_file *f)
{
	char name[2 * TACHO_RULE_MAX];

	event_name(f, name);
	for (;;) {
		struct wanted w = { .system = f->system, .event = f->event,
				    .kind = TACHO_COMMAND_TRIGGER };

		if (tacho_commands_each(&f->inst->session, take_hist, &w) || !*w.text ||
		    tacho_command_trigger(&f->inst->session, name, w.text, NULL, NULL))
			return;
	}
}

static void trunc_engine(struct tacho_tree_file *f, struct tacho_engine_event *e)
{
	const struct tacho_hist *h;
	char text[TACHO_COMMAND_MAX + 2];

	while ((h = tacho_engine_hist(tree_engine(f->inst), e, 0))) {
		(void)snprintf(text, sizeof(text), "!%s", tacho_hist_spec_of(h)->text);
		if (tree_engine_trigger(f->inst, f->system, f->event, text) ||
		    tacho_engine_hist(tree_engine(f->inst), e, 0) == h)
			return;
	}
}

static int trigger_trunc(struct tacho_tree_file *f)
{
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct sides s = sides_of(f);
	char path[3 * TACHO_RULE_MAX];

	if (e)
		trunc_engine(f, e);
	if (s.program)
		trunc_program(f);
	if (!s.kernel || !f->inst->tree->has_hist || !tree_kernel_is_there(f->inst))
		return 0;
	kernel_path(f, "trigger", path);
	return tree_kernel_write(f->inst, path, "", 0, false);
}

static const struct tree_node trigger_node = {
	.name = "trigger", .mode = 0640, .show = trigger_show, .store = trigger_store,
	.trunc = trigger_trunc,
};

/* ---- hist ---- */

struct hist_out {
	struct tacho_buf *out;
	const struct tacho_names *names;
};

static int put_hist(const struct tacho_command_hist *h, void *arg)
{
	struct hist_out *o = arg;

	if (h->command->hidden)
		return 0;
	if (o->out->len)
		tacho_buf_puts(o->out, "\n\n");
	return tacho_hist_print(h->hist, o->names, o->out);
}

static int hist_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct hist_out o = { .out = out, .names = tree_names(f->inst) };
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct sides s = sides_of(f);
	char name[2 * TACHO_RULE_MAX];
	int err = 0;

	if (e) {
		(void)tree_store_drain(f->inst);
		err = tacho_engine_print_hist(tree_engine(f->inst), e, out);
	}
	if (!err && s.kernel && f->inst->tree->has_hist &&
	    tree_kernel_is_there(f->inst))
		err = kernel_text(f, "hist", out);
	event_name(f, name);
	return err ? err : tacho_command_hists(&f->inst->session, name, put_hist, &o);
}

static const struct tree_node hist_node = {
	.name = "hist", .mode = 0440, .show = hist_show,
};

/* ---- hist_debug ---- */

static int put_debug(const struct tacho_command_hist *h, void *arg)
{
	struct tacho_buf *out = arg;

	if (h->command->hidden)
		return 0;
	if (out->len)
		tacho_buf_puts(out, "\n\n");
	return tacho_hist_print_debug(h->hist, out);
}

static int debug_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	const struct tacho_hist *h;
	struct sides s = sides_of(f);
	char name[2 * TACHO_RULE_MAX];
	int err = 0;

	for (uint32_t i = 0; e && !err &&
	     (h = tacho_engine_hist(tree_engine(f->inst), e, i)); i++) {
		if (i)
			tacho_buf_puts(out, "\n\n");
		err = tacho_hist_print_debug(h, out);
	}
	/* kernels that were built without CONFIG_HIST_TRIGGERS_DEBUG have no such file */
	if (!err && s.kernel && f->inst->tree->has_hist &&
	    tree_kernel_is_there(f->inst)) {
		err = kernel_text(f, "hist_debug", out);
		err = err == -ENOENT ? 0 : err;
	}
	event_name(f, name);
	return err ? err : tacho_command_hists(&f->inst->session, name, put_debug, out);
}

static const struct tree_node hist_debug_node = {
	.name = "hist_debug", .mode = 0440, .show = debug_show,
};

/* ---- format, id ---- */

/* Formats and ids are the same in all instances: the top's files. */
static int format_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tree_event *e = tree_event(f->inst, f->system, f->event);
	char path[3 * TACHO_RULE_MAX];

	if (!e)
		return -ENODEV;
	if (e->kernel) {
		kernel_path(f, "format", path);
		return tacho_buf_read_fileat(out, f->inst->tree->tracefs.dirfd, path);
	}
	if (!e->type)
		return -ENODEV;
	tacho_type_write(e->type, true, out);
	return 0;
}

static const struct tree_node format_node = {
	.name = "format", .mode = 0440, .show = format_show,
};

static int id_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tree_event *e = tree_event(f->inst, f->system, f->event);
	char path[3 * TACHO_RULE_MAX];

	if (!e)
		return -ENODEV;
	if (e->kernel) {
		kernel_path(f, "id", path);
		return tacho_buf_read_fileat(out, f->inst->tree->tracefs.dirfd, path);
	}
	if (!e->type)
		return -ENODEV;
	tacho_buf_printf(out, "%u\n", e->type->id);
	return 0;
}

static const struct tree_node id_node = { .name = "id", .mode = 0440, .show = id_show };

const struct tree_node *const tree_events_nodes[] = {
	&enable_node, &filter_node, &tree_header_event_node, &tree_header_page_node, NULL,
};

const struct tree_node *const tree_system_nodes[] = { &enable_node, &filter_node, NULL };

const struct tree_node *const tree_event_nodes[] = {
	&enable_node, &filter_node, &trigger_node, &format_node, &id_node, &hist_node,
	&hist_debug_node, &tree_inject_node, NULL,
};

const struct tree_node *const tree_own_nodes[] = { &format_node, NULL };

const struct tree_node *const tree_own_id_nodes[] = { &format_node, &id_node, NULL };
