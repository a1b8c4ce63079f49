/* SPDX-License-Identifier: MIT */
/*
 * <sys/traceparser.h> - reading a trace file with callbacks.
 *
 * The headers of 6.4 to 8.0 confirm names, numbers and signatures, unless marked; the
 * comments are tacho's own.
 */
#ifndef __TRACEPARSER_H_INCLUDED
#define __TRACEPARSER_H_INCLUDED

#include <stdint.h>
#include <stdio.h>

#include "qnx_release.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct traceparser_state;

/* The kinds of traceparser_get_info(): >= 0 is a keyword of the file's header. */
typedef enum {
	_TRACEPARSER_INFO_SYSPAGE = -1,			/* the raw blob */
	_TRACEPARSER_INFO_ENDIAN_CONV = -2,		/* 1: the file is of the other order */
	_TRACEPARSER_INFO_NOW_CALLBACK_CLASS = -3,	/* internal, index */
	_TRACEPARSER_INFO_NOW_CALLBACK_EVENT = -4,
	_TRACEPARSER_INFO_PREV_CALLBACK_CLASS = -5,
	_TRACEPARSER_INFO_PREV_CALLBACK_EVENT = -6,
	_TRACEPARSER_INFO_PREV_CALLBACK_RETURN = -7,
	_TRACEPARSER_INFO_DEBUG = -8,
	_TRACEPARSER_INFO_ERROR = -9,
#if _QNX_RELEASE >= 710
	_TRACEPARSER_INFO_ERROR_STR = -10,
	_TRACEPARSER_INFO_STATS = -11,
	_TRACEPARSER_INFO_EVENT_ID = -12,
	_TRACEPARSER_INFO_CLK_MSB = -13,
	_TRACEPARSER_INFO_CLK_INTIAL = -14,		/* spelt this way on QNX */
	_TRACEPARSER_INFO_CLK = -15,
	_TRACEPARSER_INFO_CLK_DELTA = -16,
	_TRACEPARSER_INFO_TIME_DELTA = -17,
#endif
	_TRACEPARSER_INFO_HEADER_BEGIN = 0,
	_TRACEPARSER_INFO_FILE_NAME = 1,
	_TRACEPARSER_INFO_DATE = 2,
	_TRACEPARSER_INFO_VER_MAJOR = 3,
	_TRACEPARSER_INFO_VER_MINOR = 4,
	_TRACEPARSER_INFO_LITTLE_ENDIAN = 5,
	_TRACEPARSER_INFO_BIG_ENDIAN = 6,
	_TRACEPARSER_INFO_MIDDLE_ENDIAN = 7,
	_TRACEPARSER_INFO_ENCODING = 8,
	_TRACEPARSER_INFO_BOOT_DATE = 9,
	_TRACEPARSER_INFO_CYCLES_PER_SEC = 10,
	_TRACEPARSER_INFO_CPU_NUM = 11,
	_TRACEPARSER_INFO_SYSNAME = 12,
	_TRACEPARSER_INFO_NODENAME = 13,
	_TRACEPARSER_INFO_SYS_RELEASE = 14,
	_TRACEPARSER_INFO_SYS_VERSION = 15,
	_TRACEPARSER_INFO_MACHINE = 16,
	_TRACEPARSER_INFO_SYSPAGE_LEN = 17,
#if _QNX_RELEASE >= 800
	_TRACEPARSER_INFO_NORMALIZEDN = 18,		/* its meaning is not confirmed */
	_TRACEPARSER_INFO_HEADER_END = 19,
#else
	_TRACEPARSER_INFO_HEADER_END = 18,
#endif
} info_modes_t;

