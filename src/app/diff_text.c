// SPDX-License-Identifier: MIT
/* A comparison as text and as JSON. */
#include <math.h>
#include <string.h>

#include "app/diff.h"
#include "base/json.h"

#define METHOD	"Cliff's delta, means and rates; variances between up to 32 blocks of consecutive " \
		"values (rates: 64 blocks of time); 95 % confidence for all comparisons together"

static const char *const titles[APP_DIFF_KINDS] = {
	"Spans", "System calls", "Locks", "Devices", "Interrupts", "Other intervals", "Threads",
	"Events", "Stacks",
};

/* ---- words ---- */

static void put_ns(struct tacho_buf *out, double ns, int width)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	int u = 0;

	for (; u < 3 && fabs(ns) >= 1000; u++)
		ns /= 1000;
	tacho_buf_printf(out, "%*.*f %-2s", width, u && fabs(ns) < 100 ? fabs(ns) < 10 ? 2 : 1 : 0,
			 ns, unit[u]);
}

/* The same within a sentence: no padding. */
static void say_ns(struct tacho_buf *out, double ns)
{
	size_t at = out->len;

	put_ns(out, ns, 1);
	while (out->len > at && out->data[out->len - 1] == ' ')
		out->len--;
}

static void put_rate(struct tacho_buf *out, double rate)
{
	tacho_buf_printf(out, " %9.*f", rate < 10 ? 2 : rate < 1000 ? 1 : 0, rate);
}

static void say_rate(struct tacho_buf *out, double rate)
{
	double size = fabs(rate);

	tacho_buf_printf(out, "%+.*f", size < 10 ? 2 : size < 100 ? 1 : 0, rate);
}

/* "2.3x longer", "20 % shorter". */
static void say_ratio(struct tacho_buf *out, double a, double b, const char *more,
		      const char *less)
{
	double ratio = a > b ? a / b : b / a;
	const char *word = b > a ? more : less;

	if (!(a > 0) || !(b > 0))
		tacho_buf_printf(out, "only %s", b > a ? "in B" : "in A");
	else if (ratio >= 2)
		tacho_buf_printf(out, "%.*fx %s", ratio < 10 ? 1 : 0, ratio, word);
	else
		tacho_buf_printf(out, "%.0f %% %s", 100 * fabs(b / a - 1), word);
}

/* What the time of a span went to: the parts that changed by a tenth of its change or more. */
static void say_parts(struct tacho_buf *out, const struct app_diff_row *r)
{
	const struct app_diff_value *a = &r->value[0], *b = &r->value[1];
	bool done[APP_DIFF_PARTS] = { false };
	double most = 0;

	if (!a->slices || !b->slices)
		return;
	for (int p = 0; p < APP_DIFF_PARTS; p++)
		most = fmax(most, fabs(b->part[p] - a->part[p]));
	for (int n = 0; n < APP_DIFF_PARTS; n++) {
		int best = -1;

		for (int p = 0; p < APP_DIFF_PARTS; p++)
			if (!done[p] && (best < 0 || fabs(b->part[p] - a->part[p]) >
						     fabs(b->part[best] - a->part[best])))
				best = p;
		done[best] = true;
		if (!(most > 0) || fabs(b->part[best] - a->part[best]) < most / 10)
			return;
		tacho_buf_printf(out, "%s %s %s", n ? "," : ";",
				 app_diff_part_name((enum app_diff_part)best),
				 b->part[best] > a->part[best] ? "+" : "-");
		say_ns(out, fabs(b->part[best] - a->part[best]));
	}
}

static void say_signed(struct tacho_buf *out, double ns)
{
	tacho_buf_putc(out, ns < 0 ? '-' : '+');
	say_ns(out, fabs(ns));
}

/* How sure it is: of delta, or of the mean if only that differs. */
static void say_interval(struct tacho_buf *out, const struct app_diff_row *r)
{
	const struct app_diff_measure *m = &r->delta;

	if (m->differs) {
		tacho_buf_printf(out, " (delta %+.2f, %+.2f to %+.2f)", m->effect, m->low,
				 m->high);
		return;
	}
	tacho_buf_puts(out, " (");
	say_signed(out, r->mean.diff);
	tacho_buf_puts(out, ", ");
	say_signed(out, r->mean.low);
	tacho_buf_puts(out, " to ");
	say_signed(out, r->mean.high);
	tacho_buf_putc(out, ')');
}

