// SPDX-License-Identifier: MIT
/* What this kernel's tracer lacks, done on its records; see store.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/eprobe.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store_priv.h"
#include "session/command.h"
#include "tacho/abi/record.h"

#define ARENA_MAX	((size_t)1 << 20)

/* ---- life ---- */

static int make_front(struct tree_store *s)
{
	struct tree_lane *front = calloc((size_t)s->nr_cpus + 1, sizeof(*front));

	if (!front)
		return -ENOMEM;
	for (uint32_t i = 0; i <= s->nr_cpus; i++)
		tree_lane_init(&front[i]);
	s->front = front;
	return 0;
}

/* The session's synthetic events, of before there was an engine. */
static int add_synth(const struct tacho_command_info *c, void *query)
{
	if (c->kind == TACHO_COMMAND_SYNTH)
		(void)tacho_query_synth(query, c->text, NULL);
	return 0;
}

static int add_eprobe(const struct tacho_command_info *c, void *inst);
static int take_filter(const struct tacho_command_info *c, void *inst);

/* The engine, made when it is first needed. */
static struct tacho_query *engine(struct tree_store *s)
{
	struct tacho_source *source;

	if (s->query)
		return s->query;
	if (make_front(s))
		return NULL;
	s->stream = tacho_stream_new(0);
	if (s->stream && !tree_store_open(s->inst, TREE_STORE_LIVE, true, &source) &&
	    !tacho_stream_add_take(s->stream, source) &&
	    !tacho_query_new(&s->query, s->stream)) {
		(void)tacho_commands_each(&s->inst->session, add_synth, s->query);
		(void)tacho_commands_each(&s->inst->session, add_eprobe, s->inst);
		(void)tacho_commands_each(&s->inst->session, take_filter, s->inst);
		return s->query;
	}
	/* records in the front would not be read */
	tacho_stream_close(s->stream);
	s->stream = NULL;
	free(s->front);
	s->front = s->lane;
	return NULL;
}

void tree_engine_free(struct tree_store *s)
{
	tacho_query_free(s->query);
	tacho_stream_close(s->stream);
	free(s->made);
}

struct tacho_engine *tree_engine(struct tree_inst *inst)
{
	return inst->store && inst->store->query ?
	       tacho_query_engine(inst->store->query) : NULL;
}

const struct tacho_names *tree_engine_names(struct tree_inst *inst)
{
	return inst->store && inst->store->query ?
	       tacho_query_names(inst->store->query) : NULL;
}

bool tree_engine_busy(const struct tree_inst *inst)
{
	return inst->store && inst->store->commands;
}

/* ---- records ---- */

const struct tacho_type *tree_engine_type(struct tree_store *s, uint32_t id)
{
	return id >= TREE_ID_FIRST && id - TREE_ID_FIRST < s->nr_made ?
	       s->made[id - TREE_ID_FIRST] : NULL;
}

/* Makes the type of a synthetic event known by its id. */
static int add_generated(struct tree_store *s, const struct tacho_type *type)
{
	uint32_t nr = type->id - TREE_ID_FIRST + 1;

	if (nr > s->nr_made) {
		const struct tacho_type **p = reallocarray(s->made, nr, sizeof(*p));

		if (!p)
			return -ENOMEM;
		memset(p + s->nr_made, 0, (nr - s->nr_made) * sizeof(*p));
		s->made = p;
		s->nr_made = nr;
	}
	s->made[nr - 1] = type;
	return 0;
}

/* A synthetic event after the one that caused it. */
static void put_made(struct tree_store *s, const struct tacho_record *r)
{
	const struct tacho_type *type = tree_type(s->inst, r->type);
	uint32_t size = TACHO_ALIGN_UP(r->len + 8, 8);
	unsigned char *record;

	if (!type || size > TACHO_RECORD_MAX || add_generated(s, type))
		return;
	record = calloc(1, size);
	if (!record)
		return;
	tacho_put_u64(record, tacho_record_word(r->ticks, size));
	memcpy(record + 8, r->raw, r->len);
	tacho_put_u16(record + 8, (uint16_t)type->id);
	(void)tree_store_put(s, r->cpu, record, size, r->ticks);
	free(record);
}

