// SPDX-License-Identifier: MIT
#include "fmt/kev/write.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/kev/record.h"

/* Slots of a buffer, its CONTROL events included: what the kernel's have. */
#define BUFFER_SLOTS	714u
#define BUFFER_MAX	((size_t)64 << 20)
#define WRITE_SIZE	((size_t)256 << 10)
#define LOST_MAX	1000u

/* An event may be so much earlier than its CPU's last one and be moved after it. */
#define BUMP_MAX	1000000u

struct cpu {
	bool known;		/* a reader knows its time */
	uint64_t high;		/* which is: high half, in place */
	uint64_t last;		/* time of the last event; 0: none */

	/* exact: its first event, until it is sure that a reader gets its time right */
	bool open;
	size_t first_at;	/* in the slots */
	uint64_t first;		/* its time */
	bool timed;		/* there was a TIME event */
	uint64_t time;		/* the first one's */
};

struct tacho_kev_writer {
	char *path, *temp;
	int fd;
	bool swap, exact;
	uint64_t bytes;
	struct cpu cpu[TACHO_KEV_CPUS];
	struct tacho_buf slots;		/* of the present buffer */
	struct tacho_buf out;		/* to be written */
	uint32_t sequence;
	bool any_timed;			/* exact: there was a TIME event on some CPU */
	uint64_t any_time;		/* the first one's */
	uint64_t begin;			/* time of the buffer's first event, on CPU 0 */
	bool lost_first;		/* events are missing before the first buffer */
	bool turned;			/* since CPU 0's last TIME the low half went round */
};

static int write_out(struct tacho_kev_writer *w, struct tacho_diag *d)
{
	size_t done = 0;

	if (tacho_buf_error(&w->out))
		return tacho_no_memory(d);
	while (w->fd >= 0 && done < w->out.len) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tacho_diag(d, -errno, w->bytes, "cannot write '%s': %s",
					  w->path, strerror(errno));
		done += (size_t)n;
	}
	w->bytes += w->out.len;
	tacho_buf_reset(&w->out);
	return 0;
}

/* ---- slots ---------------------------------------------------------------------- */

static void put_slot(struct tacho_buf *b, bool swap, uint32_t header, uint32_t stamp,
		     const unsigned char *words)
{
	char *to = tacho_buf_reserve(b, TACHO_KEV_SLOT);

	if (!to)
		return;
	tacho_put_u32(to, swap ? bswap_32(header) : header);
	tacho_put_u32(to + 4, swap ? bswap_32(stamp) : stamp);
	memcpy(to + 8, words, 8);
	tacho_buf_commit(b, TACHO_KEV_SLOT);
}

static void put_control(const struct tacho_kev_writer *w, struct tacho_buf *b,
			uint32_t header, uint32_t stamp, uint32_t a, uint32_t c)
{
	unsigned char words[8];

	tacho_put_u32(words, w->swap ? bswap_32(a) : a);
	tacho_put_u32(words + 4, w->swap ? bswap_32(c) : c);
	put_slot(b, w->swap, header, stamp, words);
}

static void note_time(struct tacho_kev_writer *w, struct cpu *c, uint64_t time)
{
	if (!c->timed) {
		c->timed = true;
		c->time = time;
	}
	if (!w->any_timed) {
		w->any_timed = true;
		w->any_time = time;
	}
}

static void put_time(struct tacho_kev_writer *w, struct tacho_buf *b, uint32_t cpu,
		     uint64_t time)
{
	note_time(w, &w->cpu[cpu], time);
	put_control(w, b, cpu << 24 | TACHO_KEV_TIME, (uint32_t)time,
		    (uint32_t)(time >> 32), (uint32_t)time);
	w->cpu[cpu].high = time >> 32 << 32;
	w->cpu[cpu].known = true;
}

/* What a reader takes for the high half of an event before the TIME event at `time`. */
static uint64_t guess(uint64_t time, uint64_t event)
{
	uint64_t high = time >> 32 << 32;

	return (uint32_t)event > (uint32_t)time && high ? high - (UINT64_C(1) << 32) : high;
}

