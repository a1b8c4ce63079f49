// SPDX-License-Identifier: MIT
/* The files below events/: what they share, format and id, and which is in which directory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "compat/ftrace/events.h"

void tree_event_name(const struct tacho_tree_file *f, char name[TREE_NAME_SIZE])
{
	(void)snprintf(name, TREE_NAME_SIZE, "%s:%s",
		       *f->system ? f->system : "*", *f->event ? f->event : "*");
}

void tree_event_path(const struct tacho_tree_file *f, const char *name,
		     char path[TREE_PATH_SIZE])
{
	(void)snprintf(path, TREE_PATH_SIZE, "events%s%s%s%s/%s",
		       *f->system ? "/" : "", f->system, *f->event ? "/" : "", f->event,
		       name);
}

int tree_event_text(const struct tacho_tree_file *f, const char *name,
		    struct tacho_buf *out)
{
	char path[TREE_PATH_SIZE];

	tree_event_path(f, name, path);
	return tree_kernel_read(f->inst, path, out);
}

struct tree_sides tree_sides_of(const struct tacho_tree_file *f)
{
	struct tree_sides s = { false, false };
	const struct tree_event *e;
	size_t nr;

	if (*f->event) {
		e = tree_event(f->inst, f->system, f->event);
		s.kernel = e && e->kernel;
		/* markers are in the session's rings, their event is the kernel's alone */
		s.program = e && e->text && !(s.kernel && tree_is_own(f->system));
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

bool tree_is_wanted(const struct tree_wanted *w, const struct tacho_command_info *c)
{
	return c->kind == w->kind && !c->hidden &&
	       tacho_event_glob(c->event, w->system, w->event);
}

/* ---- format, id ---- */

/* Formats and ids are the same in all instances: the top's files. */
static int format_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tree_event *e = tree_event(f->inst, f->system, f->event);
	char path[TREE_PATH_SIZE];

	if (!e)
		return -ENODEV;
	if (e->kernel) {
		tree_event_path(f, "format", path);
		return tacho_buf_read_fileat(out, f->inst->tree->tracefs.dirfd, path);
	}
	if (!e->type)
		return -ENODEV;
	tacho_type_write(e->type, true, out);
	return 0;
}

static const struct tree_node format_node = {
	.name = "format", .mode = 0440, .kept = true, .show = format_show,
};

static int id_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	const struct tree_event *e = tree_event(f->inst, f->system, f->event);
	char path[TREE_PATH_SIZE];

	if (!e)
		return -ENODEV;
	if (e->kernel) {
		tree_event_path(f, "id", path);
		return tacho_buf_read_fileat(out, f->inst->tree->tracefs.dirfd, path);
	}
	if (!e->type)
		return -ENODEV;
	tacho_buf_printf(out, "%u\n", e->type->id);
	return 0;
}

static const struct tree_node id_node = {
	.name = "id", .mode = 0440, .kept = true, .show = id_show,
};

const struct tree_node *const tree_events_nodes[] = {
	&tree_enable_node, &tree_filter_node, &tree_header_event_node,
	&tree_header_page_node, NULL,
};

const struct tree_node *const tree_system_nodes[] = {
	&tree_enable_node, &tree_filter_node, NULL,
};

const struct tree_node *const tree_event_nodes[] = {
	&tree_enable_node, &tree_filter_node, &tree_trigger_node, &format_node, &id_node,
	&tree_hist_node, &tree_hist_debug_node, &tree_inject_node, NULL,
};

const struct tree_node *const tree_own_nodes[] = { &format_node, &tree_own_hist_node, NULL };

const struct tree_node *const tree_own_id_nodes[] = {
	&format_node, &tree_own_hist_node, &id_node, NULL,
};

const struct tree_node *const tree_print_nodes[] = {
	&format_node, &tree_own_hist_node, &id_node, &tree_trigger_node, NULL,
};
