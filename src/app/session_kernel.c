// SPDX-License-Identifier: MIT
#include "app/session_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/scan.h"
#include "base/text.h"
#include "sys/clock.h"
#include "tracefs/tracefs.h"

#define EVENTS_MAX	((size_t)4 << 20)	/* bytes of set_event */
#define KEPT		"tacho."
#define ARENA_MAX	((size_t)64 << 20)
#define EVENT_MAX	256

bool app_session_has_kernel(const struct tacho_session *s)
{
	const struct tacho_control *c = s->view.ctl;

	return c && !strncmp(c->kernel_instance, KEPT, strlen(KEPT)) &&
	       !memchr(c->kernel_instance, '/', sizeof(c->kernel_instance));
}

/* Events that are on in an instance that was there: their types are needed. */
static int load_enabled(struct tacho_kernel *k, struct tacho_diag *d)
{
	const char **events = NULL;
	struct tacho_buf text;
	size_t n = 0;
	char *at;
	int err;

	tacho_buf_init(&text, EVENTS_MAX);
	err = tacho_tracefs_read(tacho_kernel_dirfd(k), "set_event", &text, d);
	tacho_buf_putc(&text, '\0');
	if (!err && !tacho_buf_error(&text))
		events = calloc(text.len / 2 + 1, sizeof(*events));
	if (!err && !events)
		err = tacho_diag(d, -ENOMEM, 0, "out of memory");
	at = text.data;
	while (!err && at) {
		char *event = strsep(&at, "\n");

		if (strchr(event, ':'))
			events[n++] = event;
	}
	if (!err && n)
		err = tacho_kernel_enable(k, events, n, d);
	free(events);
	tacho_buf_release(&text);
	return err;
}

/* Programs and kernel must have one clock. */
static int check_clock(const struct tacho_session *s, const struct tacho_kernel *k,
		       struct tacho_diag *d)
{
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	uint32_t clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;

	if (clock == s->view.ctl->clock)
		return 0;
	return tacho_diag(d, -EINVAL, 0, "session '%s' has the clock %s, and the kernel records "
			  "with %s: create the session with that one", s->name,
			  tacho_clock_name(s->view.ctl->clock), info->clock);
}

/* A new instance: as the session is now. */
static int follow_session(const struct tacho_session *s, struct tacho_kernel *k,
			  struct tacho_diag *d)
{
	const struct tacho_control *c = s->view.ctl;
	uint32_t pids = tacho_pids_nr(&c->pids), not_pids = tacho_pids_nr(&c->not_pids);
	int err = 0;

	if (pids)
		err = tacho_kernel_set_pids(k, c->pids.pid, pids, c->flags & TACHO_SESSION_FORK, d);
	if (!err && not_pids)
		err = tacho_kernel_set_not_pids(k, c->not_pids.pid, not_pids, d);
	if (!err && tacho_load_acquire(&c->state) == TACHO_STATE_RECORDING)
		err = tacho_kernel_start(k, d);
	return err;
}

int app_session_kernel(struct tacho_session *s, uint64_t size, bool make,
		       struct tacho_kernel **to, struct tacho_diag *d)
{
	struct tacho_control *c = s->view.ctl;
	struct tacho_kernel_config cfg = {
		.name = s->name, .keep = true, .buffer_size = size,
		.overwrite = c->flags & TACHO_SESSION_OVERWRITE,
		.mono = c->clock == TACHO_CLOCK_MONO,
	};
	struct tacho_kernel *k;
	bool found;
	int err;

	if (!make && !app_session_has_kernel(s))
		return tacho_diag(d, -ENOENT, 0, "session '%s' records nothing of the kernel",
				  s->name);
	if (c->owner)
		return tacho_diag(d, -EBUSY, 0, "session '%s' has a recorder, which alone enables "
				  "events of the kernel", s->name);
	err = tacho_kernel_create(&k, &cfg, d);
	if (err)
		return err;
	found = tacho_kernel_info(k)->found;
	err = found || make ? check_clock(s, k, d) :
	      tacho_diag(d, -ENOENT, 0, "the instance of session '%s' in the kernel was removed "
			 "by another tool", s->name);
	if (!err)
		err = found ? load_enabled(k, d) : follow_session(s, k, d);
	if (err && found)
		tacho_kernel_leave(k);
	else if (err)
		(void)tacho_kernel_destroy(k);
	if (err)
		return err;
	(void)snprintf(c->kernel_instance, sizeof(c->kernel_instance), "%s",
		       tacho_kernel_info(k)->instance);
	*to = k;
	return 0;
}

/* One write; what the instance records is not asked for. */
static int run_kernel(const struct tacho_session *s, bool recording, struct tacho_diag *d)
{
	char path[TACHO_KERNEL_INSTANCE_MAX + 32];
	struct tacho_tracefs t;
	int err = tacho_tracefs_open(&t, 0, d);

	if (err)
		return err;
	(void)snprintf(path, sizeof(path), "instances/%.*s/tracing_on",
		       TACHO_KERNEL_INSTANCE_MAX - 1, s->view.ctl->kernel_instance);
	err = tacho_tracefs_write(t.dirfd, path, recording ? "1" : "0", false, d);
	tacho_tracefs_close(&t);
	return err;
}

