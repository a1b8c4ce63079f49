// SPDX-License-Identifier: MIT
/* trace, trace_pipe and snapshot, of an instance and of one CPU. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "compat/ftrace/nodes.h"
#include "compat/ftrace/view.h"
#include "sys/clock.h"

/*
 * How long the records of a trace_pipe gather.  A reader that took every record as it
 * comes would go through the kernel, and here, once for each; the kernel hands out what
 * is after the last full sub-buffer event by event.
 */
#define GATHER_NS	UINT64_C(2000000)
#define WAIT_MAX_NS	UINT64_C(16000000)	/* when nothing comes, looks get rarer */
#define SEEK_SIZE	((size_t)64 << 10)

/* An open trace, trace_pipe or snapshot. */
struct text_file {
	struct tree_reader reader;
	bool open;			/* the reader is */
	struct tacho_output *output;
	struct tacho_output_config config;
	bool ended;
	uint64_t dry;			/* ns: when all was read that there was; 0: never */
	uint64_t wait;			/* ns from then to the next look */
	/* the record to print: the next one gives its delay */
	struct tacho_record held;
	bool holding;
	uint64_t raw[512];		/* its bytes */
};

static enum tree_view view_of(const struct tacho_tree_file *f)
{
	return strncmp(f->node->name, "snapshot", 8) ? TREE_VIEW_NOW :
						       TREE_VIEW_SNAPSHOT;
}

static int text_open(struct tacho_tree_file *f)
{
	f->own = calloc(1, sizeof(struct text_file));
	return f->own ? 0 : -ENOMEM;
}

static void text_end(struct text_file *t)
{
	if (t->open)
		tree_reader_close(&t->reader);
	tacho_output_free(t->output);
	*t = (struct text_file){ .open = false };
}

static void text_close(struct tacho_tree_file *f)
{
	text_end(f->own);
	free(f->own);
}

static int text_begin(struct tacho_tree_file *f, enum tree_view view, bool consume)
{
	struct text_file *t = f->own;
	int err;

	text_end(t);
	tacho_buf_reset(&f->text);
	f->text_at = 0;
	err = tree_reader_open(&t->reader, f->inst, view, f->cpu, consume);
	if (err)
		return err;
	t->open = true;
	tree_reader_output(&t->reader, &t->config);
	t->output = tacho_output_new(&t->config);
	if (t->output)
		return 0;
	text_end(t);
	return -ENOMEM;
}

/* ---- trace ---- */

static uint32_t online_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (uint32_t)n : 1;
}

static int put_header(struct tacho_tree_file *f)
{
	struct text_file *t = f->own;
	struct tacho_output_head head = {
		.tracer = "nop", .preempt = "desktop", .cpus = online_cpus(),
		.cpu = f->cpu < 0 ? 0 : (uint32_t)f->cpu,
	};
	struct tree_counts c;
	struct utsname u;
	int err;

	if (view_of(f) == TREE_VIEW_NOW) {
		err = tree_count(f->inst, f->cpu, &c);
		if (err)
			return err;
		head.entries = c.entries;
		head.written = c.entries + c.overrun;
		head.empty = !c.entries;
		t->config.overrun = c.overrun;
		tacho_output_configure(t->output, &t->config);
	}
	head.release = uname(&u) ? "" : u.release;
	tacho_output_header(&head, &t->config.options, &f->text);
	return tacho_buf_error(&f->text);
}

/* Prints the record that was held back; next: the one after it, or NULL. */
static void put_held(struct tacho_tree_file *f, const struct tacho_record *next)
{
	struct text_file *t = f->own;

	if (!t->holding)
		return;
	tacho_output_put(t->output, &t->held, next ? next->ticks : t->held.ticks,
			 &f->text);
	t->holding = false;
}

/*
 * One record.  Only latency-format needs to know the next one, and so a record's bytes
 * for longer than until the next is read.
 */
static void put_record(struct tacho_tree_file *f, const struct tacho_record *r)
{
	struct text_file *t = f->own;

	if (!t->config.options.latency_format || r->len > sizeof(t->raw)) {
		put_held(f, r);
		tacho_output_put(t->output, r, r->ticks, &f->text);
		return;
	}
	put_held(f, r);
	t->held = *r;
	t->held.raw = memcpy(t->raw, r->raw, r->len);
	t->holding = true;
}

