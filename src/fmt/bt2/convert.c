// SPDX-License-Identifier: MIT
#include "fmt/bt2/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "event/print_text.h"
#include "tacho/abi/record.h"

#define SLOTS_MAX	1000u
#define DEPTH_MAX	16
#define LABELS_MAX	256u
#define TEXT_MAX	((size_t)TACHO_RAW_MAX)	/* one rendered field: what a record holds */
#define MARK		"tacho_cut"
#define FIXED_MAX	16384u

static bool is_unsigned(bt_field_class_type t)
{
	return t == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER ||
	       t == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION;
}

static bool is_signed(bt_field_class_type t)
{
	return t == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER ||
	       t == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION;
}

static bool is_real(bt_field_class_type t)
{
	return t == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL ||
	       t == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL;
}

static bool is_array(bt_field_class_type t)
{
	return t == BT_FIELD_CLASS_TYPE_STATIC_ARRAY ||
	       t == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD ||
	       t == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD;
}

static uint8_t int_size(const bt_field_class *fc)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(fc);

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* ---- planning ------------------------------------------------------------ */

struct planner {
	struct tacho_bt2_slot slot[SLOTS_MAX];
	char *name[SLOTS_MAX];
	const bt_field_class *class[SLOTS_MAX];
	uint32_t nr, at;
	uint32_t mark;		/* see struct tacho_bt2_plan */
	bool contexts;		/* roles are looked for */
	struct tacho_buf fields, fmt, args;
};

static uint8_t role_of(const char *name)
{
	static const struct {
		const char *name;
		uint8_t role;
	} roles[] = {
		{ "vpid", TACHO_BT2_VPID }, { "pid", TACHO_BT2_PID },
		{ "vtid", TACHO_BT2_VTID }, { "tid", TACHO_BT2_TID },
		{ "common_pid", TACHO_BT2_TID },
		{ "procname", TACHO_BT2_PROCNAME },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return TACHO_BT2_PLAIN;
}

/* A C identifier that no slot has yet; malloc'ed. */
static char *slot_name(const struct planner *p, const char *want)
{
	char name[200];
	size_t len;

	const char *before = "";

	if (*want >= '0' && *want <= '9')
		before = "_";
	else if (!strncmp(want, "common_", 7))
		before = "ctx_";	/* the record has its own of that name */
	(void)snprintf(name, sizeof(name), "%s%.150s", before,
		       *want ? want : "_");
	for (char *s = name; *s; s++) {
		int c = *s | 0x20;

		if (!(c >= 'a' && c <= 'z') && !(*s >= '0' && *s <= '9'))
			*s = '_';
	}
	len = strlen(name);
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->name[i] && !strcmp(p->name[i], name)) {
			(void)snprintf(name + len, sizeof(name) - len, "_%u",
				       p->nr);
			break;
		}
	return strdup(name);
}

static int plan_leaf(struct planner *p, const bt_field_class *fc,
		     const char *name)
{
	bt_field_class_type t = bt_field_class_get_type(fc);
	struct tacho_bt2_slot *s = &p->slot[p->nr];

	if (p->nr == SLOTS_MAX || p->at > FIXED_MAX)
		return -E2BIG;
	*s = (struct tacho_bt2_slot){ .size = 1 };
	if (is_unsigned(t) || is_signed(t)) {
		s->number = true;
		s->is_signed = is_signed(t);
		s->size = int_size(fc);
	} else if (is_real(t)) {
		s->number = s->is_real = true;
		s->size = t == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL ? 4 : 8;
	} else if (t == BT_FIELD_CLASS_TYPE_BOOL) {
		s->number = true;
	} else {
		s->dynamic = true;
	}
	if (is_array(t)) {
		const bt_field_class *e =
			bt_field_class_array_borrow_element_field_class_const(fc);
		bt_field_class_type et = bt_field_class_get_type(e);

		if (is_unsigned(et) || is_signed(et)) {
			s->number = true;
			s->is_signed = is_signed(et);
			s->size = int_size(e);
		}
	}
	if (p->contexts && !s->is_real)
		s->role = role_of(name);
	p->at = TACHO_ALIGN_UP(p->at, s->dynamic ? 4u : s->size);
	s->offset = (uint16_t)p->at;
	p->at += s->dynamic ? 4u : s->size;
	p->class[p->nr] = fc;
	p->name[p->nr] = slot_name(p, name);
	return p->name[p->nr++] ? 0 : -ENOMEM;
}

