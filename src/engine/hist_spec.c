// SPDX-License-Identifier: MIT
/* Histogram triggers: clauses, keys, values, variables, sort keys. */
#include "engine/hist_spec_priv.h"

#include <errno.h>

#define COMMAND_MAX	4096	/* bytes; the kernel takes less than a page */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool tacho_hist_cut(struct hist_slice *rest, char at, struct hist_slice *slice)
{
	const char *end;

	if (!rest->p)
		return false;
	end = rest->len ? memchr(rest->p, at, rest->len) : NULL;
	*slice = *rest;
	if (!end) {
		rest->p = NULL;
		rest->len = 0;
		return true;
	}
	slice->len = (size_t)(end - slice->p);
	rest->p = end + 1;
	rest->len -= slice->len + 1;
	return true;
}

struct hist_slice tacho_hist_strip(struct hist_slice slice)
{
	while (slice.len && is_space(slice.p[0])) {
		slice.p++;
		slice.len--;
	}
	while (slice.len && is_space(slice.p[slice.len - 1]))
		slice.len--;
	return slice;
}

bool tacho_hist_slice_is(struct hist_slice slice, const char *text)
{
	return slice.len == strlen(text) && !memcmp(slice.p, text, slice.len);
}

bool tacho_hist_slice_begins(struct hist_slice slice, const char *text)
{
	size_t len = strlen(text);

	return slice.len >= len && !memcmp(slice.p, text, len);
}

static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 99;
}

int tacho_hist_number(struct hist_slice s, uint64_t *value)
{
	unsigned int base = 10, digit;
	const char *first;
	uint64_t v = 0;
	bool over = false;

	if (s.len && s.p[0] == '+') {
		s.p++;
		s.len--;
	}
	if (s.len && s.p[0] == '0') {
		base = 8;
		if (s.len > 2 && (s.p[1] | 0x20) == 'x' &&
		    digit_of(s.p[2]) < 16) {
			base = 16;
			s.p += 2;
			s.len -= 2;
		}
	}
	first = s.p;
	for (; s.len && (digit = digit_of(s.p[0])) < base; s.p++, s.len--) {
		if (v > (UINT64_MAX - digit) / base)
			over = true;
		v = v * base + digit;
	}
	if (over)
		return -ERANGE;
	if (s.len && s.p[0] == '\n')
		s.len--;
	if (s.p == first || s.len)
		return -EINVAL;
	*value = v;
	return 0;
}

uint32_t tacho_hist_column(const struct hist_parser *ps, struct hist_slice slice)
{
	return ps->spec->base + HIST_PREFIX_LEN + (uint32_t)(slice.p - ps->work);
}

const char *tacho_hist_keep(struct hist_parser *ps, struct hist_slice slice)
{
	char *s = tacho_arena_strndup(ps->a, slice.p, slice.len);

	if (!s)
		tacho_hist_nomem(ps);
	return s;
}

const char *tacho_hist_written(struct hist_parser *ps, struct hist_slice slice)
{
	slice.p = ps->spec->text + HIST_PREFIX_LEN + (slice.p - ps->work);
	return tacho_hist_keep(ps, slice);
}

int tacho_hist_nomem(struct hist_parser *ps)
{
	return tacho_cmd_error(ps->e, -ENOMEM, ps->spec->base, "No memory");
}

static uint32_t first_place(const struct tacho_hist_spec *spec,
			    const char *s, size_t len)
{
	const char *found = memmem(spec->text, strlen(spec->text), s, len);

	return spec->base + (found ? (uint32_t)(found - spec->text) : 0);
}

uint32_t tacho_hist_spec_place(const struct tacho_hist_spec *spec,
			       const char *text)
{
	return first_place(spec, text, strlen(text));
}

int tacho_hist_fail(struct hist_parser *ps, int err, struct hist_slice slice,
		    const char *text)
{
	return tacho_cmd_error(ps->e, err,
			       first_place(ps->spec, slice.p, slice.len),
			       "%s", text);
}

int tacho_hist_refuse(struct hist_parser *ps, struct hist_slice slice,
		      const char *text)
{
	return tacho_cmd_error(ps->e, -EINVAL, tacho_hist_column(ps, slice),
			       "%s", text);
}

/* ---- step 1: clauses ---- */

