// SPDX-License-Identifier: MIT
/* Fields out of declarations, values out of bytes, and the fixpoint over every format at hand. */
#include "test.h"

#include <errno.h>

#include "event_util.h"

#define HEAD "name: x\nID: 7\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void test_declarations(void)
{
	static const struct {
		const char *decl;
		uint32_t size;
		int is_signed;		/* -1: not written */
		const char *name, *elem;
		enum tacho_field_kind kind;
		uint32_t flags, elem_size, count;
	} table[] = {
		{ "int a", 4, 1, "a", "int", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_SIGNED, 4, 0 },
		{ "int a", 4, -1, "a", "int", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_SIGNED, 4, 0 },
		{ "unsigned int fd", 8, 0, "fd", "unsigned int",
		  TACHO_FIELD_SCALAR, 0, 8, 0 },
		{ "long l", 4, 1, "l", "long", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_SIGNED, 4, 0 },
		{ "bool b", 1, 0, "b", "bool", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_BOOL, 1, 0 },
		{ "enum zone_type z", 4, 0, "z", "enum zone_type",
		  TACHO_FIELD_SCALAR, 0, 4, 0 },
		{ "const char * s", 8, 0, "s", "const char *",
		  TACHO_FIELD_SCALAR, TACHO_FIELD_POINTER, 8, 0 },
		{ "const char *const *argv", 8, 0, "argv",
		  "const char *const *", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_POINTER, 8, 0 },
		{ "struct foo * p", 8, 0, "p", "struct foo *",
		  TACHO_FIELD_SCALAR, TACHO_FIELD_POINTER, 8, 0 },
		{ "char comm[16]", 16, 0, "comm", "char", TACHO_FIELD_ARRAY,
		  TACHO_FIELD_STRING, 1, 16 },
		{ "char comm[TASK_COMM_LEN]", 16, 1, "comm", "char",
		  TACHO_FIELD_ARRAY, TACHO_FIELD_STRING | TACHO_FIELD_SIGNED,
		  1, 16 },
		{ "unsigned char mac[6]", 6, 0, "mac", "unsigned char",
		  TACHO_FIELD_ARRAY, 0, 1, 6 },
		{ "unsigned long args[6]", 48, 0, "args", "unsigned long",
		  TACHO_FIELD_ARRAY, 0, 8, 6 },
		{ "unsigned long args[6]", 24, 0, "args", "unsigned long",
		  TACHO_FIELD_ARRAY, 0, 4, 6 },
		{ "u32 m[2][3]", 24, 0, "m", "u32", TACHO_FIELD_ARRAY, 0, 4, 6 },
		{ "__data_loc char[] s", 4, 0, "s", "char",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_STRING, 1, 0 },
		{ "__data_loc char[] s", 8, 1, "s", "char",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_STRING | TACHO_FIELD_SIGNED, 1, 0 },
		{ "__rel_loc char[] s", 4, 0, "s", "char", TACHO_FIELD_REL_LOC,
		  TACHO_FIELD_STRING, 1, 0 },
		{ "__data_loc unsigned long[] m", 4, 0, "m", "unsigned long",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_BITMASK, 8, 0 },
		{ "__data_loc cpumask_t m", 4, 0, "m", "cpumask_t",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_BITMASK, 8, 0 },
		{ "__data_loc cpumask_t[] m", 4, 0, "m", "cpumask_t",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_BITMASK, 8, 0 },
		{ "__data_loc u64[] v", 4, 0, "v", "u64", TACHO_FIELD_DATA_LOC,
		  0, 8, 0 },
		{ "__data_loc int[] v", 4, 1, "v", "int", TACHO_FIELD_DATA_LOC,
		  TACHO_FIELD_SIGNED, 4, 0 },
		{ "struct foo f", 12, 0, "f", "struct foo", TACHO_FIELD_OPAQUE,
		  0, 12, 1 },
		{ "struct foo f[2]", 24, 0, "f", "struct foo",
		  TACHO_FIELD_OPAQUE, 0, 12, 2 },
		{ "u128 v", 16, 0, "v", "u128", TACHO_FIELD_OPAQUE, 0, 16, 1 },
		{ "char buf[]", 0, 0, "buf", "char", TACHO_FIELD_FLEX,
		  TACHO_FIELD_STRING, 1, 0 },
		{ "double d", 8, 0, "d", "double", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_FLOAT, 8, 0 },
		{ "const volatile float f", 4, 1, "f", "const volatile float",
		  TACHO_FIELD_SCALAR, TACHO_FIELD_FLOAT | TACHO_FIELD_SIGNED,
		  4, 0 },
		{ "float v[3]", 12, 0, "v", "float", TACHO_FIELD_ARRAY,
		  TACHO_FIELD_FLOAT, 4, 3 },
		{ "double v[]", 0, 0, "v", "double", TACHO_FIELD_FLEX,
		  TACHO_FIELD_FLOAT, 8, 0 },
		{ "__data_loc double[] v", 4, 0, "v", "double",
		  TACHO_FIELD_DATA_LOC, TACHO_FIELD_FLOAT, 8, 0 },
		{ "__rel_loc float[] v", 4, 0, "v", "float",
		  TACHO_FIELD_REL_LOC, TACHO_FIELD_FLOAT, 4, 0 },
		{ "double * p", 8, 0, "p", "double *", TACHO_FIELD_SCALAR,
		  TACHO_FIELD_POINTER, 8, 0 },
		{ "double d", 2, 0, "d", "double", TACHO_FIELD_OPAQUE, 0, 2, 1 },
		{ "long double d", 16, 0, "d", "long double",
		  TACHO_FIELD_OPAQUE, 0, 16, 1 },
		{ "u32 buf[0]", 0, 0, "buf", "u32", TACHO_FIELD_FLEX, 0, 4, 0 },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		const struct tacho_field *f;
		struct tacho_diag d = { .err = 0 };
		struct tacho_arena a;
		struct tacho_type *t;
		char sign[32] = "", text[1024];

		if (table[i].is_signed >= 0)
			snprintf(sign, sizeof(sign), "\tsigned:%d;",
				 table[i].is_signed);
		snprintf(text, sizeof(text),
			 HEAD "\tfield:%s;\toffset:8;\tsize:%u;%s\n"
			 "\nprint fmt: \"\"\n", table[i].decl, table[i].size,
			 sign);
		tacho_arena_init(&a, 1 << 20);
		t = type_of(&a, text, strlen(text), &d);
		if (!test_check(t != NULL, __FILE__, __LINE__, "%s: %s",
				table[i].decl, d.text))
			continue;
		f = tacho_type_field(t, table[i].name);
		CHECK_EQ(t->nr_common, 4);
		CHECK_EQ(t->id, 7);
		if (CHECK(f != NULL)) {
			CHECK_STR(f->elem, table[i].elem);
			CHECK_STR(f->decl, table[i].decl);
			test_check(f->kind == table[i].kind &&
				   f->flags == table[i].flags &&
				   f->elem_size == table[i].elem_size &&
				   f->count == table[i].count && f->index == 4,
				   __FILE__, __LINE__,
				   "%s: kind %d flags %u element %u count %u",
				   table[i].decl, (int)f->kind, f->flags,
				   f->elem_size, f->count);
		}
		tacho_arena_release(&a);
	}
}

