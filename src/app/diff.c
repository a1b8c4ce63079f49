// SPDX-License-Identifier: MIT
/* Two traces into rows. */
#include "app/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/diff_priv.h"

/* What matters, besides that it is more than noise; docs/diff.md states these numbers. */
#define DELTA_MATTERS	0.05
#define MEAN_MATTERS	1.02
#define RATE_MATTERS	1.05

struct own {
	struct diff_side side[2];
	struct app_diff_row *row;
	struct estimates {
		struct diff_estimate delta, mean, rate;
	} *estimate;
	uint32_t nr;
};

const char *app_diff_kind_name(enum app_diff_kind kind)
{
	static const char *const names[APP_DIFF_KINDS] = {
		"span", "syscall", "lock", "device", "interrupt", "slice", "thread", "event",
		"stack",
	};

	return names[kind];
}

const char *app_diff_part_name(enum app_diff_part part)
{
	static const char *const names[APP_DIFF_PARTS] = {
		"running", "runnable", "sleeping", "blocked", "io", "unknown",
	};

	return names[part];
}

/* ---- rows ---- */

static void fill_value(const struct diff_side *s, struct diff_group *g, struct app_diff_value *v)
{
	uint64_t ns = s->end - s->begin;

	if (!g)
		return;
	if (g->coarse)
		diff_samples_by_ns(g);
	*v = (struct app_diff_value){
		.count = g->count, .timed = g->timed,
		.rate = ns ? (double)g->count * 1e9 / (double)ns : 0,
		.mean = g->timed ? g->sum / (double)g->timed : 0,
		.p50 = diff_group_quantile(g, 0.5), .p90 = diff_group_quantile(g, 0.9),
		.p99 = diff_group_quantile(g, 0.99), .max = g->max, .coarse = g->coarse,
		.slices = g->slices,
	};
	for (int p = 0; p < APP_DIFF_PARTS && g->slices; p++)
		v->part[p] = g->part[p] / (double)g->slices;
}

static void add_row(struct own *o, struct app_diff *diff, struct diff_group *a,
		    struct diff_group *b)
{
	struct app_diff_row *r = &o->row[o->nr];
	struct estimates *e = &o->estimate[o->nr++];

	*r = (struct app_diff_row){
		.kind = a ? a->kind : b->kind, .name = a ? a->name : b->name,
	};
	fill_value(&o->side[0], a, &r->value[0]);
	fill_value(&o->side[1], b, &r->value[1]);
	diff_judge_delta(a, b, &e->delta);
	diff_judge_mean(a, b, &e->mean);
	diff_judge_rate(&o->side[0], a, &o->side[1], b, &e->rate);
	diff->comparisons += e->delta.judged + e->mean.judged + e->rate.judged;
}

static int make_rows(struct own *o, struct app_diff *diff, struct tacho_diag *d)
{
	const struct diff_side *a = &o->side[0], *b = &o->side[1];
	uint32_t room = a->nr + b->nr + 1;

	o->row = reallocarray(NULL, room, sizeof(*o->row));
	o->estimate = reallocarray(NULL, room, sizeof(*o->estimate));
	if (!o->row || !o->estimate)
		return tacho_no_memory(d);
	for (uint32_t i = 0; i < a->nr; i++)
		add_row(o, diff, a->group[i],
			diff_group_find(b, a->group[i]->kind, a->group[i]->name));
	for (uint32_t i = 0; i < b->nr; i++)
		if (!diff_group_find(a, b->group[i]->kind, b->group[i]->name))
			add_row(o, diff, NULL, b->group[i]);
	return 0;
}

/* ---- what differs ---- */

/* How often a is in b or b in a; of values where 0 stands for less than `least`. */
static double times(double a, double b, double least)
{
	a = a > least ? a : least;
	b = b > least ? b : least;
	return a > b ? a / b : b / a;
}

static void measure(const struct diff_estimate *e, double alpha, bool matters,
		    struct app_diff_measure *m)
{
	double t;

	m->judged = e->judged;
	if (!e->judged)
		return;
	t = diff_student(alpha, e->df) * e->error;
	m->effect = e->effect;
	m->diff = e->diff;
	m->low = e->diff - t;
	m->high = e->diff + t;
	m->differs = matters && (m->low > 0 || m->high < 0);
}

/* Whether the durations differ. */
static bool is_timed(const struct app_diff_row *r)
{
	return r->delta.differs || r->mean.differs;
}

