// SPDX-License-Identifier: MIT
/* Explanations as text and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain_priv.h"
#include "base/json.h"

#define TOTALS_SHOWN	12u

static void put_duration(struct tacho_buf *out, uint64_t ns)
{
	if (ns >= 1000000000)
		tacho_buf_printf(out, "%9.3f s ", (double)ns / 1e9);
	else if (ns >= 1000000)
		tacho_buf_printf(out, "%9.3f ms", (double)ns / 1e6);
	else
		tacho_buf_printf(out, "%9.3f us", (double)ns / 1e3);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static const char *unknown_ends(uint32_t flags)
{
	if (flags & MODEL_BEGIN_UNKNOWN)
		return flags & MODEL_END_UNKNOWN ? ", begin and end not recorded" :
						   ", begin not recorded";
	return flags & MODEL_END_UNKNOWN ? ", end not recorded" : "";
}

/* ---- text ---- */

static void put_nodes(const struct app_explain_subject *s, const struct app_explain_node *node,
		      unsigned int depth, struct tacho_buf *out)
{
	for (; node; node = node->next) {
		tacho_buf_puts(out, "  ");
		put_duration(out, node->begin - s->begin);
		put_duration(out, node->end - node->begin);
		tacho_buf_printf(out, "  %*s", (int)(2 * depth), "");
		tacho_buf_put_line(out, node->what);
		if (node->faults)
			tacho_buf_printf(out, ", %" PRIu64 " page fault%s", node->faults,
					 node->faults == 1 ? "" : "s");
		if (node->uncertain)
			tacho_buf_puts(out, " (uncertain: records were lost)");
		tacho_buf_putc(out, '\n');
		put_nodes(s, node->child, depth + 1, out);
	}
}

/* "running 12 %, waiting for a CPU 60 %, ..." of the thread itself. */
static void put_kinds(const struct app_explain_subject *s, struct tacho_buf *out)
{
	static const char *const kinds[APP_EXPLAIN_KINDS] = {
		"running", "waiting for a CPU", "blocked", "unknown",
	};
	uint64_t ns[APP_EXPLAIN_KINDS] = { 0 };
	const char *gap = "  ";

	for (const struct app_explain_node *node = s->node; node; node = node->next)
		ns[node->kind] += node->end - node->begin;
	for (int i = 0; i < APP_EXPLAIN_KINDS; i++)
		if (ns[i]) {
			tacho_buf_printf(out, "%s%s %.1f%%", gap, kinds[i],
					 percent(ns[i], s->end - s->begin));
			gap = ", ";
		}
	tacho_buf_putc(out, '\n');
}

static void put_subject(const struct app_explain *e, const struct app_explain_subject *s,
			bool timeline, struct tacho_buf *out)
{
	uint64_t all = s->end - s->begin, shown = 0;

	tacho_buf_put_line(out, s->name);
	tacho_buf_printf(out, " (%s), ", s->category);
	tacho_buf_put_line(out, s->thread);
	tacho_buf_putc(out, ':');
	put_duration(out, all);
	tacho_buf_printf(out, ", %.6f s after the first record%s%s\n",
			 (double)(s->begin - e->first) / 1e9, unknown_ends(s->flags),
			 s->flags & MODEL_UNCERTAIN ? ", uncertain: records were lost" : "");
	if (s->no_states)
		tacho_buf_puts(out, e->session ?
			       "  A session is read without the kernel's events: explain a trace "
			       "(tacho record -k 'sched:*')\n" :
			       "  The trace does not say when this thread ran: record the "
			       "kernel's scheduler, too (tacho record -k 'sched:*')\n");
	else
		put_kinds(s, out);
	for (uint32_t i = 0; i < s->nr_totals && i < TOTALS_SHOWN; i++) {
		const struct app_explain_total *t = &s->total[i];

		tacho_buf_printf(out, "  %5.1f%% ", percent(t->ns, all));
		put_duration(out, t->ns);
		tacho_buf_printf(out, " %6ux  ", t->count);
		tacho_buf_put_line(out, t->cause);
		tacho_buf_putc(out, '\n');
		shown += t->ns;
	}
	if (s->nr_totals > TOTALS_SHOWN) {
		tacho_buf_printf(out, "  %5.1f%% ", percent(all - shown, all));
		put_duration(out, all - shown);
		tacho_buf_printf(out, "          %u other causes\n",
				 s->nr_totals - TOTALS_SHOWN);
	}
	if (!timeline)
		return;
	tacho_buf_puts(out, "\n       after         for\n");
	put_nodes(s, s->node, 0, out);
}

