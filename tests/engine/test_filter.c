// SPDX-License-Identifier: MIT
/*
 * Filters against what a kernel of 6.12 said to the same texts and let pass of
 * the same events: tests/golden/filter, made by tools/golden-filter.sh.
 *
 *	answers.txt, match.txt			the kernel's
 *	ours-answers.txt, ours-match.txt	where ours differ, and why
 */
#include "filter_util.h"

#include "base/bytes.h"

/* One "= filter" of a golden file and the lines behind it, as one text. */
struct entry {
	const char *event;
	const char *filter;
	const char *answer;
	bool used;
};

struct entries {
	struct entry *at;
	uint32_t nr;
};

static struct entries entries_read(struct tacho_arena *a, const char *name)
{
	struct lines l = lines_read(a, name);
	const char *event = "";
	struct entries e = { .nr = 0 };
	struct tacho_buf answer;

	e.at = tacho_arena_array(a, l.nr + 1, sizeof(*e.at));
	tacho_buf_init(&answer, 1 << 20);
	for (uint32_t i = 0; i < l.nr; i++) {
		const char *s = l.line[i];

		if (*s == '@') {
			event = s + 1;
		} else if (*s == '=') {
			e.at[e.nr].event = event;
			e.at[e.nr].answer = "";
			e.at[e.nr++].filter = s + 2;
			tacho_buf_reset(&answer);
		} else if (e.nr && *s != '#' && *s != '-') {
			tacho_buf_puts(&answer, s);
			tacho_buf_putc(&answer, '\n');
			e.at[e.nr - 1].answer =
				tacho_arena_strndup(a, answer.data, answer.len);
		}
	}
	tacho_buf_release(&answer);
	return e;
}

static struct entry *entry_find(const struct entries *e,
				const struct entry *like)
{
	for (uint32_t i = 0; i < e->nr; i++)
		if (!strcmp(e->at[i].event, like->event) &&
		    !strcmp(e->at[i].filter, like->filter))
			return &e->at[i];
	return NULL;
}

/* The answer that ours must give: the kernel's unless the other file has one. */
static const char *expected(const struct entries *ours,
			    const struct entry *kernel)
{
	struct entry *e = entry_find(ours, kernel);

	if (!e)
		return kernel->answer;
	test_check(strcmp(e->answer, kernel->answer) != 0, __FILE__, __LINE__,
		   "%s '%s' is no difference", e->event, e->filter);
	e->used = true;
	return e->answer;
}

static void all_used(const struct entries *ours)
{
	for (uint32_t i = 0; i < ours->nr; i++)
		test_check(ours->at[i].used, __FILE__, __LINE__,
			   "%s '%s' is not among the kernel's answers",
			   ours->at[i].event, ours->at[i].filter);
}

/* What error_log has of an answer, with the time that the answer has. */
static void print_answer(struct tacho_buf *out, const char *like,
			 const char *filter, const struct tacho_cmd_error *e)
{
	static struct tacho_errlog log;
	unsigned long long s = 0, us = 0;
	char *command = strdup(filter);
	size_t len = strlen(command);

	memset(&log, 0, sizeof(log));
	(void)sscanf(like, "[%llu.%llu]", &s, &us);
	while (len && (command[len - 1] == ' ' || command[len - 1] == '\t'))
		command[--len] = '\0';
	tacho_errlog_add(&log, s * 1000000000 + us * 1000,
			 "event filter parse error", command, e);
	tacho_errlog_print(&log, out);
	free(command);
}

