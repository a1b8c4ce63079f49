// SPDX-License-Identifier: MIT
/* The number scanner, against tables and strtoull(); the decimal writer, against printf. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/scan.h"
#include "test.h"

static void test_digits(void)
{
	static const struct {
		const char *text;
		unsigned int base;
		uint64_t max;
		int err;
		uint64_t v;
		size_t used;
	} table[] = {
		{ "", 10, UINT64_MAX, -EINVAL, 0, 0 },
		{ "x", 10, UINT64_MAX, -EINVAL, 0, 0 },
		{ "-1", 10, UINT64_MAX, -EINVAL, 0, 0 },
		{ " 1", 10, UINT64_MAX, -EINVAL, 0, 0 },
		{ "0", 10, 0, 0, 0, 1 },
		{ "007", 10, 7, 0, 7, 3 },
		{ "12:", 10, UINT64_MAX, 0, 12, 2 },
		{ "12", 2, UINT64_MAX, 0, 1, 1 },
		{ "89", 8, UINT64_MAX, -EINVAL, 0, 0 },
		{ "fFg", 16, UINT64_MAX, 0, 255, 2 },
		{ "@`/:G", 16, UINT64_MAX, -EINVAL, 0, 0 },
		{ "100", 10, 99, -ERANGE, 99, 3 },
		{ "18446744073709551615", 10, UINT64_MAX, 0, UINT64_MAX, 20 },
		{ "18446744073709551616", 10, UINT64_MAX, -ERANGE, UINT64_MAX, 20 },
		{ "99999999999999999999999 ", 10, UINT64_MAX, -ERANGE, UINT64_MAX, 23 },
		{ "ffffffffffffffff", 16, UINT64_MAX, 0, UINT64_MAX, 16 },
		{ "10000000000000000", 16, UINT64_MAX, -ERANGE, UINT64_MAX, 17 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = strlen(table[i].text);

		/* with a NUL, and cut off before other digits */
		for (int bounded = 0; bounded < 2; bounded++) {
			char text[64];
			const char *s = text;
			uint64_t v = 0;
			int err;

			memcpy(text, table[i].text, len + 1);
			if (bounded)
				memcpy(text + len, "1", 2);
			err = tacho_scan_digits(&s, bounded ? text + len : NULL, table[i].base,
						table[i].max, &v);
			CHECK_EQ(err, table[i].err);
			CHECK_EQ(v, table[i].v);
			if (!CHECK_EQ(s - text, table[i].used))
				printf("# '%s'\n", table[i].text);
		}
	}
}

/* Any short text of these characters is what strtoull() says. */
static void test_number(void)
{
	static const char chars[] = "0178aFxX-+ g";
	char text[24];

	for (uint64_t n = 0; n < 200000; n++) {
		size_t len = 0;
		uint64_t seed = n * UINT64_C(0x9e3779b97f4a7c15), v = 0, want;
		const char *s = text;
		char *end;
		int err;

		seed ^= seed >> 29;
		for (uint64_t left = n % 21; left; left--, seed = seed * 6364136223846793005u + 1)
			text[len++] = chars[(seed >> 33) % (sizeof(chars) - 1)];
		text[len] = '\0';
		err = tacho_scan_number(&s, n & 1 ? text + len : NULL, UINT64_MAX, &v);
		if (!isdigit((unsigned char)*text)) {
			CHECK_EQ(err, -EINVAL);
			continue;
		}
		errno = 0;
		want = strtoull(text, &end, 0);
		if (!CHECK(v == want && s == end && err == (errno ? -ERANGE : 0)))
			printf("# '%s': %ju, not %ju\n", text, (uintmax_t)v, (uintmax_t)want);
	}
}

