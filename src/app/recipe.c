// SPDX-License-Identifier: MIT
#include "app/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define STEPS_MAX	4
#define VARIANTS_MAX	2
#define TEXTS_MAX	((size_t)1 << 20)

/* ---- the recipes ---------------------------------------------------------------- */

/*
 * One way to answer a recipe's question, by the events that it needs.  A step whose event
 * and text both have a '*' stands for one command per event type that the glob matches:
 * the text's '*' becomes what the glob's '*' matched.  Types whose counterpart (the event
 * of `pair` with that text) was not recorded are left out.
 */
struct variant {
	const char *meaning;	/* how to read the result */
	const char *synth;	/* or NULL */
	struct app_question_command step[STEPS_MAX];	/* the last one is printed */
	const char *pair;	/* or NULL: a glob */
};

/*
 * The first variant is taken for all of whose events the trace has types; without a trace, or
 * where none fits, the first.
 */
struct app_recipe {
	const char *name;
	const char *summary;
	struct variant variant[VARIANTS_MAX];
	enum app_hist_shape shape;
	const char *by;		/* p50, p99 and max of the key that is left, or NULL */
};

/*
 * Tables are of microseconds, as they are, and for as many different ones as a
 * histogram may have: nanoseconds would soon find no room, and powers of two
 * say too little of a maximum.
 */
#define ROOM	"size=131072"
static const struct tacho_quantiles table = {
	.q = { 50000, 99000, TACHO_QUANTILE_ALL }, .nr = 3,
};

/* From the event `wake` of a thread to its running, as a synthetic event. */
#define WAKEUP_EVENT	"wakeup_latency u64 lat; pid_t pid; char comm[16]"
#define WAKEUP_STEPS(wake, unit)						\
	{ "sched:" wake, "hist:keys=pid:ts0=common_timestamp" unit },		\
	{ "sched:sched_switch",							\
	  "hist:keys=next_pid:lat=common_timestamp" unit "-$ts0:"		\
	  "onmatch(sched." wake ").trace(wakeup_latency,$lat,next_pid,next_comm)" }

#define SCHED_LATENCY(wake) {							\
	.meaning = "ns from " wake " to sched_switch, by powers of two",		\
	.synth = WAKEUP_EVENT,							\
	.step = {								\
		WAKEUP_STEPS(wake, ""),						\
		{ "synthetic:wakeup_latency", "hist:keys=lat.log2:sort=lat" },	\
	},									\
}

#define SCHED_LATENCY_BY_THREAD(wake) {						\
	.meaning = "us from " wake " to sched_switch, the longest wait first",	\
	.synth = WAKEUP_EVENT,							\
	.step = {								\
		WAKEUP_STEPS(wake, ".usecs"),					\
		{ "synthetic:wakeup_latency",					\
		  "hist:keys=comm,lat:sort=lat.descending:" ROOM },		\
	},									\
}

/* From `enter` to `exit` of a thread, whose system call is the field id, of type id_type. */
#define SYSCALL_EVENT(id_type)	"syscall_latency u64 lat; " id_type " id; pid_t pid"
#define SYSCALL_STEPS(system, enter, exit, id, unit)				\
	{ system ":" enter, "hist:keys=common_pid:ts0=common_timestamp" unit },	\
	{ system ":" exit,							\
	  "hist:keys=common_pid:lat=common_timestamp" unit "-$ts0:"		\
	  "onmatch(" system "." enter ").trace(syscall_latency,$lat," id ",common_pid)" }
#define SYSCALL_STEPS_RAW(unit)	\
	SYSCALL_STEPS("raw_syscalls", "sys_enter", "sys_exit", "id", unit)
#define SYSCALL_STEPS_EACH(unit)	\
	SYSCALL_STEPS("syscalls", "sys_enter_*", "sys_exit_*", "__syscall_nr", unit)
#define SYSCALL_PAIR	"syscalls:sys_enter_*"

#define SYSCALL_SUM	{ "synthetic:syscall_latency",				\
			  "hist:keys=id.syscall:vals=lat:sort=lat.descending" }
#define SYSCALL_TABLE	{ "synthetic:syscall_latency",				\
			  "hist:keys=id.syscall,lat:sort=lat.descending:" ROOM }

