// SPDX-License-Identifier: MIT
/*
 * Random filters on random events: the compiled program, the program of the normal
 * text, and a tree that is evaluated as the language is described.
 */
#include "filter_type.h"
#include "filter_util.h"

#include "base/bytes.h"

#define FILTERS		3000
#define EVENTS		24
#define LEAVES		24
#define FIXED		128	/* bytes of the fixed part */
#define RAW		224

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % n;
}

/* ---- events ---- */

struct event {
	unsigned char *raw;	/* of exactly len bytes */
	uint32_t len, cpu;
	char comm[16];
};

static const char *const words[] = {
	"", "a", "b", "ab", "aab", "abab", "ba", "bash", "sh", "a*b", "[a", "1a",
	"abcabcabcabcabc", "bcb",
};

static void put_words(unsigned char *raw, uint32_t room)
{
	const char *s = words[pick(14)];

	for (uint32_t i = 0; i < room; i++)
		raw[i] = (unsigned char)"ab*s"[pick(4)];
	memcpy(raw, s, strlen(s) + 1 < room ? strlen(s) + 1 : room);
}

static void put_loc(unsigned char *raw, uint32_t at, uint32_t base)
{
	uint32_t from = pick(16) ? FIXED + pick(RAW - FIXED) : pick(70000);

	tacho_put_u32(raw + at, pick(24) << 16 | ((from - base) & 0xffff));
}

static void event_make(struct event *e)
{
	unsigned char raw[RAW];

	for (uint32_t i = 0; i < RAW; i++)
		raw[i] = (unsigned char)(pick(3) ? pick(4) : pick(256));
	for (uint32_t i = FIXED; i + 16 < RAW; i += 1 + pick(24))
		put_words(raw + i, 16);
	for (uint32_t i = 8; i < 64; i++)
		if (pick(3))
			raw[i] = pick(5) ? 0 : 0xff;
	if (pick(2))
		tacho_put_u64(raw + 40, VFS_READ - 2 + pick(0x84));
	tacho_put_u64(raw + 48, pick(16));
	tacho_put_u64(raw + 56, pick(16));
	put_words(raw + 64, 16);
	put_words(raw + 80, 3);
	put_loc(raw, 88, 0);
	put_loc(raw, 92, 96);
	put_loc(raw, 96, 0);
	put_loc(raw, 100, 104);
	put_words((unsigned char *)e->comm, 16);
	e->comm[15] = '\0';
	e->cpu = pick(8) ? pick(10) : UINT32_MAX;
	e->len = pick(4) ? RAW : pick(RAW + 1);
	e->raw = malloc(e->len + 1);
	e->raw = realloc(e->raw, e->len ? e->len : 1);
	memcpy(e->raw, raw, e->len);
}

static bool event_comm(void *arg, int32_t pid, char comm[16])
{
	const struct event *const *e = arg;

	(void)pid;
	memcpy(comm, (*e)->comm, 16);
	return (*e)->comm[0] != 's';
}

/* Address 14 and more cannot be read. */
static long string_at(uint64_t addr, char *to, size_t size)
{
	if (addr >= 14)
		return -1;
	(void)snprintf(to, size, "%s", words[addr]);
	return (long)strlen(words[addr]);
}

static long event_user(void *arg, int32_t pid, uint64_t addr, char *to,
		       size_t size)
{
	(void)arg;
	return pid == 7 ? string_at(addr, to, size) : -1;
}

static long event_kernel(void *arg, uint64_t addr, char *to, size_t size)
{
	(void)arg;
	return string_at(13 - addr, to, size);
}

static const struct event *now;
static const struct tacho_names names = {
	.arg = &now, .comm = event_comm, .symbol = util_symbol,
	.find_symbol = util_find_symbol, .user_string = event_user,
	.kernel_string = event_kernel,
};

/* ---- expressions ---- */

enum kind { AND, OR, NOT, LEAF };

enum leaf_kind { NUMBER, STRING, CPUS, FUNCTION };

struct expr {
	enum kind kind;
	struct expr *a, *b;
	enum leaf_kind leaf;
	const struct tacho_field *field;	/* NULL: comm or cpu */
	bool user;
	const char *op;
	char text[40];		/* pattern, list */
	int64_t value;
	bool cpus[70];
};

