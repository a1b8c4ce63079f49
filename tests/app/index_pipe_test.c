// SPDX-License-Identifier: MIT
/*
 * index_pipe_test [TEST]... - a builder on a thread of its own makes the file that it makes on the
 * model's, byte for byte; its errors, and ends in the middle.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/index_pipe.h"
#include "index/random.h"
#include "../unit/test.h"

static struct index_file file = { "", 1000, 77 };
static struct index_identity identity = { &file, 1, 5, NULL, NULL };
static struct trace trace;
static char path[2][256];

static uint64_t trace_bytes(void *arg, const struct index_place *place)
{
	return place->record * *(const uint64_t *)arg;
}

struct making {
	uint64_t seed, stop;
	uint64_t bytes;			/* of each record; 0: no limit of the share */
	uint32_t every;			/* records from state to state */
	bool with_pipe;
	/* as far as it came */
	struct index_builder *b;
	struct app_index_pipe *pipe;
	struct model *m;
};

static int begin(struct making *x, struct index_place *place)
{
	const struct index_config config = {
		.path = path[x->with_pipe], .checkpoint_every = x->every, .save = model_save,
		.trace_bytes = x->bytes ? trace_bytes : NULL, .arg = &x->bytes,
	};
	struct model_config model = { trace.stream, trace.rules, &index_build_ops, NULL };
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	int err;

	tacho_buf_init(&state, SIZE_MAX / 2);
	err = index_build_new(&x->b, &config, &identity, &state, place, &d);
	if (!CHECK_EQ(err, 0)) {
		tacho_buf_release(&state);
		return err;
	}
	model.arg = x->b;
	if (x->with_pipe) {
		x->pipe = app_index_pipe_new(x->b);
		CHECK(x->pipe);
		model.ops = &app_index_pipe_ops;
		model.arg = x->pipe;
	}
	err = state.len ? model_restore(&x->m, &model, state.data, state.len, &d) :
			  model_new(&x->m, &model, &d);
	tacho_buf_release(&state);
	return err;
}

static int read_on(struct making *x, uint64_t from)
{
	struct random r = random_begin(x->seed);
	uint64_t last = 0;
	int err = 0;

	for (uint64_t i = 0; i < x->stop && !err; i++) {
		const struct record rec = random_next(&r);
		const struct index_place place = { rec.time, 0, i };

		if (i >= from && (!i || rec.time > last))
			err = x->pipe ? app_index_pipe_tick(x->pipe, x->m, &place) :
					index_build_tick(x->b, x->m, &place);
		last = rec.time;
		if (i >= from && !err)
			err = trace_put(&trace, x->m, &rec);
	}
	return err;
}

static void release(struct making *x)
{
	app_index_pipe_free(x->pipe);
	model_free(x->m);
	index_build_free(x->b);
	x->pipe = NULL;
	x->m = NULL;
	x->b = NULL;
}

/* finish: else what is open stays open, as after Ctrl-C. */
static int make(struct making *x, bool finish, struct tacho_diag *d)
{
	struct index_place place = { 0 };
	int err = begin(x, &place), end;

	if (!err)
		err = read_on(x, place.record);
	end = x->pipe ? app_index_pipe_end(x->pipe) : 0;
	err = err ? err : end;
	if (!err && finish)
		err = index_build_finish(x->b, x->m);
	if (!err)
		err = index_build_commit(x->b, x->m, &identity, d);
	else
		CHECK(index_build_error(x->b, d));
	release(x);
	return err;
}

static char *contents(const char *name, size_t *len)
{
	FILE *f = fopen(name, "r");
	char *data = malloc(1u << 26);

	if (!CHECK(f && data))
		abort();
	*len = fread(data, 1, 1u << 26, f);
	CHECK(*len > 0 && *len < 1u << 26);
	(void)fclose(f);
	return data;
}

static void compare(void)
{
	size_t len[2];
	char *data[2] = { contents(path[0], &len[0]), contents(path[1], &len[1]) };

	CHECK_EQ(len[0], len[1]);
	CHECK(len[0] == len[1] && !memcmp(data[0], data[1], len[0]));
	free(data[0]);
	free(data[1]);
}

static void forget(void)
{
	(void)unlink(path[0]);
	(void)unlink(path[1]);
}

/* Stopped, continued, ended, continued as of a longer trace. */
static void test_same(uint64_t seed, uint64_t records, uint64_t bytes, uint32_t every)
{
	struct tacho_diag d = { 0 };

	for (unsigned int step = 1; step <= 3; step++) {
		for (int with = 0; with < 2; with++) {
			struct making x = { .seed = seed, .stop = records * step / 3,
				.bytes = bytes, .every = every, .with_pipe = with };

			CHECK_EQ(make(&x, step > 1, &d), 0);
		}
		compare();
	}
	forget();
}

/* A full disk ends the reading, and has the text that it has with one thread. */
static void test_full(void)
{
	struct rlimit was;
	struct tacho_diag d[2] = { { 0 } };

	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100000, was.rlim_max }), 0);
	for (int with = 0; with < 2; with++) {
		struct making x = { .seed = 5, .stop = 60000, .every = 1000, .with_pipe = with };

		CHECK_EQ(make(&x, true, &d[with]), -EFBIG);
		CHECK(access(path[with], F_OK));
	}
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
	CHECK(strstr(d[0].text, strerror(EFBIG)) && strstr(d[1].text, strerror(EFBIG)));
}

/* Given up in the middle: the thread ends, and nothing is left. */
static void test_given_up(uint64_t records)
{
	struct making x = { .seed = 6, .stop = records, .every = 1000, .with_pipe = true };
	struct index_place place = { 0 };

	CHECK_EQ(begin(&x, &place), 0);
	CHECK_EQ(read_on(&x, 0), 0);
	release(&x);
	CHECK(access(path[1], F_OK));
}

int main(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");

	test_args(argc, argv);
	if (!trace_init(&trace))
		abort();
	for (int i = 0; i < 2; i++)
		(void)snprintf(path[i], sizeof(path[i]), "%s/tacho-pipe-%d-%d",
			       dir ? dir : "/tmp", (int)getpid(), i);
	TEST(test_same(1, 300, 0, 10));
	TEST(test_same(2, 60000, 0, 1000));
	TEST(test_same(3, 60000, 40, 0));
	TEST(test_same(4, 30000, 5, 100));
	TEST(test_full());
	TEST(test_given_up(0));
	TEST(test_given_up(10000));
	trace_release(&trace);
	return test_done();
}
