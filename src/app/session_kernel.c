// SPDX-License-Identifier: MIT
#include "app/session_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "tracefs/tracefs.h"
#include "sys/clock.h"

#define EVENTS_MAX	((size_t)4 << 20)	/* bytes of set_event */
#define KEPT		"tacho."

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
	return err ? tacho_diag(d, err, 0, "cannot change session '%s': %s", s->name,
				strerror(-err)) : 0;
}
