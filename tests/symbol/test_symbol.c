// SPDX-License-Identifier: MIT
/*
 * Functions, lines, markers and variables of small programs (prog.c, lib.c),
 * built in several ways.  The kernel's own view of the same is tested in
 * tests/probes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "symbol/symbol.h"
#include "unit/test.h"

static const char dir[] = DIR;

static const char *path_of(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool exists(const char *name)
{
	return !access(path_of(name), R_OK);
}

static struct tacho_object *open_file(const char *name)
{
	struct tacho_object *o = NULL;
	struct tacho_diag d = { 0 };

	if (!CHECK(!tacho_object_open(&o, path_of(name), NULL, &d)))
		printf("# %s: %s\n", name, d.text);
	return o;
}

static const struct tacho_function *need(struct tacho_object *o,
					 const char *name)
{
	const struct tacho_function *f = tacho_object_find(o, name, NULL);

	if (!f) {
		(void)test_check(0, __FILE__, __LINE__, "%s has no %s",
				 tacho_object_path(o), name);
		exit(test_done());
	}
	return f;
}

/* ---- functions ---- */

/* The dynamic linker knows the same addresses. */
static bool has_runtime(void)
{
	void *runtime = dlopen("libstdc++.so.6", RTLD_NOW);

	if (runtime)
		dlclose(runtime);
	return runtime;
}

static void test_library(void)
{
	struct tacho_object *o = open_file("libsymtest.so");
	void *lib = dlopen(path_of("libsymtest.so"), RTLD_NOW);
	const struct tacho_function *f, *local;
	uint64_t base, offset, address;
	Dl_info info;

	if (!CHECK(lib) || !o)
		return;
	f = need(o, "lib_sum");
	CHECK(dladdr(dlsym(lib, "lib_sum"), &info));
	base = (uint64_t)(uintptr_t)info.dli_fbase;
	CHECK_EQ(f->address, (uint64_t)(uintptr_t)dlsym(lib, "lib_sum") - base);
	CHECK(f->size > 8);

	/* the same bytes in memory and at the offset in the file */
	CHECK(!tacho_object_offset(o, f->address, &offset));
	CHECK_EQ(offset, f->offset);
	{
		FILE *file = fopen(path_of("libsymtest.so"), "rb");
		unsigned char bytes[8] = { 0 };

		CHECK(file && !fseek(file, (long)offset, SEEK_SET) &&
		      fread(bytes, 1, 8, file) == 8);
		CHECK(!memcmp(bytes, dlsym(lib, "lib_sum"), 8));
		if (file)
			fclose(file);
	}
	CHECK(!tacho_object_address(o, offset, &address));
	CHECK_EQ(address, f->address);

	/* a place with two names, and a name that only the full table has */
	CHECK_EQ(need(o, "lib_twice")->address, need(o, "lib_alias")->address);
	local = need(o, "local_add");
	CHECK(tacho_object_at(o, local->address + 1) == local);
	CHECK(local->rank > f->rank);
	CHECK(!tacho_object_find(o, "lib_nope", NULL));
	CHECK_STR(tacho_object_shown_name(o, f), "lib_sum");
	CHECK_STR(tacho_object_shown_name(o, need(o, "_Z_no")), "_Z_no");
	/* twice: what is remembered is the same; without the C++ runtime it is the file's name */
	for (int i = 0; i < 2; i++)
		CHECK_STR(tacho_object_shown_name(o, need(o, "_ZN3app5order4takeEiPKc")),
			  has_runtime() ? "app::order::take(int, char const*)" :
			  "_ZN3app5order4takeEiPKc");
	CHECK_EQ(tacho_object_offset(o, UINT64_MAX, &offset), -ERANGE);
	CHECK_EQ(tacho_object_address(o, UINT64_MAX, &address), -ERANGE);
	dlclose(lib);
	tacho_object_close(o);
}

static void test_functions(const char *name)
{
	struct tacho_object *o = open_file(name);
	const struct tacho_function *list, *f;
	size_t nr;

	if (!o)
		return;
	list = tacho_object_functions(o, &nr);
	CHECK(nr > 6);
	for (size_t i = 1; i < nr; i++)
		CHECK(list[i - 1].address <= list[i].address);
	f = need(o, "checkout");
	CHECK(tacho_object_at(o, f->address) == f);
	CHECK(tacho_object_at(o, f->address + f->size - 1) == f);
	CHECK(tacho_object_at(o, f->address + f->size) != f);
	CHECK(!tacho_object_at(o, 1));
	tacho_object_close(o);
}

