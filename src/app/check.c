// SPDX-License-Identifier: MIT
#include "app/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/check_priv.h"
#include "app/find.h"
#include "app/session.h"
#include "base/text.h"
#include "event/type.h"
#include "fmt/ctf/layout.h"
#include "fmt/ctf/read.h"
#include "fmt/ctf/types.h"
#include "ring/check.h"

/* Of one file no more problems are written down. */
#define PER_FILE	100u
#define AT_ONCE		1024u	/* records */
#define TYPES_ARENA_MAX	((size_t)1 << 30)

/* ---- what was found ----------------------------------------------------------- */

static TACHO_PRINTF(5, 0)
void note(struct check_trace *t, bool problem, const char *file, uint64_t byte, const char *fmt,
	  va_list ap)
{
	const struct app_check_config *config = t->log->config;
	char path[4096], text[512];
	const struct app_check_found f = {
		.problem = problem, .path = path, .byte = byte, .text = text,
	};

	(void)snprintf(path, sizeof(path), "%s%s%s", t->dir, *file ? "/" : "", file);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	config->found(config->arg, &f);
}

void check_problem(struct check_trace *t, const char *file, uint64_t byte,
		   const char *fmt, ...)
{
	va_list ap;

	t->log->result->problems++;
	if (++t->log->in_file > PER_FILE)
		return;
	va_start(ap, fmt);
	note(t, true, file, byte, fmt, ap);
	va_end(ap);
}

void check_remark(struct check_trace *t, const char *file, uint64_t byte,
		  const char *fmt, ...)
{
	va_list ap;

	t->log->result->remarks++;
	va_start(ap, fmt);
	note(t, false, file, byte, fmt, ap);
	va_end(ap);
}

bool check_failed(struct check_trace *t, const char *file, int err)
{
	if (!tacho_no_room_here(err))
		return false;
	(void)tacho_diag(t->log->d, err, 0, "cannot read '%s/%s': %s", t->dir, file,
			 strerror(-err));
	t->failed = true;
	return true;
}

/* Between two files, or now and then. */
static bool is_cancelled(const struct check_log *log)
{
	if (!tacho_observer_cancelled(log->config->observer))
		return false;
	(void)tacho_diag(log->d, -ECANCELED, 0, "cancelled");
	return true;
}

/* ---- info --------------------------------------------------------- */

/* The value of a line "key: value", or NULL; *at is its offset. */
static const char *info_value(const char *text, const char *key, size_t *len,
			      uint64_t *at)
{
	size_t n = strlen(key);

	for (const char *p = text; *p; ) {
		size_t line = strcspn(p, "\n");

		if (line >= n + 2 && !memcmp(p, key, n) && p[n] == ':' &&
		    p[n + 1] == ' ') {
			*len = line - n - 2;
			*at = (uint64_t)(p + n + 2 - text);
			return p + n + 2;
		}
		p += line + (p[line] == '\n');
	}
	return NULL;
}

static bool hex_bytes(const char *s, size_t len, uint8_t *to, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (len != 2 * n)
		return false;
	for (size_t i = 0; i < len; i++) {
		const char *d = s[i] ? strchr(digits, s[i]) : NULL;

		if (!d)
			return false;
		to[i / 2] = (uint8_t)(to[i / 2] << 4 | (d - digits));
	}
	return true;
}

static void check_info_keys(struct check_trace *t, const char *text)
{
	static const char file[] = TACHO_CTF_EXTRAS "/info";
	static const char *const needed[] = { "uuid", "byte_order", "clock",
		"freq", "pair", "state", "version" };
	uint64_t at;
	size_t len;
	const char *v;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(needed); i++)
		if (!info_value(text, needed[i], &len, &at))
			check_problem(t, file, CHECK_NO_BYTE, "has no line '%s:'",
				      needed[i]);
	v = info_value(text, "uuid", &len, &at);
	t->have_uuid = v && hex_bytes(v, len, t->uuid, 16);
	if (v && !t->have_uuid)
		check_problem(t, file, at, "the uuid is not 32 hexadecimal digits");
	v = info_value(text, "freq", &len, &at);
	if (v && (*v < '1' || *v > '9'))
		check_problem(t, file, at, "the clock's frequency is no number");
	v = info_value(text, "state", &len, &at);
	if (v && len == 4 && !memcmp(v, "open", 4))
		check_remark(t, file, at, "the trace was not closed: its recorder runs, or was killed ('tacho recover' completes it)");
	else if (v && (len != 6 || memcmp(v, "closed", 6)))
		check_problem(t, file, at, "the state is neither open nor closed");
}

