// SPDX-License-Identifier: MIT
/* A summary of a model: where the time went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/model.h"
#include "base/hashmap.h"
#include "base/json.h"

/* Columns of a thread's times. */
enum column { RUNNING, RUNNABLE, SLEEPING, BLOCKED, IO, OTHER, UNKNOWN, NR_COLUMNS };

static const char *const columns[NR_COLUMNS] = {
	"running", "runnable", "sleeping", "blocked", "io", "other", "unknown",
};

struct sum_track {
	uint32_t parent;
	enum model_track_kind kind;
	int64_t number;
	const char *name;
	uint64_t ns[NR_COLUMNS];	/* of running tracks: RUNNING, SLEEPING, UNKNOWN */
	bool used;
};

struct sum_name {
	const char *category, *name;
	uint64_t count, total, max, open;
};

struct summary {
	struct sum_track *track;
	uint32_t nr, room;
	struct sum_name *name;
	uint32_t nr_names, room_names;
	struct tacho_hashmap by_name;	/* index + 1 in name[] */
	uint64_t flows, counters;
	struct model_stats stats;
	uint32_t top;
	uint64_t from;		/* of the range */
};

/* What of an interval lies in the range: it ends with the range at the latest. */
static uint64_t within(const struct summary *s, uint64_t begin, uint64_t end)
{
	if (begin < s->from)
		begin = s->from;
	return end > begin ? end - begin : 0;
}

/* ---- taking items ---- */

