/* SPDX-License-Identifier: MIT */
#include "kdata/types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tacho/abi/record.h"

#define FORMAT_MAX	TACHO_KTYPE_FORMAT_MAX
#define TYPES_MAX	((size_t)512 << 20)

void tacho_ktypes_init(struct tacho_ktypes *t)
{
	memset(t, 0, sizeof(*t));
	tacho_arena_init(&t->arena, TYPES_MAX);
}

void tacho_ktypes_release(struct tacho_ktypes *t)
{
	tacho_arena_release(&t->arena);
	free(t->list);
	free(t->plans);
	free(t->shapes);
	memset(t, 0, sizeof(*t));
}

/* Makes *array hold `want` zeroed elements at least. */
static int grow(void **array, uint32_t *room, uint32_t want, size_t size)
{
	uint32_t n = *room ? *room : 64;
	char *p;

	if (want <= *room)
		return 0;
	while (n < want)
		n *= 2;
	p = reallocarray(*array, n, size);
	if (!p)
		return -ENOMEM;
	memset(p + *room * size, 0, (n - *room) * size);
	*array = p;
	*room = n;
	return 0;
}

/* ---- fields without a length -------------------------------------------------- */

/* What the kernel's own output shows for them, in print format language. */
static const struct {
	const char *name;
	const char *print_fmt;
} rest_prints[] = {
	{ "print", "\"%ps: %s\", (void *)REC->ip, __get_str(buf)" },
	{ "raw_data", "\"# %x buf: %s\", REC->id, "
	  "__print_hex(__get_dynamic_array(buf), __get_dynamic_array_len(buf))" },
	/* for other readers; tacho formats the arguments */
	{ "bprint", "\"%ps: fmt=0x%lx args=%s\", (void *)REC->ip, "
	  "(unsigned long)REC->fmt, "
	  "__print_hex(__get_dynamic_array(buf), __get_dynamic_array_len(buf))" },
	{ "kernel_stack", "\"<stack trace>\\n%s\", __get_stacktrace(caller)" },
};

static const char *rest_print(const struct tacho_type *type)
{
	size_t i;

	if (!strcmp(type->system, "ftrace"))
		for (i = 0; i < TACHO_ARRAY_SIZE(rest_prints); i++)
			if (!strcmp(type->name, rest_prints[i].name))
				return rest_prints[i].print_fmt;
	return type->print_fmt;
}

/* The last field when its length is not in the format; else NULL. */
static const struct tacho_field *rest_field(const struct tacho_type *type)
{
	const struct tacho_field *last;

	if (!type->nr_fields)
		return NULL;
	last = &type->fields[type->nr_fields - 1];
	if (last->kind == TACHO_FIELD_FLEX)
		return last;
	if (!strcmp(type->system, "ftrace") &&
	    !strcmp(type->name, "kernel_stack") &&
	    last->kind == TACHO_FIELD_ARRAY && last->elem_size)
		return last;
	return NULL;
}

/* The end of all fields but the last. */
static uint32_t end_before_last(const struct tacho_type *type)
{
	uint32_t end = 8, i, e;

	for (i = 0; i + 1 < type->nr_fields; i++) {
		e = type->fields[i].offset + type->fields[i].size;
		if (e > end)
			end = e;
	}
	return end;
}

/*
 * Rewrites the last field as a __data_loc word after the others and fills in
 * the shape.  Appends the new text to out.
 */
static int rewrite_rest(const struct tacho_type *type,
			const struct tacho_field *last,
			struct tacho_kshape *s, struct tacho_buf *out)
{
	struct tacho_field *fields;
	struct tacho_type copy = *type;
	const struct tacho_field *size;
	struct tacho_field *f;
	char decl[256];

	fields = calloc(type->nr_fields, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	memcpy(fields, type->fields, type->nr_fields * sizeof(*fields));
	f = &fields[type->nr_fields - 1];

	s->rest = last->offset;
	s->loc = TACHO_ALIGN_UP(end_before_last(type), 4);
	s->elem = last->elem_size ? last->elem_size : 1;
	s->text = !strcmp(type->name, "print");
	size = tacho_type_field(type, "size");
	if (last->kind == TACHO_FIELD_ARRAY && size && size->size == 4)
		s->count = size->offset;

	snprintf(decl, sizeof(decl), "__data_loc %.100s[] %.100s",
		 s->text || strcmp(last->elem, "char") ? last->elem :
							 "unsigned char",
		 last->name);
	f->decl = decl;
	f->kind = TACHO_FIELD_DATA_LOC;
	f->offset = s->loc;
	f->size = 4;
	copy.fields = fields;
	copy.fixed_size = s->loc + 4;
	copy.print_fmt = rest_print(type);
	tacho_type_write(&copy, true, out);
	free(fields);
	return tacho_buf_error(out);
}

/* ---- plans ------------------------------------------------------------------- */

static struct tacho_kshape *new_shape(struct tacho_ktypes *t, uint32_t *index)
{
	void *p = t->shapes;

