// SPDX-License-Identifier: MIT
/*
 * LKST log files: their bytes, in both orders, put down by hand; what the writer writes is
 * what the readers read; files written round, cut off, with wrong sums, on a full disk.
 */
#include "../unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <signal.h>

#include "base/crc32c.h"
#include "fmt/lkst/log.h"
#include "fmt/lkst/record.h"
#include "fmt/lkst/source.h"
#include "fmt/lkst/types.h"
#include "stream/stream.h"
#include "tmpdir.h"

#define BLOCK	4096u

/* ---- a file by hand ---- */

struct bytes {
	unsigned char *data;
	size_t len;
	bool big;
};

static void put(struct bytes *b, size_t at, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		b->data[at + (size_t)(b->big ? n - 1 - i : i)] = (unsigned char)(v >> 8 * i);
}

static struct bytes by_hand(bool big, uint32_t block_size, uint32_t blocks)
{
	struct bytes b = { .len = 512 + (size_t)blocks * block_size, .big = big };

	b.data = calloc(1, b.len);
	if (!b.data)
		exit(1);
	put(&b, 0, 0x00474f4c54534b4c, 8);
	put(&b, 8, 1, 4);
	put(&b, 12, block_size, 4);
	put(&b, 16, 1, 4);
	put(&b, 20, 1000, 4);
	put(&b, 24, 1000000, 8);
	put(&b, 32, 5000, 8);
	put(&b, 40, 1700000000000000000, 8);
	put(&b, 48, big, 4);
	put(&b, 52, 1, 4);
	memcpy(b.data + 56, "testarch", 8);
	for (unsigned int i = 0; i < 16; i++)
		b.data[72 + i] = (unsigned char)(i + 1);
	return b;
}

struct head {
	uint32_t kind;
	uint64_t serial;
	uint32_t cpu;
	int buffer;
	uint32_t lost;
};

/* The head of the block at `at`, behind which len bytes are there already. */
static void put_head(struct bytes *b, size_t at, struct head h, uint32_t len)
{
	put(b, at, 0x4b4c4254, 4);
	put(b, at + 4, h.kind, 4);
	put(b, at + 8, h.serial, 8);
	put(b, at + 16, len, 4);
	put(b, at + 20, 0, 4);
	put(b, at + 24, h.cpu, 2);
	put(b, at + 26, (uint16_t)h.buffer, 2);
	put(b, at + 28, h.lost, 4);
	put(b, at + 20, tacho_crc32c_plain(0, b->data + at, 32 + len), 4);
}

static void put_record(struct bytes *b, size_t at, const struct lkst_record *r)
{
	put(b, at, r->ticks, 8);
	for (size_t i = 0; i < 4; i++)
		put(b, at + 8 + 8 * i, r->arg[i], 8);
	put(b, at + 40, r->recid, 4);
	put(b, at + 44, (uint32_t)r->thread, 4);
	put(b, at + 48, r->uid, 4);
	put(b, at + 52, r->gid, 4);
	put(b, at + 56, (uint32_t)r->pid, 4);
	put(b, at + 60, (uint32_t)r->pgrp, 4);
	put(b, at + 64, r->etype, 2);
	put(b, at + 66, r->cpu, 2);
	put(b, at + 68, r->flags, 4);
}

static const char types_text[] =
	"0x100\tNEW_EVENT\tuser added event\tdata1\tdata2\t\t\n"
	"0x021\tIRQ\tinterrupt\tirq\t\t\t\n";

/* Record i of a run: all its numbers follow from i. */
static struct lkst_record record(uint32_t i, uint64_t ticks, bool kernel)
{
	return (struct lkst_record){
		.ticks = ticks,
		.arg = { i, ~(uint64_t)i, (uint64_t)i << 40, i * UINT64_C(0x0101010101010101) },
		.recid = i, .thread = (int32_t)(1000 + i), .uid = i % 3 ? i : UINT32_MAX,
		.gid = i + 7, .pid = 1000, .pgrp = i % 2 ? -1 : 999,
		.etype = kernel ? 0x021 : i % 5 ? 0x100 : 0x1ff, .cpu = 3,
		.flags = kernel ? 0x12 : 0,
	};
}

