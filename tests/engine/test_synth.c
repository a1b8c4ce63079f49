// SPDX-License-Identifier: MIT
/*
 * Definitions of synthetic events against what kernel 6.12 answered
 * (tests/golden/synth, made by tools/golden-synth.sh), and raw events.
 */
#include "unit/test.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/synth.h"

struct golden {
	char *text;
	char *at;
};

static char *read_all(const char *path)
{
	struct tacho_buf b;
	char *s = NULL;

	tacho_buf_init(&b, 4 << 20);
	if (!tacho_buf_read_file(&b, path))
		s = strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	return s;
}

/* The next line, its newline cut off; NULL at the end. */
static char *next_line(struct golden *g)
{
	char *line = g->at, *nl;

	if (!line || !*line)
		return NULL;
	nl = strchr(line, '\n');
	if (nl)
		*nl = '\0';
	g->at = nl ? nl + 1 : line + strlen(line);
	return line;
}

/* What the kernel said to one command. */
struct answer {
	const char *result;
	struct tacho_buf files;		/* the lines behind "| " */
	struct tacho_buf errors;	/* the lines behind "! " */
};

static void read_answer(struct golden *g, struct answer *a)
{
	a->result = "";
	tacho_buf_reset(&a->files);
	tacho_buf_reset(&a->errors);
	while (g->at && *g->at && *g->at != '>') {
		char *line = next_line(g);
		struct tacho_buf *to = *line == '|' ? &a->files : &a->errors;

		if (*line == '=') {
			a->result = line + 2;
			continue;
		}
		tacho_buf_puts(to, line[1] ? line + 2 : "");
		tacho_buf_putc(to, '\n');
	}
}

/* The blank line that the kernel has behind the common fields is not looked at. */
static const char *no_blank_lines(struct tacho_buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] != '\n' || !to || b->data[to - 1] != '\n')
			b->data[to++] = b->data[i];
	b->len = to;
	return tacho_buf_str(b);
}

static void check_good(const struct tacho_synth *synth, struct answer *a)
{
	struct tacho_buf out;
	const char *want = no_blank_lines(&a->files);

	tacho_buf_init(&out, 1 << 20);
	tacho_synth_print(synth, &out);
	tacho_buf_putc(&out, '\n');
	/* the script finds no format for a name behind blanks */
	if (strstr(want, "format:"))
		tacho_type_write(synth->type, true, &out);
	CHECK_STR(no_blank_lines(&out), want);
	CHECK(synth->type->print != NULL);
	tacho_buf_release(&out);
}

static void check_bad(const char *text, const struct tacho_cmd_error *e,
		      struct answer *a)
{
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 20);
	while (*text == ' ')
		text++;
	tacho_buf_printf(&out, "[T] synthetic_events: error: %s\n"
			 "  Command: %s\n           %*s^\n", e->text, text,
			 (int)e->column, "");
	CHECK_STR(tacho_buf_str(&out), tacho_buf_str(&a->errors));
	CHECK_STR(a->result, "Invalid argument");
	CHECK_EQ(e->err, -EINVAL);
	tacho_buf_release(&out);
}

/* Each definition alone; those that need others are test_engine's. */
static void test_golden(void)
{
	struct golden g = { .text = read_all(GOLDEN "/synth/kernel") };
	struct answer a;
	int good = 0, bad = 0;
	char *line;

	g.at = g.text;
	if (!CHECK(g.text != NULL))
		return;
	tacho_buf_init(&a.files, 1 << 20);
	tacho_buf_init(&a.errors, 1 << 20);
	while ((line = next_line(&g))) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_synth *synth;
		struct tacho_arena arena;

		if (!strncmp(line, "> D w ", 6))
			break;	/* from here on one needs another */
		read_answer(&g, &a);
		if (strncmp(line, "> D ", 4) != 0 || line[4] == '#')
			continue;
		tacho_arena_init(&arena, 1 << 20);
		synth = tacho_synth_parse(&arena, line + 4, &e);
		printf("# %.100s\n", line);
		if (!CHECK_EQ(!synth, strcmp(a.result, "0") != 0))
			printf("# %s: %s\n", line, e.text);
		else if (synth && ++good)
			check_good(synth, &a);
		else if (++bad)
			check_bad(line + 4, &e, &a);
		tacho_arena_release(&arena);
	}
	CHECK(good > 40);
	CHECK(bad > 30);
	tacho_buf_release(&a.files);
	tacho_buf_release(&a.errors);
	free(g.text);
}

static void print_field(const struct tacho_synth *s, const char *name,
			const void *raw, uint32_t len, const char *want)
{
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 16);
	tacho_field_print(tacho_type_field(s->type, name), raw, len, &out);
	CHECK_STR(tacho_buf_str(&out), want);
	tacho_buf_release(&out);
}

