// SPDX-License-Identifier: MIT
/*
 * Many at once in one process: threads, threads that are moved from CPU to CPU, a
 * signal handler that writes while the main flow writes, forks, a shift
 * to and fro under writers, and a reader beside all of them.  The build with plain
 * lanes runs this under ThreadSanitizer.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "base/atomic.h"
#include "ring/fixture.h"
#include "ring/ledger.h"
#include "unit/test.h"

#define WRITERS		4
#ifdef __SANITIZE_THREAD__
#define EVENTS		20000u
#else
#define EVENTS		200000u
#endif
#define SLOTS		64

struct team {
	struct fixture f;
	uint64_t tried[SLOTS], ok[SLOTS];
	uint64_t sum_ok[SLOTS], sum_read[SLOTS];
	uint64_t last[SLOTS];		/* of the lane that is read */
	uint64_t disorder;
	uint32_t done;			/* writers that have finished */
	bool moving;
};

static struct team *team;

/* One record of a slot; the slot is used by one flow of control at a time. */
static void put(uint64_t slot)
{
	uint64_t raw[24];
	uint64_t n = team->tried[slot]++;
	uint64_t words = ledger_words(n, 16);

	ledger_make(raw, words, slot, n);
	if (tacho_ring_write(&team->f.ring, raw, words))
		return;
	team->ok[slot]++;
	team->sum_ok[slot] += ledger_mix(n + 1);
}

static void *writer(void *arg)
{
	uint64_t slot = (uintptr_t)arg;

	for (uint32_t i = 0; i < EVENTS; i++) {
		if (team->moving && i % 50 == 0)
			(void)fixture_pin((unsigned int)(i / 50 + slot) % 2);
		put(slot);
	}
	(void)tacho_add_seq_cst(&team->done, 1);
	return NULL;
}

static void read_one(void *arg, uint64_t slot, uint64_t number)
{
	struct team *t = arg;

	if (slot >= SLOTS || number + 1 <= t->last[slot]) {
		t->disorder++;
		return;
	}
	t->last[slot] = number + 1;
	t->sum_read[slot] += ledger_mix(number + 1);
}

static void make_team(uint32_t subs, uint32_t flags)
{
	team = calloc(1, sizeof(*team));
	if (!team)
		abort();
	fixture_make(&team->f, TACHO_SUB_SHIFT_MIN + 2, subs, flags);
}

static void drop_team(void)
{
	struct tacho_diag d = { .err = 0 };

	if (!CHECK_EQ(tacho_ring_check(&team->f.ring, &d), 0))
		printf("# %s\n", d.text);
	fixture_drop(&team->f);
	free(team);
}

/* Readers of all lanes, each with its own memory of who was last. */
struct readers {
	uint32_t nr;
	struct tacho_ring_reader *rd;
	struct ledger_lane *books;
	uint64_t (*last)[SLOTS];
};

static void readers_init(struct readers *all)
{
	all->nr = tacho_ring_nr_lanes(&team->f.ring);
	all->rd = calloc(all->nr, sizeof(*all->rd));
	all->books = calloc(all->nr, sizeof(*all->books));
	all->last = calloc(all->nr, sizeof(*all->last));
	if (!all->rd || !all->books || !all->last)
		abort();
}

/* Reads what is there now in buffer 0 of all lanes. */
static bool readers_poll(struct readers *all)
{
	struct tacho_chunk c;
	bool any = false;

	for (uint32_t lane = 0; lane < all->nr; lane++) {
		if (!all->rd[lane].copy &&
		    tacho_ring_reader_init(&all->rd[lane], &team->f.ring, lane, 0,
					   true, 0))
			continue;
		memcpy(team->last, all->last[lane], sizeof(team->last));
		while (tacho_ring_read(&all->rd[lane], &c) == 1) {
			ledger_chunk(&all->books[lane], &c, read_one, team);
			any = true;
		}
		memcpy(all->last[lane], team->last, sizeof(team->last));
	}
	return any;
}