static int plan_field(struct planner *p, const bt_field_class *fc,
		      const char *name, int depth)
{
	uint64_t n;

	if (!fc || bt_field_class_get_type(fc) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return fc ? plan_leaf(p, fc, name) : 0;
	if (depth > DEPTH_MAX)
		return -E2BIG;
	n = bt_field_class_structure_get_member_count(fc);
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(fc, i);
		const char *member = bt_field_class_structure_member_get_name(m);
		char full[200];
		int err;

		(void)snprintf(full, sizeof(full), *name ? "%.90s_%.100s" : "%.0s%.100s",
			       name, member);
		err = plan_field(p,
			bt_field_class_structure_member_borrow_field_class_const(m),
			full, depth + 1);
		if (err)
			return err;
	}
	return 0;
}

static void put_label(struct tacho_buf *out, const char *label)
{
	for (; *label; label++) {
		unsigned char c = (unsigned char)*label;

		/* what would end the string or the list is left out */
		if (c >= 32 && c < 127 && c != '"' && c != '\\' && c != '%')
			tacho_buf_putc(out, (char)c);
	}
}

/* ", { 1, "one" }" for every label that stands for one value. */
static void put_labels(struct tacho_buf *out, const bt_field_class *fc)
{
	bool sign = bt_field_class_get_type(fc) ==
		    BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION;
	uint64_t n = bt_field_class_enumeration_get_mapping_count(fc);

	for (uint64_t i = 0; i < n && i < LABELS_MAX; i++) {
		const bt_field_class_enumeration_mapping *m;
		int64_t lo, hi;

		if (sign) {
			const bt_field_class_enumeration_signed_mapping *sm =
				bt_field_class_enumeration_signed_borrow_mapping_by_index_const(fc, i);
			const bt_integer_range_signed *r =
				bt_integer_range_set_signed_borrow_range_by_index_const(
				bt_field_class_enumeration_signed_mapping_borrow_ranges_const(sm), 0);
			m = bt_field_class_enumeration_signed_mapping_as_mapping_const(sm);
			lo = bt_integer_range_signed_get_lower(r);
			hi = bt_integer_range_signed_get_upper(r);
		} else {
			const bt_field_class_enumeration_unsigned_mapping *um =
				bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(fc, i);
			const bt_integer_range_unsigned *r =
				bt_integer_range_set_unsigned_borrow_range_by_index_const(
				bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(um), 0);
			m = bt_field_class_enumeration_unsigned_mapping_as_mapping_const(um);
			lo = (int64_t)bt_integer_range_unsigned_get_lower(r);
			hi = (int64_t)bt_integer_range_unsigned_get_upper(r);
		}
		if (lo != hi)
			continue;
		tacho_buf_printf(out, ", { %" PRId64 ", \"", lo);
		put_label(out, bt_field_class_enumeration_mapping_get_label(m));
		tacho_buf_puts(out, "\" }");
	}
}

