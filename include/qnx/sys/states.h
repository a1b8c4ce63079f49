/* SPDX-License-Identifier: MIT */
/*
 * <sys/states.h> - states of threads, by release (see sys/trace.h).
 *
 * Confirmed: all of them.  CREATE and DESTROY are states in 8.0 only; before, the
 * same numbers were codes of the trace.
 */
#ifndef __STATES_H_INCLUDED
#define __STATES_H_INCLUDED

#include "qnx_release.h"

#define STATE_DEAD	0
#define STATE_RUNNING	1
#define STATE_READY	2
#define STATE_STOPPED	3
#define STATE_SEND	4
#define STATE_RECEIVE	5
#define STATE_REPLY	6
#define STATE_WAITPAGE	9
#define STATE_SIGSUSPEND	10
#define STATE_SIGWAITINFO	11
#define STATE_NANOSLEEP	12
#define STATE_MUTEX	13
#define STATE_CONDVAR	14
#define STATE_JOIN	15
#define STATE_INTR	16
#define STATE_SEM	17
#define STATE_WAITCTX	18

#if _QNX_RELEASE < 800
#define STATE_STACK	7
#define STATE_WAITTHREAD	8
#define STATE_NET_SEND	19
#define STATE_NET_REPLY	20
#define STATE_MAX	24
#else
#define STATE_MQ_SEND	7
#define STATE_MQ_RECEIVE	8
#define STATE_RWLOCK_READ	19
#define STATE_RWLOCK_WRITE	20
#define STATE_BARRIER	21
#define STATE_PIPE	22
#define STATE_CREATE	24
#define STATE_DESTROY	25
#define STATE_MUON_MUTEX	26
#define STATE_TRACEBUFFER	27
#define STATE_INTR_ATTACH_EV	28
#define STATE_TIMER_DELEGATE	29
#define STATE_SEND_NOTIFY	30
#define STATE_MAX	63
#endif

#endif
