// SPDX-License-Identifier: MIT
/* Tables of buffers: create, delete, link, shift, jump, list. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "compat/lkst/late.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/pump.h"
#include "ring/write.h"
#include "sys/futex.h"

#define PAGE	4096u
#define LARGEST	(LKST_SIZEOF_LKST_EVENT_RECORD + 8u)	/* a kernel event in the ring */

/* ---- sizes ---- */

/* Sub-buffers that always hold the last `size` bytes of records: see state.h, 3. */
static uint64_t subs_for(uint64_t sub, uint64_t size)
{
	uint64_t records = size / LKST_SIZEOF_LKST_EVENT_RECORD;
	uint64_t each = (sub - sizeof(struct tacho_packet)) / LARGEST;
	uint64_t n = 2;

	while (n < (records + each - 1) / each + 2)
		n *= 2;
	return n;
}

uint64_t lkst_lane_size(uint32_t sub, uint64_t size)
{
	return subs_for(sub, size) * sub;
}

uint64_t lkst_size_of_subs(const struct tacho_ring *r, uint32_t nr_subs)
{
	uint64_t sub = UINT64_C(1) << r->sub_shift;
	uint64_t each = (sub - sizeof(struct tacho_packet)) / LARGEST;
	uint64_t size = nr_subs > 2 ? (nr_subs - 2) * each * LKST_SIZEOF_LKST_EVENT_RECORD : 0;

	size &= ~(uint64_t)(PAGE - 1);
	return size ? size : PAGE;
}

/* ---- entries ---- */

static struct tacho_buffer *ring_buffer(const struct tacho_lkst *l, uint32_t cpu,
					uint32_t ring)
{
	return tacho_lane_buffer(tacho_ring_lane(&l->session.view.ring, cpu),
				 ring % TACHO_BUFFERS_MAX);
}

static uint64_t cursor_of(const struct tacho_lkst *l, uint32_t cpu)
{
	return tacho_load_acquire(&tacho_ring_lane(&l->session.view.ring, cpu)->cursor);
}

struct lkst_buffer *lkst_buffer_at(const struct tacho_lkst *l, int cpu, int32_t id)
{
	struct lkst_buffer *b;

	if (!lkst_cpu_is(l, cpu) || id < 0 || id >= TACHO_BUFFERS_MAX)
		return NULL;
	b = &l->state->cpu[cpu].buffer[id];
	return tacho_load_acquire(&b->state) == LKST_BUFFER_THERE ? b : NULL;	/* [lkst-buffer] */
}

int32_t lkst_write_buf(const struct tacho_lkst *l, uint32_t cpu)
{
	return (int32_t)tacho_load_relaxed(&l->state->cpu[cpu].of_ring[
		       tacho_cursor_id(cursor_of(l, cpu))]) - 1;
}

/* What the ring's buffer had before is not the new one's. */
void lkst_buffer_enter(struct tacho_lkst *l, uint32_t cpu, int32_t id, uint32_t ring,
		       uint64_t size)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	struct lkst_buffer *b = &c->buffer[id];
	uint32_t lane = lkst_late_lane(l->state, &l->session.view.ring, cpu);
	uint64_t saved = tacho_load_relaxed(&ring_buffer(l, cpu, ring)->saved);
	struct tacho_ring_buf *map = tacho_ring_map(&l->session.view.ring, cpu, ring);
	const struct tacho_packet *last =
		saved && map ? tacho_ring_sub(&l->session.view.ring, map, saved) : NULL;

	b->ring = ring;
	b->next = LKST_BUFFER_ID_VOID;
	b->size = size;
	b->since = last ? last->packet_seq_num + 1 : 0;
	b->taken = 0;
	b->late_turn = 0;
	b->late_end = lane == UINT32_MAX ? 0 :
		      tacho_ring_written(&l->session.view.ring, lane, ring);
	b->late_from = b->late_early = b->late_end;
	b->upto = (last ? last->event_first + tacho_cursor_events(saved) : 0) + b->late_end;
	tacho_store_release(&b->state, LKST_BUFFER_THERE);	/* [lkst-buffer] */
	tacho_store_release(&c->of_ring[ring], (uint8_t)(id + 1));
}

/* ---- create ---- */

