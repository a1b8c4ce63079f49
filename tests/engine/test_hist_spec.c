// SPDX-License-Identifier: MIT
/* Histogram triggers against the kernel's answers; print, parse, print. */
#include "unit/test.h"

#include <errno.h>

#include "engine/golden_trigger.h"
#include "engine/trigger.h"

#define ARENA	(1 << 20)

/* What the parser can say, and whether a case has said it. */
static struct {
	const char *text;
	int seen;
} sentences[] = {
	/* the kernel's */
	{ "Variable already defined", 0 },
	{ "Too many variables defined", 0 },
	{ "Malformed assignment", 0 },
	{ "Invalid field modifier", 0 },
	{ "Too many subexpressions (3 max)", 0 },
	{ "Timestamp units in expression don't match", 0 },
	{ "For onmax(x) or onchange(x), x must be a variable", 0 },
	{ "Couldn't find onmax or onchange variable", 0 },
	{ "Too many action params", 0 },
	{ "Invalid action param", 0 },
	{ "No action found", 0 },
	{ "Can't have more than one save() action per hist", 0 },
	{ "Handler doesn't support action", 0 },
	{ "No closing paren found", 0 },
	{ "Missing subsystem", 0 },
	{ "Empty assignment", 0 },
	{ "Invalid sort modifier", 0 },
	{ "Empty sort field", 0 },
	{ "Too many sort fields (Max = 2)", 0 },
	{ "Sort field must be a key or a val", 0 },
	{ "Expecting numeric literal", 0 },
	{ "Unary minus not supported in sub-expressions", 0 },
	{ "Division by zero", 0 },
	{ "Non-hitcount value is required for 'nohitcount'", 0 },
	{ "Couldn't find field", 0 },
	{ "Couldn't set trace_clock", 0 },
	/* ours */
	{ "No keys", 0 },
	{ "Empty clause", 0 },
	{ "Unknown clause", 0 },
	{ "Empty filter", 0 },
	{ "Operand missing", 0 },
	{ "Too many actions (8 max)", 0 },
	{ "Too many keys (3 max)", 0 },
	{ "Too many values (2 max)", 0 },
	{ "Unary minus needs parentheses: -(x)", 0 },
	{ "Size must be a number from 65 to 131072", 0 },
	{ "Param must be a name or system.event.name", 0 },
};

static void saw(const char *text)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(sentences); i++)
		if (!strcmp(sentences[i].text, text)) {
			sentences[i].seen++;
			return;
		}
	test_check(0, __FILE__, __LINE__, "unknown sentence: %s", text);
}

/* The type of an event, from its format file; NULL: there is none. */
static const struct tacho_type *type_of(struct tacho_arena *a, const char *event)
{
	char path[512], system[64];
	const char *slash = strchr(event, '/');
	const struct tacho_type *type;
	char *text;

	snprintf(system, sizeof(system), "%.*s", (int)(slash - event), event);
	snprintf(path, sizeof(path), "%s/hist_spec/formats/%s.%s", GOLDEN,
		 system, slash + 1);
	text = golden_read(path);
	if (!text)
		return NULL;
	type = tacho_type_parse(a, system, NULL, 0, text, strlen(text), NULL);
	free(text);
	return type;
}

static void check_printed(const struct golden *g, const char *text)
{
	if (g->instead) {
		test_check(!strcmp(text, g->instead), __FILE__, __LINE__,
			   "%s\n#   prints '%s', not\n#   '%s'", g->command,
			   text, g->instead);
		return;
	}
	for (unsigned int i = 0; i < g->nr_triggers; i++)
		if (!strcmp(text, g->trigger[i]))
			return;
	test_check(!g->nr_triggers, __FILE__, __LINE__,
		   "%s\n#   prints '%s', not\n#   '%s'", g->command, text,
		   g->nr_triggers ? g->trigger[0] : "");
}

