// SPDX-License-Identifier: MIT
/* The pump: its owner, threads, rounds and steps (pump_priv.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/pump_priv.h"
#include "compat/lkst/priv.h"
#include "sys/clock.h"
#include "sys/cpu.h"
#include "sys/futex.h"

#define PAUSE_MS	100			/* between steps, if nothing wakes */
/* for another's step, until it is looked at again */
#define WAIT_NS		UINT64_C(200000000)
#define WAITS		50			/* a pump that is stopped is not waited for */

/* ---- the threads on the CPUs: T4, T5 ---- */

struct hand {
	struct tacho_lkst_pump *p;
	uint32_t cpu;
};

static void *hand_thread(void *arg)
{
	struct hand h = *(struct hand *)arg;
	struct lkst_pump_cpu *c = &h.p->cpu[h.cpu];
	struct tacho_cpu_saved saved;

	free(arg);
	tacho_store_relaxed(&c->tid, gettid());
	/* offline by now: then from wherever this runs */
	(void)tacho_cpu_enter(h.cpu, &saved);
	for (uint32_t n = 1;; n++) {
		uint32_t asked;

		while ((asked = tacho_load_acquire(&c->asked)) < n)	/* [pump-request] */
			(void)tacho_futex_wait(&c->asked, asked, UINT64_C(10000000000));
		if (tacho_load_relaxed(&h.p->stop) > 1)
			return NULL;
		lkst_pump_hand(h.p, h.cpu);
		tacho_store_release(&c->answered, n);	/* [pump-answer] */
		tacho_futex_wake(&c->answered);
	}
}

/* False: there can be no thread; then the caller does it. */
static bool has_thread(struct tacho_lkst_pump *p, uint32_t cpu)
{
	struct lkst_pump_cpu *c = &p->cpu[cpu];
	struct hand *h;

	if (c->running)
		return true;
	h = malloc(sizeof(*h));
	if (!h)
		return false;
	*h = (struct hand){ p, cpu };
	c->running = !pthread_create(&c->thread, NULL, hand_thread, h);
	if (!c->running)
		free(h);
	return c->running;
}

static void ask(struct lkst_pump_cpu *c)
{
	tacho_store_release(&c->asked, tacho_load_relaxed(&c->asked) + 1);	/* [pump-request] */
	tacho_futex_wake(&c->asked);
}

static void wait_for(struct lkst_pump_cpu *c)
{
	uint32_t got;

	while ((got = tacho_load_acquire(&c->answered)) != c->asked)	/* [pump-answer] */
		(void)tacho_futex_wait(&c->answered, got, UINT64_C(10000000000));
}

/* Waking a thread costs as much as some hundred events: parts of a slot only if `parts`. */
static void hand_all(struct tacho_lkst_pump *p, bool parts)
{
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		if (p->cpu[i].handed == p->cpu[i].next ||
		    (!parts && p->cpu[i].next < p->cpu[i].nr))
			continue;
		if (has_thread(p, i))
			ask(&p->cpu[i]);
		else
			lkst_pump_hand(p, i);
	}
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		if (p->cpu[i].running)
			wait_for(&p->cpu[i]);
}

static void end_threads(struct tacho_lkst_pump *p)
{
	tacho_store_release(&p->stop, 2);
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		if (!p->cpu[i].running)
			continue;
		ask(&p->cpu[i]);
		(void)pthread_join(p->cpu[i].thread, NULL);
		p->cpu[i].running = false;
	}
}

/* ---- rounds and steps ---- */

/* What has been taken by now: all that is older than *upto. */
static int round_of_all(struct tacho_lkst_pump *p, uint64_t *upto)
{
	*upto = UINT64_MAX;
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		struct lkst_pump_cpu *c = &p->cpu[i];
		int err = c->nr || c->upto >= p->began ? 0 : lkst_pump_take(p, i);

		if (err)
			return err;
		if (c->upto < *upto)
			*upto = c->upto;
	}
	lkst_pump_complete(p, *upto);
	hand_all(p, *upto >= p->began);
	return 0;
}

static int step(struct tacho_lkst_pump *p)
{
	uint32_t turn = tacho_add_seq_cst(&p->file.head->begun, 1) + 1;
	uint64_t upto;
	int err;

	p->began = tacho_clock_read(p->l->session.view.ctl->clock);
	do
		err = round_of_all(p, &upto);
	while (!err && upto < p->began && tacho_load_relaxed(&p->stop) < 1);
	if (!err && upto >= p->began)
		tacho_store_release(&p->l->state->pumped, p->began);	/* [pumped] */
	tacho_store_release(&p->file.head->done, turn);	/* [pump-step] */
	tacho_futex_wake(&p->file.head->done);
	return err;
}