/* Whether a record was made before its triggers ran: then it is in their snapshot. */
static bool is_before(struct tree_store *s, const struct tacho_record *r)
{
	const struct tacho_engine_event *e =
		tacho_engine_find(tacho_query_engine(s->query), r->type->system,
				  r->type->name);

	return tree_is_marked(s, r) || !e || tacho_engine_needs_record(e);
}

static void run_one(struct tree_store *s, const struct tacho_record *r)
{
	const unsigned char *record = (const unsigned char *)r->raw - 8;
	const struct tacho_record *generated;

	if (r->lost)
		tree_store_lost(s, r->cpu, r->lost);
	/* a marker is in the session's rings */
	if (tacho_query_hit(s->query, r) && !tree_is_marked(s, r))
		(void)tree_store_put(s, r->cpu, record,
				     tacho_record_size(tacho_load_u64(record)), r->ticks);
	while ((generated = tacho_query_generated(s->query)))
		put_made(s, generated);
	if (tacho_query_stacktraces(s->query) != s->stacktraces) {
		s->stacktraces = tacho_query_stacktraces(s->query);
		if (tree_is_marked(s, r))
			tree_mark_stack(s, r);
	}
	if (tacho_query_snapshots(s->query) != s->snapshots) {
		s->snapshots = tacho_query_snapshots(s->query);
		(void)tree_take_snapshot(s->inst, false,
					 is_before(s, r) ? r->ticks : r->ticks - 1);
	}
}

void tree_engine_run(struct tree_store *s)
{
	struct tacho_engine *engine;
	struct tacho_record r;

	if (!s->query)
		return;
	/* after a marker's traceoff, tracing continues when it is switched on again */
	engine = tacho_query_engine(s->query);
	tacho_engine_run(engine, true);
	while (tacho_stream_next(s->stream, &r) == TACHO_STREAM_RECORD)
		run_one(s, &r);
	if (!tacho_engine_running(engine))
		(void)tree_switch(s->inst, false);
	/* what was read is not needed again */
	for (uint32_t i = 0; i <= s->nr_cpus; i++)
		tree_lane_trim_read(&s->front[i]);
}

/* ---- commands ---- */

/*
 * Whether a hist trigger only counts in a table.  A variable or an action may lead to a
 * synthetic event, which is the session's and not the kernel's; and at common_timestamp
 * the kernel would take another clock for its instance.
 */
static bool is_table(const char *text)
{
	static const char *const words[] = {
		"key", "keys", "val", "vals", "values", "sort", "size", "name", "clock",
	};
	const char *end = strstr(text, " if ");
	size_t len = end ? (size_t)(end - text) : strlen(text);

	for (const char *at = text, *next; at < text + len; at = next) {
		size_t part = strcspn(at, ":"), word = strcspn(at, "=:"), i = 0;

		if (part > (size_t)(text + len - at))
			part = (size_t)(text + len - at);
		next = at + part + 1;
		if (memchr(at, '$', part) || memchr(at, '(', part) ||
		    memmem(at, part, "common_timestamp", 16))
			return false;
		while (word < part && i < sizeof(words) / sizeof(words[0]) &&
		       (strlen(words[i]) != word || memcmp(words[i], at, word)))
			i++;
		if (word < part && i == sizeof(words) / sizeof(words[0]))
			return false;
	}
	return true;
}

/* Of "enable_hist:SYSTEM:EVENT": whether the engine has a histogram on that event. */
static bool has_target(struct tree_inst *inst, const char *text)
{
	char system[TACHO_RULE_MAX], event[TACHO_RULE_MAX];
	const char *at = strchr(text, ':'), *colon = at ? strchr(at + 1, ':') : NULL;
	const struct tacho_engine_event *e;

	if (!colon)
		return false;
	(void)snprintf(system, sizeof(system), "%.*s", (int)(colon - at - 1), at + 1);
	(void)snprintf(event, sizeof(event), "%.*s", (int)strcspn(colon + 1, ": \t"),
		       colon + 1);
	e = tree_engine_event(inst, system, event);
	return e && tacho_engine_hist(tree_engine(inst), e, 0);
}

