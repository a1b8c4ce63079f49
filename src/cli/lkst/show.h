/* SPDX-License-Identifier: MIT */
/* show.h - the lists that `lkst all` shows, too. */
#ifndef TACHO_CLI_LKST_SHOW_H
#define TACHO_CLI_LKST_SHOW_H

#include "cli/lkst/tool.h"

/* Each prints to stdout; TOOL_OK or TOOL_FAILED. */
int show_status(struct tacho_lkst *l);
int show_masksets(struct tacho_lkst *l);
int show_handlers(struct tacho_lkst *l);
/* cpu -1: all; verbose: every member. */
int show_buffers(struct tacho_lkst *l, int cpu, bool verbose);

/* CPUs that have buffers: fn for each until it returns not 0; returns that. */
int each_cpu(struct tacho_lkst *l, int (*fn)(struct tacho_lkst *l, int cpu, void *arg),
	     void *arg);

#endif
