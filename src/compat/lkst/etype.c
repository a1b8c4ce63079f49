// SPDX-License-Identifier: MIT
/* The list of event types: /proc/lkst_etypes. */
#include "compat/lkst/priv.h"

int tacho_lkst_etypes(struct tacho_lkst *l, struct tacho_buf *out)
{
	return lkst_layout_etypes(l->state, out);
}
