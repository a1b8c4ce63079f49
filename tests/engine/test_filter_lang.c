// SPDX-License-Identifier: MIT
/* Filters: names, limits, memory, and what must not be looked at. */
#include "filter_type.h"
#include "filter_util.h"

#include <errno.h>

#include "base/bytes.h"

static struct tacho_arena arena;
static const struct tacho_type *type;
static unsigned int asked;	/* calls for strings in memory */

static bool constant(void *arg, const char *name, int64_t *value)
{
	(void)arg;
	*value = !strcmp(name, "MINUS") ? -1 : 3;
	return !strcmp(name, "MINUS") || !strcmp(name, "SOFT_IRQ");
}

static long no_string(void *arg, int32_t pid, uint64_t addr, char *to,
		      size_t size)
{
	(void)arg;
	(void)pid;
	(void)addr;
	(void)to;
	(void)size;
	asked++;
	return -1;
}

/* Longer than there is room for, as a careless host may say. */
static long long_string(void *arg, uint64_t addr, char *to, size_t size)
{
	(void)arg;
	(void)addr;
	memset(to, 'x', size);
	asked++;
	return (long)size + 100;
}

static const struct tacho_names names = {
	.constant = constant, .symbol = util_symbol,
	.find_symbol = util_find_symbol, .user_string = no_string,
	.kernel_string = long_string,
};
static const struct tacho_names none;

static struct tacho_filter *compile(const char *text, struct tacho_cmd_error *e)
{
	struct tacho_filter *f = NULL;

	memset(e, 0, sizeof(*e));
	(void)tacho_filter_compile(&f, &arena, type, text, 0, &names, e);
	return f;
}

static void put(unsigned char *raw, const char *name, uint64_t v)
{
	const struct tacho_field *f = tacho_type_field(type, name);

	memcpy(raw + f->offset, &v, f->size < 8 ? f->size : 8);
}

static void make(unsigned char raw[256])
{
	memset(raw, 0, 256);
	put(raw, "u8", 3);
	put(raw, "s16", (uint64_t)-1);
	put(raw, "yes", 1);
	put(raw, "ip", VFS_READ);
	put(raw, "addr", 0x0100007f);
	memcpy(raw + 64, "swapper/0", 10);
	memcpy(raw + 80, "abc", 3);
	memcpy(raw + 128, "tail", 5);
}

/* What a filter says of the event, and how often it had to look into memory. */
static void test_run(void)
{
	static const struct {
		const char *text;
		bool pass;
		unsigned int asked;
	} table[] = {
		{ "u8 == SOFT_IRQ", true, 0 }, { "u8 > SOFT_IRQ", false, 0 },
		{ "s16 == MINUS", true, 0 }, { "u8 == MINUS", false, 0 },
		{ "yes == true", true, 0 }, { "yes == false", false, 0 },
		{ "yes != false && u8 == SOFT_IRQ", true, 0 },
		{ "fix == swapper/0", true, 0 }, { "fix ~ swap*", true, 0 },
		{ "fix == swapper", false, 0 }, { "(fix==swapper/0)", true, 0 },
		{ "fix==swapper/0&&u8==3", true, 0 },
		{ "tight == abc", true, 0 }, { "tight == ab", false, 0 },
		{ "tight == abcd", true, 0 }, { "tight ~ \"*c\"", true, 0 },
		{ "tight ~ ?bc", true, 0 }, { "rest == tail", true, 0 },
		{ "rest ~ \"*il\"", true, 0 }, { "addr == 0x0100007f", true, 0 },
		{ "ip.function == vfs_read", true, 0 },
		{ "ip.function != vfs_read", false, 0 },
		{ "ip.function == 0xffffffff81234577", true, 0 },
		{ "cpu == 2", true, 0 }, { "common_cpu & CPUS{0-3}", true, 0 },
		{ "cpu != CPUS{2}", false, 0 }, { "CPU > -1", true, 0 },
		/* the memory cannot be read: no, whatever the operator */
		{ "ustr.ustring == \"x\"", false, 1 },
		{ "ustr.ustring != \"x\"", false, 1 },
		{ "!ustr.ustring != \"x\"", true, 1 },
		{ "kstr ~ \"*xx\"", true, 1 }, { "kstr == \"x\"", false, 1 },
		{ "comm != x", false, 0 },
		/* decided before */
		{ "u8 == 4 && kstr == \"x\"", false, 0 },
		{ "u8 == 3 || kstr == \"x\"", true, 0 },
		{ "(u8 == 3 || kstr == \"x\") && yes == 1", true, 0 },
		{ "(u8 == 4 && kstr == \"x\") || yes == 0", false, 0 },
		{ "!(u8 == 3 || kstr == \"x\") || yes == 1", true, 0 },
		{ "!(u8 == 4 && kstr == \"x\") && yes == 1", true, 0 },
		{ "u8 == 4 && kstr == \"x\" || kstr ~ \"x*\"", true, 1 },
	};
	unsigned char raw[256];
	struct tacho_rec rec = { .raw = raw, .len = 160, .cpu = 2,
				 .names = &names };

	make(raw);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_cmd_error e;
		struct tacho_filter *f = compile(table[i].text, &e);
		bool pass;

		test_check(f != NULL, __FILE__, __LINE__, "'%s': %s",
			   table[i].text, e.text);
		if (!f)
			continue;
		asked = 0;
		pass = tacho_filter_run(f, &rec);
		test_check(pass == table[i].pass && asked == table[i].asked,
			   __FILE__, __LINE__, "'%s' is %d, asked %u times",
			   table[i].text, pass, asked);
	}
}

