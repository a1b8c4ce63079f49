/* SPDX-License-Identifier: MIT */
/*
 * <sys/trace.h> - the QNX kernel's trace: its events, classes and commands.
 *
 * For code written for QNX, which is compiled with include/qnx in its include path.  Names
 * and numbers are the historic ones; the comments are tacho's own.
 *
 *	 31    30 29      24 23     16 15 14     10 9          0
 *	+--------+----------+---------+--+---------+------------+
 *	| struct |   CPU    |  flags  | 0|  class  |   event    |	traceevent_t.header
 *	+--------+----------+---------+--+---------+------------+
 *
 * The header word has *internal* classes and events; TraceEvent() and the parser's
 * callbacks use *external* ones (enum below).  data[0] is the low half of the
 * clock's cycles, data[1] and data[2] are arguments.  An event with more than two
 * argument words is a *combine* event: a slot CB, any number of CC, one CE, all with
 * the same time, class, event and CPU.
 *
 * The headers of the releases confirm everything here that is not marked
 * "not confirmed".  Where releases differ, _QNX_RELEASE (qnx_release.h) selects one.
 */
#ifndef __TRACE_H_INCLUDED
#define __TRACE_H_INCLUDED

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "kercalls.h"
#include "neutrino.h"
#include "platform.h"
#include "qnx_release.h"
#include "states.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef _Uint32t __traceentry;

/* A slot of the trace buffer: 16 bytes. */
typedef struct traceevent {
	__traceentry header;	/* CPU, class, event, struct */
	__traceentry data[3];	/* time, two words of arguments */
} traceevent_t;

/* ---- the header word ---- */

#define _TRACE_STRUCT_S		0u		/* a simple event */
#define _TRACE_STRUCT_CB	(1u << 30)	/* a combine event begins */
#define _TRACE_STRUCT_CC	(2u << 30)	/* ... continues */
#define _TRACE_STRUCT_CE	(3u << 30)	/* ... ends */

#define _NTO_TRACE_MAX_CLASS	0x1fu
#define _NTO_TRACE_MAX_CODES	0x3ffu
#define _TRACE_MAX_EVENT_NUM	0x400

/* One of _TRACE_STRUCT_*, not shifted. */
#define _TRACE_GET_STRUCT(c)		((c) & (3u << 30))
#define _NTO_TRACE_GETCPU(h)		(((h) & 0x3f000000u) >> 24)
#define _NTO_TRACE_GETEVENT(c)		((c) & _NTO_TRACE_MAX_CODES)
/* One of _TRACE_*_C, not shifted. */
#define _NTO_TRACE_GETEVENT_C(c)	((c) & (_NTO_TRACE_MAX_CLASS << 10))
#define _NTO_TRACE_SETEVENT(c, event) \
	((c) = ((c) & ~_NTO_TRACE_MAX_CODES) | (event))
#define _NTO_TRACE_SETEVENT_C(c, cl) \
	((c) = ((c) & ~(_NTO_TRACE_MAX_CLASS << 10)) | (cl))

/* A flag of 8.0: a process, not the kernel, has written the event. */
#define _TRACE_FLAG_INJECTED	0x00010000u	/* the name is not confirmed */

/* Internal classes, as in a header word. */
#define _TRACE_EMPTY_C		(0x00u << 10)
#define _TRACE_CONTROL_C	(0x01u << 10)
#define _TRACE_KER_CALL_C	(0x02u << 10)
#define _TRACE_INT_C		(0x03u << 10)
#define _TRACE_PR_TH_C		(0x04u << 10)
#define _TRACE_SYSTEM_C		(0x05u << 10)
#define _TRACE_CONTAINER_C	_TRACE_SYSTEM_C
#define _TRACE_USER_C		(0x06u << 10)
#define _TRACE_COMM_C		(0x07u << 10)
#if _QNX_RELEASE >= 660
#define _TRACE_QUIP_C		(0x08u << 10)
#endif
#if _QNX_RELEASE >= 710
#define _TRACE_SEC_C		(0x09u << 10)
#define _TRACE_QVM_C		(0x0au << 10)
#endif
#if _QNX_RELEASE >= 800
#define _TRACE_PMU_C		(0x0bu << 10)
#endif

