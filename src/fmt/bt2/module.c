// SPDX-License-Identifier: MIT
/*
 * module.c - libtacho-bt2.so: a graph with one source.ctf.fs per trace and one
 * sink, ours, with an input port per stream.
 *
 * Each input port is a part with a message iterator of its own, so babeltrace2
 * need not merge: the stream does.  fill() says which part it wants and runs the
 * sink once; messages stay in the array that the iterator gave until the
 * part's next turn.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/bt2/bt2.h"
#include "fmt/bt2/convert.h"

#define PARTS_MAX	16384u
#define TRACES_MAX	1024u
#define ARENA_MAX	((size_t)256 << 20)
#define BATCH		((size_t)32 << 10)	/* then a batch is handed out */
#define BATCH_MAX	((size_t)1 << 20)
#define KNOWN_TASKS	1024u

struct bt2_part {
	struct tacho_part part;
	bt_message_iterator *iter;
	bt_message_array_const messages;
	uint64_t nr, at;	/* of messages; those before `at` are put */
	bool ended, rewind;
	struct tacho_buf out;
};

struct bt2_source {
	struct tacho_source source;
	struct tacho_arena arena;
	bt_graph *graph;
	const bt_component_source *trace[TRACES_MAX];
	uint32_t nr_traces;
	struct bt2_part *wanted;
	struct tacho_bt2_plan **plan;	/* hash by event class */
	uint32_t plan_room;		/* a power of two */
	uint32_t nr_plans;
	int32_t known[KNOWN_TASKS];	/* tids whose names were taken */
	int err;
};

/* ---- errors -------------------------------------------------------------- */

/* babeltrace2's last words, the one nearest to the cause. */
static int take_error(struct tacho_diag *d, const char *what)
{
	const bt_error *error = bt_current_thread_take_error();
	char text[160] = "no reason given";

	if (error) {
		if (bt_error_get_cause_count(error))
			(void)snprintf(text, sizeof(text), "%s",
				bt_error_cause_get_message(
				bt_error_borrow_cause_by_index(error, 0)));
		bt_error_release(error);
	}
	text[strcspn(text, "\n")] = '\0';
	if (strlen(text) && text[strlen(text) - 1] == '.')
		text[strlen(text) - 1] = '\0';
	return tacho_diag(d, -EINVAL, 0, "cannot read %s: babeltrace2: %s",
			  what, text);
}

/* ---- plans --------------------------------------------------------------- */

static uint32_t plan_slot(const struct bt2_source *s,
			  const bt_event_class *class)
{
	uint32_t i = (uint32_t)((uintptr_t)class >> 4) * 2654435761u;

	for (;; i++) {
		i &= s->plan_room - 1;
		if (!s->plan[i] || s->plan[i]->class == class)
			return i;
	}
}

static int plans_grow(struct bt2_source *s)
{
	struct tacho_bt2_plan **old = s->plan;
	uint32_t room = s->plan_room;

	if (s->nr_plans * 2 < room)
		return 0;
	s->plan_room = room ? room * 2 : 256;
	s->plan = calloc(s->plan_room, sizeof(*s->plan));
	if (!s->plan) {
		s->plan = old;
		s->plan_room = room;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < room; i++)
		if (old[i])
			s->plan[plan_slot(s, old[i]->class)] = old[i];
	free(old);
	return 0;
}

static bool is_kernel(const bt_trace *trace)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(
				trace, "domain");

	return v && bt_value_is_string(v) &&
	       !strcmp(bt_value_string_get(v), "kernel");
}

/* Of each class there may be two: s->nr_plans counts types. */
static struct tacho_bt2_plan *plan_new(struct bt2_source *s, const bt_event_class *class,
				       uint32_t stream_id, bool marked)
{
	struct tacho_bt2_plan *plan;

	if (s->nr_plans == 65535)
		return NULL;
	plan = tacho_bt2_plan_new(&s->arena, class, stream_id ? "kernel" : "ust",
				  s->nr_plans + 1, marked);
	if (!plan || tacho_source_set_type(&s->source, stream_id, s->nr_plans + 1,
					   plan->type))
		return NULL;
	s->nr_plans++;
	return plan;
}

