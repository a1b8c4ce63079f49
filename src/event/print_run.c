// SPDX-License-Identifier: MIT
#include "event/print.h"

#include <errno.h>
#include <string.h>

#include "base/digits.h"
#include "base/text.h"
#include "event/print_ast.h"
#include "event/print_packed.h"
#include "event/print_prog.h"
#include "event/value.h"

/* The state of one run; see print_prog.h. */
struct run {
	const struct tacho_print *prog;
	const unsigned char *raw;
	size_t len;
	const struct tacho_print_env *env;
	struct tacho_buf *out;
	const unsigned char *span;
	size_t span_len;
	size_t mark;
	struct tacho_spec spec;
	uint64_t r[TACHO_PRINT_REGS + 1];	/* OP_BIN reads r + 1 */
};

/* Most numbers in events are small; 20 bytes are free at `to`. */
static inline char *put_dec(char *to, uint64_t v)
{
	char tmp[20], *p;
	size_t n;

	if (v < 10) {
		*to = (char)('0' + v);
		return to + 1;
	}
	if (v < 100)
		return tacho_digits_two(to, (uint32_t)v);
	p = tacho_digits_before(tmp + sizeof(tmp), v);
	n = (size_t)(tmp + sizeof(tmp) - p);
	memcpy(to, p, n);
	return to + n;
}

static inline char *put_sdec(char *to, int64_t v)
{
	if (v >= 0)
		return put_dec(to, (uint64_t)v);
	*to = '-';
	return put_dec(to + 1, 0 - (uint64_t)v);
}

static inline char *put_hex(char *to, uint64_t v, unsigned int digits)
{
	unsigned int n = v ? (67 - (unsigned int)__builtin_clzll(v)) / 4 : 1;
	char *end;

	if (n < digits)
		n = digits;
	end = to + n;
	for (char *p = end; p > to; v >>= 4)
		*--p = "0123456789abcdef"[v & 15];
	return end;
}

static void absent(struct run *run)
{
	tacho_buf_put(run->out, "(absent)", 8);
}

static void span_loc(struct run *run, uint32_t at, bool relative)
{
	run->span_len = 0;
	run->span = tacho_value_loc(run->raw, run->len, at, relative,
				    &run->span_len);
	if (!run->span)
		run->span_len = 0;
}

static void span_add(struct run *run, uint64_t by)
{
	if (run->span && by <= run->span_len) {
		run->span += by;
		run->span_len -= by;
		return;
	}
	run->span = NULL;
	run->span_len = 0;
}

static uint64_t span_load(const struct run *run, uint64_t index, uint32_t size,
			  bool is_signed)
{
	if (!run->span || index >= run->span_len / size)
		return 0;
	return tacho_value_load(run->span + index * size, size, is_signed);
}

static void put_string(struct run *run)
{
	if (run->span)
		tacho_buf_put(run->out, run->span,
			      strnlen((const char *)run->span, run->span_len));
	else
		absent(run);
}

static void put_text(struct run *run, uint32_t at, uint32_t len)
{
	tacho_buf_put(run->out, run->prog->pool + at, len);
}

static void buf_put_0x(struct tacho_buf *out, uint64_t v)
{
	char tmp[18] = "0x";
	char *end = put_hex(tmp + 2, v, 1);

	tacho_buf_put(out, tmp, (size_t)(end - tmp));
}

static void put_0x(struct run *run, uint64_t v)
{
	buf_put_0x(run->out, v);
}

/* As the kernel's trace_print_flags_seq(): a mask of 0 matches anything. */
static void put_flags(struct run *run, uint64_t v, const struct tacho_table *t)
{
	const struct tacho_entry *e = run->prog->entries + t->first;
	bool first = true;

	for (uint32_t i = 0; i < t->nr && v; i++) {
		if ((v & e[i].value) != e[i].value)
			continue;
		if (!first)
			put_text(run, t->delim, t->delim_len);
		first = false;
		put_text(run, e[i].at, e[i].len);
		v &= ~e[i].value;
	}
	if (!v)
		return;
	if (!first)
		put_text(run, t->delim, t->delim_len);
	put_0x(run, v);
}

static const struct tacho_entry *symbolic_find(const struct tacho_entry *e,
					       const struct tacho_table *t,
					       uint64_t v)
{
	uint32_t lo = 0, hi = t->nr;

	if (v < t->nr && e[v].value == v && t->sorted)
		return &e[v];
	if (!t->sorted || t->nr <= 8) {
		for (uint32_t i = 0; i < t->nr; i++)
			if (e[i].value == v)
				return &e[i];
		return NULL;
	}
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e[mid].value < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->nr && e[lo].value == v ? &e[lo] : NULL;
}