#if _QNX_RELEASE >= 800
#define _TRACE_TOT_CLASS_NUM	12
#elif _QNX_RELEASE >= 710
#define _TRACE_TOT_CLASS_NUM	11
#elif _QNX_RELEASE >= 660
#define _TRACE_TOT_CLASS_NUM	9
#else
#define _TRACE_TOT_CLASS_NUM	8
#endif

/* Internal events of class KER_CALL: enter n, exit 128 + n, interrupted 256 + n. */
#define _TRACE_MAX_KER_CALL_NUM	128
#define _NTO_TRACE_KERCALLMASK	127
/* Arguments have the 64-bit layout; external events have the flag, too. */
#define _NTO_TRACE_KERCALL64	(1 << 9)

/* Internal events of class INT. */
#define _TRACE_INT_ENTRY		1
#define _TRACE_INT_EXIT			2
#define _TRACE_INT_HANDLER_ENTRY	3
#define _TRACE_INT_HANDLER_EXIT		4
#define _TRACE_INT_ENTRY_64		5
#define _TRACE_INT_HANDLER_ENTRY_64	6
#if _QNX_RELEASE >= 800
#define _TRACE_INT_DELIVER		7
#endif
#define _TRACE_MAX_INT_NUM		256

/*
 * Internal events of class PR_TH: the states of a thread; up to 7.1 those of a virtual
 * thread after them; processes from 64 on.
 */
#if _QNX_RELEASE >= 800
#define _TRACE_MAX_TH_STATE_NUM		STATE_MAX
#else
#define _TRACE_MAX_TH_STATE_NUM		(STATE_MAX + 2)
#endif
#define _TRACE_PR_TH_CREATE_P		(1 << 6)
#define _TRACE_PR_TH_DESTROY_P		(2 << 6)
#define _TRACE_PR_TH_CREATE_P_NAME	(3 << 6)
#define _TRACE_PR_TH_DESTROY_P_NAME	(4 << 6)
#define _TRACE_PR_TH_NAME_T		(5 << 6)

/* ---- external classes and events ---- */

/* 7, 8, 11, 15 and 16 are reserved in 8.0. */
enum {
	_NTO_TRACE_EMPTY = 0,
	_NTO_TRACE_CONTROL = 1,
	_NTO_TRACE_KERCALL = 2,
	_NTO_TRACE_KERCALLENTER = 3,
	_NTO_TRACE_KERCALLEXIT = 4,
	_NTO_TRACE_KERCALLINT = 5,
	_NTO_TRACE_INT = 6,
	_NTO_TRACE_INTENTER = 7,
	_NTO_TRACE_INTEXIT = 8,
	_NTO_TRACE_PROCESS = 9,
	_NTO_TRACE_THREAD = 10,
	_NTO_TRACE_VTHREAD = 11,
	_NTO_TRACE_USER = 12,
	_NTO_TRACE_SYSTEM = 13,
	_NTO_TRACE_COMM = 14,
	_NTO_TRACE_INT_HANDLER_ENTER = 15,
	_NTO_TRACE_INT_HANDLER_EXIT = 16,
#if _QNX_RELEASE >= 660
	_NTO_TRACE_QUIP = 17,
#endif
#if _QNX_RELEASE >= 710
	_NTO_TRACE_SEC = 18,
	_NTO_TRACE_QVM = 19,
#endif
#if _QNX_RELEASE >= 800
	_NTO_TRACE_PMU = 20,
	_NTO_TRACE_NUM_CLASSES = 21,
#endif
};

#define _NTO_TRACE_EMPTYEVENT		0

