// SPDX-License-Identifier: MIT
#include "view/tile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define MAGIC		UINT32_C(0x31306c74)	/* "tl01" */
#define CLOSED		1u

/* A run of equal buckets, as it is written. */
struct run {
	uint16_t first, buckets;
	uint32_t items, longest, name;
	uint8_t share, covered, lost, uncertain;
	uint8_t state[MODEL_NR_STATES];
	double min, max, last;
};

/* ---- bytes ---- */

static void put_u16(struct tacho_buf *b, uint16_t v)
{
	unsigned char bytes[2];

	tacho_put_le16(bytes, v);
	tacho_buf_put(b, bytes, sizeof(bytes));
}

static void put_u32(struct tacho_buf *b, uint32_t v)
{
	unsigned char bytes[4];

	tacho_put_le32(bytes, v);
	tacho_buf_put(b, bytes, sizeof(bytes));
}

static void put_double(struct tacho_buf *b, double v)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tacho_put_le64(bytes, bits);
	tacho_buf_put(b, bytes, sizeof(bytes));
}

static void align(struct tacho_buf *b, size_t to)
{
	while (b->len % to && !tacho_buf_error(b))
		tacho_buf_putc(b, '\0');
}

static void set_u32(struct tacho_buf *b, uint64_t at, uint64_t v)
{
	if (!tacho_buf_error(b))
		tacho_put_le32((unsigned char *)b->data + at, (uint32_t)v);
}

