/* SPDX-License-Identifier: MIT */
/* The sequences of sequence.h for aarch64.  Included by it alone. */
#ifndef TACHO_SYS_SEQUENCE_H
#error "include sys/sequence.h"
#endif

/* As in sequence-x86_64.h; the signature is a BRK that is never executed. */
#define TACHO_RSEQ_START						\
	"	.pushsection __rseq_cs, \"aw\"\n"			\
	"	.balign 32\n"						\
	"3:	.long 0, 0\n"						\
	"	.quad 1f, 2f - 1f, 4f\n"				\
	"	.popsection\n"						\
	"	adrp x16, 3b\n"						\
	"	add x16, x16, :lo12:3b\n"				\
	"	str x16, [%[rs], %[cs]]\n"				\
	"1:	ldr w17, [%[rs], %[id]]\n"				\
	"	cmp w17, %w[cpu]\n"					\
	"	b.ne %l[fail]\n"

#define TACHO_RSEQ_BEGIN						\
	TACHO_RSEQ_START						\
	"	ldr x17, [%[word]]\n"					\
	"	cmp x17, %[expect]\n"					\
	"	b.ne %l[fail]\n"

#define TACHO_RSEQ_END							\
	"2:\n"								\
	"	b 9f\n"							\
	"	.inst 0xd428bc00\n"	/* the signature */		\
	"4:	b %l[fail]\n"						\
	"9:\n"

#define TACHO_RSEQ_COMMIT						\
	"	stlr %[next], [%[word]]\n"				\
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
		"	ldr x17, [%[word]]\n"
		"	add x17, x17, %[value]\n"
		"	str x17, [%[word]]\n"
		TACHO_RSEQ_END
		:
		: TACHO_RSEQ_AREA, [word] "r"(word), [value] "r"(value)
		: "x16", "x17", "cc", "memory"
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
	__asm__ __volatile__ goto (
		TACHO_RSEQ_BEGIN
		"	mov x12, %[dst]\n"
		"	mov x13, %[src]\n"
		"	mov x14, %[n]\n"
		"	str %[head], [x12], #8\n"
		"5:	ldr x15, [x13], #8\n"
		"	str x15, [x12], #8\n"
		"	subs x14, x14, #1\n"
		"	b.ne 5b\n"
		TACHO_RSEQ_COMMIT
		:
		: TACHO_RSEQ_ARGS, [dst] "r"(dst), [head] "r"(head),
		  [src] "r"(src), [n] "r"(n)
		: "x12", "x13", "x14", "x15", "x16", "x17", "cc", "memory"
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
	__asm__ __volatile__ goto (
		TACHO_RSEQ_BEGIN
		"	mov x10, %[range]\n"
		"	mov x11, %[n]\n"
		"	cbz x11, 8f\n"
		"5:	ldp x12, x13, [x10], #16\n"
		"	ldr x14, [x10], #8\n"
		"	cbz x14, 7f\n"
		"6:	ldr x15, [x13], #8\n"
		"	str x15, [x12], #8\n"
		"	subs x14, x14, #1\n"
		"	b.ne 6b\n"
		"7:	subs x11, x11, #1\n"
		"	b.ne 5b\n"
		"8:\n"
		TACHO_RSEQ_COMMIT
		:
		: TACHO_RSEQ_ARGS, [range] "r"(range), [n] "r"(n)
		: "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
		  "cc", "memory"
		: fail);
	return 0;
fail:
	return -1;
}
