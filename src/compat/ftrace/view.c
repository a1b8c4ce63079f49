// SPDX-License-Identifier: MIT
/* One instance's records as a stream; what is consumed; what is there. */
#include "compat/ftrace/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timex.h>

#include "base/scan.h"
#include "compat/ftrace/nodes.h"
#include "ring/read.h"
#include "stream/live.h"
#include "sys/clock.h"

#define CLOCK_TRIES	5
#define FORMAT_MAX	((size_t)1 << 20)

/* ---- marks ---- */

/*
 * Whether a lane is read with one CPU (-1: all).  Programs without restartable sequences
 * write to lanes of no CPU, after those of the CPUs: they are read with the first,
 * and what is in them counts as its.
 */
static bool is_of(int32_t cpu, uint32_t lane, uint32_t nr_cpus)
{
	return cpu < 0 || lane == (uint32_t)cpu || (!cpu && lane >= nr_cpus);
}

static uint32_t slot(const struct tree_inst *inst, uint32_t source, uint32_t cpu)
{
	uint32_t last = inst->nr_lanes - 1;

	return source * inst->nr_lanes + (cpu < last ? cpu : last);
}

/* A lane's mark; snapshots have their own. */
static struct tree_mark *lane_mark(const struct tree_reader *r, uint32_t i)
{
	return &r->inst->mark[r->view == TREE_VIEW_SNAPSHOT ?
			      2 * r->inst->nr_lanes + i : i];
}

/* Counts a record of a lane; whether the mark covers it. */
static bool is_consumed(struct tree_mark *at, const struct tree_mark *mark,
			uint64_t ticks)
{
	if (at->ticks != ticks) {
		at->ticks = ticks;
		at->n = 0;
	}
	at->n++;
	return ticks < mark->ticks || (ticks == mark->ticks && at->n <= mark->n);
}

/* A change of a mark ends; under inst->pipe. */
static void next_turn(struct tree_mark *mark)
{
	tacho_store_release(&mark->turn, mark->turn + 1);	/* [mark-turn] */
}

/* What is consumed changes places; turns are each mark's own. */
static void swap_marks(struct tree_mark *a, struct tree_mark *b)
{
	struct tree_mark old = *a;

	a->ticks = b->ticks;
	a->n = b->n;
	a->read = b->read;
	a->cleared = b->cleared;
	a->written = b->written;
	b->ticks = old.ticks;
	b->n = old.n;
	b->read = old.read;
	b->cleared = old.cleared;
	b->written = old.written;
}

/* Whether a snapshot was taken since the reader was opened. */
static bool is_stale(const struct tree_reader *r)
{
	return tacho_load_acquire(&r->inst->swap_turn) != r->swap_turn;	/* [swap-turn] */
}

static void consume(struct tree_mark *mark, uint64_t ticks)
{
	if (mark->ticks != ticks) {
		mark->ticks = ticks;
		mark->n = 0;
	}
	mark->n++;
	mark->read++;
	next_turn(mark);
}

/* A lane's mark as it is now. */
static const struct tree_mark *mark_now(struct tree_reader *r, uint32_t i)
{
	const struct tree_mark *mark = lane_mark(r, i);

	/* [mark-turn] */
	if (tacho_unlikely(tacho_load_acquire(&mark->turn) != r->seen[i].turn)) {
		pthread_mutex_lock(&r->inst->pipe);
		/* it is the other side's by now */
		if (!is_stale(r))
			r->seen[i] = *mark;
		pthread_mutex_unlock(&r->inst->pipe);
	}
	return &r->seen[i];
}

/* ---- a reader ---- */

/* A reader of one CPU does not read the others. */
static void keep_cpu(struct tacho_source *source, int32_t cpu, uint32_t nr_cpus)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < source->nr_parts; i++)
		if (is_of(cpu, source->part[i]->cpu, nr_cpus))
			source->part[n++] = source->part[i];
	source->nr_parts = n;
}

static int add_source(struct tree_reader *r, struct tacho_source *source)
{
	keep_cpu(source, r->cpu, r->inst->nr_lanes - 1);
	return tacho_stream_add_take(r->stream, source);
}

