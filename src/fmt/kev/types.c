// SPDX-License-Identifier: MIT
#include "fmt/kev/types.h"

#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

#define ARENA_MAX	((size_t)64 << 20)
#define TEXT_MAX	((size_t)64 << 10)

/*
 * Ids: of rows from 1 on, one for each list and one for failed calls; of user events
 * 0x4000 and up, by variant; of what is kept as it is 0x8000 and the code.
 */
#define ID_ROW		1u
#define ID_ROW_STEP	(TACHO_KEV_ERROR + 1u)
#define ID_USER		0x4000u
#define ID_USER_STEP	0x400u
#define ID_RAW		0x8000u

/* errno values are small; a failed call has one after its -1. */
#define ERRNO_MAX	4095u

int tacho_kev_types_init(struct tacho_kev_types *t,
			 enum tacho_kev_release release)
{
	tacho_arena_init(&t->arena, ARENA_MAX);
	t->profile = malloc(sizeof(*t->profile));
	t->plan = calloc(TACHO_KEV_CODES, sizeof(struct tacho_kev_plan *));
	if (!t->profile || !t->plan)
		return -ENOMEM;
	tacho_kev_profile_init(t->profile, release);
	return 0;
}

void tacho_kev_types_release(struct tacho_kev_types *t)
{
	free(t->profile);
	free(t->plan);
	tacho_arena_release(&t->arena);
}

/* ---- plans --------------------------------------------------------------------- */

static bool same_list(const struct tacho_kev_list *a, const struct tacho_kev_list *b)
{
	const struct tacho_kev_field *x = tacho_kev_fields + a->first;
	const struct tacho_kev_field *y = tacho_kev_fields + b->first;

	if (a->nr != b->nr)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (x[i].code != y[i].code || strcmp(x[i].name, y[i].name))
			return false;
	return true;
}

static struct tacho_kev_form list_form(const struct tacho_kev_list *l, uint32_t id)
{
	const struct tacho_kev_field *f = tacho_kev_fields + l->first;
	struct tacho_kev_form form = { .id = (uint16_t)id, .kind = TACHO_KEV_PLAIN,
				       .fixed = l->words };
	uint32_t at = 0;

	if (!l->nr)
		return (struct tacho_kev_form){ .id = 0 };
	for (uint32_t i = 0; i < l->nr; i++) {
		switch (f[i].code) {
		case 'E':
		case 'X':
		case 'Q':
			form.wide |= UINT64_C(1) << at;
			at += 2;
			break;
		case 'N':
			form.kind = TACHO_KEV_STRING;
			break;
		case 'W':
			form.kind = TACHO_KEV_WORDS;
			break;
		default:
			at++;
			break;
		}
	}
	return form;
}

static void row_plan(struct tacho_kev_plan *p, const struct tacho_kev_row *row)
{
	uint32_t id = ID_ROW + ID_ROW_STEP * (uint32_t)(row - tacho_kev_rows);
	const struct tacho_kev_list *l = row->list;

	p->row = row;
	for (uint32_t v = 0; v < TACHO_KEV_NR_LISTS; v++)
		p->form[v] = list_form(&l[v], id + v);
	if (same_list(&l[TACHO_KEV_FAST], &l[TACHO_KEV_WIDE]))
		p->form[TACHO_KEV_WIDE] = p->form[TACHO_KEV_FAST];
	p->exit = row->group == TACHO_KEV_ROW_KERCALL_EXIT;
	if (p->exit)
		p->form[TACHO_KEV_ERROR] = (struct tacho_kev_form){
			.id = (uint16_t)(id + TACHO_KEV_ERROR), .kind = TACHO_KEV_PLAIN,
			.fixed = 2 };
}

static void user_plan(struct tacho_kev_plan *p)
{
	uint32_t id = ID_USER + TACHO_KEV_EVENT(p->code);

	p->user = true;
	p->form[TACHO_KEV_FAST] = (struct tacho_kev_form){
		.id = (uint16_t)id, .kind = TACHO_KEV_PLAIN, .fixed = 2 };
	p->form[TACHO_KEV_WIDE] = (struct tacho_kev_form){
		.id = (uint16_t)(id + ID_USER_STEP), .kind = TACHO_KEV_BYTES };
	p->form[TACHO_KEV_ALT] = (struct tacho_kev_form){
		.id = (uint16_t)(id + 2 * ID_USER_STEP), .kind = TACHO_KEV_STRING };
}

/* What a simple event's form is, if its words do not matter. */
static void simple_plan(struct tacho_kev_plan *p)
{
	enum tacho_kev_variant v = p->row ? tacho_kev_variant_of(p->row, NULL, 2) :
				   p->user ? TACHO_KEV_FAST : TACHO_KEV_RAW;

	if (p->row && v == TACHO_KEV_RAW)
		return;
	if (p->exit)
		p->returned = &p->form[v];
	else
		p->simple = &p->form[v];
}

