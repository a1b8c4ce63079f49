// SPDX-License-Identifier: MIT
/* Values of a record: numbers, texts, keys.  Each text is kept once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_priv.h"
#include "stream/stream.h"

#define TEXT_MAX	512u

static uint64_t hash_text(const char *s, size_t len)
{
	uint64_t h = len, w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = model_mix(h, w);
	}
	w = 0;
	memcpy(&w, s, len);
	return model_mix(h, w);
}

uint64_t model_text_key(const char *s)
{
	return hash_text(s, strlen(s));
}

/* ---- one copy of each text ---- */

static bool grow_names(struct model *m)
{
	uint32_t room = m->names.room ? 2 * m->names.room : 256;
	const char **slot = room ? calloc(room, sizeof(*slot)) : NULL;

	if (!slot)
		return false;
	for (uint32_t i = 0; i < m->names.room; i++) {
		const char *s = m->names.slot[i];
		uint32_t at;

		if (!s)
			continue;
		at = (uint32_t)hash_text(s, strlen(s)) & (room - 1);
		while (slot[at])
			at = (at + 1) & (room - 1);
		slot[at] = s;
	}
	free(m->names.slot);
	m->names.slot = slot;
	m->names.room = room;
	return true;
}

const char *model_intern(struct model *m, const char *s, size_t len)
{
	uint32_t at;
	char *own;

	if (!len)
		return "";
	if (m->names.nr * 2 >= m->names.room && !grow_names(m)) {
		(void)model_fail(m, -ENOMEM);
		return "";
	}
	at = (uint32_t)hash_text(s, len) & (m->names.room - 1);
	for (; m->names.slot[at]; at = (at + 1) & (m->names.room - 1))
		if (!strncmp(m->names.slot[at], s, len) && !m->names.slot[at][len])
			return m->names.slot[at];
	own = tacho_arena_strndup(&m->names.arena, s, len);
	if (!own) {
		/* the arena is full: so many names are of no use */
		if (m->names.arena.no_memory)
			(void)model_fail(m, -ENOMEM);
		return "?";
	}
	m->names.slot[at] = own;
	m->names.nr++;
	return own;
}

void model_names_release(struct model *m)
{
	free(m->names.slot);
	tacho_arena_release(&m->names.arena);
}

/* ---- numbers ---- */

bool model_int(struct model *m, const struct model_value *v, int64_t *value)
{
	uint64_t n;

	if (!v->field || !tacho_field_int(v->field, m->r->raw, m->r->len, &n))
		return false;
	*value = v->how == MODEL_AS_S32 ? (int32_t)n : (int64_t)n;
	return true;
}

bool model_double(struct model *m, const struct model_value *v, double *value)
{
	int64_t n;

	if (model_int(m, v, &n)) {
		*value = v->field->flags & TACHO_FIELD_SIGNED || v->how == MODEL_AS_S32 ?
			 (double)n : (double)(uint64_t)n;
		return true;
	}
	return v->field && tacho_field_double(v->field, m->r->raw, m->r->len, value);
}

/* ---- texts ---- */

static const char *from_bytes(struct model *m, const struct model_value *v)
{
	size_t len;
	const char *s = tacho_field_data(v->field, m->r->raw, m->r->len, &len);

	if (!s || !(v->field->flags & TACHO_FIELD_STRING))
		return "";
	len = strnlen(s, len < TEXT_MAX ? len : TEXT_MAX);
	if (v->how == MODEL_AS_BASE) {
		const char *slash = memrchr(s, '/', len);

		if (slash) {
			len -= (size_t)(slash + 1 - s);
			s = slash + 1;
		}
		len = len < 15 ? len : 15;
	}
	return model_intern(m, s, len);
}

static const char *syscall_text(struct model *m, uint64_t nr)
{
	const char *name;
	char s[32];

	name = tacho_stream_syscall(m->stream, nr);
	if (name)
		return model_intern(m, name, strlen(name));
	(void)snprintf(s, sizeof(s), "syscall_%lld", (long long)nr);
	return model_intern(m, s, strlen(s));
}