static void test_raw(void)
{
	static const char text[] =
		"e u64 a; s8 b; char c[4]; char d[]; pid_t p; char n[]; long st[]; u16 w";
	static const uint64_t stack[2] = { 0x1000, 0x2000 };
	const struct tacho_synth_value v[8] = {
		{ .number = UINT64_MAX }, { .number = 0x1ff },
		{ .data = "abcdef", .len = 6 }, { .data = "hello\0no", .len = 8 },
		{ .number = (uint64_t)-5 }, { .number = 0 },
		{ .data = stack, .len = 16 }, { .number = 0x12345 },
	};
	_Alignas(8) unsigned char raw[1024];
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_arena a;
	struct tacho_synth *s;
	uint32_t len;

	tacho_arena_init(&a, 1 << 20);
	s = tacho_synth_parse(&a, text, &e);
	if (CHECK(s != NULL)) {
		memset(raw, 0xff, sizeof(raw));
		len = tacho_synth_raw(s, 77, v, raw, sizeof(raw));
		CHECK_EQ(s->fixed_size, 8 + 256 + 7 * 8);
		CHECK_EQ(len, s->fixed_size + 6 + 7 + 24);
		CHECK_EQ(tacho_load_u32(raw), 0);
		print_field(s, "common_pid", raw, len, "77");
		print_field(s, "a", raw, len, "18446744073709551615");
		print_field(s, "b", raw, len, "-1");
		print_field(s, "c", raw, len, "abc");
		print_field(s, "d", raw, len, "hello");
		print_field(s, "p", raw, len, "-5");
		print_field(s, "n", raw, len, "(null)");
		print_field(s, "st", raw, len, "{4096,8192,0}");
		print_field(s, "w", raw, len, "9029");
		/* the rest of a number's 8 bytes is 0 */
		CHECK_EQ(tacho_load_u64(raw + s->field[1].offset), 0xff);
		for (uint32_t size = 0; size < len; size++)
			CHECK_EQ(tacho_synth_raw(s, 1, v, raw, size), 0);
		CHECK_EQ(tacho_synth_raw(s, 1, v, raw, len), len);
	}
	tacho_arena_release(&a);
}

/* Strings and stacks longer than their room are cut; the largest event fits. */
static void test_cut(void)
{
	static _Alignas(8) unsigned char raw[TACHO_SYNTH_RAW_MAX];
	struct tacho_synth_value v[TACHO_SYNTH_FIELDS_MAX];
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_arena a;
	struct tacho_synth *s;
	struct tacho_buf text;
	char big[400];

	memset(big, 'x', sizeof(big));
	tacho_buf_init(&text, 1 << 16);
	tacho_buf_puts(&text, "big ");
	for (int i = 0; i < TACHO_SYNTH_FIELDS_MAX; i++) {
		tacho_buf_printf(&text, "%s f%d[]; ", i % 2 ? "char" : "long", i);
		v[i] = (struct tacho_synth_value){ .data = big,
						   .len = sizeof(big) };
	}
	tacho_arena_init(&a, 1 << 20);
	s = tacho_synth_parse(&a, tacho_buf_str(&text), &e);
	if (CHECK(s != NULL)) {
		CHECK_EQ(tacho_synth_raw(s, 1, v, raw, sizeof(raw)),
			 TACHO_SYNTH_RAW_MAX);
		CHECK_EQ(tacho_synth_find(s, "f63"), 63);
		CHECK_EQ(tacho_synth_find(s, "f64"), -1);
	}
	tacho_arena_release(&a);
	tacho_buf_release(&text);
}

static void test_name(void)
{
	static const struct {
		const char *text;
		bool ok;
		const char *name;
	} table[] = {
		{ "  lat u64 a", true, "lat" },
		{ "lat u64", false, "lat" },
		{ "!lat", true, "lat" },
		{ " !lat u64 a;", true, "lat" },
		{ "!", true, "" },
		{ "", false, "" },
		{ "lat; u64 a", false, "lat;" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		const char *name;
		size_t len;

		CHECK_EQ(tacho_synth_name(table[i].text, &name, &len),
			 table[i].ok);
		CHECK_EQ(len, strlen(table[i].name));
		CHECK(!memcmp(name, table[i].name, len));
	}
}

/* Every cap of the arena: an error, no crash. */
static void test_memory(void)
{
	static const char text[] = "lat u64 a; char b[]; unsigned long c[]";
	int failed = 0;

	for (size_t cap = 0; cap < 1 << 20; cap += cap / 16 + 8) {
		struct tacho_cmd_error e = { .err = 0 };
		struct tacho_arena a;

		tacho_arena_init(&a, cap);
		if (!tacho_synth_parse(&a, text, &e)) {
			CHECK_EQ(e.err, -ENOMEM);
			failed++;
		}
		tacho_arena_release(&a);
	}
	CHECK(failed > 10);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_name());
	TEST(test_golden());
	TEST(test_raw());
	TEST(test_cut());
	TEST(test_memory());
	return test_done();
}
