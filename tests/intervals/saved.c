// SPDX-License-Identifier: MIT
/*
 * saved - a model that is saved and restored hands out what one without a break does.
 *
 *	saved STOPS SPAN,SPAN... TRACE...
 *
 * Reads each trace once without a break, then goes on from STOPS random records, from the first
 * and from behind the last one.  Prints what differs; the exit status is 1 then.  A summary for
 * each trace is a comment on stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "stream/stream.h"

#define ITEMS_MAX	((size_t)1 << 31)

/* A trace that is read. */
struct reading {
	struct tacho_stream *stream;
	struct model *model;
	struct tacho_buf items;		/* a line for each */
};

/* Where the reading was interrupted. */
struct stop {
	uint64_t record;
	size_t items;		/* bytes of items so far */
	struct tacho_buf state;
};

static struct model_rules *rules;
static const char *trace;
static int failed;

static void fail(const char *what, const char *why)
{
	printf("%s: %s%s%s\n", trace, what, *why ? ": " : "", why);
	failed = 1;
}

/* ---- items as lines ---- */

static int put_track(void *arg, const struct model_track *t)
{
	tacho_buf_printf(arg, "track %u %u %d %" PRId64 " %s\n", t->id, t->parent, t->kind,
			 t->number, t->name);
	return 0;
}

static int put_slice(void *arg, const struct model_slice *s)
{
	tacho_buf_printf(arg, "slice %u.%u %" PRIu64 "-%" PRIu64 " #%" PRIu64 "-%" PRIu64
			 " %s (%s) %u %u %u>%u\n", s->track, s->depth, s->begin, s->end,
			 s->begin_record, s->end_record, s->name, s->category, s->flags,
			 s->thread, s->from, s->to);
	return 0;
}

static int put_state(void *arg, const struct model_state *s)
{
	tacho_buf_printf(arg, "state %u %u %" PRIu64 "-%" PRIu64 " #%" PRIu64 "-%" PRIu64
			 " %d %u %u\n", s->track, s->cpu, s->begin, s->end, s->begin_record,
			 s->end_record, s->state, s->flags, s->waker);
	return 0;
}

static int put_counter(void *arg, const struct model_counter *c)
{
	tacho_buf_printf(arg, "counter %u %" PRIu64 " #%" PRIu64 " %.17g\n", c->track, c->time,
			 c->record, c->value);
	return 0;
}

static int put_flow(void *arg, const struct model_flow *f)
{
	tacho_buf_printf(arg, "flow %s %u@%" PRIu64 "#%" PRIu64 " > %u@%" PRIu64 "#%" PRIu64 "\n",
			 f->kind, f->from, f->from_time, f->from_record, f->to, f->to_time,
			 f->to_record);
	return 0;
}

static int put_loss(void *arg, const struct model_loss *l)
{
	tacho_buf_printf(arg, "loss %u %u %" PRIu64 "-%" PRIu64 " #%" PRIu64 " %" PRIu64 "\n",
			 l->cpu, l->source, l->begin, l->end, l->record, l->count);
	return 0;
}

static int put_instant(void *arg, const struct model_instant *i)
{
	tacho_buf_printf(arg, "instant %u %" PRIu64 " #%" PRIu64 " %s (%s)\n", i->track, i->time,
			 i->record, i->name, i->category);
	return 0;
}

static const struct model_ops ops = { put_track, put_slice, put_state, put_counter, put_flow,
				      put_loss, put_instant };

/* ---- reading ---- */

static void open_reading(struct reading *r)
{
	struct tacho_error error;

	*r = (struct reading){ 0 };
	tacho_buf_init(&r->items, ITEMS_MAX);
	if (tacho_stream_open(&r->stream, trace, 0, &error)) {
		fail("cannot be opened", error.text);
		exit(1);
	}
}

static void close_reading(struct reading *r)
{
	model_free(r->model);
	tacho_stream_close(r->stream);
	tacho_buf_release(&r->items);
}

static struct model_config config_of(struct reading *r)
{
	return (struct model_config){ r->stream, rules, &ops, &r->items };
}

/* Gives the model at most n records; returns how many there were. */
static uint64_t go_on(struct reading *r, uint64_t n)
{
	struct tacho_record record;
	uint64_t i = 0;

	for (; i < n && tacho_stream_next(r->stream, &record) == TACHO_STREAM_RECORD; i++)
		if (r->model && model_record(r->model, &record))
			fail("a record is refused", "");
	return i;
}