static void test_refused(void)
{
	struct tacho_object *o;
	struct tacho_diag d = { 0 };
	unsigned char zero[64] = { 0 };

	CHECK_EQ(tacho_object_open(&o, path_of("no-such-file"), NULL, &d), -ENOENT);
	CHECK(!o && strstr(d.text, "no-such-file"));
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(tacho_object_open(&o, dir, NULL, &d), -ENOEXEC);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(tacho_object_open(&o, "/proc/self/status", NULL, &d), -ENOEXEC);
	CHECK_EQ(tacho_object_parse(&o, zero, sizeof(zero), NULL), -ENOEXEC);
	CHECK_EQ(tacho_object_parse(&o, zero, 0, NULL), -ENOEXEC);
}

/* ---- separate debug files ---- */

static void test_separate(void)
{
	struct tacho_object *o, *whole;
	struct tacho_fetch f;
	struct tacho_diag d = { 0 };
	size_t nr;

	if (!exists("split"))
		return;
	whole = open_file("prog-O0");
	o = open_file("stripped");
	if (!o || !whole)
		return;
	(void)tacho_object_functions(o, &nr);
	CHECK_EQ(nr, 0);
	CHECK(!tacho_object_debug_path(o));
	if (tacho_symbol_has_dwarf()) {
		CHECK_EQ(tacho_object_variable(o, need(whole, "checkout")->address,
					       NULL, "id", &f, &d), -ENODATA);
		CHECK(strstr(d.text, "has no debug information"));
	}
	tacho_object_close(o);

	o = open_file("split");
	if (!o)
		return;
	if (CHECK(tacho_object_debug_path(o)))
		CHECK(strstr(tacho_object_debug_path(o), "/split.debug"));
	/* offsets are of the stripped file, whatever the other one says */
	CHECK_EQ(need(o, "checkout")->offset, need(whole, "checkout")->offset);
	if (tacho_symbol_has_dwarf()) {
		CHECK_EQ(tacho_object_variable(o, need(o, "checkout")->address,
					       NULL, "id", &f, NULL), 0);
		CHECK_STR(f.type, "s32");
	}
	tacho_object_close(o);
	tacho_object_close(whole);
}

/* The right name with the wrong contents is not taken. */
static void test_wrong_debug_file(void)
{
	char tmp[] = "/tmp/tacho-symbol-XXXXXX", command[9000];
	struct tacho_object *o;
	size_t len;

	if (!exists("split") || !CHECK(mkdtemp(tmp)))
		return;
	(void)snprintf(command, sizeof(command),
		"cp '%s' %s/split && cp '%s/prog-O2' %s/split.debug",
		path_of("split"), tmp, dir, tmp);
	CHECK(!system(command));
	(void)snprintf(command, sizeof(command), "%s/split", tmp);
	CHECK(!tacho_object_open(&o, command, "/nonexistent", NULL));
	CHECK(o && !tacho_object_debug_path(o));
	/* by the build id, below a root of one's own */
	if (o && tacho_object_build_id(o, &len) && CHECK(len >= 8)) {
		const unsigned char *id = tacho_object_build_id(o, &len);
		char hex[200], *at = hex;

		for (size_t i = 1; i < len; i++)
			at += sprintf(at, "%02x", id[i]);
		(void)snprintf(command, sizeof(command),
			"mkdir -p %s/.build-id/%02x && "
			"cp '%s.debug' %s/.build-id/%02x/%s.debug", tmp, id[0],
			path_of("split"), tmp, id[0], hex);
		CHECK(!system(command));
		tacho_object_close(o);
		(void)snprintf(command, sizeof(command), "%s/split", tmp);
		CHECK(!tacho_object_open(&o, command, tmp, NULL));
		CHECK(o && tacho_object_debug_path(o) &&
		      strstr(tacho_object_debug_path(o), ".build-id"));
		CHECK(o && tacho_object_find(o, "checkout", NULL));
	}
	tacho_object_close(o);
	(void)snprintf(command, sizeof(command), "rm -r %s", tmp);
	CHECK(!system(command));
}

/* ---- markers ---- */