static bool is_announced(const struct tacho_kev_writer *w, const struct cpu *c)
{
	uint64_t high = c->timed ? guess(c->time, c->first) :
			w->any_timed ? tacho_kev_near_time(w->any_time, (uint32_t)c->first) : 0;

	return high >> 32 == c->first >> 32;
}

/* Puts a TIME event before a CPU's first event. */
static void tell_first(struct tacho_kev_writer *w, uint32_t cpu)
{
	struct cpu *c = &w->cpu[cpu];
	size_t end = w->slots.len, at = c->first_at;
	char slot[TACHO_KEV_SLOT];

	put_time(w, &w->slots, cpu, c->first);
	if (tacho_buf_error(&w->slots))
		return;
	memcpy(slot, w->slots.data + end, sizeof(slot));
	memmove(w->slots.data + at + sizeof(slot), w->slots.data + at, end - at);
	memcpy(w->slots.data + at, slot, sizeof(slot));
	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++)
		if (w->cpu[i].first_at > at)
			w->cpu[i].first_at += sizeof(slot);
}

/*
 * Events that came from a .kev have their TIME events with them, as long as these
 * were not taken out.  A reader looks ahead for a CPU's first one; where that does not
 * give the time of the CPU's first event, another is put before it.
 */
static void tell_firsts(struct tacho_kev_writer *w)
{
	bool any = false;

	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++)
		any |= w->cpu[i].open && !is_announced(w, &w->cpu[i]);
	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++) {
		struct cpu *c = &w->cpu[i];
		uint64_t high = c->high;

		/* one more TIME may be what others without any go by */
		if (c->open && any && (!c->timed || !is_announced(w, c))) {
			tell_first(w, i);
			c->high = high;
		}
		c->open = false;
	}
}

/* Ends the buffer: now it is known how many slots it has. */
static int flush(struct tacho_kev_writer *w, struct tacho_diag *d)
{
	uint32_t nr;

	if (w->exact)
		tell_firsts(w);
	nr = (uint32_t)(w->slots.len / TACHO_KEV_SLOT);
	if (tacho_buf_error(&w->slots))
		return tacho_no_memory(d);
	/* a gap is one between two buffers: the first is empty */
	if (nr && w->lost_first)
		put_control(w, &w->out, TACHO_KEV_BUFFER, (uint32_t)w->begin, 0, 1);
	w->lost_first &= !nr;
	/* BUFFER is an event of CPU 0: its time, too, has to be known */
	if (nr && !w->exact && w->turned)
		put_control(w, &w->out, TACHO_KEV_TIME, (uint32_t)w->begin,
			    (uint32_t)(w->begin >> 32), (uint32_t)w->begin);
	if (nr && !w->exact)
		put_control(w, &w->out, TACHO_KEV_BUFFER, (uint32_t)w->begin,
			    w->sequence++, nr + 1 + w->turned);
	tacho_buf_put(&w->out, w->slots.data, w->slots.len);
	tacho_buf_reset(&w->slots);
	return w->out.len >= WRITE_SIZE ? write_out(w, d) : 0;
}

/* Whether so many more slots need another buffer. */
static bool is_full(const struct tacho_kev_writer *w, uint32_t nr)
{
	uint32_t has = (uint32_t)(w->slots.len / TACHO_KEV_SLOT);

	/* one slot for BUFFER, one for a TIME that may stand before the event */
	return has && has + nr + 2 > BUFFER_SLOTS;
}

/* Room for so many slots in the buffer; a new one says what time it is. */
static int begin_slots(struct tacho_kev_writer *w, uint32_t nr, uint64_t time,
		       struct tacho_diag *d)
{
	int err = is_full(w, nr) ? flush(w, d) : 0;

	if (err || w->slots.len || w->exact)
		return err;
	w->begin = time > w->cpu[0].last ? time : w->cpu[0].last;
	w->turned = w->cpu[0].known && w->cpu[0].high != w->begin >> 32 << 32;
	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++)
		if (w->cpu[i].known)
			put_time(w, &w->slots, i,
				 time > w->cpu[i].last ? time : w->cpu[i].last);
	return 0;
}

