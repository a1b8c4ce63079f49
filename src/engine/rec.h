/* SPDX-License-Identifier: MIT */
/*
 * rec.h - one event as the engine sees it, and the list of the engine's headers.
 *
 * The engine is a pure library: (event type, record, program) -> decision, map
 * update, actions.  The same code runs inside a traced program, on the live kernel stream and on
 * a trace file; only the code that fills in struct tacho_rec and struct tacho_names differs.
 *
 *	names.h		symbols, system calls, thread names, user memory
 *	errlog.h	errors with a caret, as the kernel's error_log
 *	filter.h	"prio > 5 && comm ~ "*sh"": text -> program -> yes or no
 *	hist_spec.h	"hist:keys=pid:vals=...": text -> tree -> text
 *	map.h		the table of a histogram: fixed size, lock-free, shared
 *	hist.h		a histogram at work: keys, values, variables, actions
 *	hist_print.h	its contents as the kernel prints them, JSON, a chart
 *	synth.h		synthetic events: text -> type -> raw event
 *	trigger.h	"command[:count] [if filter]": text -> trigger
 *	engine.h	an instance: events, their filters and triggers
 *
 * Memory: compiling allocates from the caller's struct tacho_arena; running allocates nothing.
 */
#ifndef TACHO_ENGINE_REC_H
#define TACHO_ENGINE_REC_H

#include <stdint.h>

struct tacho_names;

/* One hit.  Borrowed; valid during the call that it is passed to. */
struct tacho_rec {
	const unsigned char *raw;	/* raw event: common fields, then fields */
	uint32_t len;
	uint32_t cpu;			/* UINT32_MAX: not known */
	uint64_t time;			/* ns: common_timestamp */
	int32_t pid;			/* thread id */
	uint32_t nr_stack;
	const uint64_t *stack;		/* call stack of the hit, innermost first; or NULL */
	const struct tacho_names *names;	/* never NULL */
};

#endif
