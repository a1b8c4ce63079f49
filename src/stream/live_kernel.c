// SPDX-License-Identifier: MIT
#include "stream/live_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracefs/control.h"
#include "tracefs/pump.h"
#include "kdata/symbols.h"
#include "kdata/syscalls.h"
#include "sys/clock.h"

#define BUFFER_SIZE	((uint64_t)16 << 20)
/* an event that is being written is at most this much older */
#define SLACK_NS	UINT64_C(200000)
#define LOOK_PER_FILL	64			/* new threads looked up at a time */
#define GLOBS_MAX	256
#define EVENT_MAX	256	/* "system:event" */

/* Records of one CPU that were not read yet. */
struct batch {
	struct batch *next;
	uint64_t begin, end, lost;
	uint32_t len;
	unsigned char data[] __attribute__((aligned(8)));
};

struct cpu {
	struct tacho_part part;
	struct batch *first, **last;
	struct batch *open;	/* contains the part's pos and end */
};

struct live_kernel {
	struct tacho_source source;
	struct tacho_kernel *kernel;
	struct tacho_ktypes types;
	struct tacho_ktasks tasks;
	struct tacho_kernel_pump *pump;
	struct cpu *cpu;
	uint32_t nr_cpus;
	uint64_t horizon;	/* ticks: all earlier records were read from the kernel */
	uint64_t slack;		/* ticks */
	uint32_t tasks_collected;	/* entries of tasks that the facts have */
	uint64_t events, lost;
	uint64_t began;		/* realtime */
	bool drained;		/* records may have been read */
};

static struct live_kernel *of(struct tacho_source *source)
{
	return (struct live_kernel *)(void *)source;	/* first member */
}

static int sink(void *arg, const struct tacho_kernel_batch *b)
{
	struct live_kernel *lk = arg;
	struct cpu *cpu = b->cpu < lk->nr_cpus ? &lk->cpu[b->cpu] : NULL;
	struct batch *copy = cpu ? malloc(sizeof(*copy) + b->len) : NULL;

	if (!copy)
		return cpu ? -ENOMEM : 0;
	*copy = (struct batch){
		.begin = b->time_begin, .end = b->time_end, .lost = b->lost,
		.len = b->len,
	};
	memcpy(copy->data, b->records, b->len);
	*cpu->last = copy;
	cpu->last = &copy->next;
	lk->events += b->events;
	lk->lost += b->lost;
	return 0;
}

/* Adds the threads that the pump has seen to the facts. */
static void collect_tasks(struct live_kernel *lk)
{
	tacho_ktasks_look(&lk->tasks, LOOK_PER_FILL);
	for (; lk->tasks_collected < lk->tasks.nr; lk->tasks_collected++) {
		const struct tacho_ktask *t = &lk->tasks.list[lk->tasks_collected];

		/* the name is lost, or it must still be looked up */
		if (!t->comm[0] && lk->tasks_collected < lk->tasks.looked)
			continue;
		if (!t->comm[0])
			break;
		(void)tacho_facts_add_task(&lk->source.facts, t->pid, t->tgid,
					   t->comm, strnlen(t->comm, sizeof(t->comm)));
	}
}

/* Drains all CPUs; returns 0 or -errno. */
static int drain(struct live_kernel *lk)
{
	uint64_t now = tacho_clock_read(tacho_kernel_info(lk->kernel)->clock_is_tsc ?
					TACHO_CLOCK_TSC : TACHO_CLOCK_MONO);
	int more;

	lk->drained = true;
	do
		more = tacho_kernel_pump_step(lk->pump, 0);
	while (more > 0);
	if (more < 0)
		return more;
	collect_tasks(lk);
	if (now > lk->slack)
		lk->horizon = now - lk->slack;
	return 0;
}

static int fill(struct tacho_source *source, struct tacho_part *p, bool bad)
{
	struct live_kernel *lk = of(source);
	struct cpu *cpu = (struct cpu *)(void *)p;	/* first member */
	struct batch *b;

	if (bad) {
		p->pos = p->end;
		return tacho_source_damage(source, "kernel", 0, "a record is not one");
	}
	if (!cpu->first) {
		int err = drain(lk);

		if (err) {
			(void)tacho_diag(&source->diag, err, 0,
					 "cannot read the kernel's buffers: %s",
					 strerror(-err));
			return TACHO_STREAM_ERROR;
		}
	}
	b = cpu->first;
	free(cpu->open);
	cpu->open = b;
	if (!b) {
		p->pos = p->end = NULL;
		p->horizon = lk->horizon;
		return TACHO_STREAM_AGAIN;
	}
	cpu->first = b->next;
	if (!cpu->first)
		cpu->last = &cpu->first;
	p->pos = b->data;
	p->end = b->data + b->len;
	p->last = b->begin;
	p->limit = b->end;
	p->lost += b->lost;
	return TACHO_STREAM_RECORD;
}

