// SPDX-License-Identifier: MIT
/*
 * saved - a model that is saved and restored hands out what one without a break does.
 *
 *	saved STOPS SPAN;SPAN... TRACE...
 *
 * Reads each trace once without a break, then goes on from STOPS random records, from the first
 * and from behind the last one: each record and each item must be the same.  A stream gets to a
 * stop by reading, and, where times tell the record from those before it, by seeking: a new one,
 * and one that was read to its end.  If it is said to seek by time, it must not read half of the
 * trace for that.
 *
 * Prints what differs; the exit status is 1 then.  A summary for each trace is a comment on
 * stderr.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "stream/stream.h"

#define ITEMS_MAX	((size_t)1 << 31)
#define SMALL		((uint64_t)1 << 20)	/* a trace: it may be read whole */

/* A record, as far as readings can differ in it. */
struct seen {
	uint64_t time, sum;
};

/* A trace that is read. */
struct reading {
	struct tacho_stream *stream;
	struct model *model;
	struct tacho_buf items;		/* a line for each */
	struct tacho_buf seen;		/* struct seen */
	uint64_t bytes;			/* of the file, that were read */
};

/* How a stream gets to a stop. */
enum way { BY_READING, BY_SEEKING, BY_SEEKING_BACK };

static const char *const way_names[] = { "reading", "seeking", "seeking back" };

/* Where the reading was interrupted. */
struct stop {
	uint64_t record;
	bool by_time;		/* all before it are earlier, none from it on is */
	size_t items;		/* bytes of items so far */
	struct tacho_buf state;
};

static struct model_rules *rules;
static const char *trace;
static int failed, trace_failed;

static void fail(const char *what, const char *why)
{
	printf("%s: %s%s%s\n", trace, what, *why ? ": " : "", why);
	failed = trace_failed = 1;
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
	tacho_buf_init(&r->seen, ITEMS_MAX);
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
	tacho_buf_release(&r->seen);
}

static struct model_config config_of(struct reading *r)
{
	return (struct model_config){ r->stream, rules, &ops, &r->items };
}

static uint64_t sum_bytes(uint64_t sum, const void *p, size_t len)
{
	const unsigned char *s = p;

	while (len--)
		sum = (sum ^ *s++) * UINT64_C(0x100000001b3);
	return sum;
}

static uint64_t sum_text(uint64_t sum, const char *s)
{
	return s ? sum_bytes(sum, s, strlen(s) + 1) : sum_bytes(sum, "", 1) + 1;
}

/* All that the stream says of its last record. */
static void see(struct reading *r, const struct tacho_record *record)
{
	struct seen seen = { record->time, UINT64_C(0xcbf29ce484222325) };
	int32_t tgid;
	const char *comm = tacho_stream_comm(r->stream, record->pid, &tgid);
	const uint64_t numbers[] = { record->time, record->ticks, record->cpu, record->source,
				     (uint64_t)record->pid, record->lost, (uint64_t)tgid };

	seen.sum = sum_bytes(seen.sum, numbers, sizeof(numbers));
	seen.sum = sum_bytes(seen.sum, record->raw, record->len);
	seen.sum = sum_text(seen.sum, comm);
	seen.sum = sum_text(seen.sum, tacho_type_system(record->type));
	seen.sum = sum_text(seen.sum, tacho_type_name(record->type));
	seen.sum = sum_text(seen.sum, tacho_stream_buffer(r->stream));
	tacho_buf_put(&r->seen, &seen, sizeof(seen));
}

static const struct seen *seen(const struct reading *r, uint64_t i)
{
	return (const struct seen *)(const void *)r->seen.data + i;
}

static uint64_t nr_seen(const struct reading *r)
{
	return r->seen.len / sizeof(struct seen);
}

/* Bytes that this process has read so far; 0: not known. */
static uint64_t bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (f && fscanf(f, "rchar: %llu", &n) != 1)
		n = 0;
	if (f)
		(void)fclose(f);
	return n;
}

