// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_CUT	64u

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Row i has the distances of a's first i letters to b's first j; two rows more are
 * kept for neighbours that changed places.
 */
unsigned int tacho_suggest_distance(const char *a, const char *b)
{
	unsigned int rows[3][NAME_CUT + 1];
	size_t na = strnlen(a, NAME_CUT), nb = strnlen(b, NAME_CUT);

	for (unsigned int j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (unsigned int i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3], *up = rows[(i + 2) % 3];
		const unsigned int *two_up = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned int j = 1; j <= nb; j++) {
			row[j] = least(up[j - 1] + (a[i - 1] != b[j - 1]),
				       least(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_up[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

static void add(struct tacho_suggestions *s, const char *system, const char *event,
		unsigned int score)
{
	char name[sizeof(s->name[0])];
	unsigned int i;

	(void)snprintf(name, sizeof(name), "%s:%s", system, event);
	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->name[i], name))
			return;
	if (s->nr == TACHO_SUGGEST_MAX && s->score[s->nr - 1] <= score)
		return;
	i = s->nr < TACHO_SUGGEST_MAX ? s->nr++ : s->nr - 1;
	for (; i && s->score[i - 1] > score; i--) {
		memcpy(s->name[i], s->name[i - 1], sizeof(name));
		s->score[i] = s->score[i - 1];
	}
	memcpy(s->name[i], name, sizeof(name));
	s->score[i] = score;
}

/* The letters of a part of a glob without its wildcards. */
static void letters(const char *from, size_t len, char to[NAME_CUT + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < NAME_CUT; i++)
		if (!strchr("*?[]\\", from[i]))
			to[n++] = from[i];
	to[n] = '\0';
}

/* False: they do not resemble each other.  *score: 0 is equal. */
static bool resembles(const char *word, const char *name, unsigned int *score)
{
	size_t len = strlen(word);
	unsigned int limit = len < 6 ? 1 : (unsigned int)len / 3;

	if (!len)
		return false;
	*score = tacho_suggest_distance(word, name);
	if (*score > 1 && len >= 3 && strstr(name, word))
		*score = 1;
	return *score <= limit;
}

void tacho_suggest_event(struct tacho_suggestions *s, const char *glob, const char *system,
			 const char *event)
{
	const char *colon = strchr(glob, ':'), *name = colon ? colon + 1 : glob;
	char given[NAME_CUT + 1], word[NAME_CUT + 1];
	unsigned int score;

	letters(glob, colon ? (size_t)(colon - glob) : 0, given);
	letters(name, strlen(name), word);
	/* an event of the right name in another system is a suggestion, too */
	if (resembles(word, event, &score))
		add(s, system, event, 2 * score + (*given && strcmp(given, system) != 0));
	if (resembles(*given ? given : word, system, &score) && (!colon || !*word))
		add(s, system, "*", 2 * score);
}
