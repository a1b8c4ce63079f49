// SPDX-License-Identifier: MIT
#include "stream/crash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "event/type.h"
#include "ring/ring.h"
#include "session/proc.h"
#include "session/view.h"
#include "stream/crash_find.h"

#define HEAD		sizeof(struct tacho_packet)
/*
 * Size in bytes of the read windows of all lanes together; each has at least the size of the
 * largest record.
 */
#define WINDOWS_MAX	((size_t)24 << 20)
#define WINDOW_MAX	((size_t)128 << 10)
#define WINDOW_MIN	((size_t)64 << 10)
_Static_assert(WINDOW_MIN >= TACHO_RECORD_MAX, "window");
#define TYPES_ARENA	((size_t)256 << 20)
/* A packet never spans more, see ring.h section 7. */
#define SPAN		(UINT64_C(1) << (TACHO_TIME_BITS - 1))

/* The file, which the sources of all its sessions read. */
struct crash {
	struct tacho_image image;
	struct tacho_crash_found found;
	uint32_t users;
};

/* State for finding the records missing between two packets of a lane. */
struct seam {
	bool begun;
	uint64_t discarded;
	uint64_t expected[TACHO_BUFFERS_MAX + 1];	/* event_first of the next, by buffer + 1 */
};

struct lane_part {
	struct tacho_part part;
	const struct tacho_crash_packet *packet;	/* nr of them */
	uint32_t nr, next;
	/* the rest of packet[next - 1] */
	uint64_t at, left;	/* address; bytes */
	uint64_t last;		/* time of the record before */
	uint32_t walked;	/* records so far */
	unsigned char *window;
	struct seam seam;
	uint64_t torn, damaged;	/* in the source's packets, since its start */
	char name[8];
};

struct crash_source {
	struct tacho_source source;
	struct crash *crash;
	const struct tacho_crash_session *session;
	struct tacho_arena arena;
	uint64_t *slot;			/* of the type table: text | len << 32 */
	uint32_t nr_slots;
	size_t window;			/* bytes of one */
	uint64_t torn;			/* records missing in packets so far */
	struct lane_part *lane;
};

static struct crash_source *crash_of(struct tacho_source *source)
{
	return (struct crash_source *)(void *)source;	/* first member */
}

static void release_crash(struct crash *c)
{
	if (--c->users)
		return;
	tacho_crash_found_release(&c->found);
	tacho_image_close(&c->image);
	free(c);
}

static void crash_close(struct tacho_source *source)
{
	struct crash_source *s = crash_of(source);

	for (uint32_t i = 0; i < source->nr_parts; i++)
		free(s->lane[i].window);
	free(s->lane);
	free(s->slot);
	tacho_arena_release(&s->arena);
	tacho_source_release(source);
	release_crash(s->crash);
	free(s);
}

/* ---- types ---- */

static const struct tacho_type *parse_type(struct crash_source *s, uint32_t id,
					   const char *text, uint32_t len)
{
	const char *body = memchr(text, '\n', len);
	char name[TACHO_RULE_MAX * 2], *colon;

	if (!body)
		return NULL;
	tacho_type_text_name(text, len, name, sizeof(name));
	colon = strchr(name, ':');
	if (!colon)
		return NULL;
	*colon = '\0';
	body++;
	return tacho_type_parse(&s->arena, name, colon + 1, id, body,
				len - (size_t)(body - text), NULL);
}

