// SPDX-License-Identifier: MIT
/* none.c - replaces the files that read DWARF if libdw is missing. */
#include <errno.h>
#include <stdlib.h>

#include "symbol/priv.h"

static int none(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOSYS, 0,
		"tacho was built without libdw (elfutils): source lines and "
		"names of variables are not known; name functions and registers");
}

bool tacho_symbol_has_dwarf(void)
{
	return false;
}

void symbol_dwarf_close(struct tacho_dwarf *w)
{
	(void)w;
}

void tacho_places_release(struct tacho_places *p)
{
	free(p->list);
	*p = (struct tacho_places){ .list = NULL };
}

int tacho_object_where(struct tacho_object *o, uint64_t address,
		       struct tacho_where *w, struct tacho_diag *d)
{
	(void)o;
	(void)address;
	*w = (struct tacho_where){ .file = NULL };
	return none(d);
}

int tacho_object_line(struct tacho_object *o, const char *file, uint32_t line,
		      struct tacho_places *p, struct tacho_diag *d)
{
	(void)o;
	(void)file;
	(void)line;
	*p = (struct tacho_places){ .list = NULL };
	return none(d);
}

int tacho_object_function_line(struct tacho_object *o,
			       const struct tacho_function *fn, uint32_t n,
			       struct tacho_places *p, struct tacho_diag *d)
{
	(void)o;
	(void)fn;
	(void)n;
	*p = (struct tacho_places){ .list = NULL };
	return none(d);
}

int tacho_object_inlined(struct tacho_object *o, const char *name,
			 struct tacho_places *p, struct tacho_diag *d)
{
	(void)o;
	(void)name;
	*p = (struct tacho_places){ .list = NULL };
	return none(d);
}

int tacho_object_variable(struct tacho_object *o, uint64_t address,
			  const char *function, const char *path,
			  struct tacho_fetch *f, struct tacho_diag *d)
{
	(void)o;
	(void)address;
	(void)function;
	(void)path;
	*f = (struct tacho_fetch){ .text = "" };
	return none(d);
}

int tacho_object_return(struct tacho_object *o, uint64_t address,
			const char *path, struct tacho_fetch *f,
			struct tacho_diag *d)
{
	return tacho_object_variable(o, address, NULL, path, f, d);
}

int tacho_object_params(struct tacho_object *o, uint64_t address,
			const char *function,
			int (*fn)(const char *name, void *arg), void *arg,
			struct tacho_diag *d)
{
	(void)o;
	(void)address;
	(void)function;
	(void)fn;
	(void)arg;
	return none(d);
}
