/* SPDX-License-Identifier: MIT */
/*
 * <tacho/session.h> - create, change and read out recording sessions.
 *
 * Link with -ltacho-session (pkg-config tacho-session).
 *
 *	struct tacho_ctl_config config;
 *	struct tacho_error error;
 *	struct tacho_ctl *ctl;
 *
 *	tacho_ctl_config_init(&config);
 *	config.name = "mine";
 *	config.flags = TACHO_CTL_OVERWRITE;
 *	if (tacho_ctl_create(&ctl, &config, &error) < 0)
 *		...
 *	tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "shop:*", NULL);
 *	...
 *	tacho_ctl_snapshot(ctl, "/tmp/trace", NULL);
 *	tacho_ctl_destroy(ctl, NULL);
 *
 * A session has event rules, filters, triggers and per-CPU buffers in shared memory, which
 * programs write to.  It belongs to no process: it remains, and records, until it is
 * destroyed.  The tool tacho(1) sees and changes the same sessions.  Their records are read
 * with <tacho/stream.h>: live as "session:NAME", or from the trace that
 * tacho_ctl_snapshot() writes.
 *
 * The kernel's events (TACHO_CTL_KERNEL) are recorded by the kernel in a tracefs instance of
 * the session's own, "tacho.NAME", which remains as long as the session.  They need the right
 * to write to tracefs, and are read with tacho_ctl_snapshot() only.
 *
 * Errors
 *	Functions that return int return a negative errno on failure.  The message is in
 *	the handle, tacho_ctl_error(), or, where there is no handle before or after the
 *	call, in *error (which may be NULL).  A failed call changes nothing unless its
 *	description says otherwise.  Every call may return, besides what it lists,
 *	-ENOMEM, and -EMFILE or -ENFILE (no file descriptor left).
 *
 * Context
 *	One thread at a time uses a handle.  Different handles are independent, also those of
 *	one session, in any threads and processes.  No function may be called in a signal
 *	handler, except tacho_ctl_recording_stop() and tacho_ctl_recording_rotate().
 *	Functions that change something wait for a lock among tools, which is held for
 *	milliseconds.  A child of fork() must not use its parent's handles, except to close
 *	them.  Nothing is printed, no signal handler is installed, no thread is started.
 *
 * Versions
 *	As in <tacho/stream.h>: structs may get members at their end.  A configuration in
 *	which a member that the library does not know is not 0 is rejected with -E2BIG.
 */
#ifndef TACHO_SESSION_H
#define TACHO_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tacho/error.h"

#define TACHO_CTL_VERSION_MAJOR	1
#define TACHO_CTL_VERSION_MINOR	1
#define TACHO_CTL_VERSION	(TACHO_CTL_VERSION_MAJOR << 16 | TACHO_CTL_VERSION_MINOR)

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* An open session. */
struct tacho_ctl;

/* TACHO_CTL_VERSION of the library that runs: major << 16 | minor.  Any context. */
uint32_t tacho_ctl_version(void);

/* Whose events. */
enum tacho_ctl_side {
	TACHO_CTL_PROGRAMS = 0,	/* tracepoints of programs */
	TACHO_CTL_KERNEL = 1,	/* tracepoints and probes of the kernel */
};

/* ---- sessions -------------------------------------------------------------- */

enum tacho_ctl_flag {
	/* Full buffers overwrite their oldest records; default: discard new ones. */
	TACHO_CTL_OVERWRITE = 1,
	/* Record nothing before tacho_ctl_start(). */
	TACHO_CTL_STOPPED = 2,
};

/* What to create.  Members that are 0 mean the default. */
struct tacho_ctl_config {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_ctl_config_init() sets it */
	uint32_t flags;		/* enum tacho_ctl_flag */
	const char *name;	/* 1 to 63 letters, digits, '-', '_' and '.'; required */
	/*
	 * Absolute path of a directory for its files, on a disk, so that they survive the
	 * machine ('tacho recover DIR' reads them); NULL: in memory.
	 */
	const char *dir;
	const char *clock;	/* "x86-tsc", "mono" or "boot"; NULL: the best of this machine */
	/*
	 * Bytes per CPU; default 16 MiB, less on large machines.  Rounded up to a power of two
	 * sub-buffers, at least 2 and at most 65536.
	 */
	uint64_t buffer_size;
	uint64_t subbuf_size;	/* bytes, a power of two from 4096 to 524288; default 256 KiB */
	uint64_t kernel_buffer_size;	/* bytes per CPU of the kernel's; default 4 MiB */
};

