// SPDX-License-Identifier: MIT
#include "cli/near.h"

#include <stdio.h>
#include <string.h>

#include "event/type.h"

#define NAME_CUT	64u
#define NEAR_MAX	4u

unsigned int cli_distance(const char *a, const char *b)
{
	unsigned int row[NAME_CUT + 1];
	size_t na = strnlen(a, NAME_CUT), nb = strnlen(b, NAME_CUT);

	for (unsigned int j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= na; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= nb; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

/* 0: equal; beyond `limit`: nothing to do with each other. */
static unsigned int score(const char *glob, const char *word,
			  const struct tacho_type *type)
{
	char full[160];
	unsigned int d, own;

	(void)snprintf(full, sizeof(full), "%s:%s", type->system, type->name);
	d = cli_distance(strchr(glob, ':') ? glob : word, strchr(glob, ':') ?
			 full : type->name);
	own = cli_distance(word, type->name);
	if (own < d)
		d = own;
	/* a part of the name is as good as one letter wrong */
	if (strlen(word) >= 3 && strstr(type->name, word) && d > 1)
		d = 1;
	return d;
}

/* Keeps the best few, in order. */
struct near {
	const struct tacho_type *type[NEAR_MAX];
	unsigned int score[NEAR_MAX];
	unsigned int nr;
};

static void near_add(struct near *n, const struct tacho_type *type,
		     unsigned int d)
{
	unsigned int i = n->nr < NEAR_MAX ? n->nr++ : NEAR_MAX;

	if (i == NEAR_MAX) {
		if (n->score[NEAR_MAX - 1] <= d)
			return;
		i = NEAR_MAX - 1;
	}
	for (; i && n->score[i - 1] > d; i--) {
		n->type[i] = n->type[i - 1];
		n->score[i] = n->score[i - 1];
	}
	n->type[i] = type;
	n->score[i] = d;
}

bool cli_near_events(const struct tacho_stream *s, const char *glob,
		     char *text, size_t size)
{
	const char *colon = strchr(glob, ':'), *word = colon ? colon + 1 : glob;
	unsigned int limit = (unsigned int)strnlen(word, NAME_CUT) / 3;
	const struct tacho_type *type;
	struct near near = { .nr = 0 };
	size_t len = 0;

	if (limit < 1)
		limit = 1;
	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++) {
		unsigned int d = score(glob, word, type);

		if (d <= limit)
			near_add(&near, type, d);
	}
	for (unsigned int i = 0; i < near.nr && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s:%s",
					i ? ", " : "", near.type[i]->system,
					near.type[i]->name);
	return near.nr;
}
