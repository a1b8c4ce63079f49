// SPDX-License-Identifier: MIT
#include "fmt/tracedat/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/tracedat/layout.h"
#include "fmt/tracedat/swap.h"
#include "fmt/tracedat/view.h"
#include "kdata/convert.h"

/* Records tell 48 bits of time; a step back is a large one, too. */
#define TIME_STEP_MAX	(UINT64_C(1) << 47)

/* Scribbled over after the last record: see tacho_kconvert_copy(). */
#define OUT_MARGIN	64u

static struct tacho_dat_source *source_of(struct tacho_source *source)
{
	return (struct tacho_dat_source *)source;	/* first member */
}

static struct tacho_dat_part *part_of(struct tacho_part *part)
{
	return (struct tacho_dat_part *)part;		/* first member */
}

static int damage(struct tacho_dat_source *s, uint64_t at, const char *what)
{
	return tacho_source_damage(&s->source, s->file.path, at, what);
}

static int no_memory(struct tacho_dat_source *s)
{
	(void)tacho_no_memory(&s->source.diag);
	return TACHO_STREAM_ERROR;
}

static void part_idle(struct tacho_dat_part *p)
{
	free(p->window);
	free(p->out);
	p->window = p->out = NULL;
	p->window_room = p->out_room = p->window_len = p->at = 0;
}

void tacho_dat_part_free(struct tacho_dat_part *p)
{
	part_idle(p);
	free(p->loss);
	/* a view has the marks of the part that it shows */
	if (!p->part.source || !p->part.source->of)
		free(p->mark);
	free(p);
}

static bool grow(unsigned char **mem, size_t *room, size_t want)
{
	unsigned char *p;

	if (want <= *room)
		return true;
	p = realloc(*mem, want);
	if (!p)
		return false;
	*mem = p;
	*room = want;
	return true;
}

/* ---- the window -------------------------------------------------------------- */

/* RECORD: the window holds pages; END: there are no more. */
static int load_plain(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	size_t page = p->buffer->page_size, room = s->window_room;
	uint64_t left = p->end - p->next;

	if (p->next >= p->end)
		return TACHO_STREAM_END;
	room = room < page ? page : room / page * page;
	if (p->next >= s->file.size) {
		p->next = p->end;
		return damage(s, s->file.size, "the file ends before its events do");
	}
	if (left > s->file.size - p->next)
		left = s->file.size - p->next;
	if (left > room)
		left = room;
	if (!grow(&p->window, &p->window_room, (size_t)left))
		return no_memory(s);
	if (tacho_dat_file_read(&s->file, p->next, p->window, (size_t)left)) {
		uint64_t at = p->next;

		p->next = p->end;
		return damage(s, at, "its events cannot be read");
	}
	p->window_at = p->next;
	p->window_len = (size_t)left;
	p->next += left;
	return TACHO_STREAM_RECORD;
}

/* Damage to a chunk: nothing after it can be found. */
static int bad_chunk(struct tacho_dat_source *s, struct tacho_dat_part *p,
		     const char *what)
{
	p->chunks = 0;
	return damage(s, p->next, what);
}

static int load_chunk(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	unsigned char head[TACHO_DAT_CHUNK_LEN];
	uint32_t packed, len;
	char *in;
	long n;

	if (!p->chunks)
		return TACHO_STREAM_END;
	if (p->end - p->next < sizeof(head) ||
	    tacho_dat_file_read(&s->file, p->next, head, sizeof(head)))
		return bad_chunk(s, p, "the file ends before its events do");
	packed = tacho_dat_u32(&s->file, head);
	len = tacho_dat_u32(&s->file, head + 4);
	if (packed > TACHO_DAT_CHUNK_MAX || len > TACHO_DAT_CHUNK_MAX ||
	    packed > p->end - p->next - sizeof(head))
		return bad_chunk(s, p, "a chunk of events is too long");
	tacho_buf_reset(&s->packed);
	in = tacho_buf_reserve(&s->packed, packed + 1);
	if (!in || !grow(&p->window, &p->window_room, len + 1))
		return no_memory(s);
	if (tacho_dat_file_read(&s->file, p->next + sizeof(head), in, packed))
		return bad_chunk(s, p, "the file ends before its events do");
	p->window_at = p->next;
	p->next += sizeof(head) + packed;
	p->chunks--;
	n = tacho_dat_decode(s->file.codec, in, packed, p->window, len);
	if (n == -ENOMEM)
		return no_memory(s);
	if (n < 0)
		return damage(s, p->window_at, "a chunk of events cannot be decompressed");
	p->window_len = (size_t)n;
	return TACHO_STREAM_RECORD;
}