static const char *symbol_text(struct model *m, uint64_t addr)
{
	const struct tacho_symbols *all = tacho_source_symbols(tacho_stream_current(m->stream));
	const char *name;
	uint64_t start;
	char s[32];

	name = all ? tacho_symbols_at(all, addr, &start) : NULL;
	if (name)
		return model_intern(m, name, strlen(name));
	(void)snprintf(s, sizeof(s), "0x%llx", (unsigned long long)addr);
	return model_intern(m, s, strlen(s));
}

/* The letters of a number, the last one in its lowest byte. */
static const char *chars_text(struct model *m, uint64_t value)
{
	char s[8];
	size_t n = 0;

	for (int shift = 56; shift >= 0; shift -= 8)
		if (value >> shift & 0xff)
			s[n++] = (char)(value >> shift & 0xff);
	return model_intern(m, s, n);
}

static const char *named_text(struct model *m, const struct model_value *v, int64_t value)
{
	const struct tacho_name_table *t = &v->names;
	uint64_t bits = (uint64_t)value & t->mask, is;
	char s[TEXT_MAX];
	size_t len, n = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		const char *name = tacho_name_table_at(t, i, &is, &len);

		if (!t->flags && is == bits)
			return model_intern(m, name, len);
		if (!t->flags || !is || (bits & is) != is || n + len + 2 > sizeof(s))
			continue;
		if (n)
			s[n++] = '|';
		memcpy(s + n, name, len);
		n += len;
		bits &= ~is;
	}
	if (!n)
		n = (size_t)snprintf(s, sizeof(s), "%lld", (long long)value);
	return model_intern(m, s, n);
}

const char *model_text(struct model *m, const struct model_value *v)
{
	int64_t value;
	char s[64];

	if (!v->field)
		return v->text ? v->text : "";
	if (!model_int(m, v, &value))
		return from_bytes(m, v);
	if (v->how == MODEL_AS_NAME)
		return named_text(m, v, value);
	if (v->how == MODEL_AS_SYSCALL)
		return syscall_text(m, (uint64_t)value);
	if (v->how == MODEL_AS_SYM)
		return symbol_text(m, (uint64_t)value);
	if (v->how == MODEL_AS_CHARS)
		return chars_text(m, (uint64_t)value);
	if (v->how == MODEL_AS_DEV)
		(void)snprintf(s, sizeof(s), "%llu,%llu", (unsigned long long)value >> 20,
			       (unsigned long long)value & 0xfffff);
	else if (v->field->flags & TACHO_FIELD_SIGNED || v->how == MODEL_AS_S32)
		(void)snprintf(s, sizeof(s), "%lld", (long long)value);
	else
		(void)snprintf(s, sizeof(s), "%llu", (unsigned long long)value);
	return model_intern(m, s, strlen(s));
}

/* ---- keys ---- */

static bool add_key(struct model *m, const struct model_value *v, uint64_t *key)
{
	int64_t n;
	size_t len;
	const char *s;

	if (!v->field) {
		*key = model_mix(*key, hash_text(v->text, strlen(v->text)));
		return true;
	}
	if (model_int(m, v, &n)) {
		*key = model_mix(*key, (uint64_t)n);
		return true;
	}
	s = tacho_field_data(v->field, m->r->raw, m->r->len, &len);
	if (!s)
		return false;
	if (v->field->flags & TACHO_FIELD_STRING)
		len = strnlen(s, len);
	*key = model_mix(*key, hash_text(s, len));
	return true;
}

bool model_key(struct model *m, const struct model_action *a, uint64_t seed, uint64_t *key)
{
	*key = seed;
	for (uint32_t i = 0; i < a->nr_keys; i++)
		if (!add_key(m, &a->key[i], key))
			return false;
	return true;
}
