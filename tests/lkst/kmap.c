/* SPDX-License-Identifier: MIT */
/*
 * The table of kernel event types.
 *
 *	kmap table		itself: numbers, texts, tracepoints
 *	kmap formats < TEXT	against the formats of several kernels: "@@ KERNEL SYSTEM:EVENT" before each
 *	kmap live		against the running kernel's (root and tracefs, else skipped)
 *	kmap list		prints it, with tabs, for tools/lkst-events.py
 */
#include <ctype.h>
#include <errno.h>
#include <linux/lkst.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "event/type.h"
#include "fmt/lkst/kmap.h"
#include "tracefs/tracefs.h"
#include "unit/test.h"

#define NR_KERNEL	0x100
#define TEXT_MAX	(8u << 20)

static const char *next_point(const struct lkst_kmap *m, char point[LKST_KMAP_POINT_LEN],
			      const char *from)
{
	return lkst_kmap_point(m, point, from);
}

/* ---- itself ---- */

static void test_texts(const struct lkst_etype_text *t, const struct lkst_kmap *m)
{
	char lower[LKST_MNEMONIC_LEN];
	size_t i;

	CHECK(strlen(t->mnemonic) < LKST_MNEMONIC_LEN && strlen(t->name) < LKST_ETYPE_NAME_LEN);
	for (i = 0; t->mnemonic[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)t->mnemonic[i]);
	lower[i] = '\0';
	CHECK_STR(t->name, lower);
	for (i = 0; i < 4; i++) {
		CHECK(strlen(t->arg[i]) < LKST_ETYPE_ARG_LEN && !strchr(t->arg[i], ','));
		/* an argument is described if and only if there is one */
		test_check(!*t->arg[i] == !m->arg[i], __FILE__, __LINE__,
			   "%s: argument %zu is '%s' and '%s'", t->mnemonic, i + 1, t->arg[i],
			   m->arg[i] ? m->arg[i] : "");
		/* two numbers have two words, and the other way round */
		if (m->arg[i])
			test_check(!strchr(m->arg[i], ':') == !strchr(t->arg[i], '/'), __FILE__,
				   __LINE__, "%s: '%s' and '%s'", t->mnemonic, t->arg[i],
				   m->arg[i]);
	}
}

static void test_entry(const struct lkst_kmap *m, uint32_t nr)
{
	char point[LKST_KMAP_POINT_LEN];
	const char *at = NULL;
	int points = 0;

	CHECK_EQ(m->etype, nr);
	while ((at = next_point(m, point, at))) {
		char *colon = strchr(point, ':');

		points++;
		if (!CHECK(colon != NULL))
			continue;
		*colon = '\0';
		/* each tracepoint makes one event type */
		CHECK(lkst_kmap_find(point, colon + 1) == m);
	}
	CHECK(points > 0);
	if (nr >= LKST_ETYPE_LOCK_FIRST && nr <= LKST_ETYPE_LOCK_LAST)
		CHECK(!m->by_default);
}

static int test_table(void)
{
	uint32_t nr = 0, by_default = 0, locks = 0, blocks = 0;

	for (uint32_t i = 0; i < NR_KERNEL; i++) {
		const struct lkst_etype_text *t = lkst_etype_text(i);
		const struct lkst_kmap *m = lkst_kmap_at(i);

		test_check(!t == !m, __FILE__, __LINE__, "event type 0x%03x is in one table only", i);
		if (!t || !m)
			continue;
		test_texts(t, m);
		test_entry(m, i);
		nr++;
		by_default += m->by_default;
		locks += i >= LKST_ETYPE_LOCK_FIRST && i <= LKST_ETYPE_LOCK_LAST;
		for (uint32_t k = 0; k < i; k++)
			CHECK(!lkst_etype_text(k) ||
			      strcmp(lkst_etype_text(k)->mnemonic, t->mnemonic));
	}
	for (uint32_t i = 0x010; i <= 0x0a0; i += 0x10)
		blocks += lkst_kmap_at(i) != NULL;
	CHECK_EQ(blocks, 10);	/* the subsystems of the specification's time */
	CHECK(nr >= 50 && locks > 0 && by_default > 0 && by_default < nr);
	CHECK(!lkst_kmap_at(0) && !lkst_kmap_at(NR_KERNEL) && !lkst_kmap_at(UINT32_MAX));
	CHECK(!lkst_kmap_find("sched", "sched_switc") && !lkst_kmap_find("", "") &&
	      !lkst_kmap_find("sched", "sched_switch_"));
	CHECK(lkst_etype_text(LKST_ETYPE_LKST_LOST) && !lkst_etype_text(0x100));
	return test_done();
}

