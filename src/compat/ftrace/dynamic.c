// SPDX-License-Identifier: MIT
/*
 * Events that are made by text: synthetic_events, which are the session's, the kernel's
 * probes, and dynamic_events, where all of them are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/synth.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store.h"
#include "session/command.h"

void tree_events_changed(struct tree_inst *inst)
{
	size_t nr;

	tacho_add_relaxed(&inst->tree->events_seq, 1);
	(void)tree_events(inst, true, &nr);
}

/* ---- files of the kernel's top: they are about all instances ---- */

static int top_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	return tacho_buf_read_fileat(out, f->inst->tree->tracefs.dirfd, f->node->name);
}

static ssize_t top_write(struct tacho_tree_file *f, const char *text, size_t len,
			 int flags)
{
	ssize_t n = tree_top_write(f->inst, f->node->name, text, len, flags);

	tree_events_changed(f->inst);
	return n;
}

static ssize_t top_store(struct tacho_tree_file *f, const char *text, size_t len,
			 const struct tacho_tree_caller *caller)
{
	(void)caller;
	return top_write(f, text, len, O_APPEND);
}

static int top_trunc(struct tacho_tree_file *f)
{
	return (int)top_write(f, "", 0, O_TRUNC);
}

const struct tree_node tree_uprobes_node = {
	.name = "uprobe_events", .mode = 0640, .passed = true, .top = true,
	.show = top_show, .store = top_store, .trunc = top_trunc,
};

const struct tree_node tree_kprobes_node = {
	.name = "kprobe_events", .mode = 0640, .passed = true, .top = true,
	.show = top_show, .store = top_store, .trunc = top_trunc,
};

const struct tree_node tree_uprobe_profile_node = {
	.name = "uprobe_profile", .mode = 0440, .passed = true, .top = true,
	.show = top_show,
};

const struct tree_node tree_formats_node = {
	.name = "printk_formats", .mode = 0440, .passed = true, .top = true,
	.show = top_show,
};

/* ---- synthetic_events ---- */

#define SYNTH_ARENA	((size_t)1 << 20)

static int put_synth(const struct tacho_command_info *c, void *arg)
{
	const struct tacho_synth *synth;
	struct tacho_arena a;

	if (c->kind != TACHO_COMMAND_SYNTH)
		return 0;
	tacho_arena_init(&a, SYNTH_ARENA);
	synth = tacho_synth_parse(&a, c->text, NULL);
	if (synth) {
		tacho_synth_print(synth, arg);
		tacho_buf_putc(arg, '\n');
	}
	tacho_arena_release(&a);
	return 0;
}

static int synth_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	return tacho_commands_each(&f->inst->session, put_synth, out);
}

/* The definition of one: "name type field; ...". */
struct found_synth {
	const char *name;	/* len bytes */
	size_t len;
	char text[TACHO_COMMAND_TEXT];
};

static int find_synth(const struct tacho_command_info *c, void *arg)
{
	struct found_synth *s = arg;

	if (c->kind != TACHO_COMMAND_SYNTH || strcspn(c->text, " ;\t") != s->len ||
	    memcmp(c->text, s->name, s->len))
		return 0;
	memcpy(s->text, c->text, sizeof(s->text));
	return 1;
}

static bool is_synth(struct tree_inst *inst, const char *name)
{
	struct found_synth s = { .name = name, .len = strlen(name) };

	return tacho_commands_each(&inst->session, find_synth, &s) == 1;
}

/* "!name": one that programs' histograms still use stays in both. */
static int remove_synth(struct tree_inst *inst, const char *text, struct tacho_cmd_error *e)
{
	struct found_synth s = { .name = text + 1, .len = strcspn(text + 1, " ;\t") };
	int found = tacho_commands_each(&inst->session, find_synth, &s), gone, err;

	gone = tree_engine_synth(inst, text, e);
	if (gone && gone != -ENOENT)
		return gone;
	err = tacho_command_synth(&inst->session, text, e);
	if (err && !gone && found == 1)
		(void)tree_engine_synth(inst, s.text, NULL);
	return err;
}

