// SPDX-License-Identifier: MIT
/* Items of a model as lines: text, or JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/model.h"
#include "base/json.h"

#define TEXT_MAX	((size_t)4 << 20)
#define PIECE		((size_t)64 << 10)

struct item_track {
	uint32_t parent;
	enum model_track_kind kind;
	int64_t number;
	const char *name;
};

struct item_writer {
	const struct app_model_form *form;
	struct tacho_buf text;
	struct tacho_json j;
	struct item_track *track;	/* by number; only for text */
	uint32_t nr, room;
	uint64_t from;			/* items that ended before are not written */
	struct model *model;		/* text counts times from its first record */
};

static const struct {
	unsigned int flag;
	const char *name;
} flags[] = {
	{ MODEL_BEGIN_UNKNOWN, "begin-unknown" }, { MODEL_END_UNKNOWN, "end-unknown" },
	{ MODEL_UNCERTAIN, "uncertain" }, { MODEL_IO, "io" },
	{ MODEL_PREEMPTED, "preempted" }, { MODEL_BY_IRQ, "irq" },
};

static int end_line(struct item_writer *w)
{
	if (w->form->json)
		tacho_json_close(&w->j, '}');
	tacho_buf_putc(&w->text, '\n');
	if (tacho_buf_error(&w->text))
		return tacho_buf_error(&w->text);
	return w->text.len < PIECE ? 0 : w->form->write(w->form->arg, &w->text);
}

/* ---- JSON ---- */

static void json_begin(struct item_writer *w, const char *kind, uint32_t track)
{
	tacho_json_init(&w->j, &w->text);
	tacho_json_open(&w->j, '{');
	tacho_json_pair_u64(&w->j, kind, track);
}

static void json_record(struct item_writer *w, const char *name, uint64_t record)
{
	tacho_json_key(&w->j, name);
	if (record == MODEL_NO_RECORD)
		tacho_json_null(&w->j);
	else
		tacho_json_u64(&w->j, record);
}

static void json_cpu(struct item_writer *w, const char *name, uint32_t cpu)
{
	json_record(w, name, cpu == MODEL_NO_CPU ? MODEL_NO_RECORD : cpu);
}

static void json_interval(struct item_writer *w, uint64_t begin, uint64_t end,
			  uint64_t begin_record, uint64_t end_record)
{
	tacho_json_pair_u64(&w->j, "begin", begin);
	tacho_json_pair_u64(&w->j, "end", end);
	json_record(w, "begin_record", begin_record);
	json_record(w, "end_record", end_record);
}

static void json_flags(struct item_writer *w, unsigned int set)
{
	tacho_json_key(&w->j, "flags");
	tacho_json_open(&w->j, '[');
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (set & flags[i].flag)
			tacho_json_str(&w->j, flags[i].name);
	tacho_json_close(&w->j, ']');
}

/* ---- text ---- */

static void put_track(struct item_writer *w, uint32_t id)
{
	const struct item_track *t = &w->track[id];

	if (t->parent || (id && t->kind != MODEL_CPU && t->kind != MODEL_PROCESS &&
			  t->kind != MODEL_DEVICE && t->kind != MODEL_SPAN &&
			  t->kind != MODEL_COUNTER)) {
		put_track(w, t->parent);
		tacho_buf_putc(&w->text, '/');
	}
	tacho_buf_puts(&w->text, model_track_kind_name(t->kind));
	if (t->kind == MODEL_CPU || t->kind == MODEL_PROCESS || t->kind == MODEL_THREAD)
		tacho_buf_printf(&w->text, " %lld", (long long)t->number);
	if (t->name[0]) {
		tacho_buf_putc(&w->text, ' ');
		tacho_buf_put_line(&w->text, t->name);
	}
}

static void put_seconds(struct item_writer *w, uint64_t ns)
{
	tacho_buf_printf(&w->text, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
			 (unsigned long long)(ns % 1000000000));
}

static void text_begin(struct item_writer *w, const char *kind, uint64_t begin, uint64_t end,
		       uint32_t track)
{
	tacho_buf_printf(&w->text, "%-7s ", kind);
	put_seconds(w, begin - model_stats(w->model)->first);
	tacho_buf_puts(&w->text, " +");
	put_seconds(w, end - begin);
	tacho_buf_putc(&w->text, ' ');
	put_track(w, track);
	tacho_buf_puts(&w->text, ": ");
}

