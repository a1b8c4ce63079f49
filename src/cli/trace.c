// SPDX-License-Identifier: MIT
#include "cli/trace.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/cli.h"
#include "fmt/ltt/read.h"

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

int cli_trace_find(struct cli_trace *t, const char *path)
{
	*t = (struct cli_trace){ .path = path };
	if (path)
		return CLI_OK;
	if (!find_newest(t->found))
		return cli_fail("there is no tacho-trace in this directory; name the trace to read");
	t->path = t->found;
	return CLI_OK;
}

/* enum tacho_stream_flag, as the options say. */
static unsigned int told_flags;

int cli_trace_option(int opt, const char *arg)
{
	if (opt != CLI_OPT_LAYOUT)
		return -1;
	told_flags = tacho_ltt_layout_flag(arg);
	return told_flags ? CLI_OK :
	       cli_usage("--layout: '%s' is none of 64, 32, text", arg);
}

int cli_trace_open(struct cli_trace *t, const char *path, unsigned int flags)
{
	struct tacho_error error = { 0 };
	int ret = cli_trace_find(t, path);

	if (ret != CLI_OK)
		return ret;
	if (tacho_stream_open(&t->stream, t->path, flags | told_flags, &error))
		return cli_fail("%s", error.text);
	t->resolver = tacho_resolver_new(NULL);
	if (!t->resolver || tacho_resolver_stream(t->resolver, t->stream)) {
		cli_trace_close(t);
		return cli_fail("out of memory");
	}
	return CLI_OK;
}

void cli_trace_close(struct cli_trace *t)
{
	tacho_stream_close(t->stream);
	t->stream = NULL;
	tacho_resolver_free(t->resolver);
	t->resolver = NULL;
}

int cli_stream_failed(const struct tacho_stream *s, int err)
{
	const struct tacho_error *error = tacho_stream_error(s);

	return cli_fail("%s", error->err ? error->text : err == -ENOMEM ?
			"out of memory" : strerror(-err));
}

int cli_trace_remarks(struct cli_trace *t)
{
	struct tacho_stream_info info;
	int err = tacho_stream_get_info(t->stream, &info);

	if (err)
		return cli_stream_failed(t->stream, err);
	if (info.discarded)
		cli_note("%" PRIu64 " events were lost while recording",
			 info.discarded);
	if (info.truncated)
		cli_note("%" PRIu64 " events are larger than a record and were cut; tacho_cut in them says how many of their fields, if they have it",
			 info.truncated);
	if (info.damaged)
		cli_note("%" PRIu64 " damaged places were passed over; 'tacho check %s' says where",
			 info.damaged, t->path);
	return CLI_OK;
}
