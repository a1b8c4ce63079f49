/* SPDX-License-Identifier: MIT */
/*
 * <tacho/events.h> - events that a program defines at run time.
 *
 * Link with -ltacho-events (pkg-config tacho-events).
 *
 * The kernel's in-kernel trace event API (Documentation/trace/events.rst, section 7)
 * for programs, with the same names and semantics:
 *
 *	static struct synth_field_desc fields[] = {
 *		{ .type = "pid_t",	.name = "next_pid" },
 *		{ .type = "char[16]",	.name = "next_comm" },
 *	};
 *	struct trace_event_file *file;
 *	u64 vals[2] = { 42, (u64)(uintptr_t)"bash" };
 *
 *	synth_event_create("schedtest", fields, 2, THIS_MODULE);
 *	file = trace_get_event_file(NULL, "synthetic", "schedtest");
 *	trace_array_set_clr_event(file->tr, "synthetic", "schedtest", true);
 *	synth_event_trace_array(file, vals, 2);
 *
 * Terms
 *	A synthetic event is an event of this process, of system "synthetic".  Tools list,
 *	enable and record it like a tracepoint.
 *	A trace array (the kernel's instance) is a session.  The global one, NULL, is the
 *	session $TACHO_SESSION (default: "boot").  It is created when an event is first
 *	enabled in it: a flight recorder for this process and its children.
 *	A kprobe event is an event of the kernel.  It is in the global trace array, which for
 *	kernel events is the kernel's.
 *
 * An event is recorded in each session that has it enabled, also in those of recording
 * tools, whichever trace array its file came from.
 *
 * Errors are negative errno values; nothing is printed.  Functions that return a pointer
 * return ERR_PTR(-errno): see IS_ERR() and PTR_ERR().
 *
 * Concurrency
 *	synth_event_trace(), synth_event_trace_array(): any threads, any signal handlers.
 *	Setting values one by one: one thread per struct synth_event_trace_state; in a signal
 *	handler only events of at most TACHO_SYNTH_ROOM bytes (a larger event allocates
 *	heap memory).
 *	One thread at a time can use a struct dynevent_cmd.
 *	All other functions: any threads, no signal handlers.
 *	A file must not be put while another thread traces with it.
 */
#ifndef TACHO_EVENTS_H
#define TACHO_EVENTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacho/ktypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- kernel names that code for this API uses ------------------------------- */

struct module;

#ifndef THIS_MODULE
#define THIS_MODULE	((struct module *)0)
#endif

/* The kernel's name for EOPNOTSUPP. */
#ifndef ENOTSUPP
#define ENOTSUPP	EOPNOTSUPP
#endif

#ifndef TACHO_NO_KERNEL_TYPES

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

/* A negative errno as a pointer, and back. */
static inline __attribute__((unused)) void *ERR_PTR(long error)
{
	return (void *)(intptr_t)error;
}

static inline __attribute__((unused)) long PTR_ERR(const void *pointer)
{
	return (long)(intptr_t)pointer;
}

static inline __attribute__((unused)) bool IS_ERR(const void *pointer)
{
	return (uintptr_t)pointer >= (uintptr_t)-4095;
}

static inline __attribute__((unused)) bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || IS_ERR(pointer);
}

static inline __attribute__((unused)) int PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR(pointer) ? (int)PTR_ERR(pointer) : 0;
}

#endif /* TACHO_NO_KERNEL_TYPES */

/* ---- commands: text that defines an event ---------------------------------- */

#define MAX_DYNEVENT_CMD_LEN	2048

/* Types of other commands start at DYNEVENT_TYPE_NONE + 1. */
enum dynevent_type {
	DYNEVENT_TYPE_SYNTH = 1,
	DYNEVENT_TYPE_KPROBE,
	DYNEVENT_TYPE_NONE,
};

struct dynevent_cmd;

/* Defines the event from the text in cmd->seq.buffer.  Returns 0 or a negative errno. */
typedef int (*dynevent_create_fn_t)(struct dynevent_cmd *cmd);