static const struct app_recipe recipes[] = {
	{
		.name = "sched-latency",
		.summary = "how long threads wait for a CPU after they are woken",
		.variant = { SCHED_LATENCY("sched_waking"), SCHED_LATENCY("sched_wakeup") },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "sched-latency-by-thread",
		.summary = "the same, p50, p99 and the longest by the thread's name",
		.variant = { SCHED_LATENCY_BY_THREAD("sched_waking"),
			     SCHED_LATENCY_BY_THREAD("sched_wakeup") },
		.by = "comm",
	},
	{
		.name = "syscall-latency",
		.summary = "time in system calls, summed up by name",
		.variant = { {
			.meaning = "lat is the sum of ns between sys_enter and sys_exit",
			.synth = SYSCALL_EVENT("long"),
			.step = { SYSCALL_STEPS_RAW(""), SYSCALL_SUM },
		}, {
			.meaning = "lat is the sum of ns between sys_enter_NAME and sys_exit_NAME",
			.synth = SYSCALL_EVENT("int"),
			.step = { SYSCALL_STEPS_EACH(""), SYSCALL_SUM },
			.pair = SYSCALL_PAIR,
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "syscall-latency-by-name",
		.summary = "the same, p50, p99 and the longest by name",
		.variant = { {
			.meaning = "us between sys_enter and sys_exit, the longest call first",
			.synth = SYSCALL_EVENT("long"),
			.step = { SYSCALL_STEPS_RAW(".usecs"), SYSCALL_TABLE },
		}, {
			.meaning = "us between sys_enter_NAME and sys_exit_NAME, the longest call first",
			.synth = SYSCALL_EVENT("int"),
			.step = { SYSCALL_STEPS_EACH(".usecs"), SYSCALL_TABLE },
			.pair = SYSCALL_PAIR,
		} },
		.by = "id",
	},
	{
		.name = "block-latency",
		.summary = "how long the disks take",
		.variant = { {
			.meaning = "ns from block_rq_issue to block_rq_complete, by powers of two",
			.synth = "block_latency u64 lat; unsigned int dev",
			.step = {
				{ "block:block_rq_issue",
				  "hist:keys=dev,sector:ts0=common_timestamp" },
				{ "block:block_rq_complete",
				  "hist:keys=dev,sector:lat=common_timestamp-$ts0:"
				  "onmatch(block.block_rq_issue).trace(block_latency,$lat,dev)" },
				{ "synthetic:block_latency", "hist:keys=lat.log2:sort=lat" },
			},
		} },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "off-cpu",
		.summary = "time off the CPU, by the thread's name",
		.variant = { {
			.meaning = "lat is the sum of ns between being switched out and in again",
			.synth = "off_cpu u64 lat; pid_t pid; char comm[16]",
			.step = {
				/* the idle threads of all CPUs have the pid 0 */
				{ "sched:sched_switch",
				  "hist:keys=prev_pid:ts0=common_timestamp if prev_pid != 0" },
				{ "sched:sched_switch",
				  "hist:keys=next_pid:lat=common_timestamp-$ts0:"
				  "onmatch(sched.sched_switch).trace(off_cpu,$lat,next_pid,next_comm)"
				  " if next_pid != 0" },
				{ "synthetic:off_cpu",
				  "hist:keys=comm:vals=lat:sort=lat.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "run-queue",
		.summary = "how many threads each CPU has to run, and for how long",
		.variant = { {
			.meaning = "ns with so many threads that run or wait for the CPU; needs sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task",
			.step = {
				{ "synthetic:run_queue",
				  "hist:keys=cpu,runnable:vals=ns:sort=cpu,runnable" },
			},
		} },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "alloc-size",
		.summary = "sizes of the kernel's allocations",
		.variant = { {
			.meaning = "bytes asked of kmalloc, by powers of two",
			.step = {
				{ "kmem:kmalloc",
				  "hist:keys=bytes_req.log2:vals=bytes_alloc:sort=bytes_req" },
			},
		} },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "alloc-site",
		.summary = "who allocates most in the kernel",
		.variant = { {
			.meaning = "bytes given by kmalloc, by the calling function",
			.step = {
				{ "kmem:kmalloc",
				  "hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:"
				  "sort=bytes_alloc.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "span-time",
		.summary = "time in the spans of a program (locks held, requests, ...)",
		.variant = { {
			.meaning = "lat is the sum of ns from TACHO_BEGIN() to TACHO_END(), by name",
			.synth = "span u64 lat; char name[]",
			.step = {
				{ "marker:begin",
				  "hist:keys=common_pid,name:ts0=common_timestamp" },
				{ "marker:end",
				  "hist:keys=common_pid,name:lat=common_timestamp-$ts0:"
				  "onmatch(marker.begin).trace(span,$lat,name)" },
				{ "synthetic:span",
				  "hist:keys=name:vals=lat:sort=lat.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
};

const struct app_recipe *app_recipe_at(uint32_t i)
{
	return i < TACHO_ARRAY_SIZE(recipes) ? &recipes[i] : NULL;
}

const struct app_recipe *app_recipe_find(const char *name)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(recipes); i++)
		if (!strcmp(recipes[i].name, name))
			return &recipes[i];
	return NULL;
}

const char *app_recipe_name(const struct app_recipe *r)
{
	return r->name;
}

const char *app_recipe_summary(const struct app_recipe *r)
{
	return r->summary;
}

void app_recipe_form(const struct app_recipe *r, struct app_hist_form *form)
{
	*form = (struct app_hist_form){ .shape = r->shape, .by = r->by };
	if (r->by)
		form->quantiles = table;
}

/* ---- which variant ------------------------------------------------------------------ */

static bool has_event(const struct tacho_stream *s, const char *event)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		if (tacho_event_glob(event, type->system, type->name))
			return true;
	return false;
}

static bool has_all(const struct tacho_stream *s, const struct variant *v)
{
	for (size_t i = 0; i < STEPS_MAX && v->step[i].event; i++)
		if (strncmp(v->step[i].event, "synthetic:", strlen("synthetic:")) &&
		    !has_event(s, v->step[i].event))
			return false;
	return true;
}

static const struct variant *choose_variant(const struct app_recipe *r,
					    const struct tacho_stream *s)
{
	for (size_t i = 0; s && i < VARIANTS_MAX && r->variant[i].meaning; i++)
		if (has_all(s, &r->variant[i]))
			return &r->variant[i];
	return &r->variant[0];
}

/* ---- its question --------------------------------------------------------------------- */

static int add_step(struct app_question *a, const char *event, const char *text,
		    struct tacho_diag *d)
{
	if (!event || !text)
		return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
	if (a->nr_commands == APP_QUESTION_MAX)
		return tacho_diag(d, -E2BIG, APP_NO_PLACE,
				  "more than %d types of events for one recipe",
				  APP_QUESTION_MAX);
	a->command[a->nr_commands++] =
		(struct app_question_command){ .event = event, .text = text };
	return 0;
}

/* `pattern` with `with` in place of its '*'. */
static const char *instance(struct tacho_arena *arena, const char *pattern, const char *with)
{
	const char *star = strchr(pattern, '*');
	size_t head = (size_t)(star - pattern), n = strlen(with), tail = strlen(star + 1);
	char *text = tacho_arena_alloc(arena, head + n + tail + 1);

	if (!text)
		return NULL;
	memcpy(text, pattern, head);
	memcpy(text + head, with, n);
	memcpy(text + head + n, star + 1, tail + 1);
	return text;
}

/* One command per event type of the trace that the step's glob matches: struct variant. */
static int add_each(struct app_recipe_plan *p, const struct variant *v,
		    const struct app_question_command *step, const struct tacho_stream *s,
		    struct tacho_diag *d)
{
	size_t fixed = strlen(strchr(step->event, ':') + 1) - 1;
	const struct tacho_type *type;
	int err = 0;

	for (uint32_t i = 0; !err && (type = tacho_stream_type(s, i)); i++) {
		const char *with = type->name + fixed, *pair;

		if (!tacho_event_glob(step->event, type->system, type->name))
			continue;
		pair = instance(&p->arena, v->pair, with);
		if (!pair)
			return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
		if (has_event(s, pair))
			err = add_step(&p->question, instance(&p->arena, step->event, with),
				       instance(&p->arena, step->text, with), d);
	}
	return err;
}

int app_recipe_plan(struct app_recipe_plan *p, const struct app_recipe *r,
		    const struct tacho_stream *s, struct tacho_diag *d)
{
	const struct variant *v = choose_variant(r, s);
	int err = 0;

	*p = (struct app_recipe_plan){ .meaning = v->meaning };
	tacho_arena_init(&p->arena, TEXTS_MAX);
	if (v->synth)
		p->question.synth[p->question.nr_synths++] = v->synth;
	for (size_t i = 0; !err && i < STEPS_MAX && v->step[i].event; i++)
		err = s && v->pair && strchr(v->step[i].text, '*') ?
		      add_each(p, v, &v->step[i], s, d) :
		      add_step(&p->question, v->step[i].event, v->step[i].text, d);
	return err;
}

void app_recipe_plan_release(struct app_recipe_plan *p)
{
	tacho_arena_release(&p->arena);
}
