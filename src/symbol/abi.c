// SPDX-License-Identifier: MIT
/*
 * abi.c - where parameters are at the first instruction of a function, by the
 * calling conventions of x86-64 (System V) and aarch64.
 *
 * Implements only the choice of registers: each parameter is cut into eightbytes, and each
 * eightbyte is of class INTEGER or FLOAT, or the whole parameter is in MEMORY.
 *
 *	x86-64	up to two eightbytes: in registers when enough of its kind are left,
 *		else on the stack; more than 16 bytes: on the stack.  A long double
 *		is on the stack.
 *	aarch64	up to 16 bytes: in x0..x7, or in v0..v7 when it is of floating-point
 *		numbers of one kind, up to four of them; more: a pointer to it.
 */
#include <string.h>

#include "symbol/dwarf_priv.h"

#define DEPTH_MAX	8
#define MEMBERS_MAX	64

bool symbol_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die named;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       dwarf_formref_die(&attr, &named) &&
	       !dwarf_peel_type(&named, type);
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_array_type;
}

/* The composition of a value. */
struct shape {
	uint64_t size;
	bool eightbyte_int[2];	/* it contains an integer */
	bool eightbyte_any[2];
	bool memory;		/* x86-64: it never goes to registers */
	unsigned int floats;	/* aarch64: how many, of one size */
	uint64_t float_size;
	bool mixed;		/* it has other parts */
};

static void add_scalar(struct shape *s, uint64_t at, uint64_t size, bool real)
{
	s->mixed |= !real || (s->float_size && s->float_size != size);
	s->float_size = size;
	s->floats += s->floats < 100;
	if (size > 8 && real)
		s->memory = true;	/* long double */
	for (uint64_t i = at / 8; i <= (at + (size ? size - 1 : 0)) / 8; i++) {
		if (i > 1) {
			s->memory = true;
			break;
		}
		s->eightbyte_any[i] = true;
		s->eightbyte_int[i] |= !real;
	}
}

static void add_type(struct shape *s, Dwarf_Die *type, uint64_t at, int depth);

