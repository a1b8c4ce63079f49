// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "base/scan.h"

#include <errno.h>
#include <string.h>

/*
 * One [class] at *pattern (just after '[') against c.  Returns 1 or 0 for
 * match or not and moves *pattern after ']'; -1 for a class without end.
 */
static int class_match(const char **pattern, unsigned char c)
{
	const char *p = *pattern;
	bool negate = *p == '!' || *p == '^';
	bool hit = false;
	bool first = true;

	if (negate)
		p++;
	for (; *p && (first || *p != ']'); first = false) {
		unsigned char lo, hi;

		if (*p == '\\' && p[1])
			p++;
		lo = hi = (unsigned char)*p++;
		if (*p == '-' && p[1] && p[1] != ']') {
			hi = (unsigned char)p[1];
			p += 2;
		}
		if (lo <= c && c <= hi)
			hit = true;
	}
	if (*p != ']')
		return -1;
	*pattern = p + 1;
	return hit != negate;
}

/* Matches one pattern element against c and moves *pattern after it. */
static bool one_match(const char **pattern, char c)
{
	const char *p = *pattern;

	switch (*p) {
	case '?':
		*pattern = p + 1;
		return true;
	case '[': {
		const char *rest = p + 1;
		int hit = class_match(&rest, (unsigned char)c);

		if (hit >= 0) {
			*pattern = rest;
			return hit;
		}
		break;
	}
	case '\\':
		if (p[1])
			p++;
		break;
	default:
		break;
	}
	*pattern = p + 1;
	return *p == c;
}

bool tacho_glob_match(const char *pattern, const char *text)
{
	const char *star = NULL;	/* pattern after the last '*' */
	const char *from = NULL;	/* where in the text the match of that '*' ends so far */

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (!*text && !*pattern)
			return true;
		if (*text && *pattern && one_match(&pattern, *text)) {
			text++;
			continue;
		}
		/* let the last '*' take one character more */
		if (!star || !*from)
			return false;
		pattern = star;
		text = ++from;
	}
}

static uint64_t rotate(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

static void sip_rounds(uint64_t s[4], unsigned int rounds)
{
	while (rounds--) {
		s[0] += s[1];
		s[2] += s[3];
		s[1] = rotate(s[1], 13) ^ s[0];
		s[3] = rotate(s[3], 16) ^ s[2];
		s[0] = rotate(s[0], 32);
		s[2] += s[1];
		s[0] += s[3];
		s[1] = rotate(s[1], 17) ^ s[2];
		s[3] = rotate(s[3], 21) ^ s[0];
		s[2] = rotate(s[2], 32);
	}
}

uint64_t tacho_siphash_u64(const uint64_t key[2], uint64_t v)
{
	uint64_t s[4] = {
		UINT64_C(0x736f6d6570736575) ^ key[0],
		UINT64_C(0x646f72616e646f6d) ^ key[1],
		UINT64_C(0x6c7967656e657261) ^ key[0],
		UINT64_C(0x7465646279746573) ^ key[1],
	};
	const uint64_t block[2] = { v, UINT64_C(8) << 56 };

	for (int i = 0; i < 2; i++) {
		s[3] ^= block[i];
		sip_rounds(s, 2);
		s[0] ^= block[i];
	}
	s[2] ^= 0xff;
	sip_rounds(s, 4);
	return s[0] ^ s[1] ^ s[2] ^ s[3];
}

bool tacho_event_glob(const char *glob, const char *system, const char *event)
{
	const char *colon = strchr(glob, ':');
	char part[256];

	if (!colon)
		return tacho_glob_match(glob, event) ||
		       tacho_glob_match(glob, system);
	if ((size_t)(colon - glob) >= sizeof(part))
		return false;
	memcpy(part, glob, (size_t)(colon - glob));
	part[colon - glob] = '\0';
	return (!part[0] || tacho_glob_match(part, system)) &&
	       (!colon[1] || tacho_glob_match(colon + 1, event));
}

uint64_t tacho_hash(const void *p, size_t len, uint64_t h)
{
	const unsigned char *s = p;

	if (!h)
		h = 0xcbf29ce484222325ull;
	while (len--)
		h = (h ^ *s++) * 0x100000001b3ull;
	return h ? h : 1;
}

int tacho_parse_size(const char *s, uint64_t *bytes)
{
	uint64_t v;
	int err = tacho_scan_size(&s, NULL, &v);

	if (!err && *s)
		err = -EINVAL;
	if (!err)
		*bytes = v;
	return err;
}

int tacho_parse_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
		{ "us", 1000 }, { "ns", 1 }, { "m", 60000000000 },
		{ "h", 3600000000000 },
	};
	uint64_t whole, part = 0, scale = 1;
	int err = tacho_scan_digits(&s, NULL, 10, UINT64_MAX, &whole);

	if (err)
		return err;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++)
			if (scale < 1000000000) {
				part = part * 10 + (uint64_t)(*s - '0');
				scale *= 10;
			}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].name))
			continue;
		/* part < scale <= 10^9: the product fits in 128 bits only */
		part = (uint64_t)((unsigned __int128)part * units[i].ns / scale);
		if (__builtin_mul_overflow(whole, units[i].ns, &whole) ||
		    __builtin_add_overflow(whole, part, &whole))
			return -ERANGE;
		*ns = whole;
		return 0;
	}
	return -EINVAL;
}

int tacho_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	uint64_t n;
	int err = tacho_scan_digits(&s, NULL, 10, UINT64_MAX, &n);

	if (err)
		return err;
	if (*s)
		return -EINVAL;
	if (n < min || n > max)
		return -ERANGE;
	*v = n;
	return 0;
}

/* Length of the sequence with this first byte, 0 if no sequence begins with it. */
static size_t utf8_want(unsigned char c)
{
	return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 :
	       c < 0xf5 ? 4 : 0;
}

/* How many bytes of a valid sequence are present; left is not 0. */
static size_t utf8_have(const unsigned char *s, size_t left, size_t want)
{
	size_t n = 1;

	for (; n < want && n < left; n++) {
		if ((s[n] & 0xc0) != 0x80)
			break;
		/* overlong, surrogates, beyond U+10FFFF */
		if (n == 1 && ((s[0] == 0xe0 && s[1] < 0xa0) ||
			       (s[0] == 0xed && s[1] > 0x9f) ||
			       (s[0] == 0xf0 && s[1] < 0x90) ||
			       (s[0] == 0xf4 && s[1] > 0x8f)))
			break;
	}
	return n;
}

size_t tacho_utf8_len(const char *s, size_t left)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t want = left ? utf8_want(u[0]) : 0;

	return want && utf8_have(u, left, want) == want ? want : 0;
}

size_t tacho_utf8_bad_len(const char *s, size_t left)
{
	const unsigned char *u = (const unsigned char *)s;

	return utf8_have(u, left, left ? utf8_want(u[0]) : 0);
}
