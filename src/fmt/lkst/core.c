// SPDX-License-Identifier: MIT
#include "fmt/lkst/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/crash.h"

/* The records that LKST shows of a ring's buffer and the late lane's buffer of the same number. */
struct shown {
	struct lkst_shown shown;
	uint64_t at[2];		/* how far both were gone through */
	int32_t id;		/* LKST's; VOID: it shows none */
};

struct lkst_core {
	struct lkst_state *state;
	uint32_t nr_lanes;
	uint32_t late;		/* the first late lane, and how many there are */
	uint32_t nr_late;
	struct shown *ring;	/* by lane, then by the ring's buffer */
};

/* ---- finding it ---- */

static bool is_of(const struct lkst_state *s, const struct tacho_control *c)
{
	return s->generation == ((uint64_t)c->bit << 32 | c->generation) + 1;
}

/* 1: it is there; 0: it is not, or of another session; or a negative errno. */
static int read_state(struct lkst_core *core, const struct tacho_source *source)
{
	const size_t size = (LKST_STATE_SIZE(TACHO_LANES_MAX) + 63) & ~(size_t)63;
	ssize_t n;

	core->state = aligned_alloc(64, size);
	if (!core->state)
		return -ENOMEM;
	n = tacho_crash_file(source, "lkst", LKST_MAGIC_STATE, core->state, size);
	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return (int)n;
	return (size_t)n >= sizeof(*core->state) && lkst_layout_fits(core->state, (uint64_t)n) &&
	       is_of(core->state, tacho_crash_control(source));
}

/* ---- which records are in which buffer ---- */

/* The late lane of a lane of programs; UINT32_MAX: it has none. */
static uint32_t late_of(const struct lkst_core *core, uint32_t lane)
{
	uint32_t n = lane - core->state->late_cpu;

	return n < core->nr_late ? core->late + n : UINT32_MAX;
}

/* What a buffer shows.  Where its end is not there, all of programs that is found. */
static struct shown shown_of(const struct lkst_core *core, const struct tacho_source *source,
			     uint32_t lane, const struct lkst_buffer *b, int32_t id)
{
	uint32_t late = late_of(core, lane);
	struct shown s = { .shown = { .upto = { UINT64_MAX, 0 } }, .id = id };
	struct tacho_crash_turn is, none;
	struct lkst_turn turn;

	if (tacho_crash_turn(source, lane, b->ring, &is))
		return s;
	if (is.last_sub < b->since) {
		s.shown.upto[0] = 0;
		return s;
	}
	turn = (struct lkst_turn){ is.begins, is.since, is.end, is.gone };
	s.shown = lkst_layout_shown(b, &turn);
	/* the program had none of the kernel's mapped */
	if (late == UINT32_MAX || tacho_crash_turn(source, late, b->ring, &none))
		s.shown.from[1] = s.shown.upto[1];
	memcpy(s.at, s.shown.from, sizeof(s.at));
	return s;
}

static int find_buffers(struct lkst_core *core, const struct tacho_source *source)
{
	const struct tacho_control *ctl = tacho_crash_control(source);

	core->nr_lanes = core->state->nr_cpus;
	core->late = ctl->nr_cpus + ctl->nr_fallback;
	core->nr_late = ctl->nr_late;
	core->ring = calloc((size_t)core->nr_lanes * TACHO_BUFFERS_MAX, sizeof(*core->ring));
	if (core->nr_lanes && !core->ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < core->nr_lanes * TACHO_BUFFERS_MAX; i++)
		core->ring[i].id = LKST_BUFFER_ID_VOID;
	for (uint32_t lane = 0; lane < core->nr_lanes; lane++)
		for (int32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
			const struct lkst_buffer *b = &core->state->cpu[lane].buffer[id];

			if (b->state != LKST_BUFFER_NONE && b->ring < TACHO_BUFFERS_MAX)
				core->ring[lane * TACHO_BUFFERS_MAX + b->ring] =
					shown_of(core, source, lane, b, id);
		}
	return 0;
}

int lkst_core_find(struct lkst_core **out, const struct tacho_source *source)
{
	struct lkst_core *core;
	int ret;

	*out = NULL;
	if (!tacho_crash_control(source))
		return 0;
	core = calloc(1, sizeof(*core));
	if (!core)
		return -ENOMEM;
	ret = read_state(core, source);
	if (ret > 0 && !find_buffers(core, source)) {
		*out = core;
		return 0;
	}
	lkst_core_free(core);
	return ret > 0 ? -ENOMEM : ret;
}

void lkst_core_free(struct lkst_core *core)
{
	if (!core)
		return;
	free(core->state);
	free(core->ring);
	free(core);
}

const struct lkst_state *lkst_core_state(const struct lkst_core *core)
{
	return core->state;
}

bool lkst_core_has(const struct lkst_core *core, const struct tacho_part *part, uint64_t number,
		   struct lkst_core_place *place)
{
	const struct shown *s;
	uint32_t lane;
	int32_t buffer;
	bool late;

	tacho_crash_place(part, &lane, &buffer);
	*place = (struct lkst_core_place){ .number = number };
	if (buffer < 0)
		return true;
	late = lane >= core->late && lane - core->late < core->nr_late;
	if (late)
		lane = lane - core->late + core->state->late_cpu;
	if (lane >= core->nr_lanes)
		return false;
	place->at = 1 + 2 * (lane * TACHO_BUFFERS_MAX + (uint32_t)buffer) + late;
	s = &core->ring[lane * TACHO_BUFFERS_MAX + (uint32_t)buffer];
	place->id = s->id;
	return s->id != LKST_BUFFER_ID_VOID && number >= s->shown.from[late] &&
	       number < s->shown.upto[late];
}

bool lkst_core_shows(struct lkst_core *core, const struct lkst_core_place *place,
		     struct lkst_record *r)
{
	bool late = !(place->at & 1);
	uint64_t number;
	struct shown *s;

	if (!place->at)
		return true;
	s = &core->ring[(place->at - 1) / 2];
	number = place->number + s->at[!late];
	s->at[late] = place->number + 1;
	r->recid = (uint32_t)number & INT32_MAX;
	return number >= s->shown.first;
}