/* An empty name counts as none, as in the kernel. */
static void put_symbolic(struct run *run, uint64_t v,
			 const struct tacho_table *t)
{
	const struct tacho_entry *e =
		symbolic_find(run->prog->entries + t->first, t, v);

	if (e && e->len)
		put_text(run, e->at, e->len);
	else
		put_0x(run, v);
}

/* env may give the name with its module: "name [module]". */
void tacho_print_symbol(const struct tacho_print_env *env, uint64_t addr,
			bool offset, struct tacho_buf *out)
{
	const char *name = NULL, *module;
	uint64_t start = addr, size = 0;
	size_t n;

	if (env && env->symbol)
		name = env->symbol(env->arg, addr, &start);
	if (!name) {
		buf_put_0x(out, addr);
		return;
	}
	module = strchr(name, ' ');
	n = module ? (size_t)(module - name) : strlen(name);
	tacho_buf_put(out, name, n);
	if (offset) {
		/* the name is only borrowed until the next call */
		char tail[64];
		size_t nt = module ? strnlen(module, sizeof(tail)) : 0;

		if (nt)
			memcpy(tail, module, nt);
		tacho_buf_putc(out, '+');
		buf_put_0x(out, addr - start);
		if (env->symbol_size)
			size = env->symbol_size(env->arg, start);
		if (size) {
			tacho_buf_putc(out, '/');
			buf_put_0x(out, size);
		}
		tacho_buf_put(out, tail, nt);
	} else if (module) {
		tacho_buf_puts(out, module);
	}
}

/* As in the kernel, NULL and error values are printed unchanged. */
void tacho_print_pointer(const struct tacho_print_env *env, uint64_t addr,
			 struct tacho_buf *out)
{
	if (env && env->hash_key && addr && addr < (uint64_t)-4095)
		addr = (uint32_t)tacho_siphash_u64(env->hash_key, addr);
	tacho_buf_put_hex(out, addr, 16);
}

/* Appends a symbol as in a stack trace: without its module. */
static void put_caller(struct run *run, uint64_t addr)
{
	const struct tacho_print_env *env = run->env;
	const char *name = NULL;
	uint64_t start;

	/* what the kernel records in place of its own trampoline */
	if (addr == INT32_MAX) {
		tacho_buf_puts(run->out, "[FTRACE TRAMPOLINE]");
		return;
	}
	if (env && env->frame && env->frame(env->arg, addr, run->out))
		return;
	if (env && env->symbol)
		name = env->symbol(env->arg, addr, &start);
	if (name) {
		tacho_buf_put(run->out, name, strcspn(name, " "));
	} else {
		tacho_buf_put(run->out, "0x", 2);
		tacho_buf_put_hex(run->out, addr, 8);
	}
}

/* Appends return addresses up to the end of the span or the end marker, one per line. */
static void put_stack(struct run *run, uint32_t size)
{
	if (!run->span) {
		absent(run);
		return;
	}
	for (size_t i = 0; run->span_len - i >= size; i += size) {
		uint64_t addr = tacho_value_load(run->span + i, size, false);

		if (!addr || addr == (size == 8 ? UINT64_MAX : UINT32_MAX))
			return;
		tacho_buf_put(run->out, " => ", 4);
		put_caller(run, addr);
		tacho_buf_putc(run->out, '\n');
	}
}

static void put_kernel_string(struct run *run, uint64_t addr)
{
	const char *s = NULL;

	if (!addr) {
		tacho_buf_put(run->out, "(null)", 6);
		return;
	}
	if (run->env && run->env->string)
		s = run->env->string(run->env->arg, addr);
	if (s)
		tacho_buf_puts(run->out, s);
	else
		put_0x(run, addr);
}

/* Without the format, appends its address and the bytes. */
static void put_packed(struct run *run, uint64_t fmt, unsigned int long_size)
{
	const char *s = NULL;

	if (!run->span) {
		absent(run);
		return;
	}
	if (run->env && run->env->string)
		s = run->env->string(run->env->arg, fmt);
	if (s) {
		tacho_packed_print(s, run->span, run->span_len, long_size,
				   run->env, run->out);
		return;
	}
	tacho_buf_puts(run->out, "fmt=");
	put_0x(run, fmt);
	tacho_buf_puts(run->out, " args=");
	tacho_text_hex(run->out, run->span, run->span_len, ' ');
}

static void put_error(struct run *run, uint64_t v)
{
	const char *name = v >= (uint64_t)-4095 ?
			   strerrorname_np((int)(0 - v)) : NULL;

	if (name) {
		tacho_buf_putc(run->out, '-');
		tacho_buf_puts(run->out, name);
	} else {
		tacho_buf_put_hex(run->out, v, 16);
	}
}

