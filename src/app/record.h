/* SPDX-License-Identifier: MIT */
/*
 * record.h - one recording, of programs and of the kernel, into a trace on disk.
 *
 * 1. Life cycle
 *
 *	new	the struct, and a copy of the configuration
 *	prepare	makes the kernel's instance and the session, sets pids, rules, filters and
 *		triggers, and forks the command, which waits.  Nothing is recorded yet
 *	go	begins the trace, lets the session and the kernel record, executes the command
 *	run	writes what is recorded, until the command has ended, the time is up, the
 *		recording is stopped or writing fails.  step is one turn of it (at most 100 ms),
 *		for a front end with a loop of its own
 *	finish	stops the writers, writes the rest, closes the trace, and says what remained
 *		without effect (rules and filters that matched nothing, remarks of programs)
 *	convert	makes the trace into another format, if that is wanted
 *	end	takes the session and the instance down and frees all
 *
 *	   new -> prepare -> go -> run (or step, step, ...) -> finish (-> convert) -> end
 *
 * Each step requires that the one before it succeeded, with two exceptions: finish may be called
 * after a go or a run that failed, and writes what there is; end may be called at any time after
 * new, exactly once, and does what is left to do.  A command that has not been executed by
 * then never is.
 *
 * A flight recorder (config.flight, or an event to snapshot at) is the same with one difference:
 * memory is overwritten, and run and finish write snapshots of it; see flight.h.
 *
 * 2. Owners
 *
 * The recording owns its session, its kernel instance, its command and the files of its trace.
 * The caller owns the configuration's strings and arrays, and the observer, and keeps them until
 * end.  There is no other state, so a process can have any number of recordings: two without a
 * name get different ones.
 *
 * The command is a child of the process.  In it SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD and
 * SIGPIPE have their default actions, also where the caller ignores them.  The recording waits
 * for this child and no other.  Its status is unknown when the caller waits for it, too (with
 * wait(), or by ignoring SIGCHLD).
 *
 * 3. Threads and signals
 *
 * One thread at a time uses a recording.  Two recordings are independent, so that each can have
 * its own thread; only prepare of recordings with commands must not run in two threads at once,
 * for each child would keep a descriptor of the other's open.
 *
 * Three functions may be called from any thread and from signal handlers, between new and end:
 *
 *	app_record_stop()	run returns as soon as what it waits for lets it, in 100 ms
 *				at most; at once when the signal's handler ran in the thread
 *				of run, as this interrupts its sleep
 *	app_record_snapshot()	a flight recorder writes what it holds, likewise.  Requests
 *				that come before it does so are one
 *	app_record_rotate()	a recorder with rotation begins the next trace, likewise
 *
 * observer.cancelled() is asked in each turn; when it says yes, the recording is stopped: this
 * is no error, and what was recorded until then is written.  No function here installs a signal
 * handler, prints, or ends the process.  A front end that wants the end of its command noticed at
 * once catches SIGCHLD, which interrupts the sleep; else it is noticed in 100 ms.
 *
 * 4. What remains when it fails
 *
 *	prepare, go	nothing but an empty trace directory
 *	run, finish	the trace as far as it was written; it is readable.  What programs
 *			recorded and is not in it stays in the session, which end then leaves
 *			in place and names in a note: `tacho recover` goes on from there
 *	a kill		the same, without the note; the next recording removes the instance
 *
 * When writing fails (a full disk), run returns the error, once.  Called again it waits until
 * the recording is over, while programs record on into memory, as far as there is room.
 */
#ifndef TACHO_APP_RECORD_H
#define TACHO_APP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/observer.h"
#include "fmt/sink.h"
#include "record/recorder.h"

#define APP_RECORD_CONTROLS_MAX	16u	/* of each kind */
#define APP_RECORD_PIDS_MAX	512u

struct app_record;

/* A filter or a trigger. */
struct app_record_control {
	const char *event;		/* "system:event", a glob, or one word for either */
	const char *text;
};

/* What to record, and how.  Zero means the default, but for clock. */
struct app_record_config {
	const char *output;		/* what is to be made: of a trace of ours, a directory */
	/*
	 * NULL or tacho_sink_ctf: a trace of ours.  Else a directory <output>.tacho is recorded
	 * into, of which app_record_convert() makes the output; without rotation and snapshots.
	 */
	const struct tacho_sink_format *format;
	/*
	 * A trace of ours that is there already becomes "<output>.old".  Else the output
	 * must be empty or absent.
	 */
	bool replace;
	const char *name;		/* of session and instance; NULL: "record-<pid>[-N]" */

	const char *const *events;	/* of programs: globs; '!' excludes */
	uint32_t nr_events;		/* 0: no session */
	const char *const *kernel_events;	/* likewise of the kernel */
	uint32_t nr_kernel_events;	/* 0: no instance */
	const int32_t *pids;		/* these processes only */
	uint32_t nr_pids;
	bool follow;			/* and their children */
	char **command;			/* argv, ended by NULL; NULL: none */
	bool command_only;		/* of the kernel, events of the command only */

	struct app_record_control filter[APP_RECORD_CONTROLS_MAX];
	struct app_record_control trigger[APP_RECORD_CONTROLS_MAX];
	const char *synth[APP_RECORD_CONTROLS_MAX];	/* synthetic events of programs */
	uint32_t nr_filters, nr_triggers, nr_synths;
	bool stacks;			/* a call stack after each event */

