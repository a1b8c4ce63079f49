// SPDX-License-Identifier: MIT
/*
 * One pass over a trace: items and records into groups.
 *
 * The parts of a span are sums over the states of its thread.  The model hands a state out when it
 * ends, which is after the end of the span, and says when a span began only when it ends.  So each
 * thread has the states that it had (at most HISTORY_MAX of them), and spans that wait for the
 * state in which they ended.  What is older than the history has no parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/diff_priv.h"
#include "app/find.h"
#include "app/select.h"
#include "base/bytes.h"
#include "base/text.h"
#include "event/type.h"
#include "query/query.h"

#define STEP		1024u
#define HISTORY_FIRST	64u
#define HISTORY_MAX	65536u			/* states of a thread */
#define HISTORY_ALL	((size_t)2 << 20)	/* of all threads */
#define WAITING_MAX	65536u

struct waiting {
	struct diff_group *group;
	uint64_t begin, end;
	struct waiting *next;
};

struct thread {
	struct diff_group *group[APP_DIFF_PARTS];	/* of its name; NULL: not known yet */
	uint64_t *state;	/* ring: (begin - T0) << 3 | part */
	uint32_t room, nr, at;	/* at: where the next one goes */
	uint64_t end;		/* of the last state; 0: there is none */
	bool touched;
	struct waiting *first, **last;
};

struct track {
	uint32_t parent;
	enum model_track_kind kind;
	int64_t number;
	const char *name;
	struct thread *thread;	/* MODEL_THREAD, with states or spans */
};

struct take {
	struct diff_side *side;
	struct tacho_stream *stream;
	struct tacho_resolver *resolver;
	struct app_select select;	/* the words of the user; not opened */
	uint64_t t0, from, to;
	struct track *track;
	uint32_t nr, room;
	struct tacho_hashmap by_slice, by_type;
	size_t states;			/* in all rings */
	uint32_t nr_waiting;
	struct diff_group none;		/* of by_type: not selected */
};

static bool in_range(const struct take *t, uint64_t time)
{
	return time >= t->from && time < t->to;
}

/* One more of a group; NULL: it had no room. */
static int count(struct take *t, struct diff_group *g, uint64_t time, int err)
{
	if (g)
		diff_group_count(t->side, g, time);
	else
		t->side->left_out += !err;
	return err;
}

/* ---- tracks ---- */

static int take_track(void *arg, const struct model_track *m)
{
	struct take *t = arg;
	struct track *k;

	if (m->id >= t->room) {
		uint32_t room = t->room ? 2 * t->room : 256;
		struct track *bigger = reallocarray(t->track, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		memset(bigger + t->room, 0, (room - t->room) * sizeof(*bigger));
		t->track = bigger;
		t->room = room;
	}
	k = &t->track[m->id];
	k->parent = m->parent;
	k->kind = m->kind;
	k->number = m->number;
	k->name = m->name;
	if (k->thread)
		memset(k->thread->group, 0, sizeof(k->thread->group));
	if (m->id >= t->nr)
		t->nr = m->id + 1;
	return 0;
}

static struct thread *thread_of(struct take *t, uint32_t track)
{
	struct track *k = &t->track[t->track[track].parent];

	if (!k->thread) {
		k->thread = calloc(1, sizeof(*k->thread));
		if (k->thread)
			k->thread->last = &k->thread->first;
	}
	return k->thread;
}

/* ---- states ---- */

static enum app_diff_part part_of(const struct model_state *s)
{
	if (s->flags & MODEL_IO)
		return APP_DIFF_IO;
	switch ((unsigned int)s->state) {
	case MODEL_UNKNOWN:
		return APP_DIFF_UNKNOWN;
	case MODEL_RUNS:
		return APP_DIFF_RUNNING;
	case MODEL_RUNNABLE:
		return APP_DIFF_RUNNABLE;
	case MODEL_SLEEPING:
	case MODEL_IDLE:
	case MODEL_PARKED:
		return APP_DIFF_SLEEPING;
	default:
		return APP_DIFF_BLOCKED;
	}
}

/* Frees the histories of threads that had no state since the last time. */
static void forget_old(struct take *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		struct thread *th = t->track[i].thread;

		if (!th)
			continue;
		if (!th->touched) {
			t->states -= th->room;
			free(th->state);
			th->state = NULL;
			th->room = th->nr = th->at = 0;
		}
		th->touched = false;
	}
}

