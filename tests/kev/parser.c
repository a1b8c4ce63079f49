// SPDX-License-Identifier: MIT
/*
 * A program written for QNX: it prints what libtraceparser calls it back with.
 *
 *	parser FILE		all that there is
 *	parser FILE few		MSG_SENDV, threads that are ready, user event 5
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/trace.h>
#include <sys/traceparser.h>

static int on_event(struct traceparser_state *s, void *user, unsigned header, unsigned time,
		    unsigned *buf, unsigned len)
{
	const unsigned *cls = traceparser_get_info(s, _TRACEPARSER_INFO_NOW_CALLBACK_CLASS, NULL);
	const unsigned *event = traceparser_get_info(s, _TRACEPARSER_INFO_NOW_CALLBACK_EVENT, NULL);
	const int *prev = traceparser_get_info(s, _TRACEPARSER_INFO_PREV_CALLBACK_RETURN, NULL);
	const uint64_t *clk = traceparser_get_info(s, _TRACEPARSER_INFO_CLK, NULL);
	unsigned i;

	printf("%s cpu %u class %u event %u time 0x%08x clk 0x%llx prev %d:", (const char *)user,
	       _NTO_TRACE_GETCPU(header), *cls, *event, time, (unsigned long long)*clk, *prev);
	for (i = 0; i < len; i++)
		printf(" %08x", buf[i]);
	printf("\n");
	return (int)len;
}

static int on_header(struct traceparser_state *s, void *user, unsigned header, unsigned time,
		     unsigned *buf, unsigned len)
{
	unsigned n;
	const char *text = traceparser_get_info(s, _TRACEPARSER_INFO_SYS_RELEASE, &n);
	const unsigned *conv = traceparser_get_info(s, _TRACEPARSER_INFO_ENDIAN_CONV, NULL);
	const char *page;

	printf("%s header %u %u %d %u release '%.*s' conv %u", (const char *)user, header, time,
	       buf != NULL, len, text ? (int)n : 0, text ? text : "", *conv);
	page = traceparser_get_info(s, _TRACEPARSER_INFO_SYSPAGE, &n);
	printf(" syspage %u '%.*s'\n", n, page ? (int)n : 0, page ? page : "");
	return 0;
}

static void register_all(struct traceparser_state *s)
{
	static const unsigned classes[] = {
		_NTO_TRACE_CONTROL, _NTO_TRACE_USER, _NTO_TRACE_SYSTEM, _NTO_TRACE_COMM,
		_NTO_TRACE_QUIP, _NTO_TRACE_SEC, _NTO_TRACE_QVM,
	};
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		traceparser_cs_range(s, NULL, on_event, classes[i], 0, _NTO_TRACE_MAX_CODES);
	traceparser_cs_range(s, NULL, on_event, _NTO_TRACE_KERCALL, 0, 127);
	traceparser_cs_range(s, NULL, on_event, _NTO_TRACE_KERCALLINT, 0, 127);
	traceparser_cs_range(s, NULL, on_event, _NTO_TRACE_INT, _NTO_TRACE_INTFIRST,
			     _NTO_TRACE_INTLAST);
	traceparser_cs_range(s, NULL, on_event, _NTO_TRACE_PROCESS, _NTO_TRACE_PROCCREATE,
			     _NTO_TRACE_PROCTHREAD_NAME);
	traceparser_cs_range(s, NULL, on_event, _NTO_TRACE_THREAD, 1, _NTO_TRACE_THDESTROY);
}

static void register_few(struct traceparser_state *s)
{
	static char own[] = "own";

	traceparser_cs(s, NULL, on_event, _NTO_TRACE_KERCALLENTER, __KER_MSG_SENDV);
	traceparser_cs(s, own, on_event, _NTO_TRACE_THREAD, 1 << STATE_READY);
	traceparser_cs(s, NULL, on_event, _NTO_TRACE_USER, 5);
	/* no event of processes, and none of threads either */
	traceparser_cs(s, NULL, on_event, _NTO_TRACE_PROCESS, 0);
}

static void check_errors(void)
{
	struct traceparser_state *s = traceparser_init(NULL);
	const unsigned *error;

	if (traceparser_debug(NULL, stdout, 0) != -1 || errno != EINVAL ||
	    traceparser_debug(s, NULL, 0) != -1 || errno != EINVAL)
		printf("debug: wrong\n");
	errno = 0;
	error = traceparser_get_info(s, _TRACEPARSER_INFO_ERROR, NULL);
	if (traceparser_cs(s, NULL, on_event, _NTO_TRACE_INTENTER, 1) != -1 || errno != EINVAL ||
	    *error != _TRACEPARSER_UNKNOWN_INT_EVENT)
		printf("interrupts one by one: wrong\n");
	if (traceparser_cs(s, NULL, on_event, 99, 1) != -1 || errno != EINVAL ||
	    *error != _TRACEPARSER_UNKNOWN_CLASS)
		printf("class 99: wrong\n");
	if (traceparser(s, NULL, "/nowhere/x.kev") != -1 ||
	    *error != _TRACEPARSER_CANNOT_READ_IN_FILE)
		printf("no file: wrong\n");
	if (traceparser(NULL, NULL, "x") != -1 || traceparser(s, NULL, NULL) != -1)
		printf("NULL: wrong\n");
	if (traceparser_init(s) != s)
		printf("init again: wrong\n");
	traceparser_destroy(&s);
	if (s)
		printf("destroy: wrong\n");
	traceparser_destroy(&s);
}

int main(int argc, char **argv)
{
	static char user[] = "user";
	struct traceparser_state *s = traceparser_init(NULL);
	int ret;

	if (argc < 2)
		return 2;
	check_errors();
	traceparser_cs(s, NULL, on_header, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT);
	if (argc > 2)
		register_few(s);
	else
		register_all(s);
	ret = traceparser(s, user, argv[1]);
	if (ret)
		printf("error %u: %s\n",
		       *(const unsigned *)traceparser_get_info(s, _TRACEPARSER_INFO_ERROR, NULL),
		       (const char *)traceparser_get_info(s, _TRACEPARSER_INFO_ERROR_STR, NULL));
	traceparser_destroy(&s);
	return ret != 0;
}
