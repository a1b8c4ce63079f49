// SPDX-License-Identifier: MIT
/* Texts and stacks of an event; the key. */
#include "engine/hist_priv.h"

#include <errno.h>
#include <string.h>

#include "engine/names.h"

/* The kernel's name for a thread without a known name. */
static void unnamed(char comm[16], int32_t pid)
{
	comm[0] = '\0';
	if (pid <= 0)
		memcpy(comm, pid ? "<XXX>" : "<idle>", pid ? 6 : 7);
}

const char *hist_comm(struct hist_frame *f)
{
	const struct tacho_names *names = f->rec->names;

	if (f->comm_known)
		return f->comm;
	f->comm_known = true;
	if (f->rec->pid <= 0 || !names || !names->comm ||
	    !names->comm(names->arg, f->rec->pid, f->comm))
		unnamed(f->comm, f->rec->pid);
	f->comm[15] = '\0';
	return f->comm;
}

const char *hist_string(const struct hist_value *v, struct hist_frame *f,
			uint32_t *len)
{
	const char *s = NULL;
	size_t size = 0;

	if (v->flags & HIST_IS_REF) {
		s = f->ref_text[v->ref];
		size = TACHO_MAP_TEXT;
	} else if (v->flags & HIST_IS_COMM) {
		s = hist_comm(f);
		size = sizeof(f->comm);
	} else if (v->field) {
		s = tacho_field_data(v->field, f->rec->raw, f->rec->len, &size);
	}
	if (!s) {
		*len = 0;
		return "";
	}
	*len = (uint32_t)strnlen(s, size < HIST_STRING ? size : HIST_STRING);
	return s;
}

/* Finds the addresses of a stack that begins with a count, as in kernel events. */
static const void *counted_stack(const unsigned char *p, size_t size,
				 uint32_t *nr)
{
	uint64_t words = size / 8, count = words ? tacho_load_u64(p) : 0;

	if (words && count <= TACHO_HIST_STACK) {
		p += 8;
		words = count < words - 1 ? count : words - 1;
	}
	*nr = words < TACHO_HIST_STACK ? (uint32_t)words : TACHO_HIST_STACK;
	return p;
}

const void *hist_stack(const struct hist_value *v, struct hist_frame *f,
		       uint32_t *nr)
{
	const void *p = NULL;
	size_t size = 0;

	if (v->flags & HIST_IS_REF) {
		p = f->ref_text[v->ref];
		size = (TACHO_HIST_STACK + 1) * 8;
	} else if (v->field) {
		p = tacho_field_data(v->field, f->rec->raw, f->rec->len, &size);
	} else {
		*nr = f->rec->nr_stack < TACHO_HIST_STACK ? f->rec->nr_stack
							  : TACHO_HIST_STACK;
		if (!f->rec->stack)
			*nr = 0;
		return f->rec->stack;
	}
	*nr = 0;
	return p ? counted_stack(p, size, nr) : NULL;
}

/* Copies whole words, because other threads may be reading, and pads with zeroes. */
static void keep_bytes(char *to, const void *from, uint32_t len)
{
	uint64_t *word = (uint64_t *)(void *)to;

	for (uint32_t at = 0; at < len; at += 8, word++) {
		uint64_t w = 0;

		memcpy(&w, (const char *)from + at, len - at < 8 ? len - at : 8);
		tacho_store_relaxed(word, w);
	}
	if (len % 8 == 0 && len < TACHO_MAP_TEXT)
		tacho_store_relaxed(word, 0);
}

void hist_keep_string(char *to, const char *s, uint32_t len, uint32_t room)
{
	if (room > TACHO_MAP_TEXT)
		room = TACHO_MAP_TEXT;
	keep_bytes(to, s, len < room ? len : room - 1);
}

void hist_keep_text(const struct hist_value *v, struct hist_frame *f, char *to)
{
	uint32_t len;

	if (v->flags & HIST_IS_STRING) {
		const char *s = hist_string(v, f, &len);

		hist_keep_string(to, s, len, v->size);
	} else {
		const void *stack = hist_stack(v, f, &len);

		tacho_store_relaxed((uint64_t *)(void *)to, len);
		if (len)
			keep_bytes(to + 8, stack, len * 8);
	}
}

