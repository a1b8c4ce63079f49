// SPDX-License-Identifier: MIT
/*
 * variable.c - translates "order->customer.name" to a fetch argument of the kernel.
 *
 * 1. The two languages
 *
 *	DWARF describes where a variable is by a program for a stack machine, and its type by a
 *	tree.  A uprobe's argument can do much less: take a register (%di), add a constant to
 *	an address and load from it, nested (+8(+0(%di))), load from the file's data (@+0x4010), or
 *	be a constant (\5).  It cannot add two registers, multiply, or compare.
 *	Translation is possible because nearly all locations are "register + constant" or
 *	"address", and members, pointers and constant indexes only add constants and load.
 *	Anything else is rejected with a message that names the obstacle.
 *
 * 2. Four steps
 *
 *	A1  find_variable(): the variable, in the scopes around the address from the inside
 *	    out; with `function` only from that function's scope on, which may be inlined
 *	A2  place(): where it is at this address.  Its location list has an entry for
 *	    the address; first_op() and locate() translate its operations
 *	A3  walk(): ->, . and [N] over its type; each changes the offset or loads
 *	A4  write_fetch(): text and type (u32, string, x64[4], b3@5/32) for the kernel
 *
 *	Between the steps a value is one of
 *
 *		VALUE		text is an expression that yields the value, plus offset
 *		MEMORY		the value is at address text + offset
 *		FILE_DATA	the value is in the file's own data, "@+" offset
 *		CONSTANT	offset is the value
 *
 *	follow() is the load: the value becomes the address in `text`, and a new offset starts at
 *	0.  Example, order in %di, customer at 16, name at 8 of it:
 *
 *		order			VALUE	"%di" + 0
 *		->customer		MEMORY	"%di" + 16
 *		.name			MEMORY	"%di" + 24
 *		text			"+24(%di)"; its string: "+0(+24(%di))"
 *
 * 3. Where DWARF is not enough
 *
 *	Frame base	DW_OP_fbreg is relative to the function's frame base, most often the CFA,
 *			which the call frame information gives for the address (cfa())
 *	First instruction	Code that was compiled without optimisation has one place for the
 *			whole function, on the stack, which is filled by its first instructions.
 *			At the entry the parameter is still where the caller left it, so the
 *			calling convention says (not_stored_yet(), abi.c)
 *	No location	A constant is DW_AT_const_value; without it the compiler has removed
 *			the variable
 *	DW_OP_stack_value	the address that was computed is itself the value: MEMORY becomes
 *			VALUE.  With an offset, the kernel could not compute the sum
 *	Bit fields	the container and the bits in it.  DW_AT_bit_offset (DWARF 3) counts from
 *			the container's other end, DW_AT_data_bit_offset does not
 *	@+ offsets	the kernel counts from the mapping that has the probe, so an address of the
 *			file becomes an offset as if the file were mapped at once
 *			(file_relative())
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/dwarf_priv.h"

struct value {
	enum { VALUE, MEMORY, FILE_DATA, CONSTANT } kind;
	char text[TACHO_FETCH_MAX];
	int64_t offset;
	Dwarf_Die type;		/* without names and qualifiers */
	Dwarf_Die named;	/* as written */
	bool has_type;
	unsigned int bits, bit;	/* a bit field: how many, from where */
};

/* One query. */
struct ask {
	struct tacho_object *o;
	struct tacho_dwarf *w;
	uint64_t address;
	const char *function;	/* whose variable; NULL: the innermost */
	const char *path;
	const char *at;		/* read position */
	struct tacho_diag *d;
};

static int wrong(const struct ask *q, const char *where, int err,
		 const char *what, const char *name, int len)
{
	if (len > 80)
		len = 80;
	return tacho_diag(q->d, err, (uint64_t)(where - q->path), "'%.*s' %s",
			  len, name, what);
}

/* Records an error about the part of the path read so far. */
static int wrong_here(const struct ask *q, int err, const char *what)
{
	return wrong(q, q->path, err, what, q->path, (int)(q->at - q->path));
}

