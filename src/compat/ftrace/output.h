/* SPDX-License-Identifier: MIT */
/*
 * output.h - records as the text that the kernel's `trace` file shows.
 *
 * One struct tacho_output is one open `trace` or `trace_pipe`: it knows the
 * options, where names come from, and what has been printed already ("CPU 2
 * buffer started").  It appends to a buffer of the caller's:
 *
 *	tacho_output_header(&head, &config.options, out);	(not for trace_pipe)
 *	for each record in the order of time
 *		tacho_output_put(o, r, next, out);
 *
 *	            bash-1977    [000] dNh2.  4713.025312: name: text
 *	 <- name and thread    CPU ->  |||||  <- time       ^ event's text
 *	                               flags (event/context.h)
 *
 * What the kernel prints depends on the kernel here and there; `kernel` in the
 * config says which one is meant.
 *
 *	from	what
 *	6.13	a flag that was X is lazy rescheduling: l, b, L, B
 *	6.16	`fields` shows the symbol that a number lies in
 *	6.18	arguments of system calls above 9 have 0x before them
 *
 * What cannot be told from a record, and is printed differently:
 *	- hash-ptr: the kernel's hash of a pointer has a key that only it knows;
 *	  equal pointers have equal hashes here, too, by a key of the caller's;
 *	- `%p` of something inside the event: "(____ptrval____)";
 *	- strings at addresses that `env.string` does not know: the address.
 *
 * Nothing is allocated for a line but what the output buffer grows by; the
 * text of a thread and of a type are made once.
 *
 * One struct tacho_output is used by one thread at a time.
 */
#ifndef TACHO_COMPAT_FTRACE_OUTPUT_H
#define TACHO_COMPAT_FTRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/print.h"
#include "stream/clock.h"
#include "tacho/stream.h"

/* As in 6.12: TACHO_OUTPUT_KERNEL(6, 12). */
#define TACHO_OUTPUT_KERNEL(major, minor)	((uint32_t)(major) << 16 | (minor))

/*
 * The files of options/ that change what is printed, by their names with '_'
 * for '-'.  (record-cmd, stacktrace and userstacktrace change what is recorded.)
 */
struct tacho_output_options {
	bool annotate, bin, context_info, fields, hash_ptr, hex, irq_info,
	     latency_format, print_parent, printk_msg_only, raw, record_tgid,
	     sym_addr, sym_offset, sym_userobj, trace_printk, verbose;
};

/* What a new instance of the kernel's has. */
#define TACHO_OUTPUT_DEFAULTS \
	((struct tacho_output_options){ .annotate = true, \
		.context_info = true, .hash_ptr = true, .irq_info = true, \
		.print_parent = true, .trace_printk = true })

/*
 * The option of this name ("sym-addr"), or NULL: it is none that changes what is
 * printed.
 */
bool *tacho_output_option(struct tacho_output_options *options,
			  const char *name);

/*
 * How an output finds names for numbers.  Any call may be NULL.  Texts are
 * borrowed until the next call.
 */
struct tacho_output_names {
	void *arg;		/* handed to the calls */
	/* A thread's name, or NULL: "<...>".  Not asked for thread 0, "<idle>". */
	const char *(*comm)(void *arg, int32_t pid);
	/* A thread's process; 0: not known. */
	int32_t (*tgid)(void *arg, int32_t pid);
	/*
	 * The file that is mapped at addr in process tgid and the address at
	 * which that mapping begins, for sym-userobj; NULL: not known.
	 */
	const char *(*object)(void *arg, int32_t tgid, uint64_t addr,
			      uint64_t *start);
	/*
	 * "system.event" that a type is a probe on (the kernel's `e:` events,
	 * which their format does not tell), or NULL: no event probe.  Asked
	 * once for each type.
	 */
	const char *(*probed)(void *arg, const struct tacho_type *type);
	/*
	 * The number that the kernel has for a type of the tracer's own (system "ftrace"),
	 * whatever its id is here; 0: not known.  Asked once for each type.
	 */
	uint32_t (*number)(void *arg, const struct tacho_type *type);
};

struct tacho_output_config {
	struct tacho_output_options options;
	struct tacho_output_names names;
	/*
	 * Symbols and strings of the kernel; hash_key is the output's own.
	 * symbol() is asked for a marker's ip, too.
	 */
	struct tacho_print_env env;
	uint32_t kernel;	/* TACHO_OUTPUT_KERNEL; 0: the newest known */
	/*
	 * How a record's `ticks` become the time that is shown: in_ns, it is
	 * in nanoseconds and shown as seconds, else as the number that it is (the
	 * clocks x86-tsc, counter, uptime).  clock maps it before; NULL: as it is.
	 */
	bool in_ns;
	const struct tacho_clock_map *clock;
	uint64_t time_start;	/* shown time that latency-format counts from */
	bool overrun;		/* events were lost by overwriting: annotate */
	uint64_t hash_key[2];	/* random, for hash-ptr */
};

struct tacho_output;

/*
 * Makes an output.  config is copied; what it points to lives as long as the
 * output.  NULL without memory.
 */
struct tacho_output *tacho_output_new(const struct tacho_output_config *config);
void tacho_output_free(struct tacho_output *o);

/*
 * Other options, names, time_start or overrun from the next record on, as when
 * an option is written while the file is open.  Names of threads are asked
 * for again.
 */
void tacho_output_configure(struct tacho_output *o,
			    const struct tacho_output_config *config);

/* The next record is the first one again: the file was read from its start. */
void tacho_output_rewind(struct tacho_output *o);

/*
 * Names of threads may have changed: they are asked for again.  For a
 * trace_pipe, once for each read.
 */
void tacho_output_forget(struct tacho_output *o);

/*
 * tacho_output_put - append the line or lines of one record.
 *
 * r->lost records before it were lost: "CPU:0 [LOST 3 EVENTS]" comes first;
 * UINT64_MAX: some, not known how many.  r's type, its fields and its raw bytes are
 * used, and `cpu`, `pid`, `ticks`; its type must live as long as the output.
 * next is the `ticks` of the record that will be printed after it, r->ticks
 * if there is none; only latency-format needs it.
 *
 * A failure to allocate sticks to the buffer.
 */
void tacho_output_put(struct tacho_output *o, const struct tacho_record *r,
		      uint64_t next, struct tacho_buf *out);

/* What the comment lines at the head of `trace` say. */
struct tacho_output_head {
	const char *tracer;	/* "nop" */
	const char *release;	/* of the kernel, "6.12.1" */
	const char *preempt;	/* its preemption model: "desktop", "PREEMPT(none)" */
	uint64_t entries;	/* records in the buffer now */
	uint64_t written;	/* and all that were written to it since it was cleared */
	uint32_t cpus;		/* online */
	uint32_t cpu;		/* of a per_cpu file; else the first */
	bool empty;		/* there is no record to be read */
};

/*
 * tacho_output_header - append the comment lines at the head of `trace`.
 *
 * Once for each reading from the start, before the first record.  trace_pipe
 * has none.
 */
void tacho_output_header(const struct tacho_output_head *head,
			 const struct tacho_output_options *options,
			 struct tacho_buf *out);

#endif