static const struct tacho_type *crash_type(struct tacho_source *source, uint32_t stream_id,
					   uint32_t id)
{
	struct crash_source *s = crash_of(source);
	const struct tacho_type *type = NULL;
	uint64_t at, len;
	char *text;

	if (stream_id != TACHO_STREAM_PROGRAM || id >= s->nr_slots || !s->slot[id])
		return NULL;
	at = s->slot[id] & UINT32_MAX;
	len = s->slot[id] >> 32;
	if (at >= TACHO_TYPES_TEXT_MAX || len > TACHO_TYPES_TEXT_MAX - at ||
	    len > (size_t)1 << 20)
		return NULL;
	text = malloc(len + 1);
	if (text && tacho_image_read(&s->crash->image, s->session->types +
				     TACHO_TYPES_TEXT_OFF + at, text, len) == (ssize_t)len)
		type = parse_type(s, id, text, (uint32_t)len);
	free(text);
	if (type && tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	return type;
}

static void crash_load_types(struct tacho_source *source)
{
	struct crash_source *s = crash_of(source);

	for (uint32_t id = 1; id < s->nr_slots && s->slot[id]; id++)
		(void)tacho_source_type(source, TACHO_STREAM_PROGRAM, id);
}

static int read_slots(struct crash_source *s)
{
	const size_t nr = TACHO_EVENTS_MAX + 1;
	ssize_t n;

	s->slot = calloc(nr, sizeof(*s->slot));
	if (!s->slot)
		return -ENOMEM;
	if (s->session->types == TACHO_CRASH_NONE)
		return 0;
	n = tacho_image_read(&s->crash->image, s->session->types +
			     offsetof(struct tacho_types, slot), s->slot,
			     nr * sizeof(*s->slot));
	if (n < 0)
		return (int)n;
	s->nr_slots = (uint32_t)((size_t)n / sizeof(*s->slot));
	return 0;
}

/* ---- records ---- */

/* Upper bound of the bytes of records in an open packet: by the cursor, if it is in that packet. */
static uint64_t open_room(const struct crash_source *s, const struct lane_part *p,
			  const struct tacho_crash_packet *k)
{
	uint64_t lane = k->head.stream_instance_id, cursor;
	uint64_t room = (UINT64_C(1) << s->session->ctl->sub_shift) - HEAD, words;
	uint64_t at = s->session->control + TACHO_CONTROL_LANES_OFF +
		      lane * TACHO_LANE_STRIDE + offsetof(struct tacho_lane, cursor);

	/* the cursor can refer only to the newest */
	if (k != p->packet + p->nr - 1 ||
	    tacho_image_read(&s->crash->image, at, &cursor, sizeof(cursor)) != sizeof(cursor) ||
	    tacho_cursor_seq(cursor) != (k->head.packet_seq_num & TACHO_CURSOR_SEQ_MASK) ||
	    (k->buffer >= 0 && tacho_cursor_id(cursor) != (uint32_t)k->buffer))
		return room;
	words = tacho_cursor_words(cursor);
	return words < TACHO_PACKET_WORDS || (words - TACHO_PACKET_WORDS) * 8 > room ? room :
	       (words - TACHO_PACKET_WORDS) * 8;
}

/*
 * Records missing before a packet: discarded by writers, or in a packet that does not exist.
 * Records before the lane's first packet are not counted.
 */
static uint64_t missing(struct seam *s, const struct tacho_crash_packet *k)
{
	uint64_t *expected = &s->expected[k->buffer + 1], lost = 0;

	if (*expected && k->head.event_first > *expected)
		lost += k->head.event_first - *expected;
	if (s->begun && k->head.events_discarded > s->discarded)
		lost += k->head.events_discarded - s->discarded;
	s->begun = true;
	s->discarded = k->head.events_discarded;
	if (k->head.content_size)
		*expected = k->head.event_first + k->head.events;
	return lost;
}

static void next_packet(const struct crash_source *s, struct lane_part *p)
{
	const struct tacho_crash_packet *k = &p->packet[p->next];
	uint64_t bytes = k->head.content_size / 8;

	p->part.lost += missing(&p->seam, k);
	p->next++;
	p->at = k->addr + HEAD;
	p->left = !bytes ? open_room(s, p, k) :
		  bytes > HEAD ? (bytes - HEAD + 7) & ~UINT64_C(7) : 0;
	p->last = k->head.timestamp_begin;
	p->walked = 0;
	(void)snprintf(p->name, sizeof(p->name), "%d", k->buffer);
	p->part.buffer = k->buffer > 0 ? p->name : "";
}

/*
 * How many of n bytes are valid records.  *last: the time of the last one.  *cut: the next bytes
 * are the beginning of a record that may be complete; otherwise they are not a record.
 */
static size_t walk(const struct crash_source *s, struct lane_part *p, size_t n, uint64_t *last,
		   bool *cut)
{
	const struct tacho_crash_packet *k = &p->packet[p->next - 1];
	uint64_t end = k->head.content_size ? k->head.timestamp_end :
		       k->head.timestamp_begin + SPAN;
	size_t at = 0;

	*cut = false;
	while (n - at >= TACHO_RECORD_HEAD) {
		uint64_t word = tacho_load_u64(p->window + at);
		uint64_t time = tacho_record_time(word, *last);
		uint32_t size = tacho_record_size(word);
		uint32_t id = tacho_load_u16(p->window + at + 8);

		if (size < TACHO_RECORD_HEAD || size % 8 || time > end || id >= s->nr_slots ||
		    !s->slot[id] || size > p->left - at)
			return at;
		if (size > n - at) {
			*cut = true;
			return at;
		}
		*last = time;
		at += size;
		p->walked++;
	}
	*cut = n < p->left;
	return at;
}

/* Ends a packet; a closed packet should have had more records. */
static int end_packet(struct crash_source *s, struct lane_part *p)
{
	const struct tacho_crash_packet *k = &p->packet[p->next - 1];

	p->left = 0;
	if (!k->head.content_size) {
		p->seam.expected[k->buffer + 1] = k->head.event_first + p->walked;
		return TACHO_STREAM_RECORD;
	}
	if (p->walked >= k->head.events)
		return TACHO_STREAM_RECORD;
	p->part.lost += k->head.events - p->walked;
	p->torn += k->head.events - p->walked;
	s->torn += k->head.events - p->walked;
	p->damaged++;
	return tacho_source_damage(&s->source, s->session->ctl->name, p->at,
				   "a packet was not whole when it was dumped");
}

/*
 * Reads the next records of the packet into the window.  Returns their bytes, or the error of
 * reading.  *ends: no more follow.
 */
static ssize_t next_range(const struct crash_source *s, struct lane_part *p, bool *ends)
{
	size_t want = p->left < s->window ? (size_t)p->left : s->window, len;
	uint64_t last = p->last;
	ssize_t n;
	bool cut;

	if (!p->window)
		p->window = malloc(s->window);
	n = p->window ? tacho_image_read(&s->crash->image, p->at, p->window, want) : -ENOMEM;
	if (n < 0)
		return n;
	len = walk(s, p, (size_t)n, &last, &cut);
	/* or the file ends */
	*ends = !len || !cut || (size_t)n < want;
	p->last = last;
	p->at += len;
	p->left -= len;
	return (ssize_t)len;
}

static int crash_fill(struct tacho_source *source, struct tacho_part *part, bool bad)
{
	struct crash_source *s = crash_of(source);
	struct lane_part *p = (struct lane_part *)(void *)part;
	uint32_t before;
	uint64_t last;
	ssize_t n;
	bool ends;

	(void)bad;	/* the records returned were checked */
	part->pos = part->end = NULL;
	if (!p->left) {
		if (p->next == p->nr) {
			free(p->window);
			p->window = NULL;
			return TACHO_STREAM_END;
		}
		next_packet(s, p);
	}
	last = p->last;
	before = p->walked;
	n = next_range(s, p, &ends);
	if (n < 0) {
		tacho_diag(&source->diag, (int)n, p->at, "cannot read: %s", strerror((int)-n));
		return TACHO_STREAM_ERROR;
	}
	part->pos = p->window;
	part->end = p->window + n;
	part->last = last;
	part->limit = UINT64_MAX;
	part->number = p->packet[p->next - 1].head.event_first + before + 1;
	return ends ? end_packet(s, p) : TACHO_STREAM_RECORD;
}

static int crash_seek(struct tacho_source *source, struct tacho_part *part, uint64_t ticks)
{
	struct lane_part *p = (struct lane_part *)(void *)part;

	/* records read again are counted again */
	crash_of(source)->torn -= p->torn;
	source->damaged -= p->damaged;
	p->torn = p->damaged = 0;
	p->next = 0;
	p->seam = (struct seam){ .begun = false };
	/* the packet before the one at `ticks` is read: it may have been torn */
	while (p->next + 2 < p->nr && p->packet[p->next + 2].head.timestamp_begin < ticks) {
		const struct tacho_crash_packet *k = &p->packet[p->next++];
		uint64_t lost = missing(&p->seam, k);

		/* what a packet without records is missing, is missing before the next */
		part->lost = k->head.content_size && !k->head.events ? part->lost + lost : 0;
	}
	p->left = 0;
	part->last = 0;
	part->horizon = p->nr ? p->packet[p->next].head.timestamp_begin : 0;
	return 0;
}

/* ---- information without reading records ---- */

/* Finds what an open packet's head lacks: the number of records, and the time of the last. */
static void look_at_open(const struct crash_source *s, const struct tacho_crash_packet *k,
			 uint32_t *events, uint64_t *last)
{
	struct lane_part p = { .packet = k, .nr = 1 };
	bool ends = false;

	next_packet(s, &p);
	while (!ends && p.left && next_range(s, &p, &ends) >= 0)
		;
	*events = p.walked;
	*last = p.last;
	free(p.window);
}

static int crash_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	const struct crash_source *s = crash_of(source);
	struct seam seam = { .begun = false };

	info->discarded += s->torn;
	for (uint32_t i = 0; i < s->session->nr_packets; i++) {
		const struct tacho_crash_packet *k = &s->session->packet[i];
		const struct tacho_packet *h = &k->head;
		uint64_t begin = tacho_clock_ns(&source->clock, h->timestamp_begin);
		uint64_t last = h->timestamp_end, end;
		uint32_t events = h->events;

		if (i && k[-1].head.stream_instance_id != h->stream_instance_id)
			seam = (struct seam){ .begun = false };
		if (!h->content_size)
			look_at_open(s, k, &events, &last);
		end = tacho_clock_ns(&source->clock, last);
		info->discarded += missing(&seam, k);
		info->events += events;
		info->packets++;
		if (!info->begin || begin < info->begin)
			info->begin = begin;
		if (end > info->end)
			info->end = end;
	}
	/* once for the file */
	if (s->session == &s->crash->found.session[0])
		info->bytes += s->crash->image.size;
	return 0;
}

