/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - from a session's rings and the kernel's buffers to a trace on disk.
 *
 * A recorder is a pump: each step copies what writers committed since the
 * last one, checks it, and appends packets.  It holds no state that matters: what
 * it has written is in the trace, what it has not is in the session, and both
 * outlive it.  So a recorder that is killed loses nothing, and
 * tacho_recorder_config.resume goes on where it stopped.
 *
 * How a second recorder knows where the first one stopped: every packet on disk
 * carries the number of its first record (event_first) and how many there are, so
 * the last whole packet of a stream says which record comes next.  The session
 * still has it: sub-buffers are given back to writers only after their records are
 * written.
 *
 * One thread uses a recorder.  Not for signal handlers.
 */
#ifndef TACHO_RECORD_RECORDER_H
#define TACHO_RECORD_RECORDER_H

#include "base/diag.h"
#include "fmt/ctf/write.h"
#include "tracefs/instance.h"
#include "record/history.h"
#include "session/session.h"

struct tacho_recorder;

/* What is recorded since the start. */
struct tacho_recorder_stats {
	uint64_t events;	/* written to the trace */
	uint64_t kernel_events;	/* of them, the kernel's */
	uint64_t bytes;		/* of packets */
	uint64_t lost;		/* not written: full, overwritten, disk */
	uint64_t unread;	/* of programs, and still in the session: writing failed */
	uint64_t damaged;	/* bytes in rings that were no records */
	uint32_t chunks;	/* directories, with rotation */
};

struct tacho_recorder_config {
	const char *dir;		/* the trace to write */
	struct tacho_session *session;	/* NULL: kernel only */
	struct tacho_kernel *kernel;	/* NULL: programs only; enabled, not started */
	uint32_t clock;			/* enum tacho_clock, of all sources */
	uint64_t clock_freq;
	struct tacho_clock_pair start;
	const uint8_t *uuid;		/* 16 bytes; NULL: made up */
	const char *command;		/* for the environment; NULL: none */
	/*
	 * Rotation: the trace is a directory of traces 0001, 0002, ...; a new
	 * one is begun when either limit is reached; with `keep` only the last
	 * that many stay.  All 0: one trace.
	 */
	uint64_t rotate_bytes;
	uint64_t rotate_ns;
	uint32_t keep;
	/*
	 * Read what tacho_session_snapshot() froze, without giving sub-buffers
	 * back, where there is something frozen.
	 */
	bool snapshot;
	/* A dead session: read frozen buffers and then the current ones. */
	bool everything;
	/* A flight recorder: what the kernel overwrote is not loss. */
	bool flight;
	/*
	 * Write a window of a history instead of what session and kernel hold now,
	 * which is not touched.  NULL: none.
	 */
	struct tacho_history *history;
	struct tacho_history_window window;
	uint64_t to;	/* without one: leave out what comes later (ticks; 0: no limit) */
	/*
	 * First record wanted of each lane's current buffer, by lane; nr_resume of
	 * them.  NULL: from the oldest on.
	 */
	const uint64_t *resume;
	const uint64_t *resume_lost;	/* loss told already, by lane; with resume */
	uint32_t nr_resume;
	bool no_kallsyms;		/* leave kernel symbols out */
};

/*
 * tacho_recorder_new - begin a trace.
 *
 * Session and kernel stay the caller's and must outlive the recorder.  Starts
 * the kernel's tracing.  Returns 0, or a negative errno with a sentence in d and nothing left
 * behind.
 */
int tacho_recorder_new(struct tacho_recorder **rec,
		       const struct tacho_recorder_config *cfg,
		       struct tacho_diag *d);

/*
 * tacho_recorder_step - write what there is.
 *
 * Waits up to timeout_ms for something to come.  Returns 1 when there
 * is more at once, 0, or a negative errno with d filled in (a full disk:
 * -ENOSPC).  After that nothing more of the session is written: what is not
 * in the trace stays in the session, for one who resumes.
 */
int tacho_recorder_step(struct tacho_recorder *rec, int timeout_ms,
			struct tacho_diag *d);

void tacho_recorder_stats(const struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s);

/*
 * tacho_recorder_tell - write what is known by now of threads and objects.
 *
 * For who reads the trace before it is finished: names are written then, or when a chunk is
 * full.  Returns 0, or a negative errno with d filled in.
 */
int tacho_recorder_tell(struct tacho_recorder *rec, struct tacho_diag *d);

/* The directory that is being written now; borrowed. */
const char *tacho_recorder_dir(const struct tacho_recorder *rec);

/*
 * tacho_recorder_finish - write all the rest and close the trace.
 *
 * Stops the kernel's tracing and drains it; the session's writers should be
 * stopped before by the caller, else what they write meanwhile is left in
 * the session.  Frees rec in any case.  s may be NULL.
 */
int tacho_recorder_finish(struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s, struct tacho_diag *d);

#endif
