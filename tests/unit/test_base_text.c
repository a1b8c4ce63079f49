// SPDX-License-Identifier: MIT
/* Globs, hashes, sizes, times, numbers. */
#include "test.h"

#include <errno.h>

#include "base/compiler.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"

static void test_globs(void)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} table[] = {
		{ "", "", true }, { "", "a", false }, { "a", "", false },
		{ "*", "", true }, { "*", "anything", true },
		{ "**", "x", true }, { "a*", "a", true }, { "a*", "ba", false },
		{ "*a", "ba", true }, { "*a", "ab", false },
		{ "a*c", "abc", true }, { "a*c", "ac", true },
		{ "a*c", "acb", false }, { "*b*", "abc", true },
		{ "a*b*c", "aXbYbZc", true }, { "a*b*c", "aXcYb", false },
		{ "?", "a", true }, { "?", "", false }, { "??", "a", false },
		{ "a?c", "abc", true }, { "a?c", "ac", false },
		{ "[abc]", "b", true }, { "[abc]", "d", false },
		{ "[a-c]x", "bx", true }, { "[a-c]x", "dx", false },
		{ "[!a-c]", "d", true }, { "[!a-c]", "b", false },
		{ "[^a]", "b", true }, { "[^a]", "a", false },
		{ "[]]", "]", true }, { "[]]", "a", false },
		{ "[!]]", "a", true }, { "[!]]", "]", false },
		{ "[a-]", "-", true }, { "[-a]", "-", true },
		{ "[a-c-e]", "-", true }, { "[\\]]", "]", true },
		{ "[", "[", true }, { "[a", "[a", true }, { "[a", "a", false },
		{ "a[", "a[", true }, { "x[!", "x[!", true },
		{ "\\*", "*", true }, { "\\*", "a", false },
		{ "\\?", "?", true }, { "\\[a]", "[a]", true },
		{ "\\\\", "\\", true }, { "a\\", "a\\", true },
		{ "*[0-9]", "cpu12", true }, { "*[0-9]", "cpu", false },
		{ "sched_*", "sched_switch", true },
		{ "[\x80-\xff]", "\xe4", true }, { "[\x80-\xff]", "a", false },
		{ "*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++)
		test_check(tacho_glob_match(table[i].pattern, table[i].text) ==
			   table[i].match, __FILE__, __LINE__, "'%s' on '%s'",
			   table[i].pattern, table[i].text);
}

static void test_suggest(void)
{
	static const char *const events[][2] = {
		{ "sched", "sched_switch" }, { "sched", "sched_wakeup" },
		{ "shop", "order_done" }, { "shop", "order_new" }, { "iommu", "map" },
		{ "irq", "irq_handler_entry" },
	};
	static const struct {
		const char *glob, *near;	/* the nearest; "": there is none */
	} table[] = {
		{ "shop:order_dne", "shop:order_done" },
		{ "shpo:order_done", "shop:order_done" },
		{ "order_nwe", "shop:order_new" }, { "wakeup", "sched:sched_wakeup" },
		{ "other:map", "iommu:map" }, { "iommu:pam", "" },
		/* only what leaves the event open is near a system */
		{ "shced:*", "sched:*" }, { "shced", "sched:*" }, { "shced:x", "" },
		{ "shop:order_*x", "" }, { "sched:sched_swich*", "sched:sched_switch" },
		{ "nosuch:*", "" }, { "*", "" }, { "*:*", "" }, { "", "" }, { ":", "" },
		{ "irq:completely_different", "" }, { "zzz", "" }, { "x:m", "" },
	};

	CHECK(tacho_suggest_distance("", "abc") == 3);
	CHECK(tacho_suggest_distance("abc", "") == 3);
	CHECK(tacho_suggest_distance("shced", "sched") == 1);
	CHECK(tacho_suggest_distance("kitten", "sitting") == 3);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_suggestions n = { .nr = 0 };

		for (size_t k = 0; k < TACHO_ARRAY_SIZE(events); k++)
			tacho_suggest_event(&n, table[i].glob, events[k][0], events[k][1]);
		test_check(!strcmp(n.nr ? n.name[0] : "", table[i].near), __FILE__,
			   __LINE__, "'%s': near '%s', not '%s'", table[i].glob,
			   n.nr ? n.name[0] : "", table[i].near);
	}
}

static void test_hash(void)
{
	uint64_t h = tacho_hash("foo", 3, 0);

	/* the published values of 64-bit FNV-1a */
	CHECK(tacho_hash("", 0, 0) == 0xcbf29ce484222325);
	CHECK(tacho_hash("a", 1, 0) == 0xaf63dc4c8601ec8c);
	CHECK(tacho_hash("foobar", 6, 0) == 0x85944171f73967e8);
	CHECK(tacho_hash("bar", 3, h) == tacho_hash("foobar", 6, 0));
}

struct number {
	const char *text;
	int err;
	uint64_t value;
};

static void check_numbers(const struct number *t, size_t n,
			  int (*parse)(const char *, uint64_t *))
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;
		int err = parse(t[i].text, &v);

		test_check(err == t[i].err && (err || v == t[i].value),
			   __FILE__, __LINE__, "'%s': %d, %llu", t[i].text, err,
			   (unsigned long long)v);
	}
}

