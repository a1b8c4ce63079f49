// SPDX-License-Identifier: MIT
/*
 * The text of probes: what kernel 6.12 said to each line of a golden file, word
 * for word and column for column; then what we say where it says nothing.
 *
 * A line of the file: COLUMN or "ok", the error or what the kernel lists the
 * probe as, the text; separated by tabs.
 */
#include <errno.h>
#include <stdbool.h>

#include "tracefs/probe_spec.h"
#include "unit/test.h"

static struct tacho_arena arena;

static const char *or_none(const char *s)
{
	return s ? s : "(none)";
}

/* What the kernel lists is what we have read. */
static void check_listing(const char *text, const char *listed)
{
	struct tacho_probe_spec a, b;
	struct tacho_diag d = { 0 };

	if (!CHECK(!tacho_probe_parse(&arena, text, &a, &d)) ||
	    !CHECK(!tacho_probe_parse(&arena, listed, &b, &d))) {
		printf("# %s\n# %s\n# %s\n", text, listed, d.text);
		return;
	}
	CHECK_EQ(a.place, b.place);
	CHECK_EQ(a.on_return, b.on_return);
	if (a.group)
		CHECK_STR(a.group, or_none(b.group));
	CHECK_STR(or_none(a.event), or_none(b.event));
	CHECK_STR(or_none(a.target), or_none(b.target));
	CHECK_EQ(a.offset, b.offset);
	CHECK_EQ(a.counter, b.counter);
	for (size_t i = 0; i < a.nr_args && i < b.nr_args; i++) {
		/* the kernel resolves %pd at once */
		if (!a.arg[i].name || (a.arg[i].type && a.arg[i].type[0] == '%'))
			continue;
		CHECK_STR(a.arg[i].name, or_none(b.arg[i].name));
		CHECK_STR(a.arg[i].fetch, b.arg[i].fetch);
		CHECK_STR(or_none(a.arg[i].type), or_none(b.arg[i].type));
	}
}

static void check_error(const char *text, const char *column, const char *why)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };

	if (!CHECK(tacho_probe_parse(&arena, text, &s, &d) == -EINVAL)) {
		printf("# %s: not '%s'\n", text, why);
		return;
	}
	CHECK_STR(d.text, why);
	if (!CHECK(d.offset == (uint64_t)atoll(column)))
		printf("# %s: %llu, not %s\n", text,
		       (unsigned long long)d.offset, column);
}

static void test_golden(void)
{
	char line[8192], *at, *column, *words;
	FILE *f = fopen(GOLDEN "/probe/specs-6.12", "r");
	int nr = 0;

	if (!CHECK(f))
		return;
	for (; fgets(line, sizeof(line), f); nr++) {
		line[strcspn(line, "\n")] = '\0';
		at = line;
		column = strsep(&at, "\t");
		words = strsep(&at, "\t");
		if (!CHECK(at))
			break;
		tacho_arena_release(&arena);
		tacho_arena_init(&arena, 1 << 20);
		if (!strcmp(column, "ok"))
			check_listing(at, words);
		else
			check_error(at, column, words);
	}
	fclose(f);
	CHECK(nr > 150);
}