/* Damage of it is no failure. */
static void check_info(struct check_trace *t)
{
	static const char file[] = TACHO_CTF_EXTRAS "/info";
	const char *text;
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, TACHO_CTF_INFO_MAX);
	err = tacho_buf_read_fileat(&b, t->dirfd, file);
	text = tacho_buf_str(&b);
	if (!err && b.len && !*text)
		err = -ENOMEM;
	if (err) {
		if (!check_failed(t, file, err))
			check_problem(t, file, CHECK_NO_BYTE, "cannot be read: %s",
				      strerror(-err));
	} else {
		if (strncmp(text, TACHO_CTF_MAGIC_LINE,
			    strlen(TACHO_CTF_MAGIC_LINE)))
			check_problem(t, file, 0, "does not begin with 'tacho-trace: 1'");
		check_info_keys(t, text);
	}
	tacho_buf_release(&b);
}

/* ---- types --------------------------------------------------------------------- */

static void check_type_text(struct check_trace *t, const char *file,
			    const struct tacho_ctf_types *types, uint32_t id)
{
	const struct tacho_ctf_type_entry *e = &types->entry[id];
	const char *full = types->names.data + e->name, *colon = strchr(full, ':');
	char *text = malloc((size_t)e->len + 1), system[256];
	const struct tacho_type *type = NULL;
	struct tacho_diag d = { 0 };

	if (!text)
		(void)check_failed(t, file, -ENOMEM);
	if (!text || !colon) {
		free(text);
		return;
	}
	(void)snprintf(system, sizeof(system), "%.*s", (int)(colon - full), full);
	if (pread(types->fd, text, e->len, (off_t)e->text) != (ssize_t)e->len) {
		check_problem(t, file, e->text, "the format of '%s' is torn", full);
	} else {
		type = tacho_type_parse(&t->arena, system, colon + 1, id, text,
					e->len, &d);
		if (!type && !check_failed(t, file, d.err))
			check_problem(t, file, e->text + d.offset, "the format of '%s' is damaged: %s",
				      full, d.text);
	}
	if (type) {
		t->canon[types->stream_id][id] = tacho_canon_new(&t->arena, type);
		if (!t->canon[types->stream_id][id])
			(void)check_failed(t, file, -ENOMEM);
	}
	free(text);
}

/* Returns the offset behind the last entry. */
static uint64_t check_entries(struct check_trace *t, const char *file,
			      const struct tacho_ctf_types *types)
{
	uint32_t s = types->stream_id;
	uint64_t end = 0;

	for (uint32_t id = 0; id < types->nr; id++) {
		const struct tacho_ctf_type_entry *e = &types->entry[id];

		if (!e->known)
			continue;
		t->known[s][id] = true;
		t->standin[s][id] = e->base != id;
		if (e->text + e->len > end)
			end = e->text + e->len;
		if (e->base == id)
			check_type_text(t, file, types, id);
		else if (e->base >= types->nr || !types->entry[e->base].known ||
			 types->entry[e->base].base != e->base)
			check_problem(t, file, e->text, "type %u stands in for type %u, which is not there",
				      id, e->base);
	}
	return end;
}

static int check_types(struct check_trace *t, int extras, uint32_t stream_id)
{
	struct tacho_ctf_types types;
	struct stat st;
	char file[64];
	uint64_t end;
	int err;

	(void)snprintf(file, sizeof(file), TACHO_CTF_EXTRAS "/types.%s",
		       tacho_ctf_stream_name(stream_id));
	t->log->in_file = 0;
	err = tacho_ctf_types_open(&types, extras, stream_id, &t->arena);
	if (err) {
		tacho_ctf_types_release(&types);
		return tacho_diag(t->log->d, err, 0, "cannot read '%s/%s': %s", t->dir,
				  file, strerror(-err));
	}
	end = check_entries(t, file, &types);
	if (types.fd >= 0 && !fstat(types.fd, &st) &&
	    end < (uint64_t)st.st_size)
		check_problem(t, file, end, "what follows is no event type: the file is torn or damaged here");
	tacho_ctf_types_release(&types);
	return 0;
}

/* ---- a trace ------------------------------------------------------------------- */