static struct tacho_bt2_plan *plan_get(struct bt2_source *s,
				       const bt_event_class *class,
				       uint32_t stream_id)
{
	struct tacho_bt2_plan *plan;

	if (plans_grow(s))
		return NULL;
	plan = s->plan[plan_slot(s, class)];
	if (plan || s->nr_plans == 65535)
		return plan;
	plan = plan_new(s, class, stream_id, false);
	if (plan)
		s->plan[plan_slot(s, class)] = plan;
	return plan;
}

/* ---- messages ------------------------------------------------------------ */

static uint32_t cpu_of(const bt_packet *packet)
{
	const bt_field *f = packet ? bt_packet_borrow_context_field_const(packet) :
				     NULL;

	if (f)
		f = bt_field_structure_borrow_member_field_by_name_const(f, "cpu_id");
	if (!f || bt_field_get_class_type(f) !=
		  BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
		return UINT32_MAX;
	return (uint32_t)bt_field_integer_unsigned_get_value(f);
}

static uint64_t time_of(const bt_message *msg, const bt_stream_class *class)
{
	int64_t ns = 0;

	if (bt_stream_class_borrow_default_clock_class_const(class) &&
	    bt_clock_snapshot_get_ns_from_origin(
		bt_message_event_borrow_default_clock_snapshot_const(msg), &ns))
		ns = 0;
	return ns > 0 ? (uint64_t)ns : 0;
}

static void take_name(struct bt2_source *s, const struct tacho_bt2_thread *t)
{
	int32_t *known = &s->known[(uint32_t)t->tid % KNOWN_TASKS];

	if (!t->comm[0] || !t->tid || *known == t->tid)
		return;
	*known = t->tid;
	(void)tacho_facts_add_task(&s->source.facts, t->tid, t->tgid, t->comm,
				   strlen(t->comm));
}

/* An event that is too large for a record is cut, and its record marked. */
static int put_event(struct bt2_source *s, struct bt2_part *p, struct tacho_bt2_plan *plan,
		     const bt_event *event, uint64_t time, struct tacho_bt2_thread *thread)
{
	uint32_t cut;
	int err = tacho_bt2_convert(plan, event, time, thread, &p->out, &cut);

	if (err || !cut)
		return err;
	s->source.truncated++;
	if (plan->mark)
		return 0;
	if (!plan->marked)
		plan->marked = plan_new(s, plan->class, p->part.stream_id, true);
	return plan->marked ? tacho_bt2_convert(plan->marked, event, time, thread, &p->out,
						&cut) : -ENOMEM;
}

/* One event into the part's batch; false: it begins the next batch. */
static bool take_event(struct bt2_source *s, struct bt2_part *p,
		       const bt_message *msg)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	const bt_event_class *class = bt_event_borrow_class_const(event);
	const bt_stream_class *sc = bt_event_class_borrow_stream_class_const(class);
	uint64_t time = time_of(msg, sc);
	uint32_t cpu = bt_stream_class_supports_packets(sc) ?
		       cpu_of(bt_event_borrow_packet_const(event)) : UINT32_MAX;
	struct tacho_bt2_thread thread;
	struct tacho_bt2_plan *plan;

	/* a batch has one CPU, and 48 bits of time must do */
	if (!p->out.len) {
		p->part.last = time;
		p->part.cpu = cpu;
	} else if (cpu != p->part.cpu || time < p->part.last ||
		   time - p->part.last > TACHO_TIME_MASK / 2) {
		return false;
	}
	plan = plan_get(s, class, p->part.stream_id);
	if (!plan || put_event(s, p, plan, event, time, &thread)) {
		s->source.damaged++;
		return true;
	}
	take_name(s, &thread);
	return true;
}

