// SPDX-License-Identifier: MIT
/*
 * hammer - many writers, one recorder, and SIGKILL for all of them.
 *
 *	hammer [-w processes] [-t threads] [-s signal_us] [-k kill_us] [-r]
 *	       [-o] [-p] [-e events] [-b log2] [-n subs] [-x seed]
 *
 *	-s	a timer signal this often; its handler writes too
 *	-k	SIGKILL for a random process this often (mean)
 *	-r	the recorder is among them
 *	-o	overwrite mode, else discard and consume
 *	-p	fallback lanes only
 *	-e	end after so many events were read; overwrite mode: written
 *
 * Each thread, and each thread's handler, is a slot.  In shared memory it says which
 * number it is trying, and after the call how many it tried and a sum over those
 * that were written.  The recorder hands each chunk over in an outbox; the
 * parent checks every record and does the books:
 *
 *	torn		no record fails its checksum
 *	order		numbers of a slot and times of a lane ascend in each lane
 *	exact		discard: for each slot, what was read is what it says was
 *			written, and for a killed one at most what it was trying
 *	lanes		written = read + overwritten, for each lane
 *	all		tried <= read + overwritten + lost <= tried + one for each
 *			slot of a killed process
 *
 * Nothing here depends on how long anything takes.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#define SLOTS_MAX	(1u << 19)
#define BIG_WORDS	200u	/* now and then */

struct slot {
	uint64_t tried;
	uint64_t trying;
	uint64_t sum;		/* over the numbers that were written */
	uint64_t killed;	/* the parent's */
};

struct outbox {
	uint32_t full;
	uint32_t lane;
	struct tacho_chunk chunk;
	uint64_t overwritten;
	uint64_t damaged;
	unsigned char data[1u << TACHO_SUB_SHIFT_MAX];
};

struct shared {
	uint32_t stop;
	uint32_t drained;
	struct outbox out;
	struct slot slot[SLOTS_MAX];
};

static struct options {
	uint32_t processes, threads, signal_us, kill_us, sub_shift, subs;
	bool kill_reader, overwrite, fallback;
	uint64_t events, seed;
} opt = {
	.processes = 4, .threads = 2, .kill_us = 3000, .sub_shift = 14, .subs = 8,
	.events = 1000000, .seed = 1,
};

static struct fixture fix;
static struct shared *sh;

static uint64_t sum_of(uint64_t number)
{
	return ledger_mix(number + 1) | 1;
}

/* ---- writers ---- */

static __thread struct slot *handler_slot;

static void write_one(struct slot *s)
{
	uint64_t raw[BIG_WORDS];
	uint64_t n = s->tried;
	uint64_t words = ledger_words(n, n % 64 ? 9 : BIG_WORDS);

	if (words > fix.ring.sub_words - TACHO_PACKET_WORDS - 1)
		words = LEDGER_WORDS_MIN;
	ledger_make(raw, words, (uint64_t)(s - sh->slot), n);
	tacho_store_relaxed(&s->trying, n);
	if (!tacho_ring_write(&fix.ring, raw, words))
		tacho_store_relaxed(&s->sum, s->sum + sum_of(n));
	else
		(void)sched_yield();	/* full: let the recorder run */
	tacho_store_relaxed(&s->tried, n + 1);
}

static void on_alarm(int sig)
{
	int saved = errno;

	(void)sig;
	if (handler_slot)
		write_one(handler_slot);
	errno = saved;
}

static void *writer(void *arg)
{
	struct slot *s = arg;

	handler_slot = s + 1;
	while (!tacho_load_relaxed(&sh->stop))
		write_one(s);
	return NULL;
}

static void writer_process(uint32_t first)
{
	struct itimerval every = {
		.it_interval.tv_usec = opt.signal_us,
		.it_value.tv_usec = opt.signal_us,
	};
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t thread[64];

	(void)sigaction(SIGALRM, &sa, NULL);
	if (opt.signal_us)
		(void)setitimer(ITIMER_REAL, &every, NULL);
	for (uint32_t i = 1; i < opt.threads; i++)
		if (pthread_create(&thread[i], NULL, writer,
				   &sh->slot[first + 2 * i]))
			_exit(1);
	(void)writer(&sh->slot[first]);
	for (uint32_t i = 1; i < opt.threads; i++)
		(void)pthread_join(thread[i], NULL);
	_exit(0);
}

/* ---- the recorder ---- */

static void hand_over(uint32_t lane, const struct tacho_ring_reader *rd,
		      const struct tacho_chunk *c)
{
	struct outbox *o = &sh->out;

	o->lane = lane;
	o->chunk = *c;
	o->damaged = rd->damaged;
	memcpy(o->data, c->data, c->len);
	tacho_store_release(&o->full, 1);
	while (tacho_load_acquire(&o->full))
		(void)sched_yield();
}