static int parse_size(struct hist_parser *ps, struct hist_slice value)
{
	uint64_t want, size = TACHO_HIST_SIZE_MIN;
	int err = tacho_hist_number(value, &want);

	/* 65 is rounded up to the minimum, 64 is an error, as in the kernel */
	if (!err && (want <= TACHO_HIST_SIZE_MIN / 2 ||
		     want > TACHO_HIST_SIZE_MAX))
		err = -EINVAL;
	if (err)
		return tacho_cmd_error(ps->e, err, tacho_hist_column(ps, value),
				       "Size must be a number from %d to %d",
				       TACHO_HIST_SIZE_MIN / 2 + 1,
				       TACHO_HIST_SIZE_MAX);
	while (size < want)
		size *= 2;
	ps->spec->size = (uint32_t)size;
	return 0;
}

static int keep_word(struct hist_parser *ps, struct hist_slice value,
		     const char **word)
{
	*word = tacho_hist_keep(ps, tacho_hist_strip(value));
	return *word ? 0 : -ENOMEM;
}

enum clause { CLAUSE_KEYS, CLAUSE_VALS, CLAUSE_SORT, CLAUSE_NAME, CLAUSE_CLOCK,
	      CLAUSE_SIZE };

static const struct {
	const char *text;
	enum clause clause;
} clauses[] = {
	{ "key=", CLAUSE_KEYS }, { "keys=", CLAUSE_KEYS },
	{ "val=", CLAUSE_VALS }, { "vals=", CLAUSE_VALS },
	{ "values=", CLAUSE_VALS }, { "sort=", CLAUSE_SORT },
	{ "name=", CLAUSE_NAME }, { "clock=", CLAUSE_CLOCK },
	{ "size=", CLAUSE_SIZE },
};

static int known_clause(struct hist_parser *ps, enum clause clause,
			struct hist_slice value)
{
	switch (clause) {
	case CLAUSE_KEYS:
		ps->keys = value;
		break;
	case CLAUSE_VALS:
		ps->vals = value;
		break;
	case CLAUSE_SORT:
		ps->sort = value;
		break;
	case CLAUSE_NAME:
		ps->spec->name = tacho_hist_keep(ps, value);
		return ps->spec->name ? 0 : -ENOMEM;
	case CLAUSE_CLOCK:
		return keep_word(ps, value, &ps->spec->clock);
	case CLAUSE_SIZE:
		return parse_size(ps, value);
	}
	return 0;
}

static int parse_assignment(struct hist_parser *ps, struct hist_slice text)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(clauses); i++) {
		struct hist_slice value = text;

		if (!tacho_hist_slice_begins(text, clauses[i].text))
			continue;
		value.p += strlen(clauses[i].text);
		value.len -= strlen(clauses[i].text);
		return known_clause(ps, clauses[i].clause, value);
	}
	if (ps->nr_assignments == TACHO_HIST_VARS_MAX)
		return tacho_hist_fail(ps, -EINVAL, text,
				       "Too many variables defined");
	ps->assignment[ps->nr_assignments++] = text;
	return 0;
}

static int parse_action(struct hist_parser *ps, struct hist_slice text)
{
	if (!tacho_hist_slice_begins(text, "onmatch(") &&
	    !tacho_hist_slice_begins(text, "onmax(") &&
	    !tacho_hist_slice_begins(text, "onchange("))
		return tacho_hist_refuse(ps, text, text.len ? "Unknown clause" :
					 "Empty clause");
	if (ps->nr_actions == TACHO_HIST_ACTIONS_MAX)
		return tacho_hist_refuse(ps, text, "Too many actions (8 max)");
	ps->action_text[ps->nr_actions++] = text;
	return 0;
}

static int parse_clause(struct hist_parser *ps, struct hist_slice text)
{
	struct tacho_hist_spec *spec = ps->spec;
	const char *equal = text.len ? memchr(text.p, '=', text.len) : NULL;

	if (equal) {
		if (equal == text.p + text.len - 1)
			return tacho_hist_fail(ps, -EINVAL, text,
					       "Empty assignment");
		return parse_assignment(ps, text);
	}
	if (tacho_hist_slice_is(text, "pause"))
		spec->pause = true;
	else if (tacho_hist_slice_is(text, "cont") ||
		 tacho_hist_slice_is(text, "continue"))
		spec->cont = true;
	else if (tacho_hist_slice_is(text, "clear"))
		spec->clear = true;
	else if (tacho_hist_slice_is(text, "nohitcount") ||
		 tacho_hist_slice_is(text, "NOHC"))
		spec->nohitcount = true;
	else
		return parse_action(ps, text);
	return 0;
}