static void put_hexb(struct run *run, uint64_t n, char sep)
{
	if (!run->span) {
		absent(run);
		return;
	}
	/* a negative length means no bytes, as in the kernel */
	if ((int64_t)n < 0)
		n = 0;
	tacho_text_hex(run->out, run->span,
		       n < run->span_len ? n : run->span_len, sep);
}

static void put_bits(struct run *run, uint64_t bits, bool list)
{
	uint64_t all = run->span_len * 8;

	if (!run->span) {
		absent(run);
		return;
	}
	bits = (int64_t)bits < 0 ? 0 : bits < all ? bits : all;
	if (list)
		tacho_text_bitmap_list(run->out, run->span, bits);
	else
		tacho_text_bitmap(run->out, run->span, bits);
}

static void put_array(struct run *run, const uint64_t *r, bool counted)
{
	size_t bytes = run->span_len;
	uint64_t el = r[1];

	if (!run->span) {
		absent(run);
		return;
	}
	if (counted && (int64_t)r[0] <= 0)
		bytes = 0;
	else if (counted && el && r[0] < bytes / el)
		bytes = r[0] * el;
	tacho_text_array(run->out, run->span, bytes, el);
}

static void put_dump(struct run *run, const struct tacho_insn *i)
{
	const uint64_t *r = &run->r[i->r];
	struct tacho_hexdump h = {
		.prefix = run->prog->pool + i->x,
		.prefix_len = i->n,
		.prefix_type = r[0] < 3 ? (int)r[0] : 0,
		.row = r[1] == 32 ? 32 : 16,
		.group = r[2] == 2 || r[2] == 4 || r[2] == 8 ?
			 (uint32_t)r[2] : 1,
		.ascii = r[4],
	};
	size_t n = r[3] < run->span_len ? r[3] : run->span_len;

	tacho_buf_putc(run->out, '\n');
	if (run->span)
		tacho_text_hexdump(run->out, &h, run->span, n);
}

static uint64_t swapped(uint64_t v, uint32_t size)
{
	switch (size) {
	case 2:
		return __builtin_bswap16((uint16_t)v);
	case 4:
		return __builtin_bswap32((uint32_t)v);
	default:
		return __builtin_bswap64(v);
	}
}

static uint64_t real_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static void set_width(struct tacho_spec *s, uint64_t v)
{
	int32_t w = (int32_t)v;

	if (w < 0) {
		s->flags |= TACHO_SPEC_LEFT;
		w = w == INT32_MIN ? INT32_MAX : -w;
	}
	s->width = w;
}

/*
 * The rare operations, kept out of the inner loop for the sake of its registers, in three kinds:
 * those that set a register or the span, ...
 */
static TACHO_NOINLINE void slow_load(struct run *run, const struct tacho_insn *i)
{
	uint64_t *r = &run->r[i->r];

	switch (i->op) {
	case OP_SWAP:
		*r = swapped(*r, i->n);
		break;
	case OP_JIFFIES:
		*r = (uint32_t)((unsigned __int128)*r * i->imm / run->env->hz);
		break;
	case OP_LEN:
		*r = tacho_load_u32(run->raw + i->x) >> 16;
		break;
	case OP_SPAN_FIX:
		run->span = run->raw + i->x;
		run->span_len = i->imm;
		break;
	case OP_SPAN_LOC:
	case OP_SPAN_REL:
		span_loc(run, i->x, i->op == OP_SPAN_REL);
		break;
	case OP_SPAN_FLEX:
		run->span = run->raw + i->x;
		run->span_len = run->len - i->x;
		break;
	case OP_SPAN_ADD:
		span_add(run, *r);
		break;
	case OP_LDX:
		*r = span_load(run, *r, i->n, i->x);
		break;
	case OP_WIDEN:
		*r = real_bits(tacho_value_bits(*r, 4));
		break;
	case OP_NARROW:
		*r = real_bits((double)(float)tacho_value_bits(*r, 8));
		break;
	default:
		break;
	}
}