int lkst_late_make(struct tacho_lkst *l, uint32_t cpu, uint32_t ring, uint32_t nr_subs)
{
	uint32_t lane = lkst_late_lane(l->state, &l->session.view.ring, cpu);

	return lane == UINT32_MAX ? 0 :
	       tacho_ring_add_buffer(&l->session.view.ring, lane, ring, nr_subs,
				     TACHO_BUFFER_OVERWRITE);
}

/*
 * A buffer of the lane for nr_subs sub-buffers that is not in use: an old one of that size, or a
 * new one.
 */
static int free_ring(const struct tacho_lkst *l, uint32_t cpu, uint32_t nr_subs)
{
	const struct lkst_cpu *c = &l->state->cpu[cpu];
	int fresh = -ENOSPC;

	for (int ring = TACHO_BUFFERS_MAX - 1; ring >= 0; ring--) {
		const struct tacho_buffer *b = ring_buffer(l, cpu, (uint32_t)ring);

		if (c->of_ring[ring] || tacho_cursor_id(cursor_of(l, cpu)) == (uint32_t)ring)
			continue;
		if (!(tacho_load_acquire(&b->flags) & TACHO_BUFFER_MADE))
			fresh = ring;
		else if (b->nr_subs == nr_subs)
			return ring;
	}
	return fresh;
}

/* Memory of a lane's buffer that had been given back is allocated again. */
static int fill_holes(const struct tacho_lkst *l, uint32_t lane, uint32_t ring)
{
	char name[64], path[TACHO_PATH_MAX + 64];
	int fd, err = 0;

	if (lane == UINT32_MAX)
		return 0;
	tacho_ring_file(name, sizeof(name), lane, ring);
	(void)snprintf(path, sizeof(path), "%s/%s", l->session.path, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fallocate(fd, 0, 0, lseek(fd, 0, SEEK_END)))
		err = -errno;
	close(fd);
	return err;
}

static int create_one(struct tacho_lkst *l, uint32_t cpu, int32_t id, uint64_t size,
		      int32_t next)
{
	struct tacho_ring *r = &l->session.view.ring;
	uint32_t nr_subs = (uint32_t)subs_for(UINT64_C(1) << r->sub_shift, size);
	int ring = free_ring(l, cpu, nr_subs), err;

	if (ring < 0)
		return ring;
	if (tacho_load_acquire(&ring_buffer(l, cpu, (uint32_t)ring)->flags) & TACHO_BUFFER_MADE)
		err = fill_holes(l, cpu, (uint32_t)ring);
	else
		err = tacho_ring_add_buffer(r, cpu, (uint32_t)ring, nr_subs,
					    TACHO_BUFFER_OVERWRITE);
	if (!err)
		err = lkst_late_make(l, cpu, (uint32_t)ring, nr_subs);
	if (!err)
		err = fill_holes(l, lkst_late_lane(l->state, r, cpu), (uint32_t)ring);
	if (err)
		return err == -ENOSPC ? -ENOMEM : err;
	lkst_buffer_enter(l, cpu, id, (uint32_t)ring, size);
	tacho_store_relaxed(&l->state->cpu[cpu].buffer[id].next, next);
	return 0;
}

/* Whether id is free on all the CPUs that are meant. */
static bool is_free(const struct tacho_lkst *l, int cpu, int32_t id)
{
	for (uint32_t c = 0; c < lkst_nr_cpus(l); c++)
		if ((cpu < 0 || (uint32_t)cpu == c) && lkst_cpu_is(l, (int)c) &&
		    l->state->cpu[c].buffer[id].state != LKST_BUFFER_NONE)
			return false;
	return true;
}

static void remove_one(struct tacho_lkst *l, uint32_t cpu, int32_t id);

static int create_all(struct tacho_lkst *l, int cpu, int32_t id, uint64_t size, int32_t next)
{
	int err = 0;
	uint32_t c;

	for (c = 0; !err && c < lkst_nr_cpus(l); c++)
		if ((cpu < 0 || (uint32_t)cpu == c) && lkst_cpu_is(l, (int)c))
			err = create_one(l, c, id, size, next);
	/* all or none: c is after the one that failed */
	for (c = err && c ? c - 1 : 0; c-- > 0;)
		if ((cpu < 0 || (uint32_t)cpu == c) && lkst_cpu_is(l, (int)c))
			remove_one(l, c, id);
	return err;
}

