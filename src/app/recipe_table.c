// SPDX-License-Identifier: MIT
/*
 * The recipes.
 *
 * Both ways of one give equal answers where both can: the columns that a sum or a table is of are
 * called the same, and intervals whose begin or end is not known (open) do not count, as a
 * histogram has no match for them.  docs/model.md says where they differ.
 */
#include "app/recipe_priv.h"
#include "base/text.h"

/*
 * Tables are of microseconds, as they are, and for as many different ones as a
 * histogram may have: nanoseconds would soon find no room, and powers of two
 * say too little of a maximum.
 */
#define ROOM	"size=131072"

/* ---- what the model is asked ---- */

#define LOG2(filter)	"hist:keys=dur.log2:sort=dur if " filter
#define SUM(key, filter)	"hist:keys=" key ":vals=dur:sort=dur.descending if " filter
#define TABLE(key, filter)	"hist:keys=" key ",us:sort=us.descending:" ROOM " if " filter

/* A thread that was woken and waits for its CPU; that is off the CPU in any way. */
#define WOKEN		"state == \"runnable\" && preempted == 0 && open == 0"
#define OFF_CPU		"state != \"running\" && state != \"unknown\" && open == 0"
#define IS_CALL		"(category == \"syscall\" || category == \"kercall\") && open == 0"
#define IS(category)	"category == \"" category "\" && open == 0"

#define NEEDS_SWITCH	{ MODEL_OFFERS_RUNNING, NULL, "says which thread runs" }
#define NEEDS_WAKING	{ MODEL_OFFERS_WAKING, NULL, "says that a thread is woken" }
#define NEEDS_SLICES(categories)						\
	{ { MODEL_OFFERS_BEGINS, categories, "begins one" },			\
	  { MODEL_OFFERS_ENDS, categories, "ends one" } }

/* What is said of a trace without them. */
#define SWITCHES							\
	.needs = "thread switches", .record = "sched:sched_switch"
#define WAKEUPS								\
	.needs = "thread switches and wakeups",					\
	.record = "sched:sched_switch,sched:sched_waking"
#define CALLS								\
	.needs = "system calls",						\
	.record = "raw_syscalls:sys_enter,raw_syscalls:sys_exit"
#define REQUESTS							\
	.needs = "requests of disks",						\
	.record = "block:block_rq_issue,block:block_rq_complete"
#define ALLOCATIONS							\
	.needs = "the kernel's allocations", .record = "kmem:kmalloc",		\
	.events = "kmem:kmalloc|*:kmem_kmalloc"

#define ASKED_WOKEN(what, text_, by_) {						\
	.meaning = what, .event = "model:state", .text = text_, .by = by_,	\
	.need = { NEEDS_SWITCH, NEEDS_WAKING },					\
}
#define ASKED_SWITCH(what, text_) {						\
	.meaning = what, .event = "model:state", .text = text_,			\
	.need = { NEEDS_SWITCH },						\
}
#define ASKED_SLICES(what, text_, by_, categories) {				\
	.meaning = what, .event = "model:slice", .text = text_, .by = by_,	\
	.need = NEEDS_SLICES(categories),					\
}
#define ASKED_CALLS(what, text, by)	ASKED_SLICES(what, text, by, "syscall|kercall")

/* ---- what is asked of events ---- */

/* From the event `wake` of a thread to its running, as a synthetic event. */
#define WAKEUP_EVENT	"wakeup_latency u64 dur; pid_t pid; char comm[16]"
#define WAKEUP_STEPS(wake, unit)						\
	{ "sched:" wake, "hist:keys=pid:ts0=common_timestamp" unit },		\
	{ "sched:sched_switch",							\
	  "hist:keys=next_pid:dur=common_timestamp" unit "-$ts0:"		\
	  "onmatch(sched." wake ").trace(wakeup_latency,$dur,next_pid,next_comm)" }

#define SCHED_LATENCY(wake) {							\
	.meaning = "ns from " wake " to sched_switch, by powers of two",		\
	.synth = WAKEUP_EVENT,							\
	.step = {								\
		WAKEUP_STEPS(wake, ""),						\
		{ "synthetic:wakeup_latency", "hist:keys=dur.log2:sort=dur" },	\
	},									\
}

