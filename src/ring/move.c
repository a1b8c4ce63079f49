// SPDX-License-Identifier: MIT
/* Moves a lane to a buffer of another size or mode (ring.h, section 9). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring/lane.h"
#include "sys/mapping.h"

/* The mode of a buffer, which it never changes. */
#define MODE	((uint32_t)TACHO_BUFFER_OVERWRITE)

/* From one buffer to another; sub-buffers [low, upto) and `words` of upto were copied. */
struct move {
	struct tacho_ring *r;
	struct tacho_lane *lane;
	struct tacho_buffer *old, *new;
	const struct tacho_ring_buf *from, *to;
	uint32_t to_id;
	bool begun;
	uint64_t low, upto;
	uint32_t words;
};

/* ---- which buffer ---- */

static bool is_alive(uint64_t c)
{
	return c && c != TACHO_CURSOR_DEAD;
}

uint32_t tacho_ring_home(const struct tacho_ring *r, uint32_t lane)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);
	uint64_t c = tacho_load_acquire(&l->cursor);

	return (is_alive(c) ? tacho_cursor_id(c) : tacho_load_acquire(&l->home) %	/* [home] */
						   TACHO_BUFFERS_MAX) & ~1u;
}

bool tacho_ring_in_use(const struct tacho_ring *r, uint32_t lane, uint32_t id)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);

	return tacho_load_acquire(&tacho_lane_buffer(l, id)->flags) & TACHO_BUFFER_MADE &&
	       (!tacho_load_acquire(&l->moves) || (id & ~1u) == tacho_ring_home(r, lane));
}

uint32_t tacho_ring_frozen(const struct tacho_ring *r, uint32_t lane)
{
	struct tacho_lane *l = tacho_ring_lane(r, lane);

	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
		if (tacho_load_acquire(&tacho_lane_buffer(l, id)->flags) &
		    TACHO_BUFFER_FROZEN && tacho_ring_in_use(r, lane, id))
			return id;
	return TACHO_BUFFERS_MAX;
}

/* The pair that is, or was, of this size and mode, else one that never was any; M2. */
static uint32_t find_pair(struct tacho_lane *lane, uint32_t here, uint32_t nr_subs,
			  uint32_t mode)
{
	uint32_t unused = TACHO_BUFFERS_MAX;

	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id += 2) {
		const struct tacho_buffer *b = tacho_lane_buffer(lane, id);

		if (id == here)
			continue;
		if (!tacho_load_relaxed(&b->nr_subs))
			b++;	/* only the second was made so far */
		if (!tacho_load_relaxed(&b->nr_subs) && unused == TACHO_BUFFERS_MAX)
			unused = id;
		if (tacho_load_relaxed(&b->nr_subs) == nr_subs &&
		    (tacho_load_relaxed(&b->flags) & MODE) == mode)
			return id;
	}
	return unused;
}

/* ---- copying ---- */

/* What can be read of a buffer whose open sub-buffer is seq, but for that one. */
static uint64_t history(const struct tacho_ring *r, const struct tacho_ring_buf *b,
			const struct tacho_buffer *buf)
{
	return tacho_ring_subs(r, b) -
	       (tacho_load_relaxed(&buf->flags) & TACHO_BUFFER_OVERWRITE ? 2 : 1);
}

/* The full number of c's sub-buffer. */
static uint64_t seq_of(struct tacho_buffer *b, uint64_t c)
{
	uint64_t seq = tacho_load_relaxed(&tacho_buffer_open(b, c)->seq);

	/* else it is corrupt: the buffer begins at its first sub-buffer */
	return (seq & TACHO_CURSOR_SEQ_MASK) == tacho_cursor_seq(c) ? seq : tacho_cursor_seq(c);
}

/* The first sub-buffer that both can hold. */
static uint64_t lowest(const struct move *m, uint64_t seq)
{
	uint64_t room = history(m->r, m->from, m->old), other = history(m->r, m->to, m->new);
	uint64_t floor = tacho_load_relaxed(&m->old->floor), low;

	if (other < room)
		room = other;
	low = seq > room ? seq - room : 0;
	if (floor > low)
		low = floor;
	return low < seq ? low : seq;
}