/* How the print format shows a slot, and from what. */
static void put_print(struct planner *p, uint32_t i)
{
	const struct tacho_bt2_slot *s = &p->slot[i];
	bt_field_class_type t = bt_field_class_get_type(p->class[i]);
	const char *name = p->name[i];

	tacho_buf_printf(&p->fmt, "%s%s=", i ? " " : "", name);
	if (s->dynamic && s->number) {
		tacho_buf_puts(&p->fmt, "%s");
		tacho_buf_printf(&p->args, ", __print_array(__get_dynamic_array(%s), __get_dynamic_array_len(%s) / %u, %u)",
				 name, name, s->size, s->size);
	} else if (s->dynamic) {
		tacho_buf_puts(&p->fmt, "%s");
		tacho_buf_printf(&p->args, ", __get_str(%s)", name);
	} else if (t == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION ||
		   t == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION) {
		tacho_buf_puts(&p->fmt, "%s");
		tacho_buf_printf(&p->args, ", __print_symbolic(REC->%s", name);
		put_labels(&p->args, p->class[i]);
		tacho_buf_putc(&p->args, ')');
	} else if (s->is_real) {
		tacho_buf_puts(&p->fmt, "%g");
		tacho_buf_printf(&p->args, ", REC->%s", name);
	} else {
		bool hex = t != BT_FIELD_CLASS_TYPE_BOOL &&
			bt_field_class_integer_get_preferred_display_base(p->class[i]) ==
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;

		tacho_buf_printf(&p->fmt, "%s%%%s%s", hex ? "0x" : "",
				 s->size == 8 ? "ll" : "",
				 hex ? "x" : s->is_signed ? "d" : "u");
		tacho_buf_printf(&p->args, ", REC->%s", name);
	}
}

static void put_field(struct planner *p, uint32_t i)
{
	const struct tacho_bt2_slot *s = &p->slot[i];
	char elem[8];

	if (s->is_real)
		(void)snprintf(elem, sizeof(elem), "%s",
			       s->size == 4 ? "float" : "double");
	else
		(void)snprintf(elem, sizeof(elem), "%c%u",
			       s->is_signed ? 's' : 'u', s->size * 8u);
	tacho_buf_printf(&p->fields,
		"\tfield:%s%s%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		s->dynamic ? "__data_loc " : "", s->number ? elem : "char",
		s->dynamic ? "[]" : "", p->name[i], s->offset,
		s->dynamic ? 4u : s->size, s->is_signed && !s->dynamic);
}

static const struct tacho_type *make_type(struct planner *p,
					  struct tacho_arena *arena,
					  const char *class_name,
					  const char *system, uint32_t id)
{
	struct tacho_buf *b = &p->fields;
	const char *colon = strchr(class_name, ':');
	const struct tacho_type *type;
	struct tacho_diag d = { 0 };
	char first[128], name[256];

	tacho_buf_puts(b, TACHO_COMMON_FIELDS);
	for (uint32_t i = 0; i < p->nr; i++) {
		put_field(p, i);
		put_print(p, i);
	}
	if (p->mark) {
		tacho_buf_printf(b, "\tfield:u32 " MARK ";\toffset:%u;\tsize:4;\tsigned:0;\n",
				 p->mark);
		tacho_buf_printf(&p->fmt, "%s" MARK "=%%u", p->nr ? " " : "");
		tacho_buf_puts(&p->args, ", REC->" MARK);
	}
	tacho_buf_puts(b, "\nprint fmt: \"");
	tacho_buf_put(b, p->fmt.data, p->fmt.len);
	tacho_buf_putc(b, '"');
	tacho_buf_put(b, p->args.data, p->args.len);
	tacho_buf_putc(b, '\n');
	/* LTTng's "provider:event" is our "system:event" */
	if (colon)
		(void)snprintf(first, sizeof(first), "%.*s",
			       (int)(colon - class_name), class_name);
	else
		(void)snprintf(first, sizeof(first), "%s", system);
	(void)snprintf(name, sizeof(name), "%s", colon ? colon + 1 : class_name);
	for (char *s = name; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == ':' || *s == 127)
			*s = '_';
	if (tacho_buf_error(b) || tacho_buf_error(&p->fmt) ||
	    tacho_buf_error(&p->args))
		return NULL;
	type = tacho_type_parse(arena, *first ? first : "ctf",
				*name ? name : "event", id, b->data, b->len, &d);
	return type;
}

/* The four trees of an event, in the order in which they are walked. */
static int plan_trees(struct planner *p, const bt_event_class *class)
{
	const bt_stream_class *sc = bt_event_class_borrow_stream_class_const(class);
	int err;

	err = plan_field(p, bt_event_class_borrow_payload_field_class_const(class),
			 "", 0);
	p->contexts = true;
	if (!err)
		err = plan_field(p,
			bt_event_class_borrow_specific_context_field_class_const(class),
			"", 0);
	if (!err)
		err = plan_field(p,
			bt_stream_class_borrow_event_common_context_field_class_const(sc),
			"", 0);
	return err;
}