	if (grow(&p, &t->shapes_room, t->nr_shapes + 1, sizeof(*t->shapes)) < 0)
		return NULL;
	t->shapes = p;
	*index = t->nr_shapes;
	return &t->shapes[t->nr_shapes++];
}

/* Whether all of a field is in a raw event of `fixed` bytes. */
static bool inside(const struct tacho_field *f, uint32_t fixed)
{
	return f->size <= fixed && f->offset <= fixed - f->size;
}

/* The words of synthetic events are said to have 8 bytes, of which 4 count. */
static bool is_synthetic_word(const struct tacho_type *type,
			      const struct tacho_field *f)
{
	return f->size == 8 && !strcmp(type->system, "synthetic");
}

/* A plan for a type whose lengths are all in the event. */
static int plan_type(struct tacho_ktypes *t, const struct tacho_type *type,
		     struct tacho_kplan *plan)
{
	struct tacho_kshape *s = NULL;
	uint32_t i;

	plan->fixed = type->fixed_size;
	plan->kind = TACHO_KPLAN_FIXED;
	for (i = 0; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];
		bool rel = f->kind == TACHO_FIELD_REL_LOC;

		if (!rel && f->kind != TACHO_FIELD_DATA_LOC)
			continue;
		if ((f->size != 4 && !is_synthetic_word(type, f)) ||
		    !inside(f, plan->fixed) ||
		    f->offset > UINT16_MAX)
			return -EINVAL;
		if (plan->kind == TACHO_KPLAN_FIXED && !rel &&
		    type->nr_dynamic == 1) {
			plan->kind = TACHO_KPLAN_ONE;
			plan->loc = (uint16_t)f->offset;
			continue;
		}
		if (!s) {
			s = new_shape(t, &plan->shape);
			if (!s)
				return -ENOMEM;
			plan->kind = TACHO_KPLAN_MANY;
		}
		if (s->nr_locs == TACHO_KSHAPE_LOCS_MAX)
			return -EINVAL;
		s->locs[s->nr_locs].off = (uint16_t)f->offset;
		s->locs[s->nr_locs++].rel = rel;
	}
	return 0;
}

static const struct {
	const char *system, *name, *pid, *comm;
	enum tacho_ktask_mode mode;
} task_events[] = {
	{ "sched", "sched_switch", "prev_pid", "prev_comm", TACHO_KTASK_SEEN },
	{ "sched", "sched_switch", "next_pid", "next_comm", TACHO_KTASK_SEEN },
	{ "sched", "sched_process_fork", "child_pid", "child_comm",
	  TACHO_KTASK_SEEN },
	{ "task", "task_newtask", "pid", "comm", TACHO_KTASK_SEEN },
	{ "task", "task_rename", "pid", "newcomm", TACHO_KTASK_RENAMED },
	{ "sched", "sched_process_exec", "pid", NULL, TACHO_KTASK_FORGET },
};

static void plan_tasks(struct tacho_ktypes *t, const struct tacho_type *type,
		       struct tacho_kplan *plan)
{
	struct tacho_ktask_fields *to = &t->tasks[t->nr_tasks];
	const struct tacho_field *pid, *comm;
	size_t i;

	if (t->nr_tasks == TACHO_KTASK_TYPES_MAX)
		return;
	memset(to, 0, sizeof(*to));
	for (i = 0; i < TACHO_ARRAY_SIZE(task_events); i++) {
		if (strcmp(type->system, task_events[i].system) != 0 ||
		    strcmp(type->name, task_events[i].name) != 0)
			continue;
		pid = tacho_type_field(type, task_events[i].pid);
		comm = task_events[i].comm ?
		       tacho_type_field(type, task_events[i].comm) : NULL;
		if (!pid || pid->size != 4 || !inside(pid, plan->fixed) ||
		    (task_events[i].comm && !comm) ||
		    to->nr == TACHO_ARRAY_SIZE(to->pair))
			continue;
		to->mode = task_events[i].mode;
		to->pair[to->nr].pid_off = pid->offset;
		to->pair[to->nr++].comm = comm;
	}
	if (to->nr)
		plan->task = (uint8_t)++t->nr_tasks;
}

