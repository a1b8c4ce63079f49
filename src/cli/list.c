// SPDX-License-Identifier: MIT
/* list: the events that can be recorded. */
#include <getopt.h>

#include "app/list.h"
#include "cli/cli.h"

#define LIST_MAX	((size_t)256 << 20)

enum { OPT_PROGRAMS = CLI_OPT_FIRST, OPT_KERNEL };

struct list {
	struct app_list_config config;
	struct tacho_buf out;
	struct tacho_json j;
	bool json, programs, kernel;	/* programs, kernel: only those */
};

static void show_json(struct list *l, const struct app_list_event *e)
{
	tacho_json_open(&l->j, '{');
	tacho_json_pair_str(&l->j, "event", e->name);
	tacho_json_pair_str(&l->j, "source", e->processes ? "program" : "kernel");
	if (e->processes) {
		tacho_json_pair_u64(&l->j, "processes", e->processes);
		tacho_json_pair_u64(&l->j, "enabled", e->enabled);
	}
	if (e->format)
		tacho_json_pair_str(&l->j, "format", e->format);
	tacho_json_close(&l->j, '}');
}

static int show(void *arg, const struct app_list_event *e)
{
	struct list *l = arg;

	if (l->json) {
		show_json(l, e);
		return 0;
	}
	if (e->processes)
		tacho_buf_printf(&l->out, "%-40s program, in %u process%s%s\n", e->name,
				 e->processes, e->processes == 1 ? "" : "es",
				 e->enabled ? ", enabled" : "");
	else
		tacho_buf_printf(&l->out, "%-40s kernel\n", e->name);
	if (e->format)
		tacho_buf_puts(&l->out, e->format);
	return 0;
}

/* The kernel's are a bonus when everything is listed, else an error if not there. */
static int list_all(struct list *l)
{
	struct tacho_diag d = { 0 };

	if ((l->programs || !l->kernel) && app_list_programs(&l->config, show, l, &d))
		return cli_fail_diag(&d);
	if ((l->kernel || !l->programs) && app_list_kernel(&l->config, show, l, &d)) {
		if (l->kernel)
			return cli_fail_diag(&d);
		cli_note("no kernel events: %s", d.text);
	}
	return CLI_OK;
}

static int print(struct list *l)
{
	int ret;

	tacho_buf_init(&l->out, LIST_MAX);
	tacho_json_init(&l->j, &l->out);
	if (l->json)
		tacho_json_open(&l->j, '[');
	ret = list_all(l);
	if (!ret && l->config.nr_globs && l->out.len <= (size_t)l->json)
		ret = cli_fail("no event matches '%s'", l->config.globs[0]);
	if (l->json)
		tacho_json_close(&l->j, ']');
	if (!ret)
		ret = l->json ? cli_write_json(&l->out) : cli_write(&l->out);
	tacho_buf_release(&l->out);
	return ret;
}

static int list_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ "programs", no_argument, NULL, OPT_PROGRAMS },
		{ "kernel", no_argument, NULL, OPT_KERNEL },
		{ "format", no_argument, NULL, 'F' },
		{ NULL, 0, NULL, 0 },
	};
	struct list l = { .json = false };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqF", options, NULL)) != -1) {
		ret = -1;
		if (opt == OPT_PROGRAMS)
			l.programs = true;
		else if (opt == OPT_KERNEL)
			l.kernel = true;
		else if (opt == 'F')
			l.config.formats = true;
		else
			ret = cli_common(opt, &l.json);
		if (ret >= 0)
			return ret;
	}
	l.config.globs = (const char *const *)(argv + optind);
	l.config.nr_globs = (size_t)(argc - optind);
	return print(&l);
}

const struct cli_verb cli_list = {
	.name = "list",
	.summary = "list events of running programs and of the kernel",
	.usage = "usage: tacho list [OPTIONS] [SYS:EV...]\n\n"
		 "Lists the events that can be recorded: those of running programs, and\n"
		 "those of the kernel.  Globs select.\n"
		 "\n"
		 "      --programs  list program events only\n"
		 "      --kernel    list kernel events only\n"
		 "  -F, --format    also print their fields and print formats\n"
		 "      --json      print JSON\n"
		 "  -h, --help      print this help\n",
	.run = list_run,
};
