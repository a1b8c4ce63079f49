// SPDX-License-Identifier: MIT
/* Converts LTT's records to tacho's: all those that walk.c does not copy directly. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/digits.h"
#include "base/scan.h"
#include "base/text.h"
#include "fmt/ltt/part.h"

/* Bytes of data that a record of ours has room for after any of LTT's structs. */
#define DATA_MAX	(TACHO_RECORD_MAX - 512u)

/* ---- one record of ours --------------------------------------------------------------- */

struct put {
	unsigned char *raw;	/* after the first word */
	uint32_t len;		/* of the raw event so far */
};

static void put_begin(struct put *put, struct tacho_ltt_batch *b)
{
	put->raw = b->out + b->len + 8;
	put->len = 0;
}

static void put_common(struct put *put, uint32_t type, int32_t pid)
{
	tacho_put_u64(put->raw, tacho_common_word((uint16_t)type, pid));
	put->len = 8;
}

static void put_bytes(struct put *put, const void *p, size_t len)
{
	memcpy(put->raw + put->len, p, len);
	put->len += (uint32_t)len;
}

/* The word that finds len bytes of data, at `at`, and then the data. */
static void put_data(struct put *put, uint32_t at, const void *p, size_t len,
		     bool terminate)
{
	uint32_t whole = (uint32_t)len + terminate;

	memset(put->raw + put->len, 0, at - put->len);
	tacho_put_u32(put->raw + at, (at + 4) | whole << 16);
	put->len = at + 4;
	put_bytes(put, p, len);
	if (terminate)
		put->raw[put->len++] = 0;
}

static void put_end(struct put *put, struct tacho_ltt_source *s,
		    struct tacho_ltt_batch *b, uint64_t ns, size_t ltt_size)
{
	uint32_t size;

	if (s->plain) {
		memset(put->raw + put->len, 0, 8);
		put->len = LTT_ALIGN(put->len) + 8;
		tacho_put_u64(put->raw + put->len - 8, ltt_size);
	}
	memset(put->raw + put->len, 0, 8);
	size = LTT_ALIGN(put->len) + 8;
	tacho_put_u64(put->raw - 8, tacho_record_word(ns, size));
	b->len += size;
	b->last = ns;
}

/* ---- the other byte order ----------------------------------------------------------- */

/* Turns the struct that stands after the common fields. */
static void turn(const struct tacho_ltt_source *s, unsigned char *body, uint32_t id)
{
	const struct tacho_ltt_shape *shape = &s->shape[id];
	bool masks = tacho_ltt_is_22(s->layout) &&
		     (id == TRACE_START || id == TRACE_CHANGE_MASK);

	for (uint32_t i = 0; i < shape->nr; i++) {
		const struct tacho_ltt_elem *e = &shape->elem[i];

		if (masks && e->size == 8)
			tacho_ltt_put(e, body, false,
				      le64toh(tacho_ltt_get(e, body, false)));
		else
			tacho_ltt_put(e, body, false, tacho_ltt_get(e, body, true));
	}
}

/* ---- custom events ------------------------------------------------------------------ */

static uint32_t u32_of(const struct tacho_ltt_source *s, const void *p)
{
	uint32_t v = tacho_load_u32(p);

	return s->swap ? __builtin_bswap32(v) : v;
}

/* "page cache" is no name of an event, page_cache is. */
static void type_name(char *to, size_t size, const char *from, size_t len,
		      uint32_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < len && from[i] && n + 1 < size; i++) {
		char ch = from[i];
		bool good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    ch == '_' || (ch >= '0' && ch <= '9' && n);

		to[n++] = good ? ch : '_';
	}
	to[n] = '\0';
	if (!n)
		(void)tacho_digits(stpcpy(to, "custom_"), id);
}

/* Two ids of one name: the second one has its number after it. */
static bool name_taken(const struct tacho_ltt_source *s, const char *name)
{
	for (uint32_t i = 0; i < s->customs.nr_slots; i++) {
		const struct tacho_ltt_custom *c = &s->customs.slot[i];

		if (c->kind == LTT_CUSTOM_DECLARED && c->type &&
		    !strcmp(c->type->name, name))
			return true;
	}
	return false;
}