/* The buffers that are written, or those of the last snapshot. */
static int add_ring(struct tree_reader *r, bool frozen)
{
	unsigned int flags = r->swaps.nr ? TACHO_LIVE_ALL : 0;
	struct tacho_source *source;
	int err = frozen ? tacho_live_open_frozen(&source, r->inst->name, flags, NULL) :
			   tacho_live_open(&source, r->inst->name, flags, NULL);

	return err ? err : add_source(r, source);
}

/* When there were snapshots, either side's records may be in either of the buffers. */
static int add_sources(struct tree_reader *r)
{
	static const enum tree_store_part parts[] = {
		[TREE_VIEW_NOW] = TREE_STORE_NOW, [TREE_VIEW_LIVE] = TREE_STORE_LIVE,
		[TREE_VIEW_SNAPSHOT] = TREE_STORE_SNAPSHOT,
	};
	struct tree_inst *inst = r->inst;
	struct tacho_source *source;
	bool frozen = r->view == TREE_VIEW_SNAPSHOT;
	int err = add_ring(r, frozen);

	if (!err && inst->store) {
		err = tree_store_source(inst, parts[r->view], &source);
		if (!err)
			err = add_source(r, source);
		r->has_kernel = !err;
	}
	return err || !r->swaps.nr ? err : add_ring(r, !frozen);
}

int tree_reader_open(struct tree_reader *r, struct tree_inst *inst,
		     enum tree_view view, int32_t cpu, bool consuming)
{
	int err = -ENOMEM;

	*r = (struct tree_reader){
		.inst = inst, .view = view, .cpu = cpu, .consume = consuming,
		.until = UINT64_MAX,
		.stream = tacho_stream_new(0),
		.at = calloc((size_t)2 * inst->nr_lanes, sizeof(*r->at)),
		.seen = calloc((size_t)2 * inst->nr_lanes, sizeof(*r->seen)),
	};
	pthread_mutex_lock(&inst->lock);
	tree_follow_snapshot(inst);
	if (r->stream && r->at && r->seen)
		err = tree_swaps_copy(&r->swaps, &inst->swaps);
	r->swap_turn = inst->swap_turn;
	if (!err)
		err = add_sources(r);
	pthread_mutex_unlock(&inst->lock);
	if (view == TREE_VIEW_NOW)
		r->until = tree_now(inst);
	if (err)
		tree_reader_close(r);
	return err;
}

void tree_reader_close(struct tree_reader *r)
{
	tacho_stream_close(r->stream);
	if (r->symbols)
		tree_symbols_put(r->inst->tree, r->symbols);
	free(r->at);
	free(r->seen);
	tree_swaps_release(&r->swaps);
	*r = (struct tree_reader){ .inst = r->inst };
}

bool tree_reader_is_partial(struct tree_reader *r)
{
	bool partial;

	if (is_stale(r))
		return true;
	if (r->has_kernel)
		return false;
	pthread_mutex_lock(&r->inst->lock);
	partial = r->inst->store;
	pthread_mutex_unlock(&r->inst->lock);
	return partial;
}

/* Whether it is one of the side that is read.  The store has only these. */
static bool is_side(const struct tree_reader *r, const struct tacho_record *rec)
{
	if (!r->swaps.nr || rec->source != TACHO_STREAM_PROGRAM)
		return true;
	return rec->ticks >= r->swaps.floor &&
	       tree_swaps_live(&r->swaps, rec->ticks) == (r->view != TREE_VIEW_SNAPSHOT);
}

/* Whether this reader is to hand the record out. */
static bool is_wanted(struct tree_reader *r, const struct tacho_record *rec)
{
	uint32_t i = slot(r->inst, rec->source, rec->cpu);
	struct tree_mark *at = &r->at[i], *mark = lane_mark(r, i);
	bool wanted;

	r->slot = i;
	if (!is_side(r, rec))
		return false;
	if (!r->consume)
		return !is_consumed(at, mark_now(r, i), rec->ticks);
	pthread_mutex_lock(&r->inst->pipe);
	wanted = !is_stale(r) && !is_consumed(at, mark, rec->ticks);
	if (wanted)
		consume(mark, rec->ticks);
	pthread_mutex_unlock(&r->inst->pipe);
	return wanted;
}