static int grow_history(struct take *t, struct thread *th)
{
	uint32_t room = th->room ? 2 * th->room : HISTORY_FIRST;
	uint64_t *bigger;

	if (room > HISTORY_MAX)
		return 0;
	if (t->states + room > HISTORY_ALL) {
		th->touched = true;
		forget_old(t);
		if (t->states + room > HISTORY_ALL && th->room)
			return 0;
	}
	bigger = reallocarray(NULL, room, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = 0; i < th->nr; i++)
		bigger[i] = th->state[(th->at + th->room - th->nr + i) % th->room];
	t->states += room - th->room;
	free(th->state);
	th->state = bigger;
	th->room = room;
	th->at = th->nr;
	return 0;
}

static int add_history(struct take *t, struct thread *th, uint64_t begin, enum app_diff_part part)
{
	if (th->nr == th->room && grow_history(t, th))
		return -ENOMEM;
	th->at %= th->room;
	th->state[th->at] = (begin - t->t0) << 3 | (uint64_t)part;
	th->at = (th->at + 1) % th->room;
	th->nr += th->nr < th->room;
	th->touched = true;
	return 0;
}

/* The states of a thread from begin to end, which is not after the last one's end. */
static void add_parts(const struct take *t, const struct thread *th, struct diff_group *g,
		      uint64_t begin, uint64_t end)
{
	double part[APP_DIFF_PARTS] = { 0 };
	uint64_t until = th->end;

	for (uint32_t i = 1; i <= th->nr; i++) {
		uint64_t state = th->state[(th->at + th->room - i) % th->room];
		uint64_t from = t->t0 + (state >> 3);
		uint64_t low = from > begin ? from : begin, high = until < end ? until : end;

		if (low < high)
			part[state & 7] += (double)(high - low);
		until = from;
		if (from > begin)
			continue;
		g->slices++;
		for (int p = 0; p < APP_DIFF_PARTS; p++)
			g->part[p] += part[p];
		return;
	}
}

static void settle_waiting(struct take *t, struct thread *th, uint64_t until)
{
	struct waiting *w;

	while ((w = th->first) && w->end <= until) {
		add_parts(t, th, w->group, w->begin, w->end);
		th->first = w->next;
		if (!th->first)
			th->last = &th->first;
		free(w);
		t->nr_waiting--;
	}
}

static struct diff_group *state_group(struct take *t, const struct track *thread,
				      enum app_diff_part part, int *err)
{
	struct diff_group **g = &thread->thread->group[part];
	char name[DIFF_NAME_MAX + 1];

	if (*g)
		return *g;
	(void)snprintf(name, sizeof(name), "%s: %s", thread->name[0] ? thread->name : "?",
		       app_diff_part_name(part));
	*g = diff_group_get(t->side, APP_DIFF_THREAD, name, err);
	return *g;
}

static int take_state(void *arg, const struct model_state *s)
{
	struct take *t = arg;
	enum app_diff_part part = part_of(s);
	struct thread *th = thread_of(t, s->track);
	const struct track *thread = &t->track[t->track[s->track].parent];
	struct diff_group *g;
	int err = 0;

	if (!th || add_history(t, th, s->begin, part))
		return -ENOMEM;
	th->end = s->end;
	settle_waiting(t, th, s->end);
	if (!in_range(t, s->end) || part == APP_DIFF_UNKNOWN)
		return 0;
	g = state_group(t, thread, part, &err);
	err = count(t, g, s->end, err);
	if (err || !g || s->flags & (MODEL_BEGIN_UNKNOWN | MODEL_END_UNKNOWN))
		return err;
	return diff_group_time(t->side, g, s->end - s->begin);
}

/* ---- slices ---- */

/* The kind of a slice, and whether its category belongs to its name. */
static enum app_diff_kind kind_of(const struct track *k, const char *category, bool *full)
{
	*full = false;
	if (k->kind == MODEL_DEVICE)
		return APP_DIFF_DEVICE;
	if (!strcmp(category, "span"))
		return APP_DIFF_SPAN;
	if (!strcmp(category, "syscall") || !strcmp(category, "kercall"))
		return APP_DIFF_CALL;
	if (!strcmp(category, "lock"))
		return APP_DIFF_LOCK;
	*full = true;
	return k->kind == MODEL_IRQ || k->kind == MODEL_SOFTIRQ ? APP_DIFF_INTERRUPT :
	       APP_DIFF_SLICE;
}

static struct diff_group *slice_group(struct take *t, const struct model_slice *s, int *err)
{
	const struct track *k = &t->track[s->track];
	/* names are kept once in the model, so their addresses are what they are */
	uint64_t key = (uintptr_t)s->name * UINT64_C(0xff51afd7ed558ccd) ^
		       (uintptr_t)s->category * UINT64_C(0xc4ceb9fe1a85ec53);
	struct diff_group *g;
	char name[DIFF_NAME_MAX + 1];
	enum app_diff_kind kind;
	bool full;