const struct tacho_kev_plan *tacho_kev_plan(struct tacho_kev_types *t,
					    uint32_t code)
{
	struct tacho_kev_plan *p = t->plan[code];
	const struct tacho_kev_row *row;

	if (p)
		return p;
	p = tacho_arena_alloc(&t->arena, sizeof(*p));
	if (!p)
		return NULL;
	p->code = code;
	p->form[TACHO_KEV_RAW] = (struct tacho_kev_form){
		.id = (uint16_t)(ID_RAW + code), .kind = TACHO_KEV_WORDS };
	row = tacho_kev_row_of(t->profile, code);
	if (row)
		row_plan(p, row);
	else if (TACHO_KEV_CLASS(code) == TACHO_KEV_USER)
		user_plan(p);
	simple_plan(p);
	t->plan[code] = p;
	return p;
}

bool tacho_kev_is_text(const unsigned char *p, size_t n)
{
	size_t len = strnlen((const char *)p, n), padded = (n + 7) & ~(size_t)7;

	if (!len || padded - len > 8)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i < len ? p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' : p[i])
			return false;
	return true;
}

const struct tacho_kev_form *tacho_kev_form_of(const struct tacho_kev_plan *plan,
					       const unsigned char *data,
					       uint32_t words, bool swap)
{
	const struct tacho_kev_form *form = plan->form;

	if (plan->user) {
		if (words > 2)
			return &form[tacho_kev_is_text(data, 4 * (size_t)words) ?
				     TACHO_KEV_ALT : TACHO_KEV_WIDE];
		return &form[TACHO_KEV_FAST];
	}
	if (plan->exit && words == 2 && tacho_load_u32(data) == UINT32_MAX) {
		uint32_t err = tacho_load_u32(data + 4);

		if ((swap ? bswap_32(err) : err) - 1 < ERRNO_MAX)
			return &form[TACHO_KEV_ERROR];
	}
	return &form[plan->row ? tacho_kev_variant_of(plan->row, data, words) :
		     TACHO_KEV_RAW];
}

/* ---- formats ------------------------------------------------------------------- */

struct writing {
	struct tacho_buf text, print, args;
	uint32_t offset;
	bool any;		/* print has a field */
};

static void writing_init(struct writing *w)
{
	tacho_buf_init(&w->text, TEXT_MAX);
	tacho_buf_init(&w->print, TEXT_MAX);
	tacho_buf_init(&w->args, TEXT_MAX);
	w->offset = 8;
	w->any = false;
	tacho_buf_puts(&w->text,
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
}

static void writing_release(struct writing *w)
{
	tacho_buf_release(&w->text);
	tacho_buf_release(&w->print);
	tacho_buf_release(&w->args);
}

/* How a code of the table is declared and printed. */
struct code {
	char code;
	const char *decl;
	const char *conv, *before, *after;	/* conversion; text around REC->name's */
	bool is_signed;
};

static const struct code codes[] = {
	{ 'D', "int %s", "%d", "REC->", "", true },
	{ 'H', "unsigned int %s", "0x%x", "REC->", "", false },
	{ 'P', "unsigned int %s", "0x%x", "REC->", "", false },
	{ 'S', "unsigned int %s", "0x%08x", "REC->", "", false },
	{ 's', "unsigned int %s", "0x%08x", "REC->", "", false },
	{ 'E', "s64 %s", "%lld", "REC->", "", true },
	{ 'X', "u64 %s", "0x%llx", "REC->", "", false },
	{ 'Q', "u64 %s", "0x%llx", "REC->", "", false },
	{ 'N', "__data_loc char[] %s", "%s", "__get_str(", ")", false },
	{ 'B', "__data_loc unsigned char[] %s", "%s", "__print_hex(__get_dynamic_array(",
	  ")", false },
	{ 'W', "__data_loc unsigned int[] %s", "%s", "__print_array(__get_dynamic_array(",
	  ")", false },
};

static const struct code *find_code(char c)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(codes); i++)
		if (codes[i].code == c)
			return &codes[i];
	return &codes[1];
}

