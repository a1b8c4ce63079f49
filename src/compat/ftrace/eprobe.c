// SPDX-License-Identifier: MIT
/*
 * Event probes in dynamic_events.
 *
 * Where the kernel under the tree takes them, those on its events are its own.  All others
 * are commands of the top's session, which programs follow for their events and the engine
 * for the kernel's; synthetic events are made by either.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/eprobe.h"
#include "compat/ftrace/events.h"
#include "compat/ftrace/store.h"
#include "tracefs/probe_spec.h"

#define GROUP		"eprobes"
#define LOC		"event_probe"
#define ARENA_MAX	((size_t)4 << 20)
#define FIRST_COLUMN	2	/* of the text after 'e' and the word's colon */

/* A definition while it is read. */
struct definition {
	struct tree_inst *inst;
	struct tacho_arena arena;
	const char *line;	/* as written */
	char *text;		/* the same, without what is between 'e' and ':' */
	uint32_t skipped;	/* so many bytes */
	const char *place;	/* SYSTEM.EVENT and all after it, in text */
	struct tacho_probe_spec spec;
	const char *group, *name;
	char full[TACHO_RULE_MAX];	/* "group:name" */
	const struct tacho_type *base;
	bool kernel, synth;	/* whose the base event is */
};

/* ---- what is said ---- */

static uint32_t column_in_line(const struct definition *d, size_t in_text)
{
	return (uint32_t)in_text + (in_text ? d->skipped : 0);
}

static int say(const struct definition *d, int err, size_t in_text, const char *why)
{
	struct tacho_cmd_error e = { 0 };

	(void)tacho_cmd_error(&e, err, column_in_line(d, in_text), "%s", why);
	tree_log_error(d->inst, LOC, d->line, &e);
	return err;
}

/* ---- definitions ---- */

/* What stands between 'e' and the colon means nothing. */
static int copy_text(struct definition *d)
{
	size_t head = strcspn(d->line, ": \t");

	d->skipped = (uint32_t)(head - 1);
	d->text = tacho_arena_strndup(&d->arena, d->line + head - 1, strlen(d->line) - head + 1);
	if (!d->text)
		return -ENOMEM;
	*d->text = 'e';
	d->place = d->text + strcspn(d->text, " \t");
	d->place += strspn(d->place, " \t");
	/* of a line of one word the kernel says nothing */
	return *d->place ? 0 : -EINVAL;
}

/* Of a filter that is missing the kernel points at where it would begin. */
static bool ends_with_if(const char *text)
{
	size_t len = strlen(text);

	return len > 3 && !strcmp(text + len - 2, "if") && strchr(" \t", text[len - 3]);
}

static int parse_spec(struct definition *d)
{
	struct tacho_diag diag = { .err = 0 };
	int err = tacho_probe_parse(&d->arena, d->text, &d->spec, &diag);

	if (err == -EINVAL && diag.offset == strlen(d->text) && ends_with_if(d->text))
		diag.offset++;
	if (err == -EINVAL && diag.offset != TACHO_PROBE_NO_COLUMN)
		return say(d, err, (size_t)diag.offset, diag.text);
	if (err)
		return err;
	d->group = d->spec.group ? d->spec.group : GROUP;
	d->name = d->spec.event ? d->spec.event : d->spec.target;
	if ((size_t)snprintf(d->full, sizeof(d->full), "%s:%s", d->group, d->name) >=
	    sizeof(d->full) - 3)
		return say(d, -EINVAL, FIRST_COLUMN, "Event name is too long");
	return 0;
}

struct finding {
	const char *event;	/* "group:name" */
	char text[TACHO_COMMAND_TEXT];
};

static int find_one(const struct tacho_command_info *c, void *arg)
{
	struct finding *f = arg;

	if (c->kind != TACHO_COMMAND_EPROBE || strcmp(c->event, f->event))
		return 0;
	memcpy(f->text, c->text, sizeof(f->text));
	return 1;
}

static bool is_eprobe(struct tree_inst *inst, const char *full)
{
	struct finding f = { .event = full };

	return tacho_commands_each(&inst->session, find_one, &f) == 1;
}

/*
 * The event that it is on: any but the tracer's own, and other probes.  A kernel's that was
 * made by text is one.
 */
static int find_base(struct definition *d)
{
	const struct tree_event *e = tree_event(d->inst, d->spec.target_group, d->spec.target);
	char full[TACHO_RULE_MAX];

	(void)snprintf(full, sizeof(full), "%.50s:%.64s", d->spec.target_group, d->spec.target);
	if (!e || tree_is_own(e->system) || (e->kernel && !e->fixed) ||
	    is_eprobe(d->inst, full))
		return say(d, -ENODEV, (size_t)(d->place - d->text),
			   "Attached event does not exist");
	d->kernel = e->kernel;
	d->synth = e->synth;
	d->base = e->type;
	if (!d->kernel || tree_has_eprobes(d->inst->tree))
		return 0;
	d->base = tree_engine_type_of(d->inst, d->spec.target_group, d->spec.target);
	return d->base ? 0 : -ENODEV;
}

