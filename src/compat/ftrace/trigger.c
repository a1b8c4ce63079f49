// SPDX-License-Identifier: MIT
/* trigger, and the histograms that triggers make: hist, hist_debug. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hist_print.h"
#include "compat/ftrace/events.h"
#include "compat/ftrace/store.h"

#define ARENA_MAX	((size_t)1 << 20)
#define HIST_MAX	((size_t)256 << 20)	/* bytes of an event's tables */

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

/*
 * The kernel puts a histogram after the triggers that are there, others before them.  What
 * was set on both sides is one trigger.
 */
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
		if (out->len && memmem(out->data, out->len, line.data, line.len)) {
			;
		} else if (!strncmp(c->text, "hist", 4)) {
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
	struct tree_wanted *w = arg;

	if (tree_is_wanted(w, c))
		put_trigger(c, w->out);
	return 0;
}

static int trigger_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tree_wanted w = { .system = f->system, .event = f->event, .out = out,
				 .kind = TACHO_COMMAND_TRIGGER };
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct tree_sides s = tree_sides_of(f);
	size_t before = out->len;
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, (size_t)4 << 20);
	if (s.kernel && tree_kernel_is_there(f->inst))
		(void)tree_event_text(f, "trigger", &b);
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
		if (spec.system && (tree_is_own(spec.system) ||
				    !tree_event(f->inst, spec.system, spec.event)))
			err = -EINVAL;
		else if (spec.filter && !strcmp(spec.filter, "0"))
			err = tacho_cmd_error(e, -EINVAL, spec.filter_column + 2,
					      "Field not found");
	}
	tacho_arena_release(&a);
	return err;
}

static int trigger_program(struct tacho_tree_file *f, const char *name,
			   const char *text, struct tacho_cmd_error *e)
{
	int err = check_trigger(f, text, e);

	if (!err)
		err = tacho_command_trigger(&f->inst->session, name, text, NULL, e);
	/* of what cannot be removed the kernel says nothing */
	return err == -ENOENT && *text == '!' ? 0 : err;
}

/*
 * Of markers: the engine's (marked.c).  But who switches an event of programs is a command of the
 * session, for they look there whether it is on.
 */
static int trigger_marker(struct tacho_tree_file *f, const char *text,
			  struct tacho_cmd_error *e)
{
	const struct tree_event *target = NULL;
	struct tacho_trigger_spec spec;
	struct tacho_arena a;
	bool program = false, removes = *text == '!', kernel = true;
	int err = check_trigger(f, text, e);

	if (err)
		return err;
	tacho_arena_init(&a, ARENA_MAX);
	if (!tacho_trigger_parse(&spec, &a, text, NULL) &&
	    (spec.cmd == TACHO_TRIGGER_ENABLE_EVENT ||
	     spec.cmd == TACHO_TRIGGER_DISABLE_EVENT)) {
		target = tree_event(f->inst, spec.system, spec.event);
		/* its event may no longer exist */
		program = removes || (target && target->text);
		kernel = (target && target->kernel) ||
			 tree_engine_event(f->inst, spec.system, spec.event);
	}
	tacho_arena_release(&a);
	if (program)
		err = tacho_command_trigger(&f->inst->session, TREE_PRINT, text, NULL, e);
	if (removes && err == -ENOENT)
		err = 0;
	return err || !kernel ? err :
	       tree_engine_trigger(f->inst, f->system, f->event, text, e);
}

/* The kernel's own file, or the engine in its place. */
static int trigger_kernel(struct tacho_tree_file *f, bool synth, const char *text,
			  struct tacho_cmd_error *e)
{
	char path[TREE_PATH_SIZE];
	int err;

	if (tree_is_own(f->system))
		return trigger_marker(f, text, e);
	if (synth || tree_engine_takes(f->inst, text))
		return tree_engine_trigger(f->inst, f->system, f->event, text, e);
	tree_event_path(f, "trigger", path);
	err = tree_kernel_write(f->inst, path, text, strlen(text), true);
	tree_store_events_changed(f->inst);
	return err;
}

/*
 * On both sides, if both have the event; a synthetic one, or an event probe, may be made by the
 * kernel's events or by programs', and what its trigger names be known on one side only: then it
 * is enough that this one takes it.
 */
static int trigger_one(struct tacho_tree_file *f, const char *text)
{
	struct tacho_cmd_error kernel_error = { 0 }, program_error = { 0 };
	struct tree_sides s = tree_sides_of(f);
	const struct tacho_engine_event *event =
		tree_engine_event(f->inst, f->system, f->event);
	bool synth = event && event->generated;
	int kernel = 0, program = 0;
	char name[TREE_NAME_SIZE];

	tree_event_name(f, name);
	if (s.kernel || synth)
		kernel = trigger_kernel(f, synth, text, &kernel_error);
	if (s.program && (!kernel || synth))
		program = trigger_program(f, name, text, &program_error);
	if (synth && s.program && (!kernel || !program))
		return 0;
	if (kernel && *kernel_error.text)
		tree_log_trigger(f->inst, name, text, &kernel_error);
	else if (!kernel && program)
		tree_log_trigger(f->inst, name, text, &program_error);
	return kernel ? kernel : program;
}

/* "snapshot", or the action of a histogram: what it takes has a place from now on. */
static void note_snapshot(struct tree_inst *inst, const char *text)
{
	const char *word = strstr(text, "snapshot"), *filter = strstr(text, " if ");

	if (*text != '!' && word && (!filter || word < filter))
		tacho_store_relaxed(&inst->snapshot, true);
}

