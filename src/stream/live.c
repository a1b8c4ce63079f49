// SPDX-License-Identifier: MIT
#include "stream/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "ring/read.h"
#include "session/objects.h"
#include "session/session.h"
#include "sys/clock.h"

/* All type texts of a session fit twice. */
#define TYPES_MAX	((size_t)256 << 20)

/* A lane, or (own >= 0) one buffer of a lane whose buffers are linked. */
struct lane {
	struct tacho_part part;
	struct tacho_ring_reader rd;
	uint32_t nr;
	int32_t own;		/* -1: the current buffer */
	bool open;
	bool followed;		/* a shift */
	/* a late lane: its records arrive after others of the same time were returned */
	bool late;
	uint64_t floor;		/* their times are raised to at least this */
	uint64_t discarded;	/* by writers, reported so far */
};

struct live {
	struct tacho_source source;
	struct tacho_arena arena;	/* types */
	struct tacho_dir dir;
	struct tacho_session session;
	struct lane *lane;
	uint32_t nr_lanes;
	bool frozen;		/* read the snapshot's buffers */
	uint64_t task_seq[TACHO_TASKS_MAX];	/* of the known names */
};

static struct live *live_of(struct tacho_source *source)
{
	return (struct live *)(void *)source;	/* first member */
}

static struct lane *lane_of(struct tacho_part *part)
{
	return (struct lane *)(void *)part;	/* first member */
}

static void live_close(struct tacho_source *source)
{
	struct live *live = live_of(source);

	for (uint32_t i = 0; i < live->nr_lanes; i++)
		tacho_ring_reader_release(&live->lane[i].rd);
	tacho_source_release(source);
	free(live->lane);
	tacho_session_close(&live->session);
	tacho_dir_close(&live->dir);
	tacho_arena_release(&live->arena);
	free(live);
}

/* Updates the thread names. */
static void collect_tasks(struct live *live)
{
	struct tacho_task t;

	for (uint32_t i = 0; i < TACHO_TASKS_MAX; i++) {
		if (!tacho_tasks_get(live->session.view.ctl, i, &t) ||
		    t.seq == live->task_seq[i])
			continue;
		live->task_seq[i] = t.seq;
		(void)tacho_facts_add_task(&live->source.facts, t.tid, t.tgid,
					   t.comm, strlen(t.comm));
	}
}