static int crash_text(struct tacho_source *source, const char *name, struct tacho_buf *out)
{
	const struct crash_source *s = crash_of(source);
	struct tacho_task t;

	if (strcmp(name, "cmdlines"))
		return -ENOENT;
	for (uint32_t i = 0; i < TACHO_TASKS_MAX; i++)
		if (tacho_tasks_get(s->session->ctl, i, &t))
			tacho_buf_printf(out, "%d %d %s\n", t.tid, t.tgid, t.comm);
	return tacho_buf_error(out);
}

static const struct tacho_source_ops crash_ops = {
	.format = "core",
	.close = crash_close,
	.fill = crash_fill,
	.seek = crash_seek,
	.type = crash_type,
	.load_types = crash_load_types,
	.info = crash_info,
	.text = crash_text,
};

/* ---- other files in the image ---- */

/* NULL: another kind of source. */
static const struct crash_source *crash_if(const struct tacho_source *source)
{
	return source->ops == &crash_ops ? (const struct crash_source *)(const void *)source :
					   NULL;
}

const struct tacho_control *tacho_crash_control(const struct tacho_source *source)
{
	const struct crash_source *s = crash_if(source);

	return s ? s->session->ctl : NULL;
}

ssize_t tacho_crash_file(const struct tacho_source *source, const char *name, uint64_t magic,
			 void *to, size_t size)
{
	const struct crash_source *s = crash_if(source);
	uint64_t addr, len;

	if (!s || !tacho_crash_find_file(&s->crash->image, s->session, name, magic, &addr, &len))
		return -ENOENT;
	return tacho_image_read(&s->crash->image, addr, to, len < size ? (size_t)len : size);
}

