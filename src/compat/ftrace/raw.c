// SPDX-License-Identifier: MIT
/*
 * trace_pipe_raw, snapshot_raw: pages as the kernel's ring buffer has them
 * (kdata/pages.h), of the records of programs and of the kernel on one CPU.
 *
 * A page holds what there is, as much as fits: a reader that is slow gets full ones, one
 * that is fast some records at a time.  read() hands out whole pages, buffer_subbuf_size_kb
 * large, zeros after the records; as in the kernel
 *	- one read gives one page at most;
 *	- a read of fewer bytes gets a page with no more records than fit in that many, and
 *	  the next reads its rest;
 *	- where not even one record fits in that many, there is nothing to read (0).
 *
 * Records that are in a page are consumed, all others are not: a record that does
 * not fit any more is held back, and the next reader gets it.
 *
 * A record that is larger than a page is never in a page of the kernel: its writer is
 * refused.  Here it may be in the rings; it counts as lost in the page that
 * follows, and larger pages are the remedy.
 *
 * common_type becomes the id that the tree shows.  Where a program's event has the name
 * and the fields of one of the kernel's (markers are such), it gets that id.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/view.h"
#include "fmt/tracedat/flat.h"
#include "fmt/tracedat/page.h"
#include "kdata/types.h"

#define NR_KNOWN	256u	/* a power of two */
#define FORMAT_MAX	((size_t)1 << 20)
#define SNAPSHOT_WAITS	10	/* a snapshot comes rarely: looked for less often */

/* What the records of a type become. */
struct known {
	const struct tacho_type *type;	/* NULL: free */
	uint32_t id;			/* 0: it has none */
	struct tacho_dat_flat flat;
};

struct raw_file {
	enum tree_view view;
	struct tree_reader reader;
	bool open;			/* the reader is */
	struct known known[NR_KNOWN];	/* by the type's address; of this reader */
	struct tacho_ktypes kernel;	/* those that have a namesake of a program's */
	enum tree_clock clock_of;	/* what clock was made for */
	struct tacho_clock_map clock;

	struct tacho_record held;	/* read and not consumed */
	bool holding;
	uint64_t lost;			/* to be told by the next page */

	unsigned char *page;
	size_t size;
	size_t read;			/* bytes that were handed out; size: no page */
};

/* ---- life ---- */

static int raw_open(struct tacho_tree_file *f)
{
	struct raw_file *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->view = strcmp(f->node->name, "snapshot_raw") ? TREE_VIEW_LIVE :
							   TREE_VIEW_SNAPSHOT;
	tacho_ktypes_init(&w->kernel);
	f->own = w;
	return 0;
}

static void end_reader(struct raw_file *w)
{
	if (w->open)
		tree_reader_close(&w->reader);
	w->open = w->holding = false;
	memset(w->known, 0, sizeof(w->known));
}

static void raw_close(struct tacho_tree_file *f)
{
	struct raw_file *w = f->own;

	end_reader(w);
	tacho_ktypes_release(&w->kernel);
	free(w->page);
	free(w);
}

/* The reader, and memory for a page of the size that is wanted now. */
static int prepare(struct tacho_tree_file *f)
{
	struct raw_file *w = f->own;
	size_t size = tree_page_size(f->inst);
	unsigned char *page;
	int err;

	if (w->size != size) {
		page = realloc(w->page, size);
		if (!page)
			return -ENOMEM;
		w->page = page;
		w->size = w->read = size;
	}
	if (w->open && !w->holding && tree_reader_is_partial(&w->reader))
		end_reader(w);
	if (w->open)
		return 0;
	err = tree_reader_open(&w->reader, f->inst, w->view, f->cpu, false);
	w->open = !err;
	w->clock_of = TREE_NR_CLOCKS;
	return err;
}

/* ---- types ---- */

static bool is_same(const struct tacho_type *a, const struct tacho_type *b)
{
	if (a->nr_fields != b->nr_fields)
		return false;
	for (uint32_t i = 0; i < a->nr_fields; i++) {
		const struct tacho_field *x = &a->fields[i], *y = &b->fields[i];

		if (x->kind != y->kind || x->offset != y->offset ||
		    x->size != y->size || x->elem_size != y->elem_size ||
		    strcmp(x->name, y->name))
			return false;
	}
	return true;
}

/* The type as the recorder has it of an event that the kernel has; or NULL. */
static const struct tacho_type *kernel_type(struct tacho_tree_file *f,
					    const struct tacho_type *type)
{
	struct raw_file *w = f->own;
	char path[2 * TACHO_RULE_MAX + 24];
	struct tacho_buf b;

	(void)snprintf(path, sizeof(path), "events/%s/%s/format", type->system,
		       type->name);
	tacho_buf_init(&b, FORMAT_MAX);
	if (!tacho_buf_read_fileat(&b, f->inst->tree->tracefs.dirfd, path))
		(void)tacho_ktypes_add(&w->kernel, type->system, tacho_buf_str(&b),
				       b.len, NULL);
	tacho_buf_release(&b);
	for (uint32_t i = 0; i < w->kernel.nr; i++) {
		const struct tacho_type *t = w->kernel.list[i].type;

		if (!strcmp(t->name, type->name) && !strcmp(t->system, type->system))
			return t;
	}
	return NULL;
}

