// SPDX-License-Identifier: MIT
/*
 * top_events [TRACE [FILTER]] - how to write a front end.
 *
 * Lists the ten most frequent events of a trace, of any format that tacho reads, or of those
 * records that a filter lets pass ('prio < 100', 'app:open/fd > 3').  Without TRACE it is the
 * newest tacho-trace of the current directory.
 *
 * Nothing here is of the command line of tacho: src/app finds the trace and knows which
 * records are wanted, and says what is wrong in a struct tacho_diag.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/find.h"
#include "app/select.h"
#include "base/hashmap.h"
#include "event/type.h"

#define TOP	10

struct count {
	const struct tacho_type *type;
	uint64_t events;
};

struct counts {
	struct tacho_hashmap by_type;	/* struct count */
	struct count *all[65536];
	size_t nr;
};

static struct count *count_of(struct counts *c, const struct tacho_type *type)
{
	struct count *n = tacho_hashmap_get(&c->by_type, tacho_hashmap_key(type));

	if (n || c->nr == TACHO_ARRAY_SIZE(c->all))
		return n;
	n = calloc(1, sizeof(*n));
	if (!n || tacho_hashmap_set(&c->by_type, tacho_hashmap_key(type), n)) {
		free(n);
		return NULL;
	}
	n->type = type;
	c->all[c->nr++] = n;
	return n;
}

/* Reads all records, and counts those that are wanted. */
static int count_all(struct counts *c, struct app_select *select, struct tacho_stream *stream,
		     struct tacho_diag *d)
{
	struct tacho_record r;
	int status;

	while ((status = tacho_stream_next(stream, &r)) == TACHO_STREAM_RECORD) {
		enum app_verdict v = app_select_look(select, &r);
		struct count *n;

		if (v == APP_STOP)
			return 0;
		if (v != APP_PASS)
			continue;
		n = count_of(c, r.type);
		if (!n)
			return tacho_diag(d, -ENOMEM, 0, "out of memory");
		n->events++;
	}
	return status == TACHO_STREAM_ERROR ? app_stream_failed(stream, 0, d) : 0;
}

static int most_first(const void *a, const void *b)
{
	const struct count *x = *(struct count *const *)a, *y = *(struct count *const *)b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return strcmp(x->type->name, y->type->name);
}

static void print_top(struct counts *c)
{
	qsort(c->all, c->nr, sizeof(c->all[0]), most_first);
	for (size_t i = 0; i < c->nr && i < TOP; i++)
		printf("%10" PRIu64 "  %s:%s\n", c->all[i]->events, c->all[i]->type->system,
		       c->all[i]->type->name);
}

static void note(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

static int run(const char *path, struct app_select *select, struct counts *c,
	       struct tacho_diag *d)
{
	const struct tacho_observer observer = { .note = note };
	struct app_trace trace;
	int err = app_trace_open(&trace, path, 0, d);

	if (err)
		return err;
	err = app_select_open(select, trace.stream, d);
	if (!err)
		err = count_all(c, select, trace.stream, d);
	if (!err) {
		print_top(c);		/* types live as long as the stream */
		err = app_trace_remarks(&trace, &observer, d);
	}
	app_select_release(select);	/* reads the stream, and so goes first */
	app_trace_close(&trace);
	return err;
}

int main(int argc, char **argv)
{
	static struct counts counts;
	struct app_select select;
	struct tacho_diag d = { 0 };
	int err = 0;

	app_select_init(&select);
	if (argc > 2)
		err = app_select_filter(&select, argv[2], &d);
	if (!err)
		err = run(argc > 1 ? argv[1] : NULL, &select, &counts, &d);
	if (err)
		fprintf(stderr, "%s\n", d.text);
	for (size_t i = 0; i < counts.nr; i++)
		free(counts.all[i]);
	tacho_hashmap_release(&counts.by_type);
	return err ? 1 : 0;
}