/* What the reader must know of the CPU's clock before an event at `time`. */
static void tell_time(struct tacho_kev_writer *w, const struct tacho_kev_out *ev,
		      uint64_t time)
{
	struct cpu *c = &w->cpu[ev->cpu];

	if (ev->code == TACHO_KEV_TIME && w->exact && ev->nr == 2) {
		c->high = (uint64_t)tacho_load_u32(ev->words) << 32;
		c->known = true;
		note_time(w, c, c->high | (uint32_t)time);
	} else if (!c->known && w->exact) {
		c->open = c->known = true;
		c->first_at = w->slots.len;
		c->first = time;
		c->high = time >> 32 << 32;
	} else if (!c->known || c->high != time >> 32 << 32) {
		put_time(w, &w->slots, ev->cpu, time);
	}
}

static void swap_words(const struct tacho_kev_out *ev, unsigned char *words,
		       uint32_t nr)
{
	const struct tacho_kev_form *f = ev->form;
	uint32_t numbers = nr;

	if (f && (f->kind == TACHO_KEV_STRING || f->kind == TACHO_KEV_BYTES))
		numbers = f->fixed;
	tacho_kev_swap(words, words, numbers, f ? f->wide : 0);
}

static void put_event(struct tacho_kev_writer *w, const struct tacho_kev_out *ev,
		      uint64_t time, unsigned char *words, uint32_t nr)
{
	uint32_t header = ev->cpu << 24 | ev->code;

	if (w->swap)
		swap_words(ev, words, nr);
	for (uint32_t i = 0; i < nr; i += 2) {
		uint32_t part = nr == 2 ? TACHO_KEV_S : !i ? TACHO_KEV_CB :
				i + 2 == nr ? TACHO_KEV_CE : TACHO_KEV_CC;

		put_slot(&w->slots, w->swap, header | part << 30, (uint32_t)time,
			 words + (size_t)4 * i);
	}
}

int tacho_kev_writer_event(struct tacho_kev_writer *w,
			   const struct tacho_kev_out *ev, struct tacho_diag *d)
{
	struct cpu *c = &w->cpu[ev->cpu];
	uint32_t nr = ev->nr ? (ev->nr + 1) & ~1u : 2;
	unsigned char few[256], *words = few;
	uint64_t time = ev->time;
	int err;

	if (!w->exact && c->last && time <= c->last && c->last - time < BUMP_MAX)
		time = c->last + 1;
	err = begin_slots(w, nr / 2, time, d);
	if (err)
		return err;
	if ((size_t)4 * nr > sizeof(few)) {
		words = malloc((size_t)4 * nr);
		if (!words)
			return tacho_no_memory(d);
	}
	memset(words + (size_t)4 * (nr - 2), 0, 8);
	memcpy(words, ev->words, (size_t)4 * ev->nr);
	tell_time(w, ev, time);
	c->last = time;
	put_event(w, ev, time, words, nr);
	if (words != few)
		free(words);
	if (w->exact && w->slots.len >= WRITE_SIZE)
		return flush(w, d);
	return tacho_buf_error(&w->slots) ? tacho_no_memory(d) : 0;
}

int tacho_kev_writer_slots(struct tacho_kev_writer *w, uint32_t header,
			   uint32_t stamp, const void *words, uint32_t nr,
			   struct tacho_diag *d)
{
	unsigned char two[8];
	int err = begin_slots(w, nr / 2, stamp, d);

	for (uint32_t i = 0; i + 1 < nr && !err; i += 2) {
		memcpy(two, (const unsigned char *)words + (size_t)4 * i, 8);
		if (w->swap)
			tacho_kev_swap(two, two, 2, 0);
		put_slot(&w->slots, w->swap,
			 i ? TACHO_KEV_KEY(header) | (uint32_t)TACHO_KEV_CC << 30 : header,
			 stamp, two);
	}
	return err ? err : tacho_buf_error(&w->slots) ? tacho_no_memory(d) : 0;
}

int tacho_kev_writer_lost(struct tacho_kev_writer *w, uint64_t lost,
			  struct tacho_diag *d)
{
	int err = 0;

