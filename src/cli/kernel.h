/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - commands for the running kernel, in the instance of a recording.
 *
 * Who does what, and why, is in docs/kernel.md, "Commands".
 */
#ifndef TACHO_CLI_KERNEL_H
#define TACHO_CLI_KERNEL_H

#include "kernel/control.h"

struct cli_kernel {
	struct tacho_tracefs tracefs;
	char instance[TACHO_KERNEL_INSTANCE_MAX];
};

/*
 * Opens the instance of the recording that is called name: of the session of that name,
 * or, where kernel events alone are recorded, of the recorder.  CLI_OK, or an exit
 * status with a message.
 */
int cli_kernel_open(struct cli_kernel *k, const char *name);

/* The same without a message: whether there is one, and may be looked at. */
bool cli_kernel_try(struct cli_kernel *k, const char *name);

void cli_kernel_close(struct cli_kernel *k);

/*
 * Whether a trigger of `event` may be handed to the kernel while somebody records, as far as
 * the text tells.  CLI_OK, or an exit status with a sentence that says what to
 * use instead.  *target (may be NULL) receives "SYSTEM:EVENT" of an enable_event, or "".
 */
int cli_kernel_check_trigger(const char *event, const char *text, char *target,
			     size_t size);

/* Says what tacho_kernel_control() returned; CLI_FAILED. */
int cli_kernel_fail(int err, const struct tacho_diag *d,
		    enum tacho_kernel_control what, const char *event,
		    const char *text);

/* Sets a filter or trigger, or takes it away.  CLI_OK, or a status with a message. */
int cli_kernel_set(const struct cli_kernel *k, enum tacho_kernel_control what,
		   const char *event, const char *text);

#endif
