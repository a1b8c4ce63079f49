// SPDX-License-Identifier: MIT
/* machine.c - names of registers: the debugger's, the assembler's, the kernel's. */
#include <string.h>

#include "base/compiler.h"
#include "symbol/priv.h"

static const char *const x86_dwarf[] = {
	"ax", "dx", "cx", "bx", "si", "di", "bp", "sp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ip",
};

static const char *const arm_dwarf[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20",
	"x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
	"sp",
};

const char *symbol_register(uint16_t machine, unsigned int dwarf)
{
	if (machine == EM_X86_64 && dwarf < TACHO_ARRAY_SIZE(x86_dwarf))
		return x86_dwarf[dwarf];
	if (machine == EM_AARCH64 && dwarf < TACHO_ARRAY_SIZE(arm_dwarf))
		return arm_dwarf[dwarf];
	return NULL;
}

static bool same(const char *a, const char *b, size_t len)
{
	return strlen(a) == len && !memcmp(a, b, len);
}

/* rax eax ax al; rsi esi si sil; r8 r8d r8w r8b; not ah */
static const char *x86_named(const char *name, size_t len)
{
	size_t n = len;

	if (len < 2)
		return NULL;
	if (name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
		if (strchr("dwb", name[len - 1]))
			n--;
		for (size_t i = 8; i < 16; i++)
			if (same(x86_dwarf[i], name, n))
				return x86_dwarf[i];
		return NULL;
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(x86_dwarf); i++) {
		const char *r = x86_dwarf[i];

		if (i >= 8 && i < 16)
			continue;
		if (same(r, name, len) ||
		    ((name[0] == 'r' || name[0] == 'e') &&
		     same(r, name + 1, len - 1)))
			return r;
		if (i < 4 && len == 2 && name[0] == r[0] && name[1] == 'l')
			return r;
		if (i >= 4 && i < 8 && len == 3 && name[2] == 'l' &&
		    same(r, name, 2))
			return r;
	}
	return NULL;
}

static const char *arm_named(const char *name, size_t len)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(arm_dwarf); i++) {
		const char *r = arm_dwarf[i];

		if (same(r, name, len) || (len > 1 && name[0] == 'w' &&
					   r[0] == 'x' &&
					   same(r + 1, name + 1, len - 1)))
			return r;
	}
	return NULL;
}

const char *symbol_register_named(uint16_t machine, const char *name,
				  size_t len)
{
	if (machine == EM_X86_64)
		return x86_named(name, len);
	if (machine == EM_AARCH64)
		return arm_named(name, len);
	return NULL;
}
