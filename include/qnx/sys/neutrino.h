/* SPDX-License-Identifier: MIT */
/*
 * <sys/neutrino.h> - of all the kernel's calls, the ones that concern the trace.
 *
 * Confirmed: TraceEvent()'s prototype.
 */
#ifndef __NEUTRINO_H_INCLUDED
#define __NEUTRINO_H_INCLUDED

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
int TraceEvent(int code, ...);

#ifdef __cplusplus
}
#endif

#endif
