// SPDX-License-Identifier: MIT
/* The list of event types: /proc/lkst_etypes. */
#include <string.h>

#include "base/atomic.h"
#include "face/lkst/priv.h"
#include "fmt/lkst/types.h"

int tacho_lkst_etypes(struct tacho_lkst *l, struct tacho_buf *out)
{
	for (uint32_t i = 0; i < LKST_NR_ETYPES; i++) {
		const struct lkst_etype_entry *e = &l->state->etype[i];
		struct lkst_etype_entry c;

		if (!tacho_load_acquire(&e->ready))
			continue;
		memcpy(&c, e, sizeof(c));
		c.mnemonic[sizeof(c.mnemonic) - 1] = '\0';
		c.name[sizeof(c.name) - 1] = '\0';
		for (int a = 0; a < 4; a++)
			c.arg[a][sizeof(c.arg[a]) - 1] = '\0';
		lkst_types_put(out, &(struct lkst_type_text){
			(uint16_t)lkst_etype_at(i), c.mnemonic, c.name,
			{ c.arg[0], c.arg[1], c.arg[2], c.arg[3] } });
	}
	return out->err;
}
