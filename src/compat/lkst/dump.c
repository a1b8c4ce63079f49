// SPDX-License-Identifier: MIT
/*
 * The last events of this process as text, wherever the program is: also in the handler of a
 * signal that ends it.
 *
 *	1. memory of our own: records, a copy of a sub-buffer, text
 *	2. each buffer of each lane is read from its newest sub-buffer to older ones, until it
 *	   has nothing that is newer than what was found; the n newest records are kept in a
 *	   heap with the oldest of them on top
 *	3. they are sorted, and put into the text from its end on, the newest first, as
 *	   long as there is room
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/scan.h"
#include "compat/lkst/run.h"
#include "fmt/lkst/line.h"
#include "ring/write.h"
#include "sys/mapping.h"

#define TEXT_MAX	(64u << 10)
#define EVENTS_MAX	1024u		/* more do not fit into the text */
#define DUMP_DEFAULT	100u

struct dump {
	struct lkst_link *link;
	int32_t pid;
	uint32_t nr, max;
	struct lkst_record heap[EVENTS_MAX];
	char text[TEXT_MAX];
	uint64_t copy[];		/* a sub-buffer */
};

/* ---- the newest ones ---- */

static void swap(struct lkst_record *a, struct lkst_record *b)
{
	struct lkst_record c = *a;

	*a = *b;
	*b = c;
}

static void sink(struct lkst_record *heap, uint32_t nr)
{
	for (uint32_t i = 0, child; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && heap[child + 1].ticks < heap[child].ticks)
			child++;
		if (heap[i].ticks <= heap[child].ticks)
			return;
		swap(&heap[i], &heap[child]);
	}
}

static void keep(struct dump *d, const struct lkst_record *r)
{
	uint32_t i = d->nr;

	if (i == d->max) {
		if (r->ticks <= d->heap[0].ticks)
			return;
		d->heap[0] = *r;
		sink(d->heap, d->nr);
		return;
	}
	d->heap[d->nr++] = *r;
	for (; i && d->heap[(i - 1) / 2].ticks > d->heap[i].ticks; i = (i - 1) / 2)
		swap(&d->heap[(i - 1) / 2], &d->heap[i]);
}

/* The newest first. */
static void sort(struct dump *d)
{
	for (uint32_t n = d->nr; n > 1; n--) {
		swap(&d->heap[0], &d->heap[n - 1]);
		sink(d->heap, n - 1);
	}
}

/* ---- what the rings hold ---- */

static bool is_lkst(const struct tacho_view *v, uint32_t type)
{
	uint32_t len;
	const char *text = tacho_types_text(v, type, &len);

	return text && len > sizeof(LKST_SYSTEM) && !memcmp(text, LKST_SYSTEM ":",
							     sizeof(LKST_SYSTEM));
}

/* Keeps this process's records of a packet; false: all of it is older than those kept. */
static bool take_packet(struct dump *d, uint32_t words)
{
	const struct tacho_packet *p = (const void *)d->copy;
	const unsigned char *at = (const unsigned char *)d->copy + sizeof(*p);
	const unsigned char *end = (const unsigned char *)d->copy + 8ull * words;
	uint64_t last = p->timestamp_begin;

	while (end - at >= TACHO_RECORD_HEAD) {
		struct tacho_common common;
		struct lkst_record r;
		uint64_t word;
		uint32_t size;

		memcpy(&word, at, sizeof(word));
		size = tacho_record_size(word);
		if (size < TACHO_RECORD_HEAD || size % 8 || size > (size_t)(end - at))
			break;
		last = tacho_record_time(word, last);
		memcpy(&common, at + 8, sizeof(common));
		if (lkst_record_unpack(&r, at + 8, size - 8, last) && r.pid == d->pid &&
		    lkst_etype_index(r.etype) >= 0 && is_lkst(&d->link->view, common.type)) {
			r.cpu = (uint16_t)p->cpu_id;
			keep(d, &r);
		}
		at += size;
	}
	return d->nr < d->max || last > d->heap[0].ticks;
}

