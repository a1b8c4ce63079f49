// SPDX-License-Identifier: MIT
#include "engine/filter_ast.h"

#include <errno.h>
#include <string.h>

#define NONE UINT32_MAX

static const char too_many[] = "Too many terms in predicate expression";

/* An open level: a '(', or the whole text. */
struct frame {
	uint32_t or_left;	/* node before "||", or NONE */
	uint32_t and_left;	/* node before "&&", or NONE */
	bool inverted;		/* a ! before the '(' */
};

struct builder {
	struct filter_parser *p;
	struct filter_pred *preds;
	struct filter_node *nodes;
	struct frame *frames;
	uint32_t nr_preds, max_preds;
	uint32_t nr_nodes;
	uint32_t depth;
	uint32_t operand;	/* the node that was completed last */
};

int filter_error(const struct filter_parser *p, uint32_t column,
		 const char *text)
{
	return tacho_cmd_error(p->e, -EINVAL, p->base + column, "%s", text);
}

int filter_no_memory(const struct filter_parser *p)
{
	return tacho_cmd_error(p->e, -ENOMEM, p->base, "Out of memory");
}

/* The result of the first pass over a text. */
struct survey {
	uint32_t preds;		/* upper bound of their number */
	uint32_t depth;		/* of its parentheses */
	uint32_t open;		/* parentheses that are open at its end */
};

/* The '(' whose ')' is missing: the last one outside of quotes. */
static uint32_t bad_open(const struct filter_parser *p, uint32_t open)
{
	uint32_t level = open;
	char quote = 0;

	for (uint32_t i = p->len - 1; i; i--) {
		char c = p->text[i];

		if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '(') {
			if (level == open)
				return i;
			level--;
		} else if (c == ')') {
			level++;
		} else if (c == '\'' || c == '"') {
			quote = c;
		}
	}
	return 0;
}

/* Whether there is a ! that is not the first character of an operator. */
static bool is_not(const struct filter_parser *p, uint32_t i)
{
	char next = filter_at(p, i + 1);

	return filter_at(p, i) == '!' && next != '=' && next != '~';
}

/* Processes one character outside of quotes; returns whether it is part of a predicate. */
static bool survey_char(const struct filter_parser *p, uint32_t i,
			struct survey *s)
{
	char c = p->text[i];

	switch (c) {
	case '&':
	case '|':
		return filter_at(p, i + 1) != c && !(i && p->text[i - 1] == c);
	case '!':
		return !is_not(p, i);
	case '(':
		if (++s->open > s->depth)
			s->depth = s->open;
		return false;
	case ')':
		s->open--;
		return false;
	default:
		return true;
	}
}

/*
 * Counts predicates and depth, and finds unbalanced quotes and parentheses before all other
 * errors, as the kernel does.
 */
static int survey(const struct filter_parser *p, struct survey *s)
{
	uint32_t last_quote = 0;
	bool in_pred = false;
	char quote = 0;

	for (uint32_t i = 0; i < p->len; i++) {
		char c = p->text[i];

		if (quote) {
			if (c == quote)
				quote = 0;
			continue;
		}
		if (filter_is_space(c))
			continue;
		if (c == '\'' || c == '"') {
			quote = c;
			last_quote = i;
		} else if (c == ')' && !s->open) {
			return filter_error(p, i, "Too few '('");
		} else if (!survey_char(p, i, s)) {
			in_pred = false;
			continue;
		}
		if (!in_pred && ++s->preds > TACHO_FILTER_PREDS_MAX)
			return filter_error(p, i, too_many);
		in_pred = true;
	}
	if (quote)
		return filter_error(p, last_quote, "Missing matching quote");
	if (s->open)
		return filter_error(p, bad_open(p, s->open), "Too many '('");
	return 0;
}

static uint32_t node_add(struct builder *b, enum filter_node_kind kind,
			 uint32_t left, uint32_t right)
{
	struct filter_node *n = &b->nodes[b->nr_nodes];

	n->kind = kind;
	n->left = left;
	n->right = right;
	n->first = kind == FILTER_NODE_PRED ? left : b->nodes[left].first;
	return b->nr_nodes++;
}

/* Combines the operand with the node before a pending "&&". */
static void close_and(struct builder *b)
{
	struct frame *f = &b->frames[b->depth];

	if (f->and_left != NONE)
		b->operand = node_add(b, FILTER_NODE_AND, f->and_left,
				      b->operand);
	f->and_left = NONE;
}

static void close_or(struct builder *b)
{
	struct frame *f = &b->frames[b->depth];

	if (f->or_left != NONE)
		b->operand = node_add(b, FILTER_NODE_OR, f->or_left,
				      b->operand);
	f->or_left = NONE;
}

static void frame_open(struct builder *b, bool inverted)
{
	b->frames[b->depth] = (struct frame){ NONE, NONE, inverted };
}