#define _NTO_TRACE_CONTROLTIME		(1 << 0)
#define _NTO_TRACE_CONTROLBUFFER	(1 << 1)
#if _QNX_RELEASE >= 800
#define _NTO_TRACE_CONTROLBUFFEREND	(1 << 2)
#define _NTO_TRACE_CONTROLDROPPED	(1 << 3)
#endif

#define _NTO_TRACE_KERCALLFIRST		0
#define _NTO_TRACE_KERCALLLAST		__KER_BAD

#define _NTO_TRACE_INTFIRST		0u
#define _NTO_TRACE_INTLAST		0xffffffffu

#define _NTO_TRACE_PROCCREATE		(1 << 0)
#define _NTO_TRACE_PROCDESTROY		(1 << 1)
#define _NTO_TRACE_PROCCREATE_NAME	(1 << 2)
#define _NTO_TRACE_PROCDESTROY_NAME	(1 << 3)
#define _NTO_TRACE_PROCTHREAD_NAME	(1 << 4)

#if _QNX_RELEASE >= 800
#define _NTO_TRACE_THSTATE_(state)	(state)
#else
#define _NTO_TRACE_THSTATE_(state)	(1 << (state))
#endif
#define _NTO_TRACE_THDEAD		_NTO_TRACE_THSTATE_(STATE_DEAD)
#define _NTO_TRACE_THRUNNING		_NTO_TRACE_THSTATE_(STATE_RUNNING)
#define _NTO_TRACE_THREADY		_NTO_TRACE_THSTATE_(STATE_READY)
#define _NTO_TRACE_THSTOPPED		_NTO_TRACE_THSTATE_(STATE_STOPPED)
#define _NTO_TRACE_THSEND		_NTO_TRACE_THSTATE_(STATE_SEND)
#define _NTO_TRACE_THRECEIVE		_NTO_TRACE_THSTATE_(STATE_RECEIVE)
#define _NTO_TRACE_THREPLY		_NTO_TRACE_THSTATE_(STATE_REPLY)
#define _NTO_TRACE_THWAITPAGE		_NTO_TRACE_THSTATE_(STATE_WAITPAGE)
#define _NTO_TRACE_THSIGSUSPEND		_NTO_TRACE_THSTATE_(STATE_SIGSUSPEND)
#define _NTO_TRACE_THSIGWAITINFO	_NTO_TRACE_THSTATE_(STATE_SIGWAITINFO)
#define _NTO_TRACE_THNANOSLEEP		_NTO_TRACE_THSTATE_(STATE_NANOSLEEP)
#define _NTO_TRACE_THMUTEX		_NTO_TRACE_THSTATE_(STATE_MUTEX)
#define _NTO_TRACE_THCONDVAR		_NTO_TRACE_THSTATE_(STATE_CONDVAR)
#define _NTO_TRACE_THJOIN		_NTO_TRACE_THSTATE_(STATE_JOIN)
#define _NTO_TRACE_THINTR		_NTO_TRACE_THSTATE_(STATE_INTR)
#define _NTO_TRACE_THSEM		_NTO_TRACE_THSTATE_(STATE_SEM)
#define _NTO_TRACE_THWAITCTX		_NTO_TRACE_THSTATE_(STATE_WAITCTX)
#define _NTO_TRACE_THCREATE		_NTO_TRACE_THSTATE_(24)
#define _NTO_TRACE_THDESTROY		_NTO_TRACE_THSTATE_(25)
#if _QNX_RELEASE >= 800
#define _NTO_TRACE_THMQ_SEND		STATE_MQ_SEND
#define _NTO_TRACE_THMQ_RECEIVE		STATE_MQ_RECEIVE
#define _NTO_TRACE_THRWLOCK_READ	STATE_RWLOCK_READ
#define _NTO_TRACE_THRWLOCK_WRITE	STATE_RWLOCK_WRITE
#define _NTO_TRACE_THBARRIER		STATE_BARRIER
#define _NTO_TRACE_THPIPE		STATE_PIPE
#define _NTO_TRACE_THMUON_MUTEX		STATE_MUON_MUTEX
#define _NTO_TRACE_THTRACEBUFFER	STATE_TRACEBUFFER
#define _NTO_TRACE_THINTR_ATTACH_EV	STATE_INTR_ATTACH_EV
#define _NTO_TRACE_THTIMER_DELEGATE	STATE_TIMER_DELEGATE
#define _NTO_TRACE_THSEND_NOTIFY	STATE_SEND_NOTIFY
#define _NTO_TRACE_THFIRST		_NTO_TRACE_THDEAD
#define _NTO_TRACE_THLAST		_NTO_TRACE_THSEND_NOTIFY
#else
#define _NTO_TRACE_THSTACK		_NTO_TRACE_THSTATE_(STATE_STACK)
#define _NTO_TRACE_THWAITTHREAD		_NTO_TRACE_THSTATE_(STATE_WAITTHREAD)
#define _NTO_TRACE_THNET_SEND		_NTO_TRACE_THSTATE_(STATE_NET_SEND)
#define _NTO_TRACE_THNET_REPLY		_NTO_TRACE_THSTATE_(STATE_NET_REPLY)

