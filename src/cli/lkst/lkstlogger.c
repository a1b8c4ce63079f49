// SPDX-License-Identifier: MIT
/* lkstlogger - record an event in LKST (specification 4.7.3.5.1). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/lkst/tool.h"
#include "cli/out.h"

static const char help[] =
	"lkstlogger - record an event in LKST\n\n"
	"usage: lkstlogger -ev TYPE [-a1 DATA] [-a2 DATA] [-a3 DATA] [-a4 DATA]\n"
	"       lkstlogger version | ver\n"
	"       lkstlogger help\n\n"
	"  -ev TYPE     number of the event type (0x100), or its mnemonic\n"
	"  -a1 .. -a4   arguments: 64-bit numbers (default: 0)\n";

/* A number, or the mnemonic of a type that LKST knows. */
static int find_type(struct tacho_lkst *l, const char *text, uint16_t *etype)
{
	const struct lkst_type_text *t;
	struct lkst_types types;
	uint64_t number;
	int ret;

	if (strchr("0123456789", *text)) {
		ret = tool_number(text, "event type", LKST_ETYPE_MAX, &number);
		*etype = (uint16_t)number;
		return ret;
	}
	lkst_types_init(&types);
	ret = tool_types(l, NULL, &types);
	t = ret ? NULL : lkst_types_find(&types, text);
	if (t)
		*etype = t->etype;
	else if (!ret)
		ret = tool_fail(TOOL_USAGE, "there is no event type '%s'", text);
	lkst_types_release(&types);
	return ret;
}

static int log_it(const char *type, const uint64_t arg[4])
{
	struct lkst_record r = { .arg = { arg[0], arg[1], arg[2], arg[3] } };
	struct tacho_lkst l;
	int ret = tool_open(&l), err;

	if (ret)
		return ret;
	ret = find_type(&l, type, &r.etype);
	if (!ret) {
		err = tacho_lkst_entry(&l, &r);
		if (err == -EINVAL)
			ret = tool_fail(TOOL_FAILED, "event type 0x%03x is reserved", r.etype);
		else if (err == -EBUSY)
			ret = tool_fail(TOOL_FAILED, "cannot record the event: no memory for a "
					"buffer, or all are being written to");
		else if (err)
			ret = tool_failed(err, "record the event");
	}
	tacho_lkst_close(&l);
	return ret;
}

static int run(int argc, char **argv)
{
	const char *type = NULL;
	uint64_t arg[4] = { 0 };

	if (argc == 2 && (!strcmp(argv[1], "version") || !strcmp(argv[1], "ver") ||
			  !strcmp(argv[1], "--version"))) {
		tool_version();
		return TOOL_OK;
	}
	if (argc == 2 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))) {
		(void)fputs(help, stdout);
		return TOOL_OK;
	}
	for (int i = 1; i < argc; i += 2) {
		const char *o = argv[i];
		bool is_arg = strlen(o) == 3 && !strncmp(o, "-a", 2) && o[2] >= '1' && o[2] <= '4';

		if (!is_arg && strcmp(o, "-ev"))
			return tool_fail(TOOL_USAGE, "'%s' is no option; see 'lkstlogger help'", o);
		if (i + 1 == argc)
			return tool_fail(TOOL_USAGE, "option '%s' needs an argument", o);
		if (!is_arg)
			type = argv[i + 1];
		else if (tool_number(argv[i + 1], "data", UINT64_MAX, &arg[o[2] - '1']))
			return TOOL_USAGE;
	}
	if (!type)
		return tool_fail(TOOL_USAGE, "'-ev TYPE' is needed; see 'lkstlogger help'");
	return log_it(type, arg);
}

int main(int argc, char **argv)
{
	tool_name = "lkstlogger";
	return cli_out_end(run(argc, argv));
}
