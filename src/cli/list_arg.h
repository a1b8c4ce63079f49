/* SPDX-License-Identifier: MIT */
/* list_arg.h - option values that are lists: "a,b" and repeated options. */
#ifndef TACHO_CLI_LIST_ARG_H
#define TACHO_CLI_LIST_ARG_H

#include <stddef.h>
#include <stdint.h>

#define CLI_LIST_MAX	512

struct cli_list {
	const char *item[CLI_LIST_MAX];	/* into the option values, cut in place */
	size_t nr;
};

/* Adds the items of text, which is cut at its commas.  0, or -E2BIG. */
int cli_list_add(struct cli_list *l, char *text);

/* The items as process ids; 0, or -EINVAL with *bad naming the item. */
int cli_list_pids(const struct cli_list *l, int32_t *pids, const char **bad);

#endif
