// SPDX-License-Identifier: MIT
#include "session/view.h"

#include "engine/eprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/futex.h"
#include "sys/mapping.h"
#include "sys/process.h"

/* Checks the common head of files. */
static int check_head(const struct tacho_file_head *h, uint64_t magic)
{
	if (tacho_load_acquire(&h->ready) != 1 || h->magic != magic ||	/* [ready] */
	    h->signature != tacho_abi_signature())
		return -EPROTO;
	return 0;
}

static int map_control(struct tacho_view *v, int dirfd)
{
	uint64_t lanes;
	void *map;
	int fd = tacho_shm_open(dirfd, "control");
	int err;

	if (fd < 0)
		return fd;
	/* first the fixed part, for the number of lanes */
	err = tacho_shm_map(fd, sizeof(struct tacho_control), true, false, &map);
	if (!err) {
		const struct tacho_control *ctl = map;

		err = check_head(&ctl->head, TACHO_MAGIC_CONTROL);
		lanes = (uint64_t)tacho_load_relaxed(&ctl->nr_cpus) +
			tacho_load_relaxed(&ctl->nr_fallback) +
			tacho_load_relaxed(&ctl->nr_late);
		tacho_shm_unmap(map, sizeof(struct tacho_control));
		if (!err && (!lanes || lanes > TACHO_LANES_MAX))
			err = -EPROTO;
	}
	if (!err) {
		v->ctl_size = TACHO_CONTROL_SIZE(lanes);
		err = tacho_shm_map(fd, v->ctl_size, true, true, &map);
		v->ctl = err ? NULL : map;
	}
	close(fd);
	return err;
}

static int map_types(struct tacho_view *v, int dirfd)
{
	int fd = tacho_shm_open(dirfd, "types");
	void *map;
	int err;

	if (fd < 0)
		return fd;
	err = tacho_shm_map(fd, TACHO_TYPES_SIZE, true, false, &map);
	close(fd);
	if (err)
		return err;
	v->types = map;
	tacho_shm_undumped(map, TACHO_TYPES_TEXT_OFF + TACHO_TYPES_TEXT_DUMPED, TACHO_TYPES_SIZE);
	return check_head(&v->types->head, TACHO_MAGIC_TYPES);
}

static int map_commands(struct tacho_view *v, int dirfd)
{
	int fd = tacho_shm_open(dirfd, "commands");
	void *map;
	int err;

	if (fd < 0)
		return fd;
	err = tacho_shm_map(fd, sizeof(struct tacho_commands), true, false, &map);
	close(fd);
	if (err)
		return err;
	v->commands = map;
	return check_head(&v->commands->head, TACHO_MAGIC_COMMANDS);
}

int tacho_view_map(struct tacho_view *v, const char *path, bool populate)
{
	int saved = errno;
	int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	*v = (struct tacho_view){ .ctl = NULL };
	if (dirfd < 0) {
		err = -errno;
		errno = saved;
		return err;
	}
	err = map_control(v, dirfd);
	if (!err)
		err = map_types(v, dirfd);
	if (!err)
		err = map_commands(v, dirfd);
	close(dirfd);
	if (!err)
		err = tacho_ring_attach(&v->ring, v->ctl, path, populate);
	/* the number of lanes was read again: it may not have grown */
	if (!err && TACHO_CONTROL_SIZE(tacho_ring_nr_lanes(&v->ring)) >
		    v->ctl_size)
		err = -EPROTO;
	if (err)
		tacho_view_unmap(v);
	errno = saved;
	return err;
}

void tacho_view_unmap(struct tacho_view *v)
{
	tacho_ring_detach(&v->ring);
	tacho_shm_unmap(v->commands, sizeof(*v->commands));
	tacho_shm_unmap(v->types, TACHO_TYPES_SIZE);
	tacho_shm_unmap(v->ctl, v->ctl_size);
	v->commands = NULL;
	v->types = NULL;
	v->ctl = NULL;
}

void tacho_view_retire(struct tacho_view *v)
{
	tacho_ring_retire(&v->ring);
	tacho_shm_retire(v->commands, sizeof(*v->commands));
	tacho_shm_retire(v->types, TACHO_TYPES_SIZE);
	tacho_shm_retire(v->ctl, v->ctl_size);
}

