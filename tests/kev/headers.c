// SPDX-License-Identifier: MIT
/* What code for QNX does with its headers: it has to compile, of each release. */
#include <sys/trace.h>
#include <sys/traceparser.h>
#include <sys/neutrino.h>
#include <sys/kercalls.h>
#include <sys/states.h>

_Static_assert(sizeof(traceevent_t) == 16, "a slot");
_Static_assert(_NTO_TRACE_INSERTSUSEREVENT == (4 << 28 | 30), "command words");
_Static_assert(_TRACE_GET_COUNT(_NTO_TRACE_SETEVENTTID) == 5, "their arguments");
_Static_assert(_NTO_TRACE_GETCPU(0xc3001234u) == 3, "CPU");
_Static_assert(_NTO_TRACE_GETEVENT_C(0xc3001234u) == _TRACE_PR_TH_C, "class");
_Static_assert(_NTO_TRACE_GETEVENT(0xc3001234u) == 0x234, "event");
_Static_assert(_TRACE_GET_STRUCT(0xc3001234u) == _TRACE_STRUCT_CE, "struct");
_Static_assert(STATE_RUNNING == 1 && __KER_MSG_SENDV == 11, "numbers");
#if _QNX_RELEASE == 640 || _QNX_RELEASE == 650
_Static_assert(__KER_BAD == 100 && _TRACE_TOT_CLASS_NUM == 8, "6.4 and 6.5");
#elif _QNX_RELEASE == 660
_Static_assert(__KER_BAD == 100 && __KER_CACHE_FLUSH == 3, "6.6");
#elif _QNX_RELEASE == 710
_Static_assert(__KER_BAD == 107 && _NTO_TRACE_THSTACK == 1 << 7, "7.1");
#else
_Static_assert(__KER_CACHE_CONTROL == 3 && _NTO_TRACE_THMQ_SEND == 7, "8.0");
#endif

_Static_assert(sizeof(_Uint32t) == 4 && sizeof(_Int64t) == 8 && EOK == 0, "types");

unsigned trace_headers_set(unsigned header);
int trace_headers_call(struct traceparser_state *state, FILE *f);

unsigned trace_headers_set(unsigned header)
{
	_NTO_TRACE_SETEVENT(header, 7);
	_NTO_TRACE_SETEVENT_C(header, _TRACE_USER_C);
	return header;
}

static int each(struct traceparser_state *state, void *user, unsigned header,
		unsigned time, unsigned *buf, unsigned nwords)
{
	(void)state;
	(void)user;
	return (int)(header + time + buf[nwords - 1]);
}

int trace_headers_call(struct traceparser_state *state, FILE *f)
{
	unsigned len;

	if (TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD) == -1 ||
	    trace_logf(7, "%d", 3) == -1 || trace_logi(7, 1, 2) == -1)
		return -1;
	if (ThreadCtl(_NTO_TCTL_IO, 0) != EOK)
		return -1;
	traceparser_debug(state, f, _TRACEPARSER_DEBUG_ALL);
	traceparser_cs(state, NULL, each, _NTO_TRACE_USER, 7);
	traceparser_cs_range(state, NULL, each, _NTO_TRACE_INTENTER,
			     _NTO_TRACE_INTFIRST, _NTO_TRACE_INTLAST);
	return traceparser_get_info(state, _TRACEPARSER_INFO_SYS_RELEASE, &len) ? 0 :
	       traceparser(state, NULL, "x.kev");
}
