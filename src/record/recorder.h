/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - from a session's rings and the kernel's buffers to a trace on disk.
 *
 * Each step copies the records that writers committed since the last step, checks them, and
 * appends packets.  A recorder has no essential state: written records are in the trace, the
 * others in the session, and both outlive it.  So a killed recorder loses nothing, and
 * tacho_recorder_config.resume continues where it stopped.
 *
 * How a second recorder knows where the first one stopped: every packet on disk has the number of
 * its first record (event_first) and the number of its records, so the last complete packet of a
 * stream gives the number of the next record.  The session still has that record: sub-buffers are
 * released to writers only after their records are written.
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

/* Counts since the start. */
struct tacho_recorder_stats {
	uint64_t events;	/* written to the trace */
	uint64_t kernel_events;	/* of them, the kernel's */
	uint64_t bytes;		/* of packets */
	uint64_t lost;		/* not written: full, overwritten, disk */
	uint64_t unread;	/* program records that remain in the session because writing
				 * failed */
	uint64_t damaged;	/* bytes in rings that were not valid records */
	uint32_t chunks;	/* directories, with rotation */
};

struct tacho_recorder_config {
	const char *dir;		/* the trace to write */
	struct tacho_session *session;	/* NULL: kernel only */
	struct tacho_kernel *kernel;	/* NULL: programs only; enabled, not started */
	uint32_t clock;			/* enum tacho_clock, of all sources */
	uint64_t clock_freq;
	struct tacho_clock_pair start;
	const uint8_t *uuid;		/* 16 bytes; NULL: generated */
	const char *command;		/* for the environment; NULL: none */
	/*
	 * Rotation: the trace is a directory of traces 0001, 0002, ...; a new one is begun when
	 * either limit is reached, or by tacho_recorder_rotate(); keep: maximum number of them,
	 * the oldest are removed.  All 0 and false: one trace.
	 */
	bool rotate;
	uint64_t rotate_bytes;
	uint64_t rotate_ns;
	uint32_t keep;
	/*
	 * Read the buffers that tacho_session_snapshot() froze, if any, without releasing
	 * sub-buffers.
	 */
	bool snapshot;
	/* A dead session: read frozen buffers and then the current ones. */
	bool everything;
	/* A flight recorder: records that the kernel overwrote do not count as lost. */
	bool flight;
	/*
	 * Write a window of a history instead of the current records of session and kernel, which
	 * remain unread.  NULL: none.
	 */
	struct tacho_history *history;
	struct tacho_history_window window;
	uint64_t to;	/* without a history: exclude later records (ticks; 0: no limit) */
	/*
	 * Number of the first record to write of each lane's current buffer, by lane; nr_resume
	 * entries.  NULL: from the oldest on.
	 */
	const uint64_t *resume;
	const uint64_t *resume_lost;	/* loss already reported, by lane; with resume */
	uint32_t nr_resume;
	bool no_kallsyms;		/* exclude kernel symbols */
};

/*
 * tacho_recorder_new - begin a trace.
 *
 * Session and kernel stay the caller's and must outlive the recorder.  Starts
 * the kernel's tracing.  Returns 0, or a negative errno with d filled in; nothing remains then.
 */
int tacho_recorder_new(struct tacho_recorder **rec,
		       const struct tacho_recorder_config *cfg,
		       struct tacho_diag *d);

/*
 * tacho_recorder_step - write the available records.
 *
 * Waits up to timeout_ms for records.  Returns 1 if more are available now, 0, or a negative
 * errno with d filled in (a full disk: -ENOSPC).  After an error no more records of the session
 * are written: they stay in the session, for a recorder that resumes.
 */
int tacho_recorder_step(struct tacho_recorder *rec, int timeout_ms,
			struct tacho_diag *d);

void tacho_recorder_stats(const struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s);

/*
 * tacho_recorder_tell - write what is currently known about threads and objects.
 *
 * For readers of an unfinished trace: otherwise names are written only at the end, or when a
 * chunk is full.  Returns 0, or a negative errno with d filled in.
 */
int tacho_recorder_tell(struct tacho_recorder *rec, struct tacho_diag *d);

/*
 * tacho_recorder_rotate - complete this trace and go on in the next one.
 *
 * Returns 0; -EINVAL: there is only one; or a negative errno with d filled in, and the recorder
 * stays where it was.
 */
int tacho_recorder_rotate(struct tacho_recorder *rec, struct tacho_diag *d);

/* The directory that is being written now; borrowed. */
const char *tacho_recorder_dir(const struct tacho_recorder *rec);

/*
 * tacho_recorder_finish - write the remaining records and close the trace.
 *
 * Stops the kernel's tracing and drains it; the caller should stop the session's writers before,
 * otherwise records that they write during the call remain in the session.  Frees rec in all
 * cases.  s may be NULL.
 */
int tacho_recorder_finish(struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s, struct tacho_diag *d);

#endif
