/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the trace file of QNX, .kev: the layout that writer and reader share.
 *
 *	TRACE_HEADER_BEGIN::TRACE_FILE_NAME::/tmp/x.kevTRACE_DATE::...TRACE_HEADER_END::
 *	the system page, as many bytes as the attribute SYSPAGE_LEN says
 *	slots of 16 bytes to the end
 *
 * An attribute is "TRACE_" KEY "::" VALUE; there is no separator, and a value ends where the next
 * attribute begins.  A file may also be slots from its first byte on.
 *
 * A slot
 *
 *	 0  u32		header word: 31-30 struct, 29-24 CPU, 23-16 flags, 15 zero,
 *			14-10 class, 9-0 event
 *	 4  u32		low half of the clock's cycles
 *	 8  u32[2]	two words of arguments
 *
 * all in the byte order of the traced machine, which one of the attributes
 * LITTLE_ENDIAN and BIG_ENDIAN says (each "TRUE").
 *
 * struct is S (a simple event), or B, C..., E: the parts of a combine event, which
 * agree in time, class, event and CPU.  Its words are those of its parts, so their number is
 * even; surplus words are zero.  Other events may be between two parts.
 *
 * The high half of a CPU's cycles is that of the last CONTROL/TIME event on the CPU,
 * whose arguments are both halves.
 *
 * The numbers of classes and events here are the *internal* ones of header words; the
 * names for them, and what the arguments are, is in events.table.
 */
#ifndef TACHO_FMT_KEV_LAYOUT_H
#define TACHO_FMT_KEV_LAYOUT_H

#include <stdint.h>

#define TACHO_KEV_PREFIX	"TRACE_"
#define TACHO_KEV_POSTFIX	"::"
#define TACHO_KEV_BEGIN		"TRACE_HEADER_BEGIN::"
#define TACHO_KEV_END		"TRACE_HEADER_END::"

#define TACHO_KEV_SLOT		16u	/* bytes */
#define TACHO_KEV_CPUS		64u

#define TACHO_KEV_STRUCT(h)	((h) >> 30)
#define TACHO_KEV_CPU(h)	((h) >> 24 & 0x3f)
#define TACHO_KEV_FLAGS(h)	((h) >> 15 & 0x1ff)	/* and the bit that is zero */
#define TACHO_KEV_CLASS(h)	((h) >> 10 & 0x1f)
#define TACHO_KEV_EVENT(h)	((h) & 0x3ff)
/* Class and event, which identify the kind of an event. */
#define TACHO_KEV_CODE(h)	((h) & 0x7fff)
#define TACHO_KEV_CODES		0x8000u
/* The common data of the parts of a combine event. */
#define TACHO_KEV_KEY(h)	((h) & 0x3fffffff)

enum tacho_kev_struct {
	TACHO_KEV_S = 0,
	TACHO_KEV_CB = 1,
	TACHO_KEV_CC = 2,
	TACHO_KEV_CE = 3,
};

enum tacho_kev_class {
	TACHO_KEV_EMPTY = 0,
	TACHO_KEV_CONTROL = 1,
	TACHO_KEV_KER_CALL = 2,
	TACHO_KEV_INT = 3,
	TACHO_KEV_PR_TH = 4,
	TACHO_KEV_SYSTEM = 5,
	TACHO_KEV_USER = 6,
	TACHO_KEV_COMM = 7,
	TACHO_KEV_QUIP = 8,
	TACHO_KEV_SEC = 9,
	TACHO_KEV_QVM = 10,
	TACHO_KEV_PMU = 11,
	TACHO_KEV_NR_CLASSES = 12,
};

#define TACHO_KEV_MAKE(class_, event)	((uint32_t)(class_) << 10 | (uint32_t)(event))

#define TACHO_KEV_TIME		TACHO_KEV_MAKE(TACHO_KEV_CONTROL, 1)
#define TACHO_KEV_BUFFER	TACHO_KEV_MAKE(TACHO_KEV_CONTROL, 2)

/* Events of class KER_CALL. */
#define TACHO_KEV_CALL_EXIT	0x080u	/* added to the call's number */
#define TACHO_KEV_CALL_INT	0x100u
#define TACHO_KEV_64		0x200u	/* arguments of 64 bits; SYSTEM has it, too */

/* Events of class PR_TH. */
#define TACHO_KEV_VTHREAD	26u	/* added to a state, up to 7.1 */
#define TACHO_KEV_PROCESS	64u	/* k times that: enum tacho_kev_process */

enum tacho_kev_process {
	TACHO_KEV_PROC_CREATE = 1,
	TACHO_KEV_PROC_DESTROY = 2,
	TACHO_KEV_PROC_CREATE_NAME = 3,
	TACHO_KEV_PROC_DESTROY_NAME = 4,
	TACHO_KEV_PROC_THREAD_NAME = 5,
};

/* States of threads that all releases have. */
enum {
	TACHO_KEV_TH_DEAD = 0,
	TACHO_KEV_TH_RUNNING = 1,
	TACHO_KEV_TH_READY = 2,
	TACHO_KEV_TH_STOPPED = 3,
	TACHO_KEV_TH_REPLY = 6,
	TACHO_KEV_TH_WAITPAGE = 9,
	TACHO_KEV_TH_SIGSUSPEND = 10,
	TACHO_KEV_TH_SIGWAITINFO = 11,
	TACHO_KEV_TH_NANOSLEEP = 12,
	TACHO_KEV_TH_CREATE = 24,
	TACHO_KEV_TH_DESTROY = 25,
};

#endif
