/* SPDX-License-Identifier: MIT */
/* Events with the names, fields and texts of the kernel's task:*, of a program. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM prog

#if !defined(TACHO_TESTS_RENAME_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_RENAME_TRACE_H

#include <tacho/tracepoint.h>

TRACE_EVENT(task_rename,

	TP_PROTO(pid_t pid, const char *from, const char *to, short adj),

	TP_ARGS(pid, from, to, adj),

	TP_STRUCT__entry(
		__field(	pid_t,	pid		)
		__array(	char,	oldcomm, 16	)
		__array(	char,	newcomm, 16	)
		__field(	short,	oom_score_adj	)
	),

	TP_fast_assign(
		__entry->pid = pid;
		memcpy(__entry->oldcomm, from, 16);
		memcpy(__entry->newcomm, to, 16);
		__entry->oom_score_adj = adj;
	),

	TP_printk("pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd",
		  __entry->pid, __entry->oldcomm, __entry->newcomm,
		  __entry->oom_score_adj)
);

DECLARE_EVENT_CLASS(task_pid,

	TP_PROTO(pid_t pid),

	TP_ARGS(pid),

	TP_STRUCT__entry(
		__field(	pid_t,	pid		)
	),

	TP_fast_assign(
		__entry->pid = pid;
	),

	TP_printk("pid=%d", __entry->pid)
);

DEFINE_EVENT(task_pid, task_newtask, TP_PROTO(pid_t pid), TP_ARGS(pid));
DEFINE_EVENT(task_pid, task_exit, TP_PROTO(pid_t pid), TP_ARGS(pid));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rename_trace
#include <tacho/define_trace.h>