/* Text in a buffer of the caller.  len > size: the text did not fit. */
struct seq_buf {
	char *buffer;
	size_t size;
	size_t len;
};

struct dynevent_cmd {
	struct seq_buf seq;		/* ends with NUL */
	const char *event_name;		/* borrowed until dynevent_create() */
	unsigned int n_fields;
	int type;			/* enum dynevent_type, or another number */
	dynevent_create_fn_t run_command;
	void *private_data;
};

/* Checks an argument, data.  Returns 0 if it is valid, or a negative errno. */
typedef int (*dynevent_check_arg_fn_t)(void *data);

/* One word of a command. */
struct dynevent_arg {
	const char *str;
	char separator;
	dynevent_check_arg_fn_t check_arg;
};

/* Two words with an operator between them: "type name;", "x+y". */
struct dynevent_arg_pair {
	const char *lhs;
	const char *rhs;
	char operator_char;
	char separator;
	dynevent_check_arg_fn_t check_arg;
};

/*
 * dynevent_cmd_init - start a command.
 *
 * buf has room for maxlen bytes and remains the caller's; MAX_DYNEVENT_CMD_LEN is enough
 * for most commands.  Later calls check type.
 */
void dynevent_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen, int type,
		       dynevent_create_fn_t run_command);

/*
 * dynevent_arg_init(arg, separator)
 * dynevent_arg_init(arg, check_arg, separator)
 * dynevent_arg_add(cmd, arg)
 * dynevent_arg_add(cmd, arg, check_arg)
 *
 * dynevent_arg_add() appends " STR" and the separator; 0 means a blank.  It first calls
 * check_arg, which may be NULL.  The kernel had both forms at different times.
 *
 * dynevent_arg_add() returns 0, the error of check_arg, -EINVAL for a NULL string, or
 * -E2BIG if the buffer is full.
 */
#define dynevent_arg_init(...) \
	TACHO_EVENTS_PICK_(__VA_ARGS__, 0, __dynevent_arg_init, \
			   __dynevent_arg_init_plain, 0)(__VA_ARGS__)
#define dynevent_arg_add(...) \
	TACHO_EVENTS_PICK_(__VA_ARGS__, 0, __dynevent_arg_add, \
			   __dynevent_arg_add_plain, 0)(__VA_ARGS__)

/*
 * dynevent_arg_pair_init(pair, operator, separator)
 * dynevent_arg_pair_init(pair, check_arg, operator, separator)
 * dynevent_arg_pair_add(cmd, pair)
 * dynevent_arg_pair_add(cmd, pair, check_arg)
 *
 * The same for " LHS" operator RHS separator.
 */
#define dynevent_arg_pair_init(...) \
	TACHO_EVENTS_PICK_(__VA_ARGS__, __dynevent_arg_pair_init, \
			   __dynevent_arg_pair_init_plain, 0, 0)(__VA_ARGS__)
#define dynevent_arg_pair_add(...) \
	TACHO_EVENTS_PICK_(__VA_ARGS__, 0, __dynevent_arg_pair_add, \
			   __dynevent_arg_pair_add_plain, 0)(__VA_ARGS__)

#define TACHO_EVENTS_PICK_(a1, a2, a3, a4, n, ...) n

void __dynevent_arg_init(struct dynevent_arg *arg,
			 dynevent_check_arg_fn_t check_arg, char separator);
int __dynevent_arg_add(struct dynevent_cmd *cmd, struct dynevent_arg *arg,
		       dynevent_check_arg_fn_t check_arg);
void __dynevent_arg_pair_init(struct dynevent_arg_pair *pair,
			      dynevent_check_arg_fn_t check_arg,
			      char operator_char, char separator);
int __dynevent_arg_pair_add(struct dynevent_cmd *cmd,
			    struct dynevent_arg_pair *pair,
			    dynevent_check_arg_fn_t check_arg);

static inline __attribute__((unused))
void __dynevent_arg_init_plain(struct dynevent_arg *arg, char separator)
{
	__dynevent_arg_init(arg, NULL, separator);
}

