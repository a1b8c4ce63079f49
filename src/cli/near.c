// SPDX-License-Identifier: MIT
#include "cli/near.h"

#include <stdio.h>

#include "event/type.h"

bool cli_near_text(const struct tacho_near *near, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (unsigned int i = 0; i < near->nr && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					i ? ", " : "", near->name[i]);
	return near->nr;
}

bool cli_near_events(const struct tacho_stream *s, const char *glob,
		     char *text, size_t size)
{
	struct tacho_near near = { .nr = 0 };
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		tacho_near_event(&near, glob, type->system, type->name);
	return cli_near_text(&near, text, size);
}