/* Missing memory is not an error of what is read. */
static int read_error(const struct text_file *t)
{
	int err = tacho_stream_error(t->reader.stream)->err;

	return tacho_no_room_here(err) ? err : -EIO;
}

/* Lines until there are `size` bytes of text, or no more. */
static int fill_text(struct tacho_tree_file *f, size_t size, bool pipe)
{
	struct text_file *t = f->own;
	struct tacho_record r;

	while (!t->ended && f->text.len < size) {
		int status = tree_reader_next(&t->reader, &r);

		if (status == TACHO_STREAM_ERROR)
			return read_error(t);
		if (status != TACHO_STREAM_RECORD) {
			t->ended = true;
			put_held(f, NULL);
			break;
		}
		/* trace_pipe reports overwritten records in between, trace at its head */
		if (!pipe)
			r.lost = 0;
		put_record(f, &r);
	}
	return tacho_buf_error(&f->text);
}

static void drop_text(struct tacho_buf *b, size_t n)
{
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

static void put_snapshot_help(const struct tacho_tree_file *f, struct tacho_buf *out);

/* Its first record tells whether there is one: a program's trigger may have taken it. */
static int snapshot_start(struct tacho_tree_file *f)
{
	struct text_file *t = f->own;
	struct tacho_record first;
	int status = tree_reader_next(&t->reader, &first), err;

	if (status == TACHO_STREAM_ERROR)
		return read_error(t);
	if (status != TACHO_STREAM_RECORD) {
		put_snapshot_help(f, &f->text);
		t->ended = true;
		return tacho_buf_error(&f->text);
	}
	tacho_store_relaxed(&f->inst->snapshot, true);
	err = put_header(f);
	if (!err)
		put_record(f, &first);
	return err;
}

static int trace_start(struct tacho_tree_file *f)
{
	enum tree_view view = view_of(f);
	int err;

	if (view == TREE_VIEW_SNAPSHOT) {
		/* a trigger may take one when it sees what the kernel still has */
		pthread_mutex_lock(&f->inst->lock);
		(void)tree_store_settle(f->inst);
		pthread_mutex_unlock(&f->inst->lock);
	}
	err = text_begin(f, view, false);
	if (err)
		return err;
	return view == TREE_VIEW_SNAPSHOT ? snapshot_start(f) : put_header(f);
}

/*
 * The text from offset on: what was handed out before is not needed again.  From the
 * beginning it is made again, and to go back in it as well.
 */
static int seek_text(struct tacho_tree_file *f, uint64_t offset)
{
	const struct text_file *t = f->own;
	int err = 0;

	if (!offset || !t->open || offset < f->text_at)
		err = trace_start(f);
	while (!err && offset - f->text_at > f->text.len && !t->ended) {
		f->text_at += f->text.len;
		f->text.len = 0;
		err = fill_text(f, SEEK_SIZE, false);
	}
	if (!err && offset - f->text_at <= f->text.len) {
		drop_text(&f->text, (size_t)(offset - f->text_at));
		f->text_at = offset;
	}
	return err;
}

static ssize_t trace_read(struct tacho_tree_file *f, void *to, size_t size,
			  uint64_t offset, const struct tacho_tree_caller *caller)
{
	size_t n;
	int err = seek_text(f, offset);

	(void)caller;
	if (err)
		return err;
	if (f->text_at != offset)
		return 0;	/* after the end */
	err = fill_text(f, size, false);
	if (err)
		return err;
	n = f->text.len < size ? f->text.len : size;
	memcpy(to, f->text.data, n);
	return (ssize_t)n;
}

static int trace_trunc(struct tacho_tree_file *f)
{
	if (view_of(f) == TREE_VIEW_NOW)
		tree_clear(f->inst, f->cpu);
	return 0;
}

/* Writing to trace does nothing: opening it emptied it. */
static ssize_t trace_store(struct tacho_tree_file *f, const char *text, size_t len,
			   const struct tacho_tree_caller *caller)
{
	(void)f;
	(void)text;
	(void)caller;
	return (ssize_t)len;
}

/* ---- trace_pipe ---- */

/* Whether any of a file's CPUs has a trace_pipe; all of them get the new state. */
static bool set_piped(struct tacho_tree_file *f, bool on)
{
	struct tree_inst *inst = f->inst;
	uint32_t from = f->cpu < 0 ? 0 : (uint32_t)f->cpu;
	uint32_t to = f->cpu < 0 ? inst->nr_lanes : from + 1;
	bool any = false;

	pthread_mutex_lock(&inst->pipe);
	for (uint32_t i = from; i < to; i++)
		any |= inst->piped[i];
	for (uint32_t i = from; i < to && !(on && any); i++)
		inst->piped[i] = on;
	pthread_mutex_unlock(&inst->pipe);
	return any;
}

#define CLOSE_NS	2000000
#define CLOSE_TRIES	100

/*
 * One reader at a time for each CPU: two would share out the lines at random.  Who closed one
 * may open it again at once, and of his close(2) we are told a moment later.
 */
static int pipe_open(struct tacho_tree_file *f)
{
	const struct timespec pause = { .tv_nsec = CLOSE_NS };
	bool busy = set_piped(f, true);
	int err;

	for (uint32_t i = 0; busy && i < CLOSE_TRIES; i++) {
		(void)nanosleep(&pause, NULL);
		busy = set_piped(f, true);
	}
	err = busy ? -EBUSY : text_open(f);
	if (err == -ENOMEM)
		(void)set_piped(f, false);
	return err;
}

static void pipe_close(struct tacho_tree_file *f)
{
	text_close(f);
	(void)set_piped(f, false);
}

bool tree_is_ended(const struct tree_inst *inst)
{
	return tacho_load_acquire(&inst->session.view.ctl->state) == TACHO_STATE_DEAD;
}

static bool is_interrupted(const struct tacho_tree_caller *c)
{
	return c->interrupted && c->interrupted(c->arg);
}

/* Until a time, ns of CLOCK_MONOTONIC; -EINTR, 0. */
static int wait_until(const struct tacho_tree_caller *c, uint64_t until)
{
	uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);
	struct timespec pause = { .tv_nsec = 0 };

	if (is_interrupted(c))
		return -EINTR;
	if (now >= until)
		return 0;
	pause.tv_nsec = (long)(until - now);
	(void)nanosleep(&pause, NULL);
	return is_interrupted(c) ? -EINTR : 0;
}