/* Copies sub-buffer `seq`, which a cursor ends in if it is not 0.  Its words; 0: it is gone. */
static uint32_t copy_packet(struct dump *d, const struct tacho_lane *lane,
			    const struct tacho_ring_buf *b, uint32_t id, uint32_t seq,
			    uint64_t end)
{
	const struct tacho_ring *r = &d->link->view.ring;
	const struct tacho_packet *p = tacho_ring_sub(r, b, tacho_cursor_make(id, seq, 0, 0));
	struct tacho_packet *copy = (void *)d->copy;
	uint64_t words, now;

	tacho_copy_relaxed(d->copy, (const uint64_t *)(const void *)p, TACHO_PACKET_WORDS);
	words = end ? tacho_cursor_words(end) : copy->content_size / 64;
	if (copy->magic != TACHO_PACKET_MAGIC ||
	    (copy->packet_seq_num & TACHO_CURSOR_SEQ_MASK) != seq ||
	    words < TACHO_PACKET_WORDS || words > r->sub_words)
		return 0;
	tacho_copy_relaxed(d->copy + TACHO_PACKET_WORDS,
			   (const uint64_t *)(const void *)p + TACHO_PACKET_WORDS,
			   words - TACHO_PACKET_WORDS);
	/* [overwrite] R3 of ring.h */
	tacho_fence_acquire();
	now = tacho_load_relaxed(&lane->cursor);
	if (tacho_cursor_id(now) == id &&
	    ((tacho_cursor_seq(now) - seq) & TACHO_CURSOR_SEQ_MASK) + 1 >= tacho_ring_subs(r, b))
		return 0;
	return (uint32_t)words;
}

static void take_buffer(struct dump *d, uint32_t lane_nr, uint32_t id)
{
	struct tacho_ring *r = &d->link->view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, lane_nr);
	struct tacho_buffer *buffer = tacho_lane_buffer(lane, id);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	const struct tacho_ring_buf *b;

	if (!c || c == TACHO_CURSOR_DEAD ||
	    !(tacho_load_relaxed(&buffer->flags) & TACHO_BUFFER_MADE))
		return;
	if (tacho_cursor_id(c) != id)
		c = tacho_load_acquire(&buffer->saved);
	b = c ? tacho_ring_map(r, lane_nr, id) : NULL;
	for (uint32_t i = 0; b && i + 1 < tacho_ring_subs(r, b); i++) {
		uint32_t seq = (tacho_cursor_seq(c) - i) & TACHO_CURSOR_SEQ_MASK;
		uint32_t words = copy_packet(d, lane, b, id, seq, i ? 0 : c);

		if (!words || !take_packet(d, words) ||
		    !((const struct tacho_packet *)(const void *)d->copy)->packet_seq_num)
			return;
	}
}

/* ---- text ---- */

/* Ahead of UTC where the program began; localtime() may not be called now. */
static int32_t utc_offset;

static uint64_t real_time(const struct tacho_control *c, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	uint64_t freq = c->clock_freq ? c->clock_freq : 1;

	return (uint64_t)((wide)(int64_t)(ticks - c->start.ticks) * 1000000000 / (wide)freq +
			  (wide)c->start.realtime);
}

static size_t put_record(const struct dump *d, const struct lkst_record *r, char *line)
{
	struct lkst_etype_entry e = lkst_run.state->etype[lkst_etype_index(r->etype)];
	struct lkst_line how = {
		.realtime = real_time(d->link->view.ctl, r->ticks), .utc_offset = utc_offset,
	};

	e.mnemonic[sizeof(e.mnemonic) - 1] = e.name[sizeof(e.name) - 1] = '\0';
	if (e.ready)
		how.name = *e.name ? e.name : e.mnemonic;
	for (int i = 0; i < 4 && e.ready; i++) {
		e.arg[i][sizeof(e.arg[i]) - 1] = '\0';
		how.arg[i] = e.arg[i];
	}
	how.all = !e.ready;
	return lkst_line_put(line, r, &how);
}

static void put_head(const struct dump *d, uint32_t nr, char *line, size_t *len)
{
	static const char a[] = "lkst: the last ", b[] = " events of process ";
	char *o = tacho_chars(line, a, sizeof(a) - 1);

	o = tacho_digits(o, nr);
	o = tacho_chars(o, b, sizeof(b) - 1);
	o = tacho_digits(o, (uint64_t)d->pid);
	*o++ = '\n';
	*len = (size_t)(o - line);
}

static void write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void put_all(struct dump *d, int fd)
{
	char line[LKST_LINE_MAX];
	size_t at = TEXT_MAX, len;
	uint32_t i;

	for (i = 0; i < d->nr; i++) {
		len = put_record(d, &d->heap[i], line);
		if (at < len + LKST_LINE_MAX)
			break;
		at -= len;
		memcpy(d->text + at, line, len);
	}
	put_head(d, i, line, &len);
	at -= len;
	memcpy(d->text + at, line, len);
	write_all(fd, d->text + at, TEXT_MAX - at);
}

