// SPDX-License-Identifier: MIT
/* Kernel records, taken from the kernel and kept; store.h has the picture. */
#include "compat/ftrace/store_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "kdata/symbols.h"
#include "kdata/syscalls.h"
#include "sys/clock.h"
#include "tacho/abi/record.h"

#define LOOKS		64		/* new threads looked up at a time */

/* ---- blocks ---- */

static void block_put(struct tree_block *b)
{
	if (b && tacho_sub_acq_rel(&b->refs, 1) == 1)
		free(b);
}

static struct tree_block *block_get(struct tree_block *b)
{
	if (b)
		tacho_add_relaxed(&b->refs, 1);
	return b;
}

void tree_lane_init(struct tree_lane *l)
{
	*l = (struct tree_lane){ .last = &l->first };
}

/* The oldest block goes. */
static void drop_first(struct tree_lane *l)
{
	struct tree_block *b = l->first;

	l->first = b->next;
	if (!l->first)
		l->last = &l->first;
	l->nr--;
	l->events -= b->events;
	l->bytes -= b->len;
	b->dropped = true;
	block_put(b);
}

void tree_lane_clear(struct tree_lane *l)
{
	while (l->first)
		drop_first(l);
}

void tree_lane_trim_read(struct tree_lane *l)
{
	while (l->first && l->first != l->tail)
		drop_first(l);
}

static struct tree_block *add_block(struct tree_lane *l, uint64_t begin)
{
	struct tree_block *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	memset(b, 0, offsetof(struct tree_block, data));
	b->refs = 1;
	b->seq = l->next_seq++;
	b->begin = begin;
	b->lost = l->lost;
	l->lost = 0;
	*l->last = b;
	l->last = &b->next;
	l->tail = b;
	l->nr++;
	return b;
}

/* One record after the others. */
static int lane_put(struct tree_lane *l, const unsigned char *record, uint32_t size,
		    uint64_t time)
{
	struct tree_block *b = l->first ? l->tail : NULL;

	if (!b || l->lost || size > sizeof(b->data) - b->len ||
	    time - b->begin >= UINT64_C(1) << (TACHO_TIME_BITS - 1))
		b = add_block(l, time);
	if (!b) {
		l->lost++;
		return -ENOMEM;
	}
	memcpy(b->data + b->len, record, size);
	b->end = time;
	b->events++;
	tacho_store_release(&b->len, b->len + size);	/* [block-len] pairs with fill()'s */
	l->events++;
	l->bytes += size;
	return 0;
}

/* Blocks of a CPU: no more than the instance's buffers hold, and the one that is written. */
static uint64_t most_blocks(const struct tree_inst *inst)
{
	return tree_buffer_size(inst, -1) / TREE_BLOCK + 1;
}

static void trim(struct tree_store *s, struct tree_lane *l)
{
	while (l->nr > most_blocks(s->inst)) {
		l->overrun += l->first->events;
		drop_first(l);
	}
}

/* ---- from the kernel ---- */

static int sink(void *arg, const struct tacho_kernel_batch *b)
{
	struct tree_store *s = arg;
	struct tree_lane *l = b->cpu < s->nr_cpus ? &s->front[b->cpu] : NULL;
	uint64_t last = b->time_begin;
	uint32_t size;

	if (!l)
		return 0;
	l->lost += b->lost;
	l->overrun += b->lost;
	s->taken += b->events;
	for (uint32_t at = 0; at < b->len; at += size) {
		uint64_t word = tacho_load_u64(b->records + at);

		size = tacho_record_size(word);
		last = tacho_record_time(word, last);
		if (lane_put(l, b->records + at, size, last))
			return -ENOMEM;
	}
	return 0;
}

static void load_type(void *arg, uint32_t id)
{
	tree_store_load_type(arg, id);
}

int tree_store_drain(struct tree_inst *inst)
{
	struct tree_store *s = inst->store;
	uint64_t steps;
	int more;

	if (!s)
		return 0;
	s->horizon = tree_now(inst);
	/* what was there when we began, twice over; not all that busy CPUs write meanwhile */
	steps = 2 * tree_buffer_size(inst, -1) / TACHO_KERNEL_BATCH + 2;
	do
		more = tacho_kernel_pump_step(s->pump, 0);
	while (more > 0 && --steps);
	tacho_ktasks_look(&s->tasks, LOOKS);
	tree_engine_run(s);
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		trim(s, &s->lane[i]);
	return more < 0 ? more : 0;
}