static int sum_track(void *arg, const struct model_track *t)
{
	struct summary *s = arg;

	if (t->id >= s->room) {
		uint32_t room = s->room ? 2 * s->room : 256;
		struct sum_track *bigger = reallocarray(s->track, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		memset(bigger + s->room, 0, (room - s->room) * sizeof(*bigger));
		s->track = bigger;
		s->room = room;
	}
	s->track[t->id].parent = t->parent;
	s->track[t->id].kind = t->kind;
	s->track[t->id].number = t->number;
	s->track[t->id].name = t->name;
	if (t->id >= s->nr)
		s->nr = t->id + 1;
	return 0;
}

/*
 * Both texts are kept once in the model, so their addresses are what they are.  Pairs with the same
 * key are under the next free ones.
 */
static struct sum_name *find_name(struct summary *s, const char *category, const char *name)
{
	uint64_t key = (uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)category;
	uintptr_t i;

	for (; (i = (uintptr_t)tacho_hashmap_get(&s->by_name, key)); key++)
		if (s->name[i - 1].name == name && s->name[i - 1].category == category)
			return &s->name[i - 1];
	if (s->nr_names == s->room_names) {
		uint32_t room = s->room_names ? 2 * s->room_names : 256;
		struct sum_name *bigger = reallocarray(s->name, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		s->name = bigger;
		s->room_names = room;
	}
	s->name[s->nr_names++] = (struct sum_name){ category, name, 0, 0, 0, 0 };
	if (tacho_hashmap_set(&s->by_name, key, (void *)(uintptr_t)s->nr_names))
		return NULL;
	return &s->name[s->nr_names - 1];
}

static int sum_slice(void *arg, const struct model_slice *slice)
{
	struct summary *s = arg;
	struct sum_track *t = &s->track[slice->track];
	uint64_t ns = within(s, slice->begin, slice->end);
	struct sum_name *n;

	if (slice->end < s->from)
		return 0;
	t->used = true;
	if (t->kind == MODEL_RUNNING) {
		t->ns[!strcmp(slice->category, "running") ? RUNNING :
		      !strcmp(slice->category, "idle") ? SLEEPING : UNKNOWN] += ns;
		return 0;
	}
	n = find_name(s, slice->category, slice->name);
	if (!n)
		return -ENOMEM;
	n->count++;
	n->total += ns;
	n->max = ns > n->max ? ns : n->max;
	n->open += (slice->flags & (MODEL_BEGIN_UNKNOWN | MODEL_END_UNKNOWN)) != 0;
	return 0;
}

static enum column column_of(const struct model_state *state)
{
	if (state->flags & MODEL_IO)
		return IO;
	switch ((unsigned int)state->state) {
	case MODEL_RUNS:
		return RUNNING;
	case MODEL_RUNNABLE:
		return RUNNABLE;
	case MODEL_SLEEPING:
	case MODEL_IDLE:
	case MODEL_PARKED:
		return SLEEPING;
	case MODEL_UNINTERRUPTIBLE:
		return BLOCKED;
	case MODEL_UNKNOWN:
		return UNKNOWN;
	default:
		return state->state >= MODEL_QNX ? BLOCKED : OTHER;
	}
}

static int sum_state(void *arg, const struct model_state *state)
{
	struct summary *s = arg;

	if (state->end < s->from)
		return 0;
	s->track[state->track].used = true;
	s->track[state->track].ns[column_of(state)] += within(s, state->begin, state->end);
	return 0;
}

static int sum_counter(void *arg, const struct model_counter *c)
{
	struct summary *s = arg;

	s->counters += c->time >= s->from;
	return 0;
}

static int sum_flow(void *arg, const struct model_flow *f)
{
	struct summary *s = arg;

	s->flows += f->to_time >= s->from;
	return 0;
}

/* ---- order ---- */

static int by_running(const void *a, const void *b, void *arg)
{
	const struct summary *s = arg;
	const struct sum_track *x = &s->track[*(const uint32_t *)a];
	const struct sum_track *y = &s->track[*(const uint32_t *)b];

	if (x->ns[RUNNING] != y->ns[RUNNING])
		return x->ns[RUNNING] < y->ns[RUNNING] ? 1 : -1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int by_number(const void *a, const void *b, void *arg)
{
	const struct summary *s = arg;
	int64_t x = s->track[*(const uint32_t *)a].number;
	int64_t y = s->track[*(const uint32_t *)b].number;

	return (x > y) - (x < y);
}

static int by_total(const void *a, const void *b)
{
	const struct sum_name *x = a, *y = b;
	int d;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	d = strcmp(x->category, y->category);
	return d ? d : strcmp(x->name, y->name);
}

/* Numbers of the used tracks of a kind, in an array of the caller's. */
static uint32_t list_tracks(const struct summary *s, enum model_track_kind kind, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->track[i].kind == kind && s->track[i].used)
			list[n++] = i;
	return n;
}

/* ---- text ---- */

/* A time in at most 8 characters: "1.234 s", "12.3 ms". */
static void put_time(struct tacho_buf *out, uint64_t ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	double v = (double)ns;
	int u = 0;

	for (; u < 3 && v >= 1000; u++)
		v /= 1000;
	if (u)
		tacho_buf_printf(out, " %*.*f %-2s", u == 3 ? 9 : 7,
				 v < 10 ? 2 : v < 100 || u == 3 ? 1 : 0, v, unit[u]);
	else
		tacho_buf_printf(out, " %7.0f %-2s", v, unit[u]);
}

static void put_cpus(const struct summary *s, const uint32_t *list, uint32_t n,
		     struct tacho_buf *out)
{
	uint64_t all = s->stats.last - s->stats.first;

	if (n)
		tacho_buf_puts(out, "\nCPU   running      idle   unknown\n");
	for (uint32_t i = 0; i < n && all; i++) {
		const struct sum_track *t = &s->track[list[i]];

		tacho_buf_printf(out, "%3lld   %6.2f%%   %6.2f%%   %6.2f%%\n",
				 (long long)t->number,
				 100 * (double)t->ns[RUNNING] / (double)all,
				 100 * (double)t->ns[SLEEPING] / (double)all,
				 100 * (double)t->ns[UNKNOWN] / (double)all);
	}
}

/* A name in a column. */
static void put_name(struct tacho_buf *out, const char *name, size_t width)
{
	size_t end = out->len + width;

	tacho_buf_put_line(out, name);
	while (out->len < end && !out->err)
		tacho_buf_putc(out, ' ');
}

static void put_threads(const struct summary *s, const uint32_t *list, uint32_t n,
			struct tacho_buf *out)
{
	uint32_t shown = n < s->top ? n : s->top;

	if (!n)
		return;
	tacho_buf_printf(out, "\n%-16s %7s %7s", "thread", "id", "process");
	for (int c = 0; c < NR_COLUMNS; c++)
		tacho_buf_printf(out, " %10s", columns[c]);
	tacho_buf_putc(out, '\n');
	for (uint32_t i = 0; i < shown; i++) {
		const struct sum_track *t = &s->track[list[i]];
		const struct sum_track *thread = &s->track[t->parent];

		put_name(out, thread->name[0] ? thread->name : "?", 16);
		tacho_buf_printf(out, " %7lld %7lld", (long long)t->number,
				 (long long)s->track[thread->parent].number);
		for (int c = 0; c < NR_COLUMNS; c++)
			if (t->ns[c])
				put_time(out, t->ns[c]);
			else
				tacho_buf_printf(out, " %10s", "-");
		tacho_buf_putc(out, '\n');
	}
	if (n > shown)
		tacho_buf_printf(out, "... and %u other threads (--top)\n", n - shown);
}

static void put_names(const struct summary *s, struct tacho_buf *out)
{
	uint32_t shown = s->nr_names < s->top ? s->nr_names : s->top;

	if (!s->nr_names)
		return;
	tacho_buf_printf(out, "\n%-10s %-24s %9s %10s %10s %10s\n", "slices", "name", "count",
			 "total", "mean", "longest");
	for (uint32_t i = 0; i < shown; i++) {
		const struct sum_name *n = &s->name[i];

		tacho_buf_printf(out, "%-10s ", n->category);
		put_name(out, n->name, 24);
		tacho_buf_printf(out, " %9llu", (unsigned long long)n->count);
		put_time(out, n->total);
		put_time(out, n->total / n->count);
		put_time(out, n->max);
		if (n->open)
			tacho_buf_printf(out, "  (%llu open at an end)",
					 (unsigned long long)n->open);
		tacho_buf_putc(out, '\n');
	}
	if (s->nr_names > shown)
		tacho_buf_printf(out, "... and %u other names (--top)\n", s->nr_names - shown);
}

static void put_text(struct summary *s, uint32_t *list, struct tacho_buf *out)
{
	uint32_t n;

	put_time(out, s->stats.last - s->stats.first);
	tacho_buf_printf(out, ", %llu records, %llu of them with a rule, %llu lost\n",
			 (unsigned long long)s->stats.records,
			 (unsigned long long)s->stats.used, (unsigned long long)s->stats.lost);
	tacho_buf_printf(out, "%u tracks, %llu flows, %llu counter values\n", s->nr,
			 (unsigned long long)s->flows, (unsigned long long)s->counters);
	if (s->stats.unmatched_ends)
		tacho_buf_printf(out, "%llu ends inside other slices have no begin\n",
				 (unsigned long long)s->stats.unmatched_ends);
	if (s->stats.unplaced)
		tacho_buf_printf(out, "%llu records have no known thread or CPU\n",
				 (unsigned long long)s->stats.unplaced);
	n = list_tracks(s, MODEL_RUNNING, list);
	qsort_r(list, n, sizeof(*list), by_number, s);
	put_cpus(s, list, n, out);
	n = list_tracks(s, MODEL_STATE, list);
	qsort_r(list, n, sizeof(*list), by_running, s);
	put_threads(s, list, n, out);
	put_names(s, out);
}

/* ---- JSON ---- */

static void json_cpus(const struct summary *s, const uint32_t *list, uint32_t n,
		      struct tacho_json *j)
{
	tacho_json_key(j, "cpus");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct sum_track *t = &s->track[list[i]];

		tacho_json_open(j, '{');
		tacho_json_pair_s64(j, "cpu", t->number);
		tacho_json_pair_u64(j, "running", t->ns[RUNNING]);
		tacho_json_pair_u64(j, "idle", t->ns[SLEEPING]);
		tacho_json_pair_u64(j, "unknown", t->ns[UNKNOWN]);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

static void json_threads(const struct summary *s, const uint32_t *list, uint32_t n,
			 struct tacho_json *j)
{
	tacho_json_key(j, "threads");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct sum_track *t = &s->track[list[i]];
		const struct sum_track *thread = &s->track[t->parent];

		tacho_json_open(j, '{');
		tacho_json_pair_str(j, "name", thread->name);
		tacho_json_pair_s64(j, "tid", t->number);
		tacho_json_pair_s64(j, "pid", s->track[thread->parent].number);
		for (int c = 0; c < NR_COLUMNS; c++)
			tacho_json_pair_u64(j, columns[c], t->ns[c]);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

static void json_names(const struct summary *s, struct tacho_json *j)
{
	tacho_json_key(j, "slices");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < s->nr_names; i++) {
		const struct sum_name *n = &s->name[i];

		tacho_json_open(j, '{');
		tacho_json_pair_str(j, "category", n->category);
		tacho_json_pair_str(j, "name", n->name);
		tacho_json_pair_u64(j, "count", n->count);
		tacho_json_pair_u64(j, "total", n->total);
		tacho_json_pair_u64(j, "longest", n->max);
		tacho_json_pair_u64(j, "open", n->open);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

static void put_json(struct summary *s, uint32_t *list, struct tacho_buf *out)
{
	struct tacho_json j;
	uint32_t n;

	tacho_json_init(&j, out);
	tacho_json_open(&j, '{');
	tacho_json_pair_u64(&j, "begin", s->stats.first);
	tacho_json_pair_u64(&j, "end", s->stats.last);
	tacho_json_pair_u64(&j, "records", s->stats.records);
	tacho_json_pair_u64(&j, "used", s->stats.used);
	tacho_json_pair_u64(&j, "lost", s->stats.lost);
	tacho_json_pair_u64(&j, "unmatched_ends", s->stats.unmatched_ends);
	tacho_json_pair_u64(&j, "unplaced", s->stats.unplaced);
	tacho_json_pair_u64(&j, "tracks", s->nr);
	tacho_json_pair_u64(&j, "flows", s->flows);
	tacho_json_pair_u64(&j, "counters", s->counters);
	n = list_tracks(s, MODEL_RUNNING, list);
	qsort_r(list, n, sizeof(*list), by_number, s);
	json_cpus(s, list, n, &j);
	n = list_tracks(s, MODEL_STATE, list);
	qsort_r(list, n, sizeof(*list), by_running, s);
	json_threads(s, list, n, &j);
	json_names(s, &j);
	tacho_json_close(&j, '}');
	tacho_buf_putc(out, '\n');
}

/* ---- the whole ---- */

/* What runs while the model, whose texts the items have, is there. */
static int finish(struct summary *s, bool json, struct tacho_buf *out, struct tacho_diag *d)
{
	uint32_t *list = reallocarray(NULL, s->nr + 1u, sizeof(*list));

	if (!list)
		return tacho_no_memory(d);
	if (s->nr_names)
		qsort(s->name, s->nr_names, sizeof(*s->name), by_total);
	if (json)
		put_json(s, list, out);
	else
		put_text(s, list, out);
	free(list);
	return tacho_buf_error(out) ? tacho_no_memory(d) : 0;
}

static void of_range(struct model_stats *stats, const struct app_model_range *range)
{
	const struct model_stats *before = &range->before;

	stats->records -= before->records;
	stats->used -= before->used;
	stats->unmatched_ends -= before->unmatched_ends;
	stats->unplaced -= before->unplaced;
	stats->lost -= before->lost;
	if (stats->first < range->from)
		stats->first = range->from < stats->last ? range->from : stats->last;
}

int app_model_summary(struct tacho_stream *stream, const struct model_rules *rules,
		      struct app_model_range *range, uint32_t top, bool json,
		      struct tacho_buf *out, const struct tacho_observer *observer,
		      struct tacho_diag *d)
{
	static const struct model_ops ops = {
		.track = sum_track, .slice = sum_slice, .state = sum_state,
		.counter = sum_counter, .flow = sum_flow,
	};
	struct summary s = { .top = top, .from = range ? range->from : 0 };
	struct model_config config = { stream, rules, &ops, &s };
	struct model *m;
	int err = app_model_begin(&m, &config, range, d);

	if (!err) {
		err = app_model_read(stream, m, range, observer, d);
		s.stats = *model_stats(m);
		if (range)
			of_range(&s.stats, range);
		if (!err)
			err = finish(&s, json, out, d);
		if (!err)
			app_model_note_unused(rules, stream, observer);
	}
	model_free(m);
	free(s.track);
	free(s.name);
	tacho_hashmap_release(&s.by_name);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}
