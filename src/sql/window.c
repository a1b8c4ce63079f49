// SPDX-License-Identifier: MIT
#include "sql/window.h"

#include <stdlib.h>
#include <string.h>

#define NEVER	UINT64_MAX

struct sql_window *sql_window_new(void)
{
	struct sql_window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->list = calloc(SQL_WINDOW_RECORDS, sizeof(*w->list));
	if (w->list)
		return w;
	free(w);
	return NULL;
}

void sql_window_free(struct sql_window *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < SQL_WINDOW_RECORDS; i++)
		free(w->list[i].raw);
	free(w->list);
	free(w);
}

void sql_window_reset(struct sql_window *w, uint64_t from, uint64_t scope)
{
	w->first = w->nr = w->at = w->skipped = 0;
	w->from = from;
	w->scope = scope;
	w->ended = false;
	w->current = NULL;
}

static struct sql_window_record *record_at(const struct sql_window *w, uint32_t i)
{
	return &w->list[(w->first + i) % SQL_WINDOW_RECORDS];
}

static uint64_t last_time(const struct sql_window *w)
{
	return w->nr ? record_at(w, w->nr - 1)->record.time : w->from;
}

bool sql_window_find(struct sql_window *w, uint64_t from, uint64_t scope)
{
	uint32_t lo = 0, hi = w->nr;

	w->skipped = 0;
	w->current = NULL;
	if (w->from == NEVER || from < w->from || scope != w->scope)
		return false;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (record_at(w, mid)->record.time < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	w->at = lo;
	return true;
}

/* W4.  Not for the record that is at hand: that is the newest one. */
static void drop_first(struct sql_window *w)
{
	uint64_t time = record_at(w, 0)->record.time;

	if (w->from != NEVER && w->from <= time)
		w->from = time + 1;
	w->first = (w->first + 1) % SQL_WINDOW_RECORDS;
	w->nr--;
}

/* A copy of the stream's record.  False: no memory. */
static bool fill(struct sql_window *w, struct sql_window_record *to, struct tacho_stream *s,
		 const struct tacho_record *r)
{
	if (to->room < r->len) {
		void *raw = realloc(to->raw, r->len);

		if (!raw)
			return false;
		w->bytes += r->len - to->room;
		to->raw = raw;
		to->room = r->len;
	}
	if (r->len)
		memcpy(to->raw, r->raw, r->len);
	to->record = *r;
	to->record.raw = to->raw;
	to->part = tacho_stream_part(s);
	to->place = 0;
	(void)tacho_stream_place(s, &to->place);
	return true;
}

/* Frees the copies that are not in use, when they have taken too much. */
static void trim(struct sql_window *w)
{
	while (w->nr)
		drop_first(w);
	for (uint32_t i = 0; i < SQL_WINDOW_RECORDS; i++) {
		free(w->list[i].raw);
		w->list[i].raw = NULL;
		w->list[i].room = 0;
	}
	w->bytes = 0;
}

static void append(struct sql_window *w, struct tacho_stream *s, const struct tacho_record *r)
{
	if (w->from == NEVER)
		return;
	if (r->time < last_time(w) || r->len > SQL_WINDOW_BYTES) {
		w->from = NEVER;
		return;
	}
	if (w->bytes + r->len > SQL_WINDOW_BYTES)
		trim(w);
	if (w->nr == SQL_WINDOW_RECORDS)
		drop_first(w);
	if (!fill(w, record_at(w, w->nr), s, r)) {
		w->from = NEVER;
		return;
	}
	w->nr++;
}

int sql_window_next(struct sql_window *w, struct tacho_stream *s, struct tacho_record *r)
{
	int status;

	if (w->at < w->nr) {
		w->current = record_at(w, w->at++);
		*r = w->current->record;
		tacho_stream_lend(s, w->current->part);
		return TACHO_STREAM_RECORD;
	}
	w->current = NULL;
	tacho_stream_lend(s, NULL);
	if (w->ended)
		return TACHO_STREAM_END;
	status = tacho_stream_next(s, r);
	if (status == TACHO_STREAM_RECORD)
		append(w, s, r);
	w->ended = status == TACHO_STREAM_END;
	w->at = w->nr;
	return status;
}