/* Virtual threads: the same bits. */
#define _NTO_TRACE_VTHDEAD		_NTO_TRACE_THDEAD
#define _NTO_TRACE_VTHRUNNING		_NTO_TRACE_THRUNNING
#define _NTO_TRACE_VTHREADY		_NTO_TRACE_THREADY
#define _NTO_TRACE_VTHSTOPPED		_NTO_TRACE_THSTOPPED
#define _NTO_TRACE_VTHSEND		_NTO_TRACE_THSEND
#define _NTO_TRACE_VTHRECEIVE		_NTO_TRACE_THRECEIVE
#define _NTO_TRACE_VTHREPLY		_NTO_TRACE_THREPLY
#define _NTO_TRACE_VTHSTACK		_NTO_TRACE_THSTACK
#define _NTO_TRACE_VTHWAITTHREAD	_NTO_TRACE_THWAITTHREAD
#define _NTO_TRACE_VTHWAITPAGE		_NTO_TRACE_THWAITPAGE
#define _NTO_TRACE_VTHSIGSUSPEND	_NTO_TRACE_THSIGSUSPEND
#define _NTO_TRACE_VTHSIGWAITINFO	_NTO_TRACE_THSIGWAITINFO
#define _NTO_TRACE_VTHNANOSLEEP		_NTO_TRACE_THNANOSLEEP
#define _NTO_TRACE_VTHMUTEX		_NTO_TRACE_THMUTEX
#define _NTO_TRACE_VTHCONDVAR		_NTO_TRACE_THCONDVAR
#define _NTO_TRACE_VTHJOIN		_NTO_TRACE_THJOIN
#define _NTO_TRACE_VTHINTR		_NTO_TRACE_THINTR
#define _NTO_TRACE_VTHSEM		_NTO_TRACE_THSEM
#define _NTO_TRACE_VTHWAITCTX		_NTO_TRACE_THWAITCTX
#define _NTO_TRACE_VTHNET_SEND		_NTO_TRACE_THNET_SEND
#define _NTO_TRACE_VTHNET_REPLY		_NTO_TRACE_THNET_REPLY
#define _NTO_TRACE_VTHCREATE		_NTO_TRACE_THCREATE
#define _NTO_TRACE_VTHDESTROY		_NTO_TRACE_THDESTROY
#endif

#define _NTO_TRACE_USERFIRST		0
#define _NTO_TRACE_USERLAST		0x3ff
#if _QNX_RELEASE >= 660
#define _NTO_TRACE_QUIPFIRST		0
#define _NTO_TRACE_QUIPLAST		0x3ff
#endif

