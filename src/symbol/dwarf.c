// SPDX-License-Identifier: MIT
/* dwarf.c - opening DWARF, and the unit and the scopes of an address. */
#include "symbol/dwarf_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tacho_symbol_has_dwarf(void)
{
	return true;
}

void symbol_dwarf_close(struct tacho_dwarf *w)
{
	if (!w)
		return;
	if (w->eh_frame)
		dwarf_cfi_end(w->eh_frame);
	if (w->dwarf)
		dwarf_end(w->dwarf);
	if (w->elf)
		elf_end(w->elf);
	if (w->fd >= 0)
		close(w->fd);
	if (w->debug_fd >= 0)
		close(w->debug_fd);
	free(w);
}

static bool has_info(const struct elf_image *im)
{
	struct elf_section s;

	return im->data && (symbol_section_named(im, ".debug_info", &s) ||
			    symbol_section_named(im, ".zdebug_info", &s));
}

static int open_all(struct tacho_object *o, struct tacho_dwarf *w,
		    struct tacho_diag *d)
{
	Dwarf_CU *cu = NULL;
	int fd;

	if (!has_info(&o->image) && !has_info(&o->debug))
		return tacho_diag(d, -ENODATA, 0,
			"'%s' has no debug information: build it with -g, or "
			"install its debug symbols", o->path);
	(void)elf_version(EV_CURRENT);
	w->fd = open(o->path, O_RDONLY | O_CLOEXEC);
	if (w->fd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", o->path,
				  strerror(errno));
	w->elf = elf_begin(w->fd, ELF_C_READ_MMAP, NULL);
	fd = w->fd;
	if (!has_info(&o->image)) {
		w->debug_fd = open(o->debug_path, O_RDONLY | O_CLOEXEC);
		if (w->debug_fd < 0)
			return tacho_diag(d, -errno, 0, "cannot open '%s': %s",
					  o->debug_path, strerror(errno));
		fd = w->debug_fd;
	}
	w->dwarf = dwarf_begin(fd, DWARF_C_READ);
	/* a damaged file opens, but is empty */
	if (!w->elf || !w->dwarf ||
	    dwarf_get_units(w->dwarf, NULL, &cu, NULL, NULL, NULL, NULL))
		return tacho_diag(d, -ENODATA, 0,
			"cannot read the debug information of '%s': %s",
			o->path, dwarf_errmsg(-1));
	w->eh_frame = dwarf_getcfi_elf(w->elf);
	return 0;
}

struct tacho_dwarf *symbol_dwarf(struct tacho_object *o, struct tacho_diag *d)
{
	struct tacho_dwarf *w = o->dwarf;

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w) {
		(void)tacho_diag(d, -ENOMEM, 0, "no memory");
		return NULL;
	}
	w->fd = w->debug_fd = -1;
	if (open_all(o, w, d)) {
		symbol_dwarf_close(w);
		return NULL;
	}
	o->dwarf = w;
	return w;
}

bool symbol_dwarf_next(struct tacho_dwarf *w, struct dwarf_unit *u)
{
	Dwarf_CU *next;
	uint8_t type;
	Dwarf_Die sub;

	for (;;) {
		if (dwarf_get_units(w->dwarf, u->cu, &next, NULL, &type,
				    &u->head, &sub))
			return false;
		u->cu = next;
		if (type == DW_UT_type || type == DW_UT_partial)
			continue;
		u->tree = type == DW_UT_skeleton && sub.addr ? sub : u->head;
		return true;
	}
}

bool symbol_dwarf_unit(struct tacho_dwarf *w, uint64_t address,
		       struct dwarf_unit *u)
{
	Dwarf_Die sub;
	uint8_t type;

	*u = (struct dwarf_unit){ .cu = NULL };
	if (dwarf_addrdie(w->dwarf, address, &u->head)) {
		u->cu = u->head.cu;
		u->tree = u->head;
		if (!dwarf_cu_info(u->cu, NULL, &type, NULL, &sub, NULL, NULL,
				   NULL) && type == DW_UT_skeleton && sub.addr)
			u->tree = sub;
		return true;
	}
	/* not every compiler writes the table of address ranges */
	while (symbol_dwarf_next(w, u))
		if (dwarf_haspc(&u->head, address) > 0)
			return true;
	return false;
}

int symbol_dwarf_scopes(struct tacho_dwarf *w, uint64_t address,
			Dwarf_Die **scopes, int *function)
{
	struct dwarf_unit u;
	Dwarf_Die *inner;
	int n, i;

	*scopes = NULL;
	if (!symbol_dwarf_unit(w, address, &u))
		return 0;
	n = dwarf_getscopes(&u.tree, address, &inner);
	if (n <= 0)
		return 0;
	/* libdw continues from a copy at its source, which is not wanted here */
	n = dwarf_getscopes_die(inner, scopes);
	free(inner);
	i = symbol_dwarf_function(*scopes, 0, n);
	if (i < n) {
		*function = i;
		return n;
	}
	if (n > 0)
		free(*scopes);
	*scopes = NULL;
	return 0;
}

int symbol_dwarf_function(Dwarf_Die *scopes, int i, int n)
{
	for (; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			break;
	}
	return i;
}

bool symbol_dwarf_subprogram(struct tacho_dwarf *w, uint64_t address,
			     Dwarf_Die *die)
{
	Dwarf_Die *scopes;
	int f, i, n = symbol_dwarf_scopes(w, address, &scopes, &f);

	if (!n)
		return false;
	for (i = f; i < n && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++)
		;
	if (i < n)
		*die = scopes[i];
	free(scopes);
	return i < n;
}