int app_session_run(struct tacho_session *s, bool recording, struct tacho_diag *d)
{
	int err = 0;

	/* first, because it can fail */
	if (app_session_has_kernel(s))
		err = run_kernel(s, recording, d);
	if (err)
		return err;
	err = tacho_session_run(s, recording);
	if (err == -ENOENT)
		return tacho_diag(d, err, 0, "session '%s' is destroyed", s->name);
	return err ? tacho_diag(d, err, 0, "cannot change session '%s': %s", s->name,
				strerror(-err)) : 0;
}

void app_session_kernel_close(struct tacho_kernel *k)
{
	tacho_kernel_leave(k);
}

int app_session_set_pids(struct tacho_session *s, struct tacho_kernel *k, bool exclude,
			 const int32_t *pids, size_t n, bool follow, struct tacho_diag *d)
{
	int err = 0;

	if (n > TACHO_PIDS_MAX)
		return tacho_diag(d, -E2BIG, 0, "at most %d process ids can be listed",
				  TACHO_PIDS_MAX);
	if (k)
		err = exclude ? tacho_kernel_set_not_pids(k, pids, n, d) :
				tacho_kernel_set_pids(k, pids, n, follow, d);
	if (err)
		return err;
	return exclude ? tacho_session_not_pids(s, pids, (uint32_t)n, follow, d) :
			 tacho_session_pids(s, pids, (uint32_t)n, follow, d);
}

/* ---- its events ------------------------------------------------------------ */

/* Calls fn for each event of the kernel that glob means. */
static int each_event(const struct tacho_tracefs *t, const char *glob,
		      int (*fn)(const char *event, void *arg), void *arg, struct tacho_diag *d)
{
	struct tacho_kernel_event *list;
	struct tacho_arena arena;
	size_t nr;
	int ret;

	tacho_arena_init(&arena, ARENA_MAX);
	ret = tacho_tracefs_events(t, &arena, &list, &nr, d);
	for (size_t i = 0; !ret && i < nr; i++) {
		char event[EVENT_MAX];

		if (!tacho_event_glob(glob, list[i].system, list[i].name))
			continue;
		(void)snprintf(event, sizeof(event), "%s:%s", list[i].system, list[i].name);
		ret = fn(event, arg);
	}
	tacho_arena_release(&arena);
	return ret;
}

struct off {
	const struct tacho_kernel *kernel;
	struct tacho_diag *d;
};

static int switch_off(const char *event, void *arg)
{
	const struct off *off = arg;
	char text[EVENT_MAX + 1];

	(void)snprintf(text, sizeof(text), "!%s", event);
	return tacho_tracefs_write(tacho_kernel_dirfd(off->kernel), "set_event", text, true,
				   off->d);
}

static int count_one(const char *event, void *arg)
{
	(void)event;
	++*(uint32_t *)arg;
	return 0;
}

int app_session_kernel_switch(struct tacho_kernel *k, bool enable, const char *events,
			      uint32_t *matched, struct tacho_diag *d)
{
	const struct tacho_tracefs *t = tacho_kernel_tracefs(k);
	struct off off = { k, d };
	uint32_t n = 0;
	int err = each_event(t, events, count_one, &n, d);

	if (!err && enable)
		err = tacho_kernel_enable(k, &events, 1, d);
	else if (!err && !n)
		err = tacho_diag(d, -ENOENT, 0, "no event of the kernel matches '%s'", events);
	if (!err && !enable)
		err = each_event(t, events, switch_off, &off, d);
	if (matched)
		*matched = n;
	return err;
}

/* ---- its counts ------------------------------------------------------------ */

/* The number after `key: ` in a text of lines; 0: there is none. */
static uint64_t stat_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	uint64_t v = 0;

	for (const char *at = text; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, len) || strncmp(at + len, ": ", 2))
			continue;
		at += len + 2;
		(void)tacho_scan_digits(&at, NULL, 10, UINT64_MAX, &v);
		break;
	}
	return v;
}

int app_session_kernel_count(const struct tacho_kernel *k, uint32_t cpu, struct app_counts *to,
			     struct tacho_diag *d)
{
	struct tacho_buf text;
	char path[64];
	int err;

	if (cpu >= tacho_kernel_info(k)->nr_cpus)
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	tacho_buf_init(&text, 1 << 16);
	err = tacho_tracefs_read(tacho_kernel_dirfd(k), path, &text, d);
	if (!err && tacho_buf_error(&text))
		err = tacho_no_memory(d);
	if (!err) {
		const char *s = tacho_buf_str(&text);
		uint64_t overrun = stat_number(s, "overrun"), read = stat_number(s, "read events");

		to->read += read;
		to->overwritten += overrun;
		to->full += stat_number(s, "dropped events");
		to->busy += stat_number(s, "commit overrun");
		to->written += stat_number(s, "entries") + overrun + read;
	}
	tacho_buf_release(&text);
	return err;
}
