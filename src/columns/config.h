/* SPDX-License-Identifier: MIT */
/* config.h - struct tacho_columns_config, checked. */
#ifndef TACHO_COLUMNS_CONFIG_H
#define TACHO_COLUMNS_CONFIG_H

#include "app/select.h"
#include "base/diag.h"
#include "columns/table.h"
#include "tacho/columns.h"

/* Copies the caller's (NULL: all defaults).  0, or a negative errno with d filled in. */
int columns_config_get(struct tacho_columns_config *to, const struct tacho_columns_config *from,
		       struct tacho_diag *d);

/*
 * A text for a selection, unless it is NULL, by one of app_select_...().  0, or a negative errno
 * with d filled in, which begins with the member's name.
 */
int columns_config_select(struct app_select *s, const char *member, const char *text,
			  int (*set)(struct app_select *s, const char *arg,
				     struct tacho_diag *d), struct tacho_diag *d);

/* The kind of a column of times, by enum tacho_columns_flag. */
enum columns_kind columns_time_kind(uint32_t flags);

#endif