/* ---- against formats ---- */

static bool plan_of(struct lkst_kplan *plan, const struct lkst_kmap *m, const char *kernel,
		    const char *point, const char *text, size_t len)
{
	struct tacho_diag d = { 0 };
	struct tacho_arena arena;
	struct tacho_type *type;
	char system[64];
	bool ok = false;

	(void)snprintf(system, sizeof(system), "%.*s", (int)strcspn(point, ":"), point);
	tacho_arena_init(&arena, 1u << 20);
	type = tacho_type_parse_fields(&arena, system, NULL, 0, text, len, &d);
	if (type)
		ok = !lkst_kplan_make(plan, m, type, &d);
	test_check(ok, __FILE__, __LINE__, "0x%03x of %s: %s", m->etype, kernel, d.text);
	tacho_arena_release(&arena);
	return ok;
}

/* One "@@ KERNEL SYSTEM:EVENT\nFORMAT"; returns the next. */
static const char *one_format(const char *text, uint32_t seen[NR_KERNEL])
{
	const char *body = strchr(text, '\n'), *next;
	char kernel[16], system[64], event[80];
	const struct lkst_kmap *m;
	struct lkst_kplan plan;

	if (!CHECK(body && sscanf(text, "@@ %15s %63[^:]:%79s", kernel, system, event) == 3))
		return NULL;
	next = strstr(body, "\n@@ ");
	m = lkst_kmap_find(system, event);
	if (test_check(m != NULL, __FILE__, __LINE__, "%s:%s is not in the table", system, event)) {
		char point[160];

		(void)snprintf(point, sizeof(point), "%s:%s", system, event);
		seen[m->etype] += plan_of(&plan, m, kernel, point, body + 1,
					  next ? (size_t)(next - body) : strlen(body + 1));
	}
	return next ? next + 1 : NULL;
}

static int test_formats(void)
{
	uint32_t seen[NR_KERNEL] = { 0 };
	const char *at;
	size_t len = 0;
	char *text = malloc(TEXT_MAX);

	if (!text)
		return 2;
	for (size_t n; (n = fread(text + len, 1, TEXT_MAX - 1 - len, stdin)); len += n)
		;
	text[len] = '\0';
	for (at = text; at; )
		at = one_format(at, seen);
	for (uint32_t i = 0; i < NR_KERNEL; i++)
		if (lkst_kmap_at(i))
			test_check(seen[i], __FILE__, __LINE__, "no kernel has 0x%03x", i);
	free(text);
	return test_done();
}

static int test_live(void)
{
	char point[LKST_KMAP_POINT_LEN], path[160];
	struct tacho_diag d = { 0 };
	struct tacho_tracefs t;
	struct lkst_kplan plan;
	uint32_t here = 0;

	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d))
		SKIP(d.text);
	for (uint32_t i = 0; i < NR_KERNEL; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);
		const char *at = NULL;

		while (m && (at = next_point(m, point, at))) {
			struct tacho_buf text;

			(void)snprintf(path, sizeof(path), "events/%.*s/%s/format",
				       (int)strcspn(point, ":"), point, strchr(point, ':') + 1);
			tacho_buf_init(&text, 1u << 16);
			if (!tacho_tracefs_read(t.dirfd, path, &text, NULL))
				here += plan_of(&plan, m, "this kernel", point, text.data,
						text.len);
			tacho_buf_release(&text);
		}
	}
	printf("# %u of them are here\n", here);
	CHECK(here >= 50);
	tacho_tracefs_close(&t);
	return test_done();
}

/* ---- values ---- */

static const char made_up[] =
	"name: made_up\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:s16 few;\toffset:8;\tsize:2;\tsigned:1;\n"
	"\tfield:u8 one;\toffset:10;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 less;\toffset:11;\tsize:1;\tsigned:1;\n"
	"\tfield:int neg;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long big[3];\toffset:16;\tsize:24;\tsigned:0;\n"
	"\tfield:__u8 addr[4];\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:struct whole w;\toffset:64;\tsize:24;\tsigned:0;\n\n"
	"print fmt: \"\"\n";

static unsigned char raw[96];