/* The errors of _TRACEPARSER_INFO_ERROR. */
enum {
	_TRACEPARSER_UNKNOWN_CLASS = 0,
	_TRACEPARSER_UNKNOWN_PR_TH_EVENT = 1,
	_TRACEPARSER_UNKNOWN_CONTROL_EVENT = 2,
	_TRACEPARSER_UNKNOWN_KER_CALL_EVENT = 3,
	_TRACEPARSER_UNKNOWN_INT_EVENT = 4,
	_TRACEPARSER_UNKNOWN_CONTAINER_EVENT = 5,
	_TRACEPARSER_UNKNOWN_USR_EVENT = 6,
	_TRACEPARSER_UNKNOWN_COMM_EVENT = 7,
	_TRACEPARSER_NO_MORE_MEMORY = 8,
	_TRACEPARSER_WRONG_H_KEYWORD = 9,
	_TRACEPARSER_NULL_STATE_PTR = 10,
	_TRACEPARSER_WRONG_ENDIAN_TYPE = 11,
	_TRACEPARSER_CANNOT_READ_IN_FILE = 12,
	_TRACEPARSER_WRONG_FILE_VERSION = 13,
	_TRACEPARSER_MISSING_FIELD = 14,
#if _QNX_RELEASE >= 800
	_TRACEPARSER_INVALID_DATA = 15,
	_TRACEPARSER_NOT_SEEKABLE = 16,
	_TRACEPARSER_UNKNOWN_ERROR = 17,
#else
	_TRACEPARSER_UNKNOWN_ERROR = 15,
#endif
};

/* traceparser_debug(): the kinds of output. */
#define _TRACEPARSER_DEBUG_ALL		0xffffffffu
#define _TRACEPARSER_DEBUG_NONE		0u
#define _TRACEPARSER_DEBUG_ERRORS	1u
#define _TRACEPARSER_DEBUG_HEADER	2u
#define _TRACEPARSER_DEBUG_SYSPAGE	4u
#define _TRACEPARSER_DEBUG_EVENTS	8u

/*
 * Called with an event: its header word (the first of a combine event), the low half of
 * its time, and its words, as in the file.  The return value is kept only for
 * _TRACEPARSER_INFO_PREV_CALLBACK_RETURN.
 */
typedef int (*tracep_callb_func_t)(struct traceparser_state *state, void *user,
				   unsigned header, unsigned time, unsigned *buf,
				   unsigned nwords);

/* Returns a new state, or (state not NULL) resets that one.  NULL and errno: no memory. */
struct traceparser_state *traceparser_init(struct traceparser_state *state);

/* Frees it and sets *state to NULL. */
void traceparser_destroy(struct traceparser_state **state);

/* Writes the output selected by `flags` to f.  Returns 0, or -1 and EINVAL. */
int traceparser_debug(struct traceparser_state *state, FILE *f, unsigned flags);

/* Thread events are bits up to 7.1, then numbers: the library has a call for each. */
#if _QNX_RELEASE < 800
#define _TRACEPARSER_SYMBOL_(name)	__asm__("tacho_" name "_bits")
#else
#define _TRACEPARSER_SYMBOL_(name)	__asm__(name)
#endif

/*
 * Registers a callback for one event, or for those from first to last: external
 * class and event.  Interrupt events by range only, _NTO_TRACE_INTFIRST to
 * _NTO_TRACE_INTLAST.  user NULL: that of traceparser().  Returns 0, or -1 and EINVAL.
 */
int traceparser_cs(struct traceparser_state *state, void *user,
		   tracep_callb_func_t callback, unsigned cls, unsigned event)
	_TRACEPARSER_SYMBOL_("traceparser_cs");
int traceparser_cs_range(struct traceparser_state *state, void *user,
			 tracep_callb_func_t callback, unsigned cls,
			 unsigned first, unsigned last)
	_TRACEPARSER_SYMBOL_("traceparser_cs_range");

/* Reads the file and calls the callbacks.  0, or -1 and errno; see _TRACEPARSER_INFO_ERROR. */
int traceparser(struct traceparser_state *state, void *user, const char *file);

/* Returns information, *len (may be NULL) bytes; NULL if there is none. */
#if _QNX_RELEASE >= 710
const void *traceparser_get_info(struct traceparser_state *state,
				 info_modes_t mode, unsigned *len);
#else
void *traceparser_get_info(struct traceparser_state *state, info_modes_t mode,
			   unsigned *len);
#endif

#if _QNX_RELEASE >= 660
/* Passes one slot to the parser; its exact behaviour is not confirmed. */
int traceparser_one_event(struct traceparser_state *state, traceevent_t *event);
#endif

#if _QNX_RELEASE >= 800
#define _TRACEPARSER_NOSORT	0	/* the names are not confirmed */
#define _TRACEPARSER_SORT	1
void traceparser_sort(struct traceparser_state *state, unsigned sort);
#endif

#ifdef __cplusplus
}
#endif

#endif
