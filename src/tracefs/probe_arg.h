/* SPDX-License-Identifier: MIT */
/* probe_arg.h - FETCH:TYPE of a probe; for probe_spec.c only. */
#ifndef TACHO_TRACEFS_PROBE_ARG_H
#define TACHO_TRACEFS_PROBE_ARG_H

#include "tracefs/probe_spec.h"

/*
 * Checks the len bytes at body, which are in text, as FETCH[:TYPE] of an argument
 * of a probe; *fetch is the length of FETCH.  0 or -EINVAL with d filled in.
 */
int kernel_probe_fetch(const struct tacho_probe_spec *spec, const char *text,
		       const char *body, size_t len, size_t *fetch,
		       struct tacho_diag *d);

#endif
