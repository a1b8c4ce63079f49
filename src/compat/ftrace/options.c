// SPDX-License-Identifier: MIT
/* trace_options and options/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compat/ftrace/nodes.h"
#include "compat/ftrace/view.h"

enum option_use {
	USE_OUTPUT,	/* changes what is printed */
	USE_KERNEL,	/* and is told to the kernel's instance, which records by it */
	USE_KEPT,	/* remembered */
};

static const struct {
	const char *name;
	bool on;		/* at first */
	enum option_use use;
} options[] = {
	{ "print-parent", true, USE_OUTPUT },
	{ "sym-offset", false, USE_OUTPUT },
	{ "sym-addr", false, USE_OUTPUT },
	{ "verbose", false, USE_OUTPUT },
	{ "raw", false, USE_OUTPUT },
	{ "hex", false, USE_OUTPUT },
	{ "bin", false, USE_OUTPUT },
	{ "block", false, USE_KEPT },
	{ "fields", false, USE_OUTPUT },
	{ "trace_printk", true, USE_OUTPUT },
	{ "annotate", true, USE_OUTPUT },
	{ "userstacktrace", false, USE_KERNEL },
	{ "sym-userobj", false, USE_OUTPUT },
	{ "printk-msg-only", false, USE_OUTPUT },
	{ "context-info", true, USE_OUTPUT },
	{ "latency-format", false, USE_OUTPUT },
	{ "record-cmd", true, USE_OUTPUT },
	{ "record-tgid", false, USE_OUTPUT },
	{ "overwrite", true, USE_KERNEL },
	{ "disable_on_free", false, USE_KEPT },
	{ "irq-info", true, USE_OUTPUT },
	{ "markers", true, USE_KEPT },
	{ "event-fork", false, USE_KERNEL },
	{ "pause-on-trace", false, USE_KEPT },
	{ "hash-ptr", true, USE_OUTPUT },
	/* no tracer has it, but without it trace-cmd writes the machine's sysctl */
	{ "function-trace", true, USE_KEPT },
	{ "stacktrace", false, USE_KERNEL },
	{ "test_nop_accept", false, USE_KEPT },
	{ "test_nop_refuse", false, USE_KEPT },
};
#define NR_OPTIONS	(sizeof(options) / sizeof(options[0]))

const char *tree_option_name(uint32_t i)
{
	return i < NR_OPTIONS ? options[i].name : NULL;
}

uint64_t tree_options_default(void)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < NR_OPTIONS; i++)
		if (options[i].on)
			set |= (uint64_t)1 << i;
	return set;
}

static int find(const char *name)
{
	for (uint32_t i = 0; i < NR_OPTIONS; i++)
		if (!strcmp(options[i].name, name))
			return (int)i;
	return -EINVAL;
}

uint64_t tree_option_bit(const char *name)
{
	int i = find(name);

	return i >= 0 ? (uint64_t)1 << i : 0;
}

bool tree_option(const struct tree_inst *inst, const char *name)
{
	return tacho_load_relaxed(&inst->options) & tree_option_bit(name);
}

void tree_options_output(const struct tree_inst *inst,
			 struct tacho_output_options *o)
{
	uint64_t set = tacho_load_relaxed(&inst->options);

	*o = TACHO_OUTPUT_DEFAULTS;
	for (uint32_t i = 0; i < NR_OPTIONS; i++) {
		bool *option = tacho_output_option(o, options[i].name);

		if (option)
			*option = set >> i & 1;
	}
}

static int tell_kernel(struct tree_inst *inst, uint32_t i, bool on)
{
	char path[64];
	int err;

	if (!tree_has_kernel(inst->tree))
		return 0;
	(void)snprintf(path, sizeof(path), "options/%s", options[i].name);
	err = tree_kernel_write(inst, path, on ? "1" : "0", 1, true);
	return err == -ENOENT ? 0 : err;
}

static int set(struct tree_inst *inst, uint32_t i, bool on)
{
	uint64_t bit = (uint64_t)1 << i;
	int err = 0;

	/* the nop tracer's own two, which show how a tracer says yes and no */
	if (!strcmp(options[i].name, "test_nop_refuse"))
		return -EINVAL;
	if (options[i].use == USE_KERNEL)
		err = tell_kernel(inst, i, on);
	if (!err && !strcmp(options[i].name, "event-fork"))
		err = tree_pids_follow(inst, on);
	if (!err && !strcmp(options[i].name, "overwrite"))
		err = tree_set_overwrite(inst, on);
	if (!err)
		tacho_store_relaxed(&inst->options, on ? inst->options | bit :
							 inst->options & ~bit);
	inst->unsaved |= !err;
	if (!err)
		tree_give_back(inst, -1);
	return err;
}

/* ---- options/NAME ---- */

static int option_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_puts(out, f->inst->options >> f->option & 1 ? "1\n" : "0\n");
	return 0;
}

static ssize_t option_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	bool on;
	int err = tree_bool(text, &on);

	(void)caller;
	if (!err && on != (f->inst->options >> f->option & 1))
		err = set(f->inst, f->option, on);
	return err ? err : (ssize_t)len;
}

const struct tree_node tree_option_node = {
	.name = "option", .mode = 0640, .show = option_show, .store = option_store,
};

/* ---- trace_options ---- */

static int options_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < NR_OPTIONS; i++)
		tacho_buf_printf(out, "%s%s\n",
				 f->inst->options >> i & 1 ? "" : "no",
				 options[i].name);
	return 0;
}

static ssize_t options_store(struct tacho_tree_file *f, const char *text, size_t len,
			     const struct tacho_tree_caller *caller)
{
	char name[64];
	bool on = true;
	int i;

	(void)caller;
	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, len + 1);
	text = tree_trim(name);
	i = find(text);
	if (i < 0 && !strncmp(text, "no", 2)) {
		on = false;
		i = find(text + 2);
	}
	if (i >= 0)
		i = set(f->inst, (uint32_t)i, on);
	return i < 0 ? i : (ssize_t)len;
}

const struct tree_node tree_options_node = {
	.name = "trace_options", .mode = 0640, .show = options_show,
	.store = options_store,
};
