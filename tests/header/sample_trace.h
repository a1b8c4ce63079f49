/* SPDX-License-Identifier: MIT */
/* One event for each thing a trace header can say. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sample

#if !defined(TACHO_TESTS_SAMPLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TACHO_TESTS_SAMPLE_TRACE_H

#include <tacho/tracepoint.h>

#ifndef TACHO_TESTS_SAMPLE_TYPES
#define TACHO_TESTS_SAMPLE_TYPES
enum colour { RED, GREEN = 5, BLUE = -3 };
struct point { int x; short y; };
struct sample_task { char comm[TASK_COMM_LEN]; pid_t pid; int prio; long state; };
typedef int wide_int __attribute__((aligned(32)));
extern int sample_evaluated;
static inline const char *sample_name(const char *s)
{
	sample_evaluated++;
	return s;
}
static inline int sample_count(int n)
{
	sample_evaluated++;
	return n;
}
#endif

#define show_colour(c)					\
	__print_symbolic(c,				\
		{ RED,		"red" },		\
		{ GREEN,	"green" },		\
		{ BLUE,		"blue" })

TRACE_DEFINE_ENUM(RED);
TRACE_DEFINE_ENUM(GREEN);
TRACE_DEFINE_ENUM(BLUE);
TRACE_DEFINE_SIZEOF(struct point);

/* 1: the scheduler's classic. */
TRACE_EVENT(task_switch,

	TP_PROTO(bool preempt, const struct sample_task *prev,
		 const struct sample_task *next),

	TP_ARGS(preempt, prev, next),

	TP_STRUCT__entry(
		__array(	char,	prev_comm,	TASK_COMM_LEN	)
		__field(	pid_t,	prev_pid			)
		__field(	int,	prev_prio			)
		__field(	long,	prev_state			)
		__array(	char,	next_comm,	TASK_COMM_LEN	)
		__field(	pid_t,	next_pid			)
		__field(	int,	next_prio			)
	),

	TP_fast_assign(
		memcpy(__entry->next_comm, next->comm, TASK_COMM_LEN);
		__entry->prev_pid	= prev->pid;
		__entry->prev_prio	= prev->prio;
		__entry->prev_state	= preempt ? 0x100 : prev->state;
		memcpy(__entry->prev_comm, prev->comm, TASK_COMM_LEN);
		__entry->next_pid	= next->pid;
		__entry->next_prio	= next->prio;
	),

	TP_printk("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d",
		__entry->prev_comm, __entry->prev_pid, __entry->prev_prio,
		(__entry->prev_state & 0xff) ?
		  __print_flags(__entry->prev_state & 0xff, "|",
				{ 0x0001, "S" }, { 0x0002, "D" },
				{ 0x0004, "T" }) : "R",
		__entry->prev_state & 0x100 ? "+" : "",
		__entry->next_comm, __entry->next_pid, __entry->next_prio)
);

/* 2: every kind of field. */
TRACE_EVENT(every_field,

	TP_PROTO(const char *name, int n, const u16 *list,
		 const unsigned long *mask, const void *cpus, const void *addr,
		 const char *piece, int piece_len, enum colour colour,
		 struct va_format *vaf),

	TP_ARGS(name, n, list, mask, cpus, addr, piece, piece_len, colour, vaf),

	TP_STRUCT__entry(
		__field(	u8,			small		)
		__field(	u64,			large		)
		__field(	bool,			flag		)
		__field(	enum colour,		colour		)
		__field_struct(	struct point,		point		)
		__field_ext(	const void *,		where,	FILTER_PTR_STRING )
		__array(	u8,			mac,	2 * 3	)
		__field(	double,			real		)
		__field(	wide_int,		wide		)
		__dynamic_array(u16,			list,	sample_count(n))
		__string(	name,			sample_name(name)	)
		__string_len(	piece,			piece,	piece_len	)
		__vstring(	text,			vaf->fmt,	vaf->va	)
		__bitmask(	mask,			70		)
		__cpumask(	cpus					)
		__sockaddr(	addr,			16		)
	),

	TP_fast_assign(
		__entry->small = 0xab;
		__entry->large = 0x1122334455667788ULL;
		__entry->flag = true;
		__entry->colour = colour;
		__entry->point.x = 7;
		__entry->point.y = -8;
		__entry->where = name;
		memset(__entry->mac, 0x11, sizeof(__entry->mac));
		__entry->real = 2.5;
		__entry->wide = -1;
		memcpy(__get_dynamic_array(list), list, n * sizeof(*list));
		__assign_str(name);
		__assign_str(piece);
		__assign_vstr(text, vaf->fmt, vaf->va);
		__assign_bitmask(mask, mask, 70);
		__assign_cpumask(cpus, cpus);
		__assign_sockaddr(addr, addr, 16);
	),

	TP_printk("small=%u large=%llx flag=%d colour=%s mac=%s real=%f wide=%d list=%s n=%u name=\"%s\" piece=%s text=%s"
		  " mask=%s size=%d\n",
		__entry->small, __entry->large, __entry->flag,
		show_colour(__entry->colour),
		__print_hex(__entry->mac, 6), __entry->real, __entry->wide,
		__print_array(__get_dynamic_array(list),
			      __get_dynamic_array_len(list) / 2, 2),
		__get_dynamic_array_len(list) / 2,
		__get_str(name), __get_str(piece), __get_str(text),
		__get_bitmask(mask), (int)sizeof(struct point))
);

