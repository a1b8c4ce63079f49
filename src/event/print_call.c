// SPDX-License-Identifier: MIT
/* The helpers of TP_printk and the few kernel functions whose meaning is fixed. */
#include "event/print_ast.h"

#include <string.h>

struct call;

typedef const struct tacho_node *call_fn(struct tacho_parse *p,
					 const struct call *c);

struct call {
	const char *name;
	call_fn *fn;
	uint32_t arg;
};

/* The field named by the current token, which is not consumed. */
static const struct tacho_field *named_field(struct tacho_parse *p)
{
	const struct tacho_token *t = &p->lex.t;

	if (t->kind != TOKEN_NAME)
		return tacho_parse_error(p, "a field's name is missing");
	for (uint32_t i = 0; i < p->type->nr_fields; i++) {
		const struct tacho_field *f = &p->type->fields[i];

		if (strlen(f->name) == t->len && !memcmp(f->name, t->s, t->len))
			return f;
	}
	return tacho_parse_error(p, "no such field");
}

/* The variable-size field that __get_...(name) means. */
static const struct tacho_field *dynamic_field(struct tacho_parse *p)
{
	const struct tacho_field *f = named_field(p);

	if (!f)
		return NULL;
	if (f->kind != TACHO_FIELD_DATA_LOC && f->kind != TACHO_FIELD_REL_LOC)
		return tacho_parse_error(p, "not a variable field");
	tacho_lex_next(&p->lex);
	return f;
}

static const struct tacho_node *call_data(struct tacho_parse *p,
					  const struct call *c)
{
	const struct tacho_field *f = dynamic_field(p);

	(void)c;
	return f ? tacho_node_data(p, f) : NULL;
}

static const struct tacho_node *call_len(struct tacho_parse *p,
					 const struct call *c)
{
	const struct tacho_field *f = dynamic_field(p);
	struct tacho_node *n = f ? tacho_node_new(p, NODE_LEN) : NULL;

	(void)c;
	if (!n)
		return NULL;
	n->class = NODE_CLASS_INT;
	n->field = f;
	n->size = 4;
	n->is_signed = true;
	return n;
}

static struct tacho_node *text_node(struct tacho_parse *p,
				    enum tacho_node_kind kind)
{
	struct tacho_node *n = tacho_node_new(p, kind);

	if (n)
		n->class = NODE_CLASS_TEXT;
	return n;
}

static const struct tacho_node *call_bitmask(struct tacho_parse *p,
					     const struct call *c)
{
	const struct tacho_node *data = call_data(p, c);
	struct tacho_node *n = data ? text_node(p, NODE_BITMASK) : NULL;

	if (n)
		n->a = data;
	return n;
}

/*
 * Whether a field holds addresses: the kernel's own stacks do, on every machine; other arrays
 * must be of longs.
 */
static bool holds_addresses(const struct tacho_type *type,
			    const struct tacho_field *f)
{
	if (f->kind == TACHO_FIELD_SCALAR || f->kind == TACHO_FIELD_OPAQUE ||
	    f->flags & TACHO_FIELD_FLOAT)
		return false;
	return f->elem_size == 8 ||
	       (f->elem_size == 4 && !strcmp(type->system, "ftrace"));
}

/* __get_stacktrace(field) */
static const struct tacho_node *call_stack(struct tacho_parse *p,
					   const struct call *c)
{
	const struct tacho_field *f = named_field(p);
	struct tacho_node *n;

	(void)c;
	if (!f)
		return NULL;
	if (!holds_addresses(p->type, f))
		return tacho_parse_error(p, "no array of addresses");
	tacho_lex_next(&p->lex);
	n = text_node(p, NODE_STACK);
	if (n) {
		n->value = f->elem_size;
		n->a = tacho_node_data(p, f);
	}
	return n && n->a ? n : NULL;
}

/* Parses an argument that must be a number, or UNKNOWN. */
static const struct tacho_node *number_arg(struct tacho_parse *p)
{
	const struct tacho_node *n = tacho_parse_expr(p);

	if (n && n->class != NODE_CLASS_INT && n->class != NODE_CLASS_UNKNOWN)
		return tacho_parse_error(p, "a number must be before this");
	return n;
}