/* ... those that append text of their own form, ... */
static TACHO_NOINLINE void slow_put(struct run *run, const struct tacho_insn *i)
{
	const struct tacho_print *prog = run->prog;
	uint64_t *r = &run->r[i->r];

	switch (i->op) {
	case OP_STR:
		put_string(run);
		break;
	case OP_KSTR:
		put_kernel_string(run, *r);
		break;
	case OP_FLAGS:
		put_flags(run, *r, &prog->tables[i->x]);
		break;
	case OP_SYMBOLIC:
		put_symbolic(run, *r, &prog->tables[i->x]);
		break;
	case OP_SYM:
		tacho_print_symbol(run->env, *r, i->n, run->out);
		break;
	case OP_PTR:
		tacho_print_pointer(run->env, *r, run->out);
		break;
	case OP_ERR:
		put_error(run, *r);
		break;
	case OP_HEXB:
		put_hexb(run, *r, (char)i->n);
		break;
	case OP_BITS:
		put_bits(run, *r, i->n);
		break;
	case OP_BITMASK:
		put_bits(run, run->span_len * 8, false);
		break;
	case OP_ARRAY:
		put_array(run, r, i->n);
		break;
	case OP_DUMP:
		put_dump(run, i);
		break;
	case OP_EXT:
		tacho_text_ext(run->out, (enum tacho_ext)i->r, prog->pool + i->x,
			       i->n, run->span, run->span_len);
		break;
	case OP_STACK:
		put_stack(run, i->n);
		break;
	case OP_PACKED:
		put_packed(run, *r, i->n);
		break;
	default:
		break;
	}
}

/* ... and those of a conversion with flags, width or precision. */
static TACHO_NOINLINE void slow_spec(struct run *run, const struct tacho_insn *i)
{
	uint64_t *r = &run->r[i->r];

	switch (i->op) {
	case OP_SPEC:
		run->spec = run->prog->specs[i->x];
		break;
	case OP_WIDTH:
		set_width(&run->spec, *r);
		break;
	case OP_PREC:
		run->spec.prec = (int32_t)*r < 0 ? -1 : (int32_t)*r;
		break;
	case OP_NUM:
		tacho_text_number(run->out, &run->spec, *r);
		break;
	case OP_REAL:
		tacho_text_real(run->out, &run->spec, tacho_value_bits(*r, 8));
		break;
	case OP_MARK:
		run->mark = run->out->len;
		break;
	case OP_PAD:
		tacho_text_pad(run->out, &run->spec, run->mark);
		break;
	default:
		break;
	}
}

/*
 * The inner loop keeps the output's position in `o` and its end in `end`, and stores both in the
 * buffer (sync) around every call that appends.  WANT(n) makes room for n bytes; it ends the run
 * if the buffer is full, which the buffer's error shows.
 */
#define SYNC()	(out->len = (size_t)(o - out->data))
#define LOAD()	(o = out->data + out->len, end = out->data + out->room)
#define SLOW(call) do { \
	SYNC(); \
	call; \
	if (tacho_buf_error(out)) \
		return; \
	LOAD(); \
} while (0)
/* Appends a number of at most n characters by fast(), or by slow if room is short. */
#define NUMBER(n, fast, slow_call) do { \
	if (tacho_likely((size_t)(end - o) >= (n))) \
		o = fast; \
	else \
		SLOW(slow_call); \
} while (0)
#define DEC_S(v)	NUMBER(21, put_sdec(o, (v)), tacho_buf_put_s64(out, (v)))
#define DEC_U(v)	NUMBER(20, put_dec(o, (v)), tacho_buf_put_u64(out, (v)))
#define WANT(n) do { \
	if (tacho_unlikely((size_t)(end - o) < (size_t)(n))) { \
		SYNC(); \
		if (!tacho_buf_reserve(out, (n))) \
			return; \
		LOAD(); \
	} \
} while (0)

/* Copies 16 bytes at a time where both sides have room. */
static inline void copy16(char *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i += 16)
		memcpy(to + i, (const char *)from + i, 16);
}

/*
 * One long function on purpose: if it were split, i, o and end would be in memory instead of
 * registers, and printing spends most of its time here.
 */
