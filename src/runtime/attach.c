// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/inject.h"
#include "runtime/actions.h"
#include "session/proc.h"
#include "sys/mapping.h"

/* Maximum number of reads of a rule set while tools change it. */
#define RULE_TRIES	1000
/* Maximum number of names reported to a recorder whose rules match nothing. */
#define NAMES_MAX	256u

int tacho_attach_registry(void)
{
	char path[TACHO_PATH_MAX + 16];
	struct tacho_registry *none = NULL;
	struct tacho_registry *reg;
	size_t n = strlen(tacho_runtime.dir);
	void *map;
	int fd, err;

	if (tacho_load_acquire(&tacho_runtime.reg))	/* [registry] */
		return 0;
	memcpy(path, tacho_runtime.dir, n);
	memcpy(path + n, "/registry", sizeof("/registry"));
	fd = tacho_shm_open(AT_FDCWD, path);
	if (fd < 0)
		return fd;
	err = tacho_shm_map(fd, sizeof(struct tacho_registry), true, false, &map);
	close(fd);
	if (err)
		return err;
	reg = map;
	if (tacho_load_acquire(&reg->head.ready) != 1 ||	/* [ready] */
	    reg->head.magic != TACHO_MAGIC_REGISTRY ||
	    reg->head.signature != tacho_abi_signature()) {
		tacho_shm_unmap(map, sizeof(struct tacho_registry));
		return -EPROTO;
	}
	if (!tacho_cas_acq_rel(&tacho_runtime.reg, &none, reg))	/* [registry] */
		tacho_shm_unmap(map, sizeof(struct tacho_registry));
	return 0;
}

/* True as long as no seccomp filter was added since the start. */
bool tacho_attach_may_map(void)
{
	int saved = errno;
	int now = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	errno = saved;
	return now == tacho_runtime.seccomp;
}

/* Reads the path of the session of a bit; false: none. */
static bool slot_path(uint32_t bit, char *path)
{
	const struct tacho_slot *slot = &tacho_runtime.reg->slot[bit];

	if (tacho_load_acquire(&slot->state) != TACHO_SLOT_LIVE)	/* [slot] */
		return false;
	memcpy(path, slot->path, TACHO_PATH_MAX);
	path[TACHO_PATH_MAX - 1] = '\0';
	return path[0] == '/';
}

/* Stores the length of a tick of the session's clock in ns. */
static void note_clock(struct runtime_session *s)
{
	__extension__ typedef unsigned __int128 u128;
	uint64_t second = 1000000000, freq = s->view.ctl->clock_freq;

	if (!freq)
		freq = second;
	s->ns_whole = second / freq;
	s->ns_part = (uint64_t)((((u128)(second % freq) << 64) + (freq - 1)) / freq);
}

struct runtime_session *tacho_attach(uint32_t bit)
{
	/* [session] */
	struct runtime_session *s = tacho_load_acquire(&tacho_runtime.session[bit]);
	struct runtime_session *none = NULL;
	char path[TACHO_PATH_MAX];
	struct tacho_proc *proc = tacho_load_acquire(&tacho_runtime.proc);	/* [proc] */
	int err;

	if (s)
		return s;
	if (!proc || !tacho_attach_may_map())
		return NULL;
	err = tacho_attach_registry();
	if (!err && !slot_path(bit, path))
		return NULL;
	s = err ? NULL : tacho_shm_private(sizeof(*s));
	if (!s)
		err = -ENOMEM;
	if (!err)
		err = tacho_view_map(&s->view, path, false);
	if (!err && s->view.ctl->bit != bit) {
		tacho_view_unmap(&s->view);
		err = -ESTALE;
	}
	if (err) {
		(void)tacho_add_relaxed(&proc->lost_map, 1);
		if (s)
			tacho_shm_unmap(s, sizeof(*s));
		return NULL;
	}
	s->view.ring.may_open = tacho_attach_may_map;
	s->mask = UINT64_C(1) << bit;
	s->bit = bit;
	s->serial = (uint16_t)(tacho_add_relaxed(&tacho_runtime.serials, 1) %
			       UINT16_MAX + 1);
	note_clock(s);
	TACHO_INJECT(attach_mapped);
	if (tacho_cas_acq_rel(&tacho_runtime.session[bit], &none, s))	/* [session] */
		return s;
	/* another thread, or a signal handler of this one, was first */
	tacho_view_unmap(&s->view);
	tacho_shm_unmap(s, sizeof(*s));
	return none;
}

