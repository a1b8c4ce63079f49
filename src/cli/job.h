/* SPDX-License-Identifier: MIT */
/*
 * job.h - one recording: its session, its kernel instance, its command.
 *
 *	prepare		session and instance are made, the command is forked
 *			and waits
 *	go		recording begins, the command runs
 *	(record.c or flight.c pumps, dumps, waits)
 *	end		everything is taken down again
 */
#ifndef TACHO_CLI_JOB_H
#define TACHO_CLI_JOB_H

#include <sys/types.h>

#include "cli/list_arg.h"
#include "kernel/instance.h"
#include "record/recorder.h"
#include "session/session.h"

#define JOB_COMMANDS_MAX	16

struct tacho_sink_format;

struct job_options {
	const char *output;
	bool output_given;
	const char *to;			/* format, as the user says it; or NULL */
	const char *target;		/* what to make of output at the end, or NULL */
	const struct tacho_sink_format *format;	/* the target's, or output's */
	const char *session;
	struct cli_list events;		/* of programs */
	struct cli_list kernel;
	struct cli_list pids;
	int clock;			/* enum tacho_clock, -1: best */
	uint64_t lane_size, sub_size;	/* 0: default */
	uint64_t kernel_size;
	uint64_t rotate_bytes, rotate_ns;
	uint32_t keep;
	uint64_t duration;		/* ns; 0: until stopped */
	uint64_t before, after;		/* ns */
	const char *on;			/* event to keep around */
	const char *on_kernel;
	uint64_t dumps;			/* stop after that many; 0: never */
	bool flight;
	bool follow;			/* children of -p */
	bool command_only;		/* kernel events of the command alone */
	bool no_kallsyms;
	bool stack;			/* call stacks behind events */
	bool json;
	const char *filter[JOB_COMMANDS_MAX];	/* "[EVENT/]EXPR" */
	const char *trigger[JOB_COMMANDS_MAX];	/* "EVENT/TRIGGER" */
	const char *synth[JOB_COMMANDS_MAX];
	uint32_t nr_filters, nr_triggers, nr_synths;
	char **command;			/* NULL: none */
};

struct job {
	const struct job_options *opt;
	struct tacho_dir dir;
	struct tacho_session session;
	bool has_session;
	struct tacho_kernel *kernel;
	uint32_t clock;			/* enum tacho_clock */
	uint64_t clock_freq;
	struct tacho_clock_pair start;
	uint64_t began, ended;		/* CLOCK_MONOTONIC, ns; ended 0: not yet */
	pid_t child;			/* 0: none, or it has ended */
	uint8_t watch_uuid[16];		/* of the session that --on makes */
	int child_status;
	/* texts of --filter and --trigger that the kernel has taken */
	const char *kernel_text[2 * JOB_COMMANDS_MAX];
	uint32_t nr_kernel_texts;
	bool unread;			/* not all could be written: the session stays */
	int gate;			/* the child waits for a byte from it */
	char text[512];			/* the command, for the environment */
	char name[TACHO_NAME_MAX];
};

/* 0, or the exit status; what was made so far is taken down again. */
int job_prepare(struct job *job, const struct job_options *opt);

/*
 * Gives the session and the kernel's instance the filters, triggers and synthetic
 * events of the options.  CLI_OK, or an exit status with a message.
 */
int job_set_commands(struct job *job);

/*
 * Restricts another session, another instance, or both to the processes and, by
 * --filter, to the events that the job records.  NULL: none.  CLI_OK, or an exit
 * status with a message.
 */
int job_restrict(const struct job *job, struct tacho_session *session,
		 struct tacho_kernel *kernel);

/*
 * job_commands.c: says which events no program had, and which commands fitted no
 * event of any program, and why.
 * Before the session is destroyed.
 */
void job_say_unfit(struct job *job);

/* job_commands.c: the filters alone, where they fit. */
void job_set_filters(const struct job *job, struct tacho_session *session,
		     struct tacho_kernel *kernel);

/* Lets the command run.  0 or the exit status. */
int job_go(struct job *job);

/* Fills in what a recorder needs; `dir` is where it writes. */
void job_recorder_config(const struct job *job, const char *dir,
			 struct tacho_recorder_config *cfg);

/*
 * Whether to go on: no signal came, the time is not up, the command runs.  Once it
 * does not, it never does again.
 */
bool job_runs(struct job *job);

/* A time of the options in ticks of the job's clock. */
uint64_t job_ticks(const struct job *job, uint64_t ns);

/* Whether another process asked for a snapshot (SIGUSR1) since the last call. */
bool job_wants_snapshot(void);

/* Signals do again what they do to any program. */
void job_default_signals(void);

/* Takes everything down; of an unread session says how to get at it. */
void job_end(struct job *job);

#endif