bool tree_engine_takes(struct tree_inst *inst, const char *text)
{
	if (*text == '!')
		text++;
	if (!strncmp(text, "enable_hist", 11) || !strncmp(text, "disable_hist", 12))
		return !inst->tree->has_hist || has_target(inst, text);
	if (!strncmp(text, "hist", 4))
		return !inst->tree->has_hist || !is_table(text);
	return !strncmp(text, "snapshot", 8);
}

static bool kernel_enabled(struct tree_inst *inst, const char *system,
			   const char *name)
{
	struct tacho_buf b;
	char path[300];
	bool on;

	(void)snprintf(path, sizeof(path), "events/%s/%s/enable", system, name);
	tacho_buf_init(&b, 64);
	on = !tree_kernel_read(inst, path, &b) && b.len && b.data[0] == '1';
	tacho_buf_release(&b);
	return on;
}

static void kernel_enable(struct tree_inst *inst, const struct tacho_type *type,
			  bool on)
{
	char path[300];

	(void)snprintf(path, sizeof(path), "events/%s/%s/enable", type->system,
		       type->name);
	(void)tree_kernel_write(inst, path, on ? "1" : "0", 1, true);
	tree_store_events_changed(inst);
}

/* The engine's event of that name, made known to it. */
static struct tacho_engine_event *engine_event(struct tree_inst *inst,
					       const char *system, const char *name)
{
	struct tree_store *s = inst->store;
	struct tacho_engine_event *event =
		tacho_engine_find(tacho_query_engine(s->query), system, name);
	const struct tacho_type *type;

	if (event)
		return event;
	type = tree_store_type(s, system, name);
	event = type ? tacho_engine_add(tacho_query_engine(s->query), type) : NULL;
	if (event)
		tacho_engine_enable(tacho_query_engine(s->query), event,
				    tree_is_own(system) ||
				    kernel_enabled(inst, system, name));
	return event;
}

struct tacho_engine_event *tree_engine_event(struct tree_inst *inst,
					     const char *system, const char *name)
{
	struct tacho_engine *e = tree_engine(inst);

	return e ? tacho_engine_find(e, system, name) : NULL;
}

/* Triggers that are set, on all events. */
static uint32_t count_commands(struct tacho_engine *e)
{
	const struct tacho_engine_event *event;
	uint32_t n = 0;

	for (uint32_t i = 0; (event = tacho_engine_at(e, i)); i++)
		n += event->soft;
	return n;
}

/* The engine knows something new of an event: the kernel and the query follow. */
static void changed(struct tree_inst *inst, const struct tacho_engine_event *event,
		    bool was_wanted)
{
	struct tree_store *s = inst->store;
	bool wanted = event->enabled || event->soft;

	if (!event->generated && wanted != was_wanted)
		kernel_enable(inst, event->type, wanted);
	if (!strcmp(event->type->system, TREE_OWN))
		s->marker = event->soft ? event : NULL;
	s->commands = count_commands(tacho_query_engine(s->query));
	inst->unsaved = true;
	tacho_query_changed(s->query);
}

/* An event, and the one that it is a probe on, before a change. */
struct before {
	struct tacho_engine_event *event, *base;	/* or NULL */
	bool wanted, base_wanted;
};

static struct before before_of(struct tree_inst *inst, struct tacho_engine_event *event)
{
	struct before b = { .event = event };
	const struct tacho_type *base = event && event->eprobe ? event->eprobe->base : NULL;

	b.wanted = event && (event->enabled || event->soft);
	if (base)
		b.base = tree_engine_event(inst, base->system, base->name);
	b.base_wanted = b.base && (b.base->enabled || b.base->soft);
	return b;
}

static void changed_since(struct tree_inst *inst, const struct before *b)
{
	if (b->event)
		changed(inst, b->event, b->wanted);
	if (b->base)
		changed(inst, b->base, b->base_wanted);
}

