// SPDX-License-Identifier: MIT
/* Hits of events with commands, and recompiling their actions. */
#include "runtime/actions.h"

#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "engine/engine.h"
#include "engine/eprobe.h"
#include "ring/write.h"
#include "session/proc.h"
#include "sys/clock.h"

/* Synthetic events up to this size are built on the stack. */
#define SYNTH_STACK	512

/* ---- the current actions ---- */

const struct runtime_actions *tacho_actions_recompile(struct runtime_session *s,
						uint32_t index)
{
	struct runtime_actions *old = tacho_load_acquire(&s->actions[index]);	/* [actions] */
	uint32_t seq = tacho_load_relaxed(&s->view.commands->seq);
	struct runtime_actions *p;
	uint32_t idle = 0;

	/* commands are being edited: the old actions are used until the edit ends */
	if (old && seq & 1)
		return old;
	if (old && old->partial && old->seq == (seq | 1) &&
	    old->known == tacho_actions_known(s))
		return old;
	if (!tacho_attach_may_map() ||
	    !tacho_cas_acq_rel(&s->compiling, &idle, 1)) {	/* [compiling] */
		if (!old)
			(void)tacho_add_relaxed(&tacho_runtime.proc->lost_program, 1);
		return old;
	}
	p = tacho_actions_compile(s, index);
	/* before the first hit that may need it */
	if (p && p->tells && !tacho_load_relaxed(&s->tells))
		(void)tacho_objects_tell(s);
	TACHO_INJECT(program_compiled);
	if (p)
		tacho_store_release(&s->actions[index], p);	/* [actions] */
	if (p && p->partial)
		tacho_store_relaxed(&s->partial, true);
	tacho_store_release(&s->compiling, 0);	/* [compiling] */
	return p ? p : old;
}

/* Recompiles actions that refer to an event that is now known. */
static void recompile_partial(struct runtime_session *s, uint32_t last)
{
	for (uint32_t i = 1; i <= last; i++) {
		/* [actions] */
		const struct runtime_actions *p = tacho_load_acquire(&s->actions[i]);

		if (p && p->partial)
			(void)tacho_actions_recompile(s, i);
	}
}

void tacho_actions_prepare(struct runtime_session *s, uint32_t first,
			   uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		if (tacho_load_relaxed(&tacho_procmap_state(i)->program) & s->mask)
			(void)tacho_actions_get(s, i);
	if (tacho_load_relaxed(&s->partial))
		recompile_partial(s, last);
}

/* Recompiles all actions unconditionally. */
static void recompile_all(struct runtime_session *s)
{
	uint32_t n = tacho_load_relaxed(&tacho_runtime.proc->nr_events);

	for (uint32_t i = 1; i <= n; i++)
		if (tacho_load_relaxed(&s->actions[i]))
			(void)tacho_actions_recompile(s, i);
}

void tacho_actions_loaded(void)
{
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++) {
		/* [session] */
		struct runtime_session *s = tacho_load_acquire(&tacho_runtime.session[bit]);

		if (s && tacho_load_relaxed(&tacho_runtime.functions))
			recompile_all(s);
	}
}

/* ---- a hit ---- */

struct hit {
	struct runtime_session *s;
	const struct runtime_actions *p;
	const struct runtime_place *place;	/* NULL: a synthetic event */
	struct tacho_rec rec;
};

/* The clock's own value in ns. */
static uint64_t clock_ns(const struct runtime_session *s)
{
	__extension__ typedef unsigned __int128 u128;
	uint64_t ticks = tacho_clock_read(s->view.ring.clock);

	return ticks * s->ns_whole + (uint64_t)((u128)ticks * s->ns_part >> 64);
}

/* Decrements a trigger's count; false: no hits are left. */
static bool take_count(const struct runtime_trigger *t)
{
	uint64_t *left = &t->command->left;
	uint64_t n = tacho_load_relaxed(left);

	do {
		if (n == UINT64_MAX)
			return true;
		/* none left; or the slot has another command now */
		if (!n || tacho_load_relaxed(&t->command->serial) != t->serial)
			return false;
	} while (!tacho_cas_acq_rel(left, &n, n - 1));
	return true;
}

