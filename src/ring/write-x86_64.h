/* SPDX-License-Identifier: MIT */
/*
 * The fast path of write.h for x86-64, included by it alone.
 *
 * The whole write is one sequence that begins before the CPU is read.  A thread that is
 * interrupted anywhere in it takes the slow path, which starts again at W1.  So nothing is
 * compared again before the commit.  What it needs to know of a lane's open sub-buffer is
 * in the process's own table r->fast (see ring.h, section 8), so that no load
 * waits for more than one other.
 *
 * The order of the steps is that of latency.  rdtsc waits for all that precedes it
 * and overlaps with what follows; so the clock is read first (W2 before W1,
 * which a sequence may do), and the loads that lead to the record's place come
 * after it.  Measured with a payload of 16 bytes: 16.4 ns when the chain was
 * ring -> lane -> cursor -> buffer -> place, 12 ns now, rdtsc alone being 8.
 *
 * Registers:
 *	rdx	W2: the clock; then the record's first word
 *	r9	the lane
 *	r10	W1: the cursor; its distance from the entry's first
 *	[r]	the ring; then the cursor to commit
 *	rcx	with any number of words: their room in a cursor
 *	rax	this CPU's entry of r->fast; then the record's end
 *
 * Labels as in sys/sequence-x86_64.h: 1 start, 2 after the commit, 3
 * descriptor, 4 abort handler.
 */
#ifndef TACHO_RING_WRITE_H
#error "include ring/write.h"
#endif

_Static_assert(offsetof(struct tacho_lane, cursor) == 0, "lane");
_Static_assert(sizeof(struct tacho_ring_fast) == 32, "shll $5");
_Static_assert(TACHO_CURSOR_EVENTS_BITS == 17 && TACHO_CURSOR_WORDS_BITS == 17 &&
	       TACHO_CURSOR_WORDS_SHIFT == 17, "the cursor's layout");

/* W2 and W1: rdx, r9, rax (entry), r10 (cursor). */
#define TACHO_FAST_BEGIN						\
	".pushsection __rseq_cs, \"aw\"\n\t"				\
	".balign 32\n\t"						\
	"3:\n\t"							\
	".long 0, 0\n\t"						\
	".quad 1f, 2f - 1f, 4f\n\t"					\
	".popsection\n\t"						\
	"movq %c[area](%[r]), %%r10\n\t"				\
	"leaq 3b(%%rip), %%rax\n\t"					\
	"movq %%rax, %%fs:%c[cs](%%r10)\n\t"				\
	"1:\n\t"							\
	"rdtsc\n\t"							\
	"shlq $32, %%rdx\n\t"						\
	"orq %%rax, %%rdx\n\t"						\
	"movl %%fs:%c[id](%%r10), %%eax\n\t"				\
	"cmpl %c[cpus](%[r]), %%eax\n\t"				\
	"jae %l[slow]\n\t"						\
	"movl %%eax, %%r9d\n\t"						\
	"shlq %[lane_shift], %%r9\n\t"					\
	"addq %c[lanes](%[r]), %%r9\n\t"				\
	"shll $5, %%eax\n\t"						\
	"addq %c[fast](%[r]), %%rax\n\t"				\
	"movq (%%r9), %%r10\n\t"

/*
 * W3: the cursor is in the sub-buffer of the entry, and so is the cursor after the record.
 * Both are checked: adding the record to a corrupt cursor just before the sub-buffer could
 * end inside it, and the record would begin before it.  `add` adds the
 * record's words, in a cursor's place, to r10.  Then `fast_until`; rax becomes the end
 * of the record.
 */
#define TACHO_FAST_ROOM(add)						\
	"subq %c[first](%%rax), %%r10\n\t"				\
	"cmpq %c[room](%%rax), %%r10\n\t"				\
	"jae %l[slow]\n\t"						\
	add "\n\t"							\
	"cmpq %c[room](%%rax), %%r10\n\t"				\
	"jae %l[slow]\n\t"						\
	"shrq $17, %%r10\n\t"						\
	"movq %c[sub](%%rax), %%rax\n\t"				\
	"leaq (%%rax, %%r10, 8), %%rax\n\t"				\
	"cmpq %%rdx, %c[until](%%r9)\n\t"				\
	"jbe %l[slow]\n\t"

#define TACHO_FAST_COMMIT						\
	"movq %[r], (%%r9)\n\t"					\
	"2:\n\t"							\
	".pushsection __rseq_failure, \"ax\"\n\t"			\
	".byte 0x0f, 0xb9, 0x3d\n\t"					\
	".long 0x53053053\n\t"						\
	"4:\n\t"							\
	"jmp %l[slow]\n\t"						\
	".popsection\n\t"

