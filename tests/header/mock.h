/* SPDX-License-Identifier: MIT */
/*
 * mock.h - a libtacho that only remembers.
 *
 * mock.c has the two calls that objects need.  It switches every event on as
 * it is registered (unless mock_set_all(0) came first), keeps each raw event
 * and lets a test look at it.  Built as libtacho.so.0 it is found by
 * TACHO_OPTIONAL objects, and with MOCK_PRINT set it prints what it gets.
 */
#ifndef TACHO_TESTS_HEADER_MOCK_H
#define TACHO_TESTS_HEADER_MOCK_H

#include "tacho/abi/site.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOCK_API __attribute__((visibility("default")))

struct mock_record {
	const struct tacho_event *ev;
	size_t len;
	unsigned char *raw;
};

/* Switches all events on or off, those that come later too. */
MOCK_API void mock_set_all(int on);

/* The i-th registered event called name, still known; NULL beyond. */
MOCK_API const struct tacho_event *mock_event(const char *system,
					      const char *name, unsigned int i);

/* Number of objects that are registered now. */
MOCK_API unsigned int mock_objects(void);

/* The value of a TRACE_DEFINE_ENUM or _SIZEOF; `fallback` if not there. */
MOCK_API long long mock_eval(const char *system, const char *name,
			     long long fallback);

/* Records since the last mock_clear(), in order; NULL beyond the last. */
MOCK_API const struct mock_record *mock_record(unsigned int i);
MOCK_API void mock_clear(void);

/* Raw events that were too large, and scratch memory still out. */
MOCK_API unsigned int mock_lost_big(void);
MOCK_API unsigned int mock_scratch_used(void);
MOCK_API int mock_scratch_out(void);

/*
 * The field lines and the print format of an event as the kernel's `format`
 * file has them.  Borrowed until the next call.
 */
MOCK_API const char *mock_format(const struct tacho_event *ev);

/* A record as the print format says (print.c).  Borrowed likewise. */
const char *mock_text(const struct mock_record *r);

#ifdef __cplusplus
}
#endif

#endif