static void switch_session(struct runtime_session *s,
			   const struct runtime_trigger *t, bool on)
{
	uint32_t from = on ? TACHO_STATE_STOPPED : TACHO_STATE_RECORDING;

	/* a hit that changes nothing does not count */
	if (tacho_load_relaxed(&s->view.ctl->state) == from && take_count(t))
		tacho_view_run(&s->view, on);
}

static void switch_soft(const struct runtime_trigger *t, uint32_t disabled)
{
	if (!tacho_load_relaxed(t->soft) != !disabled && take_count(t))
		tacho_store_relaxed(t->soft, disabled);
}

static void switch_hists(const struct runtime_trigger *t, bool paused)
{
	const struct runtime_target *target;

	if (!t->targets || tacho_hist_paused(t->targets->hist) == paused ||
	    !take_count(t))
		return;
	for (target = t->targets; target; target = target->next)
		tacho_hist_pause(target->hist, paused);
}

#define STACK_TYPE(name, offset, size)					\
	"\tfield:" name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:"

/* The type of the event that a stacktrace trigger writes. */
static const char stack_type[] =
	"tacho:user_stack\nformat:\n"
	STACK_TYPE("unsigned short common_type", 0, 2) "0;\n"
	STACK_TYPE("unsigned char common_flags", 2, 1) "0;\n"
	STACK_TYPE("unsigned char common_preempt_count", 3, 1) "0;\n"
	STACK_TYPE("int common_pid", 4, 4) "1;\n\n"
	STACK_TYPE("__data_loc unsigned long[] caller", 8, 4) "0;\n\n"
	"print fmt: \"<user stack trace>\\n%s\", __get_stacktrace(caller)\n";

static TACHO_NOINLINE void write_stack(struct runtime_session *s,
				       const struct runtime_place *place)
{
	uint64_t raw[2 + RUNTIME_STACK_MAX];
	uint32_t n = place ? tacho_stack_walk(place, raw + 2, RUNTIME_STACK_MAX) : 0;
	int id = (int)tacho_load_relaxed(&s->stack_id);

	if (n)
		tacho_objects_check(s, raw + 2, n);
	if (n && !id) {
		id = tacho_types_add(&s->view, stack_type, sizeof(stack_type) - 1);
		if (id > 0)
			tacho_store_relaxed(&s->stack_id, (uint32_t)id);
	}
	raw[0] = tacho_self.common | TACHO_COMMON_TYPE((uint64_t)id);
	raw[1] = 16 | n * 8 << 16;
	if (!n || id <= 0 || tacho_ring_write(&s->view.ring, raw, 2 + n))
		(void)tacho_add_relaxed(&tacho_runtime.proc->lost_stack, 1);
}

static void run_eprobe(const struct hit *h, const struct runtime_eprobe *made);

static void run_trigger(const struct hit *h, const struct runtime_trigger *t)
{
	if (t->eprobe) {
		run_eprobe(h, t->eprobe);
		return;
	}
	switch (t->cmd) {
	case TACHO_TRIGGER_TRACEON:
	case TACHO_TRIGGER_TRACEOFF:
		switch_session(h->s, t, t->cmd == TACHO_TRIGGER_TRACEON);
		break;
	case TACHO_TRIGGER_SNAPSHOT:
		if (take_count(t))
			(void)tacho_view_snapshot(&h->s->view);
		break;
	case TACHO_TRIGGER_STACKTRACE:
		if (take_count(t))
			write_stack(h->s, h->place);
		break;
	case TACHO_TRIGGER_ENABLE_EVENT:
	case TACHO_TRIGGER_DISABLE_EVENT:
		switch_soft(t, t->cmd == TACHO_TRIGGER_DISABLE_EVENT);
		break;
	case TACHO_TRIGGER_ENABLE_HIST:
	case TACHO_TRIGGER_DISABLE_HIST:
		switch_hists(t, t->cmd == TACHO_TRIGGER_DISABLE_HIST);
		break;
	case TACHO_TRIGGER_HIST:
	default:
		tacho_hist_hit(t->hist, &h->rec);
		break;
	}
}