static void readers_check(struct readers *all, uint64_t slots, bool exact)
{
	uint64_t read = 0, over = 0, tried = 0, wrong = 0;

	for (uint32_t lane = 0; lane < all->nr; lane++) {
		const struct ledger_lane *l = &all->books[lane];

		CHECK_EQ(l->torn, 0);
		CHECK_EQ(l->disorder, 0);
		CHECK_EQ(l->read + l->overwritten,
			 tacho_ring_written(&team->f.ring, lane,
					    tacho_ring_home(&team->f.ring, lane)));
		CHECK_EQ(all->rd[lane].damaged, 0);
		read += l->read;
		over += l->overwritten;
		tacho_ring_reader_release(&all->rd[lane]);
	}
	for (uint64_t s = 0; s < slots; s++) {
		tried += team->tried[s];
		wrong += team->sum_ok[s] != team->sum_read[s];
	}
	CHECK_EQ(team->disorder, 0);
	CHECK_EQ(read + over + fixture_lost(&team->f), tried);
	if (exact)
		CHECK_EQ(wrong, 0);
	free(all->rd);
	free(all->books);
	free(all->last);
}

static void threads_with(uint32_t flags, bool moving)
{
	pthread_t thread[WRITERS];
	struct readers all;

	make_team(8, flags);
	team->moving = moving;
	readers_init(&all);
	for (uintptr_t i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, writer, (void *)i), 0);
	while (tacho_load_acquire(&team->done) < WRITERS)
		if (!readers_poll(&all))
			(void)sched_yield();
	for (int i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	while (readers_poll(&all))
		;
	readers_check(&all, WRITERS, !flags);
	drop_team();
}

static void on_alarm(int sig)
{
	int saved = errno;

	(void)sig;
	for (int i = 0; i < 3; i++)
		put(1);
	errno = saved;
}