uint32_t tacho_view_rules_seq(const struct tacho_view *v)
{
	return tacho_load_seq_cst(&v->commands->seq);
}

uint32_t tacho_view_nr_commands(const struct tacho_view *v)
{
	uint32_t n = tacho_load_acquire(&v->commands->nr);	/* [commands] */

	return n < TACHO_COMMANDS_MAX ? n : TACHO_COMMANDS_MAX;
}

static bool has_ended(const struct tacho_view *v)
{
	return tacho_load_seq_cst(&v->ctl->flags) & TACHO_SESSION_ENDED;
}

void tacho_view_run(struct tacho_view *v, bool recording)
{
	uint32_t from = recording ? TACHO_STATE_STOPPED : TACHO_STATE_RECORDING;
	uint32_t to = recording ? TACHO_STATE_RECORDING : TACHO_STATE_STOPPED;

	if (tacho_load_relaxed(&v->ctl->state) != from ||
	    (recording && has_ended(v)) ||
	    !tacho_cas_seq_cst(&v->ctl->state, &from, to))
		return;
	TACHO_INJECT(view_state_changed);
	tacho_ring_run(&v->ring, recording);
	/* another tool has ended the session since; that takes precedence */
	if (recording && has_ended(v))
		tacho_view_run(v, false);
}

uint32_t tacho_view_snapshot(const struct tacho_view *v)
{
	uint64_t now = tacho_clock_read_ordered(v->ring.clock);
	uint32_t number;
	uint64_t last = tacho_load_relaxed(&v->ctl->requested_at);
	uint32_t turn = tacho_add_relaxed(&v->ctl->asking, 1);

	tacho_store_relaxed(&v->ctl->requested_times[turn % TACHO_REQUEST_TIMES], now);
	/* of two concurrent requests, the later time */
	while (last < now && !tacho_cas_seq_cst(&v->ctl->requested_at, &last, now))
		;
	number = tacho_add_seq_cst(&v->ctl->requested, 1) + 1;
	tacho_futex_wake(&v->ctl->requested);
	return number;
}

/* ---- the lists of processes ---- */

uint32_t tacho_pids_nr(const struct tacho_pids *list)
{
	uint32_t n = tacho_load_seq_cst(&list->nr);

	return n < TACHO_PIDS_MAX ? n : TACHO_PIDS_MAX;
}

bool tacho_pids_has(const struct tacho_pids *list, int32_t pid)
{
	uint32_t n = tacho_pids_nr(list);

	for (uint32_t i = 0; i < n; i++)
		if (tacho_load_relaxed(&list->pid[i]) == pid)
			return true;
	return false;
}

/* Replaces an ended process by pid. */
static bool pids_replace(struct tacho_pids *list, int32_t pid)
{
	bool done = false;

	for (uint32_t i = 0; !done && i < TACHO_PIDS_MAX; i++) {
		int32_t old = tacho_load_relaxed(&list->pid[i]);

		if (old > 0 && tacho_process_runs(old))
			continue;
		done = tacho_cas_acq_rel(&list->pid[i], &old, pid);
	}
	return done;
}

bool tacho_pids_add(struct tacho_pids *list, int32_t pid)
{
	uint32_t n = tacho_pids_nr(list);

	if (tacho_pids_has(list, pid))
		return true;
	while (n < TACHO_PIDS_MAX) {
		if (!tacho_cas_acq_rel(&list->nr, &n, n + 1))	/* [commands] */
			continue;
		tacho_store_seq_cst(&list->pid[n], pid);
		return true;
	}
	return pids_replace(list, pid);
}

/* ---- decisions ---- */

static uint32_t nr_rules(const struct tacho_control *ctl)
{
	uint32_t n = tacho_load_relaxed(&ctl->nr_rules);

	return n < TACHO_RULES_MAX ? n : TACHO_RULES_MAX;
}