static const struct tacho_node *data_arg(struct tacho_parse *p)
{
	const struct tacho_node *n = tacho_parse_expr(p);

	if (n && n->kind != NODE_DATA)
		return tacho_parse_error(p, "bytes must be before this");
	return n;
}

/*
 * One "{ value, "name" }".  *end: it was the table's end, a NULL name or {}. An entry with an
 * unknown value is ignored, so the number is printed instead.
 */
static bool pair_parse(struct tacho_parse *p, struct tacho_pair ***tail,
		       uint32_t *n, bool *end)
{
	struct tacho_pair pair = { .next = NULL };
	const struct tacho_node *v, *name;
	struct tacho_pair *to;

	if (!tacho_parse_expect(p, '{'))
		return false;
	if (tacho_parse_take(p, '}')) {
		*end = true;
		return true;
	}
	v = tacho_parse_expr(p);
	if (!v || !tacho_parse_expect(p, ','))
		return false;
	name = tacho_parse_expr(p);
	if (!name || !tacho_parse_expect(p, '}'))
		return false;
	if (tacho_node_is_null(name)) {
		*end = true;
		return true;
	}
	if (name->kind != NODE_TEXT)
		return tacho_parse_error(p, "a name must be before this");
	if (v->class == NODE_CLASS_UNKNOWN)
		return true;
	if (v->kind != NODE_CONST)
		return tacho_parse_error(p, "a constant must be in the table");
	pair.value = v->value;
	pair.text = name->text;
	pair.len = name->text_len;
	to = tacho_arena_alloc(p->arena, sizeof(*to));
	if (!to)
		return tacho_parse_error(p, "too many names") != NULL;
	*to = pair;
	**tail = to;
	*tail = &to->next;
	++*n;
	return true;
}

static bool pairs_parse(struct tacho_parse *p, struct tacho_node *n)
{
	struct tacho_pair *first = NULL, **tail = &first;
	bool end = false;

	do {
		struct tacho_pair *ignored = NULL, **to = &ignored;
		uint32_t count = 0;

		if (!pair_parse(p, end ? &to : &tail,
				end ? &count : &n->nr_pairs, &end))
			return false;
	} while (tacho_parse_take(p, ','));
	n->pairs = first;
	return true;
}

static const struct tacho_node *unknown_or(const struct tacho_node *n,
					   const struct tacho_node *a)
{
	return a->class == NODE_CLASS_UNKNOWN ? a : n;
}

/* __print_flags(value, delimiter, { mask, name }, ...) */
static const struct tacho_node *call_flags(struct tacho_parse *p,
					   const struct call *c)
{
	struct tacho_node *n = text_node(p, NODE_FLAGS);
	const struct tacho_node *delim;

	(void)c;
	if (!n)
		return NULL;
	n->a = number_arg(p);
	if (!n->a || !tacho_parse_expect(p, ','))
		return NULL;
	delim = tacho_parse_expr(p);
	if (!delim)
		return NULL;
	if (delim->kind == NODE_TEXT) {
		n->text = delim->text;
		n->text_len = delim->text_len;
	} else if (!tacho_node_is_null(delim)) {
		return tacho_parse_error(p, "a delimiter must be before this");
	}
	if (tacho_parse_take(p, ',') && !pairs_parse(p, n))
		return NULL;
	return unknown_or(n, n->a);
}

/* __print_symbolic(value, { value, name }, ...) */
static const struct tacho_node *call_symbolic(struct tacho_parse *p,
					      const struct call *c)
{
	struct tacho_node *n = text_node(p, NODE_SYMBOL);

	(void)c;
	if (!n)
		return NULL;
	n->a = number_arg(p);
	if (!n->a || (tacho_parse_take(p, ',') && !pairs_parse(p, n)))
		return NULL;
	return unknown_or(n, n->a);
}