/* The slots of the plan: each knows how many dynamic ones come after it. */
static void copy_slots(struct tacho_bt2_plan *plan, const struct planner *p)
{
	uint16_t later = 0;

	for (uint32_t i = p->nr; i--;) {
		plan->slot[i] = p->slot[i];
		plan->slot[i].later = later;
		later += p->slot[i].dynamic;
	}
}

struct tacho_bt2_plan *tacho_bt2_plan_new(struct tacho_arena *arena,
					  const bt_event_class *class,
					  const char *system, uint32_t id, bool marked)
{
	struct tacho_bt2_plan *plan = tacho_arena_alloc(arena, sizeof(*plan));
	struct planner *p = calloc(1, sizeof(*p));
	const char *name = bt_event_class_get_name(class);
	int err = -ENOMEM;

	if (plan && p) {
		tacho_buf_init(&p->fields, (size_t)1 << 20);
		tacho_buf_init(&p->fmt, (size_t)1 << 18);
		tacho_buf_init(&p->args, (size_t)1 << 18);
		p->at = sizeof(struct tacho_common);
		err = plan_trees(p, class);
		/* too many fields: as many as there is room for */
		if (err == -E2BIG) {
			marked = true;
			err = 0;
		}
		if (marked) {
			p->mark = TACHO_ALIGN_UP(p->at, 4u);
			p->at = p->mark + 4;
		}
	}
	if (!err) {
		plan->class = class;
		plan->nr_slots = p->nr;
		plan->fixed = p->at;
		plan->mark = p->mark;
		plan->marked = p->mark ? plan : NULL;
		plan->slot = tacho_arena_array(arena, p->nr + 1, sizeof(*plan->slot));
		if (plan->slot)
			copy_slots(plan, p);
		plan->type = make_type(p, arena, name ? name : "event", system, id);
		if (!plan->slot || !plan->type)
			err = -ENOMEM;
	}
	if (p) {
		for (uint32_t i = 0; i < p->nr; i++)
			free(p->name[i]);
		tacho_buf_release(&p->fields);
		tacho_buf_release(&p->fmt);
		tacho_buf_release(&p->args);
		free(p);
	}
	return err ? NULL : plan;
}

/* ---- values as text ------------------------------------------------------ */

static void render(struct tacho_buf *out, const bt_field *f, int depth);

static void render_list(struct tacho_buf *out, const bt_field *f, int depth)
{
	uint64_t n = bt_field_array_get_length(f);

	tacho_buf_putc(out, '[');
	for (uint64_t i = 0; i < n && out->len < TEXT_MAX; i++) {
		if (i)
			tacho_buf_puts(out, ", ");
		render(out, bt_field_array_borrow_element_field_by_index_const(f, i),
		       depth);
	}
	tacho_buf_putc(out, ']');
}

static void render_struct(struct tacho_buf *out, const bt_field *f, int depth)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	tacho_buf_putc(out, '{');
	for (uint64_t i = 0; i < n && out->len < TEXT_MAX; i++) {
		tacho_buf_printf(out, "%s%s=", i ? ", " : "",
			bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(fc, i)));
		render(out, bt_field_structure_borrow_member_field_by_index_const(f, i),
		       depth);
	}
	tacho_buf_putc(out, '}');
}