bool tacho_view_rules_want(const struct tacho_view *v, const char *name)
{
	const struct tacho_control *ctl = v->ctl;
	uint32_t n = nr_rules(ctl);
	char glob[TACHO_RULE_MAX];

	while (n--) {
		/* a copy: the text may change while it is matched */
		memcpy(glob, ctl->rule[n].glob, sizeof(glob));
		glob[sizeof(glob) - 1] = '\0';
		if (tacho_glob_match(glob, name))
			return ctl->rule[n].enable;
	}
	return false;
}

static bool is_unmatched(const struct tacho_rule *r)
{
	return tacho_load_relaxed(&r->enable) && tacho_load_relaxed(&r->group) &&
	       !tacho_load_relaxed(&r->matched);
}

bool tacho_view_has_unmatched(const struct tacho_view *v)
{
	for (uint32_t i = 0; i < nr_rules(v->ctl); i++)
		if (is_unmatched(&v->ctl->rule[i]))
			return true;
	return false;
}

static void note_group(struct tacho_control *ctl, uint16_t group)
{
	for (uint32_t i = 0; i < nr_rules(ctl); i++)
		if (tacho_load_relaxed(&ctl->rule[i].group) == group)
			tacho_store_relaxed(&ctl->rule[i].matched, 1);
}

/* Marks the rules that match the event called name. */
static void note_match(const struct tacho_view *v, const char *name)
{
	char glob[TACHO_RULE_MAX];

	for (uint32_t i = 0; i < nr_rules(v->ctl); i++) {
		const struct tacho_rule *r = &v->ctl->rule[i];

		if (!is_unmatched(r))
			continue;
		memcpy(glob, r->glob, sizeof(glob));
		glob[sizeof(glob) - 1] = '\0';
		if (tacho_glob_match(glob, name))
			note_group(v->ctl, tacho_load_relaxed(&r->group));
	}
}

