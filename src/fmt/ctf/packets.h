/* SPDX-License-Identifier: MIT */
/*
 * packets.h - the packets of one stream file, damaged or not.
 *
 * A file is read through a window: one buffer, refilled by pread(), that may hold many small
 * packets or a part of a large one.  The buffer is allocated for the first packet and freed at
 * the end.
 *
 * Validation of packet headers
 *	magic and uuid make it a header.  96 <= content <= packet <= what is left of the
 *	file, in whole 64-bit words (content may end inside its last word);
 *	begin <= end unless the packet is open; no more events than fit.  Any
 *	other header is damage: it is counted, and the file is searched, at
 *	8-byte steps, for the next magic and uuid.
 *	content 0 is a packet that was open when the recorder died: its records end before the
 *	first invalid one.  A packet that extends past the end of the file is torn: its complete
 *	records are read, up to the next header if there is one.
 *
 * Works on a file descriptor or, for the fuzzer, on bytes in memory.
 */
#ifndef TACHO_FMT_CTF_PACKETS_H
#define TACHO_FMT_CTF_PACKETS_H

#include "stream/source.h"

/* One packet out of many of a file: where to start reading for a time. */
struct tacho_ctf_mark {
	uint64_t offset;
	uint64_t begin;
	uint64_t end_before;	/* no record before this packet is later */
	uint64_t discarded;	/* events_discarded of the packet before */
	uint64_t lost;		/* records, since the last packet that had any */
};

struct tacho_ctf_totals {
	bool counted;
	uint64_t packets, events, discarded, damaged, bytes;
	uint64_t begin, end;	/* ticks; begin > end: no packet */
	uint64_t orderly;	/* bytes of the file in which packets are orderly */
};

struct tacho_ctf_part {
	struct tacho_part part;
	char name[64];		/* in the directory dirfd */
	int dirfd;
	int fd;			/* opened when needed; -1 */
	bool keep_fd;		/* false: too many files, open for each read */
	bool lasting;		/* window and descriptor stay for what is read next */
	const unsigned char *memory;	/* instead of a file */
	uint64_t file_size;
	uint8_t uuid[16];

	unsigned char *win;	/* window: bytes [win_at, win_at + win_len) */
	size_t win_room, win_len;
	uint64_t win_at;

	uint64_t next;		/* offset of the next packet */
	uint64_t stop;		/* packets that begin here or later are not read */
	uint64_t content_end;	/* offset where the present one's records end */
	uint64_t stuck;		/* offset at which fill() last gave no more */
	uint64_t discarded;	/* events_discarded so far */
	uint64_t from;		/* after seek(): earlier packets are passed over */
	bool skips;		/* the last packet was passed over: so is the next one, likely */
	bool in_packet, open;	/* open: content 0, ends where records end */

	struct tacho_ctf_mark *mark;	/* every stride-th packet */
	uint32_t nr_marks;
	uint64_t stride;
	struct tacho_ctf_totals totals;
};

/* tacho_source_ops.fill and .seek. */
int tacho_ctf_fill(struct tacho_source *source, struct tacho_part *part,
		   bool bad);
int tacho_ctf_seek(struct tacho_source *source, struct tacho_part *part,
		   uint64_t ticks);

/* tacho_source_ops.place and .packets. */
uint64_t tacho_ctf_place(const struct tacho_part *part);
int tacho_ctf_packets(struct tacho_source *source,
		      int (*fn)(void *arg, const struct tacho_packet_info *packet), void *arg);

/* tacho_source_ops.only. */
void tacho_ctf_only(struct tacho_source *source, struct tacho_part *part,
		    const struct tacho_span *first, const struct tacho_span *last);

/* What tacho_source_ops.spans says of one part, the index-th.  fn's result, or -errno. */
int tacho_ctf_spans(struct tacho_ctf_part *p, uint32_t index,
		    int (*fn)(void *arg, const struct tacho_span *span), void *arg);

/* Reads every packet header once, for totals and marks.  0 or -errno. */
int tacho_ctf_scan(struct tacho_ctf_part *p);

/*
 * Sets the horizon to the first packet's begin; no damage is counted.  0, or -errno when
 * there was no memory or no descriptor for it.
 */
int tacho_ctf_first(struct tacho_ctf_part *p);

/* Frees the window and closes the file; reading may go on afterwards. */
void tacho_ctf_part_idle(struct tacho_ctf_part *p);
void tacho_ctf_part_free(struct tacho_ctf_part *p);

#endif
