// SPDX-License-Identifier: MIT
/* Caps and sticky errors of buffers, numbers into them, files into them. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/buf.h"

static void test_cap(void)
{
	struct tacho_buf b;

	tacho_buf_init(&b, 10);
	tacho_buf_puts(&b, "12345");
	CHECK_EQ(tacho_buf_error(&b), 0);
	tacho_buf_puts(&b, "6789ab");
	CHECK_EQ(tacho_buf_error(&b), -EOVERFLOW);
	CHECK_EQ(b.len, 5);
	/* it would fit, but the error sticks */
	tacho_buf_putc(&b, 'x');
	CHECK_EQ(b.len, 5);
	CHECK(!tacho_buf_reserve(&b, 1));
	CHECK_STR(tacho_buf_str(&b), "12345");
	CHECK_EQ(tacho_buf_error(&b), -EOVERFLOW);
	tacho_buf_reset(&b);
	CHECK_EQ(tacho_buf_error(&b), 0);
	tacho_buf_puts(&b, "0123456789");
	CHECK_EQ(tacho_buf_error(&b), 0);
	CHECK_EQ(b.len, 10);
	CHECK(b.room <= 10);
	/* full: no room for the NUL */
	CHECK_STR(tacho_buf_str(&b), "");
	CHECK_EQ(tacho_buf_error(&b), 0);
	tacho_buf_release(&b);
	CHECK_EQ(b.cap, 10);
	CHECK(!b.data && !b.len);

	tacho_buf_init(&b, 0);
	CHECK_STR(tacho_buf_str(&b), "");
	tacho_buf_putc(&b, 'x');
	CHECK_EQ(tacho_buf_error(&b), -EOVERFLOW);
	tacho_buf_release(&b);
}

static void test_reserve(void)
{
	struct tacho_buf b;
	char *p;

	tacho_buf_init(&b, 1000);
	p = tacho_buf_reserve(&b, 1000);
	if (CHECK(p != NULL)) {
		memset(p, 'y', 1000);
		tacho_buf_commit(&b, 600);
	}
	CHECK_EQ(b.len, 600);
	CHECK(!tacho_buf_reserve(&b, 401));
	CHECK_EQ(tacho_buf_error(&b), -EOVERFLOW);
	tacho_buf_release(&b);

	/* sizes near the end of the address space must not wrap */
	tacho_buf_init(&b, SIZE_MAX);
	tacho_buf_puts(&b, "x");
	CHECK(!tacho_buf_reserve(&b, SIZE_MAX));
	CHECK(tacho_buf_error(&b) != 0);
	CHECK_EQ(b.len, 1);
	tacho_buf_release(&b);
}

static void test_grow(void)
{
	struct tacho_buf b;
	bool same = true;

	tacho_buf_init(&b, 1 << 20);
	for (unsigned int i = 0; i < 100000; i++)
		tacho_buf_putc(&b, (char)(i % 251));
	CHECK_EQ(b.len, 100000);
	for (unsigned int i = 0; i < 100000; i++)
		same &= b.data[i] == (char)(i % 251);
	CHECK(same);
	tacho_buf_release(&b);
}

static void test_numbers(void)
{
	static const struct {
		uint64_t v;
		const char *dec, *sdec, *hex;
	} table[] = {
		{ 0, "0", "0", "0" }, { 9, "9", "9", "9" }, { 10, "10", "10", "a" },
		{ 99, "99", "99", "63" }, { 100, "100", "100", "64" },
		{ 12345, "12345", "12345", "3039" },
		{ INT64_MAX, "9223372036854775807", "9223372036854775807",
		  "7fffffffffffffff" },
		{ (uint64_t)INT64_MIN, "9223372036854775808",
		  "-9223372036854775808", "8000000000000000" },
		{ UINT64_MAX, "18446744073709551615", "-1", "ffffffffffffffff" },
	};
	struct tacho_buf b;

	tacho_buf_init(&b, 4096);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		tacho_buf_reset(&b);
		tacho_buf_put_u64(&b, table[i].v);
		CHECK_STR(tacho_buf_str(&b), table[i].dec);
		tacho_buf_reset(&b);
		tacho_buf_put_s64(&b, (int64_t)table[i].v);
		CHECK_STR(tacho_buf_str(&b), table[i].sdec);
		tacho_buf_reset(&b);
		tacho_buf_put_hex(&b, table[i].v, 0);
		CHECK_STR(tacho_buf_str(&b), table[i].hex);
	}
	tacho_buf_reset(&b);
	tacho_buf_put_u64_pad(&b, 42, 5, ' ');
	tacho_buf_put_u64_pad(&b, 42, 4, '0');
	tacho_buf_put_u64_pad(&b, 12345, 2, '0');
	tacho_buf_putc(&b, ' ');
	tacho_buf_put_hex(&b, 0xab, 4);
	tacho_buf_put_hex(&b, 0x12345, 2);
	CHECK_STR(tacho_buf_str(&b), "   42004212345 00ab12345");
	tacho_buf_release(&b);
}

static void test_put_line(void)
{
	struct tacho_buf b;

	tacho_buf_init(&b, 100);
	tacho_buf_put_line(&b, "a\nb\tc\x01\x7f\xc3\xa9 \"\\");
	CHECK_STR(tacho_buf_str(&b), "a\\nb\\tc\\x01\\x7f\xc3\xa9 \"\\");
	tacho_buf_release(&b);
}

static void test_printf(void)
{
	char longest[301];
	struct tacho_buf b;

	memset(longest, 'z', 300);
	longest[300] = '\0';
	tacho_buf_init(&b, 4096);
	tacho_buf_printf(&b, "%s-%d", "a", 5);
	tacho_buf_printf(&b, "%s", longest);
	CHECK_EQ(b.len, 303);
	CHECK(!strcmp(tacho_buf_str(&b) + 3, longest));
	tacho_buf_release(&b);

	tacho_buf_init(&b, 100);
	tacho_buf_puts(&b, "kept");
	tacho_buf_printf(&b, "%s", longest);
	CHECK_EQ(tacho_buf_error(&b), -EOVERFLOW);
	CHECK_STR(tacho_buf_str(&b), "kept");
	tacho_buf_release(&b);
}

static void test_files(void)
{
	char path[] = "/tmp/tacho-test-XXXXXX";
	char data[10000];
	struct tacho_buf b;
	int fd = mkstemp(path);

	memset(data, 'f', sizeof(data));
	if (!CHECK(fd >= 0))
		return;
	CHECK_EQ(write(fd, data, sizeof(data)), sizeof(data));
	close(fd);
	tacho_buf_init(&b, 1 << 16);
	tacho_buf_puts(&b, "head");
	CHECK_EQ(tacho_buf_read_file(&b, path), 0);
	CHECK_EQ(b.len, sizeof(data) + 4);
	CHECK(b.data && !memcmp(b.data + 4, data, sizeof(data)));
	CHECK_EQ(tacho_buf_read_file(&b, "/tmp/tacho-test-none/x"), -ENOENT);
	tacho_buf_release(&b);
	tacho_buf_init(&b, sizeof(data) - 1);
	CHECK_EQ(tacho_buf_read_file(&b, path), -EOVERFLOW);
	tacho_buf_release(&b);
	unlink(path);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_cap());
	TEST(test_reserve());
	TEST(test_grow());
	TEST(test_numbers());
	TEST(test_put_line());
	TEST(test_printf());
	TEST(test_files());
	return test_done();
}
