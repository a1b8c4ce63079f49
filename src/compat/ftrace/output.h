/* SPDX-License-Identifier: MIT */
/*
 * output.h - formats records as the kernel's `trace` file does.
 *
 * One struct tacho_output is one open `trace` or `trace_pipe`: it has the options, the sources of
 * names, and the state of the output ("CPU 2 buffer started").  It appends to a buffer of the
 * caller's:
 *
 *	tacho_output_header(&head, &config.options, out);	(not for trace_pipe)
 *	for each record in the order of time
 *		tacho_output_put(o, r, next, out);
 *
 *	            bash-1977    [000] dNh2.  4713.025312: name: text
 *	 <- name and thread    CPU ->  |||||  <- time       ^ event's text
 *	                               flags (event/context.h)
 *
 * Some output depends on the kernel's version, which is `kernel` in the config.
 *
 *	from	what
 *	6.13	the flag X became lazy rescheduling: l, b, L, B
 *	6.16	`fields` shows the symbol that contains a number
 *	6.18	arguments of system calls above 9 have 0x before them
 *
 * Differences, because a record lacks the information:
 *	- hash-ptr: only the kernel knows the key of its hash; equal pointers have equal hashes
 *	  here, too, with the caller's key;
 *	- `%p` of a place inside the event: "(____ptrval____)";
 *	- strings at addresses unknown to `env.string`: the address.
 *
 * A line allocates nothing except growth of the output buffer; texts of threads and types are
 * cached.
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

/* The defaults of a new kernel instance. */
#define TACHO_OUTPUT_DEFAULTS \
	((struct tacho_output_options){ .annotate = true, \
		.context_info = true, .hash_ptr = true, .irq_info = true, \
		.print_parent = true, .trace_printk = true })

/* The option of this name ("sym-addr"), or NULL: not an option of the output. */
bool *tacho_output_option(struct tacho_output_options *options,
			  const char *name);

/* Callbacks for names.  Any of them may be NULL.  Texts are borrowed until the next call. */
struct tacho_output_names {
	void *arg;		/* handed to the calls */
	/* A thread's name, or NULL: "<...>".  Not called for thread 0, "<idle>". */
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
	 * The "system.event" of an event probe (the kernel's `e:` events; their format does not
	 * contain it), or NULL: not an event probe.  Called once for each type.
	 */
	const char *(*probed)(void *arg, const struct tacho_type *type);
	/*
	 * The kernel's id of a type of the tracer itself (system "ftrace"), which may differ from
	 * its id here; 0: not known.  Called once for each type.
	 */
	uint32_t (*number)(void *arg, const struct tacho_type *type);
};

struct tacho_output_config {
	struct tacho_output_options options;
	struct tacho_output_names names;
	/*
	 * Symbols and strings of the kernel; the output sets hash_key. symbol() is also called
	 * for a marker's ip.
	 */
	struct tacho_print_env env;
	uint32_t kernel;	/* TACHO_OUTPUT_KERNEL; 0: the newest known */
	/*
	 * How a record's `ticks` are shown. in_ns: nanoseconds, shown as seconds; otherwise as a
	 * number (the clocks x86-tsc, counter, uptime). clock converts ticks first; NULL: no
	 * conversion.
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
 * Changes options, names, time_start or overrun from the next record on, for an option that is
 * written while the file is open.  Clears the cache of thread names.
 */
void tacho_output_configure(struct tacho_output *o,
			    const struct tacho_output_config *config);

/* Restarts the output: the file is read from its start again. */
void tacho_output_rewind(struct tacho_output *o);

/*
 * Clears the cache of thread names, which may have changed.  For a trace_pipe, call it once for
 * each read.
 */
void tacho_output_forget(struct tacho_output *o);

/*
 * tacho_output_put - append the line or lines of one record.
 *
 * r->lost records before it were lost: "CPU:0 [LOST 3 EVENTS]" comes first;
 * UINT64_MAX: an unknown number.  r's type, its fields and its raw bytes are used, and `cpu`,
 * `pid`, `ticks`; its type must live as long as the output. next is the `ticks` of the record
 * that will be printed after it, r->ticks if there is none; only latency-format needs it.
 *
 * A failure to allocate sticks to the buffer.
 */
void tacho_output_put(struct tacho_output *o, const struct tacho_record *r,
		      uint64_t next, struct tacho_buf *out);

/* The data of the comment lines at the head of `trace`. */
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
 * Call it once for each reading from the start, before the first record.  trace_pipe has none.
 */
void tacho_output_header(const struct tacho_output_head *head,
			 const struct tacho_output_options *options,
			 struct tacho_buf *out);

#endif