void tacho_crash_place(const struct tacho_part *part, uint32_t *lane, int32_t *buffer)
{
	const struct lane_part *p = (const struct lane_part *)(const void *)part;
	const struct tacho_crash_packet *k = &p->packet[p->next ? p->next - 1 : 0];

	*lane = (uint32_t)k->head.stream_instance_id;
	*buffer = k->buffer;
}

/*
 * Where the records of a buffer's last use end, and the sub-buffer that they begin with. 0: never
 * written.
 */
static int read_turn(const struct crash_source *s, uint32_t lane, uint32_t buffer, uint64_t *end,
		     uint64_t *begins)
{
	const struct tacho_image *m = &s->crash->image;
	uint64_t at = s->session->control + TACHO_CONTROL_LANES_OFF +
		      (uint64_t)lane * TACHO_LANE_STRIDE;
	struct tacho_lane l;
	struct tacho_buffer b;
	bool open;

	if (tacho_image_read(m, at, &l, sizeof(l)) != sizeof(l) ||
	    tacho_image_read(m, at + sizeof(l) + buffer * sizeof(b), &b, sizeof(b)) != sizeof(b))
		return -ENOENT;
	open = tacho_cursor_id(l.cursor) == buffer;
	*end = open ? l.cursor : b.saved;
	*begins = open ? b.begins : b.began;
	return *end ? 0 : -ENOENT;
}