/* Sets all members to their defaults.  Any context. */
static inline void tacho_ctl_config_init(struct tacho_ctl_config *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = (uint32_t)sizeof(*config);
}

/*
 * tacho_ctl_create - create a session.
 *
 * It records at once, unless TACHO_CTL_STOPPED, but no event is enabled yet.  All memory of
 * its buffers is allocated here.  config is not used after the call.
 *
 * Returns 0 and *ctl, which the caller closes or destroys, or with *error filled in:
 *	-EEXIST		there is a session of that name
 *	-EINVAL		the name, a size, the clock or struct_size
 *	-E2BIG		config has a member that this library does not know
 *	-ENOSPC		64 sessions exist, or there is no room for the buffers
 *	-EACCES, -EPERM, -EPROTO, ...	the run-time directory is another user's, or another
 *			version's
 */
int tacho_ctl_create(struct tacho_ctl **ctl, const struct tacho_ctl_config *config,
		     struct tacho_error *error);

/*
 * tacho_ctl_open - open a session that exists, by its name.
 *
 * Returns 0 and *ctl, which the caller closes or destroys, or with *error filled in:
 *	-ENOENT		there is no such session
 *	-EINVAL		not a name
 *	-EPROTO		made by another version of tacho
 *	or the run-time directory's errors, as above.
 */
int tacho_ctl_open(struct tacho_ctl **ctl, const char *name, struct tacho_error *error);

/* Frees the handle; the session remains and goes on recording.  Ignores NULL. */
void tacho_ctl_close(struct tacho_ctl *ctl);

/*
 * tacho_ctl_destroy - end the session and free its memory.
 *
 * Records that were not read are lost.  Removes the kernel's part, too.  Frees the handle,
 * also on failure.
 *
 * Returns 0, -ENOENT (it is destroyed already), or -EBUSY (another process has a file of its
 * instance in the kernel open; the instance remains), with *error filled in.
 */
int tacho_ctl_destroy(struct tacho_ctl *ctl, struct tacho_error *error);

/* Returns the error of the last call that failed; err is 0 if none did.  Borrowed until close. */
const struct tacho_error *tacho_ctl_error(const struct tacho_ctl *ctl);

/* Return the name and the directory of the session.  Borrowed until close. */
const char *tacho_ctl_name(const struct tacho_ctl *ctl);
const char *tacho_ctl_directory(const struct tacho_ctl *ctl);

/*
 * tacho_ctl_list - call fn for each session.
 *
 * Ends when fn returns a value other than 0.  fn may use other functions of this header.
 * name and directory are valid during the call.
 *
 * Returns 0, what fn returned, or a negative errno with *error filled in.
 */
int tacho_ctl_list(int (*fn)(const char *name, const char *directory, void *arg), void *arg,
		   struct tacho_error *error);

/* ---- event rules ----------------------------------------------------------- */

/*
 * tacho_ctl_enable, tacho_ctl_disable - switch events on or off.
 *
 * events: "system:event", each part a glob with * ? []; a word without ':' names a system or
 * an event.  Of programs it is a rule: for programs that run, at once, and for those that
 * start later; the last rule that matches an event decides.  The kernel's events must exist;
 * the first call for them makes the session's instance in the kernel.  *matched (may be
 * NULL) receives how many events of running programs, or of the kernel, match.
 *
 * Return 0, or
 *	-EINVAL		an empty or too long name; the kernel has not the session's clock
 *	-ENOSPC		512 rules
 *	-ENOENT		the kernel has no such event; tracefs is not mounted; the session is
 *			destroyed
 *	-EACCES, -EPERM	no right to use tracefs
 */
int tacho_ctl_enable(struct tacho_ctl *ctl, enum tacho_ctl_side side, const char *events,
		     uint32_t *matched);
int tacho_ctl_disable(struct tacho_ctl *ctl, enum tacho_ctl_side side, const char *events,
		      uint32_t *matched);

