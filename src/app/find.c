// SPDX-License-Identifier: MIT
#include "app/find.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "fmt/ltt/read.h"
#include "stream/parallel.h"
#include "sys/cpu.h"

static bool is_trace_name(const char *name)
{
	return !strcmp(name, "tacho-trace") ||
	       tacho_glob_match("tacho-trace[-.]*", name);
}

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec :
					a->tv_nsec > b->tv_nsec;
}

static bool find_newest(char name[NAME_MAX + 1])
{
	DIR *dir = opendir(".");
	struct timespec best = { 0 };
	struct dirent *e;
	bool found = false;

	while (dir && (e = readdir(dir))) {
		struct stat st;

		if (!is_trace_name(e->d_name) || stat(e->d_name, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (found && !later(&st.st_mtim, &best))
			continue;
		found = true;
		best = st.st_mtim;
		memcpy(name, e->d_name, strlen(e->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

int app_trace_find(struct app_trace *t, const char *path, struct tacho_diag *d)
{
	*t = (struct app_trace){ .path = path };
	if (path)
		return 0;
	if (!find_newest(t->found))
		return tacho_diag(d, -ENOENT, 0, "there is no tacho-trace in this directory; "
				  "name the trace to read");
	t->path = t->found;
	return 0;
}

_Static_assert(APP_JOBS_MAX == TACHO_THREADS_MAX, "as many as a stream takes");

void app_trace_set_jobs(struct app_trace *t, uint32_t jobs)
{
	tacho_stream_set_threads(t->stream, jobs ? jobs : tacho_cpu_allowed());
}

int app_trace_layout(const char *name, unsigned int *flags, struct tacho_diag *d)
{
	*flags = tacho_ltt_layout_flag(name);
	return *flags ? 0 : tacho_diag(d, -EINVAL, 0, "'%s' is not one of 64, 32, text", name);
}

int app_trace_open(struct app_trace *t, const char *path, unsigned int flags,
		   struct tacho_diag *d)
{
	struct tacho_error error = { 0 };
	int err = app_trace_find(t, path, d);

	if (err)
		return err;
	err = tacho_stream_open(&t->stream, t->path, flags, &error);
	if (err)
		return tacho_diag(d, err, error.offset, "%s", error.text);
	t->resolver = tacho_resolver_new(NULL);
	if (t->resolver && !tacho_resolver_stream(t->resolver, t->stream))
		return 0;
	app_trace_close(t);
	return tacho_diag(d, -ENOMEM, 0, "out of memory");
}

void app_trace_close(struct app_trace *t)
{
	tacho_stream_close(t->stream);
	t->stream = NULL;
	tacho_resolver_free(t->resolver);
	t->resolver = NULL;
}

int app_stream_failed(const struct tacho_stream *s, int err, struct tacho_diag *d)
{
	const struct tacho_error *error = tacho_stream_error(s);

	if (error->err)
		return tacho_diag(d, error->err, error->offset, "%s", error->text);
	return tacho_diag(d, err, 0, "%s", err == -ENOMEM ? "out of memory" : strerror(-err));
}

int app_trace_remarks(const struct app_trace *t, const struct tacho_observer *observer,
		      struct tacho_diag *d)
{
	struct tacho_stream_info info;
	int err = tacho_stream_get_info(t->stream, &info);

	if (err)
		return app_stream_failed(t->stream, err, d);
	if (info.discarded)
		tacho_observer_note(observer, "%" PRIu64 " events were lost while recording",
				    info.discarded);
	if (info.truncated)
		tacho_observer_note(observer, "%" PRIu64 " events are larger than a record and were cut; tacho_cut in them says how many of their fields, if they have it",
				    info.truncated);
	if (info.damaged)
		tacho_observer_note(observer, "skipped %" PRIu64 " damaged places; "
				    "'tacho check %s' lists them", info.damaged, t->path);
	return 0;
}
