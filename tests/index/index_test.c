// SPDX-License-Identifier: MIT
/* The index: what it answers is what a scan over the model's items gives. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "index/index.h"
#include "index/random.h"
#include "unit/test.h"

static struct trace trace;
static char path[512];

/* ---- a model's state: how many records it has read ---- */

static int save_state(const struct model *m, struct tacho_buf *out)
{
	tacho_buf_put(out, &model_stats(m)->records, sizeof(uint64_t));
	return 0;
}

/* ---- making one ---- */

static struct index_file whole = { "", 1000, 77 };
static struct index_identity identity = { &whole, 1, 5, NULL, NULL };

struct making {
	uint64_t seed, records;		/* of the trace */
	uint64_t from;			/* records that were read before */
	uint32_t every, share;
	uint32_t bytes;			/* of a record, for the share */
	uint64_t commit_at;		/* a commit in the middle */
	size_t memory;
	struct index_builder *b;
	struct list *list;
	struct model *m;
	bool quiet;			/* until `from` */
	uint64_t nr;			/* records so far */
};

static uint64_t trace_bytes(void *arg, const struct index_place *place)
{
	const struct making *x = arg;

	return place->record * x->bytes;
}

/* What the model gives goes to the list and to the index. */
#define BOTH(what, type) \
static int both_##what(void *arg, const struct type *item) \
{ \
	struct making *x = arg; \
	(void)list_add_##what(x->list, item); \
	return x->quiet || !x->b ? 0 : index_build_ops.what(x->b, item); \
}
BOTH(track, model_track)
BOTH(slice, model_slice)
BOTH(state, model_state)
BOTH(counter, model_counter)
BOTH(instant, model_instant)
BOTH(loss, model_loss)

static const struct model_ops both_ops = {
	.track = both_track, .slice = both_slice, .state = both_state, .counter = both_counter,
	.instant = both_instant, .loss = both_loss,
};

/* One model over the records; those before x->from are read without the builder. */
static void run(struct making *x)
{
	struct model_config config = { trace.stream, trace.rules, &both_ops, x };
	struct random r = random_begin(x->seed);
	struct tacho_diag d = { 0 };
	uint64_t last = 0;

	x->quiet = x->from > 0;
	CHECK(!model_new(&x->m, &config, &d));
	for (x->nr = 0; x->nr < x->records; x->nr++) {
		struct record rec = random_next(&r);
		struct index_place place = { rec.time, 0, x->nr };

		x->quiet = x->nr < x->from;
		if (x->b && !x->quiet && (!x->nr || rec.time > last))
			CHECK(!index_build_tick(x->b, x->m, &place));
		if (x->b && x->commit_at && x->nr == x->commit_at)
			CHECK(!index_build_commit(x->b, x->m, &identity, &d));
		last = rec.time;
		CHECK(!trace_put(&trace, x->m, &rec));
	}
	x->quiet = false;
	if (x->b)
		CHECK(!index_build_finish(x->b, x->m));
	else
		CHECK(!model_finish(x->m));
}

static void make(struct making *x)
{
	struct index_config config = {
		.path = path, .trace_bytes = x->share ? trace_bytes : NULL, .arg = x,
		.checkpoint_every = x->every, .share = x->share, .save = save_state,
		.replace = true, .memory = x->memory,
	};
	struct index_place place;
	struct tacho_diag d = { 0 };
	struct tacho_buf state;

	x->bytes = x->bytes ? x->bytes : 1000;
	tacho_buf_init(&state, 1000);
	CHECK(!index_build_new(&x->b, &config, &identity, &state, &place, &d));
	if (state.len)
		memcpy(&x->from, state.data, sizeof(x->from));
	CHECK(place.record == x->from);
	run(x);
	CHECK(!index_build_commit(x->b, x->m, &identity, &d));
	index_build_free(x->b);
	x->b = NULL;
	model_free(x->m);
	tacho_buf_release(&state);
}

/* Reads the trace again from its beginning. */
struct reading {
	uint64_t seed, records, first, last;
	uint32_t track;
	bool in;
	const struct model_ops *ops;
	void *arg;
	uint64_t calls;
};