static void declare_type(struct tacho_ltt_source *s, struct tacho_ltt_custom *c,
			 const char *type_text)
{
	uint32_t id = LTT_TYPE_DECLARED + s->customs.nr_types;
	char name[64] = "";

	c->type = NULL;
	if (id >= LTT_TYPE_END)
		return;
	type_name(name, 32, type_text, CUSTOM_EVENT_TYPE_STR_LEN, c->id);
	if (name_taken(s, name)) {
		size_t n = strlen(name);

		name[n++] = '_';
		*tacho_digits(name + n, c->id) = '\0';
	}
	c->type = tacho_ltt_custom_type(&s->arena, s->layout, id, name, c->text);
	if (!c->type || tacho_source_set_type(&s->source, TACHO_STREAM_KERNEL, id,
					      c->type))
		c->type = NULL;
	else
		s->customs.nr_types++;
}

static bool field_is(const struct tacho_ltt_elem *e, const unsigned char *body,
		     const char *text)
{
	size_t len = strlen(text) + 1;

	return len <= e->size && !memcmp(body + e->at, text, len);
}

/* NEW_EVENT; *hide: it is not shown. */
static int declare(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   const struct tacho_ltt_record *r, bool *hide)
{
	const struct tacho_ltt_shape *shape = &s->shape[TRACE_NEW_EVENT];
	const struct tacho_ltt_elem *type = &shape->elem[1], *form = &shape->elem[4];
	uint64_t hash = tacho_hash(r->body + 4, shape->size - 4, 0);
	bool ours = !s->plain && field_is(form, r->body, LTT_EMBED_FORM);
	bool embedded = !s->plain && field_is(form, r->body, LTT_EMBED_EVENT_FORM);
	struct tacho_ltt_custom *c;

	c = tacho_ltt_custom_add(&s->customs, u32_of(s, r->body));
	if (!c && s->customs.no_memory)
		tacho_source_failed(&s->source, -ENOMEM, "");
	if (!c)
		return tacho_ltt_damage(s, p, r->at, "too many custom events");
	*hide = ours || embedded;
	if (c->hash == hash)
		return TACHO_STREAM_RECORD;
	c->hash = hash;
	c->text = u32_of(s, r->body + shape->elem[3].at) ==
		  CUSTOM_EVENT_FORMAT_TYPE_STR;
	c->kind = embedded ? LTT_CUSTOM_PENDING :
		  field_is(type, r->body, LTT_EMBED_LOST) && ours ? LTT_CUSTOM_LOST :
		  field_is(type, r->body, LTT_EMBED_TYPE) && ours ? LTT_CUSTOM_TYPES :
								    LTT_CUSTOM_DECLARED;
	if (c->kind == LTT_CUSTOM_DECLARED && !*hide)
		declare_type(s, c, (const char *)r->body + type->at);
	return TACHO_STREAM_RECORD;
}

/* An id for an embedded type: its own if that is free. */
static uint32_t free_type_id(const struct tacho_ltt_source *s, uint32_t stream_id,
			     uint32_t want)
{
	const struct tacho_type_table *t = &s->source.table[stream_id];

	if (want && want < LTT_TYPE_FIRST && (want >= t->nr || !t->type[want]))
		return want;
	for (uint32_t id = 1; id < LTT_TYPE_FIRST; id++)
		if (id >= t->nr || !t->type[id])
			return id;
	return 0;
}

/* The same type, declared in another file. */
static const struct tacho_type *known_type(const struct tacho_ltt_source *s,
					   uint64_t hash, uint32_t stream_id)
{
	for (uint32_t i = 0; i < s->customs.nr_slots; i++) {
		const struct tacho_ltt_custom *c = &s->customs.slot[i];

		if (c->kind == LTT_CUSTOM_EMBEDDED && c->text_hash == hash &&
		    c->stream_id == stream_id)
			return c->type;
	}
	return NULL;
}