static int create(struct tacho_lkst *l, struct lkst_buffer_param *p)
{
	uint64_t size = p->size & ~(size_t)(PAGE - 1);
	int32_t id = p->id;
	int err;

	if (size < LKST_BUFFER_SIZE_MIN || size > LKST_BUFFER_SIZE_MAX ||
	    p->next < LKST_BUFFER_ID_VOID || p->next >= LKST_BUFFER_MAX ||
	    p->cpu < -1 || (p->cpu >= 0 && !lkst_cpu_is(l, p->cpu)))
		return -EINVAL;
	if (id == LKST_BUFFER_ID_VOID)
		for (id = 0; id < LKST_BUFFER_MAX && !is_free(l, p->cpu, id); id++)
			;
	if (p->id == LKST_BUFFER_ID_VOID && id == LKST_BUFFER_MAX)
		return -ENOSPC;
	if (id < 0 || id >= LKST_BUFFER_MAX || id == p->next || !is_free(l, p->cpu, id))
		return -EINVAL;
	err = create_all(l, p->cpu, id, size, p->next);
	if (err)
		return err;
	p->id = id;
	p->result_size = size;
	return 0;
}

int tacho_lkst_buffer_create(struct tacho_lkst *l, struct lkst_buffer_param *p)
{
	int err;

	if (!p)
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = create(l, p);
	tacho_lkst_unlock(l);
	return err;
}

/* ---- delete ---- */

/*
 * D4.  The sub-buffer that it ends in stays: the next use of the ring's buffer takes its
 * numbers from there.
 */
static void give_back(struct tacho_lkst *l, uint32_t lane, uint32_t ring)
{
	struct tacho_ring *r = &l->session.view.ring;
	bool written;
	uint64_t end = lane == UINT32_MAX ? 0 : lkst_ring_end(r, lane, ring, &written);
	uint64_t sub = UINT64_C(1) << r->sub_shift, size, keep;
	char name[64], path[TACHO_PATH_MAX + 64];
	int fd;

	if (lane == UINT32_MAX)
		return;
	size = (uint64_t)ring_buffer(l, lane, ring)->nr_subs << r->sub_shift;
	keep = end ? (uint64_t)tacho_cursor_seq(end) % (size / sub) * sub : size;
	tacho_ring_file(name, sizeof(name), lane, ring);
	(void)snprintf(path, sizeof(path), "%s/%s", l->session.path, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (keep)
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)keep);
	if (keep + sub < size)
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(keep + sub), (off_t)(size - keep - sub));
	close(fd);
}

/* Readers that begin with what was not consumed begin after it. */
static void forget(struct tacho_lkst *l, uint32_t lane, uint32_t ring)
{
	struct tacho_ring *r = &l->session.view.ring;
	struct tacho_ring_buf *map = tacho_ring_map(r, lane, ring);
	bool written;
	uint64_t end = map ? lkst_ring_end(r, lane, ring, &written) : 0;

	if (end)
		tacho_store_release(&ring_buffer(l, lane, ring)->consumed,	/* [consumed] */
				    tacho_ring_sub(r, map, end)->packet_seq_num + 1);
}

static void remove_one(struct tacho_lkst *l, uint32_t cpu, int32_t id)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	struct lkst_buffer *b = &c->buffer[id];
	uint32_t lane[2] = { cpu, lkst_late_lane(l->state, &l->session.view.ring, cpu) };

	/* of a killed reader: its successor does not continue there */
	if (c->read_buf == id)
		c->read_buf = LKST_BUFFER_ID_VOID;
	tacho_store_relaxed(&c->of_ring[b->ring % TACHO_BUFFERS_MAX], 0);
	/* the pump does not begin with it any more */
	tacho_store_release(&b->state, LKST_BUFFER_NONE);	/* [lkst-buffer] */
	for (int i = 0; i < 2; i++) {
		forget(l, lane[i], b->ring);
		give_back(l, lane[i], b->ring);
	}
}

/* Whether writers may be on their way from the buffer that is written to buffer id. */
static bool is_next(const struct tacho_lkst *l, uint32_t cpu, int32_t id)
{
	const struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, lkst_write_buf(l, cpu));

	return b && tacho_load_relaxed(&b->next) == id;
}

