/* SPDX-License-Identifier: MIT */
/* dwarf_priv.h - shared by the files that read DWARF through libdw. */
#ifndef TACHO_SYMBOL_DWARF_PRIV_H
#define TACHO_SYMBOL_DWARF_PRIV_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbol/priv.h"

struct tacho_dwarf {
	int fd, debug_fd;
	Elf *elf;		/* the file itself: it has .eh_frame */
	Dwarf *dwarf;		/* of the file or of its debug file */
	Dwarf_CFI *eh_frame;	/* NULL: none */
};

/* A compilation unit: its lines and its tree, which may be in a file of its own. */
struct dwarf_unit {
	Dwarf_CU *cu;
	Dwarf_Die head;		/* has the lines */
	Dwarf_Die tree;		/* has the functions */
};

/* The object's DWARF, opened at the first call; NULL with d filled in. */
struct tacho_dwarf *symbol_dwarf(struct tacho_object *o, struct tacho_diag *d);

/* The next unit after *u (zeroed: the first); false at the end. */
bool symbol_dwarf_next(struct tacho_dwarf *w, struct dwarf_unit *u);

/* The unit that an address is in; false when none is. */
bool symbol_dwarf_unit(struct tacho_dwarf *w, uint64_t address,
		       struct dwarf_unit *u);

/*
 * The scopes around an address, innermost first, to be freed: blocks, inlined
 * copies, the function that they were put into, the unit.  *function is the index
 * of the first that is a function or an inlined copy of one.  Returns their
 * number, 0 when there is no function.
 */
int symbol_dwarf_scopes(struct tacho_dwarf *w, uint64_t address,
			Dwarf_Die **scopes, int *function);

/* The index of the first function or inlined copy from i on; n: none. */
int symbol_dwarf_function(Dwarf_Die *scopes, int i, int n);

/* The function that an address is in, after all copies; false: none. */
bool symbol_dwarf_subprogram(struct tacho_dwarf *w, uint64_t address,
			     Dwarf_Die *die);

/* abi.c: where the convention puts a parameter at a function's first instruction. */
struct abi_place {
	enum { ABI_REGISTER, ABI_STACK, ABI_POINTED, ABI_NOWHERE } kind;
	unsigned int reg;	/* DWARF's number; of the stack: its pointer */
	int64_t offset;		/* on the stack, from that register */
};

/* The n-th parameter of a function, from 0. */
void symbol_abi_param(uint16_t machine, Dwarf_Die *function, int n,
		      struct abi_place *place);

/* Whether parameters are passed in this register. */
bool symbol_abi_argument(uint16_t machine, unsigned int reg);

/* How a function returns its value; the stack form means in memory. */
void symbol_abi_return(uint16_t machine, Dwarf_Die *function,
		       struct abi_place *place);

/* The type of a variable, member or function, without names and qualifiers. */
bool symbol_type_of(Dwarf_Die *die, Dwarf_Die *type);

#endif
