/* SPDX-License-Identifier: MIT */
/*
 * impl/sdt.h - a static probe note for perf, bpftrace, gdb and uftrace.
 *
 * TACHO_SDT(provider, name, args) emits one nop and describes
 * it in the section .note.stapsdt, which is not loaded: its address, the two
 * names, and the location of each argument at the nop ("-4@%edi 8@$5").  The
 * layout is that of SystemTap's version 3 notes:
 *
 *	name size, desc size, type 3, "stapsdt\0"
 *	address of the nop, address of .stapsdt.base, of the semaphore (none: 0)
 *	provider, name and argument text, each with a NUL
 *
 * .stapsdt.base is one byte per object; readers compare its address with the
 * note's word to find how far prelinking moved the code.
 *
 * The operands of a nop are always computed before it.  A tracepoint's nop is therefore
 * placed after the branch, and a semaphore makes the program take the branch:
 *
 *	1. The semaphore is 16 bits of struct tacho_event, next to the pointer to its state
 *	   words, so a site touches no additional cache line.  The struct is in the section
 *	   .probes, where perf looks for its offset in the file.
 *	2. A tool that attaches increments it in the memory of each process: the kernel does
 *	   it for perf, bpftrace and tacho (the probe's ref_ctr_offset), gdb does it itself.
 *	3. A site loads the first state word and the semaphore and branches once, on both.
 *	4. The nop is at the start of the event's function (impl/stages.h), which then
 *	   reads only the state word.  Each event has one nop per object.
 *
 * Two branches, or a semaphore in a separate cache line, cost up to a cycle more.
 *
 * Arguments: integers, enums and pointers of at most 8 bytes.  Any other
 * argument is replaced by the constant 0.  The first 12 are described.
 * provider and name are string literals.
 */
#ifndef TACHO_IMPL_SDT_H
#define TACHO_IMPL_SDT_H

#include "tacho/impl/macro.h"

#if !defined(TACHO_NO_SDT) && defined(__ELF__) && defined(__LP64__) && \
	(defined(__x86_64__) || defined(__aarch64__))

/*
 * `asm inline` counts as one instruction when the compiler estimates sizes;
 * otherwise functions with tracepoints would no longer be inlined.
 */
#if defined(__clang__)
#define TACHO_SDT_ASM		__asm__ __inline__ __volatile__
/* clang prefers memory operands if they are allowed, and would spill at every site. */
#define TACHO_SDT_PLACE		"nr"
#elif __GNUC__ >= 9
#define TACHO_SDT_ASM		__asm__ __inline__ __volatile__
#define TACHO_SDT_PLACE		"nor"
#else
#define TACHO_SDT_ASM		__asm__ __volatile__
#define TACHO_SDT_PLACE		"nor"
#endif

/* Many arguments can need more registers than there are (at -O0). */
#define TACHO_SDT_FAR		"nor"

#ifdef __cplusplus
namespace tacho {
template <class T>
struct sdt_type {
	typedef typename std::remove_cv<
		typename std::remove_reference<T>::type>::type plain;
	static constexpr bool ok = (std::is_integral<plain>::value ||
				    std::is_enum<plain>::value ||
				    std::is_pointer<plain>::value) &&
				   sizeof(plain) <= 8;
	static constexpr int size = !ok ? 4 :
		signed_integer<plain>::value ? (int)sizeof(plain) :
					       -(int)sizeof(plain);
};
template <class T>
static inline __attribute__((always_inline))
typename std::enable_if<sdt_type<T>::ok, T>::type sdt_value(const T &x)
{
	return x;
}
template <class T>
static inline __attribute__((always_inline))
typename std::enable_if<!sdt_type<T>::ok, int>::type sdt_value(const T &)
{
	return 0;
}
}
#define TACHO_SDT_SIZE(x)	(::tacho::sdt_type<decltype(x)>::size)
#define TACHO_SDT_VALUE(x)	(::tacho::sdt_value(x))
#else
/* __builtin_classify_type: 1 integer, 2 char, 3 enum, 4 bool, 5 pointer. */
#define TACHO_SDT_OK(x) \
	(__builtin_classify_type(x) >= 1 && __builtin_classify_type(x) <= 5 && \
	 sizeof(x) <= 8)
#define TACHO_SDT_VALUE(x) \
	__builtin_choose_expr(TACHO_SDT_OK(x), (x), 0)
#define TACHO_SDT_SIZE(x) \
	((int)sizeof(TACHO_SDT_VALUE(x)) * \
	 (TACHO_SIGNED_VALUE(TACHO_SDT_VALUE(x)) ? 1 : -1))
#endif

