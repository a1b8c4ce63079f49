/* SPDX-License-Identifier: MIT */
/*
 * golden_trigger.h - golden data of triggers, as tools/golden-trigger.sh writes it.
 *
 *	golden_open(&g, GOLDEN "/trigger/trigger");
 *	while (golden_next(&g))
 *		... g.command, g.result, g.trigger[] ...
 *	golden_close(&g);
 */
#ifndef TACHO_TESTS_ENGINE_GOLDEN_TRIGGER_H
#define TACHO_TESTS_ENGINE_GOLDEN_TRIGGER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_LINES_MAX	8

struct golden_error {
	unsigned int column;
	const char *text, *loc, *shown;
};

struct golden {
	char *text;		/* the file, cut into lines */
	char *next;		/* line to look at; NULL: none left */
	int line;
	/* the record */
	const char *event;	/* "sched/sched_switch" */
	const char *before[GOLDEN_LINES_MAX];	/* "sched/sched_waking hist:..." */
	unsigned int nr_before;
	const char *instead;	/* what is to be printed, or NULL: what the kernel prints */
	const char *command;
	int result;
	struct golden_error error[GOLDEN_LINES_MAX];
	unsigned int nr_errors;
	const char *trigger[GOLDEN_LINES_MAX];
	unsigned int nr_triggers;
	const char *also[GOLDEN_LINES_MAX];
	unsigned int nr_also;
};

/* \t and \xHH, in place. */
static inline void golden_decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned int c = (unsigned char)*s;

		if (s[0] == '\\' && s[1] == 't') {
			c = '\t';
			s++;
		} else if (s[0] == '\\' && s[1] == 'x' &&
			   sscanf(s + 2, "%2x", &c) == 1) {
			s += 3;
		}
		*to++ = (char)c;
	}
	*to = '\0';
}

static inline char *golden_read(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t len = 0, n;
	char *text = NULL;

	if (!f)
		return NULL;
	do {
		text = realloc(text, len + 65537);
		n = text ? fread(text + len, 1, 65536, f) : 0;
		len += n;
	} while (n);
	fclose(f);
	if (text)
		text[len] = '\0';
	return text;
}

static inline bool golden_open(struct golden *g, const char *path)
{
	memset(g, 0, sizeof(*g));
	g->text = golden_read(path);
	g->next = g->text;
	return g->text != NULL;
}

static inline void golden_close(struct golden *g)
{
	free(g->text);
}

/* What follows the word in the line at g->next, or NULL; the line is taken. */
static inline char *golden_take(struct golden *g, const char *word)
{
	size_t len = strlen(word);
	char *line = g->next, *end;

	if (!line || !*line || strncmp(line, word, len) || line[len] != ' ')
		return NULL;
	end = strchr(line, '\n');
	g->next = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	g->line++;
	golden_decode(line + len + 1);
	return line + len + 1;
}

static inline bool golden_many(struct golden *g, const char *word,
			       const char **list, unsigned int *nr)
{
	char *s = golden_take(g, word);

	if (s && *nr < GOLDEN_LINES_MAX)
		list[(*nr)++] = s;
	return s;
}

static inline bool golden_answer(struct golden *g)
{
	struct golden_error *e = &g->error[g->nr_errors ? g->nr_errors - 1 : 0];
	char *s;

	if ((s = golden_take(g, "result")))
		g->result = atoi(s);
	else if ((s = golden_take(g, "error")) && g->nr_errors < GOLDEN_LINES_MAX) {
		e = &g->error[g->nr_errors++];
		e->column = (unsigned int)strtoul(s, &s, 10);
		e->text = s + 1;
	} else if ((s = golden_take(g, "in")))
		e->loc = s;
	else if ((s = golden_take(g, "shown")))
		e->shown = s;
	else
		return golden_many(g, "trigger", g->trigger, &g->nr_triggers) ||
		       golden_many(g, "also", g->also, &g->nr_also);
	return true;
}

/* The next record; false: there is none, or the file is not of this form. */
static inline bool golden_next(struct golden *g)
{
	const char *s;

	g->nr_before = g->nr_errors = g->nr_triggers = g->nr_also = 0;
	g->instead = NULL;
	g->result = 1;
	for (;;) {
		if ((s = golden_take(g, "event"))) {
			g->event = s;
		} else if ((s = golden_take(g, "instead"))) {
			g->instead = s;
		} else if ((s = golden_take(g, "command"))) {
			break;
		} else if (!golden_many(g, "before", g->before, &g->nr_before)) {
			char *end;

			if (!g->next || !*g->next)
				return false;
			end = strchr(g->next, '\n');
			g->next = end ? end + 1 : NULL;
			g->line++;
		}
	}
	g->command = s;
	while (golden_answer(g))
		;
	return true;
}

#endif