/* '^' marks where the error must be. */
static void test_refused(void)
{
	static const char *const table[] = {
		"^",
		"name: x\nID: ^abc\n",
		"name: x\nID: ^99999999999\n",
		"ID: 1\nname:^ \n",
		"name: x\nID: 1\n^what is this\n",
		"name: x\nID: 1\n\tfield:^int a\n",
		"name: x\nID: 1\n\tfield:int a;\t^offset:0;\n",
		"name: x\nID: 1\n\tfield:int a;\t^size:4;\n",
		"name: x\nID: 1\n\tfield:int a;\t^offset:65519;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\t^offset:-1;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:0;\tsize:4;\t^signed:2;\n",
		"name: x\nID: 1\n\tfield:^int;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:^int a];\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:^[4];\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:^__data_loc char[] a;\toffset:0;\tsize:16;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n"
		"\tfield:^int b;\toffset:3;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:u64 a;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield:^u64 b;\toffset:4;\tsize:8;\tsigned:1;\n",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		const char *mark = strchr(table[i], '^');
		struct tacho_diag d = { .err = 0 };
		struct tacho_arena a;
		char text[1024];

		snprintf(text, sizeof(text), "%.*s%s", (int)(mark - table[i]),
			 table[i], mark + 1);
		tacho_arena_init(&a, 1 << 20);
		CHECK(!type_of(&a, text, strlen(text), &d));
		test_check(d.err == -EINVAL && d.text[0] &&
			   d.offset == (uint64_t)(mark - table[i]),
			   __FILE__, __LINE__, "%s\n# offset %u err %d: %s",
			   table[i], (unsigned int)d.offset, d.err, d.text);
		tacho_arena_release(&a);
	}
}

