/* SPDX-License-Identifier: MIT */
/* priv.h - shared by the files of this folder: the ELF image and the object. */
#ifndef TACHO_SYMBOL_PRIV_H
#define TACHO_SYMBOL_PRIV_H

#include <elf.h>

#include "base/arena.h"
#include "base/buf.h"
#include "symbol/symbol.h"

#define SYMBOL_NAME_MAX	4096u		/* longer names are ignored */

/* An ELF file in memory.  All reads from it are checked. */
struct elf_image {
	const unsigned char *data;
	size_t len;
	bool mapped;		/* to be unmapped */
	bool is64;
	bool swap;		/* the other byte order */
	uint16_t type;
	uint16_t machine;
	uint64_t shoff, phoff;
	uint32_t shnum, phnum;
	uint16_t shentsize, phentsize;
	uint32_t shstrndx;
};

struct elf_section {
	const char *name;	/* "" when it has none */
	uint32_t type, link, info;
	uint64_t flags, address, offset, size, entsize;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, filesz;
};

struct tacho_dwarf;

struct tacho_object {
	struct tacho_arena arena;
	char *path;
	char *debug_path;	/* NULL: none */
	struct elf_image image;
	struct elf_image debug;	/* of debug_path; data NULL: none */
	struct elf_segment *segment;	/* PT_LOAD */
	size_t nr_segments;
	const unsigned char *build_id;
	size_t build_id_len;
	struct tacho_function *function;
	size_t nr_functions;
	const char **shown;	/* demangled names, by function; NULL: none was needed */
	struct tacho_sdt *sdt;
	size_t nr_sdt;
	struct tacho_dwarf *dwarf;	/* created when first needed */
};

/* elf.c */
int symbol_image_open(struct elf_image *im, const char *path,
		      struct tacho_diag *d);
int symbol_image_parse(struct elf_image *im, const void *data, size_t len,
		       struct tacho_diag *d);
void symbol_image_close(struct elf_image *im);
bool symbol_section(const struct elf_image *im, uint32_t i,
		    struct elf_section *s);
bool symbol_section_named(const struct elf_image *im, const char *name,
			  struct elf_section *s);
bool symbol_segment(const struct elf_image *im, uint32_t i,
		    struct elf_segment *s);
/* The bytes of a section; NULL when it has none in the file. */
const unsigned char *symbol_section_data(const struct elf_image *im,
					 const struct elf_section *s,
					 size_t *len);

/* One note: calls fn until it returns false.  Bounded by len. */
typedef bool (*symbol_note_fn)(const char *name, size_t name_len, uint32_t type,
			       const unsigned char *desc, size_t len, void *arg);
void symbol_notes(const struct elf_image *im, const unsigned char *data,
		  size_t len, symbol_note_fn fn, void *arg);

/* The file offset of any byte of the file's segments, data too. */
int symbol_any_offset(const struct tacho_object *o, uint64_t address,
		      uint64_t *offset);

/* function.c: the address of a variable by its name; 0 or -ENOENT. */
int symbol_variable(const struct tacho_object *o, const char *name,
		    uint64_t *address);

/* function.c, sdt.c: fill o; 0 or -ENOMEM. */
int symbol_functions_load(struct tacho_object *o);
int symbol_sdt_load(struct tacho_object *o);

/* debugfile.c: finds the file and fills o->debug; a missing file is not an error. */
void symbol_debug_find(struct tacho_object *o, const char *root);

/*
 * machine.c: the kernel's name of a register, NULL when it has none; by its number
 * in DWARF, and by its name in assembler with the len bytes at name.
 */
const char *symbol_register(uint16_t machine, unsigned int dwarf);
const char *symbol_register_named(uint16_t machine, const char *name,
				  size_t len);

/* object.c: the string that the text of f points to; none when it does not fit. */
void symbol_pointed_string(struct tacho_fetch *f);

/* dwarf.c, or none.c. */
void symbol_dwarf_close(struct tacho_dwarf *w);

#endif
