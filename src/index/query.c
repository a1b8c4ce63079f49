// SPDX-License-Identifier: MIT
/* Questions to an index: buckets, items. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "index/read.h"

#define MAX(a, b)	((a) > (b) ? (a) : (b))
#define MIN(a, b)	((a) < (b) ? (a) : (b))

/* ---- buckets ---- */

struct buckets {
	struct index_sum *sum;
	enum index_form form;
	uint64_t from, width, end;
	uint32_t nr;
	uint32_t hint;		/* where the last item began */
	double before;		/* values: the last one before `from` */
};

static uint64_t begin_of(const struct buckets *b, uint32_t i)
{
	return b->from + i * b->width;
}

/* The bucket of a time in the range. */
static uint32_t bucket_of(struct buckets *b, uint64_t time)
{
	uint64_t at = time - begin_of(b, b->hint);

	if (at >= b->width)
		b->hint = at < 2 * b->width ? b->hint + 1 : (uint32_t)((time - b->from) / b->width);
	return b->hint;
}

static int bucket_before(void *arg, const struct index_part *part)
{
	struct buckets *b = arg;
	struct index_sum sum;
	int err = 0;

	if (b->form == INDEX_VALUES) {
		index_sum_clear(&sum);
		err = index_part_sum(part, b->form, &sum);
		b->before = sum.last;
	}
	return err;
}

static int bucket_part(void *arg, const struct index_part *part)
{
	struct buckets *b = arg;
	uint32_t i;
	int err;

	if (part->begin < b->from || part->end >= b->end)
		return 0;
	i = bucket_of(b, part->begin);
	if (part->end - begin_of(b, i) >= b->width)
		return 0;
	err = index_part_sum(part, b->form, &b->sum[i]);
	return err ? err : 1;
}

static int bucket_loss(struct buckets *b, const struct index_item *item)
{
	if (item->end >= b->from && item->end < b->end)
		b->sum[bucket_of(b, item->end)].lost += item->count;
	return 0;
}

static int bucket_item(void *arg, const struct index_item *item)
{
	struct buckets *b = arg;
	uint64_t begin;
	uint32_t i;

	if (b->form == INDEX_LOSSES)
		return bucket_loss(b, item);
	if (b->form == INDEX_VALUES && item->end < b->from)
		b->before = item->value;
	if (item->begin >= b->end || (item->begin < b->from && item->end <= b->from))
		return 0;
	i = bucket_of(b, MAX(item->begin, b->from));
	do {
		begin = begin_of(b, i);
		index_sum_item(&b->sum[i], b->form, item, begin, begin + b->width);
	} while (++i < b->nr && begin + b->width < item->end);
	return 0;
}

/* ---- leaves without items, which a bucket's edge cuts ---- */

/* Time of a class, from `begin` on. */
static void spread(struct buckets *b, uint32_t class, uint64_t begin, uint64_t time)
{
	uint64_t end = MIN(begin + time, b->end);

	begin = MAX(begin, b->from);
	if (begin >= end)
		return;
	for (uint32_t i = bucket_of(b, begin); i < b->nr && begin_of(b, i) < end; i++) {
		uint64_t from = MAX(begin, begin_of(b, i));

		b->sum[i].covered[class] += MIN(end, begin_of(b, i) + b->width) - from;
	}
}

/* Its items, as if they began at equal distances. */
static void spread_counts(struct buckets *b, const struct index_part *part)
{
	uint64_t step = (part->end - part->begin) / INDEX_LEAF;

	for (uint32_t i = 0; i < INDEX_LEAF; i++) {
		uint64_t time = part->begin + i * step;
		struct index_sum *sum;

		if (time < b->from || time >= b->end)
			continue;
		sum = &b->sum[bucket_of(b, time)];
		sum->count++;
		sum->begins++;
		sum->rough++;
	}
}

static void spread_longest(struct buckets *b, const struct index_sum *of)
{
	struct index_item item = {
		.begin = of->longest_begin, .end = of->longest_begin + of->longest,
	};

	if (!of->longest || item.begin >= b->end || item.end <= b->from)
		return;
	for (uint32_t i = bucket_of(b, MAX(item.begin, b->from));
	     i < b->nr && begin_of(b, i) < item.end; i++)
		if (of->longest > b->sum[i].longest) {
			b->sum[i].longest = of->longest;
			b->sum[i].longest_begin = of->longest_begin;
			b->sum[i].longest_name = of->longest_name;
		}
}