	key ^= k->kind == MODEL_DEVICE ? s->track * UINT64_C(0x9e3779b97f4a7c15) : k->kind;
	g = tacho_hashmap_get(&t->by_slice, key);
	*err = 0;
	if (g)
		return g;
	kind = kind_of(k, s->category, &full);
	if (kind == APP_DIFF_DEVICE)
		(void)snprintf(name, sizeof(name), "%s %s", k->name, s->name);
	else if (full)
		(void)snprintf(name, sizeof(name), "%s %s", s->category, s->name);
	else
		(void)snprintf(name, sizeof(name), "%s", s->name);
	g = diff_group_get(t->side, kind, name, err);
	if (g && tacho_hashmap_set(&t->by_slice, key, g))
		*err = -ENOMEM;
	return g;
}

/* The thread whose states are the parts: the track's, or that in which it began and ended. */
static struct thread *parts_thread(struct take *t, const struct model_slice *s)
{
	enum model_track_kind kind = t->track[s->track].kind;

	if (kind == MODEL_CALLS)
		return thread_of(t, s->track);
	if (kind != MODEL_SPAN || !s->from || s->from != s->to || s->from >= t->nr ||
	    t->track[s->from].kind != MODEL_STATE)
		return NULL;
	return thread_of(t, s->from);
}

static int take_parts(struct take *t, const struct model_slice *s, struct diff_group *g)
{
	struct thread *th = parts_thread(t, s);
	struct waiting *w;

	if (!th)
		return 0;
	if (th->nr && th->end >= s->end) {
		add_parts(t, th, g, s->begin, s->end);
		return 0;
	}
	if (t->nr_waiting == WAITING_MAX)
		return 0;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct waiting){ g, s->begin, s->end, NULL };
	*th->last = w;
	th->last = &w->next;
	t->nr_waiting++;
	return 0;
}

static int take_slice(void *arg, const struct model_slice *s)
{
	struct take *t = arg;
	struct diff_group *g;
	int err;

	if (!in_range(t, s->end) || t->track[s->track].kind == MODEL_RUNNING)
		return 0;
	g = slice_group(t, s, &err);
	err = count(t, g, s->end, err);
	if (err || !g || s->flags & (MODEL_BEGIN_UNKNOWN | MODEL_END_UNKNOWN))
		return err;
	err = diff_group_time(t->side, g, s->end - s->begin);
	return err || g->kind != APP_DIFF_SPAN ? err : take_parts(t, s, g);
}

/* ---- records ---- */

static bool selected(struct take *t, const struct tacho_type *type)
{
	const struct app_globs *g = &t->select.events;
	bool pass = !g->nr || g->list[0].negate;

	for (size_t i = 0; i < g->nr; i++)
		if (tacho_event_glob(g->list[i].text, type->system, type->name))
			pass = !g->list[i].negate;
	t->side->matched |= pass;
	return pass;
}

static struct diff_group *type_group(struct take *t, const struct tacho_type *type, int *err)
{
	struct diff_group *g = tacho_hashmap_get(&t->by_type, tacho_hashmap_key(type));
	char name[DIFF_NAME_MAX + 1];

	*err = 0;
	if (g)
		return g;
	(void)snprintf(name, sizeof(name), "%s:%s", type->system, type->name);
	g = selected(t, type) ? diff_group_get(t->side, APP_DIFF_EVENT, name, err) : &t->none;
	if (g && tacho_hashmap_set(&t->by_type, tacho_hashmap_key(type), g))
		*err = -ENOMEM;
	return g;
}

/* The name of the function at an address of a stack. */
static const char *function_at(const struct take *t, const struct tacho_record *r, uint64_t addr,
			       struct tacho_frame *f)
{
	uint64_t start;

	if (r->source == TACHO_STREAM_KERNEL && addr >> 63)
		return tacho_symbols_at(tacho_source_symbols(tacho_stream_current(t->stream)),
					addr, &start);
	if (t->resolver && tacho_resolver_record(t->resolver, r, addr, true, f))
		return f->function;
	return NULL;
}

/* The function in which a stack begins, without those of the tracer. */
static int take_stack(struct take *t, const struct tacho_record *r,
		      const struct tacho_field *caller)
{
	const char *where = r->source == TACHO_STREAM_KERNEL ? "kernel" : "program";
	char name[DIFF_NAME_MAX + 1];
	struct tacho_frame f = { 0 };
	struct diff_group *g;
	const char *function = NULL;
	const unsigned char *p;
	uint64_t addr = 0;
	size_t size, i;
	int err;

	p = tacho_field_data(caller, r->raw, r->len, &size);
	for (i = 0; p && i + 8 <= size; i += 8) {
		addr = tacho_load_u64(p + i);
		if (!addr || addr == UINT64_MAX)
			return 0;
		function = function_at(t, r, addr, &f);
		if (!function || r->source != TACHO_STREAM_KERNEL ||
		    !tacho_query_is_tracer(function))
			break;
	}
	if (!p || i + 8 > size)
		return 0;
	if (function)
		(void)snprintf(name, sizeof(name), "%s %s", where, function);
	else
		(void)snprintf(name, sizeof(name), "%s 0x%llx", where, (unsigned long long)addr);
	g = diff_group_get(t->side, APP_DIFF_STACK, name, &err);
	return count(t, g, r->time, err);
}