/* Where the kernel is silent, or takes what cannot be meant. */
static void test_own_words(void)
{
	static const struct {
		const char *text, *column, *why;
	} t[] = {
		{ "", "0", "the text is empty" },
		{ "  ", "0", "the text is empty" },
		{ "q:g/e f", "0", "a probe begins with p, r, f, t or e, and its "
		  "removal with -" },
		{ "px:g/e /b:0x10", "1", "only ':' and a name, or a blank, may "
		  "follow this letter" },
		{ "p:g/e", "5", "where to probe is missing" },
		{ "p:g/e /bin/true", "15", "Invalid uprobe offset" },
		{ "p:g/e /bin/true:x", "16", "Invalid uprobe offset" },
		{ "r4:g/e /b:0x10", "7", "Maxactive is not for uprobe" },
		{ "r4x:g/e f", "1", "Invalid maxactive number" },
		{ "r08:g/e f", "1", "Invalid maxactive number" },
		{ "r0x:g/e f", "1", "Invalid maxactive number" },
		{ "r4097:g/e f", "1", "Maxactive is too big" },
		{ "r999999999999999:g/e f", "1", "Maxactive is too big" },
		{ "r0000000000000004:g/e f", "1", "Invalid maxactive number" },
		{ "p:g/e /b:0x10 a=+4(%sp)x", "23", "Invalid fetch argument" },
		{ "-", "1", "Event name is not specified" },
		{ "-:", "2", "Event name is not specified" },
		{ "-:g/", "4", "Event name is not specified" },
		{ "-:g/e f", "6", "nothing may follow a removal" },
		{ "p:g/e /b:0x10 # x", "14", "a line may hold no end of line and "
		  "no '#'" },
		{ "p:g/e a\nb", "7", "a line may hold no end of line and no '#'" },
		{ "e:g/e a.b if", "12", "No filter rule after 'if'" },
		{ "p:g/e /b:0x99999999999999999999", "9", "Invalid uprobe offset" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(t); i++)
		check_error(t[i].text, t[i].column, t[i].why);
}

static void test_fields(void)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };
	struct tacho_buf b;

	tacho_buf_init(&b, 65536);
	CHECK(!tacho_probe_parse(&arena, "r:grp/ev /a:b/c:0x12(0x34) x=$retval:s32 "
				 "+4(-8($stack2)):string", &s, &d));
	CHECK(s.kind == 'r' && s.on_return && s.place == TACHO_PROBE_FILE);
	CHECK_STR(s.target, "/a:b/c");
	CHECK_EQ(s.offset, 0x12);
	CHECK_EQ(s.counter, 0x34);
	CHECK_EQ(s.nr_args, 2);
	CHECK(!s.arg[1].name);
	CHECK_STR(s.arg[1].fetch, "+4(-8($stack2))");
	CHECK_STR(s.arg[1].type, "string");
	tacho_probe_write(&s, &b);
	CHECK_STR(tacho_buf_str(&b), "r:grp/ev /a:b/c:0x12(0x34) x=$retval:s32 "
		  "+4(-8($stack2)):string");

	CHECK(!tacho_probe_parse(&arena, "e:a/b c.d x=$y:u32  if  y > 3 && z ",
				 &s, &d));
	CHECK_STR(s.filter, "y > 3 && z");
	CHECK_STR(s.target_group, "c");
	CHECK_STR(s.target, "d");

	CHECK(!tacho_probe_parse(&arena, "r7:a/b mod:fn+0x10", &s, &d));
	CHECK_EQ(s.max_active, 7);
	CHECK(!tacho_probe_parse(&arena, "r0x1f:a/b mod:fn+0x10", &s, &d));
	CHECK_EQ(s.max_active, 31);
	CHECK(!tacho_probe_parse(&arena, "r010:a/b mod:fn+0x10", &s, &d));
	CHECK_EQ(s.max_active, 8);
	CHECK_STR(s.module, "mod");
	CHECK_EQ(s.offset, 16);

	CHECK(!tacho_probe_parse(&arena, "p:a/b 0xffffffff81000000", &s, &d));
	CHECK_EQ(s.place, TACHO_PROBE_ADDRESS);
	CHECK(!tacho_probe_parse(&arena, "-:a/b", &s, &d));
	CHECK_EQ(s.kind, '-');
	tacho_buf_release(&b);
}

static void test_limits(void)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };
	struct tacho_buf b;

	tacho_buf_init(&b, 65536);
	tacho_buf_puts(&b, "p:g/e /b:0x10");
	for (int i = 0; i < TACHO_PROBE_ARGS_MAX; i++)
		tacho_buf_puts(&b, " $stack");
	CHECK(!tacho_probe_parse(&arena, tacho_buf_str(&b), &s, &d));
	CHECK_EQ(s.nr_args, TACHO_PROBE_ARGS_MAX);
	tacho_buf_puts(&b, " $stack");
	CHECK_EQ(tacho_probe_parse(&arena, tacho_buf_str(&b), &s, &d), -EINVAL);
	CHECK_STR(d.text, "Too many arguments are specified");

	d = (struct tacho_diag){ 0 };
	while (b.len <= TACHO_PROBE_TEXT_MAX)
		tacho_buf_puts(&b, " ");
	CHECK_EQ(tacho_probe_parse(&arena, tacho_buf_str(&b), &s, &d), -E2BIG);
	tacho_buf_release(&b);
}

static void test_caret(void)
{
	struct tacho_diag d = { .offset = 3 };
	struct tacho_buf b;

	tacho_buf_init(&b, 4096);
	tacho_probe_caret("a\tbc", &d, &b);
	CHECK_STR(tacho_buf_str(&b), "  a\tbc\n   \t ^\n");
	tacho_buf_reset(&b);
	d.offset = TACHO_PROBE_NO_COLUMN;
	tacho_probe_caret("abc", &d, &b);
	CHECK_EQ(b.len, 0);
	tacho_buf_release(&b);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tacho_arena_init(&arena, 1 << 20);
#if defined(__x86_64__)
	test_golden();		/* it has that machine's registers */
#endif
	TEST(test_own_words());
	TEST(test_fields());
	TEST(test_limits());
	TEST(test_caret());
	tacho_arena_release(&arena);
	return test_done();
}