#define AGAIN(what, type) \
static int again_##what(void *arg, const struct type *item) \
{ \
	struct reading *x = arg; \
	return x->in && item->track == x->track ? x->ops->what(x->arg, item) : 0; \
}
AGAIN(slice, model_slice)
AGAIN(state, model_state)
AGAIN(counter, model_counter)
AGAIN(instant, model_instant)

static const struct model_ops again_ops = {
	.slice = again_slice, .state = again_state, .counter = again_counter,
	.instant = again_instant,
};

static int again(void *arg, uint32_t track, uint64_t first, uint64_t last,
		 const struct model_ops *ops, void *ops_arg)
{
	struct reading *x = arg;
	struct model_config config = { trace.stream, trace.rules, &again_ops, x };
	struct random r = random_begin(x->seed);
	struct tacho_diag d = { 0 };
	struct model *m;
	int err = 0;

	x->calls++;
	x->track = track;
	x->ops = ops;
	x->arg = ops_arg;
	CHECK(!model_new(&m, &config, &d));
	for (uint64_t i = 0; i < x->records && !err; i++) {
		struct record rec = random_next(&r);

		x->in = rec.time >= first && rec.time <= last;
		if (rec.time > last)
			break;
		err = trace_put(&trace, m, &rec);
	}
	model_free(m);
	return err;
}

/* ---- comparing ---- */

static bool same_item(const struct item *a, const struct item *b)
{
	return a->kind == b->kind && a->track == b->track && a->depth == b->depth &&
	       a->flags == b->flags && a->thread == b->thread && a->from == b->from &&
	       a->to == b->to && a->cpu == b->cpu && a->begin == b->begin && a->end == b->end &&
	       a->count == b->count && !memcmp(&a->value, &b->value, sizeof(a->value)) &&
	       !strcmp(a->name, b->name) && !strcmp(a->category, b->category);
}

static bool touches(const struct item *i, uint64_t from, uint64_t to)
{
	return i->begin < to && (i->end > from || i->begin >= from);
}

static void compare_items(struct index *x, const struct list *l, uint32_t track, uint64_t from,
			  uint64_t to)
{
	struct list got = { 0 };
	struct tacho_diag d = { 0 };
	size_t nr = 0, wrong = 0;
	int err = index_items(x, track, from, to, &list_ops, &got, &d);

	if (!CHECK(!err))
		printf("# track %u: %d %s\n", track, err, d.text);
	for (size_t i = 0; i < l->nr; i++) {
		const struct item *item = &l->item[i];

		if (item->kind == LOSS || item->track != track || !touches(item, from, to))
			continue;
		if (nr >= got.nr || !same_item(item, &got.item[nr]))
			wrong++;
		nr++;
	}
	if (!CHECK(nr == got.nr && !wrong))
		printf("# track %u (%s): %zu items, not %zu, %zu wrong\n", track,
		       model_track_kind_name(l->track[track].track.kind), got.nr, nr, wrong);
	list_release(&got);
}

/* A bucket by a scan. */
static void scan(const struct list *l, const struct model_track *t, uint64_t from, uint64_t to,
		 struct index_sum *sum, struct item *longest)
{
	bool follows = t->kind == MODEL_STATE || t->kind == MODEL_RUNNING;
	bool of_cpu = t->kind == MODEL_CPU || t->kind == MODEL_RUNNING || t->kind == MODEL_IRQ ||
		      t->kind == MODEL_SOFTIRQ;