static void test_sizes(void)
{
	static const struct number table[] = {
		{ "0", 0, 0 }, { "4096", 0, 4096 }, { "4096B", 0, 4096 },
		{ "64k", 0, 65536 }, { "256K", 0, 262144 },
		{ "256KB", 0, 262144 }, { "1KiB", 0, 1024 },
		{ "16M", 0, 16 << 20 }, { "2G", 0, 2ull << 30 },
		{ "2GiB", 0, 2ull << 30 }, { "1T", 0, 1ull << 40 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "16777215T", 0, 16777215ull << 40 },
		{ "16777216T", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "k", -EINVAL, 0 }, { "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 }, { " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 }, { "1kk", -EINVAL, 0 },
		{ "1iB", -EINVAL, 0 }, { "1kBB", -EINVAL, 0 },
		{ "1.5k", -EINVAL, 0 }, { "0x10", -EINVAL, 0 },
	};

	check_numbers(table, TACHO_ARRAY_SIZE(table), tacho_parse_size);
}

static void test_times(void)
{
	static const struct number table[] = {
		{ "0", 0, 0 }, { "10", 0, 10000000000 }, { "10s", 0, 10000000000 },
		{ "1.5s", 0, 1500000000 }, { "1.5", 0, 1500000000 },
		{ "200ms", 0, 200000000 }, { "50us", 0, 50000 },
		{ "100ns", 0, 100 }, { "5m", 0, 300000000000 },
		{ "1h", 0, 3600000000000 }, { "0.5h", 0, 1800000000000 },
		{ "0.000000001", 0, 1 }, { "0.0000000019", 0, 1 },
		{ "1.5ns", 0, 1 }, { "0.999999999h", 0, 3599999996400 },
		{ "18446744073.709551615", 0, UINT64_MAX },
		{ "18446744073.709551616", -ERANGE, 0 },
		{ "18446744074", -ERANGE, 0 }, { "5124096h", -ERANGE, 0 },
		{ "18446744073709551616ns", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "s", -EINVAL, 0 }, { ".5", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 }, { "1 s", -EINVAL, 0 }, { "-1s", -EINVAL, 0 },
		{ "1.5.5", -EINVAL, 0 }, { "1sec", -EINVAL, 0 },
	};

	check_numbers(table, TACHO_ARRAY_SIZE(table), tacho_parse_time);
}

static void test_ranges(void)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int err;
	} table[] = {
		{ "5", 5, 5, 0 }, { "4", 5, 9, -ERANGE }, { "10", 5, 9, -ERANGE },
		{ "9", 5, 9, 0 }, { "18446744073709551615", 0, UINT64_MAX, 0 },
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE },
		{ "", 0, 9, -EINVAL }, { "x", 0, 9, -EINVAL },
		{ "5x", 0, 9, -EINVAL }, { "-5", 0, 9, -EINVAL },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		uint64_t v = 0;

		test_check(tacho_parse_u64(table[i].text, table[i].min,
					   table[i].max, &v) == table[i].err,
			   __FILE__, __LINE__, "'%s'", table[i].text);
	}
}

static void test_event_glob(void)
{
	static const struct {
		const char *glob, *system, *event;
		bool want;
	} table[] = {
		{ "sched:sched_switch", "sched", "sched_switch", true },
		{ "sched:*", "sched", "sched_switch", true },
		{ "*:sched_*", "sched", "sched_switch", true },
		{ "sched", "sched", "sched_switch", true },
		{ "sched_switch", "sched", "sched_switch", true },
		{ "*switch", "sched", "sched_switch", true },
		{ "irq:*", "sched", "sched_switch", false },
		{ "sched:switch", "sched", "sched_switch", false },
		{ "switch", "sched", "sched_switch", false },
		{ "sched:", "sched", "sched_switch", true },
		{ ":sched_switch", "sched", "sched_switch", true },
		{ "irq:", "sched", "sched_switch", false },
		{ ":sched", "sched", "sched_switch", false },
		{ "", "sched", "sched_switch", false },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		test_check(tacho_event_glob(table[i].glob, table[i].system,
					    table[i].event) == table[i].want,
			   __FILE__, __LINE__, "%s", table[i].glob);
}

/* A text as JSON has it: what is cut, or none, is one U+FFFD for as much as it is. */
static void test_utf8(void)
{
	static const struct {
		const char *text, *json;
	} table[] = {
		{ "a\xc3\xa9", "\"a\xc3\xa9\"" },
		{ "\xe2\x82\xac", "\"\xe2\x82\xac\"" },
		{ "\xe2\x82", "\"\\ufffd\"" },	/* cut at the end */
		{ "\xf0\x9f\x98", "\"\\ufffd\"" },
		{ "\xf0\x9f\x98 x", "\"\\ufffd x\"" },
		{ "\xe2\x82\xe2\x82\xac", "\"\\ufffd\xe2\x82\xac\"" },
		{ "\xc3", "\"\\ufffd\"" },
		{ "\x80\x80", "\"\\ufffd\\ufffd\"" },	/* each is none */
		{ "\xc0\xaf", "\"\\ufffd\\ufffd\"" },	/* overlong */
		{ "\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },	/* a surrogate */
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xff", "\"\\ufffd\"" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_buf out;
		struct tacho_json j;

		tacho_buf_init(&out, 4096);
		tacho_json_init(&j, &out);
		tacho_json_str(&j, table[i].text);
		CHECK_STR(tacho_buf_str(&out), table[i].json);
		tacho_buf_release(&out);
	}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_utf8());
	TEST(test_globs());
	TEST(test_suggest());
	TEST(test_event_glob());
	TEST(test_hash());
	TEST(test_sizes());
	TEST(test_times());
	TEST(test_ranges());
	return test_done();
}
