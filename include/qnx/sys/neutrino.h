/* SPDX-License-Identifier: MIT */
/*
 * <sys/neutrino.h> - the kernel calls for the trace.
 *
 * Confirmed: the prototypes of TraceEvent() and ThreadCtl(); the numbers of 6.4 and 7.1.
 */
#ifndef __NEUTRINO_H_INCLUDED
#define __NEUTRINO_H_INCLUDED

#include <signal.h>

#include "platform.h"
#include "qnx_release.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * TraceEvent - control the trace: one of the commands _NTO_TRACE_* of <sys/trace.h>
 * and its arguments.
 *
 * Returns 0 or the result of the command, or -1 and errno: ECANCELED (no buffers, or
 * not allowed while the trace runs), EEXIST (the buffers already exist), EFAULT (no
 * buffer to flush or query), ENOMEM, ENOTSUP, EPERM.
 */
#if _QNX_RELEASE >= 800
/* In this release thread events are numbers, not bits: the library has a separate call. */
int TraceEvent(int code, ...) __asm__("__TraceEvent_800");
#else
int TraceEvent(int code, ...);
#endif

/*
 * ThreadCtl - grants I/O privileges, which a QNX program requests before it
 * adds event handlers.  Here handlers run in the program, so all processes have them.
 *
 * Returns 0, or -1 and errno for any other command: ENOTSUP.
 */
#if _QNX_RELEASE >= 660
#define _NTO_TCTL_IO_PRIV	1
#define _NTO_TCTL_IO		14
#else
#define _NTO_TCTL_IO		1
#endif

int ThreadCtl(int cmd, void *data);

/*
 * InterruptHookTrace - set a handler that is called when a trace buffer is full.
 *
 * It is called with buffer << 13 | sequence (_TRACE_GET_BUFFNUM(), _TRACE_GET_BUFFSEQ()),
 * in a thread of this program; a SIGEV_SIGNAL that it returns is delivered.  NULL
 * removes the handler.  flags are not used.  Returns 0, or -1 and errno.
 */
int InterruptHookTrace(const struct sigevent *(*handler)(int info), unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