static void know_program(struct tacho_tree_file *f, struct known *k)
{
	const struct tacho_type *type = NULL;
	const struct tree_event *e;

	pthread_mutex_lock(&f->inst->lock);
	e = tree_event(f->inst, k->type->system, k->type->name);
	if (e && e->kernel)
		type = kernel_type(f, k->type);
	pthread_mutex_unlock(&f->inst->lock);
	if (type && is_same(type, k->type)) {
		k->id = type->id;
		(void)tacho_dat_flat_find(&k->flat, k->type);
		return;
	}
	type = tree_type(f->inst, k->type);
	k->id = type ? type->id : 0;
}

static const struct known *know(struct tacho_tree_file *f, const struct tacho_record *r)
{
	struct raw_file *w = f->own;
	uint64_t h = (uint64_t)(uintptr_t)r->type * UINT64_C(0x9e3779b97f4a7c15);
	struct known *k = &w->known[(h >> 32) & (NR_KNOWN - 1)];

	if (k->type == r->type)
		return k;
	*k = (struct known){ .type = r->type, .id = r->type->id };
	if (r->source == TACHO_STREAM_PROGRAM)
		know_program(f, k);
	else	/* synthetic ones of the engine have the tree's ids already */
		(void)tacho_dat_flat_find(&k->flat, r->type);
	return k;
}

/* ---- pages ---- */

/* A page that is being made. */
struct filling {
	struct tacho_dat_page page;
	bool begun;
	bool settled;
	size_t room;
};

enum put {
	PUT_DONE,	/* it is in the page, or another reader has it */
	PUT_FULL,	/* it is for the next page */
	PUT_NEVER,	/* it would not fit in an empty one either */
};

/* The time as it is shown; one map as long as the clock is the same: times of pages ascend. */
static uint64_t time_of(struct tacho_tree_file *f, uint64_t ticks)
{
	struct raw_file *w = f->own;

	if (w->clock_of != tacho_load_relaxed(&f->inst->clock)) {
		w->clock_of = tacho_load_relaxed(&f->inst->clock);
		tree_shown_clock(f->inst, &w->clock);
	}
	return tree_clock_is_ticks(f->inst) ? ticks : tacho_clock_ns(&w->clock, ticks);
}

static enum put put_held(struct tacho_tree_file *f, struct filling *p)
{
	struct raw_file *w = f->own;
	const struct tacho_record *r = &w->held;
	const struct known *k = know(f, r);
	struct tacho_dat_page before = p->page;
	uint64_t time = time_of(f, r->ticks);
	size_t len = k->flat.rest ? tacho_dat_flat_len(&k->flat, r->raw, r->len) : r->len;
	unsigned char *to;

	/* losses are reported only in the head of a page */
	if (p->begun && (r->lost || w->lost))
		return PUT_FULL;
	if (!p->begun)
		tacho_dat_page_begin(&p->page, w->page, p->room, 8, time,
				     w->lost + r->lost);
	to = k->id ? tacho_dat_page_add(&p->page, time, len) : NULL;
	if (!to)
		return p->begun && k->id ? PUT_FULL : PUT_NEVER;
	if (!tree_reader_take(&w->reader, r)) {
		p->page = before;
		return PUT_DONE;
	}
	if (k->flat.rest)
		tacho_dat_flat_put(&k->flat, r->raw, r->len, to);
	else
		memcpy(to, r->raw, r->len);
	tacho_put_u16(to, (uint16_t)k->id);
	if (!p->begun)
		w->lost = 0;
	p->begun = true;
	return PUT_DONE;
}

/*
 * The record at hand, read if need be: an enum tacho_stream_status.  What was recorded
 * before is all there: the merging with the kernel's records holds the newest back for
 * a moment, which is waited for once.
 */
static int hold(struct raw_file *w, struct filling *p)
{
	const struct timespec pause = { .tv_nsec = (long)(2 * TREE_SLACK_NS) };
	int status = TACHO_STREAM_RECORD;

	if (!w->holding)
		status = tree_reader_next(&w->reader, &w->held);
	if (status == TACHO_STREAM_AGAIN && w->reader.has_kernel && !p->settled) {
		p->settled = true;
		(void)nanosleep(&pause, NULL);
		status = tree_reader_next(&w->reader, &w->held);
	}
	w->holding = status == TACHO_STREAM_RECORD;
	return status;
}

/* Its open fails. */
static void lose_held(struct raw_file *w)
{
	if (tree_reader_take(&w->reader, &w->held))
		w->lost += w->held.lost + 1;
	w->holding = false;
}