static bool set_type(struct value *v, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	v->has_type = dwarf_attr_integrate(die, DW_AT_type, &attr) &&
		      dwarf_formref_die(&attr, &v->named) &&
		      !dwarf_peel_type(&v->named, &v->type);
	return v->has_type;
}

/* The value becomes what it points to: offset counts from there. */
static int follow(const struct ask *q, struct value *v)
{
	char text[TACHO_FETCH_MAX];
	int n = 0;

	if (v->kind == MEMORY)
		n = snprintf(text, sizeof(text), "%+" PRIi64 "(%s)", v->offset,
			     v->text);
	else if (v->kind == FILE_DATA)
		n = snprintf(text, sizeof(text), "@+%" PRIi64, v->offset);
	else if (v->kind == CONSTANT)
		n = snprintf(text, sizeof(text), "\\%" PRIi64, v->offset);
	if (n >= (int)sizeof(text))
		return wrong_here(q, -ENOTSUP, "is too far away to be fetched");
	if (v->kind != VALUE) {
		memcpy(v->text, text, sizeof(text));
		v->offset = 0;
	}
	v->kind = MEMORY;
	return 0;
}

/* ---- 2: places ---- */

static int in_register(const struct ask *q, struct value *v, unsigned int reg,
		       bool memory, int64_t offset)
{
	const char *name = symbol_register(q->o->image.machine, reg);

	if (!name)
		return wrong_here(q, -ENOTSUP,
			"is in a register that the kernel cannot fetch");
	(void)snprintf(v->text, sizeof(v->text), "%%%s", name);
	v->kind = memory ? MEMORY : VALUE;
	v->offset = offset;
	return 0;
}

static int frame_base(const struct ask *q, Dwarf_Die *function, struct value *v);

static int cfa(const struct ask *q, struct value *v)
{
	Dwarf_CFI *table[2] = { q->w->eh_frame, dwarf_getcfi(q->w->dwarf) };

	for (int i = 0; i < 2; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *op;
		size_t n;
		int ret = -1;

		if (!table[i] ||
		    dwarf_cfi_addrframe(table[i], q->address, &frame))
			continue;
		if (!dwarf_frame_cfa(frame, &op, &n) && n == 1) {
			unsigned int atom = op[0].atom;

			if (atom == DW_OP_bregx)
				ret = in_register(q, v,
					(unsigned int)op[0].number, true,
					(int64_t)op[0].number2);
			else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
				ret = in_register(q, v, atom - DW_OP_breg0,
					true, (int64_t)op[0].number);
		}
		free(frame);
		if (!ret)
			return 0;
	}
	return wrong_here(q, -ENODATA,
			  "is on the stack, and nothing tells where that is");
}

/* The first operation of a location. */
static int first_op(const struct ask *q, Dwarf_Die *function,
		    Dwarf_Attribute *attr, const Dwarf_Op *op, struct value *v)
{
	unsigned int atom = op->atom;
	Dwarf_Attribute result;
	Dwarf_Addr address;

	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		return in_register(q, v, atom - DW_OP_reg0, false, 0);
	if (atom == DW_OP_regx)
		return in_register(q, v, (unsigned int)op->number, false, 0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return in_register(q, v, atom - DW_OP_breg0, true,
				   (int64_t)op->number);
	if (atom == DW_OP_bregx)
		return in_register(q, v, (unsigned int)op->number, true,
				   (int64_t)op->number2);
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		v->kind = CONSTANT;
		v->offset = (int64_t)(atom - DW_OP_lit0);
		return 0;
	}
	switch (atom) {
	case DW_OP_fbreg:
		if (frame_base(q, function, v))
			return q->d ? q->d->err : -ENODATA;
		v->offset += (int64_t)op->number;
		return 0;
	case DW_OP_call_frame_cfa:
		return cfa(q, v);
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (atom == DW_OP_addr)
			address = op->number;
		else if (dwarf_getlocation_attr(attr, op, &result) ||
			 dwarf_formaddr(&result, &address))
			break;
		v->kind = FILE_DATA;
		v->offset = (int64_t)address;
		return 0;
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u:
	case DW_OP_const2s: case DW_OP_const4u: case DW_OP_const4s:
	case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu:
	case DW_OP_consts:
		v->kind = CONSTANT;
		v->offset = (int64_t)op->number;
		return 0;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return wrong_here(q, -ENODATA, "is no longer there at this place: "
				  "the compiler has optimised it out");
	default:
		break;
	}
	return wrong_here(q, -ENOTSUP,
			  "is at a place that the kernel cannot fetch");
}

