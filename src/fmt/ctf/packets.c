// SPDX-License-Identifier: MIT
#include "fmt/ctf/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "fmt/ctf/layout.h"

#define HEAD	((uint64_t)sizeof(struct tacho_packet))
#define SKIP_READ	((size_t)4096)
#define MARKS_MAX	4096u	/* per file; then every second one goes */

/* ---- bytes --------------------------------------------------------------- */

static int part_open(struct tacho_ctf_part *p)
{
	if (p->fd >= 0)
		return 0;
	p->fd = openat(p->dirfd, p->name, O_RDONLY | O_CLOEXEC);
	return p->fd < 0 ? -errno : 0;
}

/* Reads len bytes at offset `at`, all inside the file.  0 or -errno. */
static int part_pread(struct tacho_ctf_part *p, void *to, size_t len,
		      uint64_t at)
{
	unsigned char *s = to;
	int err;

	if (p->memory) {
		memcpy(to, p->memory + at, len);
		return 0;
	}
	err = part_open(p);
	while (!err && len) {
		ssize_t n = pread(p->fd, s, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n ? -errno : -EIO;
			break;
		}
		s += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	if (!p->keep_fd && p->fd >= 0) {
		close(p->fd);
		p->fd = -1;
	}
	return err;
}

/*
 * Makes the window begin at or before `at` and reach to at + len, or to the end of
 * the file.  0 or -errno.
 */
static int window(struct tacho_ctf_part *p, uint64_t at, size_t len)
{
	uint64_t left = p->file_size - at;
	int err;

	if (len > left)
		len = (size_t)left;
	if (p->win_len && at >= p->win_at && at - p->win_at <= p->win_len &&
	    len <= p->win_len - (size_t)(at - p->win_at))
		return 0;
	if (!p->win || p->win_room < len) {
		size_t room = p->win_room < len ? len : p->win_room;

		free(p->win);
		p->win_len = 0;
		p->win = malloc(room);
		if (!p->win)
			return -ENOMEM;
		p->win_room = room;
	}
	p->win_at = at;
	p->win_len = 0;
	/* of packets that are passed over only the headers are looked at */
	if (!p->skips || len > SKIP_READ)
		len = p->win_room;
	else
		len = SKIP_READ < p->win_room ? SKIP_READ : p->win_room;
	if (len > left)
		len = (size_t)left;
	err = part_pread(p, p->win, len, at);
	if (!err)
		p->win_len = len;
	return err;
}

static const unsigned char *window_at(const struct tacho_ctf_part *p,
				      uint64_t at)
{
	return p->win + (at - p->win_at);
}

void tacho_ctf_part_idle(struct tacho_ctf_part *p)
{
	free(p->win);
	p->win = NULL;
	p->win_len = 0;
	p->part.pos = p->part.end = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* Nothing is at hand any more. */
static void part_rest(struct tacho_ctf_part *p)
{
	if (!p->lasting)
		tacho_ctf_part_idle(p);
	p->win_len = 0;
	p->part.pos = p->part.end = NULL;
}

void tacho_ctf_part_free(struct tacho_ctf_part *p)
{
	if (!p)
		return;
	tacho_ctf_part_idle(p);
	free(p->mark);
	free(p);
}

/* ---- headers ------------------------------------------------------------- */

static bool is_head(const struct tacho_ctf_part *p, const unsigned char *b)
{
	return tacho_load_u32(b) == TACHO_PACKET_MAGIC &&
	       !memcmp(b + offsetof(struct tacho_packet, uuid), p->uuid, 16);
}

/* Why the header cannot be believed, or NULL. */
static const char *head_fault(const struct tacho_packet *h)
{
	uint64_t content = h->content_size, packet = h->packet_size;

	if (h->stream_id >= TACHO_NR_STREAM_IDS)
		return "a packet belongs to no known stream";
	if (packet % 64 || packet / 8 < HEAD)
		return "a packet has an impossible size";
	if (content > packet || content % 8 ||
	    (content && content / 8 < HEAD))
		return "a packet's content has an impossible size";
	if (h->timestamp_end && h->timestamp_end < h->timestamp_begin)
		return "a packet ends before it begins";
	if (content &&
	    h->events > (content / 8 + 7 - HEAD) / TACHO_RECORD_HEAD)
		return "a packet has more events than fit";
	return NULL;
}

/*
 * The offset of the next header at or after `at`, in steps of 8; file_size when
 * there is none.  0 or -errno.
 */
static int search(struct tacho_ctf_part *p, uint64_t at, uint64_t *found)
{
	for (;;) {
		uint64_t end;
		int err;

		if (at > p->file_size || p->file_size - at < HEAD)
			break;
		err = window(p, at, HEAD);
		if (err)
			return err;
		end = p->win_at + p->win_len;
		for (; end - at >= HEAD; at += 8)
			if (is_head(p, window_at(p, at))) {
				*found = at;
				return 0;
			}
	}
	*found = p->file_size;
	return 0;
}

/* A packet that was found: its header, and where its records are. */
struct packet {
	struct tacho_packet head;
	uint64_t offset;
	uint64_t content_end;
	uint64_t next;
	const char *fault;	/* what was wrong at or before it, or NULL */
};

/*
 * Where the packet at k->offset ends, `left` bytes before the end of the file:
 * k->next and *content, its bytes without padding.  A size that a flipped bit
 * made too large would hide good packets: a header at the end of the content,
 * or in what a torn packet claims, is believed more.  0 or -errno.
 */
static int find_end(struct tacho_ctf_part *p, struct packet *k, uint64_t left,
		    uint64_t *content)
{
	uint64_t size = k->head.packet_size / 8;
	int err;

	*content = (k->head.content_size / 8 + 7) & ~UINT64_C(7);
	if (!*content)
		*content = size;
	k->next = k->offset + (left < size ? left : size);
	if (*content < size && *content < left && left - *content >= HEAD) {
		err = window(p, k->offset + *content, HEAD);
		if (err)
			return err;
		if (is_head(p, window_at(p, k->offset + *content))) {
			k->fault = "a packet is longer than what it holds";
			k->next = k->offset + *content;
			return 0;
		}
	}
	if (size <= left)
		return 0;
	k->fault = "a packet is torn";
	return search(p, k->offset + HEAD, &k->next);
}

/*
 * Finds the packet at or after `at`.  1: found, 0: no more (k->fault may still be
 * set: the rest of the file was damaged), or -errno.
 */
static int find_packet(struct tacho_ctf_part *p, uint64_t at, struct packet *k)
{
	k->fault = NULL;
	while (at < p->file_size) {
		uint64_t left = p->file_size - at, content;
		const char *fault;
		int err;

		if (left < HEAD) {
			k->fault = "a packet's header is torn";
			return 0;
		}
		err = window(p, at, HEAD);
		if (err)
			return err;
		memcpy(&k->head, window_at(p, at), HEAD);
		fault = is_head(p, window_at(p, at)) ? head_fault(&k->head) :
						       "there is no packet";
		if (fault) {
			k->fault = fault;
			err = search(p, at + 8, &at);
			if (err)
				return err;
			continue;
		}
		k->offset = at;
		err = find_end(p, k, left, &content);
		if (err)
			return err;
		k->content_end = content < k->next - at ? at + content : k->next;
		return 1;
	}
	return 0;
}

/* ---- reading ------------------------------------------------------------- */

static int fail(struct tacho_source *source, const struct tacho_ctf_part *p,
		int err)
{
	tacho_diag(&source->diag, err, p->win_at, "cannot read '%s': %s",
		   p->name, strerror(-err));
	return TACHO_STREAM_ERROR;
}

static uint64_t lost_since(uint64_t before, uint64_t now)
{
	/* a count that went back belongs to a new buffer: it began at 0 */
	return now >= before ? now - before : now;
}

/* Points pos and end at what the window has of [at, content_end). */
static void expose(struct tacho_ctf_part *p, uint64_t at)
{
	uint64_t end = p->win_at + p->win_len;

	if (end > p->content_end)
		end = p->content_end;
	p->part.pos = p->win + (at - p->win_at);
	p->part.end = p->win + (end - p->win_at);
}

/* Whether a packet has no records: what was lost before it was lost before those of the next. */
static bool is_empty(const struct packet *k)
{
	return k->content_end <= k->offset + HEAD;
}

/* Whether a packet begins after all that is wanted. */
static bool is_beyond(const struct tacho_source *source, const struct packet *k)
{
	return source->scope && k->head.timestamp_begin > source->scope_to;
}

/* The next packet's records.  A status for the stream. */
static int next_packet(struct tacho_source *source, struct tacho_ctf_part *p)
{
	struct tacho_part *part = &p->part;
	struct packet k;
	uint64_t first;
	int found, status = TACHO_STREAM_RECORD;

	part->pos = part->end = NULL;
	p->in_packet = false;
	found = find_packet(p, p->next, &k);
	if (found < 0)
		return fail(source, p, found);
	if (k.fault)
		status = tacho_source_damage(source, p->name, p->next, k.fault);
	/* a mark is there without a fault: what is wrong before it was counted here */
	if (found && k.offset >= p->stop)
		found = 0;
	if (!found)
		p->next = p->file_size;
	if (!found || status == TACHO_STREAM_ERROR) {
		part_rest(p);
		return status == TACHO_STREAM_ERROR ? status : TACHO_STREAM_END;
	}
	p->next = k.next;
	part->lost += lost_since(p->discarded, k.head.events_discarded);
	p->discarded = k.head.events_discarded;
	if (is_beyond(source, &k)) {
		tacho_ctf_part_idle(p);
		return TACHO_STREAM_END;
	}
	if ((k.head.content_size && k.head.timestamp_end < p->from) ||
	    !tacho_scope_has_cpu(source->scope, k.head.cpu_id)) {
		p->skips = true;
		part->lost = is_empty(&k) ? part->lost : 0;
		return TACHO_STREAM_RECORD;
	}
	p->skips = false;
	source->packets_read++;
	p->in_packet = true;
	p->open = !k.head.content_size;
	p->content_end = k.content_end;
	p->stuck = UINT64_MAX;
	part->last = k.head.timestamp_begin;
	part->limit = k.head.timestamp_end && !p->open ? k.head.timestamp_end :
							 UINT64_MAX;
	part->cpu = k.head.cpu_id;
	part->stream_id = k.head.stream_id;
	/* a torn packet's search may have moved the window on */
	first = k.offset + HEAD;
	if (first < k.content_end) {
		int err = window(p, first, 1);

		if (err)
			return fail(source, p, err);
		expose(p, first);
	}
	return TACHO_STREAM_RECORD;
}

int tacho_ctf_fill(struct tacho_source *source, struct tacho_part *part,
		   bool bad)
{
	struct tacho_ctf_part *p = (struct tacho_ctf_part *)part;
	uint64_t at;
	size_t want = 1;
	int err;

	if (!p->in_packet || !part->pos)
		return next_packet(source, p);
	at = p->win_at + (uint64_t)(part->pos - p->win);
	if (bad && !p->open &&
	    tacho_source_damage(source, p->name, at,
				"a record has an impossible size") !=
	    TACHO_STREAM_RECORD)
		return TACHO_STREAM_ERROR;
	if (bad || at >= p->content_end)
		return next_packet(source, p);
	/* the record at pos continues after the window, or after the end */
	if (p->win_at + p->win_len >= p->content_end) {
		if (!p->open && p->content_end < p->next &&
		    tacho_source_damage(source, p->name, at,
					"a record is longer than its packet") !=
		    TACHO_STREAM_RECORD)
			return TACHO_STREAM_ERROR;
		return next_packet(source, p);
	}
	if (p->stuck == at)
		want = TACHO_RECORD_MAX;
	p->stuck = at;
	if (want > p->content_end - at)
		want = (size_t)(p->content_end - at);
	/* only what lies before `at` may go: force a window that starts there */
	if (at != p->win_at || want > p->win_len)
		p->win_len = 0;
	err = window(p, at, want);
	if (err)
		return fail(source, p, err);
	expose(p, at);
	return TACHO_STREAM_RECORD;
}

int tacho_ctf_first(struct tacho_ctf_part *p)
{
	struct tacho_packet h;
	int err;

	if (p->file_size < HEAD)
		return 0;
	err = part_pread(p, &h, HEAD, 0);
	if (err)
		return tacho_no_room_here(err) ? err : 0;
	if (is_head(p, (const unsigned char *)&h) && !head_fault(&h))
		p->part.horizon = h.timestamp_begin;
	if (p->fd >= 0 && !p->lasting) {
		close(p->fd);
		p->fd = -1;
	}
	return 0;
}

/* ---- index --------------------------------------------------------------- */

/* Every second mark goes: the index stays within its room. */
static void thin(struct tacho_ctf_part *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nr_marks; i += 2)
		p->mark[n++] = p->mark[i];
	p->nr_marks = n;
	p->stride *= 2;
}

/* before: what is known of the packets before k. */
static int add_mark(struct tacho_ctf_part *p, const struct packet *k,
		    const struct tacho_ctf_mark *before)
{
	if (!p->mark) {
		p->mark = calloc(MARKS_MAX, sizeof(*p->mark));
		if (!p->mark)
			return -ENOMEM;
		p->stride = 1;
	}
	/* a search may have found it: what lies before it would be left out */
	if (p->totals.packets % p->stride || k->fault)
		return 0;
	if (p->nr_marks == MARKS_MAX)
		thin(p);
	if (p->totals.packets % p->stride)
		return 0;
	p->mark[p->nr_marks] = *before;
	p->mark[p->nr_marks].offset = k->offset;
	p->mark[p->nr_marks++].begin = k->head.timestamp_begin;
	return 0;
}

static void add_totals(struct tacho_ctf_totals *t, const struct packet *k,
		       uint64_t discarded)
{
	t->packets++;
	t->events += k->head.events;
	t->discarded += lost_since(discarded, k->head.events_discarded);
	if (k->head.timestamp_begin < t->begin)
		t->begin = k->head.timestamp_begin;
	if (k->head.timestamp_end > t->end)
		t->end = k->head.timestamp_end;
	if (k->head.timestamp_begin > t->end)
		t->end = k->head.timestamp_begin;
}

/* Whether a packet says when its records are, all later than those before it. */
static bool is_orderly(const struct packet *k, const struct tacho_ctf_mark *before)
{
	return !k->fault && k->head.content_size && k->head.timestamp_end &&
	       k->head.timestamp_begin >= before->end_before &&
	       (!is_empty(k) || k->head.events_discarded == before->discarded);
}

/* Goes on from before a packet to after it. */
static void pass_packet(struct tacho_ctf_mark *before, const struct packet *k)
{
	before->lost += lost_since(before->discarded, k->head.events_discarded);
	if (!is_empty(k))
		before->lost = 0;
	before->discarded = k->head.events_discarded;
	/* the end time of an open packet is not known */
	if (!k->head.content_size)
		before->end_before = UINT64_MAX;
	else if (k->head.timestamp_end > before->end_before)
		before->end_before = k->head.timestamp_end;
}

/*
 * Headers are read one by one, not through the window, when the packets are
 * larger than it is worth reading.
 */
int tacho_ctf_scan(struct tacho_ctf_part *part)
{
	/* a part of its own: the reader's window stays where it is */
	struct tacho_ctf_part s = *part;
	struct tacho_ctf_mark before = { 0 };
	struct packet k;
	int found, err = 0;

	if (part->totals.counted)
		return 0;
	s.win = NULL;
	s.win_len = 0;
	s.win_room = 4096;
	s.fd = -1;
	s.next = 0;
	s.totals = (struct tacho_ctf_totals){ .begin = UINT64_MAX,
					      .bytes = part->file_size,
					      .orderly = UINT64_MAX };
	while (!err && (found = find_packet(&s, s.next, &k)) != 0) {
		err = found < 0 ? found : add_mark(&s, &k, &before);
		if (err)
			break;
		if (s.totals.orderly == UINT64_MAX &&
		    !is_orderly(&k, &before))
			s.totals.orderly = s.next;
		add_totals(&s.totals, &k, before.discarded);
		pass_packet(&before, &k);
		s.next = k.next;
	}
	if (!err && k.fault && s.totals.orderly == UINT64_MAX)
		s.totals.orderly = s.next;
	if (err) {
		/* whoever looks again begins with no mark */
		free(s.mark);
		s.mark = NULL;
		s.nr_marks = 0;
	}
	part->mark = s.mark;
	part->nr_marks = s.nr_marks;
	part->stride = s.stride;
	part->totals = s.totals;
	part->totals.counted = !err;
	free(s.win);
	if (s.fd >= 0)
		close(s.fd);
	return err;
}

uint64_t tacho_ctf_place(const struct tacho_part *part)
{
	const struct tacho_ctf_part *p = (const struct tacho_ctf_part *)part;

	return p->win_at + (uint64_t)(part->pos - p->win);
}

static int each_packet(struct tacho_ctf_part *part,
		       int (*fn)(void *arg, const struct tacho_packet_info *packet), void *arg)
{
	struct tacho_ctf_part s = *part;	/* as in tacho_ctf_scan() */
	struct packet k;
	int ret = 0, found;

	s.win = NULL;
	s.win_len = 0;
	s.win_room = 4096;
	s.fd = -1;
	s.next = 0;
	while (!ret && (found = find_packet(&s, s.next, &k)) != 0) {
		struct tacho_packet_info info = {
			.part = s.name, .offset = k.offset, .head = k.head };

		ret = found < 0 ? found : fn(arg, &info);
		s.next = k.next;
	}
	free(s.win);
	if (s.fd >= 0)
		close(s.fd);
	return ret;
}

int tacho_ctf_packets(struct tacho_source *source,
		      int (*fn)(void *arg, const struct tacho_packet_info *packet), void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < source->nr_parts; i++)
		ret = each_packet((struct tacho_ctf_part *)source->part[i], fn, arg);
	return ret;
}

