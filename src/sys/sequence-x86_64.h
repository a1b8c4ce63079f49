/* SPDX-License-Identifier: MIT */
/* The sequences of sequence.h for x86-64.  Included by it alone. */
#ifndef TACHO_SYS_SEQUENCE_H
#error "include sys/sequence.h"
#endif

/*
 * A sequence's descriptor (struct rseq_cs), and its abort handler in a
 * section of its own, after the signature that the kernel requires.
 * Labels: 1 start, 2 after the commit, 3 descriptor, 4 abort handler.
 */
#define TACHO_RSEQ_START						\
	".pushsection __rseq_cs, \"aw\"\n\t"				\
	".balign 32\n\t"						\
	"3:\n\t"							\
	".long 0, 0\n\t"						\
	".quad 1f, 2f - 1f, 4f\n\t"					\
	".popsection\n\t"						\
	"leaq 3b(%%rip), %%rax\n\t"					\
	"movq %%rax, %c[cs](%[rs])\n\t"					\
	"1:\n\t"							\
	"cmpl %[cpu], %c[id](%[rs])\n\t"				\
	"jne %l[fail]\n\t"

#define TACHO_RSEQ_BEGIN						\
	TACHO_RSEQ_START						\
	"cmpq %[expect], (%[word])\n\t"					\
	"jne %l[fail]\n\t"

#define TACHO_RSEQ_END							\
	"2:\n\t"							\
	".pushsection __rseq_failure, \"ax\"\n\t"			\
	".byte 0x0f, 0xb9, 0x3d\n\t"	/* ud1 SIG(%rip), %edi */	\
	".long 0x53053053\n\t"						\
	"4:\n\t"							\
	"jmp %l[fail]\n\t"						\
	".popsection\n\t"

#define TACHO_RSEQ_COMMIT						\
	"movq %[next], (%[word])\n\t"					\
	TACHO_RSEQ_END

#define TACHO_RSEQ_AREA							\
	[rs] "r"(rs), [cs] "i"(offsetof(struct rseq, rseq_cs)),		\
	[id] "i"(offsetof(struct rseq, cpu_id)), [cpu] "r"(cpu)

#define TACHO_RSEQ_ARGS							\
	TACHO_RSEQ_AREA, [word] "r"(word), [expect] "r"(expect),	\
	[next] "r"(next)

static TACHO_ALWAYS_INLINE int
tacho_rseq_cmp_add(struct rseq *rs, uint32_t cpu, uint64_t *word, uint64_t value)
{
	__asm__ __volatile__ goto (
		TACHO_RSEQ_START
		"addq %[value], (%[word])\n\t"
		TACHO_RSEQ_END
		:
		: TACHO_RSEQ_AREA, [word] "r"(word), [value] "er"(value)
		: "rax", "cc", "memory"
		: fail);
	return 0;
fail:
	return -1;
}

static TACHO_ALWAYS_INLINE int
tacho_rseq_cmp_copy_store(struct rseq *rs, uint32_t cpu, uint64_t *word,
			  uint64_t expect, uint64_t *dst, uint64_t head,
			  const uint64_t *src, uint64_t n, uint64_t next)
{
	/* counts from -n to 0, so that the loop is four instructions */
	__asm__ __volatile__ goto (
		TACHO_RSEQ_BEGIN
		"movq %[head], (%[dst])\n\t"
		"movq %[minus_n], %%rcx\n\t"
		"5:\n\t"
		"movq (%[src], %%rcx, 8), %%rax\n\t"
		"movq %%rax, 8(%[end], %%rcx, 8)\n\t"
		"incq %%rcx\n\t"
		"jnz 5b\n\t"
		TACHO_RSEQ_COMMIT
		:
		: TACHO_RSEQ_ARGS, [dst] "r"(dst), [head] "r"(head),
		  [src] "r"(src + n), [end] "r"(dst + n), [minus_n] "r"(0 - n)
		: "rax", "rcx", "cc", "memory"
		: fail);
	return 0;
fail:
	return -1;
}

static inline int
tacho_rseq_cmp_ranges_store(struct rseq *rs, uint32_t cpu, uint64_t *word,
			    uint64_t expect, const struct tacho_copy_range *range,
			    uint64_t n, uint64_t next)
{
	/* no ranges: range may be NULL, and NULL + 0 is undefined */
	const struct tacho_copy_range *end = n ? range + n : range;

	__asm__ __volatile__ goto (
		TACHO_RSEQ_BEGIN
		"movq %[range], %%rdx\n\t"
		"jmp 8f\n\t"
		"5:\n\t"			/* one range */
		"movq 0(%%rdx), %%rdi\n\t"
		"movq 8(%%rdx), %%rsi\n\t"
		"xorl %%ecx, %%ecx\n\t"
		"jmp 7f\n\t"
		"6:\n\t"
		"movq (%%rsi, %%rcx, 8), %%rax\n\t"
		"movq %%rax, (%%rdi, %%rcx, 8)\n\t"
		"incq %%rcx\n\t"
		"7:\n\t"
		"cmpq 16(%%rdx), %%rcx\n\t"
		"jb 6b\n\t"
		"addq $24, %%rdx\n\t"
		"8:\n\t"
		"cmpq %[end], %%rdx\n\t"
		"jb 5b\n\t"
		TACHO_RSEQ_COMMIT
		:
		: TACHO_RSEQ_ARGS, [range] "r"(range), [end] "r"(end)
		: "rax", "rcx", "rdx", "rsi", "rdi", "cc", "memory"
		: fail);
	return 0;
fail:
	return -1;
}