static void free_cpus(struct live_kernel *lk)
{
	for (uint32_t i = 0; lk->cpu && i < lk->nr_cpus; i++) {
		struct batch *next;

		for (struct batch *b = lk->cpu[i].first; b; b = next) {
			next = b->next;
			free(b);
		}
		free(lk->cpu[i].open);
	}
	free(lk->cpu);
}

static void close_source(struct tacho_source *source)
{
	struct live_kernel *lk = of(source);

	tacho_kernel_pump_free(lk->pump);
	(void)tacho_kernel_destroy(lk->kernel);
	tacho_source_release(source);
	tacho_ktypes_release(&lk->types);
	tacho_ktasks_release(&lk->tasks);
	free_cpus(lk);
	free(lk);
}

static int info(struct tacho_source *source, struct tacho_stream_info *i)
{
	const struct live_kernel *lk = of(source);

	i->events += lk->events;
	i->discarded += lk->lost;
	if (!i->begin || lk->began < i->begin)
		i->begin = lk->began;
	i->end = tacho_now_ns(CLOCK_REALTIME);
	return 0;
}

static int text(struct tacho_source *source, const char *name,
		struct tacho_buf *out)
{
	const struct live_kernel *lk = of(source);

	if (!strcmp(name, "kallsyms"))
		return tacho_symbols_snapshot(out, NULL);
	if (!strcmp(name, "syscalls")) {
		tacho_syscalls_text(out);
		return tacho_buf_error(out);
	}
	if (strcmp(name, "cmdlines"))
		return -ENOENT;
	for (uint32_t i = 0; i < lk->tasks.nr; i++)
		tacho_buf_printf(out, "%d %d %.16s\n", lk->tasks.list[i].pid,
				 lk->tasks.list[i].tgid, lk->tasks.list[i].comm);
	return tacho_buf_error(out);
}

/* Opening the file for writing empties the buffers. */
static int forget_recorded(struct live_kernel *lk, struct tacho_diag *d)
{
	return tacho_tracefs_write(tacho_kernel_dirfd(lk->kernel), "trace", "",
				   false, d);
}

/*
 * Uses a trigger, so that other events are not slower; if the kernel lacks that trigger, the
 * option for all events.  Records since the source was opened have no stacks and are discarded.
 */
static int stacks(struct tacho_source *source, const struct tacho_type *type,
		  struct tacho_diag *d)
{
	struct live_kernel *lk = of(source);
	struct tacho_diag refusal = { 0 };
	char event[256];
	int err = tacho_kernel_stop(lk->kernel, d);

	if (err)
		return err;
	(void)snprintf(event, sizeof(event), "%s:%s", type->system, type->name);
	err = tacho_kernel_control_enabled(lk->kernel, TACHO_KERNEL_TRIGGER, event,
					   "stacktrace", NULL, &refusal);
	if (err == -EOPNOTSUPP)
		err = tacho_kernel_set_option(lk->kernel, "stacktrace", true, d);
	else if (err)
		err = tacho_diag(d, err, 0, "%s", refusal.text);
	if (!err && !lk->drained)
		err = forget_recorded(lk, d);
	return err ? err : tacho_kernel_start(lk->kernel, d);
}

/* Records without the filter are discarded; reading begins now. */
static int filter(struct tacho_source *source, const struct tacho_type *type,
		  const char *expr)
{
	struct live_kernel *lk = of(source);
	char event[EVENT_MAX];
	int err = tacho_kernel_stop(lk->kernel, NULL), start;

	if (err)
		return err;
	if (snprintf(event, sizeof(event), "%s:%s", type->system, type->name) >=
	    EVENT_MAX)
		err = -ENAMETOOLONG;
	else
		err = tacho_kernel_control_enabled(lk->kernel, TACHO_KERNEL_FILTER,
						   event, expr, NULL, NULL);
	if (!err)
		err = forget_recorded(lk, NULL);
	start = tacho_kernel_start(lk->kernel, NULL);
	return err ? err : start;
}

static const struct tacho_source_ops live_kernel_ops = {
	.format = "kernel",
	.live = true,
	.close = close_source,
	.fill = fill,
	.info = info,
	.stacks = stacks,
	.text = text,
	.filter = filter,
};

