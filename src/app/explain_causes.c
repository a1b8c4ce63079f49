// SPDX-License-Identifier: MIT
/* Times by cause: causes that differ only in the numbers of threads are one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain_priv.h"

static const char several[] = "(several)";

/* The length of "(123)" or "(several)" at s; 0: neither. */
static size_t number_len(const char *s)
{
	size_t digits;

	if (*s != '(')
		return 0;
	if (!strncmp(s, several, sizeof(several) - 1))
		return sizeof(several) - 1;
	digits = strspn(s + 1, "0123456789");
	return digits && s[1 + digits] == ')' ? digits + 2 : 0;
}

static uint64_t hash(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (size_t len; *s; s += len ? len : 1) {
		len = number_len(s);
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	}
	return h;
}

/* The words without the numbers of threads. */
static bool same_cause(const char *a, const char *b)
{
	while (*a && *b) {
		size_t m = number_len(a), n = number_len(b);

		if (*a != *b || !m != !n)
			return false;
		a += m ? m : 1;
		b += n ? n : 1;
	}
	return *a == *b;
}

/* Two causes as one: "(several)" where the numbers differ. */
static const char *merge(struct explain *e, const char *a, const char *b)
{
	struct tacho_buf text;
	const char *own;

	if (!strcmp(a, b))
		return a;
	tacho_buf_init(&text, 1u << 20);
	while (*a && *b) {
		size_t m = number_len(a), n = number_len(b);
		bool equal = m == n && !memcmp(a, b, m ? m : 1);

		tacho_buf_put(&text, equal ? a : several,
			      !equal ? sizeof(several) - 1 : m ? m : 1);
		a += m ? m : 1;
		b += n ? n : 1;
	}
	own = tacho_buf_error(&text) ? NULL : tacho_arena_strndup(&e->arena, text.data, text.len);
	tacho_buf_release(&text);
	e->failed |= !own;
	return own ? own : "";
}

/* ---- who ran ---- */

/* Threads of one name become one entry. */
static uint32_t by_name(struct app_explain_runner *list, uint32_t nr)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t k = 0;

		while (k < kept && strcmp(list[k].name, list[i].name))
			k++;
		if (k == kept) {
			list[kept++] = list[i];
			continue;
		}
		list[k].number = APP_EXPLAIN_SEVERAL;
		list[k].ns += list[i].ns;
	}
	return kept;
}

static uint32_t runner_at(const struct app_explain_runner *list, uint32_t nr,
			  const struct app_explain_runner *more)
{
	uint32_t i = 0;

	while (i < nr && (strcmp(list[i].name, more->name) ||
			  (list[i].number != more->number &&
			   list[i].number != APP_EXPLAIN_SEVERAL)))
		i++;
	return i;
}

void explain_add_runner(struct app_explain_runner *list, uint32_t *nr,
			const struct app_explain_runner *more)
{
	uint32_t i = runner_at(list, *nr, more);

	if (i == EXPLAIN_RUNNERS) {
		*nr = by_name(list, *nr);
		i = runner_at(list, *nr, more);
	}
	if (i < EXPLAIN_RUNNERS && i == *nr) {
		list[(*nr)++] = *more;
		return;
	}
	if (i == EXPLAIN_RUNNERS)
		list[--i].name = "other names";
	if (list[i].number != more->number)
		list[i].number = APP_EXPLAIN_SEVERAL;
	list[i].ns += more->ns;
}

/* The threads with the name of one, together. */
static struct app_explain_runner with_name(const struct app_explain_total *t, uint32_t at,
					   uint32_t *threads)
{
	struct app_explain_runner all = t->runner[at];

	*threads = 1;
	for (uint32_t i = 0; i < t->nr_runners; i++)
		if (i != at && !strcmp(t->runner[i].name, all.name)) {
			all.ns += t->runner[i].ns;
			if (t->runner[i].number == APP_EXPLAIN_SEVERAL)
				all.number = APP_EXPLAIN_SEVERAL;
			++*threads;
		}
	return all;
}