/*
 * tacho_ctl_set_pids, tacho_ctl_set_not_pids - record these processes only, or all but these.
 *
 * n: number of pids, 0: no restriction.  follow: also children that they fork from now on;
 * one setting for both lists.  For both sides.
 *
 * Return 0, -E2BIG (more than 1024), or -ESRCH (the kernel's side: no such process).
 */
int tacho_ctl_set_pids(struct tacho_ctl *ctl, const int32_t *pids, size_t n, bool follow);
int tacho_ctl_set_not_pids(struct tacho_ctl *ctl, const int32_t *pids, size_t n, bool follow);

/*
 * tacho_ctl_each_rule - call fn for each rule for events of programs, in their order.
 *
 * Ends when fn returns a value other than 0, and returns that, or 0.  events is valid
 * during the call.
 */
int tacho_ctl_each_rule(struct tacho_ctl *ctl,
			int (*fn)(bool enable, const char *events, void *arg), void *arg);

/*
 * tacho_ctl_each_event - call fn for each event that can be enabled.
 *
 * Of programs: those of running programs and those that the session has recorded.
 * event is "system:event", valid during the call.  Ends when fn returns a value other than 0.
 *
 * Returns 0, what fn returned, or a negative errno: -ENOENT, -EACCES (tracefs).
 */
int tacho_ctl_each_event(struct tacho_ctl *ctl, enum tacho_ctl_side side,
			 int (*fn)(const char *event, void *arg), void *arg);

/* ---- filters, triggers, synthetic events ----------------------------------- */

/*
 * tacho_ctl_filter - record events only if an expression over their fields holds.
 *
 * events is a glob as in tacho_ctl_enable().  filter: the kernel's filter language, as
 * "bytes > 4096 && comm ~ \"web*\"" (tacho-filter(1)); "0" removes it.  *matched as there.
 *
 * Returns 0, or with the column in tacho_ctl_error()->offset
 *	-EINVAL		the expression, or no event has such fields
 *	-ENOENT		the kernel's side: no such event, or nothing of it is enabled
 *	-ENOSPC		256 commands
 */
int tacho_ctl_filter(struct tacho_ctl *ctl, enum tacho_ctl_side side, const char *events,
		     const char *filter, uint32_t *matched);

/*
 * tacho_ctl_trigger - do something when an event occurs.
 *
 * trigger: "COMMAND[:COUNT] [if FILTER]" with a COMMAND of tacho-trigger(1): traceon, traceoff,
 * snapshot, stacktrace, enable_event:SYSTEM:EVENT, disable_event:SYSTEM:EVENT,
 * hist:keys=...; "!..." removes it.  *matched as in tacho_ctl_enable().
 *
 * Returns 0, or with the column in tacho_ctl_error()->offset
 *	-EINVAL		the text
 *	-EEXIST		the event has such a trigger
 *	-ENOENT		nothing to remove; the kernel's side: as for filters
 *	-EBUSY		it is used by another one
 *	-ENOSPC		256 commands
 *	-EOPNOTSUPP	this kernel has no such trigger
 */
int tacho_ctl_trigger(struct tacho_ctl *ctl, enum tacho_ctl_side side, const char *events,
		      const char *trigger, uint32_t *matched);

/*
 * tacho_ctl_synth - define a synthetic event of programs, or remove it.
 *
 * definition: "NAME TYPE FIELD; ..." or "!NAME", as in tacho-synth(1).  Its events are made by
 * the actions of hist triggers, and enabled as "synthetic:NAME".
 *
 * Returns 0, or with the column in tacho_ctl_error()->offset -EINVAL, -EEXIST, -ENOENT, -EBUSY,
 * -ENOSPC as for triggers.
 */
int tacho_ctl_synth(struct tacho_ctl *ctl, const char *definition);

enum tacho_ctl_command_kind {
	TACHO_CTL_FILTER = 1,
	TACHO_CTL_TRIGGER = 2,
	TACHO_CTL_SYNTH = 3,
	TACHO_CTL_EPROBE = 4,	/* an event probe */
};

/* A filter, trigger or definition that the session has. */
struct tacho_ctl_command {
	uint32_t struct_size;	/* bytes of the library's struct */
	uint32_t kind;		/* enum tacho_ctl_command_kind; there may be more later */
	const char *events;	/* "" for a synthetic event */
	const char *text;
	uint64_t left;		/* times that a trigger will still run; UINT64_MAX: no limit */
};