static bool order_is_ours(const char *word)
{
	return !strncmp(word, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le " : "be ",
			3);
}

/* "ID: 301" in a format; 0: it has none. */
static uint32_t own_id(const char *text)
{
	uint64_t v;

	return tacho_scan_after(text, NULL, "\nID: ", UINT16_MAX, &v) ? 0 : (uint32_t)v;
}

/* The text of an embedded type is complete. */
static bool embedded_type(struct tacho_ltt_source *s, struct tacho_ltt_custom *c,
		       struct tacho_buf *text)
{
	char *line = (char *)(uintptr_t)tacho_buf_str(text);
	char *format = strchr(line, '\n'), *system;
	uint64_t hash = tacho_hash(text->data, text->len, 0);
	uint32_t id;

	if (!format || !order_is_ours(line))
		return false;
	*format++ = '\0';
	c->stream_id = strncmp(line + 3, "program ", 8) ? TACHO_STREAM_KERNEL :
							  TACHO_STREAM_PROGRAM;
	system = strrchr(line, ' ') + 1;
	c->type = known_type(s, hash, c->stream_id);
	c->text_hash = hash;
	if (c->type)
		return true;
	if (strncmp(format, "name: ", 6))
		return false;
	id = free_type_id(s, c->stream_id, own_id(format));
	if (!id)
		return false;
	{
		char name[256] = "";

		strncat(name, format + 6, strcspn(format + 6, "\n") < 255 ?
			strcspn(format + 6, "\n") : 255);
		c->type = tacho_type_parse(&s->arena, system, name, id, format,
					   text->len - (size_t)(format - line), NULL);
	}
	return c->type && !tacho_source_set_type(&s->source, c->stream_id, id, c->type);
}

static int take_fragment(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
			 const struct tacho_ltt_record *r, const unsigned char *data,
			 size_t len)
{
	struct tacho_ltt_fragments *pc = &p->fragments;
	struct tacho_ltt_custom *c;
	uint32_t id, total, offset;

	if (len < LTT_EMBED_HEAD)
		return tacho_ltt_damage(s, p, r->at, "a fragment of a type is too short");
	id = u32_of(s, data);
	total = u32_of(s, data + 4);
	offset = u32_of(s, data + 8);
	c = tacho_ltt_custom_find(&s->customs, id);
	if (!c || c->kind == LTT_CUSTOM_EMBEDDED)
		return TACHO_STREAM_RECORD;
	if (!offset) {
		tacho_buf_reset(&pc->text);
		pc->id = id;
	}
	if (c->kind != LTT_CUSTOM_PENDING || pc->id != id || pc->text.len != offset)
		return tacho_ltt_damage(s, p, r->at, "a fragment of a type without the "
					"one before it");
	tacho_buf_put(&pc->text, data + LTT_EMBED_HEAD, len - LTT_EMBED_HEAD);
	if (tacho_buf_error(&pc->text) == -ENOMEM)
		tacho_source_failed(&s->source, -ENOMEM, "");
	if (pc->text.len < total)
		return TACHO_STREAM_RECORD;
	if (embedded_type(s, c, &pc->text)) {
		c->kind = LTT_CUSTOM_EMBEDDED;
		return TACHO_STREAM_RECORD;
	}
	c->type = NULL;
	return tacho_ltt_damage(s, p, r->at, "the type of the embedded event %u cannot "
				"be read", id);
}

/* The event that a record embeds. */
static int emit_embedded(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
			struct tacho_ltt_batch *b, const struct tacho_ltt_record *r,
			const struct tacho_ltt_custom *c, const unsigned char *raw,
			size_t len)
{
	uint64_t ns = tacho_ltt_ns(&p->clock);
	struct put put;

	if (len < 8 || len > TACHO_RAW_MAX)
		return tacho_ltt_damage(s, p, r->at, "an embedded event of %zu bytes", len);
	if (!tacho_ltt_fits(b, ns, c->stream_id))
		return TACHO_STREAM_AGAIN;
	put_begin(&put, b);
	put_bytes(&put, raw, len);
	tacho_put_u16(put.raw, (uint16_t)c->type->id);
	put_end(&put, s, b, ns, r->size);
	return TACHO_STREAM_RECORD;
}

