// SPDX-License-Identifier: MIT
/* Rules: text in, rows out. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/rules.h"

#define LINE_MAX_BYTES	4096u
#define WORDS_MAX	32u

#define BIT(arg)	(1u << MODEL_ARG_##arg)

struct verb {
	const char *name;
	enum model_verb verb;
	uint32_t needs, takes;	/* BIT()s of arguments */
	bool object;		/* a word follows that says where */
};

static const struct verb verbs[] = {
	{ "switch", MODEL_SWITCH, BIT(OUT) | BIT(IN),
	  BIT(OUT_NAME) | BIT(IN_NAME) | BIT(STATE), false },
	{ "waking", MODEL_WAKING, BIT(THREAD), BIT(NAME), false },
	{ "wakeup", MODEL_WAKEUP, BIT(THREAD), BIT(NAME), false },
	{ "waker", MODEL_WAKER, BIT(THREAD) | BIT(PROCESS), 0, false },
	{ "state", MODEL_SET_STATE, BIT(THREAD) | BIT(VALUE), BIT(PROCESS), false },
	{ "fork", MODEL_FORK, BIT(THREAD), BIT(NAME) | BIT(FLAGS) | BIT(PROCESS), false },
	{ "exit", MODEL_EXIT, 0, BIT(THREAD) | BIT(PROCESS), false },
	{ "rename", MODEL_RENAME, BIT(NAME), BIT(THREAD) | BIT(PROCESS), false },
	{ "begin", MODEL_BEGIN, BIT(CAT), BIT(KEY) | BIT(NAME) | BIT(DEV), true },
	{ "continue", MODEL_CONTINUE, BIT(CAT), BIT(KEY) | BIT(NAME) | BIT(DEV), true },
	{ "end", MODEL_FINISH, BIT(CAT), BIT(KEY) | BIT(NAME) | BIT(DEV), true },
	{ "mark", MODEL_MARK, BIT(CAT), BIT(NAME), true },
	{ "counter", MODEL_COUNT, BIT(VALUE), BIT(CPU) | BIT(BY), true },
	{ "send", MODEL_SEND, BIT(KEY), 0, false },
	{ "receive", MODEL_RECEIVE, BIT(KEY), 0, false },
};

static const char *const arg_names[MODEL_NR_ARGS] = {
	[MODEL_ARG_OUT] = "out", [MODEL_ARG_OUT_NAME] = "out_name", [MODEL_ARG_IN] = "in",
	[MODEL_ARG_IN_NAME] = "in_name", [MODEL_ARG_STATE] = "state",
	[MODEL_ARG_THREAD] = "thread", [MODEL_ARG_PROCESS] = "process",
	[MODEL_ARG_NAME] = "name", [MODEL_ARG_FLAGS] = "flags", [MODEL_ARG_VALUE] = "value",
	[MODEL_ARG_CPU] = "cpu", [MODEL_ARG_DEV] = "dev", [MODEL_ARG_KEY] = "key",
	[MODEL_ARG_BY] = "by", [MODEL_ARG_CAT] = "cat", [MODEL_ARG_UNLESS] = "unless",
};

struct word {
	const char *s;
	size_t len;
};

/* One line, and where its rows go. */
struct rule_parser {
	struct tacho_arena *arena;
	struct model_row ***tail;
	struct tacho_diag *d;
	const char *text;	/* of all lines: offsets count from here */
	const char *line;
	size_t line_len;
	struct word word[WORDS_MAX];
	uint32_t nr;
	bool no_memory;		/* a copy is missing */
};

/* What is wrong, and the words that are; len 0: none. */
static int bad(struct rule_parser *p, const char *at, const char *what, const char *words,
	       size_t len)
{
	return tacho_diag(p->d, -EINVAL, (uint64_t)(at - p->text), "%s%s%.*s", what,
			  len ? ": " : "", (int)len, words);
}

static bool is_word(const struct word *w, const char *s)
{
	return w->len == strlen(s) && !memcmp(w->s, s, w->len);
}