/*
 * tacho_ctl_each_command - call fn for each filter, trigger and definition, in their order.
 *
 * c and its texts are valid during the call.  Ends when fn returns a value other than 0.
 *
 * Returns 0, what fn returned, or a negative errno: of the kernel's side -ENOENT, -EACCES.
 */
int tacho_ctl_each_command(struct tacho_ctl *ctl, enum tacho_ctl_side side,
			   int (*fn)(const struct tacho_ctl_command *c, void *arg), void *arg);

/* ---- histograms ------------------------------------------------------------ */

/*
 * A histogram of the session: a copy, made when it is handed out, of what the programs of the
 * session, or the kernel, have counted by then for one hist trigger.  It is a table: a row for
 * each combination of keys, in the trigger's sort order.
 *
 * The kernel prints its histograms itself.  Of these there is the text and no table: no columns
 * and no rows.
 */
struct tacho_ctl_hist;

/*
 * tacho_ctl_each_hist - call fn for each histogram that has counted anything.
 *
 * events: a glob as in tacho_ctl_enable(), NULL: all.  hist and all that its functions return
 * are valid during the call.  Ends when fn returns a value other than 0.
 *
 * Returns 0, what fn returned, or a negative errno: -ENOENT (the session is destroyed; the
 * kernel's side: it records nothing of the kernel), -EACCES.
 */
int tacho_ctl_each_hist(struct tacho_ctl *ctl, enum tacho_ctl_side side, const char *events,
			int (*fn)(struct tacho_ctl_hist *hist, void *arg), void *arg);

/* Returns the event, as "system:event". */
const char *tacho_ctl_hist_event(const struct tacho_ctl_hist *hist);

/* Returns the text that the kernel's file events/SYSTEM/EVENT/hist has. */
const char *tacho_ctl_hist_text(const struct tacho_ctl_hist *hist);

/* Size and sums of a histogram. */
struct tacho_ctl_hist_info {
	uint32_t struct_size;	/* bytes of the caller's struct; _get_info() sets it */
	uint32_t nr_rows;
	uint32_t nr_columns;	/* keys, the hit count, then other values */
	uint32_t nr_keys;	/* of the columns: those before the hit count */
	uint64_t hits;		/* events that were counted */
	uint64_t dropped;	/* events for which there was no room */
	const char *trigger;	/* "hist:keys=pid:vals=hitcount:..."; of the kernel "" */
};

/* tacho_ctl_hist_get_info() for callers that set info->struct_size; -EINVAL: too small. */
int tacho_ctl_hist_fill_info(const struct tacho_ctl_hist *hist, struct tacho_ctl_hist_info *info);

/* Describes a histogram.  info need not be initialised.  Returns 0. */
static inline int tacho_ctl_hist_get_info(const struct tacho_ctl_hist *hist,
					  struct tacho_ctl_hist_info *info)
{
	info->struct_size = (uint32_t)sizeof(*info);
	return tacho_ctl_hist_fill_info(hist, info);
}

/* What the cells of a column are. */
enum tacho_ctl_hist_kind {
	TACHO_CTL_HIST_NUMBER = 1,
	TACHO_CTL_HIST_RANGE = 2,	/* .log2 and .buckets: from number to high */
	TACHO_CTL_HIST_STRING = 3,
	TACHO_CTL_HIST_STACK = 4,	/* addresses, innermost first */
};

/* A column of a histogram. */
struct tacho_ctl_hist_column {
	uint32_t struct_size;	/* bytes of the caller's struct; _get_column() sets it */
	uint32_t kind;		/* enum tacho_ctl_hist_kind; there may be more later */
	uint32_t is_signed;	/* 1: its numbers are signed */
	uint32_t reserved;	/* 0 */
	const char *name;	/* as in the trigger: "pid", "lat.log2", "hitcount" */
};

/* tacho_ctl_hist_get_column() for callers that set column->struct_size; -EINVAL: too small. */
int tacho_ctl_hist_fill_column(const struct tacho_ctl_hist *hist, uint32_t index,
			       struct tacho_ctl_hist_column *column);

