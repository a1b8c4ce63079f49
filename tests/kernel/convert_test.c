/* SPDX-License-Identifier: MIT */
/* Formats of the kernel to types and plans; raw events to records. */
#include <errno.h>

#include "base/bytes.h"
#include "kdata/convert.h"
#include "kdata/types.h"
#include "formats.h"
#include "unit/test.h"

static struct tacho_ktypes types;

static void load(void)
{
	struct tacho_diag d = { 0 };
	size_t i;

	tacho_ktypes_init(&types);
	for (i = 0; i < TACHO_ARRAY_SIZE(formats); i++)
		if (!CHECK_EQ(tacho_ktypes_add(&types, formats[i].system,
					       formats[i].text,
					       strlen(formats[i].text), &d), 0))
			printf("# %s\n", d.text);
	CHECK_EQ(types.nr, TACHO_ARRAY_SIZE(formats));
	/* Once more changes nothing. */
	CHECK_EQ(tacho_ktypes_add(&types, formats[0].system, formats[0].text,
				  strlen(formats[0].text), &d), 0);
	CHECK_EQ(types.nr, TACHO_ARRAY_SIZE(formats));
	CHECK(!tacho_ktypes_find(&types, 0));
	CHECK(!tacho_ktypes_find(&types, 100000));
	CHECK_EQ(tacho_ktypes_add(&types, "t", "no format", 9, NULL), -EINVAL);
}

static unsigned char out[TACHO_KCONVERT_ROOM];

/* Converts exactly len bytes of raw; scribbles over `out` first. */
static uint32_t convert(const unsigned char *raw, uint32_t len)
{
	unsigned char *copy = malloc(len);
	const struct tacho_kplan *plan;
	uint32_t size, i;

	memcpy(copy, raw, len);
	memset(out, 0xaa, sizeof(out));
	plan = &types.plans[tacho_load_u16(raw)];
	size = tacho_kconvert(&types, plan, UINT64_C(0x1234567890abcdef), copy,
			      len, copy + len, out);
	/* What may be read beyond the event must not matter. */
	if (size) {
		unsigned char again[TACHO_KCONVERT_ROOM], wide[2048];

		memset(wide, 0x55, sizeof(wide));
		memcpy(wide, copy, len);
		memset(again, 0xbb, sizeof(again));
		CHECK_EQ(tacho_kconvert(&types, plan,
					UINT64_C(0x1234567890abcdef), wide, len,
					wide + sizeof(wide), again), size);
		CHECK(!memcmp(again, out, size));
		CHECK_EQ(size % 8, 0);
		CHECK_EQ(tacho_load_u64(out), tacho_record_word(
			UINT64_C(0x1234567890abcdef), size));
		for (i = 0; i < 8; i++)
			if (i != 0 && i != 1)
				CHECK_EQ(out[8 + i], raw[i]);
	}
	free(copy);
	return size;
}

static unsigned char *event(uint16_t id)
{
	static unsigned char raw[1024];

	memset(raw, 0xcc, sizeof(raw));
	tacho_put_u16(raw, id);
	raw[2] = 1;
	raw[3] = 2;
	tacho_put_u32(raw + 4, 4711);
	return raw;
}

static void test_fixed(void)
{
	unsigned char *raw = event(10);
	uint32_t len;

	tacho_put_u64(raw + 8, 99);
	tacho_put_u16(raw + 16, 7);
	for (len = 8; len < 18; len++)
		CHECK_EQ(convert(raw, len), 0);
	CHECK_EQ(convert(raw, 20), 32);
	CHECK(!memcmp(out + 8, raw, 18));
	CHECK_EQ(tacho_load_u32(out + 26), 0);
	CHECK_EQ(tacho_load_u16(out + 30), 0);
}

static void test_one(void)
{
	unsigned char *raw = event(11);

	/* As the kernel lays it out: copied, the junk trimmed. */
	tacho_put_u32(raw + 8, 14 | 6 << 16);
	tacho_put_u16(raw + 12, 3);
	memcpy(raw + 14, "hello", 6);
	CHECK_EQ(convert(raw, 24), 32);
	CHECK(!memcmp(out + 8, raw, 20));
	CHECK_EQ(tacho_load_u32(out + 28), 0);
	/* Elsewhere: moved to where the fixed part ends. */
	tacho_put_u32(raw + 8, 40 | 6 << 16);
	memcpy(raw + 40, "world", 6);
	CHECK_EQ(convert(raw, 48), 32);
	CHECK_EQ(tacho_load_u32(out + 16), 14 | 6 << 16);
	CHECK(!memcmp(out + 8 + 14, "world", 6));
	/* Empty: wherever the word points to. */
	tacho_put_u32(raw + 8, 0);
	CHECK_EQ(convert(raw, 16), 24);
	CHECK_EQ(tacho_load_u32(out + 16), 14);
	/* Outside of the event. */
	tacho_put_u32(raw + 8, 14 | 100 << 16);
	CHECK_EQ(convert(raw, 48), 0);
	tacho_put_u32(raw + 8, 0xffff | 1u << 16);
	CHECK_EQ(convert(raw, 48), 0);
	tacho_put_u32(raw + 8, 0xffffffff);
	CHECK_EQ(convert(raw, 48), 0);
}