static int parse_clauses(struct hist_parser *ps, struct hist_slice rest)
{
	struct hist_slice text, all = rest;

	while (tacho_hist_cut(&rest, ':', &text)) {
		int err = parse_clause(ps, text);

		if (err)
			return err;
	}
	if (!ps->keys.p)
		return tacho_hist_refuse(ps, all, "No keys");
	return 0;
}

/* ---- step 3: assignments, values, variables, keys ---- */

static int split_assignment(struct hist_parser *ps, struct hist_slice text)
{
	struct hist_slice item, name;

	/* all after the 16th of one clause is ignored */
	for (int i = 0; i < TACHO_HIST_VARS_MAX &&
	     tacho_hist_cut(&text, ',', &item); i++) {
		if (!tacho_hist_cut(&item, '=', &name) || !item.p)
			return tacho_hist_fail(ps, -EINVAL, name,
					       "Malformed assignment");
		if (ps->nr_vars == TACHO_HIST_VARS_MAX)
			return tacho_hist_fail(ps, -EINVAL, name,
					       "Too many variables defined");
		ps->var_name[ps->nr_vars] = name;
		ps->var_expr[ps->nr_vars++] = item;
	}
	return 0;
}

static int split_assignments(struct hist_parser *ps)
{
	for (uint32_t i = 0; i < ps->nr_assignments; i++) {
		int err = split_assignment(ps, ps->assignment[i]);

		if (err)
			return err;
	}
	return 0;
}

/* Rejects modifiers that are meaningless for a sum or a variable. */
static int check_modifier(struct hist_parser *ps,
			  const struct tacho_hist_expr *expr,
			  struct hist_slice text, enum hist_use use)
{
	uint32_t bad = TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS;
	struct hist_slice system, event, rest;
	bool stack;

	if (expr->op != TACHO_EXPR_FIELD)
		return 0;
	stack = use == HIST_USE_VAL && !strcmp(expr->name, "common_stacktrace");
	if (use == HIST_USE_VAL)
		bad |= TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET |
		       TACHO_MOD_SYSCALL | TACHO_MOD_STACKTRACE;
	else
		bad |= TACHO_MOD_PERCENT | TACHO_MOD_GRAPH;
	if (!(expr->mods & bad) && !stack)
		return 0;
	/* the kernel has already cut its text */
	if (tacho_hist_qualified(text, &system, &event, &rest))
		text = system;
	return tacho_hist_fail(ps, -EINVAL, text, "Invalid field modifier");
}

static int parse_val(struct hist_parser *ps, struct hist_slice text)
{
	struct tacho_hist_spec *spec = ps->spec;
	const struct tacho_hist_expr *expr;
	int err;

	expr = tacho_hist_parse_expr(ps, text, HIST_USE_VAL);
	if (!expr)
		return -EINVAL;
	err = check_modifier(ps, expr, text, HIST_USE_VAL);
	if (!err)
		spec->val[spec->nr_vals++] = expr;
	return err;
}

/* The first plain hitcount is the implicit one. */
static int parse_vals(struct hist_parser *ps)
{
	struct tacho_hist_spec *spec = ps->spec;
	struct hist_slice rest = ps->vals, text;
	bool hitcount = false;

	for (int i = 0; i <= TACHO_HIST_VALS_MAX &&
	     spec->nr_vals < TACHO_HIST_VALS_MAX &&
	     tacho_hist_cut(&rest, ',', &text); i++) {
		int err;

		if (!hitcount && tacho_hist_slice_is(text, "hitcount")) {
			hitcount = true;
			continue;
		}
		err = parse_val(ps, text);
		if (err)
			return err;
	}
	if (rest.p && !tacho_hist_slice_is(rest, "hitcount"))
		return tacho_hist_refuse(ps, rest, "Too many values (2 max)");
	if (spec->nohitcount && !spec->nr_vals)
		return tacho_cmd_error(ps->e, -ENOENT, spec->base,
				       "Non-hitcount value is required for 'nohitcount'");
	return 0;
}