void tacho_attach_drop(uint32_t bit, struct runtime_session *s)
{
	struct runtime_session *dead = s;
	uint32_t n;

	/* one thread retires it; other threads still access valid, empty memory */
	if (!tacho_cas_acq_rel(&tacho_runtime.session[bit], &s, NULL))	/* [session] */
		return;
	tacho_view_retire(&dead->view);
	/* a map that is being mapped now stays mapped, invisible to other threads */
	n = tacho_load_acquire(&dead->nr_maps);	/* [maps] */
	for (uint32_t i = 0; i < n; i++)
		tacho_shm_retire(dead->map[i].mem, dead->map[i].size);
}

/* Copies an event's "system:name". */
static void event_name(uint32_t index, char *name, size_t size)
{
	uint32_t len;
	const char *text = tacho_procmap_text(index, &len);

	tacho_type_text_name(text, len, name, size);
}

/* P2 for one session, given as a view; true if any event is enabled. */
static bool apply_view(const struct tacho_view *v, uint32_t bit, uint32_t first,
		       uint32_t last)
{
	char name[TACHO_RULE_MAX];
	bool any = false;

	for (uint32_t i = first; i <= last; i++) {
		struct tacho_decision d;

		event_name(i, name, sizeof(name));
		d = tacho_view_decide(v, name, tacho_runtime.pid);
		any |= d.wanted;
		tacho_state_set(tacho_procmap_state(i), UINT64_C(1) << bit, &d);
	}
	return any;
}

struct runtime_session *tacho_attach_live(uint32_t bit)
{
	struct runtime_session *s;

	if (tacho_attach_registry() ||
	    tacho_load_seq_cst(&tacho_runtime.reg->slot[bit].state) !=
	    TACHO_SLOT_LIVE)
		return NULL;
	s = tacho_attach(bit);
	if (s && tacho_load_relaxed(&s->view.ctl->state) == TACHO_STATE_DEAD) {
		tacho_attach_drop(bit, s);
		s = tacho_attach(bit);
	}
	return s;
}

/*
 * Adds this process's event names to the type table: a recorder whose rules match nothing
 * suggests similar names from it, and this process may have ended by then.
 */
static void tell_names(const struct tacho_view *v, uint32_t first, uint32_t last)
{
	uint32_t len;

	if (!v->ctl->owner || !tacho_view_has_unmatched(v) ||
	    !tacho_view_traces(v, tacho_runtime.pid) || !tacho_attach_may_map())
		return;
	for (uint32_t i = first; i <= last && i - first < NAMES_MAX; i++) {
		const char *text = tacho_procmap_text(i, &len);

		(void)tacho_types_add(v, text, len);
	}
}

/* P2 and P3 for one session. */
static void apply_session(uint32_t bit, uint32_t first, uint32_t last)
{
	struct runtime_session *s = tacho_attach_live(bit);
	bool any = false;
	uint32_t seq;

	if (!s)
		return;
	for (int i = 0; i < RULE_TRIES; i++) {
		seq = tacho_view_rules_seq(&s->view);
		any = apply_view(&s->view, bit, first, last);
		if (!(seq & 1) && tacho_view_rules_seq(&s->view) == seq)
			break;
	}
	tell_names(&s->view, first, last);
	if (!any)
		return;
	/* before the program enters a sandbox, and so that the first event need not */
	for (uint32_t lane = 0; lane < s->view.ring.nr_cpus; lane++)
		(void)tacho_ring_map(&s->view.ring, lane, tacho_cursor_id(tacho_load_relaxed(
					     &tacho_ring_lane(&s->view.ring, lane)->cursor)));
	tacho_actions_prepare(s, first, last);
}

void tacho_attach_apply(uint32_t first, uint32_t last)
{
	for (uint32_t bit = 0; bit < TACHO_SESSIONS_MAX; bit++)
		apply_session(bit, first, last);
}