static void run_program(struct run *run)
{
	const struct tacho_insn *code = run->prog->code, *i = code;
	const unsigned char *raw = run->raw;
	struct tacho_buf *out = run->out;
	uint64_t *r = run->r;
	char *o, *end;

	LOAD();
	for (;; i++) {
		switch ((enum tacho_print_op)i->op) {
		case OP_END:
			SYNC();
			return;
		case OP_JMP:
			i = code + i->x - 1;
			break;
		case OP_JZ:
			if (!r[i->r])
				i = code + i->x - 1;
			break;
		case OP_SET:
			r[i->r] = i->imm;
			break;
		case OP_LD_U8:
			r[i->r] = raw[i->x];
			break;
		case OP_LD_S8:
			r[i->r] = (uint64_t)(int8_t)raw[i->x];
			break;
		case OP_LD_U16:
			r[i->r] = tacho_load_u16(raw + i->x);
			break;
		case OP_LD_S16:
			r[i->r] = (uint64_t)(int16_t)tacho_load_u16(raw + i->x);
			break;
		case OP_LD_U32:
			r[i->r] = tacho_load_u32(raw + i->x);
			break;
		case OP_LD_S32:
			r[i->r] = (uint64_t)(int32_t)tacho_load_u32(raw + i->x);
			break;
		case OP_LD_64:
			r[i->r] = tacho_load_u64(raw + i->x);
			break;
		case OP_BIN:
			r[i->r] = tacho_int_binop((enum tacho_binop)i->n,
						  r[i->r], r[i->r + 1]);
			break;
		case OP_BIN_IMM:
			r[i->r] = tacho_int_binop((enum tacho_binop)i->n,
						  r[i->r], i->imm);
			break;
		case OP_UN:
			r[i->r] = tacho_int_unop((enum tacho_unop)i->n,
						 r[i->r]);
			break;
		case OP_CUT:
			r[i->r] = tacho_int_cut(r[i->r], (uint8_t)i->n, i->x);
			break;
		case OP_LIT:
			if (tacho_likely((size_t)(end - o) >= i->n + 16u)) {
				copy16(o, run->prog->pool + i->x, i->n);
				o += i->n;
				break;
			}
			WANT(i->n);
			memcpy(o, run->prog->pool + i->x, i->n);
			o += i->n;
			break;
		case OP_DEC_S:
			DEC_S((int64_t)r[i->r]);
			break;
		case OP_DEC_U:
			DEC_U(r[i->r]);
			break;
		case OP_DEC_S32:
			DEC_S((int32_t)tacho_load_u32(raw + i->x));
			break;
		case OP_DEC_U32:
			DEC_U(tacho_load_u32(raw + i->x));
			break;
		case OP_DEC_S64:
			DEC_S((int64_t)tacho_load_u64(raw + i->x));
			break;
		case OP_DEC_U64:
			DEC_U(tacho_load_u64(raw + i->x));
			break;
		case OP_HEX:
			NUMBER(16, put_hex(o, r[i->r], i->n),
			       tacho_buf_put_hex(out, r[i->r], i->n));
			break;
		case OP_CHAR:
			WANT(1);
			*o++ = (char)r[i->r];
			break;
		case OP_STR_FIX: {
			size_t n = strnlen((const char *)raw + i->x, i->n);

			WANT(n);
			memcpy(o, raw + i->x, n);
			o += n;
			break;
		}
		case OP_STR_LOC:
			span_loc(run, i->x, false);
			SLOW(put_string(run));
			break;
		case OP_SWAP: case OP_JIFFIES: case OP_LEN: case OP_SPAN_FIX:
		case OP_SPAN_LOC: case OP_SPAN_REL: case OP_SPAN_FLEX:
		case OP_SPAN_ADD: case OP_LDX: case OP_WIDEN: case OP_NARROW:
			SLOW(slow_load(run, i));
			break;
		case OP_SPEC: case OP_WIDTH: case OP_PREC: case OP_NUM:
		case OP_REAL: case OP_MARK: case OP_PAD:
			SLOW(slow_spec(run, i));
			break;
		case OP_STR: case OP_KSTR: case OP_FLAGS: case OP_SYMBOLIC:
		case OP_SYM: case OP_PTR: case OP_ERR: case OP_HEXB: case OP_BITS:
		case OP_BITMASK: case OP_ARRAY: case OP_DUMP: case OP_EXT:
		case OP_STACK: case OP_PACKED:
		default:
			SLOW(slow_put(run, i));
			break;
		}
	}
}

void tacho_print_text(const struct tacho_type *type, const void *raw, size_t len,
		      const struct tacho_print_env *env, struct tacho_buf *out)
{
	const struct tacho_print *prog = type->print;
	struct run run;

	if (!prog || len < prog->need ||
	    (prog->uses_hz && !(env && env->hz))) {
		tacho_print_fields(type, raw, len, out);
		return;
	}
	/* so that the output's pointers are never NULL */
	if (!tacho_buf_reserve(out, 1))
		return;
	run.prog = prog;
	run.raw = raw;
	run.len = len;
	run.env = env;
	run.out = out;
	run.span = NULL;
	run.span_len = 0;
	run.mark = out->len;
	run_program(&run);
}

void tacho_print_run(const struct tacho_type *type, const void *raw, size_t len,
		     const struct tacho_print_env *env, struct tacho_buf *out)
{
	size_t from = out->len;

	tacho_print_text(type, raw, len, env, out);
	/* the newline belongs to the line, not to the text */
	if (out->len > from && out->data[out->len - 1] == '\n')
		out->len--;
}