/* The first packet of a lane, or of those after it. */
static uint32_t first_of_lane(const struct tacho_crash_session *c, uint32_t lane)
{
	uint32_t from = 0, to = c->nr_packets;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (c->packet[mid].head.stream_instance_id < lane)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

int tacho_crash_turn(const struct tacho_source *source, uint32_t lane, uint32_t buffer,
		     struct tacho_crash_turn *turn)
{
	const struct crash_source *s = crash_if(source);
	bool found = false;
	uint64_t end, begins;
	int err = s && buffer < TACHO_BUFFERS_MAX ? read_turn(s, lane, buffer, &end, &begins) :
						    -ENOENT;

	*turn = (struct tacho_crash_turn){ .begins = err ? 0 : begins, .gone = true };
	for (uint32_t i = err ? 0 : first_of_lane(s->session, lane);
	     !err && i < s->session->nr_packets; i++) {
		const struct tacho_crash_packet *k = &s->session->packet[i];
		uint64_t seq = k->head.packet_seq_num;

		if (k->head.stream_instance_id != lane)
			break;
		if (k->buffer != (int32_t)buffer)
			continue;
		if (seq == begins) {
			turn->since = k->head.event_first;
			turn->gone = false;
		}
		if ((seq & TACHO_CURSOR_SEQ_MASK) == tacho_cursor_seq(end)) {
			turn->end = k->head.event_first + tacho_cursor_events(end);
			turn->last_sub = seq;
			found = true;
		}
	}
	return err ? err : found ? 0 : -ENOENT;
}

/* ---- opening ---- */

static int set_fact(struct crash_source *s, const char *name, const char *value)
{
	return *value ? tacho_facts_set(&s->source.facts, name, strlen(name), value,
					strlen(value)) : 0;
}

static int set_number(struct crash_source *s, const char *name, int32_t value)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", value);
	return value ? set_fact(s, name, text) : 0;
}

static const char *clock_name(uint32_t clock)
{
	return clock == TACHO_CLOCK_MONO ? "mono" : clock == TACHO_CLOCK_BOOT ? "boot" :
#if defined(__x86_64__)
	       "x86-tsc";
#else
	       "counter";
#endif
}