/* Reads all lanes from where the books end, until all writers are gone. */
static void reader_process(const struct ledger_lane *books)
{
	uint32_t nr = tacho_ring_nr_lanes(&fix.ring);
	struct tacho_ring_reader *rd = calloc(nr, sizeof(*rd));
	struct tacho_chunk c;

	for (;;) {
		bool last = tacho_load_acquire(&sh->stop) == 2;
		bool any = false;

		for (uint32_t lane = 0; lane < nr; lane++) {
			if (!rd[lane].copy &&
			    tacho_ring_reader_init(&rd[lane], &fix.ring, lane, 0,
						   !opt.overwrite,
						   books[lane].next_event))
				continue;
			if (tacho_ring_read(&rd[lane], &c) != 1)
				continue;
			any = true;
			hand_over(lane, &rd[lane], &c);
		}
		if (last && !any)
			break;
		if (!any)
			(void)sched_yield();
	}
	tacho_store_release(&sh->drained, 1);
	_exit(0);
}

/* ---- the parent's books ---- */

struct books {
	struct ledger_lane *lane;
	uint64_t *sum;		/* by slot: over the numbers that were read */
	uint64_t *last;		/* [lane * SLOTS_MAX + slot]: number + 1 */
	uint64_t read, disorder, damaged;
	uint32_t now;		/* lane of the chunk at hand */
};

static void book_one(void *arg, uint64_t slot, uint64_t number)
{
	struct books *b = arg;
	uint64_t *last;

	if (slot >= SLOTS_MAX) {
		b->disorder++;
		return;
	}
	last = &b->last[(uint64_t)b->now * SLOTS_MAX + slot];
	if (number + 1 <= *last)
		b->disorder++;
	*last = number + 1;
	b->sum[slot] += sum_of(number);
	b->read++;
}

/* Takes what the recorder put out, if anything. */
static bool take_outbox(struct books *b)
{
	struct outbox *o = &sh->out;
	struct tacho_chunk c;

	if (!tacho_load_acquire(&o->full))
		return false;
	c = o->chunk;
	c.data = o->data;
	b->now = o->lane;
	b->damaged += o->damaged;
	ledger_chunk(&b->lane[o->lane], &c, book_one, b);
	tacho_store_release(&o->full, 0);
	return true;
}

static uint64_t random_next(void)
{
	opt.seed += UINT64_C(0x9e3779b97f4a7c15);
	return ledger_mix(opt.seed);
}

static uint64_t next_kill(void)
{
	return tacho_now_ns(CLOCK_MONOTONIC) +
	       random_next() % (2000 * (uint64_t)opt.kill_us + 1);
}

/* All processes: the recorder is number 0. */
struct crew {
	pid_t pid[65];
	uint32_t first[65];	/* slot of the process's first thread */
	uint32_t next_slot;
	uint64_t kills, reader_kills;
};

static void start_one(struct crew *crew, struct books *b, uint32_t i)
{
	if (i) {
		crew->first[i] = crew->next_slot;
		crew->next_slot += 2 * opt.threads;
	}
	crew->pid[i] = fork();
	if (crew->pid[i] < 0)
		abort();
	if (crew->pid[i])
		return;
	if (i)
		writer_process(crew->first[i]);
	reader_process(b->lane);
}

static void kill_one(struct crew *crew, struct books *b)
{
	uint32_t i = 1 + (uint32_t)(random_next() % opt.processes);

	if (opt.kill_reader && random_next() % 4 == 0)
		i = 0;
	if (crew->next_slot + 2 * opt.threads > SLOTS_MAX)
		return;
	if (crew->pid[i] <= 0)
		abort();
	(void)kill(crew->pid[i], SIGKILL);
	(void)waitpid(crew->pid[i], NULL, 0);
	if (i) {
		crew->kills++;
		for (uint32_t k = 0; k < 2 * opt.threads; k++)
			sh->slot[crew->first[i] + k].killed = 1;
	} else {
		crew->reader_kills++;
		(void)take_outbox(b);
	}
	start_one(crew, b, i);
}

/* Events so far, of those that -e counts. */
static uint64_t events_done(const struct books *b)
{
	return opt.overwrite ? fixture_written(&fix) : b->read;
}

static void hammer(struct crew *crew, struct books *b)
{
	uint64_t kill_at = next_kill();

	for (uint32_t i = 0; i <= opt.processes; i++)
		start_one(crew, b, i);
	while (events_done(b) < opt.events) {
		if (!take_outbox(b))
			(void)sched_yield();
		if (opt.kill_us && tacho_now_ns(CLOCK_MONOTONIC) >= kill_at) {
			kill_one(crew, b);
			kill_at = next_kill();
		}
	}
	tacho_store_release(&sh->stop, 1);
	for (uint32_t i = 1; i <= opt.processes; i++) {
		int status, err;

		while (!(err = waitpid(crew->pid[i], &status, WNOHANG)))
			if (!take_outbox(b))
				(void)sched_yield();
		CHECK_EQ(err, crew->pid[i]);
		CHECK_EQ(status, 0);
	}
	tacho_store_release(&sh->stop, 2);
	while (!tacho_load_acquire(&sh->drained))
		if (!take_outbox(b))
			(void)sched_yield();
	(void)waitpid(crew->pid[0], NULL, 0);
}