static int check_filter(const struct definition *d)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_filter *filter;
	struct tacho_arena a;
	int err = 0;

	tacho_arena_init(&a, ARENA_MAX);
	if (d->spec.filter)
		err = tacho_filter_compile(&filter, &a, d->base, d->spec.filter, 0,
					   tree_names(d->inst), &e);
	tacho_arena_release(&a);
	if (!err)
		return 0;
	tree_log_error(d->inst, "event filter parse error", d->spec.filter, &e);
	return err == -ENOMEM ? err : -EINVAL;
}

/* In both or in none, as synthetic events. */
static int define_both(const struct definition *d, const struct tacho_eprobe *ep)
{
	struct tacho_cmd_error e = { 0 };
	int err = tacho_command_eprobe(&d->inst->session, d->full, d->place, ep->type, &e);

	if (!err && (d->kernel || d->synth)) {
		err = tree_engine_eprobe(d->inst, d->full, d->place, &e);
		if (err)
			(void)tacho_command_eprobe_remove(&d->inst->session, d->full, NULL);
	}
	if (err && *e.text)
		(void)say(d, err, 0, e.text);
	if (err)
		return err;
	/* a group that is on is not on for who comes into it */
	if (tacho_view_rules_want(&d->inst->session.view, d->full))
		(void)tacho_session_rule(&d->inst->session, false, d->full, NULL, NULL);
	return 0;
}

static int define(struct definition *d)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_eprobe *ep;
	int err = copy_text(d);

	if (!err)
		err = parse_spec(d);
	if (!err)
		err = find_base(d);
	if (err)
		return err;
	if (d->kernel && tree_has_eprobes(d->inst->tree))
		return 1;
	if (!d->base)
		return -ENODEV;
	err = check_filter(d);
	if (err)
		return err;
	ep = tacho_eprobe_parse(&d->arena, d->group, d->name, d->place, d->base, &e);
	if (!ep && e.err == -EINVAL)
		return say(d, e.err, (size_t)(d->place - d->text) + e.column, e.text);
	if (!ep)
		return -ENOMEM;
	if (tree_event(d->inst, d->group, d->name))
		return say(d, -EEXIST, 0,
			   "Given group/event name is already used by another event");
	return define_both(d, ep);
}

int tree_eprobe_define(struct tree_inst *inst, const char *line)
{
	struct definition d = { .inst = inst, .line = line };
	int err;

	tacho_arena_init(&d.arena, ARENA_MAX);
	err = define(&d);
	tacho_arena_release(&d.arena);
	tree_events_changed(inst);
	return err;
}

/* ---- what there is ---- */

void tree_eprobe_print(const struct tacho_command_info *c, struct tacho_buf *out)
{
	size_t group = strcspn(c->event, ":");

	tacho_buf_printf(out, "e:%.*s/%s ", (int)group, c->event,
			 c->event[group] ? c->event + group + 1 : "");
	tacho_eprobe_print(c->text, out);
	tacho_buf_putc(out, '\n');
}

/* The kernel's own list says of its event probes what their formats do not. */
static bool kernel_base(struct tree_inst *inst, const struct tacho_type *type,
			char *base, size_t size)
{
	char begin[2 * TACHO_RULE_MAX];
	const char *fmt = type->print_fmt, *at = NULL;
	struct tacho_buf b;

	/* a probe's print format begins so, and that of one in code has its address first */
	if (!fmt || strncmp(fmt, "\" ", *fmt && fmt[1] == '"' ? 1 : 2) ||
	    !tree_has_kernel(inst->tree))
		return false;
	(void)snprintf(begin, sizeof(begin), "e:%s/%s ", type->system, type->name);
	tacho_buf_init(&b, ARENA_MAX);
	if (!tacho_buf_read_fileat(&b, inst->tree->tracefs.dirfd, "dynamic_events"))
		at = strstr(tacho_buf_str(&b), begin);
	if (at)
		(void)snprintf(base, size, "%.*s", (int)strcspn(at + strlen(begin), " \n"),
			       at + strlen(begin));
	tacho_buf_release(&b);
	return at;
}

bool tree_eprobe_base(struct tree_inst *inst, const struct tacho_type *type,
		      char *base, size_t size)
{
	char full[2 * TACHO_RULE_MAX];
	struct finding f = { .event = full };
	const char *event;
	size_t ns, ne;

	(void)snprintf(full, sizeof(full), "%s:%s", type->system, type->name);
	if (tacho_commands_each(&inst->session, find_one, &f) != 1 ||
	    !tacho_eprobe_base(f.text, &event, &ns, &ne))
		return kernel_base(inst, type, base, size);
	(void)snprintf(base, size, "%.*s.%.*s", (int)ns, f.text, (int)ne, event);
	return true;
}

