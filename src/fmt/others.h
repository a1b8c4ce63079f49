/* SPDX-License-Identifier: MIT */
/*
 * others.h - traces that are recognised but cannot be read: opening one fails with a message that
 * names the format.
 *
 *	perf.data	"PERFILE2", or "2ELIFREP" in the other byte order, at 0
 *	LTTng 0.x	the magic number of LTT at 16, after two u64 of a sub-buffer's header, then
 *	u8
 *			major and minor version: 2.0 to 2.6; a directory of such files
 *	CTF 2		metadata that is JSON, each object after 0x1e; or in packets, of the
 *			major version 2
 *
 * CTF 2 is passed to libbabeltrace2 nevertheless: versions from 2.1 read it.
 */
#ifndef TACHO_FMT_OTHERS_H
#define TACHO_FMT_OTHERS_H

#include "fmt/fmt.h"

bool tacho_perf_sniff(const struct tacho_sniff *p);
int tacho_perf_refuse(struct tacho_source **source, const char *path, unsigned int flags,
		      struct tacho_diag *d);

bool tacho_lttng0_sniff(const struct tacho_sniff *p);
int tacho_lttng0_refuse(struct tacho_source **source, const char *path, unsigned int flags,
			struct tacho_diag *d);

bool tacho_ctf2_sniff(const struct tacho_sniff *p);
int tacho_ctf2_open(struct tacho_source **source, const char *dir, unsigned int flags,
		    struct tacho_diag *d);

#endif