static int take_lost(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		     struct tacho_ltt_batch *b, const struct tacho_ltt_record *r,
		     const unsigned char *data, size_t len)
{
	uint64_t n;

	if (len < 8)
		return tacho_ltt_damage(s, p, r->at, "a record of lost events is short");
	/* they are reported with the following record */
	if (b->len)
		return TACHO_STREAM_AGAIN;
	n = tacho_load_u64(data);
	p->part.lost += s->swap ? __builtin_bswap64(n) : n;
	return TACHO_STREAM_RECORD;
}

/* ---- events ------------------------------------------------------------------------- */

/* How much of the data a record holds; what is cut is counted. */
static size_t fit(struct tacho_ltt_source *s, size_t len)
{
	if (len <= DATA_MAX)
		return len;
	s->source.truncated++;
	return DATA_MAX;
}

static int emit_raw(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		    struct tacho_ltt_batch *b, const struct tacho_ltt_record *r)
{
	uint64_t ns = tacho_ltt_ns(&p->clock);
	unsigned char ids[2] = { (unsigned char)r->id, (unsigned char)r->sub };
	struct put put;
	size_t len;

	if (!tacho_ltt_fits(b, ns, TACHO_STREAM_KERNEL))
		return TACHO_STREAM_AGAIN;
	len = fit(s, r->len);
	put_begin(&put, b);
	put_common(&put, LTT_TYPE_RAW, p->pid);
	put_bytes(&put, ids, 2);
	put_data(&put, 12, r->body, len, false);
	put_end(&put, s, b, ns, r->size);
	return TACHO_STREAM_RECORD;
}

static void put_struct(struct put *put, const struct tacho_ltt_source *s,
		       const struct tacho_ltt_record *r)
{
	put_bytes(put, r->body, s->shape[r->id].size);
	if (s->swap)
		turn(s, put->raw + 8, r->id);
}

/* CUSTOM of an id that was declared, or of one that was not. */
static int emit_custom(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		       struct tacho_ltt_batch *b, const struct tacho_ltt_record *r)
{
	const struct tacho_ltt_shape *shape = &s->shape[TRACE_CUSTOM];
	uint32_t id = u32_of(s, r->body), n = u32_of(s, r->body + 4);
	const struct tacho_ltt_custom *c = tacho_ltt_custom_find(&s->customs, id);
	const unsigned char *data = r->body + shape->size;
	size_t len = r->len - shape->size;
	uint64_t ns = tacho_ltt_ns(&p->clock);
	int status = TACHO_STREAM_RECORD;
	struct put put;

	if (c && c->kind == LTT_CUSTOM_LOST && n <= len)
		return take_lost(s, p, b, r, data, n);
	if (c && c->kind == LTT_CUSTOM_TYPES && n <= len)
		return take_fragment(s, p, r, data, n);
	if (c && c->kind == LTT_CUSTOM_EMBEDDED && n <= len)
		return emit_embedded(s, p, b, r, c, data, n);
	if (!tacho_ltt_fits(b, ns, TACHO_STREAM_KERNEL))
		return TACHO_STREAM_AGAIN;
	if (n > len)
		status = tacho_ltt_damage(s, p, r->at, "a custom event says %u bytes of "
					  "data and has %zu", n, len);
	else if (!c)
		status = tacho_ltt_damage(s, p, r->at, "a custom event of the id %u, which "
					  "no NEW_EVENT declared; shown raw", id);
	if (status == TACHO_STREAM_ERROR)
		return status;
	if (n < len)
		len = n;
	put_begin(&put, b);
	put_common(&put, c && c->type && c->kind == LTT_CUSTOM_DECLARED ? c->type->id :
		   LTT_TYPE_CUSTOM, p->pid);
	put_struct(&put, s, r);
	put_data(&put, tacho_ltt_loc_at(shape), data, fit(s, len),
		 c && c->text && c->type);
	put_end(&put, s, b, ns, r->size);
	return status;
}

