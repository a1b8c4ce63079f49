/* SPDX-License-Identifier: MIT */
/* crash_find.h - section 1 of crash.h: finds sessions and packets. */
#ifndef TACHO_STREAM_CRASH_FIND_H
#define TACHO_STREAM_CRASH_FIND_H

#include "stream/image.h"
#include "tacho/abi/shm.h"

#define TACHO_CRASH_NONE	UINT64_MAX	/* no address: the file is missing */

struct tacho_crash_packet {
	uint64_t addr;
	struct tacho_packet head;
	int32_t buffer;		/* id of the lane's buffer; -1: not known */
};

struct tacho_crash_session {
	uint64_t control, types;	/* addresses; or TACHO_CRASH_NONE */
	struct tacho_control *ctl;	/* a copy of the fixed part; own */
	char dir[TACHO_PATH_MAX];	/* "": not known */
	struct tacho_crash_packet *packet;	/* by lane, then by time; own */
	uint32_t nr_packets;
};

struct tacho_crash_found {
	struct tacho_crash_session *session;
	uint32_t nr;
	uint32_t others;	/* sessions of another version */
};

/* Returns 0, -ENOMEM, or the error of reading. */
int tacho_crash_find(struct tacho_crash_found *f, const struct tacho_image *m);
void tacho_crash_found_release(struct tacho_crash_found *f);

/*
 * Finds where a file of a session's run-time directory was mapped: C1, by its name; C2, the first
 * page with that magic.  False: not mapped.  *len: maximum size in bytes.
 */
bool tacho_crash_find_file(const struct tacho_image *m, const struct tacho_crash_session *session,
			   const char *name, uint64_t magic, uint64_t *addr, uint64_t *len);

#endif
