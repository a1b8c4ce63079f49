// SPDX-License-Identifier: MIT
/* Making the index of a trace, and beginning a model in the middle of it. */
#include "app/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/ahead.h"
#include "app/index_pipe.h"
#include "app/index_priv.h"
#include "base/crc32c.h"

#define STEP		1024u
#define RULES_MAX	((size_t)16 << 20)

/* ---- who the trace is ---- */

struct owner {
	const char *trace;
	struct app_index_files files;
	struct index_identity identity;
	/* of each file: its size when the index was made, if it has grown; else UINT64_MAX */
	uint64_t *was;
	bool grown;
};

/* The index asks how a file was that has grown since. */
static int hash_at(void *arg, uint32_t file, uint64_t size, uint32_t *hash)
{
	struct owner *o = arg;

	o->was[file] = size;
	o->grown = true;
	return app_index_hash(o->trace, &o->files.list[file], size, hash);
}

static void owner_release(struct owner *o)
{
	app_index_files_release(&o->files);
	free(o->was);
}

static int owner_find(struct owner *o, const char *trace, const struct model_rules *rules,
		      struct tacho_diag *d)
{
	struct tacho_buf text;
	int err = app_index_files(&o->files, trace, d);

	if (err)
		return err;
	tacho_buf_init(&text, RULES_MAX);
	model_rules_text(rules, &text);
	o->trace = trace;
	o->identity = (struct index_identity){ .file = o->files.list, .nr_files = o->files.nr,
		.rules = tacho_crc32c(0, text.data, text.len), .hash_at = hash_at, .arg = o };
	o->was = malloc((o->files.nr + 1) * sizeof(*o->was));
	for (uint32_t i = 0; o->was && i < o->files.nr; i++)
		o->was[i] = UINT64_MAX;
	err = tacho_buf_error(&text) || !o->was ? tacho_no_memory(d) : 0;
	tacho_buf_release(&text);
	if (err)
		owner_release(o);
	return err;
}

/* ---- making ---- */

struct making {
	struct tacho_stream *stream;
	const struct tacho_observer *observer;
	struct index_builder *builder;
	struct app_index_pipe *pipe;	/* NULL: one thread does all */
	struct model *model;
	struct tacho_stream_info info;
	uint64_t records;	/* the number of the next one */
	uint64_t latest;	/* time of the last record */
};

/* Bytes of the trace up to a place: each record has the same share. */
static uint64_t trace_bytes(void *arg, const struct index_place *place)
{
	const struct tacho_stream_info *info = arg;
	uint64_t span = info->end - info->begin;
	double part;

	if (info->events)
		part = (double)place->record / (double)info->events;
	else
		part = span ? (double)(place->time - info->begin) / (double)span : 1;
	return part < 1 ? (uint64_t)(part * (double)info->bytes) : info->bytes;
}

/* ---- going on ---- */

struct growth {
	const struct owner *owner;
	struct tacho_source *source;
	uint64_t time;		/* of the last record that is in the index */
};

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* -EAGAIN: a packet that was not there then begins too early. */
static int check_packet(void *arg, const struct tacho_packet_info *packet)
{
	const struct growth *g = arg;
	const struct owner *o = g->owner;

	if (tacho_clock_ns(&g->source->clock, packet->head.timestamp_begin) > g->time)
		return 0;
	for (uint32_t i = 0; i < o->files.nr; i++)
		if (packet->offset >= o->was[i] &&
		    !strcmp(last_part(o->files.list[i].name), packet->part))
			return -EAGAIN;
	return 0;
}

/*
 * Whether all that was added to a trace is later than what is in its index: a CPU may deliver
 * late.  A format without packets does not say.
 */
static bool grew_at_the_end(const struct making *m, const struct owner *o,
			    const struct index_place *place)
{
	struct growth g = { .owner = o, .time = place->time };

	if (!o->grown)
		return true;
	for (uint32_t i = 0; (g.source = tacho_stream_source(m->stream, i)); i++)
		if (!g.source->ops->packets || g.source->ops->packets(g.source, check_packet, &g))
			return false;
	return true;
}

/* Places the stream where the last builder stopped. */
static int go_on_at(struct making *m, const struct index_place *place, struct tacho_diag *d)
{
	struct tacho_record r;
	int err = tacho_stream_seek(m->stream, place->time);

	if (err)
		return app_stream_failed(m->stream, err, d);
	for (uint64_t i = 0; i < place->skip; i++)
		if (tacho_stream_next(m->stream, &r) == TACHO_STREAM_ERROR)
			return app_stream_failed(m->stream, -EIO, d);
	m->records = place->record;
	m->latest = place->skip ? place->time : place->time - 1;
	return 0;
}

