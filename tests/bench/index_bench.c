// SPDX-License-Identifier: MIT
/*
 * index_bench TRACE INDEX model|build|ask - a trace through the model alone, or with an index made
 * of it; or questions to that index.  Prints JSON: user seconds, bytes, memory; of questions the
 * microseconds: median, of 20 the longest but one, the longest.
 */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "index/index.h"
#include "stream/stream.h"

#define BUCKETS	512u
#define ITEMS	1000u
#define ASKED	400u

static struct index_file file = { "", 0, 0 };
static struct index_identity identity = { &file, 1, 0, NULL, NULL };

static double user_seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
}

static long max_rss_kib(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static uint64_t size_of(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;
	char name[4096];

	if (!dir)
		return stat(path, &st) ? 0 : (uint64_t)st.st_size;
	while ((entry = readdir(dir))) {
		(void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			sum += size_of(name);
	}
	(void)closedir(dir);
	return sum;
}

static void die(const char *what, const struct tacho_diag *d)
{
	fprintf(stderr, "index_bench: %s: %s\n", what, d ? d->text : strerror(errno));
	exit(1);
}

static struct tacho_stream *open_trace(const char *path, struct model_rules **rules)
{
	struct tacho_error error = { 0 };
	struct tacho_stream *s;
	struct tacho_diag d = { 0 };

	if (tacho_stream_open(&s, path, 0, &error) < 0 || model_rules_new(rules, &d))
		die(path, NULL);
	return s;
}

/* ---- making ---- */

struct making {
	uint64_t bytes, records, all;
};

static uint64_t trace_bytes(void *arg, const struct index_place *place)
{
	const struct making *x = arg;

	return (uint64_t)((double)x->bytes * (double)place->record / (double)x->all);
}

static int make(const char *path, const char *to, bool with_index)
{
	static const struct model_ops none;
	struct making x = { .bytes = size_of(path) };
	struct index_config config = {
		.path = to, .trace_bytes = trace_bytes, .arg = &x, .save = model_save,
		.replace = true,
	};
	struct model_rules *rules;
	struct tacho_stream *s = open_trace(path, &rules);
	struct index_builder *b = NULL;
	struct index_place place;
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	struct tacho_record r;
	struct model *m;
	uint64_t last = 0;
	double start;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		x.all++;
	if (tacho_stream_seek(s, 0))
		die(path, NULL);
	(void)unlink(to);
	tacho_buf_init(&state, 1u << 30);
	if (with_index && index_build_new(&b, &config, &identity, &state, &place, &d))
		die(to, &d);
	if (model_new(&m, &(struct model_config){ s, rules, b ? &index_build_ops : &none, b }, &d))
		die(path, &d);
	start = user_seconds();
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		if (b && (r.time > last || !x.records)) {
			place = (struct index_place){ r.time, 0, x.records };
			if (index_build_tick(b, m, &place))
				break;
		}
		last = r.time;
		x.records++;
		if (model_record(m, &r))
			break;
	}
	if (b && (index_build_finish(b, m) || index_build_commit(b, m, &identity, &d))) {
		(void)index_build_error(b, &d);
		die(to, &d);
	}
	printf("{\"user_s\": %.3f, \"records\": %llu, \"trace_bytes\": %llu, "
	       "\"index_bytes\": %llu, \"rss_kib\": %ld}\n", user_seconds() - start,
	       (unsigned long long)x.records,
	       (unsigned long long)x.bytes, (unsigned long long)(b ? size_of(to) : 0),
	       max_rss_kib());
	index_build_free(b);
	model_free(m);
	tacho_stream_close(s);
	model_rules_free(rules);
	tacho_buf_release(&state);
	return 0;
}

/* ---- asking ---- */

/* Reading the trace again, where leaves have no items. */
struct again {
	struct index *index;
	struct tacho_stream *stream;
	struct model_rules *rules;
	bool in;
	uint32_t track;
	const struct model_ops *ops;
	void *arg;
	uint64_t calls;
};

static int again_slice(void *arg, const struct model_slice *s)
{
	const struct again *a = arg;

	return a->in && s->track == a->track ? a->ops->slice(a->arg, s) : 0;
}

static int again_state(void *arg, const struct model_state *s)
{
	const struct again *a = arg;

	return a->in && s->track == a->track ? a->ops->state(a->arg, s) : 0;
}

static const struct model_ops again_ops = { .slice = again_slice, .state = again_state };

static int again(void *arg, uint32_t track, uint64_t first, uint64_t last,
		 const struct model_ops *ops, void *ops_arg)
{
	struct again *a = arg;
	struct model_config config = { a->stream, a->rules, &again_ops, a };
	struct index_place place = { 0 };
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	struct tacho_record r;
	struct model *m;
	int err;

	a->calls++;
	a->track = track;
	a->ops = ops;
	a->arg = ops_arg;
	tacho_buf_init(&state, 1u << 30);
	err = index_seek(a->index, first, &place, &state, &d);
	if (tacho_stream_seek(a->stream, place.time))
		die("seek", NULL);
	if (err == -ENOENT ? model_new(&m, &config, &d) :
			     model_restore(&m, &config, state.data, state.len, &d))
		die("again", &d);
	err = 0;
	for (uint64_t i = 0; !err && tacho_stream_next(a->stream, &r) == TACHO_STREAM_RECORD; i++) {
		a->in = r.time >= first && r.time <= last;
		if (r.time > last)
			break;
		err = i < place.skip ? 0 : model_record(m, &r);
	}
	model_free(m);
	tacho_buf_release(&state);
	return err;
}

/* The ends of items. */
struct ends {
	uint64_t *at, nr, room;
};

static int add_end(struct ends *e, uint64_t time)
{
	if (e->nr < e->room)
		e->at[e->nr] = time;
	e->nr++;
	return 0;
}

static int end_slice(void *arg, const struct model_slice *s)
{
	return add_end(arg, s->end);
}

static int end_state(void *arg, const struct model_state *s)
{
	return add_end(arg, s->end);
}

static const struct model_ops end_ops = { .slice = end_slice, .state = end_state };

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_times(const char *what, double *us)
{
	qsort(us, ASKED, sizeof(*us), by_value);
	printf("\"%s_p50_us\": %.1f, \"%s_p95_us\": %.1f, \"%s_max_us\": %.1f", what,
	       us[ASKED / 2], what, us[ASKED * 95 / 100], what, us[ASKED - 1]);
}

/* The track with the most items. */
static uint32_t largest(struct index *x, uint64_t *nr)
{
	struct index_info info;
	struct tacho_diag d = { 0 };
	uint32_t best = 0;

	index_info(x, &info);
	*nr = 0;
	for (uint32_t i = 0; i < info.nr_tracks; i++) {
		struct index_sum sum;

		if (index_buckets(x, i, info.stats.first,
				  info.stats.last - info.stats.first + 1, 1, &sum, &d))
			die("index_buckets", &d);
		if (sum.count > *nr) {
			*nr = sum.count;
			best = i;
		}
	}
	return best;
}

static int ask(const char *trace, const char *path)
{
	struct again again_arg = { 0 };
	static struct index_sum sum[BUCKETS];
	static double us[2][ASKED];
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct index *x;
	uint64_t nr, all, life, seed = 1;
	struct ends ends = { 0 }, got = { 0 };
	uint32_t track;
	double start;

	if (index_open(&x, path, &identity, &d))
		die(path, &d);
	again_arg.index = x;
	again_arg.stream = open_trace(trace, &again_arg.rules);
	index_set_again(x, again, &again_arg);
	index_info(x, &info);
	life = info.stats.last - info.stats.first + 1;
	track = largest(x, &all);
	ends = (struct ends){ calloc(all + 1, sizeof(uint64_t)), 0, all };
	if (!ends.at || index_items(x, track, 0, INT64_MAX, &end_ops, &ends, &d))
		die("index_items", &d);
	again_arg.calls = 0;
	nr = all < ITEMS ? all : ITEMS;
	for (uint32_t i = 0; i < ASKED; i++) {
		uint64_t from;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		from = (seed >> 33) % (all - nr + 1);
		start = now_us();
		if (index_items(x, track, ends.at[from], ends.at[from + nr - 1], &end_ops, &got,
				&d))
			die("index_items", &d);
		us[0][i] = now_us() - start;
	}
	for (uint32_t i = 0; i < ASKED; i++) {
		uint64_t width = (life >> i % 4) / BUCKETS;

		width += !width;
		start = now_us();
		if (index_buckets(x, track, info.stats.first + (life - width * BUCKETS) / 2, width,
				  BUCKETS, sum, &d))
			die("index_buckets", &d);
		us[1][i] = now_us() - start;
	}
	printf("{\"items\": %llu, \"packed\": %llu, \"track_items\": %llu, \"listed\": %llu, "
	       "\"tracks\": %u, \"checkpoints\": %u, ", (unsigned long long)info.items,
	       (unsigned long long)info.packed, (unsigned long long)all,
	       (unsigned long long)(got.nr / ASKED), info.nr_tracks, info.nr_checkpoints);
	print_times("items", us[0]);
	printf(", ");
	print_times("tile", us[1]);
	printf(", \"again\": %llu, \"rss_kib\": %ld}\n", (unsigned long long)again_arg.calls,
	       max_rss_kib());
	index_close(x);
	free(ends.at);
	tacho_stream_close(again_arg.stream);
	model_rules_free(again_arg.rules);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[3], "ask"))
		return ask(argv[1], argv[2]);
	if (argc == 4 && (!strcmp(argv[3], "model") || !strcmp(argv[3], "build")))
		return make(argv[1], argv[2], argv[3][0] == 'b');
	fprintf(stderr, "usage: index_bench TRACE INDEX model|build|ask\n");
	return 2;
}
