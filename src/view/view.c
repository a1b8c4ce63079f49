// SPDX-License-Identifier: MIT
/* The routes of the server, and what it knows of the trace without reading it. */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/find.h"
#include "base/json.h"
#include "view/density.h"
#include "view/http.h"
#include "view/page.h"

struct view {
	struct view_config config;
	struct view_http *http;
	struct app_trace trace;
	struct tacho_stream_info info;
};

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
	app_trace_close(&v->trace);
	free(v);
}

bool view_has_page(void)
{
	struct view_file file;

	return view_page_file("", &file);
}