/* One that says nothing is there, but not printed. */
static void put_field(struct writing *w, char code, const char *name, bool filler)
{
	const struct code *c = find_code(code);
	uint32_t size = strchr("EXQ", code) ? 8 : 4;

	tacho_buf_puts(&w->text, "\tfield:");
	for (const char *p = c->decl; *p; p++) {
		if (*p != '%') {
			tacho_buf_putc(&w->text, *p);
			continue;
		}
		tacho_buf_puts(&w->text, name);
		p++;
	}
	tacho_buf_printf(&w->text, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			 w->offset, size, c->is_signed);
	w->offset += size;
	if (filler)
		return;
	tacho_buf_printf(&w->print, "%s%s=%s", w->any ? " " : "", name, c->conv);
	tacho_buf_printf(&w->args, ", %s%s%s", c->before, name, c->after);
	if (code == 'B')
		tacho_buf_printf(&w->args, ", __get_dynamic_array_len(%s))", name);
	if (code == 'W')
		tacho_buf_printf(&w->args, ", __get_dynamic_array_len(%s) / 4, 4)",
				 name);
	w->any = true;
}

static const struct tacho_type *finish(struct tacho_kev_types *t, struct writing *w,
				       const char *system, const char *name,
				       uint32_t id, const char *print)
{
	const struct tacho_type *type = NULL;

	tacho_buf_puts(&w->text, "\nprint fmt: ");
	if (print) {
		tacho_buf_puts(&w->text, print);
	} else {
		tacho_buf_putc(&w->text, '"');
		tacho_buf_put(&w->text, w->print.data, w->print.len);
		tacho_buf_putc(&w->text, '"');
		tacho_buf_put(&w->text, w->args.data, w->args.len);
	}
	tacho_buf_putc(&w->text, '\n');
	if (!tacho_buf_error(&w->text) && !tacho_buf_error(&w->print) &&
	    !tacho_buf_error(&w->args))
		type = tacho_type_parse(&t->arena, system, name, id, w->text.data,
					w->text.len, NULL);
	/* none of these texts is near its maximum */
	if (!type)
		t->arena.no_memory = true;
	writing_release(w);
	return type;
}

static const struct tacho_type *list_type(struct tacho_kev_types *t,
					  const struct tacho_kev_list *l,
					  const char *system, const char *name,
					  uint32_t id, const char *print)
{
	const struct tacho_kev_field *f = tacho_kev_fields + l->first;
	struct writing w;

	writing_init(&w);
	for (uint32_t i = 0; i < l->nr; i++)
		put_field(&w, f[i].code, f[i].name, f[i].filler);
	/* the file has an even number of words: none is left out */
	if (!l->open && l->words % 2)
		put_field(&w, 'H', "tail", true);
	return finish(t, &w, system, name, id, print);
}

/* A type of fields that the table does not have: pairs of code and name. */
static const struct tacho_type *own_type(struct tacho_kev_types *t,
					 const char *system, const char *name,
					 uint32_t id, const char *const *pairs,
					 const char *print)
{
	struct writing w;

	writing_init(&w);
	for (; *pairs; pairs += 2)
		put_field(&w, **pairs, pairs[1], false);
	return finish(t, &w, system, name, id, print);
}

/* ---- types by id --------------------------------------------------------------- */

#define TYPE_NAME_MAX	(TACHO_KEV_NAME_MAX + 16)

static const struct tacho_type *row_type(struct tacho_kev_types *t, uint32_t id)
{
	static const char *const error[] = { "D", "ret_val", "D", "errno", NULL };
	const struct tacho_kev_row *row = &tacho_kev_rows[(id - ID_ROW) / ID_ROW_STEP];
	uint32_t v = (id - ID_ROW) % ID_ROW_STEP;
	const struct tacho_kev_list *fast = &row->list[TACHO_KEV_FAST];
	const char *system = tacho_kev_group_name((enum tacho_kev_group)row->group);
	const char *flag = row->is64 ? "_64" : "", *suffix = "";
	char name[TYPE_NAME_MAX];

	switch (v) {
	case TACHO_KEV_WIDE:
		suffix = fast->nr ? "_wide" : "";
		break;
	case TACHO_KEV_ALT:
		suffix = row->group == TACHO_KEV_ROW_THREAD ? "_aps" : "_alt";
		break;
	case TACHO_KEV_ALT2:
		suffix = "_alt2";
		break;
	case TACHO_KEV_ERROR:
		suffix = "_error";
		break;
	default:
		break;
	}
	(void)snprintf(name, sizeof(name), "%s%s%s", row->name, flag, suffix);
	if (v == TACHO_KEV_ERROR)
		return row->group == TACHO_KEV_ROW_KERCALL_EXIT ?
		       own_type(t, system, name, id, error, NULL) : NULL;
	if (!row->list[v].nr || (v == TACHO_KEV_WIDE && same_list(fast, &row->list[v])))
		return NULL;
	return list_type(t, &row->list[v], system, name, id,
			 v == TACHO_KEV_FAST ? row->print : NULL);
}

