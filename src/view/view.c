// SPDX-License-Identifier: MIT
/* The routes of the server, and what it knows of the trace without reading it. */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/find.h"
#include "base/json.h"
#include "base/scan.h"
#include "view/density.h"
#include "view/http.h"
#include "view/indexing.h"
#include "view/page.h"
#include "view/tile.h"

struct view {
	struct view_config config;
	struct view_http *http;
	struct app_trace trace;
	struct tacho_stream_info info;
	struct view_indexing *indexing;
};

#define TRACKS_MAX	10000u

/* ---- JSON ---- */

/* A time is a string: JavaScript's numbers are too short. */
static void put_time(struct tacho_json *j, const char *name, uint64_t time)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, time);
	tacho_json_pair_str(j, name, text);
}

static void put_env(struct tacho_json *j, const struct view *v, const char *name, const char *env)
{
	const char *value = tacho_stream_env(v->trace.stream, env);

	if (value)
		tacho_json_pair_str(j, name, value);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- routes ---- */

static void put_index(struct view *v, struct tacho_json *j)
{
	static const char *const states[] = { "building", "ready", "failed" };
	struct view_indexing_info info;
	struct index_info known = { .stats = { .records = 0 } };
	uint32_t generation;
	struct index *index = view_indexing_index(v->indexing, &generation);

	view_indexing_info(v->indexing, &info);
	if (index)
		index_info(index, &known);
	tacho_json_key(j, "index");
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "state", states[info.state]);
	if (info.error)
		tacho_json_pair_str(j, "error", info.error);
	tacho_json_key(j, "part");
	tacho_json_double(j, info.part);
	tacho_json_pair_u64(j, "generation", generation);
	put_time(j, "until", known.stats.last);
	tacho_json_pair_u64(j, "tracks", known.nr_tracks);
	tacho_json_pair_u64(j, "items", known.items);
	tacho_json_close(j, '}');
}

static void get_trace(struct view *v, struct view_request *r)
{
	struct tacho_json j;

	tacho_json_init(&j, view_out(r));
	tacho_json_open(&j, '{');
	tacho_json_pair_u64(&j, "version", 1);
	tacho_json_pair_str(&j, "name", last_name(v->config.trace));
	tacho_json_pair_str(&j, "format", v->info.format);
	put_env(&j, v, "host", "hostname");
	put_env(&j, v, "command", "command");
	put_env(&j, v, "release", "release");
	put_time(&j, "begin", v->info.begin);
	put_time(&j, "end", v->info.end);
	put_time(&j, "base", v->info.begin);
	tacho_json_pair_u64(&j, "events", v->info.events);
	tacho_json_pair_u64(&j, "lost", v->info.discarded);
	tacho_json_pair_u64(&j, "cpus", tacho_stream_cpus(v->trace.stream));
	put_index(v, &j);
	tacho_json_close(&j, '}');
}

static void put_density(struct tacho_json *j, const struct view_density *d)
{
	tacho_json_open(j, '{');
	put_time(j, "from", d->from);
	tacho_json_pair_u64(j, "width", d->width);
	tacho_json_key(j, "cpus");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < d->nr_cpus; i++) {
		tacho_json_open(j, '{');
		if (d->cpu[i].cpu != UINT32_MAX)
			tacho_json_pair_u64(j, "cpu", d->cpu[i].cpu);
		tacho_json_key(j, "events");
		tacho_json_open(j, '[');
		for (uint32_t k = 0; k < d->nr_buckets; k++)
			tacho_json_u64(j, (uint64_t)(d->cpu[i].events[k] + 0.5));
		tacho_json_close(j, ']');
		tacho_json_key(j, "lost");
		tacho_json_open(j, '[');
		for (uint32_t k = 0; k < d->nr_buckets; k++)
			tacho_json_u64(j, d->cpu[i].lost[k]);
		tacho_json_close(j, ']');
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
	tacho_json_close(j, '}');
}

static void get_density(struct view *v, struct view_request *r)
{
	struct view_density density;
	struct tacho_diag d = { 0 };
	struct tacho_json j;
	uint64_t n = 1024;

	if ((view_word(r, "buckets") && !view_number(r, "buckets", &n)) || !n ||
	    n > VIEW_DENSITY_MAX) {
		view_error(r, 400, UINT64_MAX, "buckets: a number from 1 to %u", VIEW_DENSITY_MAX);
		return;
	}
	if (view_density_make(&density, v->trace.stream, v->info.begin, v->info.end, (uint32_t)n,
			      &d)) {
		view_error(r, 500, UINT64_MAX, "%s", d.text);
		return;
	}
	tacho_json_init(&j, view_out(r));
	put_density(&j, &density);
	view_density_release(&density);
}

/* ---- tracks and tiles ---- */

/* NULL: there is none yet, and the answer says so. */
static struct index *index_of(struct view *v, struct view_request *r)
{
	uint32_t generation;
	struct index *index = view_indexing_index(v->indexing, &generation);

	if (!index)
		view_error(r, 409, UINT64_MAX, "there is no index yet");
	return index;
}

static int put_track(struct index *index, uint32_t id, struct tacho_json *j)
{
	struct model_track t;
	int err = index_track(index, id, &t);

	if (err)
		return err;
	tacho_json_open(j, '{');
	tacho_json_pair_u64(j, "id", id);
	tacho_json_pair_u64(j, "parent", t.parent);
	tacho_json_pair_str(j, "kind", model_track_kind_name(t.kind));
	tacho_json_pair_s64(j, "number", t.number);
	tacho_json_pair_str(j, "name", t.name);
	tacho_json_close(j, '}');
	return 0;
}