static ssize_t trigger_store(struct tacho_tree_file *f, const char *text, size_t len,
			     const struct tacho_tree_caller *caller)
{
	char *copy, *trimmed;
	int err = -EINVAL;

	(void)caller;
	if (!len)
		return 0;
	if (len >= TREE_COMMAND_SIZE)
		return -EINVAL;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	trimmed = tree_trim(copy);
	if (strstr(trimmed, "traceo"))
		tree_watch_switch(f->inst);
	if (*trimmed)
		err = trigger_one(f, trimmed);
	if (!err)
		note_snapshot(f->inst, trimmed);
	free(copy);
	return err ? err : (ssize_t)len;
}

/* As the kernel: O_TRUNC takes away histograms, and nothing else. */
static int take_hist(const struct tacho_command_info *c, void *arg)
{
	struct tree_wanted *w = arg;

	if (tree_is_wanted(w, c) && !strncmp(c->text, "hist", 4) && !*w->text)
		(void)snprintf(w->text, sizeof(w->text), "!%s", c->text);
	return 0;
}

static void trunc_program(struct tacho_tree_file *f)
{
	char name[TREE_NAME_SIZE];

	tree_event_name(f, name);
	for (;;) {
		struct tree_wanted w = { .system = f->system, .event = f->event,
					 .kind = TACHO_COMMAND_TRIGGER };

		if (tacho_commands_each(&f->inst->session, take_hist, &w) || !*w.text ||
		    tacho_command_trigger(&f->inst->session, name, w.text, NULL, NULL))
			return;
	}
}

static void trunc_engine(struct tacho_tree_file *f,
			 const struct tacho_engine_event *event)
{
	struct tacho_cmd_error e = { 0 };
	const struct tacho_hist *h;
	char text[TREE_COMMAND_SIZE + 2];

	while ((h = tacho_engine_hist(tree_engine(f->inst), event, 0))) {
		(void)snprintf(text, sizeof(text), "!%s", tacho_hist_spec_of(h)->text);
		if (tree_engine_trigger(f->inst, f->system, f->event, text, &e) ||
		    tacho_engine_hist(tree_engine(f->inst), event, 0) == h)
			return;
	}
}

static int trigger_trunc(struct tacho_tree_file *f)
{
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct tree_sides s = tree_sides_of(f);
	char path[TREE_PATH_SIZE];

	if (e)
		trunc_engine(f, e);
	if (s.program)
		trunc_program(f);
	if (!s.kernel || !f->inst->tree->has_hist || !tree_kernel_is_there(f->inst))
		return 0;
	tree_event_path(f, "trigger", path);
	return tree_kernel_write(f->inst, path, "", 0, false);
}

const struct tree_node tree_trigger_node = {
	.name = "trigger", .mode = 0640, .kept = true, .show = trigger_show, .store = trigger_store,
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

/* The kernel's own tables, after the engine's. */
static int put_kernel_hist(const struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, HIST_MAX);
	err = tree_event_text(f, "hist", &b);
	if (!err && b.len) {
		if (out->len)
			tacho_buf_puts(out, "\n\n");
		tacho_buf_put(out, b.data, b.len);
		err = tacho_buf_error(out);
	}
	tacho_buf_release(&b);
	return err;
}

static int hist_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct hist_out o = { .out = out, .names = tree_names(f->inst) };
	struct tacho_engine_event *e =
		tree_engine_event(f->inst, f->system, f->event);
	struct tree_sides s = tree_sides_of(f);
	char name[TREE_NAME_SIZE];
	int err = 0;

	if (e) {
		(void)tree_store_settle(f->inst);
		err = tacho_engine_print_hist(tree_engine(f->inst), e, out);
	}
	if (!err && s.kernel && f->inst->tree->has_hist &&
	    tree_kernel_is_there(f->inst))
		err = put_kernel_hist(f, out);
	tree_event_name(f, name);
	return err ? err : tacho_command_hists(&f->inst->session, name, put_hist, &o);
}

const struct tree_node tree_hist_node = {
	.name = "hist", .mode = 0440, .show = hist_show,
};

const struct tree_node tree_own_hist_node = {
	.name = "hist", .mode = 0440, .kernel = true, .show = hist_show,
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
	struct tree_sides s = tree_sides_of(f);
	char name[TREE_NAME_SIZE];
	int err = 0;

	if (e)
		(void)tree_store_settle(f->inst);
	for (uint32_t i = 0; e && !err &&
	     (h = tacho_engine_hist(tree_engine(f->inst), e, i)); i++) {
		if (i)
			tacho_buf_puts(out, "\n\n");
		err = tacho_hist_print_debug(h, out);
	}
	/* kernels that were built without CONFIG_HIST_TRIGGERS_DEBUG have no such file */
	if (!err && s.kernel && f->inst->tree->has_hist &&
	    tree_kernel_is_there(f->inst)) {
		err = tree_event_text(f, "hist_debug", out);
		err = err == -ENOENT ? 0 : err;
	}
	tree_event_name(f, name);
	return err ? err : tacho_command_hists(&f->inst->session, name, put_debug, out);
}

const struct tree_node tree_hist_debug_node = {
	.name = "hist_debug", .mode = 0440, .show = debug_show,
};
