// SPDX-License-Identifier: MIT
/* Slices that nest: stacks of threads' calls and of CPUs' interrupts. */
#include "model/model_priv.h"

#define DEPTH_MAX	1024u

/* Hands out a slice of a stack; cpu: the stack's, of interrupts. */
static void put(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		const struct model_open *o, uint64_t end, uint64_t end_record, uint32_t flags)
{
	struct model_slice slice = {
		.track = s->track, .depth = o->depth, .begin = o->begin,
		.begin_record = o->record, .end = end < o->begin ? o->begin : end,
		.end_record = end_record, .name = o->name, .category = o->category,
		.flags = flags,
	};
	uint64_t loss_end = cpu ? cpu->loss_end : o->of_program ? m->program_loss_end :
			    m->kernel_loss_end;

	if (loss_end > o->begin)
		slice.flags |= MODEL_UNCERTAIN;
	if (slice.end > s->floor)
		s->floor = slice.end;
	model_put_slice(m, &slice);
}

static void pop(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		uint64_t end, uint64_t end_record, uint32_t flags)
{
	uint32_t i = s->top;
	struct model_open o = m->open[i];

	s->top = o.next;
	s->depth--;
	model_open_free(m, i);
	put(m, s, cpu, &o, end, end_record, flags);
}

void model_stack_end(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		     uint64_t end, uint64_t end_record, uint32_t flags)
{
	while (s->top)
		pop(m, s, cpu, end, end_record, flags);
}

/* The stack of an action's object, with its track; NULL: its thread or CPU is not known. */
static struct model_stack *stack_of(struct model *m, const struct model_action *a,
				    struct model_cpu **cpu)
{
	struct model_stack *s;
	uint32_t i;

	*cpu = NULL;
	if (a->object == MODEL_ON_THREAD) {
		i = model_thread_here(m);
		if (!i || m->err)
			return NULL;
		(void)model_calls_track(m, i);
		return &m->thread[i].calls;
	}
	if (!m->here)
		return NULL;
	*cpu = m->here;
	s = a->object == MODEL_ON_IRQ ? &m->here->irq : &m->here->softirq;
	if (!s->track)
		s->track = model_new_track(m, model_cpu_track(m, m->here),
					   a->object == MODEL_ON_IRQ ? MODEL_IRQ : MODEL_SOFTIRQ,
					   m->here->number, "");
	return s;
}

static const char *name_of(struct model *m, const struct model_action *a)
{
	const struct model_value *v = &a->arg[MODEL_ARG_NAME];

	return v->text || v->field ? model_text(m, v) : a->category;
}

static void begin(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		  const struct model_action *a, uint64_t key)
{
	const char *name = name_of(m, a);
	struct model_open *o;
	uint32_t i;

	if (a->only || a->verb == MODEL_CONTINUE) {
		for (i = s->top; i && m->open[i].category != a->category;)
			i = m->open[i].next;
		if (i && a->verb == MODEL_CONTINUE && m->open[i].key == key)
			return;
		while (i && a->only) {
			bool last = s->top == i;

			pop(m, s, cpu, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
			if (last)
				break;
		}
	}
	if (s->depth >= DEPTH_MAX) {
		m->stats.unplaced++;
		return;
	}
	i = model_open_new(m);
	if (!i)
		return;
	o = &m->open[i];
	*o = (struct model_open){
		.next = s->top, .depth = s->depth, .key = key, .begin = m->time,
		.record = m->record, .name = name, .category = a->category,
		.of_program = m->from_program,
	};
	s->top = i;
	s->depth++;
}

static void end_unseen(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		       const struct model_action *a)
{
	struct model_open o = {
		.begin = s->floor, .record = MODEL_NO_RECORD, .category = a->category,
		.name = name_of(m, a), .of_program = m->from_program,
	};

	put(m, s, cpu, &o, m->time, m->record, MODEL_BEGIN_UNKNOWN);
}

static void end(struct model *m, struct model_stack *s, const struct model_cpu *cpu,
		const struct model_action *a, uint64_t key)
{
	uint32_t i = s->top;

	while (i && (m->open[i].category != a->category ||
		     (a->nr_keys && m->open[i].key != key)))
		i = m->open[i].next;
	if (!i) {
		if (!s->top)
			end_unseen(m, s, cpu, a);
		else
			m->stats.unmatched_ends++;
		return;
	}
	while (s->top != i)
		pop(m, s, cpu, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	pop(m, s, cpu, m->time, m->record, 0);
}

void model_nested(struct model *m, const struct model_action *a)
{
	struct model_cpu *cpu;
	struct model_stack *s;
	uint64_t key;

	s = stack_of(m, a, &cpu);
	if (!s || m->err || !model_key(m, a, 0, &key)) {
		m->stats.unplaced++;
		return;
	}
	if (a->verb == MODEL_FINISH)
		end(m, s, cpu, a, key);
	else
		begin(m, s, cpu, a, key);
}

void model_mark(struct model *m, const struct model_action *a)
{
	struct model_instant instant = { .time = m->time, .record = m->record };
	struct model_cpu *cpu;
	struct model_stack *s = stack_of(m, a, &cpu);
	int err;

	if (!s || m->err) {
		m->stats.unplaced++;
		return;
	}
	instant.track = s->track;
	instant.name = name_of(m, a);
	instant.category = a->category;
	err = m->ops->instant && !m->err ? m->ops->instant(m->arg, &instant) : 0;
	if (err < 0)
		(void)model_fail(m, err);
}
