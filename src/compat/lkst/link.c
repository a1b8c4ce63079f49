// SPDX-License-Identifier: MIT
/* LKST in this process: its state, its session, the thread's ids. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/scan.h"
#include "compat/lkst/late.h"
#include "compat/lkst/run.h"
#include "session/proc.h"
#include "sys/mapping.h"

#define ASK_EACH	16	/* slow hits between two looks at the ids */

struct lkst_run lkst_run = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread struct lkst_self lkst_self __attribute__((tls_model("initial-exec"))) = {
	.seen = UINT64_MAX,
};

/* ---- ids of the thread ---- */

static uint64_t two(uint32_t low, uint32_t high)
{
	uint32_t half[2] = { low, high };
	uint64_t word;

	memcpy(&word, half, sizeof(word));
	return word;
}

void lkst_self_refresh(uint64_t current)
{
	uint32_t left = tacho_load_relaxed(&lkst_self.left);

	if (tacho_load_relaxed(&lkst_self.seen) == current && left) {
		tacho_store_relaxed(&lkst_self.left, left - 1);
		return;
	}
	lkst_self.ids = two(geteuid(), getegid());
	lkst_self.who = two((uint32_t)getpid(), (uint32_t)getpgrp());
	/* a signal handler that finds these finds the others */
	tacho_signal_fence();
	tacho_store_relaxed(&lkst_self.left, ASK_EACH);
	tacho_store_relaxed(&lkst_self.seen, current);
}

/* ---- owners ---- */

bool lkst_owner_word_lives(uint64_t word)
{
	int32_t pid = (int32_t)word;

	return pid == LKST_OWNER_ITSELF || tacho_process_is(pid, word >> 32);
}

uint64_t lkst_owner_word_self(void)
{
	int32_t pid = getpid();

	return (uint32_t)pid | (uint64_t)(uint32_t)tacho_start_time(pid) << 32;
}

bool lkst_owner_claim(struct lkst_owner *o, uint64_t seen)
{
	if (!tacho_cas_acq_rel((uint64_t *)(void *)o, &seen, lkst_owner_word_self()))
		return false;
	tacho_store_release(&o->start, tacho_start_time(getpid()));	/* [lkst-owner] */
	return true;
}

bool lkst_owner_release(struct lkst_owner *o)
{
	uint64_t self = lkst_owner_word_self();

	return tacho_cas_acq_rel((uint64_t *)(void *)o, &self, 0);
}

/* ---- LKST's session ---- */

/* Whether system calls that a sandbox may forbid are fine: no filter came since. */
static bool may_map(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == lkst_run.seccomp;
}

static int map_registry(void)
{
	char path[TACHO_PATH_MAX + 16];
	size_t n = strlen(lkst_run.dir);
	struct tacho_registry *reg;
	int fd, err;
	void *map;

	memcpy(path, lkst_run.dir, n);
	memcpy(path + n, "/registry", sizeof("/registry"));
	fd = tacho_shm_open(AT_FDCWD, path);
	if (fd < 0)
		return fd;
	err = tacho_shm_map(fd, sizeof(*reg), false, false, &map);
	close(fd);
	if (err)
		return err;
	reg = map;
	if (tacho_load_acquire(&reg->head.ready) != 1 ||	/* [ready] */
	    reg->head.magic != TACHO_MAGIC_REGISTRY ||
	    reg->head.signature != tacho_abi_signature()) {
		tacho_shm_unmap(map, sizeof(*reg));
		return -EPROTO;
	}
	lkst_run.reg = reg;
	return 0;
}

/* Where the session of a generation lives; false: nowhere any more. */
static bool path_of(uint64_t generation, uint32_t *bit, char path[TACHO_PATH_MAX])
{
	const struct tacho_slot *slot;

	*bit = (uint32_t)((generation - 1) >> 32);
	if (!lkst_run.reg || *bit >= TACHO_SESSIONS_MAX)
		return false;
	slot = &lkst_run.reg->slot[*bit];
	if (tacho_load_acquire(&slot->state) != TACHO_SLOT_LIVE ||	/* [slot] */
	    tacho_load_relaxed(&slot->generation) != (uint32_t)(generation - 1))
		return false;
	memcpy(path, slot->path, TACHO_PATH_MAX);
	path[TACHO_PATH_MAX - 1] = '\0';
	return path[0] == '/';
}

/*
 * A core dump has the session once, from libtacho's mappings, which hold what hooks write: these
 * are for looking at it.  What is written by them, lkst_link_dump() puts in.  The kernel's events,
 * which hooks do not write, are mapped here alone.
 */