/* Loads until there is a page; each iteration advances in the file. */
static int load(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	int status = TACHO_STREAM_RECORD;

	p->at = p->window_len = 0;
	while (status == TACHO_STREAM_RECORD && !p->window_len)
		status = p->buffer->compressed ? load_chunk(s, p) :
						 load_plain(s, p);
	return status;
}

struct batch {
	unsigned char *out;
	size_t len, room;
	uint64_t first, last;
	uint32_t stream_id;	/* of all its records */
};

/* ---- pages --------------------------------------------------------------------- */

static const struct tacho_dat_swap *find_swap(void *arg, uint32_t id)
{
	struct tacho_dat_source *s = arg;

	if (!s->swap[id] && !s->source.of)
		(void)tacho_dat_type(&s->source, tacho_dat_stream_of(s, id), id);
	return s->swap[id];
}

static const char *find_string(void *arg, uint64_t addr)
{
	struct tacho_dat_source *s = arg;

	return tacho_source_string(&s->source, addr);
}

static int disorder(struct tacho_dat_source *s)
{
	(void)tacho_diag(&s->source.diag, -EUCLEAN, 0, "'%s': times go back", s->file.path);
	return TACHO_STREAM_ERROR;
}

/* Opens the page at p->at.  RECORD: it is open, or was skipped. */
static int open_page(struct tacho_dat_source *s, struct tacho_dat_part *p, const struct batch *b)
{
	size_t len = p->window_len - p->at;
	unsigned char *bytes = p->window + p->at;
	uint64_t at = p->buffer->compressed ? p->window_at :
					      p->window_at + p->at;

	p->opened = (struct tacho_dat_place){ .at = at };
	if (p->buffer->compressed)
		p->opened.in = (uint32_t)p->at;
	if (len > p->buffer->page_size)
		len = p->buffer->page_size;
	p->at += len;
	p->pages++;
	if (s->file.swap) {
		const struct tacho_dat_swap_env env = { s, find_swap, find_string };

		tacho_dat_swap_page(&s->meta.layout, bytes, len, &env);
	}
	if (tacho_kpage_open(&p->page, &s->meta.layout, bytes, len))
		return damage(s, at, "a page is not one");
	p->in_page = true;
	/* a full page does not have the number of lost events: at least one */
	if (p->page.lost) {
		uint64_t n = p->page.lost > 0 ? (uint64_t)p->page.lost : 1;

		p->lost += n;
		p->fresh_loss += n;
	}
	if (tacho_unlikely(p->checks) && !tacho_dat_check_page(p, b->len, b->last))
		return disorder(s);
	return TACHO_STREAM_RECORD;
}

/* ---- records --------------------------------------------------------------------- */

/* The most that a record of this event takes, and what is written after it. */
static size_t room_for(const struct tacho_ktypes *types,
		       const struct tacho_kplan *plan, uint32_t len)
{
	size_t copies = 1;

	if (plan->kind == TACHO_KPLAN_MANY)
		copies = types->shapes[plan->shape].nr_locs;
	copies = len * (copies + 1) + OUT_MARGIN;
	return (copies < TACHO_RECORD_MAX ? copies : TACHO_RECORD_MAX) +
	       OUT_MARGIN;
}