static void take_classes(struct bt2_source *s, struct bt2_part *p,
			 const bt_message *msg)
{
	const bt_stream *stream =
		bt_message_stream_beginning_borrow_stream_const(msg);
	const bt_stream_class *sc = bt_stream_borrow_class_const(stream);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	uint64_t n = bt_trace_get_environment_entry_count(trace);

	p->part.stream_id = is_kernel(trace) ? TACHO_STREAM_KERNEL :
					       TACHO_STREAM_PROGRAM;
	for (uint64_t i = 0; i < n; i++) {
		const char *name;
		const bt_value *v;
		char number[24];

		bt_trace_borrow_environment_entry_by_index_const(trace, i, &name, &v);
		if (bt_value_is_string(v)) {
			(void)tacho_facts_set(&s->source.facts, name, strlen(name),
				bt_value_string_get(v), strlen(bt_value_string_get(v)));
		} else if (bt_value_is_signed_integer(v)) {
			(void)snprintf(number, sizeof(number), "%lld",
				(long long)bt_value_integer_signed_get(v));
			(void)tacho_facts_set(&s->source.facts, name, strlen(name),
					      number, strlen(number));
		}
	}
	n = bt_stream_class_get_event_class_count(sc);
	for (uint64_t i = 0; i < n; i++)
		(void)plan_get(s, bt_stream_class_borrow_event_class_by_index_const(sc, i),
			       p->part.stream_id);
}

static bool take_message(struct bt2_source *s, struct bt2_part *p,
			 const bt_message *msg)
{
	bt_message_type type = bt_message_get_type(msg);
	uint64_t count;

	if (type == BT_MESSAGE_TYPE_EVENT)
		return take_event(s, p, msg);
	if (type == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
		take_classes(s, p, msg);
	} else if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		/* they were lost before the next event: it begins a batch */
		if (p->out.len)
			return false;
		if (bt_message_discarded_events_get_count(msg, &count) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			p->part.lost += count;
	}
	return true;
}

static void drop_messages(struct bt2_part *p)
{
	for (; p->at < p->nr; p->at++)
		bt_message_put_ref(p->messages[p->at]);
}

/* Asks for messages until there is one or the end.  0, 1: again, -EIO. */
static int more_messages(struct bt2_part *p)
{
	bt_message_iterator_next_status status =
		bt_message_iterator_next(p->iter, &p->messages, &p->nr);

	p->at = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return 0;
	p->nr = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return 1;
	p->ended = true;
	return status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END ? 0 : -EIO;
}

/* Fills one batch of the part; runs inside the sink's consume method. */
static int make_batch(struct bt2_source *s, struct bt2_part *p)
{
	tacho_buf_reset(&p->out);
	if (p->rewind) {
		drop_messages(p);
		p->rewind = p->ended = false;
		if (bt_message_iterator_seek_beginning(p->iter) !=
		    BT_MESSAGE_ITERATOR_SEEK_BEGINNING_STATUS_OK)
			return -EIO;
	}
	while (p->out.len < BATCH) {
		if (p->at == p->nr) {
			int err = p->ended ? 0 : more_messages(p);

			if (err)
				return err < 0 ? err : 0;
			if (p->at == p->nr)
				return 0;
		}
		if (!take_message(s, p, p->messages[p->at]))
			return 0;
		bt_message_put_ref(p->messages[p->at++]);
	}
	return 0;
}

/* ---- the sink ------------------------------------------------------------ */

