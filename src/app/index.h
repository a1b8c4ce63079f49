/* SPDX-License-Identifier: MIT */
/*
 * index.h - the index of a trace (index/index.h): where it lies, making it, and a model that
 * begins in the middle.
 *
 *	app_index_make()	one pass over the trace; an index that is there is continued
 *	app_index_open()	to ask it
 *	app_index_model()	the model of a range, which reads little more than the range
 *
 * Where it lies
 *	For a directory DIR in DIR/.tacho-index; for a file FILE in FILE.tacho-index.  Where
 *	that cannot be written, in $XDG_CACHE_HOME/tacho (or ~/.cache/tacho), by a hash
 *	of the trace's real path.  A reader looks beside the trace first.
 *
 * Whose it is
 *	The files of the trace: names, sizes, their first and last bytes (index/index.h, section
 *	7); and the rules.  So a trace may be moved or copied together with its index.
 */
#ifndef TACHO_APP_INDEX_H
#define TACHO_APP_INDEX_H

#include "app/find.h"
#include "base/observer.h"
#include "index/index.h"

/*
 * app_index_make - make the index of a trace, or complete it.
 *
 * t: opened, its records not read.  rules: as for the model.  again: forget one that is there;
 * one of another trace, version or of other rules is replaced in any case, with a note.
 * Progress is in records.  path, initialised, gets where it lies.
 * If the stream may have several threads (app_trace_set_jobs()), two work at it (index_pipe.h).
 *
 * Returns 0; -ENOTSUP: a live session, or records that are not in order of time; -EBUSY: another
 * process makes it; -ECANCELED: what is there so far is kept and continued next time; or
 * another errno.  With d filled in.
 */
int app_index_make(struct app_trace *t, const struct model_rules *rules, bool again,
		   const struct tacho_observer *observer, struct tacho_buf *path,
		   struct tacho_diag *d);

/*
 * app_index_open - the index of a trace, if there is one that fits.
 *
 * path: of the trace.  where, initialised, gets where it lies.  *index is the caller's.
 * Returns 0, -ENOENT, or as index_open(), with d.
 */
int app_index_open(struct index **index, const char *path, const struct model_rules *rules,
		   struct tacho_buf *where, struct tacho_diag *d);

/* Removes it.  Returns 0, -ENOENT or another errno with d. */
int app_index_remove(const char *path, struct tacho_buf *where, struct tacho_diag *d);

/*
 * app_index_model - a model that stands before the first record that is not before `time`, or
 * earlier.
 *
 * With an index (NULL: none) it begins at a checkpoint, else at the beginning.  The stream, whose
 * records may have been read, is placed there; config is the model's.  *first is the number of
 * the next record.  Tracks that the index knows are handed to the op `track` first.
 *
 * Returns 0, or a negative errno with d.
 */
int app_index_model(struct model **model, const struct model_config *config, struct index *index,
		    uint64_t time, uint64_t *first, struct tacho_diag *d);

#endif