static void judge(struct own *o, uint32_t i, double alpha)
{
	const struct estimates *e = &o->estimate[i];
	struct app_diff_row *r = &o->row[i];
	const struct app_diff_value *a = &r->value[0], *b = &r->value[1];
	double mean = times(a->mean, b->mean, 1);
	double median = times((double)a->p50, (double)b->p50, 1);
	double rate = times(a->rate, b->rate, 1e-3);
	bool longer = mean >= MEAN_MATTERS || median >= MEAN_MATTERS;

	measure(&e->delta, alpha, longer && fabs(e->delta.effect) >= DELTA_MATTERS, &r->delta);
	measure(&e->mean, alpha, mean >= MEAN_MATTERS, &r->mean);
	measure(&e->rate, alpha, rate >= RATE_MATTERS, &r->rate);
	if (r->delta.judged) {
		r->delta.low = fmax(r->delta.low, -1);
		r->delta.high = fmin(r->delta.high, 1);
	}
	r->differs = r->delta.differs || r->mean.differs || r->rate.differs;
	/* how long something takes says more than how often it occurs */
	if (r->delta.differs)
		r->score = fabs(e->delta.effect) * log2(fmax(mean, median));
	if (r->mean.differs)
		r->score = fmax(r->score, fabs(e->mean.effect) * log2(mean));
	if (r->rate.differs && !is_timed(r))
		r->score = fabs(e->rate.effect) * log2(rate);
}

static int by_rank(const void *a, const void *b)
{
	const struct app_diff_row *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->differs != y->differs)
		return x->differs ? -1 : 1;
	if (is_timed(x) != is_timed(y))
		return is_timed(x) ? -1 : 1;
	if (x->score < y->score || x->score > y->score)
		return x->score > y->score ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void finish(struct own *o, struct app_diff *diff)
{
	double alpha = (1 - APP_DIFF_LEVEL) / (diff->comparisons ? diff->comparisons : 1);

	for (uint32_t i = 0; i < o->nr; i++) {
		judge(o, i, alpha);
		diff->differing += o->row[i].differs;
	}
	qsort(o->row, o->nr, sizeof(*o->row), by_rank);
	diff->row = o->row;
	diff->nr = o->nr;
}

/* ---- the whole ---- */

/* The progress of the second pass follows that of the first. */
struct both {
	const struct tacho_observer *observer;
	uint64_t before, done;
};

static void both_progress(void *arg, uint64_t done, uint64_t total)
{
	struct both *b = arg;

	(void)total;
	b->done = b->before + done;
	tacho_observer_progress(b->observer, b->done, 0);
}

static bool both_cancelled(void *arg)
{
	return tacho_observer_cancelled(((struct both *)arg)->observer);
}

static void both_note(void *arg, const char *text)
{
	tacho_observer_note(((struct both *)arg)->observer, "%s", text);
}

static int read_side(struct own *o, struct app_diff *diff, int i,
		     const struct app_diff_query *query, const struct tacho_observer *observer,
		     struct tacho_diag *d)
{
	struct app_diff_side *side = &diff->side[i];
	struct diff_side *s = &o->side[i];
	int err;

	diff_side_init(s);
	err = diff_take(s, query, &query->input[i], observer, d);
	if (err)
		return err;
	side->path = strdup(query->input[i].path);
	if (!side->path)
		return tacho_no_memory(d);
	side->begin = s->begin;
	side->end = s->end;
	side->records = s->records;
	side->left_out = s->left_out;
	if (s->left_out)
		tacho_observer_note(observer, "%s has more than %u names to compare: %llu items "
				    "were left out", side->path, APP_DIFF_GROUPS,
				    (unsigned long long)s->left_out);
	return 0;
}

static int compare(struct own *o, struct app_diff *diff, const struct app_diff_query *query,
		   const struct tacho_observer *observer, struct tacho_diag *d)
{
	struct both both = { .observer = observer };
	const struct tacho_observer of_both = {
		.note = both_note, .progress = both_progress, .cancelled = both_cancelled,
		.arg = &both,
	};
	int err = read_side(o, diff, 0, query, &of_both, d);

	both.before = both.done;
	if (!err)
		err = read_side(o, diff, 1, query, &of_both, d);
	if (!err && query->events && !o->side[0].matched && !o->side[1].matched)
		err = tacho_diag(d, -ENOENT, 0, "no event '%s' in %s or %s", query->events,
				 query->input[0].path, query->input[1].path);
	if (!err)
		err = make_rows(o, diff, d);
	if (!err)
		finish(o, diff);
	return err;
}

int app_diff_open(struct app_diff **result, const struct app_diff_query *query,
		  const struct tacho_observer *observer, struct tacho_diag *d)
{
	struct app_diff *diff = calloc(1, sizeof(*diff));
	int err;

	*result = NULL;
	if (diff)
		diff->own = calloc(1, sizeof(struct own));
	if (!diff || !diff->own) {
		free(diff);
		return tacho_no_memory(d);
	}
	err = compare(diff->own, diff, query, observer, d);
	if (err) {
		app_diff_close(diff);
		return err;
	}
	*result = diff;
	return 0;
}

void app_diff_close(struct app_diff *diff)
{
	struct own *o;

	if (!diff)
		return;
	o = diff->own;
	for (int i = 0; i < 2; i++) {
		diff_side_release(&o->side[i]);
		free((char *)(uintptr_t)diff->side[i].path);
	}
	free(o->row);
	free(o->estimate);
	free(o);
	free(diff);
}