static void make_raw(void)
{
	tacho_put_u16(raw + 8, (uint16_t)-3);
	raw[10] = 200;
	raw[11] = (unsigned char)-2;
	tacho_put_u32(raw + 12, (uint32_t)-5);
	tacho_put_u64(raw + 16, 1);
	tacho_put_u64(raw + 24, UINT64_C(0x1122334455667788));
	tacho_put_u64(raw + 32, 3);
	memcpy(raw + 40, "\x7f\0\0\1", 4);
	memcpy(raw + 44, "ab", 3);
	tacho_put_u32(raw + 60, 8u << 16 | 88);
	memcpy(raw + 88, "eth0\0zzz", 8);
}

static struct tacho_type *made_up_type(struct tacho_arena *arena)
{
	return tacho_type_parse_fields(arena, "test", NULL, 0, made_up, sizeof(made_up) - 1, NULL);
}

static int value(const char *field, uint32_t len, uint64_t *v)
{
	const struct lkst_kmap m = { .arg = { field } };
	struct lkst_kplan plan = { 0 };
	struct tacho_arena arena;
	uint64_t arg[4];
	int err;

	tacho_arena_init(&arena, 1u << 20);
	err = lkst_kplan_make(&plan, &m, made_up_type(&arena), NULL);
	tacho_arena_release(&arena);
	if (err)
		return err;
	if (!lkst_kplan_args(&plan, raw, len, arg))
		return -EMSGSIZE;
	CHECK_EQ(arg[1] | arg[2] | arg[3], 0);
	*v = arg[0];
	return 0;
}

static void is(const char *field, uint64_t want)
{
	uint64_t v = 0;
	int err = value(field, sizeof(raw), &v);

	test_check(!err && v == want, __FILE__, __LINE__, "%s: %d, 0x%llx, not 0x%llx", field, err,
		   (unsigned long long)v, (unsigned long long)want);
}

static void fails(const char *field, uint32_t len, int want)
{
	uint64_t v;
	int err = value(field, len, &v);

	test_check(err == want, __FILE__, __LINE__, "%s: %d, not %d", field, err, want);
}

static int test_values(void)
{
	uint64_t v;

	make_raw();
	is("few", (uint64_t)-3);
	is("one", 200);
	is("less", (uint64_t)-2);
	is("neg", (uint64_t)-5);
	is("big", 1);
	is("big[1]", UINT64_C(0x1122334455667788));
	is("big[2]", 3);
	is("neg:big[1]", UINT64_C(0xfffffffb55667788));
	is("one:less", UINT64_C(200) << 32 | 0xfffffffe);
	is("addr", 0x7f000001);
	is("comm", 0x6162);
	is("name", 0x65746830);
	is("#name", 4);
	is("nothing/other/one", 200);
	is("one/few", 200);
	is("?nothing", 0);
	is("?one", 200);
	is("one:?nothing", UINT64_C(200) << 32);
	fails("nothing", sizeof(raw), -ENOENT);
	fails("one:nothing", sizeof(raw), -ENOENT);
	fails("nothing/other", sizeof(raw), -ENOENT);
	fails("w", sizeof(raw), -EINVAL);
	fails("big[3]", sizeof(raw), -EINVAL);
	/* events that are too short */
	fails("neg", 15, -EMSGSIZE);
	fails("big[2]", 39, -EMSGSIZE);
	fails("name", 63, -EMSGSIZE);
	CHECK(!value("neg", 16, &v) && v == (uint64_t)-5);
	CHECK(!value("name", 90, &v) && v == 0x6574);
	tacho_put_u32(raw + 60, 8u << 16 | 0xffff);
	is("name", 0);
	is("#name", 0);
	return test_done();
}

/* ---- for the documentation ---- */

static int list(void)
{
	for (uint32_t i = 0; i < NR_KERNEL; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);
		const struct lkst_etype_text *t = lkst_etype_text(i);

		if (!m || !t)
			continue;
		printf("0x%03x\t%s\t%s\t%s\t%d", i, t->mnemonic, t->name, m->points,
		       m->by_default);
		for (int a = 0; a < 4; a++)
			printf("\t%s\t%s", t->arg[a], m->arg[a] ? m->arg[a] : "");
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{ "table", test_table }, { "formats", test_formats }, { "live", test_live },
		{ "values", test_values }, { "list", list },
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			if (modes[i].run != list)
				(void)test_enter(modes[i].name);
			return modes[i].run();
		}
	fprintf(stderr, "usage: kmap table|formats|live|values|list\n");
	return 2;
}