static struct expr pool[4 * LEAVES];
static uint32_t nr_pool, nr_leaves;

static struct expr *expr_new(enum kind kind)
{
	struct expr *e = &pool[nr_pool++];

	memset(e, 0, sizeof(*e));
	e->kind = kind;
	return e;
}

static void leaf_number(struct expr *e, const struct tacho_type *type,
			struct tacho_buf *out)
{
	static const char *const fields[] = {
		"u8", "s8", "u16", "s16", "yes", "c", "u32", "s32", "u64", "s64",
		"ip", "addr", "common_pid", "cpu", "common_type",
	};
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const int64_t values[] = {
		0, 1, 2, 3, 255, 256, 65535, 65536, 65537, 0xffffff, 0x80,
		0xffffffff, 0x100000001, 0xff00, -1, -2, -128, -256, 5,
	};
	const char *name = fields[pick(15)];
	bool is_signed;

	e->leaf = NUMBER;
	e->field = strcmp(name, "cpu") ? tacho_type_field(type, name) : NULL;
	e->op = ops[pick(e->field ? 7 : 6)];
	is_signed = !e->field || e->field->flags & TACHO_FIELD_SIGNED;
	e->value = values[pick(19)];
	if (!is_signed && e->value < 0)
		e->value = -e->value;
	tacho_buf_printf(out, pick(2) ? "%s %s " : "%s%s", name, e->op);
	if (pick(3) || e->value < 0)
		tacho_buf_printf(out, "%lld", (long long)e->value);
	else
		tacho_buf_printf(out, pick(2) ? "0x%llx" : "0%llo",
				 (long long)e->value);
}

static void leaf_string(struct expr *e, const struct tacho_type *type,
			struct tacho_buf *out)
{
	static const char *const fields[] = {
		"kstr", "ustr", "fix", "tight", "dyn", "rel", "rest", "comm",
	};
	static const char *const ops[] = { "==", "!=", "~", "~" };
	static const char *const patterns[] = {
		"*", "a*", "*a", "*ab*", "?", "a?b", "*[!b]", "[a-c]*", "\\*",
		"!a*", "!ab", "*b*a*", "a\\*b", "[", "[a", "**a", "1*", "a*b*",
		"*?", "*[ab][ab]", "[]a]*", "ab?*", "\\a", "a\\",
	};
	const char *name = fields[pick(8)];
	char quote = pick(2) ? '"' : '\'';

	e->leaf = STRING;
	e->field = strcmp(name, "comm") ? tacho_type_field(type, name) : NULL;
	e->user = !strcmp(name, "ustr");
	e->op = ops[pick(4)];
	(void)snprintf(e->text, sizeof(e->text), "%s",
		       pick(2) ? patterns[pick(24)] : words[pick(14)]);
	tacho_buf_printf(out, "%s%s %s %c%s%c", name, e->user ? ".ustring" : "",
			 e->op, quote, e->text, quote);
}

static void leaf_cpus(struct expr *e, const struct tacho_type *type,
		      struct tacho_buf *out)
{
	static const char *const fields[] = { "mask", "bits", "u8", "s16", "u64",
					      "cpu" };
	static const char *const ops[] = { "==", "!=", "&" };
	const char *name = fields[pick(6)];
	uint32_t n = pick(4);

	e->leaf = CPUS;
	e->field = strcmp(name, "cpu") ? tacho_type_field(type, name) : NULL;
	e->op = ops[pick(3)];
	tacho_buf_printf(out, "%s %s CPUS{ ", name, e->op);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = pick(pick(4) ? 4 : 66), to = from + pick(3);

		for (uint32_t cpu = from; cpu <= to; cpu++)
			e->cpus[cpu] = true;
		tacho_buf_printf(out, from == to && pick(2) ? "%u," : "%u-%u,",
				 from, to);
	}
	tacho_buf_putc(out, '}');
}

static void leaf_function(struct expr *e, const struct tacho_type *type,
			  struct tacho_buf *out)
{
	const char *name = pick(2) ? "ip" : "u64";