static uint64_t *sub_at(const struct move *m, const struct tacho_ring_buf *b, uint64_t seq)
{
	return (uint64_t *)(void *)tacho_ring_sub(m->r, b, tacho_cursor_make(0, seq, 0, 0));
}

/* Words [0, end) of a sub-buffer, of which `have` were copied before; always the whole header. */
static void copy_words(const struct move *m, uint64_t seq, uint32_t have, uint32_t end)
{
	const uint64_t *from = sub_at(m, m->from, seq);
	uint64_t *to = sub_at(m, m->to, seq);

	if (have < TACHO_PACKET_WORDS)
		have = TACHO_PACKET_WORDS;
	tacho_copy_relaxed(to, from, TACHO_PACKET_WORDS);
	if (end > have)
		tacho_copy_relaxed(to + have, from + have, end - have);
}

/* M4: copies all up to cursor c that was not copied yet.  Returns the first that is kept. */
static uint64_t copy_until(struct move *m, uint64_t c)
{
	uint32_t end = tacho_cursor_words(c);
	uint64_t seq = seq_of(m->old, c), low = lowest(m, seq);

	if (end > m->r->sub_words)
		end = m->r->sub_words;
	if (!m->begun)
		m->low = low;
	if (!m->begun || m->upto < low || m->upto > seq) {
		m->upto = low;
		m->words = 0;
	}
	m->begun = true;
	for (; m->upto < seq; m->upto++, m->words = 0)
		copy_words(m, m->upto, m->words, m->r->sub_words);
	copy_words(m, seq, m->words, end);
	m->words = end;
	/* a sub-buffer that was overwritten during the copy is not a packet */
	for (; m->low < low; m->low++)
		if (seq - m->low < tacho_ring_subs(m->r, m->to))
			tacho_store_relaxed(sub_at(m, m->to, m->low), 0);
	return low;
}

/* Fills in the control block of the new buffer, which is not in use yet. */
static void describe(const struct move *m, uint64_t low)
{
	const uint64_t *from = (const uint64_t *)(const void *)m->old->open;
	uint64_t consumed = tacho_load_relaxed(&m->old->consumed);

	/* sub-buffers that were not moved are free */
	if (!(tacho_load_relaxed(&m->new->flags) & TACHO_BUFFER_OVERWRITE) && consumed < low)
		consumed = low;
	tacho_copy_relaxed((uint64_t *)(void *)m->new->open, from, sizeof(m->old->open) / 8);
	tacho_store_relaxed(&m->new->floor, low);
	tacho_store_relaxed(&m->new->consumed, consumed);
	tacho_store_relaxed(&m->new->begins, tacho_load_relaxed(&m->old->begins));
	tacho_store_relaxed(&m->new->began, tacho_load_relaxed(&m->old->began));
}

static uint64_t with_id(uint64_t c, uint32_t id)
{
	return (c & ~(UINT64_MAX << TACHO_CURSOR_ID_SHIFT)) |
	       (uint64_t)id << TACHO_CURSOR_ID_SHIFT;
}

/* M5, on the lane's CPU. */
static int move_step(const struct tacho_lane_ref *ref, void *arg)
{
	uint64_t c = tacho_load_acquire(&ref->lane->cursor);
	struct move *m = arg;

	if (!is_alive(c))
		return -ESHUTDOWN;
	describe(m, copy_until(m, c));
	TACHO_INJECT(ring_before_move);
	return tacho_lane_commit(ref, c, NULL, 0, with_id(c, m->to_id)) ? -EAGAIN : 0;
}

/* ---- memory ---- */

