// SPDX-License-Identifier: MIT
/* tacho recipe: questions that are asked often, ready made. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/ask.h"
#include "cli/cli.h"

#define STEPS_MAX	6

struct recipe {
	const char *name;
	const char *summary;
	const char *tells;	/* how to read the result */
	const char *synth;	/* or NULL */
	struct cli_ask_command step[STEPS_MAX];	/* the last one is printed */
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

/* From being woken to running, as an event: what several recipes begin with. */
#define WAKEUP_EVENT	"wakeup_latency u64 lat; pid_t pid; char comm[16]"
#define WAKEUP_STEPS	WAKEUP_STEPS_IN("")
#define WAKEUP_STEPS_IN(unit)						\
	{ "sched:sched_waking", "hist:keys=pid:ts0=common_timestamp" unit },	\
	{ "sched:sched_switch",						\
	  "hist:keys=next_pid:lat=common_timestamp" unit "-$ts0:"	\
	  "onmatch(sched.sched_waking).trace(wakeup_latency,$lat,next_pid,next_comm)" }

static const struct recipe recipes[] = {
	{
		.name = "sched-latency",
		.summary = "how long threads wait for a CPU after they are woken",
		.tells = "ns from sched_waking to sched_switch, by powers of two",
		.synth = WAKEUP_EVENT,
		.step = {
			WAKEUP_STEPS,
			{ "synthetic:wakeup_latency", "hist:keys=lat.log2:sort=lat" },
		},
		.form = CLI_ASK_CHART,
	},
	{
		.name = "sched-latency-by-thread",
		.summary = "the same, p50, p99 and the longest by the thread's name",
		.tells = "us from sched_waking to sched_switch, the longest wait first",
		.synth = WAKEUP_EVENT,
		.step = {
			WAKEUP_STEPS_IN(".usecs"),
			{ "synthetic:wakeup_latency",
			  "hist:keys=comm,lat:sort=lat.descending:" ROOM },
		},
		.by = "comm",
	},
	{
		.name = "syscall-latency",
		.summary = "time in system calls, summed up by name",
		.tells = "lat is the sum of ns between sys_enter and sys_exit",
		.synth = "syscall_latency u64 lat; long id; pid_t pid",
		.step = {
			{ "raw_syscalls:sys_enter",
			  "hist:keys=common_pid:ts0=common_timestamp" },
			{ "raw_syscalls:sys_exit",
			  "hist:keys=common_pid:lat=common_timestamp-$ts0:"
			  "onmatch(raw_syscalls.sys_enter).trace(syscall_latency,$lat,id,common_pid)" },
			{ "synthetic:syscall_latency",
			  "hist:keys=id.syscall:vals=lat:sort=lat.descending" },
		},
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "syscall-latency-by-name",
		.summary = "the same, p50, p99 and the longest by name",
		.tells = "us between sys_enter and sys_exit, the longest call first",
		.synth = "syscall_latency u64 lat; long id; pid_t pid",
		.step = {
			{ "raw_syscalls:sys_enter",
			  "hist:keys=common_pid:ts0=common_timestamp.usecs" },
			{ "raw_syscalls:sys_exit",
			  "hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:"
			  "onmatch(raw_syscalls.sys_enter).trace(syscall_latency,$lat,id,common_pid)" },
			{ "synthetic:syscall_latency",
			  "hist:keys=id.syscall,lat:sort=lat.descending:" ROOM },
		},
		.by = "id",
	},
	{
		.name = "block-latency",
		.summary = "how long the disks take",
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
		.form = CLI_ASK_CHART,
	},
	{
		.name = "off-cpu",
		.summary = "time off the CPU, by the thread's name",
		.tells = "lat is the sum of ns between being switched out and in again",
		.synth = "off_cpu u64 lat; pid_t pid; char comm[16]",
		.step = {
			{ "sched:sched_switch", "hist:keys=prev_pid:ts0=common_timestamp" },
			{ "sched:sched_switch",
			  "hist:keys=next_pid:lat=common_timestamp-$ts0:"
			  "onmatch(sched.sched_switch).trace(off_cpu,$lat,next_pid,next_comm)" },
			{ "synthetic:off_cpu",
			  "hist:keys=comm:vals=lat:sort=lat.descending" },
		},
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "run-queue",
		.summary = "how many threads each CPU has to run, and for how long",
		.tells = "ns with so many threads that run or wait for the CPU; needs sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task",
		.step = {
			{ "synthetic:run_queue",
			  "hist:keys=cpu,runnable:vals=ns:sort=cpu,runnable" },
		},
		.form = CLI_ASK_CHART,
	},
	{
		.name = "alloc-size",
		.summary = "sizes of the kernel's allocations",
		.tells = "bytes asked of kmalloc, by powers of two",
		.step = {
			{ "kmem:kmalloc",
			  "hist:keys=bytes_req.log2:vals=bytes_alloc:sort=bytes_req" },
		},
		.form = CLI_ASK_CHART,
	},
	{
		.name = "alloc-site",
		.summary = "who allocates most in the kernel",
		.tells = "bytes given by kmalloc, by the calling function",
		.step = {
			{ "kmem:kmalloc",
			  "hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:sort=bytes_alloc.descending" },
		},
		.form = CLI_ASK_KERNEL,
	},
	{
		.name = "span-time",
		.summary = "time in the spans of a program (locks held, requests, ...)",
		.tells = "lat is the sum of ns from tacho_begin() to tacho_end(), by name",
		.synth = "span u64 lat; char name[64]",
		.step = {
			{ "marker:begin",
			  "hist:keys=common_pid,name:ts0=common_timestamp" },
			{ "marker:end",
			  "hist:keys=common_pid,name:lat=common_timestamp-$ts0:"
			  "onmatch(marker.begin).trace(span,$lat,name)" },
			{ "synthetic:span",
			  "hist:keys=name:vals=lat:sort=lat.descending" },
		},
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
	"       tacho recipe show NAME\n"
	"       tacho recipe run [OPTIONS] NAME [TRACE]\n\n"
	"Questions that are asked often, ready made: histograms with their variables and\n"
	"synthetic events, in the language of 'tacho hist'.  'show' prints one as the\n"
	"command that it is.  TRACE is a directory, session:NAME or 'kernel'; without it,\n"
	"the newest tacho-trace in this directory.\n\n"
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

static int show(const struct recipe *r)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 1u << 20);
	tacho_buf_printf(&b, "# %s\n# %s\ntacho hist", r->summary, r->tells);
	if (r->by)
		tacho_buf_printf(&b, " --quantiles " TABLE_WORDS " --by %s", r->by);
	if (r->form == CLI_ASK_CHART)
		tacho_buf_puts(&b, " --chart");
	if (r->synth)
		tacho_buf_printf(&b, " --synth '%s'", r->synth);
	for (size_t i = 0; i < STEPS_MAX && r->step[i].event; i++)
		tacho_buf_printf(&b, " \\\n  -e %s '%s'", r->step[i].event,
				 r->step[i].text + strlen("hist:"));
	tacho_buf_putc(&b, '\n');
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

static int run(const struct recipe *r, struct cli_ask *a, bool json)
{
	for (size_t i = 0; i < STEPS_MAX && r->step[i].event; i++)
		a->command[a->nr_commands++] = r->step[i];
	if (r->synth)
		a->synth[a->nr_synths++] = r->synth;
	a->form = json ? CLI_ASK_JSON : r->form;
	a->by = r->by;
	if (r->by)
		a->quantiles = table;
	if (!json)
		cli_note("%s", r->tells);
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
	const struct recipe *r;
	bool json = false;
	int opt, n, ret;

	while ((opt = getopt_long(argc, argv, "hqkw::", options, NULL)) != -1) {
		ret = take(&a, opt);
		if (ret < 0)
			ret = cli_common(opt, &json);
		else if (ret == CLI_OK)
			ret = -1;
		if (ret >= 0)
			return ret;
	}
	argv += optind;
	n = argc - optind;
	if (n == 1 && !strcmp(argv[0], "list"))
		return list(json);
	if (n < 2 || n > 3 || (strcmp(argv[0], "show") && strcmp(argv[0], "run")) ||
	    (n == 3 && !strcmp(argv[0], "show")))
		return cli_usage("'list', 'show NAME' or 'run NAME [TRACE]'");
	r = find(argv[1]);
	if (!r)
		return CLI_FAILED;
	if (!strcmp(argv[0], "show"))
		return show(r);
	if (n == 3)
		a.trace = argv[2];
	return run(r, &a, json);
}

const struct cli_verb cli_recipe = {
	.name = "recipe",
	.summary = "ready-made questions: latencies, queues, allocations",
	.usage = usage,
	.run = recipe_main,
};
