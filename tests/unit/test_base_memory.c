// SPDX-License-Identifier: MIT
/* Arena caps, maps that grow, the cursor's sticky error, the first error of a diag, byte orders. */
#include "test.h"

#include <errno.h>
#include <stdalign.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cursor.h"
#include "base/diag.h"
#include "base/hashmap.h"

static void test_arena(void)
{
	struct tacho_arena a;
	size_t total = 0;
	char *s;

	tacho_arena_init(&a, 100000);
	for (size_t n = 1; n < 5000; n = n * 3 + 1) {
		unsigned char *p = tacho_arena_alloc(&a, n);
		bool zero = true;

		if (!CHECK(p != NULL))
			break;
		CHECK_EQ((uintptr_t)p % alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			zero &= !p[i];
		CHECK(zero);
		memset(p, 0xff, n);
	}
	s = tacho_arena_strndup(&a, "hello", 3);
	CHECK_STR(s ? s : "", "hel");
	CHECK(!tacho_arena_array(&a, SIZE_MAX / 2, 3));
	CHECK(!tacho_arena_array(&a, SIZE_MAX / 8, 8));
	CHECK(!tacho_arena_alloc(&a, SIZE_MAX));
	CHECK(!tacho_arena_alloc(&a, SIZE_MAX - 8));
	CHECK(!tacho_arena_strndup(&a, "x", SIZE_MAX));
	CHECK(!tacho_arena_alloc(&a, 100001));
	tacho_arena_release(&a);
	CHECK(!a.head);

	/* the cap holds whatever the sizes, and small pieces still fit in what is left */
	tacho_arena_init(&a, 1000);
	for (;;) {
		if (!tacho_arena_alloc(&a, 100))
			break;
		total += 100;
		if (total > 1000)
			break;
	}
	CHECK(total >= 800 && total <= 1000);
	CHECK(a.used <= 1000);
	tacho_arena_release(&a);
	CHECK(tacho_arena_alloc(&a, 100) != NULL);
	tacho_arena_release(&a);
}

/* The caller's memory: filled to its end, never more, never freed. */
static void test_fixed_arena(void)
{
	static _Alignas(64) unsigned char mem[4096];
	struct tacho_arena a;
	size_t total = 0;
	unsigned char *p;

	tacho_arena_init_mem(&a, mem, sizeof(mem));
	CHECK(tacho_arena_mem_used(&a) > 0 && tacho_arena_mem_used(&a) < 64);
	while ((p = tacho_arena_alloc(&a, 100))) {
		CHECK(p >= mem && p + 100 <= mem + sizeof(mem));
		CHECK(!((uintptr_t)p % _Alignof(max_align_t)));
		CHECK(!p[0] && !p[99]);
		memset(p, 0xff, 100);
		total += 100;
	}
	CHECK(total > 3000);
	CHECK(tacho_arena_mem_used(&a) <= sizeof(mem));
	CHECK(!tacho_arena_alloc(&a, 5000));
	tacho_arena_release(&a);
	CHECK(!tacho_arena_alloc(&a, 1));
	tacho_arena_init_mem(&a, mem, 8);	/* not even its own words */
	CHECK(!tacho_arena_alloc(&a, 1));
	CHECK_EQ(tacho_arena_mem_used(&a), 0);
}

static void test_cursor(void)
{
	static const unsigned char data[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		'h', 'i', 0, 'x',
	};
	struct tacho_cur c;
	const char *s;

	tacho_cur_init(&c, data, sizeof(data));
	CHECK_EQ(tacho_cur_u8(&c), 1);
	CHECK_EQ(tacho_cur_u16(&c), tacho_load_u16(data + 1));
	CHECK_EQ(tacho_cur_u32(&c), tacho_load_u32(data + 3));
	CHECK_EQ(tacho_cur_u64(&c), tacho_load_u64(data + 7));
	s = tacho_cur_str(&c);
	CHECK_STR(s ? s : "", "hi");
	CHECK_EQ(tacho_cur_left(&c), 1);
	CHECK(!c.why);
	CHECK(!tacho_cur_str(&c));
	CHECK(c.why && c.at == 18);
	/* it sticks, though a byte is there */
	CHECK_EQ(tacho_cur_u8(&c), 0);
	CHECK(!tacho_cur_bytes(&c, 0));
	CHECK_EQ(c.at, 18);

	tacho_cur_init(&c, data, 7);
	c.swap = true;
	CHECK_EQ(tacho_cur_u16(&c), __builtin_bswap16(tacho_load_u16(data)));
	CHECK_EQ(tacho_cur_u32(&c), __builtin_bswap32(tacho_load_u32(data + 2)));
	CHECK_EQ(tacho_cur_u64(&c), 0);
	CHECK(c.why && c.at == 6);
	CHECK_EQ(tacho_cur_left(&c), 1);

	/* lengths near the end of the address space must not wrap */
	tacho_cur_init(&c, data, 7);
	tacho_cur_u8(&c);
	CHECK(!tacho_cur_bytes(&c, SIZE_MAX));
	CHECK(c.why != NULL);
	CHECK_EQ(c.pos, 1);
}

static void test_diag_first(void)
{
	struct tacho_diag d = { .err = 0 };
	char longest[800];

	CHECK_EQ(tacho_diag(&d, -EINVAL, 7, "bad '%s'", "x"), -EINVAL);
	CHECK_EQ(tacho_diag(&d, -ENOMEM, 9, "later"), -EINVAL);
	CHECK_EQ(d.err, -EINVAL);
	CHECK_EQ(d.offset, 7);
	CHECK_STR(d.text, "bad 'x'");
	CHECK(d.line > 0);
	CHECK_EQ(tacho_diag(NULL, -ENOMEM, 0, "nobody asks"), -ENOMEM);
	memset(longest, 'l', sizeof(longest));
	longest[799] = '\0';
	d.err = 0;
	tacho_diag(&d, -EINVAL, 0, "%s", longest);
	CHECK_EQ(strlen(d.text), sizeof(d.text) - 1);
}

static void test_bytes(void)
{
	unsigned char b[9] = { 0 };

	tacho_put_le32(b + 1, 0x01020304);
	CHECK(!memcmp(b, "\0\4\3\2\1\0\0\0", 8));
	CHECK_EQ(tacho_load_le32(b + 1), 0x01020304);
	CHECK_EQ(tacho_load_be32(b + 1), 0x04030201);
	tacho_put_le64(b + 1, 0x0102030405060708);
	CHECK_EQ(tacho_load_le64(b + 1), 0x0102030405060708);
	CHECK_EQ(tacho_load_be64(b + 1), 0x0807060504030201);
	tacho_put_le16(b + 1, 0x0102);
	CHECK_EQ(tacho_load_le16(b + 1), 0x0102);
	CHECK_EQ(tacho_load_be16(b + 1), 0x0201);
	tacho_put_u64(b + 1, UINT64_MAX);
	CHECK_EQ(b[0], 0);
	CHECK(tacho_load_u64(b + 1) == UINT64_MAX);
}

static void test_hashmap(void)
{
	static char values[100000];
	struct tacho_hashmap m = { 0 };
	uint32_t bad = 0, seen = 0;

	CHECK(!tacho_hashmap_get(&m, 0));
	/* keys that fall on few places, and 0, are keys like others */
	for (uint64_t i = 0; i < sizeof(values); i++)
		bad += tacho_hashmap_set(&m, i << 40, &values[i]) != 0;
	for (uint64_t i = 0; i < sizeof(values); i++)
		bad += tacho_hashmap_get(&m, i << 40) != &values[i];
	CHECK_EQ(bad, 0);
	CHECK_EQ(m.nr, sizeof(values));
	CHECK(!tacho_hashmap_get(&m, 1));
	CHECK_EQ(tacho_hashmap_set(&m, UINT64_C(7) << 40, values), 0);
	CHECK(tacho_hashmap_get(&m, UINT64_C(7) << 40) == values);
	CHECK_EQ(m.nr, sizeof(values));
	for (uint32_t i = 0; i < m.room; i++)
		seen += m.slot[i].value != NULL;
	CHECK_EQ(seen, m.nr);
	tacho_hashmap_release(&m);
	CHECK(!tacho_hashmap_get(&m, 0));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_arena());
	TEST(test_hashmap());
	TEST(test_fixed_arena());
	TEST(test_cursor());
	TEST(test_diag_first());
	TEST(test_bytes());
	return test_done();
}