static const struct tacho_type *live_type(struct tacho_source *source,
					  uint32_t stream_id, uint32_t id)
{
	struct live *live = live_of(source);
	const char *text, *body;
	struct tacho_type *type;
	char name[TACHO_RULE_MAX * 2];
	uint32_t len;
	char *colon;

	text = stream_id == TACHO_STREAM_PROGRAM ?
	       tacho_types_text(&live->session.view, id, &len) : NULL;
	body = text ? memchr(text, '\n', len) : NULL;
	if (!body)
		return NULL;
	tacho_type_text_name(text, len, name, sizeof(name));
	colon = strchr(name, ':');
	if (!colon)
		return NULL;
	*colon = '\0';
	body++;
	type = tacho_type_parse(&live->arena, name, colon + 1, id, body,
				len - (size_t)(body - text), NULL);
	if (!type || tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	/* a new type often comes from a new thread */
	collect_tasks(live);
	return type;
}

static void live_load_types(struct tacho_source *source)
{
	struct live *live = live_of(source);
	uint32_t len;

	for (uint32_t id = 1; tacho_types_text(&live->session.view, id, &len); id++)
		(void)tacho_source_type(source, TACHO_STREAM_PROGRAM, id);
}

/* The lane's buffer to read; false: there is none (yet). */
static bool find_buffer(struct live *live, const struct lane *l, uint32_t *id)
{
	struct tacho_lane *lane = tacho_ring_lane(&live->session.view.ring, l->nr);
	uint64_t c = tacho_load_acquire(&lane->cursor);

	if (!c || c == TACHO_CURSOR_DEAD)
		return false;
	*id = l->own >= 0 ? (uint32_t)l->own : tacho_cursor_id(c);
	if (!live->frozen)
		return true;
	*id = tacho_ring_frozen(&live->session.view.ring, l->nr);
	return *id < TACHO_BUFFERS_MAX;
}

/* Whether the lane's reader is in its buffer id: it follows itself where that is moved. */
static bool reads(struct live *live, const struct lane *l, uint32_t id)
{
	const struct tacho_lane *lane = tacho_ring_lane(&live->session.view.ring, l->nr);

	return id == l->rd.id ||
	       (tacho_load_acquire(&lane->moves) && !((id ^ l->rd.id) & 1));
}

/* Opens the lane's buffer, once there is one. */
static bool lane_ready(struct live *live, struct lane *l)
{
	struct tacho_ring *r = &live->session.view.ring;
	uint32_t id;

	int err;

	if (l->open)
		return true;
	if (!find_buffer(live, l, &id))
		return false;
	err = tacho_ring_reader_init(&l->rd, r, l->nr, id,
				     live->source.flags & TACHO_STREAM_CONSUME,
				     live->source.flags & TACHO_LIVE_ALL && !l->followed ?
				     TACHO_READ_ALL : TACHO_READ_OLDEST);
	l->open = !err;
	if (tacho_no_room_here(err))
		tacho_source_failed(&live->source, err, "a buffer");
	return l->open;
}

/* Reads the lane's next records; continues in the buffer that the lane switched to. */
static bool lane_read(struct live *live, struct lane *l, struct tacho_chunk *chunk)
{
	uint32_t id;

	if (!lane_ready(live, l))
		return false;
	if (tacho_ring_read(&l->rd, chunk) == 1)
		return true;
	if (live->frozen || !find_buffer(live, l, &id) || reads(live, l, id))
		return false;
	/* records written before the shift are complete now */
	if (tacho_ring_read(&l->rd, chunk) == 1)
		return true;
	tacho_ring_reader_release(&l->rd);
	l->open = false;
	l->followed = true;
	return lane_ready(live, l) && tacho_ring_read(&l->rd, chunk) == 1;
}

/*
 * Raises the time of records that arrive after later ones were returned to the earliest possible
 * time.
 */
static void lift(struct lane *l)
{
	struct tacho_part *p = &l->part;
	uint64_t last = p->last;
	uint32_t size;

	if (last >= l->floor)
		return;
	for (unsigned char *at = p->pos; at < p->end; at += size) {
		uint64_t word = tacho_load_u64(at);

		size = tacho_record_size(word);
		last = tacho_record_time(word, last);
		tacho_put_u64(at, tacho_record_word(last > l->floor ? last : l->floor, size));
	}
	p->last = l->floor;
	p->limit = last > l->floor ? last : l->floor;
}

static int live_fill(struct tacho_source *source, struct tacho_part *p, bool bad)
{
	struct live *live = live_of(source);
	struct lane *l = lane_of(p);
	struct tacho_ring *r = &live->session.view.ring;
	uint64_t now = tacho_clock_read(r->clock);
	struct tacho_chunk chunk;
	uint64_t discarded;

	(void)bad;	/* the ring's reader returns checked records only */
	if (!lane_read(live, l, &chunk)) {
		if (live->frozen ||
		    tacho_load_acquire(&live->session.view.ctl->state) ==
		    TACHO_STATE_DEAD)
			return TACHO_STREAM_END;
		p->pos = p->end;
		p->horizon = now;
		l->floor = now;
		return TACHO_STREAM_AGAIN;
	}
	p->pos = (unsigned char *)(uintptr_t)chunk.data;
	p->end = p->pos + chunk.len;
	p->last = chunk.head.timestamp_begin;
	p->limit = chunk.head.timestamp_end;
	p->number = chunk.head.event_first + 1;
	if (live->frozen) {
		p->lost += chunk.lost;
		return TACHO_STREAM_RECORD;
	}
	discarded = l->own > 0 ? l->discarded : tacho_ring_lost(r, l->nr);
	p->lost += chunk.lost + (discarded - l->discarded);
	l->discarded = discarded;
	if (l->late)
		lift(l);
	return TACHO_STREAM_RECORD;
}

static int live_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	struct live *live = live_of(source);
	struct tacho_session_counts c;
	uint64_t begin = live->session.view.ctl->start.realtime;
	uint64_t end = tacho_now_ns(CLOCK_REALTIME);

	tacho_session_count(&live->session, &c);
	info->events += c.written - c.overwritten;
	info->overwritten += c.overwritten;
	info->discarded += c.lost_full + c.lost_big + c.lost_busy;
	if (!info->begin || begin < info->begin)
		info->begin = begin;
	if (end > info->end)
		info->end = end;
	return 0;
}

/* Appends the table and the time up to which it is valid: later records may need a newer one. */
static int objects_text(const struct live *live, struct tacho_buf *out)
{
	char path[TACHO_PATH_MAX + 16];

	tacho_buf_printf(out, "now %" PRIu64 "\n",
			 tacho_clock_read_ordered(live->session.view.ctl->clock));
	(void)snprintf(path, sizeof(path), "%s/" TACHO_OBJECTS, live->session.path);
	/* if the file does not exist, no program was asked for stacks yet */
	(void)tacho_buf_read_file(out, path);
	return tacho_buf_error(out);
}