/* How long: the mean if it tells the change, else the median. */
static void say_length(struct tacho_buf *out, const struct app_diff_row *r)
{
	const struct app_diff_value *a = &r->value[0], *b = &r->value[1];
	bool median = !r->mean.differs &&
		      (r->delta.effect > 0) == (b->p50 > a->p50) && a->p50 != b->p50;
	double from = median ? (double)a->p50 : a->mean, to = median ? (double)b->p50 : b->mean;

	say_ratio(out, from, to, "longer", "shorter");
	tacho_buf_printf(out, ", %s ", median ? "median" : "mean");
	say_ns(out, from);
	tacho_buf_puts(out, " -> ");
	say_ns(out, to);
	say_interval(out, r);
	say_parts(out, r);
}

/* A sentence on a row. */
static void say_row(struct tacho_buf *out, const struct app_diff_row *r)
{
	bool length = r->delta.differs || r->mean.differs;

	if (length)
		say_length(out, r);
	if (r->rate.differs) {
		tacho_buf_puts(out, length ? "; " : "");
		say_ratio(out, r->value[0].rate, r->value[1].rate, "more often", "less often");
		tacho_buf_puts(out, " (");
		say_rate(out, r->rate.diff);
		tacho_buf_puts(out, " per s, ");
		say_rate(out, r->rate.low);
		tacho_buf_puts(out, " to ");
		say_rate(out, r->rate.high);
		tacho_buf_putc(out, ')');
	}
	if (!r->differs)
		tacho_buf_puts(out, r->delta.judged || r->rate.judged ? "no difference" :
									 "too few to judge");
}

/* ---- text ---- */

static void put_values(struct tacho_buf *out, char side, const struct app_diff_value *v,
		       bool times)
{
	tacho_buf_printf(out, "    %c %15llu", side, (unsigned long long)v->count);
	put_rate(out, v->rate);
	if (times && v->timed) {
		const double t[] = { (double)v->p50, (double)v->p90, (double)v->p99,
				     (double)v->max };

		for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
			put_ns(out, t[i], 8);
		if (v->coarse)
			tacho_buf_puts(out, " (of a sample)");
	}
	tacho_buf_putc(out, '\n');
}

static void put_row(struct tacho_buf *out, const struct app_diff_row *r)
{
	bool times = r->value[0].timed || r->value[1].timed;

	tacho_buf_printf(out, "  %s: ", r->name);
	say_row(out, r);
	tacho_buf_putc(out, '\n');
	put_values(out, 'A', &r->value[0], times);
	put_values(out, 'B', &r->value[1], times);
}

static void put_kind(const struct app_diff *diff, enum app_diff_kind kind, uint32_t top, bool all,
		     struct tacho_buf *out)
{
	uint32_t shown = 0, more = 0;
	bool times = kind < APP_DIFF_EVENT;

	for (uint32_t i = 0; i < diff->nr; i++) {
		const struct app_diff_row *r = &diff->row[i];

		if (r->kind != kind || (!all && !r->differs))
			continue;
		if (shown == top) {
			more++;
			continue;
		}
		if (!shown++)
			tacho_buf_printf(out, "\n%-15s %9s%s\n", titles[kind], "count     per s",
					 times ? "        p50        p90        p99        max" : "");
		put_row(out, r);
	}
	if (more)
		tacho_buf_printf(out, "  ... and %u more (--top)\n", more);
}

static void put_head(const struct app_diff *diff, struct tacho_buf *out)
{
	for (int i = 0; i < 2; i++) {
		const struct app_diff_side *s = &diff->side[i];

		tacho_buf_printf(out, "%c  %s: %llu records in ", i ? 'B' : 'A', s->path,
				 (unsigned long long)s->records);
		say_ns(out, (double)(s->end - s->begin));
		tacho_buf_putc(out, '\n');
	}
	if (!diff->comparisons) {
		tacho_buf_puts(out, "Nothing can be compared: too few records.\n");
		return;
	}
	if (!diff->differing)
		tacho_buf_puts(out, "No difference is more than noise");
	else
		tacho_buf_printf(out, "%u of %u names %s by more than noise", diff->differing,
				 diff->nr, diff->differing == 1 ? "differs" : "differ");
	tacho_buf_printf(out, " (%u comparisons).\nMethod: %s.\n", diff->comparisons, METHOD);
}

