// SPDX-License-Identifier: MIT
/* The list of a model's tracks. */
#include <errno.h>
#include <stdlib.h>

#include "model/items.h"

int model_tracks_keep(struct model_tracks *tracks, const struct model_track *t)
{
	uint32_t held = 0;

	if (t->id >= tracks->room) {
		uint32_t room = tracks->room ? 2 * tracks->room : 64;
		struct model_track_row *list;

		while (room <= t->id)
			room *= 2;
		list = reallocarray(tracks->track, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		tracks->track = list;
		tracks->room = room;
	}
	if (t->id < tracks->nr)
		held = tracks->track[t->id].held;	/* another name */
	else
		tracks->nr = t->id + 1;
	tracks->track[t->id] = (struct model_track_row){ .name = t->name, .number = t->number,
		.parent = t->parent, .held = held, .kind = t->kind };
	return 0;
}

void model_tracks_release(struct model_tracks *tracks)
{
	free(tracks->track);
	*tracks = (struct model_tracks){ .nr = 0 };
}

const struct model_track_row *model_tracks_find(const struct model_tracks *tracks,
						uint32_t track, enum model_track_kind kind)
{
	while (track && track < tracks->nr) {
		if (tracks->track[track].kind == kind)
			return &tracks->track[track];
		track = tracks->track[track].parent;
	}
	return NULL;
}

bool model_tracks_number(const struct model_tracks *tracks, uint32_t track,
			 enum model_track_kind kind, int64_t *number)
{
	const struct model_track_row *t = model_tracks_find(tracks, track, kind);

	if (t)
		*number = t->number;
	return t;
}

const char *model_tracks_comm(const struct model_tracks *tracks, uint32_t track)
{
	const struct model_track_row *t = model_tracks_find(tracks, track, MODEL_THREAD);

	return t && t->name[0] ? t->name : NULL;
}

void model_tracks_path(const struct model_tracks *tracks, uint32_t track,
		       struct tacho_buf *text)
{
	const struct model_track_row *t = &tracks->track[track];

	if (t->parent) {
		model_tracks_path(tracks, t->parent, text);
		tacho_buf_putc(text, '/');
	}
	tacho_buf_puts(text, model_track_kind_name(t->kind));
	if (t->kind == MODEL_CPU || t->kind == MODEL_PROCESS || t->kind == MODEL_THREAD)
		tacho_buf_printf(text, " %lld", (long long)t->number);
	if (t->name[0])
		tacho_buf_printf(text, " %s", t->name);
}

static void set_number(struct model_cell *cell, int64_t number)
{
	cell->kind = MODEL_CELL_INT;
	cell->number = number;
}

static void set_text(struct model_cell *cell, const char *text)
{
	cell->kind = MODEL_CELL_TEXT;
	cell->text = text;
}

int model_track_cell(const struct model_tracks *tracks, uint32_t track, enum model_of of,
		     struct tacho_buf *text, struct model_cell *cell)
{
	const struct model_track_row *t = &tracks->track[track];

	*cell = (struct model_cell){ .kind = MODEL_CELL_NONE };
	switch ((int)of) {
	case MODEL_OF_ID:
		set_number(cell, track);
		return 0;
	case MODEL_OF_PARENT:
		if (track)
			set_number(cell, t->parent);
		return 0;
	case MODEL_OF_KIND:
		set_text(cell, model_track_kind_name(t->kind));
		return 0;
	case MODEL_OF_NUMBER:
		set_number(cell, t->number);
		return 0;
	case MODEL_OF_TRACK_NAME:
		set_text(cell, t->name);
		return 0;
	default:	/* MODEL_OF_TRACK_PATH */
		tacho_buf_reset(text);
		model_tracks_path(tracks, track, text);
		set_text(cell, tacho_buf_str(text));
		return tacho_buf_error(text) ? -ENOMEM : 0;
	}
}
