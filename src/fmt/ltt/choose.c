// SPDX-License-Identifier: MIT
#include "fmt/ltt/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* How much of a buffer is looked at, and of all. */
#define LOOK_MAX	((size_t)64 << 10)
#define LOOK_ALL	((uint64_t)256 << 20)

/* Fewer records do not make a file one that fits nothing. */
#define FEW		8u

static const enum tacho_ltt_layout layouts[TACHO_LTT_NR_23] = {
	TACHO_LTT_64, TACHO_LTT_32, TACHO_LTT_PRINTED,
};

const char *tacho_ltt_layout_name(enum tacho_ltt_layout layout)
{
	return layout == TACHO_LTT_64 || layout == TACHO_LTT_22_MV64 ? "64" :
	       layout == TACHO_LTT_PRINTED ? "text" : "32";
}

/* ---- one record -------------------------------------------------------------------- */

/* What follows the struct, where the struct says so; false: it does not. */
static bool data_len(const struct tacho_ltt_file *f, uint32_t id, uint32_t sub,
		     const unsigned char *body, size_t len, size_t *data)
{
	*data = 0;
	if (id == TRACE_FILE_SYSTEM && (sub == TRACE_FILE_SYSTEM_EXEC ||
					sub == TRACE_FILE_SYSTEM_OPEN))
		return false;	/* whether the name's NUL counts is not known */
	if (id != TRACE_CUSTOM)
		return true;
	if (len < 8)
		return false;
	*data = tacho_ltt_u32(f, body + 4);
	return *data <= len;
}

static bool all_zeros(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* Step 4. */
static bool is_odd(const struct tacho_ltt_file *f, const struct tacho_ltt_shape *shape,
		   const unsigned char *body)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < shape->nr; i++) {
		const struct tacho_ltt_elem *e = &shape->elem[i];
		uint64_t v = e->size == 8 ? tacho_ltt_get(e, body, f->swap) : 0;

		if ((v >> 32 && !(uint32_t)v) || !all_zeros(body + at, e->at - at))
			return true;
		at = e->at + e->size;
	}
	return false;
}

static bool same_numbers(const struct tacho_ltt_file *f, const struct tacho_ltt_shape *a,
			 const struct tacho_ltt_shape *b, const unsigned char *body)
{
	for (uint32_t i = 0; i < a->nr && i < b->nr; i++)
		if (!a->elem[i].text && tacho_ltt_get(&a->elem[i], body, f->swap) !=
		    tacho_ltt_get(&b->elem[i], body, f->swap))
			return false;
	return true;
}

static void try_record(struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f,
		       const unsigned char *p, size_t size)
{
	struct tacho_ltt_shape shape[TACHO_LTT_NR_23];
	const unsigned char *body = p + LTT_HEAD;
	bool fits[TACHO_LTT_NR_23] = { false };
	size_t len = size - LTT_HEAD, data;

	if (!len || p[4] > TRACE_MAX || !data_len(f, p[4], p[5], body, len, &data))
		return;
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++) {
		size_t want;
		bool packed, padded;

		tacho_ltt_shape(&shape[i], layouts[i], f->s390, p[4]);
		if (!shape[i].nr)
			return;
		want = shape[i].size + data;
		packed = len == want;
		padded = len == LTT_ALIGN(want) &&
			 all_zeros(body + want, len - want);
		fit->fits[i][0] += packed;
		fit->fits[i][1] += padded;
		fits[i] = packed || padded;
		fit->odd[i] += fits[i] && is_odd(f, &shape[i], body);
		for (uint32_t k = 0; k < i; k++)
			if (fits[i] && fits[k] &&
			    !same_numbers(f, &shape[i], &shape[k], body))
				fit->differ[i][k] = fit->differ[k][i] = true;
	}
	fit->seen++;
}

/* ---- a file ------------------------------------------------------------------------- */

static uint64_t fits_of(const struct tacho_ltt_fit *fit, enum tacho_ltt_layout layout)
{
	uint64_t packed = fit->fits[layout][0], padded = fit->fits[layout][1];

	return packed > padded ? packed : padded;
}

static void look(struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f,
		 const unsigned char *p, size_t len)
{
	size_t at = 0, size;

	for (; len - at >= LTT_HEAD; at += size) {
		size = tacho_ltt_u16(f, p + at + 6);
		if (size < LTT_HEAD || size > len - at)
			break;
		try_record(fit, f, p + at, size);
		if (p[at + 4] == TRACE_BUFFER_END)
			break;
	}
}

/* Step 2: whether it is enough. */
static bool is_clear(const struct tacho_ltt_fit *fit)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		nr += fits_of(fit, layouts[i]) == fit->seen;
	return nr == 1;
}

int tacho_ltt_fit_add(struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f)
{
	uint64_t all = 0;
	unsigned char *p = malloc(LOOK_MAX);
	int err = p ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < f->size && all < LOOK_ALL && !err;
	     at += f->buffer_size) {
		uint64_t left = f->size - at;
		size_t len = left > f->buffer_size ? f->buffer_size : (size_t)left;

		len = len > LOOK_MAX ? LOOK_MAX : len;
		err = tacho_ltt_file_read(f, at, p, len);
		if (!err)
			look(fit, f, p, len);
		all += len;
		if (is_clear(fit))
			break;
	}
	free(p);
	return err;
}