enum phase { E1, E3, E4 };

/* A snapshot contains the event if the record was written before E1, as in the kernel. */
static enum phase phase_of(const struct runtime_actions *p, const struct runtime_trigger *t)
{
	if (t->cmd == TACHO_TRIGGER_STACKTRACE || t->cmd == TACHO_TRIGGER_TRACEOFF ||
	    (t->cmd == TACHO_TRIGGER_SNAPSHOT && p->looks))
		return E4;
	return t->hist || t->eprobe ? E3 : E1;
}

static void run_phase(const struct hit *h, const struct runtime_trigger *t,
		      enum phase phase)
{
	if (phase_of(h->p, t) == phase &&
	    (!t->filter || tacho_filter_run(t->filter, &h->rec)))
		run_trigger(h, t);
}

static void run_newest_first(const struct hit *h, enum phase phase)
{
	for (uint32_t i = h->p->nr_triggers; i--;)
		run_phase(h, &h->p->trigger[i], phase);
}

static void run_oldest_first(const struct hit *h, enum phase phase)
{
	for (uint32_t i = 0; i < h->p->nr_triggers; i++)
		run_phase(h, &h->p->trigger[i], phase);
}

static bool is_recording(const struct runtime_session *s)
{
	return tacho_load_relaxed(&s->view.ctl->state) == TACHO_STATE_RECORDING;
}

/*
 * E1; returns whether the event is recorded if it passes its filter.  If some trigger uses the
 * record, it is written before E1, so tracing must have been on; otherwise an event that enables
 * itself is recorded from its next hit on.
 */
static bool run_before(const struct hit *h)
{
	bool enabled = tacho_actions_enabled(h->p);
	bool recording = is_recording(h->s);

	run_newest_first(h, E1);
	if (h->p->looks)
		return recording && tacho_actions_enabled(h->p);
	return enabled && tacho_actions_enabled(h->p) && is_recording(h->s);
}

/* E1 to E4. */
static int run_hit(struct hit *h, const uint64_t *raw)
{
	const struct runtime_actions *p = h->p;
	int err = 0;

	if (run_before(h) &&
	    (!p->filter || tacho_filter_run(p->filter, &h->rec)))
		err = tacho_ring_write(&h->s->view.ring, raw,
				       (h->rec.len + 7) / 8);
	run_oldest_first(h, E3);
	if (p->post)
		run_newest_first(h, E4);
	return err;
}

/* As run_hit(), with the stack that a histogram needs. */
static TACHO_NOINLINE int run_hit_stack(struct hit *h, const uint64_t *raw)
{
	uint64_t stack[TACHO_HIST_STACK];

	h->rec.stack = stack;
	h->rec.nr_stack = h->place ?
			  tacho_stack_walk(h->place, stack, TACHO_HIST_STACK) : 0;
	tacho_objects_check(h->s, stack, h->rec.nr_stack);
	return run_hit(h, raw);
}

static int run_actions(struct hit *h, const uint64_t *raw, size_t len)
{
	const struct runtime_actions *p = h->p;

	tacho_actions_rec(&h->rec, raw, len);
	if (p->needs_time)
		h->rec.time = clock_ns(h->s);
	if (p->needs_stack)
		return run_hit_stack(h, raw);
	return run_hit(h, raw);
}

/* Decides by the rules, if there are no actions and none can be compiled now. */
static TACHO_COLD bool rules_enable(const struct runtime_session *s, uint32_t index)
{
	char name[TACHO_RULE_MAX];
	uint32_t len;
	const char *text = tacho_procmap_text(index, &len);

	tacho_type_text_name(text, len, name, sizeof(name));
	return tacho_view_decide(&s->view, name, tacho_runtime.pid).enabled;
}