static void test_marker(const char *name)
{
	struct tacho_object *o = open_file(name);
	const struct tacho_sdt *s;
	const struct tacho_function *f;
	struct tacho_fetch arg;
	struct tacho_diag d = { 0 };
	size_t nr;

	if (!o)
		return;
	s = tacho_object_sdt(o, &nr);
	if (!CHECK(nr == 1)) {
		printf("# %s has %zu\n", name, nr);
		tacho_object_close(o);
		return;
	}
	CHECK_STR(s->provider, "prog");
	CHECK_STR(s->name, "counted");
	CHECK(s->semaphore);
	CHECK_EQ(tacho_sdt_nr_args(s), 3);
	f = tacho_object_at(o, s->address);
	CHECK(f && !strcmp(f->name, "order_count"));
	CHECK(!tacho_sdt_arg(o, s, 0, &arg, NULL));
	CHECK_STR(arg.type, "s32");
	CHECK(arg.text[0] == '%');
	CHECK(!tacho_sdt_arg(o, s, 1, &arg, NULL));
	CHECK_STR(arg.type, "u64");
	CHECK(!strncmp(arg.string, "+0(%", 4));
	CHECK(!tacho_sdt_arg(o, s, 2, &arg, NULL));
	CHECK_STR(arg.text, "\\5");
	CHECK_EQ(tacho_sdt_arg(o, s, 3, &arg, &d), -ENOENT);
	CHECK(strstr(d.text, "has no argument 4"));
	tacho_object_close(o);
}

/* Each form of an operand; the object is only asked for its machine. */
static void test_operands(void)
{
	static const struct {
		const char *arg, *text, *type;
		int err;
	} t[] = {
		{ "4@%eax", "%ax", "u32", 0 },
		{ "-8@%r15", "%r15", "s64", 0 },
		{ "1@%sil", "%si", "u8", 0 },
		{ "-2@%r9w", "%r9", "s16", 0 },
		{ "%rdi", "%di", "u64", 0 },
		{ "-4@$-1", "\\-1", "s32", 0 },
		{ "8@$0x10", "\\16", "u64", 0 },
		{ "8@-16(%rbp)", "-16(%bp)", "u64", 0 },
		{ "4@(%rsp)", "+0(%sp)", "u32", 0 },
		{ "8@%xmm0", "", "", -ENOTSUP },
		{ "8f@%xmm0", "", "", -ENOTSUP },
		{ "8@(%rax,%rbx,8)", "", "", -ENOTSUP },
		{ "1@%ah", "", "", -ENOTSUP },
		{ "8@nope+8(%rip)", "", "", -ENOTSUP },
		{ "3@%eax", "", "", -EINVAL },
		{ "4@", "", "", -EINVAL },
		{ "4@zz", "", "", -EINVAL },
		{ "4@$zz", "", "", -EINVAL },
		{ "99999999999999999999@%eax", "", "", -EINVAL },
	};
	struct tacho_object *o = open_file("prog-O0");
	struct tacho_sdt s = { .provider = "p", .name = "n" };
	struct tacho_fetch f;

	for (size_t i = 0; o && i < TACHO_ARRAY_SIZE(t); i++) {
		s.args = t[i].arg;
		if (!CHECK(tacho_sdt_arg(o, &s, 0, &f, NULL) == t[i].err))
			printf("# %s\n", t[i].arg);
		else if (!t[i].err) {
			CHECK_STR(f.text, t[i].text);
			CHECK_STR(f.type, t[i].type);
		}
	}
	s.args = "  4@%eax   8@%rbx ";
	CHECK_EQ(tacho_sdt_nr_args(&s), 2);
	tacho_object_close(o);
}

static void test_arm_operands(void)
{
	static const struct {
		const char *arg, *text;
		int err;
	} t[] = {
		{ "4@w3", "%x3", 0 }, { "-8@x29", "%x29", 0 },
		{ "8@[sp]", "+0(%sp)", 0 }, { "8@[sp, 16]", "+16(%sp)", 0 },
		{ "8@[x0, #-8]", "-8(%x0)", 0 }, { "4@7", "\\7", 0 },
		{ "4@s0", "", -ENOTSUP }, { "8@[x0, x1]", "", -ENOTSUP },
		{ "8@[sp", "", -EINVAL },
	};
	struct tacho_object *o;
	struct tacho_sdt s = { .provider = "p", .name = "n" };
	struct tacho_fetch f;

	if (!exists("arm-O0") || !(o = open_file("arm-O0")))
		return;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(t); i++) {
		s.args = t[i].arg;
		if (!CHECK(tacho_sdt_arg(o, &s, 0, &f, NULL) == t[i].err))
			printf("# %s\n", t[i].arg);
		else if (!t[i].err)
			CHECK_STR(f.text, t[i].text);
	}
	tacho_object_close(o);
}

