/* SPDX-License-Identifier: MIT */
/*
 * suggest.h - suggestions: the event names most similar to one that matches nothing.
 *
 * A name resembles another when at most a third of its letters (but one in any case)
 * differ, are missing, are extra or changed places with their neighbour, or when it contains the
 * typed text.  The wildcards of a glob are ignored.  A glob that leaves the event open ("shop:*")
 * gets systems as suggestions, never events.
 */
#ifndef TACHO_BASE_SUGGEST_H
#define TACHO_BASE_SUGGEST_H

#include <stddef.h>

#define TACHO_SUGGEST_MAX	4u	/* maximum kept, the best first */

/* Zero-initialise; needs no release. */
struct tacho_suggestions {
	char name[TACHO_SUGGEST_MAX][160];	/* "system:event", or "system:*" */
	unsigned int score[TACHO_SUGGEST_MAX];	/* 0: equal; ascending */
	unsigned int nr;
};

/*
 * Returns how many letters must change to turn a into b (Damerau-Levenshtein).  Names are cut at
 * 64 characters.
 */
unsigned int tacho_suggest_distance(const char *a, const char *b);

/*
 * Keeps "system:event", or its system, if it resembles glob ("system:event" or one
 * word) more than the worst of those that are kept.
 */
void tacho_suggest_event(struct tacho_suggestions *s, const char *glob, const char *system,
			 const char *event);

#endif
