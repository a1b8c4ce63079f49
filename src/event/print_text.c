// SPDX-License-Identifier: MIT
#include "event/print_text.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/scan.h"

int32_t tacho_text_width(const char **s)
{
	uint64_t v = 0;

	(void)tacho_scan_digits(s, NULL, 10, INT32_MAX, &v);
	return (int32_t)v;
}

static const char lower[] = "0123456789abcdef";
static const char upper[] = "0123456789ABCDEF";

/* Writes the digits of v before `end`; returns how many; none for v == 0. */
static size_t digits(char *end, uint64_t v, unsigned int base, bool up)
{
	const char *set = up ? upper : lower;
	char *p = end;

	if (base == 16) {
		for (; v; v >>= 4)
			*--p = set[v & 15];
	} else if (base == 8) {
		for (; v; v >>= 3)
			*--p = (char)('0' + (v & 7));
	} else {
		for (; v; v /= 10)
			*--p = (char)('0' + v % 10);
	}
	return (size_t)(end - p);
}

static uint64_t cut(uint64_t v, unsigned int size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

static size_t clamp(int32_t n)
{
	if (n < 0)
		return 0;
	return n > TACHO_WIDTH_MAX ? TACHO_WIDTH_MAX : (size_t)n;
}

static char *fill(char *to, char c, size_t n)
{
	memset(to, c, n);
	return to + n;
}

/* The steps and their order are those of the kernel's number(). */
void tacho_text_number(struct tacho_buf *out, const struct tacho_spec *s,
		       uint64_t v)
{
	bool left = s->flags & TACHO_SPEC_LEFT;
	bool zero = !left && s->flags & TACHO_SPEC_ZERO;
	bool up = s->flags & TACHO_SPEC_UPPER;
	size_t width = clamp(s->width), prec = clamp(s->prec);
	char tmp[24], head[3];
	size_t n, nh = 0, used, pad;
	char *to;

	v = cut(v, s->size, s->flags & TACHO_SPEC_SIGNED);
	if (s->flags & TACHO_SPEC_SIGNED) {
		if ((int64_t)v < 0) {
			head[nh++] = '-';
			v = 0 - v;
		} else if (s->flags & TACHO_SPEC_PLUS) {
			head[nh++] = '+';
		} else if (s->flags & TACHO_SPEC_SPACE) {
			head[nh++] = ' ';
		}
	}
	if (s->flags & TACHO_SPEC_ALT && s->base != 10) {
		if (s->base == 16 || v)
			head[nh++] = '0';
		if (s->base == 16)
			head[nh++] = up ? 'X' : 'x';
	}
	n = digits(tmp + sizeof(tmp), v, s->base, up);
	if (!n)
		tmp[sizeof(tmp) - ++n] = '0';
	if (prec < n)
		prec = n;
	used = prec + nh;
	pad = width > used ? width - used : 0;
	to = tacho_buf_reserve(out, used + pad);
	if (!to)
		return;
	if (!left && !zero)
		to = fill(to, ' ', pad);
	memcpy(to, head, nh);
	to += nh;
	if (zero)
		to = fill(to, '0', pad);
	to = fill(to, '0', prec - n);
	memcpy(to, tmp + sizeof(tmp) - n, n);
	if (left)
		fill(to + n, ' ', pad);
	tacho_buf_commit(out, used + pad);
}

void tacho_text_pad(struct tacho_buf *out, const struct tacho_spec *s,
		    size_t from)
{
	size_t width = clamp(s->width);
	size_t n, pad;

	if (tacho_buf_error(out) || from > out->len)
		return;
	n = out->len - from;
	if (s->prec >= 0 && n > (size_t)s->prec) {
		n = (size_t)s->prec;
		out->len = from + n;
	}
	if (n >= width)
		return;
	pad = width - n;
	if (!tacho_buf_reserve(out, pad))
		return;
	if (!(s->flags & TACHO_SPEC_LEFT)) {
		memmove(out->data + from + pad, out->data + from, n);
		memset(out->data + from, ' ', pad);
	} else {
		memset(out->data + from + n, ' ', pad);
	}
	tacho_buf_commit(out, pad);
}

void tacho_text_hex(struct tacho_buf *out, const unsigned char *p, size_t n,
		    char sep)
{
	char *to = n ? tacho_buf_reserve(out, n * 2 + (sep ? n - 1 : 0)) : NULL;
	char *from = to;

	if (!to)
		return;
	for (size_t i = 0; i < n; i++) {
		if (i && sep)
			*to++ = sep;
		*to++ = lower[p[i] >> 4];
		*to++ = lower[p[i] & 15];
	}
	tacho_buf_commit(out, (size_t)(to - from));
}

static bool bit_is_set(const unsigned char *p, size_t i)
{
	return p[i / 8] >> (i % 8) & 1;
}

void tacho_text_bitmap(struct tacho_buf *out, const unsigned char *p,
		       size_t bits)
{
	size_t chunk = bits % 32 ? bits % 32 : 32;
	size_t left = bits;

	while (left) {
		uint32_t v = 0;

		left -= chunk;
		for (size_t i = 0; i < chunk; i++)
			v |= (uint32_t)bit_is_set(p, left + i) << i;
		tacho_buf_put_hex(out, v, (unsigned int)(chunk + 3) / 4);
		if (left)
			tacho_buf_putc(out, ',');
		chunk = 32;
	}
}

void tacho_text_bitmap_list(struct tacho_buf *out, const unsigned char *p,
			    size_t bits)
{
	bool first = true;
	size_t i = 0;

	while (i < bits) {
		size_t from;

		if (!bit_is_set(p, i)) {
			i++;
			continue;
		}
		from = i;
		while (i < bits && bit_is_set(p, i))
			i++;
		if (!first)
			tacho_buf_putc(out, ',');
		first = false;
		tacho_buf_put_u64(out, from);
		if (i - from > 1) {
			tacho_buf_putc(out, '-');
			tacho_buf_put_u64(out, i - 1);
		}
	}
}

static uint64_t element(const unsigned char *p, uint64_t el)
{
	switch (el) {
	case 2:
		return tacho_load_u16(p);
	case 4:
		return tacho_load_u32(p);
	case 8:
		return tacho_load_u64(p);
	default:
		return *p;
	}
}

void tacho_text_array(struct tacho_buf *out, const unsigned char *p,
		      size_t bytes, uint64_t el)
{
	tacho_buf_putc(out, '{');
	for (size_t i = 0; i < bytes;) {
		if (i)
			tacho_buf_putc(out, ',');
		if (el != 1 && el != 2 && el != 4 && el != 8) {
			tacho_buf_printf(out, "BAD SIZE:%llu ",
					 (unsigned long long)el);
			el = 1;
		}
		if (el > bytes - i)
			break;
		tacho_buf_put(out, "0x", 2);
		tacho_buf_put_hex(out, element(p + i, el), 0);
		i += el;
	}
	tacho_buf_putc(out, '}');
}

/* The hex columns of one row; returns how wide they are. */
static size_t dump_hex(struct tacho_buf *out, const struct tacho_hexdump *h,
		       const unsigned char *p, size_t n)
{
	size_t from = out->len;
	uint32_t group = n % h->group ? 1 : h->group;

	for (size_t i = 0; i < n; i += group) {
		if (i)
			tacho_buf_putc(out, ' ');
		tacho_buf_put_hex(out, element(p + i, group), group * 2);
	}
	return out->len - from;
}

static void dump_row(struct tacho_buf *out, const struct tacho_hexdump *h,
		     const unsigned char *p, size_t n)
{
	size_t wide = dump_hex(out, h, p, n);
	uint32_t group = n % h->group ? 1 : h->group;
	size_t column = (size_t)h->row * 2 + h->row / group + 1;

	if (h->ascii) {
		for (; wide < column; wide++)
			tacho_buf_putc(out, ' ');
		for (size_t i = 0; i < n; i++)
			tacho_buf_putc(out, p[i] >= 0x20 && p[i] < 0x7f ?
				       (char)p[i] : '.');
	}
	tacho_buf_putc(out, '\n');
}

void tacho_text_hexdump(struct tacho_buf *out, const struct tacho_hexdump *h,
			const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i += h->row) {
		size_t part = n - i < h->row ? n - i : h->row;

		tacho_buf_put(out, h->prefix, h->prefix_len);
		/* the kernel's address of a row is useless here */
		if (h->prefix_type == 1 || h->prefix_type == 2) {
			tacho_buf_put_hex(out, i, h->prefix_type == 1 ? 16 : 8);
			tacho_buf_put(out, ": ", 2);
		}
		dump_row(out, h, p + i, part);
	}
}

