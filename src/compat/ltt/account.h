/* SPDX-License-Identifier: MIT */
/*
 * account.h - what happened how often in a trace of LTT, and what each process did.
 *
 * A process runs from the SCHEDCHANGE that brings it in to the one that takes it out;
 * it is in its own code while it runs and is in no system call, trap or interrupt.
 */
#ifndef TACHO_COMPAT_LTT_ACCOUNT_H
#define TACHO_COMPAT_LTT_ACCOUNT_H

#include "fmt/ltt/describe.h"
#include "stream/facts.h"

struct ltt_account;

/* NULL without memory. */
struct ltt_account *ltt_account_new(void);
void ltt_account_free(struct ltt_account *a);

/*
 * Counts one record; those of one CPU come in the order of time.  frame: it is about
 * buffers, only its time counts.  0 or -ENOMEM.
 */
int ltt_account_event(struct ltt_account *a, const struct tacho_record *r,
		      const struct tacho_ltt_seen *seen, bool frame);

/* Prints the summary, with processes when `details`. */
void ltt_account_print(const struct ltt_account *a, struct tacho_facts *facts,
		       const struct tacho_ltt_words *words, bool details,
		       struct tacho_buf *out);

#endif
