/* SPDX-License-Identifier: MIT */
/*
 * <sys/neutrino.h> - of all the kernel's calls, the ones that concern the trace.
 *
 * Confirmed: TraceEvent()'s prototype.
 */
#ifndef __NEUTRINO_H_INCLUDED
#define __NEUTRINO_H_INCLUDED

#include <signal.h>

#include "qnx_release.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * TraceEvent - control the trace: one of the commands _NTO_TRACE_* of <sys/trace.h>
 * and its arguments.
 *
 * Returns 0 or what the command answers, or -1 and errno: ECANCELED (no buffers, or
 * not while the trace runs), EEXIST (buffers are there), EFAULT (no buffer to
 * flush or to ask about), ENOMEM, ENOTSUP, EPERM.
 */
#if _QNX_RELEASE >= 800
/* Events of threads are numbers there, not bits: the library has a call of its own. */
int TraceEvent(int code, ...) __asm__("__TraceEvent_800");
#else
int TraceEvent(int code, ...);
#endif

/*
 * InterruptHookTrace - have a handler called when a trace buffer is full.
 *
 * It is called with buffer << 13 | sequence (_TRACE_GET_BUFFNUM(), _TRACE_GET_BUFFSEQ()),
 * in a thread of this program; a SIGEV_SIGNAL that it returns is delivered.  A NULL
 * takes it away.  flags are not used.  0, or -1 and errno.
 */
int InterruptHookTrace(const struct sigevent *(*handler)(int info), unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