static bool is_ended(const struct tacho_lkst_pump *p)
{
	return tacho_load_relaxed(&p->stop) ||
	       tacho_load_acquire(&p->file.head->end) != p->ended ||
	       tacho_load_relaxed(&p->l->session.view.ctl->state) == TACHO_STATE_DEAD;
}

/* Waits until a buffer of the kernel fills, a step is requested, or a timeout. */
static void pause_between(struct tacho_lkst_pump *p, struct pollfd *polls)
{
	char bytes[64];

	(void)poll(polls, p->nr_cpus + 1, PAUSE_MS);
	while (read(p->fifo, bytes, sizeof(bytes)) > 0)
		;
}

static void pump_until_ended(struct tacho_lkst_pump *p, struct pollfd *polls)
{
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		polls[i] = (struct pollfd){ .fd = p->cpu[i].reader.fd, .events = POLLIN };
	polls[p->nr_cpus] = (struct pollfd){ .fd = p->fifo, .events = POLLIN };
	while (!is_ended(p) && step(p) >= 0 && !p->once && !is_ended(p))
		pause_between(p, polls);
}

/* ---- its life ---- */

/* The instance of the session, which must be there. */
static int open_instance(struct tacho_lkst_pump *p, struct tacho_diag *d)
{
	struct tacho_tracefs t;
	bool is;
	int err = tacho_tracefs_open(&t, 0, d);

	if (err)
		return err;
	is = tacho_kernel_is_kept(&t, p->l->session.name);
	tacho_tracefs_close(&t);
	if (!is)
		return tacho_diag(d, -ENOENT, 0, "LKST records no events of the kernel; select a "
				  "maskset that has some");
	return lkst_kernel_open(p->l, &p->k, d);
}

static int open_readers(struct tacho_lkst_pump *p, struct tacho_diag *d)
{
	for (; p->nr_cpus < p->file.head->nr_cpus; p->nr_cpus++) {
		struct lkst_pump_cpu *c = &p->cpu[p->nr_cpus];
		int err;

		if (p->nr_cpus >= tacho_kernel_info(p->k)->nr_cpus)
			break;
		c->slot = &p->file.head->slot[p->nr_cpus];
		err = tacho_kreader_open_into(&c->reader, p->k, p->nr_cpus,
					      lkst_pump_page(&p->file, p->nr_cpus), d);
		if (err)
			return err;
	}
	return 0;
}

static int check_clock(const struct tacho_lkst_pump *p, struct tacho_diag *d)
{
	bool tsc = p->l->session.view.ctl->clock == TACHO_CLOCK_TSC;

	if (tacho_kernel_info(p->k)->clock_is_tsc == tsc &&
	    tacho_kernel_info(p->k)->subbuf_size <= LKST_PUMP_PAGE)
		return 0;
	return tacho_diag(d, -EPROTO, 0, "the kernel's instance '%s' has another clock than the "
			  "session; destroy both", tacho_kernel_info(p->k)->instance);
}

static int set_up(struct tacho_lkst_pump *p, struct tacho_diag *d)
{
	const struct tacho_control *ctl = p->l->session.view.ctl;
	int err = lkst_pump_file_own(&p->file);

	if (err)
		return tacho_diag(d, err, 0, err == -EBUSY ? "another process pumps already" :
				  "cannot lock '%s/lkst.pump'", p->l->dir.path);
	p->owned = true;
	err = open_instance(p, d);
	if (!err)
		err = check_clock(p, d);
	if (!err)
		err = lkst_ids_init(&p->ids, ctl->clock, ctl->clock_freq);
	if (!err) {
		p->plan_of = calloc(UINT16_MAX + 1, sizeof(*p->plan_of));
		err = p->plan_of ? 0 : -ENOMEM;
	}
	if (err)
		return tacho_diag(d, err, 0, "cannot pump: %s", strerror(-err));
	err = open_readers(p, d);
	if (err)
		return err;
	p->ended = tacho_load_acquire(&p->file.head->end);
	p->fifo = lkst_pump_file_listen(&p->file);
	return p->fifo >= 0 ? 0 : tacho_diag(d, p->fifo, 0, "cannot make the pump's FIFO: %s",
					     strerror(-p->fifo));
}

/* All but the struct; the instance may be removed, and others may pump. */
static void let_go(struct tacho_lkst_pump *p)
{
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		tacho_kreader_close(&p->cpu[i].reader);
		free(p->cpu[i].staged);
	}
	if (p->fifo >= 0)
		close(p->fifo);
	tacho_kernel_leave(p->k);
	lkst_ids_release(&p->ids);
	free(p->plan_of);
	if (p->owned)
		lkst_pump_file_disown(&p->file);
}

