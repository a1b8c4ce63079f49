// SPDX-License-Identifier: MIT
/* probe: dynamic events in programs and in the kernel. */
#include <getopt.h>
#include <string.h>

#include "cli/probe.h"

static int probe_run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} sub[] = {
		{ "add", probe_add_run },
		{ "list", probe_list_run },
		{ "del", probe_del_run },
	};
	bool json;

	for (size_t i = 0; argc > 1 && i < TACHO_ARRAY_SIZE(sub); i++)
		if (!strcmp(argv[1], sub[i].name))
			return sub[i].run(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return cli_common('h', &json);
	if (argc > 1)
		return cli_usage("'%s' is not one of add, list, del", argv[1]);
	return cli_usage("say what to do: add, list or del");
}

const struct cli_verb cli_probe = {
	.name = "probe",
	.summary = "define events at any place in a program or in the kernel",
	.usage =
"usage: tacho probe add -x PROGRAM [OPTIONS] SPEC...\n"
"       tacho probe add -k [OPTIONS] SYMBOL[+OFFSET][%return]...\n"
"       tacho probe list [--json] [GLOB...]\n"
"       tacho probe del [--json] GLOB...\n"
"\n"
"Defines kernel events that occur when a program, or the kernel itself, reaches\n"
"a place.  They are recorded like other kernel events:\n"
"'tacho record -k 'tacho_probes:*''.  They remain until they are deleted.\n"
"\n"
"SPEC: checkout  'checkout%return'  checkout+8  checkout:12 (its 12th line)\n"
"      main.c:42  'order_*'  0x1129  sdt:shop:order_done\n"
"\n"
"  -x, --exec FILE      probe this program or library\n"
"  -k, --kernel         probe functions of the kernel\n"
"      --args LIST      values to record: 'id name:string total=order->sum',\n"
"                       $params, $retval, and the kernel's expressions:\n"
"                       %di +8(%si)\n"
"      --group NAME     set the group of the events (default: tacho_probes)\n"
"      --name NAME      set the name of the event\n"
"  -n, --dry-run        only print the definitions for the kernel\n"
"      --raw            each SPEC is a line in the kernel's own language\n"
"      --debug-dir DIR  directory of separate debug files (default:\n"
"                       /usr/lib/debug)\n"
"      --json           print the probes as JSON\n"
"  -h, --help           print this help\n",
	.run = probe_run,
};