/* A handler that comes at any instruction of the main flow's write. */
static void test_signals(uint32_t flags)
{
	struct itimerval every = { { 0, 53 }, { 0, 53 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct readers all;

	make_team(8, flags);
	readers_init(&all);
	CHECK_EQ(sigaction(SIGALRM, &sa, NULL), 0);
	CHECK_EQ(setitimer(ITIMER_REAL, &every, NULL), 0);
	/* until the handler had enough chances, however slow the machine is */
	for (uint32_t i = 0; i < EVENTS ||
	     tacho_load_relaxed(&team->tried[1]) < 300; i++) {
		put(0);
		if (i % 64 == 0)
			readers_poll(&all);
	}
	CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
	while (readers_poll(&all))
		;
	readers_check(&all, 2, !flags);
	drop_team();
}

/* Children write through the parent's mapping, and one of them forks again. */
static void test_fork(void)
{
	struct readers all;
	uint64_t tried = 0;
	pid_t child[3];

	make_team(64, 0);
	readers_init(&all);
	for (uintptr_t i = 0; i < 3; i++) {
		child[i] = fork();
		if (child[i])
			continue;
		if (i == 2) {
			pid_t inner = fork();
			int status;

			if (!inner) {
				writer((void *)(uintptr_t)3);
				_exit(0);
			}
			waitpid(inner, &status, 0);
		}
		writer((void *)i);
		_exit(0);
	}
	for (int i = 0, status; i < 3; ) {
		pid_t got = waitpid(child[i], &status, WNOHANG);

		readers_poll(&all);
		if (!got)
			continue;
		CHECK_EQ(status, 0);
		i++;
	}
	while (readers_poll(&all))
		;
	/* the children's books went with them: what the ring says must do */
	tried = 4 * (uint64_t)EVENTS;
	team->tried[0] = tried;
	readers_check(&all, 1, false);
	drop_team();
}

struct shifter {
	struct tacho_ring *r;
	uint32_t stop;
	uint64_t done, within, failed;
};

/* Shifts all begun lanes to and fro. */
static void *shift_loop(void *arg)
{
	struct shifter *s = arg;
	uint32_t nr = tacho_ring_nr_lanes(s->r);

	for (uint32_t id = 1; !tacho_load_acquire(&s->stop); id = !id)
		for (uint32_t lane = 0; lane < nr; lane++) {
			int err;

			if (!tacho_load_acquire(&tacho_ring_lane(s->r, lane)->cursor))
				continue;
			if (tacho_ring_add_buffer(s->r, lane, 1, 8,
						  TACHO_BUFFER_OVERWRITE))
				continue;
			err = tacho_ring_shift(s->r, lane, id);
			s->done += err >= 0;
			(void)tacho_add_relaxed(&s->failed, err < 0 && err != -EAGAIN);
		}
	return NULL;
}

/* Shifts as writers do: on their CPU, from the cursor that they saw. */
static void *shift_within(void *arg)
{
	struct shifter *s = arg;

	while (!tacho_load_acquire(&s->stop))
		for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(s->r); lane++) {
			uint64_t c = tacho_load_acquire(&tacho_ring_lane(s->r, lane)->cursor);
			int err;

			if (!c)
				continue;
			err = tacho_ring_shift_from(s->r, lane, c, tacho_cursor_id(c) ^ 1);
			(void)tacho_add_relaxed(&s->within, err == 0);
			(void)tacho_add_relaxed(&s->failed, err && err != -EAGAIN &&
						err != -ENOENT);
		}
	return NULL;
}

/* Reads one buffer of a lane from its oldest record, counting. */
static void read_buffer(uint32_t lane, uint32_t id, struct ledger_lane *books)
{
	struct tacho_ring_reader rd;
	struct tacho_chunk c;

	if (tacho_ring_reader_init(&rd, &team->f.ring, lane, id, false, 0))
		return;
	while (tacho_ring_read(&rd, &c) == 1)
		ledger_chunk(books, &c, NULL, NULL);
	CHECK_EQ(rd.damaged, 0);
	tacho_ring_reader_release(&rd);
}

static void test_shift_under_writers(void)
{
	pthread_t thread[WRITERS], shift, within;
	struct shifter s = { .stop = 0 };
	uint64_t sum = 0, tried = 0;

	make_team(8, TACHO_SESSION_OVERWRITE);
	s.r = &team->f.ring;
	for (uintptr_t i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, writer, (void *)i), 0);
	CHECK_EQ(pthread_create(&shift, NULL, shift_loop, &s), 0);
	CHECK_EQ(pthread_create(&within, NULL, shift_within, &s), 0);
	for (int i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	tacho_store_release(&s.stop, 1);
	CHECK_EQ(pthread_join(shift, NULL), 0);
	CHECK_EQ(pthread_join(within, NULL), 0);
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(s.r); lane++)
		for (uint32_t id = 0; id < 2; id++) {
			struct ledger_lane books = { 0 };
			uint64_t written = tacho_ring_written(s.r, lane, id);

			read_buffer(lane, id, &books);
			CHECK_EQ(books.torn + books.disorder, 0);
			/* a buffer that was emptied by overwriting may have no
			 * record left to tell how many went before */
			if (books.read)
				CHECK_EQ(books.read + books.overwritten, written);
			sum += written;
		}
	for (int i = 0; i < WRITERS; i++)
		tried += team->tried[i];
	printf("# %ju shifts, %ju by writers, under %ju records\n", (uintmax_t)s.done,
	       (uintmax_t)s.within, (uintmax_t)tried);
	CHECK_EQ(s.failed, 0);
	CHECK_EQ(sum + fixture_lost(&team->f), tried);
	drop_team();
}

/* ---- buffers of other sizes and modes, under writers ---- */

struct mover {
	struct tacho_ring *r;
	uint64_t goal, done, failed;
	bool both_modes;
};

