/* SPDX-License-Identifier: MIT */
/*
 * tacho_ring_write_fast() for x86-64, included by write.h alone.
 *
 * Here the sequence begins before the CPU is read, so nothing has to be compared
 * again before the commit: whoever is interrupted anywhere in it starts anew.  For
 * the same reason the clock may be read before the cursor (W2 before W1), which
 * is faster by 1 ns: reading it waits for the loads before it.  The registers:
 *
 *	[r]	the ring; the record's place
 *	r11	the clock
 *	rax	scratch; record's first word
 *	rdx	scratch
 *	rcx	scratch; words copied
 *	r8	c, the cursor
 *	r9	the lane
 *	r10	this thread's rseq area; words used
 *
 * Labels as in sys/sequence-x86_64.h: 1 start, 2 after the commit, 3
 * descriptor, 4 abort handler.
 */
#ifndef TACHO_RING_WRITE_H
#error "include ring/write.h"
#endif

_Static_assert(offsetof(struct tacho_lane, cursor) == 0, "lane");
_Static_assert(sizeof(struct tacho_ring_buf) == 16 && TACHO_BUFFERS_MAX == 64,
	       "the table of buffers: cpu << 10 | id << 4");

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast(struct tacho_ring *r, const uint64_t *raw, uint64_t words)
{
	__asm__ __volatile__ goto (
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n\t"
		"3:\n\t"
		".long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"movq %%fs:0, %%r10\n\t"
		"addq %[area], %%r10\n\t"
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, %c[cs](%%r10)\n\t"
		"1:\n\t"
		"rdtsc\n\t"				/* W2: clock */
		"shlq $32, %%rdx\n\t"
		"leaq (%%rax, %%rdx), %%r11\n\t"
		"movl %c[id](%%r10), %%eax\n\t"		/* W1: cpu */
		"cmpl %c[cpus](%[r]), %%eax\n\t"
		"jae %l[slow]\n\t"
		"movl %%eax, %%r9d\n\t"
		"shlq %[lane_shift], %%r9\n\t"
		"addq %c[lanes](%[r]), %%r9\n\t"	/* lane */
		"movq (%%r9), %%r8\n\t"			/* cursor */
		"shll $10, %%eax\n\t"
		"addq %c[bufs](%[r]), %%rax\n\t"
		"movq %%r8, %%rdx\n\t"
		"shrq %[id_shift], %%rdx\n\t"
		"shll $4, %%edx\n\t"
		"addq %%rdx, %%rax\n\t"			/* its buffer */
		"movl %%r8d, %%r10d\n\t"
		"andl %[words_mask], %%r10d\n\t"	/* words used */
		"leal (%%r10, %[n]), %%edx\n\t"
		"cmpl %c[words](%%rax), %%edx\n\t"	/* W3, [R3] */
		"jae %l[slow]\n\t"
		"movl %c[down](%[r]), %%ecx\n\t"
		"movq %%r8, %%rdx\n\t"
		"shrq %%cl, %%rdx\n\t"
		"andl %c[mask](%%rax), %%edx\n\t"
		"addq %c[base](%%rax), %%rdx\n\t"	/* sub-buffer */
		"leaq (%%rdx, %%r10, 8), %[r]\n\t"	/* place */
		"movq %%r11, %%rax\n\t"
		"cmpq %c[until](%%r9), %%rax\n\t"
		"jae %l[slow]\n\t"
		"shlq $16, %%rax\n\t"
		"leal 8(, %[n], 8), %%edx\n\t"
		"orq %%rdx, %%rax\n\t"
		"rorq $16, %%rax\n\t"			/* time | size << 48 */
		"movq %%rax, (%[r])\n\t"		/* W4 */
		"xorl %%ecx, %%ecx\n\t"
		"5:\n\t"
		"movq (%[raw], %%rcx, 8), %%rax\n\t"
		"movq %%rax, 8(%[r], %%rcx, 8)\n\t"
		"incq %%rcx\n\t"
		"cmpq %[n], %%rcx\n\t"
		"jne 5b\n\t"
		"leaq %c[step](%%r8, %[n]), %%r8\n\t"
		"movq %%r8, (%%r9)\n\t"			/* commit */
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long 0x53053053\n\t"
		"4:\n\t"
		"jmp %l[slow]\n\t"
		".popsection\n\t"
		: [r] "+&r"(r)
		: [raw] "r"(raw), [n] "r"(words),
		  [area] "m"(__rseq_offset),
		  [cs] "i"(offsetof(struct rseq, rseq_cs)),
		  [id] "i"(offsetof(struct rseq, cpu_id)),
		  [cpus] "i"(offsetof(struct tacho_ring, fast_cpus)),
		  [lanes] "i"(offsetof(struct tacho_ring, lanes)),
		  [bufs] "i"(offsetof(struct tacho_ring, buf)),
		  [down] "i"(offsetof(struct tacho_ring, seq_down)),
		  [words] "i"(offsetof(struct tacho_ring_buf, words)),
		  [mask] "i"(offsetof(struct tacho_ring_buf, mask)),
		  [base] "i"(offsetof(struct tacho_ring_buf, base)),
		  [until] "i"(offsetof(struct tacho_lane, until)),
		  [lane_shift] "i"(TACHO_LANE_SHIFT),
		  [id_shift] "i"(TACHO_CURSOR_ID_SHIFT),
		  [words_mask] "i"((1 << TACHO_CURSOR_WORDS_BITS) - 1),
		  [step] "i"((1 << TACHO_CURSOR_WORDS_BITS) + 1)
		: "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory"
		: slow);
	return 0;
slow:
	return -1;
}