static inline __attribute__((unused))
int __dynevent_arg_add_plain(struct dynevent_cmd *cmd, struct dynevent_arg *arg)
{
	return __dynevent_arg_add(cmd, arg, NULL);
}

static inline __attribute__((unused))
void __dynevent_arg_pair_init_plain(struct dynevent_arg_pair *pair,
				    char operator_char, char separator)
{
	__dynevent_arg_pair_init(pair, NULL, operator_char, separator);
}

static inline __attribute__((unused))
int __dynevent_arg_pair_add_plain(struct dynevent_cmd *cmd,
				  struct dynevent_arg_pair *pair)
{
	return __dynevent_arg_pair_add(cmd, pair, NULL);
}

/* Appends str unchanged.  Returns 0, -EINVAL (NULL) or -E2BIG. */
int dynevent_str_add(struct dynevent_cmd *cmd, const char *str);

/*
 * dynevent_create - run a complete command.
 *
 * Returns the result of run_command, -E2BIG if the text did not fit in the buffer,
 * or -EINVAL without a run_command.
 */
int dynevent_create(struct dynevent_cmd *cmd);

/* ---- synthetic events: definitions ------------------------------------------ */

/*
 * Types: s8 u8 s16 u16 s32 u32 s64 u64, char, unsigned char, int, unsigned int, long,
 * unsigned long, bool, pid_t, gfp_t, char[N] with N up to 256, char[]: a string of
 * variable length, long[]: a stack trace.  The [N] or [] can follow the name instead.
 */
struct synth_field_desc {
	const char *type;
	const char *name;
};

/*
 * synth_event_create - define an event in one call.
 *
 * The fields keep the order of the array.  mod is not used, because recorded events
 * remain readable after the event is removed.
 *
 * Returns 0, or
 *	-EEXIST		this process already has an event of that name
 *	-EINVAL		no name, no field, more than 64 fields, an invalid name or type
 *	-E2BIG		the text is longer than MAX_DYNEVENT_CMD_LEN
 *	-ENAMETOOLONG	the name has more than 107 bytes
 *	-ENOMEM
 *	or the reason why this process cannot be traced: -ENOENT, -EACCES, -EPERM (no
 *	run-time directory, or that of another user), -EPROTO (created by another version
 *	of tacho), -ENOSPC, ...
 */
int synth_event_create(const char *name, const struct synth_field_desc *fields,
		       unsigned int n_fields, struct module *mod);

/*
 * synth_event_delete - remove an event.
 *
 * Returns 0, -ENOENT (no such event), or -EBUSY: it is enabled in a session, or
 * a file of it was not put.
 */
int synth_event_delete(const char *name);

/* Starts a command that defines a synthetic event; see dynevent_cmd_init(). */
void synth_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);

/*
 * synth_event_gen_cmd_start(cmd, name, mod, type, field name, ...)
 *
 * Any number of fields, including none.  name is borrowed until the end.
 *
 * Returns 0, -EINVAL (cmd is not for a synthetic event, a name is missing, an unknown
 * type, more than 64 fields), -E2BIG.
 */
#define synth_event_gen_cmd_start(cmd, name, ...) \
	__synth_event_gen_cmd_start(cmd, name, __VA_ARGS__, (const char *)0)

__attribute__((sentinel))
int __synth_event_gen_cmd_start(struct dynevent_cmd *cmd, const char *name,
				struct module *mod, ...);

/* The same with fields from an array. */
int synth_event_gen_cmd_array_start(struct dynevent_cmd *cmd, const char *name,
				    struct module *mod,
				    const struct synth_field_desc *fields,
				    unsigned int n_fields);

/* Append fields.  Errors as above. */
int synth_event_add_field(struct dynevent_cmd *cmd, const char *type,
			  const char *name);
int synth_event_add_fields(struct dynevent_cmd *cmd,
			   const struct synth_field_desc *fields,
			   unsigned int n_fields);
/* Appends "type name" and a ';'.  The text is checked only at the end. */
int synth_event_add_field_str(struct dynevent_cmd *cmd, const char *type_name);

