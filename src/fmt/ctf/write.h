/* SPDX-License-Identifier: MIT */
/*
 * write.h - write a trace directory (layout.h, docs/trace-format.md).
 *
 *	tacho_ctf_writer_new(&w, "my-trace", &info, &d);
 *	tacho_ctf_writer_type(w, TACHO_STREAM_PROGRAM, 1, "sys", "event", ...);
 *	tacho_ctf_writer_packet(w, &packet, records, len, &d);
 *	tacho_ctf_writer_close(w, &d);
 *
 * Crash: whenever the process dies, the directory is a readable trace. metadata and info are
 * replaced by rename, always before the first packet that needs them; types files and packets are
 * appended, and tacho's reader reads them as far as they are complete.  For other CTF readers,
 * the one packet that may be torn must be shortened first (repair.h).
 *
 * Full disk: a packet that does not fit is removed (the file is cut to its last complete packet);
 * its records are counted and appear as discarded in the next packet of the stream that fits.
 *
 * One writer is used by one thread at a time.
 */
#ifndef TACHO_FMT_CTF_WRITE_H
#define TACHO_FMT_CTF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tacho/abi/record.h"

struct tacho_ctf_writer;

struct tacho_ctf_info {
	uint8_t uuid[16];	/* equal to that of the packets; all 0: made up */
	const char *clock;	/* kind of clock: "x86-tsc", "mono", "boot" */
	uint64_t clock_freq;	/* ticks per second */
	uint64_t ticks;		/* of that clock at ... */
	uint64_t realtime;	/* ... this moment, ns since 1970 */
	const char *session;	/* directory of the session recorded, or NULL */
};

/*
 * Creates the directory (its parent must exist) and an empty trace in it.  An existing directory
 * must be empty.  The environment has hostname, sysname, release, version, machine and the
 * tracer's version;
 * more by tacho_ctf_writer_env().
 *
 * Returns 0 and *w, or -errno with d filled in: -EEXIST, -ENOENT, ...
 */
int tacho_ctf_writer_new(struct tacho_ctf_writer **w, const char *dir,
			 const struct tacho_ctf_info *info,
			 struct tacho_diag *d);

/* Adds to the environment; before the first packet.  name: a C identifier. */
int tacho_ctf_writer_env(struct tacho_ctf_writer *w, const char *name,
			 const char *value, struct tacho_diag *d);

/* Adds a clock snapshot, for readers that compute drift. */
int tacho_ctf_writer_pair(struct tacho_ctf_writer *w, uint64_t ticks,
			  uint64_t realtime, struct tacho_diag *d);

/*
 * Announces an event type.  format: a `format` file's text, len bytes; its
 * "name:" and "ID:" lines may be missing.  A known id is not changed.  Returns 0, -EINVAL
 * (malformed format; d->offset is the place), -errno.
 */
int tacho_ctf_writer_type(struct tacho_ctf_writer *w, uint32_t stream_id,
			  uint32_t id, const char *system, const char *name,
			  const char *format, size_t len,
			  struct tacho_diag *d);

/*
 * Appends a packet.  Of *packet, stream_id, stream_instance_id, timestamp_begin,
 * timestamp_end, packet_seq_num, events_discarded, cpu_id and event_first are the caller's;
 * magic, uuid, sizes and the number of events are set here. records: len bytes of records.  Each
 * is checked, and rewritten if a CTF reader could not parse it; records of unknown type or
 * invalid size are omitted and counted as discarded.
 *
 * Returns 0, or -errno with d filled in; the trace is consistent in both cases.
 */
int tacho_ctf_writer_packet(struct tacho_ctf_writer *w,
			    const struct tacho_packet *packet,
			    const void *records, size_t len,
			    struct tacho_diag *d);

/*
 * Sets one of the tables, replacing it: "kallsyms" (as in /proc), "cmdlines"
 * ("pid tgid comm" lines), "syscalls" ("nr name" lines), "printk_formats" (as in
 * tracefs), "objects" (session/objects.h).
 */
int tacho_ctf_writer_text(struct tacho_ctf_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d);

/*
 * Ends this trace and continues in another directory with the same types, environment and tables.
 * If the directory cannot be created, the writer is unchanged.
 */
int tacho_ctf_writer_rotate(struct tacho_ctf_writer *w, const char *dir,
			    struct tacho_diag *d);

/* Records passed in and not in the trace, since _new(). */
uint64_t tacho_ctf_writer_lost(const struct tacho_ctf_writer *w);

/* Bytes of packets written to the present directory. */
uint64_t tacho_ctf_writer_bytes(const struct tacho_ctf_writer *w);

/* Completes the trace ("state: closed") and frees the writer, also on failure.  Ignores NULL. */
int tacho_ctf_writer_close(struct tacho_ctf_writer *w, struct tacho_diag *d);

#endif