/* In both or in neither: the side that can fail is first, and a definition is undone. */
static int synth_both(struct tree_inst *inst, const char *text, struct tacho_cmd_error *e)
{
	char undo[TACHO_COMMAND_TEXT];
	int err;

	if (*text == '!')
		return remove_synth(inst, text, e);
	err = tacho_command_synth(&inst->session, text, e);
	if (err)
		return err;
	err = tree_engine_synth(inst, text, e);
	if (err) {
		(void)snprintf(undo, sizeof(undo), "!%.*s", (int)strcspn(text, " ;\t"),
			       text);
		(void)tacho_command_synth(&inst->session, undo, NULL);
	}
	return err;
}

static int synth_one(struct tree_inst *inst, const char *text)
{
	struct tacho_cmd_error e = { 0 };
	int err = synth_both(inst, text, &e);

	/* of one that is not there or in use the kernel says nothing */
	if (err && err != -ENOENT && err != -EBUSY)
		tree_log_error(inst, "synthetic_events", text, &e);
	tree_events_changed(inst);
	return err;
}

/* A line each. */
static ssize_t synth_store(struct tacho_tree_file *f, const char *text, size_t len,
			   const struct tacho_tree_caller *caller)
{
	char *copy = strdup(text), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	(void)caller;
	for (char *l = copy ? strtok_r(copy, "\n", &save) : NULL; !err && l;
	     l = strtok_r(NULL, "\n", &save)) {
		l = tree_trim(l);
		if (*l && *l != '#')
			err = synth_one(f->inst, l);
	}
	free(copy);
	return err ? err : (ssize_t)len;
}

/* "!name" of the first one. */
struct first_synth {
	char text[TACHO_COMMAND_TEXT];
};

static int take_synth(const struct tacho_command_info *c, void *arg)
{
	struct first_synth *s = arg;

	if (c->kind != TACHO_COMMAND_SYNTH)
		return 0;
	s->text[0] = '!';
	(void)snprintf(s->text + 1, sizeof(s->text) - 1, "%.*s",
		       (int)strcspn(c->text, " ;\t"), c->text);
	return 1;
}

static int synth_trunc(struct tacho_tree_file *f)
{
	struct first_synth s;
	int err = 0;

	while (!err && tacho_commands_each(&f->inst->session, take_synth, &s) == 1)
		err = synth_one(f->inst, s.text);
	return err;
}

const struct tree_node tree_synth_node = {
	.name = "synthetic_events", .mode = 0640, .show = synth_show,
	.store = synth_store, .trunc = synth_trunc,
};

/* ---- dynamic_events ---- */

#define SYNTH_GROUP	"synthetic/"

static bool kernel_has(const struct tree_inst *inst, const char *file)
{
	return tree_has_kernel(inst->tree) &&
	       !faccessat(inst->tree->tracefs.dirfd, file, F_OK, 0);
}

static int put_dynamic(const struct tacho_command_info *c, void *arg)
{
	if (c->kind == TACHO_COMMAND_SYNTH)
		tacho_buf_puts(arg, "s:" SYNTH_GROUP);
	if (c->kind == TACHO_COMMAND_EPROBE)
		tree_eprobe_print(c, arg);
	return put_synth(c, arg);
}

static int dynamic_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	int err = kernel_has(f->inst, f->node->name) ? top_show(f, out) : 0;

	return err ? err : tacho_commands_each(&f->inst->session, put_dynamic, out);
}

/*
 * Where the definition begins in "s:[synthetic/]name fields"; NULL: it is none, and e says
 * why.
 */
