// SPDX-License-Identifier: MIT
/* The model as a whole: memory, tracks, and handing out. */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_priv.h"
#include "stream/stream.h"

#define ARENA_MAX	((size_t)64 << 20)

static const char *const track_kinds[MODEL_NR_TRACK_KINDS] = {
	"machine", "cpu", "running", "irq", "softirq", "process", "thread", "state", "calls",
	"device", "span", "counter",
};

static const char *const states[MODEL_NR_STATES] = {
	"unknown", "running", "runnable", "sleeping", "uninterruptible", "stopped", "traced",
	"parked", "idle", "dead",
	"send", "receive", "reply", "stack", "mq_send", "waitthread", "mq_receive", "waitpage",
	"sigsuspend", "sigwaitinfo", "nanosleep", "mutex", "condvar", "join", "intr", "sem",
	"waitctx", "net_send", "rwlock_read", "net_reply", "rwlock_write", "barrier", "pipe",
	"muon_mutex", "tracebuffer", "intr_attach_ev", "timer_delegate", "send_notify",
};

const char *model_state_name(enum model_thread_state state)
{
	return (unsigned int)state < MODEL_NR_STATES ? states[state] : "unknown";
}

const char *model_track_kind_name(enum model_track_kind kind)
{
	return (unsigned int)kind < MODEL_NR_TRACK_KINDS ? track_kinds[kind] : "unknown";
}

/* ---- memory ---- */

int model_fail(struct model *m, int err)
{
	if (!m->err)
		m->err = err;
	return m->err;
}

bool model_grow(struct model *m, void *array, uint32_t nr, uint32_t *room, size_t size)
{
	void **p = array;
	uint32_t want;
	void *bigger;

	if (nr < *room)
		return true;
	want = *room ? *room * 2 : 64;
	bigger = want > *room ? reallocarray(*p, want, size) : NULL;
	if (!bigger) {
		(void)model_fail(m, -ENOMEM);
		return false;
	}
	*p = bigger;
	*room = want;
	return true;
}

uint32_t model_open_new(struct model *m)
{
	uint32_t i = m->free_open;

	if (i) {
		m->free_open = m->open[i].next;
	} else {
		if (!model_grow(m, &m->open, m->nr_open, &m->room_open, sizeof(*m->open)))
			return 0;
		if (!m->nr_open)
			m->open[m->nr_open++] = (struct model_open){ 0 };
		i = m->nr_open++;
	}
	m->open[i] = (struct model_open){ 0 };
	return i;
}

void model_open_free(struct model *m, uint32_t i)
{
	m->open[i] = (struct model_open){ .next = m->free_open };
	m->free_open = i;
}

/* ---- handing out ---- */

static void took(struct model *m, int err)
{
	if (err < 0)
		(void)model_fail(m, err);
}

void model_name_track(struct model *m, uint32_t id, uint32_t parent, enum model_track_kind kind,
		      int64_t number, const char *name)
{
	struct model_track t = { id, parent, kind, number, name };

	if (m->ops->track && !m->err)
		took(m, m->ops->track(m->arg, &t));
}

uint32_t model_new_track(struct model *m, uint32_t parent, enum model_track_kind kind,
			 int64_t number, const char *name)
{
	uint32_t id = m->nr_tracks;

	if (id == UINT32_MAX) {
		(void)model_fail(m, -EOVERFLOW);
		return 0;
	}
	m->nr_tracks++;
	model_name_track(m, id, parent, kind, number, name);
	return m->err ? 0 : id;
}

void model_put_slice(struct model *m, const struct model_slice *s)
{
	if (m->ops->slice && !m->err)
		took(m, m->ops->slice(m->arg, s));
}

void model_put_state(struct model *m, const struct model_state *s)
{
	if (m->ops->state && !m->err)
		took(m, m->ops->state(m->arg, s));
}

void model_put_counter(struct model *m, uint32_t track, double value)
{
	struct model_counter c = { track, m->time, m->record, value };

	if (m->ops->counter && !m->err)
		took(m, m->ops->counter(m->arg, &c));
}

void model_put_flow(struct model *m, const char *kind, const struct model_place *from,
		    const struct model_place *to)
{
	struct model_flow f = {
		.kind = kind, .from = from->track, .to = to->track,
		.from_time = from->time, .to_time = to->time,
		.from_record = from->record, .to_record = to->record,
	};

	if (m->ops->flow && !m->err && from->track && to->track)
		took(m, m->ops->flow(m->arg, &f));
}

/* ---- life ---- */

/* What kind of trace it is, by its types: are there switches, are states events of their own. */
static void look_at_types(struct model *m)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(m->stream, i)); i++)
		for (const struct model_row *row = m->rules->row; row; row = row->next) {
			if (row->verb != MODEL_SET_STATE && row->verb != MODEL_SWITCH)
				continue;
			if (!model_event_match(row->event, type->system, type->name, NULL, NULL))
				continue;
			if (row->verb == MODEL_SWITCH)
				m->has_switches = true;
			else if (tacho_type_field(type, "pid") && tacho_type_field(type, "tid"))
				m->is_qnx = m->has_switches = true;
		}
}

int model_make(struct model **out, const struct model_config *config, struct tacho_diag *d)
{
	struct model *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return tacho_no_memory(d);
	m->stream = config->stream;
	m->rules = config->rules;
	m->ops = config->ops;
	m->arg = config->arg;
	tacho_arena_init(&m->arena, ARENA_MAX);
	tacho_arena_init(&m->names.arena, ARENA_MAX);
	look_at_types(m);
	if (m->is_qnx)
		m->qnx_cpus = tacho_stream_cpus(m->stream);
	/* a type that could not be loaded may be the one that says what kind of trace it is */
	if (tacho_stream_check(m->stream)) {
		err = tacho_diag(d, tacho_stream_error(m->stream)->err, 0, "%s",
				 tacho_stream_error(m->stream)->text);
		model_free(m);
		return err;
	}
	*out = m;
	return 0;
}

int model_new(struct model **out, const struct model_config *config, struct tacho_diag *d)
{
	int err = model_make(out, config, d);

	if (err)
		return err;
	(void)model_new_track(*out, 0, MODEL_MACHINE, 0, "");
	err = (*out)->err;
	if (err) {
		model_free(*out);
		*out = NULL;
	}
	return err;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		free(m->cpu[i]);
	for (uint32_t i = 0; i < m->nr_lanes; i++)
		free(m->lanes[i].busy);
	free(m->cpu);
	free(m->lanes);
	free(m->thread);
	free(m->process);
	free(m->open);
	free(m->sent);
	free(m->counter);
	free(m->thread_by_key.slot);
	free(m->process_by_id.slot);
	free(m->lanes_by_key.slot);
	free(m->open_by_key.slot);
	free(m->counter_by_key.slot);
	free(m->sent_by_key.slot);
	tacho_hashmap_release(&m->plans);
	model_names_release(m);
	tacho_arena_release(&m->arena);
	free(m);
}

const struct model_stats *model_stats(const struct model *m)
{
	return &m->stats;
}

uint32_t model_nr_tracks(const struct model *m)
{
	return m->nr_tracks;
}

void model_until(struct model *m, uint64_t time)
{
	if (m->stats.records && time > m->stats.last)
		m->stats.last = time;
}

int model_finish(struct model *m)
{
	if (m->err)
		return m->err;
	m->time = m->stats.last;
	m->record = MODEL_NO_RECORD;
	m->here = NULL;
	model_cpus_finish(m);
	model_threads_finish(m);
	model_overlaps_finish(m);
	return m->err;
}
