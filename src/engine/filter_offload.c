// SPDX-License-Identifier: MIT
/*
 * Whether the kernel gives the same results for a filter. docs/language.md, "Filters", lists the
 * differences; cases that are not known to be equal count as different.
 */
#include "engine/filter_ast.h"

#include <string.h>

#define OFFLOAD_ARENA	((size_t)64 << 20)

/* Whether the kernel and tacho match a glob in the same way, on a string that ends with NUL. */
static bool plain_glob(const struct filter_pred *pred, bool to_its_end)
{
	const char *s = pred->text;

	if (!pred->text_len || (*s >= '0' && *s <= '9'))
		return false;
	for (uint32_t i = 0; i < pred->text_len; i++) {
		if (strchr("?[]\\!", s[i]))
			return false;
		/* the kernel searches after the NUL for the text that follows a '*' */
		if (s[i] == '*' && to_its_end && i + 1 < pred->text_len)
			return false;
	}
	return true;
}

static enum tacho_filter_offload text_offload(const struct filter_pred *pred)
{
	bool array = pred->subject == FILTER_FIX || pred->subject == FILTER_COMM;

	if (!pred->text_len ||
	    (pred->cmp == FILTER_CMP_GLOB && !plain_glob(pred, array)))
		return TACHO_FILTER_LOCAL;
	if (pred->ustring || pred->subject == FILTER_POINTER ||
	    pred->subject == FILTER_COMM)
		return TACHO_FILTER_KERNEL_ONLY;
	return pred->subject == FILTER_FLEX ? TACHO_FILTER_LOCAL : TACHO_FILTER_SAME;
}

static enum tacho_filter_offload pred_offload(const struct filter_pred *pred)
{
	bool same;

	switch (pred->operand) {
	case FILTER_OPERAND_TEXT:
		return text_offload(pred);
	case FILTER_OPERAND_CPUS:
		/* the kernel's sets do not contain numbers greater than those of its CPUs */
		same = pred->subject == FILTER_CPU;
		break;
	case FILTER_OPERAND_INT:
		same = pred->subject == FILTER_NUMBER || pred->subject == FILTER_CPU;
		break;
	case FILTER_OPERAND_FUNCTION:
	default:
		same = true;
		break;
	}
	return same ? TACHO_FILTER_SAME : TACHO_FILTER_LOCAL;
}

static enum tacho_filter_offload tree_offload(const struct filter_tree *t)
{
	enum tacho_filter_offload offload = TACHO_FILTER_SAME;

	for (uint32_t i = 0; i < t->nr_preds && offload != TACHO_FILTER_LOCAL; i++) {
		enum tacho_filter_offload one = pred_offload(&t->preds[i]);

		if (one != TACHO_FILTER_SAME)
			offload = one;
	}
	return t->nr_preds ? offload : TACHO_FILTER_LOCAL;
}

enum tacho_filter_offload tacho_filter_offload(const struct tacho_type *type,
					       const char *text,
					       const struct tacho_names *names)
{
	enum tacho_filter_offload offload = TACHO_FILTER_LOCAL;
	struct tacho_cmd_error e = { 0 };
	struct tacho_arena a;
	struct filter_parser p = { .arena = &a, .type = type, .names = names,
				   .e = &e, .text = text };
	struct filter_tree tree;

	tacho_arena_init(&a, OFFLOAD_ARENA);
	if (!filter_parse(&p, &tree))
		offload = tree_offload(&tree);
	tacho_arena_release(&a);
	return offload;
}