/* Stores one part of the key; its room is zeroed before. */
static void add_to_key(const struct hist_key *k, struct hist_frame *f,
		       unsigned char *key)
{
	uint32_t len;

	if (k->column.shape == TACHO_SHAPE_STRING) {
		const char *s = hist_string(&k->value, f, &len);

		memcpy(key, s, len < k->column.size ? len : k->column.size - 1);
	} else {
		const void *stack = hist_stack(&k->value, f, &len);

		if (len)
			memcpy(key, stack, len * 8);
	}
}

void hist_build_key(const struct tacho_hist *h, struct hist_frame *f,
		    uint64_t *key)
{
	/* maps of others may have longer keys */
	memset(key, 0, h->nr_refs ? TACHO_MAP_KEY_MAX : h->g.key_size);
	for (uint32_t i = 0; i < h->nr_keys; i++) {
		const struct hist_key *k = &h->key[i];
		uint64_t *to = key + k->column.offset / 8;

		if (tacho_likely(k->column.shape == TACHO_SHAPE_NUMBER))
			*to = hist_number(&k->value, f);
		else
			add_to_key(k, f, (unsigned char *)to);
	}
}

/* ---- binding ---- */

/* Decides a key's place and form in the key. */
static void place_key(struct tacho_hist *h, const struct tacho_hist_expr *x,
		      struct hist_key *k)
{
	k->column.expr = x;
	k->column.name = k->value.name;
	k->column.is_signed = k->value.is_signed;
	/* the kernel compares buckets like the field, by the field's type */
	k->column.order_size = 8;
	if (x->mods & TACHO_MOD_BUCKETS && k->value.size && k->value.size < 8)
		k->column.order_size = (uint8_t)k->value.size;
	k->column.offset = h->g.key_size;
	k->column.size = 8;
	k->column.comm = HIST_NONE;
	if (k->value.flags & HIST_IS_STRING) {
		k->column.shape = TACHO_SHAPE_STRING;
		k->column.size = TACHO_ALIGN_UP(k->value.size, 8);
	} else if (k->value.flags & HIST_IS_STACK) {
		k->column.shape = TACHO_SHAPE_STACK;
		k->column.size = TACHO_HIST_STACK * 8;
	} else if (k->value.flags & HIST_IS_COMM) {
		if (h->comm == HIST_NONE)
			h->comm = h->g.nr_texts++;
		k->column.comm = h->comm;
	}
}

static bool refers(const struct hist_value *v)
{
	for (uint32_t i = 0; i < v->nr_ops; i++)
		if (v->op[i].code == HIST_REF)
			return true;
	return v->flags & HIST_IS_REF;
}

static int bind_key(struct hist_binder *b, const struct tacho_hist_expr *x,
		    struct hist_key *k)
{
	struct tacho_hist *h = b->h;
	int err;

	if (x->mods & (TACHO_MOD_PERCENT | TACHO_MOD_GRAPH))
		return hist_fail(b, -EINVAL, x->mods & TACHO_MOD_GRAPH ?
				 "graph" : "percent", "Invalid field modifier");
	err = hist_bind_expr(b, x, h->nr_vars, &k->value);
	if (err)
		return err;
	if (refers(&k->value))
		return hist_fail(b, -EINVAL, x->text,
				 "Using variable references in keys not supported");
	place_key(h, x, k);
	h->g.key_size += k->column.size;
	if (h->g.key_size > TACHO_MAP_KEY_MAX)
		return hist_fail(b, -EINVAL, x->text,
				 "Keys are longer than 384 bytes");
	return 0;
}

int hist_bind_keys(struct hist_binder *b)
{
	const struct tacho_hist_spec *spec = b->h->spec;

	if (!spec->nr_keys || spec->nr_keys > TACHO_HIST_KEYS_MAX)
		return hist_fail(b, -EINVAL, NULL, "1 to 3 keys are needed");
	for (uint32_t i = 0; i < spec->nr_keys; i++) {
		int err = bind_key(b, spec->key[i], &b->h->key[i]);

		if (err)
			return err;
		b->h->nr_keys++;
	}
	return 0;
}
