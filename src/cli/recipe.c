// SPDX-License-Identifier: MIT
/* tacho recipe: questions that are asked often, ready made. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/trace.h"

#define STEPS_MAX	4
#define VARIANTS_MAX	2
#define TEXTS_MAX	((size_t)1 << 20)

/*
 * One way to answer a recipe's question, by the events that it needs.  A step whose event
 * and text both have a '*' stands for one command per event type that the glob matches:
 * the text's '*' becomes what the glob's '*' matched.  Types whose counterpart (the event
 * of `pair` with that text) was not recorded are left out.
 */
struct variant {
	const char *tells;	/* how to read the result */
	const char *synth;	/* or NULL */
	struct cli_ask_command step[STEPS_MAX];	/* the last one is printed */
	const char *pair;	/* or NULL: a glob */
};

/* The first variant of whose events the trace has any; without a trace, the first. */
struct recipe {
	const char *name;
	const char *summary;
	struct variant variant[VARIANTS_MAX];
	enum cli_ask_form form;
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
#define TABLE_WORDS	"50,99,100"

/* From the event `wake` of a thread to its running, as a synthetic event. */
#define WAKEUP_EVENT	"wakeup_latency u64 lat; pid_t pid; char comm[16]"
#define WAKEUP_STEPS(wake, unit)						\
	{ "sched:" wake, "hist:keys=pid:ts0=common_timestamp" unit },		\
	{ "sched:sched_switch",							\
	  "hist:keys=next_pid:lat=common_timestamp" unit "-$ts0:"		\
	  "onmatch(sched." wake ").trace(wakeup_latency,$lat,next_pid,next_comm)" }

#define SCHED_LATENCY(wake) {							\
	.tells = "ns from " wake " to sched_switch, by powers of two",		\
	.synth = WAKEUP_EVENT,							\
	.step = {								\
		WAKEUP_STEPS(wake, ""),						\
		{ "synthetic:wakeup_latency", "hist:keys=lat.log2:sort=lat" },	\
	},									\
}

#define SCHED_LATENCY_BY_THREAD(wake) {						\
	.tells = "us from " wake " to sched_switch, the longest wait first",	\
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