/* "program_3": which stream and instance.  False for other names. */
static bool stream_name(const char *name, uint32_t *stream_id,
			uint64_t *instance)
{
	for (uint32_t i = 0; i <= TACHO_STREAM_KERNEL; i++) {
		const char *kind = tacho_ctf_stream_name(i);
		size_t n = strlen(kind);

		if (strncmp(name, kind, n) || name[n] != '_' ||
		    tacho_parse_u64(name + n + 1, 0, UINT64_MAX, instance))
			continue;
		*stream_id = i;
		return true;
	}
	return false;
}

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int check_name(struct check_trace *t, const char *name)
{
	uint32_t stream_id;
	uint64_t instance;
	int ret = 0;

	t->log->in_file = 0;
	if (stream_name(name, &stream_id, &instance))
		ret = check_file(t, name, stream_id, instance);
	else if (strcmp(name, "metadata") && strcmp(name, TACHO_CTF_EXTRAS))
		check_remark(t, name, CHECK_NO_BYTE, "is not a part of the trace; other CTF readers may refuse the directory for it");
	if (t->log->in_file > PER_FILE)
		check_remark(t, name, CHECK_NO_BYTE, "%" PRIu64 " more problems are not listed",
			     t->log->in_file - PER_FILE);
	return ret;
}

static int check_files(struct check_trace *t)
{
	struct dirent **list = NULL;
	int n = scandir(t->dir, &list, not_hidden, versionsort), ret = 0;

	if (n < 0)
		return tacho_diag(t->log->d, -errno, 0, "cannot read directory '%s': %s", t->dir,
				  strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!ret && is_cancelled(t->log))
			ret = t->log->d->err;
		if (ret == 0)
			ret = check_name(t, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return ret;
}

static bool tables_alloc(struct check_trace *t)
{
	bool good = true;

	tacho_arena_init(&t->arena, TYPES_ARENA_MAX);
	for (int i = 0; i < 2; i++) {
		t->canon[i] = calloc(CHECK_IDS, sizeof(struct tacho_canon *));
		t->standin[i] = calloc(CHECK_IDS, sizeof(bool));
		t->known[i] = calloc(CHECK_IDS, sizeof(bool));
		t->described[i] = calloc(CHECK_IDS, sizeof(bool));
		good = good && t->canon[i] && t->standin[i] && t->known[i] && t->described[i];
	}
	return good;
}

static void tables_release(struct check_trace *t)
{
	for (int i = 0; i < 2; i++) {
		free(t->canon[i]);
		free(t->standin[i]);
		free(t->known[i]);
		free(t->described[i]);
	}
	tacho_arena_release(&t->arena);
}

static int check_inside(struct check_trace *t)
{
	int extras, ret = 0;

	check_metadata(t);
	check_info(t);
	extras = openat(t->dirfd, TACHO_CTF_EXTRAS,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (extras < 0 && check_failed(t, TACHO_CTF_EXTRAS, -errno))
		return t->log->d->err;
	if (extras < 0) {
		check_problem(t, TACHO_CTF_EXTRAS, CHECK_NO_BYTE, "cannot be read: %s",
			      strerror(errno));
		return 0;
	}
	for (uint32_t i = 0; i < 2 && ret == 0; i++)
		ret = check_types(t, extras, i);
	close(extras);
	check_described(t);
	if (!ret && !t->failed)
		ret = check_files(t);
	return t->failed ? t->log->d->err : ret;
}

static int check_dir(struct check_log *log, const char *dir)
{
	struct check_trace t = { .log = log, .dir = dir };
	struct app_check_result *sum = log->result;
	int ret;

	log->in_file = 0;
	t.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t.dirfd < 0)
		return tacho_diag(log->d, -errno, 0, "cannot open '%s': %s", dir,
				  strerror(errno));
	ret = tables_alloc(&t) ? check_inside(&t) : tacho_no_memory(log->d);
	tables_release(&t);
	close(t.dirfd);
	sum->traces++;
	sum->files += t.files;
	sum->packets += t.packets;
	sum->events += t.events;
	sum->lost += t.lost;
	return ret;
}

/* The chunks of a rotated trace; *found: how many there are. */
static int check_chunks(struct check_log *log, const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, not_hidden, versionsort), ret = 0;

	/* what is no directory of chunks may be a file */
	if (n < 0 && tacho_no_room_here(-errno))
		return tacho_diag(log->d, -errno, 0, "cannot read directory '%s': %s", dir,
				  strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (!ret && tacho_ctf_is_trace(path))
			ret = check_dir(log, path);
		free(list[i]);
	}
	free(list);
	return ret;
}