/* ---- lines ---- */

/* The line of prog.c with this text, from 1. */
static uint32_t line_with(const char *text)
{
	char line[512];
	uint32_t nr = 0;
	FILE *f = fopen(PROG_C, "r");

	while (f && fgets(line, sizeof(line), f)) {
		nr++;
		if (strstr(line, text)) {
			fclose(f);
			return nr;
		}
	}
	if (f)
		fclose(f);
	return 0;
}

static void test_lines(const char *name)
{
	struct tacho_object *o = open_file(name);
	uint32_t sum = line_with("sum += order"), decl = line_with("int checkout(");
	const struct tacho_function *f;
	struct tacho_places p, q;
	struct tacho_where w;
	struct tacho_diag d = { 0 };

	if (!o || !CHECK(sum > decl && decl))
		return;
	f = need(o, "checkout");
	CHECK_EQ(tacho_object_line(o, "prog.c", sum, &p, &d), 0);
	CHECK_EQ(p.nr, 1);
	CHECK_EQ(p.line, sum);
	if (p.nr) {
		CHECK(tacho_object_at(o, p.list[0]) == f);
		CHECK(!tacho_object_where(o, p.list[0], &w, NULL));
		CHECK_EQ(w.line, sum);
		CHECK(w.file && strstr(w.file, "prog.c"));
		CHECK(!tacho_object_function_line(o, f, sum - decl, &q, NULL));
		CHECK_EQ(q.nr, 1);
		CHECK(q.nr && q.list[0] == p.list[0]);
		tacho_places_release(&q);
	}
	tacho_places_release(&p);
	/* by more of its name, by less than a component of it */
	CHECK(!tacho_object_line(o, "symbol/prog.c", sum, &p, NULL));
	tacho_places_release(&p);
	CHECK_EQ(tacho_object_line(o, "rog.c", sum, &p, NULL), -ENOENT);
	CHECK(!p.list);
	/* line 0 is the entry */
	CHECK(!tacho_object_function_line(o, f, 0, &p, NULL));
	CHECK(p.nr == 1 && p.list[0] == f->address);
	tacho_places_release(&p);
	/* a comment between functions stands for nothing */
	CHECK_EQ(tacho_object_line(o, "prog.c", line_with("struct big {"), &p,
				   &d), -ENOENT);
	CHECK_EQ(tacho_object_line(o, "prog.c", 100000, &p, NULL), -ENOENT);
	CHECK_EQ(tacho_object_line(o, "prog.c", 0, &p, NULL), -ENOENT);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(tacho_object_function_line(o, f, 100, &p, &d), -ERANGE);
	CHECK(strstr(d.text, "'checkout' has no code at line 100"));
	tacho_object_close(o);
}

static void test_inlined(const char *name)
{
	struct tacho_object *o = open_file(name);
	struct tacho_places p;

	if (!o)
		return;
	CHECK(!tacho_object_find(o, "tiny", NULL));
	CHECK(!tacho_object_inlined(o, "tiny", &p, NULL));
	CHECK_EQ(p.nr, 2);
	for (size_t i = 0; i < p.nr; i++)
		CHECK_STR(tacho_object_at(o, p.list[i])->name, "order_count");
	tacho_places_release(&p);
	CHECK_EQ(tacho_object_inlined(o, "checkout", &p, NULL), -ENOENT);
	tacho_object_close(o);
}

/* ---- variables ---- */

struct want {
	const char *path;
	const char *text, *type, *string;	/* NULL: not compared */
	int err;
	uint64_t column;
};
#define GOOD(path, text, type, string)	{ path, text, type, string, 0, 0 }
#define BAD(path, err, column)		{ path, NULL, NULL, NULL, err, column }