	e->leaf = FUNCTION;
	e->field = tacho_type_field(type, name);
	e->op = pick(2) ? "==" : "!=";
	tacho_buf_printf(out, "%s.function %s vfs_read ", name, e->op);
}

static struct expr *leaf_make(const struct tacho_type *type,
			      struct tacho_buf *out)
{
	struct expr *e = expr_new(LEAF);
	uint32_t kind = pick(10);

	nr_leaves++;
	if (kind < 4)
		leaf_number(e, type, out);
	else if (kind < 8)
		leaf_string(e, type, out);
	else if (kind < 9)
		leaf_cpus(e, type, out);
	else
		leaf_function(e, type, out);
	return e;
}

/*
 * An expression and its text.  tight: it stands where only a predicate, a ! or
 * parentheses can stand; more so than 1: beside an &&.
 */
static struct expr *expr_make(const struct tacho_type *type, uint32_t depth,
			      uint32_t tight, struct tacho_buf *out)
{
	uint32_t kind = depth && nr_leaves < LEAVES / 2 ? pick(8) : 7;
	struct expr *e;
	bool parens;

	if (kind == 6) {
		e = expr_new(NOT);
		tacho_buf_puts(out, pick(2) ? "!" : " ! ");
		e->a = expr_make(type, depth - 1, 2, out);
		return e;
	}
	if (kind == 7)
		return leaf_make(type, out);
	e = expr_new(kind < 3 ? AND : OR);
	parens = tight == 2 || (tight && e->kind == OR) || !pick(4);
	if (parens)
		tacho_buf_puts(out, pick(2) ? "(" : "( ");
	e->a = expr_make(type, depth - 1, e->kind == AND, out);
	tacho_buf_puts(out, e->kind == AND ? (pick(2) ? "&&" : " && ") :
					     (pick(2) ? "||" : " || "));
	/* to the right of its own kind it may stand without parentheses too */
	e->b = expr_make(type, depth - 1, e->kind == AND, out);
	if (parens)
		tacho_buf_putc(out, ')');
	return e;
}

/* ---- evaluation, as plain as can be ---- */

static bool in_class(const char *p, const char *end, char c)
{
	for (; p < end; p++) {
		if (p + 2 < end && p[1] == '-') {
			if (p[0] <= c && c <= p[2])
				return true;
			p += 2;
		} else if (*p == c) {
			return true;
		}
	}
	return false;
}

static bool glob(const char *p, const char *s)
{
	const char *end;
	bool invert;

	if (!*p)
		return !*s;
	if (*p == '*')
		return glob(p + 1, s) || (*s && glob(p, s + 1));
	if (*p == '?')
		return *s && glob(p + 1, s + 1);
	if (*p == '\\' && !p[1])
		return !*s;
	if (*p == '\\')
		return *s == p[1] && glob(p + 2, s + 1);
	invert = p[1] == '!';
	end = *p == '[' && p[1 + invert] ? strchr(p + 2 + invert, ']') : NULL;
	if (end)
		return *s && in_class(p + 1 + invert, end, *s) != invert &&
		       glob(end + 1, s + 1);
	return *s == *p && glob(p + 1, s + 1);
}

static bool eval_text(const struct expr *e, const char *s, size_t room)
{
	bool is_glob = *e->op == '~', invert = is_glob && *e->text == '!';
	const char *pattern = e->text + invert;
	size_t len = strnlen(s, room);
	char copy[RAW + 1];

	memcpy(copy, s, len);
	copy[len] = '\0';
	if (!strcmp(e->op, "!="))
		invert = true;
	if (is_glob && strpbrk(pattern, "*?[\\"))
		return glob(pattern, copy) != invert;
	/* a field without a NUL is compared as far as it goes */
	return (len < room || !room ? !strcmp(copy, pattern) :
		!strncmp(copy, pattern, room)) != invert;
}