static int bucket_without(void *arg, const struct index_part *part)
{
	struct buckets *b = arg;
	uint64_t at = part->begin, last = MIN(part->end, b->end - 1);
	struct index_sum sum, *whole;
	int err;

	if (b->form == INDEX_VALUES || b->form == INDEX_LOSSES) {
		whole = &b->sum[bucket_of(b, MAX(last, b->from))];
		whole->rough += INDEX_LEAF;
		return index_part_sum(part, b->form, whole);
	}
	index_sum_clear(&sum);
	err = index_part_sum(part, b->form, &sum);
	if (err)
		return err;
	spread_counts(b, part);
	spread_longest(b, &sum);
	for (uint32_t i = 0; i < MODEL_NR_STATES; i++) {
		if (!sum.covered[i])
			continue;
		spread(b, i, at, sum.covered[i]);
		at += b->form == INDEX_FOLLOWS ? sum.covered[i] : 0;
	}
	return 0;
}

static const struct index_walk_ops bucket_ops = {
	.part = bucket_part, .before = bucket_before, .item = bucket_item,
	.without = bucket_without,
};

/* Whether a tree of losses is of interest for a track: those of its CPU, or all. */
static bool loses_on(const struct index_entry *e, const struct model_track *t)
{
	bool is_of_cpu = t->kind == MODEL_CPU || t->kind == MODEL_RUNNING ||
			 t->kind == MODEL_IRQ || t->kind == MODEL_SOFTIRQ;

	return !is_of_cpu || e->parent == MODEL_NO_CPU || (int64_t)e->parent == t->number;
}

static int walk_losses(struct index *index, const struct model_track *t, uint64_t from, uint64_t to,
		       const struct index_walk_ops *ops, void *arg, uint32_t *cpu)
{
	struct index_entry *e;
	int err = 0;

	for (uint32_t i = 0; i < index->root.losses.nr && !err; i++) {
		err = index_table_get(&index->root.losses, &index->log, i, false, &e);
		if (err || !loses_on(e, t))
			continue;
		*cpu = e->parent;
		err = index_walk(index, (uint64_t)i * 2 + 1, INDEX_LOSSES, from, to, ops, arg);
	}
	return err;
}

static int fill(struct index *index, const struct model_track *t, struct buckets *b)
{
	uint32_t cpu;
	int err;

	b->form = index_form_of(t->kind);
	err = index_walk(index, (uint64_t)t->id * 2, b->form, b->from, b->end, &bucket_ops, b);
	/* a value holds until the next one */
	for (uint32_t i = 0; i < b->nr && b->form == INDEX_VALUES; i++) {
		if (b->sum[i].count)
			b->before = b->sum[i].last;
		else
			b->sum[i].last = b->before;
	}
	if (err)
		return err;
	b->form = INDEX_LOSSES;
	b->hint = 0;
	return walk_losses(index, t, b->from, b->end, &bucket_ops, b, &cpu);
}

int index_buckets(struct index *index, uint32_t track, uint64_t from, uint64_t width, uint32_t nr,
		  struct index_sum *bucket, struct tacho_diag *d)
{
	struct buckets b = {
		.sum = bucket, .from = from, .width = width, .nr = nr, .before = (double)NAN,
	};
	struct model_track t;
	int err = 0;

	for (uint32_t i = 0; i < nr; i++)
		index_sum_clear(&bucket[i]);
	if (!width || !nr || __builtin_mul_overflow(width, nr, &b.end) ||
	    __builtin_add_overflow(b.end, from, &b.end) || b.end > INT64_MAX)
		err = tacho_diag(d, -EINVAL, 0, "invalid buckets");
	else if (track >= index->root.tracks.nr)
		err = tacho_diag(d, -EINVAL, 0, "there is no track %u", track);
	if (err)
		return err;
	err = index_track(index, track, &t);
	if (!err)
		err = fill(index, &t, &b);
	return err ? index_failed(index, err, d) : 0;
}

/* ---- items ---- */

struct listing {
	struct index *index;
	const struct model_ops *ops;
	void *arg;
	struct model_track track;
	enum index_form form;
	uint64_t from, to;
	uint32_t cpu;			/* of losses */
	/* leaves without items, one behind the other: not read again yet */
	struct index_emit emit;
	uint64_t nr_without;
};