bool tree_reader_take(struct tree_reader *r, const struct tacho_record *rec)
{
	struct tree_mark *at = &r->at[r->slot], *mark = lane_mark(r, r->slot);
	bool ours;

	pthread_mutex_lock(&r->inst->pipe);
	ours = !is_stale(r) &&
	       (rec->ticks > mark->ticks || (rec->ticks == mark->ticks && at->n > mark->n));
	if (ours)
		consume(mark, rec->ticks);
	pthread_mutex_unlock(&r->inst->pipe);
	return ours;
}

int tree_reader_next(struct tree_reader *r, struct tacho_record *rec)
{
	for (;;) {
		int status = tacho_stream_next(r->stream, rec);

		if (status == TACHO_STREAM_AGAIN && r->view != TREE_VIEW_LIVE)
			return TACHO_STREAM_END;
		if (status == TACHO_STREAM_AGAIN && r->has_kernel)
			tree_store_source_again(tacho_stream_source(r->stream, 1));
		if (status != TACHO_STREAM_RECORD)
			return status;
		if (r->view == TREE_VIEW_LIVE && is_stale(r))
			return TACHO_STREAM_AGAIN;
		if (rec->ticks > r->until)
			return TACHO_STREAM_END;
		r->lost += rec->lost;
		if (!is_wanted(r, rec)) {
			/* a gap before the read position is not reported */
			r->lost = 0;
			continue;
		}
		rec->lost = r->lost;
		r->lost = 0;
		if (rec->cpu >= r->inst->nr_lanes - 1)
			rec->cpu = 0;
		return status;
	}
}

/* ---- clocks ---- */

static clockid_t system_clock(enum tree_clock clock)
{
	switch (clock) {
	case TREE_CLOCK_BOOT:
		return CLOCK_BOOTTIME;
	case TREE_CLOCK_TAI:
		return CLOCK_TAI;
	case TREE_CLOCK_MONO_RAW:
		return CLOCK_MONOTONIC_RAW;
	case TREE_CLOCK_LOCAL:
	case TREE_CLOCK_GLOBAL:
	case TREE_CLOCK_PERF:
	case TREE_CLOCK_MONO:
	case TREE_CLOCK_UPTIME:
	case TREE_CLOCK_COUNTER:
	case TREE_CLOCK_TSC:
	case TREE_NR_CLOCKS:
	default:
		return CLOCK_MONOTONIC;
	}
}

/*
 * CLOCK_REALTIME less the clock that is shown, in ns.  Readers of several CPUs find it
 * each for itself, and their times are compared: of some tries the best counts, that
 * was not interrupted.
 */
static uint64_t offset_of(enum tree_clock clock)
{
	uint64_t best = UINT64_MAX, offset = 0;
	clockid_t id = system_clock(clock);

	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = tacho_now_ns(id);
		uint64_t real = tacho_now_ns(CLOCK_REALTIME);
		uint64_t took = tacho_now_ns(id) - before;

		if (took >= best)
			continue;
		best = took;
		offset = real - before - took / 2;
	}
	return offset;
}

bool tree_clock_in_ns(const struct tree_inst *inst)
{
	enum tree_clock clock = tacho_load_relaxed(&inst->clock);

	return clock != TREE_CLOCK_TSC && clock != TREE_CLOCK_COUNTER &&
	       clock != TREE_CLOCK_UPTIME;
}

bool tree_clock_is_ticks(const struct tree_inst *inst)
{
	enum tree_clock clock = tacho_load_relaxed(&inst->clock);

	return clock == TREE_CLOCK_TSC || clock == TREE_CLOCK_COUNTER;
}

void tree_shown_clock(const struct tree_inst *inst, struct tacho_clock_map *m)
{
	const struct tacho_control *ctl = inst->session.view.ctl;

	tacho_clock_map_init(m, ctl->clock_freq, ctl->start.ticks, ctl->start.realtime);
	m->base -= offset_of(tacho_load_relaxed(&inst->clock));
}

uint64_t tree_shown_time(const struct tree_inst *inst, uint64_t ticks)
{
	struct tacho_clock_map m;

	if (tree_clock_is_ticks(inst))
		return ticks;
	tree_shown_clock(inst, &m);
	return tacho_clock_ns(&m, ticks);
}

/* ---- printing ---- */

static const char *name_comm(void *arg, int32_t pid)
{
	struct tree_reader *r = arg;

	return tree_option(r->inst, "record-cmd") ?
	       tacho_stream_comm(r->stream, pid, NULL) : NULL;
}

