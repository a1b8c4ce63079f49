// SPDX-License-Identifier: MIT
#include "fmt/lkst/core.h"

#include <errno.h>
#include <stdlib.h>

#include "stream/crash.h"

/* What LKST shows of a ring's buffer: records [first, end) of it. */
struct shown {
	uint64_t first, end;
	int32_t id;		/* LKST's; VOID: it shows none */
};

struct lkst_core {
	struct lkst_state *state;
	uint32_t nr_lanes;
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

/* What a buffer shows.  Where its end is not there, all that is found. */
static struct shown shown_of(const struct tacho_source *source, uint32_t lane,
			     const struct lkst_buffer *b, int32_t id)
{
	struct tacho_crash_turn turn;

	if (tacho_crash_turn(source, lane, b->ring, &turn))
		return (struct shown){ 0, UINT64_MAX, id };
	if (turn.last_sub < b->since)
		return (struct shown){ 0, 0, id };
	return (struct shown){ lkst_layout_shown(b->size, turn.since, turn.gone, turn.end).first,
			       turn.end, id };
}

static int find_buffers(struct lkst_core *core, const struct tacho_source *source)
{
	core->nr_lanes = core->state->nr_cpus;
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
					shown_of(source, lane, b, id);
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
		   int32_t *id)
{
	const struct shown *s;
	uint32_t lane;
	int32_t buffer;

	tacho_crash_place(part, &lane, &buffer);
	*id = 0;
	if (buffer < 0)
		return true;
	if (lane >= core->nr_lanes)
		return false;
	s = &core->ring[lane * TACHO_BUFFERS_MAX + (uint32_t)buffer];
	*id = s->id;
	return s->id != LKST_BUFFER_ID_VOID && number >= s->first && number < s->end;
}
