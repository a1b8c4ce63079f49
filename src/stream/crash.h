/* SPDX-License-Identifier: MIT */
/*
 * crash.h - the sessions that lie in a core dump or a memory image, as sources of records.
 *
 * A traced program has its sessions' files mapped: control, types, and the buffers of the CPUs
 * that it has recorded on.  A core has them if bit 3 (0x8) of /proc/PID/coredump_filter
 * is set.  docs/crash.md is for users.
 *
 * 1. Finding them
 *
 *	C1  by the note NT_FILE: files called control; types and buf.* beside them
 *	C2  without it, by looking at every page: the magics of the control block and the type
 *	    table, and the magic of packets (abi/record.h).  A control block takes the
 *	    type table that is nearest
 *	C3  packets count that have the session's uuid and a place for themselves in a lane of it
 *	C4  what is there twice (mapped twice, an older copy) is taken once: session by uuid,
 *	    packet by lane, time and number
 *
 *	Found page by page, a packet's bytes are those behind its head in the image: memory that
 *	is contiguous there, as a process sees it, not the scattered pages of a
 *	machine's whole memory, of which a packet gives what lies in its first page.
 *
 * 2. Reading
 *
 *	One lane is one part: only one of its buffers is written at a time, so its packets by their
 *	time are its records by time.  A packet says how far it goes if it was closed.  The open one
 *	goes as far as the lane's cursor says, if the cursor is of that packet; else as far as
 *	there are records: each of a type that there is, none earlier than the one before
 *	it.  Behind the cursor lie older records, so the walk ends there.
 *
 *	While a live program is dumped, others write on.  What is overwritten meanwhile shows in a
 *	packet as a record later than the packet's end: it is dropped from there on, and
 *	what it should have held counts as lost.
 */
#ifndef TACHO_STREAM_CRASH_H
#define TACHO_STREAM_CRASH_H

#include <sys/types.h>

#include "stream/stream.h"
#include "tacho/abi/shm.h"

/*
 * tacho_crash_open - add what lies in the file at path to a stream: a source for each session.
 *
 * The format is "core"; facts "session", "command", "core_signal", "core_pid" say whose.  Returns
 * 0, or with d filled in -ENODATA (no session in it), -EPROTO (one, but made by another
 * version), or what opening and reading said.
 */
int tacho_crash_open(struct tacho_stream *stream, const char *path, unsigned int flags,
		     struct tacho_diag *d);

/* ---- for who knows what else a program has mapped ---- */

/*
 * The control block's fixed part, of a source that comes from there; NULL: it does not.  Borrowed.
 */
const struct tacho_control *tacho_crash_control(const struct tacho_source *source);

/*
 * Copies the file called `name` in the run-time directory of such a source, if it begins with a
 * struct tacho_file_head of this magic and of this version.  Bytes of size that are there;
 * -ENOENT: none of that kind, -EIO ...
 */
ssize_t tacho_crash_file(const struct tacho_source *source, const char *name, uint64_t magic,
			 void *to, size_t size);

/* Whose records fill() handed out last: lane, and its buffer; -1: not known. */
void tacho_crash_place(const struct tacho_part *part, uint32_t *lane, int32_t *buffer);

/* The last time that a buffer of a lane was shifted in, in numbers of its records. */
struct tacho_crash_turn {
	uint64_t begins;	/* number of the sub-buffer that is the first */
	uint64_t since, end;	/* the first one, and behind the last */
	bool gone;		/* the first one was overwritten: since is 0 */
	uint64_t last_sub;	/* number of the sub-buffer that is the last */
};

/* 0, -ENOENT (nothing was written, or its last packet is not there), or what reading said. */
int tacho_crash_turn(const struct tacho_source *source, uint32_t lane, uint32_t buffer,
		     struct tacho_crash_turn *turn);

#endif