/* The raw event after the struct of a record of lttfull, or NULL. */
static const unsigned char *tail_of(const struct tacho_ltt_source *s,
				    const struct tacho_ltt_record *r, size_t at,
				    const struct tacho_ltt_custom **c, size_t *len)
{
	at = (at + 3) & ~(size_t)3;
	if (s->plain || at > r->len || r->len - at < LTT_TAIL_HEAD ||
	    u32_of(s, r->body + at) != LTT_TAIL_MAGIC)
		return NULL;
	*c = tacho_ltt_custom_find(&s->customs, u32_of(s, r->body + at + 4));
	*len = u32_of(s, r->body + at + 8);
	if (!*c || (*c)->kind != LTT_CUSTOM_EMBEDDED || *len > r->len - at - LTT_TAIL_HEAD)
		return NULL;
	return r->body + at + LTT_TAIL_HEAD;
}

/* An event whose struct is all there. */
static int emit_event(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		      struct tacho_ltt_batch *b, const struct tacho_ltt_record *r,
		      const struct tacho_ltt_event *ev)
{
	const struct tacho_ltt_shape *shape = &s->shape[r->id];
	uint64_t ns = tacho_ltt_ns(&p->clock);
	const struct tacho_ltt_custom *c;
	const unsigned char *raw;
	size_t name = 0, len;
	struct put put;

	if (ev->data == TACHO_LTT_NAME) {
		/* the length stands in the struct's last number that is its own */
		name = u32_of(s, r->body + shape->elem[tacho_ltt_is_22(s->layout) ? 2 :
							1].at);
		if (name > r->len - shape->size)
			name = r->len - shape->size;
	}
	raw = tail_of(s, r, shape->size + name, &c, &len);
	if (raw)
		return emit_embedded(s, p, b, r, c, raw, len);
	if (!tacho_ltt_fits(b, ns, TACHO_STREAM_KERNEL))
		return TACHO_STREAM_AGAIN;
	put_begin(&put, b);
	put_common(&put, LTT_TYPE(r->id, r->sub), p->pid);
	put_struct(&put, s, r);
	if (ev->data == TACHO_LTT_NAME)
		put_data(&put, tacho_ltt_loc_at(shape), r->body + shape->size, fit(s, name),
			 true);
	put_end(&put, s, b, ns, r->size);
	return TACHO_STREAM_RECORD;
}

static int emit_bare(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		     struct tacho_ltt_batch *b, const struct tacho_ltt_record *r)
{
	uint64_t ns = tacho_ltt_ns(&p->clock);
	struct put put;

	if (!tacho_ltt_fits(b, ns, TACHO_STREAM_KERNEL))
		return TACHO_STREAM_AGAIN;
	put_begin(&put, b);
	put_common(&put, LTT_TYPE_BARE(r->id, r->sub), p->pid);
	put_end(&put, s, b, ns, r->size);
	return TACHO_STREAM_RECORD;
}

/* Of 2.3: its struct is another one.  After those of tacho's stand whole events. */
static bool is_too_long(const struct tacho_ltt_source *s, const struct tacho_ltt_part *p,
			const struct tacho_ltt_record *r, const struct tacho_ltt_event *ev)
{
	return !ev->data && !p->file.made && !tacho_ltt_is_22(s->layout) &&
	       r->len > LTT_ALIGN(LTT_HEAD + s->shape[r->id].size) - LTT_HEAD;
}

