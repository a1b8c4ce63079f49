/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_etypes.h> - the event types that LKST brings (specification 4.1.2, 4.6).
 *
 *	0x000..0x0ff	of the kernel, in blocks of 16 by subsystem
 *	0x100..0x1ff	for users
 *	0x200..0xeff	reserved
 *	0xf00..0xfff	LKST's own
 *
 * Of the published numbers only the locks' block, 0x080..0x08f, is known.
 * docs/lkst.md has the tracepoint of Linux that each comes from.
 */
#ifndef LKST_ETYPES_H
#define LKST_ETYPES_H

#define LKST_ETYPE_LOCK_FIRST	0x080
#define LKST_ETYPE_LOCK_LAST	0x08f

/* X(number, mnemonic, name, four argument texts; "": not used) */
#define LKST_ETYPES_LKST(X)						\
	X(0xf00, LKST_BUFF_OVFLOW, "lkst_buffer_overflow",		\
	  "cpu", "buffer id", "next buffer id", "records")		\
	X(0xf01, LKST_BUFF_SHIFT, "lkst_buffer_shift",			\
	  "cpu", "old buffer id", "new buffer id", "")			\
	X(0xf02, LKST_MASKSET_SET, "lkst_maskset_set",			\
	  "old maskset id", "new maskset id", "", "")			\
	X(0xf03, LKST_INIT, "lkst_init",				\
	  "pid", "buffer size", "cpus", "")				\
	X(0xf04, LKST_LOST, "lkst_lost_event",				\
	  "cpu", "events", "", "")					\
	X(0xf05, LKST_ERROR, "lkst_internal_error",			\
	  "errno", "where", "", "")

#define LKST_ETYPE_ENUM_(number, mnemonic, name, a1, a2, a3, a4)	\
	LKST_ETYPE_##mnemonic = number,

enum {
	LKST_ETYPES_LKST(LKST_ETYPE_ENUM_)
};

#endif