static void test_after(void)
{
	static const char text[] = "pid: 7\nkey: 12x\nkey: 13\nlast: 99";
	static const struct {
		const char *key;
		size_t len;		/* 0: up to the NUL */
		uint64_t max;
		int err;
		uint64_t v;
	} table[] = {
		{ "key: ", 0, UINT64_MAX, 0, 12 },
		{ "\nkey: ", 0, 12, 0, 12 },
		{ "key: ", 0, 11, -ERANGE, 11 },
		{ "key: ", 13, UINT64_MAX, 0, 1 },
		{ "key: ", 12, UINT64_MAX, -EINVAL, 0 },
		{ "key: ", 10, UINT64_MAX, -EINVAL, 0 },
		{ "last: ", 0, UINT64_MAX, 0, 99 },
		{ "key:", 0, UINT64_MAX, -EINVAL, 0 },
		{ "none: ", 0, UINT64_MAX, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint64_t v = 0;
		int err = tacho_scan_after(text, table[i].len ? text + table[i].len : NULL,
					   table[i].key, table[i].max, &v);

		CHECK_EQ(err, table[i].err);
		if (!CHECK_EQ(v, table[i].v))
			printf("# '%s', %zu\n", table[i].key, table[i].len);
	}
}

static void test_whole(void)
{
	static const struct {
		const char *text;
		unsigned int signs;
		bool good;
		uint64_t v;
	} table[] = {
		{ "", 0, false, 0 }, { "-", 3, false, 0 }, { "+", 3, false, 0 },
		{ "5", 0, true, 5 }, { "-5", 0, false, 0 }, { "+5", 0, false, 0 },
		{ "-5", TACHO_SCAN_MINUS, true, (uint64_t)-5 },
		{ "+5", TACHO_SCAN_MINUS, false, 0 }, { "+5", TACHO_SCAN_PLUS, true, 5 },
		{ "-5", TACHO_SCAN_PLUS, false, 0 }, { "--5", 3, false, 0 }, { "-+5", 3, false, 0 },
		{ "0x", 0, false, 0 }, { "0x1f", 0, true, 31 }, { "-0X1f", 3, true, (uint64_t)-31 },
		{ "017", 0, true, 15 }, { "018", 0, false, 0 }, { "0", 0, true, 0 },
		{ "5 ", 0, false, 0 }, { "5k", 0, false, 0 },
		{ "18446744073709551615", 0, true, UINT64_MAX },
		{ "18446744073709551616", 0, false, 0 },
		{ "9223372036854775807", TACHO_SCAN_MINUS, true, INT64_MAX },
		{ "9223372036854775808", TACHO_SCAN_MINUS, false, 0 },
		{ "-9223372036854775808", TACHO_SCAN_MINUS, true, (uint64_t)INT64_MIN },
		{ "-9223372036854775809", TACHO_SCAN_MINUS, false, 0 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint64_t v = 0;
		bool good = tacho_scan_whole(table[i].text, strlen(table[i].text),
					     table[i].signs, &v);

		if (!CHECK(good == table[i].good && (!good || v == table[i].v)))
			printf("# '%s'\n", table[i].text);
	}
}

static void test_size(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
		size_t used;
	} table[] = {
		{ "", -EINVAL, 0, 0 }, { "k", -EINVAL, 0, 0 }, { "4096", 0, 4096, 4 },
		{ "64k", 0, 65536, 3 }, { "64KB,", 0, 65536, 4 }, { "64kiB", 0, 65536, 5 },
		{ "64ki", 0, 65536, 3 }, { "7B", 0, 7, 2 }, { "7iB", 0, 7, 1 },
		{ "3m", 0, 3 << 20, 2 }, { "2G", 0, UINT64_C(2) << 30, 2 },
		{ "1t", 0, UINT64_C(1) << 40, 2 }, { "16777215T", 0, UINT64_C(16777215) << 40, 9 },
		{ "16777216T", -ERANGE, UINT64_MAX, 9 },
		{ "99999999999999999999k", -ERANGE, UINT64_MAX, 21 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *s = table[i].text;
		uint64_t v = 0;
		int err = tacho_scan_size(&s, NULL, &v);

		if (!CHECK(err == table[i].err && v == table[i].v &&
			   (size_t)(s - table[i].text) == table[i].used))
			printf("# '%s': %d %ju %zu\n", table[i].text, err, (uintmax_t)v,
			       (size_t)(s - table[i].text));
	}
}

static void test_range(void)
{
	const char *text = "0-3,8,5-4", *s = text;
	uint64_t first, last;

	CHECK_EQ(tacho_scan_range(&s, NULL, 100, &first, &last), 0);
	CHECK(first == 0 && last == 3 && *s++ == ',');
	CHECK_EQ(tacho_scan_range(&s, NULL, 100, &first, &last), 0);
	CHECK(first == 8 && last == 8 && *s++ == ',');
	CHECK_EQ(tacho_scan_range(&s, NULL, 100, &first, &last), -EINVAL);
	CHECK_STR(s, "5-4");
	CHECK_EQ(tacho_scan_range(&s, s + 2, 100, &first, &last), -EINVAL);
	s = "7-101";
	CHECK_EQ(tacho_scan_range(&s, NULL, 100, &first, &last), -ERANGE);
	CHECK(first == 7 && last == 100 && !*s);
}

static void test_writer(void)
{
	for (unsigned int shift = 0; shift < 64; shift++)
		for (int d = -2; d <= 2; d++) {
			uint64_t v = (UINT64_C(1) << shift) + (uint64_t)(int64_t)d;
			char got[32], want[32];

			for (int pow = 0; pow < 2; pow++) {
				*tacho_digits(got, v) = '\0';
				(void)snprintf(want, sizeof(want), "%" PRIu64, v);
				CHECK_STR(got, want);
				*tacho_digits_right(got, v, 24) = '\0';
				(void)snprintf(want, sizeof(want), "%24" PRIu64, v);
				CHECK_STR(got, want);
				v = v % 20;
				for (unsigned int i = 0; i < shift % 19; i++)
					v *= 10;
				v += (uint64_t)(int64_t)d;
			}
		}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_digits());
	TEST(test_number());
	TEST(test_after());
	TEST(test_whole());
	TEST(test_size());
	TEST(test_range());
	TEST(test_writer());
	return test_done();
}