static void test_two(void)
{
	unsigned char *raw = event(12);

	/* The second field's data first, and a gap. */
	tacho_put_u32(raw + 8, 24 | 4 << 16);
	memcpy(raw + 24, "abc", 4);
	tacho_put_u32(raw + 12, (20 - 16) | 3 << 16);
	memcpy(raw + 20, "xyz", 3);
	CHECK_EQ(convert(raw, 32), 32);
	CHECK_EQ(tacho_load_u32(out + 16), 16 | 4 << 16);
	CHECK_EQ(tacho_load_u32(out + 20), (20 - 16) | 3 << 16);
	CHECK(!memcmp(out + 8 + 16, "abc\0xyz\0", 8));
	/* Both on the same bytes: a copy each. */
	tacho_put_u32(raw + 12, (24 - 16) | 4 << 16);
	CHECK_EQ(convert(raw, 32), 32);
	CHECK(!memcmp(out + 8 + 16, "abc\0abc\0", 8));
	tacho_put_u32(raw + 12, 0xfff0 | 4 << 16);
	CHECK_EQ(convert(raw, 32), 0);
}

static void check_type(uint32_t id, const char *field, const char *decl,
		       uint32_t offset)
{
	const struct tacho_ktype *t = tacho_ktypes_find(&types, id);
	const struct tacho_field *f;

	if (!CHECK(t))
		return;
	CHECK(memmem(t->text, t->text_len, decl, strlen(decl)));
	f = tacho_type_field(t->type, field);
	if (!CHECK(f))
		return;
	CHECK_EQ(f->kind, TACHO_FIELD_DATA_LOC);
	CHECK_STR(f->decl, decl);
	CHECK_EQ(f->offset, offset);
	CHECK_EQ(t->type->fixed_size, offset + 4);
	CHECK_EQ(t->type->id, id);
}

static void test_rest(void)
{
	unsigned char *raw = event(5);
	uint32_t i;

	check_type(5, "buf", "__data_loc char[] buf", 16);
	memcpy(raw + 16, "hi\n\0junk", 8);
	CHECK_EQ(convert(raw, 24), 32);
	CHECK_EQ(tacho_load_u32(out + 8 + 16), 20 | 4 << 16);
	CHECK(!memcmp(out + 8 + 20, "hi\n", 4));
	CHECK_EQ(convert(raw, 16), 32);		/* nothing there at all */
	CHECK_EQ(tacho_load_u32(out + 8 + 16), 20);
	CHECK_EQ(convert(raw, 12), 0);

	check_type(19, "buf", "__data_loc unsigned char[] buf", 12);
	raw = event(19);
	memcpy(raw + 12, "a\0b\0c\0d", 8);
	CHECK_EQ(convert(raw, 20), 32);
	CHECK_EQ(tacho_load_u32(out + 8 + 12), 16 | 8 << 16);
	CHECK(!memcmp(out + 8 + 16, "a\0b\0c\0d", 8));

	check_type(4, "caller", "__data_loc unsigned long[] caller", 12);
	raw = event(4);
	for (i = 0; i < 20; i++)
		tacho_put_u64(raw + 16 + 8 * i, i);
	tacho_put_u32(raw + 8, 20);
	CHECK_EQ(convert(raw, 16 + 160), 8 + 16 + 160);
	CHECK_EQ(tacho_load_u32(out + 8 + 12), 16 | 160 << 16);
	CHECK(!memcmp(out + 8 + 16, raw + 16, 160));
	tacho_put_u32(raw + 8, 2);		/* fewer than there is room for */
	CHECK_EQ(convert(raw, 16 + 160), 8 + 16 + 16);
	tacho_put_u32(raw + 8, 0xffffffff);	/* no more than there is */
	CHECK_EQ(convert(raw, 16 + 160), 8 + 16 + 160);

	check_type(1, "args", "__data_loc unsigned long[] args", 20);
	raw = event(1);
	tacho_put_u64(raw + 24, 42);
	CHECK_EQ(convert(raw, 32), 40);
	CHECK_EQ(tacho_load_u32(out + 8 + 20), 24 | 8 << 16);
	CHECK_EQ(tacho_load_u64(out + 8 + 24), 42);
	CHECK_EQ(convert(raw, 20), 32);		/* without arguments */
	CHECK_EQ(tacho_load_u32(out + 8 + 20), 24);
}

static void test_random(void)
{
	static const uint16_t ids[] = { 10, 11, 12, 5, 19, 4, 1 };
	uint64_t x = 88172645463325252u;
	unsigned int made = 0, i, j;

	for (i = 0; i < 50000; i++) {
		unsigned char *raw = event(ids[i % TACHO_ARRAY_SIZE(ids)]);
		uint32_t len = 8 + (i * 7 % 31) * 4;

		for (j = 8; j < len; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			/* Small numbers are what offsets and lengths are. */
			raw[j] = (unsigned char)(x >> 32);
			if (x >> 60 < 12)
				raw[j] = j % 2 ? 0 : raw[j] & 31;
		}
		made += convert(raw, len) > 0;
	}
	CHECK(made > 5000 && made < 50000);
}

static void test_refused(void)
{
	static const char *const texts[] = {
		/* A word that is not 4 bytes. */
		"name: x\nID: 30\n" COMMON
		"\tfield:__data_loc char[] s;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\nprint fmt: \"\"\n",
		/* An id that no event can have. */
		"name: x\nID: 70000\n" COMMON
		"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"\"\n",
	};
	uint32_t nr = types.nr;
	size_t i;

	for (i = 0; i < TACHO_ARRAY_SIZE(texts); i++) {
		struct tacho_diag d = { 0 };

		CHECK_EQ(tacho_ktypes_add(&types, "t", texts[i],
					  strlen(texts[i]), &d), -EINVAL);
		CHECK(d.text[0]);
		CHECK_EQ(types.nr, nr);
	}
	CHECK(!tacho_ktypes_find(&types, 30));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	load();
	TEST(test_fixed());
	TEST(test_one());
	TEST(test_two());
	TEST(test_rest());
	TEST(test_random());
	TEST(test_refused());
	tacho_ktypes_release(&types);
	return test_done();
}
