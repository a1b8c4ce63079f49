// SPDX-License-Identifier: MIT
/*
 * Events and the call stacks that follow them.
 *
 * The kernel writes an event, then walks the stack and writes it as a separate record, on the
 * same CPU and thread.  Only events of interrupts can be in between, with their own stacks:
 *
 *	sched_waking	task			waits
 *	irq_handler	  hard interrupt	waits, too
 *	kernel_stack	  hard interrupt	is irq_handler's
 *	kernel_stack	task			is sched_waking's
 *
 * common_flags says in which context a record was written.  So a record ends the wait of every
 * event of its CPU whose context is not below its own: it is the stack (same thread and context),
 * or the stack was lost.  Lost records of the CPU also end the wait.  At most one event of each
 * context waits on a CPU.
 *
 * A program's thread may move to another CPU between both records, so for programs the thread
 * takes the place of the CPU, and there are no contexts.
 *
 * The queue.  A stack directly follows its event on its CPU, but in the merged stream records of
 * other CPUs are in between.  Histograms use variables of each other, so these records must not
 * be processed earlier: they are copied to the queue.  The queue is bounded; when it is full, its
 * first event is processed without a stack.  That happens if a stack was lost and its CPU then
 * has no records for long.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "event/type.h"
#include "query/query_priv.h"

#define HELD_MAX	4096u
#define HELD_BYTES	((size_t)2 << 20)

/* common_flags, as in the kernel's trace events */
#define FLAG_HARDIRQ	0x08
#define FLAG_SOFTIRQ	0x10
#define FLAG_NMI	0x40

const struct tacho_field *tacho_query_stack_field(const struct tacho_type *type)
{
	const struct tacho_field *f;

	if (!(!strcmp(type->system, "ftrace") && !strcmp(type->name, "kernel_stack")) &&
	    !(!strcmp(type->system, "tacho") && !strcmp(type->name, "user_stack")))
		return NULL;
	f = tacho_type_field(type, "caller");
	return f && f->elem_size == 8 ? f : NULL;
}

/* ---- pairing ------------------------------------------------ */

static uint32_t context_of(const struct tacho_record *r)
{
	uint32_t flags = ((const unsigned char *)r->raw)[2];

	if (r->source != TACHO_STREAM_KERNEL)
		return 0;
	return flags & FLAG_NMI ? 3 : flags & FLAG_HARDIRQ ? 2 :
	       flags & FLAG_SOFTIRQ ? 1 : 0;
}

static bool same_lane(const struct tacho_record *a, const struct tacho_record *b)
{
	if (a->source != b->source)
		return false;
	return a->source == TACHO_STREAM_KERNEL ? a->cpu == b->cpu : a->pid == b->pid;
}