/* Describes a column, 0 to nr_columns - 1.  Returns 0, or -ENOENT after the last one. */
static inline int tacho_ctl_hist_get_column(const struct tacho_ctl_hist *hist, uint32_t index,
					    struct tacho_ctl_hist_column *column)
{
	column->struct_size = (uint32_t)sizeof(*column);
	return tacho_ctl_hist_fill_column(hist, index, column);
}

/* One cell.  text is valid until the next cell of the histogram. */
struct tacho_ctl_hist_cell {
	uint32_t struct_size;	/* bytes of the caller's struct; _get_cell() sets it */
	uint32_t nr_addresses;
	uint64_t number;	/* of a signed column, an int64_t; of a string or stack, 0 */
	uint64_t high;		/* of a range, its upper end; else as number */
	const uint64_t *addresses;	/* of a stack, else NULL */
	/*
	 * As people read it: the string; the name of a thread, function or system call where
	 * the trigger asks for it (.execname, .sym, .syscall); else the number.
	 */
	const char *text;
};

/* tacho_ctl_hist_get_cell() for callers that set cell->struct_size; -EINVAL: too small. */
int tacho_ctl_hist_fill_cell(struct tacho_ctl_hist *hist, uint32_t row, uint32_t column,
			     struct tacho_ctl_hist_cell *cell);

/*
 * tacho_ctl_hist_get_cell - read a cell.
 *
 * row: 0 to nr_rows - 1, column: 0 to nr_columns - 1.  cell need not be initialised.
 *
 * Returns 0, -ENOENT (there is no such cell), or -ENOMEM.
 */
static inline int tacho_ctl_hist_get_cell(struct tacho_ctl_hist *hist, uint32_t row,
					  uint32_t column, struct tacho_ctl_hist_cell *cell)
{
	cell->struct_size = (uint32_t)sizeof(*cell);
	return tacho_ctl_hist_fill_cell(hist, row, column, cell);
}

/* ---- recording ------------------------------------------------------------- */

/*
 * tacho_ctl_start, tacho_ctl_stop - record, or stop recording, programs and kernel.
 *
 * When tacho_ctl_stop() returns, no record is added any more, except those that writers without
 * restartable sequences have begun.  Events stay enabled.
 *
 * Return 0, -ENOENT (the session is destroyed), or the kernel's error.
 */
int tacho_ctl_start(struct tacho_ctl *ctl);
int tacho_ctl_stop(struct tacho_ctl *ctl);

/*
 * tacho_ctl_snapshot - write what the session holds to a trace, while it goes on recording.
 *
 * directory is created; it must be empty or not exist.  Each snapshot has what was recorded
 * since the last one, as far as the buffers reach.  The kernel's events that occur while
 * its buffers are read are not recorded.  The calling thread may run on other CPUs during the
 * call.  *events (may be NULL) receives how many records were written.
 *
 * Returns 0, or
 *	-EEXIST, -ENOTEMPTY	the directory has files
 *	-EBUSY		a recorder ('tacho record') or a compatibility layer owns the buffers
 *	-ENOSPC		no room for spare buffers, or for the trace: then some are lost
 *	-ENOENT		the session is destroyed, or there is no parent directory
 *	or what the file system says.
 */
int tacho_ctl_snapshot(struct tacho_ctl *ctl, const char *directory, uint64_t *events);

/* ---- status ---------------------------------------------------------------- */

enum tacho_ctl_state {
	TACHO_CTL_RECORDING = 1,
	TACHO_CTL_NOT_RECORDING = 2,	/* stopped */
	TACHO_CTL_DEAD = 3,		/* destroyed */
};

/*
 * Records of a session or of one buffer.  While no writer is active,
 *	attempted = written + discarded
 * exactly.  In discard mode `read` are the records of sub-buffers that a reader has released.
 */
struct tacho_ctl_counts {
	uint64_t attempted;
	uint64_t written;
	uint64_t discarded;	/* the sum of the three below */
	uint64_t discarded_full;	/* no room */
	uint64_t discarded_large;	/* larger than a sub-buffer holds */
	uint64_t discarded_busy;	/* in a nested signal handler, or a buffer was locked */
	uint64_t overwritten;	/* of those written, replaced by newer ones or in a snapshot */
	uint64_t read;		/* of those written */
	uint64_t reserved[4];	/* 0 */
};