enum made { MADE_PAGE, MADE_NOTHING, MADE_SMALL };

/* One page of what there is, with as many bytes of records as fit in room. */
static int make_page(struct tacho_tree_file *f, size_t room)
{
	struct raw_file *w = f->own;
	struct filling p = { .room = room };
	enum put put = PUT_DONE;
	int status;

	while ((status = hold(w, &p)) == TACHO_STREAM_RECORD) {
		put = put_held(f, &p);
		if (put == PUT_FULL || (put == PUT_NEVER && room < w->size))
			break;
		if (put == PUT_NEVER)
			lose_held(w);
		w->holding = false;
	}
	if (!p.begun)
		return status == TACHO_STREAM_ERROR ? -EIO :
		       put == PUT_NEVER && w->holding ? MADE_SMALL : MADE_NOTHING;
	(void)tacho_dat_page_end(&p.page);
	if (w->view == TREE_VIEW_LIVE)
		tree_give_back(f->inst, f->cpu);
	memset(w->page + room, 0, w->size - room);
	w->read = 0;
	return MADE_PAGE;
}

/* Nothing is there: 0 after a while, -EAGAIN, -EINTR. */
static int wait_more(struct raw_file *w, const struct tacho_tree_caller *caller)
{
	int turns = w->view == TREE_VIEW_SNAPSHOT ? SNAPSHOT_WAITS : 1, err = 0;

	/* the next snapshot takes another reader */
	if (w->view == TREE_VIEW_SNAPSHOT)
		end_reader(w);
	while (!err && turns--)
		err = tree_wait(caller, false);
	return err;
}

/* 1: there is a page; 0: the end, or no record fits in that many bytes; -errno. */
static int next_page(struct tacho_tree_file *f, size_t count,
		     const struct tacho_tree_caller *caller)
{
	struct raw_file *w = f->own;
	size_t room;
	int made, err;

	for (;;) {
		err = prepare(f);
		if (err)
			return err;
		room = count < w->size ? count & ~(size_t)7 : w->size;
		if (room < TACHO_DAT_PAGE_HEAD)
			room = TACHO_DAT_PAGE_HEAD;
		made = make_page(f, room);
		if (made != MADE_NOTHING)
			return made < 0 ? made : made == MADE_PAGE;
		if (tree_is_ended(f->inst))
			return 0;
		err = wait_more(w, caller);
		if (err)
			return err;
	}
}

static ssize_t raw_read(struct tacho_tree_file *f, void *to, size_t size, uint64_t offset,
			const struct tacho_tree_caller *caller)
{
	struct raw_file *w = f->own;
	size_t n;
	int got;

	(void)offset;
	if (w->read == w->size) {
		got = next_page(f, size, caller);
		if (got <= 0)
			return got;
	}
	n = w->size - w->read;
	if (n > size)
		n = size;
	memcpy(to, w->page + w->read, n);
	w->read += n;
	return (ssize_t)n;
}

/* The rest of a page, unless another read is in progress: a waiting read holds the lock. */
static bool has_rest(struct tacho_tree_file *f)
{
	const struct raw_file *w = f->own;
	bool rest;

	if (pthread_mutex_trylock(&f->lock))
		return false;
	rest = w->read != w->size;
	pthread_mutex_unlock(&f->lock);
	return rest;
}

static unsigned int raw_poll(struct tacho_tree_file *f)
{
	return has_rest(f) ? POLLIN | POLLRDNORM : tree_pipe_poll(f);
}

/* Readable at the first record. */
static unsigned int snapshot_poll(struct tacho_tree_file *f)
{
	bool any = has_rest(f);
	struct tacho_record rec;
	struct tree_reader r;

	if (!any && !tree_reader_open(&r, f->inst, TREE_VIEW_SNAPSHOT, f->cpu, false)) {
		any = tree_reader_next(&r, &rec) == TACHO_STREAM_RECORD;
		tree_reader_close(&r);
	}
	return any ? POLLIN | POLLRDNORM : 0;
}

const struct tree_node tree_raw_node = {
	.name = "trace_pipe_raw", .mode = 0440, .open = raw_open, .read = raw_read,
	.close = raw_close, .poll = raw_poll, .stream = true, .paged = true,
};

const struct tree_node tree_snapshot_raw_node = {
	.name = "snapshot_raw", .mode = 0440, .open = raw_open, .read = raw_read,
	.close = raw_close, .poll = snapshot_poll, .stream = true, .paged = true,
};

/* ---- what a page is ---- */

static int header_page_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_dat_print_header_page(out, tree_page_size(f->inst), 8);
	return 0;
}

const struct tree_node tree_header_page_node = {
	.name = "header_page", .mode = 0440, .show = header_page_show,
};

static int header_event_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	(void)f;
	tacho_dat_print_header_event(out);
	return 0;
}

const struct tree_node tree_header_event_node = {
	.name = "header_event", .mode = 0440, .show = header_event_show,
};
