// SPDX-License-Identifier: MIT
#include "cli/list_arg.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

int cli_list_add(struct cli_list *l, char *text)
{
	char *item;

	while ((item = strsep(&text, ","))) {
		if (!*item)
			continue;
		if (l->nr == CLI_LIST_MAX)
			return -E2BIG;
		l->item[l->nr++] = item;
	}
	return 0;
}

int cli_list_pids(const struct cli_list *l, int32_t *pids, const char **bad)
{
	for (size_t i = 0; i < l->nr; i++) {
		uint64_t v;

		if (tacho_parse_u64(l->item[i], 1, INT32_MAX, &v)) {
			*bad = l->item[i];
			return -EINVAL;
		}
		pids[i] = (int32_t)v;
	}
	return 0;
}
