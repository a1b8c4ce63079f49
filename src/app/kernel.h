/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - commands for the running kernel, in the instance of a recording.
 *
 * Who does what, and why, is in docs/kernel.md, "Commands".  Errors are those of
 * app/command.h.
 */
#ifndef TACHO_APP_KERNEL_H
#define TACHO_APP_KERNEL_H

#include "tracefs/control.h"

struct app_kernel {
	struct tacho_tracefs tracefs;
	char instance[TACHO_KERNEL_INSTANCE_MAX];
};

/*
 * Opens the instance of the recording that is called name: of the session of that name,
 * or, where kernel events alone are recorded, of the recorder.  Returns 0, or a negative
 * errno with d (which may be NULL) filled in and nothing open.
 */
int app_kernel_open(struct app_kernel *k, const char *name, struct tacho_diag *d);
void app_kernel_close(struct app_kernel *k);

/*
 * Whether the kernel may be given a trigger of `event` while its instance is recorded, as
 * far as the text tells.  A text that does not parse is left for the kernel to judge.
 * *target (may be NULL) receives "SYSTEM:EVENT" of an enable_event, or "".  Returns 0, or
 * -EOPNOTSUPP with a sentence that says what to use instead.
 */
int app_kernel_check_trigger(const char *event, const char *text, char *target, size_t size,
			     struct tacho_diag *d);

/*
 * Makes of what tacho_kernel_control() left in d the sentence for a person: which trigger this
 * kernel lacks and what to use instead, and a place only where the kernel points at one.
 * Returns d->err.
 */
int app_kernel_explain(enum tacho_kernel_control what, const char *event, const char *text,
		       struct tacho_diag *d);

/*
 * Sets a filter or trigger, or removes it.
 * *done (may be NULL) receives how many events took it.  d must not be NULL.
 */
int app_kernel_set(const struct app_kernel *k, enum tacho_kernel_control what,
		   const char *event, const char *text, uint32_t *done, struct tacho_diag *d);

#endif
