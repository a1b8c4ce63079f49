/* SPDX-License-Identifier: MIT */
/*
 * crash.h - the sessions that are in a core dump or a memory image, as sources of records.
 *
 * A traced program has its sessions' files mapped: control, types, and the buffers of the CPUs
 * that it has recorded on.  A core has them if bit 3 (0x8) of /proc/PID/coredump_filter
 * is set.  docs/crash.md is for users.
 *
 * 1. Finding them
 *
 *	C1  by the note NT_FILE: files called control, with types and buf.* in the same directory
 *	C2  without it, by looking at every page: the magics of the control block and the type
 *	    table, and the magic of packets (abi/record.h).  A control block uses the nearest type
 *	    table
 *	C3  a packet is accepted if it has the session's uuid and a valid place in one of its
 *	lanes C4  duplicates (mapped twice, an older copy) are read once: sessions are compared by
 *	uuid, packets by lane, time and number
 *
 *	If a packet is found page by page, its bytes are those after its head in the image.  That
 *	is right for an image of a process's contiguous memory.  In an image of a machine's
 *	physical memory, with its scattered pages, only the records in the packet's first page are
 *	found.
 *
 * 2. Reading
 *
 *	One lane is one part: only one of its buffers is written at a time, so its packets in
 *	order of time give its records in order of time.  The header of a closed packet has its
 *	size.  The open packet ends at the lane's cursor, if the cursor is in that packet;
 *	otherwise after the last valid record: each has a known type and is not earlier than the
 *	previous one.  The bytes after the cursor are older records, so reading ends there.
 *
 *	While a live program is dumped, other programs continue to write.  In an overwritten
 *	packet a record is later than the packet's end: the packet is discarded from that record
 *	on, and its missing records count as lost.
 */
#ifndef TACHO_STREAM_CRASH_H
#define TACHO_STREAM_CRASH_H

#include <sys/types.h>

#include "stream/stream.h"
#include "tacho/abi/shm.h"

/*
 * tacho_crash_open - add the sessions in the file at path to a stream, as one source each.
 *
 * The format is "core"; the environment fields "session", "command", "core_signal" and "core_pid"
 * describe it.  Returns 0, or with d filled in -ENODATA (no session in it), -EPROTO (a session of
 * another version), or the error of opening or reading.
 */
int tacho_crash_open(struct tacho_stream *stream, const char *path, unsigned int flags,
		     struct tacho_diag *d);

/* ---- for compatibility layers, which have other files mapped ---- */

/*
 * The fixed part of the control block of a source from a core; NULL: another kind of source.
 * Borrowed.
 */
const struct tacho_control *tacho_crash_control(const struct tacho_source *source);

/*
 * Copies the file called `name` in the run-time directory of such a source, if it begins with a
 * struct tacho_file_head of this magic and of this version.  Returns how many of size bytes
 * exist; -ENOENT: no such file, -EIO ...
 */
ssize_t tacho_crash_file(const struct tacho_source *source, const char *name, uint64_t magic,
			 void *to, size_t size);

/* The origin of the last batch of fill(): the lane, and its buffer; -1: not known. */
void tacho_crash_place(const struct tacho_part *part, uint32_t *lane, int32_t *buffer);

/* The records of a buffer since a lane last switched to it, by their numbers. */
struct tacho_crash_turn {
	uint64_t begins;	/* number of the sub-buffer that is the first */
	uint64_t since, end;	/* the first one, and after the last */
	bool gone;		/* the first one was overwritten: since is 0 */
	uint64_t last_sub;	/* number of the sub-buffer that is the last */
};

/*
 * Returns 0, -ENOENT (nothing was written, or the last packet is missing), or the error of
 * reading.
 */
int tacho_crash_turn(const struct tacho_source *source, uint32_t lane, uint32_t buffer,
		     struct tacho_crash_turn *turn);

#endif
