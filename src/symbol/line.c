// SPDX-License-Identifier: MIT
/*
 * line.c - between addresses and source lines.
 *
 * A line has many rows in DWARF's table: one for each of its instruction ranges, in each copy of
 * the function.  A probe belongs at the first one of each copy, so the rows are grouped by the
 * innermost function around them, and the lowest address of each group is used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/dwarf_priv.h"

#define PLACES_MAX	20000u

void tacho_places_release(struct tacho_places *p)
{
	free(p->list);
	*p = (struct tacho_places){ .list = NULL };
}

int tacho_object_where(struct tacho_object *o, uint64_t address,
		       struct tacho_where *w, struct tacho_diag *d)
{
	struct tacho_dwarf *dw = symbol_dwarf(o, d);
	struct dwarf_unit u;
	Dwarf_Line *line;
	int nr, column;

	*w = (struct tacho_where){ .file = NULL };
	if (!dw)
		return d ? d->err : -ENODATA;
	line = symbol_dwarf_unit(dw, address, &u) ?
		dwarf_getsrc_die(&u.head, address) : NULL;
	if (!line || dwarf_lineno(line, &nr) || nr <= 0)
		return tacho_diag(d, -ENODATA, 0,
			"'%s' has no source line for this address", o->path);
	w->file = dwarf_linesrc(line, NULL, NULL);
	w->line = (uint32_t)nr;
	w->column = !dwarf_linecol(line, &column) && column > 0 ?
		(uint32_t)column : 0;
	return 0;
}

/* ---- from a line to addresses ---- */

struct query {
	struct tacho_object *o;
	struct tacho_dwarf *dw;
	const char *file;
	bool exact;		/* the file's whole name, not its end */
	int line;		/* requested */
	int best;		/* found: the same or the next one; 0: none yet */
	bool file_seen;
	/* only in the function that is declared there; 0: any */
	int decl_line;
};

static bool same_file(const struct query *q, const char *file)
{
	size_t a, b;

	if (!file)
		return false;
	if (q->exact)
		return !strcmp(file, q->file);
	a = strlen(file);
	b = strlen(q->file);
	return b <= a && !strcmp(file + a - b, q->file) &&
	       (a == b || file[a - b - 1] == '/' || q->file[0] == '/');
}

/* The row's line when it begins a statement in the file, else 0. */
static int row_line(struct query *q, Dwarf_Line *row, Dwarf_Addr *address)
{
	bool begins, ends;
	int nr;

	if (dwarf_linebeginstatement(row, &begins) || !begins ||
	    dwarf_lineendsequence(row, &ends) || ends ||
	    dwarf_lineno(row, &nr) || nr < q->line ||
	    dwarf_lineaddr(row, address) ||
	    !same_file(q, dwarf_linesrc(row, NULL, NULL)))
		return 0;
	return nr;
}

/* Whether a unit has the file; reads its table of lines. */
static bool unit_lines(struct query *q, struct dwarf_unit *u,
		       Dwarf_Lines **lines, size_t *n)
{
	Dwarf_Files *files;
	size_t nr;

	if (dwarf_getsrcfiles(&u->head, &files, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!same_file(q, dwarf_filesrc(files, i, NULL, NULL)))
			continue;
		q->file_seen = true;
		return !dwarf_getsrclines(&u->head, lines, n);
	}
	return false;
}

static void find_best(struct query *q)
{
	struct dwarf_unit u = { .cu = NULL };
	Dwarf_Lines *lines;
	Dwarf_Addr address;
	size_t n;

	while (q->best != q->line && symbol_dwarf_next(q->dw, &u)) {
		if (!unit_lines(q, &u, &lines, &n))
			continue;
		for (size_t i = 0; i < n; i++) {
			int nr = row_line(q, dwarf_onesrcline(lines, i),
					  &address);

			if (nr && (!q->best || nr < q->best))
				q->best = nr;
		}
	}
}

/* A place, and the function or inlined copy that it is in. */
struct candidate {
	uint64_t address;
	const void *scope;	/* libdw's address of the entry */
};

struct candidates {
	struct candidate *list;
	size_t nr, room;
};

static int keep(struct candidates *c, uint64_t address, const void *scope)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (c->list[i].scope != scope)
			continue;
		if (address < c->list[i].address)
			c->list[i].address = address;
		return 0;
	}
	if (c->nr == PLACES_MAX)
		return -E2BIG;
	if (c->nr == c->room) {
		size_t room = c->room ? 2 * c->room : 16;
		struct candidate *p = reallocarray(c->list, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		c->list = p;
		c->room = room;
	}
	c->list[c->nr++] = (struct candidate){ address, scope };
	return 0;
}

/* Adds a row if the innermost function around it is a requested one. */
static int consider(struct query *q, struct candidates *c, uint64_t address)
{
	Dwarf_Die *scopes;
	int f, decl = 0, ret = 0;
	uint64_t offset;

	if (tacho_object_offset(q->o, address, &offset) ||
	    !symbol_dwarf_scopes(q->dw, address, &scopes, &f))
		return 0;
	if (dwarf_decl_line(&scopes[f], &decl))
		decl = 0;
	/* the next line must be in the same function */
	if (q->decl_line ? decl == q->decl_line :
	    q->best == q->line || decl <= q->line)
		ret = keep(c, address, scopes[f].addr);
	free(scopes);
	return ret;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int to_places(const struct candidates *c, struct tacho_places *p)
{
	p->list = calloc(c->nr ? c->nr : 1, sizeof(*p->list));
	if (!p->list)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr; i++)
		p->list[i] = c->list[i].address;
	qsort(p->list, c->nr, sizeof(*p->list), by_number);
	for (size_t i = 0; i < c->nr; i++)
		if (!i || p->list[i] != p->list[p->nr - 1])
			p->list[p->nr++] = p->list[i];
	return 0;
}