void app_explain_text(const struct app_explain *e, bool timeline, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < e->nr; i++) {
		if (i)
			tacho_buf_putc(out, '\n');
		put_subject(e, &e->subject[i], timeline, out);
	}
}

/* ---- JSON ---- */

static void json_nodes(const struct app_explain_node *node, struct tacho_json *j)
{
	tacho_json_open(j, '[');
	for (; node; node = node->next) {
		tacho_json_open(j, '{');
		tacho_json_pair_u64(j, "begin", node->begin);
		tacho_json_pair_u64(j, "end", node->end);
		tacho_json_pair_str(j, "what", node->what);
		if (node->cause)
			tacho_json_pair_str(j, "cause", node->cause);
		if (node->faults)
			tacho_json_pair_u64(j, "page_faults", node->faults);
		if (node->uncertain)
			tacho_json_pair_bool(j, "uncertain", true);
		if (node->child) {
			tacho_json_key(j, "path");
			json_nodes(node->child, j);
		}
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

static void json_totals(const struct app_explain_subject *s, struct tacho_json *j)
{
	tacho_json_key(j, "causes");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < s->nr_totals; i++) {
		tacho_json_open(j, '{');
		tacho_json_pair_str(j, "cause", s->total[i].cause);
		tacho_json_pair_u64(j, "ns", s->total[i].ns);
		tacho_json_pair_u64(j, "count", s->total[i].count);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

void app_explain_json(const struct app_explain *e, struct tacho_buf *out)
{
	struct tacho_json j;

	tacho_json_init(&j, out);
	tacho_json_open(&j, '{');
	tacho_json_pair_u64(&j, "found", e->found);
	tacho_json_key(&j, "intervals");
	tacho_json_open(&j, '[');
	for (uint32_t i = 0; i < e->nr; i++) {
		const struct app_explain_subject *s = &e->subject[i];

		tacho_json_open(&j, '{');
		tacho_json_pair_str(&j, "name", s->name);
		tacho_json_pair_str(&j, "category", s->category);
		tacho_json_pair_str(&j, "thread", s->thread);
		tacho_json_pair_u64(&j, "begin", s->begin);
		tacho_json_pair_u64(&j, "end", s->end);
		tacho_json_pair_bool(&j, "begin_unknown", s->flags & MODEL_BEGIN_UNKNOWN);
		tacho_json_pair_bool(&j, "end_unknown", s->flags & MODEL_END_UNKNOWN);
		tacho_json_pair_bool(&j, "uncertain", s->flags & MODEL_UNCERTAIN);
		json_totals(s, &j);
		tacho_json_key(&j, "path");
		json_nodes(s->node, &j);
		tacho_json_close(&j, '}');
	}
	tacho_json_close(&j, ']');
	tacho_json_close(&j, '}');
	tacho_buf_putc(out, '\n');
}

/* ---- the slowest beside the median ---- */

struct causes {
	struct explain_totals totals;	/* ns: of the slowest */
	uint32_t slow, median;		/* subjects */
	uint64_t slow_ns, median_ns;
};

/* The mean difference, largest first. */
static int by_difference(const void *a, const void *b, void *arg)
{
	const struct app_explain_total *x = a, *y = b;
	const struct causes *c = arg;
	double s = (double)x->ns / (c->slow ? c->slow : 1) -
		   (double)x->median_ns / (c->median ? c->median : 1);
	double t = (double)y->ns / (c->slow ? c->slow : 1) -
		   (double)y->median_ns / (c->median ? c->median : 1);

	if (s != t)
		return s < t ? 1 : -1;
	return strcmp(x->cause, y->cause);
}

static void compare_text(const struct app_explain *e, const struct causes *c,
			 struct tacho_buf *out)
{
	tacho_buf_printf(out, "%" PRIu64 " slices; the mean of the slowest %u next to that of %u "
			 "around the median\n\n", e->found, c->slow, c->median);
	tacho_buf_puts(out, "     slowest      median  difference  cause\n");
	for (uint32_t i = 0; i <= c->totals.nr && i <= TOTALS_SHOWN; i++) {
		bool whole = !i;
		uint64_t s = whole ? c->slow_ns : c->totals.of[i - 1].ns;
		uint64_t m = whole ? c->median_ns : c->totals.of[i - 1].median_ns;
		double mean_s = c->slow ? (double)s / c->slow : 0;
		double mean_m = c->median ? (double)m / c->median : 0;

		tacho_buf_printf(out, "%9.3f ms%9.3f ms%+9.3f ms  ", mean_s / 1e6,
				 mean_m / 1e6, (mean_s - mean_m) / 1e6);
		tacho_buf_put_line(out, whole ? "the whole" : c->totals.of[i - 1].cause);
		tacho_buf_putc(out, '\n');
	}
}

static void compare_json(const struct app_explain *e, const struct causes *c,
			 struct tacho_buf *out)
{
	struct tacho_json j;

	tacho_json_init(&j, out);
	tacho_json_open(&j, '{');
	tacho_json_pair_u64(&j, "found", e->found);
	tacho_json_pair_u64(&j, "slowest", c->slow);
	tacho_json_pair_u64(&j, "median", c->median);
	tacho_json_pair_u64(&j, "slowest_ns", c->slow_ns);
	tacho_json_pair_u64(&j, "median_ns", c->median_ns);
	tacho_json_key(&j, "causes");
	tacho_json_open(&j, '[');
	for (uint32_t i = 0; i < c->totals.nr; i++) {
		tacho_json_open(&j, '{');
		tacho_json_pair_str(&j, "cause", c->totals.of[i].cause);
		tacho_json_pair_u64(&j, "slowest_ns", c->totals.of[i].ns);
		tacho_json_pair_u64(&j, "median_ns", c->totals.of[i].median_ns);
		tacho_json_close(&j, '}');
	}
	tacho_json_close(&j, ']');
	tacho_json_close(&j, '}');
	tacho_buf_putc(out, '\n');
}

/* Adds the nodes of a subject, not its totals: those name who ran already. */
static int add_nodes(struct explain *e, struct causes *c, const struct app_explain_node *node,
		     bool slow)
{
	for (; node; node = node->next) {
		uint64_t ns = node->end - node->begin;
		struct app_explain_total one = {
			.cause = node->cause ? node->cause : "", .ns = slow ? ns : 0,
			.median_ns = slow ? 0 : ns, .count = 1,
			.runner = node->runner,
			.nr_runners = slow ? node->nr_runners : 0,
		};
		int err = node->child ? add_nodes(e, c, node->child, slow) :
					explain_totals_add(e, &c->totals, &one);

		if (err)
			return err;
	}
	return 0;
}

void app_explain_compare(struct app_explain *result, bool json, struct tacho_buf *out)
{
	struct explain *e = result->own;
	struct causes c = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < result->nr && !err; i++) {
		const struct app_explain_subject *s = &result->subject[i];

		err = add_nodes(e, &c, s->node, s->slow);
		if (s->slow) {
			c.slow++;
			c.slow_ns += s->end - s->begin;
		} else {
			c.median++;
			c.median_ns += s->end - s->begin;
		}
	}
	explain_totals_name(e, &c.totals);
	if (err || e->failed) {
		out->err = out->err ? out->err : -ENOMEM;
	} else {
		if (c.totals.nr)
			qsort_r(c.totals.of, c.totals.nr, sizeof(c.totals.of[0]), by_difference,
				&c);
		if (json)
			compare_json(result, &c, out);
		else
			compare_text(result, &c, out);
	}
	explain_totals_release(&c.totals);
}
