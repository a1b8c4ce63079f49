/* SPDX-License-Identifier: MIT */
/*
 * session_info.h - what one session is now: its state, its buffers, what they hold and lost.
 *
 * All of it is read from memory that programs write at the same time, so each value is right by
 * itself.  Sums of counts agree with each other while no writer is active.
 */
#ifndef TACHO_APP_SESSION_INFO_H
#define TACHO_APP_SESSION_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

enum app_session_state {
	APP_SESSION_RECORDING,
	APP_SESSION_STOPPED,
	APP_SESSION_DEAD,		/* another tool has destroyed it */
};

struct app_session_info {
	enum app_session_state state;
	bool overwrite;			/* flight recorder mode */
	uint32_t nr_lanes;
	uint64_t subbuf_size;		/* bytes */
	uint64_t clock_freq;		/* ticks per second */
	const char *clock;		/* its name; static */
	int32_t recorder;		/* pid of its owner; 0: none */
	bool recorder_runs;
	char kernel_instance[sizeof(((struct tacho_control *)0)->kernel_instance)];	/* or "" */
	char output[sizeof(((struct tacho_control *)0)->output) + 1];	/* of its recorder; or "" */
};

/* Records.  attempted = written + discarded; discarded is the sum of the last three. */
struct app_counts {
	uint64_t written;		/* committed to a buffer */
	uint64_t overwritten;		/* of these, replaced by newer ones */
	uint64_t read;			/* of these, released by readers */
	uint64_t full, large, busy;	/* discarded, by reason */
};

struct app_lane_info {
	uint32_t cpu;			/* of a fallback lane: the number of CPUs, or more */
	uint64_t memory;		/* bytes of its buffers */
	struct app_counts counts;
};

/* Fills in *info.  Cannot fail. */
void app_session_info(const struct tacho_session *s, struct app_session_info *info);

/*
 * app_session_lane - one lane, 0 to nr_lanes - 1.
 *
 * Returns 0, or a negative errno: a buffer could not be mapped for want of memory, and the counts
 * are too low.
 */
int app_session_lane(struct tacho_session *s, uint32_t nr, struct app_lane_info *lane);

/* The sums over all lanes; as app_session_lane().  cpu is 0. */
int app_session_sums(struct tacho_session *s, struct app_lane_info *sums);

#endif