bool tacho_view_eprobe_is_on(const struct tacho_view *v, uint32_t i, const char *name)
{
	const struct tacho_command *c = &v->commands->command[i];
	const char *colon = strchr(name, ':'), *event;
	char text[2 * TACHO_RULE_MAX];
	size_t ns, ne;

	if (tacho_load_acquire(&c->state) != TACHO_COMMAND_LIVE ||	/* [command] */
	    tacho_load_relaxed(&c->kind) != TACHO_COMMAND_EPROBE || !colon)
		return false;
	memcpy(text, c->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	return tacho_eprobe_base(text, &event, &ns, &ne) && ns == (size_t)(colon - name) &&
	       !memcmp(text, name, ns) && ne == strlen(colon + 1) &&
	       !memcmp(event, colon + 1, ne);
}

static void commands_want(const struct tacho_view *v, const char *name,
			  struct tacho_decision *d);

/* Whether an event probe is in use.  Its base is not an event probe, so the recursion ends. */
static bool eprobe_wanted(const struct tacho_view *v, const struct tacho_command *c)
{
	struct tacho_decision d = { 0 };
	char name[TACHO_RULE_MAX];

	memcpy(name, c->event, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (tacho_view_rules_want(v, name) || tacho_view_soft(v, name))
		return true;
	commands_want(v, name, &d);
	return d.wanted;
}

/* Filters, triggers and event probes on events called name. */
static void commands_want(const struct tacho_view *v, const char *name,
			  struct tacho_decision *d)
{
	uint32_t n = tacho_view_nr_commands(v);
	char glob[TACHO_RULE_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const struct tacho_command *c = &v->commands->command[i];
		uint32_t kind = tacho_load_relaxed(&c->kind);

		if (tacho_view_eprobe_is_on(v, i, name) && eprobe_wanted(v, c))
			d->program = d->wanted = true;
		if (tacho_load_acquire(&c->state) != TACHO_COMMAND_LIVE ||	/* [command] */
		    (kind != TACHO_COMMAND_FILTER && kind != TACHO_COMMAND_TRIGGER))
			continue;
		memcpy(glob, c->event, sizeof(glob));
		glob[sizeof(glob) - 1] = '\0';
		if (!tacho_glob_match(glob, name))
			continue;
		d->program = true;
		d->wanted |= kind == TACHO_COMMAND_TRIGGER;
	}
}

struct tacho_soft *tacho_view_soft(const struct tacho_view *v, const char *name)
{
	for (uint32_t i = 0; i < TACHO_SOFT_MAX; i++) {
		struct tacho_soft *soft = &v->commands->soft[i];

		if (tacho_load_relaxed(&soft->users) &&
		    !strncmp(soft->event, name, sizeof(soft->event)))
			return soft;
	}
	return NULL;
}

bool tacho_view_traces(const struct tacho_view *v, int32_t pid)
{
	const struct tacho_control *ctl = v->ctl;

	if (tacho_pids_nr(&ctl->pids) && !tacho_pids_has(&ctl->pids, pid))
		return false;
	return !tacho_pids_has(&ctl->not_pids, pid);
}

struct tacho_decision tacho_view_decide(const struct tacho_view *v,
					const char *name, int32_t pid)
{
	struct tacho_decision d = { 0 };

	if (!tacho_view_traces(v, pid))
		return d;
	note_match(v, name);
	d.enabled = tacho_view_rules_want(v, name);
	d.wanted = d.enabled;
	if (tacho_view_nr_commands(v))
		commands_want(v, name, &d);
	if (tacho_view_nr_commands(v) && tacho_view_soft(v, name)) {
		d.program = true;
		d.wanted = true;
	}
	return d;
}

void tacho_state_set(struct tacho_proc_state *state, uint64_t mask,
		     const struct tacho_decision *d)
{
	if (d->program)
		(void)tacho_or_seq_cst(&state->program, mask);
	if (d->wanted)
		(void)tacho_or_seq_cst(&state->wanted, mask);
	else
		(void)tacho_and_seq_cst(&state->wanted, ~mask);
	if (!d->program)
		(void)tacho_and_seq_cst(&state->program, ~mask);
}

/* ---- the type table ---- */

/* Allocates blocks for the first `end` bytes of the text. */
static int types_allocate(const struct tacho_view *v, uint64_t end)
{
	uint64_t ready = tacho_load_acquire(&v->types->text_ready);	/* [text-ready] */
	uint64_t goal = TACHO_ALIGN_UP(end, UINT64_C(1) << 20);
	int dirfd, fd, err;

	if (end <= ready)
		return 0;
	if (goal > TACHO_TYPES_TEXT_MAX)
		goal = TACHO_TYPES_TEXT_MAX;
	if (v->ring.may_open && !v->ring.may_open())
		return -EPERM;
	dirfd = open(v->ring.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = dirfd < 0 ? -errno : tacho_shm_open(dirfd, "types");
	if (dirfd >= 0)
		close(dirfd);
	/* a program that dropped its privileges still has the mapping */
	err = fd < 0 ? tacho_shm_populate(v->types, TACHO_TYPES_TEXT_OFF + ready, goal - ready)
		     : tacho_shm_allocate(fd, TACHO_TYPES_TEXT_OFF + ready, goal - ready);
	if (fd >= 0)
		close(fd);
	while (!err && ready < goal &&
	       !tacho_cas_acq_rel(&v->types->text_ready, &ready, goal))	/* [text-ready] */
		;
	return err;
}

static char *types_base(const struct tacho_view *v)
{
	return (char *)v->types + TACHO_TYPES_TEXT_OFF;
}

const char *tacho_types_text(const struct tacho_view *v, uint32_t id,
			     uint32_t *len)
{
	uint64_t word, off;

	if (!id || id > TACHO_EVENTS_MAX)
		return NULL;
	/* the text is complete */
	word = tacho_load_acquire(&v->types->slot[id]);	/* [type] */
	off = (uint32_t)word;
	*len = (uint32_t)(word >> 32);
	if (!word || off > TACHO_TYPES_TEXT_MAX ||
	    *len > TACHO_TYPES_TEXT_MAX - off ||
	    off + *len > tacho_load_relaxed(&v->types->text_ready))
		return NULL;
	return types_base(v) + off;
}

/* The id with exactly this text, from id `from` on; or the first free one. */
static uint32_t types_find(const struct tacho_view *v, const char *text,
			   uint32_t len, uint32_t from, bool *found)
{
	uint32_t id, n;

	*found = false;
	for (id = from; id <= TACHO_EVENTS_MAX; id++) {
		const char *t;

		if (!tacho_load_relaxed(&v->types->slot[id]))
			return id;
		t = tacho_types_text(v, id, &n);
		if (t && n == len && !memcmp(t, text, len)) {
			*found = true;
			return id;
		}
	}
	return 0;
}

/* Copies the text into the table; returns its offset, or 0. */
static uint64_t types_store(const struct tacho_view *v, const char *text,
			    uint32_t len)
{
	uint64_t room = TACHO_ALIGN_UP((uint64_t)len, 8);
	uint64_t off = tacho_add_relaxed(&v->types->text_used, room);

	if (off > TACHO_TYPES_TEXT_MAX || room > TACHO_TYPES_TEXT_MAX - off)
		return 0;
	TACHO_INJECT(types_text_taken);
	if (types_allocate(v, off + room)) {
		/* repeated failures must not use up the table's text space */
		uint64_t end = off + room;

		(void)tacho_cas_acq_rel(&v->types->text_used, &end, off);
		return 0;
	}
	memcpy(types_base(v) + off, text, len);
	return off;
}

int tacho_types_add(const struct tacho_view *v, const char *text, uint32_t len)
{
	int saved = errno;
	uint64_t off = 0, none;
	uint32_t id = 1;
	bool found;

	for (;;) {
		id = types_find(v, text, len, id, &found);
		if (found) {
			errno = saved;
			return (int)id;
		}
		if (id && !off)
			off = types_store(v, text, len);
		if (!id || !off)
			break;
		none = 0;
		if (tacho_cas_acq_rel(&v->types->slot[id], &none,	/* [type] */
				      off | (uint64_t)len << 32)) {
			errno = saved;
			return (int)id;
		}
	}
	(void)tacho_add_relaxed(&v->types->lost, 1);
	errno = saved;
	return -ENOSPC;
}

/* ---- tasks ---- */

/* The places to look for tid: a few after its home. */
#define TASK_PROBES	8u

static uint32_t task_home(int32_t tid)
{
	return (uint32_t)tid * 0x9e3779b1u >> 20;
}

void tacho_tasks_put(struct tacho_control *ctl, int32_t tid, int32_t tgid,
		     const char *comm)
{
	uint32_t home = task_home(tid);
	struct tacho_task *t = NULL;
	uint64_t seq;

	for (uint32_t i = 0; i < TASK_PROBES; i++) {
		t = &ctl->task[(home + i) % TACHO_TASKS_MAX];
		if (!tacho_load_relaxed(&t->seq) ||
		    tacho_load_relaxed(&t->tid) == tid)
			break;
	}
	seq = tacho_load_relaxed(&t->seq);
	/* another thread is storing here, or died during it: names are not essential */
	if (seq & 1 || !tacho_cas_acq_rel(&t->seq, &seq, seq + 1))	/* [task] */
		return;
	tacho_fence_release();	/* [task] the odd number before what follows */
	tacho_store_relaxed(&t->tid, tid);
	tacho_store_relaxed(&t->tgid, tgid);
	memcpy(t->comm, comm, sizeof(t->comm));
	tacho_store_release(&t->seq, seq + 2);	/* [task] */
}

bool tacho_tasks_get(const struct tacho_control *ctl, uint32_t i,
		     struct tacho_task *task)
{
	const struct tacho_task *t = &ctl->task[i % TACHO_TASKS_MAX];
	uint64_t seq = tacho_load_acquire(&t->seq);	/* [task] */

	if (!seq || seq & 1)
		return false;
	*task = *t;
	task->comm[sizeof(task->comm) - 1] = '\0';
	tacho_fence_acquire();	/* [task] */
	return tacho_load_relaxed(&t->seq) == seq;
}

bool tacho_tasks_find(const struct tacho_control *ctl, int32_t tid, struct tacho_task *task)
{
	uint32_t home = task_home(tid);

	for (uint32_t i = 0; i < TASK_PROBES; i++)
		if (tacho_tasks_get(ctl, home + i, task) && task->tid == tid)
			return true;
	return false;
}
