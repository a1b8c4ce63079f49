// SPDX-License-Identifier: MIT
/* The index of a trace, for the tables of the model. */
#include <errno.h>

#include "app/index.h"
#include "index/index.h"

#include "sql/model.h"

#define PATH_MAX_BYTES	((size_t)64 << 10)

struct index *sql_index(struct sql_trace *trace)
{
	struct tacho_diag none = { 0 };
	struct index_info info;
	struct tacho_buf where;

	if (trace->index_asked)
		return trace->index_failed ? NULL : trace->index;
	trace->index_asked = true;
	/* other flags: other records */
	if (trace->live || trace->flags || sql_rules(trace->sql, &none))
		return NULL;
	tacho_buf_init(&where, PATH_MAX_BYTES);
	if (app_index_open(&trace->index, trace->main.path, trace->sql->rules, &where, &none))
		trace->index = NULL;
	tacho_buf_release(&where);
	if (!trace->index)
		return NULL;
	index_info(trace->index, &info);
	trace->index_failed = !info.finished;
	return info.finished ? trace->index : NULL;
}

void sql_index_release(struct sql_trace *trace)
{
	index_close(trace->index);
	trace->index = NULL;
	trace->index_asked = trace->index_failed = false;
}

int sql_index_tracks(struct sql_trace *trace, struct model_tracks *tracks)
{
	struct index *index = sql_index(trace);
	struct model_track track;
	struct index_info info;
	int err = 0;

	if (!index)
		return -ENOENT;
	index_info(index, &info);
	for (uint32_t id = 0; !err && id < info.nr_tracks; id++) {
		err = index_track(index, id, &track);
		if (!err)
			err = model_tracks_keep(tracks, &track);
	}
	if (!err || err == -ENOMEM)
		return err;
	model_tracks_release(tracks);
	trace->index_failed = true;
	return -ENOENT;
}

int sql_index_model(struct sql_trace *trace, const struct model_config *config, uint64_t time,
		    struct model **model, struct tacho_diag *d)
{
	struct tacho_diag wrong = { 0 };
	uint64_t first;
	int err = app_index_model(model, config, trace->index, time, &first, &wrong);

	if (!err)
		return 0;
	if (err == -ENOMEM)
		return tacho_no_memory(d);
	trace->index_failed = true;
	return -ENOENT;
}
