/* SPDX-License-Identifier: MIT */
#include "kdata/pages.h"

#include <stdbool.h>
#include <string.h>

#include "base/scan.h"


#define COMMIT_SIZE	0x3fffffffu
#define COMMIT_MISSED	(1u << 31)
#define COMMIT_STORED	(1u << 30)

enum event_kind {
	EVENT_LARGE = 0,
	EVENT_PADDING = 29,
	EVENT_EXTEND = 30,
	EVENT_STAMP = 31,
};

#define STAMP_BITS	59
#define STAMP_HIGH	(UINT64_C(0x1f) << STAMP_BITS)

/* The decimal number after `key` in a line of header_page. */
static bool line_number(const char *line, size_t len, const char *key,
			uint32_t *v)
{
	uint64_t n;

	if (tacho_scan_after(line, line + len, key, UINT32_MAX, &n))
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool header_field(const char *text, size_t len, const char *name,
			 uint32_t *offset, uint32_t *size)
{
	const char *at = memmem(text, len, name, strlen(name));
	const char *nl;

	if (!at)
		return false;
	len -= (size_t)(at - text);
	nl = memchr(at, '\n', len);
	if (nl)
		len = (size_t)(nl - at);
	return line_number(at, len, "offset:", offset) &&
	       line_number(at, len, "size:", size);
}

int tacho_kpage_layout_parse(struct tacho_kpage_layout *l, const char *text,
			     size_t len, struct tacho_diag *d)
{
	uint32_t time_size;

	memset(l, 0, sizeof(*l));
	if (!header_field(text, len, " timestamp;", &l->time_off, &time_size) ||
	    !header_field(text, len, " commit;", &l->commit_off,
			  &l->commit_size) ||
	    !header_field(text, len, " data;", &l->data_off, &l->data_size))
		return tacho_diag(d, -EINVAL, 0,
				  "events/header_page lacks a field");
	if (time_size != 8 || (l->commit_size != 4 && l->commit_size != 8) ||
	    l->data_off > 256 || l->time_off > 248 || l->commit_off > 248 ||
	    l->time_off + 8 > l->data_off ||
	    l->commit_off + l->commit_size > l->data_off)
		return tacho_diag(d, -EINVAL, 0,
				  "events/header_page describes an unknown layout");
	return 0;
}

static uint32_t load_commit(const unsigned char *at, uint32_t size)
{
	return size == 8 ? (uint32_t)tacho_load_u64(at) : tacho_load_u32(at);
}

static int64_t load_lost(const unsigned char *bytes, size_t len, size_t behind,
			 uint32_t commit, uint32_t size)
{
	uint64_t n;

	if (!(commit & COMMIT_MISSED))
		return 0;
	if (!(commit & COMMIT_STORED) || len - behind < size)
		return -1;
	n = size == 8 ? tacho_load_u64(bytes + behind) :
			tacho_load_u32(bytes + behind);
	return n && n <= INT64_MAX ? (int64_t)n : -1;
}

int tacho_kpage_open_part(struct tacho_kpage *p,
			  const struct tacho_kpage_layout *l,
			  const void *bytes, size_t len, size_t size)
{
	const unsigned char *b = bytes;
	uint32_t commit, used;

	if (len < l->data_off || size > len - l->data_off)
		return -EBADMSG;
	commit = load_commit(b + l->commit_off, l->commit_size);
	used = commit & COMMIT_SIZE;
	p->time = tacho_load_u64(b + l->time_off);
	p->lost = used > len - l->data_off ? 0 :
		  load_lost(b, len, l->data_off + used, commit,
			    l->commit_size);
	p->pos = b + l->data_off;
	p->end = p->pos + size;
	return 0;
}

int tacho_kpage_open(struct tacho_kpage *p, const struct tacho_kpage_layout *l,
		     const void *bytes, size_t len)
{
	const unsigned char *b = bytes;

	if (len < l->data_off)
		return -EBADMSG;
	return tacho_kpage_open_part(p, l, bytes, len,
				     load_commit(b + l->commit_off,
						 l->commit_size) & COMMIT_SIZE);
}

int tacho_kpage_extend(struct tacho_kpage *p,
		       const struct tacho_kpage_layout *l,
		       const void *bytes, size_t len, size_t size)
{
	const unsigned char *data = (const unsigned char *)bytes + l->data_off;

	if (len < l->data_off || size > len - l->data_off ||
	    size < (size_t)(p->pos - data))
		return -EBADMSG;
	p->end = data + size;
	return 0;
}

int tacho_kpage_other(struct tacho_kpage *p, uint32_t type, uint32_t delta,
		      struct tacho_kevent *ev)
{
	size_t left = (size_t)(p->end - p->pos);
	uint64_t time;
	uint32_t n;

	if (type == EVENT_PADDING && !delta) {
		p->pos = p->end;
		return 0;
	}
	if (left < 8)
		return -EBADMSG;
	n = tacho_load_u32(p->pos + 4);
	switch ((enum event_kind)type) {
	case EVENT_EXTEND:
		p->time += ((uint64_t)n << 27) + delta;
		p->pos += 8;
		return 2;
	case EVENT_STAMP:
		time = (((uint64_t)n << 27) + delta) & ~STAMP_HIGH;
		time |= p->time & STAMP_HIGH;
		/* The 59 bits have wrapped since the time before. */
		if ((p->time & STAMP_HIGH) && time < p->time)
			time += UINT64_C(1) << STAMP_BITS;
		p->time = time;
		p->pos += 8;
		return 2;
	case EVENT_LARGE:
	case EVENT_PADDING:
		break;
	}
	if (n < 4 || n % 4 || n > left - 4)
		return -EBADMSG;
	if (type == EVENT_PADDING) {
		p->time += delta == 1 ? 0 : delta;
		p->pos += 4 + n;
		return 2;
	}
	p->time += delta;
	ev->time = p->time;
	ev->raw = p->pos + 8;
	ev->len = n - 4;
	p->pos += 4 + n;
	return 1;
}