int tree_store_settle(struct tree_inst *inst)
{
	const struct timespec slack = { .tv_nsec = (long)TREE_SLACK_NS };
	int err = tree_store_drain(inst);

	if (err || !inst->store || !inst->store->query)
		return err;
	(void)nanosleep(&slack, NULL);
	return tree_store_drain(inst);
}

void tree_store_events_changed(struct tree_inst *inst)
{
	if (inst->store)
		inst->store->ids.stale = true;
}

/* ---- life ---- */

static struct tree_lane *new_lanes(uint32_t nr)
{
	struct tree_lane *l = calloc(nr, sizeof(*l));

	for (uint32_t i = 0; l && i < nr; i++)
		tree_lane_init(&l[i]);
	return l;
}

static void free_lanes(struct tree_lane *l, uint32_t nr)
{
	for (uint32_t i = 0; l && i < nr; i++)
		tree_lane_clear(&l[i]);
	free(l);
}

static int prepare(struct tree_store *s)
{
	struct tacho_kernel_pump_config pc = {
		.sink = sink, .arg = s, .tasks = &s->tasks, .load_type = load_type,
	};

	s->lane = new_lanes(s->nr_cpus);
	s->front = s->lane;
	if (!s->lane)
		return -ENOMEM;
	tacho_tracefs_load_own_types(&s->types, s->inst->tree->tracefs.dirfd);
	tacho_ktasks_scan(&s->tasks);
	return tacho_kernel_pump_new(&s->pump, s->inst->kernel, &s->types, &pc, NULL);
}

int tree_store_new(struct tree_inst *inst)
{
	struct tree_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->inst = inst;
	s->nr_cpus = tacho_kernel_info(inst->kernel)->nr_cpus;
	s->slack = TREE_SLACK_NS * tacho_clock_freq(inst->session.view.ring.clock) / 1000000000;
	tacho_ktypes_init(&s->types);
	err = tacho_ktasks_init(&s->tasks);
	if (!err)
		err = prepare(s);
	if (err) {
		tree_store_free(s);
		return err;
	}
	inst->store = s;
	return 0;
}

void tree_store_free(struct tree_store *s)
{
	if (!s)
		return;
	tree_engine_free(s);
	tacho_kernel_pump_free(s->pump);
	if (s->front != s->lane)
		free_lanes(s->front, s->nr_cpus + 1);
	free_lanes(s->lane, s->nr_cpus);
	free_lanes(s->snapshot, s->nr_cpus);
	tacho_ktypes_release(&s->types);
	tacho_ktasks_release(&s->tasks);
	tacho_arena_release(&s->ids.arena);
	free(s);
}

void tree_store_clear(struct tree_inst *inst, int32_t cpu)
{
	struct tree_store *s = inst->store;

	if (!s)
		return;
	(void)tree_store_settle(inst);
	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		if (cpu >= 0 && (uint32_t)cpu != i)
			continue;
		tree_lane_clear(&s->lane[i]);
		s->lane[i].overrun = s->lane[i].lost = 0;
	}
}

/* Copies the records of a block that are later than `after` and not later than end. */
static void copy_records(struct tree_lane *to, const struct tree_block *b, uint64_t after,
			 uint64_t end)
{
	uint64_t time = b->begin;
	uint32_t size;

	for (uint32_t at = 0; at < b->len; at += size) {
		uint64_t word = tacho_load_u64(b->data + at);

		size = tacho_record_size(word);
		time = tacho_record_time(word, time);
		if (time > after && time <= end)
			(void)lane_put(to, b->data + at, size, time);
	}
}

/* Takes all blocks from the first that goes beyond end; they are the caller's. */
static struct tree_block *cut(struct tree_lane *l, uint64_t end)
{
	struct tree_block **at = &l->first, *before = NULL, *rest;

	while (*at && (*at)->end <= end) {
		before = *at;
		at = &before->next;
	}
	rest = *at;
	*at = NULL;
	l->last = at;
	l->tail = before;
	for (const struct tree_block *b = rest; b; b = b->next) {
		l->nr--;
		l->events -= b->events;
		l->bytes -= b->len;
	}
	return rest;
}