/* A host that can say nothing. */
static void test_no_names(void)
{
	static const char *const texts[] = { "kstr != \"x\"", "ustr.ustring != x",
					     "comm != x", "cpu != 1" };
	unsigned char raw[256];
	struct tacho_rec rec = { .raw = raw, .len = 160, .cpu = UINT32_MAX,
				 .names = &none };

	make(raw);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(texts); i++) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_filter *f = NULL;

		CHECK(!tacho_filter_compile(&f, &arena, type, texts[i], 0, NULL,
					    &e));
		CHECK(f && !tacho_filter_run(f, &rec));
	}
}

static void test_errors(void)
{
	static const struct {
		const char *text, *error;
		uint32_t column;
	} table[] = {
		{ "u8 == UNKNOWN", "Invalid value (did you forget quotes)?", 7 },
		{ "u8 ~ SOFT_IRQ", "Illegal operation for field type", 6 },
		{ "u8 == true", "Invalid value (did you forget quotes)?", 7 },
		{ "fix > abc", "Invalid value (did you forget quotes)?", 7 },
		{ "fix == a\"b\"", "Invalid value (did you forget quotes)?", 8 },
		{ "fix == =a", "Invalid value (did you forget quotes)?", 8 },
		{ "real == 1", "Illegal operation for field type", 9 },
		{ "args == 1", "Illegal operation for field type", 9 },
		{ "ints == 1", "Illegal operation for field type", 9 },
		{ "ints & CPUS{1}", "Illegal operation for field type", 8 },
		{ "mask > 1", "Illegal operation for field type", 8 },
		{ "mask == 8192", "Illegal integer value", 9 },
		{ "mask & CPUS{0-8192}", "Invalid cpulist", 19 },
		{ "mask & CPUS{4294967296}", "Invalid cpulist", 23 },
		{ "addr.function == vfs_read", "Illegal operation for field type",
		  18 },
		{ "ip.function == nothing", "Function not found", 23 },
		{ "", "No filter found", 0 }, { "  ", "No filter found", 0 },
		{ "00", "Field not found", 3 },
		{ "u8 == 3 &&", "Meaningless filter expression", 10 },
		{ "u8 == 3 && == 4", "Missing field name and/or value", 11 },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_cmd_error e;
		struct tacho_filter *f = compile(table[i].text, &e);

		test_check(!f && e.err == -EINVAL &&
			   e.column == table[i].column, __FILE__, __LINE__,
			   "'%s': %d at %u", table[i].text, e.err, e.column);
		CHECK_STR(e.text, table[i].error);
	}
}

static void test_nothing(void)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_filter *f = (struct tacho_filter *)&e;
	struct tacho_buf b;

	CHECK(!compile("0", &e) && !e.err);
	CHECK(!compile(" 0\n", &e) && !e.err);
	CHECK(!tacho_filter_compile(&f, &arena, type, "0", 0, NULL, NULL) && !f);
	CHECK_EQ(tacho_filter_compile(&f, &arena, type, "u8 ==", 0, NULL, NULL),
		 -EINVAL);
	CHECK_EQ(tacho_filter_compile(&f, &arena, type, "u9 == 1", 100, NULL, &e),
		 -EINVAL);
	CHECK_EQ(e.column, 103);
	tacho_buf_init(&b, 64);
	CHECK(!tacho_filter_normal(type, " 0 ", NULL, &b, NULL));
	CHECK_STR(tacho_buf_str(&b), "0");
	tacho_buf_release(&b);
}