	memset(sum, 0, sizeof(*sum));
	sum->min = sum->max = sum->last = (double)NAN;
	for (size_t i = 0; i < l->nr; i++) {
		const struct item *x = &l->item[i];
		uint64_t a = x->begin > from ? x->begin : from, b = x->end < to ? x->end : to;
		uint32_t class = follows ? x->depth : x->depth > 0;

		if (x->kind == LOSS) {
			if (x->end >= from && x->end < to &&
			    (!of_cpu || x->cpu == MODEL_NO_CPU || x->cpu == t->number))
				sum->lost += x->count;
			continue;
		}
		if (x->track != t->id)
			continue;
		if (x->kind == COUNTER && x->end < to)
			sum->last = x->value;
		if (!touches(x, from, to))
			continue;
		if (t->kind == MODEL_RUNNING)
			class = !strcmp(x->category, "running") ? MODEL_RUNS :
				!strcmp(x->category, "idle") ? MODEL_IDLE : MODEL_UNKNOWN;
		sum->count++;
		sum->begins += x->begin >= from;
		if (x->kind == COUNTER) {
			sum->min = sum->min <= x->value ? sum->min : x->value;
			sum->max = sum->max >= x->value ? sum->max : x->value;
			sum->sum += x->value;
			continue;
		}
		sum->covered[class] += b - a;
		if (x->flags & MODEL_UNCERTAIN && (follows || !class))
			sum->uncertain += b - a;
		if (x->end - x->begin > sum->longest) {
			sum->longest = x->end - x->begin;
			sum->longest_begin = x->begin;
			*longest = *x;
		}
	}
}

static bool same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool same_sum(struct index *x, const struct model_track *t, const struct index_sum *a,
		     const struct index_sum *b, const struct item *longest)
{
	const char *name = t->kind == MODEL_STATE ? "" : index_name(x, a->longest_name);

	if (b->longest && (t->kind == MODEL_STATE ? a->longest_name != longest->depth :
						    strcmp(name, longest->name) != 0))
		return false;
	return a->count == b->count && a->begins == b->begins && a->longest == b->longest &&
	       a->longest_begin == b->longest_begin && a->uncertain == b->uncertain &&
	       a->lost == b->lost && !a->rough && same_value(a->min, b->min) &&
	       same_value(a->max, b->max) && same_value(a->sum, b->sum) &&
	       same_value(a->last, b->last) && !memcmp(a->covered, b->covered, sizeof(a->covered));
}

#define BUCKETS	24u

static void compare_buckets(struct index *x, const struct list *l, uint32_t track, uint64_t from,
			    uint64_t width, uint32_t nr)
{
	struct index_sum got[BUCKETS], is;
	struct item longest = { 0 };
	struct tacho_diag d = { 0 };
	uint32_t wrong = 0;

	CHECK(!index_buckets(x, track, from, width, nr, got, &d));
	for (uint32_t i = 0; i < nr; i++) {
		scan(l, &l->track[track].track, from + i * width, from + (i + 1) * width, &is,
		     &longest);
		if (!same_sum(x, &l->track[track].track, &got[i], &is, &longest) && !wrong++)
			printf("# track %u (%s) bucket %u of %u at %" PRIu64 "+%" PRIu64 ": count "
			       "%" PRIu64 " %" PRIu64 " longest %" PRIu64 " %" PRIu64 "\n", track,
			       model_track_kind_name(l->track[track].track.kind), i, nr, from,
			       width, got[i].count, is.count, got[i].longest, is.longest);
	}
	CHECK(!wrong);
}

static void compare_losses(struct index *x, const struct list *l, uint64_t from, uint64_t to)
{
	struct list got = { 0 };
	struct tacho_diag d = { 0 };
	size_t nr = 0, found = 0;

	CHECK(!index_items(x, 0, from, to, &list_ops, &got, &d));
	for (size_t i = 0; i < l->nr; i++) {
		if (l->item[i].kind != LOSS || !touches(&l->item[i], from, to))
			continue;
		nr++;
		for (size_t j = 0; j < got.nr; j++)
			if (same_item(&l->item[i], &got.item[j])) {
				found++;
				break;
			}
	}
	CHECK(nr == got.nr && nr == found);
	list_release(&got);
}

static void compare_tracks(struct index *x, const struct list *l)
{
	struct index_info info;
	struct model_track t;

	index_info(x, &info);
	CHECK(info.nr_tracks == l->nr_tracks);
	CHECK(info.items == l->nr);
	for (uint32_t i = 0; i < l->nr_tracks; i++) {
		const struct model_track *is = &l->track[i].track;

		CHECK(!index_track(x, i, &t));
		CHECK(t.id == i && t.parent == is->parent && t.kind == is->kind &&
		      t.number == is->number && !strcmp(t.name, l->track[i].name));
	}
	CHECK(index_track(x, l->nr_tracks, &t) == -EINVAL);
}