static int parse_var(struct hist_parser *ps, uint32_t i)
{
	struct tacho_hist_spec *spec = ps->spec;
	struct tacho_hist_var *var = &spec->var[spec->nr_vars];
	struct hist_slice system, event, rest;
	int err;

	for (uint32_t j = 0; j < spec->nr_vars; j++)
		if (tacho_hist_slice_is(ps->var_name[i], spec->var[j].name))
			return tacho_hist_fail(ps, -EINVAL, ps->var_name[i],
					       "Variable already defined");
	var->name = tacho_hist_keep(ps, ps->var_name[i]);
	var->column = tacho_hist_column(ps, ps->var_name[i]);
	var->expr = tacho_hist_parse_expr(ps, ps->var_expr[i], HIST_USE_VAR);
	if (!var->name || !var->expr)
		return -EINVAL;
	err = check_modifier(ps, var->expr, ps->var_expr[i], HIST_USE_VAR);
	if (err)
		return err;
	/* later references see the rest of the kernel's cut */
	if (var->expr->op == TACHO_EXPR_FIELD && ps->var_expr[i].p[0] != '$' &&
	    tacho_hist_qualified(ps->var_expr[i], &system, &event, &rest))
		ps->var_expr[i] = system;
	spec->nr_vars++;
	return 0;
}

static int parse_vars(struct hist_parser *ps)
{
	for (uint32_t i = 0; i < ps->nr_vars; i++) {
		int err = parse_var(ps, i);

		if (err)
			return err;
	}
	return 0;
}

static int parse_keys(struct hist_parser *ps)
{
	struct tacho_hist_spec *spec = ps->spec;
	struct hist_slice rest = ps->keys, text;

	while (spec->nr_keys < TACHO_HIST_KEYS_MAX &&
	       tacho_hist_cut(&rest, ',', &text)) {
		struct tacho_hist_expr *key;

		key = tacho_hist_parse_expr(ps, text, HIST_USE_KEY);
		if (!key)
			return -EINVAL;
		/* even for an event that has a field of that name */
		if (tacho_hist_slice_is(text, "stacktrace"))
			key->name = "common_stacktrace";
		spec->key[spec->nr_keys++] = key;
	}
	if (rest.p)
		return tacho_hist_refuse(ps, rest, "Too many keys (3 max)");
	return 0;
}

/* ---- step 4: sort keys ---- */

static int sort_direction(struct hist_parser *ps, struct tacho_hist_sort *sort,
			  struct hist_slice how)
{
	if (!how.p)
		return 0;
	sort->descending = tacho_hist_slice_is(how, "descending");
	sort->ascending = tacho_hist_slice_is(how, "ascending");
	if (!sort->descending && !sort->ascending)
		return tacho_hist_fail(ps, -EINVAL, how, "Invalid sort modifier");
	return 0;
}

static bool sortable(const struct tacho_hist_spec *spec, struct hist_slice name)
{
	for (uint32_t i = 0; i < spec->nr_vals; i++)
		if (tacho_hist_sorts_by(spec->val[i], name.p, name.len))
			return true;
	for (uint32_t i = 0; i < spec->nr_keys; i++)
		if (tacho_hist_sorts_by(spec->key[i], name.p, name.len))
			return true;
	return tacho_hist_slice_is(name, "hitcount");
}

static int parse_sort(struct hist_parser *ps, struct hist_slice text, bool more)
{
	static const struct hist_slice clause = { "sort=", 5 };
	struct tacho_hist_spec *spec = ps->spec;
	struct tacho_hist_sort *sort = &spec->sort[spec->nr_sorts];
	struct hist_slice name;

	if (!text.len)
		return tacho_hist_fail(ps, -EINVAL, clause, "Empty sort field");
	if (more && spec->nr_sorts == TACHO_HIST_SORTS_MAX - 1)
		return tacho_hist_fail(ps, -EINVAL, clause,
				       "Too many sort fields (Max = 2)");
	if (!tacho_hist_cut(&text, '.', &name) || !name.len)
		return tacho_hist_fail(ps, -EINVAL, clause, "Empty sort field");
	if (!sortable(spec, name))
		return tacho_hist_fail(ps, -EINVAL, name,
				       "Sort field must be a key or a val");
	sort->name = tacho_hist_keep(ps, name);
	if (!sort->name)
		return -ENOMEM;
	sort->text = sort->name;
	sort->column = tacho_hist_column(ps, name);
	spec->nr_sorts++;
	return sort_direction(ps, sort, text);
}

static int parse_sorts(struct hist_parser *ps)
{
	struct hist_slice rest = ps->sort, text;

	while (tacho_hist_cut(&rest, ',', &text)) {
		int err = parse_sort(ps, text, rest.p);

		if (err)
			return err;
	}
	return 0;
}