static void test_normal(void)
{
	static const char *const table[][2] = {
		{ "u8==0x3", "u8 == 0x3" },
		{ "((u8==3))&&( s8<1 )", "u8 == 3 && s8 < 1" },
		{ "u8==3&&(s8==1&&c==2)", "u8 == 3 && s8 == 1 && c == 2" },
		{ "(u8==3&&s8==1)||c==2", "u8 == 3 && s8 == 1 || c == 2" },
		{ "u8==3&&(s8==1||c==2)", "u8 == 3 && (s8 == 1 || c == 2)" },
		{ "!!u8==3", "u8 == 3" }, { "!(u8==3)", "!u8 == 3" },
		{ "!(!(u8==3||c==1))", "u8 == 3 || c == 1" },
		{ "!(u8==3&&c==1)||s8==1", "!(u8 == 3 && c == 1) || s8 == 1" },
		{ "u8 == SOFT_IRQ", "u8 == 3" }, { "s16==MINUS", "s16 == -1" },
		{ "u64 == MINUS", "u64 == 18446744073709551615" },
		{ "fix ~ a*", "fix ~ \"a*\"" }, { "fix=='a\"b'", "fix == 'a\"b'" },
		{ "ustr.ustring==x", "ustr.ustring == \"x\"" },
		{ "mask&CPUS{0-3}", "mask & CPUS{0-3}" },
		{ "ip.function == vfs_read && u8 == 3",
		  "ip.function == vfs_read && u8 == 3" },
		{ "!(u8 == 3 || ip.function == vfs_read )",
		  "!(u8 == 3 || ip.function == vfs_read )" },
		{ "(u8==3||!(c==1&&ip.function != vfs_read ))&&c==2",
		  "(u8 == 3 || !(c == 1 && ip.function != vfs_read )) && c == 2" },
	};
	struct tacho_buf b;

	tacho_buf_init(&b, 1 << 12);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		tacho_buf_reset(&b);
		CHECK(!tacho_filter_normal(type, table[i][0], &names, &b, NULL));
		CHECK_STR(tacho_buf_str(&b), table[i][1]);
	}
	tacho_buf_release(&b);
}

/* As many predicates as there may be, and one more. */
static void test_many(void)
{
	static const char term[] = "u8 == 4 || ";
	size_t n = TACHO_FILTER_PREDS_MAX, len = strlen(term);
	char *text = malloc((n + 1) * len + 1);
	unsigned char raw[256];
	struct tacho_rec rec = { .raw = raw, .len = 160, .names = &none };
	struct tacho_cmd_error e;
	struct tacho_filter *f;

	make(raw);
	for (size_t i = 0; i <= n; i++)
		memcpy(text + i * len, term, len + 1);
	text[n * len - 4] = '\0';
	text[n * len - 5] = '3';
	f = compile(text, &e);
	CHECK(f && tacho_filter_verify(f, tacho_filter_size(f)) &&
	      tacho_filter_run(f, &rec));
	text[n * len - 4] = ' ';
	text[(n + 1) * len - 4] = '\0';
	CHECK(!compile(text, &e));
	CHECK_STR(e.text, "Too many terms in predicate expression");
	CHECK_EQ(e.column, n * len);
	free(text);
}

/* Depth costs memory, not stack. */
static void test_deep(void)
{
	size_t n = 200000;
	char *text = malloc(3 * n + 16);
	unsigned char raw[256];
	struct tacho_rec rec = { .raw = raw, .len = 160, .names = &none };
	struct tacho_cmd_error e;
	struct tacho_filter *f;
	char *s = text;

	make(raw);
	for (size_t i = 0; i < n; i++) {
		*s++ = '!';
		*s++ = '(';
	}
	s = stpcpy(s, "u8 == 3");
	memset(s, ')', n);
	s[n] = '\0';
	f = compile(text, &e);
	CHECK(f && tacho_filter_run(f, &rec));
	s[n - 1] = '\0';
	CHECK(!compile(text, &e));
	CHECK_EQ(e.column, 1);
	free(text);
}

/* Every allocation fails once. */
static void test_memory(void)
{
	static const char text[] = "mask & CPUS{0-3} && ip.function == vfs_read && "
				   "(mask == 5 || fix ~ \"*abcabc*\")";
	bool done = false;

	for (size_t cap = 0; !done && cap < 1 << 16; cap += 16) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_filter *f = NULL;
		struct tacho_arena a;
		int err;

		tacho_arena_init(&a, cap);
		err = tacho_filter_compile(&f, &a, type, text, 0, &names, &e);
		done = !err;
		CHECK(done ? f != NULL : !f && err == -ENOMEM && e.err == err);
		tacho_arena_release(&a);
	}
	CHECK(done);
}