static bool same(const struct lkst_record *a, const struct lkst_record *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* ---- reading: by lkst_log_next() and as a source ---- */

#define SEEN_MAX 200000u
static struct lkst_record seen[SEEN_MAX];
static int32_t seen_buffer[SEEN_MAX];
static struct lkst_log_info seen_info;

static uint32_t read_log(const char *path)
{
	struct tacho_diag d = { 0 };
	struct lkst_log *log;
	uint32_t n = 0;
	int got;

	seen_info = (struct lkst_log_info){ 0 };
	if (!CHECK_EQ(lkst_log_open(&log, path, &d), 0)) {
		printf("# %s\n", d.text);
		return 0;
	}
	while (n < SEEN_MAX && (got = lkst_log_next(log, &seen[n], &seen_buffer[n])) == 1)
		n++;
	CHECK_EQ(got, 0);
	lkst_log_info(log, &seen_info);
	seen_info.types = NULL;
	lkst_log_free(log);
	return n;
}

/* What the source says must be what is in seen[]: nr of them. */
static void compare_source(const char *path, uint32_t nr)
{
	struct tacho_error error = { 0 };
	struct tacho_stream_info info;
	struct tacho_stream *s;
	struct tacho_record r;
	uint64_t last = 0, lost = 0;
	uint32_t n = 0;

	if (!CHECK_EQ(tacho_stream_open(&s, path, 0, &error), 0))
		return;
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD && n < nr) {
		struct lkst_record got = { 0 };

		CHECK(lkst_record_unpack(&got, r.raw, r.len, r.ticks));
		CHECK(same(&got, &seen[n]));
		CHECK_EQ(lkst_record_buffer(r.raw, r.len), seen_buffer[n]);
		CHECK(r.ticks >= last && r.ticks >= got.ticks);
		CHECK_EQ(r.cpu, got.cpu);
		CHECK_STR(tacho_type_system(r.type), "lkst");
		last = r.ticks;
		lost += r.lost;
		n++;
	}
	CHECK_EQ(n, nr);
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_END);
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_STR(info.format, "lkst");
	CHECK_EQ(info.damaged, seen_info.damaged);
	if (!info.damaged)
		CHECK_EQ(info.discarded, lost);
	CHECK_EQ(seen_info.lost, lost);
	CHECK_EQ(tacho_stream_seek(s, 0), 0);
	for (n = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; n++)
		;
	CHECK_EQ(n, nr);
	tacho_stream_close(s);
}

static uint32_t read_both(const char *path)
{
	uint32_t n = read_log(path);

	compare_source(path, n);
	return n;
}

static void save(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		exit(1);
	close(fd);
}

/* ---- bytes by hand ---- */

static uint64_t hand_ticks(uint32_t i)
{
	return 10000 + 10 * i;
}

/* Types, three blocks of programs' and kernel's events of two buffers, out of order. */
static struct bytes golden(bool big)
{
	struct bytes b = by_hand(big, BLOCK, 4);
	size_t at = 512;
	struct lkst_record r;