#define SCHED_LATENCY_BY_THREAD(wake) {						\
	.meaning = "us from " wake " to sched_switch, the longest wait first",	\
	.synth = WAKEUP_EVENT,							\
	.step = {								\
		WAKEUP_STEPS(wake, ".usecs"),					\
		{ "synthetic:wakeup_latency",					\
		  "hist:keys=comm,dur:sort=dur.descending:" ROOM },		\
	},									\
}

/* From `enter` to `exit` of a thread, whose system call is the field id, of type id_type. */
#define SYSCALL_EVENT(id_type)	"syscall_latency u64 dur; " id_type " id; pid_t pid"
#define SYSCALL_STEPS(system, enter, exit, id, unit)				\
	{ system ":" enter, "hist:keys=common_pid:ts0=common_timestamp" unit },	\
	{ system ":" exit,							\
	  "hist:keys=common_pid:dur=common_timestamp" unit "-$ts0:"		\
	  "onmatch(" system "." enter ").trace(syscall_latency,$dur," id ",common_pid)" }
#define SYSCALL_STEPS_RAW(unit)	\
	SYSCALL_STEPS("raw_syscalls", "sys_enter", "sys_exit", "id", unit)
#define SYSCALL_STEPS_EACH(unit)	\
	SYSCALL_STEPS("syscalls", "sys_enter_*", "sys_exit_*", "__syscall_nr", unit)
#define SYSCALL_PAIR	"syscalls:sys_enter_*"

#define SYSCALL_SUM	{ "synthetic:syscall_latency",				\
			  "hist:keys=id.syscall:vals=dur:sort=dur.descending" }
#define SYSCALL_TABLE	{ "synthetic:syscall_latency",				\
			  "hist:keys=id.syscall,dur:sort=dur.descending:" ROOM }

#define BLOCK_EVENT	"block_latency u64 dur; unsigned int dev"
#define BLOCK_STEPS(unit)							\
	{ "block:block_rq_issue",						\
	  "hist:keys=dev,sector:ts0=common_timestamp" unit },			\
	{ "block:block_rq_complete",						\
	  "hist:keys=dev,sector:dur=common_timestamp" unit "-$ts0:"		\
	  "onmatch(block.block_rq_issue).trace(block_latency,$dur,dev)" }

#define ALLOC_SIZE	"hist:keys=bytes_req.log2:vals=bytes_alloc:sort=bytes_req"
#define ALLOC_SITE	"hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:"	\
			"sort=bytes_alloc.descending"

/* ---- the recipes ---- */