/* Defines the event.  Errors as for synth_event_create(). */
#define synth_event_gen_cmd_end(cmd)	dynevent_create(cmd)

/* ---- trace arrays and event files ---------------------------------------------- */

struct trace_array;

/* An event in a trace array. */
struct trace_event_file {
	struct trace_array *tr;
	/* private members follow */
};

/*
 * trace_get_event_file - get an event in a trace array.
 *
 * instance: a session's name; NULL: the global trace array.  The event is one of a
 * running program or, in the global trace array, one of the kernel.  It cannot be deleted
 * until the file is put.
 *
 * Returns the file, or as ERR_PTR():
 *	-ENOENT		no such session, or this process cannot be traced
 *	-EINVAL		no such event
 *	-ENOMEM, or the error of opening the run-time directory
 */
struct trace_event_file *trace_get_event_file(const char *instance,
					      const char *system,
					      const char *event);

/* Releases the file.  Ignores NULL and error pointers. */
void trace_put_event_file(struct trace_event_file *file);

/*
 * trace_array_get_by_name - get a session, and create it if it does not exist.
 *
 * The session is created as a flight recorder for all programs.  systems must be NULL.
 * Returns NULL on failure, and sets errno: EINVAL (invalid name; systems), ENOSPC, ...
 */
struct trace_array *trace_array_get_by_name(const char *name,
					    const char *systems);

/* Releases the trace array; the session continues. */
void trace_array_put(struct trace_array *tr);

/*
 * trace_array_destroy - end a session, after it was put.
 *
 * Returns 0, -EINVAL (NULL, or the global one), -EBUSY (this process still holds it or a
 * file of it), -ENODEV (it no longer exists), ...
 */
int trace_array_destroy(struct trace_array *tr);

/*
 * trace_array_set_clr_event - enable or disable events in a trace array.
 *
 * Adds a rule to the session.  system NULL: any; event NULL: all of the system.  Names are
 * compared exactly.  Kernel events need both.
 *
 * Returns 0, or
 *	-ENOENT		tr is NULL, or its session no longer exists
 *	-EINVAL		no event of a running program, or of the kernel, has that name
 *	-ENOSPC		no room for the global session, or for a rule
 *	or an error of the system.
 */
int trace_array_set_clr_event(struct trace_array *tr, const char *system,
			      const char *event, bool enable);

/* ---- tracing synthetic events --------------------------------------------------- */

/*
 * synth_event_trace(file, n_vals, value, ...) - trace an event in one call.
 *
 * One value for each field, in their order, cast to u64.  For a string: a pointer to it
 * ("(fault)" is recorded for NULL), truncated to the field's size, or to 255 bytes for
 * char[].  For long[]: a pointer to longs, 16 of them or terminated by 0.
 *
 * Returns 0 (also if no session has the event enabled), or -EINVAL: the number of values
 * differs from the number of fields, file is not of a synthetic event of this process, or
 * there is no memory for such a large event now (which is counted as lost).
 * Events that do not fit in the ring are also counted as lost.
 */
int synth_event_trace_array(struct trace_event_file *file,
			    const unsigned long long *vals, unsigned int n_vals);

/* args[0] is n_vals; n_args - 1 values follow. */
int __synth_event_trace(struct trace_event_file *file,
			const unsigned long long *args, unsigned int n_args);

#ifndef __cplusplus
#define synth_event_trace(file, ...) \
	__synth_event_trace(file, \
		(const unsigned long long []){ __VA_ARGS__ }, \
		(unsigned int)(sizeof((const unsigned long long []) \
				      { __VA_ARGS__ }) / \
			       sizeof(unsigned long long)))
#endif

#define TACHO_SYNTH_ROOM	1024

/* An event whose values are set one by one. */
struct synth_event_trace_state {
	struct trace_event_file *file;
	void *raw;		/* NULL: not open */
	unsigned int len;
	unsigned int cur_field;
	bool disabled;
	bool add_next;
	bool add_name;
	unsigned long long room[TACHO_SYNTH_ROOM / 8];
};