/* 3: a class, three events, a print format of its own. */
DECLARE_EVENT_CLASS(request,
	TP_PROTO(unsigned int id, const char *path),
	TP_ARGS(id, path),
	TP_STRUCT__entry(
		__field(	unsigned int,	id	)
		__string(	path,		path	)
	),
	TP_fast_assign(
		__entry->id = id;
		__assign_str(path, path);
	),
	TP_printk("id=%u path=%s", __entry->id, __get_str(path))
);

DEFINE_EVENT(request, request_start,
	TP_PROTO(unsigned int id, const char *path),
	TP_ARGS(id, path));

DEFINE_EVENT(request, request_end,
	TP_PROTO(unsigned int id, const char *path),
	TP_ARGS(id, path));

DEFINE_EVENT_PRINT(request, request_fail,
	TP_PROTO(unsigned int id, const char *path),
	TP_ARGS(id, path),
	TP_printk("FAILED %s (%u)", __get_str(path), __entry->id));

/* 4: conditions. */
DEFINE_EVENT_CONDITION(request, request_odd,
	TP_PROTO(unsigned int id, const char *path),
	TP_ARGS(id, path),
	TP_CONDITION(id % 2 && sample_count(1)));

TRACE_EVENT_CONDITION(negative,
	TP_PROTO(int value),
	TP_ARGS(value),
	TP_CONDITION(sample_count(value) < 0),
	TP_STRUCT__entry(
		__field(	int,	value	)
	),
	TP_fast_assign(
		__entry->value = value;
	),
	TP_printk("%d", __entry->value)
);

/* 5: relative offsets. */
TRACE_EVENT(relative,
	TP_PROTO(const char *a, const char *b, const u32 *list, int n,
		 const unsigned long *mask, const void *cpus, const void *addr),
	TP_ARGS(a, b, list, n, mask, cpus, addr),
	TP_STRUCT__entry(
		__field(	u8,			first		)
		__rel_string(	a,			a		)
		__rel_string_len(b,			b,	3	)
		__rel_dynamic_array(u32,		list,	n	)
		__rel_bitmask(	mask,			64		)
		__rel_cpumask(	cpus					)
		__rel_sockaddr(	addr,			4		)
	),
	TP_fast_assign(
		__entry->first = 1;
		__assign_rel_str(a);
		__assign_rel_str(b, b);
		memcpy(__get_rel_dynamic_array(list), list, n * sizeof(*list));
		__assign_rel_bitmask(mask, mask, 64);
		__assign_rel_cpumask(cpus, cpus);
		__assign_rel_sockaddr(addr, addr, 4);
	),
	TP_printk("a=%s b=%s n=%d", __get_rel_str(a), __get_rel_str(b),
		  __get_rel_dynamic_array_len(list))
);

/* 6: nothing at all, and more arguments than a probe note describes. */
TRACE_EVENT(nothing,
	TP_PROTO(void),
	TP_ARGS(),
	TP_STRUCT__entry(),
	TP_fast_assign(),
	TP_printk("nothing")
);

TRACE_EVENT(crowd,
	TP_PROTO(char a, signed char b, unsigned char c, short d,
		 unsigned short e, int f, unsigned int g, long h,
		 unsigned long i, double j, struct point k, const char *l,
		 int m, int n),
	TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l, m, n),
	TP_STRUCT__entry(
		__field(	long,	sum	)
	),
	TP_fast_assign(
		__entry->sum = a + b + c + d + e + f + (long)g + h + (long)i +
			       (long)j + k.x + (l != NULL) + m + n;
	),
	TP_printk("sum=%ld", __entry->sum)
);

/* 7: as large as the caller says. */
TRACE_EVENT(blob,
	TP_PROTO(const void *p, size_t n),
	TP_ARGS(p, n),
	TP_STRUCT__entry(
		__dynamic_array(unsigned char,	data,	n	)
		__field(	int,		after	)
	),
	TP_fast_assign(
		memcpy(__get_dynamic_array(data), p, n);
		__entry->after = 42;
	),
	TP_printk("%d", __entry->after)
);

/* 8: a fixed part that does not fit on the stack either. */
TRACE_EVENT(large_array,
	TP_PROTO(int value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__array(	char,	page,	4096	)
		__field(	int,	value	)
	),
	TP_fast_assign(
		memset(__entry->page, 'x', sizeof(__entry->page));
		__entry->value = value;
	),
	TP_printk("%d", __entry->value)
);

/* 9: declared but never there. */
TRACE_EVENT_NOP(never,
	TP_PROTO(int value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(	int,	value	)
	),
	TP_fast_assign(
		__entry->value = value;
	),
	TP_printk("%d", __entry->value)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sample_trace
#include <tacho/define_trace.h>