static int32_t name_tgid(void *arg, int32_t pid)
{
	struct tree_reader *r = arg;
	int32_t tgid = 0;

	(void)tacho_stream_comm(r->stream, pid, &tgid);
	return tgid;
}

static const struct tree_symbols *symbols_of(struct tree_reader *r)
{
	if (!r->symbols && r->has_kernel)
		r->symbols = tree_symbols_get(r->inst->tree);
	return r->symbols;
}

/* Addresses as the kernel's symbols have them; and that of markers written here. */
static const char *name_symbol(void *arg, uint64_t addr, uint64_t *start)
{
	struct tree_reader *r = arg;
	const struct tree_symbols *s;

	if (addr == TREE_MARKER_IP) {
		*start = addr;
		return "tracing_mark_write";
	}
	s = symbols_of(r);
	return s ? tree_symbol(s, addr, start) : NULL;
}

static uint64_t name_symbol_size(void *arg, uint64_t start)
{
	const struct tree_symbols *s = symbols_of(arg);

	return s ? tree_symbol_size(s, start) : 0;
}

static const char *name_probed(void *arg, const struct tacho_type *type)
{
	struct tree_reader *r = arg;

	bool is;

	/* its commands change under it */
	pthread_mutex_lock(&r->inst->lock);
	is = tree_eprobe_base(r->inst, type, r->probed, sizeof(r->probed));
	pthread_mutex_unlock(&r->inst->lock);
	return is ? r->probed : NULL;
}

/* A marker's type has the session's id; the kernel's id is read from its format. */
static uint32_t name_number(void *arg, const struct tacho_type *type)
{
	const struct tree_reader *r = arg;
	char path[2 * TACHO_RULE_MAX + 24];
	struct tacho_buf b;
	uint64_t n = 0;

	(void)snprintf(path, sizeof(path), "events/%s/%s/format", type->system,
		       type->name);
	tacho_buf_init(&b, FORMAT_MAX);
	if (tree_has_kernel(r->inst->tree) &&
	    !tacho_buf_read_fileat(&b, r->inst->tree->tracefs.dirfd, path))
		(void)tacho_scan_after(tacho_buf_str(&b), NULL, "\nID: ", UINT32_MAX, &n);
	tacho_buf_release(&b);
	return (uint32_t)n;
}

void tree_reader_output(struct tree_reader *r, struct tacho_output_config *c)
{
	const struct tree_inst *inst = r->inst;

	*c = (struct tacho_output_config){
		.names = { .arg = r, .comm = name_comm, .tgid = name_tgid,
			   .probed = name_probed, .number = name_number },
		.env = { .arg = r, .symbol = name_symbol,
			 .symbol_size = name_symbol_size, .hz = 250 },
		.in_ns = tree_clock_in_ns(inst),
		.hash_key = { (uint64_t)(uintptr_t)inst, inst->session.generation },
	};
	tree_options_output(inst, &c->options);
	tree_shown_clock(inst, &r->clock);
	if (!tree_clock_is_ticks(inst))
		c->clock = &r->clock;
}

/* ---- counts ---- */

/* What writers committed to the buffer that is written now, and gave up. */
static uint64_t written_now(struct tree_inst *inst, int32_t cpu, uint64_t *dropped)
{
	struct tacho_ring *ring = &inst->session.view.ring;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tacho_ring_nr_lanes(ring); i++) {
		struct tacho_lane *lane = tacho_ring_lane(ring, i);
		uint64_t c = tacho_load_acquire(&lane->cursor);

		if (!is_of(cpu, i, ring->nr_cpus) || !c || c == TACHO_CURSOR_DEAD)
			continue;
		sum += tacho_ring_written(ring, i, tacho_cursor_id(c));
		*dropped += tacho_ring_lost(ring, i);
	}
	return sum;
}

/* Records of programs that are still in the buffers which are written, since they were emptied. */
struct present {
	uint64_t all;		/* if all that is read is in these */
	uint64_t consumed;	/* of the side that is read */
};

static void count_records(struct tree_reader *r, struct tree_counts *c,
			  struct present *present)
{
	struct tacho_record rec;
	int status;