static const struct tacho_kplan *plan_of(struct tacho_dat_source *s,
					 const struct tacho_kevent *ev)
{
	uint32_t id = tacho_load_u16(ev->raw);

	if (tacho_unlikely(id >= s->types.nr_plans || !s->types.plans[id].kind) &&
	    (s->source.of || !tacho_dat_type(&s->source, tacho_dat_stream_of(s, id), id)))
		return NULL;
	return &s->types.plans[id];
}

static uint64_t page_at(const struct tacho_dat_part *p)
{
	return p->buffer->compressed ? p->window_at : p->window_at + p->at;
}

/*
 * Makes a record of an event.  RECORD: it is in the batch, or was damage; AGAIN: the
 * batch has to end before it.
 */
static TACHO_ALWAYS_INLINE int add_event(struct tacho_dat_source *s,
					 struct tacho_dat_part *p, struct batch *b,
					 const struct tacho_kevent *ev)
{
	const struct tacho_kplan *plan = NULL;
	uint64_t time = ev->time;
	uint32_t size, stream_id;

	if (tacho_likely(ev->len >= 8))
		plan = plan_of(s, ev);
	if (tacho_unlikely(!plan))
		return damage(s, page_at(p), "an event is of no known type");
	if (tacho_unlikely(s->meta.shift.nr_cpus))
		time = tacho_dat_shift(&s->meta.shift, p->part.cpu, time);
	stream_id = tacho_dat_stream_of(s, tacho_load_u16(ev->raw));
	if (tacho_unlikely(room_for(&s->types, plan, ev->len) > b->room - b->len ||
			   (b->len && (time - b->last >= TIME_STEP_MAX ||
				       stream_id != b->stream_id))))
		return TACHO_STREAM_AGAIN;
	size = tacho_kconvert(&s->types, plan, time, ev->raw, ev->len,
			      p->window + p->window_len, b->out + b->len);
	if (tacho_unlikely(!size))
		return damage(s, page_at(p), "an event is too short for its type");
	if (!b->len) {
		b->first = time;
		b->stream_id = stream_id;
	}
	b->last = time;
	b->len += size;
	return TACHO_STREAM_RECORD;
}

/*
 * Makes records of the page's events.  RECORD: the page is done.  AGAIN: the
 * batch has to end, p->held is the next event.
 */
static int take_events(struct tacho_dat_source *s, struct tacho_dat_part *p,
		       struct batch *b)
{
	struct tacho_kpage page = p->page;
	struct tacho_kevent ev = p->held;
	int more = p->has_held, status = TACHO_STREAM_RECORD;

	p->has_held = false;
	if (!more)
		more = tacho_kpage_next(&page, &ev);
	for (; more > 0; more = tacho_kpage_next(&page, &ev)) {
		status = add_event(s, p, b, &ev);
		if (tacho_likely(status == TACHO_STREAM_RECORD))
			continue;
		if (status == TACHO_STREAM_ERROR)
			break;
		p->held = ev;
		p->has_held = true;
		p->page = page;
		return status;
	}
	p->in_page = false;
	if (more < 0 && status != TACHO_STREAM_ERROR)
		status = damage(s, page_at(p), "a page breaks off");
	return status;
}

/* An event for which all of `out` is too small. */
static int grow_out(struct tacho_dat_source *s, struct tacho_dat_part *p,
		    struct batch *b)
{
	if (!grow(&p->out, &p->out_room, TACHO_KCONVERT_ROOM + OUT_MARGIN))
		return no_memory(s);
	b->out = p->out;
	b->room = p->out_room;
	return TACHO_STREAM_RECORD;
}

/* Continues until the batch is full, or there are no more pages. */
static int make_batch(struct tacho_dat_source *s, struct tacho_dat_part *p,
		      struct batch *b)
{
	int status;