/* Gives the model at most n records; returns how many there were. */
static uint64_t go_on(struct reading *r, uint64_t n)
{
	struct tacho_record record;
	uint64_t i = 0;

	for (; i < n && tacho_stream_next(r->stream, &record) == TACHO_STREAM_RECORD; i++) {
		if (!nr_seen(r))
			r->bytes = bytes_read() - r->bytes;
		see(r, &record);
		if (r->model && model_record(r->model, &record))
			fail("a record is refused", "");
	}
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

/* From a stop on. */
static void same_records(const struct reading *whole, uint64_t from, const struct reading *r)
{
	uint64_t want = nr_seen(whole) - from, got = nr_seen(r), i = 0;

	while (i < want && i < got && seen(whole, from + i)->sum == seen(r, i)->sum)
		i++;
	if (i == want && i == got)
		return;
	fail("records differ", "");
	printf("  record %" PRIu64 " of %" PRIu64 ", there are %" PRIu64 " from the stop on, it "
	       "gave %" PRIu64 "; %s\n", from + i, nr_seen(whole), want, got,
	       i < want && i < got && seen(whole, from + i)->time == seen(r, i)->time ?
	       "their times are the same" : "their times differ");
}

/* Brings a new reading to a stop. */
static void go_to(struct reading *r, const struct reading *whole, const struct stop *stop,
		  enum way way)
{
	open_reading(r);
	if (way != BY_SEEKING)
		(void)go_on(r, way == BY_READING ? stop->record : UINT64_MAX);
	r->seen.len = 0;
	r->bytes = bytes_read();
	if (way == BY_READING)
		return;
	if (tacho_stream_seek(r->stream, seen(whole, stop->record)->time))
		fail("cannot be sought", "");
}

/* From one stop to the end, against the reading without a break. */
static void check_stop(struct reading *whole, const struct stop *stop, enum way way,
		       const struct tacho_buf *last)
{
	bool before = trace_failed;
	struct tacho_diag d = { 0 };
	struct tacho_buf again, end;
	struct model_config config;
	struct reading r;

	trace_failed = false;
	go_to(&r, whole, stop, way);
	config = config_of(&r);
	if (model_restore(&r.model, &config, stop->state.data, stop->state.len, &d)) {
		fail("cannot be restored", d.text);
		close_reading(&r);
		return;
	}
	save(&r, &again);
	same_state(&stop->state, &again, "saved, and saved when it is restored");
	tacho_buf_release(&again);
	(void)go_on(&r, UINT64_MAX);
	same_records(whole, stop->record, &r);
	if (way != BY_READING && tacho_stream_seeking(r.stream) == TACHO_SEEKS_BY_TIME &&
	    whole->bytes > SMALL && r.bytes > whole->bytes / 2) {
		fail("a seek reads too much", "");
		printf("  %" PRIu64 " of %" PRIu64 " bytes\n", r.bytes, whole->bytes);
	}
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
	if (trace_failed)
		printf("  by %s, to record %" PRIu64 "\n", way_names[way], stop->record);
	trace_failed |= before;
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

/* A random stop; by time, if one is found, for every second. */
static struct stop choose(const struct reading *whole, const bool *by_time, uint32_t i)
{
	uint64_t nr = nr_seen(whole);
	struct stop stop = { .record = i ? i == 1 ? nr : next() % (nr + 1) : 0 };

	for (uint64_t n = stop.record; i > 1 && i % 2 && n < nr; n++)
		if (by_time[n]) {
			stop.record = n;
			break;
		}
	stop.by_time = stop.record < nr && by_time[stop.record];
	return stop;
}

static void choose_stops(struct stop *stop, uint32_t nr)
{
	struct reading r;
	uint64_t n, edge = 0;
	bool *by_time;

	open_reading(&r);
	n = go_on(&r, UINT64_MAX);
	by_time = calloc(n + 1, sizeof(*by_time));
	if (!by_time)
		exit(2);
	for (uint64_t i = 0; i < n; i++) {
		by_time[i] = !i || seen(&r, i)->time > edge;
		edge = seen(&r, i)->time > edge ? seen(&r, i)->time : edge;
	}
	for (uint64_t i = n; i--; edge = seen(&r, i)->time < edge ? seen(&r, i)->time : edge)
		by_time[i] &= seen(&r, i)->time <= edge;
	for (uint32_t i = 0; i < nr; i++)
		stop[i] = choose(&r, by_time, i);
	qsort(stop, nr, sizeof(*stop), by_record);
	free(by_time);
	close_reading(&r);
}

static void check_trace(struct stop *stop, uint32_t nr)
{
	struct model_config config;
	struct tacho_buf last;
	struct reading whole;
	uint32_t sought = 0;
	uint64_t before;

	choose_stops(stop, nr);
	open_reading(&whole);
	before = bytes_read();
	config = config_of(&whole);
	if (model_new(&whole.model, &config, NULL))
		exit(1);
	for (uint32_t i = 0; i < nr; i++) {
		(void)go_on(&whole, stop[i].record - nr_seen(&whole));
		stop[i].items = whole.items.len;
		save(&whole, &stop[i].state);
	}
	save(&whole, &last);
	(void)model_finish(whole.model);
	whole.bytes = bytes_read() - before;
	for (uint32_t i = 0; i < nr; i++) {
		check_stop(&whole, &stop[i], BY_READING, &last);
		if (stop[i].by_time) {
			check_stop(&whole, &stop[i], BY_SEEKING, &last);
			check_stop(&whole, &stop[i], BY_SEEKING_BACK, &last);
			sought++;
		}
		tacho_buf_release(&stop[i].state);
	}
	fprintf(stderr, "# %s: %" PRIu64 " records, %zu bytes of items, %zu of state, %u of %u "
		"stops by time\n", trace, nr_seen(&whole), whole.items.len, last.len, sought, nr);
	tacho_buf_release(&last);
	close_reading(&whole);
}

int main(int argc, char **argv)
{
	uint32_t nr;
	struct stop *stop;
	char *spans;

	nr = argc > 3 ? (uint32_t)atoi(argv[1]) + 2 : 0;
	stop = calloc(nr ? nr : 1, sizeof(*stop));
	spans = argc > 3 ? argv[2] : NULL;
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