static int delete_one(struct tacho_lkst *l, uint32_t cpu, int32_t id)
{
	struct lkst_cpu *c = &l->state->cpu[cpu];
	struct lkst_buffer *b = lkst_buffer_at(l, (int)cpu, id);

	if (!b)
		return -EINVAL;
	if (lkst_write_buf(l, cpu) == id ||
	    (c->read_buf == id && lkst_owner_lives(&c->reader)))
		return -EBUSY;
	tacho_store_release(&b->state, LKST_BUFFER_GOING);		/* [lkst-buffer] D1 */
	if ((is_next(l, cpu, id) &&
	     tacho_ring_switch_subbuf(&l->session.view.ring, cpu)) ||		/* D2 */
	    lkst_write_buf(l, cpu) == id) {				/* D3 */
		tacho_store_release(&b->state, LKST_BUFFER_THERE);	/* [lkst-buffer] */
		return -EBUSY;
	}
	remove_one(l, cpu, id);
	return 0;
}

/* -1: wherever there is one; busy on one CPU, the others' are gone. */
static int delete_all(struct tacho_lkst *l, int32_t id)
{
	int err = -EINVAL;

	for (uint32_t c = 0; c < lkst_nr_cpus(l); c++) {
		int one = lkst_buffer_at(l, (int)c, id) ? delete_one(l, c, id) : -EINVAL;

		if (err == -EINVAL || one == -EBUSY)
			err = one == -EINVAL ? err : one;
	}
	return err;
}

int tacho_lkst_buffer_delete(struct tacho_lkst *l, const struct lkst_buffer_delparam *p)
{
	int err;

	if (!p || p->id <= 0 || p->id >= LKST_BUFFER_MAX ||
	    (p->cpu != -1 && !lkst_cpu_is(l, p->cpu)))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = p->cpu < 0 ? delete_all(l, p->id) : delete_one(l, (uint32_t)p->cpu, p->id);
	tacho_lkst_unlock(l);
	return err;
}

/* ---- link, shift, jump ---- */

/* Sets another link: hooks that know the old one start again, as with D2. */
static void set_next(struct tacho_lkst *l, uint32_t cpu, struct lkst_buffer *b, int32_t next)
{
	int32_t old = tacho_load_relaxed(&b->next);

	tacho_store_release(&b->next, next);
	if (old != next && old != LKST_BUFFER_ID_VOID &&
	    b == lkst_buffer_at(l, (int)cpu, lkst_write_buf(l, cpu)))
		(void)tacho_ring_switch_subbuf(&l->session.view.ring, cpu);
}

int tacho_lkst_buffer_link(struct tacho_lkst *l, const struct lkst_buffer_linkparam *p)
{
	struct lkst_buffer *b;
	int err;

	if (!p || p->id == p->next || p->next < LKST_BUFFER_ID_VOID ||
	    p->next >= LKST_BUFFER_MAX)
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	b = lkst_buffer_at(l, p->cpu, p->id);
	if (b)
		set_next(l, (uint32_t)p->cpu, b, p->next);
	tacho_lkst_unlock(l);
	return b ? 0 : -EINVAL;
}

/* What was recorded before goes to the old buffer, that of the kernel included. */
static int go_to(struct tacho_lkst *l, int cpu, int32_t id)
{
	const struct lkst_buffer *b = lkst_buffer_at(l, cpu, id);
	int32_t old = lkst_write_buf(l, (uint32_t)cpu);
	struct lkst_record r = {
		.etype = LKST_ETYPE_LKST_BUFF_SHIFT,
		.arg = { (uint64_t)cpu, (uint64_t)(int64_t)old, (uint64_t)id },
	};
	int err;

	if (!b)
		return -EINVAL;
	if (old == id)
		return 0;
	err = tacho_ring_shift(&l->session.view.ring, (uint32_t)cpu, b->ring);
	if (err < 0)
		return err == -ENOENT ? -ENOMEM :	/* it is there, and cannot be mapped */
		       err == -ENOBUFS ? -EINVAL : err;
	(void)tacho_add_seq_cst(&l->state->wake, 1);
	tacho_futex_wake(&l->state->wake);
	(void)tacho_lkst_entry(l, &r);
	return 0;
}

