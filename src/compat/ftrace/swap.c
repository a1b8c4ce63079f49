// SPDX-License-Identifier: MIT
/*
 * Snapshots: as in the kernel there are two buffers, and a snapshot swaps them.
 *
 *	time	---- I0 ----|---- I1 ----|---- I2 ----
 *	swaps		    t1		 t2
 *	live	I0	      I1	   I2, after I0
 *	snapshot	      I0	   I1
 *
 * A record's side is a matter of its time alone: between the same two swaps all are of one
 * side, and each swap changes sides.  The rings' two buffers (tacho_session_snapshot()) and
 * the store's two lists only keep both from being overwritten; a snapshot that was asked for
 * a moment ago (a program's trigger) is taken as of then, although the rings are shifted now.
 * Readers of the rings look into both buffers and leave out the other side's records;
 * the store, which has no other writer, is divided at the time.
 *
 * What is consumed is each side's, too: the marks are swapped with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store.h"
#include "compat/ftrace/view.h"
#include "stream/live.h"

/* Beyond so many the oldest two are forgotten: what was before is with the next side. */
#define SWAPS_MAX	4096u

int tree_swaps_copy(struct tree_swaps *to, const struct tree_swaps *from)
{
	*to = (struct tree_swaps){ .floor = from->floor };
	if (!from->nr)
		return 0;
	to->at = malloc(from->nr * sizeof(*to->at));
	if (!to->at)
		return -ENOMEM;
	memcpy(to->at, from->at, from->nr * sizeof(*to->at));
	to->nr = to->room = from->nr;
	return 0;
}

void tree_swaps_release(struct tree_swaps *s)
{
	free(s->at);
	*s = (struct tree_swaps){ 0 };
}

bool tree_swaps_live(const struct tree_swaps *s, uint64_t ticks)
{
	uint32_t low = 0, high = s->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->at[mid] < ticks)
			low = mid + 1;
		else
			high = mid;
	}
	return (s->nr - low) % 2 == 0;
}

static int make_room(struct tree_swaps *s)
{
	uint32_t room = s->room ? 2 * s->room : 8;
	uint64_t *p;

	if (s->nr == SWAPS_MAX) {
		s->nr -= 2;
		memmove(s->at, s->at + 2, s->nr * sizeof(*s->at));
	}
	if (s->nr < s->room)
		return 0;
	p = reallocarray(s->at, room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->at = p;
	s->room = room;
	return 0;
}

/*
 * The first time that is there before the first swap: what else is in the buffer that comes
 * into use now is of a snapshot that another tool took, or another mount.
 */
static uint64_t first_time(struct tree_inst *inst, uint64_t end)
{
	struct tacho_stream *stream = tacho_stream_new(0);
	struct tacho_source *source;
	struct tacho_record r;
	uint64_t first = end;

	if (stream && !tacho_live_open(&source, inst->name, 0, NULL) &&
	    !tacho_stream_add_take(stream, source) &&
	    tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD)
		first = r.ticks;
	tacho_stream_close(stream);
	return first;
}

int tree_take_snapshot(struct tree_inst *inst, bool drain, uint64_t end)
{
	struct tree_swaps *s = &inst->swaps;
	uint64_t now;
	int n;

	if (drain)
		(void)tree_store_settle(inst);
	now = tree_now(inst);
	if (end > now)
		end = now;
	if (s->nr && end < s->at[s->nr - 1])
		end = s->at[s->nr - 1];
	if (make_room(s))
		return -ENOMEM;
	if (!s->nr)
		s->floor = first_time(inst, end);
	n = tacho_session_snapshot(&inst->session, NULL);
	if (n < 0)
		return n;
	s->at[s->nr++] = end;
	tacho_store_relaxed(&inst->snapshot, true);
	tree_snapshot_taken(inst, end);
	return tree_store_snapshot(inst, end);
}

static int by_time(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

/*
 * When the n snapshots were that programs asked for since the last look, as far as that was
 * noted: of more than TACHO_REQUEST_TIMES the last ones, and of a library that is older nothing.
 * Returns how many are known, the oldest first.
 */
static uint32_t requested_times(const struct tree_inst *inst, uint32_t n,
			    uint64_t time[TACHO_REQUEST_TIMES])
{
	const struct tacho_control *ctl = inst->session.view.ctl;
	uint32_t known = 0;

	for (uint32_t i = 0; i < TACHO_REQUEST_TIMES; i++) {
		uint64_t t = tacho_load_relaxed(&ctl->requested_times[i]);

		if (t > inst->requested_at)
			time[known++] = t;
	}
	qsort(time, known, sizeof(*time), by_time);
	return known < n ? known : n;
}

/* Two swaps at the same time are none, so of those whose times are not known one at most counts. */
void tree_follow_snapshot(struct tree_inst *inst)
{
	const struct tacho_control *ctl = inst->session.view.ctl;
	uint32_t asked = tacho_load_acquire(&ctl->requested), n = asked - inst->requested, known;
	uint64_t time[TACHO_REQUEST_TIMES], at = tacho_load_relaxed(&ctl->requested_at);

	if (!n)
		return;
	known = requested_times(inst, n, time);
	inst->requested = asked;
	(void)tree_store_settle(inst);
	if (!known)
		(void)tree_take_snapshot(inst, false, at > inst->requested_at ? at : UINT64_MAX);
	else if ((n - known) % 2)
		(void)tree_take_snapshot(inst, false, time[0]);
	for (uint32_t i = 0; i < known; i++)
		(void)tree_take_snapshot(inst, false, time[i]);
	if (known)
		inst->requested_at = time[known - 1];
	else if (at > inst->requested_at)
		inst->requested_at = at;
}