static void check_slots(const struct crew *crew, const struct books *b)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < crew->next_slot; i++) {
		const struct slot *s = &sh->slot[i];
		bool good = b->sum[i] == s->sum ||
			    (s->killed && b->sum[i] == s->sum + sum_of(s->trying));

		if (!good && !wrong++)
			printf("# slot %u: tried %ju, killed %ju\n", i,
			       (uintmax_t)s->tried, (uintmax_t)s->killed);
	}
	CHECK_EQ(wrong, 0);
}

static void check_books(const struct crew *crew, const struct books *b)
{
	uint64_t tried = 0, lost = fixture_lost(&fix), over = 0, torn = 0;
	uint64_t disorder = b->disorder;
	uint64_t slack = crew->kills * 2 * opt.threads;
	struct tacho_diag d = { .err = 0 };

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&fix.ring); lane++) {
		const struct ledger_lane *l = &b->lane[lane];

		CHECK_EQ(l->read + l->overwritten,
			 tacho_ring_written(&fix.ring, lane, 0));
		over += l->overwritten;
		torn += l->torn;
		disorder += l->disorder;
	}
	for (uint32_t i = 0; i < crew->next_slot; i++)
		tried += sh->slot[i].tried;
	printf("# %ju tried, %ju read, %ju lost, %ju overwritten; %ju kills of "
	       "writers, %ju of the recorder; %ju torn, %ju out of order\n",
	       (uintmax_t)tried, (uintmax_t)b->read, (uintmax_t)lost,
	       (uintmax_t)over, (uintmax_t)crew->kills,
	       (uintmax_t)crew->reader_kills, (uintmax_t)torn,
	       (uintmax_t)disorder);
	if (!CHECK_EQ(tacho_ring_check(&fix.ring, &d), 0))
		printf("# %s\n", d.text);
	CHECK_EQ(torn, 0);
	CHECK_EQ(disorder, 0);
	CHECK_EQ(b->damaged, 0);
	CHECK(b->read > 0);
	CHECK(b->read + over >= opt.events);
	CHECK(tried <= b->read + over + lost);
	CHECK(b->read + over + lost <= tried + slack);
	if (!opt.overwrite) {
		CHECK_EQ(over, 0);
		check_slots(crew, b);
	}
}

static void parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "w:t:s:k:rope:b:n:x:")) != -1) {
		uint64_t v = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (o) {
		case 'w': opt.processes = (uint32_t)v; break;
		case 't': opt.threads = (uint32_t)v; break;
		case 's': opt.signal_us = (uint32_t)v; break;
		case 'k': opt.kill_us = (uint32_t)v; break;
		case 'r': opt.kill_reader = true; break;
		case 'o': opt.overwrite = true; break;
		case 'p': opt.fallback = true; break;
		case 'e': opt.events = v; break;
		case 'b': opt.sub_shift = (uint32_t)v; break;
		case 'n': opt.subs = (uint32_t)v; break;
		case 'x': opt.seed = v; break;
		default: exit(2);
		}
	}
	if (!opt.processes || opt.processes > 64 || !opt.threads ||
	    opt.threads > 64)
		exit(2);
#ifdef __SANITIZE_THREAD__
	/* fifty times slower, and a process takes long to start */
	opt.events /= 50;
	opt.kill_us *= 20;
#endif
#ifdef TACHO_TINY
	opt.sub_shift = TACHO_SUB_SHIFT_MIN;
	opt.subs = 4;
#endif
}

int main(int argc, char **argv)
{
	struct books b = { .read = 0 };
	struct crew crew = { .kills = 0 };
	uint32_t nr;

	parse(argc, argv);
	fixture_make_cpus(&fix, opt.sub_shift, opt.subs,
			  opt.overwrite ? TACHO_SESSION_OVERWRITE : 0,
			  opt.fallback ? 0 : tacho_cpu_possible());
	nr = tacho_ring_nr_lanes(&fix.ring);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	b.lane = calloc(nr, sizeof(*b.lane));
	b.sum = calloc(SLOTS_MAX, sizeof(*b.sum));
	b.last = calloc((size_t)nr * SLOTS_MAX, sizeof(*b.last));
	if (sh == MAP_FAILED || !b.lane || !b.sum || !b.last)
		return 1;
	TEST_NAMED("hammer", (hammer(&crew, &b), check_books(&crew, &b)));
	fixture_drop(&fix);
	free(b.lane);
	free(b.sum);
	free(b.last);
	return test_done();
}