/* What is later than end goes from one lane after another. */
static void move_later(struct tree_lane *from, struct tree_lane *to, uint64_t end)
{
	struct tree_block *b = cut(from, end), *next;

	for (; b; b = next) {
		next = b->next;
		copy_records(from, b, 0, end);
		copy_records(to, b, end, UINT64_MAX);
		b->dropped = true;
		block_put(b);
	}
	/* they were lost before what comes next */
	to->lost += from->lost;
	from->lost = 0;
}

int tree_store_snapshot(struct tree_inst *inst, uint64_t end)
{
	struct tree_store *s = inst->store;
	struct tree_lane *live;

	if (!s)
		return 0;
	live = s->snapshot ? s->snapshot : new_lanes(s->nr_cpus);
	if (!live)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		move_later(&s->lane[i], &live[i], end);
	s->snapshot = s->lane;
	if (s->front == s->lane)
		s->front = live;
	s->lane = live;
	s->turn++;
	return 0;
}

void tree_store_drop_snapshot(struct tree_inst *inst)
{
	struct tree_store *s = inst->store;

	if (!s)
		return;
	free_lanes(s->snapshot, s->nr_cpus);
	s->snapshot = NULL;
}

void tree_store_stats(const struct tree_inst *inst, uint32_t cpu,
		      struct tree_store_stats *st)
{
	const struct tree_store *s = inst->store;

	*st = (struct tree_store_stats){ 0 };
	if (!s || cpu >= s->nr_cpus)
		return;
	st->entries = s->lane[cpu].events;
	st->bytes = s->lane[cpu].bytes;
	st->overrun = s->lane[cpu].overrun;
}

uint32_t tree_store_closed(const struct tree_inst *inst, uint32_t cpu, uint64_t since,
			   uint32_t *most)
{
	const struct tree_store *s = inst->store;
	const struct tree_lane *l = cpu < s->nr_cpus ? &s->lane[cpu] : NULL;
	uint32_t n = 0;

	*most = (uint32_t)most_blocks(inst) - 1;
	for (const struct tree_block *b = l ? l->first : NULL; b && b != l->tail; b = b->next)
		n += b->end > since;
	return n;
}

/* ---- a source ---- */

struct store_part {
	struct tacho_part part;
	struct tree_block *block;	/* a reference; pos and end are in it */
	uint32_t read;			/* bytes of it that were handed out */
	uint64_t next_seq;		/* of the block that comes next */
	bool last;			/* not live: block was the last one */
};

struct store_source {
	struct tacho_source source;
	struct tree_inst *inst;
	enum tree_store_part which;
	bool locked;			/* the engine's own: inst->lock is held */
	bool drained;			/* LIVE: not again before it is told to */
	uint32_t turn;			/* the store's, when it was opened */
	uint32_t tasks_done, nr_parts;
	uint64_t *until;		/* NOW: sequence numbers of the last blocks */
	uint32_t *until_len;
	struct store_part part[];
};

/* Which lane a part is of: its CPU, or after those, the markers'. */
static uint32_t lane_of(const struct store_source *ss, const struct store_part *p)
{
	return (uint32_t)(p - ss->part);
}

static struct store_source *of(struct tacho_source *source)
{
	return (struct store_source *)(void *)source;	/* first member */
}

static void source_close(struct tacho_source *source)
{
	struct store_source *ss = of(source);

	for (uint32_t i = 0; i < ss->nr_parts; i++)
		block_put(ss->part[i].block);
	tacho_source_release(source);
	free(ss->until);
	free(ss->until_len);
	free(ss);
}

/* NULL: they have changed sides since. */
static struct tree_lane *lanes_of(const struct store_source *ss)
{
	struct tree_store *s = ss->inst->store;

	if (ss->locked)
		return s->front;
	if (ss->turn != s->turn)
		return NULL;
	return ss->which == TREE_STORE_SNAPSHOT ? s->snapshot : s->lane;
}

/* The first block with records at or after next_seq. */
static struct tree_block *next_block(const struct store_part *p,
				     const struct tree_lane *l)
{
	struct tree_block *b = l->first;

	if (b && p->block == l->tail)
		return NULL;
	if (p->block && !p->block->dropped && p->block->next)
		b = p->block->next;
	while (b && b->seq < p->next_seq)
		b = b->next;
	return b;
}