/* A session.  Strings are borrowed until the next call with the handle. */
struct tacho_ctl_status {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_ctl_get_status() sets it */
	uint32_t state;		/* enum tacho_ctl_state */
	uint32_t flags;		/* TACHO_CTL_OVERWRITE or 0 */
	uint32_t nr_buffers;	/* of programs: for each CPU, then those of writers without
				   restartable sequences */
	struct tacho_ctl_counts programs;	/* sums over the buffers */
	struct tacho_ctl_counts kernel;	/* likewise; 0 where nothing is enabled */
	uint64_t memory;	/* bytes of all buffers of programs */
	uint64_t subbuf_size;	/* bytes */
	uint64_t clock_freq;	/* ticks per second */
	const char *clock;	/* "x86-tsc", "mono", "boot" */
	const char *kernel_instance;	/* name of its tracefs instance, or "" */
	const char *output;	/* the trace that a recorder writes, or "" */
	int32_t recorder;	/* its process id, or 0 */
	uint32_t recorder_runs;	/* 1: that process is alive; else 0 */
};

/* tacho_ctl_get_status() for callers that set status->struct_size; -EINVAL: too small. */
int tacho_ctl_fill_status(struct tacho_ctl *ctl, struct tacho_ctl_status *status);

/*
 * tacho_ctl_get_status - what the session is, holds and lost.
 *
 * status need not be initialised.  Of a destroyed session state is TACHO_CTL_DEAD.
 *
 * Returns 0; -ENOMEM or another error for which a buffer could not be mapped.
 */
static inline int tacho_ctl_get_status(struct tacho_ctl *ctl, struct tacho_ctl_status *status)
{
	status->struct_size = (uint32_t)sizeof(*status);
	return tacho_ctl_fill_status(ctl, status);
}

/* One buffer. */
struct tacho_ctl_buffer {
	uint32_t struct_size;	/* bytes of the caller's struct; tacho_ctl_get_buffer() sets it */
	uint32_t cpu;		/* UINT32_MAX: of several CPUs */
	struct tacho_ctl_counts counts;
};

/* tacho_ctl_get_buffer() for callers that set buffer->struct_size; -EINVAL: too small. */
int tacho_ctl_fill_buffer(struct tacho_ctl *ctl, enum tacho_ctl_side side, uint32_t index,
			  struct tacho_ctl_buffer *buffer);

/*
 * tacho_ctl_get_buffer - the counts of one buffer.
 *
 * index: 0 to the number of buffers - 1; the kernel's side has one per CPU.  buffer need not be
 * initialised.
 *
 * Returns 0, -ENOENT after the last one, or as tacho_ctl_get_status().
 */
static inline int tacho_ctl_get_buffer(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				       uint32_t index, struct tacho_ctl_buffer *buffer)
{
	buffer->struct_size = (uint32_t)sizeof(*buffer);
	return tacho_ctl_fill_buffer(ctl, side, index, buffer);
}

/* ---- continuous recording -------------------------------------------------- */

/*
 * A recording writes all records of a session of its own, and of the kernel, to a trace on
 * disk while they occur, as `tacho record` does:
 *
 *	tacho_ctl_recording_config_init(&config);
 *	config.output = "/var/log/shop";
 *	config.events = events;
 *	config.nr_events = 1;
 *	config.rotate_bytes = 100 << 20;
 *	if (tacho_ctl_recording_open(&rec, &config, &error) < 0)
 *		...
 *	err = tacho_ctl_recording_start(rec);
 *	if (!err)
 *		err = tacho_ctl_recording_run(rec);		until tacho_ctl_recording_stop()
 *	tacho_ctl_recording_finish(rec);
 *	tacho_ctl_recording_close(rec, &error);
 *
 * The thread that calls tacho_ctl_recording_run() (or _step(), in a loop of its own) does the
 * work.  One thread at a time uses a recording, except that any thread and any signal handler
 * can call tacho_ctl_recording_stop() and tacho_ctl_recording_rotate() until _close().
 *
 * The session exists from tacho_ctl_recording_open() to tacho_ctl_recording_close().
 * tacho_ctl_open() opens it by tacho_ctl_recording_name(), to change rules, filters and
 * triggers of programs, and to read histograms.
 *
 * When writing fails (a full disk), programs record on into memory, as far as there is room.
 * Then, and when the process is killed, the session remains, and `tacho recover OUTPUT` adds
 * to the trace what it holds.
 */