	while ((status = tacho_stream_next(r->stream, &rec)) == TACHO_STREAM_RECORD &&
	       rec.ticks <= r->until) {
		uint32_t i = slot(r->inst, rec.source, rec.cpu);
		const struct tree_mark *m = mark_now(r, i);

		bool side = is_side(r, &rec);
		bool consumed = side && is_consumed(&r->at[i], m, rec.ticks);

		if (rec.source == TACHO_STREAM_PROGRAM && rec.ticks > m->cleared) {
			present->all++;
			present->consumed += consumed;
		}
		if (!side || consumed)
			continue;
		c->entries++;
		c->bytes += rec.len + 4;
		if (!c->oldest || rec.ticks < c->oldest)
			c->oldest = rec.ticks;
	}
}

/* The same when there were snapshots: not of what is in the other buffers. */
static uint64_t count_present(struct tree_reader *r)
{
	struct tacho_stream *stream = tacho_stream_new(0);
	struct tacho_source *source;
	struct tacho_record rec;
	uint64_t n = 0;

	if (stream && !tacho_live_open(&source, r->inst->name, TACHO_LIVE_ALL, NULL)) {
		keep_cpu(source, r->cpu, r->inst->nr_lanes - 1);
		if (tacho_stream_add_take(stream, source)) {
			tacho_stream_close(stream);
			return 0;
		}
	}
	while (stream && tacho_stream_next(stream, &rec) == TACHO_STREAM_RECORD &&
	       rec.ticks <= r->until)
		n += rec.ticks > mark_now(r, slot(r->inst, rec.source, rec.cpu))->cleared;
	tacho_stream_close(stream);
	return n;
}

/* What was overwritten in the store, of one CPU (-1: all). */
static uint64_t store_overrun(struct tree_inst *inst, int32_t cpu)
{
	struct tree_store_stats st;
	uint64_t sum = 0;

	pthread_mutex_lock(&inst->lock);
	for (uint32_t i = 0; inst->store && i < inst->nr_lanes; i++) {
		if (cpu >= 0 && i != (uint32_t)cpu)
			continue;
		tree_store_stats(inst, i, &st);
		sum += st.overrun;
	}
	pthread_mutex_unlock(&inst->lock);
	return sum;
}

int tree_count(struct tree_inst *inst, int32_t cpu, struct tree_counts *c)
{
	uint64_t written, cleared = 0, read = 0, gone;
	struct present present = { 0, 0 };
	struct tree_reader r;
	int err = tree_reader_open(&r, inst, TREE_VIEW_NOW, cpu, false);

	*c = (struct tree_counts){ 0 };
	if (err)
		return err;
	written = written_now(inst, cpu, &c->dropped);
	count_records(&r, c, &present);
	if (r.swaps.nr)
		present.all = count_present(&r);
	for (uint32_t i = 0; i < 2 * inst->nr_lanes; i++) {
		const struct tree_mark *m = mark_now(&r, i);

		if (!is_of(cpu, i % inst->nr_lanes, inst->nr_lanes - 1))
			continue;
		c->read += m->read;
		cleared += m->written;
		if (i / inst->nr_lanes == TACHO_STREAM_PROGRAM)
			read += m->read;
	}
	tree_reader_close(&r);
	/* records overwritten after they were read are not lost */
	gone = read > present.consumed ? read - present.consumed : 0;
	if (written > cleared + present.all + gone)
		c->overrun = written - cleared - present.all - gone;
	c->overrun += store_overrun(inst, cpu);
	return 0;
}

/* Full is full: the sub-buffer that is written is not counted, but is one of them. */
static bool hits(uint64_t closed, uint64_t most, uint32_t percent)
{
	return (closed + 1) * 100 >= percent * (most + 1);
}

/* From when on records are not consumed; those before the last snapshot are not in the way. */
static uint64_t begin_of(const struct tree_inst *inst, uint32_t source, uint32_t cpu)
{
	uint64_t ticks = inst->mark[slot(inst, source, cpu)].ticks;
	const struct tree_swaps *s = &inst->swaps;

	return s->nr && s->at[s->nr - 1] > ticks ? s->at[s->nr - 1] : ticks;
}

