// SPDX-License-Identifier: MIT
/* logformat - display LKST trace data (specification 4.7.3.6.1; historically a Perl script). */
#include <getopt.h>
#include <stdio.h>

#include "cli/lkst/print.h"
#include "cli/out.h"

static const char help[] =
	"logformat - display LKST trace data\n\n"
	"usage: logformat [-c CPU] [-e EVENT,..] [-n ENTRIES] [-r] FILE\n\n"
	"  -c CPU       print events of this CPU only\n"
	"  -e EVENT,..  print these events; '!EVENT' excludes; 'all'\n"
	"  -n ENTRIES   print at most ENTRIES events\n"
	"  -r           print the oldest first\n"
	"  -h           print this help, and the known events\n"
	"  -v           print the version\n";

static int run(int argc, char **argv)
{
	struct print_options o = { .cpu = -1, .max = UINT64_MAX, .buffer = LKST_BUFFER_ID_VOID };
	uint64_t n;
	int c, ret = TOOL_OK;

	while (!ret && (c = tool_option(argc, argv, "c:e:hn:rv")) != -1) {
		switch (c) {
		case 'c':
			ret = tool_number(optarg, "CPU", INT32_MAX, &n);
			o.cpu = (int64_t)n;
			break;
		case 'e':
			o.events = optarg;
			break;
		case 'n':
			ret = tool_number(optarg, "number of entries", INT64_MAX, &o.max);
			break;
		case 'r':
			o.ascending = true;
			break;
		case 'v':
			tool_version();
			return TOOL_OK;
		case 'h':
			(void)fputs(help, stdout);
			printf("\nevents:\n");
			return print_names(NULL);
		default:
			return TOOL_USAGE;
		}
	}
	if (ret)
		return TOOL_USAGE;
	if (optind + 1 != argc)
		return tool_fail(TOOL_USAGE, "the name of one file is needed; see 'logformat -h'");
	o.input = argv[optind];
	return print_events(&o);
}

int main(int argc, char **argv)
{
	tool_name = "logformat";
	return cli_out_end(run(argc, argv));
}