static void render(struct tacho_buf *out, const bt_field *f, int depth)
{
	bt_field_class_type t;

	if (!f || depth > DEPTH_MAX || out->len > TEXT_MAX)
		return;
	t = bt_field_get_class_type(f);
	if (is_unsigned(t))
		tacho_buf_put_u64(out, bt_field_integer_unsigned_get_value(f));
	else if (is_signed(t))
		tacho_buf_put_s64(out, bt_field_integer_signed_get_value(f));
	else if (is_array(t))
		render_list(out, f, depth + 1);
	else if (t == BT_FIELD_CLASS_TYPE_STRUCTURE)
		render_struct(out, f, depth + 1);
	else if (t == BT_FIELD_CLASS_TYPE_STRING)
		tacho_buf_put(out, bt_field_string_get_value(f),
			      bt_field_string_get_length(f));
	else if (t == BT_FIELD_CLASS_TYPE_BOOL)
		tacho_buf_putc(out, bt_field_bool_get_value(f) ? '1' : '0');
	else if (t == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		tacho_buf_printf(out, "0x%" PRIx64,
				 bt_field_bit_array_get_value_as_integer(f));
	else if (t == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		tacho_text_shortest(out, (double)
			bt_field_real_single_precision_get_value(f), 4);
	else if (t == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		tacho_text_shortest(out,
			bt_field_real_double_precision_get_value(f), 8);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_OPTION))
		render(out, bt_field_option_borrow_field_const(f), depth + 1);
	else if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_VARIANT))
		render(out, bt_field_variant_borrow_selected_option_field_const(f),
		       depth + 1);
}

/* ---- events -------------------------------------------------------------- */

struct encoder {
	const struct tacho_bt2_plan *plan;
	uint32_t slot;
	size_t start;		/* of the raw event in out */
	struct tacho_buf *out;
	struct tacho_bt2_thread *thread;
	uint8_t tid_role;	/* the best so far */
	uint32_t cut;		/* fields that are not whole */
};

static uint64_t real_bits(const bt_field *f)
{
	uint64_t wide = 0;
	uint32_t narrow;
	double d;
	float s;

	if (bt_field_get_class_type(f) ==
	    BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		s = bt_field_real_single_precision_get_value(f);
		memcpy(&narrow, &s, sizeof(narrow));
		return narrow;
	}
	d = bt_field_real_double_precision_get_value(f);
	memcpy(&wide, &d, sizeof(wide));
	return wide;
}

static uint64_t int_value(const bt_field *f)
{
	bt_field_class_type t = bt_field_get_class_type(f);

	if (is_signed(t))
		return (uint64_t)bt_field_integer_signed_get_value(f);
	if (t == BT_FIELD_CLASS_TYPE_BOOL)
		return bt_field_bool_get_value(f) != 0;
	return bt_field_integer_unsigned_get_value(f);
}

static void put_int(char *to, uint64_t v, uint8_t size)
{
	if (size == 1)
		*to = (char)v;
	else if (size == 2)
		tacho_put_u16(to, (uint16_t)v);
	else if (size == 4)
		tacho_put_u32(to, (uint32_t)v);
	else
		tacho_put_u64(to, v);
}

/* Bytes that this slot's data may take, a NUL set aside for it and for each after it. */
static size_t room_left(const struct encoder *e, const struct tacho_bt2_slot *s)
{
	size_t used = e->out->len - e->start + 1 + s->later;

	return used < TACHO_RAW_MAX - 7 ? TACHO_RAW_MAX - 7 - used : 0;
}

static void put_text(struct encoder *e, const struct tacho_bt2_slot *s,
		     const char *text, size_t len)
{
	if (len > room_left(e, s)) {
		len = room_left(e, s);
		e->cut++;
	}
	tacho_buf_put(e->out, text, len);
	tacho_buf_putc(e->out, '\0');
	if (s->role == TACHO_BT2_PROCNAME)
		(void)snprintf(e->thread->comm, sizeof(e->thread->comm), "%.*s",
			       (int)(len < 15 ? len : 15), text);
}

static void put_numbers(struct encoder *e, const struct tacho_bt2_slot *s,
			const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);

	if (n > room_left(e, s) / s->size) {
		n = room_left(e, s) / s->size;
		e->cut++;
	}
	for (uint64_t i = 0; i < n; i++) {
		char *to = tacho_buf_reserve(e->out, s->size);

		if (!to)
			return;
		put_int(to, int_value(
			bt_field_array_borrow_element_field_by_index_const(f, i)),
			s->size);
		tacho_buf_commit(e->out, s->size);
	}
}