static const struct tacho_type *user_type(struct tacho_kev_types *t, uint32_t id)
{
	static const char *const pairs[3][5] = {
		{ "H", "d0", "H", "d1", NULL },
		{ "B", "data", NULL },
		{ "N", "text", NULL },
	};
	static const char *const suffix[] = { "", "_data", "_text" };
	uint32_t kind = (id - ID_USER) / ID_USER_STEP;
	char name[TYPE_NAME_MAX];

	(void)snprintf(name, sizeof(name), "event_%u%s", (id - ID_USER) % ID_USER_STEP,
		       suffix[kind]);
	return own_type(t, "user", name, id, pairs[kind],
			kind == 2 ? "\"%s\", __get_str(text)" : NULL);
}

static const struct tacho_type *raw_type(struct tacho_kev_types *t, uint32_t id)
{
	static const char *const data[] = { "W", "data", NULL };
	uint32_t code = id - ID_RAW;
	enum tacho_kev_group group = tacho_kev_group_of(t->profile, code);
	char plain[TACHO_KEV_NAME_MAX], name[TYPE_NAME_MAX];

	tacho_kev_name(t->profile, code, plain);
	(void)snprintf(name, sizeof(name), "%s%s", plain,
		       tacho_kev_row_of(t->profile, code) ? "_raw" : "");
	return own_type(t, tacho_kev_group_name(group), name, id, data, NULL);
}

const struct tacho_type *tacho_kev_type(struct tacho_kev_types *t, uint32_t id)
{
	static const char *const orphan[] = { "H", "header", "H", "stamp", "H", "d0",
					      "H", "d1", NULL };
	static const char *const unfinished[] = { "H", "header", "H", "stamp",
						  "W", "data", NULL };

	if (id >= ID_RAW)
		return raw_type(t, id);
	if (id == TACHO_KEV_ID_ORPHAN)
		return own_type(t, "kev", "orphan", id, orphan, NULL);
	if (id == TACHO_KEV_ID_UNFINISHED)
		return own_type(t, "kev", "unfinished", id, unfinished, NULL);
	if (id >= ID_USER)
		return id < ID_USER + 3 * ID_USER_STEP ? user_type(t, id) : NULL;
	if (id < ID_ROW || (id - ID_ROW) / ID_ROW_STEP >= tacho_kev_nr_rows)
		return NULL;
	return row_type(t, id);
}

/* ---- the other way round ----------------------------------------------------------- */

static bool same_fields(const struct tacho_type *a, const struct tacho_type *b)
{
	if (a->nr_fields != b->nr_fields)
		return false;
	for (uint32_t i = 0; i < a->nr_fields; i++) {
		const struct tacho_field *x = &a->fields[i], *y = &b->fields[i];

		if (strcmp(x->name, y->name) || x->kind != y->kind ||
		    x->size != y->size || x->elem_size != y->elem_size ||
		    x->offset != y->offset)
			return false;
	}
	return true;
}

static bool is_type(struct tacho_kev_types *t, const struct tacho_type *type,
		    uint32_t id)
{
	const struct tacho_type *own = id ? tacho_kev_type(t, id) : NULL;

	return own && !strcmp(own->name, type->name) &&
	       !strcmp(own->system, type->system) && same_fields(own, type);
}

static int code_by_name(struct tacho_kev_types *t, const struct tacho_type *type,
			const char *name, uint32_t *id)
{
	for (int g = 0; g < TACHO_KEV_NR_GROUPS; g++) {
		const struct tacho_kev_plan *plan;
		int code;

		if (strcmp(tacho_kev_group_name((enum tacho_kev_group)g), type->system))
			continue;
		code = tacho_kev_code(t->profile, (enum tacho_kev_group)g, name);
		plan = code < 0 ? NULL : tacho_kev_plan(t, (uint32_t)code);
		for (int v = 0; plan && v < TACHO_KEV_NR_VARIANTS; v++) {
			*id = plan->form[v].id;
			if (is_type(t, type, *id))
				return code;
		}
	}
	return -1;
}

int tacho_kev_type_code(struct tacho_kev_types *t, const struct tacho_type *type,
			uint32_t *id)
{
	static const char *const suffixes[] = { "", "_wide", "_aps", "_alt", "_alt2",
						"_error", "_raw", "_text", "_data" };
	size_t len = strlen(type->name);
	char name[TYPE_NAME_MAX];

	if (len >= sizeof(name))
		return -1;
	for (*id = TACHO_KEV_ID_ORPHAN; *id <= TACHO_KEV_ID_UNFINISHED; ++*id)
		if (is_type(t, type, *id))
			return 0;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i]);
		int code;

		if (len <= n || strcmp(type->name + len - n, suffixes[i]))
			continue;
		memcpy(name, type->name, len - n);
		name[len - n] = '\0';
		code = code_by_name(t, type, name, id);
		if (code >= 0)
			return code;
	}
	return -1;
}