static bt_component_class_initialize_method_status
sink_init(bt_self_component_sink *self,
	  bt_self_component_sink_configuration *config, const bt_value *params,
	  void *data)
{
	struct bt2_source *s = data;

	(void)config;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), s);
	for (uint32_t i = 0; i < s->source.nr_parts; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "in%u", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL))
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	struct bt2_source *s = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (uint32_t i = 0; i < s->source.nr_parts; i++) {
		struct bt2_part *p = (struct bt2_part *)s->source.part[i];

		if (bt_message_iterator_create_from_sink_component(self,
			bt_self_component_sink_borrow_input_port_by_index(self, i),
			&p->iter))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static bt_component_class_sink_consume_method_status
sink_consume(bt_self_component_sink *self)
{
	struct bt2_source *s = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	s->err = s->wanted ? make_batch(s, s->wanted) : 0;
	s->wanted = NULL;
	if (s->err)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static int run(struct bt2_source *s, struct bt2_part *p)
{
	bt_graph_run_once_status status;

	s->wanted = p;
	status = bt_graph_run_once(s->graph);
	return status == BT_GRAPH_RUN_ONCE_STATUS_OK ? 0 : -EIO;
}

/* ---- the source ---------------------------------------------------------- */

static int bt2_fill(struct tacho_source *source, struct tacho_part *part,
		    bool bad)
{
	struct bt2_source *s = (struct bt2_source *)source;
	struct bt2_part *p = (struct bt2_part *)part;

	/* records are generated here, so none is malformed */
	(void)bad;
	part->pos = part->end = NULL;
	part->limit = UINT64_MAX;
	if (run(s, p)) {
		take_error(&source->diag, "the trace");
		return TACHO_STREAM_ERROR;
	}
	if (!p->out.len)
		return p->ended && p->at == p->nr ? TACHO_STREAM_END :
						    TACHO_STREAM_RECORD;
	part->pos = (unsigned char *)p->out.data;
	part->end = part->pos + p->out.len;
	return TACHO_STREAM_RECORD;
}

static int bt2_seek(struct tacho_source *source, struct tacho_part *part,
		    uint64_t ticks)
{
	(void)source;
	(void)ticks;
	((struct bt2_part *)part)->rewind = true;
	return 0;
}

static void bt2_close(struct tacho_source *source)
{
	struct bt2_source *s = (struct bt2_source *)source;

	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct bt2_part *p = (struct bt2_part *)source->part[i];

		drop_messages(p);
		bt_message_iterator_put_ref(p->iter);
		tacho_buf_release(&p->out);
	}
	bt_graph_put_ref(s->graph);
	for (uint32_t i = 0; i < source->nr_parts; i++)
		free(source->part[i]);
	free(s->plan);
	tacho_arena_release(&s->arena);
	tacho_source_release(source);
	free(s);
}

static const struct tacho_source_ops bt2_ops = {
	.format = "ctf",
	.close = bt2_close,
	.fill = bt2_fill,
	.seek = bt2_seek,
};

/* ---- opening ------------------------------------------------------------- */

struct opening {
	struct bt2_source *s;
	const bt_component_class_source *class;
	struct tacho_diag *d;
};

static int add_trace(void *arg, const char *dir)
{
	struct opening *o = arg;
	struct bt2_source *s = o->s;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	const bt_component_source *c = NULL;
	char name[32];
	int err = -ENOMEM;

	if (s->nr_traces == TRACES_MAX) {
		bt_value_put_ref(params);
		return tacho_diag(o->d, -E2BIG, 0, "more than %u traces",
				  TRACES_MAX);
	}
	(void)snprintf(name, sizeof(name), "trace%u", s->nr_traces);
	if (params &&
	    !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, dir))
		err = bt_graph_add_source_component(s->graph, o->class, name,
				params, BT_LOGGING_LEVEL_NONE, &c) ? -EINVAL : 0;
	bt_value_put_ref(params);
	if (err) {
		char what[100];

		(void)snprintf(what, sizeof(what), "'%.90s'", dir);
		return take_error(o->d, what);
	}
	s->trace[s->nr_traces++] = c;
	for (uint64_t n = bt_component_source_get_output_port_count(c); n; n--) {
		struct bt2_part *p = calloc(1, sizeof(*p));

		if (!p || s->source.nr_parts == PARTS_MAX ||
		    tacho_source_add_part(&s->source, &p->part)) {
			free(p);
			return tacho_no_memory(o->d);
		}
		p->part.cpu = UINT32_MAX;
		tacho_buf_init(&p->out, BATCH_MAX);
	}
	return 0;
}