static const char *text(struct listing *l, uint32_t number, int *err)
{
	const char *s;
	int e;

	s = index_names_get(&l->index->root.names, &l->index->log, number, &e);
	*err = *err ? *err : e;
	return s ? s : "";
}

static int put_state(struct listing *l, const struct index_item *item)
{
	const uint32_t *v = item->what.v;
	struct model_state s = {
		.track = l->track.id, .cpu = v[INDEX_DEPTH] - 1, .begin = item->begin,
		.end = item->end, .begin_record = MODEL_NO_RECORD, .end_record = MODEL_NO_RECORD,
		.state = v[INDEX_NAME], .flags = v[INDEX_FLAGS],
	};

	if (v[INDEX_NAME] >= MODEL_NR_STATES)
		return -EBADMSG;
	return l->ops->state ? l->ops->state(l->arg, &s) : 0;
}

static const char *category_of(uint32_t class)
{
	return class == MODEL_RUNS ? "running" : class == MODEL_IDLE ? "idle" : "unknown";
}

static int put_slice(struct listing *l, const struct index_item *item)
{
	const uint32_t *v = item->what.v;
	int err = 0;
	struct model_slice s = {
		.track = l->track.id, .depth = v[INDEX_DEPTH], .begin = item->begin,
		.end = item->end, .begin_record = MODEL_NO_RECORD, .end_record = MODEL_NO_RECORD,
		.name = text(l, v[INDEX_NAME], &err), .flags = v[INDEX_FLAGS],
	};

	if (l->form == INDEX_FOLLOWS) {
		s.category = category_of(v[INDEX_CATEGORY]);
		s.thread = v[INDEX_FROM];
	} else {
		s.category = text(l, v[INDEX_CATEGORY], &err);
		s.from = v[INDEX_FROM];
		s.to = v[INDEX_TO];
	}
	if (err || !l->ops->slice)
		return err;
	return l->ops->slice(l->arg, &s);
}

static int put_instant(struct listing *l, const struct index_item *item)
{
	int err = 0;
	struct model_instant i = {
		.track = l->track.id, .time = item->end, .record = MODEL_NO_RECORD,
		.name = text(l, item->what.v[INDEX_NAME], &err),
		.category = text(l, item->what.v[INDEX_CATEGORY], &err),
	};

	return err || !l->ops->instant ? err : l->ops->instant(l->arg, &i);
}

static int put_counter(struct listing *l, const struct index_item *item)
{
	struct model_counter c = {
		.track = l->track.id, .time = item->end, .record = MODEL_NO_RECORD,
		.value = item->value,
	};

	return l->ops->counter ? l->ops->counter(l->arg, &c) : 0;
}

static int put_loss(struct listing *l, const struct index_item *item)
{
	struct model_loss loss = {
		.cpu = l->cpu, .source = item->what.v[INDEX_DEPTH], .begin = item->begin,
		.end = item->end, .count = item->count, .record = MODEL_NO_RECORD,
	};

	return l->ops->loss ? l->ops->loss(l->arg, &loss) : 0;
}

static bool touches(const struct listing *l, uint64_t begin, uint64_t end)
{
	return begin < l->to && (end > l->from || begin >= l->from);
}

static int list_item(struct listing *l, const struct index_item *item)
{
	if (!touches(l, item->begin, item->end))
		return 0;
	if (l->form == INDEX_VALUES)
		return put_counter(l, item);
	if (l->form == INDEX_LOSSES)
		return put_loss(l, item);
	if (l->track.kind == MODEL_STATE)
		return put_state(l, item);
	return item->what.v[INDEX_IS_INSTANT] ? put_instant(l, item) : put_slice(l, item);
}

/* ---- reading the trace again ---- */

struct again {
	struct listing *l;
	uint64_t before, left;	/* items that are not looked at, that are */
	int err;
};

/* Whether an item that the model hands out is one of those.  *err: what the op is to return. */
static bool is_mine(struct again *a, uint64_t begin, uint64_t end, int *err)
{
	*err = 0;
	if (a->before) {
		a->before--;
		return false;
	}
	if (!a->left) {
		*err = -ECANCELED;
		return false;
	}
	a->left--;
	return touches(a->l, begin, end);
}