static void keep_out_of_core(struct lkst_link *k)
{
	struct tacho_ring *r = &k->view.ring;

	(void)madvise(k->view.ctl, k->view.ctl_size, MADV_DONTDUMP);
	(void)madvise(k->view.types, TACHO_TYPES_SIZE, MADV_DONTDUMP);
	(void)madvise(k->view.commands, sizeof(*k->view.commands), MADV_DONTDUMP);
	for (uint32_t lane = 0; lane < r->nr_cpus + r->nr_fallback; lane++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
			struct tacho_ring_buf *b;

			if (!(tacho_load_relaxed(&tacho_lane_buffer(tacho_ring_lane(r, lane),
						  id)->flags) & TACHO_BUFFER_MADE))
				continue;
			b = tacho_ring_map(r, lane, id);
			/* libtacho maps what is written; a core has the lane's first one, too */
			if (b && id)
				(void)madvise(b->base, (size_t)b->mask +
					      ((size_t)1 << r->sub_shift), MADV_DONTDUMP);
		}
}

/* What there is now: lkst_link_late() maps what is made later. */
static void map_late(struct lkst_link *k)
{
	struct tacho_ring *r = &k->view.ring;

	for (uint32_t lane = r->nr_cpus + r->nr_fallback; lane < tacho_ring_nr_lanes(r); lane++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
			(void)tacho_ring_map(r, lane, id);
}

void lkst_link_late(struct lkst_link *k, const struct lkst_state *s, uint32_t cpu)
{
	struct tacho_ring *r = &k->view.ring;
	uint32_t id = tacho_cursor_id(tacho_load_relaxed(&tacho_ring_lane(r, cpu)->cursor));
	uint32_t lane = lkst_late_lane(s, r, cpu);

	if (lane != UINT32_MAX && may_map())
		(void)tacho_ring_map(r, lane, id);
}

void lkst_link_dump(struct lkst_link *k, uint32_t lane)
{
	struct tacho_ring *r = &k->view.ring;
	uint32_t id = tacho_cursor_id(tacho_load_relaxed(&tacho_ring_lane(r, lane)->cursor));
	uint64_t bit = UINT64_C(1) << id;
	struct tacho_ring_buf *b;

	if (!k->in_core || tacho_load_relaxed(&k->in_core[lane]) & bit)
		return;
	b = may_map() ? tacho_ring_map(r, lane, id) : NULL;
	if (b)
		(void)madvise(b->base, (size_t)b->mask + ((size_t)1 << r->sub_shift),
			      MADV_DODUMP);
	(void)tacho_or_seq_cst(&k->in_core[lane], bit);
}

static void free_link(struct lkst_link *k)
{
	if (k->in_core)
		tacho_shm_unmap(k->in_core, tacho_ring_nr_lanes(&k->view.ring) *
					    sizeof(*k->in_core));
	tacho_view_unmap(&k->view);
	tacho_shm_unmap(k, sizeof(*k));
}

static struct lkst_link *make_link(uint64_t generation)
{
	const struct tacho_control *own;
	struct lkst_link *k;
	char path[TACHO_PATH_MAX];
	uint32_t bit;

	if (!may_map() || !path_of(generation, &bit, path))
		return NULL;
	k = tacho_shm_private(sizeof(*k));
	if (!k)
		return NULL;
	if (tacho_view_map(&k->view, path, false)) {
		tacho_shm_unmap(k, sizeof(*k));
		return NULL;
	}
	if (k->view.ctl->bit != bit || k->view.ctl->generation != (uint32_t)(generation - 1)) {
		free_link(k);
		return NULL;
	}
	k->in_core = tacho_shm_private(tacho_ring_nr_lanes(&k->view.ring) * sizeof(*k->in_core));
	k->lanes = k->view.ring.lanes;
	own = lkst_run.ops ? lkst_run.ops->control(bit) : NULL;
	if (own && own->generation == k->view.ctl->generation)
		k->lanes = (const unsigned char *)own + TACHO_CONTROL_LANES_OFF;
	k->generation = generation;
	k->mask = UINT64_C(1) << bit;
	k->serial = tacho_add_relaxed(&lkst_run.serials, 1) + 1;
	k->nr_cpus = k->view.ring.nr_cpus < lkst_run.nr_cpus ? k->view.ring.nr_cpus :
							       lkst_run.nr_cpus;
	/* sessions of one machine have as many; the hot way is for CPUs that all have */
	if (k->nr_cpus < tacho_load_relaxed(&lkst_run.fast.nr_cpus))
		tacho_store_relaxed(&lkst_run.fast.nr_cpus, k->nr_cpus);
	keep_out_of_core(k);
	map_late(k);
	return k;
}

/* Stragglers keep valid, empty memory. */
static void retire(struct lkst_link *k)
{
	if (k)
		tacho_view_retire(&k->view);
}

static struct lkst_link *replace_link(struct lkst_link *old, uint64_t generation)
{
	struct lkst_link *k = make_link(generation);

	if (!k) {
		tacho_store_relaxed(&lkst_run.failed, generation);
		return NULL;
	}
	if (tacho_cas_acq_rel(&lkst_run.link, &old, k)) {	/* [lkst-link] */
		retire(old);
		return k;
	}
	/* another thread, or a signal handler of this one, was first */
	free_link(k);
	return old && old->generation == generation ? old : NULL;
}

struct lkst_link *lkst_link_slow(void)
{
	const struct lkst_state *s = lkst_run.state;
	struct lkst_link *k = tacho_load_acquire(&lkst_run.link);	/* [lkst-link] */
	uint64_t generation = tacho_load_acquire(&s->generation);	/* [face-generation] */
	int saved = errno;

	if (!generation || generation == tacho_load_relaxed(&lkst_run.failed))
		return NULL;
	/* destroyed by a tool that knows nothing of LKST, and not made again yet */
	if (k && k->generation == generation)
		return tacho_load_relaxed(&k->view.ctl->state) == TACHO_STATE_DEAD ? NULL : k;
	k = replace_link(k, generation);
	errno = saved;
	return k;
}

/* ---- the beginning, and forks ---- */

static void before_fork(void)
{
	lkst_api_lock();
	pthread_mutex_lock(&lkst_run.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&lkst_run.lock);
	lkst_api_unlock();
}

static void after_fork_child(void)
{
	lkst_self = (struct lkst_self){ .seen = UINT64_MAX };
	lkst_service_fork();
	pthread_mutex_unlock(&lkst_run.lock);
	lkst_api_unlock();
}

int lkst_run_may(void)
{
	uid_t uid = geteuid();

	return !uid || uid == lkst_run.owner ? 0 : -EPERM;
}

static int find_owner(void)
{
	struct stat st;

	if (stat(lkst_run.dir, &st))
		return -errno;
	lkst_run.owner = st.st_uid;
	return 0;
}

/*
 * A core dump has mappings of files only if bit 3 of the filter is set; what was there
 * stays.
 */
static void let_core_have_it(void)
{
	const char *wanted = secure_getenv("LKST_CORE");
	char text[32];
	const char *digits = text;
	uint64_t filter = 0;
	ssize_t n;
	int fd;

	if (wanted && !strcmp(wanted, "0"))
		return;
	fd = open("/proc/self/coredump_filter", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = '\0';
		(void)tacho_scan_digits(&digits, NULL, 16, UINT64_MAX, &filter);
		n = snprintf(text, sizeof(text), "0x%lx", (unsigned long)filter | 8);
		if (pwrite(fd, text, (size_t)n, 0) != n)
			(void)n;	/* then the core has less */
	}
	close(fd);
}

static int begin(void)
{
	/* libtacho begins first: its fork handlers are to run within ours, as its lock is taken */
	static struct tacho_object nothing = { .struct_size = sizeof(nothing) };
	struct lkst_state *s;
	int err = tacho_object_register(&nothing);

	lkst_run.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
	if (!err)
		err = tacho_dir_path(lkst_run.dir, sizeof(lkst_run.dir));
	if (!err)
		err = find_owner();
	if (!err)
		err = map_registry();
	if (!err)
		err = -pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	if (!err)
		err = lkst_state_map(&s, NULL, true);
	if (err)
		return err == -EACCES || err == -EPERM ? -EPERM : -ENODEV;
	lkst_run.nr_cpus = lkst_run.fast.nr_cpus = s->nr_cpus;
	lkst_run.fast.current = &s->current;
	lkst_run.fast.rseq_offset = tacho_rseq_offset();
	lkst_overrun_prepare();
	let_core_have_it();
	lkst_dump_begin();
	tacho_store_release(&lkst_run.state, s);	/* [lkst-state] */
	return 0;
}

int lkst_run_begin(void)
{
	static bool begun;
	static int error;
	int saved = errno;

	if (!begun) {
		begun = true;
		error = begin();
	}
	errno = saved;
	return error;
}
