/* SPDX-License-Identifier: MIT */
/*
 * context.h - common_flags and common_preempt_count as the kernel shows them.
 *
 *	dNh2.
 *	||||+- migrate-disable depth
 *	|||+-- preempt-disable depth
 *	||+--- z Z NMI, h H hard interrupt (within a soft one), s soft interrupt
 *	|+---- n N p l b L B: which rescheduling is requested
 *	+----- d D interrupts off, b D bottom halves off
 */
#ifndef TACHO_EVENT_CONTEXT_H
#define TACHO_EVENT_CONTEXT_H

#include <string.h>

#include "base/compiler.h"

#define TACHO_CONTEXT_LETTERS	5

/* Writes the letters of any flags other than none; `to` must have room. */
char *tacho_context_some(char *to, unsigned int flags, unsigned int count);

/* Writes the five letters, no NUL.  Returns the end of them. */
static inline char *tacho_context_put(char *to, unsigned int flags,
				      unsigned int count)
{
	if (tacho_unlikely(flags || count))
		return tacho_context_some(to, flags, count);
	memcpy(to, ".....", TACHO_CONTEXT_LETTERS);
	return to + TACHO_CONTEXT_LETTERS;
}

#endif