/* Writes until the mover has finished; others get their turn. */
static void *writer_beside(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	while (!tacho_load_acquire(&team->done)) {
		for (int i = 0; i < 100; i++)
			put((uintptr_t)arg);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static void move_all(struct mover *m, uint64_t i)
{
	uint32_t subs = 4u << i % 4;
	uint32_t mode = m->both_modes && i / 4 % 2 ? TACHO_BUFFER_OVERWRITE : 0;

	if (!m->both_modes)
		mode = team->f.ctl->flags & TACHO_SESSION_OVERWRITE ? TACHO_BUFFER_OVERWRITE : 0;
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(m->r); lane++) {
		int err;

		if (!tacho_load_acquire(&tacho_ring_lane(m->r, lane)->cursor))
			continue;
		err = tacho_ring_move(m->r, lane, subs, mode);
		m->failed += err && err != -EAGAIN;
		m->done += !err;
	}
}

static void *move_loop(void *arg)
{
	struct mover *m = arg;

	for (uint64_t i = 0; m->done < m->goal && !m->failed; i++)
		move_all(m, i);
	tacho_store_release(&team->done, 1);
	return NULL;
}

/* Tools that are killed while they move lanes, one after the other. */
static void *kill_loop(void *arg)
{
	struct mover *m = arg;
	struct timespec life = { .tv_nsec = 0 };
	int status;

	for (uint64_t i = 0; m->done < m->goal; i++) {
		pid_t pid = fork();

		if (!pid)
			for (uint64_t turn = i; true; turn++)
				move_all(m, turn);
		life.tv_nsec = (long)(ledger_mix(i) % 3000000);
		(void)nanosleep(&life, NULL);
		if (pid > 0 && !kill(pid, SIGKILL))
			(void)waitpid(pid, &status, 0);
		m->done++;
	}
	tacho_store_release(&team->done, 1);
	return NULL;
}

static void test_move(uint32_t flags, bool both_modes, void *(*loop)(void *), uint64_t goal)
{
	struct mover m = { .both_modes = both_modes, .goal = goal };
	pthread_t thread[WRITERS], mover;
	struct readers all;
	uint64_t records = 0;

	make_team(8, flags);
	m.r = &team->f.ring;
	readers_init(&all);
	for (uintptr_t i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, writer_beside, (void *)i), 0);
	CHECK_EQ(pthread_create(&mover, NULL, loop, &m), 0);
	while (!tacho_load_acquire(&team->done))
		if (!readers_poll(&all))
			(void)sched_yield();
	for (int i = 0; i < WRITERS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(pthread_join(mover, NULL), 0);
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(m.r); lane++)
		tacho_ring_settle(m.r, lane);
	while (readers_poll(&all))
		;
	for (int i = 0; i < WRITERS; i++)
		records += team->tried[i];
	printf("# %ju moves or kills under %ju records\n", (uintmax_t)m.done,
	       (uintmax_t)records);
	CHECK_EQ(m.failed, 0);
	CHECK(m.done >= goal);
	readers_check(&all, WRITERS, false);
	drop_team();
}

/* All of a process on one CPU: writers meet only by preemption. */
static void test_one_cpu(void)
{
	cpu_set_t before;

	CHECK_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
	CHECK_EQ(fixture_pin(0), 0);
	threads_with(0, false);
	CHECK_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(threads_with(0, false));
	TEST(threads_with(TACHO_SESSION_OVERWRITE, false));
	TEST(threads_with(0, true));
	TEST(threads_with(TACHO_SESSION_OVERWRITE, true));
	TEST(test_one_cpu());
	TEST(test_signals(0));
	TEST(test_signals(TACHO_SESSION_OVERWRITE));
	TEST(test_fork());
	TEST(test_shift_under_writers());
	TEST(test_move(0, false, move_loop, 1000));
	TEST(test_move(TACHO_SESSION_OVERWRITE, false, move_loop, 1000));
	TEST(test_move(0, true, move_loop, 1000));
	TEST(test_move(TACHO_SESSION_OVERWRITE, true, kill_loop, 100));
	return test_done();
}
