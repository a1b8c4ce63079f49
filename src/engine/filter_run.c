// SPDX-License-Identifier: MIT
/*
 * filter_run.c - running a compiled filter on one event.
 *
 * 1. The machine
 *
 *	A program is an array of instructions (filter_prog.h).  Each loads one field, compares
 *	it, and either jumps or continues with the next one:
 *
 *		i = (test(insn[i]) == insn[i].when) ? insn[i].target : i + 1
 *
 *	until i >= nr: nr is no, nr + 1 is yes.  "a == 1 && (b < 5 || c == 2)" becomes
 *
 *		0	a == 1		when 0 goto 3 (no)
 *		1	b < 5		when 1 goto 4 (yes)
 *		2	c == 2		when 1 goto 4 (yes)
 *					(falls to 3: no)
 *
 *	There are no registers and no stack: && and || are jumps alone (filter_compile.c), and a !
 *	has become the other `when`.  A jump only goes forward, so a run has at most nr steps
 *	and each predicate is evaluated at most once, in the order of the text.
 *
 * 2. Safety
 *
 *	Filters run in signal handlers of traced programs, on events of any length.  So
 *	nothing here allocates or locks, and nothing is read outside the event and the
 *	program.  Two checks make that so:
 *
 *	V1  filter_verify.c, once for each program: opcodes, targets (forward, at most nr + 1),
 *	    operands inside the program, at <= end <= need
 *	V2  here, for each event: the event has at least `need` bytes, so that all fixed
 *	    parts are there.  If it is shorter, run_slow() compares each instruction's
 *	    `end`; a field that is not there yields no, whatever the comparison is
 *
 *	What a field refers to (__data_loc, __rel_loc, pointers, masks) is checked where it is
 *	used: the event contains these numbers, so they may be anything.
 *
 * 3. Speed
 *
 *	Nearly all filters compare numbers and short fixed texts.  For these, fast_test() is one
 *	switch whose cases are one load and one comparison; it calls no function, so the
 *	loop of tacho_filter_run() needs no stack frame and keeps its state in registers.
 *	Opcodes from OP_SLOW on call functions.  The first one that is met
 *	hands the rest of the run to run_slow(), which is not inlined for that reason and
 *	continues at the same instruction.  tests/bench/filter_bench.c measures both.
 */
#include "engine/filter_prog.h"

#include <string.h>

#include "base/compiler.h"
#include "event/value.h"

/* Text of the event: up to room bytes, up to a NUL. */
struct text {
	const char *s;
	size_t room;
};

/*
 * Matches one [class] at pat, after its '['.  Returns 1 or 0, with *end after the ']'; -1 if
 * there is no ']'.  Only '!' inverts a class; a ']' at its start is one of its characters; '\'
 * has no special meaning.
 */
static int class_match(const char *pat, unsigned char c, const char **end)
{
	bool inverted = *pat == '!', hit = false;

	pat += inverted;
	do {
		unsigned char lo = (unsigned char)*pat++, hi = lo;

		if (!lo)
			return -1;
		if (pat[0] == '-' && pat[1] != ']') {
			hi = (unsigned char)pat[1];
			if (!hi)
				return -1;
			pat += 2;
		}
		hit |= lo <= c && c <= hi;
	} while (*pat != ']');
	*end = pat + 1;
	return hit != inverted;
}

/* The pattern's element at *pat, which is no '*', against c. */
static bool one_match(const char **pat, char c)
{
	const char *p = *pat;
	int hit;

	*pat = p + 1;
	switch (*p) {
	case '?':
		return true;
	case '[':
		hit = class_match(p + 1, (unsigned char)c, pat);
		return hit < 0 ? c == '[' : hit;
	case '\\':
		if (!p[1])
			return false;
		*pat = p + 2;
		return p[1] == c;
	default:
		return *p == c;
	}
}