static int add_cpus(struct live_kernel *lk)
{
	lk->nr_cpus = tacho_kernel_info(lk->kernel)->nr_cpus;
	lk->cpu = calloc(lk->nr_cpus, sizeof(*lk->cpu));
	if (!lk->cpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < lk->nr_cpus; i++) {
		struct tacho_part *p = &lk->cpu[i].part;

		lk->cpu[i].last = &lk->cpu[i].first;
		p->cpu = i;
		p->stream_id = TACHO_STREAM_KERNEL;
		p->source = &lk->source;
		p->limit = UINT64_MAX;
		if (tacho_source_add_part(&lk->source, p))
			return -ENOMEM;
	}
	return 0;
}

static int add_types(struct live_kernel *lk)
{
	for (uint32_t i = 0; i < lk->types.nr; i++) {
		const struct tacho_type *t = lk->types.list[i].type;

		if (tacho_source_set_type(&lk->source, TACHO_STREAM_KERNEL, t->id, t))
			return -ENOMEM;
	}
	return 0;
}

static void set_clock(struct live_kernel *lk)
{
	bool tsc = tacho_kernel_info(lk->kernel)->clock_is_tsc;
	int clock = tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;
	struct tacho_clock_pair pair = tacho_clock_pair(clock);
	uint64_t freq = tacho_clock_freq(clock);

	tacho_clock_map_init(&lk->source.clock, freq, pair.ticks, pair.realtime);
	lk->slack = SLACK_NS * freq / TACHO_NS_PER_S;
	lk->began = pair.realtime;
}

/* Creates the instance, enables its events and prepares reading. */
static int prepare(struct live_kernel *lk,
		   const struct tacho_live_kernel_config *c, struct tacho_diag *d)
{
	struct tacho_kernel_config kc = {
		.name = "live", .overwrite = false,
		.buffer_size = c->buffer_size ? c->buffer_size : BUFFER_SIZE,
	};
	struct tacho_kernel_pump_config pc = {
		.sink = sink, .arg = lk, .tasks = &lk->tasks,
	};
	int32_t self = getpid();
	int err = tacho_kernel_create(&lk->kernel, &kc, d);

	if (!err)
		err = tacho_kernel_enable(lk->kernel, c->globs, c->nr_globs, d);
	if (!err)
		err = tacho_kernel_set_not_pids(lk->kernel, &self, 1, d);
	if (!err)
		err = tacho_kernel_load_types(lk->kernel, &lk->types, d);
	if (!err && (add_types(lk) || add_cpus(lk)))
		err = tacho_no_memory(d);
	if (!err)
		err = tacho_kernel_pump_new(&lk->pump, lk->kernel, &lk->types, &pc, d);
	if (err)
		return err;
	tacho_ktasks_scan(&lk->tasks);
	collect_tasks(lk);
	set_clock(lk);
	return tacho_kernel_start(lk->kernel, d);
}

int tacho_live_kernel_open(struct tacho_source **source,
			   const struct tacho_live_kernel_config *config,
			   unsigned int flags, struct tacho_diag *d)
{
	struct live_kernel *lk = calloc(1, sizeof(*lk));
	int err;

	if (!lk)
		return tacho_no_memory(d);
	tacho_source_init(&lk->source, &live_kernel_ops, flags);
	lk->source.arena = &lk->types.arena;
	tacho_ktypes_init(&lk->types);
	err = tacho_ktasks_init(&lk->tasks);
	err = err ? tacho_diag(d, err, 0, "out of memory")
		  : prepare(lk, config, d);
	if (err) {
		close_source(&lk->source);
		return err;
	}
	*source = &lk->source;
	return 0;
}

int tacho_live_kernel_open_list(struct tacho_source **source, const char *list,
				unsigned int flags, struct tacho_diag *d)
{
	const char *globs[GLOBS_MAX];
	struct tacho_live_kernel_config c = { .globs = globs };
	char *copy = strdup(list), *save = NULL;
	int err;

	if (!copy)
		return tacho_no_memory(d);
	for (char *g = strtok_r(copy, ",", &save); g; g = strtok_r(NULL, ",", &save)) {
		if (c.nr_globs == GLOBS_MAX) {
			free(copy);
			return tacho_diag(d, -E2BIG, 0,
					  "more than %d events are named", GLOBS_MAX);
		}
		globs[c.nr_globs++] = g;
	}
	err = c.nr_globs ? tacho_live_kernel_open(source, &c, flags, d)
			 : tacho_diag(d, -EINVAL, 0,
				      "'kernel:' needs the names of events, as in kernel:sched:sched_switch");
	free(copy);
	return err;
}
