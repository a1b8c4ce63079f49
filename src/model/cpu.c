// SPDX-License-Identifier: MIT
/* CPUs: what runs there, interrupts, lost records. */
#include <errno.h>
#include <stdlib.h>

#include "model/model_priv.h"

/* common_flags of Linux, TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ. */
#define FLAGS_IRQ	0x18u

static bool grow_cpus(struct model *m, uint32_t number)
{
	uint32_t nr = m->nr_cpus ? m->nr_cpus : 8;
	struct model_cpu **bigger;

	while (nr <= number)
		nr *= 2;
	bigger = reallocarray(m->cpu, nr, sizeof(struct model_cpu *));
	if (!bigger)
		return false;
	for (uint32_t i = m->nr_cpus; i < nr; i++)
		bigger[i] = NULL;
	m->cpu = bigger;
	m->nr_cpus = nr;
	return true;
}

struct model_cpu *model_cpu_get(struct model *m, uint32_t number)
{
	struct model_cpu *c;

	if (number >= MODEL_CPUS_MAX)
		return NULL;
	if (number < m->nr_cpus && m->cpu[number])
		return m->cpu[number];
	c = calloc(1, sizeof(*c));
	if (!c || (number >= m->nr_cpus && !grow_cpus(m, number))) {
		free(c);
		(void)model_fail(m, -ENOMEM);
		return NULL;
	}
	c->number = number;
	c->guess = -1;
	c->last = c->last_program = c->since = m->stats.first;
	c->irq.floor = c->softirq.floor = m->stats.first;
	m->cpu[number] = c;
	return c;
}

uint32_t model_cpu_track(struct model *m, struct model_cpu *c)
{
	if (!c->track)
		c->track = model_new_track(m, 0, MODEL_CPU, c->number, "");
	return c->track;
}

bool model_in_irq(const struct model *m)
{
	const unsigned char *raw = m->r->raw;

	return m->here && (m->here->irq.top || m->here->softirq.top ||
			   (!m->from_program && raw[2] & FLAGS_IRQ));
}

struct model_place model_here(struct model *m, uint32_t thread)
{
	struct model_place place = { .time = m->time, .record = m->record };
	struct model_cpu *c = m->here;

	place.by_irq = !m->from_program && model_in_irq(m);
	if (place.by_irq && c->irq.top)
		place.track = c->irq.track;
	else if (place.by_irq && c->softirq.top)
		place.track = c->softirq.track;
	else if (place.by_irq || (c && !thread))
		place.track = model_cpu_track(m, c);
	else if (thread)
		place.track = model_state_track(m, thread);
	return place;
}

/* ---- what runs ---- */

void model_cpu_end(struct model *m, struct model_cpu *c, uint64_t end, uint64_t end_record,
		   uint32_t flags)
{
	struct model_slice s = {
		.track = c->running_track, .begin = c->since, .begin_record = c->record,
		.end = end < c->since ? c->since : end, .end_record = end_record,
		.name = "", .category = "running", .flags = flags | c->flags,
	};

	if (c->thread) {
		if (s.end > s.begin)
			s.thread = model_thread_track(m, c->thread);
		s.name = m->thread[c->thread].name;
	} else if (c->idle) {
		s.category = s.name = "idle";
	} else {
		s.category = s.name = "unknown";
		s.flags = 0;
		s.begin_record = s.end_record = MODEL_NO_RECORD;
	}
	if (c->loss_end > s.begin && (c->thread || c->idle))
		s.flags |= MODEL_UNCERTAIN;
	if (s.end > s.begin && c->running_track)
		model_put_slice(m, &s);
	c->thread = 0;
	c->idle = false;
	c->flags = 0;
	c->guess = -1;
	c->since = s.end;
}

void model_cpu_begin(struct model *m, struct model_cpu *c, uint32_t thread, bool idle,
		     uint64_t begin, uint64_t begin_record)
{
	if (!c->running_track)
		c->running_track = model_new_track(m, model_cpu_track(m, c), MODEL_RUNNING,
						   c->number, "");
	model_cpu_end(m, c, begin, MODEL_NO_RECORD, 0);
	c->thread = thread;
	c->idle = idle;
	c->record = begin_record;
}

/* ---- losses ---- */

static void put_loss(struct model *m, uint32_t cpu, uint64_t begin)
{
	struct model_loss loss = {
		.cpu = cpu,
		.source = m->from_program ? TACHO_STREAM_PROGRAM : TACHO_STREAM_KERNEL,
		.begin = begin, .end = m->time,
		.count = m->r->lost, .record = m->record,
	};

	m->stats.lost += loss.count;
	if (m->ops->loss && !m->err) {
		int err = m->ops->loss(m->arg, &loss);

		if (err < 0)
			(void)model_fail(m, err);
	}
}

static void lose(struct model *m, struct model_cpu *c)
{
	uint64_t t0 = c ? m->from_program ? c->last_program : c->last : m->stats.first;

	put_loss(m, c ? c->number : MODEL_NO_CPU, t0);
	if (m->from_program) {
		m->program_loss_end = m->time;
		return;
	}
	if (c) {
		if (c->thread) {
			uint32_t thread = c->thread;

			model_state_end(m, thread, t0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
			model_state_begin(m, thread, MODEL_UNKNOWN, MODEL_NO_CPU, 0, t0,
					  MODEL_NO_RECORD);
		}
		if (c->thread || c->idle)
			model_cpu_end(m, c, t0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		c->guess = -1;
		model_stack_end(m, &c->irq, c, t0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		model_stack_end(m, &c->softirq, c, t0, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		c->irq.floor = c->softirq.floor = m->time;
		c->loss_end = m->time;
	}
	m->kernel_loss_end = m->time;
}

struct model_cpu *model_cpu_enter(struct model *m)
{
	struct model_cpu *c = model_cpu_get(m, m->r->cpu);

	if (m->r->lost)
		lose(m, c);
	if (!c)
		return NULL;
	if (m->from_program) {
		c->last_program = m->time;
		return c;
	}
	m->here = c;
	if (!c->thread && c->guess != m->r->pid) {
		c->guess = m->r->pid < 0 ? -1 : m->r->pid;
		c->guess_since = m->time;
		c->guess_record = m->record;
	}
	if (c->io_done && !model_in_irq(m))
		c->io_done = false;
	c->last = m->time;
	return c;
}

void model_cpus_finish(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		struct model_cpu *c = m->cpu[i];

		if (!c)
			continue;
		if (c->running_track)
			model_cpu_end(m, c, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		model_stack_end(m, &c->irq, c, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
		model_stack_end(m, &c->softirq, c, m->time, MODEL_NO_RECORD, MODEL_END_UNKNOWN);
	}
}