int tacho_ltt_emit(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		   struct tacho_ltt_batch *b, const struct tacho_ltt_record *r)
{
	const struct tacho_ltt_event *ev = tacho_ltt_event(r->id, r->sub);
	int status = TACHO_STREAM_RECORD;
	bool hide = false;

	if (!ev)
		return emit_raw(s, p, b, r);
	if (!r->len && s->shape[r->id].size)
		return emit_bare(s, p, b, r);
	if (r->len < s->shape[r->id].size || is_too_long(s, p, r, ev)) {
		const char *how = r->len < s->shape[r->id].size ? "short" : "long";

		status = emit_raw(s, p, b, r);
		if (status != TACHO_STREAM_RECORD)
			return status;
		return tacho_ltt_damage(s, p, r->at, "a record of %zu bytes is too %s "
					"for %s; shown raw", r->size, how, ev->name);
	}
	if (r->id == TRACE_CUSTOM)
		return emit_custom(s, p, b, r);
	if (p->file.made && !s->plain &&
	    (r->id == TRACE_BUFFER_START || r->id == TRACE_BUFFER_END ||
	     r->id == TRACE_START || r->id == TRACE_HEARTBEAT))
		return status;
	if (r->id == TRACE_NEW_EVENT)
		status = declare(s, p, r, &hide);
	if (hide || status == TACHO_STREAM_ERROR)
		return status;
	status = emit_event(s, p, b, r, ev);
	if (status == TACHO_STREAM_RECORD && r->id == TRACE_SCHEDCHANGE)
		p->pid = (int32_t)u32_of(s, r->body + 4);
	return status;
}

static void plan_turns(const struct tacho_ltt_source *s, struct tacho_ltt_plan *plan,
		       uint32_t id)
{
	for (uint32_t i = 0; s->swap && i < s->shape[id].nr; i++) {
		const struct tacho_ltt_elem *e = &s->shape[id].elem[i];

		if (e->size == 1)
			continue;
		plan->turn[plan->nr_turn].at = (uint8_t)e->at;
		plan->turn[plan->nr_turn++].size = (uint8_t)e->size;
	}
}

int tacho_ltt_load_type(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
			const struct tacho_ltt_record *r)
{
	const struct tacho_ltt_custom *c;
	uint32_t n;
	bool hide;

	if (r->sub || r->id > TRACE_MAX || !r->len || r->len < s->shape[r->id].size)
		return TACHO_STREAM_RECORD;
	if (r->id == TRACE_NEW_EVENT)
		return declare(s, p, r, &hide);
	if (r->id != TRACE_CUSTOM)
		return TACHO_STREAM_RECORD;
	c = tacho_ltt_custom_find(&s->customs, u32_of(s, r->body));
	n = u32_of(s, r->body + 4);
	if (!c || c->kind != LTT_CUSTOM_TYPES || n > r->len - s->shape[r->id].size)
		return TACHO_STREAM_RECORD;
	return take_fragment(s, p, r, r->body + s->shape[r->id].size, n);
}

void tacho_ltt_plans(struct tacho_ltt_source *s)
{
	for (uint32_t i = 0; i < LTT_PLANS; i++)
		s->plan[i].size = LTT_NO_PLAN;
	if (s->plain || tacho_ltt_is_22(s->layout))
		return;
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++) {
		const struct tacho_ltt_event *ev = &tacho_ltt_events[i];
		uint32_t size = LTT_ALIGN(LTT_HEAD + s->shape[ev->id].size);

		if (ev->data != TACHO_LTT_NO_DATA || ev->id == TRACE_START ||
		    ev->id == TRACE_NEW_EVENT || ev->id == TRACE_BUFFER_START ||
		    ev->id == TRACE_BUFFER_END || ev->id == TRACE_HEARTBEAT)
			continue;
		s->plan[(uint32_t)ev->id << 4 | ev->sub] = (struct tacho_ltt_plan){
			.size = size, .out = (uint16_t)(size + 8),
			.type = (uint16_t)LTT_TYPE(ev->id, ev->sub),
			.sched = ev->id == TRACE_SCHEDCHANGE };
		plan_turns(s, &s->plan[(uint32_t)ev->id << 4 | ev->sub], ev->id);
	}
}
