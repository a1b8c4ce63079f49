// SPDX-License-Identifier: MIT
/* The kernel's side: events and counts of the session's instance. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/session_kernel.h"
#include "base/scan.h"
#include "base/text.h"
#include "ctl/ctl.h"
#include "ctl/kernel.h"
#include "tracefs/tracefs.h"

#define ARENA_MAX	((size_t)64 << 20)
#define EVENT_MAX	256

int tacho_ctl_kernel(struct tacho_ctl *ctl, bool make, struct tacho_diag *d)
{
	return ctl->kernel ? 0 : app_session_kernel(&ctl->session, ctl->kernel_size, make,
						    &ctl->kernel, d);
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
		at += len + 2;
		(void)tacho_scan_digits(&at, NULL, 10, UINT64_MAX, &v);
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