/* Parses the text that is kept, and puts type and plan into the tables. */
static int keep(struct tacho_ktypes *t, const char *system, const char *text,
		size_t len, struct tacho_kplan *plan, struct tacho_diag *d)
{
	const struct tacho_type *type;
	struct tacho_ktype *k;
	void *p = t->list;
	char *copy;
	int ret;

	copy = tacho_arena_strndup(&t->arena, text, len);
	if (!copy || grow(&p, &t->room, t->nr + 1, sizeof(*t->list)) < 0)
		return tacho_no_memory(d);
	t->list = p;
	type = tacho_type_parse(&t->arena, system, NULL, 0, copy, len, d);
	if (!type)
		return d->err;
	if (plan->kind != TACHO_KPLAN_REST) {
		ret = plan_type(t, type, plan);
		if (ret < 0)
			return tacho_diag(d, ret, 0,
					  "event '%s:%s' has fields out of place",
					  system, type->name);
	}
	plan_tasks(t, type, plan);
	plan->index = t->nr;
	k = &t->list[t->nr++];
	k->type = type;
	k->text = copy;
	k->text_len = len;
	t->plans[type->id] = *plan;
	return 0;
}

static int add_rest(struct tacho_ktypes *t, const struct tacho_type *type,
		    const struct tacho_field *last, struct tacho_diag *d)
{
	struct tacho_kplan plan = { .kind = TACHO_KPLAN_REST };
	struct tacho_kshape *s;
	struct tacho_buf out;
	int ret;

	s = new_shape(t, &plan.shape);
	if (!s)
		return tacho_no_memory(d);
	tacho_buf_init(&out, FORMAT_MAX);
	plan.fixed = end_before_last(type);
	if (type->nr_dynamic > (last->kind == TACHO_FIELD_FLEX) ||
	    last->offset < plan.fixed || last->offset > UINT16_MAX)
		ret = tacho_diag(d, -EINVAL, 0,
				 "event '%s:%s' has two fields without length",
				 type->system, type->name);
	else
		ret = rewrite_rest(type, last, s, &out);
	if (!ret)
		ret = keep(t, type->system, out.data, out.len, &plan, d);
	tacho_buf_release(&out);
	return ret;
}

int tacho_ktypes_add(struct tacho_ktypes *t, const char *system,
		     const char *text, size_t len, struct tacho_diag *d)
{
	struct tacho_kplan plan = { .kind = TACHO_KPLAN_NONE };
	const struct tacho_field *last;
	struct tacho_diag local = { 0 };
	struct tacho_type *type;
	struct tacho_arena arena;
	void *p = t->plans;
	int ret;

	if (!d)
		d = &local;
	tacho_arena_init(&arena, (size_t)64 << 20);
	type = tacho_type_parse(&arena, system, NULL, 0, text, len, d);
	if (!type) {
		ret = d->err;
		goto out;
	}
	ret = 0;
	if (type->id > UINT16_MAX || type->fixed_size > TACHO_RAW_MAX ||
	    type->fixed_size < 8)
		ret = tacho_diag(d, -EINVAL, 0, "event '%s:%s' is too large",
				 system, type->name);
	if (!ret && grow(&p, &t->nr_plans, type->id + 1, sizeof(*t->plans)) < 0)
		ret = tacho_no_memory(d);
	t->plans = p;
	if (ret < 0 || t->plans[type->id].kind != TACHO_KPLAN_NONE)
		goto out;
	last = rest_field(type);
	ret = last ? add_rest(t, type, last, d) :
		     keep(t, system, text, len, &plan, d);
out:
	if (ret == -ENOMEM)
		t->arena.no_memory = true;
	tacho_arena_release(&arena);
	return ret;
}

const struct tacho_ktype *tacho_ktypes_find(const struct tacho_ktypes *t,
					    uint32_t id)
{
	if (id >= t->nr_plans || t->plans[id].kind == TACHO_KPLAN_NONE)
		return NULL;
	return &t->list[t->plans[id].index];
}
