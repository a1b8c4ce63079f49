// SPDX-License-Identifier: MIT
/* The critical path of one interval, as a tree, and its leaves by cause. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain_priv.h"

/* Page faults are named as a cause if there is one in so many ns of running, or more. */
#define FAULT_NS	20000u

#define NAMES_MAX	64u	/* different names of a running interval; the rest is one */

/* What is being built: nodes of one level. */
struct path {
	struct explain *e;
	const struct explain_subject *subject;
	const struct app_explain_node **tail;
	const char *chain;	/* "futex <- owner (12): ", for causes; "" at the top */
	uint32_t depth;
};

/* Time by name. */
struct name_times {
	struct {
		const char *name;
		uint64_t ns;
	} of[NAMES_MAX];
	uint32_t nr;
};

static void add_time(struct name_times *t, const char *name, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < t->nr; i++)
		if (!strcmp(t->of[i].name, name))
			break;
	if (i == NAMES_MAX)
		i = NAMES_MAX - 1;
	if (i == t->nr)
		t->of[t->nr++].name = name;
	t->of[i].ns += ns;
}

static uint64_t time_of(const struct name_times *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (!strcmp(t->of[i].name, name))
			return t->of[i].ns;
	return 0;
}

static struct app_explain_node *add_node(struct path *p, enum app_explain_kind kind,
					 uint64_t begin, uint64_t end, const char *what,
					 const char *cause)
{
	struct app_explain_node *node = tacho_arena_alloc(&p->e->arena, sizeof(*node));

	if (!node) {
		p->e->failed = true;
		return NULL;
	}
	*node = (struct app_explain_node){ .kind = kind, .begin = begin, .end = end,
					   .what = what, .cause = cause };
	*p->tail = node;
	p->tail = &node->next;
	return node;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- running ---- */

/* The innermost call of a thread at a time, but for the subject itself; NULL: none. */
static const struct explain_item *call_at(const struct path *p, uint32_t thread, uint64_t time)
{
	const struct explain_track *t = &p->e->track[thread];
	const struct explain_list *list = &p->e->slices;
	const struct explain_item *best = NULL;

	if (!t->calls)
		return NULL;
	for (size_t i = explain_find(list, t->calls, time); i < list->nr; i++) {
		const struct explain_item *s = &list->item[i];

		if (s->track != t->calls || s->begin > time)
			break;
		if (s->end <= time ||
		    (s->begin == p->subject->begin && s->end == p->subject->end &&
		     !strcmp(s->name, p->subject->name)))
			continue;
		if (!best || s->depth >= best->depth)
			best = s;
	}
	return best;
}

/* The next time after `time` at which the innermost call of a thread may change. */
static uint64_t next_change(const struct path *p, uint32_t thread, uint64_t time, uint64_t limit)
{
	const struct explain_track *t = &p->e->track[thread];
	const struct explain_list *list = &p->e->slices;
	uint64_t next = limit;

	if (!t->calls)
		return limit;
	for (size_t i = explain_find(list, t->calls, time); i < list->nr; i++) {
		const struct explain_item *s = &list->item[i];

		if (s->track != t->calls || s->begin >= next)
			break;
		if (s->begin > time)
			next = s->begin;
		else if (s->end > time && s->end < next)
			next = s->end;
	}
	return next;
}

static const char *running_name(struct path *p, const struct explain_item *call)
{
	if (!call)
		return "user code";
	return strcmp(call->category, "syscall") ?
	       explain_text(p->e, "%s (%s)", call->name, call->category) : call->name;
}

/* Counts the page faults of a running interval, by innermost call. */
static uint64_t count_faults(struct path *p, uint32_t thread, uint64_t begin, uint64_t end,
			     struct name_times *by_name)
{
	const struct explain_list *list = &p->e->instants;
	uint32_t track = p->e->track[thread].calls;
	uint64_t n = 0;

	if (!track)
		return 0;
	for (size_t i = explain_find(list, track, begin); i < list->nr; i++) {
		const struct explain_item *s = &list->item[i];

		if (s->track != track || s->begin > end)
			break;
		if (s->begin < begin || strcmp(s->category, "fault"))
			continue;
		add_time(by_name, running_name(p, call_at(p, thread, s->begin)), 1);
		n++;
	}
	return n;
}

/* A running interval: leaves by innermost call. */
static void add_running(struct path *p, uint32_t thread, const struct explain_item *state,
			uint64_t begin, uint64_t end)
{
	struct name_times times = { 0 }, faults = { 0 };
	const struct app_explain_node **tail;
	struct app_explain_node *node;
	uint64_t at = begin;

	node = add_node(p, APP_EXPLAIN_RUNNING, begin, end,
			explain_text(p->e, "running on CPU %u", state->cpu), NULL);
	if (!node)
		return;
	node->faults = count_faults(p, thread, begin, end, &faults);
	node->uncertain = state->flags & MODEL_UNCERTAIN;
	for (uint64_t next; at < end; at = next) {
		next = next_change(p, thread, at, end);
		add_time(&times, running_name(p, call_at(p, thread, at)), next - at);
	}
	tail = p->tail;
	p->tail = &node->child;
	at = begin;
	for (uint32_t i = 0; i < times.nr; i++) {
		const char *cause = explain_text(p->e, "%srunning: %s%s", p->chain,
						 times.of[i].name,
						 time_of(&faults, times.of[i].name) *
						 FAULT_NS > times.of[i].ns ?
						 ", with page faults" : "");

		(void)add_node(p, APP_EXPLAIN_RUNNING, at, at + times.of[i].ns,
			       times.of[i].name, cause);
		at += times.of[i].ns;
	}
	p->tail = tail;
}

/* ---- runnable ---- */

/* The CPU on which a thread runs next after a time; MODEL_NO_CPU: it does not. */
static uint32_t next_cpu(const struct path *p, uint32_t states, uint64_t time)
{
	const struct explain_list *list = &p->e->states;

	for (size_t i = explain_find(list, states, time); i < list->nr; i++) {
		const struct explain_item *s = &list->item[i];

		if (s->track != states)
			break;
		if (s->begin >= time && s->state == MODEL_RUNS)
			return s->cpu;
	}
	return MODEL_NO_CPU;
}

/* The threads that had a CPU in an interval, into list; returns how many. */
static uint32_t runners_on(struct path *p, uint32_t cpu, uint64_t begin, uint64_t end,
			   struct app_explain_runner *list)
{
	struct explain *e = p->e;
	uint32_t running = 0, nr = 0;

	for (uint32_t i = 0; i < e->nr_places && !running; i++)
		if (e->track[e->place[i]].kind == MODEL_CPU &&
		    e->track[e->place[i]].number == (int64_t)cpu)
			running = e->track[e->place[i]].states;
	if (!running)
		return 0;
	for (size_t i = explain_find(&e->slices, running, begin); i < e->slices.nr; i++) {
		const struct explain_item *s = &e->slices.item[i];
		const struct explain_track *t = &e->track[s->other];
		struct app_explain_runner one = { s->name, APP_EXPLAIN_NO_THREAD, 0 };

		if (s->track != running || s->begin >= end)
			break;
		if (s->end <= begin)
			continue;
		if (s->other)
			one = (struct app_explain_runner){ t->name[0] ? t->name : "?", t->number,
							   0 };
		one.ns = min(s->end, end) - max(s->begin, begin);
		explain_add_runner(list, &nr, &one);
	}
	return nr;
}

static const char *runnable_words(struct path *p, const struct explain_item *state, uint32_t cpu,
				  const struct app_explain_runner *list, uint32_t nr)
{
	const char *how = state->flags & MODEL_PREEMPTED ? "preempted" : "woken";
	uint32_t best = 0;

	for (uint32_t i = 1; i < nr; i++)
		if (list[i].ns > list[best].ns)
			best = i;
	if (!nr)
		return explain_text(p->e, "waiting for a CPU (%s)", how);
	if (list[best].number == APP_EXPLAIN_NO_THREAD)
		return explain_text(p->e, "waiting for a CPU (%s): CPU %u was %s", how, cpu,
				    list[best].name);
	return explain_text(p->e, "waiting for a CPU (%s): CPU %u ran %s (%" PRId64 ")", how, cpu,
			    list[best].name, list[best].number);
}

static void add_runnable(struct path *p, uint32_t thread, const struct explain_item *state,
			 uint64_t begin, uint64_t end)
{
	uint32_t cpu = next_cpu(p, p->e->track[thread].states, state->end);
	struct app_explain_runner list[EXPLAIN_RUNNERS], *own = NULL;
	uint32_t nr = cpu == MODEL_NO_CPU ? 0 : runners_on(p, cpu, begin, end, list);
	struct app_explain_node *node;

	node = add_node(p, APP_EXPLAIN_RUNNABLE, begin, end,
			runnable_words(p, state, cpu, list, nr),
			explain_text(p->e, "%swaiting for a CPU", p->chain));
	if (!node)
		return;
	node->uncertain = state->flags & MODEL_UNCERTAIN;
	if (!nr)
		return;
	own = tacho_arena_alloc(&p->e->arena, nr * sizeof(*own));
	if (!own) {
		p->e->failed = true;
		return;
	}
	memcpy(own, list, nr * sizeof(*own));
	node->runner = own;
	node->nr_runners = nr;
}

/* ---- blocked ---- */

static void add_states(struct path *p, uint32_t thread, uint64_t from, uint64_t to);

/* A request of a device that ended last in an interval that it overlaps; NULL: none. */
static const struct explain_item *request_in(const struct path *p, uint64_t begin, uint64_t end)
{
	const struct explain_list *list = &p->e->slices;
	const struct explain_item *best = NULL;

	for (uint32_t n = 0; n < p->e->nr_places; n++) {
		uint32_t t = p->e->place[n];

		if (p->e->track[t].kind != MODEL_DEVICE)
			continue;
		for (size_t i = explain_find(list, t, begin); i < list->nr; i++) {
			const struct explain_item *s = &list->item[i];

			if (s->track != t || s->begin > end)
				break;
			if (s->end >= begin && s->end <= end && (!best || s->end > best->end))
				best = s;
		}
	}
	return best;
}

/* The slice of an interrupt's track at a time; NULL: not known. */
static const struct explain_item *irq_at(const struct path *p, uint32_t track, uint64_t time)
{
	const struct explain_list *list = &p->e->slices;
	const struct explain_item *irq = NULL;

	for (size_t i = explain_find(list, track, time); i < list->nr; i++) {
		const struct explain_item *s = &list->item[i];

		if (s->track != track || s->begin > time)
			break;
		if (s->end >= time)
			irq = s;
	}
	return irq;
}

static bool is_timer(const struct explain_item *irq)
{
	return !strcmp(irq->name, "TIMER") || !strcmp(irq->name, "HRTIMER");
}

/* Whether the trace has interrupts of devices: one that it does not show is a timer's. */
static bool has_irqs(const struct explain *e)
{
	for (uint32_t i = 1; i < e->nr_tracks; i++)
		if (e->track[i].kind == MODEL_IRQ || e->track[i].kind == MODEL_SOFTIRQ)
			return true;
	return false;
}

static bool is_one_of(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

/* An interrupt that no slice shows, or of a timer, ended a call (NULL: none is known). */
static const char *time_out(const struct explain_item *call, bool sure)
{
	static const char *const sleeps[] = { "nanosleep", "clock_nanosleep" };
	static const char *const waits[] = {
		"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait",
		"epoll_pwait2", "futex", "futex_wait", "futex_waitv", "rt_sigtimedwait",
		"semtimedop", "mq_timedreceive", "mq_timedsend", "io_getevents",
		"io_pgetevents", "recvmmsg",
	};
	const char *name = call && !strcmp(call->category, "syscall") ? call->name : "";

	if (is_one_of(name, sleeps, sizeof(sleeps) / sizeof(sleeps[0])))
		return "a timer";
	if (!sure)
		return "an interrupt: a timer or device";
	return is_one_of(name, waits, sizeof(waits) / sizeof(waits[0])) ?
	       "a timer: the time-out" : "a timer";
}

/* What woke a thread that no thread woke; *which: the kind of the request, or "". */
static const char *irq_cause(struct path *p, const struct explain_item *state,
			     const struct explain_item *call, uint32_t waker, const char **which)
{
	const struct explain_item *irq = waker ? irq_at(p, waker, state->end) : NULL;
	const struct explain_item *request = NULL;

	/* a request that ended in this interrupt, or somewhere in the wait for a device */
	if (irq)
		request = request_in(p, irq->begin, state->end);
	if (!request && state->flags & MODEL_IO)
		request = request_in(p, state->begin, state->end);
	if (request) {
		if (request->name[0])
			*which = explain_text(p->e, ": %s", request->name);
		return explain_text(p->e, "device %s", p->e->track[request->track].name);
	}
	if (state->flags & MODEL_IO)
		return "a device";
	if (irq && !is_timer(irq))
		return explain_text(p->e, "interrupt %s", irq->name);
	return time_out(call, irq || has_irqs(p->e));
}

static const char *state_words(const struct explain_item *state)
{
	if (state->flags & MODEL_IO)
		return "waiting for a device";
	if (state->state == MODEL_UNINTERRUPTIBLE)
		return "blocked (uninterruptible)";
	return model_state_name((enum model_thread_state)state->state);
}

/* By a signal or a debugger: whatever the thread's call. */
static bool is_stopped(const struct explain_item *state)
{
	return state->state == MODEL_STOPPED || state->state == MODEL_TRACED;
}

/* The runnable state behind a blocked one, which knows the waker; NULL: not recorded. */
static const struct explain_item *wake_up(const struct path *p, const struct explain_item *state)
{
	const struct explain_list *list = &p->e->states;
	size_t i = (size_t)(state - list->item) + 1;

	if (i >= list->nr || list->item[i].track != state->track ||
	    list->item[i].state != MODEL_RUNNABLE || list->item[i].flags & MODEL_PREEMPTED)
		return NULL;
	return &list->item[i];
}

static void add_waker(struct path *p, struct app_explain_node *node, const char *in,
		      uint32_t waker, uint64_t begin, uint64_t end)
{
	struct explain *e = p->e;
	const char *name = explain_thread_name(e, e->track[waker].parent);
	struct path below = *p;

	node->what = explain_text(e, "%s, woken by %s", node->what, name);
	node->cause = NULL;
	below.tail = &node->child;
	below.chain = explain_text(e, "%s%s <- %s: ", p->chain, in, name);
	below.depth++;
	add_states(&below, e->track[waker].parent, begin, end);
	if (!node->child)
		node->cause = explain_text(e, "%s%s, woken by %s", p->chain, in, name);
}

static void add_blocked(struct path *p, uint32_t thread, const struct explain_item *state,
			uint64_t begin, uint64_t end)
{
	const struct explain_item *call = call_at(p, thread, begin), *woken = wake_up(p, state);
	const char *words = state_words(state);
	const char *in = call && !strcmp(call->category, "syscall") && !is_stopped(state) ?
			 call->name : words;
	uint32_t waker = woken ? woken->other : 0;
	struct app_explain_node *node;
	const char *why, *which = "";

	node = add_node(p, APP_EXPLAIN_BLOCKED, begin, end,
			explain_text(p->e, "%s%s%s", words, call ? " in " : "",
				     call ? call->name : ""), NULL);
	if (!node)
		return;
	node->uncertain = state->flags & MODEL_UNCERTAIN;
	if (waker && p->e->track[waker].kind == MODEL_STATE && p->depth < APP_EXPLAIN_DEPTH) {
		add_waker(p, node, in, waker, begin, end);
		return;
	}
	if (waker && p->e->track[waker].kind == MODEL_STATE)
		why = explain_text(p->e, "woken by %s",
				   explain_thread_name(p->e, p->e->track[waker].parent));
	else if (woken)
		why = irq_cause(p, state, call, waker, &which);
	else if (state->end >= p->e->result.last)
		why = "until the end of the trace";
	else
		why = "the wake-up was not recorded";
	node->what = explain_text(p->e, "%s, %s%s", node->what, why, which);
	/* all requests of a device are one cause: a call may need several kinds of them */
	node->cause = explain_text(p->e, "%s%s%s%s (%s)", p->chain, words, call ? " in " : "",
				   call ? call->name : "", why);
}

/* ---- a thread from one time to another ---- */

static void add_unknown(struct path *p, uint64_t begin, uint64_t end)
{
	(void)add_node(p, APP_EXPLAIN_UNKNOWN, begin, end, "unknown",
		       explain_text(p->e, "%sunknown", p->chain));
}

static void add_states(struct path *p, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct explain_track *t = &p->e->track[thread];
	const struct explain_list *list = &p->e->states;
	uint64_t at = from;

	for (size_t i = t->states ? explain_find(list, t->states, from) : list->nr;
	     i < list->nr && list->item[i].track == t->states && list->item[i].begin < to; i++) {
		const struct explain_item *s = &list->item[i];
		uint64_t begin = max(s->begin, from), end = min(s->end, to);

		if (begin > at)
			add_unknown(p, at, begin);
		if (s->state == MODEL_RUNS)
			add_running(p, thread, s, begin, end);
		else if (s->state == MODEL_RUNNABLE)
			add_runnable(p, thread, s, begin, end);
		else if (s->state == MODEL_UNKNOWN)
			add_unknown(p, begin, end);
		else
			add_blocked(p, thread, s, begin, end);
		at = end;
	}
	if (at < to)
		add_unknown(p, at, to);
}

/* ---- totals ---- */

static int add_totals(struct explain *e, struct explain_totals *t,
		      const struct app_explain_node *node)
{
	for (; node; node = node->next) {
		struct app_explain_total one = {
			.cause = node->cause ? node->cause : "", .ns = node->end - node->begin,
			.count = 1, .nr_runners = node->nr_runners,
			.runner = node->runner,
		};
		int err = node->child ? add_totals(e, t, node->child) :
					explain_totals_add(e, t, &one);

		if (err)
			return err;
	}
	return 0;
}

static int largest_first(const void *a, const void *b)
{
	const struct app_explain_total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->cause, y->cause);
}

static bool has_states(const struct explain *e, uint32_t thread, uint64_t from)
{
	uint32_t states = e->track[thread].states;

	return states && explain_find(&e->states, states, from) < e->states.nr;
}

int explain_path(struct explain *e, const struct explain_subject *s,
		 struct app_explain_subject *out)
{
	struct path p = { .e = e, .subject = s, .tail = &out->node, .chain = "" };
	struct explain_totals t = { 0 };
	int err;

	*out = (struct app_explain_subject){
		.name = s->name, .category = s->category, .begin = s->begin, .end = s->end,
		.flags = s->flags, .slow = s->slow,
		.thread = explain_thread_name(e, s->thread),
		.no_states = !s->thread || !has_states(e, s->thread, s->begin),
	};
	p.tail = &out->node;
	add_states(&p, s->thread, s->begin, s->end);
	if (e->failed)
		return -ENOMEM;
	err = add_totals(e, &t, out->node);
	explain_totals_name(e, &t);
	if (!err && t.nr)
		qsort(t.of, t.nr, sizeof(*t.of), largest_first);
	out->total = t.of;
	out->nr_totals = t.nr;
	return err || e->failed ? -ENOMEM : 0;
}