/* A caller's name and id win; the text needs neither then. */
static void test_given_name(void)
{
	static const char bare[] = "format:\n\tfield:int a;\toffset:8;\tsize:4;\n";
	static const char full[] = HEAD "print fmt: \"%d\", REC->a\n";
	struct tacho_arena a;
	struct tacho_type *t;

	tacho_arena_init(&a, 1 << 20);
	t = tacho_type_parse(&a, "s", "mine", 9, bare, strlen(bare), NULL);
	if (CHECK(t != NULL)) {
		CHECK_STR(t->name, "mine");
		CHECK_STR(t->system, "s");
		CHECK_STR(t->print_fmt, "");
		CHECK_EQ(t->id, 9);
		CHECK_EQ(t->fixed_size, 12);
		CHECK_EQ(t->nr_common, 0);
		CHECK(!t->print);
	}
	t = tacho_type_parse(&a, "s", "mine", 9, full, strlen(full), NULL);
	if (CHECK(t != NULL)) {
		CHECK_STR(t->name, "mine");
		CHECK_EQ(t->id, 9);
		CHECK_STR(t->print_fmt, "\"%d\", REC->a");
	}
	tacho_arena_release(&a);
}

static void test_many_fields(void)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_arena a;
	struct tacho_buf b;

	for (unsigned int n = 1024; n <= 1025; n++) {
		tacho_arena_init(&a, 1 << 22);
		tacho_buf_init(&b, 1 << 20);
		tacho_buf_puts(&b, "name: x\nID: 1\n");
		for (unsigned int i = 0; i < n; i++)
			tacho_buf_printf(&b, "\tfield:u8 f%u;\toffset:%u;"
					 "\tsize:1;\tsigned:0;\n", i, i);
		CHECK_EQ(!!type_of(&a, b.data, b.len, &d), n == 1024);
		tacho_buf_release(&b);
		tacho_arena_release(&a);
	}
}

