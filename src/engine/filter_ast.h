/* SPDX-License-Identifier: MIT */
/*
 * filter_ast.h - filters as trees: the parser's output, the compiler's input.
 *
 * Predicates are numbered in the order of the text.  A node is a predicate, or && or || of two
 * earlier nodes; the last node is the root.  So a walk from the last node to the first visits
 * every node before its children, and nothing recurses, however deep the parentheses are.
 */
#ifndef TACHO_ENGINE_FILTER_AST_H
#define TACHO_ENGINE_FILTER_AST_H

#include "engine/filter.h"

#define FILTER_CPUS_MAX		8192	/* CPUs are 0 .. this - 1 */
#define FILTER_TEXT_MAX		255	/* bytes of an operand, as the kernel's */

/* The left side of a predicate. */
enum filter_subject {
	FILTER_NUMBER,	/* 1, 2, 4 or 8 bytes of the fixed part */
	FILTER_MASK,	/* a cpumask or bitmask of variable size */
	FILTER_FIX,	/* char[N] */
	FILTER_LOC,	/* __data_loc char[] */
	FILTER_REL,	/* __rel_loc char[] */
	FILTER_FLEX,	/* char[], the rest of the event */
	FILTER_POINTER,	/* char * */
	FILTER_COMM,	/* the current thread's name */
	FILTER_CPU,	/* the CPU that the event happened on */
	FILTER_OTHER,	/* no operator applies to it: an array of numbers, for example */
	FILTER_ANY,	/* not known, because there is no type: as the operand requires */
};

/* In the order in which the text is compared with them. */
enum filter_cmp {
	FILTER_CMP_GLOB,
	FILTER_CMP_NE,
	FILTER_CMP_EQ,
	FILTER_CMP_LE,
	FILTER_CMP_LT,
	FILTER_CMP_GE,
	FILTER_CMP_GT,
	FILTER_CMP_AND,
	FILTER_CMPS,
};

/* The right side of a predicate. */
enum filter_operand {
	FILTER_OPERAND_INT,
	FILTER_OPERAND_TEXT,
	FILTER_OPERAND_CPUS,
	FILTER_OPERAND_FUNCTION,
};

struct filter_pred {
	const char *name;			/* of the field, in the text */
	uint32_t name_len;
	bool ustring;
	enum filter_subject subject;
	enum filter_cmp cmp;
	enum filter_operand operand;
	const struct tacho_field *field;	/* NULL: comm or cpu */
	const char *text;			/* the operand without quotes, in the text */
	uint32_t text_len;
	char quote;
	bool named;				/* a number that is written as a name */
	bool is_signed;				/* how that name's number is printed */
	uint64_t value;				/* of INT; first address of FUNCTION */
	uint64_t end;				/* of FUNCTION: first address after it */
	uint32_t function;			/* of FUNCTION: not 0: in_function() knows */
	const uint64_t *cpus;			/* of CPUS */
	uint32_t nr_words;			/* up to the last that is not 0 */
};

enum filter_node_kind {
	FILTER_NODE_PRED,
	FILTER_NODE_AND,
	FILTER_NODE_OR,
};

struct filter_node {
	enum filter_node_kind kind;
	bool inverted;		/* a ! before it */
	uint32_t left, right;	/* nodes; of PRED left is the predicate */
	uint32_t first;		/* its first predicate */
	uint32_t yes, no;	/* targets for each result; set by the compiler */
};

struct filter_tree {
	const struct filter_pred *preds;
	struct filter_node *nodes;
	uint32_t nr_preds;
	uint32_t nr_nodes;	/* 0: the text is "0", no filter */
};

struct filter_parser {
	struct tacho_arena *arena;
	const struct tacho_type *type;	/* NULL: any field name is valid, with any type */
	const struct tacho_names *names;
	struct tacho_cmd_error *e;
	const char *text;
	uint32_t len;		/* without white space at its end */
	uint32_t base;		/* added to columns */
	uint32_t pos;
};

/* The character at i, or NUL after the end. */
static inline char filter_at(const struct filter_parser *p, uint32_t i)
{
	return i < p->len ? p->text[i] : '\0';
}

static inline bool filter_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Records the kernel's message and its column; returns -EINVAL. */
int filter_error(const struct filter_parser *p, uint32_t column,
		 const char *text);
int filter_no_memory(const struct filter_parser *p);

/* Parses a whole text.  Returns 0, or p->e->err. */
int filter_parse(struct filter_parser *p, struct filter_tree *tree);

/* Parses the predicate at p->pos and moves p->pos after it. */
int filter_pred_parse(struct filter_parser *p, struct filter_pred *pred);

/* Parses the operand of pred, whose other members are set.  function: ".function". */
int filter_operand_parse(struct filter_parser *p, struct filter_pred *pred,
			 bool function);

/*
 * The bits of a list of CPUs, "0-3,8,16-31:2/4", to cpus (FILTER_CPUS_MAX bits, initially 0).
 * False if the text is not such a list.
 */
bool filter_cpus_parse(const char *s, size_t len, uint64_t *cpus);

#endif