	int clock;			/* enum tacho_clock; -1: the best there is */
	uint64_t buffer_size, subbuf_size;	/* per CPU, for programs */
	uint64_t kernel_buffer_size;	/* per CPU */
	uint64_t duration_ns;		/* 0: until stopped */
	bool no_kallsyms;		/* leave the kernel's symbols out of the trace */

	bool rotate;			/* app_record_rotate() will be called */
	uint64_t rotate_bytes, rotate_ns;	/* see record/recorder.h */
	uint32_t rotate_keep;

	bool flight;			/* overwrite; write snapshots of memory */
	const char *snapshot_event;	/* of programs: write what is around each; or NULL */
	const char *snapshot_kernel_event;	/* or one of the kernel; or NULL */
	uint64_t before_ns, after_ns;	/* so much around it; before 0: all not yet written */
	uint64_t max_snapshots;		/* then it is over; 0: no limit */
	/*
	 * Called by run and finish when a snapshot is complete, with its directory; trace and
	 * s are valid during the call.  It may call app_record_duration().  May be NULL.
	 */
	void (*snapshot_done)(void *arg, const char *trace, const struct tacho_recorder_stats *s);
	void *arg;
};

struct app_record_result {
	/* What was written, valid until end; NULL: nothing was begun, or only snapshots. */
	const char *trace;
	struct tacho_recorder_stats stats;	/* of that */
};

/*
 * app_record_new - a recording that does nothing yet.
 *
 * The config is copied, what it points to is borrowed, as is the observer (which may be
 * NULL; its progress gets the number of events written, of 0).  Returns 0 and *r, to be given to
 * app_record_end(), or -ENOMEM with d filled in.
 */
int app_record_new(struct app_record **r, const struct app_record_config *config,
		   const struct tacho_observer *observer, struct tacho_diag *d);

/*
 * app_record_prepare - all that must be there before anything is recorded.
 *
 * Returns 0, or a negative errno with d filled in; app_record_end() then removes what was made.
 * When a filter, a trigger or a definition is malformed, app_record_malformed() returns its text.
 */
int app_record_prepare(struct app_record *r, struct tacho_diag *d);

/* The text that app_record_prepare() failed for, at byte d->offset of it; NULL: for no text. */
const char *app_record_malformed(const struct app_record *r);

/*
 * app_record_go - let the recording begin.
 *
 * Returns 0 when the command, if there is one, has been executed; else a negative errno
 * with d filled in.  When the errno is the command's, the trace has been begun.
 */
int app_record_go(struct app_record *r, struct tacho_diag *d);

/*
 * app_record_step - one turn: write what there is, wait 100 ms at most for more.
 *
 * Returns 1 when the recording goes on, 0 when it is over, or, once, a negative errno with d
 * filled in: see 4 above.  A flight recorder is over then.
 */
int app_record_step(struct app_record *r, struct tacho_diag *d);

/* app_record_run - steps until one returns 0 or an error, which it returns. */
int app_record_run(struct app_record *r, struct tacho_diag *d);

/*
 * app_record_finish - stop the writers, write the rest, close the trace.
 *
 * Remarks on what was recorded go to the observer.  Fills in *result in any case.  Returns 0, or a
 * negative errno with d filled in; an error that go or run has returned is not repeated.
 */
int app_record_finish(struct app_record *r, struct app_record_result *result,
		      struct tacho_diag *d);

/*
 * app_record_convert - make the trace that finish has closed into the configured format.
 *
 * result is the one that finish has filled in.  When it works, the directory is removed, and
 * result has the output and its size; without another format, nothing happens.  The
 * observer (which may be NULL) gets the conversion's progress and can cancel it.  Returns 0, or a
 * negative errno with d filled in: then the directory stays, and unless it could not be removed
 * only, result names it still.
 */
int app_record_convert(struct app_record *r, const struct tacho_observer *observer,
		       struct app_record_result *result, struct tacho_diag *d);

/*
 * app_record_release - take the session and the instance down, and keep the rest.
 *
 * For a caller that goes on with the trace and needs the memory no longer.  No function but
 * app_record_convert(), app_record_duration(), app_record_command_ended() and app_record_end()
 * may follow.  Returns 0, or a negative errno with d filled in: the session could not be removed.
 * What else remains is said to the observer.
 */
int app_record_release(struct app_record *r, struct tacho_diag *d);

/* app_record_end - release and free.  NULL is fine.  Returns what app_record_release() does. */
int app_record_end(struct app_record *r, struct tacho_diag *d);

/* Any thread, signal handlers: see 3 above. */
void app_record_stop(struct app_record *r);
void app_record_snapshot(struct app_record *r);
void app_record_rotate(struct app_record *r);

/* What is written by now; of a flight recorder all 0.  The observer may call these two. */
void app_record_stats(const struct app_record *r, struct tacho_recorder_stats *s);

/* ns since go; since finish has stopped the writers, from go until then. */
uint64_t app_record_duration(const struct app_record *r);

/* The name of the session and the instance, since prepare; borrowed until end. */
const char *app_record_name(const struct app_record *r);

/* Whether the command was executed and has ended; *status is as waitpid()'s. */
bool app_record_command_ended(const struct app_record *r, int *status);

#endif