static void *pump_thread(void *arg)
{
	struct tacho_lkst_pump *p = arg;
	int err = set_up(p, p->d);
	struct pollfd *polls = err ? NULL : calloc(p->nr_cpus + 1, sizeof(*polls));

	if (!err && !polls)
		err = tacho_diag(p->d, -ENOMEM, 0, "no memory");
	if (err) {
		let_go(p);
	} else {
		p->tid = gettid();
		for (uint32_t i = 0; i < p->nr_cpus; i++)
			lkst_pump_find(p, i);
	}
	/* from here on, a waiting thread may end the pump */
	p->err = err;
	tacho_store_release(&p->ready, 1);	/* [pump-ready] */
	tacho_futex_wake(&p->ready);
	if (!err) {
		pump_until_ended(p, polls);
		end_threads(p);
		let_go(p);
	}
	free(polls);
	return NULL;
}

static void release(struct tacho_lkst_pump *p)
{
	(void)pthread_join(p->thread, NULL);
	lkst_pump_file_close(&p->file);
	free(p);
}

static int start(struct tacho_lkst_pump **pump, struct tacho_lkst *l, bool once,
		 struct tacho_diag *d)
{
	struct lkst_pump_file file;
	struct tacho_lkst_pump *p;
	int err = lkst_pump_file_open(&file, true);

	*pump = NULL;
	if (err)
		return tacho_diag(d, err, 0, "cannot use '%s/lkst.pump': %s", l->dir.path,
				  strerror(-err));
	p = calloc(1, sizeof(*p) + file.head->nr_cpus * sizeof(p->cpu[0]));
	if (!p) {
		lkst_pump_file_close(&file);
		return tacho_diag(d, -ENOMEM, 0, "no memory");
	}
	*p = (struct tacho_lkst_pump){ .l = l, .file = file, .fifo = -1, .once = once, .d = d };
	err = -pthread_create(&p->thread, NULL, pump_thread, p);
	if (err) {
		lkst_pump_file_close(&p->file);
		free(p);
		return tacho_diag(d, err, 0, "cannot make a thread: %s", strerror(-err));
	}
	while (!tacho_load_acquire(&p->ready))	/* [pump-ready] */
		(void)tacho_futex_wait(&p->ready, 0, WAIT_NS);
	err = p->err;
	if (err)
		release(p);
	else
		*pump = p;
	return err;
}

int tacho_lkst_pump_start(struct tacho_lkst_pump **pump, struct tacho_lkst *l,
			  struct tacho_diag *d)
{
	return start(pump, l, false, d);
}

void tacho_lkst_pump_stop(struct tacho_lkst_pump *p)
{
	if (!p)
		return;
	tacho_store_release(&p->stop, 1);
	lkst_pump_file_wake(&p->file);
	release(p);
}

/* Waits for a step of another's that begins later than now.  False: there is no other. */
static bool wait_for_other(const struct lkst_pump_file *f)
{
	uint32_t begun = tacho_load_seq_cst(&f->head->begun), done;

	for (int i = 0; lkst_owner_lives(&f->head->owner); i++) {
		if (i == WAITS)
			return true;
		lkst_pump_file_wake(f);
		done = tacho_load_acquire(&f->head->done);	/* [pump-step] */
		if ((int32_t)(done - begun) > 0)
			return true;
		(void)tacho_futex_wait(&f->head->done, done, WAIT_NS);
	}
	return false;
}

static int pump_here(struct tacho_lkst *l)
{
	struct tacho_lkst_pump *p;
	int err = start(&p, l, true, NULL);

	if (!err)
		release(p);
	return err;
}

int lkst_pump_ask(struct tacho_lkst *l)
{
	struct lkst_pump_file f;
	int err = pump_here(l);

	if (err == -EBUSY && !lkst_pump_file_open(&f, false)) {
		lkst_pump_file_wake(&f);
		lkst_pump_file_close(&f);
	}
	return err;
}

int tacho_lkst_pump_once(struct tacho_lkst *l)
{
	struct lkst_pump_file f;
	bool waited;
	int err;

	for (;;) {
		err = pump_here(l);
		if (err != -EBUSY)
			return err;
		err = lkst_pump_file_open(&f, false);
		if (err)
			return err;
		waited = wait_for_other(&f);
		lkst_pump_file_close(&f);
		if (waited)
			return -EBUSY;
	}
}
