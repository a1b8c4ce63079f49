/* SPDX-License-Identifier: MIT */
/*
 * Everything in one file, for compile.sh: WRONG_x and RIGHT choose what is to
 * be refused; any strict mode must take the rest.
 */
#ifdef DEFINE
#define CREATE_TRACE_POINTS
#endif
#include "all_trace.h"
#include <tacho/marker.h>
#include <tacho/printk.h>

#ifdef __cplusplus
extern "C"
#endif
int all(int id, const char *name, double d, int *calls);

int all(int id, const char *name, double d, int *calls)
{
	TACHO_SPAN("all");

	trace_first(id, name, calls);
	if (trace_first_enabled())
		(*calls)++;
	tacho_printk("%d %s %f %d", id, name, d, ++*calls);
	TACHO_BEGIN("part");
	TACHO_COUNTER("id", id);
	TACHO_MARK("mark");
	TACHO_END("part");
#ifdef WRONG_TYPE
	tacho_printk("%s", id);
#endif
#ifdef WRONG_COUNT
	tacho_printk("%d %d", id);
#endif
#ifdef WRONG_ARGUMENT
	trace_first(name, name, calls);
#endif
#ifdef WRONG_LITERAL
	tacho_printk(name, id);
#endif
#ifdef WRONG_MARKER
	TACHO_MARK(id);
#endif
	return *calls;
}

#ifdef MAIN
#include <stdio.h>

int main(void)
{
	int calls = 0;

	all(1, "n", 1.0, &calls);
	printf("calls %d\n", calls);
	return 0;
}
#endif

#ifdef DISASSEMBLE
void site(int id, const char *name, void *where);

void site(int id, const char *name, void *where)
{
	trace_first(id, name, where);
}
#endif