	/* numbers of buffers stand in CONTROL events, which exact ones have */
	if (w->exact || !lost)
		return 0;
	if (w->slots.len)
		err = flush(w, d);
	if (!w->sequence) {
		w->lost_first = true;
		w->sequence = 1;
	}
	w->sequence += lost < LOST_MAX ? (uint32_t)lost : LOST_MAX;
	return err;
}

/* BUFFER, and what may stand before it: a TIME, the empty BUFFER before a gap. */
static uint32_t slots_before(const struct tacho_kev_writer *w)
{
	return 1u + w->turned + w->lost_first;
}

/* At most so many slots a new buffer has before its first event. */
static uint32_t slots_of_new(const struct tacho_kev_writer *w)
{
	uint32_t n = 3;

	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++)
		n += w->cpu[i].known;
	return n;
}

uint64_t tacho_kev_writer_size(const struct tacho_kev_writer *w, uint32_t nr)
{
	uint64_t slots = w->slots.len / TACHO_KEV_SLOT, more = (nr + 1) / 2;

	if (w->slots.len)
		slots += slots_before(w);
	if (nr && (!w->slots.len || is_full(w, (uint32_t)more)))
		slots += slots_of_new(w);
	/* and a TIME, if the high half of the CPU's time changes */
	if (nr)
		slots += more + 1;
	return w->bytes + w->out.len + slots * TACHO_KEV_SLOT;
}

/* ---- the file --------------------------------------------------------------------- */

static int open_temp(struct tacho_kev_writer *w, const char *path,
		     struct tacho_diag *d)
{
	struct stat st;

	w->path = strdup(path);
	if (!w->path || asprintf(&w->temp, "%s.part", path) < 0) {
		w->temp = NULL;
		return tacho_no_memory(d);
	}
	if (!stat(path, &st) && (!S_ISREG(st.st_mode) || st.st_size))
		return tacho_diag(d, -EEXIST, 0,
				  "'%s' exists and is not empty; remove it or choose another name",
				  path);
	w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return w->fd < 0 ? tacho_diag(d, -errno, 0, "cannot write '%s': %s", w->temp,
				      strerror(errno)) : 0;
}

static void release(struct tacho_kev_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	tacho_buf_release(&w->slots);
	tacho_buf_release(&w->out);
	free(w->path);
	free(w->temp);
	free(w);
}

int tacho_kev_writer_new(struct tacho_kev_writer **writer, const char *path,
			 const struct tacho_kev_config *config,
			 struct tacho_diag *d)
{
	struct tacho_kev_writer *w = calloc(1, sizeof(*w));
	int err;

	*writer = NULL;
	if (!w)
		return tacho_no_memory(d);
	w->fd = -1;
	w->exact = config->exact;
	w->swap = config->big != (htobe32(1) == 1);
	tacho_buf_init(&w->slots, BUFFER_MAX);
	tacho_buf_init(&w->out, BUFFER_MAX);
	err = path ? open_temp(w, path, d) : 0;
	if (err) {
		release(w);
		return err;
	}
	tacho_buf_put(&w->out, config->header, config->header_len);
	tacho_buf_put(&w->out, config->syspage, config->syspage_len);
	*writer = w;
	return 0;
}

int tacho_kev_writer_close(struct tacho_kev_writer *w, bool keep,
			   uint64_t *bytes, struct tacho_diag *d)
{
	int err = keep ? flush(w, d) : 0;

	if (keep && !err)
		err = write_out(w, d);
	if (w->fd >= 0 && close(w->fd) && keep && !err)
		err = tacho_diag(d, -errno, 0, "cannot write '%s': %s", w->path,
				 strerror(errno));
	w->fd = -1;
	if (w->temp && keep && !err && rename(w->temp, w->path))
		err = tacho_diag(d, -errno, 0, "cannot rename '%s' to '%s': %s",
				 w->temp, w->path, strerror(errno));
	if (w->temp && (!keep || err))
		(void)unlink(w->temp);
	if (bytes)
		*bytes = w->bytes;
	release(w);
	return err;
}