bool tree_has_filled(struct tree_inst *inst, uint32_t cpu, uint32_t percent)
{
	struct tacho_ring *ring = &inst->session.view.ring;
	uint32_t most, closed;
	bool filled = false;

	pthread_mutex_lock(&inst->lock);
	pthread_mutex_lock(&inst->pipe);
	for (uint32_t i = 0; !filled && i < tacho_ring_nr_lanes(ring); i++) {
		if (!is_of((int32_t)cpu, i, ring->nr_cpus))
			continue;
		closed = tacho_ring_closed_subs(ring, i, begin_of(inst, TACHO_STREAM_PROGRAM, i),
						&most);
		filled = hits(closed, most, percent);
	}
	if (!filled && inst->store) {
		closed = tree_store_closed(inst, cpu, begin_of(inst, TACHO_STREAM_KERNEL, cpu),
					   &most);
		filled = hits(closed, most, percent);
	}
	pthread_mutex_unlock(&inst->pipe);
	pthread_mutex_unlock(&inst->lock);
	return filled;
}

/*
 * Where the newest are lost when it is full, writers get back what was consumed; unless a
 * recorder takes it from there.
 */
void tree_give_back(struct tree_inst *inst, int32_t cpu)
{
	struct tacho_ring *ring = &inst->session.view.ring;

	if (tree_option(inst, "overwrite") ||
	    (inst->session.view.ctl->owner && tacho_session_owned(inst->session.path)))
		return;
	pthread_mutex_lock(&inst->lock);
	pthread_mutex_lock(&inst->pipe);
	for (uint32_t i = 0; i < tacho_ring_nr_lanes(ring); i++) {
		uint64_t ticks = inst->mark[slot(inst, TACHO_STREAM_PROGRAM, i)].ticks;

		if (ticks && is_of(cpu, i, ring->nr_cpus))
			tacho_ring_consume(ring, i, ticks - 1);
	}
	pthread_mutex_unlock(&inst->pipe);
	pthread_mutex_unlock(&inst->lock);
}

uint64_t tree_activity(struct tree_inst *inst)
{
	uint64_t unused = 0, n;

	pthread_mutex_lock(&inst->lock);
	(void)tree_store_drain(inst);
	n = written_now(inst, -1, &unused) + tree_store_taken(inst);
	pthread_mutex_unlock(&inst->lock);
	return n;
}

void tree_clear(struct tree_inst *inst, int32_t cpu)
{
	uint64_t unused = 0, now;

	pthread_mutex_lock(&inst->lock);
	pthread_mutex_lock(&inst->pipe);
	now = tree_now(inst);
	for (uint32_t i = 0; i < 2 * inst->nr_lanes; i++) {
		uint32_t lane = i % inst->nr_lanes;
		struct tree_mark *m = &inst->mark[i];

		if (!is_of(cpu, lane, inst->nr_lanes - 1))
			continue;
		m->ticks = m->cleared = now;
		m->n = UINT32_MAX;
		m->read = 0;
		/* lanes of no CPU are in the first one's */
		m->written = i < inst->session.view.ring.nr_cpus ?
			     written_now(inst, (int32_t)lane, &unused) : 0;
		next_turn(m);
	}
	pthread_mutex_unlock(&inst->pipe);
	tree_give_back(inst, cpu);
	tree_store_clear(inst, cpu);
	pthread_mutex_unlock(&inst->lock);
}

void tree_snapshot_taken(struct tree_inst *inst, uint64_t end)
{
	uint32_t nr = 2 * inst->nr_lanes;

	pthread_mutex_lock(&inst->pipe);
	for (uint32_t i = 0; i < nr; i++) {
		struct tree_mark *live = &inst->mark[i], *other = &inst->mark[nr + i];

		swap_marks(live, other);
		/* somebody has read on since: one mark cannot tell that from what comes back */
		if (other->ticks > end && other->ticks > live->ticks) {
			live->ticks = other->ticks;
			live->n = other->n;
		}
		next_turn(live);
		next_turn(other);
	}
	tacho_store_release(&inst->swap_turn, inst->swap_turn + 1);	/* [swap-turn] */
	pthread_mutex_unlock(&inst->pipe);
}

int tree_clear_snapshot(struct tree_inst *inst, int32_t cpu)
{
	struct tacho_record rec;
	struct tree_reader r;
	int err = tree_reader_open(&r, inst, TREE_VIEW_SNAPSHOT, cpu, true);

	if (err)
		return err;
	while (tree_reader_next(&r, &rec) == TACHO_STREAM_RECORD)
		;
	tree_reader_close(&r);
	return 0;
}