const struct app_recipe app_recipes[] = {
	{
		.name = "sched-latency",
		.summary = "how long threads wait for a CPU after they are woken",
		WAKEUPS,
		.model = ASKED_WOKEN("ns from being woken to running, by powers of two",
				     LOG2(WOKEN), NULL),
		.variant = { SCHED_LATENCY("sched_waking"), SCHED_LATENCY("sched_wakeup") },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "sched-latency-by-thread",
		.summary = "the same, p50, p99 and the longest by the thread's name",
		WAKEUPS,
		.model = ASKED_WOKEN("us from being woken to running, the longest wait first",
				     TABLE("comm", WOKEN), "comm"),
		.variant = { SCHED_LATENCY_BY_THREAD("sched_waking"),
			     SCHED_LATENCY_BY_THREAD("sched_wakeup") },
		.by = "comm",
	},
	{
		.name = "run-time",
		.summary = "time on the CPU, by the thread's name",
		SWITCHES,
		.model = ASKED_SWITCH("dur is the sum of ns from being switched in to being "
				      "switched out",
				      SUM("comm", "state == \"running\" && open == 0")),
		.variant = { {
			.meaning = "dur is the sum of ns from being switched in to being switched out",
			.synth = "run_time u64 dur; pid_t pid; char comm[16]",
			.step = {
				/* the idle threads of all CPUs have the pid 0 */
				{ "sched:sched_switch",
				  "hist:keys=next_pid:ts0=common_timestamp if next_pid != 0" },
				{ "sched:sched_switch",
				  "hist:keys=prev_pid:dur=common_timestamp-$ts0:"
				  "onmatch(sched.sched_switch).trace(run_time,$dur,prev_pid,prev_comm)"
				  " if prev_pid != 0" },
				{ "synthetic:run_time",
				  "hist:keys=comm:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "off-cpu",
		.summary = "time off the CPU, by the thread's name",
		SWITCHES,
		.model = ASKED_SWITCH("dur is the sum of ns between being switched out and in again; "
				      "asleep and waiting for the CPU are a hit each",
				      SUM("comm", OFF_CPU)),
		.variant = { {
			.meaning = "dur is the sum of ns between being switched out and in again",
			.synth = "off_cpu u64 dur; pid_t pid; char comm[16]",
			.step = {
				{ "sched:sched_switch",
				  "hist:keys=prev_pid:ts0=common_timestamp if prev_pid != 0" },
				{ "sched:sched_switch",
				  "hist:keys=next_pid:dur=common_timestamp-$ts0:"
				  "onmatch(sched.sched_switch).trace(off_cpu,$dur,next_pid,next_comm)"
				  " if next_pid != 0" },
				{ "synthetic:off_cpu",
				  "hist:keys=comm:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "wakers",
		.summary = "which threads wake which, and how often",
		WAKEUPS,
		.model = {
			.meaning = "a hit is a wakeup that led to running, dur the sum of ns between",
			.event = "model:flow",
			.text = "hist:keys=from,to:vals=dur:sort=hitcount.descending"
				" if kind == \"wake\"",
			.need = { NEEDS_SWITCH,
				  { MODEL_OFFERS_WAKER, NULL, "says who wakes a thread" } },
		},
		.variant = { {
			.meaning = "a hit is a sched_waking, by the thread that ran and the one woken",
			.step = {
				{ "sched:sched_waking",
				  "hist:keys=common_pid.execname,comm:sort=hitcount.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "syscall-latency",
		.summary = "time in system calls, summed up by name",
		CALLS,
		.model = ASKED_CALLS("dur is the sum of ns from entering to leaving a call",
				     SUM("name", IS_CALL), NULL),
		.variant = { {
			.meaning = "dur is the sum of ns between sys_enter and sys_exit",
			.synth = SYSCALL_EVENT("long"),
			.step = { SYSCALL_STEPS_RAW(""), SYSCALL_SUM },
		}, {
			.meaning = "dur is the sum of ns between sys_enter_NAME and sys_exit_NAME",
			.synth = SYSCALL_EVENT("int"),
			.step = { SYSCALL_STEPS_EACH(""), SYSCALL_SUM },
			.pair = SYSCALL_PAIR,
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "syscall-latency-by-name",
		.summary = "the same, p50, p99 and the longest by name",
		CALLS,
		.model = ASKED_CALLS("us from entering to leaving a call, the longest call first",
				     TABLE("name", IS_CALL), "name"),
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
		REQUESTS,
		.model = ASKED_SLICES("ns from a request's insert or issue to its end, by powers of two",
				      LOG2(IS("block")), NULL, "block"),
		.variant = { {
			.meaning = "ns from block_rq_issue to block_rq_complete, by powers of two",
			.synth = BLOCK_EVENT,
			.step = {
				BLOCK_STEPS(""),
				{ "synthetic:block_latency", "hist:keys=dur.log2:sort=dur" },
			},
		} },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "block-latency-by-device",
		.summary = "the same, p50, p99 and the longest by the disk",
		REQUESTS,
		.model = ASKED_SLICES("us from a request's insert or issue to its end, the longest first",
				      TABLE("track", IS("block")), "track", "block"),
		.variant = { {
			.meaning = "us from block_rq_issue to block_rq_complete, the longest first",
			.synth = BLOCK_EVENT,
			.step = {
				BLOCK_STEPS(".usecs"),
				{ "synthetic:block_latency",
				  "hist:keys=dev,dur:sort=dur.descending:" ROOM },
			},
		} },
		.by = "dev",
	},
	{
		.name = "irq-time",
		.summary = "time in interrupt handlers, by name",
		.needs = "interrupts", .record = "irq:irq_handler_entry,irq:irq_handler_exit",
		.model = ASKED_SLICES("dur is the sum of ns in a handler, what interrupted it included",
				      SUM("name", IS("irq")), NULL, "irq"),
		.variant = { {
			.meaning = "dur is the sum of ns between irq_handler_entry and irq_handler_exit",
			.synth = "irq_time u64 dur; char name[]",
			.step = {
				{ "irq:irq_handler_entry",
				  "hist:keys=common_cpu,irq:ts0=common_timestamp:n=name" },
				{ "irq:irq_handler_exit",
				  "hist:keys=common_cpu,irq:dur=common_timestamp-$ts0:n1=$n:"
				  "onmatch(irq.irq_handler_entry).trace(irq_time,$dur,$n1)" },
				{ "synthetic:irq_time",
				  "hist:keys=name:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "softirq-time",
		.summary = "time in softirqs, by name",
		.needs = "softirqs", .record = "irq:softirq_entry,irq:softirq_exit",
		.model = ASKED_SLICES("dur is the sum of ns in a softirq, what interrupted it included",
				      SUM("name", IS("softirq")), NULL, "softirq"),
		.variant = { {
			.meaning = "dur is the sum of ns between softirq_entry and softirq_exit",
			.synth = "softirq_time u64 dur; unsigned int vec",
			.step = {
				{ "irq:softirq_entry",
				  "hist:keys=common_cpu,vec:ts0=common_timestamp" },
				{ "irq:softirq_exit",
				  "hist:keys=common_cpu,vec:dur=common_timestamp-$ts0:"
				  "onmatch(irq.softirq_entry).trace(softirq_time,$dur,vec)" },
				{ "synthetic:softirq_time",
				  "hist:keys=vec:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "lock-wait",
		.summary = "time in which threads wait for the kernel's locks, by their kind",
		.needs = "waits for locks", .record = "lock:contention_begin,lock:contention_end",
		.model = ASKED_SLICES("dur is the sum of ns from the wait's begin to its end",
				      SUM("name", IS("lock")), NULL, "lock"),
		.variant = { {
			.meaning = "dur is the sum of ns between contention_begin and contention_end",
			.synth = "lock_wait u64 dur; unsigned int flags",
			.step = {
				{ "lock:contention_begin",
				  "hist:keys=common_pid,lock_addr:ts0=common_timestamp:f=flags" },
				{ "lock:contention_end",
				  "hist:keys=common_pid,lock_addr:dur=common_timestamp-$ts0:f1=$f:"
				  "onmatch(lock.contention_begin).trace(lock_wait,$dur,$f1)" },
				{ "synthetic:lock_wait",
				  "hist:keys=flags.hex:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "run-queue",
		.summary = "how many threads each CPU has to run, and for how long",
		.needs = "the run queues of CPUs",
		.record = TACHO_RUN_QUEUE_NEEDS, .events = "*:sched_switch,*:sched_wakeup",
		.variant = { {
			.meaning = "ns with so many threads that run or wait for the CPU; needs "
				   "sched_switch, sched_wakeup, sched_wakeup_new, "
				   "sched_migrate_task",
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
		ALLOCATIONS,
		.variant = { {
			.meaning = "bytes asked of kmalloc, by powers of two",
			.step = { { "kmem:kmalloc", ALLOC_SIZE } },
		}, {
			/* LTTng's */
			.meaning = "bytes asked of kmalloc, by powers of two",
			.step = { { "*:kmem_kmalloc", ALLOC_SIZE } },
		} },
		.shape = APP_HIST_CHART,
	},
	{
		.name = "alloc-site",
		.summary = "who allocates most in the kernel",
		ALLOCATIONS,
		.variant = { {
			.meaning = "bytes given by kmalloc, by the calling function",
			.step = { { "kmem:kmalloc", ALLOC_SITE } },
		}, {
			.meaning = "bytes given by kmalloc, by the calling function",
			.step = { { "*:kmem_kmalloc", ALLOC_SITE } },
		} },
		.shape = APP_HIST_KERNEL,
	},
	{
		.name = "span-time",
		.summary = "time in the spans of a program (locks held, requests, ...)",
		.needs = "spans",
		.model = {
			.meaning = "dur is the sum of ns from the begin of a span to its end, by name",
			.event = "model:slice", .text = SUM("name", IS("span")),
			.need = NEEDS_SLICES("span"),
		},
		.variant = { {
			.meaning = "dur is the sum of ns from TACHO_BEGIN() to TACHO_END(), by name",
			.synth = "span u64 dur; char name[]",
			.step = {
				{ "marker:begin",
				  "hist:keys=common_pid,name:ts0=common_timestamp" },
				{ "marker:end",
				  "hist:keys=common_pid,name:dur=common_timestamp-$ts0:"
				  "onmatch(marker.begin).trace(span,$dur,name)" },
				{ "synthetic:span",
				  "hist:keys=name:vals=dur:sort=dur.descending" },
			},
		} },
		.shape = APP_HIST_KERNEL,
	},
};

const uint32_t app_nr_recipes = TACHO_ARRAY_SIZE(app_recipes);