static int take_record(struct take *t, const struct tacho_record *r)
{
	const struct tacho_field *caller = tacho_query_stack_field(r->type);
	struct diff_group *g;
	int err;

	t->side->records++;
	if (caller)
		return take_stack(t, r, caller);
	g = type_group(t, r->type, &err);
	if (g == &t->none)
		return err;
	return count(t, g, r->time, err);
}

/* ---- the range ---- */

static uint64_t moment(const struct take *t, const struct app_moment *m, uint64_t open)
{
	const struct tacho_source *source = tacho_stream_source(t->stream, 0);
	uint64_t from = m->kind == '+' ? t->t0 :
			m->kind == '=' && source ? tacho_clock_ns(&source->clock, 0) : 0;

	if (!m->kind)
		return open;
	return m->kind == '+' && from + m->ns < from ? UINT64_MAX : from + m->ns;
}

static void begin_at(struct take *t, uint64_t time)
{
	t->t0 = time;
	t->from = moment(t, &t->select.begin, 0);
	t->to = moment(t, &t->select.end, UINT64_MAX);
	t->side->begin = t->side->end = t->from > time ? t->from : time;
}

/* ---- the pass ---- */

static int read_all(struct take *t, struct model *m, const struct tacho_observer *observer,
		    struct tacho_diag *d)
{
	struct tacho_record r;
	uint64_t n = 0;
	int status, err = 0;

	while ((status = tacho_stream_next(t->stream, &r)) == TACHO_STREAM_RECORD) {
		if (!n++)
			begin_at(t, r.time);
		if (r.time >= t->to) {
			t->side->end = t->to > t->side->begin ? t->to : t->side->begin;
			break;
		}
		if (r.time > t->side->end)
			t->side->end = r.time;
		err = model_record(m, &r);
		if (!err && r.time >= t->from)
			err = take_record(t, &r);
		if (err)
			return err;
		if (n % STEP)
			continue;
		tacho_observer_progress(observer, n, 0);
		if (tacho_observer_cancelled(observer))
			return -ECANCELED;
	}
	if (status == TACHO_STREAM_ERROR)
		return app_stream_failed(t->stream, -EIO, d);
	/* what is open at the end of a range does not end in it */
	if (status == TACHO_STREAM_RECORD)
		t->to = 0;
	return model_finish(m);
}

static void release(struct take *t)
{
	struct waiting *w;

	for (uint32_t i = 0; i < t->nr; i++) {
		struct thread *th = t->track[i].thread;

		if (!th)
			continue;
		while ((w = th->first)) {
			th->first = w->next;
			free(w);
		}
		free(th->state);
		free(th);
	}
	free(t->track);
	tacho_hashmap_release(&t->by_slice);
	tacho_hashmap_release(&t->by_type);
	app_select_release(&t->select);
}

static int pass(struct take *t, const struct model_rules *rules,
		const struct tacho_observer *observer, struct tacho_diag *d)
{
	static const struct model_ops ops = {
		.track = take_track, .slice = take_slice, .state = take_state,
	};
	const struct model_config config = { t->stream, rules, &ops, t };
	struct model *m;
	int err = model_new(&m, &config, d);

	if (!err) {
		err = read_all(t, m, observer, d);
		model_free(m);
	}
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

int diff_take(struct diff_side *s, const struct app_diff_query *query,
	      const struct app_diff_input *input, const struct tacho_observer *observer,
	      struct tacho_diag *d)
{
	struct take t = { .side = s };
	struct app_trace trace;
	int err = 0;

	app_select_init(&t.select);
	if (input->time)
		err = app_select_time(&t.select, input->time, d);
	if (!err && query->events)
		err = app_select_events(&t.select, query->events, d);
	if (!err)
		err = app_trace_open(&trace, input->path, query->flags, d);
	if (!err) {
		t.stream = trace.stream;
		t.resolver = trace.resolver;
		err = pass(&t, query->rules, observer, d);
		if (!err)
			err = app_trace_remarks(&trace, observer, d);
		release(&t);
		app_trace_close(&trace);
		return err;
	}
	release(&t);
	return err;
}
