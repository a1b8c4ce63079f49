// SPDX-License-Identifier: MIT
/* The packets and records of one file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "app/check_priv.h"
#include "event/type.h"
#include "fmt/ctf/layout.h"

#define HEAD	((uint64_t)sizeof(struct tacho_packet))
/* A piece of the file; more than any record. */
#define WINDOW	((size_t)1 << 20)

struct walk {
	struct check_trace *t;
	const char *file;
	uint32_t stream_id;
	uint64_t instance;
	int fd;
	uint64_t size;
	unsigned char *win;	/* bytes [win_at, win_at + win_len) */
	uint64_t win_at;
	size_t win_len;
	int err;		/* of a read; sticks */

	bool have_before;	/* the packet before, where there is one */
	struct tacho_packet before;
	uint64_t lost, missing, missing_at;
};

#define PROBLEM(w, at, ...) check_problem((w)->t, (w)->file, (at), __VA_ARGS__)
#define REMARK(w, at, ...) check_remark((w)->t, (w)->file, (at), __VA_ARGS__)

/* len <= WINDOW bytes at `at`, all inside the file; NULL: a read failed. */
static const unsigned char *bytes_at(struct walk *w, uint64_t at, size_t len)
{
	if (at >= w->win_at && at - w->win_at <= w->win_len &&
	    len <= w->win_len - (size_t)(at - w->win_at))
		return w->win + (at - w->win_at);
	w->win_at = at;
	w->win_len = 0;
	while (!w->err && w->win_len < len) {
		size_t want = w->size - at - w->win_len < WINDOW - w->win_len ?
			(size_t)(w->size - at - w->win_len) : WINDOW - w->win_len;
		ssize_t n = pread(w->fd, w->win + w->win_len, want,
				  (off_t)(at + w->win_len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			w->err = n ? -errno : -EIO;
		else
			w->win_len += (size_t)n;
	}
	return w->err ? NULL : w->win;
}

/* ---- headers ----------------------------------------------------------------- */

static bool is_head(const struct walk *w, const unsigned char *b)
{
	return tacho_load_u32(b) == TACHO_PACKET_MAGIC &&
	       (!w->t->have_uuid ||
		!memcmp(b + offsetof(struct tacho_packet, uuid), w->t->uuid, 16));
}

/* The next header at or after `at` in steps of 8, or the file's end. */
static uint64_t search(struct walk *w, uint64_t at)
{
	for (; at < w->size && w->size - at >= HEAD; at += 8) {
		const unsigned char *b = bytes_at(w, at, HEAD);

		if (!b)
			return w->size;
		if (is_head(w, b))
			return at;
	}
	return w->size;
}

/* What makes a header unbelievable; false: the packet cannot be walked. */
static bool check_sizes(struct walk *w, uint64_t at, const struct tacho_packet *h)
{
	uint64_t content = h->content_size, packet = h->packet_size;

	if (packet % 64 || packet / 8 < HEAD) {
		PROBLEM(w, at, "the packet's size is %" PRIu64 " bits, which no packet has",
			packet);
		return false;
	}
	if (content > packet || content % 8 || (content && content / 8 < HEAD)) {
		PROBLEM(w, at, "the packet's content is %" PRIu64 " bits of %" PRIu64
			", which cannot be", content, packet);
		return false;
	}
	if (packet / 8 > w->size - at)
		PROBLEM(w, at, "the packet has %" PRIu64 " bytes, but the file ends after %"
			PRIu64 " of them: it is torn", packet / 8, w->size - at);
	return true;
}

static void check_identity(struct walk *w, uint64_t at,
			   const struct tacho_packet *h)
{
	if (h->stream_id != w->stream_id)
		PROBLEM(w, at, "the packet is of stream %u, the file's name says %u",
			h->stream_id, w->stream_id);
	if (h->stream_instance_id != w->instance)
		PROBLEM(w, at, "the packet is of instance %" PRIu64
			", the file's name says %" PRIu64,
			h->stream_instance_id, w->instance);
}

/* The numbers of packets and of their first events only grow. */
static void check_numbers(struct walk *w, uint64_t at,
			  const struct tacho_packet *h, uint64_t lost)
{
	const struct tacho_packet *b = &w->before;
	uint64_t next = b->event_first + b->events, gap;

	if (h->packet_seq_num < b->packet_seq_num)
		PROBLEM(w, at, "the packets' numbers go back from %" PRIu64 " to %" PRIu64,
			b->packet_seq_num, h->packet_seq_num);
	/* nothing to compare with, or a writer that numbers nothing */
	if (!b->events || (!h->event_first && !b->event_first))
		return;
	if (h->event_first < next) {
		PROBLEM(w, at, "the packet's first event has number %" PRIu64
			", but %" PRIu64 " was there already", h->event_first,
			next - 1);
		return;
	}
	gap = h->event_first - next;
	if (gap > lost) {
		w->missing += gap - lost;
		w->missing_at = at;
	}
}

/* What a header says in relation to the one before. */
static void check_order(struct walk *w, uint64_t at, const struct tacho_packet *h)
{
	const struct tacho_packet *b = &w->before;
	uint64_t lost = 0;

	if (h->content_size && h->timestamp_end < h->timestamp_begin)
		PROBLEM(w, at, "the packet ends before it begins: %" PRIu64 " < %" PRIu64,
			h->timestamp_end, h->timestamp_begin);
	if (!w->have_before) {
		w->lost += h->events_discarded;
		return;
	}
	if (!b->content_size)
		PROBLEM(w, at, "a packet follows one that was never closed");
	if (h->timestamp_begin < b->timestamp_end)
		PROBLEM(w, at, "time goes back: the packet begins at %" PRIu64
			", the one before ends at %" PRIu64, h->timestamp_begin,
			b->timestamp_end);
	if (h->events_discarded < b->events_discarded)
		PROBLEM(w, at, "the count of lost events goes back from %" PRIu64 " to %"
			PRIu64, b->events_discarded, h->events_discarded);
	else
		lost = h->events_discarded - b->events_discarded;
	w->lost += lost;
	if (h->events)
		check_numbers(w, at, h, lost);
}

/* ---- records ----------------------------------------------------------------- */

struct tally {
	uint64_t pos, end;	/* offsets in the file */
	uint64_t last;		/* ticks */
	uint64_t events;
	uint64_t raw_end;	/* offset where the last record's last field ends */
	bool exact;		/* raw_end is known to the byte */
	bool good;
};

static void check_type(struct walk *w, struct tally *k, const unsigned char *raw,
		       uint32_t size)
{
	uint32_t id = tacho_load_u16(raw), stream = w->stream_id, end;
	const struct tacho_canon *canon = w->t->canon[stream][id];

	k->exact = false;
	k->raw_end = k->pos + size;
	if (!w->t->known[stream][id]) {
		PROBLEM(w, k->pos, "the record is of type %u, which types.%s does not have",
			id, tacho_ctf_stream_name(stream));
		return;
	}
	/* a type whose format is damaged was told already */
	if (!canon || w->t->standin[stream][id])
		return;
	end = tacho_canon_end(canon, raw, size);
	if (!end) {
		PROBLEM(w, k->pos, "the record of %u bytes is not laid out as '%s:%s' is: CTF readers lose their way here",
			size, canon->type->system, canon->type->name);
		return;
	}
	k->exact = true;
	k->raw_end = k->pos + 8 + end;
}

/* One record; false: the walk of this packet is over. */
static bool check_record(struct walk *w, const struct tacho_packet *h,
			 struct tally *k)
{
	const unsigned char *b = bytes_at(w, k->pos, TACHO_RECORD_HEAD);
	uint64_t word, time;
	uint32_t size;

	if (!b)
		return false;
	word = tacho_load_u64(b);
	size = tacho_record_size(word);
	if (size < TACHO_RECORD_HEAD || size % 8 || size > k->end - k->pos) {
		/* in a packet that was never closed the records just end */
		if (h->content_size)
			PROBLEM(w, k->pos, "the record's size is %u, with %" PRIu64
				" bytes left in its packet", size, k->end - k->pos);
		k->good = false;
		return false;
	}
	b = bytes_at(w, k->pos, size);
	if (!b)
		return false;
	time = tacho_record_time(word, k->last);
	if (h->content_size && time > h->timestamp_end)
		PROBLEM(w, k->pos, "the record's time %" PRIu64 " is not between those before it and its packet's end, %"
			PRIu64, time, h->timestamp_end);
	else
		k->last = time;
	check_type(w, k, b + 8, size);
	k->events++;
	k->pos += size;
	return true;
}

static void check_records(struct walk *w, uint64_t at,
			  const struct tacho_packet *h, uint64_t end)
{
	uint64_t content = h->content_size ? h->content_size / 8 : h->packet_size / 8;
	uint64_t content_end = at + content;
	struct tally k = {
		.pos = at + HEAD, .last = h->timestamp_begin, .good = true,
		.end = at + ((content + 7) & ~UINT64_C(7)),
		.raw_end = at + HEAD, .exact = true,
	};
	bool whole = k.end <= end;

	if (!whole)
		k.end = end & ~UINT64_C(7);
	while (k.end - k.pos >= TACHO_RECORD_HEAD && check_record(w, h, &k))
		;
	w->t->events += k.events;
	if (!whole || !k.good || w->err || !h->content_size)
		return;
	if (k.pos != k.end)
		PROBLEM(w, k.pos, "%" PRIu64 " bytes of the packet are no record",
			k.end - k.pos);
	else if (k.exact ? content_end != k.raw_end : content_end + 8 <= k.pos)
		PROBLEM(w, at, "the packet's content ends at byte %" PRIu64
			", its last record at %" PRIu64, content_end, k.raw_end);
	if (k.events != h->events)
		PROBLEM(w, at, "the packet has %" PRIu64 " events, its header says %u",
			k.events, h->events);
}

/* ---- packets ----------------------------------------------------------------- */

/* The packet at `at`; returns where to go on. */
static uint64_t check_packet(struct walk *w, uint64_t at)
{
	const unsigned char *b;
	struct tacho_packet h;
	uint64_t next, end;

	if (w->size - at < HEAD) {
		PROBLEM(w, at, "the last %" PRIu64 " bytes are too few for a packet's header",
			w->size - at);
		return w->size;
	}
	b = bytes_at(w, at, HEAD);
	if (!b)
		return w->size;
	memcpy(&h, b, HEAD);
	if (!is_head(w, b)) {
		next = search(w, at + 8);
		PROBLEM(w, at, "%s; %" PRIu64 " bytes are lost until %s",
			h.magic == TACHO_PACKET_MAGIC ?
			"the packet belongs to another trace" :
			"there should be a packet here", next - at,
			next < w->size ? "the next one" : "the end");
		return next;
	}
	w->t->packets++;
	check_identity(w, at, &h);
	if (!check_sizes(w, at, &h))
		return search(w, at + 8);
	check_order(w, at, &h);
	next = at + h.packet_size / 8;
	end = next;
	if (h.packet_size / 8 > w->size - at) {
		/* another packet may have been written over its tail */
		next = search(w, at + HEAD);
		end = next;
	}
	check_records(w, at, &h, end);
	if (!h.content_size)
		REMARK(w, at, "the packet was never closed: its writer was stopped in the middle");
	/* a packet that only tells of losses has no numbers of its own */
	if (!h.events) {
		h.events = w->before.events;
		h.event_first = w->before.event_first;
		h.packet_seq_num = w->before.packet_seq_num;
	}
	w->before = h;
	w->have_before = true;
	return next;
}

static void finish(struct walk *w)
{
	if (w->lost)
		REMARK(w, CHECK_NO_BYTE, "%" PRIu64 " events were lost while recording",
		       w->lost);
	if (w->missing)
		REMARK(w, w->missing_at, "%" PRIu64 " events were overwritten before they were recorded, the last of them before this packet",
		       w->missing);
	w->t->lost += w->lost + w->missing;
	w->t->files++;
}

int check_file(struct check_trace *t, const char *file, uint32_t stream_id,
	       uint64_t instance)
{
	struct walk w = { .t = t, .file = file, .stream_id = stream_id,
			  .instance = instance };
	struct stat st;
	uint64_t at = 0;
	int ret = 0;

	t->log->in_file = 0;
	w.win = malloc(WINDOW);
	if (!w.win)
		return tacho_no_memory(t->log->d);
	w.fd = openat(t->dirfd, file, O_RDONLY | O_CLOEXEC);
	if (w.fd < 0 || fstat(w.fd, &st)) {
		w.err = -errno;
	} else {
		w.size = (uint64_t)st.st_size;
		while (at < w.size && !w.err)
			at = check_packet(&w, at);
	}
	if (w.fd >= 0)
		close(w.fd);
	free(w.win);
	if (w.err)
		ret = tacho_diag(t->log->d, w.err, 0, "cannot read '%s/%s': %s", t->dir, file,
				 strerror(-w.err));
	else
		finish(&w);
	return ret;
}