struct on_event {
	struct tree_inst *inst;
	const char *name;	/* "system:event" */
};

static int find_on(const struct tacho_command_info *c, void *arg)
{
	const struct on_event *on = arg;
	const char *event;
	size_t ns, ne;

	return c->kind == TACHO_COMMAND_EPROBE &&
	       tacho_eprobe_base(c->text, &event, &ns, &ne) &&
	       strlen(on->name) == ns + 1 + ne && on->name[ns] == ':' &&
	       !memcmp(on->name, c->text, ns) &&
	       !memcmp(on->name + ns + 1, event, ne) &&
	       tacho_view_decide(&on->inst->session.view, c->event, 0).wanted;
}

bool tree_eprobe_wants(struct tree_inst *inst, const char *name)
{
	struct on_event on = { inst, name };

	return tacho_commands_each(&inst->session, find_on, &on) == 1;
}

/* ---- removal ---- */

/* "-:[GROUP/]NAME [SYSTEM.EVENT [ARG...]]", and what of it is not said means any. */
struct removal {
	struct tree_inst *inst;
	const char *group, *name;	/* group NULL, name "": any */
	const char *rest;		/* "": any */
	bool all;
	char found[TACHO_RULE_MAX];	/* "group:name" of the first; "": none */
};

static bool is_rest(const struct removal *r, const char *text)
{
	struct tacho_buf want, has;
	const char *event;
	size_t ns, ne;
	bool same;

	if (!*r->rest)
		return true;
	if (!tacho_eprobe_base(r->rest, &event, &ns, &ne))
		return false;
	tacho_buf_init(&want, ARENA_MAX);
	tacho_buf_init(&has, ARENA_MAX);
	tacho_eprobe_print(r->rest, &want);
	tacho_eprobe_print(text, &has);
	/* the event alone is enough */
	if (!strpbrk(r->rest, " \t"))
		same = has.len >= want.len && !memcmp(has.data, want.data, want.len) &&
		       (has.len == want.len || has.data[want.len] == ' ');
	else
		same = has.len == want.len && !memcmp(has.data, want.data, want.len);
	tacho_buf_release(&want);
	tacho_buf_release(&has);
	return same;
}

static int match(const struct tacho_command_info *c, void *arg)
{
	struct removal *r = arg;
	size_t group = strcspn(c->event, ":");
	const char *name = c->event[group] ? c->event + group + 1 : "";

	if (c->kind != TACHO_COMMAND_EPROBE)
		return 0;
	if (!r->all && ((r->group && (strlen(r->group) != group ||
				      memcmp(r->group, c->event, group))) ||
			(*r->name && strcmp(r->name, name)) || !is_rest(r, c->text)))
		return 0;
	memcpy(r->found, c->event, sizeof(r->found));
	return 1;
}

static int remove_matching(struct removal *r)
{
	bool any = false;
	int err = 0;

	for (;;) {
		if (tacho_commands_each(&r->inst->session, match, r) != 1)
			break;
		err = tacho_command_eprobe_remove(&r->inst->session, r->found, NULL);
		if (err)
			break;
		tree_engine_eprobe_remove(r->inst, r->found);
		any = true;
	}
	if (any)
		tree_events_changed(r->inst);
	return err ? err : any ? 0 : -ENOENT;
}

int tree_eprobe_remove(struct tree_inst *inst, const char *line)
{
	const char *at = strchr(line, ':');
	struct removal r = { .inst = inst };
	char *copy, *slash;
	size_t len;
	int err = -EINVAL;

	if (!at || (*line == '-' ? at != line + 1 : line[1] != 'e'))
		return -ENOENT;
	copy = strdup(at + 1);
	if (!copy)
		return -ENOMEM;
	len = strcspn(copy, " \t");
	r.rest = copy + len + strspn(copy + len, " \t");
	copy[len] = '\0';
	slash = strchr(copy, '/');
	r.group = slash ? copy : NULL;
	r.name = slash ? slash + 1 : copy;
	if (slash)
		*slash = '\0';
	if (r.group || *r.name)
		err = remove_matching(&r);
	free(copy);
	return err;
}

static int find_busy(const struct tacho_command_info *c, void *arg)
{
	struct tree_inst *inst = arg;

	return c->kind == TACHO_COMMAND_EPROBE &&
	       tacho_view_decide(&inst->session.view, c->event, 0).wanted;
}

bool tree_eprobe_any_busy(struct tree_inst *inst)
{
	return tacho_commands_each(&inst->session, find_busy, inst) == 1;
}

int tree_eprobe_remove_all(struct tree_inst *inst)
{
	struct removal r = { .inst = inst, .all = true };
	int err = remove_matching(&r);

	return err == -ENOENT ? 0 : err;
}