/* Words end at blanks; "text in quotes" is part of one. */
static int split(struct rule_parser *p, const char *s, const char *end)
{
	p->nr = 0;
	while (s < end) {
		const char *from;
		bool quoted = false;

		if (*s == ' ' || *s == '\t') {
			s++;
			continue;
		}
		for (from = s; s < end && (quoted || (*s != ' ' && *s != '\t')); s++)
			quoted ^= *s == '"';
		if (quoted)
			return bad(p, from, "a quote that does not end", from,
				   (size_t)(s - from));
		if (p->nr == WORDS_MAX)
			return bad(p, from, "too many words in a rule", from,
				   (size_t)(s - from));
		p->word[p->nr++] = (struct word){ from, (size_t)(s - from) };
	}
	return 0;
}

static const char *copy(struct rule_parser *p, const char *s, size_t len)
{
	const char *own = tacho_arena_strndup(p->arena, s, len);

	p->no_memory |= !own;
	return own;
}

/* Enters a row; all its texts are in the arena.  text: the rule. */
static int add_row(struct rule_parser *p, const struct model_row *row)
{
	struct model_row *own = tacho_arena_alloc(p->arena, sizeof(*own));

	if (!own || p->no_memory)
		return tacho_no_memory(p->d);
	*own = *row;
	own->next = NULL;
	**p->tail = own;
	*p->tail = &own->next;
	return 0;
}

static int check_event(struct rule_parser *p, const struct word *w)
{
	const char *colon = memchr(w->s, ':', w->len), *end = w->s + w->len;
	const char *glob = colon ? memchr(colon, '*', (size_t)(end - colon)) : NULL;

	if (!colon || colon == w->s || colon + 1 == end ||
	    memchr(colon + 1, ':', (size_t)(end - colon - 1)))
		return bad(p, w->s, "not an event, SYSTEM:EVENT", w->s, w->len);
	if (glob && memchr(glob + 1, '*', (size_t)(end - glob - 1)))
		return bad(p, w->s, "more than one * in the name of an event", w->s,
			   w->len);
	return 0;
}

/* ---- EVENT VERB [OBJECT] ARGUMENTS ---- */