/* Where a random item of a track ends. */
static uint64_t end_of(const struct list *l, uint32_t track, struct random *r, uint64_t otherwise)
{
	for (unsigned int tries = 0; l->nr && tries < 1000; tries++) {
		const struct item *item = &l->item[random_below(r, (uint32_t)l->nr)];

		if (item->kind != LOSS && item->track == track)
			return item->end;
	}
	return otherwise;
}

enum { EXACT = 1 };

/* Random questions to all tracks. */
static void compare(struct index *x, const struct list *l, uint64_t seed, unsigned int how)
{
	struct random r = { .state = seed };
	struct index_info info;
	uint64_t life;

	compare_tracks(x, l);
	index_info(x, &info);
	life = info.stats.last - info.stats.first + 2;
	for (uint32_t i = 0; i < l->nr_tracks; i++)
		for (unsigned int k = 0; k < 4; k++) {
			uint64_t part = life >> random_below(&r, 16);
			uint64_t from = info.stats.first - 1 + (random_below(&r, 1u << 30) *
				       (life >> 10)) / (1u << 20);
			uint32_t nr = 1 + random_below(&r, BUCKETS);

			if (!k || !info.stats.records) {
				from = 0;
				part = INT64_MAX / 2;
			}
			if (k > 1)
				from = end_of(l, i, &r, from);
			if (l->track[i].track.kind > MODEL_CPU)
				compare_items(x, l, i, from, from + part);
			/* so that a bucket begins where an item ends */
			if (k > 2)
				from -= part / nr * random_below(&r, nr);
			if (how & EXACT)
				compare_buckets(x, l, i, from, part / nr + !(part / nr), nr);
			if (!i)
				compare_losses(x, l, from, from + part);
		}
}

static struct index *opened(void)
{
	struct tacho_diag d = { 0 };
	struct index *x = NULL;

	if (!CHECK(!index_open(&x, path, &identity, &d)))
		printf("# %s\n", d.text);
	return x;
}

static void test_random(uint64_t seed, uint64_t records, size_t memory)
{
	struct list list = { 0 };
	struct making making = {
		.seed = seed, .records = records, .list = &list, .memory = memory,
	};
	struct index *x;

	(void)unlink(path);
	make(&making);
	x = opened();
	if (x)
		compare(x, &list, seed, EXACT);
	index_close(x);
	list_release(&list);
}

/* A prefix is indexed, then the whole: the same answers. */
static void test_continued(uint64_t seed, uint64_t last)
{
	struct list list = { 0 };
	struct index_info info;
	struct index *x;

	(void)unlink(path);
	for (uint64_t records = 700; records <= last; records *= 2) {
		struct making making = { .seed = seed, .records = records, .list = &list,
					 .commit_at = records / 5 * 4, .every = 512,
					 .share = 120, .bytes = 100000 };

		list_release(&list);
		make(&making);
		CHECK((making.from > 0) == (records > 700));
	}
	x = opened();
	if (x) {
		compare(x, &list, seed, EXACT);
		index_info(x, &info);
		CHECK(info.finished && info.nr_checkpoints >= 3);
	}
	index_close(x);
	list_release(&list);
}

static const struct model_ops no_ops;

/* A track with many items. */
static uint32_t running_track(const struct list *l)
{
	for (uint32_t i = 0; i < l->nr_tracks; i++)
		if (l->track[i].track.kind == MODEL_RUNNING)
			return i;
	return 0;
}

/* A file that may take almost nothing of the trace: leaves have no items. */
static void test_share(uint64_t seed)
{
	struct list list = { 0 };
	struct making making = { .seed = seed, .records = 8000, .list = &list, .share = 1,
				 .bytes = 30 };
	struct reading reading = { .seed = seed, .records = 8000 };
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct index *x;

	(void)unlink(path);
	make(&making);
	x = opened();
	if (!x)
		return;
	index_info(x, &info);
	CHECK(info.packed < info.items / 2);
	CHECK(index_items(x, running_track(&list), 0, INT64_MAX, &no_ops, NULL, &d) == -ENODATA);
	index_set_again(x, again, &reading);
	compare(x, &list, seed, 0);
	CHECK(reading.calls > 0);
	index_close(x);
	list_release(&list);
}