void tacho_ltt_fit_sum(struct tacho_ltt_fit *all, const struct tacho_ltt_fit *one)
{
	all->seen += one->seen;
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++) {
		all->fits[i][0] += one->fits[i][0];
		all->fits[i][1] += one->fits[i][1];
		all->odd[i] += one->odd[i];
		for (uint32_t k = 0; k < TACHO_LTT_NR_23; k++)
			all->differ[i][k] |= one->differ[i][k];
	}
}

bool tacho_ltt_fits_better(const struct tacho_ltt_fit *fit, enum tacho_ltt_layout layout)
{
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (fits_of(fit, layouts[i]) > fits_of(fit, layout))
			return true;
	return false;
}

static bool fits_most(const struct tacho_ltt_fit *fit, enum tacho_ltt_layout layout)
{
	return fit->seen < FEW || fits_of(fit, layout) >= fit->seen - fit->seen / 2;
}

/* ---- the choice ---------------------------------------------------------------------- */

/* Step 5: 0 when START does not tell. */
static bool machine_is(const struct tacho_ltt_file *f, enum tacho_ltt_layout layout)
{
	bool wide = f->arch == 0 || f->arch > TRACE_ARCH_TYPE_ARM;

	if (f->s390)	/* of 31 and of 64 bits */
		return true;
	return layout != (wide ? TACHO_LTT_32 : TACHO_LTT_64);
}

struct chooser {
	const struct tacho_ltt_fit *fit;
	unsigned int left;	/* a bit for each layout */
	bool matters;		/* they give different numbers */
};

static void drop(struct chooser *c, unsigned int keep)
{
	if (c->left & keep)
		c->left &= keep;
	c->matters = false;
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		for (uint32_t k = 0; k < i; k++)
			c->matters |= c->left >> i & 1 && c->left >> k & 1 &&
				      c->fit->differ[i][k];
}

static void keep_best(struct chooser *c)
{
	uint64_t most = 0;
	unsigned int keep = 0;

	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (c->left >> i & 1 && fits_of(c->fit, layouts[i]) > most)
			most = fits_of(c->fit, layouts[i]);
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (fits_of(c->fit, layouts[i]) == most)
			keep |= 1u << i;
	drop(c, keep);
}

static void keep_even(struct chooser *c)
{
	uint64_t least = UINT64_MAX;
	unsigned int keep = 0;

	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (c->left >> i & 1 && c->fit->odd[i] < least)
			least = c->fit->odd[i];
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (c->fit->odd[i] == least)
			keep |= 1u << i;
	drop(c, keep);
}

static void keep_machine(struct chooser *c, const struct tacho_ltt_file *f)
{
	unsigned int keep = 0;

	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (machine_is(f, layouts[i]))
			keep |= 1u << i;
	drop(c, keep);
}

static enum tacho_ltt_layout lowest(unsigned int left)
{
	for (uint32_t i = 0; i < TACHO_LTT_NR_23; i++)
		if (left >> i & 1)
			return layouts[i];
	return TACHO_LTT_64;
}

static int both_fit(const struct chooser *c, const struct tacho_ltt_file *f,
		    struct tacho_diag *d)
{
	enum tacho_ltt_layout a = lowest(c->left), b = lowest(c->left & ~(1u << a));

	return tacho_diag(d, -EINVAL, 0, "'%s' can be read as of LTT's layout '%s' and as of "
			  "'%s', which give different values; say which one it is: "
			  "--layout %s or --layout %s", f->path, tacho_ltt_layout_name(a),
			  tacho_ltt_layout_name(b), tacho_ltt_layout_name(a),
			  tacho_ltt_layout_name(b));
}

int tacho_ltt_choose(const struct tacho_ltt_fit *fit, const struct tacho_ltt_file *f,
		     enum tacho_ltt_layout *layout, enum tacho_ltt_layout *also,
		     struct tacho_diag *d)
{
	struct chooser c = { .fit = fit, .left = (1u << TACHO_LTT_NR_23) - 1 };
	unsigned int fitting;

	if (f->made)		/* tacho writes no other */
		c.left = 1u << TACHO_LTT_64 | 1u << TACHO_LTT_32;
	keep_best(&c);
	*also = TACHO_LTT_NR_23;
	*layout = lowest(c.left);
	if (!fits_most(fit, *layout) && !f->made)
		return tacho_diag(d, -EINVAL, 0, "'%s' has records of sizes that no known layout "
				  "of LTT 2.3 gives: %llu of %llu", f->path,
				  (unsigned long long)(fit->seen - fits_of(fit, *layout)),
				  (unsigned long long)fit->seen);
	fitting = c.matters ? c.left : 0;
	if (c.matters)
		keep_even(&c);
	if (c.matters || !fitting)
		keep_machine(&c, f);
	if (c.matters && !f->made)
		return both_fit(&c, f, d);
	*layout = lowest(c.left);
	for (uint32_t i = 0; i < TACHO_LTT_NR_23 && !f->made; i++)
		if (fitting >> i & 1 && fit->differ[i][*layout])
			*also = layouts[i];
	return 0;
}
