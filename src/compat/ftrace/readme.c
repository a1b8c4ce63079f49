// SPDX-License-Identifier: MIT
/* README: what the files do; scripts look into it for what is there. */
#include <string.h>

#include "compat/ftrace/nodes.h"

#define README_MAX	((size_t)1 << 20)

static const char text_before[] =
"tracing mini-HOWTO:\n"
"\n"
"This tree is made by tacho.  It has the events of programs, and of the kernel where\n"
"that can be traced.\n"
"\n"
"# echo 0 > tracing_on : stop recording; 1 goes on\n"
"# cat trace : what is recorded\n"
"# echo > trace : empty it\n"
"\n"
"  trace			- the recorded events, as text\n"
"  trace_pipe		- the same, each event once; waits for more\n"
"  trace_clock		- the clock whose times are shown\n"
"  timestamp_mode	- how times are kept in pages\n"
"  trace_marker		- what is written here becomes an event\n"
"  trace_marker_raw	- binary data after an id of 4 bytes\n"
"  trace_options		- what is printed, and what else is recorded\n"
"  buffer_size_kb	- KiB per CPU\n"
"  buffer_total_size_kb	- of all CPUs\n"
"  buffer_subbuf_size_kb	- of one page of trace_pipe_raw\n"
"  current_tracer	- the tracer: nop\n"
"  set_event_pid		- only these threads' events\n"
"  set_event_notrace_pid	- not these threads' events\n"
"  error_log		- what was wrong with the last commands, and where\n"
"  saved_cmdlines_size	- how many names of threads are kept\n"
"\n"
"  snapshot		- a second set of buffers: 1 takes a snapshot, 0 frees it\n"
"\n";

static const char text_kernel[] =
"  tracing_cpumask	- CPUs on which the kernel's events are recorded\n"
"\n";

/* After what the kernel says of its probes. */
static const char text_behind[] =
"  synthetic_events	- create/append/remove/show synthetic events\n"
"			  Write into this file to define/undefine new synthetic events.\n"
"\t     example: echo 'myevent u64 lat; char name[]; long[] stack' >> synthetic_events\n"
"\t     in dynamic_events: s:[synthetic/]<event> <field> [<field>]\n"
"\t                        -:[synthetic/]<event>\n"
"\n"
"  instances/		- other sessions: mkdir makes one, rmdir destroys it\n"
"\n"
"  events/		- all events, by system\n"
"      enable		- 0 or 1; X: some are on\n"
"  events/<system>/\n"
"      enable, filter	- of all events of the system\n"
"  events/<system>/<event>/\n"
"      enable		- 0 or 1\n"
"      filter		- only events for which this holds are recorded\n"
"      format, id	- its fields, its number\n"
"      trigger		- commands that run when the event comes\n"
"\t    Format: <trigger>[:count][if <filter>]\n"
"\t   trigger: traceon, traceoff\n"
"\t            enable_event:<system>:<event>\n"
"\t            disable_event:<system>:<event>\n"
"\t            enable_hist:<system>:<event>\n"
"\t            disable_hist:<system>:<event>\n"
"\t\t    stacktrace\n"
"\t\t    snapshot\n"
"\t\t    hist (see below)\n"
"\t   example: echo traceoff > events/block/block_unplug/trigger\n"
"\t            echo 'enable_event:kmem:kmalloc:3 if nr_rq > 1' > \\\n"
"\t                  events/block/block_unplug/trigger\n"
"\t   '!' before a command takes it away.\n"
"\n"
"      hist trigger\t- when the event comes, its entry in a table is counted\n"
"\t    Format: hist:keys=<field1[,field2,...]>\n"
"\t            [:<var1>=<field|var_ref|numeric_literal>[,<var2>=...]]\n"
"\t            [:values=<field1[,field2,...]>]\n"
"\t            [:sort=<field1[,field2,...]>]\n"
"\t            [:size=#entries]\n"
"\t            [:pause][:continue][:clear]\n"
"\t            [:name=histname1]\n"
"\t            [:nohitcount]\n"
"\t            [:<handler>.<action>]\n"
"\t            [if <filter>]\n"
"\t    Keys\n"
"\t    can be any field, or the special string 'common_stacktrace'.\n"
"\t    Other fields: 'common_timestamp', 'common_cpu', 'hitcount'.  Modifiers:\n"
"\t            .hex        display a number as a hex value\n"
"\t            .sym        display an address as a symbol\n"
"\t            .sym-offset display an address as a symbol and offset\n"
"\t            .execname   display a common_pid as a program name\n"
"\t            .syscall    display a syscall id as a syscall name\n"
"\t            .log2       display log2 value rather than raw number\n"
"\t            .buckets=size  display values in groups of size rather than raw number\n"
"\t            .usecs      display a common_timestamp in microseconds\n"
"\t            .percent    display a number of percentage value\n"
"\t            .graph      display a bar-graph of a value\n"
"\t            .stacktrace display a field as a stack trace\n"
"\t    Handlers: onmatch(matching.event), onmax(var), onchange(var)\n"
"\t    Actions:  <synthetic_event>(param list), trace(<synthetic_event>,param list),\n"
"\t              save(field,...), snapshot()\n";

