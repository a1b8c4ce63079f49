/* SPDX-License-Identifier: MIT */
/*
 * bt2.h - CTF traces that tacho did not write, through libbabeltrace2.
 *
 * libbabeltrace2 is loaded only when such a trace is opened: the reader is a module,
 * libtacho-bt2.so, searched in $TACHO_MODULE_DIR, then in src/fmt below the program (for a tool
 * in its build directory), then in the installation directory.
 *
 * The module converts every event class to a type (with a format text, so that filters,
 * histograms and printing work as for other events) and every event to a record of that type.
 */
#ifndef TACHO_FMT_BT2_BT2_H
#define TACHO_FMT_BT2_BT2_H

#include "fmt/fmt.h"

/* Whether it is a directory that contains a `metadata` file, directly or below. */
bool tacho_bt2_sniff(const struct tacho_sniff *p);

/* Calls fn for each directory at or below dir that has one, in order of names. */
int tacho_bt2_find(const char *dir, int (*fn)(void *arg, const char *dir),
		   void *arg);

/* Opens all traces at or below dir as one source.  -ENOTSUP: no module. */
int tacho_bt2_open(struct tacho_source **source, const char *dir,
		   unsigned int flags, struct tacho_diag *d);

/* What the module exports under the name "tacho_bt2_module". */
struct tacho_bt2_module {
	char version[32];	/* TACHO_VERSION, and ... */
	uint32_t source_size;	/* ... sizeof: both must be ours */
	uint32_t type_size;
	int (*open)(struct tacho_source **source, const char *dir,
		    unsigned int flags, struct tacho_diag *d);
};

#endif
