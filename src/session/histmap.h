/* SPDX-License-Identifier: MIT */
/*
 * histmap.h - the files hist.<series>.<type> of a session: maps (engine/map.h) that
 * the programs of a session share.
 *
 * The first user creates the map under a private name, with blocks allocated and empty, and then
 * link()s it to its real name.  So no process sees an incomplete map, and of several creators one
 * wins.
 *
 * Any context, also signal handlers: system calls only, errno preserved.
 */
#ifndef TACHO_SESSION_HISTMAP_H
#define TACHO_SESSION_HISTMAP_H

#include "engine/map.h"
#include "session/view.h"

struct tacho_histmap {
	uint32_t series, type;
	void *mem;
	uint64_t size;
};

/*
 * Maps the map of the series and type in h; creates it if it does not exist, with counters for
 * each of the session's CPUs unless that makes it large.  Returns 0, -EPROTO if an existing map
 * does not have geometry g (nr_cpus is not compared), or an error of the system.
 */
int tacho_histmap_make(const struct tacho_view *v, struct tacho_histmap *h,
		       const struct tacho_map_geometry *g);

/* Maps an existing map of any geometry; returns 0, -ENOENT, -EPROTO, ... */
int tacho_histmap_open(const struct tacho_view *v, struct tacho_histmap *h);

/* Parses series and type from a file name; false: not the name of a map. */
bool tacho_histmap_parse(const char *name, struct tacho_histmap *h);

#endif
