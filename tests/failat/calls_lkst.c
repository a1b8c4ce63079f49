// SPDX-License-Identifier: MIT
/* calls_lkst: liblkst's functions, in a program that goes on whatever they say. */
#include <linux/lkst.h>
#include <string.h>

#include "tried.h"

int main(void)
{
	static struct {
		struct lkst_maskset_body body;
		struct lkst_maskset_entry more[8];
	} m;
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, 0, &m.body };
	struct lkst_entry_args event = { .event_type = 0x100 };
	struct lkst_trc_status s;

	m.body.len = 1;
	strcpy(m.body.name, "calls");
	m.body.entry[0].event_type = 0x100;
	m.body.entry[0].id = LKST_EVHANDLER_ID_LOG;
	p.maskset_size = LKST_MASKSET_SIZE(1);
	TRY(lkst_trc_status(&s));
	TRY(lkst_maskset_write(&p));
	TRY(lkst_maskset_get_id("calls"));
	TRY(lkst_maskset_set(p.id));
	TRY(lkst_entry_log(&event));
	TRY(lkst_entry_log(&event));
	TRY(lkst_evhandler_get_id("LOG"));
	TRY(lkst_trc_stop());
	TRY(lkst_trc_start());
	TRY(lkst_maskset_set(LKST_MASKSET_ID_RNOTHING));
	TRY(lkst_maskset_delete(p.id));
	return 0;
}
