/* SPDX-License-Identifier: MIT */
/* json_check.h - whether bytes are one JSON value (RFC 8259), no keys twice. */
#ifndef TACHO_TESTS_ENGINE_JSON_CHECK_H
#define TACHO_TESTS_ENGINE_JSON_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Behind a value at s, or NULL when there is none. */
static const char *json_value(const char *s, const char *end, int depth);

static const char *json_string(const char *s, const char *end)
{
	if (s >= end || *s++ != '"')
		return NULL;
	for (; s < end && *s != '"'; s++) {
		if ((unsigned char)*s < ' ')
			return NULL;
		if (*s != '\\')
			continue;
		if (++s >= end || !strchr("\"\\/bfnrtu", *s))
			return NULL;
		for (int i = 0; *s == 'u' && i < 4; i++)
			if (s + i + 1 >= end || !isxdigit((unsigned char)s[i + 1]))
				return NULL;
	}
	return s < end ? s + 1 : NULL;
}

static const char *json_digits(const char *s, const char *end)
{
	const char *from = s;

	while (s < end && isdigit((unsigned char)*s))
		s++;
	return s > from ? s : NULL;
}

static const char *json_number(const char *s, const char *end)
{
	if (s < end && *s == '-')
		s++;
	s = s < end && *s == '0' ? s + 1 : json_digits(s, end);
	if (s && s < end && *s == '.')
		s = json_digits(s + 1, end);
	if (s && s < end && (*s == 'e' || *s == 'E')) {
		s++;
		if (s < end && (*s == '+' || *s == '-'))
			s++;
		s = json_digits(s, end);
	}
	return s;
}

/* Of an object: whether the key at s is among those from `from` on. */
static bool json_twice(const char *from, const char *s, const char *end)
{
	size_t len = (size_t)(json_string(s, end) - s);

	while (from < s) {
		if (!strncmp(from, s, len))
			return true;
		from = json_value(json_string(from, end) + 1, end, 0) + 1;
	}
	return false;
}

static const char *json_members(const char *s, const char *end, char close,
				int depth)
{
	const char *from = s;

	if (s < end && *s == close)
		return s + 1;
	while (s) {
		if (close == '}') {
			const char *key = s;

			s = json_string(s, end);
			if (!s || s >= end || *s != ':' || json_twice(from, key, end))
				return NULL;
			s++;
		}
		s = json_value(s, end, depth);
		if (!s || s >= end)
			return NULL;
		if (*s == close)
			return s + 1;
		if (*s++ != ',')
			return NULL;
	}
	return NULL;
}

static const char *json_value(const char *s, const char *end, int depth)
{
	static const char *const words[] = { "true", "false", "null" };

	if (s >= end || depth > 32)
		return NULL;
	if (*s == '{' || *s == '[')
		return json_members(s + 1, end, *s == '{' ? '}' : ']', depth + 1);
	if (*s == '"')
		return json_string(s, end);
	for (int i = 0; i < 3; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			return s + strlen(words[i]);
	return json_number(s, end);
}

static bool json_valid(const char *s, size_t len)
{
	return json_value(s, s + len, 0) == s + len;
}

#endif
