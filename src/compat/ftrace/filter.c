// SPDX-License-Identifier: MIT
/* filter, also what is shown of those that were refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/ftrace/events.h"
#include "compat/ftrace/store.h"

/* ---- filters that were refused ---- */

/* As in the kernel, a refused filter takes the old one's place, and is shown. */
struct tree_broken {
	struct tree_broken *next;
	char name[TREE_NAME_SIZE];
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

/* ---- filter ---- */

/* The last one counts. */
static int take_filter(const struct tacho_command_info *c, void *arg)
{
	struct tree_wanted *w = arg;

	if (tree_is_wanted(w, c))
		memcpy(w->text, c->text, sizeof(c->text));
	return 0;
}

int tree_filter_text(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tree_wanted w = { .system = f->system, .event = f->event,
				 .kind = TACHO_COMMAND_FILTER };
	struct tree_sides s = tree_sides_of(f);
	int err;

	if (s.kernel && *f->system && tree_kernel_is_there(f->inst))
		return tree_event_text(f, "filter", out);
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
	char name[TREE_NAME_SIZE];
	const struct tree_broken *broken;

	tree_event_name(f, name);
	broken = *find_broken(f->inst, name);
	if (!broken || tree_sides_of(f).kernel)
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
	char name[TREE_NAME_SIZE];
	const struct tree_event *ev;
	size_t nr;

	ev = tree_events(f->inst, false, &nr);
	for (size_t i = 0; ev && i < nr; i++) {
		if (!ev[i].text || (*f->system && strcmp(ev[i].system, f->system)))
			continue;
		(void)snprintf(name, sizeof(name), "%s:%s", ev[i].system, ev[i].name);
		set_broken(f->inst, name, text, e);
	}
}

/* text: as it was written; white space before it is kept, and shown, after it is not. */
static int filter_program(struct tacho_tree_file *f, char *text)
{
	char *words = tree_trim(text), name[TREE_NAME_SIZE];
	struct tacho_cmd_error e = { 0 };
	bool none = !strcmp(words, "0");
	int err;

	tree_event_name(f, name);
	if (none || !*words)
		text = words;
	err = *text ? tacho_command_filter(&f->inst->session, name, text, NULL, &e) :
		      -EINVAL;
	if (err == -ENOENT && none)
		err = 0;
	if (err != -EINVAL) {
		if (!err && *f->event) {
			set_broken(f->inst, name, text, NULL);
			tree_engine_filter(f->inst, f->system, f->event, text);
		} else if (!err) {
			set_all_broken(f, text, NULL);
		}
		return err;
	}
	(void)tacho_command_filter(&f->inst->session, name, "0", NULL, NULL);
	if (*f->event) {
		tree_engine_filter(f->inst, f->system, f->event, "0");
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
	char path[TREE_PATH_SIZE];
	const struct tree_event *e;
	const char *last = "";
	int err = -EINVAL;
	size_t nr;

	if (*f->system) {
		tree_event_path(f, "filter", path);
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
	struct tree_sides s = tree_sides_of(f);
	int kernel = 0, program = 0;
	char *copy;

	(void)caller;
	if (len >= TREE_COMMAND_SIZE)
		return -EINVAL;
	if (s.kernel)
		kernel = filter_kernel(f, text);
	copy = s.program ? strdup(text) : NULL;
	if (s.program && !copy)
		return -ENOMEM;
	if (s.program)
		program = filter_program(f, copy);
	free(copy);
	/* a system's filter is taken when one event could take it */
	if (!*f->event && s.kernel && s.program && (!kernel || !program))
		return (ssize_t)len;
	return kernel ? kernel : program ? program : (ssize_t)len;
}

const struct tree_node tree_filter_node = {
	.name = "filter", .mode = 0640, .kept = true, .show = filter_show, .store = filter_store,
};