static void get_tracks(struct view *v, struct view_request *r)
{
	struct index *index = index_of(v, r);
	uint64_t first = 0, limit = TRACKS_MAX;
	struct index_info info;
	struct tacho_json j;
	int err = 0;

	if (!index)
		return;
	if ((view_word(r, "first") && !view_number(r, "first", &first)) ||
	    (view_word(r, "limit") && !view_number(r, "limit", &limit)) || limit > TRACKS_MAX) {
		view_error(r, 400, UINT64_MAX, "first and limit: numbers, limit at most %u",
			   TRACKS_MAX);
		return;
	}
	index_info(index, &info);
	tacho_json_init(&j, view_out(r));
	tacho_json_open(&j, '{');
	tacho_json_key(&j, "tracks");
	tacho_json_open(&j, '[');
	for (uint64_t i = first; !err && i < info.nr_tracks && i - first < limit; i++)
		err = put_track(index, (uint32_t)i, &j);
	tacho_json_close(&j, ']');
	tacho_json_pair_bool(&j, "more", first + limit < info.nr_tracks);
	tacho_json_close(&j, '}');
	if (err)
		view_error(r, 500, UINT64_MAX, "cannot read the index: %s", strerror(-err));
}

/* The tiles of "rows=7,9,12".  0, or a negative errno with d. */
static int put_tiles(struct view_tiles *t, const char *rows, uint32_t k, uint64_t i,
		     struct tacho_diag *d)
{
	int err = 0;

	for (unsigned int n = 0; !err && *rows; n++) {
		size_t len = strcspn(rows, ",");
		uint64_t track;

		if (n == VIEW_TILES_MAX)
			return tacho_diag(d, -EINVAL, 0, "at most %u rows", VIEW_TILES_MAX);
		if (!tacho_scan_whole(rows, len, 10, &track) || track > UINT32_MAX)
			return tacho_diag(d, -EINVAL, 0, "rows: numbers of tracks, with commas");
		err = view_tiles_add(t, (uint32_t)track, k, i, d);
		rows += len + (rows[len] == ',');
	}
	return err;
}

static void get_tiles(struct view *v, struct view_request *r)
{
	struct index *index = index_of(v, r);
	const char *rows = view_word(r, "rows");
	struct tacho_diag d = { 0 };
	struct index_info info;
	struct view_tiles t;
	uint64_t k, i;
	int err;

	if (!index)
		return;
	if (!rows || !view_number(r, "k", &k) || k > VIEW_TILE_LEVEL_MAX ||
	    !view_number(r, "i", &i)) {
		view_error(r, 400, UINT64_MAX, "give k, i and rows");
		return;
	}
	index_info(index, &info);
	err = view_tiles_begin(&t, index, v->info.begin,
			       info.finished ? UINT64_MAX : info.stats.last, view_out(r));
	if (!err)
		err = put_tiles(&t, rows, (uint32_t)k, i, &d);
	if (!err)
		err = view_tiles_end(&t);
	view_tiles_release(&t);
	view_type(r, "application/octet-stream");
	if (err)
		view_error(r, err == -EINVAL ? 400 : 500, UINT64_MAX, "%s",
			   d.text[0] ? d.text : strerror(-err));
}

static void get_file(struct view_request *r)
{
	struct view_file file;

	if (!view_page_file(view_path(r), &file)) {
		view_error(r, 404, UINT64_MAX, "there is nothing here");
		return;
	}
	view_type(r, file.type);
	view_packed(r);
	view_static(r, file.bytes, file.len);
}

static const struct {
	const char *path;
	bool post;
	void (*answer)(struct view *v, struct view_request *r);
} routes[] = {
	{ "api/trace", false, get_trace },
	{ "api/density", false, get_density },
	{ "api/tracks", false, get_tracks },
	{ "api/tiles", false, get_tiles },
};

static void on_request(void *arg, struct view_request *r)
{
	const char *path = view_path(r);

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(path, routes[i].path))
			continue;
		if (routes[i].post == view_is_post(r))
			routes[i].answer(arg, r);
		else
			view_error(r, 405, UINT64_MAX, routes[i].post ? "send POST" : "send GET");
		return;
	}
	get_file(r);
}

/* ---- its life ---- */

int view_open(struct view **view, const struct view_config *config, struct tacho_diag *d)
{
	struct view *v = calloc(1, sizeof(*v));
	const struct view_http_config http = { .listen = config->listen, .cert = config->cert,
		.key = config->key, .handler = on_request, .arg = v };
	int err;

	if (!v)
		return tacho_no_memory(d);
	v->config = *config;
	err = app_trace_open(&v->trace, config->trace, config->flags, d);
	if (!err) {
		err = tacho_stream_get_info(v->trace.stream, &v->info);
		if (err)
			err = app_stream_failed(v->trace.stream, err, d);
	}
	if (!err)
		err = view_http_new(&v->http, &http, d);
	if (!err)
		err = view_indexing_start(&v->indexing, config->trace, config->rules,
					  config->flags, d);
	if (err) {
		view_close(v);
		return err;
	}
	*view = v;
	return 0;
}

const char *view_address(const struct view *v)
{
	return view_http_address(v->http);
}

int view_start(struct view *v, struct tacho_diag *d)
{
	return view_http_start(v->http, d);
}

void view_close(struct view *v)
{
	if (!v)
		return;
	view_http_free(v->http);
	view_indexing_stop(v->indexing);
	app_trace_close(&v->trace);
	free(v);
}

bool view_has_page(void)
{
	struct view_file file;

	return view_page_file("", &file);
}
