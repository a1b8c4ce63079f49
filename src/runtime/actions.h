/* SPDX-License-Identifier: MIT */
/*
 * actions.h - filters and triggers inside the traced program.
 *
 * 1. What there is
 *
 *	A session's commands are text (abi/shm.h).  For each event that has any, the
 *	process compiles them to a struct runtime_actions: once when the event is registered,
 *	and again at a hit after the session's seq has changed.  Compiled actions are
 *	private and immutable; what changes at run time is stored elsewhere:
 *
 *		shared	soft switches, counts, histograms
 *		private	nothing
 *
 *	So nothing that others write is ever executed, and a hit reads one word
 *	(seq) to know that its actions are current.
 *
 *	commands seq --> actions[event] --> filter
 *	                                --> triggers --> filter, soft word, histogram
 *	                                                 histogram --> synthetic event,
 *	                                                               with actions of its own
 *
 * 2. Compiling
 *
 *	A hit may be in a signal handler.  So the compiler takes memory from a private
 *	mapping (never malloc), and there is one lock per session, which is only tried.  A
 *	thread that does not get it uses the old actions; if there are none it decides by the
 *	rules alone, and the hit is counted.  New actions are published by one release store.
 *	Old ones are never freed, as other threads may be using them: some hundred bytes for
 *	each event and each change that a user makes to a session while the program runs.
 *	A process with a seccomp filter keeps the actions that it had before.
 *
 *	A histogram may refer to one on an event that no process has announced yet (a later
 *	library, another process).  The actions are compiled without it, never count as
 *	current, and are compiled again when there are more events than there were.
 *
 *	A command that does not compile for an event does not apply to it: a glob
 *	may cover events without the field.  One that does not compile for lack of memory is
 *	counted, and the event is recorded as if it had none.
 *
 *	Stack (measured in a signal handler, gcc -O2; tests/runtime/test_program.c): a
 *	filter runs in 0.5 KiB, 1.5 KiB if it follows pointers; a histogram that makes
 *	a synthetic event and a stack trace in 4 KiB, each further level of
 *	synthetic events in 3 KiB more.  Compiling takes 4 KiB.
 *
 * 3. A hit, in the kernel's order (engine/engine.h)
 *
 *	E1  triggers whose filter passes, the newest first, except those of E3 and E4
 *	E2  recorded: enabled or its soft switch on, and its filter passes
 *	E3  histograms whose filter passes, the oldest first; then event probes
 *	E4  stacktrace, traceoff
 *
 *	Most actions are one histogram of numbers that the event has, and nothing
 *	else (`count`): E2 and E3 alone, in a few instructions.  Writing the record first
 *	is also faster: the clock of the next step waits for no counter.
 *
 *	No step is locked, so a handler that interrupts a hit may do all of them.
 *	Synthetic events of synthetic events go TACHO_ENGINE_DEPTH deep.
 */
#ifndef TACHO_RUNTIME_ACTIONS_H
#define TACHO_RUNTIME_ACTIONS_H

#include <sched.h>

#include "base/atomic.h"
#include "engine/filter.h"
#include "engine/hist.h"
#include "engine/trigger.h"
#include "runtime/runtime.h"
#include "session/compile.h"
#include "sys/sequence.h"

/* A histogram that enable_hist and disable_hist switch. */
struct runtime_target {
	struct runtime_target *next;
	struct tacho_hist *hist;
};

struct tacho_eprobe;

/* An event probe on an event: its generated event, and the actions of that event. */
struct runtime_eprobe {
	const struct tacho_eprobe *eprobe;
	const struct runtime_actions *program;
};

struct runtime_trigger {
	enum tacho_trigger_cmd cmd;
	uint32_t serial;
	const struct tacho_filter *filter;	/* NULL: always */
	struct tacho_command *command;		/* shared: its count */
	uint32_t *soft;				/* shared: its target; or NULL */
	struct tacho_hist *hist;
	struct runtime_target *targets;
	const struct runtime_eprobe *eprobe;	/* an event probe: run in E3; cmd is unused */
};

struct runtime_actions {
	uint32_t seq;		/* of the commands that it was compiled from */
	uint32_t id;		/* of a synthetic event: its type in the session */
	const struct tacho_filter *filter;
	const uint32_t *soft;	/* shared: its switch; NULL: not a target */
	bool enabled;
	bool looks;		/* some trigger uses the record, or runs after it */
	bool post;		/* some trigger runs in E4 */
	/* needed by a histogram, or by one of a generated synthetic event */
	bool needs_time;
	bool needs_stack;
	bool tells;		/* some command needs stacks or functions */
	bool partial;		/* a hist refers to an unknown event; seq is odd */
	uint64_t known;		/* partial: the events known when it was compiled */
	uint32_t nr_triggers;
	struct runtime_trigger *trigger;	/* the oldest first */
	/* the only action, if it is a tacho_hist_is_plain() histogram without a filter; or NULL */
	struct tacho_hist *count;
};

/* The place of a hit. */
struct runtime_place {
	const void *frame;	/* its frame pointer chain; NULL: not known */
	const void *pc;		/* the return address into the site */
};