static void check_wants(struct tacho_object *o, const char *function,
			const struct want *t, size_t n)
{
	const struct tacho_function *fn = need(o, function);

	for (size_t i = 0; i < n; i++) {
		struct tacho_fetch f;
		struct tacho_diag d = { 0 };
		int ret = tacho_object_variable(o, fn->address, NULL, t[i].path,
						&f, &d);

		if (!CHECK(ret == t[i].err)) {
			printf("# %s %s: %d %s\n", tacho_object_path(o),
			       t[i].path, ret, d.text);
			continue;
		}
		if (ret) {
			CHECK(d.text[0]);
			if (!CHECK(d.offset == t[i].column))
				printf("# %s: column %d: %s\n", t[i].path,
				       (int)d.offset, d.text);
			continue;
		}
		if (t[i].text)
			CHECK_STR(f.text, t[i].text);
		if (t[i].type)
			CHECK_STR(f.type, t[i].type);
		if (t[i].string)
			CHECK_STR(f.string, t[i].string);
	}
}

/* At the entry the convention holds, optimised or not. */
static void test_x86_params(const char *name)
{
	static const struct want checkout[] = {
		GOOD("id", "%di", "s32", ""),
		GOOD("name", "%si", "x64", "+0(%si)"),
		GOOD("name[2]", "+2(%si)", "s8", ""),
		GOOD("order->id", "+0(%dx)", "s32", ""),
		GOOD("order->customer", "+4(%dx)", "string", "+4(%dx)"),
		GOOD("order->customer[1]", "+5(%dx)", "s8", NULL),
		GOOD("order->note", "+24(%dx)", "x64", "+0(+24(%dx))"),
		GOOD("order->item[2].sku", "+64(%dx)", "s32", NULL),
		GOOD("order->item[2].flags", "+68(%dx)", "b3@0/32", NULL),
		GOOD("order->item[2].price", "+68(%dx)", "b12@3/32", NULL),
		GOOD("order->next->next->item[1].sku", "+48(+96(+96(%dx)))", "s32", NULL),
		GOOD("order[2].id", "+208(%dx)", "s32", NULL),
		BAD("nope", -ENOENT, 0),
		BAD("order->nope", -ENOENT, 7),
		BAD("order.id", -EINVAL, 0),
		BAD("id->x", -EINVAL, 0),
		BAD("id[0]", -EINVAL, 0),
		BAD("order->", -EINVAL, 7),
		BAD("order->item[x]", -EINVAL, 11),
		BAD("order+4", -EINVAL, 5),
		BAD("order->item", -ENOTSUP, 0),
		BAD("order->item[0]", -ENOTSUP, 0),
		BAD("order->item[0].weight", -ENOTSUP, 0),
		BAD("order->item[0].flags.x", -EINVAL, 0),
		BAD("", -EINVAL, 0),
		BAD("4", -EINVAL, 0),
	};
	static const struct want mix[] = {
		GOOD("s", "%si", "s16", NULL), GOOD("q1", "%dx", "s64", NULL),
		GOOD("q4", "%r9", "s64", NULL), GOOD("q5", "+48(%sp)", "s64", NULL),
		GOOD("last", "+56(%sp)", "s8", NULL),
		GOOD("b.a[4]", "+40(%sp)", "s64", NULL),
		GOOD("b.a", "+8(%sp)", "s64[5]", NULL),
		BAD("d", -ENOTSUP, 0),
		BAD("f", -ENOTSUP, 0),
		BAD("p", -ENOTSUP, 0),
		BAD("b", -ENOTSUP, 0),
	};
	/* where to put the result is told in the first register */
	static const struct want big[] = { GOOD("n", "%si", "s32", NULL) };
	struct tacho_object *o = open_file(name);

	if (!o)
		return;
	check_wants(o, "checkout", checkout, TACHO_ARRAY_SIZE(checkout));
	check_wants(o, "order_mix", mix, TACHO_ARRAY_SIZE(mix));
	check_wants(o, "order_big", big, TACHO_ARRAY_SIZE(big));
	tacho_object_close(o);
}

static void test_arm_params(const char *name)
{
	static const struct want checkout[] = {
		GOOD("id", "%x0", "s32", ""),
		GOOD("name", "%x1", "x64", "+0(%x1)"),
		GOOD("order->item[2].price", "+68(%x2)", "b12@3/32", NULL),
	};
	/* the structure of 40 bytes is handed over by its address */
	static const struct want mix[] = {
		GOOD("s", "%x2", "s16", NULL), GOOD("q5", "%x7", "s64", NULL),
		GOOD("b.a[4]", "+32(%x1)", "s64", NULL),
		GOOD("last", "+0(%sp)", NULL, NULL),
		BAD("d", -ENOTSUP, 0),
	};
	static const struct want big[] = { GOOD("n", "%x0", "s32", NULL) };
	struct tacho_object *o;

	if (!exists(name) || !(o = open_file(name)))
		return;
	check_wants(o, "checkout", checkout, TACHO_ARRAY_SIZE(checkout));
	check_wants(o, "order_mix", mix, TACHO_ARRAY_SIZE(mix));
	check_wants(o, "order_big", big, TACHO_ARRAY_SIZE(big));
	tacho_object_close(o);
}

