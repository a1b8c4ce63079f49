/* SPDX-License-Identifier: MIT */
/* kernel.h - the kernel's side of a handle.  0, or a negative errno with d filled in. */
#ifndef TACHO_CTL_KERNEL_H
#define TACHO_CTL_KERNEL_H

#include "ctl/ctl.h"

/* Calls fn for each event of the kernel until it returns not 0; returns that. */
int tacho_ctl_kernel_events(int (*fn)(const char *event, void *arg), void *arg,
			    struct tacho_diag *d);

/* Switches events on or off; *matched (may be NULL) receives how many there are. */
int tacho_ctl_kernel_switch(struct tacho_ctl *ctl, bool enable, const char *events,
			    uint32_t *matched, struct tacho_diag *d);

#endif