/* ---- the whole ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Cuts "... if filter" at the first "if" between blanks.  An "if" after a blank is an error if at
 * most one character follows.
 */
static int cut_filter(struct hist_parser *ps, struct hist_slice *text)
{
	struct tacho_hist_spec *spec = ps->spec;
	const char *start = text->p, *end = start + text->len, *p = start;
	struct hist_slice filter;

	for (;; p++) {
		p = memmem(p, (size_t)(end - p), "if", 2);
		if (!p)
			return 0;
		filter = (struct hist_slice){ p, (size_t)(end - p) };
		if (p == start)
			return tacho_hist_refuse(ps, filter, "No keys");
		if (!is_blank(p[-1]))
			continue;
		if (end - p <= 3)
			return tacho_hist_refuse(ps, filter, "Empty filter");
		if (is_blank(p[2]))
			break;
	}
	filter.p += 3;
	filter.len -= 3;
	spec->filter = tacho_hist_written(ps, filter);
	spec->filter_column = tacho_hist_column(ps, filter);
	text->len = (size_t)(p - 1 - start);
	*text = tacho_hist_strip(*text);
	return spec->filter ? 0 : -ENOMEM;
}

/* Makes spec->text and ps->work. */
static int take_text(struct hist_parser *ps, const char *text)
{
	static const char sym[] = ".sym-offset";
	struct hist_slice s = { text, strlen(text) };
	char *work, *p;

	if (tacho_hist_slice_begins(s, HIST_PREFIX)) {
		s.p += HIST_PREFIX_LEN;
		s.len -= HIST_PREFIX_LEN;
	}
	s = tacho_hist_strip(s);
	if (s.len >= COMMAND_MAX)
		return tacho_cmd_error(ps->e, -EINVAL, ps->spec->base,
				       "Command too long");
	p = tacho_arena_alloc(ps->a, HIST_PREFIX_LEN + s.len + 1);
	work = tacho_arena_strndup(ps->a, s.p, s.len);
	if (!p || !work)
		return tacho_hist_nomem(ps);
	memcpy(p, HIST_PREFIX, HIST_PREFIX_LEN);
	memcpy(p + HIST_PREFIX_LEN, s.p, s.len);
	ps->spec->text = p;
	ps->work = work;
	for (p = work; (p = strstr(p, sym)); p += sizeof(sym) - 1)
		p[4] = 'X';
	return 0;
}

/* Checks the clock: a missing name is an error only if timestamps are used. */
static int check_clock(struct hist_parser *ps)
{
	struct tacho_hist_spec *spec = ps->spec;

	if (!spec->clock || *spec->clock)
		return 0;
	spec->clock = NULL;
	if (!tacho_hist_uses_time(spec))
		return 0;
	return tacho_cmd_error(ps->e, -EINVAL, spec->base,
			       "Couldn't set trace_clock");
}

static int parse(struct hist_parser *ps, const char *command)
{
	struct hist_slice text;
	int err = take_text(ps, command);

	if (err)
		return err;
	text = (struct hist_slice){ ps->work, strlen(ps->work) };
	if (!text.len)
		return tacho_hist_refuse(ps, text, "No keys");
	err = cut_filter(ps, &text);
	if (!err)
		err = parse_clauses(ps, text);
	if (!err)
		err = tacho_hist_parse_actions(ps);
	if (!err)
		err = split_assignments(ps);
	if (!err)
		err = parse_vals(ps);
	if (!err)
		err = parse_vars(ps);
	if (!err)
		err = parse_keys(ps);
	if (!err)
		err = parse_sorts(ps);
	if (!err)
		err = check_clock(ps);
	if (!err)
		err = tacho_hist_check_actions(ps);
	return err;
}

int tacho_hist_spec_parse(struct tacho_hist_spec *spec, struct tacho_arena *a,
			  const char *text, uint32_t base,
			  struct tacho_cmd_error *e)
{
	struct tacho_cmd_error own = { .err = 0 };
	struct hist_parser *ps = tacho_arena_alloc(a, sizeof(*ps));

	if (!e)
		e = &own;
	memset(spec, 0, sizeof(*spec));
	spec->base = base;
	spec->text = "";
	if (!ps)
		return tacho_cmd_error(e, -ENOMEM, base, "No memory");
	ps->spec = spec;
	ps->a = a;
	ps->e = e;
	return parse(ps, text) ? e->err : 0;
}