static const struct verb *find_verb(const struct word *w)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (is_word(w, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static bool is_slice_verb(enum model_verb verb)
{
	return verb == MODEL_BEGIN || verb == MODEL_CONTINUE || verb == MODEL_FINISH ||
	       verb == MODEL_MARK;
}

static int take_slice_object(struct rule_parser *p, const struct word *w, struct model_row *row)
{
	static const char span[] = "span.";

	if (is_word(w, "thread")) {
		row->object = MODEL_ON_THREAD;
	} else if (is_word(w, "cpu.irq")) {
		row->object = MODEL_ON_IRQ;
	} else if (is_word(w, "cpu.softirq")) {
		row->object = MODEL_ON_SOFTIRQ;
	} else if (is_word(w, "device")) {
		row->object = MODEL_ON_DEVICE;
	} else if (w->len >= sizeof(span) && !memcmp(w->s, span, sizeof(span) - 1)) {
		row->object = MODEL_ON_SPAN;
		row->where = copy(p, w->s + sizeof(span) - 1, w->len - sizeof(span) + 1);
	} else {
		return bad(p, w->s, "not a place of slices (thread, cpu.irq, cpu.softirq, "
			   "device, span.NAME)", w->s, w->len);
	}
	return 0;
}

static int take_counter_object(struct rule_parser *p, const struct word *w,
			       struct model_row *row)
{
	if (is_word(w, "cpu"))
		row->object = MODEL_ON_CPU;
	else if (is_word(w, "process"))
		row->object = MODEL_ON_PROCESS;
	else if (is_word(w, "machine"))
		row->object = MODEL_ON_MACHINE;
	else
		return bad(p, w->s, "not a place of counters (cpu, process, machine)",
			   w->s, w->len);
	return 0;
}

static bool is_value_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '|';
}

/* FIELD|FIELD, FIELD.HOW, "text", *: the fields themselves are looked up when types are known. */
static int check_value(struct rule_parser *p, const char *s, size_t len)
{
	if (!len)
		return bad(p, s, "a value is missing", "", 0);
	if (*s == '"') {
		if (len < 3 || s[len - 1] != '"' || memchr(s + 1, '"', len - 2))
			return bad(p, s, "not one text in quotes", s, len);
		return 0;
	}
	if (len == 1 && *s == '*')
		return 0;
	for (size_t i = 0; i < len; i++)
		if (!is_value_char(s[i]))
			return bad(p, s + i, "not a field, a \"text\" or *", s, len);
	return 0;
}

/* Values with commas. */
static int check_values(struct rule_parser *p, const char *s, size_t len)
{
	const char *end = s + len;

	for (;;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		int err = check_value(p, s, (size_t)((comma ? comma : end) - s));

		if (err || !comma)
			return err;
		s = comma + 1;
	}
}

static int take_arg(struct rule_parser *p, const struct word *w, const struct verb *verb,
		    struct model_row *row)
{
	const char *eq = memchr(w->s, '=', w->len);
	size_t name = eq ? (size_t)(eq - w->s) : w->len, len;
	uint32_t i;
	int err = 0;

	for (i = 0; i < MODEL_NR_ARGS && eq; i++)
		if (strlen(arg_names[i]) == name && !memcmp(arg_names[i], w->s, name))
			break;
	if (!eq || i == MODEL_NR_ARGS ||
	    !((verb->needs | verb->takes | BIT(UNLESS)) & 1u << i))
		return bad(p, w->s, "not an argument of this rule", w->s, name);
	if (row->arg[i])
		return bad(p, w->s, "an argument that is given twice", w->s, name);
	len = w->len - name - 1;
	if (i == MODEL_ARG_UNLESS)
		err = check_event(p, &(struct word){ eq + 1, len });
	else if (i != MODEL_ARG_CAT)
		err = i == MODEL_ARG_KEY || i == MODEL_ARG_BY ?
		      check_values(p, eq + 1, len) : check_value(p, eq + 1, len);
	else if (!len)
		err = bad(p, w->s, "a value is missing", w->s, w->len);
	if (!err)
		row->arg[i] = copy(p, eq + 1, len);
	return err;
}

static int take_args(struct rule_parser *p, uint32_t from, const struct verb *verb,
		     struct model_row *row)
{
	uint32_t missing;

	for (uint32_t i = from; i < p->nr; i++) {
		int err;

		if (verb->verb == MODEL_BEGIN && is_word(&p->word[i], "only")) {
			row->only = true;
			continue;
		}
		err = take_arg(p, &p->word[i], verb, row);
		if (err)
			return err;
	}
	missing = verb->needs;
	for (uint32_t i = 0; i < MODEL_NR_ARGS; i++)
		if (row->arg[i])
			missing &= ~(1u << i);
	for (uint32_t i = 0; i < MODEL_NR_ARGS; i++)
		if (missing & 1u << i)
			return bad(p, p->line, "the rule lacks the argument", arg_names[i],
				   strlen(arg_names[i]));
	if (row->verb == MODEL_MARK &&
	    (row->object == MODEL_ON_DEVICE || row->object == MODEL_ON_SPAN))
		return bad(p, p->line, "a mark is on thread, cpu.irq or cpu.softirq", "", 0);
	if ((row->object == MODEL_ON_DEVICE) != !!row->arg[MODEL_ARG_DEV])
		return bad(p, p->line, "slices of a device, and only they, need dev=", "", 0);
	return 0;
}

/* send KIND, receive KIND, counter OBJECT NAME: the word after. */
static int take_where(struct rule_parser *p, uint32_t at, struct model_row *row)
{
	const struct word *w = &p->word[at];
	const char *s = w->s;
	size_t len = w->len;

	if (at >= p->nr || memchr(s, '=', len))
		return bad(p, p->line, "the rule lacks a name", "", 0);
	if (row->verb == MODEL_COUNT) {
		int err = check_value(p, s, len);

		if (err)
			return err;
	}
	row->where = copy(p, s, len);
	return 0;
}

static int parse_rule(struct rule_parser *p)
{
	struct model_row row = { .text = copy(p, p->line, p->line_len) };
	const struct verb *verb;
	uint32_t at = 2;
	int err;

	if (p->nr < 2)
		return bad(p, p->line, "not a rule, EVENT VERB ...", p->line, p->line_len);
	err = check_event(p, &p->word[0]);
	if (err)
		return err;
	verb = find_verb(&p->word[1]);
	if (!verb)
		return bad(p, p->word[1].s, "not a verb of rules", p->word[1].s,
			   p->word[1].len);
	row.verb = verb->verb;
	row.event = copy(p, p->word[0].s, p->word[0].len);
	if (verb->object) {
		if (at >= p->nr)
			return bad(p, p->line, "the rule does not say where", "", 0);
		err = is_slice_verb(row.verb) ? take_slice_object(p, &p->word[at], &row) :
		      take_counter_object(p, &p->word[at], &row);
		at++;
	}
	if (!err && (row.verb == MODEL_COUNT || row.verb == MODEL_SEND ||
		     row.verb == MODEL_RECEIVE))
		err = take_where(p, at++, &row);
	if (!err)
		err = take_args(p, at, verb, &row);
	return err ? err : add_row(p, &row);
}

/* ---- span NAME: EVENT -> EVENT [by KEYS] [name FIELD] ---- */

/* Keys "a=b,c": first "a,c", second "b,c". */
static int split_keys(struct rule_parser *p, const struct word *w, const char **first,
		      const char **second)
{
	char a[LINE_MAX_BYTES], b[LINE_MAX_BYTES];
	const char *s = w->s, *end = s + w->len;
	size_t na = 0, nb = 0;

	for (;;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *stop = comma ? comma : end;
		const char *eq = memchr(s, '=', (size_t)(stop - s));
		const char *other = eq ? eq + 1 : s;
		int err = check_value(p, s, (size_t)((eq ? eq : stop) - s));

		if (!err)
			err = check_value(p, other, (size_t)(stop - other));
		if (err)
			return err;
		memcpy(a + na, s, (size_t)((eq ? eq : stop) - s));
		na += (size_t)((eq ? eq : stop) - s);
		memcpy(b + nb, other, (size_t)(stop - other));
		nb += (size_t)(stop - other);
		if (!comma)
			break;
		a[na++] = b[nb++] = ',';
		s = comma + 1;
	}
	*first = copy(p, a, na);
	*second = copy(p, b, nb);
	return 0;
}

/* The name before the colon: words 1 to the one that ends with ':'. */
static int take_name(struct rule_parser *p, uint32_t *at, const char **name)
{
	const char *from, *to;

	for (uint32_t i = 1; i < p->nr; i++) {
		const struct word *w = &p->word[i];

		if (w->s[w->len - 1] != ':')
			continue;
		from = p->word[1].s;
		to = w->s + w->len - 1;
		if (to == from || memchr(from, '"', (size_t)(to - from)))
			break;
		*name = copy(p, from, (size_t)(to - from));
		*at = i + 1;
		return 0;
	}
	return bad(p, p->line, "no name before a colon, NAME: ...", p->line, p->line_len);
}

static const char *quoted(struct rule_parser *p, const char *name)
{
	char s[LINE_MAX_BYTES + 4];
	int len = snprintf(s, sizeof(s), "\"%s\"", name);

	return copy(p, s, (size_t)len);
}

static int add_span(struct rule_parser *p, const struct word *begin, const struct word *end,
		    const char *name, const struct word *keys, const struct word *label)
{
	struct model_row row = { .text = copy(p, p->line, p->line_len), .verb = MODEL_BEGIN,
				 .event = copy(p, begin->s, begin->len), .where = name };
	const char *second = NULL;
	int err = 0;

	row.arg[MODEL_ARG_CAT] = "span";
	row.arg[MODEL_ARG_NAME] = label ? copy(p, label->s, label->len) : quoted(p, name);
	row.object = keys ? MODEL_ON_SPAN : MODEL_ON_THREAD;
	if (keys)
		err = split_keys(p, keys, &row.arg[MODEL_ARG_KEY], &second);
	else
		row.arg[MODEL_ARG_KEY] = second = quoted(p, name);
	if (!err)
		err = add_row(p, &row);
	if (err)
		return err;
	row.text = "";
	row.verb = MODEL_FINISH;
	row.event = copy(p, end->s, end->len);
	row.arg[MODEL_ARG_KEY] = second;
	row.arg[MODEL_ARG_NAME] = quoted(p, name);
	return add_row(p, &row);
}

static int parse_span(struct rule_parser *p)
{
	const struct word *keys = NULL, *label = NULL, *begin, *end;
	const char *name;
	uint32_t at;
	int err = take_name(p, &at, &name);

	if (err)
		return err;
	if (p->nr < at + 3 || !is_word(&p->word[at + 1], "->"))
		return bad(p, p->line, "not a span, NAME: EVENT -> EVENT [by FIELDS] "
			   "[name FIELD]", p->line, p->line_len);
	begin = &p->word[at];
	end = &p->word[at + 2];
	err = check_event(p, begin);
	if (!err)
		err = check_event(p, end);
	for (at += 3; !err && at < p->nr; at += 2) {
		const struct word **to = is_word(&p->word[at], "by") ? &keys :
					 is_word(&p->word[at], "name") ? &label : NULL;

		if (!to || *to || at + 1 >= p->nr)
			return bad(p, p->word[at].s,
				   "expected \"by FIELDS\" or \"name FIELD\"",
				   p->word[at].s, p->word[at].len);
		*to = &p->word[at + 1];
		if (to == &label)
			err = check_value(p, label->s, label->len);
	}
	return err ? err : add_span(p, begin, end, name, keys, label);
}

/* ---- counter NAME: EVENT.FIELD [by KEYS] ---- */

static int parse_counter(struct rule_parser *p)
{
	struct model_row row = { .text = copy(p, p->line, p->line_len), .verb = MODEL_COUNT,
				 .object = MODEL_ON_MACHINE };
	const struct word *w;
	const char *name, *dot;
	uint32_t at;
	int err = take_name(p, &at, &name);

	if (err)
		return err;
	w = &p->word[at];
	dot = at < p->nr ? memchr(w->s, '.', w->len) : NULL;
	if (!dot || (p->nr != at + 1 && (p->nr != at + 3 || !is_word(&p->word[at + 1], "by"))))
		return bad(p, p->line, "not a counter, NAME: EVENT.FIELD [by FIELDS]",
			   p->line, p->line_len);
	err = check_event(p, &(struct word){ w->s, (size_t)(dot - w->s) });
	if (!err)
		err = check_value(p, dot + 1, w->len - (size_t)(dot + 1 - w->s));
	if (!err && p->nr == at + 3)
		err = check_values(p, p->word[at + 2].s, p->word[at + 2].len);
	if (err)
		return err;
	row.event = copy(p, w->s, (size_t)(dot - w->s));
	row.where = quoted(p, name);
	row.arg[MODEL_ARG_VALUE] = copy(p, dot + 1, w->len - (size_t)(dot + 1 - w->s));
	if (p->nr == at + 3)
		row.arg[MODEL_ARG_BY] = copy(p, p->word[at + 2].s, p->word[at + 2].len);
	return add_row(p, &row);
}

/* ---- lines ---- */

static int parse_line(struct rule_parser *p)
{
	const char *end;
	int err;

	while (p->line_len && (*p->line == ' ' || *p->line == '\t')) {
		p->line++;
		p->line_len--;
	}
	end = p->line + p->line_len;
	while (end > p->line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	p->line_len = (size_t)(end - p->line);
	if (!p->line_len || *p->line == '#')
		return 0;
	if (p->line_len >= LINE_MAX_BYTES || memchr(p->line, '\0', p->line_len))
		return tacho_diag(p->d, -EINVAL, (uint64_t)(p->line - p->text),
				  "a rule is longer than %u bytes, or has a NUL", LINE_MAX_BYTES);
	err = split(p, p->line, end);
	if (err)
		return err;
	if (is_word(&p->word[0], "span"))
		err = parse_span(p);
	else if (is_word(&p->word[0], "counter"))
		err = parse_counter(p);
	else
		err = parse_rule(p);
	return err;
}

int model_rules_parse(struct tacho_arena *arena, const char *text, size_t len,
		      struct model_row ***tail, struct tacho_diag *d)
{
	struct rule_parser p = { .arena = arena, .tail = tail, .d = d, .text = text };
	const char *end = text + len;
	int err = 0;

	for (const char *s = text; s < end && !err;) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		p.line = s;
		p.line_len = (size_t)(stop - s);
		err = parse_line(&p);
		s = stop + 1;
	}
	return err;
}