#define TACHO_FAST_ARGS							\
	[area] "i"(offsetof(struct tacho_ring, rseq_offset)),		\
	[cs] "i"(offsetof(struct rseq, rseq_cs)),			\
	[id] "i"(offsetof(struct rseq, cpu_id)),			\
	[cpus] "i"(offsetof(struct tacho_ring, fast_cpus)),		\
	[lanes] "i"(offsetof(struct tacho_ring, lanes)),		\
	[fast] "i"(offsetof(struct tacho_ring, fast)),			\
	[first] "i"(offsetof(struct tacho_ring_fast, first)),		\
	[sub] "i"(offsetof(struct tacho_ring_fast, sub)),		\
	[room] "i"(offsetof(struct tacho_ring_fast, room)),		\
	[until] "i"(offsetof(struct tacho_lane, fast_until)),		\
	[lane_shift] "i"(TACHO_LANE_SHIFT)

#define TACHO_FAST_CLOBBERS "rax", "rdx", "r9", "r10", "cc", "memory"

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast(struct tacho_ring *r, const uint64_t *raw, uint64_t words)
{
	__asm__ __volatile__ goto (
		TACHO_FAST_BEGIN
		"leaq 1(%[n]), %%rcx\n\t"
		"shlq $17, %%rcx\n\t"
		"leaq 1(%%r10, %%rcx), %[r]\n\t"
		TACHO_FAST_ROOM("addq %%rcx, %%r10")
		"shlq $16, %%rdx\n\t"
		"leal 8(, %[n], 8), %%r10d\n\t"
		"orq %%r10, %%rdx\n\t"
		"rorq $16, %%rdx\n\t"			/* time | size << 48 */
		/* the record's words, counted from -words to 0 */
		"xorl %%r10d, %%r10d\n\t"
		"subq %[n], %%r10\n\t"
		"movq %%rdx, -8(%%rax, %%r10, 8)\n\t"	/* W4 */
		"5:\n\t"
		"movq (%[end], %%r10, 8), %%rdx\n\t"
		"movq %%rdx, (%%rax, %%r10, 8)\n\t"
		"incq %%r10\n\t"
		"jnz 5b\n\t"
		TACHO_FAST_COMMIT
		: [r] "+&r"(r)
		: TACHO_FAST_ARGS, [n] "r"(words), [end] "r"(raw + words)
		: "rcx", TACHO_FAST_CLOBBERS
		: slow);
	return 0;
slow:
	return -1;
}

/*
 * The same for records of a constant length, their words in registers: they need not go
 * through memory.
 */
#define TACHO_FAST_WORDS(total, stores, ...)				\
	__asm__ __volatile__ goto (					\
		TACHO_FAST_BEGIN					\
		"leaq %c[step](%%r10), %[r]\n\t"			\
		TACHO_FAST_ROOM("addq %[grow], %%r10")			\
		"shlq $16, %%rdx\n\t"					\
		"orq %[size], %%rdx\n\t"				\
		"rorq $16, %%rdx\n\t"					\
		"movq %%rdx, -8*" #total "(%%rax)\n\t"			\
		stores							\
		TACHO_FAST_COMMIT					\
		: [r] "+&r"(r)						\
		: TACHO_FAST_ARGS, [size] "i"(8 * (total)),		\
		  [grow] "i"((total) << TACHO_CURSOR_WORDS_SHIFT),	\
		  [step] "i"(((total) << TACHO_CURSOR_WORDS_SHIFT) + 1),	\
		  __VA_ARGS__						\
		: TACHO_FAST_CLOBBERS					\
		: slow)

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast2(struct tacho_ring *r, uint64_t w0, uint64_t w1)
{
	TACHO_FAST_WORDS(3,
		"movq %[w0], -16(%%rax)\n\t"
		"movq %[w1], -8(%%rax)\n\t",
		[w0] "r"(w0), [w1] "r"(w1));
	return 0;
slow:
	return -1;
}

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast3(struct tacho_ring *r, uint64_t w0, uint64_t w1,
		       uint64_t w2)
{
	TACHO_FAST_WORDS(4,
		"movq %[w0], -24(%%rax)\n\t"
		"movq %[w1], -16(%%rax)\n\t"
		"movq %[w2], -8(%%rax)\n\t",
		[w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2));
	return 0;
slow:
	return -1;
}

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast4(struct tacho_ring *r, uint64_t w0, uint64_t w1,
		       uint64_t w2, uint64_t w3)
{
	TACHO_FAST_WORDS(5,
		"movq %[w0], -32(%%rax)\n\t"
		"movq %[w1], -24(%%rax)\n\t"
		"movq %[w2], -16(%%rax)\n\t"
		"movq %[w3], -8(%%rax)\n\t",
		[w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [w3] "r"(w3));
	return 0;
slow:
	return -1;
}

static TACHO_ALWAYS_INLINE int
tacho_ring_write_fast5(struct tacho_ring *r, uint64_t w0, uint64_t w1,
		       uint64_t w2, uint64_t w3, uint64_t w4)
{
	TACHO_FAST_WORDS(6,
		"movq %[w0], -40(%%rax)\n\t"
		"movq %[w1], -32(%%rax)\n\t"
		"movq %[w2], -24(%%rax)\n\t"
		"movq %[w3], -16(%%rax)\n\t"
		"movq %[w4], -8(%%rax)\n\t",
		[w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [w3] "r"(w3),
		[w4] "r"(w4));
	return 0;
slow:
	return -1;
}