/*
 * Whether the rest of the pattern matches the end of the text.  A '\' at the end of a pattern is
 * ignored.
 */
static bool pattern_ends(const char *pat)
{
	while (*pat == '*')
		pat++;
	return !*pat || (pat[0] == '\\' && !pat[1]);
}

/* Only the last '*' must ever be tried again: it can match whatever earlier ones did not. */
static bool glob_match(const char *pat, const char *s, const char *end)
{
	const char *star = NULL, *from = NULL;

	while (s < end) {
		if (*pat == '*') {
			star = ++pat;
			from = s;
			if (!*pat)
				return true;
		} else if (*pat && one_match(&pat, *s)) {
			s++;
		} else if (star) {
			pat = star;
			s = ++from;
		} else {
			return false;
		}
	}
	return pattern_ends(pat);
}

static bool text_full(struct text t, const char *pat, size_t len)
{
	/* with its NUL, unless the text has no room for one */
	size_t n = len + 1 < t.room ? len + 1 : t.room;

	return t.room ? !memcmp(t.s, pat, n) : !len;
}

static bool text_match(struct text t, const char *pat,
		       const struct filter_operand_ref *ref)
{
	size_t len = ref->len, n;

	if (ref->how == MATCH_FULL)
		return text_full(t, pat, len);
	if (ref->how == MATCH_FRONT)
		return t.room >= len && !memcmp(t.s, pat, len);
	n = strnlen(t.s, t.room);
	if (ref->how == MATCH_END)
		return n >= len && !memcmp(t.s + n - len, pat, len);
	if (ref->how == MATCH_MIDDLE)
		return n >= len && memmem(t.s, n, pat, len);
	return glob_match(pat, t.s, t.s + n);
}

static bool text_test(const struct tacho_filter *f,
		      const struct filter_insn *in, struct text t)
{
	return text_match(t, filter_operand_at(f, in), &in->u.ref) !=
	       in->u.ref.inverted;
}

static bool loc_test(const struct tacho_filter *f, const struct filter_insn *in,
		     const struct tacho_rec *rec, bool relative)
{
	size_t size;
	const unsigned char *p = tacho_value_loc(rec->raw, rec->len, in->at,
						 relative, &size);

	return p && text_test(f, in, (struct text){ (const char *)p, size });
}

/* Tests the string that a pointer points to. */
static TACHO_NOINLINE bool pointer_test(const struct tacho_filter *f,
					const struct filter_insn *in,
					const struct tacho_rec *rec)
{
	const struct tacho_names *names = rec->names;
	uint64_t addr = tacho_load_u64(rec->raw + in->at);
	char s[TACHO_FILTER_STRING_MAX];
	long n = -1;

	if (in->op == OP_USER && names->user_string)
		n = names->user_string(names->arg, rec->pid, addr, s,
				       sizeof(s) - 1);
	else if (in->op == OP_KERNEL && names->kernel_string)
		n = names->kernel_string(names->arg, addr, s, sizeof(s) - 1);
	if (n < 0)
		return false;
	if ((size_t)n > sizeof(s) - 1)
		n = sizeof(s) - 1;
	s[n] = '\0';
	return text_test(f, in, (struct text){ s, (size_t)n + 1 });
}

static TACHO_NOINLINE bool comm_test(const struct tacho_filter *f,
				     const struct filter_insn *in,
				     const struct tacho_rec *rec)
{
	const struct tacho_names *names = rec->names;
	char comm[16];

	if (!names->comm || !names->comm(names->arg, rec->pid, comm))
		return false;
	comm[15] = '\0';
	return text_test(f, in, (struct text){ comm, sizeof(comm) });
}

