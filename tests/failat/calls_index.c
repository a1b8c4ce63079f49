// SPDX-License-Identifier: MIT
/*
 * calls_index: an index of the first half of a trace, then of all of it, and what it answers.  A
 * call that fails ends it with 1 and the library's message.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index.h"
#include "index/random.h"

#define RECORDS	6000u

static struct index_file file = { "", 1000, 77 };
static struct index_identity identity = { &file, 1, 5, NULL, NULL };

static void failed(int err, const struct tacho_diag *d)
{
	fprintf(stderr, "calls_index: %s\n", d->text[0] ? d->text : strerror(-err));
	exit(1);
}

static uint64_t few_bytes(void *arg, const struct index_place *place)
{
	(void)place;
	(void)arg;
	return 0;
}

/* The records from `place` on. */
static void build(const struct trace *t, struct index_builder *b, struct model *m, uint64_t begin,
		  uint64_t end)
{
	struct random r = random_begin(3);
	struct tacho_diag d = { 0 };
	uint64_t last = 0;
	int err = 0;

	for (uint64_t i = 0; i < end && !err; i++) {
		struct record rec = random_next(&r);
		struct index_place place = { rec.time, 0, i };

		if (i >= begin && rec.time > last)
			err = index_build_tick(b, m, &place);
		last = rec.time;
		if (i >= begin && !err)
			err = trace_put(t, m, &rec);
	}
	if (!err)
		err = index_build_finish(b, m);
	if (!err)
		err = index_build_commit(b, m, &identity, &d);
	if (err) {
		(void)index_build_error(b, &d);
		index_build_free(b);
		failed(err, &d);
	}
}

static void make(const struct trace *t, uint64_t records)
{
	struct index_config config = {
		.path = "out.idx", .trace_bytes = few_bytes, .save = model_save,
		.checkpoint_every = 1000,
	};
	struct model_config model = { t->stream, t->rules, &index_build_ops, NULL };
	struct index_builder *b;
	struct index_place place;
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	struct model *m;
	int err;

	tacho_buf_init(&state, 1u << 20);
	err = index_build_new(&b, &config, &identity, &state, &place, &d);
	if (err)
		failed(err, &d);
	model.arg = b;
	err = state.len ? model_restore(&m, &model, state.data, state.len, &d) :
			  model_new(&m, &model, &d);
	if (err) {
		index_build_free(b);
		failed(err, &d);
	}
	build(t, b, m, place.record, records);
	index_build_free(b);
	model_free(m);
	tacho_buf_release(&state);
}

static int count_slice(void *arg, const struct model_slice *s)
{
	*(uint64_t *)arg += s->end - s->begin;
	return 0;
}

static int count_state(void *arg, const struct model_state *s)
{
	*(uint64_t *)arg += s->end - s->begin;
	return 0;
}

static const struct model_ops count_ops = { .slice = count_slice, .state = count_state };

static void ask(void)
{
	struct index_sum sum[10];
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct model_track t;
	struct index *x;
	uint64_t all = 0;
	int err = index_open(&x, "out.idx", &identity, &d);

	if (err)
		failed(err, &d);
	index_info(x, &info);
	for (uint32_t i = 0; i < info.nr_tracks && !err; i++) {
		err = index_track(x, i, &t);
		if (!err)
			err = index_buckets(x, i, info.stats.first,
					    (info.stats.last - info.stats.first) / 10, 10, sum, &d);
		if (!err)
			all = all * 31 + sum[3].count + sum[5].longest;
		if (!err)
			err = index_items(x, i, 0, INT64_MAX, &count_ops, &all, &d);
		err = err == -ENODATA ? 0 : err;
	}
	index_close(x);
	if (err)
		failed(err, &d);
	printf("%" PRIu64 " records, %" PRIu64 " items: %" PRIu64 "\n", info.stats.records,
	       info.items, all);
}

int main(void)
{
	struct trace t;

	if (!trace_init(&t)) {
		fprintf(stderr, "calls_index: out of memory\n");
		return 1;
	}
	make(&t, RECORDS / 2);
	make(&t, RECORDS);
	ask();
	trace_release(&t);
	return fflush(stdout) ? (perror("calls_index: standard output"), 1) : 0;
}