/* A tree's command is parsed to a tree of the same command that is shown the same. */
static void check_fixpoint(const struct tacho_hist_spec *was, const char *shown,
			   const struct tacho_type *type)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_hist_spec spec;
	struct tacho_buf one, two;
	struct tacho_arena a;
	int err;

	tacho_arena_init(&a, ARENA);
	tacho_buf_init(&one, ARENA);
	tacho_buf_init(&two, ARENA);
	tacho_hist_spec_command(was, &one);
	err = tacho_hist_spec_parse(&spec, &a, tacho_buf_str(&one), 0, &e);
	if (!err)
		err = tacho_hist_spec_bind_type(&spec, &a, type, &e);
	if (test_check(!err, __FILE__, __LINE__, "%s: %s", tacho_buf_str(&one),
		       e.text)) {
		tacho_hist_spec_command(&spec, &two);
		CHECK_STR(tacho_buf_str(&two), tacho_buf_str(&one));
		tacho_buf_reset(&two);
		tacho_hist_spec_print(&spec, spec.pause, &two);
		CHECK_STR(tacho_buf_str(&two), shown);
	}
	tacho_buf_release(&two);
	tacho_buf_release(&one);
	tacho_arena_release(&a);
}

static void check_good(const struct golden *g, struct tacho_trigger_spec *spec,
		       const struct tacho_type *type)
{
	struct tacho_buf out;

	tacho_buf_init(&out, ARENA);
	tacho_trigger_print(spec, 0, spec->hist.pause, &out);
	if (!spec->remove)
		check_printed(g, tacho_buf_str(&out));
	check_fixpoint(&spec->hist, tacho_buf_str(&out), type);
	tacho_buf_release(&out);
}

static void check_error(const struct golden *g,
			const struct tacho_trigger_spec *spec, int err,
			const struct tacho_cmd_error *e)
{
	const struct golden_error *is = &g->error[0];

	test_check(err == g->result && e->err == err, __FILE__, __LINE__,
		   "%s: %d, not %d", g->command, err, g->result);
	test_check(e->text[0] && e->column <= strlen(spec->text), __FILE__,
		   __LINE__, "%s: %u: '%s'", g->command, e->column, e->text);
	if (!g->nr_errors)
		return;
	test_check(!strcmp(e->text, is->text) && e->column == is->column,
		   __FILE__, __LINE__, "%s: %u: %s, not %u: %s", g->command,
		   e->column, e->text, is->column, is->text);
	test_check(!strcmp(spec->text, is->shown), __FILE__, __LINE__,
		   "%s: shown as '%s', not '%s'", g->command, spec->text,
		   is->shown);
}

/* One case.  typed: what has no error here may have one when a type is known. */
static void check_case(const struct golden *g, bool typed)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_trigger_spec spec;
	const struct tacho_type *type;
	struct tacho_arena a;
	int err;

	tacho_arena_init(&a, ARENA);
	type = type_of(&a, g->event);
	CHECK(type);
	CHECK(g->result <= 0);
	err = tacho_trigger_parse(&spec, &a, g->command, &e);
	if (!err)
		err = tacho_hist_spec_bind_type(&spec.hist, &a, type, &e);
	if (err)
		check_error(g, &spec, err, &e);
	else if (!g->result)
		check_good(g, &spec, type);
	else
		test_check(typed, __FILE__, __LINE__, "%s: no error",
			   g->command);
	if (err)
		saw(e.text);
	tacho_arena_release(&a);
}

static void test_golden(const char *path, bool typed, int at_least)
{
	struct golden g;
	int nr = 0;

	if (!CHECK(golden_open(&g, path)))
		return;
	for (; golden_next(&g); nr++)
		check_case(&g, typed);
	CHECK(!g.next || !*g.next);
	CHECK(nr >= at_least);
	golden_close(&g);
}

/* What kernels answered, and each of their sentences is among it. */
static void test_kernels(void)
{
	test_golden(GOLDEN "/hist_spec/hist", false, 400);
	test_golden(GOLDEN "/hist_spec/hist_typed", true, 150);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(sentences); i++)
		test_check(sentences[i].seen, __FILE__, __LINE__,
			   "no case for: %s", sentences[i].text);
}