int tacho_ctf_seek(struct tacho_source *source, struct tacho_part *part,
		   uint64_t ticks)
{
	struct tacho_ctf_part *p = (struct tacho_ctf_part *)part;
	uint32_t lo = 0, hi;
	int err;

	(void)source;
	part_rest(p);
	p->in_packet = false;
	p->next = 0;
	p->discarded = 0;
	p->from = ticks;
	p->skips = false;
	err = tacho_ctf_first(p);
	if (!err && ticks)
		err = tacho_ctf_scan(p);
	if (err)
		return err;
	/* the last mark before which everything is too early */
	for (hi = ticks ? p->nr_marks : 0; lo < hi; ) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->mark[mid].end_before < ticks)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo) {
		p->next = p->mark[lo - 1].offset;
		p->discarded = p->mark[lo - 1].discarded;
		part->lost = p->mark[lo - 1].lost;
		part->horizon = p->mark[lo - 1].begin;
	}
	return 0;
}

void tacho_ctf_only(struct tacho_source *source, struct tacho_part *part,
		    const struct tacho_span *first, const struct tacho_span *last)
{
	struct tacho_ctf_part *p = (struct tacho_ctf_part *)part;

	(void)source;
	part_rest(p);
	p->in_packet = false;
	p->next = first->offset;
	p->stop = last->end < p->file_size ? last->end : UINT64_MAX;
	p->discarded = first->discarded;
	p->from = 0;
	part->lost = 0;
	part->horizon = 0;
}

int tacho_ctf_spans(struct tacho_ctf_part *p, uint32_t index,
		    int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	int err = tacho_ctf_scan(p);
	uint64_t at = 0, discarded = 0;

	for (uint32_t i = 0; !err && at < p->file_size; i++) {
		/* what is before the first mark, belongs to it or is damaged */
		const struct tacho_ctf_mark *here = i < p->nr_marks ? &p->mark[i] : NULL;
		const struct tacho_ctf_mark *next = i + 1 < p->nr_marks ? &p->mark[i + 1] : NULL;
		struct tacho_span span = {
			.part = index, .offset = at, .discarded = discarded,
			.end = next ? next->offset : p->file_size,
			.first = here ? here->begin : 0,
			.last = next ? next->end_before : p->totals.end,
		};

		span.orderly = here && span.end <= p->totals.orderly;
		err = fn(arg, &span);
		at = span.end;
		discarded = next ? next->discarded : 0;
	}
	return err;
}