/* M6: a reader that still reads the buffer finds `moves` changed. */
static void retire_buffer(struct tacho_ring *r, uint32_t nr, uint32_t id)
{
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	char name[32], path[TACHO_PATH_MAX + 40];
	off_t size;
	int fd;

	(void)tacho_and_seq_cst(&tacho_lane_buffer(lane, id)->flags,
				~(uint32_t)(TACHO_BUFFER_MADE | TACHO_BUFFER_FROZEN));
	(void)tacho_add_seq_cst(&lane->moves, 1);
	lane_is_moved(lane);
	tacho_ring_file(name, sizeof(name), nr, id);
	(void)snprintf(path, sizeof(path), "%s/%s", r->path, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	if (size > 0)
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
	close(fd);
}

void tacho_ring_settle(struct tacho_ring *r, uint32_t nr)
{
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	uint32_t home = tacho_ring_home(r, nr);

	if (!tacho_load_relaxed(&lane->moves))
		return;
	tacho_store_release(&lane->home, home);			/* [home] */
	for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
		if ((id & ~1u) != home &&
		    tacho_load_relaxed(&tacho_lane_buffer(lane, id)->flags) & TACHO_BUFFER_MADE)
			retire_buffer(r, nr, id);
}

/* ---- moving ---- */

/* M3: makes and maps the new buffer. */
static int prepare(struct move *m, struct tacho_ring *r, uint32_t nr, uint32_t from, uint32_t to,
		   uint32_t nr_subs, uint32_t mode)
{
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	int err = tacho_ring_add_buffer(r, nr, to, nr_subs, mode);

	*m = (struct move){
		.r = r, .lane = lane, .to_id = to,
		.old = tacho_lane_buffer(lane, from), .new = tacho_lane_buffer(lane, to),
	};
	if (err)
		return err;
	m->from = tacho_ring_map(r, nr, from);
	m->to = tacho_ring_map(r, nr, to);
	return m->from && m->to ? 0 : -ENOMEM;
}

/* M3: the other buffer of the pair, which is not written: a snapshot's. */
static int move_partner(struct tacho_ring *r, uint32_t nr, uint32_t from, uint32_t to,
			uint32_t nr_subs, uint32_t mode)
{
	const struct tacho_buffer *b = tacho_lane_buffer(tacho_ring_lane(r, nr), from);
	uint32_t flags = tacho_load_relaxed(&b->flags);
	uint64_t saved = tacho_load_relaxed(&b->saved);
	struct move m;
	int err;

	if (!(flags & TACHO_BUFFER_MADE))
		return 0;
	err = prepare(&m, r, nr, from, to, nr_subs, mode);
	if (err)
		return err;
	if (saved)
		describe(&m, copy_until(&m, saved));
	tacho_store_relaxed(&m.new->saved, saved ? with_id(saved, to) : 0);
	(void)tacho_or_seq_cst(&m.new->flags, flags & TACHO_BUFFER_FROZEN);
	return 0;
}

int tacho_ring_move(struct tacho_ring *r, uint32_t nr, uint32_t nr_subs, uint32_t mode)
{
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	uint32_t id = tacho_cursor_id(c), odd = id & 1, pair;
	const struct tacho_buffer *b = tacho_lane_buffer(lane, id);
	struct move m;
	int err;

	if (!is_alive(c))
		return -EINVAL;
	tacho_ring_settle(r, nr);					/* M1 */
	if (b->nr_subs == nr_subs && (tacho_load_relaxed(&b->flags) & MODE) == mode)
		return 0;
	pair = find_pair(lane, id & ~1u, nr_subs, mode);		/* M2 */
	if (pair >= TACHO_BUFFERS_MAX)
		return -ENOSPC;
	(void)tacho_add_seq_cst(&lane->moves, 1);			/* M3 [moves] */
	lane_is_moved(lane);
	err = move_partner(r, nr, id ^ 1, pair | (odd ^ 1), nr_subs, mode);
	if (!err)
		err = prepare(&m, r, nr, id, pair | odd, nr_subs, mode);
	TACHO_INJECT(ring_move_prepared);
	if (!err) {
		(void)copy_until(&m, tacho_load_acquire(&lane->cursor)); /* M4 */
		err = tacho_lane_visit(r, nr, move_step, &m, false);	/* M5 */
	}
	TACHO_INJECT(ring_moved);
	tacho_ring_settle(r, nr);					/* M6 */
	return err;
}
