/* SPDX-License-Identifier: MIT */
/*
 * list.h - the events that can be recorded: those of running programs, and the kernel's.
 *
 * Events are chosen by globs: "system:event", or one word, which is the name or glob of either.
 * No glob at all chooses all.
 */
#ifndef TACHO_APP_LIST_H
#define TACHO_APP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct app_list_config {
	const char *const *globs;
	size_t nr_globs;
	bool formats;			/* also the texts of fields and print formats */
};

struct app_list_event {
	const char *name;		/* "system:event" */
	uint32_t processes;		/* that have it; 0: the kernel's */
	uint32_t enabled;		/* of these, where a session records it */
	const char *format;		/* NULL: not wanted, or there is none */
};

/* All of the event is valid during the call.  0: go on. */
typedef int (*app_list_fn)(void *arg, const struct app_list_event *event);

/*
 * app_list_programs - call fn for each event of running programs, in the order of their texts.
 *
 * Programs that have the same event with the same fields have one together.  Returns 0, what fn
 * returned if that was not 0, or a negative errno with d filled in.
 */
int app_list_programs(const struct app_list_config *config, app_list_fn fn, void *arg,
		      struct tacho_diag *d);

/*
 * app_list_kernel - call fn for each event of the running kernel, in the kernel's order.
 *
 * Mounts tracefs if it is not mounted and that is allowed.  A format that cannot be read is "".
 * Returns as app_list_programs(); -ENOENT: this kernel has no tracefs, -EACCES: it is not for us.
 */
int app_list_kernel(const struct app_list_config *config, app_list_fn fn, void *arg,
		    struct tacho_diag *d);

#endif