static void add_members(struct shape *s, Dwarf_Die *type, uint64_t at, int depth)
{
	Dwarf_Die child, of;
	int n = 0;

	if (dwarf_child(type, &child))
		return;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word offset = 0;
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (++n > MEMBERS_MAX || !symbol_type_of(&child, &of)) {
			s->mixed = s->memory = true;
			return;
		}
		/* a static member is not part of the object */
		if (dwarf_hasattr(&child, DW_AT_external))
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr))
			(void)dwarf_formudata(&attr, &offset);
		else if (dwarf_attr(&child, DW_AT_data_bit_offset, &attr) &&
			 !dwarf_formudata(&attr, &offset))
			offset /= 8;
		add_type(s, &of, at + offset, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

static void add_array(struct shape *s, Dwarf_Die *type, uint64_t at, int depth)
{
	Dwarf_Word all, one;
	Dwarf_Die of;

	if (dwarf_aggregate_size(type, &all) || !symbol_type_of(type, &of) ||
	    dwarf_aggregate_size(&of, &one) || !one || all / one > MEMBERS_MAX) {
		s->mixed = s->memory = true;
		return;
	}
	for (uint64_t i = 0; i < all / one; i++)
		add_type(s, &of, at + i * one, depth + 1);
}

static void add_type(struct shape *s, Dwarf_Die *type, uint64_t at, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Word size = 0, encoding = 0;
	int tag = dwarf_tag(type);

	if (depth > DEPTH_MAX || s->memory) {
		s->mixed = true;
		return;
	}
	if (tag == DW_TAG_array_type) {
		add_array(s, type, at, depth);
		return;
	}
	if (is_aggregate(tag)) {
		add_members(s, type, at, depth);
		return;
	}
	if (dwarf_aggregate_size(type, &size) || !size)
		size = 8;
	if (tag == DW_TAG_base_type &&
	    dwarf_attr_integrate(type, DW_AT_encoding, &attr))
		(void)dwarf_formudata(&attr, &encoding);
	if (encoding == DW_ATE_complex_float) {
		add_scalar(s, at, size / 2, true);
		add_scalar(s, at + size / 2, size / 2, true);
		return;
	}
	add_scalar(s, at, size, encoding == DW_ATE_float);
}

static struct shape shape_of(Dwarf_Die *type)
{
	struct shape s = { .size = 8 };
	Dwarf_Attribute attr;
	Dwarf_Word size, cc = 0;

	/* C++ passes these by address */
	if (dwarf_attr(type, DW_AT_calling_convention, &attr) &&
	    !dwarf_formudata(&attr, &cc) && cc == DW_CC_pass_by_reference) {
		add_scalar(&s, 0, 8, false);
		return s;
	}
	if (!dwarf_aggregate_size(type, &size) && size)
		s.size = size;
	if (s.size > 16 && is_aggregate(dwarf_tag(type)))
		s.memory = true;
	else
		add_type(&s, type, 0, 0);
	if (s.size > 16)
		s.memory = true;
	return s;
}

bool symbol_abi_argument(uint16_t machine, unsigned int reg)
{
	if (machine == EM_X86_64)
		return reg == 5 || reg == 4 || reg == 1 || reg == 2 ||
		       reg == 8 || reg == 9;
	return machine == EM_AARCH64 && reg < 8;
}

/* The registers and stack used so far. */
struct regs {
	unsigned int ints, reals;
	uint64_t stack;
};

static void x86_place(struct regs *r, const struct shape *s,
		      struct abi_place *place)
{
	static const unsigned char order[6] = { 5, 4, 1, 2, 8, 9 };
	unsigned int eightbytes = (unsigned int)((s->size + 7) / 8), ints = 0, reals = 0;

	for (unsigned int i = 0; i < eightbytes && i < 2; i++) {
		if (s->eightbyte_int[i])
			ints++;
		else
			reals += s->eightbyte_any[i];
	}
	if (s->memory || r->ints + ints > 6 || r->reals + reals > 8) {
		if (s->memory && s->float_size == 16)
			r->stack = TACHO_ALIGN_UP(r->stack, 16u);
		*place = (struct abi_place){
			.kind = ABI_STACK, .reg = 7,
			/* the return address is on top */
			.offset = (int64_t)r->stack + 8,
		};
		r->stack += (s->size + 7) & ~UINT64_C(7);
		return;
	}
	place->kind = ints == 1 && !reals ? ABI_REGISTER : ABI_NOWHERE;
	if (place->kind == ABI_REGISTER)
		place->reg = order[r->ints];
	r->ints += ints;
	r->reals += reals;
}

static void arm_place(struct regs *r, const struct shape *s, bool aggregate,
		      struct abi_place *place)
{
	unsigned int words = (unsigned int)((s->size + 7) / 8);
	bool real = !s->mixed && s->floats && s->floats <= 4;
	bool pointed = aggregate && !real && s->size > 16;

	if (pointed)
		words = 1;
	if (real && r->reals + s->floats <= 8) {
		r->reals += s->floats;
		place->kind = ABI_NOWHERE;
		return;
	}
	if (!real && r->ints + words <= 8) {
		place->kind = pointed ? ABI_POINTED :
			words == 1 ? ABI_REGISTER : ABI_NOWHERE;
		place->reg = r->ints;
		r->ints += words;
		return;
	}
	/* the first that does not fit closes the registers of its kind */
	if (real)
		r->reals = 8;
	else
		r->ints = 8;
	*place = (struct abi_place){ .kind = pointed ? ABI_NOWHERE : ABI_STACK,
				     .reg = 31, .offset = (int64_t)r->stack };
	r->stack += 8 * (uint64_t)words;
}

static void place_one(uint16_t machine, struct regs *r, Dwarf_Die *type,
		      struct abi_place *place)
{
	struct shape s = shape_of(type);

	*place = (struct abi_place){ .kind = ABI_NOWHERE };
	if (machine == EM_X86_64)
		x86_place(r, &s, place);
	else if (machine == EM_AARCH64)
		arm_place(r, &s, is_aggregate(dwarf_tag(type)), place);
}

void symbol_abi_return(uint16_t machine, Dwarf_Die *function,
		       struct abi_place *place)
{
	struct regs r = { .stack = 0 };
	Dwarf_Die type;

	*place = (struct abi_place){ .kind = ABI_NOWHERE };
	if (!symbol_type_of(function, &type))
		return;
	place_one(machine, &r, &type, place);
	/* x86-64 returns its address, aarch64 does not */
	if (place->kind == ABI_POINTED)
		place->kind = ABI_NOWHERE;
}

void symbol_abi_param(uint16_t machine, Dwarf_Die *function, int n,
		      struct abi_place *place)
{
	struct regs r = { .stack = 0 };
	Dwarf_Die child, type;
	int i = 0;

	/* the address for a large result is a hidden parameter */
	symbol_abi_return(machine, function, place);
	if (place->kind == ABI_STACK && machine == EM_X86_64 &&
	    symbol_type_of(function, &type) && is_aggregate(dwarf_tag(&type)))
		r.ints = 1;
	*place = (struct abi_place){ .kind = ABI_NOWHERE };
	if (dwarf_child(function, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (!symbol_type_of(&child, &type))
			break;
		place_one(machine, &r, &type, place);
		if (i++ == n)
			return;
	} while (!dwarf_siblingof(&child, &child));
	*place = (struct abi_place){ .kind = ABI_NOWHERE };
}
