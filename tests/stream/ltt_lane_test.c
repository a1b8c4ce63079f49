// SPDX-License-Identifier: MIT
/*
 * ltt_lane_test - one CPU's file of LTT at its limits: the longest record, and times that lie
 * decades apart.
 */
#include "../unit/test.h"
#include "tmpdir.h"

#include <errno.h>
#include <fcntl.h>

#include "base/bytes.h"
#include "fmt/ltt/lane.h"

#define BUFFER	((uint32_t)128 << 10)

static struct tacho_ltt_form form;

static void begin(struct tacho_ltt_lane *l)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/x.0.ltt", tmpdir);
	*l = (struct tacho_ltt_lane){ .form = &form, .start = { .buffer_size = BUFFER } };
	l->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(l->fd >= 0);
}

/* A record's size has 16 bits, and is a multiple of 8. */
static void test_longest(void)
{
	static const unsigned char body[LTT_RECORD_MAX + 8];
	struct tacho_ltt_lane l;

	begin(&l);
	CHECK_EQ(tacho_ltt_lane_put_raw(&l, 1, 60, 0, body, LTT_RECORD_MAX - LTT_HEAD), 0);
	CHECK_EQ(tacho_load_u16(l.buf + l.len - LTT_RECORD_MAX + 6), LTT_RECORD_MAX);
	for (size_t n = LTT_RECORD_MAX - LTT_HEAD + 1; n <= sizeof(body); n++)
		CHECK_EQ(tacho_ltt_lane_put_raw(&l, 1, 60, 0, body, n), -EMSGSIZE);
	CHECK_EQ(tacho_ltt_lane_end(&l, 1, false), 0);
	CHECK_EQ(l.bytes, BUFFER);
	tacho_ltt_lane_release(&l);
}

/* 2 years before, 3 HEARTBEATs, 60 years: as many bytes as events need. */
static void test_leap(void)
{
	const uint64_t year = UINT64_C(31557600) * 1000000000, beat = UINT32_MAX;
	unsigned char stamp[LTT_HEAD + 8];
	struct tacho_ltt_lane l;

	begin(&l);
	CHECK_EQ(tacho_ltt_lane_put_raw(&l, 2 * year, 60, 0, "", 0), 0);
	CHECK_EQ(tacho_ltt_lane_put_raw(&l, 2 * year + 3 * beat + 1, 60, 0, "", 0), 0);
	/* BUFFER_START, START, a record, HEARTBEATs, a record */
	CHECK_EQ(l.len, 24 + 56 + 8 + 3 * 8 + 8);
	CHECK_EQ(tacho_ltt_lane_put_raw(&l, 62 * year, 60, 0, "", 0), 0);
	CHECK_EQ(l.buffers, 2);
	CHECK_EQ(l.len, 24 + 8);
	CHECK_EQ(tacho_ltt_lane_end(&l, 62 * year, false), 0);
	CHECK_EQ(l.bytes, 2 * BUFFER);
	CHECK_EQ(pread(l.fd, stamp, sizeof(stamp), BUFFER), (ssize_t)sizeof(stamp));
	CHECK_EQ(tacho_load_u32(stamp + LTT_HEAD), 62 * year / 1000000000);
	tacho_ltt_lane_release(&l);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	form.layout = TACHO_LTT_64;
	for (uint32_t id = 0; id <= TRACE_MAX; id++)
		tacho_ltt_shape(&form.shape[id], form.layout, false, id);
	tmpdir_make();
	TEST(test_longest());
	TEST(test_leap());
	return test_done();
}