/* Where our own errors point; the kernel has no words for these. */
static void test_own_columns(void)
{
	static const struct {
		const char *text;	/* ^ is in front of the place */
		const char *error;
	} table[] = {
		{ "hist:keys=a:^foo", "Unknown clause" },
		{ "hist:keys=a:^:vals=b", "Empty clause" },
		{ "hist:keys=a:^", "Empty clause" },
		{ "hist:^vals=b", "No keys" },
		{ "hist:^", "No keys" },
		{ "hist:^if b", "No keys" },
		{ "hist:keys=a ^if", "Empty filter" },
		{ "hist:keys=a ^if b", "" },
		{ "hist:keys=a,b,c,^d", "Too many keys (3 max)" },
		{ "hist:keys=a:vals=b,c,^d,e", "Too many values (2 max)" },
		{ "hist:keys=a:size=^64", "Size must be a number from 65 to 131072" },
		{ "hist:keys=a:size=^1 ", "Size must be a number from 65 to 131072" },
		{ "hist:keys=a:x=b^+", "Operand missing" },
		{ "hist:keys=a:x=^-b", "Unary minus needs parentheses: -(x)" },
		{ "hist:keys=a:x=^-(b", "No closing paren found" },
		{ "hist:keys=a:x=b:onmax(^$x", "No closing paren found" },
		{ "hist:keys=a:x=b:onmax($x).ev(^a.b)",
		  "Param must be a name or system.event.name" },
		/* the first place with that text, as the kernel has it */
		{ "hist:keys=^a:vals=x.a", "Invalid field modifier" },
		{ "hi^st:keys=t:vals=x.st", "Invalid field modifier" },
		{ "^hist:keys=a.", "Invalid field modifier" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_hist_spec spec;
		struct tacho_arena a;
		char text[80], *caret;
		int err;

		snprintf(text, sizeof(text), "%s", table[i].text);
		caret = strchr(text, '^');
		memmove(caret, caret + 1, strlen(caret));
		tacho_arena_init(&a, ARENA);
		err = tacho_hist_spec_parse(&spec, &a, text, 100, &e);
		CHECK_EQ(err, table[i].error[0] ? -EINVAL : 0);
		CHECK_STR(e.text, table[i].error);
		if (err)
			test_check(e.column == 100 + (caret - text), __FILE__,
				   __LINE__, "%s: column %u", table[i].text,
				   e.column - 100);
		tacho_arena_release(&a);
	}
}

/* The tree itself: what others build on. */
static void test_tree(void)
{
	static const char text[] =
		"hist:keys=a.log2,sys.ev.$v:vals=b-2*$w:x=$y:onmatch(s.e).trace(z1,$x,aa) if c > 1";
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_hist_spec spec;
	const struct tacho_hist_action *act;
	const struct tacho_hist_expr *v;
	struct tacho_arena a;

	tacho_arena_init(&a, ARENA);
	CHECK(!tacho_hist_spec_parse(&spec, &a, text, 0, &e));
	CHECK_STR(spec.text, text);
	CHECK_STR(spec.key[0]->name, "a");
	CHECK_STR(spec.key[0]->text, "a.log2");
	CHECK_EQ(spec.key[0]->mods, TACHO_MOD_LOG2);
	CHECK_EQ(spec.key[0]->column, 10);
	CHECK_EQ(spec.key[1]->op, TACHO_EXPR_VAR);
	CHECK_EQ(spec.key[1]->column, strstr(text, "sys.") - text);
	CHECK_STR(spec.key[1]->system, "sys");
	CHECK_STR(spec.key[1]->event, "ev");
	CHECK_STR(spec.key[1]->name, "v");
	v = spec.val[0];
	CHECK_EQ(spec.nr_vals, 1);
	CHECK_EQ(v->op, TACHO_EXPR_SUB);
	CHECK_STR(v->text, "b-2*$w");
	CHECK_EQ(v->right->op, TACHO_EXPR_MUL);
	CHECK_EQ(v->right->left->value, 2);
	CHECK_EQ(v->right->right->column, strstr(text, "$w") - text);
	CHECK_STR(spec.var[0].name, "x");
	CHECK_EQ(spec.var[0].column, strstr(text, "x=") - text);
	CHECK_EQ(spec.filter_column, strstr(text, "c >") - text);
	CHECK_STR(spec.filter, "c > 1");
	act = spec.action[0];
	CHECK_EQ(act->column, strstr(text, "onmatch") - text);
	CHECK_EQ(act->action_column, strstr(text, "trace(") - text);
	CHECK(act->use_trace_keyword);
	CHECK_STR(act->synth, "z1");
	CHECK_EQ(act->nr_params, 2);
	CHECK_EQ(act->param[0]->op, TACHO_EXPR_VAR);
	CHECK_STR(act->param[0]->name, "x");
	CHECK_EQ(act->param[1]->op, TACHO_EXPR_FIELD);
	CHECK_EQ(act->param[1]->column, strstr(text, "aa)") - text);
	CHECK_EQ(tacho_hist_spec_place(&spec, "x"), strstr(text, "x=") - text);
	CHECK_EQ(tacho_hist_spec_place(&spec, "nowhere"), 0);
	CHECK(!tacho_hist_uses_time(&spec));
	tacho_arena_release(&a);
}

/* Both forms of the text are one; an error struct is not needed. */
static void test_forms(void)
{
	struct tacho_hist_spec one, two;
	char *big = malloc(6000);
	struct tacho_arena a;

	tacho_arena_init(&a, ARENA);
	CHECK(!tacho_hist_spec_parse(&one, &a, "hist:keys=a:x=b", 0, NULL));
	CHECK(!tacho_hist_spec_parse(&two, &a, " keys=a:x=b ", 0, NULL));
	CHECK_STR(one.text, two.text);
	CHECK_EQ(one.var[0].column, two.var[0].column);
	CHECK_EQ(tacho_hist_spec_parse(&one, &a, "keys=a:size=1", 0, NULL),
		 -EINVAL);
	CHECK_EQ(tacho_hist_spec_parse(&one, &a, "keys=a:x=b/0", 0, NULL), -EDOM);
	memset(big, 'a', 5999);
	memcpy(big, "keys=", 5);
	big[5999] = '\0';
	CHECK_EQ(tacho_hist_spec_parse(&one, &a, big, 0, NULL), -EINVAL);
	CHECK_STR(one.text, "");
	big[4095] = '\0';
	CHECK(!tacho_hist_spec_parse(&one, &a, big, 0, NULL));
	free(big);
	tacho_arena_release(&a);
}

/* Every allocation fails once: the answer is -ENOMEM and nothing else. */
static void test_memory(void)
{
	static const char text[] =
		"hist:keys=a.log2,cpu:vals=b-2*$w:x=s.e.$y,y=stacktrace:name=n"
		":clock=mono:sort=cpu:onmatch(s.e).trace(z1,$x,s.e.aa)"
		":onmax($x).save(bb) if c > 1";
	struct tacho_arena types;
	const struct tacho_type *type;
	bool done = false;
	int failed = 0;

	tacho_arena_init(&types, ARENA);
	type = type_of(&types, "sched/sched_switch");
	CHECK(type);
	for (size_t cap = 0; type && !done && cap < ARENA; cap += 16) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_hist_spec spec;
		struct tacho_arena a;
		int err;

		tacho_arena_init(&a, cap);
		err = tacho_hist_spec_parse(&spec, &a, text, 0, &e);
		if (!err)
			err = tacho_hist_spec_bind_type(&spec, &a, type, &e);
		done = !err;
		failed += !!err;
		CHECK_EQ(err, done ? 0 : -ENOMEM);
		CHECK_EQ(e.err, err);
		tacho_arena_release(&a);
	}
	CHECK(done);
	CHECK(failed > 10);
	tacho_arena_release(&types);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_kernels());
	TEST(test_own_columns());
	TEST(test_tree());
	TEST(test_forms());
	TEST(test_memory());
	return test_done();
}
