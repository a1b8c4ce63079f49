// SPDX-License-Identifier: MIT
/*
 * A session's instance in the kernel: kept there as long as the session, "tacho.NAME"
 * (kernel/instance.h); the session's control block names it, for the tools.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/text.h"
#include "ctl/ctl.h"
#include "ctl/kernel.h"
#include "kernel/tracefs.h"
#include "sys/clock.h"

#define EVENTS_MAX	((size_t)4 << 20)	/* bytes of set_event */
#define ARENA_MAX	((size_t)64 << 20)
#define EVENT_MAX	256

bool tacho_ctl_has_kernel(const struct tacho_ctl *ctl)
{
	return ctl->session.view.ctl && ctl->session.view.ctl->kernel_instance[0];
}

/* Events that are on in an instance that was there: their types are needed. */
static int learn_enabled(struct tacho_kernel *k, struct tacho_diag *d)
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
static int check_clock(const struct tacho_ctl *ctl, const struct tacho_kernel *k,
		       struct tacho_diag *d)
{
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	uint32_t clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;

	if (clock == ctl->session.view.ctl->clock)
		return 0;
	return tacho_diag(d, -EINVAL, 0, "session '%s' has the clock %s, and the kernel records "
			  "with %s: create the session with that one", ctl->session.name,
			  tacho_clock_name(ctl->session.view.ctl->clock), info->clock);
}

static int begin(struct tacho_ctl *ctl, struct tacho_kernel *k, struct tacho_diag *d)
{
	struct tacho_control *c = ctl->session.view.ctl;
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	int err = check_clock(ctl, k, d);

	if (err || info->found)
		return err ? err : learn_enabled(k, d);
	if (tacho_load_acquire(&c->state) == TACHO_STATE_RECORDING)
		err = tacho_kernel_start(k, d);
	return err;
}

int tacho_ctl_kernel(struct tacho_ctl *ctl, bool make, struct tacho_diag *d)
{
	struct tacho_control *c = ctl->session.view.ctl;
	struct tacho_kernel_config cfg = {
		.name = ctl->session.name, .keep = true,
		.buffer_size = ctl->kernel_size,
		.overwrite = c->flags & TACHO_SESSION_OVERWRITE,
		.mono = c->clock == TACHO_CLOCK_MONO,
	};
	struct tacho_kernel *k;
	int err;

	if (ctl->kernel)
		return 0;
	if (c->owner)
		return tacho_diag(d, -EBUSY, 0, "session '%s' has a recorder, which alone enables "
				  "events of the kernel", ctl->session.name);
	if (!make && !tacho_ctl_has_kernel(ctl))
		return tacho_diag(d, -ENOENT, 0, "session '%s' records nothing of the kernel",
				  ctl->session.name);
	err = tacho_kernel_create(&k, &cfg, d);
	if (err)
		return err;
	err = begin(ctl, k, d);
	if (err && tacho_kernel_info(k)->found)
		tacho_kernel_leave(k);
	else if (err)
		(void)tacho_kernel_destroy(k);
	if (err)
		return err;
	(void)snprintf(c->kernel_instance, sizeof(c->kernel_instance), "%s",
		       tacho_kernel_info(k)->instance);
	ctl->kernel = k;
	return 0;
}

/* ---- events ---------------------------------------------------------------- */

/* Calls fn for each event of the kernel that glob (NULL: all) means. */
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

		if (glob && !tacho_event_glob(glob, list[i].system, list[i].name))
			continue;
		(void)snprintf(event, sizeof(event), "%s:%s", list[i].system, list[i].name);
		ret = fn(event, arg);
	}
	tacho_arena_release(&arena);
	return ret;
}

int tacho_ctl_kernel_events(int (*fn)(const char *event, void *arg), void *arg,
			    struct tacho_diag *d)
{
	struct tacho_tracefs t;
	int ret = tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, d);

	if (ret)
		return ret;
	ret = each_event(&t, NULL, fn, arg, d);
	tacho_tracefs_close(&t);
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

int tacho_ctl_kernel_switch(struct tacho_ctl *ctl, bool enable, const char *events,
			    uint32_t *matched, struct tacho_diag *d)
{
	const struct tacho_tracefs *t;
	struct off off;
	uint32_t n = 0;
	int err;

	if (!events[0] || events[0] == '!')
		return tacho_diag(d, -EINVAL, 0, "'%s' names no event", events);
	err = tacho_ctl_kernel(ctl, enable, d);
	if (err)
		return err;
	t = tacho_kernel_tracefs(ctl->kernel);
	err = each_event(t, events, count_one, &n, d);
	if (!err && enable)
		err = tacho_kernel_enable(ctl->kernel, &events, 1, d);
	else if (!err && !n)
		err = tacho_diag(d, -ENOENT, 0, "no event of the kernel matches '%s'", events);
	off = (struct off){ ctl->kernel, d };
	if (!err && !enable)
		err = each_event(t, events, switch_off, &off, d);
	if (matched)
		*matched = n;
	return err;
}

/* ---- counts ---------------------------------------------------------------- */

/* The number after `key: ` in a text of lines; 0: there is none. */
static uint64_t stat_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	uint64_t v = 0;

	for (const char *at = text; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, len) || strncmp(at + len, ": ", 2))
			continue;
		for (at += len + 2; *at >= '0' && *at <= '9'; at++)
			v = v * 10 + (uint64_t)(*at - '0');
		break;
	}
	return v;
}

int tacho_ctl_kernel_count(const struct tacho_ctl *ctl, uint32_t cpu,
			   struct tacho_ctl_counts *to, struct tacho_diag *d)
{
	uint64_t left, overrun, discarded;
	struct tacho_buf text;
	char path[64];
	int err;

	if (cpu >= tacho_kernel_info(ctl->kernel)->nr_cpus)
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	tacho_buf_init(&text, 1 << 16);
	err = tacho_tracefs_read(tacho_kernel_dirfd(ctl->kernel), path, &text, d);
	if (!err && tacho_buf_error(&text))
		err = tacho_diag(d, -ENOMEM, 0, "out of memory");
	if (!err) {
		const char *s = tacho_buf_str(&text);

		left = stat_number(s, "entries");
		overrun = stat_number(s, "overrun");
		discarded = stat_number(s, "dropped events") + stat_number(s, "commit overrun");
		to->read += stat_number(s, "read events");
		to->overwritten += overrun;
		to->discarded += discarded;
		to->discarded_full += stat_number(s, "dropped events");
		to->discarded_busy += stat_number(s, "commit overrun");
		to->written += left + overrun + stat_number(s, "read events");
		to->attempted = to->written + to->discarded;
	}
	tacho_buf_release(&text);
	return err;
}