/* Where no kernel tells of them. */
static const char text_eprobes[] =
"  dynamic_events\t- create/append/remove/show event probes\n"
"\t     e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>] [if <filter>]\n"
"\t     -:[<group>/][<event>]\n"
"\t      args: <name>=$<field>[:<type>]\n"
"\n";

/* Whether a line begins a part of the kernel's text: a file's name, 2 columns in. */
static bool begins_part(const char *line)
{
	return !strncmp(line, "  ", 2) && line[2] != ' ' && line[2] != '\n';
}

static bool is_of_probes(const char *line)
{
	return !strncmp(line, "  dynamic_events", 16) ||
	       !strncmp(line, "  kprobe_events", 15) ||
	       !strncmp(line, "  uprobe_events", 15);
}

static bool kernel_has_eprobes(struct tacho_tree *tree)
{
	struct tree_symbols *symbols = tree_has_kernel(tree) ? tree_symbols_get(tree) : NULL;
	uint64_t start;
	bool has = symbols && tree_symbol_find(symbols, "eprobe_dyn_event_create", &start);

	if (symbols)
		tree_symbols_put(tree, symbols);
	return has;
}

/*
 * A README tells of them whether the kernel was built with them or not, so its symbols are
 * asked.
 */
bool tree_has_eprobes(struct tacho_tree *tree)
{
	uint32_t known = tacho_load_relaxed(&tree->eprobes);

	if (!known) {
		known = kernel_has_eprobes(tree) ? 2 : 1;
		tacho_store_relaxed(&tree->eprobes, known);
	}
	return known == 2;
}

/*
 * What the kernel says of its probes, which are handed to it: what it can do, and programs
 * look for here, is different from kernel to kernel.
 */
static void put_probes(const struct tree_inst *inst, struct tacho_buf *out)
{
	bool wanted = false;
	struct tacho_buf b;

	tacho_buf_init(&b, README_MAX);
	if (!tacho_buf_read_fileat(&b, inst->tree->tracefs.dirfd, "README"))
		for (const char *at = tacho_buf_str(&b), *next; *at; at = next) {
			next = at + strcspn(at, "\n");
			next += *next == '\n';
			if (begins_part(at))
				wanted = is_of_probes(at);
			if (wanted)
				tacho_buf_put(out, at, (size_t)(next - at));
		}
	tacho_buf_release(&b);
}

static int readme_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_puts(out, text_before);
	if (tree_has_kernel(f->inst->tree)) {
		tacho_buf_puts(out, text_kernel);
		put_probes(f->inst, out);
	}
	if (!strstr(tacho_buf_str(out), "e[:[<group>"))
		tacho_buf_puts(out, text_eprobes);
	tacho_buf_puts(out, text_behind);
	return tacho_buf_error(out);
}

const struct tree_node tree_readme_node = {
	.name = "README", .mode = 0440, .show = readme_show, .top = true,
};