/* Makes events known to the engine that a command names: "onmatch(SYSTEM.EVENT)". */
static void know_named(struct tree_inst *inst, const char *text, const char *before,
		       char between, const char *end)
{
	char system[TACHO_RULE_MAX], event[TACHO_RULE_MAX];
	const char *dot;

	for (const char *at = text; (at = strstr(at, before)); ) {
		at += strlen(before);
		dot = strchr(at, between);
		if (!dot)
			return;
		(void)snprintf(system, sizeof(system), "%.*s", (int)(dot - at), at);
		(void)snprintf(event, sizeof(event), "%.*s",
			       (int)strcspn(dot + 1, end), dot + 1);
		(void)engine_event(inst, system, event);
	}
}

/* What an enable_event or disable_event switches: made known; NULL: it is neither. */
static struct tacho_engine_event *target_of(struct tree_inst *inst, const char *text)
{
	struct tacho_engine_event *target = NULL;
	struct tacho_trigger_spec spec;
	struct tacho_arena a;

	tacho_arena_init(&a, ARENA_MAX);
	if (!tacho_trigger_parse(&spec, &a, text, NULL) &&
	    (spec.cmd == TACHO_TRIGGER_ENABLE_EVENT ||
	     spec.cmd == TACHO_TRIGGER_DISABLE_EVENT))
		target = engine_event(inst, spec.system, spec.event);
	tacho_arena_release(&a);
	return target;
}

int tree_engine_trigger(struct tree_inst *inst, const char *system,
			const char *name, const char *text, struct tacho_cmd_error *e)
{
	struct tacho_engine_event *event;
	struct before before, target;
	int err;

	if (!tree_kernel(inst))
		return -errno;
	/* what came before is not counted */
	(void)tree_store_settle(inst);
	if (!engine(inst->store))
		return -ENOMEM;
	event = engine_event(inst, system, name);
	if (!event)
		return -ENOENT;
	know_named(inst, text, "onmatch(", '.', ")");
	know_named(inst, text, "able_hist:", ':', ": \t");
	target = before_of(inst, target_of(inst, text));
	before = before_of(inst, event);
	err = tacho_engine_trigger(tacho_query_engine(inst->store->query), event,
				   text, e);
	/* of what cannot be removed the kernel says nothing */
	if (err == -ENOENT && *text == '!')
		err = 0;
	if (!err) {
		changed_since(inst, &before);
		changed_since(inst, &target);
	}
	return err;
}

void tree_engine_enable(struct tree_inst *inst, struct tacho_engine_event *event,
			bool on)
{
	struct before before = before_of(inst, event);

	tacho_engine_enable(tree_engine(inst), event, on);
	changed_since(inst, &before);
}

int tree_engine_synth(struct tree_inst *inst, const char *text,
		      struct tacho_cmd_error *e)
{
	bool there;
	int err;

	if (!tree_kernel(inst))
		return 0;	/* programs have it alone */
	there = inst->store->query;
	if (!engine(inst->store))
		return -ENOMEM;
	err = tacho_query_synth(inst->store->query, text, e);
	/* it was one of the session's by then */
	return err == -EEXIST && !there ? 0 : err;
}

void tree_engine_enable_wanted(struct tree_inst *inst)
{
	struct tacho_engine *engine = tree_engine(inst);
	const struct tacho_engine_event *e;

	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++)
		if (!e->generated && !tree_is_own(e->type->system) && (e->enabled || e->soft))
			kernel_enable(inst, e->type, true);
}

/* ---- event probes ---- */

/* Splits "group:name"; false: malformed. */
static bool split(const char *full, char group[TACHO_RULE_MAX], const char **name)
{
	const char *colon = strchr(full, ':');

	if (!colon || colon - full >= TACHO_RULE_MAX)
		return false;
	memcpy(group, full, (size_t)(colon - full));
	group[colon - full] = '\0';
	*name = colon + 1;
	return true;
}

/* The event of the kernel, or synthetic, that the text begins with; NULL: programs have it. */
static struct tacho_engine_event *base_of(struct tree_inst *inst, const char *text)
{
	char system[TACHO_RULE_MAX], name[TACHO_RULE_MAX];
	const char *event;
	size_t ns, ne;