/* Address bytes in decimal with dots; order is 'l' for little endian. */
static void put_ip4(struct tacho_buf *out, const unsigned char *p, bool zeros,
		    char order)
{
	bool little = order == 'l' || (order == 'h' && htons(1) != 1);

	for (int i = 0; i < 4; i++) {
		if (i)
			tacho_buf_putc(out, '.');
		tacho_buf_put_u64_pad(out, p[little ? 3 - i : i],
				      zeros ? 3 : 0, '0');
	}
}

static void put_ip6(struct tacho_buf *out, const unsigned char *p, bool colons)
{
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			tacho_buf_putc(out, ':');
		tacho_buf_put_hex(out, tacho_load_be16(p + i * 2), 4);
	}
}

/* The longest run of zero words among the first n: where, and how long. */
static int zero_run(const unsigned char *p, int n, int *length)
{
	int best = -1, i = 0;

	*length = 1;
	while (i < n) {
		int from = i;

		while (i < n && !tacho_load_be16(p + i * 2))
			i++;
		if (i - from > *length) {
			*length = i - from;
			best = from;
		}
		if (i == from)
			i++;
	}
	return best;
}

static void put_ip6_short(struct tacho_buf *out, const unsigned char *p)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ip4 = !memcmp(p, mapped, sizeof(mapped)) ||
		   (tacho_load_be32(p + 8) | 0x02000000) == 0x02005efe;
	int words = ip4 ? 6 : 8, length;
	int run = zero_run(p, words, &length);
	bool colon = false;

	for (int i = 0; i < words; i++) {
		if (i == run) {
			if (colon || !i)
				tacho_buf_putc(out, ':');
			tacho_buf_putc(out, ':');
			colon = false;
			i += length - 1;
			continue;
		}
		if (colon)
			tacho_buf_putc(out, ':');
		tacho_buf_put_hex(out, tacho_load_be16(p + i * 2), 0);
		colon = true;
	}
	if (ip4) {
		if (colon)
			tacho_buf_putc(out, ':');
		put_ip4(out, p + 12, false, 'b');
	}
}