/* ---- files that are not as they were written ---- */

static void *read_all(size_t *size)
{
	struct tacho_buf b;

	tacho_buf_init(&b, 1u << 28);
	CHECK(!tacho_buf_read_file(&b, path));
	*size = b.len;
	return b.data;
}

static void write_all(const void *p, size_t size)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(p, 1, size, f) == size && !fclose(f));
}

/*
 * All answers of a file, as a number; 0: it is damaged, and says so.  Only -EBADMSG is an excuse.
 * stats.records tells which root it was.
 */
static uint64_t answers(uint64_t *records)
{
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct model_track t;
	struct index *x;
	uint64_t hash = 1;
	int err = index_open(&x, path, &identity, &d);

	if (err) {
		CHECK(err == -EBADMSG || err == -ESTALE || err == -EEXIST);
		CHECK(d.text[0]);
		return 0;
	}
	index_info(x, &info);
	*records = info.stats.records;
	for (uint32_t i = 0; i < info.nr_tracks && !err; i++) {
		struct list got = { 0 };
		struct index_sum sum[3];

		err = index_track(x, i, &t);
		if (!err)
			err = index_items(x, i, 0, INT64_MAX, &list_ops, &got, &d);
		if (!err)
			err = index_buckets(x, i, info.stats.first,
					    (info.stats.last - info.stats.first) / 3 + 1, 3, sum,
					    &d);
		for (size_t k = 0; k < got.nr; k++)
			hash = hash * 31 + got.item[k].end + got.item[k].begin * 7 +
			       got.item[k].flags + (uint64_t)got.item[k].name[0] +
			       got.item[k].depth;
		for (int k = 0; k < 3 && !err; k++)
			hash = hash * 31 + sum[k].count + sum[k].longest + sum[k].lost;
		list_release(&got);
	}
	index_close(x);
	if (err)
		CHECK(err == -EBADMSG);
	return err ? 0 : hash;
}

/* Cut at any length, with any byte changed: an older root, or damaged; never other answers. */
static void test_damage(uint64_t seed, int times)
{
	struct list list = { 0 };
	struct making making = { .seed = seed, .records = 3000, .list = &list, .commit_at = 1800 };
	struct random r = { .state = seed };
	uint64_t whole_answers, old_answers = 0, records, good = 0, old = 0, bad = 0;
	unsigned char *bytes;
	size_t size;

	(void)unlink(path);
	make(&making);
	bytes = read_all(&size);
	whole_answers = answers(&records);
	CHECK(whole_answers && records == 3000);
	for (int i = 0; i < times; i++) {
		size_t at = i < times / 2 ? random_below(&r, (uint32_t)size) : size;
		size_t flip = i < times / 2 ? size : i < times / 12 * 7 ? random_below(&r, 256) :
							 random_below(&r, (uint32_t)size);
		unsigned char was = flip < size ? bytes[flip] : 0;
		uint64_t is;

		if (flip < size)
			bytes[flip] ^= (unsigned char)(1u << random_below(&r, 8));
		write_all(bytes, at);
		if (flip < size)
			bytes[flip] = was;
		is = answers(&records);
		if (!is) {
			bad++;
		} else if (records == 3000) {
			good++;
			CHECK(is == whole_answers);
		} else {
			old++;
			CHECK(records == 1800);
			old_answers = old_answers ? old_answers : is;
			CHECK(is == old_answers);
		}
	}
	printf("# %" PRIu64 " good, %" PRIu64 " old, %" PRIu64 " damaged\n", good, old, bad);
	CHECK(old && bad && good);
	free(bytes);
	list_release(&list);
}

/* ---- many items at one time ---- */

#define TIES	7u	/* of one time */
#define TIMES	300u
#define BEGIN	UINT64_C(1000000)

static const char *const tie_names[TIES] = { "a", "b", "c", "d", "e", "f", "g" };

static int put_ties(uint64_t time, const struct model_ops *ops, void *arg)
{
	for (uint32_t i = 0; i < TIES; i++) {
		const struct model_instant x = { 1, time, 0, tie_names[i], "tie" };
		int err = ops->instant(arg, &x);

		if (err)
			return err;
	}
	return 0;
}