/* Translates a location's operations to the value's place. */
static int locate(const struct ask *q, Dwarf_Die *function,
		  Dwarf_Attribute *attr, const Dwarf_Op *op, size_t n,
		  struct value *v)
{
	int ret;

	if (!n)
		return wrong_here(q, -ENODATA, "is nowhere at this place: "
				  "the compiler has optimised it out");
	ret = first_op(q, function, attr, op, v);
	for (size_t i = 1; !ret && i < n; i++) {
		switch (op[i].atom) {
		case DW_OP_plus_uconst:
			if (v->kind == VALUE)
				return wrong_here(q, -ENOTSUP,
					"is at a place that the kernel cannot fetch");
			v->offset += (int64_t)op[i].number;
			break;
		case DW_OP_deref:
			ret = follow(q, v);
			break;
		case DW_OP_stack_value:
			/* the address itself is the value */
			if (v->kind == FILE_DATA)
				return wrong_here(q, -ENOTSUP,
					"is an address that the kernel cannot compute");
			if (v->kind == MEMORY)
				v->kind = VALUE;
			break;
		default:
			return wrong_here(q, -ENOTSUP,
				"is in pieces, or at a place that is computed");
		}
	}
	/* a constant that is not a value is an address */
	if (!ret && v->kind == CONSTANT && op[n - 1].atom != DW_OP_stack_value)
		v->kind = FILE_DATA;
	return ret;
}

static int frame_base(const struct ask *q, Dwarf_Die *function, struct value *v)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, q->address, &op, &n, 1) != 1 || n != 1)
		return wrong_here(q, -ENODATA,
			"is on the stack, and nothing tells where that is");
	if (op->atom == DW_OP_fbreg)
		return wrong_here(q, -ENODATA, "has no place");
	if (first_op(q, function, &attr, op, v))
		return q->d ? q->d->err : -ENODATA;
	/* a register as frame base holds the address */
	v->kind = MEMORY;
	return 0;
}

/* "@+" counts as if the whole file were mapped as the probe's code is. */
static int file_relative(const struct ask *q, struct value *v)
{
	uint64_t offset;

	if (tacho_object_offset(q->o, q->address, &offset))
		return wrong_here(q, -ENODATA, "has no place");
	v->offset = (int64_t)((uint64_t)v->offset - q->address + offset);
	return 0;
}