static int set_facts(struct crash_source *s)
{
	const struct tacho_image *m = &s->crash->image;
	const struct tacho_control *c = s->session->ctl;
	struct tacho_task t;
	char uuid[33];
	int err;

	for (int i = 0; i < 16; i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", c->uuid[i]);
	err = set_fact(s, "session", c->name);
	if (!err)
		err = set_fact(s, "uuid", uuid);
	if (!err)
		err = set_fact(s, "clock", clock_name(c->clock));
	if (!err)
		err = set_fact(s, "command", m->command);
	if (!err)
		err = set_number(s, "core_pid", m->pid);
	if (!err)
		err = set_number(s, "core_signal", m->signal);
	for (uint32_t i = 0; i < TACHO_TASKS_MAX && !err; i++)
		if (tacho_tasks_get(c, i, &t))
			err = tacho_facts_add_task(&s->source.facts, t.tid, t.tgid, t.comm,
						   strlen(t.comm));
	return err;
}

static uint32_t cpu_of(const struct tacho_control *c, uint64_t lane)
{
	const uint64_t late = (uint64_t)c->nr_cpus + c->nr_fallback;

	return lane < c->nr_cpus ? (uint32_t)lane : lane < late ? UINT32_MAX :
	       (uint32_t)(lane - late);
}

/* Packets are sorted by lane: each run of one lane becomes a part. */
static int add_lanes(struct crash_source *s)
{
	const struct tacho_crash_session *c = s->session;
	uint32_t lanes = 0, n = 0;
	int err = 0;

	for (uint32_t i = 0; i < c->nr_packets; i++)
		lanes += !i || c->packet[i].head.stream_instance_id !=
			       c->packet[i - 1].head.stream_instance_id;
	s->window = lanes ? WINDOWS_MAX / lanes : WINDOW_MAX;
	s->window = s->window > WINDOW_MAX ? WINDOW_MAX :
		    s->window < WINDOW_MIN ? WINDOW_MIN : s->window;
	s->lane = calloc(lanes ? lanes : 1, sizeof(*s->lane));
	if (!s->lane)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_packets && !err; i += s->lane[n++].nr) {
		struct lane_part *p = &s->lane[n];
		uint64_t lane = c->packet[i].head.stream_instance_id;

		p->packet = &c->packet[i];
		while (i + p->nr < c->nr_packets &&
		       p->packet[p->nr].head.stream_instance_id == lane)
			p->nr++;
		p->part.cpu = cpu_of(c->ctl, lane);
		p->part.stream_id = TACHO_STREAM_PROGRAM;
		(void)crash_seek(&s->source, &p->part, 0);
		err = tacho_source_add_part(&s->source, &p->part);
	}
	return err;
}

static int add_session(struct tacho_stream *stream, struct crash *c,
		       const struct tacho_crash_session *session, unsigned int flags)
{
	struct crash_source *s = calloc(1, sizeof(*s));
	const struct tacho_control *ctl = session->ctl;
	int err;

	if (!s)
		return -ENOMEM;
	s->crash = c;
	s->session = session;
	c->users++;
	tacho_source_init(&s->source, &crash_ops, flags);
	s->source.arena = &s->arena;
	tacho_arena_init(&s->arena, TYPES_ARENA);
	tacho_clock_map_init(&s->source.clock, ctl->clock_freq, ctl->start.ticks,
			     ctl->start.realtime);
	err = read_slots(s);
	if (!err)
		err = set_facts(s);
	if (!err)
		err = add_lanes(s);
	if (err) {
		crash_close(&s->source);
		return err;
	}
	return tacho_stream_add_take(stream, &s->source);
}

static int nothing_in(const struct crash *c, const char *path, struct tacho_diag *d)
{
	if (c->found.others)
		return tacho_diag(d, -EPROTO, 0, "'%s' holds a session that another version of "
				  "tacho made", path);
	return tacho_diag(d, c->image.is_core ? -ENODATA : -EINVAL, 0, c->image.is_core ?
			  "'%s' holds no session; a core dump has them if the program's "
			  "/proc/PID/coredump_filter had bit 0x8" :
			  "'%s' is not a trace", path);
}

int tacho_crash_open(struct tacho_stream *stream, const char *path, unsigned int flags,
		     struct tacho_diag *d)
{
	struct crash *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return tacho_no_memory(d);
	c->users = 1;
	c->image.fd = -1;
	err = tacho_image_open(&c->image, path, d);
	if (!err) {
		err = tacho_crash_find(&c->found, &c->image);
		for (uint32_t i = 0; i < c->found.nr && !err; i++)
			err = add_session(stream, c, &c->found.session[i], flags);
		if (err)
			tacho_diag(d, err, 0, "cannot read '%s': %s", path, strerror(-err));
		else if (!c->found.nr)
			err = nothing_in(c, path, d);
	}
	release_crash(c);
	return err;
}
