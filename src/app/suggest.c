// SPDX-License-Identifier: MIT
#include "app/suggest.h"

#include <stdio.h>
#include <string.h>

#include "event/type.h"

bool app_suggest_text(const struct tacho_suggestions *s, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (unsigned int i = 0; i < s->nr; i++) {
		size_t n = strlen(s->name[i]) + (i ? strlen(", ") : 0);

		if (n >= size - len)
			break;
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					i ? ", " : "", s->name[i]);
	}
	return len;
}

int app_suggest_no_event(struct tacho_stream *stream, const char *glob, const char *lister,
			 struct tacho_diag *d)
{
	static const char none[] = "no event of the trace matches ''; near it are: ";
	struct tacho_suggestions s = { .nr = 0 };
	const struct tacho_type *type;
	char text[sizeof(d->text)];
	size_t used = sizeof(none) + strlen(glob);
	int err = tacho_stream_check(stream);

	if (err)
		return tacho_diag(d, err, 0, "%s", tacho_stream_error(stream)->text);
	for (uint32_t i = 0; (type = tacho_stream_type(stream, i)); i++)
		tacho_suggest_event(&s, glob, type->system, type->name);
	if (used < sizeof(text) && app_suggest_text(&s, text, sizeof(text) - used))
		return tacho_diag(d, -ENOENT, 0,
				  "no event of the trace matches '%s'; near it are: %s",
				  glob, text);
	return tacho_diag(d, -ENOENT, 0,
			  "no event of the trace matches '%s'; %s lists them", glob,
			  lister ? lister : "'tacho stat'");
}
