// SPDX-License-Identifier: MIT
/* A module: its handler records every second event, with its first argument turned round. */
#include <linux/lkst.h>

static void every_second(void *rec, int etype, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c,
			 lkst_arg_t d)
{
	static unsigned int n;

	if (__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 2 == 0)
		lkst_evhandlerprim_entry_log(rec, etype, ~a, b, c, d);
}

__attribute__((constructor)) static void module_begin(void)
{
	(void)lkst_evhandler_register(0x234, "every_second", every_second, NULL);
}