void app_diff_text(const struct app_diff *diff, uint32_t top, bool all, struct tacho_buf *out)
{
	put_head(diff, out);
	if (diff->nr && diff->differing) {
		uint32_t i = 0;

		while (!diff->row[i].differs)
			i++;
		tacho_buf_printf(out, "Most: %s %s: ", app_diff_kind_name(diff->row[i].kind),
				 diff->row[i].name);
		say_row(out, &diff->row[i]);
		tacho_buf_puts(out, ".\n");
	}
	for (int k = 0; k < APP_DIFF_KINDS; k++)
		put_kind(diff, (enum app_diff_kind)k, top, all, out);
}

/* ---- JSON ---- */

static void pair_double(struct tacho_json *j, const char *name, double v)
{
	tacho_json_key(j, name);
	tacho_json_double(j, v);
}

static void json_side(struct tacho_json *j, const char *name, const struct app_diff_side *s)
{
	tacho_json_key(j, name);
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "trace", s->path);
	tacho_json_pair_u64(j, "begin", s->begin);
	tacho_json_pair_u64(j, "end", s->end);
	tacho_json_pair_u64(j, "records", s->records);
	tacho_json_pair_u64(j, "left_out", s->left_out);
	tacho_json_close(j, '}');
}

static void json_value(struct tacho_json *j, const char *name, const struct app_diff_value *v)
{
	tacho_json_key(j, name);
	tacho_json_open(j, '{');
	tacho_json_pair_u64(j, "count", v->count);
	pair_double(j, "rate", v->rate);
	tacho_json_pair_u64(j, "timed", v->timed);
	if (v->timed) {
		pair_double(j, "mean", v->mean);
		tacho_json_pair_u64(j, "p50", v->p50);
		tacho_json_pair_u64(j, "p90", v->p90);
		tacho_json_pair_u64(j, "p99", v->p99);
		tacho_json_pair_u64(j, "max", v->max);
		tacho_json_pair_bool(j, "coarse", v->coarse);
	}
	if (v->slices) {
		tacho_json_key(j, "parts");
		tacho_json_open(j, '{');
		tacho_json_pair_u64(j, "slices", v->slices);
		for (int p = 0; p < APP_DIFF_PARTS; p++)
			pair_double(j, app_diff_part_name((enum app_diff_part)p), v->part[p]);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, '}');
}

static void json_measure(struct tacho_json *j, const char *name, const struct app_diff_measure *m)
{
	if (!m->judged)
		return;
	tacho_json_key(j, name);
	tacho_json_open(j, '{');
	pair_double(j, "effect", m->effect);
	pair_double(j, "diff", m->diff);
	pair_double(j, "low", m->low);
	pair_double(j, "high", m->high);
	tacho_json_pair_bool(j, "differs", m->differs);
	tacho_json_close(j, '}');
}

static void json_row(struct tacho_json *j, const struct app_diff_row *r)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "kind", app_diff_kind_name(r->kind));
	tacho_json_pair_str(j, "name", r->name);
	tacho_json_pair_bool(j, "differs", r->differs);
	pair_double(j, "score", r->score);
	json_value(j, "a", &r->value[0]);
	json_value(j, "b", &r->value[1]);
	json_measure(j, "delta", &r->delta);
	json_measure(j, "mean", &r->mean);
	json_measure(j, "rate", &r->rate);
	tacho_json_close(j, '}');
}

void app_diff_json(const struct app_diff *diff, struct tacho_buf *out)
{
	struct tacho_json j;

	tacho_json_init(&j, out);
	tacho_json_open(&j, '{');
	json_side(&j, "a", &diff->side[0]);
	json_side(&j, "b", &diff->side[1]);
	tacho_json_pair_str(&j, "method", METHOD);
	tacho_json_pair_u64(&j, "comparisons", diff->comparisons);
	tacho_json_pair_u64(&j, "differing", diff->differing);
	tacho_json_key(&j, "rows");
	tacho_json_open(&j, '[');
	for (uint32_t i = 0; i < diff->nr; i++)
		json_row(&j, &diff->row[i]);
	tacho_json_close(&j, ']');
	tacho_json_close(&j, '}');
	tacho_buf_putc(out, '\n');
}
