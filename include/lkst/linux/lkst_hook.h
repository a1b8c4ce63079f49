/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_hook.h> - event types and trace points of programs (specification 4.6,
 * 4.7.2.5).
 *
 *	LKST_ETYPE_DEF(0x100, NORMAL, NEW_EVENT, "user added event",
 *		       "data1", "data2", "data3", "data4")
 *
 *	LKST_HOOK(NEW_EVENT, LKST_ARG(d1), LKST_ARG32(high, low), LKST_ARG(d3), LKST_ARGP(p));
 *
 * Use LKST_ETYPE_DEF() at file scope, in one file or in a header that several files include.
 * Nothing else is needed.  A type of LKST_ETYPE_DEF_MODULE() exists between
 * lkst_hook_etype_register() and _unregister().  The argument of LKST_HOOK() is the
 * mnemonic.
 *
 * The event is also a tacho event: lkst:MNEMONIC, with the fields arg1 .. arg4 and those of
 * table 4-1.  Filters, triggers, histograms and other sessions can use it.
 *
 * A disabled hook costs two loads, a compare and an untaken branch.  Any thread, any signal
 * handler.  The hook types (NORMAL, MODULE, INLINE, UNDEF) matter only to the kernel's
 * linker.  Here they are equal, except UNDEF, which cannot be used in LKST_HOOK().
 */
#ifndef LKST_HOOK_H
#define LKST_HOOK_H

#include <linux/lkst.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKST_ETYPE_USER_FIRST	0x100	/* event types of users */
#define LKST_ETYPE_USER_LAST	0x1ff
#define LKST_ETYPE_MAX		0xfff

#define LKST_MNEMONIC_LEN	32	/* bytes, NUL included */
#define LKST_ETYPE_NAME_LEN	64
#define LKST_ETYPE_ARG_LEN	48

/* The data of a trace point.  Written by liblkst, except for its initial values. */
struct hook {
	const uint64_t *state;		/* the first word is not 0: a session has it enabled */
	void *event;
};

struct hook_rec {
	void *reserved;
};

/* "" for an argument: it is not used, and not printed. */
struct lkst_etype_info {
	int etype;
	struct hook *hook;		/* NULL: no LKST_HOOK() */
	struct hook_rec hook_rec;
	const char *mnemonic;
	const char *name;
	const char *args[4];
};

/*
 * Registers an event type and enables its hooks.
 * Returns its number, or -EINVAL (NULL; a number that is not for users; no mnemonic, or one
 * that is not a C name; a text that is too long), -EBUSY (einfo is already registered; or
 * another type of this or another running program has the number and a different mnemonic),
 * -EPERM.
 */
int lkst_hook_etype_register(struct lkst_etype_info *einfo);

/* No hook of it may be running. */
void lkst_hook_etype_unregister(struct lkst_etype_info *einfo);

/* The part of a hook that is not inline. */
void lkst_hook_hit(const struct lkst_etype_info *einfo, lkst_arg_t arg1, lkst_arg_t arg2,
		   lkst_arg_t arg3, lkst_arg_t arg4);

/* For constructors: as lkst_hook_etype_register(), once for all files with the header. */
void lkst_hook_etype_define(struct lkst_etype_info *einfo);

#define LKST_WEAK_	__attribute__((weak, visibility("hidden")))

/* The state words of disabled hooks; never written. */
extern uint64_t lkst_hook_off[2] LKST_WEAK_;
LKST_WEAK_ uint64_t lkst_hook_off[2] = { 0, 0 };

#define LKST_ETYPE_INFO(mnemonic)	lkst_einfo_##mnemonic

/* 4.7.2.5.1: the information only. */
#define LKST_ETYPE_INFO_DEF(id, mnemo, name, arg1, arg2, arg3, arg4, hookp)	\
	extern struct lkst_etype_info lkst_einfo_##mnemo LKST_WEAK_;		\
	LKST_WEAK_ struct lkst_etype_info lkst_einfo_##mnemo = {		\
		id, hookp, { 0 }, #mnemo, name, { arg1, arg2, arg3, arg4 },	\
	};

/* With the hook type (4.6) or without (4.7.2.5.1): eight arguments or seven. */
#define LKST_ETYPE_DEF_MODULE(...) \
	LKST_DEF_PICK_(__VA_ARGS__, LKST_DEF_MODULE_8_, LKST_DEF_MODULE_7_, )(__VA_ARGS__)
#define LKST_DEF_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, m, ...)	m
#define LKST_DEF_MODULE_8_(id, type, mnemonic, name, arg1, arg2, arg3, arg4)	\
	LKST_DEF_MODULE_7_(id, mnemonic, name, arg1, arg2, arg3, arg4)
#define LKST_DEF_MODULE_7_(id, mnemonic, name, arg1, arg2, arg3, arg4)		\
	enum { LKST_ETYPE_##mnemonic = (id) };					\
	extern struct hook LKST_ETYPE_##mnemonic##_HEADER LKST_WEAK_;		\
	LKST_WEAK_ struct hook LKST_ETYPE_##mnemonic##_HEADER = { lkst_hook_off, 0 }; \
	LKST_ETYPE_INFO_DEF(id, mnemonic, name, arg1, arg2, arg3, arg4,		\
			    &LKST_ETYPE_##mnemonic##_HEADER)

#define LKST_ETYPE_DEF(id, type, mnemonic, name, arg1, arg2, arg3, arg4)	\
	LKST_DEF_MODULE_7_(id, mnemonic, name, arg1, arg2, arg3, arg4)		\
	__attribute__((constructor, unused))					\
	static void lkst_define_##mnemonic(void)				\
	{									\
		lkst_hook_etype_define(&LKST_ETYPE_INFO(mnemonic));		\
	}

#define LKST_HOOK(mnemonic, arg1, arg2, arg3, arg4)				\
	do {									\
		const uint64_t *lkst_state_ = __atomic_load_n(			\
			&LKST_ETYPE_##mnemonic##_HEADER.state, __ATOMIC_RELAXED); \
										\
		if (__builtin_expect(__atomic_load_n(lkst_state_,		\
						     __ATOMIC_RELAXED) != 0, 0)) \
			lkst_hook_hit(&LKST_ETYPE_INFO(mnemonic), (arg1), (arg2), \
				      (arg3), (arg4));				\
	} while (0)

#define LKST_HOOK_INLINE(mnemonic, arg1, arg2, arg3, arg4) \
	LKST_HOOK(mnemonic, arg1, arg2, arg3, arg4)

/*
 * 4.4, on request: writes the last n events of this process to a descriptor, as
 * text, at most 64 KiB.  Any context, also in the handler of a fatal signal.
 */
void lkst_dump(int fd, unsigned int n);

/* The same at each signal sig: as LKST_DUMP=QUIT:100 in the environment. */
int lkst_dump_on_signal(int sig, unsigned int n);

#ifdef __cplusplus
}
#endif

#endif