bool tacho_query_is_tracer(const char *name)
{
	static const char *const begins[] = {
		"trace_event_raw_event_", "__traceiter_", "__bpf_trace_",
		"perf_trace_", "trace_event_buffer_", "event_triggers_",
		"stacktrace_", "ftrace_syscall_", "kprobe_trace_",
		"kretprobe_trace_", "kprobe_dispatcher", "kretprobe_dispatcher",
		"__ftrace_trace_stack", "__trace_stack", "fprobe_dispatcher",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool is_tracer(struct tacho_query *q, uint64_t addr)
{
	struct query_frame *f = &q->frame[addr * UINT64_C(0x9e3779b97f4a7c15) >> 56];
	struct tacho_symbol sym;

	if (f->addr != addr)
		*f = (struct query_frame){
			.addr = addr,
			.is_tracer = q->names.symbol(q, addr, &sym) &&
				     tacho_query_is_tracer(sym.name),
		};
	return f->is_tracer;
}

/* Copies the addresses without the tracer's functions at the innermost end. */
static void take_stack(struct tacho_query *q, struct query_held *h,
		       const struct tacho_record *r, const struct tacho_field *caller)
{
	bool inside = r->source == TACHO_STREAM_KERNEL;
	const unsigned char *p;
	size_t size;

	p = tacho_field_data(caller, r->raw, r->len, &size);
	for (size_t i = 0; p && i + 8 <= size && h->nr_stack < TACHO_HIST_STACK;
	     i += 8) {
		uint64_t addr = tacho_load_u64(p + i);

		if (!addr || addr == UINT64_MAX)
			break;
		inside = inside && is_tracer(q, addr);
		if (!inside)
			h->stack[h->nr_stack++] = addr;
	}
}

static void stop_waiting(struct tacho_query *q, struct query_held **at, bool found)
{
	struct query_held *h = *at;

	*at = h->next_waiting;
	h->waits = false;
	q->stacks.found += found;
	q->stacks.missing += !found;
}

/* Ends the waits that r ends; returns the event whose stack r is, or NULL. */
static struct query_held *settle(struct tacho_query *q,
				 const struct query_slot *slot,
				 const struct tacho_record *r)
{
	struct query_held **at = &q->waiting, *h, *found = NULL;
	uint32_t context = context_of(r);

	while ((h = *at)) {
		const struct tacho_record *w = &h->record;
		uint32_t its = context_of(w);
		bool is_its = slot->caller && !r->lost && r->pid == w->pid &&
			      context == its;

		if (!same_lane(w, r) || (context > its && !r->lost)) {
			at = &h->next_waiting;
			continue;
		}
		stop_waiting(q, at, is_its);
		if (is_its) {
			take_stack(q, h, r, slot->caller);
			found = h;
		}
	}
	return found;
}

/* ---- the queue --------------------------------------------------------------- */

/* NULL: no memory; the record is processed immediately, out of order. */
static struct query_held *hold(struct tacho_query *q, const struct query_run *run,
			       bool waits)
{
	const struct tacho_record *r = run->record;
	struct query_held *h = malloc(sizeof(*h) + r->len), **at;

	if (!h)
		return NULL;
	*h = (struct query_held){
		.record = *r, .source = run->source, .event = run->event,
		.kind = run->kind, .time = run->time, .waits = waits,
	};
	memcpy(h->raw, r->raw, r->len);
	h->record.raw = h->raw;
	*q->held_last = h;
	q->held_last = &h->next;
	q->nr_held++;
	q->held_bytes += sizeof(*h) + r->len;
	for (at = &q->waiting; waits && *at; at = &(*at)->next_waiting)
		;
	if (waits)
		*at = h;
	return h;
}

static void run_held(struct tacho_query *q, const struct query_held *h)
{
	struct query_run run = {
		.record = &h->record, .source = h->source, .event = h->event,
		.kind = h->kind, .time = h->time, .nr_stack = h->nr_stack,
		.stack = h->nr_stack ? h->stack : NULL,
		.stack_record = h->stack_record, .is_kept = h->is_kept,
	};

	(void)query_run(q, &run);
}

/* Removes the first record from the queue and processes it. */
static void next_held(struct tacho_query *q, bool leave_out)
{
	struct query_held *h = q->held;

	if (!leave_out)
		run_held(q, h);
	q->held = h->next;
	if (!q->held)
		q->held_last = &q->held;
	q->nr_held--;
	q->held_bytes -= sizeof(*h) + h->record.len;
	free(h);
}

static void advance(struct tacho_query *q)
{
	while (q->held && (q->nr_held > HELD_MAX || q->held_bytes > HELD_BYTES ||
			   !q->held->waits)) {
		/* the first of the queue waits longest: it is the first here */
		if (q->held->waits)
			stop_waiting(q, &q->waiting, false);
		next_held(q, false);
	}
}

/*
 * Keeps an event's stack with it, unless something of its CPU is between them: a
 * window's records of one CPU are in the order of time.
 */
static void keep_together(struct query_held *event, struct query_held *stack)
{
	for (const struct query_held *h = event->next; h != stack; h = h->next)
		if (h->record.source == stack->record.source &&
		    h->record.cpu == stack->record.cpu)
			return;
	if (event->record.cpu != stack->record.cpu)
		return;
	event->stack_record = stack;
	stack->is_kept = true;
}

void query_pair(struct tacho_query *q, const struct query_slot *slot,
		const struct query_run *run)
{
	struct query_held *of = q->waiting ? settle(q, slot, run->record) : NULL;
	struct query_held *h = NULL;
	bool wanted = run->event || run->kind || q->window;

	if (wanted && (q->held || slot->needs_stack))
		h = hold(q, run, slot->needs_stack);
	if (h && of && q->window)
		keep_together(of, h);
	advance(q);
	if (wanted && !h)
		(void)query_run(q, run);
}

void tacho_query_end(struct tacho_query *q)
{
	const struct tacho_source *s = tacho_stream_source(q->stream, 0);
	bool live = s && s->ops->live;

	q->nr_generated = q->next_generated = 0;
	while (q->held) {
		bool waits = q->held->waits;

		if (waits)
			stop_waiting(q, &q->waiting, false);
		q->stacks.missing -= waits && live;
		next_held(q, waits && live);
	}
}

void query_pair_release(struct tacho_query *q)
{
	struct query_held *next;

	for (struct query_held *h = q->held; h; h = next) {
		next = h->next;
		free(h);
	}
}

struct tacho_query_stacks tacho_query_stacks(const struct tacho_query *q)
{
	return q->stacks;
}