	memcpy(b.data + at + 32, types_text, sizeof(types_text) - 1);
	put_head(&b, at, (struct head){ 1, 0, 0, 0, 0 }, sizeof(types_text) - 1);
	/* serial 2: comes behind serial 1 */
	for (uint32_t i = 0; i < 4; i++) {
		r = record(10 + i, hand_ticks(20 + i), false);
		put_record(&b, at + BLOCK + 32 + 72 * i, &r);
	}
	put_head(&b, at + BLOCK, (struct head){ 2, 2, 3, -1, 7 }, 4 * 72);
	for (uint32_t i = 0; i < 5; i++) {
		r = record(i, hand_ticks(2 * i), false);
		put_record(&b, at + 2 * BLOCK + 32 + 72 * i, &r);
	}
	put_head(&b, at + 2 * BLOCK, (struct head){ 2, 1, 3, -1, 0 }, 5 * 72);
	/* the last two of them are out of order */
	for (uint32_t i = 0; i < 3; i++) {
		r = record(100 + i, hand_ticks(i == 1 ? 5 : i == 2 ? 3 : 1), true);
		put_record(&b, at + 3 * BLOCK + 32 + 72 * i, &r);
	}
	put_head(&b, at + 3 * BLOCK, (struct head){ 3, 3, 3, 5, 0 }, 3 * 72);
	return b;
}

/* Two files that tests read: "big" and "little". */
static const char *golden_path(bool big)
{
	return tmpdir_path(big ? "big" : "little");
}

static void save_golden(bool big)
{
	struct bytes b = golden(big);

	save(golden_path(big), b.data, b.len);
	free(b.data);
}

static void check_golden(bool big)
{
	static const uint32_t order[] = { 0, 100, 1, 102, 2, 101, 3, 4, 10, 11, 12, 13 };

	CHECK_EQ(read_both(golden_path(big)), TACHO_ARRAY_SIZE(order));
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(order); i++) {
		struct lkst_record want = record(order[i], seen[i].ticks, order[i] >= 100);

		CHECK_EQ(seen[i].recid, order[i]);
		CHECK(same(&seen[i], &want));
		CHECK_EQ(seen_buffer[i], order[i] >= 100 ? 5 : -1);
		CHECK(!i || seen[i].ticks >= seen[i - 1].ticks);
	}
	CHECK_EQ(seen_info.damaged, 0);
	CHECK_EQ(seen_info.lost, 7);
	CHECK_EQ(seen_info.freq, 1000000);
	CHECK_EQ(seen_info.tsc, 5000);
	CHECK_EQ(seen_info.realtime, 1700000000000000000);
	CHECK_EQ(seen_info.big_endian, big);
	CHECK_STR(seen_info.arch, "testarch");
}

/* The time, the texts and the types of a file by hand, as tacho's verbs see them. */
static void check_golden_text(bool big)
{
	struct tacho_stream *s;
	struct tacho_record r;
	struct tacho_buf b;
	char text[200];

	if (!CHECK_EQ(tacho_stream_open(&s, golden_path(big), 0, NULL), 0))
		return;
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	/* 5000 ticks, of 1000 ns, after the pair */
	CHECK_EQ(r.time, 1700000000000000000 + 5000000);
	CHECK_STR(tacho_type_name(r.type), "ETYPE_0x1ff");
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	(void)tacho_record_text(s, &r, text, sizeof(text));
	CHECK_STR(tacho_type_name(r.type), "IRQ");
	CHECK_STR(text, "interrupt: irq=0x64");
	CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_RECORD);
	(void)tacho_record_text(s, &r, text, sizeof(text));
	CHECK_STR(tacho_type_name(r.type), "NEW_EVENT");
	CHECK_STR(text, "user added event: data1=0x1 data2=0xfffffffffffffffe");
	CHECK_STR(tacho_stream_env(s, "machine"), "testarch");
	CHECK_STR(tacho_stream_env(s, "uuid"), "0102030405060708090a0b0c0d0e0f10");
	tacho_buf_init(&b, 4096);
	CHECK_EQ(tacho_stream_text(s, "lkst_etypes", &b), 0);
	/* by number */
	CHECK(strstr(tacho_buf_str(&b), "0x021\tIRQ") == b.data);
	tacho_buf_release(&b);
	tacho_stream_close(s);
}

/* ---- the writer ---- */

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static struct lkst_log_config config(uint64_t limit)
{
	return (struct lkst_log_config){
		.limit = limit, .freq = 1000000, .tsc = 5000,
		.realtime = 1700000000000000000, .arch = "testarch", .uuid = uuid,
		.types = types_text, .types_len = sizeof(types_text) - 1,
	};
}