/* Blobs that verify must refuse. */
static void test_verify(void)
{
	struct tacho_cmd_error e;
	const struct tacho_filter *f = compile("u8 == 3 && fix == \"abc\"", &e);
	size_t size = tacho_filter_size(f);
	uint64_t copy[32];

	memcpy(copy, f, size);
	CHECK(tacho_filter_verify(copy, size));
	for (size_t len = 0; len < size; len++)
		CHECK(!tacho_filter_verify(copy, len));
	CHECK(!tacho_filter_verify(copy, size + 8));
	((unsigned char *)copy)[16 + 2] = 0;	/* a jump to itself */
	CHECK(!tacho_filter_verify(copy, size));
	((unsigned char *)copy)[16 + 2] = 4;	/* behind the end */
	CHECK(!tacho_filter_verify(copy, size));
	memcpy(copy, f, size);
	((unsigned char *)copy)[16] = 0xff;	/* no such opcode */
	CHECK(!tacho_filter_verify(copy, size));
	memcpy(copy, f, size);
	((unsigned char *)copy)[12] = 8;	/* less needed than is read */
	CHECK(!tacho_filter_verify(copy, size));
}

/* Which filters a kernel may run for us. */
static void test_offload(void)
{
	static const struct {
		const char *text;
		enum tacho_filter_offload offload;
	} table[] = {
		{ "u8 == 1", TACHO_FILTER_SAME },
		{ "s32 >= -1 && !(u64 & 0x10)", TACHO_FILTER_SAME },
		{ "u32 == SOFT_IRQ", TACHO_FILTER_SAME },
		{ "yes == true", TACHO_FILTER_SAME },
		{ "cpu == 3 || cpu & CPUS{0-3}", TACHO_FILTER_SAME },
		{ "ip.function == vfs_read", TACHO_FILTER_SAME },
		{ "fix == swapper", TACHO_FILTER_SAME },
		{ "fix ~ \"swap*\"", TACHO_FILTER_SAME },
		{ "dyn ~ \"*a*\" && rel ~ \"a*b\"", TACHO_FILTER_SAME },
		{ "ustr.ustring == \"/tmp\"", TACHO_FILTER_KERNEL_ONLY },
		{ "kstr == \"x\" && u8 == 1", TACHO_FILTER_KERNEL_ONLY },
		{ "comm == bash", TACHO_FILTER_KERNEL_ONLY },
		{ "comm ~ \"ba*\"", TACHO_FILTER_KERNEL_ONLY },
		/* what the kernel answers otherwise */
		{ "fix ~ \"*0\"", TACHO_FILTER_LOCAL },
		{ "comm ~ \"*sh\"", TACHO_FILTER_LOCAL },
		{ "comm ~ \"*sh*\"", TACHO_FILTER_LOCAL },
		{ "dyn ~ \"1*\"", TACHO_FILTER_LOCAL },
		{ "dyn ~ \"a[!b]\"", TACHO_FILTER_LOCAL },
		{ "u64 & CPUS{0-1}", TACHO_FILTER_LOCAL },
		{ "u8 == 1 || s32 != CPUS{0-1}", TACHO_FILTER_LOCAL },
		{ "mask == CPUS{3}", TACHO_FILTER_LOCAL },
		{ "mask & 3", TACHO_FILTER_LOCAL },
		{ "rest == tail", TACHO_FILTER_LOCAL },
		/* one of it, and one of ours */
		{ "comm == bash && s32 & CPUS{1}", TACHO_FILTER_LOCAL },
		{ "s32 & CPUS{1} || comm == bash", TACHO_FILTER_LOCAL },
		{ "nope == 1", TACHO_FILTER_LOCAL },
		{ "u8 ==", TACHO_FILTER_LOCAL },
		{ "0", TACHO_FILTER_LOCAL },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		test_check(tacho_filter_offload(type, table[i].text, &names) ==
			   table[i].offload, __FILE__, __LINE__, "%s", table[i].text);
}

int main(int argc, char **argv)
{
	struct tacho_diag d = { .err = 0 };

	test_args(argc, argv);
	tacho_arena_init(&arena, (size_t)1 << 28);
	type = tacho_type_parse(&arena, "test", NULL, 0, filter_type_text,
				sizeof(filter_type_text) - 1, &d);
	test_check(type != NULL, __FILE__, __LINE__, "%s", d.text);
	TEST(test_run());
	TEST(test_no_names());
	TEST(test_errors());
	TEST(test_nothing());
	TEST(test_normal());
	TEST(test_offload());
	TEST(test_many());
	TEST(test_deep());
	TEST(test_memory());
	TEST(test_verify());
	tacho_arena_release(&arena);
	return test_done();
}