/* name: decl of one field at offset 8, bytes of the event, text or absent */
static void test_values(void)
{
	static const struct {
		const char *decl;
		uint32_t size;
		int is_signed;
		const char *bytes;	/* from offset 8 on */
		size_t len;
		const char *text;
	} table[] = {
		{ "int a", 4, 1, "\xff\xff\xff\xff", 4, "-1" },
		{ "int a", 4, 0, "\xff\xff\xff\xff", 4, "4294967295" },
		{ "int a", 4, 0, "\xff\xff\xff", 3, "(absent)" },
		{ "s8 a", 1, 1, "\x80", 1, "-128" },
		{ "u64 a", 8, 0, "\1\0\0\0\0\0\0\x80", 8, "9223372036854775809" },
		{ "void * p", 8, 0, "\x10\x32\0\0\0\0\0\0", 8, "0x3210" },
		{ "char c[4]", 4, 0, "ab\0c", 4, "ab" },
		{ "char c[4]", 4, 0, "a\n\1\\", 4, "a\\n\\x01\\\\" },
		{ "char c[4]", 4, 0, "abcd", 4, "abcd" },
		{ "u8 c[3]", 3, 0, "\1\2\xff", 3, "{1,2,255}" },
		{ "s16 c[2]", 4, 1, "\1\0\xff\xff", 4, "{1,-1}" },
		{ "struct x s", 3, 0, "\1\2\xff", 3, "0102ff" },
		{ "char c[]", 0, 0, "", 0, "" },
		{ "char c[]", 0, 0, "hi", 2, "hi" },
		{ "__data_loc char[] s", 4, 0, "\x0c\0\2\0hi", 6, "hi" },
		{ "__data_loc char[] s", 4, 0, "\x0c\0\3\0hi", 6, "(absent)" },
		{ "__data_loc char[] s", 4, 0, "\x0f\0\0\0hi", 6, "(absent)" },
		{ "__data_loc char[] s", 4, 0, "\x0c\0\2", 3, "(absent)" },
		{ "__rel_loc char[] s", 4, 0, "\0\0\2\0hi", 6, "hi" },
		{ "__rel_loc char[] s", 4, 0, "\xff\xff\2\0hi", 6, "(absent)" },
		{ "__data_loc u16[] s", 4, 0, "\x0c\0\4\0\1\0\2\0", 8, "{1,2}" },
		{ "double d", 8, 0, "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8, "0.1" },
		{ "double d", 8, 1, "\x9a\x99\x99\x99\x99\x99\xb9\xbf", 8, "-0.1" },
		{ "double d", 8, 0, "\x34\x33\x33\x33\x33\x33\xd3\x3f", 8,
		  "0.30000000000000004" },
		{ "double d", 8, 0, "\x9c\x75\0\x88\x3c\xe4\x37\x7e", 8, "1e+300" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\xf0\x7f", 8, "inf" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\xf0\xff", 8, "-inf" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\xf8\x7f", 8, "nan" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\0\x80", 8, "-0" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\x14\x40", 8, "5" },
		{ "double d", 8, 0, "\0\0\0\0\0\0\x14", 7, "(absent)" },
		{ "float f", 4, 0, "\xcd\xcc\xcc\x3d", 4, "0.1" },
		{ "float f", 4, 1, "\xc5\xcc\xcc\xbd", 4, "-0.09999994" },
		{ "float f[2]", 8, 0, "\0\0\x80\x3e\0\0\0\xc0", 8, "{0.25,-2}" },
		{ "__data_loc double[] v", 4, 0,
		  "\x0c\0\x08\0\0\0\0\0\0\0\xf8\x3f", 12, "{1.5}" },
		{ "__data_loc cpumask_t m", 4, 0,
		  "\x0c\0\x08\0\5\0\0\0\1\0\0\0", 12, "00000001,00000005" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		unsigned char *raw = calloc(1, 8 + table[i].len);
		struct tacho_diag d = { .err = 0 };
		struct tacho_arena a;
		struct tacho_buf out;
		struct tacho_type *t;
		char text[1024];

		snprintf(text, sizeof(text),
			 HEAD "\tfield:%s;\toffset:8;\tsize:%u;\tsigned:%d;\n"
			 "\nprint fmt: \"\"\n", table[i].decl, table[i].size,
			 table[i].is_signed);
		tacho_arena_init(&a, 1 << 20);
		tacho_buf_init(&out, 4096);
		if (table[i].len)
			memcpy(raw + 8, table[i].bytes, table[i].len);
		t = type_of(&a, text, strlen(text), &d);
		if (CHECK(t && t->nr_fields == 5)) {
			tacho_field_print(&t->fields[4], raw, 8 + table[i].len,
					  &out);
			CHECK_STR(tacho_buf_str(&out), table[i].text);
			for (size_t n = 0; n <= 8 + table[i].len; n++)
				tacho_print_fields(t, raw, n, &out);
		}
		free(raw);
		tacho_buf_release(&out);
		tacho_arena_release(&a);
	}
}

/* Each accessor answers for its own kind of number, within the bytes. */
static void test_numbers(void)
{
	static const char text[] = HEAD
		"\tfield:double d;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:float f;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:int i;\toffset:20;\tsize:4;\tsigned:1;\n"
		"\tfield:float v[1];\toffset:24;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"\"\n";
	const double d = -0.1;
	const float f = 0.1f;
	unsigned char raw[28] = { 0 };
	struct tacho_arena a;
	struct tacho_type *t;
	uint64_t n = 7;
	double v = 7;

	memcpy(raw + 8, &d, 8);
	memcpy(raw + 16, &f, 4);
	raw[20] = 3;
	memcpy(raw + 24, &f, 4);
	tacho_arena_init(&a, 1 << 20);
	t = type_of(&a, text, strlen(text), NULL);
	if (CHECK(t && t->nr_fields == 8)) {
		const struct tacho_field *g = t->fields + 4;

		CHECK(!tacho_field_int(&g[0], raw, 28, &n));
		CHECK(!tacho_field_int(&g[1], raw, 28, &n));
		CHECK(!tacho_field_double(&g[2], raw, 28, &v));
		CHECK(!tacho_field_double(&g[3], raw, 28, &v));
		CHECK(!tacho_field_double(&g[0], raw, 15, &v));
		CHECK(!tacho_field_double(&g[1], raw, 19, &v));
		CHECK_EQ(n, 7);
		CHECK(v == 7);
		CHECK(tacho_field_double(&g[0], raw, 16, &v) && v == d);
		CHECK(tacho_field_double(&g[1], raw, 20, &v) &&
		      v == (double)f);
		CHECK(tacho_field_int(&g[2], raw, 24, &n) && n == 3);
	}
	tacho_arena_release(&a);
}

static bool same_type(const struct tacho_type *a, const struct tacho_type *b)
{
	if (strcmp(a->name, b->name) || a->id != b->id ||
	    a->nr_fields != b->nr_fields || a->nr_common != b->nr_common ||
	    a->fixed_size != b->fixed_size || a->nr_dynamic != b->nr_dynamic ||
	    strcmp(a->print_fmt, b->print_fmt))
		return false;
	for (uint32_t i = 0; i < a->nr_fields; i++) {
		const struct tacho_field *f = &a->fields[i], *g = &b->fields[i];

		if (strcmp(f->decl, g->decl) || strcmp(f->name, g->name) ||
		    f->kind != g->kind || f->flags != g->flags ||
		    f->offset != g->offset || f->size != g->size ||
		    f->elem_size != g->elem_size || f->count != g->count)
			return false;
	}
	return true;
}

/* The kernel's own text must come back byte for byte. */
static void fixpoint(const char *path, struct tacho_buf *text)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_type *t, *again = NULL;
	struct tacho_arena a;
	struct tacho_buf out;

	tacho_arena_init(&a, 1 << 22);
	tacho_buf_init(&out, 1 << 20);
	t = type_of(&a, text->data, text->len, &d);
	if (t) {
		tacho_type_write(t, true, &out);
		again = type_of(&a, out.data, out.len, &d);
	}
	test_check(t && again && same_type(t, again), __FILE__, __LINE__,
		   "%s: at %u: %s", path, (unsigned int)d.offset, d.text);
	test_check(out.len == text->len && !memcmp(out.data, text->data, out.len),
		   __FILE__, __LINE__, "%s: written as\n%.*s", path,
		   (int)out.len, out.data ? out.data : "");
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

/* The same fields, and nothing of the print format, in memory of fixed size. */
static void test_fields_only(void)
{
	static _Alignas(64) unsigned char mem[8192];
	static const char text[] = "format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:__data_loc char[] a;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:int b;\toffset:12;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->b\n";
	struct tacho_arena a;
	const struct tacho_type *t;

	tacho_arena_init_mem(&a, mem, sizeof(mem));
	t = tacho_type_parse_fields(&a, "sys", "ev", 7, text, sizeof(text) - 1, NULL);
	if (!CHECK(t != NULL))
		return;
	CHECK_EQ(t->nr_fields, 3);
	CHECK_EQ(t->nr_common, 1);
	CHECK_EQ(t->nr_dynamic, 1);
	CHECK_EQ(t->id, 7);
	CHECK(!strcmp(t->fields[2].name, "b") && t->fields[2].offset == 12);
	CHECK(!t->print && !*t->print_fmt);
	/* without room: no type, and no harm */
	for (size_t size = 0; size < tacho_arena_mem_used(&a); size += 8) {
		static _Alignas(64) unsigned char less[8192];
		struct tacho_arena b;

		memset(less, 0, sizeof(less));
		tacho_arena_init_mem(&b, less, size);
		CHECK(!tacho_type_parse_fields(&b, "sys", "ev", 7, text,
					       sizeof(text) - 1, NULL));
	}
}

static void test_golden(void)
{
	CHECK(each_file(GOLDEN "/event/*.format", fixpoint) > 0);
}

static void test_live(void)
{
	size_t live = 0;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(live_formats) && !live; i++)
		live = each_file(live_formats[i], fixpoint);
	if (!live)
		TEST_SKIP("no tracefs, or not allowed");
	printf("# %zu live formats\n", live);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_declarations());
	TEST(test_refused());
	TEST(test_given_name());
	TEST(test_many_fields());
	TEST(test_fields_only());
	TEST(test_values());
	TEST(test_numbers());
	TEST(test_golden());
	TEST(test_live());
	return test_done();
}
