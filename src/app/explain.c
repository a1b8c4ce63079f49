// SPDX-License-Identifier: MIT
/* Which intervals are explained, and what of the trace they need. */
#include "app/explain.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain_priv.h"
#include "app/index.h"
#include "base/scan.h"

#define ARENA_MAX	((size_t)256 << 20)
#define SUBJECTS_MAX	((size_t)8 << 20)
#define WHERE_MAX	((size_t)64 << 10)

const char *explain_text(struct explain *e, const char *fmt, ...)
{
	char text[1024];
	const char *own;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0)
		return "";
	own = tacho_arena_strndup(&e->arena, text,
				  (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
	e->failed |= !own;
	return own ? own : "";
}

const char *explain_thread_name(struct explain *e, uint32_t track)
{
	const struct explain_track *t = &e->track[track];

	if (!track)
		return "?";
	return explain_text(e, "%s (%" PRId64 ")", t->name[0] ? t->name : "?", t->number);
}

/* ---- growing arrays ---- */

static int grow(void *array, size_t nr, size_t *room, size_t size)
{
	void **p = array;
	size_t want;
	void *bigger;

	if (nr < *room)
		return 0;
	want = *room ? 2 * *room : 256;
	bigger = reallocarray(*p, want, size);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	*room = want;
	return 0;
}

static int on_track(void *arg, const struct model_track *t)
{
	struct explain *e = arg;
	struct explain_track *own;
	size_t room = e->room_tracks;

	while (t->id >= e->room_tracks) {
		if (grow(&e->track, e->room_tracks, &room, sizeof(*e->track)))
			return -ENOMEM;
		memset(e->track + e->room_tracks, 0,
		       (room - e->room_tracks) * sizeof(*e->track));
		e->room_tracks = (uint32_t)room;
	}
	own = &e->track[t->id];
	own->parent = t->parent;
	own->kind = t->kind;
	own->number = t->number;
	own->name = t->name;
	if (t->kind == MODEL_STATE || t->kind == MODEL_RUNNING)
		e->track[t->parent].states = t->id;
	else if (t->kind == MODEL_CALLS)
		e->track[t->parent].calls = t->id;
	if (t->id >= e->nr_tracks)
		e->nr_tracks = t->id + 1;
	return 0;
}

/* ---- E1: the subjects ---- */

/* The number of the thread whose path a slice has: its own, or that ended it; 0: not known. */
static int64_t thread_of(const struct explain *e, const struct model_slice *s)
{
	uint32_t place = s->to ? s->to : s->from;

	if (e->track[s->track].kind == MODEL_CALLS)
		return e->track[s->track].number;
	return place && e->track[place].kind == MODEL_STATE ? e->track[place].number : 0;
}

static bool is_wanted(const struct explain *e, const struct model_slice *s)
{
	enum model_track_kind kind = e->track[s->track].kind;

	if (kind != MODEL_CALLS && kind != MODEL_SPAN && kind != MODEL_DEVICE)
		return false;
	if (e->query->span)
		return !fnmatch(e->query->span, s->name, 0) ||
		       (kind == MODEL_SPAN && !strcmp(e->query->span, e->track[s->track].name));
	return e->query->record != MODEL_NO_RECORD && s->begin_record == e->query->record;
}

/* The thread of a slice (see thread_of()) as a track; 0: not known. */
static uint32_t thread_track(const struct explain *e, const struct model_slice *s)
{
	uint32_t place = s->to ? s->to : s->from;

	if (e->track[s->track].kind == MODEL_CALLS)
		return e->track[s->track].parent;
	return place && e->track[place].kind == MODEL_STATE ? e->track[place].parent : 0;
}

static int find_slice(void *arg, const struct model_slice *s)
{
	struct explain *e = arg;

	if (!is_wanted(e, s))
		return 0;
	if (e->query->thread && (s->begin < e->query->from || s->begin >= e->query->to))
		return 0;
	e->result.found++;
	if (e->nr_subjects >= SUBJECTS_MAX)
		return 0;
	if (grow(&e->subject, e->nr_subjects, &e->room_subjects, sizeof(*e->subject)))
		return -ENOMEM;
	e->subject[e->nr_subjects++] = (struct explain_subject){
		.begin = s->begin, .end = s->end, .flags = s->flags, .number = thread_of(e, s),
		.thread = thread_track(e, s),
		.name = explain_text(e, "%s", s->name),
		.category = explain_text(e, "%s", s->category),
	};
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct explain_subject *x = a, *y = b;
	uint64_t s = x->end - x->begin, t = y->end - y->begin;

	if (s != t)
		return s < t ? 1 : -1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Whether a track is a thread with this number, or with a name that the glob matches. */
static bool is_thread(const struct explain *e, uint32_t track, const char *want)
{
	const struct explain_track *t = &e->track[track];
	uint64_t number;

	if (tacho_scan_whole(want, strlen(want), 0, &number) && t->number == (int64_t)number)
		return true;
	return !fnmatch(want, t->name, 0);
}

/* Keeps the slices of the threads that are asked for: when all names are known. */
static void choose_threads(struct explain *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->nr_subjects; i++)
		if (e->subject[i].thread && is_thread(e, e->subject[i].thread, e->query->thread))
			e->subject[kept++] = e->subject[i];
	e->nr_subjects = kept;
	e->result.found = kept;
}

/* Keeps those that are explained: the longest, or the slowest and those around the median. */
static void choose(struct explain *e)
{
	size_t nr = e->nr_subjects, half = APP_EXPLAIN_SUBJECTS / 2, slow, middle, from;

	if (nr)
		qsort(e->subject, nr, sizeof(*e->subject), longest_first);
	if (!e->query->all) {
		slow = e->query->worst ? e->query->worst : 1;
		slow = slow < APP_EXPLAIN_SUBJECTS ? slow : APP_EXPLAIN_SUBJECTS;
		e->nr_subjects = nr < slow ? nr : slow;
		return;
	}
	slow = (nr + 99) / 100;
	slow = slow < half ? slow : half;
	middle = nr / 5 ? nr / 5 : 1;
	middle = middle < half ? middle : half;
	from = nr / 2 - middle / 2;
	from = from < slow ? slow : from;
	middle = from + middle <= nr ? middle : nr - from;
	for (size_t i = 0; i < slow; i++)
		e->subject[i].slow = true;
	memmove(e->subject + slow, e->subject + from, middle * sizeof(*e->subject));
	e->nr_subjects = slow + middle;
}

static int read_subjects(struct explain *e, const char *path, unsigned int flags,
			 const struct model_rules *rules,
			 const struct tacho_observer *observer, struct tacho_diag *d)
{
	static const struct model_ops ops = { .track = on_track, .slice = find_slice };
	struct model_config config = { .rules = rules, .ops = &ops, .arg = e };
	struct model *m = NULL;
	struct app_trace t;
	int err = app_trace_open(&t, path, flags, d);

	if (err)
		return err;
	config.stream = t.stream;
	err = model_new(&m, &config, d);
	if (!err)
		err = app_model_read(t.stream, m, NULL, observer, d);
	if (!err)
		app_model_note_unused(rules, t.stream, observer);
	if (!err && e->query->thread)
		choose_threads(e);	/* while there is a model, which has the names */
	model_free(m);
	app_trace_close(&t);
	return err;
}

static int find_subjects(struct explain *e, const char *path, unsigned int flags,
			 const struct model_rules *rules,
			 const struct tacho_observer *observer, struct tacho_diag *d)
{
	int err = read_subjects(e, path, flags, rules, observer, d);

	if (err)
		return err == -ENOMEM ? tacho_no_memory(d) : err;
	choose(e);
	if (e->nr_subjects)
		return 0;
	if (e->query->span && e->query->thread)
		return tacho_diag(d, -ENOENT, 0, "the trace has no slice '%s' of a thread '%s' "
				  "at that time; 'tacho model --items' lists them",
				  e->query->span, e->query->thread);
	if (e->query->span)
		return tacho_diag(d, -ENOENT, 0, "the trace has no slice '%s'; "
				  "'tacho model' lists names", e->query->span);
	return tacho_diag(d, -ENOENT, 0, "no slice begins with record %" PRIu64,
			  e->query->record);
}

/* ---- E2: what overlaps them ---- */

static int by_time(const void *a, const void *b)
{
	const struct explain_window *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The times of all subjects, in order and without overlap. */
static int make_windows(struct explain *e)
{
	size_t n = 0;

	e->window = reallocarray(NULL, e->nr_subjects, sizeof(*e->window));
	if (!e->window)
		return -ENOMEM;
	for (size_t i = 0; i < e->nr_subjects; i++)
		e->window[i] = (struct explain_window){ e->subject[i].begin, e->subject[i].end };
	qsort(e->window, e->nr_subjects, sizeof(*e->window), by_time);
	for (size_t i = 1; i < e->nr_subjects; i++)
		if (e->window[i].begin > e->window[n].end)
			e->window[++n] = e->window[i];
		else if (e->window[i].end > e->window[n].end)
			e->window[n].end = e->window[i].end;
	e->nr_windows = n + 1;
	return 0;
}

static bool overlaps(const struct explain *e, uint64_t begin, uint64_t end)
{
	size_t low = 0, high = e->nr_windows;

	/* the first window that ends at or after begin */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (e->window[mid].end < begin)
			low = mid + 1;
		else
			high = mid;
	}
	return low < e->nr_windows && e->window[low].begin <= end;
}

static int keep(struct explain *e, struct explain_list *list, const struct explain_item *item)
{
	if (!overlaps(e, item->begin, item->end))
		return 0;
	if (e->nr_items++ >= APP_EXPLAIN_ITEMS) {
		e->full = true;
		return -E2BIG;
	}
	if (grow(&list->item, list->nr, &list->room, sizeof(*list->item)))
		return -ENOMEM;
	list->item[list->nr++] = *item;
	return 0;
}

static int keep_state(void *arg, const struct model_state *s)
{
	struct explain *e = arg;
	struct explain_item item = {
		.track = s->track, .begin = s->begin, .end = s->end, .flags = s->flags,
		.other = s->waker, .cpu = s->cpu, .state = (uint8_t)s->state,
	};

	return keep(e, &e->states, &item);
}

static int keep_slice(void *arg, const struct model_slice *s)
{
	struct explain *e = arg;
	struct explain_item item = {
		.track = s->track, .depth = s->depth, .begin = s->begin, .end = s->end,
		.name = s->name, .category = s->category, .flags = s->flags,
		.other = e->track[s->track].kind == MODEL_RUNNING ? s->thread : s->from,
	};

	return keep(e, &e->slices, &item);
}

static int keep_instant(void *arg, const struct model_instant *i)
{
	struct explain *e = arg;
	struct explain_item item = {
		.track = i->track, .begin = i->time, .end = i->time, .name = i->name,
		.category = i->category,
	};

	return keep(e, &e->instants, &item);
}

static int by_begin(const void *a, const void *b)
{
	const struct explain_item *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static void sort(struct explain_list *list)
{
	if (list->nr)
		qsort(list->item, list->nr, sizeof(*list->item), by_begin);
}

size_t explain_find(const struct explain_list *list, uint32_t track, uint64_t from)
{
	size_t low = 0, high = list->nr;

	/* the first of the track that begins at or after from */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct explain_item *i = &list->item[mid];

		if (i->track < track || (i->track == track && i->begin < from))
			low = mid + 1;
		else
			high = mid;
	}
	/* and those before it that reach beyond from: slices nest, so not only the last one */
	while (low > 0 && list->item[low - 1].track == track &&
	       (list->item[low - 1].end > from || list->item[low - 1].depth))
		low--;
	return low < list->nr && list->item[low].track == track ? low : list->nr;
}

static int list_places(struct explain *e)
{
	e->place = reallocarray(NULL, e->nr_tracks + 1u, sizeof(*e->place));
	if (!e->place)
		return -ENOMEM;
	for (uint32_t i = 1; i < e->nr_tracks; i++)
		if (e->track[i].kind == MODEL_CPU || e->track[i].kind == MODEL_DEVICE)
			e->place[e->nr_places++] = i;
	return 0;
}

/* The second pass, from the index's checkpoint before the first window if there is one. */
static int read_windows(struct explain *e, const struct model_config *config, unsigned int flags,
			const struct tacho_observer *observer, struct tacho_diag *d)
{
	struct app_model_range range = { .from = e->window[0].begin, .to = UINT64_MAX };
	struct tacho_diag none = { 0 };
	struct tacho_buf where;
	int err;

	tacho_buf_init(&where, WHERE_MAX);
	/* other flags: other records */
	if (range.from && !flags)
		(void)app_index_open(&e->index, e->trace.path, config->rules, &where, &none);
	tacho_buf_release(&where);
	range.index = e->index;
	err = app_model_begin(&e->model, config, &range, d);
	return err ? err : app_model_read(config->stream, e->model, NULL, observer, d);
}

static int collect(struct explain *e, const char *path, unsigned int flags,
		   const struct model_rules *rules, const struct tacho_observer *observer,
		   struct tacho_diag *d)
{
	static const struct model_ops ops = {
		.track = on_track, .slice = keep_slice, .state = keep_state,
		.instant = keep_instant,
	};
	struct model_config config = { .rules = rules, .ops = &ops, .arg = e };
	int err = make_windows(e) ? tacho_no_memory(d) : app_trace_open(&e->trace, path, flags, d);

	if (err)
		return err;
	config.stream = e->trace.stream;
	err = read_windows(e, &config, flags, observer, d);
	if (e->full)
		return tacho_diag(d, -E2BIG, 0, "the intervals overlap more than %zu states and "
				  "slices: explain fewer or shorter ones", APP_EXPLAIN_ITEMS);
	if (err)
		return err == -ENOMEM ? tacho_no_memory(d) : err;
	e->result.first = model_stats(e->model)->first;
	e->result.last = model_stats(e->model)->last;
	sort(&e->states);
	sort(&e->slices);
	sort(&e->instants);
	return list_places(e) ? tacho_no_memory(d) : 0;
}

/* How many states a thread has from a time on, as far as they were kept. */
static size_t count_states(const struct explain *e, const struct explain_track *t, uint64_t from)
{
	size_t at = t->states ? explain_find(&e->states, t->states, from) : e->states.nr, n = 0;

	while (at + n < e->states.nr && e->states.item[at + n].track == t->states)
		n++;
	return n;
}

/* A thread by number, or by name (a glob): of several the one with most states.  0: none. */
static uint32_t find_thread(const struct explain *e, const char *name, int64_t number,
			    uint64_t from)
{
	uint32_t best = 0;
	size_t most = 0;

	for (uint32_t i = 1; i < e->nr_tracks; i++) {
		const struct explain_track *t = &e->track[i];
		size_t n;

		if (t->kind != MODEL_THREAD ||
		    (name ? fnmatch(name, t->name, 0) != 0 : t->number != number))
			continue;
		n = count_states(e, t, from);
		if (!best || n > most) {
			best = i;
			most = n;
		}
	}
	return best;
}

static int find_threads(struct explain *e, struct tacho_diag *d)
{
	const char *want = e->query->thread;
	struct explain_subject *s = e->subject;
	uint64_t number;

	if (!want || e->query->span) {
		for (size_t i = 0; i < e->nr_subjects; i++)
			s[i].thread = !s[i].number ? 0 :
				      find_thread(e, NULL, s[i].number, s[i].begin);
		return 0;
	}
	if (tacho_scan_whole(want, strlen(want), 0, &number))
		s->thread = find_thread(e, NULL, (int64_t)number, s->begin);
	if (!s->thread)
		s->thread = find_thread(e, want, 0, s->begin);
	if (!s->thread)
		return tacho_diag(d, -ENOENT, 0, "the trace has no thread '%s' at that time",
				  want);
	s->name = e->track[s->thread].name;
	if (s->begin >= e->result.last)
		return tacho_diag(d, -ENOENT, 0, "the trace ends %.6f s after its first record",
				  (double)(e->result.last - e->result.first) / 1e9);
	s->end = s->end < e->result.last ? s->end : e->result.last;
	return 0;
}

/* ---- the whole ---- */

static int build(struct explain *e, struct tacho_diag *d)
{
	int err = find_threads(e, d);

	for (size_t i = 0; i < e->nr_subjects && !err; i++) {
		struct app_explain_subject *s = &e->result.subject[e->result.nr];

		if (explain_path(e, &e->subject[i], s) || e->failed)
			return tacho_no_memory(d);
		e->result.nr++;
	}
	return err;
}

static int run(struct explain *e, const char *path, unsigned int flags,
	       const struct model_rules *rules, const struct tacho_observer *observer,
	       struct tacho_diag *d)
{
	int err = 0;

	if (e->query->thread && !e->query->span) {
		if (grow(&e->subject, 0, &e->room_subjects, sizeof(*e->subject)))
			return tacho_no_memory(d);
		e->subject[0] = (struct explain_subject){
			.begin = e->query->from, .end = e->query->to, .category = "thread",
		};
		e->nr_subjects = 1;
	} else {
		err = find_subjects(e, path, flags, rules, observer, d);
		e->nr_tracks = e->room_tracks = 0;
		free(e->track);
		e->track = NULL;
	}
	if (!err)
		err = collect(e, path, flags, rules, observer, d);
	return err ? err : build(e, d);
}

int app_explain_open(struct app_explain **out, const char *path, unsigned int flags,
		     const struct model_rules *rules, const struct app_explain_query *query,
		     const struct tacho_observer *observer, struct tacho_diag *d)
{
	struct explain *e = calloc(1, sizeof(*e));
	int err;

	*out = NULL;
	if (!e)
		return tacho_no_memory(d);
	tacho_arena_init(&e->arena, ARENA_MAX);
	e->query = query;
	e->result.own = e;
	e->result.session = !strncmp(path, "session:", strlen("session:"));
	err = run(e, path, flags, rules, observer, d);
	if (err == -ENOMEM)
		err = tacho_no_memory(d);
	if (err) {
		app_explain_close(&e->result);
		return err;
	}
	*out = &e->result;
	return 0;
}

void app_explain_close(struct app_explain *result)
{
	struct explain *e = result ? result->own : NULL;

	if (!e)
		return;
	for (uint32_t i = 0; i < e->result.nr; i++)
		free(e->result.subject[i].total);
	model_free(e->model);
	index_close(e->index);
	app_trace_close(&e->trace);
	free(e->track);
	free(e->subject);
	free(e->window);
	free(e->place);
	free(e->states.item);
	free(e->slices.item);
	free(e->instants.item);
	tacho_arena_release(&e->arena);
	free(e);
}