/* What is new in the block at hand, or the next one; under the lock. */
static bool advance(struct store_source *ss, struct store_part *p)
{
	uint32_t lane = lane_of(ss, p), len;
	struct tree_lane *lanes = lanes_of(ss);
	struct tree_block *b = p->block;

	if (!b || tacho_load_acquire(&b->len) == p->read) {	/* [block-len] */
		b = lanes ? next_block(p, &lanes[lane]) : NULL;
		if (!b || (ss->until && b->seq > ss->until[lane]))
			return false;
		p->part.lost += b->lost;
		block_put(p->block);
		p->block = block_get(b);
		p->next_seq = b->seq + 1;
		p->read = 0;
		p->part.last = b->begin;
	}
	if (lane == ss->inst->store->nr_cpus)
		p->part.cpu = ss->inst->store->mark_cpu;
	len = tacho_load_acquire(&b->len);	/* [block-len] */
	if (ss->until && b->seq == ss->until[lane] && len > ss->until_len[lane])
		len = ss->until_len[lane];
	if (len <= p->read)
		return false;
	p->part.pos = b->data + p->read;
	p->part.end = b->data + len;
	p->part.limit = UINT64_MAX;
	p->read = len;
	return true;
}

/* Adds the pump's threads to the facts. */
static void tell_tasks(struct store_source *ss)
{
	struct tacho_ktasks *t = &ss->inst->store->tasks;

	for (; ss->tasks_done < t->nr; ss->tasks_done++) {
		const struct tacho_ktask *k = &t->list[ss->tasks_done];

		/* the name is lost, or it must still be looked up */
		if (!k->comm[0] && ss->tasks_done < t->looked)
			continue;
		if (!k->comm[0])
			break;
		(void)tacho_facts_add_task(&ss->source.facts, k->pid, k->tgid, k->comm,
					   strnlen(k->comm, sizeof(k->comm)));
	}
}

/* Names of all threads as they are now. */
static void collect_names(struct tree_store *s)
{
	if (s->tasks.nr == s->named)
		return;
	tacho_ktasks_finish(&s->tasks, s->inst->tree->tracefs.dirfd);
	s->named = s->met = s->tasks.nr;
}

/* Adds new thread names: a live source reports each only once. */
static void collect_new_names(struct tree_store *s)
{
	if (s->tasks.nr == s->met)
		return;
	tacho_ktasks_catch_up(&s->tasks, s->inst->tree->tracefs.dirfd, s->met);
	s->met = s->tasks.nr;
}

static int source_fill(struct tacho_source *source, struct tacho_part *part, bool bad)
{
	struct store_source *ss = of(source);
	struct store_part *p = (struct store_part *)(void *)part;
	bool found;

	if (bad)
		return tacho_source_damage(source, "kernel", 0, "a record of no type");
	if (!ss->locked)
		pthread_mutex_lock(&ss->inst->lock);
	found = advance(ss, p);
	if (!found && ss->which == TREE_STORE_LIVE && !ss->locked && !ss->drained) {
		ss->drained = true;
		(void)tree_store_drain(ss->inst);
		collect_new_names(ss->inst->store);
		found = advance(ss, p);
	}
	tell_tasks(ss);
	if (!found) {
		uint64_t h = ss->inst->store->horizon;

		part->pos = part->end;
		part->horizon = h > ss->inst->store->slack ?
				h - ss->inst->store->slack : 0;
	}
	if (!ss->locked)
		pthread_mutex_unlock(&ss->inst->lock);
	if (found)
		return TACHO_STREAM_RECORD;
	return ss->which == TREE_STORE_LIVE ? TACHO_STREAM_AGAIN : TACHO_STREAM_END;
}

