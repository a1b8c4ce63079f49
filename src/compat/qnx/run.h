/* SPDX-License-Identifier: MIT */
/*
 * run.h - QNX's trace in a program: shared by the files of the library.
 *
 * An event is registered with libtacho when it is inserted for the first time; from then on
 * nothing is locked and nothing allocated.
 *
 *	U1  class USER: a table of all 1024 numbers in three forms (fmt/kev/types.h), static,
 *	    so that the first time may be in a signal handler, too
 *	U2  other classes: types of the table of events, which takes memory.  The first time of
 *	    one of these is not for signal handlers; those of trace_here() and
 *	    trace_func_*() are made when the program starts
 *
 * Registering takes a mutex with all signals blocked, so that no handler finds its own
 * thread inside; it is held over fork().
 */
#ifndef TACHO_COMPAT_QNX_RUN_H
#define TACHO_COMPAT_QNX_RUN_H

#include <signal.h>
#include <sys/trace.h>

#include "base/compiler.h"
#include "compat/qnx/state.h"
#include "tacho/abi/site.h"

/* Words of an event that is not of class USER. */
#define QNX_WORDS_MAX	512u

struct qnx_event {
	uint32_t ready;			/* the rest is valid; stored last */
	uint16_t code;
	uint8_t fixed;			/* words before the text or the bytes */
	uint8_t kind;			/* enum tacho_kev_kind */
	struct tacho_event event;
	struct tacho_event *list;
	struct tacho_object object;
	char name[24];
};

enum qnx_user_form { QNX_USER_WORDS, QNX_USER_DATA, QNX_USER_TEXT, QNX_USER_FORMS };

struct qnx_run {
	/* never NULL: a constant that wants everything, until the shared one is mapped */
	const struct qnx_state *state;
	uint32_t hooks;			/* handlers that there are: the slow way */
};

extern struct qnx_run qnx_run;
extern struct qnx_event qnx_user[QNX_USER_FORMS][QNX_EVENTS];

/* Registers it; false: it cannot be recorded. */
bool qnx_user_begin(enum qnx_user_form form, uint32_t event);

/* All take 0 or -1 and errno for their caller.  Any thread, any signal handler, but U2. */
int qnx_insert_user(uint32_t event, const void *bytes, size_t n);
int qnx_insert_words(uint32_t code, const uint32_t *words, uint32_t nr);
int qnx_insert_text(uint32_t event, const char *text);
int qnx_insert_slot(uint32_t header, uint32_t stamp, uint32_t d0, uint32_t d1);

/* Events that are made when the program starts; nr values of 64 bits. */
enum qnx_known { QNX_KNOWN_HERE, QNX_KNOWN_ENTER, QNX_KNOWN_EXIT, QNX_NR_KNOWN };
int qnx_insert_known(enum qnx_known which, const uint64_t *value, uint32_t nr);

/* The event to record. */
struct qnx_hit {
	uint32_t code;
	const uint32_t *words;		/* the first nr of them, for handlers */
	uint32_t nr;
};

/*
 * J2 of state.h: the sessions that get the event, of those that want it.
 */
uint64_t qnx_judge(const struct qnx_event *e, const struct qnx_hit *hit);

/* ---- handler.c ---- */

typedef int (*qnx_handler)(event_data_t *data);

#define QNX_HANDLERS_MAX	128u

/* event QNX_ALL_EVENTS: of the class.  0, -EFAULT, -ENOMEM (there are 128). */
int qnx_handler_add(uint32_t class_, uint32_t event, bool states, qnx_handler fn,
		    event_data_t *data);
int qnx_handler_remove(uint32_t class_, uint32_t event, bool states);

/* Whether all handlers of the event return non-zero. */
bool qnx_handlers_say(uint32_t class_, uint32_t event, const struct qnx_hit *hit);

/* Calls the hook of InterruptHookTrace() if a buffer is full, or if `flush`. */
void qnx_hook_look(bool flush);

/* All signals blocked, and the library's mutex held. */
void qnx_lock(sigset_t *was);
void qnx_unlock(const sigset_t *was);

#endif