static int again_ties(void *arg, uint32_t track, uint64_t first, uint64_t last,
		      const struct model_ops *ops, void *ops_arg)
{
	int err = 0;

	++*(uint64_t *)arg;
	CHECK(track == 1);
	for (uint64_t time = first; time <= last && !err; time += 100)
		err = put_ties(time, ops, ops_arg);
	return err;
}

static uint64_t no_bytes(void *arg, const struct index_place *place)
{
	(void)place;
	(void)arg;
	return 0;
}

/* Leaves begin in the middle of a time; with and without their items. */
static void test_ties(uint32_t share)
{
	struct index_config config = {
		.path = path, .share = share, .trace_bytes = share ? no_bytes : NULL,
	};
	const struct model_ops none = { 0 };
	struct model_config model = { trace.stream, trace.rules, &none, NULL };
	const struct model_track tracks[2] = { { 0, 0, MODEL_MACHINE, 0, "" },
					       { 1, 0, MODEL_CALLS, 0, "" } };
	struct index_sum sum[TIMES / 3];
	struct index_builder *b;
	struct index_place place = { 0 };
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	uint64_t calls = 0;
	struct model *m;
	struct index *x;

	(void)unlink(path);
	tacho_buf_init(&state, 100);
	CHECK(!model_new(&m, &model, &d));
	CHECK(!index_build_new(&b, &config, &identity, &state, &place, &d));
	CHECK(!index_build_ops.track(b, &tracks[0]) && !index_build_ops.track(b, &tracks[1]));
	for (uint32_t i = 0; i < TIMES; i++) {
		place = (struct index_place){ BEGIN + i * 100, 0, i };
		CHECK(!index_build_tick(b, m, &place));
		CHECK(!put_ties(place.time, &index_build_ops, b));
	}
	CHECK(!index_build_finish(b, m) && !index_build_commit(b, m, &identity, &d));
	index_build_free(b);
	model_free(m);
	x = opened();
	index_set_again(x, again_ties, &calls);
	for (uint32_t i = 0; i < TIMES; i++) {
		uint64_t time = BEGIN + i * 100;
		struct list got = { 0 };

		CHECK(!index_items(x, 1, time, time + 1, &list_ops, &got, &d));
		CHECK(got.nr == TIES);
		for (uint32_t k = 0; k < TIES && k < got.nr; k++)
			CHECK(!strcmp(got.item[k].name, tie_names[k]) &&
			      got.item[k].begin == time);
		list_release(&got);
	}
	CHECK((calls > 0) == (share > 0));
	for (uint32_t width = 3; width < 40 && !share; width++) {
		uint32_t nr = TIMES / width;

		CHECK(!index_buckets(x, 1, BEGIN, width * 100, nr, sum, &d));
		for (uint32_t i = 0; i < nr; i++)
			CHECK(sum[i].count == width * TIES && sum[i].begins == width * TIES);
	}
	index_close(x);
	tacho_buf_release(&state);
}

/* ---- many tracks ---- */

#define NAME	12u	/* bytes of a thread's name */

/* Items of a thread in round `round`. */
static struct model_state state_of(uint32_t thread, uint32_t round)
{
	uint64_t begin = UINT64_C(1000000) * thread + round * 1000;

	return (struct model_state){
		.track = thread * 4 + 3, .cpu = round & 1 ? MODEL_NO_CPU : thread % 4,
		.begin = begin, .end = begin + 1000,
		.state = round & 1 ? MODEL_SLEEPING : MODEL_RUNS,
	};
}

static void add_thread(struct index_builder *b, uint32_t i, const char *name)
{
	const struct model_track t[4] = {
		{ i * 4 + 1, 0, MODEL_PROCESS, i, name },
		{ i * 4 + 2, i * 4 + 1, MODEL_THREAD, i, name },
		{ i * 4 + 3, i * 4 + 2, MODEL_STATE, i, name },
		{ i * 4 + 4, i * 4 + 2, MODEL_CALLS, i, name },
	};

	for (int k = 0; k < 4; k++)
		CHECK(!index_build_ops.track(b, &t[k]));
}