static bool eval_string(const struct expr *e, const struct event *ev)
{
	const void *data;
	size_t size = 0;
	char s[64];

	if (!e->field)
		return ev->comm[0] != 's' && eval_text(e, ev->comm, 16);
	data = tacho_field_data(e->field, ev->raw, ev->len, &size);
	if (!data)
		return false;
	if (e->field->flags & TACHO_FIELD_POINTER) {
		uint64_t addr = tacho_load_u64(data);

		if (string_at(e->user ? addr : 13 - addr, s, sizeof(s)) < 0)
			return false;
		return eval_text(e, s, sizeof(s));
	}
	return eval_text(e, data, size);
}

static bool eval_compare(const char *op, __int128 a, __int128 b)
{
	if (!strcmp(op, "=="))
		return a == b;
	if (!strcmp(op, "!="))
		return a != b;
	if (!strcmp(op, "<"))
		return a < b;
	if (!strcmp(op, "<="))
		return a <= b;
	if (!strcmp(op, ">"))
		return a > b;
	if (!strcmp(op, ">="))
		return a >= b;
	return (a & b) != 0;
}

/* The integer that the low bytes of v are. */
static __int128 as_field(const struct tacho_field *f, const void *v)
{
	__int128 n = 0;

	memcpy(&n, v, f->size);
	if (f->flags & TACHO_FIELD_SIGNED && n >> (8 * f->size - 1) & 1)
		n -= (__int128)1 << 8 * f->size;
	return n;
}

static bool eval_number(const struct expr *e, const struct event *ev)
{
	if (!e->field)
		return ev->cpu != UINT32_MAX &&
		       eval_compare(e->op, ev->cpu, (int32_t)e->value);
	if (e->field->offset + e->field->size > ev->len)
		return false;
	return eval_compare(e->op,
			    as_field(e->field, ev->raw + e->field->offset),
			    as_field(e->field, &e->value));
}

static bool eval_cpus(const struct expr *e, const struct event *ev)
{
	bool is[8192] = { false }, common = false, equal = true;
	uint32_t weight = 0;
	const unsigned char *data;
	size_t size = 0;

	for (uint32_t i = 0; i < 70; i++)
		weight += e->cpus[i];
	if (!e->field) {
		if (ev->cpu == UINT32_MAX)
			return false;
		is[ev->cpu] = true;
	} else {
		data = tacho_field_data(e->field, ev->raw, ev->len, &size);
		if (!data)
			return false;
		if (e->field->flags & TACHO_FIELD_BITMASK) {
			for (size_t i = 0; i < size * 8; i++)
				is[i] = data[i / 8] >> i % 8 & 1;
		} else {
			uint64_t v = 0;

			memcpy(&v, data, size);
			/* with one CPU it is a comparison of numbers */
			if (v >= 8192)
				return weight == 1 && !strcmp(e->op, "!=");
			is[v] = true;
		}
	}
	for (uint32_t i = 0; i < 8192; i++) {
		bool other = i < 70 && e->cpus[i];

		common |= is[i] && other;
		equal &= is[i] == other;
	}
	return *e->op == '&' ? common : equal == !strcmp(e->op, "==");
}

static bool eval(const struct expr *e, const struct event *ev)
{
	uint64_t addr;

	switch (e->kind) {
	case AND:
		return eval(e->a, ev) && eval(e->b, ev);
	case OR:
		return eval(e->a, ev) || eval(e->b, ev);
	case NOT:
		return !eval(e->a, ev);
	case LEAF:
	default:
		break;
	}
	switch (e->leaf) {
	case NUMBER:
		return eval_number(e, ev);
	case STRING:
		return eval_string(e, ev);
	case CPUS:
		return eval_cpus(e, ev);
	case FUNCTION:
	default:
		if (e->field->offset + 8 > ev->len)
			return false;
		addr = tacho_load_u64(ev->raw + e->field->offset);
		return (addr >= VFS_READ && addr < VFS_READ + 0x80) ==
		       (*e->op == '=');
	}
}

/* ---- the tests ---- */

/* A copy of exactly its size: what a loader makes, and a sanitizer sees its end. */
static struct tacho_filter *program_copy(const struct tacho_filter *f)
{
	void *copy = malloc(tacho_filter_size(f));

	memcpy(copy, f, tacho_filter_size(f));
	return copy;
}

