/* SPDX-License-Identifier: MIT */
/*
 * near.h - suggestions: which of many names is like one that matches nothing.
 *
 * A name is near when at most a third of the letters (but one in any case) differ,
 * are missing, too many, or stand in the place of their neighbour, or when it
 * contains what was typed.  Of a glob the other characters count; one that leaves
 * an event open ("shop:*") has systems near it, never events.
 */
#ifndef TACHO_BASE_NEAR_H
#define TACHO_BASE_NEAR_H

#include <stddef.h>

#define TACHO_NEAR_MAX	4u	/* as many are kept, the nearest first */

struct tacho_near {
	char name[TACHO_NEAR_MAX][160];	/* "system:event", or "system:*" */
	unsigned int score[TACHO_NEAR_MAX];
	unsigned int nr;
};

/* How many letters must change to make b of a; names are cut at 64. */
unsigned int tacho_near_distance(const char *a, const char *b);

/* Keeps the event, or its system, if it is near glob: "system:event", or one word. */
void tacho_near_event(struct tacho_near *n, const char *glob, const char *system,
		      const char *event);

#endif