static int one_name(const char *name, void *arg)
{
	(void)strcat(strcat(arg, name), " ");
	return 0;
}

static void test_functions_of_dwarf(const char *name)
{
	struct tacho_object *o = open_file(name);
	struct tacho_fetch f;
	struct tacho_diag d = { 0 };
	char names[200] = "";
	uint64_t at;

	if (!o)
		return;
	at = need(o, "checkout")->address;
	CHECK(!tacho_object_params(o, at, "checkout", one_name, names, NULL));
	CHECK_STR(names, "id name order ");
	CHECK(!tacho_object_return(o, at, "", &f, NULL));
	CHECK_STR(f.text, "$retval");
	CHECK_STR(f.type, "s32");
	CHECK_STR(f.ctype, "int");
	CHECK_EQ(tacho_object_return(o, at, "->x", &f, NULL), -EINVAL);
	at = need(o, "order_name")->address;
	CHECK(!tacho_object_return(o, at, "", &f, NULL));
	CHECK_STR(f.string, "+0($retval)");
	CHECK_STR(f.ctype, "const char *");
	at = need(o, "order_big")->address;
	CHECK(!tacho_object_return(o, at, ".a[4]", &f, &d));
	CHECK_STR(f.text, "+32($retval)");
	CHECK_EQ(tacho_object_return(o, at, "", &f, NULL), -ENOTSUP);
	CHECK_EQ(tacho_object_variable(o, 1, NULL, "x", &f, NULL), -ENODATA);
	tacho_object_close(o);
}

static void test_without_dwarf(void)
{
	struct tacho_object *o = open_file("prog-O0");
	struct tacho_fetch f;
	struct tacho_where w;
	struct tacho_places p;
	struct tacho_diag d = { 0 };

	if (!o)
		return;
	CHECK_EQ(tacho_object_variable(o, 1, NULL, "x", &f, &d), -ENOSYS);
	CHECK(strstr(d.text, "built without libdw"));
	CHECK_EQ(tacho_object_where(o, 1, &w, NULL), -ENOSYS);
	CHECK_EQ(tacho_object_line(o, "prog.c", 1, &p, NULL), -ENOSYS);
	CHECK_EQ(tacho_object_inlined(o, "tiny", &p, NULL), -ENOSYS);
	tacho_object_close(o);
}

/* A test of one of the programs has its name as well: "lines(prog-O0)". */
#define TEST_OF(fn, program) do {				\
	char test_name_[80];					\
	(void)snprintf(test_name_, sizeof(test_name_),		\
		       #fn "(%s)", program);			\
	TEST_NAMED(test_name_, fn(program));			\
} while (0)

int main(int argc, char **argv)
{
	static const char *const with_debug[] = {
		"prog-O0", "prog-O2", "prog-dwarf4", "prog-nopie", "other-O0",
		"other-O2", "split",
	};

	test_args(argc, argv);
	TEST(test_library());
	TEST(test_refused());
	TEST(test_separate());
	TEST(test_wrong_debug_file());
	TEST_OF(test_functions, "prog-plain");
	TEST_OF(test_marker, "prog-plain");
#if defined(__x86_64__)
	TEST(test_operands());
#endif
	TEST(test_arm_operands());
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(with_debug); i++) {
		const char *name = with_debug[i];

		if (!exists(name))
			continue;
		TEST_OF(test_functions, name);
		TEST_OF(test_marker, name);
		if (!tacho_symbol_has_dwarf())
			continue;
		TEST_OF(test_lines, name);
		TEST_OF(test_inlined, name);
#if defined(__x86_64__)
		TEST_OF(test_x86_params, name);
		TEST_OF(test_functions_of_dwarf, name);
#endif
	}
	if (!tacho_symbol_has_dwarf()) {
		TEST(test_without_dwarf());
		return test_done();
	}
	TEST_OF(test_arm_params, "arm-O0");
	TEST_OF(test_arm_params, "arm-O2");
	return test_done();
}