static const char *definition(const char *line, struct tacho_cmd_error *e)
{
	const char *at = line + 2, *fields = line + strcspn(line, " \t"), *name;
	const char *slash = memchr(line, '/', (size_t)(fields - line));
	size_t len;

	if (*fields && slash && strncmp(at, SYNTH_GROUP, strlen(SYNTH_GROUP))) {
		(void)tacho_cmd_error(e, -EINVAL, 0, "Command must be of the form: "
			"s or -:[synthetic/]<name> field[;field] ...");
		return NULL;
	}
	at = slash ? slash + 1 : at;
	if (at < fields && tacho_synth_name(at, &name, &len))
		return at;
	(void)tacho_cmd_error(e, -EINVAL, 0,
			      "Command must be of the form: <name> field[;field] ...");
	return NULL;
}

static int define(struct tree_inst *inst, const char *line)
{
	struct tacho_cmd_error e = { 0 };
	const char *at = definition(line, &e);
	int err = at ? synth_both(inst, at, &e) : -EINVAL;

	/* the caret is in the whole line */
	if (at)
		e.column += (uint32_t)(at - line);
	if (err)
		tree_log_error(inst, "synthetic_events", line, &e);
	tree_events_changed(inst);
	return err;
}

/*
 * "!name" of the synthetic event that "-:[synthetic/]name", or "!s:...", takes away.
 * False: it is not about one, or the command is none.
 */
static bool removal(const char *line, char *text, size_t size)
{
	const char *at = *line == '-' ? line : strchr(line, ':');
	size_t len;

	if (*line == '-')
		at = line[1] == ':' ? line + 1 : NULL;
	if (!at)
		return false;
	at++;
	if (!strncmp(at, SYNTH_GROUP, strlen(SYNTH_GROUP)))
		at += strlen(SYNTH_GROUP);
	len = strcspn(at, " ;\t/");
	(void)snprintf(text, size, "!%.*s", (int)len, at);
	return len && len + 2 <= size && at[len] != '/';
}

static int dynamic_one(struct tacho_tree_file *f, const char *line)
{
	bool gone = *line == '-' || *line == '!';
	char text[TACHO_RULE_MAX];
	ssize_t n;
	int err;

	if (!*line)
		return 0;
	if (!strncmp(line, "s:", 2))
		return define(f->inst, line);
	err = *line == 'e' ? tree_eprobe_define(f->inst, line) :
	      gone ? tree_eprobe_remove(f->inst, line) : 1;
	if (err <= 0 && !(gone && err == -ENOENT))
		return err;
	if (gone && removal(line, text, sizeof(text)) && is_synth(f->inst, text + 1))
		return synth_one(f->inst, text);
	if (!kernel_has(f->inst, f->node->name))
		return gone && strchr(line, ':') ? -ENOENT : -EINVAL;
	n = top_write(f, line, strlen(line), O_APPEND);
	return n < 0 ? (int)n : 0;
}

/* A line each; what follows a '#' is a comment. */
static ssize_t dynamic_store(struct tacho_tree_file *f, const char *text, size_t len,
			     const struct tacho_tree_caller *caller)
{
	char *copy = strdup(text), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	(void)caller;
	for (char *l = copy ? strtok_r(copy, "\n", &save) : NULL; !err && l;
	     l = strtok_r(NULL, "\n", &save)) {
		l[strcspn(l, "#")] = '\0';
		err = dynamic_one(f, tree_trim(l));
	}
	free(copy);
	return err ? err : (ssize_t)len;
}

static int dynamic_trunc(struct tacho_tree_file *f)
{
	int err;

	if (tree_eprobe_any_busy(f->inst))
		return -EBUSY;
	err = kernel_has(f->inst, f->node->name) ? top_trunc(f) : 0;
	if (!err)
		err = tree_eprobe_remove_all(f->inst);
	return err ? err : synth_trunc(f);
}

const struct tree_node tree_dynamic_node = {
	.name = "dynamic_events", .mode = 0640, .top = true,
	.show = dynamic_show, .store = dynamic_store, .trunc = dynamic_trunc,
};
