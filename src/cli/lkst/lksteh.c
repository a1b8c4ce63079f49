// SPDX-License-Identifier: MIT
/* lksteh - control event handlers (specification 4.7.3.4.1). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/lkst/show.h"

/* The communication area: what the file holds. */
static int read_area(const char *file, struct tacho_buf *area)
{
	int err = file ? tacho_buf_read_file(area, file) : 0;

	if (err == -EOVERFLOW)
		return tool_fail(TOOL_FAILED, "'%s' is too long: a control function takes %d bytes "
				 "at most", file, LKST_EVHANDLER_CTRL_MAX);
	return err ? tool_failed(err, "read '%s'", file) : TOOL_OK;
}

static int ctrl(struct tacho_lkst *l, uint64_t id, struct tacho_buf *area)
{
	struct lkst_evhandler_ctrl_param p = {
		(lkst_evhandler_id)id, area->len ? area->data : NULL, area->len, 0
	};
	int err = tacho_lkst_handler_ctrl(l, &p);

	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, "event handler 0x%03llx is not there, has no control "
				 "function, or did not answer", (unsigned long long)id);
	if (err)
		return tool_failed(err, "control event handler 0x%03llx", (unsigned long long)id);
	if (p.ret)
		return tool_fail(TOOL_FAILED, "the control function of event handler 0x%03llx "
				 "returned %d", (unsigned long long)id, p.ret);
	return TOOL_OK;
}

static int run_ctrl(int argc, char **argv)
{
	uint64_t id = UINT64_MAX;
	const char *file = NULL;
	struct tacho_buf area;
	struct tacho_lkst l;
	int c, ret;

	while ((c = tool_option(argc, argv, "e:f:")) != -1) {
		if (c == '?' || (c == 'e' && tool_number(optarg, "event handler id",
							 LKST_EVHANDLER_ID_MAX, &id)))
			return TOOL_USAGE;
		if (c == 'f')
			file = optarg;
	}
	if (tool_no_more(argc, argv))
		return TOOL_USAGE;
	if (id == UINT64_MAX)
		return tool_fail(TOOL_USAGE, "control needs '-e ID' of an event handler");
	tacho_buf_init(&area, LKST_EVHANDLER_CTRL_MAX);
	ret = read_area(file, &area);
	if (!ret)
		ret = tool_open(&l);
	if (!ret) {
		ret = ctrl(&l, id, &area);
		tacho_lkst_close(&l);
	}
	tacho_buf_release(&area);
	return ret;
}

static int run_list(int argc, char **argv)
{
	struct tacho_lkst l;
	int ret;

	if (tool_option(argc, argv, "") != -1 || tool_no_more(argc, argv))
		return TOOL_USAGE;
	ret = tool_open(&l);
	if (ret)
		return ret;
	ret = show_handlers(&l);
	tacho_lkst_close(&l);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct tool_command table[] = {
		{ "control", "ctrl", run_ctrl, "-e ID [-f FILE]",
		  "call the control function of an event handler, with the contents of FILE" },
		{ "c", NULL, run_ctrl, "-e ID [-f FILE]", "the same" },
		{ "list", "ls", run_list, "", "list the event handlers" },
		{ 0 },
	};

	tool_name = "lksteh";
	return tool_main(table, "control event handlers of LKST", argc, argv);
}