/* ---- names ---- */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int add_name(struct view_tiles *t, uint32_t name)
{
	if (t->nr_names && t->name[t->nr_names - 1] == name)
		return 0;
	if (t->nr_names == t->room_names) {
		uint32_t room = t->room_names ? 2 * t->room_names : 256;
		uint32_t *list = reallocarray(t->name, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		t->name = list;
		t->room_names = room;
	}
	t->name[t->nr_names++] = name;
	return 0;
}

/* ---- buckets ---- */

static uint8_t share(uint64_t part, uint64_t width)
{
	uint64_t v = (part * 255 + width / 2) / width;

	return part && !v ? 1 : v < 255 ? (uint8_t)v : 255;
}

static uint8_t log2_of(uint64_t n)
{
	uint8_t v = 0;

	for (; n; n >>= 1)
		v++;
	return v;
}

static bool is_state(enum model_track_kind kind)
{
	return kind == MODEL_STATE;
}

/* What of a bucket is covered by anything that is known. */
static uint64_t covered_of(const struct index_sum *s, enum model_track_kind kind)
{
	uint64_t sum = 0;

	if (kind == MODEL_RUNNING)
		return s->covered[MODEL_RUNS];
	if (!is_state(kind))
		return s->covered[0];
	for (int i = 0; i < MODEL_NR_STATES; i++)
		sum += s->covered[i];
	return sum;
}

static struct run run_of(const struct index_sum *s, enum model_track_kind kind, uint64_t width)
{
	struct run r = {
		.items = s->begins < UINT32_MAX ? (uint32_t)s->begins : UINT32_MAX,
		.longest = s->longest < UINT32_MAX ? (uint32_t)s->longest : UINT32_MAX,
		.name = is_state(kind) ? 0 : s->longest_name,
		.covered = share(covered_of(s, kind), width),
		.lost = log2_of(s->lost),
		.uncertain = share(s->uncertain, width),
		.min = s->min, .max = s->max, .last = s->last,
	};

	r.share = s->longest >= width / 2 ? r.covered : 0;
	for (int i = 0; is_state(kind) && i < MODEL_NR_STATES; i++)
		r.state[i] = share(s->covered[i], width);
	return r;
}

static bool is_empty(const struct run *r, enum model_track_kind kind)
{
	return !r->items && !r->covered && !r->lost && !r->uncertain &&
	       (kind != MODEL_COUNTER || isnan(r->last));
}

static bool same_double(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* Whether b continues a: nothing begins in it, and all else is equal. */
static bool continues(const struct run *a, const struct run *b)
{
	return a->first + a->buckets == b->first && !b->items && a->longest == b->longest &&
	       a->name == b->name && a->share == b->share && a->covered == b->covered &&
	       a->lost == b->lost && a->uncertain == b->uncertain &&
	       !memcmp(a->state, b->state, sizeof(a->state)) && same_double(a->min, b->min) &&
	       same_double(a->max, b->max) && same_double(a->last, b->last);
}

/* ---- a tile ---- */

#define COLUMN_U8(member)							\
	do {									\
		for (uint32_t i_ = 0; i_ < n; i_++)				\
			tacho_buf_putc(b, (char)run[i_].member);		\
		align(b, 4);							\
	} while (0)

static void put_states(struct tacho_buf *b, const struct run *run, uint32_t n)
{
	uint32_t code[MODEL_NR_STATES], nr = 0;

	for (uint32_t s = 0; s < MODEL_NR_STATES; s++)
		for (uint32_t i = 0; i < n; i++)
			if (run[i].state[s]) {
				code[nr++] = s;
				break;
			}
	put_u32(b, nr);
	for (uint32_t s = 0; s < nr; s++)
		put_u32(b, code[s]);
	for (uint32_t s = 0; s < nr; s++)
		COLUMN_U8(state[code[s]]);
}

static void put_runs(struct tacho_buf *b, const struct run *run, uint32_t n,
		     enum model_track_kind kind)
{
	for (uint32_t i = 0; i < n; i++)
		put_u16(b, run[i].first);
	align(b, 4);
	for (uint32_t i = 0; i < n; i++)
		put_u16(b, run[i].buckets);
	align(b, 4);
	for (uint32_t i = 0; i < n; i++)
		put_u32(b, run[i].items);
	for (uint32_t i = 0; i < n; i++)
		put_u32(b, run[i].longest);
	for (uint32_t i = 0; i < n; i++)
		put_u32(b, run[i].name);
	COLUMN_U8(share);
	COLUMN_U8(covered);
	COLUMN_U8(lost);
	COLUMN_U8(uncertain);
	if (is_state(kind))
		put_states(b, run, n);
	if (kind != MODEL_COUNTER)
		return;
	align(b, 8);
	for (uint32_t i = 0; i < n; i++)
		put_double(b, run[i].min);
	for (uint32_t i = 0; i < n; i++)
		put_double(b, run[i].max);
	for (uint32_t i = 0; i < n; i++)
		put_double(b, run[i].last);
}

/* Buckets into runs; their names are noted.  The number of runs, or -ENOMEM. */
static int make_runs(struct view_tiles *t, struct run *run, uint32_t nr_buckets, uint64_t width,
		     enum model_track_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr_buckets; i++) {
		struct run r = run_of(&t->bucket[i], kind, width);

		if (is_empty(&r, kind))
			continue;
		r.first = (uint16_t)i;
		r.buckets = 1;
		if (n && continues(&run[n - 1], &r)) {
			run[n - 1].buckets++;
			continue;
		}
		run[n++] = r;
		if (r.name && add_name(t, r.name))
			return -ENOMEM;
	}
	return (int)n;
}

int view_tiles_begin(struct view_tiles *t, struct index *index, uint64_t base, uint64_t until,
		     struct tacho_buf *out)
{
	*t = (struct view_tiles){ .index = index, .base = base, .until = until, .out = out };
	t->bucket = malloc(VIEW_TILE_BUCKETS * sizeof(*t->bucket));
	if (!t->bucket)
		return -ENOMEM;
	put_u32(out, MAGIC);
	t->count_at = out->len;
	put_u32(out, 0);
	put_u32(out, 0);
	put_u32(out, 0);
	t->begin_at = out->len;
	return tacho_buf_error(out);
}

int view_tiles_add(struct view_tiles *t, uint32_t track, uint32_t k, uint64_t i,
		   struct tacho_diag *d)
{
	const uint32_t nr = k < 9 ? 1u << k : VIEW_TILE_BUCKETS;
	const uint64_t width = k < 9 ? 1 : UINT64_C(1) << (k - 9);
	struct run run[VIEW_TILE_BUCKETS];
	struct model_track track_of;
	struct tacho_buf *b = t->out;
	uint64_t from, begin = b->len;
	int n, err;

	if (k > VIEW_TILE_LEVEL_MAX || (i && i > (UINT64_MAX >> k)) ||
	    t->base + (i << k) < t->base)
		return tacho_diag(d, -EINVAL, 0, "there is no tile %llu of level %u",
				  (unsigned long long)i, k);
	from = t->base + (i << k);
	err = index_track(t->index, track, &track_of);
	if (!err)
		err = index_buckets(t->index, track, from, width, nr, t->bucket, d);
	if (err)
		return tacho_diag(d, err, 0, "cannot read track %u: %s", track, strerror(-err));
	n = make_runs(t, run, nr, width, track_of.kind);
	if (n < 0)
		return tacho_no_memory(d);
	put_u32(b, track);
	put_u16(b, 0);
	tacho_buf_putc(b, (char)track_of.kind);
	tacho_buf_putc(b, (char)(from + ((uint64_t)nr * width) <= t->until ? CLOSED : 0));
	put_u32(b, (uint32_t)n);
	put_u32(b, 0);
	put_runs(b, run, (uint32_t)n, track_of.kind);
	align(b, 8);
	set_u32(b, begin + 12, b->len - begin);
	t->nr++;
	return tacho_buf_error(b) ? tacho_no_memory(d) : 0;
}

int view_tiles_end(struct view_tiles *t)
{
	struct tacho_buf *b = t->out;
	uint64_t tiles = b->len - t->begin_at, names = b->len;
	uint32_t nr = 0, nr_at;

	set_u32(b, t->count_at, t->nr);
	set_u32(b, t->count_at + 4, tiles);
	nr_at = (uint32_t)b->len;
	put_u32(b, 0);
	if (t->nr_names)
		qsort(t->name, t->nr_names, sizeof(*t->name), by_number);
	for (uint32_t i = 0; i < t->nr_names; i++) {
		const char *text;

		if (i && t->name[i] == t->name[i - 1])
			continue;
		text = index_name(t->index, t->name[i]);
		if (!text)
			continue;
		put_u32(b, t->name[i]);
		put_u32(b, (uint32_t)strlen(text));
		tacho_buf_puts(b, text);
		align(b, 4);
		nr++;
	}
	set_u32(b, nr_at, nr);
	set_u32(b, t->count_at + 8, b->len - names);
	return tacho_buf_error(b);
}

void view_tiles_release(struct view_tiles *t)
{
	free(t->bucket);
	free(t->name);
}