/* A trace of ours whose info is gone: to other readers it is a CTF trace like any other. */
static bool lacks_info(const char *dir)
{
	char path[4096];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/" TACHO_CTF_EXTRAS, dir);

	return n > 0 && (size_t)n < sizeof(path) && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A reader passes over something; arg is the trace. */
static void take_damage(void *arg, const char *name, uint64_t offset,
			const char *what)
{
	check_problem(arg, "", offset, "'%s' is damaged: %s", name, what);
}

static void listen(struct check_trace *t, struct app_trace *trace)
{
	struct tacho_source *s;

	for (uint32_t i = 0; (s = tacho_stream_source(trace->stream, i)); i++) {
		s->report = take_damage;
		s->report_arg = t;
	}
}

/* LTT: the layout that was taken is not the only one that fits. */
static void other_layout(struct check_trace *t, const struct tacho_stream *s)
{
	const char *layout = tacho_stream_env(s, "ltt_layout");
	const char *also = tacho_stream_env(s, "ltt_layout_also");

	if (layout && also)
		check_remark(t, "", CHECK_NO_BYTE, "its records fit LTT's layout '%s', too; '%s' gives "
			     "the likelier values ('--layout %s' reads it the other way)",
			     also, layout, also);
}

/* The invariants of a session's lanes (ring/check.h); nothing for other paths. */
static void check_lanes(struct check_trace *t, const char *path)
{
	static const char prefix[] = "session:";
	struct tacho_diag why = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;

	if (strncmp(path, prefix, sizeof(prefix) - 1) ||
	    app_session_open(&dir, &s, path + sizeof(prefix) - 1, &why))
		return;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&s.view.ring); lane++) {
		struct tacho_diag d = { 0 };

		(void)tacho_ring_check_lane(&s.view.ring, lane, &d);
		if (d.err && !check_failed(t, "", d.err))
			check_problem(t, "", CHECK_NO_BYTE, "%s", d.text);
	}
	app_session_close(&dir, &s);
}

/* Every record, in the order of time; what is wrong is found on the way. */
static int read_records(struct check_trace *t, struct tacho_stream *stream)
{
	struct app_check_result *sum = t->log->result;
	const struct tacho_error *error;
	struct tacho_record r;
	uint64_t last = 0;
	int status;

	while ((status = tacho_stream_next(stream, &r)) == TACHO_STREAM_RECORD) {
		if (r.time < last)
			check_problem(t, "", CHECK_NO_BYTE, "time goes back before event %" PRIu64,
				      sum->events + 1);
		last = r.time;
		sum->lost += r.lost;
		sum->events++;
		if (!(sum->events % AT_ONCE) && is_cancelled(t->log))
			return t->log->d->err;
	}
	error = tacho_stream_error(stream);
	if (status == TACHO_STREAM_ERROR && !check_failed(t, "", error->err))
		check_problem(t, "", error->offset, "%s", error->text);
	return t->failed ? t->log->d->err : 0;
}

/* What the stream knows once it has been read. */
static int check_info_of(struct check_trace *t, struct tacho_stream *stream)
{
	struct app_check_result *sum = t->log->result;
	struct tacho_stream_info info;
	int err = tacho_stream_get_info(stream, &info);

	if (err)
		return check_failed(t, "", err) ? t->log->d->err : 0;
	sum->packets += info.packets;
	sum->files += info.parts;
	if (info.truncated)
		check_remark(t, "", CHECK_NO_BYTE, "%" PRIu64 " events are larger than a record, which has 64 KiB and 1000 fields, and are cut; tacho_cut in them says how many of their fields, if they have it",
			     info.truncated);
	if (info.damaged)
		check_problem(t, "", CHECK_NO_BYTE, "%" PRIu64 " places hold no records",
			      info.damaged);
	return 0;
}

/* A session, or a trace of another system: reads all records of it. */
static int check_by_reading(struct check_log *log, const char *path)
{
	struct check_trace t = { .log = log, .dir = path };
	struct app_check_result *sum = log->result;
	struct app_trace trace;
	int err = app_trace_open(&trace, path, log->config->flags, log->d), after;

	if (err)
		return err;
	check_lanes(&t, path);
	listen(&t, &trace);
	other_layout(&t, trace.stream);
	err = read_records(&t, trace.stream);
	after = err == -ECANCELED ? err : check_info_of(&t, trace.stream);
	if (sum->lost && err != -ECANCELED)
		check_remark(&t, "", CHECK_NO_BYTE, "%" PRIu64 " events were lost while recording",
			     sum->lost);
	sum->traces++;
	app_trace_close(&trace);
	return err ? err : after;
}

int app_check(const char *path, const struct app_check_config *config,
	      struct app_check_result *result, struct tacho_diag *d)
{
	struct check_log log = { .config = config, .result = result, .d = d };
	int err;

	*result = (struct app_check_result){ 0 };
	if (tacho_ctf_is_trace(path) || lacks_info(path))
		return check_dir(&log, path);
	err = check_chunks(&log, path);
	return err || result->traces ? err : check_by_reading(&log, path);
}