int tree_wait(const struct tacho_tree_caller *c, bool nonblock)
{
	return nonblock || c->nonblock ? -EAGAIN :
	       wait_until(c, tacho_now_ns(CLOCK_MONOTONIC) + GATHER_NS);
}

/* What there is, as text; and when to look for more. */
static int take_more(struct tacho_tree_file *f, size_t size)
{
	struct text_file *t = f->own;
	int err;

	tree_reader_output(&t->reader, &t->config);
	tacho_output_configure(t->output, &t->config);
	t->ended = false;
	err = fill_text(f, size, true);
	tree_give_back(f->inst, f->cpu);
	if (f->text.len)
		t->wait = GATHER_NS;
	else if (t->wait < WAIT_MAX_NS)
		t->wait = t->wait ? 2 * t->wait : GATHER_NS;
	t->dry = t->ended ? tacho_now_ns(CLOCK_MONOTONIC) : 0;
	return err;
}

static ssize_t pipe_read(struct tacho_tree_file *f, void *to, size_t size,
			 uint64_t offset, const struct tacho_tree_caller *caller)
{
	bool nonblock = f->flags & O_NONBLOCK || caller->nonblock;
	struct text_file *t = f->own;
	size_t n;
	int err = 0;

	(void)offset;
	while (!err && !f->text.len) {
		if (t->dry && !nonblock)
			err = wait_until(caller, t->dry + t->wait);
		if (!err && (!t->open || tree_reader_is_partial(&t->reader)))
			err = text_begin(f, TREE_VIEW_LIVE, true);
		if (!err) {
			err = take_more(f, size);
			if (err)	/* the next read begins anew */
				text_end(t);
		}
		if (err || f->text.len || tree_is_ended(f->inst))
			break;
		if (nonblock)
			err = -EAGAIN;
	}
	/* what was consumed before the error is handed out */
	if (err && (!f->text.len || tacho_buf_error(&f->text)))
		return err;
	n = f->text.len < size ? f->text.len : size;
	memcpy(to, f->text.data, n);
	drop_text(&f->text, n);
	return (ssize_t)n;
}