/*
 * synth_event_trace_start - start an event, to set its fields one by one.
 *
 * Fields that are not set are 0 or empty.  The caller must end each event that it started,
 * whether or not setting its fields failed.
 *
 * Returns 0 (also if no session has the event enabled; further calls then have no effect),
 *	-EINVAL		state is NULL, or file is not of a synthetic event of this process
 *	-ENOTSUPP	the event has a field of variable length
 *	-ENOMEM
 */
int synth_event_trace_start(struct trace_event_file *file,
			    struct synth_event_trace_state *state);

/*
 * Set the next field, or the field of that name.  Only one of the two functions can be
 * used for an event.
 *
 * Returns 0, or -EINVAL: the other function was used before, there is no such field or no
 * next one, a string is NULL, or the event was not started.
 */
int synth_event_add_next_val(unsigned long long val,
			     struct synth_event_trace_state *state);
int synth_event_add_val(const char *field_name, unsigned long long val,
			struct synth_event_trace_state *state);

/* Records the event.  Returns 0, or -EINVAL: state is NULL or not started. */
int synth_event_trace_end(struct synth_event_trace_state *state);

/* ---- kprobe events -------------------------------------------------------------- */

/*
 * The kernel defines them, through tracefs; this needs root.  They remain until they
 * are deleted, also after the program has ended.
 */

/* Starts a command that defines a kprobe or kretprobe event. */
void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);

/*
 * kprobe_event_gen_cmd_start(cmd, name, location, field, ...)
 * kretprobe_event_gen_cmd_start(cmd, name, location, field, ...)
 * kprobe_event_add_fields(cmd, field, ...)
 * kprobe_event_add_field(cmd, field)
 *
 * location and fields as in Documentation/trace/kprobetrace.rst: "do_sys_open",
 * "dfd=%ax", "$retval".
 *
 * Return 0, -EINVAL (cmd is not for a kprobe event, name or location is missing, more
 * than 128 fields), -E2BIG.
 */
#define kprobe_event_gen_cmd_start(cmd, name, ...) \
	__kprobe_event_gen_cmd_start(cmd, false, name, __VA_ARGS__, (const char *)0)
#define kretprobe_event_gen_cmd_start(cmd, name, ...) \
	__kprobe_event_gen_cmd_start(cmd, true, name, __VA_ARGS__, (const char *)0)
#define kprobe_event_add_fields(...) \
	__kprobe_event_add_fields(__VA_ARGS__, (const char *)0)
#define kprobe_event_add_field(cmd, field) \
	__kprobe_event_add_fields(cmd, field, (const char *)0)

__attribute__((sentinel))
int __kprobe_event_gen_cmd_start(struct dynevent_cmd *cmd, bool kretprobe,
				 const char *name, const char *loc, ...);
__attribute__((sentinel))
int __kprobe_event_add_fields(struct dynevent_cmd *cmd, ...);

/*
 * Define the event.  Return 0, or
 *	-EOPNOTSUPP	the kernel has no kprobe events (CONFIG_KPROBE_EVENTS)
 *	-EACCES, -EPERM	not root
 *	-ENOENT		tracefs is not mounted
 *	-EEXIST		an event of that name with other fields exists
 *	-EINVAL, ...	the kernel's error: no such function (some kernels return -ENOENT),
 *			an invalid field; also text with a '#' or a newline
 */
#define kprobe_event_gen_cmd_end(cmd)		dynevent_create(cmd)
#define kretprobe_event_gen_cmd_end(cmd)	dynevent_create(cmd)

/*
 * Deletes a kprobe or kretprobe event.  Returns 0, -ENOENT (no such event), -EBUSY (it is
 * enabled), -EINVAL (invalid name), or an error as above.
 */
int kprobe_event_delete(const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}

template <class... V>
inline int synth_event_trace(struct trace_event_file *file, unsigned int n_vals,
			     V... vals)
{
	const unsigned long long args[] = { n_vals, (unsigned long long)vals... };

	return __synth_event_trace(file, args, 1 + (unsigned int)sizeof...(vals));
}
#endif

#endif
