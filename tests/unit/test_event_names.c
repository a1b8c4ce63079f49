// SPDX-License-Identifier: MIT
/* Names of values, found in print formats. */
#include <string.h>

#include "event/value_names.h"
#include "test.h"

#define FORMAT									\
	TACHO_COMMON_FIELDS							\
	"\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n"		\
	"\tfield:u8 kind;\toffset:16;\tsize:1;\tsigned:0;\n"			\
	"\tfield:unsigned int gfp;\toffset:20;\tsize:4;\tsigned:0;\n"		\
	"\tfield:u16 port;\toffset:24;\tsize:2;\tsigned:0;\n"			\
	"\tfield:int list[2];\toffset:28;\tsize:8;\tsigned:1;\n"		\
	"\tfield:int plain;\toffset:36;\tsize:4;\tsigned:1;\n\n"		\
	"print fmt: \"%s %s %s %s %s %d\", "					\
	"REC->prev_state & 0xff ? __print_flags(REC->prev_state & 0xff, \"|\", "	\
	"{ 0x1, \"S\" }, { 0x2, \"D\" }) : \"R\", "				\
	"__print_symbolic((unsigned char)REC->kind, { 0, \"none\" }, { 7, \"seven\" }), " \
	"__print_flags(REC->gfp, \"|\", { 0x10, \"IO\" }, { 0x40, \"FS\" }, { 0x50, \"\" }), " \
	"__print_symbolic(htons(REC->port), { 80, \"http\" }), "	\
	"__print_symbolic(REC->list[0], { 1, \"one\" }), REC->plain\n"

static const struct {
	const char *field;
	uint32_t nr;
	bool flags;
	uint64_t mask;
	const char *text;	/* "value=name ..." */
} want[] = {
	{ "prev_state", 2, true, 0xff, "1=S 2=D " },
	{ "kind", 2, false, UINT64_MAX, "0=none 7=seven " },
	{ "gfp", 3, true, UINT64_MAX, "16=IO 64=FS 80= " },
	{ "port", 0, false, UINT64_MAX, "" },
	{ "list", 0, false, UINT64_MAX, "" },
	{ "plain", 0, false, UINT64_MAX, "" },
	{ "common_pid", 0, false, UINT64_MAX, "" },
};

static void test_names(const struct tacho_type *type)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(want); i++) {
		const struct tacho_field *f = tacho_type_field(type, want[i].field);
		struct tacho_name_table names;
		char text[256] = "";
		size_t at = 0;

		if (!CHECK(f != NULL))
			continue;
		tacho_name_table_find(type, f, &names);
		CHECK_EQ(names.nr, want[i].nr);
		CHECK_EQ(names.flags, want[i].flags);
		CHECK_EQ(names.mask, want[i].mask);
		for (uint32_t n = 0; n < names.nr; n++) {
			const char *name;
			uint64_t value;
			size_t len;

			name = tacho_name_table_at(&names, n, &value, &len);
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%ju=%.*s ",
					       (uintmax_t)value, (int)len, name);
		}
		CHECK_STR(text, want[i].text);
	}
}

static void test_no_format(struct tacho_arena *arena)
{
	static const char format[] = TACHO_COMMON_FIELDS
		"\tfield:u8 kind;\toffset:8;\tsize:1;\tsigned:0;\n\n"
		"print fmt: \"%s\", unknown(REC->kind)\n";
	const struct tacho_type *type;
	struct tacho_name_table names;

	type = tacho_type_parse(arena, "a", "b", 2, format, sizeof(format) - 1, NULL);
	if (!CHECK(type != NULL))
		return;
	tacho_name_table_find(type, tacho_type_field(type, "kind"), &names);
	CHECK_EQ(names.nr, 0);
}

int main(int argc, char **argv)
{
	struct tacho_diag d = { 0 };
	const struct tacho_type *type;
	struct tacho_arena arena;

	test_args(argc, argv);
	tacho_arena_init(&arena, 1 << 20);
	type = tacho_type_parse(&arena, "sched", "sample", 1, FORMAT, sizeof(FORMAT) - 1, &d);
	if (CHECK(type != NULL))
		TEST(test_names(type));
	TEST(test_no_format(&arena));
	tacho_arena_release(&arena);
	return test_done();
}