#define _NTO_TRACE_SYS_RESERVED		0x01
#define _NTO_TRACE_SYS_PATHMGR		0x02
#define _NTO_TRACE_SYS_APS_NAME		0x03
#define _NTO_TRACE_SYS_APS_BUDGETS	0x04
#define _NTO_TRACE_SYS_APS_BNKR		0x05
#define _NTO_TRACE_SYS_MMAP		0x06
#define _NTO_TRACE_SYS_MUNMAP		0x07
#define _NTO_TRACE_SYS_MAPNAME		0x08
#define _NTO_TRACE_SYS_ADDRESS		0x09
#define _NTO_TRACE_SYS_FUNC_ENTER	0x0a
#define _NTO_TRACE_SYS_FUNC_EXIT	0x0b
#define _NTO_TRACE_SYS_SLOG		0x0c
#define _NTO_TRACE_SYS_COMPACTION	0x0d
#define _NTO_TRACE_SYS_DEFRAG_START	_NTO_TRACE_SYS_COMPACTION
#define _NTO_TRACE_SYS_RUNSTATE		0x0e
#define _NTO_TRACE_SYS_POWER		0x0f
#define _NTO_TRACE_SYS_IPI		0x10
#define _NTO_TRACE_SYS_PAGEWAIT		0x11
#define _NTO_TRACE_SYS_TIMER		0x12
#define _NTO_TRACE_SYS_DEFRAG_END	0x13
#define _NTO_TRACE_DEFRAG_END		_NTO_TRACE_SYS_DEFRAG_END	/* the guide's */
#define _NTO_TRACE_SYS_PROFILE		0x14
#define _NTO_TRACE_SYS_MAPNAME_64	0x15
#define _NTO_TRACE_SYS_APS_PSTATS	0x16
#define _NTO_TRACE_SYS_APS_OSTATS	0x17
#define _NTO_TRACE_SYS_APS_INFO		0x18
#define _NTO_TRACE_SYS_APS_JOIN		0x19
#define _NTO_TRACE_SYS_APS_THREAD	0x1a
#define _NTO_TRACE_SYS_APS_PROCESS	0x1b
#define _NTO_TRACE_SYS_SCHED_CONF	0x1c
#define _NTO_TRACE_SYS_IST_ATTACH	0x1d
#define _NTO_TRACE_SYS_IST_DETACH	0x1e
#define _NTO_TRACE_SYS_PCTRACE		0x1f
#define _NTO_TRACE_SYS_SEND_IPI		0x20
#define _NTO_TRACE_SYS_IPI_64		(_NTO_TRACE_SYS_IPI | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_PROFILE_64	(_NTO_TRACE_SYS_PROFILE | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_ADDRESS_64	(_NTO_TRACE_SYS_ADDRESS | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_FUNC_ENTER_64	(_NTO_TRACE_SYS_FUNC_ENTER | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_FUNC_EXIT_64	(_NTO_TRACE_SYS_FUNC_EXIT | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_SEND_IPI_64	(_NTO_TRACE_SYS_SEND_IPI | _NTO_TRACE_KERCALL64)
#define _NTO_TRACE_SYS_FIRST		_NTO_TRACE_SYS_RESERVED	/* not confirmed */
#if _QNX_RELEASE >= 800
#define _NTO_TRACE_SYS_LAST		_NTO_TRACE_SYS_SEND_IPI
#elif _QNX_RELEASE >= 710
#define _NTO_TRACE_SYS_LAST		_NTO_TRACE_SYS_SCHED_CONF
#elif _QNX_RELEASE >= 660
#define _NTO_TRACE_SYS_LAST		_NTO_TRACE_SYS_DEFRAG_END
#else
#define _NTO_TRACE_SYS_LAST		_NTO_TRACE_SYS_SLOG
#endif