/* The current actions of an event of s; NULL: see section 2. */
const struct runtime_actions *tacho_actions_recompile(struct runtime_session *s,
						uint32_t index);

static inline const struct runtime_actions *
tacho_actions_get(struct runtime_session *s, uint32_t index)
{
	/* what it points to is complete: [actions] */
	const struct runtime_actions *p = tacho_load_acquire(&s->actions[index]);

	if (tacho_likely(p && p->seq ==
			      tacho_load_relaxed(&s->view.commands->seq)))
		return p;
	return tacho_actions_recompile(s, index);
}

/*
 * Compiles the actions of events [first, last] that have commands, before the program enters a
 * sandbox, and so that the first hit need not.
 */
void tacho_actions_prepare(struct runtime_session *s, uint32_t first,
			   uint32_t last);

/*
 * One hit of an event: E1 to E4.  raw is the event with its common fields, len its
 * bytes (room for a multiple of 8).  index is the event's, p its actions or NULL.
 * Returns 0, or -ESHUTDOWN when the session is not recording.
 */
int tacho_actions_hit(struct runtime_session *s, const struct runtime_actions *p,
		      uint32_t index, const uint64_t *raw, size_t len,
		      const struct runtime_place *place);

/* ---- compile.c, for actions.c ---- */

/*
 * Compiles the actions of event index; NULL without memory.  The session's
 * lock is held.
 */
struct runtime_actions *tacho_actions_compile(struct runtime_session *s,
					    uint32_t index);

/* A number that changes when this process or the session adds an event. */
uint64_t tacho_actions_known(const struct runtime_session *s);

/* ---- callbacks of histograms; arg is their struct tacho_compile ---- */

void tacho_actions_synth(void *arg, const struct tacho_synth *synth,
			 const struct tacho_synth_value *value,
			 const struct tacho_rec *cause);
void tacho_actions_snapshot(void *arg, const struct tacho_rec *cause);

/* ---- stack.c ---- */

#define RUNTIME_STACK_MAX	64

/*
 * Copies return addresses from place on, innermost first; returns their number.  Follows frame
 * pointers, so code compiled without them ends the walk early.  Memory is read by system calls,
 * so that a corrupt stack cannot cause a fault.
 */
uint32_t tacho_stack_walk(const struct runtime_place *place, uint64_t *addr,
			  uint32_t max);

/*
 * Copies up to size bytes at addr of this process's memory, at most to the end of the page.
 * Returns the number of bytes; 0: not mapped.
 */
size_t tacho_memory_copy(uint64_t addr, void *to, size_t size);

/* ---- objects.c ---- */

/*
 * Writes the current code mappings to a session (session/objects.h).  False: another thread is
 * doing so; failures are counted.  Any context.
 */
bool tacho_objects_tell(struct runtime_session *s);

/*
 * Called before a stack of n addresses is written: announces the mappings if an address is in an
 * object that was not announced.  Any context; one system call for each library in the stack.
 */
void tacho_objects_check(struct runtime_session *s, const uint64_t *addr,
			 uint32_t n);

/* Called after an object was loaded: writes the mappings again to all sessions that have them. */
void tacho_objects_loaded(void);

/* Called after fork, in the child: the parent's mappings also apply to the child. */
void tacho_objects_fork(int32_t parent);

/* The engine's callbacks for this process. */
extern const struct tacho_names tacho_probe_names;

/* ---- inline parts of emit.c ---- */

static TACHO_ALWAYS_INLINE uint32_t tacho_actions_cpu(void)
{
#ifdef TACHO_HAVE_RSEQ
	/* also for a thread without sequences: its cpu is negative */
	uint32_t cpu = tacho_rseq_cpu(tacho_rseq_area());

	if (tacho_likely((int32_t)cpu >= 0))
		return cpu;
#endif
	return (uint32_t)sched_getcpu();
}

static TACHO_ALWAYS_INLINE void
tacho_actions_rec(struct tacho_rec *rec, const uint64_t *raw, size_t len)
{
	rec->raw = (const unsigned char *)raw;
	rec->len = (uint32_t)len;
	rec->cpu = tacho_actions_cpu();
	rec->time = 0;
	rec->pid = tacho_self.tid;
	rec->nr_stack = 0;
	rec->stack = NULL;
	rec->names = &tacho_probe_names;
}

/* E3 without its filter. */
static TACHO_ALWAYS_INLINE bool
tacho_actions_enabled(const struct runtime_actions *p)
{
	return p->soft ? !tacho_load_relaxed(p->soft) : p->enabled;
}

/* E2 of actions without triggers: whether the event is recorded. */
static TACHO_ALWAYS_INLINE bool
tacho_actions_takes(const struct runtime_actions *p, const uint64_t *raw,
		    size_t len)
{
	struct tacho_rec rec;

	if (!tacho_actions_enabled(p) || !p->filter)
		return tacho_actions_enabled(p);
	tacho_actions_rec(&rec, raw, len);
	return tacho_filter_run(p->filter, &rec);
}

#endif
