/* SPDX-License-Identifier: MIT */
/*
 * event.h - LTT's events of this program: shared by the library's files.
 *
 * The first call that needs one registers all of them with libtacho; from then on recording locks
 * nothing and allocates nothing. tracer.h has the design comment.
 */
#ifndef TACHO_COMPAT_LTT_EVENT_H
#define TACHO_COMPAT_LTT_EVENT_H

#include <ltt/trace.h>
#include <stdbool.h>

#include "fmt/ltt/layout.h"
#include "tacho/abi/site.h"

/* One event, or sub event, that programs make. */
struct ltt_event {
	const struct tacho_ltt_event *is;
	struct tacho_ltt_shape shape;
	struct tacho_event full, bare;
};

/* What follows the struct. */
struct ltt_data {
	const void *bytes;
	uint32_t len;
};

/* NULL: not an event of programs, or it cannot be registered. */
struct ltt_event *ltt_event_of(uint32_t id, uint32_t sub);

/* Sessions that take it and whose filters let it through, as bits.  event: its struct. */
uint64_t ltt_event_let(const struct ltt_event *e, const void *event);

/* Records it in those sessions. */
void ltt_event_record(struct ltt_event *e, const void *event, struct ltt_data data,
		      uint64_t sessions);

/* Whether some trace takes events of an id from this process; of one that it does not make: any. */
bool ltt_event_is_on(uint32_t id);

/* A number that distinguishes the session of a bit from a later one; 0: no session. */
uint64_t ltt_event_session(const struct ltt_event *e, uint32_t bit);

/* Whether it is a flight recorder, and which sub-buffer a CPU writes in it now. */
bool ltt_event_is_flight(const struct ltt_event *e, uint32_t bit);
uint64_t ltt_event_sub_buffer(const struct ltt_event *e, uint32_t bit, uint32_t cpu);

/* ---- callback.c ---- */

/* Calls the callbacks registered for this id. */
void ltt_call_back(uint8_t id, const void *event);

/* ---- over fork(): the library's locks, held by turns ---- */

void ltt_control_lock(void);
void ltt_control_unlock(void);
void ltt_custom_lock(void);
void ltt_custom_unlock(void);
void ltt_callback_lock(void);
void ltt_callback_unlock(void);

#endif