/* The set {v} and an operand's set. */
static bool cpu_set_test(const struct tacho_filter *f,
			 const struct filter_insn *in, uint64_t v)
{
	const uint64_t *set = filter_operand_at(f, in);
	uint32_t nr = in->u.ref.len;
	bool inside, others = false;

	if (v >= FILTER_CPUS_MAX)
		return false;
	inside = v / 64 < nr && set[v / 64] >> v % 64 & 1;
	if (in->u.ref.how == FILTER_CMP_AND)
		return inside;
	for (uint32_t i = 0; i < nr; i++)
		others |= set[i] & ~(i == v / 64 ? 1ull << v % 64 : 0);
	return (inside && !others) == (in->u.ref.how == FILTER_CMP_EQ);
}

/* Eight bytes of a mask; bytes after its end are 0. */
static uint64_t mask_word(const unsigned char *p, size_t size, size_t i)
{
	uint64_t word = 0;

	if (i * 8 < size)
		memcpy(&word, p + i * 8, size - i * 8 < 8 ? size - i * 8 : 8);
	return word;
}

/* A field's bits and an operand's set. */
static TACHO_NOINLINE bool mask_test(const struct tacho_filter *f,
				     const struct filter_insn *in,
				     const struct tacho_rec *rec)
{
	const uint64_t *set = filter_operand_at(f, in);
	size_t size, nr = in->u.ref.len, words;
	const unsigned char *p = tacho_value_loc(rec->raw, rec->len, in->at,
						 in->op == OP_MASK_REL, &size);
	bool common = false, equal = true;

	if (!p)
		return false;
	words = (size + 7) / 8 > nr ? (size + 7) / 8 : nr;
	for (size_t i = 0; i < words; i++) {
		uint64_t bits = mask_word(p, size, i);
		uint64_t other = i < nr ? set[i] : 0;

		common |= (bits & other) != 0;
		equal &= bits == other;
	}
	if (in->u.ref.how == FILTER_CMP_AND)
		return common;
	return equal == (in->u.ref.how == FILTER_CMP_EQ);
}

static bool range_test(const struct tacho_filter *f,
		       const struct filter_insn *in,
		       const struct tacho_rec *rec)
{
	const struct filter_range *range = filter_operand_at(f, in);
	uint64_t addr = tacho_load_u64(rec->raw + in->at);

	if (range->function)
		return rec->names->in_function &&
		       rec->names->in_function(rec->names->arg, rec, addr,
					       (uint32_t)range->function);
	return addr >= range->start && addr < range->end;
}

static bool cpu_test(const struct tacho_filter *f, const struct filter_insn *in,
		     const struct tacho_rec *rec)
{
	int32_t cpu = (int32_t)rec->cpu, v = (int32_t)in->u.value;

	if (rec->cpu == UINT32_MAX)
		return false;
	switch (in->op) {
	case OP_CPU_EQ:
		return cpu == v;
	case OP_CPU_NE:
		return cpu != v;
	case OP_CPU_LT:
		return cpu < v;
	case OP_CPU_LE:
		return cpu <= v;
	case OP_CPU_GT:
		return cpu > v;
	case OP_CPU_GE:
		return cpu >= v;
	default:
		return cpu_set_test(f, in, rec->cpu);
	}
}

/* The instructions that call functions. */
static bool slow_test(const struct tacho_filter *f,
		      const struct filter_insn *in, const struct tacho_rec *rec)
{
	const unsigned char *at = rec->raw + in->at;

	switch (in->op) {
	case OP_SET_U8:
		return cpu_set_test(f, in, *at);
	case OP_SET_U16:
		return cpu_set_test(f, in, tacho_load_u16(at));
	case OP_SET_U32:
		return cpu_set_test(f, in, tacho_load_u32(at));
	case OP_SET_U64:
		return cpu_set_test(f, in, tacho_load_u64(at));
	case OP_FIX:
		return text_test(f, in, (struct text){ (const char *)at,
						       (size_t)in->end - in->at });
	case OP_LOC:
	case OP_REL:
		return loc_test(f, in, rec, in->op == OP_REL);
	case OP_FLEX:
		return rec->len >= in->at &&
		       text_test(f, in, (struct text){ (const char *)at,
						       rec->len - in->at });
	case OP_KERNEL:
	case OP_USER:
		return pointer_test(f, in, rec);
	case OP_COMM:
		return comm_test(f, in, rec);
	case OP_MASK_LOC:
	case OP_MASK_REL:
		return mask_test(f, in, rec);
	case OP_IN:
		return range_test(f, in, rec);
	case OP_NOT_IN:
		return !range_test(f, in, rec);
	default:
		return cpu_test(f, in, rec);
	}
}