struct tacho_ctl_recording;

enum tacho_ctl_recording_flag {
	/* Also the children that the processes of pids fork. */
	TACHO_CTL_RECORDING_FOLLOW = 1,
	/* A trace that exists becomes "OUTPUT.old"; default: output must be empty or absent. */
	TACHO_CTL_RECORDING_REPLACE = 2,
	/* output is a directory of traces, and tacho_ctl_recording_rotate() begins a new one. */
	TACHO_CTL_RECORDING_ROTATE = 4,
	/* A call stack after each event. */
	TACHO_CTL_RECORDING_STACKS = 8,
	/* Leave the kernel's symbols out of the trace. */
	TACHO_CTL_RECORDING_NO_KALLSYMS = 16,
};

/* A filter or a trigger, for all program and kernel events for which it is valid. */
struct tacho_ctl_recording_control {
	const char *events;	/* a glob as in tacho_ctl_enable() */
	const char *text;	/* as in tacho_ctl_filter() or tacho_ctl_trigger() */
};

/* What to record, and where.  Members that are 0 mean the default. */
struct tacho_ctl_recording_config {
	uint32_t struct_size;	/* bytes of the caller's; _config_init() sets it */
	uint32_t flags;		/* enum tacho_ctl_recording_flag */
	const char *output;	/* directory of the trace; required */
	const char *name;	/* of the session; NULL: "record-PID" */
	const char *clock;	/* as in struct tacho_ctl_config */
	const char *const *events;	/* globs of programs' events; "!..." excludes */
	/* Likewise of the kernel; without pids, not those of this process. */
	const char *const *kernel_events;
	const int32_t *pids;	/* these processes only */
	const struct tacho_ctl_recording_control *filters;
	const struct tacho_ctl_recording_control *triggers;
	uint32_t nr_events;	/* 0: no events of programs, and no session */
	uint32_t nr_kernel_events;	/* 0: none of the kernel */
	uint32_t nr_pids;	/* at most 512; 0: no restriction */
	uint32_t nr_filters;	/* at most 16 */
	uint32_t nr_triggers;	/* at most 16 */
	uint32_t rotate_keep;	/* delete all but the newest so many traces; 0: none */
	uint64_t rotate_bytes;	/* begin a new trace after so many bytes; 0: do not */
	uint64_t rotate_ns;	/* ... after so much time */
	uint64_t duration_ns;	/* 0: until it is stopped */
	uint64_t buffer_size;	/* as in struct tacho_ctl_config */
	uint64_t subbuf_size;
	uint64_t kernel_buffer_size;
	/*
	 * Called with each remark (a rule without effect, a full disk), in the thread that
	 * works: one sentence, valid during the call.  NULL: no remarks.
	 */
	void (*note)(void *arg, const char *text);
	void *arg;		/* for note */
};

/* Sets all members to their defaults.  Any context. */
static inline void tacho_ctl_recording_config_init(struct tacho_ctl_recording_config *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = (uint32_t)sizeof(*config);
}

/*
 * tacho_ctl_recording_open - prepare a recording: its session, rules, filters and triggers.
 *
 * Nothing is recorded yet.  config and what it points to is copied.
 *
 * Returns 0 and *rec, which the caller closes, or with *error filled in, and nothing left:
 *	-EINVAL		no output, no events, a name, a size, the clock, struct_size, or the text
 *			of a filter or trigger (error->offset is the column)
 *	-E2BIG		a member that this library does not know; too many pids, filters, triggers
 *	-EEXIST		there is a session of that name
 *	-EEXIST		output has files
 *	-ENOENT		no such kernel event, or no parent directory
 *	-ENOSPC		64 sessions exist, or there is no room for the buffers
 *	-EACCES, -EPERM, ...	the run-time directory, tracefs, or the file system
 */
int tacho_ctl_recording_open(struct tacho_ctl_recording **rec,
			     const struct tacho_ctl_recording_config *config,
			     struct tacho_error *error);

/*
 * tacho_ctl_recording_start - begin the trace and let programs and kernel record.
 *
 * Returns 0; -EINVAL (it was started already); or what the file system or the kernel says: then
 * the recording can only be closed.
 */
