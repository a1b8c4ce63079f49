// SPDX-License-Identifier: MIT
/*
 * calls WHAT [FILE] - calls of the libraries, as a careful program makes them: what
 * fails is named with its errno and ends the program with status 1.
 *
 *	traceparser FILE	libtraceparser, over a .kev
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
	(void)s;
	(void)user;
	printf("0x%08x 0x%08x:", header, time);
	for (unsigned i = 0; i < len; i++)
		printf(" %08x", buf[i]);
	printf("\n");
	return (int)len;
}

static int parse(const char *path)
{
	static const unsigned classes[] = {
		_NTO_TRACE_CONTROL, _NTO_TRACE_USER, _NTO_TRACE_SYSTEM, _NTO_TRACE_COMM,
	};
	struct traceparser_state *s = traceparser_init(NULL);
	const char *why;
	int err = 0;

	if (!s) {
		fprintf(stderr, "calls: traceparser_init: %s\n", strerror(errno));
		return 1;
	}
	for (size_t i = 0; !err && i < sizeof(classes) / sizeof(classes[0]); i++)
		err = traceparser_cs_range(s, NULL, on_event, classes[i], 0,
					   _NTO_TRACE_MAX_CODES);
	if (!err)
		err = traceparser(s, NULL, path);
	if (err) {
		why = traceparser_get_info(s, _TRACEPARSER_INFO_ERROR_STR, NULL);
		fprintf(stderr, "calls: traceparser: %s\n", why ? why : strerror(errno));
	}
	traceparser_destroy(&s);
	return err != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "traceparser"))
		return parse(argv[2]);
	fprintf(stderr, "usage: calls traceparser FILE\n");
	return 2;
}