	for (;;) {
		if (p->in_page) {
			/* lost events are reported with the following record: a batch's first */
			if (b->len && p->fresh_loss)
				return TACHO_STREAM_RECORD;
			p->part.lost += p->fresh_loss;
			p->fresh_loss = 0;
			status = take_events(s, p, b);
			if (status == TACHO_STREAM_AGAIN && !b->len)
				status = grow_out(s, p, b);
			if (status == TACHO_STREAM_AGAIN)
				return TACHO_STREAM_RECORD;
		} else if (p->at < p->window_len) {
			status = open_page(s, p, b);
		} else if (b->len) {
			return TACHO_STREAM_RECORD;
		} else {
			status = load(s, p);
		}
		if (status != TACHO_STREAM_RECORD)
			return status;
	}
}

static void note_times(struct tacho_dat_part *p, const struct batch *b)
{
	if (!p->first || b->first < p->first)
		p->first = b->first;
	if (b->last > p->last)
		p->last = b->last;
}

int tacho_dat_fill(struct tacho_source *source, struct tacho_part *part,
		   bool bad)
{
	struct tacho_dat_source *s = source_of(source);
	struct tacho_dat_part *p = part_of(part);
	struct batch b = { 0 };
	int status;

	part->pos = part->end = NULL;
	if (bad && damage(s, p->next, "a record is not one") == TACHO_STREAM_ERROR)
		return TACHO_STREAM_ERROR;
	if (!p->out && !grow(&p->out, &p->out_room,
			     2 * s->window_room + OUT_MARGIN))
		return no_memory(s);
	b.out = p->out;
	b.room = p->out_room;
	status = make_batch(s, p, &b);
	if (tacho_unlikely(p->checks) && b.len && !tacho_dat_check_batch(p, b.first, b.last))
		return disorder(s);
	if (b.len && status != TACHO_STREAM_ERROR) {
		part->pos = b.out;
		part->end = b.out + b.len;
		part->last = b.first;
		part->stream_id = b.stream_id;
		part->limit = UINT64_MAX;
		note_times(p, &b);
		return TACHO_STREAM_RECORD;
	}
	if (status == TACHO_STREAM_END) {
		p->whole = !p->partial;
		part_idle(p);
	}
	return status;
}

/* ---- where to begin ------------------------------------------------------------ */

bool tacho_dat_head_time(const struct tacho_dat_source *s, const unsigned char *head,
			 uint64_t *time)
{
	const struct tacho_kpage_layout *l = &s->meta.layout;
	uint64_t commit;

	*time = tacho_dat_u64(&s->file, head + l->time_off);
	commit = l->commit_size == 8 ?
		 tacho_dat_u64(&s->file, head + l->commit_off) :
		 tacho_dat_u32(&s->file, head + l->commit_off);
	return (commit & 0x3fffffff) != 0;
}

bool tacho_dat_page_time(struct tacho_dat_source *s, uint64_t at, uint64_t *time)
{
	unsigned char head[256];

	return !tacho_dat_file_read(&s->file, at, head, s->meta.layout.data_off) &&
	       tacho_dat_head_time(s, head, time);
}

/* Compressed: after the number of chunks, which is at the begin. */
static void rewind_chunks(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	unsigned char count[4];

	if (p->end - p->begin < sizeof(count) ||
	    tacho_dat_file_read(&s->file, p->begin, count, sizeof(count)))
		return;
	p->chunks = tacho_dat_u32(&s->file, count);
	p->next = p->begin + sizeof(count);
}

void tacho_dat_part_begin(struct tacho_dat_part *p)
{
	p->next = p->begin;
	p->chunks = 0;
	p->at = p->window_len = 0;
	p->in_page = p->has_held = false;
	p->fresh_loss = 0;
	p->order = 0;
	p->nr_losses = 0;
	p->part.lost = 0;
	p->part.horizon = 0;
}

void tacho_dat_part_rewind(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	uint64_t time;

	tacho_dat_part_begin(p);
	p->partial = p->whole = false;
	p->pages = p->lost = p->first = p->last = 0;
	if (p->buffer->compressed)
		rewind_chunks(s, p);
	else if (!s->meta.shift.nr_cpus && p->begin < p->end &&
		 tacho_dat_page_time(s, p->begin, &time))
		p->part.horizon = time;
}
