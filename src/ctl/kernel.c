// SPDX-License-Identifier: MIT
/* The kernel's side: events and counts of the session's instance. */
#include "ctl/kernel.h"

#include <errno.h>

#include "app/list.h"
#include "app/session_kernel.h"

int tacho_ctl_kernel(struct tacho_ctl *ctl, bool make, struct tacho_diag *d)
{
	return ctl->kernel ? 0 : app_session_kernel(&ctl->session, ctl->kernel_size, make,
						    &ctl->kernel, d);
}

struct listing {
	int (*fn)(const char *event, void *arg);
	void *arg;
};

static int list_one(void *arg, const struct app_list_event *event)
{
	const struct listing *l = arg;

	return l->fn(event->name, l->arg);
}

int tacho_ctl_kernel_events(int (*fn)(const char *event, void *arg), void *arg,
			    struct tacho_diag *d)
{
	const struct app_list_config all = { .nr_globs = 0 };
	struct listing l = { fn, arg };

	return app_list_kernel(&all, list_one, &l, d);
}

int tacho_ctl_kernel_switch(struct tacho_ctl *ctl, bool enable, const char *events,
			    uint32_t *matched, struct tacho_diag *d)
{
	int err;

	if (!events[0] || events[0] == '!')
		return tacho_diag(d, -EINVAL, 0, "'%s' names no event", events);
	err = tacho_ctl_kernel(ctl, enable, d);
	return err ? err : app_session_kernel_switch(ctl->kernel, enable, events, matched, d);
}