static void save(struct reading *r, struct tacho_buf *state)
{
	tacho_buf_init(state, ITEMS_MAX);
	if (model_save(r->model, state))
		fail("cannot be saved", "");
}

static void same_state(const struct tacho_buf *a, const struct tacho_buf *b, const char *what)
{
	if (a->len != b->len || memcmp(a->data, b->data, a->len) != 0)
		fail("states differ", what);
}

/* The first lines that differ. */
static void same_items(const char *want, size_t want_len, const char *got, size_t got_len)
{
	size_t len = want_len < got_len ? want_len : got_len, i = 0, line = 0;

	if (want_len == got_len && !memcmp(want, got, len))
		return;
	for (; i < len && want[i] == got[i]; i++)
		if (want[i] == '\n')
			line = i + 1;
	fail("items differ", "");
	printf("  without a break: %.*s\n  restored: %.*s\n",
	       (int)strcspn(want + line, "\n"), want + line,
	       (int)strcspn(got + line, "\n"), got + line);
}

/* From one stop to the end, against the reading without a break. */
static void check_stop(struct reading *whole, const struct stop *stop,
		       const struct tacho_buf *last)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf again, end;
	struct model_config config;
	struct reading r;

	open_reading(&r);
	config = config_of(&r);
	if (go_on(&r, stop->record) != stop->record)
		fail("it has fewer records now", "");
	if (model_restore(&r.model, &config, stop->state.data, stop->state.len, &d)) {
		fail("cannot be restored", d.text);
		close_reading(&r);
		return;
	}
	save(&r, &again);
	same_state(&stop->state, &again, "saved, and saved when it is restored");
	tacho_buf_release(&again);
	(void)go_on(&r, UINT64_MAX);
	save(&r, &end);
	same_state(last, &end, "at the end");
	tacho_buf_release(&end);
	if (model_finish(r.model))
		fail("cannot be finished", "");
	if (memcmp(model_stats(r.model), model_stats(whole->model),
		   sizeof(struct model_stats)) != 0)
		fail("statistics differ", "");
	same_items(tacho_buf_str(&whole->items) + stop->items, whole->items.len - stop->items,
		   tacho_buf_str(&r.items), r.items.len);
	if (failed)
		printf("  stopped before record %" PRIu64 "\n", stop->record);
	close_reading(&r);
}

/* ---- stops ---- */

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int by_record(const void *a, const void *b)
{
	const struct stop *x = a, *y = b;

	return (x->record > y->record) - (x->record < y->record);
}

static uint64_t count_records(void)
{
	struct reading r;
	uint64_t n;

	open_reading(&r);
	n = go_on(&r, UINT64_MAX);
	close_reading(&r);
	return n;
}

static void check_trace(struct stop *stop, uint32_t nr)
{
	uint64_t records = count_records(), at = 0;
	struct model_config config;
	struct tacho_buf last;
	struct reading whole;

	for (uint32_t i = 0; i < nr; i++)
		stop[i].record = i ? i == 1 ? records : next() % (records + 1) : 0;
	qsort(stop, nr, sizeof(*stop), by_record);
	open_reading(&whole);
	config = config_of(&whole);
	if (model_new(&whole.model, &config, NULL))
		exit(1);
	for (uint32_t i = 0; i < nr; i++) {
		at += go_on(&whole, stop[i].record - at);
		stop[i].items = whole.items.len;
		save(&whole, &stop[i].state);
	}
	save(&whole, &last);
	(void)model_finish(whole.model);
	for (uint32_t i = 0; i < nr; i++) {
		check_stop(&whole, &stop[i], &last);
		tacho_buf_release(&stop[i].state);
	}
	fprintf(stderr, "# %s: %" PRIu64 " records, %zu bytes of items, %zu of state\n", trace,
		records, whole.items.len, last.len);
	tacho_buf_release(&last);
	close_reading(&whole);
}

int main(int argc, char **argv)
{
	uint32_t nr = argc > 3 ? (uint32_t)atoi(argv[1]) + 2 : 0;
	struct stop *stop = calloc(nr ? nr : 1, sizeof(*stop));
	char *spans = argc > 3 ? argv[2] : NULL;

	if (!nr || !stop || model_rules_new(&rules, NULL))
		return 2;
	for (char *s = strtok(spans, ";"); s; s = strtok(NULL, ";"))
		if (model_rules_add(rules, s, strlen(s), NULL))
			return 2;
	for (int i = 3; i < argc; i++) {
		trace = argv[i];
		seed = 88172645463325252u + (uint64_t)i;
		check_trace(stop, nr);
	}
	model_rules_free(rules);
	free(stop);
	return failed;
}