int tacho_actions_hit(struct runtime_session *s, const struct runtime_actions *p,
		      uint32_t index, const uint64_t *raw, size_t len,
		      const struct runtime_place *place)
{
	struct hit h = { .s = s, .p = p, .place = place };
	uint32_t depth = tacho_self.depth;
	int err;

	if (!p || !p->nr_triggers) {
		if (p ? !tacho_actions_takes(p, raw, len)
		      : !rules_enable(s, index))
			return 0;
		return tacho_ring_write(&s->view.ring, raw, (len + 7) / 8);
	}
	/* a handler's hits do not count as nested in the interrupted hit */
	tacho_self.depth = 0;
	err = run_actions(&h, raw, len);
	tacho_self.depth = depth;
	return err;
}

/* ---- callbacks of histograms ---- */

void tacho_actions_snapshot(void *arg, const struct tacho_rec *cause)
{
	const struct tacho_compile *c = arg;

	(void)cause;
	(void)tacho_view_snapshot(c->view);
}

/* A synthetic event is a hit like any other. */
static void hit_synth(struct runtime_session *s, const struct runtime_actions *p,
		      uint64_t *raw, uint32_t len, const struct tacho_rec *cause)
{
	struct hit h = { .s = s, .p = p };

	if (tacho_self.depth >= TACHO_ENGINE_DEPTH) {
		(void)tacho_add_relaxed(&s->view.commands->too_deep, 1);
		return;
	}
	raw[0] = tacho_self.common | TACHO_COMMON_TYPE((uint64_t)p->id);
	/* whole words are written */
	memset((char *)raw + len, 0, -len & 7);
	tacho_self.depth++;
	tacho_actions_rec(&h.rec, raw, len);
	h.rec.time = cause->time;
	h.rec.stack = cause->stack;
	h.rec.nr_stack = cause->nr_stack;
	(void)run_hit(&h, raw);
	tacho_self.depth--;
}

/* ---- event probes ---- */

static void run_eprobe(const struct hit *h, const struct runtime_eprobe *made)
{
	const struct runtime_actions *p = made->program;
	uint64_t small[SYNTH_STACK / 8];
	bool is_small = made->eprobe->most <= sizeof(small);
	uint64_t *raw = is_small ? small : tacho_scratch_take();
	uint32_t len = 0;

	if (raw && (p->nr_triggers || tacho_actions_enabled(p)))
		len = tacho_eprobe_raw(made->eprobe, &h->rec, (unsigned char *)raw,
				       made->eprobe->most);
	if (len)
		hit_synth(h->s, p, raw, len, &h->rec);
	else if (!raw)
		tacho_ring_lose(&h->s->view.ring, TACHO_LOSS_BUSY);
	if (raw && !is_small)
		tacho_scratch_put(raw);
}

/* ---- synthetic events ---- */

static const struct runtime_actions *synth_program(const struct tacho_compile *c,
						 const struct tacho_synth *synth)
{
	const struct tacho_made_synth *s = c->synths;

	while (s && s->synth != synth)
		s = s->next;
	return s ? s->program : NULL;
}

void tacho_actions_synth(void *arg, const struct tacho_synth *synth,
			 const struct tacho_synth_value *value,
			 const struct tacho_rec *cause)
{
	const struct tacho_compile *c = arg;
	const struct runtime_actions *p = synth_program(c, synth);
	struct runtime_session *s = c->owner;
	uint64_t small[SYNTH_STACK / 8];
	uint64_t *raw = small;
	uint32_t len;

	if (!p || (!p->nr_triggers && !tacho_actions_enabled(p)))
		return;
	len = tacho_synth_raw(synth, cause->pid, value, (unsigned char *)small,
			      sizeof(small));
	if (!len) {
		raw = tacho_scratch_take();
		len = raw ? tacho_synth_raw(synth, cause->pid, value,
					    (unsigned char *)raw,
					    TACHO_RAW_MAX) : 0;
	}
	if (len)
		hit_synth(s, p, raw, len, cause);
	else
		tacho_ring_lose(&s->view.ring, TACHO_LOSS_BUSY);
	if (raw != small)
		tacho_scratch_put(raw);
}