static void check_writer_bytes(void)
{
	const char *path = tmpdir_path("bytes");
	struct lkst_log_config c = config(0);
	struct bytes want = by_hand(false, 16384, 3);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	struct lkst_record r[2] = { record(0, 77, false), record(1, 70, true) };
	struct tacho_buf got;

	memcpy(want.data + 512 + 32, types_text, sizeof(types_text) - 1);
	put_head(&want, 512, (struct head){ 1, 0, 0, 0, 0 }, sizeof(types_text) - 1);
	put_record(&want, 512 + 16384 + 32, &r[0]);
	put_head(&want, 512 + 16384, (struct head){ 2, 1, 3, 2, 9 }, 72);
	put_record(&want, 512 + 2 * 16384 + 32, &r[1]);
	put_head(&want, 512 + 2 * 16384, (struct head){ 3, 2, 3, 2, 0 }, 72);

	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	CHECK_EQ(lkst_log_write(w, 3, 2, r, 2, 9, &d), 0);
	CHECK_EQ(lkst_log_bytes(w), 512 + 16384);
	CHECK_EQ(lkst_log_flush(w, &d), 0);
	CHECK_EQ(lkst_log_bytes(w), 512 + 3 * 16384);
	CHECK_EQ(lkst_log_close(w, &d), 0);
	tacho_buf_init(&got, 1 << 20);
	CHECK_EQ(tacho_buf_read_file(&got, path), 0);
	CHECK_EQ(got.len, want.len);
	CHECK(got.len == want.len && !memcmp(got.data, want.data, want.len));
	tacho_buf_release(&got);
	free(want.data);
	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	CHECK_EQ(lkst_log_write(w, 65536, 2, r, 2, 9, &d), -EINVAL);
	CHECK_EQ(lkst_log_close(w, &d), 0);
}

/* nr records in calls of differing length, kernel's and others mixed as they are pumped. */
static void write_many(struct lkst_log_writer *w, uint32_t nr, uint64_t *seed)
{
	struct tacho_diag d = { 0 };
	struct lkst_record r[400];
	uint32_t i = 0;

	while (i < nr) {
		uint32_t n = 1 + (uint32_t)(test_random(seed) % TACHO_ARRAY_SIZE(r));

		n = n < nr - i ? n : nr - i;
		for (uint32_t k = 0; k < n; k++, i++) {
			bool kernel = i % 100 >= 70;

			/* the kernel's lag behind by 100 */
			r[k] = record(i, 1000 + 10 * (uint64_t)(kernel ? i - i % 70 : i), kernel);
		}
		CHECK_EQ(lkst_log_write(w, 3, (int32_t)(i / 1000 % 3), r, n, 0, &d), 0);
	}
}

/* Every record once, in the order of time. */
static void check_all_seen(uint32_t n, uint32_t first, uint32_t nr)
{
	unsigned char *had = calloc(nr ? nr : 1, 1);
	uint32_t twice = 0, wrong = 0;

	CHECK_EQ(n, nr);
	for (uint32_t i = 0; i < n && had; i++) {
		uint32_t id = seen[i].recid - first;
		struct lkst_record want = record(seen[i].recid, seen[i].ticks,
						 seen[i].recid % 100 >= 70);

		if (id >= nr || had[id]++)
			twice++;
		else if (!same(&want, &seen[i]) || (i && seen[i].ticks < seen[i - 1].ticks))
			wrong++;
	}
	CHECK_EQ(twice, 0);
	CHECK_EQ(wrong, 0);
	free(had);
}

static void check_round_trip(void)
{
	const char *path = tmpdir_path("trip");
	struct lkst_log_config c = config(0);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	uint64_t seed = 1;

	for (uint32_t nr = 0; nr <= 20000; nr = nr * 3 + 1) {
		CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
		write_many(w, nr, &seed);
		CHECK_EQ(lkst_log_close(w, &d), 0);
		check_all_seen(read_both(path), 0, nr);
		CHECK_EQ(seen_info.damaged, 0);
		CHECK_EQ(seen_info.lost, 0);
	}
}