static int operand_add(struct builder *b, bool inverted)
{
	struct filter_parser *p = b->p;
	uint32_t from = p->pos;
	int err = filter_pred_parse(p, &b->preds[b->nr_preds]);

	if (err)
		return err;
	/* the survey counted fewer: a function's name has quotes */
	if (b->nr_preds == b->max_preds)
		return filter_error(p, from, too_many);
	b->operand = node_add(b, FILTER_NODE_PRED, b->nr_preds++, NONE);
	b->nodes[b->operand].inverted = inverted;
	return 0;
}

static void skip_space(struct filter_parser *p)
{
	while (filter_is_space(filter_at(p, p->pos)))
		p->pos++;
}

/* Reports a text that ends without an operand: "a == 1 &&", "!". */
static int no_operand(const struct builder *b)
{
	const struct filter_parser *p = b->p;

	if (b->depth)
		return filter_error(p, p->len, "Too many '('");
	if (!b->nr_preds)
		return filter_error(p, p->len, "No filter found");
	return filter_error(p, p->len, "Meaningless filter expression");
}

/* Parses "!", "(" and one predicate. */
static int parse_operand(struct builder *b, uint32_t max_depth)
{
	struct filter_parser *p = b->p;
	bool inverted = false;

	for (;; p->pos++) {
		char c = filter_at(p, p->pos);

		if (filter_is_space(c))
			continue;
		if (is_not(p, p->pos)) {
			inverted = !inverted;
		} else if (c == '(') {
			if (b->depth == max_depth)
				return filter_error(p, p->pos, "Too many '('");
			b->depth++;
			frame_open(b, inverted);
			inverted = false;
		} else if (p->pos >= p->len) {
			return no_operand(b);
		} else {
			return operand_add(b, inverted);
		}
	}
}

/*
 * Parses what follows an operand, up to and with "&&", "||" or the end.  *more:
 * another operand must follow.
 */
static int parse_operator(struct builder *b, bool *more)
{
	struct filter_parser *p = b->p;

	for (;;) {
		struct frame *f = &b->frames[b->depth];
		char c;

		skip_space(p);
		c = filter_at(p, p->pos);
		*more = c == '&' || c == '|';
		if (*more ? filter_at(p, p->pos + 1) != c : c && c != ')')
			return filter_error(p, p->pos, too_many);
		close_and(b);
		if (c == '&') {
			f->and_left = b->operand;
			p->pos += 2;
			return 0;
		}
		close_or(b);
		if (c == '|') {
			f->or_left = b->operand;
			p->pos += 2;
			return 0;
		}
		if (c && !b->depth)
			return filter_error(p, p->pos + 1, "Too few '('");
		if (!c)
			return b->depth ? filter_error(p, p->pos + 1, "Too many '('") : 0;
		if (f->inverted)
			b->nodes[b->operand].inverted ^= true;
		b->depth--;
		p->pos++;
	}
}

static int build(struct builder *b, uint32_t max_depth)
{
	bool more = true;
	int err = 0;

	frame_open(b, false);
	while (!err && more) {
		err = parse_operand(b, max_depth);
		if (!err)
			err = parse_operator(b, &more);
	}
	return err;
}

/* "0" removes a filter. */
static bool is_zero(const struct filter_parser *p)
{
	uint32_t i = 0;

	while (filter_is_space(filter_at(p, i)))
		i++;
	return i + 1 == p->len && p->text[i] == '0';
}

int filter_parse(struct filter_parser *p, struct filter_tree *tree)
{
	struct survey s = { .preds = 0 };
	struct builder b = { .p = p };
	size_t len = strlen(p->text);
	int err;

	*tree = (struct filter_tree){ .nr_nodes = 0 };
	while (len && filter_is_space(p->text[len - 1]))
		len--;
	if (len > INT32_MAX)
		return filter_error(p, 0, too_many);
	p->len = (uint32_t)len;
	p->pos = 0;
	if (is_zero(p))
		return 0;
	err = survey(p, &s);
	if (err)
		return err;
	if (!s.preds)
		return filter_error(p, p->len, "No filter found");
	b.max_preds = s.preds;
	b.preds = tacho_arena_array(p->arena, (size_t)s.preds + 1,
				    sizeof(*b.preds));
	b.nodes = tacho_arena_array(p->arena, 2 * (size_t)s.preds,
				    sizeof(*b.nodes));
	b.frames = tacho_arena_array(p->arena, (size_t)s.depth + 1,
				     sizeof(*b.frames));
	if (!b.preds || !b.nodes || !b.frames)
		return filter_no_memory(p);
	err = build(&b, s.depth);
	tree->preds = b.preds;
	tree->nodes = b.nodes;
	tree->nr_preds = b.nr_preds;
	tree->nr_nodes = b.nr_nodes;
	return err;
}