static void check_answer(const struct tacho_type *type,
			 const struct entry *kernel, const char *want)
{
	static const struct tacho_names names = {
		.symbol = util_symbol, .find_symbol = util_find_symbol,
	};
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_filter *f = NULL;
	struct tacho_arena a;
	struct tacho_buf out;
	int err;

	tacho_arena_init(&a, 1 << 20);
	tacho_buf_init(&out, 1 << 16);
	err = tacho_filter_compile(&f, &a, type, kernel->filter, 0, &names, &e);
	if (err)
		print_answer(&out, want, kernel->filter, &e);
	CHECK_STR(tacho_buf_str(&out), want);
	CHECK_EQ(err, e.err);
	CHECK(!err || (err == -22 && !f));
	if (f)
		CHECK(tacho_filter_verify(f, tacho_filter_size(f)));
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

/* What only a type can tell. */
static bool is_of_type(const char *text)
{
	static const char *const texts[] = {
		"Field not found", "Illegal operation for field type",
		"Expecting string field", "Expecting numeric field",
		"Function not found", "Illegal integer value",
		"Invalid value (did you forget quotes)?",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(text, texts[i]))
			return true;
	return false;
}

/*
 * Without a type: what is right for one is right, what is wrong for every type is wrong with
 * the same words in the same place.  *wrong counts those.
 */
static void check_untyped(const struct tacho_type *type, const char *text,
			  uint32_t *wrong)
{
	struct tacho_cmd_error typed = { .err = 0 }, e = { .err = 0 };
	struct tacho_filter *f;
	struct tacho_arena a;
	int with, without;

	tacho_arena_init(&a, 1 << 20);
	with = tacho_filter_compile(&f, &a, type, text, 7, NULL, &typed);
	without = tacho_filter_check(&a, text, 7, NULL, &e);
	if (!with)
		CHECK(!without);
	else if (!is_of_type(typed.text))
		CHECK(without == with && e.column == typed.column &&
		      !strcmp(e.text, typed.text));
	*wrong += with && !is_of_type(typed.text);
	tacho_arena_release(&a);
}

/* No type has what these need. */
static void test_untyped(void)
{
	static const struct {
		const char *text;
		uint32_t column;	/* UINT32_MAX: nothing is wrong with it */
		const char *error;
	} cases[] = {
		{ "a == 1 && b == 2 && c >", 24, "Invalid value (did you forget quotes)?" },
		{ "a == 1 && b = 2", 13, "Invalid operator" },
		{ "a == 1 && b === 2", 15, "Invalid value (did you forget quotes)?" },
		{ "a == 1 && (b == 2 || c", 10, "Too many '('" },
		{ "a == 1 && b == \"x", 15, "Missing matching quote" },
		{ "a == 1 && b < \"x\"", 15, "Illegal operation for field type" },
		{ "a == 1 && b == 2x", 16, "Illegal integer value" },
		{ "a == 1 && b ~ 1*", 15, "Illegal operation for field type" },
		{ "a & CPUS{0-}", 12, "Invalid cpulist" },
		{ "a < CPUS{0}", 5, "Illegal operation for field type" },
		{ "a.function < f", 14, "Invalid operator" },
		{ "a.function == ", 14, "Function not found" },
		{ "a > x", 5, "Invalid value (did you forget quotes)?" },
		{ "a == 1 ||", 9, "Meaningless filter expression" },
		{ "a == -5 && b == 18446744073709551615 && c != x", UINT32_MAX, NULL },
		{ "comm ~ \"*x*\" || cpu & CPUS{0-3} || !(flag == true)", UINT32_MAX, NULL },
		{ "a.function == vfs_read && b.ustring ~ 'x'", UINT32_MAX, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_arena a;
		int err;

		tacho_arena_init(&a, 1 << 20);
		err = tacho_filter_check(&a, cases[i].text, 0, NULL, &e);
		CHECK_EQ(err, cases[i].error ? -22 : 0);
		if (cases[i].error) {
			CHECK_STR(e.text, cases[i].error);
			CHECK_EQ(e.column, cases[i].column);
		}
		tacho_arena_release(&a);
	}
}

static void test_answers(void)
{
	struct tacho_arena a;
	struct entries kernel, ours;
	const struct tacho_type *type = NULL;
	const char *event = "";
	uint32_t wrong = 0;

	tacho_arena_init(&a, 1 << 24);
	kernel = entries_read(&a, "answers.txt");
	ours = entries_read(&a, "ours-answers.txt");
	CHECK(kernel.nr > 300);
	for (uint32_t i = 0; i < kernel.nr; i++) {
		if (strcmp(event, kernel.at[i].event)) {
			event = kernel.at[i].event;
			type = type_read(&a, event);
		}
		check_answer(type, &kernel.at[i],
			     expected(&ours, &kernel.at[i]));
		check_untyped(type, kernel.at[i].filter, &wrong);
	}
	CHECK(wrong > 50);
	all_used(&ours);
	tacho_arena_release(&a);
}

/* A raw event of one sample. */
struct sample {
	unsigned char raw[256];
	uint32_t len;
	char comm[16];		/* of the thread at that time */
};

static void put(struct sample *s, const struct tacho_type *type,
		const char *name, const void *bytes, size_t len)
{
	const struct tacho_field *f = tacho_type_field(type, name);

	memcpy(s->raw + f->offset, bytes, len < f->size ? len : f->size);
}

static void put_int(struct sample *s, const struct tacho_type *type,
		    const char *name, uint64_t v)
{
	put(s, type, name, &v, sizeof(v));
}

/* Text behind the fixed part, with its NUL. */
static void put_text(struct sample *s, const struct tacho_type *type,
		     const char *name, const char *text)
{
	uint32_t len = (uint32_t)strlen(text) + 1;

	memcpy(s->raw + s->len, text, len);
	put_int(s, type, name, len << 16 | s->len);
	s->len += len;
}

/* Makes the sample that has the text in it, as tools/golden-filter.sh did. */
static void sample_make(struct sample *s, const struct tacho_type *type,
			const char *text)
{
	/* what a former event left behind the NUL must not matter */
	memset(s->raw, 's', sizeof(s->raw));
	s->len = type->fixed_size;
	if (!strcmp(type->name, "task_rename")) {
		put(s, type, "newcomm", text, strlen(text) + 1);
	} else if (!strcmp(type->name, "console")) {
		put_text(s, type, "msg", text);
	} else if (!strcmp(type->name, "oom_score_adj_update")) {
		put_int(s, type, "oom_score_adj",
			(uint64_t)strtol(text, NULL, 10));
	} else {
		put_int(s, type, "u8", 0x80);
		put_int(s, type, "s8", (uint64_t)-128);
		put_int(s, type, "u16", 0x8000);
		put_int(s, type, "s16", (uint64_t)-2);
		put_int(s, type, "u32", 0x80000000);
		put_int(s, type, "s32", (uint64_t)-3);
		put_int(s, type, "u64", 0x8000000000000000);
		put_int(s, type, "s64", (uint64_t)-4);
		put_int(s, type, "sym", 0);
		put_int(s, type, "c", 65);
		put_text(s, type, "str", "kernel");
	}
}

static bool sample_comm(void *arg, int32_t pid, char comm[16])
{
	const struct sample *s = arg;

	(void)pid;
	memcpy(comm, s->comm, 16);
	return true;
}

/* Runs a filter on the samples of lines from..to; what passed, as the answers. */
static void run_samples(const struct tacho_filter *f,
			const struct tacho_type *type, const struct lines *l,
			uint32_t from, uint32_t to, struct tacho_buf *out)
{
	struct sample s;
	const struct tacho_names names = { .arg = &s, .comm = sample_comm };
	struct tacho_rec rec = { .raw = s.raw, .cpu = 1, .names = &names };

	memset(s.comm, 's', sizeof(s.comm));
	memcpy(s.comm, "bash", 5);
	for (uint32_t i = from; i < to; i++) {
		const char *text = l->line[i] + 2;

		sample_make(&s, type, text);
		rec.len = s.len;
		if (tacho_filter_run(f, &rec)) {
			tacho_buf_puts(out, "+ ");
			tacho_buf_puts(out, text);
			tacho_buf_putc(out, '\n');
		}
		if (!strcmp(type->name, "task_rename"))
			memcpy(s.comm, text, strlen(text) + 1);
	}
}

static void check_match(const struct tacho_type *type, const struct lines *l,
			uint32_t from, uint32_t to, const struct entry *kernel,
			const char *want)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_filter *f = NULL;
	struct tacho_arena a;
	struct tacho_buf out;

	tacho_arena_init(&a, 1 << 20);
	tacho_buf_init(&out, 1 << 16);
	if (tacho_filter_compile(&f, &a, type, kernel->filter, 0, NULL, &e)) {
		tacho_buf_puts(&out, e.text);
		tacho_buf_putc(&out, '\n');
	} else {
		run_samples(f, type, l, from, to, &out);
	}
	test_check(!strcmp(tacho_buf_str(&out), want), __FILE__, __LINE__,
		   "'%s': passed\n%s# not\n%s", kernel->filter,
		   tacho_buf_str(&out), want);
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

/*
 * What may be handed to a kernel: never a filter to which it answers otherwise, nor one that
 * it does not take.  Whether it may.
 */
static bool check_offload(const struct tacho_type *type, const struct entries *ours,
			  const struct entry *kernel)
{
	bool ok = tacho_filter_offload(type, kernel->filter, NULL) != TACHO_FILTER_LOCAL;

	test_check(!ok || !entry_find(ours, kernel), __FILE__, __LINE__,
		   "'%s' is not the same to a kernel", kernel->filter);
	return ok;
}

static void test_match(void)
{
	uint32_t same = 0;
	const struct tacho_type *type = NULL;
	uint32_t from = 0, to = 0, at = 0;
	struct entries kernel, ours;
	struct tacho_arena a;
	struct lines l;

	tacho_arena_init(&a, 1 << 24);
	l = lines_read(&a, "match.txt");
	kernel = entries_read(&a, "match.txt");
	ours = entries_read(&a, "ours-match.txt");
	for (uint32_t i = 0; i < l.nr; i++) {
		if (*l.line[i] == '@') {
			type = type_read(&a, l.line[i] + 1);
			from = to = i + 1;
		} else if (*l.line[i] == '-') {
			to = i + 1;
		} else if (*l.line[i] == '=') {
			check_match(type, &l, from, to, &kernel.at[at],
				    expected(&ours, &kernel.at[at]));
			same += check_offload(type, &ours, &kernel.at[at]);
			at++;
		}
	}
	CHECK(at > 300 && at == kernel.nr);
	/* most can */
	CHECK(same > 100);
	all_used(&ours);
	tacho_arena_release(&a);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_answers());
	TEST(test_untyped());
	TEST(test_match());
	return test_done();
}