/* A model that hands its items to the builder: from the beginning, or from where it was. */
static int model_begin(struct making *m, const struct model_rules *rules,
		       const struct tacho_buf *state, const struct index_place *place,
		       struct tacho_diag *d)
{
	struct model_config config = { m->stream, rules, &index_build_ops, m->builder };
	int err;

	if (tacho_stream_threads(m->stream) > 1 &&
	    (!m->info.events || m->info.events >= APP_AHEAD_MIN))
		m->pipe = app_index_pipe_new(m->builder);
	if (m->pipe) {
		config.ops = &app_index_pipe_ops;
		config.arg = m->pipe;
	}
	if (!state->len)
		return model_new(&m->model, &config, d);
	err = model_restore(&m->model, &config, state->data, state->len, d);
	return err ? err : go_on_at(m, place, d);
}

/* One record.  Between two of different times the builder may take a checkpoint. */
static int take(struct making *m, const struct tacho_record *r, struct tacho_diag *d)
{
	const struct index_place place = { .time = r->time, .record = m->records };
	int err = 0;

	if (r->time < m->latest)
		return tacho_diag(d, -ENOTSUP, 0, "record %" PRIu64 " is earlier than the one "
				  "before it: a trace whose records are not in order of time "
				  "can have no index", m->records);
	if (r->time > m->latest || !m->records)
		err = m->pipe ? app_index_pipe_tick(m->pipe, m->model, &place) :
				index_build_tick(m->builder, m->model, &place);
	m->latest = r->time;
	m->records++;
	return err ? err : model_record(m->model, r);
}

static int read_all(struct making *m, struct tacho_diag *d)
{
	struct tacho_record r;
	int status, err;

	while ((status = tacho_stream_next(m->stream, &r)) == TACHO_STREAM_RECORD) {
		err = take(m, &r, d);
		if (err)
			return err;
		if (m->records % STEP)
			continue;
		tacho_observer_progress(m->observer, m->records, m->info.events);
		if (tacho_observer_cancelled(m->observer))
			return -ECANCELED;
	}
	return status == TACHO_STREAM_ERROR ? app_stream_failed(m->stream, -EIO, d) : 0;
}

static int read_and_commit(struct making *m, const struct owner *o, struct tacho_diag *d)
{
	struct tacho_diag late = { 0 };
	int err = read_all(m, d), committed = m->pipe ? app_index_pipe_end(m->pipe) : 0;

	if (committed)
		err = committed;
	if (!err)
		err = index_build_finish(m->builder, m->model);
	if (err && err != -ECANCELED) {
		(void)index_build_error(m->builder, d);
		return err;
	}
	committed = index_build_commit(m->builder, m->model, &o->identity, err ? &late : d);
	return err ? err : committed;
}

static int forget(const char *path, struct tacho_diag *d)
{
	if (!unlink(path) || errno == ENOENT)
		return 0;
	return tacho_diag(d, -errno, 0, "cannot remove %s: %s", path, strerror(errno));
}

/* A builder, and what it goes on with: an empty state if it begins. */
static int builder_new(struct making *m, const struct owner *o, const char *path,
		       struct tacho_buf *state, struct index_place *place, struct tacho_diag *d)
{
	const struct index_config config = { .path = path, .trace_bytes = trace_bytes,
					     .arg = &m->info, .save = model_save };
	struct tacho_diag stale = { 0 };
	int err = index_build_new(&m->builder, &config, &o->identity, state, place, &stale);

	if (err == -ESTALE)
		tacho_observer_note(m->observer, "%s; it is made again", stale.text);
	else if (err)
		return tacho_diag(d, err, 0, "%s", stale.text);
	else if (!state->len || grew_at_the_end(m, o, place))
		return 0;
	index_build_free(m->builder);
	m->builder = NULL;
	tacho_buf_reset(state);
	err = forget(path, d);
	return err ? err : index_build_new(&m->builder, &config, &o->identity, state, place, d);
}

static int make(struct making *m, const struct owner *o, const struct model_rules *rules,
		const char *path, struct tacho_diag *d)
{
	struct index_place place = { 0 };
	struct tacho_buf state;
	int err;

	tacho_buf_init(&state, SIZE_MAX / 2);
	err = builder_new(m, o, path, &state, &place, d);
	if (!err)
		err = model_begin(m, rules, &state, &place, d);
	tacho_buf_release(&state);
	return err ? err : read_and_commit(m, o, d);
}

/* Whether there is an index that fits, of all of the trace: 1; or -ENOMEM. */
static int is_complete(const char *trace, const struct model_rules *rules, struct tacho_buf *path)
{
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct index *index;
	int err = app_index_open(&index, trace, rules, path, &d);

	if (err)
		return err == -ENOMEM ? err : 0;
	index_info(index, &info);
	index_close(index);
	return info.finished;
}