static int sum_states(void *arg, const struct model_state *s)
{
	*(uint64_t *)arg += s->end - s->begin + s->state;
	return 0;
}

static const struct model_ops sum_ops = { .state = sum_states };

/*
 * Threads with few states each; a part of them goes on afterwards, in an order in which edges are
 * read again.  The memory does not hold all edges.
 */
static void test_many(uint32_t threads)
{
	struct index_config config = { .path = path, .replace = true };
	const struct model_ops none = { 0 };
	struct model_config model = { trace.stream, trace.rules, &none, NULL };
	struct model_track machine = { 0, 0, MODEL_MACHINE, 0, "" }, t;
	char *names = calloc(threads, NAME);
	struct index_builder *b;
	struct index_place place;
	struct tacho_diag d = { 0 };
	struct tacho_buf state;
	struct model_state s;
	struct model *m;
	struct index *x;
	uint64_t got;

	(void)unlink(path);
	tacho_buf_init(&state, 100);
	CHECK(names && !model_new(&m, &model, &d));
	CHECK(!index_build_new(&b, &config, &identity, &state, &place, &d));
	CHECK(!index_build_ops.track(b, &machine));
	for (uint32_t i = 0; i < threads; i++) {
		(void)snprintf(names + (size_t)i * NAME, NAME, "%x", i);
		add_thread(b, i, names + (size_t)i * NAME);
		for (uint32_t round = 0; round < 3; round++) {
			s = state_of(i, round);
			CHECK(!index_build_ops.state(b, &s));
		}
	}
	for (uint32_t round = 3; round < 100; round++)
		for (uint32_t i = round; i < threads; i += 997) {
			s = state_of(i, round);
			CHECK(!index_build_ops.state(b, &s));
		}
	CHECK(!index_build_finish(b, m) && !index_build_commit(b, m, &identity, &d));
	index_build_free(b);
	model_free(m);
	free(names);
	x = opened();
	for (uint32_t i = 0; x && i < threads; i += 61) {
		uint64_t is = 0;

		/* a state in round 3 of those that went on comes after a gap */
		for (uint32_t round = 0; round < 100; round++)
			if (round < 3 || (i >= round && (i - round) % 997 == 0)) {
				s = state_of(i, round);
				is += s.end - s.begin + s.state;
			}
		got = 0;
		CHECK(!index_items(x, i * 4 + 3, 0, INT64_MAX, &sum_ops, &got, &d));
		CHECK(got == is);
		CHECK(!index_track(x, i * 4 + 3, &t) && t.number == i);
		CHECK(strtoul(t.name, NULL, 16) == i);
	}
	index_close(x);
	tacho_buf_release(&state);
}

static void run_short(void)
{
	TEST(test_random(1, 3000, 0));
	TEST(test_random(2, 3000, 0));
	TEST(test_random(7, 0, 0));
	TEST(test_random(7, 1, 0));
	TEST(test_random(8, 200, 0));
	TEST(test_random(9, 2000, 1));
	TEST(test_random(10, 2000, 10000));
	TEST(test_continued(11, 2800));
	TEST(test_share(21));
	TEST(test_ties(0));
	TEST(test_ties(1));
	TEST(test_damage(31, 200));
	TEST(test_many(5000));
}

static void run_long(void)
{
	for (uint64_t seed = 40; seed < 52; seed++)
		TEST(test_random(seed, 6000, 0));
	TEST(test_random(60, 20000, 20000));
	TEST(test_continued(12, 11200));
	TEST(test_continued(13, 22400));
	TEST(test_share(22));
	TEST(test_share(23));
	TEST(test_damage(32, 600));
	TEST(test_many(1000000));
}

int main(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");
	bool is_long = argc > 1 && !strcmp(argv[1], "--long");

	test_args(argc - is_long, argv + is_long);
	if (!trace_init(&trace))
		abort();
	(void)snprintf(path, sizeof(path), "%s/tacho-index-%d", dir ? dir : "/tmp", (int)getpid());
	if (is_long)
		run_long();
	else
		run_short();
	(void)unlink(path);
	trace_release(&trace);
	return test_done();
}