static int again_done(struct again *a, int err)
{
	if (err < 0)
		a->err = err;
	return err;
}

static int again_slice(void *arg, const struct model_slice *of)
{
	struct again *a = arg;
	struct model_slice s = *of;
	int err;

	if (!is_mine(a, s.begin, s.end, &err) || !a->l->ops->slice)
		return err;
	s.begin_record = s.end_record = MODEL_NO_RECORD;
	return again_done(a, a->l->ops->slice(a->l->arg, &s));
}

static int again_state(void *arg, const struct model_state *of)
{
	struct again *a = arg;
	struct model_state s = *of;
	int err;

	if (!is_mine(a, s.begin, s.end, &err) || !a->l->ops->state)
		return err;
	s.begin_record = s.end_record = MODEL_NO_RECORD;
	s.waker = 0;
	return again_done(a, a->l->ops->state(a->l->arg, &s));
}

static int again_counter(void *arg, const struct model_counter *of)
{
	struct again *a = arg;
	struct model_counter c = *of;
	int err;

	if (!is_mine(a, c.time, c.time, &err) || !a->l->ops->counter)
		return err;
	c.record = MODEL_NO_RECORD;
	return again_done(a, a->l->ops->counter(a->l->arg, &c));
}

static int again_instant(void *arg, const struct model_instant *of)
{
	struct again *a = arg;
	struct model_instant i = *of;
	int err;

	if (!is_mine(a, i.time, i.time, &err) || !a->l->ops->instant)
		return err;
	i.record = MODEL_NO_RECORD;
	return again_done(a, a->l->ops->instant(a->l->arg, &i));
}

static const struct model_ops again_ops = {
	.slice = again_slice, .state = again_state, .counter = again_counter,
	.instant = again_instant,
};

/* Those that were put off. */
static int read_again(struct listing *l)
{
	struct again a = { l, l->emit.before, l->nr_without * INDEX_LEAF, 0 };
	int err;

	if (!l->nr_without)
		return 0;
	l->nr_without = 0;
	if (!l->index->again)
		return -ENODATA;
	err = l->index->again(l->index->again_arg, l->track.id, l->emit.first, l->emit.last,
			      &again_ops, &a);
	if (a.err)
		return a.err;
	/* the trace does not say what it said */
	return a.left ? err && err != -ECANCELED ? err : -ESTALE : 0;
}

static int item_item(void *arg, const struct index_item *item)
{
	int err = read_again(arg);

	return err ? err : list_item(arg, item);
}

static int item_part(void *arg, const struct index_part *part)
{
	return part->ref ? read_again(arg) : 0;
}

static int item_without(void *arg, const struct index_part *part)
{
	struct listing *l = arg;

	/* losses are few: theirs are never left out */
	if (l->form == INDEX_LOSSES)
		return -EBADMSG;
	if (!l->nr_without++)
		l->emit = part->emit;
	l->emit.last = part->emit.last;
	return 0;
}

static const struct index_walk_ops item_ops = {
	.part = item_part, .item = item_item, .without = item_without,
};

int index_items(struct index *index, uint32_t track, uint64_t from, uint64_t to,
		const struct model_ops *ops, void *arg, struct tacho_diag *d)
{
	struct listing l = { .index = index, .ops = ops, .arg = arg, .from = from, .to = to };
	int err = track < index->root.tracks.nr ? 0 : -EINVAL;

	if (err)
		return tacho_diag(d, err, 0, "there is no track %u", track);
	err = index_track(index, track, &l.track);
	l.form = index_form_of(l.track.kind);
	if (!err && (l.track.kind == MODEL_MACHINE || l.track.kind == MODEL_CPU)) {
		l.form = INDEX_LOSSES;
		err = walk_losses(index, &l.track, from, to, &item_ops, &l, &l.cpu);
	} else if (!err) {
		err = index_walk(index, (uint64_t)track * 2, l.form, from, to, &item_ops, &l);
		err = err ? err : read_again(&l);
	}
	if (err == -ENODATA)
		return tacho_diag(d, err, 0, "the items are only in the trace");
	if (err == -ESTALE)
		return tacho_diag(d, err, 0, "the trace is not the one that the index was made of");
	return err == -EBADMSG || err == -ENOMEM || err == -EIO ? index_failed(index, err, d) : err;
}