int tacho_lkst_buffer_jump(struct tacho_lkst *l, const struct lkst_buffer_jumpparam *p)
{
	int err;

	if (!p || !lkst_cpu_is(l, p->cpu))
		return -EINVAL;
	(void)tacho_lkst_pump_once(l);
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	err = go_to(l, p->cpu, p->dest);
	tacho_lkst_unlock(l);
	return err;
}

int tacho_lkst_buffer_shift(struct tacho_lkst *l, int cpu)
{
	const struct lkst_buffer *b;
	int err;

	if (!lkst_cpu_is(l, cpu))
		return -EINVAL;
	(void)tacho_lkst_pump_once(l);
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	b = lkst_buffer_at(l, cpu, lkst_write_buf(l, (uint32_t)cpu));
	err = b ? go_to(l, cpu, tacho_load_relaxed(&b->next)) : -EINVAL;
	tacho_lkst_unlock(l);
	return err;
}

/* ---- list ---- */

static void list_one(struct tacho_lkst *l, uint32_t cpu, int32_t id,
		     struct lkst_buffer_listent *e)
{
	const struct lkst_buffer *b = &l->state->cpu[cpu].buffer[id];
	struct lkst_extent x;

	lkst_extent(l, cpu, b, &x);
	*e = (struct lkst_buffer_listent){
		.size = b->size,
		.write_offset = (int)((x.shown.end - x.shown.since) *
				      LKST_SIZEOF_LKST_EVENT_RECORD % b->size),
		.baseid = (int)x.shown.since,
		.id = id, .next = tacho_load_relaxed(&b->next),
		.rq_prev = LKST_BUFFER_ID_VOID, .rq_next = LKST_BUFFER_ID_VOID,
	};
}

static void list_cpu(struct tacho_lkst *l, struct lkst_buffer_listparam *p)
{
	const struct lkst_cpu *c = &l->state->cpu[p->cpu];
	bool owned = lkst_owner_lives(&c->reader);
	int32_t queue[TACHO_BUFFERS_MAX];
	uint32_t n = lkst_queue(l, (uint32_t)p->cpu, queue);
	int room = p->listent_num, listed = 0;

	p->buffer_num = 0;
	for (int32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
		if (!lkst_buffer_at(l, p->cpu, id))
			continue;
		p->buffer_num++;
		if (listed < room)
			list_one(l, (uint32_t)p->cpu, id, &p->listent[listed++]);
	}
	for (int i = 0; i < listed; i++)
		for (uint32_t q = 0; q < n; q++)
			if (queue[q] == p->listent[i].id) {
				p->listent[i].rq_prev = q ? queue[q - 1] : LKST_BUFFER_ID_VOID;
				p->listent[i].rq_next = q + 1 < n ? queue[q + 1] :
							LKST_BUFFER_ID_VOID;
			}
	p->write_buf = lkst_write_buf(l, (uint32_t)p->cpu);
	p->rq_head = n ? queue[0] : LKST_BUFFER_ID_VOID;
	p->rq_tail = n ? queue[n - 1] : LKST_BUFFER_ID_VOID;
	p->owner = owned ? c->reader.pid : PID_MAX + 1;
	p->read_buf = owned ? c->read_buf : LKST_BUFFER_ID_VOID;
	p->read_pos = 0;
	if (owned && c->read_buf >= 0) {
		struct lkst_extent x;

		lkst_extent(l, (uint32_t)p->cpu, &c->buffer[c->read_buf], &x);
		if (c->read_next > x.shown.since)
			p->read_pos = (int)((c->read_next - x.shown.since) *
					    LKST_SIZEOF_LKST_EVENT_RECORD);
	}
}

int tacho_lkst_buffer_list(struct tacho_lkst *l, struct lkst_buffer_listparam *p)
{
	int err;

	if (!p || !lkst_cpu_is(l, p->cpu) || p->listent_num < 0 ||
	    (p->listent_num && !p->listent))
		return -EINVAL;
	err = tacho_lkst_lock(l);
	if (err)
		return err;
	list_cpu(l, p);
	tacho_lkst_unlock(l);
	return 0;
}