/* More buffers than the writer has open blocks, and losses without records. */
static void check_many_buffers(void)
{
	const char *path = tmpdir_path("many");
	struct lkst_log_config c = config(0);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	uint32_t n;

	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		struct lkst_record r = record(i, 10 * i, false);

		r.cpu = (uint16_t)(i % 300);
		CHECK_EQ(lkst_log_write(w, r.cpu, (int32_t)(i % 7), &r, 1, i % 10 == 0, &d), 0);
	}
	CHECK_EQ(lkst_log_write(w, 1, 1, NULL, 0, UINT64_C(5000000000), &d), 0);
	CHECK_EQ(lkst_log_close(w, &d), 0);
	n = read_log(path);
	CHECK_EQ(n, 3000);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(seen[i].recid, i);
		CHECK_EQ(seen_buffer[i], i % 7);
	}
	CHECK_EQ(seen_info.lost, UINT64_C(5000000300));
}

/* Types that are too long for one block, at the start and later. */
static void check_types(void)
{
	const char *path = tmpdir_path("types");
	struct lkst_log_config c = config(0);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	struct lkst_types t;
	struct tacho_buf b;
	struct lkst_log *log;
	struct lkst_log_info info;

	tacho_buf_init(&b, 1 << 20);
	for (uint32_t i = 0; i < 1000; i++)
		tacho_buf_printf(&b, "%#x\tTYPE_%u\tnumber %u\ta\tb\tc\td\n", i, i, i);
	c.types = b.data;
	c.types_len = b.len;
	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	tacho_buf_reset(&b);
	for (uint32_t i = 500; i < 1500; i++)
		tacho_buf_printf(&b, "%u\tLATER_%u\t\t\t\\011\n", i, i);
	CHECK_EQ(lkst_log_write_types(w, b.data, b.len, &d), 0);
	CHECK_EQ(lkst_log_close(w, &d), 0);
	tacho_buf_release(&b);
	if (!CHECK_EQ(lkst_log_open(&log, path, &d), 0))
		return;
	lkst_log_info(log, &info);
	lkst_types_init(&t);
	CHECK_EQ(lkst_types_parse(&t, info.types, info.types_len, true, &d), 0);
	for (uint32_t i = 0; i < 1600; i++) {
		char want[40];

		(void)snprintf(want, sizeof(want), i < 500 ? "TYPE_%u" : "LATER_%u", i);
		if (i >= 1500)
			CHECK(!lkst_types_get(&t, i));
		else if (CHECK(lkst_types_get(&t, i)))
			CHECK_STR(lkst_types_get(&t, i)->mnemonic, want);
	}
	CHECK_STR(lkst_types_find(&t, "TYPE_3")->arg[3], "d");
	CHECK_STR(lkst_types_find(&t, "LATER_501")->arg[1], "\t");
	lkst_types_release(&t);
	lkst_log_free(log);
}

/* ---- files that are not whole ---- */

#define PER_BLOCK	227u	/* (16384 - 32) / 72 */

static uint64_t whole_file(const char *path, uint32_t nr, uint64_t limit)
{
	struct lkst_log_config c = config(limit);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	uint64_t bytes;

	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	for (uint32_t i = 0; i < nr; i++) {
		struct lkst_record r = record(i, 1000 + 10 * i, false);

		CHECK_EQ(lkst_log_write(w, 3, 0, &r, 1, 0, &d), 0);
	}
	CHECK_EQ(lkst_log_flush(w, &d), 0);
	bytes = lkst_log_bytes(w);
	CHECK_EQ(lkst_log_close(w, &d), 0);
	return bytes;
}