static bool is_parameter_at(Dwarf_Die *function, Dwarf_Die *var, int *nr)
{
	Dwarf_Die child;
	int n = 0;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (child.addr == var->addr) {
			*nr = n;
			return true;
		}
		n++;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static int by_convention(const struct ask *q, Dwarf_Die *function, int nr,
			 struct value *v)
{
	struct abi_place p;

	symbol_abi_param(q->o->image.machine, function, nr, &p);
	if (p.kind == ABI_NOWHERE)
		return wrong_here(q, -ENOTSUP, "is handed over in registers that "
			"the kernel cannot fetch: a floating-point number, or "
			"more than one register");
	return in_register(q, v, p.reg, p.kind != ABI_REGISTER, p.offset);
}

/*
 * Without optimisation, compilers give one location for the whole function.  It is valid only
 * after the first instructions have stored the parameter there.  At the first instruction the
 * parameter is still where the caller left it.
 */
static bool not_stored_yet(const struct ask *q, Dwarf_Die *function,
			   Dwarf_Attribute *attr, const Dwarf_Op *op, size_t n,
			   int *nr, Dwarf_Die *var)
{
	unsigned int form = dwarf_whatform(attr);
	Dwarf_Addr low;

	if (!n || (form != DW_FORM_exprloc && form != DW_FORM_block &&
		   form != DW_FORM_block1 && form != DW_FORM_block2 &&
		   form != DW_FORM_block4))
		return false;
	if (op[0].atom >= DW_OP_reg0 && op[0].atom <= DW_OP_reg31 &&
	    symbol_abi_argument(q->o->image.machine, op[0].atom - DW_OP_reg0))
		return false;
	return dwarf_tag(function) == DW_TAG_subprogram &&
	       !dwarf_entrypc(function, &low) && low == q->address &&
	       is_parameter_at(function, var, nr);
}

/* owner: the scope that has the variable. */
static int place(const struct ask *q, Dwarf_Die *scopes, int owner, int nr_scopes,
		 Dwarf_Die *var, struct value *v)
{
	int f = symbol_dwarf_function(scopes, owner, nr_scopes), nr, ret;
	Dwarf_Die *function = &scopes[f < nr_scopes ? f : owner];
	Dwarf_Attribute attr;
	Dwarf_Word constant;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr_integrate(var, DW_AT_location, &attr)) {
		if (!dwarf_attr_integrate(var, DW_AT_const_value, &attr) ||
		    dwarf_formudata(&attr, &constant))
			return wrong_here(q, -ENODATA, "is nowhere: the compiler "
					  "has optimised it out");
		v->kind = CONSTANT;
		v->offset = (int64_t)constant;
		return 0;
	}
	if (dwarf_getlocation_addr(&attr, q->address, &op, &n, 1) != 1)
		n = 0;
	if (not_stored_yet(q, function, &attr, op, n, &nr, var))
		return by_convention(q, function, nr, v);
	/* the frame is that of the function around all copies */
	while (f < nr_scopes && dwarf_tag(function) != DW_TAG_subprogram) {
		f = symbol_dwarf_function(scopes, f + 1, nr_scopes);
		function = &scopes[f < nr_scopes ? f : owner];
	}
	ret = locate(q, function, &attr, op, n, v);
	return ret || v->kind != FILE_DATA ? ret : file_relative(q, v);
}

/* ---- 3: paths ---- */

static size_t word_len(const char *s)
{
	size_t n = 0;

	if (isalpha((unsigned char)*s) || *s == '_')
		while (isalnum((unsigned char)s[n]) || s[n] == '_')
			n++;
	return n;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

/* Follows a pointer; the value is then what it points to. */
static int through_pointer(const struct ask *q, struct value *v)
{
	Dwarf_Die pointer = v->type;
	int ret;

	if (!is_pointer(dwarf_tag(&v->type)))
		return wrong_here(q, -EINVAL, "is no pointer");
	ret = follow(q, v);
	if (!ret && !set_type(v, &pointer))
		return wrong_here(q, -EINVAL, "points to nothing that is known");
	return ret;
}

static uint64_t number_attr(Dwarf_Die *die, unsigned int name, bool *has)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	*has = dwarf_attr_integrate(die, name, &attr) &&
	       !dwarf_formudata(&attr, &v);
	return v;
}

/* A bit field's container and its place in it. */
static int bit_member(const struct ask *q, Dwarf_Die *member, uint64_t at,
		      struct value *v)
{
	bool has, sized;
	uint64_t bits = number_attr(member, DW_AT_bit_size, &sized), from;
	Dwarf_Word size;

	if (!sized) {
		v->offset += (int64_t)at;
		return 0;
	}
	if (dwarf_aggregate_size(&v->type, &size) || !size || size > 8)
		return wrong_here(q, -ENOTSUP, "is a bit field of a strange type");
	from = number_attr(member, DW_AT_data_bit_offset, &has);
	if (!has) {
		/* the older form counts from the container's other end */
		from = number_attr(member, DW_AT_bit_offset, &has);
		from = 8 * at + 8 * size - from - bits;
	}
	if (!bits || bits > 64 || from % (8 * size) + bits > 8 * size)
		return wrong_here(q, -ENOTSUP, "lies across two words");
	v->offset += (int64_t)(from / (8 * size) * size);
	v->bits = (unsigned int)bits;
	v->bit = (unsigned int)(from % (8 * size));
	return 0;
}

