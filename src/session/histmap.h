/* SPDX-License-Identifier: MIT */
/*
 * histmap.h - the files hist.<series>.<type> of a session: maps (engine/map.h) that
 * the programs of a session share.
 *
 * Whoever needs one first makes it: under a name of his own, blocks allocated, the map
 * empty; then it gets its real name by one link().  So no half-made map is
 * ever seen, and one of several makers wins.
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
 * Maps a histogram, series and type given in h, making it if it is not there: with
 * counters for each of the session's CPUs unless that makes it large.  0, -EPROTO
 * when what is there is not of geometry g (but for nr_cpus), or what the system said.
 */
int tacho_histmap_make(const struct tacho_view *v, struct tacho_histmap *h,
		       const struct tacho_map_geometry *g);

/* Maps one that is there, of any geometry; 0, -ENOENT, -EPROTO, ... */
int tacho_histmap_open(const struct tacho_view *v, struct tacho_histmap *h);

/* Series and type of a file's name; false: it is no histogram's. */
bool tacho_histmap_parse(const char *name, struct tacho_histmap *h);

#endif