	if (!tacho_eprobe_base(text, &event, &ns, &ne) || ns >= sizeof(system) ||
	    ne >= sizeof(name))
		return NULL;
	(void)snprintf(system, sizeof(system), "%.*s", (int)ns, text);
	(void)snprintf(name, sizeof(name), "%.*s", (int)ne, event);
	return engine_event(inst, system, name);
}

static int put_eprobe(struct tree_inst *inst, const char *full, const char *text,
		      struct tacho_cmd_error *e)
{
	struct tacho_engine_event *base = base_of(inst, text);
	char group[TACHO_RULE_MAX];
	const char *name;

	if (!base || !split(full, group, &name))
		return -ENODEV;
	return tacho_engine_eprobe(tree_engine(inst), group, name, text, base, e);
}

static int take_filter(const struct tacho_command_info *c, void *inst)
{
	char system[TACHO_RULE_MAX];
	const char *name;

	if (c->kind == TACHO_COMMAND_FILTER && split(c->event, system, &name))
		tree_engine_filter(inst, system, name, c->text);
	return 0;
}

/* Those of before there was an engine; they are on if they were. */
static int add_eprobe(const struct tacho_command_info *c, void *arg)
{
	struct tacho_engine_event *event;
	struct tree_inst *inst = arg;
	char group[TACHO_RULE_MAX];
	const char *name;

	if (c->kind != TACHO_COMMAND_EPROBE || put_eprobe(inst, c->event, c->text, NULL) ||
	    !split(c->event, group, &name))
		return 0;
	event = tree_engine_event(inst, group, name);
	if (event && tacho_view_rules_want(&inst->session.view, c->event))
		tree_engine_enable(inst, event, true);
	return 0;
}

const struct tacho_type *tree_engine_type_of(struct tree_inst *inst, const char *system,
					     const char *name)
{
	return tree_kernel(inst) ? tree_store_type(inst->store, system, name) : NULL;
}

int tree_engine_eprobe(struct tree_inst *inst, const char *full, const char *text,
		       struct tacho_cmd_error *e)
{
	int err;

	if (!tree_kernel(inst))
		return 0;	/* programs have it alone */
	if (!engine(inst->store))
		return -ENOMEM;
	err = put_eprobe(inst, full, text, e);
	/* it was one of the session's by then */
	return err == -EEXIST ? 0 : err;
}

void tree_engine_eprobe_remove(struct tree_inst *inst, const char *full)
{
	char group[TACHO_RULE_MAX];
	const char *name;

	if (!tree_engine(inst) || !split(full, group, &name))
		return;
	(void)tree_store_settle(inst);
	(void)tacho_engine_eprobe_remove(tree_engine(inst), group, name);
	tacho_query_changed(inst->store->query);
}

static int is_of_kernel(const struct tacho_command_info *c, void *arg)
{
	struct tree_inst *inst = arg;
	char system[TACHO_RULE_MAX], name[TACHO_RULE_MAX];
	const struct tree_event *e;
	const char *event;
	size_t ns, ne;

	if (c->kind != TACHO_COMMAND_EPROBE || !tacho_eprobe_base(c->text, &event, &ns, &ne) ||
	    ns >= sizeof(system) || ne >= sizeof(name))
		return 0;
	(void)snprintf(system, sizeof(system), "%.*s", (int)ns, c->text);
	(void)snprintf(name, sizeof(name), "%.*s", (int)ne, event);
	e = strcmp(system, "synthetic") ? tree_event(inst, system, name) : NULL;
	return !strcmp(system, "synthetic") || (e && e->kernel);
}

void tree_engine_eprobes_restore(struct tree_inst *inst)
{
	if (tree_has_kernel(inst->tree) &&
	    tacho_commands_each(&inst->session, is_of_kernel, inst) == 1 && tree_kernel(inst))
		(void)engine(inst->store);
}

void tree_engine_filter(struct tree_inst *inst, const char *system, const char *name,
			const char *text)
{
	struct tacho_engine_event *e = tree_engine_event(inst, system, name);

	if (!e || !e->generated)
		return;
	(void)tree_store_settle(inst);
	(void)tacho_engine_filter(tree_engine(inst), e, text, NULL);
}
