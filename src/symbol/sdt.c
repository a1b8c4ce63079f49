// SPDX-License-Identifier: MIT
/*
 * sdt.c - markers of sys/sdt.h in programs.
 *
 * Each is a note "stapsdt" of type 3:
 *
 *	address  base  semaphore	one word each, of the file's class
 *	provider\0 name\0 arguments\0
 *
 * base is the address of section .stapsdt.base when the file was linked: the difference to its
 * current address is how far prelinking moved the file.
 *
 * The arguments are separated by blanks, each SIZE@OPERAND: the size in bytes,
 * negative for a signed one, with an f for a floating-point one; the operand
 * is the assembler's: %edi, $5, -16(%rbp), x+4(%rip); x0, 5, [sp, 12] on aarch64.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scan.h"
#include "symbol/priv.h"

#define SDT_MAX		100000u		/* in one file */

struct sdt_load {
	struct tacho_object *o;
	const struct elf_image *im;
	uint64_t base;		/* of .stapsdt.base; 0: there is none */
	int err;
};

static uint64_t word(const struct elf_image *im, struct tacho_cur *c)
{
	return im->is64 ? tacho_cur_u64(c) : tacho_cur_u32(c);
}

static int keep(struct sdt_load *l, const struct tacho_sdt *s)
{
	struct tacho_object *o = l->o;
	struct tacho_sdt *p = o->sdt;

	if (!(o->nr_sdt & (o->nr_sdt - 1))) {
		/* a power of two: full */
		size_t room = o->nr_sdt ? 2 * o->nr_sdt : 1;

		p = tacho_arena_array(&o->arena, room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		if (o->nr_sdt)
			memcpy(p, o->sdt, o->nr_sdt * sizeof(*p));
		o->sdt = p;
	}
	p[o->nr_sdt++] = *s;
	return 0;
}

static bool take_note(const char *name, size_t name_len, uint32_t type,
		      const unsigned char *desc, size_t len, void *arg)
{
	struct sdt_load *l = arg;
	uint64_t base, semaphore;
	struct tacho_sdt s;
	struct tacho_cur c;

	if (name_len != 8 || memcmp(name, "stapsdt", 8) != 0 || type != 3)
		return true;
	tacho_cur_init(&c, desc, len);
	c.swap = l->im->swap;
	s = (struct tacho_sdt){ .address = word(l->im, &c) };
	base = word(l->im, &c);
	semaphore = word(l->im, &c);
	s.provider = tacho_cur_str(&c);
	s.name = tacho_cur_str(&c);
	s.args = tacho_cur_str(&c);
	if (c.why || !*s.provider || !*s.name)
		return true;
	if (l->base && base) {
		s.address += l->base - base;
		semaphore += semaphore ? l->base - base : 0;
	}
	if (tacho_object_offset(l->o, s.address, &s.offset))
		return true;
	if (semaphore && symbol_any_offset(l->o, semaphore, &s.semaphore))
		return true;
	l->err = keep(l, &s);
	return !l->err && l->o->nr_sdt < SDT_MAX;
}

int symbol_sdt_load(struct tacho_object *o)
{
	struct sdt_load l = { .o = o, .im = &o->image };
	struct elf_section s;
	const unsigned char *data;
	size_t len;

	if (symbol_section_named(l.im, ".stapsdt.base", &s))
		l.base = s.address;
	if (!symbol_section_named(l.im, ".note.stapsdt", &s))
		return 0;
	data = symbol_section_data(l.im, &s, &len);
	if (data)
		symbol_notes(l.im, data, len, take_note, &l);
	return l.err;
}

const struct tacho_sdt *tacho_object_sdt(const struct tacho_object *o,
					 size_t *nr)
{
	*nr = o->nr_sdt;
	return o->sdt;
}

/* ---- arguments ---- */

/* The next argument at *s; false after the last. */
static bool next_arg(const char **s, const char **arg, size_t *len)
{
	const char *p = *s + strspn(*s, " \t");
	bool inside = false;

	*arg = p;
	for (; *p && (inside || (*p != ' ' && *p != '\t')); p++) {
		if (*p == '[')
			inside = true;
		else if (*p == ']')
			inside = false;
	}
	*len = (size_t)(p - *arg);
	*s = p;
	return *len;
}

size_t tacho_sdt_nr_args(const struct tacho_sdt *s)
{
	const char *at = s->args, *arg;
	size_t n = 0, len;

	while (next_arg(&at, &arg, &len))
		n++;
	return n;
}

/* Scans the whole text as a number; false: not a number. */
static bool number(const char *s, size_t len, int64_t *v)
{
	uint64_t n;

	if (!tacho_scan_whole(s, len, TACHO_SCAN_MINUS | TACHO_SCAN_PLUS, &n))
		return false;
	*v = (int64_t)n;
	return true;
}

struct operand {
	const struct tacho_object *o;
	const struct tacho_sdt *sdt;
	const char *text;
	size_t len;
	struct tacho_fetch *f;
	struct tacho_diag *d;
};

static int cannot(const struct operand *op, int err, const char *why)
{
	return tacho_diag(op->d, err, 0, "argument '%.*s' of '%.60s:%.60s': %s",
			  (int)(op->len < 80 ? op->len : 80), op->text,
			  op->sdt->provider, op->sdt->name, why);
}

/*
 * Memory of the file itself at an address, for "@+": the kernel adds the position of the probe,
 * so the address is computed as if the whole file were mapped like the probe's segment.
 */
static int64_t from_probe(const struct operand *op, uint64_t address)
{
	return (int64_t)(address - op->sdt->address + op->sdt->offset);
}

/* SYMBOL, SYMBOL+N or N before (%rip): the address. */
static bool symbol_address(const struct operand *op, const char *s, size_t len,
			   uint64_t *address)
{
	size_t name = 0;
	int64_t add = 0;
	char copy[256];

	while (name < len && s[name] != '+' && s[name] != '-')
		name++;
	if (!name || name >= sizeof(copy) ||
	    (name < len && !number(s + name, len - name, &add)))
		return false;
	memcpy(copy, s, name);
	copy[name] = '\0';
	if (symbol_variable(op->o, copy, address))
		return false;
	*address += (uint64_t)add;
	return true;
}

static int memory(const struct operand *op, const char *open)
{
	size_t before = (size_t)(open - op->text), inner;
	const char *reg;
	uint64_t address;
	int64_t disp = 0;

	inner = op->len - before;
	if (inner < 4 || open[inner - 1] != ')' || open[1] != '%')
		return cannot(op, -ENOTSUP, "the kernel has no such address");
	if (memchr(open, ',', inner))
		return cannot(op, -ENOTSUP,
			      "the kernel cannot add an index register");
	reg = symbol_register_named(op->o->image.machine, open + 2, inner - 3);
	if (!reg)
		return cannot(op, -ENOTSUP, "the kernel has no such register");
	if (!strcmp(reg, "ip")) {
		if (!symbol_address(op, op->text, before, &address))
			return cannot(op, -ENOTSUP,
				      "there is no such variable");
		(void)snprintf(op->f->text, sizeof(op->f->text),
			       "@+%" PRIi64, from_probe(op, address));
		return 0;
	}
	if (before && !number(op->text, before, &disp))
		return cannot(op, -EINVAL, "this is no displacement");
	(void)snprintf(op->f->text, sizeof(op->f->text), "%+" PRIi64 "(%%%s)",
		       disp, reg);
	return 0;
}

static int x86_operand(const struct operand *op)
{
	const char *open = memchr(op->text, '(', op->len);
	const char *reg;
	int64_t v;

	if (op->text[0] == '$') {
		if (!number(op->text + 1, op->len - 1, &v))
			return cannot(op, -EINVAL, "this is no number");
		(void)snprintf(op->f->text, sizeof(op->f->text),
			       "\\%" PRIi64, v);
		return 0;
	}
	if (op->text[0] == '%') {
		reg = symbol_register_named(EM_X86_64, op->text + 1,
					    op->len - 1);
		if (!reg)
			return cannot(op, -ENOTSUP,
				      "the kernel has no such register");
		(void)snprintf(op->f->text, sizeof(op->f->text), "%%%s", reg);
		return 0;
	}
	if (!open)
		return cannot(op, -EINVAL, "this is no operand");
	return memory(op, open);
}

static int arm_operand(const struct operand *op)
{
	const char *s = op->text, *comma;
	const char *reg;
	size_t len = op->len;
	int64_t v = 0;

	if (number(s, len, &v)) {
		(void)snprintf(op->f->text, sizeof(op->f->text),
			       "\\%" PRIi64, v);
		return 0;
	}
	if (s[0] != '[') {
		reg = symbol_register_named(EM_AARCH64, s, len);
		if (!reg)
			return cannot(op, -ENOTSUP,
				      "the kernel has no such register");
		(void)snprintf(op->f->text, sizeof(op->f->text), "%%%s", reg);
		return 0;
	}
	if (len < 3 || s[len - 1] != ']')
		return cannot(op, -EINVAL, "this is no operand");
	s++;
	len -= 2;
	comma = memchr(s, ',', len);
	if (comma) {
		const char *n = comma + 1;

		while (n < s + len && (*n == ' ' || *n == '#'))
			n++;
		if (!number(n, (size_t)(s + len - n), &v))
			return cannot(op, -ENOTSUP,
				      "the kernel cannot add an index register");
		len = (size_t)(comma - s);
	}
	reg = symbol_register_named(EM_AARCH64, s, len);
	if (!reg)
		return cannot(op, -ENOTSUP, "the kernel has no such register");
	(void)snprintf(op->f->text, sizeof(op->f->text), "%+" PRIi64 "(%%%s)",
		       v, reg);
	return 0;
}

int tacho_sdt_arg(const struct tacho_object *o, const struct tacho_sdt *s,
		  size_t i, struct tacho_fetch *f, struct tacho_diag *d)
{
	struct operand op = { .o = o, .sdt = s, .f = f, .d = d };
	const char *at = s->args, *arg = NULL, *sign;
	int64_t size = o->image.is64 ? 8 : 4;
	size_t len = 0;

	*f = (struct tacho_fetch){ .text = "" };
	for (size_t n = 0; n <= i; n++)
		if (!next_arg(&at, &arg, &len))
			return tacho_diag(d, -ENOENT, 0,
				"'%.60s:%.60s' has no argument %zu",
				s->provider, s->name, i + 1);
	op.text = arg;
	op.len = len;
	sign = memchr(arg, '@', len);
	if (sign) {
		if (sign > arg && sign[-1] == 'f')
			return cannot(&op, -ENOTSUP,
				"the kernel cannot fetch floating-point numbers");
		if (!number(arg, (size_t)(sign - arg), &size))
			return cannot(&op, -EINVAL, "its size is no number");
		op.text = sign + 1;
		op.len = len - (size_t)(sign + 1 - arg);
	}
	if (!op.len || (size != 1 && size != 2 && size != 4 && size != 8 &&
			size != -1 && size != -2 && size != -4 && size != -8))
		return cannot(&op, -EINVAL, "its size is not 1, 2, 4 or 8");
	(void)snprintf(f->type, sizeof(f->type), "%c%" PRIi64,
		       size < 0 ? 's' : 'u', 8 * (size < 0 ? -size : size));
	if (o->image.machine == EM_X86_64) {
		int ret = x86_operand(&op);

		if (ret)
			return ret;
	} else if (o->image.machine == EM_AARCH64) {
		int ret = arm_operand(&op);

		if (ret)
			return ret;
	} else {
		return cannot(&op, -ENOTSUP,
			      "the registers of this machine are not known");
	}
	if (size == 8 || size == -8)
		symbol_pointed_string(f);
	return 0;
}