static const struct recipe recipes[] = {
	{
		.name = "sched-latency",
		.summary = "how long threads wait for a CPU after they are woken",
		.variant = { SCHED_LATENCY("sched_waking"), SCHED_LATENCY("sched_wakeup") },
		.form = CLI_ASK_CHART,
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
			.tells = "lat is the sum of ns between sys_enter and sys_exit",
			.synth = SYSCALL_EVENT("long"),
			.step = { SYSCALL_STEPS_RAW(""), SYSCALL_SUM },
		}, {
			.tells = "lat is the sum of ns between sys_enter_NAME and sys_exit_NAME",
			.synth = SYSCALL_EVENT("int"),
			.step = { SYSCALL_STEPS_EACH(""), SYSCALL_SUM },
			.pair = SYSCALL_PAIR,
		} },
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "syscall-latency-by-name",
		.summary = "the same, p50, p99 and the longest by name",
		.variant = { {
			.tells = "us between sys_enter and sys_exit, the longest call first",
			.synth = SYSCALL_EVENT("long"),
			.step = { SYSCALL_STEPS_RAW(".usecs"), SYSCALL_TABLE },
		}, {
			.tells = "us between sys_enter_NAME and sys_exit_NAME, the longest call first",
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
			.tells = "ns from block_rq_issue to block_rq_complete, by powers of two",
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
		.form = CLI_ASK_CHART,
	},
	{
		.name = "off-cpu",
		.summary = "time off the CPU, by the thread's name",
		.variant = { {
			.tells = "lat is the sum of ns between being switched out and in again",
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
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "run-queue",
		.summary = "how many threads each CPU has to run, and for how long",
		.variant = { {
			.tells = "ns with so many threads that run or wait for the CPU; needs sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task",
			.step = {
				{ "synthetic:run_queue",
				  "hist:keys=cpu,runnable:vals=ns:sort=cpu,runnable" },
			},
		} },
		.form = CLI_ASK_CHART,
	},
	{
		.name = "alloc-size",
		.summary = "sizes of the kernel's allocations",
		.variant = { {
			.tells = "bytes asked of kmalloc, by powers of two",
			.step = {
				{ "kmem:kmalloc",
				  "hist:keys=bytes_req.log2:vals=bytes_alloc:sort=bytes_req" },
			},
		} },
		.form = CLI_ASK_CHART,
	},
	{
		.name = "alloc-site",
		.summary = "who allocates most in the kernel",
		.variant = { {
			.tells = "bytes given by kmalloc, by the calling function",
			.step = {
				{ "kmem:kmalloc",
				  "hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:"
				  "sort=bytes_alloc.descending" },
			},
		} },
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "span-time",
		.summary = "time in the spans of a program (locks held, requests, ...)",
		.variant = { {
			.tells = "lat is the sum of ns from TACHO_BEGIN() to TACHO_END(), by name",
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
		.form = CLI_ASK_KERNEL,
	},
};

#define NR_RECIPES	(sizeof(recipes) / sizeof(recipes[0]))

enum { OPT_DURATION = CLI_OPT_FIRST };

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "kernel", no_argument, NULL, 'k' },
	{ "watch", optional_argument, NULL, 'w' },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho recipe list\n"
	"       tacho recipe show NAME [TRACE]\n"
	"       tacho recipe run [OPTIONS] NAME [TRACE]\n\n"
	"Questions that are asked often, ready made: histograms with their variables and\n"
	"synthetic events, in the language of 'tacho hist'.  'show' prints the command\n"
	"that 'run' runs on TRACE, or on a trace that has every event.  TRACE is of any\n"
	"format that tacho reads, session:NAME or 'kernel'; 'run' without it reads the\n"
	"newest tacho-trace in this directory.\n\n"
	"  -k, --kernel         the running kernel, as TRACE 'kernel'\n"
	"      --duration TIME  live: end after 10s, 5m; else with Ctrl-C\n"
	"  -w, --watch[=TIME]   live: print every second, or every TIME\n"
	"  -q, --quiet          no remarks on stderr\n"
	"      --json           run: one JSON object a histogram; list: an array\n"
	"  -h, --help           this text\n";

static const struct recipe *find(const char *name)
{
	for (size_t i = 0; i < NR_RECIPES; i++)
		if (!strcmp(recipes[i].name, name))
			return &recipes[i];
	(void)cli_fail("there is no recipe '%s'; 'tacho recipe list' names them", name);
	return NULL;
}

static int list(bool json)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 1u << 20);
	if (json)
		tacho_buf_putc(&b, '[');
	for (size_t i = 0; i < NR_RECIPES; i++) {
		if (json)
			tacho_buf_printf(&b, "%s{\"name\":\"%s\",\"summary\":\"%s\"}",
					 i ? "," : "", recipes[i].name,
					 recipes[i].summary);
		else
			tacho_buf_printf(&b, "%-24s %s\n", recipes[i].name,
					 recipes[i].summary);
	}
	if (json)
		tacho_buf_puts(&b, "]\n");
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

/* ---- which variant ---- */

/* What a recipe becomes for one trace. */
struct plan {
	const struct recipe *recipe;
	struct tacho_arena arena;	/* of the texts */
	bool json;
};

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

static const struct variant *choose_variant(const struct recipe *r,
					    const struct tacho_stream *s)
{
	for (size_t i = 0; s && i < VARIANTS_MAX && r->variant[i].tells; i++)
		if (has_all(s, &r->variant[i]))
			return &r->variant[i];
	return &r->variant[0];
}

static int add_step(struct cli_ask *a, const char *event, const char *text)
{
	if (!event || !text)
		return cli_fail("out of memory");
	if (a->nr_commands == CLI_ASK_MAX)
		return cli_fail("more than %d types of events for one recipe", CLI_ASK_MAX);
	a->command[a->nr_commands++] =
		(struct cli_ask_command){ .event = event, .text = text };
	return CLI_OK;
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
static int add_each(struct plan *p, struct cli_ask *a, const struct variant *v,
		    const struct cli_ask_command *step, const struct tacho_stream *s)
{
	size_t fixed = strlen(strchr(step->event, ':') + 1) - 1;
	const struct tacho_type *type;
	int ret = CLI_OK;

	for (uint32_t i = 0; ret == CLI_OK && (type = tacho_stream_type(s, i)); i++) {
		const char *with = type->name + fixed, *pair;

		if (!tacho_event_glob(step->event, type->system, type->name))
			continue;
		pair = instance(&p->arena, v->pair, with);
		if (!pair)
			return cli_fail("out of memory");
		if (has_event(s, pair))
			ret = add_step(a, instance(&p->arena, step->event, with),
				       instance(&p->arena, step->text, with));
	}
	return ret;
}

/* The commands of a variant; s: the trace, or NULL. */
static int fill(struct plan *p, struct cli_ask *a, const struct variant *v,
		const struct tacho_stream *s)
{
	int ret = CLI_OK;

	a->nr_commands = a->nr_synths = 0;
	if (v->synth)
		a->synth[a->nr_synths++] = v->synth;
	for (size_t i = 0; ret == CLI_OK && i < STEPS_MAX && v->step[i].event; i++)
		ret = s && v->pair && strchr(v->step[i].text, '*') ?
		      add_each(p, a, v, &v->step[i], s) :
		      add_step(a, v->step[i].event, v->step[i].text);
	return ret;
}

/* ---- show and run ---- */

static int put_command(const struct recipe *r, const struct variant *v,
		       const struct cli_ask *a)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 1u << 20);
	tacho_buf_printf(&b, "# %s\n# %s\ntacho hist", r->summary, v->tells);
	if (r->by)
		tacho_buf_printf(&b, " --quantiles " TABLE_WORDS " --by %s", r->by);
	if (r->form == CLI_ASK_CHART)
		tacho_buf_puts(&b, " --chart");
	for (uint32_t i = 0; i < a->nr_synths; i++)
		tacho_buf_printf(&b, " --synth '%s'", a->synth[i]);
	for (uint32_t i = 0; i < a->nr_commands; i++)
		tacho_buf_printf(&b, " \\\n  -e %s '%s'", a->command[i].event,
				 a->command[i].text + strlen("hist:"));
	tacho_buf_putc(&b, '\n');
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

static int show(struct plan *p, struct cli_ask *a)
{
	struct app_trace t = { .stream = NULL };
	const struct variant *v;
	int ret = CLI_OK;

	if (a->trace && strcmp(a->trace, "kernel"))
		ret = cli_trace_open(&t, a->trace, 0);
	if (ret != CLI_OK)
		return ret;
	v = choose_variant(p->recipe, t.stream);
	ret = fill(p, a, v, t.stream);
	if (ret == CLI_OK)
		ret = put_command(p->recipe, v, a);
	if (t.stream)
		app_trace_close(&t);
	return ret;
}

/* Of the running kernel s is NULL. */
static int choose(struct cli_ask *a, const struct tacho_stream *s)
{
	struct plan *p = a->choose_arg;
	const struct variant *v = choose_variant(p->recipe, s);

	if (!p->json)
		cli_note("%s", v->tells);
	return fill(p, a, v, s);
}

static int run(struct plan *p, struct cli_ask *a)
{
	const struct recipe *r = p->recipe;

	a->choose = choose;
	a->choose_arg = p;
	a->form = p->json ? CLI_ASK_JSON : r->form;
	a->by = r->by;
	if (r->by)
		a->quantiles = table;
	return cli_ask_run(a);
}

static int take(struct cli_ask *a, int opt)
{
	switch (opt) {
	case 'k':
		a->trace = "kernel";
		return CLI_OK;
	case 'w':
		a->watch_ns = 1000000000;
		if (!optarg)
			return CLI_OK;
		if (tacho_parse_time(optarg, &a->watch_ns) || !a->watch_ns)
			return cli_usage("--watch: '%s' is no time like 10s", optarg);
		return CLI_OK;
	case OPT_DURATION:
		if (tacho_parse_time(optarg, &a->duration_ns) || !a->duration_ns)
			return cli_usage("--duration: '%s' is no time like 10s", optarg);
		return CLI_OK;
	default:
		return -1;
	}
}

static int recipe_main(int argc, char **argv)
{
	struct cli_ask a = { 0 };
	struct plan p = { .json = false };
	int opt, n, ret;

	while ((opt = getopt_long(argc, argv, "hqkw::", options, NULL)) != -1) {
		ret = take(&a, opt);
		if (ret < 0)
			ret = cli_common(opt, &p.json);
		else if (ret == CLI_OK)
			ret = -1;
		if (ret >= 0)
			return ret;
	}
	argv += optind;
	n = argc - optind;
	if (n == 1 && !strcmp(argv[0], "list"))
		return list(p.json);
	if (n < 2 || n > 3 || (strcmp(argv[0], "show") && strcmp(argv[0], "run")))
		return cli_usage("give 'list', 'show NAME [TRACE]' or 'run NAME [TRACE]'");
	p.recipe = find(argv[1]);
	if (!p.recipe)
		return CLI_FAILED;
	if (n == 3)
		a.trace = argv[2];
	tacho_arena_init(&p.arena, TEXTS_MAX);
	ret = !strcmp(argv[0], "show") ? show(&p, &a) : run(&p, &a);
	tacho_arena_release(&p.arena);
	return ret;
}

const struct cli_verb cli_recipe = {
	.name = "recipe",
	.summary = "ready-made questions: latencies, queues, allocations",
	.usage = usage,
	.run = recipe_main,
};