/* __print_hex(data, bytes); c->arg: the separator */
static const struct tacho_node *call_hex(struct tacho_parse *p,
					 const struct call *c)
{
	struct tacho_node *n = text_node(p, NODE_HEX);

	if (!n)
		return NULL;
	n->value = c->arg;
	n->a = data_arg(p);
	if (!n->a || !tacho_parse_expect(p, ','))
		return NULL;
	n->b = number_arg(p);
	return n->b ? unknown_or(n, n->b) : NULL;
}

/* __print_array(data, count, size) and __print_dynamic_array(field, size) */
static const struct tacho_node *call_array(struct tacho_parse *p,
					   const struct call *c)
{
	struct tacho_node *n = text_node(p, NODE_ARRAY);

	if (!n)
		return NULL;
	n->a = c->arg ? call_data(p, c) : data_arg(p);
	if (!n->a || !tacho_parse_expect(p, ','))
		return NULL;
	if (!c->arg) {
		n->b = number_arg(p);
		if (!n->b || !tacho_parse_expect(p, ','))
			return NULL;
	}
	n->c = number_arg(p);
	if (!n->c)
		return NULL;
	return n->b ? unknown_or(unknown_or(n, n->b), n->c) :
	       unknown_or(n, n->c);
}

/* __print_hex_dump(prefix, type, row, group, data, length, ascii) */
static const struct tacho_node *call_hexdump(struct tacho_parse *p,
					     const struct call *c)
{
	struct tacho_node *n = text_node(p, NODE_HEXDUMP);

	(void)c;
	if (!n || !tacho_parse_string(p, &n->text, &n->text_len))
		return NULL;
	for (int i = 0; i < 6; i++) {
		const struct tacho_node *arg;

		if (!tacho_parse_expect(p, ','))
			return NULL;
		if (i == 3) {
			n->a = data_arg(p);
			if (!n->a)
				return NULL;
			continue;
		}
		arg = number_arg(p);
		if (!arg || arg->class == NODE_CLASS_UNKNOWN)
			return arg;
		n->args[i < 3 ? i : i - 1] = arg;
	}
	return n;
}

static const struct tacho_node *wrap(struct tacho_parse *p,
				     enum tacho_node_kind kind,
				     const struct tacho_node *a, uint8_t size,
				     uint64_t value)
{
	struct tacho_node *n;

	if (!a || a->class == NODE_CLASS_UNKNOWN)
		return a;
	n = tacho_node_new(p, kind);
	if (!n)
		return NULL;
	n->class = NODE_CLASS_INT;
	n->a = a;
	n->size = size;
	n->value = value;
	n->depth = (uint16_t)(a->depth + 1);
	return n;
}

/* c->arg: parts of a second */
static const struct tacho_node *call_jiffies(struct tacho_parse *p,
					     const struct call *c)
{
	const struct tacho_node *a = number_arg(p);

	a = a ? tacho_node_to(p, a, 8, false) : NULL;
	return wrap(p, NODE_JIFFIES, a, 4, c->arg);
}

/* c->arg: bytes of the value to swap; 0: none */
static const struct tacho_node *call_swap(struct tacho_parse *p,
					  const struct call *c)
{
	const struct tacho_node *a = number_arg(p);
	uint8_t size = (uint8_t)(c->arg & 15);

	a = a ? tacho_node_to(p, a, size, false) : NULL;
	return c->arg & 16 ? a : wrap(p, NODE_SWAP, a, size, 0);
}

static const struct tacho_node *call_op(struct tacho_parse *p, unsigned int op,
					uint64_t by, uint8_t size)
{
	const struct tacho_node *a = number_arg(p);

	a = a ? tacho_node_to(p, a, 8, false) : NULL;
	a = tacho_node_binary(p, op, a, tacho_node_const(p, by, 8, false));
	return a ? tacho_node_to(p, a, size, false) : NULL;
}

static const struct tacho_node *call_secs(struct tacho_parse *p,
					  const struct call *c)
{
	return c->arg ? call_op(p, '/', 1000000000, 8) :
	       call_op(p, '%', 1000000000, 4);
}

