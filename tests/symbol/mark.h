/* SPDX-License-Identifier: MIT */
/*
 * mark.h - a marker as sys/sdt.h makes it, for tests on machines without that:
 * MARK(provider, name, an int, a pointer), with the counter mark_wanted.
 */
#ifndef TACHO_TESTS_MARK_H
#define TACHO_TESTS_MARK_H

extern volatile unsigned short mark_wanted;

#if defined(__x86_64__)
#define MARK_ARGS	"-4@%[a0] 8@%[a1] -4@$5"
#else
#define MARK_ARGS	"-4@%[a0] 8@%[a1] -4@5"
#endif

#define MARK(provider, name, v0, v1)					\
	__asm__ volatile(						\
		"990: nop\n"						\
		".pushsection .note.stapsdt,\"\",\"note\"\n"		\
		".balign 4\n"						\
		".4byte 992f-991f, 994f-993f, 3\n"			\
		"991: .asciz \"stapsdt\"\n"				\
		"992: .balign 4\n"					\
		"993: .8byte 990b\n"					\
		".8byte _.stapsdt.base\n"				\
		".8byte mark_wanted\n"					\
		".asciz \"" #provider "\"\n"				\
		".asciz \"" #name "\"\n"				\
		".asciz \"" MARK_ARGS "\"\n"				\
		"994: .balign 4\n"					\
		".popsection\n"						\
		".ifndef _.stapsdt.base\n"				\
		".pushsection .stapsdt.base,\"aG\",\"progbits\","	\
		".stapsdt.base,comdat\n"				\
		".weak _.stapsdt.base\n"				\
		".hidden _.stapsdt.base\n"				\
		"_.stapsdt.base: .space 1\n"				\
		".size _.stapsdt.base, 1\n"				\
		".popsection\n"						\
		".endif\n"						\
		: : [a0] "r" (v0), [a1] "r" (v1), "m" (mark_wanted))

#endif
