// SPDX-License-Identifier: MIT
/* lkst - control status of LKST (specification 4.7.3.1.1). */
#include <stdio.h>
#include <string.h>

#include "cli/lkst/show.h"
#include "cli/out.h"

/* Opens, does, closes. */
static int with(int argc, char **argv, int (*fn)(struct tacho_lkst *l))
{
	struct tacho_lkst l;
	int ret;

	if (tool_option(argc, argv, "") != -1 || tool_no_more(argc, argv))
		return TOOL_USAGE;
	ret = tool_open(&l);
	if (ret)
		return ret;
	ret = fn(&l);
	tacho_lkst_close(&l);
	return ret;
}

static int all(struct tacho_lkst *l)
{
	int ret = show_status(l);

	putchar('\n');
	ret |= show_buffers(l, -1, false);
	putchar('\n');
	ret |= show_masksets(l);
	putchar('\n');
	return ret | show_handlers(l);
}

static int start(struct tacho_lkst *l)
{
	int err = tacho_lkst_start(l);

	return err ? tool_failed(err, "start tracing") : TOOL_OK;
}

static int stop(struct tacho_lkst *l)
{
	int err = tacho_lkst_stop(l);

	return err ? tool_failed(err, "stop tracing") : TOOL_OK;
}

static int destroy(struct tacho_lkst *l)
{
	struct tacho_diag d = { 0 };

	return tacho_lkst_destroy(l, &d) ? tool_fail(TOOL_FAILED, "%s", d.text) : TOOL_OK;
}

static int run_all(int argc, char **argv)
{
	return with(argc, argv, all);
}

static int run_status(int argc, char **argv)
{
	return with(argc, argv, show_status);
}

static int run_start(int argc, char **argv)
{
	return with(argc, argv, start);
}

static int run_stop(int argc, char **argv)
{
	return with(argc, argv, stop);
}

static int run_destroy(int argc, char **argv)
{
	return with(argc, argv, destroy);
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	static const struct tool_command table[] = {
		{ "all", NULL, run_all, "",
		  "print the status, and lists of all buffers, masksets and event handlers" },
		{ "status", "stat", run_status, "", "print the current status" },
		{ "start", NULL, run_start, "", "start event tracing" },
		{ "stop", NULL, run_stop, "", "stop event tracing" },
		{ "destroy", NULL, run_destroy, "",
		  "end LKST, and remove all buffers and masksets" },
		{ 0 },
	};

	/* the name that section 4.7.3.4 of the specification refers to */
	if (argc && !strcmp(basename_of(argv[0]), "lkststat")) {
		tool_name = "lkststat";
		return cli_out_end(run_status(argc, argv));
	}
	tool_name = "lkst";
	return tool_main(table, "control status of LKST", argc, argv);
}