/* First word of _NTO_TRACE_SYS_POWER. */
#define _NTO_TRACE_POWER_CPUMASK	0x0000ffffu
#define _NTO_TRACE_POWER_IDLE		0x00010000u
#define _NTO_TRACE_POWER_START		0x00020000u
#define _NTO_TRACE_POWER_IDLE_REACHED	0x00040000u	/* with IDLE */
#define _NTO_TRACE_POWER_VFS_OVERDRIVE	0x00040000u	/* these without */
#define _NTO_TRACE_POWER_VFS_DYNAMIC	0x00080000u
#define _NTO_TRACE_POWER_VFS_STEP_UP	0x00100000u

#define _NTO_TRACE_COMM_SMSG		0
#define _NTO_TRACE_COMM_SPULSE		1
#define _NTO_TRACE_COMM_RMSG		2
#define _NTO_TRACE_COMM_RPULSE		3
#define _NTO_TRACE_COMM_SPULSE_EXE	4
#define _NTO_TRACE_COMM_SPULSE_DIS	5
#define _NTO_TRACE_COMM_SPULSE_DEA	6
#define _NTO_TRACE_COMM_SPULSE_UN	7
#define _NTO_TRACE_COMM_SPULSE_QUN	8
#define _NTO_TRACE_COMM_SIGNAL		9
#define _NTO_TRACE_COMM_REPLY		10
#define _NTO_TRACE_COMM_ERROR		11
#define _NTO_TRACE_COMM_LAST		_NTO_TRACE_COMM_ERROR

#if _QNX_RELEASE >= 710
#define _NTO_TRACE_SEC_ABLE		0
#define _NTO_TRACE_SEC_ABLE_LOOKUP	1
#define _NTO_TRACE_SEC_PATH_ATTACH	2
#define _NTO_TRACE_SEC_QNET_CONNECT	3
#define _NTO_TRACE_SEC_PERM_LOOKUP	4
#define _NTO_TRACE_SEC_PERM_TEST	5
#define _NTO_TRACE_SEC_UNREG_EVENT	6
#if _QNX_RELEASE >= 800
#define _NTO_TRACE_SEC_OPEN_EVENT	7
#endif

#define _NTO_TRACE_QVM_GUEST_ENTER		0
#define _NTO_TRACE_QVM_GUEST_EXIT		1
#define _NTO_TRACE_QVM_CREATE_VCPU_THREAD	2
#define _NTO_TRACE_QVM_RAISE_INTR		3
#define _NTO_TRACE_QVM_LOWER_INTR		4
#define _NTO_TRACE_QVM_TIMER_CREATE		5
#define _NTO_TRACE_QVM_TIMER_FIRE		6
#define _NTO_TRACE_QVM_CYCLES			7
#endif

#if _QNX_RELEASE >= 800
#define _NTO_TRACE_PMU_EVENT_TYPE	0
#define _NTO_TRACE_PMU_EVENT_COUNTER	1
#endif

/* ---- TraceEvent() ---- */

/* A command: the number of arguments, including itself, and their kinds. */
#define _TRACE_COMMAND_(argc, n)	((int)((unsigned int)(argc) << 28 | (n)))
#define _TRACE_GET_FLAG(c)		((c) & 0x0fffffff)
#define _TRACE_GET_COUNT(c)		(((c) >> 28) & 7)