/* At buffer_percent of its CPU, or at the first record: when that is 0, or of all CPUs. */
static bool is_readable(struct tacho_tree_file *f)
{
	uint32_t percent = tacho_load_relaxed(&f->inst->buffer_percent);
	struct tree_counts c;

	if (percent && f->cpu >= 0 && !tree_has_filled(f->inst, (uint32_t)f->cpu, percent))
		return false;
	return !tree_count(f->inst, f->cpu, &c) && c.entries;
}

/* The remaining text, unless another read is in progress: a waiting read holds the lock. */
static bool has_text(struct tacho_tree_file *f)
{
	bool has;

	if (pthread_mutex_trylock(&f->lock))
		return false;
	has = f->text.len;
	pthread_mutex_unlock(&f->lock);
	return has;
}

/* Counting goes through all records: not again when none came since. */
unsigned int tree_pipe_poll(struct tacho_tree_file *f)
{
	uint64_t state;

	if (has_text(f))
		return POLLIN | POLLRDNORM;
	state = tree_activity(f->inst) << 7 |
		tacho_load_relaxed(&f->inst->buffer_percent);
	if (tacho_load_relaxed(&f->polled) == state)
		return 0;
	if (is_readable(f))
		return POLLIN | POLLRDNORM;
	tacho_store_relaxed(&f->polled, state);
	return 0;
}

/* ---- snapshot ---- */

/* What the kernel says of a snapshot in which there is nothing. */
static void put_snapshot_help(const struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_printf(out, "# tracer: nop\n#\n#\n# * Snapshot is %s *\n#\n"
			 "# Snapshot commands:\n",
			 tacho_load_relaxed(&f->inst->snapshot) ? "allocated" : "freed");
	tacho_buf_puts(out, f->cpu < 0 ?
		"# echo 0 > snapshot : Clears and frees snapshot buffer\n"
		"# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
		"#                      Takes a snapshot of the main buffer.\n"
		"# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n" :
		"# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"
		"# echo 1 > snapshot : Not supported with this kernel.\n"
		"#                     Must use main snapshot file to allocate.\n"
		"# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does not allocate)\n");
	tacho_buf_puts(out,
		"#                      (Doesn't have to be '2' works with any number that\n"
		"#                       is not a '0' or '1')\n");
}

static ssize_t snapshot_store(struct tacho_tree_file *f, const char *text, size_t len,
			      const struct tacho_tree_caller *caller)
{
	struct tree_inst *inst = f->inst;
	uint64_t v;
	int err = tree_number(text, UINT64_MAX, &v);

	(void)caller;
	if (err)
		return err;
	if (v == 1) {
		if (f->cpu >= 0)
			return -EINVAL;
		err = tree_take_snapshot(inst, true, UINT64_MAX);
		return err ? err : (ssize_t)len;
	}
	if (!v && f->cpu >= 0)
		return -EINVAL;
	err = tree_clear_snapshot(inst, f->cpu);
	if (!v) {
		tacho_store_relaxed(&inst->snapshot, false);
		tree_store_drop_snapshot(inst);
	}
	return err ? err : (ssize_t)len;
}

/* ---- nodes ---- */

const struct tree_node tree_trace_node = {
	.name = "trace", .mode = 0640, .open = text_open, .read = trace_read,
	.close = text_close, .trunc = trace_trunc, .store = trace_store,
};

const struct tree_node tree_pipe_node = {
	.name = "trace_pipe", .mode = 0440, .open = pipe_open, .read = pipe_read,
	.close = pipe_close, .poll = tree_pipe_poll, .stream = true,
};

const struct tree_node tree_snapshot_node = {
	.name = "snapshot", .mode = 0640, .open = text_open, .read = trace_read,
	.close = text_close, .store = snapshot_store,
};