static int add_sink(struct bt2_source *s, struct tacho_diag *d)
{
	bt_component_class_sink *class =
		bt_component_class_sink_create("tacho", sink_consume);
	const bt_component_sink *sink;
	uint64_t in = 0;
	int err = -ENOMEM;

	if (class &&
	    !bt_component_class_sink_set_initialize_method(class, sink_init) &&
	    !bt_component_class_sink_set_graph_is_configured_method(class,
							sink_configured))
		err = bt_graph_add_sink_component_with_initialize_method_data(
			s->graph, class, "tacho", NULL, s, BT_LOGGING_LEVEL_NONE,
			&sink) ? -EINVAL : 0;
	for (uint32_t i = 0; i < s->nr_traces && !err; i++) {
		uint64_t n = bt_component_source_get_output_port_count(s->trace[i]);

		for (uint64_t j = 0; j < n && !err; j++)
			err = bt_graph_connect_ports(s->graph,
				bt_component_source_borrow_output_port_by_index_const(
					s->trace[i], j),
				bt_component_sink_borrow_input_port_by_index_const(
					sink, in++), NULL) ? -EINVAL : 0;
	}
	bt_component_class_sink_put_ref(class);
	return err ? take_error(d, "the trace") : 0;
}

/*
 * Gets every part's first messages: the beginning of a stream tells its event
 * types, and all of them shall be known once the trace is open.
 */
static int begin_parts(struct bt2_source *s, struct tacho_diag *d)
{
	for (uint32_t i = 0; i < s->source.nr_parts; i++) {
		struct bt2_part *p = (struct bt2_part *)s->source.part[i];

		if (run(s, p))
			return take_error(d, "the trace");
		p->part.pos = (unsigned char *)p->out.data;
		p->part.end = p->part.pos ? p->part.pos + p->out.len : NULL;
		p->part.limit = UINT64_MAX;
	}
	return 0;
}

static int open_dir(struct bt2_source *s, const char *dir,
		    struct tacho_diag *d)
{
	const bt_plugin *plugin = NULL;
	struct opening o = { .s = s, .d = d };
	int err;

	s->graph = bt_graph_create(0);
	if (!s->graph)
		return tacho_no_memory(d);
	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_TRUE,
			   &plugin))
		return tacho_diag(d, -ENOTSUP, 0,
				  "cannot read '%.100s': babeltrace2's plugin 'ctf' is not installed",
				  dir);
	o.class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	if (!o.class)
		err = tacho_diag(d, -ENOTSUP, 0,
				 "babeltrace2's plugin 'ctf' has no 'fs'");
	else
		err = tacho_bt2_find(dir, add_trace, &o);
	bt_plugin_put_ref(plugin);
	if (!err && s->source.nr_parts)
		err = add_sink(s, d);
	return err ? err : begin_parts(s, d);
}

static int module_open(struct tacho_source **source, const char *dir,
		       unsigned int flags, struct tacho_diag *d)
{
	struct bt2_source *s = calloc(1, sizeof(*s));
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	tacho_source_init(&s->source, &bt2_ops, flags);
	s->source.seeks_by_reading = true;
	s->source.arena = &s->arena;
	tacho_arena_init(&s->arena, ARENA_MAX);
	err = open_dir(s, dir, d);
	if (err) {
		bt2_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

TACHO_EXPORT extern const struct tacho_bt2_module tacho_bt2_module;
const struct tacho_bt2_module tacho_bt2_module = {
	.version = TACHO_VERSION,
	.source_size = sizeof(struct tacho_source),
	.type_size = sizeof(struct tacho_type),
	.open = module_open,
};
