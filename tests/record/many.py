# SPDX-License-Identifier: MIT
"""many.py N HEADER SOURCE: a trace header with N events, and a program that
fires each once, in order."""
import sys

n = int(sys.argv[1])
with open(sys.argv[2], "w") as f:
    f.write("""#undef TRACE_SYSTEM
#define TRACE_SYSTEM many

#if !defined(MANY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MANY_TRACE_H
#include <tacho/tracepoint.h>

DECLARE_EVENT_CLASS(many,
	TP_PROTO(int n), TP_ARGS(n),
	TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n));
""")
    for i in range(n):
        f.write("DEFINE_EVENT(many, m%d, TP_PROTO(int n), TP_ARGS(n));\n" % i)
    f.write("""#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE many_trace
#include <tacho/define_trace.h>
""")
with open(sys.argv[3], "w") as f:
    f.write("#define CREATE_TRACE_POINTS\n#include \"many_trace.h\"\n"
            "int main(void)\n{\n")
    for i in range(n):
        f.write("\ttrace_m%d(%d);\n" % (i, i))
    f.write("\treturn 0;\n}\n")