static void dump(struct lkst_link *k, int fd, uint32_t n)
{
	uint64_t size = sizeof(struct dump) + 8ull * k->view.ring.sub_words;
	struct dump *d = tacho_shm_private(size);

	if (!d)
		return;
	d->link = k;
	d->pid = getpid();
	d->max = n < EVENTS_MAX ? n : EVENTS_MAX;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&k->view.ring); lane++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
			take_buffer(d, lane, id);
	sort(d);
	put_all(d, fd);
	tacho_shm_unmap(d, size);
}

TACHO_EXPORT void lkst_dump(int fd, unsigned int n)
{
	static const char none[] = "lkst: nothing is recorded\n";
	struct lkst_state *s = tacho_load_acquire(&lkst_run.state);	/* [lkst-state] */
	struct lkst_link *k = s ? lkst_link_get(s) : NULL;
	int saved = errno;

	if (k && n)
		dump(k, fd, n);
	else
		write_all(fd, none, sizeof(none) - 1);
	errno = saved;
}

/* ---- on a signal ---- */

static struct sigaction before[NSIG];
static unsigned int nr_on[NSIG];	/* 0: not ours */

/* Whether the program cannot continue after it. */
static bool is_fatal(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL ||
	       sig == SIGABRT || sig == SIGSYS || sig == SIGTRAP;
}

/* What would have happened without us; but a signal that a user sent for this ends nothing. */
static void go_on(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[sig];
	struct sigaction plain = { .sa_handler = SIG_DFL };

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(sig, info, context);
		return;
	}
	if (old->sa_handler == SIG_IGN)
		return;
	if (old->sa_handler != SIG_DFL) {
		old->sa_handler(sig);
		return;
	}
	if (!is_fatal(sig))
		return;
	(void)sigaction(sig, &plain, NULL);
	/* a fault comes again by itself, with its address */
	if (info->si_code <= 0)
		(void)raise(sig);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	lkst_dump(STDERR_FILENO, tacho_load_relaxed(&nr_on[sig]));
	errno = saved;
	go_on(sig, info, context);
}

TACHO_EXPORT int lkst_dump_on_signal(int sig, unsigned int n)
{
	struct sigaction a = { .sa_sigaction = on_signal,
			       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	bool first;

	if (sig <= 0 || sig >= NSIG || !n)
		return -EINVAL;
	sigemptyset(&a.sa_mask);
	first = !tacho_load_relaxed(&nr_on[sig]);
	if (first && sigaction(sig, NULL, &before[sig]))
		return -errno;
	tacho_store_relaxed(&nr_on[sig], n);
	if (first && sigaction(sig, &a, NULL)) {
		tacho_store_relaxed(&nr_on[sig], 0);
		return -errno;
	}
	return 0;
}

/* Parses "QUIT", "SIGQUIT", "3"; 0: not a signal. */
static int signal_of(const char *name, size_t len)
{
	const char *digits;
	uint64_t v = 0;
	int sig;

	if (len > 3 && !strncmp(name, "SIG", 3)) {
		name += 3;
		len -= 3;
	}
	digits = name;
	(void)tacho_scan_digits(&digits, name + len, 10, NSIG, &v);
	sig = (int)v;
	for (int s = 1; !sig && s < NSIG; s++) {
		const char *abbrev = sigabbrev_np(s);

		if (abbrev && strlen(abbrev) == len && !memcmp(abbrev, name, len))
			sig = s;
	}
	return sig;
}

void lkst_dump_begin(void)
{
	const char *list = secure_getenv("LKST_DUMP");
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		utc_offset = (int32_t)tm.tm_gmtoff;
	while (list && *list) {
		size_t len = strcspn(list, ",:");
		uint64_t n = DUMP_DEFAULT;
		int sig = signal_of(list, len);

		list += len;
		if (*list == ':') {
			n = 0;
			list++;
			(void)tacho_scan_digits(&list, NULL, 10, EVENTS_MAX, &n);
		}
		if (sig)
			(void)lkst_dump_on_signal(sig, (unsigned int)n);
		list += strcspn(list, ",");
		list += *list == ',';
	}
}