static void text_flags(struct item_writer *w, unsigned int set)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (set & flags[i].flag)
			tacho_buf_printf(&w->text, " %s", flags[i].name);
}

static void text_records(struct item_writer *w, uint64_t begin, uint64_t end)
{
	tacho_buf_puts(&w->text, " #");
	if (begin != MODEL_NO_RECORD)
		tacho_buf_put_u64(&w->text, begin);
	tacho_buf_puts(&w->text, "..");
	if (end != MODEL_NO_RECORD)
		tacho_buf_put_u64(&w->text, end);
}

/* ---- items ---- */

static int keep_track(struct item_writer *w, const struct model_track *t)
{
	if (t->id >= w->room) {
		uint32_t room = w->room ? 2 * w->room : 256;
		struct item_track *bigger = reallocarray(w->track, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		w->track = bigger;
		w->room = room;
	}
	w->track[t->id] = (struct item_track){ t->parent, t->kind, t->number, t->name };
	return 0;
}

static int item_track(void *arg, const struct model_track *t)
{
	struct item_writer *w = arg;
	int err = w->form->json ? 0 : keep_track(w, t);

	if (err || !(w->form->items & APP_MODEL_TRACKS))
		return err;
	if (w->form->json) {
		json_begin(w, "track", t->id);
		tacho_json_pair_u64(&w->j, "parent", t->parent);
		tacho_json_pair_str(&w->j, "kind", model_track_kind_name(t->kind));
		tacho_json_pair_s64(&w->j, "number", t->number);
		tacho_json_pair_str(&w->j, "name", t->name);
	} else {
		tacho_buf_printf(&w->text, "%-7s ", "track");
		put_track(w, t->id);
	}
	return end_line(w);
}

static int item_slice(void *arg, const struct model_slice *s)
{
	struct item_writer *w = arg;

	if (s->end < w->from)
		return 0;
	if (w->form->json) {
		json_begin(w, "slice", s->track);
		tacho_json_pair_u64(&w->j, "depth", s->depth);
		json_interval(w, s->begin, s->end, s->begin_record, s->end_record);
		tacho_json_pair_str(&w->j, "name", s->name);
		tacho_json_pair_str(&w->j, "category", s->category);
		json_flags(w, s->flags);
	} else {
		text_begin(w, "slice", s->begin, s->end, s->track);
		tacho_buf_printf(&w->text, "%*s", (int)(2 * s->depth), "");
		tacho_buf_put_line(&w->text, s->name);
		tacho_buf_printf(&w->text, " (%s)", s->category);
		text_flags(w, s->flags);
		text_records(w, s->begin_record, s->end_record);
	}
	return end_line(w);
}

static int item_state(void *arg, const struct model_state *s)
{
	struct item_writer *w = arg;

	if (s->end < w->from)
		return 0;
	if (w->form->json) {
		json_begin(w, "state", s->track);
		json_interval(w, s->begin, s->end, s->begin_record, s->end_record);
		tacho_json_pair_str(&w->j, "name", model_state_name(s->state));
		json_cpu(w, "cpu", s->cpu);
		json_record(w, "waker", s->waker ? s->waker : MODEL_NO_RECORD);
		json_flags(w, s->flags);
	} else {
		text_begin(w, "state", s->begin, s->end, s->track);
		tacho_buf_puts(&w->text, model_state_name(s->state));
		if (s->cpu != MODEL_NO_CPU)
			tacho_buf_printf(&w->text, " on CPU %u", s->cpu);
		if (s->waker) {
			tacho_buf_puts(&w->text, " by ");
			put_track(w, s->waker);
		}
		text_flags(w, s->flags);
		text_records(w, s->begin_record, s->end_record);
	}
	return end_line(w);
}

static int item_counter(void *arg, const struct model_counter *c)
{
	struct item_writer *w = arg;

	if (c->time < w->from)
		return 0;
	if (w->form->json) {
		json_begin(w, "counter", c->track);
		tacho_json_pair_u64(&w->j, "time", c->time);
		json_record(w, "record", c->record);
		tacho_json_key(&w->j, "value");
		tacho_json_double(&w->j, c->value);
	} else {
		text_begin(w, "counter", c->time, c->time, c->track);
		tacho_buf_printf(&w->text, "%.17g", c->value);
	}
	return end_line(w);
}

static int item_flow(void *arg, const struct model_flow *f)
{
	struct item_writer *w = arg;

	if (f->to_time < w->from)
		return 0;
	if (w->form->json) {
		tacho_json_init(&w->j, &w->text);
		tacho_json_open(&w->j, '{');
		tacho_json_pair_str(&w->j, "flow", f->kind);
		tacho_json_pair_u64(&w->j, "from", f->from);
		tacho_json_pair_u64(&w->j, "from_time", f->from_time);
		json_record(w, "from_record", f->from_record);
		tacho_json_pair_u64(&w->j, "to", f->to);
		tacho_json_pair_u64(&w->j, "to_time", f->to_time);
		json_record(w, "to_record", f->to_record);
	} else {
		text_begin(w, "flow", f->from_time, f->to_time, f->from);
		tacho_buf_printf(&w->text, "%s -> ", f->kind);
		put_track(w, f->to);
		text_records(w, f->from_record, f->to_record);
	}
	return end_line(w);
}

static int item_loss(void *arg, const struct model_loss *l)
{
	const char *source = l->source == TACHO_STREAM_KERNEL ? "kernel" : "program";
	struct item_writer *w = arg;

	if (l->end < w->from)
		return 0;
	if (w->form->json) {
		tacho_json_init(&w->j, &w->text);
		tacho_json_open(&w->j, '{');
		json_cpu(w, "loss", l->cpu);
		tacho_json_pair_str(&w->j, "source", source);
		tacho_json_pair_u64(&w->j, "begin", l->begin);
		tacho_json_pair_u64(&w->j, "end", l->end);
		tacho_json_pair_u64(&w->j, "count", l->count);
		json_record(w, "record", l->record);
	} else {
		tacho_buf_printf(&w->text, "%-7s ", "loss");
		put_seconds(w, l->begin - model_stats(w->model)->first);
		tacho_buf_puts(&w->text, " +");
		put_seconds(w, l->end - l->begin);
		if (l->cpu != MODEL_NO_CPU)
			tacho_buf_printf(&w->text, " cpu %u", l->cpu);
		tacho_buf_printf(&w->text, ": %llu records of the %s",
				 (unsigned long long)l->count, source);
	}
	return end_line(w);
}

static int item_instant(void *arg, const struct model_instant *i)
{
	struct item_writer *w = arg;

	if (i->time < w->from)
		return 0;
	if (w->form->json) {
		json_begin(w, "instant", i->track);
		tacho_json_pair_u64(&w->j, "time", i->time);
		json_record(w, "record", i->record);
		tacho_json_pair_str(&w->j, "name", i->name);
		tacho_json_pair_str(&w->j, "category", i->category);
	} else {
		text_begin(w, "instant", i->time, i->time, i->track);
		tacho_buf_put_line(&w->text, i->name);
		tacho_buf_printf(&w->text, " (%s)", i->category);
		text_records(w, i->record, i->record);
	}
	return end_line(w);
}

int app_model_items(struct tacho_stream *stream, const struct model_rules *rules,
		    struct app_model_range *range, const struct app_model_form *form,
		    const struct tacho_observer *observer, struct tacho_diag *d)
{
	const struct model_ops ops = {
		.track = item_track,
		.slice = form->items & APP_MODEL_SLICES ? item_slice : NULL,
		.state = form->items & APP_MODEL_STATES ? item_state : NULL,
		.counter = form->items & APP_MODEL_COUNTERS ? item_counter : NULL,
		.flow = form->items & APP_MODEL_FLOWS ? item_flow : NULL,
		.loss = form->items & APP_MODEL_LOSSES ? item_loss : NULL,
		.instant = form->items & APP_MODEL_INSTANTS ? item_instant : NULL,
	};
	struct item_writer w = { .form = form, .from = range ? range->from : 0 };
	struct model_config config = { stream, rules, &ops, &w };
	int err;

	tacho_buf_init(&w.text, TEXT_MAX);
	err = app_model_begin(&w.model, &config, range, d);
	if (!err)
		err = app_model_read(stream, w.model, range, observer, d);
	if (!err && w.text.len)
		err = form->write(form->arg, &w.text);
	else if (err == -ENOMEM)
		err = tacho_no_memory(d);
	if (!err)
		app_model_note_unused(rules, stream, observer);
	model_free(w.model);
	tacho_buf_release(&w.text);
	free(w.track);
	return err;
}