int tacho_ctl_recording_start(struct tacho_ctl_recording *rec);

/*
 * tacho_ctl_recording_step - write what there is; waits at most 100 ms for more.
 *
 * Returns 1 while the recording goes on; 0 when it is over (it was stopped, or the time is up);
 * or, once, why the trace cannot be written (-ENOSPC, ...): the next call waits on, see above.
 * -EINVAL: it was not started, or is finished.
 */
int tacho_ctl_recording_step(struct tacho_ctl_recording *rec);

/* Steps until one returns 0 or an error, and returns that. */
int tacho_ctl_recording_run(struct tacho_ctl_recording *rec);

/* Ends _run() and _step() in at most 100 ms.  Any thread, signal handlers. */
void tacho_ctl_recording_stop(struct tacho_ctl_recording *rec);

/*
 * tacho_ctl_recording_rotate - complete the trace that is written, and begin the next one.
 *
 * The next _step() does it; requests before that are one.  Any thread, signal handlers.
 *
 * Returns 0; -EINVAL: the configuration has neither TACHO_CTL_RECORDING_ROTATE nor rotate_bytes,
 * rotate_ns or rotate_keep.
 */
int tacho_ctl_recording_rotate(struct tacho_ctl_recording *rec);

/*
 * tacho_ctl_recording_finish - stop the writers, write the rest, complete the trace.
 *
 * Also after a failed _start(), _step() or _run(): then the trace has what could be written.
 *
 * Returns 0; -EINVAL: it was not started, or is finished; or why the rest cannot be written (an
 * error that _step() has returned is not repeated).
 */
int tacho_ctl_recording_finish(struct tacho_ctl_recording *rec);

/*
 * tacho_ctl_recording_close - remove the session and free the recording.
 *
 * Finishes it first if that was not done.  Ignores NULL.  The session remains if it has records
 * that could not be written.  Returns 0, or a negative errno with *error filled in: the session
 * could not be removed.
 */
int tacho_ctl_recording_close(struct tacho_ctl_recording *rec, struct tacho_error *error);

/* Returns the error of the last call that failed; err is 0 if none did.  Borrowed until close. */
const struct tacho_error *tacho_ctl_recording_error(const struct tacho_ctl_recording *rec);

/* Returns the name of its session.  Borrowed until close. */
const char *tacho_ctl_recording_name(const struct tacho_ctl_recording *rec);

enum tacho_ctl_recording_state {
	TACHO_CTL_RECORDING_READY = 1,	/* opened, not started */
	TACHO_CTL_RECORDING_RUNNING = 2,
	TACHO_CTL_RECORDING_OVER = 3,	/* stopped or the time is up, and not finished */
	TACHO_CTL_RECORDING_FAILED = 4,	/* started, but the trace cannot be written */
	TACHO_CTL_RECORDING_FINISHED = 5,
};

/* A recording.  While it runs, lost is what is known by now. */
struct tacho_ctl_recording_status {
	uint32_t struct_size;	/* bytes of the caller's struct; _get_status() sets it */
	uint32_t state;		/* enum tacho_ctl_recording_state */
	uint64_t events;	/* records in the trace, or in all traces with rotation */
	uint64_t kernel_events;	/* of these, the kernel's */
	uint64_t lost;		/* records that are not and will not be in the trace */
	uint64_t unread;	/* records of programs that remain in the session: writing failed */
	uint64_t bytes;		/* of the trace's packets */
	uint64_t duration_ns;	/* since start, until finish */
	uint32_t traces;	/* how many were begun; 1 without rotation */
	uint32_t reserved;	/* 0 */
};

/* tacho_ctl_recording_get_status() for callers that set struct_size; -EINVAL: too small. */
int tacho_ctl_recording_fill_status(struct tacho_ctl_recording *rec,
				    struct tacho_ctl_recording_status *status);

/* How far a recording is.  status need not be initialised.  Returns 0. */
static inline int tacho_ctl_recording_get_status(struct tacho_ctl_recording *rec,
						 struct tacho_ctl_recording_status *status)
{
	status->struct_size = (uint32_t)sizeof(*status);
	return tacho_ctl_recording_fill_status(rec, status);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