static bool has(const char *ext, size_t n, char c)
{
	return n && memchr(ext, c, n);
}

static void put_sockaddr6(struct tacho_buf *out, const char *ext, size_t n,
			  const unsigned char *p)
{
	bool port = has(ext, n, 'p'), flow = has(ext, n, 'f');
	bool scope = has(ext, n, 's'), boxed = port || flow || scope;

	if (boxed)
		tacho_buf_putc(out, '[');
	if (has(ext, n, 'c') && ext[0] == 'I')
		put_ip6_short(out, p + 8);
	else
		put_ip6(out, p + 8, ext[0] == 'I');
	if (boxed)
		tacho_buf_putc(out, ']');
	if (port) {
		tacho_buf_putc(out, ':');
		tacho_buf_put_u64(out, tacho_load_be16(p + 2));
	}
	if (flow) {
		tacho_buf_putc(out, '/');
		tacho_buf_put_u64(out, tacho_load_be32(p + 4) & 0x0fffffff);
	}
	if (scope) {
		tacho_buf_putc(out, '%');
		tacho_buf_put_u64(out, tacho_load_u32(p + 24));
	}
}

/* struct sockaddr_in (16 bytes) or sockaddr_in6 (28), as in the kernel. */
static void put_sockaddr(struct tacho_buf *out, const char *ext, size_t len,
			 const unsigned char *p, size_t n)
{
	uint16_t family = n >= 2 ? tacho_load_u16(p) : 0;

	if (family == AF_INET && n >= 8) {
		put_ip4(out, p + 4, ext[0] == 'i',
			has(ext, len, 'l') ? 'l' : 'b');
		if (has(ext, len, 'p')) {
			tacho_buf_putc(out, ':');
			tacho_buf_put_u64(out, tacho_load_be16(p + 2));
		}
	} else if (family == AF_INET6 && n >= 28) {
		put_sockaddr6(out, ext, len, p);
	} else {
		tacho_buf_puts(out, "(einval)");
	}
}