/* Finds a member, in unnamed ones and base classes too; 1: found. */
static int find_member(const struct ask *q, struct value *v, Dwarf_Die *of,
		       const char *name, size_t len, uint64_t base, int depth)
{
	Dwarf_Die child, type;
	bool has;
	int ret;

	if (depth > 8 || dwarf_child(of, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		const char *its = dwarf_diename(&child);
		uint64_t at;

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		at = base + number_attr(&child, DW_AT_data_member_location, &has);
		if (its && strlen(its) == len && !memcmp(its, name, len)) {
			if (!set_type(v, &child))
				return wrong_here(q, -EINVAL, "has no type");
			ret = bit_member(q, &child, at, v);
			return ret ? ret : 1;
		}
		if ((!its || tag == DW_TAG_inheritance) &&
		    symbol_type_of(&child, &type)) {
			ret = find_member(q, v, &type, name, len, at, depth + 1);
			if (ret)
				return ret;
		}
	} while (!dwarf_siblingof(&child, &child));
	return 0;
}

static int step_member(struct ask *q, struct value *v, const char *name)
{
	size_t len = word_len(name);
	Dwarf_Die of;
	int ret;

	if (!len)
		return tacho_diag(q->d, -EINVAL, (uint64_t)(name - q->path),
				  "the name of a member is missing");
	if (!is_struct(dwarf_tag(&v->type)))
		return wrong_here(q, -EINVAL, "has no members");
	if (v->kind == VALUE || v->kind == CONSTANT)
		return wrong_here(q, -ENOTSUP, "is a structure in a register: "
				  "its members cannot be fetched");
	of = v->type;
	ret = find_member(q, v, &of, name, len, 0, 0);
	if (!ret)
		return wrong(q, name, -ENOENT, "is no member of it", name,
			     (int)len);
	q->at = name + len;
	return ret < 0 ? ret : 0;
}

static int step_index(struct ask *q, struct value *v)
{
	Dwarf_Die array = v->type;
	Dwarf_Word size;
	long index;
	char *end;
	int ret = 0;

	errno = 0;
	index = strtol(q->at + 1, &end, 0);
	if (end == q->at + 1 || *end != ']' || errno || index < 0 ||
	    index > INT32_MAX)
		return tacho_diag(q->d, -EINVAL, (uint64_t)(q->at - q->path),
				  "an index is a number in brackets");
	if (is_pointer(dwarf_tag(&v->type)))
		ret = through_pointer(q, v);
	else if (dwarf_tag(&v->type) != DW_TAG_array_type)
		return wrong_here(q, -EINVAL, "is no array");
	else if (!set_type(v, &array))
		return wrong_here(q, -EINVAL, "has no type");
	if (ret)
		return ret;
	if (dwarf_aggregate_size(&v->type, &size))
		return wrong_here(q, -EINVAL, "has elements of no known size");
	v->offset += (int64_t)index * (int64_t)size;
	q->at = end + 1;
	return 0;
}

static int walk(struct ask *q, struct value *v)
{
	int ret = 0;

	while (!ret && *q->at) {
		if (!v->has_type)
			return wrong_here(q, -EINVAL, "has no type");
		if (v->bits)
			return wrong_here(q, -EINVAL, "has no members");
		if (q->at[0] == '-' && q->at[1] == '>') {
			ret = through_pointer(q, v);
			ret = ret ? ret : step_member(q, v, q->at + 2);
		} else if (q->at[0] == '.') {
			int tag = dwarf_tag(&v->type);

			if (is_pointer(tag) && tag != DW_TAG_pointer_type)
				ret = through_pointer(q, v);
			else if (tag == DW_TAG_pointer_type)
				return wrong_here(q, -EINVAL,
						  "is a pointer: use ->");
			ret = ret ? ret : step_member(q, v, q->at + 1);
		} else if (q->at[0] == '[') {
			ret = step_index(q, v);
		} else {
			return tacho_diag(q->d, -EINVAL,
				(uint64_t)(q->at - q->path),
				"'%.40s' is neither ->MEMBER, .MEMBER nor [N]",
				q->at);
		}
	}
	return ret;
}

/* ---- 4: text ---- */

/* The kernel's name of a number's type; false: it has none. */
static bool number_type(Dwarf_Die *type, char *to, size_t size, bool *real)
{
	Dwarf_Attribute attr;
	Dwarf_Word bytes = 0, encoding = DW_ATE_unsigned;
	Dwarf_Die under;
	int tag = dwarf_tag(type);
	char kind = 'u';

	*real = false;
	if (dwarf_aggregate_size(type, &bytes))
		bytes = is_pointer(tag) ? 8 : 0;
	if (is_pointer(tag)) {
		kind = 'x';
	} else if (tag == DW_TAG_enumeration_type || tag == DW_TAG_base_type) {
		if (tag == DW_TAG_enumeration_type && symbol_type_of(type, &under))
			type = &under;
		if (dwarf_attr_integrate(type, DW_AT_encoding, &attr))
			(void)dwarf_formudata(&attr, &encoding);
		*real = encoding == DW_ATE_float ||
			encoding == DW_ATE_complex_float ||
			encoding == DW_ATE_decimal_float;
		if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
			kind = 's';
	} else {
		return false;
	}
	if (*real || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return false;
	(void)snprintf(to, size, "%c%u", kind, 8 * (unsigned int)bytes);
	return true;
}

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0, size;

	return dwarf_tag(type) == DW_TAG_base_type &&
	       !dwarf_aggregate_size(type, &size) && size == 1 &&
	       dwarf_attr_integrate(type, DW_AT_encoding, &attr) &&
	       !dwarf_formudata(&attr, &encoding) &&
	       (encoding == DW_ATE_signed_char ||
		encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

/* A type as in the source, as far as it has a name. */
static void write_ctype(Dwarf_Die *type, char *to, size_t size, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Die of;
	const char *name = dwarf_diename(type), *before = "", *behind = "";
	char inner[96] = "void";
	int tag = dwarf_tag(type);

	if (dwarf_attr(type, DW_AT_type, &attr) && depth < 6 && !name &&
	    dwarf_formref_die(&attr, &of))
		write_ctype(&of, inner, sizeof(inner), depth + 1);
	if (name) {
		before = tag == DW_TAG_structure_type ? "struct " :
			 tag == DW_TAG_union_type ? "union " :
			 tag == DW_TAG_enumeration_type ? "enum " : "";
		(void)snprintf(inner, sizeof(inner), "%s", name);
	} else if (tag == DW_TAG_pointer_type) {
		behind = inner[strlen(inner) - 1] == '*' ? "*" : " *";
	} else if (tag == DW_TAG_reference_type) {
		behind = " &";
	} else if (tag == DW_TAG_array_type) {
		behind = " []";
	} else if (tag == DW_TAG_const_type) {
		before = "const ";
	} else if (tag == DW_TAG_volatile_type) {
		before = "volatile ";
	} else if (tag != DW_TAG_restrict_type) {
		(void)snprintf(inner, sizeof(inner), "...");
	}
	/* a long one is cut */
	if (snprintf(to, size, "%s%s%s", before, inner, behind) >= (int)size)
		to[size - 1] = '\0';
}

/* Writes the address of the value, or the value itself. */
static int write_text(const struct ask *q, const struct value *v,
		      struct tacho_fetch *f)
{
	int n;

	if (v->kind == MEMORY)
		n = snprintf(f->text, sizeof(f->text), "%+" PRIi64 "(%s)",
			     v->offset, v->text);
	else if (v->kind == FILE_DATA)
		n = snprintf(f->text, sizeof(f->text), "@+%" PRIi64, v->offset);
	else if (v->kind == CONSTANT)
		n = snprintf(f->text, sizeof(f->text), "\\%" PRIi64, v->offset);
	else if (v->offset)
		return wrong_here(q, -ENOTSUP,
			"is a sum of a register and a number: the kernel "
			"cannot compute it");
	else
		n = snprintf(f->text, sizeof(f->text), "%s", v->text);
	if (n >= (int)sizeof(f->text))
		return wrong_here(q, -ENOTSUP, "is too far away to be fetched");
	return 0;
}

static int write_array(const struct ask *q, const struct value *v,
		       struct tacho_fetch *f)
{
	Dwarf_Die type = v->type, of;
	Dwarf_Word all, one;
	char element[16];
	bool real;

	if (v->kind != MEMORY && v->kind != FILE_DATA)
		return wrong_here(q, -ENOTSUP, "is an array in registers");
	if (!symbol_type_of(&type, &of) || dwarf_aggregate_size(&of, &one) || !one)
		return wrong_here(q, -ENOTSUP, "is an array of nothing known");
	if (is_char(&of)) {
		memcpy(f->string, f->text, sizeof(f->string));
		(void)snprintf(f->type, sizeof(f->type), "string");
		return 0;
	}
	if (!number_type(&of, element, sizeof(element), &real))
		return wrong_here(q, -ENOTSUP,
				  "is an array: name an element, [N]");
	if (dwarf_aggregate_size(&type, &all) || all / one < 1 || all / one > 64)
		return wrong_here(q, -ENOTSUP, "is an array of none or more than "
				  "64 elements: name one, [N]");
	(void)snprintf(f->type, sizeof(f->type), "%s[%u]", element,
		       (unsigned int)(all / one));
	return 0;
}

static int write_fetch(const struct ask *q, const struct value *v,
		       struct tacho_fetch *f)
{
	Dwarf_Die type = v->type, named = v->named, of;
	Dwarf_Word size;
	bool real = false;
	int ret, tag;

	*f = (struct tacho_fetch){ .text = "" };
	if (!v->has_type)
		return wrong_here(q, -ENOTSUP, "has no type");
	write_ctype(&named, f->ctype, sizeof(f->ctype), 0);
	ret = write_text(q, v, f);
	if (ret)
		return ret;
	tag = dwarf_tag(&type);
	if (tag == DW_TAG_array_type)
		return write_array(q, v, f);
	if (is_struct(tag))
		return wrong_here(q, -ENOTSUP, v->kind == VALUE ?
			"is a whole structure" :
			"is a whole structure: name a member, .MEMBER");
	if (v->bits && !dwarf_aggregate_size(&type, &size)) {
		(void)snprintf(f->type, sizeof(f->type), "b%u@%u/%u", v->bits,
			       v->bit, 8 * (unsigned int)size);
		return 0;
	}
	if (!number_type(&type, f->type, sizeof(f->type), &real))
		return wrong_here(q, -ENOTSUP, real ?
			"is a floating-point number: the kernel cannot fetch it" :
			"is of a type that the kernel cannot fetch");
	if (is_pointer(tag) && symbol_type_of(&type, &of) && is_char(&of))
		symbol_pointed_string(f);
	return 0;
}

/* ---- queries ---- */

static int known_machine(const struct ask *q)
{
	uint16_t m = q->o->image.machine;

	if (m == EM_X86_64 || m == EM_AARCH64)
		return 0;
	return tacho_diag(q->d, -ENOTSUP, 0,
		"'%s' is for a machine whose registers are not known: variables "
		"of it cannot be fetched", q->o->path);
}

/*
 * The scopes around an address, and the first one to search: the innermost, or that of the
 * requested function if an inlined copy begins at the same address.
 */
static int asked_scopes(struct tacho_dwarf *w, uint64_t address,
			const char *function, Dwarf_Die **scopes, int *from)
{
	int f, n = symbol_dwarf_scopes(w, address, scopes, &f);
	const char *name;

	*from = 0;
	while (function && f < n) {
		name = dwarf_diename(&(*scopes)[f]);
		if (name && !strcmp(name, function)) {
			/* its blocks are not skipped, unless in a copy */
			*from = *from ? f : 0;
			break;
		}
		*from = f + 1;
		f = symbol_dwarf_function(*scopes, f + 1, n);
	}
	if (f >= n)
		*from = 0;
	return n;
}

/* 1: the variable called by the first word of the path. */
static int find_variable(struct ask *q, struct value *v)
{
	size_t len = word_len(q->path);
	Dwarf_Die *scopes = NULL, var;
	char name[256];
	int n, from, owner, ret;

	if (!len || len >= sizeof(name))
		return tacho_diag(q->d, -EINVAL, 0,
				  "'%.40s' begins with no name", q->path);
	memcpy(name, q->path, len);
	name[len] = '\0';
	q->at = q->path + len;
	n = asked_scopes(q->w, q->address, q->function, &scopes, &from);
	if (!n)
		return tacho_diag(q->d, -ENODATA, 0,
			"'%s' has no debug information of the function there",
			q->o->path);
	owner = dwarf_getscopevar(scopes + from, n - from, name, 0, NULL, 0, 0,
				  &var);
	if (owner < 0)
		ret = wrong_here(q, -ENOENT, "is no variable there");
	else if (!set_type(v, &var))
		ret = wrong_here(q, -ENOTSUP, "has no type");
	else
		ret = place(q, scopes, from + owner, n, &var, v);
	free(scopes);
	return ret;
}

int tacho_object_variable(struct tacho_object *o, uint64_t address,
			  const char *function, const char *path,
			  struct tacho_fetch *f, struct tacho_diag *d)
{
	struct tacho_diag own = { 0 };
	struct ask q = { .o = o, .address = address, .function = function,
			 .path = path, .at = path, .d = d ? d : &own };
	struct value v = { .kind = VALUE };
	int ret;

	*f = (struct tacho_fetch){ .text = "" };
	q.w = symbol_dwarf(o, q.d);
	if (!q.w)
		return q.d->err;
	ret = known_machine(&q);
	ret = ret ? ret : find_variable(&q, &v);
	ret = ret ? ret : walk(&q, &v);
	return ret ? ret : write_fetch(&q, &v, f);
}

int tacho_object_return(struct tacho_object *o, uint64_t address,
			const char *path, struct tacho_fetch *f,
			struct tacho_diag *d)
{
	struct tacho_diag own = { 0 };
	struct ask q = { .o = o, .address = address, .path = path, .at = path,
			 .d = d ? d : &own };
	struct value v = { .kind = VALUE, .text = "$retval" };
	struct abi_place p;
	Dwarf_Die die;
	int ret;

	*f = (struct tacho_fetch){ .text = "" };
	q.w = symbol_dwarf(o, q.d);
	if (!q.w)
		return q.d->err;
	ret = known_machine(&q);
	if (ret)
		return ret;
	if (!symbol_dwarf_subprogram(q.w, address, &die))
		return tacho_diag(q.d, -ENODATA, 0,
			"'%s' has no debug information of the function there",
			o->path);
	if (!set_type(&v, &die))
		return tacho_diag(q.d, -ENOENT, 0,
				  "the function returns nothing");
	symbol_abi_return(o->image.machine, &die, &p);
	if (p.kind == ABI_NOWHERE)
		return tacho_diag(q.d, -ENOTSUP, 0,
			"the function returns a '%s' in registers that the "
			"kernel cannot fetch", dwarf_diename(&v.named) ?
			dwarf_diename(&v.named) : "structure");
	/* the address of what was returned in memory */
	if (p.kind == ABI_STACK)
		v.kind = MEMORY;
	ret = walk(&q, &v);
	return ret ? ret : write_fetch(&q, &v, f);
}

int tacho_object_params(struct tacho_object *o, uint64_t address,
			const char *function,
			int (*fn)(const char *name, void *arg), void *arg,
			struct tacho_diag *d)
{
	struct tacho_dwarf *w = symbol_dwarf(o, d);
	Dwarf_Die *scopes, child;
	int f, n, ret = 0;

	if (!w)
		return d ? d->err : -ENODATA;
	n = asked_scopes(w, address, function, &scopes, &f);
	f = n ? symbol_dwarf_function(scopes, f, n) : 0;
	if (!n)
		return tacho_diag(d, -ENODATA, 0,
			"'%s' has no debug information of the function there",
			o->path);
	if (!dwarf_child(&scopes[f], &child)) {
		do {
			const char *name = dwarf_diename(&child);

			if (dwarf_tag(&child) == DW_TAG_formal_parameter && name)
				ret = fn(name, arg);
		} while (!ret && !dwarf_siblingof(&child, &child));
	}
	free(scopes);
	return ret;
}
