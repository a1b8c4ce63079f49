/* SPDX-License-Identifier: MIT */
/* index_priv.h - what the files of app/index.h share. */
#ifndef TACHO_APP_INDEX_PRIV_H
#define TACHO_APP_INDEX_PRIV_H

#include "app/index.h"

/* The files of a trace, by name. */
struct app_index_files {
	struct index_file *list;
	uint32_t nr, room;
};

/* Returns 0, or a negative errno with d and nothing to release. */
int app_index_files(struct app_index_files *f, const char *trace, struct tacho_diag *d);
void app_index_files_release(struct app_index_files *f);

/* index_hash_fd() of one of them, up to a size. */
int app_index_hash(const char *trace, const struct index_file *file, uint64_t size,
		   uint32_t *hash);

/* Paths of an index, NUL-terminated: beside the trace, in the cache.  0 or a negative errno. */
int app_index_beside(const char *trace, struct tacho_buf *path);
int app_index_cached(const char *trace, struct tacho_buf *path);

/* The one of them that can be written; makes the directories of the cache. */
int app_index_for_writing(const char *trace, struct tacho_buf *path, struct tacho_diag *d);

#endif