static void put_dynamic(struct encoder *e, const struct tacho_bt2_slot *s,
			const bt_field *f)
{
	bt_field_class_type t = bt_field_get_class_type(f);
	size_t from = e->out->len - e->start;
	struct tacho_buf text;

	if (s->number) {
		put_numbers(e, s, f);
	} else if (t == BT_FIELD_CLASS_TYPE_STRING) {
		put_text(e, s, bt_field_string_get_value(f),
			 bt_field_string_get_length(f));
	} else {
		/* one element more than there is room for may stand in it */
		tacho_buf_init(&text, 64 * TEXT_MAX);
		render(&text, f, 0);
		if (tacho_buf_error(&text))
			text.len = 0;
		e->cut += tacho_buf_error(&text) != 0;
		put_text(e, s, text.len ? tacho_buf_str(&text) : "", text.len);
		tacho_buf_release(&text);
	}
	if (!tacho_buf_error(e->out))
		tacho_put_u32(e->out->data + e->start + s->offset,
			      (uint32_t)from |
			      (uint32_t)(e->out->len - e->start - from) << 16);
}

static void encode_leaf(struct encoder *e, const bt_field *f)
{
	const struct tacho_bt2_slot *s;
	uint64_t v;

	if (e->slot == e->plan->nr_slots) {
		e->cut++;
		return;
	}
	s = &e->plan->slot[e->slot++];
	if (s->dynamic) {
		put_dynamic(e, s, f);
		return;
	}
	v = s->is_real ? real_bits(f) : int_value(f);
	if (!tacho_buf_error(e->out))
		put_int(e->out->data + e->start + s->offset, v, s->size);
	if (s->role == TACHO_BT2_VPID || s->role == TACHO_BT2_PID)
		e->thread->tgid = (int32_t)v;
	if (s->role != TACHO_BT2_PLAIN && s->role != TACHO_BT2_PROCNAME &&
	    s->role >= e->tid_role) {
		e->tid_role = s->role;
		e->thread->tid = (int32_t)v;
	}
}

static void encode(struct encoder *e, const bt_field *f, int depth)
{
	uint64_t n;

	if (!f || depth > DEPTH_MAX + 1)
		return;
	if (bt_field_get_class_type(f) != BT_FIELD_CLASS_TYPE_STRUCTURE) {
		encode_leaf(e, f);
		return;
	}
	n = bt_field_class_structure_get_member_count(
		bt_field_borrow_class_const(f));
	for (uint64_t i = 0; i < n; i++)
		encode(e, bt_field_structure_borrow_member_field_by_index_const(f, i),
		       depth + 1);
}

int tacho_bt2_convert(const struct tacho_bt2_plan *plan, const bt_event *event,
		      uint64_t ticks, struct tacho_bt2_thread *thread,
		      struct tacho_buf *out, uint32_t *cut)
{
	size_t first = out->len, size;
	struct encoder e = { .plan = plan, .out = out, .thread = thread,
			     .start = out->len + 8 };
	struct tacho_common common = { .type = (uint16_t)plan->type->id };
	char *to = tacho_buf_reserve(out, 8 + (size_t)plan->fixed);

	if (!to)
		return -ENOMEM;
	memset(to, 0, 8 + (size_t)plan->fixed);
	tacho_buf_commit(out, 8 + (size_t)plan->fixed);
	*thread = (struct tacho_bt2_thread){ 0 };
	*cut = 0;
	encode(&e, bt_event_borrow_payload_field_const(event), 0);
	encode(&e, bt_event_borrow_specific_context_field_const(event), 0);
	encode(&e, bt_event_borrow_common_context_field_const(event), 0);
	*cut = e.cut;
	if (e.cut && !plan->mark) {
		out->len = first;
		return 0;
	}
	if (plan->mark && !tacho_buf_error(out))
		tacho_put_u32(out->data + e.start + plan->mark, e.cut);
	while ((out->len - first) % 8)
		tacho_buf_putc(out, '\0');
	if (tacho_buf_error(out)) {
		out->len = first;
		return -ENOMEM;
	}
	size = out->len - first;
	common.pid = thread->tid;
	tacho_put_u64(out->data + first, tacho_record_word(ticks, size));
	memcpy(out->data + first + 8, &common, sizeof(common));
	return 0;
}