static const struct tacho_type *source_type(struct tacho_source *source,
					    uint32_t stream_id, uint32_t id)
{
	struct store_source *ss = of(source);
	const struct tacho_type *type;
	const struct tacho_ktype *k;

	if (!ss->locked)
		pthread_mutex_lock(&ss->inst->lock);
	k = tacho_ktypes_find(&ss->inst->store->types, id);
	type = k ? k->type : tree_engine_type(ss->inst->store, id);
	if (!ss->locked)
		pthread_mutex_unlock(&ss->inst->lock);
	if (!type || tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	return type;
}

static int source_text(struct tacho_source *source, const char *name,
		       struct tacho_buf *out)
{
	(void)source;
	if (!strcmp(name, "kallsyms"))
		return tacho_symbols_snapshot(out, NULL);
	if (!strcmp(name, "syscalls")) {
		tacho_syscalls_text(out);
		return tacho_buf_error(out);
	}
	return -ENOENT;
}

static const struct tacho_source_ops live_ops = {
	.format = "kernel", .live = true, .close = source_close,
	.fill = source_fill, .type = source_type, .text = source_text,
};

static const struct tacho_source_ops now_ops = {
	.format = "kernel", .close = source_close,
	.fill = source_fill, .type = source_type, .text = source_text,
};

static void set_clock(struct store_source *ss)
{
	const struct tacho_control *ctl = ss->inst->session.view.ctl;

	tacho_clock_map_init(&ss->source.clock, ctl->clock_freq, ctl->start.ticks,
			     ctl->start.realtime);
}

/* NOW: where to end. */
static int note_ends(struct store_source *ss)
{
	uint32_t nr = ss->nr_parts;

	ss->until = calloc(nr, sizeof(*ss->until));
	ss->until_len = calloc(nr, sizeof(*ss->until_len));
	if (!ss->until || !ss->until_len)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct tree_lane *l = &ss->inst->store->lane[i];

		if (!l->first)
			continue;
		ss->until[i] = l->tail->seq;
		ss->until_len[i] = l->tail->len;
	}
	return 0;
}

int tree_store_open(struct tree_inst *inst, enum tree_store_part which, bool locked,
		    struct tacho_source **out)
{
	struct tree_store *s = inst->store;
	struct store_source *ss;
	uint32_t nr;
	int err = 0;

	nr = s->nr_cpus + (locked ? 1 : 0);	/* the engine's: with its lane of markers */
	ss = calloc(1, sizeof(*ss) + nr * sizeof(ss->part[0]));
	if (!ss)
		return -ENOMEM;
	ss->inst = inst;
	ss->turn = s->turn;
	ss->which = which;
	ss->locked = locked;
	ss->nr_parts = nr;
	tacho_source_init(&ss->source, which == TREE_STORE_LIVE ? &live_ops : &now_ops,
			  0);
	set_clock(ss);
	tell_tasks(ss);
	for (uint32_t i = 0; !err && i < nr; i++) {
		struct tacho_part *p = &ss->part[i].part;

		p->cpu = i;
		p->stream_id = TACHO_STREAM_KERNEL;
		p->source = &ss->source;
		p->limit = UINT64_MAX;
		err = tacho_source_add_part(&ss->source, p);
	}
	if (!err && which == TREE_STORE_NOW)
		err = note_ends(ss);
	if (err) {
		source_close(&ss->source);
		return err;
	}
	*out = &ss->source;
	return 0;
}

int tree_store_source(struct tree_inst *inst, enum tree_store_part which,
		      struct tacho_source **out)
{
	int err = 0;

	if (which == TREE_STORE_NOW)
		err = tree_store_settle(inst);
	else if (which == TREE_STORE_LIVE)
		err = tree_store_drain(inst);
	if (err)
		return err;
	collect_names(inst->store);
	return tree_store_open(inst, which, false, out);
}

void tree_store_source_again(struct tacho_source *source)
{
	of(source)->drained = false;
}

int tree_store_mark(struct tree_store *s, uint32_t cpu, const void *record, uint32_t size,
		    uint64_t time)
{
	s->mark_time = time;
	s->mark_cpu = cpu;
	return lane_put(&s->front[s->nr_cpus], record, size, time);
}

int tree_store_put(struct tree_store *s, uint32_t cpu, const void *record,
		   uint32_t size, uint64_t time)
{
	s->taken++;
	return cpu < s->nr_cpus ? lane_put(&s->lane[cpu], record, size, time) : 0;
}

uint64_t tree_store_taken(const struct tree_inst *inst)
{
	return inst->store ? inst->store->taken : 0;
}

void tree_store_lost(struct tree_store *s, uint32_t cpu, uint64_t n)
{
	if (cpu >= s->nr_cpus)
		return;
	s->lane[cpu].lost += n;
	s->lane[cpu].overrun += n;
}
