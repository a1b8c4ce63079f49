// SPDX-License-Identifier: MIT
/*
 * fuzz_index - any bytes as the file of an index.
 *
 * What a mutation cannot guess is put right first: the checksums, the lengths of blocks that do
 * not fit, where blocks are.  All questions are asked, and a builder goes on with the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "index/format.h"
#include "index/index.h"
#include "index/random.h"

#define TRACKS	48u
#define ITEMS	100000u		/* of a track, that are looked at */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct trace trace;
static struct model *model;
static char path[256];
static struct index_file file = { "", 1000, 77 };
static struct index_identity identity = { &file, 1, 5, NULL, NULL };

/* ---- the file ---- */

static void fix_slot(unsigned char *p)
{
	tacho_put_le32(p + 20, tacho_crc32c(0, p, 20));
}

static void fix_blocks(unsigned char *p, size_t size)
{
	size_t at = INDEX_BEGIN;

	while (size - at > INDEX_HEAD) {
		uint32_t word = tacho_load_le32(p + at + 4), len = word >> 8;
		size_t room = size - at - INDEX_HEAD;

		if (!len || len > room)
			len = (uint32_t)(room < INDEX_BLOCK ? room : INDEX_BLOCK);
		tacho_put_le32(p + at + 4, len << 8 | (word & 0xff));
		tacho_put_le64(p + at + 8, at);
		tacho_put_le32(p + at, tacho_crc32c(0, p + at + 4, INDEX_HEAD - 4 + len));
		at += INDEX_HEAD + len;
	}
}

static void write_file(const uint8_t *data, size_t size)
{
	unsigned char *copy = malloc(size + 1);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (!copy || fd < 0)
		abort();
	memcpy(copy, data, size);
	if (size > INDEX_BEGIN) {
		memcpy(copy, INDEX_MAGIC, 8);
		tacho_put_le32(copy + 8, INDEX_VERSION);
		fix_slot(copy + INDEX_SLOT(0));
		fix_slot(copy + INDEX_SLOT(1));
		fix_blocks(copy, size);
	}
	if (write(fd, copy, size) != (ssize_t)size || close(fd))
		abort();
	free(copy);
}

/* ---- questions ---- */

static int count(uint64_t *nr, bool good)
{
	if (!good)
		abort();
	return ++*nr > ITEMS ? -ECANCELED : 0;
}

static int count_slice(void *arg, const struct model_slice *s)
{
	return count(arg, s->begin <= s->end && s->name && s->category);
}

static int count_state(void *arg, const struct model_state *s)
{
	return count(arg, s->begin <= s->end && (unsigned int)s->state < MODEL_NR_STATES);
}

static int count_counter(void *arg, const struct model_counter *c)
{
	return count(arg, c != NULL);
}

static int count_instant(void *arg, const struct model_instant *i)
{
	return count(arg, i->name && i->category);
}

static int count_loss(void *arg, const struct model_loss *l)
{
	return count(arg, l->begin <= l->end);
}

static const struct model_ops count_ops = {
	.slice = count_slice, .state = count_state, .counter = count_counter,
	.instant = count_instant, .loss = count_loss,
};

static void expect(int err, const struct tacho_diag *d)
{
	if (err && !d->text[0] && err != -ECANCELED)
		abort();
}

static int again(void *arg, uint32_t track, uint64_t first, uint64_t last,
		 const struct model_ops *ops, void *ops_arg)
{
	const struct model_state s = { .track = track, .begin = first, .end = last };

	(void)arg;
	return first <= last ? ops->state(ops_arg, &s) : 0;
}

/* Kinds of the tracks. */
static uint32_t ask(uint8_t *kinds)
{
	struct index_sum sum[7];
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct index_place place;
	struct model_track t;
	struct tacho_buf state;
	struct index *x;
	uint32_t nr;
	int err = index_open(&x, path, &identity, &d);

	expect(err, &d);
	if (err)
		return 0;
	index_info(x, &info);
	index_set_again(x, again, NULL);
	nr = info.nr_tracks < TRACKS ? info.nr_tracks : TRACKS;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t from = info.stats.first, items = 0;

		memset(&d, 0, sizeof(d));
		kinds[i] = index_track(x, i, &t) ? MODEL_NR_TRACK_KINDS : (uint8_t)t.kind;
		err = index_buckets(x, i, from, (info.stats.last - from) / 7, 7, sum, &d);
		expect(err, &d);
		if (!err)
			(void)index_name(x, sum[3].longest_name);
		memset(&d, 0, sizeof(d));
		expect(index_items(x, i, 0, INT64_MAX, &count_ops, &items, &d), &d);
		memset(&d, 0, sizeof(d));
		expect(index_items(x, i, from + i, from + 1000, &count_ops, &items, &d), &d);
	}
	tacho_buf_init(&state, 1u << 24);
	memset(&d, 0, sizeof(d));
	err = index_seek(x, info.stats.last, &place, &state, &d);
	expect(err == -ENOENT ? 0 : err, &d);
	tacho_buf_release(&state);
	index_close(x);
	return nr;
}

/* ---- going on ---- */

static void add(struct index_builder *b, uint32_t track, uint32_t kind, uint32_t i)
{
	uint64_t time = UINT64_C(1700000100000000000) + i * 1000;
	struct model_slice slice = {
		.track = track, .begin = time, .end = time + 500, .name = "n", .category = "c",
	};
	struct model_state state = { .track = track, .begin = time, .end = time + 500, .state = 1 };
	struct model_counter counter = { .track = track, .time = time, .value = i };

	if (kind == MODEL_STATE)
		(void)index_build_ops.state(b, &state);
	else if (kind == MODEL_COUNTER)
		(void)index_build_ops.counter(b, &counter);
	else if (kind != MODEL_NR_TRACK_KINDS)
		(void)index_build_ops.slice(b, &slice);
}

static void go_on(const uint8_t *kinds, uint32_t nr)
{
	struct index_config config = { .path = path, .memory = 10000, .save = model_save };
	struct model_loss loss = { .cpu = 1, .begin = 1, .end = 2, .count = 3 };
	struct index_builder *b;
	struct index_place place;
	struct tacho_diag d = { 0 };
	struct tacho_buf state;

	tacho_buf_init(&state, 1u << 24);
	if (!index_build_new(&b, &config, &identity, &state, &place, &d)) {
		for (uint32_t i = 0; i < 70 && state.len; i++)
			for (uint32_t track = 0; track < nr; track += nr / 6 + 1)
				add(b, track, kinds[track], i);
		(void)index_build_ops.loss(b, &loss);
		(void)index_build_commit(b, model, &identity, &d);
		index_build_free(b);
	}
	tacho_buf_release(&state);
}

static void init(void)
{
	static const struct model_ops none;
	struct model_config config;
	struct tacho_diag d = { 0 };

	if (!trace_init(&trace))
		abort();
	config = (struct model_config){ trace.stream, trace.rules, &none, NULL };
	if (model_new(&model, &config, &d))
		abort();
	(void)snprintf(path, sizeof(path), "/dev/shm/tacho-fuzz-index-%d", (int)getpid());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t kinds[TRACKS];
	uint32_t nr;

	if (!model)
		init();
	write_file(data, size);
	nr = ask(kinds);
	if (nr)
		go_on(kinds, nr);
	(void)unlink(path);
	return 0;
}