#define _NTO_TRACE_ADDALLCLASSES	_TRACE_COMMAND_(1, 1)
#define _NTO_TRACE_DELALLCLASSES	_TRACE_COMMAND_(1, 2)
#define _NTO_TRACE_ADDCLASS		_TRACE_COMMAND_(2, 3)
#define _NTO_TRACE_DELCLASS		_TRACE_COMMAND_(2, 4)
#define _NTO_TRACE_ADDEVENT		_TRACE_COMMAND_(3, 5)
#define _NTO_TRACE_DELEVENT		_TRACE_COMMAND_(3, 6)
#define _NTO_TRACE_ADDEVENTHANDLER	_TRACE_COMMAND_(5, 7)
#define _NTO_TRACE_DELEVENTHANDLER	_TRACE_COMMAND_(3, 8)
#define _NTO_TRACE_INSERTEVENT		_TRACE_COMMAND_(5, 9)
#define _NTO_TRACE_START		_TRACE_COMMAND_(1, 10)
#define _NTO_TRACE_STOP			_TRACE_COMMAND_(1, 11)
#define _NTO_TRACE_ALLOCBUFFER		_TRACE_COMMAND_(3, 12)
#define _NTO_TRACE_DEALLOCBUFFER	_TRACE_COMMAND_(1, 13)
#define _NTO_TRACE_FLUSHBUFFER		_TRACE_COMMAND_(1, 14)
#define _NTO_TRACE_QUERYEVENTS		_TRACE_COMMAND_(1, 15)
#define _NTO_TRACE_SETALLCLASSESFAST	_TRACE_COMMAND_(1, 16)
#define _NTO_TRACE_SETALLCLASSESWIDE	_TRACE_COMMAND_(1, 17)
#define _NTO_TRACE_SETCLASSFAST		_TRACE_COMMAND_(2, 18)
#define _NTO_TRACE_SETCLASSWIDE		_TRACE_COMMAND_(2, 19)
#define _NTO_TRACE_SETEVENTFAST		_TRACE_COMMAND_(3, 20)
#define _NTO_TRACE_SETEVENTWIDE		_TRACE_COMMAND_(3, 21)
#define _NTO_TRACE_SETCLASSPID		_TRACE_COMMAND_(3, 22)
#define _NTO_TRACE_SETCLASSTID		_TRACE_COMMAND_(4, 23)
#define _NTO_TRACE_SETEVENTPID		_TRACE_COMMAND_(4, 24)
#define _NTO_TRACE_SETEVENTTID		_TRACE_COMMAND_(5, 25)
#define _NTO_TRACE_CLRCLASSPID		_TRACE_COMMAND_(2, 26)
#define _NTO_TRACE_CLRCLASSTID		_TRACE_COMMAND_(2, 27)
#define _NTO_TRACE_CLREVENTPID		_TRACE_COMMAND_(3, 28)
#define _NTO_TRACE_CLREVENTTID		_TRACE_COMMAND_(3, 29)
#define _NTO_TRACE_INSERTSUSEREVENT	_TRACE_COMMAND_(4, 30)
#define _NTO_TRACE_INSERTCUSEREVENT	_TRACE_COMMAND_(4, 31)
#define _NTO_TRACE_INSERTUSRSTREVENT	_TRACE_COMMAND_(3, 32)
#define _NTO_TRACE_STARTNOSTATE		_TRACE_COMMAND_(1, 33)
#define _NTO_TRACE_SETRINGMODE		_TRACE_COMMAND_(1, 34)
#define _NTO_TRACE_SETLINEARMODE	_TRACE_COMMAND_(1, 35)
#define _NTO_TRACE_ADDCLASSEVHANDLER	_TRACE_COMMAND_(4, 36)
#define _NTO_TRACE_DELCLASSEVHANDLER	_TRACE_COMMAND_(2, 37)
#define _NTO_TRACE_SKIPBUFFER		_TRACE_COMMAND_(1, 38)
#define _NTO_TRACE_OVERWRITEBUFFER	_TRACE_COMMAND_(1, 39)
#define _NTO_TRACE_QUERYVERSION		_TRACE_COMMAND_(1, 40)
#define _NTO_TRACE_QUERYSUPPORT		_TRACE_COMMAND_(1, 41)
#define _NTO_TRACE_INSERTSCLASSEVENT	_TRACE_COMMAND_(5, 42)
#define _NTO_TRACE_INSERTCCLASSEVENT	_TRACE_COMMAND_(5, 43)
/* The arguments of these are not confirmed. */
#if _QNX_RELEASE >= 660
#define _NTO_TRACE_SETBUFFER		_TRACE_COMMAND_(3, 44)
#endif
#if _QNX_RELEASE >= 800
#define _NTO_TRACE_LOGGER_ATTACH	_TRACE_COMMAND_(3, 45)
#define _NTO_TRACE_WAITBUFFER		_TRACE_COMMAND_(2, 46)
#define _NTO_TRACE_LOGGER_DETACH	_TRACE_COMMAND_(1, 47)
#define _NTO_TRACE_PMU_CONFIG		_TRACE_COMMAND_(2, 48)
#define _NTO_TRACE_PMU_QUERYEVENTS	_TRACE_COMMAND_(1, 49)
#endif