/* "ran hog (12)", "ran cc1 (6 threads)", "was idle". */
static const char *who_text(struct explain *e, const struct app_explain_runner *r,
			    uint32_t threads)
{
	if (r->number == APP_EXPLAIN_NO_THREAD)
		return explain_text(e, "was %s", r->name);
	if (r->number == APP_EXPLAIN_SEVERAL)
		return explain_text(e, "ran %s %s", r->name, several);
	if (threads == 1)
		return explain_text(e, "ran %s (%" PRId64 ")", r->name, r->number);
	return explain_text(e, "ran %s (%u threads)", r->name, threads);
}

static const char *runners_text(struct explain *e, const struct app_explain_total *t)
{
	struct app_explain_runner best = { 0 };
	uint32_t threads = 0, others, not_threads = 0;
	bool complete = true;
	uint64_t all = 0;
	const char *who;

	for (uint32_t i = 0; i < t->nr_runners; i++) {
		uint32_t n;
		struct app_explain_runner r = with_name(t, i, &n);

		all += t->runner[i].ns;
		complete &= t->runner[i].number != APP_EXPLAIN_SEVERAL;
		not_threads += t->runner[i].number == APP_EXPLAIN_NO_THREAD;
		if (i && r.ns <= best.ns)
			continue;
		best = r;
		threads = n;
	}
	who = who_text(e, &best, threads);
	if (threads == t->nr_runners)
		return explain_text(e, "%s, which %s", t->cause, who);
	others = t->nr_runners - not_threads;
	if (best.number != APP_EXPLAIN_NO_THREAD)
		others -= threads;
	who = explain_text(e, "%s, which %s %.0f%% of that time", t->cause, who,
			   all ? 100 * (double)best.ns / (double)all : 0.0);
	if (!others)
		return who;
	if (!complete)
		return explain_text(e, "%s, and others", who);
	return explain_text(e, "%s, and %u other%s", who, others, others == 1 ? "" : "s");
}

/* ---- the table ---- */

static struct app_explain_total *find(struct explain *e, struct explain_totals *t,
				      const char *cause)
{
	uint64_t h = hash(cause);
	struct app_explain_total *x;

	for (uint32_t i = 0; i < t->nr; i++) {
		x = &t->of[i];
		if (x->hash != h || !same_cause(x->cause, cause))
			continue;
		x->cause = merge(e, x->cause, cause);
		return x;
	}
	if (t->nr == t->room) {
		size_t room = t->room ? 2 * t->room : 32;
		void *bigger = reallocarray(t->of, room, sizeof(*t->of));

		if (!bigger)
			return NULL;
		t->of = bigger;
		t->room = room;
	}
	x = &t->of[t->nr++];
	*x = (struct app_explain_total){ .cause = cause, .hash = h };
	return x;
}

int explain_totals_add(struct explain *e, struct explain_totals *t,
		       const struct app_explain_total *more)
{
	struct app_explain_total *x = find(e, t, more->cause);

	if (!x)
		return -ENOMEM;
	x->ns += more->ns;
	x->median_ns += more->median_ns;
	x->count += more->count;
	if (!more->nr_runners)
		return 0;
	if (!x->runner) {
		x->runner = tacho_arena_alloc(&e->arena, EXPLAIN_RUNNERS * sizeof(*x->runner));
		if (!x->runner)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < more->nr_runners; i++)
		explain_add_runner(x->runner, &x->nr_runners, &more->runner[i]);
	return 0;
}

void explain_totals_name(struct explain *e, struct explain_totals *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->of[i].nr_runners)
			t->of[i].cause = runners_text(e, &t->of[i]);
}

void explain_totals_release(struct explain_totals *t)
{
	free(t->of);
	*t = (struct explain_totals){ 0 };
}