static struct tacho_filter *compile(struct tacho_arena *a,
				    const struct tacho_type *type,
				    const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_filter *f = NULL;
	int err = tacho_filter_compile(&f, a, type, text, 0, &names, &e);

	test_check(!err && f, __FILE__, __LINE__, "'%s': %s at %u", text, e.text,
		   e.column);
	test_check(f && tacho_filter_verify(f, tacho_filter_size(f)), __FILE__,
		   __LINE__, "'%s' is refused by verify", text);
	return f ? program_copy(f) : NULL;
}

static bool run(const struct tacho_filter *f, const struct event *ev)
{
	const struct tacho_rec rec = { .raw = ev->raw, .len = ev->len,
				       .cpu = ev->cpu, .pid = 7, .names = &names };

	now = ev;
	return tacho_filter_run(f, &rec);
}

/* Normal text is a fixpoint, and its program is the same. */
static void check_normal(struct tacho_arena *a, const struct tacho_type *type,
			 const char *text, const struct tacho_filter *f)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_buf one, two;
	struct tacho_filter *again;

	tacho_buf_init(&one, 1 << 20);
	tacho_buf_init(&two, 1 << 20);
	CHECK(!tacho_filter_normal(type, text, &names, &one, &e));
	again = compile(a, type, tacho_buf_str(&one));
	CHECK(!tacho_filter_normal(type, tacho_buf_str(&one), &names, &two, &e));
	CHECK_STR(tacho_buf_str(&one), tacho_buf_str(&two));
	test_check(again && tacho_filter_size(f) == tacho_filter_size(again) &&
		   !memcmp(f, again, tacho_filter_size(f)), __FILE__, __LINE__,
		   "'%s' and '%s' are different programs", text,
		   tacho_buf_str(&one));
	free(again);
	tacho_buf_release(&two);
	tacho_buf_release(&one);
}

/* What verify lets pass, runs without harm. */
static void check_broken(const struct tacho_filter *f, const struct event *ev)
{
	size_t size = tacho_filter_size(f);
	unsigned char *copy = (unsigned char *)program_copy(f);

	for (uint32_t n = 1 + pick(3); n; n--)
		copy[pick((uint32_t)size)] ^= (unsigned char)(1 << pick(8));
	if (tacho_filter_verify(copy, size))
		(void)run((struct tacho_filter *)copy, ev);
	free(copy);
}

static void one_filter(const struct tacho_type *type, uint32_t passed[2])
{
	struct tacho_buf text;
	struct tacho_filter *f;
	struct tacho_arena a;
	struct expr *e;

	tacho_arena_init(&a, 1 << 20);
	tacho_buf_init(&text, 1 << 16);
	nr_pool = nr_leaves = 0;
	e = expr_make(type, 5, 0, &text);
	f = compile(&a, type, tacho_buf_str(&text));
	for (uint32_t i = 0; f && i < EVENTS; i++) {
		struct event ev;
		bool want;

		event_make(&ev);
		want = eval(e, &ev);
		test_check(run(f, &ev) == want, __FILE__, __LINE__,
			   "'%s' is not %d", tacho_buf_str(&text), want);
		passed[want]++;
		check_broken(f, &ev);
		free(ev.raw);
	}
	if (f)
		check_normal(&a, type, tacho_buf_str(&text), f);
	free(f);
	tacho_buf_release(&text);
	tacho_arena_release(&a);
}

static void test_random(const struct tacho_type *type)
{
	uint32_t passed[2] = { 0, 0 };

	for (uint32_t i = 0; type && i < FILTERS; i++)
		one_filter(type, passed);
	/* both happened often */
	CHECK(passed[0] > 9 * FILTERS && passed[1] > 5 * FILTERS);
}

int main(int argc, char **argv)
{
	struct tacho_diag d = { .err = 0 };
	const struct tacho_type *type;
	struct tacho_arena a;

	test_args(argc, argv);
	tacho_arena_init(&a, 1 << 20);
	type = tacho_type_parse(&a, "test", NULL, 0, filter_type_text,
				sizeof(filter_type_text) - 1, &d);
	test_check(type != NULL, __FILE__, __LINE__, "%s", d.text);
	TEST(test_random(type));
	tacho_arena_release(&a);
	return test_done();
}
