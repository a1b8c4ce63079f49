// SPDX-License-Identifier: MIT
#include "columns/config.h"

#include <errno.h>

#include "base/sized.h"
#include "columns/columns.h"

/* The last member of version 1.0 ends here. */
#define CONFIG_SIZE_1_0	(offsetof(struct tacho_columns_config, threads) + sizeof(uint32_t))

#define FLAGS	(TACHO_COLUMNS_NO_DICTIONARY | TACHO_COLUMNS_DICTIONARY | TACHO_COLUMNS_TIME_UTC | \
		 TACHO_COLUMNS_TIME_INT64 | TACHO_COLUMNS_UNORDERED | TACHO_COLUMNS_STRICT)

static int check(const struct tacho_columns_config *c, struct tacho_diag *d)
{
	if (c->flags & ~(uint32_t)FLAGS)
		return tacho_diag(d, -EINVAL, 0, "flags 0x%x has a flag that is not known",
				  c->flags);
	if (c->batch_rows > COLUMNS_ROWS_MAX)
		return tacho_diag(d, -EINVAL, 0, "batch_rows is more than %u", COLUMNS_ROWS_MAX);
	if (c->end && c->begin > c->end)
		return tacho_diag(d, -EINVAL, 0, "the time range ends before it begins");
	if (!c->table && (c->rules || c->tracks || c->until))
		return tacho_diag(d, -EINVAL, 0, "%s: of a table of the model only",
				  c->rules ? "rules" : c->tracks ? "tracks" : "until");
	return 0;
}

int columns_config_get(struct tacho_columns_config *to, const struct tacho_columns_config *from,
		       struct tacho_diag *d)
{
	int err = 0;

	if (!from)
		tacho_columns_config_init(to);
	else
		err = tacho_sized_get(to, sizeof(*to), from, CONFIG_SIZE_1_0);
	if (err == -E2BIG)
		return tacho_diag(d, err, 0, "the configuration has a member that this library "
				  "does not know");
	if (err)
		return tacho_diag(d, err, 0, "struct_size %u is too small for a struct "
				  "tacho_columns_config", from->struct_size);
	if (!to->batch_rows)
		to->batch_rows = COLUMNS_ROWS;
	return check(to, d);
}

int columns_config_select(struct app_select *s, const char *member, const char *text,
			  int (*set)(struct app_select *s, const char *arg,
				     struct tacho_diag *d), struct tacho_diag *d)
{
	struct tacho_diag own = { 0 };
	int err = text ? set(s, text, &own) : 0;

	return err ? tacho_diag(d, err, own.offset, "%s: %s", member, own.text) : 0;
}

enum columns_kind columns_time_kind(uint32_t flags)
{
	return flags & TACHO_COLUMNS_TIME_INT64 ? COLUMNS_INT :
	       flags & TACHO_COLUMNS_TIME_UTC ? COLUMNS_TIME_UTC : COLUMNS_TIME;
}
