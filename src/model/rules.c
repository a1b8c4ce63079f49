// SPDX-License-Identifier: MIT
#include "model/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX	((size_t)16 << 20)

int model_rules_new(struct model_rules **out, struct tacho_diag *d)
{
	struct model_rules *rules = calloc(1, sizeof(*rules));
	struct model_row **tail;
	int err;

	*out = NULL;
	if (!rules)
		return tacho_no_memory(d);
	tacho_arena_init(&rules->arena, RULES_MAX);
	tail = &rules->row;
	err = model_rules_parse(&rules->arena, model_builtin_rules, strlen(model_builtin_rules),
				&tail, d);
	if (err) {
		model_rules_free(rules);
		return err;
	}
	rules->builtin = rules->row;
	*out = rules;
	return 0;
}

void model_rules_free(struct model_rules *rules)
{
	if (!rules)
		return;
	tacho_arena_release(&rules->arena);
	free(rules);
}

int model_rules_add(struct model_rules *rules, const char *text, size_t len,
		    struct tacho_diag *d)
{
	struct model_row *first = NULL, **tail = &first;
	int err = model_rules_parse(&rules->arena, text, len, &tail, d);

	if (err)
		return err;
	*tail = rules->row;
	rules->row = first;
	return 0;
}

void model_rules_text(const struct model_rules *rules, struct tacho_buf *out)
{
	for (const struct model_row *row = rules->row; row; row = row->next)
		if (row->text[0])
			tacho_buf_printf(out, "%s\n", row->text);
}

bool model_pattern_match(const char *pattern, size_t pattern_len, const char *name,
			 const char **star, size_t *star_len)
{
	const char *glob = memchr(pattern, '*', pattern_len);
	size_t len = strlen(name), head, tail;

	if (star) {
		*star = name + len;
		*star_len = 0;
	}
	if (!glob)
		return len == pattern_len && !memcmp(name, pattern, len);
	head = (size_t)(glob - pattern);
	tail = pattern_len - head - 1;
	if (len < head + tail || memcmp(name, pattern, head) ||
	    memcmp(name + len - tail, glob + 1, tail))
		return false;
	if (star) {
		*star = name + head;
		*star_len = len - head - tail;
	}
	return true;
}

bool model_event_match(const char *event, const char *system, const char *name,
		       const char **star, size_t *star_len)
{
	const char *colon = strchr(event, ':');

	return model_pattern_match(event, (size_t)(colon - event), system, NULL, NULL) &&
	       model_pattern_match(colon + 1, strlen(colon + 1), name, star, star_len);
}