static void put_mac(struct tacho_buf *out, const char *ext, size_t len,
		    const unsigned char *p)
{
	unsigned char back[6];

	if (has(ext, len, 'R')) {
		for (int i = 0; i < 6; i++)
			back[i] = p[5 - i];
		p = back;
	}
	tacho_text_hex(out, p, 6, ext[0] == 'm' ? '\0' :
		       has(ext, len, 'F') ? '-' : ':');
}

static void put_uuid(struct tacho_buf *out, char order, const unsigned char *p)
{
	static const unsigned char big[16] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	static const unsigned char little[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	const unsigned char *at = order == 'l' || order == 'L' ? little : big;
	const char *set = order == 'B' || order == 'L' ? upper : lower;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			tacho_buf_putc(out, '-');
		tacho_buf_putc(out, set[p[at[i]] >> 4]);
		tacho_buf_putc(out, set[p[at[i]] & 15]);
	}
}

enum tacho_ext tacho_ext_find(const char *ext, size_t *taken)
{
	static const struct {
		const char *head;
		const char *tail;	/* letters that may follow */
		enum tacho_ext kind;
	} table[] = {
		{ "I4", "hnbl", TACHO_EXT_I4 }, { "i4", "hnbl", TACHO_EXT_I4 },
		{ "I6", "c", TACHO_EXT_I6 }, { "i6", "", TACHO_EXT_I6 },
		{ "IS", "pfschnbl", TACHO_EXT_IS },
		{ "iS", "pfschnbl", TACHO_EXT_IS },
		{ "M", "RF", TACHO_EXT_MAC }, { "m", "R", TACHO_EXT_MAC },
		{ "U", "bBlL", TACHO_EXT_UUID }, { "a", "dp", TACHO_EXT_PHYS },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		size_t n = strlen(table[i].head);

		if (strncmp(ext, table[i].head, n))
			continue;
		while (n < 7 && ext[n] && strchr(table[i].tail, ext[n]))
			n++;
		*taken = n;
		return table[i].kind;
	}
	return TACHO_EXT_NONE;
}

void tacho_text_ext(struct tacho_buf *out, enum tacho_ext kind,
		    const char *ext, size_t ext_len, const unsigned char *p,
		    size_t n)
{
	static const size_t need[] = {
		[TACHO_EXT_NONE] = 0, [TACHO_EXT_I4] = 4, [TACHO_EXT_I6] = 16,
		[TACHO_EXT_IS] = 0, [TACHO_EXT_MAC] = 6, [TACHO_EXT_UUID] = 16,
		[TACHO_EXT_PHYS] = 8,
	};

	if (!p || n < need[kind]) {
		tacho_buf_puts(out, "(absent)");
		return;
	}
	switch (kind) {
	case TACHO_EXT_I4:
		put_ip4(out, p, ext[0] == 'i', ext_len > 2 ? ext[2] : 'b');
		break;
	case TACHO_EXT_I6:
		if (ext_len > 2)
			put_ip6_short(out, p);
		else
			put_ip6(out, p, ext[0] == 'I');
		break;
	case TACHO_EXT_IS:
		put_sockaddr(out, ext, ext_len, p, n);
		break;
	case TACHO_EXT_MAC:
		put_mac(out, ext, ext_len, p);
		break;
	case TACHO_EXT_UUID:
		put_uuid(out, ext_len > 1 ? ext[1] : 'b', p);
		break;
	case TACHO_EXT_PHYS:
		tacho_buf_put(out, "0x", 2);
		tacho_buf_put_hex(out, tacho_load_u64(p), 16);
		break;
	case TACHO_EXT_NONE:
	default:
		break;
	}
}
