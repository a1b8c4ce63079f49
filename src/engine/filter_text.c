// SPDX-License-Identifier: MIT
/* Tree to text. */
#include "engine/filter_ast.h"

#include <string.h>

/* The tree of one text; the text's length bounds its size. */
#define NORMAL_ARENA	((size_t)64 << 20)

struct writer {
	const struct filter_tree *t;
	struct tacho_buf *out;
	/* open nodes, from the root on; the next step of each is in step[] */
	uint32_t *path;
	uint8_t *step;
	uint32_t depth;
	bool function;	/* the last thing written is a function's name */
};

static void put_int(struct tacho_buf *out, const struct filter_pred *pred)
{
	if (!pred->named)
		tacho_buf_put(out, pred->text, pred->text_len);
	else if (pred->is_signed)
		tacho_buf_put_s64(out, (int64_t)pred->value);
	else
		tacho_buf_put_u64(out, pred->value);
}

static void put_pred(struct tacho_buf *out, const struct filter_pred *pred)
{
	static const char *const cmp[FILTER_CMPS] = {
		[FILTER_CMP_GLOB] = " ~ ", [FILTER_CMP_NE] = " != ",
		[FILTER_CMP_EQ] = " == ", [FILTER_CMP_LE] = " <= ",
		[FILTER_CMP_LT] = " < ", [FILTER_CMP_GE] = " >= ",
		[FILTER_CMP_GT] = " > ", [FILTER_CMP_AND] = " & ",
	};

	tacho_buf_put(out, pred->name, pred->name_len);
	if (pred->ustring)
		tacho_buf_puts(out, ".ustring");
	if (pred->operand == FILTER_OPERAND_FUNCTION)
		tacho_buf_puts(out, ".function");
	tacho_buf_puts(out, cmp[pred->cmp]);
	switch (pred->operand) {
	case FILTER_OPERAND_TEXT:
		tacho_buf_putc(out, pred->quote);
		tacho_buf_put(out, pred->text, pred->text_len);
		tacho_buf_putc(out, pred->quote);
		break;
	case FILTER_OPERAND_CPUS:
		tacho_buf_puts(out, "CPUS{");
		tacho_buf_put(out, pred->text, pred->text_len);
		tacho_buf_putc(out, '}');
		break;
	case FILTER_OPERAND_FUNCTION:
		tacho_buf_put(out, pred->text, pred->text_len);
		break;
	case FILTER_OPERAND_INT:
	default:
		put_int(out, pred);
		break;
	}
}

/* Whether a node needs parentheses inside its parent on the path. */
static bool in_parens(const struct writer *w, const struct filter_node *n)
{
	const struct filter_node *outer;

	if (n->kind == FILTER_NODE_PRED)
		return false;
	if (n->inverted)
		return true;
	if (!w->depth)
		return false;
	outer = &w->t->nodes[w->path[w->depth - 1]];
	return n->kind == FILTER_NODE_OR && outer->kind == FILTER_NODE_AND;
}

/* Begins a node; writes it completely if it is a predicate. */
static void open_node(struct writer *w, uint32_t i)
{
	const struct filter_node *n = &w->t->nodes[i];

	if (n->inverted)
		tacho_buf_putc(w->out, '!');
	if (n->kind == FILTER_NODE_PRED) {
		put_pred(w->out, &w->t->preds[n->left]);
		w->function = w->t->preds[n->left].operand ==
			      FILTER_OPERAND_FUNCTION;
		return;
	}
	if (in_parens(w, n))
		tacho_buf_putc(w->out, '(');
	w->path[w->depth] = i;
	w->step[w->depth++] = 0;
}

/* The name of a function ends only at a blank, so a ')' needs one before it. */
static void close_paren(struct writer *w)
{
	if (w->function)
		tacho_buf_putc(w->out, ' ');
	w->function = false;
	tacho_buf_putc(w->out, ')');
}

static void put_tree(struct writer *w)
{
	open_node(w, w->t->nr_nodes - 1);
	while (w->depth) {
		const struct filter_node *n =
			&w->t->nodes[w->path[w->depth - 1]];

		switch (w->step[w->depth - 1]++) {
		case 0:
			open_node(w, n->left);
			break;
		case 1:
			tacho_buf_puts(w->out, n->kind == FILTER_NODE_AND ?
				       " && " : " || ");
			open_node(w, n->right);
			break;
		default:
			w->depth--;
			if (in_parens(w, n))
				close_paren(w);
			break;
		}
	}
}

static int put_normal(const struct filter_parser *p, const struct filter_tree *t,
		      struct tacho_buf *out)
{
	struct writer w = { .t = t, .out = out };
	size_t depth = t->nr_nodes;

	w.path = tacho_arena_array(p->arena, depth, sizeof(*w.path));
	w.step = tacho_arena_array(p->arena, depth, sizeof(*w.step));
	if (!w.path || !w.step)
		return filter_no_memory(p);
	put_tree(&w);
	return tacho_buf_error(out) ? filter_no_memory(p) : 0;
}

int tacho_filter_normal(const struct tacho_type *type, const char *text,
			const struct tacho_names *names, struct tacho_buf *out,
			struct tacho_cmd_error *e)
{
	struct tacho_arena a;
	struct filter_parser p = { .arena = &a, .type = type, .names = names,
				   .e = e, .text = text };
	struct filter_tree tree;
	int err;

	tacho_arena_init(&a, NORMAL_ARENA);
	err = filter_parse(&p, &tree);
	if (!err && !tree.nr_nodes)
		tacho_buf_putc(out, '0');
	else if (!err)
		err = put_normal(&p, &tree, out);
	tacho_arena_release(&a);
	return err;
}