/* Written round: the newest are there, those of the last blocks, and the types. */
static void check_rewound(void)
{
	const char *path = tmpdir_path("round");
	const uint64_t limit = 512 + 5 * 16384 + 100;	/* types and four blocks */
	struct lkst_log_config c = config(limit);

	for (uint32_t nr = 1; nr < 12 * PER_BLOCK; nr += 100) {
		uint32_t blocks = (nr + PER_BLOCK - 1) / PER_BLOCK;
		uint32_t first = blocks > 4 ? (blocks - 4) * PER_BLOCK : 0;

		CHECK(whole_file(path, nr, limit) <= limit);
		CHECK_EQ(read_both(path), nr - first);
		for (uint32_t i = 0; i < nr - first; i++)
			CHECK_EQ(seen[i].recid, first + i);
		CHECK_EQ(seen_info.damaged, 0);
	}
	CHECK_EQ(lkst_log_limit_min(&c), 512 + 3 * 16384);
}

static void check_truncated(void)
{
	const char *path = tmpdir_path("cut");
	uint64_t bytes = whole_file(path, 6 * PER_BLOCK, 0);

	CHECK_EQ(bytes, 512 + 7 * 16384);
	for (uint32_t block = 7; block > 0; block--) {
		static const uint32_t into[] = { 16383, 16352 - 72, 40, 39, 1, 0 };
		uint64_t at = 512 + (uint64_t)(block - 1) * 16384;

		for (size_t k = 0; k < TACHO_ARRAY_SIZE(into); k++) {
			/* zeros behind the records are not missed */
			uint32_t whole = block < 2 ? 0 : block - 2 + (into[k] == 16383);

			if (truncate(path, (off_t)(at + into[k])))
				exit(1);
			CHECK_EQ(read_both(path), whole * PER_BLOCK);
			/* the text of types is short */
			CHECK_EQ(seen_info.damaged, into[k] && into[k] != 16383 &&
				 (block > 1 || into[k] < 100));
		}
	}
}

static void flip(const char *path, uint64_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char c;

	if (fd < 0 || pread(fd, &c, 1, (off_t)at) != 1)
		exit(1);
	c ^= 0x10;
	if (pwrite(fd, &c, 1, (off_t)at) != 1)
		exit(1);
	close(fd);
}

/* One bit anywhere in a block: that block's records are missing, and no others. */
static void check_wrong_sums(void)
{
	static const uint32_t into[] = { 0, 4, 8, 16, 20, 24, 26, 28, 32, 5000, 16375 };
	const char *path = tmpdir_path("flip");

	(void)whole_file(path, 4 * PER_BLOCK, 0);
	for (uint32_t block = 0; block < 5; block++)
		for (size_t k = 0; k < TACHO_ARRAY_SIZE(into); k++) {
			uint64_t at = 512 + (uint64_t)block * 16384 + into[k];
			/* the text of types is shorter than a block */
			bool matters = block || into[k] < 100;

			flip(path, at);
			CHECK_EQ(read_both(path), (block ? 3 : 4) * PER_BLOCK);
			CHECK_EQ(seen_info.damaged, matters);
			flip(path, at);
		}
	CHECK_EQ(read_both(path), 4 * PER_BLOCK);
	CHECK_EQ(seen_info.damaged, 0);
}

static void check_refused(void)
{
	static const struct { uint32_t at; unsigned char value; int err; } bad[] = {
		{ 0, 0, -EINVAL }, { 8, 2, -ENOTSUP }, { 13, 0, -EINVAL }, { 12, 1, -EINVAL },
		{ 14, 0x80, -EINVAL }, { 52, 9, -ENOTSUP },
	};
	const char *path = tmpdir_path("bad");
	struct tacho_stream *s;
	struct lkst_log *log;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bad); i++) {
		struct tacho_diag d = { 0 };
		struct bytes b = golden(false);

		b.data[bad[i].at] = bad[i].value;
		save(path, b.data, b.len);
		free(b.data);
		CHECK_EQ(lkst_log_open(&log, path, &d), bad[i].err);
		CHECK(d.text[0] && !log);
		CHECK_EQ(tacho_stream_open(&s, path, 0, NULL), bad[i].err);
	}
	save(path, "LKSTLOG", 8);
	CHECK_EQ(lkst_log_open(&log, path, NULL), -EINVAL);
	CHECK_EQ(lkst_log_open(&log, tmpdir_path("none"), NULL), -ENOENT);
	CHECK_EQ(tacho_stream_open(&s, golden_path(false), TACHO_STREAM_STRICT, NULL), 0);
	tacho_stream_close(s);
}