static int collect(struct query *q, struct tacho_places *p,
		   struct tacho_diag *d)
{
	struct dwarf_unit u = { .cu = NULL };
	struct candidates c = { .list = NULL };
	Dwarf_Lines *lines;
	Dwarf_Addr address;
	int ret = 0;
	size_t n;

	while (!ret && symbol_dwarf_next(q->dw, &u)) {
		if (!unit_lines(q, &u, &lines, &n))
			continue;
		for (size_t i = 0; !ret && i < n; i++)
			if (row_line(q, dwarf_onesrcline(lines, i),
				     &address) == q->best)
				ret = consider(q, &c, address);
	}
	if (!ret)
		ret = to_places(&c, p);
	free(c.list);
	p->line = (uint32_t)q->best;
	return ret ? tacho_diag(d, ret, 0, ret == -E2BIG ?
				"the line is at too many places" : "no memory") : 0;
}

int tacho_object_line(struct tacho_object *o, const char *file, uint32_t line,
		      struct tacho_places *p, struct tacho_diag *d)
{
	struct query q = { .o = o, .dw = symbol_dwarf(o, d), .file = file,
			   .line = (int)line };
	int ret = 0;

	*p = (struct tacho_places){ .list = NULL };
	if (!q.dw)
		return d ? d->err : -ENODATA;
	if (!*file || !line || line > INT32_MAX)
		return tacho_diag(d, -ENOENT, 0, "there is no line 0");
	find_best(&q);
	if (q.best)
		ret = collect(&q, p, d);
	if (ret || p->nr)
		return ret;
	tacho_places_release(p);
	if (!q.file_seen)
		return tacho_diag(d, -ENOENT, 0,
			"'%s' has no code of a file '%s'", o->path, file);
	return tacho_diag(d, -ENOENT, 0,
		"'%s' has no code at line %u of '%s', nor after it in the "
		"same function", o->path, line, file);
}

/*
 * The file that a function is declared in.  (libdw's own call does not know that
 * DWARF 5 counts files from 0.)
 */
static const char *declared_in(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t nr;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) ||
	    dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &nr) || index >= nr)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

int tacho_object_function_line(struct tacho_object *o,
			       const struct tacho_function *fn, uint32_t n,
			       struct tacho_places *p, struct tacho_diag *d)
{
	struct query q = { .o = o, .dw = symbol_dwarf(o, d), .exact = true };
	Dwarf_Die die;
	int ret = 0;

	*p = (struct tacho_places){ .list = NULL };
	if (!q.dw)
		return d ? d->err : -ENODATA;
	if (!symbol_dwarf_subprogram(q.dw, fn->address, &die) ||
	    dwarf_decl_line(&die, &q.decl_line) || q.decl_line <= 0 ||
	    !(q.file = declared_in(&die)))
		return tacho_diag(d, -ENODATA, 0,
			"'%s' has no debug information of '%s'", o->path,
			fn->name);
	if (!n) {
		p->list = calloc(1, sizeof(*p->list));
		if (!p->list)
			return tacho_diag(d, -ENOMEM, 0, "no memory");
		p->list[p->nr++] = fn->address;
		p->line = (uint32_t)q.decl_line;
		return 0;
	}
	if (n <= INT32_MAX - (uint32_t)q.decl_line) {
		q.line = q.decl_line + (int)n;
		find_best(&q);
		if (q.best)
			ret = collect(&q, p, d);
	}
	if (ret || p->nr)
		return ret;
	tacho_places_release(p);
	return tacho_diag(d, -ERANGE, 0,
		"'%s' has no code at line %u of it, nor after that (it begins "
		"at %s:%d)", fn->name, n, q.file, q.decl_line);
}

/* ---- inlined copies ---- */

struct inlined {
	struct tacho_object *o;
	const char *name;
	struct candidates c;
	int err;
};

static int one_copy(Dwarf_Die *die, void *arg)
{
	struct inlined *in = arg;
	Dwarf_Addr address;
	uint64_t offset;

	if (dwarf_entrypc(die, &address) ||
	    tacho_object_offset(in->o, address, &offset))
		return DWARF_CB_OK;
	in->err = keep(&in->c, address, die->addr);
	return in->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int one_function(Dwarf_Die *die, void *arg)
{
	struct inlined *in = arg;
	const char *name = dwarf_diename(die);

	if (name && !strcmp(name, in->name) && dwarf_func_inline(die))
		(void)dwarf_func_inline_instances(die, one_copy, in);
	return in->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int tacho_object_inlined(struct tacho_object *o, const char *name,
			 struct tacho_places *p, struct tacho_diag *d)
{
	struct tacho_dwarf *w = symbol_dwarf(o, d);
	struct inlined in = { .o = o, .name = name };
	struct dwarf_unit u = { .cu = NULL };

	*p = (struct tacho_places){ .list = NULL };
	if (!w)
		return d ? d->err : -ENODATA;
	while (!in.err && symbol_dwarf_next(w, &u))
		(void)dwarf_getfuncs(&u.tree, one_function, &in, 0);
	if (!in.err)
		in.err = to_places(&in.c, p);
	free(in.c.list);
	if (in.err)
		return tacho_diag(d, in.err, 0, "no memory");
	if (!p->nr) {
		tacho_places_release(p);
		return tacho_diag(d, -ENOENT, 0,
				  "no copy of '%s' is in '%s'", name, o->path);
	}
	return 0;
}
