/* SPDX-License-Identifier: MIT */
/* record_priv.h - a recording, between the files that make one (record.h). */
#ifndef TACHO_APP_RECORD_PRIV_H
#define TACHO_APP_RECORD_PRIV_H

#include <sys/types.h>

#include "app/record.h"
#include "tracefs/instance.h"
#include "session/session.h"

#define APP_STEP_MS	100

struct app_flight;

struct app_record {
	struct app_record_config config;
	const struct tacho_observer *observer;
	struct tacho_dir dir;
	struct tacho_session session;
	bool has_session;
	struct tacho_kernel *kernel;	/* NULL: none */
	uint32_t clock;			/* enum tacho_clock */
	uint64_t clock_freq;
	struct tacho_clock_pair start;
	uint64_t began, ended;		/* CLOCK_MONOTONIC, ns; 0: not yet */
	struct tacho_recorder *recorder;	/* since go; NULL: none */
	struct app_flight *flight;	/* in its place; NULL: none */
	bool failed;			/* go or writing did */
	bool write_failed;		/* to the trace */
	bool noted_memory;		/* ... and that memory is recorded into was said */
	bool unread;			/* not all could be written: the session stays */

	/* the command */
	char **environment;		/* its own; NULL: the caller's */
	char follow[96];		/* "TACHO_FOLLOW=...", in environment */
	pid_t child;			/* 0: none, or it has ended */
	int child_status;
	bool child_ran;			/* it has been executed */
	int gate;			/* the child waits for a byte from it; -1: none */
	char command_line[512];		/* for the trace's environment */

	char trace[4200];		/* the directory that is recorded into */
	uint8_t watch_uuid[16];		/* of the session that watches for snapshot_event */
	const char *malformed;		/* see app_record_malformed() */
	/* texts of filters and triggers that the kernel has taken */
	const char *kernel_text[2 * APP_RECORD_CONTROLS_MAX];
	uint32_t nr_kernel_texts;
	char name[TACHO_NAME_MAX];

	/* any thread and signal handlers: relaxed, each is a word of its own */
	uint32_t stop;
	uint32_t snapshots;		/* requested so far */
	uint32_t rotations;		/* likewise */

	uint32_t rotated;		/* of rotations, done */
};

/* Whether the recording overwrites memory and writes snapshots of it. */
static inline bool record_is_flight(const struct app_record *r)
{
	const struct app_record_config *c = &r->config;

	return c->flight || c->snapshot_event || c->snapshot_kernel_event;
}

/*
 * Whether to go on: it was not stopped, the time is not up, the command runs.  Once it
 * does not, it never does again.
 */
bool record_runs(struct app_record *r);

/* Whether it was stopped, or its observer cancels it. */
bool record_is_stopped(struct app_record *r);

/* Opens the session for the writers, and the command's gate.  0 or a negative errno with d. */
int record_open(struct app_record *r, struct tacho_diag *d);

/* A time in ticks of the recording's clock. */
uint64_t record_ticks(const struct app_record *r, uint64_t ns);

/* Fills in what a recorder needs; dir, where it writes, is borrowed. */
void record_recorder_config(const struct app_record *r, const char *dir,
			    struct tacho_recorder_config *cfg);

/* ---- record_setup.c ---- */

/* Makes the instance and the session.  0, or a negative errno with d; both may be there then. */
int record_make(struct app_record *r, struct tacho_diag *d);

/* Sets which processes and which events they record.  0, or a negative errno with d. */
int record_select(struct app_record *r, struct tacho_diag *d);

/*
 * Restricts another session, another instance, or both, to the processes and, by the filters,
 * to the events that r records.  NULL: none.  0, or a negative errno with d.
 */
int record_restrict(const struct app_record *r, struct tacho_session *session,
		    struct tacho_kernel *kernel, struct tacho_diag *d);

/* ---- record_format.c ---- */

/* Names the directory that is recorded into.  0, or a negative errno with d. */
int record_name_trace(struct app_record *r, struct tacho_diag *d);

/* Whether it, and the output, can be made.  0, or a negative errno with d. */
int record_output_ready(const struct app_record *r, struct tacho_diag *d);

/* ---- record_child.c ---- */

/* Forks the command, which waits.  0, or a negative errno with d. */
int record_fork(struct app_record *r, struct tacho_diag *d);

/* Executes it.  0, or a negative errno with d: it could not be, and is gone. */
int record_execute(struct app_record *r, struct tacho_diag *d);

/* Whether it has ended; never waits. */
bool record_child_ended(struct app_record *r);

/* Lets go of it: it ends if it was not executed. */
void record_child_release(struct app_record *r);

/* ---- record_control.c ---- */

/*
 * Gives the session and the instance the filters, triggers and synthetic events.  0, or a
 * negative errno with d; r->malformed is the text that it is about.
 */
int record_set_controls(struct app_record *r, struct tacho_diag *d);

/* The filters alone, where they fit. */
void record_set_filters(const struct app_record *r, struct tacho_session *session,
			struct tacho_kernel *kernel);

/* ---- record_notes.c ---- */

/*
 * Says which events no program had, which filters and triggers fitted no event of any program,
 * and why, and what programs could not do since the recording began.  Before the session is
 * destroyed.
 */
void record_note_effects(struct app_record *r);

#endif