/* ---- a full disk ---- */

static void check_dev_full(void)
{
	struct lkst_log_config c = config(0);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;

	CHECK_EQ(lkst_log_create(&w, "/dev/full", &c, &d), -ENOSPC);
	CHECK_STR(d.text, "cannot write '/dev/full': the disk is full");
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(lkst_log_create(&w, tmpdir_path("none/x"), &c, &d), -ENOENT);
	CHECK(!w && d.text[0]);
	d = (struct tacho_diag){ 0 };
	c.limit = 512 + 3 * 16384 - 1;
	CHECK_EQ(lkst_log_create(&w, tmpdir_path("small"), &c, &d), -EINVAL);
	CHECK(strstr(d.text, "at least 49664"));
}

static void let_grow(uint64_t bytes)
{
	struct rlimit l;

	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = bytes ? bytes : l.rlim_max;
	setrlimit(RLIMIT_FSIZE, &l);
}

/*
 * A file that may not grow: writing fails, then goes on, and every record is either in
 * the file or counted as lost before the one that comes next.
 */
static void check_goes_on(void)
{
	const char *path = tmpdir_path("full");
	struct lkst_log_config c = config(0);
	struct tacho_diag d = { 0 };
	struct lkst_log_writer *w;
	uint32_t failures = 0, n, next = 0;
	const uint32_t nr = 20 * PER_BLOCK;
	uint64_t lost = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(lkst_log_create(&w, path, &c, &d), 0);
	for (uint32_t i = 0; i < nr; i++) {
		struct lkst_record r = record(i, 1000 + 10 * i, false);

		/* room for five blocks of records, and a part of the sixth; later all */
		let_grow(i < 12 * PER_BLOCK ? 512 + 6 * 16384 + 1000 : 0);
		failures += lkst_log_write(w, 3, 0, &r, 1, 0, &d) != 0;
	}
	CHECK_EQ(lkst_log_close(w, &d), 0);
	let_grow(0);
	/* from the one that fills the sixth block on */
	CHECK_EQ(failures, 12 * PER_BLOCK - (6 * PER_BLOCK - 1));
	n = read_both(path);
	lost = seen_info.lost;
	CHECK_EQ(n + lost, nr);
	CHECK_EQ(lost, 6 * PER_BLOCK);
	for (uint32_t i = 0; i < n; i++, next++) {
		if (seen[i].recid != next)
			next += (uint32_t)lost;
		CHECK_EQ(seen[i].recid, next);
	}
	CHECK_EQ(seen_info.damaged, 0);
}

static void check_crc(void)
{
	CHECK_EQ(tacho_crc32c(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(tacho_crc32c_plain(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(tacho_crc32c(tacho_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tmpdir_make();
	TEST(check_crc());
	save_golden(false);
	save_golden(true);
	TEST(check_golden(false));
	TEST(check_golden(true));
	TEST(check_golden_text(false));
	TEST(check_golden_text(true));
	TEST(check_writer_bytes());
	TEST(check_round_trip());
	TEST(check_many_buffers());
	TEST(check_types());
	TEST(check_rewound());
	TEST(check_truncated());
	TEST(check_wrong_sums());
	TEST(check_refused());
	TEST(check_dev_full());
	TEST(check_goes_on());
	return test_done();
}