/* Whether n bytes are the same, n > 0: compares words from both ends, which may overlap. */
static TACHO_ALWAYS_INLINE bool bytes_equal(const unsigned char *a,
					    const unsigned char *b, size_t n)
{
	if (n >= 8) {
		for (size_t i = 0; i + 8 < n; i += 8)
			if (tacho_load_u64(a + i) != tacho_load_u64(b + i))
				return false;
		return tacho_load_u64(a + n - 8) == tacho_load_u64(b + n - 8);
	}
	if (n >= 4)
		return tacho_load_u32(a) == tacho_load_u32(b) &&
		       tacho_load_u32(a + n - 4) == tacho_load_u32(b + n - 4);
	return a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1];
}

/* The instructions that most filters consist of; none needs a stack frame. */
static TACHO_ALWAYS_INLINE bool fast_test(const struct tacho_filter *f,
					  const struct filter_insn *in,
					  const unsigned char *raw)
{
	const unsigned char *at = raw + in->at;
	uint64_t v = in->u.value;

	switch (in->op) {
#define CASE(name, t, type, bytes, expr)				\
	case OP_##name##_##t: {						\
		type x;							\
									\
		memcpy(&x, at, bytes);					\
		return expr;						\
	}
#define X(t, type, bytes)						\
	CASE(EQ, t, type, bytes, x == (type)v)				\
	CASE(NE, t, type, bytes, x != (type)v)				\
	CASE(AND, t, type, bytes, (x & (type)v) != 0)
	FILTER_UNSIGNED(X)
#undef X
#define X(t, type, bytes)						\
	CASE(LT, t, type, bytes, x < (type)v)				\
	CASE(LE, t, type, bytes, x <= (type)v)				\
	CASE(GT, t, type, bytes, x > (type)v)				\
	CASE(GE, t, type, bytes, x >= (type)v)
	FILTER_UNSIGNED(X)
	FILTER_SIGNED(X)
#undef X
#undef CASE
	case OP_FIX_EQ:
		return bytes_equal(at, filter_operand_at(f, in),
				   in->u.ref.len);
	default:	/* OP_FIX_NE */
		return !bytes_equal(at, filter_operand_at(f, in),
				    in->u.ref.len);
	}
}

/* Continues at instruction i, with instructions of any kind. */
static TACHO_NOINLINE bool run_slow(const struct tacho_filter *f,
				    const struct tacho_rec *rec, uint32_t i)
{
	while (i < f->nr) {
		const struct filter_insn *in = &f->insn[i];
		bool yes = false;

		if (in->end <= rec->len)
			yes = in->op < OP_SLOW ? fast_test(f, in, rec->raw) :
						 slow_test(f, in, rec);
		i = yes == in->when ? in->target : i + 1;
	}
	return i > f->nr;
}

bool tacho_filter_run(const struct tacho_filter *f, const struct tacho_rec *rec)
{
	const unsigned char *raw = rec->raw;
	uint32_t nr = f->nr, i = 0;

	if (tacho_unlikely(rec->len < f->need))
		return run_slow(f, rec, 0);
	while (i < nr) {
		const struct filter_insn *in = &f->insn[i];

		if (in->op >= OP_SLOW)
			return run_slow(f, rec, i);
		if (fast_test(f, in, raw) == in->when)
			i = in->target;
		else
			i++;
	}
	return i > nr;
}