#define TACHO_SDT_TEXT(sem, provider, name, args)			\
	"990:	nop\n"							\
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"		\
	"	.balign 4\n"						\
	"	.4byte 992f-991f, 994f-993f, 3\n"			\
	"991:	.asciz \"stapsdt\"\n"					\
	"992:	.balign 4\n"						\
	"993:	.8byte 990b\n"						\
	"	.8byte _.stapsdt.base\n"				\
	"	.8byte " sem "\n"					\
	"	.asciz \"" provider "\"\n"				\
	"	.asciz \"" name "\"\n"					\
	"	.asciz \"" args "\"\n"					\
	"994:	.balign 4\n"						\
	"	.popsection\n"						\
	"	.ifndef _.stapsdt.base\n"				\
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\","	\
		".stapsdt.base,comdat\n"				\
	"	.weak _.stapsdt.base\n"					\
	"	.hidden _.stapsdt.base\n"				\
	"_.stapsdt.base:\n"						\
	"	.space 1\n"						\
	"	.size _.stapsdt.base, 1\n"				\
	"	.popsection\n"						\
	"	.endif\n"

/* %n prints the negated constant: -4 is a signed int, 8 an unsigned long. */
#define TACHO_SDT_ARG(i)	"%n[s" #i "]@%[v" #i "]"
#define TACHO_SDT_OP(i, x, place) \
	[s##i] "n" (TACHO_SDT_SIZE(x)), [v##i] place (TACHO_SDT_VALUE(x))

#define TACHO_SDT_A1	TACHO_SDT_ARG(1)
#define TACHO_SDT_A2	TACHO_SDT_A1 " " TACHO_SDT_ARG(2)
#define TACHO_SDT_A3	TACHO_SDT_A2 " " TACHO_SDT_ARG(3)
#define TACHO_SDT_A4	TACHO_SDT_A3 " " TACHO_SDT_ARG(4)
#define TACHO_SDT_A5	TACHO_SDT_A4 " " TACHO_SDT_ARG(5)
#define TACHO_SDT_A6	TACHO_SDT_A5 " " TACHO_SDT_ARG(6)
#define TACHO_SDT_A7	TACHO_SDT_A6 " " TACHO_SDT_ARG(7)
#define TACHO_SDT_A8	TACHO_SDT_A7 " " TACHO_SDT_ARG(8)
#define TACHO_SDT_A9	TACHO_SDT_A8 " " TACHO_SDT_ARG(9)
#define TACHO_SDT_A10	TACHO_SDT_A9 " " TACHO_SDT_ARG(10)
#define TACHO_SDT_A11	TACHO_SDT_A10 " " TACHO_SDT_ARG(11)
#define TACHO_SDT_A12	TACHO_SDT_A11 " " TACHO_SDT_ARG(12)

#define TACHO_SDT_O1(p, a) TACHO_SDT_OP(1, a, p)
#define TACHO_SDT_O2(p, a, b) TACHO_SDT_O1(p, a), TACHO_SDT_OP(2, b, p)
#define TACHO_SDT_O3(p, a, b, c) \
	TACHO_SDT_O2(p, a, b), TACHO_SDT_OP(3, c, p)
#define TACHO_SDT_O4(p, a, b, c, d) \
	TACHO_SDT_O3(p, a, b, c), TACHO_SDT_OP(4, d, p)
#define TACHO_SDT_O5(p, a, b, c, d, e) \
	TACHO_SDT_O4(p, a, b, c, d), TACHO_SDT_OP(5, e, p)
#define TACHO_SDT_O6(p, a, b, c, d, e, f) \
	TACHO_SDT_O5(p, a, b, c, d, e), TACHO_SDT_OP(6, f, p)
#define TACHO_SDT_O7(p, a, b, c, d, e, f, g) \
	TACHO_SDT_O6(p, a, b, c, d, e, f), TACHO_SDT_OP(7, g, p)
#define TACHO_SDT_O8(p, a, b, c, d, e, f, g, h) \
	TACHO_SDT_O7(p, a, b, c, d, e, f, g), TACHO_SDT_OP(8, h, p)
#define TACHO_SDT_O9(p, a, b, c, d, e, f, g, h, i) \
	TACHO_SDT_O8(p, a, b, c, d, e, f, g, h), TACHO_SDT_OP(9, i, p)
#define TACHO_SDT_O10(p, a, b, c, d, e, f, g, h, i, j) \
	TACHO_SDT_O9(p, a, b, c, d, e, f, g, h, i), TACHO_SDT_OP(10, j, p)
#define TACHO_SDT_O11(p, a, b, c, d, e, f, g, h, i, j, k) \
	TACHO_SDT_O10(p, a, b, c, d, e, f, g, h, i, j), TACHO_SDT_OP(11, k, p)
#define TACHO_SDT_O12(p, a, b, c, d, e, f, g, h, i, j, k, l) \
	TACHO_SDT_O11(p, a, b, c, d, e, f, g, h, i, j, k), \
	TACHO_SDT_OP(12, l, p)

#define TACHO_SDT_0(sem, provider, name, ...) \
	TACHO_SDT_ASM(TACHO_SDT_TEXT(sem, provider, name, "") : :)
#define TACHO_SDT_N(sem, provider, name, n, place, ...) \
	TACHO_SDT_ASM(TACHO_SDT_TEXT(sem, provider, name, TACHO_SDT_A##n) \
		      : : TACHO_SDT_O##n(place, __VA_ARGS__))
#define TACHO_SDT_1(s, q, r, ...) TACHO_SDT_N(s, q, r, 1, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_2(s, q, r, ...) TACHO_SDT_N(s, q, r, 2, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_3(s, q, r, ...) TACHO_SDT_N(s, q, r, 3, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_4(s, q, r, ...) TACHO_SDT_N(s, q, r, 4, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_5(s, q, r, ...) TACHO_SDT_N(s, q, r, 5, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_6(s, q, r, ...) TACHO_SDT_N(s, q, r, 6, TACHO_SDT_PLACE, __VA_ARGS__)
#define TACHO_SDT_7(s, q, r, ...) TACHO_SDT_N(s, q, r, 7, TACHO_SDT_FAR, __VA_ARGS__)
#define TACHO_SDT_8(s, q, r, ...) TACHO_SDT_N(s, q, r, 8, TACHO_SDT_FAR, __VA_ARGS__)
#define TACHO_SDT_9(s, q, r, ...) TACHO_SDT_N(s, q, r, 9, TACHO_SDT_FAR, __VA_ARGS__)
#define TACHO_SDT_10(s, q, r, ...) TACHO_SDT_N(s, q, r, 10, TACHO_SDT_FAR, __VA_ARGS__)
#define TACHO_SDT_11(s, q, r, ...) TACHO_SDT_N(s, q, r, 11, TACHO_SDT_FAR, __VA_ARGS__)
#define TACHO_SDT_12(s, q, r, ...) TACHO_SDT_N(s, q, r, 12, TACHO_SDT_FAR, __VA_ARGS__)

#define TACHO_SDT_MORE(s, q, r, a, b, c, d, e, f, g, h, i, j, k, l, ...) \
	TACHO_SDT_12(s, q, r, a, b, c, d, e, f, g, h, i, j, k, l)
#define TACHO_SDT_13 TACHO_SDT_MORE
#define TACHO_SDT_14 TACHO_SDT_MORE
#define TACHO_SDT_15 TACHO_SDT_MORE
#define TACHO_SDT_16 TACHO_SDT_MORE
#define TACHO_SDT_17 TACHO_SDT_MORE
#define TACHO_SDT_18 TACHO_SDT_MORE
#define TACHO_SDT_19 TACHO_SDT_MORE
#define TACHO_SDT_20 TACHO_SDT_MORE
#define TACHO_SDT_21 TACHO_SDT_MORE
#define TACHO_SDT_22 TACHO_SDT_MORE
#define TACHO_SDT_23 TACHO_SDT_MORE
#define TACHO_SDT_24 TACHO_SDT_MORE

/*
 * args is a list of names in parentheses, perhaps ().  sem is the assembler's name of the
 * struct tacho_event whose semaphore guards the place, as a literal; TACHO_SDT has none.
 */
#define TACHO_SDT_GUARDED(sem, provider, name, args) \
	TACHO_SDT_LIST(sem "+" TACHO_STR(TACHO_SEMAPHORE_AT), provider, name, \
		       TACHO_COUNT args, args)
#define TACHO_SDT(provider, name, args) \
	TACHO_SDT_LIST("0", provider, name, TACHO_COUNT args, args)
#define TACHO_SDT_LIST(sem, provider, name, n, args) \
	TACHO_SDT_CALL(TACHO_CAT(TACHO_SDT_, n), sem, provider, name, \
		       TACHO_UNWRAP args)
#define TACHO_SDT_CALL(m, ...)	TACHO_SDT_CALL_(m, __VA_ARGS__)
#define TACHO_SDT_CALL_(m, ...)	m(__VA_ARGS__)

/* What an event with a guarded place is declared with. */
#define TACHO_SDT_EVENT		__attribute__((section(".probes"), used))
/* How many have attached themselves to the event's places. */
#define TACHO_SDT_USERS(ev) \
	TACHO_SITE_LOAD(uint64_t, (ev)->semaphore)

#else
#define TACHO_SDT(provider, name, args)			((void)0)
#define TACHO_SDT_GUARDED(sem, provider, name, args)	((void)0)
#define TACHO_SDT_EVENT
#define TACHO_SDT_USERS(ev)		UINT64_C(0)
#endif

#endif