/* The kernel's dev_t: 12 bits of major number above 20 of minor. */
static const struct tacho_node *call_dev(struct tacho_parse *p,
					 const struct call *c)
{
	return c->arg ? call_op(p, '>' << 8 | '>', 20, 4) :
	       call_op(p, '&', (1 << 20) - 1, 4);
}

static const struct tacho_node *call_expect(struct tacho_parse *p,
					    const struct call *c)
{
	const struct tacho_node *a = number_arg(p);

	(void)c;
	if (!a || !tacho_parse_expect(p, ',') || !number_arg(p))
		return NULL;
	return tacho_node_to(p, a, 8, true);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BIG 0
#define LITTLE 16
#else
#define BIG 16
#define LITTLE 0
#endif

static const struct call calls[] = {
	{ "__get_str", call_data, 0 },
	{ "__get_rel_str", call_data, 0 },
	{ "__get_dynamic_array", call_data, 0 },
	{ "__get_rel_dynamic_array", call_data, 0 },
	{ "__get_sockaddr", call_data, 0 },
	{ "__get_rel_sockaddr", call_data, 0 },
	{ "__get_dynamic_array_len", call_len, 0 },
	{ "__get_rel_dynamic_array_len", call_len, 0 },
	{ "__get_bitmask", call_bitmask, 0 },
	{ "__get_rel_bitmask", call_bitmask, 0 },
	{ "__get_cpumask", call_bitmask, 0 },
	{ "__get_rel_cpumask", call_bitmask, 0 },
	{ "__get_stacktrace", call_stack, 0 },
	{ "__get_rel_stacktrace", call_stack, 0 },
	{ "__print_flags", call_flags, 0 },
	{ "__print_flags_u64", call_flags, 0 },
	{ "__print_symbolic", call_symbolic, 0 },
	{ "__print_symbolic_u64", call_symbolic, 0 },
	{ "__print_hex", call_hex, ' ' },
	{ "__print_hex_str", call_hex, 0 },
	{ "__print_array", call_array, 0 },
	{ "__print_dynamic_array", call_array, 1 },
	{ "__print_hex_dump", call_hexdump, 0 },
	{ "__print_ns_to_secs", call_secs, 1 },
	{ "__print_ns_without_secs", call_secs, 0 },
	{ "__builtin_expect", call_expect, 0 },
	{ "jiffies_to_msecs", call_jiffies, 1000 },
	{ "jiffies_to_usecs", call_jiffies, 1000000 },
	{ "MAJOR", call_dev, 1 },
	{ "MINOR", call_dev, 0 },
	{ "ntohs", call_swap, 2 | BIG }, { "htons", call_swap, 2 | BIG },
	{ "ntohl", call_swap, 4 | BIG }, { "htonl", call_swap, 4 | BIG },
	{ "be16_to_cpu", call_swap, 2 | BIG },
	{ "be32_to_cpu", call_swap, 4 | BIG },
	{ "be64_to_cpu", call_swap, 8 | BIG },
	{ "cpu_to_be16", call_swap, 2 | BIG },
	{ "cpu_to_be32", call_swap, 4 | BIG },
	{ "cpu_to_be64", call_swap, 8 | BIG },
	{ "le16_to_cpu", call_swap, 2 | LITTLE },
	{ "le32_to_cpu", call_swap, 4 | LITTLE },
	{ "le64_to_cpu", call_swap, 8 | LITTLE },
	{ "cpu_to_le16", call_swap, 2 | LITTLE },
	{ "cpu_to_le32", call_swap, 4 | LITTLE },
	{ "cpu_to_le64", call_swap, 8 | LITTLE },
};

const struct tacho_node *tacho_parse_call(struct tacho_parse *p,
					  const struct tacho_token *name)
{
	const struct tacho_node *n;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(calls); i++) {
		const struct call *c = &calls[i];

		if (strlen(c->name) != name->len ||
		    memcmp(c->name, name->s, name->len))
			continue;
		n = c->fn(p, c);
		return n && tacho_parse_expect(p, ')') ? n : NULL;
	}
	p->lex.t = *name;
	return tacho_parse_error(p, "an unknown function");
}