#define _NTO_TRACE_NOINSTRSUPP	0
#define _NTO_TRACE_SUPPINSTR	1

/* event_data_t: which words of feature[] are filled in, and which index they have. */
#define _NTO_TRACE_FIPID	0
#define _NTO_TRACE_FITID	1
#define _NTO_TRACE_FI_NUM	2
#define _NTO_TRACE_FMEMPTY	0
#define _NTO_TRACE_FMPID	1
#define _NTO_TRACE_FMTID	2

#if _QNX_RELEASE < 800
/*
 * The argument of an event handler, which returns 1 to log the event, or 0 to
 * drop it.
 */
typedef struct event_data {
	__traceentry header;
	uint32_t *data_array;		/* arguments */
	uint32_t el_num;		/* words there */
	void *area;			/* the user's */
	uint32_t feature_mask;
	uint32_t feature[_NTO_TRACE_FI_NUM];
} event_data_t;
#endif

/* ---- buffers ---- */

#define _TRACEBUFSIZE		(16 * 1024)
#define _TRACE_GET_BUFFNUM(b)	((b) >> 13)	/* of InterruptHookTrace()'s info */
#define _TRACE_GET_BUFFSEQ(b)	((b) & 0x7ff)
#define _TRACE_FLAGS_RING	0x10000
#define _TRACE_FLAGS_WRITING	0x20000
#define _TRACE_FLAGS_WRITTING	_TRACE_FLAGS_WRITING
#define _TRACE_FLAGS_FLUSH	0x40000

/* ---- the file ---- */

/* Attributes are PREFIX key POSTFIX value, without separators. */
#define _TRACE_HEADER_PREFIX	"TRACE_"
#define _TRACE_HEADER_POSTFIX	"::"
#define _TRACE_MAX_HEADER_LEN	512

/* ---- calls; TraceEvent() itself is in <sys/neutrino.h> ---- */

#if defined(__GNUC__)
#define _TRACE_PRINTF_(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define _TRACE_PRINTF_(fmt, args)
#endif

/*
 * User events: code is the event, up to _NTO_TRACE_USERLAST.  Return -1 and errno if the
 * event could not be inserted.
 *
 * trace_logf	formatted text; trace_nlogf, trace_vnlogf: of at most max characters
 *		(0: no limit)
 * trace_logi	two words
 * trace_logb	n bytes
 * trace_logbc	n bytes, as an event of any class (_TRACE_*_C)
 */
int trace_logf(int code, const char *fmt, ...) _TRACE_PRINTF_(2, 3);
int trace_nlogf(int code, int max, const char *fmt, ...) _TRACE_PRINTF_(3, 4);
int trace_vnlogf(int code, int max, const char *fmt, va_list args)
	_TRACE_PRINTF_(3, 0);
int trace_logi(int code, unsigned data1, unsigned data2);
int trace_logb(int code, const void *data, size_t n);
int trace_logbc(unsigned cls, unsigned event, const void *data, size_t n);

/* SYSTEM events: the caller's address; a function and where it was called. */
int trace_here(void);
int trace_func_enter(void *this_fn, void *call_site);
int trace_func_exit(void *this_fn, void *call_site);

#ifdef __cplusplus
}
#endif

#endif