static int live_text(struct tacho_source *source, const char *name,
		     struct tacho_buf *out)
{
	struct live *live = live_of(source);
	struct tacho_task t;

	if (!strcmp(name, TACHO_OBJECTS))
		return objects_text(live, out);
	if (strcmp(name, "cmdlines"))
		return -ENOENT;
	for (uint32_t i = 0; i < TACHO_TASKS_MAX; i++)
		if (tacho_tasks_get(live->session.view.ctl, i, &t))
			tacho_buf_printf(out, "%d %d %s\n", t.tid, t.tgid, t.comm);
	return tacho_buf_error(out);
}

static const struct tacho_source_ops live_ops = {
	.format = "session",
	.live = true,
	.close = live_close,
	.fill = live_fill,
	.type = live_type,
	.load_types = live_load_types,
	.info = live_info,
	.text = live_text,
};

static int add_lane(struct live *live, uint32_t nr, int32_t own)
{
	const struct tacho_ring *r = &live->session.view.ring;
	struct lane *l = &live->lane[live->nr_lanes++];
	struct tacho_part *p = &l->part;

	l->nr = nr;
	l->own = own;
	l->late = nr >= r->nr_cpus + r->nr_fallback;
	p->cpu = tacho_ring_cpu(r, nr);
	p->stream_id = TACHO_STREAM_PROGRAM;
	p->source = &live->source;
	p->limit = UINT64_MAX;
	return tacho_source_add_part(&live->source, p);
}

/*
 * If buffers are linked, each has records of its own time span, also those that the lane has
 * left: each is a part.  Without links, one part follows the lane from buffer to buffer.
 */
static bool is_part(const struct live *live, uint32_t nr, uint32_t id)
{
	struct tacho_lane *lane = tacho_ring_lane(&live->session.view.ring, nr);

	return live->session.view.ctl->flags & TACHO_SESSION_LINKED ?
	       tacho_load_acquire(&tacho_lane_buffer(lane, id)->flags) & TACHO_BUFFER_MADE :
	       id == 0;
}

static int add_lanes(struct live *live)
{
	uint32_t n = tacho_ring_nr_lanes(&live->session.view.ring), parts = 0;
	bool linked = live->session.view.ctl->flags & TACHO_SESSION_LINKED;
	int err = 0;

	for (uint32_t i = 0; i < n * TACHO_BUFFERS_MAX; i++)
		parts += is_part(live, i / TACHO_BUFFERS_MAX, i % TACHO_BUFFERS_MAX);
	live->lane = calloc(parts, sizeof(*live->lane));
	if (!live->lane)
		return -ENOMEM;
	/* a buffer created during the loop is ignored */
	for (uint32_t i = 0; !err && i < n * TACHO_BUFFERS_MAX && live->nr_lanes < parts; i++) {
		if (!is_part(live, i / TACHO_BUFFERS_MAX, i % TACHO_BUFFERS_MAX))
			continue;
		err = add_lane(live, i / TACHO_BUFFERS_MAX,
			       linked ? (int32_t)(i % TACHO_BUFFERS_MAX) : -1);
	}
	return err;
}

static int open_live(struct tacho_source **out, const char *name, bool frozen,
		     unsigned int flags, struct tacho_diag *d)
{
	struct live *live = calloc(1, sizeof(*live));
	const struct tacho_control *ctl;
	int err;

	if (!live)
		return tacho_no_memory(d);
	live->frozen = frozen;
	tacho_source_init(&live->source, &live_ops, flags);
	live->source.arena = &live->arena;
	tacho_arena_init(&live->arena, TYPES_MAX);
	err = tacho_dir_open(&live->dir, false, d);
	if (!err)
		err = tacho_session_open(&live->session, &live->dir, name, d);
	if (!err && add_lanes(live))
		err = tacho_no_memory(d);
	if (err) {
		live_close(&live->source);
		return err;
	}
	ctl = live->session.view.ctl;
	tacho_clock_map_init(&live->source.clock, ctl->clock_freq,
			     ctl->start.ticks, ctl->start.realtime);
	collect_tasks(live);
	*out = &live->source;
	return 0;
}

int tacho_live_open(struct tacho_source **source, const char *name,
		    unsigned int flags, struct tacho_diag *d)
{
	return open_live(source, name, false, flags, d);
}

int tacho_live_open_frozen(struct tacho_source **source, const char *name,
			   unsigned int flags, struct tacho_diag *d)
{
	return open_live(source, name, true, flags, d);
}