int app_index_make(struct app_trace *t, const struct model_rules *rules, bool again,
		   const struct tacho_observer *observer, struct tacho_buf *path,
		   struct tacho_diag *d)
{
	struct making m = { .stream = t->stream, .observer = observer };
	struct owner o = { .trace = t->path };
	int err = again ? 0 : is_complete(t->path, rules, path);

	if (err)
		return err == -ENOMEM ? tacho_no_memory(d) : 0;
	err = tacho_stream_seek(t->stream, 0);
	if (err == -ESPIPE)
		return tacho_diag(d, -ENOTSUP, 0, "%s cannot be read from its middle, so an index "
				  "of it is of no use", t->path);
	if (!err)
		err = tacho_stream_get_info(t->stream, &m.info);
	if (err)
		return app_stream_failed(t->stream, err, d);
	err = owner_find(&o, t->path, rules, d);
	if (err)
		return err;
	err = app_index_for_writing(t->path, path, d);
	if (!err && again)
		err = forget(path->data, d);
	if (!err)
		err = make(&m, &o, rules, path->data, d);
	app_index_pipe_free(m.pipe);
	model_free(m.model);
	index_build_free(m.builder);
	owner_release(&o);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

/* ---- asking ---- */

static int has_none(const char *trace, struct tacho_diag *d)
{
	if (!strncmp(trace, "session:", 8))
		return tacho_diag(d, -ENOENT, 0, "a session has no index: record it first");
	return tacho_diag(d, -ENOENT, 0, "%s has no index; make one with 'tacho index %s'", trace,
			  trace);
}

int app_index_open(struct index **index, const char *path, const struct model_rules *rules,
		   struct tacho_buf *where, struct tacho_diag *d)
{
	struct owner o = { .trace = path };
	int err = app_index_beside(path, where);

	if (!err && access(where->data, F_OK))
		err = app_index_cached(path, where);
	if (err)
		return err == -ENOMEM ? tacho_no_memory(d) : has_none(path, d);
	if (access(where->data, F_OK))
		return has_none(path, d);
	err = owner_find(&o, path, rules, d);
	if (err)
		return err;
	err = index_open(index, where->data, &o.identity, d);
	owner_release(&o);
	return err;
}

int app_index_remove(const char *path, struct tacho_buf *where, struct tacho_diag *d)
{
	bool removed = false;

	for (int i = 0; i < 2; i++) {
		int err = i ? app_index_cached(path, where) : app_index_beside(path, where);

		if (err == -ENOMEM)
			return tacho_no_memory(d);
		if (err)
			continue;
		if (!unlink(where->data))
			removed = true;
		else if (errno != ENOENT)
			return tacho_diag(d, -errno, 0, "cannot remove %s: %s", where->data,
					  strerror(errno));
	}
	return removed ? 0 : tacho_diag(d, -ENOENT, 0, "%s has no index", path);
}

/* ---- a model from its middle ---- */

/* Tracks that the model does not hand out again: from the index, with names as of now. */
static int tell_tracks(struct index *index, struct model *model, const struct model_config *config,
		       struct tacho_diag *d)
{
	struct model_track track;
	struct index_info info;
	int err = 0;

	index_info(index, &info);
	if (info.nr_tracks < model_nr_tracks(model))
		return tacho_diag(d, -EBADMSG, 0, "the index is damaged; make it again with "
				  "'tacho index --again'");
	for (uint32_t id = 0; !err && config->ops->track && id < model_nr_tracks(model); id++) {
		err = index_track(index, id, &track);
		if (!err)
			err = config->ops->track(config->arg, &track);
	}
	return err ? err : model_tell_tracks(model);
}

/* From a checkpoint: its state, and what it leaves to the index. */
static int restore(struct model **model, const struct model_config *config, struct index *index,
		   const struct tacho_buf *state, struct tacho_diag *d)
{
	int err = model_restore(model, config, state->data, state->len, d);

	if (err)
		return err;
	err = tell_tracks(index, *model, config, d);
	if (err) {
		model_free(*model);
		*model = NULL;
	}
	return err;
}

int app_index_model(struct model **model, const struct model_config *config, struct index *index,
		    uint64_t time, uint64_t *first, struct tacho_diag *d)
{
	struct index_place place = { 0 };
	struct tacho_buf state;
	int err;

	*model = NULL;
	tacho_buf_init(&state, SIZE_MAX / 2);
	err = index_seek(index, time, &place, &state, d);
	if (!err) {
		err = restore(model, config, index, &state, d);
	} else if (err == -ENOENT) {
		place = (struct index_place){ .record = 0 };
		err = model_new(model, config, d);
	}
	*first = place.record;
	tacho_buf_release(&state);
	if (!err && tacho_stream_seek(config->stream, place.time)) {
		err = app_stream_failed(config->stream, -EIO, d);
		model_free(*model);
		*model = NULL;
	}
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}
